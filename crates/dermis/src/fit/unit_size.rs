//! Fits in units of length in which no square is too small or too large for a float.

use super::{FitError, Fitted};
use crate::example::ExampleSet;
use crate::rig::Similarity;

/// Fits to the examples scaled to [unit size](crate::math::unit_factor), and scales the result back.
///
/// When one fit calls another, the examples already have unit size, and this does nothing.
pub(super) fn at_unit_size(
    set: &ExampleSet,
    fit: impl FnOnce(&ExampleSet) -> Result<Fitted, FitError>,
) -> Result<Fitted, FitError> {
    let factor = set.unit_factor();
    if factor == 1.0 {
        return fit(set);
    }
    let fitted = fit(&set.scaled(factor)?)?;
    Ok(Fitted {
        skin: fitted.skin.moved(&Similarity::scaling(1.0 / factor))?,
        round_errors: fitted.round_errors.iter().map(|e| e / factor).collect(),
        smoothing: fitted.smoothing,
        base: fitted.base,
    })
}
