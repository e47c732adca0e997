//! Balls carried from bone to bone to the root: the worst case over all legal poses.

use super::BoundsError;
use super::joint_bound::carried;
use crate::mesh::Ball;
use crate::rig::{JointLimits, Skeleton};
use crate::skin::Influence;

/// Bounds on `G s` over all legal poses.
///
/// `G s = Σ_j G_j s_j` is summed up from the leaves to the root: what bone `j` and the bones below it
/// contribute is a vector in `j`'s frame, somewhere in a ball, and the joint carries the ball to the
/// parent's frame, where balls add up (\[Merry07\] Eq. 3.20). Weights need no ball: they only add up.
///
/// ```
/// use dermis::bounds::PoseBounds;
/// use dermis::rig::free_joints;
/// use dermis::skin::Influence;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let skeleton = arm.skeleton();
/// let bounds = PoseBounds::new(skeleton, &free_joints(skeleton))?;
/// // From the shoulder to a point beyond the elbow: never farther than the two bones are long.
/// let shoulder = Influence { bone: dermis::BoneId(0), p: glam::DVec4::new(0.0, 0.0, 0.0, -1.0) };
/// let hand = Influence { bone: dermis::BoneId(1), p: glam::DVec4::new(0.0, 0.5, 0.0, 1.0) };
/// let upper_arm = skeleton.rest_pose().parent_from_bone[1].translation.length();
/// let most = bounds.norm(&[shoulder, hand]);
/// assert!((most - (upper_arm + 0.5)).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PoseBounds {
    parents: Vec<Option<usize>>,
    limits: Vec<JointLimits>,
}

/// What a bone and those below it add to `G s`, in the bone's frame.
#[derive(Debug, Clone, Copy)]
struct Part {
    bone: usize,
    ball: Ball,
    weight: f64,
}

impl PoseBounds {
    /// Bounds for a skeleton, with limits for every bone in order.
    ///
    /// # Errors
    /// [`BoundsError::CountMismatch`], and [`BoundsError::Rig`] for limits that contradict themselves.
    pub fn new(skeleton: &Skeleton, limits: &[JointLimits]) -> Result<Self, BoundsError> {
        if limits.len() != skeleton.bone_count() {
            return Err(BoundsError::CountMismatch {
                what: "joint limits",
                expected: skeleton.bone_count(),
                found: limits.len(),
            });
        }
        limits.iter().try_for_each(JointLimits::check)?;
        Ok(Self {
            parents: (skeleton.bones().iter())
                .map(|bone| bone.parent.map(|parent| parent.index()))
                .collect(),
            limits: limits.to_vec(),
        })
    }

    /// A ball that holds `G s` in every legal pose: where a point can be, or how two can be apart.
    ///
    /// Cost: O(bones between those of `s` and the root).
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn ball(&self, s: &[Influence]) -> Ball {
        // By rising bone, so that the last one has everything below it.
        let mut parts: Vec<Part> = Vec::with_capacity(s.len() + 1);
        let nothing = Ball {
            center: glam::DVec3::ZERO,
            radius: 0.0,
        };
        for term in s {
            let ball = Ball {
                center: term.p.truncate(),
                radius: 0.0,
            };
            add(&mut parts, term.bone.index(), &ball, term.p.w);
        }
        let mut total = nothing;
        while let Some(part) = parts.pop() {
            let ball = carried(&self.limits[part.bone], &part.ball, part.weight);
            match self.parents[part.bone] {
                Some(parent) => add(&mut parts, parent, &ball, part.weight),
                None => {
                    total.center += ball.center;
                    total.radius += ball.radius;
                }
            }
        }
        total
    }

    /// `|s|₂,∞`: no legal pose makes `G s` longer.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn norm(&self, s: &[Influence]) -> f64 {
        let ball = self.ball(s);
        ball.center.length() + ball.radius
    }

    /// No legal pose brings two points farther apart than this.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn distance(&self, a: &[Influence], b: &[Influence]) -> f64 {
        self.norm(crate::metric::AnimationVector::difference(a, b).terms())
    }
}

fn add(parts: &mut Vec<Part>, bone: usize, ball: &Ball, weight: f64) {
    match parts.binary_search_by_key(&bone, |part| part.bone) {
        Ok(at) => {
            parts[at].ball.center += ball.center;
            parts[at].ball.radius += ball.radius;
            parts[at].weight += weight;
        }
        Err(at) => parts.insert(
            at,
            Part {
                bone,
                ball: *ball,
                weight,
            },
        ),
    }
}
