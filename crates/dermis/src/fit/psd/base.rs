//! Which base skin shapes stand on best, by examples left out of the training ones.

use super::PsdOptions;
use super::examples::fit_on;
use crate::example::{ExampleSet, Fold};
use crate::fit::report::hold_out;
use crate::fit::{FitError, Method};
use crate::progress::Progress;

/// How much larger than the lowest an error may be for a simpler base to be preferred: a difference that nobody
/// sees and that other examples might turn round.
const AS_GOOD: f64 = 1.02;
/// Errors below this `E_RMS` are rounding, and all as good as each other.
const ROUNDING: f64 = 1e-3;
/// From so many training examples on, every fourth is left out; of fewer, each in turn.
const MANY: usize = 8;

/// The base whose skin with shapes is nearest to examples that neither has seen.
///
/// Only training examples are looked at: those that the result is judged on have no part in the choice. A base that
/// cannot be fitted is passed over, unless none can.
///
/// Cost: one fit for each base to three quarters of the examples; n fits each for n < 8 examples.
pub(super) fn choose_base<'a>(
    set: &ExampleSet,
    training: &[usize],
    options: &'a PsdOptions,
    progress: &dyn Progress,
) -> Result<&'a Method, FitError> {
    let first = &options.bases[0];
    if options.bases.len() == 1 || training.len() < 2 {
        return Ok(first);
    }
    let folds = folds(training);
    let mut failed = None;
    let mut tried: Vec<(&Method, f64)> = Vec::new();
    for base in &options.bases {
        let trial = Trial {
            progress,
            name: base.key(),
        };
        match hold_out(set, &folds, |part| fit_on(base, set, part, options, &trial)) {
            Ok(found) => tried.push((base, found.measured.total.e_rms.max(ROUNDING))),
            Err(FitError::Stopped) => return Err(FitError::Stopped),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let lowest = tried.iter().map(|(_, error)| *error);
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    let best = tried.iter().find(|(_, error)| *error <= AS_GOOD * lowest);
    match (best, failed) {
        (Some((base, _)), _) => Ok(base),
        (None, Some(error)) => Err(error),
        // Errors that are no numbers: the fit itself will tell.
        (None, None) => Ok(first),
    }
}

/// Every fourth training example left out, or each in turn.
fn folds(training: &[usize]) -> Vec<Fold> {
    let fold = |is_left_out: &dyn Fn(usize) -> bool| {
        let part = |left_out: bool| {
            let numbers = training.iter().enumerate();
            let part = numbers.filter(|(n, _)| is_left_out(*n) == left_out);
            part.map(|(_, &k)| k).collect()
        };
        Fold {
            training: part(false),
            held_out: part(true),
        }
    };
    match training.len() >= MANY {
        true => vec![fold(&|n| n % 4 == 3)],
        false => (0..training.len()).map(|one| fold(&|n| n == one)).collect(),
    }
}

/// Passes progress on under the name of the base that is tried.
struct Trial<'a> {
    progress: &'a dyn Progress,
    name: &'a str,
}

impl Progress for Trial<'_> {
    fn report(&self, stage: &str, done: usize, total: usize) -> bool {
        let stage = format!("trying base {}: {stage}", self.name);
        self.progress.report(&stage, done, total)
    }

    fn detail(&self, text: &str) {
        self.progress.detail(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fourth_training_example_is_left_out_and_of_few_each_in_turn() {
        let training: Vec<usize> = (10..20).collect();
        let expected = Fold {
            training: vec![10, 11, 12, 14, 15, 16, 18, 19],
            held_out: vec![13, 17],
        };
        assert_eq!(folds(&training), [expected], "numbers of the set");
        let left_out: Vec<Vec<usize>> = (folds(&[4, 7, 9]).into_iter())
            .map(|fold| fold.held_out)
            .collect();
        assert_eq!(left_out, [[4], [7], [9]], "three fits");
    }
}
