//! Why a document does not give what is asked of it.

use std::path::{Path, PathBuf};

use super::{MatchError, PosesError};
use crate::fit::FitError;
use crate::limits::TooLarge;

/// Why examples, an animation, or the motion of a clip could not be had from a document.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// Nothing in it moves.
    #[error(
        "{}: expected a mesh that moves, found {}: give several meshes, a folder or a pattern such as \
         'poses/*.obj', a file with frames, or one with a clip",
        named(path),
        if *has_skin { "a skin without a clip" } else { "a single mesh" }
    )]
    NoMotion {
        /// The file.
        path: PathBuf,
        /// Whether it has a skin, which lacks a clip.
        has_skin: bool,
    },
    /// It has meshes, and nothing says in which pose the skeleton is in each.
    #[error(
        "{}: has {mesh_count} meshes but not the skeleton's pose in each",
        named(path)
    )]
    NoPoses {
        /// The file.
        path: PathBuf,
        /// How many meshes there are.
        mesh_count: usize,
    },
    /// Its clips move vertices, but no bone: they play morph targets.
    #[error(
        "{}: has no bones that move: its clips play morph targets, which say nothing about bones",
        named(path)
    )]
    NoMovingBones {
        /// The file.
        path: PathBuf,
    },
    /// It has the motions of several clips where the meshes of one are needed.
    #[error(
        "{}: has {clip_count} clips, and a rig gives poses for the meshes of one",
        named(path)
    )]
    SeveralMotions {
        /// The file.
        path: PathBuf,
        /// How many clips it has.
        clip_count: usize,
    },
    /// It has no skin.
    #[error(
        "{}: expected a file with a skin, found {vertex_count} vertices without one",
        named(path)
    )]
    NoSkin {
        /// The file.
        path: PathBuf,
        /// How many vertices it has instead.
        vertex_count: usize,
    },
    /// It has no bones.
    #[error("{}: expected a skeleton, found none", named(path))]
    NoSkeleton {
        /// The file.
        path: PathBuf,
    },
    /// No vertex follows a bone alone, so that the motion of bones cannot be told from meshes.
    #[error(
        "{}: no vertex follows a single bone (a weight of 0.95 or more), so the motion of the bones cannot be \
         found: give weights with parts that move rigidly, or only the number of bones",
        named(path)
    )]
    NoCores {
        /// The file of the rig.
        path: PathBuf,
    },
    /// A rig has the poses of another number of meshes.
    #[error(
        "{}: has {pose_count} poses, but {} has {mesh_count} meshes",
        named(rig),
        named(meshes)
    )]
    PoseCount {
        /// The file of the rig.
        rig: PathBuf,
        /// How many poses it has.
        pose_count: usize,
        /// The file of the meshes.
        meshes: PathBuf,
        /// How many meshes there are.
        mesh_count: usize,
    },
    /// A rig moves another number of vertices than an animation has.
    #[error(
        "{}: the rig has {found} vertices, but the animation has {expected}: they must be the same, in the \
         same order",
        named(rig)
    )]
    RigVertexCount {
        /// The file of the rig.
        rig: PathBuf,
        /// Vertices of the animation.
        expected: usize,
        /// Vertices of the rig.
        found: usize,
    },
    /// It has no clip.
    #[error("{}: expected a clip, found none: choose another file", named(path))]
    NoClip {
        /// The file.
        path: PathBuf,
    },
    /// It has several clips, and none was named.
    #[error("{}: has several clips ({})", named(path), quoted(clips))]
    AmbiguousClip {
        /// The file.
        path: PathBuf,
        /// Their names.
        clips: Vec<String>,
    },
    /// It has no clip of that name.
    #[error("{}: has no clip '{name}'; it has {}", named(path), quoted(clips))]
    UnknownClip {
        /// The file.
        path: PathBuf,
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        clips: Vec<String>,
    },
    /// It does not say in which pose its bones are in its frames.
    #[error("{}: expected poses of bones, frame by frame, found none", named(path))]
    NoFramePoses {
        /// The file.
        path: PathBuf,
    },
    /// Its poses cannot be given to the bones of another file.
    #[error("{}: its poses do not fit {}: {problem}", named(path), named(other))]
    OtherBones {
        /// The file of the poses.
        path: PathBuf,
        /// The file of the bones.
        other: PathBuf,
        /// Why not.
        problem: PosesError,
    },
    /// Meshes that should be measured against others are more or fewer.
    #[error(
        "{}: has {found} mesh{}, but {} has {expected}: frames are matched by order, so both must have as many",
        named(path), if *found == 1 { "" } else { "es" }, named(truth)
    )]
    FrameCount {
        /// The file of the meshes.
        path: PathBuf,
        /// How many there are.
        found: usize,
        /// The file that they are measured against.
        truth: PathBuf,
        /// How many that has.
        expected: usize,
    },
    /// Meshes of another number of vertices.
    #[error(
        "{}: has {found} vertices, but {} has {expected}: both must have the same vertices, in the same order",
        named(path),
        named(other)
    )]
    VertexCount {
        /// The file of the meshes.
        path: PathBuf,
        /// Its vertices.
        found: usize,
        /// The file that they should belong to.
        other: PathBuf,
        /// The vertices of that.
        expected: usize,
    },
    /// Its clips have more frames than memory takes.
    #[error("{}: {source}", named(path))]
    TooManyFrames {
        /// The file.
        path: PathBuf,
        /// How much it would take.
        source: TooLarge,
    },
    /// Meshes do not belong together.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// Its meshes, poses or clips are not what a fit can take.
    #[error("{}: {source}", named(path))]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: FitError,
    },
}

impl DocumentError {
    /// Something in a file that a fit cannot take.
    pub(super) fn in_file<E: Into<FitError>>(path: &Path) -> impl FnOnce(E) -> Self + Copy {
        move |error| Self::Content {
            path: path.to_owned(),
            source: error.into(),
        }
    }
}

/// A file by its path; what was made in memory has none.
pub(super) fn named(path: &Path) -> String {
    match path.as_os_str().is_empty() {
        true => "the document".to_owned(),
        false => path.display().to_string(),
    }
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    quoted.join(", ")
}
