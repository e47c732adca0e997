//! [`Document`] to PLY.

use std::fmt::Write;

use glam::DVec3;

use crate::Document;
use crate::geometry::{faces, per_point, srgb_from_linear};

/// How PLY rows are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlyEncoding {
    /// Binary, little endian: small and exact.
    #[default]
    Binary,
    /// Binary, big endian, for programs that insist on it.
    BinaryBigEndian,
    /// Text that people can read; larger, and as exact.
    Ascii,
}

/// Writes one document at one or many positions; everything else is prepared once.
///
/// A PLY vertex is a point, so an attribute is written only when all drawn copies of every point
/// agree on it.
pub(crate) struct PlyWriter {
    encoding: PlyEncoding,
    normals: Option<Vec<[f32; 3]>>,
    uvs: Option<Vec<[f32; 2]>>,
    colors: Option<Vec<[f32; 4]>>,
    face_count: usize,
    /// Type of a list's length: a byte, unless a face has more corners than it can count.
    long_faces: bool,
    faces: Vec<u8>,
}

impl PlyWriter {
    /// `with_normals` is for the rest positions only: normals do not follow other frames.
    pub(crate) fn new(document: &Document, encoding: PlyEncoding, with_normals: bool) -> Self {
        let all_faces = || faces(&document.mesh, document.polygons.as_ref());
        let long_faces = all_faces().any(|face| face.len() > usize::from(u8::MAX));
        let mut rows = Vec::new();
        for face in all_faces() {
            match encoding {
                PlyEncoding::Ascii => {
                    let mut line = face.len().to_string();
                    for corner in face {
                        // Writing to a string cannot fail.
                        let _ = write!(line, " {corner}");
                    }
                    rows.extend_from_slice(line.as_bytes());
                    rows.push(b'\n');
                }
                PlyEncoding::Binary | PlyEncoding::BinaryBigEndian => {
                    let in_order = |number: u32| match encoding {
                        PlyEncoding::BinaryBigEndian => number.to_be_bytes(),
                        _ => number.to_le_bytes(),
                    };
                    if long_faces {
                        rows.extend(in_order(face.len() as u32));
                    } else {
                        rows.push(face.len() as u8);
                    }
                    rows.extend(face.iter().flat_map(|&corner| in_order(corner)));
                }
            }
        }
        let normals = per_point(document, |part| Some(&part.normals));
        Self {
            encoding,
            normals: normals.filter(|_| with_normals),
            uvs: per_point(document, |part| part.uvs.first()),
            colors: per_point(document, |part| part.colors.first()),
            face_count: all_faces().count(),
            long_faces,
            faces: rows,
        }
    }

    /// The file with the given positions, one per point of the document.
    pub(crate) fn to_bytes(&self, positions: &[DVec3]) -> Vec<u8> {
        // Double precision only where single precision would lose something.
        let exact_in_f32 = |x: &f64| f64::from(*x as f32) == *x;
        let single = positions
            .iter()
            .flat_map(DVec3::to_array)
            .all(|x| exact_in_f32(&x));
        let mut bytes = self.header(positions.len(), single).into_bytes();
        for (i, position) in positions.iter().enumerate() {
            let mut row = Row {
                encoding: self.encoding,
                bytes: &mut bytes,
                first: true,
            };
            for x in position.to_array() {
                if single {
                    row.f32(x as f32)
                } else {
                    row.f64(x)
                }
            }
            if let Some(normals) = &self.normals {
                normals[i].into_iter().for_each(|x| row.f32(x));
            }
            if let Some(uvs) = &self.uvs {
                let [u, v] = uvs[i];
                // PLY counts v from the bottom of a picture, glTF from the top.
                row.f32(u);
                row.f32((1.0 - f64::from(v)) as f32);
            }
            if let Some(colors) = &self.colors {
                let [r, g, b, a] = colors[i].map(f64::from);
                for share in [
                    srgb_from_linear(r),
                    srgb_from_linear(g),
                    srgb_from_linear(b),
                    a,
                ] {
                    row.u8((share * 255.0).round().clamp(0.0, 255.0) as u8);
                }
            }
            if self.encoding == PlyEncoding::Ascii {
                bytes.push(b'\n');
            }
        }
        bytes.extend_from_slice(&self.faces);
        bytes
    }

    fn header(&self, vertex_count: usize, single: bool) -> String {
        let format = match self.encoding {
            PlyEncoding::Binary => "binary_little_endian",
            PlyEncoding::BinaryBigEndian => "binary_big_endian",
            PlyEncoding::Ascii => "ascii",
        };
        let mut header = format!("ply\nformat {format} 1.0\nelement vertex {vertex_count}\n");
        let mut properties = |kind: &str, names: &[&str]| {
            for name in names {
                let _ = writeln!(header, "property {kind} {name}");
            }
        };
        properties(if single { "float" } else { "double" }, &["x", "y", "z"]);
        if self.normals.is_some() {
            properties("float", &["nx", "ny", "nz"]);
        }
        if self.uvs.is_some() {
            properties("float", &["s", "t"]);
        }
        if self.colors.is_some() {
            properties("uchar", &["red", "green", "blue", "alpha"]);
        }
        if self.face_count > 0 {
            let length = if self.long_faces { "uint" } else { "uchar" };
            let _ = writeln!(header, "element face {}", self.face_count);
            let _ = writeln!(header, "property list {length} uint vertex_indices");
        }
        header.push_str("end_header\n");
        header
    }
}

/// One row of numbers, in either encoding.
struct Row<'a> {
    encoding: PlyEncoding,
    bytes: &'a mut Vec<u8>,
    first: bool,
}

impl Row<'_> {
    /// One number, as little-endian bytes and as text.
    fn put(&mut self, little_endian: &[u8], text: impl std::fmt::Display) {
        match self.encoding {
            PlyEncoding::Binary => self.bytes.extend_from_slice(little_endian),
            PlyEncoding::BinaryBigEndian => self.bytes.extend(little_endian.iter().rev()),
            PlyEncoding::Ascii => {
                if !std::mem::take(&mut self.first) {
                    self.bytes.push(b' ');
                }
                self.bytes.extend_from_slice(text.to_string().as_bytes());
            }
        }
    }

    fn f32(&mut self, x: f32) {
        self.put(&x.to_le_bytes(), x);
    }

    fn f64(&mut self, x: f64) {
        self.put(&x.to_le_bytes(), x);
    }

    fn u8(&mut self, x: u8) {
        self.put(&[x], x);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::read;
    use super::*;

    const ENCODINGS: [PlyEncoding; 3] = [
        PlyEncoding::Binary,
        PlyEncoding::BinaryBigEndian,
        PlyEncoding::Ascii,
    ];

    const TEXT: &[u8] = b"ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\n\
        property float z\nproperty float nx\nproperty float ny\nproperty float nz\nproperty float s\n\
        property float t\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n\
        property uchar alpha\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n\
        0 0 0 0 0 1 0 0 1 2 3 4\n1 0 0 0 0 1 1 0 5 6 7 8\n1 1 0 0 0 1 1 1 100 110 120 130\n\
        0 1 0.5 0 0 1 0 1 252 253 254 255\n0 0 -3 0 1 0 0.5 0.25 0 0 0 0\n4 0 1 2 3\n3 0 1 4\n";

    #[test]
    fn every_encoding_gives_everything_back() {
        let document = read(Path::new("a.ply"), TEXT).expect("valid PLY");
        for encoding in ENCODINGS {
            let writer = PlyWriter::new(&document, encoding, true);
            let bytes = writer.to_bytes(document.mesh.positions());
            let back = read(Path::new("a.ply"), &bytes).expect("our own PLY is valid");
            assert_eq!(
                back.mesh, document.mesh,
                "points and triangles, {encoding:?}"
            );
            assert_eq!(back.polygons, document.polygons, "polygons, {encoding:?}");
            assert_eq!(back.draw, document.draw, "attributes, {encoding:?}");
        }
    }

    #[test]
    fn positions_beyond_single_precision_stay_exact() {
        let document = read(Path::new("a.ply"), TEXT).expect("valid PLY");
        let positions: Vec<DVec3> = (0..5).map(|i| DVec3::splat(f64::from(i) / 3.0)).collect();
        for encoding in ENCODINGS {
            let bytes = PlyWriter::new(&document, encoding, false).to_bytes(&positions);
            let back = read(Path::new("a.ply"), &bytes).expect("our own PLY is valid");
            assert_eq!(back.mesh.positions(), positions, "{encoding:?}");
            assert!(
                back.draw.parts[0].normals.is_empty(),
                "no normals of another frame"
            );
        }
    }

    #[test]
    fn a_face_of_300_corners_gets_a_longer_count() {
        let mut text =
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
            property float z\nelement face 1\nproperty list ushort int vertex_indices\nend_header\n\
            0 0 0\n300"
                .to_owned();
        text.push_str(&" 0".repeat(300));
        let document = read(Path::new("a.ply"), text.as_bytes()).expect("valid PLY");
        let writer = PlyWriter::new(&document, PlyEncoding::Binary, true);
        let bytes = writer.to_bytes(document.mesh.positions());
        let back = read(Path::new("a.ply"), &bytes).expect("our own PLY is valid");
        assert_eq!(back.polygons, document.polygons, "all 300 corners");
    }
}
