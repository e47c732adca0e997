//! `dermis psd pose`: the current result in a pose, to sculpt on.

use dermis_io::WriteOptions;

use super::{check_output, read_project};
use crate::Outcome;
use crate::output_file::OutputFile;
use crate::psd_args::PosedArgs;
use crate::talk::Talk;

pub(crate) fn run(args: &PosedArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let output = OutputFile::new(&args.output, args.stream)?;
    let project = read_project(&args.project, talk)?;
    check_output(output.file(), &project, talk)?;
    let at = project.parse_pose(&args.pose)?;
    let result = project.posed_mesh(&at, output.format().frames())?;
    talk.check_stopped()?;
    let files = output.write(&result, &WriteOptions::default())?;
    let Some(file) = files.first() else {
        return Ok(Outcome::Done);
    };
    talk.remark(format!(
        "wrote {}: sculpt on it without adding or removing vertices, then: dermis psd add {} \
         --pose {} --mesh {0}",
        file.display(),
        args.project.display(),
        project.pose_text(&at),
    ));
    Ok(Outcome::Done)
}
