//! Errors of reading and writing files; each prints one sentence.

use std::path::{Path, PathBuf};

use dermis::document::{DocumentError, MatchError};
use dermis::fit::InfluenceError;
use dermis::limits::TooLarge;
use dermis::mesh::MeshError;
use dermis::rig::RigError;
use dermis::skin::SkinError;

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The operating system refused to read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The operating system refused to write.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The content breaks the rules of the format, or uses a feature that dermis does not support.
    #[error("{}: {fault}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        fault: Fault,
    },
}

/// Why examples or an animation could not be had from files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A file could not be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// What was read does not give what is asked for, or does not belong together.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl From<MatchError> for InputError {
    fn from(error: MatchError) -> Self {
        Self::Document(error.into())
    }
}

/// What is wrong inside a file; [`IoError`] adds which file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// An element of the file is malformed.
    #[error("{element}: expected {expected}, found {found}")]
    Malformed {
        /// Which element, such as `accessor 3` or `line 17`.
        element: String,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The file is legal, but uses something that dermis does not read or write.
    #[error("{what} is not supported: {hint}")]
    Unsupported {
        /// The feature.
        what: String,
        /// What to do instead.
        hint: String,
    },
    /// A text that people write is not as it must be.
    #[error("{}{problem}", in_line(*line))]
    Text {
        /// The line, from 1, where that is known.
        line: Option<usize>,
        /// What is wrong.
        problem: String,
    },
    /// A mesh has other faces than the rest mesh, which may mean another vertex order.
    #[error("face {face}: expected {expected} as in {}, found {found}", rest.display())]
    OtherFaces {
        /// The first face that differs.
        face: usize,
        /// Its corners in the rest mesh.
        expected: String,
        /// The file of the rest mesh.
        rest: PathBuf,
        /// Its corners here.
        found: String,
        /// Whether putting vertices in order by their places would help.
        can_reorder: bool,
    },
    /// A point cache comes without the mesh whose points it moves.
    #[error("point cache: expected the mesh whose points it moves, given or beside it as {}, found none", names.join(", "))]
    NoMeshOfCache {
        /// Files in which it would have been found.
        names: Vec<String>,
    },
    /// Influences do not fit the mesh that they are for.
    #[error("{source} (in {})", mesh.display())]
    Influences {
        /// The file of the mesh.
        mesh: PathBuf,
        /// What does not fit.
        source: Box<InfluenceError>,
    },
    /// A level of the character is broken.
    #[error("level {level}: {fault}")]
    Level {
        /// Which one; the full character is 0.
        level: usize,
        /// What is wrong with it.
        fault: Box<Fault>,
    },
    /// Reading or writing would take more memory than allowed.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The mesh is broken.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The skeleton or a clip is broken.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The skin is broken.
    #[error(transparent)]
    Skin(#[from] SkinError),
}

impl Fault {
    /// The fault of a malformed element.
    pub(crate) fn malformed(
        element: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Malformed {
            element: element.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// The fault of a feature that dermis does not read or write.
    pub(crate) fn unsupported(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Unsupported {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// The same fault with the level that has it; the full character's stays as it is.
    pub(crate) fn in_level(self, level: usize) -> Self {
        match level {
            0 => self,
            _ => Self::Level {
                level,
                fault: Box::new(self),
            },
        }
    }

    /// The same fault with the file that has it.
    pub(crate) fn in_file(self, path: &Path) -> IoError {
        IoError::Content {
            path: path.to_owned(),
            fault: self,
        }
    }
}

fn in_line(line: Option<usize>) -> String {
    line.map_or(String::new(), |line| format!("line {line}: "))
}
