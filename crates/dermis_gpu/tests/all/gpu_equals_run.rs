//! Every shader that skins computes what `run` does, to rounding.

use dermis::run::{FaceNormals, PackOptions, PackedSkin, Precision};
use dermis::synth::{BodyOptions, body};
use dermis_gpu::layout::{GpuSkin, face_table};
use dermis_gpu::skin::{FaceNormalPass, SkinBuffers, SkinPipelines};
use dermis_gpu::{Gpu, GpuError};
use proptest::prelude::*;

use crate::adapter::gpu;
use crate::skins::{Case, case, distance, in_rest_space, packings, sizes};

/// Positions and normals of both instances of a case, by the card.
fn by_gpu(gpu: &Gpu, case: &Case, skin: GpuSkin) -> [[Vec<[f32; 3]>; 2]; 2] {
    let pipelines = SkinPipelines::new(gpu, &[skin.kind]);
    let mut buffers = SkinBuffers::new(gpu, &pipelines, skin, 2).expect("fits");
    for (instance, frame) in (0..).zip([&case.frame, &case.other]) {
        buffers
            .write_frame(gpu, instance, &frame.inputs())
            .expect("fits");
    }
    run(gpu, |pass| {
        buffers.dispatch(&pipelines, pass).expect("its kind")
    });
    let count = case.packed.vertex_count();
    let positions = buffers.read_positions(gpu).expect("read");
    let mut normals = buffers.read_normals(gpu).expect("read");
    normals.resize(2 * count, [0.0; 3]);
    [0, count].map(|first| [&positions, &normals].map(|all| all[first..first + count].to_vec()))
}

fn run(gpu: &Gpu, work: impl FnOnce(&mut wgpu::ComputePass<'_>)) {
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    work(&mut encoder.begin_compute_pass(&Default::default()));
    gpu.queue.submit([encoder.finish()]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_compute_shader_equals_run(seed: u64, size in sizes(), kind in 0..4usize, packing in packings()) {
        let Some(gpu) = gpu() else { return Ok(()) };
        let case = case(seed, size, kind, packing);
        let skin = GpuSkin::new(&case.packed).expect("fits");
        let found = by_gpu(gpu, &case, skin);
        for (frame, found) in [&case.frame, &case.other].into_iter().zip(&found) {
            case.check(frame, found, &format!("{:?} {packing:?}", case.kind));
        }
    }
}

#[test]
fn normals_in_the_space_of_the_rest_pose_are_those_of_tangents() {
    let Some(gpu) = gpu() else { return };
    for seed in 0..10 {
        let (case, skin) = in_rest_space(seed);
        let [found, _] = by_gpu(gpu, &case, skin);
        case.check(&case.frame, &found, "rest space");
    }
}

#[test]
fn a_body_of_thousands_of_vertices_is_posed_and_has_the_normals_of_its_faces() {
    let Some(gpu) = gpu() else { return };
    let body = body(&BodyOptions {
        vertex_count: 4_000,
        influences: 4,
        bone_count: 40,
    });
    let frame_inputs = body
        .skin
        .run_pose_program(&body.pose)
        .expect("its own pose");
    for precision in [Precision::Full, Precision::Quantized16] {
        let options = PackOptions {
            precision,
            ..PackOptions::default()
        };
        let packed = PackedSkin::new(&body.skin, &options).expect("packs");
        let frame = packed.frame(&frame_inputs).expect("fits");
        let skin = GpuSkin::new(&packed).expect("fits");
        let pipelines = SkinPipelines::new(gpu, &[skin.kind]);
        let mut buffers = SkinBuffers::new(gpu, &pipelines, skin, 1).expect("fits");
        buffers.write_frame(gpu, 0, &frame.inputs()).expect("fits");
        let triangles = body.mesh.triangles();
        let table = face_table(triangles, packed.vertex_count()).expect("in range");
        let normals = FaceNormalPass::new(gpu, &table, buffers.positions()).expect("fits");
        run(gpu, |pass| {
            buffers.dispatch(&pipelines, pass).expect("its kind");
            normals.dispatch(pass);
        });
        let found = buffers.read_positions(gpu).expect("read");
        let [expected, _] = crate::skins::by_run(&packed, &frame);
        for (a, b) in found.iter().zip(&expected) {
            assert!(distance(*a, *b) < 1e-5, "{a:?} is not {b:?}");
        }
        // From the same positions: their roundings would turn the smallest faces.
        let faces = FaceNormals::new(triangles, expected.len()).expect("in range");
        let mut of_faces = vec![[0.0; 3]; triangles.len()];
        let mut of_vertices = vec![[0.0; 3]; expected.len()];
        faces
            .evaluate(&found, &mut of_faces, &mut of_vertices)
            .expect("sizes agree");
        let found = normals.read_normals(gpu).expect("read");
        for (a, b) in found.iter().zip(&of_vertices) {
            assert!(distance(*a, *b) < 1e-4, "{a:?} is not {b:?}");
        }
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let Some(gpu) = gpu() else { return };
    let body = body(&BodyOptions {
        vertex_count: 100,
        influences: 2,
        bone_count: 4,
    });
    let packed = PackedSkin::new(&body.skin, &PackOptions::default()).expect("packs");
    let skin = GpuSkin::new(&packed).expect("fits");
    let pipelines = SkinPipelines::new(gpu, &[]);
    let buffers = SkinBuffers::new(gpu, &pipelines, skin, 1).expect("fits");
    run(gpu, |pass| {
        let error = buffers
            .dispatch(&pipelines, pass)
            .expect_err("not among them");
        assert_eq!(error, GpuError::NoPipeline, "no pipeline of this kind");
    });
    let error = buffers
        .write_rows(gpu, 1, &[[0.0; 12]; 4])
        .expect_err("one instance");
    assert_eq!(
        error.to_string(),
        "expected 2 instances, or more, found 1",
        "the second of one"
    );
    let error = buffers
        .write_rows(gpu, 0, &[[0.0; 12]; 3])
        .expect_err("four bones");
    assert_eq!(
        error.to_string(),
        "expected 4 rows of matrices, found 3",
        "too few"
    );
}
