//! From options to a skin.

use super::choose_delta::choose_delta;
use super::global::Global;
use super::problem::Problem;
use super::{AnimSpaceOptions, FitFrames, Prior, Smoothing};
use crate::example::ExampleSet;
use crate::fit::ssd::fit_weights_within;
use crate::fit::{FitError, Fitted, InfluenceChoice, InfluenceSets};
use crate::progress::Progress;
use crate::rows::Rows;
use crate::skin::{Influence, LinearProgram, Skin, VertexProgram, Weight};

/// Fits animation-space vectors to the examples numbered in `training`.
///
/// # Errors
/// [`FitError::NothingToFit`], [`FitError::BadOption`], and [`FitError::Stopped`].
pub fn fit_anim_space(
    set: &ExampleSet,
    training: &[usize],
    options: &AnimSpaceOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    options.check()?;
    let bone_count = set.skeleton().bone_count();
    if training.is_empty() || bone_count == 0 {
        return Err(FitError::NothingToFit {
            examples: training.len(),
            bones: bone_count,
        });
    }
    let sets = match &options.influences {
        InfluenceChoice::Automatic => {
            InfluenceSets::automatic(set, training, options.max_influences, progress)?
        }
        InfluenceChoice::Given(sets) => {
            sets.check(set.rest().vertex_count(), bone_count)?;
            sets.clone()
        }
    };
    let smoothing = match &options.smoothing {
        Smoothing::EdgesByHeldOutError { deltas } => Smoothing::Edges {
            delta: choose_delta(set, training, &sets, deltas, options, progress)?,
        },
        other => other.clone(),
    };
    let frames = FitFrames::new(set, training);
    let prior = fit_prior(set, training, &sets, options, progress)?;
    let problem = Problem::new(&frames, &sets, prior.as_ref());
    let (z, used) = match smoothing {
        Smoothing::Ridge { lambda } => (problem.solve_ridge(lambda), lambda),
        Smoothing::Edges { delta } => {
            let global = Global::new(&problem, &frames.edge_strengths());
            (global.solve(delta, options.solver, None, progress)?, delta)
        }
        Smoothing::EdgesByHeldOutError { .. } => unreachable!("a delta was chosen above"),
    };
    let vectors = problem.vectors(&z);
    let squared = problem.squared_error(&vectors, &frames);
    let count = (vectors.len() * training.len()).max(1) as f64;
    let influences = vectors
        .iter()
        .map(|row| {
            row.iter().map(|influence| Influence {
                bone: influence.bone,
                p: frames.to_bone(influence.bone.index(), influence.p),
            })
        })
        .collect();
    let program = LinearProgram {
        influences,
        corrections: Vec::new(),
    };
    Ok(Fitted {
        skin: Skin::new(
            set.skeleton().clone(),
            VertexProgram::Linear(program),
            Vec::new(),
        )?,
        round_errors: vec![frames.unit * (squared / count).sqrt()],
        smoothing: Some(used),
    })
}

/// The linear blend weights that smoothing pulls towards, if it does.
pub(super) fn fit_prior(
    set: &ExampleSet,
    training: &[usize],
    sets: &InfluenceSets,
    options: &AnimSpaceOptions,
    progress: &dyn Progress,
) -> Result<Option<Rows<Weight>>, FitError> {
    match options.prior {
        Prior::Zero => Ok(None),
        Prior::Ssd => fit_weights_within(set, training, sets, progress).map(Some),
    }
}
