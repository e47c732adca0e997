//! Bones that stand for patches of skin, placed by what was learned of how skin follows joints.
//!
//! A patch of skin between two bones turns with neither: half-way along a twisting forearm, about
//! another axis over a muscle, with a stretch that depends on the bend. Rotational regression
//! (\[Wang07\]) predicts such **gradients** from the turns of joints, and places **proxy bones** so that
//! the skin on them meets all gradients and the bones that it hangs on as well as it can. The places
//! are linear in gradients and matrices, so a pose costs a few small predictions and one product of
//! matrices; after it, proxy bones are bones like any other.

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
/// | `D_ℓ` | gradient `ℓ`: what the rest shape of a patch is turned and stretched by |
///
/// `[G_1 … G_P] = [D_1 … D_L] C1ᵀ + [G_s1 … G_sS] C2ᵀ`: every row of a proxy's matrix is the same
/// combination of that row of the gradients and of the source bones. \[Wang07\] Eq. 6 writes the same
/// with matrices nine times as large, most of whose entries are 0: no row ever meets another.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyBones {
    /// The bones that are placed, in order. Each hangs from a carrier of its own, right before it, and
    /// the carrier in model space; together they are the last of the skeleton.
    pub bones: Vec<BoneId>,
    /// The joints whose turns are read.
    pub joints: Vec<JointReading>,
    /// `D_ℓ`.
    pub gradients: Vec<GradientPredictor>,
    /// The posed bones whose matrices enter directly.
    pub sources: Vec<BoneId>,
    /// `C1`, row by row: four rows per proxy (the columns of its matrix), three numbers per gradient.
    pub from_gradients: Vec<f64>,
    /// `C2`, row by row: four rows per proxy, four numbers per source.
    pub from_sources: Vec<f64>,
}

/// How the turn of a joint is read from a pose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JointReading {
    /// The bone that turns.
    pub bone: BoneId,
    /// The bone that it turns in.
    pub parent: BoneId,
    /// The middle of the turns that were seen, axis times angle in radians: a turn is read as the vector
    /// nearest to it, so that a forearm may go from 0° to 300° without a jump.
    pub middle: DVec3,
}

/// How a patch of skin turns and stretches: `D = lin(N_a) exp(ρ_1) exp(ρ_2) … S`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GradientPredictor {
    /// `a`, the bone in whose frame the patch turns.
    pub frame: BoneId,
    /// `ρ_1`, `ρ_2`, …; none for a patch that turns with the bone.
    pub turns: Vec<PredictedTurn>,
    /// Numbers of the joints that the stretch depends on.
    pub stretch_joints: Vec<u16>,
    /// `H`: of each component of those joints' turns, and at last of 1, the share in the six numbers of
    /// the symmetric matrix `S`: xx, yy, zz, yz, xz, xy.
    pub stretch: Vec<[f64; 6]>,
}

/// A turn that follows from that of a joint: `ρ = u W θ`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PredictedTurn {
    /// Number of the joint.
    pub joint: u16,
    /// `u`: how much of the joint's angle; 0.5 is half-way along a twist.
    pub scale: f64,
    /// `W`: how the axis is turned.
    pub offset: DQuat,
}

/// The gradient of a patch that turns with its bone and nothing more.
const NO_STRETCH: [f64; 6] = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];

impl GradientPredictor {
    /// The gradient of a patch that moves as a bone does.
    pub fn rigid(frame: BoneId) -> Self {
        Self {
            frame,
            turns: Vec::new(),
            stretch_joints: Vec::new(),
            stretch: vec![NO_STRETCH],
        }
    }

    /// `exp(ρ_1) exp(ρ_2) … S` for the turns of all joints: the gradient in the frame of its bone.
    pub fn local(&self, turns: &[DVec3]) -> DMat3 {
        let mut rotation = DQuat::IDENTITY;
        for turn in &self.turns {
            rotation *= DQuat::from_scaled_axis(turn.vector(turns[usize::from(turn.joint)]));
        }
        let mut s = [0.0; 6];
        let inputs = (self.stretch_joints.iter())
            .flat_map(|&joint| turns[usize::from(joint)].to_array())
            .chain([1.0]);
        for (input, shares) in inputs.zip(&self.stretch) {
            for (s, share) in s.iter_mut().zip(shares) {
                *s += input * share;
            }
        }
        DMat3::from_quat(rotation) * symmetric(s)
    }
}

impl PredictedTurn {
    /// `u W θ`.
    pub fn vector(&self, turn: DVec3) -> DVec3 {
        self.offset * turn * self.scale
    }
}

/// A symmetric matrix from xx, yy, zz, yz, xz, xy.
fn symmetric([xx, yy, zz, yz, xz, xy]: [f64; 6]) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(xx, xy, xz),
        DVec3::new(xy, yy, yz),
        DVec3::new(xz, yz, zz),
    )
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

    /// Checks that everything that is named exists and that no number is NaN or infinite.
    ///
    /// # Errors
    /// [`RigError::BadProxyBones`].
    pub fn check(&self, skeleton: &Skeleton) -> Result<(), RigError> {
        let bad = |problem: String| Err(RigError::BadProxyBones { problem });
        let Some(posed_count) = (skeleton.bone_count()).checked_sub(self.unposed_bone_count())
        else {
            return bad(format!(
                "{} of them and their carriers are more than all bones",
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
                    "proxy {m} is bone {}: expected bone {}, hung from bone {carrier}, which hangs \
                     in model space",
                    bone.0,
                    carrier + 1
                ));
            }
        }
        let frames = self.gradients.iter().map(|g| g.frame);
        let joints = self.joints.iter().flat_map(|j| [j.bone, j.parent]);
        let mut named = frames.chain(joints).chain(self.sources.iter().copied());
        if let Some(bone) = named.find(|bone| bone.index() >= posed_count) {
            return bad(format!(
                "bone {} is read, but only the first {posed_count} are posed",
                bone.0
            ));
        }
        for (l, gradient) in self.gradients.iter().enumerate() {
            let turning = gradient.turns.iter().map(|turn| turn.joint);
            let mut joints = turning.chain(gradient.stretch_joints.iter().copied());
            if let Some(joint) = joints.find(|&j| usize::from(j) >= self.joints.len()) {
                return bad(format!(
                    "gradient {l} reads joint {joint}, but there are {}",
                    self.joints.len()
                ));
            }
            let expected = 3 * gradient.stretch_joints.len() + 1;
            if gradient.stretch.len() != expected {
                return bad(format!(
                    "gradient {l} has {} rows of stretch, expected {expected}",
                    gradient.stretch.len()
                ));
            }
        }
        let rows = 4 * self.bones.len();
        for (what, expected, found) in [
            ("C1", rows * 3 * self.gradients.len(), &self.from_gradients),
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
        let matrices = self.from_gradients.iter().chain(&self.from_sources);
        let stretches = self
            .gradients
            .iter()
            .flat_map(|g| g.stretch.iter().flatten());
        let mut turns = self.gradients.iter().flat_map(|g| &g.turns);
        matrices.chain(stretches).all(|x| x.is_finite())
            && self.joints.iter().all(|j| j.middle.is_finite())
            && turns.all(|t| t.scale.is_finite() && t.offset.is_finite())
    }

    /// `D_ℓ` in a pose, given `G` of all posed bones (and, unread, of others).
    pub fn gradients_of(&self, skeleton: &Skeleton, model_from_bone: &[DAffine3]) -> Vec<DMat3> {
        let posed_from_rest = |bone: BoneId| {
            let rest = &skeleton.bones()[bone.index()].bone_from_rest.matrix3;
            model_from_bone[bone.index()].matrix3 * *rest
        };
        let turns: Vec<DVec3> = (self.joints.iter())
            .map(|j| j.turn(&posed_from_rest(j.parent), &posed_from_rest(j.bone)))
            .collect();
        (self.gradients.iter())
            .map(|gradient| posed_from_rest(gradient.frame) * gradient.local(&turns))
            .collect()
    }

    /// `G` of every proxy bone, given that of all posed bones (and, unread, of others).
    pub fn place(&self, skeleton: &Skeleton, model_from_bone: &[DAffine3]) -> Vec<DAffine3> {
        let gradients = self.gradients_of(skeleton, model_from_bone);
        let (width1, width2) = (3 * self.gradients.len(), 4 * self.sources.len());
        let row = |row: usize| {
            let c1 = &self.from_gradients[row * width1..(row + 1) * width1];
            let c2 = &self.from_sources[row * width2..(row + 1) * width2];
            let mut sum = DVec3::ZERO;
            for (d, c) in gradients.iter().zip(c1.chunks_exact(3)) {
                sum += *d * DVec3::from_slice(c);
            }
            for (source, c) in self.sources.iter().zip(c2.chunks_exact(4)) {
                let g = &model_from_bone[source.index()];
                sum += g.matrix3 * DVec3::from_slice(c) + g.translation * c[3];
            }
            sum
        };
        (0..self.bones.len())
            .map(|m| DAffine3 {
                matrix3: DMat3::from_cols(row(4 * m), row(4 * m + 1), row(4 * m + 2)),
                translation: row(4 * m + 3),
            })
            .collect()
    }

    /// The same proxies of a skeleton whose bones have other numbers; each must keep its rest matrix.
    #[must_use]
    pub fn with_bones(&self, renumber: impl Fn(BoneId) -> BoneId) -> Self {
        let mut changed = self.clone();
        let frames = changed.gradients.iter_mut().map(|g| &mut g.frame);
        let joints = (changed.joints.iter_mut()).flat_map(|j| [&mut j.bone, &mut j.parent]);
        let lists = changed.bones.iter_mut().chain(&mut changed.sources);
        for bone in lists.chain(frames).chain(joints) {
            *bone = renumber(*bone);
        }
        changed
    }
}
