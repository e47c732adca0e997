//! `dermis compare --decompose`: ways to make a mesh animation smaller, side by side.

use anyhow::{Context, bail};
use dermis::compare::ComparatorOptions;
use dermis::compare::{Decomposer, DecompositionOptions, compare_decompositions};
use dermis::document::AssembledAnimation;
use dermis_io::{MotionOptions, read_animation};

use crate::Outcome;
use crate::args::CompareArgs;
use crate::hints::Explained;
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
    let motion = MotionOptions {
        inputs: inputs.sequence.options(talk),
        frames_per_second: inputs.fps,
        may_be_poses: false,
    };
    let read = read_animation(&inputs.inputs, &motion).explained(&inputs.sequence.matching)?;
    talk.remark_all(&read.notes);
    let AssembledAnimation {
        animation, look, ..
    } = read;
    let found = compare_decompositions(&animation, &options, &Decomposer::all(), talk)
        .with_context(|| look.path.display().to_string())?;
    let failed = (found.rows.iter())
        .find_map(|row| row.outcome.as_ref().err())
        .filter(|_| found.decomposed().next().is_none());
    // A page of reasons is no comparison.
    let page = args.report.as_ref().filter(|_| failed.is_none());
    let report = report::decompositions_report(&animation, &found);
    if let Some(path) = page {
        let figures = report::decompositions_figures(&animation, &found, args.up, talk)?;
        let html = report::html(&report, &figures)?;
        talk.check_stopped()?;
        dermis_io::write_file(path, html.as_bytes())?;
    }
    talk.clear();
    report::print(&report, args.print)?;
    if let Some(path) = page {
        talk.remark_written(&[path]);
    }
    match failed {
        Some(reason) => bail!("the animation could not be decomposed: {reason}"),
        None => Ok(Outcome::Done),
    }
}
