//! A character and its crowd as the bytes that shaders read.

use bytemuck::{Pod, Zeroable};

use super::super::Character;

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

/// A drawn vertex, as shaders read it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct VertexEntry {
    uv: [f32; 2],
    becomes: u32,
    first_influence: u32,
}

/// All levels of a character, one after the other.
#[derive(Debug, Default)]
pub(super) struct PackedLevels {
    pub(super) levels: Vec<LevelEntry>,
    pub(super) draws: Vec<DrawEntry>,
    /// Corners of triangles, as drawn vertices.
    pub(super) corners: Vec<u32>,
    /// Drawn vertices, and one more that says where the last one's influences end.
    pub(super) vertices: Vec<VertexEntry>,
    /// Places of bones in a palette, vertex after vertex.
    pub(super) bones: Vec<u32>,
    /// Numbers of vertices: those before bones.
    pub(super) fixed: Vec<f32>,
    /// Numbers of influences.
    pub(super) of_bones: Vec<f32>,
    /// Places of the bones of each level, level after level.
    pub(super) level_bones: Vec<u32>,
    /// Numbers of a vertex before those of its bones, and of each bone.
    pub(super) counts: [usize; 2],
    /// The first vertex of each level, and their number.
    pub(super) first_vertices: Vec<u32>,
}

impl PackedLevels {
    pub(super) fn new(character: &Character) -> Self {
        let mut packed = Self {
            first_vertices: vec![0],
            ..Self::default()
        };
        for (number, level) in character.levels.iter().enumerate() {
            let own_bones = character.bones_of_level(number);
            packed.levels.push(LevelEntry {
                error: level.error,
                morphs: u32::from(character.can_morph(number)),
                first_bone: packed.level_bones.len() as u32,
                bones: own_bones.len() as u32,
            });
            packed.level_bones.extend(own_bones);
            let first = packed.first_vertices[number];
            let next = first + level.vertex_count() as u32;
            packed.first_vertices.push(next);
            let streams = &level.streams;
            packed.counts = streams.counts;
            for vertex in 0..level.vertex_count() {
                packed.vertices.push(VertexEntry {
                    uv: level.uvs[vertex],
                    becomes: level
                        .becomes
                        .get(vertex)
                        .map_or(first + vertex as u32, |goal| next + goal),
                    first_influence: packed.bones.len() as u32 + streams.starts[vertex],
                });
            }
            let place = |bone: &u16| character.moves.bones.binary_search(bone).unwrap_or(0) as u32;
            packed.bones.extend(streams.bones.iter().map(place));
            packed.fixed.extend(&streams.fixed);
            packed.of_bones.extend(&streams.of_bones);
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
                packed.corners.extend(corners.iter().map(|&v| first + v));
            }
        }
        packed.vertices.push(VertexEntry {
            uv: [0.0; 2],
            becomes: 0,
            first_influence: packed.bones.len() as u32,
        });
        packed
    }
}
