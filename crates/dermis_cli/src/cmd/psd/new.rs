//! `dermis psd new`: an empty project around a base and its controls.

use anyhow::{Context, bail};
use dermis_io::project::{NewControl, Project};

use crate::Outcome;
use crate::psd_args::NewArgs;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &NewArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let shown = args.project.display();
    let ending = args.project.extension();
    if ending.is_none_or(|ending| ending != "toml") {
        bail!("{shown}: expected a project name that ends in .toml, such as arm.psd.toml");
    }
    if args.project.exists() {
        bail!("{shown}: is there already: choose another name, or edit it");
    }
    let control =
        |typed: &String| NewControl::parse(typed).with_context(|| format!("--control {typed}"));
    let controls: Vec<NewControl> = args.control.iter().map(control).collect::<Result<_, _>>()?;
    let mut project = Project::new(&args.project, &args.base, &controls)?;
    talk.remark_notes(project.base());
    talk.check_stopped()?;
    project.save()?;
    let next = match project.controls().first() {
        Some(control) => format!("pose {shown} --pose {}=... -o to_sculpt.obj", control.name),
        None => format!("import {shown} FILE, which adds sliders with their shapes"),
    };
    talk.remark(format!(
        "wrote {shown}: {} over {} vertices; next: dermis psd {next}",
        plural(project.controls().len(), "control"),
        project.skin().vertex_count(),
    ));
    Ok(Outcome::Done)
}
