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
    let driven = held_out(&set, &Method::Psd(PsdOptions::default()));
    assert!(
        driven < 0.5 * plain,
        "EE {driven:.2}% against {plain:.2}% of linear blend skinning"
    );
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
                base: Box::new(base),
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
        ..PsdOptions::default()
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
        base: Box::new(base),
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
    let fitted = fit_psd(&set, &training, &PsdOptions::default(), &Silent).expect("fits");
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
        ..PsdOptions::default()
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
        base: Box::new(Method::Psd(PsdOptions::default())),
        ..PsdOptions::default()
    };
    assert!(refused(nested).contains("its own base"), "no towers");
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
    for stage in ["choosing falloffs", "solving shapes", "combining shapes"] {
        let fitted = fit_psd(&set, &[0, 5, 9], &PsdOptions::default(), &StopAt(stage));
        assert!(
            matches!(fitted, Err(FitError::Stopped)),
            "stopped while {stage}"
        );
    }
}
