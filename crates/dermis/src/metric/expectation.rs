//! Expected rotations of joints whose turns are spread evenly over their limits.

use std::f64::consts::PI;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::JointModel;
use crate::joint::{Hinge, JointLimits, JointStatistics, TurnLimits};

/// `E[R]` of a rotation spread evenly over the legal ones.
///
/// | limits | spread evenly | closed form |
/// | --- | --- | --- |
/// | free | the rotation (Haar measure) | 0 |
/// | hinge, φ₀ to φ₁ | the angle | `nnᵀ + c̄ (I − nnᵀ) + s̄ [n]×` with the means `c̄`, `s̄` of cosine and sine (\[Merry07\] Eq. 3.14, for any axis) |
/// | cone of θ | the rotation, among those by at most θ | `(1 + 2c̄)/3 · I`, the angle's density being `1 − cos φ` |
/// | swing σ, twist τ₀ to τ₁ | the limb's direction on its cap, and the twist | `E[S] E[T]`, both independent; `E[S]` is `c̄ = (1 + cos σ)/2` along the axis and `(1 + c̄)/2` across |
///
/// A hinge's wobble is left out: it is a tolerance, not a motion. A swing of a half turn with a twist
/// of a whole one is the Haar measure again, and gives 0.
pub fn expected_rotation(limits: &TurnLimits) -> DMat3 {
    match *limits {
        TurnLimits::Free => DMat3::ZERO,
        TurnLimits::Hinge {
            center,
            axis,
            min_rad,
            max_rad,
            ..
        } => DMat3::from_quat(center) * mean_turn(axis, min_rad, max_rad),
        TurnLimits::Cone {
            center,
            max_angle_rad,
        } => {
            let c = mean_cosine_in_cone(max_angle_rad.min(PI));
            DMat3::from_quat(center) * ((1.0 + 2.0 * c) / 3.0)
        }
        TurnLimits::SwingTwist {
            center,
            axis,
            max_swing_rad,
            min_twist_rad,
            max_twist_rad,
        } => {
            let axis = axis.normalize();
            let c = 0.5 * (1.0 + max_swing_rad.cos());
            let across = 0.5 * (1.0 + c);
            let swing = DMat3::IDENTITY * across + outer(axis, axis) * (c - across);
            DMat3::from_quat(center) * swing * mean_turn(axis, min_twist_rad, max_twist_rad)
        }
    }
}

/// The statistical model of a joint that is spread evenly over its limits.
///
/// Turns are spread as [`expected_rotation`] says, translations evenly over their ball, whose `E[ttᵀ]` is
/// `r²/5 · I` about the middle, and scales evenly over their range, whose mean is `m = (k₀ + k₁)/2` and mean
/// square `m² + (k₁ − k₀)²/12`. It makes no difference whether a joint stretches the same along all axes or
/// along each of three that are themselves spread evenly, as [`LegalPoses`](crate::joint::LegalPoses) draws
/// them: `E[K]` and `E[K²]` are these multiples of the identity in both. A hinge's wobble is left out.
pub fn model_from_limits(limits: &JointLimits) -> JointModel {
    let [least, most] = limits.scale_range;
    let mean_scale = 0.5 * (least + most);
    let mean_square = mean_scale * mean_scale + (most - least).powi(2) / 12.0;
    // E[tᵢ²] of a ball of radius r is r²/5.
    let variance = limits.translation_radius.powi(2) / 5.0;
    JointModel::Rotation {
        mean: DAffine3 {
            matrix3: expected_rotation(&limits.turn) * mean_scale,
            translation: limits.translation,
        },
        linear_square: DMat3::IDENTITY * mean_square,
        translation_covariance: DMat3::IDENTITY * variance,
    }
}

/// The statistics that poses spread evenly over a joint's limits would have.
///
/// Their pose count is 0. Rotation vectors are bounded by the largest angle along every axis.
pub fn statistics_from_limits(limits: &JointLimits) -> JointStatistics {
    let JointModel::Rotation {
        mean,
        linear_square,
        ..
    } = model_from_limits(limits)
    else {
        unreachable!("limits make rotations");
    };
    let (mean_rotation, hinge, most) = match limits.turn {
        TurnLimits::Hinge {
            center,
            axis,
            min_rad,
            max_rad,
            wobble_rad,
        } => {
            let (middle, half) = (0.5 * (min_rad + max_rad), 0.5 * (max_rad - min_rad));
            let hinge = Hinge {
                axis,
                min_rad: -half,
                max_rad: half,
            };
            let turned = center * DQuat::from_axis_angle(axis.normalize(), middle);
            (turned, Some(hinge), (half + wobble_rad).min(PI))
        }
        turn => (
            turn.center().unwrap_or(DQuat::IDENTITY),
            None,
            turn.largest_angle_rad(),
        ),
    };
    let [least, largest] = limits.scale_range;
    let rigid = (least - 1.0).abs() < 1e-6 && (largest - 1.0).abs() < 1e-6;
    JointStatistics {
        bone: limits.bone,
        pose_count: 0,
        mean_parent_from_bone: mean,
        translation_deviation: limits.translation_radius * 0.6f64.sqrt(),
        translation_radius: Some(limits.translation_radius),
        linear_square: (!rigid).then_some(linear_square),
        mirrored: least < 0.0,
        mean_rotation,
        rotation_min_rad: DVec3::splat(-most),
        rotation_max_rad: DVec3::splat(most),
        max_angle_rad: most,
        hinge,
        scale_range: [
            match least < 0.0 && largest > 0.0 {
                true => 0.0,
                false => least.abs().min(largest.abs()),
            },
            limits.largest_scale(),
        ],
    }
}

/// `E[R]` of turns about an axis by angles spread evenly between two.
fn mean_turn(axis: DVec3, min_rad: f64, max_rad: f64) -> DMat3 {
    let n = axis.normalize();
    let (middle, half) = (0.5 * (min_rad + max_rad), 0.5 * (max_rad - min_rad));
    // (sin φ₁ − sin φ₀)/(φ₁ − φ₀) = cos(middle) sin(half)/half, which has no trouble at half = 0.
    let sinc = if half.abs() < 1e-8 {
        1.0
    } else {
        half.sin() / half
    };
    let (c, s) = (middle.cos() * sinc, middle.sin() * sinc);
    let along = outer(n, n);
    along + (DMat3::IDENTITY - along) * c + cross_matrix(n) * s
}

/// `E[cos φ]` with density `1 − cos φ` on `[0, θ]`: the angle of an even rotation.
fn mean_cosine_in_cone(angle: f64) -> f64 {
    if angle < 1e-2 {
        // The fraction loses its digits: 1 − 3θ²/10 is right to θ⁴/40.
        return 1.0 - 0.3 * angle * angle;
    }
    (angle.sin() - 0.5 * angle - 0.25 * (2.0 * angle).sin()) / (angle - angle.sin())
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// `[n]×`, with `[n]× v = n × v`.
fn cross_matrix(n: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, n.z, -n.y),
        DVec3::new(-n.z, 0.0, n.x),
        DVec3::new(n.y, -n.x, 0.0),
    )
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::joint::sample_turn;

    /// The mean of many rotations drawn by the sampler of legal rotations.
    fn sampled(limits: &TurnLimits, count: usize) -> DMat3 {
        let mut random = crate::math::Random::new(7);
        let mut sum = DMat3::ZERO;
        for _ in 0..count {
            sum += DMat3::from_quat(sample_turn(limits, &mut random));
        }
        sum * (1.0 / count as f64)
    }

    #[test]
    fn closed_forms_equal_long_averages() {
        let center = DQuat::from_scaled_axis(DVec3::new(0.4, -1.0, 0.2));
        let axis = DVec3::new(1.0, 2.0, -0.5).normalize();
        let hinge = |min_rad, max_rad| TurnLimits::Hinge {
            center,
            axis,
            min_rad,
            max_rad,
            wobble_rad: 0.0,
        };
        let cone = |max_angle_rad| TurnLimits::Cone {
            center,
            max_angle_rad,
        };
        let ball = |max_swing_rad, min_twist_rad, max_twist_rad| TurnLimits::SwingTwist {
            center,
            axis,
            max_swing_rad,
            min_twist_rad,
            max_twist_rad,
        };
        let all = [
            TurnLimits::Free,
            hinge(-0.3, 2.0),
            hinge(0.7, 0.7),
            cone(0.0),
            cone(0.005),
            cone(1.0),
            cone(PI),
            ball(1.0, -0.5, 1.5),
            ball(PI, -PI, PI),
        ];
        for limits in all {
            let count = 40_000;
            let (found, average) = (expected_rotation(&limits), sampled(&limits, count));
            // An entry lies in −1 to 1, so its mean has a standard error of at most 1/√n.
            let error = 4.0 / (count as f64).sqrt();
            assert!(
                found.abs_diff_eq(average, error),
                "{limits:?}: {found:?} against {average:?}"
            );
        }
    }

    #[test]
    fn rotations_over_the_whole_range_average_to_zero() {
        let ball = TurnLimits::SwingTwist {
            center: DQuat::IDENTITY,
            axis: DVec3::X,
            max_swing_rad: PI,
            min_twist_rad: -PI,
            max_twist_rad: PI,
        };
        assert!(
            expected_rotation(&ball).abs_diff_eq(DMat3::ZERO, 1e-12),
            "every rotation, evenly"
        );
        let cone = TurnLimits::Cone {
            center: DQuat::IDENTITY,
            max_angle_rad: PI,
        };
        assert!(
            expected_rotation(&cone).abs_diff_eq(DMat3::ZERO, 1e-12),
            "every rotation, evenly"
        );
        assert!(
            (mean_cosine_in_cone(0.01) - mean_cosine_in_cone(0.009_999)).abs() < 1e-6,
            "the series meets the fraction"
        );
    }
}
