//! Fewer numbers per trajectory: `A ≈ B C` with orthonormal columns of `B`.

use faer::{Mat, MatRef};

use crate::solve::SymmetricEigen;

/// How the basis is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reduction {
    /// Eigenvectors of `A Aᵀ` or `Aᵀ A`, whichever is smaller: the smallest basis.
    #[default]
    Gram,
}

/// `A ≈ B C`.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// `B`, 3F rows and d orthonormal columns.
    pub basis: Mat<f64>,
    /// `C = Bᵀ A`, d rows and a column per vertex.
    pub coordinates: Mat<f64>,
    /// `|A − B C|²`.
    pub squared_residual: f64,
}

/// Finds a basis in which `|A − B C| ≤ epsilon` (Frobenius norm).
pub fn reduce(trajectories: MatRef<'_, f64>, epsilon: f64, strategy: Reduction) -> Reduced {
    let Reduction::Gram = strategy;
    let rows = trajectories.nrows();
    let gram = trajectories * trajectories.transpose();
    let flat: Vec<f64> = (0..rows)
        .flat_map(|j| (0..rows).map(move |i| (i, j)))
        .map(|(i, j)| gram[(i, j)])
        .collect();
    let eigen = SymmetricEigen::new(&flat, rows);
    let mut left = 0.0;
    let mut dropped = 0;
    while dropped < rows && left + eigen.values[dropped].max(0.0) <= epsilon * epsilon {
        left += eigen.values[dropped].max(0.0);
        dropped += 1;
    }
    let kept = rows - dropped;
    let basis = Mat::from_fn(rows, kept, |i, j| eigen.vectors[(rows - 1 - j) * rows + i]);
    let coordinates = basis.transpose() * trajectories;
    Reduced {
        squared_residual: left,
        basis,
        coordinates,
    }
}
