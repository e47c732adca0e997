//! What is drawn into, and the mean of its samples.

use dermis_render::SAMPLE_PLACES;
use wgpu::{TextureFormat, TextureUsages};

use super::pipelines::{COLORS, DEPTHS, Pipelines};
use crate::{Gpu, GpuError};

/// A part of a picture.
#[derive(Debug)]
pub(super) struct Target {
    size: [u32; 2],
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
    sums: wgpu::Buffer,
    adds: wgpu::BindGroup,
}

impl Target {
    pub(super) fn new(
        gpu: &Gpu,
        pipelines: &Pipelines,
        [width, height]: [u32; 2],
    ) -> Result<Self, GpuError> {
        let texture = |label, format: TextureFormat, more: TextureUsages| {
            let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d {
                    width,
                    height,
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: TextureUsages::RENDER_ATTACHMENT | more,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        let color = texture("one sample", COLORS, TextureUsages::TEXTURE_BINDING);
        let depth = texture("depths", DEPTHS, TextureUsages::empty());
        let bytes = 16 * u64::from(width) * u64::from(height);
        let sums = gpu.storage_zeros("sums of samples", bytes, wgpu::BufferUsages::empty())?;
        let share = 1.0 / SAMPLE_PLACES.len() as f32;
        let tile = gpu.uniform(
            "part of a picture",
            bytemuck::cast_slice(&[width, height, share.to_bits(), 0]),
        );
        Ok(Self {
            adds: pipelines.sum_group(gpu, &tile, &color, &sums),
            size: [width, height],
            color,
            depth,
            sums,
        })
    }

    pub(super) fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Begins a picture.
    pub(super) fn clear(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.sums, 0, None);
    }

    /// Begins a sample.
    pub(super) fn begin<'a>(&self, encoder: &'a mut wgpu::CommandEncoder) -> wgpu::RenderPass<'a> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("one sample"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                // Depth runs from 1 near to 0 far.
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        })
    }

    /// Ends a sample: adds it to the mean.
    pub(super) fn add(&self, encoder: &mut wgpu::CommandEncoder, pipelines: &Pipelines) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipelines.sum());
        pass.set_bind_group(0, &self.adds, &[]);
        let [columns, rows] = self.size.map(|side| side.div_ceil(8));
        pass.dispatch_workgroups(columns, rows, 1);
    }

    /// The mean of all samples, row by row.
    pub(super) fn read(&self, gpu: &Gpu) -> Result<Vec<[f32; 4]>, GpuError> {
        let bytes = gpu.read(&self.sums)?;
        // The card's bytes may lie anywhere in memory.
        let pixels = bytes.chunks_exact(16).map(bytemuck::pod_read_unaligned);
        let [width, height] = self.size;
        Ok(pixels.take(width as usize * height as usize).collect())
    }
}
