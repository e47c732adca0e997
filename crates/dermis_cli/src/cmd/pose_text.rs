//! Poses as people type them: `forearm.rz=90, hand.rx=45, smile=0.5`.

use anyhow::{Context, bail};
use dermis::{BoneId, Pose, Skin};
use glam::{DAffine3, DQuat, DVec3};

/// Reads a pose: `rest`, `default`, or a list of what differs from the default pose.
pub(crate) fn parse_pose(text: &str, skin: &Skin) -> anyhow::Result<Pose> {
    match text.trim() {
        "rest" => return Ok(skin.skeleton.rest_pose()),
        "default" => return Ok(skin.skeleton.default_pose()),
        _ => {}
    }
    let mut pose = skin.skeleton.default_pose();
    pose.coefficients = skin.default_coefficients();
    for item in text
        .split([',', ';'])
        .map(str::trim)
        .filter(|item| !item.is_empty())
    {
        apply(item, skin, &mut pose).with_context(|| format!("pose '{text}': '{item}'"))?;
    }
    Ok(pose)
}

/// Moves what one item names, such as `forearm.rz=90`.
pub(crate) fn apply(item: &str, skin: &Skin, pose: &mut Pose) -> anyhow::Result<()> {
    let Some((name, value)) = item.split_once('=') else {
        bail!("expected NAME=VALUE, such as forearm.rz=90");
    };
    let (name, value) = (name.trim(), value.trim());
    let value: f64 = match value.parse() {
        Ok(value) if f64::is_finite(value) => value,
        _ => bail!("expected a number after '=', found '{value}'"),
    };
    let mut given = skin.coefficients.iter().take(pose.coefficients.len());
    if let Some(m) = given.position(|c| c.name == name) {
        pose.coefficients[m] = value;
        return Ok(());
    }
    let motion = name
        .rsplit_once('.')
        .and_then(|(bone, motion)| Some((skin.skeleton.find(bone)?, motion)));
    let Some((bone, motion)) = motion else {
        bail!(
            "there is no such bone or morph target; {}",
            known_names(skin)
        );
    };
    if bone.index() >= skin.posed_bone_count() {
        bail!("the bone is placed by other bones, so a pose cannot move it: move those");
    }
    move_bone(pose, bone, motion, value)
}

fn move_bone(pose: &mut Pose, bone: BoneId, motion: &str, value: f64) -> anyhow::Result<()> {
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
        _ => bail!("expected .rx .ry .rz .tx .ty .tz or .s after the bone, found '.{motion}'"),
    }
    Ok(())
}

/// The first names there are, for an error message.
fn known_names(skin: &Skin) -> String {
    let bones = (skin.skeleton.bones().iter())
        .take(skin.posed_bone_count())
        .map(|bone| format!("{}.rx", bone.name));
    let targets = skin.coefficients.iter().map(|c| c.name.clone());
    let all: Vec<String> = bones.chain(targets).collect();
    match all.len() {
        0..=12 => format!("known are {}", all.join(", ")),
        more => format!("known are {} and {} more", all[..12].join(", "), more - 12),
    }
}
