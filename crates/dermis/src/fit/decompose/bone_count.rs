//! Finds the fewest bones that reach an error.

use super::options::DecomposeOptions;
use super::problem::Problem;
use super::{Decomposition, Found, find_bones};
use crate::fit::FitError;
use crate::progress::Progress;

/// Bones of the first try; each next one has twice as many until the error is reached.
const FIRST_TRY: usize = 4;
/// Counts that differ by less than this share are treated as equal.
const CLOSE: f64 = 0.03;

/// A count that was tried, with the error that it reached.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    count: usize,
    e_rms: f64,
}

/// Searches for the fewest bones with which `target` is reached, up to `at_most`.
///
/// Doubling brackets the count; between two counts the next guess follows the power law through
/// both errors. More bones do not always mean less error, because each search may end in another
/// local optimum: the count that is returned reaches the target, and the next lower ones that were
/// tried do not. When `at_most` bones do not reach it either, that decomposition is returned, with its larger
/// error.
pub(super) fn search(
    problem: &Problem<'_>,
    target: f64,
    at_most: usize,
    options: &DecomposeOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    let most = at_most.min(problem.targets().count());
    let attempt = |count: usize| find_bones(problem, count, options, Some(target), progress);
    let mut below: Option<Attempt> = None;
    let mut count = FIRST_TRY.min(most);
    let mut above = loop {
        let Found {
            decomposition,
            was_stopped,
        } = attempt(count)?;
        let e_rms = decomposition.e_rms;
        if was_stopped || (e_rms > target && count == most) {
            return Ok(decomposition);
        }
        if e_rms <= target {
            break (Attempt { count, e_rms }, decomposition);
        }
        below = Some(Attempt { count, e_rms });
        count = (2 * count).min(most);
    };
    loop {
        let low = below.map_or(0, |attempt| attempt.count);
        let high = above.0.count;
        if high - low <= 1.max((CLOSE * high as f64) as usize) {
            break;
        }
        let count = guess(below, above.0, target).clamp(low + 1, high - 1);
        let Found {
            decomposition,
            was_stopped,
        } = attempt(count)?;
        let attempt = Attempt {
            count,
            e_rms: decomposition.e_rms,
        };
        if was_stopped {
            return Ok(above.1);
        }
        match attempt.e_rms <= target {
            true => above = (attempt, decomposition),
            false => below = Some(attempt),
        }
    }
    // The tries ended as soon as they were good enough; the last one may go on to its best.
    let found = find_bones(problem, above.0.count, options, None, progress)?;
    match found.decomposition.e_rms <= above.1.e_rms {
        true => Ok(found.decomposition),
        false => Ok(above.1),
    }
}

/// Where the error should be the target, if it follows a power of the count between two tries.
fn guess(below: Option<Attempt>, above: Attempt, target: f64) -> usize {
    let Some(below) = below else {
        return above.count / 2;
    };
    let middle = (below.count + above.count) / 2;
    // A try stops when it is good enough, so the upper error is near the target and shows little about the
    // curve.
    let (low, high) = ((below.count as f64).ln(), (above.count as f64).ln());
    let slope = (above.e_rms.ln() - below.e_rms.ln()) / (high - low);
    if !(slope < 0.0 && slope.is_finite()) {
        return middle;
    }
    let found = (low + (target.ln() - below.e_rms.ln()) / slope).exp();
    // Never so near to an end that the bracket hardly shrinks.
    let quarter = (above.count - below.count) as f64 / 4.0;
    found.clamp(below.count as f64 + quarter, above.count as f64 - quarter) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_follow_a_power_law_and_stay_inside() {
        let attempt = |count: usize, e_rms: f64| Attempt { count, e_rms };
        // E = 40 / count.
        let found = guess(Some(attempt(8, 5.0)), attempt(32, 1.25), 2.0);
        assert!((19..=20).contains(&found), "on the curve: {found}");
        let near_the_end = guess(Some(attempt(8, 5.0)), attempt(32, 1.25), 4.99);
        assert_eq!(near_the_end, 14, "a quarter inside");
        assert_eq!(
            guess(None, attempt(4, 1.0), 2.0),
            2,
            "half when nothing failed"
        );
        let flat = guess(Some(attempt(8, 5.0)), attempt(16, 5.0), 5.0);
        assert_eq!(flat, 12, "the middle when there is no slope");
    }
}
