//! FBX (`.fbx`): the reader is a crate of its own with C inside, which the feature `fbx` adds.

use std::path::Path;

use crate::{Document, Fault};

/// Reads an FBX file; geometry caches and pictures are looked for beside it.
#[cfg(feature = "fbx")]
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Document, Fault> {
    dermis_fbx::read(path, bytes, &crate::read_file).map_err(fault)
}

#[cfg(feature = "fbx")]
fn fault(error: dermis_fbx::FbxError) -> Fault {
    use dermis_fbx::FbxError;
    match error {
        FbxError::Malformed {
            element,
            expected,
            found,
        } => Fault::malformed(element, expected, found),
        FbxError::TooLarge(error) => error.into(),
        FbxError::Mesh(error) => error.into(),
        FbxError::Rig(error) => error.into(),
        FbxError::Skin(error) => error.into(),
        other => Fault::malformed("file", "a sound FBX file", other.to_string()),
    }
}

/// Says that this build has no reader of FBX.
#[cfg(not(feature = "fbx"))]
pub(crate) fn read(_: &Path, _: &[u8]) -> Result<Document, Fault> {
    Err(Fault::unsupported(
        "reading FBX in this build",
        "build dermis with its feature fbx, which needs a C compiler, or convert the file to glTF first",
    ))
}
