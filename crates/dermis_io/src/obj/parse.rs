//! OBJ text to lists, line by line, without an allocation per line.

use glam::DVec3;

use super::text::{Lines, at_least, bad_line, integer, numbers, text_after_keyword, words};
use crate::Fault;
use crate::geometry::counted;

/// A corner without a UV or normal.
pub(super) const NONE: u32 = u32::MAX;

/// One corner of a face: point, UV and normal, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Corner {
    pub(super) point: u32,
    pub(super) uv: u32,
    pub(super) normal: u32,
}

/// Faces in a row of one object or group and one material.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) first_face: usize,
    pub(super) name: Option<String>,
    pub(super) material: Option<String>,
}

/// The content of all lines, in file order.
#[derive(Debug, Default)]
pub(super) struct ObjData {
    pub(super) positions: Vec<DVec3>,
    /// Red, green and blue as written; empty, or one per position.
    pub(super) colors: Vec<[f64; 3]>,
    pub(super) uvs: Vec<[f64; 2]>,
    pub(super) normals: Vec<[f64; 3]>,
    /// Corners of each face.
    pub(super) counts: Vec<u32>,
    pub(super) corners: Vec<Corner>,
    pub(super) sections: Vec<Section>,
    /// File names of the `mtllib` lines.
    pub(super) libraries: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Parses a whole file.
pub(super) fn parse(bytes: &[u8]) -> Result<ObjData, Fault> {
    let mut parser = Parser::default();
    let mut lines = Lines::new(bytes);
    while let Some((number, line)) = lines.next_line() {
        parser.line(number, line)?;
    }
    parser.finish()
}

#[derive(Default)]
struct Parser {
    data: ObjData,
    object: Option<String>,
    group: Option<String>,
    material: Option<String>,
    /// A name or material changed since the last face.
    section_changed: bool,
    /// The highest index that a face used for points, UVs and normals, and where: indices may
    /// point forward, so the range is known only at the end.
    highest: [(u32, usize); 3],
    dropped_faces: usize,
    lines_and_points: usize,
    free_form: usize,
}

impl Parser {
    fn line(&mut self, number: usize, line: &[u8]) -> Result<(), Fault> {
        let mut words = words(line);
        let Some(keyword) = words.next() else {
            return Ok(());
        };
        match keyword {
            b"v" => self.position(number, line, words),
            b"vt" => {
                let (n, [u, v]) = numbers(number, line, words)?;
                at_least(1, n, number, line)?;
                self.data.uvs.push([u, v]);
                Ok(())
            }
            b"vn" => {
                let (n, normal) = numbers(number, line, words)?;
                at_least(3, n, number, line)?;
                self.data.normals.push(normal);
                Ok(())
            }
            b"f" | b"fo" => self.face(number, line, words),
            b"o" => {
                self.object = text_after_keyword(line);
                self.section_changed = true;
                Ok(())
            }
            b"g" => {
                self.group = text_after_keyword(line);
                self.section_changed = true;
                Ok(())
            }
            b"usemtl" => {
                // `(null)` is how several exporters, ours included, say "no material".
                self.material = text_after_keyword(line).filter(|name| name != "(null)");
                self.section_changed = true;
                Ok(())
            }
            b"mtllib" => {
                self.data.libraries.extend(text_after_keyword(line));
                Ok(())
            }
            b"l" | b"p" => {
                self.lines_and_points += 1;
                Ok(())
            }
            b"vp" | b"curv" | b"curv2" | b"surf" => {
                self.free_form += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn position<'a>(
        &mut self,
        number: usize,
        line: &[u8],
        words: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), Fault> {
        // x y z, x y z w (w only matters to curves), x y z r g b, or x y z r g b a.
        let (n, [x, y, z, r, g, b, _]) = numbers(number, line, words)?;
        at_least(3, n, number, line)?;
        const WHITE: [f64; 3] = [1.0; 3];
        if n >= 6 {
            self.data.colors.resize(self.data.positions.len(), WHITE);
            self.data.colors.push([r, g, b]);
        } else if !self.data.colors.is_empty() {
            self.data.colors.push(WHITE);
        }
        self.data.positions.push(DVec3::new(x, y, z));
        Ok(())
    }

    fn face<'a>(
        &mut self,
        number: usize,
        line: &[u8],
        words: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), Fault> {
        let start = self.data.corners.len();
        for word in words {
            let corner = self.corner(number, line, word)?;
            self.data.corners.push(corner);
        }
        let count = self.data.corners.len() - start;
        if count < 3 {
            self.data.corners.truncate(start);
            self.dropped_faces += 1;
            return Ok(());
        }
        if self.section_changed || self.data.sections.is_empty() {
            self.section_changed = false;
            self.data.sections.push(Section {
                first_face: self.data.counts.len(),
                name: self.object.clone().or_else(|| self.group.clone()),
                material: self.material.clone(),
            });
        }
        self.data.counts.push(count as u32);
        Ok(())
    }

    fn corner(&mut self, number: usize, line: &[u8], word: &[u8]) -> Result<Corner, Fault> {
        let counts = [
            self.data.positions.len(),
            self.data.uvs.len(),
            self.data.normals.len(),
        ];
        let mut indices = [NONE; 3];
        let mut fields = word.split(|&b| b == b'/');
        for (slot, field) in fields.by_ref().take(3).enumerate() {
            if field.is_empty() && slot > 0 {
                continue;
            }
            let index = integer(field)
                .ok_or_else(|| bad_line(number, "corners as v, v/vt, v//vn or v/vt/vn", line))?;
            let zero_based = match index {
                1.. => Some(index - 1),
                0 => None,
                // Negative indices count back from the latest line of their kind.
                _ => Some(counts[slot] as i64 + index).filter(|&i| i >= 0),
            };
            let zero_based = zero_based
                .and_then(|i| u32::try_from(i).ok())
                .filter(|&i| i != NONE)
                .ok_or_else(|| out_of_range(slot, number, counts[slot], index))?;
            if zero_based >= self.highest[slot].0 {
                self.highest[slot] = (zero_based, number);
            }
            indices[slot] = zero_based;
        }
        if fields.next().is_some() {
            return Err(bad_line(
                number,
                "corners as v, v/vt, v//vn or v/vt/vn",
                line,
            ));
        }
        let [point, uv, normal] = indices;
        Ok(Corner { point, uv, normal })
    }

    fn finish(mut self) -> Result<ObjData, Fault> {
        let counts = [
            self.data.positions.len(),
            self.data.uvs.len(),
            self.data.normals.len(),
        ];
        for (slot, &(index, line)) in self.highest.iter().enumerate() {
            // Line 0 means that no face used an index of this kind.
            if line > 0 && index as usize >= counts[slot] {
                let index = i64::from(index) + 1;
                return Err(out_of_range(slot, line, counts[slot], index));
            }
        }
        let notes = &mut self.data.notes;
        if self.dropped_faces > 0 {
            let what = counted(self.dropped_faces, "face", "faces");
            notes.push(format!("{what} left out: fewer than 3 corners."));
        }
        if self.lines_and_points > 0 {
            let what = counted(
                self.lines_and_points,
                "line or point element",
                "line or point elements",
            );
            notes.push(format!("{what} left out: only faces are read."));
        }
        if self.free_form > 0 {
            let what = counted(
                self.free_form,
                "free-form statement",
                "free-form statements",
            );
            notes.push(format!("{what} left out: only polygons are read."));
        }
        Ok(self.data)
    }
}

fn out_of_range(slot: usize, line: usize, count: usize, found: i64) -> Fault {
    let what = ["vertex", "texture coordinate", "normal"][slot];
    Fault::malformed(
        format!("line {line}"),
        match count {
            0 => format!("no {what} index, as the file has none"),
            _ => format!("a {what} index from 1 to {count} (or -{count} to -1)"),
        },
        found.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(data: &ObjData) -> Vec<u32> {
        data.corners.iter().map(|c| c.point).collect()
    }

    fn refusal(text: &str) -> String {
        parse(text.as_bytes())
            .expect_err("must be refused")
            .to_string()
    }

    #[test]
    fn points_that_no_face_names_stay_in_file_order() {
        let data = parse(b"v 9 9 9\nv 0 0 0\nv 8 8 8\nv 1 0 0\nv 0 1 0\nf 5 2 4").expect("valid");
        assert_eq!(
            data.positions[0].x, 9.0,
            "the first line is the first point"
        );
        assert_eq!(data.positions.len(), 5, "two points have no face");
        assert_eq!(points(&data), [4, 1, 3], "corners keep their order");
    }

    #[test]
    fn line_ends_of_all_kinds_and_continued_lines_are_one_text() {
        let expected = parse(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").expect("valid");
        for text in [
            "v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3",
            "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r",
            "v 0 0 0\nv 1 0 \\\n 0\nv 0 1\t0 # here\n\n# f 9 9 9\nf 1\\\r\n2 \\\n3",
        ] {
            let data = parse(text.as_bytes()).expect("valid");
            assert_eq!(data.positions, expected.positions, "points of {text:?}");
            assert_eq!(data.corners, expected.corners, "corners of {text:?}");
        }
    }

    #[test]
    fn negative_indices_count_back_and_positive_ones_may_point_forward() {
        let data = parse(b"f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -1 -2\nv 0 0 1\nf -1 1 2")
            .expect("valid");
        assert_eq!(points(&data), [0, 1, 2, 0, 2, 1, 3, 0, 1], "three faces");
    }

    #[test]
    fn corners_may_lack_uv_or_normal() {
        let data = parse(b"v 0 0 0\nvt 0 1\nvn 0 0 1\nf 1 1/1 1//1 1/1/1 1/").expect("valid");
        let expected = [
            [0, NONE, NONE],
            [0, 0, NONE],
            [0, NONE, 0],
            [0, 0, 0],
            [0, NONE, NONE],
        ]
        .map(|[point, uv, normal]| Corner { point, uv, normal });
        assert_eq!(data.corners, expected, "v, v/vt, v//vn, v/vt/vn and v/");
    }

    #[test]
    fn a_fourth_number_is_no_colour_and_six_are() {
        let data = parse(b"v 0 0 0 1\nv 1 0 0 0.5 0.25 1\nv 0 1 0").expect("valid");
        let white = [1.0; 3];
        assert_eq!(
            data.colors,
            [white, [0.5, 0.25, 1.0], white],
            "others are white"
        );
    }

    #[test]
    fn bad_indices_are_refused_with_line_range_and_value() {
        let three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
        assert_eq!(
            refusal(&format!("{three}f 1 2 4")),
            "line 4: expected a vertex index from 1 to 3 (or -3 to -1), found 4",
            "past the end"
        );
        for (face, what) in [
            ("f 1 0 2", "found 0"),
            ("f 1 -4 2", "found -4"),
            ("f 1/1 2/1 3/1", "no texture coordinate index"),
            ("f 1 2 99999999999999999999", "corners as v"),
            ("f 1 2 4294967296", "found 4294967296"),
            ("f 1/2/3/4 2 3", "corners as v"),
            ("f a b c", "corners as v"),
        ] {
            let message = refusal(&format!("{three}{face}"));
            assert!(
                message.contains(what) && message.contains("line 4"),
                "{message}"
            );
        }
    }

    #[test]
    fn words_in_place_of_numbers_are_refused_with_their_line() {
        for line in [
            "v 1 2",
            "v 1 nan 3",
            "v 1 1e999 3",
            "v 1,5 2 3",
            "vn 0 1",
            "vt",
        ] {
            let message = refusal(&format!("v 0 0 0\n{line}\n"));
            assert!(
                message.starts_with("line 2: ") && message.contains(line),
                "{message}"
            );
        }
    }

    #[test]
    fn short_faces_lines_and_curves_are_left_out_with_a_note() {
        let data = parse(b"v 0 0 0\nv 1 0 0\nf 1 2\nl 1 2\np 1\ncurv 0 1 1 2").expect("valid");
        assert!(
            data.counts.is_empty() && data.corners.is_empty(),
            "no face remains"
        );
        assert_eq!(
            data.notes,
            [
                "1 face is left out: fewer than 3 corners.",
                "2 line or point elements are left out: only faces are read.",
                "1 free-form statement is left out: only polygons are read.",
            ],
            "each kind is counted"
        );
    }

    #[test]
    fn objects_name_sections_before_groups_do() {
        let data = parse(
            b"v 0 0 0\ng left arm\nf 1 1 1\nusemtl skin\nf 1 1 1\nf 1 1 1\no body\ng x\nf 1 1 1",
        )
        .expect("valid");
        let section = |first_face, name: &str, material: Option<&str>| Section {
            first_face,
            name: Some(name.to_owned()),
            material: material.map(str::to_owned),
        };
        assert_eq!(
            data.sections,
            [
                section(0, "left arm", None),
                section(1, "left arm", Some("skin")),
                section(3, "body", Some("skin")),
            ],
            "a section starts where name or material changes"
        );
    }
}
