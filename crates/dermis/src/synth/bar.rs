//! A square bar that the joint in its middle twists: the simplest skin that follows no single bone.
//!
//! Two bones in a row along +x. The first quarter of the bar stays, the last quarter follows the second bone, and
//! between them the joint's turn is shared evenly. So every ring is a rigid copy of itself, about the joint's own
//! axis: linear blending makes the middle thin, and at half a turn a line.

use glam::{DAffine3, DQuat, DVec3};

use super::Character;
use super::lathe::{Lathe, around};
use crate::example::{Example, ExampleSet};
use crate::mesh::TriMesh;
use crate::rig::{BoneId, Skeleton};

/// How finely the bar is meshed, and the turns it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct BarOptions {
    /// Rings along the bar; at least 2, default 61.
    pub ring_count: usize,
    /// Points around each ring; at least 4, default 32. Multiples of 8 have points on the edges.
    pub segment_count: usize,
    /// One example each: axis times angle of the joint, in radians; default twists of 0°, 45°, … 180°.
    pub turns: Vec<DVec3>,
}

impl Default for BarOptions {
    fn default() -> Self {
        Self {
            ring_count: 61,
            segment_count: 32,
            turns: (0..5)
                .map(|k| DVec3::X * (45.0 * f64::from(k)).to_radians())
                .collect(),
        }
    }
}

const LENGTH: f64 = 4.0;
/// From the axis to the middle of a side.
const HALF_SIDE: f64 = 0.5;

/// Makes the bar with one example per turn.
pub fn bar(options: &BarOptions) -> Character {
    let lathe = Lathe {
        ring_count: options.ring_count.max(2),
        segment_count: options.segment_count.max(4),
    };
    let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
    let skeleton = Skeleton::from_rest_frames([
        ("root".to_owned(), None, at(0.0)),
        ("end".to_owned(), Some(BoneId(0)), at(LENGTH / 2.0)),
    ])
    .expect("two bones in a row are a skeleton");
    let points: Vec<DVec3> = (0..lathe.vertex_count())
        .map(|v| match lathe.place(v) {
            None => DVec3::X * if v == 0 { 0.0 } else { LENGTH },
            Some((ring, segment)) => {
                let angle = lathe.angle(segment);
                let radius = HALF_SIDE / angle.cos().abs().max(angle.sin().abs());
                let x = LENGTH * ring as f64 / (lathe.ring_count - 1) as f64;
                DVec3::X * x + around(angle, radius)
            }
        })
        .collect();
    let joint = DVec3::X * (LENGTH / 2.0);
    let turned =
        |turn: DVec3, p: &DVec3| joint + DQuat::from_scaled_axis(share(p.x) * turn) * (*p - joint);
    let examples = options
        .turns
        .iter()
        .map(|&turn| {
            let mut pose = skeleton.rest_pose();
            pose.parent_from_bone[1] *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
            Example {
                name: format!("turn {:.0}", turn.length().to_degrees()),
                pose,
                positions: points.iter().map(|p| turned(turn, p)).collect(),
            }
        })
        .collect();
    let rest = TriMesh::new(points, lathe.triangles()).expect("the bar's formula is finite");
    Character {
        examples: ExampleSet::new(rest, skeleton, examples).expect("made in correspondence"),
        draw: lathe.draw("bar"),
    }
}

/// How much of the joint's turn a ring takes.
fn share(x: f64) -> f64 {
    ((x / LENGTH - 0.25) * 2.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ring_keeps_its_girth_and_the_ends_follow_their_bones() {
        let bar = bar(&BarOptions::default()).examples;
        let rest = bar.rest().positions();
        for example in bar.examples() {
            let palette = bar.skeleton().palette(&example.pose).expect("its own pose");
            let moved = bar.skeleton().posed_from_rest(&palette);
            for (p, q) in rest.iter().zip(&example.positions) {
                let girth = |p: &DVec3| p.y.hypot(p.z);
                assert!((girth(p) - girth(q)).abs() < 1e-12, "{p} became {q}");
                let bone = match share(p.x) {
                    0.0 => 0,
                    1.0 => 1,
                    _ => continue,
                };
                let rigid = moved[bone].transform_point3(*p);
                assert!(rigid.distance(*q) < 1e-12, "{q}, not {rigid}");
            }
        }
    }
}
