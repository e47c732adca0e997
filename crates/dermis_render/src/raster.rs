//! Draws a scene on the CPU: triangles in, smooth-edged clay-shaded picture out.
//!
//! The picture is cut into tiles that are drawn independently and in parallel. In each tile every pixel has
//! 16 sample points; for each sample we keep the nearest triangle and its depth, nothing else (a *visibility
//! buffer*). When all triangles are in, each pixel looks up which triangles its samples belong to and shades
//! every one of them once, at the middle of its samples, so that light is worked out for visible things only,
//! about once per pixel. The cost is that a highlight finer than a pixel is not smoothed; clay has none, and
//! chequers and textures are averaged over the part that a pixel sees.
//!
//! The 16 samples of a pixel are one in each of 16 columns and one in each of 16 rows: sample `i`, from 0, is at
//! `((i + ½) / 16, (r(i) + ½) / 16)` of the pixel from its top left corner, where `r` reverses the four bits of `i`. All
//! count alike, and coverage is how many of them some triangle has.
//!
//! Coverage is decided in integers, at 1/256 of a pixel, with one rule for samples that lie exactly on an
//! edge: two triangles that share an edge neither overlap nor leave a gap. Barycentric coordinates are those
//! of the original triangle, taken from the homogeneous vertices (Olano and Greer, "Triangle scan conversion
//! using 2D homogeneous coordinates", 1997), so they are perspective-correct and not affected by near-plane
//! clipping.
//!
//! Tiles, triangles within a tile and samples within a pixel are visited in a fixed order and nothing is
//! summed across threads: the bytes are the same on any number of threads.
//!
//! The opacity of a material is looked up for every sample while triangles go in: a sample shows the surface or what is
//! behind, see [`crate::Opacity`].
//!
//! Not here: light that is coloured or bent on its way through, cast shadows between surfaces (only the ground catches one).

mod compose;
mod ground;
mod pattern;
mod setup;
mod shade;
mod tile;

use rayon::prelude::*;

use crate::camera::Camera;
use crate::error::RenderError;
use crate::image::Image;
use crate::scene::Scene;
use setup::{Bins, prepare, set_up_triangles};
use shade::Shader;
use tile::{TILE, Tile};

pub use compose::compose;
pub use tile::SAMPLE_PLACES;

/// Longest side of a picture, in pixels: the most that 32-bit edge functions at 1/256 pixel can hold.
pub const MAX_SIDE: u32 = 8192;

/// Draws a scene as seen by a camera.
///
/// Pixels are square, so the camera's aspect should be that of the picture. An empty scene gives the
/// background alone. Cost: one pass over the triangles plus the covered pixels; memory is about 150 bytes per
/// triangle.
///
/// # Errors
/// [`RenderError::EmptyImage`] and [`RenderError::ImageTooLarge`] for impossible sizes,
/// [`RenderError::BadCamera`], [`RenderError::LengthMismatch`] and [`RenderError::IndexOutOfRange`] for
/// surfaces that do not fit together. Positions that are not finite are no error: their triangles are left
/// out.
///
/// ```
/// use dermis_render::{Camera, Scene, Surface, UpAxis, glam::Vec3, render};
///
/// let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
/// let scene = Scene { surfaces: vec![Surface::new(&corners, &[], &[[0, 1, 2]])], ..Scene::default() };
/// let picture = render(&scene, &Camera::three_quarter(&[&corners], UpAxis::Y, 1.0), 64, 64)?;
/// assert_eq!(picture.width(), 64);
/// # Ok::<(), dermis_render::RenderError>(())
/// ```
pub fn render(
    scene: &Scene<'_>,
    camera: &Camera,
    width: u32,
    height: u32,
) -> Result<Image, RenderError> {
    let surfaces = rasterize(scene, camera, width, height)?;
    compose(scene, camera, width, height, &surfaces)
}

/// Draws the surfaces of a scene alone: for each pixel, row by row from the top, the linear light of what it shows,
/// already scaled by the part of the pixel that surfaces cover, and that part, 0 to 1.
///
/// [`compose`] puts the background behind them.
///
/// # Errors
/// Those of [`render`].
pub fn rasterize(
    scene: &Scene<'_>,
    camera: &Camera,
    width: u32,
    height: u32,
) -> Result<Vec<[f32; 4]>, RenderError> {
    check_size(width, height)?;
    let projector = camera.projector(width, height)?;
    let meshes = prepare(scene, &projector)?;
    let triangles = set_up_triangles(&meshes, &projector, width, height);
    let bins = Bins::new(&triangles, width, height);
    let shader = Shader::new(&meshes, &projector);

    let mut pixels = vec![[0.0; 4]; width as usize * height as usize];
    pixels
        .par_chunks_mut(TILE * width as usize)
        .enumerate()
        .for_each_init(Tile::new, |tile, (tile_row, rows)| {
            for tile_column in 0..bins.columns {
                tile.clear(tile_column, tile_row);
                for &index in bins.triangles_of(tile_column, tile_row) {
                    let triangle = &triangles[index as usize];
                    tile.draw(triangle, shader.holes(triangle.id).as_ref());
                }
                tile.resolve(&shader, width as usize, rows);
            }
        });
    Ok(pixels)
}

fn check_size(width: u32, height: u32) -> Result<(), RenderError> {
    if width == 0 || height == 0 {
        return Err(RenderError::EmptyImage { width, height });
    }
    if width > MAX_SIDE || height > MAX_SIDE {
        return Err(RenderError::ImageTooLarge { width, height });
    }
    Ok(())
}

#[cfg(test)]
mod material_tests;
#[cfg(test)]
mod paint_tests;
#[cfg(test)]
mod tests;
