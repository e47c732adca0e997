//! Short words for what shaders bind.

use wgpu::{
    BindGroupLayout, BindingResource, BindingType, BufferBindingType, Device, ShaderStages,
};

/// What one binding is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slot {
    /// A uniform buffer.
    Uniform,
    /// A uniform buffer of which a draw sees one part.
    UniformPart,
    /// A storage buffer that is read.
    Read,
    /// A storage buffer that is written.
    Write,
    /// A picture.
    Picture,
    /// How a picture is read.
    Sampler,
}

impl Slot {
    fn binding_type(self) -> BindingType {
        let buffer = |ty, has_dynamic_offset| BindingType::Buffer {
            ty,
            has_dynamic_offset,
            min_binding_size: None,
        };
        match self {
            Self::Uniform => buffer(BufferBindingType::Uniform, false),
            Self::UniformPart => buffer(BufferBindingType::Uniform, true),
            Self::Read => buffer(BufferBindingType::Storage { read_only: true }, false),
            Self::Write => buffer(BufferBindingType::Storage { read_only: false }, false),
            Self::Picture => BindingType::Texture {
                sample_type: wgpu::TextureSampleType::Float { filterable: true },
                view_dimension: wgpu::TextureViewDimension::D2,
                multisampled: false,
            },
            Self::Sampler => BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
        }
    }
}

/// A layout of bindings 0, 1, 2, ...
pub(super) fn layout(
    device: &Device,
    label: &str,
    stages: ShaderStages,
    slots: &[Slot],
) -> BindGroupLayout {
    let entries: Vec<_> = (0..)
        .zip(slots)
        .map(|(binding, slot)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: stages,
            ty: slot.binding_type(),
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(label),
        entries: &entries,
    })
}

/// What stands at bindings 0, 1, 2, ...
pub(super) fn group(
    device: &Device,
    label: &str,
    layout: &BindGroupLayout,
    resources: &[BindingResource<'_>],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry {
            binding,
            resource: resource.clone(),
        })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout,
        entries: &entries,
    })
}

/// One step of work on the card: a shader with what it reads and writes.
#[derive(Debug)]
pub(super) struct Step {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

impl Step {
    /// A compute shader whose entry is `main`.
    pub(super) fn new(
        device: &Device,
        label: &str,
        source: &str,
        constants: &[(&str, f64)],
        bound: &[(Slot, &wgpu::Buffer)],
    ) -> Self {
        let slots: Vec<Slot> = bound.iter().map(|(slot, _)| *slot).collect();
        let layout = layout(device, label, ShaderStages::COMPUTE, &slots);
        let resources: Vec<_> = bound
            .iter()
            .map(|(_, buffer)| buffer.as_entire_binding())
            .collect();
        let module = shader(device, label, source);
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(label),
            layout: Some(&pipeline_layout(device, label, &[&layout])),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                ..Default::default()
            },
            cache: None,
        });
        Self {
            group: group(device, label, &layout, &resources),
            pipeline,
        }
    }

    /// Makes it the step that the next dispatch runs.
    pub(super) fn begin(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
    }
}

pub(super) fn shader(device: &Device, label: &str, source: &str) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    })
}

pub(super) fn pipeline_layout(
    device: &Device,
    label: &str,
    layouts: &[&BindGroupLayout],
) -> wgpu::PipelineLayout {
    let layouts: Vec<_> = layouts.iter().map(|layout| Some(*layout)).collect();
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: &layouts,
        immediate_size: 0,
    })
}
