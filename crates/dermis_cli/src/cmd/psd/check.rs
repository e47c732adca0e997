//! `dermis psd check`: what a project has, and what will not look as it was sculpted.

use std::io::Write;

use anyhow::Context;
use dermis::fit::PsdLayer;
use dermis_io::project::{Layer, Project, ProjectWarning, SculptEntry};
use serde_json::{Value, json};

use super::read_project;
use crate::Outcome;
use crate::psd_args::CheckArgs;
use crate::report::NameColumn;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &CheckArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let project = read_project(&args.project, talk)?;
    let (layers, warnings) = project.check();
    let text = match args.json {
        true => serde_json::to_string_pretty(&json(&project, &layers, &warnings))
            .context("numbers and names are plain JSON")?,
        false => text(&project, &layers, &warnings),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")?;
    Ok(match args.strict && !warnings.is_empty() {
        true => Outcome::ToleranceMissed,
        false => Outcome::Done,
    })
}

/// How many vertices a sculpt moves, when its shape could be read.
fn vertices(layer: &PsdLayer, entry: &SculptEntry) -> Option<usize> {
    let mut sculpts = layer.sculpts.iter();
    let found = sculpts.find(|sculpt| sculpt.name == entry.name);
    found.map(|sculpt| sculpt.shape.len())
}

fn text(project: &Project, layers: &[PsdLayer], warnings: &[ProjectWarning]) -> String {
    let mut text = format!(
        "{}: {} on {}",
        project.path().display(),
        plural(layers.len(), "layer"),
        project.base().path.display()
    );
    let column = NameColumn::of(project.controls().iter().map(|c| c.name.as_str()));
    for control in project.controls() {
        let name = column.cell(&control.name);
        let description = control.description(project.skin());
        text += &format!("\ncontrol {name}{description}");
    }
    let all_layers = || project.layers().iter().zip(layers);
    let column = NameColumn::of(all_layers().map(|(layer, _)| layer.settings.name.as_str()));
    // A row for every sculpt, as columns of cells.
    let cells = |layer: &Layer, entry: &SculptEntry| {
        [
            entry.name.clone(),
            format!("at {}", project.pose_text(&entry.at)),
            format!("falloff {}", project.falloff_text(layer, &entry.falloffs)),
        ]
    };
    let rows: Vec<[String; 3]> = all_layers()
        .flat_map(|(layer, _)| layer.sculpts.iter().map(move |entry| cells(layer, entry)))
        .collect();
    let columns = [0, 1, 2].map(|n| NameColumn::of(rows.iter().map(|row| row[n].as_str())));
    let mut rows = rows.iter();
    for (layer, read) in all_layers() {
        let name = column.cell(&layer.settings.name);
        text += &format!("\nlayer {name}{}", names(project, layer).join(", "));
        for (entry, row) in layer.sculpts.iter().zip(&mut rows) {
            let count = vertices(read, entry).map_or("?".to_owned(), |count| count.to_string());
            let cells: String = columns
                .iter()
                .zip(row)
                .map(|(c, cell)| c.cell(cell))
                .collect();
            text += &format!("\n  {cells}{count} vertices");
        }
    }
    for warning in warnings {
        text += &format!("\nwarning: {warning}");
    }
    if warnings.is_empty() {
        text += "\nnothing to warn about";
    }
    text
}

fn names<'a>(project: &'a Project, layer: &'a Layer) -> Vec<&'a str> {
    let controls = project.controls_of(layer).into_iter();
    controls.map(|c| c.name.as_str()).collect()
}

fn json(project: &Project, layers: &[PsdLayer], warnings: &[ProjectWarning]) -> Value {
    let listed: Vec<Value> = (project.layers().iter().zip(layers))
        .map(|(layer, read)| {
            let sculpts: Vec<Value> = (layer.sculpts.iter())
                .map(|entry| {
                    json!({
                        "name": entry.name,
                        "at": project.pose_text(&entry.at),
                        "falloff": project.falloff_text(layer, &entry.falloffs),
                        "shape": entry.shape,
                        "vertices": vertices(read, entry),
                    })
                })
                .collect();
            json!({
                "name": layer.settings.name,
                "controls": names(project, layer),
                "sculpts": sculpts,
            })
        })
        .collect();
    let warnings: Vec<Value> = (warnings.iter())
        .map(|w| json!({ "kind": w.kind, "layer": w.layer, "sculpt": w.sculpt, "text": w.text }))
        .collect();
    json!({ "layers": listed, "warnings": warnings })
}
