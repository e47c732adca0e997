//! Fact 6: no legal pose leaves its bounds, and with two bones some pose reaches them.

use dermis::bounds::{
    BoneBoxes, BoundsError, PoseBounds, coefficient_ranges, complete_limits, enclose,
    extreme_poses, hold_vertices, moved_ball, sampled_ball, turned_ball,
};
use dermis::fit::fit_rotational_regression;
use dermis::joint::{JointLimits, LegalPoses, TurnLimits, free_joints, joint_statistics};
use dermis::mesh::Ball;
use dermis::metric::AnimationVector;
use dermis::pose_space::{Center, Control, Driver, Kernel};
use dermis::progress::Silent;
use dermis::rig::{BoneId, DerivedBone, DerivedMotion, Pose, Similarity, Skeleton};
use dermis::skin::{
    Coefficient, Correction, Delta, DualQuaternionProgram, SsdProgram, VertexProgram, Weight,
};
use dermis::synth::{ArmOptions, ProxyOptions, TubeOptions, arm, arm_motion, proxied, tube};
use dermis::{Rows, Skin};
use glam::{DAffine3, DQuat, DVec3};
use proptest::prelude::*;

use crate::metric_support::{Dice, Freedom, poses};

fn holds(ball: &Ball, point: DVec3) -> bool {
    point.distance(ball.center) <= ball.radius + 1e-9 * (1.0 + ball.radius)
}

/// Random skeletons, limits and vectors, with `pose_count` poses each.
fn no_pose_leaves_its_ball(seed: u64, pose_count: usize) -> Result<(), TestCaseError> {
    let mut dice = Dice(seed);
    for freedom in [Freedom::Rigid, Freedom::Sliding, Freedom::Loose] {
        let skeleton = dice.skeleton(6);
        let limits = dice.limits(&skeleton, freedom);
        let bounds = PoseBounds::new(&skeleton, &limits).expect("one limit per bone");
        let loose: Vec<JointLimits> = (limits.iter())
            .map(|l| JointLimits {
                turn: TurnLimits::Free,
                ..l.clone()
            })
            .collect();
        let loose = PoseBounds::new(&skeleton, &loose).expect("one limit per bone");
        let vectors: Vec<_> = [0.0, 0.0, 1.0, 1.0]
            .map(|weight| {
                AnimationVector::combination([(1.0, &dice.animation_vector(6, weight)[..])])
            })
            .to_vec();
        let held: Vec<_> = (vectors.iter())
            .map(|s| {
                let most = bounds.norm(s.terms()).min(loose.norm(s.terms()));
                (bounds.holding(s.terms()), most)
            })
            .collect();
        for pose in poses(&skeleton, &limits, 0.5, pose_count) {
            let palette = skeleton.palette(&pose).expect("it fits");
            for (s, (held, most)) in vectors.iter().zip(&held) {
                let at = s.project(&palette);
                for ball in &held.0 {
                    prop_assert!(holds(ball, at), "{at} outside {ball:?}");
                }
                let length = at.length();
                prop_assert!(length <= most * (1.0 + 1e-9), "{length} above {most}");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn fact_6_no_legal_pose_leaves_its_bound(seed in any::<u64>()) {
        no_pose_leaves_its_ball(seed, 60)?;
    }

    /// One joint by itself: every kind of limits, a vector, many turns.
    #[test]
    fn a_turned_vector_stays_in_its_ball(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let skeleton = dice.skeleton(1);
        let limits = dice.limits(&skeleton, Freedom::Rigid);
        let turn = limits[0].turn;
        let c = dice.vector(3.0);
        let ball = turned_ball(&turn, c);
        prop_assert!(ball.radius <= c.length() * (1.0 + 1e-12), "never worse than no limits");
        for pose in poses(&skeleton, &limits, 0.5, 100) {
            let at = pose.parent_from_bone[0].matrix3 * c;
            prop_assert!(holds(&ball, at), "{turn:?}: {at} outside {ball:?}");
        }
    }

    /// Two bones that may turn every way: the bound is reached.
    #[test]
    fn fact_6_two_free_bones_reach_their_bound(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let frame = |at: DVec3| DAffine3::from_translation(at);
        let skeleton = Skeleton::from_rest_frames([
            ("upper".to_owned(), None, frame(dice.vector(1.0))),
            ("lower".to_owned(), Some(BoneId(0)), frame(dice.vector(2.0))),
        ]).expect("parents come first");
        let bounds = PoseBounds::new(&skeleton, &free_joints(&skeleton)).expect("two limits");
        let s = dice.animation_vector(2, 0.0);
        let s = AnimationVector::combination([(1.0, &s[..])]);
        let part = |bone: u16| s.terms().iter().find(|term| term.bone == BoneId(bone))
            .map_or(glam::DVec4::ZERO, |term| term.p);
        // Turn the lower bone's vector to where the upper bone's sum points.
        let mut pose = skeleton.rest_pose();
        let elbow = pose.parent_from_bone[1].translation;
        let towards = part(0).truncate() + part(1).w * elbow;
        let from = part(1).truncate();
        if let (Some(from), Some(to)) = (from.try_normalize(), towards.try_normalize()) {
            pose.parent_from_bone[1] = DAffine3::from_rotation_translation(
                DQuat::from_rotation_arc(from, to),
                elbow,
            );
        }
        let palette = skeleton.palette(&pose).expect("it fits");
        let (reached, most) = (s.project(&palette).length(), bounds.norm(s.terms()));
        prop_assert!((reached - most).abs() < 1e-9, "{reached} of {most}");
    }

    /// Moving the model moves its balls: bounds need not be computed again (thesis 3.4).
    #[test]
    fn moved_limits_give_moved_balls(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let skeleton = dice.skeleton(4);
        let limits = dice.limits(&skeleton, Freedom::Loose);
        let by = Similarity::new(dice.between(0.3, 3.0), dice.rotation(), dice.vector(4.0)).expect("finite");
        let moved_skeleton = by.skeleton(&skeleton).expect("finite");
        let moved: Vec<JointLimits> = limits.iter().map(|l| by.limits(&skeleton, l)).collect();
        let bounds = PoseBounds::new(&skeleton, &limits).expect("four limits");
        let moved = PoseBounds::new(&moved_skeleton, &moved).expect("four limits");
        for _ in 0..5 {
            let point = dice.animation_vector(4, 1.0);
            let scaled: Vec<_> = point.iter().map(|term| dermis::skin::Influence {
                bone: term.bone,
                p: (by.scale() * term.p.truncate()).extend(term.p.w),
            }).collect();
            let (ball, found) = (bounds.ball(&point), moved.ball(&scaled));
            // A root's weight is the whole weight, 1, only of vectors in one tree.
            let roots = skeleton.bones().iter().filter(|bone| bone.parent.is_none()).count();
            if roots == 1 {
                prop_assert!(by.point(ball.center).distance(found.center) < 1e-9, "{ball:?} to {found:?}");
            }
            prop_assert!((by.scale() * ball.radius - found.radius).abs() < 1e-9, "{ball:?} to {found:?}");
        }
    }
}

#[test]
#[ignore = "slow: ten thousand poses of six hundred skeletons"]
fn fact_6_holds_in_ten_thousand_poses_of_every_skeleton() {
    for seed in 0..200 {
        no_pose_leaves_its_ball(seed, 10_000).expect("inside");
    }
}

/// A chain of four bones with a vertex on each and between, a morph, and the given derived bones.
fn snake(derived: Vec<DerivedBone>) -> Skin {
    let count = 4 + derived.len();
    let skeleton = Skeleton::from_rest_frames((0..count).map(|j| {
        let at = DAffine3::from_translation(DVec3::X * j.min(3) as f64);
        // Derived bones hang beside bone 3.
        let parent = (j > 0).then(|| BoneId(j.min(3) as u16 - 1));
        (format!("bone {j}"), parent, at)
    }))
    .expect("parents come first");
    let bones: Vec<u16> = (0..count as u16).collect();
    let weights: Rows<Weight> = (bones.iter())
        .map(|&bone| {
            let weight = |bone: u16, weight| Weight {
                bone: BoneId(bone),
                weight,
            };
            match bone {
                0 => vec![weight(0, 1.0)],
                j => vec![weight(j, 0.6), weight(j - 1, 0.4)],
            }
        })
        .collect();
    let ssd = SsdProgram {
        rest_positions: (0..count)
            .map(|j| DVec3::new(j.min(3) as f64 + 0.5, 0.3, -0.2))
            .collect(),
        weights,
        corrections: vec![Correction {
            deltas: (0..count as u32)
                .map(|index| Delta {
                    index,
                    value: DVec3::new(0.1, 0.5, 0.0),
                })
                .collect(),
        }],
    };
    let slider = Coefficient {
        name: "swell".to_owned(),
        default: 0.0,
    };
    Skin::with_derived(skeleton, VertexProgram::Ssd(ssd), vec![slider], derived).expect("a skin")
}

fn limited(skin: &Skin) -> Vec<JointLimits> {
    let rest = skin.skeleton.rest_pose();
    (skin.skeleton.ids().zip(&rest.parent_from_bone))
        .take(skin.posed_bone_count())
        .map(|(bone, local)| JointLimits {
            turn: TurnLimits::SwingTwist {
                center: DQuat::IDENTITY,
                axis: DVec3::X,
                max_swing_rad: 0.7,
                min_twist_rad: -1.0,
                max_twist_rad: 1.0,
            },
            ..JointLimits::fixed(bone, local)
        })
        .collect()
}

fn pose_of(locals: &Pose, slider: f64) -> Pose {
    Pose {
        coefficients: vec![slider],
        ..locals.clone()
    }
}

#[test]
fn balls_of_vertices_hold_morphs_and_derived_bones() {
    let follow = |bone: u16, motion| DerivedBone {
        bone: BoneId(bone),
        of: BoneId(3),
        motion,
    };
    let skin = snake(vec![
        follow(4, DerivedMotion::PartTurn { share: 0.5 }),
        follow(5, DerivedMotion::Swell { gain: 1.5 }),
    ]);
    let limits = limited(&skin);
    let all = complete_limits(&skin, &limits).expect("four posed bones");
    assert_eq!(all.len(), 6, "two are derived");
    let balls = hold_vertices(&skin, &limits, &[[-0.5, 2.0]]).expect("linear");
    let rest_limits: Vec<JointLimits> = all.clone();
    let legal = LegalPoses::new(&skin.skeleton, &rest_limits, 0.6, 5).expect("all limits");
    let whole = enclose(&balls);
    for (k, pose) in legal.take(3000).enumerate() {
        let mut posed = pose.clone();
        posed.parent_from_bone.truncate(4);
        let slider = [-0.5, 2.0, 0.4][k % 3];
        let positions = skin.evaluate(&pose_of(&posed, slider)).expect("it fits");
        for (held, at) in balls.iter().zip(&positions) {
            assert!(
                held.0.iter().all(|ball| holds(ball, *at)),
                "{at} outside {held:?}"
            );
            assert!(holds(&whole, *at), "{at} outside {whole:?}");
        }
    }
    // Poses found by search come near the bound, and stay inside.
    let far = extreme_poses(&skin, &limits, &[[-0.5, 2.0]], &balls, None, 100).expect("linear");
    let ends = |pose: &Pose| [-0.5, 2.0].contains(&pose.coefficients[0]);
    assert!(
        far.iter().any(ends),
        "sliders go to the ends of their ranges"
    );
    let best = sampled_ball(&skin, &far, None).expect("they fit").radius;
    assert!(
        best <= whole.radius && best > 0.6 * whole.radius,
        "{best} of {}",
        whole.radius
    );
    let free = hold_vertices(&skin, &free_joints(&skin.skeleton), &[[-0.5, 2.0]]).expect("linear");
    assert!(
        enclose(&free).radius > 1.05 * whole.radius,
        "limits make it smaller"
    );
    let error = hold_vertices(&skin, &limits[..2], &[[0.0, 1.0]]).expect_err("two of four");
    assert!(
        matches!(error, BoundsError::CountMismatch { .. }),
        "{error}"
    );
    let error = hold_vertices(&skin, &limits, &[[1.0, 0.0]]).expect_err("a range the wrong way");
    assert!(
        matches!(error, BoundsError::BadRange { index: 0, .. }),
        "{error}"
    );
}

/// Asserts that balls hold in random and searched poses; returns the radius of the whole ball over that of
/// the searched poses.
#[track_caller]
fn looseness_of(skin: &Skin, limits: &[JointLimits], what: &str) -> f64 {
    let balls = hold_vertices(skin, limits, &[]).expect("linear");
    let whole = enclose(&balls);
    let all = complete_limits(skin, limits).expect("limits of posed bones");
    let mut poses = extreme_poses(skin, limits, &[], &balls, None, 100).expect("linear");
    let drawn = LegalPoses::new(&skin.skeleton, &all, 0.6, 5).expect("all limits");
    poses.extend(drawn.take(2000));
    for pose in &poses {
        let positions = skin.evaluate(pose).expect("it fits");
        for (held, at) in balls.iter().zip(&positions) {
            let is_held = held.0.iter().all(|ball| holds(ball, *at));
            assert!(is_held, "{what}: {at} outside {held:?}");
        }
    }
    let best = sampled_ball(skin, &poses, None).expect("it fits").radius;
    whole.radius / best
}

#[test]
fn balls_hold_the_vertices_of_proxy_bones() {
    let set = arm(&ArmOptions {
        poses: arm_motion(24),
        ..ArmOptions::default()
    })
    .examples;
    let training: Vec<usize> = (0..24).collect();
    let fitted = fit_rotational_regression(&set, &training, &Default::default(), &Silent);
    let skin = fitted.expect("fits").skin;
    assert!(
        skin.pose_program.proxies().is_some(),
        "a forearm that twists"
    );
    let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
    let seen = joint_statistics(set.skeleton(), &poses);
    let limits: Vec<JointLimits> = seen.iter().map(JointLimits::from_statistics).collect();
    let ratio = looseness_of(&skin, &limits, "an arm");
    let free: Vec<JointLimits> = (limits.iter())
        .map(|limits| JointLimits {
            turn: TurnLimits::Free,
            ..limits.clone()
        })
        .collect();
    let any = looseness_of(&skin, &free, "an arm that turns freely");
    println!("radius over the best found: {ratio:.2} with limits, {any:.2} with any rotation");
    assert!(ratio < 2.5, "{ratio}");

    // Random numbers of every kind that a file may hold.
    let tube = tube(&TubeOptions {
        ring_count: 10,
        segment_count: 6,
        bone_count: 4,
        example_count: 1,
    });
    for seed in 0..6 {
        let options = ProxyOptions {
            proxy_count: 7,
            seed,
            ..ProxyOptions::default()
        };
        let skin = proxied(&tube.truth, &options);
        looseness_of(&skin, &limited(&skin), &format!("random proxies {seed}"));
    }
}

#[test]
fn sampled_balls_and_boxes_hold_the_poses_that_they_are_made_from() {
    let skin = snake(Vec::new());
    let limits = limited(&skin);
    let legal = LegalPoses::new(&skin.skeleton, &limits, 0.5, 2).expect("all limits");
    let poses: Vec<Pose> = legal.take(50).collect();
    let ball = sampled_ball(&skin, &poses, None).expect("they fit");
    let one = sampled_ball(&skin, &poses, Some(&[0])).expect("they fit");
    assert!(one.radius < ball.radius, "one vertex of four");
    let boxes = BoneBoxes::new(&skin).expect("linear blend");
    for pose in &poses {
        let palette = skin.run_pose_program(pose).expect("it fits").palette;
        let posed = boxes.posed(&palette).expect("vertices");
        for at in skin.evaluate(pose).expect("it fits") {
            assert!(holds(&ball, at), "{at} outside {ball:?}");
            let inside = at.cmpge(posed.min - 1e-9) & at.cmple(posed.max + 1e-9);
            assert!(inside.all(), "{at} outside {posed:?}");
        }
    }
    let bigger = moved_ball(&ball, &DAffine3::from_scale(DVec3::new(1.0, 3.0, 1.0)));
    assert!(
        (bigger.radius - 3.0 * ball.radius).abs() < 1e-9,
        "as far as it stretches"
    );
}

#[test]
fn inputs_without_a_bound_are_refused_and_named() {
    let skin = snake(Vec::new());
    let VertexProgram::Ssd(ssd) = &skin.program else {
        panic!("it is linear blend");
    };
    let dual = Skin {
        program: VertexProgram::DualQuaternion(DualQuaternionProgram {
            weighted: ssd.clone(),
        }),
        ..skin.clone()
    };
    let error = hold_vertices(&dual, &limited(&skin), &[[0.0, 1.0]]).expect_err("not linear");
    assert!(error.to_string().contains("dual quaternion"), "{error}");
    assert!(BoneBoxes::new(&dual).is_err(), "boxes neither");

    let mut driven = skin;
    let driver = |linear: Vec<Vec<f64>>| Driver {
        name: "elbow".to_owned(),
        controls: vec![Control::Slider { coefficient: 0 }],
        kernel: Kernel::Gaussian,
        centers: vec![
            Center {
                name: "a".to_owned(),
                point: vec![0.0],
                falloffs: vec![1.0],
            },
            Center {
                name: "b".to_owned(),
                point: vec![1.0],
                falloffs: vec![1.0],
            },
        ],
        weights: vec![vec![1.5, -0.25]],
        linear,
    };
    let push = |skin: &mut Skin, linear| {
        (skin.push_driver(driver(linear), vec!["bulge".to_owned()], vec![Vec::new()]))
            .expect("it fits");
    };
    push(&mut driven, Vec::new());
    let ranges = coefficient_ranges(&driven, &[]).expect("bumps are bounded");
    assert_eq!(
        ranges,
        [[0.0, 1.0], [-0.25, 1.5]],
        "sums of weights by sign"
    );
    let mut sloped = snake(Vec::new());
    push(&mut sloped, vec![vec![0.0, 1.0]]);
    let error = coefficient_ranges(&sloped, &[]).expect_err("it grows");
    assert!(error.to_string().contains("bulge"), "{error}");
}

/// A sphere that depended on rounding would differ between a model and its moved copy.
#[test]
fn a_model_that_is_scaled_and_turned_has_the_same_sphere() {
    let body = dermis::synth::body(&dermis::synth::BodyOptions {
        vertex_count: 3000,
        ..Default::default()
    });
    let skin = &body.skin;
    let limits: Vec<JointLimits> = (free_joints(&skin.skeleton).into_iter())
        .map(|joint| JointLimits {
            turn: TurnLimits::Cone {
                center: joint.turn.center().unwrap_or(DQuat::IDENTITY),
                max_angle_rad: 0.3 + 0.1 * f64::from(joint.bone.0 % 5),
            },
            ..joint
        })
        .collect();
    let sphere = |skin: &Skin, limits: &[JointLimits]| {
        enclose(&hold_vertices(skin, limits, &[]).expect("linear"))
    };
    let rest = sphere(skin, &limits);
    let turns = [
        DQuat::IDENTITY,
        DQuat::from_rotation_x(-1.5),
        DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.7),
        DQuat::from_rotation_y(2.2),
    ];
    for (scale, turn) in [0.013, 0.3, 1.0, 100.0].into_iter().zip(turns) {
        let by = Similarity::new(scale, turn, scale * DVec3::new(3.0, -1.0, 0.5)).expect("a move");
        let moved_limits: Vec<JointLimits> = (limits.iter())
            .map(|joint| by.limits(&skin.skeleton, joint))
            .collect();
        let moved = sphere(&skin.moved(&by).expect("linear"), &moved_limits);
        let ratio = moved.radius / scale / rest.radius;
        assert!((ratio - 1.0).abs() < 1e-3, "{scale}: {ratio}");
    }
}
