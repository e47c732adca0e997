//! Distances between points of a skinned surface over all poses at once.
//!
//! Two points that follow a skeleton have a distance in every pose. Two numbers sum up these distances: the
//! root mean square, `|s|₂,₂ = √E|G s|²`, computed here, and a bound that no legal pose exceeds, computed in
//! [`bounds`](crate::bounds). `s` is the difference of the two points in animation space, so `G s` is the
//! vector between them in a pose (\[Merry06\] §5, \[Merry07\] §3.3).
//!
//! The mean square is a quadratic form, `|s|² = sᵀ P s` with `P = E[GᵀG]`, and so comes with an inner
//! product `⟨s, t⟩ = sᵀ P t`, the mean dot product. An algorithm that uses Euclidean geometry (lengths,
//! areas, projections, local frames) can use [`PoseMetric`] instead:
//!
//! | on one mesh | over all poses |
//! | --- | --- |
//! | `a − b` | [`AnimationVector::difference`] |
//! | `dot` | [`PoseMetric::dot`] |
//! | edge vectors of a triangle | [`PoseMetric::triangle`], a [`TriangleGram`] |
//! | normal of a patch | [`PoseMetric::plane_average`], a plane |
//! | coordinates | [`NormalizedCoordinates`], which are dense: for few bones |
//!
//! `P` is computed from a model of each joint ([`JointModel`]), with joints taken as independent; or, without
//! that assumption, as the average over given poses.

mod block_table;
mod expectation;
mod joint_model;
mod moments;
mod normalized;
mod plane_average;
mod pose_metric;
mod transform;
mod triangle;
mod vector;

pub use expectation::{expected_rotation, model_from_limits, statistics_from_limits};
pub use joint_model::{JointModel, ModelKind, models_from_poses};
pub use moments::JointMoments;
pub use normalized::NormalizedCoordinates;
pub use plane_average::{Bivector, PlaneAverage};
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
    /// A list does not have the length that the skeleton needs.
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
    /// A bone turns below bones that stretch unevenly.
    #[error(
        "the bones above bone {bone} ({name}) stretch unevenly ({least:.4} to {most:.4} in the mean \
         square), so how its rotation changes lengths is not known: use moments made from poses for it"
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
    /// The skin has derived or proxy bones, which are not independent of the joints that they follow.
    #[error(
        "{count} bones of the skin are computed from other bones (the first is {name}), so they are not \
         independent: use the average over poses instead"
    )]
    Placed {
        /// How many bones are computed from others.
        count: usize,
        /// Name of the first.
        name: String,
    },
    /// There is not exactly one entry of statistics per bone.
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
    #[error("the model of bone {bone} ({name}) contains NaN or infinity")]
    NotFinite {
        /// Index of the bone.
        bone: usize,
        /// Name of the bone.
        name: String,
    },
}
