//! The smallest ball around some points.
//!
//! Grows a ball from the points that touch it: as long as a point lies outside, the farthest one joins, and the
//! smallest ball of the at most five points is found by trying every subset that can span it (\[Gartner99\]'s pivot
//! rule over a direct solve). The radius grows at every step, so the search ends; a few steps of O(n) are enough in
//! practice.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::math::unit_factor;

/// A ball.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ball {
    /// Its centre.
    pub center: DVec3,
    /// Its radius.
    pub radius: f64,
}

/// The smallest ball that contains all points; a point at the origin when there are none.
///
/// ```
/// use glam::DVec3;
/// let ball = dermis::mesh::enclosing_ball(&[DVec3::X, -DVec3::X, DVec3::Y]);
/// assert!(ball.center.length() < 1e-12 && (ball.radius - 1.0).abs() < 1e-12);
/// ```
pub fn enclosing_ball(points: &[DVec3]) -> Ball {
    let factor = unit_factor([points]);
    // At unit size, sixth powers of lengths stay within the range of a float.
    if (1e-30..1e30).contains(&factor) {
        return ball_at_unit_size(points);
    }
    let scaled: Vec<DVec3> = points.iter().map(|p| *p * factor).collect();
    let ball = ball_at_unit_size(&scaled);
    Ball {
        center: ball.center / factor,
        radius: ball.radius / factor,
    }
}

fn ball_at_unit_size(points: &[DVec3]) -> Ball {
    /// A point outside by less than this share of the radius counts as inside.
    const SLACK: f64 = 1e-12;
    let Some(&first) = points.first() else {
        return Ball {
            center: DVec3::ZERO,
            radius: 0.0,
        };
    };
    let mut support = vec![first];
    let mut ball = Ball {
        center: first,
        radius: 0.0,
    };
    // Far more steps than were ever needed; without a limit, rounding could exchange two points for ever.
    for _ in 0..1000 {
        let farthest = points
            .iter()
            .copied()
            .max_by(|a, b| {
                let from_center = |p: &DVec3| p.distance_squared(ball.center);
                from_center(a).total_cmp(&from_center(b))
            })
            .expect("there is a point");
        if farthest.distance(ball.center) <= ball.radius * (1.0 + SLACK) {
            break;
        }
        support.push(farthest);
        let (next, next_support) = smallest_ball_of_few(&support);
        if next.radius <= ball.radius {
            break;
        }
        (ball, support) = (next, next_support);
    }
    let reach = |p: &DVec3| p.distance(ball.center);
    ball.radius = points.iter().map(reach).fold(0.0, f64::max);
    ball
}

/// A ball that contains all balls, larger than the smallest one by a millionth at most; a point at the
/// origin when there are none.
///
/// Each ball is represented by its point farthest from the current centre. The smallest ball of all such points never
/// exceeds the answer; the ball that sticks out most adds its farthest point, until none sticks out.
///
/// ```
/// use dermis::mesh::{Ball, enclosing_ball_of_balls};
/// let ball = |x: f64, radius: f64| Ball { center: glam::DVec3::X * x, radius };
/// let all = enclosing_ball_of_balls(&[ball(-1.0, 1.0), ball(2.0, 2.0), ball(0.0, 0.5)]);
/// assert!((all.center.x - 1.0).abs() < 1e-5 && (all.radius - 3.0).abs() < 1e-5);
/// ```
pub fn enclosing_ball_of_balls(balls: &[Ball]) -> Ball {
    const TOLERANCE: f64 = 1e-6;
    let reach = |ball: &Ball, from: DVec3| ball.center.distance(from) + ball.radius;
    let farthest = |from: DVec3| {
        balls
            .iter()
            .max_by(|a, b| reach(a, from).total_cmp(&reach(b, from)))
    };
    let centers: Vec<DVec3> = balls.iter().map(|ball| ball.center).collect();
    let mut center = enclosing_ball(&centers).center;
    let mut points: Vec<DVec3> = Vec::new();
    let mut best = Ball {
        center,
        radius: f64::INFINITY,
    };
    for _ in 0..200 {
        let Some(ball) = farthest(center) else {
            return enclosing_ball(&[]);
        };
        let radius = reach(ball, center);
        if radius < best.radius {
            best = Ball { center, radius };
        }
        let outwards = (ball.center - center).try_normalize().unwrap_or(DVec3::X);
        points.push(ball.center + ball.radius * outwards);
        let inner = enclosing_ball(&points);
        if best.radius <= inner.radius * (1.0 + TOLERANCE) {
            break;
        }
        center = inner.center;
    }
    best
}

/// The smallest ball of at most five points and the points that touch it.
fn smallest_ball_of_few(points: &[DVec3]) -> (Ball, Vec<DVec3>) {
    let mut best: Option<(Ball, Vec<DVec3>)> = None;
    for subset in 1u32..1 << points.len() {
        if subset.count_ones() > 4 {
            continue;
        }
        let chosen: Vec<DVec3> = (0..points.len())
            .filter(|k| subset >> k & 1 == 1)
            .map(|k| points[k])
            .collect();
        let Some(ball) = circumscribed_ball(&chosen) else {
            continue;
        };
        let holds = |p: &DVec3| p.distance(ball.center) <= ball.radius * (1.0 + 1e-10);
        let smaller = best.as_ref().is_none_or(|(b, _)| ball.radius < b.radius);
        if smaller && points.iter().all(holds) {
            best = Some((ball, chosen));
        }
    }
    best.unwrap_or_else(|| {
        // Reached only when points coincide up to rounding: their mean and the distance to the farthest is as good an
        // answer.
        let center = points.iter().sum::<DVec3>() / points.len() as f64;
        let radius = points
            .iter()
            .map(|p| p.distance(center))
            .fold(0.0, f64::max);
        (Ball { center, radius }, points[..1].to_vec())
    })
}

/// The ball through one to four points whose centre lies in their affine hull.
fn circumscribed_ball(points: &[DVec3]) -> Option<Ball> {
    let origin = points[0];
    let edges: Vec<DVec3> = points[1..].iter().map(|p| *p - origin).collect();
    // The centre is origin + Σ x_k e_k with 2 e_i·e_k x_k = |e_i|².
    let offset = match edges[..] {
        [] => DVec3::ZERO,
        [a] => 0.5 * a,
        [a, b] => {
            let normal = a.cross(b);
            let d = 2.0 * normal.length_squared();
            (a.length_squared() * b.cross(normal) + b.length_squared() * normal.cross(a)) / d
        }
        [a, b, c] => {
            let d = 2.0 * a.dot(b.cross(c));
            (a.length_squared() * b.cross(c)
                + b.length_squared() * c.cross(a)
                + c.length_squared() * a.cross(b))
                / d
        }
        _ => return None,
    };
    offset.is_finite().then(|| Ball {
        center: origin + offset,
        radius: offset.length(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_ball_contains_all_points_and_is_the_smallest(
            raw in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 1..9),
        ) {
            let points: Vec<DVec3> = raw.into_iter().map(DVec3::from_array).collect();
            let ball = enclosing_ball(&points);
            for p in &points {
                prop_assert!(p.distance(ball.center) <= ball.radius + 1e-12, "{p} is outside");
            }
            // The best over every subset of at most four points is the definition.
            let mut least = f64::INFINITY;
            for subset in 1u32..1 << points.len() {
                let chosen: Vec<DVec3> =
                    (0..points.len()).filter(|k| subset >> k & 1 == 1).map(|k| points[k]).collect();
                if let Some(b) = (chosen.len() <= 4).then(|| circumscribed_ball(&chosen)).flatten()
                    && points.iter().all(|p| p.distance(b.center) <= b.radius + 1e-9)
                {
                    least = least.min(b.radius);
                }
            }
            prop_assert!((ball.radius - least).abs() < 1e-8, "{} against {least}", ball.radius);
        }
    }

    #[test]
    fn a_ball_around_balls_contains_them_and_is_as_small_as_one_around_their_points() {
        let balls: Vec<Ball> = (0..40)
            .map(|k| {
                let t = k as f64;
                Ball {
                    center: DVec3::new((1.3 * t).sin(), (2.1 * t).cos(), 0.5 * (0.7 * t).sin()),
                    radius: 0.2 + 0.2 * (3.1 * t).sin(),
                }
            })
            .collect();
        let found = enclosing_ball_of_balls(&balls);
        let mut points = Vec::new();
        for ball in &balls {
            let reach = ball.center.distance(found.center) + ball.radius;
            assert!(reach <= found.radius * (1.0 + 1e-12), "{ball:?} sticks out");
            for k in 0..400 {
                let z = 1.0 - (2 * k + 1) as f64 / 400.0;
                let (sin, cos) = (2.399963 * k as f64).sin_cos();
                let r = (1.0 - z * z).sqrt();
                points.push(ball.center + ball.radius * DVec3::new(r * cos, r * sin, z));
            }
        }
        let of_points = enclosing_ball(&points).radius;
        assert!(
            found.radius >= of_points && found.radius < of_points * 1.01,
            "{} against {of_points}",
            found.radius
        );
        assert_eq!(enclosing_ball_of_balls(&[]).radius, 0.0, "no balls");
    }

    #[test]
    fn repeated_points_have_a_ball_of_radius_zero() {
        let ball = enclosing_ball(&[DVec3::splat(3.0); 5]);
        assert_eq!(ball.radius, 0.0, "all points are one");
    }

    #[test]
    fn points_of_a_sphere_give_the_sphere() {
        let points: Vec<DVec3> = (0..2000)
            .map(|k| {
                let z = 1.0 - (2 * k + 1) as f64 / 2000.0;
                let (sin, cos) = (2.399963 * k as f64).sin_cos();
                let r = (1.0 - z * z).sqrt();
                DVec3::new(5.0 + 2.0 * r * cos, 2.0 * r * sin, 2.0 * z)
            })
            .collect();
        let ball = enclosing_ball(&points);
        assert!((ball.radius - 2.0).abs() < 1e-4, "radius {}", ball.radius);
        assert!(
            ball.center.distance(DVec3::X * 5.0) < 1e-2,
            "centre {}",
            ball.center
        );
    }
}
