//! A report as JSON, for programs.

use anyhow::Context;
use serde_json::Value;

use super::model::Report;
use super::provenance::Provenance;

/// The data of the report, and what it comes from as `provenance`. A list has that in each of its entries.
pub(super) fn json(report: &Report, provenance: &Provenance) -> anyhow::Result<String> {
    let mut data = report.data.clone();
    let entries = match &mut data {
        Value::Array(entries) => &mut entries[..],
        one => std::slice::from_mut(one),
    };
    for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
        entry.insert("provenance".to_owned(), provenance.json());
    }
    serde_json::to_string_pretty(&data).context("measures are plain JSON")
}
