//! Limits of bones that are computed from other bones.

use std::f64::consts::PI;

use glam::{DAffine3, DQuat};

use super::BoundsError;
use super::joint_bound::turned_ball;
use crate::joint::{JointLimits, TurnLimits, rotation_and_scales};
use crate::rig::{DerivedBone, DerivedMotion, Skeleton, rest_parent_from_bone};
use crate::skin::Skin;

/// Limits for every bone of a skin, from the limits of the bones that a pose gives.
///
/// Limits that are given for derived bones are replaced. The result treats a derived bone as independent of
/// its joint, so it allows more poses than exist, and bounds stay valid. Proxy bones are listed as if they
/// stayed at rest: no joint moves them, and values given for them in a pose are ignored.
///
/// # Errors
/// [`BoundsError::CountMismatch`] unless there are limits for all bones or for exactly the posed ones.
pub fn complete_limits(
    skin: &Skin,
    limits: &[JointLimits],
) -> Result<Vec<JointLimits>, BoundsError> {
    let posed = skin.posed_bone_count();
    if limits.len() != posed && limits.len() != skin.skeleton.bone_count() {
        return Err(BoundsError::CountMismatch {
            what: "joint limits",
            expected: posed,
            found: limits.len(),
        });
    }
    let mut all = limits[..posed].to_vec();
    for derived in skin.pose_program.derived() {
        let of = &all[derived.of.index()];
        all.push(limits_of(&skin.skeleton, derived, of));
    }
    let unread = skin.skeleton.ids().skip(all.len());
    all.extend(unread.map(|bone| {
        let rest = rest_parent_from_bone(&skin.skeleton, bone);
        JointLimits::fixed(bone, &rest)
    }));
    Ok(all)
}

fn limits_of(skeleton: &Skeleton, derived: &DerivedBone, of: &JointLimits) -> JointLimits {
    let rest = rest_parent_from_bone(skeleton, derived.bone);
    let rest_of = rest_parent_from_bone(skeleton, derived.of);
    let most = largest_turn(of, &rest_of);
    match derived.motion {
        DerivedMotion::PartTurn { share } => {
            // lin B = Rˢʰᵃʳᵉ lin B̂, a rotation by at most share times the joint's own about B̂'s; and
            // off B = off L + Rˢʰᵃʳᵉ (off B̂ − off L̂).
            let angle = (share.abs() * most).min(PI);
            let cone = |center: DQuat| TurnLimits::Cone {
                center,
                max_angle_rad: angle,
            };
            let (rotation, scale_range) = rotation_and_scales(&rest.matrix3);
            let lever = turned_ball(
                &cone(DQuat::IDENTITY),
                rest.translation - rest_of.translation,
            );
            JointLimits {
                bone: derived.bone,
                translation: of.translation + lever.center,
                translation_radius: of.translation_radius + lever.radius,
                // Q = center⁻¹ Rˢʰᵃʳᵉ center turns by the same angle.
                turn: cone(rotation),
                scale_range,
            }
        }
        DerivedMotion::Swell { gain } => {
            let end = 1.0 + gain * 0.5 * (1.0 - most.cos());
            let (least, largest) = (end.min(1.0), end.max(1.0));
            let fixed = JointLimits::fixed(derived.bone, &rest);
            let [rest_least, rest_most] = fixed.scale_range;
            let is_rigid = (rest_least - 1.0).abs() < 1e-6 && (rest_most - 1.0).abs() < 1e-6;
            match is_rigid {
                true => JointLimits {
                    scale_range: [rest_least.min(1.0) * least, rest_most.max(1.0) * largest],
                    ..fixed
                },
                // The product of two stretches is not symmetric: only its size is known.
                false => {
                    let size = fixed.largest_scale() * least.abs().max(largest.abs());
                    JointLimits {
                        turn: TurnLimits::Free,
                        scale_range: [-size, size],
                        ..fixed
                    }
                }
            }
        }
    }
}

/// The largest angle of a joint's turn from its rest, `lin(L L̂⁻¹)`.
pub(super) fn largest_turn(of: &JointLimits, rest: &DAffine3) -> f64 {
    let (rest_rotation, rest_scales) = rotation_and_scales(&rest.matrix3);
    let uniform = |[a, b]: [f64; 2]| (b - a).abs() <= 1e-6 * b.abs() && a > 0.0;
    // With uneven stretches, the angle of the nearest rotation is not known.
    let known = uniform(of.scale_range) && uniform(rest_scales);
    match (known, of.turn.center()) {
        (true, Some(center)) => {
            let apart = (center * rest_rotation.inverse()).w.abs().min(1.0).acos() * 2.0;
            (apart + of.turn.largest_angle_rad()).min(PI)
        }
        _ => PI,
    }
}
