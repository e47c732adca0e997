//! Bones computed from other bones.
//!
//! A half-turned bone between forearm and hand, a bone that swells as the elbow bends: linear blend skinning with such
//! **pseudo-bones** can show deformations that the skeleton's own bones cannot (\[Mohr03\] §5). Once a pose has been
//! completed with them they are ordinary bones for files, engines and fits. Both motions are a translation, a rotation
//! and a scale relative to the parent, so a clip can key them exactly.

use glam::{DAffine3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::{BoneId, RigError, Skeleton};
use crate::math::nearest_rotation;

/// A bone whose transform is computed from another bone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DerivedBone {
    /// The bone that is computed.
    pub bone: BoneId,
    /// The bone whose joint it follows; it must be a posed bone.
    pub of: BoneId,
    /// How it follows.
    pub motion: DerivedMotion,
}

/// How a derived bone follows a joint.
///
/// | symbol | meaning |
/// | --- | --- |
/// | `L`, `L̂` | parent from `of`, posed and at rest |
/// | `B`, `B̂` | parent from the derived bone, posed and at rest |
/// | `R` | the joint's turn from its rest in the parent's frame: the rotation nearest to `lin(L L̂⁻¹)`, at most half a turn |
///
/// At rest `B = B̂`. When a joint turns past half a turn, its turn is read as one from the other side, and its derived
/// bones jump: a pose does not tell in which direction it was reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum DerivedMotion {
    /// Turns by a share of the joint's turn, about the joint: `B = T(off L) Rˢʰᵃʳᵉ T(−off L̂) B̂`.
    ///
    /// The derived bone has the same parent as `of`. The joint's scale is ignored.
    PartTurn {
        /// 0 stays with the parent, 1 turns with the bone, 0.5 turns half-way.
        share: f64,
    },
    /// Moves with its parent and scales across its own x axis as the joint bends: `B = B̂ diag(1, s, s)` with
    /// `s = 1 + gain (1 − cos θ) / 2`, θ being the angle of `R`.
    ///
    /// The parent is any posed bone: `of` itself, or the bone above it.
    Swell {
        /// Scale at half a turn, minus 1; negative values shrink.
        gain: f64,
    },
}

/// Checks a skeleton's list of derived bones.
pub(crate) fn check_derived(skeleton: &Skeleton, derived: &[DerivedBone]) -> Result<(), RigError> {
    let bones = skeleton.bones();
    let posed_count = posed_count(skeleton, derived)?;
    for (m, d) in derived.iter().enumerate() {
        let bad = |problem: String| RigError::BadDerivedBone {
            bone: d.bone.index(),
            problem,
        };
        if d.bone.index() != posed_count + m {
            return Err(bad(format!(
                "derived bones must be the last bones of the skeleton, in order: expected bone {} here",
                posed_count + m
            )));
        }
        if d.of.index() >= posed_count {
            return Err(bad(format!(
                "it follows bone {}, but only the first {posed_count} bones are posed",
                d.of.0
            )));
        }
        let (parent, of_parent) = (bones[d.bone.index()].parent, bones[d.of.index()].parent);
        if parent.is_some_and(|parent| parent.index() >= posed_count) {
            return Err(bad(
                "its parent is a derived bone, but must be a posed one".to_owned()
            ));
        }
        let number = match d.motion {
            DerivedMotion::PartTurn { share } => {
                if parent != of_parent {
                    return Err(bad(format!(
                        "a bone that turns part of the way must have the same parent as the bone that it \
                         follows: {}",
                        of_parent.map_or("none".to_owned(), |a| format!("bone {}", a.0))
                    )));
                }
                share
            }
            DerivedMotion::Swell { gain } => gain,
        };
        if !number.is_finite() {
            return Err(bad(format!(
                "its share or gain must be a finite number, found {number}"
            )));
        }
        if !rest_parent_from_bone(skeleton, d.of).inverse().is_finite()
            || !rest_parent_from_bone(skeleton, d.bone).is_finite()
        {
            return Err(bad(
                "its rest matrix or that of its joint is singular".to_owned()
            ));
        }
    }
    Ok(())
}

/// How many bones a pose must give.
fn posed_count(skeleton: &Skeleton, derived: &[DerivedBone]) -> Result<usize, RigError> {
    let count = skeleton.bone_count();
    count
        .checked_sub(derived.len())
        .ok_or(RigError::CountMismatch {
            what: "derived bones at most",
            expected: count,
            found: derived.len(),
        })
}

/// `L_j` of every bone, computed from those of the posed bones; values given for derived bones are ignored.
pub(crate) fn complete(
    skeleton: &Skeleton,
    derived: &[DerivedBone],
    parent_from_bone: &[DAffine3],
) -> Result<Vec<DAffine3>, RigError> {
    let posed_count = posed_count(skeleton, derived)?;
    let found = parent_from_bone.len();
    if found != posed_count && found != skeleton.bone_count() {
        return Err(RigError::CountMismatch {
            what: "bones in the pose",
            expected: posed_count,
            found,
        });
    }
    let mut all = parent_from_bone[..posed_count].to_vec();
    for d in derived {
        let local = d.parent_from_bone(skeleton, &all[d.of.index()]);
        all.push(local);
    }
    Ok(all)
}

impl DerivedBone {
    /// The bone's transform in its parent when the bone that it follows stands at `parent_from_of`.
    ///
    /// # Panics
    /// When the skeleton has no such bones.
    pub fn parent_from_bone(&self, skeleton: &Skeleton, parent_from_of: &DAffine3) -> DAffine3 {
        let rest_parent_from_of = rest_parent_from_bone(skeleton, self.of);
        let rest_parent_from_bone = rest_parent_from_bone(skeleton, self.bone);
        let turn = joint_turn(&rest_parent_from_of, parent_from_of);
        match self.motion {
            DerivedMotion::PartTurn { share } => {
                let part = DQuat::from_scaled_axis(share * turn.to_scaled_axis());
                DAffine3::from_rotation_translation(part, parent_from_of.translation)
                    * DAffine3::from_translation(-rest_parent_from_of.translation)
                    * rest_parent_from_bone
            }
            DerivedMotion::Swell { gain } => {
                // sin²(θ/2) = (1 − cos θ) / 2, and sin(θ/2) is the length of the vector part.
                let s = 1.0 + gain * turn.xyz().length_squared();
                rest_parent_from_bone * DAffine3::from_scale(DVec3::new(1.0, s, s))
            }
        }
    }
}

/// The rotation nearest to `lin(L L̂⁻¹)`, as the quaternion of an angle of at most half a turn.
pub(crate) fn joint_turn(rest_parent_from_bone: &DAffine3, parent_from_bone: &DAffine3) -> DQuat {
    let motion = parent_from_bone.matrix3 * rest_parent_from_bone.matrix3.inverse();
    let turn = DQuat::from_mat3(&nearest_rotation(motion)).normalize();
    if turn.w < 0.0 { -turn } else { turn }
}

/// `L̂`: a bone's transform in its parent in the pose in which the mesh was bound.
pub(crate) fn rest_parent_from_bone(skeleton: &Skeleton, bone: BoneId) -> DAffine3 {
    let bones = skeleton.bones();
    let rest_model_from_bone = bones[bone.index()].bone_from_rest.inverse();
    match bones[bone.index()].parent {
        None => rest_model_from_bone,
        Some(parent) => bones[parent.index()].bone_from_rest * rest_model_from_bone,
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::rig::{Pose, Trs};

    /// A root, a bone at x = 2 on it, and derived bones: a half-turn and a swell of the root.
    fn skeleton() -> Skeleton {
        let turned = DAffine3::from_rotation_translation(
            DQuat::from_rotation_y(0.4),
            DVec3::new(1.0, 0.5, -0.2),
        );
        let at = |x: f64| turned * DAffine3::from_translation(DVec3::X * x);
        let root = Some(BoneId(0));
        Skeleton::from_rest_frames([
            ("root".to_owned(), None, at(0.0)),
            ("bone".to_owned(), root, at(2.0)),
            ("bone.half".to_owned(), root, at(2.0)),
            ("bone.swell".to_owned(), root, at(1.0)),
        ])
        .expect("parents come first")
    }

    const DERIVED: [DerivedBone; 2] = [
        DerivedBone {
            bone: BoneId(2),
            of: BoneId(1),
            motion: DerivedMotion::PartTurn { share: 0.5 },
        },
        DerivedBone {
            bone: BoneId(3),
            of: BoneId(1),
            motion: DerivedMotion::Swell { gain: 0.5 },
        },
    ];

    fn completed(turn: DQuat) -> Vec<DAffine3> {
        let skeleton = skeleton();
        let mut pose = skeleton.rest_pose();
        pose.parent_from_bone.truncate(2);
        pose.parent_from_bone[1] *= DAffine3::from_quat(turn);
        complete(&skeleton, &DERIVED, &pose.parent_from_bone).expect("two bones are posed")
    }

    #[test]
    fn at_rest_derived_bones_do_not_move_vertices() {
        let skeleton = skeleton();
        let palette = skeleton
            .palette(&Pose::new(completed(DQuat::IDENTITY)))
            .expect("all four bones");
        for n in skeleton.posed_from_rest(&palette) {
            assert!(n.abs_diff_eq(DAffine3::IDENTITY, 1e-12), "found {n:?}");
        }
    }

    #[test]
    fn a_half_turned_bone_turns_half_as_far_about_the_joint() {
        let axis = DVec3::new(0.3, 1.0, -0.5).normalize();
        let skeleton = skeleton();
        let full = DQuat::from_axis_angle(axis, 2.0);
        let half = DQuat::from_axis_angle(axis, 1.0);
        let locals = completed(full);
        let rest = rest_parent_from_bone(&skeleton, BoneId(1));
        let expected = rest * DAffine3::from_quat(half);
        assert!(
            locals[2].abs_diff_eq(expected, 1e-12),
            "expected {expected:?}, found {:?}",
            locals[2]
        );
    }

    #[test]
    fn a_swelling_bone_grows_across_its_axis_and_not_along_it() {
        for (angle, expected) in [(FRAC_PI_2, 1.25), (0.999_999 * PI, 1.5)] {
            let (trs, shear) = Trs::from_affine(&completed(DQuat::from_rotation_z(angle))[3]);
            assert!(shear < 1e-12, "translation, rotation and scale: {shear}");
            let expected = DVec3::new(1.0, expected, expected);
            assert!(
                trs.scale.abs_diff_eq(expected, 1e-9),
                "at {angle}: {}",
                trs.scale
            );
        }
    }

    #[test]
    fn a_half_turned_bone_follows_a_sliding_joint_and_ignores_its_scale() {
        let skeleton = skeleton();
        let rest = rest_parent_from_bone(&skeleton, BoneId(1));
        let slid = DAffine3::from_translation(DVec3::Y)
            * rest
            * DAffine3::from_scale_rotation_translation(
                DVec3::new(1.0, 2.0, 0.7),
                DQuat::from_rotation_x(1.0),
                DVec3::ZERO,
            );
        let local = DERIVED[0].parent_from_bone(&skeleton, &slid);
        let expected = DAffine3::from_translation(DVec3::Y)
            * rest
            * DAffine3::from_quat(DQuat::from_rotation_x(0.5));
        assert!(
            local.abs_diff_eq(expected, 1e-9),
            "expected {expected:?}, found {local:?}"
        );
    }

    #[test]
    fn invalid_lists_of_derived_bones_are_refused() {
        let skeleton = skeleton();
        let [half, swell] = DERIVED;
        check_derived(&skeleton, &DERIVED).expect("a good list");
        let with = |change: fn(&mut DerivedBone)| {
            let mut half = half;
            change(&mut half);
            check_derived(&skeleton, &[half, swell])
        };
        for (what, result) in [
            ("out of order", check_derived(&skeleton, &[swell, half])),
            ("not the last", check_derived(&skeleton, &[half])),
            ("too many", check_derived(&skeleton, &[half; 5])),
            ("of a derived one", with(|d| d.of = BoneId(3))),
            ("of a bone with another parent", with(|d| d.of = BoneId(0))),
            (
                "not a number",
                with(|d| d.motion = DerivedMotion::PartTurn { share: f64::NAN }),
            ),
        ] {
            assert!(result.is_err(), "{what} is refused");
        }
    }
}
