//! Distances over all poses: coordinates, triangles, moved models, and refused inputs.
//!
//! `metric_long_averages.rs` tests that `P` is correct (fact 5).

use dermis::joint::joint_statistics;
use dermis::metric::{
    AnimationVector, JointModel, MetricError, ModelKind, NormalizedCoordinates, PoseMetric,
    model_from_limits, models_from_poses,
};
use dermis::rig::{BoneId, DerivedBone, DerivedMotion, Pose, Similarity, Skeleton};
use dermis::skin::{Influence, LinearProgram, PlacedBones, SsdProgram, VertexProgram, Weight};
use dermis::synth::{ProxyOptions, proxied};
use dermis::{Rows, Skin};
use glam::{DAffine3, DMat4, DQuat, DVec3};
use proptest::prelude::*;

use crate::metric_support::motion::{Known, Motion};
use crate::metric_support::{Dice, Freedom};

fn from_limits(
    dice: &mut Dice,
    bone_count: usize,
    freedom: Freedom,
) -> (Skeleton, Vec<JointModel>) {
    let skeleton = dice.skeleton(bone_count);
    let limits = dice.limits(&skeleton, freedom);
    let models = limits.iter().map(model_from_limits).collect();
    (skeleton, models)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// `P = FᵀF`: coordinates in which the mean dot product is the ordinary one.
    #[test]
    fn dot_products_of_coordinates_are_mean_dot_products(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        for freedom in [Freedom::Rigid, Freedom::Sliding] {
            let (skeleton, models) = from_limits(&mut dice, 6, freedom);
            let metric = PoseMetric::new(&skeleton, &models).expect("even scales");
            let coordinates = NormalizedCoordinates::new(&metric, skeleton.ids());
            let joints = skeleton.bones().iter().filter(|bone| bone.parent.is_some()).count();
            let lost = 4 * skeleton.bone_count() - coordinates.dimension();
            prop_assert!(lost >= joints || freedom != Freedom::Rigid, "{lost} lost of {joints} joints");
            for _ in 0..20 {
                let s = dice.animation_vector(6, 0.0);
                let t = dice.animation_vector(6, 0.0);
                let (x, y) = (coordinates.of(&s).expect("all bones"), coordinates.of(&t).expect("all bones"));
                let dot: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
                prop_assert!((dot - metric.dot(&s, &t)).abs() < 1e-9, "{dot} against {}", metric.dot(&s, &t));
            }
        }
    }

    /// The slow, obvious forms equal the fast ones.
    #[test]
    fn keeping_all_blocks_does_not_change_the_metric(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let (skeleton, models) = from_limits(&mut dice, 8, Freedom::Sliding);
        let chain = PoseMetric::new(&skeleton, &models).expect("even scales");
        let table = chain.clone().with_all_blocks();
        for j in skeleton.ids() {
            for k in skeleton.ids() {
                let (a, b) = (chain.block(j, k), table.block(j, k));
                prop_assert!(a.abs_diff_eq(b, 1e-9), "block {j:?}, {k:?}: {a} against {b}");
            }
        }
        let corners: [Vec<Influence>; 3] = std::array::from_fn(|_| dice.animation_vector(8, 1.0));
        let [a, b, c] = &corners;
        let gram = table.triangle([a, b, c]);
        let slow = chain.triangle([a, b, c]);
        prop_assert!(gram.of_corners.abs_diff_eq(slow.of_corners, 1e-9), "{gram:?} against {slow:?}");
        let edge = AnimationVector::difference(b, a);
        let length = gram.edge_lengths()[2];
        prop_assert!((length - chain.norm(edge.terms())).abs() < 1e-9, "edge opposite to corner 2");
        prop_assert!((chain.distance(a, b) - length).abs() < 1e-9, "a distance is the norm of a difference");
    }

    /// A metric moved in place is that of the moved motion (thesis 3.4), by every model and mixes.
    #[test]
    fn a_moved_model_has_the_metric_of_its_moved_poses(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut motions: Vec<Motion> = (Known::all().into_iter())
            .map(|known| Motion::alike(&mut dice, known, 3))
            .collect();
        motions.extend((0..4).map(|_| Motion::mixed(&mut dice, 4)));
        for motion in motions {
            let by = Similarity::new(dice.between(0.3, 3.0), dice.rotation(), dice.vector(4.0)).expect("finite");
            for s in moved_every_way(&motion, &by, &mut dice) {
                prop_assert!(
                    (s.found - s.expected).abs() < 1e-9 * (1.0 + s.expected),
                    "{:?} {}: {} against {}", motion.known, s.way, s.found, s.expected
                );
            }
        }
    }
}

/// A length in a moved model.
struct MovedLength {
    way: &'static str,
    found: f64,
    expected: f64,
}

/// Lengths of some vectors in a moved model: each joint's model moved by itself, the metric as a whole,
/// the average as a whole, and models made anew from the moved poses.
fn moved_every_way(motion: &Motion, by: &Similarity, dice: &mut Dice) -> Vec<MovedLength> {
    let skeleton = &motion.skeleton;
    let grid = motion.grid();
    let models = motion.models(&grid);
    let metric = PoseMetric::new(skeleton, &models).expect("models that fit");
    let mut frame_means: Vec<DAffine3> = Vec::new();
    for (bone, model) in skeleton.bones().iter().zip(&models) {
        let above = bone
            .parent
            .map_or(DAffine3::IDENTITY, |a| frame_means[a.index()]);
        frame_means.push(above * model.mean());
    }
    let singly: Vec<JointModel> = (skeleton.bones().iter().zip(&models).zip(&frame_means))
        .map(|((bone, model), mean)| model.transformed(by, bone.parent.is_none(), mean))
        .collect();
    let moved = motion.moved(by);
    let anew = moved.models(&moved.grid());
    let of = |models: &[JointModel]| PoseMetric::new(&moved.skeleton, models).expect("they fit");
    let average = PoseMetric::average(&unskinned(skeleton), &grid).expect("poses");
    let ways = [
        ("each by itself", of(&singly)),
        ("as a whole", metric.transformed(by)),
        ("average", average.transformed(by)),
        ("anew", of(&anew)),
    ];
    let mut lengths = Vec::new();
    for _ in 0..10 {
        let s = dice.animation_vector(skeleton.bone_count(), 0.0);
        let scaled: Vec<Influence> = (s.iter())
            .map(|term| Influence {
                bone: term.bone,
                p: (by.scale() * term.p.truncate()).extend(term.p.w),
            })
            .collect();
        let expected = by.scale() * metric.norm(&s);
        lengths.extend(ways.iter().map(|(way, other)| MovedLength {
            way,
            found: other.norm(&scaled),
            expected,
        }));
    }
    lengths
}

/// A skin without vertices.
fn unskinned(skeleton: &Skeleton) -> Skin {
    let program = VertexProgram::Ssd(SsdProgram::default());
    Skin::new(skeleton.clone(), program, Vec::new()).expect("bones alone")
}

/// One bone carrying another, and a skin that follows both.
fn two_bones() -> Skin {
    let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
    let skeleton = Skeleton::from_rest_frames([
        ("upper".to_owned(), None, at(0.0)),
        ("lower".to_owned(), Some(BoneId(0)), at(1.0)),
    ])
    .expect("parents come first");
    let rows: Rows<Weight> = (0..2)
        .map(|bone| {
            [Weight {
                bone: BoneId(bone),
                weight: 1.0,
            }]
        })
        .collect();
    let program = SsdProgram {
        rest_positions: vec![DVec3::ZERO, DVec3::new(2.0, 0.0, 0.0)],
        weights: rows,
        corrections: Vec::new(),
    };
    Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new()).expect("a skin")
}

#[test]
fn a_fixed_skeleton_gives_euclidean_distances_at_rest() {
    let mut dice = Dice(5);
    let skeleton = dice.skeleton(6);
    let rest = skeleton.rest_pose();
    let models = models_from_poses(&skeleton, std::slice::from_ref(&rest), ModelKind::Fixed);
    let metric = PoseMetric::new(&skeleton, &models.expect("a pose")).expect("rigid");
    let palette = skeleton.palette(&rest).expect("it fits");
    for _ in 0..50 {
        let s = AnimationVector::combination([(1.0, &dice.animation_vector(6, 0.0)[..])]);
        let expected = s.project(&palette).length();
        let found = metric.norm(s.terms());
        assert!(
            (found - expected).abs() < 1e-9,
            "{found} against {expected}"
        );
    }
}

#[test]
fn a_free_elbow_has_the_known_mean_square_distance() {
    let skin = two_bones();
    let models =
        [DVec3::ZERO, DVec3::X].map(|translation| JointModel::UniformRotation { translation });
    let metric = PoseMetric::of_skin(&skin, &models).expect("no derived bones");
    let VertexProgram::Linear(LinearProgram { influences, .. }) =
        skin.to_linear().expect("linear").program
    else {
        panic!("it was made linear");
    };
    // Shoulder at 0, elbow 1 away, hand 1 from the elbow: E|d|² = 1 + 1.
    let found = metric.distance(influences.row(0), influences.row(1));
    assert!((found - 2.0f64.sqrt()).abs() < 1e-12, "{found}");
    let zero = metric.block(BoneId(0), BoneId(1));
    assert!(
        zero.abs_diff_eq(
            DMat4::from_cols_array(&[
                0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0,
            ]),
            1e-12
        ),
        "only the joint itself is shared: {zero}"
    );
}

#[test]
fn an_average_uses_every_pose() {
    let skin = two_bones();
    let pose = |angle: f64| {
        let mut pose = skin.skeleton.rest_pose();
        pose.parent_from_bone[1] *= DAffine3::from_rotation_z(angle);
        pose
    };
    let poses = [pose(0.0), pose(std::f64::consts::PI)];
    let metric = PoseMetric::average(&skin, &poses).expect("two poses");
    let linear = skin.to_linear().expect("linear");
    let VertexProgram::Linear(program) = &linear.program else {
        panic!("it was made linear");
    };
    let (a, b) = (program.influences.row(0), program.influences.row(1));
    // The hand is 2 away, or back at the shoulder: √((4 + 0)/2).
    for metric in [metric.clone(), metric.with_all_blocks()] {
        assert!(
            (metric.distance(a, b) - 2.0f64.sqrt()).abs() < 1e-12,
            "{metric:?}"
        );
    }
}

#[test]
fn inputs_without_a_closed_form_are_refused() {
    let mut skin = two_bones();
    let rotation = JointModel::rotation(glam::DMat3::IDENTITY, DVec3::ZERO);
    let flat = JointModel::Fixed {
        parent_from_bone: DAffine3::from_scale(DVec3::new(1.0, 2.0, 1.0)),
    };
    let error = PoseMetric::of_skin(&skin, &[flat, rotation.clone()]).expect_err("uneven scale");
    assert!(error.to_string().contains("lower"), "{error}");
    let error = PoseMetric::of_skin(&skin, std::slice::from_ref(&rotation)).expect_err("one model");
    assert!(
        matches!(error, MetricError::CountMismatch { .. }),
        "{error}"
    );
    let nan = JointModel::rotation(glam::DMat3::IDENTITY * f64::NAN, DVec3::ZERO);
    let error = PoseMetric::of_skin(&skin, &[rotation.clone(), nan]).expect_err("no number");
    assert!(
        matches!(error, MetricError::NotFinite { bone: 1, .. }),
        "{error}"
    );
    let error = PoseMetric::average(&skin, &[]).expect_err("no pose");
    assert!(matches!(error, MetricError::NoPoses), "{error}");

    skin.pose_program.placed = PlacedBones::Derived(vec![DerivedBone {
        bone: BoneId(1),
        of: BoneId(0),
        motion: DerivedMotion::Swell { gain: 0.5 },
    }]);
    let error = PoseMetric::of_skin(&skin, &[rotation.clone(), rotation]).expect_err("it follows");
    assert!(error.to_string().contains("lower"), "{error}");
    let turned = Pose::new(vec![DAffine3::from_quat(DQuat::from_rotation_z(1.0))]);
    PoseMetric::average(&skin, &[turned]).expect("an average goes through the pose program");
}

#[test]
fn skins_with_proxy_bones_are_refused_as_independent_joints() {
    let options = ProxyOptions {
        proxy_count: 3,
        ..ProxyOptions::default()
    };
    let skin = proxied(&two_bones(), &options);
    let poses: Vec<Pose> = (0..5)
        .map(|n| {
            let mut pose = skin.skeleton.rest_pose();
            pose.parent_from_bone[1] *= DAffine3::from_rotation_z(0.2 * f64::from(n));
            skin.complete_pose(&pose).expect("it fits")
        })
        .collect();
    let models = models_from_poses(&skin.skeleton, &poses, ModelKind::Moments).expect("poses");
    let seen = joint_statistics(&skin.skeleton, &poses);
    for refused in [
        PoseMetric::of_skin(&skin, &models),
        PoseMetric::from_statistics(&skin, &seen),
    ] {
        let error = refused.expect_err("they follow the joints");
        assert!(
            matches!(error, MetricError::Placed { count: 6, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("average over poses"), "{error}");
    }
    PoseMetric::average(&skin, &poses).expect("an average goes through the pose program");
}

#[test]
fn statistics_may_be_in_any_order_but_need_every_bone_exactly_once() {
    let skin = two_bones();
    let pose = |angle: f64| {
        let mut pose = skin.skeleton.rest_pose();
        pose.parent_from_bone[1] *= DAffine3::from_rotation_z(angle);
        pose
    };
    let poses: Vec<Pose> = (0..5).map(|n| pose(0.3 * f64::from(n))).collect();
    let mut seen = joint_statistics(&skin.skeleton, &poses);
    let truth = PoseMetric::average(&skin, &poses).expect("poses");
    seen.reverse();
    let metric = PoseMetric::from_statistics(&skin, &seen).expect("one per bone");
    for j in skin.skeleton.ids() {
        for k in skin.skeleton.ids() {
            let (found, expected) = (metric.block(j, k), truth.block(j, k));
            assert!(found.abs_diff_eq(expected, 1e-12), "block {j:?}, {k:?}");
        }
    }
    let twice = [seen[0].clone(), seen[0].clone()];
    let mut nowhere = seen.clone();
    nowhere[0].bone = BoneId(7);
    for (joints, part) in [
        (&seen[..1], "(upper) has no entry"),
        (&twice[..], "(lower) has two entries"),
        (&nowhere[..], "bone 7 does not exist"),
    ] {
        let error = PoseMetric::from_statistics(&skin, joints).expect_err("not one per bone");
        assert!(error.to_string().contains(part), "{error}");
    }
}
