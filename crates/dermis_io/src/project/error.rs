//! What can be wrong with a sculpting project, in one sentence each.

use std::fmt;
use std::path::{Path, PathBuf};

use dermis::fit::FitError;
use dermis::joint::JointMotion;
use dermis::skin::{PoseProblem, ShownError, SkinError};

use crate::IoError;

/// Most names that a message lists.
const MOST_NAMES: usize = 24;

/// A project that could not be read, edited, solved or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The project's own file cannot be read or written, or is no TOML of a project.
    #[error(transparent)]
    Io(#[from] IoError),
    /// What a file says, or what was asked of it, is wrong.
    #[error("{}: {place}{fault}", path.display())]
    Content {
        /// The project; or the file with shapes that do not belong to it.
        path: PathBuf,
        /// Where it is wrong.
        place: Box<Place>,
        /// What is wrong there.
        fault: Box<ProjectFault>,
    },
}

/// A place in a project, as precise as is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Name of a control.
    pub control: Option<String>,
    /// Name of a layer.
    pub layer: Option<String>,
    /// Name of a sculpt of the layer.
    pub sculpt: Option<String>,
    /// What was asked for, under the name of the option: `name smile`, `replace`.
    pub asked: Option<String>,
    /// A field of the file, or what was typed for it: `falloff`, `pose 'elbow=9x'`.
    pub item: Option<String>,
}

/// What is wrong in a project; [`ProjectError`] adds where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectFault {
    /// The file is of another version.
    #[error("version is {found}, expected {expected}: this build of dermis reads no other")]
    Version {
        /// What the file says.
        found: i64,
        /// What this build reads.
        expected: i64,
    },
    /// A file that the project names cannot be read.
    #[error(transparent)]
    File(#[from] IoError),
    /// The layers cannot be solved.
    #[error(transparent)]
    Solve(#[from] FitError),
    /// A skin cannot be evaluated or made.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The motions of the base cannot be looked at.
    #[error(transparent)]
    Shown(#[from] ShownError),
    /// Something is missing, or is not what it must be.
    #[error("expected {expected}")]
    Expected {
        /// What should be there.
        expected: String,
    },
    /// Something is there in the place of another.
    #[error("expected {expected}, found {found}")]
    Malformed {
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A field belongs to something else.
    #[error("{fields} {}", belongs(fields, belongs_to))]
    Misplaced {
        /// Its name in quotes, or several.
        fields: &'static str,
        /// What it belongs to.
        belongs_to: &'static str,
    },
    /// A list that is written in one line cannot be edited.
    #[error("'{key}' is {kind} in one line: write it as {instead} so that it can be edited")]
    InOneLine {
        /// Its name.
        key: String,
        /// What it is.
        kind: &'static str,
        /// How it could be edited.
        instead: String,
    },
    /// A name has characters that mean something else.
    #[error("'{name}' is no name: expected letters, digits, '-', '_' and spaces")]
    BadName {
        /// The name.
        name: String,
    },
    /// Two things have one name.
    #[error("two {what} have the name {name}: expected one each")]
    NameTwice {
        /// What they are.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// A sculpt has the name of something that the base has.
    #[error("{name} is the name of a slider or morph target of the base: choose another")]
    NameOfTarget {
        /// The name.
        name: String,
    },
    /// Another layer has a sculpt of that name.
    #[error("layer {layer} has a sculpt of that name: choose another")]
    NameOfSculpt {
        /// The layer.
        layer: String,
    },
    /// A new layer would have the name of an old one.
    #[error("a layer of that name is there already: choose another")]
    NameOfLayer,
    /// The base has no such bone.
    #[error("the base has no bone '{name}'; it has {}", listed(known))]
    NoBone {
        /// The name that was given.
        name: String,
        /// The bones that a pose moves.
        known: Vec<String>,
    },
    /// A bone follows others.
    #[error(
        "bone '{name}' is placed by other bones, so shapes cannot depend on its turn: choose one of those"
    )]
    PlacedBone {
        /// Its name.
        name: String,
    },
    /// The axis that a bone turns about cannot be found.
    #[error("{}", no_hinge(bone, seen.as_ref()))]
    NoHinge {
        /// Its name.
        bone: String,
        /// How it turns in the base's motions; `None` when there are none.
        seen: Option<JointMotion>,
    },
    /// The base drives a morph target by itself.
    #[error("'{name}' is driven by the base itself: choose another name for the slider")]
    DrivenSlider {
        /// Its name.
        name: String,
    },
    /// A morph target of the base has a default of its own.
    #[error("'{name}' is a morph target of the base with default {default}: leave 'default' out")]
    OtherDefault {
        /// Its name.
        name: String,
        /// Its own default.
        default: f64,
    },
    /// The base is driven, so that no slider can be added to it.
    #[error(
        "the base has no morph target '{name}', and no slider can be added below the {drivers} that drive its shapes: \
         choose a base that was not sculpted yet"
    )]
    NoRoomForSlider {
        /// Name of the slider.
        name: String,
        /// How many drivers the base has.
        drivers: usize,
    },
    /// Two controls read one joint or slider.
    #[error(
        "controls {first} and {second} are both {what}: expected one control for it, with as many axes as it turns \
         about"
    )]
    SameControl {
        /// The first control.
        first: String,
        /// The second one.
        second: String,
        /// What both read.
        what: String,
    },
    /// There is no control of that name.
    #[error("there is no control '{name}'; there are {}", listed(known))]
    NoControl {
        /// The name that was given.
        name: String,
        /// The controls that there are.
        known: Vec<String>,
    },
    /// A layer names a control twice.
    #[error("control '{name}' is there twice")]
    ControlTwice {
        /// Its name.
        name: String,
    },
    /// Shapes that are added up need plain numbers that are 0 at rest.
    #[error("superposition {needs}, but {control} {has}")]
    NotForSuperposition {
        /// The control.
        control: String,
        /// What superposition needs.
        needs: &'static str,
        /// What the control has instead.
        has: &'static str,
    },
    /// A falloff is for a control that the layer has not.
    #[error("'{name}' is no control of the layer ({})", controls.join(", "))]
    NotOfLayer {
        /// The name that was given.
        name: String,
        /// Controls of the layer.
        controls: Vec<String>,
    },
    /// One falloff cannot be degrees and a slider's number.
    #[error(
        "the layer has joints and sliders ({}): expected one number for each, such as {example}",
        controls.join(", ")
    )]
    MixedUnits {
        /// Controls of the layer.
        controls: Vec<String>,
        /// What could be given.
        example: String,
    },
    /// A slider has no unit.
    #[error("{control} is a slider: expected a number without unit, found '{found}'")]
    SliderWithUnit {
        /// The slider.
        control: String,
        /// What was typed.
        found: String,
    },
    /// A pose names neither a control nor something of the base.
    #[error("no control of the project ({}): {problem}", listed(controls))]
    NotOfProject {
        /// The controls of the project.
        controls: Vec<String>,
        /// Why it is nothing of the base either.
        problem: PoseProblem,
    },
    /// A pose moves a bone that has no control.
    #[error(
        "it moves bone {bone}, which no control reads: add a control for it to the project, or leave it out"
    )]
    UnreadBone {
        /// The bone.
        bone: String,
    },
    /// A pose moves a bone otherwise than its control reads.
    #[error(
        "it moves bone {bone} in a way that control {control}, {reads}, does not read: give the control more axes, \
         or leave it out"
    )]
    UnreadTurn {
        /// The bone.
        bone: String,
        /// The control.
        control: String,
        /// What the control reads.
        reads: String,
    },
    /// A pose moves a morph target that has no control.
    #[error(
        "it moves morph target {target}, which no control reads: add a control with slider = \"{target}\" to the \
         project, or leave it out"
    )]
    UnreadTarget {
        /// The morph target.
        target: String,
    },
    /// A shape has another number of vertices than the base.
    #[error(
        "{}: line 2: sculpted on {found} vertices, but the base has {expected}: sculpt it again, or name the base that \
         it belongs to",
        shape.display()
    )]
    ShapeOfOtherMesh {
        /// The shape's file.
        shape: PathBuf,
        /// Vertices of the shape's mesh.
        found: usize,
        /// Vertices of the base.
        expected: usize,
    },
    /// A mesh has another number of vertices than the base.
    #[error(
        "has {found} vertices, but the base {} has {expected}: expected the same mesh with its vertices moved, none \
         added, removed or reordered",
        base.display()
    )]
    OtherMesh {
        /// Vertices of the mesh.
        found: usize,
        /// Vertices of the base.
        expected: usize,
        /// The base.
        base: PathBuf,
    },
    /// Nothing can be sculpted where the base is shown as it is.
    #[error(
        "pose '{pose}' is the pose rest, where the base is shown as it is: move a control before sculpting"
    )]
    RestPose {
        /// The pose as it was typed.
        pose: String,
    },
    /// A layer does not read what a pose moves.
    #[error(
        "pose {pose} and the pose rest are the same to layer {layer}, which reads {}: choose another layer, or move one \
         of those",
        controls.join(", ")
    )]
    SameToLayer {
        /// The pose.
        pose: String,
        /// The layer.
        layer: String,
        /// What the layer reads.
        controls: Vec<String>,
    },
    /// A pose and a name belong to two different sculpts.
    #[error(
        "pose {pose} is that of sculpt {at_pose}, but {named} is the name of another: choose one of the two names"
    )]
    TwoSculpts {
        /// The pose.
        pose: String,
        /// The sculpt that stands there.
        at_pose: String,
        /// The sculpt of that name.
        named: String,
    },
    /// A sculpt is in the way.
    #[error(
        "pose {pose} is taken: sculpt {sculpt} stands at {at} in the same layer; replace it, or move a control first"
    )]
    PoseTaken {
        /// The pose.
        pose: String,
        /// The sculpt.
        sculpt: String,
        /// Its pose.
        at: String,
    },
    /// There is nothing to replace.
    #[error("no sculpt stands at {pose}{} in {layer}", or_named(name.as_deref()))]
    NothingToReplace {
        /// The pose.
        pose: String,
        /// The name that was asked for.
        name: Option<String>,
        /// The layer, in words.
        layer: String,
    },
    /// A mesh is what the project shows already.
    #[error("nothing was sculpted: the mesh is what the project shows at {pose} already")]
    NothingSculpted {
        /// The pose.
        pose: String,
    },
    /// A file has nothing to import.
    #[error(
        "has no shape to take{}: expected morph targets, or frames, that move the base {}",
        in_brackets(skipped),
        base.display()
    )]
    NothingToImport {
        /// Shapes that were skipped, and why.
        skipped: Vec<String>,
        /// The base.
        base: PathBuf,
    },
    /// A project without shapes is no skin of its own.
    #[error("has no sculpts yet")]
    NoSculpts,
    /// There is no sculpt of that name.
    #[error("there is no sculpt '{name}'; there are {}", listed(known))]
    NoSculpt {
        /// The name that was given.
        name: String,
        /// The sculpts that there are.
        known: Vec<String>,
    },
    /// There is no layer of that name.
    #[error("there is no layer '{name}'; there are {}", listed(known))]
    NoLayer {
        /// The name that was given.
        name: String,
        /// The layers that there are.
        known: Vec<String>,
    },
    /// No edit is remembered.
    #[error("there is no edit to undo: {} has none", history.display())]
    NothingToUndo {
        /// The folder of edits.
        history: PathBuf,
    },
    /// The text is not what the last edit left.
    #[error(
        "the text was changed after the last edit ({what}), and undoing that edit would take those changes back, too: \
         keep a copy"
    )]
    ChangedSince {
        /// What the edit did.
        what: String,
    },
}

impl ProjectFault {
    pub(super) fn expected(expected: impl Into<String>) -> Self {
        Self::Expected {
            expected: expected.into(),
        }
    }

    pub(super) fn malformed(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Malformed {
            expected: expected.into(),
            found: found.into(),
        }
    }

    pub(super) fn in_item(self, item: impl Into<String>) -> Placed {
        Placed::from(self).in_item(item)
    }
}

/// A fault and where it is, before the file is known.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) place: Box<Place>,
    pub(super) fault: Box<ProjectFault>,
}

impl<F: Into<ProjectFault>> From<F> for Placed {
    fn from(fault: F) -> Self {
        Self {
            place: Box::default(),
            fault: Box::new(fault.into()),
        }
    }
}

impl Placed {
    pub(super) fn in_item(mut self, item: impl Into<String>) -> Self {
        let inner = self.place.item.take();
        self.place.item = Some(match inner {
            None => item.into(),
            Some(inner) => format!("{}: {inner}", item.into()),
        });
        self
    }

    pub(super) fn asked(mut self, asked: impl Into<String>) -> Self {
        self.place.asked = Some(asked.into());
        self
    }

    pub(super) fn in_control(mut self, name: &str) -> Self {
        self.place.control = Some(name.to_owned());
        self
    }

    pub(super) fn in_layer(mut self, name: &str) -> Self {
        self.place.layer = Some(name.to_owned());
        self
    }

    pub(super) fn in_sculpt(mut self, name: &str) -> Self {
        self.place.sculpt = Some(name.to_owned());
        self
    }

    pub(super) fn in_file(self, path: &Path) -> ProjectError {
        ProjectError::Content {
            path: path.to_owned(),
            place: self.place,
            fault: self.fault,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(control) = &self.control {
            write!(f, "control {control}: ")?;
        }
        match (&self.layer, &self.sculpt) {
            (Some(layer), Some(sculpt)) => write!(f, "sculpt {sculpt} of layer {layer}: ")?,
            (Some(layer), None) => write!(f, "layer {layer}: ")?,
            (None, Some(sculpt)) => write!(f, "sculpt {sculpt}: ")?,
            (None, None) => {}
        }
        for part in [&self.asked, &self.item].into_iter().flatten() {
            write!(f, "{part}: ")?;
        }
        Ok(())
    }
}

fn no_hinge(bone: &str, seen: Option<&JointMotion>) -> String {
    match seen {
        None => format!(
            "the axis of bone {bone} cannot be found, because the base has no motion: give x, y or z"
        ),
        Some(JointMotion::Ball { spread_rad, .. }) => {
            let [x, y, z] = spread_rad.to_array().map(|rad| rad.to_degrees().round());
            format!(
                "bone {bone} is no hinge in the motions of the base, where it turns by {x}° about x, {y}° about y and \
                 {z}° about z: give the axis, or take swing, swing-twist or free"
            )
        }
        Some(_) => format!(
            "bone {bone} never turns in the motions of the base, so its axis cannot be found: give x, y or z"
        ),
    }
}

/// The first names of a list.
fn listed(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMES) {
        _ if names.is_empty() => "none".to_owned(),
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
    }
}

fn belongs(fields: &str, to: &str) -> String {
    match fields.contains(" and ") {
        true => format!("are for {to}"),
        false => format!("is for {to}"),
    }
}

fn or_named(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!(" or has the name {name}"))
}

/// The first few of the shapes that were skipped.
fn in_brackets(skipped: &[String]) -> String {
    match skipped.len().checked_sub(3) {
        _ if skipped.is_empty() => String::new(),
        None | Some(0) => format!(" ({})", skipped.join("; ")),
        Some(more) => format!(" ({}; and {more} more)", skipped[..3].join("; ")),
    }
}
