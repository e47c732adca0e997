//! Spheres that hold a skin in every legal pose.
//!
//! An engine that culls a character by its rest box makes it vanish when an arm reaches out of the
//! box. A sphere that holds in every pose costs one test and no work per frame. Here it is computed from the
//! limits of the joints ([`JointLimits`](crate::joint::JointLimits)): a ball around each partial sum of `G s`
//! is carried from bone to bone to the root (\[Merry07\] §3.3.3), using as much of the joints' limits as a
//! ball can express. The same balls bound the distance of two points from above ([`PoseBounds::norm`],
//! `|s|₂,∞`), where [`metric`](crate::metric) gives the mean.
//!
//! | | holds in | costs |
//! | --- | --- | --- |
//! | [`hold_vertices`] with [`free_joints`](crate::joint::free_joints) | every rotation of every joint | once |
//! | [`hold_vertices`] with limits | every legal pose | once |
//! | [`sampled_ball`] | the poses that are given | once |
//! | [`BoneBoxes`] | every pose | a box per bone and frame |
//!
//! [`Frustum`] tests many spheres against a camera.

mod bone_boxes;
mod derived;
mod driven;
mod extreme;
mod frustum;
mod holding;
mod joint_bound;
mod propagate;
mod proxied;
mod skin_balls;

pub use bone_boxes::BoneBoxes;
pub use derived::complete_limits;
pub use driven::coefficient_ranges;
pub use extreme::{extreme_poses, far_pose};
pub use frustum::{Camera, Frustum};
pub use holding::{Holding, enclose};
pub use joint_bound::turned_ball;
pub use propagate::PoseBounds;
pub use skin_balls::{SkinBounds, hold_vertices, moved_ball, sampled_ball};

use crate::limits::TooLarge;
use crate::rig::RigError;
use crate::skin::SkinError;

/// What can be wrong with a bound.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BoundsError {
    /// A pose or limits do not belong to the skeleton.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The skin cannot be evaluated, or is not linear.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The job would take more memory than allowed.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A list does not have the length that the skin needs.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The output of a driver has no upper limit.
    #[error(
        "coefficient {name} is driven by {driver}, whose {part} grows without bound: give its range"
    )]
    UnboundedDriver {
        /// Name of the coefficient.
        name: String,
        /// Name of the driver.
        driver: String,
        /// What grows.
        part: &'static str,
    },
    /// A coefficient's range is not finite or not in order.
    #[error(
        "coefficient {index}: expected a range of two finite numbers, the smaller one first, \
         found {found:?}"
    )]
    BadRange {
        /// Index of the coefficient.
        index: usize,
        /// What was given.
        found: [f64; 2],
    },
}
