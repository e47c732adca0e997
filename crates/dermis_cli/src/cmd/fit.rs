//! `dermis fit`: examples to a skin.

use std::io::Write;

use anyhow::{Context, bail};
use dermis::fit::{Candidates, FitReport, SsdOptions, evaluate_fit, fit_ssd};
use dermis::{Split, VertexProgram};
use dermis_io::{Document, Format, SkinRecord, WriteOptions};

use super::read_inputs;
use crate::Outcome;
use crate::args::{FitArgs, Up};
use crate::examples::{PoseSource, Prepared, parse_split, prepare};
use crate::report;
use crate::talk::Talk;

pub(crate) fn run(args: &FitArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    if !matches!(Format::of(&args.output)?, Format::Glb | Format::Gltf) {
        bail!(
            "{}: a skin is written as .glb or .gltf",
            args.output.display()
        );
    }
    let options = SsdOptions {
        max_influences: args.max_influences,
        candidates: parse_candidates(&args.candidates)?,
        rest_rounds: args.rest_rounds,
        rest_stiffness: args.rest_stiffness,
    };
    options.check()?;
    let source = PoseSource {
        skeleton: args.skeleton.as_deref(),
        clip: args.clip.as_deref(),
        fps: args.fps,
    };
    let prepared = prepare(
        read_inputs(&args.inputs, &args.sequence, talk)?,
        &source,
        talk,
    )?;
    let split = parse_split(&args.hold_out, prepared.set.examples().len())?;
    let job = FitJob {
        prepared: &prepared,
        options,
        split,
        up: args.up,
        command: report::command_line(),
    };
    let fitted = job.fit(talk)?;
    // Pictures take a while, and who stops them wants no skin either.
    let page = match &args.report {
        Some(path) => Some((path, report::html(&job, &fitted, talk)?)),
        None => None,
    };
    talk.check_stopped()?;
    let skin = skin_document(&prepared, &fitted);
    dermis_io::write(&args.output, &skin, &WriteOptions::default())?;
    if let Some((path, page)) = page {
        dermis_io::write_file(path, page.as_bytes())?;
    }
    talk.clear();
    let mut out = std::io::stdout().lock();
    let text = match args.json {
        true => report::json(&prepared.set, &fitted)?,
        false => report::table(&prepared.set, &fitted),
    };
    writeln!(out, "{text}").context("standard output cannot be written")?;
    talk.remark(format!("wrote {}", args.output.display()));
    if let Some(path) = &args.report {
        talk.remark(format!("wrote {}", path.display()));
    }
    Ok(check_tolerance(&fitted, args.max_error, talk))
}

/// A fit with all that its report needs to know.
pub(crate) struct FitJob<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) options: SsdOptions,
    pub(crate) split: Split,
    pub(crate) up: Up,
    pub(crate) command: String,
}

impl FitJob<'_> {
    pub(crate) fn fit(&self, talk: &Talk) -> anyhow::Result<FitReport> {
        let set = &self.prepared.set;
        Ok(evaluate_fit(set, &self.split, |training| {
            fit_ssd(set, training, &self.options, talk)
        })?)
    }
}

/// The file that holds a fitted skin.
pub(crate) fn skin_document(prepared: &Prepared, fitted: &FitReport) -> Document {
    let look = &prepared.look;
    let mut document = Document {
        mesh: look.mesh.clone(),
        polygons: look.polygons.clone(),
        draw: look.draw.clone(),
        materials: look.materials.clone(),
        skin: Some(fitted.skin.clone()),
        clips: prepared.clips.clone(),
        record: Some(SkinRecord {
            version: SkinRecord::VERSION,
            generator: format!("dermis {}", env!("CARGO_PKG_VERSION")),
            method: "ssd".to_owned(),
            max_influences: fitted.cost.max_influences,
            training: Some(fitted.overall.total.clone()),
            held_out: fitted.held_out.as_ref().map(|h| h.measured.total.clone()),
            ..SkinRecord::default()
        }),
        ..Document::default()
    };
    // Coefficients belong to morph targets of the input, which the fitted skin has absorbed.
    for clip in &mut document.clips {
        clip.channels.retain(|channel| channel.bone().is_some());
    }
    document.clips.retain(|clip| !clip.channels.is_empty());
    if let VertexProgram::Ssd(ssd) = &fitted.skin.program
        && let Ok(moved) = look.mesh.with_positions(ssd.rest_positions.clone())
        && moved != look.mesh
    {
        // Normals of another rest shape would light this one wrongly; the writer makes new ones.
        document.mesh = moved;
        for part in &mut document.draw.parts {
            part.normals.clear();
            part.tangents.clear();
        }
    }
    document
}

fn parse_candidates(text: &str) -> anyhow::Result<Candidates> {
    let count = |number: &str| match number.parse::<usize>() {
        Ok(count) if count > 0 => Ok(count),
        _ => bail!("--candidates {text}: expected all, a number such as 12, or near:N"),
    };
    Ok(match text.strip_prefix("near:") {
        Some(number) => Candidates::BestNearby {
            count: count(number)?,
        },
        None if text == "all" => Candidates::All,
        None => Candidates::BestAlone {
            count: count(text)?,
        },
    })
}

fn check_tolerance(fitted: &FitReport, max_error: Option<f64>, talk: &Talk) -> Outcome {
    let (measures, which) = match &fitted.held_out {
        Some(held_out) => (&held_out.measured.total, "held-out examples"),
        None => (&fitted.overall.total, "all examples"),
    };
    match max_error {
        Some(limit) if measures.e_rms > limit => {
            talk.remark(format!(
                "tolerance missed: E_RMS {:.4} on {which}, at most {limit} was asked for; \
                 more influences, more bones or another method may reach it",
                measures.e_rms
            ));
            Outcome::ToleranceMissed
        }
        _ => Outcome::Done,
    }
}
