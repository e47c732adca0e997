//! Bones that nobody poses: their place follows from other bones.

use serde::{Deserialize, Serialize};

use super::BoneId;

/// A bone whose place follows from another bone's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DerivedBone {
    /// The bone that is placed.
    pub bone: BoneId,
    /// The bone whose joint it follows.
    pub of: BoneId,
    /// How it follows.
    pub motion: DerivedMotion,
}

/// How a derived bone follows a joint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum DerivedMotion {
    /// Turns a share of the joint's turn from its rest, about the same point.
    PartTurn {
        /// 0 stays with the parent, 1 with the bone; half-way by default.
        share: f64,
    },
    /// Scales across the bone by `1 + gain (1 − cos θ) / 2`, θ being the joint's turn from its rest.
    Swell {
        /// Scale at a half turn, less 1.
        gain: f64,
    },
}
