//! Where the bytes of an output go: to a file, or through a pipe or device.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The destination that an output's name leads to.
#[derive(Debug, PartialEq)]
pub(super) enum Place {
    /// A file, which may not be there yet. Links are followed: the file changes, the link stays.
    File(PathBuf),
    /// A pipe or device: bytes are written to it, and it is not replaced.
    Stream(PathBuf),
    /// Standard output. Opening its name again would begin at the front of a file that it was sent to.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Place {
    /// Looks up what is at a path.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        /// As many as Linux follows.
        const MOST_LINKS: usize = 40;
        let mut place = path.to_owned();
        for _ in 0..MOST_LINKS {
            if let Some(open) = already_open(&place) {
                return Ok(open);
            }
            match std::fs::read_link(&place) {
                Ok(to) => place = place.parent().unwrap_or(Path::new("")).join(to),
                Err(_) => return Self::of_unlinked(place),
            }
        }
        Err(io::Error::other("its symbolic links lead in a circle"))
    }

    fn of_unlinked(place: PathBuf) -> io::Result<Self> {
        match std::fs::metadata(&place) {
            Ok(there) if there.is_dir() => {
                let reason = "it is a folder";
                Err(io::Error::new(io::ErrorKind::IsADirectory, reason))
            }
            Ok(there) if !there.is_file() => Ok(Self::Stream(place)),
            // A missing or closed folder is reported when the file is written.
            _ => Ok(Self::File(place)),
        }
    }

    /// Writes to a pipe, device or standard stream.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(path) | Self::Stream(path) => {
                OpenOptions::new().write(true).open(path)?.write_all(bytes)
            }
            Self::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(bytes)?;
                out.flush()
            }
            Self::Stderr => io::stderr().lock().write_all(bytes),
        }
    }
}

/// The stream behind a name such as `/dev/stdout`, which means a file that this process has open already.
fn already_open(path: &Path) -> Option<Place> {
    match path.to_str() {
        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => Some(Place::Stdout),
        Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => Some(Place::Stderr),
        _ if path.starts_with("/dev/fd") || path.starts_with("/proc") => {
            Some(Place::Stream(path.to_owned()))
        }
        _ => None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_lead_to_the_file_even_when_it_is_not_there_yet() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        symlink("second", at("first")).expect("a link");
        symlink("sub/real", at("second")).expect("a link");
        let found = Place::of(&at("first")).expect("a place");
        assert_eq!(found, Place::File(at("sub/real")), "both are followed");
        symlink("round", at("round")).expect("a link");
        let error = Place::of(&at("round")).expect_err("no end");
        assert_eq!(
            error.to_string(),
            "its symbolic links lead in a circle",
            "its words"
        );
    }

    #[test]
    fn devices_are_written_through_also_behind_a_link() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let link = folder.path().join("link");
        symlink("/dev/null", &link).expect("a link");
        let null = Place::Stream(PathBuf::from("/dev/null"));
        assert_eq!(Place::of(&link).expect("a place"), null, "behind a link");
        assert_eq!(
            Place::of(Path::new("/dev/stdout")).expect("a place"),
            Place::Stdout,
            "not the file that it was sent to"
        );
    }
}
