//! Chooses the influence sets and the smoothing by the error on training examples that are held out (kept
//! from the fit and used only to test it).

use super::entry::fit_prior;
use super::global::Global;
use super::problem::Problem;
use super::{AnimSpaceOptions, FitFrames, Smoothing};
use crate::example::ExampleSet;
use crate::fit::{FitError, InfluenceSets};
use crate::progress::Progress;

/// Fits per candidate; more would hardly change the order.
const FOLDS: usize = 4;

/// Residual to solve to: errors are compared by their first digits.
const TOLERANCE: f64 = 1e-5;

/// The influence sets and the smoothing to fit with.
pub(super) struct Selection<'a> {
    pub(super) sets: &'a InfluenceSets,
    pub(super) smoothing: Smoothing,
}

/// The influence sets and the smoothing with the smallest error, summed over folds of the training
/// examples.
///
/// The influence sets are the same in all folds, but the prior is fitted anew in each: a prior fitted to the
/// held-out examples would make strong smoothing look good. With fewer than three examples nothing can be
/// held out, and the first sets and the middle of the sorted deltas are taken.
pub(super) fn choose<'a>(
    set: &ExampleSet,
    training: &[usize],
    recipes: &'a [InfluenceSets],
    options: &AnimSpaceOptions,
    progress: &dyn Progress,
) -> Result<Selection<'a>, FitError> {
    let mut smoothings = match &options.smoothing {
        Smoothing::EdgesByHeldOutError { deltas } => {
            let mut deltas = deltas.clone();
            // Largest first: the smoothest system is the easiest, and starts the next.
            deltas.sort_by(|a, b| b.total_cmp(a));
            deltas.dedup();
            deltas
                .into_iter()
                .map(|delta| Smoothing::Edges { delta })
                .collect()
        }
        fixed => vec![fixed.clone()],
    };
    let (mut best_sets, mut best_smoothing) = (0, smoothings.len() / 2);
    if training.len() >= 3 && recipes.len() * smoothings.len() > 1 {
        let mut least = f64::INFINITY;
        for (number, sets) in recipes.iter().enumerate() {
            let errors = held_out_errors(set, training, sets, &smoothings, options, progress)?;
            for (place, &error) in errors.iter().enumerate() {
                if error < least {
                    least = error;
                    (best_sets, best_smoothing) = (number, place);
                }
            }
        }
    }
    Ok(Selection {
        sets: &recipes[best_sets],
        smoothing: smoothings.swap_remove(best_smoothing),
    })
}

/// Squared error on held-out training examples with each smoothing.
fn held_out_errors(
    set: &ExampleSet,
    training: &[usize],
    sets: &InfluenceSets,
    smoothings: &[Smoothing],
    options: &AnimSpaceOptions,
    progress: &dyn Progress,
) -> Result<Vec<f64>, FitError> {
    let fold_count = FOLDS.min(training.len());
    let mut errors = vec![0.0; smoothings.len()];
    for fold in 0..fold_count {
        let (held_out, seen): (Vec<_>, Vec<_>) =
            (0..training.len()).partition(|k| k % fold_count == fold);
        let [held_out, seen] = [held_out, seen]
            .map(|part| -> Vec<usize> { part.into_iter().map(|k| training[k]).collect() });
        let frames = FitFrames::new(set, &seen);
        let unseen = FitFrames::new(set, &held_out);
        let prior = fit_prior(set, &seen, sets, options, progress)?;
        let problem = Problem::new(&frames, sets, prior.as_ref());
        let global = Global::new(&problem, &frames.edge_strengths());
        let mut start = None;
        for (smoothing, error) in smoothings.iter().zip(&mut errors) {
            let z = match smoothing {
                Smoothing::Ridge { lambda } => problem.solve_ridge(*lambda),
                Smoothing::Edges { delta } => {
                    global.solve(*delta, options.solver, start.take(), TOLERANCE, progress)?
                }
                Smoothing::EdgesByHeldOutError { .. } => {
                    unreachable!("a list of deltas was taken apart above")
                }
            };
            *error += problem.squared_error(&problem.vectors(&z), &unseen);
            start = Some(z);
        }
    }
    Ok(errors)
}
