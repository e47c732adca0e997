//! The controls of a project: joints and sliders under names of the user's own.

use dermis::pose_space::{Control, JointTurn};
use dermis::skin::Coefficient;
use dermis::{BoneId, Skin};
use glam::DVec3;

use super::error::{Placed, ProjectFault};
use super::text::{AxisText, ControlText, TurnText};

/// A joint or a slider under the name that a project has for it.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedControl {
    /// As the project calls it.
    pub name: String,
    /// What it reads.
    pub control: Control,
    /// Its coordinates when nothing moves it: radians for joints.
    pub default: Vec<f64>,
}

impl NamedControl {
    /// What people see of one of its numbers: degrees for joints.
    pub fn to_shown(&self, coordinate: f64) -> f64 {
        let shown = match self.control {
            Control::Joint { .. } => coordinate.to_degrees(),
            Control::Slider { .. } => coordinate,
        };
        // Nobody means the last digits, which a way through radians changes.
        let rounded = (shown * 1e9).round() / 1e9;
        match rounded == 0.0 {
            true => 0.0,
            false => rounded,
        }
    }

    /// The coordinate for what people see.
    pub fn coordinate(&self, shown: f64) -> f64 {
        match self.control {
            Control::Joint { .. } => shown.to_radians(),
            Control::Slider { .. } => shown,
        }
    }

    /// What follows its numbers in sentences.
    pub fn unit(&self) -> &'static str {
        match self.control {
            Control::Joint { .. } => "°",
            Control::Slider { .. } => "",
        }
    }

    /// True for joints, whose numbers are angles.
    pub fn is_joint(&self) -> bool {
        matches!(self.control, Control::Joint { .. })
    }

    /// The bone that it turns.
    pub fn bone(&self) -> Option<BoneId> {
        match self.control {
            Control::Joint { bone, .. } => Some(bone),
            Control::Slider { .. } => None,
        }
    }

    /// The name of the slider that it is.
    pub fn slider<'a>(&self, skin: &'a Skin) -> Option<&'a str> {
        match self.control {
            Control::Joint { .. } => None,
            Control::Slider { coefficient } => Some(&skin.coefficients[coefficient].name),
        }
    }

    /// What it reads, for sentences: "the hinge of forearm".
    pub fn description(&self, skin: &Skin) -> String {
        match self.control {
            Control::Joint { bone, turn } => {
                let kind = match turn {
                    JointTurn::Hinge { .. } => "hinge",
                    JointTurn::Swing { .. } => "swing",
                    JointTurn::SwingTwist { .. } => "swing and twist",
                    JointTurn::Free => "free turn",
                };
                format!("the {kind} of {}", skin.skeleton.bones()[bone.index()].name)
            }
            Control::Slider { coefficient } => {
                format!("the slider {}", skin.coefficients[coefficient].name)
            }
        }
    }
}

/// The names of some controls.
pub(super) fn names<'a>(controls: impl IntoIterator<Item = &'a NamedControl>) -> Vec<String> {
    controls.into_iter().map(|c| c.name.clone()).collect()
}

/// Finds what a control of the file reads; a slider that the skin lacks is added to it.
pub(super) fn resolve(
    name: &str,
    text: &ControlText,
    skin: &mut Skin,
) -> Result<NamedControl, Placed> {
    check_name(name)?;
    let (control, default) = match (&text.joint, &text.slider) {
        (Some(joint), None) => {
            if text.default.is_some() {
                let fault = ProjectFault::Misplaced {
                    fields: "'default'",
                    belongs_to: "sliders; the default of a joint is its rest pose",
                };
                return Err(fault.into());
            }
            let control = Control::Joint {
                bone: find_bone(joint, skin)?,
                turn: turn(text)?,
            };
            (control, vec![0.0; control.dimension()])
        }
        (None, Some(slider)) => {
            if text.turn.is_some() || text.axis.is_some() {
                let fault = ProjectFault::Misplaced {
                    fields: "'turn' and 'axis'",
                    belongs_to: "joints, not for sliders",
                };
                return Err(fault.into());
            }
            let coefficient = find_slider(slider, text.default, skin)?;
            let default = skin.coefficients[coefficient].default;
            (Control::Slider { coefficient }, vec![default])
        }
        _ => {
            let expected = "either 'joint' (the bone below the joint) or 'slider'";
            return Err(ProjectFault::expected(expected).into());
        }
    };
    Ok(NamedControl {
        name: name.to_owned(),
        control,
        default,
    })
}

/// Names of controls stand in poses, where some characters mean something.
pub(super) fn check_name(name: &str) -> Result<(), ProjectFault> {
    check_characters(name, "")
}

/// Layers and sculpts may be named after several controls and fractions.
pub(super) fn check_long_name(name: &str) -> Result<(), ProjectFault> {
    check_characters(name, "+.")
}

/// The name of a control that is most like a name from elsewhere.
pub(super) fn as_name(text: &str) -> String {
    let letter = |c: char| if is_letter(c) { c } else { '_' };
    let name: String = text.trim().chars().map(letter).collect();
    match name.is_empty() {
        true => "shape".to_owned(),
        false => name,
    }
}

/// Characters that any name may have.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || "_- ".contains(c)
}

fn check_characters(name: &str, more: &str) -> Result<(), ProjectFault> {
    let is_fine = |c: char| is_letter(c) || more.contains(c);
    match !name.trim().is_empty() && name == name.trim() && name.chars().all(is_fine) {
        true => Ok(()),
        false => Err(ProjectFault::BadName {
            name: name.to_owned(),
        }),
    }
}

pub(super) fn find_bone(name: &str, skin: &Skin) -> Result<BoneId, ProjectFault> {
    let posed = skin.posed_bone_count();
    let name = name.to_owned();
    match skin.skeleton.find(&name) {
        None => {
            let bones = skin.skeleton.bones()[..posed].iter();
            let known = bones.map(|bone| bone.name.clone()).collect();
            Err(ProjectFault::NoBone { name, known })
        }
        Some(bone) if bone.index() >= posed => Err(ProjectFault::PlacedBone { name }),
        Some(bone) => Ok(bone),
    }
}

fn find_slider(name: &str, default: Option<f64>, skin: &mut Skin) -> Result<usize, Placed> {
    if default.is_some_and(|default| !default.is_finite()) {
        return Err(ProjectFault::expected("a finite number").in_item("default"));
    }
    let name = name.to_owned();
    if let Some(found) = skin.coefficients.iter().position(|c| c.name == name) {
        let own = skin.coefficients[found].default;
        if found >= skin.posed_coefficient_count() {
            return Err(ProjectFault::DrivenSlider { name }.into());
        }
        if default.is_some_and(|default| default != own) {
            return Err(ProjectFault::OtherDefault { name, default: own }.into());
        }
        return Ok(found);
    }
    let drivers = skin.pose_program.drivers.len();
    if drivers > 0 {
        return Err(ProjectFault::NoRoomForSlider { name, drivers }.into());
    }
    let slider = Coefficient {
        name,
        default: default.unwrap_or(0.0),
    };
    *skin = skin.clone().with_sliders([slider]);
    Ok(skin.coefficients.len() - 1)
}

fn turn(text: &ControlText) -> Result<JointTurn, Placed> {
    let Some(turn) = text.turn else {
        return Err(ProjectFault::expected("'turn': hinge, swing, swing-twist or free").into());
    };
    if turn == TurnText::Free {
        return match text.axis {
            None => Ok(JointTurn::Free),
            Some(_) => Err(ProjectFault::Misplaced {
                fields: "'axis'",
                belongs_to: "the other turns, not for a free one",
            }
            .into()),
        };
    }
    let axis = match &text.axis {
        Some(axis) => unit_axis(axis).map_err(|fault| fault.in_item("axis"))?,
        None => return Err(ProjectFault::expected(format!("'axis': {AXES}")).into()),
    };
    Ok(match turn {
        TurnText::Hinge => JointTurn::Hinge { axis },
        TurnText::Swing => JointTurn::Swing { axis },
        TurnText::SwingTwist => JointTurn::SwingTwist { axis },
        TurnText::Free => unreachable!("answered above"),
    })
}

/// What an axis may be.
const AXES: &str = "x, y, z, -x, -y, -z or three numbers";

fn unit_axis(axis: &AxisText) -> Result<DVec3, ProjectFault> {
    let axis = match axis {
        AxisText::Letter(letter) => {
            let found = || ProjectFault::malformed(AXES, format!("'{letter}'"));
            return letter_axis(letter).ok_or_else(found);
        }
        AxisText::Vector(numbers) => match numbers[..] {
            [x, y, z] => DVec3::new(x, y, z),
            _ => {
                let found = numbers.len().to_string();
                return Err(ProjectFault::malformed("three numbers", found));
            }
        },
    };
    axis.try_normalize()
        .ok_or_else(|| ProjectFault::malformed("a direction", axis.to_string()))
}

/// The axis that a letter stands for.
pub(super) fn letter_axis(letter: &str) -> Option<DVec3> {
    Some(match letter {
        "x" => DVec3::X,
        "y" => DVec3::Y,
        "z" => DVec3::Z,
        "-x" => DVec3::NEG_X,
        "-y" => DVec3::NEG_Y,
        "-z" => DVec3::NEG_Z,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_come_back_as_they_were_typed() {
        let elbow = NamedControl {
            name: "elbow".to_owned(),
            control: Control::Joint {
                bone: BoneId(0),
                turn: JointTurn::Free,
            },
            default: vec![0.0; 3],
        };
        for degrees in (-1800..1800).map(|tenths| f64::from(tenths) / 10.0) {
            assert_eq!(
                elbow.to_shown(elbow.coordinate(degrees)),
                degrees,
                "no digit more"
            );
        }
    }
}
