//! The two surfaces of a bake: the detailed one and the coarse one, as they are drawn, in the same poses.

use glam::DVec3;

/// A surface in one or more poses, as it is drawn: vertices are split at seams of UVs and normals.
#[derive(Debug, Clone, Copy)]
pub struct DrawnSurface<'a> {
    /// Corners of each triangle, anticlockwise seen from outside.
    pub triangles: &'a [[u32; 3]],
    /// Which part (primitive, material) each triangle belongs to; empty when all belong to part 0.
    pub parts: &'a [u32],
    /// Texture coordinates of each vertex, `v` down the picture as in glTF. May be empty where nobody asks for them.
    pub uvs: &'a [[f32; 2]],
    /// `positions[k][vertex]` in pose `k`, in model units; pose 0 is the rest pose. Other poses than the rest pose may be
    /// left out where tangents are given.
    pub positions: &'a [Vec<DVec3>],
    /// `normals[k][vertex]`, of length 1, as a vertex shader hands them on.
    pub normals: &'a [Vec<DVec3>],
}

/// Why a surface cannot be baked from or to.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BakeError {
    /// There is no pose.
    #[error("a surface to bake needs at least its rest pose")]
    NoPose,
    /// A triangle has a corner that does not exist.
    #[error("triangle {triangle} has a corner at vertex {vertex}, of {vertex_count}")]
    Corner {
        /// The triangle.
        triangle: usize,
        /// The vertex that it names.
        vertex: u32,
        /// How many there are.
        vertex_count: usize,
    },
    /// A list has another length than the one that it goes with.
    #[error("{what}: {actual} given, {expected} needed")]
    Length {
        /// The list.
        what: &'static str,
        /// Entries that it has.
        actual: usize,
        /// Entries that it should have.
        expected: usize,
    },
    /// A position, a normal or a texture coordinate is infinite or not a number.
    #[error("vertex {vertex} of pose {pose} is not a finite number")]
    NotFinite {
        /// The vertex.
        vertex: usize,
        /// The pose.
        pose: usize,
    },
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// The picture asked for has no texels, or more than 16,384 along a side.
    #[error("a baked picture has 1 to 16384 texels along a side, not {size}")]
    PictureSize {
        /// Texels along a side.
        size: usize,
    },
}

impl DrawnSurface<'_> {
    /// Vertices of the surface.
    pub fn vertex_count(&self) -> usize {
        self.positions.first().map_or(0, Vec::len)
    }

    /// Poses that there are normals for.
    pub fn pose_count(&self) -> usize {
        self.normals.len()
    }

    /// Which part a triangle belongs to.
    pub fn part(&self, triangle: usize) -> u32 {
        self.parts.get(triangle).copied().unwrap_or(0)
    }

    /// Checks that lists go together and that every number is finite.
    ///
    /// # Errors
    /// The first fault found, see [`BakeError`].
    pub fn check(&self) -> Result<(), BakeError> {
        let vertex_count = self.vertex_count();
        if self.positions.is_empty() || self.normals.is_empty() {
            return Err(BakeError::NoPose);
        }
        check_length("parts of triangles", self.parts.len(), self.triangles.len())?;
        check_length("texture coordinates", self.uvs.len(), vertex_count)?;
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&c| c as usize >= vertex_count) {
                return Err(BakeError::Corner {
                    triangle,
                    vertex,
                    vertex_count,
                });
            }
        }
        let uv_fault = self
            .uvs
            .iter()
            .position(|uv| !uv.iter().all(|c| c.is_finite()));
        if let Some(vertex) = uv_fault {
            return Err(BakeError::NotFinite { vertex, pose: 0 });
        }
        check_poses("positions of a pose", self.positions, vertex_count)?;
        check_poses("normals of a pose", self.normals, vertex_count)
    }

    /// The rest positions of a triangle's corners.
    pub(crate) fn rest_corners(&self, triangle: usize) -> [DVec3; 3] {
        self.triangles[triangle].map(|c| self.positions[0][c as usize])
    }

    /// The normal of pose `k` at a point of the surface, of length 1 (or 0 where the normals cancel out).
    pub(crate) fn normal_at(&self, k: usize, point: SurfacePoint) -> DVec3 {
        blend(
            &self.normals[k],
            self.triangles[point.triangle as usize],
            point.weights(),
        )
        .normalize_or_zero()
    }
}

/// A point of a surface: a triangle and barycentric weights, the same in every pose.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SurfacePoint {
    /// The triangle.
    pub triangle: u32,
    /// Weight of its second corner.
    pub second: f32,
    /// Weight of its third corner; the first has what is left of 1.
    pub third: f32,
}

impl SurfacePoint {
    /// The point with these weights of a triangle's corners.
    pub(crate) fn new(triangle: u32, weights: [f64; 3]) -> Self {
        Self {
            triangle,
            second: weights[1] as f32,
            third: weights[2] as f32,
        }
    }

    /// Weights of the three corners, which sum to 1.
    pub fn weights(self) -> [f64; 3] {
        let (second, third) = (f64::from(self.second), f64::from(self.third));
        [1.0 - second - third, second, third]
    }
}

/// The weighted sum of a list's values at three corners.
pub(crate) fn blend(values: &[DVec3], corners: [u32; 3], weights: [f64; 3]) -> DVec3 {
    weights[0] * values[corners[0] as usize]
        + weights[1] * values[corners[1] as usize]
        + weights[2] * values[corners[2] as usize]
}

/// An empty list is one that was left out.
fn check_length(what: &'static str, actual: usize, expected: usize) -> Result<(), BakeError> {
    if actual == 0 || actual == expected {
        return Ok(());
    }
    Err(BakeError::Length {
        what,
        actual,
        expected,
    })
}

fn check_poses(
    what: &'static str,
    poses: &[Vec<DVec3>],
    vertex_count: usize,
) -> Result<(), BakeError> {
    for (pose, values) in poses.iter().enumerate() {
        if values.len() != vertex_count {
            return Err(BakeError::Length {
                what,
                actual: values.len(),
                expected: vertex_count,
            });
        }
        if let Some(vertex) = values.iter().position(|v| !v.is_finite()) {
            return Err(BakeError::NotFinite { vertex, pose });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle_with<'a>(
        triangles: &'a [[u32; 3]],
        uvs: &'a [[f32; 2]],
        poses: &'a [Vec<DVec3>],
    ) -> DrawnSurface<'a> {
        DrawnSurface {
            triangles,
            parts: &[],
            uvs,
            positions: poses,
            normals: poses,
        }
    }

    #[test]
    fn faults_of_a_surface_are_named() {
        let poses = vec![vec![DVec3::X, DVec3::Y, DVec3::Z]];
        let fine = triangle_with(&[[0, 1, 2]], &[], &poses);
        assert_eq!(fine.check(), Ok(()), "a triangle without UVs is fine");
        let corner = triangle_with(&[[0, 1, 3]], &[], &poses).check();
        assert!(
            matches!(corner, Err(BakeError::Corner { vertex: 3, .. })),
            "a corner out of range is named: {corner:?}"
        );
        let uvs = triangle_with(&[[0, 1, 2]], &[[0.0, 0.0]], &poses).check();
        assert!(
            matches!(uvs, Err(BakeError::Length { actual: 1, .. })),
            "too few UVs are named: {uvs:?}"
        );
        let broken = vec![vec![DVec3::X, DVec3::NAN, DVec3::Z]];
        let nan = triangle_with(&[[0, 1, 2]], &[], &broken).check();
        assert_eq!(
            nan,
            Err(BakeError::NotFinite { vertex: 1, pose: 0 }),
            "not a number is found"
        );
        let none = triangle_with(&[], &[], &[]).check();
        assert_eq!(none, Err(BakeError::NoPose), "no pose is no surface");
    }
}
