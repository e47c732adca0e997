//! Packing of flat charts into one square atlas.
//!
//! `outline` finds the border of a chart, `mask` draws it on a grid of cells, `sheet` finds free places for a mask
//! 64 at a time, `place` puts charts one after the other into the lowest holes, `search` looks for the order and the
//! scale, and `atlas` is the entry.

mod atlas;
mod mask;
mod outline;
mod place;
mod search;
mod sheet;
#[cfg(test)]
mod tests;

pub use atlas::PackError;
pub(crate) use atlas::{PackOptions, Rotations, pack};
pub(crate) use outline::{FlatChart, sides_of_rectangle};
