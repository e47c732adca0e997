//! What edits changed, so that they can be undone.
//!
//! Beside `arm.psd.toml`, the folder `arm.psd.history` has a file for every edit that was saved, numbered from
//! `0001.toml`: what was done, the text before and after it, and the shape files that it replaced, as they were. Shape
//! files are never deleted, neither by an edit nor by undoing it. The folder may be deleted at any time: then there is
//! nothing to undo.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::error::{Placed, ProjectError, ProjectFault};
use super::{Project, folder_beside, folder_of};
use crate::{IoError, Transaction, text_file};

/// An edit that was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneEdit {
    /// What it had done: "added bend90 to layer elbow".
    pub what: String,
    /// How many edits before it can be undone, too.
    pub left: usize,
}

/// A file of the history.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    what: String,
    before: String,
    after: String,
    #[serde(default)]
    shape: Vec<OldShape>,
}

/// A shape file that an edit replaced.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct OldShape {
    /// As the project names it.
    path: PathBuf,
    text: String,
}

impl Edit {
    /// The text of its file.
    fn to_text(&self) -> String {
        let mut text = DocumentMut::new();
        text.insert("what", value(self.what.as_str()));
        text.insert("before", value(self.before.as_str()));
        text.insert("after", value(self.after.as_str()));
        let mut shapes = ArrayOfTables::new();
        for old in &self.shape {
            let mut shape = Table::new();
            let name = old.path.to_string_lossy().replace('\\', "/");
            shape.insert("path", value(name));
            shape.insert("text", value(old.text.as_str()));
            shapes.push(shape);
        }
        if !shapes.is_empty() {
            text.insert("shape", Item::ArrayOfTables(shapes));
        }
        text.to_string()
    }
}

/// Adds what a project has changed since it was read or saved; `before` was its text then.
pub(super) fn add(
    files: &mut Transaction,
    project: &Project,
    before: &str,
) -> Result<(), ProjectError> {
    if project.edits.is_empty() {
        return Ok(());
    }
    let mut shape = Vec::new();
    for (path, _) in &project.unsaved {
        let file = project.beside(path);
        if file.exists() {
            shape.push(OldShape {
                path: path.clone(),
                text: text_file::read(&file)?,
            });
        }
    }
    let edit = Edit {
        what: project.edits.join("; "),
        before: before.to_owned(),
        after: project.text.clone(),
        shape,
    };
    let number = numbered(&project.path)?.last().map_or(1, |(n, _)| n + 1);
    let path = folder(&project.path).join(format!("{number:04}.toml"));
    files.add(&path, edit.to_text().as_bytes())?;
    Ok(())
}

/// Takes back the last edit of the project in a file: its text, and the shapes that the edit replaced, are as before.
///
/// Edits go back one by one, to the first that was saved. With `force`, changes that were made to the text by other
/// means after the edit are taken back as well; they are refused otherwise.
///
/// # Errors
/// [`ProjectFault::NothingToUndo`] and [`ProjectFault::ChangedSince`]; nothing is changed then.
pub fn undo_edit(project: &Path, force: bool) -> Result<UndoneEdit, ProjectError> {
    let now = text_file::read(project)?;
    let mut edits = numbered(project)?;
    while let Some((_, path)) = edits.pop() {
        let edit: Edit = text_file::parse_toml(&path, &text_file::read(&path)?)?;
        // Undone before, by a program that was ended before it could forget it. (An edit that replaced a shape under the
        // same name leaves the text as it was: undoing that again does no harm.)
        if now == edit.before && edit.before != edit.after {
            forget(&path)?;
            continue;
        }
        if now != edit.after && !force {
            let fault = ProjectFault::ChangedSince { what: edit.what };
            return Err(Placed::from(fault).in_file(project));
        }
        let mut files = Transaction::new();
        for shape in &edit.shape {
            files.add(&folder_of(project).join(&shape.path), shape.text.as_bytes())?;
        }
        files.add(project, edit.before.as_bytes())?;
        files.commit()?;
        forget(&path)?;
        return Ok(UndoneEdit {
            what: edit.what,
            left: edits.len(),
        });
    }
    let history = folder(project);
    let fault = ProjectFault::NothingToUndo { history };
    Err(Placed::from(fault).in_file(project))
}

/// Where the edits of a project are.
fn folder(project: &Path) -> PathBuf {
    folder_of(project).join(folder_beside(project, ".history"))
}

/// The files of a project's history with their numbers, in order.
fn numbered(project: &Path) -> Result<Vec<(u64, PathBuf)>, IoError> {
    let folder = folder(project);
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries,
    };
    let error = |source| IoError::Read {
        path: folder.clone(),
        source,
    };
    let mut found = Vec::new();
    for entry in entries.map_err(error)? {
        let path = entry.map_err(error)?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let number = stem.and_then(|stem| stem.parse::<u64>().ok());
        if let Some(number) = number.filter(|_| path.extension().is_some_and(|e| e == "toml")) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Deletes a file of the history, and the folder with the last one.
fn forget(path: &Path) -> Result<(), IoError> {
    std::fs::remove_file(path).map_err(|source| IoError::Write {
        path: path.to_owned(),
        source,
    })?;
    if let Some(folder) = path.parent() {
        // Only an empty folder goes.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_to_the_byte() {
        for text in [
            "",
            "version = 1\n# a \"comment\" with \\ and \"\"\"quotes\"\"\"\n",
            "lines of\r\nanother system\r\n",
            "\n\n'''kept' \ttab, größe",
        ] {
            let edit = Edit {
                what: "added smile to layer face".to_owned(),
                before: text.to_owned(),
                after: format!("{text}more"),
                shape: vec![OldShape {
                    path: PathBuf::from("face.psd/smile.txt"),
                    text: text.to_owned(),
                }],
            };
            let written = edit.to_text();
            let read: Edit = text_file::parse_toml(Path::new("0001.toml"), &written)
                .unwrap_or_else(|error| panic!("{error}:\n{written}"));
            assert_eq!(read, edit, "{written}");
        }
    }
}
