//! Every fit gives the same result in any unit of length, however small or large.

use dermis::fit::{
    BoneCount, BoneGuess, BoneMotion, BoneOptions, DecomposeOptions, Decomposition, ExampleMesh,
    JointFreedom, KnownRig, LockedWeights, Method, PoseOptions, SsdOptions, decompose,
    decompose_onto, fit_bones, fit_pose, fit_ssd, join_bones,
};
use dermis::measure::{Measures, measure};
use dermis::progress::Silent;
use dermis::rig::Similarity;
use dermis::synth::{TubeOptions, tube};
use dermis::{Example, ExampleSet, MeshAnimation, MeshClip, Skin};
use glam::{DQuat, DVec3};

/// A method to decompose the meshes of a set.
type Way<'a> = &'a dyn Fn(&ExampleSet) -> Decomposition;

/// Factors of the unit; squares of the outer ones are beyond a float.
const SCALES: [f64; 8] = [1e-300, 1e-150, 1e-30, 1e-12, 1e12, 1e30, 1e150, 1e300];

fn scaled_points(points: &[DVec3], scale: f64) -> Vec<DVec3> {
    points.iter().map(|p| scale * *p).collect()
}

fn set() -> ExampleSet {
    let tube = tube(&TubeOptions {
        ring_count: 9,
        segment_count: 6,
        bone_count: 3,
        example_count: 6,
    });
    // A bulge that no skin shows exactly, so that there is an error to compare.
    let set = tube.examples;
    let bulged = set
        .examples()
        .iter()
        .enumerate()
        .map(|(k, example)| Example {
            positions: (example.positions.iter().enumerate())
                .map(|(i, p)| *p * (1.0 + 0.01 * ((i * (k + 1)) as f64).sin()))
                .collect(),
            ..example.clone()
        });
    let bulged = bulged.collect();
    ExampleSet::new(set.rest().clone(), set.skeleton().clone(), bulged).expect("as before")
}

fn scaled(set: &ExampleSet, scale: f64) -> ExampleSet {
    let by = Similarity::new(scale, DQuat::IDENTITY, DVec3::ZERO).expect("above 0");
    let rest = scaled_points(set.rest().positions(), scale);
    let examples = set.examples().iter().map(|example| Example {
        name: example.name.clone(),
        pose: by.pose(set.skeleton(), &example.pose),
        positions: scaled_points(&example.positions, scale),
    });
    ExampleSet::new(
        set.rest().with_positions(rest).expect("as many"),
        by.skeleton(set.skeleton()).expect("as many"),
        examples.collect(),
    )
    .expect("finite")
}

/// The positions of a skin in the poses of a set, in units of its size.
fn shown(skin: &Skin, set: &ExampleSet, scale: f64) -> Vec<DVec3> {
    let positions = set.examples().iter().flat_map(|example| {
        let positions = skin.evaluate(&example.pose).expect("its pose");
        positions.into_iter().map(|p| p / scale).collect::<Vec<_>>()
    });
    positions.collect()
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len(), "as many vertices");
    let off = a.iter().zip(b).map(|(a, b)| a.distance(*b));
    off.fold(0.0, |most, off| if off <= most { most } else { off })
}

#[test]
fn every_method_gives_the_same_fit_at_any_scale() {
    let one = set();
    let which: Vec<usize> = (0..one.examples().len()).collect();
    let percent = |m: &Measures| m.enveloping_error_percent.expect("it moves");
    for method in Method::all(3) {
        let name = method.key();
        let fitted = method.fit(&one, &which, &Silent).expect(name);
        let expected = shown(&fitted.skin, &one, 1.0);
        let measured = measure(&fitted.skin, &one, &which).expect(name).total;
        // Powers of two change no digit, so that ties between equally good bones are decided the same way.
        for exponent in [-996, -498, -100, -40, 40, 100, 498, 996] {
            let scale = 2f64.powi(exponent);
            let other = scaled(&one, scale);
            let found = method.fit(&other, &which, &Silent).expect(name);
            let off = farthest(&expected, &shown(&found.skin, &other, scale));
            assert!(off < 1e-6, "{name} at 2^{exponent}: off by {off:e}");
            for (a, b) in fitted.round_errors.iter().zip(&found.round_errors) {
                assert!(
                    (a - b / scale).abs() < 1e-6,
                    "{name} at 2^{exponent}: {a} {b}"
                );
            }
        }
        for scale in [1e-150, 1e-12, 1e12, 1e150] {
            let other = scaled(&one, scale);
            let found = method.fit(&other, &which, &Silent).expect(name);
            let again = measure(&found.skin, &other, &which).expect(name).total;
            for (a, b) in [
                (measured.e_rms, again.e_rms),
                (percent(&measured), percent(&again)),
            ] {
                assert!((a - b).abs() <= 0.02 * a, "{name} at {scale:e}: {a} {b}");
            }
        }
    }
}

#[test]
fn the_same_poses_are_found_at_any_scale() {
    let one = set();
    let skin = fit_ssd(&one, &[0, 1, 2, 3], &SsdOptions::default(), &Silent).expect("a fit");
    for joints in [JointFreedom::Free, JointFreedom::Turn, JointFreedom::Affine] {
        let options = PoseOptions {
            joints,
            ..PoseOptions::default()
        };
        let solve = |skin: &Skin, set: &ExampleSet| {
            let start = skin.skeleton.rest_pose();
            fit_pose(skin, &set.examples()[5].positions, &start, &options).expect("a pose")
        };
        let expected = solve(&skin.skin, &one);
        let places = skin.skin.evaluate(&expected.pose).expect("its pose");
        for scale in SCALES {
            let by = Similarity::new(scale, DQuat::IDENTITY, DVec3::ZERO).expect("above 0");
            let (other, moved) = (scaled(&one, scale), skin.skin.moved(&by).expect("linear"));
            let found = solve(&moved, &other);
            let positions = moved.evaluate(&found.pose).expect("its pose");
            let off = farthest(&places, &scaled_points(&positions, 1.0 / scale));
            assert!(off < 1e-6, "{joints:?} at {scale:e}: off by {off:e}");
            let distance = found.rms_distance / scale;
            assert!(
                (distance - expected.rms_distance).abs() < 1e-6,
                "{joints:?} at {scale:e}: {distance} {}",
                expected.rms_distance
            );
        }
    }
}

#[test]
fn the_same_bones_are_found_at_any_scale() {
    let one = set();
    let find = |set: &ExampleSet| {
        let meshes: Vec<ExampleMesh> = (set.examples().iter())
            .map(|example| ExampleMesh {
                name: example.name.clone(),
                positions: example.positions.clone(),
            })
            .collect();
        let guess = BoneGuess::Count(3);
        let options = BoneOptions::default();
        fit_bones(set.rest(), &meshes, &guess, &options, &Silent).expect("bones")
    };
    let expected = find(&one);
    for scale in SCALES {
        let found = find(&scaled(&one, scale));
        assert_eq!(found.cores, expected.cores, "at {scale:e}");
        for (a, b) in expected.round_errors.iter().zip(&found.round_errors) {
            assert!((a - b / scale).abs() < 1e-6, "{scale:e}: {a} {b:e}");
        }
    }
}

fn animation(set: &ExampleSet) -> MeshAnimation {
    let clip = MeshClip {
        name: "tube".to_owned(),
        frames: set.examples().iter().map(|e| e.positions.clone()).collect(),
        frames_per_second: 24.0,
    };
    MeshAnimation::new(set.rest().clone(), vec![clip]).expect("frames")
}

#[test]
fn decompositions_are_the_same_at_any_scale() {
    let one = set();
    let options = |motion| DecomposeOptions {
        bones: BoneCount::Exactly(3),
        motion,
        rounds: 8,
        ..DecomposeOptions::default()
    };
    let ways: [(&str, Way<'_>); 4] = [
        ("affine", &|set| {
            let options = options(BoneMotion::Affine);
            decompose(&animation(set), &options, &Silent).expect("affine")
        }),
        ("rigid", &|set| {
            let options = options(BoneMotion::Rigid);
            decompose(&animation(set), &options, &Silent).expect("rigid")
        }),
        ("joined", &|set| {
            let (animation, options) = (animation(set), options(BoneMotion::Rigid));
            let free = decompose(&animation, &options, &Silent).expect("rigid");
            join_bones(free, &animation, &options, &Silent).expect("joined")
        }),
        ("onto a rig", &|set| {
            let which: Vec<usize> = (0..set.examples().len()).collect();
            let skin = fit_ssd(set, &which, &SsdOptions::default(), &Silent).expect("a fit");
            let rig = KnownRig {
                skin: &skin.skin,
                poses: None,
                locked_weights: LockedWeights::None,
            };
            let options = options(BoneMotion::Affine);
            decompose_onto(&animation(set), &rig, 1, &options, &Silent).expect("onto a rig")
        }),
    ];
    for (name, way) in ways {
        let expected = way(&one);
        for scale in SCALES {
            let found = way(&scaled(&one, scale));
            let off = (found.e_rms - expected.e_rms).abs();
            // Rounding decides between starts that are nearly as good.
            assert!(
                off < 0.02 * expected.e_rms + 1e-3,
                "{name} at {scale:e}: E_RMS {} {}",
                found.e_rms,
                expected.e_rms
            );
        }
        // A power of two changes no digit.
        let doubled = way(&scaled(&one, 2f64.powi(-40)));
        assert_eq!(doubled.e_rms, expected.e_rms, "{name}: to the last bit");
    }
}
