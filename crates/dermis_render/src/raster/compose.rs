//! What is behind the surfaces: the background and the shadow on the floor; and the finished pixel.

use glam::Vec3;
use rayon::prelude::*;

use super::check_size;
use super::ground::Shadow;
use crate::camera::Camera;
use crate::color::{level_from_linear, linear_from_srgb3};
use crate::error::RenderError;
use crate::image::Image;
use crate::projector::Projector;
use crate::scene::{Background, Scene};

/// Thresholds of an 8×8 ordered dither, in 64ths: hides the steps of the backdrop's slow gradient, and being
/// regular it costs a PNG file little.
const DITHER: [[u8; 8]; 8] = [
    [0, 32, 8, 40, 2, 34, 10, 42],
    [48, 16, 56, 24, 50, 18, 58, 26],
    [12, 44, 4, 36, 14, 46, 6, 38],
    [60, 28, 52, 20, 62, 30, 54, 22],
    [3, 35, 11, 43, 1, 33, 9, 41],
    [51, 19, 59, 27, 49, 17, 57, 25],
    [15, 47, 7, 39, 13, 45, 5, 37],
    [63, 31, 55, 23, 61, 29, 53, 21],
];

/// Puts the background and the ground's shadow behind surfaces that are drawn already.
///
/// [`crate::render`] is [`crate::rasterize`], then this; a renderer of another kind, such as one on a graphics card, draws the
/// surfaces itself and gets the same picture around them. `surfaces` has one entry per pixel, row by row from the top:
/// linear light already scaled by the part of the pixel that surfaces cover, and that part, 0 to 1.
///
/// # Errors
/// Those of [`crate::render`], and [`RenderError::PixelCount`] when there are not `width × height` entries.
///
/// ```
/// use dermis_render::{Background, Camera, Scene, compose, glam::Vec3};
///
/// let scene = Scene { background: Background::Solid([1.0; 3]), ..Scene::default() };
/// let camera = Camera::framing([], -Vec3::Z, Vec3::Y, 2.0);
/// // Half a pixel of red, and an empty one.
/// let image = compose(&scene, &camera, 2, 1, &[[0.5, 0.0, 0.0, 0.5], [0.0; 4]])?;
/// assert_eq!(image.pixels(), [[255, 188, 188, 255], [255; 4]]);
/// # Ok::<(), dermis_render::RenderError>(())
/// ```
pub fn compose(
    scene: &Scene<'_>,
    camera: &Camera,
    width: u32,
    height: u32,
    surfaces: &[[f32; 4]],
) -> Result<Image, RenderError> {
    check_size(width, height)?;
    if surfaces.len() != width as usize * height as usize {
        return Err(RenderError::PixelCount {
            width,
            height,
            actual: surfaces.len(),
        });
    }
    scene.check()?;
    let backdrop = Backdrop {
        projector: camera.projector(width, height)?,
        background: scene.background,
        shadow: scene.ground.and_then(|ground| Shadow::new(scene, ground)),
        size: [width as f32, height as f32],
    };
    let mut pixels = vec![[0; 4]; surfaces.len()];
    let rows = surfaces.par_chunks(width as usize);
    pixels
        .par_chunks_mut(width as usize)
        .zip(rows)
        .enumerate()
        .for_each(|(y, (pixels, row))| {
            for (x, (pixel, &[r, g, b, covered])) in pixels.iter_mut().zip(row).enumerate() {
                let (x, y) = (x as f64 + 0.5, y as f64 + 0.5);
                *pixel = backdrop.finish(Vec3::new(r, g, b), covered, x, y);
            }
        });
    Ok(Image::from_pixels(width, height, pixels))
}

/// Everything behind the surfaces.
struct Backdrop {
    projector: Projector,
    background: Background,
    shadow: Option<Shadow>,
    /// Of the picture, in pixels.
    size: [f32; 2],
}

impl Backdrop {
    /// The pixel: surfaces over shadow over background, encoded.
    ///
    /// `color` is already scaled by `covered`, the part of the pixel that surfaces cover.
    fn finish(&self, color: Vec3, covered: f32, x: f64, y: f64) -> [u8; 4] {
        let open = 1.0 - covered;
        let shade = match &self.shadow {
            Some(shadow) if open > 0.0 => {
                let (origin, direction) = self.projector.ray_in_world(x, y);
                shadow.darkness(origin, direction)
            }
            _ => 0.0,
        };
        let (color, alpha) = match self.background {
            Background::Transparent => {
                let alpha = covered + open * shade;
                (
                    if alpha > 0.0 {
                        color / alpha
                    } else {
                        Vec3::ZERO
                    },
                    alpha,
                )
            }
            Background::Solid(srgb) => (
                color + linear_from_srgb3(srgb) * (open * (1.0 - shade)),
                1.0,
            ),
            Background::Studio => {
                let behind = if open > 0.0 {
                    self.studio(x as f32, y as f32)
                } else {
                    Vec3::ZERO
                };
                (color + behind * (open * (1.0 - shade)), 1.0)
            }
        };
        let threshold = if self.background == Background::Studio && open > 0.0 {
            (f32::from(DITHER[y as usize % 8][x as usize % 8]) + 0.5) / 64.0
        } else {
            0.5
        };
        let [r, g, b] = color
            .to_array()
            .map(|light| (level_from_linear(light) + threshold) as u8);
        [r, g, b, (alpha * 255.0).round() as u8]
    }

    /// A light neutral backdrop: brightest a little above the middle, falling off to the corners.
    fn studio(&self, x: f32, y: f32) -> Vec3 {
        let u = x / self.size[0] - 0.5;
        let v = y / self.size[1] - 0.42;
        let distance = (u * u + v * v) / 0.58;
        let smooth = distance.min(1.0);
        Vec3::new(0.860, 0.868, 0.880).lerp(Vec3::new(0.590, 0.605, 0.630), smooth)
    }
}
