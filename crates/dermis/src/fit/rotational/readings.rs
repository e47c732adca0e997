//! The turns of all joints in the training poses, as rotation vectors that the run-time will read in the same
//! way.

use std::f64::consts::PI;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::ridge::Designs;
use crate::example::ExampleSet;
use crate::math::{nearest_branch, nearest_rotation, rotation_vector};
use crate::measure::posed_from_rest;
use crate::rig::{BoneId, JointReading};

/// Turns up to this are read the short way round from rest. For larger turns, the middle of the turns in the
/// examples decides which way round a turn is.
const SURELY_SHORT_RAD: f64 = 0.9 * PI;
/// A joint that never turns as far as this is ignored, in radians.
const STILL_RAD: f64 = 1e-3;

/// The motion of the skeleton in the rest pose, which is example 0, and in the training poses.
pub(super) struct Readings {
    /// `N_j` by bone, then by example.
    pub(super) motion: Vec<Vec<DAffine3>>,
    /// The rotation nearest to its linear part.
    pub(super) rotation: Vec<Vec<DQuat>>,
    /// The joints that turn.
    pub(super) joints: Vec<JointReading>,
    /// Where each of them is in the rest pose.
    pub(super) pivots: Vec<DVec3>,
    /// `θ` by joint, then by example.
    pub(super) turns: Vec<Vec<DVec3>>,
    pub(super) tree: PoseTree,
    /// Regressions on the turns.
    pub(super) designs: Designs,
}

/// The examples as a tree with the rest pose as its root and short edges: along it turns are followed from
/// pose to pose, so that a turn may grow beyond half a circle. In an animation the edges join frames that
/// follow each other; in a set of poses, those that are alike.
pub(super) struct PoseTree {
    /// Each example and its predecessor, predecessors first.
    pub(super) edges: Vec<(usize, usize)>,
}

impl Readings {
    pub(super) fn new(set: &ExampleSet, training: &[usize]) -> Self {
        let skeleton = set.skeleton();
        let posed = posed_from_rest(set, training);
        let motion: Vec<Vec<DAffine3>> = (0..skeleton.bone_count())
            .map(|j| {
                let of_examples = posed.iter().map(|matrices| matrices[j]);
                std::iter::once(DAffine3::IDENTITY)
                    .chain(of_examples)
                    .collect()
            })
            .collect();
        let rotation: Vec<Vec<DQuat>> = (motion.iter())
            .map(|track| track.iter().map(|m| quaternion(&m.matrix3)).collect())
            .collect();
        let all: Vec<(BoneId, BoneId)> = skeleton
            .ids()
            .filter_map(|bone| Some((bone, skeleton.bones()[bone.index()].parent?)))
            .collect();
        let vectors: Vec<Vec<DVec3>> = (all.iter())
            .map(|(bone, parent)| {
                let pairs = motion[parent.index()].iter().zip(&motion[bone.index()]);
                pairs
                    .map(|(a, b)| joint_vector(&a.matrix3, &b.matrix3))
                    .collect()
            })
            .collect();
        let tree = PoseTree::new(&vectors, training.len() + 1);
        let (mut joints, mut pivots, mut turns) = (Vec::new(), Vec::new(), Vec::new());
        for (&(bone, parent), vectors) in all.iter().zip(&vectors) {
            let followed = tree.follow(vectors);
            let largest = followed.iter().map(|t| t.length()).fold(0.0, f64::max);
            if !largest.is_finite() || largest < STILL_RAD {
                continue;
            }
            let middle = match largest <= SURELY_SHORT_RAD {
                true => DVec3::ZERO,
                false => {
                    let low = followed.iter().fold(DVec3::INFINITY, |a, b| a.min(*b));
                    let high = followed.iter().fold(DVec3::NEG_INFINITY, |a, b| a.max(*b));
                    0.5 * (low + high)
                }
            };
            joints.push(JointReading {
                bone,
                parent,
                middle,
            });
            let rest_model_from_bone = skeleton.bones()[bone.index()].bone_from_rest.inverse();
            pivots.push(rest_model_from_bone.translation);
            // As a run-time reads them, without a previous pose.
            turns.push(vectors.iter().map(|v| nearest_branch(*v, middle)).collect());
        }
        let designs = Designs::new(turns.clone(), training.len() + 1);
        Self {
            motion,
            rotation,
            joints,
            pivots,
            turns,
            tree,
            designs,
        }
    }

    /// The joints at either end of some bones.
    pub(super) fn joints_of(&self, bones: &[(BoneId, f64)]) -> Vec<usize> {
        let meets = |joint: &JointReading| {
            bones
                .iter()
                .any(|(bone, _)| [joint.bone, joint.parent].contains(bone))
        };
        (0..self.joints.len())
            .filter(|&j| meets(&self.joints[j]))
            .collect()
    }

    /// The other joints at either end of a joint's two bones.
    pub(super) fn joints_around(&self, joint: usize) -> impl Iterator<Item = usize> {
        let JointReading { bone, parent, .. } = self.joints[joint];
        let meets = move |other: &JointReading| {
            [other.bone, other.parent]
                .iter()
                .any(|b| [bone, parent].contains(b))
        };
        let numbered = self.joints.iter().enumerate();
        numbered
            .filter(move |(j, other)| *j != joint && meets(other))
            .map(|(j, _)| j)
    }
}

impl PoseTree {
    /// The tree of least total length (Prim), lengths being the angles between turns of all joints. Every pair of
    /// examples is looked at: O(K² J) for K examples and J joints.
    fn new(vectors: &[Vec<DVec3>], count: usize) -> Self {
        let quaternions: Vec<Vec<DQuat>> = (0..count)
            .map(|k| {
                let of_joints = vectors
                    .iter()
                    .map(|joint| DQuat::from_scaled_axis(joint[k]));
                of_joints.collect()
            })
            .collect();
        let squared = |a: usize, b: usize| -> f64 {
            let pairs = quaternions[a].iter().zip(&quaternions[b]);
            pairs
                .map(|(a, b)| {
                    let angle = 2.0 * a.dot(*b).abs().min(1.0).acos();
                    angle * angle
                })
                .sum()
        };
        let mut nearest: Vec<(f64, usize)> = (0..count).map(|k| (squared(0, k), 0)).collect();
        let mut is_in = vec![false; count];
        is_in[0] = true;
        let mut edges = Vec::with_capacity(count.saturating_sub(1));
        for _ in 1..count {
            let outside = (0..count).filter(|&k| !is_in[k]);
            let next = outside.min_by(|&a, &b| nearest[a].0.total_cmp(&nearest[b].0));
            let next = next.expect("one is outside");
            is_in[next] = true;
            edges.push((next, nearest[next].1));
            for k in 0..count {
                if !is_in[k] {
                    let distance = squared(next, k);
                    if distance < nearest[k].0 {
                        nearest[k] = (distance, next);
                    }
                }
            }
        }
        Self { edges }
    }

    /// Rotation vectors that change continuously from pose to pose; the rest pose keeps its own.
    pub(super) fn follow(&self, vectors: &[DVec3]) -> Vec<DVec3> {
        let mut followed = vectors.to_vec();
        for &(example, before) in &self.edges {
            followed[example] = nearest_branch(vectors[example], followed[before]);
        }
        followed
    }
}

fn joint_vector(parent: &DMat3, bone: &DMat3) -> DVec3 {
    rotation_vector(&nearest_rotation(parent.inverse() * *bone))
}

fn quaternion(m: &DMat3) -> DQuat {
    DQuat::from_mat3(&nearest_rotation(*m)).normalize()
}
