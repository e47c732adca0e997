//! Where a step puts its vertex, and what that costs.

use std::cmp::Ordering;

use glam::DVec3;

use super::lanes::{LANES, Lanes, Lanes3, add3, solve_symmetric, transform, wide};
use super::quadrics::{AttributeQuadric, Quadric, blend_bones, place};
use super::samples::SamplePoses;
use super::simplify::Simplifier;
use super::vertices::{Blending, LevelVertex, Placement, blended_shapes};
use super::wedges::{EdgeKind, PointKind};
use crate::rig::BoneId;

/// Farthest that a new point is placed from the edge, in edges.
pub(super) const FARTHEST: f64 = 1.0;
/// Ridge of the solve for a point: decides only what nothing else does.
const RIDGE: f64 = 1e-9;

/// A collapse worked out.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) cost: f64,
    pub(super) kept: u32,
    pub(super) removed: u32,
    /// `None` where the kept point stays as it is.
    pub(super) moved: Option<Moved>,
}

#[derive(Debug, Clone)]
pub(super) struct Moved {
    /// Between the first and second point.
    pub(super) t: f64,
    pub(super) weights: Vec<(BoneId, f64)>,
    pub(super) rest: DVec3,
    pub(super) positions: Lanes3,
}

/// Scratch memory of one evaluation.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) weights: Vec<(BoneId, f64)>,
    pub(super) pairs: Vec<[u32; 2]>,
}

impl Simplifier {
    /// Which ends of an edge may go, and where the best place for the new point is.
    pub(super) fn evaluate(&self, a: u32, b: u32, scratch: &mut Scratch) -> Option<Placed> {
        wide(
            #[inline(always)]
            || self.evaluate_wide(a, b, scratch),
        )
    }

    #[inline(always)]
    fn evaluate_wide(&self, a: u32, b: u32, scratch: &mut Scratch) -> Option<Placed> {
        let mesh = &self.model.mesh;
        let edge = mesh.edge_kind(a, b);
        let [kind_a, kind_b] = [a, b].map(|p| mesh.kinds[p as usize]);
        let movable = match edge {
            EdgeKind::Tangled => return None,
            EdgeKind::Inner => PointKind::Free,
            EdgeKind::Seam | EdgeKind::Rim => PointKind::Junction,
        };
        let quadric = self.quadrics[a as usize].plus(&self.quadrics[b as usize]);
        self.wedge_pairs(a, b, &mut scratch.pairs);
        let at_end = |kept: u32, removed: u32| {
            let rest = self.model.vertices[kept as usize].rest;
            let cost = quadric.value(&self.positions[kept as usize])
                + self.attribute_cost(&scratch.pairs, rest);
            Placed {
                cost,
                kept,
                removed,
                moved: None,
            }
        };
        // What more lines hold stays where it is; of two junctions, the one that costs less to lose goes.
        match kind_a.cmp(&kind_b) {
            _ if kind_a.min(kind_b) > movable => None,
            Ordering::Less => Some(at_end(b, a)),
            Ordering::Greater => Some(at_end(a, b)),
            Ordering::Equal if kind_a >= PointKind::Junction => {
                let [first, second] = [at_end(a, b), at_end(b, a)];
                Some(if second.cost < first.cost {
                    second
                } else {
                    first
                })
            }
            Ordering::Equal => {
                let ends = [a, b].map(|p| &self.positions[p as usize]);
                let t = quadric.best_between(ends[0], ends[1]);
                let [from, to] = [a, b].map(|p| &self.model.vertices[p as usize]);
                self.blending.weights(from, to, t, &mut scratch.weights);
                let farthest = FARTHEST * from.rest.distance(to.rest);
                let moved = self.solve(&quadric, scratch.weights.clone(), (from, to, t), farthest);
                let cost = quadric.value(&moved.positions)
                    + self.attribute_cost(&scratch.pairs, moved.rest);
                Some(Placed {
                    cost,
                    kept: a,
                    removed: b,
                    moved: Some(moved),
                })
            }
        }
    }

    /// The best rest position for given weights.
    #[inline(always)]
    pub(super) fn solve(
        &self,
        quadric: &Quadric,
        weights: Vec<(BoneId, f64)>,
        between: (&LevelVertex, &LevelVertex, f64),
        farthest: f64,
    ) -> Moved {
        let (from, to, t) = between;
        let bones = weights.iter();
        let matrix = blend_bones(bones.map(|&(bone, w)| (w, &self.samples.bones[bone.index()])));
        let middle = from.rest.lerp(to.rest, t);
        let mut base = match self.blending.placement {
            Placement::Plain => place(&matrix, middle),
            Placement::Free => {
                let vertex = self.blending.vertex(&weights, middle, between);
                positions_of(&vertex, &self.samples, &self.blending)
            }
        };
        if self.blending.placement == Placement::Plain {
            let shapes = blended_shapes(from, to, t);
            add_shapes(&mut base, &matrix.0, &shapes, &self.samples.coefficients);
        }
        let (system, right) = quadric.normal_equations(&matrix.0, &base);
        let step = solve_symmetric(system, right, RIDGE).filter(|s| s.length() <= farthest);
        let step = step.unwrap_or(DVec3::ZERO);
        let mut positions = base;
        add3(&mut positions, &transform(&matrix.0, step));
        Moved {
            t,
            weights,
            rest: middle + step,
            positions,
        }
    }

    /// The wedges that become one when an edge is drawn together.
    pub(super) fn wedge_pairs(&self, a: u32, b: u32, into: &mut Vec<[u32; 2]>) {
        let mesh = &self.model.mesh;
        into.clear();
        for face in mesh.faces_of_edge(a, b) {
            let pair = [a, b].map(|point| mesh.wedge_at(face, point));
            if !into.contains(&pair) {
                into.push(pair);
            }
        }
    }

    pub(super) fn attribute_cost(&self, pairs: &[[u32; 2]], rest: DVec3) -> f64 {
        if self.model.mesh.width == 0 {
            return 0.0;
        }
        let cost = |pair: &[u32; 2]| {
            let part = self.model.mesh.part_of_wedge[pair[0] as usize];
            let quadrics = pair.map(|wedge| &self.of_wedge[wedge as usize]);
            AttributeQuadric::cost(quadrics, &self.importances[part as usize], rest)
        };
        pairs.iter().map(cost).sum()
    }
}

/// Where a vertex is in every sample pose.
pub(super) fn positions_of(
    vertex: &LevelVertex,
    samples: &SamplePoses,
    blending: &Blending,
) -> Lanes3 {
    let own = vertex.influences.iter();
    let matrix = blend_bones(own.map(|i| (i.p.w, &samples.bones[i.bone.index()])));
    let mut positions = match blending.placement {
        Placement::Plain => place(&matrix, vertex.rest),
        Placement::Free => blending.free_positions(vertex, samples),
    };
    add_shapes(
        &mut positions,
        &matrix.0,
        &vertex.shapes,
        &samples.coefficients,
    );
    positions
}

/// `+ M Σ_m c_m δ_m`.
fn add_shapes(
    positions: &mut Lanes3,
    matrix: &super::lanes::Lanes9,
    shapes: &[(u32, DVec3)],
    coefficients: &[Lanes],
) {
    for &(m, delta) in shapes {
        let c = &coefficients[m as usize];
        let turned = transform(matrix, delta);
        for axis in 0..3 {
            for k in 0..LANES {
                positions[axis][k] += c[k] * turned[axis][k];
            }
        }
    }
}

impl Blending {
    /// `Σ_j G_j p_j`, with `G = N Ĝ`.
    fn free_positions(&self, vertex: &LevelVertex, samples: &SamplePoses) -> Lanes3 {
        let mut positions = super::lanes::ZERO3;
        for influence in &vertex.influences {
            let bone = &samples.bones[influence.bone.index()];
            // `Ĝ p`: the point in rest space, times its weight.
            let rest = self.to_rest(influence);
            let turned = transform(&bone.linear, rest);
            for axis in 0..3 {
                for k in 0..LANES {
                    positions[axis][k] +=
                        turned[axis][k] + influence.p.w * bone.translation[axis][k];
                }
            }
        }
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lod::LodOptions;
    use crate::lod::testing::{poses_of, simplifier_of};
    use crate::mesh::DrawMesh;
    use crate::skin::{VertexProgram, Weight};
    use crate::synth::{TubeOptions, tube};
    use glam::DMat3;

    /// L1: in one pose, edges cost what the ordinary algorithm in three dimensions says, at the place that it says.
    #[test]
    fn in_one_pose_edges_cost_what_ordinary_quadrics_say() {
        let made = tube(&TubeOptions {
            ring_count: 12,
            segment_count: 8,
            bone_count: 3,
            example_count: 4,
        });
        let mesh = made.examples.rest();
        let draw = DrawMesh::plain("", mesh.vertex_count(), mesh.triangles());
        let rest = [made.truth.skeleton.rest_pose()];
        let size = made.truth.size().expect("it has vertices");
        let ours = simplifier_of(&made, &draw, &rest, &LodOptions::default());
        let x = |point: u32| super::super::lanes::lane(&ours.positions[point as usize], 0);
        // The textbook's quadric of a point: planes of the faces around it, by a third of their areas, and the pull.
        let quadric = |point: u32| {
            let (mut a, mut b, mut c) = (DMat3::ZERO, DVec3::ZERO, 0.0);
            let mut add = |matrix: DMat3, at: DVec3, w: f64| {
                a += w * matrix;
                b -= w * (matrix * at);
                c += w * at.dot(matrix * at);
            };
            for t in mesh.triangles().iter().filter(|t| t.contains(&point)) {
                let [p, q, r] = t.map(x);
                let normal = (q - p).cross(r - p);
                let w = 0.5 * normal.length() / 3.0;
                let n = normal.normalize();
                add(DMat3::from_cols(n * n.x, n * n.y, n * n.z), x(point), w);
                add(DMat3::IDENTITY, x(point), 1e-3 * w);
            }
            (a, b, c)
        };
        let mut compared = 0;
        for p in 0..mesh.vertex_count() as u32 {
            let mut around = Vec::new();
            ours.model.mesh.neighbors(p, &mut around);
            for q in around.into_iter().filter(|&q| q > p) {
                let kinds = [p, q].map(|point| ours.model.mesh.kinds[point as usize]);
                let Some(placed) = ours.evaluate(p, q, &mut Scratch::default()) else {
                    continue;
                };
                if kinds != [PointKind::Free; 2] {
                    continue;
                }
                let Some(moved) = &placed.moved else {
                    continue;
                };
                let ((a1, b1, c1), (a2, b2, c2)) = (quadric(p), quadric(q));
                let (a, b, c) = (a1 + a2, b1 + b2, c1 + c2);
                let best = -(a.inverse() * b);
                let cost = best.dot(a * best) + 2.0 * b.dot(best) + c;
                let found = super::super::lanes::lane(&moved.positions, 0);
                // Where the best place is too far from the edge, ours stays on it.
                if best.distance(found) < 1e-6 * size {
                    assert!(
                        (placed.cost - cost).abs() <= 1e-9 * size.powi(4),
                        "{} {cost}",
                        placed.cost
                    );
                    compared += 1;
                }
            }
        }
        assert!(compared > 100, "most edges: {compared}");
    }

    /// L2: in pieces that follow one bone each, every edge costs what it costs at rest, however the bones move.
    #[test]
    fn fact_l2_edges_of_rigid_pieces_cost_what_they_cost_at_rest() {
        let mut made = tube(&TubeOptions {
            ring_count: 12,
            segment_count: 8,
            bone_count: 3,
            example_count: 12,
        });
        let mut owner = Vec::new();
        if let VertexProgram::Ssd(program) = &mut made.truth.program {
            let heavier = |a: &&Weight, b: &&Weight| a.weight.total_cmp(&b.weight);
            let rows = program.weights.iter();
            owner = rows
                .map(|row| row.iter().max_by(heavier).expect("some bone").bone)
                .collect();
            let whole = |&bone: &BoneId| vec![Weight { bone, weight: 1.0 }];
            program.weights = owner.iter().map(whole).collect();
        }
        let mesh = made.examples.rest();
        // Triangles between two pieces are cut away.
        let is_one = |t: &&[u32; 3]| t.iter().all(|&i| owner[i as usize] == owner[t[0] as usize]);
        let triangles: Vec<_> = mesh.triangles().iter().filter(is_one).copied().collect();
        let draw = DrawMesh::plain("", mesh.vertex_count(), &triangles);
        let rest = [made.truth.skeleton.rest_pose()];
        let [still, moving] = [&rest[..], &poses_of(&made)]
            .map(|poses| simplifier_of(&made, &draw, poses, &LodOptions::default()));
        let mut compared = 0;
        for t in &triangles {
            let [a, b] = [t[0], t[1]];
            let [still, moving] = [&still, &moving].map(|s| {
                let placed = s.evaluate(a, b, &mut Scratch::default());
                placed.map(|placed| placed.cost)
            });
            let (Some(still), Some(moving)) = (still, moving) else {
                assert_eq!(still.is_some(), moving.is_some(), "both or none");
                continue;
            };
            assert!(
                (still - moving).abs() < 1e-9,
                "{still} at rest, {moving} moving"
            );
            compared += usize::from(still > 1e-6);
        }
        assert!(compared > 50, "most edges: {compared}");
    }
}
