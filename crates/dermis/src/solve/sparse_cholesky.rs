//! Sparse symmetric positive definite systems, factored once and solved for any number of right-hand sides.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par, Side};

/// A symmetric matrix given by its lower half: columns one after the other, rows rising in each.
#[derive(Debug, Clone)]
pub(crate) struct LowerColumns {
    /// Where each column begins in `rows`; one more entry than there are columns.
    pub(crate) starts: Vec<usize>,
    /// Row of every entry, on or below the diagonal.
    pub(crate) rows: Vec<usize>,
    /// The entries.
    pub(crate) values: Vec<f64>,
}

/// Why a matrix has no Cholesky factor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CholeskyError {
    /// A pivot was not positive.
    #[error("the matrix is not positive definite")]
    NotPositiveDefinite,
    /// The factor does not fit in memory.
    #[error("the factor of the matrix does not fit in memory")]
    TooLarge,
}

/// The factor of a sparse matrix.
pub(crate) struct SparseCholesky {
    pattern: SymbolicSparseColMat<usize>,
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
}

impl SparseCholesky {
    /// Orders the unknowns for little fill (approximate minimum degree) and factors, on one thread.
    ///
    /// # Errors
    /// [`CholeskyError::NotPositiveDefinite`] and [`CholeskyError::TooLarge`].
    pub(crate) fn new(matrix: LowerColumns) -> Result<Self, CholeskyError> {
        let size = matrix.starts.len() - 1;
        let pattern =
            SymbolicSparseColMat::new_checked(size, size, matrix.starts, None, matrix.rows);
        let symbolic = factorize_symbolic_cholesky(
            pattern.as_ref(),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|_| CholeskyError::TooLarge)?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(symbolic.len_val())
            .map_err(|_| CholeskyError::TooLarge)?;
        values.resize(symbolic.len_val(), 0.0);
        let mut factor = Self {
            pattern,
            symbolic,
            values,
        };
        factor.refactor(&matrix.values)?;
        Ok(factor)
    }

    /// Factors another matrix with its entries in the same places, in the same order; after an error the factor is
    /// of no use until this succeeds.
    ///
    /// # Errors
    /// [`CholeskyError::NotPositiveDefinite`] and [`CholeskyError::TooLarge`].
    pub(crate) fn refactor(&mut self, entries: &[f64]) -> Result<(), CholeskyError> {
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), entries);
        let scratch = self
            .symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::try_new(scratch).map_err(|_| CholeskyError::TooLarge)?;
        self.symbolic
            .factorize_numeric_llt(
                &mut self.values,
                matrix,
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .map_err(|_| CholeskyError::NotPositiveDefinite)?;
        Ok(())
    }

    /// Replaces the right-hand side by the solution.
    pub(crate) fn solve(&self, right: &mut [f64]) {
        let size = right.len();
        let scratch = self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let mut memory = MemBuffer::new(scratch);
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(right, size, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `diagonal` on the diagonal and -1 beside it.
    fn chain(size: usize, diagonal: f64) -> LowerColumns {
        let mut lower = LowerColumns {
            starts: vec![0],
            rows: Vec::new(),
            values: Vec::new(),
        };
        for column in 0..size {
            lower.rows.push(column);
            lower.values.push(diagonal);
            if column + 1 < size {
                lower.rows.push(column + 1);
                lower.values.push(-1.0);
            }
            lower.starts.push(lower.rows.len());
        }
        lower
    }

    #[test]
    fn a_chain_is_solved() {
        let factor = SparseCholesky::new(chain(50, 2.0)).expect("positive definite");
        let wanted: Vec<f64> = (0..50).map(|k| (k as f64).sin()).collect();
        let at = |k: usize| wanted.get(k).copied().unwrap_or(0.0);
        let mut right: Vec<f64> = (0..50)
            .map(|k| 2.0 * at(k) - at(k + 1) - at(k.wrapping_sub(1)))
            .collect();
        factor.solve(&mut right);
        for (found, wanted) in right.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
    }

    #[test]
    fn a_second_matrix_of_the_same_pattern_is_solved() {
        let mut factor = SparseCholesky::new(chain(20, 2.0)).expect("positive definite");
        factor
            .refactor(&chain(20, 3.0).values)
            .expect("positive definite");
        let mut right = vec![1.0; 20];
        factor.solve(&mut right);
        let mut fresh = vec![1.0; 20];
        SparseCholesky::new(chain(20, 3.0))
            .expect("positive definite")
            .solve(&mut fresh);
        assert_eq!(right, fresh, "same numbers in the same order");
    }

    #[test]
    fn a_failed_factor_can_be_mended() {
        let mut factor = SparseCholesky::new(chain(20, 2.0)).expect("positive definite");
        let error = factor.refactor(&chain(20, 1.0).values).err();
        assert_eq!(error, Some(CholeskyError::NotPositiveDefinite), "1 < 2");
        assert!(factor.refactor(&chain(20, 4.0).values).is_ok(), "4 > 2");
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let error = SparseCholesky::new(chain(50, 1.0)).err();
        assert_eq!(error, Some(CholeskyError::NotPositiveDefinite), "1 < 2");
    }
}
