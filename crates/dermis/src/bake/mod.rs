//! Baking: carrying normals and colours of a detailed skinned surface to a coarser level of it.
//!
//! 1. [`match_surfaces`] finds, for every texel of the coarse surface's atlas, the point of the detailed surface that it
//!    shows; once, in the rest pose.
//! 2. [`NormalBake::bake`] makes a tangent-space normal map of one pose or the best over several, in the frames that
//!    engines make (MikkTSpace), and [`NormalBake::angles`] measures what it gains.
//! 3. [`ColorBake::bake`] carries colours and other textures over, of several materials into one atlas.
//!
//! [`SurfaceMap::object_normals`] is the exact, dynamic form of a normal map (\[Merry07\] §7.5's tangent map): it follows
//! wrinkles that no fixed map can, and costs a posed detailed mesh.

mod angles;
mod color;
mod field;
mod frames;
mod nearest;
mod normal_map;
mod object_normals;
mod surface;
#[cfg(test)]
mod testing;
mod texels;
mod texture;
mod tree;

pub use angles::{AngleStatistics, NormalAngles};
pub use color::{ColorBake, Encoding};
pub use field::Picture;
pub use frames::{FrameRule, Frames};
pub use nearest::{MatchOptions, MatchedRow, MatchedSample, Matching, SurfaceMap, match_surfaces};
pub use normal_map::{DetailNormals, NormalBake};
pub use surface::{BakeError, DrawnSurface, SurfacePoint};
pub use texels::{AtlasOptions, CoveredTexel};
pub use texture::{Texture, Wrap};
