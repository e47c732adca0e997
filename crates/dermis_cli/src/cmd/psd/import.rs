//! `dermis psd import`: all shapes of a face at once, each with a slider of its own.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dermis::fit::{PsdLayer, Sculpt, build_psd};
use dermis::skin::Delta;
use dermis_io::Document;
use glam::DVec3;

use crate::Outcome;
use crate::psd_args::ImportArgs;
use crate::psd_project::edit::{self, NewSculpt};
use crate::psd_project::{Project, SUPERPOSITION, controls, pose, shape_file};
use crate::talk::{Talk, plural};

/// The layer of imported shapes unless one is named.
const LAYER: &str = "shapes";

pub(crate) fn run(args: &ImportArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let project = Project::read(&args.project, talk)?;
    let in_project = || args.project.display().to_string();
    let layer = layer_name(args.layer.as_deref(), &project).with_context(in_project)?;
    let document = dermis_io::read(&args.file)?;
    talk.remark_notes(&document);
    let found = shapes(&document, &project).with_context(|| args.file.display().to_string())?;
    let (taken, skipped) = sorted(found, &project);
    if taken.is_empty() {
        bail!(
            "{}: has no shape to take{}: expected morph targets, or frames, that move the base {}",
            args.file.display(),
            reasons(&skipped),
            project.base.path.display()
        );
    }
    let new = Imported::new(&project, &layer, taken).with_context(in_project)?;
    for line in super::fit::moved_sculpts(&new.project, &new.solved()?) {
        talk.remark(format!("warning: {line}"));
    }
    talk.check_stopped()?;
    new.write()?;
    for line in &skipped {
        talk.remark(format!("skipped {line}"));
    }
    let names: Vec<&str> = new.taken.iter().map(|t| t.control.as_str()).collect();
    writeln!(
        std::io::stdout().lock(),
        "layer {layer}: {} with a slider each, {} skipped: {}",
        plural(names.len(), "shape"),
        skipped.len(),
        names.join(", ")
    )
    .context("standard output cannot be written")?;
    Ok(Outcome::Done)
}

/// The first few of the shapes that were skipped, for a sentence.
fn reasons(skipped: &[String]) -> String {
    match skipped {
        [] => String::new(),
        [first @ .., _] if first.len() < 3 => format!(" ({})", skipped.join("; ")),
        _ => format!(
            " ({}; and {} more)",
            skipped[..3].join("; "),
            skipped.len() - 3
        ),
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

/// A free name for a layer that adds its shapes up.
fn layer_name(asked: Option<&str>, project: &Project) -> anyhow::Result<String> {
    let is_taken = |name: &str| project.layers.iter().any(|l| l.settings.name == name);
    match asked {
        Some(name) => {
            controls::check_long_name(name).context("--layer")?;
            if is_taken(name) {
                bail!("--layer {name}: is there already: choose another name");
            }
            Ok(name.to_owned())
        }
        None => Ok(edit::free_name(LAYER, is_taken)),
    }
}

/// The morph targets of a file, or its frames, as displacements of the base's rest shape.
fn shapes(document: &Document, project: &Project) -> anyhow::Result<Vec<FoundShape>> {
    let expected = project.skin.vertex_count();
    let found = document.mesh.vertex_count();
    if found != expected {
        bail!(
            "has {found} vertices, but the base {} has {expected}: expected shapes of the same mesh, none added, \
             removed or reordered",
            project.base.path.display()
        );
    }
    let moved = |(index, value): (usize, DVec3)| {
        (value.length() > project.tolerance()).then_some(Delta {
            index: index as u32,
            value,
        })
    };
    if !document.frames.is_empty() {
        let rest = project.base.mesh.positions();
        let shape = |frame: &dermis_io::Frame| FoundShape {
            name: frame.name.clone(),
            shape: (frame.positions.iter().zip(rest))
                .map(|(to, from)| *to - *from)
                .enumerate()
                .filter_map(moved)
                .collect(),
        };
        return Ok(document.frames.iter().map(shape).collect());
    }
    let Some(skin) = &document.skin else {
        return Ok(Vec::new());
    };
    let posed = skin.posed_coefficient_count();
    let corrections = skin.program.rest_corrections(&skin.skeleton)?;
    let targets = skin.coefficients.iter().zip(corrections).take(posed);
    let shape =
        |(target, correction): (&dermis::skin::Coefficient, dermis::skin::Correction<DVec3>)| {
            // Files may list a vertex twice: what players add up is added up here.
            let mut sum = vec![DVec3::ZERO; expected];
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

/// What is taken, and a few words for each shape that is not.
fn sorted(found: Vec<FoundShape>, project: &Project) -> (Vec<Taken>, Vec<String>) {
    let mut taken: Vec<Taken> = Vec::new();
    let mut skipped = Vec::new();
    for FoundShape { name, shape } in found {
        if shape.is_empty() {
            skipped.push(format!("{name}: moves nothing"));
            continue;
        }
        let there = project.controls.iter().position(|control| {
            let slider = control.slider(&project.skin);
            slider == Some(name.as_str())
        });
        if let Some(c) = there
            && is_sculpted(project, c)
        {
            skipped.push(format!("{name}: is sculpted already"));
            continue;
        }
        let is_own = |at: usize| {
            let own = project
                .skin
                .program
                .rest_corrections(&project.skin.skeleton);
            own.is_ok_and(|own| !own[at].deltas.is_empty())
        };
        let target = project
            .skin
            .coefficients
            .iter()
            .position(|c| c.name == name);
        if target.is_some_and(is_own) {
            skipped.push(format!("{name}: is a morph target of the base already"));
            continue;
        }
        let slider = edit::free_name(&name, |name| taken.iter().any(|t| t.slider == name));
        let control = match there {
            Some(c) if slider == name => project.controls[c].name.clone(),
            _ => edit::free_name(&controls::as_name(&slider), |name| {
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

/// Whether a sculpt stands where only this control is at 1.
fn is_sculpted(project: &Project, control: usize) -> bool {
    let mut at = pose::at_rest(&project.controls);
    at[control] = vec![1.0];
    let mut sculpts = project.layers.iter().flat_map(|layer| &layer.sculpts);
    sculpts.any(|sculpt| {
        let pairs = sculpt.at.iter().zip(&at);
        pairs.into_iter().all(|(a, b)| pose::is_same(a, b))
    })
}

/// A project with the shapes of a file, not written yet.
struct Imported {
    project: Project,
    taken: Vec<Taken>,
    /// Where each of their files goes, as the project names it.
    paths: Vec<PathBuf>,
}

impl Imported {
    fn new(project: &Project, layer: &str, taken: Vec<Taken>) -> anyhow::Result<Self> {
        let new = taken.iter().filter(|t| !t.is_there);
        let sliders: Vec<(&str, &str)> = new
            .map(|t| (t.control.as_str(), t.slider.as_str()))
            .collect();
        let project = project.with_text(edit::with_sliders(project, &sliders)?)?;
        let numbers: Vec<usize> = (taken.iter())
            .map(|t| project.controls.iter().position(|c| c.name == t.control))
            .collect::<Option<_>>()
            .context("the text has the controls that were added to it")?;
        let poses: Vec<_> = (numbers.iter())
            .map(|&c| {
                let mut at = pose::at_rest(&project.controls);
                at[c] = vec![1.0];
                at
            })
            .collect();
        let mut names: Vec<String> = Vec::new();
        let mut paths: Vec<PathBuf> = Vec::new();
        for at in &poses {
            let name = edit::sculpt_name(&project, at, &names);
            paths.push(edit::shape_path(&project, &name, &paths));
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
        let text = edit::with_layer(&project, layer, &numbers, SUPERPOSITION, &sculpts)?;
        Ok(Self {
            project: project.with_text(text)?,
            taken,
            paths,
        })
    }

    /// All layers solved, the new one from memory: what cannot be solved is not written.
    fn solved(&self) -> anyhow::Result<dermis::fit::PsdSkin> {
        let (new, below) = self.project.layers.split_last().context("the new layer")?;
        let mut layers = self.project.psd_layers(below.len())?;
        let sculpt = |(entry, taken): (&crate::psd_project::SculptEntry, &Taken)| Sculpt {
            name: entry.name.clone(),
            pose: self.project.pose(&entry.at),
            falloffs: entry.falloffs.clone(),
            shape: taken.shape.clone(),
        };
        layers.push(PsdLayer {
            sculpts: new.sculpts.iter().zip(&self.taken).map(sculpt).collect(),
            ..new.settings.clone()
        });
        build_psd(&self.project.skin, &layers)
            .with_context(|| self.project.path.display().to_string())
    }

    /// The shapes first, and the project last: it never names a file that is not there. When a shape cannot be
    /// written, those before it are taken away again.
    fn write(&self) -> anyhow::Result<()> {
        let vertex_count = self.project.skin.vertex_count();
        let files: Vec<PathBuf> = self.paths.iter().map(|p| self.project.beside(p)).collect();
        let result = (files.iter().zip(&self.taken))
            .try_for_each(|(path, taken)| {
                let text = shape_file::to_text(&taken.shape, vertex_count);
                dermis_io::write_file(path, text.as_bytes())
            })
            .and_then(|()| dermis_io::write_file(&self.project.path, self.project.text.as_bytes()));
        if result.is_err() {
            files.iter().for_each(|path| remove(path));
        }
        Ok(result?)
    }
}

/// Takes a file away that is of no use; one that is not there is no trouble.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}
