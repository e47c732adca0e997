//! The measures of a fit as text and as JSON.

use std::fmt::Write;

use anyhow::Context;
use dermis::ExampleSet;
use dermis::fit::FitReport;
use dermis::measure::Measures;
use serde_json::json;

use crate::talk::plural;

/// The error table, with one line of cost and one for each thing to know.
pub(crate) fn table(set: &ExampleSet, fitted: &FitReport) -> String {
    let mut text = String::new();
    let mut line = |parts: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{parts}");
    };
    line(format_args!(
        "{:<24}{:>9}{:>9}{:>9}{:>11}{:>11}{:>9}{:>9}",
        "examples", "count", "E_RMS", "EE %", "mean dist", "max dist", "normal", "worst"
    ));
    for (name, m) in rows(fitted) {
        let ee = m.enveloping_error_percent;
        line(format_args!(
            "{name:<24}{:>9}{:>9}{:>9}{:>10.4}%{:>10.4}%{:>8.2}°{:>8.1}°",
            m.example_count,
            short(m.e_rms),
            ee.map_or("-".to_owned(), |ee| format!("{ee:.2}")),
            100.0 * m.mean_distance,
            100.0 * m.max_distance,
            m.mean_normal_angle_deg,
            m.max_normal_angle_deg,
        ));
    }
    let cost = &fitted.cost;
    line(format_args!(
        "{} vertices, {} bones, {:.2} influences per vertex (at most {}), {:.1} bytes per vertex, \
         fitted in {:.2} s",
        set.rest().vertex_count(),
        cost.palette_size,
        cost.mean_influences,
        cost.max_influences,
        cost.bytes_per_vertex,
        fitted.fit_seconds
    ));
    for note in remarks(fitted) {
        line(format_args!("{note}"));
    }
    text.truncate(text.trim_end().len());
    text
}

/// The rows of the error table.
pub(super) fn rows(fitted: &FitReport) -> Vec<(&'static str, &Measures)> {
    let mut rows = Vec::new();
    if let Some(held_out) = &fitted.held_out {
        rows.push(("fitted to", &held_out.training.total));
        rows.push(("held out", &held_out.measured.total));
    }
    rows.push(("all (skin as written)", &fitted.overall.total));
    rows
}

/// Three decimals, or the order of magnitude where those would say only zero.
pub(super) fn short(value: f64) -> String {
    match value != 0.0 && value < 5e-4 {
        true => format!("{value:.0e}"),
        false => format!("{value:.3}"),
    }
}

/// What a user should know about the result beside the numbers.
pub(super) fn remarks(fitted: &FitReport) -> Vec<String> {
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
    if fitted.cost.max_influences > 4 {
        remarks.push(format!(
            "up to {} bones move a vertex: players that read only four show an approximation",
            fitted.cost.max_influences
        ));
    }
    remarks
}

/// The same as JSON, example by example.
pub(crate) fn json(set: &ExampleSet, fitted: &FitReport) -> anyhow::Result<String> {
    let held_out = fitted.held_out.as_ref();
    let value = json!({
        "vertices": set.rest().vertex_count(),
        "method": "ssd",
        "overall": fitted.overall.total,
        "training": held_out.map(|h| &h.training.total),
        "heldOut": held_out.map(|h| &h.measured.total),
        "trainingExamples": held_out.map(|h| &h.training.examples),
        "heldOutExamples": held_out.map(|h| &h.measured.examples),
        "cost": fitted.cost,
        "rig": fitted.rig,
        "roundErrors": fitted.round_errors,
        "fitSeconds": fitted.fit_seconds,
    });
    serde_json::to_string_pretty(&value).context("measures are plain JSON")
}
