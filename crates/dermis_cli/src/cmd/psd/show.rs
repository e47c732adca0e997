//! `dermis psd show`: the result along one control, and the curves behind it.

use anyhow::bail;
use dermis::Skin;
use dermis::progress::Progress;
use dermis_io::project::{Project, Sweep};
use dermis_render::glam::Vec3;
use dermis_render::{Curve, CurvePlot, Image, Panel, SheetStyle, sheet};

use super::{check_output, read_project};
use crate::Outcome;
use crate::output_file::{is_stdout, refuse_terminal, send};
use crate::psd_args::ShowArgs;
use crate::report::{View, single};
use crate::talk::Talk;

/// Points of a curve.
const CURVE_POINTS: usize = 241;
/// Width of the strip of pictures, whatever their number.
const STRIP_WIDTH: u32 = 1680;

pub(crate) fn run(args: &ShowArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let to_stdout = is_stdout(&args.output);
    if to_stdout {
        refuse_terminal()?;
    } else if args.output.extension().is_none_or(|ending| ending != "png") {
        bail!("{}: the picture is written as .png", args.output.display());
    }
    let project = read_project(&args.project, talk)?;
    let file = (!to_stdout).then_some(&args.output);
    check_output(file, &project, talk)?;
    let sweep = sweep(args, &project)?;
    let skin = project.build()?.skin;
    let strip = strip(&project, &sweep, args, &skin, talk)?;
    let plot = plot(&sweep, &skin, strip.width())?;
    let mut picture = Image::new(strip.width(), strip.height() + plot.height(), [255; 4]);
    picture.blit(&strip, 0, 0);
    picture.blit(&plot, 0, strip.height() as i32);
    talk.check_stopped()?;
    let png = picture.to_png()?;
    talk.clear();
    match file {
        None => send(&png)?,
        Some(file) => {
            dermis_io::write_file(file, &png)?;
            talk.remark_written(&[file]);
        }
    }
    Ok(Outcome::Done)
}

/// What is to be shown, as asked.
fn sweep<'a>(args: &ShowArgs, project: &'a Project) -> anyhow::Result<Sweep<'a>> {
    let at = match &args.at {
        Some(text) => project.parse_pose(text)?,
        None => project.at_rest(),
    };
    let mut sweep = project.sweep(&args.sweep, at)?;
    (sweep.from, sweep.to) = (args.from.unwrap_or(sweep.from), args.to.unwrap_or(sweep.to));
    let Sweep { from, to, .. } = sweep;
    if !(from.is_finite() && to.is_finite() && from < to) {
        bail!(
            "{}: --from {from} --to {to}: expected a range that rises",
            args.project.display()
        );
    }
    Ok(sweep)
}

/// The result at steps of the sweep, from one place.
fn strip(
    project: &Project,
    sweep: &Sweep<'_>,
    args: &ShowArgs,
    skin: &Skin,
    talk: &Talk,
) -> anyhow::Result<Image> {
    let shown = sweep.numbers(args.steps);
    let meshes: Vec<Vec<Vec3>> = (shown.iter())
        .map(|x| Ok(single(&skin.evaluate(&project.pose(&sweep.at(*x)))?)))
        .collect::<anyhow::Result<_>>()?;
    let style = SheetStyle {
        gap: 4,
        border: 12,
        caption_px: 22.0,
        ..SheetStyle::default()
    };
    let gaps = 2 * style.border + style.gap * (args.steps as u32 - 1);
    let size = (STRIP_WIDTH.saturating_sub(gaps) / args.steps as u32).clamp(64, 640);
    let borrowed: Vec<&[Vec3]> = meshes.iter().map(Vec::as_slice).collect();
    let view = View::new(&project.base().mesh, &borrowed, args.up, size);
    let control = sweep.control();
    let mut panels = Vec::new();
    for (k, (x, mesh)) in shown.iter().zip(&meshes).enumerate() {
        talk.report("drawing", k, shown.len());
        talk.check_stopped()?;
        let digits = if control.is_joint() { 10.0 } else { 100.0 };
        let rounded = (x * digits).round() / digits;
        let caption = format!("{rounded}{}", control.unit());
        panels.push(Panel::new(view.draw(mesh, None)?, caption));
    }
    Ok(sheet(&panels, &style))
}

/// Coefficients along the sweep, with a dot where each was sculpted, and the falloffs behind them.
fn plot(sweep: &Sweep<'_>, skin: &Skin, width: u32) -> anyhow::Result<Image> {
    let mut curves = Vec::new();
    let mut faint = Vec::new();
    for (color, curve) in sweep.curves(skin, CURVE_POINTS)?.into_iter().enumerate() {
        faint.extend(curve.falloff.map(|points| Curve {
            color,
            is_faint: true,
            points,
            ..Curve::default()
        }));
        curves.push(Curve {
            markers: curve.sculpted_at,
            color,
            name: curve.name,
            points: curve.points,
            ..Curve::default()
        });
    }
    let all = curves.iter().chain(&faint).flat_map(|curve| &curve.points);
    let (low, high) = all.fold((0.0, 1.0), |(low, high): (f64, f64), [_, y]| {
        (low.min(*y), high.max(*y))
    });
    if let Some(first) = faint.first_mut() {
        first.name = "falloffs".to_owned();
    }
    let mut x_label = sweep.name();
    if sweep.control().is_joint() {
        x_label += " (degrees)";
    }
    if let Some(others) = sweep.others() {
        x_label += &format!(", at {others}");
    }
    faint.extend(curves);
    let plot = CurvePlot {
        x_label,
        y_label: "how much of each shape".to_owned(),
        x_range: [sweep.from, sweep.to],
        y_range: [low - 0.05, high + 0.05],
        curves: faint,
        width,
        height: 400,
        text_px: 22.0,
    };
    Ok(plot.draw())
}
