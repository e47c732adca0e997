//! Errors of editing a document.

use crate::mesh::MeshError;
use crate::skin::SkinError;
use crate::subdiv::SubdivisionError;

/// A document cannot be moved or subdivided.
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
