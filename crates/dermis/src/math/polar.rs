//! The rotation nearest to a matrix.

use glam::{DMat3, DQuat};

/// The rotation `R` that makes `trace(Rᵀ M)` largest: the rotation part of a polar decomposition.
///
/// Found as the leading eigenvector of Horn's 4×4 quaternion matrix (\[Horn87\] §4), which never gives a reflection:
/// where the orthogonal factor of `M` would be one, the direction of the smallest singular value is flipped, as
/// \[Merry07\] §4.1.4 asks for. A matrix of rank one or zero has several best rotations; one of them is returned.
pub(crate) fn nearest_rotation(m: DMat3) -> DMat3 {
    let largest = m
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |a, b| a.max(b.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return DMat3::IDENTITY;
    }
    // a[r][c] is row r, column c, scaled so that the sweeps below cannot over- or underflow.
    let a = m
        .transpose()
        .to_cols_array_2d()
        .map(|row| row.map(|x| x / largest));
    let ([xx, xy, xz], [yx, yy, yz], [zx, zy, zz]) = (a[0], a[1], a[2]);
    let symmetric = [
        [xx + yy + zz, zy - yz, xz - zx, yx - xy],
        [zy - yz, xx - yy - zz, xy + yx, xz + zx],
        [xz - zx, xy + yx, yy - xx - zz, yz + zy],
        [yx - xy, xz + zx, yz + zy, zz - xx - yy],
    ];
    let [w, x, y, z] = leading_eigenvector(symmetric);
    DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize())
}

/// The unit eigenvector of the largest eigenvalue, by cyclic Jacobi rotations.
fn leading_eigenvector(mut a: [[f64; 4]; 4]) -> [f64; 4] {
    let mut vectors = [[0.0; 4]; 4];
    for (i, row) in vectors.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    // Convergence is quadratic: five or six sweeps reach rounding from any start.
    for _ in 0..12 {
        let off: f64 = (0..4)
            .flat_map(|p| (p + 1..4).map(move |q| (p, q)))
            .map(|(p, q)| a[p][q] * a[p][q])
            .sum();
        if off < 1e-30 {
            break;
        }
        for p in 0..3 {
            for q in p + 1..4 {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    let best = (0..4)
        .max_by(|&i, &j| a[i][i].total_cmp(&a[j][j]))
        .unwrap_or(0);
    vectors.map(|row| row[best])
}

/// One Jacobi rotation that makes `a[p][q]` zero.
fn rotate(a: &mut [[f64; 4]; 4], vectors: &mut [[f64; 4]; 4], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        let (x, y) = (row[p], row[q]);
        row[p] = c * x - s * y;
        row[q] = s * x + c * y;
    }
    let (x, y) = (a[p], a[q]);
    a[p] = std::array::from_fn(|k| c * x[k] - s * y[k]);
    a[q] = std::array::from_fn(|k| s * x[k] + c * y[k]);
    for row in vectors.iter_mut() {
        let (x, y) = (row[p], row[q]);
        row[p] = c * x - s * y;
        row[q] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use proptest::prelude::*;

    use super::*;

    fn angle_between(a: DMat3, b: DMat3) -> f64 {
        (DQuat::from_mat3(&a).inverse() * DQuat::from_mat3(&b))
            .to_scaled_axis()
            .length()
    }

    proptest! {
        #[test]
        fn finds_the_rotation_under_any_stretch(
            axis in prop::array::uniform3(-1.0..1.0f64),
            angle in -3.1..3.1f64,
            stretch in prop::array::uniform3(0.1..3.0f64),
        ) {
            let axis = DVec3::from_array(axis).try_normalize().unwrap_or(DVec3::X);
            let rotation = DMat3::from_axis_angle(axis, angle);
            let tilt = DMat3::from_axis_angle(DVec3::new(0.6, 0.8, 0.0), 0.7);
            let symmetric = tilt * DMat3::from_diagonal(DVec3::from_array(stretch)) * tilt.transpose();
            let found = nearest_rotation(rotation * symmetric);
            prop_assert!(angle_between(found, rotation) < 1e-6, "{found} instead of {rotation}");
        }
    }

    #[test]
    fn a_reflection_becomes_the_rotation_that_flips_the_smallest_direction() {
        let mirror = DMat3::from_diagonal(DVec3::new(2.0, 3.0, -0.1));
        let found = nearest_rotation(mirror);
        assert!(
            angle_between(found, DMat3::IDENTITY) < 1e-9,
            "found {found}"
        );
    }

    #[test]
    fn the_zero_matrix_gives_the_identity() {
        assert_eq!(
            nearest_rotation(DMat3::ZERO),
            DMat3::IDENTITY,
            "zero has no direction"
        );
    }

    #[test]
    fn a_matrix_of_rank_two_still_determines_the_rotation() {
        let rotation = DMat3::from_rotation_y(2.0);
        let flat = rotation * DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0));
        let found = nearest_rotation(flat);
        assert!(angle_between(found, rotation) < 1e-7, "found {found}");
    }
}
