//! FBX files, binary and ASCII, to [`Document`](dermis::document::Document)s, through the C library ufbx.
//!
//! A crate of its own, so that who reads no FBX needs no C compiler. The steps, in order: load the file, with limits, in
//! metres and y up (`load`); choose what is drawn and where it stood when it was bound (`instances`); make bones of nodes
//! (`bones`, placed by `nodes`); read faces and drawn vertices (`mesh`), weights (`weights`), blend shapes (`shapes`) and
//! materials (`materials`); sample every take at the file's frame rate (`takes`), or, where a geometry cache moves the
//! points, the points themselves (`caches`).
//!
//! Not read: cameras, lights, curves, NURBS, constraints, per-vertex blends of linear and dual quaternion skinning. Where a
//! file has them, a note says so.

mod bones;
mod caches;
mod instances;
mod load;
mod materials;
mod mesh;
mod nodes;
mod read;
mod shapes;
mod takes;
mod weights;

use dermis::limits::TooLarge;
use dermis::mesh::MeshError;
use dermis::rig::RigError;
use dermis::skin::SkinError;

pub use load::ReadBeside;
pub use read::read;

/// What is wrong with an FBX file; one sentence, without the name of the file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FbxError {
    /// The file is broken, or is no FBX file.
    #[error("{element}: expected {expected}, found {found}")]
    Malformed {
        /// Which element of the file.
        element: String,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Reading would take more memory than allowed.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The mesh is broken.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The skeleton or a take is broken.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The skin is broken.
    #[error(transparent)]
    Skin(#[from] SkinError),
}

impl FbxError {
    /// The error of an element that is not as it must be.
    pub(crate) fn malformed(
        element: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Malformed {
            element: element.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// A count with its noun: `1 vertex`, `3 vertices`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}
