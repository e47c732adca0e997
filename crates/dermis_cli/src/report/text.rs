//! A report as text: tables in columns, and lines.

use serde_json::Value;

use super::model::{Block, Column, Report, Table};

/// Letters that the names of facts take.
const FACT_WIDTH: usize = 24;

/// The whole report, without a line break at its end.
pub(crate) fn text(report: &Report) -> String {
    let mut lines = Vec::new();
    for block in &report.blocks {
        match block {
            Block::Table(table) => lines.extend(table_lines(&report.data, table)),
            Block::Facts(facts) => {
                let line = |(name, text): &_| format!("{name:<FACT_WIDTH$}{text}");
                lines.extend(facts.iter().map(line));
            }
            Block::Sentences(sentences) | Block::Remarks(sentences) => {
                lines.extend(sentences.iter().cloned());
            }
        }
    }
    lines.join("\n")
}

fn table_lines(data: &Value, table: &Table) -> Vec<String> {
    let columns: Vec<&Column> = table.columns.iter().filter(|c| !c.is_for_pages).collect();
    let lengths = table.rows.iter().map(|row| row.name.chars().count() + 1);
    let width = lengths.max().unwrap_or(0).max(table.names_width);
    let has_marks = table.rows.iter().any(|row| row.is_chosen);
    let line = |is_chosen: bool, name: &str, cells: &[String]| {
        let mark = match (has_marks, is_chosen) {
            (false, _) => "",
            (true, false) => "  ",
            (true, true) => "* ",
        };
        let mut line = format!("{mark}{name:<width$}");
        for (column, cell) in columns.iter().zip(cells) {
            let width = column.width;
            line += &match column.is_words() {
                true => format!("  {cell:<width$}"),
                false => format!("{cell:>width$}"),
            };
        }
        line.trim_end().to_owned()
    };
    let headings = |k: usize| -> Vec<String> {
        let heading = |column: &&Column| column.heading[k].clone();
        columns.iter().map(heading).collect()
    };
    let mut lines = Vec::new();
    if columns.iter().any(|column| !column.heading[0].is_empty()) {
        lines.push(line(false, "", &headings(0)));
    }
    lines.push(line(false, table.names, &headings(1)));
    for row in &table.rows {
        let cell = |column: &&Column| column.cell(data, row).unwrap_or("-".to_owned());
        let cells: Vec<String> = columns.iter().map(cell).collect();
        lines.push(match &row.problem {
            None => line(row.is_chosen, &row.name, &cells),
            Some(reason) => format!(
                "{} no numbers: {reason}",
                format_args!("{:<width$}", row.name)
            ),
        });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::tests::example;

    #[test]
    fn columns_stand_below_their_headings_and_what_is_missing_is_a_dash() {
        let expected = [
            "            E_RMS          EE %                 max",
            "method        all           all  plays     distance",
            "ssd        11.750 80.74 ± 63.00  yes          25.0%",
            "a<b          1e-4             -               50.0%",
            "mwe      no numbers: no bones",
            "mesh                    3 vertices",
            "ssd & co. are fine",
        ];
        let text = text(&example());
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
    }
}
