//! What a card has to know once: shaders, layouts of what they bind, and pipelines.

use dermis_render::HeatScale;
use dermis_render::{SAMPLE_PLACES, glam::Vec3};
use wgpu::{BindGroupLayout, BindingType, BufferBindingType, ShaderStages, TextureFormat};

use super::camera::{SAMPLE_BYTES, SAMPLE_STRIDE, View};
use super::surface::SurfaceNumbers;
use crate::{Gpu, GpuError};

/// Light and coverage of one sample, as they are.
pub(super) const COLORS: TextureFormat = TextureFormat::Rgba32Float;
/// Depth, 1 near and 0 far.
pub(super) const DEPTHS: TextureFormat = TextureFormat::Depth32Float;

/// How fragments get their colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// Materials, and all that is a simple one: one colour, colours of vertices, textures.
    #[default]
    Material,
    /// Numbers on a scale.
    Heat,
    /// A chequerboard.
    Chequer,
}

/// Everything that is made once.
#[derive(Debug)]
pub(super) struct Pipelines {
    view: wgpu::Buffer,
    samples: wgpu::Buffer,
    frame: wgpu::BindGroup,
    surface: BindGroupLayout,
    pictures: BindGroupLayout,
    ramp: wgpu::BindGroup,
    of_kind: [wgpu::RenderPipeline; 3],
    sums: BindGroupLayout,
    sum: wgpu::ComputePipeline,
}

impl Pipelines {
    pub(super) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let both = ShaderStages::VERTEX_FRAGMENT;
        let frame_layout = layout(
            gpu,
            "frame",
            &[
                (both, uniform(false, size_of::<View>())),
                (both, uniform(true, SAMPLE_BYTES)),
            ],
        );
        let of_vertices = [(ShaderStages::VERTEX, storage(true)); 6];
        let surface = [(both, uniform(false, size_of::<SurfaceNumbers>()))];
        let surface: Vec<_> = surface.into_iter().chain(of_vertices).collect();
        let surface = layout(gpu, "surface", &surface);
        let seen = ShaderStages::FRAGMENT;
        let pictures = [[(seen, texture(true)), (seen, SAMPLER)]; 3].concat();
        let pictures = layout(gpu, "pictures of a material", &pictures);
        let ramp_layout = layout(gpu, "colours of a heat map", &[(seen, storage(true))]);
        let vertex = module(
            gpu,
            "draw_vertex",
            include_str!("../../shaders/draw_vertex.wgsl"),
        );
        let pipeline = |label: &str, source: &str, last: Option<&BindGroupLayout>| {
            let layouts: Vec<_> = [Some(&frame_layout), Some(&surface), last]
                .into_iter()
                .filter(Option::is_some)
                .collect();
            render_pipeline(gpu, label, &vertex, &module(gpu, label, source), &layouts)
        };
        let of_kind = [
            pipeline(
                "draw_material",
                include_str!("../../shaders/draw_material.wgsl"),
                Some(&pictures),
            ),
            pipeline(
                "draw_heat",
                include_str!("../../shaders/draw_heat.wgsl"),
                Some(&ramp_layout),
            ),
            pipeline(
                "draw_chequer",
                include_str!("../../shaders/draw_chequer.wgsl"),
                None,
            ),
        ];
        let view = gpu.uniform("view", &[0; size_of::<View>()]);
        let room = vec![0; SAMPLE_STRIDE as usize * SAMPLE_PLACES.len()];
        let samples = gpu.uniform("samples", &room);
        let sums = layout(
            gpu,
            "sums",
            &[
                (ShaderStages::COMPUTE, uniform(false, 16)),
                (ShaderStages::COMPUTE, texture(false)),
                (ShaderStages::COMPUTE, storage(false)),
            ],
        );
        let device = &gpu.device;
        let sum = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("draw_sum"),
            layout: Some(&pipeline_layout(gpu, "draw_sum", &[Some(&sums)])),
            module: &module(gpu, "draw_sum", include_str!("../../shaders/draw_sum.wgsl")),
            entry_point: Some("sum"),
            compilation_options: Default::default(),
            cache: None,
        });
        let one_sample = wgpu::BufferBinding {
            buffer: &samples,
            offset: 0,
            size: wgpu::BufferSize::new(SAMPLE_BYTES as u64),
        };
        let frame = [
            view.as_entire_binding(),
            wgpu::BindingResource::Buffer(one_sample),
        ];
        Ok(Self {
            frame: group(gpu, "frame", &frame_layout, &frame),
            ramp: ramp(gpu, &ramp_layout)?,
            view,
            samples,
            surface,
            pictures,
            of_kind,
            sums,
            sum,
        })
    }

    pub(super) fn view(&self) -> &wgpu::Buffer {
        &self.view
    }

    pub(super) fn samples(&self) -> &wgpu::Buffer {
        &self.samples
    }

    /// Camera, lights and, at a dynamic offset, a sample.
    pub(super) fn frame(&self) -> &wgpu::BindGroup {
        &self.frame
    }

    pub(super) fn of(&self, kind: Kind) -> &wgpu::RenderPipeline {
        &self.of_kind[kind as usize]
    }

    /// The colours of heat maps.
    pub(super) fn ramp(&self) -> &wgpu::BindGroup {
        &self.ramp
    }

    pub(super) fn sum(&self) -> &wgpu::ComputePipeline {
        &self.sum
    }

    /// What the vertices of a surface are pulled from.
    pub(super) fn surface_group(
        &self,
        gpu: &Gpu,
        resources: &[wgpu::BindingResource<'_>],
    ) -> wgpu::BindGroup {
        group(gpu, "surface", &self.surface, resources)
    }

    /// The textures of a material, each with how it is read.
    pub(super) fn picture_group(
        &self,
        gpu: &Gpu,
        pictures: [(&wgpu::TextureView, &wgpu::Sampler); 3],
    ) -> wgpu::BindGroup {
        let resources = pictures.map(|(picture, sampler)| {
            [
                wgpu::BindingResource::TextureView(picture),
                wgpu::BindingResource::Sampler(sampler),
            ]
        });
        group(
            gpu,
            "pictures of a material",
            &self.pictures,
            resources.as_flattened(),
        )
    }

    /// What samples are added up from and to.
    pub(super) fn sum_group(
        &self,
        gpu: &Gpu,
        tile: &wgpu::Buffer,
        color: &wgpu::TextureView,
        sums: &wgpu::Buffer,
    ) -> wgpu::BindGroup {
        let resources = [
            tile.as_entire_binding(),
            wgpu::BindingResource::TextureView(color),
            sums.as_entire_binding(),
        ];
        group(gpu, "sums", &self.sums, &resources)
    }
}

const SAMPLER: BindingType = BindingType::Sampler(wgpu::SamplerBindingType::Filtering);

fn uniform(has_dynamic_offset: bool, bytes: usize) -> BindingType {
    BindingType::Buffer {
        ty: BufferBindingType::Uniform,
        has_dynamic_offset,
        min_binding_size: wgpu::BufferSize::new(bytes as u64),
    }
}

fn storage(read_only: bool) -> BindingType {
    BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only },
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

fn texture(filterable: bool) -> BindingType {
    BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: false,
    }
}

fn layout(gpu: &Gpu, label: &str, bindings: &[(ShaderStages, BindingType)]) -> BindGroupLayout {
    let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..)
        .zip(bindings)
        .map(|(binding, &(visibility, ty))| wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty,
            count: None,
        })
        .collect();
    let device = &gpu.device;
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(label),
        entries: &entries,
    })
}

fn group(
    gpu: &Gpu,
    label: &str,
    layout: &BindGroupLayout,
    resources: &[wgpu::BindingResource<'_>],
) -> wgpu::BindGroup {
    let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry {
            binding,
            resource: resource.clone(),
        })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout,
        entries: &entries,
    })
}

fn module(gpu: &Gpu, label: &str, source: &str) -> wgpu::ShaderModule {
    let device = &gpu.device;
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    })
}

fn pipeline_layout(
    gpu: &Gpu,
    label: &str,
    layouts: &[Option<&BindGroupLayout>],
) -> wgpu::PipelineLayout {
    let device = &gpu.device;
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: layouts,
        immediate_size: 0,
    })
}

fn render_pipeline(
    gpu: &Gpu,
    label: &str,
    vertex: &wgpu::ShaderModule,
    fragment: &wgpu::ShaderModule,
    layouts: &[Option<&BindGroupLayout>],
) -> wgpu::RenderPipeline {
    let device = &gpu.device;
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(label),
        layout: Some(&pipeline_layout(gpu, label, layouts)),
        vertex: wgpu::VertexState {
            module: vertex,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[],
        },
        // Anticlockwise is the outside, and both sides are seen unless a material says otherwise.
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTHS,
            depth_write_enabled: Some(true),
            // Of equal depths the first one stays.
            depth_compare: Some(wgpu::CompareFunction::Greater),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: fragment,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format: COLORS,
                blend: None,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// The colours of heat maps, for shaders.
fn ramp(gpu: &Gpu, layout: &BindGroupLayout) -> Result<wgpu::BindGroup, GpuError> {
    let with_room = |color: &Vec3| color.extend(1.0).to_array();
    let colors: Vec<[f32; 4]> = HeatScale::linear_colors().iter().map(with_room).collect();
    let label = "colours of a heat map";
    let bytes = bytemuck::cast_slice(&colors);
    let buffer = gpu.storage(label, bytes, wgpu::BufferUsages::empty())?;
    Ok(group(gpu, label, layout, &[buffer.as_entire_binding()]))
}
