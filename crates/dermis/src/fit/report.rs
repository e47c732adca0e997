//! What a fit says about itself, on the examples that it saw and on those that it did not.

use std::time::Instant;

use glam::DAffine3;
use serde::Serialize;

use super::FitError;
use super::under_determined::under_determined;
use crate::example::{ExampleSet, Fold, Split};
use crate::measure::{Cost, Measured, measure, measure_predictions};
use crate::skin::Skin;

/// A skin and how it was found.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The model.
    pub skin: Skin,
    /// Root-mean-square distance to the training examples after each round, in model units.
    pub round_errors: Vec<f64>,
    /// How strongly the fit was smoothed: the delta or lambda that was used, given or chosen.
    /// `None` for methods that do not smooth.
    pub smoothing: Option<f64>,
}

/// A skin fitted to all examples, and how well such a fit does on examples it has not seen.
#[derive(Debug, Clone)]
pub struct FitReport {
    /// The model to keep, fitted to all examples.
    pub skin: Skin,
    /// As [`Fitted::round_errors`], of `skin`.
    pub round_errors: Vec<f64>,
    /// How well `skin` meets all examples.
    pub overall: Measured,
    /// What fits that saw only part of the examples do on the rest; `None` without such.
    pub held_out: Option<HeldOut>,
    /// What the skin costs to store and run.
    pub cost: Cost,
    /// What the examples say about the bones.
    pub rig: RigDiagnosis,
    /// Seconds that the fit of `skin` took.
    pub fit_seconds: f64,
}

/// Fits that did not see some examples, measured on those.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// On the examples that the skin which answers for them has not seen.
    pub measured: Measured,
    /// On the examples that the first of the skins was fitted to.
    pub training: Measured,
    /// One skin per fold.
    skins: Vec<Skin>,
    /// Example and number of the skin that has not seen it.
    answers: Vec<(usize, usize)>,
}

impl HeldOut {
    /// The skin that has not seen an example, or, for an example that none was kept from, the first.
    pub fn skin_for(&self, example: usize) -> &Skin {
        let answer = self.answers.iter().find(|(k, _)| *k == example);
        &self.skins[answer.map_or(0, |&(_, skin)| skin)]
    }

    /// True when an example was kept from the skin that answers for it.
    pub fn contains(&self, example: usize) -> bool {
        self.answers.iter().any(|(k, _)| *k == example)
    }
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
    /// Bones whose vertices the training poses do not determine.
    pub under_determined: Vec<WeakBone>,
    /// Pairs of examples in the same pose, by name.
    pub repeated: Vec<[String; 2]>,
}

/// A bone whose part in a fit the training poses leave open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WeakBone {
    /// Name of the bone.
    pub bone: String,
    /// Vertices that may use it.
    pub vertices: usize,
    /// Those of them to which the bone brings unknowns that the training poses do not determine.
    pub open_vertices: usize,
}

/// Fits to all examples, and as a split demands to parts of them, and measures the results.
///
/// `fit` gets the numbers of the examples that it may see: first all of them, which makes the skin
/// to keep, then those of each fold. So nothing is wasted, and what is said about unseen poses comes
/// from skins that have not seen them.
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
    let start = Instant::now();
    let fitted = fit(&everything)?;
    let fit_seconds = start.elapsed().as_secs_f64();
    let held_out = match folds.iter().all(|fold| fold.held_out.is_empty()) {
        true => None,
        false => Some(hold_out(set, &folds, fit)?),
    };
    Ok(FitReport {
        overall: measure(&fitted.skin, set, &everything)?,
        held_out,
        cost: Cost::of(&fitted.skin),
        rig: diagnose(set, &everything, &fitted.skin),
        skin: fitted.skin,
        round_errors: fitted.round_errors,
        fit_seconds,
    })
}

fn hold_out(
    set: &ExampleSet,
    folds: &[Fold],
    mut fit: impl FnMut(&[usize]) -> Result<Fitted, FitError>,
) -> Result<HeldOut, FitError> {
    let mut skins = Vec::with_capacity(folds.len());
    let mut answers = Vec::new();
    for (number, fold) in folds.iter().enumerate() {
        skins.push(fit(&fold.training)?.skin);
        answers.extend(fold.held_out.iter().map(|&k| (k, number)));
    }
    let unseen: Vec<usize> = answers.iter().map(|&(k, _)| k).collect();
    let measured = measure_predictions(set, &unseen, |k| {
        let (_, skin) = answers[unseen.iter().position(|&u| u == k).expect("asked for")];
        skins[skin].evaluate(&set.examples()[k].pose)
    })?;
    Ok(HeldOut {
        measured,
        training: measure(&skins[0], set, &folds[0].training)?,
        skins,
        answers,
    })
}

fn diagnose(set: &ExampleSet, training: &[usize], skin: &Skin) -> RigDiagnosis {
    let skeleton = set.skeleton();
    let poses: Vec<Vec<DAffine3>> = crate::measure::posed_from_rest(set, training);
    let extent = set.rest().bounds().diagonal();
    // The skin may have derived bones beyond those of the examples; they follow and tell nothing.
    let mut used = vec![false; skin.skeleton.bone_count()];
    for bone in skin.program.bones() {
        used[bone.index()] = true;
    }
    let indistinct = skeleton
        .bones()
        .iter()
        .enumerate()
        .filter_map(|(j, bone)| Some((j, bone.parent?.index())))
        .filter(|&(j, parent)| used[j] || used[parent])
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
    let unused = skeleton
        .bones()
        .iter()
        .zip(used)
        .filter(|(_, used)| !used)
        .map(|(bone, _)| bone.name.clone())
        .collect();
    RigDiagnosis {
        indistinct,
        unused,
        under_determined: under_determined(set, training, skin),
        repeated: Vec::new(),
    }
}
