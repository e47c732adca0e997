//! Pose spaces: the controls on which a deformation depends, and smooth functions of them.
//!
//! A few **controls** (the turn of a joint, a slider) span a space in which every pose is a point (\[Lewis00\] §4). A
//! [`Driver`] is a set of functions over such a space, made of one bump around each of some poses. It computes
//! ("drives") the coefficients of a skin's corrections, so that a sculpted shape is fully there in its pose, fades with
//! distance, and vanishes at the other poses.

mod control;
mod driver;
mod interpolate;

pub(crate) use control::across;
pub use control::{Control, JointTurn};
pub(crate) use driver::squared_distance;
pub use driver::{Center, Driver, Kernel};
pub(crate) use interpolate::pseudo_inverse;
pub use interpolate::{InterpolateOptions, Interpolated, interpolate};

/// Why a pose space is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseSpaceError {
    /// Two poses are the same point of the space, so no function can tell them apart.
    #[error(
        "poses {first} and {second} are the same for the controls of {space}: move a control \
         before saving another sculpt, or replace the first sculpt"
    )]
    SamePose {
        /// Name of the earlier pose.
        first: String,
        /// Name of the later pose.
        second: String,
        /// Name of the pose space.
        space: String,
    },
    /// The poses are different, but their bumps overlap so much that they cannot be told apart.
    #[error(
        "poses {first} and {second} cannot be told apart with falloffs this wide: make the \
         falloffs narrower or the poses more different"
    )]
    Dependent {
        /// Name of one of the two poses that overlap most.
        first: String,
        /// Name of the other one.
        second: String,
    },
    /// A driver does not fit the skin that it reads or drives.
    #[error("driver {driver}: {problem}")]
    BadDriver {
        /// Name of the driver.
        driver: String,
        /// What is wrong.
        problem: String,
    },
}
