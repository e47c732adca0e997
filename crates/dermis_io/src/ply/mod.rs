//! PLY, the Stanford polygon format: text and both binary byte orders.
//!
//! The reader is our own: a header may declare any number of elements and list entries, and
//! memory must be set aside for bytes that are really there, not for counts in the header.

mod header;
mod read;
mod write;

pub(crate) use read::read;
pub use write::PlyEncoding;
pub(crate) use write::PlyWriter;
