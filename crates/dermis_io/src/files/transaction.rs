//! Writing several files, all or none: bytes go to staged files, which are then renamed.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::place::Place;
use super::staging::{Staging, unfinished};
use crate::IoError;

/// Writes a file in one step, so that no other program sees half of it; see [`Transaction`].
///
/// # Errors
/// [`IoError::Write`] with the system's reason.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    let mut files = Transaction::new();
    files.add(path, bytes)?;
    files.commit()
}

/// Files that belong together: all of them appear, or none.
///
/// [`add`](Self::add) writes each file to a staging folder, so a full disk leaves existing files unchanged.
/// [`commit`](Self::commit) renames them; when a rename fails, those before it are undone. Only a process
/// killed between two renames leaves some files new and some old. Missing folders are created.
///
/// A file that is replaced keeps its permissions, and a new one has those that any new file gets (the
/// umask). A link stays, and the file that it leads to is replaced. Bytes are written through a pipe or device, which
/// is not replaced; they cannot be taken back.
///
/// ```
/// use dermis_io::Transaction;
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let mut files = Transaction::new();
/// files.add(&folder.join("a.txt"), b"one half")?;
/// files.add(&folder.join("b.txt"), b"the other half")?;
/// assert!(!folder.join("a.txt").exists());
/// files.commit()?;
/// assert!(folder.join("a.txt").exists() && folder.join("b.txt").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Transaction {
    /// One for each folder that is written to, with its full path.
    stages: Vec<(PathBuf, Staging)>,
    parts: Vec<Part>,
    places: HashSet<PathBuf>,
    streams: Vec<Stream>,
    /// Folders that were not there before.
    made: Vec<PathBuf>,
}

#[derive(Debug)]
struct Part {
    /// The path as the caller gave it, for messages.
    path: PathBuf,
    /// The destination: links resolved, with the full path of its folder.
    place: PathBuf,
    /// The staged file.
    aside: PathBuf,
    /// The backup of the file that it replaces, kept until all renames have succeeded.
    before: PathBuf,
}

#[derive(Debug)]
struct Stream {
    path: PathBuf,
    place: Place,
    bytes: Vec<u8>,
}

impl Transaction {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stages a file; [`commit`](Self::commit) gives it its name together with the others.
    ///
    /// # Errors
    /// [`IoError::Write`] with the system's reason, and for a name that was added before.
    pub fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<(), IoError> {
        let added = Place::of(path).and_then(|place| match place {
            Place::File(place) => self.write_aside(path, &place, bytes),
            place => {
                self.streams.push(Stream {
                    path: path.to_owned(),
                    place,
                    bytes: bytes.to_vec(),
                });
                Ok(())
            }
        });
        added.map_err(write_error(path))
    }

    fn write_aside(&mut self, path: &Path, place: &Path, bytes: &[u8]) -> io::Result<()> {
        let name = place.file_name().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "expected the name of a file")
        })?;
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        self.make_folder(folder)?;
        let folder = folder.canonicalize()?;
        let place = folder.join(name);
        if !self.places.insert(place.clone()) {
            return Err(io::Error::other(
                "two results have this name: choose another for one of them",
            ));
        }
        let stage = match self.stages.iter().position(|(of, _)| *of == folder) {
            Some(stage) => stage,
            None => {
                self.stages.push((folder.clone(), Staging::new(&folder)?));
                self.stages.len() - 1
            }
        };
        let stage = &self.stages[stage].1;
        let number = self.parts.len();
        let part = Part {
            path: path.to_owned(),
            aside: stage.at(number.to_string()),
            before: stage.at(format!("{number}.before")),
            place,
        };
        let mut file = File::create_new(&part.aside)?;
        #[cfg(unix)]
        if let Ok(replaced) = std::fs::metadata(&part.place) {
            // Set permissions before writing bytes, so that a private file is never readable.
            file.set_permissions(replaced.permissions())?;
        }
        file.write_all(bytes)?;
        self.parts.push(part);
        Ok(())
    }

    fn make_folder(&mut self, folder: &Path) -> io::Result<()> {
        let missing = folder.ancestors().take_while(|above| !above.exists());
        let missing: Vec<PathBuf> = missing
            .filter(|above| !above.as_os_str().is_empty())
            .map(Path::to_owned)
            .collect();
        let mut list = unfinished();
        std::fs::create_dir_all(folder).map_err(|source| {
            // The system's reason would be "File exists", which sounds as if the target file existed.
            let in_the_way = folder.ancestors().find(|above| above.is_file());
            in_the_way.map_or(source, |file| {
                let reason = format!("{} is a file, not a folder", file.display());
                io::Error::new(io::ErrorKind::NotADirectory, reason)
            })
        })?;
        list.made.extend(missing.iter().rev().cloned());
        self.made.extend(missing.into_iter().rev());
        Ok(())
    }

    /// Gives all files their names.
    ///
    /// # Errors
    /// [`IoError::Write`] with the system's reason; no file has changed then.
    pub fn commit(mut self) -> Result<(), IoError> {
        // Streams first: they may fail or block, while renames can still be undone.
        for stream in &self.streams {
            let sent = stream.place.send(&stream.bytes);
            sent.map_err(write_error(&stream.path))?;
        }
        let mut list = unfinished();
        // A single rename needs no backup.
        let needs_backup = self.parts.len() > 1;
        for (k, part) in self.parts.iter().enumerate() {
            if needs_backup && part.place.exists() {
                // A hard link is the cheapest backup; some file systems do not have them.
                let kept = std::fs::hard_link(&part.place, &part.before)
                    .or_else(|_| std::fs::copy(&part.place, &part.before).map(drop));
                if let Err(source) = kept {
                    put_back(&self.parts[..k]);
                    return Err(write_error(&part.path)(source));
                }
            }
            if let Err(source) = std::fs::rename(&part.aside, &part.place) {
                put_back(&self.parts[..k]);
                return Err(write_error(&part.path)(source));
            }
        }
        list.has_results = true;
        list.made.retain(|folder| !self.made.contains(folder));
        self.made.clear();
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.stages.clear();
        if self.made.is_empty() {
            return;
        }
        let mut list = unfinished();
        list.made.retain(|folder| !self.made.contains(folder));
        for folder in self.made.drain(..).rev() {
            // Removes the folder only if it is empty.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Undoes renames, the last first.
fn put_back(renamed: &[Part]) {
    for part in renamed.iter().rev() {
        let _ = match part.before.exists() {
            true => std::fs::rename(&part.before, &part.place),
            false => std::fs::remove_file(&part.place),
        };
    }
}

fn write_error(path: &Path) -> impl Fn(io::Error) -> IoError {
    move |source| IoError::Write {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).expect("a text")
    }

    fn entries(folder: &Path) -> usize {
        std::fs::read_dir(folder).expect("a folder").count()
    }

    #[test]
    fn files_appear_at_commit_and_an_uncommitted_transaction_leaves_none() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("old"), "old").expect("written");
        let mut files = Transaction::new();
        files.add(&at("old"), b"new").expect("aside");
        files.add(&at("deep/er/new"), b"new").expect("aside");
        assert_eq!(text(&at("old")), "old", "not yet");
        assert!(!at("deep/er/new").exists(), "not yet");
        drop(files);
        assert_eq!(text(&at("old")), "old", "as before");
        assert_eq!(entries(folder.path()), 1, "no folder, nothing aside");

        let mut files = Transaction::new();
        files.add(&at("old"), b"new").expect("aside");
        files.add(&at("deep/er/new"), b"new").expect("aside");
        files.commit().expect("renamed");
        assert_eq!(text(&at("old")), "new", "replaced");
        assert_eq!(text(&at("deep/er/new")), "new", "with its folders");
        assert_eq!(entries(folder.path()), 2, "nothing aside");
        assert_eq!(entries(&at("deep/er")), 1, "nothing aside");
    }

    #[test]
    fn a_failed_rename_undoes_the_renames_before_it() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("old"), "old").expect("written");
        let mut files = Transaction::new();
        for name in ["old", "new", "blocked"] {
            files.add(&at(name), b"new").expect("aside");
        }
        // A file cannot be renamed onto a folder that was made in the meantime.
        std::fs::create_dir(at("blocked")).expect("a folder");
        let error = files.commit().expect_err("one is blocked").to_string();
        assert!(error.contains("blocked: cannot be written"), "{error}");
        assert_eq!(text(&at("old")), "old", "put back");
        assert!(!at("new").exists(), "removed again");
        assert_eq!(entries(folder.path()), 2, "nothing aside");
    }

    #[test]
    fn one_name_for_two_results_is_refused() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut files = Transaction::new();
        files.add(&folder.path().join("a"), b"1").expect("aside");
        let again = folder.path().join(".").join("a");
        let error = files.add(&again, b"2").expect_err("twice").to_string();
        assert!(error.ends_with("choose another for one of them"), "{error}");
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_is_named() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let error = write_file(folder.path(), b"1").expect_err("a folder");
        let expected = format!(
            "{}: cannot be written: it is a folder",
            folder.path().display()
        );
        assert_eq!(error.to_string(), expected, "one sentence");
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("real"), "old").expect("written");
        let private = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(at("real"), private).expect("set");
        symlink("real", at("link")).expect("a link");
        write_file(&at("link"), b"new").expect("written");
        assert!(at("link").is_symlink(), "it stays a link");
        assert_eq!(text(&at("real")), "new", "the file behind it");
        let mode = std::fs::metadata(at("real"))
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640, "as before");
        assert_eq!(entries(folder.path()), 2, "nothing aside");
    }
}
