//! `dermis psd new`: an empty project around a base and its controls.

use anyhow::{Context, bail};
use dermis::joint::nearest_axis;
use dermis::pose_space::{Control, JointTurn};
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
    remark_found_axes(&controls, &project, talk)?;
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

/// Says which axes were found, and why.
fn remark_found_axes(
    controls: &[NewControl],
    project: &Project,
    talk: &Talk,
) -> anyhow::Result<()> {
    let found = controls.iter().zip(project.controls());
    let found: Vec<_> = found.filter(|(asked, _)| asked.is_auto()).collect();
    if found.is_empty() {
        return Ok(());
    }
    let seen = project.base().joint_motions()?;
    for (_, control) in found {
        let motion = seen.iter().find(|(bone, _)| Some(*bone) == control.bone());
        if let (Control::Joint { turn, bone }, Some((_, motion))) = (control.control, motion) {
            talk.remark(format!(
                "control {}: axis {}, because {} is a {motion}, in the motions of {}",
                control.name,
                axis_text(turn),
                project.skin().skeleton.bones()[bone.index()].name,
                project.base().path.display()
            ));
        }
    }
    Ok(())
}

/// An axis as a project has it.
fn axis_text(turn: JointTurn) -> String {
    match turn {
        JointTurn::Hinge { axis } | JointTurn::Swing { axis } | JointTurn::SwingTwist { axis } => {
            match nearest_axis(axis) {
                (letter, 0.0) => letter.to_owned(),
                _ => format!("{axis:.3}"),
            }
        }
        JointTurn::Free => "none".to_owned(),
    }
}
