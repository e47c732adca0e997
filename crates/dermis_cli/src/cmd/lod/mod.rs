//! `dermis lod`: levels of detail that hold in every pose.

mod judged;
mod wanted;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dermis::document::{LevelOptions, Leveled};
use dermis::lod::LodOptions;
use dermis_io::{Document, Transaction, WriteOptions};

use super::{SKIN_FILE, legal, output_format, skin_of};
use crate::Outcome;
use crate::lod_args::LodArgs;
use crate::matching::read_upright;
use crate::overwrite;
use crate::report;
use crate::talk::Talk;

pub(crate) use judged::{Judged, Judgement};
pub(crate) use wanted::PICTURE;

/// Levels with all that their report needs to know.
pub(crate) struct LodJob<'a> {
    pub(crate) args: &'a LodArgs,
    pub(crate) leveled: &'a Leveled,
    /// The length that errors are shares of, in model units.
    pub(crate) size: f64,
    /// With a page: it takes a second simplification.
    pub(crate) judged: Option<Judged>,
}

impl LodJob<'_> {
    /// The level that sentences and pictures are about, from 0: the coarsest that is as small as asked, or of all when none
    /// is.
    pub(crate) fn told(&self) -> usize {
        let shapes = &self.leveled.shapes;
        let met = shapes.iter().rposition(|shape| shape.is_met);
        met.unwrap_or(shapes.len().saturating_sub(1))
    }
}

pub(crate) fn run(args: &LodArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    output_format(&args.output, SKIN_FILE, "a character with levels is")?;
    let mut lod = LodOptions {
        progressive: args.progressive,
        ..wanted::options(args)?
    };
    let levels = match args.separate {
        true => wanted::level_count(args),
        false => 0,
    };
    let outputs: Vec<PathBuf> = (0..=levels)
        .map(|number| level_path(&args.output, number))
        .chain(args.report.clone())
        .collect();
    overwrite::check(&outputs, [&args.input], talk)?;
    let mut document = read_upright(&args.input, &args.up, talk)?;
    if document.skin.is_some() {
        legal::frames_to_clip(&mut document, talk)?;
    }
    let skin = skin_of(&document)?;
    let size = skin.size()?;
    lod.locked_bones = wanted::locked_bones(args, &skin.skeleton)?;
    let options = LevelOptions {
        targets: wanted::targets(args, &document, size)?,
        lod,
        certify: true,
        tolerance: args.guarantee.map(|length| length.model_units(size)),
    };
    let in_file = || args.input.display().to_string();
    let leveled = document.with_levels(&options, talk).with_context(in_file)?;
    talk.check_stopped()?;
    if let (Some(length), []) = (args.guarantee, &leveled.document.levels[..]) {
        bail!(
            "{}: no level is within the guarantee: allow more than --guarantee {length}",
            args.input.display(),
        );
    }
    let judged = match args.report {
        Some(_) => Some(Judged::new(&document, &leveled, &options.lod, talk)?),
        None => None,
    };
    let job = LodJob {
        args,
        leveled: &leveled,
        size,
        judged,
    };
    let told = report::levels_report(&job)?;
    // Who stops the drawing of pictures wants no file either.
    let page = match &args.report {
        Some(path) => {
            let figures = report::levels_figures(&job, talk)?;
            Some((path, report::html(&told, &figures)?))
        }
        None => None,
    };
    talk.check_stopped()?;
    let mut files = Transaction::new();
    let written = add_levels(&mut files, &leveled.document, args)?;
    if let Some((path, page)) = page {
        files.add(path, page.as_bytes())?;
    }
    files.commit()?;
    talk.clear();
    report::print(&told, args.print)?;
    talk.remark_written(&written);
    if let Some(path) = &args.report {
        talk.remark_written(&[path]);
    }
    let is_met = leveled.shapes.iter().all(|shape| shape.is_met);
    Ok(
        match is_met && leveled.shapes.len() == options.targets.len() {
            true => Outcome::Done,
            false => Outcome::ToleranceMissed,
        },
    )
}

/// Adds one file with all levels, or one for each.
fn add_levels(
    files: &mut Transaction,
    document: &Document,
    args: &LodArgs,
) -> anyhow::Result<Vec<PathBuf>> {
    let options = WriteOptions::default();
    if !args.separate {
        return Ok(files.add_document(&args.output, document, &options)?);
    }
    let mut written = Vec::new();
    for number in 0..document.level_count() {
        let Some(level) = document.at_level(number) else {
            continue;
        };
        let path = level_path(&args.output, number);
        written.extend(files.add_document(&path, &level, &options)?);
    }
    Ok(written)
}

/// `hero_lod2.glb` for level 2 of `hero.glb`.
fn level_path(output: &Path, number: usize) -> PathBuf {
    if number == 0 {
        return output.to_owned();
    }
    let mut name = output.file_stem().unwrap_or_default().to_owned();
    name.push(format!("_lod{number}"));
    if let Some(extension) = output.extension() {
        name.push(".");
        name.push(extension);
    }
    output.with_file_name(name)
}
