//! `dermis eval`: a skin in the poses of a clip, or in poses given by hand.

use anyhow::bail;
use dermis::document::{Pace, sampling_rate};
use dermis::mesh::DrawMesh;
use dermis::{Clip, Pose, Skin, TriMesh};
use dermis_io::{Content, Document, Format, Frame, WriteOptions};
use glam::DVec3;

use super::measure::said_still;
use super::{check_faces, choose_clip, skin_of};
use crate::Outcome;
use crate::args::EvalArgs;
use crate::hints::Explained;
use crate::input_args::MatchArgs;
use crate::matching::read_upright;
use crate::output_file::OutputFile;
use crate::overwrite;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &EvalArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let output = OutputFile::new(&args.output, args.stream)?;
    overwrite::check(output.file(), [&args.skin], talk)?;
    let document = read_upright(&args.skin, &args.up, talk)?;
    let document = args.level.taken_from(document)?;
    check_faces(&document, output.path())?;
    let skin = skin_of(&document)?;
    let source = args.poses.as_deref().map(dermis_io::read_poses);
    let source = source.transpose()?;
    let named = named_poses(args, source.as_ref(), &document, skin, talk)?;
    let mut frames = Vec::with_capacity(named.len());
    for (k, (name, pose)) in named.iter().enumerate() {
        use dermis::progress::Progress;
        talk.report("evaluating", k, named.len());
        talk.check_stopped()?;
        frames.push(Frame {
            name: name.clone(),
            positions: skin.evaluate(pose)?,
        });
    }
    let poses = named.into_iter().map(|(_, pose)| pose).collect();
    let mut result = result_document(args, &document, output.format(), frames, poses)?;
    if let Some(source) = &source {
        result.frames_per_second = source.frames_per_second;
    }
    talk.check_stopped()?;
    let files = output.write(&result, &WriteOptions::default())?;
    talk.remark(format!(
        "evaluated {} vertices in {}",
        result.mesh.vertex_count(),
        plural(result.frames.len(), "pose")
    ));
    talk.remark_written(&files);
    Ok(Outcome::Done)
}

/// The poses asked for, with a name each.
fn named_poses(
    args: &EvalArgs,
    source: Option<&Document>,
    document: &Document,
    skin: &Skin,
    talk: &Talk,
) -> anyhow::Result<Vec<(String, Pose)>> {
    if let Some(source) = source {
        let found = (document.poses_from(source)).explained(&MatchArgs::default())?;
        if !found.still.is_empty() {
            talk.remark(format!(
                "note: {} poses part of the bones{}",
                source.path.display(),
                said_still(&found.still)
            ));
        }
        let names = source.frames.iter().map(|frame| frame.name.clone());
        return Ok(names.zip(found.poses).collect());
    }
    if !args.pose.is_empty() {
        return args
            .pose
            .iter()
            .enumerate()
            .map(|(k, text)| Ok((format!("pose_{k:04}"), skin.parse_pose(text)?)))
            .collect();
    }
    if args.clip.is_none() && document.clips.is_empty() && document.frame_poses.is_empty() {
        bail!(
            "{}: has no clip to play: give a pose with --pose, such as --pose default, or a file of poses with --poses",
            document.path.display()
        );
    }
    if args.clip.is_none() && !document.frame_poses.is_empty() {
        let names = document.frames.iter().map(|frame| frame.name.clone());
        return Ok(names.zip(document.frame_poses.iter().cloned()).collect());
    }
    let clip = choose_clip(document, args.clip.as_deref())?;
    let frame = |(k, time)| (format!("{}_{k:04}", clip.name), skin.sample(clip, time));
    let times = (document.sample_times(&[clip], args.fps, Pace::AtKeys))
        .explained(&MatchArgs::default())?
        .into_iter()
        .flat_map(|sampled| sampled.times);
    Ok(times.enumerate().map(frame).collect())
}

/// How fast the frames play: as asked, or as the clip they come from.
fn frame_rate(args: &EvalArgs, document: &Document) -> Option<f64> {
    let clip = choose_clip(document, args.clip.as_deref()).ok();
    let of_clip = clip.filter(|_| args.pose.is_empty());
    let skin = document.skin.as_ref();
    // Poses that are held are no motion.
    let is_held = |clip: &Clip| skin.map_or(clip.is_held(), |skin| skin.unbaked(clip).is_held());
    args.fps.or_else(|| match of_clip {
        Some(clip) if is_held(clip) => None,
        Some(clip) => Some(sampling_rate(clip, skin)),
        None => document.frames_per_second,
    })
}

/// The frames with what a file of theirs can say beside them.
fn result_document(
    args: &EvalArgs,
    document: &Document,
    format: Format,
    frames: Vec<Frame>,
    frame_poses: Vec<Pose>,
) -> anyhow::Result<Document> {
    let mut result = Document {
        path: document.path.clone(),
        frames,
        frames_per_second: frame_rate(args, document),
        ..Document::default()
    };
    if !args.drawn {
        result.mesh = document.mesh.clone();
        result.polygons = document.polygons.clone();
        result.draw = document.draw.clone();
        result.materials = document.materials.clone();
        // A format that holds frames or a skin gets the frames, not the skin that made them.
        if format.holds(Content::FramePoses) {
            result.skin = document.skin.clone();
            result.frame_poses = frame_poses;
        }
        return Ok(result);
    }
    let point_of_vertex: Vec<u32> = document
        .draw
        .parts
        .iter()
        .flat_map(|part| part.points.iter().copied())
        .collect();
    let split = |points: &[DVec3]| -> Vec<DVec3> {
        point_of_vertex
            .iter()
            .map(|&p| points[p as usize])
            .collect()
    };
    let mut triangles = Vec::new();
    let mut offset = 0;
    for part in &document.draw.parts {
        triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + offset)));
        offset += part.points.len() as u32;
    }
    result.draw = DrawMesh::plain("mesh", point_of_vertex.len(), &triangles);
    result.mesh = TriMesh::new(split(document.mesh.positions()), triangles)?;
    for frame in &mut result.frames {
        frame.positions = split(&frame.positions);
    }
    Ok(result)
}
