//! A report as text: tables in columns, and lines, none of them wider than a page unless that is asked for.

use std::io::IsTerminal;

use anstream::adapter::strip_str;
use serde_json::Value;

use super::model::{Block, Column, Level, Report, Table};

/// Letters that the names of facts take.
const FACT_WIDTH: usize = 24;
/// Most letters of a line.
const PAGE: usize = 100;
/// In a narrower window lines are longer than it is.
const NARROWEST: usize = 40;
/// Between columns.
const GAP: usize = 2;
/// Names keep at least so many letters.
const LEAST_NAME: usize = 16;

/// The whole report at the width of a page, without a line break at its end.
pub(crate) fn text(report: &Report) -> String {
    laid_out(report, false, page_width())
}

/// As [`text`], with all columns that text can have, and no line broken.
pub(super) fn wide_text(report: &Report) -> String {
    laid_out(report, true, usize::MAX)
}

/// How many letters a line may have: those of the terminal, at most 100.
pub(crate) fn page_width() -> usize {
    terminal_width(&std::io::stdout()).unwrap_or(PAGE)
}

/// How many letters a line may have on the terminal that a stream goes to, at most 100; `None` when it goes elsewhere.
pub(crate) fn terminal_width(stream: &impl IsTerminal) -> Option<usize> {
    let is_shown = stream.is_terminal();
    let (width, _) = is_shown.then(terminal_size::terminal_size).flatten()?;
    Some(usize::from(width.0).clamp(NARROWEST, PAGE))
}

fn laid_out(report: &Report, is_wide: bool, page: usize) -> String {
    let mut lines = Vec::new();
    for block in &report.blocks {
        match block {
            Block::Table(table) => {
                lines.extend(Layout::new(&report.data, table, is_wide, page).lines());
            }
            Block::Facts(facts) => {
                for (name, text) in facts {
                    lines.push(wrap(
                        &format!("{name:<FACT_WIDTH$}{text}"),
                        page,
                        FACT_WIDTH,
                    ));
                }
            }
            Block::Sentences(sentences) | Block::Remarks(sentences) => {
                lines.extend(sentences.iter().map(|sentence| wrap(sentence, page, GAP)));
            }
        }
    }
    lines.join("\n")
}

/// The lines of a text that are no longer than a page where its words allow it; all but the first begin with blanks.
/// Colours take no room.
pub(crate) fn wrap(text: &str, page: usize, indent: usize) -> String {
    let letters = |text: &str| {
        strip_str(text)
            .map(|part| part.chars().count())
            .sum::<usize>()
    };
    let mut lines = vec![String::new()];
    let mut used = 0;
    // Blanks are kept where a line is not broken: the columns of facts are made of them.
    for word in text.split_inclusive(' ') {
        let length = letters(word.trim_end());
        let is_first = lines.len() == 1;
        let is_empty = lines.last().is_none_or(|line| line.trim().is_empty());
        if used + length > page && !is_empty && !(is_first && used < indent) {
            lines.push(" ".repeat(indent));
            used = indent;
        }
        if let Some(line) = lines.last_mut() {
            *line += word;
        }
        used += letters(word);
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}

/// A name of at most so many letters; a longer one loses its middle, because both ends tell names apart.
fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let before = most / 2;
    let after = most - before - 1;
    let text = |letters: &[char]| letters.iter().collect::<String>();
    let end = text(&letters[letters.len() - after..]);
    format!("{}…{end}", text(&letters[..before]))
}

/// A table on a page.
struct Layout<'a> {
    table: &'a Table,
    columns: Vec<&'a Column>,
    /// What each row says in each column.
    cells: Vec<Vec<String>>,
    /// Letters of the names, with the mark of a row that stands out.
    names: usize,
    /// Letters of each column.
    widths: Vec<usize>,
    has_marks: bool,
    page: usize,
}

impl<'a> Layout<'a> {
    fn new(data: &Value, table: &'a Table, is_wide: bool, page: usize) -> Self {
        let level = match is_wide {
            true => Level::Wide,
            false => Level::Always,
        };
        let columns: Vec<&Column> = (table.columns.iter())
            .filter(|column| column.level <= level)
            .collect();
        let cells: Vec<Vec<String>> = (table.rows.iter())
            .map(|row| {
                let cell = |column: &&Column| column.cell(data, row).unwrap_or("-".to_owned());
                columns.iter().map(cell).collect()
            })
            .collect();
        let count = |text: &str| text.chars().count();
        let widths: Vec<usize> = (columns.iter().enumerate())
            .map(|(number, column)| {
                let rows = table.rows.iter().zip(&cells);
                let shown = rows.filter(|(row, _)| row.problem.is_none());
                let cells = shown.map(|(_, cells)| count(&cells[number]));
                let headings = column.heading.iter().map(|heading| count(heading));
                cells.chain(headings).max().unwrap_or(0)
            })
            .collect();
        let has_marks = table.rows.iter().any(|row| row.is_chosen);
        let names = table.rows.iter().map(|row| count(&row.name));
        let longest = names.chain([count(table.names)]).max().unwrap_or(0);
        let mut layout = Self {
            names: longest,
            table,
            columns,
            cells,
            widths,
            has_marks,
            page,
        };
        layout.names = longest.min(layout.room_for_names());
        layout
    }

    /// Letters that the other columns leave for names. Words at the end of a line are broken where they must be.
    fn room_for_names(&self) -> usize {
        let last = self.columns.len().saturating_sub(1);
        let taken = |(number, width): (usize, &usize)| {
            let is_last = number == last && self.columns[number].is_words();
            GAP + if is_last { (*width).min(24) } else { *width }
        };
        let taken: usize = self.widths.iter().enumerate().map(taken).sum();
        let room = self.page.saturating_sub(taken + self.mark().len());
        room.max(LEAST_NAME)
    }

    fn mark(&self) -> &'static str {
        if self.has_marks { "  " } else { "" }
    }

    fn line(&self, is_chosen: bool, name: &str, cells: &[String]) -> String {
        let mark = if is_chosen { "* " } else { self.mark() };
        let name = shortened(name, self.names);
        let mut line = format!("{mark}{name:<width$}", width = self.names);
        let last = cells.len().saturating_sub(1);
        for (number, ((column, cell), &width)) in
            (self.columns.iter().zip(cells).zip(&self.widths)).enumerate()
        {
            line += &" ".repeat(GAP);
            match column.is_words() {
                true if number == last => {
                    let indent = line.chars().count();
                    line = wrap(&format!("{line}{cell}"), self.page, indent);
                }
                true => line += &format!("{cell:<width$}"),
                false => line += &format!("{cell:>width$}"),
            }
        }
        line.trim_end().to_owned()
    }

    fn lines(&self) -> Vec<String> {
        let headings = |k: usize| -> Vec<String> {
            let heading = |column: &&Column| column.heading[k].clone();
            self.columns.iter().map(heading).collect()
        };
        let mut lines = Vec::new();
        if (self.columns.iter()).any(|column| !column.heading[0].is_empty()) {
            lines.push(self.line(false, "", &headings(0)));
        }
        lines.push(self.line(false, self.table.names, &headings(1)));
        for (row, cells) in self.table.rows.iter().zip(&self.cells) {
            lines.push(match &row.problem {
                None => self.line(row.is_chosen, &row.name, cells),
                Some(reason) => {
                    let name = shortened(&row.name, self.names);
                    let name = format!("{}{name:<width$}", self.mark(), width = self.names + GAP);
                    let indent = name.chars().count();
                    wrap(&format!("{name}no numbers: {reason}"), self.page, indent)
                }
            });
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::tests::example;

    #[test]
    fn columns_stand_below_their_headings_and_what_is_missing_is_a_dash() {
        let expected = [
            "         E_RMS           EE %              max",
            "method     all            all  plays  distance",
            "ssd     11.750  80.74 ± 63.00  yes       25.0%",
            "a<b       1e-4              -            50.0%",
            "mwe     no numbers: no bones",
            "mesh                    3 vertices",
            "ssd & co. are fine",
        ];
        let text = laid_out(&example(), false, PAGE);
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn columns_that_a_page_has_no_room_for_are_shown_when_asked_for() {
        let mut report = example();
        let Block::Table(table) = &mut report.blocks[0] else {
            panic!("a table first");
        };
        table.columns[1].level = Level::Wide;
        table.columns[3].level = Level::Pages;
        let narrow = laid_out(&report, false, PAGE);
        let wide = laid_out(&report, true, usize::MAX);
        assert!(!narrow.contains("EE %"), "{narrow}");
        assert!(wide.contains("EE %"), "{wide}");
        assert!(!wide.contains("distance"), "for pages alone: {wide}");
    }

    #[test]
    fn no_line_is_wider_than_the_page_and_long_names_lose_their_middle() {
        let mut report = example();
        report
            .blocks
            .push(Block::Sentences(vec!["word ".repeat(60)]));
        report
            .blocks
            .push(Block::Facts(vec![("fact", "word ".repeat(60))]));
        let Block::Table(table) = &mut report.blocks[0] else {
            panic!("a table first");
        };
        table.rows[0].name = format!("begin{}end", "x".repeat(200));
        table.rows[2].problem = Some("because ".repeat(30));
        for page in [60, PAGE] {
            let text = laid_out(&report, false, page);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(page), "{widest:?}:\n{text}");
            let name = text.lines().nth(2).expect("a row");
            assert!(name.starts_with("begin"), "{name}");
            assert_eq!(name.matches("x…x").count(), 1, "one cut: {name}");
            assert!(name.contains("end  "), "{name}");
        }
        let wide = laid_out(&report, true, usize::MAX);
        assert!(wide.contains(&"x".repeat(200)), "whole: {wide}");
    }

    #[test]
    fn lines_break_between_words_and_begin_with_blanks() {
        let broken = wrap("one two three four", 9, 2);
        assert_eq!(broken, "one two\n  three\n  four", "at most nine letters");
        let long = wrap("a verylongwordindeed b", 8, 2);
        assert_eq!(long, "a\n  verylongwordindeed\n  b", "words stay whole");
        let fact = wrap("name    one two", 12, 8);
        assert_eq!(fact, "name    one\n        two", "below its beginning");
        let bold = wrap("\u{1b}[1mone\u{1b}[0m two three", 8, 2);
        assert_eq!(
            bold, "\u{1b}[1mone\u{1b}[0m two\n  three",
            "colours take no room"
        );
    }
}
