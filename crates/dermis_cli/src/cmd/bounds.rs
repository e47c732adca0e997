//! `dermis bounds`: spheres that hold a skin.

use std::io::Write;

use anyhow::{Context, bail};
use dermis::Skin;
use dermis::bounds::{
    Camera, Frustum, Holding, coefficient_ranges, enclose, extreme_poses, hold_vertices,
    sampled_ball,
};
use dermis::mesh::{Ball, enclosing_ball};
use dermis::rig::{JointLimits, LegalPoses};
use dermis_io::{BoundsRecord, Document, PartBounds, SkinRecord};
use glam::DVec3;
use serde::Serialize;

use super::legal::{self, Shown};
use super::skin_of;
use crate::Outcome;
use crate::pose_args::{BoundsArgs, Crowd};
use crate::talk::{Talk, plural};

/// Legal poses that are looked for to see how loose a sphere is: found by search, and drawn.
const SEARCHED: usize = 400;
const DRAWN: usize = 100;

/// Everything that is said; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    bounds: BoundsRecord,
    /// The ball around the rest mesh, which is what engines cull by that know no better.
    rest: Ball,
    /// `legal` over the smallest ball around the legal poses that were found; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    legal_ratio: Option<f64>,
    /// `clips` over the smallest ball around all poses of the clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    clips_ratio: Option<f64>,
    /// How far vertices of the clips leave the ball around the rest mesh, over its radius.
    #[serde(skip_serializing_if = "Option::is_none")]
    rest_left_by: Option<f64>,
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
    legal::check_output(args.output.as_deref())?;
    let mut document = dermis_io::read(&args.skin)?;
    talk.remark_notes(&document);
    if args.output.is_some() && document.skin.is_some() {
        // Poses of frames will be played as a clip, with what lies between them.
        legal::frames_to_clip(&mut document)?;
    }
    let skin = skin_of(&document)?.clone();
    if skin.vertex_count() == 0 {
        bail!("{}: has no vertex to hold", args.skin.display());
    }
    let shown = legal::shown_poses(&document, &skin)?;
    let seen = legal::seen_in(&skin, &shown);
    if args.any_rotation {
        document.record = document.record.map(|record| SkinRecord {
            joints: Vec::new(),
            limits: Vec::new(),
            ..record
        });
    }
    let in_file = || args.skin.display().to_string();
    let (limits, assumes) = legal::limits_of(&document, &skin, args.limits.as_deref(), &seen)?;
    let parts: Vec<Vec<u32>> = (document.draw.parts.iter())
        .map(|part| part.points.clone())
        .collect();
    let in_clips = ClipBalls::new(&skin, &shown, &parts)?;
    let legal_balls = match coefficient_ranges(&skin, &document.clips) {
        Ok(ranges) => hold_vertices(&skin, &limits, &ranges),
        Err(error) => Err(error),
    };
    let legal_balls = match legal_balls {
        Ok(balls) => Some(balls),
        Err(error) if in_clips.whole.is_some() => {
            talk.remark(format!("no sphere for every legal pose: {error}"));
            None
        }
        Err(error) => return Err(error).with_context(in_file),
    };
    let record = BoundsRecord {
        assumes,
        legal: legal_balls.as_deref().map(enclose),
        clips: in_clips.whole.map(|(ball, _)| ball),
        parts: (parts.iter().zip(&in_clips.of_part))
            .map(|(points, clips)| PartBounds {
                legal: legal_balls.as_ref().map(|balls| {
                    let own: Vec<Holding> = points.iter().map(|&p| balls[p as usize]).collect();
                    enclose(&own)
                }),
                clips: *clips,
            })
            .collect(),
    };
    talk.check_stopped()?;
    let best = match (&legal_balls, record.legal) {
        (Some(balls), Some(_)) => Some(best_radius(&skin, &limits, balls)?),
        _ => None,
    };
    let rest = enclosing_ball(document.mesh.positions());
    let report = Report {
        legal_ratio: record
            .legal
            .zip(best)
            .map(|(ball, best)| ball.radius / best),
        clips_ratio: in_clips.whole.map(|(ball, best)| ball.radius / best),
        rest_left_by: in_clips.left_rest(&skin, &shown, &rest)?,
        seen: seen_by_camera(args, &record),
        rest,
        bounds: record,
    };
    if let Some(output) = &args.output {
        let kept = document.record.get_or_insert_with(SkinRecord::default);
        kept.bounds = Some(report.bounds.clone());
        if args.limits.is_some() {
            kept.limits.clone_from(&limits);
        }
        legal::write(&document, output)?;
        talk.remark(format!("wrote {}", output.display()));
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
                "tolerance missed: the sphere is {ratio:.3} times the best one found, at most {most} \
                 was asked for"
            ));
            Outcome::ToleranceMissed
        }
        _ => Outcome::Done,
    })
}

/// Balls around what the clips show.
struct ClipBalls {
    /// With a margin for what lies between samples, and the radius without it.
    whole: Option<(Ball, f64)>,
    of_part: Vec<Option<Ball>>,
}

impl ClipBalls {
    fn new(skin: &Skin, clips: &[Shown], parts: &[Vec<u32>]) -> anyhow::Result<Self> {
        let poses = legal::all_poses(clips);
        if poses.is_empty() {
            return Ok(Self {
                whole: None,
                of_part: vec![None; parts.len()],
            });
        }
        let margin = between_samples(skin, clips)?;
        let wider = |ball: Ball| Ball {
            radius: ball.radius + margin,
            ..ball
        };
        let whole = sampled_ball(skin, &poses, None)?;
        let of_part = match parts {
            [_] => vec![Some(wider(whole))],
            parts => (parts.iter())
                .map(|points| Ok(Some(wider(sampled_ball(skin, &poses, Some(points))?))))
                .collect::<anyhow::Result<_>>()?,
        };
        Ok(Self {
            whole: Some((wider(whole), whole.radius)),
            of_part,
        })
    }

    fn left_rest(&self, skin: &Skin, clips: &[Shown], rest: &Ball) -> anyhow::Result<Option<f64>> {
        if self.whole.is_none() || rest.radius == 0.0 {
            return Ok(None);
        }
        let mut farthest: f64 = 0.0;
        for pose in clips.iter().flat_map(|shown| &shown.poses) {
            for at in skin.evaluate(pose)? {
                farthest = farthest.max(at.distance(rest.center));
            }
        }
        Ok(Some((farthest / rest.radius - 1.0).max(0.0)))
    }
}

/// How far a vertex may leave the line between two samples of a clip: twice what a parabola through
/// three samples does, none of which but the outer ones is a key.
fn between_samples(skin: &Skin, clips: &[Shown]) -> anyhow::Result<f64> {
    let mut bent: f64 = 0.0;
    for clip in clips {
        let mut before: [Vec<DVec3>; 2] = [Vec::new(), Vec::new()];
        for (k, pose) in clip.poses.iter().enumerate() {
            let now = skin.evaluate(pose)?;
            if k >= 2 && !clip.is_key[k - 1] {
                let triples = before[0].iter().zip(&before[1]).zip(&now);
                let second = triples.map(|((a, b), c)| (*a - 2.0 * *b + *c).length());
                bent = second.fold(bent, f64::max);
            }
            before = [std::mem::take(&mut before[1]), now];
        }
    }
    // A parabola leaves its chord by an eighth of the second difference.
    Ok(2.0 * bent / 8.0)
}

/// The radius of the smallest ball around legal poses: those that stretch the skin out, and drawn ones.
fn best_radius(skin: &Skin, limits: &[JointLimits], held: &[Holding]) -> anyhow::Result<f64> {
    let mut poses = extreme_poses(skin, limits, held, SEARCHED)?;
    let all = dermis::bounds::complete_limits(skin, limits)?;
    poses.extend(LegalPoses::new(&skin.skeleton, &all, 0.5, 1)?.take(DRAWN));
    Ok(sampled_ball(skin, &poses, None)?.radius)
}

fn seen_by_camera(args: &BoundsArgs, bounds: &BoundsRecord) -> Option<Seen> {
    let [eye, target] = args.frustum?.map(DVec3::from_array);
    let ball = bounds.legal.or(bounds.clips)?;
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
        fov_y_rad: args.fov.clamp(1.0, 179.0).to_radians(),
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
            ..ball
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
    let mut lines = vec![format!("{:<28}{:>12}   center", "sphere around", "radius")];
    let mut row = |name: &str, ball: &Ball, remark: String| {
        lines.push(format!("{name:<28}{}{remark}", sphere(ball)));
    };
    let left = report
        .rest_left_by
        .map_or(String::new(), |by| match by > 0.0 {
            true => format!("   clips leave it by {:.0}%", 100.0 * by),
            false => "   clips stay inside".to_owned(),
        });
    row("the rest mesh", &report.rest, left);
    let bounds = &report.bounds;
    let legal_name = match bounds.assumes {
        dermis_io::AssumedPoses::Limits => "every pose within limits",
        dermis_io::AssumedPoses::Seen => "every pose of seen joints",
        _ => "every rotation",
    };
    let ratio = |ratio: Option<f64>| {
        ratio.map_or(String::new(), |r| format!("   {r:.2} times the best found"))
    };
    if let Some(ball) = &bounds.legal {
        row(legal_name, ball, ratio(report.legal_ratio));
    }
    if let Some(ball) = &bounds.clips {
        row("all clips", ball, ratio(report.clips_ratio));
    }
    if bounds.parts.len() > 1 {
        for (part, spheres) in document.draw.parts.iter().zip(&bounds.parts) {
            if let Some(ball) = spheres.best() {
                row(
                    &format!("  part of {}", part.mesh_name),
                    ball,
                    String::new(),
                );
            }
        }
    }
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
