//! The report of a comparison of decompositions: one HTML file that needs no other.

use std::fmt::Write;

use dermis::MeshAnimation;
use dermis::compare::{DecomposedNumbers, DecompositionComparison, DecompositionRow, ModelNumbers};
use dermis::progress::Progress;
use dermis_render::glam::Vec3;
use dermis_render::{Axis, Chart, Draw, HeatScale, Image, Paint, Panel, Point, Series, sheet};

use super::compare_html::{COLUMNS, COMPARABLE};
use super::decompositions_table::{cells, plays};
use super::page::{self, CHART_WIDTH, PICTURE_SIZE, escape};
use super::pictures::{View, single, style};
use crate::args::Up;
use crate::talk::Talk;

/// Errors of which one is so many times another are drawn on a logarithmic axis.
const FAR_APART: f64 = 20.0;
/// Errors below this are rounding, and would stretch an axis.
const ROUNDING: f64 = 1e-3;

/// Writes the whole page.
pub(crate) fn decompositions_html(
    animation: &MeshAnimation,
    found: &DecompositionComparison,
    up: Up,
    command: &str,
    talk: &Talk,
) -> anyhow::Result<String> {
    let heading = format!(
        "{} ways to decompose {} frames",
        found.rows.len(),
        animation.frame_count()
    );
    let title = "dermis compare report";
    let mut page = page::open(title, &heading, animation.rest(), found.bone_count, command);
    let p = &mut page;
    numbers(p, found);
    // Writing to a string cannot fail.
    let _ = writeln!(p, "<h2>What the numbers say</h2>");
    page::list(p, &found.advice());
    let _ = writeln!(
        p,
        "<h2>Error of each way</h2>\n{}",
        error_bars(found).to_svg()
    );
    if let Some(worst) = worst_frame(found) {
        let _ = writeln!(
            p,
            "<h2>Where the error is</h2>\n<h3>Worst frame: {worst}</h3>"
        );
        let alt = format!("frame {worst}: the animation, and each way's error as colour");
        page::picture(p, &picture(animation, found, worst, up, talk)?, &alt)?;
        let _ = writeln!(
            p,
            "<p class=\"note\">All pictures share one colour scale; errors beyond its end are as dark \
             as its end. Without corrections.</p>"
        );
    }
    let _ = writeln!(
        p,
        "<h2>Error of each frame</h2>\n{}",
        frame_chart(found).to_svg()
    );
    p.push_str(
        "<h2>How to read the numbers</h2><ul>\
         <li><b>E_RMS</b>: root mean square error of a coordinate, times 1000, with the first frame \
         scaled to fit a ball of radius 1. Below about 0.0001 it is rounding.</li>\
         <li><b>Corrections</b> (EigenSkin) are displacements of the rest shape that every frame mixes \
         anew, as morph targets. They cost bytes in every vertex.</li>\
         <li><b>Bytes per vertex</b> and <b>per frame</b> are in 32-bit numbers. All ways have the same \
         data per frame but for the corrections; a skin's vertex stays small however many bones there \
         are, that of a truncated SVD grows with them.</li>\
         <li><b>Stock engines</b>: whether a player that knows only plain glTF shows the result. Sums of \
         shapes need a player of their own.</li></ul>\n",
    );
    page::close(p);
    Ok(page)
}

fn numbers(p: &mut String, found: &DecompositionComparison) {
    p.push_str(
        "<table class=\"wide\"><tr><th></th><th class=\"group\" colspan=\"2\">E_RMS</th>\
         <th class=\"group\" colspan=\"2\">bytes per vertex</th><th class=\"group\">bytes per</th>\
         <th class=\"group\" colspan=\"2\">seconds</th><th></th></tr>\n<tr><th>method</th><th>as it \
         is</th><th>corrected</th><th>as it is</th><th>corrected</th><th>frame</th><th>as it is</th>\
         <th>corrections</th><th class=\"words\">stock engines</th></tr>\n",
    );
    for row in &found.rows {
        let _ = write!(
            p,
            "<tr><td>{}<br><code>{}</code></td>",
            escape(row.title),
            row.key
        );
        match &row.outcome {
            Ok(numbers) => {
                for cell in cells(numbers) {
                    let cell = if cell == "-" { "–" } else { &cell };
                    let _ = write!(p, "<td>{cell}</td>");
                }
                let _ = writeln!(p, "<td class=\"words\">{}</td></tr>", plays(numbers));
            }
            Err(reason) => {
                let _ = writeln!(
                    p,
                    "<td class=\"words\" colspan=\"8\">no numbers: {}</td></tr>",
                    escape(&reason.to_string())
                );
            }
        }
    }
    p.push_str("</table>\n");
}

/// A pair of bars for every way: as it is, and with corrections.
fn error_bars(found: &DecompositionComparison) -> Chart {
    let bar = |x: f64, row: &DecompositionRow, numbers: &ModelNumbers, what: &str| {
        let title = format!("{}{what}: E_RMS {:.4}", row.key, numbers.e_rms);
        Point::new(x, numbers.e_rms).titled(title)
    };
    let mut series = Vec::new();
    for (number, (row, numbers)) in found.decomposed().enumerate() {
        let x = number as f64 + 1.0;
        let mut bars = vec![bar(x - 0.2, row, &numbers.numbers, "")];
        let corrected = numbers.with_eigen_skin.as_ref();
        bars.extend(corrected.map(|numbers| bar(x + 0.2, row, numbers, " with corrections")));
        series.push(Series::new(row.key, Draw::Bars { width: 0.36 }, bars));
    }
    Chart {
        x: Axis::linear("in the order of the table; the second bar is with corrections")
            .from_zero(),
        y: Axis::linear("E_RMS").from_zero(),
        series,
        width: CHART_WIDTH,
        ..Chart::default()
    }
}

/// E_RMS of every frame, a line for every way that is not exact.
fn frame_chart(found: &DecompositionComparison) -> Chart {
    let shown = || {
        found
            .decomposed()
            .filter(|(_, numbers)| numbers.numbers.e_rms > ROUNDING)
    };
    let series = shown().map(|(row, numbers)| {
        let point = |(frame, &error): (usize, &f64)| {
            let title = format!("{} in frame {frame}: E_RMS {error:.3}", row.key);
            Point::new(frame as f64, error).titled(title)
        };
        let points: Vec<Point> = numbers.frame_errors.iter().enumerate().map(point).collect();
        Series::new(row.key, Draw::Line, points)
    });
    let series: Vec<Series> = series.collect();
    let errors = || shown().flat_map(|(_, numbers)| numbers.frame_errors.iter().copied());
    let low = errors().fold(f64::INFINITY, f64::min);
    let high = errors().fold(0.0, f64::max);
    Chart {
        x: Axis::linear("frame"),
        y: match low > ROUNDING && high > FAR_APART * low {
            true => Axis::log10("E_RMS"),
            false => Axis::linear("E_RMS").from_zero(),
        },
        series,
        width: CHART_WIDTH,
        height: 400,
        ..Chart::default()
    }
}

/// The frame with the largest error over all ways, each counted in shares of its own.
fn worst_frame(found: &DecompositionComparison) -> Option<usize> {
    let mut sums: Vec<f64> = Vec::new();
    for (_, numbers) in found.decomposed() {
        let scale = numbers.numbers.e_rms.max(f64::MIN_POSITIVE);
        sums.resize(numbers.frame_errors.len(), 0.0);
        for (sum, error) in sums.iter_mut().zip(&numbers.frame_errors) {
            *sum += error / scale;
        }
    }
    (0..sums.len()).max_by(|&a, &b| sums[a].total_cmp(&sums[b]).then(b.cmp(&a)))
}

/// What a way shows in one frame.
struct Shot<'a> {
    row: &'a DecompositionRow,
    e_rms: f64,
    shown: Vec<Vec3>,
    /// Distance of each vertex, in per cent of the rest box's diagonal.
    percent: Vec<f32>,
}

/// The frame itself and every way's error in it.
fn picture(
    animation: &MeshAnimation,
    found: &DecompositionComparison,
    frame: usize,
    up: Up,
    talk: &Talk,
) -> anyhow::Result<Image> {
    let truth = animation.frames().nth(frame).unwrap_or_default();
    let diagonal = animation.size();
    let shot = |(row, numbers): (_, &DecomposedNumbers)| {
        let shown = numbers.frame(frame);
        let distances = truth.iter().zip(&shown).map(|(a, b)| a.distance(*b));
        Shot {
            row,
            e_rms: numbers.numbers.e_rms,
            percent: distances.map(|d| (100.0 * d / diagonal) as f32).collect(),
            shown: single(&shown),
        }
    };
    let shots: Vec<Shot<'_>> = found.decomposed().map(shot).collect();
    let worst = |shot: &Shot<'_>| shot.percent.iter().copied().fold(0.0, f32::max);
    // A bound that is all but exact says nothing about the colours of the others.
    let least = shots
        .iter()
        .map(|shot| shot.e_rms)
        .filter(|error| *error > ROUNDING);
    let skins = found
        .decomposed()
        .filter(|(_, numbers)| numbers.playback.is_some());
    let least_skin = skins
        .map(|(_, numbers)| numbers.numbers.e_rms)
        .fold(f64::INFINITY, f64::min);
    let limit = COMPARABLE * least.fold(f64::INFINITY, f64::min).max(least_skin);
    let comparable = shots.iter().filter(|shot| shot.e_rms <= limit).map(worst);
    let scale = HeatScale::fitting(comparable, "% of size");
    let target = single(truth);
    let view = View::new(animation.rest(), &[&target], up, PICTURE_SIZE);
    let mut panels = vec![Panel::new(view.draw(&target, None)?, "animation")];
    for shot in &shots {
        let paint = Paint::Heat {
            values: &shot.percent,
            scale: scale.clone(),
        };
        panels.push(Panel::new(
            view.draw(&shot.shown, Some(paint))?,
            format!("{}: error at most {:.2}%", shot.row.key, worst(shot)),
        ));
        talk.report("drawing", panels.len(), shots.len() + 1);
        talk.check_stopped()?;
    }
    let columns = panels.len().min(COLUMNS);
    Ok(sheet(&panels, &style(&scale, PICTURE_SIZE, columns)))
}
