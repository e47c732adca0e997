//! `dermis stats`: what each joint does.

use std::path::Path;

use anyhow::{Context, bail};
use dermis::Skin;
use dermis::joint::{JointLimits, JointStatistics, TurnLimits};
use dermis::metric::statistics_from_limits;
use dermis::skin::ShownPoses;
use dermis_io::limits::{Others, read_limits};
use dermis_io::{Document, SkinRecord};
use serde_json::{Value, json};

use super::{choose_clip, legal, skin_of};
use crate::Outcome;
use crate::matching::read_upright;
use crate::overwrite;
use crate::pose_args::StatsArgs;
use crate::report::{self, Block, Column, Format, Level, Report, Row, Table};
use crate::talk::{Talk, plural};

/// What is known of the joints of a skin.
struct Known {
    joints: Vec<Joint>,
    /// What every joint may do, for bounds; empty when clips are all that is known.
    limits: Vec<JointLimits>,
    /// Where it comes from, for people.
    source: String,
}

/// What is known of one joint.
struct Joint {
    statistics: JointStatistics,
    /// The limits that it is spread evenly over; `None` for what clips show.
    spread_over: Option<TurnLimits>,
}

pub(crate) fn run(args: &StatsArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    legal::check_output(args.output.as_deref())?;
    let inputs = std::iter::once(&args.skin).chain(&args.limits);
    overwrite::check(&args.output, inputs, talk)?;
    let mut document = read_upright(&args.skin, &args.up, talk)?;
    let skin = skin_of(&document)?.clone();
    let clips = chosen_clips(args, &document, &skin)?;
    let known = match &args.limits {
        Some(path) => within_limits(path, args, &skin, &clips)?,
        None if args.uniform => every_rotation(&skin, &clips),
        None => shown(args, &skin, &clips)?,
    };
    let report = report_of(&known, &skin.skeleton)?;
    if let Some(output) = &args.output {
        let record = document.record.get_or_insert_with(SkinRecord::default);
        if record.bounds.take().is_some() {
            talk.remark(
                "note: the file's bounding spheres are left out, because they were made for other joint \
                 statistics: run dermis bounds on the new file",
            );
        }
        if !record.limits.is_empty() && known.limits.is_empty() {
            talk.remark("note: the joint limits in the file are replaced by what the clips show");
        }
        record.joints = known.joints.into_iter().map(|j| j.statistics).collect();
        record.limits = known.limits;
        legal::forget_guarantees(&mut document, talk);
        legal::write(&document, output, talk)?;
        talk.remark_written(&[output]);
    }
    report::print(&report, args.print)?;
    Ok(Outcome::Done)
}

/// The poses of the clips that were asked for, each clip once; of all that the file shows otherwise.
fn chosen_clips(
    args: &StatsArgs,
    document: &Document,
    skin: &Skin,
) -> anyhow::Result<Vec<ShownPoses>> {
    if args.clip.is_empty() {
        return Ok(document.shown_poses()?);
    }
    let mut chosen: Vec<&String> = Vec::new();
    for name in &args.clip {
        // Poses that count twice would weigh twice.
        if !chosen.contains(&name) {
            chosen.push(name);
        }
    }
    (chosen.into_iter())
        .map(|name| Ok(skin.shown_poses(choose_clip(document, Some(name))?)?))
        .collect()
}

fn count_of(clips: &[ShownPoses]) -> String {
    let poses = clips.iter().map(|shown| shown.poses.len()).sum();
    format!(
        "{} of {}",
        plural(poses, "pose"),
        plural(clips.len(), "clip")
    )
}

/// What clips show.
fn shown(args: &StatsArgs, skin: &Skin, clips: &[ShownPoses]) -> anyhow::Result<Known> {
    if clips.iter().all(|shown| shown.poses.is_empty()) {
        bail!(
            "{}: has no clip to take statistics from: give --limits or --uniform",
            args.skin.display()
        );
    }
    let seen = skin.joint_statistics(&ShownPoses::all(clips));
    Ok(Known {
        joints: (seen.into_iter())
            .map(|statistics| Joint {
                statistics,
                spread_over: None,
            })
            .collect(),
        limits: Vec::new(),
        source: count_of(clips),
    })
}

/// Every rotation of every joint.
fn every_rotation(skin: &Skin, clips: &[ShownPoses]) -> Known {
    let limits = skin.free_limits(&skin.joint_statistics(&ShownPoses::all(clips)));
    Known {
        joints: limits.iter().map(evenly).collect(),
        limits,
        source: "every rotation alike".to_owned(),
    }
}

/// Joints that a file of limits names evenly over them, and the others as it says.
fn within_limits(
    path: &Path,
    args: &StatsArgs,
    skin: &Skin,
    clips: &[ShownPoses],
) -> anyhow::Result<Known> {
    let seen = skin.joint_statistics(&ShownPoses::all(clips));
    // Who names a clip wants it for something.
    let unsaid = match args.clip.is_empty() {
        true => Others::Free,
        false => Others::Seen,
    };
    let read = read_limits(path, skin, &seen, unsaid)?;
    let others = read.others.unwrap_or(unsaid);
    if others != Others::Seen && !args.clip.is_empty() {
        bail!(
            "{}: its line 'others' says what the joints do that it does not name, and --clip says otherwise: write \
             others = \"seen\" there, or leave --clip out",
            path.display()
        );
    }
    let joints: Vec<Joint> = (read.limits.iter().zip(&read.named))
        .map(|(limits, &named)| {
            let shown = seen.iter().find(|joint| joint.bone == limits.bone);
            match shown.filter(|_| !named && others == Others::Seen) {
                Some(statistics) => Joint {
                    statistics: statistics.clone(),
                    spread_over: None,
                },
                None => evenly(limits),
            }
        })
        .collect();
    let mut source = format!("even over {}", path.display());
    if joints.iter().any(|joint| joint.spread_over.is_none()) {
        source += &format!(", the rest from {}", count_of(clips));
    }
    Ok(Known {
        joints,
        limits: read.limits,
        source,
    })
}

fn evenly(limits: &JointLimits) -> Joint {
    Joint {
        statistics: statistics_from_limits(limits),
        spread_over: Some(limits.turn),
    }
}

/// What is known of every joint.
fn report_of(known: &Known, skeleton: &dermis::Skeleton) -> anyhow::Result<Report> {
    let column = |key: &str, heading, format| Column::new(key, ["", heading], format);
    let scale = |of: usize, heading| {
        let key = format!("/scaleRange/{of}");
        Column::new(key, ["", heading], Format::Number(4)).at(Level::Wide)
    };
    let row = |(number, joint): (usize, &Joint)| {
        let seen = &joint.statistics;
        let [small, large] = seen.scale_range;
        let scale = match large - small < 1e-4 {
            true => format!("{large:.3}"),
            false => format!("{small:.3}-{large:.3}"),
        };
        Row::new(
            &skeleton.bones()[seen.bone.index()].name,
            format!("/{number}"),
        )
        .saying("/scale", scale)
    };
    let table = Table {
        names: "joint",
        columns: vec![
            column("/kind", "kind", Format::Words),
            column("/turns", "turns", Format::Words),
            column("/slidesBy", "slides by", Format::Number(5)),
            column("/scale", "scale", Format::Words),
            column("/from", "from", Format::Words),
            column("/maxAngleRad", "largest turn, rad", Format::Number(4)).at(Level::Wide),
            scale(0, "least scale"),
            scale(1, "largest scale"),
        ],
        rows: known.joints.iter().enumerate().map(row).collect(),
        ..Table::default()
    };
    let of = |limited: bool| {
        let mut joints = known.joints.iter();
        joints.any(|joint| joint.spread_over.is_some() == limited)
    };
    let origin = match (of(true), of(false)) {
        (true, false) => "angles from the rest pose",
        (false, _) => "angles from each joint's middle",
        (true, true) => "angles of limits from the rest pose, of clips from each joint's middle",
    };
    let joints = known.joints.iter().map(data);
    let data = Value::Array(joints.collect::<Result<_, _>>()?);
    let source = format!("{origin}; {}", known.source);
    let blocks = vec![Block::Table(table), Block::Sentences(vec![source])];
    Ok(Report::plain(data, blocks))
}

/// The statistics of a joint, and what they mean in words.
fn data(joint: &Joint) -> anyhow::Result<Value> {
    let seen = &joint.statistics;
    let (kind, turns) = match &joint.spread_over {
        Some(turn) => allowed_turns(turn),
        None => shown_turns(seen),
    };
    let slides = seen.translation_radius;
    let mut data = serde_json::to_value(seen).context("statistics are plain JSON")?;
    data["kind"] = json!(kind);
    data["turns"] = json!(turns);
    data["slidesBy"] = json!(slides.unwrap_or(seen.translation_deviation));
    data["from"] = json!(match joint.spread_over {
        Some(_) => "limits",
        None => "clips",
    });
    Ok(data)
}

/// Smaller angles, in radians, are rounding.
const STILL_RAD: f64 = 1e-4;

fn range(least_rad: f64, most_rad: f64) -> String {
    format!(
        "{:.1}° to {:.1}°",
        least_rad.to_degrees(),
        most_rad.to_degrees()
    )
}

fn up_to(most_rad: f64) -> String {
    format!("up to {:.1}°", most_rad.to_degrees())
}

/// Limits as they were written.
fn allowed_turns(turn: &TurnLimits) -> (&'static str, String) {
    match *turn {
        TurnLimits::Free => ("free", "every way".to_owned()),
        TurnLimits::Hinge {
            min_rad, max_rad, ..
        } => ("hinge", range(min_rad, max_rad)),
        TurnLimits::Cone { max_angle_rad, .. } if max_angle_rad < STILL_RAD => {
            ("still", String::new())
        }
        TurnLimits::Cone { max_angle_rad, .. } => ("cone", up_to(max_angle_rad)),
        TurnLimits::SwingTwist {
            max_swing_rad,
            min_twist_rad,
            max_twist_rad,
            ..
        } => (
            "ball",
            format!(
                "swing {:.1}°, twist {}",
                max_swing_rad.to_degrees(),
                range(min_twist_rad, max_twist_rad)
            ),
        ),
    }
}

fn shown_turns(seen: &JointStatistics) -> (&'static str, String) {
    match &seen.hinge {
        Some(hinge) => ("hinge", range(hinge.min_rad, hinge.max_rad)),
        None if seen.max_angle_rad < STILL_RAD => ("still", String::new()),
        None => ("turns", up_to(seen.max_angle_rad)),
    }
}
