//! Textures on the card: each picture once, with all its levels, and each way to read one once.

use dermis_render::{Material, Paint, Scene, TexturePicture, Wrap};

use crate::{Gpu, GpuError};

/// The textures that are on the card.
#[derive(Debug)]
pub(super) struct Textures {
    known: Vec<(TexturePicture, wgpu::TextureView)>,
    /// By what there is beyond the borders, u before v.
    samplers: Vec<wgpu::Sampler>,
    /// Stands where a material has no texture.
    white: wgpu::TextureView,
}

impl Textures {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let modes = [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp];
        let pairs = modes.iter().flat_map(|u| modes.map(|v| [*u, v]));
        let white = texture(gpu, "no picture", [1, 1], 1, true);
        write(gpu, &white, 0, [1, 1], &[[255; 4]]);
        Self {
            known: Vec::new(),
            samplers: pairs.map(|pair| sampler(gpu, pair)).collect(),
            white: white.create_view(&Default::default()),
        }
    }

    /// Forgets the textures that a scene does not show.
    pub(super) fn forget_unused(&mut self, scene: &Scene<'_>) {
        let shown: Vec<&TexturePicture> = (scene.surfaces.iter())
            .flat_map(|surface| pictures_of(&surface.paint))
            .flatten()
            .collect();
        let is_shown =
            |known: &TexturePicture| shown.iter().any(|other| other.shares_pixels_with(known));
        self.known.retain(|(known, _)| is_shown(known));
    }

    /// Puts a picture on the card unless it is there.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] for one with too many pixels along a side.
    pub(super) fn load(&mut self, gpu: &Gpu, picture: &TexturePicture) -> Result<(), GpuError> {
        let is_known = |(known, _): &(TexturePicture, _)| known.shares_pixels_with(picture);
        if self.known.iter().any(is_known) {
            return Ok(());
        }
        let size = [picture.width(), picture.height()];
        let most = gpu.device.limits().max_texture_dimension_2d;
        if size.iter().any(|&side| side > most) {
            return Err(GpuError::TextureSize { size, most });
        }
        let levels = picture.level_count();
        let made = texture(gpu, "picture", size, levels as u32, picture.is_srgb());
        for level in 0..levels {
            let (size, pixels) = (picture.level_size(level), picture.level_rgba(level));
            write(gpu, &made, level as u32, size, pixels);
        }
        let view = made.create_view(&Default::default());
        self.known.push((picture.clone(), view));
        Ok(())
    }

    /// A texture and how it is read; white where there is none.
    pub(super) fn bound(
        &self,
        picture: Option<&TexturePicture>,
    ) -> (&wgpu::TextureView, &wgpu::Sampler) {
        let nothing = (&self.white, &self.samplers[0]);
        let Some(picture) = picture else {
            return nothing;
        };
        let found = self
            .known
            .iter()
            .find(|(known, _)| known.shares_pixels_with(picture));
        let [u, v] = picture.wrap().map(|wrap| match wrap {
            Wrap::Repeat => 0,
            Wrap::Mirror => 1,
            Wrap::Clamp => 2,
        });
        found.map_or(nothing, |(_, view)| (view, &self.samplers[3 * u + v]))
    }
}

/// The pictures that a paint shows: colours, bumps, glow.
pub(super) fn pictures_of<'a>(paint: &Paint<'a>) -> [Option<&'a TexturePicture>; 3] {
    match paint {
        Paint::Texture { picture, .. } => [Some(*picture), None, None],
        Paint::Material(Material {
            picture,
            normal_map,
            glow,
            ..
        }) => [
            *picture,
            normal_map.map(|map| map.picture),
            glow.and_then(|glow| glow.picture),
        ],
        _ => [None; 3],
    }
}

fn texture(
    gpu: &Gpu,
    label: &str,
    [width, height]: [u32; 2],
    mip_level_count: u32,
    is_srgb: bool,
) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: extent([width, height]),
        mip_level_count,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: match is_srgb {
            true => wgpu::TextureFormat::Rgba8UnormSrgb,
            false => wgpu::TextureFormat::Rgba8Unorm,
        },
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

fn write(gpu: &Gpu, texture: &wgpu::Texture, level: u32, size: [u32; 2], pixels: &[[u8; 4]]) {
    gpu.queue.write_texture(
        wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: level,
            origin: wgpu::Origin3d::ZERO,
            aspect: wgpu::TextureAspect::All,
        },
        pixels.as_flattened(),
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * size[0]),
            rows_per_image: None,
        },
        extent(size),
    );
}

fn extent([width, height]: [u32; 2]) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    }
}

fn sampler(gpu: &Gpu, wrap: [Wrap; 2]) -> wgpu::Sampler {
    let [u, v] = wrap.map(|wrap| match wrap {
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
        Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
    });
    gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("smooth"),
        address_mode_u: u,
        address_mode_v: v,
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..Default::default()
    })
}
