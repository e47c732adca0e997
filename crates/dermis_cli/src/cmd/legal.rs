//! Which poses of a file are legal, and which it shows.

use std::path::Path;

use anyhow::Context;
use dermis::document::clip_of;
use dermis::joint::{JointLimits, JointStatistics, TurnLimits, free_joints, joint_statistics};
use dermis::limits::check_memory;
use dermis::{Clip, Pose, Skin};
use dermis_io::{AssumedPoses, Document};

use crate::limits_file;
use crate::talk::Talk;

/// Longest time between two poses that a clip is seen in, in seconds.
const STEP: f64 = 1.0 / 60.0;
/// Most poses between two keys.
const MOST_BETWEEN_KEYS: f64 = 10_000.0;

/// Poses in the order in which they are shown.
pub(super) struct Shown {
    pub(super) poses: Vec<Pose>,
    /// Whether the motion may turn a corner at a pose: keys of a clip. Between them it is smooth.
    pub(super) is_key: Vec<bool>,
}

/// A clip at every key, and in between at least once, and at least sixty times a second.
///
/// Between keys of lines a joint stays between the two, so limits taken at keys hold in between.
pub(super) fn shown_of_clip(skin: &Skin, clip: &Clip) -> anyhow::Result<Shown> {
    let mut keys: Vec<f64> = clip
        .channels
        .iter()
        .flat_map(|c| c.times())
        .copied()
        .collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    let parts = |pair: &[f64]| {
        ((pair[1] - pair[0]) / STEP)
            .ceil()
            .clamp(2.0, MOST_BETWEEN_KEYS) as usize
    };
    let count: usize = keys.windows(2).map(parts).sum();
    // Once for each clip, and once for all of them.
    let pose_bytes = 2 * (96 * skin.skeleton.bone_count() + 8 * skin.coefficients.len());
    let what = || format!("{count} poses of clip {}", clip.name);
    check_memory(
        &[count as u64, pose_bytes as u64],
        what,
        "cut the clip or leave out keys",
    )?;
    let mut times: Vec<(f64, bool)> = Vec::new();
    for pair in keys.windows(2) {
        let gap = pair[1] - pair[0];
        let parts = parts(pair);
        times.push((pair[0], true));
        times.extend((1..parts).map(|n| (pair[0] + gap * n as f64 / parts as f64, false)));
    }
    times.push((keys.last().copied().unwrap_or(0.0), true));
    let pose = |&(time, _): &(f64, bool)| Ok(skin.complete_pose(&skin.sample(clip, time))?);
    Ok(Shown {
        poses: times.iter().map(pose).collect::<anyhow::Result<_>>()?,
        is_key: times.iter().map(|(_, is_key)| *is_key).collect(),
    })
}

/// Every pose that a file shows, clip by clip; frames of an npz count as one.
pub(super) fn shown_poses(document: &Document, skin: &Skin) -> anyhow::Result<Vec<Shown>> {
    let clips = document.clips.iter().map(|clip| shown_of_clip(skin, clip));
    let mut shown = clips.collect::<anyhow::Result<Vec<Shown>>>()?;
    if !document.frame_poses.is_empty() {
        let frames = document.frame_poses.iter();
        let poses = frames.map(|pose| Ok(skin.complete_pose(pose)?));
        shown.push(Shown {
            poses: poses.collect::<anyhow::Result<_>>()?,
            is_key: vec![true; document.frame_poses.len()],
        });
    }
    Ok(shown)
}

/// Statistics over all of some clips, of every bone that a joint moves: proxy bones are placed by predictions.
pub(super) fn seen_in(skin: &Skin, clips: &[Shown]) -> Vec<JointStatistics> {
    let unposed = skin
        .pose_program
        .proxies()
        .map_or(0, |p| p.unposed_bone_count());
    let mut joints = joint_statistics(&skin.skeleton, &all_poses(clips));
    joints.retain(|joint| joint.bone.index() + unposed < skin.skeleton.bone_count());
    joints
}

/// The poses of all clips.
pub(super) fn all_poses(clips: &[Shown]) -> Vec<Pose> {
    clips
        .iter()
        .flat_map(|shown| &shown.poses)
        .cloned()
        .collect()
}

/// Every rotation of every joint, which slides and stretches as in the clips.
pub(super) fn any_rotation(skin: &Skin, seen: &[JointStatistics]) -> Vec<JointLimits> {
    let mut limits = free_joints(&skin.skeleton);
    for joint in seen {
        limits[joint.bone.index()] = JointLimits {
            turn: TurnLimits::Free,
            ..JointLimits::from_statistics(joint)
        };
    }
    limits.truncate(skin.posed_bone_count());
    limits
}

/// The limits of a file's joints, and where they come from: a text file, the file itself, the
/// statistics in it, or nothing.
pub(super) fn limits_of(
    document: &Document,
    skin: &Skin,
    file: Option<&Path>,
    seen: &[JointStatistics],
) -> anyhow::Result<(Vec<JointLimits>, AssumedPoses)> {
    let mut limits = any_rotation(skin, seen);
    if let Some(path) = file {
        let seen: Vec<JointLimits> = seen.iter().map(JointLimits::from_statistics).collect();
        let read = limits_file::read(path, skin, &seen, &limits)?;
        return Ok((read, AssumedPoses::Limits));
    }
    let Some(record) = &document.record else {
        return Ok((limits, AssumedPoses::AnyRotation));
    };
    let known: Vec<JointLimits> = match record.limits.is_empty() {
        false => record.limits.clone(),
        true => record
            .joints
            .iter()
            .map(JointLimits::from_statistics)
            .collect(),
    };
    for joint in &known {
        if let Some(limits) = limits.get_mut(joint.bone.index()) {
            limits.clone_from(joint);
        }
    }
    // What `stats --uniform` writes: limits that restrict nothing.
    let free = |joint: &JointLimits| matches!(joint.turn, TurnLimits::Free);
    let kind = match (record.limits.is_empty(), record.joints.is_empty()) {
        (false, _) if record.limits.iter().all(free) => AssumedPoses::AnyRotation,
        (false, _) => AssumedPoses::Limits,
        (true, false) => AssumedPoses::Seen,
        (true, true) => AssumedPoses::AnyRotation,
    };
    Ok((limits, kind))
}

/// Refuses outputs that hold no record of a skin, before any work is done.
pub(super) fn check_output(output: Option<&Path>) -> anyhow::Result<()> {
    if let Some(path) = output {
        super::output_format(
            path,
            super::SKIN_FILE,
            "what is known of joints and bounds is",
        )?;
    }
    Ok(())
}

/// Writes a document that has a skin.
pub(super) fn write(document: &Document, output: &Path, talk: &Talk) -> anyhow::Result<()> {
    let mut document = document.clone();
    frames_to_clip(&mut document, talk)?;
    dermis_io::write(output, &document, &dermis_io::WriteOptions::default())?;
    Ok(())
}

/// Turns the poses of frames into a clip, for files that have a skin and no frames beside it.
pub(super) fn frames_to_clip(document: &mut Document, talk: &Talk) -> anyhow::Result<()> {
    let skin = document.skin.as_ref().context("the file has a skin")?;
    if !document.frame_poses.is_empty() {
        let rate = super::motion_rate(document, None, talk);
        let clip = clip_of("frames", &skin.skeleton, &document.frame_poses, rate)?;
        document.clips.push(clip);
    }
    document.frames.clear();
    document.frame_poses.clear();
    Ok(())
}
