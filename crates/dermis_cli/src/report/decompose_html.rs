//! The report of a decomposition: one HTML file that needs no other.

use std::fmt::Write;

use dermis::progress::Progress;
use dermis::{Skin, VertexProgram};
use dermis_render::{Axis, Chart, Draw, HeatScale, Paint, Panel, Point, Series, sheet};

use super::decompose_table::lines;
use super::page::{self, CHART_WIDTH, PICTURE_SIZE, escape};
use super::pictures::{View, choose_by, single, style};
use crate::cmd::decompose::DecomposeJob;
use crate::talk::Talk;

/// Writes the whole page.
pub(crate) fn decompose_html(job: &DecomposeJob<'_>, talk: &Talk) -> anyhow::Result<String> {
    let animation = job.animation;
    let bones = job.found.skin.skeleton.bone_count();
    let heading = format!("{} frames on {bones} bones", animation.frame_count());
    let command = super::command_line();
    let title = "dermis decompose report";
    let mut page = page::open(title, &heading, animation.rest(), bones, &command);
    let p = &mut page;
    p.push_str("<table>\n");
    for (name, value) in lines(job) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            p,
            "<tr><td>{}</td><td class=\"words\">{}</td></tr>",
            escape(name),
            escape(&value)
        );
    }
    p.push_str("</table>\n<h2>What it looks like</h2>\n");
    let errors = frame_errors(job)?;
    pictures(p, job, &errors, talk)?;
    let _ = writeln!(
        p,
        "<h2>Error of each frame</h2>\n{}",
        line_chart("frame", &errors).to_svg()
    );
    if job.found.round_errors.len() > 1 {
        let _ = writeln!(
            p,
            "<h2>Error after each round</h2>\n{}<p class=\"note\">Several ways to begin are tried for a \
             few rounds each before the best goes on.</p>",
            line_chart("round", &job.found.round_errors).to_svg()
        );
    }
    p.push_str(
        "<h2>How to read the numbers</h2><ul>\
         <li><b>E_RMS</b>: root mean square error of a coordinate, times 1000, with the first frame \
         scaled to fit a ball of radius 1: about pixels when the mesh fills a 1000-pixel window.</li>\
         <li><b>No skin falls below</b>: what the best sum of as many shapes leaves; bones cannot do \
         better, whatever their weights.</li></ul>\n",
    );
    page::close(p);
    Ok(page)
}

/// `E_RMS` of every frame.
fn frame_errors(job: &DecomposeJob<'_>) -> anyhow::Result<Vec<f64>> {
    let animation = job.animation;
    let count = (3 * animation.vertex_count()) as f64;
    let mut errors = Vec::with_capacity(job.found.poses.len());
    for (frame, pose) in animation.frames().zip(&job.found.poses) {
        let shown = job.found.skin.evaluate(pose)?;
        let squared: f64 = (frame.iter().zip(&shown))
            .map(|(a, b)| a.distance_squared(*b))
            .sum();
        errors.push(1000.0 * (squared / count).sqrt() / animation.unit_ball_radius());
    }
    Ok(errors)
}

fn line_chart(axis: &str, errors: &[f64]) -> Chart {
    let point = |(at, &error): (usize, &f64)| {
        Point::new(at as f64, error).titled(format!("{axis} {at}: E_RMS {error:.3}"))
    };
    let points: Vec<Point> = errors.iter().enumerate().map(point).collect();
    Chart {
        x: Axis::linear(axis),
        y: Axis::linear("E_RMS").from_zero(),
        series: vec![Series::new("decomposition", Draw::Line, points)],
        width: CHART_WIDTH,
        ..Chart::default()
    }
}

/// The worst frame and a typical one: the animation, the skin, and the error as colour.
fn pictures(
    p: &mut String,
    job: &DecomposeJob<'_>,
    errors: &[f64],
    talk: &Talk,
) -> anyhow::Result<()> {
    let animation = job.animation;
    let diagonal = animation.size();
    let numbered = errors.iter().copied().enumerate().collect();
    let chosen = choose_by(numbered, "worst frame", &[0.5]);
    let mut rows = Vec::with_capacity(chosen.len());
    for shown in &chosen {
        let truth = animation.frames().nth(shown.index).unwrap_or_default();
        let skin = job.found.skin.evaluate(&job.found.poses[shown.index])?;
        let percent: Vec<f32> = (truth.iter().zip(&skin))
            .map(|(a, b)| (100.0 * a.distance(*b) / diagonal) as f32)
            .collect();
        rows.push((shown, single(truth), single(&skin), percent));
    }
    let worst = rows.iter().flat_map(|row| row.3.iter().copied());
    let scale = HeatScale::fitting(worst, "% of size");
    let colors = bone_colors(&job.found.skin);
    for (number, (shown, truth, skin, percent)) in rows.iter().enumerate() {
        let view = View::new(animation.rest(), &[truth, skin], job.args.up, PICTURE_SIZE);
        let paint = Paint::Heat {
            values: percent,
            scale: scale.clone(),
        };
        let most = percent.iter().copied().fold(0.0, f32::max);
        let panels = [
            Panel::new(view.draw(truth, None)?, "animation"),
            Panel::new(
                view.draw(skin, Some(Paint::VertexColors(&colors)))?,
                "skin, each bone a colour",
            ),
            Panel::new(
                view.draw(skin, Some(paint))?,
                format!("error, at most {most:.2}%"),
            ),
        ];
        let why = shown.why.replace("pose", "frame");
        let _ = writeln!(p, "<h3>{}: {}</h3>", super::capitalized(&why), shown.index);
        let image = sheet(&panels, &style(&scale, PICTURE_SIZE, panels.len()));
        let alt = format!(
            "{why} {}: animation, skin, and error as colour",
            shown.index
        );
        page::picture(p, &image, &alt)?;
        talk.report("drawing", number + 1, rows.len());
    }
    Ok(())
}

/// The colours of each vertex's bones, mixed by weight.
fn bone_colors(skin: &Skin) -> Vec<[f32; 3]> {
    let VertexProgram::Ssd(program) = &skin.program else {
        return vec![dermis_render::CLAY; skin.vertex_count()];
    };
    // Hues a golden section apart, in two brightnesses: neighbours in number are far apart in colour.
    let color = |bone: usize| {
        let hue = (bone as f32 * 0.618_034).fract() * 6.0;
        let value = if bone.is_multiple_of(2) { 0.85 } else { 0.6 };
        let part = |shift: f32| {
            let distance = ((hue + shift).rem_euclid(6.0) - 3.0).abs();
            value * (0.25 + 0.75 * (distance - 1.0).clamp(0.0, 1.0))
        };
        [part(0.0), part(4.0), part(2.0)]
    };
    let mix = |row: &[dermis::skin::Weight]| {
        let mut sum = [0.0; 3];
        for weight in row {
            let part = color(weight.bone.index());
            for (sum, part) in sum.iter_mut().zip(part) {
                *sum += weight.weight as f32 * part;
            }
        }
        sum.map(|channel: f32| channel.clamp(0.0, 1.0))
    };
    program.weights.iter().map(mix).collect()
}
