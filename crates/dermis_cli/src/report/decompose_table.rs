//! A decomposition as text and as JSON.

use std::fmt::Write;

use anyhow::Context;
use dermis::measure::Cost;
use dermis::rig::Channel;
use serde_json::json;

use super::table::short;
use crate::cmd::decompose::DecomposeJob;

/// The numbers, one line each.
pub(crate) fn decompose_table(job: &DecomposeJob<'_>) -> String {
    let mut text = String::new();
    for (name, value) in lines(job) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<22}{value}");
    }
    text.pop();
    text
}

/// What there is to say, by name.
pub(super) fn lines(job: &DecomposeJob<'_>) -> Vec<(&'static str, String)> {
    let (found, animation) = (&job.found, job.animation);
    let cost = Cost::of(&found.skin);
    let clips: Vec<String> = (animation.clips().iter())
        .map(|clip| format!("{} ({} frames)", clip.name, clip.frames.len()))
        .collect();
    let mut lines = vec![
        ("mesh", format!("{} vertices", animation.vertex_count())),
        ("clips", clips.join(", ")),
        ("bones", bones(job)),
        ("E_RMS", short(found.e_rms)),
    ];
    if let Some(bound) = job.bound {
        let count = 4 * found.skin.skeleton.bone_count();
        let text = format!("{} ({count} singular values)", short(bound));
        lines.push(("no skin falls below", text));
    }
    if let Some(unjoined) = found.unjoined_e_rms {
        let text = format!("{}: what joints cost", short(unjoined));
        lines.push(("E_RMS without joints", text));
    }
    lines.push((
        "influences",
        format!(
            "{:.2} per vertex, at most {}",
            cost.mean_influences, cost.max_influences
        ),
    ));
    lines.push((
        "size",
        format!(
            "{:.1} bytes per vertex, {} bytes of matrices per frame",
            cost.bytes_per_vertex, cost.bytes_per_frame
        ),
    ));
    let [written, all] = keys(job);
    lines.push((
        "keys",
        format!(
            "{written} of {all}, within {:.4}% of the diagonal",
            job.args.key_tolerance
        ),
    ));
    lines.push((
        "time",
        format!("{:.2} s, {} rounds", job.seconds, found.round_errors.len()),
    ));
    lines
}

fn bones(job: &DecomposeJob<'_>) -> String {
    let count = job.found.skin.skeleton.bone_count();
    match job.playable.split_count {
        0 => format!("{count}"),
        split => format!("{count}, of which {split} shear and become two nested nodes"),
    }
}

/// Keys that are written, and how many there would be with one per frame, channel and node.
fn keys(job: &DecomposeJob<'_>) -> [usize; 2] {
    let channels = job.playable.clips.iter().flat_map(|clip| &clip.channels);
    let written = channels
        .map(|channel: &Channel| channel.times().len())
        .sum();
    let nodes = job.found.skin.skeleton.bone_count();
    let split = job.playable.split_count;
    // Translation and rotation for all, scale and a second rotation for those that shear.
    let all = (2 * nodes + 2 * split) * job.animation.frame_count();
    [written, all]
}

/// The same numbers for programs.
pub(crate) fn decompose_json(job: &DecomposeJob<'_>) -> anyhow::Result<String> {
    let found = &job.found;
    let cost = Cost::of(&found.skin);
    let [written, all] = keys(job);
    let clips: Vec<_> = (job.animation.clips().iter())
        .map(|clip| json!({"name": clip.name, "frames": clip.frames.len()}))
        .collect();
    let value = json!({
        "vertices": job.animation.vertex_count(),
        "clips": clips,
        "bones": found.skin.skeleton.bone_count(),
        "nestedBones": job.playable.split_count,
        "eRms": found.e_rms,
        "svdBound": job.bound,
        "unjoinedERms": found.unjoined_e_rms,
        "meanInfluences": cost.mean_influences,
        "maxInfluences": cost.max_influences,
        "bytesPerVertex": cost.bytes_per_vertex,
        "bytesPerFrame": cost.bytes_per_frame,
        "keys": written,
        "keysUnreduced": all,
        "keyTolerance": job.key_tolerance,
        "seconds": job.seconds,
        "roundErrors": found.round_errors,
        "stopped": job.was_stopped,
    });
    serde_json::to_string_pretty(&value).context("numbers are plain JSON")
}
