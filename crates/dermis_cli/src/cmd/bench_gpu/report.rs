//! The measurements as tables.

use anyhow::Context;

use super::measure::Timings;
use crate::report::{Block, Column, Format, Report, Row, Table};

pub(super) fn report_of(timings: &Timings) -> anyhow::Result<Report> {
    let clock = match timings.timestamps {
        true => "times of the card's own clock",
        false => "times from handing work in to its end",
    };
    let mut about = vec![format!(
        "{}: {} vertices, {} bones, {clock}",
        timings.adapter, timings.vertices, timings.bones
    )];
    if timings.software {
        about.push(
            "This is a program on the processor that acts as a graphics card: only ratios say anything about real ones."
                .to_owned(),
        );
    }
    let column = |key: &str, heading, format| Column::new(key, heading, format);
    let number = |key: &str, heading, digits| column(key, heading, Format::Number(digits));
    let programs = Table {
        heading: "Programs",
        names: "program",
        columns: vec![
            column("/normals", ["", "normals"], Format::Words),
            number("/influences", ["influences", "per vertex"], 2),
            number("/computeNsPerVertex", ["compute", "ns/vertex"], 2),
            number("/timesLinearBlend", ["times", "linear blend"], 2),
            number("/vertexStageNsPerVertex", ["vertex stage", "ns/vertex"], 2),
            number("/cpuNsPerVertex", ["processor", "ns/vertex"], 2),
        ],
        rows: rows(&timings.rows, "/rows", |row| row.program.to_owned()),
        ..Table::default()
    };
    let passes = Table {
        heading: "Passes",
        names: "passes",
        columns: vec![
            number("/computeNsPerVertex", ["compute first", "ns/vertex"], 1),
            number("/vertexStageNsPerVertex", ["vertex stage", "ns/vertex"], 1),
            number("/ratio", ["", "ratio"], 2),
        ],
        rows: rows(&timings.passes, "/passes", |row| row.passes.to_string()),
        ..Table::default()
    };
    let models = Table {
        heading: "Cost models",
        names: "program",
        columns: vec![
            number("/nsPerVertex", ["ns per", "vertex"], 2),
            number("/nsPerInfluence", ["ns per", "influence"], 2),
            number("/microsecondsPerObject", ["µs per", "object"], 1),
            number("/microsecondsPerBone", ["µs per", "bone"], 3),
            number("/microsecondsPerFrame", ["µs per", "frame"], 0),
            number("/rSquared", ["", "R²"], 3),
        ],
        rows: rows(&timings.cost_models, "/costModels", |m| {
            m.program.to_owned()
        }),
        ..Table::default()
    };
    let sentences = |list: &[&str]| Block::Sentences(list.iter().map(|&s| s.to_owned()).collect());
    let mut blocks = vec![
        Block::Sentences(about),
        Block::Table(programs),
        sentences(&[
            "compute: one pass poses all vertices; vertex stage: each pass that draws poses them; processor: one thread",
            "times linear blend: compute, over linear blend skinning without normals and with as many influences",
        ]),
        Block::Table(passes),
        sentences(&[
            "passes: whole frames that draw the skin of the first row with normals so often, in 128 x 128 pixels",
        ]),
    ];
    if let Some(frames) = timings.cost_models.first().map(|model| model.frames) {
        blocks.push(Block::Table(models));
        blocks.push(Block::Sentences(vec![format!(
            "cost models: time of a frame = vertices + influences + objects + their bones + 1, each times its number, by \
             least squares from {frames} frames of 1 to 16 made bodies; from the first write of a palette to the last vertex"
        )]));
    }
    let data = serde_json::to_value(timings).context("numbers are plain JSON")?;
    Ok(Report::plain(data, blocks))
}

/// A row for each item of a list in the data.
fn rows<T>(list: &[T], at: &str, name: impl Fn(&T) -> String) -> Vec<Row> {
    let numbered = list.iter().enumerate();
    numbered
        .map(|(number, item)| Row::new(name(item), format!("{at}/{number}")))
        .collect()
}
