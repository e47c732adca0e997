//! The ways in which a vertex can move while it follows the bones that it follows, and the best of them.
//!
//! A plain vertex has three parameters for its rest position, and one for each bone but the heaviest: weight that
//! comes from the heaviest. A free one has a rest position for each bone. Where the vertex is in a pose is linear in the
//! parameters (for a plain vertex near the place that it has), so the best of them are the solution of a small system.

use glam::DVec3;

use super::lanes::{LANES, Lanes, Lanes3, ZERO, dot3, sum};
use super::quadrics::{Quadric, blend_bones, place};
use super::samples::SamplePoses;
use super::vertices::{Blending, LevelVertex, Placement};
use crate::rig::BoneId;
use crate::skin::Influence;

/// Most parameters: those of a free vertex of eight bones. Vertices of more bones keep their weights.
pub(super) const MOST: usize = 31;

/// A parameter that moves nothing, but for rounding: places count in lengths and weights do not, so this is far below both.
const UNMEASURED: f64 = 1e-20;

/// What a vertex can do.
#[derive(Debug, Clone)]
pub(super) struct Freedom {
    /// Where one unit of each parameter moves the vertex, in every pose.
    pub(super) directions: Vec<Lanes3>,
    /// The least that a step of each parameter may be: weights do not become negative.
    pub(super) floors: Vec<f64>,
}

impl Blending {
    /// The parameters of a vertex.
    pub(super) fn freedom(&self, vertex: &LevelVertex, samples: &SamplePoses) -> Freedom {
        let rows = &vertex.influences;
        let unit = |matrix: &super::lanes::Lanes9, axis: usize| {
            [matrix[axis], matrix[3 + axis], matrix[6 + axis]]
        };
        let mut directions = Vec::with_capacity(MOST);
        let mut floors = Vec::with_capacity(MOST);
        let bones = || rows.iter().map(|i| &samples.bones[i.bone.index()]);
        match self.placement {
            Placement::Plain => {
                let (matrix, _) = blend_bones(rows.iter().map(|i| i.p.w).zip(bones()));
                directions.extend((0..3).map(|axis| unit(&matrix, axis)));
            }
            Placement::Free => {
                for bone in bones() {
                    directions.extend((0..3).map(|axis| unit(&bone.linear, axis)));
                }
            }
        }
        let heaviest = heaviest(rows);
        if rows.len() > 1 && directions.len() + rows.len() - 1 <= MOST {
            let reached: Vec<Lanes3> = bones()
                .map(|bone| match self.placement {
                    Placement::Plain => place(&(bone.linear, bone.translation), vertex.rest),
                    Placement::Free => bone.translation,
                })
                .collect();
            let others = || (0..rows.len()).filter(|&j| j != heaviest);
            directions
                .extend(others().map(|j| super::lanes::sub3(&reached[j], &reached[heaviest])));
            floors.resize(directions.len() + 1 - rows.len(), f64::NEG_INFINITY);
            floors.extend(others().map(|j| match self.placement == Placement::Plain {
                true if rows[j].p.w >= 0.0 => -rows[j].p.w,
                _ => f64::NEG_INFINITY,
            }));
        }
        floors.resize(directions.len(), f64::NEG_INFINITY);
        Freedom { directions, floors }
    }

    /// The vertex after a step of its parameters. Weights that were not negative do not become so: the weights' part of
    /// the step is made shorter.
    pub(super) fn stepped(&self, vertex: &LevelVertex, step: &[f64]) -> LevelVertex {
        let rows = &vertex.influences;
        let places = match self.placement {
            Placement::Plain => 1,
            Placement::Free => rows.len(),
        };
        let (moves, shifts) = step.split_at(3 * places);
        let heaviest = heaviest(rows);
        let mut changes = vec![0.0; rows.len()];
        let others = (0..rows.len()).filter(|&j| j != heaviest);
        for (j, shift) in others.zip(shifts) {
            changes[j] = *shift;
            changes[heaviest] -= shift;
        }
        let room = rows.iter().zip(&changes).map(|(i, change)| {
            match self.placement == Placement::Plain && i.p.w >= 0.0 && i.p.w + change < 0.0 {
                true => i.p.w / -change,
                false => 1.0,
            }
        });
        let share = room.fold(1.0, f64::min);
        let weights: Vec<(BoneId, f64)> = (rows.iter().zip(&changes))
            .map(|(i, change)| {
                let weight = i.p.w + share * change;
                // Rounding must not take a weight below 0 either.
                let is_kept = self.placement == Placement::Plain && i.p.w >= 0.0;
                (i.bone, if is_kept { weight.max(0.0) } else { weight })
            })
            .collect();
        let moved = |n: usize| DVec3::from_slice(&moves[3 * n..]);
        let rest = vertex.rest + (0..places).map(moved).sum::<DVec3>();
        if self.placement == Placement::Plain {
            return self.vertex(&weights, rest, (vertex, vertex, 0.0));
        }
        let influences = (rows.iter().zip(&weights).enumerate())
            .map(|(j, (own, &(bone, weight)))| {
                let place = self.to_rest(own) + moved(j);
                self.of_rest(bone, place, weight)
            })
            .collect::<Vec<Influence>>();
        LevelVertex {
            rest,
            influences,
            shapes: vertex.shapes.clone(),
        }
    }
}

impl Freedom {
    /// The best step for a quadric, from where the vertex is.
    #[inline(always)]
    pub(super) fn best_step(&self, quadric: &Quadric, at: &Lanes3, ridge: f64) -> Option<Vec<f64>> {
        let mut system = SmallSystem::new(self.directions.len());
        self.add_quadric(quadric, at, &mut system);
        system.solve_above(&self.floors, ridge)
    }

    /// Adds what a quadric says about the step to a system.
    #[inline(always)]
    pub(super) fn add_quadric(&self, quadric: &Quadric, at: &Lanes3, system: &mut SmallSystem) {
        let gradient = quadric.half_gradient(at);
        for (m, direction) in self.directions.iter().enumerate() {
            system.right[m] -= sum(&dot3(direction, &gradient));
            let turned = quadric.linear(direction);
            for (l, other) in self.directions[..=m].iter().enumerate() {
                system.matrix[m][l] += sum(&dot3(other, &turned));
            }
        }
    }
}

fn heaviest(rows: &[Influence]) -> usize {
    let heavier = |a: &usize, b: &usize| rows[*a].p.w.total_cmp(&rows[*b].p.w).then(b.cmp(a));
    (0..rows.len()).max_by(heavier).unwrap_or(0)
}

/// Symmetric equations in a few unknowns; below the diagonal.
#[derive(Debug, Clone)]
pub(super) struct SmallSystem {
    count: usize,
    pub(super) matrix: [[f64; MOST]; MOST],
    pub(super) right: [f64; MOST],
}

impl SmallSystem {
    pub(super) fn new(count: usize) -> Self {
        Self {
            count,
            matrix: [[0.0; MOST]; MOST],
            right: [0.0; MOST],
        }
    }

    /// Adds `weights (missed − Σ_m z_m slopes_m)²` over all poses.
    #[inline(always)]
    pub(super) fn add(&mut self, slopes: &[Lanes], missed: &Lanes, weights: &Lanes) {
        for (m, slope) in slopes.iter().enumerate() {
            let mut weighted = ZERO;
            for k in 0..LANES {
                weighted[k] = weights[k] * slope[k];
            }
            let dot = |other: &Lanes| {
                let mut products = ZERO;
                for k in 0..LANES {
                    products[k] = weighted[k] * other[k];
                }
                sum(&products)
            };
            self.right[m] += dot(missed);
            for (l, other) in slopes[..=m].iter().enumerate() {
                self.matrix[m][l] += dot(other);
            }
        }
    }

    /// As [`Self::solve`], with no parameter below its floor: what would be is held there, and the others make the best
    /// of it.
    pub(super) fn solve_above(mut self, floors: &[f64], ridge: f64) -> Option<Vec<f64>> {
        let mut held = [false; MOST];
        loop {
            let mut step = self.clone().solve(ridge)?;
            for (m, z) in step.iter_mut().enumerate().filter(|(m, _)| held[*m]) {
                *z = floors[m];
            }
            let below = |m: &usize| !held[*m] && step[*m] < floors[*m];
            let deeper =
                |a: &usize, b: &usize| (floors[*a] - step[*a]).total_cmp(&(floors[*b] - step[*b]));
            let Some(lowest) = (0..self.count).filter(below).max_by(deeper) else {
                return Some(step);
            };
            held[lowest] = true;
            self.hold(lowest, floors[lowest]);
        }
    }

    /// Gives a parameter its value: only the others are left to solve for.
    fn hold(&mut self, m: usize, value: f64) {
        for l in 0..self.count {
            let entry = match l < m {
                true => &mut self.matrix[m][l],
                false => &mut self.matrix[l][m],
            };
            self.right[l] -= value * std::mem::take(entry);
        }
        self.right[m] = 0.0;
    }

    /// The solution with each diagonal entry made larger by a share of itself; `None` when nothing is measured.
    pub(super) fn solve(mut self, ridge: f64) -> Option<Vec<f64>> {
        let n = self.count;
        let largest = (0..n).map(|m| self.matrix[m][m]).fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        // Cholesky's factor in the place of the matrix.
        for m in 0..n {
            let measured = self.matrix[m][m];
            self.matrix[m][m] = match measured > UNMEASURED * largest {
                true => measured + ridge * measured,
                // It stays.
                false => largest,
            };
            for l in 0..=m {
                let products = (0..l).map(|k| self.matrix[m][k] * self.matrix[l][k]);
                let rest = self.matrix[m][l] - products.sum::<f64>();
                self.matrix[m][l] = match l == m {
                    false => rest / self.matrix[l][l],
                    true if rest > 0.0 => rest.sqrt(),
                    true => return None,
                };
            }
        }
        let mut solution = self.right[..n].to_vec();
        for m in 0..n {
            let known: f64 = (0..m).map(|k| self.matrix[m][k] * solution[k]).sum();
            solution[m] = (solution[m] - known) / self.matrix[m][m];
        }
        for m in (0..n).rev() {
            let known: f64 = (m + 1..n).map(|k| self.matrix[k][m] * solution[k]).sum();
            solution[m] = (solution[m] - known) / self.matrix[m][m];
        }
        solution.iter().all(|z| z.is_finite()).then_some(solution)
    }
}
