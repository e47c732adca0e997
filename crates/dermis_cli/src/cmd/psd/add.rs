//! `dermis psd add`: a sculpted mesh becomes a shape of its pose.

use std::io::Write;

use anyhow::{Context, bail};
use dermis_io::Frame;
use dermis_io::project::{AddedShape, Project, SculptOptions};

use super::{read_project, warn_of_moved};
use crate::Outcome;
use crate::matching::{check_sculpt, read_placed};
use crate::psd_args::AddArgs;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &AddArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let mut project = read_project(&args.project, talk)?;
    let options = SculptOptions {
        name: args.name.clone(),
        layer: args.layer.clone(),
        falloff: args.falloff.clone(),
        replace: args.replace,
    };
    let plan = project.plan_sculpt(&args.pose, &options)?;
    let tolerance = match args.tolerance {
        None => project.tolerance(),
        Some(tolerance) if tolerance >= 0.0 && tolerance.is_finite() => tolerance,
        Some(_) => bail!("--tolerance: expected a distance of 0 or more, in model units"),
    };
    let mut sculpt = read_sculpt(args, &project, talk)?;
    let (base, shown) = (project.base(), plan.shown());
    check_sculpt(base, shown, &mut sculpt, &args.mesh, &args.matching, talk)?;
    let added = project
        .add_shape(&plan, &sculpt.positions, tolerance)
        .with_context(|| args.mesh.display().to_string())?;
    warn_of_moved(&added.moved, talk);
    talk.check_stopped()?;
    project.save()?;
    if added.falloff_is_a_guess {
        talk.remark(format!(
            "falloff {}: half the distance to the nearest other pose, since none was given",
            added.falloff
        ));
    }
    print_result(&project, &added)?;
    Ok(Outcome::Done)
}

/// A sculpted mesh.
fn read_sculpt(args: &AddArgs, project: &Project, talk: &Talk) -> anyhow::Result<Frame> {
    let path = &args.mesh;
    let mut document = read_placed(path, args.matching.placements(), talk)?;
    let positions = match document.frames.len() {
        0 => document.mesh.positions().to_vec(),
        1 => document.frames.remove(0).positions,
        more => bail!(
            "{}: expected one sculpted mesh, found {more} frames",
            path.display()
        ),
    };
    project.check_vertex_count(positions.len(), path)?;
    Ok(Frame {
        name: path.display().to_string(),
        positions,
    })
}

fn print_result(project: &Project, added: &AddedShape) -> anyhow::Result<()> {
    let diagonal = project.skin().size()?;
    let found = &added.found;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{}: layer {}, {} stored, farthest displacement {:.4e} ({:.3}% of the diagonal)",
        added.name,
        added.layer,
        plural(found.shape.len(), "vertex"),
        found.farthest,
        100.0 * found.farthest / diagonal
    )
    .and_then(|()| match &found.flattened {
        None => Ok(()),
        Some(flattened) => writeln!(
            out,
            "warning: the base flattens {} of them in this pose, so they stay up to {:.4e} ({:.3}% \
             of the diagonal) from where they were sculpted, vertex {} farthest: a base that does \
             not collapse there would help",
            flattened.vertices,
            flattened.worst_distance,
            100.0 * flattened.worst_distance / diagonal,
            flattened.worst_vertex
        ),
    })
    .context("standard output cannot be written")
}
