//! The pose in which a skin best matches a mesh: all bones are solved at once.
//!
//! With a linear skin the squared distance to a mesh depends on the matrices through sums over the
//! vertices alone: with `p_i` the stacked 4-vectors of vertex i,
//! `Σ_i |G p_i − v_i|² = tr(G M Gᵀ) − 2 tr(G Bᵀ) + c`, `M = Σ p_i p_iᵀ` and `B = Σ v_i p_iᵀ`. `M`
//! belongs to the skin and is summed once; `B` takes one pass over the mesh; every round after that
//! costs only bones. Affine bones are then one linear solve (\[Merry06\] §7.1 solves so, and takes
//! the rotations out afterwards); rigid bones are found by Levenberg-Marquardt steps on the
//! rotations, which is the optimum that the papers' projection approaches.
//!
//! Rotations have local minima: a mesh in a pose far from every start may be matched badly, which shows in
//! the error.

mod steps;
mod sums;

use std::borrow::Cow;

use glam::{DAffine3, DVec3};

use super::FitError;
use crate::limits::check_memory;
use crate::math::unit_factor;
use crate::par;
use crate::progress::{Progress, Stage};
use crate::rig::{Palette, Pose, Similarity};
use crate::skin::{LinearProgram, Skin, SkinError};
use sums::{Moments, Target};

/// How bones may move when a pose is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JointFreedom {
    /// Every bone turns and moves freely, as the papers do.
    #[default]
    Free,
    /// Joints turn in place, and only bones without a parent move: poses that animators can edit.
    Turn,
    /// Every bone may take any affine matrix. The closest match, but bones shear and scale.
    Affine,
}

/// How to solve for a pose.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseOptions {
    /// How bones may move; default free.
    pub joints: JointFreedom,
    /// Most steps from each start; at least 1, default 40. Ten are usual.
    pub max_rounds: usize,
}

impl Default for PoseOptions {
    fn default() -> Self {
        Self {
            joints: JointFreedom::Free,
            max_rounds: 40,
        }
    }
}

/// A pose, and how well the skin matches the mesh in it.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseFit {
    /// Where every bone stands in its parent.
    pub pose: Pose,
    /// Root-mean-square distance from the mesh, in model units.
    pub rms_distance: f64,
    /// Largest distance from the mesh, in model units.
    pub max_distance: f64,
    /// Steps that were taken.
    pub rounds: usize,
}

/// A skin made ready to be matched to meshes.
///
/// Cost: O(V·n²) time for V vertices of n influences and O(b²) memory for b bones to make; O(V·n)
/// per mesh and O(b³) per step to use.
#[derive(Debug)]
pub struct PoseSolver<'a> {
    /// The skin, scaled to unit size.
    skin: Cow<'a, Skin>,
    /// Factor from model units to unit size.
    factor: f64,
    program: LinearProgram,
    options: PoseOptions,
    moments: Moments,
    /// Bones that move a vertex.
    is_used: Vec<bool>,
}

/// Finds the pose in which a skin best matches a mesh.
///
/// `start` is where the search begins; a second search begins at the affine solution. The better
/// end is returned. To solve several meshes, make a [`PoseSolver`] once.
///
/// ```
/// use dermis::fit::{PoseOptions, SsdOptions, fit_pose, fit_ssd};
/// use dermis::progress::Silent;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let skin = fit_ssd(&arm, &[0, 4, 8, 12], &SsdOptions::default(), &Silent)?.skin;
/// let unseen = &arm.examples()[9];
/// let found = fit_pose(&skin, &unseen.positions, &skin.skeleton.rest_pose(), &PoseOptions::default())?;
/// assert!(found.rms_distance < 0.1 * arm.rest().bounds().diagonal());
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// As [`PoseSolver::new`] and [`PoseSolver::solve`].
pub fn fit_pose(
    skin: &Skin,
    target: &[DVec3],
    start: &Pose,
    options: &PoseOptions,
) -> Result<PoseFit, FitError> {
    PoseSolver::new(skin, options)?.solve(target, start)
}

impl<'a> PoseSolver<'a> {
    /// Sums over the skin's vertices.
    ///
    /// # Errors
    /// [`FitError::Skin`] when the skin is not linear, [`FitError::BadOption`] for options out of
    /// range or a skin with derived bones, proxy bones or driven coefficients, and [`FitError::NothingToFit`]
    /// without bones.
    pub fn new(skin: &'a Skin, options: &PoseOptions) -> Result<Self, FitError> {
        if options.max_rounds == 0 {
            return Err(FitError::BadOption {
                option: "max_rounds",
                problem: "at least 1 step must be allowed".to_owned(),
            });
        }
        if let Some(what) = skin.pose_program.summary() {
            return Err(FitError::BadOption {
                option: "skin",
                problem: format!(
                    "poses cannot be solved for a skin with {what}: use a skin without them"
                ),
            });
        }
        let bone_count = skin.skeleton.bone_count();
        if bone_count == 0 {
            return Err(FitError::NothingToFit {
                examples: 1,
                bones: 0,
            });
        }
        check_pairs(bone_count)?;
        let shown = skin.evaluate(&skin.skeleton.rest_pose())?;
        let factor = unit_factor([shown.as_slice()]);
        let skin = match factor == 1.0 {
            true => Cow::Borrowed(skin),
            false => Cow::Owned(skin.moved(&Similarity::scaling(factor))?),
        };
        let program = skin.program.to_linear(&skin.skeleton)?;
        let program = with_default_corrections(program, &skin.default_coefficients());
        let mut is_used = vec![false; bone_count];
        for influence in program.influences.items() {
            is_used[influence.bone.index()] = true;
        }
        Ok(Self {
            skin,
            factor,
            moments: Moments::new(&program, bone_count),
            program,
            options: options.clone(),
            is_used,
        })
    }

    /// The best pose for one mesh.
    ///
    /// # Errors
    /// [`FitError::Skin`] when the mesh has another number of vertices or the start another number
    /// of bones.
    pub fn solve(&self, target: &[DVec3], start: &Pose) -> Result<PoseFit, FitError> {
        if self.factor == 1.0 {
            return self.solve_at_unit_size(target, start);
        }
        let skeleton = &self.skin.skeleton;
        let target: Vec<DVec3> = target.iter().map(|p| *p * self.factor).collect();
        let start = Similarity::scaling(self.factor).pose(skeleton, start);
        let found = self.solve_at_unit_size(&target, &start)?;
        Ok(PoseFit {
            pose: Similarity::scaling(1.0 / self.factor).pose(skeleton, &found.pose),
            rms_distance: found.rms_distance / self.factor,
            max_distance: found.max_distance / self.factor,
            rounds: found.rounds,
        })
    }

    fn solve_at_unit_size(&self, target: &[DVec3], start: &Pose) -> Result<PoseFit, FitError> {
        if target.len() != self.program.influences.len() {
            return Err(SkinError::CountMismatch {
                what: "vertices in the mesh to match",
                expected: self.program.influences.len(),
                found: target.len(),
            }
            .into());
        }
        let given = self
            .skin
            .skeleton
            .palette(start)
            .map_err(SkinError::from)?
            .model_from_bone;
        let sums = Target::new(&self.program, target, given.len());
        let affine = self.solve_affine(&sums, &given);
        let (matrices, rounds) = match self.options.joints {
            JointFreedom::Affine => (affine, 1),
            JointFreedom::Free | JointFreedom::Turn => {
                let from_affine = self.without_stretch(&affine, &given);
                let ends = [given.clone(), from_affine].map(|from| self.descend(&sums, from));
                let [a, b] = ends;
                let rounds = a.rounds + b.rounds;
                let better = if b.energy < a.energy { b } else { a };
                (better.matrices, rounds)
            }
        };
        self.finish(matrices, start, target, rounds)
    }

    /// The best pose for each of several meshes; `starts` has one per mesh.
    ///
    /// # Errors
    /// As [`PoseSolver::solve`], and [`FitError::Stopped`] when `progress` stops the job.
    ///
    /// # Panics
    /// When there are fewer starts than meshes.
    pub fn solve_all<T: AsRef<[DVec3]> + Sync>(
        &self,
        targets: &[T],
        starts: &[Pose],
        progress: &dyn Progress,
    ) -> Result<Vec<PoseFit>, FitError> {
        assert!(starts.len() >= targets.len(), "one start per mesh");
        let stage = Stage::new(progress, "solving poses", targets.len());
        par::map(targets.len(), |k| {
            if !stage.step() {
                return Err(FitError::Stopped);
            }
            self.solve(targets[k].as_ref(), &starts[k])
        })
        .into_iter()
        .collect()
    }

    /// The pose that has these matrices, and its distance; bones that move no vertex go with their parents.
    fn finish(
        &self,
        mut matrices: Vec<DAffine3>,
        start: &Pose,
        target: &[DVec3],
        rounds: usize,
    ) -> Result<PoseFit, FitError> {
        let skeleton = &self.skin.skeleton;
        let given = skeleton
            .palette(start)
            .map_err(SkinError::from)?
            .model_from_bone;
        for (j, bone) in skeleton.bones().iter().enumerate() {
            if !self.is_used[j] {
                matrices[j] = match bone.parent {
                    Some(parent) => matrices[parent.index()] * start.parent_from_bone[j],
                    None => given[j],
                };
            }
        }
        let mut pose = skeleton
            .pose_from_palette(&Palette {
                model_from_bone: matrices,
            })
            .map_err(SkinError::from)?;
        pose.coefficients = start.coefficients.clone();
        let found = self.skin.evaluate(&pose)?;
        let squared = |i: usize| found[i].distance_squared(target[i]);
        let total: f64 = (0..target.len()).map(squared).sum();
        Ok(PoseFit {
            pose,
            rms_distance: (total / target.len().max(1) as f64).sqrt(),
            max_distance: (0..target.len()).map(squared).fold(0.0, f64::max).sqrt(),
            rounds,
        })
    }
}

/// Returns an error when the sums for every pair of bones, and their linear system, would not fit into
/// memory.
fn check_pairs(bones: usize) -> Result<(), FitError> {
    /// The sums, and a matrix of four numbers per bone with its factors.
    const PAIR: usize = size_of::<sums::Moment>() + 2 * 4 * 4 * size_of::<f64>();
    let what = || format!("solving poses with all pairs of {bones} bones");
    let factors = [bones, bones, PAIR].map(|n| n as u64);
    Ok(check_memory(
        &factors,
        what,
        "leave out bones that move no vertex",
    )?)
}

/// The program with every correction added at its default value and then removed.
fn with_default_corrections(mut program: LinearProgram, defaults: &[f64]) -> LinearProgram {
    let mut items = program.influences.items().to_vec();
    for (correction, &c) in program.corrections.iter().zip(defaults) {
        for delta in &correction.deltas {
            items[delta.index as usize].p += c * delta.value;
        }
    }
    let rows = &program.influences;
    let changed = (0..rows.len()).map(|i| items[rows.range(i)].to_vec());
    program.influences = changed.collect();
    program.corrections.clear();
    program
}
