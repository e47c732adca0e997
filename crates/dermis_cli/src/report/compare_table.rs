//! A comparison of methods as text and as JSON.

use std::fmt::Write;

use anyhow::Context;
use dermis::ExampleSet;
use dermis::compare::{Compared, Comparison};
use dermis::measure::Measures;
use serde_json::{Value, json};

use super::proxies;
use super::table::{engine_json, enveloping, rig_remarks, short};

/// One line per method, then what the numbers say.
pub(crate) fn compare_table(set: &ExampleSet, comparison: &Comparison) -> String {
    let mut text = String::new();
    let mut line = |parts: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{parts}");
    };
    let labels = comparison.rows.iter().map(|row| row.label.len());
    let width = labels.max().unwrap_or(0).max(15) + 1;
    line(format_args!(
        "{:<width$}{:>9}{:>9}{:>15}{:>15}{:>10}{:>10}{:>8}{:>8}{:>9}{:>9}{:>8}{:>9}  {:<22}{:>9}",
        "",
        "E_RMS",
        "E_RMS",
        "EE ± sd %",
        "EE ± sd %",
        "mean",
        "max",
        "normal",
        "normal",
        "bytes/",
        "bytes/",
        "ns/",
        "fit",
        "plays in",
        "E_RMS"
    ));
    line(format_args!(
        "{:<width$}{:>9}{:>9}{:>15}{:>15}{:>10}{:>10}{:>8}{:>8}{:>9}{:>9}{:>8}{:>9}  {:<22}{:>9}",
        "method",
        "fitted",
        "held out",
        "fitted",
        "held",
        "distance",
        "distance",
        "mean",
        "max",
        "vertex",
        "frame",
        "vertex",
        "seconds",
        "stock engines",
        "there"
    ));
    for row in &comparison.rows {
        let label = &row.label;
        match &row.outcome {
            Ok(c) => line(format_args!("{label:<width$}{}", numbers(c))),
            Err(reason) => line(format_args!("{label:<width$} no numbers: {reason}")),
        }
    }
    if let Some((_, c)) = comparison.compared().next() {
        let count = |m: &Measures| m.example_count;
        let tested = match c.report.held_out {
            Some(_) => format!(
                "fitted to {}, tested on {}",
                count(c.trained()),
                count(c.tested())
            ),
            None => format!("fitted to and measured on all {}", count(c.tested())),
        };
        line(format_args!(
            "{} vertices, {} bones, {} examples: {tested}",
            set.rest().vertex_count(),
            set.skeleton().bone_count(),
            set.examples().len()
        ));
    }
    for (row, c) in comparison.compared() {
        if let Some([trained, tested]) = &c.surface {
            line(format_args!(
                "{:<width$} to the surface: mean {:.4}% and {:.4}%, max {:.3}% and {:.3}% (fitted, held out)",
                row.label,
                100.0 * trained.mean_distance,
                100.0 * tested.mean_distance,
                100.0 * trained.max_distance,
                100.0 * tested.max_distance
            ));
        }
    }
    for sentence in comparison
        .advice()
        .into_iter()
        .chain(remarks(set, comparison))
    {
        line(format_args!("{sentence}"));
    }
    text.truncate(text.trim_end().len());
    text
}

fn numbers(c: &Compared) -> String {
    let (trained, tested) = (c.trained(), c.tested());
    let held_out = c.report.held_out.is_some();
    let if_held = |text: String| if held_out { text } else { "-".to_owned() };
    let percent = |m: &Measures| enveloping(m).unwrap_or("-".to_owned());
    let cost = &c.report.cost;
    format!(
        "{:>9}{:>9}{:>15}{:>15}{:>9.4}%{:>9.3}%{:>7.2}°{:>7.1}°{:>9.1}{:>9}{:>8.2}{:>9.2}  {:<22}{:>9}",
        short(trained.e_rms),
        if_held(short(tested.e_rms)),
        percent(trained),
        if_held(percent(tested)),
        100.0 * tested.mean_distance,
        100.0 * tested.max_distance,
        tested.mean_normal_angle_deg,
        tested.max_normal_angle_deg,
        cost.bytes_per_vertex,
        cost.bytes_per_frame,
        c.ns_per_vertex,
        c.report.fit_seconds,
        c.playback.text(),
        short(c.engine.tested().e_rms)
    )
}

/// What the fits say about examples and bones, each thing once, with the methods that say it unless
/// all do.
pub(super) fn remarks(set: &ExampleSet, comparison: &Comparison) -> Vec<String> {
    let mut remarks: Vec<(String, Vec<&str>)> = Vec::new();
    for (row, c) in comparison.compared() {
        let proxies = proxies::remarks(set, &row.method, &c.report);
        for remark in proxies.into_iter().chain(rig_remarks(&c.report)) {
            match remarks.iter_mut().find(|(known, _)| *known == remark) {
                Some((_, by)) => by.push(&row.label),
                None => remarks.push((remark, vec![&row.label])),
            }
        }
    }
    let count = comparison.compared().count();
    remarks
        .into_iter()
        .map(|(remark, by)| match by.len() == count {
            true => remark,
            false => format!("{}: {remark}", by.join(", ")),
        })
        .collect()
}

/// The same as JSON, example by example.
pub(crate) fn compare_json(set: &ExampleSet, comparison: &Comparison) -> anyhow::Result<String> {
    let row = |row: &dermis::compare::ComparisonRow| -> Value {
        let compared = row.outcome.as_ref().ok();
        let held_out = compared.and_then(|c| c.report.held_out.as_ref());
        json!({
            "method": row.method.key(),
            "label": row.label,
            "title": row.title,
            "maxInfluences": row.method.max_influences(),
            "error": row.outcome.as_ref().err().map(ToString::to_string),
            "overall": compared.map(|c| &c.report.overall.total),
            "training": held_out.map(|h| &h.training.total),
            "heldOut": held_out.map(|h| &h.measured.total),
            "heldOutExamples": held_out.map(|h| &h.measured.examples),
            "cost": compared.map(|c| &c.report.cost),
            "proxies": compared.and_then(|c| proxies::summary(set, &row.method, &c.report)),
            "nsPerVertex": compared.map(|c| c.ns_per_vertex),
            "fitSeconds": compared.map(|c| c.report.fit_seconds),
            "surface": compared.and_then(|c| c.surface),
            "playback": compared.map(|c| c.playback),
            "stockEngines": compared.map(|c| engine_json(&c.engine)),
            "rig": compared.map(|c| &c.report.rig),
        })
    };
    let value = json!({
        "vertices": set.rest().vertex_count(),
        "bones": set.skeleton().bone_count(),
        "examples": set.examples().len(),
        "methods": comparison.rows.iter().map(row).collect::<Vec<_>>(),
        "advice": comparison.advice(),
    });
    serde_json::to_string_pretty(&value).context("measures are plain JSON")
}
