//! Reads and writes the files that dermis works on.

mod error;
mod files;
mod format;
mod format_table;
mod geometry;
pub mod gltf;
pub mod limits;
mod npz;
mod obj;
mod placement;
mod ply;
mod point_cache;
pub mod project;
mod sequence;
mod text_file;

pub use dermis::document::{
    AssumedPoses, BoundsRecord, Document, FallbackError, FileFacts, Frame, Image, LevelFacts,
    Materials, MoveError, PartBounds, SkinRecord, SubdivideError, SubdivideOptions, Subdivided,
};
pub use error::{Fault, IoError};
pub use files::{Transaction, abandon_writes, read_file, write_file};
pub use format::{WriteOptions, read, read_points, write};
pub use format_table::{Content, Format, FrameStorage};
pub use placement::{Placement, placed};
pub use ply::PlyEncoding;
pub use sequence::{SequenceOptions, natural_order, read_inputs};

/// The Rust of the guide to the run-time, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/run-a-skin.md")]
struct RunGuideExamples;
