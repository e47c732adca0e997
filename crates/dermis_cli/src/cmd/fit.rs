//! `dermis fit`: examples to a skin.

use dermis::Split;
use dermis::fit::{
    Choice, EngineReport, FitReport, Method, ProxyCount, Shown, choose_method, engine_report,
    evaluate_fit,
};
use dermis_io::{Document, Transaction, WriteOptions};

use super::{SKIN_FILE, output_format};
use crate::Outcome;
use crate::args::{FitArgs, Up};
use crate::examples::{Prepared, parse_split, prepare_examples, read_tests};
use crate::method_args::TargetError;
use crate::overwrite;
use crate::plan::{Plan, Resolved};
use crate::report::{self, short};
use crate::talk::{Talk, plural};

pub(crate) fn run(args: &FitArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    output_format(&args.output, SKIN_FILE, "a skin is")?;
    let outputs = std::iter::once(&args.output).chain(&args.report);
    overwrite::check(outputs, args.examples.files(), talk)?;
    let plan = Plan::new(&args.method)?;
    let prepared = prepare_examples(&args.examples, talk)?;
    super::check_faces(&prepared.look, &args.output)?;
    let set = &prepared.set;
    let split = parse_split(&args.examples.hold_out, set, talk)?;
    let tests = read_tests(&args.examples, &prepared, talk)?;
    let plain_exact = plan.plain_exact;
    let choice = match plan.resolve(&prepared)? {
        Resolved::One(method) => Chosen::Asked(method),
        Resolved::Auto(budget) => {
            let methods = Method::candidates(budget.max_influences);
            Chosen::Best(choose_method(set, &split, &methods, &budget, talk)?)
        }
    };
    let job = FitJob {
        prepared: &prepared,
        choice,
        split,
        up: args.up,
        command: report::command_line(),
    };
    talk.say_more(|| format!("method {}", job.method().key()));
    let mut fitted = job.fit(talk)?;
    for test in &tests {
        fitted.measure_on(&test.name, &test.set)?;
    }
    let engine = engine_report(set, &fitted, plain_exact, talk)?;
    let report = report::fit_report(&job, &fitted, &engine);
    // Pictures take a while, and who stops them wants no skin either.
    let page = match &args.report {
        Some(path) => {
            let figures = report::fit_figures(&job, &fitted, talk)?;
            Some((path, report::html(&report, &figures)?))
        }
        None => None,
    };
    talk.check_stopped()?;
    let skin = skin_document(&prepared, job.method(), &fitted, &engine, talk);
    let mut files = Transaction::new();
    let skin_files = files.add_document(&args.output, &skin, &WriteOptions::default())?;
    if let Some((path, page)) = page {
        files.add(path, page.as_bytes())?;
    }
    files.commit()?;
    talk.clear();
    report::print(&report, args.print)?;
    talk.remark_written(&skin_files);
    if let Some(path) = &args.report {
        talk.remark_written(&[path]);
    }
    let target = check_target(&job, &fitted, args.method.target_error, talk);
    let tolerance = check_tolerance(&fitted, args.max_error, talk);
    Ok(match (target, tolerance) {
        (Outcome::Done, Outcome::Done) => Outcome::Done,
        _ => Outcome::ToleranceMissed,
    })
}

/// Who chose the method.
pub(crate) enum Chosen {
    /// The user.
    Asked(Method),
    /// Held-out error.
    Best(Choice),
}

/// A fit with all that its report needs to know.
pub(crate) struct FitJob<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) choice: Chosen,
    pub(crate) split: Split,
    pub(crate) up: Up,
    pub(crate) command: String,
}

impl FitJob<'_> {
    /// The method that is used.
    pub(crate) fn method(&self) -> &Method {
        match &self.choice {
            Chosen::Asked(method) => method,
            Chosen::Best(choice) => choice.method(),
        }
    }

    pub(crate) fn fit(&self, talk: &Talk) -> anyhow::Result<FitReport> {
        let set = &self.prepared.set;
        Ok(evaluate_fit(set, &self.split, |training| {
            self.method().fit(set, training, talk)
        })?)
    }
}

/// The file that holds a fitted skin; what stock players show of it is said.
pub(crate) fn skin_document(
    prepared: &Prepared,
    method: &Method,
    fitted: &FitReport,
    engine: &EngineReport,
    talk: &Talk,
) -> Document {
    match &engine.shown {
        Shown::Exact(exact) => {
            talk.remark(format!(
                "note: the exact form for stock players has {} more joints and up to {} influences \
                 per vertex",
                exact.copy_count,
                exact.skin.program.max_influences()
            ));
            if exact.inexact_count > 0 {
                talk.remark(format!(
                    "note: {} needed weights below 0, which files forbid, at joints that do not turn \
                     in place; they are up to {:.4}% of the size away",
                    plural(exact.inexact_count, "point"),
                    100.0 * exact.max_error
                ));
            }
        }
        Shown::StandIn { fallback, .. } => talk.remark(format!(
            "note: stock players show linear blend skinning, {:.3}% of the size away from the \
             skin in the examples' poses (root mean square; at most {:.2}%)",
            100.0 * fallback.rms_error,
            100.0 * fallback.max_error
        )),
        Shown::Itself | Shown::FourWeights(_) => {}
    }
    let Prepared {
        set, look, clips, ..
    } = prepared;
    Document::of_fit(look, set, method, fitted, engine, clips)
}

fn check_target(
    job: &FitJob<'_>,
    fitted: &FitReport,
    target: Option<TargetError>,
    talk: &Talk,
) -> Outcome {
    match (&job.choice, target) {
        (Chosen::Best(choice), Some(TargetError::Rms(target))) if !choice.reached => {
            talk.remark(format!(
                "target missed: no method reaches E_RMS {target} on held-out examples within the \
                 budget; the best, {}, has {:.4}",
                choice.method().title(),
                choice.tried().held_out.e_rms
            ));
            Outcome::ToleranceMissed
        }
        (Chosen::Asked(method), Some(target)) => {
            check_proxied_skin(job, method, fitted, target, talk)
        }
        _ => Outcome::Done,
    }
}

/// Judges the skin as it is written: the fit itself looks only at how well its proxies could be moved.
fn check_proxied_skin(
    job: &FitJob<'_>,
    method: &Method,
    fitted: &FitReport,
    target: TargetError,
    talk: &Talk,
) -> Outcome {
    let proxies = report::rotational_options(method).map(|options| options.proxies);
    let Some(ProxyCount::TargetError(e_rms)) = proxies else {
        return Outcome::Done;
    };
    let measures = &fitted.overall.total;
    if measures.e_rms <= e_rms {
        return Outcome::Done;
    }
    let asked_and_found = match (target, measures.enveloping_error_percent) {
        (TargetError::Enveloping(asked), Some(found)) => format!(
            "asked an enveloping error of {asked}%, the skin has {}%",
            short(found)
        ),
        _ => format!(
            "asked E_RMS {e_rms}, the skin has {}",
            short(measures.e_rms)
        ),
    };
    let what_may_help = match method {
        Method::Psd(_) => "",
        _ => proxied_advice(job, fitted, e_rms),
    };
    talk.remark(format!(
        "target missed: {asked_and_found} on the examples that it was fitted to{what_may_help}"
    ));
    Outcome::ToleranceMissed
}

/// What may bring rotational regression nearer to a target that it has missed.
fn proxied_advice(job: &FitJob<'_>, fitted: &FitReport, target: f64) -> &'static str {
    let radius = job.prepared.set.unit_ball_radius();
    // The second is that of proxies that are moved as well as they can be.
    match fitted.round_errors.get(1) {
        None => "; a lower --rigid-tolerance leaves more vertices to proxy bones",
        Some(ideal) if 1000.0 * ideal / 3f64.sqrt() / radius > target => {
            "; no number of proxy bones follows the examples to it, but a lower --rigid-tolerance may"
        }
        Some(_) => {
            "; its proxy bones could follow the examples to it, but the turns of joints predict their \
             motion only so far: a smaller target, or --proxy-bones, brings more of them"
        }
    }
}

fn check_tolerance(fitted: &FitReport, max_error: Option<f64>, talk: &Talk) -> Outcome {
    let tested = (fitted.tests.iter())
        .max_by(|a, b| (a.measured.total.e_rms).total_cmp(&b.measured.total.e_rms))
        .map(|test| {
            (
                &test.measured.total,
                format!("test examples ({})", test.name),
            )
        });
    let (measures, which) = match (tested, &fitted.held_out) {
        (Some(tested), _) => tested,
        (None, Some(held_out)) => (&held_out.measured.total, "held-out examples".to_owned()),
        (None, None) => (&fitted.overall.total, "all examples".to_owned()),
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
