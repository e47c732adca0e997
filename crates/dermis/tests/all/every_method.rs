//! The suite that every method must pass: it keeps its promises, and has none but those that it declares.
//!
//! All methods are fitted once to a small arm, which bends, twists and bulges, so that none of them is exact by chance.

use std::sync::LazyLock;

use dermis::fit::{
    Fitted, Method, Promises, PsdOptions, Shown, StockPlayers, Weights, engine_report, evaluate_fit,
};
use dermis::measure::measure;
use dermis::progress::Silent;
use dermis::run::{Output, PackOptions, PackedSkin};
use dermis::synth::{ArmOptions, arm, arm_motion};
use dermis::{ExampleSet, Pose, Skin, Split, VertexProgram};
use glam::{DAffine3, DQuat, DVec3};

const MAX_INFLUENCES: usize = 4;

static ARM: LazyLock<ExampleSet> = LazyLock::new(|| {
    let options = ArmOptions {
        ring_count: 20,
        segment_count: 8,
        poses: arm_motion(12),
    };
    arm(&options).examples
});

/// Every method, fitted on four threads.
static FITS: LazyLock<Vec<(Method, Fitted)>> = LazyLock::new(|| {
    let methods = Method::all(MAX_INFLUENCES).into_iter();
    methods
        .map(|method| {
            let fitted = fit_on(4, &method);
            (method, fitted)
        })
        .collect()
});

fn everything() -> Vec<usize> {
    (0..ARM.examples().len()).collect()
}

fn poses() -> Vec<Pose> {
    ARM.examples().iter().map(|e| e.pose.clone()).collect()
}

fn fit_on(threads: usize, method: &Method) -> Fitted {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let fitted = pool
        .expect("a pool can be made")
        .install(|| method.fit(&ARM, &everything(), &Silent));
    fitted.unwrap_or_else(|error| panic!("{}: {error}", method.key()))
}

/// What was promised of this very fit: on the base that was taken.
fn promises(method: &Method, fitted: &Fitted) -> Promises {
    match (method, &fitted.base) {
        (Method::Psd(options), Some(base)) => Method::Psd(PsdOptions {
            bases: vec![base.clone()],
            ..options.clone()
        })
        .promises(),
        _ => method.promises(),
    }
}

/// The largest distance between two meshes, as a share of the arm's size.
fn apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len(), "the same vertices");
    let distances = a.iter().zip(b).map(|(a, b)| a.distance(*b));
    distances.fold(0.0, f64::max) / ARM.size()
}

#[test]
fn one_thread_and_four_give_the_same_bits() {
    for (method, fitted) in &*FITS {
        let again = fit_on(1, method);
        assert_eq!(fitted.skin, again.skin, "{}", method.key());
        assert_eq!(fitted.base, again.base, "{}", method.key());
    }
}

#[test]
fn no_vertex_has_more_influences_than_asked_for() {
    for (method, fitted) in &*FITS {
        let most = fitted.skin.program.max_influences();
        assert!(most <= MAX_INFLUENCES, "{}: {most}", method.key());
    }
}

#[test]
fn the_fast_evaluation_shows_what_the_plain_one_shows() {
    for (method, fitted) in &*FITS {
        let skin = &fitted.skin;
        let packed = PackedSkin::new(skin, &PackOptions::default()).expect("it can be packed");
        for pose in &poses() {
            let inputs = skin.run_pose_program(pose).expect("the pose fits");
            let frame = packed.frame(&inputs).expect("it fits");
            let mut positions = vec![[f32::NAN; 3]; skin.vertex_count()];
            let out = Output::Vertices {
                positions: &mut positions,
                normals: None,
            };
            packed.evaluate(&frame.inputs(), out).expect("sizes agree");
            let fast: Vec<DVec3> = (positions.iter())
                .map(|p| DVec3::from_array(p.map(f64::from)))
                .collect();
            let plain = skin.evaluate(pose).expect("the pose fits");
            let apart = apart(&fast, &plain);
            assert!(apart < 2e-6, "{}: {apart}", method.key());
        }
    }
}

#[test]
fn a_whole_character_turns_where_that_is_promised_and_only_there() {
    let motion = DAffine3::from_rotation_translation(
        DQuat::from_scaled_axis(DVec3::new(0.3, 1.1, -0.6)),
        DVec3::new(1.0, -2.0, 0.5),
    );
    for (method, fitted) in &*FITS {
        let skin = &fitted.skin;
        let mut most: f64 = 0.0;
        for pose in poses() {
            let mut moved = pose.clone();
            let bones = skin.skeleton.bones().iter();
            for (bone, local) in bones.zip(&mut moved.parent_from_bone) {
                if bone.parent.is_none() {
                    *local = motion * *local;
                }
            }
            let here = skin.evaluate(&pose).expect("the pose fits");
            let expected: Vec<DVec3> = here.iter().map(|p| motion.transform_point3(*p)).collect();
            let found = skin.evaluate(&moved).expect("the pose fits");
            most = most.max(apart(&expected, &found));
        }
        match promises(method, fitted).turns_with_the_character {
            true => assert!(most < 1e-9, "{}: off by {most}", method.key()),
            false => assert!(
                most > 1e-2,
                "{}: {most} is nothing to warn of",
                method.key()
            ),
        }
    }
}

#[test]
fn a_skin_becomes_the_one_kernel_where_that_is_promised_and_only_there() {
    for (method, fitted) in &*FITS {
        let skin = &fitted.skin;
        match (promises(method, fitted).is_linear, skin.to_linear()) {
            (true, Ok(linear)) => {
                for pose in &poses() {
                    let same = skin.evaluate(pose).expect("the pose fits");
                    let found = linear.evaluate(pose).expect("the pose fits");
                    let apart = apart(&same, &found);
                    assert!(apart < 1e-10, "{}: {apart}", method.key());
                }
            }
            (false, Err(_)) => {}
            (promised, found) => panic!("{}: {promised}, {found:?}", method.key()),
        }
    }
}

/// What the weights of a skin are, to rounding.
fn weights_of(skin: &Skin) -> Weights {
    let of = |rows: &mut dyn Iterator<Item = Vec<f64>>| {
        let rows: Vec<Vec<f64>> = rows.collect();
        let sums_to_one = |row: &Vec<f64>| (row.iter().sum::<f64>() - 1.0).abs() < 1e-9;
        match rows.iter().all(sums_to_one) {
            false => Weights::Free,
            true if rows.iter().flatten().all(|weight| *weight >= 0.0) => Weights::Shares,
            true => Weights::SumToOne,
        }
    };
    match &skin.program {
        VertexProgram::Ssd(ssd) => {
            let weights = ssd.weights.iter();
            of(&mut weights.map(|row| row.iter().map(|w| w.weight).collect()))
        }
        VertexProgram::DualQuaternion(dual) => {
            let weights = dual.weighted.weights.iter();
            of(&mut weights.map(|row| row.iter().map(|w| w.weight).collect()))
        }
        VertexProgram::Linear(linear) => {
            let influences = linear.influences.iter();
            of(&mut influences.map(|row| row.iter().map(|i| i.p.w).collect()))
        }
        VertexProgram::MultiWeight(multi) => {
            // Of twelve weights the last column is as good as any: it moves a point wherever it is.
            let influences = multi.influences.iter();
            of(&mut influences.map(|row| row.iter().map(|i| i.weights[0][3]).collect()))
        }
        other => panic!("{}: say what its weights are", other.name()),
    }
}

#[test]
fn weights_are_what_was_promised_and_no_better() {
    for (method, fitted) in &*FITS {
        let promised = promises(method, fitted).weights;
        assert_eq!(weights_of(&fitted.skin), promised, "{}", method.key());
    }
}

#[test]
fn stock_players_show_what_was_promised_and_no_better() {
    for (method, fitted) in &*FITS {
        let skin = &fitted.skin;
        let shown = |plain_exact: bool| {
            Shown::of(skin, &poses(), plain_exact, &Silent).expect("a skin with poses")
        };
        let found = match shown(false) {
            Shown::Itself if skin.without_pose_program() == *skin => StockPlayers::Exact,
            Shown::Itself => StockPlayers::Baked,
            Shown::StandIn { .. } => match shown(true) {
                Shown::Exact(exact) => {
                    for pose in &poses() {
                        let same = skin.evaluate(pose).expect("the pose fits");
                        let found = exact.skin.evaluate(&exact.pose(pose)).expect("it fits");
                        let apart = apart(&same, &found);
                        assert!(apart < 1e-9, "{}: {apart}", method.key());
                    }
                    StockPlayers::StandInOrExact
                }
                _ => StockPlayers::StandIn,
            },
            other => panic!("{}: {other:?}", method.key()),
        };
        let promised = promises(method, fitted).in_stock_players;
        let is_so = match (promised, found) {
            // Shapes on such a base may have an exact form: nobody says so.
            (StockPlayers::StandIn, StockPlayers::StandInOrExact) => fitted.base.is_some(),
            (promised, found) => promised == found,
        };
        assert!(is_so, "{}: {promised:?}, {found:?}", method.key());
    }
}

#[test]
fn the_error_that_is_said_of_a_stand_in_is_that_of_the_skin_that_players_move() {
    for (method, fitted) in &*FITS {
        let report = evaluate_fit(&ARM, &Split::TrainOnAll, |_| Ok(fitted.clone()));
        let report = report.expect("it can be measured");
        let engine = engine_report(&ARM, &report, false, &Silent).expect("it can be shown");
        let moved = engine.shown.skin(&fitted.skin);
        let measured = measure(moved, &ARM, &everything())
            .expect("poses fit")
            .total;
        assert_eq!(engine.overall, measured, "{}", method.key());
        if let Shown::StandIn { skin, fallback } = &engine.shown {
            let model = fitted.skin.without_drivers();
            let plain = skin.without_drivers();
            let mut sum = 0.0;
            for pose in &poses() {
                let [a, b] = [&model, &plain].map(|s| s.evaluate(pose).expect("the pose fits"));
                sum += a
                    .iter()
                    .zip(&b)
                    .map(|(a, b)| a.distance_squared(*b))
                    .sum::<f64>();
            }
            let count = (poses().len() * model.vertex_count()) as f64;
            let rms = (sum / count).sqrt() / model.size().expect("it has one");
            let said = fallback.rms_error;
            assert!(
                (rms - said).abs() <= 1e-9 * said,
                "{}: {said} is said, {rms} is shown",
                method.key()
            );
        }
    }
}

#[test]
fn examples_are_met_with_the_options_that_promise_it() {
    for mut method in Method::all(MAX_INFLUENCES) {
        let settings = method.promises().meets_examples_with;
        if settings.is_empty() {
            continue;
        }
        for (name, value) in settings {
            method.set(name, value).expect("an option of the method");
        }
        // Any base will do where it does not collapse, and one alone saves the time of choosing.
        method.set("base", "ssd").expect("it has a base");
        let bends = [0, 1, 2, 3];
        let fitted = method.fit(&ARM, &bends, &Silent).expect("it fits");
        let measured = measure(&fitted.skin, &ARM, &bends).expect("poses fit");
        let e_rms = measured.total.e_rms;
        assert!(e_rms < 1e-3, "{}: E_RMS {e_rms}", method.key());
    }
    for (method, fitted) in &*FITS {
        let measured = measure(&fitted.skin, &ARM, &everything()).expect("poses fit");
        let e_rms = measured.total.e_rms;
        assert!(
            e_rms > 1e-3,
            "{}: exact without being asked to",
            method.key()
        );
    }
}
