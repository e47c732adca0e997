//! Ways to make a [`Skin`](crate::Skin) from examples: one file per way in, one kind of way out.

mod anim_space;
mod auto;
mod bones;
pub(crate) mod decompose;
mod given_influences;
mod influence_set;
mod method;
mod mwe;
mod plain;
mod plain_exact;
mod pose;
mod psd;
mod pseudo_bones;
mod reach;
mod report;
mod rotational;
mod shown;
mod smallest;
mod ssd;
mod tetrahedron;
mod under_determined;
mod unit_size;
mod verdict;

pub use anim_space::{AnimSpaceOptions, GlobalSolver, Prior, Smoothing, fit_anim_space};
pub use auto::{Budget, Candidate, Choice, Obstacle, Target, Tried, choose_fitted, choose_method};
pub use bones::{BoneGuess, BoneOptions, ExampleMesh, FittedBones, fit_bones};
pub use decompose::{
    BoneCount, BoneMotion, DecomposeOptions, Decomposition, KnownRig, LockedWeights, Quality,
    decompose, decompose_onto, join_bones,
};
pub use given_influences::InfluenceError;
pub use influence_set::{InfluenceChoice, InfluenceSets};
pub use method::{Method, MethodInfo, MethodOption, OptionKind, Promises, StockPlayers, Weights};
pub use mwe::{MultiWeightOptions, fit_multi_weight};
pub use plain::{PlainFallback, made_up_poses, plain_fallback};
pub use plain_exact::{ExactSsd, exact_ssd, to_exact_ssd};
pub use pose::{JointFreedom, PoseFit, PoseOptions, PoseSolver, fit_pose};
pub use psd::{
    Compression, Flattened, LayerReport, PsdFinding, PsdLayer, PsdOptions, PsdSkin, Sculpt,
    SculptReport, SculptedShape, build_psd, check_psd, fit_psd, sculpted_shape, shapes_on_sliders,
};
pub use pseudo_bones::fit_pseudo_bones;
pub use report::{
    FitReport, Fitted, HeldOut, RepeatedPose, RigDiagnosis, TestMeasures, WeakBone, evaluate_fit,
};
pub use rotational::{
    FullRegression, PoissonSolver, ProxyCount, ProxySummary, RotationalOptions,
    fit_full_regression, fit_rotational_regression, proxy_summary,
};
pub use shown::{ENGINE_INFLUENCES, EngineReport, Shown, engine_report};
pub use ssd::{SsdOptions, fit_ssd};
pub use verdict::fit_verdict;

use unit_size::at_unit_size;

use crate::example::{ExampleError, ExampleSet};
use crate::limits::TooLarge;
use crate::skin::SkinError;

/// Why a fit could not be made. A poor fit is no error: it is in the report.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There is nothing to learn from.
    #[error("a fit needs at least one training example and one bone, found {examples} and {bones}")]
    NothingToFit {
        /// Training examples.
        examples: usize,
        /// Bones of the skeleton.
        bones: usize,
    },
    /// An option is outside its range.
    #[error("option {option}: {problem}")]
    BadOption {
        /// Name of the option.
        option: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A method has no option of this name.
    #[error("{method} has no option {name}; it has {options}")]
    NoSuchOption {
        /// Title of the method.
        method: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names that it has.
        options: String,
    },
    /// It would take more memory than it may.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The examples cannot be split as asked.
    #[error(transparent)]
    Examples(#[from] ExampleError),
    /// The result is no valid skin.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The skin has no form that plain glTF could hold.
    #[error("vertex {vertex} has no exact linear blend form: {problem}")]
    NoExactForm {
        /// Index of the vertex.
        vertex: usize,
        /// What stands in the way.
        problem: String,
    },
    /// The progress callback stopped the job.
    #[error("stopped before it was finished")]
    Stopped,
}

/// The error of an option that is out of its range.
pub(crate) fn bad_option<T>(
    option: &'static str,
    problem: impl Into<String>,
) -> Result<T, FitError> {
    Err(FitError::BadOption {
        option,
        problem: problem.into(),
    })
}

/// Fails when no bone may move a vertex.
fn check_max_influences(max_influences: usize) -> Result<(), FitError> {
    match max_influences {
        0 => bad_option("max-influences", "at least 1 bone must be allowed"),
        _ => Ok(()),
    }
}

/// Fails when there is nothing to learn from.
fn check_training(set: &ExampleSet, training: &[usize]) -> Result<(), FitError> {
    let bones = set.skeleton().bone_count();
    match training.is_empty() || bones == 0 {
        true => Err(FitError::NothingToFit {
            examples: training.len(),
            bones,
        }),
        false => Ok(()),
    }
}
