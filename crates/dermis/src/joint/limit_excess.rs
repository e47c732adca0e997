//! How far a joint exceeds its limits.

use std::f64::consts::{PI, TAU};

use glam::{DAffine3, DQuat, DVec3};

use super::limits::rotation_and_scales;
use super::{JointLimits, TurnLimits};

/// By how much a joint's matrix exceeds its limits; 0, up to rounding, within them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitExcess {
    /// The excess of the turn, in radians: for a ball joint the larger of swing and twist.
    pub turn_rad: f64,
    /// The excess of the translation, in model units.
    pub slide: f64,
    /// The excess of the smallest or largest stretch.
    pub stretch: f64,
}

impl JointLimits {
    /// How far a matrix of the joint exceeds the limits.
    pub fn excess(&self, parent_from_bone: &DAffine3) -> LimitExcess {
        let (rotation, [least, most]) = rotation_and_scales(&parent_from_bone.matrix3);
        let away = parent_from_bone.translation.distance(self.translation);
        LimitExcess {
            turn_rad: self.turn.excess_rad(rotation),
            slide: (away - self.translation_radius).max(0.0),
            stretch: (self.scale_range[0] - least)
                .max(most - self.scale_range[1])
                .max(0.0),
        }
    }
}

impl TurnLimits {
    fn excess_rad(&self, rotation: DQuat) -> f64 {
        let Some(center) = self.center() else {
            return 0.0;
        };
        let turn = center.inverse() * rotation;
        match *self {
            Self::Free => 0.0,
            Self::Hinge {
                axis,
                min_rad,
                max_rad,
                wobble_rad,
                ..
            } => {
                // The turn about the axis that makes the wobble smallest.
                let axis = axis.normalize();
                let about = into_range(twist_about(turn, axis), min_rad, max_rad);
                let rest = turn * DQuat::from_axis_angle(axis, -about);
                (angle_of(rest) - wobble_rad).max(0.0)
            }
            Self::Cone { max_angle_rad, .. } => (angle_of(turn) - max_angle_rad).max(0.0),
            Self::SwingTwist {
                axis,
                max_swing_rad,
                min_twist_rad,
                max_twist_rad,
                ..
            } => {
                let axis = axis.normalize();
                let twist = twist_about(turn, axis);
                let swing = angle_of(turn * DQuat::from_axis_angle(axis, -twist));
                let nearest = into_range(twist, min_twist_rad, max_twist_rad);
                let twisted = (twist - nearest).rem_euclid(TAU);
                (swing - max_swing_rad)
                    .max(twisted.min(TAU - twisted))
                    .max(0.0)
            }
        }
    }
}

/// The angle of a rotation, from 0 to π.
fn angle_of(turn: DQuat) -> f64 {
    2.0 * turn.xyz().length().atan2(turn.w.abs())
}

/// The angle about an axis of the twist in `turn = swing · twist`, from −π to π.
fn twist_about(turn: DQuat, axis: DVec3) -> f64 {
    let angle = 2.0 * turn.xyz().dot(axis).atan2(turn.w);
    if angle > PI {
        angle - TAU
    } else if angle < -PI {
        angle + TAU
    } else {
        angle
    }
}

/// The angle of a range that is nearest to another, up to whole turns.
fn into_range(angle: f64, min: f64, max: f64) -> f64 {
    let clamped = [angle, angle - TAU, angle + TAU].map(|a| (a.clamp(min, max), a));
    let [first, rest @ ..] = clamped;
    let gap = |(inside, asked): &(f64, f64)| (inside - asked).abs();
    let better = |a, b| if gap(&b) < gap(&a) { b } else { a };
    rest.into_iter().fold(first, better).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::sample_turn;
    use crate::math::Random;
    use crate::rig::BoneId;

    fn kinds() -> [TurnLimits; 4] {
        let center = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.7);
        [
            TurnLimits::Free,
            TurnLimits::Hinge {
                center,
                axis: DVec3::Y,
                min_rad: -0.3,
                max_rad: 2.9,
                wobble_rad: 0.1,
            },
            TurnLimits::Cone {
                center,
                max_angle_rad: 0.8,
            },
            TurnLimits::SwingTwist {
                center,
                axis: DVec3::X,
                max_swing_rad: 1.0,
                min_twist_rad: -0.4,
                max_twist_rad: 0.2,
            },
        ]
    }

    #[test]
    fn legal_turns_do_not_exceed_their_limits() {
        let mut random = Random::new(4);
        for turn in kinds() {
            for _ in 0..2000 {
                let by = turn.excess_rad(sample_turn(&turn, &mut random));
                assert!(by < 1e-7, "{turn:?}: {by}");
            }
        }
    }

    #[test]
    fn the_excess_beyond_a_limit_is_measured() {
        let [_, hinge, cone, ball] = kinds();
        let about = |axis, angle| DQuat::from_axis_angle(axis, angle);
        let center = cone.center().expect("a cone has a middle");
        let cases = [
            (hinge, about(DVec3::Y, -0.9), 0.5),
            (hinge, about(DVec3::Y, 3.1), 0.1),
            (hinge, about(DVec3::Z, 0.35), 0.25),
            (cone, about(DVec3::Z, 1.0), 0.2),
            (ball, about(DVec3::Y, 1.3), 0.3),
            (ball, about(DVec3::X, 0.5), 0.3),
        ];
        for (limits, turn, expected) in cases {
            let by = limits.excess_rad(center * turn);
            assert!((by - expected).abs() < 1e-7, "{limits:?}: {by}");
        }
        let fixed = JointLimits::fixed(BoneId(0), &DAffine3::IDENTITY);
        let moved = DAffine3::from_scale_rotation_translation(
            DVec3::splat(1.25),
            DQuat::IDENTITY,
            DVec3::new(0.0, 3.0, 4.0),
        );
        let by = fixed.excess(&moved);
        assert!(
            by.turn_rad < 1e-7 && (by.slide - 5.0).abs() < 1e-9 && (by.stretch - 0.25).abs() < 1e-9,
            "{by:?}"
        );
    }
}
