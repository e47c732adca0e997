//! Animation space as a linear blend skin over copies of bones: exact, with valid weights.

use dermis::fit::{FitError, exact_ssd, to_exact_ssd};
use dermis::skin::{Influence, LinearProgram, Rows};
use dermis::synth::{Tube, TubeOptions, tube};
use dermis::{BoneId, Pose, Skeleton, Skin, VertexProgram};
use glam::{DAffine3, DVec3, DVec4};

/// How far the exact form may be off in double precision, as a share of the diagonal.
///
/// Four influences may each leave out a displacement of less than 3e-8.
const EXACT: f64 = 1.2e-7;

fn small() -> Tube {
    tube(&TubeOptions {
        ring_count: 15,
        segment_count: 8,
        bone_count: 4,
        example_count: 10,
    })
}

fn poses(tube: &Tube) -> Vec<Pose> {
    let examples = tube.examples.examples().iter();
    examples.map(|e| e.pose.clone()).collect()
}

/// The tube's vectors, each changed by a function of vertex, place in the row, and vector.
fn changed(tube: &Tube, change: impl Fn(usize, usize, &mut Vec<Influence>)) -> Skin {
    let mut skin = tube.truth.to_linear().expect("linear blend is linear");
    let VertexProgram::Linear(linear) = &skin.program else {
        panic!("it is linear now");
    };
    let rows = linear.influences.iter().enumerate().map(|(i, row)| {
        let mut row = row.to_vec();
        change(i, row.len(), &mut row);
        row
    });
    skin.program = VertexProgram::Linear(LinearProgram {
        influences: rows.collect(),
        corrections: Vec::new(),
    });
    skin
}

fn push(i: usize, k: usize, by: f64) -> DVec4 {
    let t = (3 * i + 7 * k) as f64;
    let push = DVec3::new((1.1 * t).sin(), (1.7 * t).cos(), (2.3 * t).sin());
    (by * push).extend(0.0)
}

fn weights(skin: &Skin) -> &Rows<dermis::skin::Weight> {
    match &skin.program {
        VertexProgram::Ssd(ssd) => &ssd.weights,
        other => panic!("expected linear blend, found {}", other.name()),
    }
}

fn assert_legal(skin: &Skin) {
    for (vertex, row) in weights(skin).iter().enumerate() {
        let sum: f64 = row.iter().map(|w| w.weight).sum();
        assert!((sum - 1.0).abs() < 1e-14, "vertex {vertex} sums to {sum}");
        assert!(
            row.iter().all(|w| w.weight > 0.0),
            "vertex {vertex} has a weight that is not positive: {row:?}"
        );
    }
}

#[test]
fn positive_weights_are_exact_with_four_copies() {
    let tube = small();
    let skin = changed(&tube, |i, count, row| {
        for (k, influence) in row.iter_mut().enumerate() {
            influence.p += push(i, k, 0.03) * influence.p.w;
        }
        assert!(count > 0, "every vertex has an influence");
    });
    let exact = exact_ssd(&skin, &poses(&tube)).expect("it has an exact form");
    assert_legal(&exact.skin);
    assert_eq!(exact.copy_count, 16, "four for each of four bones");
    assert_eq!(
        (exact.moved_count, exact.inexact_count),
        (0, 0),
        "as it was"
    );
    assert!(exact.max_error < EXACT, "off by {:.2e}", exact.max_error);
    // `max_error` against an evaluation of our own.
    let pose = &poses(&tube)[3];
    let expected = skin.evaluate(pose).expect("the pose fits");
    let found = exact.skin.evaluate(&exact.pose(pose)).expect("it fits");
    let apart = expected.iter().zip(&found).map(|(a, b)| a.distance(*b));
    assert!(apart.fold(0.0, f64::max) < 1e-6, "in one pose by hand");
    let longest = weights(&exact.skin).longest();
    assert!(longest <= 8, "four for each of two influences: {longest}");
}

#[test]
fn a_linear_blend_needs_no_copies() {
    let tube = small();
    let skin = tube.truth.to_linear().expect("linear blend is linear");
    let exact = exact_ssd(&skin, &poses(&tube)).expect("it has an exact form");
    assert_eq!(exact.copy_count, 0, "nothing deviates");
    assert!(exact.max_error < 1e-12, "off by {:.2e}", exact.max_error);
    let plain = to_exact_ssd(&tube.truth).expect("it is one");
    assert_eq!(plain, tube.truth, "linear blend skins stay");
}

#[test]
fn weights_below_zero_and_pure_displacements_move_along_fixed_joints() {
    let tube = small();
    let skin = changed(&tube, |i, _, row| match i % 4 {
        // One bone gives more than it has, to a bone that may be new and far.
        0 => {
            let bone = row[0].bone;
            row[0].p += DVec4::new(0.1, 0.0, 0.0, 0.3);
            row.push(Influence {
                bone: BoneId((bone.0 + 2) % 4),
                p: DVec4::new(0.02, 0.01, -0.03, -0.3),
            });
        }
        // A bone without weight displaces.
        1 => {
            let bone = BoneId((row[0].bone.0 + 1) % 4);
            let at = row.iter().position(|influence| influence.bone == bone);
            match at {
                Some(k) => row[k].p += push(i, k, 0.05),
                None => row.push(Influence {
                    bone,
                    p: push(i, 1, 0.05),
                }),
            }
        }
        // A weight that is tiny beside its displacement.
        2 => {
            row[0].p.w -= 1e-9;
            row.push(Influence {
                bone: BoneId(3 - row[0].bone.0),
                p: DVec4::new(0.05, 0.0, 0.0, 1e-9),
            });
        }
        _ => {}
    });
    let exact = exact_ssd(&skin, &poses(&tube)).expect("it has an exact form");
    assert_legal(&exact.skin);
    assert!(
        exact.moved_count > skin.vertex_count() / 2,
        "most had to be"
    );
    assert_eq!(exact.inexact_count, 0, "every joint of the tube is fixed");
    assert!(exact.max_error < EXACT, "off by {:.2e}", exact.max_error);
}

#[test]
fn a_joint_that_moves_is_reported_as_inexact_with_its_error() {
    let tube = small();
    let skin = changed(&tube, |_, _, row| {
        let bone = row[0].bone;
        row[0].p.w += 0.2;
        let other = BoneId(if bone.0 == 0 { 1 } else { bone.0 - 1 });
        row.push(Influence {
            bone: other,
            p: DVec4::new(0.0, 0.0, 0.0, -0.2),
        });
    });
    let mut stretched = poses(&tube);
    for (k, pose) in stretched.iter_mut().enumerate() {
        for local in pose.parent_from_bone.iter_mut().skip(1) {
            local.translation *= 1.0 + 0.01 * k as f64;
        }
    }
    let exact = exact_ssd(&skin, &stretched).expect("it comes near");
    assert_legal(&exact.skin);
    assert!(exact.inexact_count > 0, "weight crossed a moving joint");
    assert!(
        exact.max_error > 1e-4 && exact.max_error < 0.2,
        "off by {:.2e}",
        exact.max_error
    );
    let fixed = exact_ssd(&skin, &poses(&tube)).expect("it has an exact form");
    assert_eq!(fixed.inexact_count, 0, "without stretch it is exact");
    assert!(fixed.max_error < EXACT, "off by {:.2e}", fixed.max_error);
}

#[test]
fn bones_without_a_common_root_cannot_share_weight() {
    let bone = |name: &str, x: f64| {
        let frame = DAffine3::from_translation(DVec3::X * x);
        (name.to_owned(), None, frame)
    };
    let skeleton =
        Skeleton::from_rest_frames([bone("left", 0.0), bone("right", 1.0)]).expect("two bones");
    let row = |left: f64| {
        let influence = |bone: u16, w: f64| Influence {
            bone: BoneId(bone),
            p: DVec4::new(0.1, 0.0, 0.2, w),
        };
        [influence(0, left), influence(1, 1.0 - left)]
    };
    let skin = |left: f64| {
        let linear = LinearProgram {
            influences: [row(0.5), row(left)].into_iter().collect(),
            corrections: Vec::new(),
        };
        Skin::new(skeleton.clone(), VertexProgram::Linear(linear), Vec::new()).expect("a skin")
    };
    let error = exact_ssd(&skin(-0.5), &[]).expect_err("right has no weight for left");
    assert!(
        matches!(&error, FitError::NoExactForm { vertex: 1, problem } if problem.contains("left")),
        "{error}"
    );
    let pose = skeleton.rest_pose();
    let exact = exact_ssd(&skin(0.25), &[pose]).expect("both are positive");
    assert!(exact.max_error < EXACT, "off by {:.2e}", exact.max_error);
}

#[test]
fn weights_that_do_not_sum_to_one_are_refused() {
    let tube = small();
    let skin = changed(&tube, |i, _, row| {
        if i == 5 {
            row[0].p.w += 0.1;
        }
    });
    let error = exact_ssd(&skin, &[]).expect_err("1.1");
    assert!(
        matches!(error, FitError::NoExactForm { vertex: 5, .. }),
        "{error}"
    );
}
