//! Singular values of a 3×3 matrix, from turning its columns until they are perpendicular.

use glam::DMat3;

/// A matrix whose columns were rotated among themselves: `given × turn = columns`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrthogonalColumns {
    /// Perpendicular columns; their lengths are the singular values, unsorted.
    pub(crate) columns: DMat3,
    /// The rotation that makes them perpendicular; its columns are the right singular vectors.
    pub(crate) turn: DMat3,
}

/// Turns columns into each other until all pairs are perpendicular (one-sided Jacobi, \[Hestenes58\]).
///
/// No step turns by more than 45°, and a pair whose `|a · b|` is at most `tolerance` times the longer of the two is
/// left alone. So columns that are already perpendicular do not change, and nearly perpendicular ones of different
/// lengths change little: started from the result for a similar matrix, the result stays near it. Small singular values
/// have the same relative accuracy as large ones.
pub(crate) fn orthogonal_columns(given: DMat3, tolerance: f64) -> OrthogonalColumns {
    let mut a = given;
    let mut turn = DMat3::IDENTITY;
    // Convergence is quadratic: five or six sweeps reach rounding from any start.
    for _ in 0..16 {
        let mut changed = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (x, y) = (a.col(p), a.col(q));
            let (x2, y2, xy) = (x.length_squared(), y.length_squared(), x.dot(y));
            let longer = x2.max(y2).sqrt();
            // Columns that are perpendicular up to rounding must not turn.
            if xy.abs() <= (tolerance * longer).max(4.0 * f64::EPSILON * (x2 * y2).sqrt()) {
                continue;
            }
            changed = true;
            let zeta = (y2 - x2) / (2.0 * xy);
            let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = t * c;
            *a.col_mut(p) = c * x - s * y;
            *a.col_mut(q) = s * x + c * y;
            let (x, y) = (turn.col(p), turn.col(q));
            *turn.col_mut(p) = c * x - s * y;
            *turn.col_mut(q) = s * x + c * y;
        }
        if !changed {
            break;
        }
    }
    OrthogonalColumns { columns: a, turn }
}

/// How much a matrix stretches at most: its largest singular value.
pub(crate) fn largest_stretch(m: &DMat3) -> f64 {
    let columns = orthogonal_columns(*m, 0.0).columns;
    (0..3).map(|k| columns.col(k).length()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use proptest::prelude::*;

    use super::*;

    fn turn(v: [f64; 3]) -> DMat3 {
        DMat3::from_quat(glam::DQuat::from_scaled_axis(DVec3::from_array(v)))
    }

    proptest! {
        #[test]
        fn columns_end_up_perpendicular_and_as_long_as_the_singular_values(
            left in prop::array::uniform3(-3.0..3.0f64),
            right in prop::array::uniform3(-3.0..3.0f64),
            exponents in prop::array::uniform3(-12.0..0.0f64),
        ) {
            let mut values = exponents.map(|e| 10.0f64.powf(e));
            let m = turn(left) * DMat3::from_diagonal(DVec3::from_array(values)) * turn(right);
            let OrthogonalColumns { columns, turn } = orthogonal_columns(m, 0.0);
            prop_assert!((turn * turn.transpose()).abs_diff_eq(DMat3::IDENTITY, 1e-14), "{turn}");
            prop_assert!((m * turn).abs_diff_eq(columns, 1e-14), "{columns}");
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                let (x, y) = (columns.col(p), columns.col(q));
                prop_assert!(
                    x.dot(y).abs() <= 1e-14 * x.length() * y.length(),
                    "columns {p} and {q} of {columns}"
                );
            }
            let mut lengths = [0, 1, 2].map(|k| columns.col(k).length());
            lengths.sort_by(f64::total_cmp);
            values.sort_by(f64::total_cmp);
            for (found, expected) in lengths.iter().zip(values) {
                // The input itself is rounded relative to its largest entry.
                prop_assert!((found - expected).abs() < 1e-15 + 1e-12 * expected, "{found} {expected}");
            }
            prop_assert!((largest_stretch(&m) - values[2]).abs() < 1e-14, "largest");
        }
    }

    #[test]
    fn perpendicular_columns_are_left_alone_even_when_equal_or_zero() {
        for scale in [DVec3::ONE, DVec3::new(0.0, 2.0, 2.0), DVec3::ZERO] {
            let m = turn([0.3, -1.0, 2.0]) * DMat3::from_diagonal(scale);
            let found = orthogonal_columns(m, 0.0);
            assert_eq!(found.turn, DMat3::IDENTITY, "scale {scale}");
        }
    }

    #[test]
    fn shear_within_the_tolerance_is_left() {
        let mut m = DMat3::IDENTITY;
        m.y_axis.x = 1e-6;
        assert_eq!(orthogonal_columns(m, 2e-6).turn, DMat3::IDENTITY, "small");
        let found = orthogonal_columns(m, 1e-7).turn;
        assert!(found.x_axis.y.abs() > 0.7, "equal lengths turn by 45°");
    }
}
