//! Subdivision surfaces of skins: smoother meshes whose animation is the subdivided animation.
//!
//! A subdivision scheme makes every new point a fixed sum of old ones, `v' = S v`, with rows of `S` that
//! sum to 1. Posing is linear, too, `v = G p`, and works on each point alone; so the two commute, and
//! `S` applied to animation-space vectors *once* gives a skin that shows, in every pose, what
//! subdividing the posed mesh would show (\[Merry06\] §5, \[Merry07\] 4.4). A linear blend skin becomes
//! animation space, because a new point inherits from each old one its own rest position.
//!
//! The price is influences: a new point has the bones of all the points that it is a sum of.
//!
//! Rules: [`Scheme`] for the inside, cubic B-splines along borders and creases, edges whose sharpness
//! falls by 1 from level to level ([`Cage::set_sharpness`]), points that are held. Dirty meshes are
//! survived: an edge that has not two faces running opposite ways is a border, and a point where pieces
//! touch is held.
//!
//! ```
//! use dermis::subdiv::{Cage, Scheme, SubdivisionOptions, subdivide, subdivide_skin};
//!
//! let tube = dermis::synth::tube(&Default::default());
//! let cage = Cage::from_mesh(tube.examples.rest());
//! let options = SubdivisionOptions { scheme: Scheme::Loop, levels: 1, ..Default::default() };
//! let finer = subdivide(&cage, &options)?;
//! let skin = subdivide_skin(&tube.truth, &finer)?;
//!
//! let pose = &tube.examples.examples()[0].pose;
//! let posed_then_subdivided = finer.apply(&tube.truth.evaluate(pose)?);
//! let subdivided_then_posed = skin.evaluate(pose)?;
//! assert!(std::iter::zip(posed_then_subdivided, subdivided_then_posed).all(|(a, b)| a.distance(b) < 1e-12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attributes;
mod cage;
mod catmull_clark;
mod creases;
mod levels;
mod limit;
mod loop_scheme;
mod quads;
mod rules;
mod skin;
mod stencil;

pub use attributes::{AttributeRule, CornerValues, subdivide_corners};
pub use cage::{Cage, Edge};
pub use creases::CornerNormals;
pub use levels::{Subdivision, subdivide, triangles_after};
pub use quads::{QuadOptions, pair_triangles};
pub use skin::subdivide_skin;
pub use stencil::{Stencil, Term};

use crate::skin::SkinError;

/// How the inside of a surface is smoothed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// \[Loop87\], for triangles: every triangle becomes four. The weights around a point of valence n are
    /// Loop's own, `β = (5/8 − (3/8 + cos(2π/n)/4)²) / n`.
    #[default]
    Loop,
    /// \[Catmull78\], for faces of any number of corners: every corner becomes a quad.
    CatmullClark,
}

/// What happens to a corner of the border that only one face has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Corners {
    /// It stays where it is, so that a square stays square ("edge and corner" elsewhere).
    #[default]
    Sharp,
    /// It is rounded as the rest of the border ("edge only" elsewhere).
    Smooth,
}

/// What [`subdivide`] shall do.
#[derive(Debug, Clone, PartialEq)]
pub struct SubdivisionOptions {
    /// How the inside is smoothed.
    pub scheme: Scheme,
    /// How often, 1 or more; each level has four times the faces of the one before. Default 1.
    pub levels: usize,
    /// Corners of the border.
    pub corners: Corners,
    /// Whether points are moved to where endless subdivision would take them at last. Sharpness that is
    /// left after the last level is then taken for endless.
    pub limit: bool,
}

impl Default for SubdivisionOptions {
    fn default() -> Self {
        Self {
            scheme: Scheme::default(),
            levels: 1,
            corners: Corners::default(),
            limit: false,
        }
    }
}

/// Most triangles that are made: beyond it the mesh is no character any more.
pub const MOST_TRIANGLES: u64 = 50_000_000;

/// A count that stopped at what its type holds.
fn counted(count: u64) -> String {
    match count {
        u64::MAX => format!("more than {count}"),
        _ => count.to_string(),
    }
}

/// Why something cannot be subdivided.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SubdivisionError {
    /// No level was asked for.
    #[error("expected 1 level of subdivision or more, found 0")]
    NoLevels,
    /// The result would have more triangles than are made.
    #[error(
        "{levels} levels would make {} triangles, and {most} are the most that are made: ask for fewer levels",
        counted(*triangles)
    )]
    TooLarge {
        /// How many levels were asked for.
        levels: usize,
        /// How many triangles that gives; `u64::MAX` when it is more than that.
        triangles: u64,
        /// [`MOST_TRIANGLES`].
        most: u64,
    },
    /// A face names too few points, one twice, or one that does not exist.
    #[error(
        "face {face} has corners {corners:?}: expected 3 or more different ones below {point_count}"
    )]
    BadFace {
        /// Index of the face.
        face: usize,
        /// Its corners.
        corners: Vec<u32>,
        /// How many points there are.
        point_count: usize,
    },
    /// Loop's scheme is for triangles.
    #[error(
        "face {face} has {corners} corners: Loop's scheme is for triangles, Catmull-Clark for all faces"
    )]
    NotTriangles {
        /// Index of the face.
        face: usize,
        /// How many corners it has.
        corners: usize,
    },
    /// A crease where there is no edge.
    #[error("expected an edge between points {a} and {b} to crease, found none")]
    NoSuchEdge {
        /// One end.
        a: u32,
        /// The other end.
        b: u32,
    },
    /// A sharpness below 0 or NaN.
    #[error("expected a sharpness of 0 or more, found {found}")]
    BadSharpness {
        /// What was given.
        found: f64,
    },
    /// Lists that belong together have different lengths.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The skin is no sum of matrices times vectors, so subdividing and posing do not commute.
    #[error(
        "{program} cannot be subdivided: its posed points are no sums of matrices times vectors, so no skin of \
         more points moves as the subdivided mesh would; fit animation space or linear blend skinning instead"
    )]
    NotLinear {
        /// What kind of skin it is.
        program: &'static str,
    },
    /// It would take more memory than it may.
    #[error(transparent)]
    Memory(#[from] crate::limits::TooLarge),
    /// The subdivided skin is no skin.
    #[error(transparent)]
    Skin(#[from] SkinError),
}
