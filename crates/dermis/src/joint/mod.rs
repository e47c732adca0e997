//! Joints: how they move in given poses (statistics), how they may move (limits), and random poses within the limits.

mod legal_poses;
mod limit_excess;
mod limits;
mod motion;
mod moved;
mod statistics;

pub use legal_poses::LegalPoses;
#[cfg(test)]
pub(crate) use legal_poses::sample_turn;
pub use limit_excess::LimitExcess;
pub(crate) use limits::rotation_and_scales;
pub use limits::{JointLimits, TurnLimits, free_joints};
pub use motion::{JointMotion, nearest_axis};
pub use statistics::{Hinge, JointStatistics, joint_statistics};
