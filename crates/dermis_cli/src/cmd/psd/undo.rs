//! `dermis psd undo`: the last edit of a project taken back.

use std::io::Write;

use anyhow::Context;
use dermis_io::project::{UndoneEdit, undo_edit};

use crate::Outcome;
use crate::psd_args::UndoArgs;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &UndoArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let UndoneEdit { what, left } = undo_edit(&args.project, talk.is_forced())?;
    writeln!(
        std::io::stdout().lock(),
        "took back: {what}; {} before it can be undone",
        plural(left, "edit")
    )
    .context("standard output cannot be written")?;
    Ok(Outcome::Done)
}
