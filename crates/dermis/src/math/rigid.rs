//! The rigid motion nearest to pairs of points.

use glam::{DAffine3, DMat3, DVec3};

use super::nearest_rotation;

/// Sums over weighted pairs of points (before, after), from which motions are fitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointPairs {
    weight: f64,
    before: DVec3,
    after: DVec3,
    /// `Σ w after beforeᵀ`.
    product: DMat3,
}

impl Default for PointPairs {
    fn default() -> Self {
        Self {
            weight: 0.0,
            before: DVec3::ZERO,
            after: DVec3::ZERO,
            // glam's own default is the identity.
            product: DMat3::ZERO,
        }
    }
}

impl PointPairs {
    pub(crate) fn add(&mut self, before: DVec3, after: DVec3, weight: f64) {
        self.weight += weight;
        self.before += weight * before;
        self.after += weight * after;
        self.product += outer(weight * after, before);
    }

    /// The motion that makes `Σ w |M before − after|²` least: centroids meet, and the turn is the rotation nearest to
    /// the pairs' covariance (\[Merry07\] §4.1.4 takes the polar factor of an affine fit, which approximates this
    /// optimum). Without any pairs, the identity.
    ///
    /// Points should be near the origin compared with their spread, or digits are lost.
    pub(crate) fn rigid_motion(&self) -> DAffine3 {
        if self.weight <= 0.0 {
            return DAffine3::IDENTITY;
        }
        let (before, after) = (self.before / self.weight, self.after / self.weight);
        let rotation = nearest_rotation(self.product - outer(self.weight * after, before));
        DAffine3 {
            matrix3: rotation,
            translation: after - rotation * before,
        }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_points_give_their_motion_back() {
        let motion = DAffine3::from_axis_angle(DVec3::new(1.0, 2.0, 2.0) / 3.0, 2.4)
            * DAffine3::from_translation(DVec3::new(0.3, -1.0, 4.0));
        let mut pairs = PointPairs::default();
        for (n, p) in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]
            .into_iter()
            .enumerate()
        {
            pairs.add(p, motion.transform_point3(p), 1.0 + n as f64);
        }
        let found = pairs.rigid_motion();
        assert!(found.abs_diff_eq(motion, 1e-9), "found {found:?}");
    }

    #[test]
    fn no_other_motion_nearby_is_better() {
        let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.2, 0.4, 0.9)];
        let stretched = |p: DVec3| DVec3::new(1.3 * p.x + 0.1 * p.y, 0.8 * p.y, p.z - 0.2 * p.x);
        let mut pairs = PointPairs::default();
        points.iter().for_each(|&p| pairs.add(p, stretched(p), 1.0));
        let cost = |m: DAffine3| -> f64 {
            points
                .iter()
                .map(|&p| m.transform_point3(p).distance_squared(stretched(p)))
                .sum()
        };
        let best = pairs.rigid_motion();
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            for step in [-0.01, 0.01] {
                let turned = best * DAffine3::from_axis_angle(axis, step);
                let moved = DAffine3::from_translation(step * axis) * best;
                assert!(
                    cost(turned) > cost(best),
                    "a turn about {axis} by {step} is better"
                );
                assert!(
                    cost(moved) > cost(best),
                    "a move along {axis} by {step} is better"
                );
            }
        }
    }
}
