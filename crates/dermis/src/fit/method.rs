//! The ways to fit, as one choice.

use super::{
    AnimSpaceOptions, FitError, Fitted, MultiWeightOptions, PseudoBoneOptions, SsdOptions,
    fit_anim_space, fit_multi_weight, fit_pseudo_bones, fit_ssd,
};
use crate::example::ExampleSet;
use crate::progress::Progress;
use crate::skin::{DualQuaternionProgram, VertexProgram};

/// A way to fit, with its options.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// Linear blend skinning.
    Ssd(SsdOptions),
    /// Linear blend skinning over the skeleton's bones and pseudo-bones between them.
    PseudoBones(PseudoBoneOptions),
    /// Animation space.
    AnimSpace(AnimSpaceOptions),
    /// Multi-weight enveloping.
    MultiWeight(MultiWeightOptions),
    /// Dual quaternion skinning with the weights of linear blend skinning.
    DualQuaternion(SsdOptions),
}

impl Method {
    /// The name that `--method` takes and files record.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Ssd(_) => "ssd",
            Self::PseudoBones(_) => "pseudo-bones",
            Self::AnimSpace(_) => "animation-space",
            Self::MultiWeight(_) => "mwe",
            Self::DualQuaternion(_) => "dual-quaternion",
        }
    }

    /// What people call the method.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Ssd(_) => "linear blend skinning",
            Self::PseudoBones(_) => "linear blend skinning with pseudo-bones",
            Self::AnimSpace(_) => "animation space",
            Self::MultiWeight(_) => "multi-weight enveloping",
            Self::DualQuaternion(_) => "dual quaternion skinning",
        }
    }

    /// Fits to the examples numbered in `training`.
    ///
    /// # Errors
    /// What the method's own function returns.
    pub fn fit(
        &self,
        set: &ExampleSet,
        training: &[usize],
        progress: &dyn Progress,
    ) -> Result<Fitted, FitError> {
        match self {
            Self::Ssd(options) => fit_ssd(set, training, options, progress),
            Self::PseudoBones(options) => fit_pseudo_bones(set, training, options, progress),
            Self::AnimSpace(options) => fit_anim_space(set, training, options, progress),
            Self::MultiWeight(options) => fit_multi_weight(set, training, options, progress),
            Self::DualQuaternion(options) => {
                let mut fitted = fit_ssd(set, training, options, progress)?;
                if let VertexProgram::Ssd(weighted) = fitted.skin.program {
                    let program = DualQuaternionProgram { weighted };
                    fitted.skin.program = VertexProgram::DualQuaternion(program);
                }
                Ok(fitted)
            }
        }
    }
}
