//! Joint limits as people write them: a text file with a table per joint.

use std::path::Path;

use anyhow::{Context, bail};
use dermis::Skin;
use dermis::joint::{JointLimits, TurnLimits};
use dermis::rig::RigError;
use glam::{DAffine3, DQuat, DVec3};
use serde::Deserialize;

use crate::toml_text;

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
pub(crate) enum Others {
    /// Turn every way.
    Free,
    /// Stay as they rest.
    Fixed,
    /// What they do in the clips of the file, in any combination.
    Seen,
}

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
#[derive(Debug)]
pub(crate) struct ReadLimits {
    pub(crate) limits: Vec<JointLimits>,
    /// Whether the file names the joint, bone by bone.
    pub(crate) named: Vec<bool>,
    /// What the other joints do, when the file says so.
    pub(crate) others: Option<Others>,
}

/// Limits for every posed bone of a skin, as the file says. Turns are counted from the rest pose.
///
/// `seen` is what joints did in the clips, for `others = "seen"`; `free` what they may do without
/// limits.
pub(crate) fn read(
    path: &Path,
    skin: &Skin,
    seen: &[JointLimits],
    free: &[JointLimits],
) -> anyhow::Result<Vec<JointLimits>> {
    Ok(read_named(path, skin, seen, free, Others::Free)?.limits)
}

/// As [`read`], with what the file names; `unsaid` is what joints do that it says nothing about.
pub(crate) fn read_named(
    path: &Path,
    skin: &Skin,
    seen: &[JointLimits],
    free: &[JointLimits],
    unsaid: Others,
) -> anyhow::Result<ReadLimits> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{}: the limits cannot be read", path.display()))?;
    let parsed: LimitsText = toml_text::parse(path, &text)?;
    let rest = skin.skeleton.rest_pose().parent_from_bone;
    let mut limits: Vec<JointLimits> = match parsed.others.unwrap_or(unsaid) {
        Others::Free => free.to_vec(),
        Others::Fixed => (skin.skeleton.ids().zip(&rest))
            .map(|(bone, local)| JointLimits::fixed(bone, local))
            .collect(),
        Others::Seen if seen.is_empty() => bail!(
            "{}: others = \"seen\" needs clips, and the file has none",
            path.display()
        ),
        Others::Seen => seen.to_vec(),
    };
    limits.truncate(skin.posed_bone_count());
    let mut named = vec![false; limits.len()];
    for joint in &parsed.joint {
        let about = || format!("{}: joint {}", path.display(), joint.bone);
        let bone = skin.skeleton.find(&joint.bone);
        let Some(bone) = bone.filter(|bone| bone.index() < limits.len()) else {
            bail!(
                "{}: the skin has no bone of that name that a pose can move",
                about()
            );
        };
        if std::mem::replace(&mut named[bone.index()], true) {
            bail!("{}: it is named twice", about());
        }
        let found = joint_limits(joint, bone, &rest[bone.index()]).with_context(about)?;
        match found.check() {
            // The error has the number of the bone, the file its name.
            Err(RigError::BadLimits { problem, .. }) => bail!("{}: {problem}", about()),
            checked => checked.with_context(about)?,
        }
        limits[bone.index()] = found;
    }
    Ok(ReadLimits {
        limits,
        named,
        others: parsed.others,
    })
}

fn joint_limits(
    joint: &JointText,
    bone: dermis::BoneId,
    rest: &DAffine3,
) -> anyhow::Result<JointLimits> {
    let base = JointLimits::fixed(bone, rest);
    let center = base.turn.center().unwrap_or(DQuat::IDENTITY);
    let axis = || -> anyhow::Result<DVec3> {
        let axis = joint
            .axis
            .context("expected axis = [x, y, z], in the bone's frame")?;
        let axis = DVec3::from_array(axis).try_normalize();
        axis.context("the axis is zero: expected a direction")
    };
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
    for (name, given, kinds) in fields {
        if given && !kinds.contains(&joint.turn) {
            bail!("{name} does not belong to a joint of turn {:?}", joint.turn);
        }
    }
    let turn = match joint.turn {
        TurnText::Free => TurnLimits::Free,
        TurnText::Fixed => base.turn,
        TurnText::Hinge => {
            let [min, max] = joint
                .angle_deg
                .context("expected angle_deg = [least, most]")?;
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
            max_angle_rad: joint.cone_deg.context("expected cone_deg")?.to_radians(),
        },
        TurnText::Ball => {
            let [min, max] = joint.twist_deg.unwrap_or([0.0, 0.0]);
            TurnLimits::SwingTwist {
                center,
                axis: axis()?,
                max_swing_rad: joint.swing_deg.context("expected swing_deg")?.to_radians(),
                min_twist_rad: min.to_radians(),
                max_twist_rad: max.to_radians(),
            }
        }
    };
    Ok(JointLimits {
        turn,
        translation_radius: joint.slide.unwrap_or(0.0),
        scale_range: joint.scale.unwrap_or(base.scale_range),
        ..base
    })
}
