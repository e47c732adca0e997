//! [`Document`] to OBJ text.

use std::collections::HashMap;
use std::fmt::Write;

use dermis::mesh::{DrawPart, weld_by_key};
use glam::DVec3;

use crate::Document;
use crate::geometry::{faces, per_point, srgb_from_linear};

/// Writes one document at one or many positions; the faces' text is made once.
pub(crate) struct ObjWriter {
    /// ` r g b` after each point, or empty.
    colors: Vec<String>,
    /// Everything after the points.
    faces: String,
}

impl ObjWriter {
    /// `with_normals` is for the rest positions only: normals do not follow other frames.
    pub(crate) fn new(document: &Document, with_normals: bool) -> Self {
        Self {
            colors: color_text(document),
            faces: face_text(document, with_normals),
        }
    }

    /// The file with the given positions, one per point of the document.
    pub(crate) fn to_bytes(&self, positions: &[DVec3]) -> Vec<u8> {
        let mut text = String::with_capacity(40 * positions.len() + self.faces.len());
        for (i, p) in positions.iter().enumerate() {
            text.push('v');
            for x in p.to_array() {
                push_number(&mut text, x);
            }
            if let Some(color) = self.colors.get(i) {
                text.push_str(color);
            }
            text.push('\n');
        }
        text.push_str(&self.faces);
        text.into_bytes()
    }
}

fn color_text(document: &Document) -> Vec<String> {
    let colors = per_point(document, |part| part.colors.first()).unwrap_or_default();
    let text = |&[r, g, b, _]: &[f32; 4]| {
        let mut text = String::new();
        for c in [r, g, b] {
            // Four decimals tell all 256 levels of a byte apart.
            push_number(
                &mut text,
                (srgb_from_linear(f64::from(c)) * 1e4).round() / 1e4,
            );
        }
        text
    };
    colors.iter().map(text).collect()
}

/// The shortest text that reads back as the same number: as `f32` where that is exact, else as `f64`.
fn push_number(text: &mut String, x: f64) {
    text.push(' ');
    let plain = x == 0.0 || (1e-5..1e15).contains(&x.abs());
    let single = x as f32;
    // Writing to a string cannot fail.
    let _ = match (f64::from(single) == x, plain) {
        (true, true) => write!(text, "{single}"),
        (true, false) => write!(text, "{single:e}"),
        (false, true) => write!(text, "{x}"),
        (false, false) => write!(text, "{x:e}"),
    };
}

fn face_text(document: &Document, with_normals: bool) -> String {
    let mut text = String::new();
    let parts = &document.draw.parts;
    let uv_numbers = attribute_lines(&mut text, "vt", parts, |part| {
        let uvs = part.uvs.first()?;
        // OBJ counts v from the bottom of a picture, glTF from the top.
        Some(
            uvs.iter()
                .map(|&[u, v]| [u, (1.0 - f64::from(v)) as f32])
                .collect(),
        )
    });
    let normal_numbers = attribute_lines(&mut text, "vn", parts, |part| {
        with_normals.then(|| part.normals.clone())
    });
    let mut drawn = DrawnTriangles::new(parts);
    let mut part_before = None;
    for face in faces(&document.mesh, document.polygons.as_ref()) {
        let found = drawn.find(parts, face);
        if let Some((part, _)) = found
            && part_before != Some(part)
        {
            section_lines(&mut text, document, part_before, part);
            part_before = Some(part);
        }
        text.push('f');
        for (k, point) in face.iter().enumerate() {
            let _ = write!(text, " {}", point + 1);
            let Some((part, vertices)) = &found else {
                continue;
            };
            let number = |numbers: &[Vec<u32>]| numbers[*part].get(vertices[k] as usize).copied();
            let _ = match (number(&uv_numbers), number(&normal_numbers)) {
                (Some(uv), Some(normal)) => write!(text, "/{uv}/{normal}"),
                (Some(uv), None) => write!(text, "/{uv}"),
                (None, Some(normal)) => write!(text, "//{normal}"),
                (None, None) => Ok(()),
            };
        }
        text.push('\n');
    }
    text
}

/// Writes each value once, and returns the line number that each vertex of each part uses.
fn attribute_lines<const N: usize>(
    text: &mut String,
    keyword: &str,
    parts: &[DrawPart],
    attribute: impl Fn(&DrawPart) -> Option<Vec<[f32; N]>>,
) -> Vec<Vec<u32>> {
    let of_part: Vec<Vec<[f32; N]>> = parts
        .iter()
        .map(|part| {
            let values = attribute(part).filter(|v| v.len() == part.points.len());
            values.unwrap_or_default()
        })
        .collect();
    let all: Vec<[f32; N]> = of_part.iter().flatten().copied().collect();
    let weld = weld_by_key(all.iter().map(|value| value.map(f32::to_bits)));
    for &first in &weld.first_vertex {
        text.push_str(keyword);
        for x in all[first as usize] {
            push_number(text, f64::from(x));
        }
        text.push('\n');
    }
    let mut numbers = weld.point_of_vertex.iter().map(|&value| value + 1);
    of_part
        .iter()
        .map(|values| numbers.by_ref().take(values.len()).collect())
        .collect()
}

fn section_lines(text: &mut String, document: &Document, before: Option<usize>, part: usize) {
    let parts = &document.draw.parts;
    let name = |part: usize| one_line(&parts[part].mesh_name, "mesh");
    if before.is_none_or(|before| name(before) != name(part)) {
        let _ = writeln!(text, "o {}", name(part));
    }
    let material = parts[part].material;
    let material_before = before.and_then(|before| parts[before].material);
    if material != material_before {
        let name = material.map_or("(null)".to_owned(), |index| {
            let named = document.materials.materials.get(index);
            let named = named.and_then(|m| m.get("name")?.as_str());
            one_line(named.unwrap_or_default(), &format!("material_{index}"))
        });
        let _ = writeln!(text, "usemtl {name}");
    }
}

/// A name without control characters, so that it stays on its line.
fn one_line(name: &str, default: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_control() { '_' } else { c })
        .collect();
    let name = name.trim().trim_end_matches('\\');
    if name.is_empty() { default } else { name }.to_owned()
}

/// Finds the drawn vertices of a face, so that faces keep the mesh's order and their UVs.
struct DrawnTriangles {
    /// Part and triangle of each drawn triangle, and the next one with the same points.
    entries: Vec<(usize, [u32; 3], Option<usize>)>,
    /// The first unused entry for three points.
    of_points: HashMap<[u32; 3], usize>,
}

impl DrawnTriangles {
    fn new(parts: &[DrawPart]) -> Self {
        let mut entries = Vec::new();
        let mut of_points = HashMap::new();
        for (p, part) in parts.iter().enumerate().rev() {
            for &triangle in part.triangles.iter().rev() {
                let points = triangle.map(|v| part.points[v as usize]);
                let next = of_points.insert(points, entries.len());
                entries.push((p, triangle, next));
            }
        }
        Self { entries, of_points }
    }

    /// The part that draws the face, and its vertex for each corner.
    ///
    /// `None` when the face's fan of triangles is not drawn as one piece.
    fn find(&mut self, parts: &[DrawPart], face: &[u32]) -> Option<(usize, Vec<u32>)> {
        let mut found: Option<(usize, Vec<u32>)> = None;
        for edge in face.get(1..)?.windows(2) {
            let first_unused = self.of_points.get_mut(&[face[0], edge[0], edge[1]])?;
            let (part, [a, b, c], next) = self.entries[*first_unused];
            *first_unused = next.unwrap_or(*first_unused);
            match &mut found {
                None => found = Some((part, vec![a, b, c])),
                Some((same_part, vertices)) => {
                    let joined = *same_part == part
                        && vertices.first() == Some(&a)
                        && vertices.last() == Some(&b);
                    if !joined {
                        return None;
                    }
                    vertices.push(c);
                }
            }
        }
        debug_assert!(
            found.as_ref().is_none_or(|(part, vertices)| {
                vertices
                    .iter()
                    .zip(face)
                    .all(|(&v, &point)| parts[*part].points[v as usize] == point)
            }),
            "the drawn vertices are copies of the face's points"
        );
        found
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::read;
    use super::*;

    fn round_trip(text: &str) -> (Document, Document, String) {
        let document = read(Path::new("cube.obj"), text.as_bytes()).expect("valid OBJ");
        let bytes = ObjWriter::new(&document, true).to_bytes(document.mesh.positions());
        let back = read(Path::new("other.obj"), &bytes).expect("our own OBJ is valid");
        (document, back, String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn seams_polygons_names_and_colours_come_back() {
        let (document, back, text) = round_trip(
            "v 0 0 0 1 0 0.5\nv 1 0 0 1 1 1\nv 1 1 0 0 0 0\nv 0 1 0 0.2 0.2 0.2\nv 2 0 0 0 1 0\n\
             vt 0 0\nvt 1 0.25\nvn 0 0 1\no body\n\
             usemtl skin\nf 1/1/1 2/1/1 3/1/1 4/1/1\nusemtl cloth\nf 2/2/1 5/2/1 3/2/1\n\
             usemtl skin\nf 3/1/1 2/1/1 1/1/1\no tail\nusemtl (null)\nf 1 2 4\n",
        );
        assert_eq!(back.mesh, document.mesh, "points and triangles:\n{text}");
        assert_eq!(back.polygons, document.polygons, "polygons:\n{text}");
        assert_eq!(back.materials, document.materials, "materials:\n{text}");
        let colors = |d: &Document| d.draw.parts[0].colors.clone();
        let error = colors(&document)
            .iter()
            .flatten()
            .flatten()
            .zip(colors(&back).iter().flatten().flatten())
            .fold(0.0, |worst: f32, (a, b)| worst.max((a - b).abs()));
        assert!(
            error < 3e-4,
            "colours move by at most 4 decimals, found {error}"
        );
        let without_colors = |d: Document| {
            let mut draw = d.draw;
            draw.parts.iter_mut().for_each(|p| p.colors.clear());
            draw
        };
        assert_eq!(
            without_colors(back),
            without_colors(document),
            "drawn form:\n{text}"
        );
    }

    #[test]
    fn numbers_are_short_and_exact() {
        for (x, expected) in [
            (f64::from(0.1f32), " 0.1"),
            (0.1, " 0.1"),
            (1.0 / 3.0, " 0.3333333333333333"),
            (-0.0, " -0"),
            (1e-30, " 1e-30"),
            (f64::from(f32::MAX), " 3.4028235e38"),
        ] {
            let mut text = String::new();
            push_number(&mut text, x);
            assert_eq!(text, expected, "for {x:e}");
            let back: f64 = text.trim().parse().expect("a number");
            assert_eq!(back as f32, x as f32, "the same single-precision number");
        }
    }

    #[test]
    fn a_name_cannot_add_lines() {
        assert_eq!(
            one_line("a\nv 9 9 9", "mesh"),
            "a_v 9 9 9",
            "control characters go"
        );
        assert_eq!(
            one_line(" \\", "mesh"),
            "mesh",
            "no name, no continued line"
        );
    }

    #[test]
    fn a_document_without_drawn_form_still_has_its_faces() {
        let mut document =
            read(Path::new("a.obj"), b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").expect("valid OBJ");
        document.draw.parts.clear();
        let bytes = ObjWriter::new(&document, true).to_bytes(document.mesh.positions());
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(
            text, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
            "nothing but the mesh"
        );
    }
}
