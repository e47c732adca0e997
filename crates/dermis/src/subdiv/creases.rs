//! Creases found in a shape.

use glam::DVec3;

use super::{Cage, SubdivisionError};

impl Cage {
    /// Makes creases of edges whose faces meet at more than an angle; says how many there are.
    ///
    /// 0 is flat, π a fold. Faces without an area have no say.
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

    /// The normal of each face with twice its area as length (Newell's sum, which bent faces have, too).
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
            // About the first corner, so that large coordinates do not cancel.
            let sum = (1..face.len() - 1).map(|k| (at(k) - at(0)).cross(at(k + 1) - at(0)));
            sum.fold(DVec3::ZERO, |sum, n| sum + n)
        };
        Ok(self.faces().iter().map(normal).collect())
    }
}
