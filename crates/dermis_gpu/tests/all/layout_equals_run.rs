//! The buffers that shaders read hold the whole skin: their plain twin computes what `run` does. Needs no graphics card.

use dermis::run::{Frame, Mat3x4, PackOptions, PackedSkin};
use dermis::synth::{BodyOptions, body};
use dermis_gpu::GpuError;
use dermis_gpu::layout::{GpuSkin, PADDING, face_table};
use proptest::prelude::*;

use crate::run_support::{Dice, Kind, Size, random_skin};
use crate::skins::{case, in_rest_space, packings, sizes};

/// Every vertex of an instance by the plain twin.
fn by_twin(skin: &GpuSkin, instance: u32, frames: &[&Frame]) -> [Vec<[f32; 3]>; 2] {
    let palette: Vec<Mat3x4> = frames
        .iter()
        .flat_map(|f| skin.palette(&f.palette))
        .collect();
    let words: Vec<u32> = frames
        .iter()
        .flat_map(|f| skin.coefficients(&f.coefficients))
        .collect();
    let vertices = (0..skin.info.vertices).map(|v| skin.posed(v, instance, &palette, &words));
    vertices
        .map(|v| (v.position, v.normal))
        .collect::<(Vec<_>, Vec<_>)>()
        .into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_plain_twin_of_every_shader_equals_run(seed: u64, size in sizes(), kind in 0..4usize, packing in packings()) {
        let case = case(seed, size, kind, packing);
        let skin = GpuSkin::new(&case.packed).expect("fits");
        let frames = [&case.frame, &case.other];
        for (instance, frame) in frames.into_iter().enumerate() {
            let found = by_twin(&skin, instance as u32, &frames);
            case.check(frame, &found, &format!("{:?} instance {instance}", case.kind));
        }
    }
}

#[test]
fn skins_of_one_character_share_buffers() {
    let size = |vertices| Size {
        vertices,
        bones: 5,
        most_influences: 3,
        corrections: 2,
        proxies: 0,
    };
    let (skin, pose) = random_skin(&mut Dice::new(4), size(70), Kind::Linear);
    // Corrections in 3 numbers and in 4, and one skin without any.
    let levels: Vec<_> = [(70, 4), (33, 5), (20, 7)]
        .map(|(count, seed)| {
            let (level, _) = random_skin(&mut Dice::new(seed), size(count), Kind::Linear);
            dermis::Skin {
                skeleton: skin.skeleton.clone(),
                ..level
            }
        })
        .into_iter()
        .map(|level| PackedSkin::new(&level, &PackOptions::default()).expect("packs"))
        .collect();
    let widths: Vec<_> = levels.iter().map(PackedSkin::correction_width).collect();
    assert!(
        widths.contains(&3) && widths.contains(&4),
        "both: {widths:?}"
    );
    let all = GpuSkin::joined(&levels.iter().collect::<Vec<_>>()).expect("of one kind");
    let inputs = skin.run_pose_program(&pose).expect("fits");
    for (level, part) in levels.iter().zip(&all.parts) {
        let frame = level.frame(&inputs).expect("fits");
        let [positions, _] = by_twin(&all, 0, &[&frame]);
        let own = &positions[part.first_vertex as usize..][..part.vertices as usize];
        let [expected, _] = crate::skins::by_run(level, &frame);
        for (a, b) in own.iter().zip(&expected) {
            assert!(crate::skins::distance(*a, *b) < 1e-4, "{a:?} is not {b:?}");
        }
        for slot in part.first_slot..part.first_slot + part.slots {
            match all.places[slot as usize] {
                PADDING => {}
                vertex => assert_eq!(all.slots[vertex as usize], slot, "the inverse"),
            }
        }
    }
}

#[test]
fn normals_in_the_space_of_the_rest_pose_are_those_of_tangents() {
    for seed in 0..20 {
        let (case, skin) = in_rest_space(seed);
        let found = by_twin(&skin, 0, &[&case.frame]);
        case.check(&case.frame, &found, "rest space");
    }
}

#[test]
fn skins_of_different_kinds_are_refused_in_one_sentence() {
    let body = body(&BodyOptions {
        vertex_count: 100,
        influences: 2,
        bone_count: 4,
    });
    let pack = |skin| PackedSkin::new(skin, &PackOptions::default()).expect("packs");
    let linear = body.skin.to_linear().expect("linear");
    let error = GpuSkin::joined(&[&pack(&body.skin), &pack(&linear)]).expect_err("two kinds");
    assert_eq!(
        error.to_string(),
        "levels of one character must be packed alike: level 0 is linear blend with 0 planes for normals in 32 bits, \
         corrections in 0 bits, level 1 is linear with 0 planes for normals in 32 bits, corrections in 0 bits",
        "both are named"
    );
    let error = GpuSkin::joined(&[]).expect_err("nothing to lay out");
    assert_eq!(
        error.to_string(),
        "expected 1 skins, or more, found 0",
        "nothing"
    );
}

#[test]
fn triangles_of_missing_vertices_are_refused() {
    let table = face_table(&[[0, 1, 2], [2, 1, 3]], 4).expect("all there");
    assert_eq!(
        table.around,
        [5, 6, 8, 10, 11, 0, 0, 1, 0, 1, 1],
        "faces around each vertex"
    );
    let error = face_table(&[[0, 1, 4]], 4).expect_err("no vertex 4");
    assert!(
        matches!(
            error,
            GpuError::CountMismatch {
                expected: 5,
                found: 4,
                ..
            }
        ),
        "{error}"
    );
}
