//! Distances between points of a skinned surface over all poses at once.
//!
//! A point that follows a skeleton has a distance to another in every pose. Two numbers say what
//! they are over all of them: the root mean square, `|s|₂,₂ = √E|G s|²`, here, and a bound that no
//! legal pose exceeds, in [`bounds`](crate::bounds). `s` is the difference of the two points in
//! animation space, so `G s` is how they are apart in a pose (\[Merry06\] §5, \[Merry07\] §3.3).
//!
//! The mean square is a quadratic form, `|s|² = sᵀ P s` with `P = E[GᵀG]`, and so comes with an inner
//! product `⟨s, t⟩ = sᵀ P t`, the mean dot product. What an algorithm asks of Euclidean geometry
//! (lengths, areas, projections, local frames) it can ask of [`PoseMetric`] instead:
//!
//! | on one mesh | over all poses |
//! | --- | --- |
//! | `a − b` | [`AnimationVector::difference`] |
//! | `dot` | [`PoseMetric::dot`] |
//! | edge vectors of a triangle | [`PoseMetric::triangle`], a [`TriangleGram`] |
//! | coordinates | [`NormalizedCoordinates`], where density does no harm |
//!
//! `P` follows from what each joint does on its own ([`JointModel`]), joints being independent; or,
//! without that assumption, it is the average over given poses.

mod block_table;
mod expectation;
mod joint_model;
mod moments;
mod normalized;
mod pose_metric;
mod transform;
mod triangle;
mod vector;

pub use expectation::{expected_rotation, model_from_limits, statistics_from_limits};
pub use joint_model::{JointModel, ModelKind, models_from_poses};
pub use moments::JointMoments;
pub use normalized::NormalizedCoordinates;
pub use pose_metric::PoseMetric;
pub use triangle::TriangleGram;
pub use vector::{AnimationVector, SurfacePoint, between};

use crate::rig::RigError;
use crate::skin::SkinError;

/// What can be wrong with a metric.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// A pose or limits do not belong to the skeleton.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The skin cannot be evaluated, or is not linear.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// A list has another length than the skeleton.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// There is nothing to average.
    #[error("an average over poses needs at least one pose")]
    NoPoses,
    /// A bone turns below others that stretch more one way than another.
    #[error(
        "the bones above bone {bone} ({name}) stretch unevenly ({least:.4} to {most:.4} in the mean \
         square), so that what its turns do to lengths is not known: describe it by moments from poses"
    )]
    UnevenScale {
        /// Index of the bone.
        bone: usize,
        /// Name of the bone.
        name: String,
        /// Smallest diagonal entry of `E[lin(G)ᵀlin(G)]` of the parent.
        least: f64,
        /// Largest diagonal entry.
        most: f64,
    },
    /// Joints that follow other joints are not independent of them.
    #[error(
        "{count} bones of the skin follow others (the first is {name}) and so are not independent: \
         take the average over poses instead"
    )]
    Placed {
        /// How many bones are placed.
        count: usize,
        /// Name of the first.
        name: String,
    },
    /// Statistics are not one per bone.
    #[error("joint statistics: {problem}")]
    BadStatistics {
        /// Which bone, and what is wrong with it.
        problem: String,
    },
    /// A vertex does not exist.
    #[error("vertex {vertex} does not exist: there are {vertex_count}")]
    NoSuchVertex {
        /// The vertex that was named.
        vertex: usize,
        /// How many there are.
        vertex_count: usize,
    },
    /// An option is out of range.
    #[error("option {option}: {problem}")]
    BadOption {
        /// Name of the option.
        option: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A model of a joint holds NaN or infinity.
    #[error("the model of bone {bone} ({name}) is not finite")]
    NotFinite {
        /// Index of the bone.
        bone: usize,
        /// Name of the bone.
        name: String,
    },
}
