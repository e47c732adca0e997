//! The stage that draws: ground, shadows, then every part of every level by one indirect draw.

use bytemuck::{Pod, Zeroable};
use wgpu::{BindGroup, Buffer, Device, RenderPipeline, ShaderStages};

use super::super::{CrowdError, CrowdLook, PartLook};
use super::binding::{Slot, group, layout, pipeline_layout, shader};
use super::buffers::{Buffers, COMMANDS_BEFORE_DRAWS, COMMANDS_PER_DRAW, SHADOW_COMMAND};
use super::packed::PackedLevels;
use super::picture::{COLORS, DEPTHS, SAMPLES, Target, upload};
use super::scenery::{LightNumbers, Scenery};
use crate::Gpu;

/// Bytes from one draw's numbers to the next: what every card can begin a binding at.
const DRAW_STRIDE: u32 = 256;

/// What one draw is told.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct DrawNumbers {
    color: [f32; 4],
    level: u32,
    cutoff: f32,
    unused: [f32; 2],
}

/// Pipelines, and what they bind.
#[derive(Debug)]
pub(super) struct Drawing {
    ground: (RenderPipeline, BindGroup),
    shadows: (RenderPipeline, BindGroup),
    levels: (RenderPipeline, BindGroup),
    /// A picture for each draw, as a number in `pictures`.
    picture_of_draw: Vec<usize>,
    pictures: Vec<BindGroup>,
    pub(super) lights: Buffer,
    pub(super) scenery: Buffer,
}

impl Drawing {
    pub(super) fn new(
        gpu: &Gpu,
        packed: &PackedLevels,
        look: &CrowdLook,
        b: &Buffers,
    ) -> Result<Self, CrowdError> {
        let device = &gpu.device;
        let lights = gpu.uniform("lights", bytemuck::bytes_of(&LightNumbers::zeroed()));
        let scenery = gpu.uniform("scenery", bytemuck::bytes_of(&Scenery::zeroed()));
        let plain = PartLook::default();
        let look_of = |part: u32| look.parts.get(part as usize).unwrap_or(&plain);

        let mut numbers = vec![0; DRAW_STRIDE as usize * packed.draws.len()];
        for (draw, out) in packed
            .draws
            .iter()
            .zip(numbers.chunks_mut(DRAW_STRIDE as usize))
        {
            let own = look_of(draw.part);
            let own = DrawNumbers {
                color: own.color,
                level: draw.level,
                cutoff: own.cutoff,
                unused: [0.0; 2],
            };
            out[..size_of::<DrawNumbers>()].copy_from_slice(bytemuck::bytes_of(&own));
        }
        let numbers = gpu.uniform("draws", &numbers);
        let white = dermis_render::Image::new(1, 1, [255; 4]);
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("smooth and repeating"),
            address_mode_u: wgpu::AddressMode::Repeat,
            address_mode_v: wgpu::AddressMode::Repeat,
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..Default::default()
        });
        let of_fragment = [Slot::Uniform, Slot::Picture, Slot::Sampler];
        let picture_layout = layout(device, "look", ShaderStages::FRAGMENT, &of_fragment);
        let pictures = std::iter::once(&white).chain(&look.pictures).map(|image| {
            let view = upload(gpu, image);
            let bound = [
                lights.as_entire_binding(),
                wgpu::BindingResource::TextureView(&view),
                wgpu::BindingResource::Sampler(&sampler),
            ];
            group(device, "look", &picture_layout, &bound)
        });
        let pictures: Vec<BindGroup> = pictures.collect();
        let picture_of_draw = (packed.draws.iter())
            .map(|draw| {
                look_of(draw.part)
                    .picture
                    .map_or(0, |n| n + 1)
                    .min(pictures.len() - 1)
            })
            .collect();
        Ok(Self {
            ground: ground(device, b, &scenery),
            shadows: shadows(device, b, &scenery),
            levels: levels(device, b, &numbers, &picture_layout, packed),
            picture_of_draw,
            pictures,
            lights,
            scenery,
        })
    }

    /// Draws a frame; commands and palettes must have been written.
    pub(super) fn run(&self, pass: &mut wgpu::RenderPass<'_>, b: &Buffers, has_shadows: bool) {
        pass.set_pipeline(&self.ground.0);
        pass.set_bind_group(0, &self.ground.1, &[]);
        pass.draw(0..3, 0..1);
        if has_shadows {
            pass.set_pipeline(&self.shadows.0);
            pass.set_bind_group(0, &self.shadows.1, &[]);
            pass.draw_indirect(&b.commands, SHADOW_COMMAND);
        }
        pass.set_pipeline(&self.levels.0);
        pass.set_index_buffer(b.corners.slice(..), wgpu::IndexFormat::Uint32);
        for (number, picture) in self.picture_of_draw.iter().enumerate() {
            pass.set_bind_group(0, &self.levels.1, &[DRAW_STRIDE * number as u32]);
            pass.set_bind_group(1, &self.pictures[*picture], &[]);
            let word = COMMANDS_BEFORE_DRAWS + COMMANDS_PER_DRAW * number;
            pass.draw_indexed_indirect(&b.commands, 4 * word as u64);
        }
    }
}

/// Where a frame is drawn, and by which queries it is timed.
pub(super) fn begin<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    target: &Target,
    timestamp_writes: Option<wgpu::RenderPassTimestampWrites<'_>>,
) -> wgpu::RenderPass<'a> {
    let color = wgpu::RenderPassColorAttachment {
        view: &target.many,
        depth_slice: None,
        resolve_target: Some(&target.resolved),
        ops: wgpu::Operations {
            load: wgpu::LoadOp::Clear(wgpu::Color::WHITE),
            store: wgpu::StoreOp::Discard,
        },
    };
    let depth = wgpu::RenderPassDepthStencilAttachment {
        view: &target.depth,
        depth_ops: Some(wgpu::Operations {
            load: wgpu::LoadOp::Clear(1.0),
            store: wgpu::StoreOp::Discard,
        }),
        stencil_ops: None,
    };
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("crowd"),
        color_attachments: &[Some(color)],
        depth_stencil_attachment: Some(depth),
        timestamp_writes,
        occlusion_query_set: None,
        multiview_mask: None,
    })
}

/// What differs between the three pipelines.
struct Way<'a> {
    label: &'a str,
    source: &'a str,
    constants: &'a [(&'a str, f64)],
    layouts: &'a [&'a wgpu::BindGroupLayout],
    blends: bool,
    has_depth: bool,
}

fn pipeline(device: &Device, way: &Way<'_>) -> RenderPipeline {
    let module = shader(device, way.label, way.source);
    let compilation_options = wgpu::PipelineCompilationOptions {
        constants: way.constants,
        ..Default::default()
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(way.label),
        layout: Some(&pipeline_layout(device, way.label, way.layouts)),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: compilation_options.clone(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTHS,
            depth_write_enabled: Some(way.has_depth),
            depth_compare: Some(match way.has_depth {
                true => wgpu::CompareFunction::Less,
                false => wgpu::CompareFunction::Always,
            }),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: wgpu::MultisampleState {
            count: SAMPLES,
            ..Default::default()
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options,
            targets: &[Some(wgpu::ColorTargetState {
                format: COLORS,
                blend: way.blends.then_some(wgpu::BlendState::ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn ground(device: &Device, b: &Buffers, scenery: &Buffer) -> (RenderPipeline, BindGroup) {
    let label = "ground";
    let layout = layout(
        device,
        label,
        ShaderStages::VERTEX_FRAGMENT,
        &[Slot::Uniform; 2],
    );
    let way = Way {
        label,
        source: include_str!("../../../shaders/crowd_ground.wgsl"),
        constants: &[],
        layouts: &[&layout],
        blends: false,
        has_depth: false,
    };
    let bound = [&b.view, scenery].map(Buffer::as_entire_binding);
    (
        pipeline(device, &way),
        group(device, label, &layout, &bound),
    )
}

fn shadows(device: &Device, b: &Buffers, scenery: &Buffer) -> (RenderPipeline, BindGroup) {
    let label = "shadows";
    let slots = [
        Slot::Uniform,
        Slot::Uniform,
        Slot::Read,
        Slot::Read,
        Slot::Read,
    ];
    let layout = layout(device, label, ShaderStages::VERTEX_FRAGMENT, &slots);
    let way = Way {
        label,
        source: include_str!("../../../shaders/crowd_shadow.wgsl"),
        constants: &[],
        layouts: &[&layout],
        blends: true,
        has_depth: false,
    };
    let bound =
        [&b.view, scenery, &b.drawn, &b.instances, &b.palettes].map(Buffer::as_entire_binding);
    (
        pipeline(device, &way),
        group(device, label, &layout, &bound),
    )
}

/// The shader that skins, with what it is compiled for.
pub(super) fn skin_constants(packed: &PackedLevels) -> [(&'static str, f64); 2] {
    let [fixed, of_bone] = packed.counts;
    [
        ("fixed_numbers", fixed as f64),
        ("bone_numbers", of_bone as f64),
    ]
}

fn levels(
    device: &Device,
    b: &Buffers,
    numbers: &Buffer,
    picture_layout: &wgpu::BindGroupLayout,
    packed: &PackedLevels,
) -> (RenderPipeline, BindGroup) {
    let label = "levels";
    let slots = [
        Slot::Uniform,
        Slot::UniformPart,
        Slot::Read,
        Slot::Read,
        Slot::Read,
        Slot::Read,
        Slot::Read,
        Slot::Read,
        Slot::Read,
        Slot::Read,
    ];
    let layout = layout(device, label, ShaderStages::VERTEX_FRAGMENT, &slots);
    let source = concat!(
        include_str!("../../../shaders/crowd_skin.wgsl"),
        include_str!("../../../shaders/crowd_draw.wgsl")
    );
    let way = Way {
        label,
        source,
        constants: &skin_constants(packed),
        layouts: &[&layout, picture_layout],
        blends: false,
        has_depth: true,
    };
    let part = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer: numbers,
        offset: 0,
        size: std::num::NonZeroU64::new(size_of::<DrawNumbers>() as u64),
    });
    let bound = [
        b.view.as_entire_binding(),
        part,
        b.summary.as_entire_binding(),
        b.drawn.as_entire_binding(),
        b.instances.as_entire_binding(),
        b.palettes.as_entire_binding(),
        b.bones.as_entire_binding(),
        b.fixed.as_entire_binding(),
        b.of_bones.as_entire_binding(),
        b.vertices.as_entire_binding(),
    ];
    (
        pipeline(device, &way),
        group(device, label, &layout, &bound),
    )
}
