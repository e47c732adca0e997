//! Reading whole plain files; pipes, devices and folders are refused.

use std::fs::FileType;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use super::read_log::remember;

type Listener = Box<dyn Fn(&Path, u64) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Tells a program every file that is read from now on, with its size in bytes; also those that files name, such as
/// buffers and pictures.
///
/// Only the first listener of a process counts. It may be called from several threads at once.
pub fn on_read(listener: impl Fn(&Path, u64) + Send + Sync + 'static) {
    let _ = LISTENER.set(Box::new(listener));
}

/// Reads a whole plain file, or a link to one, and refuses anything else.
///
/// Files name other files, and those must not make dermis read a device or wait for ever on a pipe. Meshes that
/// a user names follow the same rule: their format comes from the extension, which pipes do not have.
///
/// # Errors
/// The system's reason, or a sentence that names what was found in place of a plain file.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = read_unrecorded(path)?;
    remember(path, &bytes);
    Ok(bytes)
}

/// As [`read_file`], of a file that no result comes from.
pub(crate) fn read_unrecorded(path: &Path) -> io::Result<Vec<u8>> {
    // Checked before opening, because opening a pipe blocks.
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() {
        let reason = format!("expected a file, found {}", name_of(kind));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let bytes = std::fs::read(path)?;
    if let Some(listener) = LISTENER.get() {
        listener(path, bytes.len() as u64);
    }
    Ok(bytes)
}

fn name_of(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a pipe: save what comes out of it as a file first";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    match kind.is_dir() {
        true => "a folder",
        false => "something else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let error = read_file(folder.path()).expect_err("no file");
        assert_eq!(
            error.to_string(),
            "expected a file, found a folder",
            "in plain words"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_refused_and_a_link_to_a_file_is_not() {
        let error = read_file(Path::new("/dev/zero")).expect_err("it never ends");
        assert_eq!(
            error.to_string(),
            "expected a file, found a device",
            "in plain words"
        );
        let folder = tempfile::tempdir().expect("a scratch folder");
        std::fs::write(folder.path().join("real"), "text").expect("written");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("real", &link).expect("a link");
        assert_eq!(read_file(&link).expect("a file"), b"text", "what it holds");
    }
}
