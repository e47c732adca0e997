//! Results as people want them: one model of what there is to tell, and three renderers of it.
//!
//! `fit`, `comparison`, `decomposition` and `decompositions` fill the model, each for one kind of result; `text`, `json` and
//! `html` know nothing about any of them.

mod charts;
mod comparison;
mod decomposition;
mod decompositions;
mod fit;
mod gallery;
mod html;
mod json;
mod model;
mod names;
mod pictures;
mod proxies;
mod remarks;
mod text;

use std::io::Write;

use anyhow::Context;

pub(crate) use comparison::{comparison_figures, comparison_report};
pub(crate) use decomposition::{decomposition_figures, decomposition_report};
pub(crate) use decompositions::{decompositions_figures, decompositions_report};
pub(crate) use fit::{fit_figures, fit_report};
pub(crate) use html::html;
pub(crate) use model::{Report, short};
pub(crate) use names::NameColumn;
pub(crate) use pictures::{View, single};
pub(crate) use proxies::rotational_options;
pub(crate) use text::text;

/// Prints a report to standard output.
pub(crate) fn print(report: &Report, as_json: bool) -> anyhow::Result<()> {
    let text = match as_json {
        true => json::json(report)?,
        false => text(report),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")
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
