//! A level as the rest of the program knows it: mesh, drawn mesh, vertex program.

use std::collections::BTreeMap;

use glam::DVec3;

use super::attributes::creased_normals;
use super::snapshot::Snapshot;
use super::vertices::{LevelVertex, Placement};
use crate::mesh::{DrawMesh, DrawPart, TriMesh};
use crate::skin::{
    Correction, Delta, DualQuaternionProgram, LinearProgram, Skin, SsdProgram, VertexProgram,
    Weight,
};

/// The mesh, its drawn form and the program of a level.
pub(super) fn extract(
    snapshot: &Snapshot,
    given: &DrawMesh,
    skin: &Skin,
    placement: Placement,
) -> Result<(TriMesh, DrawMesh, VertexProgram), super::LodError> {
    let vertices: Vec<&LevelVertex> = (snapshot.points.iter())
        .map(|&point| &snapshot.model.vertices[point as usize])
        .collect();
    let rest: Vec<DVec3> = vertices.iter().map(|vertex| vertex.rest).collect();
    let mesh = TriMesh::new(rest, snapshot.faces.clone())?;
    let drawn = |(number, part)| drawn_part(snapshot, number as u32, part, &mesh);
    let draw = match snapshot.is_whole {
        true => given.clone(),
        false => DrawMesh {
            parts: given.parts.iter().enumerate().map(drawn).collect(),
        },
    };
    Ok((mesh, draw, program(&vertices, skin, placement)))
}

fn program(vertices: &[&LevelVertex], skin: &Skin, placement: Placement) -> VertexProgram {
    let mut shapes: Vec<Vec<Delta<DVec3>>> = vec![Vec::new(); skin.coefficients.len()];
    for (index, vertex) in vertices.iter().enumerate() {
        for &(m, value) in &vertex.shapes {
            shapes[m as usize].push(Delta {
                index: index as u32,
                value,
            });
        }
    }
    if placement == Placement::Free {
        let mut program = VertexProgram::Linear(LinearProgram {
            influences: vertices.iter().map(|v| v.influences.clone()).collect(),
            corrections: Vec::new(),
        });
        program.push_corrections(&skin.skeleton, shapes);
        return program;
    }
    let weights = |vertex: &&LevelVertex| -> Vec<Weight> {
        let own = vertex.influences.iter();
        own.map(|i| Weight {
            bone: i.bone,
            weight: i.p.w,
        })
        .collect()
    };
    let weighted = SsdProgram {
        rest_positions: vertices.iter().map(|vertex| vertex.rest).collect(),
        weights: vertices.iter().map(weights).collect(),
        corrections: (shapes.into_iter())
            .map(|deltas| Correction { deltas })
            .collect(),
    };
    match &skin.program {
        VertexProgram::DualQuaternion(_) => {
            VertexProgram::DualQuaternion(DualQuaternionProgram { weighted })
        }
        _ => VertexProgram::Ssd(weighted),
    }
}

/// What is left of a part. Tangents are left out: they belong to another surface, and engines make their own.
fn drawn_part(snapshot: &Snapshot, number: u32, given: &DrawPart, level: &TriMesh) -> DrawPart {
    let mesh = &snapshot.model.mesh;
    let layout = &mesh.layouts[number as usize];
    let mut part = DrawPart {
        mesh_name: given.mesh_name.clone(),
        material: given.material,
        ..DrawPart::default()
    };
    let faces = (0..mesh.faces.len())
        .filter(|&face| mesh.is_alive[face] && mesh.part_of_face[face] == number)
        .map(|face| mesh.faces[face]);
    let faces: Vec<[u32; 3]> = faces.collect();
    let point = |wedge: u32| snapshot.number[mesh.point_of_wedge[wedge as usize] as usize];
    // Where normals are made of faces, a wedge is drawn once for each that it has.
    let made = layout.crease_cosine.map(|crease| {
        let corners: Vec<[u32; 3]> = faces.iter().map(|face| face.map(point)).collect();
        creased_normals(level.positions(), &corners, crease)
    });
    let mut vertex_of = BTreeMap::new();
    let (mut wedges, mut normals) = (Vec::new(), Vec::new());
    for (f, face) in faces.iter().enumerate() {
        part.triangles.push([0, 1, 2].map(|k| {
            let normal = made.as_ref().map(|made| made[f][k].as_vec3().to_array());
            let key = (face[k], normal.map(|normal| normal.map(f32::to_bits)));
            *vertex_of.entry(key).or_insert_with(|| {
                wedges.push(face[k]);
                normals.extend(normal);
                wedges.len() as u32 - 1
            })
        }));
    }
    part.points = wedges.iter().map(|&wedge| point(wedge)).collect();
    let rows: Vec<&[f64]> = wedges.iter().map(|&wedge| mesh.values(wedge)).collect();
    layout.write(given, &rows, &mut part);
    if made.is_some() {
        part.normals = normals;
    }
    part
}
