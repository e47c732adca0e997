//! The report of a decomposition.

use dermis::measure::Cost;
use dermis::{Skin, VertexProgram};
use dermis_render::{Axis, Chart, Draw, Point, Series};
use serde_json::{Map, Value, json};

use super::charts::{CHART_WIDTH, error_axis};
use super::gallery::{Gallery, PoseShown};
use super::model::{Block, Figure, Part, Report, short, subject};
use super::pictures::{Shot, choose_by};
use crate::cmd::decompose::DecomposeJob;
use crate::talk::{Talk, plural};

/// All that there is to tell but for pictures and charts.
pub(crate) fn decomposition_report(job: &DecomposeJob<'_>) -> Report {
    let bones = job.found.skin.skeleton.bone_count();
    Report {
        heading: format!("{} frames on {bones} bones", job.animation.frame_count()),
        subject: subject(job.animation.rest(), bones),
        command: super::command_line(),
        data: data(job),
        resolved: Map::new(),
        blocks: vec![Block::Facts(facts(job))],
        glossary: vec![
            (
                "E_RMS",
                "root mean square error of a coordinate, times 1000, with the first frame scaled to fit a ball of radius \
                 1: about pixels when the mesh fills a 1000-pixel window.",
            ),
            (
                "No skin falls below",
                "what the best sum of as many shapes leaves; bones cannot do better, whatever their weights.",
            ),
        ],
    }
}

/// What the page shows beside that: the worst frame and a typical one, and errors as curves.
pub(crate) fn decomposition_figures(
    job: &DecomposeJob<'_>,
    talk: &Talk,
) -> anyhow::Result<Vec<Figure>> {
    let errors = frame_errors(job)?;
    let mut figures = vec![
        Figure {
            heading: "What it looks like",
            parts: pictures(job, &errors, talk)?,
            note: "The ring is at the worst vertex, dashed where the surface hides it.".to_owned(),
        },
        Figure::chart("Error of each frame", line_chart("frame", &errors), ""),
    ];
    if job.found.round_errors.len() > 1 {
        figures.push(Figure::chart(
            "Error after each round",
            line_chart("round", &job.found.round_errors),
            "Several ways to begin are tried for a few rounds each before the best goes on.",
        ));
    }
    Ok(figures)
}

/// The numbers, a line each.
fn facts(job: &DecomposeJob<'_>) -> Vec<(&'static str, String)> {
    let (found, animation) = (&job.found, job.animation);
    let cost = Cost::of(&found.skin);
    let clips: Vec<String> = (animation.clips().iter())
        .map(|clip| format!("{} ({} frames)", clip.name, clip.frames.len()))
        .collect();
    let count = found.skin.skeleton.bone_count();
    let bones = match job.playable.split_count {
        0 => count.to_string(),
        split => format!("{count}, of which {split} shear and become two nested nodes"),
    };
    let mut facts = vec![
        ("mesh", format!("{} vertices", animation.vertex_count())),
        ("clips", clips.join(", ")),
        ("bones", bones),
        ("E_RMS", short(found.e_rms)),
    ];
    if let Some(bound) = job.bound {
        let text = format!("{} ({} singular values)", short(bound), 4 * count);
        facts.push(("no skin falls below", text));
    }
    if let Some(alone) = job.rig_alone {
        facts.push(("E_RMS of the rig alone", short(alone)));
    }
    if let Some(unjoined) = found.unjoined_e_rms {
        let text = format!("{}: what joints cost", short(unjoined));
        facts.push(("E_RMS without joints", text));
    }
    facts.push((
        "influences",
        format!(
            "{:.2} per vertex, at most {}",
            cost.mean_influences, cost.max_influences
        ),
    ));
    facts.push((
        "size",
        format!(
            "{:.1} bytes per vertex, {} bytes of matrices per frame",
            cost.bytes_per_vertex, cost.bytes_per_frame
        ),
    ));
    facts.push((
        "keys",
        format!(
            "{} of {}: E_RMS {} with these",
            job.keys(),
            job.all_keys,
            short(job.file_e_rms)
        ),
    ));
    let [before, after] = job.file_bytes;
    facts.push(("file", format!("{after} bytes, {before} with all keys")));
    facts.push((
        "time",
        format!("{:.2} s, {} rounds", job.seconds, found.round_errors.len()),
    ));
    facts
}

/// All numbers, round by round.
fn data(job: &DecomposeJob<'_>) -> Value {
    let found = &job.found;
    let cost = Cost::of(&found.skin);
    let clips: Vec<_> = (job.animation.clips().iter())
        .map(|clip| json!({"name": clip.name, "frames": clip.frames.len()}))
        .collect();
    json!({
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
        "verdict": verdict(job),
    })
}

/// The result in a sentence.
fn verdict(job: &DecomposeJob<'_>) -> String {
    let found = &job.found;
    let bones = found.skin.skeleton.bone_count();
    let error = job.file_e_rms;
    let seen = match error <= 1.0 {
        true => "hard to see",
        false => "visible: below 1 it is hard to see",
    };
    let bound = match job.bound {
        Some(bound) if bound >= 1e-3 => {
            format!("; no skin of so many bones can fall below {}", short(bound))
        }
        _ => String::new(),
    };
    format!(
        "{} frames play on {} in {:.0} KiB with E_RMS {}, which is {seen}{bound}.",
        job.animation.frame_count(),
        plural(bones, "bone"),
        job.file_bytes[1] as f64 / 1024.0,
        short(error),
    )
}

/// `E_RMS` of every frame.
fn frame_errors(job: &DecomposeJob<'_>) -> anyhow::Result<Vec<f64>> {
    let animation = job.animation;
    let count = (3 * animation.vertex_count()) as f64;
    let mut errors = Vec::with_capacity(job.found.poses.len());
    for (frame, pose) in animation.frames().zip(&job.found.poses) {
        let shown = job.found.skin.evaluate(pose)?;
        let squared: f64 = (frame.iter().zip(&shown))
            .map(|(a, b)| a.distance_squared(*b))
            .sum();
        errors.push(1000.0 * (squared / count).sqrt() / animation.unit_ball_radius());
    }
    Ok(errors)
}

fn line_chart(axis: &str, errors: &[f64]) -> Chart {
    let point = |(at, &error): (usize, &f64)| {
        Point::new(at as f64, error).titled(format!("{axis} {at}: E_RMS {error:.3}"))
    };
    let points: Vec<Point> = errors.iter().enumerate().map(point).collect();
    Chart {
        x: Axis::linear(axis),
        y: error_axis(errors.iter().copied()),
        series: vec![Series::new("", Draw::Line, points)],
        width: CHART_WIDTH,
        ..Chart::default()
    }
}

/// The worst frame and a typical one: the animation, the skin, and the error as colour.
fn pictures(job: &DecomposeJob<'_>, errors: &[f64], talk: &Talk) -> anyhow::Result<Vec<Part>> {
    let animation = job.animation;
    let numbered = errors.iter().copied().enumerate().collect();
    let chosen = choose_by(numbered, "worst frame", &[0.5]);
    let mut poses = Vec::with_capacity(chosen.len());
    for shown in &chosen {
        let truth = animation.frames().nth(shown.index).unwrap_or_default();
        let skin = job.found.skin.evaluate(&job.found.poses[shown.index])?;
        let shot = Shot::new(truth, &skin, animation.size());
        let why = shown.why.replace("pose", "frame");
        poses.push(PoseShown {
            title: format!("{}: {}", super::capitalized(&why), shown.index),
            name: format!("frame {}", shown.index),
            truth,
            shots: vec![("skin".to_owned(), shot)],
        });
    }
    let colors = bone_colors(&job.found.skin);
    let gallery = Gallery {
        mesh: animation.rest(),
        up: job.args.up,
        size: animation.size(),
        truth_name: "animation",
        colors: Some(&colors),
        colors_mean: "each bone a colour",
    };
    gallery.draw(&poses, talk)
}

/// The colours of each vertex's bones, mixed by weight.
fn bone_colors(skin: &Skin) -> Vec<[f32; 3]> {
    let VertexProgram::Ssd(program) = &skin.program else {
        return vec![dermis_render::CLAY; skin.vertex_count()];
    };
    // Hues a golden section apart, in two brightnesses: neighbours in number are far apart in colour.
    let color = |bone: usize| {
        let hue = (bone as f32 * 0.618_034).fract() * 6.0;
        let value = if bone.is_multiple_of(2) { 0.85 } else { 0.6 };
        let part = |shift: f32| {
            let distance = ((hue + shift).rem_euclid(6.0) - 3.0).abs();
            value * (0.25 + 0.75 * (distance - 1.0).clamp(0.0, 1.0))
        };
        [part(0.0), part(4.0), part(2.0)]
    };
    let mix = |row: &[dermis::skin::Weight]| {
        let mut sum = [0.0; 3];
        for weight in row {
            let part = color(weight.bone.index());
            for (sum, part) in sum.iter_mut().zip(part) {
                *sum += weight.weight as f32 * part;
            }
        }
        sum.map(|channel: f32| channel.clamp(0.0, 1.0))
    };
    program.weights.iter().map(mix).collect()
}
