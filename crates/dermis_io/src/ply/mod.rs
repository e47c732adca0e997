//! PLY, the Stanford polygon format: text and both binary byte orders.
//!
//! The reader is our own: a header may declare any number of elements and list entries, and
//! memory must follow the bytes that are really there, not what the header claims.

mod header;
mod read;
mod write;

pub(crate) use read::read;
pub use write::PlyEncoding;
pub(crate) use write::PlyWriter;
