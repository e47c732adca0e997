//! Ways to find a basis for trajectories: ours, and those of \[Kavan10\] §3 to compare with.

use faer::MatRef;

use super::deflate::deflate;
use crate::example::MeshAnimation;
use crate::fit::decompose::reduce::{self, Reduced};
use crate::fit::decompose::trajectories;

/// How a basis is chosen.
///
/// On a flag of 6906 vertices and 200 frames the sizes are in this order: `Svd` = `Gram` ≤
/// `PowerMethod(2)` ≤ `PowerMethod(1)` ≤ `MaxNorm` ≤ `GramSchmidt`.
///
/// Cost, for m numbers in each of n columns and d columns of the basis: O(m² n + m³) for `Gram` and
/// `Svd` (m being the smaller side), O(m n d) for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// Eigenvectors of `A Aᵀ` or `Aᵀ A`, whichever is smaller: what [`decompose`](crate::fit::decompose()) does. The
    /// smallest basis, and the fastest way to it while frames or vertices number in the hundreds.
    Gram,
    /// The column whose part outside the basis is longest (\[Kavan10\] Algorithm 1).
    MaxNorm,
    /// The columns one after the other, in the given order.
    GramSchmidt,
    /// The longest column, multiplied this many times by `A Aᵀ` of the remainder: 1 or 2 in the paper.
    PowerMethod(usize),
    /// Left singular vectors, found without squaring.
    Svd,
}

/// An animation as a matrix: a column of 3F numbers per vertex, in units of the first frame's ball.
#[derive(Debug, Clone)]
pub struct Trajectories(faer::Mat<f64>);

impl Trajectories {
    /// The trajectories of all vertices.
    pub fn new(animation: &MeshAnimation) -> Self {
        Self(trajectories(animation))
    }

    /// Numbers in a trajectory: three for each frame.
    pub fn row_count(&self) -> usize {
        self.0.nrows()
    }

    /// Trajectories: one for each vertex.
    pub fn column_count(&self) -> usize {
        self.0.ncols()
    }

    /// How many columns a basis has in which all trajectories together are at most `epsilon` off (Frobenius norm).
    pub fn basis_size(&self, epsilon: f64, strategy: Reduction) -> usize {
        reduce_by(self.0.as_ref(), epsilon, strategy).basis.ncols()
    }
}

fn reduce_by(trajectories: MatRef<'_, f64>, epsilon: f64, strategy: Reduction) -> Reduced {
    if trajectories.nrows() == 0 || trajectories.ncols() == 0 {
        return Reduced::empty(trajectories);
    }
    match strategy {
        Reduction::Gram => reduce::reduce(trajectories, epsilon),
        Reduction::Svd => reduce::by_svd(trajectories, epsilon),
        Reduction::MaxNorm | Reduction::GramSchmidt | Reduction::PowerMethod(_) => {
            deflate(trajectories, epsilon, strategy)
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;
    use crate::fit::decompose::trajectories;
    use crate::synth::{FlagOptions, flag};

    const ALL: [Reduction; 6] = [
        Reduction::Svd,
        Reduction::Gram,
        Reduction::PowerMethod(2),
        Reduction::PowerMethod(1),
        Reduction::MaxNorm,
        Reduction::GramSchmidt,
    ];

    fn small_flag(width: usize, frame_count: usize) -> Mat<f64> {
        trajectories(&flag(&FlagOptions {
            width,
            height: 17,
            frame_count,
        }))
    }

    fn paper_epsilon(matrix: &Mat<f64>) -> f64 {
        0.0005 * ((matrix.nrows() * matrix.ncols()) as f64).sqrt()
    }

    /// Asserts what every reduction promises, and gives the size of the basis.
    #[track_caller]
    fn check(matrix: &Mat<f64>, epsilon: f64, strategy: Reduction) -> usize {
        let reduced = reduce_by(matrix.as_ref(), epsilon, strategy);
        let (basis, coordinates) = (&reduced.basis, &reduced.coordinates);
        let d = basis.ncols();
        let what = format!("{strategy:?}, d = {d}, epsilon {epsilon}");
        assert_eq!(coordinates.nrows(), d, "{what}");
        assert_eq!(coordinates.ncols(), matrix.ncols(), "{what}");
        let off = (basis.transpose() * basis - Mat::<f64>::identity(d, d)).norm_max();
        assert!(
            off <= 1e-12,
            "{what}: the basis is orthonormal but for {off}"
        );
        let residual = (matrix - basis * coordinates).norm_l2();
        let rounding = 1e-12 * matrix.norm_l2();
        assert!(residual <= epsilon + rounding, "{what}: {residual}");
        let said = reduced.squared_residual.sqrt();
        // A difference of squares is known to half the digits.
        let known = 1e-7 * matrix.norm_l2();
        assert!(
            (said - residual).abs() <= known,
            "{what}: {said} is said, {residual} is true"
        );
        d
    }

    #[test]
    fn every_strategy_stays_within_epsilon() {
        // More vertices than rows, and fewer.
        for matrix in [small_flag(23, 30), small_flag(2, 30)] {
            for strategy in ALL {
                for factor in [1.0, 0.01, 1e-6] {
                    check(&matrix, factor * paper_epsilon(&matrix), strategy);
                }
            }
        }
    }

    #[test]
    fn better_informed_strategies_need_fewer_columns() {
        let matrix = small_flag(31, 90);
        let sizes = ALL.map(|strategy| check(&matrix, paper_epsilon(&matrix), strategy));
        assert_eq!(sizes[0], sizes[1], "the same optimum: {sizes:?}");
        assert!(sizes.is_sorted(), "in the order of Table 1: {sizes:?}");
        assert!(sizes[0] > 20, "a flag is not simple: {sizes:?}");
        assert!(sizes[5] > sizes[0], "and choice matters: {sizes:?}");
    }

    #[test]
    fn epsilon_zero_keeps_the_rank_and_no_more() {
        let left = Mat::from_fn(24, 5, |r, c| ((r * (c + 2)) as f64).sin());
        let right = Mat::from_fn(5, 60, |r, c| ((r + 1) as f64 * c as f64 * 0.7).cos());
        for matrix in [&left * &right, (&left * &right).transpose().to_owned()] {
            for strategy in ALL {
                let d = check(&matrix, 0.0, strategy);
                assert_eq!(d, 5, "{strategy:?}: rounding has no direction of its own");
            }
        }
    }

    #[test]
    fn zeros_single_frames_and_single_vertices_are_fine() {
        for strategy in ALL {
            assert_eq!(
                check(&Mat::zeros(9, 4), 0.0, strategy),
                0,
                "{strategy:?}: zeros"
            );
            assert_eq!(
                check(&Mat::zeros(9, 4), 1.0, strategy),
                0,
                "{strategy:?}: zeros"
            );
            assert_eq!(
                check(&Mat::zeros(0, 4), 1.0, strategy),
                0,
                "{strategy:?}: no frame"
            );
            assert_eq!(
                check(&Mat::zeros(3, 0), 1.0, strategy),
                0,
                "{strategy:?}: no vertex"
            );
            let one_vertex = Mat::from_fn(30, 1, |r, _| 1.0 + r as f64);
            assert_eq!(
                check(&one_vertex, 0.1, strategy),
                1,
                "{strategy:?}: one vertex"
            );
            let one_frame = Mat::from_fn(3, 50, |r, c| ((r + 1) * c) as f64 % 7.0);
            assert_eq!(
                check(&one_frame, 1e-3, strategy),
                3,
                "{strategy:?}: one frame"
            );
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let matrix = small_flag(31, 40);
        for strategy in ALL {
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let job = || reduce_by(matrix.as_ref(), paper_epsilon(&matrix), strategy);
                pool.expect("a pool").install(job)
            };
            let (one, three) = (on(1), on(3));
            assert!(one.basis == three.basis, "{strategy:?}: basis");
            assert!(
                one.coordinates == three.coordinates,
                "{strategy:?}: coordinates"
            );
        }
    }
}
