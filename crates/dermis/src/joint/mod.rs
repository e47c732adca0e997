//! Joints: what they do in motions, what they may do, and poses within that.

mod legal_poses;
mod limit_excess;
mod limits;
mod moved;
mod statistics;

pub use legal_poses::LegalPoses;
#[cfg(test)]
pub(crate) use legal_poses::sample_turn;
pub use limit_excess::LimitExcess;
pub(crate) use limits::rotation_and_scales;
pub use limits::{JointLimits, TurnLimits, free_joints};
pub use statistics::{Hinge, JointStatistics, joint_statistics};
