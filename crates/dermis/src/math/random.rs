//! Pseudo-random numbers that are the same on every machine.

use glam::{DQuat, DVec3};

/// The generator splitmix64: one seed, one sequence.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// At least 0 and below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next_bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Between two numbers.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A unit vector, uniform over all directions.
    pub(crate) fn direction(&mut self) -> DVec3 {
        let z = self.between(-1.0, 1.0);
        let (sin, cos) = self.between(0.0, std::f64::consts::TAU).sin_cos();
        let r = (1.0 - z * z).max(0.0).sqrt();
        DVec3::new(r * cos, r * sin, z)
    }

    /// A rotation, uniform over all rotations (Shoemake's three numbers).
    pub(crate) fn rotation(&mut self) -> DQuat {
        let (u, v, w) = (self.unit(), self.unit(), self.unit());
        let (sin_v, cos_v) = (std::f64::consts::TAU * v).sin_cos();
        let (sin_w, cos_w) = (std::f64::consts::TAU * w).sin_cos();
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        DQuat::from_xyzw(a * sin_v, a * cos_v, b * sin_w, b * cos_w).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_directions_and_rotations_are_uniform() {
        let mut random = Random::new(1);
        let count = 20_000;
        let mut sums = (0.0, DVec3::ZERO, DVec3::ZERO);
        for _ in 0..count {
            sums.0 += random.unit();
            sums.1 += random.direction();
            sums.2 += random.rotation() * DVec3::X;
        }
        let error = 4.0 / f64::from(count).sqrt();
        assert!(
            (sums.0 / f64::from(count) - 0.5).abs() < error,
            "{}",
            sums.0
        );
        assert!(
            (sums.1 / f64::from(count)).length() < 2.0 * error,
            "{}",
            sums.1
        );
        assert!(
            (sums.2 / f64::from(count)).length() < 2.0 * error,
            "{}",
            sums.2
        );
    }
}
