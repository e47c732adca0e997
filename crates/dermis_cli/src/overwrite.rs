//! Files that are read are not replaced, unless with --force.

use std::path::{Path, PathBuf};

use anyhow::bail;
use dermis_io::{Format, FrameStorage};

use crate::talk::Talk;

/// Fails when a file to write is one of those that are read: called before anything is read.
///
/// Inputs may be folders and patterns. Files are compared, not names: a link to an input is the input.
pub(crate) fn check<'a>(
    outputs: impl IntoIterator<Item = &'a PathBuf>,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    talk: &Talk,
) -> anyhow::Result<()> {
    if talk.is_forced() {
        return Ok(());
    }
    let mut read: Vec<PathBuf> = Vec::new();
    for input in inputs {
        // What cannot be found is said by the reader.
        read.extend(dermis_io::expand_inputs(&[input]).unwrap_or_default());
    }
    let files: Vec<File> = read.iter().filter_map(|path| File::of(path)).collect();
    for output in outputs {
        for path in written(output, read.len()) {
            let Some(file) = File::of(&path) else {
                continue;
            };
            if files.contains(&file) {
                bail!(
                    "{}: is read, and would be replaced: choose another name, or replace it with --force",
                    path.display()
                );
            }
        }
    }
    Ok(())
}

/// The files that are there already and may be written under a name.
fn written(output: &Path, input_count: usize) -> Vec<PathBuf> {
    let mut files = vec![output.to_owned()];
    let is_sequence = Format::of(output).is_ok_and(|f| f.frames() == FrameStorage::FileEach);
    if is_sequence {
        files.extend(dermis_io::expand_inputs(&[output]).unwrap_or_default());
        // Several frames get numbers behind the name; a single one has the name alone.
        if input_count > 1
            && let Some((stem, ending)) = output.to_str().and_then(|name| name.rsplit_once('.'))
        {
            let numbered = PathBuf::from(format!("{stem}_####.{ending}"));
            files.extend(dermis_io::expand_inputs(&[numbered]).unwrap_or_default());
        }
    }
    files
}

/// A file, whatever its names are.
#[derive(Debug, PartialEq, Eq)]
struct File {
    #[cfg(unix)]
    number: (u64, u64),
    #[cfg(not(unix))]
    path: PathBuf,
}

impl File {
    /// `None` for what is not there, and for pipes and devices, which cannot be replaced.
    fn of(path: &Path) -> Option<Self> {
        let about = std::fs::metadata(path)
            .ok()
            .filter(|about| about.is_file())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Self {
                number: (about.dev(), about.ino()),
            })
        }
        #[cfg(not(unix))]
        {
            drop(about);
            Some(Self {
                path: path.canonicalize().ok()?,
            })
        }
    }
}
