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

use anyhow::{Context, bail};
use dermis::skin::Delta;
use glam::DVec3;

/// The first line of every shape.
const MAGIC: &str = "# dermis sculpt 1";

/// The text of a shape.
pub(crate) fn to_text(shape: &[Delta<DVec3>], vertex_count: usize) -> String {
    let mut text = format!("{MAGIC}\nvertices {vertex_count}\nmoved {}\n", shape.len());
    for delta in shape {
        // Writing to memory cannot fail.
        let [x, y, z] = delta.value.to_array();
        let _ = writeln!(text, "{} {x:?} {y:?} {z:?}", delta.index);
    }
    text
}

/// Reads a shape of a base with so many vertices.
pub(crate) fn read(path: &Path, vertex_count: usize) -> anyhow::Result<Vec<Delta<DVec3>>> {
    let bytes = dermis_io::read_file(path)
        .with_context(|| format!("{}: the shape cannot be read", path.display()))?;
    let text = std::str::from_utf8(&bytes)
        .with_context(|| format!("{}: expected the text of a shape", path.display()))?;
    parse(text, vertex_count).with_context(|| path.display().to_string())
}

fn parse(text: &str, vertex_count: usize) -> anyhow::Result<Vec<Delta<DVec3>>> {
    let mut lines = (1..).zip(text.lines().map(str::trim_end));
    let mut next = |expected: &str| {
        let (number, line) = lines
            .next()
            .with_context(|| format!("expected {expected}, found the end"))?;
        anyhow::Ok((number, line.to_owned()))
    };
    let (_, first) = next(&format!("'{MAGIC}'"))?;
    if first != MAGIC {
        bail!("line 1: expected '{MAGIC}', found '{}'", shortened(&first));
    }
    let (_, line) = next("'vertices' and how many the base has")?;
    let found = count(2, &line, "vertices")?;
    if found != vertex_count {
        bail!(
            "line 2: sculpted on {found} vertices, but the base has {vertex_count}: sculpt it \
             again, or name the base that it belongs to"
        );
    }
    let (_, line) = next("'moved' and how many lines follow")?;
    let moved = count(3, &line, "moved")?;
    // The count is a claim until the lines are there.
    let mut shape: Vec<Delta<DVec3>> = Vec::with_capacity(moved.min(text.len() / 8));
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let delta = parse_delta(line).with_context(|| {
            format!(
                "line {number}: expected 'vertex dx dy dz', found '{}'",
                shortened(line)
            )
        })?;
        if delta.index as usize >= vertex_count {
            bail!(
                "line {number}: vertex {} is past the last of {vertex_count}",
                delta.index
            );
        }
        if shape.last().is_some_and(|last| last.index >= delta.index) {
            bail!(
                "line {number}: vertex {} comes after vertex {}: expected rising numbers",
                delta.index,
                shape.last().map_or(0, |last| last.index)
            );
        }
        shape.push(delta);
    }
    if shape.len() != moved {
        bail!(
            "line 3: expected {moved} moved vertices, found {}",
            shape.len()
        );
    }
    Ok(shape)
}

fn count(number: usize, line: &str, word: &str) -> anyhow::Result<usize> {
    line.strip_prefix(word)
        .and_then(|rest| rest.trim().parse().ok())
        .with_context(|| {
            format!(
                "line {number}: expected '{word}' and a number, found '{}'",
                shortened(line)
            )
        })
}

fn parse_delta(line: &str) -> anyhow::Result<Delta<DVec3>> {
    let mut words = line.split_whitespace();
    let mut word = || words.next().context("too few numbers");
    let index = word()?.parse().context("no vertex number")?;
    let mut value = [0.0; 3];
    for x in &mut value {
        *x = word()?.parse().context("no number")?;
    }
    if words.next().is_some() {
        bail!("too many numbers");
    }
    let value = DVec3::from_array(value);
    if !value.is_finite() {
        bail!("not finite");
    }
    Ok(Delta { index, value })
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
        assert_eq!(read, shape(), "{text}");
        assert!(text.ends_with('\n'), "a last line as others");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let good = to_text(&shape(), 9);
        for (from, to, expected) in [
            (
                MAGIC,
                "# dermis sculpt 9",
                "line 1: expected '# dermis sculpt 1'",
            ),
            (
                "vertices 9",
                "vertices 8",
                "sculpted on 8 vertices, but the base has 9",
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
            ("\n7 ", "\n9 ", "line 5: vertex 9 is past the last of 9"),
            ("\n7 ", "\n0 ", "line 5: vertex 0 comes after vertex 0"),
            (
                " 3.0\n",
                "\n",
                "line 4: expected 'vertex dx dy dz', found '0 0.3",
            ),
            (" 3.0\n", " 3.0 4\n", "too many numbers"),
            (" 3.0\n", " NaN\n", "not finite"),
        ] {
            let text = good.replacen(from, to, 1);
            assert_ne!(text, good, "{from:?} is in the text");
            let error = format!("{:#}", parse(&text, 9).expect_err(to));
            assert!(error.contains(expected), "{expected:?} in {error}");
        }
        for cut in ["", MAGIC, "# dermis sculpt 1\nvertices 9"] {
            let error = parse(cut, 9).expect_err("cut short").to_string();
            assert!(error.contains("expected"), "{error}");
        }
    }
}
