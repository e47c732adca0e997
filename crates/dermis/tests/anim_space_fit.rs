//! Animation space fitted to examples whose answer is known.

use dermis::fit::{
    AnimSpaceOptions, FitError, Fitted, GlobalSolver, InfluenceChoice, InfluenceSets, Prior,
    Smoothing, SsdOptions, evaluate_fit, fit_anim_space, fit_ssd,
};
use dermis::mesh::TriMesh;
use dermis::progress::{Progress, Silent};
use dermis::skin::Influence;
use dermis::synth::{ArmOptions, TubeOptions, arm, tube};
use dermis::{BoneId, Example, ExampleSet, Pose, Skeleton, Skin, Split, VertexProgram};
use glam::{DAffine3, DMat3, DQuat, DVec3, DVec4};

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

/// Two bones, four vertices and three poses in a box of side 1 around the origin, bones with the
/// axes of the model, so that the vectors in bones' frames are those of the fit.
///
/// ```text
///   3 ------- 2
///   |     /   |        bone 0 at the left, 1 in the middle, 2 at the right
///   0 ------- 1
/// ```
fn plain_square() -> (ExampleSet, InfluenceSets) {
    let at = |x: f64| DAffine3::from_translation(DVec3::new(x, 0.0, 0.0));
    let skeleton = Skeleton::from_rest_frames([
        ("0".to_owned(), None, at(-0.5)),
        ("1".to_owned(), Some(BoneId(0)), at(0.0)),
        ("2".to_owned(), Some(BoneId(1)), at(0.25)),
    ])
    .expect("three bones");
    let corners = [(-0.5, -0.25), (0.5, -0.25), (0.5, 0.25), (-0.5, 0.25)];
    let corners: Vec<DVec3> = corners.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec();
    let rest = TriMesh::new(corners.clone(), vec![[0, 1, 2], [0, 2, 3]]).expect("a square");
    let example = |k: usize| {
        let t = k as f64;
        let mut pose = skeleton.rest_pose();
        pose.parent_from_bone[0] *= DAffine3::from_rotation_y(0.2 * t);
        pose.parent_from_bone[1] *= DAffine3::from_rotation_z(0.5 * t);
        pose.parent_from_bone[2] *= DAffine3::from_rotation_x(0.7 * t * t);
        let bent = |(i, p): (usize, &DVec3)| {
            let wobble = DVec3::new((t * i as f64).sin(), (t + i as f64).cos(), t);
            DQuat::from_rotation_z(0.3 * t) * *p + 0.05 * wobble
        };
        Example {
            name: format!("{k}"),
            pose,
            positions: corners.iter().enumerate().map(bent).collect(),
        }
    };
    let examples = (0..3).map(example).collect();
    let set = ExampleSet::new(rest, skeleton.clone(), examples).expect("valid");
    let sets = [vec![0, 1], vec![1, 2], vec![0, 1, 2], vec![0]];
    let sets = sets.map(|row| row.into_iter().map(BoneId).collect());
    (set, InfluenceSets::new(sets, 3).expect("valid sets"))
}

/// The textbook form of the fit: every equation a row, the last weight of every vertex replaced by
/// 1 less the others, solved by elimination on the normal equations.
fn textbook_fit(
    set: &ExampleSet,
    sets: &InfluenceSets,
    delta: f64,
    prior: Option<&Skin>,
) -> Vec<Vec<Influence>> {
    let vertex_count = set.rest().vertex_count();
    let mut starts = vec![0];
    for i in 0..vertex_count {
        starts.push(starts[i] + 4 * sets.bones(i).len() - 1);
    }
    let size = starts[vertex_count];
    // Adds `factor · p_ij[component]` to a row and its right-hand side.
    let term = |row: &mut Vec<f64>,
                right: &mut f64,
                i: usize,
                slot: usize,
                component: usize,
                factor: f64| {
        let count = sets.bones(i).len();
        if (slot, component) == (count - 1, 3) {
            *right -= factor;
            (0..count - 1).for_each(|other| row[starts[i] + 4 * other + 3] -= factor);
        } else {
            row[starts[i] + 4 * slot + component] += factor;
        }
    };
    let mut equations: Vec<(Vec<f64>, f64)> = Vec::new();
    for example in set.examples() {
        let palette = set
            .skeleton()
            .palette(&example.pose)
            .expect("fits")
            .model_from_bone;
        for i in 0..vertex_count {
            for axis in 0..3 {
                let (mut row, mut right) = (vec![0.0; size], example.positions[i][axis]);
                for (slot, bone) in sets.bones(i).iter().enumerate() {
                    let matrix = palette[bone.index()];
                    for component in 0..3 {
                        let factor = matrix.matrix3.col(component)[axis];
                        term(&mut row, &mut right, i, slot, component, factor);
                    }
                    term(&mut row, &mut right, i, slot, 3, matrix.translation[axis]);
                }
                equations.push((row, right));
            }
        }
    }
    let prior = prior.map(|skin| vectors(&skin.to_linear().expect("linear")));
    let prior_at = |i: usize, bone: BoneId, component: usize| {
        let row = prior.as_ref().map(|prior| &prior[i]);
        let own = row.and_then(|row| row.iter().find(|p| p.bone == bone));
        own.map_or(0.0, |p| p.p[component])
    };
    for [a, b] in [[0, 1], [1, 2], [0, 2], [2, 3], [0, 3]] {
        let length = |e: &Example| e.positions[a].distance(e.positions[b]);
        let mean = set.examples().iter().map(length).sum::<f64>() / set.examples().len() as f64;
        for bone in set.skeleton().ids() {
            for component in 0..4 {
                let (mut row, mut right) = (vec![0.0; size], 0.0);
                let factor = (delta / mean).sqrt();
                for (i, factor) in [(a, factor), (b, -factor)] {
                    if let Ok(slot) = sets.bones(i).binary_search(&bone) {
                        term(&mut row, &mut right, i, slot, component, factor);
                    }
                    right += factor * prior_at(i, bone, component);
                }
                equations.push((row, right));
            }
        }
    }
    let mut normal = vec![vec![0.0; size + 1]; size];
    for (row, right) in &equations {
        for r in 0..size {
            for c in 0..size {
                normal[r][c] += row[r] * row[c];
            }
            normal[r][size] += row[r] * right;
        }
    }
    let y = eliminate(normal);
    (0..vertex_count)
        .map(|i| {
            let own = &y[starts[i]..starts[i + 1]];
            let count = sets.bones(i).len();
            let others: f64 = (0..count - 1).map(|slot| own[4 * slot + 3]).sum();
            let at = |at: usize| own.get(at).copied().unwrap_or(1.0 - others);
            let vector = |(slot, &bone): (usize, &BoneId)| Influence {
                bone,
                p: DVec4::from_array([0, 1, 2, 3].map(|c| at(4 * slot + c))),
            };
            sets.bones(i).iter().enumerate().map(vector).collect()
        })
        .collect()
}

/// Gauss with pivots; the last column is the right-hand side.
fn eliminate(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let size = matrix.len();
    for k in 0..size {
        let pivot = (k..size)
            .max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs()))
            .expect("rows are left");
        matrix.swap(k, pivot);
        let pivot_row = matrix[k].clone();
        for (r, row) in matrix.iter_mut().enumerate().filter(|(r, _)| *r != k) {
            let _ = r;
            let factor = row[k] / pivot_row[k];
            row.iter_mut()
                .zip(&pivot_row)
                .for_each(|(x, p)| *x -= factor * p);
        }
    }
    (0..size).map(|k| matrix[k][size] / matrix[k][k]).collect()
}

#[test]
fn both_solvers_agree_with_the_textbook() {
    let (set, sets) = plain_square();
    let ssd_options = SsdOptions::default();
    let ssd = fit_ssd(&set, &all(&set), &ssd_options, &Silent)
        .expect("can be fitted")
        .skin;
    for delta in [1e-3, 0.05, 2.0] {
        // The prior must lie within the sets, so the sets are the prior's own bones there.
        let VertexProgram::Ssd(weights) = &ssd.program else {
            panic!("linear blend skinning")
        };
        let own = weights
            .weights
            .iter()
            .map(|row| row.iter().map(|w| w.bone).collect());
        let own = InfluenceSets::new(own, 3).expect("bones for all");
        for (prior, sets) in [(Prior::Zero, &sets), (Prior::Ssd, &own)] {
            let expected = textbook_fit(&set, sets, delta, (prior == Prior::Ssd).then_some(&ssd));
            for solver in [
                GlobalSolver::Cholesky,
                GlobalSolver::ConjugateGradients,
                GlobalSolver::Auto,
            ] {
                let options = AnimSpaceOptions {
                    influences: InfluenceChoice::Given(sets.clone()),
                    smoothing: Smoothing::Edges { delta },
                    prior,
                    solver,
                    ..AnimSpaceOptions::default()
                };
                let fitted = fit(&set, &options);
                assert_eq!(fitted.smoothing, Some(delta), "as given");
                for (found, expected) in vectors(&fitted.skin).iter().zip(&expected) {
                    for (found, expected) in found.iter().zip(expected) {
                        assert!(
                            found.p.abs_diff_eq(expected.p, 1e-6),
                            "{prior:?}, {solver:?}, delta {delta}: {found:?} instead of {expected:?}"
                        );
                    }
                }
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
fn stiff_smoothing_towards_linear_blending_is_linear_blending() {
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
    // A sliver between a point and its double, and a point that no triangle names.
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
fn only_the_given_bones_are_used() {
    let (set, sets) = plain_square();
    let options = AnimSpaceOptions {
        influences: InfluenceChoice::Given(sets.clone()),
        ..AnimSpaceOptions::default()
    };
    for (i, row) in vectors(&fit(&set, &options).skin).iter().enumerate() {
        let bones: Vec<BoneId> = row.iter().map(|influence| influence.bone).collect();
        assert_eq!(bones, sets.bones(i), "vertex {i}");
    }
    let options = AnimSpaceOptions {
        influences: InfluenceChoice::Given(InfluenceSets::all(3, 3)),
        ..options
    };
    let error = fit_anim_space(&set, &all(&set), &options, &Silent).expect_err("four vertices");
    assert!(error.to_string().contains("4 vertices"), "{error}");
}

#[test]
fn at_most_so_many_bones_are_chosen() {
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
fn poses_that_only_bend_leave_a_hinge_open_and_richer_ones_do_not() {
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
fn senseless_options_are_refused_by_name() {
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
        ("max_influences", no_bones),
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
