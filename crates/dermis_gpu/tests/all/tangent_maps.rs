//! R5: a tangent map has the normals of the detailed surface, texel by texel and in every pose.

use dermis::bake::{AtlasOptions, DrawnSurface, MatchOptions, match_surfaces};
use dermis::mesh::vertex_normals;
use dermis::run::{PackOptions, PackedSkin};
use dermis::synth::{Tube, TubeOptions, tube};
use dermis_gpu::layout::{GpuSkin, face_table, texel_table};
use dermis_gpu::skin::{FaceNormalPass, SkinBuffers, SkinPipelines, TangentMapPass};
use glam::DVec3;

use crate::adapter::gpu;

const SIZE: usize = 48;

fn made(ring_count: usize, segment_count: usize) -> Tube {
    tube(&TubeOptions {
        ring_count,
        segment_count,
        bone_count: 3,
        example_count: 4,
    })
}

/// UVs of a tube seen from the side: its farther half is left out, because two halves cannot show one place.
fn side_view(positions: &[DVec3], triangles: &[[u32; 3]]) -> (Vec<[f32; 2]>, Vec<[u32; 3]>) {
    let (low, high) = positions
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
    let place = |p: &DVec3| {
        let at = (*p - low) / (high - low);
        [at.x, at.y].map(|x| (0.05 + 0.9 * x) as f32)
    };
    let is_near = |t: &&[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        (b - a).cross(c - a).z > 0.0
    };
    let near = triangles.iter().filter(is_near).copied().collect();
    (positions.iter().map(place).collect(), near)
}

#[test]
fn fact_r5_texels_have_the_normals_of_the_detailed_surface_in_a_pose() {
    let Some(gpu) = gpu() else { return };
    let (fine, coarse) = (made(40, 24), made(8, 8));
    let pose = &fine.examples.examples()[2].pose;
    let shapes = [
        fine.truth.evaluate(&fine.truth.skeleton.rest_pose()),
        fine.truth.evaluate(pose),
    ]
    .map(|shape| shape.expect("its own pose"));
    let triangles = fine.examples.rest().triangles();
    let normals = [0, 1].map(|k| vertex_normals(&shapes[k], triangles));
    let source = DrawnSurface {
        triangles,
        parts: &[],
        uvs: &[],
        positions: &shapes,
        normals: &normals,
    };
    let rest = coarse.examples.rest().positions().to_vec();
    let (uvs, near) = side_view(&rest, coarse.examples.rest().triangles());
    let flat = vertex_normals(&rest, coarse.examples.rest().triangles());
    let target = DrawnSurface {
        triangles: &near,
        parts: &[],
        uvs: &uvs,
        positions: &[rest],
        normals: &[flat],
    };
    let atlas = AtlasOptions {
        size: SIZE,
        samples: 2,
        ..AtlasOptions::default()
    };
    let map = match_surfaces(&target, &source, atlas, &MatchOptions::default()).expect("tubes");
    let expected = map.object_normals(&source, 1).expect("a pose");

    // Skin, normals of faces, normals of texels: all on the card, in one pass.
    let packed = PackedSkin::new(&fine.truth, &PackOptions::default()).expect("packs");
    let skin = GpuSkin::new(&packed).expect("fits");
    let pipelines = SkinPipelines::new(gpu, &[skin.kind]);
    let mut buffers = SkinBuffers::new(gpu, &pipelines, skin, 1).expect("fits");
    let palette = fine.truth.run_pose_program(pose).expect("its own pose");
    let frame = packed.frame(&palette).expect("fits");
    buffers.write_frame(gpu, 0, &frame.inputs()).expect("fits");
    let faces = face_table(triangles, packed.vertex_count()).expect("in range");
    let of_vertices = FaceNormalPass::new(gpu, &faces, buffers.positions()).expect("fits");
    let gutter = 2;
    let texels = texel_table(&map, triangles, gutter).expect("the same surface");
    let of_texels = TangentMapPass::new(gpu, &texels, of_vertices.normals()).expect("fits");
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        buffers.dispatch(&pipelines, &mut pass).expect("its kind");
        of_vertices.dispatch(&mut pass);
        of_texels.dispatch(&mut pass);
    }
    gpu.queue.submit([encoder.finish()]);
    let found = of_texels.read_map(gpu).expect("read");

    let (mut shown, mut beyond, mut turned) = (0, 0, 0);
    for (texel, expected) in found.iter().zip(&expected) {
        let [x, y, z] = [0, 1, 2].map(|c| f64::from(texel[c]) / 127.0);
        let found = DVec3::new(x, y, z);
        let Some(expected) = expected else {
            beyond += usize::from(found != DVec3::ZERO);
            continue;
        };
        // 8 bits for each coordinate, and two places of two more for the sums of the card.
        let difference = found.distance(*expected);
        assert!(difference < 0.012, "{found} where {expected} should be");
        shown += 1;
        turned += usize::from(expected.z < 0.6);
    }
    assert!(
        shown > 500 && turned > 50,
        "{shown} texels, {turned} turned"
    );
    assert!(beyond > 50, "the gutter shows something: {beyond} texels");
    assert_eq!(
        shown + beyond,
        texels.texel_count(),
        "and nothing else does"
    );
}

#[test]
fn a_table_is_refused_for_another_surface() {
    let fine = made(12, 8);
    let positions = [fine.examples.rest().positions().to_vec()];
    let triangles = fine.examples.rest().triangles();
    let normals = [vertex_normals(&positions[0], triangles)];
    let (uvs, near) = side_view(&positions[0], triangles);
    let surface = |triangles| DrawnSurface {
        triangles,
        parts: &[],
        uvs: &uvs,
        positions: &positions,
        normals: &normals,
    };
    let atlas = AtlasOptions {
        size: 16,
        samples: 1,
        ..AtlasOptions::default()
    };
    let options = MatchOptions::default();
    let map =
        match_surfaces(&surface(&near), &surface(triangles), atlas, &options).expect("a tube");
    let refused = texel_table(&map, &triangles[..2], 0).expect_err("only two triangles");
    assert!(refused.to_string().contains("triangles"), "{refused}");
}
