//! The matrices of one pose.

use glam::DAffine3;

/// `G_j` for every bone: what the vertex program needs to know about a pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Palette {
    /// Takes each bone's frame to model space.
    pub model_from_bone: Vec<DAffine3>,
}
