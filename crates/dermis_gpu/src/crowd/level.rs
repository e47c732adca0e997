//! One level of a character, as a crowd draws it.

use std::collections::HashMap;
use std::ops::Range;

use dermis::Skin;
use dermis::TriMesh;
use dermis::mesh::{DrawMesh, vertex_normals};
use dermis::run::{BLOCK, Normals, PackOptions, PackedSkin, Plane};
use glam::DVec3;

use super::CrowdError;

/// A level, packed for drawing.
#[derive(Debug, Clone)]
pub struct CrowdLevel {
    /// The drawn vertices, packed with normals.
    pub packed: PackedSkin,
    /// Corners of all triangles, part after part, as drawn vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Which triangles each part of the document has, in its order.
    pub parts: Vec<Range<usize>>,
    /// `TEXCOORD_0` of each drawn vertex; zeros where a part has none.
    pub uvs: Vec<[f32; 2]>,
    /// The drawn vertex of the next level that each drawn vertex becomes; empty when nobody knows, and for the coarsest level.
    pub becomes: Vec<u32>,
    /// Bones that move its vertices, by rising number.
    pub bones: Vec<u16>,
    /// How far the full character is from it, in model units: no error that is seen is larger. 0 for the full character.
    pub error: f32,
    /// Bones that act on each drawn vertex, summed over all.
    pub influences: u64,
    /// The same for what the vertices become: the work that blending into the next level adds.
    pub morph_influences: u64,
    /// What the vertex stage reads of each drawn vertex.
    pub(super) streams: VertexStreams,
    /// The point that each drawn vertex copies.
    points: Vec<u32>,
    part_of_vertex: Vec<u32>,
}

impl CrowdLevel {
    /// Packs a level; `skin` moves the points of `mesh`, and `draw` is how they are drawn.
    pub(super) fn new(skin: &Skin, mesh: &TriMesh, draw: &DrawMesh) -> Result<Self, CrowdError> {
        let plain;
        let draw = match draw.parts.is_empty() {
            true => {
                plain = DrawMesh::plain("mesh", mesh.vertex_count(), mesh.triangles());
                &plain
            }
            false => draw,
        };
        let smooth = vertex_normals(mesh.positions(), mesh.triangles());
        let count = draw.vertex_count();
        let (mut points, mut part_of_vertex) =
            (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut normals, mut uvs) = (Vec::with_capacity(count), vec![[0.0; 2]; count]);
        let (mut triangles, mut parts) = (Vec::new(), Vec::new());
        for (number, part) in draw.parts.iter().enumerate() {
            let first = points.len();
            points.extend_from_slice(&part.points);
            part_of_vertex.resize(points.len(), number as u32);
            normals.extend(part.points.iter().map(|&p| smooth[p as usize]));
            for (own, given) in normals[first..].iter_mut().zip(&part.normals) {
                *own = DVec3::from(given.map(f64::from)).normalize_or_zero();
            }
            for (own, given) in uvs[first..].iter_mut().zip(part.uvs.iter().flatten()) {
                *own = *given;
            }
            let begin = triangles.len();
            triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + first as u32)));
            parts.push(begin..triangles.len());
        }
        let drawn = Skin {
            program: skin.program.copied(&points),
            ..skin.clone()
        };
        let options = PackOptions {
            normals: Normals::Rest(normals),
            ..PackOptions::default()
        };
        let packed = PackedSkin::new(&drawn, &options)?;
        let streams = VertexStreams::new(&packed);
        let mut bones = streams.bones.clone();
        bones.sort_unstable();
        bones.dedup();
        Ok(Self {
            influences: streams.bones.len() as u64,
            streams,
            morph_influences: 0,
            packed,
            triangles,
            parts,
            uvs,
            becomes: Vec::new(),
            bones,
            error: 0.0,
            points,
            part_of_vertex,
        })
    }

    /// How many vertices are drawn.
    pub fn vertex_count(&self) -> usize {
        self.points.len()
    }

    /// Joins the level to the next one: `becomes` has the point of the next level that each point becomes. Of the drawn
    /// vertices of that point, each goes to one of the same part with the nearest texture coordinate.
    pub(super) fn join(&mut self, next: &Self, becomes: &[u32]) {
        let mut copies: HashMap<u32, Vec<u32>> = HashMap::new();
        for (vertex, &point) in next.points.iter().enumerate() {
            copies.entry(point).or_default().push(vertex as u32);
        }
        let goal = |vertex: usize| {
            let point = *becomes.get(self.points[vertex] as usize)?;
            let uv = self.uvs[vertex];
            let far = |candidate: &u32| {
                let other = next.uvs[*candidate as usize];
                let elsewhere =
                    next.part_of_vertex[*candidate as usize] != self.part_of_vertex[vertex];
                let (du, dv) = (other[0] - uv[0], other[1] - uv[1]);
                (elsewhere, du * du + dv * dv)
            };
            let nearer = |a: &&u32, b: &&u32| {
                let (a, b) = (far(a), far(b));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            };
            copies.get(&point)?.iter().min_by(nearer).copied()
        };
        let goals: Option<Vec<u32>> = (0..self.points.len()).map(goal).collect();
        // A point that nothing of the next level draws: the change then happens at once.
        self.becomes = goals.unwrap_or_default();
        let acting = |&vertex: &u32| next.streams.influences(vertex as usize).len() as u64;
        self.morph_influences = self.becomes.iter().map(acting).sum();
    }
}

/// The blocks of a skin that was packed in 32 bits, as all here are.
fn packed_blocks(
    packed: &PackedSkin,
) -> impl ExactSizeIterator<Item = dermis::run::PackedBlock<'_>> {
    packed.blocks().expect("packed at full precision")
}

/// What a skin's blocks have, vertex by vertex: a vertex stage does one vertex at a time, and blocks of small levels join
/// vertices of many bones, most of which have weight 0.
#[derive(Debug, Clone, Default)]
pub(super) struct VertexStreams {
    /// Numbers before those of bones, of a vertex and of each bone: position and normal, and a weight; or nothing, and an
    /// animation-space vector and a normal.
    pub(super) counts: [usize; 2],
    /// The first kind, vertex after vertex.
    pub(super) fixed: Vec<f32>,
    /// Where the bones of each vertex begin; one more than there are vertices.
    pub(super) starts: Vec<u32>,
    /// Bones, vertex after vertex.
    pub(super) bones: Vec<u16>,
    /// The second kind, bone after bone.
    pub(super) of_bones: Vec<f32>,
}

impl VertexStreams {
    fn new(packed: &PackedSkin) -> Self {
        let blocks: Vec<_> = packed_blocks(packed).collect();
        let mut streams = Self {
            counts: blocks.first().map_or([0; 2], |block| block.plane_counts),
            starts: vec![0],
            ..Self::default()
        };
        for slot in packed.slots() {
            let (block, lane) = (&blocks[slot as usize / BLOCK], slot as usize % BLOCK);
            let number = |plane: &Plane| plane.0[lane];
            streams
                .fixed
                .extend(block.fixed_planes().iter().map(number));
            for (bone, planes) in block.bone_planes() {
                if planes.iter().any(|plane| number(plane) != 0.0) {
                    streams.bones.push(bone as u16);
                    streams.of_bones.extend(planes.iter().map(number));
                }
            }
            streams.starts.push(streams.bones.len() as u32);
        }
        streams
    }

    /// Which of the bones act on a vertex.
    pub(super) fn influences(&self, vertex: usize) -> Range<usize> {
        self.starts[vertex] as usize..self.starts[vertex + 1] as usize
    }
}
