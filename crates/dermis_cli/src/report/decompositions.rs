//! The report of a comparison of decompositions.

use dermis::MeshAnimation;
use dermis::compare::{
    Decomposed, DecomposedNumbers, DecompositionComparison, DecompositionRow, ModelNumbers,
};
use dermis_render::{Axis, Chart, Draw, Point, Series};
use serde_json::{Map, Value, json};

use super::charts::{CHART_WIDTH, error_axis};
use super::gallery::{Gallery, PoseShown};
use super::model::{Block, Column, Figure, Format, Level, Part, Report, Row, Table, subject};
use super::pictures::Shot;
use crate::args::Up;
use crate::talk::Talk;

/// All that there is to tell but for pictures and charts.
pub(crate) fn decompositions_report(
    animation: &MeshAnimation,
    found: &DecompositionComparison,
) -> Report {
    let counts = format!(
        "{} vertices, {} frames, {} bones",
        animation.vertex_count(),
        animation.frame_count(),
        found.bone_count
    );
    Report {
        heading: format!(
            "{} ways to decompose {} frames",
            found.rows.len(),
            animation.frame_count()
        ),
        subject: subject(animation.rest(), found.bone_count),
        command: super::command_line(),
        data: data(animation, found),
        resolved: Map::new(),
        blocks: vec![
            Block::Table(numbers(found)),
            Block::Sentences(vec![counts]),
            Block::Remarks(found.advice()),
        ],
        glossary: vec![
            (
                "E_RMS",
                "root mean square error of a coordinate, times 1000, with the first frame scaled to fit a ball of radius \
                 1. Below about 0.0001 it is rounding.",
            ),
            (
                "+ rank",
                "with so many corrections (EigenSkin), displacements of the rest shape that every frame mixes anew, as \
                 morph targets. They cost bytes in every vertex.",
            ),
            (
                "Bytes per vertex and per frame",
                "in 32-bit numbers. All ways have the same data per frame but for the corrections; a skin's vertex stays \
                 small however many bones there are, that of a truncated SVD grows with them.",
            ),
            (
                "Plays in stock engines",
                "whether a player that knows only plain glTF shows the result. Sums of shapes need a player of their own.",
            ),
        ],
    }
}

/// What the page shows beside that: errors as bars, as colours and over frames.
pub(crate) fn decompositions_figures(
    animation: &MeshAnimation,
    found: &DecompositionComparison,
    up: Up,
    talk: &Talk,
) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if let Some(worst) = worst_frame(found) {
        figures.push(Figure {
            heading: "Where the error is",
            parts: pictures(animation, found, worst, up, talk)?,
            note: "The lowest error first, without corrections; the ring is at the worst vertex, dashed where the surface \
                   hides it."
                .to_owned(),
        });
    }
    figures.push(Figure::chart("Error of each way", error_bars(found), ""));
    figures.push(Figure::chart("Error of each frame", frame_chart(found), ""));
    Ok(figures)
}

/// A row for every way, with columns for corrections where there are some.
fn numbers(found: &DecompositionComparison) -> Table {
    // How many corrections skins got; shapes get none.
    let corrections = found.decomposed().find_map(|(_, way)| {
        let bytes = way.with_eigen_skin.as_ref()?.bytes_per_frame - way.numbers.bytes_per_frame;
        Some(bytes / size_of::<f32>())
    });
    let rank = corrections.map_or(String::new(), |rank| format!("+ rank {rank}"));
    let column = |key: &str, heading, format| Column::new(key, heading, format);
    let (bytes, seconds) = (Format::Number(1), Format::Number(2));
    let mut columns = vec![
        column("/numbers/eRms", ["", "E_RMS"], Format::Error),
        column("/withEigenSkin/eRms", [&rank, "E_RMS"], Format::Error),
        column(
            "/numbers/bytesPerVertex",
            ["bytes/", "vertex"],
            bytes.clone(),
        ),
        column("/withEigenSkin/bytesPerVertex", [&rank, "vertex"], bytes).at(Level::Wide),
        column("/numbers/bytesPerFrame", ["bytes/", "frame"], Format::Count).at(Level::Wide),
        column("/numbers/seconds", ["", "seconds"], seconds.clone()),
        column("/withEigenSkin/seconds", [&rank, "seconds"], seconds).at(Level::Wide),
        column("/playback", ["plays in", "stock engines"], Format::Words),
    ];
    columns.retain(|column| corrections.is_some() || !column.key.starts_with("/withEigenSkin"));
    let row = |(number, row): (usize, &DecompositionRow)| {
        let playback = row.outcome.as_ref().ok().and_then(|found| found.playback);
        let playback = playback.map_or("no", |playback| playback.text());
        Row {
            title: row.title.to_owned(),
            problem: row.outcome.as_ref().err().map(ToString::to_string),
            ..Row::new(row.key, format!("/methods/{number}")).saying("/playback", playback)
        }
    };
    Table {
        names: "method",
        columns,
        rows: found.rows.iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}

/// All numbers, frame by frame.
fn data(animation: &MeshAnimation, found: &DecompositionComparison) -> Value {
    let numbers = |numbers: &ModelNumbers| {
        json!({
            "eRms": numbers.e_rms,
            "bytesPerVertex": numbers.bytes_per_vertex,
            "bytesPerFrame": numbers.bytes_per_frame,
            "seconds": numbers.seconds,
        })
    };
    let row = |row: &DecompositionRow| -> Value {
        let decomposed = row.outcome.as_ref().ok();
        json!({
            "method": row.key,
            "title": row.title,
            "error": row.outcome.as_ref().err().map(ToString::to_string),
            "kind": decomposed.map(|d| match d.model {
                Decomposed::Skin(_) => "skin",
                Decomposed::Shapes(_) => "shapes",
            }),
            "numbers": decomposed.map(|d| numbers(&d.numbers)),
            "withEigenSkin": decomposed.and_then(|d| d.with_eigen_skin.as_ref()).map(numbers),
            "playback": decomposed.and_then(|d| d.playback),
            "keepsTheBound": decomposed.map(|_| found.keeps_the_bound(row)),
            "frameErrors": decomposed.map(|d| &d.frame_errors),
        })
    };
    json!({
        "vertices": animation.vertex_count(),
        "frames": animation.frame_count(),
        "bones": found.bone_count,
        "bound": found.bound,
        "methods": found.rows.iter().map(row).collect::<Vec<_>>(),
        "verdict": found.verdict(),
        "advice": found.advice(),
    })
}

/// A pair of bars for every way: as it is, and with corrections.
fn error_bars(found: &DecompositionComparison) -> Chart {
    let bar = |x: f64, row: &DecompositionRow, numbers: &ModelNumbers, what: &str| {
        let title = format!("{}{what}: E_RMS {:.4}", row.key, numbers.e_rms);
        Point::new(x, numbers.e_rms).titled(title)
    };
    let (mut plain, mut corrected) = (Vec::new(), Vec::new());
    for (number, (row, way)) in found.decomposed().enumerate() {
        let x = number as f64 + 1.0;
        let corrections = way.with_eigen_skin.as_ref();
        let left = if corrections.is_some() { x - 0.2 } else { x };
        plain.push(bar(left, row, &way.numbers, ""));
        corrected.extend(corrections.map(|n| bar(x + 0.2, row, n, " with corrections")));
    }
    let errors: Vec<f64> = plain.iter().chain(&corrected).map(|bar| bar.y).collect();
    let series = |name: &str, bars| Series::new(name, Draw::Bars { width: 0.36 }, bars);
    let names = found.decomposed().map(|(row, _)| row.key.to_owned());
    Chart {
        x: Axis::named("", names),
        y: error_axis(errors.into_iter()),
        series: match corrected.is_empty() {
            true => vec![series("", plain)],
            false => vec![
                series("as it is", plain),
                series("with corrections", corrected),
            ],
        },
        width: CHART_WIDTH,
        ..Chart::default()
    }
}

/// E_RMS of every frame, a line for every way.
fn frame_chart(found: &DecompositionComparison) -> Chart {
    let series = found.decomposed().map(|(row, numbers)| {
        let point = |(frame, &error): (usize, &f64)| {
            let title = format!("{} in frame {frame}: E_RMS {error:.3}", row.key);
            Point::new(frame as f64, error).titled(title)
        };
        let points: Vec<Point> = numbers.frame_errors.iter().enumerate().map(point).collect();
        Series::new(row.key, Draw::Line, points)
    });
    let errors = found.decomposed().map(|(_, way)| way.numbers.e_rms);
    Chart {
        x: Axis::linear("frame"),
        y: error_axis(errors),
        series: series.collect(),
        width: CHART_WIDTH,
        height: 400,
        ..Chart::default()
    }
}

/// The frame with the largest error over all ways, each counted in shares of its own.
fn worst_frame(found: &DecompositionComparison) -> Option<usize> {
    let mut sums: Vec<f64> = Vec::new();
    for (_, numbers) in found.decomposed() {
        let scale = numbers.numbers.e_rms.max(f64::MIN_POSITIVE);
        sums.resize(numbers.frame_errors.len(), 0.0);
        for (sum, error) in sums.iter_mut().zip(&numbers.frame_errors) {
            *sum += error / scale;
        }
    }
    (0..sums.len()).max_by(|&a, &b| sums[a].total_cmp(&sums[b]).then(b.cmp(&a)))
}

/// The frame itself, and every way with its error in it, the best first.
fn pictures(
    animation: &MeshAnimation,
    found: &DecompositionComparison,
    frame: usize,
    up: Up,
    talk: &Talk,
) -> anyhow::Result<Vec<Part>> {
    let truth = animation.frames().nth(frame).unwrap_or_default();
    let mut ways: Vec<(&DecompositionRow, &DecomposedNumbers)> = found.decomposed().collect();
    ways.sort_by(|(_, a), (_, b)| a.numbers.e_rms.total_cmp(&b.numbers.e_rms));
    let shot = |(row, way): &(&DecompositionRow, &DecomposedNumbers)| {
        let shot = Shot::new(truth, &way.frame(frame), animation.size());
        (row.key.to_owned(), shot)
    };
    let pose = PoseShown {
        title: format!("Worst frame: {frame}"),
        name: format!("frame {frame}"),
        truth,
        shots: ways.iter().map(shot).collect(),
    };
    let gallery = Gallery {
        mesh: animation.rest(),
        up,
        size: animation.size(),
        truth_name: "animation",
        colors: None,
        colors_mean: "",
    };
    gallery.draw(&[pose], talk)
}
