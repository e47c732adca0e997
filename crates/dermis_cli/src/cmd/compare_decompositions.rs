//! `dermis compare --decompose`: ways to make a mesh animation smaller, side by side.

use std::io::Write;

use anyhow::{Context, bail};
use dermis::compare::{Decomposer, DecompositionOptions, compare_decompositions};
use dermis::fit::ComparatorOptions;
use dermis::{MeshAnimation, MeshClip};
use dermis_io::Document;

use super::read_inputs;
use crate::Outcome;
use crate::args::CompareArgs;
use crate::report;
use crate::talk::Talk;

/// Frames per second of meshes that come without.
const FRAMES_PER_SECOND: f64 = 24.0;

pub(super) fn run(args: &CompareArgs, bone_count: usize, talk: &Talk) -> anyhow::Result<Outcome> {
    let defaults = DecompositionOptions::default();
    let options = DecompositionOptions {
        size: ComparatorOptions {
            bone_count,
            max_influences: args.max_influences,
        },
        eigen_rank: args.rank.unwrap_or(defaults.eigen_rank),
    };
    let inputs = &args.examples;
    let document = read_inputs(&inputs.inputs, &inputs.sequence, talk)?;
    let path = document.path.display().to_string();
    let animation = mesh_animation(document, inputs.fps)?;
    let found = compare_decompositions(&animation, &options, &Decomposer::all(), talk)
        .with_context(|| path)?;
    if let Some(path) = &args.report {
        let command = report::command_line();
        let page = report::decompositions_html(&animation, &found, args.up, &command, talk)?;
        talk.check_stopped()?;
        dermis_io::write_file(path, page.as_bytes())?;
    }
    talk.clear();
    let text = match args.json {
        true => report::decompositions_json(&animation, &found)?,
        false => report::decompositions_table(&animation, &found),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")?;
    if let Some(path) = &args.report {
        talk.remark(format!("wrote {}", path.display()));
    }
    // A table of reasons is no comparison.
    match found.rows.iter().find_map(|row| row.outcome.as_ref().err()) {
        Some(reason) if found.decomposed().next().is_none() => {
            bail!("the animation could not be decomposed: {reason}")
        }
        _ => Ok(Outcome::Done),
    }
}

/// The meshes of a file as one motion; its rest mesh is no frame of it.
fn mesh_animation(document: Document, fps: Option<f64>) -> anyhow::Result<MeshAnimation> {
    let path = document.path.display().to_string();
    if document.frames.is_empty() {
        bail!(match document.clips.is_empty() {
            true => format!("{path}: expected a mesh that moves, found a single one"),
            false => format!(
                "{path}: expected meshes, found clips of a skeleton; `dermis convert` makes meshes of \
                 a clip"
            ),
        });
    }
    let name = document
        .path
        .file_stem()
        .map(|name| name.to_string_lossy().into_owned());
    let clip = MeshClip {
        name: name.unwrap_or_default(),
        frames_per_second: fps
            .or(document.frames_per_second)
            .unwrap_or(FRAMES_PER_SECOND),
        frames: document
            .frames
            .into_iter()
            .map(|frame| frame.positions)
            .collect(),
    };
    MeshAnimation::new(document.mesh, vec![clip]).context(path)
}
