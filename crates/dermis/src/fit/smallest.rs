//! Which of several skins to take: the smallest of those that are as good as the best.

use crate::measure::Cost;
use crate::skin::Skin;

/// How much larger than the lowest an error may be for a smaller skin to be preferred: a difference that is
/// invisible, and that other examples might reverse.
const AS_GOOD: f64 = 1.05;
/// Errors below this `E_RMS` are rounding, and count as equal.
const ROUNDING: f64 = 1e-3;

/// What a skin is chosen by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rating {
    /// Its `E_RMS` on examples that were held out.
    pub(super) e_rms: f64,
    /// Bytes per vertex, with its share of what all vertices use.
    pub(super) bytes: f64,
}

/// The largest `E_RMS` that is as good as the lowest.
pub(super) fn as_good_as(lowest: f64) -> f64 {
    AS_GOOD * lowest.max(ROUNDING)
}

/// Number of the smallest of those whose error is within the limit; of two of one size the first.
pub(super) fn smallest_within(limit: f64, ratings: &[Rating]) -> Option<usize> {
    let within = (0..ratings.len()).filter(|&n| ratings[n].e_rms <= limit);
    within.min_by(|&a, &b| ratings[a].bytes.total_cmp(&ratings[b].bytes))
}

/// Bytes of a skin for each vertex, with its share of the data that all vertices use: drivers, and the data that place
/// proxy bones.
pub(super) fn whole_bytes_per_vertex(skin: &Skin, vertex_count: usize) -> f64 {
    let cost = Cost::of(skin);
    let shared = (cost.driver_bytes + cost.proxy_bytes) as f64;
    cost.bytes_per_vertex + shared / vertex_count.max(1) as f64
}
