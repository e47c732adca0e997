//! The report of a fit: one HTML file that needs no other.

use std::fmt::Write;

use base64::Engine;
use dermis::fit::FitReport;
use dermis::measure::ExampleMeasures;
use dermis_render::{Axis, Chart, Draw, Marker, Point, Series};

use super::table::{remarks, rows, short};
use super::{choose_examples, picture_rows};
use crate::cmd::fit::FitJob;
use crate::talk::Talk;

/// Side of each picture in pixels; shown at about half that, so that it is sharp on dense screens.
const PICTURE_SIZE: u32 = 560;

/// Width of charts in CSS pixels: that of the page.
const CHART_WIDTH: u32 = 1100;

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:1160px;\
margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin-top:2.2rem}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.3rem .9rem;text-align:right;border-bottom:1px solid #ddd}\
th:first-child,td:first-child{text-align:left;padding-left:0;white-space:nowrap}\
img{width:100%;height:auto;margin:.4rem 0}\
code{background:#f3f3f3;padding:.15rem .35rem;border-radius:3px;overflow-wrap:anywhere}\
svg{max-width:100%;height:auto}.note{color:#555}";

/// Writes the whole page.
pub(crate) fn html(job: &FitJob<'_>, fitted: &FitReport, talk: &Talk) -> anyhow::Result<String> {
    let set = &job.prepared.set;
    let chosen = choose_examples(fitted);
    let pictures = picture_rows(set, fitted, &chosen, job.up, PICTURE_SIZE, talk)?;
    let mut page = String::new();
    let p = &mut page;
    // Writing to a string cannot fail.
    let _ = write!(
        p,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>dermis fit report</title><style>{STYLE}</style></head><body>\n\
         <h1>Linear blend skinning, fitted to {} examples</h1>\n\
         <p class=\"note\">{} vertices, {} triangles, {} bones. Made by dermis {} with<br>\
         <code>{}</code></p>\n",
        set.examples().len(),
        set.rest().vertex_count(),
        set.rest().triangles().len(),
        fitted.cost.palette_size,
        env!("CARGO_PKG_VERSION"),
        escape(&job.command)
    );
    numbers(p, fitted);
    let _ = writeln!(p, "<h2>What it looks like</h2>");
    for (image, c) in pictures.iter().zip(&chosen) {
        let encoded = base64::engine::general_purpose::STANDARD.encode(image.to_png()?);
        let name = escape(&set.examples()[c.index].name);
        let _ = writeln!(
            p,
            "<img alt=\"{}: {name}: target, fit, and error as colour\" \
             src=\"data:image/png;base64,{encoded}\">",
            c.why
        );
    }
    let _ = writeln!(
        p,
        "<p class=\"note\">Each row from one camera; all rows share one colour scale. {}</p>",
        match fitted.held_out {
            Some(_) => "Held-out poses are shown with a skin that has not seen them.",
            None => "No pose was held out: the errors say nothing about poses not given.",
        }
    );
    let _ = writeln!(
        p,
        "<h2>Error of each example</h2>\n{}",
        error_chart(fitted).to_svg()
    );
    if fitted.round_errors.len() > 1 {
        let _ = writeln!(
            p,
            "<h2>Error after each round</h2>\n{}",
            round_chart(fitted).to_svg()
        );
    }
    explanation(p);
    p.push_str("</body></html>\n");
    Ok(page)
}

fn numbers(p: &mut String, fitted: &FitReport) {
    p.push_str(
        "<table><tr><th>examples</th><th>count</th><th>E_RMS</th><th>EE</th>\
         <th>position error</th><th>mean distance</th><th>max distance</th>\
         <th>mean normal angle</th><th>max</th></tr>\n",
    );
    for (name, m) in rows(fitted) {
        let percent = |v: Option<f64>| v.map_or("–".to_owned(), |v| format!("{v:.2}%"));
        let _ = writeln!(
            p,
            "<tr><td>{name}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.4}%</td>\
             <td>{:.3}%</td><td>{:.2}°</td><td>{:.1}°</td></tr>",
            m.example_count,
            short(m.e_rms),
            percent(m.enveloping_error_percent),
            percent(m.position_error_percent),
            100.0 * m.mean_distance,
            100.0 * m.max_distance,
            m.mean_normal_angle_deg,
            m.max_normal_angle_deg,
        );
    }
    p.push_str("</table>\n");
    let cost = &fitted.cost;
    let _ = writeln!(
        p,
        "<p>{:.1} bytes per vertex, {:.2} influences per vertex (at most {}), {} bytes of matrices \
         per frame; fitted in {:.2} s.</p>",
        cost.bytes_per_vertex,
        cost.mean_influences,
        cost.max_influences,
        cost.bytes_per_frame,
        fitted.fit_seconds
    );
    let remarks = remarks(fitted);
    if !remarks.is_empty() {
        p.push_str("<ul>");
        for remark in remarks {
            let _ = write!(p, "<li>{}</li>", escape(&remark));
        }
        p.push_str("</ul>\n");
    }
}

/// E_RMS of every example in order; those held out as open circles.
fn error_chart(fitted: &FitReport) -> Chart {
    let point = |m: &ExampleMeasures, marker: Marker| {
        let title = format!(
            "{}: E_RMS {:.3}, largest {:.2}%",
            m.name,
            m.e_rms,
            100.0 * m.max_distance
        );
        Point::new(m.index as f64, m.e_rms)
            .titled(title)
            .marked(marker)
    };
    let mut points: Vec<Point> = match &fitted.held_out {
        None => fitted
            .overall
            .examples
            .iter()
            .map(|m| point(m, Marker::Filled))
            .collect(),
        Some(held_out) => {
            let seen = held_out.training.examples.iter();
            // With each example held out in turn, the first fold's training examples are among them.
            let seen = seen
                .filter(|m| !held_out.contains(m.index))
                .map(|m| point(m, Marker::Filled));
            seen.chain(
                held_out
                    .measured
                    .examples
                    .iter()
                    .map(|m| point(m, Marker::Open)),
            )
            .collect()
        }
    };
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Chart {
        x: Axis::linear("example"),
        y: Axis::linear("E_RMS").from_zero(),
        series: vec![Series::new(
            "linear blend skinning",
            Draw::LineAndPoints,
            points,
        )],
        open_means: "held out".to_owned(),
        width: CHART_WIDTH,
        ..Chart::default()
    }
}

fn round_chart(fitted: &FitReport) -> Chart {
    let points: Vec<Point> = fitted
        .round_errors
        .iter()
        .enumerate()
        .map(|(round, &error)| Point::new(round as f64, error))
        .collect();
    Chart {
        x: Axis::linear("round of rest positions and weights"),
        y: Axis::linear("rms distance, model units").from_zero(),
        series: vec![Series::new("all examples", Draw::LineAndPoints, points)],
        width: CHART_WIDTH,
        ..Chart::default()
    }
}

fn explanation(p: &mut String) {
    p.push_str(
        "<h2>How to read the numbers</h2><ul>\
         <li><b>E_RMS</b>: root mean square error of a coordinate, times 1000, with the first \
         example scaled to fit a ball of radius 1.</li>\
         <li><b>EE</b>: error as a share of the error when every vertex follows one bone rigidly. \
         100% means that blending gained nothing.</li>\
         <li><b>Position error</b>: error as a share of the error when nothing moves at all.</li>\
         <li><b>Distances</b> are shares of the diagonal of the rest mesh's box; <b>normal angles</b> \
         compare area-weighted vertex normals.</li>\
         <li><b>Held out</b>: examples that the fit did not see. The skin as written is fitted to \
         all of them.</li></ul>\n",
    );
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
