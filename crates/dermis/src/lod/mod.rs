//! Levels of detail that hold in every pose: fewer triangles and fewer influences, from one queue of steps.
//!
//! A mesh that is simplified in its rest pose loses its elbow: a straight arm is a cylinder, and rings along it seem to do
//! nothing. Here every step is judged in sixteen poses at once (\[DeCoro05\], \[Merry07\] ch. 6): a
//! vertex has a quadric (\[Garland97\]) in each, a collapsed edge is placed where their sum is least, and no triangle
//! may turn over in any. Where there are textures, how far they slide counts, too (`slide`). The poses are those that are farthest from each other among the ones given, each with the share of
//! poses that it stands for.
//!
//! | | |
//! | --- | --- |
//! | [`simplify`] | levels of a skin, from fine to coarse |
//! | [`Picture`], [`LevelChooser`] | which level to draw at a distance |
//! | [`LevelShape::becomes`], [`geomorph`] | where each vertex goes in the next level, and the way there, for changes that nobody sees |
//! | [`Progressive`] | every step, from which any level is taken |
//!
//! New vertices of a linear blend skin are linear blends, too: the best rest position and the best weights on the bones of
//! both ends. Those of an animation-space skin are animation-space vectors. When a level is done its points are moved once
//! more, all together, to where the level fits the given surface best over all poses (`polish`).

#![allow(
    clippy::needless_range_loop,
    reason = "numbers of poses stand side by side, and loops over their index are what compilers turn into SIMD"
)]

mod anchor;
mod attributes;
mod bones;
mod certify;
mod changing;
mod extract;
mod feet;
mod freedom;
mod geomorph;
mod guarantee;
mod lanes;
mod legality;
mod levels;
mod model;
mod placing;
mod polish;
mod progressive;
mod quadrics;
mod removal;
mod samples;
mod select;
mod sequence;
mod simplify;
mod slide;
mod snapshot;
mod surface;
#[cfg(test)]
mod testing;
mod texture;
mod vertices;
mod wedges;

pub use geomorph::geomorph;
pub use levels::{LegalPoseLimits, LevelShape, Simplified, simplify};
pub use progressive::{Progressive, ProgressiveLevel, ProgressivePart};
pub use select::{LevelChooser, Picture};
pub use texture::TextureDeviation;

use crate::bounds::BoundsError;
use crate::mesh::MeshError;
use crate::rig::{BoneId, Pose};
use crate::skin::SkinError;

/// What a level should have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LevelTarget {
    /// At most so many triangles.
    Triangles(usize),
    /// At most so many influences, one for each bone that acts on a vertex. Collapses take them away with their vertices,
    /// and [`LodOptions::drop_influences`] lets vertices lose some, too, which is better at the same number.
    Influences(usize),
    /// As few triangles as there can be while no step strays farther, in model units: the root mean square over poses
    /// around the vertex of the step.
    Error(f64),
}

/// How to simplify.
#[derive(Debug, Clone, PartialEq)]
pub struct LodOptions {
    /// Whether edges are collapsed; otherwise vertices only lose influences. Default true.
    pub collapse: bool,
    /// Whether vertices may lose influences, in the same queue. Default false; without `collapse` they always do.
    pub drop_influences: bool,
    /// Most influences of any vertex of a level: others are taken away before anything else is done. Default 4, which
    /// every engine plays.
    pub max_influences: usize,
    /// Most bones that move vertices, for each level; the last one counts for all further levels. Default empty: all bones
    /// stay.
    pub max_bones: Vec<usize>,
    /// Bones that stay, however few may be left. Default none.
    pub locked_bones: Vec<BoneId>,
    /// Whether pieces that are down to their last few triangles, such as teeth or buttons, may vanish. Default false.
    pub drop_pieces: bool,
    /// How much it costs that textures slide: the share of a distance on the surface that the same distance between the two
    /// points that show one place of the texture costs, in the sample poses. Default 0.1; larger holds textures better and, above
    /// 0.3, the shape worse.
    pub uv_weight: f64,
    /// Whether levels of a linear blend skin may be animation-space skins, which fit better and which only our own run-time
    /// plays exactly. Default false: stock engines play them.
    pub free: bool,
    /// Poses that count for a thousandth of all, so that joints which never move otherwise keep some freedom. Default
    /// none.
    pub rare_poses: Vec<Pose>,
    /// Whether a vertex forgets what was collapsed into it, and knows only the faces that it has. Default false: that is up
    /// to a tenth better while detail is plentiful, and up to three times worse at few triangles.
    pub memoryless: bool,
    /// Whether every step to the coarsest level is kept, so that any level can be taken later. Default false; not for skins
    /// with morph targets or corrections.
    pub progressive: bool,
}

impl Default for LodOptions {
    fn default() -> Self {
        Self {
            collapse: true,
            drop_influences: false,
            max_influences: 4,
            max_bones: Vec::new(),
            locked_bones: Vec::new(),
            drop_pieces: false,
            uv_weight: 0.1,
            free: false,
            rare_poses: Vec::new(),
            memoryless: false,
            progressive: false,
        }
    }
}

impl LodOptions {
    /// # Errors
    /// [`LodError::BadOption`].
    pub fn check(&self) -> Result<(), LodError> {
        let bad = |option, problem: String| Err(LodError::BadOption { option, problem });
        if self.max_influences == 0 {
            return bad("max_influences", "a vertex needs at least 1".to_owned());
        }
        if !(self.uv_weight.is_finite() && self.uv_weight >= 0.0) {
            return bad(
                "uv_weight",
                format!("expected 0 or more, found {}", self.uv_weight),
            );
        }
        if self.max_bones.contains(&0) {
            return bad("max_bones", "a skin needs at least 1".to_owned());
        }
        Ok(())
    }
}

/// What steps are sorted by: a squared error times an area, for each influence that goes with the step.
///
/// Measured on a hand, a tube and a body, in poses that were not seen, at 1/2 to 1/64 of the influences, where vertices
/// lose influences, too: the error alone is up to 1.3 times worse, the error for each influence up to 1.9 times, the
/// squared error times area up to 1.3 times. Each is better in places: by a third on the tube at 1/2, elsewhere by a tenth.
/// Counting the influences that really go, where a new vertex follows the bones of both ends, is up to two fifths better on
/// the tube at 1/64 and three times worse on a fox of 576 triangles at 1/16.
fn rank(cost: f64, removed_influences: usize) -> f64 {
    cost / removed_influences.max(1) as f64
}

/// Why a character cannot be simplified.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LodError {
    /// The skin cannot be evaluated, or is not a sum of matrices times vectors.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// Limits do not belong to the skin.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// The result is no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// An option is out of range.
    #[error("option {option}: {problem}")]
    BadOption {
        /// Name of the option.
        option: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A sequence of steps whose numbers do not fit together.
    #[error("the sequence of steps is broken: {problem}")]
    BrokenSequence {
        /// What is wrong with it.
        problem: String,
    },
    /// What points become does not belong to two skins.
    #[error("expected the point that each of {fine} points becomes among {coarse}, found {found}")]
    BadMorph {
        /// Points of the finer skin.
        fine: usize,
        /// Points of the coarser skin.
        coarse: usize,
        /// How many there are, or which one does not exist.
        found: String,
    },
    /// There is nothing to simplify.
    #[error("expected triangles to simplify, found none")]
    NoTriangles,
    /// Levels are judged in poses, and there is none.
    #[error("expected at least one pose to judge levels in, found none")]
    NoPoses,
    /// The caller stopped the job.
    #[error("stopped")]
    Stopped,
}
