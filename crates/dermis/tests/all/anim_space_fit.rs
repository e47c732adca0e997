//! Animation space fitted to examples with a known solution.

use dermis::fit::{
    AnimSpaceOptions, FitError, Fitted, GlobalSolver, InfluenceChoice, InfluenceSets, Prior,
    Smoothing, SsdOptions, evaluate_fit, fit_anim_space, fit_ssd,
};
use dermis::mesh::TriMesh;
use dermis::progress::{Progress, Silent};
use dermis::skin::Influence;
use dermis::synth::{ArmOptions, TubeOptions, arm, tube};
use dermis::{BoneId, Example, ExampleSet, Pose, Skeleton, Skin, Split, VertexProgram};
use glam::{DAffine3, DMat3, DQuat, DVec3};

fn all(set: &ExampleSet) -> Vec<usize> {
    (0..set.examples().len()).collect()
}

fn fit(set: &ExampleSet, options: &AnimSpaceOptions) -> Fitted {
    fit_anim_space(set, &all(set), options, &Silent).expect("can be fitted")
}

fn vectors(skin: &Skin) -> Vec<Vec<Influence>> {
    match &skin.program {
        VertexProgram::Linear(linear) => linear.influences.iter().map(<[_]>::to_vec).collect(),
        other => panic!("expected animation space, found {}", other.name()),
    }
}

fn small_arm() -> ExampleSet {
    arm(&ArmOptions {
        ring_count: 24,
        segment_count: 8,
        ..ArmOptions::default()
    })
    .examples
}

fn small_tube() -> dermis::synth::Tube {
    tube(&TubeOptions {
        ring_count: 24,
        segment_count: 8,
        bone_count: 6,
        example_count: 10,
    })
}

fn largest_difference(a: &Skin, b: &Skin, set: &ExampleSet) -> f64 {
    let positions = |skin: &Skin, example: &Example| skin.evaluate(&example.pose).expect("fits");
    set.examples()
        .iter()
        .flat_map(|example| {
            let (a, b) = (positions(a, example), positions(b, example));
            a.into_iter().zip(b).map(|(a, b)| a.distance(b))
        })
        .fold(0.0, f64::max)
}

/// Two bones at the origin, twisted against each other about x by the given angles, and a triangle
/// around the axis that follows by half the angle.
fn twisted(angles_rad: impl Iterator<Item = f64>) -> ExampleSet {
    let skeleton = Skeleton::from_rest_frames([
        ("left".to_owned(), None, DAffine3::IDENTITY),
        ("right".to_owned(), Some(BoneId(0)), DAffine3::IDENTITY),
    ])
    .expect("two bones");
    let ring = vec![DVec3::Y, DVec3::Z, -DVec3::Y];
    let rest = TriMesh::new(ring.clone(), vec![[0, 1, 2]]).expect("a triangle");
    let example = |angle: f64| {
        let mut pose = skeleton.rest_pose();
        pose.parent_from_bone[1] = DAffine3::from_rotation_x(angle);
        Example {
            name: format!("{angle}"),
            pose,
            positions: ring
                .iter()
                .map(|&p| DQuat::from_rotation_x(0.5 * angle) * p)
                .collect(),
        }
    };
    let examples = angles_rad.map(example).collect();
    ExampleSet::new(rest, skeleton.clone(), examples).expect("valid")
}

/// Fact 1 of the specification, its second half: fitted to a uniform range of twists, the radius
/// is `m cos(φ/2)` with φ counted from the middle of the range.
#[test]
fn fact_1_a_twist_in_animation_space_swells_in_the_middle_and_shrinks_at_the_ends() {
    for (range_deg, middle, ends) in [(90.0f64, 1.0256, 0.9475), (180.0, 1.1002, 0.7780)] {
        let range = range_deg.to_radians();
        let count = 2_000;
        let set = twisted((0..count).map(|k| range * (k as f64 + 0.5) / f64::from(count)));
        let options = AnimSpaceOptions {
            influences: InfluenceChoice::Given(InfluenceSets::all(3, 2)),
            smoothing: Smoothing::Ridge { lambda: 0.0 },
            prior: Prior::Zero,
            ..AnimSpaceOptions::default()
        };
        let skin = fit(&set, &options).skin;
        for (angle, expected) in [(0.0, ends), (0.5 * range, middle), (range, ends)] {
            let mut pose = skin.skeleton.rest_pose();
            pose.parent_from_bone[1] = DAffine3::from_rotation_x(angle);
            for position in skin.evaluate(&pose).expect("fits") {
                assert!(
                    (position.length() - expected).abs() < 5e-5,
                    "range {range_deg}°, at {angle}: {} instead of {expected}",
                    position.length()
                );
            }
        }
    }
}

#[test]
fn cholesky_and_conjugate_gradients_agree_on_a_whole_arm() {
    let set = small_arm();
    for prior in [Prior::Zero, Prior::Ssd] {
        let [a, b] = [GlobalSolver::Cholesky, GlobalSolver::ConjugateGradients].map(|solver| {
            let options = AnimSpaceOptions {
                smoothing: Smoothing::Edges { delta: 0.005 },
                prior,
                solver,
                ..AnimSpaceOptions::default()
            };
            fit(&set, &options)
        });
        let apart = largest_difference(&a.skin, &b.skin, &set);
        assert!(apart < 1e-6, "{prior:?}: {apart}");
    }
}

#[test]
fn weights_sum_to_one_whatever_the_smoothing() {
    let set = small_arm();
    for smoothing in [
        Smoothing::Ridge { lambda: 0.01 },
        Smoothing::Edges { delta: 0.1 },
        AnimSpaceOptions::default().smoothing,
    ] {
        for prior in [Prior::Zero, Prior::Ssd] {
            let options = AnimSpaceOptions {
                smoothing: smoothing.clone(),
                prior,
                ..AnimSpaceOptions::default()
            };
            for row in vectors(&fit(&set, &options).skin) {
                let sum: f64 = row.iter().map(|influence| influence.p.w).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{smoothing:?}: {sum}");
            }
        }
    }
}

#[test]
fn fact_12_one_thread_and_two_give_the_same_bits() {
    let set = small_arm();
    let fit_on = |threads: usize, solver| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool can be made").install(|| {
            let options = AnimSpaceOptions {
                solver,
                ..AnimSpaceOptions::default()
            };
            evaluate_fit(&set, &Split::EveryNth(4), |training| {
                fit_anim_space(&set, training, &options, &Silent)
            })
            .expect("the arm can be fitted")
        })
    };
    for solver in [GlobalSolver::Cholesky, GlobalSolver::ConjugateGradients] {
        let (one, two) = (fit_on(1, solver), fit_on(2, solver));
        assert_eq!(one.skin, two.skin, "{solver:?}: the same skin");
        assert_eq!(one.held_out, two.held_out, "{solver:?}: the same folds");
        assert_eq!(one.rig, two.rig, "{solver:?}: the same diagnosis");
    }
}

#[test]
fn a_scaled_and_moved_set_gives_the_scaled_and_moved_fit() {
    let set = small_arm();
    let (scale, moved) = (37.0, DVec3::new(400.0, -90.0, 13.0));
    let model_from_old = DAffine3 {
        matrix3: DMat3::from_diagonal(DVec3::splat(scale)),
        translation: moved,
    };
    // Rest frames and palettes keep their axes and their scale of 1, and move as the points do.
    let carry = |matrix: DAffine3| DAffine3 {
        matrix3: matrix.matrix3,
        translation: model_from_old.transform_point3(matrix.translation),
    };
    let old = set.skeleton();
    let skeleton = Skeleton::from_rest_frames(old.bones().iter().map(|bone| {
        let rest = bone.bone_from_rest.inverse();
        (bone.name.clone(), bone.parent, carry(rest))
    }))
    .expect("still a skeleton");
    let points = |points: &[DVec3]| -> Vec<DVec3> {
        points
            .iter()
            .map(|p| model_from_old.transform_point3(*p))
            .collect()
    };
    let examples = set
        .examples()
        .iter()
        .map(|example| {
            let mut palette = old.palette(&example.pose).expect("fits");
            palette
                .model_from_bone
                .iter_mut()
                .for_each(|m| *m = carry(*m));
            Example {
                name: example.name.clone(),
                pose: skeleton.pose_from_palette(&palette).expect("rigid"),
                positions: points(&example.positions),
            }
        })
        .collect();
    let rest = set
        .rest()
        .with_positions(points(set.rest().positions()))
        .expect("finite");
    let other = ExampleSet::new(rest, skeleton, examples).expect("valid");
    for smoothing in [
        Smoothing::Ridge { lambda: 0.01 },
        Smoothing::Edges { delta: 0.005 },
    ] {
        let options = AnimSpaceOptions {
            smoothing,
            ..AnimSpaceOptions::default()
        };
        let (a, b) = (fit(&set, &options), fit(&other, &options));
        for (before, after) in set.examples().iter().zip(other.examples()) {
            let expected = points(&a.skin.evaluate(&before.pose).expect("fits"));
            let found = b.skin.evaluate(&after.pose).expect("fits");
            for (expected, found) in expected.iter().zip(&found) {
                let apart = expected.distance(*found) / scale;
                assert!(apart < 1e-6, "{:?}: {apart}", options.smoothing);
            }
        }
        let (a, b) = (a.round_errors[0], b.round_errors[0]);
        assert!(
            (scale * a - b).abs() < 1e-6 * b,
            "the error scales too: {a} {b}"
        );
    }
}

#[test]
fn strong_smoothing_towards_linear_blending_gives_linear_blending() {
    let set = small_tube().examples;
    let ssd = fit_ssd(&set, &all(&set), &SsdOptions::default(), &Silent)
        .expect("fits")
        .skin;
    for smoothing in [
        Smoothing::Ridge { lambda: 1e9 },
        Smoothing::Edges { delta: 1e9 },
    ] {
        let options = AnimSpaceOptions {
            smoothing,
            prior: Prior::Ssd,
            ..AnimSpaceOptions::default()
        };
        let apart = largest_difference(&fit(&set, &options).skin, &ssd, &set);
        assert!(apart < 1e-5, "{:?}: {apart}", options.smoothing);
    }
}

#[test]
fn doubled_points_and_edges_without_length_do_no_harm() {
    let tube = small_tube();
    let set = &tube.examples;
    let count = set.rest().vertex_count() as u32;
    let doubled = |points: &[DVec3]| {
        let mut points = points.to_vec();
        points.push(points[5]);
        points.push(points[9] + DVec3::splat(0.1));
        points
    };
    // A sliver between a point and its double, and a point in no triangle.
    let mut triangles = set.rest().triangles().to_vec();
    triangles.push([5, count, 6]);
    let rest = TriMesh::new(doubled(set.rest().positions()), triangles).expect("valid");
    let examples = set
        .examples()
        .iter()
        .map(|example| Example {
            positions: doubled(&example.positions),
            ..example.clone()
        })
        .collect();
    let set = ExampleSet::new(rest, set.skeleton().clone(), examples).expect("valid");
    for solver in [GlobalSolver::Cholesky, GlobalSolver::ConjugateGradients] {
        let options = AnimSpaceOptions {
            smoothing: Smoothing::Edges { delta: 0.005 },
            solver,
            ..AnimSpaceOptions::default()
        };
        let skin = fit(&set, &options).skin;
        let posed = skin.evaluate(&set.examples()[3].pose).expect("fits");
        let apart = posed[5].distance(posed[count as usize]);
        assert!(apart < 1e-3, "{solver:?}: the double stays: {apart}");
    }
}

#[test]
fn fewer_poses_than_unknowns_still_fit() {
    let tube = small_tube();
    let set = &tube.examples;
    for count in [1, 2, 3] {
        let training: Vec<usize> = (0..count).collect();
        let options = AnimSpaceOptions::default();
        let fitted = fit_anim_space(set, &training, &options, &Silent).expect("can be fitted");
        let measured = dermis::measure::measure(&fitted.skin, set, &training).expect("fits");
        assert!(
            measured.total.e_rms < 1.0,
            "{count} poses: {}",
            measured.total.e_rms
        );
        let largest = vectors(&fitted.skin)
            .iter()
            .flatten()
            .map(|influence| influence.p.w.abs())
            .fold(0.0, f64::max);
        assert!(largest < 3.0, "{count} poses: a weight of {largest}");
    }
}

#[test]
fn the_best_delta_is_one_of_those_given() {
    let set = small_arm();
    let deltas = vec![1e-6, 0.01, 1e6];
    let options = AnimSpaceOptions {
        smoothing: Smoothing::EdgesByHeldOutError {
            deltas: deltas.clone(),
        },
        prior: Prior::Zero,
        ..AnimSpaceOptions::default()
    };
    let chosen = fit(&set, &options).smoothing.expect("it smooths");
    assert!(deltas.contains(&chosen), "{chosen} of {deltas:?}");
    assert!(chosen < 1e6, "a million crushes the arm to a point");
    let fitted = fit_anim_space(&set, &[0, 3], &options, &Silent).expect("two examples");
    assert_eq!(
        fitted.smoothing,
        Some(0.01),
        "nothing to hold out: the middle"
    );
}

#[test]
fn no_more_bones_are_chosen_than_allowed() {
    let set = small_tube().examples;
    for max_influences in [1, 2, 3, 4, 9] {
        let options = AnimSpaceOptions {
            max_influences,
            ..AnimSpaceOptions::default()
        };
        let found = fit(&set, &options).skin.program.max_influences();
        assert!(
            found <= max_influences,
            "{found} of at most {max_influences}"
        );
    }
}

#[test]
fn poses_that_only_bend_leave_a_hinge_undetermined_and_richer_poses_do_not() {
    let angles = |k: usize| 0.3 * k as f64;
    let hinge = twisted((0..6).map(angles));
    let options = AnimSpaceOptions {
        influences: InfluenceChoice::Given(InfluenceSets::all(3, 2)),
        smoothing: Smoothing::Edges { delta: 0.01 },
        ..AnimSpaceOptions::default()
    };
    let weak = |set: &ExampleSet, options: &AnimSpaceOptions| {
        let report = evaluate_fit(set, &Split::TrainOnAll, |training| {
            fit_anim_space(set, training, options, &Silent)
        });
        report.expect("can be fitted").rig.under_determined
    };
    let found = weak(&hinge, &options);
    let names: Vec<&str> = found.iter().map(|weak| weak.bone.as_str()).collect();
    assert_eq!(names, ["left", "right"], "what lies along the axis is open");
    assert!(
        found
            .iter()
            .all(|weak| weak.open_vertices == 3 && weak.vertices == 3),
        "for all three: {found:?}"
    );
    let turned = hinge.examples().iter().enumerate().map(|(k, example)| {
        let mut pose = example.pose.clone();
        let axis = DVec3::new(1.0, (k as f64).sin(), (k as f64).cos());
        pose.parent_from_bone[1] = DAffine3::from_quat(DQuat::from_scaled_axis(axis * angles(k)));
        Example {
            pose: Pose::new(pose.parent_from_bone),
            ..example.clone()
        }
    });
    let rich = ExampleSet::new(
        hinge.rest().clone(),
        hinge.skeleton().clone(),
        turned.collect(),
    )
    .expect("valid");
    assert_eq!(
        weak(&rich, &options),
        [],
        "the joint's own point is forgiven, and nothing else is open"
    );
}

#[test]
fn a_fit_stops_when_told_to() {
    struct StopAt(&'static str);
    impl Progress for StopAt {
        fn report(&self, stage: &str, _: usize, _: usize) -> bool {
            stage != self.0
        }
    }
    let set = small_arm();
    for stage in ["fitting weights", "solving"] {
        let options = AnimSpaceOptions::default();
        let stopped = fit_anim_space(&set, &all(&set), &options, &StopAt(stage));
        assert_eq!(stopped.err(), Some(FitError::Stopped), "while {stage}");
    }
}

#[test]
fn options_out_of_range_are_refused_and_named() {
    let set = small_arm();
    let smoothing = |smoothing| AnimSpaceOptions {
        smoothing,
        ..AnimSpaceOptions::default()
    };
    let no_bones = AnimSpaceOptions {
        max_influences: 0,
        ..AnimSpaceOptions::default()
    };
    for (name, options) in [
        ("max-influences", no_bones),
        ("lambda", smoothing(Smoothing::Ridge { lambda: -1.0 })),
        ("delta", smoothing(Smoothing::Edges { delta: f64::NAN })),
        (
            "deltas",
            smoothing(Smoothing::EdgesByHeldOutError { deltas: vec![] }),
        ),
    ] {
        let error = fit_anim_space(&set, &all(&set), &options, &Silent).expect_err(name);
        assert!(error.to_string().contains(name), "{error}");
    }
    let options = AnimSpaceOptions::default();
    let error = fit_anim_space(&set, &[], &options, &Silent).expect_err("no examples");
    assert!(matches!(error, FitError::NothingToFit { .. }), "{error}");
}
