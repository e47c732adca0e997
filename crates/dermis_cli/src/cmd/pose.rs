//! `dermis pose`: the poses in which a skin matches meshes.

use anyhow::{Context, bail};
use dermis::document::{MatchPair, match_frames};
use dermis::fit::{JointFreedom, PoseFit, PoseOptions, PoseSolver};
use dermis::{Clip, Pose};
use dermis_io::{Content, Document, Format, Frame, WriteOptions};
use glam::DVec3;
use serde_json::json;

use super::{check_faces, motion_rate, output_format, skin_of};
use crate::Outcome;
use crate::args::{Joints, PoseArgs};
use crate::hints::Explained;
use crate::matching::{read_beside, read_inputs};
use crate::overwrite;
use crate::report::{self, Block, Column, Format as Cell, Report, Row, Table};
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &PoseArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    if let Some(output) = &args.output {
        output_format(output, &[Content::Skin], "poses are")?;
    }
    let inputs = args.to.iter().chain([&args.skin]);
    overwrite::check(&args.output, inputs.chain(args.sequence.files()), talk)?;
    let document = read_beside(&args.skin, &args.sequence.matching.up, talk)?;
    if let Some(output) = &args.output {
        check_faces(&document, output)?;
    }
    let skin = skin_of(&document)?;
    let (targets, rate) = targets(args, &document, talk)?;
    let options = PoseOptions {
        joints: match args.joints {
            Joints::Free => JointFreedom::Free,
            Joints::Turn => JointFreedom::Turn,
            Joints::Affine => JointFreedom::Affine,
        },
        ..PoseOptions::default()
    };
    let in_skin = || args.skin.display().to_string();
    let solver = PoseSolver::new(skin, &options).with_context(in_skin)?;
    // As drawn: bind matrices may scale, which bones that turn and move cannot undo.
    let starts = vec![skin.skeleton.default_pose(); targets.len()];
    let meshes: Vec<&[DVec3]> = targets
        .iter()
        .map(|frame| frame.positions.as_slice())
        .collect();
    let found = solver
        .solve_all(&meshes, &starts, talk)
        .with_context(in_skin)?;
    talk.check_stopped()?;
    if let Some(output) = &args.output {
        let result = posed_document(args, &document, (&targets, rate), &found, talk)?;
        dermis_io::write(output, &result, &WriteOptions::default())?;
    }
    talk.clear();
    let diagonal = skin.size()?;
    report::print(&report_of(&targets, &found, diagonal), args.print)?;
    if let Some(output) = &args.output {
        talk.remark_written(&[output]);
    }
    let worst = 100.0 * overall(&found) / diagonal;
    Ok(match args.max_error {
        Some(limit) if worst > limit => {
            talk.remark(format!(
                "tolerance missed: rms distance {worst:.4}% of the diagonal, at most {limit}% was \
                 asked for; --joints free or affine may reach it"
            ));
            Outcome::ToleranceMissed
        }
        _ => Outcome::Done,
    })
}

/// The meshes to match, the frames of a sequence or a single mesh, and how fast they play if they are a motion.
fn targets(
    args: &PoseArgs,
    skin: &Document,
    talk: &Talk,
) -> anyhow::Result<(Vec<Frame>, Option<f64>)> {
    let mut read = read_inputs(&args.to, &args.sequence, talk)?;
    let matching = &args.sequence.matching;
    read.show_clips(args.fps).explained(matching)?;
    let rate = motion_rate(&read, args.fps, talk);
    let mut frames = match read.frames.is_empty() {
        true => vec![Frame {
            name: read
                .path
                .file_stem()
                .map_or("mesh".into(), |name| name.to_string_lossy().into()),
            positions: read.mesh.positions().to_vec(),
        }],
        false => read.frames,
    };
    let expected = skin.mesh.vertex_count();
    if let Some(frame) = frames
        .iter()
        .find(|frame| frame.positions.len() != expected)
    {
        bail!(
            "{}: mesh {} has {} vertices, but {} has {expected}: the meshes must have the skin's \
             vertices, in the same order",
            read.path.display(),
            frame.name,
            frame.positions.len(),
            args.skin.display()
        );
    }
    let pair = MatchPair {
        meshes: &read.path,
        rest: &args.skin,
        is_own_rest: false,
    };
    let matched = match_frames(
        &skin.rest_meshes(),
        &mut frames,
        pair,
        &matching.options(talk),
    );
    talk.remark_all(&matched.explained(matching)?);
    Ok((frames, rate))
}

fn posed_document(
    args: &PoseArgs,
    document: &Document,
    (targets, rate): (&[Frame], Option<f64>),
    found: &[PoseFit],
    talk: &Talk,
) -> anyhow::Result<Document> {
    let output = args.output.as_deref().context("an output was asked for")?;
    let skin = skin_of(document)?;
    let poses: Vec<Pose> = found.iter().map(|fit| fit.pose.clone()).collect();
    let mut result = document.clone();
    // Spheres were made for other clips.
    if let Some(record) = &mut result.record {
        record.bounds = None;
    }
    super::legal::forget_guarantees(&mut result, talk);
    if Format::of(output)?.holds(Content::FramePoses) {
        result.frames = targets.to_vec();
        result.frame_poses = poses;
        result.frames_per_second = rate;
        return Ok(result);
    }
    let clip = match rate {
        Some(fps) => Clip::from_poses("posed", &skin.skeleton, &poses, fps),
        None => Clip::from_held_poses("posed", &skin.skeleton, &poses),
    };
    match clip {
        Ok(clip) => result.clips.insert(0, clip),
        Err(error) => bail!(
            "{}: these poses cannot be written as a clip: {error}; write an .npz file instead",
            output.display()
        ),
    }
    talk.remark(match rate {
        Some(fps) => format!(
            "clip 'posed' has {} at {fps} per second",
            plural(poses.len(), "frame")
        ),
        None => format!(
            "clip 'posed' shows {}, a second each",
            plural(poses.len(), "pose")
        ),
    });
    Ok(result)
}

/// Root-mean-square distance over all meshes.
fn overall(found: &[PoseFit]) -> f64 {
    let squared: f64 = found.iter().map(|fit| fit.rms_distance.powi(2)).sum();
    (squared / found.len().max(1) as f64).sqrt()
}

/// How near each mesh was come to, and all of them; distances as shares of the diagonal.
fn report_of(targets: &[Frame], found: &[PoseFit], diagonal: f64) -> Report {
    let mesh = |(frame, fit): (&Frame, &PoseFit)| {
        json!({
            "name": frame.name,
            "rmsDistance": fit.rms_distance / diagonal,
            "maxDistance": fit.max_distance / diagonal,
            "rounds": fit.rounds,
        })
    };
    let largest = found.iter().map(|fit| fit.max_distance).fold(0.0, f64::max);
    let data = json!({
        "meshes": targets.iter().zip(found).map(mesh).collect::<Vec<_>>(),
        "rmsDistance": overall(found) / diagonal,
        "maxDistance": largest / diagonal,
        "rounds": null,
        "unit": "diagonal of the rest box",
    });
    let column = |key: &str, heading, format| Column::new(key, ["", heading], format);
    let row = |(number, frame): (usize, &Frame)| Row::new(&frame.name, format!("/meshes/{number}"));
    let mut rows: Vec<Row> = targets.iter().enumerate().map(row).collect();
    rows.push(Row::new("all", ""));
    let table = Table {
        names: "mesh",
        columns: vec![
            column("/rmsDistance", "rms distance", Cell::Share(4)),
            column("/maxDistance", "largest", Cell::Share(4)),
            column("/rounds", "steps", Cell::Count),
        ],
        rows,
        ..Table::default()
    };
    let unit = "distances are shares of the diagonal of the box around the mesh at rest".to_owned();
    let blocks = vec![Block::Table(table), Block::Sentences(vec![unit])];
    Report::plain(data, blocks)
}
