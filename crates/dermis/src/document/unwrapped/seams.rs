//! Edges that no chart may cross, as a file or a person marks them.

use glam::DVec2;

use crate::document::{Document, EditError};
use crate::mesh::DrawMesh;

/// Where seams come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum SeamSource {
    /// None are given: charts are found.
    #[default]
    None,
    /// Edges along which the first set of UVs is split.
    Uvs,
    /// Edges between parts, and so between materials.
    Materials,
    /// Edges along which normals are split.
    Creases,
    /// These edges, by the points of their ends in any order.
    Edges(Vec<[u32; 2]>),
}

/// Whether the edge after each corner is a seam: three for each triangle, parts one after the other.
pub(super) fn marked(document: &Document, source: &SeamSource) -> Result<Vec<bool>, EditError> {
    match source {
        SeamSource::None => return Ok(Vec::new()),
        // Without UVs there is nothing to take seams from.
        SeamSource::Uvs => drop(drawn_uvs(&document.draw)?),
        SeamSource::Materials | SeamSource::Creases | SeamSource::Edges(_) => {}
    }
    let seams = seams_of(document, source);
    let triangles = document.draw.point_triangles();
    let sides = triangles
        .into_iter()
        .flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]]);
    let is_seam = |edge| seams.binary_search(&sorted(edge)).is_ok();
    Ok(sides.map(is_seam).collect())
}

/// The edges that a document has as seams of a kind, for other documents with the same points: each once, with the lower
/// point first, in rising order.
pub fn seams_of(document: &Document, source: &SeamSource) -> Vec<[u32; 2]> {
    if let SeamSource::Edges(edges) = source {
        let mut seams: Vec<[u32; 2]> = edges.iter().map(|&edge| sorted(edge)).collect();
        seams.sort_unstable();
        seams.dedup();
        return seams;
    }
    // Both ends of an edge, as bits of what must agree on its two sides.
    let mut sides: Vec<([u32; 2], [u64; 2])> = Vec::new();
    for (number, part) in document.draw.parts.iter().enumerate() {
        let value = |v: u32| match source {
            SeamSource::Uvs => bits(part.uvs.first().and_then(|uvs| uvs.get(v as usize))),
            SeamSource::Creases => {
                let normal = part.normals.get(v as usize).copied().unwrap_or_default();
                hash(&normal.map(quantised))
            }
            _ => number as u64,
        };
        for corners in &part.triangles {
            for k in 0..3 {
                let ends = [corners[k], corners[(k + 1) % 3]];
                let points = ends.map(|v| part.points[v as usize]);
                let mut values = ends.map(value);
                if points[0] > points[1] {
                    values.swap(0, 1);
                }
                sides.push((sorted(points), values));
            }
        }
    }
    sides.sort_unstable();
    let mut seams = Vec::new();
    for edge in sides.chunk_by(|a, b| a.0 == b.0) {
        if edge.iter().any(|side| side.1 != edge[0].1) {
            seams.push(edge[0].0);
        }
    }
    seams
}

/// UVs of the corners of every triangle, v upwards.
pub(super) fn drawn_uvs(draw: &DrawMesh) -> Result<Vec<[DVec2; 3]>, EditError> {
    let mut all = Vec::new();
    for part in &draw.parts {
        let uvs = part
            .uvs
            .first()
            .filter(|uvs| uvs.len() == part.points.len());
        let Some(uvs) = uvs else {
            if part.triangles.is_empty() {
                continue;
            }
            return Err(EditError::NoUvs {
                mesh: part.mesh_name.clone(),
            });
        };
        let uv = |v: u32| {
            let [u, v] = uvs[v as usize].map(f64::from);
            DVec2::new(u, -v)
        };
        all.extend(part.triangles.iter().map(|corners| corners.map(uv)));
    }
    Ok(all)
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

fn bits(uv: Option<&[f32; 2]>) -> u64 {
    let [u, v] = uv.copied().unwrap_or_default().map(|x| (x + 0.0).to_bits());
    (u64::from(u) << 32) | u64::from(v)
}

/// Normals of one direction differ in their last bits in some files.
fn quantised(x: f32) -> i32 {
    (x * 1000.0).round() as i32
}

fn hash(values: &[i32; 3]) -> u64 {
    let part = |x: i32| (i64::from(x) + 4096) as u64 & 0x1f_ffff;
    part(values[0]) | (part(values[1]) << 21) | (part(values[2]) << 42)
}
