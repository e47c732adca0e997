//! A decomposition as text and as JSON.

use std::fmt::Write;

use anyhow::Context;
use dermis::measure::Cost;
use serde_json::json;

use super::table::short;
use crate::cmd::decompose::DecomposeJob;

/// The numbers, one line each.
pub(crate) fn decompose_table(job: &DecomposeJob<'_>) -> String {
    let mut text = String::new();
    for (name, value) in lines(job) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<24}{value}");
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
    if let Some(alone) = job.rig_alone {
        lines.push(("E_RMS of the rig alone", short(alone)));
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
    lines.push((
        "keys",
        format!(
            "{} of {}: E_RMS {} with these",
            job.keys(),
            job.all_keys,
            short(job.file_e_rms)
        ),
    ));
    let [before, after] = job.file_bytes;
    lines.push(("file", format!("{after} bytes, {before} with all keys")));
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

/// The same numbers for programs.
pub(crate) fn decompose_json(job: &DecomposeJob<'_>) -> anyhow::Result<String> {
    let found = &job.found;
    let cost = Cost::of(&found.skin);
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
        "rigERms": job.rig_alone,
        "meanInfluences": cost.mean_influences,
        "maxInfluences": cost.max_influences,
        "bytesPerVertex": cost.bytes_per_vertex,
        "bytesPerFrame": cost.bytes_per_frame,
        "keys": job.keys(),
        "keysUnreduced": job.all_keys,
        "keyTolerance": job.key_tolerance,
        "fileERms": job.file_e_rms,
        "fileBytes": job.file_bytes[1],
        "fileBytesUnreduced": job.file_bytes[0],
        "seconds": job.seconds,
        "roundErrors": found.round_errors,
        "stopped": job.was_stopped,
    });
    serde_json::to_string_pretty(&value).context("numbers are plain JSON")
}
