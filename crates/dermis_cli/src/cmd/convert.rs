//! `dermis convert`: one format to another.

use anyhow::{Context, bail};
use dermis::document::clip_of;
use dermis_io::{Content, Document, Frame, FrameStorage, PlyEncoding, WriteOptions};

use super::{check_faces, choose_clip, motion_rate};
use crate::Outcome;
use crate::args::{ConvertArgs, Ply};
use crate::hints::Explained;
use crate::input_args::MatchArgs;
use crate::matching::read_inputs;
use crate::output_file::OutputFile;
use crate::overwrite;
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &ConvertArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let (output, inputs) = match (&args.output, args.paths.split_last()) {
        (Some(output), _) => (output, &args.paths[..]),
        (None, Some((output, inputs @ [_, ..]))) => (output, inputs),
        (None, _) => {
            bail!("expected one or more inputs and then the file to write, found only one name")
        }
    };
    // An unknown ending is refused before anything is read.
    let output = &OutputFile::new(output, args.stream)?;
    let format = output.format();
    overwrite::check(
        output.file(),
        inputs.iter().chain(args.sequence.files()),
        talk,
    )?;
    let document = read_inputs(inputs, &args.sequence, talk)?;
    let mut document = args.level.taken_from(document)?;
    check_faces(&document, output.path())?;
    document.frames_per_second = args.fps.or(document.frames_per_second);
    let is_skin_or_frames = format.frames() == FrameStorage::MorphTargets;
    if is_skin_or_frames && args.clip.is_none() {
        // Only a clip has to know: what nobody said stays unsaid in other files.
        document.frames_per_second = motion_rate(&document, args.fps, talk);
        choose_skin_or_frames(&mut document, args.frames, talk)?;
    } else if args.clip.is_some() || (document.frames.is_empty() && !document.clips.is_empty()) {
        bake_clip(&mut document, args.clip.as_deref(), args.fps, talk)?;
        if is_skin_or_frames {
            keep_frames_only(&mut document, talk);
        }
    }
    if !document.levels.is_empty() && !format.holds(Content::Clips) {
        leave_levels(
            &mut document,
            &format!(".{} files cannot hold", format.extension()),
            talk,
        );
    }
    talk.check_stopped()?;
    let options = WriteOptions {
        ply: match args.ply {
            Ply::Binary => PlyEncoding::Binary,
            Ply::BinaryBig => PlyEncoding::BinaryBigEndian,
            Ply::Ascii => PlyEncoding::Ascii,
        },
    };
    let files = output.write(&document, &options)?;
    talk.remark_written(&files);
    Ok(Outcome::Done)
}

/// A file that holds either a skin with clips or a morph-target sequence: chooses, and says what is lost.
fn choose_skin_or_frames(
    document: &mut Document,
    frames_wanted: bool,
    talk: &Talk,
) -> anyhow::Result<()> {
    if frames_wanted {
        if document.frames.is_empty() {
            bail!(
                "{}: --frames needs frames, found none: name a clip with --clip to make frames from it",
                document.path.display()
            );
        }
        keep_frames_only(document, talk);
    } else if let Some(skin) = &document.skin
        && !document.frames.is_empty()
    {
        if !document.frame_poses.is_empty() {
            let rate = document.frames_per_second;
            let clip = clip_of("frames", &skin.skeleton, &document.frame_poses, rate)
                .with_context(|| document.path.display().to_string())?;
            document.clips.push(clip);
            // Spheres were made for other clips.
            if let Some(record) = &mut document.record {
                record.bounds = None;
            }
        }
        talk.remark(format!(
            "note: the skin is written, not the {} frames, which may look different; \
             --frames writes the frames instead, as morph targets",
            document.frames.len()
        ));
        document.frames.clear();
    }
    Ok(())
}

fn keep_frames_only(document: &mut Document, talk: &Talk) {
    document.skin = None;
    document.clips.clear();
    document.progressive = None;
    // Frames are those of the full character, and nothing would move its levels.
    if !document.levels.is_empty() {
        leave_levels(document, "frames do not move", talk);
    }
}

fn leave_levels(document: &mut Document, why: &str, talk: &Talk) {
    talk.remark(format!(
        "note: {why} the other {}: left out; --level takes one of them instead of the full character",
        plural(document.levels.len(), "level")
    ));
    document.levels.clear();
}

/// Replaces the frames by those of a clip.
fn bake_clip(
    document: &mut Document,
    name: Option<&str>,
    asked: Option<f64>,
    talk: &Talk,
) -> anyhow::Result<()> {
    let clip = choose_clip(document, name)?.clone();
    let skin = super::skin_of(document)?;
    let is_held = skin.unbaked(&clip).is_held();
    let played = document.play_clips(&[&clip], asked);
    let mut played = played.explained(&MatchArgs::default())?;
    talk.check_stopped()?;
    let played = played.pop().context("one clip is played")?;
    let frame = |(k, positions)| Frame {
        name: format!("{}_{k:04}", clip.name),
        positions,
    };
    document.frames = played.frames.into_iter().enumerate().map(frame).collect();
    document.frame_poses = played.poses;
    // Poses that are held stay poses.
    document.frames_per_second = asked.or((!is_held).then_some(played.frames_per_second));
    Ok(())
}
