//! Shaders as the card runs them, and what their buffers are bound to. Made once.

use crate::layout::SkinKind;
use crate::shaders::{self, SkinStage};
use crate::{Gpu, GpuError};

/// A compute pipeline for each kind of skin, and the layouts that all kinds have in common.
#[derive(Debug, Clone)]
pub struct SkinPipelines {
    /// Group 0: the skin.
    pub(super) skin: wgpu::BindGroupLayout,
    /// Group 1: palette and coefficients.
    pub(super) frame: wgpu::BindGroupLayout,
    /// Group 2 of compute pipelines: positions and normals.
    pub(super) results: wgpu::BindGroupLayout,
    compute: Vec<(SkinKind, wgpu::ComputePipeline)>,
}

impl SkinPipelines {
    /// Makes the pipelines for some kinds of skins; those that come twice are made once.
    pub fn new(gpu: &Gpu, kinds: &[SkinKind]) -> Self {
        use wgpu::ShaderStages;
        let both = ShaderStages::VERTEX | ShaderStages::COMPUTE;
        let uniform = wgpu::BufferBindingType::Uniform;
        let read = wgpu::BufferBindingType::Storage { read_only: true };
        let write = wgpu::BufferBindingType::Storage { read_only: false };
        let skin = gpu.group_layout("skin", both, &[uniform, read, read, read, read]);
        let frame = gpu.group_layout("frame of a skin", both, &[read, read]);
        let results = gpu.group_layout("posed skin", ShaderStages::COMPUTE, &[write, write]);
        let mut pipelines = Self {
            skin,
            frame,
            results,
            compute: Vec::new(),
        };
        for &kind in kinds {
            if pipelines.of(kind).is_err() {
                let made = pipelines.make(gpu, kind);
                pipelines.compute.push((kind, made));
            }
        }
        pipelines
    }

    /// The pipeline for one kind of skin.
    ///
    /// # Errors
    /// [`GpuError::NoPipeline`] when the kind was not among those that [`SkinPipelines::new`] got.
    pub fn of(&self, kind: SkinKind) -> Result<&wgpu::ComputePipeline, GpuError> {
        let found = self.compute.iter().find(|(of, _)| *of == kind);
        found
            .map(|(_, pipeline)| pipeline)
            .ok_or(GpuError::NoPipeline)
    }

    /// Groups 0 and 1 of pipelines whose vertex stage poses vertices; groups from 2 on are the caller's.
    ///
    /// The shader of the crate itself has in group 2 a uniform, the matrix from model space to clip space.
    pub fn vertex_layouts(&self) -> [&wgpu::BindGroupLayout; 2] {
        [&self.skin, &self.frame]
    }

    /// The vertex stage of a program, with `more` after it: entry points of the caller's, which may call
    /// `posed(slots[vertex], instance)`.
    ///
    /// Its entry point `vertex` gives a fragment stage positions and normals at locations 0 and 1. Pipelines need
    /// [`SkinPipelines::constants`] of the skin's kind.
    pub fn vertex_module(gpu: &Gpu, kind: SkinKind, more: &str) -> wgpu::ShaderModule {
        let source = shaders::skin(kind, SkinStage::Vertex);
        gpu.shader("skin in the vertex stage", &format!("{source}\n{more}"))
    }

    /// What the shaders leave open, by name.
    pub fn constants(kind: SkinKind) -> [(&'static str, f64); 3] {
        [
            ("sixteen_bits", f64::from(u8::from(kind.sixteen_bits))),
            ("correction_bits", f64::from(kind.correction_bits)),
            ("normal_planes", f64::from(kind.normal_planes)),
        ]
    }

    fn make(&self, gpu: &Gpu, kind: SkinKind) -> wgpu::ComputePipeline {
        let groups = [Some(&self.skin), Some(&self.frame), Some(&self.results)];
        let source = shaders::skin(kind, SkinStage::Compute);
        let layout = wgpu::PipelineLayoutDescriptor {
            label: Some("skin"),
            bind_group_layouts: &groups,
            immediate_size: 0,
        };
        let descriptor = wgpu::ComputePipelineDescriptor {
            label: Some("skin"),
            layout: Some(&gpu.device.create_pipeline_layout(&layout)),
            module: &gpu.shader("skin", source),
            entry_point: Some("skin"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &Self::constants(kind),
                ..Default::default()
            },
            cache: None,
        };
        gpu.device.create_compute_pipeline(&descriptor)
    }
}

impl Gpu {
    /// A shader from its source.
    pub(crate) fn shader(&self, label: &str, source: &str) -> wgpu::ShaderModule {
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        };
        self.device.create_shader_module(descriptor)
    }

    /// Whole buffers at bindings 0, 1, 2 and so on.
    pub(crate) fn group_layout(
        &self,
        label: &str,
        visibility: wgpu::ShaderStages,
        kinds: &[wgpu::BufferBindingType],
    ) -> wgpu::BindGroupLayout {
        let entries: Vec<_> = (0..)
            .zip(kinds)
            .map(|(binding, &ty)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility,
                ty: wgpu::BindingType::Buffer {
                    ty,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        let descriptor = wgpu::BindGroupLayoutDescriptor {
            label: Some(label),
            entries: &entries,
        };
        self.device.create_bind_group_layout(&descriptor)
    }

    /// Whole buffers bound to such a layout.
    pub(crate) fn group(
        &self,
        label: &str,
        layout: &wgpu::BindGroupLayout,
        buffers: &[&wgpu::Buffer],
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor {
            label: Some(label),
            layout,
            entries: &entries,
        };
        self.device.create_bind_group(&descriptor)
    }
}
