//! Joint limits: the transforms that a joint may give its bone.
//!
//! Bounds that hold in every pose need to know which poses are possible. A joint's matrix is a translation within a
//! ball, times a rotation from a set that people can describe (a hinge's range, a cone, swing and twist), times a
//! symmetric stretch. Joints are independent: every combination of legal joints is a legal pose.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::JointStatistics;
use super::statistics::{HINGE_TOLERANCE, symmetric_eigen};
use crate::math::nearest_rotation;
use crate::rig::{BoneId, RigError, Skeleton};

/// The matrices that a joint may take.
///
/// `L = T(t) · R · K` with `|t − translation| ≤ translation_radius`, `R` within [`TurnLimits`], and a symmetric `K`
/// whose eigenvalues lie in `scale_range`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JointLimits {
    /// The bone that the joint moves in its parent.
    pub bone: BoneId,
    /// The middle of the joint's translations, in the parent's frame and model units.
    pub translation: DVec3,
    /// How far a translation may be from the middle, in model units.
    #[serde(default)]
    pub translation_radius: f64,
    /// How the joint may turn.
    pub turn: TurnLimits,
    /// Smallest and largest stretch; 1 and 1 for a rigid bone, negative where it may mirror.
    #[serde(default = "unit_scale")]
    pub scale_range: [f64; 2],
}

/// The rotations that a joint may take.
///
/// `center` is the rotation, parent from bone, from which turns are counted; axes are in the bone's
/// frame. A legal rotation is `center · Q`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum TurnLimits {
    /// Every rotation.
    Free,
    /// `Q` is a turn by `min_rad` to `max_rad` about `axis`, then by at most `wobble_rad` about any.
    #[serde(rename_all = "camelCase")]
    Hinge {
        /// The rotation from which angles are counted.
        center: DQuat,
        /// Unit axis in the bone's frame.
        axis: DVec3,
        /// Smallest angle, in radians.
        min_rad: f64,
        /// Largest angle, in radians; at least `min_rad`.
        max_rad: f64,
        /// How far a turn may leave the axis, in radians: in real motion no hinge is exact.
        #[serde(default)]
        wobble_rad: f64,
    },
    /// `Q` turns by at most `max_angle_rad` about any axis.
    #[serde(rename_all = "camelCase")]
    Cone {
        /// The rotation in the middle.
        center: DQuat,
        /// Largest angle, in radians; 0 for a joint that never turns.
        max_angle_rad: f64,
    },
    /// `Q` is a twist about `axis`, then a swing of at most `max_swing_rad` about an axis
    /// perpendicular to it: the direction of a limb stays in a cone.
    #[serde(rename_all = "camelCase")]
    SwingTwist {
        /// The rotation in the middle of the cone, from which twists are counted.
        center: DQuat,
        /// Unit axis of the limb in the bone's frame.
        axis: DVec3,
        /// Largest swing, in radians, at most π.
        max_swing_rad: f64,
        /// Smallest twist, in radians.
        min_twist_rad: f64,
        /// Largest twist, in radians; at least `min_twist_rad`.
        max_twist_rad: f64,
    },
}

fn unit_scale() -> [f64; 2] {
    [1.0, 1.0]
}

impl JointLimits {
    /// A joint that does not move.
    pub fn fixed(bone: BoneId, parent_from_bone: &DAffine3) -> Self {
        let (rotation, scale_range) = rotation_and_scales(&parent_from_bone.matrix3);
        Self {
            bone,
            translation: parent_from_bone.translation,
            translation_radius: 0.0,
            turn: TurnLimits::Cone {
                center: rotation,
                max_angle_rad: 0.0,
            },
            scale_range,
        }
    }

    /// A joint that may turn in any way, at its current place.
    pub fn free(bone: BoneId, parent_from_bone: &DAffine3) -> Self {
        Self {
            turn: TurnLimits::Free,
            ..Self::fixed(bone, parent_from_bone)
        }
    }

    /// Limits that contain all poses from which statistics were taken.
    ///
    /// A hinge keeps its range and the wobble that [`Hinge`](super::Hinge) allows; every other joint gets the cone
    /// about its mean rotation. When the largest distance of a translation from the mean is unknown, the root of the
    /// sum of all squared distances is an upper bound of it.
    pub fn from_statistics(seen: &JointStatistics) -> Self {
        let center = seen.mean_rotation;
        let turn = match &seen.hinge {
            Some(hinge) => TurnLimits::Hinge {
                center,
                axis: hinge.axis,
                min_rad: hinge.min_rad,
                max_rad: hinge.max_rad,
                // exp is a contraction: turns are no farther apart than their rotation vectors.
                wobble_rad: HINGE_TOLERANCE * seen.max_angle_rad,
            },
            None => TurnLimits::Cone {
                center,
                max_angle_rad: seen.max_angle_rad,
            },
        };
        let spread = seen.translation_deviation * (seen.pose_count as f64).sqrt();
        let [least, most] = seen.scale_range;
        Self {
            bone: seen.bone,
            translation: seen.mean_parent_from_bone.translation,
            translation_radius: seen.translation_radius.unwrap_or(spread),
            turn,
            scale_range: match seen.mirrored {
                false => [least, most],
                // A mirrored matrix is a rotation times a stretch with one negative factor, the smallest.
                true => [-most, most],
            },
        }
    }

    /// Checks that numbers are finite, axes and rotations of unit length, and ranges in order.
    ///
    /// # Errors
    /// [`RigError::BadLimits`] with the first problem.
    pub fn check(&self) -> Result<(), RigError> {
        let bad = |problem: &str| {
            Err(RigError::BadLimits {
                bone: self.bone.index(),
                problem: problem.to_owned(),
            })
        };
        let radius = self.translation_radius;
        if !(self.translation.is_finite() && radius.is_finite() && radius >= 0.0) {
            return bad("expected a finite translation and a radius of at least 0");
        }
        let [least, most] = self.scale_range;
        if !(least.is_finite() && most.is_finite() && least <= most) {
            return bad("expected a finite range of scales, the smaller first");
        }
        if let Some(center) = self.turn.center()
            && !(center.is_finite() && (center.length() - 1.0).abs() < 1e-4)
        {
            return bad("expected a rotation of unit length");
        }
        let unit = |axis: DVec3| (axis.length() - 1.0).abs() < 1e-4;
        let in_order = |a: f64, b: f64| a.is_finite() && b.is_finite() && a <= b;
        let not_negative = |angle: f64| angle.is_finite() && angle >= 0.0;
        match self.turn {
            TurnLimits::Free => Ok(()),
            TurnLimits::Hinge {
                axis,
                min_rad,
                max_rad,
                wobble_rad,
                ..
            } => match (unit(axis), in_order(min_rad, max_rad)) {
                (false, _) => bad("expected an axis of unit length"),
                (_, false) => bad("expected a finite range of angles, the smaller first"),
                _ if !not_negative(wobble_rad) => bad("expected a wobble of at least 0"),
                _ => Ok(()),
            },
            TurnLimits::Cone { max_angle_rad, .. } => match not_negative(max_angle_rad) {
                true => Ok(()),
                false => bad("expected an angle of at least 0"),
            },
            TurnLimits::SwingTwist {
                axis,
                max_swing_rad,
                min_twist_rad,
                max_twist_rad,
                ..
            } => {
                let swings =
                    not_negative(max_swing_rad) && max_swing_rad <= std::f64::consts::PI + 1e-9;
                match (unit(axis), swings) {
                    (false, _) => bad("expected an axis of unit length"),
                    (_, false) => bad("expected a swing of 0 to 180 degrees"),
                    _ if !in_order(min_twist_rad, max_twist_rad) => {
                        bad("expected a finite range of twists, the smaller first")
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// The largest stretch of any legal matrix.
    pub fn largest_scale(&self) -> f64 {
        self.scale_range[0].abs().max(self.scale_range[1].abs())
    }
}

impl TurnLimits {
    /// The rotation that turns are counted from; `None` when every rotation is legal.
    pub fn center(&self) -> Option<DQuat> {
        match *self {
            Self::Free => None,
            Self::Hinge { center, .. }
            | Self::Cone { center, .. }
            | Self::SwingTwist { center, .. } => Some(center),
        }
    }

    /// An upper bound for the angle of legal turns from `center`, in radians.
    pub fn largest_angle_rad(&self) -> f64 {
        use std::f64::consts::PI;
        let angle = match *self {
            Self::Free => PI,
            Self::Hinge {
                min_rad,
                max_rad,
                wobble_rad,
                ..
            } => min_rad.abs().max(max_rad.abs()) + wobble_rad,
            Self::Cone { max_angle_rad, .. } => max_angle_rad,
            // Angles of successive turns add up at most.
            Self::SwingTwist {
                max_swing_rad,
                min_twist_rad,
                max_twist_rad,
                ..
            } => max_swing_rad + min_twist_rad.abs().max(max_twist_rad.abs()),
        };
        angle.min(PI)
    }
}

/// Every bone may turn in any way about its place in the default pose: the widest limits, known from a skeleton alone.
pub fn free_joints(skeleton: &Skeleton) -> Vec<JointLimits> {
    let pose = skeleton.default_pose();
    (skeleton.ids().zip(&pose.parent_from_bone))
        .map(|(bone, local)| JointLimits::free(bone, local))
        .collect()
}

/// `R` and the range of `K` in `A = R K`, with the nearest rotation `R` and a symmetric `K`.
pub(crate) fn rotation_and_scales(matrix: &DMat3) -> (DQuat, [f64; 2]) {
    let rotation = nearest_rotation(*matrix);
    let stretch = rotation.transpose() * *matrix;
    let symmetric = 0.5 * (stretch + stretch.transpose());
    let pairs = symmetric_eigen(&symmetric);
    (
        DQuat::from_mat3(&rotation).normalize(),
        [pairs[0].0, pairs[2].0],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::joint_statistics;
    use crate::rig::Pose;

    #[test]
    fn a_fixed_joint_has_the_scales_of_its_matrix() {
        let local = DAffine3::from_scale_rotation_translation(
            DVec3::new(1.0, 2.0, 0.5),
            DQuat::from_rotation_x(0.3),
            DVec3::Y,
        );
        let limits = JointLimits::fixed(BoneId(0), &local);
        limits.check().expect("numbers in order");
        assert!(
            (limits.scale_range[0] - 0.5).abs() < 1e-9
                && (limits.scale_range[1] - 2.0).abs() < 1e-9,
            "{limits:?}"
        );
        assert_eq!(limits.translation, DVec3::Y, "where it is");
        assert_eq!(limits.turn.largest_angle_rad(), 0.0, "it never turns");
        let mirrored =
            JointLimits::fixed(BoneId(0), &DAffine3::from_scale(DVec3::new(-1.0, 1.0, 1.0)));
        assert!(mirrored.scale_range[0] < -0.99, "{mirrored:?}");
    }

    #[test]
    fn limits_from_statistics_contain_the_given_poses() {
        let skeleton = Skeleton::from_rest_frames([("root".to_owned(), None, DAffine3::IDENTITY)])
            .expect("one bone");
        let poses: Vec<Pose> = (0..7)
            .map(|k| {
                let t = k as f64;
                let turn = DQuat::from_rotation_z(0.2 * t);
                Pose::new(vec![DAffine3::from_rotation_translation(
                    turn,
                    DVec3::new(t, 0.0, 0.0),
                )])
            })
            .collect();
        let seen = &joint_statistics(&skeleton, &poses)[0];
        let limits = JointLimits::from_statistics(seen);
        limits.check().expect("numbers in order");
        assert!((limits.translation_radius - 3.0).abs() < 1e-9, "0 to 6");
        assert!(
            matches!(limits.turn, TurnLimits::Hinge { min_rad, max_rad, .. }
                if (max_rad - min_rad - 1.2).abs() < 1e-6),
            "{limits:?}"
        );
        let old = JointStatistics {
            translation_radius: None,
            ..seen.clone()
        };
        let radius = JointLimits::from_statistics(&old).translation_radius;
        assert!(radius >= 3.0, "never less than the largest: {radius}");
    }

    #[test]
    fn invalid_limits_are_refused_with_the_number_of_the_bone() {
        let good = JointLimits::free(BoneId(3), &DAffine3::IDENTITY);
        let bad = [
            JointLimits {
                translation_radius: -1.0,
                ..good.clone()
            },
            JointLimits {
                scale_range: [2.0, 1.0],
                ..good.clone()
            },
            JointLimits {
                turn: TurnLimits::Hinge {
                    center: DQuat::IDENTITY,
                    axis: DVec3::new(1.0, 1.0, 0.0),
                    min_rad: 0.0,
                    max_rad: 1.0,
                    wobble_rad: 0.0,
                },
                ..good.clone()
            },
            JointLimits {
                turn: TurnLimits::Cone {
                    center: DQuat::IDENTITY,
                    max_angle_rad: f64::NAN,
                },
                ..good.clone()
            },
        ];
        good.check().expect("a free joint is legal");
        for limits in bad {
            let error = limits.check().expect_err("out of order").to_string();
            assert!(error.contains("bone 3"), "{error}");
        }
    }
}
