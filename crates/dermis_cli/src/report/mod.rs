//! Results as people want them: one model of what there is to tell, and four renderers of it.
//!
//! `fit`, `comparison`, `decomposition`, `decompositions`, `levels` and `atlas` fill the model, each for one kind of result, and so do commands
//! whose results are never pages; `text`, `json`, `csv` and `html` know nothing about any of them.

mod atlas;
mod atlas_pictures;
mod atlas_stretch;
mod charts;
mod comparison;
#[cfg(feature = "gpu")]
mod crowd;
mod csv;
mod damage;
mod decomposition;
mod decompositions;
mod fit;
mod gallery;
mod html;
mod json;
mod level_pictures;
mod levels;
mod model;
mod names;
mod pictures;
mod provenance;
mod proxies;
mod remarks;
mod text;

use std::io::Write;

use anyhow::Context;

use crate::output_args::OutputArgs;
use provenance::Provenance;

pub(crate) use atlas::atlas_report;
pub(crate) use atlas_pictures::{atlas_figures, atlas_sheet};
pub(crate) use comparison::{comparison_figures, comparison_report, report_of_rows, row_data};
#[cfg(feature = "gpu")]
pub(crate) use crowd::{crowd_figures, crowd_report};
pub(crate) use decomposition::{decomposition_figures, decomposition_report};
pub(crate) use decompositions::{decompositions_figures, decompositions_report};
pub(crate) use fit::{fit_figures, fit_report, method_data};
pub(crate) use html::html;
pub(crate) use level_pictures::levels_figures;
pub(crate) use levels::levels_report;
pub(crate) use model::{Block, Column, Format, Level, Report, Row, Table, short};
pub(crate) use names::NameColumn;
pub(crate) use pictures::{View, single};
pub(crate) use proxies::rotational_options;
pub(crate) use text::{page_width, terminal_width, text, wrap};

/// Prints a report to standard output.
pub(crate) fn print(report: &Report, output: OutputArgs) -> anyhow::Result<()> {
    let text = match output {
        OutputArgs { json: true, .. } => json::json(report, &Provenance::of(report))?,
        OutputArgs { csv: true, .. } => csv::csv(report, &Provenance::of(report)),
        OutputArgs { wide: true, .. } => text::wide_text(report),
        _ => text(report),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")
}

/// A report as its JSON output has it, for a file.
pub(crate) fn as_json(report: &Report) -> anyhow::Result<String> {
    json::json(report, &Provenance::of(report))
}

/// What the JSON output of the running command says it comes from.
pub(crate) fn provenance_of(report: &Report) -> serde_json::Value {
    Provenance::of(report).json()
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase());
    first.into_iter().flatten().chain(chars).collect()
}

/// The command that is running, as one could type it again.
pub(crate) fn command_line() -> String {
    let quote = |arg: String| {
        let plain = |c: char| c.is_alphanumeric() || "-_./:=,+%#@".contains(c);
        match !arg.is_empty() && arg.chars().all(plain) {
            true => arg,
            false => format!("'{}'", arg.replace('\'', r"'\''")),
        }
    };
    let args = std::env::args_os()
        .skip(1)
        .map(|arg| quote(arg.to_string_lossy().into_owned()));
    std::iter::once("dermis".to_owned())
        .chain(args)
        .collect::<Vec<_>>()
        .join(" ")
}
