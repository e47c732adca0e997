//! The least-squares problems of bones and weights, in reduced coordinates.
//!
//! With `A ≈ B C` and bone matrices `T = B T_r`, `|T X − A|` and `|T_r X − C|` differ by no more than
//! the reduction's error: see \[Kavan10\] §3. Lengths are in units of the first frame's ball, and rest
//! positions are taken from their middle, so that the normal equations are well scaled.

use faer::prelude::Solve;
use faer::{Mat, MatRef, Side};
use glam::{DAffine3, DMat3, DVec3, DVec4};

use crate::example::MeshAnimation;
use crate::fit::FitError;
use crate::fit::decompose::flat::{flat_normal, with_normal};
use crate::fit::decompose::reduce::{Reduced, reduce};
use crate::fit::decompose::{Decomposition, trajectories};
use crate::par;
use crate::rig::BoneId;
use crate::rows::Rows;
use crate::skin::Weight;
use crate::solve::SimplexLs;
use crate::solve::product;

/// Error of the reduction in each coordinate: a tenth of a thousandth, that is 0.1 of `E_RMS`.
const ACCURACY: f64 = 1e-4;
/// How strongly matrices that the data do not determine are drawn to the motion of the whole mesh, as a share
/// of the mean diagonal of the normal matrix. A flat rest mesh leaves a column of each undetermined.
const PULL: f64 = 1e-10;

/// An animation in reduced coordinates.
pub(super) struct BlendProblem<'a> {
    animation: &'a MeshAnimation,
    reduced: Reduced,
    middle: DVec3,
    /// `v̂_i`: rest positions from the middle, in units of the ball, and 1.
    rest: Vec<DVec4>,
    /// `T_r` of the best single bone, d×4.
    whole: Mat<f64>,
    /// The normal of a rest mesh that lies in a plane.
    flat_normal: Option<DVec3>,
}

impl<'a> BlendProblem<'a> {
    pub(super) fn new(animation: &'a MeshAnimation) -> Self {
        let matrix = trajectories(animation);
        let epsilon = ACCURACY * ((matrix.nrows() * matrix.ncols()) as f64).sqrt();
        let reduced = reduce(matrix.as_ref(), epsilon);
        let positions = animation.rest().positions();
        let middle = positions.iter().copied().sum::<DVec3>() / positions.len().max(1) as f64;
        let unit = 1.0 / animation.unit_ball_radius();
        let rest = positions
            .iter()
            .map(|p| (unit * (*p - middle)).extend(1.0))
            .collect();
        let mut problem = Self {
            whole: Mat::zeros(reduced.basis.ncols(), 4),
            flat_normal: flat_normal(positions, middle, animation.unit_ball_radius()),
            animation,
            reduced,
            middle,
            rest,
        };
        let everything: Vec<(usize, f64)> = (0..positions.len()).map(|i| (i, 1.0)).collect();
        problem.whole = problem.bone_of(&everything);
        problem
    }

    /// `C`, a column of d numbers per vertex.
    pub(super) fn coordinates(&self) -> MatRef<'_, f64> {
        self.reduced.coordinates.as_ref()
    }

    /// `B`.
    pub(super) fn basis(&self) -> MatRef<'_, f64> {
        self.reduced.basis.as_ref()
    }

    /// The affine bone, d×4, that moves some weighted vertices best.
    pub(super) fn bone_of(&self, vertices: &[(usize, f64)]) -> Mat<f64> {
        let mut normal = Mat::<f64>::zeros(4, 4);
        for &(i, weight) in vertices {
            let v = self.rest[i];
            for (r, c) in (0..16).map(|at| (at / 4, at % 4)) {
                normal[(r, c)] += weight * v[r] * v[c];
            }
        }
        let right = self.moments(vertices);
        self.pulled(normal, right)
    }

    /// All affine bones at once, d×4P: `T_r X Xᵀ = C Xᵀ` (\[Kavan10\] §4.2).
    pub(super) fn bones_for(&self, weights: &Rows<Weight>, bone_count: usize) -> Mat<f64> {
        let mut normal = Mat::<f64>::zeros(4 * bone_count, 4 * bone_count);
        let mut vertices: Vec<Vec<(usize, f64)>> = vec![Vec::new(); bone_count];
        for (i, row) in weights.iter().enumerate() {
            let v = self.rest[i];
            for a in row {
                vertices[a.bone.index()].push((i, a.weight));
                for b in row {
                    let (top, left) = (4 * a.bone.index(), 4 * b.bone.index());
                    let both = a.weight * b.weight;
                    for (r, c) in (0..16).map(|at| (at / 4, at % 4)) {
                        normal[(top + r, left + c)] += both * v[r] * v[c];
                    }
                }
            }
        }
        let d = self.reduced.basis.ncols();
        let parts = par::map(bone_count, |j| self.moments(&vertices[j]));
        let right = Mat::from_fn(d, 4 * bone_count, |r, c| parts[c / 4][(r, c % 4)]);
        self.pulled(normal, right)
    }

    /// `Σ_i w_i c_i v̂_iᵀ`, d×4.
    fn moments(&self, vertices: &[(usize, f64)]) -> Mat<f64> {
        let mut sums = Mat::<f64>::zeros(self.reduced.basis.ncols(), 4);
        for &(i, weight) in vertices {
            let coordinates = self.reduced.coordinates.col_as_slice(i);
            for column in 0..4 {
                let factor = weight * self.rest[i][column];
                let sums = sums.col_as_slice_mut(column);
                for (sum, c) in sums.iter_mut().zip(coordinates) {
                    *sum += factor * c;
                }
            }
        }
        sums
    }

    /// Solves `T N = R`; unknowns that `N` does not determine follow the whole mesh.
    fn pulled(&self, mut normal: Mat<f64>, mut right: Mat<f64>) -> Mat<f64> {
        let size = normal.nrows();
        let d = right.nrows();
        let start = Mat::from_fn(d, size, |r, c| self.whole[(r, c % 4)]);
        right -= product(start.as_ref(), normal.as_ref());
        let trace: f64 = (0..size).map(|at| normal[(at, at)]).sum();
        let pull = match trace > 0.0 {
            true => PULL * trace / size as f64,
            false => 1.0,
        };
        (0..size).for_each(|at| normal[(at, at)] += pull);
        let factor = normal.lblt(Side::Lower);
        start + factor.solve(right.transpose()).transpose()
    }

    /// Weights over the bones that predict each vertex best one by one, at most `max_influences`.
    pub(super) fn weights_for(&self, bones: &Mat<f64>, max_influences: usize) -> Rows<Weight> {
        let all: Vec<usize> = (0..bones.ncols() / 4).collect();
        self.weights_among(bones, max_influences, |_| all.as_slice())
    }

    /// As [`weights_for`](Self::weights_for), among given bones of each vertex.
    pub(super) fn weights_among<'c>(
        &self,
        bones: &Mat<f64>,
        max_influences: usize,
        candidates: impl Fn(usize) -> &'c [usize] + Sync + Send,
    ) -> Rows<Weight> {
        let d = bones.nrows();
        let rows = par::map_with(
            self.rest.len(),
            || (SimplexLs::new(), Vec::new()),
            |(solver, columns), i| {
                let candidates = candidates(i);
                columns.clear();
                columns.resize(d * candidates.len(), 0.0);
                let mut order: Vec<(f64, usize)> = candidates
                    .iter()
                    .enumerate()
                    .map(|(at, &j)| {
                        let column = &mut columns[at * d..(at + 1) * d];
                        (self.residual(bones, j, i, column), at)
                    })
                    .collect();
                order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                order.truncate(max_influences);
                let weight = |(at, weight): (usize, f64)| Weight {
                    bone: BoneId(candidates[order[at].1] as u16),
                    weight,
                };
                if d == 0 {
                    return vec![weight((0, 1.0))];
                }
                let best: Vec<f64> = order
                    .iter()
                    .flat_map(|&(_, at)| columns[at * d..(at + 1) * d].iter().copied())
                    .collect();
                let solution = solver.solve(&best, d, max_influences);
                solution.weights.into_iter().map(weight).collect()
            },
        );
        rows.into_iter().collect()
    }

    /// The error of a vertex when one bone alone moves it; returns its squared length.
    fn residual(&self, bones: &Mat<f64>, bone: usize, vertex: usize, out: &mut [f64]) -> f64 {
        let v = self.rest[vertex];
        let target = self.reduced.coordinates.col_as_slice(vertex);
        let part: [&[f64]; 4] = std::array::from_fn(|c| bones.col_as_slice(4 * bone + c));
        let mut squared = 0.0;
        for (r, out) in out.iter_mut().enumerate() {
            let moved = v.x * part[0][r] + v.y * part[1][r] + v.z * part[2][r];
            *out = moved + part[3][r] - target[r];
            squared += *out * *out;
        }
        squared
    }

    /// The skin of these bones and weights, in the poses of the animation.
    pub(super) fn decomposition(
        &self,
        bones: &Mat<f64>,
        weights: Rows<Weight>,
    ) -> Result<Decomposition, FitError> {
        let all = product(self.basis(), bones.as_ref());
        let unit = self.animation.unit_ball_radius();
        let matrices = par::map(self.animation.frame_count(), |f| {
            let column =
                |c: usize| DVec3::new(all[(3 * f, c)], all[(3 * f + 1, c)], all[(3 * f + 2, c)]);
            (0..bones.ncols() / 4)
                .map(|j| {
                    let linear =
                        DMat3::from_cols(column(4 * j), column(4 * j + 1), column(4 * j + 2));
                    let linear = match self.flat_normal {
                        Some(normal) => with_normal(linear, normal),
                        None => linear,
                    };
                    let offset = unit * column(4 * j + 3) - linear * self.middle;
                    DAffine3::from_mat3_translation(linear, offset)
                })
                .collect()
        });
        let rest = self.animation.rest().positions().to_vec();
        Decomposition::from_matrices(self.animation, rest, weights, &matrices, Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::MeshClip;
    use crate::skin::VertexProgram;
    use crate::synth::{TubeOptions, tube};

    /// A tube that is linear blend skinning of four bones, and its true weights.
    fn blended() -> (MeshAnimation, Rows<Weight>) {
        let tube = tube(&TubeOptions {
            ring_count: 24,
            segment_count: 8,
            bone_count: 4,
            example_count: 12,
        });
        let frames = tube.examples.examples().iter().map(|e| e.positions.clone());
        let clip = MeshClip {
            name: "poses".to_owned(),
            frames: frames.collect(),
            frames_per_second: 24.0,
        };
        let VertexProgram::Ssd(program) = tube.truth.program else {
            panic!("made by linear blending")
        };
        let animation = MeshAnimation::new(tube.examples.rest().clone(), vec![clip]);
        (animation.expect("frames"), program.weights)
    }

    #[test]
    fn true_weights_give_true_bones_and_true_bones_true_weights() {
        let (animation, weights) = blended();
        let problem = BlendProblem::new(&animation);
        let bones = problem.bones_for(&weights, 4);
        let made = problem.decomposition(&bones, weights).expect("a skin");
        assert!(made.e_rms < 0.2, "to the reduction's error: {}", made.e_rms);
        let again = problem.weights_for(&bones, 4);
        let made = problem.decomposition(&bones, again).expect("a skin");
        assert!(made.e_rms < 0.2, "and weights from bones: {}", made.e_rms);
    }

    #[test]
    fn bones_of_a_flat_mesh_keep_a_thickness() {
        let flag = crate::synth::flag(&crate::synth::FlagOptions {
            width: 12,
            height: 9,
            frame_count: 8,
        });
        let problem = BlendProblem::new(&flag);
        let weights: Rows<Weight> = (0..108)
            .map(|i| {
                [Weight {
                    bone: BoneId(u16::from(i % 12 > 5)),
                    weight: 1.0,
                }]
            })
            .collect();
        let bones = problem.bones_for(&weights, 2);
        let made = problem.decomposition(&bones, weights).expect("a skin");
        for pose in &made.poses {
            for matrix in &pose.parent_from_bone {
                let size = matrix.matrix3.determinant();
                assert!(size > 0.1, "no matrix flattens or mirrors: {size}");
            }
        }
    }

    #[test]
    fn a_bone_without_vertices_moves_with_the_whole_mesh() {
        let (animation, weights) = blended();
        let problem = BlendProblem::new(&animation);
        let bones = problem.bones_for(&weights, 5);
        for c in 0..4 {
            let (own, whole) = (bones.col_as_slice(16 + c), problem.whole.col_as_slice(c));
            let apart = own.iter().zip(whole).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-9, "column {c}");
        }
    }
}
