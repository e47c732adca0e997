//! Characters of files, on the card as on the processor.

use dermis::mesh::vertex_normals;
use dermis::normal::tangents_from_rest_normals;
use dermis::run::{Normals, PackOptions, PackedSkin};
use dermis::{Pose, Skin};
use dermis_gpu::layout::GpuSkin;
use dermis_gpu::skin::{SkinBuffers, SkinPipelines};

use crate::adapter::gpu;
use crate::skins::{by_run, distance};
use crate::support::data;

/// The largest distance between the two, as a share of the character's size, for positions and for unit normals.
fn off(skin: &Skin, pose: &Pose, normals: Normals) -> Option<[f32; 2]> {
    let gpu = gpu()?;
    let options = PackOptions {
        normals,
        ..PackOptions::default()
    };
    let packed = PackedSkin::new(skin, &options).expect("packs");
    let frame = packed
        .frame(&skin.run_pose_program(pose).expect("fits"))
        .expect("fits");
    let layout = GpuSkin::new(&packed).expect("fits");
    let pipelines = SkinPipelines::new(gpu, &[layout.kind]);
    let mut buffers = SkinBuffers::new(gpu, &pipelines, layout, 1).expect("fits");
    buffers.write_frame(gpu, 0, &frame.inputs()).expect("fits");
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    buffers.dispatch(&pipelines, &mut pass).expect("its kind");
    drop(pass);
    gpu.queue.submit([encoder.finish()]);
    let [positions, normals] = by_run(&packed, &frame);
    let most = |found: &[[f32; 3]], expected: &[[f32; 3]]| {
        assert_eq!(found.len(), expected.len(), "all of them");
        let pairs = found.iter().zip(expected);
        pairs.map(|(a, b)| distance(*a, *b)).fold(0.0, f32::max)
    };
    let size = skin.size().expect("it has a size") as f32;
    Some([
        most(&buffers.read_positions(gpu).expect("read"), &positions) / size,
        most(&buffers.read_normals(gpu).expect("read"), &normals),
    ])
}

#[test]
fn characters_of_files_are_posed_as_on_the_processor() {
    for file in ["Fox.glb", "CesiumMan.glb", "RobotExpressive.glb"] {
        let Some(path) = data(&format!("gltf/{file}")) else {
            return;
        };
        let document = dermis_io::read(&path).expect("a file that reads");
        let skin = document.skin.as_ref().expect("a character");
        let clip = document.clips.first().expect("it moves");
        let mut pose = skin.sample(clip, 0.4 * clip.start() + 0.6 * clip.end());
        // Morph targets, where there are some.
        pose.coefficients.iter_mut().for_each(|c| *c = 0.5);
        let rest = vertex_normals(document.mesh.positions(), document.mesh.triangles());
        let linear = skin.to_linear().expect("linear");
        let tangents = tangents_from_rest_normals(&linear, &rest).expect("of this skin");
        for (what, skin, normals) in [
            ("as it is", skin, Normals::Rest(rest)),
            (
                "linear",
                &linear,
                Normals::Tangents(tangents.four_vectors()),
            ),
        ] {
            let Some([positions, normals]) = off(skin, &pose, normals) else {
                return;
            };
            assert!(
                positions < 1e-6,
                "{file} {what}: positions off by {positions:e} of its size"
            );
            assert!(normals < 1e-3, "{file} {what}: normals off by {normals:e}");
        }
    }
}
