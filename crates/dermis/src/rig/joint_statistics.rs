//! How far each joint went in the poses that were seen.

use glam::{DAffine3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::{BoneId, Pose, Skeleton};

/// How a joint moved over some poses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JointStatistics {
    /// The bone that the joint moves in its parent.
    pub bone: BoneId,
    /// How many poses were seen.
    pub pose_count: usize,
    /// `E[L]`, entry by entry: no rotation unless the joint never turns.
    pub mean_parent_from_bone: DAffine3,
    /// Root-mean-square distance of the joint's translation from its mean, in model units: 0 for a
    /// joint that turns in place.
    pub translation_deviation: f64,
    /// The rotation in the middle of those seen.
    pub mean_rotation: DQuat,
    /// Smallest rotation vector from the mean rotation, axis by axis, in radians.
    pub rotation_min_rad: DVec3,
    /// Largest rotation vector from the mean rotation, axis by axis, in radians.
    pub rotation_max_rad: DVec3,
    /// Largest angle from the mean rotation, in radians.
    pub max_angle_rad: f64,
    /// The axis that the joint turns about, when it turns about one only.
    pub hinge: Option<Hinge>,
    /// Smallest and largest scale of the joint's matrix along any direction.
    pub scale_range: [f64; 2],
}

/// A joint that turns about one axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hinge {
    /// Unit axis in the bone's frame.
    pub axis: DVec3,
    /// Smallest angle from the mean rotation, in radians.
    pub min_rad: f64,
    /// Largest angle from the mean rotation, in radians.
    pub max_rad: f64,
}

/// The statistics of every joint over some poses.
pub fn joint_statistics(_skeleton: &Skeleton, _poses: &[Pose]) -> Vec<JointStatistics> {
    Vec::new()
}
