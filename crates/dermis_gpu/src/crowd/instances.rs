//! Where the instances of a crowd stand, which way they face, and what they play.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use super::{Character, CrowdError, Move};

/// One instance, as shaders read it: 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Instance {
    /// Where the origin of the character stands in the world.
    pub place: [f32; 3],
    /// How many times as large as in the file it is, above 0.
    pub scale: f32,
    /// Cosine and sine of the angle that it is turned by about the y axis.
    pub turn: [f32; 2],
    /// Number of its clip in [`Moves::clips`](super::Moves::clips).
    pub clip: u32,
    /// Seconds that it is ahead of the crowd's time.
    pub ahead: f32,
}

impl Instance {
    /// Where a point of the character is in the world.
    pub fn world_from_model(&self, point: Vec3) -> Vec3 {
        let [cos, sin] = self.turn;
        let p = self.scale * point;
        Vec3::from(self.place) + Vec3::new(cos * p.x + sin * p.z, p.y, cos * p.z - sin * p.x)
    }
}

/// How to spread a crowd over the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// How many instances. Default 10,000.
    pub count: usize,
    /// Distance between neighbours, as a multiple of the character's width. Default 1.3.
    pub spacing: f64,
    /// How far instances stray from their places in the grid, as a share of the distance between neighbours: 0 to 0.5.
    /// Default 0.35.
    pub jitter: f64,
    /// The largest angle by which instances are turned away from the front, in radians. Default 0.7.
    pub turn_rad: f64,
    /// The largest share by which instances are larger or smaller than the character. Default 0.08.
    pub sizes: f64,
    /// Another seed, another crowd. Default 1.
    pub seed: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            count: 10_000,
            spacing: 1.3,
            jitter: 0.35,
            turn_rad: 0.7,
            sizes: 0.08,
            seed: 1,
        }
    }
}

impl Spread {
    /// # Errors
    /// [`CrowdError::BadOption`].
    pub fn check(&self) -> Result<(), CrowdError> {
        let within =
            |option, value: f64, least: f64, most: f64| match value >= least && value <= most {
                true => Ok(()),
                false => Err(CrowdError::BadOption {
                    option,
                    problem: format!("expected {least} to {most}, found {value}"),
                }),
            };
        within("count", self.count as f64, 1.0, 1e6)?;
        within("spacing", self.spacing, 0.05, 1e3)?;
        within("jitter", self.jitter, 0.0, 0.5)?;
        within("turn_rad", self.turn_rad, 0.0, std::f64::consts::PI)?;
        within("sizes", self.sizes, 0.0, 0.9)
    }

    /// Columns and rows of the grid: about as wide as deep.
    pub fn grid(&self) -> [usize; 2] {
        let columns = (self.count as f64).sqrt().ceil().max(1.0) as usize;
        [columns, self.count.div_ceil(columns)]
    }

    /// Distance between neighbours, in model units.
    pub fn distance(&self, character: &Character) -> f64 {
        let [low, high] = character.box_corners;
        let size = high - low;
        // A thin upright character still has arms, and room to move.
        let width = size.x.max(size.z).min(1.2 * size.y).max(0.4 * size.y);
        self.spacing * width
    }

    /// The instances, row after row from the front (the largest z) to the back, around the origin. The same options give the
    /// same crowd on every machine.
    ///
    /// # Errors
    /// [`CrowdError::BadOption`].
    pub fn instances(&self, character: &Character) -> Result<Vec<Instance>, CrowdError> {
        self.check()?;
        let [columns, rows] = self.grid();
        let distance = self.distance(character);
        let mut random = Random(self.seed);
        let clips: &[Move] = &character.moves.clips;
        let one = |number: usize| {
            let (column, row) = (number % columns, number / columns);
            let mut along = |at: usize, count: usize| {
                let stray = self.jitter * random.between(-1.0, 1.0);
                distance * (at as f64 - 0.5 * (count - 1) as f64 + stray)
            };
            let (x, z) = (along(column, columns), -along(row, rows));
            let scale = 1.0 + self.sizes * random.between(-1.0, 1.0);
            let turn = self.turn_rad * random.between(-1.0, 1.0);
            let clip = ((random.unit() * clips.len() as f64) as usize).min(clips.len() - 1);
            let ahead = random.unit() * f64::from(clips[clip].seconds);
            Instance {
                place: [x as f32, (-character.floor * scale) as f32, z as f32],
                scale: scale as f32,
                turn: [
                    plain_cos(turn) as f32,
                    plain_cos(turn - std::f64::consts::FRAC_PI_2) as f32,
                ],
                clip: clip as u32,
                ahead: ahead as f32,
            }
        };
        Ok((0..self.count).map(one).collect())
    }
}

/// A cosine made of additions and products alone, so that crowds are the same on every machine; for angles up to 5.
fn plain_cos(angle: f64) -> f64 {
    // The angle is divided by sixteen, and the cosine of its double taken four times.
    let x = angle / 16.0;
    let square = x * x;
    let mut cos =
        1.0 - square / 2.0 * (1.0 - square / 12.0 * (1.0 - square / 30.0 * (1.0 - square / 56.0)));
    for _ in 0..4 {
        cos = 2.0 * cos * cos - 1.0;
    }
    cos
}

/// The generator splitmix64.
struct Random(u64);

impl Random {
    /// At least 0 and below 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_is_that_of_the_standard_library() {
        for k in -100..=100 {
            let angle = 0.05 * f64::from(k);
            let off = (plain_cos(angle) - angle.cos()).abs();
            assert!(off < 1e-9, "{off} at {angle}");
        }
    }

    #[test]
    fn a_turned_instance_keeps_its_size() {
        let instance = Instance {
            place: [1.0, 2.0, 3.0],
            scale: 2.0,
            turn: [0.6, 0.8],
            clip: 0,
            ahead: 0.0,
        };
        let a = instance.world_from_model(Vec3::new(1.0, 5.0, 2.0));
        let b = instance.world_from_model(Vec3::new(-1.0, 4.0, 3.0));
        let off = a.distance(b) - 2.0 * 6f32.sqrt();
        assert!(off.abs() < 1e-5, "twice as far apart: off by {off}");
    }
}
