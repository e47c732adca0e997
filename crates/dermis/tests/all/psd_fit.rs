//! Pose space deformation fitted to examples.

use dermis::fit::{FitError, Method, PsdOptions, SsdOptions, evaluate_fit, fit_psd};
use dermis::measure::measure;
use dermis::progress::{Progress, Silent};
use dermis::synth::{ArmOptions, BarOptions, arm, arm_motion, bar};
use dermis::{ExampleSet, Split};
use glam::DVec3;

fn examples() -> ExampleSet {
    arm(&ArmOptions {
        ring_count: 40,
        segment_count: 16,
        poses: arm_motion(30),
    })
    .examples
}

/// Shapes on linear blend skinning, whatever would be better.
fn on_ssd() -> PsdOptions {
    PsdOptions {
        bases: vec![Method::Ssd(SsdOptions::default())],
        ..PsdOptions::default()
    }
}

fn held_out(set: &ExampleSet, method: &Method) -> f64 {
    let fit = |training: &[usize]| method.fit(set, training, &Silent);
    let report = evaluate_fit(set, &Split::EveryNth(4), fit).expect("fits");
    let unseen = report.held_out.expect("every fourth").measured.total;
    unseen.enveloping_error_percent.expect("not rigid")
}

#[test]
fn a_biceps_comes_back_on_poses_that_were_not_seen() {
    let set = examples();
    let plain = held_out(&set, &Method::Ssd(SsdOptions::default()));
    let driven = held_out(&set, &Method::Psd(on_ssd()));
    assert!(
        driven < 0.5 * plain,
        "EE {driven:.2}% against {plain:.2}% of linear blend skinning"
    );
}

/// Three of four examples, and the fourth.
fn parts(set: &ExampleSet) -> [Vec<usize>; 2] {
    let part = |held_out: bool| {
        let numbers = 0..set.examples().len();
        numbers.filter(|k| (k % 4 == 3) == held_out).collect()
    };
    [part(false), part(true)]
}

/// How much farther from the examples a vertex is with shapes than without, at most, as a share of the diagonal.
fn worst_harm(skin: &dermis::Skin, set: &ExampleSet, which: &[usize]) -> f64 {
    let base = skin.without_drivers();
    let mut worst: f64 = 0.0;
    for &k in which {
        let example = &set.examples()[k];
        let [with, without] = [skin, &base].map(|skin| skin.evaluate(&example.pose).expect("fits"));
        for (i, truth) in example.positions.iter().enumerate() {
            worst = worst.max(with[i].distance(*truth) - without[i].distance(*truth));
        }
    }
    worst / set.rest().bounds().diagonal()
}

#[test]
fn a_forearm_twisted_by_180_degrees_is_nowhere_farther_from_the_truth_than_its_base_has_it() {
    let set = examples();
    let [training, unseen] = parts(&set);
    for options in [on_ssd(), PsdOptions::default()] {
        for options in [
            PsdOptions {
                shapes_per_joint: Some(5),
                ..options.clone()
            },
            options,
        ] {
            let fitted = fit_psd(&set, &training, &options, &Silent).expect("fits");
            let harm = [&training, &unseen].map(|which| worst_harm(&fitted.skin, &set, which));
            println!("fitted, held out: {harm:?}");
            assert!(harm[0] < 0.005, "fitted poses: {harm:?}");
            assert!(harm[1] < 0.01, "held-out poses: {harm:?}");
        }
    }
}

#[test]
fn the_base_is_chosen_by_examples_left_out_of_the_training_ones() {
    let set = examples();
    let [training, unseen] = parts(&set);
    let fit = |set: &ExampleSet, options: &PsdOptions| {
        fit_psd(set, &training, options, &Silent).expect("fits")
    };
    let error = |skin: &dermis::Skin| {
        let measured = measure(skin, &set, &unseen).expect("fits").total;
        measured.enveloping_error_percent.expect("not rigid")
    };
    let plain = fit(&set, &on_ssd());
    assert_eq!(plain.base.expect("one").key(), "ssd", "what was asked for");
    let chosen = fit(&set, &PsdOptions::default());
    let key = chosen.base.as_ref().expect("a base").key();
    assert_ne!(key, "ssd", "the forearm collapses on it");
    let [plain, best] = [&plain.skin, &chosen.skin].map(error);
    println!("EE {plain:.2}% on ssd, {best:.2}% on {key}");
    assert!(best < 0.25 * plain, "EE {best:.2}% against {plain:.2}%");

    // Whatever the examples are that the result is judged on: they have no part in it.
    let mut others = set.examples().to_vec();
    for &k in &unseen {
        others[k].positions.reverse();
    }
    let changed = ExampleSet::new(set.rest().clone(), set.skeleton().clone(), others);
    let same = fit(&changed.expect("as many vertices"), &PsdOptions::default());
    assert!(same.skin == chosen.skin, "bit for bit");
}

/// Held-out EE of shapes on a base, and of the base alone.
fn with_and_without_shapes(set: &ExampleSet, base: &Method) -> [f64; 2] {
    let shapes = Method::Psd(PsdOptions {
        bases: vec![base.clone()],
        ..PsdOptions::default()
    });
    [held_out(set, &shapes), held_out(set, base)]
}

/// In these motions the wrist turns first alone and then while the elbow bends, so every turn of a joint is there twice.
/// Left out one at a time, examples would say that shapes can be guessed between turns that are 140 degrees apart.
#[test]
fn from_few_poses_shapes_do_not_swing_out_between_them() {
    for (poses, training) in [(8, 6), (12, 9), (16, 12)] {
        let set = arm(&ArmOptions {
            ring_count: 16,
            segment_count: 8,
            poses: arm_motion(poses),
        })
        .examples;
        for (key, worst) in [
            // Nine poses have no turn of the wrist between 0 and 140 degrees, where linear blending collapses.
            ("ssd", 1.15),
            ("pseudo-bones", 1.0),
            ("rotational-regression", 1.0),
            ("animation-space", 1.0),
        ] {
            let base = Method::from_key(key).expect("a method");
            let [driven, alone] = with_and_without_shapes(&set, &base);
            println!("{training} poses, {key}: EE {driven:.2}%, alone {alone:.2}%");
            assert!(
                driven <= worst * alone,
                "{training} poses, {key}: EE {driven:.2}% against {alone:.2}%"
            );
        }
    }
}

#[test]
fn every_kind_of_base_gains() {
    let set = examples();
    for key in ["animation-space", "dual-quaternion", "pseudo-bones", "mwe"] {
        let base = Method::from_key(key).expect("a method");
        let plain = held_out(&set, &base);
        let driven = held_out(
            &set,
            &Method::Psd(PsdOptions {
                bases: vec![base],
                ..PsdOptions::default()
            }),
        );
        assert!(driven < plain, "{key}: EE {driven:.2}% against {plain:.2}%");
    }
}

#[test]
fn without_smoothing_or_tolerance_every_example_is_met() {
    let set = examples();
    let training: Vec<usize> = (0..set.examples().len()).collect();
    // Narrow, so that thirty poses on a few lines are independent; a forearm half collapsed has
    // directions that nothing brings back, so only the bends.
    let bends: Vec<usize> = training.into_iter().take(8).collect();
    let options = PsdOptions {
        falloff: Some(0.25),
        smoothing: Some(0.0),
        tolerance: 0.0,
        ..on_ssd()
    };
    let fitted = fit_psd(&set, &bends, &options, &Silent).expect("fits");
    for &k in &bends {
        let example = &set.examples()[k];
        let shown = fitted.skin.evaluate(&example.pose).expect("fits");
        let off = shown.iter().zip(&example.positions);
        let off = off.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 1e-6, "example {} is missed by {off}", example.name);
    }
}

#[test]
fn on_skin_that_turns_every_example_is_met_too() {
    let turn = |k: usize| {
        let phase = |step: f64| 2.0 * ((k + 1) as f64 * step).fract() - 1.0;
        DVec3::new(1.6 * phase(0.819), 1.2 * phase(0.671), 1.2 * phase(0.549))
    };
    // The rest pose is an example, too.
    let turns = std::iter::once(DVec3::ZERO).chain((0..11).map(turn));
    let set = bar(&BarOptions {
        ring_count: 25,
        segment_count: 8,
        turns: turns.collect(),
    })
    .examples;
    let training: Vec<usize> = (0..12).collect();
    let base = Method::from_key("rotational-regression").expect("a method");
    let error = |method: &Method| {
        let skin = method.fit(&set, &training, &Silent).expect("fits").skin;
        let measured = measure(&skin, &set, &training).expect("fits").total;
        measured.enveloping_error_percent.expect("not rigid")
    };
    let alone = error(&base);
    let options = PsdOptions {
        bases: vec![base],
        smoothing: Some(0.0),
        tolerance: 0.0,
        ..PsdOptions::default()
    };
    let corrected = error(&Method::Psd(options));
    println!("training EE: {alone:.3}% alone, {corrected:.5}% with shapes");
    assert!(alone > 0.1, "there is something to correct: {alone}%");
    assert!(corrected < 0.01, "EE {corrected}%");
}

#[test]
fn shapes_are_few_and_named_after_their_joints() {
    let set = examples();
    let training: Vec<usize> = (0..set.examples().len()).collect();
    let fitted = fit_psd(&set, &training, &on_ssd(), &Silent).expect("fits");
    let skin = &fitted.skin;
    let drivers: Vec<&str> = skin
        .pose_program
        .drivers
        .iter()
        .map(|d| d.name.as_str())
        .collect();
    assert_eq!(drivers, ["forearm", "hand"], "the joints that turn");
    assert!(
        skin.coefficients.len() < training.len(),
        "{}",
        skin.coefficients.len()
    );
    assert_eq!(skin.posed_coefficient_count(), 0, "all are driven");
    for example in set.examples() {
        let inputs = skin.run_pose_program(&example.pose).expect("fits");
        let largest = inputs
            .coefficients
            .iter()
            .fold(0.0f64, |a, b| a.max(b.abs()));
        assert!(
            largest < 1.0 + 1e-6,
            "coefficients up to 1, found {largest}"
        );
    }
    let rough = PsdOptions {
        tolerance: 5e-3,
        ..on_ssd()
    };
    let rough = fit_psd(&set, &training, &rough, &Silent)
        .expect("fits")
        .skin;
    assert!(rough.coefficients.len() < skin.coefficients.len(), "fewer");
}

#[test]
fn the_same_on_one_thread_and_on_many() {
    let set = examples();
    let training: Vec<usize> = (0..set.examples().len()).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let fit = || fit_psd(&set, &training, &PsdOptions::default(), &Silent);
        pool.expect("a pool").install(fit).expect("fits").skin
    };
    assert!(on(1) == on(3), "bit for bit");
}

#[test]
fn bad_options_are_refused_by_name_and_work_can_be_stopped() {
    let set = examples();
    let refused = |options: PsdOptions| {
        let fitted = fit_psd(&set, &[0, 1, 2], &options, &Silent);
        fitted.expect_err("refused").to_string()
    };
    let nested = PsdOptions {
        bases: vec![Method::Psd(PsdOptions::default())],
        ..PsdOptions::default()
    };
    assert!(refused(nested).contains("its own base"), "no towers");
    let baseless = PsdOptions {
        bases: Vec::new(),
        ..PsdOptions::default()
    };
    assert!(refused(baseless).contains("base: at least one"), "none");
    let options = |change: fn(&mut PsdOptions)| {
        let mut options = PsdOptions::default();
        change(&mut options);
        options
    };
    assert!(
        refused(options(|o| o.falloff = Some(0.0))).contains("falloff"),
        "falloff"
    );
    assert!(
        refused(options(|o| o.smoothing = Some(-1.0))).contains("smoothing"),
        "smoothing"
    );
    assert!(
        refused(options(|o| o.tolerance = f64::NAN)).contains("tolerance"),
        "tolerance"
    );

    struct StopAt(&'static str);
    impl Progress for StopAt {
        fn report(&self, stage: &str, _: usize, _: usize) -> bool {
            stage != self.0
        }
    }
    for (options, stage) in [
        (on_ssd(), "choosing falloffs"),
        (on_ssd(), "solving shapes"),
        (on_ssd(), "combining shapes"),
        (PsdOptions::default(), "trying base ssd: solving shapes"),
    ] {
        let fitted = fit_psd(&set, &[0, 5, 9], &options, &StopAt(stage));
        assert!(
            matches!(fitted, Err(FitError::Stopped)),
            "stopped while {stage}"
        );
    }
}
