//! A camera as the shaders of a crowd read it, and what is asked of a frame.

use bytemuck::{Pod, Zeroable};
use dermis::bounds::Frustum;
use dermis::lod::Picture;
use dermis_render::{Camera, Projection};
use glam::Vec3;

use super::{Character, CrowdError, Instance};

/// What is asked of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameOptions {
    /// The crowd's time, in seconds.
    pub time: f64,
    /// How many pixels the surface of an instance may be off. Default 1.
    pub pixels: f64,
    /// Whether instances that no picture can show are left out. Default true.
    pub culling: bool,
    /// The level of every instance; `None` to choose by pixels.
    pub level: Option<usize>,
    /// The last part of the way from one level to the next, as a share of it, in which vertices move over: 0 to 1. An
    /// instance on the way is posed twice. At 0 levels change at once, and at 1 nearly all instances are on the way
    /// ([`LevelChooser::between`](dermis::lod::LevelChooser::between)). Default 0.25.
    pub morph_share: f64,
}

impl Default for FrameOptions {
    fn default() -> Self {
        Self {
            time: 0.0,
            pixels: 1.0,
            culling: true,
            level: None,
            morph_share: 0.25,
        }
    }
}

/// A camera and what is asked, as numbers: the uniform buffer of all shaders of a crowd.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct View {
    /// From the world to clip space, by columns.
    pub clip_from_world: [[f32; 4]; 4],
    /// Six planes: a point is inside where `n·x + d ≥ 0`.
    pub planes: [[f32; 4]; 6],
    /// Depth of a point x along the view: `n·x + d`.
    pub depth: [f32; 4],
    /// The character's ball: centre and radius, in model space.
    pub ball: [f32; 4],
    /// Where the eye is, in the world; the last number is the time in seconds.
    pub eye_time: [f32; 4],
    /// The displacement that moves nothing by more than the pixels asked for, for each unit of depth.
    pub allowed_per_depth: f32,
    /// Added to radii, for rounding.
    pub slack: f32,
    /// As [`FrameOptions::morph_share`].
    pub morph_share: f32,
    /// The level of every instance, or −1.
    pub forced_level: i32,
    /// Number of instances.
    pub instances: u32,
    /// Number of levels.
    pub levels: u32,
    /// Bones with matrices: the distance from one instance's palette to the next one's.
    pub bones: u32,
    /// 1 to leave out what is not seen.
    pub culling: u32,
}

impl View {
    /// Puts together what shaders need.
    ///
    /// # Errors
    /// [`CrowdError`] for cameras without perspective or that cannot take pictures, and options that are out of range.
    pub fn new(
        character: &Character,
        instances: &[Instance],
        camera: &Camera,
        size: [u32; 2],
        options: &FrameOptions,
    ) -> Result<Self, CrowdError> {
        options.check(character)?;
        let Projection::Perspective { fov_y_rad } = camera.projection else {
            return Err(CrowdError::NoPerspective);
        };
        let aspect = size[0] as f32 / size[1] as f32;
        let matrix = camera.clip_from_world(aspect)?;
        let frustum = Frustum::from_matrix(&matrix.as_dmat4(), 0.0);
        let picture = Picture {
            width: f64::from(size[0]),
            height: f64::from(size[1]),
            field_of_view_x_rad: 2.0
                * (f64::from(aspect) * (0.5 * f64::from(fov_y_rad)).tan()).atan(),
        };
        let forward = (camera.target - camera.eye).normalize();
        let far = |at: Vec3| at.abs().max_element();
        let farthest = instances
            .iter()
            .map(|i| far(i.place.into()))
            .fold(far(camera.eye), f32::max);
        let ball = character
            .ball
            .center
            .as_vec3()
            .extend(character.ball.radius as f32);
        Ok(Self {
            clip_from_world: matrix.to_cols_array_2d(),
            // A plane at infinity holds everything: shaders may not know infinity.
            planes: frustum
                .planes
                .map(|plane| plane.as_vec4().to_array().map(finite)),
            depth: forward.extend(-forward.dot(camera.eye)).to_array(),
            ball: ball.to_array(),
            eye_time: camera.eye.extend(options.time as f32).to_array(),
            allowed_per_depth: (picture.displacement(options.pixels, 1.0) * (1.0 - 1e-6)) as f32,
            slack: 1e-6 * (farthest + ball.truncate().length()),
            morph_share: options.morph_share as f32,
            forced_level: options.level.map_or(-1, |level| level as i32),
            instances: instances.len() as u32,
            levels: character.levels.len() as u32,
            bones: character.moves.bones.len() as u32,
            culling: u32::from(options.culling),
        })
    }
}

fn finite(x: f32) -> f32 {
    x.clamp(-1e30, 1e30)
}

impl FrameOptions {
    fn check(&self, character: &Character) -> Result<(), CrowdError> {
        let bad = |option, problem| Err(CrowdError::BadOption { option, problem });
        if !(self.pixels.is_finite() && self.pixels > 0.0) {
            return bad(
                "pixels",
                format!("expected a number above 0, found {}", self.pixels),
            );
        }
        if !(0.0..=1.0).contains(&self.morph_share) {
            return bad(
                "morph_share",
                format!("expected 0 to 1, found {}", self.morph_share),
            );
        }
        if !self.time.is_finite() {
            return bad(
                "time",
                format!("expected a number of seconds, found {}", self.time),
            );
        }
        let last = character.levels.len() - 1;
        match self.level {
            Some(found) if found > last => Err(CrowdError::NoLevel { found, last }),
            _ => Ok(()),
        }
    }
}
