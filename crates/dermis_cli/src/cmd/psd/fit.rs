//! `dermis psd fit`: all layers of a project as one skin.

use std::io::Write;

use anyhow::Context;
use dermis::fit::{Compression, LayerReport, PsdSkin};
use dermis_io::WriteOptions;
use dermis_io::project::{Project, SculptedDocument};
use serde_json::json;

use super::{check_output, read_project, warn_of_moved};
use crate::Outcome;
use crate::cmd::{SKIN_FILE, output_format};
use crate::psd_args::PsdFitArgs;
use crate::report::NameColumn;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &PsdFitArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    output_format(&args.output, SKIN_FILE, "a skin is")?;
    let project = read_project(&args.project, talk)?;
    check_output(Some(&args.output), &project, talk)?;
    let SculptedDocument {
        document,
        built,
        moved,
    } = project.document()?;
    talk.check_stopped()?;
    dermis_io::write(&args.output, &document, &WriteOptions::default())?;
    warn_of_moved(&moved, talk);
    for layer in &built.layers {
        if let Some(compression) = &layer.compression {
            talk.remark(compression_text(&layer.name, compression));
        }
    }
    talk.remark_written(&[&args.output]);
    let text = match args.json {
        true => serde_json::to_string_pretty(&json(&project, &built))
            .context("numbers and names are plain JSON")?,
        false => table(&project, &built),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")?;
    Ok(Outcome::Done)
}

/// What became of `compress`, with bytes before and after.
fn compression_text(layer: &str, compression: &Compression) -> String {
    let Compression {
        shapes,
        sums,
        bytes,
        sum_bytes,
    } = compression;
    match compression.is_used() {
        true => format!(
            "layer {layer}: {} as {} of them, {sum_bytes} bytes instead of {bytes}",
            plural(*shapes, "shape"),
            plural(*sums, "sum")
        ),
        false => format!(
            "layer {layer}: not compressed: {} of {bytes} bytes would become {} of {sum_bytes} bytes; each of these \
             moves every vertex that any shape moves",
            plural(*shapes, "shape"),
            plural(*sums, "sum")
        ),
    }
}

/// The farthest that a sculpt of a layer is missed, in rest space.
fn worst_missed(layer: &LayerReport) -> f64 {
    layer.sculpts.iter().map(|s| s.missed).fold(0.0, f64::max)
}

fn control_names(project: &Project, layer: usize) -> Vec<&str> {
    let controls = project.controls_of(&project.layers()[layer]).into_iter();
    controls.map(|c| c.name.as_str()).collect()
}

fn table(project: &Project, built: &PsdSkin) -> String {
    let controls: Vec<String> = (0..built.layers.len())
        .map(|number| control_names(project, number).join(", "))
        .collect();
    let layer_names = built.layers.iter().map(|layer| layer.name.as_str());
    let layers = NameColumn::of(layer_names.chain(["layer"]));
    let control_lists = NameColumn::of(controls.iter().map(String::as_str).chain(["controls"]));
    let mut text = format!(
        "{}{}{:>8} {:>13} {:>10} {:>13}",
        layers.cell("layer"),
        control_lists.cell("controls"),
        "sculpts",
        "coefficients",
        "condition",
        "worst missed"
    );
    for (layer, controls) in built.layers.iter().zip(&controls) {
        text += &format!(
            "\n{}{}{:>8} {:>13} {:>10.1} {:>13.1e}",
            layers.cell(&layer.name),
            control_lists.cell(controls),
            layer.sculpts.len(),
            layer.coefficients.len(),
            layer.condition,
            worst_missed(layer)
        );
    }
    text
}

fn json(project: &Project, built: &PsdSkin) -> serde_json::Value {
    let layers: Vec<_> = (built.layers.iter().enumerate())
        .map(|(number, layer)| {
            let sculpts: Vec<_> = (layer.sculpts.iter())
                .map(|sculpt| {
                    json!({
                        "name": sculpt.name,
                        "vertices": sculpt.vertices,
                        "missed": sculpt.missed,
                        "movedBy": sculpt.moved_by,
                    })
                })
                .collect();
            json!({
                "name": layer.name,
                "controls": control_names(project, number),
                "coefficients": layer.coefficients.len(),
                "compression": layer.compression.map(|c| json!({
                    "used": c.is_used(),
                    "shapes": c.shapes,
                    "sums": c.sums,
                    "bytes": c.bytes,
                    "sumBytes": c.sum_bytes,
                })),
                "condition": layer.condition,
                "worstMissed": worst_missed(layer),
                "held": layer.held,
                "sculpts": sculpts,
            })
        })
        .collect();
    json!({ "layers": layers, "unit": "model units, in rest space" })
}
