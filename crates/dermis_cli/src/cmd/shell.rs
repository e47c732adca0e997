//! `dermis completions` and `dermis man`: what shells and `man` know of the program.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_mangen::Man;
use dermis_io::Transaction;

use crate::Outcome;
use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::output_file::send;
use crate::talk::{Talk, plural, shown};

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dermis", &mut script);
    send(&script)?;
    Ok(Outcome::Done)
}

pub(crate) fn man(args: &ManArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    match &args.folder {
        None => send(&page(&all)?)?,
        Some(folder) => {
            let mut files = Transaction::new();
            let count = add_pages(&mut files, folder, &all)?;
            files.commit()?;
            let pages = plural(count, "page");
            talk.remark(format!("wrote {pages} to {}", shown(folder)));
        }
    }
    Ok(Outcome::Done)
}

/// Adds the page of a command and those of its commands, and counts them.
fn add_pages(
    files: &mut Transaction,
    folder: &Path,
    command: &clap::Command,
) -> anyhow::Result<usize> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    files.add(&folder.join(format!("{name}.1")), &page(command)?)?;
    let mut count = 1;
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        count += add_pages(files, folder, below)?;
    }
    Ok(count)
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let man = Man::new(command.clone());
    man.render(&mut bytes).context("a page is made in memory")?;
    Ok(bytes)
}
