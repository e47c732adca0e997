//! The space of poses: what a deformation depends on, and smooth functions over it.
//!
//! A few **controls** (the turn of a joint, a slider) span a space in which every pose is a point
//! (\[Lewis00\] §4). A [`Driver`] is a set of functions over such a space, made of one bump around each
//! of some poses: it drives the coefficients of a skin's corrections, so that a sculpted shape is
//! there in its pose, fades with distance, and is never seen elsewhere.

mod control;
mod driver;
mod interpolate;

pub(crate) use control::across;
pub use control::{Control, JointTurn};
pub(crate) use driver::squared_distance;
pub use driver::{Center, Driver, Kernel};
pub(crate) use interpolate::pseudo_inverse;
pub use interpolate::{InterpolateOptions, Interpolated, interpolate};

/// What can be wrong with a pose space.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseSpaceError {
    /// Two poses are one point of the space, so no function can tell them apart.
    #[error(
        "poses {first} and {second} are the same to the controls of {space}: move a control \
         before saving another sculpt, or replace the first"
    )]
    SamePose {
        /// Name of the pose that was there.
        first: String,
        /// Name of the pose that came later.
        second: String,
        /// Name of the pose space.
        space: String,
    },
    /// The poses are different, but the bumps around them are not.
    #[error(
        "poses {first} and {second} cannot be told apart with falloffs this wide: make them \
         narrower or the poses more different"
    )]
    Dependent {
        /// Name of one of the two poses that overlap most.
        first: String,
        /// Name of the other.
        second: String,
    },
    /// A driver and what it drives or reads do not fit together.
    #[error("driver {driver}: {problem}")]
    BadDriver {
        /// Name of the driver.
        driver: String,
        /// What is wrong.
        problem: String,
    },
}
