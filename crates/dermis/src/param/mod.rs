//! Texture atlases for surfaces that move: charts, laid out flat with little stretch in all poses, and packed.
//!
//! Everything is worked out from one thing: the mean products of the two edges of each triangle over all poses
//! ([`EdgeProducts`]). They are the metric of a flat triangle, so every method that asks for lengths, angles or areas of
//! single triangles works over all poses when it is given them (\[Merry07\] §5.3). The steps, each in a file of its own:
//!
//! 1. charts that are nearly flat at rest, grown by merging triangles (`grow`; every chart is a disc by construction, see
//!    `charts`);
//! 2. charts joined as long as they can be flattened together (`join`), and their borders shortened (`straighten`);
//! 3. each chart flattened (`flatten`): a conformal map, then a descent that never flips a triangle;
//! 4. charts packed into a square (`pack`).

mod charts;
mod descend;
mod distortion;
mod elements;
mod flatten;
mod grow;
mod half_edges;
mod join;
mod layout;
mod lscm;
mod options;
mod overlap;
mod pack;
mod piece;
#[cfg(test)]
mod shapes;
mod straight_lines;
mod straighten;
mod stretch;
mod tutte;
mod unwrap;

pub use options::{TexelDensity, UnwrapError, UnwrapOptions};
pub use pack::PackError;
pub use piece::EdgeProducts;
pub use unwrap::{Atlas, ChartFacts, Surface, unwrap};
