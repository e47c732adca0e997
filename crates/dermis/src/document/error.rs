//! Why a document cannot be edited.

use crate::mesh::MeshError;
use crate::skin::SkinError;
use crate::subdiv::SubdivisionError;

/// Why a document cannot be moved or subdivided.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The skin cannot follow: multi-weight enveloping does not turn with its character.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The mesh does not stay a mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The mesh or the skin cannot be subdivided.
    #[error(transparent)]
    Subdivision(#[from] SubdivisionError),
    /// There is no face.
    #[error("expected faces to subdivide, found {points} points without any")]
    NoFaces {
        /// How many points there are.
        points: usize,
    },
    /// A frame is one of another mesh.
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
