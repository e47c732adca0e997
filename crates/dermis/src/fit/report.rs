//! What a fit says about itself, on the examples that it saw and on those that it did not.

use std::time::Instant;

use glam::DAffine3;
use serde::Serialize;

use super::FitError;
use crate::example::{ExampleSet, Split};
use crate::measure::{Cost, Measured, measure, measure_predictions};
use crate::skin::Skin;

/// A skin and how it was found.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The model.
    pub skin: Skin,
    /// Root-mean-square distance to the training examples after each round, in model units.
    pub round_errors: Vec<f64>,
}

/// A skin with its measures on training and held-out examples.
#[derive(Debug, Clone)]
pub struct FitReport {
    /// The model to keep. With [`Split::LeaveOneOut`] it was fitted to all examples, otherwise to
    /// the training ones.
    pub skin: Skin,
    /// As [`Fitted::round_errors`].
    pub round_errors: Vec<f64>,
    /// On the examples that `skin` was fitted to.
    pub training: Measured,
    /// On examples that the skin which answers for them has not seen; `None` without such.
    pub held_out: Option<Measured>,
    /// What the skin costs to store and run.
    pub cost: Cost,
    /// What the examples say about the bones.
    pub rig: RigDiagnosis,
    /// Seconds that all fits took together, without measuring.
    pub fit_seconds: f64,
}

/// What the training poses cannot tell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RigDiagnosis {
    /// Pairs of bone and parent that move as one in every training pose: how weight is shared
    /// between the two is arbitrary.
    pub indistinct: Vec<[String; 2]>,
    /// Bones that no vertex follows.
    pub unused: Vec<String>,
}

/// Fits as a split demands and measures the result.
///
/// `fit` gets the numbers of the training examples. It is called once, or once per example and once
/// for all with [`Split::LeaveOneOut`].
///
/// # Errors
/// What `fit` returns, and [`FitError::Examples`] for a split that leaves nothing to fit.
pub fn evaluate_fit(
    set: &ExampleSet,
    split: &Split,
    mut fit: impl FnMut(&[usize]) -> Result<Fitted, FitError>,
) -> Result<FitReport, FitError> {
    let folds = set.folds(split)?;
    let everything: Vec<usize> = (0..set.examples().len()).collect();
    let mut fit_seconds = 0.0;
    let mut timed = |training: &[usize]| {
        let start = Instant::now();
        let fitted = fit(training);
        fit_seconds += start.elapsed().as_secs_f64();
        fitted
    };
    let (fitted, training, held_out) = match split {
        Split::LeaveOneOut => {
            let skins: Vec<Skin> = folds
                .iter()
                .map(|fold| Ok(timed(&fold.training)?.skin))
                .collect::<Result<_, FitError>>()?;
            let held_out = measure_predictions(set, &everything, |k| {
                skins[k].evaluate(&set.examples()[k].pose)
            })?;
            (timed(&everything)?, everything, Some(held_out))
        }
        _ => {
            let fold = &folds[0];
            let fitted = timed(&fold.training)?;
            let held_out = match fold.held_out.is_empty() {
                true => None,
                false => Some(measure(&fitted.skin, set, &fold.held_out)?),
            };
            (fitted, fold.training.clone(), held_out)
        }
    };
    Ok(FitReport {
        training: measure(&fitted.skin, set, &training)?,
        held_out,
        cost: Cost::of(&fitted.skin),
        rig: diagnose(set, &training, &fitted.skin),
        skin: fitted.skin,
        round_errors: fitted.round_errors,
        fit_seconds,
    })
}

fn diagnose(set: &ExampleSet, training: &[usize], skin: &Skin) -> RigDiagnosis {
    let skeleton = set.skeleton();
    let poses: Vec<Vec<DAffine3>> = crate::measure::posed_from_rest(set, training);
    let extent = set.rest().bounds().diagonal();
    let indistinct = skeleton
        .bones()
        .iter()
        .enumerate()
        .filter_map(|(j, bone)| Some((j, bone.parent?.index())))
        .filter(|&(j, parent)| {
            poses.iter().all(|pose| {
                let (a, b) = (pose[j], pose[parent]);
                // A millionth of the model is what single-precision poses leave between copies.
                a.matrix3.abs_diff_eq(b.matrix3, 1e-6)
                    && a.translation.abs_diff_eq(b.translation, 1e-6 * extent)
            })
        })
        .map(|(j, parent)| [j, parent].map(|j| skeleton.bones()[j].name.clone()))
        .collect();
    let mut used = vec![false; skeleton.bone_count()];
    for bone in skin.program.bones() {
        used[bone.index()] = true;
    }
    let unused = skeleton
        .bones()
        .iter()
        .zip(used)
        .filter(|(_, used)| !used)
        .map(|(bone, _)| bone.name.clone())
        .collect();
    RigDiagnosis { indistinct, unused }
}
