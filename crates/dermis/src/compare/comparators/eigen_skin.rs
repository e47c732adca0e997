//! Corrections of a skin along its animation (\[Kry02\] EigenSkin).
//!
//! The error of a skin in each frame is taken back to the rest pose through the inverse blended matrix of
//! each vertex; the leading components of those displacements become corrections, added to the rest shape
//! before the bones act, and every pose carries a coefficient for each. That is the run-time that morph
//! targets have: the one kernel plays it.
//!
//! Components of displacements in the rest pose are not the best ones in model space, where the error
//! is measured, and a matrix that flattens its vertex has no inverse. So coefficients and
//! displacements are then fitted in turn in model space, each a small linear problem.

use faer::prelude::Solve;
use faer::{Mat, MatRef, Side};
use glam::{DAffine3, DMat3, DVec3};

use crate::example::MeshAnimation;
use crate::fit::FitError;
use crate::fit::decompose::Decomposition;
use crate::par;
use crate::skin::{
    Coefficient, Correction, Delta, Skin, SkinError, SsdProgram, VertexProgram, Weight,
};
use crate::solve::SymmetricEigen;
use crate::solve::{lower_gram, product};

/// Rounds of fitting coefficients and displacements in turn. With bones spread over a collapsing horse
/// and rank 10, `E_RMS` is 4.2, 2.6 and 2.2 after the first three and 2.0 after twelve; galloping, 1.01,
/// 0.82 and 0.78, and 0.72.
const ROUNDS: usize = 3;
/// Damping of the inverse of a flat matrix, as a share of its squared size.
const FLAT: f64 = 1e-3;
/// Pull towards no displacement where the frames do not determine it, as a share of the mean diagonal.
const PULL: f64 = 1e-9;

/// Adds `rank` corrections to a decomposition; no more than there are frames.
///
/// The error in the animation's frames is lower, or as before when nothing is left to correct.
///
/// Cost: O(N F rank²) per round for N vertices and F frames.
///
/// # Errors
/// [`FitError::Skin`] when the decomposition is not linear blend skinning, or already has corrections.
pub fn with_eigen_skin(
    decomposition: &Decomposition,
    animation: &MeshAnimation,
    rank: usize,
) -> Result<Decomposition, FitError> {
    let VertexProgram::Ssd(program) = &decomposition.skin.program else {
        let program = decomposition.skin.program.name();
        return Err(SkinError::NotLinear { program }.into());
    };
    if !program.corrections.is_empty() {
        return Err(FitError::Skin(SkinError::CountMismatch {
            what: "corrections before EigenSkin adds its own",
            expected: 0,
            found: program.corrections.len(),
        }));
    }
    let rank = rank.min(decomposition.poses.len());
    if rank == 0 {
        return Ok(decomposition.clone());
    }
    let problem = Problem::new(decomposition, program, animation)?;
    let (mut displacements, mut coefficients) = problem.components_in_rest(rank);
    for round in 0..ROUNDS {
        coefficients = problem.coefficients_for(&displacements);
        if round + 1 < ROUNDS {
            displacements = problem.displacements_for(&coefficients);
        }
    }
    corrected(
        decomposition,
        program,
        animation,
        displacements,
        coefficients,
    )
}

/// The skin with its corrections, and its frames.
fn corrected(
    decomposition: &Decomposition,
    program: &SsdProgram,
    animation: &MeshAnimation,
    mut displacements: Mat<f64>,
    mut coefficients: Mat<f64>,
) -> Result<Decomposition, FitError> {
    let rank = displacements.ncols();
    for m in 0..rank {
        // Coefficients from -1 to 1, as tools expect of morph targets.
        let largest = coefficients.row(m).norm_max();
        if largest > 0.0 {
            for f in 0..coefficients.ncols() {
                coefficients[(m, f)] /= largest;
            }
            let column = displacements.col_as_slice_mut(m);
            column.iter_mut().for_each(|value| *value *= largest);
        }
    }
    let corrections = (0..rank)
        .map(|m| {
            let column = displacements.col_as_slice(m);
            let delta = |i: usize| Delta {
                index: i as u32,
                value: DVec3::from_slice(&column[3 * i..3 * i + 3]),
            };
            Correction {
                deltas: (0..column.len() / 3).map(delta).collect(),
            }
        })
        .collect();
    let program = SsdProgram {
        corrections,
        ..program.clone()
    };
    let names = (0..rank).map(|m| Coefficient {
        name: format!("eigen_{m}"),
        default: 0.0,
    });
    let skin = Skin::new(
        decomposition.skin.skeleton.clone(),
        VertexProgram::Ssd(program),
        names.collect(),
    )?;
    let mut poses = decomposition.poses.clone();
    for (f, pose) in poses.iter_mut().enumerate() {
        pose.coefficients = coefficients.col_as_slice(f).to_vec();
    }
    let frames: Vec<Vec<DVec3>> = par::map(poses.len(), |f| skin.evaluate(&poses[f]))
        .into_iter()
        .collect::<Result<_, _>>()?;
    let e_rms = animation.e_rms(frames.iter().map(Vec::as_slice));
    // Nothing to correct but rounding.
    if e_rms >= decomposition.e_rms {
        return Ok(decomposition.clone());
    }
    Ok(Decomposition {
        skin,
        poses,
        e_rms,
        round_errors: decomposition.round_errors.clone(),
        unjoined_e_rms: decomposition.unjoined_e_rms,
    })
}

/// A skin, its matrices, and its errors.
struct Problem<'a> {
    program: &'a SsdProgram,
    /// `N_j` of every frame.
    posed_from_rest: Vec<Vec<DAffine3>>,
    /// `missing[f][i]`: from where the skin puts a vertex to where it should be.
    missing: Vec<Vec<DVec3>>,
}

impl<'a> Problem<'a> {
    fn new(
        decomposition: &Decomposition,
        program: &'a SsdProgram,
        animation: &MeshAnimation,
    ) -> Result<Self, FitError> {
        let skin = &decomposition.skin;
        let mut posed_from_rest = Vec::with_capacity(decomposition.poses.len());
        let mut missing = Vec::with_capacity(decomposition.poses.len());
        for (pose, frame) in decomposition.poses.iter().zip(animation.frames()) {
            let posed = skin.run_pose_program(pose)?;
            posed_from_rest.push(skin.skeleton.posed_from_rest(&posed.palette));
            let shown = skin.evaluate(pose)?;
            missing.push(frame.iter().zip(&shown).map(|(a, b)| *a - *b).collect());
        }
        Ok(Self {
            program,
            posed_from_rest,
            missing,
        })
    }

    /// The matrix that takes a displacement of the rest position to a frame.
    fn blended(&self, frame: usize, vertex: usize) -> DMat3 {
        let matrices = &self.posed_from_rest[frame];
        let part = |&Weight { bone, weight }: &Weight| matrices[bone.index()].matrix3 * weight;
        let row = self.program.weights.row(vertex);
        row.iter()
            .map(part)
            .fold(DMat3::ZERO, |sum, part| sum + part)
    }

    fn vertex_count(&self) -> usize {
        self.program.rest_positions.len()
    }

    /// Leading components of the errors, taken back to the rest pose: 3N×rank and rank×F.
    fn components_in_rest(&self, rank: usize) -> (Mat<f64>, Mat<f64>) {
        let frames = self.missing.len();
        let columns = par::map(frames, |f| {
            let back = |i: usize| {
                let matrix = self.blended(f, i);
                let squared = matrix.transpose() * matrix;
                let size = squared.x_axis.x + squared.y_axis.y + squared.z_axis.z;
                let kept = squared + DMat3::from_diagonal(DVec3::splat(FLAT * size / 3.0));
                let moved = kept.inverse() * (matrix.transpose() * self.missing[f][i]);
                // A matrix of zeros moves nothing anywhere.
                if moved.is_finite() {
                    moved
                } else {
                    DVec3::ZERO
                }
            };
            (0..self.vertex_count())
                .flat_map(|i| back(i).to_array())
                .collect::<Vec<f64>>()
        });
        let all = Mat::from_fn(3 * self.vertex_count(), frames, |r, f| columns[f][r]);
        let eigen = SymmetricEigen::new(&lower_gram(all.transpose()), frames);
        let coefficient = |m: usize, f: usize| eigen.vectors[(frames - 1 - m) * frames + f];
        let coefficients = Mat::from_fn(rank, frames, coefficient);
        (
            product(all.as_ref(), coefficients.transpose()),
            coefficients,
        )
    }

    /// The coefficients of every frame that are best in model space.
    fn coefficients_for(&self, displacements: &Mat<f64>) -> Mat<f64> {
        let rank = displacements.ncols();
        let columns = par::map(self.missing.len(), |f| {
            let mut moved = Mat::<f64>::zeros(3 * self.vertex_count(), rank);
            let mut target = Vec::with_capacity(3 * self.vertex_count());
            for i in 0..self.vertex_count() {
                let matrix = self.blended(f, i);
                for m in 0..rank {
                    let rest = &displacements.col_as_slice(m)[3 * i..3 * i + 3];
                    let to = matrix * DVec3::from_slice(rest);
                    moved.col_as_slice_mut(m)[3 * i..3 * i + 3].copy_from_slice(&to.to_array());
                }
                target.extend(self.missing[f][i].to_array());
            }
            let target = MatRef::from_column_major_slice(&target, target.len(), 1);
            solve(moved.transpose() * &moved, moved.transpose() * target)
        });
        Mat::from_fn(rank, columns.len(), |m, f| columns[f][m])
    }

    /// The displacements of every vertex that are best in model space.
    fn displacements_for(&self, coefficients: &Mat<f64>) -> Mat<f64> {
        let rank = coefficients.nrows();
        let columns = par::map(self.vertex_count(), |i| {
            let mut normal = Mat::<f64>::zeros(3 * rank, 3 * rank);
            let mut right = Mat::<f64>::zeros(3 * rank, 1);
            for (f, missing) in self.missing.iter().enumerate() {
                let matrix = self.blended(f, i);
                let squared = matrix.transpose() * matrix;
                let target = matrix.transpose() * missing[i];
                let factors = coefficients.col_as_slice(f);
                for (b, &right_factor) in factors.iter().enumerate() {
                    for axis in 0..3 {
                        let column = normal.col_as_slice_mut(3 * b + axis);
                        let own = squared.col(axis) * right_factor;
                        // The half below the diagonal is all that is read.
                        for (a, &factor) in factors.iter().enumerate().skip(b) {
                            column[3 * a] += factor * own.x;
                            column[3 * a + 1] += factor * own.y;
                            column[3 * a + 2] += factor * own.z;
                        }
                        right[(3 * b + axis, 0)] += right_factor * target[axis];
                    }
                }
            }
            solve(normal, right)
        });
        Mat::from_fn(3 * self.vertex_count(), rank, |r, m| {
            columns[r / 3][3 * m + r % 3]
        })
    }
}

/// Solves a symmetric system; undetermined unknowns are drawn to zero.
fn solve(mut normal: Mat<f64>, right: Mat<f64>) -> Vec<f64> {
    let size = normal.nrows();
    let trace: f64 = (0..size).map(|at| normal[(at, at)]).sum();
    (0..size).for_each(|at| normal[(at, at)] += PULL * trace / size as f64);
    match normal.llt(Side::Lower) {
        Ok(factor) => factor.solve(right).col_as_slice(0).to_vec(),
        // A matrix of zeros: there is nothing to correct.
        Err(_) => vec![0.0; size],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::comparators::{ComparatorOptions, fit_sad};
    use crate::progress::Silent;
    use crate::synth::{FlagOptions, flag};

    fn flag_in(frame_count: usize) -> (MeshAnimation, Decomposition) {
        let flag = flag(&FlagOptions {
            width: 16,
            height: 12,
            frame_count,
        });
        let options = ComparatorOptions {
            bone_count: 6,
            ..ComparatorOptions::default()
        };
        let made = fit_sad(&flag, &options, &Silent).expect("six bones");
        (flag, made)
    }

    #[test]
    fn more_corrections_leave_less_error() {
        let (flag, made) = flag_in(30);
        let mut last = made.e_rms;
        for rank in [1, 3, 8] {
            let found = with_eigen_skin(&made, &flag, rank).expect("a skin");
            assert!(
                found.e_rms < 0.95 * last,
                "rank {rank}: {} {last}",
                found.e_rms
            );
            assert_eq!(found.skin.coefficients.len(), rank, "one coefficient each");
            let largest = found.poses.iter().flat_map(|pose| &pose.coefficients);
            let largest = largest.fold(0.0_f64, |a, c| a.max(c.abs()));
            assert!((largest - 1.0).abs() < 1e-12, "up to 1: {largest}");
            last = found.e_rms;
        }
    }

    #[test]
    fn as_many_corrections_as_frames_leave_nothing() {
        let (flag, made) = flag_in(5);
        let found = with_eigen_skin(&made, &flag, 99).expect("a skin");
        assert_eq!(found.skin.coefficients.len(), 5, "no more than frames");
        assert!(
            found.e_rms < 1e-3 * made.e_rms,
            "{} {}",
            found.e_rms,
            made.e_rms
        );
    }

    #[test]
    fn rank_zero_changes_nothing_and_twice_is_refused() {
        let (flag, made) = flag_in(6);
        let same = with_eigen_skin(&made, &flag, 0).expect("nothing to do");
        assert_eq!(same.skin, made.skin, "as it was");
        let once = with_eigen_skin(&made, &flag, 2).expect("a skin");
        let error = with_eigen_skin(&once, &flag, 2).expect_err("it has corrections");
        assert!(error.to_string().contains("corrections"), "{error}");
    }
}
