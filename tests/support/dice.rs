//! Numbers for random inputs, the same in every run.

use glam::{DAffine3, DQuat, DVec3};

/// A generator of pseudo-random numbers that depend only on the seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }

    /// Between -1 and 1.
    pub(crate) fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    pub(crate) fn rigid(&mut self) -> DAffine3 {
        let turn = DQuat::from_scaled_axis(2.0 * self.vector());
        DAffine3::from_rotation_translation(turn, 2.0 * self.vector())
    }
}
