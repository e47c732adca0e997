//! Mathematics that glam lacks: the rotation nearest to a matrix, singular values, rotations as vectors, the rigid
//! motion nearest to point pairs; repeatable random numbers; units of length without overflow.

mod log_map;
mod orthogonal_columns;
mod polar;
mod random;
mod rigid;
mod unit_size;

pub(crate) use log_map::{nearest_branch, rotation_vector};
pub(crate) use orthogonal_columns::{largest_stretch, orthogonal_columns};
pub(crate) use polar::nearest_rotation;
pub(crate) use random::Random;
pub(crate) use rigid::PointPairs;
pub(crate) use unit_size::unit_factor;
