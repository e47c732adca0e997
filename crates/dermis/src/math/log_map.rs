//! Rotations as vectors, on a branch that the caller chooses.

use std::f64::consts::TAU;

use glam::{DMat3, DQuat, DVec3};

/// Axis times angle of a rotation matrix, at most half a turn.
pub(crate) fn rotation_vector(rotation: &DMat3) -> DVec3 {
    let q = DQuat::from_mat3(rotation).normalize();
    (if q.w < 0.0 { -q } else { q }).to_scaled_axis()
}

/// The vector nearest to `middle` among all vectors of the same rotation.
///
/// Those vectors are `n (φ + 2πm)` for a turn by `φ` about `n`: with `middle` near 240°, a joint that turns to 240°
/// gives 240° rather than −120°. A turn of 0 has no axis of its own and takes that of `middle`.
pub(crate) fn nearest_branch(vector: DVec3, middle: DVec3) -> DVec3 {
    let (axis, angle) = match vector.length() {
        angle if angle > 1e-9 => (vector / angle, angle),
        _ => (middle.normalize_or_zero(), 0.0),
    };
    let turns = ((middle.dot(axis) - angle) / TAU).round();
    match turns == 0.0 {
        true => vector,
        false => axis * (angle + turns * TAU),
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn the_vector_nearest_to_the_middle_is_found() {
        let axis = DVec3::new(0.6, -0.64, 0.48);
        for angle in [-3.0, 0.0, 1.0, 3.0, 3.3, 4.5, 6.0, TAU, 7.0] {
            let turned = DMat3::from_axis_angle(axis, angle);
            let middle = axis * (angle + 0.4);
            let found = nearest_branch(rotation_vector(&turned), middle);
            assert!(
                found.abs_diff_eq(axis * angle, 1e-7),
                "{angle}: found {found}"
            );
        }
        let short = DVec3::new(0.0, 0.0, 0.9 * PI);
        assert_eq!(
            nearest_branch(short, DVec3::ZERO),
            short,
            "the shortest vector stays"
        );
    }
}
