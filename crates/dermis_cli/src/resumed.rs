//! `dermis compare --resume`: rows of an earlier run that need not be made again.

use std::path::Path;

use anyhow::{Context, bail};
use dermis::fit::Method;
use serde_json::{Map, Value, json};

use crate::option_flags::option_names;
use crate::report::{self, Report};

/// Flags that say which rows there are or where results go: rows do not depend on them. Options of methods are compared
/// row by row.
const BESIDE_THE_ROWS: [&str; 7] = [
    "methods",
    "resume",
    "up",
    "max-influences",
    "report",
    "save",
    "target-error",
];

/// Rows that an earlier run has left in a file.
#[derive(Debug, Default)]
pub(crate) struct EarlierRows {
    rows: Vec<Value>,
}

impl EarlierRows {
    /// Those of a file that were made from the same inputs with the same options by this version; none where there is
    /// no file yet. A file of anything else is refused, because it would be written over.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("{}: cannot be read", path.display()))?;
        let data: Value = serde_json::from_str(&text).unwrap_or_default();
        let rows = data["methods"].as_array();
        let (Some(rows), true) = (rows, data["provenance"].is_object()) else {
            bail!(
                "{}: expected the numbers that an earlier `dermis compare --resume` kept there, found something else: \
                 name another file",
                path.display()
            );
        };
        let now = report::provenance_of(&Report::plain(Value::Null, Vec::new()));
        if comparable(&data["provenance"]) != comparable(&now) {
            return Ok(Self::default());
        }
        let is_finished = |row: &&Value| row["error"].is_null();
        Ok(Self {
            rows: rows.iter().filter(is_finished).cloned().collect(),
        })
    }

    /// The row of a method with just these options, under the name that it has now.
    pub(crate) fn row_of(&self, method: &Method, [label, title]: &[String; 2]) -> Option<Value> {
        let resolved = report::method_data(method);
        let mut row = self
            .rows
            .iter()
            .find(|row| row["resolved"] == resolved)?
            .clone();
        for (key, name) in [("label", label), ("title", title)] {
            row[key] = json!(name);
            row["summary"][key] = json!(name);
        }
        Some(row)
    }
}

/// What rows depend on of where they come from: the version, what the files held, and the flags.
fn comparable(provenance: &Value) -> Value {
    let hashes = provenance["inputs"].as_array().into_iter().flatten();
    let hashes: Vec<&Value> = hashes.map(|input| &input["sha256"]).collect();
    let of_methods = option_names();
    let mut options: Map<String, Value> = Map::new();
    for (name, value) in provenance["options"].as_object().into_iter().flatten() {
        let is_beside =
            BESIDE_THE_ROWS.contains(&name.as_str()) || of_methods.contains(&name.as_str());
        if !is_beside {
            options.insert(name.clone(), value.clone());
        }
    }
    json!({"dermis": provenance["dermis"], "options": options, "sha256": hashes})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_depend_on_version_files_and_flags_but_not_on_their_names() {
        let provenance = |version: &str, hash: &str, hold_out: &str, methods: &str| {
            comparable(&json!({
                "dermis": version,
                "command": format!("dermis compare --methods {methods}"),
                "options": {"hold-out": hold_out, "methods": methods, "delta": "0.1"},
                "inputs": [{"file": methods, "sha256": hash}],
            }))
        };
        let first = provenance("0.1.0", "aa", "one", "ssd");
        assert_eq!(first, provenance("0.1.0", "aa", "one", "mwe"), "the same");
        assert_ne!(first, provenance("0.2.0", "aa", "one", "ssd"), "version");
        assert_ne!(first, provenance("0.1.0", "ab", "one", "ssd"), "files");
        assert_ne!(first, provenance("0.1.0", "aa", "none", "ssd"), "flags");
    }
}
