//! Dot products of the bones' predictions, as polynomials of the rest position.
//!
//! With `φ_j = T_j ṽ`, every product is a quadratic form of the rest position,
//! `φ_j·φ_k = ṽᵀ (T_jᵀ T_k) ṽ`: ten coefficients per pair of bones for any dimension. So apart from
//! `T_jᵀ y`, the cost of a point's weights does not grow with the number of frames.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::model::Bones;
use crate::par;

/// Which entries of `T_jᵀ T_k` belong to xx, yy, zz, xy, xz, yz, x, y, z and 1.
const MONOMIALS: [(usize, usize); 10] = [
    (0, 0),
    (1, 1),
    (2, 2),
    (0, 1),
    (0, 2),
    (1, 2),
    (0, 3),
    (1, 3),
    (2, 3),
    (3, 3),
];

/// The products of all pairs of bones.
#[derive(Debug)]
pub(super) struct Products {
    pub(super) count: usize,
    pub(super) padded: usize,
    /// `TᵀT`, in the order of the columns of [`Bones`].
    square: Mat<f64>,
    /// For each bone k ten rows of `padded` numbers: the coefficients of `φ_j·φ_k` for all j.
    pairs: Vec<f64>,
    /// Ten rows of `padded` numbers: the coefficients of `φ_j·φ_j`.
    diagonal: Vec<f64>,
}

/// The ten monomials of a rest position.
#[inline(always)]
pub(super) fn monomials(rest: &[f64; 3]) -> [f64; 10] {
    let [x, y, z] = *rest;
    [x * x, y * y, z * z, x * y, x * z, y * z, x, y, z, 1.0]
}

impl Products {
    /// Cost: O(b²·d) for b bones in d dimensions.
    pub(super) fn new(bones: &Bones) -> Self {
        let (count, padded) = (bones.count, bones.padded);
        let columns = MatRef::from_column_major_slice(&bones.columns, bones.dimension, 4 * padded);
        let mut square = Mat::<f64>::zeros(4 * padded, 4 * padded);
        let (zero, one) = (Accum::Replace, 1.0);
        matmul(
            square.as_mut(),
            zero,
            columns.transpose(),
            columns,
            one,
            Par::Seq,
        );
        let rows_of = |k: usize| {
            let mut rows = vec![0.0; 10 * padded];
            for (row, &(a, b)) in rows.chunks_exact_mut(padded).zip(&MONOMIALS) {
                for (j, value) in row[..count].iter_mut().enumerate() {
                    *value = square[(a * padded + j, b * padded + k)];
                    if a != b {
                        *value += square[(b * padded + j, a * padded + k)];
                    }
                }
            }
            rows
        };
        let pairs = par::map(count, rows_of).concat();
        let mut diagonal = vec![0.0; 10 * padded];
        for j in 0..count {
            for m in 0..10 {
                diagonal[m * padded + j] = pairs[(j * 10 + m) * padded + j];
            }
        }
        Self {
            count,
            padded,
            square,
            pairs,
            diagonal,
        }
    }

    /// `φ_j·φ_bone` for all j.
    #[inline(always)]
    pub(super) fn column(&self, bone: usize, monomials: &[f64; 10], out: &mut [f64]) {
        let size = 10 * self.padded;
        evaluate(&self.pairs[bone * size..][..size], monomials, out);
    }

    /// `φ_j·φ_j` for all j.
    #[inline(always)]
    pub(super) fn squares(&self, monomials: &[f64; 10], out: &mut [f64]) {
        evaluate(&self.diagonal, monomials, out);
    }

    /// An entry of `T_jᵀ T_k`.
    #[inline(always)]
    pub(super) fn entry(&self, (a, j): (usize, usize), (b, k): (usize, usize)) -> f64 {
        self.square[(a * self.padded + j, b * self.padded + k)]
    }
}

/// Ten rows of coefficients times ten monomials.
#[inline(always)]
fn evaluate(rows: &[f64], m: &[f64; 10], out: &mut [f64]) {
    let size = out.len();
    let row = |k: usize| &rows[k * size..][..size];
    let (xx, yy, zz, xy, xz) = (row(0), row(1), row(2), row(3), row(4));
    let (yz, x, y, z, one) = (row(5), row(6), row(7), row(8), row(9));
    for j in 0..size {
        out[j] = (m[0] * xx[j] + m[1] * yy[j] + m[2] * zz[j])
            + (m[3] * xy[j] + m[4] * xz[j] + m[5] * yz[j])
            + (m[6] * x[j] + m[7] * y[j] + m[8] * z[j] + one[j]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_predictions() {
        let (count, dimension) = (3, 5);
        let mut bones = Bones::zeros(count, dimension);
        for bone in 0..count {
            for component in 0..4 {
                for (r, value) in bones.column_mut(component, bone).iter_mut().enumerate() {
                    *value = ((7 * bone + 3 * component + 11 * r) as f64).sin();
                }
            }
        }
        let rest = [0.3, -0.7, 1.1];
        let products = Products::new(&bones);
        let predictions: Vec<Vec<f64>> = (0..count)
            .map(|bone| {
                let mut out = vec![0.0; dimension];
                bones.predict(bone, &rest, &mut out);
                out
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let (mut column, mut squares) = (vec![0.0; products.padded], vec![0.0; products.padded]);
        products.squares(&monomials(&rest), &mut squares);
        for k in 0..count {
            products.column(k, &monomials(&rest), &mut column);
            for j in 0..count {
                let expected = dot(&predictions[j], &predictions[k]);
                assert!((column[j] - expected).abs() < 1e-12, "bones {j} and {k}");
            }
            assert!((squares[k] - column[k]).abs() < 1e-12, "bone {k} alone");
            assert_eq!(
                column[count..],
                vec![0.0; products.padded - count],
                "padding"
            );
        }
    }
}
