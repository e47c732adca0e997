//! `dermis measure`: meshes against meshes, whoever made them.

use anyhow::Context;
use dermis::document::BesideTruth;
use dermis::measure::{MeshMeasures, MeshOptions, measure_meshes};
use dermis_io::{Document, InputOptions, ReadMeshes, read_meshes};
use glam::DVec3;
use serde_json::{Value, json};

use crate::Outcome;
use crate::hints::Explained;
use crate::measure_args::MeasureArgs;
use crate::report::{self, Block, Column, Format, Level, Report, Row, Table, short};
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &MeasureArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let (truth, mine) = read(args, talk)?;
    let set = (truth.truth()).explained(&args.sequence.matching)?;
    let meshes: Vec<Vec<DVec3>> = (mine.frames.into_iter())
        .map(|frame| frame.positions)
        .collect();
    talk.check_stopped()?;
    let options = MeshOptions {
        surface: args.surface,
        draw: Some(&truth.draw),
    };
    let in_file = || args.mine.display().to_string();
    let found = measure_meshes(&set, &meshes, &options).with_context(in_file)?;
    talk.check_stopped()?;
    talk.clear();
    report::print(&report_of(args, &truth, &found)?, args.print)?;
    Ok(match args.max_error {
        Some(limit) if found.total.e_rms > limit => {
            talk.remark(format!(
                "tolerance missed: E_RMS {:.4}, at most {limit} was asked for",
                found.total.e_rms
            ));
            Outcome::ToleranceMissed
        }
        _ => Outcome::Done,
    })
}

/// Reads both files, and holds one against the other.
fn read(args: &MeasureArgs, talk: &Talk) -> anyhow::Result<(Document, BesideTruth)> {
    let matching = &args.sequence.matching;
    let options = args.sequence.options(talk);
    // The truth stays as it is: units, axes and order are those of what is measured.
    let as_it_is = InputOptions {
        rest: options.rest.clone(),
        mesh: options.mesh.clone(),
        ..InputOptions::default()
    };
    let said = |read: ReadMeshes| {
        talk.remark_all(&read.notes);
        read.document
    };
    let clip = args.clip.as_deref();
    let truth = said(read_meshes(&[&args.truth], &as_it_is).explained(matching)?);
    let mine = said(read_meshes(&[&args.mine], &options).explained(matching)?);
    let truth = truth.with_frames(clip, args.fps).explained(matching)?;
    let mut truth = truth;
    if truth.draw.parts.iter().all(|part| part.uvs.is_empty())
        && mine.mesh.vertex_count() == truth.mesh.vertex_count()
    {
        truth.draw = mine.draw.clone();
    }
    let mine = mine.beside(&truth, clip, args.fps, &matching.options(talk));
    let mine = mine.explained(matching)?;
    talk.remark_all(&mine.notes);
    if let Some(posed) = &mine.posed {
        talk.remark(format!(
            "note: {} is posed as the bones of {} are{}",
            args.mine.display(),
            args.truth.display(),
            said_still(&posed.still)
        ));
    }
    Ok((truth, mine))
}

/// What to say of bones that a file of poses does not have.
pub(crate) fn said_still(still: &[String]) -> String {
    match still {
        [] => String::new(),
        few if few.len() <= 6 => format!(
            "; bones that are not there stay as they are by default: {}",
            few.join(", ")
        ),
        many => format!(
            "; {} that are not there stay as they are by default, such as {}",
            plural(many.len(), "bone"),
            many[0]
        ),
    }
}

fn report_of(args: &MeasureArgs, truth: &Document, found: &MeshMeasures) -> anyhow::Result<Report> {
    let mut data = serde_json::to_value(found).context("measures are plain JSON")?;
    let counts = json!({
        "vertices": truth.mesh.vertex_count(),
        "frames": truth.frames.len(),
    });
    let mut kept = match counts {
        Value::Object(kept) => kept,
        _ => unreachable!("it was made as one"),
    };
    if let Some(data) = data.as_object_mut() {
        // Long lists only for those who ask for them.
        if !args.per_frame {
            data.remove("examples");
        }
        if !args.per_vertex {
            data.remove("vertices");
        }
        for (key, value) in std::mem::take(data) {
            let key = match key.as_str() {
                "examples" => "perFrame".to_owned(),
                "vertices" => "perVertex".to_owned(),
                _ => key,
            };
            kept.insert(key, value);
        }
    }
    let data = Value::Object(kept);
    let mut blocks = Vec::new();
    if args.per_frame {
        blocks.push(Block::Table(frames(found)));
    }
    if args.per_vertex {
        blocks.push(Block::Table(vertices(found)));
    }
    blocks.push(Block::Facts(facts(truth, found)));
    Ok(Report::plain(data, blocks))
}

/// The numbers of the whole, a line each.
fn facts(truth: &Document, found: &MeshMeasures) -> Vec<(&'static str, String)> {
    let total = &found.total;
    let percent = |share: f64| format!("{}% of the size", short(100.0 * share));
    let mut facts = vec![
        (
            "measured",
            format!(
                "{} in {}",
                match truth.mesh.vertex_count() {
                    1 => "1 vertex".to_owned(),
                    count => format!("{count} vertices"),
                },
                plural(total.example_count, "frame")
            ),
        ),
        ("E_RMS", short(total.e_rms)),
    ];
    if let Some(percent) = total.enveloping_error_percent {
        let deviation = total.enveloping_error_deviation_percent;
        let deviation = deviation.map_or(String::new(), |sd| format!(" ± {sd:.2}"));
        facts.push(("EE ± sd", format!("{percent:.2}{deviation} %")));
    }
    facts.push(("mean distance", percent(total.mean_distance)));
    if let Some(worst) = &found.worst {
        facts.push((
            "largest distance",
            format!(
                "{}, at vertex {} in frame {} ({})",
                percent(worst.distance),
                worst.vertex,
                worst.example,
                worst.name
            ),
        ));
    }
    facts.push((
        "angle of normals",
        format!(
            "{:.2}° in the mean, at most {:.1}°",
            total.mean_normal_angle_deg, total.max_normal_angle_deg
        ),
    ));
    if let Some(stretch) = found.texture_stretch {
        facts.push((
            "texture stretch",
            format!(
                "{:.4}, and {:.4} in what is true",
                stretch.found, stretch.truth
            ),
        ));
    }
    if let Some(surface) = found.surface {
        facts.push((
            "distance to surface",
            format!(
                "{} in the mean, at most {}",
                percent(surface.mean_distance),
                percent(surface.max_distance)
            ),
        ));
    }
    facts
}

fn column(key: &str, heading: [&str; 2], format: Format) -> Column {
    Column::new(key, heading, format)
}

/// E_RMS and distances: what rows of both kinds begin with.
fn distances() -> Vec<Column> {
    vec![
        column("/eRms", ["", "E_RMS"], Format::Error),
        column("/meanDistance", ["mean", "distance"], Format::Share(4)),
        column("/maxDistance", ["largest", "distance"], Format::Share(4)),
    ]
}

fn frames(found: &MeshMeasures) -> Table {
    let mut columns = distances();
    columns.extend([
        column("/worstVertex", ["at", "vertex"], Format::Count),
        column(
            "/meanNormalAngleDeg",
            ["normal", "mean"],
            Format::Degrees(2),
        ),
        column(
            "/maxNormalAngleDeg",
            ["normal", "largest"],
            Format::Degrees(1),
        )
        .at(Level::Wide),
    ]);
    if found.texture_stretch.is_some() {
        let stretch = |of: &str, heading| {
            let key = format!("/textureStretch/{of}");
            column(&key, ["stretch", heading], Format::Number(4)).at(Level::Wide)
        };
        columns.extend([stretch("truth", "truth"), stretch("found", "mine")]);
    }
    let frames = found.examples.iter().enumerate();
    Table {
        names: "frame",
        columns,
        rows: frames
            .map(|(k, example)| Row::new(&example.measures.name, format!("/perFrame/{k}")))
            .collect(),
        ..Table::default()
    }
}

fn vertices(found: &MeshMeasures) -> Table {
    let mut columns = distances();
    columns.push(column("/worstExample", ["in", "frame"], Format::Count));
    let vertices = found.vertices.iter();
    Table {
        names: "vertex",
        columns,
        rows: vertices
            .map(|v| Row::new(v.vertex.to_string(), format!("/perVertex/{}", v.vertex)))
            .collect(),
        ..Table::default()
    }
}
