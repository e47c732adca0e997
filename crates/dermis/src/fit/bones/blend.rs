//! Bones and the weights that blend them: their error, and steps that lower it.
//!
//! The weights that suit given bones best are a small problem per vertex ([`SimplexLs`]). Solving for weights
//! and bones in turn is slow where bones overlap, because one bone makes up for the error of another. So
//! bones take steps in which the weights follow ([`System`]).
//!
//! Squares let one vertex that no bone explains bend all bones near it. With a finite *scale*, errors above it
//! count as their logarithm ([`Blend::loss`]): bones then settle on the vertices that they explain exactly,
//! and the others stand out.

use glam::DAffine3;

use super::motion::Motion;
use super::step::System;
use crate::par;
use crate::solve::SimplexLs;

/// Damping of the first step as a share of the curvature, and how it falls and rises.
const DAMPING: f64 = 1e-2;
const DAMPING_LEAST: f64 = 1e-9;
const DAMPING_MOST: f64 = 1e3;

/// Bones and weights that explain the motion of some vertices.
#[derive(Debug, Clone)]
pub(super) struct Blend {
    /// The motion of every bone from rest, by bone and mesh.
    pub(super) bones: Vec<Vec<DAffine3>>,
    /// Bones and weights of every vertex.
    pub(super) weights: Vec<Vec<(usize, f64)>>,
    /// Squared error of every vertex, over all meshes.
    pub(super) errors: Vec<f64>,
    damping: f64,
}

impl Blend {
    /// The best weights for some bones, at most `max_influences` for each vertex.
    pub(super) fn new(motion: &Motion, bones: Vec<Vec<DAffine3>>, max_influences: usize) -> Self {
        let solved = par::map_with(motion.vertex_count(), Scratch::default, |scratch, i| {
            scratch.solve(motion, i, bones.iter(), max_influences)
        });
        let (weights, errors) = solved.into_iter().unzip();
        Self {
            bones,
            weights,
            errors,
            damping: DAMPING,
        }
    }

    /// Sum of the squared errors.
    pub(super) fn total(&self) -> f64 {
        self.errors.iter().sum()
    }

    /// Sum of what the squared errors count: errors far above `scale`, a squared error too, count as their
    /// logarithm ([`loss`]).
    pub(super) fn loss(&self, scale: f64) -> f64 {
        self.errors.iter().map(|&error| loss(error, scale)).sum()
    }

    /// The middle one of the squared errors above `exact`; `exact` itself when there are none.
    pub(super) fn middle_error_above(&self, exact: f64) -> f64 {
        let mut open: Vec<f64> = self
            .errors
            .iter()
            .copied()
            .filter(|&error| error > exact)
            .collect();
        open.sort_by(f64::total_cmp);
        open.get(open.len() / 2).copied().unwrap_or(exact)
    }

    /// Root-mean-square distance over vertices and meshes.
    pub(super) fn rms(&self, motion: &Motion) -> f64 {
        let count = (motion.vertex_count() * motion.mesh_count).max(1);
        (self.total() / count as f64).sqrt()
    }

    /// Moves the bones by a step that lowers the loss, and the weights with them; false when no step does.
    pub(super) fn improve(&mut self, motion: &Motion, max_influences: usize, scale: f64) -> bool {
        let before = self.loss(scale);
        let system = System::new(motion, self, scale);
        while self.damping < DAMPING_MOST {
            let bones = system.step(&self.bones, self.damping);
            let next = Self::new(motion, bones, max_influences);
            if next.loss(scale) < before {
                let damping = (0.2 * self.damping).max(DAMPING_LEAST);
                *self = Self { damping, ..next };
                return true;
            }
            self.damping *= 10.0;
        }
        self.damping = DAMPING;
        false
    }

    /// How much the loss would rise without each bone, the others staying where they are.
    pub(super) fn costs_of_removal(
        &self,
        motion: &Motion,
        max_influences: usize,
        scale: f64,
    ) -> Vec<f64> {
        let costs = par::map_with(motion.vertex_count(), Scratch::default, |scratch, i| {
            let cost = |&(j, _): &(usize, f64)| {
                let others = (self.bones.iter().enumerate()).filter(|(other, _)| *other != j);
                let (_, error) = scratch.solve(motion, i, others.map(|o| o.1), max_influences);
                (j, loss(error, scale) - loss(self.errors[i], scale))
            };
            self.weights[i].iter().map(cost).collect::<Vec<_>>()
        });
        let mut sums = vec![0.0; self.bones.len()];
        for (j, cost) in costs.into_iter().flatten() {
            sums[j] += cost;
        }
        sums
    }
}

/// What a squared error counts: itself far below `scale`, its logarithm far above; always itself when `scale`
/// is infinite. (The loss of Cauchy's distribution.)
fn loss(error: f64, scale: f64) -> f64 {
    match scale.is_finite() {
        true => scale * (error / scale).ln_1p(),
        false => error,
    }
}

/// Memory for the weights of one vertex.
#[derive(Default)]
struct Scratch {
    solver: SimplexLs,
    columns: Vec<f64>,
}

impl Scratch {
    /// The best weights of a vertex over some bones, and its squared error.
    fn solve<'a>(
        &mut self,
        motion: &Motion,
        i: usize,
        bones: impl Iterator<Item = &'a Vec<DAffine3>>,
        max_influences: usize,
    ) -> (Vec<(usize, f64)>, f64) {
        self.columns.clear();
        for bone in bones {
            for (matrix, place) in bone.iter().zip(motion.of_vertex(i)) {
                let miss = matrix.transform_point3(motion.rest[i]) - *place;
                self.columns.extend_from_slice(&miss.to_array());
            }
        }
        let rows = 3 * motion.mesh_count;
        let solution = self.solver.solve(&self.columns, rows, max_influences);
        (solution.weights, solution.squared_error)
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    /// Points that a rigid motion moves, and the motion; the first `strays` go elsewhere.
    fn moved_points(strays: usize) -> (Motion, DAffine3) {
        let truth = DAffine3::from_rotation_translation(
            DQuat::from_scaled_axis(DVec3::new(0.2, -0.3, 0.5)),
            DVec3::new(0.1, 0.0, -0.2),
        );
        let number = |i: usize, step: f64| (i as f64 * step).fract() - 0.5;
        let rest: Vec<DVec3> = (0..40)
            .map(|i| DVec3::new(number(i, 0.618), number(i, 0.414), number(i, 0.732)))
            .collect();
        let mut places: Vec<DVec3> = rest.iter().map(|p| truth.transform_point3(*p)).collect();
        for place in &mut places[..strays] {
            *place += DVec3::new(0.3, 0.2, 0.0);
        }
        (Motion::new(&rest, &[places.as_slice()]), truth)
    }

    #[test]
    fn an_error_counts_as_itself_or_as_its_logarithm() {
        assert_eq!(loss(3.0, f64::INFINITY), 3.0, "squares");
        assert!(
            (loss(1e-6, 1.0) - 1e-6).abs() < 1e-11,
            "far below the scale"
        );
        let times_100 = loss(1e8, 1.0) - loss(1e6, 1.0);
        assert!((times_100 - 100.0_f64.ln()).abs() < 1e-5, "far above");
    }

    #[test]
    fn strays_bend_a_bone_under_squares_but_not_under_the_logarithm() {
        let (motion, truth) = moved_points(8);
        let settled = |scale: f64| {
            let mut blend = Blend::new(&motion, vec![vec![DAffine3::IDENTITY]], 1);
            for _ in 0..100 {
                if !blend.improve(&motion, 1, scale) {
                    break;
                }
            }
            blend.bones[0][0]
        };
        let bent = settled(f64::INFINITY);
        assert!(!bent.abs_diff_eq(truth, 1e-2), "squares: {bent}");
        let kept = settled(1e-6);
        assert!(kept.abs_diff_eq(truth, 1e-4), "logarithm: {kept}");
    }

    #[test]
    fn a_bone_that_another_stands_in_for_costs_nothing() {
        let (motion, truth) = moved_points(0);
        let bones = vec![vec![truth], vec![DAffine3::IDENTITY]];
        let costs = Blend::new(&motion, bones, 1).costs_of_removal(&motion, 1, f64::INFINITY);
        assert!(costs[0] > 0.1, "the bone that all follow: {}", costs[0]);
        assert_eq!(costs[1], 0.0, "the bone that none follows");
    }

    #[test]
    fn the_middle_error_leaves_exact_vertices_out() {
        let (motion, truth) = moved_points(5);
        let blend = Blend::new(&motion, vec![vec![truth]], 1);
        let middle = blend.middle_error_above(1e-10);
        assert!((middle - 0.13).abs() < 1e-9, "that of the five: {middle}");
        assert_eq!(blend.middle_error_above(1.0), 1.0, "none is above 1");
    }
}
