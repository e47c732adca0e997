//! Barycentric coordinates in a tetrahedron around some points.

use glam::{DQuat, DVec3};

/// A regular tetrahedron by its face planes: `n_m · x ≤ h_m`, with normals that sum to zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tetrahedron {
    normals: [DVec3; 4],
    heights: [f64; 4],
}

impl Tetrahedron {
    /// The smallest tetrahedron around some points (at least one), among a few orientations.
    ///
    /// It is no smaller than `least`, so that points which coincide have coordinates too.
    pub(super) fn around(points: &[DVec3], least: f64) -> Self {
        let third = 1.0 / 3f64.sqrt();
        let corners = [[1., 1., 1.], [1., -1., -1.], [-1., 1., -1.], [-1., -1., 1.]];
        let turns = [
            DQuat::IDENTITY,
            DQuat::from_rotation_x(0.5),
            DQuat::from_rotation_y(0.5),
            DQuat::from_rotation_z(0.5),
        ];
        let mut best: Option<Self> = None;
        for turn in turns {
            for sign in [1.0, -1.0] {
                let normals = corners.map(|c| turn * (DVec3::from(c) * (sign * third)));
                let height = |n: DVec3| points.iter().map(|p| n.dot(*p)).fold(f64::MIN, f64::max);
                let candidate = Self {
                    normals,
                    heights: normals.map(height),
                };
                if best.is_none_or(|best| candidate.size() < best.size()) {
                    best = Some(candidate);
                }
            }
        }
        let mut best = best.expect("there is at least one orientation");
        if best.size() < least {
            best.heights.iter_mut().for_each(|h| *h += least);
        }
        best
    }

    /// Four times the radius of the ball inside.
    fn size(&self) -> f64 {
        self.heights.iter().sum()
    }

    /// The corner opposite face m: on all other planes.
    pub(super) fn corner(&self, m: usize) -> DVec3 {
        // Σ_k (n_k · x) n_k = 4/3 x for these normals, and n_m · x = h_m − Σ h there.
        let sum: DVec3 = (self.normals.iter().zip(self.heights))
            .map(|(n, h)| *n * h)
            .sum();
        0.75 * (sum - self.size() * self.normals[m])
    }

    /// Barycentric coordinates: distance from each face over the distance of the opposite corner.
    pub(super) fn coordinates(&self, p: DVec3) -> [f64; 4] {
        let size = self.size();
        [0, 1, 2, 3].map(|m| (self.heights[m] - self.normals[m].dot(p)) / size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<DVec3> {
        let point = |k: usize| {
            let t = k as f64;
            DVec3::new(
                (t * 1.3).sin(),
                0.3 * (t * 2.1).cos(),
                2.0 + 0.1 * (t * 0.7).sin(),
            )
        };
        (0..40).map(point).collect()
    }

    #[test]
    fn coordinates_are_shares_that_give_the_point_back() {
        let points = points();
        let around = Tetrahedron::around(&points, 1e-9);
        for point in points {
            let shares = around.coordinates(point);
            assert!(shares.iter().all(|&s| s >= -1e-15), "inside: {shares:?}");
            let sum: f64 = shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-14, "they sum to {sum}");
            let back: DVec3 = (0..4).map(|m| shares[m] * around.corner(m)).sum();
            assert!(back.distance(point) < 1e-14, "{point} came back as {back}");
        }
    }

    #[test]
    fn the_tetrahedron_is_tight_and_one_point_is_enough() {
        let points = points();
        let around = Tetrahedron::around(&points, 1e-9);
        // Its corners are three inner radii from the middle; a ball of radius 1.05 holds the points.
        assert!(
            around.size() / 4.0 < 1.05,
            "inner radius {}",
            around.size() / 4.0
        );
        let one = Tetrahedron::around(&points[..1], 0.01);
        let shares = one.coordinates(points[0]);
        assert!(
            shares.iter().all(|s| (s - 0.25).abs() < 1e-9),
            "in the middle: {shares:?}"
        );
        for m in 0..4 {
            let reach = one.corner(m).distance(points[0]);
            assert!((reach - 0.03).abs() < 1e-9, "corner {m} is {reach} away");
        }
    }
}
