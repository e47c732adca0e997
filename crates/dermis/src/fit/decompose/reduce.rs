//! Fewer numbers per trajectory: `A ≈ B C` with orthonormal columns of `B`.
//!
//! A fit that alternates many least-squares problems runs in the coordinates `C` instead of the
//! frames: neighbouring vertices move alike, and a few dozen columns of `B` span the motion of all.
//! \[Kavan10\] §3 finds them greedily, because a singular value decomposition took ten times as
//! long. The eigenvectors of the small matrix `A Aᵀ` are the same basis as that decomposition's, and
//! on today's processors one symmetric product costs less than the greedy passes over `A`
//! ([`compare::Reduction`](crate::compare::Reduction) has the paper's methods).

use faer::{Mat, MatRef};

use super::subspace::leading_within;
use crate::solve::SymmetricEigen;
use crate::solve::{lower_gram, product, squared_column_norms, squared_norm};

/// `A ≈ B C`.
#[derive(Debug, Clone)]
pub(crate) struct Reduced {
    /// `B`, 3F rows and d orthonormal columns.
    pub(crate) basis: Mat<f64>,
    /// `C = Bᵀ A`, d rows and a column per vertex.
    pub(crate) coordinates: Mat<f64>,
    /// `|A − B C|²`. From Gram matrices as `|A|² − |C|²`, which is known to about 1e-15 `|A|²`.
    pub(crate) squared_residual: f64,
}

/// Finds the smallest basis in which `|A − B C| ≤ epsilon` (Frobenius norm), up to rounding of `|A|`.
///
/// With `epsilon` 0 the basis spans everything that is not rounding. A matrix of zeros has a basis
/// without columns.
///
/// The eigenvectors of `A Aᵀ` or `Aᵀ A`, whichever is smaller. The squares lose half the digits: below an error of a
/// millionth of `|A|` the eigenvalues are rounding, and a singular value decomposition is used.
///
/// Cost, for m numbers in each of n columns, m being the smaller side: O(m² n + m³). Results are the same, bit for
/// bit, on any number of threads.
pub(crate) fn reduce(trajectories: MatRef<'_, f64>, epsilon: f64) -> Reduced {
    if trajectories.nrows() == 0 || trajectories.ncols() == 0 {
        return Reduced::empty(trajectories);
    }
    let total = squared_norm(trajectories);
    if epsilon * epsilon < SQUARED_GRAM_FLOOR * total {
        return by_svd(trajectories, epsilon);
    }
    let size = trajectories.nrows().min(trajectories.ncols());
    let rounding = f64::EPSILON * size as f64 * total;
    by_gram(trajectories, Keep::Within(epsilon * epsilon - rounding))
}

impl Reduced {
    /// Of a matrix without entries.
    pub(crate) fn empty(trajectories: MatRef<'_, f64>) -> Self {
        Self {
            basis: Mat::zeros(trajectories.nrows(), 0),
            coordinates: Mat::zeros(0, trajectories.ncols()),
            squared_residual: 0.0,
        }
    }
}

/// The best basis of at most `rank` columns.
pub(crate) fn leading(trajectories: MatRef<'_, f64>, rank: usize) -> Reduced {
    by_gram(trajectories, Keep::Most(rank))
}

/// Below this share of `|A|²` the eigenvalues of the Gram matrix are rounding.
const SQUARED_GRAM_FLOOR: f64 = 1e-12;

/// How many eigenvectors make the basis.
enum Keep {
    /// As few as leave no more than this of the sum of squares.
    Within(f64),
    /// This number.
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
        // Column by column, so that the rounding of long columns does not hide the remainder of short ones.
        squared_residual: before
            .iter()
            .zip(&after)
            .map(|(a, c)| (a - c).max(0.0))
            .sum(),
        basis,
        coordinates,
    }
}

/// Left singular vectors, found without squaring.
pub(crate) fn by_svd(trajectories: MatRef<'_, f64>, epsilon: f64) -> Reduced {
    let decomposed = trajectories
        .thin_svd()
        .expect("the QR algorithm converges on finite matrices");
    let values: Vec<f64> = decomposed.S().column_vector().iter().copied().collect();
    let squares: Vec<f64> = values.iter().rev().map(|value| value * value).collect();
    // Singular values below this are rounding, for any `epsilon`.
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
    use crate::fit::decompose::trajectories;
    use crate::synth::{FlagOptions, flag};

    // `compare::reductions` tests the guarantees of all reductions.

    #[test]
    fn the_leading_basis_is_the_best_of_its_size() {
        let matrix = trajectories(&flag(&FlagOptions {
            width: 23,
            height: 17,
            frame_count: 30,
        }));
        let epsilon = 0.0005 * ((matrix.nrows() * matrix.ncols()) as f64).sqrt();
        let best = by_svd(matrix.as_ref(), epsilon);
        let found = leading(matrix.as_ref(), best.basis.ncols());
        assert_eq!(
            found.basis.ncols(),
            best.basis.ncols(),
            "as many as asked for"
        );
        let (found, best) = (found.squared_residual, best.squared_residual);
        assert!((found - best).abs() <= 1e-6 * best, "{found} {best}");
    }
}
