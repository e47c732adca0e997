//! The vertices of a character as whoever draws it wants them: all parts in one list, with what their materials need.

use std::collections::HashMap;
use std::ops::Range;

use dermis::bake::{DrawnSurface, Frames};
use dermis::document::Document;
use dermis::mesh::{DrawMesh, DrawPart};
use glam::{DVec3, Vec2, Vec3, Vec4};

use super::{Look, Looks, PlacedPicture};

/// A character as it is drawn, in single precision.
///
/// Everything is that of the rest shape; a renderer takes positions of the points in any pose and carries normals and
/// tangents along.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DrawnCharacter {
    /// The parts, in the document's order.
    pub parts: Vec<DrawnPart>,
    /// The point of the document that each vertex shows.
    pub points: Vec<u32>,
    /// A unit normal for each vertex: the file's own where they are usable, else smooth ones.
    pub normals: Vec<Vec3>,
    /// Which vertices are shaded as one: those of one point and one normal have one number, below that of the vertices.
    pub groups: Vec<u32>,
    /// What cannot be shown, a sentence each.
    pub notes: Vec<String>,
}

/// Triangles of one material.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DrawnPart {
    /// Its vertices in the lists of the character.
    pub vertices: Range<usize>,
    /// Corners, counted from its first vertex.
    pub triangles: Vec<[u32; 3]>,
    /// Which of [`Looks::materials`] it has.
    pub material: Option<usize>,
    /// A linear colour with opacity for each of its vertices; empty when the file has none.
    pub colors: Vec<[f32; 4]>,
    /// Where its vertices are on the picture of colours; empty when it has none.
    pub color_uvs: Vec<Vec2>,
    /// Where they are on the picture of bumps.
    pub normal_uvs: Vec<Vec2>,
    /// Where they are on the picture of glow.
    pub glow_uvs: Vec<Vec2>,
    /// Unit tangents with the sign of the bitangent, where there are bumps: the file's own, or those of MikkTSpace, for which
    /// some vertices are there twice.
    pub tangents: Vec<Vec4>,
}

impl DrawnCharacter {
    /// Takes a document apart; `looks` are its own.
    pub fn new(document: &Document, looks: &Looks) -> Self {
        let plain;
        let draw = match document.draw.parts.is_empty() {
            false => &document.draw,
            true => {
                let mesh = &document.mesh;
                plain = DrawMesh::plain("mesh", mesh.vertex_count(), mesh.triangles());
                &plain
            }
        };
        let rest = document.mesh.positions();
        let smooth = smooth_normals(rest, document.mesh.triangles());
        let mut drawn = Self::default();
        for part in &draw.parts {
            drawn.add(part, looks, rest, &smooth);
        }
        drawn.groups = groups(&drawn.points, &drawn.normals);
        drawn
    }

    /// The triangles of all parts, with corners in the lists of the character.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let of_part = |part: &DrawnPart| {
            let first = part.vertices.start as u32;
            let triangles = part.triangles.iter();
            let moved: Vec<[u32; 3]> = triangles.map(|t| t.map(|v| first + v)).collect();
            moved
        };
        self.parts.iter().flat_map(of_part).collect()
    }

    fn add(&mut self, part: &DrawPart, looks: &Looks, rest: &[DVec3], smooth: &[DVec3]) {
        let material = part.material.filter(|&m| m < looks.materials.len());
        let look = material.map(|m| &looks.materials[m]);
        let normals = normals_of(part, smooth);
        let mut made = DrawnPart {
            material,
            triangles: part.triangles.clone(),
            ..DrawnPart::default()
        };
        let mut origins: Vec<u32> = (0..part.points.len() as u32).collect();
        let bumps = look.and_then(|look| look.normal_picture);
        if let Some(placed) = bumps.filter(|placed| self.has_uvs(placed, part)) {
            match tangents(part, &placed, &normals, rest) {
                Some(found) => {
                    made.tangents = found.tangents;
                    made.triangles = found.triangles;
                    origins = found.origins;
                    made.normal_uvs = coordinates(&placed, part, &origins);
                }
                None => self.note(format!(
                    "the normal map of '{}' is not shown: its positions or texture coordinates are not finite",
                    part.mesh_name
                )),
            }
        }
        let mut lay = |of: fn(&Look) -> Option<PlacedPicture>| {
            let placed = look.and_then(of).filter(|p| self.has_uvs(p, part));
            placed.map_or(Vec::new(), |p| coordinates(&p, part, &origins))
        };
        made.color_uvs = lay(|look| look.color_picture);
        made.glow_uvs = lay(|look| look.glow_picture);
        if let Some(colors) = part.colors.first() {
            made.colors = origins.iter().map(|&o| colors[o as usize]).collect();
        }
        let first = self.points.len();
        let origins = origins.iter().map(|&origin| origin as usize);
        (self.points).extend(origins.clone().map(|o| part.points[o]));
        (self.normals).extend(origins.map(|o| normals[o].as_vec3()));
        made.vertices = first..self.points.len();
        self.parts.push(made);
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Whether a part has the texture coordinates of a picture; a note where it has not.
    fn has_uvs(&mut self, placed: &PlacedPicture, part: &DrawPart) -> bool {
        let has = part.uvs.get(placed.uv_set).is_some();
        if !has {
            self.note(format!(
                "image {} is not shown on '{}', which has no texture coordinates TEXCOORD_{}",
                placed.image, part.mesh_name, placed.uv_set
            ));
        }
        has
    }
}

fn coordinates(placed: &PlacedPicture, part: &DrawPart, origins: &[u32]) -> Vec<Vec2> {
    let all = placed.coordinates(part).unwrap_or_default();
    let of = |&origin: &u32| all.get(origin as usize).map_or(Vec2::NAN, |&uv| uv.into());
    origins.iter().map(of).collect()
}

/// Tangents for a normal map, and what they make of the triangles.
struct Tangents {
    tangents: Vec<Vec4>,
    triangles: Vec<[u32; 3]>,
    /// Which vertex of the part each one is a copy of.
    origins: Vec<u32>,
}

fn tangents(
    part: &DrawPart,
    placed: &PlacedPicture,
    normals: &[DVec3],
    rest: &[DVec3],
) -> Option<Tangents> {
    if !part.tangents.is_empty() {
        return Some(Tangents {
            tangents: part.tangents.iter().map(|&t| t.into()).collect(),
            triangles: part.triangles.clone(),
            origins: (0..part.points.len() as u32).collect(),
        });
    }
    let uvs = placed.coordinates(part)?;
    let positions = [part.points.iter().map(|&p| rest[p as usize]).collect()];
    let frames = Frames::at_rest(&DrawnSurface {
        triangles: &part.triangles,
        parts: &[],
        uvs: &uvs,
        positions: &positions,
        normals: &[normals.to_vec()],
    });
    let frames = frames.ok()?;
    Some(Tangents {
        tangents: frames.gltf_tangents().iter().map(|&t| t.into()).collect(),
        triangles: frames.triangles,
        origins: frames.origins,
    })
}

/// The unit normals of a part at rest: its own where they are usable, else the smooth ones of the points.
fn normals_of(part: &DrawPart, smooth: &[DVec3]) -> Vec<DVec3> {
    let own = |(vertex, &point): (usize, &u32)| {
        let own = part.normals.get(vertex);
        let own = own.and_then(|&n| Vec3::from(n).as_dvec3().try_normalize());
        own.unwrap_or_else(|| smooth[point as usize])
    };
    part.points.iter().enumerate().map(own).collect()
}

/// The mean normal of the triangles at each point, by area; up where there are none.
fn smooth_normals(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for corners in triangles {
        let [a, b, c] = corners.map(|v| positions[v as usize]);
        let across = (b - a).cross(c - a);
        if across.is_finite() {
            for corner in corners {
                sums[*corner as usize] += across;
            }
        }
    }
    let unit = |sum: DVec3| sum.try_normalize().unwrap_or(DVec3::Y);
    sums.into_iter().map(unit).collect()
}

/// Numbers for vertices: the same for those of one point and one normal.
fn groups(points: &[u32], normals: &[Vec3]) -> Vec<u32> {
    let mut known: HashMap<(u32, [u32; 3]), u32> = HashMap::new();
    let group = |(&point, normal): (&u32, &Vec3)| {
        let next = known.len() as u32;
        let key = (point, normal.to_array().map(f32::to_bits));
        *known.entry(key).or_insert(next)
    };
    points.iter().zip(normals).map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode_png;
    use dermis::TriMesh;
    use dermis::bake::Picture;
    use dermis::document::Image;
    use serde_json::json;

    /// Two triangles of a square, each with a part of its own; u runs to the right in the first and is mirrored in the
    /// second.
    fn square() -> Document {
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let positions = corners.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec();
        let part = |points: [u32; 3], uvs: [[f32; 2]; 3]| DrawPart {
            mesh_name: "square".to_owned(),
            material: Some(0),
            points: points.to_vec(),
            triangles: vec![[0, 1, 2]],
            uvs: vec![uvs.to_vec()],
            ..DrawPart::default()
        };
        let mut document = Document {
            mesh: TriMesh::new(positions, vec![[0, 1, 2], [0, 2, 3]]).expect("a square"),
            ..Document::default()
        };
        document.draw.parts = vec![
            part([0, 1, 2], [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]),
            part([0, 2, 3], [[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]),
        ];
        let grey = Picture {
            width: 1,
            height: 1,
            pixels: vec![[128, 128, 255, 255]],
        };
        document.materials.images = vec![Image {
            name: None,
            mime_type: "image/png".to_owned(),
            bytes: encode_png(&grey).expect("a pixel"),
        }];
        document.materials.textures = vec![json!({"source": 0})];
        document.materials.materials = vec![json!({
            "normalTexture": {"index": 0}, "emissiveTexture": {"index": 0, "texCoord": 2}
        })];
        document
    }

    #[test]
    fn parts_stand_one_after_the_other_with_tangents_for_their_bumps() {
        let document = square();
        let drawn = DrawnCharacter::new(&document, &Looks::of(&document));
        assert_eq!(drawn.points, [0, 1, 2, 0, 2, 3], "all vertices");
        assert_eq!(drawn.triangles(), [[0, 1, 2], [3, 4, 5]], "all triangles");
        assert_eq!(drawn.normals, [Vec3::Z; 6], "smooth ones");
        assert_eq!(drawn.groups, [0, 1, 2, 0, 2, 3], "by point and normal");
        let signs: Vec<f32> = drawn.parts.iter().map(|part| part.tangents[0].w).collect();
        assert_eq!(signs, [1.0, -1.0], "upright and mirrored");
        let [first, second] = [0, 1].map(|i| drawn.parts[i].tangents[0].truncate());
        assert_eq!((first, second), (Vec3::X, Vec3::NEG_X), "along u");
        assert!(drawn.parts[0].glow_uvs.is_empty(), "no such set");
        let note = "image 0 is not shown on 'square', which has no texture coordinates TEXCOORD_2";
        assert_eq!(drawn.notes, [note], "said once");
    }

    #[test]
    fn normals_of_the_file_make_hard_edges_and_broken_coordinates_drop_bumps() {
        let mut document = square();
        document.draw.parts[1].normals = vec![[0.0, 0.0, 2.0], [1.0, 0.0, 0.0], [0.0; 3]];
        document.draw.parts[0].uvs[0][1] = [f32::NAN, 0.0];
        let drawn = DrawnCharacter::new(&document, &Looks::of(&document));
        assert_eq!(drawn.normals[3..], [Vec3::Z, Vec3::X, Vec3::Z], "its own");
        assert_eq!(drawn.groups, [0, 1, 2, 0, 3, 4], "an edge at point 2");
        assert!(drawn.parts[0].tangents.is_empty(), "no tangents");
        assert!(
            drawn.notes[0].starts_with("the normal map of 'square' is not shown"),
            "{:?}",
            drawn.notes
        );
    }

    #[test]
    fn a_mesh_without_a_drawn_form_is_drawn_as_it_is() {
        let mut document = square();
        document.draw.parts.clear();
        let drawn = DrawnCharacter::new(&document, &Looks::default());
        assert_eq!(drawn.points, [0, 1, 2, 3], "each point once");
        assert_eq!(drawn.parts[0].material, None, "no material");
        assert_eq!(drawn.triangles().len(), 2, "all triangles");
    }
}
