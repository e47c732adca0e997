//! A tube on a chain of bones that is linear blend skinning by construction.

use glam::{DAffine3, DQuat, DVec3};

use super::lathe::{Lathe, around, smoothstep};
use crate::example::{Example, ExampleSet};
use crate::mesh::TriMesh;
use crate::rig::{BoneId, Pose, Skeleton};
use crate::skin::{Skin, SsdProgram, VertexProgram, Weight};

/// Size of the tube and of its set of examples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TubeOptions {
    /// Rings along the tube; at least 2.
    pub ring_count: usize,
    /// Points around each ring; at least 3.
    pub segment_count: usize,
    /// Bones in the chain; at least 1.
    pub bone_count: usize,
    /// Examples, each with every joint turned differently.
    pub example_count: usize,
}

impl Default for TubeOptions {
    fn default() -> Self {
        Self {
            ring_count: 33,
            segment_count: 16,
            bone_count: 3,
            example_count: 12,
        }
    }
}

/// A tube, and the skin that made its examples.
#[derive(Debug, Clone)]
pub struct Tube {
    /// Rest mesh, skeleton and examples.
    pub examples: ExampleSet,
    /// The skin that produces the examples exactly, two bones per vertex.
    pub truth: Skin,
}

/// Makes a tube of radius 0.2 with one unit of length per bone.
pub fn tube(options: &TubeOptions) -> Tube {
    let lathe = Lathe {
        ring_count: options.ring_count.max(2),
        segment_count: options.segment_count.max(3),
    };
    let bone_count = options.bone_count.max(1);
    let length = bone_count as f64;
    let skeleton = Skeleton::from_rest_frames((0..bone_count as u16).map(|j| {
        (
            format!("bone_{j}"),
            j.checked_sub(1).map(BoneId),
            DAffine3::from_translation(DVec3::X * f64::from(j)),
        )
    }))
    .expect("a chain is a skeleton");

    let rest_positions: Vec<DVec3> = (0..lathe.vertex_count())
        .map(|v| match lathe.place(v) {
            None if v == 0 => DVec3::ZERO,
            None => DVec3::X * length,
            Some((ring, segment)) => {
                let share = (ring as f64 + 0.5) / lathe.ring_count as f64;
                DVec3::X * length * share + around(lathe.angle(segment), 0.2)
            }
        })
        .collect();
    // Two bones share the half unit to either side of their joint.
    let weights = rest_positions
        .iter()
        .map(|p| {
            let joint = (p.x.round() as usize).clamp(1, bone_count.max(2) - 1);
            let child_share = match bone_count {
                1 => 0.0,
                _ => smoothstep(joint as f64 - 0.5, joint as f64 + 0.5, p.x),
            };
            let mut row = vec![
                Weight {
                    bone: BoneId(joint as u16 - 1),
                    weight: 1.0 - child_share,
                },
                Weight {
                    bone: BoneId(joint as u16),
                    weight: child_share,
                },
            ];
            row.retain(|w| w.weight > 0.0);
            row
        })
        .collect();
    let rest = TriMesh::new(rest_positions.clone(), lathe.triangles()).expect("finite by formula");
    let program = SsdProgram {
        rest_positions,
        weights,
        corrections: Vec::new(),
    };
    let truth = Skin::new(skeleton.clone(), VertexProgram::Ssd(program), Vec::new())
        .expect("weights name bones of the chain");
    let examples = (0..options.example_count)
        .map(|k| {
            let pose = chain_pose(&skeleton, k);
            Example {
                name: format!("pose {k}"),
                positions: truth.evaluate(&pose).expect("the pose fits its skeleton"),
                pose,
            }
        })
        .collect();
    Tube {
        examples: ExampleSet::new(rest, skeleton, examples).expect("made in correspondence"),
        truth,
    }
}

/// Turns every joint by up to a radian about an axis of its own, differently in every pose.
fn chain_pose(skeleton: &Skeleton, k: usize) -> Pose {
    let mut pose = skeleton.rest_pose();
    for (j, local) in pose.parent_from_bone.iter_mut().enumerate() {
        // Irrational steps never repeat, and need no random numbers.
        let phase = |step: f64| ((k * 37 + j * 11 + 1) as f64 * step).sin();
        let turn = DVec3::new(phase(0.754877), phase(0.569840), phase(0.438744));
        *local *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
    }
    pose
}
