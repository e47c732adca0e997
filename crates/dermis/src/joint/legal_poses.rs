//! Random poses within joint limits, to measure how tight a bound is and to test that it holds.

use std::f64::consts::PI;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::{JointLimits, TurnLimits};
use crate::math::Random;
use crate::rig::{Pose, RigError, Skeleton};

/// An endless sequence of legal poses; the same seed gives the same sequence.
///
/// Joints are drawn one by one. With probability `extreme_share` a joint goes to an end of its range and is otherwise
/// uniform over it, as [`expected_rotation`](crate::metric::expected_rotation) describes. A bound is nearly reached in
/// poses in which many joints are at the ends of their ranges.
#[derive(Debug, Clone)]
pub struct LegalPoses {
    limits: Vec<JointLimits>,
    extreme_share: f64,
    random: Random,
}

impl LegalPoses {
    /// Poses of a skeleton, one limit per bone in order.
    ///
    /// # Errors
    /// [`RigError::CountMismatch`] and [`RigError::BadLimits`].
    pub fn new(
        skeleton: &Skeleton,
        limits: &[JointLimits],
        extreme_share: f64,
        seed: u64,
    ) -> Result<Self, RigError> {
        if limits.len() != skeleton.bone_count() {
            return Err(RigError::CountMismatch {
                what: "joint limits",
                expected: skeleton.bone_count(),
                found: limits.len(),
            });
        }
        limits.iter().try_for_each(JointLimits::check)?;
        Ok(Self {
            limits: limits.to_vec(),
            extreme_share,
            random: Random::new(seed),
        })
    }
}

impl Iterator for LegalPoses {
    type Item = Pose;

    fn next(&mut self) -> Option<Pose> {
        let random = &mut self.random;
        let locals = self.limits.iter().map(|joint| {
            let extreme = random.unit() < self.extreme_share;
            let rotation = match extreme {
                true => extreme_turn(&joint.turn, random),
                false => sample_turn(&joint.turn, random),
            };
            let reach = match extreme {
                true => 1.0,
                false => random.unit().cbrt(),
            };
            let away = random.direction() * (reach * joint.translation_radius);
            DAffine3 {
                matrix3: DMat3::from_quat(rotation) * stretch(joint, extreme, random),
                translation: joint.translation + away,
            }
        });
        Some(Pose::new(locals.collect()))
    }
}

/// A symmetric stretch within the joint's scales, along random axes.
fn stretch(joint: &JointLimits, extreme: bool, random: &mut Random) -> DMat3 {
    let [least, most] = joint.scale_range;
    if least == most {
        return DMat3::IDENTITY * least;
    }
    let frame = DMat3::from_quat(random.rotation());
    let factors = DVec3::from_array(std::array::from_fn(|_| match extreme {
        true => [least, most][usize::from(random.unit() < 0.5)],
        false => random.between(least, most),
    }));
    frame * DMat3::from_diagonal(factors) * frame.transpose()
}

/// A random rotation within limits, uniformly distributed.
pub(crate) fn sample_turn(limits: &TurnLimits, random: &mut Random) -> DQuat {
    match *limits {
        TurnLimits::Free => random.rotation(),
        TurnLimits::Hinge {
            center,
            axis,
            min_rad,
            max_rad,
            wobble_rad,
        } => {
            let angle = random.between(min_rad, max_rad);
            center * wobble(wobble_rad, random) * DQuat::from_axis_angle(axis.normalize(), angle)
        }
        TurnLimits::Cone {
            center,
            max_angle_rad,
        } => {
            // Density 1 − cos φ on [0, θ], by rejection under its largest value.
            let most = max_angle_rad.min(PI);
            let highest = 1.0 - most.cos();
            let angle = loop {
                let angle = random.between(0.0, most);
                if random.unit() * highest <= 1.0 - angle.cos() {
                    break angle;
                }
            };
            center * DQuat::from_axis_angle(random.direction(), angle)
        }
        TurnLimits::SwingTwist {
            center,
            axis,
            max_swing_rad,
            min_twist_rad,
            max_twist_rad,
        } => {
            let swing = random
                .between(max_swing_rad.cos(), 1.0)
                .clamp(-1.0, 1.0)
                .acos();
            let twist = random.between(min_twist_rad, max_twist_rad);
            center * swing_twist(axis, swing, twist, random)
        }
    }
}

/// A random rotation at an end of its range.
fn extreme_turn(limits: &TurnLimits, random: &mut Random) -> DQuat {
    let mut end = |low: f64, high: f64| [low, high][usize::from(random.unit() < 0.5)];
    match *limits {
        TurnLimits::Free => random.rotation(),
        TurnLimits::Hinge {
            center,
            axis,
            min_rad,
            max_rad,
            wobble_rad,
        } => {
            let angle = end(min_rad, max_rad);
            center * wobble(wobble_rad, random) * DQuat::from_axis_angle(axis.normalize(), angle)
        }
        TurnLimits::Cone {
            center,
            max_angle_rad,
        } => center * DQuat::from_axis_angle(random.direction(), max_angle_rad.min(PI)),
        TurnLimits::SwingTwist {
            center,
            axis,
            max_swing_rad,
            min_twist_rad,
            max_twist_rad,
        } => {
            let twist = end(min_twist_rad, max_twist_rad);
            center * swing_twist(axis, max_swing_rad, twist, random)
        }
    }
}

fn wobble(most: f64, random: &mut Random) -> DQuat {
    let angle = random.between(0.0, most);
    DQuat::from_axis_angle(random.direction(), angle)
}

fn swing_twist(axis: DVec3, swing: f64, twist: f64, random: &mut Random) -> DQuat {
    let axis = axis.normalize();
    let (u, v) = axis.any_orthonormal_pair();
    let (sin, cos) = random.between(0.0, std::f64::consts::TAU).sin_cos();
    DQuat::from_axis_angle(u * cos + v * sin, swing) * DQuat::from_axis_angle(axis, twist)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::rotation_and_scales;
    use crate::rig::BoneId;

    #[test]
    fn every_pose_is_within_the_limits() {
        let skeleton = Skeleton::from_rest_frames([("root".to_owned(), None, DAffine3::IDENTITY)])
            .expect("one bone");
        let center = DQuat::from_rotation_y(0.4);
        let joint = |turn| JointLimits {
            bone: BoneId(0),
            translation: DVec3::X,
            translation_radius: 0.5,
            turn,
            scale_range: [0.8, 1.5],
        };
        let hinge = joint(TurnLimits::Hinge {
            center,
            axis: DVec3::Z,
            min_rad: -0.2,
            max_rad: 1.0,
            wobble_rad: 0.05,
        });
        let cone = joint(TurnLimits::Cone {
            center,
            max_angle_rad: 0.7,
        });
        let ball = joint(TurnLimits::SwingTwist {
            center,
            axis: DVec3::X,
            max_swing_rad: 0.6,
            min_twist_rad: -0.1,
            max_twist_rad: 0.3,
        });
        for limits in [hinge, cone, ball] {
            let list = std::slice::from_ref(&limits);
            let poses = LegalPoses::new(&skeleton, list, 0.5, 3).expect("one limit");
            for pose in poses.take(300) {
                let local = &pose.parent_from_bone[0];
                assert!(
                    local.translation.distance(limits.translation) <= 0.5 + 1e-12,
                    "{}",
                    local.translation
                );
                let (rotation, scales) = rotation_and_scales(&local.matrix3);
                assert!(
                    scales[0] > 0.8 - 1e-9 && scales[1] < 1.5 + 1e-9,
                    "{scales:?}"
                );
                let turn = center.inverse() * rotation;
                let angle = 2.0 * turn.w.abs().min(1.0).acos();
                assert!(
                    angle <= limits.turn.largest_angle_rad() + 1e-6,
                    "{limits:?} turned by {angle}"
                );
            }
        }
        let error = LegalPoses::new(&skeleton, &[], 0.5, 3).expect_err("no limits");
        assert!(matches!(error, RigError::CountMismatch { .. }), "{error}");
    }
}
