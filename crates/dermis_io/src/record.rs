//! The `DERMIS_skin` extension: how a skin was made and how well it fits.

use dermis::VertexProgram;
use dermis::measure::Measures;
use dermis::rig::{DerivedBone, JointLimits, JointStatistics};
use serde::{Deserialize, Serialize};

use crate::{BoundsRecord, DriverRecord, ProxyRecord};

/// What the `DERMIS_skin` extension says about a skin.
///
/// It hangs on the glTF skin, is never required, and is versioned: a reader takes every version
/// up to its own [`SkinRecord::VERSION`].
///
/// Bones are numbered as in the [`Skin`](dermis::Skin) of the same document. In the file they are
/// numbered as in the `joints` of the glTF skin; reading and writing translate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkinRecord {
    /// Version of this block; the writer sets its own.
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
    /// The kind of the exact model; the writer takes it from the skin. Version 1 had only `ssd`.
    #[serde(default)]
    pub program: ProgramKind,
    /// How far the plain skin in the file is from the exact model, when the two differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FallbackError>,
    /// How well the plain skin in the file meets the examples, when it is not the exact model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_training: Option<Measures>,
    /// How well plain skins that were made without some examples meet those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_held_out: Option<Measures>,
    /// Bones that nobody poses; the writer takes them from the skin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<DerivedBone>,
    /// What places the last bones from the others; the writer takes it from the skin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxies: Option<ProxyRecord>,
    /// What sets morph targets from the pose; the writer takes them from the skin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drivers: Vec<DriverRecord>,
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

/// The kinds of model that a file can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProgramKind {
    /// Linear blend skinning: the plain glTF skin itself.
    #[default]
    Ssd,
    /// Animation-space vectors, in `_AS_n`.
    Linear,
    /// Twelve weights per influence, in `_MW_n`.
    MultiWeight,
    /// Blended rigid motions, with the weights of the plain glTF skin.
    DualQuaternion,
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

impl SkinRecord {
    /// Name of the extension.
    pub const EXTENSION: &'static str = "DERMIS_skin";
    /// The version that this build writes.
    pub const VERSION: u32 = 4;
}

impl Default for SkinRecord {
    /// A linear blend skin of this build of which nothing else is known.
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            generator: concat!("dermis ", env!("CARGO_PKG_VERSION")).to_owned(),
            method: "ssd".to_owned(),
            max_influences: 0,
            training: None,
            held_out: None,
            program: ProgramKind::Ssd,
            fallback: None,
            plain_training: None,
            plain_held_out: None,
            derived: Vec::new(),
            proxies: None,
            drivers: Vec::new(),
            joints: Vec::new(),
            limits: Vec::new(),
            bounds: None,
        }
    }
}

impl ProgramKind {
    /// The kind of a vertex program; `None` for one that this build cannot write.
    pub fn of(program: &VertexProgram) -> Option<Self> {
        match program {
            VertexProgram::Ssd(_) => Some(Self::Ssd),
            VertexProgram::Linear(_) => Some(Self::Linear),
            VertexProgram::MultiWeight(_) => Some(Self::MultiWeight),
            VertexProgram::DualQuaternion(_) => Some(Self::DualQuaternion),
            _ => None,
        }
    }

    /// The name that files use.
    pub fn key(self) -> &'static str {
        match self {
            Self::Ssd => "ssd",
            Self::Linear => "linear",
            Self::MultiWeight => "multi-weight",
            Self::DualQuaternion => "dual-quaternion",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_one_name() {
        use ProgramKind::{DualQuaternion, Linear, MultiWeight, Ssd};
        for kind in [Ssd, Linear, MultiWeight, DualQuaternion] {
            let json = serde_json::to_value(kind).expect("a name is JSON");
            assert_eq!(json, kind.key(), "the same in messages and in files");
        }
    }

    #[test]
    fn a_version_1_block_is_a_linear_blend_skin() {
        let text = r#"{"version":1,"generator":"g","method":"ssd","maxInfluences":4}"#;
        let record: SkinRecord = serde_json::from_str(text).expect("version 1");
        assert_eq!(record.program, ProgramKind::Ssd, "the only kind it had");
        assert!(
            record.derived.is_empty() && record.drivers.is_empty() && record.joints.is_empty(),
            "nothing else was known"
        );
        assert_eq!(record.proxies, None, "nor what came later");
    }
}
