//! Proxy bones: bones that move patches of skin, placed by a learned prediction of how skin follows joints.
//!
//! A patch of skin between two bones moves with neither of them: half-way along a twisting forearm, about another axis
//! over a muscle, with a stretch that depends on the bend. Rotational regression (\[Wang07\]) predicts how patches move
//! from the turns of joints, and places **proxy bones** so that the skin on them agrees as well as possible with all
//! predictions and with the bones that it is attached to. The places are linear in predictions and matrices, so a pose
//! costs a few small predictions and one product of matrices; after that, proxy bones are ordinary bones.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::{BoneId, RigError, Skeleton};
use crate::math::{nearest_branch, nearest_rotation, rotation_vector};

/// The part of a skin's pose program that places proxy bones.
///
/// | symbol | meaning |
/// | --- | --- |
/// | `G_j` | model from bone, of a posed bone or of a proxy |
/// | `N_j` | `G_j Ĝ_j⁻¹` |
/// | `θ_j` | turn of joint `j`: `log` of the rotation nearest to `lin(N_a⁻¹ N_b)`, b being its bone and a the bone it turns in |
/// | `D_ℓ` | predicted motion of patch `ℓ`: its gradient, and the new position of its middle |
///
/// `[G_1 … G_P] = [D_1 … D_L] C1ᵀ + [G_s1 … G_sS] C2ᵀ`: every row of a proxy's matrix is the same combination of that
/// row of the predictions and of the source bones. \[Wang07\] Eq. 6 writes the same with matrices nine times as large,
/// most of whose entries are 0, because rows are never combined with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyBones {
    /// The bones that are placed, in order. The parent of each is a carrier of its own, right before it, and the
    /// carrier has no parent; together they are the last bones of the skeleton.
    pub bones: Vec<BoneId>,
    /// The joints whose turns are read.
    pub joints: Vec<JointReading>,
    /// `D_ℓ`.
    pub patches: Vec<PatchPredictor>,
    /// The posed bones whose matrices enter directly.
    pub sources: Vec<BoneId>,
    /// `C1`, row by row: four rows per proxy (the columns of its matrix), four numbers per patch.
    pub from_patches: Vec<f64>,
    /// `C2`, row by row: four rows per proxy, four numbers per source.
    pub from_sources: Vec<f64>,
}

/// How the turn of a joint is computed from a pose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JointReading {
    /// The bone that turns.
    pub bone: BoneId,
    /// The bone relative to which it turns.
    pub parent: BoneId,
    /// The middle of the turns in the examples, axis times angle in radians: a turn is given as the vector nearest to
    /// it, so that a forearm may go from 0° to 300° without a jump.
    pub middle: DVec3,
}

/// How a patch of skin moves: `D = F T(o) exp(ρ_1) exp(ρ_2) … [X | x]`, with `F = Σ w_a N_a`.
///
/// The gradient `lin(D)` acts on the patch about its middle in the rest pose; the fourth column is the new position of
/// the middle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PatchPredictor {
    /// `F`: the bones in whose frame the patch moves, and their weights, which sum to 1. One bone, or those
    /// that would move the patch in linear blend skinning.
    pub frame: Vec<(BoneId, f64)>,
    /// `o`, the point about which it turns, in the rest pose.
    pub pivot: DVec3,
    /// `ρ_1`, `ρ_2`, …; empty for a patch that turns with the bone.
    pub turns: Vec<PredictedTurn>,
    /// Numbers of the joints that the stretch depends on.
    pub stretch_joints: Vec<u16>,
    /// `H`: for each of nine inputs per such joint, and last for a constant 1, its coefficients in the twelve entries
    /// of `[X | x]`, column by column. The inputs are those of [`stretch_inputs`]: a joint's turn and its squares.
    pub stretch: Vec<[f64; 12]>,
}

/// A turn computed from that of a joint: `ρ = u W θ`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PredictedTurn {
    /// Number of the joint.
    pub joint: u16,
    /// `u`: the share of the joint's angle; 0.5 is half-way along a twist.
    pub scale: f64,
    /// `W`: the rotation of the axis.
    pub offset: DQuat,
}

/// The inputs of a stretch from one joint: `θ`, and the products of its components: xx, yy, zz, yz, xz, xy.
///
/// A bulge is the same for a bend to either side, which a linear function of the turn cannot express.
pub fn stretch_inputs(turn: DVec3) -> [f64; 9] {
    let DVec3 { x, y, z } = turn;
    [x, y, z, x * x, y * y, z * z, y * z, x * z, x * y]
}

impl PatchPredictor {
    /// A patch that moves as a bone does, given its middle in the rest pose.
    pub fn rigid(frame: BoneId, middle: DVec3) -> Self {
        let [x, y, z] = middle.to_array();
        Self {
            frame: vec![(frame, 1.0)],
            pivot: DVec3::ZERO,
            turns: Vec::new(),
            stretch_joints: Vec::new(),
            stretch: vec![[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, x, y, z]],
        }
    }

    /// `T(o) exp(ρ_1) exp(ρ_2) … [X | x]` for the turns of all joints: the motion in the frame of its bone.
    pub fn local(&self, turns: &[DVec3]) -> DAffine3 {
        let mut x = [0.0; 12];
        let inputs = (self.stretch_joints.iter())
            .flat_map(|&joint| stretch_inputs(turns[usize::from(joint)]))
            .chain([1.0]);
        for (input, shares) in inputs.zip(&self.stretch) {
            for (x, share) in x.iter_mut().zip(shares) {
                *x += input * share;
            }
        }
        let turned = DMat3::from_quat(self.rotation(turns));
        let x = DAffine3::from_cols_array(&x);
        DAffine3 {
            matrix3: turned * x.matrix3,
            translation: self.pivot + turned * x.translation,
        }
    }

    /// `exp(ρ_1) exp(ρ_2) …` for the turns of all joints.
    pub fn rotation(&self, turns: &[DVec3]) -> DQuat {
        let mut rotation = DQuat::IDENTITY;
        for turn in &self.turns {
            rotation *= DQuat::from_scaled_axis(turn.vector(turns[usize::from(turn.joint)]));
        }
        rotation
    }
}

impl PredictedTurn {
    /// `u W θ`.
    pub fn vector(&self, turn: DVec3) -> DVec3 {
        self.offset * turn * self.scale
    }
}

/// A weighted sum of motions.
pub(crate) fn blend(motions: impl Iterator<Item = (DAffine3, f64)>) -> DAffine3 {
    motions.fold(DAffine3::ZERO, |sum, (motion, weight)| DAffine3 {
        matrix3: sum.matrix3 + motion.matrix3 * weight,
        translation: sum.translation + motion.translation * weight,
    })
}

impl JointReading {
    /// The turn of the joint, given `N` of both its bones.
    pub fn turn(&self, parent_from_rest: &DMat3, bone_from_rest: &DMat3) -> DVec3 {
        let turned = nearest_rotation(parent_from_rest.inverse() * *bone_from_rest);
        nearest_branch(rotation_vector(&turned), self.middle)
    }
}

impl ProxyBones {
    /// How many bones at the end of the skeleton a pose may leave out: proxies and their carriers.
    pub fn unposed_bone_count(&self) -> usize {
        2 * self.bones.len()
    }

    /// The bones that the places of proxies depend on, some more than once.
    pub fn read_bones(&self) -> impl Iterator<Item = BoneId> {
        let frames = self.patches.iter().flat_map(|p| &p.frame);
        let frames = frames.map(|(bone, _)| *bone);
        let joints = self.joints.iter().flat_map(|j| [j.bone, j.parent]);
        frames.chain(joints).chain(self.sources.iter().copied())
    }

    /// Every bone that is named: the placed ones and those that are read.
    pub fn bones_mut(&mut self) -> impl Iterator<Item = &mut BoneId> {
        let frames = self.patches.iter_mut().flat_map(|p| &mut p.frame);
        let frames = frames.map(|(bone, _)| bone);
        let joints = (self.joints.iter_mut()).flat_map(|j| [&mut j.bone, &mut j.parent]);
        let lists = self.bones.iter_mut().chain(&mut self.sources);
        lists.chain(frames).chain(joints)
    }

    /// Checks that all bones and joints that are named exist and that no number is NaN or infinite.
    ///
    /// # Errors
    /// [`RigError::BadProxyBones`].
    pub fn check(&self, skeleton: &Skeleton) -> Result<(), RigError> {
        let bad = |problem: String| Err(RigError::BadProxyBones { problem });
        let Some(posed_count) = (skeleton.bone_count()).checked_sub(self.unposed_bone_count())
        else {
            return bad(format!(
                "{} proxies and their carriers are more than all bones of the skeleton",
                self.bones.len()
            ));
        };
        let parent = |j: usize| skeleton.bones()[j].parent.map(BoneId::index);
        for (m, bone) in self.bones.iter().enumerate() {
            let carrier = posed_count + 2 * m;
            if bone.index() != carrier + 1
                || parent(carrier + 1) != Some(carrier)
                || parent(carrier).is_some()
            {
                return bad(format!(
                    "proxy {m} is bone {}: expected bone {} with parent {carrier}, which has no \
                     parent itself",
                    bone.0,
                    carrier + 1
                ));
            }
        }
        if let Some(bone) = (self.read_bones()).find(|bone| bone.index() >= posed_count) {
            return bad(format!(
                "bone {} is read, but only the first {posed_count} bones are posed",
                bone.0
            ));
        }
        for (l, patch) in self.patches.iter().enumerate() {
            let turning = patch.turns.iter().map(|turn| turn.joint);
            let mut joints = turning.chain(patch.stretch_joints.iter().copied());
            if let Some(joint) = joints.find(|&j| usize::from(j) >= self.joints.len()) {
                return bad(format!(
                    "patch {l} reads joint {joint}, but there are only {}",
                    self.joints.len()
                ));
            }
            let expected = 9 * patch.stretch_joints.len() + 1;
            if patch.stretch.len() != expected {
                return bad(format!(
                    "patch {l} has {} rows of stretch, expected {expected}",
                    patch.stretch.len()
                ));
            }
        }
        let rows = 4 * self.bones.len();
        for (what, expected, found) in [
            ("C1", rows * 4 * self.patches.len(), &self.from_patches),
            ("C2", rows * 4 * self.sources.len(), &self.from_sources),
        ] {
            if found.len() != expected {
                return bad(format!(
                    "{what} has {} numbers, expected {expected}",
                    found.len()
                ));
            }
        }
        match self.is_finite() {
            true => Ok(()),
            false => bad("a number is NaN or infinite".to_owned()),
        }
    }

    fn is_finite(&self) -> bool {
        let matrices = self.from_patches.iter().chain(&self.from_sources);
        let stretches = self.patches.iter().flat_map(|p| p.stretch.iter().flatten());
        let mut turns = self.patches.iter().flat_map(|p| &p.turns);
        matrices.chain(stretches).all(|x| x.is_finite())
            && self.patches.iter().all(|p| p.pivot.is_finite())
            && self
                .patches
                .iter()
                .all(|p| p.frame.iter().all(|(_, w)| w.is_finite()))
            && self.joints.iter().all(|j| j.middle.is_finite())
            && turns.all(|t| t.scale.is_finite() && t.offset.is_finite())
    }

    /// `D_ℓ` in a pose, given `G` of all posed bones; further entries are ignored.
    pub fn motions(&self, skeleton: &Skeleton, model_from_bone: &[DAffine3]) -> Vec<DAffine3> {
        let posed_from_rest = |bone: BoneId| {
            model_from_bone[bone.index()] * skeleton.bones()[bone.index()].bone_from_rest
        };
        let linear = |bone: BoneId| posed_from_rest(bone).matrix3;
        let turns: Vec<DVec3> = (self.joints.iter())
            .map(|j| j.turn(&linear(j.parent), &linear(j.bone)))
            .collect();
        (self.patches.iter())
            .map(|patch| {
                let bones = patch.frame.iter();
                blend(bones.map(|&(bone, w)| (posed_from_rest(bone), w))) * patch.local(&turns)
            })
            .collect()
    }

    /// `G` of every proxy bone, given `G` of all posed bones; further entries are ignored.
    pub fn place(&self, skeleton: &Skeleton, model_from_bone: &[DAffine3]) -> Vec<DAffine3> {
        self.combine(&self.motions(skeleton, model_from_bone), model_from_bone)
    }

    /// `G` of every proxy bone, given the motion of every patch and `G` of all posed bones.
    pub(crate) fn combine(
        &self,
        motions: &[DAffine3],
        model_from_bone: &[DAffine3],
    ) -> Vec<DAffine3> {
        let (width1, width2) = (4 * self.patches.len(), 4 * self.sources.len());
        let column = |row: usize| {
            let c1 = &self.from_patches[row * width1..(row + 1) * width1];
            let c2 = &self.from_sources[row * width2..(row + 1) * width2];
            let sources = self
                .sources
                .iter()
                .map(|source| &model_from_bone[source.index()]);
            let terms = motions.iter().zip(c1.chunks_exact(4));
            let terms = terms.chain(sources.zip(c2.chunks_exact(4)));
            terms.fold(DVec3::ZERO, |sum, (m, c)| {
                sum + m.matrix3 * DVec3::from_slice(c) + m.translation * c[3]
            })
        };
        (0..self.bones.len())
            .map(|m| DAffine3 {
                matrix3: DMat3::from_cols(column(4 * m), column(4 * m + 1), column(4 * m + 2)),
                translation: column(4 * m + 3),
            })
            .collect()
    }

    /// The same proxies for a skeleton whose bones have other numbers; each bone must keep its rest matrix.
    #[must_use]
    pub fn with_bones(&self, renumber: impl Fn(BoneId) -> BoneId) -> Self {
        let mut changed = self.clone();
        changed.bones_mut().for_each(|bone| *bone = renumber(*bone));
        changed
    }
}
