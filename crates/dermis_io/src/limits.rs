//! Joint limits as people write them: a text file with a table per joint.
//!
//! ```toml
//! others = "fixed"         # free, fixed, or seen: as in the clips
//! [[joint]]
//! bone = "forearm"
//! turn = "hinge"           # free, fixed, hinge, cone or ball
//! axis = [0, 0, 1]
//! angle_deg = [0, 150]
//! ```

use std::path::{Path, PathBuf};

use dermis::joint::{JointLimits, JointStatistics, TurnLimits};
use dermis::rig::RigError;
use dermis::{BoneId, Skin};
use glam::{DAffine3, DQuat, DVec3};
use serde::Deserialize;

use crate::{IoError, text_file};

/// Why joint limits could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// The file cannot be read, or is no TOML of limits.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Joints should do what they did, and nobody saw them.
    #[error("{}: others = \"seen\" needs clips, and there are none", path.display())]
    NothingSeen {
        /// The file.
        path: PathBuf,
    },
    /// What the file says about a joint is wrong.
    #[error("{}: joint {joint}: {problem}", path.display())]
    Joint {
        /// The file.
        path: PathBuf,
        /// Name of the joint's bone.
        joint: String,
        /// What is wrong.
        problem: LimitsProblem,
    },
}

/// What is wrong with the limits of one joint.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsProblem {
    /// No pose moves a bone of that name.
    #[error("the skin has no bone of that name that a pose can move")]
    NoBone,
    /// It has two tables.
    #[error("it is named twice")]
    Twice,
    /// A field is missing, or no direction.
    #[error("expected {expected}")]
    Expected {
        /// What should be there.
        expected: &'static str,
    },
    /// A field belongs to joints of another kind.
    #[error("{field} does not belong to a joint of turn {turn}")]
    Misplaced {
        /// The field.
        field: &'static str,
        /// How the joint turns.
        turn: &'static str,
    },
    /// The numbers are no limits.
    #[error("{reason}")]
    BadNumbers {
        /// Why.
        reason: String,
    },
}

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsText {
    /// What joints do that are not named; free unless the caller knows better.
    others: Option<Others>,
    #[serde(default)]
    joint: Vec<JointText>,
}

/// What joints do that a file does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Others {
    /// Turn every way.
    Free,
    /// Stay as they rest.
    Fixed,
    /// What they do in the clips of the file, in any combination.
    Seen,
}

/// `[[joint]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JointText {
    bone: String,
    turn: TurnText,
    axis: Option<[f64; 3]>,
    /// Range of a hinge.
    angle_deg: Option<[f64; 2]>,
    /// Largest angle of a cone.
    cone_deg: Option<f64>,
    /// Largest swing of a ball joint.
    swing_deg: Option<f64>,
    /// Range of twists of a ball joint.
    twist_deg: Option<[f64; 2]>,
    /// How far the joint may slide, in model units.
    slide: Option<f64>,
    /// Smallest and largest scale.
    scale: Option<[f64; 2]>,
}

/// How a joint turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TurnText {
    Free,
    Fixed,
    Hinge,
    Cone,
    Ball,
}

/// Limits for every posed bone of a skin, and where each comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadLimits {
    /// One for each bone that a pose moves.
    pub limits: Vec<JointLimits>,
    /// Whether the file names the joint, bone by bone.
    pub named: Vec<bool>,
    /// What the other joints do, when the file says so.
    pub others: Option<Others>,
}

/// Limits for every posed bone of a skin, as a file says. Turns are counted from the rest pose.
///
/// `seen` is what joints did in clips; `unsaid` is what those joints do that the file says nothing about, not even in
/// its line `others`.
///
/// # Errors
/// [`LimitsError`], with the line or the joint that is wrong.
pub fn read_limits(
    path: &Path,
    skin: &Skin,
    seen: &[JointStatistics],
    unsaid: Others,
) -> Result<ReadLimits, LimitsError> {
    let parsed: LimitsText = text_file::parse_toml(path, &text_file::read(path)?)?;
    let rest = skin.skeleton.rest_pose().parent_from_bone;
    let mut limits: Vec<JointLimits> = match parsed.others.unwrap_or(unsaid) {
        Others::Free => skin.free_limits(seen),
        Others::Fixed => (skin.skeleton.ids().zip(&rest))
            .map(|(bone, local)| JointLimits::fixed(bone, local))
            .collect(),
        Others::Seen if seen.is_empty() => {
            let path = path.to_owned();
            return Err(LimitsError::NothingSeen { path });
        }
        Others::Seen => seen.iter().map(JointLimits::from_statistics).collect(),
    };
    limits.truncate(skin.posed_bone_count());
    let mut named = vec![false; limits.len()];
    for joint in &parsed.joint {
        let wrong = |problem: LimitsProblem| LimitsError::Joint {
            path: path.to_owned(),
            joint: joint.bone.clone(),
            problem,
        };
        let bone = skin.skeleton.find(&joint.bone);
        let Some(bone) = bone.filter(|bone| bone.index() < limits.len()) else {
            return Err(wrong(LimitsProblem::NoBone));
        };
        if std::mem::replace(&mut named[bone.index()], true) {
            return Err(wrong(LimitsProblem::Twice));
        }
        limits[bone.index()] = joint_limits(joint, bone, &rest[bone.index()]).map_err(wrong)?;
    }
    Ok(ReadLimits {
        limits,
        named,
        others: parsed.others,
    })
}

fn joint_limits(
    joint: &JointText,
    bone: BoneId,
    rest: &DAffine3,
) -> Result<JointLimits, LimitsProblem> {
    let base = JointLimits::fixed(bone, rest);
    let center = base.turn.center().unwrap_or(DQuat::IDENTITY);
    let expected = |expected: &'static str| LimitsProblem::Expected { expected };
    let axis = || {
        let axis = joint.axis.map(DVec3::from_array);
        let axis = axis.ok_or(expected("axis = [x, y, z], in the bone's frame"))?;
        let zero = expected("a direction, but the axis is zero");
        axis.try_normalize().ok_or(zero)
    };
    check_fields(joint)?;
    let turn = match joint.turn {
        TurnText::Free => TurnLimits::Free,
        TurnText::Fixed => base.turn,
        TurnText::Hinge => {
            let range = joint.angle_deg;
            let [min, max] = range.ok_or(expected("angle_deg = [least, most]"))?;
            TurnLimits::Hinge {
                center,
                axis: axis()?,
                min_rad: min.to_radians(),
                max_rad: max.to_radians(),
                wobble_rad: 0.0,
            }
        }
        TurnText::Cone => TurnLimits::Cone {
            center,
            max_angle_rad: joint.cone_deg.ok_or(expected("cone_deg"))?.to_radians(),
        },
        TurnText::Ball => {
            let [min, max] = joint.twist_deg.unwrap_or([0.0, 0.0]);
            TurnLimits::SwingTwist {
                center,
                axis: axis()?,
                max_swing_rad: joint.swing_deg.ok_or(expected("swing_deg"))?.to_radians(),
                min_twist_rad: min.to_radians(),
                max_twist_rad: max.to_radians(),
            }
        }
    };
    let found = JointLimits {
        turn,
        translation_radius: joint.slide.unwrap_or(0.0),
        scale_range: joint.scale.unwrap_or(base.scale_range),
        ..base
    };
    match found.check() {
        Ok(()) => Ok(found),
        // The error has the number of the bone, the file its name.
        Err(RigError::BadLimits { problem, .. }) => Err(LimitsProblem::BadNumbers {
            reason: problem.to_string(),
        }),
        Err(error) => Err(LimitsProblem::BadNumbers {
            reason: error.to_string(),
        }),
    }
}

/// Refuses fields that a joint of another kind has.
fn check_fields(joint: &JointText) -> Result<(), LimitsProblem> {
    let fields = [
        (
            "axis",
            joint.axis.is_some(),
            &[TurnText::Hinge, TurnText::Ball][..],
        ),
        ("angle_deg", joint.angle_deg.is_some(), &[TurnText::Hinge]),
        ("cone_deg", joint.cone_deg.is_some(), &[TurnText::Cone]),
        ("swing_deg", joint.swing_deg.is_some(), &[TurnText::Ball]),
        ("twist_deg", joint.twist_deg.is_some(), &[TurnText::Ball]),
    ];
    for (field, given, kinds) in fields {
        if given && !kinds.contains(&joint.turn) {
            let turn = joint.turn.name();
            return Err(LimitsProblem::Misplaced { field, turn });
        }
    }
    Ok(())
}

impl TurnText {
    /// As it is written.
    fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Fixed => "fixed",
            Self::Hinge => "hinge",
            Self::Cone => "cone",
            Self::Ball => "ball",
        }
    }
}

#[cfg(test)]
mod tests {
    use dermis::joint::TurnLimits;
    use dermis::synth::{TubeOptions, tube};

    use super::*;

    fn read(text: &str) -> Result<ReadLimits, String> {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("limits.toml");
        std::fs::write(&path, text).expect("it can be written");
        let skin = tube(&TubeOptions::default()).truth;
        let read = read_limits(&path, &skin, &[], Others::Free);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn named_joints_have_their_limits_and_others_what_the_file_says() {
        let hinge = "[[joint]]\nbone = \"bone_1\"\nturn = \"hinge\"\naxis = [0, 2, 0]\nangle_deg = [0, 90]\n";
        let found = read(&format!("others = \"fixed\"\n{hinge}")).expect("good limits");
        assert_eq!(&found.named[..2], [false, true], "bone by bone");
        assert_eq!(found.others, Some(Others::Fixed), "as written");
        let TurnLimits::Hinge { axis, max_rad, .. } = found.limits[1].turn else {
            panic!("a hinge: {:?}", found.limits[1]);
        };
        assert_eq!(axis, DVec3::Y, "of length 1");
        assert!((max_rad - 90f64.to_radians()).abs() < 1e-12, "in radians");
        assert_eq!(found.limits[0].turn.largest_angle_rad(), 0.0, "fixed");
        let free = read(hinge).expect("good limits");
        assert_eq!(free.limits[0].turn, TurnLimits::Free, "as unsaid");
    }

    #[test]
    fn what_is_wrong_is_said_with_file_and_joint() {
        let joint = |rest: &str| format!("[[joint]]\nbone = \"bone_1\"\n{rest}\n");
        let fixed = joint("turn = \"fixed\"");
        for (text, expected) in [
            ("others = \"seen\"".to_owned(), "needs clips"),
            ("other = 1".to_owned(), "line 1: unknown field 'other'"),
            (
                "[[joint]]\nbone = \"tail\"\nturn = \"free\"".to_owned(),
                "joint tail: the skin has no bone of that name",
            ),
            (fixed.repeat(2), "joint bone_1: it is named twice"),
            (joint("turn = \"cone\""), "expected cone_deg"),
            (
                joint("turn = \"cone\"\nswing_deg = 3"),
                "swing_deg does not belong to a joint of turn cone",
            ),
            (
                joint("turn = \"hinge\"\naxis = [0, 0, 0]\nangle_deg = [0, 1]"),
                "the axis is zero",
            ),
            (
                joint("turn = \"hinge\"\naxis = [0, 0, 1]\nangle_deg = [90, 0]"),
                "joint bone_1: ",
            ),
        ] {
            let error = read(&text).expect_err(&text);
            assert!(error.contains("limits.toml: "), "{error}");
            assert!(error.contains(expected), "{expected:?} in {error}");
        }
    }
}
