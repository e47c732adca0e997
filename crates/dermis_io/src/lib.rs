//! Reads and writes the files that dermis works on.

mod error;
mod files;
mod format;
mod format_table;
mod geometry;
pub mod gltf;
mod npz;
mod obj;
mod placement;
mod ply;
mod point_cache;
mod sequence;

pub use dermis::document::{
    AssumedPoses, BoundsRecord, Document, DocumentError, FallbackError, FileFacts, Frame, Image,
    LevelFacts, Materials, PartBounds, SkinRecord, SubdivideOptions, Subdivided,
};
pub use error::{Fault, IoError};
pub use files::{Transaction, abandon_writes, read_file, write_file};
pub use format::{WriteOptions, read, read_points, write};
pub use format_table::{Content, Format, FrameStorage};
pub use placement::{Placement, placed};
pub use ply::PlyEncoding;
pub use sequence::{SequenceOptions, natural_order, read_inputs};

/// Compiles and runs the Rust examples of the guide to the run-time.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/run-a-skin.md")]
struct RunGuideExamples;
