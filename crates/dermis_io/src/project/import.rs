//! All shapes of a face at once, each with a slider of its own.

use std::path::PathBuf;

use dermis::document::free_name;
use dermis::skin::{Coefficient, Correction, Delta};
use glam::DVec3;

use super::edit::{self, NewSculpt};
use super::error::{Placed, ProjectError, ProjectFault};
use super::text::SUPERPOSITION;
use super::{MovedSculpt, Project, all_sculpts, controls, pose};
use crate::{Document, Frame};

/// The layer of imported shapes unless one is named.
const LAYER: &str = "shapes";

/// What became of the shapes of a file.
#[derive(Debug, Clone)]
pub struct ImportedShapes {
    /// The new layer, which adds them up.
    pub layer: String,
    /// The control of each shape that was taken.
    pub controls: Vec<String>,
    /// Shapes that were not taken.
    pub skipped: Vec<SkippedShape>,
    /// Sculpts that are not met with them.
    pub moved: Vec<MovedSculpt>,
}

/// A shape that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedShape {
    /// Its name in the file.
    pub name: String,
    /// Why, after the name: "moves nothing".
    pub reason: &'static str,
}

impl std::fmt::Display for SkippedShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

/// A shape as a file has it.
struct FoundShape {
    name: String,
    /// In rest space, only vertices that move.
    shape: Vec<Delta<DVec3>>,
}

/// A shape with the slider that switches it on.
struct Taken {
    /// Name of the control.
    control: String,
    /// Name of the slider: that of the shape in its file.
    slider: String,
    /// Whether the project has the control already.
    is_there: bool,
    shape: Vec<Delta<DVec3>>,
}

impl Project {
    /// Takes the morph targets of a file, or its frames: each becomes a slider, and a sculpt where the slider is at
    /// 1, in a new layer that adds them up.
    ///
    /// What moves nothing, or is there already, is skipped. The project is in memory until it is
    /// [saved](Self::save).
    ///
    /// # Errors
    /// [`ProjectFault::OtherMesh`], [`ProjectFault::NothingToImport`], and when the layers cannot be solved with the
    /// shapes. The project is as it was then.
    pub fn import_targets(
        &mut self,
        file: &Document,
        layer: Option<&str>,
    ) -> Result<ImportedShapes, ProjectError> {
        let layer = layer_name(layer, self).map_err(|placed| placed.in_file(&self.path))?;
        self.check_vertex_count(file.mesh.vertex_count(), &file.path)?;
        let found = shapes(file, self).map_err(|placed| placed.in_file(&file.path))?;
        let (taken, skipped) = sorted(found, self);
        if taken.is_empty() {
            let fault = ProjectFault::NothingToImport {
                skipped: skipped.iter().map(ToString::to_string).collect(),
                base: self.base.path.clone(),
            };
            return Err(Placed::from(fault).in_file(&file.path));
        }
        let controls: Vec<String> = taken.iter().map(|t| t.control.clone()).collect();
        let mut changed = self.clone();
        changed.add_taken(&layer, taken)?;
        // What cannot be solved is not kept.
        let built = changed.build()?;
        let moved = changed.moved_sculpts(&built);
        let edit = format!("imported {} shapes as layer {layer}", controls.len());
        changed.edits.push(edit);
        *self = changed;
        Ok(ImportedShapes {
            layer,
            controls,
            skipped,
            moved,
        })
    }

    /// Adds shapes with their sliders as a layer.
    fn add_taken(&mut self, layer: &str, taken: Vec<Taken>) -> Result<(), ProjectError> {
        let new = taken.iter().filter(|t| !t.is_there);
        let sliders: Vec<(&str, &str)> = new
            .map(|t| (t.control.as_str(), t.slider.as_str()))
            .collect();
        let in_project = |fault: ProjectFault| Placed::from(fault).in_file(&self.path);
        let text = edit::with_sliders(self, &sliders).map_err(in_project)?;
        self.set_text(text)?;
        let numbers: Vec<usize> = (taken.iter())
            .filter_map(|t| self.controls.iter().position(|c| c.name == t.control))
            .collect();
        let poses: Vec<_> = (numbers.iter())
            .map(|&c| {
                let mut at = self.at_rest();
                at[c] = vec![1.0];
                at
            })
            .collect();
        let mut names: Vec<String> = Vec::new();
        let mut paths: Vec<PathBuf> = Vec::new();
        for at in &poses {
            let name = edit::sculpt_name(self, at, &names);
            paths.push(edit::shape_path(self, &name, &paths));
            names.push(name);
        }
        let sculpts: Vec<NewSculpt<'_>> = (names.iter().zip(&poses).zip(&paths))
            .map(|((name, at), shape)| NewSculpt {
                name,
                at,
                falloffs: None,
                shape,
            })
            .collect();
        let in_project = |fault: ProjectFault| Placed::from(fault).in_file(&self.path);
        let text =
            edit::with_layer(self, layer, &numbers, SUPERPOSITION, &sculpts).map_err(in_project)?;
        self.set_text(text)?;
        let shapes = taken.into_iter().map(|t| t.shape);
        self.unsaved.extend(paths.into_iter().zip(shapes));
        Ok(())
    }
}

/// A free name for a layer that adds its shapes up.
fn layer_name(asked: Option<&str>, project: &Project) -> Result<String, Placed> {
    let is_taken = |name: &str| project.layers.iter().any(|l| l.settings.name == name);
    let Some(name) = asked else {
        return Ok(free_name(LAYER, is_taken));
    };
    let asked = |fault: ProjectFault| Placed::from(fault).asked(format!("layer {name}"));
    controls::check_long_name(name).map_err(asked)?;
    match is_taken(name) {
        true => Err(asked(ProjectFault::NameOfLayer)),
        false => Ok(name.to_owned()),
    }
}

/// The morph targets of a file, or its frames, as displacements of the base's rest shape.
fn shapes(file: &Document, project: &Project) -> Result<Vec<FoundShape>, Placed> {
    let moved = |(index, value): (usize, DVec3)| {
        (value.length() > project.tolerance()).then_some(Delta {
            index: index as u32,
            value,
        })
    };
    if !file.frames.is_empty() {
        let rest = project.base.mesh.positions();
        let shape = |frame: &Frame| FoundShape {
            name: frame.name.clone(),
            shape: (frame.positions.iter().zip(rest))
                .map(|(to, from)| *to - *from)
                .enumerate()
                .filter_map(moved)
                .collect(),
        };
        return Ok(file.frames.iter().map(shape).collect());
    }
    let Some(skin) = &file.skin else {
        return Ok(Vec::new());
    };
    let posed = skin.posed_coefficient_count();
    let corrections = skin.program.rest_corrections(&skin.skeleton)?;
    let targets = skin.coefficients.iter().zip(corrections).take(posed);
    let shape = |(target, correction): (&Coefficient, Correction<DVec3>)| {
        // Files may list a vertex twice: what players add up is added up here.
        let mut sum = vec![DVec3::ZERO; project.skin.vertex_count()];
        for delta in &correction.deltas {
            sum[delta.index as usize] += delta.value;
        }
        FoundShape {
            name: target.name.clone(),
            shape: sum.into_iter().enumerate().filter_map(moved).collect(),
        }
    };
    Ok(targets.map(shape).collect())
}

/// What is taken, and what is not.
fn sorted(found: Vec<FoundShape>, project: &Project) -> (Vec<Taken>, Vec<SkippedShape>) {
    let mut taken: Vec<Taken> = Vec::new();
    let mut skipped = Vec::new();
    let own_targets = own_targets(project);
    for FoundShape { name, shape } in found {
        let there = project.controls.iter().position(|control| {
            let slider = control.slider(&project.skin);
            slider == Some(name.as_str())
        });
        let reason = match there {
            _ if shape.is_empty() => Some("moves nothing"),
            Some(c) if is_sculpted(project, c) => Some("is sculpted already"),
            _ if own_targets.contains(&name.as_str()) => {
                Some("is a morph target of the base already")
            }
            _ => None,
        };
        if let Some(reason) = reason {
            skipped.push(SkippedShape { name, reason });
            continue;
        }
        let slider = free_name(&name, |name| taken.iter().any(|t| t.slider == name));
        let control = match there {
            Some(c) if slider == name => project.controls[c].name.clone(),
            _ => free_name(&controls::as_name(&slider), |name| {
                taken.iter().any(|t| t.control == name)
                    || project.controls.iter().any(|c| c.name == name)
            }),
        };
        taken.push(Taken {
            control,
            is_there: there.is_some() && slider == name,
            slider,
            shape,
        });
    }
    (taken, skipped)
}

/// Names of the morph targets of the base that move something.
fn own_targets(project: &Project) -> Vec<&str> {
    let skin = &project.skin;
    let corrections = skin.program.rest_corrections(&skin.skeleton);
    let pairs = skin
        .coefficients
        .iter()
        .zip(corrections.unwrap_or_default());
    pairs
        .filter(|(_, correction)| !correction.deltas.is_empty())
        .map(|(target, _)| target.name.as_str())
        .collect()
}

/// Whether a sculpt stands where only this control is at 1.
fn is_sculpted(project: &Project, control: usize) -> bool {
    let mut at = project.at_rest();
    at[control] = vec![1.0];
    all_sculpts(&project.layers).any(|(_, sculpt)| {
        let mut pairs = sculpt.at.iter().zip(&at);
        pairs.all(|(a, b)| pose::is_same(a, b))
    })
}
