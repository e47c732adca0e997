//! Several ways to fit on one set of examples: the library side of `dermis compare`.
//!
//! Each method is fitted with the same examples held out and measured on the same poses; then all
//! skins are packed and timed in turn, so that whatever else the machine does meets them alike. A
//! method that cannot be fitted keeps its row with the reason, and the others go on.

use serde::Serialize;

use crate::example::{ExampleSet, Split};
use crate::fit::{FitError, FitReport, Method, evaluate_fit};
use crate::measure::Measures;
use crate::progress::Progress;
use crate::run::timing::TimingOptions;
use crate::run::{PackOptions, PackedSkin, RunError};
use crate::skin::{Skin, SkinError, VertexProgram};

/// Errors below this `E_RMS` are rounding, and their ratios mean nothing.
const ROUNDING: f64 = 1e-3;
/// Held-out error over training error from which a method counts as overfitting.
const OVERFIT: f64 = 1.5;
/// Error over the lowest within which a cheaper method is worth naming.
const NEARLY_AS_GOOD: f64 = 1.1;

/// How methods are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompareOptions {
    /// How the evaluation of each skin is timed; default seven runs of 20 ms on one thread.
    pub timing: TimingOptions,
    /// In how many of the examples' poses, spread evenly; at least 1, default 3. The time is the
    /// mean over them.
    pub timed_poses: usize,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            timing: TimingOptions::default(),
            timed_poses: 3,
        }
    }
}

impl CompareOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check(&self) -> Result<(), FitError> {
        if self.timed_poses == 0 {
            return Err(FitError::BadOption {
                option: "timed_poses",
                problem: "at least 1 pose must be timed".to_owned(),
            });
        }
        Ok(())
    }
}

/// What players that know only plain glTF make of a skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Playback {
    /// They show it as it is: linear blend skinning with at most four bones per vertex.
    Exact,
    /// They show an approximation: influences beyond the fourth, or what animation-space vectors add
    /// to weights, are lost unless the exact form is exported.
    Approximation,
    /// No plain skin moves like it: it needs the run-time of dermis, or another that knows the model.
    OwnRuntime,
}

impl Playback {
    /// What players make of this skin.
    pub fn of(skin: &Skin) -> Self {
        match &skin.program {
            VertexProgram::Ssd(_) if skin.program.max_influences() <= 4 => Self::Exact,
            VertexProgram::Ssd(_) | VertexProgram::Linear(_) => Self::Approximation,
            VertexProgram::MultiWeight(_) | VertexProgram::DualQuaternion(_) => Self::OwnRuntime,
        }
    }

    /// The answer to "does it play in stock engines?"
    pub fn text(self) -> &'static str {
        match self {
            Self::Exact => "yes",
            Self::Approximation => "as an approximation",
            Self::OwnRuntime => "needs dermis runtime",
        }
    }
}

/// Why a method has no numbers.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// It could not be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Its skin could not be packed or evaluated.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Its skin does not take the examples' poses.
    #[error(transparent)]
    Skin(#[from] SkinError),
}

/// One method's row.
#[derive(Debug, Clone)]
pub struct ComparisonRow {
    /// The method.
    pub method: Method,
    /// Its numbers, or why it has none.
    pub outcome: Result<Compared, RowError>,
}

/// What is known about a method after a comparison.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The fit: the skin, its measures and its cost in bytes.
    pub report: FitReport,
    /// Nanoseconds of one thread for one vertex, positions only.
    pub ns_per_vertex: f64,
    /// What players that know only plain glTF make of the skin.
    pub playback: Playback,
}

impl Compared {
    /// On held-out examples where there are some, else on all.
    pub fn tested(&self) -> &Measures {
        match &self.report.held_out {
            Some(held_out) => &held_out.measured.total,
            None => &self.report.overall.total,
        }
    }

    /// On the examples that the fit behind [`Compared::tested`] has seen.
    pub fn trained(&self) -> &Measures {
        match &self.report.held_out {
            Some(held_out) => &held_out.training.total,
            None => &self.report.overall.total,
        }
    }

    /// True when the error on unseen examples is much larger than on those that the fit saw.
    fn overfits(&self) -> bool {
        let (seen, unseen) = (self.trained().e_rms, self.tested().e_rms);
        unseen > ROUNDING && unseen > OVERFIT * seen
    }
}

/// All rows, in the order of the methods.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// One per method.
    pub rows: Vec<ComparisonRow>,
}

/// Fits every method, measures it and times it.
///
/// ```
/// use dermis::Split;
/// use dermis::compare::{CompareOptions, compare};
/// use dermis::fit::Method;
/// use dermis::progress::Silent;
/// use dermis::synth::{TubeOptions, tube};
///
/// let options = TubeOptions { ring_count: 8, segment_count: 6, bone_count: 3, example_count: 8 };
/// let tube = tube(&options).examples;
/// let methods = ["ssd", "dual-quaternion"].map(|key| Method::from_key(key).expect("one"));
/// let options = CompareOptions::default();
/// let comparison = compare(&tube, &Split::EveryNth(4), &methods, &options, &Silent)?;
/// // The tube was made by linear blending.
/// assert!(comparison.advice()[0].starts_with("Linear blend skinning"));
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// [`FitError::Examples`] for a split that leaves nothing to fit, [`FitError::BadOption`], and
/// [`FitError::Stopped`]. A method that fails is no error: see [`ComparisonRow::outcome`].
pub fn compare(
    set: &ExampleSet,
    split: &Split,
    methods: &[Method],
    options: &CompareOptions,
    progress: &dyn Progress,
) -> Result<Comparison, FitError> {
    options.check()?;
    set.folds(split)?;
    let mut fits = Vec::with_capacity(methods.len());
    for method in methods {
        let progress = Named {
            progress,
            name: method.key(),
        };
        let report = evaluate_fit(set, split, |training| method.fit(set, training, &progress));
        if let Err(FitError::Stopped) = report {
            return Err(FitError::Stopped);
        }
        fits.push(report.map_err(RowError::from));
    }
    let times = time_skins(set, &fits, options, progress)?;
    let rows = methods
        .iter()
        .zip(fits)
        .zip(times)
        .map(|((method, fit), time)| ComparisonRow {
            method: method.clone(),
            outcome: fit.and_then(|report| {
                Ok(Compared {
                    ns_per_vertex: time?,
                    playback: Playback::of(&report.skin),
                    report,
                })
            }),
        })
        .collect();
    Ok(Comparison { rows })
}

/// Says which method a stage belongs to.
struct Named<'a> {
    progress: &'a dyn Progress,
    name: &'a str,
}

impl Progress for Named<'_> {
    fn report(&self, stage: &str, done: usize, total: usize) -> bool {
        let stage = format!("{}: {stage}", self.name);
        self.progress.report(&stage, done, total)
    }
}

/// Nanoseconds per vertex of every skin that there is; whatever stands for the others is not used.
fn time_skins(
    set: &ExampleSet,
    fits: &[Result<FitReport, RowError>],
    options: &CompareOptions,
    progress: &dyn Progress,
) -> Result<Vec<Result<f64, RowError>>, FitError> {
    let poses = spread(set.examples().len(), options.timed_poses);
    let packed: Vec<Option<Result<PackedSkin, RowError>>> = fits
        .iter()
        .map(|fit| {
            let report = fit.as_ref().ok()?;
            Some(PackedSkin::new(&report.skin, &PackOptions::default()).map_err(RowError::from))
        })
        .collect();
    let mut times: Vec<Result<f64, RowError>> = vec![Ok(0.0); fits.len()];
    let total = poses.len() * fits.len();
    for (round, &k) in poses.iter().enumerate() {
        for (number, (fit, packed)) in fits.iter().zip(&packed).enumerate() {
            if !progress.report("timing", round * fits.len() + number, total) {
                return Err(FitError::Stopped);
            }
            let (Ok(report), Some(packed)) = (fit, packed) else {
                continue;
            };
            let timed = packed.as_ref().map_err(Clone::clone).and_then(|packed| {
                let posed = report.skin.run_pose_program(&set.examples()[k].pose)?;
                let frame = packed.frame(&posed)?;
                Ok(packed.time(&frame.inputs(), &options.timing)?.ns_per_vertex)
            });
            times[number] = match (&times[number], timed) {
                (Ok(sum), Ok(ns)) => Ok(sum + ns / poses.len() as f64),
                (Err(error), _) => Err(error.clone()),
                (Ok(_), Err(error)) => Err(error),
            };
        }
    }
    Ok(times)
}

/// At most `wanted` of so many items, evenly spread.
fn spread(count: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(count);
    (0..wanted)
        .map(|n| (2 * n + 1) * count / (2 * wanted))
        .collect()
}

impl Comparison {
    /// Methods that have numbers.
    pub fn compared(&self) -> impl Iterator<Item = (&Method, &Compared)> {
        self.rows
            .iter()
            .filter_map(|row| Some((&row.method, row.outcome.as_ref().ok()?)))
    }

    /// What the numbers say, a sentence each. Times have no part in it, so it is the same each time.
    pub fn advice(&self) -> Vec<String> {
        let rows: Vec<(&Method, &Compared)> = self.compared().collect();
        let error = |c: &Compared| c.tested().e_rms;
        let best = rows
            .iter()
            .min_by(|(_, a), (_, b)| error(a).total_cmp(&error(b)));
        let mut advice = Vec::new();
        if let Some(&(method, best)) = best {
            advice.push(lowest(method, best, &rows));
            advice.extend(fragile(method, &rows));
            advice.extend(cheaper(method, best, &rows));
            advice.extend(overfitting(&rows));
            advice.extend(playable(method, best, &rows));
            advice.extend(hopeless(best));
        }
        for row in &self.rows {
            if let Err(reason) = &row.outcome {
                advice.push(format!(
                    "{} has no numbers: {reason}.",
                    capitalized(row.method.title())
                ));
            }
        }
        advice
    }
}

/// A method and its numbers.
type Entry<'a> = (&'a Method, &'a Compared);

fn lowest(method: &Method, best: &Compared, rows: &[Entry<'_>]) -> String {
    let where_ = match best.report.held_out {
        Some(_) => "on the held-out examples",
        None => "on the examples themselves, of which none was held out",
    };
    let worst = rows
        .iter()
        .max_by(|(_, a), (_, b)| a.tested().e_rms.total_cmp(&b.tested().e_rms))
        .filter(|(other, _)| other.key() != method.key());
    let span = worst.map_or(String::new(), |(other, worst)| {
        format!(
            "; the highest is {} of {}",
            short(worst.tested().e_rms),
            other.title()
        )
    });
    format!(
        "{} has the lowest error {where_}: E_RMS {}{span}.",
        capitalized(method.title()),
        short(best.tested().e_rms)
    )
}

fn cheaper(method: &Method, best: &Compared, rows: &[Entry<'_>]) -> Option<String> {
    let limit = (NEARLY_AS_GOOD * best.tested().e_rms).max(ROUNDING);
    let bytes = |c: &Compared| c.report.cost.bytes_per_vertex;
    let (other, cheapest) = rows
        .iter()
        .filter(|(_, c)| c.tested().e_rms <= limit)
        .min_by(|(_, a), (_, b)| bytes(a).total_cmp(&bytes(b)))?;
    // Less than a tenth fewer bytes are no reason to choose another method.
    (other.key() != method.key() && bytes(cheapest) < 0.9 * bytes(best)).then(|| {
        format!(
            "{} comes within 10% of the lowest error ({}) with {:.0} bytes per vertex instead of {:.0}.",
            capitalized(other.title()),
            short(cheapest.tested().e_rms),
            bytes(cheapest),
            bytes(best)
        )
    })
}

/// Held-out examples seldom turn the whole character, so they do not tell on a method that cannot.
fn fragile(method: &Method, rows: &[Entry<'_>]) -> Option<String> {
    if method.turns_with_the_character() {
        return None;
    }
    let safe = rows
        .iter()
        .filter(|(other, _)| other.turns_with_the_character())
        .min_by(|(_, a), (_, b)| a.tested().e_rms.total_cmp(&b.tested().e_rms));
    let instead = safe.map_or(String::new(), |(other, c)| {
        format!(
            "; of the others {} is best, with {} and {:.0} bytes per vertex",
            other.title(),
            short(c.tested().e_rms),
            c.report.cost.bytes_per_vertex
        )
    });
    Some(format!(
        "But it distorts a character that faces another way than in the examples{instead}."
    ))
}

fn overfitting(rows: &[Entry<'_>]) -> Option<String> {
    let found: Vec<String> = rows
        .iter()
        .filter(|(_, c)| c.overfits())
        .map(|(method, c)| {
            format!(
                "{} ({} on what it was fitted to, {} on what it was not)",
                method.title(),
                short(c.trained().e_rms),
                short(c.tested().e_rms)
            )
        })
        .collect();
    let remedy = match found.len() == rows.len() {
        true => "the examples are too few, or those held out are unlike the others",
        false => "more examples, fewer influences or more smoothing would help it",
    };
    (!found.is_empty()).then(|| {
        format!(
            "Much worse on held-out examples than on its own: {}; {remedy}.",
            found.join(", ")
        )
    })
}

fn playable(method: &Method, best: &Compared, rows: &[Entry<'_>]) -> Option<String> {
    let exact: Vec<&Entry<'_>> = rows
        .iter()
        .filter(|(_, c)| c.playback == Playback::Exact)
        .collect();
    let (other, c) = exact
        .iter()
        .min_by(|(_, a), (_, b)| a.tested().e_rms.total_cmp(&b.tested().e_rms))?;
    // Players cannot place bones that follow from others: they play what was baked.
    let baked = match c.report.skin.derived.is_empty() {
        true => "",
        false => " (in the clips of the file, into which its extra bones are baked)",
    };
    if other.key() == method.key() {
        let alone = match exact.len() {
            1 if rows.len() > 1 => ", the only one here that does",
            _ => "",
        };
        let title = capitalized(method.title());
        return Some(format!(
            "{title} plays in stock glTF players as it is{baked}{alone}."
        ));
    }
    Some(format!(
        "Of those that play in stock glTF players as they are, {} is best, with {}{baked}; of {} \
         players show an approximation{}.",
        other.title(),
        short(c.tested().e_rms),
        method.title(),
        match best.playback {
            Playback::OwnRuntime => "",
            _ => ", unless the exact form is exported",
        }
    ))
}

/// Nothing here helps when even the best is hardly better than no blending at all.
fn hopeless(best: &Compared) -> Option<String> {
    let percent = best.tested().enveloping_error_percent?;
    (percent > 90.0 && best.tested().e_rms > ROUNDING).then(|| {
        format!(
            "Even the best is hardly better than following one bone rigidly (EE {percent:.0}%): \
             the shape depends on more than these bones, or the poses do not belong to the meshes."
        )
    })
}

/// Three decimals, or the order of magnitude where those would say only zero.
fn short(value: f64) -> String {
    match value != 0.0 && value < 5e-4 {
        true => format!("{value:.0e}"),
        false => format!("{value:.3}"),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::SsdOptions;
    use crate::progress::Silent;
    use crate::synth::{TubeOptions, tube};
    use std::time::Duration;

    fn small_tube() -> ExampleSet {
        let options = TubeOptions {
            ring_count: 9,
            segment_count: 6,
            bone_count: 3,
            example_count: 8,
        };
        tube(&options).examples
    }

    fn quick() -> CompareOptions {
        CompareOptions {
            timing: TimingOptions {
                runs: 1,
                run_time: Duration::from_micros(50),
                ..TimingOptions::default()
            },
            timed_poses: 2,
        }
    }

    fn ssd(max_influences: usize) -> Method {
        Method::Ssd(SsdOptions::default()).with_max_influences(max_influences)
    }

    #[test]
    fn a_method_that_fails_keeps_its_row_and_the_others_go_on() {
        let set = small_tube();
        let methods = [ssd(0), ssd(2)];
        let found = compare(&set, &Split::EveryNth(4), &methods, &quick(), &Silent);
        let found = found.expect("one of them can be fitted");
        let reason = found.rows[0].outcome.as_ref().expect_err("no influence");
        assert!(reason.to_string().contains("max_influences"), "{reason}");
        let fitted = found.rows[1].outcome.as_ref().expect("two influences");
        assert!(fitted.ns_per_vertex > 0.0, "it was timed");
        assert_eq!(fitted.playback, Playback::Exact, "a plain skin");
        assert_eq!(fitted.tested().example_count, 2, "every fourth of eight");
        let last = found.advice().pop().expect("advice");
        assert!(last.contains("has no numbers"), "{last}");
    }

    #[test]
    fn the_advice_names_the_best_and_what_is_nearly_as_good() {
        let set = small_tube();
        let methods = [ssd(2), Method::DualQuaternion(SsdOptions::default())];
        let found = compare(&set, &Split::EveryNth(4), &methods, &quick(), &Silent);
        let advice = found.expect("both can be fitted").advice();
        assert!(
            advice[0].starts_with("Linear blend skinning has the lowest"),
            "{advice:?}"
        );
        assert!(
            advice[0].contains("dual quaternion"),
            "the worst too: {advice:?}"
        );
        assert!(
            advice.iter().any(|s| s.contains("plays in stock")),
            "{advice:?}"
        );
    }

    #[test]
    fn a_split_that_leaves_nothing_is_an_error() {
        let all = Split::HoldOut((0..8).collect());
        let found = compare(&small_tube(), &all, &[ssd(2)], &quick(), &Silent);
        let error = found.expect_err("nothing left to fit");
        assert!(error.to_string().contains("none would be left"), "{error}");
    }

    #[test]
    fn who_stops_gets_no_table() {
        struct Stop;
        impl Progress for Stop {
            fn report(&self, _: &str, _: usize, _: usize) -> bool {
                false
            }
        }
        let found = compare(
            &small_tube(),
            &Split::TrainOnAll,
            &[ssd(2)],
            &quick(),
            &Stop,
        );
        assert_eq!(found.expect_err("stopped"), FitError::Stopped, "at once");
    }

    #[test]
    fn timed_poses_are_spread_over_all() {
        assert_eq!(spread(9, 3), [1, 4, 7], "the middles of thirds");
        assert_eq!(spread(2, 3), [0, 1], "no more than there are");
        assert_eq!(spread(0, 3), [0usize; 0], "of none, none");
    }
}
