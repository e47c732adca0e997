//! The ball that holds a ball after a joint has moved it in any legal way.
//!
//! A vector `u = (x, w)` in a bone's frame, with `x` anywhere in a ball, is somewhere in another ball
//! in the parent's frame, for every legal matrix of the joint.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::DVec3;

use crate::joint::{JointLimits, TurnLimits};
use crate::mesh::Ball;

/// The smallest ball that we know to hold `{R c}` for every legal rotation `R`.
///
/// **Proof**, by kind of limits; `|R c| = |c|`, so the ball of radius `|c|` about the origin always
/// holds, and the smallest of what follows is taken.
///
/// - *Cone of θ.* A rotation by at most θ moves a direction by at most θ (the angle between `c` and
///   `Q c` is at most the rotation's own), so `Q c` lies on the cap of the sphere of radius `|c|` about
///   `c`. For `θ < π/2` the cap's points `p` have `p·ĉ ≥ |c| cos θ`, hence
///   `|p − c cos θ|² = |c|² − 2 cos θ (p·c) + |c|² cos²θ ≤ |c|² (1 − cos²θ)`: the ball about
///   `c cos θ` of radius `|c| sin θ`. It is the smallest, for the cap's rim is a great circle of it.
/// - *Hinge.* `c = a + b` with `a` along the axis. `a` stays, and `b` runs over an arc of half-angle
///   `h` about its middle `m`, `|m| = |b|`; the same computation in the arc's plane gives the ball about
///   `a + m cos h` of radius `|b| sin h` for `h < π/2`, else about `a` of radius `|b|`. A wobble of ε
///   after it moves every point of length `|c|` by at most `2 |c| sin(ε/2)`, which is added.
/// - *Swing and twist.* The twist is a hinge: `T c` lies in a ball about `c'` of radius `ρ'`. The swing
///   is a rotation by at most σ, and carries that ball into the cone's ball of `c'`, radius plus `ρ'`.
///   The whole is also a rotation by at most σ plus the largest twist: a cone.
///
/// Then all is turned by `center`.
pub fn turned_ball(limits: &TurnLimits, c: DVec3) -> Ball {
    let anywhere = Ball {
        center: DVec3::ZERO,
        radius: c.length(),
    };
    let local = match *limits {
        TurnLimits::Free => anywhere,
        TurnLimits::Hinge {
            axis,
            min_rad,
            max_rad,
            wobble_rad,
            ..
        } => {
            let mut ball = arc_ball(axis.normalize(), min_rad, max_rad, c);
            ball.radius += 2.0 * c.length() * (0.5 * wobble_rad.min(PI)).sin();
            ball
        }
        TurnLimits::Cone { max_angle_rad, .. } => cap_ball(c, max_angle_rad),
        TurnLimits::SwingTwist {
            axis,
            max_swing_rad,
            min_twist_rad,
            max_twist_rad,
            ..
        } => {
            let twisted = arc_ball(axis.normalize(), min_twist_rad, max_twist_rad, c);
            let mut swung = cap_ball(twisted.center, max_swing_rad);
            swung.radius += twisted.radius;
            smaller(swung, cap_ball(c, limits.largest_angle_rad()))
        }
    };
    let local = smaller(local, anywhere);
    match limits.center() {
        None => local,
        Some(center) => Ball {
            center: center * local.center,
            radius: local.radius,
        },
    }
}

/// The smallest ball around a cap of the sphere through `c`.
fn cap_ball(c: DVec3, angle: f64) -> Ball {
    if angle >= FRAC_PI_2 {
        return Ball {
            center: DVec3::ZERO,
            radius: c.length(),
        };
    }
    Ball {
        center: c * angle.cos(),
        radius: c.length() * angle.sin(),
    }
}

/// The smallest ball around the arc that `c` runs over.
fn arc_ball(axis: DVec3, min_rad: f64, max_rad: f64, c: DVec3) -> Ball {
    let along = axis * axis.dot(c);
    let across = c - along;
    let (middle, half) = (0.5 * (min_rad + max_rad), 0.5 * (max_rad - min_rad));
    if half >= FRAC_PI_2 {
        return Ball {
            center: along,
            radius: across.length(),
        };
    }
    let (sin, cos) = middle.sin_cos();
    let turned = across * cos + axis.cross(across) * sin;
    Ball {
        center: along + turned * half.cos(),
        radius: across.length() * half.sin(),
    }
}

fn smaller(a: Ball, b: Ball) -> Ball {
    if a.radius <= b.radius { a } else { b }
}

/// A ball that holds `L (x, w)` for every `x` in a ball and every legal `L`: the core of the propagation.
///
/// With `L = T(t) R K` and `K` symmetric with eigenvalues in `[k₀, k₁]`: `|K c − μ c| ≤ δ |c|` for
/// their middle `μ` and half-range `δ`, and `|K (x − c)| ≤ σ ρ` for the largest of them in size. So
/// `K x` lies about `μ c` within `δ |c| + σ ρ`; `R` turns the middle as [`turned_ball`] says and keeps
/// the radius; and `w t` adds its own ball. With free turns and no least scale this is \[Merry07\]
/// Eq. 3.27, with `|w|` for `w`: weights of a difference can be negative.
pub(super) fn carried(limits: &JointLimits, ball: &Ball, weight: f64) -> Ball {
    carried_by(limits, &limits.turn, ball, weight)
}

/// As [`carried`], but for any rotation: a ball about the joint.
pub(super) fn carried_about(limits: &JointLimits, ball: &Ball, weight: f64) -> Ball {
    carried_by(limits, &TurnLimits::Free, ball, weight)
}

fn carried_by(limits: &JointLimits, turn: &TurnLimits, ball: &Ball, weight: f64) -> Ball {
    let [least, most] = limits.scale_range;
    let (middle, half) = (0.5 * (least + most), 0.5 * (most - least));
    let spread = half * ball.center.length() + limits.largest_scale() * ball.radius;
    let turned = turned_ball(turn, middle * ball.center);
    Ball {
        center: turned.center + weight * limits.translation,
        radius: turned.radius + spread + weight.abs() * limits.translation_radius,
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;

    #[test]
    fn a_cap_and_an_arc_touch_their_balls() {
        let c = DVec3::new(2.0, 0.0, 0.0);
        let cone = TurnLimits::Cone {
            center: DQuat::IDENTITY,
            max_angle_rad: 1.0,
        };
        let ball = turned_ball(&cone, c);
        let rim = DQuat::from_rotation_z(1.0) * c;
        assert!(
            (rim.distance(ball.center) - ball.radius).abs() < 1e-12,
            "{ball:?}"
        );
        assert!(
            c.distance(ball.center) < ball.radius,
            "the middle is inside"
        );
        let hinge = |min_rad, max_rad| TurnLimits::Hinge {
            center: DQuat::from_rotation_x(0.3),
            axis: DVec3::Z,
            min_rad,
            max_rad,
            wobble_rad: 0.0,
        };
        let slanted = DVec3::new(1.0, 0.5, 3.0);
        for (min_rad, max_rad) in [(0.2, 1.4), (-2.0, 2.5), (0.4, 0.4)] {
            let ball = turned_ball(&hinge(min_rad, max_rad), slanted);
            for angle in [min_rad, max_rad] {
                let end = DQuat::from_rotation_x(0.3) * DQuat::from_rotation_z(angle) * slanted;
                assert!(
                    (end.distance(ball.center) - ball.radius).abs() < 1e-12,
                    "{ball:?}"
                );
            }
        }
    }

    #[test]
    fn free_joints_give_the_balls_of_the_thesis() {
        let limits = JointLimits {
            translation_radius: 0.25,
            scale_range: [-2.0, 2.0],
            ..JointLimits::free(
                crate::rig::BoneId(0),
                &glam::DAffine3::from_translation(DVec3::Y),
            )
        };
        let ball = Ball {
            center: DVec3::new(3.0, 4.0, 0.0),
            radius: 1.0,
        };
        let found = carried(&limits, &ball, -0.5);
        assert_eq!(
            found.center,
            -0.5 * DVec3::Y,
            "w times the middle translation"
        );
        assert!(
            (found.radius - (2.0 * (5.0 + 1.0) + 0.125)).abs() < 1e-12,
            "s(|v| + ρ) + |w| r"
        );
    }
}
