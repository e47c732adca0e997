//! Poses as people type them: `forearm.rz=90, hand.rx=45, smile=0.5`.

use glam::{DAffine3, DQuat, DVec3};

use super::Skin;
use crate::rig::{BoneId, Pose};

/// Most names that a message lists.
const MOST_NAMES: usize = 12;

/// A pose that was typed and says nothing that a skin can do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("pose '{text}': '{item}': {problem}")]
pub struct PoseTextError {
    /// All that was typed.
    pub text: String,
    /// The item that is wrong.
    pub item: String,
    /// What is wrong with it.
    pub problem: PoseProblem,
}

/// What is wrong with one item of a typed pose.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseProblem {
    /// It has no `=`.
    #[error("expected NAME=VALUE, such as forearm.rz=90")]
    NoValue,
    /// What follows the `=` is no finite number.
    #[error("expected a number after '=', found '{found}'")]
    NoNumber {
        /// What was typed.
        found: String,
    },
    /// Nothing has that name.
    #[error(
        "there is no such bone or morph target; known are {}",
        first_names(known)
    )]
    UnknownName {
        /// What can be named: turns of bones, and morph targets.
        known: Vec<String>,
    },
    /// The skin moves the bone by itself.
    #[error("the bone is placed by other bones, so a pose cannot move it: move those")]
    PlacedBone {
        /// Name of the bone.
        bone: String,
    },
    /// A bone does not move so.
    #[error("expected .rx .ry .rz .tx .ty .tz or .s after the bone, found '.{found}'")]
    UnknownMotion {
        /// What was typed behind the dot.
        found: String,
    },
}

impl Skin {
    /// Reads a pose: `rest`, `default`, or a list of what differs from the default pose.
    ///
    /// An item turns a bone by degrees about its own axis (`forearm.rz=90`), slides it in its parent's frame
    /// (`hand.tx=0.1`), scales it (`head.s=1.2`), or sets a morph target (`smile=0.5`). Commas or semicolons part
    /// items.
    ///
    /// ```
    /// let skin = dermis::synth::tube(&Default::default()).truth;
    /// let pose = skin.parse_pose("bone_1.rz=90")?;
    /// let turned = pose.parent_from_bone[1].matrix3.x_axis;
    /// assert!(turned.abs_diff_eq(glam::DVec3::Y, 1e-12));
    /// assert!(skin.parse_pose("bone_1.rz=far").is_err());
    /// # Ok::<(), dermis::skin::PoseTextError>(())
    /// ```
    ///
    /// # Errors
    /// [`PoseTextError`] names the first item that is wrong.
    pub fn parse_pose(&self, text: &str) -> Result<Pose, PoseTextError> {
        match text.trim() {
            "rest" => return Ok(self.skeleton.rest_pose()),
            "default" => return Ok(self.skeleton.default_pose()),
            _ => {}
        }
        let mut pose = self.skeleton.default_pose();
        pose.coefficients = self.default_coefficients();
        let items = text.split([',', ';']).map(str::trim);
        for item in items.filter(|item| !item.is_empty()) {
            self.apply_pose_item(item, &mut pose)
                .map_err(|problem| PoseTextError {
                    text: text.to_owned(),
                    item: item.to_owned(),
                    problem,
                })?;
        }
        Ok(pose)
    }

    /// Moves what one item of a typed pose names, such as `forearm.rz=90`.
    ///
    /// # Errors
    /// [`PoseProblem`]; the pose is as before.
    pub fn apply_pose_item(&self, item: &str, pose: &mut Pose) -> Result<(), PoseProblem> {
        let Some((name, value)) = item.split_once('=') else {
            return Err(PoseProblem::NoValue);
        };
        let (name, value) = (name.trim(), value.trim());
        let value: f64 = match value.parse() {
            Ok(value) if f64::is_finite(value) => value,
            _ => {
                return Err(PoseProblem::NoNumber {
                    found: value.to_owned(),
                });
            }
        };
        let mut given = self.coefficients.iter().take(pose.coefficients.len());
        if let Some(m) = given.position(|c| c.name == name) {
            pose.coefficients[m] = value;
            return Ok(());
        }
        let motion = name
            .rsplit_once('.')
            .and_then(|(bone, motion)| Some((self.skeleton.find(bone)?, motion)));
        let Some((bone, motion)) = motion else {
            return Err(PoseProblem::UnknownName {
                known: self.pose_names(),
            });
        };
        if bone.index() >= self.posed_bone_count() {
            return Err(PoseProblem::PlacedBone {
                bone: self.skeleton.bones()[bone.index()].name.clone(),
            });
        }
        move_bone(pose, bone, motion, value)
    }

    /// What a typed pose can name.
    fn pose_names(&self) -> Vec<String> {
        let bones = (self.skeleton.bones().iter())
            .take(self.posed_bone_count())
            .map(|bone| format!("{}.rx", bone.name));
        let targets = self.coefficients.iter().map(|c| c.name.clone());
        bones.chain(targets).collect()
    }
}

fn move_bone(pose: &mut Pose, bone: BoneId, motion: &str, value: f64) -> Result<(), PoseProblem> {
    let local = &mut pose.parent_from_bone[bone.index()];
    let turn = |axis: DVec3| DAffine3::from_quat(DQuat::from_axis_angle(axis, value.to_radians()));
    match motion {
        "rx" => *local *= turn(DVec3::X),
        "ry" => *local *= turn(DVec3::Y),
        "rz" => *local *= turn(DVec3::Z),
        "tx" => local.translation.x += value,
        "ty" => local.translation.y += value,
        "tz" => local.translation.z += value,
        "s" => *local *= DAffine3::from_scale(DVec3::splat(value)),
        _ => {
            return Err(PoseProblem::UnknownMotion {
                found: motion.to_owned(),
            });
        }
    }
    Ok(())
}

/// The first of some names, for a sentence.
fn first_names(names: &[String]) -> String {
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skin::Coefficient;
    use crate::synth::{TubeOptions, tube};

    fn skin() -> Skin {
        let smile = Coefficient {
            name: "smile".to_owned(),
            default: 0.25,
        };
        tube(&TubeOptions::default()).truth.with_sliders([smile])
    }

    #[test]
    fn a_typed_pose_turns_slides_and_scales_bones_and_sets_targets() {
        let skin = skin();
        let pose = skin.parse_pose("bone_1.rz=90; bone_2.tx=2, smile = 1");
        let pose = pose.expect("all of it is there");
        let default = skin.skeleton.default_pose();
        let turned = default.parent_from_bone[1] * DAffine3::from_rotation_z(90f64.to_radians());
        assert!(
            pose.parent_from_bone[1].abs_diff_eq(turned, 1e-12),
            "turned in its own frame"
        );
        let slid = pose.parent_from_bone[2].translation - default.parent_from_bone[2].translation;
        assert_eq!(slid, 2.0 * DVec3::X, "slid in its parent's");
        assert_eq!(pose.coefficients, [1.0], "the target");
        let untouched = skin.parse_pose("").expect("nothing differs");
        assert_eq!(untouched.coefficients, [0.25], "its default");
        let grown = skin.parse_pose("bone_1.s=3").expect("a scale");
        let scale = grown.parent_from_bone[1].matrix3.x_axis.length();
        assert!((scale - 3.0).abs() < 1e-12, "scaled by {scale}");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_item() {
        let skin = skin();
        for (typed, expected) in [
            ("smile=1, bone_1.rx", "'bone_1.rx': expected NAME=VALUE"),
            ("bone_1.rx=up", "expected a number after '=', found 'up'"),
            ("tail.rx=3", "known are bone_0.rx, bone_1.rx"),
            ("bone_1.bend=1", "found '.bend'"),
        ] {
            let error = skin.parse_pose(typed).expect_err(typed);
            assert_eq!(error.text, typed, "all that was typed");
            let sentence = error.to_string();
            assert!(sentence.contains(expected), "{expected:?} in {sentence}");
        }
    }
}
