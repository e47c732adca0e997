//! The report of a comparison: one HTML file that needs no other.

use std::fmt::Write;

use dermis::compare::{Compared, Comparison, ComparisonRow};
use dermis::measure::Measures;
use dermis_render::{HeatScale, Image, Panel, sheet};

use super::charts::{cost_charts, error_charts, proxy_charts};
use super::compare_table::remarks;
use super::page::{self, PICTURE_SIZE, escape};
use super::pictures::{Shot, Shown, View, choose_by, single, skin_for, style, telling};
use super::table::{enveloping, short};
use crate::args::Up;
use crate::examples::Prepared;
use crate::talk::Talk;

/// Methods whose error is within so many times the lowest decide where the colours end: one that
/// went astray would leave nothing to see of the others.
pub(super) const COMPARABLE: f64 = 3.0;

/// Panels in a row when there are too many for one.
pub(super) const COLUMNS: usize = 3;

/// Writes the whole page.
pub(crate) fn compare_html(
    prepared: &Prepared,
    comparison: &Comparison,
    up: Up,
    command: &str,
    talk: &Talk,
) -> anyhow::Result<String> {
    let set = &prepared.set;
    let heading = format!(
        "{} ways to fit {} examples",
        comparison.rows.len(),
        set.examples().len()
    );
    let bones = set.skeleton().bone_count();
    let mut page = page::open(
        "dermis compare report",
        &heading,
        set.rest(),
        bones,
        command,
    );
    let p = &mut page;
    numbers(p, comparison);
    // Writing to a string cannot fail.
    let _ = writeln!(p, "<h2>What the numbers say</h2>");
    page::list(p, &comparison.advice());
    page::list(p, &remarks(set, comparison));
    let held_out = comparison
        .compared()
        .any(|(_, c)| c.report.held_out.is_some());
    let [time, size] = cost_charts(comparison);
    let _ = writeln!(
        p,
        "<h2>Error against cost</h2>\n<div class=\"pair\">{}{}</div>\n\
         <p class=\"note\">E_RMS on {}. Low and left is good.</p>",
        time.to_svg(),
        size.to_svg(),
        if held_out {
            "held-out examples"
        } else {
            "all examples"
        }
    );
    if let Some([error, size]) = proxy_charts(set, comparison) {
        let _ = writeln!(
            p,
            "<h2>How many proxy bones</h2>\n<div class=\"pair\">{}{}</div>\n\
             <p class=\"note\">Rotational regression with as many proxy bones as are in use. The skin's size is that \
             of its vertices and of what places the proxies.</p>",
            error.to_svg(),
            size.to_svg()
        );
    }
    let _ = writeln!(p, "<h2>Where the error is</h2>");
    let chosen = choose_shown(comparison);
    for (image, c) in pictures(prepared, comparison, &chosen, up, talk)?
        .iter()
        .zip(&chosen)
    {
        let name = &set.examples()[c.index].name;
        let _ = writeln!(
            p,
            "<h3>{}: {}</h3>",
            super::capitalized(c.why),
            escape(name)
        );
        let alt = format!(
            "{}: {name}: the example, and each method's error as colour",
            c.why
        );
        page::picture(p, image, &alt)?;
    }
    let _ = writeln!(
        p,
        "<p class=\"note\">All pictures share one colour scale; errors beyond its end are as dark as \
         its end. {}</p>",
        match held_out {
            true => "Held-out poses are shown with skins that have not seen them.",
            false => "No pose was held out: the errors say nothing about poses not given.",
        }
    );
    let _ = writeln!(
        p,
        "<h2>Error of each example</h2>\n{}",
        error_charts(comparison).to_svg()
    );
    page::explanation(
        p,
        "<li><b>EE ± sd</b>: the error over that of the best rigid prediction, and the standard deviation over \
         vertices of the error of each, both in per cent.</li>\
         <li><b>Bytes per vertex</b> are those of rest position and influences in 32-bit numbers; \
         <b>bytes per frame</b> those of the matrices.</li>\
         <li><b>ns per vertex</b>: one thread of this machine, positions only, packed for speed; the \
         best of several runs, all methods in turn.</li>\
         <li><b>Stock engines</b>: whether a player that knows only plain glTF shows the skin as it \
         is, an approximation of it (influences beyond the fourth, or what animation space adds, are \
         lost), or a plain skin that was fitted to it, because only dermis runs the model itself; and the \
         E_RMS of what it shows, on held-out examples where there are some.</li>",
    );
    page::close(p);
    Ok(page)
}

type Column = (
    &'static str,
    fn(&Compared) -> Option<f64>,
    fn(&Compared) -> String,
);

/// What each column shows, and the number by which its lowest entry is found.
const COLUMNS_OF_TABLE: [Column; 13] = [
    (
        "fitted",
        |c| Some(c.trained().e_rms),
        |c| short(c.trained().e_rms),
    ),
    (
        "held out",
        |c| tested_if_held(c).map(|m| m.e_rms),
        |c| tested_if_held(c).map_or("–".to_owned(), |m| short(m.e_rms)),
    ),
    (
        "fitted",
        |c| c.trained().enveloping_error_percent,
        |c| percent(Some(c.trained())),
    ),
    (
        "held out",
        |c| tested_if_held(c)?.enveloping_error_percent,
        |c| percent(tested_if_held(c)),
    ),
    (
        "mean",
        |c| Some(c.tested().mean_distance),
        |c| format!("{:.3}%", 100.0 * c.tested().mean_distance),
    ),
    (
        "max",
        |c| Some(c.tested().max_distance),
        |c| format!("{:.2}%", 100.0 * c.tested().max_distance),
    ),
    (
        "mean",
        |c| Some(c.tested().mean_normal_angle_deg),
        |c| format!("{:.2}°", c.tested().mean_normal_angle_deg),
    ),
    (
        "max",
        |c| Some(c.tested().max_normal_angle_deg),
        |c| format!("{:.0}°", c.tested().max_normal_angle_deg),
    ),
    (
        "vertex",
        |c| Some(c.report.cost.bytes_per_vertex),
        |c| format!("{:.1}", c.report.cost.bytes_per_vertex),
    ),
    (
        "frame",
        |c| Some(c.report.cost.bytes_per_frame as f64),
        |c| c.report.cost.bytes_per_frame.to_string(),
    ),
    (
        "vertex",
        |c| Some(c.ns_per_vertex),
        |c| format!("{:.2}", c.ns_per_vertex),
    ),
    (
        "s",
        |c| Some(c.report.fit_seconds),
        |c| format!("{:.2}", c.report.fit_seconds),
    ),
    (
        "E_RMS",
        |c| Some(c.engine.tested().e_rms),
        |c| short(c.engine.tested().e_rms),
    ),
];

fn tested_if_held(c: &Compared) -> Option<&Measures> {
    c.report.held_out.as_ref().map(|h| &h.measured.total)
}

fn percent(measures: Option<&Measures>) -> String {
    measures.and_then(enveloping).unwrap_or("–".to_owned())
}

fn numbers(p: &mut String, comparison: &Comparison) {
    p.push_str(
        "<table class=\"wide\"><tr><th></th><th class=\"group\" colspan=\"2\">E_RMS</th>\
         <th class=\"group\" colspan=\"2\">EE ± sd, %</th><th class=\"group\" colspan=\"2\">distance</th>\
         <th class=\"group\" colspan=\"2\">normal angle</th><th class=\"group\" colspan=\"2\">bytes \
         per</th><th class=\"group\">ns per</th><th class=\"group\">fit</th>\
         <th class=\"group\" colspan=\"2\">in stock engines</th></tr>\n\
         <tr><th>method</th>",
    );
    for (head, ..) in COLUMNS_OF_TABLE {
        let _ = write!(p, "<th>{head}</th>");
    }
    p.push_str("<th class=\"words\">it plays</th></tr>\n");
    let lowest = COLUMNS_OF_TABLE.map(|(_, value, _)| {
        let values = comparison.compared().filter_map(|(_, c)| value(c));
        values.fold(f64::INFINITY, f64::min)
    });
    for row in &comparison.rows {
        let _ = write!(
            p,
            "<tr><td>{}<br><code>{}</code></td>",
            escape(&name(row)),
            escape(&row.label)
        );
        match &row.outcome {
            Ok(c) => {
                for ((_, value, text), lowest) in COLUMNS_OF_TABLE.iter().zip(lowest) {
                    let class = match value(c) {
                        Some(value) if value <= lowest => " class=\"best\"",
                        _ => "",
                    };
                    let _ = write!(p, "<td{class}>{}</td>", text(c));
                }
                let _ = writeln!(p, "<td class=\"words\">{}</td></tr>", c.playback.text());
            }
            Err(reason) => {
                let _ = writeln!(
                    p,
                    "<td class=\"words\" colspan=\"{}\">no numbers: {}</td></tr>",
                    COLUMNS_OF_TABLE.len() + 1,
                    escape(&reason.to_string())
                );
            }
        }
    }
    p.push_str(
        "</table>\n<p class=\"note\">Distances and angles are those of held-out examples where there \
         are some. The lowest of each column is bold.</p>\n",
    );
}

/// The title, broken where it would make the column too wide.
fn name(row: &ComparisonRow) -> String {
    row.title.replace("linear blend skinning with ", "with ")
}

/// The pose that is worst over all methods, and one in the middle.
fn choose_shown(comparison: &Comparison) -> Vec<Shown> {
    let mut errors: Vec<(usize, f64)> = Vec::new();
    let mut why = "worst pose";
    for (_, c) in comparison.compared() {
        let (examples, worst_why) = telling(&c.report);
        // As shares of the method's own error, so that one that went astray does not choose alone.
        let scale = c.tested().e_rms.max(f64::MIN_POSITIVE);
        why = worst_why;
        errors.resize(examples.len(), (0, 0.0));
        for (slot, m) in errors.iter_mut().zip(examples) {
            *slot = (m.index, slot.1 + m.e_rms / scale);
        }
    }
    choose_by(errors, why, &[0.5])
}

/// For each pose the example and every method's error.
fn pictures(
    prepared: &Prepared,
    comparison: &Comparison,
    chosen: &[Shown],
    up: Up,
    talk: &Talk,
) -> anyhow::Result<Vec<Image>> {
    use dermis::progress::Progress;
    let set = &prepared.set;
    let rows: Vec<(&ComparisonRow, &Compared)> = comparison.compared().collect();
    let errors = || rows.iter().map(|(_, c)| c.tested().e_rms);
    let limit = COMPARABLE * errors().fold(f64::INFINITY, f64::min);
    let mut shots = Vec::new();
    for c in chosen {
        let of_pose: Result<Vec<Shot>, _> = rows
            .iter()
            .map(|(_, compared)| Shot::new(set, skin_for(&compared.report, c.index), c.index))
            .collect();
        shots.push(of_pose?);
    }
    let comparable = shots.iter().flat_map(|shots| {
        let pairs = shots.iter().zip(errors());
        pairs
            .filter(|(_, error)| *error <= limit)
            .map(|(shot, _)| shot.worst())
    });
    let scale = HeatScale::fitting(comparable, "% of size");
    let mut images = Vec::new();
    for (number, (shots, c)) in shots.iter().zip(chosen).enumerate() {
        let target = single(&set.examples()[c.index].positions);
        // Where to look from is for the example to say: a method may throw vertices far away.
        let view = View::new(set.rest(), &[&target], up, PICTURE_SIZE);
        let mut panels = vec![Panel::new(view.draw(&target, None)?, "example")];
        for (shot, (row, _)) in shots.iter().zip(&rows) {
            panels.push(Panel::new(
                view.draw(&shot.fit, Some(shot.heat(&scale)))?,
                format!("{}: error at most {:.2}%", row.label, shot.worst()),
            ));
            talk.report(
                "drawing",
                number * (rows.len() + 1) + panels.len(),
                chosen.len() * (rows.len() + 1),
            );
            talk.check_stopped()?;
        }
        let columns = match panels.len() {
            few @ ..=4 => few,
            _ => COLUMNS,
        };
        images.push(sheet(&panels, &style(&scale, PICTURE_SIZE, columns)));
    }
    Ok(images)
}
