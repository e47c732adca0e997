//! Chooses a way to fit by what it does on examples that it has not seen.
//!
//! Every method is tried with a few numbers of influences, fitted without the held-out examples and
//! measured on them: error on examples that a fit has seen always favours the model with the most
//! unknowns. Without a target the lowest error wins, except that a simpler method within two per
//! cent of it is preferred; with one, the smallest skin that reaches it.
//!
//! The error of the winner is the least of many, and so a little lower than what the winner would
//! do on yet other poses. Whoever wants that number too holds examples out of the whole choice.

use std::time::Instant;

use super::report::hold_out;
use super::{FitError, Method, bad_option};
use crate::example::{ExampleSet, Split};
use crate::measure::{Cost, Measures};
use crate::progress::Progress;

/// How much larger than the lowest an error may be for a simpler method to be preferred: a
/// difference that nobody sees and that other examples might turn round.
const AS_GOOD: f64 = 1.02;

/// Errors below this `E_RMS` are rounding, and all as good as each other.
const ROUNDING: f64 = 1e-3;

/// Splits that hold nothing out leave this many examples or more to [`Split::EveryNth`].
const FEW_EXAMPLES: usize = 8;

/// What a choice may cost, and what it must reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Most bones that may move one vertex; at least 1, default 4. Powers of two below are tried too.
    pub max_influences: usize,
    /// Most bytes of one vertex, as [`Cost::bytes_per_vertex`] counts them; above 0, default any.
    pub max_bytes_per_vertex: Option<f64>,
    /// The held-out `E_RMS` to reach with as few bytes as possible; above 0, default as low as it
    /// goes.
    pub target_error: Option<f64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            max_influences: 4,
            max_bytes_per_vertex: None,
            target_error: None,
        }
    }
}

impl Budget {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check(&self) -> Result<(), FitError> {
        if self.max_influences == 0 {
            return bad_option("max_influences", "at least 1 bone must be allowed");
        }
        let positive = |value: Option<f64>| value.is_none_or(|v| v > 0.0 && v.is_finite());
        if !positive(self.max_bytes_per_vertex) {
            return bad_option("max_bytes_per_vertex", "expected a number above 0");
        }
        if !positive(self.target_error) {
            return bad_option("target_error", "expected a number above 0");
        }
        Ok(())
    }

    /// The numbers of influences to try: 2, 4, 8 and so on below the limit, and the limit.
    ///
    /// One alone is rigid, which the enveloping error already tells, so it is tried only when no
    /// more are allowed.
    fn influence_counts(&self) -> Vec<usize> {
        let powers = std::iter::successors(Some(2), |k: &usize| k.checked_mul(2));
        powers
            .take_while(|&k| k < self.max_influences)
            .chain([self.max_influences])
            .collect()
    }
}

/// A method that was tried.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The method with its number of influences.
    pub method: Method,
    /// What it did, or why it could not be fitted.
    pub outcome: Result<Tried, FitError>,
}

/// What a candidate did.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// On examples that the skins had not seen.
    pub held_out: Measures,
    /// Of the first skin.
    pub cost: Cost,
    /// Seconds for all its fits.
    pub seconds: f64,
    /// Whether it keeps to the budget.
    pub affordable: bool,
}

/// What was chosen, and from what.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Everything that was tried, method by method in the order given, fewest influences first.
    pub candidates: Vec<Candidate>,
    /// Number of the chosen one.
    pub chosen: usize,
    /// Which examples were held out: the split asked for, or another where that holds out none.
    pub split: Split,
    /// Whether the target was reached; true without one.
    pub reached: bool,
}

impl Choice {
    /// The chosen method.
    pub fn method(&self) -> &Method {
        &self.candidates[self.chosen].method
    }

    /// What the chosen method did.
    pub fn tried(&self) -> &Tried {
        let outcome = self.candidates[self.chosen].outcome.as_ref();
        outcome.expect("only what could be fitted is chosen")
    }
}

/// Chooses among methods by held-out error, within a budget.
///
/// Methods come simplest first, as [`Method::candidates`] gives them. A split that holds nothing out is
/// replaced: every fourth example is then held out, or each in turn when there are fewer than eight.
/// A method that cannot be fitted is passed over and its reason kept.
///
/// Cost: as many fits as methods × influence counts × folds. The choice does not depend on times.
///
/// ```
/// use dermis::Split;
/// use dermis::fit::{Budget, Method, choose_method};
/// use dermis::progress::Silent;
/// use dermis::synth::{TubeOptions, tube};
///
/// let options = TubeOptions { ring_count: 8, segment_count: 6, bone_count: 3, example_count: 8 };
/// let tube = tube(&options).examples;
/// let methods = [Method::from_key("ssd").expect("one")];
/// let choice = choose_method(&tube, &Split::EveryNth(4), &methods, &Budget::default(), &Silent)?;
/// assert_eq!(choice.method().max_influences(), 2, "two are enough for a tube");
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// [`FitError::BadOption`] for a bad or an unaffordable budget, [`FitError::Examples`],
/// [`FitError::Stopped`], and the first method's error when none can be fitted.
pub fn choose_method(
    set: &ExampleSet,
    split: &Split,
    methods: &[Method],
    budget: &Budget,
    progress: &dyn Progress,
) -> Result<Choice, FitError> {
    budget.check()?;
    let split = testing_split(set, split)?;
    let folds = set.folds(&split)?;
    let mut candidates = Vec::new();
    for method in methods {
        for count in budget.influence_counts() {
            let method = method.clone().with_max_influences(count);
            let start = Instant::now();
            let held_out = hold_out(set, &folds, |training| method.fit(set, training, progress));
            let outcome = match held_out {
                Err(FitError::Stopped) => return Err(FitError::Stopped),
                Err(error) => Err(error),
                Ok(held_out) => {
                    let cost = Cost::of(&held_out.skins[0]);
                    let limit = budget.max_bytes_per_vertex;
                    Ok(Tried {
                        affordable: limit.is_none_or(|limit| cost.bytes_per_vertex <= limit),
                        held_out: held_out.measured.total,
                        cost,
                        seconds: start.elapsed().as_secs_f64(),
                    })
                }
            };
            candidates.push(Candidate { method, outcome });
        }
    }
    let (chosen, reached) = choose(&candidates, budget)?;
    Ok(Choice {
        candidates,
        chosen,
        split,
        reached,
    })
}

/// The split asked for, or one that holds something out.
fn testing_split(set: &ExampleSet, asked: &Split) -> Result<Split, FitError> {
    let folds = set.folds(asked)?;
    if folds.iter().any(|fold| !fold.held_out.is_empty()) {
        return Ok(asked.clone());
    }
    match set.examples().len() {
        0 | 1 => Err(FitError::BadOption {
            option: "method",
            problem: "a choice needs at least two examples, one to fit and one to test on"
                .to_owned(),
        }),
        2..FEW_EXAMPLES => Ok(Split::LeaveOneOut),
        _ => Ok(Split::EveryNth(4)),
    }
}

/// Number of the best candidate, and whether it reaches the target.
fn choose(candidates: &[Candidate], budget: &Budget) -> Result<(usize, bool), FitError> {
    let tried = |number: usize| candidates[number].outcome.as_ref().ok();
    let fitted = || (0..candidates.len()).filter_map(|n| Some((n, tried(n)?)));
    if fitted().next().is_none() {
        let first = candidates.first().map(|c| c.outcome.clone());
        return match first {
            Some(Err(error)) => Err(error),
            _ => Err(FitError::BadOption {
                option: "method",
                problem: "there is no method to choose from".to_owned(),
            }),
        };
    }
    let affordable: Vec<(usize, &Tried)> = fitted().filter(|(_, t)| t.affordable).collect();
    let lowest = affordable
        .iter()
        .map(|(_, t)| t.held_out.e_rms)
        .min_by(f64::total_cmp);
    let Some(lowest) = lowest else {
        let least = fitted().map(|(_, t)| t.cost.bytes_per_vertex);
        let least = least.fold(f64::INFINITY, f64::min);
        return Err(FitError::BadOption {
            option: "max_bytes_per_vertex",
            problem: format!("the smallest skin that was tried takes {least:.1}"),
        });
    };
    let bytes = |t: &Tried| t.cost.bytes_per_vertex;
    if let Some(target) = budget.target_error
        && lowest <= target
    {
        let smallest = affordable
            .iter()
            .filter(|(_, t)| t.held_out.e_rms <= target)
            .min_by(|(a, x), (b, y)| bytes(x).total_cmp(&bytes(y)).then(a.cmp(b)));
        return Ok((smallest.expect("the lowest error is one").0, true));
    }
    // The simplest method that is as good, then its smallest form. Candidates of one method stand
    // together, so the first that is as good names the method.
    let as_good = |t: &Tried| t.held_out.e_rms <= AS_GOOD * lowest.max(ROUNDING);
    let simplest = affordable.iter().find(|(_, t)| as_good(t));
    let key = candidates[simplest.expect("the lowest error is one").0]
        .method
        .key();
    let smallest = affordable
        .iter()
        .filter(|(n, t)| as_good(t) && candidates[*n].method.key() == key)
        .min_by(|(a, x), (b, y)| bytes(x).total_cmp(&bytes(y)).then(a.cmp(b)));
    let (chosen, _) = smallest.expect("the simplest is one");
    Ok((*chosen, budget.target_error.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::SsdOptions;
    use crate::progress::Silent;
    use crate::synth::{TubeOptions, tube};

    fn candidate(key: &str, influences: usize, e_rms: f64, bytes: f64, limit: f64) -> Candidate {
        let method = Method::from_key(key).expect("a method");
        let held_out = Measures {
            example_count: 1,
            e_rms,
            enveloping_error_percent: None,
            enveloping_error_deviation_percent: None,
            position_error_percent: None,
            mean_distance: 0.0,
            max_distance: 0.0,
            mean_normal_angle_deg: 0.0,
            max_normal_angle_deg: 0.0,
        };
        let cost = Cost {
            bytes_per_vertex: bytes,
            bytes_per_frame: 48,
            driver_bytes: 0,
            proxy_bytes: 0,
            palette_size: 1,
            mean_influences: influences as f64,
            max_influences: influences,
        };
        Candidate {
            method: method.with_max_influences(influences),
            outcome: Ok(Tried {
                held_out,
                cost,
                seconds: 0.0,
                affordable: bytes <= limit,
            }),
        }
    }

    fn list(limit: f64) -> Vec<Candidate> {
        let mut list = vec![
            candidate("ssd", 2, 3.0, 22.0, limit),
            candidate("ssd", 4, 2.0, 30.0, limit),
            candidate("animation-space", 2, 1.005, 34.0, limit),
            candidate("animation-space", 4, 1.0, 66.0, limit),
            candidate("mwe", 4, 0.99, 200.0, limit),
        ];
        list[4].method = Method::from_key("mwe").expect("a method");
        let failed = Err(FitError::NothingToFit {
            examples: 0,
            bones: 0,
        });
        list.push(Candidate {
            method: Method::Ssd(SsdOptions::default()),
            outcome: failed,
        });
        list
    }

    #[test]
    fn a_simpler_method_as_good_is_preferred_and_then_its_smallest_form() {
        let found = choose(&list(1e9), &Budget::default());
        assert_eq!(found, Ok((2, true)), "0.99 and 1.0 are within 2% of 1.005");
    }

    #[test]
    fn errors_of_rounding_are_all_the_same() {
        let exact = [
            candidate("ssd", 2, 3e-6, 22.0, 1e9),
            candidate("animation-space", 2, 1e-13, 34.0, 1e9),
        ];
        let found = choose(&exact, &Budget::default());
        assert_eq!(found, Ok((0, true)), "the simpler of two that are exact");
    }

    #[test]
    fn with_a_target_the_smallest_that_reaches_it_is_chosen() {
        let toward = |target_error| Budget {
            target_error: Some(target_error),
            ..Budget::default()
        };
        assert_eq!(
            choose(&list(1e9), &toward(2.5)),
            Ok((1, true)),
            "ssd is enough"
        );
        assert_eq!(
            choose(&list(1e9), &toward(1.002)),
            Ok((3, true)),
            "4 influences"
        );
        assert_eq!(
            choose(&list(1e9), &toward(0.5)),
            Ok((2, false)),
            "the best, missed"
        );
    }

    #[test]
    fn what_is_too_large_is_not_chosen() {
        let small = choose(&list(31.0), &Budget::default());
        assert_eq!(small, Ok((1, true)), "30 bytes fit into 31");
        let error = choose(&list(10.0), &Budget::default()).expect_err("nothing fits");
        assert!(error.to_string().contains("takes 22.0"), "{error}");
    }

    #[test]
    fn influences_are_tried_in_powers_of_two_up_to_the_limit() {
        for (max_influences, counts) in [
            (1, &[1][..]),
            (2, &[2]),
            (4, &[2, 4]),
            (6, &[2, 4, 6]),
            (8, &[2, 4, 8]),
        ] {
            let budget = Budget {
                max_influences,
                ..Budget::default()
            };
            assert_eq!(budget.influence_counts(), counts, "up to {max_influences}");
        }
    }

    #[test]
    fn something_is_held_out_even_when_the_split_says_nothing() {
        for (example_count, expected) in [
            (2, Split::LeaveOneOut),
            (7, Split::LeaveOneOut),
            (8, Split::EveryNth(4)),
        ] {
            let set = tube(&TubeOptions {
                ring_count: 4,
                segment_count: 3,
                bone_count: 2,
                example_count,
            })
            .examples;
            let methods = [Method::Ssd(SsdOptions::default())];
            let choice = choose_method(
                &set,
                &Split::TrainOnAll,
                &methods,
                &Budget::default(),
                &Silent,
            );
            let choice = choice.expect("a tube can be fitted");
            assert_eq!(choice.split, expected, "of {example_count} examples");
            assert_eq!(choice.candidates.len(), 2, "two and four influences");
        }
    }

    #[test]
    fn one_example_is_too_few_to_choose_by() {
        let set = tube(&TubeOptions {
            ring_count: 4,
            segment_count: 3,
            bone_count: 2,
            example_count: 1,
        })
        .examples;
        let choice = choose_method(
            &set,
            &Split::TrainOnAll,
            &Method::all(4),
            &Budget::default(),
            &Silent,
        );
        let error = choice.expect_err("nothing to test on");
        assert!(error.to_string().contains("two examples"), "{error}");
    }
}
