//! A sculpted mesh becomes a shape of its pose.

use std::path::PathBuf;

use dermis::document::free_name;
use dermis::fit::{SculptedShape, sculpted_shape};
use dermis::pose_space::Kernel;
use glam::DVec3;

use super::edit::{self, NewSculpt, Target};
use super::error::{Placed, ProjectError, ProjectFault};
use super::falloff::{default_falloffs, falloff_text, parse_falloff};
use super::{
    Coordinates, Layer, MovedSculpt, NamedControl, Project, SculptEntry, all_sculpts, controls,
    pose,
};

/// What may be said about a sculpt beside its pose and its mesh.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SculptOptions {
    /// Its name and that of its morph target; default one made from the pose.
    pub name: Option<String>,
    /// The layer that it goes to; default the one over exactly the controls that the pose moves. It is made when
    /// it is not there.
    pub layer: Option<String>,
    /// How far it reaches: `40deg`, `0.5`, or `elbow=40,load=0.5`; default half the distance to the nearest other
    /// pose.
    pub falloff: Option<String>,
    /// Replace the sculpt of that pose or name; default refuse.
    pub replace: bool,
}

/// Where a sculpt goes and under which name: checked before a mesh is there.
#[derive(Debug, Clone)]
pub struct SculptPlan {
    at: Coordinates,
    /// What the project shows there.
    shown: Vec<DVec3>,
    target: Target,
    /// The sculpt of the layer that it replaces.
    replaced: Option<usize>,
    name: String,
    falloffs: Vec<f64>,
    falloff_is_a_guess: bool,
    /// False where shapes are added up.
    counts_falloffs: bool,
}

/// What became of a sculpt.
#[derive(Debug, Clone)]
pub struct AddedShape {
    /// Its name.
    pub name: String,
    /// Its layer.
    pub layer: String,
    /// Its falloffs as people type them.
    pub falloff: String,
    /// True when nobody gave them.
    pub falloff_is_a_guess: bool,
    /// The shape, and what of it the base cannot show.
    pub found: SculptedShape,
    /// Sculpts that are not met with it.
    pub moved: Vec<MovedSculpt>,
}

impl Project {
    /// Checks where a sculpt would go, and finds what is shown there; the pose is [typed](Self::parse_pose).
    ///
    /// # Errors
    /// [`ProjectError::Content`] when the pose moves nothing that the layer reads, is taken, or a name is; and when
    /// the layers cannot be solved.
    pub fn plan_sculpt(
        &self,
        pose: &str,
        options: &SculptOptions,
    ) -> Result<SculptPlan, ProjectError> {
        let at = self.parse_pose(pose)?;
        if pose::moved(&self.controls, &at).is_empty() {
            let pose = pose.to_owned();
            return Err(Placed::from(ProjectFault::RestPose { pose }).in_file(&self.path));
        }
        let mut plan =
            SculptPlan::new(self, &at, options).map_err(|placed| placed.in_file(&self.path))?;
        plan.shown = self.shown(&at)?;
        Ok(plan)
    }

    /// Adds a sculpted mesh; vertices nearer than `tolerance` to what is shown were not moved.
    ///
    /// The project is in memory until it is [saved](Self::save).
    ///
    /// # Errors
    /// [`ProjectFault::NothingSculpted`], and when the layers cannot be solved with it. The project is as it was
    /// then.
    pub fn add_shape(
        &mut self,
        plan: &SculptPlan,
        sculpted: &[DVec3],
        tolerance: f64,
    ) -> Result<AddedShape, ProjectError> {
        self.check_vertex_count(sculpted.len(), &self.path)?;
        let is_same = |(a, b): (&DVec3, &DVec3)| a.distance(*b) <= tolerance;
        if sculpted.iter().zip(&plan.shown).all(is_same) {
            let pose = self.pose_text(&plan.at);
            return Err(Placed::from(ProjectFault::NothingSculpted { pose }).in_file(&self.path));
        }
        let below = self.build_first(plan.layers_below(self))?.skin;
        let posed = self.pose(&plan.at);
        let found = sculpted_shape(&self.skin, &below, &posed, sculpted, tolerance)
            .map_err(|error| Placed::from(error).in_file(&self.path))?;
        let shape = plan.shape_path(self);
        let new = NewSculpt {
            name: &plan.name,
            at: &plan.at,
            falloffs: plan.counts_falloffs.then_some(&plan.falloffs[..]),
            shape: &shape,
        };
        let text = edit::with_sculpt(self, &plan.target, &new, plan.replaced)
            .map_err(|fault| Placed::from(fault).in_file(&self.path))?;
        let mut changed = self.clone();
        changed.set_text(text)?;
        changed.unsaved.retain(|(path, _)| *path != shape);
        changed.unsaved.push((shape, found.shape.clone()));
        // What cannot be solved is not kept.
        let built = changed.build()?;
        let (verb, preposition) = match plan.replaced {
            Some(_) => ("replaced", "of"),
            None => ("added", "to"),
        };
        let layer = plan.layer_name(self);
        let edit = format!("{verb} {} {preposition} layer {layer}", plan.name);
        changed.edits.push(edit);
        let added = AddedShape {
            name: plan.name.clone(),
            layer: plan.layer_name(self).to_owned(),
            falloff: falloff_text(&plan.falloffs, &plan.controls(self)),
            falloff_is_a_guess: plan.falloff_is_a_guess,
            found,
            moved: changed.moved_sculpts(&built),
        };
        *self = changed;
        Ok(added)
    }
}

impl SculptPlan {
    /// The pose of the sculpt.
    pub fn at(&self) -> &Coordinates {
        &self.at
    }

    /// What the project shows in that pose now: what was sculpted on.
    pub fn shown(&self) -> &[DVec3] {
        &self.shown
    }

    fn new(project: &Project, at: &Coordinates, options: &SculptOptions) -> Result<Self, Placed> {
        let pose = project.pose_text(at);
        let moved = pose::moved(&project.controls, at);
        let target = target(options.layer.as_deref(), project, &moved)?;
        let layer = match &target {
            Target::Layer(number) => Some(&project.layers[*number]),
            Target::New { .. } => None,
        };
        if let Some(layer) = layer
            && !moved.iter().any(|c| layer.controls.contains(c))
        {
            return Err(ProjectFault::SameToLayer {
                pose,
                layer: layer.settings.name.clone(),
                controls: controls::names(project.controls_of(layer)),
            }
            .into());
        }
        if let Some(name) = &options.name {
            let asked = |fault: ProjectFault| Placed::from(fault).asked(format!("name {name}"));
            controls::check_long_name(name).map_err(asked)?;
            if project.skin.coefficients.iter().any(|c| c.name == *name) {
                let name = name.clone();
                return Err(asked(ProjectFault::NameOfTarget { name }));
            }
        }
        let replaced = replaced(options, project, layer, at)?;
        let old = replaced.and_then(|number| layer.map(|layer| &layer.sculpts[number]));
        let name = match (&options.name, old) {
            (Some(name), _) => name.clone(),
            (None, Some(old)) => old.name.clone(),
            (None, None) => edit::sculpt_name(project, at, &[]),
        };
        let mut plan = Self {
            at: at.clone(),
            shown: Vec::new(),
            target,
            replaced,
            name,
            falloffs: Vec::new(),
            falloff_is_a_guess: false,
            counts_falloffs: layer
                .is_none_or(|layer| layer.settings.interpolation.kernel != Kernel::Superposition),
        };
        plan.falloffs = match (&options.falloff, old) {
            (Some(text), _) => parse_falloff(text, &plan.controls(project))?,
            (None, Some(old)) => old.falloffs.clone(),
            (None, None) => {
                plan.falloff_is_a_guess = plan.counts_falloffs;
                let rest = project.at_rest();
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

    /// Where the shape goes: to the file of the sculpt that it replaces, or to a new one.
    fn shape_path(&self, project: &Project) -> PathBuf {
        let replaced: Option<&SculptEntry> = match (&self.target, self.replaced) {
            (Target::Layer(layer), Some(number)) => Some(&project.layers[*layer].sculpts[number]),
            _ => None,
        };
        match replaced {
            Some(entry) => entry.shape.clone(),
            None => edit::shape_path(project, &self.name, &[]),
        }
    }
}

/// The layer that was named, or the one over exactly the controls that moved, or a new one.
fn target(asked: Option<&str>, project: &Project, moved: &[usize]) -> Result<Target, Placed> {
    let new = |name: String| Target::New {
        name,
        controls: moved.to_vec(),
    };
    let by_name = |name: &str| {
        let mut layers = project.layers.iter();
        layers.position(|layer| layer.settings.name == name)
    };
    if let Some(name) = asked {
        controls::check_long_name(name)
            .map_err(|fault| Placed::from(fault).asked(format!("layer {name}")))?;
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
    let moved_names = controls::names(moved.iter().map(|&c| &project.controls[c]));
    let is_taken = |name: &str| by_name(name).is_some();
    Ok(new(free_name(&moved_names.join("+"), is_taken)))
}

/// The sculpt that stands in the way, when it is to be replaced.
fn replaced(
    options: &SculptOptions,
    project: &Project,
    layer: Option<&Layer>,
    at: &Coordinates,
) -> Result<Option<usize>, Placed> {
    let own = layer.map_or(&[][..], |layer| &layer.sculpts);
    let same_pose = own.iter().position(|sculpt| {
        let mut controls = layer.iter().flat_map(|layer| &layer.controls);
        controls.all(|&c| pose::is_same(&sculpt.at[c], &at[c]))
    });
    let named = options.name.as_ref();
    let same_name = named.and_then(|name| own.iter().position(|sculpt| sculpt.name == *name));
    let pose = project.pose_text(at);
    if let (Some(a), Some(b)) = (same_pose, same_name)
        && a != b
    {
        return Err(ProjectFault::TwoSculpts {
            pose,
            at_pose: own[a].name.clone(),
            named: own[b].name.clone(),
        }
        .into());
    }
    if let (Some(name), None) = (named, same_name) {
        let mut all = all_sculpts(&project.layers);
        if let Some((other, _)) = all.find(|(_, sculpt)| sculpt.name == *name) {
            let layer = other.settings.name.clone();
            let placed = Placed::from(ProjectFault::NameOfSculpt { layer });
            return Err(placed.asked(format!("name {name}")));
        }
    }
    match (same_pose.or(same_name), options.replace) {
        (None, false) => Ok(None),
        (None, true) => {
            let in_layer = |layer: &Layer| format!("layer {}", layer.settings.name);
            let fault = ProjectFault::NothingToReplace {
                pose,
                name: options.name.clone(),
                layer: layer.map_or("a new layer".to_owned(), in_layer),
            };
            Err(Placed::from(fault).asked("replace"))
        }
        (Some(number), true) => Ok(Some(number)),
        (Some(number), false) => Err(ProjectFault::PoseTaken {
            pose,
            sculpt: own[number].name.clone(),
            at: project.pose_text(&own[number].at),
        }
        .into()),
    }
}
