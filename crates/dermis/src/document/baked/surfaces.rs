//! A document's drawn surface in the poses of a bake.

use std::collections::HashMap;

use glam::{DMat3, DQuat, DVec3, Vec3};

use crate::bake::DrawnSurface;
use crate::document::{Document, EditError};
use crate::mesh::{DrawPart, triangle_normals, vertex_normals};
use crate::normal::{blended_matrices, cofactors};
use crate::par;
use crate::rig::Pose;
use crate::skin::Skin;

/// The drawn vertices of all parts in one list, with their normals in every pose; pose 0 is the rest shape.
pub(super) struct Drawn {
    /// The first vertex of each part, and behind the last the number of all.
    pub(super) starts: Vec<usize>,
    /// The point that each vertex is a copy of.
    pub(super) points: Vec<u32>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// The part of each triangle.
    pub(super) parts: Vec<u32>,
    /// At rest alone.
    pub(super) positions: Vec<Vec<DVec3>>,
    pub(super) normals: Vec<Vec<DVec3>>,
    /// For each pose behind the rest shape, what a direction at each point is multiplied by.
    pub(super) turns: Vec<Vec<DMat3>>,
}

impl Drawn {
    /// The full character, with the normals that its surface really has in each pose.
    pub(super) fn of_source(document: &Document, poses: &[Pose]) -> Result<Self, EditError> {
        let mut drawn = Self::at_rest(document);
        let Some(skin) = &document.skin else {
            return Ok(drawn);
        };
        drawn.turn(skin, poses)?;
        let groups = drawn.groups();
        let rest = drawn.group_normals(&groups, document.mesh.positions());
        let shapes = par::map(poses.len(), |k| skin.evaluate(&poses[k]));
        for (k, shape) in shapes.into_iter().enumerate() {
            let posed = drawn.group_normals(&groups, &shape?);
            let normals = par::map(drawn.points.len(), |i| {
                let turn = cofactors(&drawn.turns[k][drawn.points[i] as usize]);
                let own = drawn.normals[0][i];
                let group = groups[i] as usize;
                true_normal(turn, own, rest[group], posed[group])
            });
            drawn.normals.push(normals);
        }
        Ok(drawn)
    }

    /// A coarse form of it, with the normals that engines show: those of the rest shape, turned by blended matrices.
    pub(super) fn of_target(document: &Document, poses: &[Pose]) -> Result<Self, EditError> {
        let mut drawn = Self::at_rest(document);
        let plain = document.plain_skin();
        let Some(skin) = plain.as_ref().or(document.skin.as_ref()) else {
            return Ok(drawn);
        };
        drawn.turn(skin, poses)?;
        for k in 0..poses.len() {
            let rest = &drawn.normals[0];
            let turned = rest.iter().zip(&drawn.points).map(|(&normal, &point)| {
                let turned = drawn.turns[k][point as usize] * normal;
                turned.try_normalize().unwrap_or(normal)
            });
            let turned = turned.collect();
            drawn.normals.push(turned);
        }
        Ok(drawn)
    }

    fn at_rest(document: &Document) -> Self {
        let rest = document.mesh.positions();
        let smooth = vertex_normals(rest, &document.draw.point_triangles());
        let mut drawn = Self {
            starts: vec![0],
            points: Vec::new(),
            triangles: Vec::new(),
            parts: Vec::new(),
            positions: Vec::new(),
            normals: Vec::new(),
            turns: Vec::new(),
        };
        let mut normals = Vec::new();
        for (number, part) in (0..).zip(&document.draw.parts) {
            let start = drawn.points.len() as u32;
            let triangles = part.triangles.iter().map(|t| t.map(|c| c + start));
            drawn.triangles.extend(triangles);
            drawn.parts.resize(drawn.triangles.len(), number);
            normals.extend(rest_normals(part, &smooth));
            drawn.points.extend(&part.points);
            drawn.starts.push(drawn.points.len());
        }
        let places = drawn.points.iter().map(|&p| rest[p as usize]);
        drawn.positions = vec![places.collect()];
        drawn.normals = vec![normals];
        drawn
    }

    fn turn(&mut self, skin: &Skin, poses: &[Pose]) -> Result<(), EditError> {
        let turns = poses.iter().map(|pose| blended_matrices(skin, pose));
        self.turns = turns.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// The surface, with texture coordinates of one's choice.
    pub(super) fn surface<'a>(&'a self, uvs: &'a [[f32; 2]]) -> DrawnSurface<'a> {
        DrawnSurface {
            triangles: &self.triangles,
            parts: &self.parts,
            uvs,
            positions: &self.positions,
            normals: &self.normals,
        }
    }

    /// A tangent of a vertex in a pose, as engines turn it.
    pub(super) fn turned(&self, k: usize, vertex: u32, tangent: DVec3) -> DVec3 {
        match self.turns.get(k.wrapping_sub(1)) {
            Some(turns) => turns[self.points[vertex as usize] as usize] * tangent,
            None => tangent,
        }
    }

    /// Vertices of one point and one normal have a number in common: the surface is smooth there, whatever else splits it.
    fn groups(&self) -> Vec<u32> {
        let mut known = HashMap::new();
        let keys = self.points.iter().zip(&self.normals[0]);
        keys.map(|(&point, normal)| {
            let next = known.len() as u32;
            let bits = normal.as_vec3().to_array().map(f32::to_bits);
            *known.entry((point, bits)).or_insert(next)
        })
        .collect()
    }

    /// The area-weighted normal of each group's faces.
    fn group_normals(&self, groups: &[u32], points: &[DVec3]) -> Vec<DVec3> {
        let count = groups.iter().max().map_or(0, |&last| last as usize + 1);
        let corners: Vec<[u32; 3]> = (self.triangles.iter())
            .map(|t| t.map(|c| self.points[c as usize]))
            .collect();
        let faces = triangle_normals(points, &corners);
        let mut sums = vec![DVec3::ZERO; count];
        for (triangle, face) in self.triangles.iter().zip(&faces) {
            for &corner in triangle {
                sums[groups[corner as usize] as usize] += face;
            }
        }
        sums.iter().map(|sum| sum.normalize_or_zero()).collect()
    }
}

/// The normals of a part as a file will have them.
pub(super) fn rest_normals(part: &DrawPart, smooth: &[DVec3]) -> Vec<DVec3> {
    let own = part.normals.iter().map(|&n| Some(n));
    let own = own.chain(std::iter::repeat(None));
    let usable = |(&point, own): (&u32, Option<[f32; 3]>)| {
        let own = own.and_then(|n| Vec3::from(n).as_dvec3().try_normalize());
        own.or_else(|| smooth[point as usize].try_normalize())
            .unwrap_or(DVec3::Z)
    };
    part.points.iter().zip(own).map(usable).collect()
}

/// A normal of the file in a pose: turned with the skin, and then as the faces turn beyond that.
///
/// Faces alone would lose what the file's normals have that its faces have not, such as those of a finer mesh.
fn true_normal(turn: DMat3, own: DVec3, rest: DVec3, posed: DVec3) -> DVec3 {
    let carried = |v: DVec3| (turn * v).try_normalize();
    match (carried(own), carried(rest), posed.try_normalize()) {
        (Some(own), Some(rest), Some(posed)) => DQuat::from_rotation_arc(rest, posed) * own,
        (Some(own), ..) => own,
        (None, _, Some(posed)) => posed,
        (None, ..) => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::testing::tube_with_clips;
    use crate::skin::ShownPoses;

    fn bent() -> (Document, Vec<Pose>) {
        let document = tube_with_clips(&["bend"]);
        let poses = ShownPoses::all(&document.shown_poses().expect("a clip"));
        (document, poses)
    }

    #[test]
    fn the_full_surface_has_the_normals_of_its_posed_faces() {
        let (document, poses) = bent();
        let drawn = Drawn::of_source(&document, &poses).expect("a tube");
        let skin = document.skin.as_ref().expect("a skin");
        for (k, pose) in poses.iter().enumerate() {
            let shape = skin.evaluate(pose).expect("its pose");
            let wanted = vertex_normals(&shape, document.mesh.triangles());
            for (own, wanted) in drawn.normals[k + 1].iter().zip(&wanted) {
                assert!(
                    own.distance(*wanted) < 1e-9,
                    "pose {k}: {own}, not {wanted}"
                );
            }
        }
    }

    #[test]
    fn a_coarse_form_has_the_normals_that_engines_show() {
        let (document, poses) = bent();
        let drawn = Drawn::of_target(&document, &poses).expect("a tube");
        let skin = document.skin.as_ref().expect("a skin");
        let kind = crate::normal::BlendedNormal::Matrix;
        let rest = &drawn.normals[0];
        for (k, pose) in poses.iter().enumerate() {
            let wanted = crate::normal::blended_normals(skin, rest, pose, kind).expect("a pose");
            for (own, wanted) in drawn.normals[k + 1].iter().zip(&wanted) {
                assert!(
                    own.distance(*wanted) < 1e-12,
                    "pose {k}: {own}, not {wanted}"
                );
            }
        }
    }

    #[test]
    fn a_hard_edge_stays_hard_in_every_pose() {
        let (mut document, poses) = bent();
        // Each triangle has vertices and a normal of its own.
        let corners: Vec<u32> = document
            .mesh
            .triangles()
            .iter()
            .flatten()
            .copied()
            .collect();
        let faces = triangle_normals(document.mesh.positions(), document.mesh.triangles());
        let part = &mut document.draw.parts[0];
        part.triangles = (0..corners.len() as u32 / 3)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect();
        part.points = corners;
        // Halves of a flat quad would have one normal, and be smooth in every pose: a hair's breadth keeps them apart.
        let normal = |(t, face): (usize, &DVec3)| {
            let apart = face.normalize() + DVec3::splat(1e-6 * t as f64);
            [apart.normalize().as_vec3().to_array(); 3]
        };
        part.normals = faces.iter().enumerate().flat_map(normal).collect();
        let drawn = Drawn::of_source(&document, &poses).expect("a faceted tube");
        let skin = document.skin.as_ref().expect("a skin");
        let last = poses.len();
        let shape = skin.evaluate(&poses[last - 1]).expect("its pose");
        let faces = triangle_normals(&shape, document.mesh.triangles());
        for (t, face) in faces.iter().enumerate() {
            let own = drawn.normals[last][3 * t];
            let wanted = face.normalize();
            assert!(own.distance(wanted) < 1e-3, "face {t}: {own}, not {wanted}");
        }
    }
}
