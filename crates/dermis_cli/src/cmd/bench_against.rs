//! `dermis bench SKIN --against OTHER`: whole frames of two skins of one mesh, in turn.
//!
//! What a method costs at run time is the ratio to what another method made of the same examples: both have
//! the influences and bones that their fits gave them.

use std::path::Path;

use anyhow::bail;
use dermis::measure::Cost;
use dermis::mesh::vertex_normals;
use serde::Serialize;

use super::bench::Subject;
use super::bench_frame::{Character, best_frames};
use crate::talk::{Talk, plural};

/// What was measured; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Against {
    file: String,
    bones: usize,
    mean_influences: f64,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    threads: usize,
    microseconds: f64,
    other_microseconds: f64,
    times_other: f64,
}

/// One sentence for a file that is no skin of the same mesh.
pub(super) fn check(skin: &Subject, other: &Subject, path: &Path) -> anyhow::Result<()> {
    let [count, found] = [skin, other].map(|subject| subject.skin.vertex_count());
    if found != count {
        bail!(
            "{}: --against takes a skin of the same mesh, but this one has {found} vertices and the other {count}",
            path.display()
        );
    }
    Ok(())
}

/// Times whole frames of both.
pub(super) fn time(
    skin: &Subject,
    other: &Subject,
    path: &Path,
    talk: &Talk,
) -> anyhow::Result<Against> {
    let character = |subject: &Subject| {
        let normals = vertex_normals(subject.mesh.positions(), subject.mesh.triangles());
        Character::new(&subject.skin, &subject.pose, &normals)
    };
    let mut characters = [character(skin)?, character(other)?];
    let mut thread_counts = vec![1, rayon::current_num_threads()];
    thread_counts.dedup();
    let mut rows = Vec::new();
    for threads in thread_counts {
        let [microseconds, other_microseconds] = best_frames(&mut characters, threads, talk)?;
        rows.push(Row {
            threads,
            microseconds,
            other_microseconds,
            times_other: microseconds / other_microseconds,
        });
    }
    Ok(Against {
        file: path.display().to_string(),
        bones: other.skin.skeleton.bone_count(),
        mean_influences: Cost::of(&other.skin).mean_influences,
        rows,
    })
}

impl Against {
    /// As sentences below the table.
    pub(super) fn lines(&self) -> Vec<String> {
        let row = |row: &Row| {
            format!(
                "whole frame, {}: {:.1} µs, {:.2} times {} ({:.1} µs)",
                plural(row.threads, "thread"),
                row.microseconds,
                row.times_other,
                self.file,
                row.other_microseconds
            )
        };
        let mut lines: Vec<String> = self.rows.iter().map(row).collect();
        lines.push(format!(
            "{}: {}, {:.2} influences per vertex; frames of both were timed in turn",
            self.file,
            plural(self.bones, "bone"),
            self.mean_influences
        ));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_and_the_other_skin_are_said() {
        let report = Against {
            file: "ssd.glb".to_owned(),
            bones: 5,
            mean_influences: 2.25,
            rows: vec![Row {
                threads: 1,
                microseconds: 15.0,
                other_microseconds: 8.0,
                times_other: 1.875,
            }],
        };
        assert_eq!(
            report.lines(),
            [
                "whole frame, 1 thread: 15.0 µs, 1.88 times ssd.glb (8.0 µs)",
                "ssd.glb: 5 bones, 2.25 influences per vertex; frames of both were timed in turn",
            ],
            "what was measured and against what"
        );
    }
}
