//! `dermis bounds`: spheres that hold a skin.

use std::io::Write;

use anyhow::{Context, bail};
use dermis::Skin;
use dermis::bounds::{Camera, Frustum};
use dermis::document::{Spheres, farthest_shown};
use dermis::mesh::{Ball, enclosing_ball};
use dermis::skin::ShownPoses;
use dermis_io::limits::{Others, read_limits};
use dermis_io::{AssumedPoses, BoundsRecord, Document, SkinRecord};
use glam::DVec3;
use serde::Serialize;

use super::{legal, skin_of};
use crate::Outcome;
use crate::matching::read_upright;
use crate::overwrite;
use crate::pose_args::{BoundsArgs, Crowd};
use crate::report::NameColumn;
use crate::talk::{Talk, plural};

/// Everything that is said; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    bounds: BoundsRecord,
    /// The ball around what is drawn at rest, which is what engines cull by that know no better.
    rest: Ball,
    /// `legal` over the smallest ball around the legal poses that were found; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    legal_ratio: Option<f64>,
    /// `clips` over the smallest ball around all poses of the clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    clips_ratio: Option<f64>,
    /// How far vertices of the clips leave the ball around what is drawn at rest, over its radius.
    #[serde(skip_serializing_if = "Option::is_none")]
    rest_left_by: Option<f64>,
    /// As `legal_ratio`, for each primitive.
    part_ratios: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<Seen>,
}

/// What a camera may see.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    instances: usize,
    visible: usize,
}

pub(crate) fn run(args: &BoundsArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    check(args)?;
    let inputs = std::iter::once(&args.skin).chain(&args.limits);
    overwrite::check(&args.output, inputs, talk)?;
    let mut document = read_upright(&args.skin, &args.up, talk)?;
    if args.output.is_some() && document.skin.is_some() {
        // Poses of frames will be played as a clip, with what lies between them.
        legal::frames_to_clip(&mut document, talk)?;
    }
    let skin = skin_of(&document)?.clone();
    if skin.vertex_count() == 0 {
        bail!("{}: has no vertices to find bounds of", args.skin.display());
    }
    let in_file = || args.skin.display().to_string();
    let shown = document.shown_poses()?;
    let seen = skin.joint_statistics(&ShownPoses::all(&shown));
    let (limits, assumes) = match (args.any_rotation, &args.limits) {
        (true, _) => (skin.free_limits(&seen), AssumedPoses::AnyRotation),
        (false, Some(path)) => {
            let read = read_limits(path, &skin, &seen, Others::Free)?;
            (read.limits, AssumedPoses::Limits)
        }
        (false, None) => document.legal_limits(&seen),
    };
    let spheres = Spheres::new(&document, &skin, &shown, &limits, assumes).with_context(in_file)?;
    for note in &spheres.notes {
        talk.remark(format!("note: {note}"));
    }
    talk.check_stopped()?;
    let found = spheres.search(&skin, &limits).with_context(in_file)?;
    // As drawn: rest positions may be of another size.
    let rest = enclosing_ball(&skin.drawn_at_rest()?);
    let record = &spheres.record;
    let report = Report {
        legal_ratio: ratio(record.legal, found.whole),
        clips_ratio: ratio(record.clips, spheres.clips_radius),
        rest_left_by: left_by(&skin, &shown, &rest)?,
        part_ratios: (record.parts.iter().zip(&found.parts))
            .map(|(part, best)| ratio(part.legal, *best))
            .collect(),
        seen: seen_by_camera(args, record),
        rest,
        bounds: spheres.record,
    };
    if let Some(output) = &args.output {
        let kept = document.record.get_or_insert_with(SkinRecord::default);
        kept.bounds = Some(report.bounds.clone());
        if args.limits.is_some() {
            kept.limits.clone_from(&limits);
        }
        legal::write(&document, output, talk)?;
        talk.remark_written(&[output]);
    }
    talk.clear();
    let text = match args.json {
        true => serde_json::to_string_pretty(&report).context("numbers are plain JSON")?,
        false => table(&report, &document),
    };
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")?;
    Ok(match (args.max_ratio, report.legal_ratio) {
        (Some(most), Some(ratio)) if ratio > most => {
            talk.remark(format!(
                "tolerance missed: the sphere is {ratio:.3} times the best one found, more than \
                 --max-ratio {most}"
            ));
            Outcome::ToleranceMissed
        }
        _ => Outcome::Done,
    })
}

fn check(args: &BoundsArgs) -> anyhow::Result<()> {
    legal::check_output(args.output.as_deref())?;
    if !(args.fov > 0.0 && args.fov < 180.0) {
        bail!(
            "--fov: expected an angle between 0 and 180 degrees, found {}",
            args.fov
        );
    }
    match args.max_ratio {
        Some(most) if most.is_nan() || most <= 0.0 => {
            bail!("--max-ratio: expected a number above 0, found {most}")
        }
        _ => Ok(()),
    }
}

/// How much larger a sphere is than the best one could be; `None` for points.
fn ratio(ball: Option<Ball>, best: Option<f64>) -> Option<f64> {
    let (ball, best) = (ball?, best?);
    (best > 0.0).then(|| ball.radius / best)
}

/// How far vertices of the clips leave the ball around what is drawn at rest, over its radius.
fn left_by(skin: &Skin, shown: &[ShownPoses], rest: &Ball) -> anyhow::Result<Option<f64>> {
    if shown.is_empty() || rest.radius == 0.0 {
        return Ok(None);
    }
    let farthest = farthest_shown(skin, shown, &[None], &[rest.center])?;
    Ok((farthest.first()).map(|reach| (reach / rest.radius - 1.0).max(0.0)))
}

fn seen_by_camera(args: &BoundsArgs, bounds: &BoundsRecord) -> Option<Seen> {
    let [eye, target] = args.frustum?.map(DVec3::from_array);
    let ball = bounds.best()?;
    let along = (target - eye).normalize();
    let camera = Camera {
        eye,
        target,
        // Looking straight down, any other direction is up.
        up: if along.y.abs() > 0.999 {
            DVec3::Z
        } else {
            DVec3::Y
        },
        fov_y_rad: args.fov.to_radians(),
        aspect: 16.0 / 9.0,
        near: 1e-3 * eye.distance(target),
        far: f64::INFINITY,
    };
    let crowd = args.crowd.unwrap_or(Crowd {
        columns: 1,
        rows: 1,
        distance: 0.0,
    });
    let place = |n: usize| {
        let (column, row) = ((n % crowd.columns) as f64, (n / crowd.columns) as f64);
        let from_middle = |at: f64, count: usize| at - 0.5 * (count - 1) as f64;
        crowd.distance
            * DVec3::new(
                from_middle(column, crowd.columns),
                0.0,
                from_middle(row, crowd.rows),
            )
    };
    let count = crowd.columns * crowd.rows;
    let balls: Vec<Ball> = (0..count)
        .map(|n| Ball {
            center: ball.center + place(n),
            ..*ball
        })
        .collect();
    Some(Seen {
        instances: count,
        visible: Frustum::of_camera(&camera).visible(&balls).len(),
    })
}

fn table(report: &Report, document: &Document) -> String {
    let sphere = |ball: &Ball| {
        format!(
            "{:>12.5}   ({:.4}, {:.4}, {:.4})",
            ball.radius, ball.center.x, ball.center.y, ball.center.z
        )
    };
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |name: &str, ball: &Ball, remark: String| {
        rows.push((name.to_owned(), format!("{}{remark}", sphere(ball))));
    };
    let left = report
        .rest_left_by
        .map_or(String::new(), |by| match by > 0.0 {
            true => format!("   clips leave it by {:.0}%", 100.0 * by),
            false => "   clips stay inside".to_owned(),
        });
    row("the rest mesh", &report.rest, left);
    let bounds = &report.bounds;
    let ratio = |ratio: Option<f64>| {
        ratio.map_or(String::new(), |r| format!("   {r:.2} times the best found"))
    };
    if let Some(ball) = &bounds.legal {
        row(
            bounds.assumes.description(),
            ball,
            ratio(report.legal_ratio),
        );
    }
    if let Some(ball) = &bounds.clips {
        row("all clips", ball, ratio(report.clips_ratio));
    }
    if let Some(ball) = &bounds.culling {
        row("what engines get", ball, String::new());
    }
    if bounds.parts.len() > 1 {
        let parts = document.draw.parts.iter().zip(&bounds.parts);
        for ((part, spheres), part_ratio) in parts.zip(&report.part_ratios) {
            let Some(ball) = spheres.best() else {
                continue;
            };
            // The ratio is that of the sphere for legal poses.
            let shown = part_ratio.filter(|_| spheres.culling.is_none());
            row(&format!("  part of {}", part.mesh_name), ball, ratio(shown));
        }
    }
    let head = "sphere around";
    let names = NameColumn::of(rows.iter().map(|(name, _)| name.as_str()).chain([head]));
    let mut lines = vec![format!("{}{:>12}   center", names.cell(head), "radius")];
    let cells = rows.iter();
    lines.extend(cells.map(|(name, numbers)| names.cell(name) + numbers));
    if let Some(seen) = &report.seen {
        lines.push(match seen.instances {
            1 if seen.visible == 1 => "the camera may see it".to_owned(),
            1 => "the camera cannot see it".to_owned(),
            count => format!(
                "the camera may see {} of {}",
                seen.visible,
                plural(count, "instance")
            ),
        });
    }
    lines.join("\n")
}
