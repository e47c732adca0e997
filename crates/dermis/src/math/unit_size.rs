//! A unit of length in which squares of coordinates neither overflow nor underflow.

use glam::DVec3;

/// A model further from the origin than this many times its size counts as having that distance as its size: its
/// coordinates have few digits left that tell its vertices apart.
const FAR: f64 = 1e12;

/// The power of two that scales a model to about unit size: its meshes, multiplied by it, have a longest side of 1 to
/// 2. 1 for meshes without extent at the origin.
///
/// Squares and products of coordinates leave the range of a float beyond 1e150 or below 1e-150, and much sooner where
/// lengths are compared with constants or fourth powers occur. Fits work on the model multiplied by this number and
/// divide their results by it. Both steps are exact: a power of two changes no digit, so a model in units that differ
/// by a power of two gives the same result to the last bit. Models below 1e-301 or beyond 1e301 only come as near to
/// unit size as a factor with a finite inverse allows.
pub(crate) fn unit_factor<'a>(meshes: impl IntoIterator<Item = &'a [DVec3]>) -> f64 {
    let mut size = 0.0f64;
    for mesh in meshes {
        let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for point in mesh {
            min = min.min(*point);
            max = max.max(*point);
        }
        if !mesh.is_empty() {
            // Halves, because the full difference may overflow.
            let half_side = (0.5 * max - 0.5 * min).max_element();
            let away = max.abs().max(min.abs()).max_element();
            size = size.max(half_side).max(away / FAR);
        }
    }
    power_of_two_below(2.0 * size.min(f64::MAX / 4.0)).recip()
}

/// The largest power of two that is not above a number; 1 for 0. Its inverse is finite.
fn power_of_two_below(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return 1.0;
    }
    let smallest = f64::from_bits(23 << 52);
    let x = x.clamp(smallest, smallest.recip());
    f64::from_bits(x.to_bits() & 0x7ff0_0000_0000_0000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_model_comes_to_unit_size_by_a_power_of_two() {
        for exponent in [-300, -150, -12, -1, 0, 1, 12, 150, 300] {
            let scale = 10f64.powi(exponent);
            let points = [
                DVec3::ZERO,
                scale * DVec3::X,
                scale * DVec3::new(0.3, -0.9, 0.1),
            ];
            let factor = unit_factor([&points[..]]);
            assert_eq!(
                factor.to_bits() & 0x000f_ffff_ffff_ffff,
                0,
                "{factor:e} is a power of two"
            );
            let size = factor * scale;
            assert!((0.99..2.0).contains(&size), "1e{exponent}: {size}");
            assert_eq!(unit_factor([&points.map(|p| p * factor)[..]]), 1.0, "once");
        }
        assert_eq!(unit_factor([&[DVec3::ZERO][..], &[]]), 1.0, "no extent");
        let largest = [DVec3::splat(-f64::MAX), DVec3::splat(f64::MAX)];
        let factor = unit_factor([&largest[..]]);
        assert!(
            factor > 0.0 && (factor * largest[1]).is_finite(),
            "{factor:e}"
        );
    }

    #[test]
    fn the_distance_of_a_model_far_away_counts_as_its_size() {
        let far = [DVec3::splat(1e300), DVec3::splat(1e300)];
        let factor = unit_factor([&far[..]]);
        assert!((factor * 1e300 / FAR) < 2.0, "{factor:e}");
    }
}
