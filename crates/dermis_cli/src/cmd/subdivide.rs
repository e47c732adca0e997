//! `dermis subdivide`: a smoother skin whose animation is the subdivided animation.

use anyhow::{Context, bail};
use dermis::document::Spheres;
use dermis::fit::{exact_ssd, plain_fallback};
use dermis::skin::ShownPoses;
use dermis::subdiv::{AttributeRule, Corners, QuadOptions, Scheme, SubdivisionOptions};
use dermis::{Pose, Skin, VertexProgram};
use dermis_io::{
    AssumedPoses, Content, Document, FallbackError, Format, FrameStorage, LevelFacts, SkinRecord,
    SubdivideOptions, Subdivided, WriteOptions,
};
use serde::Serialize;

use super::{legal, output_format};
use crate::Outcome;
use crate::matching::read_upright;
use crate::overwrite;
use crate::report::{self, Block, Column, Format as Cell, Report, Row, Table};
use crate::subdivide_args::{CornersName, SchemeName, SubdivideArgs, UvName};
use crate::talk::{Talk, plural};

/// Influences of what stock players show.
const PLAIN_INFLUENCES: usize = 4;

/// Most poses that the stand-in for stock players is fitted to and measured in.
const MOST_POSES: usize = 96;

/// Everything that is said; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    levels: Vec<LevelFacts>,
    /// Faces that were subdivided, by how many corners they have.
    triangles: usize,
    quads: usize,
    larger_faces: usize,
    creases: usize,
    /// How far stock players are from the exact skin, as shares of the diagonal.
    #[serde(skip_serializing_if = "Option::is_none")]
    plain: Option<FallbackError>,
}

pub(crate) fn run(args: &SubdivideArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let format = output_format(&args.output, &[], "a subdivided model is")?;
    let options = checked(args)?;
    overwrite::check([&args.output], [&args.input], talk)?;
    let is_played = format.holds(Content::Clips);
    if args.plain_exact && !is_played {
        bail!(
            "--plain-exact is for files that stock players show: write {} instead of {}",
            Format::writers_of(&[Content::Clips]),
            args.output.display()
        );
    }
    let mut document = read_upright(&args.input, &args.up, talk)?;
    if format.frames() == FrameStorage::MorphTargets && document.skin.is_some() {
        // Such a file holds a skin or frames, not both: the skin's poses become a clip.
        legal::frames_to_clip(&mut document, talk)?;
    }
    let in_file = || args.input.display().to_string();
    let subdivided = document.subdivided(&options).with_context(in_file)?;
    let [triangles, quads, larger_faces] = subdivided.faces;
    let mut facts = Facts {
        levels: subdivided.levels.clone(),
        triangles,
        quads,
        larger_faces,
        creases: subdivided.crease_count,
        plain: None,
    };
    let Subdivided {
        document: mut finer,
        plain_shapes,
        ..
    } = subdivided;
    talk.check_stopped()?;
    talk.remark_notes(&finer);
    if is_played && let Some(skin) = finer.skin.clone() {
        let poses = poses(&finer)?;
        facts.plain = make_playable(&mut finer, &skin, &poses, args, talk)?;
        if let Some(plain) = &mut finer.fallback {
            plain.corrections = plain_shapes;
        }
        renew_bounds(&mut finer, talk)?;
    }
    talk.check_stopped()?;
    super::remark_left_out(&finer, format, talk);
    dermis_io::write(&args.output, &finer, &WriteOptions::default())?;
    report::print(&report_of(&facts, args)?, args.print)?;
    talk.remark_written(&[&args.output]);
    Ok(Outcome::Done)
}

fn checked(args: &SubdivideArgs) -> anyhow::Result<SubdivideOptions> {
    let levels = match usize::try_from(args.levels) {
        Ok(levels) if levels > 0 => levels,
        _ => bail!("--levels: expected 1 or more, found {}", args.levels),
    };
    if let Some(angle) = args.crease_angle
        && !(0.0..=180.0).contains(&angle)
    {
        bail!("--crease-angle: expected 0 to 180 degrees, found {angle}");
    }
    if let Some(sharpness) = args.crease_sharpness {
        if sharpness.is_nan() || sharpness < 0.0 {
            bail!("--crease-sharpness: expected 0 levels or more, found {sharpness}");
        }
        if args.crease_angle.is_none() && !args.crease_normals {
            bail!(
                "--crease-sharpness needs creases: choose them with --crease-angle or --crease-normals"
            );
        }
    }
    Ok(SubdivideOptions {
        subdivision: SubdivisionOptions {
            scheme: match args.scheme {
                SchemeName::Loop => Scheme::Loop,
                SchemeName::CatmullClark => Scheme::CatmullClark,
            },
            levels,
            corners: match args.corners {
                CornersName::Sharp => Corners::Sharp,
                CornersName::Smooth => Corners::Smooth,
            },
            limit: args.limit,
        },
        crease_angle_rad: args.crease_angle.map(f64::to_radians),
        crease_normals: args.crease_normals,
        crease_sharpness: args.crease_sharpness.unwrap_or(f64::INFINITY),
        uv: match args.uv {
            UvName::Smooth => AttributeRule::Smooth,
            UvName::Linear => AttributeRule::Linear,
        },
        join_triangles: (!args.keep_triangles).then(QuadOptions::default),
    })
}

/// Poses that the file shows, of many every so-manieth.
fn poses(document: &Document) -> anyhow::Result<Vec<Pose>> {
    let all = ShownPoses::all(&document.shown_poses()?);
    if all.len() <= MOST_POSES {
        return Ok(all);
    }
    let at = |k: usize| all[k * (all.len() - 1) / (MOST_POSES - 1)].clone();
    Ok((0..MOST_POSES).map(at).collect())
}

/// Gives the document what a glTF file of its skin needs; how far stock players are off then.
fn make_playable(
    document: &mut Document,
    skin: &Skin,
    poses: &[Pose],
    args: &SubdivideArgs,
    talk: &Talk,
) -> anyhow::Result<Option<FallbackError>> {
    if !matches!(skin.program, VertexProgram::Linear(_)) {
        return Ok(None);
    }
    let in_file = || args.input.display().to_string();
    if args.plain_exact {
        let exact = exact_ssd(skin, poses).with_context(in_file)?;
        talk.remark(format!(
            "note: the exact form for stock players has {} more joints and up to {} influences per vertex",
            exact.copy_count,
            exact.skin.program.max_influences()
        ));
        if exact.inexact_count > 0 {
            talk.remark(format!(
                "note: {} are up to {:.4}% of the size away",
                plural(exact.inexact_count, "point"),
                100.0 * exact.max_error
            ));
        }
        document.skin = Some(exact.skin);
        return Ok(None);
    }
    // Shapes come on top of the stand-in as they do on the skin itself.
    let below = skin.without_drivers();
    let mut poses = poses.to_vec();
    for pose in &mut poses {
        pose.coefficients = vec![0.0; below.coefficients.len()];
    }
    let plain = plain_fallback(&below, &poses, PLAIN_INFLUENCES, talk)?;
    let error = FallbackError {
        rms: plain.rms_error,
        max: plain.max_error,
    };
    talk.clear();
    talk.remark(format!(
        "note: stock players show linear blend skinning of {PLAIN_INFLUENCES} influences, {:.3}% of the size away \
         from the skin in its clips (root mean square; at most {:.2}%); --plain-exact writes what they can \
         show exactly",
        100.0 * error.rms,
        100.0 * error.max
    ));
    let record = document.record.get_or_insert_with(SkinRecord::default);
    record.fallback = Some(error);
    document.fallback = Some(plain.program);
    Ok(Some(error))
}

/// Spheres that hold the new stand-in, too, where the file has spheres.
fn renew_bounds(document: &mut Document, talk: &Talk) -> anyhow::Result<()> {
    let kept = document.record.as_ref().and_then(|r| r.bounds.as_ref());
    let (Some(kept), Some(skin), Some(_)) = (kept, &document.skin, &document.fallback) else {
        return Ok(());
    };
    let shown = document.shown_poses()?;
    let seen = skin.joint_statistics(&ShownPoses::all(&shown));
    let (limits, assumes) = match kept.assumes {
        AssumedPoses::AnyRotation => (skin.free_limits(&seen), kept.assumes),
        _ => document.legal_limits(&seen),
    };
    let spheres = Spheres::new(document, skin, &shown, &limits, assumes)
        .with_context(|| document.path.display().to_string())?;
    for note in &spheres.notes {
        talk.remark(format!("note: {note}"));
    }
    if let Some(record) = &mut document.record {
        record.bounds = Some(spheres.record);
    }
    Ok(())
}

/// The sizes of every level, and what was subdivided.
fn report_of(facts: &Facts, args: &SubdivideArgs) -> anyhow::Result<Report> {
    let column = |key: &str, heading, format| Column::new(key, ["", heading], format);
    let mut columns = vec![
        column("/points", "points", Cell::Count),
        column("/triangles", "triangles", Cell::Count),
    ];
    if facts.levels.iter().any(|level| level.cost.is_some()) {
        columns.push(column(
            "/cost/meanInfluences",
            "influences",
            Cell::Number(2),
        ));
        columns.push(column("/cost/maxInfluences", "most", Cell::Count));
        columns.push(column("/bytes", "bytes", Cell::Number(0)));
    }
    let row = |(number, level): (usize, &LevelFacts)| {
        Row::new(level.level.to_string(), format!("/levels/{number}"))
    };
    let table = Table {
        names: "level",
        columns,
        rows: facts.levels.iter().enumerate().map(row).collect(),
        ..Table::default()
    };
    let mut sentences = Vec::new();
    if args.scheme == SchemeName::CatmullClark {
        sentences.push(format!(
            "faces: {}, {}, {} larger",
            plural(facts.triangles, "triangle"),
            plural(facts.quads, "quad"),
            facts.larger_faces
        ));
    }
    if facts.creases > 0 {
        sentences.push(format!("creases: {}", plural(facts.creases, "edge")));
    }
    let mut data = serde_json::to_value(facts).context("numbers are plain JSON")?;
    for (number, level) in facts.levels.iter().enumerate() {
        let bytes = level.cost.as_ref();
        let bytes = bytes.map(|cost| cost.bytes_per_vertex * level.points as f64);
        data["levels"][number]["bytes"] = bytes.into();
    }
    let blocks = vec![Block::Table(table), Block::Sentences(sentences)];
    Ok(Report::plain(data, blocks))
}
