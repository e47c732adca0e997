//! Numbers about a fit: how far it is from the examples.

use serde::{Deserialize, Serialize};

/// How well a skin meets some examples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Measures {
    /// How many examples were measured.
    pub example_count: usize,
    /// `1000 |A - A'|_F / sqrt(3NF)` with the rest mesh scaled to fit a unit ball tightly.
    pub e_rms: f64,
    /// Error over that of the best single-bone rigid prediction, in per cent; `None` when the
    /// rigid prediction is already exact.
    pub enveloping_error_percent: Option<f64>,
    /// Mean distance over the rest box's diagonal.
    pub mean_distance: f64,
    /// Largest distance over the rest box's diagonal.
    pub max_distance: f64,
    /// Mean angle between vertex normals, in degrees.
    pub mean_normal_angle_deg: f64,
    /// Largest angle between vertex normals, in degrees.
    pub max_normal_angle_deg: f64,
}
