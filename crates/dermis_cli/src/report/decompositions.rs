//! The report of a comparison of decompositions.

use dermis::MeshAnimation;
use dermis::compare::{
    Decomposed, DecomposedNumbers, DecompositionComparison, DecompositionRow, ModelNumbers,
};
use dermis_render::{Axis, Chart, Draw, HeatScale, Image, Point, Series};
use serde_json::{Map, Value, json};

use super::charts::{CHART_WIDTH, error_axis};
use super::model::{Block, Column, Figure, Format, Level, Part, Report, Row, Table, subject};
use super::pictures::{COMPARABLE, Shot, compared_sheet};
use crate::args::Up;
use crate::talk::Talk;

/// Errors below this are rounding, and would stretch an axis.
const ROUNDING: f64 = 1e-3;

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
    let mut figures = vec![Figure::chart("Error of each way", error_bars(found), "")];
    if let Some(worst) = worst_frame(found) {
        figures.push(Figure {
            heading: "Where the error is",
            parts: vec![Part::Picture {
                title: format!("Worst frame: {worst}"),
                alt: format!("frame {worst}: the animation, and each way's error as colour"),
                image: picture(animation, found, worst, up, talk)?,
            }],
            note: "All pictures share one colour scale; errors beyond its end are as dark as its end. Without \
                   corrections."
                .to_owned(),
        });
    }
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
        "advice": found.advice(),
    })
}

/// A pair of bars for every way: as it is, and with corrections.
fn error_bars(found: &DecompositionComparison) -> Chart {
    let bar = |x: f64, row: &DecompositionRow, numbers: &ModelNumbers, what: &str| {
        let title = format!("{}{what}: E_RMS {:.4}", row.key, numbers.e_rms);
        Point::new(x, numbers.e_rms).titled(title)
    };
    let mut series = Vec::new();
    for (number, (row, numbers)) in found.decomposed().enumerate() {
        let x = number as f64 + 1.0;
        let mut bars = vec![bar(x - 0.2, row, &numbers.numbers, "")];
        let corrected = numbers.with_eigen_skin.as_ref();
        bars.extend(corrected.map(|numbers| bar(x + 0.2, row, numbers, " with corrections")));
        series.push(Series::new(row.key, Draw::Bars { width: 0.36 }, bars));
    }
    Chart {
        x: Axis::linear("in the order of the table; the second bar is with corrections")
            .from_zero(),
        y: Axis::linear("E_RMS").from_zero(),
        series,
        width: CHART_WIDTH,
        ..Chart::default()
    }
}

/// E_RMS of every frame, a line for every way that is not exact.
fn frame_chart(found: &DecompositionComparison) -> Chart {
    let shown = || {
        found
            .decomposed()
            .filter(|(_, numbers)| numbers.numbers.e_rms > ROUNDING)
    };
    let series = shown().map(|(row, numbers)| {
        let point = |(frame, &error): (usize, &f64)| {
            let title = format!("{} in frame {frame}: E_RMS {error:.3}", row.key);
            Point::new(frame as f64, error).titled(title)
        };
        let points: Vec<Point> = numbers.frame_errors.iter().enumerate().map(point).collect();
        Series::new(row.key, Draw::Line, points)
    });
    let series: Vec<Series> = series.collect();
    let errors = shown().flat_map(|(_, numbers)| numbers.frame_errors.iter().copied());
    Chart {
        x: Axis::linear("frame"),
        y: error_axis(errors, ROUNDING),
        series,
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

/// The frame itself and every way's error in it.
fn picture(
    animation: &MeshAnimation,
    found: &DecompositionComparison,
    frame: usize,
    up: Up,
    talk: &Talk,
) -> anyhow::Result<Image> {
    let truth = animation.frames().nth(frame).unwrap_or_default();
    let ways: Vec<(&DecompositionRow, &DecomposedNumbers)> = found.decomposed().collect();
    let shot =
        |(_, way): &(_, &DecomposedNumbers)| Shot::new(truth, &way.frame(frame), animation.size());
    let shots: Vec<Shot> = ways.iter().map(shot).collect();
    let error = |way: &DecomposedNumbers| way.numbers.e_rms;
    // A bound that is all but exact says nothing about the colours of the others.
    let least = (ways.iter().map(|(_, way)| error(way)))
        .filter(|error| *error > ROUNDING)
        .fold(f64::INFINITY, f64::min);
    let least_skin = (ways.iter().filter(|(_, way)| way.playback.is_some()))
        .map(|(_, way)| error(way))
        .fold(f64::INFINITY, f64::min);
    let limit = COMPARABLE * least.max(least_skin);
    let comparable = (ways.iter().zip(&shots))
        .filter(|((_, way), _)| error(way) <= limit)
        .map(|(_, shot)| shot.worst());
    let scale = HeatScale::fitting(comparable, "% of size");
    let named: Vec<(&str, &Shot)> = ways.iter().map(|(row, _)| row.key).zip(&shots).collect();
    let target = (animation.rest(), truth, "animation");
    compared_sheet(target, &named, &scale, up, [0, ways.len() + 1], talk)
}
