//! Vertices posed where they are drawn are where the compute pass puts them, to the bit where the card computes alike.

use dermis_gpu::Gpu;
use dermis_gpu::layout::GpuSkin;
use dermis_gpu::skin::{SkinBuffers, SkinPipelines};
use proptest::prelude::*;

use crate::adapter::gpu;
use crate::skins::{Case, case, packings, sizes};

/// Pixels in a row of the picture that vertices are written to: 256 bytes times something, as copies ask for.
const WIDTH: u32 = 64;

/// Each vertex becomes a pixel, whose colour is its position, or its normal in the second picture.
const PROBE: &str = "
struct Probe {
    @builtin(position) clip: vec4f,
    @location(0) @interpolate(flat) position: vec3f,
    @location(1) @interpolate(flat) normal: vec3f,
}
@vertex
fn probe(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Probe {
    let out = posed(slots[vertex], instance);
    let pixel = vec2f(f32(vertex % 64u), f32(vertex / 64u + 2u * instance)) + 0.5;
    let clip = vec2f(pixel.x / 32.0 - 1.0, 1.0 - pixel.y / 2.0);
    return Probe(vec4f(clip, 0.5, 1.0), out.position, out.normal);
}
struct Written { @location(0) position: vec4f, @location(1) normal: vec4f }
@fragment
fn write(in: Probe) -> Written {
    return Written(vec4f(in.position, 1.0), vec4f(in.normal, 1.0));
}";

/// Positions and normals of both instances, read from pictures of 64 by 4 pixels.
fn by_vertex_stage(gpu: &Gpu, case: &Case) -> [[Vec<[f32; 3]>; 2]; 2] {
    let skin = GpuSkin::new(&case.packed).expect("fits");
    let kind = skin.kind;
    let pipelines = SkinPipelines::new(gpu, &[]);
    let mut buffers = SkinBuffers::new(gpu, &pipelines, skin, 2).expect("fits");
    for (instance, frame) in (0..).zip([&case.frame, &case.other]) {
        buffers
            .write_frame(gpu, instance, &frame.inputs())
            .expect("fits");
    }
    let module = SkinPipelines::vertex_module(gpu, kind, PROBE);
    let constants = SkinPipelines::constants(kind);
    let compilation_options = wgpu::PipelineCompilationOptions {
        constants: &constants,
        ..Default::default()
    };
    let groups = pipelines.vertex_layouts().map(Some);
    let layout = gpu
        .device
        .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &groups,
            immediate_size: 0,
        });
    let format = wgpu::TextureFormat::Rgba32Float;
    let pipeline = gpu
        .device
        .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("probe"),
                compilation_options: compilation_options.clone(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState {
                topology: wgpu::PrimitiveTopology::PointList,
                ..Default::default()
            },
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("write"),
                compilation_options,
                targets: &[Some(format.into()), Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
    let size = wgpu::Extent3d {
        width: WIDTH,
        height: 4,
        depth_or_array_layers: 1,
    };
    let textures = [(); 2].map(|()| {
        gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    });
    let views = textures
        .each_ref()
        .map(|t| t.create_view(&Default::default()));
    let targets = views.each_ref().map(|view| {
        Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations::default(),
        })
    });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &targets,
            ..Default::default()
        });
        pass.set_pipeline(&pipeline);
        for (index, group) in (0..).zip(buffers.vertex_groups()) {
            pass.set_bind_group(index, group, &[]);
        }
        pass.draw(0..case.packed.vertex_count() as u32, 0..2);
    }
    let pictures = textures.each_ref().map(|texture| {
        let bytes = u64::from(16 * WIDTH * 4);
        let to = gpu
            .storage_zeros("picture", bytes, wgpu::BufferUsages::empty())
            .expect("fits");
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &to,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(16 * WIDTH),
                    rows_per_image: None,
                },
            },
            size,
        );
        to
    });
    gpu.queue.submit([encoder.finish()]);
    let pixels = pictures.map(|buffer| gpu.read(&buffer).expect("read"));
    [0, 2 * WIDTH as usize].map(|first| {
        pixels.each_ref().map(|bytes| {
            let pixels: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(bytes);
            let own = pixels[first..].iter().take(case.packed.vertex_count());
            own.map(|&[x, y, z, _]| [x, y, z]).collect()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_vertex_stage_equals_run(seed: u64, size in sizes(), kind in 0..4usize, packing in packings()) {
        let Some(gpu) = gpu() else { return Ok(()) };
        let case = case(seed, size, kind, packing);
        let found = by_vertex_stage(gpu, &case);
        for (frame, found) in [&case.frame, &case.other].into_iter().zip(&found) {
            case.check(frame, found, &format!("{:?} {packing:?}", case.kind));
        }
    }
}
