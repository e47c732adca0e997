//! Reads and writes the files that dermis works on.

mod atomic;
mod bounds_record;
mod document;
mod driver_record;
mod error;
mod format;
mod format_table;
mod geometry;
pub mod gltf;
mod materials;
mod moved;
mod npz;
mod obj;
mod ply;
mod point_cache;
mod proxy_record;
mod record;
mod sequence;
mod subdivided;

pub use atomic::write_file;
pub use bounds_record::{AssumedPoses, BoundsRecord, PartBounds};
pub use document::{Document, FileFacts, Frame};
pub use driver_record::{ControlRecord, DriverRecord};
pub use error::{Fault, IoError};
pub use format::{WriteOptions, read, read_points, write};
pub use format_table::{Content, Format, FrameStorage};
pub use materials::{Image, Materials};
pub use moved::MoveError;
pub use ply::PlyEncoding;
pub use proxy_record::ProxyRecord;
pub use record::{FallbackError, ProgramKind, SkinRecord};
pub use sequence::{SequenceOptions, natural_order, read_inputs};
pub use subdivided::{LevelFacts, SubdivideError, SubdivideOptions, Subdivided};
