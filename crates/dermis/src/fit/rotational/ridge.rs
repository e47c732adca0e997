//! Ridge regression of a patch's numbers on the turns of joints, judged by its error on left-out examples.
//!
//! The joints and their inputs make a [`Design`], whose eigenvectors serve every ridge and every patch. Then
//! a regression is two small products, and the error of each left-out example has a closed form: its error
//! when fitted with all examples, divided by 1 minus the example's own part in its prediction.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use glam::DVec3;

use crate::rig::stretch_inputs;
use crate::solve::SymmetricEigen;

/// Ridges that are tried, in units of the mean square of the inputs.
const RIDGES: [f64; 6] = [1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];

/// Least unit of a turn, in radians (29°): a joint that turned less has less effect, because in another pose
/// it may turn further.
const LEAST_UNIT_RAD: f64 = 0.5;

/// Price of inputs, counted as far as the examples distinguish them (the trace of the regression's
/// projection): with as many inputs as examples, the error of left-out examples counts four times. The price
/// is needed because some of the hundreds of regressions do well by chance. At a price of 1 the held-out EE
/// (enveloping error on held-out examples) of the papers' horse (11 poses) was 72%, at 3 it was 62%, at 6
/// 61%, before turns about the joint's own axis were tried; a cat's (10 poses) 57%, 60%, 61%.
const INPUT_PRICE: f64 = 3.0;

/// Numbers of a patch that are predicted.
pub(super) type Outputs = [f64; 12];

/// The best regression on some inputs.
pub(super) struct Ridge {
    /// As [`PatchPredictor::stretch`](crate::rig::PatchPredictor::stretch).
    pub(super) shares: Vec<Outputs>,
    /// Sum of squared errors of examples that were left out, with the price of inputs.
    pub(super) left_out: f64,
}

/// Some inputs in all examples.
pub(super) struct Design {
    joint_count: usize,
    /// The first 3 inputs of each joint, or all 9.
    per_joint: usize,
    width: usize,
    /// The divisor of each input, so that one ridge suits all.
    units: Vec<f64>,
    /// `XᵀX / n` for the divided inputs `X`.
    eigen: SymmetricEigen,
    /// `X U`, example by example.
    projected: Vec<f64>,
}

/// The joints of a design and how many inputs each has.
type Key = (Vec<usize>, usize);

/// Designs over the turns of all joints in all examples, made when first used.
pub(super) struct Designs {
    /// By joint, then by example.
    turns: Vec<Vec<DVec3>>,
    example_count: usize,
    made: Mutex<BTreeMap<Key, Arc<Design>>>,
}

impl Designs {
    pub(super) fn new(turns: Vec<Vec<DVec3>>, example_count: usize) -> Self {
        Self {
            turns,
            example_count,
            made: Mutex::default(),
        }
    }

    /// The design of some joints, with their first 3 inputs or all 9.
    pub(super) fn get(&self, joints: &[usize], per_joint: usize) -> Arc<Design> {
        let key = (joints.to_vec(), per_joint);
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(design) = made().get(&key) {
            return Arc::clone(design);
        }
        // If two threads make the same design, the results are equal.
        let design = Arc::new(self.make(joints, per_joint));
        made().insert(key, Arc::clone(&design));
        design
    }

    fn make(&self, joints: &[usize], per_joint: usize) -> Design {
        let (turns, count) = (&self.turns, self.example_count);
        let width = per_joint * joints.len() + 1;
        let mut inputs = vec![1.0; count * width];
        for (k, row) in inputs.chunks_exact_mut(width).enumerate() {
            for (&joint, row) in joints.iter().zip(row.chunks_exact_mut(per_joint)) {
                row.copy_from_slice(&stretch_inputs(turns[joint][k])[..per_joint]);
            }
        }
        let units: Vec<f64> = (0..width)
            .map(|c| {
                let squared: f64 = inputs.iter().skip(c).step_by(width).map(|x| x * x).sum();
                let least = match c % per_joint {
                    _ if c + 1 == width => 0.0,
                    0..3 => LEAST_UNIT_RAD,
                    _ => LEAST_UNIT_RAD * LEAST_UNIT_RAD,
                };
                (squared / count as f64).sqrt().max(least)
            })
            .collect();
        for row in inputs.chunks_exact_mut(width) {
            row.iter_mut().zip(&units).for_each(|(x, unit)| *x /= unit);
        }
        let mut gram = vec![0.0; width * width];
        for row in inputs.chunks_exact(width) {
            for (a, sums) in row.iter().zip(gram.chunks_exact_mut(width)) {
                for (b, sum) in row.iter().zip(sums) {
                    *sum += a * b / count as f64;
                }
            }
        }
        let eigen = SymmetricEigen::new(&gram, width);
        let mut projected = Vec::with_capacity(inputs.len());
        for row in inputs.chunks_exact(width) {
            let along = |vector: &[f64]| row.iter().zip(vector).map(|(a, b)| a * b).sum::<f64>();
            projected.extend(eigen.vectors.chunks_exact(width).map(along));
        }
        Design {
            joint_count: joints.len(),
            per_joint,
            width,
            units,
            eigen,
            projected,
        }
    }
}

impl Design {
    /// The best of some ridges for the given outputs, one row per example.
    pub(super) fn fit(&self, targets: &[Outputs]) -> Ridge {
        let count = targets.len() as f64;
        let mut right = vec![[0.0; 12]; self.width];
        for (row, target) in self.projected.chunks_exact(self.width).zip(targets) {
            for (x, sums) in row.iter().zip(&mut right) {
                for (sum, y) in sums.iter_mut().zip(target) {
                    *sum += x * y / count;
                }
            }
        }
        let left_out = |ridge: f64| -> f64 {
            let shrunk: Vec<f64> = self
                .eigen
                .values
                .iter()
                .map(|l| 1.0 / (l + ridge))
                .collect();
            let rows = self.projected.chunks_exact(self.width).zip(targets);
            // The constant is free.
            let mut freedom = -1.0;
            let squared: f64 = rows
                .map(|(row, target)| {
                    let (mut missed, mut own) = (*target, 0.0);
                    for ((x, shrunk), sums) in row.iter().zip(&shrunk).zip(&right) {
                        own += x * x * shrunk / count;
                        let factor = x * shrunk;
                        missed
                            .iter_mut()
                            .zip(sums)
                            .for_each(|(m, sum)| *m -= factor * sum);
                    }
                    let squared: f64 = missed.iter().map(|m| m * m).sum();
                    freedom += own;
                    squared / (1.0 - own).max(1e-6).powi(2)
                })
                .sum();
            squared * (1.0 + INPUT_PRICE * freedom / count)
        };
        let errors = RIDGES.map(|ridge| (left_out(ridge), ridge));
        // Ties go to the stronger ridge.
        let best = errors.into_iter().rev().min_by(|a, b| a.0.total_cmp(&b.0));
        let (left_out, ridge) = best.expect("some ridges are tried");
        let mut solution = vec![[0.0; 12]; self.width];
        for ((vector, value), sums) in (self
            .eigen
            .vectors
            .chunks_exact(self.width)
            .zip(&self.eigen.values))
        .zip(&right)
        {
            for (x, out) in vector.iter().zip(&mut solution) {
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out += x * sum / (value + ridge);
                }
            }
        }
        let share = |c: usize| solution[c].map(|x| x / self.units[c]);
        let mut shares = Vec::with_capacity(9 * self.joint_count + 1);
        for j in 0..self.joint_count {
            shares.extend((0..self.per_joint).map(|c| share(self.per_joint * j + c)));
            shares.resize(9 * (j + 1), [0.0; 12]);
        }
        shares.push(share(self.width - 1));
        Ridge { shares, left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns() -> Vec<Vec<DVec3>> {
        let joint = |phase: f64| {
            let turn = |k: usize| {
                let t = k as f64 + phase;
                DVec3::new(
                    (1.3 * t).sin(),
                    0.4 * (2.1 * t).cos(),
                    0.7 * (0.8 * t).sin(),
                )
            };
            (0..30).map(turn).collect()
        };
        vec![joint(0.0), joint(0.37)]
    }

    #[test]
    fn a_quadratic_function_of_the_turns_is_found() {
        let turns = turns();
        let output = |k: usize| -> Outputs {
            let (a, b) = (turns[0][k], turns[1][k]);
            std::array::from_fn(|c| 0.3 + c as f64 * a.x - a.x * a.y + 0.5 * b.z * b.z)
        };
        let targets: Vec<Outputs> = (0..30).map(output).collect();
        let linear = Designs::new(turns.clone(), 30)
            .get(&[0, 1], 3)
            .fit(&targets);
        let squares = Designs::new(turns.clone(), 30)
            .get(&[0, 1], 9)
            .fit(&targets);
        assert!(squares.left_out < 1e-4, "left {}", squares.left_out);
        assert!(
            linear.left_out > 100.0 * squares.left_out,
            "no line is that"
        );
        for (k, target) in targets.iter().enumerate() {
            let inputs = [0, 1]
                .iter()
                .flat_map(|&j: &usize| stretch_inputs(turns[j][k]));
            let found = (inputs.chain([1.0]).zip(&squares.shares)).map(|(x, row)| x * row[5]);
            let found: f64 = found.sum();
            assert!(
                (found - target[5]).abs() < 1e-3,
                "{found}, not {}",
                target[5]
            );
        }
    }

    #[test]
    fn the_closed_form_error_equals_that_of_fits_without_each_example() {
        let turns = turns();
        let noisy = |k: usize| -> Outputs {
            std::array::from_fn(|c| turns[0][k].x + 0.2 * ((k * 7 + c * 3) as f64).sin())
        };
        let targets: Vec<Outputs> = (0..30).map(noisy).collect();
        let design = Designs::new(turns.clone(), 30).get(&[0], 3);
        let found = design.fit(&targets).left_out;
        // The slow way: a fit without each example. The units and the ridge's share differ a little.
        let mut expected = [0.0; RIDGES.len()];
        for (r, ridge) in RIDGES.into_iter().enumerate() {
            let shares = design.eigen.values.iter().map(|l| l / (l + ridge));
            let price = 1.0 + INPUT_PRICE * (shares.sum::<f64>() - 1.0) / 30.0;
            for left in 0..30 {
                let mut gram = vec![0.0; 16];
                let mut right = [[0.0; 12]; 4];
                let row = |k: usize| -> Vec<f64> {
                    let [x, y, z, ..] = stretch_inputs(turns[0][k]);
                    [x, y, z, 1.0]
                        .into_iter()
                        .zip(&design.units)
                        .map(|(x, unit)| x / unit)
                        .collect()
                };
                for k in (0..30).filter(|&k| k != left) {
                    let x = row(k);
                    for a in 0..4 {
                        for b in 0..4 {
                            gram[4 * a + b] += x[a] * x[b];
                        }
                        for c in 0..12 {
                            right[a][c] += x[a] * targets[k][c];
                        }
                    }
                }
                (0..4).for_each(|a| gram[5 * a] += 30.0 * ridge);
                let eigen = SymmetricEigen::new(&gram, 4);
                let x = row(left);
                for c in 0..12 {
                    let terms = eigen.vectors.chunks_exact(4).zip(&eigen.values);
                    let predicted: f64 = terms
                        .map(|(v, value)| {
                            let dot = |other: &dyn Fn(usize) -> f64| -> f64 {
                                (0..4).map(|a| v[a] * other(a)).sum()
                            };
                            dot(&|a| x[a]) * dot(&|a| right[a][c]) / value
                        })
                        .sum();
                    expected[r] += price * (predicted - targets[left][c]).powi(2);
                }
            }
        }
        let least = expected.into_iter().fold(f64::INFINITY, f64::min);
        assert!((found - least).abs() < 1e-9 * least, "{found}, not {least}");
    }
}
