//! `dermis psd check`: what a project has, and what will not look as it was sculpted.

use std::io::Write;

use anyhow::Context;
use dermis::fit::{PsdFinding, PsdLayer, check_psd};
use serde_json::{Value, json};

use crate::Outcome;
use crate::psd_args::CheckArgs;
use crate::psd_project::{Layer, NamedControl, Project, SculptEntry, falloff_text, pose};
use crate::talk::{Talk, plural};

/// A sentence to act on.
struct Warning {
    /// What kind it is, for programs.
    kind: &'static str,
    layer: Option<String>,
    sculpt: Option<String>,
    text: String,
}

pub(crate) fn run(args: &CheckArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let project = Project::read(&args.project, talk)?;
    let mut warnings = Vec::new();
    let layers = readable_layers(&project, &mut warnings);
    match check_psd(&project.skin, &layers, project.tolerance()) {
        Ok(findings) => warnings.extend(findings.iter().map(|f| warning(&project, f))),
        Err(error) => warnings.push(Warning {
            kind: "unsolvable",
            layer: None,
            sculpt: None,
            text: format!("the layers cannot be solved: {error}"),
        }),
    }
    warnings.extend(idle_controls(&project));
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

/// The layers with the sculpts whose shapes can be read; the others are warned about.
fn readable_layers(project: &Project, warnings: &mut Vec<Warning>) -> Vec<PsdLayer> {
    let mut layers = Vec::new();
    for layer in &project.layers {
        let mut readable = layer.settings.clone();
        for entry in &layer.sculpts {
            match project.sculpt(layer, entry) {
                Ok(sculpt) => readable.sculpts.push(sculpt),
                Err(error) => warnings.push(Warning {
                    kind: "shape",
                    layer: Some(layer.settings.name.clone()),
                    sculpt: Some(entry.name.clone()),
                    // The first part says where the sculpt is, which the warning does anyway.
                    text: error
                        .chain()
                        .skip(1)
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .join(": "),
                }),
            }
        }
        layers.push(readable);
    }
    layers
}

fn warning(project: &Project, finding: &PsdFinding) -> Warning {
    let new = |kind, layer: &str, sculpt: Option<&str>, text| Warning {
        kind,
        layer: Some(layer.to_owned()),
        sculpt: sculpt.map(ToOwned::to_owned),
        text,
    };
    let advice = |layer: &str, poses: &[String; 2], factor: f64| {
        advice(project, layer, poses, factor).map_or(String::new(), |text| format!("; {text}"))
    };
    match finding {
        PsdFinding::Overlap {
            layer,
            condition,
            poses,
            falloff_factor,
        } => new(
            "overlap",
            layer,
            None,
            format!(
                "falloffs overlap too much (condition {condition:.1e}), most at {} and {}{}",
                poses[0],
                poses[1],
                advice(layer, poses, *falloff_factor)
            ),
        ),
        PsdFinding::Overshoot {
            layer,
            sculpt,
            coefficient,
            poses,
            crowded,
            falloff_factor,
        } => new(
            "overshoot",
            layer,
            Some(sculpt),
            format!(
                "its shape is at {coefficient:.2} between {} and {}, out of 0 to 1{}",
                poses[0],
                poses[1],
                advice(layer, crowded, *falloff_factor)
            ),
        ),
        PsdFinding::Hole {
            layer,
            poses,
            share,
            sum,
            expected,
            falloff_factor,
        } => new(
            "hole",
            layer,
            None,
            format!(
                "{:.0}% of the way from {} to {} only {sum:.2} of the shapes is there, where a \
                 straight line has {expected:.2}{}",
                100.0 * share,
                poses[0],
                poses[1],
                advice(layer, poses, *falloff_factor)
            ),
        ),
        PsdFinding::Missed {
            layer,
            sculpt,
            distance,
            moved_by,
        } => new(
            "missed",
            layer,
            Some(sculpt),
            match moved_by {
                Some(other) => format!(
                    "it is not met any more: layer {other} moves it by {distance:.3e}; give that \
                     layer a control that tells the poses apart, or sculpt again on top"
                ),
                None => format!("it is missed by {distance:.3e}"),
            },
        ),
        PsdFinding::Flattened {
            layer,
            sculpt,
            vertices,
        } => new(
            "flattened",
            layer,
            Some(sculpt),
            format!(
                "the base flattens {vertices} of its vertices in this pose, so they cannot be \
                 where they were sculpted; another base (dual quaternions, helper bones) may help"
            ),
        ),
        PsdFinding::Empty { layer, sculpt } => new(
            "empty",
            layer,
            Some(sculpt),
            "it moves no vertex: remove it, or sculpt it again".to_owned(),
        ),
        // Kinds that a later library may have.
        other => Warning {
            kind: "other",
            layer: None,
            sculpt: None,
            text: format!("{other:?}"),
        },
    }
}

/// Falloffs that would do, for the sculpts among two poses.
fn advice(project: &Project, layer: &str, poses: &[String; 2], factor: f64) -> Option<String> {
    let layer = (project.layers.iter()).find(|other| other.settings.name == layer)?;
    let controls: Vec<&NamedControl> = project.controls_of(layer).collect();
    let named = |entry: &&SculptEntry| poses.contains(&entry.name);
    let tries: Vec<String> = (layer.sculpts.iter().filter(named))
        .map(|entry| {
            let falloffs: Vec<f64> = (entry.falloffs.iter().zip(&controls))
                .map(|(f, control)| {
                    // Two digits are enough for advice.
                    let shown = control.to_shown(f * factor);
                    let unit = 10f64.powf(shown.log10().floor() - 1.0);
                    control.coordinate((shown / unit).round() * unit)
                })
                .collect();
            let text = falloff_text(&falloffs, &controls).replace('=', " = ");
            format!("{{ {} }} for {}", text.replace(',', ", "), entry.name)
        })
        .collect();
    (!tries.is_empty()).then(|| format!("try falloff = {}", tries.join(" and ")))
}

fn idle_controls(project: &Project) -> impl Iterator<Item = Warning> {
    let is_idle = |c: &usize| !project.layers.iter().any(|l| l.controls.contains(c));
    let idle = (0..project.controls.len()).filter(is_idle);
    idle.map(|c| Warning {
        kind: "control",
        layer: None,
        sculpt: None,
        text: format!("control {}: no layer uses it", project.controls[c].name),
    })
}

impl Warning {
    fn sentence(&self) -> String {
        let place: Vec<String> = [("layer", &self.layer), ("sculpt", &self.sculpt)]
            .into_iter()
            .filter_map(|(what, name)| name.as_ref().map(|name| format!("{what} {name}")))
            .collect();
        match place.is_empty() {
            true => format!("warning: {}", self.text),
            false => format!("warning: {}: {}", place.join(", "), self.text),
        }
    }
}

/// How many vertices a sculpt moves, when its shape could be read.
fn vertices(layer: &PsdLayer, entry: &SculptEntry) -> Option<usize> {
    let mut sculpts = layer.sculpts.iter();
    let found = sculpts.find(|sculpt| sculpt.name == entry.name);
    found.map(|sculpt| sculpt.shape.len())
}

fn text(project: &Project, layers: &[PsdLayer], warnings: &[Warning]) -> String {
    let mut text = format!(
        "{}: {} on {}",
        project.path.display(),
        plural(layers.len(), "layer"),
        project.base.path.display()
    );
    for control in &project.controls {
        text += &format!(
            "\ncontrol {:<18} {}",
            control.name,
            control.description(&project.skin)
        );
    }
    for (layer, read) in project.layers.iter().zip(layers) {
        text += &format!(
            "\nlayer {:<20} {}",
            layer.settings.name,
            names(project, layer).join(", ")
        );
        for entry in &layer.sculpts {
            let count = vertices(read, entry).map_or("?".to_owned(), |count| count.to_string());
            text += &format!(
                "\n  {:<24} at {:<24} falloff {:<24} {count} vertices",
                entry.name,
                pose::to_text(&project.controls, &entry.at),
                falloff_text(
                    &entry.falloffs,
                    &project.controls_of(layer).collect::<Vec<_>>()
                ),
            );
        }
    }
    for warning in warnings {
        text += &format!("\n{}", warning.sentence());
    }
    if warnings.is_empty() {
        text += "\nnothing to warn about";
    }
    text
}

fn names<'a>(project: &'a Project, layer: &'a Layer) -> Vec<&'a str> {
    project
        .controls_of(layer)
        .map(|c| c.name.as_str())
        .collect()
}

fn json(project: &Project, layers: &[PsdLayer], warnings: &[Warning]) -> Value {
    let listed: Vec<Value> = (project.layers.iter().zip(layers))
        .map(|(layer, read)| {
            let controls: Vec<&NamedControl> = project.controls_of(layer).collect();
            let sculpts: Vec<Value> = (layer.sculpts.iter())
                .map(|entry| {
                    json!({
                        "name": entry.name,
                        "at": pose::to_text(&project.controls, &entry.at),
                        "falloff": falloff_text(&entry.falloffs, &controls),
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
