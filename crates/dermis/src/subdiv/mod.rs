//! Subdivision surfaces of skins: smoother meshes that move as the subdivided animation would.
//!
//! A subdivision scheme makes every new point a fixed sum of old ones, `v' = S v`, with rows of `S` that sum to 1.
//! Posing is linear, too, `v = G p`, and acts on each point separately; so the two commute. Applying `S` *once* to
//! animation-space vectors gives a skin that, in every pose, shows the subdivided posed mesh (\[Merry06\] §5,
//! \[Merry07\] 4.4). A linear blend skin becomes animation space, because a new point takes a separate rest position
//! from each old one.
//!
//! The cost is more influences: a new point has the bones of all the points of its sum.
//!
//! Rules: [`Scheme`] for the inside, cubic B-splines along borders and creases, edges whose sharpness falls by 1 from
//! level to level ([`Cage::set_sharpness`]), points that are held. Meshes with defects are accepted: an edge that is
//! not shared by two faces running in opposite directions is a border, and a point where separate pieces touch is held.
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

/// The rule for a corner of the border that belongs to only one face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Corners {
    /// It is held, so that a square stays square ("edge and corner" in other programs).
    #[default]
    Sharp,
    /// It is rounded like the rest of the border ("edge only" in other programs).
    Smooth,
}

/// Options of [`subdivide`].
#[derive(Debug, Clone, PartialEq)]
pub struct SubdivisionOptions {
    /// How the inside is smoothed.
    pub scheme: Scheme,
    /// The number of levels, 1 or more; each level has four times the faces of the one before. Default 1.
    pub levels: usize,
    /// The rule for corners of the border.
    pub corners: Corners,
    /// Whether points are moved to their limit, where endless subdivision would take them. Sharpness that remains after
    /// the last level then counts as infinite.
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

/// The largest number of triangles that are made: a larger mesh is hardly a character.
pub const MOST_TRIANGLES: u64 = 50_000_000;

/// A count, which stops at the largest number of its type.
fn counted(count: u64) -> String {
    match count {
        u64::MAX => format!("more than {count}"),
        _ => count.to_string(),
    }
}

/// Why a mesh or skin cannot be subdivided.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SubdivisionError {
    /// The number of levels is 0.
    #[error("expected 1 level of subdivision or more, found 0")]
    NoLevels,
    /// The result would have more triangles than allowed.
    #[error(
        "{levels} levels would make {} triangles, and at most {most} are allowed: ask for fewer levels",
        counted(*triangles)
    )]
    TooLarge {
        /// How many levels were asked for.
        levels: usize,
        /// How many triangles that gives; `u64::MAX` also stands for more than that.
        triangles: u64,
        /// [`MOST_TRIANGLES`].
        most: u64,
    },
    /// A face names too few points, the same point twice, or a point that does not exist.
    #[error(
        "face {face} has corners {corners:?}: expected 3 or more different points below {point_count}"
    )]
    BadFace {
        /// Index of the face.
        face: usize,
        /// Its corners.
        corners: Vec<u32>,
        /// How many points there are.
        point_count: usize,
    },
    /// Loop's scheme was asked for, and a face is no triangle.
    #[error(
        "face {face} has {corners} corners: Loop's scheme needs triangles, Catmull-Clark takes all faces"
    )]
    NotTriangles {
        /// Index of the face.
        face: usize,
        /// How many corners it has.
        corners: usize,
    },
    /// A crease was asked for between points without an edge.
    #[error("points {a} and {b} cannot have a crease: there is no edge between them")]
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
    /// Two lists that must have the same length do not.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// The thing that was counted, in the plural.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The skin is not a sum of matrices times vectors, so subdividing and posing do not commute.
    #[error(
        "{program} cannot be subdivided: its posed points are not sums of matrices times vectors, so a skin with \
         more points cannot move as the subdivided mesh would; fit animation space or linear blend skinning instead"
    )]
    NotLinear {
        /// The kind of skin.
        program: &'static str,
    },
    /// The result would take more memory than allowed.
    #[error(transparent)]
    Memory(#[from] crate::limits::TooLarge),
    /// The subdivided skin is invalid.
    #[error(transparent)]
    Skin(#[from] SkinError),
}
