//! Exponentials, logarithms and angles from `+ − × ÷ √` alone, so that their bits are the same on
//! every machine.
//!
//! They serve the few dozen numbers of a pose, where 64 bits cost nothing, and where 32 would not
//! do: the weights of wide bumps are large and cancel, so that a bump has to be much more exact than
//! the coefficient that comes of it.

use glam::{DQuat, DVec3};

/// Steps of the table per unit of squared distance.
const STEPS: f64 = 8.0;
/// Where the table ends: `exp(−32)` is 1.3e-14.
const END: f64 = 64.0;
const ENTRIES: usize = (END * STEPS) as usize + 1;
/// `exp(−1/16)`: one step of the table.
const STEP_FACTOR: f64 = 0.939_413_062_813_475_8;

static TABLE: [f64; ENTRIES] = table();

/// `exp(−s/2)` at multiples of a step. Rounding adds up to 2e-13 of an entry at the far end.
const fn table() -> [f64; ENTRIES] {
    let mut table = [1.0; ENTRIES];
    let mut i = 1;
    while i < ENTRIES {
        table[i] = table[i - 1] * STEP_FACTOR;
        i += 1;
    }
    table
}

/// `exp(−s/2)` of a squared distance, and 0 from 64 on.
///
/// A table over the squared distance, as \[Lewis00\] §4.2 has it: neither a root nor an exponential
/// at run time. Between entries a straight line would err by up to `h² max|f″|/8`, which is 5e-4 at
/// this step `h` of 1/8 and still 5e-7 in a table of 16,000 entries. Instead `exp(−r/2)` multiplies the nearest
/// entry, `|r| ≤ h/2`: with `x = r/2` at most 1/32, its series to x⁵ leaves out `x⁶/720`, or 1.3e-12
/// of the result, and four kilobytes are enough. With rounding the result is off by less than 2e-12
/// of itself, and by less than 1.3e-14 where it is taken for 0.
pub(super) fn gaussian(s: f64) -> f64 {
    if s >= END {
        return 0.0;
    }
    // NaN becomes entry 0 here and NaN again below.
    let nearest = (s * STEPS + 0.5) as usize;
    let x = 0.5 * (s - nearest as f64 / STEPS);
    let series =
        1.0 - x * (1.0 - x * (1.0 / 2.0 - x * (1.0 / 6.0 - x * (1.0 / 24.0 - x * (1.0 / 120.0)))));
    TABLE[nearest.min(ENTRIES - 1)] * series
}

/// `x^y` for x from 0 to 1 and y above 1/2, off by less than 1e-11 of itself, or 2e-14.
pub(super) fn power(x: f64, y: f64) -> f64 {
    // √1e-30 is negligible already, and `logarithm` does not take subnormal numbers.
    if x < 1e-30 {
        return 0.0;
    }
    gaussian(-2.0 * y * logarithm(x))
}

/// `ln(x)` for normal positive numbers, off by less than 1e-12.
///
/// With `x = m 2^e` and m from √½ to √2 it is `e ln 2 + 2 artanh(t)`, where `t = (m−1)/(m+1)` is at
/// most 0.1716: what the series leaves out is below `2 t¹⁵/15`, which is 4e-13.
fn logarithm(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as f64 - 1023.0;
    let mut m = f64::from_bits((bits & MANTISSA) | 1f64.to_bits());
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1.0;
    }
    let t = (m - 1.0) / (m + 1.0);
    let u = t * t;
    let series = 1.0
        + u * (1.0 / 3.0
            + u * (1.0 / 5.0
                + u * (1.0 / 7.0 + u * (1.0 / 9.0 + u * (1.0 / 11.0 + u * (1.0 / 13.0))))));
    exponent * std::f64::consts::LN_2 + 2.0 * t * series
}

/// `arctan(√z)/√z` for z up to `tan²(π/8)`, 0.1716: what the series leaves out is below `z¹¹/23`,
/// which is 2e-10.
fn arctangent_over_tangent(z: f64) -> f64 {
    let mut sum = 0.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = 1.0 / odd - z * sum;
    }
    sum
}

/// Axis times angle of a unit quaternion, at most half a turn; off by less than 1e-9 radians.
///
/// Halving an angle is algebra: `xyz/(1 + w)` is `tan(θ/4)` along the axis, and halved again
/// `tan(θ/8)`, at most 0.41, where a short series does. Nothing is divided by a sine, so a turn of 0 is no
/// special case.
pub(super) fn rotation_vector(q: DQuat) -> DVec3 {
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    let quarter = q.xyz() * (sign / (1.0 + q.w.abs()));
    let eighth = quarter / (1.0 + (1.0 + dot(quarter, quarter)).sqrt());
    eighth * (8.0 * arctangent_over_tangent(dot(eighth, eighth)))
}

/// The unit quaternion of a turn by axis times angle; off by less than 1e-14 for a few turns.
///
/// The angle is halved until half of it is at most 1/8, where the series to the tenth power leave out less than
/// 1e-18, and the quaternion squared as often.
pub(super) fn exponential(turn: DVec3) -> DQuat {
    let mut half = turn * 0.5;
    let mut squarings = 0;
    // Numbers whose squares are infinite have no angle that 64 bits can hold: the bound ends the loop for
    // them.
    while dot(half, half) > 1.0 / 64.0 && squarings < 1100 {
        half *= 0.5;
        squarings += 1;
    }
    let z = dot(half, half);
    let sine_over_angle =
        1.0 - z / 6.0 * (1.0 - z / 20.0 * (1.0 - z / 42.0 * (1.0 - z / 72.0 * (1.0 - z / 110.0))));
    let cosine =
        1.0 - z / 2.0 * (1.0 - z / 12.0 * (1.0 - z / 30.0 * (1.0 - z / 56.0 * (1.0 - z / 90.0))));
    let xyz = half * sine_over_angle;
    let mut q = DQuat::from_xyzw(xyz.x, xyz.y, xyz.z, cosine);
    for _ in 0..squarings {
        q = product(q, q);
    }
    q
}

/// Sine and cosine of half the twist of a unit quaternion about an axis, the cosine at least 0. A
/// turn by half a circle about another axis has none.
pub(super) fn half_twist(q: DQuat, axis: DVec3) -> (f64, f64) {
    let along = dot(q.xyz(), axis);
    let length = (along * along + q.w * q.w).sqrt();
    if length == 0.0 {
        return (0.0, 1.0);
    }
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    (sign * along / length, sign * q.w / length)
}

/// The angle whose half has a sine and a cosine; off by less than 1e-9 radians.
pub(super) fn angle((sine, cosine): (f64, f64)) -> f64 {
    let quarter = sine / (1.0 + cosine);
    let eighth = quarter / (1.0 + (1.0 + quarter * quarter).sqrt());
    8.0 * eighth * arctangent_over_tangent(eighth * eighth)
}

/// Sums in a fixed order, which a library need not keep.
pub(super) fn dot(a: DVec3, b: DVec3) -> f64 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// `a b`, term by term: glam's product may use other instructions on other machines.
pub(super) fn product(a: DQuat, b: DQuat) -> DQuat {
    DQuat::from_xyzw(
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    )
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table_is_the_exponential_to_its_stated_error() {
        for k in 0..=640_000 {
            let s = f64::from(k) * 1e-4;
            let exact = (-0.5 * s).exp();
            let off = (gaussian(s) - exact).abs();
            assert!(
                off <= 2e-12 * exact || (s >= END && off < 1.3e-14),
                "at {s}: off by {off:e} of {exact:e}"
            );
        }
        assert_eq!(gaussian(0.0), 1.0, "exactly 1 at its own pose");
        assert_eq!(gaussian(f64::INFINITY), 0.0, "nothing far away");
        assert!(gaussian(f64::NAN).is_nan(), "NaN is not hidden");
    }

    #[test]
    fn the_smallest_change_of_distance_never_raises_a_bump() {
        // Across the middle between two entries, where the nearest one changes.
        for step in 0..511 {
            let middle = (f64::from(step) + 0.5) / STEPS;
            let (before, after) = (gaussian(middle - 1e-9), gaussian(middle + 1e-9));
            assert!(before > after, "at {middle}: {before:e} and {after:e}");
        }
    }

    proptest! {
        #[test]
        fn powers_equal_those_of_std_to_the_stated_error(x in 0.0..=1.0f64, tiny in 0..40i32, y in 0.5..8.0f64) {
            let x = x * 0.5f64.powi(tiny);
            let exact = x.powf(y);
            let off = (power(x, y) - exact).abs();
            prop_assert!(off <= 1e-11 * exact + 2e-14, "{}^{}: off by {:e}", x, y, off);
        }

        #[test]
        fn turns_equal_those_of_glam_to_the_stated_error(
            axis in (-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64),
            turn in -PI..PI,
            about in 0..3usize,
        ) {
            let axis = DVec3::from(axis).normalize_or(DVec3::X);
            let q = DQuat::from_axis_angle(axis, turn);
            for q in [q, -q] {
                let found = exponential(turn * axis);
                let off = 1.0 - found.dot(q).abs();
                prop_assert!(off < 1e-14, "{} about {}: off by {:e}", turn, axis, off);
                let off = rotation_vector(q).distance(turn * axis);
                prop_assert!(off < 1e-9, "{} about {}: off by {:e}", turn, axis, off);
                let about = DVec3::AXES[about];
                let exact = 2.0 * f64::atan2(q.xyz().dot(about), q.w);
                let off = angle(half_twist(q, about)) - exact;
                let off = off - 2.0 * PI * (off / (2.0 * PI)).round();
                prop_assert!(off.abs() < 1e-9, "{} about {}: off by {:e}", turn, axis, off);
            }
        }
    }

    #[test]
    fn zero_and_half_turns_are_read_correctly() {
        assert_eq!(rotation_vector(DQuat::IDENTITY), DVec3::ZERO, "none");
        let half = rotation_vector(DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0));
        assert!((half - PI * DVec3::Z).length() < 1e-9, "half: {half}");
        let across = half_twist(DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0), DVec3::Z);
        assert_eq!(angle(across), 0.0, "half a turn about another axis");
        let q = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -0.8, 1.9);
        let p = DQuat::from_scaled_axis(DVec3::new(-1.0, 0.2, 0.4));
        assert!(product(p, q).abs_diff_eq(p * q, 1e-15), "the same product");
    }
}
