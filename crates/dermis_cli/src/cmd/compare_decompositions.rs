//! `dermis compare --decompose`: ways to make a mesh animation smaller, side by side.

use std::io::Write;

use anyhow::{Context, bail};
use dermis::compare::{Decomposer, DecompositionOptions, compare_decompositions};
use dermis::fit::ComparatorOptions;

use crate::Outcome;
use crate::animation::{ReadAnimation, read_animation};
use crate::args::CompareArgs;
use crate::report;
use crate::talk::Talk;

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
    let ReadAnimation {
        animation, look, ..
    } = read_animation(&inputs.inputs, &inputs.sequence, inputs.fps, false, talk)?;
    let found = compare_decompositions(&animation, &options, &Decomposer::all(), talk)
        .with_context(|| look.path.display().to_string())?;
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
