//! The report of a texture atlas.

use anyhow::Context;
use dermis::document::{AtlasMeasures, AtlasPoses};
use serde::Serialize;
use serde_json::Map;

use super::model::{Block, Column, Format, Report, Row, Table, subject};
use crate::cmd::unwrap::UnwrapJob;
use crate::talk::plural;

/// Everything that is said; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts<'a> {
    verdict: String,
    #[serde(flatten)]
    measures: &'a AtlasMeasures,
    /// Number of the set that holds the UVs.
    set: usize,
    /// Width and height of the atlas in texels.
    size: u32,
    padding: u32,
    poses: AtlasPoses,
    /// Poses beside the rest pose in which stretch is measured.
    pose_count: usize,
    seconds: f64,
    notes: &'a [String],
}

const GLOSSARY: [(&str, &str); 7] = [
    (
        "Stretch",
        "how unevenly a texture covers the surface (L2, Sander and others 2001): the root mean square, over the area, of how \
         long a texel is in its two directions, beside an atlas without any stretch. 1 is perfect.",
    ),
    (
        "Stretch, poses",
        "the mean of the stretch in each pose; worst pose is the largest of these.",
    ),
    (
        "Worst triangle",
        "the largest stretch of a single triangle within its chart, over all poses together.",
    ),
    (
        "Seam length",
        "the length of all borders between charts, over the root of the area: of a cube cut along all edges it is 4.9.",
    ),
    ("Packing", "the share of the atlas that charts cover."),
    (
        "Texture efficiency",
        "the share of the texels that an even covering would need: packing over the square of the stretch over poses.",
    ),
    (
        "Texels per unit",
        "how many texels a length of one model unit has.",
    ),
];

/// All that there is to tell but for pictures and charts.
pub(crate) fn atlas_report(job: &UnwrapJob<'_>) -> anyhow::Result<Report> {
    let unwrapped = job.unwrapped;
    let document = &unwrapped.document;
    let mut notes = unwrapped.notes.clone();
    notes.extend(job.notes.clone());
    let verdict = verdict(job);
    let facts = Facts {
        verdict: verdict.clone(),
        measures: &unwrapped.measures,
        set: unwrapped.set,
        size: job.args.size,
        padding: job.args.padding,
        poses: unwrapped.poses,
        pose_count: pose_count(job),
        seconds: job.seconds,
        notes: &notes,
    };
    let file = job.args.input.file_name().unwrap_or_default();
    let bones = document.skin.as_ref();
    let bones = bones.map_or(0, |skin| skin.skeleton.bone_count());
    Ok(Report {
        heading: format!("A texture atlas for {}", file.to_string_lossy()),
        subject: subject(&document.mesh, bones),
        command: super::command_line(),
        data: serde_json::to_value(&facts).context("numbers are plain JSON")?,
        resolved: Map::new(),
        blocks: vec![
            Block::Sentences(vec![verdict]),
            Block::Table(table()),
            Block::Sentences(sentences(job)),
            Block::Remarks(notes),
        ],
        glossary: GLOSSARY.to_vec(),
    })
}

fn table() -> Table {
    let column = |key: &str, heading, format| Column::new(key, heading, format);
    Table {
        names: "",
        columns: vec![
            column("/charts", ["", "charts"], Format::Count),
            column("/seamLength", ["seam", "length"], Format::Number(2)),
            column("/stretchAtRest", ["stretch,", "at rest"], Format::Number(3)),
            column(
                "/stretchOverPoses",
                ["stretch,", "poses"],
                Format::Number(3),
            ),
            column("/worstPoseStretch", ["worst", "pose"], Format::Number(3)),
            column("/worstTriangle", ["worst", "triangle"], Format::Number(2)),
            column("/packing", ["", "packing"], Format::Share(1)),
            column(
                "/textureEfficiency",
                ["texture", "efficiency"],
                Format::Share(1),
            ),
            column("/texelsPerUnit", ["texels", "per unit"], Format::Number(1)),
        ],
        rows: vec![Row::new("atlas", "")],
        ..Table::default()
    }
}

/// Poses that were measured beside the rest pose.
fn pose_count(job: &UnwrapJob<'_>) -> usize {
    job.unwrapped.shapes.len().saturating_sub(1)
}

/// What the poses are, after their number: "48 poses of the clips"; nothing when there is the rest pose alone.
pub(super) fn pose_words(job: &UnwrapJob<'_>) -> Option<String> {
    let count = pose_count(job);
    let has_skin = job.unwrapped.document.skin.is_some();
    let of = match job.unwrapped.poses {
        _ if count == 0 => return None,
        _ if !has_skin => return Some(plural(count, "frame")),
        AtlasPoses::Limits => "within the joint limits",
        AtlasPoses::MadeUp => "that were made up",
        AtlasPoses::Clips | AtlasPoses::AnyRotation | AtlasPoses::Rest => "of the clips",
    };
    Some(format!("{} {of}", plural(count, "pose")))
}

/// The whole in a sentence.
pub(super) fn verdict(job: &UnwrapJob<'_>) -> String {
    let AtlasMeasures {
        charts,
        stretch_at_rest: rest,
        stretch_over_poses: mean,
        packing,
        ..
    } = job.unwrapped.measures;
    let stretch = match pose_words(job) {
        Some(words) => format!("stretch {mean:.3} over {words} ({rest:.3} at rest)"),
        None => format!("stretch {rest:.3} at rest"),
    };
    let size = job.args.size;
    format!(
        "{}, {stretch}, {:.0}% of a {size} x {size} atlas covered",
        plural(charts, "chart"),
        100.0 * packing
    )
}

fn sentences(job: &UnwrapJob<'_>) -> Vec<String> {
    let has_skin = job.unwrapped.document.skin.is_some();
    let poses = match job.unwrapped.poses {
        AtlasPoses::Clips if has_skin => "the poses of the clips",
        AtlasPoses::Clips => "the frames",
        AtlasPoses::Limits => "poses within the joint limits that the file records",
        AtlasPoses::MadeUp => {
            "made-up poses, every joint turned by up to 60°: the file has no limits"
        }
        AtlasPoses::AnyRotation => "joints that turn freely, each apart from the others",
        AtlasPoses::Rest => "the rest pose alone",
    };
    vec![
        format!(
            "made for {poses}; the UVs are TEXCOORD_{}",
            job.unwrapped.set
        ),
        "stretch 1 is none; seams are measured in roots of the area".to_owned(),
    ]
}
