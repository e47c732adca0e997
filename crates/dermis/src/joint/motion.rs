//! How a joint turns, as people say it: still, a hinge about an axis, or a ball.

use std::fmt;

use glam::{DQuat, DVec3};
use serde::Serialize;

use super::statistics::STILL_RAD;
use super::{JointStatistics, TurnLimits};
use crate::math::nearest_rotation;
use crate::rig::{Skeleton, rest_parent_from_bone};

/// How a joint turned in some poses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum JointMotion {
    /// It never turned.
    Still,
    /// It turned about one axis.
    #[serde(rename_all = "camelCase")]
    Hinge {
        /// Unit axis in the bone's frame, pointing so that the farther way from rest is positive.
        axis: DVec3,
        /// Smallest angle from the rest pose, in radians.
        min_rad: f64,
        /// Largest angle from the rest pose, in radians.
        max_rad: f64,
    },
    /// It turned about several axes.
    #[serde(rename_all = "camelCase")]
    Ball {
        /// How far it turned about each axis of the bone, from one end to the other, in radians.
        spread_rad: DVec3,
        /// Largest angle from its mean rotation, in radians.
        max_angle_rad: f64,
    },
}

impl JointStatistics {
    /// How the joint turned, counted from the pose in which the mesh was bound.
    ///
    /// ```
    /// use dermis::joint::joint_statistics;
    ///
    /// let arm = dermis::synth::arm(&Default::default()).examples;
    /// let poses: Vec<_> = arm.examples().iter().map(|e| e.pose.clone()).collect();
    /// let joints = joint_statistics(arm.skeleton(), &poses);
    /// assert_eq!(joints[1].motion(arm.skeleton()).to_string(), "hinge z, 0° to 114°");
    /// ```
    pub fn motion(&self, skeleton: &Skeleton) -> JointMotion {
        if self.max_angle_rad < STILL_RAD {
            return JointMotion::Still;
        }
        let Some(hinge) = &self.hinge else {
            return JointMotion::Ball {
                spread_rad: self.rotation_max_rad - self.rotation_min_rad,
                max_angle_rad: self.max_angle_rad,
            };
        };
        let rest = nearest_rotation(rest_parent_from_bone(skeleton, self.bone).matrix3);
        let mean_from_rest = DQuat::from_mat3(&rest).inverse() * self.mean_rotation;
        // The part of the mean that turns about the axis: what is left is the same in every pose.
        let turned = 2.0 * f64::atan2(mean_from_rest.xyz().dot(hinge.axis), mean_from_rest.w);
        let turned = turned - std::f64::consts::TAU * (turned / std::f64::consts::TAU).round();
        let (min_rad, max_rad) = (turned + hinge.min_rad, turned + hinge.max_rad);
        match -min_rad > max_rad {
            true => JointMotion::Hinge {
                axis: -hinge.axis,
                min_rad: -max_rad,
                max_rad: -min_rad,
            },
            false => JointMotion::Hinge {
                axis: hinge.axis,
                min_rad,
                max_rad,
            },
        }
    }
}

/// The coordinate axis nearest to a direction, `x` to `-z`, and the angle between the two in radians.
pub fn nearest_axis(direction: DVec3) -> (&'static str, f64) {
    const NAMES: [[&str; 2]; 3] = [["x", "-x"], ["y", "-y"], ["z", "-z"]];
    let largest = direction.abs().max_position();
    let name = NAMES[largest][usize::from(direction[largest] < 0.0)];
    let across = DVec3::AXES[largest].cross(direction).length();
    (name, f64::atan2(across, direction[largest].abs()))
}

/// A smaller angle between a hinge and an axis, in radians, is not worth a word.
const ALONG_RAD: f64 = 0.02;

impl fmt::Display for JointMotion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Still => f.write_str("still"),
            Self::Hinge {
                axis,
                min_rad,
                max_rad,
            } => write!(f, "hinge {}, {}", axis_text(axis), range(min_rad, max_rad)),
            Self::Ball { spread_rad, .. } => {
                let [x, y, z] = spread_rad.to_array().map(degrees);
                write!(f, "ball, x {x} y {y} z {z}")
            }
        }
    }
}

impl fmt::Display for TurnLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Free => f.write_str("free"),
            Self::Hinge {
                axis,
                min_rad,
                max_rad,
                ..
            } => write!(f, "hinge {}, {}", axis_text(axis), range(min_rad, max_rad)),
            Self::Cone { max_angle_rad, .. } if max_angle_rad < STILL_RAD => f.write_str("fixed"),
            Self::Cone { max_angle_rad, .. } => write!(f, "cone {}", degrees(max_angle_rad)),
            Self::SwingTwist {
                max_swing_rad,
                min_twist_rad,
                max_twist_rad,
                ..
            } => write!(
                f,
                "swing {}, twist {}",
                degrees(max_swing_rad),
                range(min_twist_rad, max_twist_rad)
            ),
        }
    }
}

fn axis_text(axis: DVec3) -> String {
    match nearest_axis(axis) {
        (name, off) if off < ALONG_RAD => name.to_owned(),
        (name, off) => format!("{} off {name}", degrees(off)),
    }
}

fn range(min_rad: f64, max_rad: f64) -> String {
    format!("{} to {}", degrees(min_rad), degrees(max_rad))
}

/// An angle to a tenth of a degree; whole ones from 10° on.
fn degrees(angle_rad: f64) -> String {
    let exact = angle_rad.to_degrees();
    let rounded = match exact.abs() < 10.0 {
        true => (10.0 * exact).round() / 10.0,
        false => exact.round(),
    };
    // No -0.
    format!("{}°", rounded + 0.0)
}

#[cfg(test)]
mod tests {
    use glam::DAffine3;

    use super::*;
    use crate::joint::joint_statistics;
    use crate::rig::{BoneId, Pose};

    /// What is said of a bone whose rest frame is turned, in turns from its rest.
    fn motion(turns: impl IntoIterator<Item = DQuat>) -> JointMotion {
        let rest = DAffine3::from_rotation_translation(
            DQuat::from_rotation_y(0.7),
            DVec3::new(1.0, 2.0, 3.0),
        );
        let skeleton = Skeleton::from_rest_frames([
            ("root".to_owned(), None, DAffine3::IDENTITY),
            ("bone".to_owned(), Some(BoneId(0)), rest),
        ])
        .expect("two bones");
        let poses: Vec<Pose> = (turns.into_iter())
            .map(|turn| Pose::new(vec![DAffine3::IDENTITY, rest * DAffine3::from_quat(turn)]))
            .collect();
        joint_statistics(&skeleton, &poses)[1].motion(&skeleton)
    }

    fn about(axis: DVec3, degrees: impl IntoIterator<Item = f64>) -> JointMotion {
        let turn = |d: f64| DQuat::from_axis_angle(axis, d.to_radians());
        motion(degrees.into_iter().map(turn))
    }

    #[test]
    fn a_hinge_is_said_with_its_axis_and_its_range_from_rest() {
        let to_132 = || (0..=132).map(f64::from);
        assert_eq!(about(DVec3::Z, to_132()).to_string(), "hinge z, 0° to 132°");
        assert_eq!(
            about(DVec3::NEG_X, to_132()).to_string(),
            "hinge -x, 0° to 132°",
            "the way it bends is positive"
        );
        let both_ways = (-40..=20).map(f64::from);
        let text = about(DVec3::Y, both_ways).to_string();
        assert_eq!(text, "hinge -y, -20° to 40°", "the farther way is positive");
        let tilted = DQuat::from_rotation_x(0.2) * DVec3::Y;
        let text = about(tilted, to_132()).to_string();
        assert_eq!(text, "hinge 11° off y, 0° to 132°", "no letter fits");
    }

    #[test]
    fn a_hinge_that_never_comes_to_rest_is_counted_from_there() {
        // As a control of a sculpting project reads it: the twist about the axis, before a swing that stays.
        let swing = DQuat::from_rotation_x(0.5);
        let found =
            motion((30..=90).map(|d| swing * DQuat::from_rotation_z(f64::from(d).to_radians())));
        let JointMotion::Hinge {
            axis,
            min_rad,
            max_rad,
        } = found
        else {
            panic!("a hinge, not {found}");
        };
        assert!(axis.abs_diff_eq(DVec3::Z, 1e-9), "{axis}");
        let range = [min_rad, max_rad].map(f64::to_degrees);
        assert!(
            (range[0] - 30.0).abs() < 1e-6 && (range[1] - 90.0).abs() < 1e-6,
            "{range:?}"
        );
    }

    #[test]
    fn still_joints_and_balls_are_told_apart() {
        assert_eq!(
            about(DVec3::Z, [5.0, 5.0, 5.0, 5.0]),
            JointMotion::Still,
            "one pose"
        );
        let turn = |k: i32| {
            let phase = |step: f64| (step * f64::from(k)).sin();
            DQuat::from_scaled_axis(DVec3::new(0.5 * phase(1.1), 0.3 * phase(2.3), 0.0))
        };
        let ball = motion((0..60).map(turn)).to_string();
        assert!(ball.starts_with("ball, x 5"), "about ±0.5 about x: {ball}");
    }

    #[test]
    fn every_direction_has_a_nearest_axis() {
        for (axis, name) in [
            (DVec3::X, "x"),
            (DVec3::NEG_Y, "-y"),
            (DVec3::new(0.1, 0.2, -0.9), "-z"),
        ] {
            assert_eq!(nearest_axis(axis).0, name, "{axis}");
        }
        assert!(nearest_axis(DVec3::NEG_Z).1 < 1e-12, "exactly along it");
        let off = nearest_axis(DVec3::new(0.0, 0.3_f64.sin(), 0.3_f64.cos())).1;
        assert!((off - 0.3).abs() < 1e-12, "{off}");
    }
}
