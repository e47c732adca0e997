//! Fact 5: `P` from each closed form is the average over poses, and positive semidefinite.
//!
//! Averages are of two kinds: over the grid of all poses of a motion, which has only rounding errors, and
//! over 30,000 random poses, where five standard errors are allowed. Seeds are fixed: with fresh ones, some
//! of the 27,000 numbers compared would be off by more in one of about sixty runs.

use dermis::joint::JointLimits;
use dermis::metric::{
    JointModel, ModelKind, PoseMetric, model_from_limits, statistics_from_limits,
};
use dermis::rig::{BoneId, Palette, Pose, Skeleton};
use glam::{DAffine3, DMat3};

use crate::metric_support::motion::{Known, Motion};
use crate::metric_support::{Dice, Freedom, poses};

/// Number of poses of a random average.
const DRAWN: usize = 30_000;
/// Standard errors by which such an average may be off.
const ERRORS: f64 = 5.0;

fn palettes(skeleton: &Skeleton, poses: &[Pose]) -> Vec<Palette> {
    let palette = |pose: &Pose| skeleton.palette(pose).expect("the pose fits");
    poses.iter().map(palette).collect()
}

/// `G_jᵀG_k` of one pose as 3×4 matrices, entry by entry.
fn product(palette: &Palette, j: usize, k: usize) -> [f64; 16] {
    let columns = |bone: usize| {
        let g = &palette.model_from_bone[bone];
        [
            g.matrix3.x_axis,
            g.matrix3.y_axis,
            g.matrix3.z_axis,
            g.translation,
        ]
    };
    let (a, b) = (columns(j), columns(k));
    std::array::from_fn(|n| a[n % 4].dot(b[n / 4]))
}

/// Fails unless every block of a metric is the average, to within `errors` standard errors.
#[track_caller]
fn assert_average(metric: &PoseMetric, palettes: &[Palette], errors: f64, what: &str) {
    let count = palettes.len() as f64;
    for j in 0..metric.bone_count() {
        for k in 0..metric.bone_count() {
            let mut sums = [[0.0; 2]; 16];
            for palette in palettes {
                for (sum, value) in sums.iter_mut().zip(product(palette, j, k)) {
                    sum[0] += value;
                    sum[1] += value * value;
                }
            }
            let block = metric.block(BoneId(j as u16), BoneId(k as u16));
            for (found, [sum, squares]) in block.to_cols_array().iter().zip(sums) {
                let mean = sum / count;
                let deviation = (squares / count - mean * mean).max(0.0).sqrt();
                let allowed = errors * deviation / count.sqrt() + 1e-9 * (1.0 + mean.abs());
                assert!(
                    (found - mean).abs() <= allowed,
                    "{what}: block {j}, {k}: {found} against {mean} ± {allowed}"
                );
            }
        }
    }
}

/// Fails unless the motion's closed form is its average, over all poses and over random ones.
#[track_caller]
fn assert_holds(motion: &Motion, dice: &mut Dice) {
    let what = format!("{:?}", motion.known);
    let grid = motion.grid();
    let models = motion.models(&grid);
    let metric = PoseMetric::new(&motion.skeleton, &models).expect("models that fit");
    let whole = palettes(&motion.skeleton, &grid);
    assert_average(&metric, &whole, 0.0, &format!("all poses, {what}"));
    let drawn = palettes(&motion.skeleton, &motion.draw(dice, DRAWN));
    assert_average(&metric, &drawn, ERRORS, &format!("drawn poses, {what}"));
}

#[test]
fn fact_5_every_model_equals_the_average_where_it_holds() {
    for known in Known::all() {
        for seed in 0..3 {
            let mut dice = Dice(seed);
            let motion = Motion::alike(&mut dice, known, 4);
            assert_holds(&motion, &mut dice);
        }
    }
}

#[test]
fn fact_5_mixed_models_equal_the_average() {
    let mut pairs = Vec::new();
    for seed in 0..24 {
        let mut dice = Dice(100 + seed);
        let motion = Motion::mixed(&mut dice, 4);
        assert_holds(&motion, &mut dice);
        for (bone, below) in motion.skeleton.bones().iter().zip(&motion.known) {
            pairs.extend(bone.parent.map(|a| (motion.known[a.index()], *below)));
        }
    }
    for known in Known::all() {
        assert!(
            pairs
                .iter()
                .any(|(above, below)| *above == known && *below != known),
            "{known:?} above another"
        );
        assert!(
            pairs
                .iter()
                .any(|(above, below)| *below == known && *above != known),
            "{known:?} below another"
        );
    }
}

/// `E[RᵀAR] = trace(A)/3 · I` needs no even `A`.
#[test]
fn fact_5_uniform_rotations_equal_the_average_below_bones_that_stretch_unevenly() {
    let uneven = [
        ModelKind::Moments,
        ModelKind::Independent,
        ModelKind::IndependentComponents,
        ModelKind::FixedTranslation,
    ];
    for (seed, kind) in uneven.into_iter().enumerate() {
        let mut dice = Dice(200 + seed as u64);
        let motion = Motion::uniform_below(&mut dice, Known::By(kind), 3);
        assert_holds(&motion, &mut dice);
        // Make sure that the parent stretches unevenly: plain rotations refuse it.
        let mut models = motion.models(&motion.grid());
        models[1] = JointModel::rotation(DMat3::IDENTITY, glam::DVec3::ZERO);
        let refused = PoseMetric::new(&motion.skeleton, &models);
        assert!(refused.is_err(), "{kind:?} stretches unevenly");
    }
}

/// Hinges, cones, swings with twists, free and still joints, all in one skeleton; sliding and stretching.
#[test]
fn fact_5_joints_spread_over_limits_equal_the_average() {
    for freedom in [Freedom::Rigid, Freedom::Sliding, Freedom::Stretching] {
        for seed in 0..8 {
            let mut dice = Dice(300 + seed);
            let skeleton = dice.skeleton(6);
            let limits = dice.limits(&skeleton, freedom);
            let models: Vec<JointModel> = limits.iter().map(model_from_limits).collect();
            let metric = PoseMetric::new(&skeleton, &models).expect("even scales");
            let drawn = palettes(&skeleton, &poses(&skeleton, &limits, 0.0, DRAWN));
            assert_average(
                &metric,
                &drawn,
                ERRORS,
                &format!("{freedom:?}, seed {seed}"),
            );
        }
    }
}

/// Scales are spread over their range the same along all axes, or along each axis by itself: the mean
/// squares are the same.
#[test]
fn fact_5_scales_that_are_the_same_along_all_axes_equal_the_average() {
    let mut dice = Dice(400);
    let skeleton = dice.skeleton(5);
    let limits = dice.limits(&skeleton, Freedom::Stretching);
    let models: Vec<JointModel> = limits.iter().map(model_from_limits).collect();
    let metric = PoseMetric::new(&skeleton, &models).expect("even scales");
    let rigid: Vec<JointLimits> = (limits.iter())
        .map(|joint| JointLimits {
            scale_range: [1.0, 1.0],
            ..joint.clone()
        })
        .collect();
    let mut drawn = poses(&skeleton, &rigid, 0.0, DRAWN);
    for pose in &mut drawn {
        for (local, joint) in pose.parent_from_bone.iter_mut().zip(&limits) {
            let [least, most] = joint.scale_range;
            local.matrix3 *= dice.between(least, most);
        }
    }
    assert_average(&metric, &palettes(&skeleton, &drawn), ERRORS, "even scales");
}

/// Statistics made from limits, as a file keeps them, give the same model as the limits.
#[test]
fn statistics_of_limits_make_the_model_of_limits() {
    let mut dice = Dice(500);
    for freedom in [Freedom::Rigid, Freedom::Sliding, Freedom::Stretching] {
        let skeleton = dice.skeleton(12);
        for joint in dice.limits(&skeleton, freedom) {
            let kept = JointModel::from_statistics(&statistics_from_limits(&joint));
            let (
                JointModel::Rotation {
                    mean,
                    linear_square,
                    translation_covariance,
                },
                JointModel::Rotation {
                    mean: expected,
                    linear_square: expected_square,
                    translation_covariance: expected_covariance,
                },
            ) = (&kept, &model_from_limits(&joint))
            else {
                panic!("both are rotations: {kept:?}");
            };
            let same = mean.abs_diff_eq(*expected, 1e-12)
                && linear_square.abs_diff_eq(*expected_square, 1e-12)
                && translation_covariance.abs_diff_eq(*expected_covariance, 1e-12);
            assert!(same, "{joint:?}: {kept:?}");
        }
    }
}

/// The eigenvalues of `P`, rising; with the papers' 4×4 matrices every block has 1 more in its last entry.
fn eigenvalues(metric: &PoseMetric, as_in_the_papers: bool) -> Vec<f64> {
    let bones: Vec<BoneId> = (0..metric.bone_count() as u16).map(BoneId).collect();
    let size = 4 * bones.len();
    let p = metric.restricted(&bones);
    let matrix = faer::Mat::from_fn(size, size, |r, c| {
        let last = as_in_the_papers && r % 4 == 3 && c % 4 == 3;
        p[r * size + c] + f64::from(u8::from(last))
    });
    let mut values = (matrix.self_adjoint_eigenvalues(faer::Side::Lower)).expect("it converges");
    values.sort_by(f64::total_cmp);
    values
}

/// Fails unless `P` is positive semidefinite and loses a dimension at least for each tied joint.
#[track_caller]
fn assert_semidefinite(metric: &PoseMetric, tied: usize, what: &str) {
    for as_in_the_papers in [false, true] {
        let values = eigenvalues(metric, as_in_the_papers);
        let rounding = 1e-12 * values[values.len() - 1];
        assert!(
            values[0] >= -rounding,
            "{what}: an eigenvalue of {} beside {}",
            values[0],
            values[values.len() - 1]
        );
        let nullity = values.iter().filter(|v| **v <= rounding).count();
        assert!(
            nullity >= tied,
            "{what}: nullity {nullity} of {tied} joints"
        );
    }
}

fn tied_joints(motion: &Motion) -> usize {
    let bones = motion.skeleton.bones().iter().zip(&motion.known);
    bones
        .filter(|(bone, known)| bone.parent.is_some() && known.is_tied())
        .count()
}

#[test]
fn fact_5_p_is_positive_semidefinite_and_loses_a_dimension_per_fixed_translation() {
    for known in Known::all() {
        for seed in 0..6 {
            let motion = Motion::alike(&mut Dice(600 + seed), known, 4);
            let models = motion.models(&motion.grid());
            let metric = PoseMetric::new(&motion.skeleton, &models).expect("models that fit");
            let tied = tied_joints(&motion);
            let all_or_none = if known.is_tied() { 3 } else { 0 };
            assert_eq!(tied, all_or_none, "b − 1 joints of {known:?}");
            assert_semidefinite(&metric, tied, &format!("{known:?}"));
        }
    }
    for seed in 0..40 {
        let motion = Motion::mixed(&mut Dice(700 + seed), 4);
        let grid = motion.grid();
        let metric = PoseMetric::new(&motion.skeleton, &motion.models(&grid)).expect("they fit");
        let what = format!("{:?}", motion.known);
        assert_semidefinite(&metric, tied_joints(&motion), &what);
    }
    for freedom in [Freedom::Rigid, Freedom::Sliding, Freedom::Stretching] {
        for seed in 0..20 {
            let mut dice = Dice(800 + seed);
            let skeleton = dice.skeleton(6);
            let limits = dice.limits(&skeleton, freedom);
            let models: Vec<JointModel> = limits.iter().map(model_from_limits).collect();
            let metric = PoseMetric::new(&skeleton, &models).expect("even scales");
            let joints = skeleton.bones().iter().filter(|b| b.parent.is_some());
            let tied = match freedom {
                Freedom::Rigid => joints.count(),
                _ => 0,
            };
            assert_semidefinite(&metric, tied, &format!("{freedom:?}, seed {seed}"));
        }
    }
}

/// Why the papers' independent joints are to be used with care: blocks of poses in which joints move
/// together contradict the rest of `P`.
#[test]
fn independent_joints_of_joints_that_move_together_may_be_indefinite() {
    let at = |x: f64| DAffine3::from_translation(glam::DVec3::X * x);
    let skeleton = Skeleton::from_rest_frames([
        ("upper".to_owned(), None, at(0.0)),
        ("lower".to_owned(), Some(BoneId(0)), at(1.0)),
    ])
    .expect("parents come first");
    // The root slides one way and its child the other, so that the child stays where it is.
    let pose = |x: f64| Pose::new(vec![at(x), at(1.0 - x)]);
    let poses = [pose(-1.0), pose(1.0)];
    let lowest = |kind: ModelKind| {
        let models = dermis::metric::models_from_poses(&skeleton, &poses, kind).expect("poses");
        let metric = PoseMetric::new(&skeleton, &models).expect("any scales");
        eigenvalues(&metric, false)[0]
    };
    let independent = lowest(ModelKind::Independent);
    assert!(independent < -1e-3, "{independent}");
    let moments = lowest(ModelKind::Moments);
    assert!(moments > -1e-12, "{moments}");
}
