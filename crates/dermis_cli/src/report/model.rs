//! What there is to tell about a result, told once for all who render it.
//!
//! The numbers are [`Report::data`], as programs read them. Tables are views of the same data: a row is a place in it, a
//! column a key from there and how its value reads, so that no table can disagree with the JSON.
//!
//! Charts and pictures take a while and are wanted on pages alone; they are made apart, as [`Figure`]s.

use dermis::TriMesh;
use dermis_render::{Chart, Histogram};
use serde_json::{Map, Value};

use super::gallery::PictureRow;

/// A result.
#[derive(Debug)]
pub(crate) struct Report {
    /// What was done, in a few words.
    pub(super) heading: String,
    /// What it was done to.
    pub(super) subject: String,
    /// The command that did it.
    pub(super) command: String,
    /// All numbers, by the keys of the JSON output.
    pub(super) data: Value,
    /// What was chosen before they were made, beside the flags of the command: methods with all their options.
    pub(super) resolved: Map<String, Value>,
    /// What people read, in this order.
    pub(super) blocks: Vec<Block>,
    /// How to read the numbers: words, and what they mean.
    pub(super) glossary: Vec<(&'static str, &'static str)>,
}

/// A part of what people read.
#[derive(Debug)]
pub(crate) enum Block {
    Table(Table),
    /// A line each: a name, and what there is to say.
    Facts(Vec<(&'static str, String)>),
    /// Facts about the whole.
    Sentences(Vec<String>),
    /// What the numbers say, a sentence each.
    Remarks(Vec<String>),
}

/// Numbers side by side.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Above it on a page; empty for none.
    pub(crate) heading: &'static str,
    /// Above the names of the rows.
    pub(crate) names: &'static str,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// Whether a page marks the lowest number of each column.
    pub(crate) lowest_is_best: bool,
    /// Below it on a page; empty for none.
    pub(crate) note: &'static str,
}

/// A line of a table.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// A longer name, for pages; empty for none.
    pub(crate) title: String,
    /// Where its numbers are in the data, as a JSON pointer: `/methods/0`.
    pub(crate) at: String,
    /// What columns of [`Format::Words`] say, each by its key.
    pub(crate) words: Vec<(&'static str, String)>,
    /// Whether it stands out from the others.
    pub(crate) is_chosen: bool,
    /// Why it has no numbers.
    pub(crate) problem: Option<String>,
}

/// A column of a table.
#[derive(Debug)]
pub(crate) struct Column {
    /// Where the value is in a row, as a JSON pointer: `/heldOut/eRms`.
    pub(crate) key: String,
    /// Two lines above it, the upper one empty where one is enough.
    pub(crate) heading: [String; 2],
    pub(crate) format: Format,
    pub(crate) level: Level,
}

/// Who has room for a column. CSV has all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Everybody: what a person decides by.
    Always,
    /// Text that may be as wide as it likes, and pages.
    Wide,
    /// Pages alone.
    Pages,
}

/// How a value reads.
#[derive(Debug, Clone)]
pub(crate) enum Format {
    /// As it is.
    Count,
    /// With so many decimals.
    Number(usize),
    /// As [`short`] has it.
    Error,
    /// A share, as so many decimals of a per cent.
    Share(usize),
    /// An angle in degrees.
    Degrees(usize),
    /// A number and, at another key, its standard deviation.
    Deviating(String),
    /// The words of the row, or the text that the data has.
    Words,
}

/// A chapter of a page that has to be drawn.
pub(crate) struct Figure {
    pub(super) heading: &'static str,
    pub(super) parts: Vec<Part>,
    /// Below it; empty for none.
    pub(super) note: String,
}

/// What a chapter shows.
pub(super) enum Part {
    /// Side by side.
    Charts(Vec<Chart>),
    /// Distributions, side by side.
    Histograms(Vec<Histogram>),
    /// The colours of all pictures of the page.
    Scale {
        /// The legend.
        svg: String,
        /// What it means, and what it does not show.
        note: String,
    },
    /// A pose: the truth, and what is shown in its place.
    Pictures(PictureRow),
    /// One picture as wide as the page, and words below it.
    #[cfg(feature = "gpu")]
    Wide(super::gallery::Picture, String),
}

impl Report {
    /// A result that is never a page: numbers, and what people read of them.
    pub(crate) fn plain(data: Value, blocks: Vec<Block>) -> Self {
        Self {
            heading: String::new(),
            subject: String::new(),
            command: super::command_line(),
            data,
            resolved: Map::new(),
            blocks,
            glossary: Vec::new(),
        }
    }

    /// The table that CSV shows.
    pub(super) fn main_table(&self) -> Option<&Table> {
        self.blocks.iter().find_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }
}

impl Row {
    /// A row of some place in the data.
    pub(crate) fn new(name: impl Into<String>, at: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            at: at.into(),
            ..Self::default()
        }
    }

    /// The same, with what a column says in words.
    pub(crate) fn saying(mut self, key: &'static str, words: impl Into<String>) -> Self {
        self.words.push((key, words.into()));
        self
    }
}

impl Figure {
    /// One chart.
    pub(super) fn chart(heading: &'static str, chart: Chart, note: &str) -> Self {
        Self {
            heading,
            parts: vec![Part::Charts(vec![chart])],
            note: note.to_owned(),
        }
    }
}

impl Column {
    /// A column that everybody has room for.
    pub(crate) fn new(key: impl Into<String>, heading: [&str; 2], format: Format) -> Self {
        Self {
            key: key.into(),
            heading: heading.map(str::to_owned),
            format,
            level: Level::Always,
        }
    }

    /// The same for those who have room for it.
    pub(crate) fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// What it says of a row in words: those of the row, else the text in the data.
    fn words(&self, data: &Value, row: &Row) -> Option<String> {
        let own = row.words.iter().find(|(key, _)| *key == self.key);
        own.map(|(_, words)| words.clone()).or_else(|| {
            let text = data.pointer(&row.at)?.pointer(&self.key)?.as_str();
            text.map(ToOwned::to_owned)
        })
    }

    /// The value of a row with all its digits, as CSV has it; empty where there is none.
    pub(super) fn exact(&self, data: &Value, row: &Row) -> String {
        let value = data
            .pointer(&row.at)
            .and_then(|found| found.pointer(&self.key));
        match value {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            _ => match self.format {
                Format::Words => self.words(data, row).unwrap_or_default(),
                _ => String::new(),
            },
        }
    }

    /// The number of a row; `None` where it has none.
    pub(super) fn number(&self, data: &Value, row: &Row) -> Option<f64> {
        number(data.pointer(&row.at)?, &self.key)
    }

    /// The value of a row as it reads; `None` where it has none.
    pub(super) fn cell(&self, data: &Value, row: &Row) -> Option<String> {
        // Asked for only where there should be one: the data need not have words.
        let number = || self.number(data, row);
        Some(match &self.format {
            Format::Words => self.words(data, row)?,
            Format::Count => format!("{}", number()?),
            Format::Number(digits) => format!("{:.digits$}", number()?),
            Format::Error => short(number()?),
            Format::Share(digits) => format!("{:.digits$}%", 100.0 * number()?),
            Format::Degrees(digits) => format!("{:.digits$}°", number()?),
            Format::Deviating(key) => {
                let deviation = self::number(data.pointer(&row.at)?, key);
                let deviation = deviation.map_or(String::new(), |sd| format!(" ± {sd:.2}"));
                format!("{:.2}{deviation}", number()?)
            }
        })
    }

    /// Whether a page shows it before all columns are asked for: what one decides by. Where the errors of held-out
    /// examples are known, those of the others can wait; so can means, normals, counts of tears and folds (a sentence
    /// names the worst), and what a fit took.
    pub(super) fn is_shown_first(&self) -> bool {
        const LATER: [&str; 9] = [
            "/positionErrorPercent",
            "/meanDistance",
            "/meanNormalAngleDeg",
            "/maxNormalAngleDeg",
            "/tornEdges",
            "/foldedTriangles",
            "/bytesPerFrame",
            "/fitSeconds",
            "/seconds",
        ];
        let can_wait = LATER.iter().any(|end| self.key.ends_with(end));
        !can_wait && !self.key.starts_with("/training")
    }

    /// True for words, which begin at the left of their column.
    pub(super) fn is_words(&self) -> bool {
        matches!(self.format, Format::Words)
    }
}

/// The number at a key; `None` where it is null, or a part of something that is.
fn number(row: &Value, key: &str) -> Option<f64> {
    let mut value = row;
    for step in key.split('/').skip(1) {
        let next = value.pointer(&format!("/{step}"));
        debug_assert!(
            value.is_null() || next.is_some(),
            "{key} is not in the data: {value}"
        );
        value = next?;
    }
    value.as_f64()
}

/// Counts of a mesh and of the bones that move it.
pub(super) fn subject(mesh: &TriMesh, bones: usize) -> String {
    format!(
        "{} vertices, {} triangles, {bones} bones",
        mesh.vertex_count(),
        mesh.triangles().len()
    )
}

/// Three decimals, or the order of magnitude where those would say only zero.
pub(crate) fn short(value: f64) -> String {
    match value != 0.0 && value < 5e-4 {
        true => format!("{value:.0e}"),
        false => format!("{value:.3}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Two rows of numbers, a row without, and a sentence.
    pub(in crate::report) fn example() -> Report {
        let row = |number: usize, name: &str, words: &str| Row {
            name: name.to_owned(),
            at: format!("/methods/{number}"),
            words: vec![("/plays", words.to_owned())],
            ..Row::default()
        };
        let deviation = Format::Deviating("/ee/sd".to_owned());
        let table = Table {
            heading: "",
            names: "method",
            columns: vec![
                Column::new("/eRms", ["E_RMS", "all"], Format::Error),
                Column::new("/ee/mean", ["EE %", "all"], deviation),
                Column::new("/plays", ["", "plays"], Format::Words),
                Column::new("/share", ["max", "distance"], Format::Share(1)),
            ],
            rows: vec![
                row(0, "ssd", "yes"),
                row(1, "a<b", ""),
                Row {
                    problem: Some("no bones".to_owned()),
                    ..row(2, "mwe", "")
                },
            ],
            lowest_is_best: true,
            note: "",
        };
        Report {
            heading: "2 ways".to_owned(),
            subject: "3 vertices".to_owned(),
            command: "dermis test".to_owned(),
            resolved: Map::new(),
            data: json!({"methods": [
                {"eRms": 11.75, "ee": {"mean": 80.744, "sd": 63.0}, "plays": true, "share": 0.25},
                {"eRms": 0.00012, "ee": null, "plays": false, "share": 0.5},
                {"eRms": null, "ee": null, "plays": null, "share": null},
            ]}),
            blocks: vec![
                Block::Table(table),
                Block::Facts(vec![("mesh", "3 vertices".to_owned())]),
                Block::Remarks(vec!["ssd & co. are fine".to_owned()]),
            ],
            glossary: vec![("E_RMS", "an error")],
        }
    }

    #[test]
    fn values_read_as_their_column_says() {
        let report = example();
        let Block::Table(table) = &report.blocks[0] else {
            panic!("a table first");
        };
        let cells = |row: usize| {
            let cell = |column: &Column| column.cell(&report.data, &table.rows[row]);
            table.columns.iter().map(cell).collect::<Vec<_>>()
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            cells(0),
            [
                text("11.750"),
                text("80.74 ± 63.00"),
                text("yes"),
                text("25.0%")
            ],
            "numbers"
        );
        assert_eq!(
            cells(1),
            [text("1e-4"), None, text(""), text("50.0%")],
            "below a null there is nothing"
        );
    }

    #[test]
    #[should_panic(expected = "/ee/median is not in the data")]
    fn a_key_that_no_row_has_is_a_mistake_of_ours() {
        let report = example();
        let Block::Table(table) = &report.blocks[0] else {
            panic!("a table first");
        };
        let column = Column::new("/ee/median", ["", ""], Format::Count);
        column.cell(&report.data, &table.rows[0]);
    }
}
