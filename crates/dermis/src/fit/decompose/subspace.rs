//! The leading eigenvectors of a Gram matrix, without the others.
//!
//! Of hundreds of eigenvectors a basis of trajectories needs some dozens. A random subspace that is multiplied by the
//! matrix turns towards them, the faster the more dimensions it has to spare (\[Halko11\] §4.5); its share of
//! the sum of squares is known exactly at every step. All products run on all cores, while a full
//! decomposition is mostly one core waiting for memory.

use faer::{Mat, MatRef};

use crate::math::Random;
use crate::solve::{SymmetricEigen, product};

/// For smaller matrices a full decomposition is as fast.
const SMALLEST: usize = 192;
/// A subspace starts with one of this many parts of the matrix's dimensions.
const FIRST_SHARE: usize = 6;
/// Multiplications before the first test, and the most in all.
const FIRST_ROUNDS: usize = 2;
const ROUNDS: usize = 12;
/// Stop after a round that gains less than this share of what would change the answer.
const SETTLED: f64 = 0.05;

/// As few eigenvectors as leave no more than `budget` of the trace, largest first; `None` where decomposing the whole
/// matrix is as good. Only the lower half of `gram` is read.
pub(super) fn leading_within(gram: &[f64], size: usize, budget: f64) -> Option<Mat<f64>> {
    if size < SMALLEST || budget <= 0.0 {
        return None;
    }
    let whole = Mat::from_fn(size, size, |r, c| gram[r.min(c) * size + r.max(c)]);
    let trace: f64 = (0..size).map(|i| whole[(i, i)]).sum();
    let mut width = size.div_ceil(FIRST_SHARE);
    // A subspace that fills much of the space is not faster.
    while 5 * width <= 2 * size {
        match iterate(whole.as_ref(), trace, budget, width) {
            Some(basis) => return Some(basis),
            None => width *= 2,
        }
    }
    None
}

/// `None` when a subspace of `width` dimensions is too narrow.
fn iterate(whole: MatRef<'_, f64>, trace: f64, budget: f64, width: usize) -> Option<Mat<f64>> {
    let size = whole.nrows();
    let mut random = Random::new(width as u64);
    let start = Mat::from_fn(width, size, |_, _| random.between(-1.0, 1.0));
    // Transposed, so that there are many columns to divide among cores.
    let mut image = product(start.as_ref(), whole);
    let mut before: Option<Leading> = None;
    for round in 1..=ROUNDS {
        let basis = image.transpose().to_owned().qr().compute_thin_Q();
        image = product(basis.transpose(), whole);
        if round < FIRST_ROUNDS {
            continue;
        }
        let small = product(image.as_ref(), basis.as_ref());
        let now = Leading::new(&small, trace, budget);
        // The last dimensions of a subspace turn most slowly.
        if now.count.is_none_or(|count| 4 * count > 3 * width) {
            match before {
                Some(_) => return None,
                None => {
                    before = Some(now);
                    continue;
                }
            }
        }
        if round == ROUNDS || before.is_some_and(|before| now.is_settled_since(&before, budget)) {
            return now
                .count
                .map(|count| product(basis.as_ref(), now.vectors(count).as_ref()));
        }
        before = Some(now);
    }
    None
}

/// The leading eigenvectors, as approximated in a subspace.
struct Leading {
    eigen: SymmetricEigen,
    /// The part of the trace that the first 0, 1, 2, … eigenvectors leave.
    left: Vec<f64>,
    /// How many are enough.
    count: Option<usize>,
}

impl Leading {
    fn new(small: &Mat<f64>, trace: f64, budget: f64) -> Self {
        let width = small.nrows();
        let numbers: Vec<f64> = small.col_iter().flat_map(|c| c.iter().copied()).collect();
        let eigen = SymmetricEigen::new(&numbers, width);
        let mut left = vec![trace];
        for value in eigen.values.iter().rev() {
            left.push(left[left.len() - 1] - value);
        }
        let count = left.iter().position(|&left| left <= budget);
        Self { eigen, left, count }
    }

    /// Whether one eigenvector fewer would not be enough even after more rounds, because the gain falls with
    /// every round.
    fn is_settled_since(&self, before: &Self, budget: f64) -> bool {
        match self.count {
            Some(0) => true,
            Some(count) if before.count == self.count => {
                let missing = self.left[count - 1] - budget;
                before.left[count - 1] - self.left[count - 1] <= SETTLED * missing
            }
            _ => false,
        }
    }

    fn vectors(&self, count: usize) -> Mat<f64> {
        let width = self.eigen.values.len();
        Mat::from_fn(width, count, |i, j| {
            self.eigen.vectors[(width - 1 - j) * width + i]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Gram matrix with the given eigenvalues, in random directions.
    fn gram_of(values: impl Fn(usize) -> f64, size: usize) -> Vec<f64> {
        let mut random = Random::new(7);
        let start = Mat::from_fn(size, size, |_, _| random.between(-1.0, 1.0));
        let directions = start.qr().compute_thin_Q();
        let scaled = Mat::from_fn(size, size, |r, c| directions[(r, c)] * values(c));
        let gram = &scaled * directions.transpose();
        gram.col_iter().flat_map(|c| c.iter().copied()).collect()
    }

    #[test]
    fn it_keeps_as_few_eigenvectors_as_a_full_decomposition() {
        let size = 240;
        for fall in [0.8_f64, 0.9, 0.95] {
            let value = |k: usize| fall.powi(k as i32);
            let gram = gram_of(value, size);
            for budget in [1e-1, 1e-2, 1e-3] {
                let left = |from: usize| (from..size).map(value).sum::<f64>();
                let budget = budget * left(0);
                let expected = (0..size).find(|&count| left(count) <= budget);
                let Some(found) = leading_within(&gram, size, budget) else {
                    // Allowed where much of the space is needed.
                    assert!(expected >= Some(size / 4), "{fall} {budget}: {expected:?}");
                    continue;
                };
                assert_eq!(Some(found.ncols()), expected, "{fall} {budget}");
                let off = (found.transpose() * &found
                    - Mat::<f64>::identity(found.ncols(), found.ncols()))
                .norm_max();
                assert!(off < 1e-12, "orthonormal but for {off}");
            }
        }
    }

    #[test]
    fn a_flat_spectrum_is_left_to_the_full_decomposition() {
        let gram = gram_of(|_| 1.0, 240);
        assert!(leading_within(&gram, 240, 24.0).is_none(), "216 are needed");
        assert!(
            leading_within(&gram[..100], 10, 1.0).is_none(),
            "too small to gain"
        );
    }
}
