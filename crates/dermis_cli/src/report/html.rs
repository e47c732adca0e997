//! A report as a page: one HTML file that needs no other.

use base64::Engine;
use serde_json::Value;

use super::model::{Block, Column, Figure, Part, Report, Row, Table};

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:1160px;\
margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2.2rem}\
h3{font-size:1rem;margin-bottom:0}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.3rem .9rem;text-align:right;border-bottom:1px solid #ddd}\
th:first-child,td:first-child{text-align:left;padding-left:0;white-space:nowrap}\
table.wide{font-size:.82rem;line-height:1.35;width:100%}\
table.wide th,table.wide td{padding:.35rem .45rem}\
table.wide td:first-child{white-space:normal}td code{white-space:nowrap}\
table.wide th{vertical-align:bottom;font-weight:600}\
th.group{text-align:center;border-bottom:none;color:#555}\
td.words,th.words{text-align:left}td.best{font-weight:700;color:#005a8d}\
tr.chosen{background:#eef5fa}\
img{width:100%;height:auto;margin:.4rem 0}\
code{background:#f3f3f3;padding:.15rem .35rem;border-radius:3px;overflow-wrap:anywhere}\
svg{max-width:100%;height:auto}.pair{display:flex;flex-wrap:wrap;gap:1.2rem}.note{color:#555}";

/// Tables of more columns than this are set in small type.
const FEW_COLUMNS: usize = 8;

/// The whole page. Its figures come after all that is in words and numbers.
pub(crate) fn html(report: &Report, figures: &[Figure]) -> anyhow::Result<String> {
    let heading = escape(&report.heading);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>{heading}</title><style>{STYLE}</style></head><body>\n\
         <h1>{heading}</h1>\n\
         <p class=\"note\">{}. Made by dermis {} with<br>\
         <code>{}</code></p>\n",
        escape(&report.subject),
        env!("CARGO_PKG_VERSION"),
        escape(&report.command)
    );
    let p = &mut page;
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
                for sentence in sentences {
                    *p += &format!("<p>{}</p>\n", escape(sentence));
                }
            }
            Block::Remarks(remarks) => list(
                p,
                "What the numbers say",
                remarks.iter().map(|text| escape(text)),
            ),
        }
    }
    for figure in figures {
        *p += &format!("<h2>{}</h2>\n", escape(figure.heading));
        for part in &figure.parts {
            draw(p, part)?;
        }
        note(p, &figure.note);
    }
    let glossary = report.glossary.iter();
    let meanings = glossary.map(|(word, text)| format!("<b>{word}</b>: {}", escape(text)));
    list(p, "How to read the numbers", meanings);
    p.push_str("</body></html>\n");
    Ok(page)
}

fn table(p: &mut String, data: &Value, table: &Table) {
    if !table.heading.is_empty() {
        *p += &format!("<h2>{}</h2>\n", escape(table.heading));
    }
    p.push_str(match table.columns.len() > FEW_COLUMNS {
        true => "<table class=\"wide\">",
        false => "<table>",
    });
    if table.columns.iter().any(|c| !c.heading[0].is_empty()) {
        p.push_str("<tr><th></th>");
        for columns in table.columns.chunk_by(|a, b| a.heading[0] == b.heading[0]) {
            let (count, heading) = (columns.len(), escape(&columns[0].heading[0]));
            *p += &format!("<th class=\"group\" colspan=\"{count}\">{heading}</th>");
        }
        p.push_str("</tr>\n");
    }
    *p += &format!("<tr><th>{}</th>", escape(table.names));
    for column in &table.columns {
        *p += &format!(
            "<th{}>{}</th>",
            class(column, false),
            escape(&column.heading[1])
        );
    }
    p.push_str("</tr>\n");
    let lowest = |column: &Column| {
        let numbers = table.rows.iter().filter_map(|row| column.number(data, row));
        (table.lowest_is_best && !column.is_words()).then(|| numbers.fold(f64::INFINITY, f64::min))
    };
    let lowest: Vec<Option<f64>> = table.columns.iter().map(lowest).collect();
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
                for (column, lowest) in table.columns.iter().zip(&lowest) {
                    let is_best = lowest.is_some() && column.number(data, row) == *lowest;
                    let cell = column.cell(data, row).unwrap_or("–".to_owned());
                    *p += &format!("<td{}>{}</td>", class(column, is_best), escape(&cell));
                }
            }
        }
        p.push_str("</tr>\n");
    }
    p.push_str("</table>\n");
    note(p, table.note);
}

fn class(column: &Column, is_best: bool) -> &'static str {
    match (column.is_words(), is_best) {
        (true, _) => " class=\"words\"",
        (false, true) => " class=\"best\"",
        (false, false) => "",
    }
}

fn name(row: &Row) -> String {
    let name = escape(&row.name);
    match row.title.is_empty() {
        true => name,
        false => format!("{}<br><code>{name}</code>", escape(&row.title)),
    }
}

fn draw(p: &mut String, part: &Part) -> anyhow::Result<()> {
    match part {
        Part::Charts(charts) => {
            p.push_str("<div class=\"pair\">");
            p.extend(charts.iter().map(dermis_render::Chart::to_svg));
            p.push_str("</div>\n");
        }
        Part::Picture { title, alt, image } => {
            if !title.is_empty() {
                *p += &format!("<h3>{}</h3>\n", escape(title));
            }
            let png = base64::engine::general_purpose::STANDARD.encode(image.to_png()?);
            let alt = escape(alt);
            *p += &format!("<img alt=\"{alt}\" src=\"data:image/png;base64,{png}\">\n");
        }
    }
    Ok(())
}

/// A list with a heading; nothing for none.
fn list(p: &mut String, heading: &str, items: impl Iterator<Item = String>) {
    let items: String = items.map(|item| format!("<li>{item}</li>")).collect();
    if !items.is_empty() {
        *p += &format!("<h2>{heading}</h2>\n<ul>{items}</ul>\n");
    }
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
            "<th class=\"group\" colspan=\"1\">E_RMS</th>",
            "<td>11.750</td><td class=\"best\">80.74 ± 63.00</td><td class=\"words\">yes</td>",
            "<td>a&lt;b</td><td class=\"best\">1e-4</td><td>–</td>",
            "<td class=\"words\" colspan=\"4\">no numbers: no bones</td>",
            "<tr><td>mesh</td><td class=\"words\">3 vertices</td></tr>",
            "<li>ssd &amp; co. are fine</li>",
            "<li><b>E_RMS</b>: an error</li>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
