//! How far each joint moves in given poses.
//!
//! The training poses of a skeleton give a model of its motion: expected matrices for distances between deformed
//! points, limits for bounds (\[Merry07\] §3). A joint's turns are described relative to their mean rotation, as
//! rotation vectors (axis times angle); this works as long as every turn is less than half a turn away from the mean.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use crate::math::nearest_rotation;
use crate::rig::{BoneId, Pose, Skeleton};

/// How a joint moved over some poses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JointStatistics {
    /// The bone that the joint moves in its parent.
    pub bone: BoneId,
    /// How many poses were used.
    pub pose_count: usize,
    /// `E[L]`, entry by entry; a rotation only if the joint never turns.
    pub mean_parent_from_bone: DAffine3,
    /// Root-mean-square distance of the joint's translation from its mean, in model units: 0 for a
    /// joint that turns in place.
    pub translation_deviation: f64,
    /// Largest distance of the joint's translation from its mean, in model units; unknown in files
    /// before version 4 of the format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translation_radius: Option<f64>,
    /// `E[lin(L)ᵀ lin(L)]`; left out where it is the identity, as for a joint that only turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear_square: Option<DMat3>,
    /// Whether any of the matrices mirrors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mirrored: bool,
    /// The mean of the rotations: rotation vectors from it sum to zero.
    pub mean_rotation: DQuat,
    /// Smallest rotation vector from the mean rotation, axis by axis of the bone, in radians.
    pub rotation_min_rad: DVec3,
    /// Largest rotation vector from the mean rotation, axis by axis of the bone, in radians.
    pub rotation_max_rad: DVec3,
    /// Largest angle from the mean rotation, in radians.
    pub max_angle_rad: f64,
    /// The axis about which the joint turns, when it turns about one axis only.
    ///
    /// No rotation vector leaves the axis by more than a twentieth of the largest (3° for a range of ±60°). At least
    /// three poses are needed: any two turns differ by a turn about one axis.
    pub hinge: Option<Hinge>,
    /// Smallest and largest scale of the joint's matrix along any direction.
    pub scale_range: [f64; 2],
}

/// A joint that turns about one axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hinge {
    /// Unit axis in the bone's frame; its largest component is positive.
    pub axis: DVec3,
    /// Smallest angle from the mean rotation, in radians.
    pub min_rad: f64,
    /// Largest angle from the mean rotation, in radians.
    pub max_rad: f64,
}

/// The largest distance of a rotation vector from a hinge's axis, as a share of the largest rotation vector.
pub(super) const HINGE_TOLERANCE: f64 = 0.05;
/// A joint that turns less than this, in radians, counts as still: rounding to single precision can cause as much.
pub(super) const STILL_RAD: f64 = 1e-4;

/// Mean squares of scales this near to 1 count as those of a joint that only turns.
const RIGID: f64 = 1e-5;

/// The statistics of every joint over some poses, in the order of the bones.
///
/// A pose may leave out bones at the end (the derived ones); it does not count for them. A joint that is in no pose is
/// left out, so without poses the list is empty.
///
/// ```
/// use dermis::joint::joint_statistics;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let poses: Vec<_> = arm.examples().iter().map(|e| e.pose.clone()).collect();
/// let joints = joint_statistics(arm.skeleton(), &poses);
/// let elbow = joints[1].hinge.as_ref().expect("an elbow turns about one axis");
/// assert!(elbow.axis.abs_diff_eq(glam::DVec3::Z, 1e-6));
/// // Bent from 0° to 115°, whatever the mean is.
/// let range_deg = (elbow.max_rad - elbow.min_rad).to_degrees();
/// assert!((range_deg - 115.0).abs() < 1.0);
/// ```
pub fn joint_statistics(skeleton: &Skeleton, poses: &[Pose]) -> Vec<JointStatistics> {
    skeleton
        .ids()
        .filter_map(|bone| {
            let seen = poses
                .iter()
                .filter_map(|p| p.parent_from_bone.get(bone.index()));
            let locals: Vec<DAffine3> = seen.copied().collect();
            (!locals.is_empty()).then(|| statistics_of(bone, &locals))
        })
        .collect()
}

fn statistics_of(bone: BoneId, locals: &[DAffine3]) -> JointStatistics {
    let share = 1.0 / locals.len() as f64;
    let mut mean = DAffine3::ZERO;
    for local in locals {
        mean.matrix3 += share * local.matrix3;
        mean.translation += share * local.translation;
    }
    let squared: f64 = locals
        .iter()
        .map(|l| l.translation.distance_squared(mean.translation))
        .sum();

    let from_mean = |l: &DAffine3| l.translation.distance(mean.translation);
    let farthest = locals.iter().map(from_mean).fold(0.0, f64::max);
    let square = locals.iter().fold(DMat3::ZERO, |sum, l| {
        sum + share * (l.matrix3.transpose() * l.matrix3)
    });

    let rotations: Vec<DQuat> = locals
        .iter()
        .map(|l| DQuat::from_mat3(&nearest_rotation(l.matrix3)).normalize())
        .collect();
    let mean_rotation = mean_rotation(&rotations);
    let turns = rotation_vectors(mean_rotation, &rotations);
    let first = turns[0];
    let (rotation_min_rad, rotation_max_rad) = turns
        .iter()
        .fold((first, first), |(low, high), t| (low.min(*t), high.max(*t)));

    let scales = locals.iter().map(|l| scale_range(&l.matrix3));
    let scale_range = scales
        .reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
        .unwrap_or([1.0, 1.0]);
    JointStatistics {
        bone,
        pose_count: locals.len(),
        mean_parent_from_bone: mean,
        translation_deviation: (share * squared).sqrt(),
        translation_radius: Some(farthest),
        linear_square: (!square.abs_diff_eq(DMat3::IDENTITY, RIGID)).then_some(square),
        mirrored: locals.iter().any(|l| l.matrix3.determinant() < 0.0),
        mean_rotation,
        rotation_min_rad,
        rotation_max_rad,
        max_angle_rad: largest(&turns),
        hinge: hinge(&turns),
        scale_range,
    }
}

fn largest(vectors: &[DVec3]) -> f64 {
    vectors.iter().map(|v| v.length()).fold(0.0, f64::max)
}

/// The rotation from which rotation vectors sum to zero.
///
/// Starts from the normalised sum of quaternions, with signs matched to the first, and steps by the mean rotation
/// vector. This converges fast when all rotations lie within half a turn of the mean.
fn mean_rotation(rotations: &[DQuat]) -> DQuat {
    const MAX_STEPS: usize = 50;
    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let sum = rotations.iter().fold(zero, |sum, q| {
        if rotations[0].dot(*q) < 0.0 {
            sum - *q
        } else {
            sum + *q
        }
    });
    let mut mean = match sum.length() > 1e-6 {
        true => sum.normalize(),
        false => rotations[0],
    };
    for _ in 0..MAX_STEPS {
        let turns = rotation_vectors(mean, rotations);
        let step = turns.iter().sum::<DVec3>() / rotations.len() as f64;
        mean = (mean * DQuat::from_scaled_axis(step)).normalize();
        if step.length() < 1e-14 {
            break;
        }
    }
    mean
}

/// Each rotation relative to a mean one, in the bone's frame; at most half a turn.
fn rotation_vectors(mean: DQuat, rotations: &[DQuat]) -> Vec<DVec3> {
    rotations
        .iter()
        .map(|q| {
            let turn = mean.inverse() * *q;
            (if turn.w < 0.0 { -turn } else { turn }).to_scaled_axis()
        })
        .collect()
}

fn hinge(turns: &[DVec3]) -> Option<Hinge> {
    let farthest = largest(turns);
    if turns.len() < 3 || farthest < STILL_RAD {
        return None;
    }
    let mut spread = DMat3::ZERO;
    for t in turns {
        spread += DMat3::from_cols(t.x * *t, t.y * *t, t.z * *t);
    }
    let axis = symmetric_eigen(&spread)[2].1;
    let sign = axis[axis.abs().max_position()].signum();
    let axis = sign * axis;
    let off_axis = |t: &DVec3| (*t - axis * axis.dot(*t)).length();
    let angles = || turns.iter().map(|t| axis.dot(*t));
    turns
        .iter()
        .all(|t| off_axis(t) <= HINGE_TOLERANCE * farthest)
        .then(|| Hinge {
            axis,
            min_rad: angles().fold(f64::INFINITY, f64::min),
            max_rad: angles().fold(f64::NEG_INFINITY, f64::max),
        })
}

/// Smallest and largest singular value.
fn scale_range(matrix: &DMat3) -> [f64; 2] {
    let pairs = symmetric_eigen(&(matrix.transpose() * *matrix));
    [pairs[0].0, pairs[2].0].map(|squared| squared.max(0.0).sqrt())
}

/// Eigenvalues of a symmetric matrix in rising order, each with its unit eigenvector (Jacobi).
pub(super) fn symmetric_eigen(matrix: &DMat3) -> [(f64, DVec3); 3] {
    let mut a = *matrix;
    let mut vectors = DMat3::IDENTITY;
    for _ in 0..12 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.col(q)[p];
            if off == 0.0 {
                continue;
            }
            let ratio = (a.col(q)[q] - a.col(p)[p]) / (2.0 * off);
            let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(p)[p] = cosine;
            turn.col_mut(q)[q] = cosine;
            turn.col_mut(q)[p] = tangent * cosine;
            turn.col_mut(p)[q] = -tangent * cosine;
            a = turn.transpose() * a * turn;
            vectors *= turn;
        }
    }
    let mut pairs = [0, 1, 2].map(|k| (a.col(k)[k], vectors.col(k)));
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0));
    pairs
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_3;

    use super::*;

    /// One joint with a parent that stands still.
    fn seen(locals: impl IntoIterator<Item = DAffine3>) -> JointStatistics {
        let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
        let skeleton = Skeleton::from_rest_frames([
            ("root".to_owned(), None, at(0.0)),
            ("bone".to_owned(), Some(BoneId(0)), at(1.0)),
        ])
        .expect("two bones");
        let poses: Vec<Pose> = locals
            .into_iter()
            .map(|local| Pose::new(vec![DAffine3::IDENTITY, local]))
            .collect();
        let mut all = joint_statistics(&skeleton, &poses);
        assert_eq!(all.len(), 2, "one per bone");
        all.remove(1)
    }

    fn turned(rotation: DQuat) -> DAffine3 {
        DAffine3::from_rotation_translation(rotation, DVec3::X)
    }

    #[test]
    fn an_elbow_is_a_hinge_with_its_range_about_the_middle() {
        let axis = DVec3::new(0.1, 0.2, -0.9).normalize();
        let frame = DQuat::from_rotation_y(0.8);
        let elbow =
            seen((0..=12).map(|k| {
                turned(frame * DQuat::from_axis_angle(axis, (10.0 * k as f64).to_radians()))
            }));
        let hinge = elbow.hinge.as_ref().expect("one axis");
        assert!(hinge.axis.abs_diff_eq(-axis, 1e-9), "found {}", hinge.axis);
        assert!(
            (hinge.min_rad + FRAC_PI_3).abs() < 1e-9 && (hinge.max_rad - FRAC_PI_3).abs() < 1e-9,
            "±60°: {hinge:?}"
        );
        let middle = frame * DQuat::from_axis_angle(axis, FRAC_PI_3);
        assert!(
            elbow.mean_rotation.dot(middle).abs() > 1.0 - 1e-12,
            "found {}",
            elbow.mean_rotation
        );
        assert!((elbow.max_angle_rad - FRAC_PI_3).abs() < 1e-9, "{elbow:?}");
        assert!(elbow.translation_deviation < 1e-12, "it turns in place");
        assert_eq!(elbow.pose_count, 13, "all poses");
    }

    #[test]
    fn a_ball_joint_is_no_hinge_and_keeps_its_extremes() {
        let ball = seen((0..60).map(|k| {
            let phase = |step: f64| (step * k as f64).sin();
            let turn = DVec3::new(0.8 * phase(1.1), 0.5 * phase(2.3), 0.3 * phase(3.7));
            turned(DQuat::from_scaled_axis(turn))
        }));
        assert!(ball.hinge.is_none(), "{:?}", ball.hinge);
        let size = 0.5 * (ball.rotation_max_rad - ball.rotation_min_rad);
        assert!(
            size.abs_diff_eq(DVec3::new(0.8, 0.5, 0.3), 0.1),
            "about as far as it was turned: {size}"
        );
    }

    #[test]
    fn a_hinge_may_wobble_within_the_tolerance() {
        let wobbling = |wobble: f64| {
            seen((0..20).map(|k| {
                let t = 0.1 * k as f64;
                let turn = DVec3::new(t, wobble * (7.0 * t).sin(), 0.0);
                turned(DQuat::from_scaled_axis(turn))
            }))
        };
        assert!(wobbling(0.02).hinge.is_some(), "a fiftieth of the way");
        assert!(wobbling(0.3).hinge.is_none(), "a third of the way");
    }

    #[test]
    fn scale_slide_and_mean_matrix_are_those_of_the_poses() {
        let scaled = |s: f64, x: f64| {
            DAffine3::from_scale_rotation_translation(
                DVec3::new(1.0, s, 1.0),
                DQuat::from_rotation_z(0.5 * s),
                DVec3::X * x,
            )
        };
        let joint = seen([scaled(0.5, 1.0), scaled(2.0, 3.0)]);
        assert!(
            (joint.scale_range[0] - 0.5).abs() < 1e-12
                && (joint.scale_range[1] - 2.0).abs() < 1e-12,
            "{:?}",
            joint.scale_range
        );
        assert!((joint.translation_deviation - 1.0).abs() < 1e-12, "1 and 3");
        let mean = 0.5 * (scaled(0.5, 1.0).matrix3 + scaled(2.0, 3.0).matrix3);
        assert!(
            joint.mean_parent_from_bone.matrix3.abs_diff_eq(mean, 1e-12),
            "entry by entry"
        );
        assert!(
            (joint.max_angle_rad - 0.375).abs() < 1e-12,
            "scale does not count as turn: {}",
            joint.max_angle_rad
        );
        assert!(joint.hinge.is_none(), "two poses tell no axis");
    }

    #[test]
    fn a_still_joint_has_no_turn_and_no_poses_give_no_statistics() {
        let still = seen([turned(DQuat::from_rotation_x(1.0)); 4]);
        assert!(
            still.hinge.is_none() && still.max_angle_rad < 1e-9,
            "{still:?}"
        );
        let skeleton = Skeleton::from_rest_frames([("root".to_owned(), None, DAffine3::IDENTITY)])
            .expect("one bone");
        assert!(
            joint_statistics(&skeleton, &[]).is_empty(),
            "no poses were given"
        );
    }

    #[test]
    fn mirrored_and_flat_matrices_still_give_a_rotation() {
        for scale in [DVec3::new(-1.0, 1.0, 1.0), DVec3::new(1.0, 0.0, 2.0)] {
            let local = DAffine3::from_scale_rotation_translation(
                scale,
                DQuat::from_rotation_z(0.3),
                DVec3::ZERO,
            );
            let rotation = nearest_rotation(local.matrix3);
            let rounding = rotation * rotation.transpose() - DMat3::IDENTITY;
            assert!(
                rounding.abs_diff_eq(DMat3::ZERO, 1e-9) && rotation.determinant() > 0.0,
                "scale {scale}: {rotation:?}"
            );
        }
    }
}
