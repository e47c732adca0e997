//! Poses solved for meshes whose pose is known.

use dermis::fit::{FitError, JointFreedom, PoseOptions, PoseSolver, fit_pose};
use dermis::progress::Silent;
use dermis::skin::SkinError;
use dermis::synth::{ArmOptions, Tube, TubeOptions, arm, tube};
use dermis::{Pose, Skin};
use glam::{DAffine3, DVec3};

fn small_tube() -> Tube {
    tube(&TubeOptions {
        ring_count: 24,
        segment_count: 8,
        bone_count: 5,
        example_count: 8,
    })
}

fn with(joints: JointFreedom) -> PoseOptions {
    PoseOptions {
        joints,
        ..PoseOptions::default()
    }
}

fn diagonal(tube: &Tube) -> f64 {
    tube.examples.rest().bounds().diagonal()
}

#[test]
fn the_pose_of_a_mesh_made_by_the_skin_is_recovered() {
    let tube = small_tube();
    let rest = tube.truth.skeleton.rest_pose();
    for joints in [JointFreedom::Free, JointFreedom::Turn, JointFreedom::Affine] {
        let solver = PoseSolver::new(&tube.truth, &with(joints)).expect("a linear skin");
        for example in tube.examples.examples() {
            let found = solver
                .solve(&example.positions, &rest)
                .expect("its own vertices");
            assert!(
                found.max_distance < 1e-4 * diagonal(&tube),
                "{joints:?}, {}: {} after {} steps",
                example.name,
                found.max_distance,
                found.rounds
            );
        }
    }
}

#[test]
fn joints_that_turn_keep_their_place_in_the_parent() {
    let tube = small_tube();
    let skin = &tube.truth;
    let rest = skin.skeleton.rest_pose();
    // A stretched mesh pulls joints apart where they may move.
    let target: Vec<DVec3> = tube.examples.examples()[3]
        .positions
        .iter()
        .map(|p| *p * DVec3::new(1.2, 1.0, 0.9))
        .collect();
    let strays = |pose: &Pose| -> f64 {
        let bones = skin.skeleton.bones().iter().zip(&pose.parent_from_bone);
        bones
            .zip(&rest.parent_from_bone)
            .filter(|((bone, _), _)| bone.parent.is_some())
            .map(|((_, found), rest)| found.translation.distance(rest.translation))
            .fold(0.0, f64::max)
    };
    let solve = |joints| fit_pose(skin, &target, &rest, &with(joints)).expect("its own vertices");
    let (turned, free, affine) = (
        solve(JointFreedom::Turn),
        solve(JointFreedom::Free),
        solve(JointFreedom::Affine),
    );
    assert!(strays(&turned.pose) < 1e-9, "{}", strays(&turned.pose));
    assert!(strays(&free.pose) > 1e-3, "{}", strays(&free.pose));
    // More freedom never matches worse.
    assert!(
        free.rms_distance < turned.rms_distance,
        "{free:?} {turned:?}"
    );
    assert!(
        affine.rms_distance < free.rms_distance,
        "{affine:?} {free:?}"
    );
    for matrix in &free.pose.parent_from_bone {
        let m = matrix.matrix3;
        assert!(
            (m.transpose() * m).abs_diff_eq(glam::DMat3::IDENTITY, 1e-9),
            "a free bone does not stretch: {m}"
        );
    }
}

#[test]
fn no_small_turn_or_move_of_a_bone_is_better_than_the_pose_found() {
    let tube = small_tube();
    let skin = &tube.truth;
    let target: Vec<DVec3> = tube.examples.examples()[5]
        .positions
        .iter()
        .map(|p| *p + 0.02 * DVec3::new((7.0 * p.x).sin(), (5.0 * p.z).cos(), (9.0 * p.y).sin()))
        .collect();
    let rest = skin.skeleton.rest_pose();
    let found = fit_pose(skin, &target, &rest, &PoseOptions::default()).expect("its own vertices");
    let cost = |pose: &Pose| -> f64 {
        let positions = skin.evaluate(pose).expect("as many bones");
        positions
            .iter()
            .zip(&target)
            .map(|(a, b)| a.distance_squared(*b))
            .sum()
    };
    let best = cost(&found.pose);
    for j in 0..skin.skeleton.bone_count() {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            for step in [-0.003, 0.003] {
                for change in [
                    DAffine3::from_axis_angle(axis, step),
                    DAffine3::from_translation(step * axis),
                ] {
                    let mut other = found.pose.clone();
                    other.parent_from_bone[j] *= change;
                    assert!(cost(&other) > best, "bone {j}, {axis}, {step} is better");
                }
            }
        }
    }
}

#[test]
fn a_bone_without_vertices_goes_with_its_parent() {
    let tube = small_tube();
    let mut bones: Vec<_> = tube
        .truth
        .skeleton
        .bones()
        .iter()
        .map(|bone| {
            (
                bone.name.clone(),
                bone.parent,
                bone.bone_from_rest.inverse(),
            )
        })
        .collect();
    let last = dermis::BoneId(bones.len() as u16 - 1);
    let tip = bones[last.index()].2 * DAffine3::from_translation(DVec3::new(0.0, 0.5, 0.0));
    bones.push(("tip".to_owned(), Some(last), tip));
    let skeleton = dermis::Skeleton::from_rest_frames(bones).expect("one bone more");
    let skin = Skin::new(skeleton, tube.truth.program.clone(), Vec::new()).expect("bones in range");
    let rest = skin.skeleton.rest_pose();
    let target = &tube.examples.examples()[2].positions;
    let found = fit_pose(&skin, target, &rest, &PoseOptions::default()).expect("its own vertices");
    let tip = last.index() + 1;
    assert!(
        found.pose.parent_from_bone[tip].abs_diff_eq(rest.parent_from_bone[tip], 1e-9),
        "{:?}",
        found.pose.parent_from_bone[tip]
    );
}

#[test]
fn poses_are_the_same_on_any_number_of_threads() {
    let arm = arm(&ArmOptions::default()).examples;
    let training: Vec<usize> = (0..arm.examples().len()).step_by(4).collect();
    let skin = dermis::fit::fit_ssd(&arm, &training, &Default::default(), &Silent)
        .expect("the arm can be fitted")
        .skin;
    let targets: Vec<&[DVec3]> = arm
        .examples()
        .iter()
        .take(9)
        .map(|e| e.positions.as_slice())
        .collect();
    let starts = vec![skin.skeleton.rest_pose(); targets.len()];
    let solver = PoseSolver::new(&skin, &PoseOptions::default()).expect("a linear skin");
    let on = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads")
            .install(|| {
                solver
                    .solve_all(&targets, &starts, &Silent)
                    .expect("solved")
            })
    };
    assert_eq!(on(1), on(3), "the same bits");
}

#[test]
fn a_mesh_of_another_size_is_refused() {
    let tube = small_tube();
    let rest = tube.truth.skeleton.rest_pose();
    let error = fit_pose(
        &tube.truth,
        &[DVec3::ZERO; 7],
        &rest,
        &PoseOptions::default(),
    )
    .expect_err("seven vertices are too few");
    assert!(
        matches!(
            error,
            FitError::Skin(SkinError::CountMismatch { found: 7, .. })
        ),
        "{error}"
    );
}
