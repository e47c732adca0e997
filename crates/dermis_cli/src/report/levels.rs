//! The report of levels of detail.

use anyhow::Context;
use dermis::document::LevelPoses;
use dermis::measure::Cost;
use serde::Serialize;
use serde_json::Map;

use super::model::{Block, Column, Format, Level, Report, Row, Table, subject};
use crate::cmd::lod::{Judgement, LodJob, PICTURE};
use crate::talk::plural;

/// One row of what is said: the full character, or a level.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LevelRow {
    triangles: usize,
    vertices: usize,
    influences: usize,
    bones: usize,
    bytes: f64,
    /// Root mean square distances from the full character, as shares of its size in per cent.
    rms_percent: Option<f64>,
    clips_rms_percent: Option<f64>,
    /// In the same poses, that of the character simplified at rest alone to as many triangles; with a page only.
    rest_only_rms_percent: Option<f64>,
    /// Largest distance of its own points from the full character in the same poses; with a page only.
    stands_out_percent: Option<f64>,
    guaranteed_percent: Option<f64>,
    /// Largest distance between two points that show one texel, root mean square over poses; with textures only.
    texture_percent: Option<f64>,
    /// The same, root mean square over the textured surface as well.
    texture_rms_percent: Option<f64>,
    /// From this distance on, in model units, the largest root mean square of any point is below the pixels asked for.
    distance: Option<f64>,
}

/// Everything that is said; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    verdict: String,
    size: f64,
    poses: LevelPoses,
    pixels: f64,
    levels: Vec<LevelRow>,
    notes: Vec<String>,
}

/// All that there is to tell but for pictures and charts.
pub(crate) fn levels_report(job: &LodJob<'_>) -> anyhow::Result<Report> {
    let document = &job.leveled.document;
    let levels = (0..document.level_count())
        .map(|number| level_row(job, number))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut notes = job.leveled.notes.clone();
    notes.extend(better_at_rest(job));
    notes.extend(spikes(job));
    let table = table(&levels);
    let sentences = sentences(job, &levels);
    let facts = Facts {
        verdict: verdict(job, &levels),
        size: job.size,
        poses: job.leveled.poses,
        pixels: job.args.pixels,
        levels,
        notes: notes.clone(),
    };
    let file = job.args.input.file_name().unwrap_or_default();
    let bones = document.skin.as_ref();
    let bones = bones.map_or(0, |skin| skin.skeleton.bone_count());
    Ok(Report {
        heading: format!(
            "{} of {}",
            plural(document.levels.len(), "level"),
            file.to_string_lossy()
        ),
        subject: subject(&document.mesh, bones),
        command: super::command_line(),
        data: serde_json::to_value(&facts).context("numbers are plain JSON")?,
        resolved: Map::new(),
        blocks: vec![
            Block::Table(table),
            Block::Sentences(sentences),
            Block::Remarks(notes),
        ],
        glossary: GLOSSARY.to_vec(),
    })
}

const GLOSSARY: [(&str, &str); 9] = [
    (
        "Size",
        "the diagonal of the box around the mesh at rest; errors are shares of it.",
    ),
    (
        "RMS, poses",
        "root mean square distance of the full surface from the level, over the sixteen poses that it is made for; each \
         point has one foot on the level in all of them.",
    ),
    (
        "RMS, clips",
        "distance of the full character's points from the level's surface, over up to 24 poses of the clips.",
    ),
    (
        "RMS, rest only",
        "the same, of the character simplified to as many triangles by its rest pose alone.",
    ),
    (
        "Stands out, at most",
        "largest distance of the level's own points from the full character in the same poses: spikes show here alone.",
    ),
    (
        "Bound, legal",
        "guaranteed: no point of the full surface is farther from the level in any legal pose.",
    ),
    (
        "Texture, at most",
        "largest distance between the two points, of the level and of the full surface, that show the same place of the \
         texture, root mean square over the sixteen poses.",
    ),
    (
        "Texture, RMS",
        "the same, root mean square over the surface as well: how far textures slide.",
    ),
    (
        "Drawn from",
        "distance from which on a level may be drawn: the farthest point, root mean square over poses, moves by no more than the pixels asked for.",
    ),
];

fn level_row(job: &LodJob<'_>, number: usize) -> anyhow::Result<LevelRow> {
    let document = &job.leveled.document;
    let level = document.at_level(number).unwrap_or_default();
    let skin = level.expect_skin()?;
    let cost = Cost::of(skin);
    let points = level.mesh.vertex_count();
    let before = number.checked_sub(1);
    let record = before.map(|at| document.levels[at].record);
    let percent = |error: Option<f64>| error.map(|error| 100.0 * error / job.size);
    let judged = || before.zip(job.judged.as_ref());
    let own = judged().and_then(|(at, judged)| judged.levels.get(at));
    let rest_only = judged().and_then(|(at, judged)| judged.rest_only.get(at));
    let texture = before.and_then(|at| job.leveled.shapes[at].texture);
    let mut bones: Vec<_> = skin.program.bones().collect();
    bones.sort_unstable();
    bones.dedup();
    Ok(LevelRow {
        triangles: level.mesh.triangles().len(),
        vertices: level.draw.vertex_count(),
        influences: (cost.mean_influences * points as f64).round() as usize,
        bones: bones.len(),
        bytes: cost.bytes_per_vertex * points as f64,
        rms_percent: percent(record.and_then(|r| r.rms_error)),
        clips_rms_percent: percent(record.and_then(|r| r.clips_rms_error)),
        rest_only_rms_percent: percent(rest_only.map(|form| form.rms())),
        stands_out_percent: percent(own.map(|form| form.stands_out)),
        guaranteed_percent: percent(record.and_then(|r| r.guaranteed_error)),
        texture_percent: percent(texture.map(|texture| texture.largest)),
        texture_rms_percent: percent(texture.map(|texture| texture.rms)),
        distance: before
            .map(|at| PICTURE.depth(job.leveled.shapes[at].largest_error, job.args.pixels)),
    })
}

fn has(levels: &[LevelRow], value: fn(&LevelRow) -> Option<f64>) -> bool {
    levels.iter().any(|row| value(row).is_some())
}

fn table(levels: &[LevelRow]) -> Table {
    let mut columns = vec![
        Column::new("/triangles", ["", "triangles"], Format::Count),
        Column::new("/vertices", ["", "vertices"], Format::Count),
        Column::new("/influences", ["", "influences"], Format::Count),
        Column::new("/bytes", ["", "bytes"], Format::Number(0)),
        Column::new("/rmsPercent", ["RMS %,", "poses"], Format::Number(3)),
    ];
    if has(levels, |row| row.clips_rms_percent) {
        let heading = ["RMS %,", "clips"];
        columns.push(Column::new("/clipsRmsPercent", heading, Format::Number(3)));
    }
    if has(levels, |row| row.rest_only_rms_percent) {
        let heading = ["RMS %,", "rest only"];
        let column = Column::new("/restOnlyRmsPercent", heading, Format::Number(3));
        columns.push(column.at(Level::Wide));
    }
    if has(levels, |row| row.stands_out_percent) {
        let heading = ["stands out %,", "at most"];
        let column = Column::new("/standsOutPercent", heading, Format::Number(2));
        columns.push(column.at(Level::Wide));
    }
    if has(levels, |row| row.guaranteed_percent) {
        let heading = ["bound %,", "legal"];
        let key = "/guaranteedPercent";
        columns.push(Column::new(key, heading, Format::Number(2)));
    }
    if has(levels, |row| row.texture_percent) {
        let heading = ["texture %,", "at most"];
        let column = Column::new("/texturePercent", heading, Format::Number(2));
        columns.push(column.at(Level::Wide));
        let column = Column::new(
            "/textureRmsPercent",
            ["texture %,", "RMS"],
            Format::Number(3),
        );
        columns.push(column.at(Level::Wide));
    }
    let heading = ["drawn", "from"];
    columns.push(Column::new("/distance", heading, Format::Number(2)));
    let row = |number: usize| Row::new(number.to_string(), format!("/levels/{number}"));
    Table {
        names: "level",
        columns,
        rows: (0..levels.len()).map(row).collect(),
        ..Table::default()
    }
}

fn sentences(job: &LodJob<'_>, levels: &[LevelRow]) -> Vec<String> {
    let poses = match job.leveled.poses {
        LevelPoses::Clips => "the poses of the clips",
        LevelPoses::Limits => "poses within the joint limits that the file records",
        LevelPoses::MadeUp => {
            "made-up poses, every joint turned by up to 60°: the file has no clips and no limits"
        }
    };
    let mut sentences = vec![
        format!(
            "made for {poses}; errors are shares of the size, {:.4}",
            job.size
        ),
        format!(
            "drawn from: beyond this distance no point is off by more than {}, root mean square over poses, \
             in a picture of 1920 by 1080 and 90°",
            plural_pixels(job.args.pixels)
        ),
    ];
    if has(levels, |row| row.guaranteed_percent) {
        sentences.push(format!(
            "bound: in {}, no point is farther off, guaranteed",
            job.leveled.assumes.description()
        ));
    }
    sentences
}

fn plural_pixels(pixels: f64) -> String {
    match pixels == pixels.round() && pixels < 1e9 {
        true => plural(pixels as usize, "pixel"),
        false => format!("{pixels} pixels"),
    }
}

/// The level that is told of, in a sentence.
fn verdict(job: &LodJob<'_>, levels: &[LevelRow]) -> String {
    let number = job.told() + 1;
    let (full, level) = (&levels[0], &levels[number]);
    let (counts, what) = match level.triangles < full.triangles {
        true => ([level.triangles, full.triangles], "triangles"),
        false => ([level.influences, full.influences], "influences"),
    };
    let judged = job.judged.as_ref().map(|judged| &judged.levels[number - 1]);
    let rms = judged.map(|form| 100.0 * form.rms() / job.size);
    let error = rms.or(level.clips_rms_percent).or(level.rms_percent);
    let error = error.unwrap_or_default();
    let place = match job.leveled.poses {
        LevelPoses::Clips => "in the clips",
        LevelPoses::Limits => "in poses within the joint limits",
        LevelPoses::MadeUp => "in made-up poses",
    };
    let mut sentence = format!(
        "Level {number} has {} of the {what} and is off by {}% of the size {place} (root mean square)",
        share(counts),
        rounded(error),
    );
    if let Some(form) = judged
        && has_spikes(form.stands_out, form.farthest, job.size)
    {
        let most = rounded(100.0 * form.stands_out / job.size);
        sentence += &format!(", but has spikes that stand out by up to {most}%");
    }
    if let Some(other) = level.rest_only_rms_percent {
        sentence += &format!(
            "; simplified at rest alone it would be off by {}%",
            rounded(other)
        );
    }
    sentence + "."
}

/// Levels that simplification at rest alone makes better in the same poses.
fn better_at_rest(job: &LodJob<'_>) -> Vec<String> {
    let Some(judged) = &job.judged else {
        return Vec::new();
    };
    let percent = |form: &Judgement| 100.0 * form.rms() / job.size;
    let pairs = judged.levels.iter().zip(&judged.rest_only).enumerate();
    let pairs = pairs.map(|(k, (level, rest))| (k + 1, percent(level), percent(rest)));
    pairs
        .filter(|(_, level, rest)| *rest < 0.95 * level)
        .map(|(number, level, rest)| {
            format!(
                "level {number} is off by {}%: in these poses, what is simplified at rest alone is nearer, {}%",
                rounded(level),
                rounded(rest)
            )
        })
        .collect()
}

/// A sentence for each level that has spikes.
fn spikes(job: &LodJob<'_>) -> Vec<String> {
    let levels = job.judged.iter().flat_map(|judged| &judged.levels);
    (levels.enumerate())
        .filter(|(_, form)| has_spikes(form.stands_out, form.farthest, job.size))
        .map(|(k, form)| {
            format!(
                "level {} has spikes: a point of it is {}% of the size away from the full character, whose own points are \
                 at most {}% away from the level",
                k + 1,
                rounded(100.0 * form.stands_out / job.size),
                rounded(100.0 * form.farthest / job.size)
            )
        })
        .collect()
}

/// Whether points of a level are far from anything of the full character, by far more than its points are from the level:
/// a surface that cuts a corner strays about as far both ways.
fn has_spikes(stands_out: f64, farthest: f64, size: f64) -> bool {
    stands_out > 0.01 * size && stands_out > 3.0 * farthest
}

/// A share in words where there are some for it.
fn share([part, whole]: [usize; 2]) -> String {
    const WORDS: [(f64, &str); 7] = [
        (0.5, "half"),
        (1.0 / 3.0, "a third"),
        (0.25, "a quarter"),
        (0.2, "a fifth"),
        (0.125, "an eighth"),
        (0.1, "a tenth"),
        (0.05, "a twentieth"),
    ];
    let share = part as f64 / whole.max(1) as f64;
    let near = |(value, _): &&(f64, &str)| (share / value - 1.0).abs() < 0.02;
    match WORDS.iter().find(near) {
        Some((_, words)) => (*words).to_owned(),
        None => format!("{}%", rounded(100.0 * share)),
    }
}

/// A number with two digits that say something.
pub(super) fn rounded(number: f64) -> String {
    match number {
        0.0 => "0".to_owned(),
        ..1e-3 => format!("{number:.0e}"),
        10.0.. => format!("{number:.0}"),
        _ => {
            let digits = (1.0 - number.log10().floor()) as usize;
            format!("{number:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_words_where_they_are_near_to_some() {
        assert_eq!(share([2336, 4672]), "half", "exactly");
        assert_eq!(share([251, 1000]), "a quarter", "nearly");
        assert_eq!(share([672, 4672]), "14%", "no word for it");
        assert_eq!(share([100, 1000]), "a tenth", "exactly");
    }

    #[test]
    fn what_stands_out_by_far_more_than_it_misses_has_spikes() {
        assert!(has_spikes(0.36, 0.007, 1.0), "a needle");
        assert!(!has_spikes(0.02, 0.015, 1.0), "a corner that is cut");
        assert!(!has_spikes(0.009, 0.0001, 1.0), "too small to be seen");
        assert!(!has_spikes(0.36, 0.007, 100.0), "of a large character");
    }

    #[test]
    fn numbers_keep_two_digits() {
        for (number, text) in [
            (0.0912, "0.091"),
            (1.644, "1.6"),
            (12.4, "12"),
            (0.0, "0"),
            (0.61, "0.61"),
            (1.2e-9, "1e-9"),
        ] {
            assert_eq!(rounded(number), text, "{number}");
        }
    }
}
