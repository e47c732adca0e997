//! Eigenvalues and eigenvectors of small symmetric matrices.

use faer::diag::Diag;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par};

/// `A = U Λ Uᵀ` with an orthogonal `U`.
#[derive(Debug, Clone)]
pub(crate) struct SymmetricEigen {
    /// `Λ`, in rising order.
    pub(crate) values: Vec<f64>,
    /// `U`, column by column.
    pub(crate) vectors: Vec<f64>,
}

impl SymmetricEigen {
    /// Decomposes the symmetric matrix of `size` rows; only its lower half is read.
    ///
    /// One thread, so that the same matrix always gives the same bits. Cost: O(size³).
    ///
    /// # Panics
    /// When a number is not finite, or `matrix` has not `size²` numbers.
    pub(crate) fn new(matrix: &[f64], size: usize) -> Self {
        assert_eq!(matrix.len(), size * size, "a square matrix of {size} rows");
        assert!(
            matrix.iter().all(|value| value.is_finite()),
            "a matrix of finite numbers"
        );
        if size == 0 {
            return Self {
                values: Vec::new(),
                vectors: Vec::new(),
            };
        }
        let mut values = Diag::<f64>::zeros(size);
        let mut vectors = Mat::<f64>::zeros(size, size);
        let scratch = self_adjoint_evd_scratch::<f64>(
            size,
            ComputeEigenvectors::Yes,
            Par::Seq,
            Default::default(),
        );
        let mut memory = faer::dyn_stack::MemBuffer::new(scratch);
        self_adjoint_evd(
            // Symmetric, so rows may be read as columns.
            MatRef::from_column_major_slice(matrix, size, size),
            values.as_mut(),
            Some(vectors.as_mut()),
            Par::Seq,
            faer::dyn_stack::MemStack::new(&mut memory),
            Default::default(),
        )
        .expect("the QR algorithm converges on finite symmetric matrices");
        Self {
            values: values.column_vector().iter().copied().collect(),
            vectors: vectors
                .col_iter()
                .flat_map(|column| column.iter().copied().collect::<Vec<_>>())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_multiply_to_the_matrix() {
        let size = 7;
        let entry = |r: usize, c: usize| ((r * c) as f64).sin() + ((r + c) as f64).cos();
        let matrix: Vec<f64> = (0..size * size)
            .map(|at| entry(at / size, at % size))
            .collect();
        let eigen = SymmetricEigen::new(&matrix, size);
        assert!(eigen.values.is_sorted(), "in rising order: {eigen:?}");
        for r in 0..size {
            for c in 0..size {
                let sum: f64 = (0..size)
                    .map(|k| {
                        eigen.vectors[k * size + r] * eigen.values[k] * eigen.vectors[k * size + c]
                    })
                    .sum();
                assert!(
                    (sum - matrix[r * size + c]).abs() < 1e-12,
                    "entry ({r}, {c}): {sum}"
                );
            }
        }
        assert!(SymmetricEigen::new(&[], 0).values.is_empty(), "no rows");
    }
}
