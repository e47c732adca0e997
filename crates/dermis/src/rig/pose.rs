//! One configuration of a skeleton.

use glam::DAffine3;

/// Where every bone stands in its parent, and how far every slider is pushed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pose {
    /// `L_j`, one matrix per bone.
    pub parent_from_bone: Vec<DAffine3>,
    /// One number per correction of the skin (a morph target's weight); missing ones count as
    /// the correction's default.
    pub coefficients: Vec<f64>,
}

impl Pose {
    /// A pose of bones alone.
    pub fn new(parent_from_bone: Vec<DAffine3>) -> Self {
        Self {
            parent_from_bone,
            coefficients: Vec::new(),
        }
    }
}
