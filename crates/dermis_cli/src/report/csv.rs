//! A report as CSV, for spreadsheets and data frames: what the numbers come from in lines that begin with `#`, then a
//! line of names and a line for each row of the main table, with all columns and all digits.

use serde_json::Value;

use super::model::{Format, Report, Row, Table};
use super::provenance::Provenance;

/// The whole report, without a line break at its end.
pub(super) fn csv(report: &Report, provenance: &Provenance) -> String {
    let mut lines = provenance.comments();
    let records = match report.main_table() {
        Some(table) => of_table(&report.data, table),
        None => of_data(&report.data),
    };
    lines.extend(records.iter().map(|fields| record(fields)));
    lines.join("\n")
}

fn record(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
    fields.join(",")
}

/// A field as RFC 4180 has it.
fn quoted(field: &str) -> String {
    // A line that begins with # would be a comment.
    match field.contains([',', '"', '\n', '\r']) || field.starts_with('#') {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

/// The name of a column: its key with points for slashes.
fn name(key: &str) -> String {
    key.trim_start_matches('/').replace('/', ".")
}

fn of_table(data: &Value, table: &Table) -> Vec<Vec<String>> {
    let mut names = vec![table.names.to_owned()];
    for column in &table.columns {
        names.push(name(&column.key));
        if let Format::Deviating(key) = &column.format {
            names.push(name(key));
        }
    }
    // A column of its own: numbers of other rows stay below their names.
    let has_problems = table.rows.iter().any(|row| row.problem.is_some());
    if has_problems {
        names.push("error".to_owned());
    }
    let fields = |row: &Row| -> Vec<String> {
        let mut fields = vec![row.name.trim().to_owned()];
        for column in &table.columns {
            fields.push(column.exact(data, row));
            if let Format::Deviating(key) = &column.format {
                fields.push(plain(data.pointer(&format!("{}{key}", row.at))).unwrap_or_default());
            }
        }
        if has_problems {
            fields.push(row.problem.clone().unwrap_or_default());
        }
        fields
    };
    std::iter::once(names)
        .chain(table.rows.iter().map(fields))
        .collect()
}

/// Without a table: a row for each thing in the data, with its plain values.
fn of_data(data: &Value) -> Vec<Vec<String>> {
    let things = match data {
        Value::Array(things) => &things[..],
        one => std::slice::from_ref(one),
    };
    let values: Vec<Vec<(String, String)>> = things.iter().map(plain_values).collect();
    let mut names: Vec<String> = Vec::new();
    for (name, _) in values.iter().flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let row = |values: &Vec<(String, String)>| -> Vec<String> {
        let value = |name: &String| {
            let found = values.iter().find(|(key, _)| key == name);
            found.map_or(String::new(), |(_, value)| value.clone())
        };
        names.iter().map(value).collect()
    };
    let rows: Vec<Vec<String>> = values.iter().map(row).collect();
    std::iter::once(names).chain(rows).collect()
}

/// The values of a thing that are no lists, those of things inside it after a point.
fn plain_values(thing: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (key, value) in thing.as_object().into_iter().flatten() {
        match (value, plain(Some(value))) {
            (Value::Object(_), _) => {
                let inner = plain_values(value).into_iter();
                found.extend(inner.map(|(name, value)| (format!("{key}.{name}"), value)));
            }
            (_, Some(value)) => found.push((key.clone(), value)),
            _ => {}
        }
    }
    found
}

/// A value that is no list and no thing with parts; empty for null.
fn plain(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => Some(String::new()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(value) => Some(value.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::model::Block;
    use crate::report::model::tests::example;

    fn lines(report: &Report) -> Vec<String> {
        let text = csv(report, &Provenance::default());
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(ToOwned::to_owned).collect()
    }

    #[test]
    fn a_row_has_all_columns_with_all_digits_and_its_reason() {
        let mut report = example();
        report.data["methods"][1]["eRms"] = json!(0.000_123_456_789_012_3);
        assert_eq!(
            lines(&report),
            [
                "method,eRms,ee.mean,ee.sd,plays,share,error",
                "ssd,11.75,80.744,63.0,true,0.25,",
                "a<b,0.0001234567890123,,,false,0.5,",
                "mwe,,,,,,no bones",
            ],
            "as the data has it"
        );
    }

    #[test]
    fn commas_quotes_and_line_breaks_are_quoted() {
        for (field, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("he said \"no\"", "\"he said \"\"no\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("#1", "\"#1\""),
            ("", ""),
        ] {
            assert_eq!(quoted(field), expected, "{field:?}");
        }
    }

    #[test]
    fn without_a_table_every_thing_is_a_row_of_its_plain_values() {
        let data = json!([
            {"file": "a.glb", "box": {"size": 2.5}, "clips": [1, 2]},
            {"file": "b,c.obj", "bytes": 10, "box": null},
        ]);
        let report = Report::plain(data, vec![Block::Facts(Vec::new())]);
        assert_eq!(
            lines(&report),
            ["file,box.size,bytes,box", "a.glb,2.5,,", "\"b,c.obj\",,10,"],
            "lists are left to JSON"
        );
    }
}
