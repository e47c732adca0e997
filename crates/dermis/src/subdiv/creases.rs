//! Creases found from a shape.

use glam::DVec3;

use super::{Cage, SubdivisionError};

impl Cage {
    /// Makes creases of edges whose faces meet at more than an angle; returns how many there are.
    ///
    /// 0 is flat, π a complete fold. Faces without an area are ignored.
    ///
    /// # Errors
    /// [`SubdivisionError::CountMismatch`] and [`SubdivisionError::BadSharpness`].
    pub fn crease_above(
        &mut self,
        positions: &[DVec3],
        angle_rad: f64,
        sharpness: f64,
    ) -> Result<usize, SubdivisionError> {
        if sharpness.is_nan() || sharpness < 0.0 {
            return Err(SubdivisionError::BadSharpness { found: sharpness });
        }
        let normals = self.face_normals(positions)?;
        let mut count = 0;
        for number in 0..self.edges().len() {
            let Some(sides) = self.edges()[number].sides else {
                continue;
            };
            let [a, b] = sides.map(|corner| normals[self.face_of_corner(corner)]);
            let flat = a == DVec3::ZERO || b == DVec3::ZERO;
            if !flat && a.angle_between(b) > angle_rad {
                self.set_edge_sharpness(number, sharpness);
                count += 1;
            }
        }
        Ok(count)
    }

    /// The normal of each face with twice its area as length (Newell's sum, which also works for bent faces).
    ///
    /// # Errors
    /// [`SubdivisionError::CountMismatch`].
    pub fn face_normals(&self, positions: &[DVec3]) -> Result<Vec<DVec3>, SubdivisionError> {
        if positions.len() != self.point_count() {
            return Err(SubdivisionError::CountMismatch {
                what: "positions",
                expected: self.point_count(),
                found: positions.len(),
            });
        }
        let normal = |face: &[u32]| {
            let at = |k: usize| positions[face[k % face.len()] as usize];
            // Relative to the first corner, so that large coordinates do not cancel.
            let sum = (1..face.len() - 1).map(|k| (at(k) - at(0)).cross(at(k + 1) - at(0)));
            sum.fold(DVec3::ZERO, |sum, n| sum + n)
        };
        Ok(self.faces().iter().map(normal).collect())
    }
}

/// Normals at the corners of a cage; the normals of one point differ across infinitely sharp creases.
#[derive(Debug, Clone, PartialEq)]
pub struct CornerNormals {
    /// The normal of each corner, as an index into `normals`.
    pub normal_of_corner: Vec<u32>,
    /// Unit normals, the area-weighted means of faces; zero where these cancel.
    pub normals: Vec<DVec3>,
}

impl Cage {
    /// Smooth normals, with hard edges where edges are infinitely sharp or are not shared by two faces.
    ///
    /// # Errors
    /// [`SubdivisionError::CountMismatch`].
    pub fn corner_normals(&self, positions: &[DVec3]) -> Result<CornerNormals, SubdivisionError> {
        let of_face = self.face_normals(positions)?;
        let mut groups: Vec<u32> = (0..self.faces().items().len() as u32).collect();
        for edge in self.edges() {
            if let Some([a, b]) = edge.sides
                && edge.sharpness < f64::INFINITY
            {
                join(&mut groups, a, self.next(b));
                join(&mut groups, self.next(a), b);
            }
        }
        // Numbered by the first corner of each group, which has the smallest index.
        let mut normals: Vec<DVec3> = Vec::new();
        let mut normal_of_corner = vec![0; groups.len()];
        for corner in 0..groups.len() as u32 {
            let first = group(&mut groups, corner);
            if first == corner {
                normal_of_corner[corner as usize] = normals.len() as u32;
                normals.push(DVec3::ZERO);
            }
            let number = normal_of_corner[first as usize];
            normal_of_corner[corner as usize] = number;
            normals[number as usize] += of_face[self.face_of_corner(corner)];
        }
        for normal in &mut normals {
            *normal = normal.normalize_or_zero();
        }
        Ok(CornerNormals {
            normal_of_corner,
            normals,
        })
    }

    /// Makes creases of inner edges at both of whose ends the two faces have different corner numbers, such as those of
    /// normals that a file splits; returns how many there are.
    ///
    /// # Errors
    /// [`SubdivisionError::CountMismatch`] and [`SubdivisionError::BadSharpness`].
    pub fn crease_splits(
        &mut self,
        number_of_corner: &[u32],
        sharpness: f64,
    ) -> Result<usize, SubdivisionError> {
        if sharpness.is_nan() || sharpness < 0.0 {
            return Err(SubdivisionError::BadSharpness { found: sharpness });
        }
        if number_of_corner.len() != self.faces().items().len() {
            return Err(SubdivisionError::CountMismatch {
                what: "corner numbers",
                expected: self.faces().items().len(),
                found: number_of_corner.len(),
            });
        }
        let differ = |a: u32, b: u32| number_of_corner[a as usize] != number_of_corner[b as usize];
        let mut count = 0;
        for edge in 0..self.edges().len() {
            if let Some([a, b]) = self.edges()[edge].sides
                && differ(a, self.next(b))
                && differ(self.next(a), b)
            {
                self.set_edge_sharpness(edge, sharpness);
                count += 1;
            }
        }
        Ok(count)
    }
}

/// The smallest corner in the group of a corner.
fn group(groups: &mut [u32], mut corner: u32) -> u32 {
    while groups[corner as usize] != corner {
        let above = groups[groups[corner as usize] as usize];
        groups[corner as usize] = above;
        corner = above;
    }
    corner
}

fn join(groups: &mut [u32], a: u32, b: u32) {
    let (a, b) = (group(groups, a), group(groups, b));
    groups[a.max(b) as usize] = a.min(b);
}
