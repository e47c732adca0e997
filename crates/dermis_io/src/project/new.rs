//! A new project: the text around a base and its controls.

use std::path::{Component, Path, PathBuf};

use dermis::joint::{JointMotion, nearest_axis};
use dermis::{BoneId, Skin};
use glam::DVec3;

use super::controls::{check_name, find_bone, letter_axis};
use super::error::{Placed, ProjectError, ProjectFault};
use super::text::VERSION;
use super::{Project, folder_of};
use crate::IoError;

/// A hinge that is nearer to an axis of its bone than this, in radians (3°), is taken to be that axis.
const ALONG_RAD: f64 = 0.0524;

/// A control of a new project.
#[derive(Debug, Clone, PartialEq)]
pub struct NewControl {
    /// As the project will call it.
    pub name: String,
    /// What it reads.
    pub reads: NewReading,
}

/// What a control of a new project reads.
#[derive(Debug, Clone, PartialEq)]
pub enum NewReading {
    /// The turn of a joint.
    Joint {
        /// Name of the bone below it.
        bone: String,
        /// `hinge`, `swing`, `swing-twist` or `free`.
        turn: String,
        /// None for `free`.
        axis: Option<NewAxis>,
    },
    /// A slider of the control's name.
    Slider {
        /// Where it stands when nothing moves it; 0 unless given.
        default: Option<f64>,
    },
}

/// The axis of a joint's turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NewAxis {
    /// A direction in the frame of the bone at rest.
    Direction(DVec3),
    /// The one that the bone turns about in the motions of the base, which must be a hinge there.
    Auto,
}

impl NewControl {
    /// Reads `elbow=forearm:hinge:z`, `elbow=forearm:hinge:auto`, `hips=Hips:free`, `load=slider` or
    /// `load=slider:0.5`.
    ///
    /// # Errors
    /// [`ProjectFault`], which says what was expected.
    pub fn parse(typed: &str) -> Result<Self, ProjectFault> {
        const EXPECTED: &str =
            "NAME=BONE:TURN:AXIS, such as elbow=forearm:hinge:z, or NAME=slider[:DEFAULT]";
        let Some((name, what)) = typed.split_once('=') else {
            return Err(ProjectFault::expected(EXPECTED));
        };
        let name = name.trim();
        check_name(name)?;
        let joint = |bone: &[&str], turn: &str, axis| NewReading::Joint {
            bone: bone.join(":"),
            turn: turn.to_owned(),
            axis,
        };
        // Bones may have colons in their names, as in `mixamorig:Hips`: the turn is looked for from the end.
        let parts: Vec<&str> = what.split(':').map(str::trim).collect();
        let reads = match &parts[..] {
            ["slider"] => NewReading::Slider { default: None },
            ["slider", default] => match default.parse::<f64>() {
                Ok(number) if number.is_finite() => NewReading::Slider {
                    default: Some(number),
                },
                _ => {
                    let found = format!("'{default}'");
                    return Err(ProjectFault::malformed("a number after 'slider:'", found));
                }
            },
            [bone @ .., "free"] if !bone.is_empty() => joint(bone, "free", None),
            [bone @ .., "hinge", "auto"] if !bone.is_empty() => {
                joint(bone, "hinge", Some(NewAxis::Auto))
            }
            [bone @ .., turn @ ("hinge" | "swing" | "swing-twist"), axis] if !bone.is_empty() => {
                let expected = match *turn {
                    "hinge" => "the axis x, y, z, -x, -y or -z, or auto",
                    _ => "the axis x, y, z, -x, -y or -z",
                };
                let found = || ProjectFault::malformed(expected, format!("'{axis}'"));
                let direction = letter_axis(axis).ok_or_else(found)?;
                joint(bone, turn, Some(NewAxis::Direction(direction)))
            }
            _ => {
                let turns = "TURN is hinge, swing, swing-twist or free";
                return Err(ProjectFault::expected(format!("{EXPECTED}; {turns}")));
            }
        };
        Ok(Self {
            name: name.to_owned(),
            reads,
        })
    }

    /// The lines that stand for it in a project.
    fn lines(&self) -> String {
        let key = toml_edit::Key::new(&self.name);
        let mut lines = format!("[control.{}]\n", key.display_repr());
        let mut text = |key: &str, value: &str| lines += &format!("{key} = {}\n", quoted(value));
        match &self.reads {
            NewReading::Joint { bone, turn, axis } => {
                text("joint", bone);
                text("turn", turn);
                if let Some(NewAxis::Direction(axis)) = axis {
                    match nearest_axis(*axis) {
                        (letter, 0.0) => text("axis", letter),
                        _ => {
                            let [x, y, z] = axis.to_array().map(|x| (1e6 * x).round() / 1e6 + 0.0);
                            lines += &format!("axis = [{x}, {y}, {z}]\n");
                        }
                    }
                }
            }
            NewReading::Slider { default } => {
                text("slider", &self.name);
                if let Some(default) = default {
                    lines += &format!("default = {default}\n");
                }
            }
        }
        lines
    }

    /// Whether its axis is to be found.
    pub fn is_auto(&self) -> bool {
        let auto = Some(NewAxis::Auto);
        matches!(&self.reads, NewReading::Joint { axis, .. } if *axis == auto)
    }

    /// The same with its axis found among how joints of the base turn.
    fn with_axis(&self, skin: &Skin, seen: &[(BoneId, JointMotion)]) -> Result<Self, ProjectFault> {
        let mut found = self.clone();
        if self.is_auto()
            && let NewReading::Joint { bone, axis, .. } = &mut found.reads
        {
            let id = find_bone(bone, skin)?;
            let motion = seen.iter().find(|(of, _)| *of == id);
            *axis = Some(NewAxis::Direction(
                match motion.map(|(_, motion)| *motion) {
                    Some(JointMotion::Hinge { axis, .. }) => match nearest_axis(axis) {
                        (letter, off) if off < ALONG_RAD => letter_axis(letter).unwrap_or(axis),
                        _ => axis,
                    },
                    seen => {
                        let bone = bone.clone();
                        return Err(ProjectFault::NoHinge { bone, seen });
                    }
                },
            ));
        }
        Ok(found)
    }
}

impl Project {
    /// A project without shapes around a base. It is in memory until it is [saved](Self::save).
    ///
    /// # Errors
    /// When the base cannot be read, or has no joint or room for a slider that a control names, or a joint whose axis
    /// is to be found is no hinge.
    pub fn new(path: &Path, base: &Path, controls: &[NewControl]) -> Result<Self, ProjectError> {
        let base = relative(base, folder_of(path))?;
        let read = Self::read_base(path, &base)?;
        let seen = match controls.iter().any(NewControl::is_auto) {
            true => (read.0.joint_motions()).map_err(|error| Placed::from(error).in_file(path))?,
            false => Vec::new(),
        };
        let mut text = format!(
            "# Shapes sculpted in poses: see docs/guide/sculpt-poses.md of dermis.\n\
             version = {VERSION}\n\
             base = {}\n",
            quoted(&base.to_string_lossy().replace('\\', "/"))
        );
        for (number, control) in controls.iter().enumerate() {
            if controls[..number].iter().any(|c| c.name == control.name) {
                let fault = ProjectFault::NameTwice {
                    what: "controls",
                    name: control.name.clone(),
                };
                return Err(Placed::from(fault).in_file(path));
            }
            let control = control.with_axis(&read.1, &seen).map_err(|fault| {
                let placed = Placed::from(fault).in_control(&control.name);
                placed.in_file(path)
            })?;
            text += &format!("\n{}", control.lines());
        }
        // Reading it back finds bones that are not there.
        let mut project = Self::from_text_on(path, text, read)?;
        project.saved = None;
        Ok(project)
    }
}

/// Text as TOML writes it.
fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// The way from a folder to a file, so that both can be moved together.
fn relative(file: &Path, folder: &Path) -> Result<PathBuf, IoError> {
    let full = |path: &Path| {
        let path = match path.as_os_str().is_empty() {
            true => Path::new("."),
            false => path,
        };
        std::path::absolute(path).map_err(|source| IoError::Read {
            path: path.to_owned(),
            source,
        })
    };
    let (file, folder) = (cleaned(&full(file)?), cleaned(&full(folder)?));
    let shared = (file.components())
        .zip(folder.components())
        .take_while(|(a, b)| a == b)
        .count();
    // Nothing in common, as on two drives: only the whole path says where it is.
    if shared == 0 {
        return Ok(file);
    }
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    Ok(up.chain(file.components().skip(shared)).collect())
}

/// A full path without `.` and `..`.
fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_named_as_seen_from_the_project() {
        for (file, folder, expected) in [
            ("arm.glb", "", "arm.glb"),
            ("arm.glb", ".", "arm.glb"),
            ("models/arm.glb", "work", "../models/arm.glb"),
            ("./work/../arm.glb", "work", "../arm.glb"),
            ("work/a/arm.glb", "work", "a/arm.glb"),
        ] {
            let found = relative(Path::new(file), Path::new(folder)).expect("paths");
            assert_eq!(found, Path::new(expected), "{file} from {folder}");
        }
    }

    #[test]
    fn controls_are_typed_in_one_word() {
        for (typed, lines) in [
            (
                "elbow=forearm:hinge:-z",
                "[control.elbow]\njoint = \"forearm\"\nturn = \"hinge\"\naxis = \"-z\"\n",
            ),
            (
                "hips=mixamorig:Hips:free",
                "[control.hips]\njoint = \"mixamorig:Hips\"\nturn = \"free\"\n",
            ),
            ("load=slider", "[control.load]\nslider = \"load\"\n"),
            (
                "a load=slider:0.5",
                "[control.\"a load\"]\nslider = \"a load\"\ndefault = 0.5\n",
            ),
        ] {
            let found = NewControl::parse(typed).expect(typed);
            assert_eq!(found.lines(), lines, "{typed}");
        }
        for (typed, expected) in [
            ("elbow", "expected NAME=BONE:TURN:AXIS"),
            ("elbow=forearm", "TURN is hinge"),
            ("elbow=forearm:hinge:w", "or auto, found 'w'"),
            ("elbow=forearm:swing:auto", "found 'auto'"),
            ("el,bow=forearm:free", "'el,bow' is no name"),
            ("load=slider:full", "expected a number after 'slider:'"),
        ] {
            let error = NewControl::parse(typed).expect_err(typed).to_string();
            assert!(error.contains(expected), "{expected:?} in {error}");
        }
    }
}
