//! Linear blend skinning fitted to examples whose answer is known.

use dermis::fit::{FitError, SsdOptions, evaluate_fit, fit_ssd};
use dermis::measure::measure;
use dermis::progress::{Progress, Silent};
use dermis::synth::{ArmOptions, ArmPose, TubeOptions, arm, tube};
use dermis::{ExampleSet, Split, VertexProgram};

fn small_tube() -> dermis::synth::Tube {
    tube(&TubeOptions {
        ring_count: 24,
        segment_count: 8,
        bone_count: 6,
        example_count: 10,
    })
}

fn all(set: &ExampleSet) -> Vec<usize> {
    (0..set.examples().len()).collect()
}

#[test]
fn a_skin_of_the_same_kind_is_recovered_with_its_weights() {
    let tube = small_tube();
    let set = &tube.examples;
    let fitted = fit_ssd(set, &all(set), &SsdOptions::default(), &Silent);
    let fitted = fitted.expect("the tube can be fitted");
    let measured = measure(&fitted.skin, set, &all(set)).expect("its own examples");
    let e_rms = measured.total.e_rms;
    assert!(e_rms < 1e-6, "E_RMS {e_rms}");
    let (VertexProgram::Ssd(found), VertexProgram::Ssd(truth)) =
        (&fitted.skin.program, &tube.truth.program)
    else {
        panic!("both are linear blend skins");
    };
    // Points on the axis do not tell a joint's twist, so their weights may be shared otherwise.
    let last = set.rest().vertex_count() - 1;
    for i in 1..last {
        for w in truth.weights.row(i) {
            let share = found.weights.row(i).iter().find(|f| f.bone == w.bone);
            let share = share.map_or(0.0, |f| f.weight);
            assert!(
                (share - w.weight).abs() < 1e-5,
                "vertex {i}: {:?} against {:?}",
                found.weights.row(i),
                truth.weights.row(i)
            );
        }
    }
}

#[test]
fn moved_rest_positions_are_moved_back() {
    let tube = small_tube();
    let set = &tube.examples;
    let bumpy: Vec<_> = set
        .rest()
        .positions()
        .iter()
        .enumerate()
        .map(|(i, p)| p * (1.0 + 0.02 * (i as f64).sin()))
        .collect();
    let rest = set.rest().with_positions(bumpy).expect("finite");
    let bumpy = ExampleSet::new(rest, set.skeleton().clone(), set.examples().to_vec())
        .expect("same vertices");
    let options = SsdOptions {
        rest_rounds: 8,
        rest_stiffness: 1e-6,
        ..SsdOptions::default()
    };
    let fitted = fit_ssd(&bumpy, &all(&bumpy), &options, &Silent).expect("can be fitted");
    let errors = &fitted.round_errors;
    assert_eq!(errors.len(), 9, "the first weights and eight rounds");
    assert!(
        errors.is_sorted_by(|a, b| a >= b),
        "never worse: {errors:?}"
    );
    assert!(errors[8] < 0.05 * errors[0], "the bumps go: {errors:?}");
}

/// Fact 1 of the specification, its first half: a ring shared equally by two bones that are twisted
/// against each other keeps cos(θ/2) of its radius, and nothing at 180°.
#[test]
fn fact_1_a_twist_leaves_linear_blending_the_cosine_of_half_the_angle() {
    use dermis::skin::{SsdProgram, Weight};
    use dermis::{BoneId, Skeleton, Skin};
    use glam::{DAffine3, DQuat, DVec3};

    let skeleton = Skeleton::from_rest_frames([
        ("left".to_owned(), None, DAffine3::IDENTITY),
        ("right".to_owned(), Some(BoneId(0)), DAffine3::IDENTITY),
    ])
    .expect("two bones");
    let half = |bone| Weight {
        bone: BoneId(bone),
        weight: 0.5,
    };
    let program = SsdProgram {
        rest_positions: vec![DVec3::Y],
        weights: [[half(0), half(1)]].into_iter().collect(),
        corrections: Vec::new(),
    };
    let skin = Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new()).expect("valid");
    for angle_deg in [0.0f64, 30.0, 90.0, 135.0, 180.0] {
        let mut pose = skin.skeleton.rest_pose();
        let twist = DQuat::from_rotation_x(angle_deg.to_radians());
        pose.parent_from_bone[1] = DAffine3::from_quat(twist);
        let radius = skin.evaluate(&pose).expect("fits")[0].length();
        let expected = (0.5 * angle_deg.to_radians()).cos();
        assert!((radius - expected).abs() < 1e-12, "{angle_deg}°: {radius}");
    }
}

#[test]
fn a_half_turn_of_the_arm_is_beyond_linear_blending() {
    let held_out_e_rms = |bend: f64, twist: f64| {
        let pose = |k: usize| ArmPose {
            bend_rad: bend * k as f64 / 8.0,
            twist_rad: twist * k as f64 / 8.0,
        };
        let set = arm(&ArmOptions {
            ring_count: 48,
            segment_count: 16,
            poses: (0..9).map(pose).collect(),
        })
        .examples;
        let options = SsdOptions::default();
        let report = evaluate_fit(&set, &Split::EveryNth(3), |training| {
            fit_ssd(&set, training, &options, &Silent)
        })
        .expect("the arm can be fitted");
        report
            .held_out
            .expect("every third is held out")
            .measured
            .total
            .e_rms
    };
    let gentle = held_out_e_rms(0.4, 0.0);
    let twisted = held_out_e_rms(0.0, std::f64::consts::PI);
    assert!(twisted > 5.0, "a half-turn must show: {twisted}");
    assert!(
        gentle < 0.3 * twisted,
        "a gentle bend is easier: {gentle} against {twisted}"
    );
}

#[test]
fn fact_12_one_thread_and_three_give_the_same_bits() {
    let set = arm(&ArmOptions {
        ring_count: 40,
        segment_count: 16,
        ..ArmOptions::default()
    })
    .examples;
    let fit_on = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool can be made")
            .install(|| {
                let options = SsdOptions {
                    rest_rounds: 2,
                    ..SsdOptions::default()
                };
                evaluate_fit(&set, &Split::EveryNth(4), |training| {
                    fit_ssd(&set, training, &options, &Silent)
                })
                .expect("the arm can be fitted")
            })
    };
    let (one, three) = (fit_on(1), fit_on(3));
    assert_eq!(one.skin, three.skin, "the same skin");
    assert_eq!(one.overall, three.overall, "the same measures");
    assert_eq!(
        one.held_out, three.held_out,
        "the same on held-out examples"
    );
}

#[test]
fn leave_one_out_answers_every_example_with_a_skin_that_has_not_seen_it() {
    let tube = small_tube();
    let set = &tube.examples;
    let mut seen = Vec::new();
    let report = evaluate_fit(set, &Split::LeaveOneOut, |training| {
        seen.push(training.to_vec());
        fit_ssd(set, training, &SsdOptions::default(), &Silent)
    })
    .expect("can be fitted");
    assert_eq!(seen.len(), 11, "one fit to all and ten folds");
    assert_eq!(seen[0].len(), 10, "the skin to keep sees everything");
    assert!(
        (0..10).all(|k| !seen[k + 1].contains(&k)),
        "fold k does not see example k"
    );
    let held_out = report
        .held_out
        .expect("all are held out once")
        .measured
        .total;
    assert_eq!(held_out.example_count, 10, "each measured once");
    assert!(
        held_out.e_rms < 1e-6,
        "an exact skin generalises: {}",
        held_out.e_rms
    );
}

#[test]
fn bones_that_the_poses_cannot_tell_apart_are_named() {
    let mut tube = small_tube();
    let set = &tube.examples;
    let mut examples = set.examples().to_vec();
    for example in &mut examples {
        example.pose.parent_from_bone[3] = set.skeleton().rest_pose().parent_from_bone[3];
        example.positions = tube.truth.evaluate(&example.pose).expect("fits");
    }
    tube.examples =
        ExampleSet::new(set.rest().clone(), set.skeleton().clone(), examples).expect("valid");
    let report = evaluate_fit(&tube.examples, &Split::TrainOnAll, |training| {
        fit_ssd(&tube.examples, training, &SsdOptions::default(), &Silent)
    })
    .expect("still fits");
    assert_eq!(
        report.rig.indistinct,
        [["bone_3".to_owned(), "bone_2".to_owned()]],
        "bone 3 never leaves its parent"
    );
    assert!(report.held_out.is_none(), "nothing was held out");
}

#[test]
fn a_fit_stops_when_told_to() {
    struct StopAtOnce;
    impl Progress for StopAtOnce {
        fn report(&self, _: &str, done: usize, _: usize) -> bool {
            done == 0
        }
    }
    let tube = small_tube();
    let set = &tube.examples;
    let stopped = fit_ssd(set, &all(set), &SsdOptions::default(), &StopAtOnce);
    assert_eq!(
        stopped.err(),
        Some(FitError::Stopped),
        "an error, not half a skin"
    );
}

#[test]
fn senseless_options_are_refused_by_name() {
    let tube = small_tube();
    let set = &tube.examples;
    let options = SsdOptions {
        max_influences: 0,
        ..SsdOptions::default()
    };
    let error = fit_ssd(set, &all(set), &options, &Silent).expect_err("zero bones");
    assert!(error.to_string().contains("max-influences"), "{error}");
    let error = fit_ssd(set, &[], &SsdOptions::default(), &Silent).expect_err("no examples");
    assert!(
        error.to_string().contains("at least one training example"),
        "{error}"
    );
}
