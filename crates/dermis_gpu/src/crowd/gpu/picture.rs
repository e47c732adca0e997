//! Pictures that are drawn into and read back, and pictures that materials have.

use dermis_render::Image;
use wgpu::{Extent3d, TextureDescriptor, TextureFormat, TextureUsages, TextureView};

use crate::{Gpu, GpuError};

/// What is drawn into: sRGB bytes, blended in linear light.
pub(super) const COLORS: TextureFormat = TextureFormat::Rgba8UnormSrgb;
/// Distances, 0 near to 1 far.
pub(super) const DEPTHS: TextureFormat = TextureFormat::Depth32Float;
/// Places in a pixel.
pub(super) const SAMPLES: u32 = 4;

/// The picture of a frame.
#[derive(Debug)]
pub(super) struct Target {
    size: [u32; 2],
    pub(super) many: TextureView,
    pub(super) depth: TextureView,
    pub(super) resolved: TextureView,
    texture: wgpu::Texture,
    bytes: wgpu::Buffer,
}

impl Target {
    pub(super) fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self, GpuError> {
        let texture = |label, format, samples, usage| {
            gpu.device.create_texture(&TextureDescriptor {
                label: Some(label),
                size: extent(size),
                mip_level_count: 1,
                sample_count: samples,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            })
        };
        let drawn = TextureUsages::RENDER_ATTACHMENT;
        let resolved = texture("picture", COLORS, 1, drawn | TextureUsages::COPY_SRC);
        let bytes = u64::from(padded_row(size)) * u64::from(size[1]);
        let view = |texture: &wgpu::Texture| texture.create_view(&Default::default());
        Ok(Self {
            size,
            many: view(&texture("samples", COLORS, SAMPLES, drawn)),
            depth: view(&texture("depths", DEPTHS, SAMPLES, drawn)),
            resolved: view(&resolved),
            texture: resolved,
            bytes: gpu.storage_zeros("bytes of a picture", bytes, wgpu::BufferUsages::empty())?,
        })
    }

    /// The picture as it was drawn last.
    pub(super) fn read(&self, gpu: &Gpu) -> Result<Image, GpuError> {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let to = wgpu::TexelCopyBufferInfo {
            buffer: &self.bytes,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(padded_row(self.size)),
                rows_per_image: None,
            },
        };
        encoder.copy_texture_to_buffer(self.texture.as_image_copy(), to, extent(self.size));
        gpu.queue.submit([encoder.finish()]);
        let bytes = gpu.read(&self.bytes)?;
        let [width, height] = self.size;
        let mut image = Image::new(width, height, [0; 4]);
        for (y, row) in (0..height).zip(bytes.chunks_exact(padded_row(self.size) as usize)) {
            for (x, pixel) in (0..width).zip(row.chunks_exact(4)) {
                image.set_pixel(x, y, [pixel[0], pixel[1], pixel[2], pixel[3]]);
            }
        }
        Ok(image)
    }
}

fn extent([width, height]: [u32; 2]) -> Extent3d {
    Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    }
}

/// Bytes of a row: copies want multiples of 256.
fn padded_row(size: [u32; 2]) -> u32 {
    (4 * size[0]).next_multiple_of(256)
}

/// A picture of base colours with all its smaller forms, so that far instances do not glitter.
pub(super) fn upload(gpu: &Gpu, image: &Image) -> TextureView {
    let mut size = [image.width().max(1), image.height().max(1)];
    let mut pixels: Vec<[f32; 4]> = image.pixels().iter().map(|p| to_linear(*p)).collect();
    pixels.resize((size[0] * size[1]) as usize, [1.0; 4]);
    let levels = 32 - size[0].max(size[1]).leading_zeros();
    let texture = gpu.device.create_texture(&TextureDescriptor {
        label: Some("base colours"),
        size: extent(size),
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: COLORS,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for mip_level in 0..levels {
        let bytes: Vec<u8> = pixels.iter().flat_map(|p| to_bytes(*p)).collect();
        let to = wgpu::TexelCopyTextureInfo {
            mip_level,
            ..texture.as_image_copy()
        };
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * size[0]),
            rows_per_image: None,
        };
        gpu.queue.write_texture(to, &bytes, layout, extent(size));
        (pixels, size) = halved(&pixels, size);
    }
    texture.create_view(&Default::default())
}

/// The picture at half the size: means of four pixels in linear light, colours weighted by how solid they are.
fn halved(pixels: &[[f32; 4]], [width, height]: [u32; 2]) -> (Vec<[f32; 4]>, [u32; 2]) {
    let half = [(width / 2).max(1), (height / 2).max(1)];
    let mut out = Vec::with_capacity((half[0] * half[1]) as usize);
    for y in 0..half[1] {
        for x in 0..half[0] {
            let mut sum = [0.0; 4];
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (x, y) = ((2 * x + dx).min(width - 1), (2 * y + dy).min(height - 1));
                let p = pixels[(y * width + x) as usize];
                (0..3).for_each(|c| sum[c] += p[c] * p[3].max(1e-3));
                sum[3] += p[3].max(1e-3);
            }
            out.push([
                sum[0] / sum[3],
                sum[1] / sum[3],
                sum[2] / sum[3],
                sum[3] / 4.0,
            ]);
        }
    }
    (out, half)
}

fn to_linear(pixel: [u8; 4]) -> [f32; 4] {
    let linear = |c: u8| {
        let x = f32::from(c) / 255.0;
        if x <= 0.04045 {
            x / 12.92
        } else {
            ((x + 0.055) / 1.055).powf(2.4)
        }
    };
    [
        linear(pixel[0]),
        linear(pixel[1]),
        linear(pixel[2]),
        f32::from(pixel[3]) / 255.0,
    ]
}

fn to_bytes(pixel: [f32; 4]) -> [u8; 4] {
    let srgb = |x: f32| {
        let y = if x <= 0.003_130_8 {
            12.92 * x
        } else {
            1.055 * x.powf(1.0 / 2.4) - 0.055
        };
        (255.0 * y + 0.5) as u8
    };
    [
        srgb(pixel[0]),
        srgb(pixel[1]),
        srgb(pixel[2]),
        (255.0 * pixel[3] + 0.5) as u8,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_go_to_linear_light_and_back() {
        for c in 0..=255 {
            let pixel = [c, 255 - c, c / 2, c];
            assert_eq!(to_bytes(to_linear(pixel)), pixel, "each as it was");
        }
    }

    #[test]
    fn half_a_chequerboard_is_grey_in_linear_light() {
        let pixels = [
            [1.0; 4],
            [0.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0, 1.0],
            [1.0; 4],
        ];
        let (half, size) = halved(&pixels, [2, 2]);
        assert_eq!(
            (half, size),
            (vec![[0.5, 0.5, 0.5, 1.0]], [1, 1]),
            "one pixel"
        );
    }
}
