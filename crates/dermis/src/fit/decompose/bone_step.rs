//! The best matrices of all bones, for given weights and rest positions.
//!
//! Both kinds of bone need sums over the points alone: `X Xᵀ`, which is sparse in pairs of bones, and
//! `C Xᵀ` (\[Kavan10\] §4.2). Affine bones are then one linear solve for all bones and frames.
//! Rigid bones are fitted one by one, in turn, each to the error that the others leave (\[LeDeng12\]); with
//! the sums at hand, the cost of a turn does not grow with the points.

use faer::linalg::matmul::matmul;
use faer::prelude::Solve;
use faer::{Accum, Mat, Par, Side};
use glam::{DMat3, DVec3};

use super::model::{Bones, Points, Targets};
use crate::math::nearest_rotation;
use crate::par;
use crate::solve::SymmetricEigen;

/// Added to the diagonal of `X Xᵀ`, as a share of its mean: bones that the points do not determine keep their
/// matrices.
const RIDGE: f64 = 1e-9;

/// `X Xᵀ` and `C Xᵀ`, by bone.
#[derive(Debug)]
pub(super) struct Sums {
    bone_count: usize,
    dimension: usize,
    /// For each bone j the other bones k on the same points, with `Σ w_ij w_ik ṽ ṽᵀ`, row by row.
    blocks: Vec<Vec<(usize, [f64; 16])>>,
    /// For each bone four columns of `dimension` numbers: `Σ w_ij ṽ y`.
    moments: Vec<Vec<f64>>,
}

impl Sums {
    /// Cost: O(n·k·(k + d)) for n points of k influences in d dimensions.
    pub(super) fn new(targets: &Targets, points: &Points, bone_count: usize) -> Self {
        let of_bone = points.supports.by_bone(bone_count);
        let dimension = targets.dimension;
        let simd = pulp::Arch::new();
        let sums = par::map_with(
            bone_count,
            || vec![[0.0; 16]; bone_count],
            |blocks, j| {
                let mut moments = vec![0.0; 4 * dimension];
                simd.dispatch(
                    #[inline(always)]
                    || {
                        for &(point, weight) in &of_bone[j] {
                            let point = point as usize;
                            let weight = weight * targets.multiplicity[point];
                            let [x, y, z] = points.rest[point];
                            let rest = [x, y, z, 1.0];
                            for (k, other) in points.supports.pairs(point) {
                                let both = weight * other;
                                for (row, a) in blocks[k].chunks_exact_mut(4).zip(rest) {
                                    for (entry, b) in row.iter_mut().zip(rest) {
                                        *entry += both * a * b;
                                    }
                                }
                            }
                            let target = targets.column(point);
                            for (column, a) in moments.chunks_exact_mut(dimension).zip(rest) {
                                let factor = weight * a;
                                for (sum, value) in column.iter_mut().zip(target) {
                                    *sum += factor * value;
                                }
                            }
                        }
                    },
                );
                let shared = |k: usize| blocks[k][15] != 0.0 || k == j;
                let row: Vec<(usize, [f64; 16])> = (0..bone_count)
                    .filter(|&k| shared(k))
                    .map(|k| (k, blocks[k]))
                    .collect();
                blocks.fill([0.0; 16]);
                (row, moments)
            },
        );
        let (blocks, moments) = sums.into_iter().unzip();
        Self {
            bone_count,
            dimension,
            blocks,
            moments,
        }
    }

    /// Any matrices: moves the bones numbered in `free` to their common optimum.
    pub(super) fn solve_affine(&self, bones: &mut Bones, free: &[usize]) {
        let (d, n) = (self.dimension, free.len());
        let mut number = vec![None; self.bone_count];
        for (at, &bone) in free.iter().enumerate() {
            number[bone] = Some(at);
        }
        let mut square = Mat::<f64>::zeros(4 * n, 4 * n);
        // `C Xᵀ` minus the part that the current matrices explain.
        let all = 4 * self.bone_count;
        let mut rows = Mat::<f64>::zeros(4 * n, all);
        for (at, &bone) in free.iter().enumerate() {
            for (k, block) in &self.blocks[bone] {
                for (a, row) in block.chunks_exact(4).enumerate() {
                    for (b, &value) in row.iter().enumerate() {
                        rows[(a * n + at, b * self.bone_count + k)] = value;
                        if let Some(other) = number[*k] {
                            square[(a * n + at, b * n + other)] = value;
                        }
                    }
                }
            }
        }
        let current = Mat::from_fn(all, d, |column, r| {
            bones.column(column / self.bone_count, column % self.bone_count)[r]
        });
        let mut left = Mat::from_fn(4 * n, d, |row, r| {
            self.moments[free[row % n]][(row / n) * d + r]
        });
        matmul(
            left.as_mut(),
            Accum::Add,
            rows.as_ref(),
            current.as_ref(),
            -1.0,
            Par::Seq,
        );
        let mean = (0..4 * n).map(|i| square[(i, i)]).sum::<f64>() / (4 * n).max(1) as f64;
        if mean <= 0.0 {
            return;
        }
        for i in 0..4 * n {
            square[(i, i)] += RIDGE * mean;
        }
        let change = match square.llt(Side::Lower) {
            Ok(factors) => factors.solve(&left),
            Err(_) => pseudo_solve(&square, &left),
        };
        for (at, &bone) in free.iter().enumerate() {
            for component in 0..4 {
                let column = bones.column_mut(component, bone);
                for (r, value) in column.iter_mut().enumerate() {
                    *value += change[(component * n + at, r)];
                }
            }
        }
    }

    /// Rotations and translations: the bones numbered in `free`, in turn, `sweeps` times.
    ///
    /// `C` must be `A` itself, with three rows per frame.
    pub(super) fn solve_rigid(&self, bones: &mut Bones, free: &[usize], sweeps: usize) {
        let frame_count = self.dimension / 3;
        let solved = par::map(frame_count, |frame| {
            let mut matrices: Vec<Affine> = (0..self.bone_count)
                .map(|bone| Affine::of(bones, bone, frame))
                .collect();
            for _ in 0..sweeps {
                for &bone in free {
                    if let Some(matrix) = self.rigid_bone(bone, frame, &matrices) {
                        matrices[bone] = matrix;
                    }
                }
            }
            matrices
        });
        for (frame, matrices) in solved.into_iter().enumerate() {
            for &bone in free {
                matrices[bone].store(bones, bone, frame);
            }
        }
    }

    /// The rigid motion of one bone that fits best while the others stay; `None` for a bone that
    /// moves nothing.
    fn rigid_bone(&self, bone: usize, frame: usize, matrices: &[Affine]) -> Option<Affine> {
        let moment = |component: usize| {
            let at = component * self.dimension + 3 * frame;
            DVec3::from_slice(&self.moments[bone][at..])
        };
        let mut linear = DMat3::from_cols(moment(0), moment(1), moment(2));
        let mut offset = moment(3);
        let mut own = None;
        for (k, block) in &self.blocks[bone] {
            if *k == bone {
                own = Some(block);
                continue;
            }
            let Affine(columns) = &matrices[*k];
            let times = |row: &[f64]| {
                columns[0] * row[0]
                    + columns[1] * row[1]
                    + columns[2] * row[2]
                    + columns[3] * row[3]
            };
            linear.x_axis -= times(&block[0..4]);
            linear.y_axis -= times(&block[4..8]);
            linear.z_axis -= times(&block[8..12]);
            offset -= times(&block[12..16]);
        }
        let own = own?;
        let total = own[15];
        if total <= 0.0 {
            return None;
        }
        let rest = DVec3::new(own[12], own[13], own[14]) / total;
        let posed = offset / total;
        let rotation = nearest_rotation(
            linear - total * DMat3::from_cols(posed * rest.x, posed * rest.y, posed * rest.z),
        );
        let translation = posed - rotation * rest;
        Some(Affine([
            rotation.x_axis,
            rotation.y_axis,
            rotation.z_axis,
            translation,
        ]))
    }
}

impl Bones {
    /// The nearest rotation in place of a bone's linear part, in every frame; a point of rest space
    /// goes where it went. Three rows must be a frame.
    pub(super) fn make_rigid(&mut self, bone: usize, about: [f64; 3]) {
        let about = DVec3::from_array(about);
        for frame in 0..self.dimension / 3 {
            let Affine([x, y, z, origin]) = Affine::of(self, bone, frame);
            let linear = DMat3::from_cols(x, y, z);
            let rotation = nearest_rotation(linear);
            let origin = origin + linear * about - rotation * about;
            Affine([rotation.x_axis, rotation.y_axis, rotation.z_axis, origin])
                .store(self, bone, frame);
        }
    }
}

/// Solves with the eigenvectors whose eigenvalues are not zero, for redundant bones.
fn pseudo_solve(square: &Mat<f64>, right: &Mat<f64>) -> Mat<f64> {
    let size = square.nrows();
    let flat: Vec<f64> = (0..size * size)
        .map(|at| square[(at % size, at / size)])
        .collect();
    let eigen = SymmetricEigen::new(&flat, size);
    let largest = eigen.values.last().copied().unwrap_or(0.0);
    let vectors = Mat::from_fn(size, size, |i, j| eigen.vectors[j * size + i]);
    let mut turned = vectors.transpose() * right;
    for (i, &value) in eigen.values.iter().enumerate() {
        let factor = if value > 1e-10 * largest {
            1.0 / value
        } else {
            0.0
        };
        turned.row_mut(i).iter_mut().for_each(|x| *x *= factor);
    }
    vectors * turned
}

/// The matrix of a bone in one frame: where x, y, z and the origin go.
#[derive(Debug, Clone, Copy)]
struct Affine([DVec3; 4]);

impl Affine {
    fn of(bones: &Bones, bone: usize, frame: usize) -> Self {
        let part = |component| DVec3::from_slice(&bones.column(component, bone)[3 * frame..]);
        Self([0, 1, 2, 3].map(part))
    }

    fn store(&self, bones: &mut Bones, bone: usize, frame: usize) {
        for (component, part) in self.0.iter().enumerate() {
            part.write_to_slice(&mut bones.column_mut(component, bone)[3 * frame..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::decompose::model::Supports;

    fn noise(seed: usize) -> f64 {
        let x = (seed as f64 * 78.233).sin() * 43758.5453;
        2.0 * (x - x.floor()) - 1.0
    }

    /// Forty points on four bones in two frames, the last bone without points.
    fn problem() -> (Targets, Points) {
        let mut supports = Supports::with_capacity(40, 2);
        for p in 0..40u16 {
            let share = 0.1 + 0.02 * f64::from(p);
            supports.push(&[p % 3, (p + 1) % 3], &[share, 1.0 - share]);
        }
        let rest = (0..40)
            .map(|p| [0, 1, 2].map(|a| noise(3 * p + a)))
            .collect();
        let coordinates = (0..240).map(|at| noise(1000 + at)).collect();
        let points = Points {
            rest,
            errors: vec![0.0; 40],
            supports,
        };
        (Targets::new(6, coordinates, vec![1.0; 40]), points)
    }

    fn squared_error(targets: &Targets, points: &Points, bones: &Bones) -> f64 {
        let mut out = [0.0; 6];
        let mut total = 0.0;
        for p in 0..points.rest.len() {
            let mut left: Vec<f64> = targets.column(p).to_vec();
            for (bone, weight) in points.supports.pairs(p) {
                bones.predict(bone, &points.rest[p], &mut out);
                left.iter_mut().zip(out).for_each(|(l, o)| *l -= weight * o);
            }
            total += left.iter().map(|l| l * l).sum::<f64>();
        }
        total
    }

    #[test]
    fn affine_bones_reach_their_common_optimum() {
        let (targets, points) = problem();
        let mut bones = Bones::zeros(4, 6);
        bones.column_mut(0, 3)[2] = 7.0;
        Sums::new(&targets, &points, 4).solve_affine(&mut bones, &[0, 1, 2, 3]);
        assert!(
            (bones.column(0, 3)[2] - 7.0).abs() < 1e-6,
            "unused bones stay"
        );
        let best = squared_error(&targets, &points, &bones);
        for bone in 0..3 {
            for component in 0..4 {
                for step in [-1e-3, 1e-3] {
                    let mut other = bones.clone();
                    other.column_mut(component, bone)[4] += step;
                    let error = squared_error(&targets, &points, &other);
                    assert!(error > best, "bone {bone}, column {component}");
                }
            }
        }
    }

    #[test]
    fn bones_that_are_not_free_stay() {
        let (targets, points) = problem();
        let mut bones = Bones::zeros(4, 6);
        (0..4).for_each(|c| bones.column_mut(c, 1).fill(0.5));
        let before = squared_error(&targets, &points, &bones);
        Sums::new(&targets, &points, 4).solve_affine(&mut bones, &[0, 2]);
        assert_eq!(bones.column(2, 1), [0.5; 6], "given");
        assert!(
            squared_error(&targets, &points, &bones) < before,
            "others follow"
        );
    }

    #[test]
    fn rigid_bones_fall_with_every_turn_and_stay_rigid() {
        let (targets, points) = problem();
        let mut bones = Bones::zeros(4, 6);
        for bone in 0..4 {
            bones.make_rigid(bone, [0.0; 3]);
        }
        let sums = Sums::new(&targets, &points, 4);
        let mut last = squared_error(&targets, &points, &bones);
        for turn in 0..6 {
            sums.solve_rigid(&mut bones, &[0, 1, 2, 3], 1);
            let error = squared_error(&targets, &points, &bones);
            assert!(error <= last + 1e-9, "turn {turn}: {last} to {error}");
            last = error;
        }
        for frame in 0..2 {
            let Affine([x, y, z, _]) = Affine::of(&bones, 1, frame);
            let rotation = DMat3::from_cols(x, y, z);
            let product = rotation * rotation.transpose();
            assert!(product.abs_diff_eq(DMat3::IDENTITY, 1e-9), "{rotation}");
        }
    }

    #[test]
    fn redundant_bones_are_solved_too() {
        let (targets, points) = problem();
        let mut bones = Bones::zeros(3, 6);
        let sums = Sums::new(&targets, &points, 3);
        sums.solve_affine(&mut bones, &[0, 1, 2]);
        // Two columns that are the same: no Cholesky factor without a ridge.
        let singular = Mat::from_fn(2, 2, |_, _| 1.0);
        let right = Mat::from_fn(2, 1, |_, _| 3.0);
        let found = pseudo_solve(&singular, &right);
        assert!((found[(0, 0)] - 1.5).abs() < 1e-12, "shared: {found:?}");
        assert!((found[(1, 0)] - 1.5).abs() < 1e-12, "shared: {found:?}");
    }
}
