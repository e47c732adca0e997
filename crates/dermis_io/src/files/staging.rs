//! A hidden folder beside the outputs, where they are written before they take their names.
//!
//! It is named `.dermis-PROCESS-NUMBER.part` and holds a file `lock`, which the process that made it keeps
//! locked. The system releases the lock when the process ends, however it ends. So a folder of such a name
//! whose lock is free was left behind by a killed process, and the next process that writes there removes it. A folder
//! whose lock is held belongs to a running process and is never touched. On a file system without locks, a
//! folder counts as left behind when its lock file is a day old.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const LOCK: &str = "lock";
/// The age that counts where there are no locks: longer than any process takes between staging and renaming.
const OLD: Duration = Duration::from_secs(24 * 3600);

/// Folders that this process has made and would have to remove if it ended now.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    staged: Vec<PathBuf>,
    /// Folders on the way to outputs that are not there yet.
    pub(super) made: Vec<PathBuf>,
    /// True once an output took its name.
    pub(super) has_results: bool,
}

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished {
    staged: Vec::new(),
    made: Vec::new(),
    has_results: false,
});

/// Locks the list of this process; outputs are renamed to their names only under this lock.
pub(super) fn unfinished() -> MutexGuard<'static, Unfinished> {
    // The lists of paths stay valid even if a thread panicked while it held the lock.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the staged files of this process and prevents any further rename; true when no output had been
/// renamed before.
///
/// Meant for a signal that ends the process: threads that write afterwards wait for ever.
pub fn abandon_writes() -> bool {
    let mut list = unfinished();
    for folder in &list.staged {
        remove(folder);
    }
    for folder in list.made.drain(..).rev() {
        // Removes the folder only if it is empty.
        let _ = std::fs::remove_dir(folder);
    }
    let nothing_written = !list.has_results;
    std::mem::forget(list);
    nothing_written
}

/// The hidden folder of one process beside its outputs; dropping this removes the folder.
#[derive(Debug)]
pub(super) struct Staging {
    folder: PathBuf,
    /// Keeps the lock; never read.
    _lock: File,
}

impl Staging {
    /// Makes a staging folder, and removes those that killed processes left beside it.
    pub(super) fn new(beside: &Path) -> io::Result<Self> {
        remove_left_behind(beside);
        let process = std::process::id();
        let mut number = 0;
        loop {
            let folder = beside.join(format!(".dermis-{process}-{number}.part"));
            number += 1;
            match std::fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            unfinished().staged.push(folder.clone());
            let path = folder.join(LOCK);
            let locked = File::create_new(&path).inspect(|file| {
                // On a file system without locks, the age of the file decides.
                let _ = file.lock();
            });
            match locked {
                // Between these three steps another process may have removed the folder as left behind.
                Ok(lock) if path.exists() => {
                    return Ok(Self {
                        folder,
                        _lock: lock,
                    });
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    forget(&folder);
                    return Err(error);
                }
                _ => forget(&folder),
            }
        }
    }

    /// A name for a file in it.
    pub(super) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        forget(&self.folder);
    }
}

/// Removes a folder of this process.
fn forget(folder: &Path) {
    let mut list = unfinished();
    remove(folder);
    list.staged.retain(|other| other != folder);
}

/// Removes a staging folder with its files, unless it also holds a folder.
fn remove(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() != LOCK {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_file(folder.join(LOCK));
    let _ = std::fs::remove_dir(folder);
}

/// Removes the staging folders of killed processes; see the rule at the top.
fn remove_left_behind(beside: &Path) {
    for entry in std::fs::read_dir(beside).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = (name.to_str())
            .and_then(|name| name.strip_prefix(".dermis-")?.strip_suffix(".part"))
            .is_some_and(|numbers| numbers.bytes().all(|b| b == b'-' || b.is_ascii_digit()));
        if is_ours {
            remove_if_left_behind(&entry.path());
        }
    }
}

fn remove_if_left_behind(folder: &Path) {
    // Some systems give a process its own lock a second time.
    if unfinished().staged.iter().any(|own| own == folder) {
        return;
    }
    let path = folder.join(LOCK);
    match std::fs::symlink_metadata(&path) {
        Ok(there) if there.is_file() => {}
        Ok(_) => return,
        Err(_) => {
            // Removes only an empty folder; a process that is about to put its lock there tries again.
            let _ = std::fs::remove_dir(folder);
            return;
        }
    }
    let Ok(lock) = File::options().write(true).open(&path) else {
        return;
    };
    let is_left_behind = match lock.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => (lock.metadata().and_then(|there| there.modified()))
            .is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > OLD)),
    };
    if is_left_behind {
        // Keep the lock until the folder is gone, so that no other process can use it meanwhile.
        remove(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn folders_of_killed_processes_are_removed_and_those_of_running_ones_kept() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let make = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).expect("a folder");
            std::fs::write(path.join("0"), "half").expect("a file");
            File::create_new(path.join(LOCK)).expect("a lock")
        };
        // No process has this number; only the lock counts.
        make(".dermis-4999999-0.part");
        let held = make(".dermis-4999999-1.part");
        held.lock().expect("the lock is free");
        make(".dermis-of-mine.part");
        std::fs::create_dir(folder.path().join(".dermis-4999999-2.part")).expect("a folder");
        std::fs::write(folder.path().join(".dermis-4999999-3.part"), "a file").expect("written");

        let staging = Staging::new(folder.path()).expect("a place");
        let own = staging.folder.file_name().expect("a name");
        let own = own.to_string_lossy().into_owned();
        let mut expected = [
            ".dermis-4999999-1.part",
            ".dermis-4999999-3.part",
            ".dermis-of-mine.part",
            &own,
        ];
        expected.sort_unstable();
        assert_eq!(names(folder.path()), expected, "held, no folder, not ours");
        let second = Staging::new(folder.path()).expect("another of this process");
        assert!(staging.folder.exists(), "the first is at work");
        drop((staging, second));
        assert_eq!(names(folder.path()).len(), 3, "both clean up");
    }
}
