//! One configuration of a skeleton.

use glam::DAffine3;

/// The transform of every bone in its parent, and the value of every slider.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pose {
    /// `L_j`, one matrix per bone.
    pub parent_from_bone: Vec<DAffine3>,
    /// One number per correction of the skin (a morph target's weight); a missing one means the correction's default.
    pub coefficients: Vec<f64>,
}

impl Pose {
    /// A pose without coefficients.
    pub fn new(parent_from_bone: Vec<DAffine3>) -> Self {
        Self {
            parent_from_bone,
            coefficients: Vec::new(),
        }
    }
}
