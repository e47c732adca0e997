//! `dermis transform`: a whole model scaled, turned, put elsewhere.

use anyhow::{Context, bail};
use dermis::rig::Similarity;
use dermis_io::{Document, FrameStorage, WriteOptions};
use glam::{DQuat, DVec3};

use crate::Outcome;
use crate::output_file::OutputFile;
use crate::overwrite;
use crate::pose_args::TransformArgs;
use crate::talk::Talk;

pub(crate) fn run(args: &TransformArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let output = OutputFile::new(&args.output, args.stream)?;
    let format = output.format();
    overwrite::check(output.file(), [&args.input], talk)?;
    if args.scale.is_nan() || args.scale <= 0.0 || args.scale.is_infinite() {
        bail!("--scale: expected a number above 0, found {}", args.scale);
    }
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let turns = args.rotate.iter().flat_map(|turns| &turns.0);
    let rotation = turns.fold(DQuat::IDENTITY, |done, &(axis, degrees)| {
        DQuat::from_axis_angle(axes[axis], degrees.to_radians()) * done
    });
    let translation = args.translate.map_or(DVec3::ZERO, DVec3::from_array);
    let by = Similarity::new(args.scale, rotation, translation)?;
    let document = dermis_io::read(&args.input)?;
    talk.remark_notes(&document);
    let in_file = || args.input.display().to_string();
    let mut moved = document.moved(&by).with_context(in_file)?;
    check_size(&document, &moved).with_context(in_file)?;
    super::remark_left_out(&moved, format, talk);
    if format.frames() == FrameStorage::MorphTargets && moved.skin.is_some() {
        // Such a file holds a skin or frames, not both: the skin's poses become a clip.
        super::legal::frames_to_clip(&mut moved, talk)?;
    }
    talk.check_stopped()?;
    let files = output.write(&moved, &WriteOptions::default())?;
    talk.remark_written(&files);
    Ok(Outcome::Done)
}

/// Refuses a move that files cannot hold: most have numbers of 32 bits.
fn check_size(before: &Document, after: &Document) -> anyhow::Result<()> {
    let extent = |document: &Document| {
        let positions = document.mesh.positions().iter();
        let (low, high) = positions
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), at| {
                (low.min(*at), high.max(*at))
            });
        (high - low).max_element()
    };
    let (old, new) = (extent(before), extent(after));
    // Below this the differences between positions lose digits.
    let least = f64::from(f32::MIN_POSITIVE / f32::EPSILON);
    if old > 0.0 && new < least {
        bail!(
            "a model of size {old:.3e} would have size {new:.3e}, too small for numbers of 32 bits"
        );
    }
    let largest = |at: &DVec3| at.abs().max_element();
    let far = after
        .mesh
        .positions()
        .iter()
        .map(largest)
        .fold(0.0, f64::max);
    if far > f64::from(f32::MAX) {
        bail!("a vertex would be at {far:.3e}, too far out for numbers of 32 bits");
    }
    Ok(())
}
