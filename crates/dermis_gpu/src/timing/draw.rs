//! Skins that are drawn: posed by each pass that draws them, or once before all of them.

use dermis::run::{FrameInputs, Output, PackedSkin};

use super::stopwatch::Stopwatch;
use super::{GpuTimingOptions, Loaded};
use crate::layout::GpuSkin;
use crate::shaders::SkinStage;
use crate::skin::SkinPipelines;
use crate::{Gpu, GpuError};

/// Sides of the picture: small, so that pixels cost little beside vertices.
const SIDE: u32 = 128;

/// What follows a vertex stage here.
const SHADE: &str = "
@fragment
fn shade(in: Shown) -> @location(0) vec4f { return vec4f(0.5 + 0.5 * in.normal, 1.0); }";

/// A vertex stage that takes vertices which are posed already.
const POSED: &str = "
struct Shown { @builtin(position) clip: vec4f, @location(0) position: vec3f, @location(1) normal: vec3f }
@group(0) @binding(0) var<uniform> clip_from_model: mat4x4f;
@vertex
fn vertex(@location(0) position: vec3f, @location(1) normal: vec3f) -> Shown {
    return Shown(clip_from_model * vec4f(position, 1.0), position, normal);
}";

/// What a frame draws.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    /// The skin; it must have normals.
    pub packed: &'a PackedSkin,
    /// Its pose.
    pub inputs: FrameInputs<'a>,
    /// Its triangles.
    pub triangles: &'a [[u32; 3]],
}

/// Nanoseconds per vertex of a vertex stage that poses a skin: each vertex once, as a point outside the picture, so that
/// nothing else is done with it.
///
/// # Errors
/// Those of [`SkinBuffers`](crate::skin::SkinBuffers), and [`GpuError::Lost`].
pub fn time_vertex_stage(
    gpu: &Gpu,
    skin: &GpuSkin,
    inputs: &FrameInputs<'_>,
    options: &GpuTimingOptions,
) -> Result<f64, GpuError> {
    let loaded = Loaded::new(gpu, skin, inputs)?;
    let outside = [[0.0; 4], [0.0; 4], [0.0; 4], [4.0, 4.0, 0.5, 1.0f32]];
    let topology = wgpu::PrimitiveTopology::PointList;
    let scene = Scene::new(gpu, &loaded, SkinStage::Vertex, topology, outside);
    let count = skin.info.vertices;
    let seconds = Stopwatch::new(gpu).typical(options, |encoder, marks, repeats| {
        let mut pass = scene.begin(encoder, marks.render(true, true));
        scene.bind(&loaded, &mut pass);
        (0..repeats).for_each(|_| pass.draw(0..count, 0..1));
        Ok(())
    })?;
    Ok(1e9 * seconds / f64::from(count))
}

/// Nanoseconds per vertex of a frame that draws a skin in so many passes, such as shadows and a picture: posed by the vertex
/// stage of each, or by one compute pass before them.
///
/// # Errors
/// [`RunError::NoNormals`](dermis::run::RunError::NoNormals), those of [`SkinBuffers`](crate::skin::SkinBuffers), and
/// [`GpuError::Lost`].
pub fn time_passes(
    gpu: &Gpu,
    drawn: &Drawn<'_>,
    passes: usize,
    stage: SkinStage,
    options: &GpuTimingOptions,
) -> Result<f64, GpuError> {
    let loaded = Loaded::new(gpu, &GpuSkin::new(drawn.packed)?, &drawn.inputs)?;
    let topology = wgpu::PrimitiveTopology::TriangleList;
    let scene = Scene::new(gpu, &loaded, stage, topology, clip_from_model(drawn)?);
    let corners = drawn.triangles.as_flattened();
    let bytes = bytemuck::cast_slice(corners);
    let index = gpu.storage("triangles", bytes, wgpu::BufferUsages::INDEX)?;
    let count = corners.len() as u32;
    let seconds = Stopwatch::new(gpu).typical(options, |encoder, marks, repeats| {
        for repeat in 0..repeats {
            let [first, last] = [repeat == 0, repeat == repeats - 1];
            let compute = stage == SkinStage::Compute;
            if compute {
                let mut pass = encoder.begin_compute_pass(&marks.compute(first, false));
                loaded.buffers.dispatch(&loaded.pipelines, &mut pass)?;
            }
            for number in 0..passes {
                let begins = first && !compute && number == 0;
                let ends = last && number == passes - 1;
                let mut pass = scene.begin(encoder, marks.render(begins, ends));
                scene.bind(&loaded, &mut pass);
                pass.set_index_buffer(index.slice(..), wgpu::IndexFormat::Uint32);
                pass.draw_indexed(0..count, 0, 0..1);
            }
        }
        Ok(())
    })?;
    Ok(1e9 * seconds / drawn.packed.vertex_count() as f64)
}

/// A matrix that fits the posed skin into the picture, seen along z.
fn clip_from_model(drawn: &Drawn<'_>) -> Result<[[f32; 4]; 4], GpuError> {
    let mut positions = vec![[0.0; 3]; drawn.packed.vertex_count()];
    let mut normals = positions.clone();
    let out = Output::Vertices {
        positions: &mut positions,
        normals: Some(&mut normals),
    };
    drawn.packed.evaluate(&drawn.inputs, out)?;
    let [least, most] = [f32::min, f32::max].map(|pick: fn(f32, f32) -> f32| {
        let all = positions.iter().copied();
        all.reduce(|a, b| [0, 1, 2].map(|c| pick(a[c], b[c])))
            .unwrap_or_default()
    });
    let size = (0..3).map(|c| most[c] - least[c]).fold(1e-6, f32::max);
    let middle = [0, 1, 2].map(|c| 0.5 * (least[c] + most[c]));
    let scale = 1.9 / size;
    Ok([
        [scale, 0.0, 0.0, 0.0],
        [0.0, scale, 0.0, 0.0],
        [0.0, 0.0, 0.25 * scale, 0.0],
        [
            -scale * middle[0],
            -scale * middle[1],
            0.5 - 0.25 * scale * middle[2],
            1.0,
        ],
    ])
}

/// A small picture and a pipeline that draws a skin into it.
struct Scene {
    picture: wgpu::TextureView,
    pipeline: wgpu::RenderPipeline,
    camera: wgpu::BindGroup,
    stage: SkinStage,
}

impl Scene {
    fn new(
        gpu: &Gpu,
        loaded: &Loaded,
        stage: SkinStage,
        topology: wgpu::PrimitiveTopology,
        clip_from_model: [[f32; 4]; 4],
    ) -> Self {
        let kind = loaded.buffers.skin().kind;
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d {
                width: SIDE,
                height: SIDE,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        let uniform = [wgpu::BufferBindingType::Uniform];
        let camera_layout = gpu.group_layout("camera", wgpu::ShaderStages::VERTEX, &uniform);
        let camera = gpu.uniform("camera", bytemuck::bytes_of(&clip_from_model));
        let [skin, frame] = loaded.pipelines.vertex_layouts();
        let (module, groups) = match stage {
            SkinStage::Vertex => (
                SkinPipelines::vertex_module(gpu, kind, SHADE),
                vec![Some(skin), Some(frame), Some(&camera_layout)],
            ),
            SkinStage::Compute => (
                gpu.shader("posed vertices", &format!("{POSED}{SHADE}")),
                vec![Some(&camera_layout)],
            ),
        };
        let constants = SkinPipelines::constants(kind);
        let compilation_options = wgpu::PipelineCompilationOptions {
            constants: match stage {
                SkinStage::Vertex => &constants,
                SkinStage::Compute => &[],
            },
            ..Default::default()
        };
        let attributes = [0, 1].map(|shader_location| wgpu::VertexAttribute {
            format: wgpu::VertexFormat::Float32x3,
            offset: 0,
            shader_location,
        });
        let vertex_buffers = attributes.each_ref().map(|attribute| {
            Some(wgpu::VertexBufferLayout {
                array_stride: 12,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: std::slice::from_ref(attribute),
            })
        });
        let layout = wgpu::PipelineLayoutDescriptor {
            label: Some("drawn skin"),
            bind_group_layouts: &groups,
            immediate_size: 0,
        };
        let pipeline = wgpu::RenderPipelineDescriptor {
            label: Some("drawn skin"),
            layout: Some(&gpu.device.create_pipeline_layout(&layout)),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: compilation_options.clone(),
                buffers: match stage {
                    SkinStage::Vertex => &[],
                    SkinStage::Compute => &vertex_buffers,
                },
            },
            primitive: wgpu::PrimitiveState {
                topology,
                ..Default::default()
            },
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("shade"),
                compilation_options,
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        };
        Self {
            picture: texture.create_view(&Default::default()),
            pipeline: gpu.device.create_render_pipeline(&pipeline),
            camera: gpu.group("camera", &camera_layout, &[&camera]),
            stage,
        }
    }

    fn begin<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        timestamp_writes: Option<wgpu::RenderPassTimestampWrites<'_>>,
    ) -> wgpu::RenderPass<'a> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.picture,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            timestamp_writes,
            ..Default::default()
        })
    }

    fn bind(&self, loaded: &Loaded, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.pipeline);
        match self.stage {
            SkinStage::Vertex => {
                for (index, group) in (0..).zip(loaded.buffers.vertex_groups()) {
                    pass.set_bind_group(index, group, &[]);
                }
                pass.set_bind_group(2, &self.camera, &[]);
            }
            SkinStage::Compute => {
                pass.set_bind_group(0, &self.camera, &[]);
                pass.set_vertex_buffer(0, loaded.buffers.positions().slice(..));
                pass.set_vertex_buffer(1, loaded.buffers.normals().slice(..));
            }
        }
    }
}
