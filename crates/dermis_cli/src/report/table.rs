//! The measures of a fit as text and as JSON.

use std::fmt::Write;

use anyhow::Context;
use dermis::fit::{
    AnimSpaceOptions, Choice, EngineReport, FitReport, Method, Player, RepeatedPose, Shown,
    Smoothing,
};
use dermis::measure::Measures;
use serde_json::{Value, json};

use super::proxies;
use crate::cmd::fit::{Chosen, FitJob};
use crate::talk::plural;

/// Meshes of one pose that are further apart than this, in shares of the diagonal, are different.
const SAME_MESH: f64 = 1e-5;

/// The error table, with one line of cost and one for each thing to know.
pub(crate) fn table(job: &FitJob<'_>, fitted: &FitReport, engine: &EngineReport) -> String {
    let mut text = String::new();
    let mut line = |parts: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{parts}");
    };
    line(format_args!(
        "{:<24}{:>9}{:>9}{:>16}{:>11}{:>11}{:>9}{:>9}",
        "examples", "count", "E_RMS", "EE ± sd %", "mean dist", "max dist", "normal", "worst"
    ));
    for (name, m) in rows(fitted, engine) {
        line(format_args!(
            "{name:<24}{:>9}{:>9}{:>16}{:>10.4}%{:>10.4}%{:>8.2}°{:>8.1}°",
            m.example_count,
            short(m.e_rms),
            enveloping(m).unwrap_or("-".to_owned()),
            100.0 * m.mean_distance,
            100.0 * m.max_distance,
            m.mean_normal_angle_deg,
            m.max_normal_angle_deg,
        ));
    }
    let cost = &fitted.cost;
    line(format_args!(
        "{}: {} vertices, {} bones, {:.2} influences per vertex (at most {}), {:.1} bytes per \
         vertex, fitted in {:.2} s",
        job.method().title(),
        job.prepared.set.rest().vertex_count(),
        cost.palette_size,
        cost.mean_influences,
        cost.max_influences,
        cost.bytes_per_vertex,
        fitted.fit_seconds
    ));
    if let Some(smoothing) = fitted.smoothing {
        let flag = match job.method() {
            Method::Psd(_) => "--smoothing",
            Method::MultiWeight(_) => "--lambda",
            Method::AnimSpace(AnimSpaceOptions {
                smoothing: Smoothing::Ridge { .. },
                ..
            }) => "--lambda",
            _ => "--delta",
        };
        line(format_args!("smoothing {smoothing} ({flag})"));
    }
    if let Chosen::Best(choice) = &job.choice {
        line(format_args!(
            "  {:<22}{:>11}{:>10}{:>9}{:>14}{:>10}",
            "tried", "influences", "E_RMS", "EE %", "bytes/vertex", "seconds"
        ));
        for Row { cells, chosen } in candidates(choice) {
            let [key, influences, e_rms, ee, bytes, seconds, words] = cells;
            let mark = if chosen { "*" } else { " " };
            let text = format!(
                "{mark} {key:<22}{influences:>11}{e_rms:>10}{ee:>9}{bytes:>14}{seconds:>10}  {words}"
            );
            line(format_args!("{}", text.trim_end()));
        }
    }
    for note in remarks(job, fitted) {
        line(format_args!("{note}"));
    }
    text.truncate(text.trim_end().len());
    text
}

/// The rows of the error table.
pub(super) fn rows<'a>(
    fitted: &'a FitReport,
    engine: &'a EngineReport,
) -> Vec<(&'static str, &'a Measures)> {
    let mut rows = Vec::new();
    if let Some(held_out) = &fitted.held_out {
        rows.push(("fitted to", &held_out.training.total));
        rows.push(("held out", &held_out.measured.total));
    }
    rows.push(("all (skin as written)", &fitted.overall.total));
    if engine.shown != Shown::Itself {
        let held_out = engine.held_out.as_ref();
        rows.extend(held_out.map(|m| ("held out, stock engines", m)));
        rows.push(("all, stock engines", &engine.overall));
    }
    rows
}

/// The enveloping error and its standard deviation over vertices, in per cent.
pub(super) fn enveloping(m: &Measures) -> Option<String> {
    let error = m.enveloping_error_percent?;
    Some(match m.enveloping_error_deviation_percent {
        Some(deviation) => format!("{error:.2} ± {deviation:.2}"),
        None => format!("{error:.2}"),
    })
}

/// Three decimals, or the order of magnitude where those would say only zero.
pub(crate) fn short(value: f64) -> String {
    match value != 0.0 && value < 5e-4 {
        true => format!("{value:.0e}"),
        false => format!("{value:.3}"),
    }
}

/// A line of the list of candidates.
pub(super) struct Row {
    /// Method, influences, E_RMS, EE, bytes per vertex, seconds, and words.
    pub(super) cells: [String; 7],
    pub(super) chosen: bool,
}

/// What was tried, in words and numbers.
pub(super) fn candidates(choice: &Choice) -> Vec<Row> {
    let row = |(number, candidate): (usize, &dermis::fit::Candidate)| {
        let dash = || "-".to_owned();
        let chosen = number == choice.chosen;
        let mut cells = [
            candidate.method.key().to_owned(),
            candidate.method.max_influences().to_string(),
            dash(),
            dash(),
            dash(),
            dash(),
            String::new(),
        ];
        match &candidate.outcome {
            Ok(tried) => {
                let ee = tried.held_out.enveloping_error_percent;
                cells[2] = short(tried.held_out.e_rms);
                cells[3] = ee.map_or_else(dash, |ee| format!("{ee:.2}"));
                cells[4] = format!("{:.1}", tried.whole_bytes_per_vertex);
                cells[5] = format!("{:.2}", tried.seconds);
                cells[6] = match (&tried.obstacle, tried.held_out == tried.model_held_out) {
                    _ if chosen => "chosen".to_owned(),
                    (Some(obstacle), _) => obstacle.to_string(),
                    (None, false) => {
                        format!("stand-in; the model {}", short(tried.model_held_out.e_rms))
                    }
                    (None, true) => String::new(),
                };
            }
            Err(error) => cells[6] = error.to_string(),
        }
        Row { cells, chosen }
    };
    choice.candidates.iter().enumerate().map(row).collect()
}

/// What a user should know about the result beside the numbers.
pub(super) fn remarks(job: &FitJob<'_>, fitted: &FitReport) -> Vec<String> {
    let mut remarks = proxies::remarks(&job.prepared.set, job.method(), fitted);
    remarks.extend(rig_remarks(fitted));
    if let Chosen::Best(choice) = &job.choice {
        remarks.push(format!(
            "the method was chosen among {} as the smallest within 5% of the lowest error on held-out \
             examples, {}; that error is therefore a little lower than on poses that had no part in the \
             choice",
            choice.candidates.len(),
            match choice.player {
                Player::Engine => "as stock engines show them (--target dermis for the exact models)",
                Player::Dermis => "of the exact models (--target engine for what stock engines show)",
            }
        ));
    }
    remarks
}

/// What a user should know about the examples and the bones.
pub(super) fn rig_remarks(fitted: &FitReport) -> Vec<String> {
    let mut remarks = Vec::new();
    // Beyond any fit that was only poor: a twentieth of the model, on average over all vertices.
    if fitted.overall.total.mean_distance > 0.05 {
        remarks.push(
            "the meshes hardly follow the bones: are they in the same axes (y up, z up; see \
             --z-up-frames), and do the poses belong to them in this order?"
                .to_owned(),
        );
    }
    let list = |names: &[String]| match names.len() {
        0..=6 => names.join(", "),
        more => format!("{} and {} more", names[..6].join(", "), more - 6),
    };
    if fitted.rig.indistinct.is_empty() {
        // Every bone moves on its own in some example.
    } else {
        let pairs: Vec<String> = fitted
            .rig
            .indistinct
            .iter()
            .map(|[bone, parent]| format!("{bone}/{parent}"))
            .collect();
        remarks.push(format!(
            "{} moved only with the parent in all examples, so how the two share weight is \
             arbitrary: {}",
            plural(pairs.len(), "bone"),
            list(&pairs)
        ));
    }
    if !fitted.rig.unused.is_empty() {
        remarks.push(format!(
            "no vertex follows {}: {}",
            plural(fitted.rig.unused.len(), "bone"),
            list(&fitted.rig.unused)
        ));
    }
    if !fitted.rig.under_determined.is_empty() {
        let weak = &fitted.rig.under_determined;
        let names: Vec<String> = weak.iter().map(|w| w.bone.clone()).collect();
        remarks.push(format!(
            "the examples leave {} under-determined (too few poses, or turns about one axis only): {}",
            plural(names.len(), "bone"),
            list(&names)
        ));
    }
    remarks.extend(repeated(&fitted.rig.repeated));
    if fitted.cost.max_influences > 4 {
        remarks.push(format!(
            "up to {} bones move a vertex: players that read only four show an approximation",
            fitted.cost.max_influences
        ));
    }
    remarks
}

/// Poses given more than once: those that contradict each other, and those that add nothing.
fn repeated(pairs: &[RepeatedPose]) -> Vec<String> {
    let (same, different): (Vec<_>, Vec<_>) = pairs
        .iter()
        .partition(|pair| pair.max_distance <= SAME_MESH);
    let name = |pair: &&RepeatedPose| {
        let ([a, b], [first, later]) = (&pair.examples, pair.indices);
        match a == b {
            true => format!("number {first} and number {later} ({a})"),
            false => format!("{a} and {b}"),
        }
    };
    let names = |pairs: &[&RepeatedPose]| {
        let named: Vec<String> = pairs.iter().take(3).map(name).collect();
        match pairs.len().saturating_sub(3) {
            0 => named.join(", "),
            more => format!("{}, and {}", named.join(", "), plural(more, "more pair")),
        }
    };
    let mut remarks = Vec::new();
    if !different.is_empty() {
        let apart = different.iter().map(|pair| pair.max_distance);
        remarks.push(format!(
            "examples {} are the same pose with different meshes, up to {:.2}% of the size apart: a \
             skin knows only the pose, so none can match both",
            names(&different),
            100.0 * apart.fold(0.0, f64::max)
        ));
    }
    if !same.is_empty() {
        remarks.push(format!(
            "examples {} are the same pose and the same mesh: they count twice, and one that is held \
             out while the other is not tests nothing",
            names(&same)
        ));
    }
    remarks
}

/// The same as JSON, example by example.
pub(crate) fn json(
    job: &FitJob<'_>,
    fitted: &FitReport,
    engine: &EngineReport,
) -> anyhow::Result<String> {
    let choice = match &job.choice {
        Chosen::Asked(_) => Value::Null,
        Chosen::Best(choice) => json_of_choice(choice),
    };
    let held_out = fitted.held_out.as_ref();
    let value = json!({
        "vertices": job.prepared.set.rest().vertex_count(),
        "method": job.method().key(),
        "choice": choice,
        "overall": fitted.overall.total,
        "training": held_out.map(|h| &h.training.total),
        "heldOut": held_out.map(|h| &h.measured.total),
        "trainingExamples": held_out.map(|h| &h.training.examples),
        "heldOutExamples": held_out.map(|h| &h.measured.examples),
        "stockEngines": engine_json(engine),
        "cost": fitted.cost,
        "proxies": proxies::summary(&job.prepared.set, job.method(), fitted),
        "rig": fitted.rig,
        "roundErrors": fitted.round_errors,
        "smoothing": fitted.smoothing,
        "fitSeconds": fitted.fit_seconds,
    });
    serde_json::to_string_pretty(&value).context("measures are plain JSON")
}

/// What stock engines show, measured.
pub(super) fn engine_json(engine: &EngineReport) -> Value {
    json!({
        "shows": match engine.shown {
            Shown::Itself => "theSkin",
            Shown::FourWeights(_) => "fourWeights",
            Shown::StandIn { .. } => "standIn",
            Shown::Exact(_) => "exactForm",
        },
        "overall": engine.overall,
        "heldOut": engine.held_out,
    })
}

fn json_of_choice(choice: &Choice) -> Value {
    let candidates: Vec<Value> = choice
        .candidates
        .iter()
        .map(|candidate| {
            let tried = candidate.outcome.as_ref().ok();
            json!({
                "method": candidate.method.key(),
                "maxInfluences": candidate.method.max_influences(),
                "heldOut": tried.map(|t| &t.held_out),
                "modelHeldOut": tried.map(|t| &t.model_held_out),
                "cost": tried.map(|t| &t.cost),
                "wholeBytesPerVertex": tried.map(|t| t.whole_bytes_per_vertex),
                "seconds": tried.map(|t| t.seconds),
                "affordable": tried.map(|t| t.obstacle.is_none()),
                "obstacle": tried.and_then(|t| t.obstacle.as_ref()).map(ToString::to_string),
                "error": candidate.outcome.as_ref().err().map(ToString::to_string),
            })
        })
        .collect();
    json!({
        "candidates": candidates,
        "chosen": choice.chosen,
        "reached": choice.reached,
    })
}
