//! Points and triangles: the part of a mesh that a fit uses.

use glam::DVec3;

use super::MeshError;

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// Smallest corner.
    pub min: DVec3,
    /// Largest corner.
    pub max: DVec3,
}

impl Aabb {
    /// The box of some points; `None` when there are none.
    pub fn of(points: &[DVec3]) -> Option<Self> {
        let first = *points.first()?;
        let whole = Self {
            min: first,
            max: first,
        };
        Some(points.iter().fold(whole, |b, &p| Self {
            min: b.min.min(p),
            max: b.max.max(p),
        }))
    }

    /// Length of each side.
    pub fn size(&self) -> DVec3 {
        self.max - self.min
    }

    /// The middle.
    pub fn center(&self) -> DVec3 {
        0.5 * (self.min + self.max)
    }

    /// Distance between opposite corners.
    pub fn diagonal(&self) -> f64 {
        let longest = self.size().max_element();
        // The square of the longest side may overflow or underflow.
        match (1e-140..1e140).contains(&longest) || longest == 0.0 {
            true => self.size().length(),
            false => longest * (self.size() / longest).length(),
        }
    }
}

/// A triangle mesh in model space, each point once.
///
/// Points that touch no triangle are allowed: point clouds can be skinned too.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriMesh {
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// Checks and keeps positions and triangles.
    ///
    /// # Errors
    /// [`MeshError::NotFinite`] and [`MeshError::VertexOutOfRange`]. Degenerate triangles are kept.
    pub fn new(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
            return Err(MeshError::NotFinite { vertex });
        }
        let vertex_count = positions.len();
        for (face, triangle) in triangles.iter().enumerate() {
            for &vertex in triangle {
                if vertex as usize >= vertex_count {
                    return Err(MeshError::VertexOutOfRange {
                        what: "triangle",
                        face,
                        vertex,
                        vertex_count,
                    });
                }
            }
        }
        Ok(Self {
            positions,
            triangles,
        })
    }

    /// Rest positions in model units.
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Corners of each triangle, counter-clockwise from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many points there are.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// The same triangles on other positions.
    ///
    /// # Errors
    /// [`MeshError::CountMismatch`] and [`MeshError::NotFinite`].
    pub fn with_positions(&self, positions: Vec<DVec3>) -> Result<Self, MeshError> {
        if positions.len() != self.positions.len() {
            return Err(MeshError::CountMismatch {
                what: "positions",
                expected: self.positions.len(),
                found: positions.len(),
            });
        }
        Self::new(positions, self.triangles.clone())
    }

    /// The same mesh in another unit of length.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self {
            positions: self.positions.iter().map(|p| *p * factor).collect(),
            triangles: self.triangles.clone(),
        }
    }

    /// The box around all points; a zero box when there are none.
    pub fn bounds(&self) -> Aabb {
        Aabb::of(&self.positions).unwrap_or(Aabb {
            min: DVec3::ZERO,
            max: DVec3::ZERO,
        })
    }
}

/// Faces of any number of corners, kept so that quads are written as quads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Polygons {
    /// How many corners each face has.
    pub counts: Vec<u32>,
    /// The points of all faces, one face after the other.
    pub corners: Vec<u32>,
}

impl Polygons {
    /// Checks that counts, corners and the number of points agree.
    ///
    /// # Errors
    /// [`MeshError::CountMismatch`] and [`MeshError::VertexOutOfRange`].
    pub fn new(
        counts: Vec<u32>,
        corners: Vec<u32>,
        vertex_count: usize,
    ) -> Result<Self, MeshError> {
        let expected = counts.iter().map(|&n| n as usize).sum();
        if corners.len() != expected {
            return Err(MeshError::CountMismatch {
                what: "polygon corners",
                expected,
                found: corners.len(),
            });
        }
        let polygons = Self { counts, corners };
        for (face, polygon) in polygons.iter().enumerate() {
            if let Some(&vertex) = polygon.iter().find(|&&v| v as usize >= vertex_count) {
                return Err(MeshError::VertexOutOfRange {
                    what: "polygon",
                    face,
                    vertex,
                    vertex_count,
                });
            }
        }
        Ok(polygons)
    }

    /// The corners of each face in turn.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = self.corners.as_slice();
        self.counts.iter().map(move |&n| {
            let (face, tail) = rest.split_at(n as usize);
            rest = tail;
            face
        })
    }

    /// Every face cut into a fan from its first corner; faces of fewer than three corners vanish.
    pub fn triangulate(&self) -> Vec<[u32; 3]> {
        self.iter()
            .flat_map(|face| {
                let fan = face.get(1..).unwrap_or_default();
                fan.windows(2).map(|edge| [face[0], edge[0], edge[1]])
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_become_fans() {
        let polygons = Polygons::new(vec![4, 3, 2], vec![0, 1, 2, 3, 3, 2, 4, 0, 1], 5)
            .expect("counts and corners agree");
        assert_eq!(
            polygons.triangulate(),
            [[0, 1, 2], [0, 2, 3], [3, 2, 4]],
            "a quad is two triangles, a line none"
        );
    }

    #[test]
    fn a_triangle_with_a_missing_vertex_is_refused_with_its_numbers() {
        let error = TriMesh::new(vec![DVec3::ZERO; 2], vec![[0, 1, 7]])
            .expect_err("vertex 7 does not exist");
        assert_eq!(
            error.to_string(),
            "triangle 0 names vertex 7, but there are only 2 vertices",
            "the message carries all facts"
        );
    }
}
