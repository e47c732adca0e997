//! What glam lacks: the rotation nearest to a matrix, and the rigid motion nearest to point pairs.

mod polar;
mod rigid;

pub(crate) use polar::nearest_rotation;
pub(crate) use rigid::PointPairs;
