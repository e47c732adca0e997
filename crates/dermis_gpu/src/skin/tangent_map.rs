//! Normals of texels in any pose: what a fixed normal map is an approximation of.

use wgpu::{BufferUsages, ShaderStages};

use crate::layout::TexelTable;
use crate::{Gpu, GpuError, shaders};

/// Writes a picture of normals, in model space, from posed normals of a detailed surface that are on the card.
///
/// A level of detail that wears it is shaded like the detailed surface in every pose (\[Merry07\] §7.5's tangent map). It
/// needs the detailed surface to be posed first, so it is for close views and for judging fixed maps; shaders take
/// `normalize(textureSample(map, ...).xyz)` in the place of a vertex normal.
#[derive(Debug)]
pub struct TangentMapPass {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    map: wgpu::Texture,
    workgroups: u32,
}

impl TangentMapPass {
    /// For normals in a buffer, three floats for each vertex of the detailed surface, such as
    /// [`SkinBuffers::normals`](super::SkinBuffers::normals) or [`FaceNormalPass::normals`](super::FaceNormalPass::normals).
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when a buffer is larger than shaders can bind, [`GpuError::TooMany`] for more texels than one
    /// dispatch or one picture can have.
    pub fn new(gpu: &Gpu, table: &TexelTable, normals: &wgpu::Buffer) -> Result<Self, GpuError> {
        let limits = gpu.device.limits();
        let count = table.texel_count() as u32;
        let workgroups = count.div_ceil(64);
        let most = limits.max_compute_workgroups_per_dimension;
        if workgroups > most || table.size > limits.max_texture_dimension_2d {
            return Err(GpuError::TooMany {
                what: "texels",
                most: 64 * u64::from(most),
            });
        }
        let descriptor = wgpu::TextureDescriptor {
            label: Some("tangent map"),
            size: wgpu::Extent3d {
                width: table.size,
                height: table.size,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Snorm,
            usage: wgpu::TextureUsages::STORAGE_BINDING
                | wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        };
        let map = gpu.device.create_texture(&descriptor);
        let none = BufferUsages::empty();
        let words = |label, words: &[u32]| gpu.storage(label, bytemuck::cast_slice(words), none);
        let info = gpu.uniform("number of texels", bytemuck::bytes_of(&[count, 0, 0, 0]));
        let texels = words("texels", &table.texels)?;
        let samples = words("samples of texels", &table.samples)?;
        let layout = layout(gpu);
        let view = map.create_view(&Default::default());
        let buffers = [&info, &texels, &samples, normals].map(wgpu::Buffer::as_entire_binding);
        let entries: Vec<_> = buffers
            .into_iter()
            .chain([wgpu::BindingResource::TextureView(&view)])
            .zip(0..)
            .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("tangent map"),
            layout: &layout,
            entries: &entries,
        });
        let layouts = wgpu::PipelineLayoutDescriptor {
            label: Some("tangent map"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        };
        let descriptor = wgpu::ComputePipelineDescriptor {
            label: Some("tangent map"),
            layout: Some(&gpu.device.create_pipeline_layout(&layouts)),
            module: &gpu.shader("tangent map", shaders::TANGENT_MAP),
            entry_point: Some("tangent_map"),
            compilation_options: Default::default(),
            cache: None,
        };
        Ok(Self {
            pipeline: gpu.device.create_compute_pipeline(&descriptor),
            group,
            map,
            workgroups,
        })
    }

    /// Writes the picture from the normals that are there by then.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.workgroups, 1, 1);
    }

    /// The picture: directions in model space from -1 to 1, zero where nothing is shown. Its top row is that of the atlas.
    pub fn map(&self) -> &wgpu::Texture {
        &self.map
    }

    /// The picture, row by row, brought back.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn read_map(&self, gpu: &Gpu) -> Result<Vec<[i8; 4]>, GpuError> {
        let size = self.map.width();
        // Rows of a copy begin at multiples of 256 bytes.
        let row = (4 * size).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tangent map"),
            size: u64::from(row) * u64::from(size),
            usage: BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            self.map.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row),
                    rows_per_image: None,
                },
            },
            self.map.size(),
        );
        gpu.queue.submit([encoder.finish()]);
        let bytes = gpu.read(&buffer)?;
        let rows = bytes.chunks_exact(row as usize);
        let texels = rows.flat_map(|row| row[..4 * size as usize].as_chunks::<4>().0);
        Ok(texels
            .map(|texel| texel.map(|byte| byte.cast_signed()))
            .collect())
    }
}

fn layout(gpu: &Gpu) -> wgpu::BindGroupLayout {
    let read = wgpu::BufferBindingType::Storage { read_only: true };
    let buffers = [wgpu::BufferBindingType::Uniform, read, read, read];
    let buffers = buffers.map(|ty| wgpu::BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    });
    let map = wgpu::BindingType::StorageTexture {
        access: wgpu::StorageTextureAccess::WriteOnly,
        format: wgpu::TextureFormat::Rgba8Snorm,
        view_dimension: wgpu::TextureViewDimension::D2,
    };
    let entries: Vec<_> = (buffers.into_iter().chain([map]).zip(0..))
        .map(|(ty, binding)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty,
            count: None,
        })
        .collect();
    let descriptor = wgpu::BindGroupLayoutDescriptor {
        label: Some("tangent map"),
        entries: &entries,
    };
    gpu.device.create_bind_group_layout(&descriptor)
}
