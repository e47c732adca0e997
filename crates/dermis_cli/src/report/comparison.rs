//! The report of a comparison of methods.

use dermis::ExampleSet;
use dermis::compare::{Compared, Comparison, ComparisonRow};
use serde_json::{Value, json};

use super::charts::{cost_charts, example_chart, proxy_charts};
use super::fit::{GLOSSARY, engine_data};
use super::gallery::{Gallery, PoseShown};
use super::model::{Block, Column, Figure, Format, Part, Report, Row, Table, subject};
use super::pictures::{Shot, Shown, choose_by, skin_for, telling};
use super::proxies;
use super::remarks::{damage_data, damage_remarks, rig_remarks};
use crate::args::Up;
use crate::talk::Talk;

/// All that there is to tell but for pictures and charts.
pub(crate) fn comparison_report(
    set: &ExampleSet,
    comparison: &Comparison,
    command: String,
) -> Report {
    let mut blocks = vec![Block::Table(numbers(comparison))];
    blocks.push(Block::Sentences(vec![counts(set, comparison)]));
    if comparison.compared().any(|(_, c)| c.surface.is_some()) {
        blocks.push(Block::Table(surface(comparison)));
    }
    let mut sentences = comparison.advice();
    for (row, c) in comparison.compared() {
        sentences.extend(damage_remarks(&row.label, &c.report));
    }
    sentences.extend(remarks(set, comparison));
    blocks.push(Block::Remarks(sentences));
    let mut glossary = GLOSSARY.to_vec();
    glossary.extend([
        (
            "Bytes",
            "per vertex those of rest position and influences in 32-bit numbers; per frame those of the matrices.",
        ),
        (
            "ns/vertex",
            "one thread of this machine, positions only, packed for speed; the best of several runs, all methods in turn.",
        ),
        (
            "Plays in stock engines",
            "whether a player that knows only plain glTF shows the skin as it is, an approximation of it (influences beyond \
             the fourth, or what animation space adds, are lost), or a plain skin that was fitted to it, because only dermis \
             runs the model itself.",
        ),
        (
            "E_RMS there",
            "that of what such a player shows, on held-out examples where there are some.",
        ),
    ]);
    Report {
        heading: format!(
            "{} ways to fit {} examples",
            comparison.rows.len(),
            set.examples().len()
        ),
        subject: subject(set.rest(), set.skeleton().bone_count()),
        command,
        data: data(set, comparison),
        blocks,
        glossary,
    }
}

/// What the page shows beside that: errors against costs, over examples, and as colours.
pub(crate) fn comparison_figures(
    set: &ExampleSet,
    comparison: &Comparison,
    up: Up,
    talk: &Talk,
) -> anyhow::Result<Vec<Figure>> {
    let on = match is_held_out(comparison) {
        true => "held-out examples",
        false => "all examples",
    };
    let mut figures = vec![Figure {
        heading: "Where the error is",
        parts: pictures(set, comparison, up, talk)?,
        note: format!(
            "The lowest error first; the ring is at the worst vertex, dashed where the surface hides it. {}",
            match is_held_out(comparison) {
                true => "Held-out poses are shown with skins that have not seen them.",
                false => "No pose was held out: the errors say nothing about poses not given.",
            }
        ),
    }];
    figures.push(Figure {
        heading: "Error against cost",
        parts: vec![Part::Charts(cost_charts(comparison))],
        note: format!("E_RMS on {on}. Low and left is good."),
    });
    figures.extend(proxy_charts(set, comparison).map(|charts| Figure {
        heading: "How many proxy bones",
        parts: vec![Part::Charts(charts)],
        note: "Rotational regression with as many proxy bones as are in use. The skin's size is that of its \
               vertices and of what places the proxies."
            .to_owned(),
    }));
    let rows = comparison.rows.iter();
    let fits =
        rows.filter_map(|row| Some((row.label.as_str(), &row.outcome.as_ref().ok()?.report)));
    figures.push(Figure::chart(
        "Error of each example",
        example_chart(fits),
        "",
    ));
    Ok(figures)
}

fn is_held_out(comparison: &Comparison) -> bool {
    let mut compared = comparison.compared();
    compared.any(|(_, c)| c.report.held_out.is_some())
}

fn row((number, row): (usize, &ComparisonRow)) -> Row {
    Row {
        name: row.label.clone(),
        // Broken where it would make the column too wide.
        title: row.title.replace("linear blend skinning with ", "with "),
        at: format!("/methods/{number}"),
        words: match &row.outcome {
            Ok(c) => c.playback.text().to_owned(),
            Err(_) => String::new(),
        },
        problem: row.outcome.as_ref().err().map(ToString::to_string),
        is_chosen: false,
    }
}

/// A row for every method.
fn numbers(comparison: &Comparison) -> Table {
    // Where nothing is held out, all examples are those that were fitted to and those to test on.
    let (trained, tested) = match is_held_out(comparison) {
        true => ("/training", "/heldOut"),
        false => ("/overall", "/overall"),
    };
    let column = |place: &str, key: &str, heading: [&str; 2], format, width| {
        Column::new(format!("{place}{key}"), heading, format, width)
    };
    let enveloping = |place: &str, heading: &str| {
        let deviation = format!("{place}/envelopingErrorDeviationPercent");
        let format = Format::Deviating(deviation);
        let heading = ["EE ± sd %", heading];
        column(place, "/envelopingErrorPercent", heading, format, 15)
    };
    let (share, degrees) = (Format::Share, Format::Degrees);
    let engine = format!("/stockEngines{tested}");
    Table {
        names: "method",
        names_width: 16,
        columns: vec![
            column(trained, "/eRms", ["E_RMS", "fitted"], Format::Error, 9),
            column("/heldOut", "/eRms", ["E_RMS", "held out"], Format::Error, 9),
            enveloping(trained, "fitted"),
            enveloping("/heldOut", "held"),
            column(tested, "/meanDistance", ["mean", "distance"], share(4), 10),
            column(tested, "/maxDistance", ["max", "distance"], share(3), 10),
            column(
                tested,
                "/meanNormalAngleDeg",
                ["normal", "mean"],
                degrees(2),
                8,
            ),
            column(
                tested,
                "/maxNormalAngleDeg",
                ["normal", "max"],
                degrees(1),
                8,
            ),
            Column::new(
                "/cost/bytesPerVertex",
                ["bytes/", "vertex"],
                Format::Number(1),
                9,
            ),
            Column::new("/cost/bytesPerFrame", ["bytes/", "frame"], Format::Count, 9),
            Column::new("/nsPerVertex", ["ns/", "vertex"], Format::Number(2), 8),
            Column::new("/fitSeconds", ["fit", "seconds"], Format::Number(2), 9),
            Column::new(
                "/playback",
                ["plays in", "stock engines"],
                Format::Words,
                22,
            ),
            column(&engine, "/eRms", ["E_RMS", "there"], Format::Error, 9),
        ],
        rows: comparison.rows.iter().enumerate().map(row).collect(),
        lowest_is_best: true,
        note: "Distances and normals are those of held-out examples where there are some. The lowest of each column is bold.",
        ..Table::default()
    }
}

/// Distances to the examples' surfaces.
fn surface(comparison: &Comparison) -> Table {
    let rows = comparison.rows.iter().enumerate().map(row);
    let column = |key: &str, heading, format| Column::new(key, heading, format, 10);
    let (mean, max) = (Format::Share(4), Format::Share(3));
    Table {
        heading: "Distance to the surface",
        names: "to the surface",
        names_width: 16,
        columns: vec![
            column("/surface/0/meanDistance", ["mean", "fitted"], mean.clone()),
            column("/surface/1/meanDistance", ["mean", "held out"], mean),
            column("/surface/0/maxDistance", ["max", "fitted"], max.clone()),
            column("/surface/1/maxDistance", ["max", "held out"], max),
        ],
        rows: rows.filter(|row| row.problem.is_none()).collect(),
        lowest_is_best: true,
        note: "Shares of the diagonal of the rest mesh's box.",
    }
}

fn counts(set: &ExampleSet, comparison: &Comparison) -> String {
    let count = |c: &Compared| (c.trained().example_count, c.tested().example_count);
    let tested = match comparison.compared().next().map(|(_, c)| count(c)) {
        None => String::new(),
        Some((trained, tested)) => match is_held_out(comparison) {
            true => format!(": fitted to {trained}, tested on {tested}"),
            false => format!(": fitted to and measured on all {tested}"),
        },
    };
    format!(
        "{} vertices, {} bones, {} examples{tested}",
        set.rest().vertex_count(),
        set.skeleton().bone_count(),
        set.examples().len()
    )
}

/// What the fits say about examples and bones, each thing once, with the methods that say it unless
/// all do.
fn remarks(set: &ExampleSet, comparison: &Comparison) -> Vec<String> {
    let mut remarks: Vec<(String, Vec<&str>)> = Vec::new();
    for (row, c) in comparison.compared() {
        let proxies = proxies::remarks(set, &row.method, &c.report);
        for remark in proxies.into_iter().chain(rig_remarks(&c.report)) {
            match remarks.iter_mut().find(|(known, _)| *known == remark) {
                Some((_, by)) => by.push(&row.label),
                None => remarks.push((remark, vec![&row.label])),
            }
        }
    }
    let count = comparison.compared().count();
    remarks
        .into_iter()
        .map(|(remark, by)| match by.len() == count {
            true => remark,
            false => format!("{}: {remark}", by.join(", ")),
        })
        .collect()
}

/// All numbers, example by example.
fn data(set: &ExampleSet, comparison: &Comparison) -> Value {
    let row = |row: &ComparisonRow| -> Value {
        let compared = row.outcome.as_ref().ok();
        let held_out = compared.and_then(|c| c.report.held_out.as_ref());
        json!({
            "method": row.method.key(),
            "label": row.label,
            "title": row.title,
            "maxInfluences": row.method.max_influences(),
            "error": row.outcome.as_ref().err().map(ToString::to_string),
            "overall": compared.map(|c| &c.report.overall.total),
            "training": held_out.map(|h| &h.training.total),
            "heldOut": held_out.map(|h| &h.measured.total),
            "heldOutExamples": held_out.map(|h| &h.measured.examples),
            "cost": compared.map(|c| &c.report.cost),
            "proxies": compared.and_then(|c| proxies::summary(set, &row.method, &c.report)),
            "nsPerVertex": compared.map(|c| c.ns_per_vertex),
            "fitSeconds": compared.map(|c| c.report.fit_seconds),
            "surface": compared.and_then(|c| c.surface),
            "playback": compared.map(|c| c.playback),
            "stockEngines": compared.map(|c| engine_data(&c.engine)),
            "rig": compared.map(|c| &c.report.rig),
            "damage": compared.map(|c| damage_data(&c.report)),
        })
    };
    json!({
        "vertices": set.rest().vertex_count(),
        "bones": set.skeleton().bone_count(),
        "examples": set.examples().len(),
        "methods": comparison.rows.iter().map(row).collect::<Vec<_>>(),
        "verdict": comparison.verdict(),
        "advice": comparison.advice(),
    })
}

/// The pose that is worst over all methods, and one in the middle.
fn choose_shown(comparison: &Comparison) -> Vec<Shown> {
    let mut errors: Vec<(usize, f64)> = Vec::new();
    let mut why = "worst pose";
    for (_, c) in comparison.compared() {
        let (examples, worst_why) = telling(&c.report);
        // As shares of the method's own error, so that one that went astray does not choose alone.
        let scale = c.tested().e_rms.max(f64::MIN_POSITIVE);
        why = worst_why;
        errors.resize(examples.len(), (0, 0.0));
        for (slot, m) in errors.iter_mut().zip(examples) {
            *slot = (m.index, slot.1 + m.e_rms / scale);
        }
    }
    choose_by(errors, why, &[0.5])
}

/// For each pose the example, and every method with its error, the best first.
fn pictures(
    set: &ExampleSet,
    comparison: &Comparison,
    up: Up,
    talk: &Talk,
) -> anyhow::Result<Vec<Part>> {
    let mut rows: Vec<(&ComparisonRow, &Compared)> = comparison.compared().collect();
    rows.sort_by(|(_, a), (_, b)| a.tested().e_rms.total_cmp(&b.tested().e_rms));
    let mut poses = Vec::new();
    for c in choose_shown(comparison) {
        let example = &set.examples()[c.index];
        let mut shots = Vec::new();
        for (row, compared) in &rows {
            let shot = Shot::of(set, skin_for(&compared.report, c.index), c.index)?;
            shots.push((row.label.clone(), shot));
        }
        poses.push(PoseShown {
            title: format!("{}: {}", super::capitalized(c.why), example.name),
            name: format!("example {}", example.name),
            truth: &example.positions,
            shots,
        });
    }
    let gallery = Gallery {
        mesh: set.rest(),
        up,
        size: set.size(),
        truth_name: "truth",
        colors: None,
        colors_mean: "",
    };
    gallery.draw(&poses, talk)
}
