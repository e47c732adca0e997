//! The matrices of one pose.

use glam::DAffine3;

/// `G_j` for every bone: the part of a pose that the vertex program uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Palette {
    /// Takes each bone's frame to model space.
    pub model_from_bone: Vec<DAffine3>,
}
