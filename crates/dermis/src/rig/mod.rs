//! Skeletons and their poses.

mod blend;
mod derived;
mod moved_proxies;
mod palette;
mod pose;
mod proxies;
mod similarity;
mod skeleton;
mod trs;

pub use derived::{DerivedBone, DerivedMotion};
pub(crate) use derived::{check_derived, complete, joint_turn, rest_parent_from_bone};
pub use palette::Palette;
pub use pose::Pose;
pub(crate) use proxies::blend;
pub use proxies::{JointReading, PatchPredictor, PredictedTurn, ProxyBones, stretch_inputs};
pub use similarity::Similarity;
pub use skeleton::{Bone, BoneId, Skeleton};
pub use trs::Trs;

/// A count that may be too large for an integer.
fn count_text(count: f64) -> String {
    match count < 1e15 {
        true => format!("{count:.0}"),
        false => format!("{count:e}"),
    }
}

/// Why a skeleton, a pose or a clip is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RigError {
    /// A skeleton holds more bones than an index can name.
    #[error("a skeleton has at most 65535 bones, found {found}")]
    TooManyBones {
        /// How many bones were given.
        found: usize,
    },
    /// Parents must come before their children.
    #[error("bone {bone} ({name}) has parent {parent}: a parent must come before its children")]
    ParentOrder {
        /// Index of the child.
        bone: usize,
        /// Name of the child.
        name: String,
        /// Index of the parent that was given.
        parent: usize,
    },
    /// A matrix or a key holds NaN or infinity.
    #[error("{what} is not finite")]
    NotFinite {
        /// Which bone, pose or key.
        what: String,
    },
    /// A rest matrix cannot be inverted.
    #[error(
        "the rest matrix of bone {bone} ({name}) is singular, so no vertices can be bound to it"
    )]
    SingularRest {
        /// Index of the bone.
        bone: usize,
        /// Name of the bone.
        name: String,
    },
    /// A count differs from that of the skeleton or skin.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// The thing that was counted, in the plural.
        what: &'static str,
        /// How many the skeleton or skin has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A transform is more than translation, rotation and scale.
    #[error(
        "{what} is sheared by {shear:.2e}: it is not a product of translation, rotation and scale, \
         so a glTF node cannot hold it"
    )]
    Sheared {
        /// Which bone and pose.
        what: String,
        /// Largest cosine between two axes that should be perpendicular.
        shear: f64,
    },
    /// A derived bone is invalid.
    #[error("derived bone {bone}: {problem}")]
    BadDerivedBone {
        /// Index of the bone.
        bone: usize,
        /// What is wrong.
        problem: String,
    },
    /// Proxy bones do not fit their skeleton.
    #[error("proxy bones: {problem}")]
    BadProxyBones {
        /// What is wrong.
        problem: String,
    },
    /// A joint's limits are invalid.
    #[error("the limits of bone {bone}: {problem}")]
    BadLimits {
        /// Index of the bone.
        bone: usize,
        /// What is wrong.
        problem: String,
    },
    /// A number of frames per second that is not above 0.
    #[error("expected a number of frames per second above 0, found {found}")]
    BadRate {
        /// What was given.
        found: f64,
    },
    /// A clip has too many frames at this rate.
    #[error(
        "clip {clip} at {frames_per_second} frames per second would have {} frames, and at most {most} are \
         allowed: ask for fewer frames per second, or cut the clip",
        count_text(*frames)
    )]
    TooManyFrames {
        /// Name of the clip.
        clip: String,
        /// Frames per second that were asked for.
        frames_per_second: f64,
        /// How many frames that gives.
        frames: f64,
        /// [`MOST_FRAMES`](crate::clip::MOST_FRAMES).
        most: usize,
    },
    /// A channel's keys are invalid.
    #[error("clip {clip}: {problem}")]
    BadKeys {
        /// Name of the clip.
        clip: String,
        /// What is wrong.
        problem: String,
    },
}
