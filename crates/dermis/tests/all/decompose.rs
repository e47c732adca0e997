//! Skinning decomposition does what its documentation states.

use dermis::compare::{ComparatorOptions, truncated_svd};
use dermis::fit::{
    BoneCount, BoneMotion, DecomposeOptions, Decomposition, FitError, KnownRig, LockedWeights,
    Quality, decompose, decompose_onto, join_bones,
};
use dermis::progress::{Progress, Silent};
use dermis::skin::{SsdProgram, VertexProgram};
use dermis::synth::{FlagOptions, TubeOptions, arm, flag, tube};
use dermis::{ExampleSet, MeshAnimation, MeshClip};
use std::sync::atomic::{AtomicUsize, Ordering};

fn animation_of(set: &ExampleSet) -> MeshAnimation {
    let clip = MeshClip {
        name: "clip".to_owned(),
        frames: set.examples().iter().map(|e| e.positions.clone()).collect(),
        frames_per_second: 24.0,
    };
    MeshAnimation::new(set.rest().clone(), vec![clip]).expect("examples are frames")
}

fn arm_animation() -> MeshAnimation {
    animation_of(&arm(&Default::default()).examples)
}

fn small_flag() -> MeshAnimation {
    flag(&FlagOptions {
        width: 24,
        height: 16,
        frame_count: 30,
    })
}

fn with_bones(count: usize) -> DecomposeOptions {
    DecomposeOptions {
        bones: BoneCount::Exactly(count),
        ..DecomposeOptions::default()
    }
}

fn run(animation: &MeshAnimation, options: &DecomposeOptions) -> Decomposition {
    decompose(animation, options, &Silent).expect("options in range")
}

fn program(found: &Decomposition) -> &SsdProgram {
    match &found.skin.program {
        VertexProgram::Ssd(program) => program,
        other => panic!("linear blend skinning, found {}", other.name()),
    }
}

#[test]
fn linear_blend_skinning_is_recovered() {
    let tube = tube(&TubeOptions {
        ring_count: 40,
        segment_count: 16,
        bone_count: 3,
        example_count: 30,
    });
    let animation = animation_of(&tube.examples);
    for motion in [BoneMotion::Affine, BoneMotion::Rigid] {
        let options = DecomposeOptions {
            motion,
            rounds: 200,
            ..with_bones(3)
        };
        let found = run(&animation, &options);
        println!("{motion:?}: E_RMS {}", found.e_rms);
        // Three bones of one linear blend skin move it exactly; the remaining error depends on the number of
        // rounds.
        assert!(found.e_rms < 0.2, "{motion:?}: E_RMS {}", found.e_rms);
    }
}

#[test]
fn no_decomposition_has_a_smaller_error_than_the_svd_of_its_rank() {
    for (name, animation) in [("arm", arm_animation()), ("flag", small_flag())] {
        for bone_count in [1, 2, 4, 7] {
            let options = ComparatorOptions {
                bone_count,
                ..ComparatorOptions::default()
            };
            let bound = truncated_svd(&animation, &options, &Silent).expect("in range");
            for motion in [BoneMotion::Affine, BoneMotion::Rigid] {
                let found = run(
                    &animation,
                    &DecomposeOptions {
                        motion,
                        rounds: 20,
                        ..with_bones(bone_count)
                    },
                );
                assert!(
                    found.e_rms >= bound.e_rms * (1.0 - 1e-9),
                    "{name}, {bone_count} {motion:?} bones: {} below {}",
                    found.e_rms,
                    bound.e_rms
                );
            }
        }
    }
}

#[test]
fn the_error_falls_from_round_to_round() {
    // Early rounds also smooth weights, and when that ends the bones that were tied go on falling.
    for motion in [BoneMotion::Affine, BoneMotion::Rigid] {
        let options = DecomposeOptions {
            motion,
            starts: 1,
            rounds: 40,
            ..with_bones(6)
        };
        let errors = run(&small_flag(), &options).round_errors;
        assert_eq!(errors.len(), 40, "one error per round");
        for (round, pair) in errors.windows(2).enumerate() {
            let rises = pair[1] > pair[0] * (1.0 + 1e-9);
            assert!(!rises, "{motion:?}: {pair:?} after round {round}");
        }
        assert!(errors[39] < 0.8 * errors[0], "{motion:?}: {errors:?}");
    }
}

#[test]
fn weights_are_few_and_convex() {
    for max_influences in [1, 2, 4, 6, 12] {
        let options = DecomposeOptions {
            max_influences,
            rounds: 10,
            ..with_bones(13)
        };
        let found = run(&small_flag(), &options);
        for (vertex, row) in program(&found).weights.iter().enumerate() {
            let sum: f64 = row.iter().map(|w| w.weight).sum();
            assert!((sum - 1.0).abs() < 1e-9, "vertex {vertex}: {row:?}");
            assert!(row.iter().all(|w| w.weight > 0.0), "vertex {vertex}");
            assert!(row.len() <= max_influences, "vertex {vertex}: {row:?}");
        }
    }
}

#[test]
fn rigid_bones_only_turn_and_move() {
    let options = DecomposeOptions {
        motion: BoneMotion::Rigid,
        ..with_bones(5)
    };
    let found = run(&arm_animation(), &options);
    for pose in &found.poses {
        for local in &pose.parent_from_bone {
            let m = local.matrix3;
            let off = (m.transpose() * m - glam::DMat3::IDENTITY).to_cols_array();
            assert!(off.iter().all(|x| x.abs() < 1e-9), "{m}");
            assert!(m.determinant() > 0.0, "no mirror: {m}");
        }
    }
}

#[test]
fn more_time_means_less_error() {
    let animation = arm_animation();
    let error = |quality| {
        let options = DecomposeOptions {
            bones: BoneCount::Exactly(5),
            ..DecomposeOptions::of_quality(quality)
        };
        run(&animation, &options).e_rms
    };
    let [fast, default, best] = [Quality::Fast, Quality::Default, Quality::Best].map(error);
    println!("fast {fast:.3}, default {default:.3}, best {best:.3}");
    assert!(default < fast, "{default} {fast}");
    assert!(best <= default, "{best} {default}");
}

#[test]
fn decompositions_are_the_same_on_any_number_of_threads() {
    let animation = arm_animation();
    for motion in [BoneMotion::Affine, BoneMotion::Rigid] {
        let options = DecomposeOptions {
            motion,
            rounds: 8,
            ..with_bones(6)
        };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let found = pool.expect("a pool").install(|| run(&animation, &options));
            (found.skin, found.poses, found.round_errors)
        };
        assert!(on(1) == on(3), "{motion:?}: bit for bit");
    }
}

#[test]
fn a_target_error_is_reached_with_as_few_bones_as_needed() {
    let animation = arm_animation();
    let options = DecomposeOptions {
        bones: BoneCount::ForError {
            e_rms: 4.0,
            at_most: 40,
        },
        rounds: 30,
        ..DecomposeOptions::default()
    };
    let found = run(&animation, &options);
    let count = found.skin.skeleton.bone_count();
    assert!(found.e_rms <= 4.0, "{} with {count} bones", found.e_rms);
    let fewer = run(
        &animation,
        &DecomposeOptions {
            bones: BoneCount::Exactly(count - 1),
            ..options.clone()
        },
    );
    println!("{count} bones: {}, one fewer: {}", found.e_rms, fewer.e_rms);
    assert!(fewer.e_rms > 4.0, "{count} bones were too many");
    // Out of reach: the result has all allowed bones and an error above the target.
    let missed = run(
        &animation,
        &DecomposeOptions {
            bones: BoneCount::ForError {
                e_rms: 1e-6,
                at_most: 6,
            },
            ..options
        },
    );
    assert_eq!(missed.skin.skeleton.bone_count(), 6, "as many as allowed");
    assert!(missed.e_rms > 1e-6, "and not reached: {}", missed.e_rms);
}

/// Stops after some reports.
struct StopAfter(AtomicUsize);

impl Progress for StopAfter {
    fn report(&self, _stage: &str, _done: usize, _total: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }
}

#[test]
fn a_stopped_job_returns_its_result_so_far() {
    let animation = arm_animation();
    let mut last = f64::INFINITY;
    for rounds in [0, 3, 40] {
        let stop = StopAfter(AtomicUsize::new(rounds));
        let found = decompose(&animation, &with_bones(5), &stop).expect("a first result");
        assert!(found.round_errors.len() <= rounds + 2, "it stops soon");
        assert!(found.e_rms <= last, "{rounds} rounds: {}", found.e_rms);
        last = found.e_rms;
    }
}

#[test]
fn fitting_the_rest_mesh_lowers_the_error_and_can_be_turned_off() {
    let animation = arm_animation();
    let fixed = run(
        &animation,
        &DecomposeOptions {
            update_rest: false,
            ..with_bones(5)
        },
    );
    let fitted = run(&animation, &with_bones(5));
    let rest = animation.rest().positions();
    let kept = program(&fixed).rest_positions.iter().zip(rest);
    assert!(
        kept.into_iter().all(|(a, b)| a.distance(*b) < 1e-12),
        "kept"
    );
    assert!(
        fitted.e_rms < fixed.e_rms,
        "{} {}",
        fitted.e_rms,
        fixed.e_rms
    );
}

#[test]
fn smooth_weights_cost_error_and_are_smoother() {
    let animation = small_flag();
    let roughness = |found: &Decomposition| {
        let dense = |vertex: usize| {
            let mut row = [0.0; 8];
            for w in program(found).weights.row(vertex) {
                row[w.bone.index()] = w.weight;
            }
            row
        };
        let mut sum = 0.0;
        for triangle in animation.rest().triangles() {
            let [a, b] = [triangle[0], triangle[1]].map(|v| dense(v as usize));
            sum += a
                .iter()
                .zip(&b)
                .map(|(x, y)| (x - y) * (x - y))
                .sum::<f64>();
        }
        sum
    };
    let plain = run(&animation, &with_bones(8));
    let smooth = run(
        &animation,
        &DecomposeOptions {
            smoothness: 150.0,
            ..with_bones(8)
        },
    );
    let (rough, fine) = (roughness(&plain), roughness(&smooth));
    println!("{} {rough}; {} {fine}", plain.e_rms, smooth.e_rms);
    assert!(fine < 0.9 * rough, "{rough} {fine}");
    assert!(smooth.e_rms < 3.0 * plain.e_rms, "{}", smooth.e_rms);
}

#[test]
fn joined_bones_turn_in_place_and_report_the_error_before() {
    let animation = arm_animation();
    let options = DecomposeOptions {
        motion: BoneMotion::Rigid,
        ..with_bones(4)
    };
    let free = run(&animation, &options);
    let joined = join_bones(free.clone(), &animation, &options, &Silent).expect("rigid bones");
    assert_eq!(joined.unjoined_e_rms, Some(free.e_rms), "what it was");
    assert!(joined.e_rms >= free.e_rms, "joints are no gift");
    println!("free {:.3}, joined {:.3}", free.e_rms, joined.e_rms);
    let skeleton = &joined.skin.skeleton;
    let roots = skeleton.bones().iter().filter(|bone| bone.parent.is_none());
    assert_eq!(roots.count(), 1, "one tree");
    for (j, bone) in skeleton.bones().iter().enumerate() {
        for pose in &joined.poses {
            let local = pose.parent_from_bone[j];
            let moved = local
                .translation
                .distance(bone.default_parent_from_bone.translation);
            assert!(bone.parent.is_none() || moved < 1e-9, "{} moves", bone.name);
        }
    }
}

#[test]
fn helper_bones_do_not_change_the_rig_and_lower_its_error() {
    let set = arm(&Default::default()).examples;
    let animation = animation_of(&set);
    let all: Vec<usize> = (0..set.examples().len()).collect();
    let fitted = dermis::fit::fit_ssd(&set, &all, &Default::default(), &Silent).expect("a rig");
    let skin = fitted.skin;
    let poses: Vec<_> = set.examples().iter().map(|e| e.pose.clone()).collect();
    let shown: Vec<Vec<_>> = poses
        .iter()
        .map(|p| skin.evaluate(p).expect("its pose"))
        .collect();
    let before = animation.e_rms(shown.iter().map(Vec::as_slice));
    let locked: Vec<bool> = (0..animation.vertex_count()).map(|v| v % 3 == 0).collect();
    let rig = KnownRig {
        skin: &skin,
        poses: Some(&poses),
        locked_weights: LockedWeights::Vertices(locked.clone()),
    };
    let options = DecomposeOptions {
        update_rest: false,
        ..DecomposeOptions::default()
    };
    let found = decompose_onto(&animation, &rig, 3, &options, &Silent).expect("it fits");
    println!("rig {before:.3}, with helpers {:.3}", found.e_rms);
    assert!(found.e_rms < 0.9 * before, "{} {before}", found.e_rms);
    let count = skin.skeleton.bone_count();
    assert_eq!(found.skin.skeleton.bone_count(), count + 3, "three helpers");
    assert_eq!(
        &found.skin.skeleton.bones()[..count],
        skin.skeleton.bones(),
        "as it was"
    );
    for (new, old) in found.poses.iter().zip(&poses) {
        for (a, b) in new.parent_from_bone.iter().zip(&old.parent_from_bone) {
            assert!(a.abs_diff_eq(*b, 1e-9), "{a} {b}");
        }
    }
    let VertexProgram::Ssd(given) = &skin.program else {
        panic!("linear blend skinning");
    };
    for vertex in (0..locked.len()).filter(|&v| locked[v]) {
        let mut old: Vec<_> = given.weights.row(vertex).to_vec();
        let mut new: Vec<_> = program(&found).weights.row(vertex).to_vec();
        old.retain(|w| w.weight != 0.0);
        old.sort_by_key(|w| w.bone);
        new.sort_by_key(|w| w.bone);
        assert_eq!(old, new, "vertex {vertex} is locked");
    }
}

#[test]
fn weights_alone_and_motion_alone_recover_a_known_rig() {
    let tube = tube(&TubeOptions {
        ring_count: 30,
        segment_count: 12,
        bone_count: 4,
        example_count: 20,
    });
    let animation = animation_of(&tube.examples);
    let truth = &tube.truth;
    let poses: Vec<_> = tube
        .examples
        .examples()
        .iter()
        .map(|e| e.pose.clone())
        .collect();
    let VertexProgram::Ssd(good) = &truth.program else {
        panic!("linear blend skinning");
    };
    // Every vertex to the root: weights alone must find the others.
    let mut spoiled = truth.clone();
    let mut weights = dermis::Rows::with_capacity(good.weights.len(), good.weights.len());
    for _ in 0..good.weights.len() {
        weights.push_row([dermis::skin::Weight {
            bone: dermis::BoneId(0),
            weight: 1.0,
        }]);
    }
    spoiled.program = VertexProgram::Ssd(SsdProgram {
        weights,
        ..good.clone()
    });
    let options = DecomposeOptions {
        update_rest: false,
        ..DecomposeOptions::default()
    };
    let only_weights = KnownRig {
        skin: &spoiled,
        poses: Some(&poses),
        locked_weights: LockedWeights::None,
    };
    let found = decompose_onto(&animation, &only_weights, 0, &options, &Silent).expect("fits");
    assert!(found.e_rms < 1e-3, "weights: {}", found.e_rms);
    for motion in [BoneMotion::Affine, BoneMotion::Rigid] {
        let only_motion = KnownRig {
            skin: truth,
            poses: None,
            locked_weights: LockedWeights::All,
        };
        let options = DecomposeOptions {
            motion,
            ..options.clone()
        };
        let found = decompose_onto(&animation, &only_motion, 0, &options, &Silent).expect("fits");
        assert!(found.e_rms < 1e-2, "{motion:?}: {}", found.e_rms);
    }
}

#[test]
fn impossible_requests_are_refused_and_the_option_named() {
    let animation = small_flag();
    let refused = |options: DecomposeOptions, name: &str| {
        let error = decompose(&animation, &options, &Silent).expect_err(name);
        let FitError::BadOption { option, .. } = &error else {
            panic!("{name}: {error}");
        };
        assert_eq!(*option, name, "{error}");
    };
    refused(with_bones(0), "bones");
    refused(with_bones(100_000), "bones");
    refused(with_bones(animation.vertex_count() + 1), "bones");
    for max_influences in [0, 33] {
        let options = DecomposeOptions {
            max_influences,
            ..with_bones(2)
        };
        refused(options, "max_influences");
    }
    let smoothness = f64::NAN;
    refused(
        DecomposeOptions {
            smoothness,
            ..with_bones(2)
        },
        "smoothness",
    );
}

#[test]
fn tiny_and_degenerate_meshes_are_decomposed() {
    let triangle = |frames: usize| {
        let rest = vec![glam::DVec3::ZERO, glam::DVec3::X, glam::DVec3::Y];
        let frame = |f: usize| rest.iter().map(|p| *p * (1.0 + f as f64)).collect();
        let clip = MeshClip {
            name: "grow".to_owned(),
            frames: (0..frames).map(frame).collect(),
            frames_per_second: 24.0,
        };
        let mesh = dermis::TriMesh::new(rest.clone(), vec![[0, 1, 2]]).expect("a triangle");
        MeshAnimation::new(mesh, vec![clip]).expect("frames")
    };
    for (frames, bones) in [(1, 1), (1, 3), (5, 1), (5, 2)] {
        for motion in [BoneMotion::Affine, BoneMotion::Rigid] {
            let options = DecomposeOptions {
                motion,
                ..with_bones(bones)
            };
            let found = run(&triangle(frames), &options);
            assert!(found.e_rms.is_finite(), "{frames} frames, {bones} bones");
            if motion == BoneMotion::Affine {
                assert!(found.e_rms < 1e-6, "one affine motion: {}", found.e_rms);
            }
        }
    }
    // A mesh that stands still, all in one place.
    let still = MeshAnimation::new(
        dermis::TriMesh::new(vec![glam::DVec3::ONE; 5], vec![[0, 1, 2]]).expect("a point"),
        vec![MeshClip {
            name: "still".to_owned(),
            frames: vec![vec![glam::DVec3::ONE; 5]; 3],
            frames_per_second: 24.0,
        }],
    )
    .expect("three frames");
    assert!(run(&still, &with_bones(1)).e_rms < 1e-9, "nothing moves");
}
