//! Rows of a PLY file to a [`Document`].

use std::path::Path;

use dermis::mesh::{DrawMesh, DrawPart};
use glam::DVec3;

use super::header::{Element, Encoding, Property, Scalar, parse_header};
use crate::format::stem;
use crate::geometry::{Geometry, counted, linear_from_srgb, unit};
use crate::{Document, Fault, FileFacts};

/// Reads a PLY file from its bytes.
pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Document, Fault> {
    let (header, body) = parse_header(bytes)?;
    let mut rows = Rows {
        encoding: header.encoding,
        rest: body,
        element: String::new(),
        row: 0,
    };
    let mut vertices = None;
    let mut faces = FaceLists::default();
    let mut notes = Vec::new();
    for element in &header.elements {
        rows.check_count(element)?;
        match element.name.as_str() {
            "vertex" if vertices.is_none() => vertices = Some(read_vertices(&mut rows, element)?),
            "face" => read_faces(&mut rows, element, &mut faces)?,
            name => {
                skip(&mut rows, element)?;
                if element.count > 0 {
                    notes.push(format!(
                        "Element {name} is left out: {} rows.",
                        element.count
                    ));
                }
            }
        }
    }
    if !rows.rest.trim_ascii().is_empty() {
        notes.push(format!(
            "{} bytes after the last row are left out.",
            rows.rest.len()
        ));
    }
    let vertices =
        vertices.ok_or_else(|| Fault::malformed("header", "an element `vertex`", "none"))?;
    if faces.dropped > 0 {
        let what = counted(faces.dropped, "face", "faces");
        notes.push(format!("{what} left out: fewer than 3 corners."));
    }
    let geometry = Geometry::new(vertices.positions, faces.counts, faces.corners)?;
    let mut draw = DrawMesh::plain(
        stem(path),
        geometry.mesh.vertex_count(),
        geometry.mesh.triangles(),
    );
    for part in &mut draw.parts {
        *part = DrawPart {
            normals: vertices.normals.clone(),
            uvs: list_of_one(vertices.uvs.clone()),
            colors: list_of_one(vertices.colors.clone()),
            ..std::mem::take(part)
        };
    }
    Ok(Document {
        mesh: geometry.mesh,
        polygons: geometry.polygons,
        draw,
        facts: FileFacts {
            mesh_count: 1,
            ..FileFacts::default()
        },
        notes,
        ..Document::default()
    })
}

fn list_of_one<T>(values: Vec<T>) -> Vec<Vec<T>> {
    if values.is_empty() {
        Vec::new()
    } else {
        vec![values]
    }
}

/// A cursor over the rows; every number comes out as `f64`, which holds all PLY types exactly.
struct Rows<'a> {
    encoding: Encoding,
    rest: &'a [u8],
    /// Where we are, for messages: which element, and which row of it from 0.
    element: String,
    row: usize,
}

impl Rows<'_> {
    /// Refuses more rows than the file has bytes for, before any memory is set aside.
    fn check_count(&mut self, element: &Element) -> Result<(), Fault> {
        self.element.clone_from(&element.name);
        self.row = 0;
        let least = element
            .least_row_size(self.encoding)
            .checked_mul(element.count)
            // The last number of a text needs no space after it.
            .map(|bytes| bytes.saturating_sub(usize::from(self.encoding == Encoding::Ascii)));
        if least.is_none_or(|least| least > self.rest.len()) {
            return Err(Fault::malformed(
                format!("element {}", element.name),
                match least {
                    Some(bytes) => format!("{} rows of at least {bytes} bytes", element.count),
                    None => format!("{} rows", element.count),
                },
                format!("{} bytes", self.rest.len()),
            ));
        }
        Ok(())
    }

    fn scalar(&mut self, scalar: Scalar) -> Result<f64, Fault> {
        if self.encoding == Encoding::Ascii {
            return self.word(scalar);
        }
        let big = self.encoding == Encoding::BigEndian;
        macro_rules! take {
            ($t:ty) => {{
                let Some((bytes, rest)) = self.rest.split_first_chunk() else {
                    return Err(self.truncated(size_of::<$t>()));
                };
                self.rest = rest;
                f64::from(if big {
                    <$t>::from_be_bytes(*bytes)
                } else {
                    <$t>::from_le_bytes(*bytes)
                })
            }};
        }
        Ok(match scalar {
            Scalar::I8 => take!(i8),
            Scalar::U8 => take!(u8),
            Scalar::I16 => take!(i16),
            Scalar::U16 => take!(u16),
            Scalar::I32 => take!(i32),
            Scalar::U32 => take!(u32),
            Scalar::F32 => take!(f32),
            Scalar::F64 => take!(f64),
        })
    }

    fn word(&mut self, scalar: Scalar) -> Result<f64, Fault> {
        let text = self.rest.trim_ascii_start();
        let end = text.iter().position(u8::is_ascii_whitespace);
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        if word.is_empty() {
            return Err(self.truncated(1));
        }
        self.rest = rest;
        let text = String::from_utf8_lossy(word);
        let value: Option<f64> = text.parse().ok();
        value
            .filter(|v| !scalar.is_integer() || v.fract() == 0.0)
            .ok_or_else(|| {
                let shown: String = text.chars().take(40).collect();
                let what = if scalar.is_integer() {
                    "a whole number"
                } else {
                    "a number"
                };
                Fault::malformed(self.place(), what, format!("`{shown}`"))
            })
    }

    /// Length of a list, no longer than the bytes that are left allow.
    fn length(&mut self, length: Scalar, entry: Scalar) -> Result<usize, Fault> {
        let value = self.scalar(length)?;
        let least = match self.encoding {
            Encoding::Ascii => 1,
            _ => entry.size(),
        };
        let most = self.rest.len() / least;
        if !(0.0..=most as f64).contains(&value) {
            return Err(Fault::malformed(
                self.place(),
                format!("a list of 0 to {most} entries, as many as bytes are left for"),
                value.to_string(),
            ));
        }
        Ok(value as usize)
    }

    fn place(&self) -> String {
        format!("element {}, row {}", self.element, self.row)
    }

    fn truncated(&self, expected: usize) -> Fault {
        Fault::malformed(
            self.place(),
            format!("{expected} more bytes"),
            format!("{}: the file is cut short", self.rest.len()),
        )
    }

    fn skip_property(&mut self, property: &Property) -> Result<(), Fault> {
        let count = match property.list_length {
            Some(length) => self.length(length, property.scalar)?,
            None => 1,
        };
        for _ in 0..count {
            self.scalar(property.scalar)?;
        }
        Ok(())
    }
}

/// Skips the rows of an element that dermis does not use.
fn skip(rows: &mut Rows, element: &Element) -> Result<(), Fault> {
    if element.properties.is_empty() {
        // Rows without properties take no bytes, so any number of them may be declared.
        return Ok(());
    }
    for row in 0..element.count {
        rows.row = row;
        for property in &element.properties {
            rows.skip_property(property)?;
        }
    }
    Ok(())
}

#[derive(Default)]
struct Vertices {
    positions: Vec<DVec3>,
    normals: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
    colors: Vec<[f32; 4]>,
}

fn read_vertices(rows: &mut Rows, element: &Element) -> Result<Vertices, Fault> {
    let column = |names: &[&str]| {
        let is_named = |p: &Property| p.list_length.is_none() && names.contains(&p.name.as_str());
        element.properties.iter().position(is_named)
    };
    let columns = |names: &[&[&str]]| names.iter().map(|n| column(n)).collect::<Option<Vec<_>>>();
    let xyz = columns(&[&["x"], &["y"], &["z"]]).ok_or_else(|| {
        let found: Vec<&str> = element.properties.iter().map(|p| p.name.as_str()).collect();
        Fault::malformed("element vertex", "properties x, y and z", found.join(", "))
    })?;
    let normal = columns(&[&["nx"], &["ny"], &["nz"]]);
    let uv = columns(&[
        &["s", "u", "texture_u", "texcoord_u"],
        &["t", "v", "texture_v", "texcoord_v"],
    ]);
    let color = columns(&[&["red", "r"], &["green", "g"], &["blue", "b"]]);
    let alpha = column(&["alpha", "a"]);

    let mut vertices = Vertices::default();
    vertices.positions.reserve_exact(element.count);
    let mut values = vec![0.0; element.properties.len()];
    for i in 0..element.count {
        rows.row = i;
        for (value, property) in values.iter_mut().zip(&element.properties) {
            match property.list_length {
                None => *value = rows.scalar(property.scalar)?,
                Some(_) => rows.skip_property(property)?,
            }
        }
        vertices
            .positions
            .push(DVec3::new(values[xyz[0]], values[xyz[1]], values[xyz[2]]));
        if let Some(n) = &normal {
            vertices
                .normals
                .push(unit([values[n[0]], values[n[1]], values[n[2]]]));
        }
        if let Some(uv) = &uv {
            // PLY counts v from the bottom of a picture, glTF from the top.
            vertices
                .uvs
                .push([values[uv[0]] as f32, (1.0 - values[uv[1]]) as f32]);
        }
        if let Some(rgb) = &color {
            let channel = |k: usize| light(values[k], element.properties[k].scalar);
            let opacity = alpha.map_or(1.0, |k| share(values[k], element.properties[k].scalar));
            let [r, g, b] = [rgb[0], rgb[1], rgb[2]].map(channel);
            vertices.colors.push([r, g, b, opacity].map(|c| c as f32));
        }
    }
    Ok(vertices)
}

/// A stored number as a share of 1.
fn share(value: f64, scalar: Scalar) -> f64 {
    match scalar {
        Scalar::U8 => value / 255.0,
        Scalar::U16 => value / 65535.0,
        _ => value,
    }
}

/// Linear light: bytes are stored as a screen shows them, real numbers as they are.
fn light(value: f64, scalar: Scalar) -> f64 {
    if scalar.is_integer() {
        linear_from_srgb(share(value, scalar))
    } else {
        value
    }
}

#[derive(Default)]
struct FaceLists {
    counts: Vec<u32>,
    corners: Vec<u32>,
    dropped: usize,
}

fn read_faces(rows: &mut Rows, element: &Element, faces: &mut FaceLists) -> Result<(), Fault> {
    let is_corners = |p: &Property| {
        p.list_length.is_some() && matches!(p.name.as_str(), "vertex_indices" | "vertex_index")
    };
    let Some(corners) = element.properties.iter().position(is_corners) else {
        return skip(rows, element);
    };
    for face in 0..element.count {
        rows.row = face;
        for (k, property) in element.properties.iter().enumerate() {
            let Some(length) = property.list_length.filter(|_| k == corners) else {
                rows.skip_property(property)?;
                continue;
            };
            let count = rows.length(length, property.scalar)?;
            let start = faces.corners.len();
            for _ in 0..count {
                let index = rows.scalar(property.scalar)?;
                // The upper end is checked with the mesh; here a number must only be an index.
                if !(0.0..f64::from(u32::MAX)).contains(&index) || index.fract() != 0.0 {
                    let expected = "vertex indices from 0";
                    return Err(Fault::malformed(rows.place(), expected, index.to_string()));
                }
                faces.corners.push(index as u32);
            }
            if count < 3 {
                faces.corners.truncate(start);
                faces.dropped += 1;
            } else {
                faces.counts.push(count as u32);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUAD: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\n\
        property list uchar int ring\nproperty double y\nproperty short z\nproperty uchar red\n\
        property uchar green\nproperty uchar blue\nproperty float s\nproperty float t\n\
        element edge 1\nproperty int a\nproperty int b\nelement face 2\nproperty uchar flags\n\
        property list uchar uint vertex_index\nproperty list int float texcoord\nend_header\n\
        0 2 7 8 0 0 255 0 0 0 0\n1 0 0 0 255 0 0 1 0\n1 0 1.5 0 255 0 0 1 1\n0 1 9 1 -2 255 0 0 0 1\n\
        0 1\n9 4 0 1 2 3 2 0.5 0.5\n9 2 0 1 0\n";

    #[test]
    fn unknown_columns_and_elements_are_passed_over() {
        let document = read(Path::new("quad.ply"), QUAD.as_bytes()).expect("valid PLY");
        assert_eq!(
            document.mesh.positions()[3],
            DVec3::new(0.0, 1.0, -2.0),
            "mixed types, a list between them"
        );
        let polygons = document.polygons.expect("a quad");
        assert_eq!(polygons.corners, [0, 1, 2, 3], "the line is no face");
        let part = &document.draw.parts[0];
        assert_eq!(part.colors[0][0], [1.0, 0.0, 0.0, 1.0], "full red");
        assert_eq!(part.uvs[0][2], [1.0, 0.0], "v counts from the top");
        assert_eq!(
            document.notes,
            [
                "Element edge is left out: 1 rows.",
                "1 face is left out: fewer than 3 corners."
            ],
            "notes say what was left out"
        );
    }

    #[test]
    fn both_byte_orders_are_read() {
        for (name, big) in [("binary_little_endian", false), ("binary_big_endian", true)] {
            let mut bytes = format!(
                "ply\nformat {name} 1.0\nelement vertex 3\nproperty double x\nproperty float y\n\
                 property int z\nelement face 1\nproperty list ushort short vertex_indices\nend_header\n"
            )
            .into_bytes();
            let mut put = |little: &[u8]| {
                let mut ordered = little.to_vec();
                if big {
                    ordered.reverse();
                }
                bytes.extend(ordered);
            };
            for i in 0..3i32 {
                put(&f64::from(i).to_le_bytes());
                put(&0.5f32.to_le_bytes());
                put(&(-i).to_le_bytes());
            }
            for index in [3i16, 2, 1, 0] {
                put(&index.to_le_bytes());
            }
            let document = read(Path::new("t.ply"), &bytes).expect("valid PLY");
            let last = document.mesh.positions()[2];
            assert_eq!(last, DVec3::new(2.0, 0.5, -2.0), "positions of {name}");
            assert_eq!(document.mesh.triangles(), [[2, 1, 0]], "faces of {name}");
        }
    }

    #[test]
    fn counts_that_the_file_cannot_hold_are_refused_at_once() {
        let head = "ply\nformat binary_little_endian 1.0\n";
        let vertex = "property float x\nproperty float y\nproperty float z\n";
        for text in [
            format!("{head}element vertex 1152921504606846976\n{vertex}end_header\nabc"),
            format!("{head}element vertex 18446744073709551615\n{vertex}end_header\nabc"),
            format!("{head}element x 99999999999\nproperty list int int a\nend_header\nabc"),
            format!(
                "{head}element face 1\nproperty list uint int vertex_indices\nend_header\n\u{7f}\u{7f}\u{7f}\u{7f}abc"
            ),
            format!(
                "{head}element face 1\nproperty list char int vertex_indices\nend_header\n\u{7f}"
            ),
        ] {
            read(Path::new("t.ply"), text.as_bytes()).expect_err("the bytes are not there");
        }
        let empty_rows = format!("{head}element x 18446744073709551615\nend_header\n");
        read(Path::new("t.ply"), empty_rows.as_bytes()).expect_err("no vertices");
    }

    #[test]
    fn a_bad_number_is_refused_with_its_row() {
        let text = QUAD.replace("1 0 1.5 0", "1 0 x.5 0");
        let error = read(Path::new("t.ply"), text.as_bytes()).expect_err("no number");
        assert_eq!(
            error.to_string(),
            "element vertex, row 2: expected a number, found `x.5`",
            "where and what"
        );
    }

    #[test]
    fn missing_coordinates_are_named() {
        let text = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float q\nend_header\n0 0\n";
        let error = read(Path::new("t.ply"), text.as_bytes()).expect_err("no y, no z");
        assert_eq!(
            error.to_string(),
            "element vertex: expected properties x, y and z, found x, q",
            "both lists"
        );
    }

    #[test]
    fn faces_past_the_last_vertex_are_refused() {
        for index in ["4", "-1", "1.5", "4294967295"] {
            let text = QUAD.replace("9 4 0 1 2 3", &format!("9 4 0 1 2 {index}"));
            read(Path::new("t.ply"), text.as_bytes()).expect_err("no such vertex");
        }
    }
}
