//! Drawn parts to meshes and primitives.

use std::collections::HashSet;
use std::ops::Range;

use dermis::mesh::DrawPart;
use glam::DVec3;
use gltf_json::mesh::{Mode, Primitive, Semantic};
use gltf_json::validation::Checked::Valid;
use gltf_json::{Accessor, Index};

use super::builder::{Builder, Use};
use super::exact::ExactRows;
use super::morphs::Shape;
use super::normals::drawn_tangents;
use super::weights::{InfluenceSets, influence_sets, set_count};
use crate::Fault;
use crate::gltf::names::{Name, POINT};

/// Whole numbers are exact in single precision below this.
const EXACT_BELOW: u32 = 1 << 24;

/// What is drawn of the full character or of a level, in the rest pose.
pub(super) struct Surface<'a> {
    /// The parts in file order.
    pub(super) parts: &'a [DrawPart],
    /// Corners in point numbers.
    pub(super) triangles: &'a [[u32; 3]],
    /// Where each point rests.
    pub(super) rest: &'a [DVec3],
    /// The smooth normal of each point there.
    pub(super) smooth: Vec<DVec3>,
    /// Normals of each part's drawn vertices, as the file will have them.
    pub(super) normals: Vec<Vec<[f32; 3]>>,
    /// Influences of each point, largest first; `None` without a skin.
    pub(super) rows: Option<Vec<Vec<(u16, f32)>>>,
    /// The exact model that the influences above approximate, when the skin is not a linear blend.
    pub(super) exact: Option<ExactRows>,
    /// How many bones there are.
    pub(super) joint_count: usize,
    /// The shapes that it can move towards: the corrections of a skin, or the frames of a sequence.
    pub(super) shapes: Vec<Shape<'a>>,
}

/// The parts of each mesh: those in a row with one name. Meshes without a vertex are left out.
pub(super) fn mesh_ranges(parts: &[DrawPart]) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut ranges = Vec::new();
    for run in parts.chunk_by(|a, b| a.mesh_name == b.mesh_name) {
        let range = start..start + run.len();
        start = range.end;
        if run.iter().any(|part| !part.points.is_empty()) {
            ranges.push(range);
        }
    }
    ranges
}

impl Surface<'_> {
    /// The parts of a mesh that draw something, with their numbers.
    pub(super) fn drawn(&self, mesh: Range<usize>) -> impl Iterator<Item = (usize, &DrawPart)> {
        let parts = mesh.map(|number| (number, &self.parts[number]));
        parts.filter(|(_, part)| !part.points.is_empty())
    }

    /// Whether the file must say which point each vertex is.
    ///
    /// It need not when the vertices are the points, in order, and no two points coincide, so
    /// that a reader which joins vertices by position finds the same points again.
    pub(super) fn needs_point_attribute(&self) -> bool {
        let drawn = self.parts.iter().flat_map(|part| &part.points);
        if drawn.clone().any(|&point| point >= EXACT_BELOW) {
            return false;
        }
        let one_part = self.parts.len() == 1;
        if !one_part || !drawn.copied().eq(0..self.rest.len() as u32) {
            return true;
        }
        let bits = |p: &DVec3| (*p + DVec3::ZERO).as_vec3().to_array().map(f32::to_bits);
        let mut seen = HashSet::with_capacity(self.rest.len());
        !self.rest.iter().all(|p| seen.insert(bits(p)))
    }

    /// Adds the primitives of one mesh, without morph targets.
    pub(super) fn add_primitives(
        &self,
        builder: &mut Builder,
        mesh: Range<usize>,
        point_attribute: bool,
    ) -> Result<Vec<Primitive>, Fault> {
        // All primitives of a mesh have the same number of sets, or the validator warns.
        let sets = self.rows.as_ref().map(|rows| {
            let points = self.drawn(mesh.clone()).flat_map(|(_, part)| &part.points);
            set_count(rows, points.copied())
        });
        (self.drawn(mesh))
            .map(|(number, part)| {
                let influences = (self.rows.as_ref().zip(sets))
                    .map(|(rows, sets)| influence_sets(rows, &part.points, sets));
                self.add_primitive(builder, number, influences, point_attribute)
            })
            .collect()
    }

    fn add_primitive(
        &self,
        builder: &mut Builder,
        number: usize,
        influences: Option<InfluenceSets>,
        point_attribute: bool,
    ) -> Result<Primitive, Fault> {
        let part = &self.parts[number];
        let mut attributes: Vec<(Semantic, Index<Accessor>)> = Vec::new();
        let name = |what: &str| format!("{what} of part {number} (mesh {})", part.mesh_name);

        let rest = |&point: &u32| self.rest[point as usize].as_vec3().to_array();
        let positions: Vec<[f32; 3]> = part.points.iter().map(rest).collect();
        let positions = builder.floats(&name("positions"), &positions, Use::VertexWithBounds)?;
        attributes.push((Semantic::Positions, positions));

        let normals = &self.normals[number];
        if !normals.is_empty() {
            let normals = builder.floats(&name("normals"), normals, Use::Vertex)?;
            attributes.push((Semantic::Normals, normals));
        }
        if let Some(tangents) = drawn_tangents(part) {
            let tangents = builder.floats(&name("tangents"), &tangents, Use::Vertex)?;
            attributes.push((Semantic::Tangents, tangents));
        }
        for (set, uvs) in (0..).zip(&part.uvs) {
            let uvs = builder.floats(&name("UVs"), uvs, Use::Vertex)?;
            attributes.push((Semantic::TexCoords(set), uvs));
        }
        for (set, colors) in (0..).zip(&part.colors) {
            // Colours beyond 0 to 1 are an error in glTF; NaN stays, to be refused.
            let clamped: Vec<[f32; 4]> = (colors.iter())
                .map(|color| color.map(|c| c.clamp(0.0, 1.0)))
                .collect();
            let colors = builder.floats(&name("colours"), &clamped, Use::Vertex)?;
            attributes.push((Semantic::Colors(set), colors));
        }
        if let Some(influences) = influences {
            for (set, joints) in (0..).zip(&influences.joints) {
                let joints = builder.joints(joints, self.joint_count);
                attributes.push((Semantic::Joints(set), joints));
            }
            for (set, weights) in (0..).zip(&influences.weights) {
                let weights = builder.floats(&name("weights"), weights, Use::Vertex)?;
                attributes.push((Semantic::Weights(set), weights));
            }
        }
        if let Some(exact) = &self.exact {
            let label = format!("part {number} (mesh {})", part.mesh_name);
            attributes.extend(exact.add(builder, &part.points, &label)?);
        }
        // Point numbers and exact models read from another file refer to that file's points.
        let passed_on = |name: &str| Name::of(name).is_none();
        for custom in part.custom.iter().filter(|c| passed_on(&c.name)) {
            let what = name(&custom.name);
            let values = &custom.data.values;
            let accessor = match custom.data.width {
                1 => builder.floats(&what, values.as_chunks::<1>().0, Use::Vertex),
                2 => builder.floats(&what, values.as_chunks::<2>().0, Use::Vertex),
                3 => builder.floats(&what, values.as_chunks::<3>().0, Use::Vertex),
                _ => builder.floats(&what, values.as_chunks::<4>().0, Use::Vertex),
            }?;
            attributes.push((Semantic::Extras(custom.name[1..].to_owned()), accessor));
        }
        if point_attribute {
            let what = name(POINT);
            let points = part.points.iter().map(|&p| p as f32);
            // Blender 5.0 fails at random on custom attributes of different widths.
            let wide = self.exact.is_some() || part.custom.iter().any(|c| c.data.width == 4);
            let points = if wide {
                let points: Vec<[f32; 4]> = points.map(|p| [p, 0.0, 0.0, 0.0]).collect();
                builder.floats(&what, &points, Use::Vertex)?
            } else {
                let points: Vec<[f32; 1]> = points.map(|p| [p]).collect();
                builder.floats(&what, &points, Use::Vertex)?
            };
            attributes.push((Semantic::Extras(Name::Point.text()), points));
        }

        let indices = (!part.triangles.is_empty()).then(|| builder.triangles(&part.triangles));
        Ok(Primitive {
            attributes: (attributes.into_iter())
                .map(|(semantic, accessor)| (Valid(semantic), accessor))
                .collect(),
            extensions: None,
            extras: None,
            indices,
            material: part.material.map(|m| Index::new(m as u32)),
            mode: Valid(match indices {
                Some(_) => Mode::Triangles,
                None => Mode::Points,
            }),
            targets: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use dermis::mesh::DrawMesh;

    use super::*;

    fn surface<'a>(parts: &'a [DrawPart], rest: &'a [DVec3]) -> Surface<'a> {
        Surface {
            parts,
            triangles: &[],
            rest,
            smooth: Vec::new(),
            normals: vec![Vec::new(); parts.len()],
            rows: None,
            exact: None,
            joint_count: 0,
            shapes: Vec::new(),
        }
    }

    #[test]
    fn point_numbers_are_written_unless_vertices_are_distinct_points_in_order() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let coincident = [DVec3::ZERO, DVec3::X, DVec3::X];
        let plain = DrawMesh::plain("a", 3, &[[0, 1, 2]]).parts;
        let mut split = plain.clone();
        split[0].points = vec![0, 1, 2, 1];
        let mut turned = plain.clone();
        turned[0].points = vec![2, 1, 0];
        let two = [plain[0].clone(), plain[0].clone()];
        for (parts, rest, expected) in [
            (plain.as_slice(), &rest, false),
            (&plain, &coincident, true),
            (&split, &rest, true),
            (&turned, &rest, true),
            (&two, &rest, true),
        ] {
            assert_eq!(
                surface(parts, rest).needs_point_attribute(),
                expected,
                "points {:?} at {rest:?}",
                parts[0].points
            );
        }
        let mut huge = plain.clone();
        huge[0].points[0] = EXACT_BELOW;
        assert!(
            !surface(&huge, &rest).needs_point_attribute(),
            "a number that single precision may round is not written"
        );
    }

    #[test]
    fn parts_in_a_row_with_one_name_are_one_mesh() {
        let part = |name: &str, count: u32| DrawPart {
            mesh_name: name.to_owned(),
            points: (0..count).collect(),
            ..DrawPart::default()
        };
        let parts = [
            part("a", 1),
            part("a", 0),
            part("b", 0),
            part("a", 1),
            part("c", 2),
        ];
        assert_eq!(
            mesh_ranges(&parts),
            [0..2, 3..4, 4..5],
            "b draws nothing, and the second a is a mesh of its own"
        );
    }
}
