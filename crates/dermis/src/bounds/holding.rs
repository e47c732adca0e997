//! Several balls that hold the same points, and one ball around many of them.

use glam::DVec3;

use crate::mesh::{Ball, enclosing_ball_of_balls};

/// Three balls that each hold the same points, which therefore lie in their intersection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holding(pub [Ball; 3]);

impl Holding {
    /// A single point.
    pub(super) fn point(at: DVec3) -> Self {
        Self(
            [Ball {
                center: at,
                radius: 0.0,
            }; 3],
        )
    }

    /// Holds the sums of a point of `self` and a point of `other`: balls at the same place are added.
    pub(super) fn add(&mut self, other: &Self) {
        for (ball, other) in self.0.iter_mut().zip(&other.0) {
            ball.center += other.center;
            ball.radius += other.radius;
        }
    }

    /// The same with a margin around it.
    pub(super) fn widen(&mut self, margin: f64) {
        self.0.iter_mut().for_each(|ball| ball.radius += margin);
    }

    /// The smallest of the balls.
    pub fn smallest(&self) -> Ball {
        let [first, rest @ ..] = self.0;
        rest.into_iter().fold(first, |best, ball| {
            if ball.radius < best.radius {
                ball
            } else {
                best
            }
        })
    }

    /// An upper bound on the distance of the held points from a point.
    pub fn reach(&self, from: DVec3) -> f64 {
        let reach = |ball: &Ball| ball.center.distance(from) + ball.radius;
        self.0.iter().map(reach).fold(f64::INFINITY, f64::min)
    }

    /// The ball that reaches least far from a point.
    fn nearest(&self, from: DVec3) -> Ball {
        let reach = |ball: &Ball| ball.center.distance(from) + ball.radius;
        let [first, rest @ ..] = self.0;
        rest.into_iter().fold(first, |best, ball| {
            if reach(&ball) < reach(&best) {
                ball
            } else {
                best
            }
        })
    }
}

/// A ball around the points held by all items, as small as we can make it.
///
/// For a given centre, the best of each item's balls is the one that reaches least far; for given balls, the
/// smallest ball around them is known. The two take turns, from the smallest balls and from the nearest ones,
/// as long as the radius falls.
pub fn enclose(items: &[Holding]) -> Ball {
    let around = |choose: &dyn Fn(&Holding) -> Ball| {
        let chosen: Vec<Ball> = items.iter().map(choose).collect();
        enclosing_ball_of_balls(&chosen)
    };
    let starts = [
        around(&|item| item.smallest()),
        around(&|item| item.0[0]),
        around(&|item| item.0[2]),
    ];
    let improved = starts.map(|mut best| {
        for _ in 0..20 {
            let next = around(&|item| item.nearest(best.center));
            if next.radius >= best.radius * (1.0 - 1e-6) {
                break;
            }
            best = next;
        }
        best
    });
    let [first, rest @ ..] = improved;
    rest.into_iter().fold(first, |best, ball| {
        if ball.radius < best.radius {
            ball
        } else {
            best
        }
    })
}
