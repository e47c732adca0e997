//! Motions whose joints are exactly independent, with known averages.
//!
//! Each joint takes some matrices, all equally likely and independent of the other joints. The grid of all
//! their combinations is then the whole motion: averages over it have no error, and neither have models of
//! joints that are made from it.

use dermis::joint::joint_statistics;
use dermis::metric::{JointModel, ModelKind, models_from_poses};
use dermis::rig::{BoneId, Pose, Similarity, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::Dice;

/// How a joint moves, and by which model it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// By a model of the papers, or by moments.
    By(ModelKind),
    /// By the statistics that a file keeps.
    Statistics,
}

impl Known {
    /// All of them.
    pub(crate) fn all() -> Vec<Self> {
        let kinds = ModelKind::ALL.into_iter().map(Self::By);
        kinds.chain([Self::Statistics]).collect()
    }

    /// Whether its assumption about the bones above holds: the papers' rotations need them to stretch evenly.
    fn fits_below(self, even: bool) -> bool {
        even || !matches!(self, Self::By(ModelKind::Rotation) | Self::Statistics)
    }

    /// Whether the joint stays at one point of its parent.
    pub(crate) fn is_tied(self) -> bool {
        matches!(
            self,
            Self::By(
                ModelKind::FixedTranslation
                    | ModelKind::Rotation
                    | ModelKind::UniformRotation
                    | ModelKind::Fixed
            )
        )
    }

    /// Matrices that obey the model's assumptions and no others, and whether they stretch evenly.
    fn matrices(self, dice: &mut Dice, above_even: bool) -> (Vec<DAffine3>, bool) {
        let at = |matrix3: DMat3, translation: DVec3| DAffine3 {
            matrix3,
            translation,
        };
        let turn = |dice: &mut Dice| DMat3::from_quat(dice.rotation());
        // Turns, stretches and shears.
        let any = |dice: &mut Dice| {
            let factors = DVec3::from_array(std::array::from_fn(|_| dice.between(0.4, 1.6)));
            turn(dice) * DMat3::from_diagonal(factors) * turn(dice)
        };
        let place = dice.vector(1.5);
        match self {
            Self::By(ModelKind::Moments | ModelKind::Independent) => {
                let free = (0..3).map(|_| at(any(dice), dice.vector(1.5)));
                (free.collect(), false)
            }
            Self::By(ModelKind::IndependentComponents) => {
                let places = [place, dice.vector(1.5)];
                let linears = [any(dice), any(dice)];
                let pairs = linears
                    .into_iter()
                    .flat_map(|linear| places.map(|place| at(linear, place)));
                (pairs.collect(), false)
            }
            Self::By(ModelKind::FixedTranslation) => {
                let tied = (0..3).map(|_| at(any(dice), place));
                (tied.collect(), false)
            }
            Self::By(ModelKind::Rotation) => {
                let turned = (0..3).map(|_| at(turn(dice), place));
                (turned.collect(), above_even)
            }
            Self::By(ModelKind::UniformRotation) => {
                let even = tetrahedral(dice.rotation());
                let turned = even.into_iter().map(|turn| at(turn, place));
                (turned.collect(), true)
            }
            Self::By(ModelKind::Fixed) => {
                let lone = dice.below(2) == 0;
                let linear = if lone { turn(dice) } else { any(dice) };
                (vec![at(linear, place)], above_even && lone)
            }
            Self::Statistics => {
                let turns = [turn(dice), turn(dice)];
                let scales = [dice.between(0.4, 1.0), dice.between(1.0, 1.6)];
                let places = [place, dice.vector(1.5)];
                let all = turns.into_iter().flat_map(|turn| {
                    scales
                        .into_iter()
                        .flat_map(move |scale| places.map(|place| at(turn * scale, place)))
                });
                (all.collect(), above_even)
            }
            Self::By(kind) => panic!("{kind:?} has no motion here"),
        }
    }
}

/// The twelve rotations of a tetrahedron, after another rotation.
///
/// They are as good as all rotations here: their mean is 0, and the mean of `RᵀAR` is
/// `trace(A)/3 · I` for every symmetric `A`, since no direction and no plane stays fixed under all of them.
fn tetrahedral(first: DQuat) -> Vec<DMat3> {
    let cycle = DMat3::from_cols(DVec3::Y, DVec3::Z, DVec3::X);
    let flips = [
        DVec3::ONE,
        DVec3::new(1.0, -1.0, -1.0),
        DVec3::new(-1.0, 1.0, -1.0),
        DVec3::new(-1.0, -1.0, 1.0),
    ];
    let cycles = [DMat3::IDENTITY, cycle, cycle * cycle];
    let all = cycles.into_iter().flat_map(|cycle| {
        flips.map(|flip| cycle * DMat3::from_diagonal(flip) * DMat3::from_quat(first))
    });
    all.collect()
}

/// A skeleton and the motions of its joints.
#[derive(Debug, Clone)]
pub(crate) struct Motion {
    pub(crate) skeleton: Skeleton,
    pub(crate) known: Vec<Known>,
    /// The matrices that each joint takes, all equally likely.
    locals: Vec<Vec<DAffine3>>,
}

impl Motion {
    /// A tree in which every joint has the same kind of model.
    pub(crate) fn alike(dice: &mut Dice, known: Known, bone_count: usize) -> Self {
        Self::new(dice, bone_count, |_, _| known)
    }

    /// A tree in which joints have different kinds of models.
    pub(crate) fn mixed(dice: &mut Dice, bone_count: usize) -> Self {
        Self::new(dice, bone_count, |dice, even| {
            let fit = Known::all().into_iter().filter(|k| k.fits_below(even));
            let fit: Vec<Known> = fit.collect();
            fit[dice.below(fit.len())]
        })
    }

    /// A root that `above` describes, carrying a chain of joints that turn every way.
    pub(crate) fn uniform_below(dice: &mut Dice, above: Known, bone_count: usize) -> Self {
        let mut is_root = true;
        Self::new(dice, bone_count, |_, _| {
            match std::mem::replace(&mut is_root, false) {
                true => above,
                false => Known::By(ModelKind::UniformRotation),
            }
        })
    }

    fn new(
        dice: &mut Dice,
        bone_count: usize,
        mut choose: impl FnMut(&mut Dice, bool) -> Known,
    ) -> Self {
        let mut motion = (Vec::new(), Vec::new());
        let mut bones: Vec<(String, Option<BoneId>, DAffine3)> = Vec::new();
        let mut even: Vec<bool> = Vec::new();
        for j in 0..bone_count {
            let parent = (j > 0).then(|| dice.below(j));
            let above_even = parent.is_none_or(|a| even[a]);
            let known = choose(dice, above_even);
            let (locals, is_even) = known.matrices(dice, above_even);
            let above = parent.map_or(DAffine3::IDENTITY, |a| bones[a].2);
            // The rest pose is one of the motion, which is what a fixed joint is taken from.
            let frame = above * locals[0];
            let parent = parent.map(|a| BoneId(a as u16));
            bones.push((format!("bone {j}"), parent, frame));
            even.push(is_even);
            motion.0.push(known);
            motion.1.push(locals);
        }
        Self {
            skeleton: Skeleton::from_rest_frames(bones).expect("parents come first"),
            known: motion.0,
            locals: motion.1,
        }
    }

    /// Every combination of the joints' matrices.
    pub(crate) fn grid(&self) -> Vec<Pose> {
        let mut poses = vec![Vec::new()];
        for locals in &self.locals {
            poses = (poses.iter())
                .flat_map(|pose| {
                    locals
                        .iter()
                        .map(|local| pose.iter().copied().chain([*local]).collect())
                })
                .collect();
        }
        poses.into_iter().map(Pose::new).collect()
    }

    /// Random poses; joints that turn every way do so evenly and not in twelve steps.
    pub(crate) fn draw(&self, dice: &mut Dice, count: usize) -> Vec<Pose> {
        let mut pose = || {
            let locals = self.known.iter().zip(&self.locals);
            let locals = locals.map(|(known, locals)| match known {
                Known::By(ModelKind::UniformRotation) => DAffine3 {
                    matrix3: DMat3::from_quat(dice.even_rotation()),
                    ..locals[0]
                },
                _ => locals[dice.below(locals.len())],
            });
            Pose::new(locals.collect())
        };
        (0..count).map(|_| pose()).collect()
    }

    /// The model of each joint, of its kind, made from poses.
    pub(crate) fn models(&self, poses: &[Pose]) -> Vec<JointModel> {
        let statistics = joint_statistics(&self.skeleton, poses);
        let by_kind = ModelKind::ALL
            .map(|kind| models_from_poses(&self.skeleton, poses, kind).expect("poses of it"));
        let models = self.known.iter().enumerate().map(|(j, known)| match known {
            Known::Statistics => JointModel::from_statistics(&statistics[j]),
            Known::By(kind) => {
                let place = ModelKind::ALL.iter().position(|k| k == kind);
                by_kind[place.expect("one of all")][j].clone()
            }
        });
        models.collect()
    }

    /// The same motion of the moved character.
    pub(crate) fn moved(&self, by: &Similarity) -> Self {
        let bones = self.skeleton.bones().iter().zip(&self.locals);
        Self {
            skeleton: by.skeleton(&self.skeleton).expect("finite"),
            known: self.known.clone(),
            locals: bones
                .map(|(bone, locals)| {
                    let moved = locals.iter().map(|l| by.local(l, bone.parent.is_none()));
                    moved.collect()
                })
                .collect(),
        }
    }
}
