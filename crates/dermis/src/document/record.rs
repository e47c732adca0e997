//! How a skin was made and how well it fits: what travels with it from file to file.

use serde::{Deserialize, Serialize};

use super::BoundsRecord;
use crate::joint::{JointLimits, JointStatistics};
use crate::measure::Measures;

/// What is known of a skin beside the skin itself.
///
/// Bones are numbered as in the [`Skin`](crate::Skin) of the same document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkinRecord {
    /// The program that made it, with its version.
    pub generator: String,
    /// The fitting method, such as `ssd`.
    pub method: String,
    /// How well the skin meets the examples that it was fitted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Measures>,
    /// How well it meets examples that it has not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<Measures>,
    /// How far the plain skin in the file is from the exact model, when the two differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FallbackError>,
    /// How well the plain skin in the file meets the examples, when it is not the exact model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_training: Option<Measures>,
    /// How well plain skins that were made without some examples meet those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_held_out: Option<Measures>,
    /// How far each joint went in the poses that the skin was fitted to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<JointStatistics>,
    /// What each joint may do, where that was given; bounds hold within it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<JointLimits>,
    /// Spheres that hold the skin.
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
    /// A linear blend skin of this build of which nothing else is known.
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
