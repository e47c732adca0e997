//! Poses of a project: the coordinates of all its controls, as text and as [`Pose`].

use dermis::{Pose, Skin};

use super::controls::{NamedControl, names};
use super::error::{Placed, ProjectFault};

/// The coordinates of every control of a project, in its order: radians for joints.
pub type Coordinates = Vec<Vec<f64>>;

/// Coordinates nearer than this, in radians or as a slider's numbers, are the same.
const SAME: f64 = 1e-6;

/// The pose in which nothing has moved.
pub(super) fn at_rest(controls: &[NamedControl]) -> Coordinates {
    controls.iter().map(|c| c.default.clone()).collect()
}

/// True when two coordinates of one control are the same.
pub(super) fn is_same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < SAME)
}

/// The numbers of the controls that differ from their defaults.
pub(super) fn moved(controls: &[NamedControl], at: &Coordinates) -> Vec<usize> {
    (0..controls.len())
        .filter(|&c| !is_same(&at[c], &controls[c].default))
        .collect()
}

/// All bones, and the coefficients that a pose gives.
pub(super) fn to_pose(controls: &[NamedControl], skin: &Skin, at: &Coordinates) -> Pose {
    let mut pose = rest(skin);
    for (control, coordinates) in controls.iter().zip(at) {
        control
            .control
            .place(&skin.skeleton, coordinates, &mut pose);
    }
    pose
}

/// Reads `elbow=90, load=1, forearm.rz=30`: what differs from rest.
pub(super) fn parse(
    text: &str,
    controls: &[NamedControl],
    skin: &Skin,
) -> Result<Coordinates, Placed> {
    let mut pose = rest(skin);
    let items = text.split([',', ';']).map(str::trim);
    for item in items.filter(|item| !item.is_empty() && *item != "rest") {
        apply(item, controls, skin, &mut pose)
            .map_err(|fault| fault.in_item(format!("pose '{text}': '{item}'")))?;
    }
    read_back(&pose, controls, skin).map_err(|fault| fault.in_item(format!("pose '{text}'")))
}

fn rest(skin: &Skin) -> Pose {
    let mut pose = skin.skeleton.rest_pose();
    pose.coefficients = skin.default_coefficients()[..skin.posed_coefficient_count()].to_vec();
    pose
}

fn apply(
    item: &str,
    controls: &[NamedControl],
    skin: &Skin,
    pose: &mut Pose,
) -> Result<(), ProjectFault> {
    let Some((name, value)) = item.split_once('=') else {
        return Err(ProjectFault::expected("CONTROL=VALUE, such as elbow=90"));
    };
    let (name, value) = (name.trim(), value.trim());
    let Some(control) = controls.iter().find(|control| control.name == name) else {
        return (skin.apply_pose_item(item, pose)).map_err(|problem| ProjectFault::NotOfProject {
            controls: names(controls),
            problem,
        });
    };
    let coordinates = parse_value(value, control)?;
    control.control.place(&skin.skeleton, &coordinates, pose);
    Ok(())
}

/// `90`, `90deg`, `1.2rad`, `30/0/45`; a slider's plain number.
fn parse_value(text: &str, control: &NamedControl) -> Result<Vec<f64>, ProjectFault> {
    let dimension = control.control.dimension();
    let numbers: Vec<f64> = text
        .split('/')
        .map(|number| parse_number(number, control))
        .collect::<Result<_, _>>()?;
    if numbers.len() != dimension {
        let expected = match dimension {
            1 => "one number".to_owned(),
            more => format!("{more} numbers, as in {}", vec!["30"; more].join("/")),
        };
        let expected = format!("{expected} for {}", control.name);
        return Err(ProjectFault::malformed(expected, numbers.len().to_string()));
    }
    Ok(numbers)
}

/// One number in the library's unit.
pub(super) fn parse_number(text: &str, control: &NamedControl) -> Result<f64, ProjectFault> {
    let text = text.trim();
    let (number, is_rad) = match (text.strip_suffix("deg"), text.strip_suffix("rad")) {
        (Some(number), _) => (number, Some(false)),
        (_, Some(number)) => (number, Some(true)),
        _ => (text.strip_suffix('°').unwrap_or(text), None),
    };
    if is_rad.is_some() && !control.is_joint() {
        return Err(ProjectFault::SliderWithUnit {
            control: control.name.clone(),
            found: text.to_owned(),
        });
    }
    let number: f64 = match number.trim().parse() {
        Ok(number) if f64::is_finite(number) => number,
        _ => {
            let expected = format!("a number for {}", control.name);
            return Err(ProjectFault::malformed(expected, format!("'{text}'")));
        }
    };
    Ok(match is_rad {
        Some(true) => number,
        _ => control.coordinate(number),
    })
}

/// The coordinates of a pose, which must be all that it has moved.
fn read_back(
    pose: &Pose,
    controls: &[NamedControl],
    skin: &Skin,
) -> Result<Coordinates, ProjectFault> {
    let mut at = Coordinates::new();
    for control in controls {
        let mut own = Vec::new();
        control.control.push_coordinates(
            &skin.skeleton,
            &pose.parent_from_bone,
            &pose.coefficients,
            &mut own,
        );
        // As the project will have them, so that what is sculpted now is what is read then.
        for x in &mut own {
            *x = control.coordinate(control.to_shown(*x));
        }
        at.push(own);
    }
    let again = to_pose(controls, skin, &at);
    let bones = skin.skeleton.bones();
    let pairs = pose.parent_from_bone.iter().zip(&again.parent_from_bone);
    for (j, (given, read)) in pairs.enumerate() {
        // Rounding to a millionth of a millionth of a turn, and the size of the model.
        let size = 1.0 + given.translation.abs().max_element();
        if given.abs_diff_eq(*read, 1e-9 * size) {
            continue;
        }
        let bone = bones[j].name.clone();
        let reads_it = |c: &&NamedControl| c.bone().is_some_and(|b| b.index() == j);
        return Err(match controls.iter().find(reads_it) {
            None => ProjectFault::UnreadBone { bone },
            Some(control) => ProjectFault::UnreadTurn {
                bone,
                control: control.name.clone(),
                reads: control.description(skin),
            },
        });
    }
    let pairs = pose.coefficients.iter().zip(&again.coefficients);
    for (m, (given, read)) in pairs.enumerate() {
        if (given - read).abs() > SAME {
            return Err(ProjectFault::UnreadTarget {
                target: skin.coefficients[m].name.clone(),
            });
        }
    }
    Ok(at)
}

/// A pose as people type it; `rest` when nothing has moved.
pub(super) fn to_text(controls: &[NamedControl], at: &Coordinates) -> String {
    let moved = moved(controls, at);
    let items: Vec<String> = (moved.iter())
        .map(|&c| format!("{}={}", controls[c].name, value_text(&controls[c], &at[c])))
        .collect();
    match items.is_empty() {
        true => "rest".to_owned(),
        false => items.join(","),
    }
}

/// Coordinates as people type them: `90`, `30/0/45`.
pub(super) fn value_text(control: &NamedControl, coordinates: &[f64]) -> String {
    let shown = coordinates.iter().map(|x| control.to_shown(*x).to_string());
    shown.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use dermis::BoneId;
    use dermis::pose_space::{Control, JointTurn};
    use dermis::skin::Coefficient;
    use dermis::synth::{TubeOptions, tube};
    use glam::DVec3;

    use super::*;

    fn skin() -> Skin {
        let made = tube(&TubeOptions {
            ring_count: 4,
            segment_count: 3,
            bone_count: 3,
            example_count: 1,
        });
        let load = Coefficient {
            name: "load".to_owned(),
            default: 0.5,
        };
        made.truth.with_sliders([load])
    }

    fn controls() -> Vec<NamedControl> {
        let named = |name: &str, control: Control, default: f64| NamedControl {
            name: name.to_owned(),
            control,
            default: vec![default; control.dimension()],
        };
        let joint = |bone, turn| Control::Joint {
            bone: BoneId(bone),
            turn,
        };
        vec![
            named("elbow", joint(1, JointTurn::Hinge { axis: DVec3::Z }), 0.0),
            named("wrist", joint(2, JointTurn::Free), 0.0),
            named("carry", Control::Slider { coefficient: 0 }, 0.5),
        ]
    }

    #[test]
    fn poses_are_typed_with_controls_or_bones() {
        let (skin, controls) = (skin(), controls());
        let bones = skin.skeleton.bones();
        for (typed, shown) in [
            ("rest", "rest"),
            ("", "rest"),
            ("carry=0.5", "rest"),
            ("elbow=90", "elbow=90"),
            ("elbow = 90deg ; carry=1", "elbow=90,carry=1"),
            ("elbow=-1.5707963267948966rad", "elbow=-90"),
            ("wrist=30/0/45", "wrist=30/0/45"),
            (&format!("{}.rz=33", bones[1].name), "elbow=33"),
            (&format!("{}.rx=12", bones[2].name), "wrist=12/0/0"),
        ] {
            let at = parse(typed, &controls, &skin).unwrap_or_else(|e| panic!("{typed}: {e:?}"));
            assert_eq!(to_text(&controls, &at), shown, "{typed}");
        }
    }

    #[test]
    fn what_no_control_reads_is_refused() {
        let (skin, controls) = (skin(), controls());
        let bones = skin.skeleton.bones();
        for (typed, expected) in [
            ("elbow", "expected CONTROL=VALUE"),
            ("elbow=1/2", "expected one number for elbow, found 2"),
            (
                "wrist=1",
                "expected 3 numbers, as in 30/30/30 for wrist, found 1",
            ),
            ("carry=1deg", "carry is a slider"),
            ("elbow=far", "expected a number for elbow, found 'far'"),
            ("knee=3", "no control of the project (elbow, wrist, carry)"),
            (&format!("{}.rz=5", bones[0].name), "which no control reads"),
            (
                &format!("{}.rx=5", bones[1].name),
                "in a way that control elbow, the hinge of",
            ),
            (
                &format!("{}.tx=5", bones[1].name),
                "in a way that control elbow",
            ),
        ] {
            let error = parse(typed, &controls, &skin).expect_err(typed);
            let error = format!("{}{}", error.place, error.fault);
            assert!(error.contains(expected), "{expected:?} in {error}");
        }
    }
}
