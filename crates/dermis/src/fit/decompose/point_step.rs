//! The best weights and rest position of every point, for given bones.
//!
//! Points do not depend on each other. For each, weights come from the closest point on the simplex
//! of its bones' predictions, and the rest position from a 3x3 system (\[Kavan10\] §4.3, §4.4). The
//! paper lets the four bones act that predict the point best one by one; here a point keeps the
//! bones that it has, and takes another one in exchange when the error falls, so that bones are
//! chosen for what they add.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::model::{Bones, Points, Supports, Targets};
use super::products::{Products, monomials};
use crate::par;
use crate::solve::SimplexGram;

/// Points that are solved together: their products with all bones are one matrix product.
const BLOCK: usize = 64;

/// A bone must lower the squared error of a point by this share of it to be looked at.
const WORTHWHILE: f64 = 1e-6;

/// What a step may change, and how hard it tries.
#[derive(Debug, Clone)]
pub(super) struct PointStep<'a> {
    /// Most bones that may move a point.
    pub(super) max_influences: usize,
    /// Whether points may exchange bones; otherwise they keep those that they have.
    pub(super) exchange: bool,
    /// Whether rest positions change.
    pub(super) update_rest: bool,
    /// How often weights and rest position follow each other.
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
    /// Weights and rest positions that follow from `bones`, beginning with those of `points`.
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
    /// `φ_j·y`, plus what neighbours ask for.
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

    /// Adds what smoothness asks for to the products; returns the strength times the neighbours.
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

    /// Closes up over bones without weight.
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

    /// Takes in bones that lower the error, each for one that is then missed least when there is no
    /// room; returns the value that is reached.
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

    /// Begins again with the bones that predict the point best one by one, as the paper does, and
    /// keeps what is better: exchanges alone do not leave every local optimum.
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

    /// The bone outside that promises the largest gain when the point moves towards its prediction.
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
mod tests {
    use super::*;
    use crate::solve::SimplexLs;

    /// Numbers without a pattern.
    fn noise(seed: usize) -> f64 {
        let x = (seed as f64 * 12.9898).sin() * 43758.5453;
        2.0 * (x - x.floor()) - 1.0
    }

    /// Random bones, and points that follow three of them and some noise.
    fn problem(bone_count: usize, point_count: usize) -> (Targets, Bones, Points) {
        let dimension = 12;
        let mut bones = Bones::zeros(bone_count, dimension);
        for bone in 0..bone_count {
            for component in 0..4 {
                for (r, value) in bones.column_mut(component, bone).iter_mut().enumerate() {
                    *value = noise(1 + r + 12 * (component + 4 * bone));
                }
            }
        }
        let rest: Vec<[f64; 3]> = (0..point_count)
            .map(|p| [0, 1, 2].map(|axis| noise(90_000 + 3 * p + axis)))
            .collect();
        let mut coordinates = Vec::new();
        let mut out = vec![0.0; dimension];
        for (p, place) in rest.iter().enumerate() {
            let mut sum: Vec<f64> = (0..dimension)
                .map(|r| 0.2 * noise(500_000 + 12 * p + r))
                .collect();
            for (share, step) in [(0.5, 1), (0.3, 3), (0.2, 5)] {
                bones.predict((p * step + step) % bone_count, place, &mut out);
                sum.iter_mut().zip(&out).for_each(|(s, o)| *s += share * o);
            }
            coordinates.extend(sum);
        }
        let points = Points {
            rest,
            supports: Supports::single(&vec![0; point_count], 3).with_stride(3),
            errors: vec![0.0; point_count],
        };
        let targets = Targets::new(dimension, coordinates, vec![1.0; point_count]);
        (targets, bones, points)
    }

    fn step(update_rest: bool) -> PointStep<'static> {
        PointStep {
            max_influences: 3,
            exchange: true,
            update_rest,
            passes: 1,
            locked: None,
            smooth: None,
        }
    }

    /// What single bones leave over at a point, one column after the other.
    fn residuals(targets: &Targets, bones: &Bones, rest: &[f64; 3], point: usize) -> Vec<f64> {
        let mut out = vec![0.0; targets.dimension];
        let mut columns = Vec::new();
        for bone in 0..bones.count {
            bones.predict(bone, rest, &mut out);
            let left = out.iter().zip(targets.column(point)).map(|(a, b)| a - b);
            columns.extend(left);
        }
        columns
    }

    #[test]
    fn errors_are_those_of_the_weights_and_near_the_best_of_all_sets() {
        let (targets, bones, mut points) = problem(9, 60);
        for _ in 0..3 {
            points = step(false).run(&targets, &bones, &points);
        }
        let d = targets.dimension;
        let (mut found, mut best, mut four_best_alone) = (0.0, 0.0, 0.0);
        for point in 0..60 {
            let columns = residuals(&targets, &bones, &points.rest[point], point);
            let column = |bone: usize| &columns[bone * d..][..d];
            let mut blend = vec![0.0; d];
            for (bone, weight) in points.supports.pairs(point) {
                let pairs = blend.iter_mut().zip(column(bone));
                pairs.for_each(|(sum, x)| *sum += weight * x);
            }
            let error: f64 = blend.iter().map(|x| x * x).sum();
            let told = points.errors[point];
            assert!((error - told).abs() < 1e-9, "point {point}: {error} {told}");
            found += error;
            // Every set of three.
            let mut least = f64::INFINITY;
            for a in 0..9 {
                for b in a..9 {
                    for c in b..9 {
                        let set = [column(a), column(b), column(c)].concat();
                        least = least.min(SimplexLs::new().solve(&set, d, 3).squared_error);
                    }
                }
            }
            best += least;
            let mut order: Vec<usize> = (0..9).collect();
            let alone = |bone: usize| column(bone).iter().map(|x| x * x).sum::<f64>();
            order.sort_by(|&a, &b| alone(a).total_cmp(&alone(b)));
            let set: Vec<f64> = order[..3]
                .iter()
                .flat_map(|&bone| column(bone).to_vec())
                .collect();
            four_best_alone += SimplexLs::new().solve(&set, d, 3).squared_error;
        }
        println!("found {found:.4}, best {best:.4}, best alone {four_best_alone:.4}");
        assert!(found < 1.05 * best, "{found} {best}");
        assert!(found < four_best_alone, "{found} {four_best_alone}");
    }

    #[test]
    fn rest_positions_move_to_their_optimum() {
        let (targets, bones, points) = problem(5, 20);
        let moved = step(true).run(&targets, &bones, &points);
        let fixed_sets = PointStep {
            exchange: false,
            update_rest: false,
            locked: None,
            ..step(false)
        };
        let locked = vec![true; 20];
        let evaluate = PointStep {
            locked: Some(&locked),
            ..fixed_sets
        };
        let here = evaluate.run(&targets, &bones, &moved);
        for point in 0..20 {
            let told = moved.errors[point];
            assert!((here.errors[point] - told).abs() < 1e-9, "point {point}");
        }
        for axis in 0..3 {
            for step in [-1e-3, 1e-3] {
                let mut beside = moved.clone();
                beside.rest.iter_mut().for_each(|p| p[axis] += step);
                let there = evaluate.run(&targets, &bones, &beside);
                for point in 0..20 {
                    let rises = there.errors[point] >= here.errors[point] - 1e-12;
                    assert!(rises, "point {point} along axis {axis}");
                }
            }
        }
    }

    #[test]
    fn locked_points_keep_their_weights() {
        let (targets, bones, points) = problem(5, 20);
        let locked: Vec<bool> = (0..20).map(|p| p % 2 == 0).collect();
        let step = PointStep {
            locked: Some(&locked),
            ..step(false)
        };
        let solved = step.run(&targets, &bones, &points);
        for (point, &is_locked) in locked.iter().enumerate() {
            let kept = solved.supports.bones(point) == points.supports.bones(point);
            assert_eq!(
                kept && solved.supports.weights(point) == [1.0],
                is_locked,
                "{point}"
            );
        }
    }
}
