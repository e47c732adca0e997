//! How a skin was made and how well it fits: a record that is stored with it in files.

use serde::{Deserialize, Serialize};

use super::BoundsRecord;
use crate::joint::{JointLimits, JointStatistics};
use crate::measure::Measures;

/// Facts about a skin that are not part of the skin itself.
///
/// Bones are numbered as in the [`Skin`](crate::Skin) of the same document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkinRecord {
    /// The program that made it, with its version.
    pub generator: String,
    /// The fitting method, such as `ssd`.
    pub method: String,
    /// The error on the examples that the skin was fitted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Measures>,
    /// The error on held-out examples (kept from the fit and used only to test it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<Measures>,
    /// How far the plain skin in the file is from the exact model, when the two differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FallbackError>,
    /// The error of the plain skin in the file on the examples, when it is not the exact model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_training: Option<Measures>,
    /// The error of the plain skin on held-out examples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_held_out: Option<Measures>,
    /// The range of each joint in the poses that the skin was fitted to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<JointStatistics>,
    /// Limits of each joint, where given; the bounds hold within them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<JointLimits>,
    /// Bounding spheres of the skin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<BoundsRecord>,
}

/// Distance between the plain skin of a file and the exact model, over the poses that the plain
/// one was fitted to, as shares of the rest box's diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FallbackError {
    /// Root mean square.
    pub rms: f64,
    /// Largest.
    pub max: f64,
}

impl Default for SkinRecord {
    /// The record of a linear blend skin made by this build, without any further facts.
    fn default() -> Self {
        Self {
            generator: concat!("dermis ", env!("CARGO_PKG_VERSION")).to_owned(),
            method: "ssd".to_owned(),
            training: None,
            held_out: None,
            fallback: None,
            plain_training: None,
            plain_held_out: None,
            joints: Vec::new(),
            limits: Vec::new(),
            bounds: None,
        }
    }
}
