//! The `DERMIS_skin` extension: reading and writing in one place.
//!
//! `docs/format.md` describes it. [`SkinBlock`] is its JSON; large numbers are in accessors that it names.

mod driver_record;
mod level_record;
mod progressive_record;
mod proxy_record;
pub(super) mod read;
mod read_proxies;
pub(super) mod write;
mod write_proxies;

use dermis::VertexProgram;
use dermis::rig::DerivedBone;
use serde::{Deserialize, Serialize};

#[cfg(test)]
pub(super) use driver_record::ControlRecord;
pub(super) use driver_record::DriverRecord;
pub(super) use level_record::LevelBlock;
pub(super) use progressive_record::{ProgressiveBlock, ProgressivePartBlock};
pub(super) use proxy_record::ProxyRecord;

use crate::SkinRecord;

/// The block on the first glTF skin.
///
/// It is never required, and is versioned: a reader takes every version up to its own [`SkinBlock::VERSION`]. In
/// the file bones are numbered as in the `joints` of the glTF skin; reading and writing translate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SkinBlock {
    /// Version of the block.
    pub(super) version: u32,
    /// How the skin was made and how well it fits.
    #[serde(flatten)]
    pub(super) record: SkinRecord,
    /// Most bones that act on one vertex of the exact model.
    pub(super) max_influences: usize,
    /// The kind of the exact model. Version 1 had only `ssd`.
    #[serde(default)]
    pub(super) program: ProgramKind,
    /// Bones that follow one joint each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) derived: Vec<DerivedBone>,
    /// Proxy bones, which predictors compute from the other bones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) proxies: Option<ProxyRecord>,
    /// Functions of the pose that set morph targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) drivers: Vec<DriverRecord>,
    /// Coarser forms of the character. Readers that do not know them show the full one, so they are no new version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) levels: Vec<LevelBlock>,
    /// Every step of the simplification, which readers that do not know it ignore, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) progressive: Option<ProgressiveBlock>,
}

impl SkinBlock {
    /// Name of the extension.
    pub(super) const EXTENSION: &'static str = "DERMIS_skin";
    /// The version that this build writes.
    pub(super) const VERSION: u32 = 4;
}

/// The kinds of model that a file can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProgramKind {
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

impl ProgramKind {
    /// The kind of a vertex program; `None` for one that this build cannot write.
    pub(super) fn of(program: &VertexProgram) -> Option<Self> {
        match program {
            VertexProgram::Ssd(_) => Some(Self::Ssd),
            VertexProgram::Linear(_) => Some(Self::Linear),
            VertexProgram::MultiWeight(_) => Some(Self::MultiWeight),
            VertexProgram::DualQuaternion(_) => Some(Self::DualQuaternion),
            _ => None,
        }
    }

    /// A note for a file that was written with this kind, of which another one was read.
    pub(super) fn note_of_other(self, read: &VertexProgram) -> Option<String> {
        let kind = Self::of(read).unwrap_or_default();
        (self != kind).then(|| {
            format!(
                "the file was written with a {} skin; a {} skin was read",
                self.key(),
                kind.key()
            )
        })
    }

    /// The name that files use.
    pub(super) fn key(self) -> &'static str {
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
        let block: SkinBlock = serde_json::from_str(text).expect("version 1");
        assert_eq!(block.program, ProgramKind::Ssd, "the only kind it had");
        assert!(
            block.derived.is_empty() && block.drivers.is_empty() && block.record.joints.is_empty(),
            "all other fields are empty"
        );
        assert_eq!(block.proxies, None, "version 1 had no proxies");
    }
}
