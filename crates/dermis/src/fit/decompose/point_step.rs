//! The best weights and rest position of every point, for given bones.
//!
//! Points do not depend on each other. For each, weights come from the closest point on the simplex
//! of its bones' predictions, and the rest position from a 3x3 system (\[Kavan10\] §4.3, §4.4). The paper
//! uses the four bones that predict the point best one by one; here a point keeps its bones, and exchanges
//! one for another when that lowers the error, so that bones are chosen for how well they work together.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::model::{Bones, Points, Supports, Targets};
use super::products::{Products, monomials};
use crate::par;
use crate::solve::SimplexGram;

/// Points that are solved together: their products with all bones are one matrix product.
const BLOCK: usize = 64;

/// A bone must promise to lower the squared error of a point by this share to be tried.
const WORTHWHILE: f64 = 1e-6;

/// What a step may change, and how many passes it makes.
#[derive(Debug, Clone)]
pub(super) struct PointStep<'a> {
    /// Most bones that may move a point.
    pub(super) max_influences: usize,
    /// Whether points may exchange bones; otherwise they keep their bones.
    pub(super) exchange: bool,
    /// Whether rest positions change.
    pub(super) update_rest: bool,
    /// How often weights and rest positions are solved in turn.
    pub(super) passes: usize,
    /// Points that keep their weights.
    pub(super) locked: Option<&'a [bool]>,
    /// Ties weights to those of neighbours.
    pub(super) smooth: Option<Smooth<'a>>,
}

/// `strength · Σ |w − w'|²` over the neighbours of a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Smooth<'a> {
    pub(super) strength: f64,
    pub(super) neighbors: &'a [Vec<u32>],
}

impl PointStep<'_> {
    /// Solves weights and rest positions for `bones`, beginning with those of `points`.
    pub(super) fn run(&self, targets: &Targets, bones: &Bones, points: &Points) -> Points {
        // Locked points may have more influences than others are allowed.
        match self.max_influences.max(points.supports.stride) {
            0..=4 => self.run_sized::<5>(targets, bones, points),
            5..=8 => self.run_sized::<9>(targets, bones, points),
            9..=16 => self.run_sized::<17>(targets, bones, points),
            _ => self.run_sized::<33>(targets, bones, points),
        }
    }

    /// `N` is the number of corners that a simplex may have: one more than the influences.
    fn run_sized<const N: usize>(
        &self,
        targets: &Targets,
        bones: &Bones,
        points: &Points,
    ) -> Points {
        let products = Products::new(bones);
        let padded = bones.padded;
        let columns = MatRef::from_column_major_slice(&bones.columns, bones.dimension, 4 * padded);
        let count = targets.count();
        let simd = pulp::Arch::new();
        let blocks = par::map_with(
            count.div_ceil(BLOCK),
            || (Mat::<f64>::zeros(4 * padded, BLOCK), Scratch::new(padded)),
            |(projected, scratch), block| {
                let first = block * BLOCK;
                let size = BLOCK.min(count - first);
                let d = targets.dimension;
                let coordinates = MatRef::from_column_major_slice(
                    &targets.coordinates[first * d..][..size * d],
                    d,
                    size,
                );
                matmul(
                    projected.as_mut().subcols_mut(0, size),
                    Accum::Replace,
                    columns.transpose(),
                    coordinates,
                    1.0,
                    Par::Seq,
                );
                let mut solved = Points {
                    rest: Vec::with_capacity(size),
                    supports: Supports::with_capacity(size, points.supports.stride),
                    errors: Vec::with_capacity(size),
                };
                simd.dispatch(
                    #[inline(always)]
                    || {
                        for point in first..first + size {
                            let column = projected.col(point - first);
                            let projected = column.try_as_col_major().expect("contiguous");
                            let mut solver = PointSolver::<N> {
                                step: self,
                                products: &products,
                                projected: projected.as_slice(),
                                squared_norm: targets.squared_norms[point],
                                scratch,
                                support: Support::of(&points.supports, point),
                                rest: points.rest[point],
                            };
                            let error = solver.solve(point, &points.supports);
                            let support = solver.support;
                            let n = support.count;
                            solved
                                .supports
                                .push(&support.bones[..n], &support.weights[..n]);
                            solved.rest.push(solver.rest);
                            solved.errors.push(error);
                        }
                    },
                );
                solved
            },
        );
        let mut all = Points {
            rest: Vec::with_capacity(count),
            supports: Supports::with_capacity(count, points.supports.stride),
            errors: Vec::with_capacity(count),
        };
        for block in blocks {
            all.rest.extend_from_slice(&block.rest);
            all.supports.append(&block.supports);
            all.errors.extend_from_slice(&block.errors);
        }
        all
    }
}

/// Numbers over all bones, for one point at a time.
struct Scratch {
    /// `φ_j·y`, plus the terms of the neighbours.
    b: Vec<f64>,
    /// `φ_j·φ_j`.
    squares: Vec<f64>,
    /// `φ_j·φ_k` for the bones k in use, one after the other.
    columns: Vec<Vec<f64>>,
    /// `φ_j·(y − m)`.
    slopes: Vec<f64>,
    gains: Vec<f64>,
    /// Sums of the neighbours' weights.
    wanted: Vec<f64>,
}

impl Scratch {
    fn new(padded: usize) -> Self {
        let zeros = || vec![0.0; padded];
        Self {
            b: zeros(),
            squares: zeros(),
            columns: Vec::new(),
            slopes: zeros(),
            gains: zeros(),
            wanted: zeros(),
        }
    }
}

/// The bones of one point. `Scratch::columns` follows the same order.
#[derive(Debug, Clone, Copy)]
struct Support<const N: usize> {
    count: usize,
    bones: [u16; N],
    weights: [f64; N],
}

impl<const N: usize> Support<N> {
    #[inline(always)]
    fn of(supports: &Supports, point: usize) -> Self {
        let (bones, weights) = (supports.bones(point), supports.weights(point));
        let mut support = Self {
            count: bones.len(),
            bones: [0; N],
            weights: [0.0; N],
        };
        support.bones[..bones.len()].copy_from_slice(bones);
        support.weights[..weights.len()].copy_from_slice(weights);
        support
    }
}

struct PointSolver<'a, const N: usize> {
    step: &'a PointStep<'a>,
    products: &'a Products,
    /// `Tᵀ y`.
    projected: &'a [f64],
    squared_norm: f64,
    scratch: &'a mut Scratch,
    support: Support<N>,
    rest: [f64; 3],
}

impl<const N: usize> PointSolver<'_, N> {
    /// Solves, and returns the squared error.
    #[inline(always)]
    fn solve(&mut self, point: usize, all: &Supports) -> f64 {
        let locked = self.step.locked.is_some_and(|locked| locked[point]);
        let mut error = 0.0;
        for pass in 0..self.step.passes {
            let monomials = monomials(&self.rest);
            self.multiply(&monomials);
            let penalty = self.tie_to_neighbors(point, all);
            if !locked && self.step.max_influences == 1 {
                self.follow_the_best_bone();
            }
            while self.scratch.columns.len() <= self.support.count {
                self.scratch.columns.push(vec![0.0; self.products.padded]);
            }
            for slot in 0..self.support.count {
                self.fill_column(slot, &monomials, penalty);
            }
            let mut value = self.gram().value(&self.support.weights);
            if !locked && self.step.max_influences > 1 {
                value = self.gram().solve(&mut self.support.weights);
                self.drop_unused();
                if self.step.exchange && pass == 0 {
                    value = self.exchange(value, &monomials, penalty);
                    value = self.try_the_best_alone(value, &monomials, penalty);
                }
            }
            error = self.squared_norm + value - self.neighbors_part(penalty);
            if self.step.update_rest {
                error -= self.move_rest();
            }
        }
        error.max(0.0)
    }

    /// `φ_j·y` and `φ_j·φ_j` for all bones.
    #[inline(always)]
    fn multiply(&mut self, monomials: &[f64; 10]) {
        let padded = self.products.padded;
        let row = |k: usize| &self.projected[k * padded..][..padded];
        let (x, y, z, one) = (row(0), row(1), row(2), row(3));
        let b = &mut self.scratch.b[..padded];
        let v = self.rest;
        for j in 0..padded {
            b[j] = v[0] * x[j] + v[1] * y[j] + v[2] * z[j] + one[j];
        }
        let squares = &mut self.scratch.squares[..padded];
        self.products.squares(monomials, squares);
    }

    /// Adds the terms of smoothness to the products; returns the strength times the number of neighbours.
    #[inline(always)]
    fn tie_to_neighbors(&mut self, point: usize, all: &Supports) -> f64 {
        let Some(Smooth {
            strength,
            neighbors,
        }) = self.step.smooth
        else {
            return 0.0;
        };
        let scratch = &mut *self.scratch;
        scratch.wanted.fill(0.0);
        for &neighbor in &neighbors[point] {
            for (bone, weight) in all.pairs(neighbor as usize) {
                scratch.wanted[bone] += strength * weight;
            }
        }
        let penalty = strength * neighbors[point].len() as f64;
        for (b, wanted) in scratch.b.iter_mut().zip(&scratch.wanted) {
            *b += wanted;
        }
        scratch.squares.iter_mut().for_each(|s| *s += penalty);
        penalty
    }

    /// The part of the value that smoothness has added.
    #[inline(always)]
    fn neighbors_part(&self, penalty: f64) -> f64 {
        if penalty == 0.0 {
            return 0.0;
        }
        let n = self.support.count;
        let pairs = self.support.weights[..n].iter().zip(&self.support.bones);
        pairs
            .map(|(w, &bone)| penalty * w * w - 2.0 * w * self.scratch.wanted[usize::from(bone)])
            .sum()
    }

    /// One bone alone: the one that predicts the point best.
    #[inline(always)]
    fn follow_the_best_bone(&mut self) {
        let mut best = 0;
        let mut least = f64::INFINITY;
        for j in 0..self.products.count {
            let value = self.scratch.squares[j] - 2.0 * self.scratch.b[j];
            if value < least {
                least = value;
                best = j;
            }
        }
        self.support.count = 1;
        self.support.bones[0] = best as u16;
        self.support.weights[0] = 1.0;
    }

    #[inline(always)]
    fn fill_column(&mut self, slot: usize, monomials: &[f64; 10], penalty: f64) {
        let bone = usize::from(self.support.bones[slot]);
        let column = &mut self.scratch.columns[slot];
        self.products.column(bone, monomials, column);
        column[bone] += penalty;
    }

    /// The small problem of the bones in use.
    #[inline(always)]
    fn gram(&self) -> SimplexGram<N> {
        let n = self.support.count;
        let mut gram = SimplexGram {
            count: n,
            g: [[0.0; N]; N],
            b: [0.0; N],
        };
        for i in 0..n {
            gram.b[i] = self.scratch.b[usize::from(self.support.bones[i])];
            for k in 0..n {
                gram.g[i][k] = self.scratch.columns[i][usize::from(self.support.bones[k])];
            }
        }
        gram
    }

    /// Removes bones without weight.
    #[inline(always)]
    fn drop_unused(&mut self) {
        let support = &mut self.support;
        let mut kept = 0;
        for slot in 0..support.count {
            if support.weights[slot] > 0.0 {
                if kept != slot {
                    support.bones[kept] = support.bones[slot];
                    support.weights[kept] = support.weights[slot];
                    self.scratch.columns.swap(kept, slot);
                }
                kept += 1;
            }
        }
        support.count = kept;
    }

    /// Adds bones that lower the error; when there is no room, each replaces the bone whose removal costs
    /// least. Returns the value that is reached.
    #[inline(always)]
    fn exchange(&mut self, mut value: f64, monomials: &[f64; 10], penalty: f64) -> f64 {
        let most = self.step.max_influences;
        // Room for every influence, and then one exchange: the next round tries the next one.
        for _ in 0..=most {
            let Some(bone) = self.most_promising(value) else {
                break;
            };
            let n = self.support.count;
            while self.scratch.columns.len() <= n {
                self.scratch.columns.push(vec![0.0; self.products.padded]);
            }
            let before = self.support;
            self.support.bones[n] = bone as u16;
            self.support.weights[n] = 0.0;
            self.support.count = n + 1;
            self.fill_column(n, monomials, penalty);
            let gram = self.gram();
            let mut found = gram.solve(&mut self.support.weights);
            let used = |weights: &[f64]| weights.iter().filter(|&&w| w > 0.0).count();
            if used(&self.support.weights[..=n]) > most {
                found = self.leave_one_out(&gram, found);
            }
            if found < value {
                value = found;
                self.drop_unused();
            } else {
                self.support = before;
                break;
            }
        }
        value
    }

    /// Begins again with the bones that predict the point best one by one, as the paper does, and keeps the
    /// better result: exchanges alone do not leave every local optimum.
    #[inline(always)]
    fn try_the_best_alone(&mut self, value: f64, monomials: &[f64; 10], penalty: f64) -> f64 {
        let most = self.step.max_influences.min(self.products.count);
        let mut best = [(f64::INFINITY, 0u16); N];
        for j in 0..self.products.count {
            let error = self.scratch.squares[j] - 2.0 * self.scratch.b[j];
            if error < best[most - 1].0 {
                let mut at = most - 1;
                while at > 0 && best[at - 1].0 > error {
                    best[at] = best[at - 1];
                    at -= 1;
                }
                best[at] = (error, j as u16);
            }
        }
        let before = self.support;
        let in_use = &before.bones[..before.count];
        if best[..most].iter().all(|(_, bone)| in_use.contains(bone)) {
            return value;
        }
        self.support.count = most;
        for (slot, &(_, bone)) in best[..most].iter().enumerate() {
            self.support.bones[slot] = bone;
            self.support.weights[slot] = 1.0 / most as f64;
        }
        while self.scratch.columns.len() <= most {
            self.scratch.columns.push(vec![0.0; self.products.padded]);
        }
        for slot in 0..most {
            self.fill_column(slot, monomials, penalty);
        }
        let found = self.gram().solve(&mut self.support.weights);
        if found < value {
            self.drop_unused();
            return found;
        }
        // The columns are not needed again in this pass.
        self.support = before;
        value
    }

    /// The bone not in use that promises the largest gain when the point moves towards its prediction.
    #[inline(always)]
    fn most_promising(&mut self, value: f64) -> Option<usize> {
        let padded = self.products.padded;
        let n = self.support.count;
        let scratch = &mut *self.scratch;
        let (b, slopes) = (&scratch.b[..padded], &mut scratch.slopes[..padded]);
        slopes.copy_from_slice(b);
        for (column, &weight) in scratch.columns.iter().zip(&self.support.weights[..n]) {
            let column = &column[..padded];
            for j in 0..padded {
                slopes[j] -= weight * column[j];
            }
        }
        let mut mean = 0.0;
        let mut length = 0.0;
        for slot in 0..n {
            let j = usize::from(self.support.bones[slot]);
            let weight = self.support.weights[slot];
            mean += weight * slopes[j];
            length += weight * (b[j] - slopes[j]);
        }
        let (squares, gains) = (&scratch.squares[..padded], &mut scratch.gains[..padded]);
        for j in 0..padded {
            let rise = (slopes[j] - mean).max(0.0);
            let way = (squares[j] - 2.0 * (b[j] - slopes[j]) + length).max(1e-300);
            let step = (rise / way).min(1.0);
            gains[j] = step * (2.0 * rise - step * way);
        }
        for &bone in &self.support.bones[..n] {
            gains[usize::from(bone)] = 0.0;
        }
        // Below 1e-15 of the trajectory's own length differences are rounding.
        let error = (self.squared_norm + value).max(0.0);
        let mut largest = WORTHWHILE * error + 1e-15 * self.squared_norm;
        let mut best = None;
        for (j, &gain) in gains[..self.products.count].iter().enumerate() {
            if gain > largest {
                largest = gain;
                best = Some(j);
            }
        }
        best
    }

    /// The best weights without one of the old bones; the last one is new and stays.
    #[inline(always)]
    fn leave_one_out(&mut self, gram: &SimplexGram<N>, found: f64) -> f64 {
        let n = self.support.count;
        let full = self.support.weights;
        let mut best = f64::INFINITY;
        let mut best_weights = full;
        for left_out in 0..n - 1 {
            let remaining = 1.0 - full[left_out];
            if remaining < 1e-9 {
                continue;
            }
            let place = |slot: usize| slot + usize::from(slot >= left_out);
            let mut smaller = SimplexGram {
                count: n - 1,
                g: [[0.0; N]; N],
                b: [0.0; N],
            };
            let mut weights = [0.0; N];
            for i in 0..n - 1 {
                smaller.b[i] = gram.b[place(i)];
                weights[i] = full[place(i)] / remaining;
                for k in 0..n - 1 {
                    smaller.g[i][k] = gram.g[place(i)][place(k)];
                }
            }
            let value = smaller.solve(&mut weights);
            if value < best {
                best = value;
                best_weights = [0.0; N];
                for i in 0..n - 1 {
                    best_weights[place(i)] = weights[i];
                }
            }
        }
        debug_assert!(
            best >= found - 1e-9 * found.abs(),
            "fewer bones are no better"
        );
        self.support.weights = best_weights;
        best
    }

    /// Moves the rest position to its optimum; returns by how much the error falls.
    ///
    /// A step towards the solution of the 3x3 system, slightly damped: where bones leave a direction
    /// undetermined the point stays.
    #[inline(always)]
    fn move_rest(&mut self) -> f64 {
        let padded = self.products.padded;
        let support = &self.support;
        let mut a = glam::DMat3::ZERO;
        let mut right = glam::DVec3::ZERO;
        for s in 0..support.count {
            let (j, w) = (usize::from(support.bones[s]), support.weights[s]);
            for row in 0..3 {
                right[row] += w * self.projected[row * padded + j];
            }
            for t in 0..support.count {
                let k = usize::from(support.bones[t]);
                let weight = w * support.weights[t];
                for row in 0..3 {
                    for column in 0..3 {
                        let entry = self.products.entry((row, j), (column, k));
                        a.col_mut(column)[row] += weight * entry;
                    }
                    right[row] -= weight * self.products.entry((row, j), (3, k));
                }
            }
        }
        let trace = a.x_axis.x + a.y_axis.y + a.z_axis.z;
        let slope = right - a * glam::DVec3::from_array(self.rest);
        let damped = a + glam::DMat3::from_diagonal(glam::DVec3::splat(1e-8 * trace));
        let step = damped.inverse() * slope;
        if trace <= 0.0 || !step.is_finite() {
            return 0.0;
        }
        for (coordinate, change) in self.rest.iter_mut().zip(step.to_array()) {
            *coordinate += change;
        }
        step.dot(2.0 * slope - a * step)
    }
}

#[cfg(test)]
mod tests;
