//! Results as people want them: a table, JSON, and a page with pictures.

mod charts;
mod compare_html;
mod compare_table;
mod decompose_html;
mod decompose_table;
mod decompositions_html;
mod decompositions_table;
mod html;
mod names;
mod page;
mod pictures;
mod proxies;
mod table;

pub(crate) use compare_html::compare_html;
pub(crate) use compare_table::{compare_json, compare_table};
pub(crate) use decompose_html::decompose_html;
pub(crate) use decompose_table::{decompose_json, decompose_table};
pub(crate) use decompositions_html::decompositions_html;
pub(crate) use decompositions_table::{decompositions_json, decompositions_table};
pub(crate) use html::html;
pub(crate) use names::NameColumn;
pub(crate) use pictures::{Shown, View, choose_examples, picture_rows, single};
pub(crate) use proxies::rotational_options;
pub(crate) use table::{json, short, table};

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
