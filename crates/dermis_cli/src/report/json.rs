//! A report as JSON, for programs.

use anyhow::Context;

use super::model::Report;

/// The data of the report.
pub(crate) fn json(report: &Report) -> anyhow::Result<String> {
    serde_json::to_string_pretty(&report.data).context("measures are plain JSON")
}
