//! The fast evaluation of skins: 32-bit numbers, sixteen vertices at a time, on every core.
//!
//! # From a clip to a palette
//!
//! [`ClipSampler`] writes a [`PoseBuffer`]; [`PoseBuffer::blend`] mixes two of them;
//! [`PackedSkeleton::palette`] chains one down the tree to matrices, four bones at a time and without
//! allocating. All three give what [`Clip::sample`](crate::Clip::sample),
//! [`Pose::blend`](crate::Pose::blend) and [`Skeleton::palette`](crate::Skeleton::palette) give in
//! double precision, to rounding. Only `+ − × ÷ √` are used there, never a library sine and never a
//! fused multiply-add, so a pose is the same to the bit on every machine that rounds as IEEE 754 asks.

mod blocks;
mod chain;
mod evaluate;
mod kernel;
mod pack;
mod pack_clip;
mod palette;
mod plane;
mod pose_buffer;
mod program;
mod sampler;
mod timeline;
pub mod timing;

pub use chain::{Mat3x4, PackedSkeleton};
pub use evaluate::{Frame, FrameInputs, Output};
pub use kernel::InstructionSet;
pub use pack::{NormalLength, Normals, PackOptions, PackedSkin, Precision, STREAMED_BYTES, Stores};
pub use plane::{BLOCK, BlockXyz, PaletteEntry, Plane};
pub use pose_buffer::PoseBuffer;
pub use sampler::ClipSampler;
pub use timeline::loop_time;

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
