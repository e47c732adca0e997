//! `dermis unwrap`: texture coordinates whose stretch is low in every pose.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use dermis::document::{AtlasOptions, EditError, PosesFor, Unwrapped};
use dermis::param::{PackError, TexelDensity, UnwrapError, UnwrapOptions};
use dermis_io::{Document, Format, FrameStorage, Transaction, WriteOptions};

use super::unwrap_polygons::split_cut_polygons;
use super::unwrap_seams::{Seams, seams};
use super::{legal, output_format};
use crate::Outcome;
use crate::matching::read_upright;
use crate::overwrite;
use crate::report;
use crate::talk::{Talk, plural};
use crate::unwrap_args::{DensityName, PosesName, Source, UnwrapArgs};

/// An atlas with all that its report needs to know.
pub(crate) struct UnwrapJob<'a> {
    pub(crate) args: &'a UnwrapArgs,
    pub(crate) unwrapped: &'a Unwrapped,
    /// What users should know, beside what the library says.
    pub(crate) notes: Vec<String>,
    /// How long the atlas took, files and pictures apart.
    pub(crate) seconds: f64,
}

pub(crate) fn run(args: &UnwrapArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let format = checked_format(args)?;
    let unwrap = checked(args)?;
    let written = std::iter::once(&args.output).chain(&args.picture);
    let read = std::iter::once(&args.input).chain(file_of_seams(&args.from));
    overwrite::check(written.chain(&args.report), read, talk)?;
    let mut document = read_upright(&args.input, &args.up, talk)?;
    if format.frames() == FrameStorage::MorphTargets && document.skin.is_some() {
        // Such a file holds a skin or frames, not both: the skin's poses become a clip.
        legal::frames_to_clip(&mut document, talk)?;
    }
    let in_file = || args.input.display().to_string();
    let set = set_of(args, &document, format).with_context(in_file)?;
    let mut notes = Vec::new();
    let Seams { source, is_kept } = seams(args, &document, &mut notes, talk)?;
    let options = AtlasOptions {
        unwrap: UnwrapOptions {
            keep_seams: is_kept,
            ..unwrap
        },
        seams: source,
        poses: poses_of(args.poses),
        keep: args.keep,
        set,
    };
    let start = Instant::now();
    let unwrapped = document.unwrapped(&options, talk);
    let seconds = start.elapsed().as_secs_f64();
    // Work that was stopped is no fault of the file.
    talk.check_stopped()?;
    let mut unwrapped =
        (unwrapped.map_err(|error| explained(error, args))).with_context(in_file)?;
    talk.clear();
    notes.extend(other_count(args.charts, unwrapped.measures.charts));
    notes.extend(textures_left(&document, unwrapped.set));
    if format == Format::Obj {
        notes.extend(split_cut_polygons(&mut unwrapped.document));
    }
    let job = UnwrapJob {
        args,
        unwrapped: &unwrapped,
        notes,
        seconds,
    };
    write(&job, format, talk)?;
    Ok(Outcome::Done)
}

/// Writes all files or none, and says what is in them.
fn write(job: &UnwrapJob<'_>, format: Format, talk: &Talk) -> anyhow::Result<()> {
    let args = job.args;
    let told = report::atlas_report(job)?;
    // Who stops the drawing of pictures wants no file either.
    let mut beside: Vec<(&PathBuf, Vec<u8>)> = Vec::new();
    if let Some(path) = &args.picture {
        beside.push((path, report::atlas_sheet(job, talk)?.to_png()?));
    }
    if let Some(path) = &args.report {
        let page = report::html(&told, &report::atlas_figures(job, talk)?)?;
        beside.push((path, page.into_bytes()));
    }
    talk.check_stopped()?;
    let document = &job.unwrapped.document;
    let mut files = Transaction::new();
    let mut written = files.add_document(&args.output, document, &WriteOptions::default())?;
    for (path, bytes) in &beside {
        files.add(path, bytes)?;
    }
    files.commit()?;
    talk.clear();
    super::remark_left_out(document, format, talk);
    report::print(&told, args.print)?;
    talk.remark_written(&written);
    written.clear();
    written.extend(beside.into_iter().map(|(path, _)| path.clone()));
    talk.remark_written(&written);
    Ok(())
}

/// The format of the result; those that hold no UVs are refused before any work is done.
fn checked_format(args: &UnwrapArgs) -> anyhow::Result<Format> {
    let output = args.output.display();
    let format = output_format(&args.output, &[], "an unwrapped model is")?;
    if !matches!(format, Format::Glb | Format::Gltf | Format::Obj) {
        bail!("{output}: an unwrapped model is written as .glb, .gltf or .obj");
    }
    if format == Format::Obj && args.set.is_some_and(|set| set > 0) {
        bail!("{output}: .obj files have one set of UVs: leave --set out, or write .glb or .gltf");
    }
    let is_png = |path: &Path| path.extension().is_some_and(|ending| ending == "png");
    if let Some(path) = args.picture.as_ref().filter(|path| !is_png(path)) {
        bail!("{}: the picture is written as .png", path.display());
    }
    Ok(format)
}

/// What is asked of charts and atlas, with all numbers in range.
fn checked(args: &UnwrapArgs) -> anyhow::Result<UnwrapOptions> {
    let keeps_seams = match &args.from {
        Source::Auto | Source::Creases => None,
        Source::Seams => Some("seams"),
        Source::Materials => Some("materials"),
        Source::File(_) => Some("FILE"),
    };
    if let (Some(source), Some(_)) = (keeps_seams, args.charts) {
        bail!(
            "--charts: with --from {source}, seams say which charts there are: leave one of both out"
        );
    }
    if let Some(texels) = args.texels_per_unit
        && !(texels > 0.0 && texels.is_finite())
    {
        bail!("--texels-per-unit: expected a number above 0, found {texels}");
    }
    let options = UnwrapOptions {
        charts: args.charts,
        max_stretch: args.max_stretch,
        min_width: args.min_width,
        keep_seams: false,
        straight_borders: args.straight_borders,
        density: match args.texel_density {
            DensityName::Even => TexelDensity::Even,
            DensityName::ByArea => TexelDensity::ByArea,
        },
        size: args.size,
        padding: args.padding,
        texels_per_unit: args.texels_per_unit,
    };
    options
        .check()
        .map_err(|error| explained(error.into(), args))?;
    Ok(options)
}

fn poses_of(name: PosesName) -> PosesFor {
    match name {
        PosesName::Shown => PosesFor::Shown,
        PosesName::Rest => PosesFor::Rest,
        PosesName::Limits => PosesFor::Limits,
        PosesName::Any => PosesFor::AnyRotation,
    }
}

fn file_of_seams(source: &Source) -> Option<&PathBuf> {
    match source {
        Source::File(path) => Some(path),
        _ => None,
    }
}

/// The set that the UVs go to, when it is not left to the library.
fn set_of(args: &UnwrapArgs, document: &Document, format: Format) -> anyhow::Result<Option<usize>> {
    if format == Format::Obj {
        return Ok(Some(0));
    }
    let sets = document.draw.parts.iter().map(|part| part.uvs.len());
    let most = sets.max().unwrap_or(0);
    match args.set {
        // Known before the work is done, as the library knows it after.
        Some(set) if set > most => bail!("--set: {}", EditError::NoSuchUvSet { set, most }),
        set => Ok(set),
    }
}

/// A sentence when there are not as many charts as asked for.
fn other_count(asked: Option<usize>, made: usize) -> Option<String> {
    let asked = asked.filter(|&asked| asked != made)?;
    Some(format!(
        "{} asked for, {made} made: the nearest number of pieces that can be laid flat",
        plural(asked, "chart")
    ))
}

/// What becomes of textures that lie on the UVs that were there.
fn textures_left(document: &Document, set: usize) -> Option<String> {
    if document.materials.textures.is_empty() {
        return None;
    }
    let sets = document.draw.parts.iter().map(|part| part.uvs.len());
    Some(match set < sets.max().unwrap_or(0) {
        true => format!(
            "the textures of the file were painted for the UVs that TEXCOORD_{set} had before: they do not fit any more"
        ),
        false => "the materials still use the UVs that were there, so all looks as before; textures for the new ones \
                  have to be painted or baked"
            .to_owned(),
    })
}

/// The error with the flag that helps, or that it is about.
fn explained(error: EditError, args: &UnwrapArgs) -> anyhow::Error {
    let hint = match &error {
        EditError::Unwrap(UnwrapError::BadOption { option, problem }) => {
            return anyhow::anyhow!("--{}: {problem}", option.replace('_', "-"));
        }
        EditError::Unwrap(UnwrapError::Pack(PackError::TooManyCharts { .. })) => {
            " (--size), and so will less --padding or fewer --charts"
        }
        EditError::Unwrap(UnwrapError::Pack(PackError::ScaleTooLarge { .. })) => {
            " (--texels-per-unit), and more on a larger --size"
        }
        EditError::NoUvs { .. } if args.keep => "; without --keep it gets new ones",
        EditError::NoUvs { .. } => "; --from auto finds some",
        _ => return error.into(),
    };
    anyhow::anyhow!("{error}{hint}")
}
