//! Bones that follow one joint each, for [`PoseBuffer`]s: what
//! [`DerivedBone::parent_from_bone`](crate::rig::DerivedBone::parent_from_bone) computes, without allocating.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};

use super::elementary::{exponential, product, rotation_vector};
use super::{PoseBuffer, RunError};
use crate::math::nearest_rotation;
use crate::rig::{BoneId, DerivedBone, DerivedMotion, Skeleton, Trs, rest_parent_from_bone};
use crate::skin::Skin;

/// Places the derived bones (pseudo-bones) of one character.
///
/// Call it each frame, after sampling and blending, and before
/// [`PackedSkeleton::palette`](super::PackedSkeleton::palette). A clone shares the packed numbers.
///
/// **Accuracy.** 64 bits, from the pose buffer's own 32-bit numbers; then rounded to 32. A derived bone whose rest
/// matrix shears is placed without the shear, as in a file.
#[derive(Debug, Clone)]
pub(super) struct PackedDerived {
    packed: Arc<[PackedBone]>,
}

/// A derived bone with its precomputed values.
#[derive(Debug)]
struct PackedBone {
    bone: BoneId,
    of: BoneId,
    motion: DerivedMotion,
    /// `lin(L̂)⁻¹`.
    rest_inverse: DMat3,
    /// `B̂`.
    rest: Trs,
    /// `off B̂ − off L̂`.
    lever: DVec3,
}

impl PackedDerived {
    /// Packs the derived bones of a skin; it may have none.
    pub(super) fn new(skin: &Skin) -> Self {
        let bones = skin.pose_program.derived().iter();
        Self {
            packed: bones
                .map(|derived| PackedBone::new(&skin.skeleton, derived))
                .collect(),
        }
    }

    /// Places every derived bone from the joint that it follows.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when the pose has fewer bones than the skin.
    pub(super) fn place(&self, pose: &mut PoseBuffer) -> Result<(), RunError> {
        if let Some(last) = self.packed.last() {
            RunError::check_count(
                "bones in the pose",
                last.bone.index() + 1,
                pose.bone_count(),
            )?;
        }
        for bone in &*self.packed {
            let local = bone.parent_from_bone(&pose.local(bone.of));
            pose.set_local(bone.bone, &local);
        }
        Ok(())
    }
}

impl PackedBone {
    fn new(skeleton: &Skeleton, derived: &DerivedBone) -> Self {
        let rest_of = rest_parent_from_bone(skeleton, derived.of);
        let (rest, _) = Trs::from_affine(&rest_parent_from_bone(skeleton, derived.bone));
        Self {
            bone: derived.bone,
            of: derived.of,
            motion: derived.motion,
            rest_inverse: rest_of.matrix3.inverse(),
            lever: rest.translation - rest_of.translation,
            rest,
        }
    }

    fn parent_from_bone(&self, parent_from_of: &Trs) -> Trs {
        let posed = parent_from_of.to_affine().matrix3 * self.rest_inverse;
        let turn = DQuat::from_mat3(&nearest_rotation(posed));
        match self.motion {
            DerivedMotion::PartTurn { share } => {
                let part = exponential(rotation_vector(turn) * share);
                Trs {
                    translation: parent_from_of.translation + DMat3::from_quat(part) * self.lever,
                    rotation: product(part, self.rest.rotation),
                    scale: self.rest.scale,
                }
            }
            DerivedMotion::Swell { gain } => {
                let s = 1.0 + gain * turn.xyz().length_squared();
                Trs {
                    scale: self.rest.scale * DVec3::new(1.0, s, s),
                    ..self.rest
                }
            }
        }
    }
}
