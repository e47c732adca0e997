//! `dermis psd import`: all shapes of a face at once, each with a slider of its own.

use std::io::Write;

use anyhow::Context;

use super::{read_project, warn_of_moved};
use crate::Outcome;
use crate::psd_args::ImportArgs;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &ImportArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let mut project = read_project(&args.project, talk)?;
    let document = dermis_io::read(&args.file)?;
    talk.remark_notes(&document);
    let imported = project.import_targets(&document, args.layer.as_deref())?;
    warn_of_moved(&imported.moved, talk);
    talk.check_stopped()?;
    project.save()?;
    for shape in &imported.skipped {
        talk.remark(format!("skipped {shape}"));
    }
    writeln!(
        std::io::stdout().lock(),
        "layer {}: {} with a slider each, {} skipped: {}",
        imported.layer,
        plural(imported.controls.len(), "shape"),
        imported.skipped.len(),
        imported.controls.join(", ")
    )
    .context("standard output cannot be written")?;
    Ok(Outcome::Done)
}
