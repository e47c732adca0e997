//! What is timed runs, and gives numbers that can be times; how long anything takes, no test may say.

use std::time::Duration;

use dermis::mesh::vertex_normals;
use dermis::run::{Normals, PackOptions, PackedSkin};
use dermis::synth::{BodyOptions, body};
use dermis_gpu::GpuError;
use dermis_gpu::layout::{GpuSkin, face_table};
use dermis_gpu::shaders::SkinStage;
use dermis_gpu::timing::{
    Drawn, GpuTimingOptions, time_compute, time_face_normals, time_objects, time_passes,
    time_vertex_stage,
};

use crate::adapter::gpu;

#[test]
fn every_way_of_skinning_can_be_timed() {
    let Some(gpu) = gpu() else { return };
    let body = body(&BodyOptions {
        vertex_count: 300,
        influences: 2,
        bone_count: 8,
    });
    let triangles = body.mesh.triangles();
    let pack = |normals| {
        let options = PackOptions {
            normals,
            ..PackOptions::default()
        };
        PackedSkin::new(&body.skin, &options).expect("packs")
    };
    let rest = vertex_normals(body.mesh.positions(), triangles);
    let packed = pack(Normals::Rest(rest));
    let inputs = body
        .skin
        .run_pose_program(&body.pose)
        .expect("its own pose");
    let frame = packed.frame(&inputs).expect("fits");
    let options = GpuTimingOptions {
        runs: 1,
        run_time: Duration::from_millis(1),
    };
    let drawn = Drawn {
        packed: &packed,
        inputs: frame.inputs(),
        triangles,
    };
    let skin = GpuSkin::new(&packed).expect("fits");
    let table = face_table(triangles, packed.vertex_count()).expect("in range");
    let times = [
        time_compute(gpu, &skin, &frame.inputs(), &options),
        time_vertex_stage(gpu, &skin, &frame.inputs(), &options),
        time_face_normals(gpu, &skin, &frame.inputs(), &table, &options),
        time_objects(gpu, &skin, &frame, 3, &options),
        time_passes(gpu, &drawn, 2, SkinStage::Vertex, &options),
        time_passes(gpu, &drawn, 2, SkinStage::Compute, &options),
    ];
    for (number, time) in times.into_iter().enumerate() {
        let time = time.expect("it can be timed");
        assert!(
            time > 0.0 && time.is_finite(),
            "number {number} took {time}"
        );
    }
    let bare = pack(Normals::None);
    let drawn = Drawn {
        packed: &bare,
        ..drawn
    };
    let error = time_passes(gpu, &drawn, 1, SkinStage::Compute, &options);
    assert!(
        matches!(error, Err(GpuError::Run(_))),
        "no normals to draw: {error:?}"
    );
}
