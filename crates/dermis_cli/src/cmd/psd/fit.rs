//! `dermis psd fit`: all layers of a project as one skin.

use std::io::Write;

use anyhow::{Context, bail};
use dermis::Skin;
use dermis::fit::{Compression, LayerReport, PsdSkin, build_psd, shapes_on_sliders};
use dermis_io::{Document, SkinRecord, WriteOptions};
use serde_json::json;

use crate::Outcome;
use crate::cmd::{SKIN_FILE, output_format};
use crate::psd_args::PsdFitArgs;
use crate::psd_project::Project;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &PsdFitArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    output_format(&args.output, SKIN_FILE, "a skin is")?;
    let project = Project::read(&args.project, talk)?;
    if project.layers.iter().all(|layer| layer.sculpts.is_empty()) {
        bail!(
            "{}: has no sculpts yet: record one with `dermis psd add`",
            args.project.display()
        );
    }
    let layers = project.psd_layers(project.layers.len())?;
    let built =
        build_psd(&project.skin, &layers).with_context(|| args.project.display().to_string())?;
    talk.check_stopped()?;
    let document = document(&project, shapes_on_sliders(&built.skin)?);
    dermis_io::write(&args.output, &document, &WriteOptions::default())?;
    for line in moved_sculpts(&project, &built) {
        talk.remark(format!("warning: {line}"));
    }
    for layer in &built.layers {
        if let Some(compression) = &layer.compression {
            talk.remark(compression_text(&layer.name, compression));
        }
    }
    talk.remark(format!("wrote {}", args.output.display()));
    let text = match args.json {
        true => serde_json::to_string_pretty(&json(&project, &built))
            .context("numbers and names are plain JSON")?,
        false => table(&project, &built),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")?;
    Ok(Outcome::Done)
}

/// The base file with the new skin. What was measured of the base is not true of it.
fn document(project: &Project, skin: Skin) -> Document {
    let record = project.base.record.clone().map(|record| SkinRecord {
        method: "psd".to_owned(),
        training: None,
        held_out: None,
        bounds: None,
        ..record
    });
    Document {
        record,
        skin: Some(skin),
        skeleton: None,
        frames: Vec::new(),
        frame_poses: Vec::new(),
        ..project.base.clone()
    }
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

/// One sentence for each sculpt that is not met any more.
pub(super) fn moved_sculpts(project: &Project, built: &PsdSkin) -> Vec<String> {
    let mut lines = Vec::new();
    for (layer, settings) in built.layers.iter().zip(&project.layers) {
        // What compression may miss was asked for.
        let compress = settings.settings.compress.unwrap_or(0.0);
        let accepted = project.tolerance() + compress;
        for sculpt in layer.sculpts.iter().filter(|s| s.missed > accepted) {
            lines.push(match &sculpt.moved_by {
                Some(other) => format!(
                    "sculpt {} of layer {} is moved by {:.3e} by layer {other}, whose controls \
                     cannot tell its pose from their own",
                    sculpt.name, layer.name, sculpt.missed
                ),
                None => format!(
                    "sculpt {} of layer {} is missed by {:.3e}",
                    sculpt.name, layer.name, sculpt.missed
                ),
            });
        }
    }
    lines
}

/// The farthest that a sculpt of a layer is missed, in rest space.
fn worst_missed(layer: &LayerReport) -> f64 {
    layer.sculpts.iter().map(|s| s.missed).fold(0.0, f64::max)
}

fn control_names(project: &Project, layer: usize) -> Vec<&str> {
    let layer = &project.layers[layer];
    project
        .controls_of(layer)
        .map(|c| c.name.as_str())
        .collect()
}

fn table(project: &Project, built: &PsdSkin) -> String {
    let mut text = format!(
        "{:<20} {:<24} {:>8} {:>13} {:>10} {:>13}",
        "layer", "controls", "sculpts", "coefficients", "condition", "worst missed"
    );
    for (number, layer) in built.layers.iter().enumerate() {
        text += &format!(
            "\n{:<20} {:<24} {:>8} {:>13} {:>10.1} {:>13.1e}",
            layer.name,
            control_names(project, number).join(", "),
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
