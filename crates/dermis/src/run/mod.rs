//! The fast evaluation of skins: 32-bit numbers, sixteen vertices at a time, on every core.

mod blocks;
mod evaluate;
mod face_normals;
mod kernel;
mod pack;
mod plane;
mod program;
pub mod timing;

pub use evaluate::{Frame, FrameInputs, Output};
pub use face_normals::FaceNormals;
pub use kernel::InstructionSet;
pub use pack::{
    Layout, NormalLength, Normals, PackOptions, PackedSkin, Precision, STREAMED_BYTES, Stores,
};
pub use plane::{BLOCK, BlockXyz, PaletteEntry, Plane};

/// What can be wrong with packing or evaluating.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A list has the wrong length.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The tangents of a vertex are not one pair per influence.
    #[error("vertex {vertex} has {expected} influences but {found} pairs of tangents")]
    TangentCount {
        /// Index of the vertex.
        vertex: usize,
        /// Its influences.
        expected: usize,
        /// Its pairs of tangents.
        found: usize,
    },
    /// A program cannot do what was asked.
    #[error("{what} cannot be packed for {program}: {hint}")]
    NotSupported {
        /// What was asked.
        what: &'static str,
        /// The kind of skin.
        program: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// Normals were asked of a skin that was packed without.
    #[error("the skin was packed without normals: set PackOptions::normals")]
    NoNormals,
    /// The skin has more than 2³² influences.
    #[error("a packed skin holds at most 2^32 influences")]
    TooLarge,
}

impl RunError {
    fn check_count(what: &'static str, expected: usize, found: usize) -> Result<(), Self> {
        if expected == found {
            return Ok(());
        }
        Err(Self::CountMismatch {
            what,
            expected,
            found,
        })
    }
}
