//! What can be wrong with a crowd.

use crate::GpuError;

/// Errors of making a crowd.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CrowdError {
    /// Crowds are drawn by one kind of program, and this is another.
    #[error("a crowd cannot show {what}: {hint}")]
    NotSupported {
        /// What the character has.
        what: String,
        /// What to do instead.
        hint: &'static str,
    },
    /// There is no such clip.
    #[error("there is no clip number {found}: the character has {count}")]
    NoClip {
        /// The number that was asked for.
        found: usize,
        /// How many clips there are.
        count: usize,
    },
    /// A level has no guaranteed error, and levels are to be chosen by it.
    #[error(
        "level {level} has no guaranteed error in the file: choose levels by their measured errors"
    )]
    NoGuarantee {
        /// Which level, counted from 1.
        level: usize,
    },
    /// There is no such level.
    #[error("there is no level {found}: the levels are 0 to {last}")]
    NoLevel {
        /// The level that was asked for.
        found: usize,
        /// The coarsest one.
        last: usize,
    },
    /// An option is out of range.
    #[error("option {option}: {problem}")]
    BadOption {
        /// Name of the option.
        option: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Levels are chosen by perspective, and the camera has none.
    #[error(
        "a crowd needs a camera with perspective: far instances look as large as near ones without"
    )]
    NoPerspective,
    /// The character cannot be packed or played.
    #[error(transparent)]
    Run(#[from] dermis::run::RunError),
    /// Its sphere cannot be found.
    #[error(transparent)]
    Bounds(#[from] dermis::bounds::BoundsError),
    /// Its skin cannot be evaluated.
    #[error(transparent)]
    Skin(#[from] dermis::skin::SkinError),
    /// Its clips cannot be played.
    #[error(transparent)]
    Rig(#[from] dermis::rig::RigError),
    /// Poses of its clips cannot be listed.
    #[error(transparent)]
    Shown(#[from] dermis::skin::ShownError),
    /// The graphics card refused.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

impl From<dermis_render::RenderError> for CrowdError {
    fn from(error: dermis_render::RenderError) -> Self {
        Self::Gpu(error.into())
    }
}
