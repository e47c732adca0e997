//! What of a project will not look as it was sculpted.

use dermis::fit::{PsdFinding, PsdLayer, check_psd};

use super::error::ProjectError;
use super::falloff::falloff_text;
use super::{NamedControl, Project, SculptEntry};

/// A sentence to act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectWarning {
    /// What kind it is, for programs: `overlap`, `overshoot`, `hole`, `missed`, `flattened`, `empty` of the
    /// solved layers; `shape` that cannot be read, `control` that no layer uses, `unsolvable` layers.
    pub kind: &'static str,
    /// The layer that it is about.
    pub layer: Option<String>,
    /// The sculpt that it is about.
    pub sculpt: Option<String>,
    /// What is wrong and, where that is known, what would help.
    pub text: String,
}

impl Project {
    /// Finds what will not look as it was sculpted, and gives the layers with the shapes that could be read.
    pub fn check(&self) -> (Vec<PsdLayer>, Vec<ProjectWarning>) {
        let mut warnings = Vec::new();
        let layers = readable_layers(self, &mut warnings);
        match check_psd(&self.skin, &layers, self.tolerance()) {
            Ok(findings) => warnings.extend(findings.iter().map(|f| warning(self, f))),
            Err(error) => warnings.push(ProjectWarning {
                kind: "unsolvable",
                layer: None,
                sculpt: None,
                text: format!("the layers cannot be solved: {error}"),
            }),
        }
        warnings.extend(idle_controls(self));
        (layers, warnings)
    }
}

/// The layers with the sculpts whose shapes can be read; the others are warned about.
fn readable_layers(project: &Project, warnings: &mut Vec<ProjectWarning>) -> Vec<PsdLayer> {
    let mut layers = Vec::new();
    for layer in &project.layers {
        let mut readable = layer.settings.clone();
        for entry in &layer.sculpts {
            match project.sculpt(layer, entry) {
                Ok(sculpt) => readable.sculpts.push(sculpt),
                Err(error) => warnings.push(ProjectWarning {
                    kind: "shape",
                    layer: Some(layer.settings.name.clone()),
                    sculpt: Some(entry.name.clone()),
                    text: match error {
                        // Where the sculpt is, the warning says anyway.
                        ProjectError::Content { fault, .. } => fault.to_string(),
                        error => error.to_string(),
                    },
                }),
            }
        }
        layers.push(readable);
    }
    layers
}

fn warning(project: &Project, finding: &PsdFinding) -> ProjectWarning {
    let new = |kind, layer: &str, sculpt: Option<&str>, text| ProjectWarning {
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
        other => ProjectWarning {
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
    let controls: Vec<&NamedControl> = project.controls_of(layer);
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

fn idle_controls(project: &Project) -> impl Iterator<Item = ProjectWarning> {
    let is_idle = |c: &usize| !project.layers.iter().any(|l| l.controls.contains(c));
    let idle = (0..project.controls.len()).filter(is_idle);
    idle.map(|c| ProjectWarning {
        kind: "control",
        layer: None,
        sculpt: None,
        text: format!("control {}: no layer uses it", project.controls[c].name),
    })
}

impl std::fmt::Display for ProjectWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place: Vec<String> = [("layer", &self.layer), ("sculpt", &self.sculpt)]
            .into_iter()
            .filter_map(|(what, name)| name.as_ref().map(|name| format!("{what} {name}")))
            .collect();
        match place.is_empty() {
            true => write!(f, "{}", self.text),
            false => write!(f, "{}: {}", place.join(", "), self.text),
        }
    }
}
