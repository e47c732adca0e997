//! `dermis bake`: the detail of a character on a coarser form of it, as normal maps and textures.

use std::path::Path;

use anyhow::{Context, bail};
use dermis::bake::{AtlasOptions, MatchOptions, NormalAngles, Picture};
use dermis::document::{BakeOptions, Baked, EditError, MapKind};
use dermis_io::{
    Document, Format, Transaction, WriteOptions, decode_image, encode_png, tangent_map_npz,
};
use serde::Serialize;

use super::{legal, output_format};
use crate::Outcome;
use crate::bake_args::BakeArgs;
use crate::matching::read_upright;
use crate::overwrite;
use crate::report::{self, Block, Column, Format as Cell, Report, Row, Table};
use crate::talk::{Talk, format_bytes, plural};

/// Texels along a side that a picture can have.
const MOST_TEXELS: i64 = 16_384;
/// Samples along a side of a texel.
const MOST_SAMPLES: i64 = 8;

/// Everything that is said; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    targets: Vec<Target>,
    notes: Vec<String>,
}

/// What was baked for one form.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    /// 0 is a character without levels, or the full one.
    level: usize,
    triangles: usize,
    /// Width and height of each picture.
    size: usize,
    /// Texels that show the surface, as a share of all.
    covered: f64,
    samples: usize,
    /// Samples that found nothing within the cage, as a share of all.
    without_partner: f64,
    /// Number of the set of UVs.
    set: usize,
    /// Poses that angles are measured in.
    poses: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    angles: Option<Angles>,
    maps: Vec<MapFacts>,
    /// Of all pictures.
    bytes: usize,
}

/// Angles between normals as drawn and those of the full character, in degrees, over poses.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Angles {
    mean_without: f64,
    largest_without: f64,
    mean_with: f64,
    largest_with: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct MapFacts {
    kind: MapKind,
    bytes: usize,
}

pub(crate) fn run(args: &BakeArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let format = output_format(&args.output, &[], "a character with pictures is")?;
    if !matches!(format, Format::Glb | Format::Gltf) {
        bail!(
            "{}: a character with pictures is written as .glb or .gltf",
            args.output.display()
        );
    }
    let options = checked(args)?;
    let written = std::iter::once(&args.output).chain(&args.tangent_map);
    let read = std::iter::once(&args.input).chain(&args.to);
    overwrite::check(written, read, talk)?;
    let source = playable(&args.input, args, talk)?;
    let (mut target, is_own) = match args.to.as_ref().filter(|path| **path != args.input) {
        Some(path) => (playable(path, args, talk)?, false),
        None => (source.clone(), true),
    };
    let path = args.to.as_ref().unwrap_or(&args.input);
    let levels = levels_of(&target, is_own, path, args)?;
    if args.tangent_map.is_some() && levels.len() > 1 {
        bail!(
            "--tangent-map: expected one level, found {}: choose one with --level",
            levels.len()
        );
    }
    let source = source.at_level(0).unwrap_or_default();
    let options = BakeOptions {
        matching: MatchOptions {
            cage: cage_of(args, &source),
            ..MatchOptions::default()
        },
        ..options
    };
    let mut notes = Vec::new();
    let pictures = pictures_of(&source, &options, &mut notes);
    let mut facts = Facts {
        targets: Vec::new(),
        notes,
    };
    let mut tangent_map = None;
    for level in levels {
        let form = target.at_level(level).unwrap_or_default();
        let baked = source.baked(&form, &options, &pictures, talk);
        // Work that was stopped is no fault of the file.
        talk.check_stopped()?;
        let baked = (baked.map_err(explained)).with_context(|| path.display().to_string())?;
        let name = name_of(&args.output, level);
        let sizes = target.wear(level, &baked, &name, encode_png)?;
        if let Some(map) = &baked.tangent_map {
            tangent_map = Some(tangent_map_npz(map, &source)?);
        }
        add_notes(&mut facts.notes, &baked.notes);
        facts
            .targets
            .push(facts_of(level, &form, &baked, &options, &sizes));
    }
    talk.check_stopped()?;
    let mut files = Transaction::new();
    let mut paths = files.add_document(&args.output, &target, &WriteOptions::default())?;
    if let (Some(path), Some(bytes)) = (&args.tangent_map, &tangent_map) {
        files.add(path, bytes)?;
        paths.push(path.clone());
    }
    files.commit()?;
    talk.clear();
    report::print(&report_of(&facts)?, args.print)?;
    talk.remark_written(&paths);
    Ok(Outcome::Done)
}

/// What is asked for, with all numbers in range.
fn checked(args: &BakeArgs) -> anyhow::Result<BakeOptions> {
    let within = |flag: &str, value: i64, least: i64, most: i64| -> anyhow::Result<usize> {
        match usize::try_from(value) {
            Ok(number) if (least..=most).contains(&value) => Ok(number),
            _ => bail!("--{flag}: expected {least} to {most}, found {value}"),
        }
    };
    if let Some(path) = &args.tangent_map
        && path.extension().is_none_or(|ending| ending != "npz")
    {
        bail!("{}: a tangent map is written as .npz", path.display());
    }
    let both = !args.normal_map && !args.texture;
    if args.rest_only && args.texture && !args.normal_map {
        bail!("--rest-only is about the normal map: give --normal-map, too, or leave it out");
    }
    Ok(BakeOptions {
        atlas: AtlasOptions {
            size: within("size", args.size, 1, MOST_TEXELS)?,
            samples: within("samples", args.samples, 1, MOST_SAMPLES)?,
            ..AtlasOptions::default()
        },
        gutter: within("padding", args.padding, 0, MOST_TEXELS)?,
        normal_map: both || args.normal_map,
        textures: both || args.texture,
        rest_only: args.rest_only,
        uv_set: args.set,
        tangent_map: args.tangent_map.is_some(),
        ..BakeOptions::default()
    })
}

/// Reads a character; the poses of its frames become a clip, as the result has a skin or frames.
fn playable(path: &Path, args: &BakeArgs, talk: &Talk) -> anyhow::Result<Document> {
    let mut document = read_upright(path, &args.up, talk)?;
    if document.skin.is_some() {
        legal::frames_to_clip(&mut document, talk)?;
    }
    Ok(document)
}

/// The levels that get pictures.
fn levels_of(
    target: &Document,
    is_own: bool,
    path: &Path,
    args: &BakeArgs,
) -> anyhow::Result<Vec<usize>> {
    let coarsest = target.levels.len();
    let first = usize::from(is_own);
    let file = path.display();
    if is_own && coarsest == 0 {
        bail!(
            "{file}: has no levels to bake to: `dermis lod` makes some, or give a coarser form with --to"
        );
    }
    match args.level {
        Some(level) if !(first..=coarsest).contains(&level) => match coarsest {
            0 => bail!(
                "{file}: --level {level}: expected 0, because the file has no levels of detail"
            ),
            _ => bail!("{file}: --level {level}: expected {first} to {coarsest}"),
        },
        Some(level) => Ok(vec![level]),
        None => Ok((first..=coarsest).collect()),
    }
}

/// How far to look along normals, as a share of the full character's box.
fn cage_of(args: &BakeArgs, source: &Document) -> f64 {
    let size = source.mesh.bounds().diagonal();
    args.cage.model_units(size) / size.max(f64::MIN_POSITIVE)
}

/// The images that are read, decoded; those that cannot be are left out, with a note.
fn pictures_of(
    source: &Document,
    options: &BakeOptions,
    notes: &mut Vec<String>,
) -> Vec<Option<Picture>> {
    let mut pictures = vec![None; source.materials.images.len()];
    for image in source.images_to_bake(options) {
        match decode_image(&source.materials.images[image].bytes) {
            Ok(picture) => pictures[image] = Some(picture),
            Err(error) => notes.push(format!("image {image} is left out: {error}")),
        }
    }
    pictures
}

fn name_of(output: &Path, level: usize) -> String {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    match level {
        0 => stem.into_owned(),
        level => format!("{stem} level {level}"),
    }
}

/// Levels have most notes in common.
fn add_notes(notes: &mut Vec<String>, more: &[String]) {
    for note in more {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
}

fn facts_of(
    level: usize,
    form: &Document,
    baked: &Baked,
    options: &BakeOptions,
    sizes: &[(MapKind, usize)],
) -> Target {
    let size = options.atlas.size;
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    Target {
        level,
        triangles: form.mesh.triangles().len(),
        size,
        covered: share(baked.covered_texels, size * size),
        samples: baked.sample_count,
        without_partner: share(baked.fallback_count, baked.sample_count),
        set: baked.uv_set,
        poses: baked.pose_count,
        angles: baked.angles.map(|angles: NormalAngles| Angles {
            mean_without: angles.vertex_normals.mean_degrees,
            largest_without: angles.vertex_normals.max_degrees,
            mean_with: angles.mapped.mean_degrees,
            largest_with: angles.mapped.max_degrees,
        }),
        maps: (sizes.iter())
            .map(|&(kind, bytes)| MapFacts { kind, bytes })
            .collect(),
        bytes: sizes.iter().map(|(_, bytes)| bytes).sum(),
    }
}

/// The error with what helps.
fn explained(error: EditError) -> anyhow::Error {
    let hint = match &error {
        EditError::NoUvsToBake { .. } => "; `dermis unwrap` makes some, before `dermis lod`",
        EditError::NoSuchUvSet { set, most } => {
            return anyhow::anyhow!("--set: expected a set of UVs from 0 to {most}, found {set}");
        }
        EditError::OtherPlace { .. } => "; `dermis transform` moves and scales",
        EditError::OtherBones { .. } => "; levels made with `dermis lod` keep them",
        _ => return error.into(),
    };
    anyhow::anyhow!("{error}{hint}")
}

fn report_of(facts: &Facts) -> anyhow::Result<Report> {
    let column = |key: &str, heading, format| Column::new(key, heading, format);
    let mut columns = vec![
        column("/triangles", ["", "triangles"], Cell::Count),
        column("/covered", ["texels", "covered"], Cell::Share(1)),
        column("/withoutPartner", ["without", "partner"], Cell::Share(2)),
    ];
    if facts.targets.iter().any(|target| target.angles.is_some()) {
        columns.extend([
            column(
                "/angles/meanWithout",
                ["mean angle", "without map"],
                Cell::Degrees(2),
            ),
            column("/angles/meanWith", ["", "with map"], Cell::Degrees(2)),
            column(
                "/angles/largestWithout",
                ["largest", "without map"],
                Cell::Degrees(1),
            ),
            column("/angles/largestWith", ["", "with map"], Cell::Degrees(1)),
        ]);
    }
    columns.push(column("/bytes", ["pictures,", "bytes"], Cell::Count));
    let row = |(number, target): (usize, &Target)| {
        Row::new(target.level.to_string(), format!("/targets/{number}"))
    };
    let table = Table {
        names: "level",
        columns,
        rows: facts.targets.iter().enumerate().map(row).collect(),
        ..Table::default()
    };
    let mut sentences = Vec::new();
    if let Some(target) = facts.targets.first() {
        let maps: Vec<String> = (target.maps.iter())
            .map(|map| format!("{} ({})", map.kind.name(), format_bytes(map.bytes as u64)))
            .collect();
        let size = target.size;
        sentences.push(match maps.is_empty() {
            true => "there was nothing to bake: the full character has no textures".to_owned(),
            false => format!("pictures of {size} × {size} texels: {}", maps.join(", ")),
        });
        if target.angles.is_some() {
            sentences.push(format!(
                "angles are between normals as engines draw them and those of the full character, over {}",
                plural(target.poses, "pose")
            ));
        }
    }
    let data = serde_json::to_value(facts).context("numbers are plain JSON")?;
    let blocks = vec![
        Block::Table(table),
        Block::Sentences(sentences),
        Block::Remarks(facts.notes.clone()),
    ];
    Ok(Report::plain(data, blocks))
}
