//! Affine solutions, and steps on the turns and places of bones.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};
use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::sums::Target;
use super::{JointFreedom, PoseSolver};
use crate::math::nearest_rotation;

/// The state of a search.
pub(super) struct Descent {
    pub(super) matrices: Vec<DAffine3>,
    pub(super) energy: f64,
    pub(super) rounds: usize,
}

impl PoseSolver<'_> {
    /// Matrices without any constraint: `M X = Bᵀ`, pulled weakly to the given ones where the vertices of a
    /// bone do not determine its matrix.
    pub(super) fn solve_affine(&self, sums: &Target, given: &[DAffine3]) -> Vec<DAffine3> {
        let n = 4 * given.len();
        let mut normal = Mat::<f64>::zeros(n, n);
        let mut right = Mat::<f64>::zeros(n, 3);
        for j in 0..given.len() {
            for l in 0..given.len() {
                let m = self.moments.block(j, l);
                for r in 0..3 {
                    for c in 0..3 {
                        normal[(4 * j + r, 4 * l + c)] = m.linear.col(c)[r];
                    }
                    normal[(4 * j + r, 4 * l + 3)] = m.mixed[r];
                    normal[(4 * j + 3, 4 * l + r)] = self.moments.block(l, j).mixed[r];
                }
                normal[(4 * j + 3, 4 * l + 3)] = m.weight;
            }
            for r in 0..3 {
                for c in 0..3 {
                    right[(4 * j + c, r)] = sums.linear[j].col(c)[r];
                }
                right[(4 * j + 3, r)] = sums.offset[j][r];
            }
        }
        // A millionth of each bone's own size keeps flat and thin bones from taking any shape.
        for (j, matrix) in given.iter().enumerate() {
            let own = self.moments.block(j, j);
            let length = own.linear.col(0).x + own.linear.col(1).y + own.linear.col(2).z;
            for c in 0..4 {
                let size = if c == 3 { own.weight } else { length };
                let hold = 1e-6 * size + f64::MIN_POSITIVE.sqrt();
                normal[(4 * j + c, 4 * j + c)] += hold;
                for r in 0..3 {
                    let entry = match c {
                        3 => matrix.translation[r],
                        _ => matrix.matrix3.col(c)[r],
                    };
                    right[(4 * j + c, r)] += hold * entry;
                }
            }
        }
        let Some(solution) = solve_spd(&normal, &right) else {
            return given.to_vec();
        };
        (0..given.len())
            .map(|j| {
                let column =
                    |c: usize| DVec3::from_array([0, 1, 2].map(|r| solution[(4 * j + c, r)]));
                DAffine3 {
                    matrix3: DMat3::from_cols(column(0), column(1), column(2)),
                    translation: column(3),
                }
            })
            .collect()
    }

    /// The turns in affine matrices, with the given bones' own stretch, each bone's centre kept.
    pub(super) fn without_stretch(&self, affine: &[DAffine3], given: &[DAffine3]) -> Vec<DAffine3> {
        let free = affine
            .iter()
            .zip(given)
            .enumerate()
            .map(|(j, (found, own))| {
                let turn = nearest_rotation(found.matrix3 * own.matrix3.inverse());
                let moment = self.moments.block(j, j);
                let center = match moment.weight > 0.0 {
                    true => moment.mixed / moment.weight,
                    false => DVec3::ZERO,
                };
                let matrix3 = turn * own.matrix3;
                DAffine3 {
                    matrix3,
                    translation: found.transform_point3(center) - matrix3 * center,
                }
            });
        let free: Vec<DAffine3> = free.collect();
        match self.options.joints {
            JointFreedom::Turn => self.rejoin(&free, given),
            JointFreedom::Free | JointFreedom::Affine => free,
        }
    }

    /// The same turns, with every joint moved to its place in the parent.
    fn rejoin(&self, turned: &[DAffine3], given: &[DAffine3]) -> Vec<DAffine3> {
        let mut joined = turned.to_vec();
        for (j, bone) in self.skin.skeleton.bones().iter().enumerate() {
            if let Some(parent) = bone.parent {
                let in_parent = given[parent.index()]
                    .inverse()
                    .transform_point3(given[j].translation);
                joined[j].translation = joined[parent.index()].transform_point3(in_parent);
            }
        }
        joined
    }

    /// Levenberg-Marquardt steps on turns and places of the bones.
    pub(super) fn descend(&self, sums: &Target, from: Vec<DAffine3>) -> Descent {
        let mut current = Descent {
            energy: self.moments.energy(sums, &from),
            matrices: from,
            rounds: 0,
        };
        // The part of the diagonal that is added: large goes downhill carefully, small like Newton.
        let mut damping = 1e-4;
        while current.rounds < self.options.max_rounds {
            current.rounds += 1;
            let (normal, right) = self.normal_equations(sums, &current.matrices);
            let reduction = self.reduction(&current.matrices);
            let (normal, right) = match &reduction {
                None => (normal, right),
                Some(s) => (s.transpose() * normal * s, s.transpose() * right),
            };
            let mut better = None;
            for _ in 0..12 {
                let step = damped_step(&normal, &right, damping);
                let step = match (step, &reduction) {
                    (Some(step), Some(s)) => Some((s * &step, step)),
                    (Some(step), None) => Some((step.clone(), step)),
                    (None, _) => None,
                };
                if let Some((step, own)) = step {
                    let matrices = self.moved(&current.matrices, &step, &own);
                    let energy = self.moments.energy(sums, &matrices);
                    if energy < current.energy {
                        better = Some((matrices, energy));
                        break;
                    }
                }
                damping *= 10.0;
            }
            let Some((matrices, energy)) = better else {
                break;
            };
            damping = (damping * 0.1).max(1e-12);
            let gained = current.energy - energy;
            current.matrices = matrices;
            current.energy = energy;
            // Stop when the error falls by less than a millionth; an exact match stops at rounding.
            if gained < 1e-6 * energy || energy < 1e-15 * sums.squared {
                break;
            }
        }
        current
    }

    /// `JᵀJ` and `Jᵀr` in a turn (about the bone's origin) and a move of every bone.
    ///
    /// With `a_ij = lin(G_j) q_ij`, a turn ω moves a vertex by `ω × a_ij`, so the blocks are
    /// `Σ (a_ij·a_il) I − a_il a_ijᵀ`, `Σ [a_ij]× w_il` and `Σ w_ij w_il I`: all sums of `M`.
    fn normal_equations(&self, sums: &Target, matrices: &[DAffine3]) -> (Mat<f64>, Mat<f64>) {
        let n = 6 * matrices.len();
        let mut normal = Mat::<f64>::zeros(n, n);
        let mut right = Mat::<f64>::zeros(n, 1);
        for (j, g) in matrices.iter().enumerate() {
            let mut turn = axial(g.matrix3 * sums.linear[j].transpose());
            let mut shift = sums.offset[j];
            for (l, h) in self.moments.row(j) {
                let other = matrices[l];
                let product = g.matrix3 * h.linear * other.matrix3.transpose();
                let arm = g.matrix3 * h.mixed;
                turn -= axial(product) + arm.cross(other.translation);
                shift -=
                    other.matrix3 * self.moments.block(l, j).mixed + h.weight * other.translation;
                let trace = product.col(0).x + product.col(1).y + product.col(2).z;
                for r in 0..3 {
                    for c in 0..3 {
                        let identity = if r == c { 1.0 } else { 0.0 };
                        // column r of the product is row r of its transpose
                        normal[(6 * j + r, 6 * l + c)] = identity * trace - product.col(r)[c];
                    }
                    normal[(6 * j + 3 + r, 6 * l + 3 + r)] = h.weight;
                }
                for (r, c, value) in skew(arm) {
                    normal[(6 * j + r, 6 * l + 3 + c)] = value;
                    normal[(6 * l + 3 + c, 6 * j + r)] = value;
                }
            }
            for r in 0..3 {
                right[(6 * j + r, 0)] = turn[r];
                right[(6 * j + 3 + r, 0)] = shift[r];
            }
        }
        (normal, right)
    }

    /// How turns of joints, and moves of bones without a parent, move all bones; `None` when every
    /// bone is free.
    fn reduction(&self, matrices: &[DAffine3]) -> Option<Mat<f64>> {
        if self.options.joints != JointFreedom::Turn {
            return None;
        }
        let bones = self.skin.skeleton.bones();
        let root_count = bones.iter().filter(|bone| bone.parent.is_none()).count();
        let mut map = Mat::<f64>::zeros(6 * bones.len(), 3 * (bones.len() + root_count));
        let root_column = self.root_columns();
        for l in 0..bones.len() {
            let mut ancestor = Some(l);
            while let Some(j) = ancestor {
                // ω_j × (o_l − o_j), written as −[o_l − o_j]× ω_j
                let arm = matrices[l].translation - matrices[j].translation;
                for r in 0..3 {
                    map[(6 * l + r, 3 * j + r)] = 1.0;
                }
                for (r, c, value) in skew(arm) {
                    map[(6 * l + 3 + r, 3 * j + c)] = -value;
                }
                if let Some(column) = root_column[j] {
                    for r in 0..3 {
                        map[(6 * l + 3 + r, column + r)] = 1.0;
                    }
                }
                ancestor = bones[j].parent.map(|parent| parent.index());
            }
        }
        Some(map)
    }

    /// First column of the move of each bone without a parent.
    fn root_columns(&self) -> Vec<Option<usize>> {
        let bones = self.skin.skeleton.bones();
        let mut next = 3 * bones.len();
        bones
            .iter()
            .map(|bone| match bone.parent {
                Some(_) => None,
                None => {
                    next += 3;
                    Some(next - 3)
                }
            })
            .collect()
    }

    /// The matrices after a step; `own` is the step in joints when those turn in place.
    fn moved(&self, matrices: &[DAffine3], step: &Mat<f64>, own: &Mat<f64>) -> Vec<DAffine3> {
        let vector =
            |x: &Mat<f64>, at: usize| DVec3::new(x[(at, 0)], x[(at + 1, 0)], x[(at + 2, 0)]);
        if self.options.joints != JointFreedom::Turn {
            return matrices
                .iter()
                .enumerate()
                .map(|(j, g)| DAffine3 {
                    matrix3: turn_by(vector(step, 6 * j)) * g.matrix3,
                    translation: g.translation + vector(step, 6 * j + 3),
                })
                .collect();
        }
        // Turns add up down the chain only for small angles; chaining them keeps lengths exactly.
        let root_column = self.root_columns();
        let mut moved: Vec<DAffine3> = Vec::with_capacity(matrices.len());
        for (j, bone) in self.skin.skeleton.bones().iter().enumerate() {
            let own_turn = turn_by(vector(own, 3 * j));
            moved.push(match (bone.parent, root_column[j]) {
                (Some(parent), _) => {
                    let (before, after) = (matrices[parent.index()], moved[parent.index()]);
                    let carried = after * before.inverse();
                    DAffine3 {
                        matrix3: carried.matrix3 * own_turn * matrices[j].matrix3,
                        translation: carried.transform_point3(matrices[j].translation),
                    }
                }
                (None, column) => DAffine3 {
                    matrix3: own_turn * matrices[j].matrix3,
                    translation: matrices[j].translation
                        + column.map_or(DVec3::ZERO, |column| vector(own, column)),
                },
            });
        }
        moved
    }
}

/// Solves `(N + damping diag N) x = r`; `None` when that is not positive definite.
fn damped_step(normal: &Mat<f64>, right: &Mat<f64>, damping: f64) -> Option<Mat<f64>> {
    let mut damped = normal.clone();
    let largest = (0..normal.nrows())
        .map(|i| normal[(i, i)])
        .fold(0.0, f64::max);
    for i in 0..normal.nrows() {
        // An unknown that moves no vertex has a zero diagonal: hold it still.
        damped[(i, i)] += damping * normal[(i, i)] + 1e-14 * largest;
    }
    solve_spd(&damped, right)
}

fn solve_spd(matrix: &Mat<f64>, right: &Mat<f64>) -> Option<Mat<f64>> {
    let factor = Llt::new(matrix.as_ref(), Side::Lower).ok()?;
    let solution = factor.solve(right);
    let finite =
        (0..solution.ncols()).all(|c| (0..solution.nrows()).all(|r| solution[(r, c)].is_finite()));
    finite.then_some(solution)
}

fn turn_by(vector: DVec3) -> DMat3 {
    DMat3::from_quat(DQuat::from_scaled_axis(vector))
}

/// `Σ x × y` from `Σ x yᵀ`.
fn axial(m: DMat3) -> DVec3 {
    let entry = |r: usize, c: usize| m.col(c)[r];
    DVec3::new(
        entry(1, 2) - entry(2, 1),
        entry(2, 0) - entry(0, 2),
        entry(0, 1) - entry(1, 0),
    )
}

/// The entries of `[v]×` that are not zero: row, column, value.
fn skew(v: DVec3) -> [(usize, usize, f64); 6] {
    [
        (0, 1, -v.z),
        (0, 2, v.y),
        (1, 0, v.z),
        (1, 2, -v.x),
        (2, 0, -v.y),
        (2, 1, v.x),
    ]
}
