//! Balls carried from bone to bone to the root: the worst case over all legal poses.

use glam::DVec3;

use super::BoundsError;
use super::holding::Holding;
use super::joint_bound::{carried, carried_about};
use crate::joint::JointLimits;
use crate::mesh::Ball;
use crate::rig::{BoneId, Skeleton};
use crate::skin::Influence;

/// Bounds on `G s` over all legal poses.
///
/// `G s = Σ_j G_j s_j` is summed up from the leaves to the root: the contribution of bone `j` and the bones
/// below it is a vector in `j`'s frame, somewhere in a ball, and the joint carries the ball to the parent's
/// frame, where balls are added (\[Merry07\] Eq. 3.20). Weights need no ball: they only add up.
///
/// One ball is not enough. An arm that swings by 60° stays in a small ball about the middle of its
/// swing, which reaches beyond the arm's length, and in a large one about the shoulder, which does not.
/// So three are kept, all of which hold ([`Holding`]), and a joint may carry any of them with or
/// without its limits: the one that follows the limits, the smallest, and the one that stays nearest
/// to the joint.
///
/// ```
/// use dermis::bounds::PoseBounds;
/// use dermis::joint::free_joints;
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

/// A vector in a bone's frame that lies in a ball, and its weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct BallTerm {
    pub(super) bone: usize,
    pub(super) ball: Ball,
    pub(super) weight: f64,
}

impl BallTerm {
    pub(super) fn point(term: &Influence) -> Self {
        Self {
            bone: term.bone.index(),
            ball: Ball {
                center: term.p.truncate(),
                radius: 0.0,
            },
            weight: term.p.w,
        }
    }

    pub(super) fn center(&self) -> Influence {
        Influence {
            bone: BoneId(self.bone as u16),
            p: self.ball.center.extend(self.weight),
        }
    }
}

/// The contribution of a bone and the bones below it to `G s`, in the bone's frame.
#[derive(Debug, Clone, Copy)]
struct Part {
    bone: usize,
    held: Holding,
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

    /// Balls that hold `G s` in every legal pose: where a point can be, or the vector between two points.
    ///
    /// Cost: O(bones between those of `s` and the root).
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn holding(&self, s: &[Influence]) -> Holding {
        self.holding_of(s.iter().map(BallTerm::point))
    }

    /// As [`holding`](Self::holding), for vectors of which only a ball around each is known.
    pub(super) fn holding_of(&self, terms: impl ExactSizeIterator<Item = BallTerm>) -> Holding {
        // By rising bone, so that the last part already has everything below it.
        let mut parts: Vec<Part> = Vec::with_capacity(terms.len() + 1);
        for term in terms {
            add(&mut parts, term.bone, &Holding([term.ball; 3]), term.weight);
        }
        let mut total = Holding::point(DVec3::ZERO);
        while let Some(part) = parts.pop() {
            let limits = &self.limits[part.bone];
            // The point about which the parent's joint turns it; for a root, the root's own position.
            let turned_about = match self.parents[part.bone] {
                Some(_) => DVec3::ZERO,
                None => part.weight * limits.translation,
            };
            let held = carry(limits, &part.held, part.weight, turned_about);
            match self.parents[part.bone] {
                Some(parent) => add(&mut parts, parent, &held, part.weight),
                None => total.add(&held),
            }
        }
        total
    }

    /// The smallest of the balls that hold `G s` in every legal pose.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn ball(&self, s: &[Influence]) -> Ball {
        self.holding(s).smallest()
    }

    /// `|s|₂,∞`: no legal pose makes `G s` longer.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn norm(&self, s: &[Influence]) -> f64 {
        self.holding(s).reach(DVec3::ZERO)
    }

    /// No legal pose brings two points farther apart than this.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn distance(&self, a: &[Influence], b: &[Influence]) -> f64 {
        self.norm(crate::metric::AnimationVector::difference(a, b).terms())
    }
}

/// Weight of the second criterion (reach or radius) when balls are compared by the first.
///
/// A joint that does not turn carries a ball to a small one, and without its limits to a large one about
/// the joint that reaches just as far: rounding, of a file's 32 bits or of a move, must not choose between
/// the two. Above that rounding the value hardly matters: from 1e-6 to 1e-2 the spheres of a fox and of a
/// walking man differ by 0.01%.
const TIE: f64 = 1e-4;

/// Carries balls through a joint: each one with and without the limits of the turn. All six results are
/// valid, and three are kept.
fn carry(limits: &JointLimits, held: &Holding, weight: f64, turned_about: DVec3) -> Holding {
    let limited = held.0.map(|ball| carried(limits, &ball, weight));
    let about = held.0.map(|ball| carried_about(limits, &ball, weight));
    let least = |size: &dyn Fn(&Ball) -> f64| {
        let all = limited.iter().chain(&about);
        *all.min_by(|a, b| size(a).total_cmp(&size(b)))
            .expect("there are six")
    };
    let reach = |ball: &Ball| ball.center.distance(turned_about) + ball.radius;
    let smallest = least(&|ball| ball.radius + TIE * reach(ball));
    let nearest = least(&|ball| reach(ball) + TIE * ball.radius);
    Holding([
        limited[0],
        common_ball(&smallest, &nearest).unwrap_or(smallest),
        nearest,
    ])
}

/// The smallest ball around the intersection of two balls, when it is smaller than both.
///
/// Where the plane of the circle in which two spheres meet lies between the centres, each ball's part
/// beyond the plane is less than half of it, so both parts lie in the ball that has the circle for its
/// equator: a point of the first part at height `h` above the plane has a squared distance of at most
/// `r² − (x + h)² + h² ≤ r² − x²` from the circle's middle, `x ≥ 0` being the plane's distance from the
/// first centre.
fn common_ball(a: &Ball, b: &Ball) -> Option<Ball> {
    let between = b.center - a.center;
    let distance = between.length();
    if distance == 0.0 || distance >= a.radius + b.radius {
        return None;
    }
    let x = 0.5 * (distance * distance + a.radius * a.radius - b.radius * b.radius) / distance;
    if !(0.0..=distance).contains(&x) {
        return None;
    }
    // Rounding must not make a ball too small.
    let squared = (a.radius * a.radius - x * x).max(0.0);
    Some(Ball {
        center: a.center + between * (x / distance),
        radius: squared.sqrt() + 1e-12 * a.radius,
    })
}

fn add(parts: &mut Vec<Part>, bone: usize, held: &Holding, weight: f64) {
    match parts.binary_search_by_key(&bone, |part| part.bone) {
        Ok(at) => {
            parts[at].held.add(held);
            parts[at].weight += weight;
        }
        Err(at) => parts.insert(
            at,
            Part {
                bone,
                held: *held,
                weight,
            },
        ),
    }
}
