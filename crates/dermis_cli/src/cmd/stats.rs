//! `dermis stats`: what each joint does.

use std::io::Write;

use anyhow::Context;
use dermis::metric::statistics_from_limits;
use dermis::rig::{JointLimits, JointStatistics};
use dermis_io::SkinRecord;

use super::{choose_clip, legal, skin_of};
use crate::Outcome;
use crate::pose_args::StatsArgs;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &StatsArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    legal::check_output(args.output.as_deref())?;
    let mut document = dermis_io::read(&args.skin)?;
    talk.remark_notes(&document);
    let skin = skin_of(&document)?.clone();
    let shown = legal::shown_poses(&document, &skin)?;
    let mut limits: Vec<JointLimits> = Vec::new();
    let (joints, source): (Vec<JointStatistics>, String) = if args.uniform {
        limits = legal::any_rotation(&skin, &legal::seen_in(&skin, &shown));
        let evenly = limits.iter().map(statistics_from_limits).collect();
        (evenly, "every rotation alike".to_owned())
    } else if let Some(path) = &args.limits {
        let seen = legal::seen_in(&skin, &shown);
        (limits, _) = legal::limits_of(&document, &skin, Some(path), &seen)?;
        let evenly = limits.iter().map(statistics_from_limits).collect();
        (evenly, format!("even over {}", path.display()))
    } else {
        let clips = match args.clip.is_empty() {
            true => shown,
            false => (args.clip.iter())
                .map(|name| {
                    let clip = choose_clip(&document, Some(name))?;
                    legal::shown_of_clip(&skin, clip)
                })
                .collect::<anyhow::Result<Vec<_>>>()?,
        };
        let count: usize = clips.iter().map(|shown| shown.poses.len()).sum();
        if count == 0 {
            anyhow::bail!(
                "{}: has no clip to take statistics from: give --limits or --uniform",
                args.skin.display()
            );
        }
        let source = format!(
            "{} of {}",
            plural(count, "pose"),
            plural(clips.len(), "clip")
        );
        (legal::seen_in(&skin, &clips), source)
    };
    let text = match args.json {
        true => serde_json::to_string_pretty(&joints).context("statistics are plain JSON")?,
        false => table(&joints, &skin.skeleton, &source),
    };
    if let Some(output) = &args.output {
        let record = document.record.get_or_insert_with(SkinRecord::default);
        record.joints = joints;
        record.limits = limits;
        // Bounds were made for other joints.
        record.bounds = None;
        legal::write(&document, output)?;
        talk.remark(format!("wrote {}", output.display()));
    }
    writeln!(std::io::stdout().lock(), "{text}").context("standard output cannot be written")?;
    Ok(Outcome::Done)
}

fn table(joints: &[JointStatistics], skeleton: &dermis::Skeleton, source: &str) -> String {
    let mut text = format!(
        "{:<24}{:<10}{:>12}{:>12}{:>14}{:>14}\n",
        "joint", "kind", "least", "most", "slides by", "scale"
    );
    for joint in joints {
        let (kind, least, most) = match &joint.hinge {
            Some(hinge) => ("hinge", hinge.min_rad, hinge.max_rad),
            None if joint.max_angle_rad < 1e-4 => ("still", 0.0, 0.0),
            None => ("turns", 0.0, joint.max_angle_rad),
        };
        let [small, large] = joint.scale_range;
        text += &format!(
            "{:<24}{kind:<10}{:>11.1}°{:>11.1}°{:>14.5}{:>14}\n",
            skeleton.bones()[joint.bone.index()].name,
            least.to_degrees(),
            most.to_degrees(),
            joint
                .translation_radius
                .unwrap_or(joint.translation_deviation),
            match large - small < 1e-4 {
                true => format!("{large:.3}"),
                false => format!("{small:.3}-{large:.3}"),
            },
        );
    }
    text + &format!("angles from each joint's middle; {source}")
}
