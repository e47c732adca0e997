//! Chooses a fitting method by its error on examples that were held out (kept from the fit and used only to
//! test it).
//!
//! Every method is tried with a few numbers of influences, fitted without the held-out examples and
//! measured on them: error on examples that a fit has seen always favours the model with the most
//! unknowns. The measured error is that of what the player will show: a stock engine shows only a
//! stand-in of some skins, which may be worse than a plain skin, and holds only so many joints and morph
//! targets. The smallest skin within five per cent of the lowest error wins; with an error to reach, the
//! smallest that reaches it.
//!
//! The error of the winner is the least of many, and so a little lower than its error on yet other poses. To
//! measure that error too, hold examples out of the whole choice.

use std::time::Instant;

use super::report::{FitReport, HeldOut, hold_out};
use super::shown::shown_held_out;
use super::smallest::{Rating, as_good_as, smallest_within, whole_bytes_per_vertex};
use super::{FitError, Method, bad_option, to_exact_ssd};
use crate::example::{ExampleSet, Split};
use crate::measure::{Cost, Measures};
use crate::progress::Progress;
use crate::skin::{Skin, VertexProgram};

/// Joints of one skin that stock engines hold: the least among current ones, that of Bevy.
const MOST_JOINTS: usize = 256;

/// From this many examples on, a split that holds nothing out is replaced by [`Split::EveryNth`].
const FEW_EXAMPLES: usize = 8;

/// Limits of the cost of the chosen skin, and the error to reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Most bones that may move one vertex; at least 1, default 4. Powers of two below are tried too.
    pub max_influences: usize,
    /// Most bytes of one vertex, as [`Cost::bytes_per_vertex`] counts them; above 0, default any.
    pub max_bytes_per_vertex: Option<f64>,
    /// The held-out `E_RMS` to reach with as few bytes as possible; above 0, default as low as it
    /// goes.
    pub target_error: Option<f64>,
    /// What will play the skin; default a stock engine.
    pub target: Target,
    /// Most morph targets that an engine shall hold; default 64, the least that current engines take
    /// (Bevy; many take any number, old WebGL ones 8). The run-time of dermis takes any number.
    pub max_morph_targets: usize,
    /// Whether stock engines will get animation space as the linear blend skin that equals it, over more
    /// joints, as [`exact_ssd`](super::exact_ssd) makes it; default no.
    pub plain_exact: bool,
}

/// What plays a skin, and so what of it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Target {
    /// A stock engine, which knows only plain glTF: see [`Shown`](super::Shown).
    #[default]
    Engine,
    /// The run-time of dermis, or another that knows the exact models.
    Dermis,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            max_influences: 4,
            max_bytes_per_vertex: None,
            target_error: None,
            target: Target::Engine,
            max_morph_targets: 64,
            plain_exact: false,
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
            return bad_option("max-influences", "at least 1 bone must be allowed");
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
    /// A single influence is rigid, which is what the enveloping error compares with, so it is tried only
    /// when no more are allowed.
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

/// The results of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Errors of what the player shows, on held-out examples: these decide the choice.
    pub held_out: Measures,
    /// The models themselves on those examples.
    pub model_held_out: Measures,
    /// Of the first skin.
    pub cost: Cost,
    /// Bytes of the first skin for each vertex, with its share of the data that all vertices use: drivers and
    /// the data that place proxy bones.
    pub whole_bytes_per_vertex: f64,
    /// Seconds for all its fits.
    pub seconds: f64,
    /// Why it cannot be chosen; `None` when it can.
    pub obstacle: Option<Obstacle>,
}

/// Why a candidate that could be fitted cannot be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// More bytes per vertex than allowed.
    #[error("too large")]
    Size,
    /// More joints than engines hold.
    #[error("{found} joints, engines take {most}")]
    Joints {
        /// How many it has.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// More morph targets than engines hold.
    #[error("{found} morph targets, engines take {most}")]
    MorphTargets {
        /// How many it has.
        found: usize,
        /// How many there may be.
        most: usize,
    },
}

/// The chosen method, and all candidates.
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
    /// What the choice was made for.
    pub target: Target,
}

impl Choice {
    /// The chosen method.
    pub fn method(&self) -> &Method {
        &self.candidates[self.chosen].method
    }

    /// The results of the chosen method.
    pub fn tried(&self) -> &Tried {
        let outcome = self.candidates[self.chosen].outcome.as_ref();
        outcome.expect("only what could be fitted is chosen")
    }
}

/// Chooses among methods by held-out error, within a budget.
///
/// Methods come simplest first, as [`Method::candidates`] gives them. A split that holds nothing out is
/// replaced: every fourth example is then held out, or each in turn when there are fewer than eight.
/// A method that cannot be fitted is skipped, and the reason kept.
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
            let tried = held_out.and_then(|held_out| {
                let mut tried = judge(set, &held_out, budget, progress)?;
                tried.seconds = start.elapsed().as_secs_f64();
                Ok(tried)
            });
            let outcome = match tried {
                Err(FitError::Stopped) => return Err(FitError::Stopped),
                other => other,
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
        target: budget.target,
    })
}

/// Chooses among fits that exist already, by the rule of [`choose_method`].
///
/// All of them hold out the examples of `split`; a fit that holds none out cannot be judged, and is skipped with that
/// reason. The seconds of its fits are not known here, and are 0.
///
/// # Errors
/// As [`choose_method`].
pub fn choose_fitted<'a>(
    set: &ExampleSet,
    split: &Split,
    fits: impl IntoIterator<Item = (&'a Method, &'a FitReport)>,
    budget: &Budget,
    progress: &dyn Progress,
) -> Result<Choice, FitError> {
    budget.check()?;
    let mut candidates = Vec::new();
    for (method, report) in fits {
        let outcome = match &report.held_out {
            Some(held_out) => judge(set, held_out, budget, progress),
            None => bad_option("split", "a choice needs examples to test on"),
        };
        candidates.push(Candidate {
            method: method.clone(),
            outcome,
        });
    }
    let (chosen, reached) = choose(&candidates, budget)?;
    Ok(Choice {
        candidates,
        chosen,
        split: split.clone(),
        reached,
        target: budget.target,
    })
}

/// What the player will show of fits, and whether it can hold them.
fn judge(
    set: &ExampleSet,
    held_out: &HeldOut,
    budget: &Budget,
    progress: &dyn Progress,
) -> Result<Tried, FitError> {
    let skin = &held_out.skins[0];
    let cost = Cost::of(skin);
    let shown = match budget.target {
        Target::Engine => shown_held_out(set, held_out, budget.plain_exact, progress)?,
        Target::Dermis => held_out.measured.total.clone(),
    };
    let is_large = |limit: f64| cost.bytes_per_vertex > limit;
    let obstacle = match budget.target {
        _ if budget.max_bytes_per_vertex.is_some_and(is_large) => Some(Obstacle::Size),
        Target::Engine => engine_obstacle(skin, budget)?,
        Target::Dermis => None,
    };
    Ok(Tried {
        held_out: shown,
        model_held_out: held_out.measured.total.clone(),
        whole_bytes_per_vertex: whole_bytes_per_vertex(skin, skin.vertex_count()),
        cost,
        seconds: 0.0,
        obstacle,
    })
}

/// The limit of stock engines that a skin exceeds.
fn engine_obstacle(skin: &Skin, budget: &Budget) -> Result<Option<Obstacle>, FitError> {
    let is_exact = budget.plain_exact && matches!(skin.program, VertexProgram::Linear(_));
    let joints = match is_exact {
        true => to_exact_ssd(skin)?.skeleton.bone_count(),
        false => skin.skeleton.bone_count(),
    };
    let (shapes, most) = (skin.coefficients.len(), budget.max_morph_targets);
    Ok(if joints > MOST_JOINTS {
        Some(Obstacle::Joints {
            found: joints,
            most: MOST_JOINTS,
        })
    } else if shapes > most {
        Some(Obstacle::MorphTargets {
            found: shapes,
            most,
        })
    } else {
        None
    })
}

/// The given split, or one that holds something out.
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

/// Index of the best candidate, and whether it reaches the target.
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
    let eligible: Vec<(usize, &Tried)> = fitted().filter(|(_, t)| t.obstacle.is_none()).collect();
    let rating = |(_, tried): &(usize, &Tried)| Rating {
        e_rms: tried.held_out.e_rms,
        bytes: tried.whole_bytes_per_vertex,
    };
    let ratings: Vec<Rating> = eligible.iter().map(rating).collect();
    let lowest = ratings.iter().map(|r| r.e_rms).min_by(f64::total_cmp);
    let Some(lowest) = lowest else {
        return Err(nothing_left(fitted().map(|(_, t)| t)));
    };
    let target = budget.target_error.filter(|&target| lowest <= target);
    let limit = target.unwrap_or(as_good_as(lowest));
    // Of two of one size the simpler one comes first.
    let smallest = smallest_within(limit, &ratings);
    let (chosen, _) = eligible[smallest.expect("the lowest error is within the limit")];
    Ok((chosen, target.is_some() || budget.target_error.is_none()))
}

/// The error that names the limit that every candidate exceeds.
fn nothing_left<'a>(tried: impl Iterator<Item = &'a Tried> + Clone) -> FitError {
    let too_large = |t: &&Tried| t.obstacle == Some(Obstacle::Size);
    if tried.clone().any(|t| too_large(&t)) {
        let least = tried.map(|t| t.cost.bytes_per_vertex);
        let least = least.fold(f64::INFINITY, f64::min);
        return FitError::BadOption {
            option: "max_bytes_per_vertex",
            problem: format!("the smallest skin that was tried takes {least:.1}"),
        };
    }
    let first = tried.filter_map(|t| t.obstacle.clone()).next();
    let reason = first.map_or(String::new(), |obstacle| {
        format!(" (the first: {obstacle})")
    });
    FitError::BadOption {
        option: "target",
        problem: format!("stock engines hold none of the skins that were tried{reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::SsdOptions;
    use crate::progress::Silent;
    use crate::synth::{ArmOptions, TubeOptions, arm, arm_motion, tube};

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
                model_held_out: held_out.clone(),
                held_out,
                whole_bytes_per_vertex: cost.bytes_per_vertex,
                cost,
                seconds: 0.0,
                obstacle: (bytes > limit).then_some(Obstacle::Size),
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
    fn the_smallest_skin_within_five_per_cent_of_the_lowest_error_is_chosen() {
        let found = choose(&list(1e9), &Budget::default());
        assert_eq!(
            found,
            Ok((2, true)),
            "1.005 is within 5% of 0.99, and 34 bytes are least"
        );
        let mut large = list(1e9);
        // What all vertices share counts, too.
        large[2]
            .outcome
            .as_mut()
            .expect("fitted")
            .whole_bytes_per_vertex = 70.0;
        let found = choose(&large, &Budget::default());
        assert_eq!(
            found,
            Ok((3, true)),
            "66 bytes are less than 34 and 36 shared ones"
        );
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

    /// Animation space twists where linear blending shrinks, and its stand-in shrinks more than a plain fit.
    #[test]
    fn engines_choose_by_what_they_show_and_dermis_by_the_model() {
        let set = arm(&ArmOptions {
            ring_count: 24,
            segment_count: 10,
            poses: arm_motion(16),
        })
        .examples;
        let methods = ["ssd", "animation-space"].map(|key| Method::from_key(key).expect("one"));
        let choose = |target| {
            let budget = Budget {
                target,
                ..Budget::default()
            };
            let choice = choose_method(&set, &Split::EveryNth(4), &methods, &budget, &Silent);
            choice.expect("an arm can be fitted")
        };
        let (engine, dermis) = (choose(Target::Engine), choose(Target::Dermis));
        assert_eq!(dermis.method().key(), "animation-space", "the exact model");
        for (shown, exact) in engine.candidates.iter().zip(&dermis.candidates) {
            let shown = shown.outcome.as_ref().expect("fitted");
            let exact = exact.outcome.as_ref().expect("fitted");
            assert_eq!(shown.model_held_out, exact.held_out, "the same models");
        }
        let best = engine.tried().held_out.e_rms;
        for candidate in &engine.candidates {
            let error = candidate.outcome.as_ref().expect("fitted").held_out.e_rms;
            let (key, chosen) = (candidate.method.key(), engine.method().key());
            assert!(
                best <= 1.05 * error,
                "{chosen} {best} against {key} {error}"
            );
        }
        let stand_in = engine.candidates[3].outcome.as_ref().expect("fitted");
        assert!(
            stand_in.held_out.e_rms > 2.0 * stand_in.model_held_out.e_rms,
            "engines show the stand-in: {stand_in:?}"
        );
    }

    #[test]
    fn what_engines_cannot_hold_is_not_chosen_for_them() {
        let set = arm(&ArmOptions {
            ring_count: 16,
            segment_count: 8,
            poses: arm_motion(12),
        })
        .examples;
        let mut methods = Method::all(2);
        methods.retain(|method| ["ssd", "psd"].contains(&method.key()));
        let choose = |target, max_morph_targets| {
            let budget = Budget {
                max_influences: 2,
                target,
                max_morph_targets,
                ..Budget::default()
            };
            let choice = choose_method(&set, &Split::EveryNth(4), &methods, &budget, &Silent);
            choice.expect("an arm can be fitted")
        };
        let many = choose(Target::Engine, 64);
        let outcomes: Vec<_> = many.candidates.iter().map(|c| &c.outcome).collect();
        assert_eq!(many.method().key(), "psd", "a few shapes: {outcomes:?}");
        let few = choose(Target::Engine, 1);
        assert_eq!(few.method().key(), "ssd", "one shape is not enough");
        let tried = few.candidates[1].outcome.as_ref().expect("fitted");
        let obstacle = tried.obstacle.clone().expect("too many shapes");
        let text = obstacle.to_string();
        assert!(text.ends_with("morph targets, engines take 1"), "{text}");
        assert_eq!(
            choose(Target::Dermis, 1).method().key(),
            "psd",
            "no such limit"
        );
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
