//! `dermis psd pose`: the current result in a pose, to sculpt on.

use dermis_io::{Format, WriteOptions};

use super::read_project;
use crate::Outcome;
use crate::psd_args::PosedArgs;
use crate::talk::Talk;

pub(crate) fn run(args: &PosedArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let format = Format::of(&args.output)?;
    let project = read_project(&args.project, talk)?;
    let at = project.parse_pose(&args.pose)?;
    let result = project.posed_mesh(&at, format.frames())?;
    talk.check_stopped()?;
    dermis_io::write(&args.output, &result, &WriteOptions::default())?;
    talk.remark(format!(
        "wrote {}: sculpt on it without adding or removing vertices, then: dermis psd add {} \
         --pose {} --mesh {0}",
        args.output.display(),
        args.project.display(),
        project.pose_text(&at),
    ));
    Ok(Outcome::Done)
}
