//! A drawn mesh with the tangents that its normal map was made for.

use super::surfaces::Drawn;
use crate::bake::Frames;
use crate::mesh::DrawMesh;

/// The drawn mesh with tangents, and with vertices split where two tangents meet.
pub(super) fn with_tangents(draw: &DrawMesh, coarse: &Drawn, frames: &Frames) -> DrawMesh {
    let tangents = frames.gltf_tangents();
    let part_of = |vertex: u32| coarse.starts.partition_point(|&s| s <= vertex as usize) - 1;
    let old = coarse.points.len();
    let mut copies: Vec<Vec<u32>> = vec![Vec::new(); draw.parts.len()];
    // Where each copy is in its part.
    let mut places = vec![0; frames.origins.len() - old];
    for (copy, &origin) in frames.origins[old..].iter().enumerate() {
        let part = part_of(origin);
        places[copy] = draw.parts[part].points.len() + copies[part].len();
        copies[part].push((old + copy) as u32);
    }
    let mut first_triangle = 0;
    let parts = draw.parts.iter().enumerate().map(|(number, part)| {
        let start = coarse.starts[number];
        let local = |vertex: u32| match vertex as usize {
            vertex if vertex < old => (vertex - start) as u32,
            copy => places[copy - old] as u32,
        };
        let triangles = &frames.triangles[first_triangle..first_triangle + part.triangles.len()];
        first_triangle += part.triangles.len();
        let own = start as u32..coarse.starts[number + 1] as u32;
        let vertices: Vec<u32> = own.chain(copies[number].iter().copied()).collect();
        let origins = vertices.iter().map(|&v| frames.origins[v as usize]);
        let origins: Vec<u32> = origins.collect();
        let of_part: Vec<u32> = origins.iter().map(|&v| v - start as u32).collect();
        let mut split =
            part.with_copies(&of_part, triangles.iter().map(|t| t.map(local)).collect());
        let normal = |&v: &u32| coarse.normals[0][v as usize].as_vec3().to_array();
        split.normals = origins.iter().map(normal).collect();
        split.tangents = vertices.iter().map(|&v| tangents[v as usize]).collect();
        split
    });
    DrawMesh {
        parts: parts.collect(),
    }
}
