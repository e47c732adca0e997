//! The controls of a project: joints and sliders under names of the user's own.

use anyhow::{Context, bail};
use dermis::pose_space::{Control, JointTurn};
use dermis::skin::Coefficient;
use dermis::{BoneId, Skin};
use glam::DVec3;

use super::file::{AxisText, ControlText, TurnText};

/// A control under its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedControl {
    /// As the project calls it.
    pub(crate) name: String,
    /// What it reads.
    pub(crate) control: Control,
    /// Its coordinates when nothing moves it, in the library's units.
    pub(crate) default: Vec<f64>,
}

impl NamedControl {
    /// What people see of one of its numbers: degrees for joints.
    pub(crate) fn to_shown(&self, coordinate: f64) -> f64 {
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

    /// The library's number for what people see.
    pub(crate) fn coordinate(&self, shown: f64) -> f64 {
        match self.control {
            Control::Joint { .. } => shown.to_radians(),
            Control::Slider { .. } => shown,
        }
    }

    /// What follows its numbers in sentences.
    pub(crate) fn unit(&self) -> &'static str {
        match self.control {
            Control::Joint { .. } => "°",
            Control::Slider { .. } => "",
        }
    }

    pub(crate) fn is_joint(&self) -> bool {
        matches!(self.control, Control::Joint { .. })
    }

    /// The bone that it turns.
    pub(crate) fn bone(&self) -> Option<BoneId> {
        match self.control {
            Control::Joint { bone, .. } => Some(bone),
            Control::Slider { .. } => None,
        }
    }

    /// The name of the slider that it is.
    pub(crate) fn slider<'a>(&self, skin: &'a Skin) -> Option<&'a str> {
        match self.control {
            Control::Joint { .. } => None,
            Control::Slider { coefficient } => Some(&skin.coefficients[coefficient].name),
        }
    }

    /// What it reads, for sentences: "a hinge of forearm".
    pub(crate) fn description(&self, skin: &Skin) -> String {
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

/// Finds what a control of the file reads; a slider that the skin lacks is added to it.
pub(super) fn resolve(
    name: &str,
    text: &ControlText,
    skin: &mut Skin,
) -> anyhow::Result<NamedControl> {
    check_name(name)?;
    let (control, default) = match (&text.joint, &text.slider) {
        (Some(joint), None) => {
            if text.default.is_some() {
                bail!("'default' is for sliders; the default of a joint is its rest pose");
            }
            let control = Control::Joint {
                bone: find_bone(joint, skin)?,
                turn: turn(text)?,
            };
            (control, vec![0.0; control.dimension()])
        }
        (None, Some(slider)) => {
            if text.turn.is_some() || text.axis.is_some() {
                bail!("'turn' and 'axis' are for joints, not for sliders");
            }
            let coefficient = find_slider(slider, text.default, skin)?;
            let default = skin.coefficients[coefficient].default;
            (Control::Slider { coefficient }, vec![default])
        }
        _ => bail!("expected either 'joint' (the bone below the joint) or 'slider'"),
    };
    Ok(NamedControl {
        name: name.to_owned(),
        control,
        default,
    })
}

/// Names of controls stand in poses, where some characters mean something.
fn check_name(name: &str) -> anyhow::Result<()> {
    check_characters(name, "")
}

/// Layers and sculpts may be named after several controls and fractions.
pub(crate) fn check_long_name(name: &str) -> anyhow::Result<()> {
    check_characters(name, "+.")
}

/// The name of a control that is most like a name from elsewhere.
pub(crate) fn as_name(text: &str) -> String {
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

fn check_characters(name: &str, more: &str) -> anyhow::Result<()> {
    let is_fine = |c: char| is_letter(c) || more.contains(c);
    match !name.trim().is_empty() && name == name.trim() && name.chars().all(is_fine) {
        true => Ok(()),
        false => bail!("'{name}' is no name: expected letters, digits, '-', '_' and spaces"),
    }
}

fn find_bone(name: &str, skin: &Skin) -> anyhow::Result<BoneId> {
    let posed = skin.posed_bone_count();
    let bone = skin.skeleton.find(name).with_context(|| {
        let bones = skin.skeleton.bones()[..posed].iter();
        let names: Vec<&str> = bones.map(|bone| bone.name.as_str()).collect();
        format!("the base has no bone '{name}'; it has {}", listed(&names))
    })?;
    if bone.index() >= posed {
        bail!(
            "bone '{name}' is placed by other bones, so shapes cannot depend on its turn: choose one of those"
        );
    }
    Ok(bone)
}

fn find_slider(name: &str, default: Option<f64>, skin: &mut Skin) -> anyhow::Result<usize> {
    if default.is_some_and(|default| !default.is_finite()) {
        bail!("'default' is not finite");
    }
    if let Some(found) = skin.coefficients.iter().position(|c| c.name == name) {
        let own = skin.coefficients[found].default;
        if found >= skin.posed_coefficient_count() {
            bail!("'{name}' is driven by the base itself: choose another name for the slider");
        }
        if default.is_some_and(|default| default != own) {
            bail!("'{name}' is a morph target of the base with default {own}: leave 'default' out");
        }
        return Ok(found);
    }
    if !skin.pose_program.drivers.is_empty() {
        bail!(
            "the base has no morph target '{name}', and no slider can be added below the {} \
             that drive its shapes: choose a base that was not sculpted yet",
            skin.pose_program.drivers.len()
        );
    }
    let slider = Coefficient {
        name: name.to_owned(),
        default: default.unwrap_or(0.0),
    };
    *skin = skin.clone().with_sliders([slider]);
    Ok(skin.coefficients.len() - 1)
}

fn turn(text: &ControlText) -> anyhow::Result<JointTurn> {
    let Some(turn) = text.turn else {
        bail!("expected 'turn': hinge, swing, swing-twist or free");
    };
    if turn == TurnText::Free {
        return match text.axis {
            None => Ok(JointTurn::Free),
            Some(_) => bail!("a free turn has no 'axis'"),
        };
    }
    let axis = match &text.axis {
        Some(axis) => unit_axis(axis)?,
        None => bail!("expected 'axis': x, y, z, -x, -y, -z or three numbers"),
    };
    Ok(match turn {
        TurnText::Hinge => JointTurn::Hinge { axis },
        TurnText::Swing => JointTurn::Swing { axis },
        TurnText::SwingTwist => JointTurn::SwingTwist { axis },
        TurnText::Free => unreachable!("answered above"),
    })
}

fn unit_axis(axis: &AxisText) -> anyhow::Result<DVec3> {
    let axis = match axis {
        AxisText::Letter(letter) => {
            return letter_axis(letter).with_context(|| {
                format!("axis '{letter}': expected x, y, z, -x, -y, -z or three numbers")
            });
        }
        AxisText::Vector(numbers) => match numbers[..] {
            [x, y, z] => DVec3::new(x, y, z),
            _ => bail!("axis: expected three numbers, found {}", numbers.len()),
        },
    };
    axis.try_normalize()
        .with_context(|| format!("axis {axis} has no direction"))
}

fn letter_axis(letter: &str) -> Option<DVec3> {
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

/// The first names of a list, for a message.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names if names.len() <= 24 => names.join(", "),
        names => format!("{} and {} more", names[..24].join(", "), names.len() - 24),
    }
}

/// One `--control`: its name and the lines that stand for it in a project.
pub(crate) fn control_lines(typed: &str) -> anyhow::Result<(String, String)> {
    let expected = "expected NAME=BONE:TURN:AXIS, such as elbow=forearm:hinge:z, or \
                    NAME=slider[:DEFAULT]";
    let (name, what) = typed
        .split_once('=')
        .with_context(|| format!("--control {typed}: {expected}"))?;
    let name = name.trim();
    check_name(name).with_context(|| format!("--control {typed}"))?;
    let slider = |default: Option<f64>| {
        let mut lines = format!("slider = {}\n", quoted(name));
        if let Some(default) = default {
            lines += &format!("default = {default}\n");
        }
        lines
    };
    let joint = |bone: &str, turn: &str, axis: Option<&str>| {
        let mut lines = format!("joint = {}\nturn = {}\n", quoted(bone), quoted(turn));
        if let Some(axis) = axis {
            lines += &format!("axis = {}\n", quoted(axis));
        }
        lines
    };
    // Bones may have colons in their names, as in `mixamorig:Hips`: the turn is looked for from the end.
    let parts: Vec<&str> = what.split(':').map(str::trim).collect();
    let lines = match &parts[..] {
        ["slider"] => slider(None),
        ["slider", default] => match default.parse::<f64>() {
            Ok(default) if default.is_finite() => slider(Some(default)),
            _ => bail!("--control {typed}: expected a number after 'slider:', found '{default}'"),
        },
        [bone @ .., "free"] if !bone.is_empty() => joint(&bone.join(":"), "free", None),
        [bone @ .., turn @ ("hinge" | "swing" | "swing-twist"), axis] if !bone.is_empty() => {
            if letter_axis(axis).is_none() {
                bail!("--control {typed}: expected the axis x, y, z, -x, -y or -z, found '{axis}'");
            }
            joint(&bone.join(":"), turn, Some(axis))
        }
        _ => bail!("--control {typed}: {expected}; TURN is hinge, swing, swing-twist or free"),
    };
    Ok((name.to_owned(), lines))
}

/// Text as TOML writes it.
pub(crate) fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_typed_in_one_word() {
        for (typed, name, lines) in [
            (
                "elbow=forearm:hinge:-z",
                "elbow",
                "joint = \"forearm\"\nturn = \"hinge\"\naxis = \"-z\"\n",
            ),
            (
                "hips=mixamorig:Hips:free",
                "hips",
                "joint = \"mixamorig:Hips\"\nturn = \"free\"\n",
            ),
            ("load=slider", "load", "slider = \"load\"\n"),
            (
                "load=slider:0.5",
                "load",
                "slider = \"load\"\ndefault = 0.5\n",
            ),
        ] {
            let found = control_lines(typed).expect(typed);
            assert_eq!(found, (name.to_owned(), lines.to_owned()), "{typed}");
        }
        for (typed, expected) in [
            ("elbow", "expected NAME=BONE:TURN:AXIS"),
            ("elbow=forearm", "TURN is hinge"),
            ("elbow=forearm:hinge:w", "found 'w'"),
            ("el,bow=forearm:free", "'el,bow' is no name"),
            ("load=slider:full", "expected a number after 'slider:'"),
        ] {
            let error = format!("{:#}", control_lines(typed).expect_err(typed));
            assert!(error.contains(expected), "{expected:?} in {error}");
        }
    }

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
