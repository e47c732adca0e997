//! Which level to draw: how many pixels an error can move, and a choice that does not flicker.

/// A camera's picture: what turns lengths into pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Picture {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// The whole horizontal field of view, in radians.
    pub field_of_view_x_rad: f64,
}

impl Picture {
    /// The most pixels that a displacement can move anything at this depth or beyond, anywhere in the picture.
    ///
    /// A displacement ε at depth d, seen φ off the axis, moves at most `ε f / (d cos φ)` pixels, with
    /// `f = (w/2) cot θ` and θ half the field of view. The corners of the picture are farthest off:
    /// `1/cos² φ = 1 + tan² θ (1 + (h/w)²)`. (\[Merry07\] Eq. 7.2 stops at its sides, and is up to 7.6% too lax.)
    pub fn pixels(&self, displacement: f64, depth: f64) -> f64 {
        displacement * self.pixels_per_length(depth)
    }

    /// The largest displacement that moves nothing at this depth by more than so many pixels.
    pub fn displacement(&self, pixels: f64, depth: f64) -> f64 {
        pixels / self.pixels_per_length(depth)
    }

    /// The least depth at which a displacement moves nothing by more than so many pixels.
    pub fn depth(&self, displacement: f64, pixels: f64) -> f64 {
        self.pixels(displacement, 1.0) / pixels
    }

    fn pixels_per_length(&self, depth: f64) -> f64 {
        let tan = (0.5 * self.field_of_view_x_rad).tan();
        let focal = 0.5 * self.width / tan;
        let corner = (1.0 + tan * tan * (1.0 + (self.height / self.width).powi(2))).sqrt();
        focal * corner / depth.max(f64::MIN_POSITIVE)
    }
}

/// Chooses a level for each instance and frame.
///
/// ```
/// use dermis::lod::{LevelChooser, Picture};
///
/// // Errors of the full character and three levels, in metres.
/// let chooser = LevelChooser::new([0.0, 0.001, 0.004, 0.015]);
/// let picture = Picture { width: 1920.0, height: 1080.0, field_of_view_x_rad: 1.2 };
/// let near = chooser.choose(0, picture.displacement(1.0, 2.0));
/// let far = chooser.choose(0, picture.displacement(1.0, 60.0));
/// assert_eq!((near, far), (1, 3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LevelChooser {
    errors: Vec<f64>,
    /// By how much more than the error of a level there must be room for, before it is left for a coarser one.
    pub hysteresis: f64,
}

impl LevelChooser {
    /// Levels from fine to coarse by their errors. A level that is coarser and no worse than the one before is fine.
    pub fn new(errors: impl IntoIterator<Item = f64>) -> Self {
        Self {
            errors: errors.into_iter().collect(),
            hysteresis: 0.1,
        }
    }

    /// The coarsest level within an error, as long as it is not just coming or going: `current` stays until there is a
    /// tenth more room than the next one needs. Never one whose error is above what is allowed, but for the finest.
    pub fn choose(&self, current: usize, allowed: f64) -> usize {
        let coarsest = |room: f64| {
            let fits = |level: &usize| self.errors[*level] <= room;
            (0..self.errors.len()).rev().find(fits).unwrap_or(0)
        };
        let fits_now = coarsest(allowed);
        match fits_now > current {
            true => coarsest(allowed / (1.0 + self.hysteresis)).max(current),
            false => fits_now,
        }
    }

    /// A level between two, for geomorphs: 1.25 is a quarter of the way from level 1 to level 2.
    pub fn between(&self, allowed: f64) -> f64 {
        let at = self.errors.iter().rposition(|error| *error <= allowed);
        let Some(at) = at else { return 0.0 };
        let Some(next) = self.errors.get(at + 1) else {
            return at as f64;
        };
        let span = next - self.errors[at];
        let share = if span > 0.0 {
            (allowed - self.errors[at]) / span
        } else {
            0.0
        };
        at as f64 + share.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;
    use glam::{DVec2, DVec3};

    /// L11: the pixel rule holds at the centre, sides and corners of any camera.
    #[test]
    fn nothing_moves_by_more_pixels_than_the_rule_says() {
        let mut random = Random::new(11);
        let mut worst: f64 = 0.0;
        for _ in 0..20_000 {
            let picture = Picture {
                width: random.between(200.0, 4000.0),
                height: random.between(200.0, 4000.0),
                field_of_view_x_rad: random.between(0.2, 2.4),
            };
            let tan = (0.5 * picture.field_of_view_x_rad).tan();
            let focal = 0.5 * picture.width / tan;
            let depth = random.between(1.0, 50.0);
            let at = DVec2::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0));
            // Half of the points at the corners.
            let at = if random.unit() < 0.5 { at.signum() } else { at };
            let aspect = picture.height / picture.width;
            let place = DVec3::new(at.x * tan * depth, at.y * tan * aspect * depth, depth);
            let size = 1e-4 * depth;
            let moved = place + size * random.direction();
            let pixel = |p: DVec3| focal * p.truncate() / p.z;
            let seen = pixel(moved).distance(pixel(place));
            let rule = picture.pixels(size, depth.min(moved.z));
            worst = worst.max(seen / rule);
            assert!(
                seen <= rule * (1.0 + 1e-3),
                "{seen} pixels, {rule} by the rule"
            );
        }
        assert!(worst > 0.97, "the rule is not far too careful: {worst}");
    }

    #[test]
    fn a_level_is_left_only_with_room_to_spare() {
        let chooser = LevelChooser::new([0.0, 1.0, 2.0, 4.0]);
        assert_eq!(chooser.choose(0, 2.05), 1, "level 2 would just fit");
        assert_eq!(chooser.choose(2, 2.05), 2, "so it stays if it is drawn");
        assert_eq!(chooser.choose(0, 2.21), 2, "with room to spare it is taken");
        assert_eq!(chooser.choose(3, 3.99), 2, "never above what is allowed");
        assert_eq!(
            chooser.choose(3, 0.5),
            0,
            "the full character is always there"
        );
        assert!((chooser.between(3.0) - 2.5).abs() < 1e-12, "half-way");
        assert_eq!(chooser.between(9.0), 3.0, "the coarsest");
    }
}
