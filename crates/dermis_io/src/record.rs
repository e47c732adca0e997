//! The `DERMIS_skin` extension: how a skin was made and how well it fits.

use dermis::measure::Measures;
use serde::{Deserialize, Serialize};

/// What the `DERMIS_skin` extension says about a skin.
///
/// It hangs on the glTF skin, is never required, and is versioned: a reader takes every version
/// up to its own [`SkinRecord::VERSION`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkinRecord {
    /// Version of this block.
    pub version: u32,
    /// The program that wrote it, with its version.
    pub generator: String,
    /// The fitting method, such as `ssd`.
    pub method: String,
    /// Most bones that act on one vertex of the exact model.
    pub max_influences: usize,
    /// How well the skin meets the examples that it was fitted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Measures>,
    /// How well it meets examples that it has not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<Measures>,
}

impl SkinRecord {
    /// Name of the extension.
    pub const EXTENSION: &'static str = "DERMIS_skin";
    /// The version that this build writes.
    pub const VERSION: u32 = 1;
}
