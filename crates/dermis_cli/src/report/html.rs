//! A report as a page: one HTML file that needs no other, and no scripts.
//!
//! In the order in which one decides: the verdict, the numbers, what they say, pictures, charts, and what words mean.

use base64::Engine;
use serde_json::Value;

use super::gallery::{Picture, PictureCell, PictureRow};
use super::model::{Block, Column, Figure, Part, Report, Row, Table};

/// Light and dark, on screens and on paper.
const STYLE: &str = include_str!("page.css");
/// Dark paper, for those who asked their system for it.
const DARK: &str = "--paper:#17191d;--ink:#e6e8eb;--soft:#a4abb5;--line:#383c43;--stage:#71767e;--card:#23262c;\
                    --best:#7cc4ff;--chosen:#1d3040";

/// The whole page.
pub(crate) fn html(report: &Report, figures: &[Figure]) -> anyhow::Result<String> {
    let heading = escape(&report.heading);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>{heading}</title>\n<style>\n{STYLE}\
         @media screen and (prefers-color-scheme:dark){{:root{{{DARK}}}{}}}\n</style></head><body>\n\
         <h1>{heading}</h1>\n<p class=\"note\">{}</p>\n",
        dermis_render::dark_chart_style(),
        escape(&report.subject),
    );
    let p = &mut page;
    let verdict = report.data["verdict"].as_str();
    if let Some(verdict) = verdict {
        *p += &format!("<p class=\"verdict\">{}</p>\n", escape(verdict));
    }
    for block in &report.blocks {
        match block {
            Block::Table(numbers) => table(p, &report.data, numbers),
            Block::Facts(facts) => {
                p.push_str("<table>\n");
                for (name, text) in facts {
                    let (name, text) = (escape(name), escape(text));
                    *p += &format!("<tr><td>{name}</td><td class=\"words\">{text}</td></tr>\n");
                }
                p.push_str("</table>\n");
            }
            Block::Sentences(sentences) => {
                // Text has it among its sentences where it has it at all.
                for sentence in (sentences.iter()).filter(|text| Some(text.as_str()) != verdict) {
                    *p += &format!("<p>{}</p>\n", escape(sentence));
                }
            }
            Block::Remarks(remarks) => {
                let items: String = (remarks.iter())
                    .map(|text| format!("<li>{}</li>", escape(text)))
                    .collect();
                if !items.is_empty() {
                    *p += &format!("<h2>What the numbers say</h2>\n<ul>{items}</ul>\n");
                }
            }
        }
    }
    for figure in figures {
        draw(p, figure)?;
    }
    if !report.glossary.is_empty() {
        let meaning =
            |(word, text): &(&str, &str)| format!("<dt>{word}</dt><dd>{}</dd>\n", escape(text));
        let meanings: String = report.glossary.iter().map(meaning).collect();
        *p += &format!("<h2>How to read the numbers</h2>\n<dl>\n{meanings}</dl>\n");
    }
    *p += &format!(
        "<p class=\"note\">Made by dermis {} with <code>{}</code></p>\n</body></html>\n",
        env!("CARGO_PKG_VERSION"),
        escape(&report.command)
    );
    Ok(page)
}

fn table(p: &mut String, data: &Value, table: &Table) {
    if !table.heading.is_empty() {
        *p += &format!("<h2>{}</h2>\n", escape(table.heading));
    }
    let columns: Vec<(&Column, bool)> = table
        .columns
        .iter()
        .map(|column| (column, is_later(data, table, column)))
        .collect();
    p.push_str("<div class=\"table\">\n");
    if columns.iter().any(|(_, is_later)| *is_later) {
        let count = columns.len();
        *p += &format!(
            "<label class=\"switch\"><input type=\"checkbox\">show all {count} columns</label>\n"
        );
    }
    *p += &format!(
        "<div class=\"scroll\"><table>\n<thead><tr><th>{}</th>",
        escape(table.names)
    );
    for (column, is_later) in &columns {
        let [above, below] = column.heading.each_ref().map(|line| escape(line));
        let heading = match (above.is_empty(), below.is_empty()) {
            (true, _) => below,
            (_, true) => above,
            _ => format!("{above}<small>{below}</small>"),
        };
        *p += &format!("<th{}>{heading}</th>", class(column, *is_later, false));
    }
    p.push_str("</tr></thead>\n<tbody>\n");
    let lowest = |column: &Column| {
        let numbers = table.rows.iter().filter_map(|row| column.number(data, row));
        (table.lowest_is_best && !column.is_words()).then(|| numbers.fold(f64::INFINITY, f64::min))
    };
    for row in &table.rows {
        p.push_str(if row.is_chosen {
            "<tr class=\"chosen\">"
        } else {
            "<tr>"
        });
        *p += &format!("<td>{}</td>", name(row));
        match &row.problem {
            Some(reason) => {
                let (count, reason) = (table.columns.len(), escape(reason));
                *p += &format!("<td class=\"words\" colspan=\"{count}\">no numbers: {reason}</td>");
            }
            None => {
                for (column, is_later) in &columns {
                    let lowest = lowest(column);
                    let is_best = lowest.is_some() && column.number(data, row) == lowest;
                    let cell = column.cell(data, row).unwrap_or("–".to_owned());
                    let class = class(column, *is_later, is_best);
                    *p += &format!("<td{class}>{}</td>", escape(&cell));
                }
            }
        }
        p.push_str("</tr>\n");
    }
    p.push_str("</tbody></table></div>\n</div>\n");
    note(p, table.note);
}

/// Whether a column is shown only when all are asked for: of tables with many columns, those that are not needed to
/// decide, and those that are empty.
fn is_later(data: &Value, table: &Table, column: &Column) -> bool {
    /// Tables of no more columns than this show all of them.
    const FEW_COLUMNS: usize = 7;
    let has_cells = table
        .rows
        .iter()
        .any(|row| column.cell(data, row).is_some());
    table.columns.len() > FEW_COLUMNS && !(column.is_shown_first() && has_cells)
}

fn class(column: &Column, is_later: bool, is_best: bool) -> String {
    let names = [
        (column.is_words(), "words"),
        (is_later, "later"),
        (is_best && !column.is_words(), "best"),
    ];
    let names = names.iter().filter(|(is_so, _)| *is_so);
    let names: Vec<&str> = names.map(|(_, name)| *name).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" class=\"{}\"", names.join(" ")),
    }
}

fn name(row: &Row) -> String {
    let name = escape(&row.name);
    match row.title.is_empty() {
        true => name,
        false => format!("<code>{name}</code><small>{}</small>", escape(&row.title)),
    }
}

fn draw(p: &mut String, figure: &Figure) -> anyhow::Result<()> {
    let is_pictures = |part: &Part| matches!(part, Part::Pictures(_));
    let has_pictures = figure.parts.iter().any(is_pictures);
    p.push_str(match has_pictures {
        true => "<section class=\"larger\">\n",
        false => "<section>\n",
    });
    *p += &format!("<h2>{}</h2>\n", escape(figure.heading));
    if has_pictures {
        note(p, &figure.note);
        p.push_str("<label class=\"switch\"><input type=\"checkbox\">larger pictures</label>\n");
    }
    for part in &figure.parts {
        match part {
            Part::Charts(charts) => {
                p.push_str("<div class=\"charts\">");
                p.extend(charts.iter().map(dermis_render::Chart::to_svg));
                p.push_str("</div>\n");
            }
            Part::Histograms(histograms) => {
                p.push_str("<div class=\"charts\">");
                p.extend(histograms.iter().map(dermis_render::Histogram::to_svg));
                p.push_str("</div>\n");
            }
            Part::Scale { svg, note } => {
                let note = escape(note);
                *p += &format!("<div class=\"scale\">{svg}<p class=\"note\">{note}</p></div>\n");
            }
            Part::Pictures(row) => pictures(p, row)?,
            #[cfg(feature = "gpu")]
            Part::Wide(picture, words) => {
                *p += &format!("<div class=\"shot\">{}</div>\n", image(picture)?);
                note(p, words);
            }
        }
    }
    if !has_pictures {
        note(p, &figure.note);
    }
    p.push_str("</section>\n");
    Ok(())
}

/// A picture in the page itself.
fn image(picture: &Picture) -> anyhow::Result<String> {
    let png = base64::engine::general_purpose::STANDARD.encode(picture.image.to_png()?);
    let (width, height) = (picture.image.width(), picture.image.height());
    let alt = escape(&picture.alt);
    Ok(format!(
        "<img alt=\"{alt}\" width=\"{width}\" height=\"{height}\" src=\"data:image/png;base64,{png}\">"
    ))
}

fn pictures(p: &mut String, row: &PictureRow) -> anyhow::Result<()> {
    *p += &format!(
        "<h3>{}</h3>\n<div class=\"pictures\">\n",
        escape(&row.title)
    );
    for cell in &row.cells {
        let PictureCell {
            heading,
            pictures,
            lines,
            is_truth,
        } = cell;
        let class = if *is_truth { "cell truth" } else { "cell" };
        *p += &format!("<div class=\"{class}\"><b>{}</b>", escape(heading));
        for picture in pictures {
            *p += &format!("<div class=\"shot\">{}", image(picture)?);
            if let Some(mark) = &picture.mark {
                let [x, y] = mark.place.map(|share| 100.0 * share);
                let class = if mark.is_hidden { "mark far" } else { "mark" };
                let title = escape(&mark.title);
                *p += &format!(
                    "<i class=\"{class}\" style=\"left:{x:.2}%;top:{y:.2}%\" title=\"{title}\"></i>"
                );
            }
            p.push_str("</div>");
        }
        for line in lines {
            *p += &format!("<span>{}</span>", escape(line));
        }
        p.push_str("</div>\n");
    }
    p.push_str("</div>\n");
    Ok(())
}

fn note(p: &mut String, text: &str) {
    if !text.is_empty() {
        *p += &format!("<p class=\"note\">{}</p>\n", escape(text));
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::tests::example;

    #[test]
    fn a_page_has_all_that_is_told_with_nothing_left_to_markup() {
        let page = html(&example(), &[]).expect("a page");
        for part in [
            "<h1>2 ways</h1>",
            "<th>E_RMS<small>all</small></th>",
            "<td>11.750</td><td class=\"best\">80.74 ± 63.00</td><td class=\"words\">yes</td>",
            "<td>a&lt;b</td><td class=\"best\">1e-4</td><td>–</td>",
            "<td class=\"words\" colspan=\"4\">no numbers: no bones</td>",
            "<tr><td>mesh</td><td class=\"words\">3 vertices</td></tr>",
            "<li>ssd &amp; co. are fine</li>",
            "<dt>E_RMS</dt><dd>an error</dd>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
