//! Corrections of vertices that the base flattens in some example.
//!
//! Where blending collapses (a forearm twisted by half a turn) the frame `M_k` of a vertex is nearly singular:
//! pulled back through its inverse a small distance becomes a long displacement, which sticks out in every other
//! pose that shows some of it. So nothing is pulled back. The function `f` from poses to displacements is fitted
//! to what it *does* in the examples:
//!
//! ```text
//! least  Σ_k |M_k f(x_k) − r_k|² + λ ‖f‖²
//! ```
//!
//! with `r_k` what the base misses in the pose, and `‖f‖` the norm that belongs to the kernel of the vertex. A
//! direction that the base has flattened in one example weighs nothing there, and follows from the others.
//!
//! **What is promised.** With `B` as below the effects are `e = BᵀB (BᵀB + λI)⁻¹ r`, a matrix with eigenvalues from
//! 0 to below 1, so over all examples of a vertex together
//!
//! - `|e| ≤ |r|`: shapes do no more than there is to mend, and
//! - `|e − r| ≤ |r|`: they bring it no farther from the examples than the base has it;
//! - `|f(x)| ≤ ‖f‖ ≤ |r| / (2√λ)` in any pose, since the kernel is at most 1 and `‖f‖² = Σ_s s² (u_s·r)² / (s² + λ)²`,
//!   with `s / (s² + λ) ≤ 1 / (2√λ)` for every singular value `s` of `B`. An inverse has no such bound.

use faer::linalg::solvers::Solve;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, Par, Side};
use glam::{DMat3, DVec3};

use crate::solve::SymmetricEigen;

/// Most functions that a vertex's correction is a sum of: the cost of a vertex grows with their cube.
const MOST_FUNCTIONS: usize = 40;
/// Functions whose share of the kernel is less than this are left out.
const LEAST_SHARE: f64 = 1e-9;
/// The least `λ`: without any, directions that are flat in all examples have no answer.
const LEAST_RIDGE: f64 = 1e-8;

/// The functions that a kernel is made of, at the examples: `K ≈ Φ Φᵀ`.
pub(super) struct Functions {
    /// `Φ`, one row per example.
    values: Mat<f64>,
    /// Takes coefficients of the functions to those of the kernel: `K · from = Φ`.
    from: Mat<f64>,
}

impl Functions {
    /// Those of a kernel between examples, the largest first.
    ///
    /// Cost: O(n³) for n examples.
    pub(super) fn of(kernel: &Mat<f64>) -> Self {
        let size = kernel.nrows();
        let numbers: Vec<f64> = (0..size * size)
            .map(|at| kernel[(at % size, at / size)])
            .collect();
        let eigen = SymmetricEigen::new(&numbers, size);
        // Eigenvalues rise: the last matter most.
        let largest = eigen.values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..size)
            .rev()
            .take(MOST_FUNCTIONS)
            .take_while(|&a| eigen.values[a] > LEAST_SHARE * largest)
            .collect();
        let scaled = |k: usize, a: usize, scale: fn(f64) -> f64| {
            eigen.vectors[kept[a] * size + k] * scale(eigen.values[kept[a]].sqrt())
        };
        Self {
            values: Mat::from_fn(size, kept.len(), |k, a| scaled(k, a, |root| root)),
            from: Mat::from_fn(size, kept.len(), |k, a| scaled(k, a, |root| 1.0 / root)),
        }
    }
}

/// One vertex, with what the base misses of it.
pub(super) struct FlattenedVertex<'a> {
    /// `M_k`.
    pub(super) frames: &'a [DMat3],
    /// `r_k`, in the pose.
    pub(super) missed: &'a [DVec3],
}

/// The least squares of a vertex, factored.
pub(super) struct Solved {
    /// `L⁻¹ B`, three columns per example.
    whitened: Mat<f64>,
    /// `L`.
    lower: Mat<f64>,
    /// `L⁻¹ B r`.
    right: Vec<f64>,
}

/// The least squares of a vertex, before it is known how strongly they are smoothed.
pub(super) struct System {
    /// `B`.
    columns: Mat<f64>,
    /// `B Bᵀ`.
    squares: Mat<f64>,
    /// `r`, number by number.
    right: Vec<f64>,
}

impl System {
    /// Factors `B Bᵀ + λI = L Lᵀ`.
    ///
    /// Cost: O(m³ + n m²) for n examples and m functions.
    pub(super) fn solve(&self, smoothing: f64) -> Solved {
        let size = self.squares.nrows();
        let mut matrix = self.squares.clone();
        for at in 0..size {
            matrix[(at, at)] += smoothing.max(LEAST_RIDGE);
        }
        let factors = matrix.llt(Side::Lower);
        let factors = factors.expect("a sum of squares and a positive diagonal");
        let lower = factors.L().to_owned();
        let mut whitened = self.columns.clone();
        solve_lower_triangular_in_place(lower.as_ref(), whitened.as_mut(), Par::Seq);
        let mut right = vec![0.0; size];
        for (c, r) in self.right.iter().enumerate() {
            let column = whitened.col(c).iter();
            right
                .iter_mut()
                .zip(column)
                .for_each(|(sum, x)| *sum += r * x);
        }
        Solved {
            whitened,
            lower,
            right,
        }
    }
}

impl FlattenedVertex<'_> {
    /// The three columns of `B` of example k are `Φ_k ⊗ M_kᵀ`.
    ///
    /// Cost: O(n m²) for n examples and m functions.
    pub(super) fn system(&self, functions: &Functions) -> System {
        let (examples, rank) = (functions.values.nrows(), functions.values.ncols());
        let columns = Mat::from_fn(3 * rank, 3 * examples, |row, column| {
            let k = column / 3;
            functions.values[(k, row / 3)] * self.frames[k].col(row % 3)[column % 3]
        });
        System {
            squares: &columns * columns.transpose(),
            columns,
            right: self.missed.iter().flat_map(|r| r.to_array()).collect(),
        }
    }

    /// What the functions do in each example when it is left out, and with it those of its row in `alike`.
    ///
    /// With `H_B` the block of `Bᵀ (B Bᵀ + λI)⁻¹ B` that says how the examples left out answer for themselves, they
    /// are missed by `(I − H_B)⁻¹ (r_B − e_B)`.
    pub(super) fn left_out(&self, solved: &Solved, alike: &[Vec<usize>]) -> Vec<DVec3> {
        let one = |(k, block): (usize, &Vec<usize>)| {
            let columns: Vec<usize> = (block.iter()).flat_map(|k| 3 * k..3 * k + 3).collect();
            let column = |a: usize| solved.whitened.col(columns[a]).iter();
            let size = columns.len();
            let rest = Mat::from_fn(size, size, |a, b| {
                let dot: f64 = column(a).zip(column(b)).map(|(x, y)| x * y).sum();
                f64::from(u8::from(a == b)) - dot
            });
            let right = Mat::from_fn(size, 1, |a, _| {
                let effect: f64 = column(a).zip(&solved.right).map(|(x, z)| x * z).sum();
                self.missed[columns[a] / 3][columns[a] % 3] - effect
            });
            let missed = rest.partial_piv_lu().solve(&right);
            let own = block.iter().position(|&l| l == k).expect("one of its own");
            let missed = DVec3::from_array([0, 1, 2].map(|c| missed[(3 * own + c, 0)]));
            // An example that nothing else says anything of: the base alone is left.
            match missed.is_finite() {
                true => self.missed[k] - missed,
                false => DVec3::ZERO,
            }
        };
        alike.iter().enumerate().map(one).collect()
    }
}

impl Solved {
    /// `α`: the coefficients of the kernel around each example.
    pub(super) fn coefficients(&self, functions: &Functions) -> Vec<DVec3> {
        let rank = functions.values.ncols();
        let mut unknowns = Mat::from_fn(3 * rank, 1, |row, _| self.right[row]);
        solve_upper_triangular_in_place(self.lower.transpose(), unknowns.as_mut(), Par::Seq);
        let sum = |k: usize, c: usize| -> f64 {
            (0..rank)
                .map(|a| functions.from[(k, a)] * unknowns[(3 * a + c, 0)])
                .sum()
        };
        (0..functions.from.nrows())
            .map(|k| DVec3::from_array([0, 1, 2].map(|c| sum(k, c))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaussians of half a radian between angles.
    fn kernel(angles: &[f64]) -> Mat<f64> {
        Mat::from_fn(angles.len(), angles.len(), |k, l| {
            (-0.5 * ((angles[k] - angles[l]) / 0.5).powi(2)).exp()
        })
    }

    /// Half a twist about x at full and half weight, and what linear blending then misses of a point at (0, 1, 0).
    fn twisted(angle: f64) -> (DMat3, DVec3) {
        let turn = DMat3::from_rotation_x(angle);
        let frame = 0.5 * (DMat3::IDENTITY + turn);
        let truth = DMat3::from_rotation_x(0.5 * angle) * DVec3::Y;
        (frame, truth - frame * DVec3::Y)
    }

    fn angles(count: usize) -> Vec<f64> {
        let step = std::f64::consts::PI / (count - 1) as f64;
        (0..count).map(|k| k as f64 * step).collect()
    }

    fn effects(
        functions: &Functions,
        solved: &Solved,
        frames: &[DMat3],
        kernel: &Mat<f64>,
    ) -> Vec<DVec3> {
        let alpha = solved.coefficients(functions);
        let at = |k: usize| -> DVec3 { (0..alpha.len()).map(|l| kernel[(k, l)] * alpha[l]).sum() };
        (0..alpha.len()).map(|k| frames[k] * at(k)).collect()
    }

    fn length(vectors: impl Iterator<Item = DVec3>) -> f64 {
        vectors.map(DVec3::length_squared).sum::<f64>().sqrt()
    }

    #[test]
    fn a_twist_of_180_degrees_is_mended_where_there_is_room_and_nothing_explodes() {
        let angles = angles(13);
        let kernel = kernel(&angles);
        let functions = Functions::of(&kernel);
        let (frames, missed): (Vec<_>, Vec<_>) = angles.iter().map(|&a| twisted(a)).unzip();
        let vertex = FlattenedVertex {
            frames: &frames,
            missed: &missed,
        };
        for smoothing in [1e-4, 1e-3, 1e-2, 1e-1] {
            let solved = vertex.system(&functions).solve(smoothing);
            let effects = effects(&functions, &solved, &frames, &kernel);
            let all = length(missed.iter().copied());
            assert!(
                length(effects.iter().copied()) <= all,
                "no more than there is to mend"
            );
            let left = missed.iter().zip(&effects).map(|(r, e)| *r - *e);
            assert!(length(left) <= all, "no farther than the base");
            let alpha = solved.coefficients(&functions);
            let at = |x: f64| -> DVec3 {
                let phi = |a: f64| (-0.5 * ((x - a) / 0.5).powi(2)).exp();
                angles.iter().zip(&alpha).map(|(a, c)| phi(*a) * *c).sum()
            };
            for step in 0..200 {
                let x = f64::from(step) / 199.0 * std::f64::consts::PI;
                let bound = all / (2.0 * smoothing.sqrt());
                assert!(at(x).length() <= bound * (1.0 + 1e-9), "bounded at {x}");
                let (frame, missed) = twisted(x);
                let farther = (frame * at(x)).distance(missed) - missed.length();
                assert!(
                    farther < 0.01,
                    "at {x} with {smoothing}: {farther} farther than the base"
                );
            }
        }
        // 120°, half of what is missed is mended though the frame has shrunk to one half.
        let solved = vertex.system(&functions).solve(1e-3);
        let effect = effects(&functions, &solved, &frames, &kernel)[8];
        assert!(
            effect.distance(missed[8]) < 0.1 * missed[8].length(),
            "{effect}"
        );
    }

    #[test]
    fn the_closed_form_is_what_fits_without_some_examples_say() {
        let angles = angles(9);
        let (frames, missed): (Vec<_>, Vec<_>) = angles.iter().map(|&a| twisted(a)).unzip();
        let whole = kernel(&angles);
        let vertex = FlattenedVertex {
            frames: &frames,
            missed: &missed,
        };
        let functions = Functions::of(&whole);
        // Each alone, and each with its neighbours.
        for reach in [0, 1] {
            let with = |k: usize| (k.saturating_sub(reach)..=(k + reach).min(8)).collect();
            let alike: Vec<Vec<usize>> = (0..angles.len()).map(with).collect();
            let solved = vertex.system(&functions).solve(1e-2);
            let closed = vertex.left_out(&solved, &alike);
            for k in 0..angles.len() {
                // Their frames flatten everything, so they say nothing.
                let mut without = frames.clone();
                alike[k].iter().for_each(|&l| without[l] = DMat3::ZERO);
                let one = FlattenedVertex {
                    frames: &without,
                    missed: &missed,
                };
                let alpha = one.system(&functions).solve(1e-2).coefficients(&functions);
                let f: DVec3 = (0..alpha.len()).map(|l| whole[(k, l)] * alpha[l]).sum();
                let plain = frames[k] * f;
                let apart = closed[k].distance(plain);
                assert!(apart < 1e-6, "{k} without {reach}: {} {plain}", closed[k]);
            }
        }
    }

    #[test]
    fn with_frames_that_only_turn_it_is_plain_kernel_regression() {
        let angles = angles(7);
        let kernel = kernel(&angles);
        let turn = |a: &f64| DMat3::from_rotation_z(2.0 * a);
        let frames: Vec<DMat3> = angles.iter().map(turn).collect();
        let shape = |a: &f64| DVec3::new(a.sin(), a.cos(), 0.1 * a);
        let missed: Vec<DVec3> = (angles.iter()).map(|a| turn(a) * shape(a)).collect();
        let vertex = FlattenedVertex {
            frames: &frames,
            missed: &missed,
        };
        let functions = Functions::of(&kernel);
        let alpha = vertex
            .system(&functions)
            .solve(0.1)
            .coefficients(&functions);
        let mut matrix = kernel.clone();
        (0..angles.len()).for_each(|k| matrix[(k, k)] += 0.1);
        for k in 0..angles.len() {
            let back: DVec3 = (0..angles.len()).map(|l| matrix[(k, l)] * alpha[l]).sum();
            assert!(back.distance(shape(&angles[k])) < 1e-6, "{k}: {back}");
        }
    }
}
