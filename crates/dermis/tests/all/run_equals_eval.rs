//! The fast evaluation equals the plain one for every kind of skin, every instruction set and any number of
//! threads.

use dermis::run::{
    BlockXyz, CorrectionPrecision, FrameInputs, InstructionSet, Layout, Output, PackOptions,
    PackedSkin, Plane, Precision, RunError, Stores,
};
use dermis::skin::{Correction, LinearProgram, SsdProgram};
use dermis::{Pose, Skin, VertexProgram};
use glam::{DAffine3, DVec3};
use proptest::prelude::*;

use crate::run_support::{Dice, KINDS, Kind, Size, random_skin};

/// The size of the numbers that are summed up for a vertex.
///
/// Rounding to 32 bits moves a result by some units in the 24th bit of this, not of the result:
/// large terms may cancel. All matrices of the skin count, because blocks are shared.
fn magnitude(skin: &Skin, pose: &Pose) -> f64 {
    let inputs = skin.run_pose_program(pose).expect("fits");
    let size = |m: &DAffine3| {
        let linear = m
            .matrix3
            .to_cols_array()
            .iter()
            .fold(0.0, |a: f64, b| a.max(b.abs()));
        3.0 * linear + m.translation.abs().max_element()
    };
    let posed_from_rest = skin.skeleton.posed_from_rest(&inputs.palette);
    let matrices = posed_from_rest
        .iter()
        .chain(&inputs.palette.model_from_bone);
    let matrix = matrices.map(size).fold(1.0, f64::max);
    let point = match &skin.program {
        VertexProgram::Linear(linear) => linear
            .influences
            .iter()
            .map(|row| row.iter().map(|i| i.p.abs().element_sum()).sum::<f64>())
            .fold(1.0, f64::max),
        VertexProgram::MultiWeight(multi) => multi
            .influences
            .iter()
            .map(|row| {
                let weights = row.iter().flat_map(|i| i.weights.as_flattened());
                weights.map(|w| w.abs()).sum::<f64>()
            })
            .fold(2.0, f64::max),
        _ => 3.0,
    };
    let moved = pose.coefficients.iter().map(|c| c.abs()).sum::<f64>();
    matrix * (point + moved)
}

/// Units in the 24th bit of [`magnitude`]: rounding of inputs, of each product and of each sum.
fn tolerance(skin: &Skin, pose: &Pose) -> f64 {
    let roundings = 4 * skin.program.max_influences() + 24;
    roundings as f64 * magnitude(skin, pose) * f64::from(f32::EPSILON) / 2.0
}

fn shown(packed: &PackedSkin, skin: &Skin, pose: &Pose) -> Vec<[f32; 3]> {
    let inputs = skin.run_pose_program(pose).expect("fits");
    let frame = packed.frame(&inputs).expect("fits");
    let mut positions = vec![[f32::NAN; 3]; skin.vertex_count()];
    let out = Output::Vertices {
        positions: &mut positions,
        normals: None,
    };
    packed.evaluate(&frame.inputs(), out).expect("sizes agree");
    positions
}

fn largest_difference(fast: &[[f32; 3]], plain: &[DVec3]) -> f64 {
    assert_eq!(fast.len(), plain.len(), "one result per vertex");
    fast.iter()
        .zip(plain)
        .map(|(a, b)| DVec3::from_array(a.map(f64::from)).distance(*b))
        .fold(0.0, |a, b| {
            if b >= 0.0 {
                f64::max(a, b)
            } else {
                f64::INFINITY
            }
        })
}

fn sizes() -> impl Strategy<Value = Size> {
    (0..80usize, 1..9usize, 0..=12usize, 0..3usize, 0..7usize).prop_map(
        |(vertices, bones, most_influences, corrections, proxies)| Size {
            vertices,
            bones,
            most_influences,
            corrections,
            // In half of them.
            proxies: proxies.saturating_sub(3),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_program_equals_the_plain_evaluation_on_every_instruction_set(seed: u64, size in sizes(), kind in 0..4usize) {
        let kind = KINDS[kind];
        let (skin, pose) = random_skin(&mut Dice::new(seed), size, kind);
        let plain = skin.evaluate(&pose).expect("fits");
        let mut allowed = tolerance(&skin, &pose);
        if kind == Kind::DualQuaternion {
            // Quaternions that nearly cancel magnify rounding by one over their squared length.
            allowed *= 100.0;
        }
        for set in InstructionSet::available() {
            for layout in [Layout::Sorted, Layout::CallerOrder] {
                let instruction_set = Some(set);
                let options = PackOptions { layout, instruction_set, ..PackOptions::default() };
                if (layout, kind) == (Layout::CallerOrder, Kind::DualQuaternion) {
                    prop_assert!(PackedSkin::new(&skin, &options).is_err(), "refused");
                    continue;
                }
                let packed = PackedSkin::new(&skin, &options).expect("packs");
                let off = largest_difference(&shown(&packed, &skin, &pose), &plain);
                prop_assert!(
                    off <= allowed,
                    "{kind:?} {set:?} {layout:?}: off by {off:e}, allowed {allowed:e}"
                );
            }
        }
    }
}

#[test]
fn blocks_hold_the_vertices_listed_in_vertex_order() {
    let size = Size {
        vertices: 333,
        bones: 7,
        most_influences: 3,
        corrections: 1,
        proxies: 0,
    };
    for kind in KINDS {
        let (skin, pose) = random_skin(&mut Dice::new(5), size, kind);
        for stores in [Stores::Cached, Stores::Streamed] {
            let options = PackOptions {
                stores,
                ..PackOptions::default()
            };
            let packed = PackedSkin::new(&skin, &options).expect("packs");
            let expected = shown(&packed, &skin, &pose);
            let frame = packed
                .frame(&skin.run_pose_program(&pose).expect("fits"))
                .expect("fits");
            let mut blocks: Vec<BlockXyz> = vec![[Plane::ZERO; 3]; packed.block_count()];
            let out = Output::Blocks {
                positions: &mut blocks,
                normals: None,
            };
            packed.evaluate(&frame.inputs(), out).expect("sizes agree");
            let mut seen = 0;
            for (slot, vertex) in packed.vertex_order().enumerate() {
                let Some(vertex) = vertex else { continue };
                let at = [0, 1, 2].map(|c| blocks[slot / 16][c].0[slot % 16]);
                assert_eq!(at, expected[vertex as usize], "vertex {vertex} of {kind:?}");
                assert_eq!(packed.slots()[vertex as usize], slot as u32, "the inverse");
                seen += 1;
            }
            assert_eq!(seen, 333, "each vertex has a slot");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let size = Size {
        vertices: 9_000,
        bones: 12,
        most_influences: 4,
        corrections: 2,
        proxies: 0,
    };
    for kind in KINDS {
        let (skin, pose) = random_skin(&mut Dice::new(8), size, kind);
        let packed = PackedSkin::new(&skin, &PackOptions::default()).expect("packs");
        let one = shown(&packed, &skin, &pose);
        let frame = packed
            .frame(&skin.run_pose_program(&pose).expect("fits"))
            .expect("fits");
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            let mut crowd = vec![vec![[f32::NAN; 3]; size.vertices]; 3];
            pool.install(|| {
                let outs = crowd.iter_mut().map(|positions| Output::Vertices {
                    positions,
                    normals: None,
                });
                let frames = outs.map(|out| (frame.inputs(), out));
                packed.evaluate_crowd(frames).expect("sizes agree");
            });
            for member in &crowd {
                assert!(*member == one, "{kind:?} on {threads} threads");
            }
            let mut blocks = [0, 1].map(|_| vec![[Plane::ZERO; 3]; packed.block_count()]);
            let [single, several] = &mut blocks;
            let out = |positions| Output::Blocks {
                positions,
                normals: None,
            };
            packed
                .evaluate(&frame.inputs(), out(single))
                .expect("sizes agree");
            pool.install(|| packed.evaluate_threaded(&frame.inputs(), out(several)))
                .expect("sizes agree");
            assert!(single == several, "{kind:?} blocks on {threads} threads");
        }
    }
}

#[test]
fn sixteen_bits_stay_within_their_stated_error() {
    let size = Size {
        vertices: 500,
        bones: 6,
        most_influences: 4,
        corrections: 1,
        proxies: 0,
    };
    for kind in KINDS {
        let (skin, pose) = random_skin(&mut Dice::new(13), size, kind);
        let plain = skin.evaluate(&pose).expect("fits");
        let options = PackOptions {
            precision: Precision::Quantized16,
            ..PackOptions::default()
        };
        let packed = PackedSkin::new(&skin, &options).expect("packs");
        let off = largest_difference(&shown(&packed, &skin, &pose), &plain);
        // Each stored number is off by half a step, and a vertex has at most this many of them.
        let numbers = (12 * skin.program.max_influences() + 3) as f64;
        let sensitive = magnitude(&skin, &pose);
        let mut allowed = 0.5 * packed.largest_step() * numbers * sensitive;
        if kind == Kind::DualQuaternion {
            allowed *= 10.0;
        }
        assert!(
            packed.largest_step() > 0.0 && off <= allowed,
            "{kind:?}: off by {off:e}, allowed {allowed:e}"
        );
    }
}

#[test]
fn corrections_of_few_bits_stay_within_their_stated_error() {
    let size = Size {
        vertices: 500,
        bones: 6,
        most_influences: 4,
        corrections: 3,
        proxies: 0,
    };
    for (seed, kind) in (20..28).zip(KINDS.into_iter().cycle()) {
        let (skin, pose) = random_skin(&mut Dice::new(seed), size, kind);
        let mut moved = vec![false; size.vertices];
        match &skin.program {
            VertexProgram::Linear(linear) => {
                for delta in linear.corrections.iter().flat_map(|c| &c.deltas) {
                    let item = delta.index as usize;
                    let rows = &linear.influences;
                    let vertex = (0..rows.len()).find(|&v| rows.range(v).contains(&item));
                    moved[vertex.expect("an influence of a vertex")] = true;
                }
            }
            VertexProgram::Ssd(ssd) => mark(&mut moved, &ssd.corrections),
            VertexProgram::DualQuaternion(dual) => mark(&mut moved, &dual.weighted.corrections),
            VertexProgram::MultiWeight(multi) => mark(&mut moved, &multi.corrections),
            other => panic!("no random skin is {}", other.name()),
        }
        let count = moved.iter().filter(|&&m| m).count();
        assert!(100 < count && count < 400, "some of 500: {count}");
        for set in InstructionSet::available() {
            let full = PackOptions {
                instruction_set: Some(set),
                ..PackOptions::default()
            };
            let exact = PackedSkin::new(&skin, &full).expect("packs");
            assert_eq!(exact.largest_correction_step(), 0.0, "full precision");
            let exact = shown(&exact, &skin, &pose);
            for (correction_precision, most_steps) in [
                (CorrectionPrecision::Bits16, 32767.0),
                (CorrectionPrecision::Bits8, 127.0),
            ] {
                let options = PackOptions {
                    correction_precision,
                    ..full.clone()
                };
                let packed = PackedSkin::new(&skin, &options).expect("packs");
                let step = packed.largest_correction_step();
                // The largest displacement of a coordinate is about 0.3, of an influence less than 1.
                assert!(0.0 < step && step < 1.0 / most_steps, "{kind:?}: {step:e}");
                let found = shown(&packed, &skin, &pose);
                let on: f64 = pose.coefficients.iter().map(|c| c.abs()).sum();
                let numbers = (4 * skin.program.max_influences()) as f64;
                let allowed = 0.5 * step * on * numbers * magnitude(&skin, &pose);
                for v in 0..size.vertices {
                    if !moved[v] {
                        assert_eq!(found[v], exact[v], "{kind:?}: vertex {v} does not move");
                    }
                    let off = (0..3).map(|c| f64::from((found[v][c] - exact[v][c]).abs()));
                    let off = off.fold(0.0, f64::max);
                    assert!(
                        off <= allowed + tolerance(&skin, &pose),
                        "{kind:?}: vertex {v} off by {off:e}, allowed {allowed:e}"
                    );
                }
                assert!(exact != found, "{kind:?}: something is rounded");
            }
        }
    }
}

fn mark(moved: &mut [bool], corrections: &[Correction<DVec3>]) {
    for delta in corrections.iter().flat_map(|c| &c.deltas) {
        moved[delta.index as usize] = true;
    }
}

#[test]
fn a_coefficient_of_zero_changes_no_bit() {
    let size = Size {
        vertices: 200,
        bones: 5,
        most_influences: 3,
        corrections: 4,
        proxies: 0,
    };
    for kind in KINDS {
        let (skin, mut pose) = random_skin(&mut Dice::new(31), size, kind);
        for correction_precision in [
            CorrectionPrecision::Full,
            CorrectionPrecision::Bits16,
            CorrectionPrecision::Bits8,
        ] {
            let options = PackOptions {
                correction_precision,
                ..PackOptions::default()
            };
            let packed = PackedSkin::new(&skin, &options).expect("packs");
            pose.coefficients = vec![0.0; 4];
            let off = shown(&packed, &skin, &pose);
            pose.coefficients[2] = -0.0;
            assert!(shown(&packed, &skin, &pose) == off, "{kind:?}: minus zero");
            pose.coefficients[2] = 1.0;
            assert!(shown(&packed, &skin, &pose) != off, "{kind:?}: one is on");
        }
    }
}

#[test]
fn empty_skins_evaluate_and_wrong_buffers_are_refused() {
    let (skin, _) = random_skin(
        &mut Dice::new(1),
        Size {
            vertices: 1,
            bones: 1,
            most_influences: 1,
            corrections: 0,
            proxies: 0,
        },
        Kind::Ssd,
    );
    for program in [
        VertexProgram::Ssd(SsdProgram::default()),
        VertexProgram::Linear(LinearProgram::default()),
    ] {
        let empty = Skin::new(skin.skeleton.clone(), program, Vec::new()).expect("valid");
        let packed = PackedSkin::new(&empty, &PackOptions::default()).expect("packs");
        assert_eq!(packed.block_count(), 0, "nothing to do");
        assert_eq!(
            shown(&packed, &empty, &skin.skeleton.rest_pose()),
            Vec::<[f32; 3]>::new(),
            "and nothing done"
        );
    }
    let packed = PackedSkin::new(&skin, &PackOptions::default()).expect("packs");
    let nothing = FrameInputs {
        palette: &[],
        coefficients: &[],
    };
    let out = Output::Vertices {
        positions: &mut [[0.0; 3]],
        normals: None,
    };
    let error = packed.evaluate(&nothing, out).expect_err("no matrices");
    assert_eq!(
        error.to_string(),
        "expected 1 palette entries, found 0",
        "both numbers are named"
    );
    let frame = packed
        .frame(
            &skin
                .run_pose_program(&skin.skeleton.rest_pose())
                .expect("fits"),
        )
        .expect("fits");
    let out = Output::Vertices {
        positions: &mut [[0.0; 3]],
        normals: Some(&mut [[0.0; 3]]),
    };
    let error = packed.evaluate(&frame.inputs(), out);
    assert_eq!(error, Err(RunError::NoNormals), "packed without");
}
