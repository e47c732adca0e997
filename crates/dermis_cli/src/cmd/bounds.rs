//! `dermis bounds`: spheres that hold a skin.

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
use crate::report::{self, Block, Column, Format, Report, Row, Table};
use crate::talk::{Talk, plural};

/// Everything that is said; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Bounds {
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
    let bounds = Bounds {
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
        kept.bounds = Some(bounds.bounds.clone());
        if args.limits.is_some() {
            kept.limits.clone_from(&limits);
        }
        legal::write(&document, output, talk)?;
        talk.remark_written(&[output]);
    }
    talk.clear();
    report::print(&printed(&bounds, &document)?, args.print)?;
    Ok(match (args.max_ratio, bounds.legal_ratio) {
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

/// A sphere, for people.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Sphere {
    around: String,
    radius: f64,
    center: [f64; 3],
    /// How much larger than the best one found.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    note: String,
}

fn printed(found: &Bounds, document: &Document) -> anyhow::Result<Report> {
    let spheres = spheres(found, document);
    let column =
        |key: &str, heading, digits| Column::new(key, ["", heading], Format::Number(digits));
    let row =
        |(number, sphere): (usize, &Sphere)| Row::new(&sphere.around, format!("/spheres/{number}"));
    let table = Table {
        names: "sphere around",
        columns: vec![
            column("/radius", "radius", 5),
            column("/center/0", "center x", 4),
            column("/center/1", "y", 4),
            column("/center/2", "z", 4),
            Column::new("/note", ["", ""], Format::Words),
        ],
        rows: spheres.iter().enumerate().map(row).collect(),
        ..Table::default()
    };
    let seen = found.seen.as_ref().map(|seen| match seen.instances {
        1 if seen.visible == 1 => "the camera may see it".to_owned(),
        1 => "the camera cannot see it".to_owned(),
        count => format!(
            "the camera may see {} of {}",
            seen.visible,
            plural(count, "instance")
        ),
    });
    let mut data = serde_json::to_value(found).context("numbers are plain JSON")?;
    data["spheres"] = serde_json::to_value(&spheres).context("numbers are plain JSON")?;
    let seen = seen.into_iter().collect();
    let blocks = vec![Block::Table(table), Block::Sentences(seen)];
    Ok(Report::plain(data, blocks))
}

/// Every sphere that there is, the whole skin's first.
fn spheres(found: &Bounds, document: &Document) -> Vec<Sphere> {
    let sphere = |around: &str, ball: &Ball, ratio: Option<f64>| Sphere {
        around: around.to_owned(),
        radius: ball.radius,
        center: ball.center.to_array(),
        ratio,
        note: ratio.map_or(String::new(), |r| format!("{r:.2} times the best found")),
    };
    let left = found.rest_left_by.map(|by| match by > 0.0 {
        true => format!("clips leave it by {:.0}%", 100.0 * by),
        false => "clips stay inside".to_owned(),
    });
    let mut spheres = vec![Sphere {
        note: left.unwrap_or_default(),
        ..sphere("the rest mesh", &found.rest, None)
    }];
    let bounds = &found.bounds;
    let of_all = [
        (
            bounds.assumes.description(),
            &bounds.legal,
            found.legal_ratio,
        ),
        ("all clips", &bounds.clips, found.clips_ratio),
        ("what engines get", &bounds.culling, None),
    ];
    for (around, ball, ratio) in of_all {
        spheres.extend(ball.iter().map(|ball| sphere(around, ball, ratio)));
    }
    if bounds.parts.len() > 1 {
        let parts = document.draw.parts.iter().zip(&bounds.parts);
        for ((part, of_part), part_ratio) in parts.zip(&found.part_ratios) {
            // The ratio is that of the sphere for legal poses.
            let ratio = part_ratio.filter(|_| of_part.culling.is_none());
            let around = format!("  part of {}", part.mesh_name);
            spheres.extend((of_part.best().iter()).map(|ball| sphere(&around, ball, ratio)));
        }
    }
    spheres
}
