//! A character and its crowd as the bytes that shaders read.

use bytemuck::{Pod, Zeroable};
use dermis::run::BLOCK;

use super::super::level::packed_blocks;
use super::super::{Character, CrowdError};

/// One level, as shaders read it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LevelEntry {
    error: f32,
    morphs: u32,
    first_bone: u32,
    bones: u32,
}

/// The triangles of one part of one level.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct DrawEntry {
    pub(super) level: u32,
    corners: u32,
    first_corner: u32,
    pub(super) part: u32,
}

/// A vertex slot, as shaders read it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct VertexEntry {
    uv: [f32; 2],
    becomes: u32,
    unused: u32,
}

/// All levels of a character, one after the other: vertices are numbered by their slots in blocks of sixteen.
#[derive(Debug, Default)]
pub(super) struct PackedLevels {
    pub(super) levels: Vec<LevelEntry>,
    pub(super) draws: Vec<DrawEntry>,
    /// Corners of triangles, as slots.
    pub(super) corners: Vec<u32>,
    pub(super) vertices: Vec<VertexEntry>,
    pub(super) starts: Vec<u32>,
    /// Places of bones in a palette, block after block.
    pub(super) bones: Vec<u32>,
    pub(super) planes: Vec<f32>,
    /// Places of the bones of each level, level after level.
    pub(super) level_bones: Vec<u32>,
    /// Planes of a block before those of its bones, and of each bone.
    pub(super) plane_counts: [usize; 2],
    /// The first slot of each level, and their number.
    pub(super) first_slots: Vec<u32>,
}

impl PackedLevels {
    pub(super) fn new(character: &Character) -> Result<Self, CrowdError> {
        let mut packed = Self {
            starts: vec![0],
            ..Self::default()
        };
        let mut first_slots = vec![0];
        for level in &character.levels {
            let blocks = packed_blocks(&level.packed);
            first_slots.push(first_slots[first_slots.len() - 1] + (blocks.len() * BLOCK) as u32);
        }
        for (number, level) in character.levels.iter().enumerate() {
            let own_bones = character.bones_of_level(number);
            packed.levels.push(LevelEntry {
                error: level.error,
                morphs: u32::from(character.can_morph(number)),
                first_bone: packed.level_bones.len() as u32,
                bones: own_bones.len() as u32,
            });
            packed.level_bones.extend(own_bones);
            for block in packed_blocks(&level.packed) {
                packed.plane_counts = block.plane_counts;
                let place =
                    |bone: &u16| character.moves.bones.binary_search(bone).unwrap_or(0) as u32;
                packed.bones.extend(block.bones.iter().map(place));
                packed.starts.push(packed.bones.len() as u32);
                packed
                    .planes
                    .extend(block.planes.iter().flat_map(|plane| plane.0));
            }
            let slots = level.packed.slots();
            let first = first_slots[number];
            let goals = character
                .levels
                .get(number + 1)
                .map(|next| next.packed.slots());
            let own = level
                .packed
                .vertex_order()
                .enumerate()
                .map(|(slot, vertex)| {
                    let vertex = vertex.unwrap_or(0) as usize;
                    let goal = level.becomes.get(vertex).zip(goals.as_ref());
                    VertexEntry {
                        uv: level.uvs.get(vertex).copied().unwrap_or_default(),
                        becomes: match goal {
                            Some((&goal, goals)) => first_slots[number + 1] + goals[goal as usize],
                            None => first + slot as u32,
                        },
                        unused: 0,
                    }
                });
            packed.vertices.extend(own);
            for (part, range) in level.parts.iter().enumerate() {
                if range.is_empty() {
                    continue;
                }
                packed.draws.push(DrawEntry {
                    level: number as u32,
                    corners: 3 * range.len() as u32,
                    first_corner: packed.corners.len() as u32,
                    part: part as u32,
                });
                let corners = level.triangles[range.clone()].as_flattened();
                packed
                    .corners
                    .extend(corners.iter().map(|&v| first + slots[v as usize]));
            }
        }
        packed.first_slots = first_slots;
        Ok(packed)
    }
}
