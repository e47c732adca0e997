//! An arm that linear blend skinning cannot match: it bends, twists by half a turn, and bulges.
//!
//! Three bones in a row along +x: upper arm, forearm, hand. The elbow bends about +z and lifts the
//! forearm towards +y. The hand turns about the forearm's axis, and the flesh of the forearm follows
//! evenly from elbow to wrist, as it does in people, so that the forearm keeps its girth; linear
//! blending makes it collapse there. The biceps bulges as the elbow bends, which no bone controls. Away
//! from the elbow and the forearm's twist, the arm moves rigidly with its bones.

use glam::{DAffine3, DQuat, DVec2, DVec3};

use super::Character;
use super::lathe::{Lathe, around, smoothstep};
use crate::example::{Example, ExampleSet};
use crate::mesh::TriMesh;
use crate::rig::{BoneId, Pose, Skeleton};

/// How finely the arm is meshed, and the poses it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmOptions {
    /// Rings along the arm; at least 2, default 96.
    pub ring_count: usize,
    /// Points around each ring; at least 3, default 48.
    pub segment_count: usize,
    /// One example each; default [`arm_motion`] of 48 frames.
    pub poses: Vec<ArmPose>,
}

impl Default for ArmOptions {
    fn default() -> Self {
        Self {
            ring_count: 96,
            segment_count: 48,
            poses: arm_motion(48),
        }
    }
}

/// Angles of the arm's two joints.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ArmPose {
    /// How far the elbow is bent, in radians; 0 is straight.
    pub bend_rad: f64,
    /// How far the hand is turned about the forearm, in radians.
    pub twist_rad: f64,
}

/// A motion that shows each difficulty alone and then both together.
///
/// A third bends the elbow to 115° and back, a third turns the hand by 180° and back, a third does
/// both at once. The way back is slower than the way there, so that no pose comes twice: a pose held
/// out of a fit must not be among the others.
pub fn arm_motion(frame_count: usize) -> Vec<ArmPose> {
    let swing = |s: f64| (std::f64::consts::PI * s.powf(0.77)).sin().powi(2);
    (0..frame_count)
        .map(|k| {
            let time = 3.0 * k as f64 / frame_count as f64;
            let part = swing(time.fract());
            let (bends, twists) = [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)][time as usize];
            ArmPose {
                bend_rad: bends * part * 115f64.to_radians(),
                twist_rad: twists * part * 180f64.to_radians(),
            }
        })
        .collect()
}

const ELBOW: f64 = 1.0;
const WRIST: f64 = 2.0;
const TIP: f64 = 2.42;
/// Half the length of arm over which the elbow is round.
const ELBOW_REACH: f64 = 0.3;

/// Makes the arm with one example per pose.
pub fn arm(options: &ArmOptions) -> Character {
    let lathe = Lathe {
        ring_count: options.ring_count.max(2),
        segment_count: options.segment_count.max(3),
    };
    let joints = [0.0, ELBOW, WRIST].map(|x| DAffine3::from_translation(DVec3::X * x));
    let names = ["upper_arm", "forearm", "hand"];
    let skeleton = Skeleton::from_rest_frames((0..3u16).map(|j| {
        let parent = j.checked_sub(1).map(BoneId);
        let j = usize::from(j);
        (names[j].to_owned(), parent, joints[j])
    }))
    .expect("three bones in a row are a skeleton");

    let shape = |pose: ArmPose| -> Vec<DVec3> {
        (0..lathe.vertex_count())
            .map(|v| surface_point(&lathe, v, pose))
            .collect()
    };
    let rest = TriMesh::new(shape(ArmPose::default()), lathe.triangles())
        .expect("the arm's formula is finite");
    let examples = options
        .poses
        .iter()
        .map(|&pose| Example {
            name: format!(
                "bend {:.0} twist {:.0}",
                pose.bend_rad.to_degrees(),
                pose.twist_rad.to_degrees()
            ),
            pose: skeleton_pose(&skeleton, pose),
            positions: shape(pose),
        })
        .collect();
    Character {
        examples: ExampleSet::new(rest, skeleton, examples).expect("made in correspondence"),
        draw: lathe.draw("arm"),
    }
}

fn skeleton_pose(skeleton: &Skeleton, pose: ArmPose) -> Pose {
    let mut result = skeleton.rest_pose();
    result.parent_from_bone[1] *= DAffine3::from_quat(DQuat::from_rotation_z(pose.bend_rad));
    result.parent_from_bone[2] *= DAffine3::from_quat(DQuat::from_rotation_x(pose.twist_rad));
    result
}

/// Where a point of the surface is in a pose.
fn surface_point(lathe: &Lathe, vertex: usize, pose: ArmPose) -> DVec3 {
    let (along, section) = match lathe.place(vertex) {
        None if vertex == 0 => (0.0, DVec3::ZERO),
        None => (TIP, DVec3::ZERO),
        Some((ring, segment)) => {
            // Rings crowd at the ends, where the surface turns in.
            let s = (ring + 1) as f64 / (lathe.ring_count + 1) as f64;
            let eased = s - 0.5 / std::f64::consts::TAU * (std::f64::consts::TAU * s).sin();
            let x = TIP * (0.55 * s + 0.45 * eased);
            (x, cross_section(x, lathe.angle(segment)))
        }
    };
    let bulging = bulge(along, section, pose.bend_rad);
    let twist_rad = pose.twist_rad * smoothstep(ELBOW + 0.06, WRIST - 0.04, along);
    let twisted = DQuat::from_rotation_x(twist_rad) * bulging;
    bend(along, twisted, pose.bend_rad)
}

/// The rest shape: a rounded shoulder end, upper arm, forearm, narrow wrist and a flat mitten.
fn cross_section(x: f64, angle: f64) -> DVec3 {
    // Radius by distance along the arm, joined smoothly.
    const PROFILE: [(f64, f64); 9] = [
        (0.0, 0.165),
        (0.3, 0.172),
        (0.6, 0.160),
        (0.95, 0.124),
        (1.2, 0.142),
        (1.5, 0.120),
        (1.9, 0.078),
        (2.1, 0.096),
        (TIP, 0.100),
    ];
    let after = PROFILE
        .iter()
        .position(|&(at, _)| at > x)
        .unwrap_or(PROFILE.len() - 1);
    let ((x0, r0), (x1, r1)) = (PROFILE[after - 1], PROFILE[after]);
    let radius = r0 + (r1 - r0) * smoothstep(x0, x1, x);
    // Quarter ellipses close the ends.
    let ellipse = |d: f64| (1.0 - (1.0 - d.clamp(0.0, 1.0)).powi(2)).sqrt();
    let closing = ellipse(x / 0.12) * ellipse((TIP - x) / 0.2);
    let flat = smoothstep(WRIST - 0.12, WRIST + 0.15, x);
    let point = closing * around(angle, radius);
    DVec3::new(
        0.0,
        point.y * (1.0 - 0.48 * flat),
        point.z * (1.0 + 0.30 * flat),
    )
}

/// The biceps swells towards +y as the elbow bends, and the triceps a little towards -y.
fn bulge(along: f64, section: DVec3, bend_rad: f64) -> DVec3 {
    let effort = (0.5 * bend_rad).sin().powi(2);
    let bell = |center: f64, width: f64| (-((along - center) / width).powi(2)).exp();
    let direction = section.try_normalize().unwrap_or(DVec3::ZERO);
    let front = direction.y.max(0.0).powi(2);
    let back = (-direction.y).max(0.0).powi(2);
    section * (1.0 + effort * (0.75 * bell(0.56, 0.2) * front + 0.22 * bell(0.5, 0.22) * back))
}

/// Carries a cross-section along the bent axis.
///
/// The axis is straight outside the elbow and a quadratic Bézier curve inside it, which meets both
/// bones in position and direction. Flesh on the inner side of a tight bend is pressed flat before
/// it could pass the centre of the curve, and gives way sideways.
fn bend(along: f64, section: DVec3, bend_rad: f64) -> DVec3 {
    let forearm = DVec2::from_angle(bend_rad);
    let elbow = DVec2::new(ELBOW, 0.0);
    let (axis, tangent, curvature) = if along <= ELBOW - ELBOW_REACH {
        (DVec2::new(along, 0.0), DVec2::X, 0.0)
    } else if along >= ELBOW + ELBOW_REACH {
        (elbow + (along - ELBOW) * forearm, forearm, 0.0)
    } else {
        let u = (along - (ELBOW - ELBOW_REACH)) / (2.0 * ELBOW_REACH);
        let (start, end) = (
            elbow - ELBOW_REACH * DVec2::X,
            elbow + ELBOW_REACH * forearm,
        );
        let point = start * (1.0 - u).powi(2) + elbow * 2.0 * u * (1.0 - u) + end * u * u;
        let first = 2.0 * ((elbow - start) * (1.0 - u) + (end - elbow) * u);
        let second = 2.0 * (start - 2.0 * elbow + end);
        let curvature = first.perp_dot(second) / first.length().powi(3);
        (point, first.normalize(), curvature)
    };
    let (mut height, mut side) = (section.y, section.z);
    if height > 0.0 && curvature > 0.0 {
        let limit = 0.8 / curvature;
        let pressed = height / (1.0 + (height / limit).powi(2)).sqrt();
        side *= 1.0 + 0.35 * (height - pressed) / height;
        height = pressed;
    }
    let position = axis + height * tangent.perp();
    DVec3::new(position.x, position.y, side)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(pose: ArmPose) -> Character {
        arm(&ArmOptions {
            ring_count: 40,
            segment_count: 12,
            poses: vec![pose],
        })
    }

    #[test]
    fn away_from_the_joints_it_moves_with_its_bones() {
        let pose = ArmPose {
            bend_rad: 1.9,
            twist_rad: 2.5,
        };
        let character = small(pose);
        let set = &character.examples;
        let example = &set.examples()[0];
        let palette = set.skeleton().palette(&example.pose).expect("its own pose");
        let matrices = set.skeleton().posed_from_rest(&palette);
        let mut checked = 0;
        for (rest, posed) in set.rest().positions().iter().zip(&example.positions) {
            if rest.x > WRIST {
                let expected = matrices[2].transform_point3(*rest);
                assert!(expected.distance(*posed) < 1e-12, "hand at {rest}");
                checked += 1;
            }
        }
        assert!(checked > 20, "only {checked} vertices on the hand");
    }

    #[test]
    fn the_motion_takes_no_pose_twice() {
        let motion = arm_motion(48);
        for (k, a) in motion.iter().enumerate() {
            let same = |b: &&ArmPose| {
                (a.bend_rad - b.bend_rad).abs() + (a.twist_rad - b.twist_rad).abs() < 1e-3
            };
            let twins = motion[..k].iter().filter(same).count();
            // The straight arm begins each third.
            assert!(
                twins == 0 || k % 16 == 0,
                "frame {k} repeats an earlier pose"
            );
        }
        let most = |angle: fn(&ArmPose) -> f64| motion.iter().map(angle).fold(0.0, f64::max);
        assert!(
            most(|p| p.twist_rad) > 3.1,
            "the hand turns by nearly half a turn"
        );
    }

    #[test]
    fn the_twisted_forearm_keeps_its_girth() {
        let twisted = small(ArmPose {
            bend_rad: 0.0,
            twist_rad: std::f64::consts::PI,
        });
        let set = &twisted.examples;
        for (rest, posed) in set
            .rest()
            .positions()
            .iter()
            .zip(&set.examples()[0].positions)
        {
            let radius = |p: &DVec3| p.y.hypot(p.z);
            assert!((radius(rest) - radius(posed)).abs() < 1e-12, "at {rest}");
        }
    }

    #[test]
    fn the_biceps_bulges_when_the_elbow_bends() {
        let bent = small(ArmPose {
            bend_rad: 2.0,
            twist_rad: 0.0,
        });
        let set = &bent.examples;
        let top = |positions: &[DVec3]| {
            let upper = positions.iter().zip(set.rest().positions());
            upper
                .filter(|(_, rest)| (0.5..0.62).contains(&rest.x))
                .map(|(p, _)| p.y)
                .fold(0.0, f64::max)
        };
        let (before, after) = (
            top(set.rest().positions()),
            top(&set.examples()[0].positions),
        );
        assert!(after > 1.3 * before, "from {before} to {after}");
    }
}
