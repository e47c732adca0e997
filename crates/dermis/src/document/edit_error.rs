//! Errors of editing a document.

use crate::bake::BakeError;
use crate::fit::FitError;
use crate::lod::LodError;
use crate::mesh::MeshError;
use crate::metric::MetricError;
use crate::param::UnwrapError;
use crate::skin::{ShownError, SkinError};
use crate::subdiv::SubdivisionError;

/// A document cannot be moved, subdivided, simplified, unwrapped or baked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The skin cannot be edited: a multi-weight skin, for example, cannot be turned.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The moved positions are no valid mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The mesh or the skin cannot be subdivided.
    #[error(transparent)]
    Subdivision(#[from] SubdivisionError),
    /// The skin cannot be simplified.
    #[error(transparent)]
    Lod(#[from] LodError),
    /// The poses that the document shows cannot be told.
    #[error(transparent)]
    Shown(#[from] ShownError),
    /// A level's stand-in for plain players cannot be made.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The surface cannot be unwrapped.
    #[error(transparent)]
    Unwrap(#[from] UnwrapError),
    /// How far points are apart over all poses is not known.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// UVs are asked for that are not there.
    #[error("mesh {mesh} has no UVs, so there are no seams to keep")]
    NoUvs {
        /// Name of the mesh.
        mesh: String,
    },
    /// UVs would go to a set with others missing before it.
    #[error("expected a set of UVs from 0 to {most}, found {set}: sets have no gaps")]
    NoSuchUvSet {
        /// The set that was asked for.
        set: usize,
        /// The largest that there can be.
        most: usize,
    },
    /// There are no faces to unwrap.
    #[error("expected faces to unwrap, found {points} points without any")]
    NothingToUnwrap {
        /// How many points there are.
        points: usize,
    },
    /// Detail cannot be baked.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// Detail is to be baked to a mesh that has no place for it.
    #[error("mesh {mesh} has no UVs, so there is no place for a picture")]
    NoUvsToBake {
        /// Name of the mesh.
        mesh: String,
    },
    /// There are no faces to bake from or to.
    #[error("expected faces to bake, found {points} points without any")]
    NothingToBake {
        /// How many points there are.
        points: usize,
    },
    /// Detail is to be baked from one character to another.
    #[error("expected the same bones in both: {found}")]
    OtherBones {
        /// What is different.
        found: String,
    },
    /// Detail is to be baked from a character that is somewhere else.
    #[error(
        "expected two forms of one character in one place: the one is {ratio:.2} times as large as the other, and its \
         middle {apart:.2} of that one's size away"
    )]
    OtherPlace {
        /// Size of the detailed form over that of the coarse one.
        ratio: f64,
        /// Distance of their middles over the size of the coarse one.
        apart: f64,
    },
    /// There is nothing that moves.
    #[error("expected a skin, whose levels hold in every pose; found a mesh that nothing moves")]
    NoSkin,
    /// The mesh has no faces.
    #[error("expected faces to subdivide, found {points} points without any")]
    NoFaces {
        /// How many points there are.
        points: usize,
    },
    /// A frame has another number of positions than the mesh.
    #[error("frame {name}: expected {expected} positions, found {found}")]
    FrameMismatch {
        /// Name of the frame.
        name: String,
        /// How many points the mesh has.
        expected: usize,
        /// How many the frame has.
        found: usize,
    },
}
