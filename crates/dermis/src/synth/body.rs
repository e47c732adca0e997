//! A lumpy body of any size with a realistic rig: for timing, where shapes matter less than sizes.

use glam::{DAffine3, DQuat, DVec3};

use super::lathe::{Lathe, around};
use crate::mesh::TriMesh;
use crate::rig::{BoneId, Pose, Skeleton};
use crate::skin::{Skin, SsdProgram, VertexProgram, Weight};

/// Size of the body and of its rig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyOptions {
    /// Vertices, at least 50; rounded to whole rings.
    pub vertex_count: usize,
    /// Bones that move each vertex; at least 1 and at most the number of bones.
    pub influences: usize,
    /// Bones; at least 1.
    pub bone_count: usize,
}

impl Default for BodyOptions {
    fn default() -> Self {
        Self {
            vertex_count: 100_000,
            influences: 4,
            bone_count: 100,
        }
    }
}

/// A body, its skin, and a pose of it.
#[derive(Debug, Clone)]
pub struct Body {
    /// The rest mesh, vertices in rings from foot to head.
    pub mesh: TriMesh,
    /// Linear blend skinning by the nearest bones, so that neighbours share theirs.
    pub skin: Skin,
    /// A pose in which every bone has turned a little.
    pub pose: Pose,
}

/// Makes a body.
pub fn body(options: &BodyOptions) -> Body {
    let segment_count = ((options.vertex_count.max(50) / 2) as f64).sqrt() as usize;
    let lathe = Lathe {
        ring_count: (options.vertex_count / segment_count).max(2),
        segment_count,
    };
    let rest_positions: Vec<DVec3> = (0..lathe.vertex_count())
        .map(|v| surface(&lathe, v))
        .collect();
    let joints: Vec<DVec3> = (0..options.bone_count.max(1))
        .map(|j| {
            let share = 0.5 + 0.5 * noise(j, 0.754877);
            let near = rest_positions[(share * (rest_positions.len() - 1) as f64) as usize];
            0.8 * near + 0.05 * DVec3::new(noise(j, 0.3), noise(j, 0.7), noise(j, 1.1))
        })
        .collect();
    let skeleton = Skeleton::from_rest_frames(joints.iter().enumerate().map(|(j, joint)| {
        // A tree of about five levels, as deep as limbs are.
        let parent = (j > 0).then_some(BoneId((j / 3) as u16));
        (
            format!("bone {j}"),
            parent,
            DAffine3::from_translation(*joint),
        )
    }))
    .expect("parents come first");
    let count = options.influences.clamp(1, joints.len());
    let weights = crate::par::map(rest_positions.len(), |i| {
        nearest_weights(rest_positions[i], &joints, count)
    });
    let mut pose = skeleton.rest_pose();
    for (j, local) in pose.parent_from_bone.iter_mut().enumerate() {
        let turn = 0.3 * DVec3::new(noise(j, 0.5), noise(j, 0.9), noise(j, 1.3));
        *local *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
    }
    let mesh = TriMesh::new(rest_positions.clone(), lathe.triangles()).expect("finite by formula");
    let program = SsdProgram {
        rest_positions,
        weights: weights.into_iter().collect(),
        corrections: Vec::new(),
    };
    let skin = Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new());
    Body {
        mesh,
        skin: skin.expect("weights name bones of the body"),
        pose,
    }
}

fn surface(lathe: &Lathe, vertex: usize) -> DVec3 {
    match lathe.place(vertex) {
        None if vertex == 0 => -DVec3::X,
        None => DVec3::X,
        Some((ring, segment)) => {
            let along = 2.0 * (ring as f64 + 0.5) / lathe.ring_count as f64 - 1.0;
            let angle = lathe.angle(segment);
            let radius = 0.3 + 0.1 * (5.0 * along).sin() + 0.05 * (3.0 * angle).cos();
            DVec3::X * along + around(angle, radius * (1.0 - along.powi(8)))
        }
    }
}

fn nearest_weights(position: DVec3, joints: &[DVec3], count: usize) -> Vec<Weight> {
    let mut near: Vec<(f64, usize)> = joints
        .iter()
        .enumerate()
        .map(|(j, joint)| (position.distance_squared(*joint), j))
        .collect();
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    near.truncate(count);
    let share = |squared: f64| 1.0 / (squared + 1e-3);
    let sum: f64 = near.iter().map(|&(squared, _)| share(squared)).sum();
    near.iter()
        .map(|&(squared, j)| Weight {
            bone: BoneId(j as u16),
            weight: share(squared) / sum,
        })
        .collect()
}

/// A number from -1 to 1 that never repeats: an irrational step needs no random numbers.
fn noise(k: usize, step: f64) -> f64 {
    ((k * 37 + 1) as f64 * step).sin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_has_the_requested_size() {
        let body = body(&BodyOptions {
            vertex_count: 5000,
            influences: 3,
            bone_count: 20,
        });
        let count = body.mesh.vertex_count();
        assert!(count.abs_diff(5000) < 100, "found {count} vertices");
        assert_eq!(body.skin.program.max_influences(), 3, "as asked");
        assert_eq!(body.skin.skeleton.bone_count(), 20, "as asked");
        let posed = body.skin.evaluate(&body.pose).expect("its own pose");
        let rest = body.mesh.positions();
        let moved = posed
            .iter()
            .zip(rest)
            .filter(|(a, b)| a.distance(**b) > 1e-3);
        assert!(moved.count() > count / 2, "the pose moves most of it");
    }
}
