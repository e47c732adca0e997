//! What surrounds a crowd: lights, air, ground and shadows, as numbers for shaders.

use bytemuck::{Pod, Zeroable};
use dermis_render::{Camera, Lights, Projection};
use glam::{Vec3, Vec4};

use super::super::Character;

/// Colours in linear light. Far instances take on the horizon's.
const GROUND: Vec3 = Vec3::new(0.50, 0.48, 0.45);
const HORIZON: Vec3 = Vec3::new(0.76, 0.80, 0.85);
const SKY: Vec3 = Vec3::new(0.36, 0.53, 0.78);
/// Air is thick enough for this share to be seen through it across the whole crowd.
const CLEAR_ACROSS: f32 = 0.5;
/// Darkness in the middle of a shadow.
const SHADOW: f32 = 0.6;
/// Radius of a shadow, as a share of the character's width.
const SHADOW_WIDTH: f32 = 0.42;

/// [`Lights`] as `crowd_draw.wgsl` reads them.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LightNumbers([[f32; 4]; 10]);

/// What `crowd_ground.wgsl` and `crowd_shadow.wgsl` read.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Scenery {
    world_from_clip: [[f32; 4]; 4],
    ground: [f32; 4],
    horizon: [f32; 4],
    sky: [f32; 4],
    shadow: [f32; 4],
    anchor: [f32; 4],
}

/// The distance at which about a third is still seen through the air.
fn air_distance(across: f32) -> f32 {
    across / -CLEAR_ACROSS.ln()
}

impl LightNumbers {
    /// `across` is the width of the crowd, in model units.
    pub(super) fn new(camera: &Camera, across: f32) -> Self {
        let l = Lights::for_camera(camera);
        let with = |v: Vec3, w: f32| v.extend(w).to_array();
        Self([
            with(l.up, l.knee),
            with(l.key, l.key_wrap),
            with(l.fill, l.fill_wrap),
            with(l.around_below, l.key_curve[0]),
            with(l.around_above, l.key_curve[1]),
            with(l.key_color, l.glint),
            with(l.fill_color, l.glint_power as f32),
            with(l.rim_color, l.rim_gloss),
            with(HORIZON, air_distance(across)),
            with(GROUND, l.backface),
        ])
    }
}

impl Scenery {
    pub(super) fn new(camera: &Camera, aspect: f32, character: &Character, across: f32) -> Self {
        let forward = (camera.target - camera.eye).normalize_or(-Vec3::Z);
        let right = forward.cross(camera.up).normalize_or(Vec3::X);
        let up = right.cross(forward);
        let tan = match camera.projection {
            Projection::Perspective { fov_y_rad } => (0.5 * fov_y_rad).tan(),
            Projection::Orthographic { .. } => 0.0,
        };
        let [low, high] = character.box_corners;
        let width = (high - low).x.min((high - low).z) as f32;
        let (bone, anchor) = character.anchor;
        let column = |v: Vec3| v.extend(0.0).to_array();
        Self {
            world_from_clip: [
                column(right * (tan * aspect)),
                column(up * tan),
                [0.0; 4],
                column(forward),
            ],
            ground: column(GROUND),
            horizon: HORIZON.extend(air_distance(across)).to_array(),
            sky: column(SKY),
            shadow: Vec4::new(bone as f32, SHADOW_WIDTH * width, SHADOW, 0.0).to_array(),
            anchor,
        }
    }
}
