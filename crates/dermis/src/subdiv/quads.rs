//! Recovers quads from triangles.
//!
//! Files for engines hold triangles, and Catmull-Clark surfaces of triangles have ripples that those of the modeller's
//! quads do not. Two triangles are joined to a quad when together they are nearly flat and nearly a rectangle; the most
//! rectangular pairs are joined first. Exporters write the two halves of a quad one after the other, so such pairs are
//! preferred.

use glam::DVec3;

use super::{Cage, SubdivisionError};
use crate::Rows;

/// Which pairs of triangles may become a quad.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadOptions {
    /// The largest angle by which two triangles may be folded against each other, in radians. Default 40°.
    pub largest_fold_rad: f64,
    /// Largest angle that a corner of a quad may have, in radians. Default 165°.
    pub largest_angle_rad: f64,
}

impl Default for QuadOptions {
    fn default() -> Self {
        Self {
            largest_fold_rad: 40f64.to_radians(),
            largest_angle_rad: 165f64.to_radians(),
        }
    }
}

/// The bonus, in degrees, for two triangles that are consecutive in the file.
const NEIGHBORS_IN_FILE: f64 = 20.0;

/// The faces of a cage as lists of its corners, with triangles joined in pairs where `may_join` allows it. `may_join`
/// gets two corners: the starts of the common edge in either triangle.
///
/// Greedy, by rising distance from a rectangle, and repeatable. Triangles are never joined across a crease. Faces keep
/// the order of their first triangle.
///
/// # Errors
/// [`SubdivisionError::CountMismatch`].
pub fn pair_triangles(
    cage: &Cage,
    positions: &[DVec3],
    options: &QuadOptions,
    may_join: impl Fn(u32, u32) -> bool,
) -> Result<Rows<u32>, SubdivisionError> {
    let normals = cage.face_normals(positions)?;
    let is_triangle = |face: usize| cage.faces().row(face).len() == 3;
    let mut choices: Vec<(f64, [u32; 2])> = Vec::new();
    for edge in cage.edges() {
        let Some([a, b]) = edge.sides.filter(|_| edge.sharpness == 0.0) else {
            continue;
        };
        let faces = [a, b].map(|corner| cage.face_of_corner(corner));
        if !faces.into_iter().all(is_triangle) || !may_join(a, b) {
            continue;
        }
        let [n, m] = faces.map(|face| normals[face]);
        let fold = n.angle_between(m);
        let quad = quad(cage, [a, b]).map(|corner| positions[cage.point(corner) as usize]);
        if let Some(bend) = far_from_rectangle(quad, n + m, options.largest_angle_rad)
            && fold <= options.largest_fold_rad
        {
            let near = faces[0].abs_diff(faces[1]) == 1;
            let bonus = if near { NEIGHBORS_IN_FILE } else { 0.0 };
            choices.push((bend + fold.to_degrees() - bonus, [a, b]));
        }
    }
    choices.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

    let mut quad_of_face: Vec<Option<[u32; 2]>> = vec![None; cage.faces().len()];
    for (_, sides) in choices {
        let faces = sides.map(|corner| cage.face_of_corner(corner));
        if faces.iter().all(|&face| quad_of_face[face].is_none()) {
            for face in faces {
                quad_of_face[face] = Some(sides);
            }
        }
    }
    let mut joined = Rows::with_capacity(cage.faces().len(), cage.faces().items().len());
    for (face, sides) in quad_of_face.iter().enumerate() {
        match sides {
            None => joined.push_row(cage.faces().range(face).map(|corner| corner as u32)),
            Some(sides) => {
                let first = sides.map(|corner| cage.face_of_corner(corner));
                if first[0].min(first[1]) == face {
                    joined.push_row(quad(cage, *sides));
                }
            }
        }
    }
    Ok(joined)
}

/// The corners of the quad of two triangles, starting at one end of their common edge.
fn quad(cage: &Cage, [a, b]: [u32; 2]) -> [u32; 4] {
    [a, cage.previous(b), b, cage.previous(a)]
}

/// Mean distance of a quad's angles from 90°, in degrees; `None` when an angle is too large or the quad is not convex.
fn far_from_rectangle(quad: [DVec3; 4], up: DVec3, largest_angle_rad: f64) -> Option<f64> {
    let mut sum = 0.0;
    for k in 0..4 {
        let [before, at, after] = [k + 3, k, k + 1].map(|k| quad[k % 4]);
        let (forth, back) = (after - at, before - at);
        let angle = forth.angle_between(back);
        // Written so that NaN, as from an edge without length, is refused.
        let convex = forth.cross(back).dot(up) > 0.0 && angle <= largest_angle_rad;
        if !convex {
            return None;
        }
        sum += (angle.to_degrees() - 90.0).abs();
    }
    Some(sum / 4.0)
}
