//! Multi-weight enveloping fitted to examples with a known solution, and to some that are hard.

use dermis::fit::{
    FitError, InfluenceChoice, InfluenceSets, MultiWeightOptions, Prior, SsdOptions,
    fit_multi_weight, fit_ssd,
};
use dermis::measure::measure;
use dermis::progress::{Progress, Silent};
use dermis::skin::{MultiWeight, MultiWeightProgram};
use dermis::synth::{ArmOptions, Tube, TubeOptions, arm, arm_motion, tube};
use dermis::{Example, ExampleSet, Skin, Split, VertexProgram};

fn tube_of(example_count: usize) -> Tube {
    tube(&TubeOptions {
        ring_count: 16,
        segment_count: 7,
        bone_count: 4,
        example_count,
    })
}

fn small_arm() -> ExampleSet {
    arm(&ArmOptions {
        ring_count: 32,
        segment_count: 12,
        poses: arm_motion(32),
    })
    .examples
}

fn all(set: &ExampleSet) -> Vec<usize> {
    (0..set.examples().len()).collect()
}

fn e_rms(skin: &Skin, set: &ExampleSet, which: &[usize]) -> f64 {
    measure(skin, set, which)
        .expect("same skeleton")
        .total
        .e_rms
}

/// The tube moved by multi-weights drawn by formula, with the bones of the tube's own skin.
fn tube_with_multi_weights(example_count: usize) -> (ExampleSet, InfluenceSets) {
    let tube = tube_of(example_count);
    let VertexProgram::Ssd(ssd) = &tube.truth.program else {
        panic!("the tube is a linear blend skin");
    };
    let mut counter = 0.0;
    let mut any = || {
        counter += 1.0;
        f64::sin(counter * 0.7548) * 0.6
    };
    let influences = ssd
        .weights
        .iter()
        .map(|row| {
            row.iter()
                .map(|w| MultiWeight {
                    bone: w.bone,
                    weights: [(); 3].map(|()| [(); 4].map(|()| w.weight + any())),
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let bones = ssd.weights.iter();
    let sets = bones.map(|row| row.iter().map(|w| w.bone).collect());
    let set = &tube.examples;
    let sets = InfluenceSets::new(sets, set.skeleton().bone_count()).expect("none is empty");
    let program = MultiWeightProgram {
        rest_positions: ssd.rest_positions.clone(),
        influences,
        corrections: Vec::new(),
    };
    let truth = Skin::new(
        set.skeleton().clone(),
        VertexProgram::MultiWeight(program),
        Vec::new(),
    )
    .expect("a valid skin");
    let moved = set.examples().iter().map(|example| Example {
        positions: truth.evaluate(&example.pose).expect("its own pose"),
        ..example.clone()
    });
    let set = ExampleSet::new(set.rest().clone(), set.skeleton().clone(), moved.collect())
        .expect("made in correspondence");
    (set, sets)
}

#[test]
fn a_skin_of_the_same_kind_is_recovered_in_held_out_poses() {
    let (set, sets) = tube_with_multi_weights(60);
    let fold = &set.folds(&Split::EveryNth(4)).expect("60 examples")[0];
    for prior in [Prior::Zero, Prior::Ssd] {
        let options = MultiWeightOptions {
            influences: InfluenceChoice::Given(sets.clone()),
            kept_variance: 1.0,
            lambda: 1e-10,
            prior,
            ..MultiWeightOptions::default()
        };
        let fitted = fit_multi_weight(&set, &fold.training, &options, &Silent).expect("fits");
        let unseen = e_rms(&fitted.skin, &set, &fold.held_out);
        assert!(unseen < 1e-4, "{prior:?}: E_RMS {unseen}");
        assert!(fitted.round_errors[0] < 1e-6, "{:?}", fitted.round_errors);
    }
}

#[test]
fn linear_blend_skinning_is_a_special_case() {
    let tube = tube_of(40);
    let set = &tube.examples;
    let fold = &set.folds(&Split::EveryNth(4)).expect("40 examples")[0];
    let with_zero = MultiWeightOptions {
        prior: Prior::Zero,
        kept_variance: 1.0,
        lambda: 1e-10,
        ..MultiWeightOptions::default()
    };
    for options in [MultiWeightOptions::default(), with_zero] {
        let fitted = fit_multi_weight(set, &fold.training, &options, &Silent).expect("fits");
        let unseen = e_rms(&fitted.skin, set, &fold.held_out);
        assert!(unseen < 1e-4, "{options:?}: E_RMS {unseen}");
    }
}

#[test]
fn a_twisting_arm_is_fitted_better_than_by_linear_blending() {
    let set = small_arm();
    let fold = &set.folds(&Split::EveryNth(4)).expect("32 examples")[0];
    let ssd = fit_ssd(&set, &fold.training, &SsdOptions::default(), &Silent).expect("fits");
    let options = MultiWeightOptions::default();
    let multi = fit_multi_weight(&set, &fold.training, &options, &Silent).expect("fits");
    let (ssd, multi) = (
        e_rms(&ssd.skin, &set, &fold.held_out),
        e_rms(&multi.skin, &set, &fold.held_out),
    );
    assert!(multi < 0.5 * ssd, "held out: {multi} against {ssd}");
}

#[test]
fn fewer_poses_than_unknowns_stay_near_linear_blending() {
    let set = small_arm();
    let training = [4, 9, 22];
    let others: Vec<usize> = (0..32).filter(|k| !training.contains(k)).collect();
    let ssd = fit_ssd(&set, &training, &SsdOptions::default(), &Silent).expect("fits");
    let options = MultiWeightOptions::default();
    let multi = fit_multi_weight(&set, &training, &options, &Silent).expect("fits");
    let on = |which: &[usize]| {
        (
            e_rms(&multi.skin, &set, which),
            e_rms(&ssd.skin, &set, which),
        )
    };
    let (seen, seen_by_ssd) = on(&training);
    assert!(seen < 0.5 * seen_by_ssd, "{seen} against {seen_by_ssd}");
    let (unseen, unseen_by_ssd) = on(&others);
    assert!(
        unseen < 1.5 * unseen_by_ssd,
        "held out: {unseen} against {unseen_by_ssd}"
    );
}

#[test]
fn a_weight_without_effect_keeps_the_value_of_the_prior() {
    let tube = tube_of(20);
    let set = &tube.examples;
    for (prior, expected) in [(Prior::Ssd, 1.0), (Prior::Zero, 0.0)] {
        let options = MultiWeightOptions {
            prior,
            ..MultiWeightOptions::default()
        };
        let fitted = fit_multi_weight(set, &all(set), &options, &Silent).expect("fits");
        let VertexProgram::MultiWeight(multi) = &fitted.skin.program else {
            panic!("multi-weight enveloping");
        };
        // Vertex 0 is the origin: only the last column moves it. The prior's weights sum to 1.
        for (row, column) in [(0, 0), (0, 1), (1, 2), (2, 0)] {
            let bones = multi.influences.row(0).iter();
            let sum: f64 = bones.map(|i| i.weights[row][column]).sum();
            assert!((sum - expected).abs() < 1e-12, "{prior:?}: {sum}");
        }
    }
}

#[test]
fn the_fit_can_be_stopped_and_refuses_options_out_of_range() {
    struct StopAt(&'static str);
    impl Progress for StopAt {
        fn report(&self, stage: &str, done: usize, _: usize) -> bool {
            stage != self.0 || done == 0
        }
    }
    let set = tube_of(6).examples;
    let options = MultiWeightOptions::default();
    for stage in ["fitting weights", "fitting matrix weights"] {
        let stopped = fit_multi_weight(&set, &all(&set), &options, &StopAt(stage));
        assert_eq!(stopped.err(), Some(FitError::Stopped), "while {stage}");
    }
    let other = InfluenceSets::new(vec![vec![dermis::BoneId(0)]], 4).expect("one vertex");
    let beyond: Vec<_> = (0..set.rest().vertex_count())
        .map(|_| vec![dermis::BoneId(7)])
        .collect();
    let beyond = InfluenceSets::new(beyond, 8).expect("eight bones");
    for (name, bad) in [
        (
            "max-influences",
            MultiWeightOptions {
                max_influences: 0,
                ..options.clone()
            },
        ),
        (
            "kept-variance",
            MultiWeightOptions {
                kept_variance: 0.0,
                ..options.clone()
            },
        ),
        (
            "lambda",
            MultiWeightOptions {
                lambda: f64::NAN,
                ..options.clone()
            },
        ),
        (
            "influences",
            MultiWeightOptions {
                influences: InfluenceChoice::Given(other),
                ..options.clone()
            },
        ),
        (
            "influences",
            MultiWeightOptions {
                influences: InfluenceChoice::Given(beyond),
                ..options.clone()
            },
        ),
    ] {
        let error = fit_multi_weight(&set, &all(&set), &bad, &Silent).expect_err(name);
        assert!(error.to_string().contains(name), "{error}");
    }
    let nothing = fit_multi_weight(&set, &[], &options, &Silent);
    assert!(
        matches!(nothing, Err(FitError::NothingToFit { .. })),
        "no examples"
    );
}
