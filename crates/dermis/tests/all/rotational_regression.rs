//! Rotational regression: the facts that the spec states, and behaviour that users rely on.

use std::f64::consts::{PI, TAU};

use dermis::fit::{
    Method, ProxyCount, PsdOptions, RotationalOptions, SsdOptions, fit_full_regression, fit_psd,
    fit_rotational_regression, fit_ssd,
};
use dermis::measure::{measure, measure_predictions};
use dermis::progress::Silent;
use dermis::rig::{BoneId, Skeleton};
use dermis::skin::Skin;
use dermis::synth::{self, ArmOptions, BarOptions};
use dermis::{Example, ExampleSet, Pose, TriMesh, VertexProgram};
use glam::{DAffine3, DQuat, DVec3};

const LENGTH: f64 = 4.0;

/// A square bar along x with `rings` rings of `sides` points.
fn bar(rings: usize, sides: usize) -> TriMesh {
    let mut points = Vec::new();
    for ring in 0..rings {
        let x = LENGTH * ring as f64 / (rings - 1) as f64;
        for side in 0..sides {
            let turn = TAU * side as f64 / sides as f64;
            points.push(DVec3::new(x, 0.5 * turn.cos(), 0.5 * turn.sin()));
        }
    }
    let index = |ring: usize, side: usize| (ring * sides + side % sides) as u32;
    let mut triangles = Vec::new();
    for ring in 0..rings - 1 {
        for side in 0..sides {
            let [a, b] = [index(ring, side), index(ring, side + 1)];
            let [c, d] = [index(ring + 1, side), index(ring + 1, side + 1)];
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    TriMesh::new(points, triangles).expect("a bar")
}

fn two_bones() -> Skeleton {
    let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
    Skeleton::from_rest_frames([
        ("root".to_owned(), None, at(0.0)),
        ("end".to_owned(), Some(BoneId(0)), at(LENGTH / 2.0)),
    ])
    .expect("a chain")
}

/// How far along the joint's turn a point at `x` is: nothing up to a quarter, all from three quarters.
fn share(x: f64) -> f64 {
    ((x / LENGTH - 0.25) * 2.0).clamp(0.0, 1.0)
}

fn example(mesh: &TriMesh, skeleton: &Skeleton, name: &str, turn: DVec3) -> Example {
    let mut pose = skeleton.rest_pose();
    pose.parent_from_bone[1] *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
    let joint = DVec3::X * (LENGTH / 2.0);
    let positions = mesh.positions().iter().map(|p| {
        let part = DQuat::from_scaled_axis(share(p.x) * turn);
        // Skin slides along as it bends, and keeps its girth.
        joint + part * (*p - joint)
    });
    Example {
        name: name.to_owned(),
        positions: positions.collect(),
        pose,
    }
}

fn examples(mesh: TriMesh, turns: &[DVec3]) -> ExampleSet {
    let skeleton = two_bones();
    let examples = (turns.iter().enumerate())
        .map(|(k, turn)| example(&mesh, &skeleton, &format!("pose {k}"), *turn))
        .collect();
    ExampleSet::new(mesh, skeleton, examples).expect("examples")
}

fn enveloping_error(skin: &Skin, set: &ExampleSet, which: &[usize]) -> f64 {
    let measured = measure(skin, set, which).expect("fits");
    measured.total.enveloping_error_percent.expect("not rigid")
}

#[test]
fn fact_9_a_twist_is_learned_from_three_poses() {
    let degrees = [0.0, 90.0, 180.0, 45.0, 120.0, 150.0];
    let turns = degrees.map(|d: f64| DVec3::X * d.to_radians());
    let set = examples(bar(41, 12), &turns);
    let (training, unseen) = ([0, 1, 2], [3, 4, 5]);
    let fitted = fit_rotational_regression(&set, &training, &Default::default(), &Silent)
        .expect("a bar can be fitted");
    let own = enveloping_error(&fitted.skin, &set, &unseen);
    let ssd = fit_ssd(&set, &training, &SsdOptions::default(), &Silent).expect("fits");
    let ssd = enveloping_error(&ssd.skin, &set, &unseen);
    let on_ssd = PsdOptions {
        bases: vec![Method::Ssd(SsdOptions::default())],
        ..PsdOptions::default()
    };
    let psd = fit_psd(&set, &training, &on_ssd, &Silent).expect("fits");
    let psd = enveloping_error(&psd.skin, &set, &unseen);
    println!("EE on unseen poses: rotational regression {own:.2}%, SSD {ssd:.1}%, PSD {psd:.1}%");
    assert!(own < 5.0, "EE {own}%");
    assert!(ssd > 3.0 * own && psd > 3.0 * own, "SSD {ssd}%, PSD {psd}%");
    let seen = enveloping_error(&fitted.skin, &set, &[1, 2]);
    assert!(seen < 5.0, "EE {seen}% on what it saw");
}

#[test]
fn the_default_number_of_proxies_beats_linear_blending_on_held_out_poses() {
    let arm = synth::arm(&ArmOptions {
        poses: synth::arm_motion(24),
        ..ArmOptions::default()
    });
    let bar = synth::bar(&BarOptions {
        turns: bends(16),
        ..BarOptions::default()
    });
    for (name, set) in [("arm", arm.examples), ("bar", bar.examples)] {
        let numbers = || 0..set.examples().len();
        let training: Vec<usize> = numbers().filter(|k| k % 4 != 3).collect();
        let held_out: Vec<usize> = numbers().filter(|k| k % 4 == 3).collect();
        let own = fit_rotational_regression(&set, &training, &Default::default(), &Silent);
        let own = own.expect("fits").skin;
        let ssd = fit_ssd(&set, &training, &SsdOptions::default(), &Silent);
        let ssd = ssd.expect("fits").skin;
        let count = patch_count(&own);
        let [own, ssd] = [own, ssd].map(|skin| enveloping_error(&skin, &set, &held_out));
        println!("{name}: {count} proxies, EE {own:.2}% on held-out poses, SSD {ssd:.2}%");
        assert!(own < 0.2 * ssd, "{name}: EE {own}%, SSD {ssd}%");
    }
}

#[test]
fn the_remainder_of_a_twist_is_linear_so_three_poses_determine_it() {
    let turns = [0.0, 90.0, 180.0, 45.0, 135.0].map(|d: f64| DVec3::X * d.to_radians());
    let set = synth::bar(&BarOptions {
        turns: turns.to_vec(),
        ..BarOptions::default()
    })
    .examples;
    let (training, unseen) = ([0, 1, 2], [3, 4]);
    let full = fit_full_regression(&set, &training, &Default::default(), &Silent).expect("fits");
    let error = measure_predictions(&set, &unseen, |k| {
        Ok(full.evaluate(&set.examples()[k].pose).expect("fits"))
    });
    let error = error.expect("fits").total.enveloping_error_percent;
    let fitted = fit_rotational_regression(&set, &training, &Default::default(), &Silent);
    let reduced = enveloping_error(&fitted.expect("fits").skin, &set, &unseen);
    println!("EE on unseen twists of a square bar: {error:?}, reduced {reduced:.2}%");
    assert!(error.expect("not rigid") < 0.5, "{error:?}");
    assert!(reduced < 3.0, "{reduced}");
}

#[test]
fn a_twist_past_half_a_turn_is_followed() {
    let steps: Vec<DVec3> = (0..=8)
        .map(|k| DVec3::X * (k as f64 * 35.0).to_radians())
        .collect();
    let set = examples(bar(31, 10), &steps);
    let training = [0, 2, 4, 6, 8];
    let fitted = fit_rotational_regression(&set, &training, &Default::default(), &Silent)
        .expect("a bar can be fitted");
    let error = enveloping_error(&fitted.skin, &set, &[1, 3, 5, 7]);
    assert!(error < 5.0, "EE {error}% up to 280 degrees");
    // In any order of the poses.
    let mixed = [6, 0, 8, 4, 2];
    let fitted = fit_rotational_regression(&set, &mixed, &Default::default(), &Silent)
        .expect("a bar can be fitted");
    let error = enveloping_error(&fitted.skin, &set, &[1, 3, 5, 7]);
    assert!(error < 5.0, "EE {error}% from poses in another order");
}

/// The same surface and motions without a common vertex of two triangles.
fn loosened(set: &ExampleSet) -> ExampleSet {
    let corners: Vec<u32> = (set.rest().triangles().iter().flatten()).copied().collect();
    let spread = |points: &[DVec3]| corners.iter().map(|&i| points[i as usize]).collect();
    let triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let mesh = TriMesh::new(spread(set.rest().positions()), triangles.collect());
    let examples = set.examples().iter().map(|example| Example {
        name: example.name.clone(),
        pose: example.pose.clone(),
        positions: spread(&example.positions),
    });
    ExampleSet::new(
        mesh.expect("triangles"),
        set.skeleton().clone(),
        examples.collect(),
    )
    .expect("examples")
}

fn patch_count(skin: &Skin) -> usize {
    skin.pose_program.proxies().map_or(0, |p| p.patches.len())
}

/// Bends and twists of up to 100 degrees that never repeat.
fn bends(count: usize) -> Vec<DVec3> {
    let turn = |k: usize| {
        let phase = |step: f64| 2.0 * ((k + 1) as f64 * step).fract() - 1.0;
        DVec3::new(
            1.6 * phase(0.819_172_5),
            1.2 * phase(0.671_043_6),
            1.2 * phase(0.549_700_5),
        )
    };
    (0..count).map(turn).collect()
}

#[test]
fn fact_10_the_reduced_form_nears_the_full_one_as_proxies_become_triangles() {
    let set = examples(bar(11, 6), &bends(16));
    let training: Vec<usize> = (0..12).collect();
    let options = |count: usize| RotationalOptions {
        proxies: ProxyCount::Exactly(count),
        place_weight: 0.0,
        smallest_share: 0.0,
        ..RotationalOptions::default()
    };
    let full = fit_full_regression(&set, &training, &options(1), &Silent).expect("fits");
    let triangle_count = set.rest().triangles().len();
    assert_eq!(triangle_count, 120, "few enough to have a proxy each");
    let apart = |count: usize| {
        let fitted = fit_rotational_regression(&set, &training, &options(count), &Silent);
        let skin = fitted.expect("fits").skin;
        let mut squared = 0.0;
        for example in &set.examples()[12..] {
            let expected = full.evaluate(&example.pose).expect("fits");
            let found = skin.evaluate(&example.pose).expect("fits");
            let pairs = found.iter().zip(&expected);
            squared += pairs.map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
        }
        (squared / (4 * set.rest().vertex_count()) as f64).sqrt() / LENGTH
    };
    let distances = [4, 16, 120].map(apart);
    println!("between the forms, of the length: {distances:?}");
    assert!(distances[0] > distances[1], "{distances:?}");
    assert!(distances[2] < 1e-4, "a proxy per triangle: {distances:?}");
    assert!(distances[2] < 0.01 * distances[1], "{distances:?}");
    let error = measure_predictions(&set, &[12, 13, 14, 15], |k| {
        Ok(full.evaluate(&set.examples()[k].pose).expect("fits"))
    });
    let error = error.expect("fits").total.enveloping_error_percent;
    assert!(
        error.expect("not rigid") < 10.0,
        "the full form: EE {error:?}"
    );
}

#[test]
fn turning_the_character_only_turns_the_skin() {
    let set = examples(bar(21, 8), &bends(10));
    let training: Vec<usize> = (0..10).collect();
    let options = RotationalOptions {
        proxies: ProxyCount::Exactly(10),
        ..RotationalOptions::default()
    };
    let skin = fit_rotational_regression(&set, &training, &options, &Silent)
        .expect("fits")
        .skin;
    let pose = set.examples()[3].pose.clone();
    let whole = DAffine3::from_scale_rotation_translation(
        DVec3::splat(1.7),
        DQuat::from_scaled_axis(DVec3::new(2.0, -1.0, 0.5)),
        DVec3::new(30.0, -7.0, 11.0),
    );
    let mut moved = pose.clone();
    moved.parent_from_bone[0] = whole * moved.parent_from_bone[0];
    let before = skin.evaluate(&pose).expect("fits");
    let after = skin.evaluate(&moved).expect("fits");
    for (a, b) in before.iter().zip(&after) {
        let expected = whole.transform_point3(*a);
        assert!(expected.distance(*b) < 1e-9, "{b}, not {expected}");
    }
}

#[test]
fn small_shares_of_a_proxy_are_dropped_with_little_effect() {
    let poses = synth::arm_motion(24);
    let set = synth::arm(&ArmOptions {
        poses,
        ..ArmOptions::default()
    })
    .examples;
    let training: Vec<usize> = (0..24).filter(|k| k % 4 != 3).collect();
    let fitted = |smallest_share: f64| {
        let options = RotationalOptions {
            smallest_share,
            ..RotationalOptions::default()
        };
        let fitted = fit_rotational_regression(&set, &training, &options, &Silent);
        fitted.expect("fits").skin
    };
    let (whole, pruned) = (fitted(0.0), fitted(3e-3));
    let share_kept = |skin: &Skin| {
        let proxies = skin.pose_program.proxies().expect("an arm that twists");
        let numbers = || proxies.from_patches.iter().chain(&proxies.from_sources);
        numbers().filter(|x| **x != 0.0).count() as f64 / numbers().count() as f64
    };
    let diagonal = set.rest().bounds().diagonal();
    let mut largest = 0.0_f64;
    for example in set.examples() {
        let pairs = whole.evaluate(&example.pose).expect("fits");
        let pairs = pairs
            .into_iter()
            .zip(pruned.evaluate(&example.pose).expect("fits"));
        largest = pairs
            .map(|(a, b)| a.distance(b) / diagonal)
            .fold(largest, f64::max);
    }
    let kept = share_kept(&pruned);
    println!(
        "{:.0}% of {:.0}% kept; largest difference {largest:.1e}",
        100.0 * kept,
        100.0 * share_kept(&whole)
    );
    assert!(kept < 0.8 * share_kept(&whole), "{kept}");
    assert!((1e-9..2e-2).contains(&largest), "{largest}");
    // Dropped shares go to the proxy's own patch, so that the skin still moves with the whole character.
    let motion = DAffine3::from_rotation_translation(
        DQuat::from_rotation_y(1.0),
        DVec3::new(3.0, -2.0, 5.0),
    );
    let pose = &set.examples()[5].pose;
    let mut moved = pose.clone();
    moved.parent_from_bone[0] = motion * moved.parent_from_bone[0];
    let pairs = pruned.evaluate(pose).expect("fits").into_iter();
    let pairs = pairs.zip(pruned.evaluate(&moved).expect("fits"));
    let off = pairs.map(|(still, moved)| motion.transform_point3(still).distance(moved));
    assert!(
        off.fold(0.0, f64::max) < 1e-9 * diagonal,
        "the whole arm moved"
    );
}

#[test]
fn a_set_that_linear_blending_fits_exactly_gets_no_proxies() {
    let tube = synth::tube(&synth::TubeOptions {
        ring_count: 12,
        segment_count: 8,
        bone_count: 3,
        example_count: 6,
    });
    let training = [0, 1, 2, 3, 4, 5];
    let method = Method::from_key("rotational-regression").expect("it is a method");
    let fitted = method
        .fit(&tube.examples, &training, &Silent)
        .expect("fits");
    assert!(
        fitted.skin.pose_program.proxies().is_none(),
        "no vertex needs a proxy"
    );
    assert_eq!(fitted.skin.skeleton.bone_count(), 3, "nor another bone");
}

#[test]
fn vertices_within_the_rigid_tolerance_follow_the_skeleton() {
    let set = examples(bar(31, 10), &bends(12));
    let training: Vec<usize> = (0..12).collect();
    let held = |rigid_tolerance: f64| {
        let options = RotationalOptions {
            rigid_tolerance,
            ..RotationalOptions::default()
        };
        let fitted = fit_rotational_regression(&set, &training, &options, &Silent).expect("fits");
        let VertexProgram::Ssd(ssd) = &fitted.skin.program else {
            panic!("linear blending, found {}", fitted.skin.program.name());
        };
        let follows_skeleton = |row: &&[dermis::skin::Weight]| row.iter().all(|w| w.bone.0 < 2);
        ssd.weights.iter().filter(follows_skeleton).count()
    };
    let (few, some, all) = (held(0.0), held(5e-4), held(1.0));
    assert!(few <= some && some < all, "{few}, {some}, {all}");
    // A quarter of the bar at each end moves rigidly.
    assert!(some >= 2 * 70, "the ends stay: {some}");
    assert_eq!(all, 310, "everything is near enough");
}

#[test]
fn fewer_proxies_are_chosen_for_a_larger_error() {
    let set = examples(bar(31, 10), &bends(12));
    let training: Vec<usize> = (0..12).collect();
    let fit = |error: f64| {
        let options = RotationalOptions {
            proxies: ProxyCount::TargetError(error),
            ..RotationalOptions::default()
        };
        fit_rotational_regression(&set, &training, &options, &Silent).expect("fits")
    };
    let count = |error: f64| {
        let fitted = fit(error);
        let e_rms = 1000.0 * fitted.round_errors[1] / 3f64.sqrt() / set.unit_ball_radius();
        assert!(e_rms <= error, "{e_rms} was to be at most {error}");
        fitted
            .skin
            .pose_program
            .proxies()
            .map_or(0, |p| p.bones.len())
    };
    let (coarse, fine) = (count(20.0), count(2.0));
    assert!(0 < coarse && coarse < fine, "{coarse} and {fine} proxies");
}

#[test]
fn an_unreachable_target_error_ends_the_search_and_is_reported() {
    let set = examples(bar(31, 10), &bends(12));
    let training: Vec<usize> = (0..12).collect();
    let options = RotationalOptions {
        proxies: ProxyCount::TargetError(1e-9),
        ..RotationalOptions::default()
    };
    let fitted = fit_rotational_regression(&set, &training, &options, &Silent).expect("fits");
    let count = patch_count(&fitted.skin);
    println!("{count} proxies; errors {:?}", fitted.round_errors);
    assert!((16..300).contains(&count), "{count} of 600 triangles");
    let [linear, reached, _] = fitted.round_errors[..] else {
        panic!("three errors, found {:?}", fitted.round_errors);
    };
    let target = 1e-9 / 1000.0 * 3f64.sqrt() * set.unit_ball_radius();
    assert!(target < reached && reached < 0.2 * linear, "{reached}");
}

#[test]
fn loose_triangles_get_as_many_proxies_as_requested() {
    let welded = examples(bar(31, 10), &bends(16));
    let loose = loosened(&welded);
    let training: Vec<usize> = (0..12).collect();
    for count in [4, 10, 60] {
        let options = RotationalOptions {
            proxies: ProxyCount::Exactly(count),
            ..RotationalOptions::default()
        };
        let error = |set: &ExampleSet| {
            let fitted = fit_rotational_regression(set, &training, &options, &Silent);
            let skin = fitted.expect("fits").skin;
            assert_eq!(patch_count(&skin), count, "as many as were asked for");
            enveloping_error(&skin, set, &[12, 13, 14, 15])
        };
        let (of_welded, of_loose) = (error(&welded), error(&loose));
        println!("{count} proxies: EE {of_loose:.2}%, with common vertices {of_welded:.2}%");
        // Linear blending has 45% on a bar with such turns.
        assert!(of_loose < of_welded + 2.0, "{of_loose}, {of_welded}");
    }
}

#[test]
fn fifteen_thousand_loose_triangles_can_be_fitted() {
    let set = loosened(&examples(bar(253, 30), &bends(3)));
    assert_eq!(set.rest().triangles().len(), 15_120, "loose triangles");
    let fitted = fit_rotational_regression(&set, &[0, 1, 2], &Default::default(), &Silent);
    let skin = fitted.expect("fits").skin;
    assert_eq!(patch_count(&skin), 60, "the most that there are by default");
}

#[test]
fn parts_of_a_mesh_without_a_held_vertex_are_placed() {
    // Two bars side by side; every vertex of the second slides, so no blend of bones matches it.
    let one = bar(15, 6);
    let count = one.vertex_count();
    let mut points = one.positions().to_vec();
    points.extend(one.positions().iter().map(|p| *p + DVec3::Y * 3.0));
    let mut triangles = one.triangles().to_vec();
    triangles.extend(one.triangles().iter().map(|t| t.map(|i| i + count as u32)));
    let mesh = TriMesh::new(points, triangles).expect("two bars");
    let skeleton = two_bones();
    let examples: Vec<Example> = (bends(12).iter().enumerate())
        .map(|(k, turn)| {
            let mut made = example(&mesh, &skeleton, &format!("{k}"), *turn);
            for p in &mut made.positions[count..] {
                *p += DVec3::Z * (0.3 * turn.x);
            }
            made
        })
        .collect();
    let set = ExampleSet::new(mesh, skeleton, examples).expect("examples");
    let training: Vec<usize> = (0..10).collect();
    for place_weight in [0.01, 0.0] {
        let options = RotationalOptions {
            place_weight,
            ..RotationalOptions::default()
        };
        let fitted = fit_rotational_regression(&set, &training, &options, &Silent).expect("fits");
        let ssd = fit_ssd(&set, &training, &SsdOptions::default(), &Silent).expect("fits");
        let (own, other) = (
            enveloping_error(&fitted.skin, &set, &[10, 11]),
            enveloping_error(&ssd.skin, &set, &[10, 11]),
        );
        println!("place weight {place_weight}: EE {own:.1}%, SSD {other:.1}%");
        assert!(own < other, "EE {own}% against {other}%");
    }
    fit_full_regression(&set, &training, &Default::default(), &Silent)
        .expect("the full form holds one vertex of each part");
}

#[test]
fn flat_triangles_and_loose_points_do_no_harm() {
    let one = bar(11, 6);
    let mut points = one.positions().to_vec();
    points.push(DVec3::new(1.0, 2.0, 0.0));
    let mut triangles = one.triangles().to_vec();
    triangles.extend([[3, 3, 4], [6, 12, 18]]);
    let set = examples(TriMesh::new(points, triangles).expect("a mesh"), &bends(8));
    let training: Vec<usize> = (0..8).collect();
    let fitted = fit_rotational_regression(&set, &training, &Default::default(), &Silent);
    let skin = fitted.expect("fits").skin;
    for example in set.examples() {
        let found = skin.evaluate(&example.pose).expect("fits");
        assert!(
            found.iter().all(|p| p.is_finite()),
            "every vertex has a place"
        );
    }
    fit_full_regression(&set, &training, &Default::default(), &Silent).expect("and the full form");
}

#[test]
fn fits_are_the_same_on_any_number_of_threads() {
    let set = examples(bar(31, 10), &bends(12));
    let training: Vec<usize> = (0..12).collect();
    let on = |threads: usize, set: &ExampleSet, proxies: ProxyCount| {
        let options = RotationalOptions {
            proxies,
            ..RotationalOptions::default()
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let fit = || fit_rotational_regression(set, &training, &options, &Silent);
        pool.expect("threads").install(fit).expect("fits").skin
    };
    let loose = loosened(&set);
    // The number of parts that are summed differs with the number of proxies.
    for (set, proxies) in [
        (&set, ProxyCount::Automatic),
        (&set, ProxyCount::Exactly(150)),
        (&loose, ProxyCount::Automatic),
    ] {
        let [one, three] = [1, 3].map(|threads| on(threads, set, proxies));
        assert!(one == three, "bit for bit with {proxies:?}");
    }
}

#[test]
fn one_pose_or_one_bone_can_be_fitted() {
    let mesh = bar(11, 6);
    let set = examples(mesh.clone(), &[DVec3::X * PI / 3.0]);
    let fitted = fit_rotational_regression(&set, &[0], &Default::default(), &Silent);
    assert!(fitted.is_ok(), "one pose: {:?}", fitted.err());
    let at = DAffine3::IDENTITY;
    let skeleton = Skeleton::from_rest_frames([("root".to_owned(), None, at)]).expect("a bone");
    let bent = |k: usize| Example {
        name: format!("{k}"),
        pose: Pose::new(vec![at]),
        positions: (mesh.positions().iter())
            .map(|p| *p + DVec3::Y * (0.1 * k as f64 * p.x * p.x))
            .collect(),
    };
    let set = ExampleSet::new(mesh.clone(), skeleton, vec![bent(1), bent(2)]).expect("a set");
    let fitted = fit_rotational_regression(&set, &[0, 1], &Default::default(), &Silent);
    assert!(fitted.is_ok(), "one bone: {:?}", fitted.err());
}

#[test]
fn options_out_of_range_are_refused_by_name() {
    let set = examples(bar(5, 4), &bends(2));
    for (name, options) in [
        (
            "proxy-bones",
            RotationalOptions {
                proxies: ProxyCount::Exactly(0),
                ..RotationalOptions::default()
            },
        ),
        (
            "target-error",
            RotationalOptions {
                proxies: ProxyCount::TargetError(f64::NAN),
                ..RotationalOptions::default()
            },
        ),
        (
            "rigid-tolerance",
            RotationalOptions {
                rigid_tolerance: -1.0,
                ..RotationalOptions::default()
            },
        ),
        (
            "smallest-share",
            RotationalOptions {
                smallest_share: f64::NAN,
                ..RotationalOptions::default()
            },
        ),
        (
            "place-weight",
            RotationalOptions {
                place_weight: f64::INFINITY,
                ..RotationalOptions::default()
            },
        ),
    ] {
        let error = fit_rotational_regression(&set, &[0, 1], &options, &Silent);
        let error = error.expect_err(name).to_string();
        assert!(error.contains(name), "{name}: {error}");
        // Infinity is 0 or more, too.
        let is_true = name == "proxy-bones" || error.contains("is not a finite number");
        assert!(is_true, "{error}");
    }
}
