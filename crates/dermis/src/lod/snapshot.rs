//! A character after some of the steps: what a level is made of.

use super::feet::LevelSurface;
use super::lanes::{LANES, Lanes, Lanes3, ZERO3};
use super::model::{Model, Operation};
use super::placing::positions_of;
use super::polish::{Movable, Sample, polish};
use super::quadrics::unit_normals;
use super::samples::SamplePoses;
use super::simplify::{Given, Simplifier};
use super::vertices::{Blending, LevelVertex};
use super::wedges::PointKind;
use crate::par;

/// So many samples of the given surface say where a face should be. With 8, a man of a 25th of his triangles is off by a
/// fifth more; finer levels have fewer samples for each face than either.
const SAMPLES_PER_FACE: usize = 16;

/// The points and faces that are left, numbered anew.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) model: Model,
    /// The model's point for each point of the level, in rising order.
    pub(super) points: Vec<u32>,
    /// The reverse; `u32::MAX` for points that are not drawn.
    pub(super) number: Vec<u32>,
    pub(super) faces: Vec<[u32; 3]>,
    /// Whether all given points and faces are left: vertices have lost influences alone.
    pub(super) is_whole: bool,
    /// Where each point of the level is in the sample poses.
    pub(super) positions: Vec<Lanes3>,
    /// The model's point that each point of the given surface has become.
    pub(super) went_to: Vec<u32>,
}

impl Snapshot {
    /// The character after the first `count` of the steps that were taken.
    pub(super) fn after(simplifier: &Simplifier, count: usize) -> Self {
        let mut model = simplifier.model.clone();
        for operation in simplifier.operations[count..].iter().rev() {
            model.undo(operation);
        }
        let (samples, blending) = (&simplifier.samples, &simplifier.blending);
        Self::of(model, &simplifier.operations[..count], samples, blending)
    }

    fn of(
        model: Model,
        operations: &[Operation],
        samples: &SamplePoses,
        blending: &Blending,
    ) -> Self {
        let mesh = &model.mesh;
        let alive = || (0..mesh.faces.len()).filter(|&face| mesh.is_alive[face]);
        // Where no triangle went, points that nothing draws stay as well: the mesh is the same.
        let is_whole = alive().count() == mesh.faces.len() && mesh.dropped_faces == 0;
        let mut is_left = vec![is_whole; model.vertices.len()];
        for point in alive().flat_map(|face| mesh.points(face)) {
            is_left[point as usize] = true;
        }
        let points: Vec<u32> = (0..model.vertices.len() as u32)
            .filter(|&point| is_left[point as usize])
            .collect();
        let mut number = vec![u32::MAX; model.vertices.len()];
        for (n, &point) in points.iter().enumerate() {
            number[point as usize] = n as u32;
        }
        let faces: Vec<[u32; 3]> = alive()
            .map(|face| mesh.points(face).map(|point| number[point as usize]))
            .collect();
        let mut went_to: Vec<u32> = (0..model.vertices.len() as u32).collect();
        for operation in operations.iter().rev() {
            if let Operation::Collapse(collapse) = operation {
                went_to[collapse.removed as usize] = went_to[collapse.kept.point as usize];
            }
        }
        let positions = par::map(points.len(), |n| {
            positions_of(&model.vertices[points[n] as usize], samples, blending)
        });
        Self {
            model,
            points,
            number,
            faces,
            is_whole,
            positions,
            went_to,
        }
    }

    /// Moves the points to where they fit the given surface best, over all sample poses.
    pub(super) fn polish(&mut self, given: &Given, samples: &SamplePoses, blending: &Blending) {
        let kinds = &self.model.mesh.kinds;
        let may_move: Vec<bool> = (self.points.iter())
            .map(|&p| kinds[p as usize] == PointKind::Free)
            .collect();
        let level = Movable {
            faces: &self.faces,
            samples,
            blending,
            may_move: &may_move,
        };
        let on_surface = self.few_samples_of(given, &samples.weights);
        let own = self
            .points
            .iter()
            .map(|&p| &self.model.vertices[p as usize]);
        let mut vertices: Vec<LevelVertex> = own.cloned().collect();
        polish(&level, &mut vertices, &mut self.positions, &on_surface);
        for (&point, vertex) in self.points.iter().zip(vertices) {
            self.model.vertices[point as usize] = vertex;
        }
    }

    /// Root mean square and largest distance of the given surface's points from the level, in the sample poses; each has
    /// one foot on the level in all of them.
    pub(super) fn errors(&self, given: &Given, weights: &Lanes) -> [f64; 2] {
        let surface = LevelSurface::new(&self.faces, &self.positions, weights);
        let on_surface = self.samples_of(given, weights);
        let squares = par::map(on_surface.len(), |n| {
            let sample = &on_surface[n];
            let foot = surface.nearest(&sample.positions, sample.start);
            foot.map_or(0.0, |foot| foot.square)
        });
        let area: f64 = on_surface.iter().map(|sample| sample.area).sum();
        let weighted = squares.iter().zip(&on_surface);
        let sum: f64 = weighted.map(|(square, sample)| square * sample.area).sum();
        let largest = squares.iter().copied().fold(0.0, f64::max);
        [(sum / area.max(f64::MIN_POSITIVE)).sqrt(), largest.sqrt()]
    }

    /// Enough of the samples to place points by: of many, evenly spaced ones, with the area of those between.
    fn few_samples_of(&self, given: &Given, weights: &Lanes) -> Vec<Sample> {
        let all = self.samples_of(given, weights);
        let step = all.len() / (SAMPLES_PER_FACE * self.faces.len().max(1));
        if step < 2 {
            return all;
        }
        let area = |samples: &[Sample]| samples.iter().map(|sample| sample.area).sum();
        let few = all.chunks(step).map(|chunk| Sample {
            area: area(chunk),
            positions: chunk[chunk.len() / 2].positions,
            start: chunk[chunk.len() / 2].start,
        });
        few.collect()
    }

    /// The corners and middles of the given faces that something is left of, each with half of the area around it.
    fn samples_of(&self, given: &Given, weights: &Lanes) -> Vec<Sample> {
        let mut areas = vec![0.0; given.positions.len()];
        let mut samples = Vec::with_capacity(given.faces.len() + given.positions.len());
        let start = |point: u32| self.number[self.went_to[point as usize] as usize];
        for corners in &given.faces {
            let (_, area) = unit_normals(corners.map(|p| &given.positions[p as usize]));
            let mean: f64 = area.iter().zip(weights).map(|(a, w)| a * w).sum();
            for &p in corners {
                areas[p as usize] += mean / 6.0;
            }
            let mut middle = ZERO3;
            for own in corners.map(|p| &given.positions[p as usize]) {
                for axis in 0..3 {
                    for k in 0..LANES {
                        middle[axis][k] += own[axis][k] / 3.0;
                    }
                }
            }
            samples.push(Sample {
                positions: middle,
                area: mean / 2.0,
                start: start(corners[0]),
            });
        }
        for (i, &area) in areas.iter().enumerate().filter(|(_, area)| **area > 0.0) {
            samples.push(Sample {
                positions: given.positions[i],
                area,
                start: start(i as u32),
            });
        }
        // Pieces that vanished have no place to look from.
        samples.retain(|sample| sample.start != u32::MAX);
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lod::testing::{poses_of, simplifier_of};
    use crate::lod::{LevelTarget, LodOptions};
    use crate::mesh::DrawMesh;
    use crate::progress::Silent;
    use crate::synth::{TubeOptions, tube};

    /// L8: undoing all steps restores what was given, bit for bit, and every number of steps gives a surface.
    #[test]
    fn steps_that_are_undone_leave_no_trace() {
        let made = tube(&TubeOptions::default());
        let mesh = made.examples.rest();
        let draw = DrawMesh::plain("", mesh.vertex_count(), mesh.triangles());
        let options = LodOptions {
            drop_influences: true,
            ..LodOptions::default()
        };
        let mut simplifier = simplifier_of(&made, &draw, &poses_of(&made), &options);
        let given = simplifier.model.clone();
        let target = LevelTarget::Triangles(mesh.triangles().len() / 10);
        assert!(simplifier.run(target, &Silent), "nobody stopped it");
        let steps = simplifier.operations.len();
        assert!(steps > 100, "{steps} steps");
        for count in [0, 1, steps / 3, steps / 2, steps] {
            let after = Snapshot::after(&simplifier, count);
            let mut edges = std::collections::BTreeMap::new();
            for face in &after.faces {
                for k in 0..3 {
                    let way = (face[k], face[(k + 1) % 3]);
                    *edges.entry(way).or_insert(0) += 1;
                }
            }
            assert!(
                edges.values().all(|&n| n == 1),
                "{count} steps: every edge once each way"
            );
        }
        let restored = Snapshot::after(&simplifier, 0).model;
        assert_eq!(restored.vertices, given.vertices, "vertices");
        assert_eq!(restored.mesh.faces, given.mesh.faces, "faces");
        assert_eq!(restored.mesh.is_alive, given.mesh.is_alive, "all of them");
        assert_eq!(
            restored.mesh.attributes, given.mesh.attributes,
            "attributes"
        );
        assert_eq!(
            restored.influence_count, given.influence_count,
            "influences"
        );
    }
}
