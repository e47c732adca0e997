//! One surface on the card: its vertices and its look.

use bytemuck::{Pod, Zeroable};
use dermis_render::glam::{Vec2, Vec3};
use dermis_render::{
    Lights, Material, Opacity, Paint, Shading, Sides, Surface, Wireframe, linear_from_srgb3,
};

use super::buffers::Growing;
use super::pipelines::{Kind, Pipelines};
use super::textures::{Textures, pictures_of};
use crate::{Gpu, GpuError};

const HAS_NORMALS: u32 = 1;
const HAS_VERTEX_COLORS: u32 = 2;
const HAS_TRIANGLE_COLORS: u32 = 4;
const HAS_COLORS: u32 = 8;
const HAS_BUMPS: u32 = 16;
const HAS_GLOW: u32 = 32;
const IS_UNLIT: u32 = 64;
const HAS_LINES: u32 = 128;
const HAS_HOLES: u32 = 256;
const IS_OUTER_ONLY: u32 = 512;
const IS_BLENDED: u32 = 1024;

/// `Surface` of the shaders.
#[derive(Debug, Clone, Copy, Pod, Zeroable, Default)]
#[repr(C)]
pub(super) struct SurfaceNumbers {
    color: [f32; 4],
    /// Light of its own, or the second colour of a chequerboard; and how strong bumps are.
    glow: [f32; 4],
    line: [f32; 4],
    /// Opacity below which there are holes; width of lines; squares of a chequerboard, the last number of a heat map, or
    /// where thresholds of opacity begin; how much of the light the inside has.
    numbers: [f32; 4],
    flags: u32,
    /// The first entries of the texture coordinates of colours, bumps and glow.
    uvs: [u32; 3],
}

/// What a surface looks like, and what it gives to its vertices beside positions and normals.
#[derive(Default)]
struct Look {
    kind: Kind,
    numbers: SurfaceNumbers,
    /// One set after the other.
    uvs: Vec<[f32; 2]>,
    colors: Vec<[f32; 4]>,
    tangents: Vec<[f32; 4]>,
}

/// A surface that is on the card.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    kind: Kind,
    corner_count: u32,
    numbers: Option<wgpu::Buffer>,
    lists: [Growing; 6],
    surface: Option<wgpu::BindGroup>,
    pictures: Option<wgpu::BindGroup>,
}

impl Drawn {
    /// Puts a surface with its number in the scene on the card, in the place of the one before.
    pub(super) fn fill(
        &mut self,
        gpu: &Gpu,
        pipelines: &Pipelines,
        textures: &mut Textures,
        (number, surface): (usize, &Surface<'_>),
        lights: &Lights,
    ) -> Result<(), GpuError> {
        let look = Look::of(number, surface, lights);
        self.kind = look.kind;
        self.corner_count = 3 * surface.triangles.len() as u32;
        let numbers = bytemuck::bytes_of(&look.numbers);
        match &self.numbers {
            Some(buffer) => gpu.queue.write_buffer(buffer, 0, numbers),
            None => self.numbers = Some(gpu.uniform("surface", numbers)),
        }
        let [positions, normals] = [surface.positions, surface.normals].map(plain);
        let bytes: [(&str, &[u8]); 6] = [
            (
                "the corners of a surface",
                bytemuck::cast_slice(surface.triangles.as_flattened()),
            ),
            (
                "the positions of a surface",
                bytemuck::cast_slice(&positions),
            ),
            ("the normals of a surface", bytemuck::cast_slice(&normals)),
            (
                "the texture coordinates of a surface",
                bytemuck::cast_slice(&look.uvs),
            ),
            (
                "the colours of a surface",
                bytemuck::cast_slice(&look.colors),
            ),
            (
                "the tangents of a surface",
                bytemuck::cast_slice(&look.tangents),
            ),
        ];
        let mut is_new = self.surface.is_none();
        for (list, (label, bytes)) in self.lists.iter_mut().zip(bytes) {
            is_new |= list.fill(gpu, label, bytes)?;
        }
        if is_new {
            let numbers = self.numbers.iter().map(wgpu::Buffer::as_entire_binding);
            let lists = self.lists.iter().filter_map(Growing::binding);
            let resources: Vec<wgpu::BindingResource<'_>> = numbers.chain(lists).collect();
            self.surface = Some(pipelines.surface_group(gpu, &resources));
        }
        let pictures = pictures_of(&surface.paint);
        for picture in pictures.into_iter().flatten() {
            textures.load(gpu, picture)?;
        }
        let bound = pictures.map(|picture| textures.bound(picture));
        self.pictures = Some(pipelines.picture_group(gpu, bound));
        Ok(())
    }

    /// Draws it into a pass that has the frame bound.
    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, pipelines: &Pipelines) {
        if self.corner_count == 0 {
            return;
        }
        pass.set_pipeline(pipelines.of(self.kind));
        pass.set_bind_group(1, &self.surface, &[]);
        match self.kind {
            Kind::Material => pass.set_bind_group(2, &self.pictures, &[]),
            Kind::Heat => pass.set_bind_group(2, pipelines.ramp(), &[]),
            Kind::Chequer => {}
        }
        pass.draw(0..self.corner_count, 0..1);
    }
}

impl Look {
    /// `number` is that of the surface in its scene.
    fn of(number: usize, surface: &Surface<'_>, lights: &Lights) -> Self {
        let mut look = Self::default();
        look.numbers.color = [1.0; 4];
        // The inside is darker, unless a material says otherwise.
        look.numbers.numbers[3] = lights.backface;
        look.paint(number, &surface.paint);
        if !surface.normals.is_empty() {
            look.numbers.flags |= HAS_NORMALS;
        }
        if surface.shading == Shading::Unlit {
            look.numbers.flags |= IS_UNLIT;
        }
        if let Some(Wireframe {
            color,
            width_px,
            opacity,
        }) = surface.wireframe
        {
            look.numbers.flags |= HAS_LINES;
            look.numbers.line = opaque(color, opacity.clamp(0.0, 1.0));
            look.numbers.numbers[1] = width_px;
        }
        look
    }

    fn paint(&mut self, number: usize, paint: &Paint<'_>) {
        match paint {
            Paint::Solid(color) => self.numbers.color = opaque(*color, 1.0),
            Paint::Heat { values, scale } => {
                self.kind = Kind::Heat;
                self.numbers.numbers[2] = scale.max;
                self.color_vertices(values.iter().map(|&value| [value, 0.0, 0.0, 1.0]));
            }
            Paint::VertexColors(colors) => {
                self.color_vertices(colors.iter().map(|&color| opaque(color, 1.0)));
            }
            Paint::TriangleColors(colors) => {
                self.numbers.flags |= HAS_TRIANGLE_COLORS;
                self.colors = colors.iter().map(|&color| opaque(color, 1.0)).collect();
            }
            Paint::Chequer {
                uvs,
                squares,
                colors,
                tints,
            } => {
                self.kind = Kind::Chequer;
                self.numbers.color = opaque(colors[0], 1.0);
                self.numbers.glow = opaque(colors[1], 1.0);
                self.numbers.numbers[2] = *squares;
                self.lay(0, uvs);
                if !tints.is_empty() {
                    self.color_vertices(tints.iter().map(|&tint| opaque(tint, 1.0)));
                }
            }
            Paint::Texture { uvs, .. } => {
                self.numbers.flags |= HAS_COLORS;
                self.lay(0, uvs);
            }
            Paint::Material(material) => self.material(number, material),
        }
    }

    fn material(&mut self, number: usize, material: &Material<'_>) {
        self.numbers.color = material.color;
        if !material.vertex_colors.is_empty() {
            let colors = material.vertex_colors.iter();
            self.color_vertices(colors.map(|&[r, g, b]| [r, g, b, 1.0]));
        }
        if material.picture.is_some() {
            self.numbers.flags |= HAS_COLORS;
            self.lay(0, material.uvs);
        }
        if let Some(map) = &material.normal_map {
            self.numbers.flags |= HAS_BUMPS;
            self.numbers.glow[3] = map.scale;
            self.lay(1, map.uvs);
            self.tangents = map.tangents.iter().map(|t| t.to_array()).collect();
        }
        if let Some(glow) = &material.glow {
            self.numbers.glow[..3].copy_from_slice(&glow.color);
            if glow.picture.is_some() {
                self.numbers.flags |= HAS_GLOW;
                self.lay(2, glow.uvs);
            }
        }
        match material.opacity {
            Opacity::Cutoff(cutoff) if cutoff > 0.0 => {
                self.numbers.flags |= HAS_HOLES;
                self.numbers.numbers[0] = cutoff;
            }
            Opacity::Blended => {
                self.numbers.flags |= HAS_HOLES | IS_BLENDED;
                self.numbers.numbers[2] = (5 * number % 16) as f32;
            }
            Opacity::Cutoff(_) | Opacity::Ignored => {}
        }
        if material.sides != Sides::DarkInside {
            self.numbers.numbers[3] = 1.0;
        }
        if material.sides == Sides::Outer {
            self.numbers.flags |= IS_OUTER_ONLY;
        }
    }

    fn color_vertices(&mut self, colors: impl Iterator<Item = [f32; 4]>) {
        self.numbers.flags |= HAS_VERTEX_COLORS;
        self.colors = colors.collect();
    }

    /// Adds a set of texture coordinates: those of colours, bumps or glow.
    fn lay(&mut self, what: usize, uvs: &[Vec2]) {
        self.numbers.uvs[what] = self.uvs.len() as u32;
        self.uvs.extend(uvs.iter().map(|uv| uv.to_array()));
    }
}

/// An sRGB colour as linear light, with an opacity.
fn opaque(color: [f32; 3], opacity: f32) -> [f32; 4] {
    linear_from_srgb3(color).extend(opacity).to_array()
}

fn plain(vectors: &[Vec3]) -> Vec<[f32; 3]> {
    vectors.iter().map(|v| v.to_array()).collect()
}
