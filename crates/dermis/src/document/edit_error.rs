//! Errors of editing a document.

use crate::fit::FitError;
use crate::lod::LodError;
use crate::mesh::MeshError;
use crate::skin::{ShownError, SkinError};
use crate::subdiv::SubdivisionError;

/// A document cannot be moved, subdivided or simplified.
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
