//! Which delta to smooth with, by the error on training examples that a fit has not seen.

use super::entry::fit_prior;
use super::global::Global;
use super::problem::Problem;
use super::{AnimSpaceOptions, FitFrames};
use crate::example::ExampleSet;
use crate::fit::{FitError, InfluenceSets};
use crate::progress::Progress;

/// Fits per delta; more would say little more about the order of the deltas.
const FOLDS: usize = 4;

/// The delta with the smallest error, summed over folds of the training examples.
///
/// The influence sets are the same in all folds, but a prior is fitted anew: one that has seen
/// the held-out examples would make strong smoothing look good. With fewer than three examples
/// nothing can be held out, and the middle of the sorted deltas is taken.
pub(super) fn choose_delta(
    set: &ExampleSet,
    training: &[usize],
    sets: &InfluenceSets,
    deltas: &[f64],
    options: &AnimSpaceOptions,
    progress: &dyn Progress,
) -> Result<f64, FitError> {
    // Largest first: the smoothest system is the easiest, and starts the next.
    let mut deltas = deltas.to_vec();
    deltas.sort_by(|a, b| b.total_cmp(a));
    deltas.dedup();
    if training.len() < 3 || deltas.len() == 1 {
        return Ok(deltas[deltas.len() / 2]);
    }
    let fold_count = FOLDS.min(training.len());
    let mut errors = vec![0.0; deltas.len()];
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
        for (&delta, error) in deltas.iter().zip(&mut errors) {
            let z = global.solve(delta, options.solver, start.take(), progress)?;
            *error += problem.squared_error(&problem.vectors(&z), &unseen);
            start = Some(z);
        }
    }
    let best = (0..deltas.len())
        .min_by(|&a, &b| errors[a].total_cmp(&errors[b]))
        .expect("the options have a delta");
    Ok(deltas[best])
}
