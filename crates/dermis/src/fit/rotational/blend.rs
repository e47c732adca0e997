//! Blends of few motions for many vertices: which proxies move a vertex, and how the proxies must move.
//!
//! Every item (a vertex, with the direction of the skin there) follows a blend of a few of the keys near it
//! (\[Wang07\] §5.1), with weights that are never negative and sum to 1. Weights for given keys are small
//! problems, one per item; keys for given weights are one linear system for all examples and rows. The two are
//! solved in turn.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use glam::DVec3;

use crate::fit::FitError;
use crate::par;
use crate::progress::{Progress, Stage};
use crate::skin::Rows;
use crate::solve::SimplexLs;

/// How strongly keys are held at their previous values, as a share of their own part of the system: it
/// decides only what the items do not determine.
const PROXIMITY: f64 = 1e-6;

/// Numbers in a row of an affine motion.
const N: usize = 4;

/// How many parts a sum over the mesh has, each with a dense system of its own. It depends on the number of proxies
/// alone, so that sums have the same order for any number of threads; where systems are large and few
/// of them fit into memory, factorising takes much longer than summing anyway.
pub(super) fn part_count(proxy_count: usize) -> usize {
    match proxy_count {
        0..=128 => 8,
        129..=256 => 4,
        257..=512 => 2,
        _ => 1,
    }
}

/// Weights over affine motions, and the motions.
pub(super) struct Blend {
    /// The vectors of each item that keys act on, in the rest pose: points with 1 as fourth number,
    /// directions with 0.
    pub(super) inputs: Rows<[f64; N]>,
    /// Where the keys should take them, by item, then by example, then in the order of the inputs.
    pub(super) targets: Vec<Vec<DVec3>>,
    /// The keys that each item may use.
    pub(super) allowed: Rows<u16>,
    pub(super) example_count: usize,
    pub(super) max_influences: usize,
}

/// Motions of all keys in all examples.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    pub(super) count: usize,
    /// By example, then by key: three rows.
    pub(super) rows: Vec<[[f64; N]; 3]>,
}

/// Key and weight, by item.
pub(super) type Weights = Rows<(u16, f64)>;

impl Keys {
    pub(super) fn get(&self, example: usize, key: usize) -> &[[f64; N]; 3] {
        &self.rows[example * self.count + key]
    }
}

fn apply(rows: &[[f64; N]; 3], input: &[f64; N]) -> DVec3 {
    DVec3::from_array(rows.map(|row| row.iter().zip(input).map(|(a, b)| a * b).sum()))
}

impl Blend {
    /// Weights and keys in turn, beginning with weights for the given keys.
    pub(super) fn solve(
        &self,
        mut keys: Keys,
        rounds: usize,
        progress: &dyn Progress,
        name: &str,
    ) -> Result<(Weights, Keys), FitError> {
        let stage = Stage::new(progress, name, (rounds + 1) * self.allowed.len());
        let mut weights = self.weights(&keys, &stage);
        for _ in 0..rounds {
            if stage.is_stopped() {
                break;
            }
            keys = self.keys(&weights, &keys);
            weights = self.weights(&keys, &stage);
        }
        match stage.is_stopped() {
            true => Err(FitError::Stopped),
            false => Ok((weights, keys)),
        }
    }

    /// The best weights of every item.
    fn weights(&self, keys: &Keys, stage: &Stage<'_>) -> Weights {
        let scratch = || (SimplexLs::new(), Vec::new());
        let solved = par::map_with(self.allowed.len(), scratch, |(solver, columns), item| {
            let allowed = self.allowed.row(item);
            if !stage.step() || allowed.is_empty() {
                return Vec::new();
            }
            let inputs = self.inputs.row(item);
            columns.clear();
            for &key in allowed {
                let mut targets = self.targets[item].iter();
                for example in 0..self.example_count {
                    let motion = keys.get(example, usize::from(key));
                    for input in inputs {
                        let target = targets.next().expect("one per input and example");
                        columns.extend((apply(motion, input) - *target).to_array());
                    }
                }
            }
            let rows = 3 * inputs.len() * self.example_count;
            let solution = solver.solve(columns, rows, self.max_influences);
            let weights = solution.weights.iter().map(|&(c, w)| (allowed[c], w));
            weights.collect()
        });
        solved.into_iter().collect()
    }

    /// The best keys for given weights, held at the given ones where the items do not determine them.
    fn keys(&self, weights: &Weights, before: &Keys) -> Keys {
        let size = N * before.count;
        let columns = 3 * self.example_count;
        let count = self.allowed.len();
        let part_count = part_count(before.count);
        let mut parts = par::map(part_count, |part| {
            let items = part * count / part_count..(part + 1) * count / part_count;
            let mut matrix = Mat::<f64>::zeros(size, size);
            let mut right = Mat::<f64>::zeros(size, columns);
            for item in items {
                self.add_item(item, weights.row(item), &mut matrix, &mut right);
            }
            (matrix, right)
        })
        .into_iter();
        let (mut matrix, mut right) = parts.next().expect("at least one part");
        for (m, r) in parts {
            matrix += m;
            right += r;
        }
        let largest = (0..size).map(|d| matrix[(d, d)]).fold(0.0, f64::max);
        for d in 0..size {
            let hold = PROXIMITY * matrix[(d, d)].max(1e-6 * largest).max(f64::MIN_POSITIVE);
            matrix[(d, d)] += hold;
            let (key, c) = (d / N, d % N);
            for example in 0..self.example_count {
                for (row, numbers) in before.get(example, key).iter().enumerate() {
                    right[(d, 3 * example + row)] += hold * numbers[c];
                }
            }
        }
        let Ok(factor) = matrix.llt(Side::Lower) else {
            return before.clone();
        };
        factor.solve_in_place(&mut right);
        let rows = (0..self.example_count * before.count)
            .map(|n| {
                let (example, key) = (n / before.count, n % before.count);
                std::array::from_fn(|row| {
                    std::array::from_fn(|c| right[(N * key + c, 3 * example + row)])
                })
            })
            .collect();
        Keys {
            count: before.count,
            rows,
        }
    }

    fn add_item(
        &self,
        item: usize,
        weights: &[(u16, f64)],
        matrix: &mut Mat<f64>,
        right: &mut Mat<f64>,
    ) {
        let inputs = self.inputs.row(item);
        for &(a, wa) in weights {
            let first = N * usize::from(a);
            for (n, input) in inputs.iter().enumerate() {
                for &(b, wb) in weights {
                    let other = N * usize::from(b);
                    for (c, x) in input.iter().enumerate() {
                        for (d, y) in input.iter().enumerate() {
                            matrix[(first + d, other + c)] += wa * wb * x * y;
                        }
                    }
                }
                for example in 0..self.example_count {
                    let target = wa * self.targets[item][example * inputs.len() + n];
                    for row in 0..3 {
                        for (c, x) in input.iter().enumerate() {
                            right[(first + c, 3 * example + row)] += x * target[row];
                        }
                    }
                }
            }
        }
    }
}
