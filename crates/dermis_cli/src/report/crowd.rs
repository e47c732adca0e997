//! The report of a crowd.

use anyhow::Context;
use serde::Serialize;
use serde_json::Map;

use super::gallery::Picture;
use super::model::{Block, Column, Figure, Format, Level, Part, Report, Row, Table, subject};
use crate::cmd::crowd::CrowdJob;
use crate::talk::plural;

/// Errors below this share of a pixel, and times below this many milliseconds, are nothing.
const NOTHING: f64 = 1e-9;

/// What some instances cost; of one level, of all, or of all without culling and levels.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Costs {
    instances: u64,
    /// Of these, how many are on the way to the next level.
    morphing: u64,
    triangles: u64,
    vertices: u64,
    influences: u64,
    /// Matrices of bones.
    matrices: u64,
    /// How far the full character is from the level, in model units; of levels only.
    error: Option<f64>,
}

/// How many times less there is to do, each beside the one before.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Savings {
    /// Instances over those that are drawn.
    culling: f64,
    /// Vertices of those, all in full, over vertices that are drawn.
    levels: f64,
    /// Influences of a vertex of the full character over those of a vertex that is drawn.
    influences_per_vertex: f64,
    /// Influences of the vertices that are drawn over those evaluated: below 1, because vertices that move over to the next
    /// level are posed as in both.
    moving_over: f64,
    /// Influences of all instances in full over those evaluated: the product of the four.
    product: f64,
    /// Triangles of all instances in full over those that are drawn.
    triangles: f64,
}

#[derive(Debug, Serialize)]
struct Stage {
    ms: Option<f64>,
    /// Of the stages that the card timed.
    share: Option<f64>,
}

/// Everything that is said; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    verdict: String,
    adapter: String,
    is_software: bool,
    size: [u32; 2],
    pixels: f64,
    instances: u64,
    culled: u64,
    levels: Vec<Costs>,
    drawn: Costs,
    all_in_full: Costs,
    savings: Savings,
    stages: Vec<Stage>,
    frames: usize,
    /// The sphere that instances are culled by, in model units.
    sphere_radius: f64,
    /// Steps a second that clips are played from, and how far a vertex strays from its clip between them.
    steps_per_second: f64,
    step_error: f64,
    notes: Vec<String>,
}

const STAGES: [&str; 5] = [
    "cull and choose levels",
    "palettes",
    "skin and draw",
    "hand over (processor)",
    "whole frame",
];

/// All that there is to tell but for the picture.
pub(crate) fn crowd_report(job: &CrowdJob<'_>) -> anyhow::Result<Report> {
    let facts = facts(job);
    let sentences = sentences(job, &facts);
    let file = job.args.input.file_name().unwrap_or_default();
    let bones = job.character.moves.bone_count();
    let blocks = vec![
        Block::Table(levels_table(&facts)),
        Block::Sentences(sentences),
        Block::Table(stages_table()),
        Block::Sentences(clock(job)),
        Block::Remarks(facts.notes.clone()),
    ];
    Ok(Report {
        heading: format!("{} times {}", facts.instances, file.to_string_lossy()),
        subject: subject(&job.document.mesh, bones),
        command: super::command_line(),
        data: serde_json::to_value(&facts).context("numbers are plain JSON")?,
        resolved: Map::new(),
        blocks,
        glossary: GLOSSARY.to_vec(),
    })
}

/// The picture.
pub(crate) fn crowd_figures(job: &CrowdJob<'_>) -> Vec<Figure> {
    let [width, height] = job.args.size;
    let picture = Picture {
        alt: format!("a crowd of {} instances", job.counts.instances),
        image: job.picture.clone(),
        mark: None,
    };
    let words = format!("{width} by {height} pixels, {}", job.adapter);
    vec![Figure {
        heading: "The crowd",
        parts: vec![Part::Wide(picture, words)],
        note: String::new(),
    }]
}

const GLOSSARY: [(&str, &str); 7] = [
    (
        "Culled",
        "the sphere around the instance is outside the picture: none of its pixels can be seen.",
    ),
    (
        "Moving over",
        "instances on the way to the next level: their vertices are posed as in both, and blended.",
    ),
    (
        "Influences",
        "bones that act on a vertex, over all vertices of all instances, as the shader sums them.",
    ),
    (
        "Matrices",
        "one for each bone that the level of an instance uses.",
    ),
    (
        "Error",
        "the largest distance between the surfaces of the full character and the level in the poses of the clips, in model \
         units; with --guaranteed, in every legal pose.",
    ),
    (
        "All in full",
        "every instance, seen or not, as the full character: what there would be to do without any of it.",
    ),
    (
        "Stages",
        "the first three by the clock of the graphics card; the last one on the processor, until the picture was there.",
    ),
];

fn facts(job: &CrowdJob<'_>) -> Facts {
    let counts = &job.counts;
    let levels: Vec<Costs> = (0..job.character.levels.len())
        .map(|level| Costs {
            instances: counts.drawn[level],
            morphing: counts.morphing[level],
            triangles: counts.triangles[level],
            vertices: counts.vertices[level],
            influences: counts.influences[level],
            matrices: counts.bones[level],
            error: Some(f64::from(job.character.levels[level].error)),
        })
        .collect();
    let sum = |of: &dyn Fn(&Costs) -> u64| levels.iter().map(of).sum();
    let drawn = Costs {
        instances: sum(&|c| c.instances),
        morphing: sum(&|c| c.morphing),
        triangles: sum(&|c| c.triangles),
        vertices: sum(&|c| c.vertices),
        influences: sum(&|c| c.influences),
        matrices: sum(&|c| c.matrices),
        error: None,
    };
    let full = &job.character.levels[0];
    let all_in_full = Costs {
        instances: counts.instances,
        morphing: 0,
        triangles: counts.instances * full.triangles.len() as u64,
        vertices: counts.instances * full.vertex_count() as u64,
        influences: counts.instances * full.influences,
        matrices: counts.instances * job.character.bones_of_level(0).len() as u64,
        error: None,
    };
    let savings = savings(job, &drawn, &all_in_full);
    let moves = &job.character.moves;
    Facts {
        verdict: verdict(&drawn, &all_in_full, &savings),
        adapter: job.adapter.clone(),
        is_software: job.is_software,
        size: job.args.size,
        pixels: job.args.pixels,
        instances: counts.instances,
        culled: counts.culled(),
        levels,
        drawn,
        all_in_full,
        savings,
        stages: stages(job),
        frames: job.args.frames,
        sphere_radius: job.character.ball.radius,
        steps_per_second: moves.largest_rate(),
        step_error: f64::from(moves.error),
        notes: job.notes.clone(),
    }
}

fn over(a: u64, b: u64) -> f64 {
    a as f64 / b.max(1) as f64
}

fn savings(job: &CrowdJob<'_>, drawn: &Costs, all: &Costs) -> Savings {
    let full = &job.character.levels[0];
    let in_full = drawn.instances * full.vertex_count() as u64;
    let per_vertex = over(full.influences, full.vertex_count() as u64);
    let levels = job.character.levels.iter().zip(&job.counts.drawn);
    let own: u64 = levels.map(|(level, count)| count * level.influences).sum();
    Savings {
        culling: over(all.instances, drawn.instances),
        levels: over(in_full, drawn.vertices),
        influences_per_vertex: per_vertex / over(own, drawn.vertices).max(NOTHING),
        moving_over: over(own, drawn.influences),
        product: over(all.influences, drawn.influences),
        triangles: over(all.triangles, drawn.triangles),
    }
}

fn verdict(drawn: &Costs, all: &Costs, savings: &Savings) -> String {
    if drawn.instances == 0 {
        return "The camera sees none of the instances.".to_owned();
    }
    format!(
        "{} of {} are drawn, with {:.1}% of the triangles and {:.1}% of the influences of all in full. Influences: {:.1} times \
         fewer = {:.2} (culling) × {:.2} (fewer vertices) × {:.2} (fewer a vertex) × {:.2} (moving over).",
        drawn.instances,
        plural(all.instances as usize, "instance"),
        100.0 * over(drawn.triangles, all.triangles),
        100.0 * over(drawn.influences, all.influences),
        savings.product,
        savings.culling,
        savings.levels,
        savings.influences_per_vertex,
        savings.moving_over,
    )
}

fn stages(job: &CrowdJob<'_>) -> Vec<Stage> {
    let times = &job.times;
    let of_card = [times.choose, times.palettes, times.draw];
    let sum: f64 = of_card.iter().flatten().sum();
    let timed = of_card.map(|ms| Stage {
        ms,
        share: ms.filter(|_| sum > NOTHING).map(|ms| ms / sum),
    });
    let own = [times.submit, times.total].map(|ms| Stage {
        ms: Some(ms),
        share: None,
    });
    timed.into_iter().chain(own).collect()
}

fn levels_table(facts: &Facts) -> Table {
    let count = |key: &str, above, below| Column::new(key, [above, below], Format::Count);
    let mut rows: Vec<Row> = (0..facts.levels.len())
        .map(|number| Row::new(number.to_string(), format!("/levels/{number}")))
        .collect();
    rows.push(Row {
        is_chosen: true,
        ..Row::new("drawn", "/drawn")
    });
    rows.push(Row::new("all in full", "/allInFull"));
    Table {
        names: "level",
        columns: vec![
            count("/instances", "", "instances"),
            count("/morphing", "moving", "over"),
            count("/triangles", "", "triangles"),
            count("/vertices", "", "vertices").at(Level::Wide),
            count("/influences", "", "influences"),
            count("/matrices", "", "matrices"),
            Column::new("/error", ["", "error"], Format::Error),
        ],
        rows,
        ..Table::default()
    }
}

fn stages_table() -> Table {
    let row = |(number, name): (usize, &&str)| Row::new(*name, format!("/stages/{number}"));
    Table {
        names: "stage",
        columns: vec![
            Column::new("/ms", ["", "ms"], Format::Number(2)),
            Column::new("/share", ["", "share"], Format::Share(1)),
        ],
        rows: STAGES.iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}

fn sentences(job: &CrowdJob<'_>, facts: &Facts) -> Vec<String> {
    let mut sentences = vec![facts.verdict.clone()];
    let culling = match job.args.no_culling {
        true => "Nothing is culled, as asked.".to_owned(),
        false => format!("{} culled.", plural(facts.culled as usize, "instance")),
    };
    let levels = match job.args.level {
        Some(level) => format!(" Every instance is drawn with level {level}, as asked."),
        None if facts.levels.len() > 1 => format!(
            " Levels are off by at most {} in a picture of {} by {}.",
            match job.args.pixels {
                1.0 => "1 pixel".to_owned(),
                pixels => format!("{pixels} pixels"),
            },
            facts.size[0],
            facts.size[1]
        ),
        None => String::new(),
    };
    sentences.push(culling + &levels);
    if !job.document.clips.is_empty() {
        sentences.push(format!(
            "Clips are played from up to {:.0} steps a second; between them no vertex strays by more than {}.",
            facts.steps_per_second,
            super::short(facts.step_error)
        ));
    }
    sentences
}

/// What times mean.
fn clock(job: &CrowdJob<'_>) -> Vec<String> {
    let frames = match job.args.frames {
        1 => "one frame".to_owned(),
        count => format!("the mean of {count} frames"),
    };
    let mut sentences = vec![format!("Times are those of {frames} on {}.", job.adapter)];
    if job.is_software {
        sentences.push(
            "This is a program on the processor in the place of a graphics card: compare times with each other only."
                .to_owned(),
        );
    }
    if job.times.draw.is_none() {
        sentences.push("It has no clock for single stages.".to_owned());
    }
    sentences
}
