//! Polygons that a border between charts cuts, for formats that write them whole.

use std::collections::HashMap;

use dermis::mesh::{DrawMesh, Polygons};
use dermis_io::Document;

use crate::talk::plural;

/// Replaces polygons whose triangles do not share their vertices any more by these triangles; a sentence when there are some.
///
/// A face of an OBJ file has one UV per corner, so a polygon on both sides of a seam cannot be one.
pub(super) fn split_cut_polygons(document: &mut Document) -> Option<String> {
    let polygons = document.polygons.as_ref()?;
    let drawn = Drawn::new(&document.draw);
    let mut split = Polygons::default();
    let mut cut = 0;
    for face in polygons.iter() {
        if drawn.is_whole(face) {
            split.counts.push(face.len() as u32);
            split.corners.extend(face);
            continue;
        }
        cut += 1;
        for edge in face[1..].windows(2) {
            split.counts.push(3);
            split.corners.extend([face[0], edge[0], edge[1]]);
        }
    }
    document.polygons = Some(split);
    (cut > 0).then(|| {
        format!(
            "{} with more than three corners {} cut by borders between charts and written as triangles",
            plural(cut, "face"),
            if cut == 1 { "is" } else { "are" }
        )
    })
}

/// The drawn vertices, with their parts, of triangles by their points.
struct Drawn(HashMap<[u32; 3], (usize, [u32; 3])>);

impl Drawn {
    fn new(draw: &DrawMesh) -> Self {
        let mut of_points = HashMap::new();
        for (number, part) in draw.parts.iter().enumerate() {
            for &triangle in &part.triangles {
                let points = triangle.map(|v| part.points[v as usize]);
                of_points.insert(points, (number, triangle));
            }
        }
        Self(of_points)
    }

    /// Whether the triangles of a face, a fan, meet in the same drawn vertices.
    fn is_whole(&self, face: &[u32]) -> bool {
        let fan = face.get(1..).unwrap_or_default().windows(2);
        let found = fan.map(|edge| self.0.get(&[face[0], edge[0], edge[1]]));
        let found: Option<Vec<_>> = found.collect();
        found.is_some_and(|fan| {
            fan.windows(2).all(|pair| {
                let [(part, [a, _, c]), (other, [d, e, _])] = [pair[0], pair[1]];
                (part, a, c) == (other, d, e)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use dermis::mesh::DrawPart;

    use super::*;

    ///  3---2---5
    ///  | / | / |   the first square is cut along its diagonal
    ///  0---1---4
    #[test]
    fn a_square_that_is_cut_becomes_triangles_and_another_stays() {
        let part = DrawPart {
            points: vec![0, 1, 2, 3, 4, 5, 0, 2],
            triangles: vec![[0, 1, 2], [6, 7, 3], [1, 4, 5], [1, 5, 2]],
            ..DrawPart::default()
        };
        let mut document = Document {
            draw: DrawMesh { parts: vec![part] },
            polygons: Some(Polygons {
                counts: vec![4, 4],
                corners: vec![0, 1, 2, 3, 1, 4, 5, 2],
            }),
            ..Document::default()
        };
        let note = split_cut_polygons(&mut document).expect("one is cut");
        assert!(note.starts_with("1 face with"), "{note}");
        let faces = document.polygons.clone().expect("they stay");
        assert_eq!(faces.counts, [3, 3, 4], "two triangles and a square");
        assert_eq!(
            faces.corners,
            [0, 1, 2, 0, 2, 3, 1, 4, 5, 2],
            "with the corners that they had"
        );
        assert_eq!(split_cut_polygons(&mut document), None, "once");
    }
}
