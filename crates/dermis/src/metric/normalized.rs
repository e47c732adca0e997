//! Coordinates in which the metric is the Euclidean dot product.

use super::PoseMetric;
use crate::rig::BoneId;
use crate::skin::Influence;
use crate::solve::SymmetricEigen;

/// `s̃ = F s` with `FᵀF = P`: ordinary dot products of these are mean dot products over poses.
///
/// `P` between the bones in use is decomposed into eigenvectors, and those of eigenvalue 0 (zero in every
/// pose) are left out, so there are at most four coordinates per bone and usually fewer (\[Merry07\] §3.3.2,
/// where the square root is taken of the whole). Coordinates are dense even for a vector of few bones, so use
/// them for a chart or a neighbourhood, not for a character.
#[derive(Debug, Clone)]
pub struct NormalizedCoordinates {
    bones: Vec<BoneId>,
    /// `F`, row by row, of `4 bones` numbers each.
    factor: Vec<f64>,
    rank: usize,
}

/// Eigenvalues below this share of the largest are rounding.
const NO_LENGTH: f64 = 1e-13;

impl NormalizedCoordinates {
    /// Coordinates for vectors that use some bones.
    ///
    /// Cost: O(n³) for n bones.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn new(metric: &PoseMetric, bones: impl IntoIterator<Item = BoneId>) -> Self {
        let mut bones: Vec<BoneId> = bones.into_iter().collect();
        bones.sort_unstable();
        bones.dedup();
        let size = 4 * bones.len();
        let eigen = SymmetricEigen::new(&metric.restricted(&bones), size);
        let largest = eigen.values.last().copied().unwrap_or(0.0);
        let mut factor = Vec::new();
        let mut rank = 0;
        // Largest eigenvalue first: the leading coordinates matter most.
        for (n, &value) in eigen.values.iter().enumerate().rev() {
            if value > NO_LENGTH * largest {
                let vector = &eigen.vectors[n * size..(n + 1) * size];
                factor.extend(vector.iter().map(|v| value.sqrt() * v));
                rank += 1;
            }
        }
        Self {
            bones,
            factor,
            rank,
        }
    }

    /// How many coordinates there are.
    pub fn dimension(&self) -> usize {
        self.rank
    }

    /// The bones whose vectors have coordinates, rising.
    pub fn bones(&self) -> &[BoneId] {
        &self.bones
    }

    /// The coordinates of a vector; `None` when it uses a bone that is not in [`bones`](Self::bones).
    pub fn of(&self, s: &[Influence]) -> Option<Vec<f64>> {
        let mut result = vec![0.0; self.rank];
        let size = 4 * self.bones.len();
        for term in s {
            let at = 4 * self.bones.binary_search(&term.bone).ok()?;
            for (value, row) in result.iter_mut().zip(self.factor.chunks_exact(size)) {
                let part = &row[at..at + 4];
                *value += term.p.dot(glam::DVec4::from_slice(part));
            }
        }
        Some(result)
    }
}
