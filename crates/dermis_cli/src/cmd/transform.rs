//! `dermis transform`: a whole model scaled, turned, put elsewhere.

use anyhow::{Context, bail};
use dermis::rig::Similarity;
use dermis_io::{Format, WriteOptions};
use glam::{DQuat, DVec3};

use crate::Outcome;
use crate::pose_args::TransformArgs;
use crate::talk::Talk;

pub(crate) fn run(args: &TransformArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let format = Format::of(&args.output)?;
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
    if matches!(format, Format::Glb | Format::Gltf) && moved.skin.is_some() {
        // A glTF file of a skin has clips, not frames.
        super::legal::frames_to_clip(&mut moved)?;
    }
    talk.check_stopped()?;
    dermis_io::write(&args.output, &moved, &WriteOptions::default())?;
    talk.remark(format!("wrote {}", args.output.display()));
    Ok(Outcome::Done)
}
