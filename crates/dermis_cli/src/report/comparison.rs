//! The report of a comparison of methods.

use dermis::ExampleSet;
use dermis::compare::{Compared, Comparison, ComparisonRow, Playback, RowSummary, advice, verdict};
use serde_json::{Map, Value, json};

use super::charts::{cost_charts, example_chart, proxy_charts};
use super::damage::{DamageOfFit, damage_remarks};
use super::fit::{GLOSSARY, engine_data, method_data, tests_data};
use super::gallery::{Gallery, PoseShown};
use super::model::{Block, Column, Figure, Format, Level, Part, Report, Row, Table, subject};
use super::pictures::{Shot, Shown, choose_by, skin_for, telling};
use super::proxies;
use super::remarks::rig_remarks;
use crate::args::Up;
use crate::talk::Talk;

/// All that there is to tell but for pictures and charts.
pub(crate) fn comparison_report(
    set: &ExampleSet,
    comparison: &Comparison,
    command: String,
) -> Report {
    let rows = comparison.rows.iter().map(|row| row_data(set, row));
    report_of_rows(set, rows.collect(), command)
}

/// As [`comparison_report`], of rows as their data has them: those of an earlier run among them.
pub(crate) fn report_of_rows(set: &ExampleSet, rows: Vec<Value>, command: String) -> Report {
    let summaries = rows.iter().map(|row| row["summary"].clone());
    let summaries = summaries.filter_map(|summary| serde_json::from_value(summary).ok());
    let summaries: Vec<RowSummary> = summaries.collect();
    let advice = advice(&summaries);
    let mut blocks = vec![Block::Table(numbers(&rows))];
    blocks.push(Block::Sentences(vec![counts(set, &rows)]));
    if rows.iter().any(|row| !row["surface"].is_null()) {
        blocks.push(Block::Table(surface(&rows)));
    }
    let mut sentences = advice.clone();
    let damage = rows.iter().filter_map(|row| {
        let damage = serde_json::from_value(row["damage"].clone()).ok()?;
        Some((row["label"].as_str()?, damage))
    });
    sentences.extend(damage_remarks(set, &damage.collect::<Vec<_>>()));
    sentences.extend(remarks(&rows));
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
    let label = |row: &Value| row["label"].as_str().unwrap_or_default().to_owned();
    let methods = rows.iter().map(|row| (label(row), row["resolved"].clone()));
    let methods = Value::Object(methods.collect());
    let count = rows.len();
    Report {
        heading: format!("{count} ways to fit {} examples", set.examples().len()),
        subject: subject(set.rest(), set.skeleton().bone_count()),
        command,
        data: json!({
            "vertices": set.rest().vertex_count(),
            "bones": set.skeleton().bone_count(),
            "examples": set.examples().len(),
            "methods": rows,
            "verdict": verdict(&summaries),
            "advice": advice,
        }),
        resolved: Map::from_iter([("methods".to_owned(), methods)]),
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

/// Whether examples were held out for rows, as their data has them.
fn are_held_out(rows: &[Value]) -> bool {
    rows.iter().any(|row| !row["heldOut"].is_null())
}

fn row((number, row): (usize, &Value)) -> Row {
    let text = |key: &str| row[key].as_str().unwrap_or_default();
    let playback = serde_json::from_value(row["playback"].clone());
    let playback = playback.map_or("", |playback: Playback| playback.text());
    Row {
        // Broken where it would make the column too wide.
        title: text("title").replace("linear blend skinning with ", "with "),
        problem: row["error"].as_str().map(ToOwned::to_owned),
        ..Row::new(text("label"), format!("/methods/{number}")).saying("/playback", playback)
    }
}

/// A row for every method.
fn numbers(rows: &[Value]) -> Table {
    // Where nothing is held out, all examples are those that were fitted to and those to test on.
    let is_held_out = are_held_out(rows);
    let (trained, tested) = match is_held_out {
        true => ("/training", "/heldOut"),
        false => ("/overall", "/overall"),
    };
    let column = |place: &str, key: &str, heading: [&str; 2], format| {
        Column::new(format!("{place}{key}"), heading, format)
    };
    let enveloping = |place: &str, heading: &str| {
        let deviation = format!("{place}/envelopingErrorDeviationPercent");
        let heading = ["EE ± sd %", heading];
        let format = Format::Deviating(deviation);
        column(place, "/envelopingErrorPercent", heading, format)
    };
    let (share, degrees) = (Format::Share, Format::Degrees);
    let engine = format!("/stockEngines{tested}");
    let damage = format!("/damage{tested}");
    // A person decides by poses that the fit has not seen, where there are some.
    let [of_seen, of_unseen] = match is_held_out {
        true => [Level::Wide, Level::Always],
        false => [Level::Always, Level::Wide],
    };
    let mut columns = vec![
        column(trained, "/eRms", ["E_RMS", "fitted"], Format::Error).at(of_seen),
        column("/heldOut", "/eRms", ["E_RMS", "held out"], Format::Error).at(of_unseen),
        enveloping(trained, "fitted").at(of_seen),
        enveloping("/heldOut", "held out").at(of_unseen),
        column(tested, "/meanDistance", ["mean", "distance"], share(4)).at(Level::Wide),
        column(tested, "/maxDistance", ["largest", "distance"], share(3)),
        column(
            tested,
            "/meanNormalAngleDeg",
            ["normal", "mean"],
            degrees(2),
        )
        .at(Level::Wide),
        column(
            tested,
            "/maxNormalAngleDeg",
            ["normal", "largest"],
            degrees(1),
        )
        .at(Level::Wide),
        column(&damage, "/tornEdges", ["torn", "edges"], Format::Count).at(Level::Wide),
        column(
            &damage,
            "/foldedTriangles",
            ["folded", "triangles"],
            Format::Count,
        )
        .at(Level::Wide),
        column(
            "/cost",
            "/bytesPerVertex",
            ["bytes/", "vertex"],
            Format::Number(1),
        ),
        column(
            "/cost",
            "/bytesPerFrame",
            ["bytes/", "frame"],
            Format::Count,
        )
        .at(Level::Wide),
        column("", "/nsPerVertex", ["ns/", "vertex"], Format::Number(2)).at(Level::Wide),
        column("", "/fitSeconds", ["fit", "seconds"], Format::Number(2)).at(Level::Wide),
        column(
            "",
            "/playback",
            ["plays in", "stock engines"],
            Format::Words,
        )
        .at(Level::Wide),
        column(
            &engine,
            "/eRms",
            ["E_RMS in", "stock engines"],
            Format::Error,
        ),
    ];
    let after_held_out = 4;
    columns.splice(after_held_out..after_held_out, tests(rows));
    Table {
        names: "method",
        columns,
        rows: rows.iter().enumerate().map(row).collect(),
        lowest_is_best: true,
        note: "Distances and normals are those of held-out examples where there are some. The lowest of each column is bold.",
        ..Table::default()
    }
}

/// Columns for every set that no fit has seen.
fn tests(rows: &[Value]) -> Vec<Column> {
    let tests = rows.iter().find_map(|row| row["tests"].as_array());
    let tests = tests.map_or(&[][..], Vec::as_slice);
    let mut columns = Vec::new();
    for (number, test) in tests.iter().enumerate() {
        let name = match tests.len() {
            1 => "test",
            _ => test["name"].as_str().unwrap_or_default(),
        };
        let at = format!("/tests/{number}/total");
        let column =
            |key: &str, heading, format| Column::new(format!("{at}{key}"), [heading, name], format);
        let deviation = Format::Deviating(format!("{at}/envelopingErrorDeviationPercent"));
        columns.extend([
            column("/eRms", "E_RMS", Format::Error),
            column("/envelopingErrorPercent", "EE ± sd %", deviation).at(Level::Wide),
            column("/maxDistance", "largest", Format::Share(3)).at(Level::Wide),
        ]);
    }
    columns
}

/// Distances to the examples' surfaces.
fn surface(rows: &[Value]) -> Table {
    let rows = rows.iter().enumerate().map(row);
    let (mean, max) = (Format::Share(4), Format::Share(3));
    Table {
        heading: "Distance to the surface",
        names: "to the surface",
        columns: vec![
            Column::new("/surface/0/meanDistance", ["mean", "fitted"], mean.clone()),
            Column::new("/surface/1/meanDistance", ["mean", "held out"], mean),
            Column::new("/surface/0/maxDistance", ["max", "fitted"], max.clone()),
            Column::new("/surface/1/maxDistance", ["max", "held out"], max),
        ],
        rows: rows.filter(|row| row.problem.is_none()).collect(),
        lowest_is_best: true,
        note: "Shares of the diagonal of the rest mesh's box.",
    }
}

fn counts(set: &ExampleSet, rows: &[Value]) -> String {
    let count = |row: &Value, of: &str| row[of]["exampleCount"].as_u64();
    let tested = rows.iter().find_map(|row| {
        let (trained, held_out) = (count(row, "training"), count(row, "heldOut"));
        Some(match (trained.zip(held_out), count(row, "overall")?) {
            (Some((trained, tested)), _) => format!(": fitted to {trained}, tested on {tested}"),
            (None, all) => format!(": fitted to and measured on all {all}"),
        })
    });
    format!(
        "{} vertices, {} bones, {} examples{}",
        set.rest().vertex_count(),
        set.skeleton().bone_count(),
        set.examples().len(),
        tested.unwrap_or_default()
    )
}

/// What the fits say about examples and bones, each thing once, with the methods that say it unless
/// all do.
fn remarks(rows: &[Value]) -> Vec<String> {
    let mut remarks: Vec<(&str, Vec<&str>)> = Vec::new();
    let fitted = || rows.iter().filter(|row| row["error"].is_null());
    for row in fitted() {
        let label = row["label"].as_str().unwrap_or_default();
        let said = row["remarks"].as_array().into_iter().flatten();
        for remark in said.filter_map(Value::as_str) {
            match remarks.iter_mut().find(|(known, _)| *known == remark) {
                Some((_, by)) => by.push(label),
                None => remarks.push((remark, vec![label])),
            }
        }
    }
    let count = fitted().count();
    remarks
        .into_iter()
        .map(|(remark, by)| match by.len() == count {
            true => remark.to_owned(),
            false => format!("{}: {remark}", by.join(", ")),
        })
        .collect()
}

/// All numbers of a row, example by example.
pub(crate) fn row_data(set: &ExampleSet, row: &ComparisonRow) -> Value {
    let compared = row.outcome.as_ref().ok();
    let held_out = compared.and_then(|c| c.report.held_out.as_ref());
    let remarks = compared.map(|c| {
        let mut remarks = proxies::remarks(set, &row.method, &c.report);
        remarks.extend(rig_remarks(&c.report));
        remarks
    });
    json!({
        "method": row.method.key(),
        "label": row.label,
        "title": row.title,
        "resolved": method_data(&row.method),
        "maxInfluences": row.method.max_influences(),
        "error": row.outcome.as_ref().err().map(ToString::to_string),
        "overall": compared.map(|c| &c.report.overall.total),
        "training": held_out.map(|h| &h.training.total),
        "heldOut": held_out.map(|h| &h.measured.total),
        "heldOutExamples": held_out.map(|h| &h.measured.examples),
        "tests": compared.map(|c| tests_data(&c.report)),
        "cost": compared.map(|c| &c.report.cost),
        "proxies": compared.and_then(|c| proxies::summary(set, &row.method, &c.report)),
        "nsPerVertex": compared.map(|c| c.ns_per_vertex),
        "fitSeconds": compared.map(|c| c.report.fit_seconds),
        "surface": compared.and_then(|c| c.surface),
        "playback": compared.map(|c| c.playback),
        "stockEngines": compared.map(|c| engine_data(&c.engine)),
        "rig": compared.map(|c| &c.report.rig),
        "damage": compared.map(|c| DamageOfFit::of(&c.report)),
        "remarks": remarks,
        "summary": row.summary(),
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
