//! Normals of posed faces: exact, whatever moved the vertices.

use wgpu::{BufferUsages, ShaderStages};

use crate::layout::FaceTable;
use crate::{Gpu, GpuError, shaders};

/// Makes the normals of a mesh from positions that are on the card, in two passes.
///
/// They follow corrections and uneven scales, which normals that are moved by matrices do not. A vertex that a file repeats
/// along a seam has only the faces of its side: give points, not drawn vertices, where that shows.
#[derive(Debug)]
pub struct FaceNormalPass {
    faces: wgpu::ComputePipeline,
    gather: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    normals: wgpu::Buffer,
    workgroups: [u32; 2],
    vertices: usize,
}

impl FaceNormalPass {
    /// For the positions in a buffer, three floats each, such as [`SkinBuffers::positions`](super::SkinBuffers::positions) of
    /// one instance.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] when a buffer is larger than shaders can bind, [`GpuError::TooMany`] for more triangles than
    /// one dispatch can have.
    pub fn new(gpu: &Gpu, table: &FaceTable, positions: &wgpu::Buffer) -> Result<Self, GpuError> {
        let triangles = (table.triangles.len() / 3) as u32;
        let workgroups = [triangles, table.vertices].map(|count| count.div_ceil(64));
        let most = gpu.device.limits().max_compute_workgroups_per_dimension;
        if workgroups.iter().any(|&count| count > most) {
            return Err(GpuError::TooMany {
                what: "triangles or vertices",
                most: 64 * u64::from(most),
            });
        }
        let read = wgpu::BufferBindingType::Storage { read_only: true };
        let write = wgpu::BufferBindingType::Storage { read_only: false };
        let uniform = wgpu::BufferBindingType::Uniform;
        let kinds = [uniform, read, read, read, write, write];
        let layout = gpu.group_layout("normals of faces", ShaderStages::COMPUTE, &kinds);
        let none = BufferUsages::empty();
        let words = |label, words: &[u32]| gpu.storage(label, bytemuck::cast_slice(words), none);
        let info = [triangles, table.vertices, 0, 0];
        let info = gpu.uniform("numbers of faces", bytemuck::bytes_of(&info));
        let corners = words("triangles", &table.triangles)?;
        let around = words("faces around vertices", &table.around)?;
        let scratch = gpu.storage_zeros("normals of faces", 12 * u64::from(triangles), none)?;
        let size = 12 * u64::from(table.vertices);
        let normals = gpu.storage_zeros("normals", size, BufferUsages::VERTEX)?;
        let bound = [&info, &corners, &around, positions, &scratch, &normals];
        let module = gpu.shader("normals of faces", shaders::FACE_NORMALS);
        let layouts = wgpu::PipelineLayoutDescriptor {
            label: Some("normals of faces"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        };
        let layouts = gpu.device.create_pipeline_layout(&layouts);
        let pipeline = |entry_point| {
            let descriptor = wgpu::ComputePipelineDescriptor {
                label: Some(entry_point),
                layout: Some(&layouts),
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: Default::default(),
                cache: None,
            };
            gpu.device.create_compute_pipeline(&descriptor)
        };
        Ok(Self {
            faces: pipeline("faces"),
            gather: pipeline("gather"),
            group: gpu.group("normals of faces", &layout, &bound),
            normals,
            workgroups,
            vertices: table.vertices as usize,
        })
    }

    /// Makes the normals of the positions that are there by then.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_bind_group(0, &self.group, &[]);
        let [faces, vertices] = self.workgroups;
        for (pipeline, workgroups) in [(&self.faces, faces), (&self.gather, vertices)] {
            pass.set_pipeline(pipeline);
            pass.dispatch_workgroups(workgroups, 1, 1);
        }
    }

    /// Normals after a dispatch: three floats for each vertex. It can be a vertex buffer.
    pub fn normals(&self) -> &wgpu::Buffer {
        &self.normals
    }

    /// Normals, brought back.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn read_normals(&self, gpu: &Gpu) -> Result<Vec<[f32; 3]>, GpuError> {
        let bytes = gpu.read(&self.normals)?;
        Ok(bytemuck::pod_collect_to_vec(&bytes[..12 * self.vertices]))
    }
}
