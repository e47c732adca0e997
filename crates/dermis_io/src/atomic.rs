//! Whole files or none: bytes go to a temporary file beside the target, which then takes its name.

use std::io::{self, Write};
use std::path::Path;

use crate::IoError;

/// Writes a file so that nobody ever sees half of it.
///
/// Folders on the way are made. When the process is stopped, the old file, if any, is untouched.
///
/// # Errors
/// [`IoError::Write`] with the system's reason.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    let error = |source| IoError::Write {
        path: path.to_owned(),
        source,
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).map_err(|source| {
        // The system's reason would be "File exists", which sounds as if the target did.
        let in_the_way = folder.ancestors().find(|above| above.is_file());
        error(in_the_way.map_or(source, |file| {
            let reason = format!("{} is a file, not a folder", file.display());
            io::Error::new(io::ErrorKind::NotADirectory, reason)
        }))
    })?;
    let mut aside = tempfile::Builder::new()
        .prefix(".dermis-")
        .suffix(".part")
        .tempfile_in(folder)
        .map_err(error)?;
    aside.write_all(bytes).map_err(error)?;
    #[cfg(unix)]
    {
        // Temporary files are private; the result should be as readable as any new file.
        use std::os::unix::fs::PermissionsExt;
        let readable = std::fs::Permissions::from_mode(0o644);
        aside.as_file().set_permissions(readable).map_err(error)?;
    }
    aside.persist(path).map_err(|e| error(e.error))?;
    Ok(())
}
