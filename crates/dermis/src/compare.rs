//! Several fitting methods on one set of examples: the library side of `dermis compare`.
//!
//! Each method is fitted with the same examples held out (kept from the fit and used only to test it) and
//! measured on the same poses; then all skins are packed and timed in turn, so that other load on the machine
//! affects all of them equally. A method that cannot be fitted keeps its row with the reason, and the others
//! go on.

mod advice;
mod comparators;
mod decompositions;
mod deflate;
mod reductions;
mod verdict;

pub use advice::{Baked, RowNumbers, RowSummary, advice};
pub use comparators::{
    ComparatorOptions, Prediction, clustered_pca, fit_sad, fit_sma, truncated_svd, with_eigen_skin,
};
pub use decompositions::{
    Decomposed, DecomposedNumbers, Decomposer, DecompositionComparison, DecompositionOptions,
    DecompositionRow, ModelNumbers, compare_decompositions,
};
pub use reductions::{Reduction, Trajectories};
pub use verdict::verdict;

use serde::{Deserialize, Serialize};

use crate::example::{ExampleSet, Split};
use crate::fit::{EngineReport, FitError, FitReport, Method, engine_report, evaluate_fit};
use crate::measure::{Measures, SurfaceMeasures, measure_surface};
use crate::progress::Progress;
use crate::run::timing::TimingOptions;
use crate::run::{PackOptions, PackedSkin, RunError};
use crate::skin::{Skin, SkinError, VertexProgram};

/// How methods are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompareOptions {
    /// How the evaluation of each skin is timed; default seven runs of 20 ms on one thread.
    pub timing: TimingOptions,
    /// Number of poses that are timed, evenly spread over the examples; at least 1, default 3. The time is
    /// the mean over them.
    pub timed_poses: usize,
    /// Measure distances to the examples' surfaces too, as comparisons of scans do; default no: it takes
    /// longer than most fits.
    pub surface: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            timing: TimingOptions::default(),
            timed_poses: 3,
            surface: false,
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

/// How players that support only plain glTF show a skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Playback {
    /// They show it as it is: linear blend skinning with at most four bones per vertex.
    Exact,
    /// They show an approximation: influences beyond the fourth, or what animation-space vectors add
    /// to weights, are lost unless the exact form is exported.
    Approximation,
    /// No plain skin moves like it: it needs the run-time of dermis, or another that supports the model.
    OwnRuntime,
}

impl Playback {
    /// How stock players show this skin.
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

/// The reason why a method has no numbers.
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
    /// Its key, made unique where several rows have the same: `ssd`, `rotational-regression-30`.
    pub label: String,
    /// The same in words: `rotational regression with 30 proxy bones`.
    pub title: String,
    /// Its numbers, or why it has none.
    pub outcome: Result<Compared, RowError>,
}

/// The results of one method.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The fit: the skin, its measures and its cost in bytes.
    pub report: FitReport,
    /// Nanoseconds of one thread for one vertex, positions only.
    pub ns_per_vertex: f64,
    /// How players that support only plain glTF show the skin.
    pub playback: Playback,
    /// Errors of what such players show, measured like the skin itself.
    pub engine: EngineReport,
    /// Distances to the examples' surfaces, as [`Compared::trained`] and [`Compared::tested`]; `None`
    /// unless asked for.
    pub surface: Option<[SurfaceMeasures; 2]>,
}

impl Compared {
    /// Measures on the held-out examples; on all examples when none were held out.
    pub fn tested(&self) -> &Measures {
        match &self.report.held_out {
            Some(held_out) => &held_out.measured.total,
            None => &self.report.overall.total,
        }
    }

    /// Measures on the training examples of the fit that [`Compared::tested`] measures.
    pub fn trained(&self) -> &Measures {
        match &self.report.held_out {
            Some(held_out) => &held_out.training.total,
            None => &self.report.overall.total,
        }
    }
}

/// All rows, in the order of the methods.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// One per method; of a comparison that was stopped, those that were finished.
    pub rows: Vec<ComparisonRow>,
    /// Labels of the methods that were not finished when the comparison was stopped.
    pub unfinished: Vec<String>,
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
/// When it is stopped, methods that are finished keep their rows: see [`Comparison::unfinished`].
///
/// # Errors
/// [`FitError::Examples`] for a split that leaves nothing to fit, [`FitError::BadOption`], and
/// [`FitError::Stopped`] when no method was finished. A method that fails is no error: see
/// [`ComparisonRow::outcome`].
pub fn compare(
    set: &ExampleSet,
    split: &Split,
    methods: &[Method],
    options: &CompareOptions,
    progress: &dyn Progress,
) -> Result<Comparison, FitError> {
    options.check()?;
    set.folds(split)?;
    let mut names = row_names(methods);
    let mut fits = Vec::with_capacity(methods.len());
    let mut shown = Vec::with_capacity(methods.len());
    for method in methods {
        let number = fits.len() + 1;
        let progress = NamedProgress {
            progress,
            name: format!(
                "method {number} of {}: {}",
                methods.len(),
                names[fits.len()][0]
            ),
        };
        let report = evaluate_fit(set, split, |training| method.fit(set, training, &progress));
        let report = report.and_then(|report| {
            shown.push(Some(engine_report(set, &report, false, &progress)?));
            Ok(report)
        });
        match report {
            Err(FitError::Stopped) if fits.is_empty() => return Err(FitError::Stopped),
            Err(FitError::Stopped) => break,
            Err(_) => shown.push(None),
            Ok(_) => {}
        }
        fits.push(report.map_err(RowError::from));
    }
    let unfinished = names.split_off(fits.len());
    let times = time_skins(set, &fits, options, progress);
    let rows = methods
        .iter()
        .zip(names)
        .zip(fits)
        .zip(shown)
        .zip(times)
        .map(
            |((((method, [label, title]), fit), shown), time)| ComparisonRow {
                method: method.clone(),
                label,
                title,
                outcome: fit.and_then(|report| {
                    Ok(Compared {
                        surface: match options.surface {
                            true => Some(surface_of(set, &report)?),
                            false => None,
                        },
                        ns_per_vertex: time?,
                        playback: Playback::of(&report.skin),
                        engine: shown.expect("every fit has one"),
                        report,
                    })
                }),
            },
        )
        .collect();
    Ok(Comparison {
        rows,
        unfinished: unfinished.into_iter().map(|[label, _]| label).collect(),
    })
}

/// Label and title of the row of every method: where several have the same key, their difference is added.
pub fn row_names(methods: &[Method]) -> Vec<[String; 2]> {
    let same_key = |method: &Method| methods.iter().filter(|m| m.key() == method.key()).count();
    let name = |method: &Method| match same_key(method) {
        1 => [method.key().to_owned(), method.title().to_owned()],
        _ => {
            let [short, words] = method.variant();
            [
                format!("{}-{short}", method.key()),
                format!("{} with {words}", method.title()),
            ]
        }
    };
    methods.iter().map(name).collect()
}

/// Distances to surfaces of the examples that a fit has seen, and of those that it was tested on.
fn surface_of(set: &ExampleSet, report: &FitReport) -> Result<[SurfaceMeasures; 2], RowError> {
    let skin_for = |k: usize| match &report.held_out {
        Some(held_out) => held_out.skin_for(k),
        None => &report.skin,
    };
    let over = |which: &[usize]| {
        measure_surface(set, which, |k| {
            skin_for(k).evaluate(&set.examples()[k].pose)
        })
    };
    let (seen, unseen): (Vec<usize>, Vec<usize>) = match &report.held_out {
        Some(held_out) => (0..set.examples().len()).partition(|&k| !held_out.contains(k)),
        None => {
            let all: Vec<usize> = (0..set.examples().len()).collect();
            (all.clone(), all)
        }
    };
    Ok([over(&seen)?, over(&unseen)?])
}

/// Says which method is fitted, and its stages beside that.
struct NamedProgress<'a> {
    progress: &'a dyn Progress,
    name: String,
}

impl Progress for NamedProgress<'_> {
    fn report(&self, stage: &str, done: usize, total: usize) -> bool {
        let goes_on = self.progress.report(&self.name, done, total);
        if done == 0 {
            self.progress.detail(stage);
        }
        goes_on
    }
}

/// Nanoseconds per vertex of every skin; entries of methods that failed are not used. It takes seconds, and is done for
/// what is finished even when the rest was stopped.
fn time_skins(
    set: &ExampleSet,
    fits: &[Result<FitReport, RowError>],
    options: &CompareOptions,
    progress: &dyn Progress,
) -> Vec<Result<f64, RowError>> {
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
            progress.report("timing", round * fits.len() + number, total);
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
    times
}

/// At most `wanted` of `count` items, evenly spread.
fn spread(count: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(count);
    (0..wanted)
        .map(|n| (2 * n + 1) * count / (2 * wanted))
        .collect()
}

impl Comparison {
    /// Rows that have numbers.
    pub fn compared(&self) -> impl Iterator<Item = (&ComparisonRow, &Compared)> {
        self.rows
            .iter()
            .filter_map(|row| Some((row, row.outcome.as_ref().ok()?)))
    }

    /// Measures every skin on examples that no fit has seen: see [`FitReport::measure_on`].
    ///
    /// # Errors
    /// [`FitError::Skin`] when they are of another skeleton.
    pub fn measure_on(&mut self, name: &str, test: &ExampleSet) -> Result<(), FitError> {
        let compared = self
            .rows
            .iter_mut()
            .filter_map(|row| row.outcome.as_mut().ok());
        for compared in compared {
            compared.report.measure_on(name, test)?;
        }
        Ok(())
    }
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
            surface: true,
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
        assert!(reason.to_string().contains("max-influences"), "{reason}");
        let fitted = found.rows[1].outcome.as_ref().expect("two influences");
        assert!(fitted.ns_per_vertex > 0.0, "it was timed");
        assert_eq!(fitted.playback, Playback::Exact, "a plain skin");
        assert_eq!(fitted.tested().example_count, 2, "every fourth of eight");
        let [seen, unseen] = fitted.surface.expect("it was asked for");
        assert_eq!(
            [seen.example_count, unseen.example_count],
            [6, 2],
            "as the split says"
        );
        assert!(
            unseen.mean_distance <= fitted.tested().mean_distance,
            "the surface is never farther than the vertex: {unseen:?}"
        );
        let last = found.advice().pop().expect("advice");
        assert!(last.contains("has no numbers"), "{last}");
        let labels: Vec<&str> = found.rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(
            labels,
            ["ssd-0", "ssd-2"],
            "rows of one method are told apart"
        );
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
    fn stopping_gives_an_error_and_no_table() {
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
    fn stopping_keeps_the_methods_that_are_finished() {
        struct StopInSecond;
        impl Progress for StopInSecond {
            fn report(&self, stage: &str, _: usize, _: usize) -> bool {
                !stage.starts_with("method 2 of 3: ssd-2")
            }
        }
        let found = compare(
            &small_tube(),
            &Split::EveryNth(4),
            &[ssd(1), ssd(2), ssd(3)],
            &quick(),
            &StopInSecond,
        );
        let found = found.expect("the first was finished");
        assert_eq!(found.rows.len(), 1, "one row");
        let first = found.rows[0].outcome.as_ref().expect("numbers");
        assert!(first.ns_per_vertex > 0.0, "timed all the same");
        assert_eq!(found.unfinished, ["ssd-2", "ssd-3"], "by their labels");
    }

    #[test]
    fn timed_poses_are_spread_over_all() {
        assert_eq!(spread(9, 3), [1, 4, 7], "the middles of thirds");
        assert_eq!(spread(2, 3), [0, 1], "no more than there are");
        assert_eq!(spread(0, 3), [0usize; 0], "of none, none");
    }
}
