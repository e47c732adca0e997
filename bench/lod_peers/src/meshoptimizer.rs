//! What meshoptimizer makes of a character: in rest pose, with poses as attributes, with weights that it solves for.

use dermis::skin::{Skin, SsdProgram, VertexProgram, Weight};
use dermis_io::Document;
use glam::DVec3;
use meshopt::{SimplifyOptions, VertexDataAdapter};

use crate::character::Character;

pub fn at_rest(document: &Document, target: usize) -> Vec<[u32; 3]> {
    let (positions, indices) = buffers(document);
    let bytes = meshopt::typed_to_bytes(&positions);
    let vertices = VertexDataAdapter::new(bytes, 12, 0).expect("three floats");
    let options = SimplifyOptions::None;
    let found = meshopt::simplify(&indices, &vertices, 3 * target, f32::MAX, options, None);
    faces(&found)
}

/// Positions in up to ten poses as attributes: 30 of the 32 that it takes.
pub fn with_poses(character: &Character, weight: f32, target: usize) -> Vec<[u32; 3]> {
    let Character {
        document,
        skin,
        seen,
        ..
    } = character;
    let (positions, indices) = buffers(document);
    let step = seen.len().div_ceil(10).max(1);
    let posed = |pose| skin.evaluate(pose).expect("a pose of the skeleton");
    let used: Vec<Vec<DVec3>> = seen.iter().step_by(step).map(posed).collect();
    let of_vertex = |i: usize| {
        used.iter()
            .flat_map(move |shape| shape[i].as_vec3().to_array())
    };
    let attributes: Vec<f32> = (0..positions.len()).flat_map(of_vertex).collect();
    let weights = vec![weight / skin.size().unwrap_or(1.0) as f32; 3 * used.len()];
    let bytes = meshopt::typed_to_bytes(&positions);
    let vertices = VertexDataAdapter::new(bytes, 12, 0).expect("three floats");
    let found = meshopt::simplify_with_attributes_and_locks(
        &indices,
        &vertices,
        &attributes,
        &weights,
        12 * used.len(),
        &vec![false; positions.len()],
        3 * target,
        f32::MAX,
        SimplifyOptions::None,
        None,
    );
    faces(&found)
}

/// Weights as attributes, solved for together with positions.
pub fn with_solved_weights(
    character: &Character,
    weight: f32,
    target: usize,
) -> (Vec<[u32; 3]>, Skin) {
    let (mut positions, mut indices) = buffers(&character.document);
    let bones = character.skin.skeleton.bone_count();
    let mut attributes = vec![0.0f32; bones * positions.len()];
    for (i, row) in character.program.weights.iter().enumerate() {
        for w in row {
            attributes[i * bones + w.bone.index()] += w.weight as f32;
        }
    }
    let found = meshopt::simplify_with_update(
        &mut indices,
        &mut positions,
        &mut attributes,
        &vec![weight; bones],
        4 * bones,
        None,
        3 * target,
        f32::MAX,
        SimplifyOptions::None,
        None,
    );
    let solved = SsdProgram {
        weights: attributes.chunks(bones).map(heaviest_four).collect(),
        rest_positions: (positions.iter())
            .map(|p| DVec3::from_array(p.map(f64::from)))
            .collect(),
        corrections: character.program.corrections.clone(),
    };
    let skin = character.with_program(VertexProgram::Ssd(solved));
    (faces(&indices[..found]), skin)
}

fn heaviest_four(row: &[f32]) -> Vec<Weight> {
    let mut own: Vec<Weight> = (row.iter().enumerate())
        .filter(|(_, w)| **w > 1e-4)
        .map(|(j, w)| Weight {
            bone: dermis::BoneId(j as u16),
            weight: f64::from(*w),
        })
        .collect();
    own.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    own.truncate(4);
    let sum: f64 = own.iter().map(|w| w.weight).sum();
    own.iter_mut().for_each(|w| w.weight /= sum);
    own
}

fn buffers(document: &Document) -> (Vec<[f32; 3]>, Vec<u32>) {
    let mesh = &document.mesh;
    let positions = mesh.positions().iter().map(|p| p.as_vec3().to_array());
    let indices = mesh.triangles().iter().flatten().copied();
    (positions.collect(), indices.collect())
}

fn faces(indices: &[u32]) -> Vec<[u32; 3]> {
    indices.as_chunks::<3>().0.to_vec()
}
