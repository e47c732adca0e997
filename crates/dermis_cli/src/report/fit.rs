//! The report of a fit.

use dermis::fit::{
    AnimSpaceOptions, Candidate, Choice, EngineReport, FitReport, Method, Shown, Smoothing, Target,
    TestMeasures, fit_verdict,
};
use serde_json::{Map, Value, json};

use super::charts::{example_chart, round_chart};
use super::damage::{DamageOfFit, damage_remarks};
use super::gallery::{Gallery, PoseShown};
use super::model::{
    Block, Column, Figure, Format, Level, Part, Report, Row, Table, short, subject,
};
use super::pictures::{Shot, choose_examples, skin_for};
use super::proxies;
use super::remarks::rig_remarks;
use crate::cmd::fit::{Chosen, FitJob};
use crate::talk::Talk;

/// What words mean wherever a skin is measured on examples.
pub(super) const GLOSSARY: [(&str, &str); 4] = [
    (
        "E_RMS",
        "root mean square error of a coordinate, times 1000, with the first example scaled to fit a ball of radius 1.",
    ),
    (
        "EE ± sd",
        "the error as a share of the error when every vertex follows one bone rigidly (100% means that blending gained \
         nothing), and the standard deviation over vertices of the error of each, both in per cent.",
    ),
    (
        "Distances and normals",
        "distances are shares of the diagonal of the rest mesh's box; angles are those between area-weighted vertex \
         normals.",
    ),
    (
        "Held out",
        "examples that the fit did not see. A skin that is written is fitted to all of them, but never to those of a test \
         set.",
    ),
];

/// All that there is to tell but for pictures and charts.
pub(crate) fn fit_report(job: &FitJob<'_>, fitted: &FitReport, engine: &EngineReport) -> Report {
    let set = &job.prepared.set;
    let mut blocks = vec![
        Block::Table(errors(fitted, engine)),
        Block::Sentences(sentences(job, fitted)),
    ];
    if let Chosen::Best(choice) = &job.choice {
        blocks.push(Block::Table(candidates(choice)));
    }
    blocks.push(Block::Remarks(remarks(job, fitted)));
    let mut glossary = GLOSSARY.to_vec();
    glossary.push((
        "Position error",
        "the error as a share of the error when nothing moves at all.",
    ));
    glossary.push((
        "Stock engines",
        "what players that know only plain glTF show instead of the skin, measured as the skin is; without such rows they \
         show the skin itself.",
    ));
    Report {
        heading: format!(
            "{}, fitted to {} examples",
            super::capitalized(job.method().title()),
            set.examples().len()
        ),
        subject: subject(set.rest(), fitted.cost.palette_size),
        command: job.command.clone(),
        data: data(job, fitted, engine),
        resolved: Map::from_iter([("method".to_owned(), method_data(job.method()))]),
        blocks,
        glossary,
    }
}

/// What the page shows beside that: the worst example and typical ones, and errors as curves.
pub(crate) fn fit_figures(
    job: &FitJob<'_>,
    fitted: &FitReport,
    talk: &Talk,
) -> anyhow::Result<Vec<Figure>> {
    // The only line needs no name.
    let fits = std::iter::once(("", fitted));
    let mut figures = vec![
        Figure {
            heading: "What it looks like",
            parts: pictures(job, fitted, talk)?,
            note: format!(
                "The ring is at the worst vertex, dashed where the surface hides it. {}",
                match fitted.held_out {
                    Some(_) => "Held-out poses are shown with a skin that has not seen them.",
                    None => "No pose was held out: the errors say nothing about poses not given.",
                }
            ),
        },
        Figure::chart("Error of each example", example_chart(fits), ""),
    ];
    if fitted.round_errors.len() > 1 {
        figures.push(Figure::chart(
            "Error after each round",
            round_chart(fitted),
            "",
        ));
    }
    Ok(figures)
}

/// The worst example and typical ones.
fn pictures(job: &FitJob<'_>, fitted: &FitReport, talk: &Talk) -> anyhow::Result<Vec<Part>> {
    let set = &job.prepared.set;
    let mut poses = Vec::new();
    for c in choose_examples(fitted) {
        let example = &set.examples()[c.index];
        let shot = Shot::of(set, skin_for(fitted, c.index), c.index)?;
        poses.push(PoseShown {
            title: format!("{}: {}", super::capitalized(c.why), example.name),
            name: format!("example {}", example.name),
            truth: &example.positions,
            shots: vec![(job.method().title().to_owned(), shot)],
        });
    }
    let gallery = Gallery {
        mesh: set.rest(),
        up: job.up,
        size: set.size(),
        truth_name: "truth",
        colors: None,
        colors_mean: "",
    };
    gallery.draw(&poses, talk)
}

/// A row for each kind of examples.
fn errors(fitted: &FitReport, engine: &EngineReport) -> Table {
    let mut rows = vec![("all (skin as written)", "/overall")];
    if fitted.held_out.is_some() {
        rows.splice(..0, [("fitted to", "/training"), ("held out", "/heldOut")]);
    }
    if engine.shown != Shown::Itself {
        let held_out = engine.held_out.as_ref();
        rows.extend(held_out.map(|_| ("held out, stock engines", "/stockEngines/heldOut")));
        rows.push(("all, stock engines", "/stockEngines/overall"));
    }
    let row = |(name, at): (&str, &str)| Row::new(name, at);
    let tests = fitted.tests.iter().enumerate();
    let tests = tests.map(|(number, test)| {
        Row::new(
            format!("test: {}", test.name),
            format!("/tests/{number}/total"),
        )
    });
    let column = |key: &str, heading, format| Column::new(key, ["", heading], format);
    let deviation = Format::Deviating("/envelopingErrorDeviationPercent".to_owned());
    let wide =
        |key: &str, heading, digits| column(key, heading, Format::Degrees(digits)).at(Level::Wide);
    Table {
        names: "examples",
        columns: vec![
            column("/exampleCount", "count", Format::Count),
            column("/eRms", "E_RMS", Format::Error),
            column("/envelopingErrorPercent", "EE ± sd %", deviation),
            column(
                "/positionErrorPercent",
                "position error %",
                Format::Number(2),
            )
            .at(Level::Pages),
            column("/meanDistance", "mean dist", Format::Share(4)),
            column("/maxDistance", "max dist", Format::Share(4)),
            wide("/meanNormalAngleDeg", "normal", 2),
            wide("/maxNormalAngleDeg", "worst", 1),
        ],
        rows: rows.into_iter().map(row).chain(tests).collect(),
        ..Table::default()
    }
}

/// What the skin costs, and how it was smoothed.
fn sentences(job: &FitJob<'_>, fitted: &FitReport) -> Vec<String> {
    let cost = &fitted.cost;
    let mut sentences = vec![format!(
        "{}: {} vertices, {} bones, {:.2} influences per vertex (at most {}), {:.1} bytes per vertex, {} bytes of \
         matrices per frame, fitted in {:.2} s",
        job.method().title(),
        job.prepared.set.rest().vertex_count(),
        cost.palette_size,
        cost.mean_influences,
        cost.max_influences,
        cost.bytes_per_vertex,
        cost.bytes_per_frame,
        fitted.fit_seconds
    )];
    if let Some(smoothing) = fitted.smoothing {
        let flag = match job.method() {
            Method::Psd(_) => "--smoothing",
            Method::MultiWeight(_) => "--lambda",
            Method::AnimSpace(AnimSpaceOptions {
                smoothing: Smoothing::Ridge { .. },
                ..
            }) => "--lambda",
            _ => "--delta",
        };
        sentences.push(format!("smoothing {smoothing} ({flag})"));
    }
    sentences
}

/// What was tried, the chosen one marked.
fn candidates(choice: &Choice) -> Table {
    let words = |candidate: &Candidate| match &candidate.outcome {
        Err(error) => error.to_string(),
        Ok(tried) => match &tried.obstacle {
            Some(obstacle) => obstacle.to_string(),
            None if tried.held_out == tried.model_held_out => String::new(),
            None => format!("stand-in; the model {}", short(tried.model_held_out.e_rms)),
        },
    };
    let row = |(number, candidate): (usize, &Candidate)| {
        let is_chosen = number == choice.chosen;
        let words = match is_chosen {
            true => "chosen".to_owned(),
            false => words(candidate),
        };
        let at = format!("/choice/candidates/{number}");
        Row {
            is_chosen,
            ..Row::new(candidate.method.key(), at).saying("/obstacle", words)
        }
    };
    let column = |key: &str, heading, format| Column::new(key, ["", heading], format);
    let enveloping = "/heldOut/envelopingErrorPercent";
    Table {
        heading: "What was tried",
        names: "tried",
        columns: vec![
            column("/maxInfluences", "influences", Format::Count).at(Level::Wide),
            column("/heldOut/eRms", "E_RMS", Format::Error),
            column(enveloping, "EE %", Format::Number(2)),
            column("/wholeBytesPerVertex", "bytes/vertex", Format::Number(1)),
            column("/seconds", "seconds", Format::Number(2)),
            column("/obstacle", "", Format::Words),
        ],
        rows: choice.candidates.iter().enumerate().map(row).collect(),
        note: "Errors are those on held-out examples.",
        ..Table::default()
    }
}

/// What a user should know about the result beside the numbers.
fn remarks(job: &FitJob<'_>, fitted: &FitReport) -> Vec<String> {
    let mut remarks = Vec::new();
    if let (Method::Psd(options), Some(base)) = (job.method(), &fitted.base)
        && options.bases.len() > 1
    {
        let keys: Vec<&str> = options.bases.iter().map(Method::key).collect();
        remarks.push(format!(
            "shapes stand on {} (--base {}), of {} the best on examples left out of those that were fitted",
            base.title(),
            base.key(),
            keys.join(", ")
        ));
    }
    let damage = ("the skin", DamageOfFit::of(fitted));
    remarks.extend(damage_remarks(&job.prepared.set, &[damage]));
    remarks.extend(proxies::remarks(&job.prepared.set, job.method(), fitted));
    remarks.extend(rig_remarks(fitted));
    if let Chosen::Best(choice) = &job.choice {
        remarks.push(format!(
            "the method was chosen among {} as the smallest within 5% of the lowest error on held-out \
             examples, {}; that error is therefore a little lower than on poses that had no part in the \
             choice",
            choice.candidates.len(),
            match choice.target {
                Target::Engine => "as stock engines show them (--target dermis for the exact models)",
                Target::Dermis => "of the exact models (--target engine for what stock engines show)",
            }
        ));
    }
    remarks
}

/// All numbers, example by example.
fn data(job: &FitJob<'_>, fitted: &FitReport, engine: &EngineReport) -> Value {
    let choice = match &job.choice {
        Chosen::Asked(_) => Value::Null,
        Chosen::Best(choice) => choice_data(choice),
    };
    let held_out = fitted.held_out.as_ref();
    json!({
        "vertices": job.prepared.set.rest().vertex_count(),
        "method": job.method().key(),
        "base": fitted.base.as_ref().map(Method::key),
        "choice": choice,
        "overall": fitted.overall.total,
        "training": held_out.map(|h| &h.training.total),
        "heldOut": held_out.map(|h| &h.measured.total),
        "trainingExamples": held_out.map(|h| &h.training.examples),
        "heldOutExamples": held_out.map(|h| &h.measured.examples),
        "tests": tests_data(fitted),
        "stockEngines": engine_data(engine),
        "cost": fitted.cost,
        "proxies": proxies::summary(&job.prepared.set, job.method(), fitted),
        "rig": fitted.rig,
        "damage": DamageOfFit::of(fitted),
        "verdict": fit_verdict(job.method(), fitted, engine),
        "roundErrors": fitted.round_errors,
        "smoothing": fitted.smoothing,
        "fitSeconds": fitted.fit_seconds,
    })
}

/// The errors on sets that no fit has seen.
pub(super) fn tests_data(fitted: &FitReport) -> Vec<Value> {
    let test = |test: &TestMeasures| {
        json!({
            "name": test.name,
            "total": test.measured.total,
            "examples": test.measured.examples,
        })
    };
    fitted.tests.iter().map(test).collect()
}

/// A method with all its options, as text by name.
pub(crate) fn method_data(method: &Method) -> Value {
    let options = method.options().into_iter();
    let options: Map<String, Value> = options
        .map(|option| (option.name.to_owned(), Value::String(option.value)))
        .collect();
    json!({"name": method.key(), "options": options})
}

/// What stock engines show, measured.
pub(super) fn engine_data(engine: &EngineReport) -> Value {
    json!({
        "shows": match engine.shown {
            Shown::Itself => "theSkin",
            Shown::FourWeights(_) => "fourWeights",
            Shown::StandIn { .. } => "standIn",
            Shown::Exact(_) => "exactForm",
        },
        "overall": engine.overall,
        "heldOut": engine.held_out,
    })
}

fn choice_data(choice: &Choice) -> Value {
    let candidates: Vec<Value> = choice
        .candidates
        .iter()
        .map(|candidate| {
            let tried = candidate.outcome.as_ref().ok();
            json!({
                "method": candidate.method.key(),
                "maxInfluences": candidate.method.max_influences(),
                "heldOut": tried.map(|t| &t.held_out),
                "modelHeldOut": tried.map(|t| &t.model_held_out),
                "cost": tried.map(|t| &t.cost),
                "wholeBytesPerVertex": tried.map(|t| t.whole_bytes_per_vertex),
                "seconds": tried.map(|t| t.seconds),
                "affordable": tried.map(|t| t.obstacle.is_none()),
                "obstacle": tried.and_then(|t| t.obstacle.as_ref()).map(ToString::to_string),
                "error": candidate.outcome.as_ref().err().map(ToString::to_string),
            })
        })
        .collect();
    json!({
        "candidates": candidates,
        "chosen": choice.chosen,
        "reached": choice.reached,
    })
}
