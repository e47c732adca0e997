//! Checks whether a skeleton and the meshes posed with it have the same unit of length and the same axes.
//!
//! A vertex near the middle of a limb follows one bone nearly rigidly. So if skeleton and meshes belong together, in
//! every example the position predicted by the best bone is close to the vertex, compared with the size. A skeleton in
//! another unit, or with other axes, predicts positions far away, while the same skeleton, scaled or turned correctly,
//! does not. A mismatch is reported only when a scaled or turned skeleton is much better. If a skeleton is merely poor,
//! or does not move, scaling or turning it makes no great difference.

use glam::{DAffine3, DQuat, DVec3};

use super::ExampleSet;
use crate::mesh::{Aabb, Upright, nearest_unit};
use crate::par;

/// Below this mean distance, as a share of the size, a skeleton counts as correct.
const MISSES: f64 = 0.01;
/// How many times nearer the scaled or turned skeleton must be.
///
/// With their own skeletons (bodies, a hand, tubes and a shirt) the best alternative is at most 0.72 times as near, for
/// the hand. With the skeleton in another unit the correct one is at least 1.45 times nearer (a hand, whose fingers
/// move little) and up to 70 times (a body); with other axes at least 2.0 times.
const MUCH_BETTER: f64 = 1.8;
/// The same, when in addition the joints fill hardly any of the mesh or reach far outside it.
const BETTER: f64 = 1.2;
/// The usual extent of the joints, as a share of the mesh's diagonal; outside this range [`BETTER`] is enough.
const FILLS: std::ops::Range<f64> = 0.05..10.0;
/// At most this many vertices and examples are used.
const MOST_VERTICES: usize = 300;
const MOST_EXAMPLES: usize = 8;

/// How the space of the meshes differs from that of the skeleton.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigMismatch {
    /// How many times as large the meshes are; 1 for the same unit.
    pub scale: f64,
    /// The axes of the meshes, when they differ from those of the skeleton.
    pub upright: Option<Upright>,
    /// Root mean square distance of a vertex from where the best bone takes it, as a share of the size.
    pub misses: f64,
    /// The same for the skeleton in the meshes' unit and axes.
    pub would_miss: f64,
}

/// Finds whether the meshes are in another unit or have other axes than the skeleton beside them.
pub fn find_rig_mismatch(set: &ExampleSet) -> Option<RigMismatch> {
    let sample = Sample::new(set)?;
    let misses = sample.misses(&DAffine3::IDENTITY);
    if misses.is_nan() || misses < MISSES {
        return None;
    }
    let turns = [None, Some(Upright::ZInY), Some(Upright::YInZ)];
    let scales = sample.scales();
    let spaces: Vec<(f64, Option<Upright>)> = (scales.iter())
        .flat_map(|&scale| turns.map(|turn| (scale, turn)))
        .collect();
    let missed = par::map(spaces.len(), |n| sample.misses(&rig_from_mesh(spaces[n])));
    // Among equally good ones, the first is taken: the same unit and axes come first.
    let (would_miss, &(scale, upright)) =
        (missed.into_iter().zip(&spaces)).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let stands_out =
        scale != 1.0 && !FILLS.contains(&sample.joints) && FILLS.contains(&(sample.joints * scale));
    let better = if stands_out { BETTER } else { MUCH_BETTER };
    (would_miss * better < misses).then_some(RigMismatch {
        scale,
        upright,
        misses,
        would_miss,
    })
}

/// Takes points of meshes that are `scale` times as large, and turned, to the space of the skeleton.
fn rig_from_mesh((scale, upright): (f64, Option<Upright>)) -> DAffine3 {
    let quarter = std::f64::consts::FRAC_PI_2;
    let turn = match upright {
        None => DQuat::IDENTITY,
        Some(Upright::ZInY) => DQuat::from_rotation_x(-quarter),
        Some(Upright::YInZ) => DQuat::from_rotation_x(quarter),
    };
    DAffine3::from_scale_rotation_translation(DVec3::splat(1.0 / scale), turn, DVec3::ZERO)
}

/// A few vertices in a few examples, with the matrices of the bones in these.
struct Sample {
    rest: Vec<DVec3>,
    /// Matrices and positions of each example.
    posed: Vec<(Vec<DAffine3>, Vec<DVec3>)>,
    size: f64,
    /// Diagonal of the box around the joints at rest, divided by that of the mesh.
    joints: f64,
}

impl Sample {
    fn new(set: &ExampleSet) -> Option<Self> {
        let all = set.rest().positions();
        let (vertices, examples) = (all.len(), set.examples().len());
        if vertices == 0 || examples == 0 {
            return None;
        }
        let taken = vertices.min(MOST_VERTICES);
        let chosen: Vec<usize> = (0..taken).map(|n| n * vertices / taken).collect();
        let taken = examples.min(MOST_EXAMPLES);
        let mut posed = Vec::with_capacity(taken);
        for k in (0..taken).map(|n| n * examples / taken) {
            let example = &set.examples()[k];
            let palette = set.skeleton().palette(&example.pose).ok()?;
            let matrices = set.skeleton().posed_from_rest(&palette);
            posed.push((
                matrices,
                chosen.iter().map(|&i| example.positions[i]).collect(),
            ));
        }
        let joints: Vec<DVec3> = (set.skeleton().bones().iter())
            .map(|bone| bone.bone_from_rest.inverse().translation)
            .filter(|joint| joint.is_finite())
            .collect();
        // From the examples rather than the rest mesh, which bind matrices may scale.
        let size = Aabb::of(&set.examples()[0].positions)?.diagonal();
        Some(Self {
            rest: chosen.iter().map(|&i| all[i]).collect(),
            posed,
            size,
            joints: Aabb::of(&joints).map_or(0.0, |b| b.diagonal())
                / set.rest().bounds().diagonal(),
        })
    }

    /// The scales to try: the same unit first, ratios of units, and the scale that makes the joints fill the mesh.
    fn scales(&self) -> Vec<f64> {
        let units = [10.0, 12.0, 30.48, 39.370_08, 100.0, 1000.0, 2.54, 3.280_84];
        let mut scales = vec![1.0];
        scales.extend(units.into_iter().flat_map(|unit| [unit, 1.0 / unit]));
        // Joints of most skeletons fill 0.8 of the mesh's diagonal.
        let fill = 0.8 / self.joints;
        if fill.is_finite() && !(0.25..4.0).contains(&fill) && nearest_unit(fill) == fill {
            scales.push(fill);
        }
        scales
    }

    /// Root mean square distance of vertices from where the best bone takes them, as a share of the size.
    fn misses(&self, rig_from_mesh: &DAffine3) -> f64 {
        let mesh_from_rig = rig_from_mesh.inverse();
        let (mut sum, mut count) = (0.0, 0);
        for (matrices, positions) in &self.posed {
            let matrices: Vec<DAffine3> = (matrices.iter())
                .map(|n| mesh_from_rig * *n * *rig_from_mesh)
                .collect();
            for (v, there) in self.rest.iter().zip(positions) {
                let squares = matrices
                    .iter()
                    .map(|n| n.transform_point3(*v).distance_squared(*there));
                sum += squares.fold(f64::INFINITY, f64::min);
                count += 1;
            }
        }
        (sum / f64::from(count.max(1))).sqrt() / self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Similarity;
    use crate::synth::{TubeOptions, arm, tube};

    /// The set with its skeleton and poses moved to another space, and unchanged meshes.
    fn with_rig_moved(set: &ExampleSet, by: &Similarity) -> ExampleSet {
        let examples = set.examples().iter().cloned().map(|mut example| {
            example.pose = by.pose(set.skeleton(), &example.pose);
            example
        });
        let skeleton = by.skeleton(set.skeleton()).expect("a move");
        ExampleSet::new(set.rest().clone(), skeleton, examples.collect()).expect("as before")
    }

    /// A tube away from the origin: near it, scaling and turning would change little.
    fn standing_tube() -> ExampleSet {
        let set = tube(&TubeOptions::default()).examples;
        let up = Similarity::new(1.0, DQuat::from_rotation_z(1.3), DVec3::new(0.3, 1.0, 0.2));
        let up = up.expect("a move");
        let moved = with_rig_moved(&set, &up);
        let points = |at: &[DVec3]| at.iter().map(|v| up.point(*v)).collect::<Vec<_>>();
        let rest = set.rest().with_positions(points(set.rest().positions()));
        let examples = moved.examples().iter().zip(set.examples());
        let examples = examples.map(|(posed, shape)| super::super::Example {
            positions: points(&shape.positions),
            ..posed.clone()
        });
        let skeleton = moved.skeleton().clone();
        ExampleSet::new(rest.expect("finite"), skeleton, examples.collect()).expect("as before")
    }

    #[test]
    fn a_skeleton_has_no_mismatch_with_its_own_meshes() {
        assert_eq!(find_rig_mismatch(&standing_tube()), None, "a tube");
        assert_eq!(
            find_rig_mismatch(&arm(&Default::default()).examples),
            None,
            "an arm whose skin is far from any skeleton's"
        );
    }

    #[test]
    fn another_unit_or_other_axes_of_a_skeleton_are_detected() {
        let set = standing_tube();
        let quarter = std::f64::consts::FRAC_PI_2;
        for (scale, turn, upright) in [
            (0.01, 0.0, None),
            (100.0, 0.0, None),
            (1.0, -quarter, Some(Upright::ZInY)),
            (0.01, quarter, Some(Upright::YInZ)),
        ] {
            let by = Similarity::new(scale, DQuat::from_rotation_x(turn), DVec3::ZERO);
            let wrong = with_rig_moved(&set, &by.expect("a move"));
            let found = find_rig_mismatch(&wrong).expect("a mismatch");
            assert!((found.scale * scale - 1.0).abs() < 1e-9, "{found:?}");
            assert_eq!(found.upright, upright, "{found:?}");
        }
    }
}
