//! Where the vertices of meshes in correspondence go.

use glam::{DAffine3, DVec3};

use crate::math::PointPairs;
use crate::par;

/// Meshes in correspondence, vertex by vertex.
pub(super) struct Motion {
    pub(super) rest: Vec<DVec3>,
    /// Position of vertex `i` in mesh `k` at `i * mesh_count + k`.
    trajectories: Vec<DVec3>,
    pub(super) mesh_count: usize,
}

impl Motion {
    pub(super) fn new(rest: &[DVec3], meshes: &[&[DVec3]]) -> Self {
        let mut trajectories = Vec::with_capacity(rest.len() * meshes.len());
        for i in 0..rest.len() {
            trajectories.extend(meshes.iter().map(|mesh| mesh[i]));
        }
        Self {
            rest: rest.to_vec(),
            trajectories,
            mesh_count: meshes.len(),
        }
    }

    /// Some of the vertices alone.
    pub(super) fn of_some(&self, vertices: &[usize]) -> Self {
        Self {
            rest: vertices.iter().map(|&i| self.rest[i]).collect(),
            trajectories: vertices
                .iter()
                .flat_map(|&i| self.of_vertex(i).iter().copied())
                .collect(),
            mesh_count: self.mesh_count,
        }
    }

    pub(super) fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn of_vertex(&self, i: usize) -> &[DVec3] {
        &self.trajectories[i * self.mesh_count..(i + 1) * self.mesh_count]
    }

    /// The rigid motion of some weighted vertices, mesh by mesh.
    pub(super) fn rigid_motions(&self, vertices: &[(usize, f64)]) -> Vec<DAffine3> {
        par::map(self.mesh_count, |k| {
            let mut pairs = PointPairs::default();
            for &(i, weight) in vertices {
                pairs.add(self.rest[i], self.of_vertex(i)[k], weight);
            }
            pairs.rigid_motion()
        })
    }

    /// Squared error of one motion at a vertex, or some number above `limit` if it is larger.
    pub(super) fn squared_error(&self, i: usize, motion: &[DAffine3], limit: f64) -> f64 {
        let mut error = 0.0;
        for (matrix, place) in motion.iter().zip(self.of_vertex(i)) {
            error += matrix
                .transform_point3(self.rest[i])
                .distance_squared(*place);
            if error > limit {
                break;
            }
        }
        error
    }
}
