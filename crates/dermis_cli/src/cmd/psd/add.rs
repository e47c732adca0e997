//! `dermis psd add`: a sculpted mesh becomes a shape of its pose.

use std::io::Write;

use anyhow::{Context, bail};
use dermis::fit::{PsdLayer, Sculpt, SculptedShape, build_psd, sculpted_shape};
use dermis::pose_space::Kernel;
use dermis_io::{Frame, Transaction};
use glam::DVec3;

use crate::Outcome;
use crate::matching::{check_sculpt, read_placed};
use crate::psd_args::AddArgs;
use crate::psd_project::edit::{self, NewSculpt, Target};
use crate::psd_project::{
    Coordinates, Layer, NamedControl, Project, controls, default_falloffs, falloff_text,
    parse_falloff, pose, shape_file,
};
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &AddArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let project = Project::read(&args.project, talk)?;
    let at = project.parse_pose(&args.pose)?;
    let in_project = || args.project.display().to_string();
    let plan = Plan::new(args, &project, &at).with_context(in_project)?;
    let mut sculpt = read_sculpt(args, &project, talk)?;
    let tolerance = match args.tolerance {
        None => project.tolerance(),
        Some(tolerance) if tolerance >= 0.0 && tolerance.is_finite() => tolerance,
        Some(_) => bail!("--tolerance: expected a distance of 0 or more, in model units"),
    };
    let posed = project.pose(&at);
    let shown = project
        .skin_of_layers(project.layers.len())?
        .evaluate(&posed)?;
    let matching = &args.matching;
    check_sculpt(
        &project.base,
        &shown,
        &mut sculpt,
        &args.mesh,
        matching,
        talk,
    )?;
    let positions = sculpt.positions;
    let is_same = |(a, b): (&DVec3, &DVec3)| a.distance(*b) <= tolerance;
    if positions.iter().zip(&shown).all(is_same) {
        bail!(
            "{}: nothing was sculpted: it is what {} shows at {} already",
            args.mesh.display(),
            args.project.display(),
            pose::to_text(&project.controls, &at)
        );
    }
    let below = project.skin_of_layers(plan.layers_below(&project))?;
    let found = sculpted_shape(&project.skin, &below, &posed, &positions, tolerance)
        .with_context(|| args.mesh.display().to_string())?;
    let sculpt = Sculpt {
        name: plan.name.clone(),
        pose: posed,
        falloffs: plan.falloffs.clone(),
        shape: found.shape.clone(),
    };
    warn_of_changes(&project, &plan, sculpt, talk).with_context(in_project)?;

    let shape_path = match plan.replaced(&project) {
        Some(entry) => entry.shape.clone(),
        None => edit::shape_path(&project, &plan.name, &[]),
    };
    let new = NewSculpt {
        name: &plan.name,
        at: &at,
        falloffs: plan.counts_falloffs.then_some(&plan.falloffs[..]),
        shape: &shape_path,
    };
    let text = edit::with_sculpt(&project, &plan.target, &new, plan.replaced)?;
    talk.check_stopped()?;
    let shape = shape_file::to_text(&found.shape, project.skin.vertex_count());
    let mut files = Transaction::new();
    // The shape first: a project never names a file that is not there.
    files.add(&project.beside(&shape_path), shape.as_bytes())?;
    files.add(&args.project, text.as_bytes())?;
    files.commit()?;
    if let (None, true) = (&args.falloff, plan.falloff_is_a_guess) {
        talk.remark(format!(
            "falloff {}: half the distance to the nearest other pose, since none was given",
            falloff_text(&plan.falloffs, &plan.controls(&project))
        ));
    }
    print_result(&project, &plan, &found)?;
    Ok(Outcome::Done)
}

/// Where a sculpt goes and under which name.
struct Plan {
    target: Target,
    /// The sculpt of the layer that it replaces.
    replaced: Option<usize>,
    name: String,
    falloffs: Vec<f64>,
    falloff_is_a_guess: bool,
    /// False where shapes are added up.
    counts_falloffs: bool,
}

impl Plan {
    fn new(args: &AddArgs, project: &Project, at: &Coordinates) -> anyhow::Result<Self> {
        let shown = pose::to_text(&project.controls, at);
        let moved = pose::moved(&project.controls, at);
        if moved.is_empty() {
            bail!(
                "pose '{}' is the pose rest, where the base is shown as it is: move a control \
                 before sculpting",
                args.pose
            );
        }
        let target = target(args.layer.as_deref(), project, &moved)?;
        let layer = match &target {
            Target::Layer(number) => Some(&project.layers[*number]),
            Target::New { .. } => None,
        };
        if let Some(layer) = layer
            && !moved.iter().any(|c| layer.controls.contains(c))
        {
            bail!(
                "pose {shown} and the pose rest are the same to layer {}, which reads {}: choose \
                 another --layer, or move one of those",
                layer.settings.name,
                names(project, &layer.controls)
            );
        }
        if let Some(name) = &args.name {
            controls::check_long_name(name).context("--name")?;
            if project.skin.coefficients.iter().any(|c| c.name == *name) {
                bail!("--name {name}: a slider or morph target has that name: choose another");
            }
        }
        let replaced = replaced(args, project, layer, at)?;
        let old = replaced.and_then(|number| layer.map(|layer| &layer.sculpts[number]));
        let name = match (&args.name, old) {
            (Some(name), _) => name.clone(),
            (None, Some(old)) => old.name.clone(),
            (None, None) => edit::sculpt_name(project, at, &[]),
        };
        let mut plan = Self {
            target,
            replaced,
            name,
            falloffs: Vec::new(),
            falloff_is_a_guess: false,
            counts_falloffs: layer
                .is_none_or(|layer| layer.settings.interpolation.kernel != Kernel::Superposition),
        };
        plan.falloffs = match (&args.falloff, old) {
            (Some(text), _) => parse_falloff(text, &plan.controls(project))?,
            (None, Some(old)) => old.falloffs.clone(),
            (None, None) => {
                plan.falloff_is_a_guess = plan.counts_falloffs;
                let rest = pose::at_rest(&project.controls);
                let others = layer.iter().flat_map(|layer| &layer.sculpts);
                let others: Vec<&Coordinates> = std::iter::once(&rest)
                    .chain(others.map(|sculpt| &sculpt.at))
                    .collect();
                let numbers = plan.control_numbers(project);
                let own: Vec<_> = numbers.iter().map(|&c| (c, &project.controls[c])).collect();
                default_falloffs(&own, at, &others)
            }
        };
        Ok(plan)
    }

    fn control_numbers<'a>(&'a self, project: &'a Project) -> &'a [usize] {
        match &self.target {
            Target::Layer(number) => &project.layers[*number].controls,
            Target::New { controls, .. } => controls,
        }
    }

    fn controls<'a>(&self, project: &'a Project) -> Vec<&'a NamedControl> {
        let numbers = self.control_numbers(project).iter();
        numbers.map(|&c| &project.controls[c]).collect()
    }

    fn layer_name<'a>(&'a self, project: &'a Project) -> &'a str {
        match &self.target {
            Target::Layer(number) => &project.layers[*number].settings.name,
            Target::New { name, .. } => name,
        }
    }

    fn layers_below(&self, project: &Project) -> usize {
        match &self.target {
            Target::Layer(number) => *number,
            Target::New { .. } => project.layers.len(),
        }
    }

    fn replaced<'a>(&self, project: &'a Project) -> Option<&'a crate::psd_project::SculptEntry> {
        match (&self.target, self.replaced) {
            (Target::Layer(layer), Some(number)) => Some(&project.layers[*layer].sculpts[number]),
            _ => None,
        }
    }
}

/// The layer that was named, or the one over exactly the controls that moved, or a new one.
fn target(asked: Option<&str>, project: &Project, moved: &[usize]) -> anyhow::Result<Target> {
    let new = |name: String| Target::New {
        name,
        controls: moved.to_vec(),
    };
    let by_name = |name: &str| {
        let mut layers = project.layers.iter();
        layers.position(|layer| layer.settings.name == name)
    };
    if let Some(name) = asked {
        controls::check_long_name(name).context("--layer")?;
        return Ok(by_name(name).map_or_else(|| new(name.to_owned()), Target::Layer));
    }
    let reads_exactly = |layer: &Layer| {
        let mut own = layer.controls.clone();
        own.sort_unstable();
        own == moved
    };
    if let Some(number) = project.layers.iter().position(reads_exactly) {
        return Ok(Target::Layer(number));
    }
    let name = names(project, moved).replace(", ", "+");
    Ok(new(edit::free_name(&name, |name| by_name(name).is_some())))
}

/// The sculpt that stands in the way, when it is to be replaced.
fn replaced(
    args: &AddArgs,
    project: &Project,
    layer: Option<&Layer>,
    at: &Coordinates,
) -> anyhow::Result<Option<usize>> {
    let own = layer.map_or(&[][..], |layer| &layer.sculpts);
    let same_pose = own.iter().position(|sculpt| {
        let controls = layer.iter().flat_map(|layer| &layer.controls);
        let mut controls = controls.into_iter();
        controls.all(|&c| pose::is_same(&sculpt.at[c], &at[c]))
    });
    let same_name =
        (args.name.as_ref()).and_then(|name| own.iter().position(|sculpt| sculpt.name == *name));
    let shown = pose::to_text(&project.controls, at);
    if let (Some(a), Some(b)) = (same_pose, same_name)
        && a != b
    {
        bail!(
            "pose {shown} is that of sculpt {}, but {} is the name of another: choose one of the \
             two names",
            own[a].name,
            own[b].name
        );
    }
    if let (Some(name), None) = (&args.name, same_name) {
        let mut all = project.layers.iter().flat_map(|layer| {
            let name = layer.settings.name.as_str();
            layer.sculpts.iter().map(move |sculpt| (sculpt, name))
        });
        if let Some((_, other)) = all.find(|(sculpt, _)| sculpt.name == *name) {
            bail!("--name {name}: layer {other} has a sculpt of that name: choose another");
        }
    }
    match (same_pose.or(same_name), args.replace) {
        (None, false) => Ok(None),
        (None, true) => bail!(
            "--replace: no sculpt stands at {shown}{} in {}",
            args.name
                .as_ref()
                .map_or(String::new(), |name| format!(" or has the name {name}")),
            layer.map_or("a new layer".to_owned(), |layer| format!(
                "layer {}",
                layer.settings.name
            ))
        ),
        (Some(number), true) => Ok(Some(number)),
        (Some(number), false) => bail!(
            "pose {shown} is taken: sculpt {} stands at {} in the same layer; --replace replaces \
             it, or move a control first",
            own[number].name,
            pose::to_text(&project.controls, &own[number].at)
        ),
    }
}

fn names(project: &Project, controls: &[usize]) -> String {
    let names: Vec<&str> = (controls.iter())
        .map(|&c| project.controls[c].name.as_str())
        .collect();
    names.join(", ")
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
    let expected = project.skin.vertex_count();
    if positions.len() != expected {
        bail!(
            "{}: has {} vertices, but the base {} has {expected}: expected the mesh of `dermis psd \
             pose` with its vertices moved, none added, removed or reordered",
            path.display(),
            positions.len(),
            project.base.path.display()
        );
    }
    Ok(Frame {
        name: path.display().to_string(),
        positions,
    })
}

/// Solves the project with the new sculpt, and says which of the others it moves.
fn warn_of_changes(
    project: &Project,
    plan: &Plan,
    sculpt: Sculpt,
    talk: &Talk,
) -> anyhow::Result<()> {
    let mut layers = project.psd_layers(project.layers.len())?;
    match (&plan.target, plan.replaced) {
        (Target::Layer(layer), Some(number)) => layers[*layer].sculpts[number] = sculpt,
        (Target::Layer(layer), None) => layers[*layer].sculpts.push(sculpt),
        (Target::New { name, .. }, _) => {
            let controls = plan.controls(project).iter().map(|c| c.control).collect();
            layers.push(PsdLayer {
                sculpts: vec![sculpt],
                ..PsdLayer::new(name.as_str(), controls)
            });
        }
    }
    let built = build_psd(&project.skin, &layers)?;
    for line in super::fit::moved_sculpts(project, &built) {
        talk.remark(format!("warning: {line}"));
    }
    Ok(())
}

fn print_result(project: &Project, plan: &Plan, found: &SculptedShape) -> anyhow::Result<()> {
    let diagonal = project.skin.size()?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{}: layer {}, {} stored, farthest displacement {:.4e} ({:.3}% of the diagonal)",
        plan.name,
        plan.layer_name(project),
        plural(found.shape.len(), "vertex").replace("vertexs", "vertices"),
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
