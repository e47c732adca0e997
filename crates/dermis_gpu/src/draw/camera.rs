//! The camera, its lights, and the samples of its pixels, as shaders read them.

use bytemuck::{Pod, Zeroable};
use dermis_render::glam::{Vec3, Vec4};
use dermis_render::{Camera, Lights, Projection, RenderError, SAMPLE_PLACES};

/// Bytes from one sample to the next: dynamic offsets want multiples of 256.
pub(super) const SAMPLE_STRIDE: u32 = 256;

/// Bytes of `Sample` of the shaders.
pub(super) const SAMPLE_BYTES: usize = 8 * size_of::<f32>();

/// `View` of the shaders.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct View {
    clip_from_world: [[f32; 4]; 4],
    eye: [f32; 4],
    lights: [[f32; 4]; 9],
}

/// The bytes of a camera's `View`.
pub(super) fn view(camera: &Camera, aspect: f32) -> Result<Vec<u8>, RenderError> {
    let mut clip_from_world = camera.clip_from_world(aspect)?;
    // Depth is turned round, 1 near and 0 far: floats are finest at 0. In perspective the difference of the two rows is one
    // number, the distance of the near plane, and nothing is lost.
    let [depth, w] = [clip_from_world.row(2), clip_from_world.row(3)];
    for column in 0..4 {
        clip_from_world.col_mut(column).z = w[column] - depth[column];
    }
    let lights = Lights::for_camera(camera);
    let towards = (camera.eye - camera.target).normalize_or_zero();
    let with = |v: Vec3, w: f32| v.extend(w).to_array();
    let view = View {
        clip_from_world: clip_from_world.to_cols_array_2d(),
        eye: match camera.projection {
            Projection::Perspective { .. } => with(camera.eye, 1.0),
            Projection::Orthographic { .. } => with(towards, 0.0),
        },
        lights: [
            with(lights.up, lights.knee),
            with(lights.key, lights.key_wrap),
            with(lights.fill, lights.fill_wrap),
            with(lights.around_below, lights.key_curve[0]),
            with(lights.around_above, lights.key_curve[1]),
            with(lights.key_color, lights.glint),
            with(lights.fill_color, lights.glint_power as f32),
            with(lights.rim_color, lights.rim_gloss),
            Vec4::new(lights.heat_evenness, lights.backface, 0.0, 0.0).to_array(),
        ],
    };
    Ok(bytemuck::bytes_of(&view).to_vec())
}

/// The bytes of `Sample` for all samples of a part of a picture, [`SAMPLE_STRIDE`] apart.
///
/// A card samples the middles of pixels. So the picture is moved until the sample's place is there.
pub(super) fn samples(size: [u32; 2], corner: [u32; 2], part: [u32; 2]) -> Vec<u8> {
    let mut bytes = vec![0; SAMPLE_STRIDE as usize * SAMPLE_PLACES.len()];
    let [size, corner, part] = [size, corner, part].map(|pair| pair.map(f64::from));
    let all = bytes.chunks_exact_mut(SAMPLE_STRIDE as usize);
    for (k, (place, bytes)) in SAMPLE_PLACES.iter().zip(all).enumerate() {
        let move_by = place.map(|place| 0.5 - f64::from(place));
        let scale = [0, 1].map(|i| (size[i] / part[i]) as f32);
        // Clip space has y up, pixels have it down.
        let right = (size[0] + 2.0 * (move_by[0] - corner[0])) / part[0] - 1.0;
        let up = 1.0 - (size[1] + 2.0 * (move_by[1] - corner[1])) / part[1];
        let to_center = move_by.map(|by| by as f32);
        // Where thresholds of opacity are, see `dermis_render::Opacity`.
        let threshold = [(7 * k % 16) as f32, 0.0];
        let numbers = [scale, [right as f32, up as f32], to_center, threshold];
        let numbers: &[u8] = bytemuck::cast_slice(&numbers);
        bytes[..numbers.len()].copy_from_slice(numbers);
    }
    bytes
}
