//! The steps that were taken, as a sequence that run-times can read.

use super::lanes::LANES;
use super::model::Operation;
use super::placing::positions_of;
use super::progressive::{Progressive, ProgressivePart};
use super::simplify::Simplifier;
use super::vertices::{LevelVertex, Placement};
use super::{LodError, LodOptions};
use crate::mesh::{DrawMesh, DrawPart, TriMesh};
use crate::skin::{Skin, VertexProgram, Weight};

/// Refuses what has no sequence of steps.
pub(super) fn check_progressive(skin: &Skin, options: &LodOptions) -> Result<(), LodError> {
    let problem = match &skin.program {
        _ if !options.progressive => return Ok(()),
        _ if !skin.coefficients.is_empty() => {
            "a skin with morph targets or corrections has levels, but no sequence of steps: leave it out"
        }
        VertexProgram::Ssd(_) if options.free => {
            "the steps of a linear blend skin are linear blends: expected no free levels"
        }
        _ => return Ok(()),
    };
    Err(LodError::BadOption {
        option: "progressive",
        problem: problem.to_owned(),
    })
}

/// The first `count` steps that were taken.
pub(super) fn sequence(
    simplifier: &Simplifier,
    count: usize,
    skin: &Skin,
    mesh: &TriMesh,
    draw: &DrawMesh,
) -> Progressive {
    let operations = &simplifier.operations[..count];
    let point_count = mesh.vertex_count();
    let node_count = point_count + count;
    let mut node_of_point: Vec<u32> = (0..point_count as u32).collect();
    let mut parents = vec![node_count as u32; node_count];
    let mut made: Vec<&LevelVertex> = Vec::with_capacity(count);
    for (node, operation) in (point_count as u32..).zip(operations) {
        let (point, vertex) = match operation {
            Operation::Collapse(collapse) => {
                let removed = node_of_point[collapse.removed as usize];
                parents[removed as usize] = node;
                (collapse.kept.point, &collapse.kept.after)
            }
            Operation::Drop(change) => (change.point, &change.after),
            // A copy of a point of the piece, so that every step makes one node. Nothing changes the point any more.
            Operation::Vanish(faces) => {
                let point = simplifier.model.mesh.points(faces[0] as usize)[0];
                (point, &simplifier.model.vertices[point as usize])
            }
        };
        let before = std::mem::replace(&mut node_of_point[point as usize], node);
        parents[before as usize] = node;
        made.push(vertex);
    }
    let rest = mesh.positions().iter().copied();
    Progressive {
        point_count,
        rest_positions: rest.chain(made.iter().map(|vertex| vertex.rest)).collect(),
        program: with_rows(&skin.program, &made, simplifier.blending.placement),
        parents,
        errors: errors(simplifier, operations),
        parts: parts(simplifier, operations, draw),
    }
}

/// A program with further rows.
fn with_rows(given: &VertexProgram, made: &[&LevelVertex], placement: Placement) -> VertexProgram {
    let mut program = given.clone();
    match (&mut program, placement) {
        (VertexProgram::Linear(linear), _) => {
            for vertex in made {
                linear
                    .influences
                    .push_row(vertex.influences.iter().copied());
            }
        }
        (VertexProgram::Ssd(ssd), Placement::Plain) => push_rows(ssd, made),
        (VertexProgram::DualQuaternion(dual), _) => push_rows(&mut dual.weighted, made),
        // Refused before.
        (VertexProgram::MultiWeight(_), _) | (VertexProgram::Ssd(_), Placement::Free) => {}
    }
    program
}

fn push_rows(ssd: &mut crate::skin::SsdProgram, made: &[&LevelVertex]) {
    for vertex in made {
        ssd.rest_positions.push(vertex.rest);
        ssd.weights
            .push_row(vertex.influences.iter().map(|i| Weight {
                bone: i.bone,
                weight: i.p.w,
            }));
    }
}

/// The error after each number of steps.
fn errors(simplifier: &Simplifier, operations: &[Operation]) -> Vec<f64> {
    let samples = &simplifier.samples;
    let mut errors = vec![0.0f64];
    for (number, operation) in operations.iter().enumerate() {
        let own = match operation {
            Operation::Drop(change) => {
                let [before, after] = [&change.before, &change.after]
                    .map(|vertex| positions_of(vertex, samples, &simplifier.blending));
                let square = |k: usize| {
                    let along = |axis: usize| (before[axis][k] - after[axis][k]).powi(2);
                    samples.weights[k] * (along(0) + along(1) + along(2))
                };
                (0..LANES).map(square).sum::<f64>().sqrt()
            }
            _ => (simplifier.step_errors.get(number)).map_or(0.0, |error| *error),
        };
        errors.push(own.max(errors[number]));
    }
    errors
}

/// What is drawn, and what becomes of it.
fn parts(
    simplifier: &Simplifier,
    operations: &[Operation],
    draw: &DrawMesh,
) -> Vec<ProgressivePart> {
    let mesh = &simplifier.model.mesh;
    let mut parts: Vec<ProgressivePart> = (draw.parts.iter().zip(&mesh.layouts))
        .map(|(given, layout)| ProgressivePart {
            drawn: given.clone(),
            crease_cosine: layout.crease_cosine,
            ..ProgressivePart::default()
        })
        .collect();
    // The drawn vertices that a wedge stands for: all that were the same at first, then the one that a step made.
    let mut vertices_of: Vec<Vec<u32>> = vec![Vec::new(); mesh.point_of_wedge.len()];
    for (wedges, part) in mesh.wedges_of_part.iter().zip(&mut parts) {
        for (vertex, &wedge) in (0..).zip(wedges) {
            vertices_of[wedge as usize].push(vertex);
        }
        part.parents = vec![u32::MAX; wedges.len()];
    }
    let mut vanishes = vec![operations.len() as u32; mesh.faces.len()];
    let mut rows: Vec<Vec<&[f64]>> = vec![Vec::new(); parts.len()];
    for (step, operation) in (0u32..).zip(operations) {
        let gone = match operation {
            Operation::Drop(_) => continue,
            Operation::Vanish(faces) => faces,
            Operation::Collapse(collapse) => {
                for (at, pair) in collapse.wedges.iter().enumerate() {
                    let number = mesh.part_of_wedge[pair.kept as usize] as usize;
                    let part = &mut parts[number];
                    let is_same = |other: &super::model::WedgePair| other.kept == pair.kept;
                    if collapse.wedges[..at].iter().any(is_same) {
                        // Two wedges became the same one: it has the numbers of the last.
                        let vertex = vertices_of[pair.kept as usize][0] as usize;
                        rows[number][vertex - part.drawn.points.len()] = &pair.after;
                    } else {
                        let vertex = part.parents.len() as u32;
                        for &child in &vertices_of[pair.kept as usize] {
                            part.parents[child as usize] = vertex;
                        }
                        vertices_of[pair.kept as usize] = vec![vertex];
                        part.parents.push(u32::MAX);
                        part.made_by.push(step);
                        rows[number].push(&pair.after);
                    }
                    let vertex = vertices_of[pair.kept as usize][0];
                    for child in std::mem::take(&mut vertices_of[pair.removed as usize]) {
                        part.parents[child as usize] = vertex;
                    }
                }
                &collapse.vanished
            }
        };
        for &face in gone {
            vanishes[face as usize] = step;
        }
    }
    for (number, part) in parts.iter_mut().enumerate() {
        let count = part.parents.len() as u32;
        let stays = part
            .parents
            .iter_mut()
            .filter(|parent| **parent == u32::MAX);
        stays.for_each(|parent| *parent = count);
        // Triangles that name a point twice or repeat another one are in no coarser level.
        let vanish = |face: &Option<u32>| face.map_or(0, |face| vanishes[face as usize]);
        part.vanishes_with = mesh.faces_of_part[number].iter().map(vanish).collect();
        let given = &draw.parts[number];
        let mut made = DrawPart::default();
        mesh.layouts[number].write(given, &rows[number], &mut made);
        append(&mut part.drawn, made);
    }
    parts
}

/// Adds the attributes of further vertices.
fn append(part: &mut DrawPart, made: DrawPart) {
    part.normals.extend(made.normals);
    for (own, new) in part.uvs.iter_mut().zip(made.uvs) {
        own.extend(new);
    }
    for (own, new) in part.colors.iter_mut().zip(made.colors) {
        own.extend(new);
    }
    for (own, new) in part.custom.iter_mut().zip(made.custom) {
        own.data.values.extend(new.data.values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lod::LevelTarget;
    use crate::lod::extract::extract;
    use crate::lod::snapshot::Snapshot;
    use crate::lod::testing::{poses_of, simplifier_of};
    use crate::progress::Silent;
    use crate::synth::{TubeOptions, tube};

    /// Climbing trees gives what undoing steps gives: the same triangles, corner by corner.
    #[test]
    fn a_sequence_has_the_character_after_every_number_of_steps() {
        let made = tube(&TubeOptions::default());
        let mesh = made.examples.rest();
        let mut draw = DrawMesh::plain("", mesh.vertex_count(), mesh.triangles());
        // Every vertex is drawn twice, as files do that share none between some triangles.
        let part = &mut draw.parts[0];
        let count = mesh.vertex_count() as u32;
        part.points.extend(0..count);
        for triangle in part.triangles.iter_mut().step_by(2) {
            *triangle = triangle.map(|v| v + count);
        }
        let uv = |&point: &u32| {
            let p = mesh.positions()[point as usize];
            [p.x as f32, (p.y + p.z) as f32]
        };
        part.uvs = vec![part.points.iter().map(uv).collect()];
        let options = LodOptions {
            drop_influences: true,
            ..LodOptions::default()
        };
        let mut simplifier = simplifier_of(&made, &draw, &poses_of(&made), &options);
        let placement = simplifier.blending.placement;
        let target = LevelTarget::Triangles(mesh.triangles().len() / 10);
        assert!(simplifier.run(target, &Silent), "nobody stopped it");
        let steps = simplifier.operations.len();
        let found = sequence(&simplifier, steps, &made.truth, mesh, &draw);
        found.check().expect("it fits together");
        for count in [1, 2, steps / 3, steps / 2, steps] {
            let level = found.at(count).expect("finite");
            let snapshot = Snapshot::after(&simplifier, count);
            let (mesh, drawn, program) =
                extract(&snapshot, &draw, &made.truth, placement).expect("a level");
            assert_eq!(mesh.vertex_count(), level.mesh.vertex_count(), "points");
            let corners = |mesh: &TriMesh, draw: &DrawMesh, program: &VertexProgram| {
                let part = &draw.parts[0];
                let VertexProgram::Ssd(ssd) = program else {
                    panic!("a linear blend stays one");
                };
                let all = part.triangles.as_flattened().iter();
                let corner = |&v: &u32| {
                    let point = part.points[v as usize] as usize;
                    let mut weights = ssd.weights.row(point).to_vec();
                    weights.sort_by_key(|weight| weight.bone);
                    (mesh.positions()[point], part.uvs[0][v as usize], weights)
                };
                all.map(corner).collect::<Vec<_>>()
            };
            assert_eq!(
                corners(&level.mesh, &level.draw, &level.program),
                corners(&mesh, &drawn, &program),
                "after {count} of {steps} steps"
            );
        }
    }
}
