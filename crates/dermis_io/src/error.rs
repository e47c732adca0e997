//! What can go wrong with files, in one sentence each.

use std::path::{Path, PathBuf};

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
    /// The bytes are not what the format asks for, or not what dermis can take.
    #[error("{}: {fault}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        fault: Fault,
    },
}

/// What is wrong inside a file; [`IoError`] adds which file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// An element is not as it must be.
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
    /// It would take more memory than it may.
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
    /// An element that is not as it must be.
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

    /// Something that dermis does not read or write.
    pub(crate) fn unsupported(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Unsupported {
            what: what.into(),
            hint: hint.into(),
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
