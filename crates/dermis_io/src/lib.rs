//! Reads and writes the files that dermis works on.

mod atomic;
mod document;
mod error;
mod format;
pub mod gltf;
mod materials;
mod npz;
mod obj;
mod ply;
mod point_cache;
mod record;
mod sequence;

pub use atomic::write_file;
pub use document::{Document, FileFacts, Frame};
pub use error::{Fault, IoError};
pub use materials::{Image, Materials};
pub use record::SkinRecord;
