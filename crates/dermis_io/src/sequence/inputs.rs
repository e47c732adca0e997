//! Patterns and folders to lists of files.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::natural_order;
use crate::{Fault, Format, IoError};

/// Every file that inputs name (files, folders, patterns), each once, in natural order.
///
/// # Errors
/// [`IoError`] for a folder or a pattern without meshes. A file that is not there is listed.
pub fn expand<P: AsRef<Path>>(inputs: &[P]) -> Result<Vec<PathBuf>, IoError> {
    let mut files = Vec::new();
    for input in inputs {
        let path = input.as_ref();
        // An existing file is never taken for a pattern, even if its name holds `*` or `#`.
        if path.is_dir() {
            files.extend(meshes_in_folder(path)?);
        } else if path.exists() {
            files.push(path.to_owned());
        } else if let Some(pattern) = NumberedName::of(path) {
            files.extend(pattern.matches()?);
        } else if path.to_string_lossy().contains(['*', '?', '[']) {
            files.extend(glob_matches(path)?);
        } else {
            // The file is missing: the reader reports that with the system's reason.
            files.push(path.to_owned());
        }
    }
    files.sort_by(|a, b| in_natural_order(a, b));
    files.dedup();
    Ok(files)
}

fn in_natural_order(a: &Path, b: &Path) -> std::cmp::Ordering {
    let text = |c: Component| c.as_os_str().to_string_lossy().into_owned();
    let (mut x, mut y) = (a.components().map(text), b.components().map(text));
    loop {
        match (x.next(), y.next()) {
            (None, None) => return a.cmp(b),
            (None, Some(_)) => return std::cmp::Ordering::Less,
            (Some(_), None) => return std::cmp::Ordering::Greater,
            (Some(p), Some(q)) => match natural_order(&p, &q) {
                std::cmp::Ordering::Equal => {}
                different => return different,
            },
        }
    }
}

fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, IoError> {
    let error = |source| IoError::Read {
        path: folder.to_owned(),
        source,
    };
    let entries = std::fs::read_dir(if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    });
    let mut files = Vec::new();
    for entry in entries.map_err(error)? {
        let path = folder.join(entry.map_err(error)?.file_name());
        if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// The meshes of a folder, which must all be of one format.
fn meshes_in_folder(folder: &Path) -> Result<Vec<PathBuf>, IoError> {
    let mut of_extension: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for path in list_folder(folder)? {
        if let Ok(format) = Format::of(&path) {
            of_extension
                .entry(format.extension())
                .or_default()
                .push(path);
        }
    }
    let found: Vec<String> = of_extension
        .iter()
        .map(|(extension, files)| format!("{} .{extension}", files.len()))
        .collect();
    match of_extension.into_values().collect::<Vec<_>>() {
        mut lists if lists.len() == 1 => Ok(lists.swap_remove(0)),
        lists => {
            let found = match lists.len() {
                0 => "none".to_owned(),
                _ => format!("{}: name the files, as in *.obj", found.join(" and ")),
            };
            Err(Fault::malformed("folder", "meshes of one format", found).in_file(folder))
        }
    }
}

fn glob_matches(pattern: &Path) -> Result<Vec<PathBuf>, IoError> {
    let fault = |found: String| {
        Fault::malformed("pattern", "at least one file that matches", found).in_file(pattern)
    };
    let Some(text) = pattern.to_str() else {
        return Err(fault("a name that is not Unicode".to_owned()));
    };
    let paths = glob::glob(text).map_err(|error| fault(error.to_string()))?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| IoError::Read {
            path: error.path().to_owned(),
            source: error.into(),
        })?;
        if path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(fault("none".to_owned()));
    }
    Ok(files)
}

/// A file name with a place for a number: `pose.####.obj` or `pose.%04d.obj`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NumberedName<'a> {
    path: &'a Path,
    before: &'a str,
    after: &'a str,
    /// Fewest digits.
    width: usize,
}

impl<'a> NumberedName<'a> {
    /// The pattern in a path's last part, when there is one.
    pub(crate) fn of(path: &'a Path) -> Option<Self> {
        let name = path.file_name().and_then(OsStr::to_str)?;
        if let Some(start) = name.find('#') {
            let tail = &name[start..];
            let after = tail.trim_start_matches('#');
            return Some(Self {
                path,
                before: &name[..start],
                after,
                width: tail.len() - after.len(),
            });
        }
        let (before, tail) = name.split_once('%')?;
        let (width, after) = tail.split_once('d')?;
        let width = match width.strip_prefix('0') {
            _ if width.is_empty() => 1,
            Some(digits) => digits.parse().ok().filter(|w| (1..=20).contains(w))?,
            None => return None,
        };
        Some(Self {
            path,
            before,
            after,
            width,
        })
    }

    /// The path with a number in its place.
    pub(crate) fn with_number(&self, number: usize) -> PathBuf {
        let Self {
            before,
            after,
            width,
            ..
        } = self;
        self.path
            .with_file_name(format!("{before}{number:0width$}{after}"))
    }

    /// Files that the pattern names: at least `width` digits, more only where they are needed.
    fn matches(&self) -> Result<Vec<PathBuf>, IoError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let is_match = |path: &PathBuf| {
            let name = path.file_name().and_then(OsStr::to_str);
            let number = name
                .and_then(|name| name.strip_prefix(self.before)?.strip_suffix(self.after))
                .unwrap_or_default();
            !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
                && (number.len() == self.width
                    || number.len() > self.width && !number.starts_with('0'))
        };
        let files: Vec<PathBuf> = list_folder(folder)?.into_iter().filter(is_match).collect();
        if files.is_empty() {
            let expected = "at least one file with a number there";
            return Err(Fault::malformed("pattern", expected, "none").in_file(self.path));
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for name in names {
            std::fs::write(folder.path().join(name), "v 0 0 0\n").expect("written");
        }
        folder
    }

    fn names(files: Result<Vec<PathBuf>, IoError>) -> Vec<String> {
        let name = |f: &PathBuf| {
            f.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        files.expect("files").iter().map(name).collect()
    }

    #[test]
    fn globs_folders_and_lists_come_in_natural_order() {
        let folder = folder_with(&["10.obj", "1.obj", "2.obj", "notes.txt", "9.obj.gz"]);
        let at = |name: &str| folder.path().join(name);
        let sorted = ["1.obj", "2.obj", "10.obj"];
        assert_eq!(names(expand(&[at("*.obj")])), sorted, "a glob");
        assert_eq!(
            names(expand(&[
                at("10.obj"),
                at("2.obj"),
                at("1.obj"),
                at("2.obj")
            ])),
            sorted,
            "a list"
        );
        assert_eq!(names(expand(&[at("#.obj")])), sorted, "a numbered name");
        assert_eq!(names(expand(&[at("%d.obj")])), sorted, "the same in C");
        assert_eq!(
            names(expand(&[folder.path()])),
            ["1.obj", "2.obj", "9.obj.gz", "10.obj"],
            "a folder, without the text file"
        );
    }

    #[test]
    fn a_folder_with_two_mesh_formats_is_refused() {
        let folder = folder_with(&["1.obj", "2.obj", "a.glb"]);
        let message = expand(&[folder.path()])
            .expect_err("which ones?")
            .to_string();
        assert!(message.contains("1 .glb and 2 .obj"), "{message}");
    }

    #[test]
    fn a_pattern_that_matches_no_file_is_an_error() {
        let folder = folder_with(&["a_1.obj"]);
        for pattern in ["b*.obj", "a_##.obj", "b_%04d.obj", "[.obj"] {
            let message = expand(&[folder.path().join(pattern)])
                .expect_err("nothing")
                .to_string();
            assert!(message.contains(pattern), "{message}");
        }
        let empty = folder_with(&["notes.txt"]);
        expand(&[empty.path()]).expect_err("no mesh");
    }

    #[test]
    fn numbers_take_their_width_and_grow_past_it() {
        let padded = NumberedName::of(Path::new("x/a.####.obj")).expect("a pattern");
        assert_eq!(
            padded.with_number(7),
            Path::new("x/a.0007.obj"),
            "four digits"
        );
        assert_eq!(
            padded.with_number(12345),
            Path::new("x/a.12345.obj"),
            "five"
        );
        for (name, width) in [
            ("a_%03d.obj", Some(3)),
            ("%d.obj", Some(1)),
            ("100%.obj", None),
            ("a%xd.obj", None),
        ] {
            let found = NumberedName::of(Path::new(name)).map(|n| n.width);
            assert_eq!(found, width, "for {name}");
        }
        let folder = folder_with(&["a007.obj", "a0007.obj", "a1000.obj", "a7.obj", "axyz.obj"]);
        let found = names(expand(&[folder.path().join("a%03d.obj")]));
        assert_eq!(found, ["a007.obj", "a1000.obj"], "no other padding");
    }
}
