//! Levels as stored in the `DERMIS_skin` extension: what `MSFT_lod` and the meshes do not say about them.

use dermis::document::{Level, LevelRecord};
use dermis::mesh::DrawPart;
use serde::{Deserialize, Serialize};

use super::ProgramKind;
use crate::gltf::write::builder::Builder;

/// One level, in the order of `ids` in `MSFT_lod`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct LevelBlock {
    /// How far it is from the full character.
    #[serde(flatten)]
    pub(in crate::gltf) record: LevelRecord,
    /// The kind of its exact model.
    #[serde(default)]
    pub(in crate::gltf) program: ProgramKind,
    /// For each primitive of the level, in the order of the nodes that have levels, the number of the primitive of the
    /// full character, counted over the whole file, that it is a coarser form of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::gltf) primitives: Vec<usize>,
    /// Accessor: for each point of the level before, the point of this level that it becomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::gltf) becomes: Option<usize>,
}

/// Adds what each level's points become, and returns the levels' part of the block; `parts` are those of the full
/// character.
pub(in crate::gltf) fn add_levels(
    builder: &mut Builder,
    parts: &[DrawPart],
    levels: &[Level],
) -> Vec<LevelBlock> {
    let level = |level: &Level| {
        let drawn = (parts.iter().zip(&level.draw.parts)).filter(|(full, _)| is_drawn(full));
        let kept = drawn.enumerate().filter(|(_, (_, part))| is_drawn(part));
        LevelBlock {
            record: level.record,
            program: ProgramKind::of(&level.program).unwrap_or_default(),
            primitives: kept.map(|(number, _)| number).collect(),
            // glTF has no empty accessors.
            becomes: (!level.becomes.is_empty()).then(|| builder.numbers(&level.becomes).value()),
        }
    };
    levels.iter().map(level).collect()
}

fn is_drawn(part: &DrawPart) -> bool {
    !part.points.is_empty()
}
