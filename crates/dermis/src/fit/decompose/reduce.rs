//! Fewer numbers per trajectory: `A ≈ B C` with orthonormal columns of `B`.
//!
//! A fit that alternates many least-squares problems runs in the coordinates `C` instead of the
//! frames: neighbouring vertices move alike, and a few dozen columns of `B` span the motion of all.
//! \[Kavan10\] §3 finds them greedily, because a singular value decomposition took ten times as
//! long. The eigenvectors of the small matrix `A Aᵀ` are the same basis as that decomposition's, and
//! on today's processors one symmetric product costs less than the greedy passes over `A`: that is
//! the default. The paper's strategies are here too, for comparison and for long animations.

use faer::{Mat, MatRef};

use super::deflate::deflate;
use super::subspace::leading_within;
use crate::solve::SymmetricEigen;
use crate::solve::{lower_gram, product, squared_column_norms, squared_norm};

/// How the basis is chosen.
///
/// On a flag of 6906 vertices and 200 frames the sizes are in this order: `Svd` = `Gram` ≤
/// `PowerMethod(2)` ≤ `PowerMethod(1)` ≤ `MaxNorm` ≤ `GramSchmidt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reduction {
    /// Eigenvectors of `A Aᵀ` or `Aᵀ A`, whichever is smaller: the smallest basis, and the fastest
    /// way to it while frames or vertices number in the hundreds.
    ///
    /// The squares lose half the digits: below an error of a millionth of `|A|` the eigenvalues say
    /// nothing, and [`Reduction::Svd`] takes over.
    #[default]
    Gram,
    /// The column that is longest after what the basis spans is taken out of it (\[Kavan10\]
    /// Algorithm 1).
    MaxNorm,
    /// The columns one after the other, as they come.
    GramSchmidt,
    /// The longest column, multiplied so many times by `A Aᵀ` of what is left: 1 or 2 in the paper.
    PowerMethod(usize),
    /// Left singular vectors, found without squaring.
    Svd,
}

/// `A ≈ B C`.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// `B`, 3F rows and d orthonormal columns.
    pub basis: Mat<f64>,
    /// `C = Bᵀ A`, d rows and a column per vertex.
    pub coordinates: Mat<f64>,
    /// `|A − B C|²`. From [`Reduction::Gram`] as `|A|² − |C|²`, which is known to about 1e-15 `|A|²`.
    pub squared_residual: f64,
}

/// Finds a basis in which `|A − B C| ≤ epsilon` (Frobenius norm), up to rounding of `|A|`.
///
/// `epsilon` 0 asks for a basis of everything that is not rounding. A matrix of zeros has a basis
/// without columns.
///
/// Cost, for m numbers in each of n columns and d columns of the basis: O(m² n + m³) for `Gram` and
/// `Svd` (m being the smaller side), O(m n d) for the others. Results are the same, bit for bit, on
/// any number of threads.
pub fn reduce(trajectories: MatRef<'_, f64>, epsilon: f64, strategy: Reduction) -> Reduced {
    if trajectories.nrows() == 0 || trajectories.ncols() == 0 {
        return Reduced {
            basis: Mat::zeros(trajectories.nrows(), 0),
            coordinates: Mat::zeros(0, trajectories.ncols()),
            squared_residual: 0.0,
        };
    }
    match strategy {
        Reduction::Gram => {
            let total = squared_norm(trajectories);
            if epsilon * epsilon < SQUARED_GRAM_FLOOR * total {
                return by_svd(trajectories, epsilon);
            }
            let size = trajectories.nrows().min(trajectories.ncols());
            let rounding = f64::EPSILON * size as f64 * total;
            by_gram(trajectories, Keep::Within(epsilon * epsilon - rounding))
        }
        Reduction::Svd => by_svd(trajectories, epsilon),
        Reduction::MaxNorm | Reduction::GramSchmidt | Reduction::PowerMethod(_) => {
            deflate(trajectories, epsilon, strategy)
        }
    }
}

/// The best basis of at most `rank` columns.
pub(super) fn leading(trajectories: MatRef<'_, f64>, rank: usize) -> Reduced {
    by_gram(trajectories, Keep::Most(rank))
}

/// Below this share of `|A|²` the eigenvalues of the Gram matrix are rounding.
const SQUARED_GRAM_FLOOR: f64 = 1e-12;

/// How many eigenvectors make the basis.
enum Keep {
    /// As few as leave no more than this of the sum of squares.
    Within(f64),
    /// So many.
    Most(usize),
}

impl Keep {
    /// How many of the components to keep, given their squares in rising order.
    fn count(&self, squares: &[f64]) -> usize {
        match *self {
            Self::Most(rank) => rank.min(squares.len()),
            Self::Within(budget) => {
                let mut left = 0.0;
                let dropped = squares.iter().take_while(|square| {
                    left += square.max(0.0);
                    left <= budget.max(0.0)
                });
                squares.len() - dropped.count()
            }
        }
    }
}

fn by_gram(trajectories: MatRef<'_, f64>, keep: Keep) -> Reduced {
    let wide = trajectories.nrows() <= trajectories.ncols();
    let rows = if wide {
        trajectories
    } else {
        trajectories.transpose()
    };
    let size = rows.nrows();
    let gram = lower_gram(rows);
    let few = match keep {
        Keep::Within(budget) => leading_within(&gram, size, budget),
        Keep::Most(_) => None,
    };
    let leading = few.unwrap_or_else(|| {
        let eigen = SymmetricEigen::new(&gram, size);
        let kept = keep.count(&eigen.values);
        Mat::from_fn(size, kept, |i, j| eigen.vectors[(size - 1 - j) * size + i])
    });
    let basis = match wide {
        true => leading,
        // `A v` has the length of its singular value, and the smallest of these are not quite
        // orthogonal to the others.
        false => product(trajectories, leading.as_ref())
            .qr()
            .compute_thin_Q(),
    };
    let coordinates = product(basis.transpose(), trajectories);
    let before = squared_column_norms(trajectories);
    let after = squared_column_norms(coordinates.as_ref());
    Reduced {
        // Column by column, so that long ones do not drown what is left of short ones.
        squared_residual: before
            .iter()
            .zip(&after)
            .map(|(a, c)| (a - c).max(0.0))
            .sum(),
        basis,
        coordinates,
    }
}

fn by_svd(trajectories: MatRef<'_, f64>, epsilon: f64) -> Reduced {
    let decomposed = trajectories
        .thin_svd()
        .expect("the QR algorithm converges on finite matrices");
    let values: Vec<f64> = decomposed.S().column_vector().iter().copied().collect();
    let squares: Vec<f64> = values.iter().rev().map(|value| value * value).collect();
    // Singular values below this are rounding, whatever is asked for.
    let long_side = trajectories.nrows().max(trajectories.ncols());
    let zero = f64::EPSILON * long_side as f64 * values.first().copied().unwrap_or(0.0);
    let real = values.iter().take_while(|&&value| value > zero).count();
    let kept = Keep::Within(epsilon * epsilon).count(&squares).min(real);
    let basis = decomposed.U().subcols(0, kept).to_owned();
    Reduced {
        coordinates: product(basis.transpose(), trajectories),
        basis,
        squared_residual: squares[..squares.len() - kept].iter().sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::trajectories;
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
        let reduced = reduce(matrix.as_ref(), epsilon, strategy);
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
    fn the_leading_basis_is_the_best_of_its_size() {
        let matrix = small_flag(23, 30);
        let best = reduce(matrix.as_ref(), paper_epsilon(&matrix), Reduction::Svd);
        let found = leading(matrix.as_ref(), best.basis.ncols());
        assert_eq!(
            found.basis.ncols(),
            best.basis.ncols(),
            "as many as asked for"
        );
        let (found, best) = (found.squared_residual, best.squared_residual);
        assert!((found - best).abs() <= 1e-6 * best, "{found} {best}");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let matrix = small_flag(31, 40);
        for strategy in ALL {
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let job = || reduce(matrix.as_ref(), paper_epsilon(&matrix), strategy);
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
