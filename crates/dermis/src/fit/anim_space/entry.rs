//! From options to a skin.

use super::choose::{Selection, choose};
use super::global::{FINAL_TOLERANCE, Global};
use super::problem::Problem;
use super::{AnimSpaceOptions, FitFrames, Prior, Smoothing};
use crate::example::ExampleSet;
use crate::fit::method::MethodOptions;
use crate::fit::ssd::fit_weights_within;
use crate::fit::{FitError, Fitted, InfluenceChoice, InfluenceSets, at_unit_size, check_training};
use crate::progress::Progress;
use crate::rows::Rows;
use crate::skin::{Influence, LinearProgram, Skin, VertexProgram, Weight};

/// Fits animation-space vectors to the examples numbered in `training`.
///
/// Minimises the squared distances to the examples plus the smoothing chosen in the options,
/// with weights that sum to 1 exactly. Few examples are no error: numbers that they do not determine follow
/// the prior and the neighbours, and [`RigDiagnosis::under_determined`](crate::fit::RigDiagnosis) lists the
/// bones concerned.
///
/// Cost for V vertices with n influences, K examples and s different influence sets: O(V·n·K) to
/// form the problem, O(s·n³) to decompose it, and O(V·n²) per iteration of the global solve.
/// Memory is linear in influences, but for the O(s·n²) of the decomposition. The result is the same
/// on any number of threads.
///
/// ```
/// use dermis::fit::{AnimSpaceOptions, fit_anim_space};
/// use dermis::progress::Silent;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let training: Vec<usize> = (0..arm.examples().len()).collect();
/// let fitted = fit_anim_space(&arm, &training, &AnimSpaceOptions::default(), &Silent)?;
/// assert!(fitted.smoothing.is_some(), "the delta with the smallest held-out error");
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
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
    check_training(set, training)?;
    at_unit_size(set, |set| {
        let recipes = match &options.influences {
            InfluenceChoice::Automatic => {
                let max = options.max_influences;
                InfluenceSets::automatic_recipes(set, training, max, progress)?.to_vec()
            }
            InfluenceChoice::Given(sets) => {
                sets.check(set.rest().vertex_count(), set.skeleton().bone_count())?;
                vec![sets.clone()]
            }
        };
        for sets in &recipes {
            sets.check_memory(0)?;
        }
        let Selection { sets, smoothing } = choose(set, training, &recipes, options, progress)?;
        let frames = FitFrames::new(set, training);
        let prior = fit_prior(set, training, sets, options, progress)?;
        let problem = Problem::new(&frames, sets, prior.as_ref());
        let (z, used) = match smoothing {
            Smoothing::Ridge { lambda } => (problem.solve_ridge(lambda), lambda),
            Smoothing::Edges { delta } => {
                let global = Global::new(&problem, &frames.edge_strengths());
                let z = global.solve(delta, options.solver, None, FINAL_TOLERANCE, progress)?;
                (z, delta)
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
            base: None,
        })
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
