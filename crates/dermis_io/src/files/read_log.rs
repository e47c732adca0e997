//! Which files a result comes from: their names and what they held.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Its name, as it was given or as another file names it.
    pub path: PathBuf,
    /// SHA-256 of its bytes as they are on disk, in hexadecimal digits.
    pub sha256: String,
}

/// What was read since [`record_reads`]; `None` before.
static LOG: Mutex<Option<Vec<ReadFile>>> = Mutex::new(None);

/// From now on, the name and the hash of every file that is read are kept. Before, files are not hashed, which
/// takes about a second for every gigabyte.
pub fn record_reads() {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    log.get_or_insert_default();
}

/// The files that were read since [`record_reads`], each once, in the order in which they were first read. Files that
/// others name are among them: buffers, pictures, material libraries.
pub fn recorded_reads() -> Vec<ReadFile> {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    log.clone().unwrap_or_default()
}

/// Keeps what was read, if anybody wants to know.
pub(super) fn remember(path: &Path, bytes: &[u8]) {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(files) = log.as_mut() else {
        return;
    };
    let sha256 = sha256(bytes);
    match files.iter_mut().find(|file| file.path == path) {
        Some(file) => file.sha256 = sha256,
        None => files.push(ReadFile {
            path: path.to_owned(),
            sha256,
        }),
    }
}

/// SHA-256 of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_standards() {
        // Of FIPS 180-2, appendix B.1.
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "of 'abc'"
        );
    }

    #[test]
    fn files_are_remembered_once_and_only_when_asked_for() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "abc").expect("written");
        let found = || recorded_reads().into_iter().find(|file| file.path == path);
        record_reads();
        assert_eq!(found(), None, "not yet");
        for _ in 0..2 {
            crate::read_file(&path).expect("a file");
        }
        let count = || recorded_reads().iter().filter(|f| f.path == path).count();
        assert_eq!(count(), 1, "once");
        assert_eq!(
            found().map(|file| file.sha256),
            Some(sha256(b"abc")),
            "its bytes"
        );
    }
}
