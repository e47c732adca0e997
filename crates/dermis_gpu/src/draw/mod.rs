//! Pictures of scenes on a graphics card, with the look of [`dermis_render::render`].
//!
//! A [`Renderer`] takes the same [`Scene`] and [`Camera`] and gives the same [`Image`], but for rounding: the camera's matrix
//! is [`Camera::clip_from_world`](dermis_render::Camera::clip_from_world), light is [`Lights`] as
//! numbers, background and shadow are [`compose`]. Surfaces are drawn once for each of the sixteen samples of a pixel, moved
//! so that the middle of the pixel is at [`SAMPLE_PLACES`]; the samples of an edge are then those of the processor.
//!
//! | shader | what it does |
//! | --- | --- |
//! | `draw_vertex.wgsl` | pulls the vertices of a surface from storage buffers |
//! | `draw_material.wgsl` | colours of the whole, of vertices and of triangles, textures, bumps, glow, holes |
//! | `draw_heat.wgsl`, `draw_chequer.wgsl` | heat maps and chequerboards |
//! | `draw_sum.wgsl` | adds a sample to the mean |
//!
//! Large pictures are drawn in parts, so that the limits of WebGPU's default profile do.
//!
//! Not here: frames at the pace of a screen. Sixteen samples in sixteen passes make a still picture that equals another,
//! and the card's own four would be faster.

mod buffers;
mod camera;
mod pipelines;
mod surface;
mod target;
#[cfg(test)]
mod tests;
mod textures;

use dermis_render::{Camera, Image, Lights, MAX_SIDE, RenderError, SAMPLE_PLACES, Scene, compose};

use crate::{Gpu, GpuError};
use camera::{SAMPLE_STRIDE, samples, view};
use pipelines::Pipelines;
use surface::Drawn;
use target::Target;
use textures::Textures;

/// Longest side of the parts that a picture is drawn in, in pixels.
const PART_SIDE: u32 = 2048;

/// Draws scenes.
///
/// Pipelines are made once. Buffers and textures are kept from picture to picture and made anew when they are too small, or
/// when a scene has other textures.
///
/// ```no_run
/// use dermis_gpu::{Gpu, draw::Renderer};
/// use dermis_render::{Camera, Scene, Surface, UpAxis, glam::Vec3};
///
/// let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
/// let scene = Scene { surfaces: vec![Surface::new(&corners, &[], &[[0, 1, 2]])], ..Scene::default() };
/// let camera = Camera::three_quarter(&[&corners], UpAxis::Y, 1.0);
/// let mut renderer = Renderer::new(Gpu::new()?)?;
/// let picture = renderer.draw(&scene, &camera, 64, 64)?;
/// # Ok::<(), dermis_gpu::GpuError>(())
/// ```
#[derive(Debug)]
pub struct Renderer {
    gpu: Gpu,
    pipelines: Pipelines,
    textures: Textures,
    surfaces: Vec<Drawn>,
    target: Option<Target>,
    part_side: u32,
}

impl Renderer {
    /// Makes the pipelines.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] for a card without WebGPU's default limits.
    pub fn new(gpu: Gpu) -> Result<Self, GpuError> {
        Ok(Self {
            pipelines: Pipelines::new(&gpu)?,
            textures: Textures::new(&gpu),
            surfaces: Vec::new(),
            target: None,
            part_side: PART_SIDE,
            gpu,
        })
    }

    /// The card that draws.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Draws a scene as seen by a camera.
    ///
    /// # Errors
    /// Those of [`dermis_render::render`], as [`GpuError::Render`]; [`GpuError::TooLarge`] for surfaces or textures that
    /// shaders cannot see as a whole, and [`GpuError::Lost`].
    pub fn draw(
        &mut self,
        scene: &Scene<'_>,
        camera: &Camera,
        width: u32,
        height: u32,
    ) -> Result<Image, GpuError> {
        let pixels = self.rasterize(scene, camera, width, height)?;
        Ok(compose(scene, camera, width, height, &pixels)?)
    }

    /// Draws the surfaces of a scene alone, as [`dermis_render::rasterize`] does.
    ///
    /// # Errors
    /// As [`Renderer::draw`].
    pub fn rasterize(
        &mut self,
        scene: &Scene<'_>,
        camera: &Camera,
        width: u32,
        height: u32,
    ) -> Result<Vec<[f32; 4]>, GpuError> {
        check(scene, width, height)?;
        let view = view(camera, width as f32 / height as f32)?;
        self.gpu.queue.write_buffer(self.pipelines.view(), 0, &view);
        let lights = Lights::for_camera(camera);
        self.textures.forget_unused(scene);
        for (k, surface) in scene.surfaces.iter().enumerate() {
            if self.surfaces.len() == k {
                self.surfaces.push(Drawn::default());
            }
            let slot = &mut self.surfaces[k];
            slot.fill(
                &self.gpu,
                &self.pipelines,
                &mut self.textures,
                (k, surface),
                &lights,
            )?;
        }
        self.surfaces.truncate(scene.surfaces.len());
        let part = [width, height].map(|side| side.min(self.part_side));
        let mut pixels = vec![[0.0; 4]; width as usize * height as usize];
        for top in (0..height).step_by(part[1] as usize) {
            for left in (0..width).step_by(part[0] as usize) {
                let drawn = self.part([width, height], [left, top], part)?;
                let columns = (width - left).min(part[0]) as usize;
                let rows = (height - top).min(part[1]) as usize;
                let drawn = drawn.chunks_exact(part[0] as usize).take(rows);
                for (y, row) in (top as usize..).zip(drawn) {
                    let start = y * width as usize + left as usize;
                    pixels[start..start + columns].copy_from_slice(&row[..columns]);
                }
            }
        }
        Ok(pixels)
    }

    /// Draws a part of a picture: all samples, one after the other.
    fn part(
        &mut self,
        size: [u32; 2],
        corner: [u32; 2],
        part: [u32; 2],
    ) -> Result<Vec<[f32; 4]>, GpuError> {
        let gpu = &self.gpu;
        let target = match self.target.take().filter(|target| target.size() == part) {
            Some(target) => self.target.insert(target),
            None => self.target.insert(Target::new(gpu, &self.pipelines, part)?),
        };
        let samples = samples(size, corner, part);
        (gpu.queue).write_buffer(self.pipelines.samples(), 0, &samples);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        target.clear(&mut encoder);
        for k in 0..SAMPLE_PLACES.len() as u32 {
            let mut pass = target.begin(&mut encoder);
            pass.set_bind_group(0, self.pipelines.frame(), &[k * SAMPLE_STRIDE]);
            for surface in &self.surfaces {
                surface.draw(&mut pass, &self.pipelines);
            }
            drop(pass);
            target.add(&mut encoder, &self.pipelines);
        }
        gpu.queue.submit([encoder.finish()]);
        target.read(gpu)
    }
}

/// Finds the faults of a scene that [`dermis_render::render`] would.
fn check(scene: &Scene<'_>, width: u32, height: u32) -> Result<(), RenderError> {
    if width == 0 || height == 0 {
        return Err(RenderError::EmptyImage { width, height });
    }
    if width > MAX_SIDE || height > MAX_SIDE {
        return Err(RenderError::ImageTooLarge { width, height });
    }
    scene.check()
}
