//! `dermis psd`: shapes sculpted in poses, on any skin.

mod add;
mod check;
mod fit;
mod import;
mod new;
mod pose;
mod remove;
mod show;
mod undo;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use dermis_io::IoError;
use dermis_io::project::{MovedSculpt, Project, ProjectError, ProjectFault};

use crate::overwrite;
use crate::psd_args::{PsdArgs, PsdStep};
use crate::talk::Talk;
use crate::{Outcome, one_sentence};

pub(crate) fn run(args: &PsdArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let result = match &args.step {
        PsdStep::New(args) => new::run(args, talk),
        PsdStep::Pose(args) => pose::run(args, talk),
        PsdStep::Add(args) => add::run(args, talk),
        PsdStep::Import(args) => import::run(args, talk),
        PsdStep::Remove(args) => remove::run(args, talk),
        PsdStep::Undo(args) => undo::run(args, talk),
        PsdStep::Fit(args) => fit::run(args, talk),
        PsdStep::Show(args) => show::run(args, talk),
        PsdStep::Check(args) => check::run(args, talk),
    };
    result.map_err(with_flag)
}

/// The error with the flag or the command that helps.
fn with_flag(mut error: anyhow::Error) -> anyhow::Error {
    let Some(project_error) = error.downcast_mut::<ProjectError>() else {
        return error;
    };
    // Options of the library have the names of flags.
    if let ProjectError::Content { place, .. } = project_error
        && let Some(asked) = &mut place.asked
    {
        *asked = format!("--{asked}");
    }
    let advice = match project_error {
        ProjectError::Io(IoError::Read { .. }) => "`dermis psd new` begins a project",
        ProjectError::Content { fault, .. } => match **fault {
            ProjectFault::PoseTaken { .. } => "--replace replaces it",
            ProjectFault::SameToLayer { .. } => "--layer names another",
            ProjectFault::NoSculpts => "`dermis psd add` records one",
            ProjectFault::ChangedSince { .. } => "--force takes them back",
            _ => return error,
        },
        _ => return error,
    };
    anyhow!("{} ({advice})", one_sentence(&error))
}

/// Fails when a result would take the place of a file of the project, unless with --force.
fn check_output(output: Option<&PathBuf>, project: &Project, talk: &Talk) -> anyhow::Result<()> {
    let folder = project.path().parent().unwrap_or(Path::new(""));
    let sculpts = project.layers().iter().flat_map(|layer| &layer.sculpts);
    let shapes: Vec<PathBuf> = sculpts.map(|sculpt| folder.join(&sculpt.shape)).collect();
    let own = [project.path().to_owned(), project.base().path.clone()];
    overwrite::check(output, own.iter().chain(&shapes), talk)
}

/// Reads a project, and passes on what its base had to be repaired for.
fn read_project(path: &Path, talk: &Talk) -> Result<Project, ProjectError> {
    let project = Project::read(path)?;
    talk.remark_notes(project.base());
    Ok(project)
}

/// Says which sculpts are not met.
fn warn_of_moved(moved: &[MovedSculpt], talk: &Talk) {
    for sculpt in moved {
        talk.remark(format!("warning: {sculpt}"));
    }
}
