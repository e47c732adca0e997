//! The report of a fit: one HTML file that needs no other.

use std::fmt::Write;

use dermis::fit::{EngineReport, FitReport};

use super::charts::{error_chart, round_chart};
use super::page::{self, PICTURE_SIZE};
use super::table::{candidates, enveloping, remarks, rows, short};
use super::{choose_examples, picture_rows};
use crate::cmd::fit::{Chosen, FitJob};
use crate::talk::Talk;

/// Writes the whole page.
pub(crate) fn html(
    job: &FitJob<'_>,
    fitted: &FitReport,
    engine: &EngineReport,
    talk: &Talk,
) -> anyhow::Result<String> {
    let set = &job.prepared.set;
    let chosen = choose_examples(fitted);
    let pictures = picture_rows(job, fitted, &chosen, PICTURE_SIZE, talk)?;
    let heading = format!(
        "{}, fitted to {} examples",
        super::capitalized(job.method().title()),
        set.examples().len()
    );
    let bones = fitted.cost.palette_size;
    let mut page = page::open(
        "dermis fit report",
        &heading,
        set.rest(),
        bones,
        &job.command,
    );
    let p = &mut page;
    numbers(p, job, fitted, engine);
    // Writing to a string cannot fail.
    let _ = writeln!(p, "<h2>What it looks like</h2>");
    for (image, c) in pictures.iter().zip(&chosen) {
        let name = &set.examples()[c.index].name;
        let alt = format!("{}: {name}: target, fit, and error as colour", c.why);
        page::picture(p, image, &alt)?;
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
        error_chart(job.method(), fitted).to_svg()
    );
    if fitted.round_errors.len() > 1 {
        let _ = writeln!(
            p,
            "<h2>Error after each round</h2>\n{}",
            round_chart(fitted).to_svg()
        );
    }
    page::explanation(
        p,
        "<li><b>Position error</b>: error as a share of the error when nothing moves at all.</li>\
         <li><b>Stock engines</b>: what players that know only plain glTF show instead of the skin, measured as \
         the skin is; without such rows they show the skin itself.</li>",
    );
    page::close(p);
    Ok(page)
}

fn numbers(p: &mut String, job: &FitJob<'_>, fitted: &FitReport, engine: &EngineReport) {
    p.push_str(
        "<table><tr><th>examples</th><th>count</th><th>E_RMS</th><th>EE ± sd, %</th>\
         <th>position error</th><th>mean distance</th><th>max distance</th>\
         <th>mean normal angle</th><th>max</th></tr>\n",
    );
    for (name, m) in rows(fitted, engine) {
        let percent = |v: Option<f64>| v.map_or("–".to_owned(), |v| format!("{v:.2}%"));
        let _ = writeln!(
            p,
            "<tr><td>{name}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.4}%</td>\
             <td>{:.3}%</td><td>{:.2}°</td><td>{:.1}°</td></tr>",
            m.example_count,
            short(m.e_rms),
            enveloping(m).unwrap_or("–".to_owned()),
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
    page::list(p, &remarks(job, fitted));
    if let Chosen::Best(choice) = &job.choice {
        let _ = writeln!(
            p,
            "<h2>What was tried</h2>\n<table class=\"wide\"><tr><th>method</th><th>influences</th>\
             <th>held-out E_RMS</th><th>EE</th><th>bytes per vertex</th><th>seconds</th>\
             <th class=\"words\"></th></tr>"
        );
        for row in candidates(choice) {
            let [key, influences, e_rms, ee, bytes, seconds, words] =
                row.cells.map(|c| page::escape(&c));
            let class = if row.chosen { " class=\"chosen\"" } else { "" };
            let _ = writeln!(
                p,
                "<tr{class}><td>{key}</td><td>{influences}</td><td>{e_rms}</td><td>{ee}</td>\
                 <td>{bytes}</td><td>{seconds}</td><td class=\"words\">{words}</td></tr>"
            );
        }
        p.push_str("</table>\n");
    }
}
