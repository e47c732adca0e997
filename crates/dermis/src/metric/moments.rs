//! First and second moments of a joint's matrix: all that mean square distances depend on.

use glam::{DAffine3, DMat4, DVec3, DVec4};

/// `E[L]` and `E[L ⊗ L]` of a joint's matrix.
///
/// If the joint is independent of the bones above, `E[G_jᵀG_j] = E[L_jᵀ X L_j]` with `X = E[G_aᵀG_a]`
/// of its parent, and that is linear in the second moments. Nothing else is assumed: the joint may
/// turn, slide, stretch and shear, with its parts correlated, below bones that do the same. The papers'
/// models are special cases that need fewer numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct JointMoments {
    mean: DAffine3,
    /// `E[ℓ ℓᵀ]` of the twelve numbers of `L`, column by column; entry `12 r + c`.
    second: Box<[f64; 144]>,
}

impl JointMoments {
    /// The moments of matrices, each with its weight; weights should sum to 1.
    pub fn from_samples<'a>(samples: impl IntoIterator<Item = (f64, &'a DAffine3)>) -> Self {
        let mut mean = [0.0; 12];
        let mut second = Box::new([0.0; 144]);
        for (share, local) in samples {
            let numbers = local.to_cols_array();
            for r in 0..12 {
                let left = share * numbers[r];
                mean[r] += left;
                for c in 0..12 {
                    second[12 * r + c] += left * numbers[c];
                }
            }
        }
        Self {
            mean: DAffine3::from_cols_array(&mean),
            second,
        }
    }

    /// The moments of equally likely matrices.
    pub fn from_equal_samples(samples: &[DAffine3]) -> Self {
        let share = 1.0 / samples.len().max(1) as f64;
        Self::from_samples(samples.iter().map(|local| (share, local)))
    }

    /// `E[L]`, entry by entry.
    pub fn mean(&self) -> &DAffine3 {
        &self.mean
    }

    /// `E[Lᵀ X L]` for a symmetric `X`, both as 4×4 matrices; `L` ends in the row 0, 0, 0, 1.
    pub fn conjugate(&self, x: &DMat4) -> DMat4 {
        let mut result = [[0.0; 4]; 4];
        let mean_columns = [
            self.mean.matrix3.x_axis,
            self.mean.matrix3.y_axis,
            self.mean.matrix3.z_axis,
            self.mean.translation,
        ];
        let border: DVec3 = x.w_axis.truncate();
        for (i, row) in result.iter_mut().enumerate() {
            for (k, entry) in row.iter_mut().enumerate() {
                // Σ over the rows of L that vary; the last row is 1 in the last column only.
                let mut sum = 0.0;
                for r in 0..3 {
                    for c in 0..3 {
                        sum += x.col(c)[r] * self.second[12 * (3 * i + r) + 3 * k + c];
                    }
                }
                if k == 3 {
                    sum += border.dot(mean_columns[i]);
                }
                if i == 3 {
                    sum += border.dot(mean_columns[k]);
                }
                if i == 3 && k == 3 {
                    sum += x.w_axis.w;
                }
                *entry = sum;
            }
        }
        DMat4::from_cols(
            DVec4::from_array(result[0]),
            DVec4::from_array(result[1]),
            DVec4::from_array(result[2]),
            DVec4::from_array(result[3]),
        )
    }

    /// The moments of `left · L · right`.
    pub(crate) fn between(&self, left: &DAffine3, right: &DAffine3) -> Self {
        // Numbers of left·L·right are linear in those of L and a constant: apply it to both sides.
        let image = |numbers: &[f64; 12], with_offset: bool| {
            let local = DAffine3::from_cols_array(numbers);
            let offset = if with_offset { 1.0 } else { 0.0 };
            let linear = left.matrix3 * local.matrix3;
            let translation = linear * right.translation
                + left.matrix3 * local.translation
                + offset * left.translation;
            DAffine3 {
                matrix3: linear * right.matrix3,
                translation,
            }
            .to_cols_array()
        };
        let mean = image(&self.mean.to_cols_array(), true);
        let constant = image(&[0.0; 12], true);
        let rows_mapped: Vec<[f64; 12]> = (0..12)
            .map(|r| {
                let row: [f64; 12] = std::array::from_fn(|c| self.second[12 * r + c]);
                image(&row, false)
            })
            .collect();
        let mean_linear = image(&self.mean.to_cols_array(), false);
        let mut second = Box::new([0.0; 144]);
        for c in 0..12 {
            let column: [f64; 12] = std::array::from_fn(|r| rows_mapped[r][c]);
            let mapped = image(&column, false);
            for r in 0..12 {
                second[12 * r + c] = mapped[r]
                    + constant[r] * mean_linear[c]
                    + mean_linear[r] * constant[c]
                    + constant[r] * constant[c];
            }
        }
        Self {
            mean: DAffine3::from_cols_array(&mean),
            second,
        }
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.mean.is_finite() && self.second.iter().all(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DQuat};

    use super::*;

    fn samples() -> Vec<DAffine3> {
        (0..5)
            .map(|k| {
                let t = k as f64;
                DAffine3::from_scale_rotation_translation(
                    DVec3::new(1.0, 1.0 + 0.1 * t, 0.9),
                    DQuat::from_scaled_axis(DVec3::new(0.3 * t, (2.0 * t).sin(), 0.1)),
                    DVec3::new(t, 1.0, -0.5 * t),
                )
            })
            .collect()
    }

    #[test]
    fn conjugation_is_the_mean_over_the_samples() {
        let samples = samples();
        let moments = JointMoments::from_equal_samples(&samples);
        let half = DMat4::from_cols_array(&[
            1.0, 0.2, 0.1, 0.5, 0.0, 2.0, 0.3, -0.7, 0.4, 0.0, 1.5, 0.9, 0.0, 0.6, 0.0, 3.0,
        ]);
        let x = half.transpose() * half;
        let mut expected = DMat4::ZERO;
        for local in &samples {
            let l = DMat4::from_mat3_translation(local.matrix3, local.translation);
            expected += (l.transpose() * x * l) * 0.2;
        }
        let found = moments.conjugate(&x);
        assert!(
            found.abs_diff_eq(expected, 1e-12),
            "{found} against {expected}"
        );
    }

    #[test]
    fn moments_of_products_are_those_of_multiplied_samples() {
        let left = DAffine3 {
            matrix3: DMat3::from_diagonal(DVec3::new(2.0, 1.0, 0.5)) * DMat3::from_rotation_x(0.4),
            translation: DVec3::new(1.0, -2.0, 3.0),
        };
        let right = DAffine3::from_scale_rotation_translation(
            DVec3::splat(0.7),
            DQuat::from_rotation_y(1.0),
            DVec3::new(0.1, 0.2, 0.3),
        );
        let samples = samples();
        let multiplied: Vec<DAffine3> = samples.iter().map(|l| left * *l * right).collect();
        let expected = JointMoments::from_equal_samples(&multiplied);
        let found = JointMoments::from_equal_samples(&samples).between(&left, &right);
        assert!(found.mean.abs_diff_eq(expected.mean, 1e-12), "mean");
        for (a, b) in found.second.iter().zip(expected.second.iter()) {
            assert!((a - b).abs() < 1e-10, "{a} against {b}");
        }
    }
}
