//! `dermis psd remove`: shapes or a layer taken out of a project.

use std::io::Write;

use anyhow::Context;
use dermis_io::project::RemovedShapes;

use super::{read_project, warn_of_moved};
use crate::Outcome;
use crate::psd_args::RemoveArgs;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &RemoveArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let mut project = read_project(&args.project, talk)?;
    let removed = match &args.layer {
        Some(layer) => vec![project.remove_layer(layer)?],
        None => (args.shapes.iter())
            .map(|name| project.remove_sculpt(name))
            .collect::<Result<_, _>>()?,
    };
    talk.check_stopped()?;
    project.save()?;
    if let Some(last) = removed.last() {
        warn_of_moved(&last.moved, talk);
    }
    let mut out = std::io::stdout().lock();
    for one in &removed {
        writeln!(out, "{}", sentence(one)).context("standard output cannot be written")?;
    }
    let unused = removed.iter().flat_map(|one| &one.unused);
    let unused: Vec<String> = unused.map(|path| path.display().to_string()).collect();
    if !unused.is_empty() {
        talk.remark(format!(
            "note: {} {} left where {}, and the project does not use {} any more",
            unused.join(", "),
            if unused.len() == 1 { "is" } else { "are" },
            if unused.len() == 1 {
                "it is"
            } else {
                "they are"
            },
            if unused.len() == 1 { "it" } else { "them" },
        ));
    }
    talk.remark(format!(
        "`dermis psd undo {}` takes this back",
        args.project.display()
    ));
    Ok(Outcome::Done)
}

fn sentence(removed: &RemovedShapes) -> String {
    let RemovedShapes {
        layer,
        sculpts,
        left,
        ..
    } = removed;
    match left {
        None => format!(
            "removed layer {layer} with {}",
            plural(sculpts.len(), "shape")
        ),
        Some(left) => format!(
            "removed {} of layer {layer}, which has {} left",
            sculpts.join(", "),
            plural(*left, "shape")
        ),
    }
}
