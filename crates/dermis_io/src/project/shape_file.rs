//! Sculpted shapes as text that a version control system can compare line by line.
//!
//! ```text
//! # dermis sculpt 1
//! vertices 4610
//! moved 2
//! 17 0.001 -0.25 3e-5
//! 18 0.002 -0.25 0
//! ```
//!
//! One line per vertex that the sculpt moves, by rising number (from 0, in the order of the base):
//! how far from the base it should be, in rest space. Numbers are as short as they can be without
//! losing a bit.

use std::fmt::Write;
use std::path::Path;

use dermis::skin::Delta;
use glam::DVec3;

use super::error::ProjectFault;
use crate::Fault;

/// The first line of every shape.
const MAGIC: &str = "# dermis sculpt 1";

/// The text of a shape.
pub(super) fn to_text(shape: &[Delta<DVec3>], vertex_count: usize) -> String {
    let mut text = format!("{MAGIC}\nvertices {vertex_count}\nmoved {}\n", shape.len());
    for delta in shape {
        // Writing to memory cannot fail.
        let [x, y, z] = delta.value.to_array();
        let _ = writeln!(text, "{} {x:?} {y:?} {z:?}", delta.index);
    }
    text
}

/// Reads a shape of a base with so many vertices.
pub(super) fn read(path: &Path, vertex_count: usize) -> Result<Vec<Delta<DVec3>>, ProjectFault> {
    let text = crate::text_file::read(path)?;
    let in_file = |fault: Fault| fault.in_file(path);
    let parsed = parse(&text, vertex_count).map_err(in_file)?;
    parsed.map_err(|found| ProjectFault::ShapeOfOtherMesh {
        shape: path.to_owned(),
        found,
        expected: vertex_count,
    })
}

/// The vertices that a shape moves; or how many its mesh has, where those are others than expected.
fn parse(text: &str, expected: usize) -> Result<Result<Vec<Delta<DVec3>>, usize>, Fault> {
    let mut lines = (1..).zip(text.lines().map(str::trim_end));
    let mut next = |number: usize, expected: &str| {
        let line = lines.next().map(|(_, line)| line);
        line.ok_or_else(|| Fault::malformed(format!("line {number}"), expected, "the end"))
    };
    let first = next(1, &format!("'{MAGIC}'"))?;
    if first != MAGIC {
        return Err(wrong(1, format!("'{MAGIC}'"), first));
    }
    let vertex_count = count(
        2,
        next(2, "'vertices' and how many the base has")?,
        "vertices",
    )?;
    // First of all: what follows would be wrong in another way.
    if vertex_count != expected {
        return Ok(Err(vertex_count));
    }
    let moved = count(3, next(3, "'moved' and how many lines follow")?, "moved")?;
    // The count is a claim until the lines are there.
    let mut shape: Vec<Delta<DVec3>> = Vec::with_capacity(moved.min(text.len() / 8));
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let expected = "'vertex dx dy dz' with finite numbers";
        let delta = parse_delta(line).ok_or_else(|| wrong(number, expected, line))?;
        let at = || format!("line {number}");
        let vertex = || format!("vertex {}", delta.index);
        if delta.index as usize >= vertex_count {
            let expected = format!("a vertex of {vertex_count}, from 0");
            return Err(Fault::malformed(at(), expected, vertex()));
        }
        if let Some(last) = shape.last().filter(|last| last.index >= delta.index) {
            let expected = format!("rising numbers after vertex {}", last.index);
            return Err(Fault::malformed(at(), expected, vertex()));
        }
        shape.push(delta);
    }
    if shape.len() != moved {
        let expected = format!("{moved} moved vertices");
        return Err(Fault::malformed(
            "line 3",
            expected,
            shape.len().to_string(),
        ));
    }
    Ok(Ok(shape))
}

fn wrong(number: usize, expected: impl Into<String>, line: &str) -> Fault {
    let found = format!("'{}'", shortened(line));
    Fault::malformed(format!("line {number}"), expected, found)
}

fn count(number: usize, line: &str, word: &str) -> Result<usize, Fault> {
    line.strip_prefix(word)
        .and_then(|rest| rest.trim().parse().ok())
        .ok_or_else(|| wrong(number, format!("'{word}' and a number"), line))
}

fn parse_delta(line: &str) -> Option<Delta<DVec3>> {
    let mut words = line.split_whitespace();
    let index = words.next()?.parse().ok()?;
    let mut value = [0.0; 3];
    for x in &mut value {
        *x = words.next()?.parse().ok()?;
    }
    let value = DVec3::from_array(value);
    let is_all = words.next().is_none() && value.is_finite();
    is_all.then_some(Delta { index, value })
}

/// A line, no longer than a sentence can bear.
fn shortened(line: &str) -> String {
    match line.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Vec<Delta<DVec3>> {
        let delta = |index, x, y, z| Delta {
            index,
            value: DVec3::new(x, y, z),
        };
        vec![
            delta(0, 0.1 + 0.2, -1e-17, 3.0),
            delta(7, f64::MIN_POSITIVE, 1.0 / 3.0, -0.0),
        ]
    }

    #[test]
    fn every_bit_comes_back() {
        let text = to_text(&shape(), 9);
        let read = parse(&text, 9).expect("as written");
        assert_eq!(read, Ok(shape()), "{text}");
        assert!(text.ends_with('\n'), "a last line as others");
    }

    #[test]
    fn a_shape_of_another_mesh_is_refused() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("smile.txt");
        std::fs::write(&path, to_text(&shape(), 9)).expect("it can be written");
        assert_eq!(read(&path, 9).expect("its own mesh"), shape(), "as written");
        let error = read(&path, 12).expect_err("another mesh").to_string();
        let expected = "smile.txt: line 2: sculpted on 9 vertices, but the base has 12";
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let good = to_text(&shape(), 9);
        for (from, to, expected) in [
            (
                MAGIC,
                "# dermis sculpt 9",
                "line 1: expected '# dermis sculpt 1', found '# dermis sculpt 9'",
            ),
            (
                "vertices 9",
                "vertices nine",
                "line 2: expected 'vertices' and a number",
            ),
            (
                "moved 2",
                "moved 3",
                "line 3: expected 3 moved vertices, found 2",
            ),
            (
                "moved 2",
                "moved 99999999999",
                "line 3: expected 99999999999",
            ),
            (
                "\n7 ",
                "\n9 ",
                "line 5: expected a vertex of 9, from 0, found vertex 9",
            ),
            (
                "\n7 ",
                "\n0 ",
                "line 5: expected rising numbers after vertex 0, found vertex 0",
            ),
            (
                " 3.0\n",
                "\n",
                "line 4: expected 'vertex dx dy dz' with finite numbers, found '0 0.3",
            ),
            (" 3.0\n", " 3.0 4\n", "line 4: expected 'vertex dx dy dz'"),
            (" 3.0\n", " NaN\n", "with finite numbers"),
        ] {
            let text = good.replacen(from, to, 1);
            assert_ne!(text, good, "{from:?} is in the text");
            let error = parse(&text, 9).expect_err(to).to_string();
            assert!(error.contains(expected), "{expected:?} in {error}");
        }
        for cut in ["", MAGIC, "# dermis sculpt 1\nvertices 9"] {
            let error = parse(cut, 9).expect_err("cut short").to_string();
            assert!(error.contains("found the end"), "{error}");
        }
    }
}
