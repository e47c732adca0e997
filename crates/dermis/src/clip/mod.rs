//! Motions: keyed channels, sampled to poses; clips made from poses; fewer keys; bones whose matrices shear.

mod channels;
mod frames;
mod from_poses;
mod held;
mod key_spans;
mod keys;
mod moments;
mod moved;
mod nested;
mod nested_form;
mod reduce_keys;

pub use channels::{Channel, Clip};
pub use frames::MOST_FRAMES;
pub use keys::{Interpolation, Keys};
pub(crate) use moments::{Moments, carried};
pub(crate) use nested::{NestedKey, needs_two_nodes, split_track};
pub(crate) use nested_form::Nodes;
pub(crate) use reduce_keys::KeyReducer;
