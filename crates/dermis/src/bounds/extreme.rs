//! Legal poses that come near a bound, to see how tight the bound is.
//!
//! Random poses hardly ever stretch all joints of a limb at once, so the ball around them says little about
//! the best bound. The poses here are found by search: no valid bound is smaller than the ball around them.

use glam::{DAffine3, DMat3, DQuat, DVec3, DVec4};

use super::propagate::BallTerm;
use super::proxied::Predicted;
use super::{BoundsError, Holding, complete_limits};
use crate::joint::{JointLimits, TurnLimits};
use crate::mesh::Ball;
use crate::par;
use crate::rig::{Pose, Skeleton};
use crate::skin::{Influence, LinearProgram, Skin};

/// Rounds over all joints: the distance hardly grows after three.
const ROUNDS: usize = 4;

/// A legal pose that carries a point far along a direction of model space.
///
/// In a few rounds over the joints, from the root on, each joint takes the legal matrix that carries the
/// point farthest while the other joints stay. The distance rises with every step, to a local maximum that
/// need not be the global one. `limits` has one entry per bone.
///
/// # Panics
/// When a limit or a bone is missing.
pub fn far_pose(
    skeleton: &Skeleton,
    limits: &[JointLimits],
    point: &[Influence],
    direction: DVec3,
) -> Pose {
    let bones = skeleton.bones();
    let mut locals: Vec<DAffine3> = limits.iter().map(middle).collect();
    for _ in 0..ROUNDS {
        // The contribution of each bone and the bones below it, in the bone's frame.
        let mut below = vec![DVec4::ZERO; bones.len()];
        for term in point {
            below[term.bone.index()] += term.p;
        }
        for (j, bone) in bones.iter().enumerate().rev() {
            if let Some(parent) = bone.parent {
                let added = carried(&locals[j], below[j]).extend(below[j].w);
                below[parent.index()] += added;
            }
        }
        let mut frames: Vec<DMat3> = Vec::with_capacity(bones.len());
        for (j, bone) in bones.iter().enumerate() {
            let above = bone.parent.map_or(DMat3::IDENTITY, |a| frames[a.index()]);
            if below[j] != DVec4::ZERO {
                let wanted = above.transpose() * direction;
                locals[j] = farthest(&limits[j], below[j], wanted);
            }
            frames.push(above * locals[j].matrix3);
        }
    }
    Pose::new(locals)
}

/// Legal poses that stretch a skin out in many directions.
///
/// For each direction the vertex that may reach farthest is carried along it, with every slider at the
/// end of its range that carries it farther. `held` is the result of [`hold_vertices`](super::hold_vertices)
/// for the same limits and ranges; with `vertices`, only those vertices are carried.
///
/// # Errors
/// [`BoundsError::Skin`] and [`BoundsError::CountMismatch`].
pub fn extreme_poses(
    skin: &Skin,
    limits: &[JointLimits],
    ranges: &[[f64; 2]],
    held: &[Holding],
    vertices: Option<&[u32]>,
    direction_count: usize,
) -> Result<Vec<Pose>, BoundsError> {
    let program = skin.program.to_linear(&skin.skeleton)?;
    let limits = complete_limits(skin, limits)?;
    let counted = [
        ("held vertices", program.influences.len(), held.len()),
        (
            "ranges of coefficients",
            program.corrections.len(),
            ranges.len(),
        ),
    ];
    for (what, expected, found) in counted {
        if expected != found {
            return Err(BoundsError::CountMismatch {
                what,
                expected,
                found,
            });
        }
    }
    let search = Search {
        skin,
        limits: &limits,
        ranges,
        program: &program,
        // Proxy bones are taken to be in the middle of their predicted balls.
        predicted: Predicted::new(skin, &limits),
    };
    let all: Vec<usize> = match vertices {
        Some(vertices) => vertices.iter().map(|&v| v as usize).collect(),
        None => (0..held.len()).collect(),
    };
    let poses = par::map(direction_count, |n| {
        let direction = even_direction(n, direction_count);
        let reach = |vertex: usize| {
            let reach = |ball: &Ball| ball.center.dot(direction) + ball.radius;
            let balls = held[vertex].0.iter();
            balls.map(reach).fold(f64::INFINITY, f64::min)
        };
        let vertex = (all.iter().copied()).max_by(|&a, &b| reach(a).total_cmp(&reach(b)));
        vertex.map_or(Ok(skin.skeleton.rest_pose()), |vertex| {
            search.farthest_pose(vertex, direction)
        })
    });
    poses.into_iter().collect()
}

/// The inputs of a search for poses.
struct Search<'a> {
    skin: &'a Skin,
    limits: &'a [JointLimits],
    ranges: &'a [[f64; 2]],
    program: &'a LinearProgram,
    predicted: Predicted<'a>,
}

impl Search<'_> {
    /// The pose, with sliders, that carries a vertex farthest, or nearly.
    fn farthest_pose(&self, vertex: usize, direction: DVec3) -> Result<Pose, BoundsError> {
        let skeleton = &self.skin.skeleton;
        let far = |point: &[Influence]| {
            far_pose(skeleton, self.limits, &self.joint_terms(point), direction)
        };
        let shapes = self.shapes_of(vertex);
        let mut point = self.program.influences.row(vertex).to_vec();
        for (m, shape) in &shapes {
            let [low, high] = self.ranges[*m];
            add_scaled(&mut point, 0.5 * (low + high), shape);
        }
        let mut pose = far(&point);
        let mut coefficients = self.skin.default_coefficients();
        let posed_count = self.skin.posed_coefficient_count();
        coefficients.truncate(posed_count);
        // The ends depend on the pose and the pose on the ends: twice is enough for a search.
        for _ in 0..2 {
            if shapes.iter().all(|(m, _)| *m >= posed_count) {
                break;
            }
            let palette = skeleton.palette(&pose)?;
            let mut point = self.program.influences.row(vertex).to_vec();
            for (m, shape) in &shapes {
                let [low, high] = self.ranges[*m];
                let amount = match coefficients.get_mut(*m) {
                    // Drivers set the others from the pose.
                    None => 0.5 * (low + high),
                    Some(slider) => {
                        let added: DVec3 = (self.joint_terms(shape).iter())
                            .map(|term| {
                                carried(&palette.model_from_bone[term.bone.index()], term.p)
                            })
                            .sum();
                        let is_farther = added.dot(direction) >= 0.0;
                        *slider = if is_farther { high } else { low };
                        *slider
                    }
                };
                add_scaled(&mut point, amount, shape);
            }
            pose = far(&point);
        }
        pose.coefficients = coefficients;
        Ok(pose)
    }

    /// The displacement that each coefficient adds to a vertex; only coefficients that move it.
    fn shapes_of(&self, vertex: usize) -> Vec<(usize, Vec<Influence>)> {
        let rows = &self.program.influences;
        let range = rows.range(vertex);
        let shapes = self.program.corrections.iter().enumerate();
        let shapes = shapes.map(|(m, shape)| {
            // Deltas rise by item.
            let place = |item: usize| shape.deltas.partition_point(|d| (d.index as usize) < item);
            let deltas = &shape.deltas[place(range.start)..place(range.end)];
            let terms = deltas.iter().map(|delta| Influence {
                bone: rows.items()[delta.index as usize].bone,
                p: delta.value,
            });
            (m, terms.collect::<Vec<_>>())
        });
        shapes.filter(|(_, terms)| !terms.is_empty()).collect()
    }

    /// A vector as a sum over bones that joints move.
    fn joint_terms(&self, s: &[Influence]) -> Vec<Influence> {
        let terms = self.predicted.terms(s);
        terms.iter().map(BallTerm::center).collect()
    }
}

fn carried(matrix: &DAffine3, p: DVec4) -> DVec3 {
    matrix.matrix3 * p.truncate() + p.w * matrix.translation
}

fn add_scaled(point: &mut Vec<Influence>, by: f64, shape: &[Influence]) {
    point.extend(shape.iter().map(|term| Influence {
        bone: term.bone,
        p: by * term.p,
    }));
}

/// Directions spread evenly: a spiral of equal areas.
fn even_direction(n: usize, count: usize) -> DVec3 {
    let z = 1.0 - (2 * n + 1) as f64 / count as f64;
    let (sin, cos) = (2.399_963_229_728_653 * n as f64).sin_cos();
    let r = (1.0 - z * z).max(0.0).sqrt();
    DVec3::new(r * cos, r * sin, z)
}

fn middle(limits: &JointLimits) -> DAffine3 {
    let turn = match limits.turn {
        TurnLimits::Hinge {
            center,
            axis,
            min_rad,
            max_rad,
            ..
        } => center * DQuat::from_axis_angle(axis.normalize(), 0.5 * (min_rad + max_rad)),
        turn => turn.center().unwrap_or(DQuat::IDENTITY),
    };
    let [least, most] = limits.scale_range;
    DAffine3 {
        matrix3: DMat3::from_quat(turn) * (0.5 * (least + most)),
        translation: limits.translation,
    }
}

/// The legal matrix `L` that makes `wanted · L u` largest, or nearly.
fn farthest(limits: &JointLimits, u: DVec4, wanted: DVec3) -> DAffine3 {
    let (x, w) = (u.truncate(), u.w);
    let best = limits
        .scale_range
        .map(|scale| {
            let turn = best_turn(&limits.turn, scale * x, wanted);
            let matrix = DMat3::from_quat(turn) * scale;
            (wanted.dot(matrix * x), matrix)
        })
        .into_iter()
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let slide = limits.translation_radius * w.signum() * wanted.normalize_or_zero();
    DAffine3 {
        matrix3: best.map_or(DMat3::IDENTITY, |(_, matrix)| matrix),
        translation: limits.translation + slide,
    }
}

/// The legal rotation that turns `x` most towards `wanted`.
fn best_turn(limits: &TurnLimits, x: DVec3, wanted: DVec3) -> DQuat {
    let (Some(from), Some(to)) = (x.try_normalize(), wanted.try_normalize()) else {
        return limits.center().unwrap_or(DQuat::IDENTITY);
    };
    match *limits {
        TurnLimits::Free => DQuat::from_rotation_arc(from, to),
        TurnLimits::Hinge {
            center,
            axis,
            min_rad,
            max_rad,
            ..
        } => center * best_hinge(axis, [min_rad, max_rad], from, center.inverse() * to),
        TurnLimits::Cone {
            center,
            max_angle_rad,
        } => center * arc_of_at_most(from, center.inverse() * to, max_angle_rad),
        TurnLimits::SwingTwist {
            center,
            axis,
            max_swing_rad,
            min_twist_rad,
            max_twist_rad,
        } => {
            // Few swings and, for each, the best twist: good enough for a search that improves.
            let axis = axis.normalize();
            let to = center.inverse() * to;
            let (u, v) = axis.any_orthonormal_pair();
            let swings = (0..24).flat_map(|n| {
                let (sin, cos) = (n as f64 * std::f64::consts::TAU / 24.0).sin_cos();
                let about = u * cos + v * sin;
                [1.0, 0.66, 0.33].map(|part| DQuat::from_axis_angle(about, part * max_swing_rad))
            });
            let turns = swings.chain([DQuat::IDENTITY]).map(|swing| {
                let twist = best_hinge(
                    axis,
                    [min_twist_rad, max_twist_rad],
                    from,
                    swing.inverse() * to,
                );
                swing * twist
            });
            let score = |turn: &DQuat| to.dot(*turn * from);
            let best = turns.max_by(|a, b| score(a).total_cmp(&score(b)));
            center * best.unwrap_or(DQuat::IDENTITY)
        }
    }
}

fn best_hinge(axis: DVec3, [low, high]: [f64; 2], from: DVec3, to: DVec3) -> DQuat {
    let axis = axis.normalize();
    let across = from - axis * axis.dot(from);
    // to · R(φ) from = constant + (to·across) cos φ + (to·(axis × across)) sin φ.
    let (c, s) = (to.dot(across), to.dot(axis.cross(across)));
    let best = s.atan2(c);
    let score = |angle: f64| c * angle.cos() + s * angle.sin();
    let turn = std::f64::consts::TAU;
    let inside = [best - turn, best, best + turn]
        .into_iter()
        .find(|angle| (low..=high).contains(angle));
    let angle = inside.unwrap_or(if score(low) > score(high) { low } else { high });
    DQuat::from_axis_angle(axis, angle)
}

fn arc_of_at_most(from: DVec3, to: DVec3, most: f64) -> DQuat {
    let arc = DQuat::from_rotation_arc(from, to);
    let (axis, angle) = arc.to_axis_angle();
    DQuat::from_axis_angle(axis, angle.min(most))
}
