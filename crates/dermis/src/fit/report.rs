//! The report of a fit: its errors on the training examples and on examples that were held out (kept from the
//! fit and used only to test it).

use std::time::Instant;

use glam::DAffine3;
use serde::Serialize;

use super::under_determined::under_determined;
use super::{FitError, Method};
use crate::example::{ExampleSet, Fold, Split};
use crate::measure::{Cost, Measured, measure, measure_predictions};
use crate::skin::{Skin, VertexProgram};

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
    /// The method of the skin that shapes are added to; `None` for methods without a base.
    pub base: Option<Method>,
}

/// A skin fitted to all examples, and the error of such a fit on examples that were held out.
#[derive(Debug, Clone)]
pub struct FitReport {
    /// The model to keep, fitted to all examples.
    pub skin: Skin,
    /// As [`Fitted::round_errors`], of `skin`.
    pub round_errors: Vec<f64>,
    /// As [`Fitted::smoothing`], of `skin`.
    pub smoothing: Option<f64>,
    /// As [`Fitted::base`], of `skin`.
    pub base: Option<Method>,
    /// The errors of `skin` on all examples.
    pub overall: Measured,
    /// The errors of fits to part of the examples on the rest; `None` when none were held out.
    pub held_out: Option<HeldOut>,
    /// What the skin costs to store and run.
    pub cost: Cost,
    /// Problems of the bones that the examples show.
    pub rig: RigDiagnosis,
    /// Seconds that the fit of `skin` took.
    pub fit_seconds: f64,
    /// The errors of `skin` on examples that no fit has seen: see [`FitReport::measure_on`].
    pub tests: Vec<TestMeasures>,
}

/// The errors of a skin on a set of examples that had no part in its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct TestMeasures {
    /// What the set is called.
    pub name: String,
    /// On all its examples.
    pub measured: Measured,
}

impl FitReport {
    /// Measures the skin that is kept on examples of another set, of the same mesh and skeleton, and adds that to
    /// [`FitReport::tests`].
    ///
    /// # Errors
    /// [`FitError::Skin`] when the skin does not fit the poses.
    pub fn measure_on(&mut self, name: &str, test: &ExampleSet) -> Result<(), FitError> {
        let everything: Vec<usize> = (0..test.examples().len()).collect();
        self.tests.push(TestMeasures {
            name: name.to_owned(),
            measured: measure(&self.skin, test, &everything)?,
        });
        Ok(())
    }
}

/// Fits with some examples held out, measured on those.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// On the held-out examples, each by the skin that was fitted without it.
    pub measured: Measured,
    /// On the examples that the first of the skins was fitted to.
    pub training: Measured,
    /// One skin per fold.
    pub(super) skins: Vec<Skin>,
    /// Each held-out example, and the number of the skin that was fitted without it.
    answers: Vec<(usize, usize)>,
}

impl HeldOut {
    /// The skin that was fitted without an example; the first skin for an example that was not held out.
    pub fn skin_for(&self, example: usize) -> &Skin {
        let answer = self.answers.iter().find(|(k, _)| *k == example);
        &self.skins[answer.map_or(0, |&(_, skin)| skin)]
    }

    /// Every skin, and the held-out examples that it is tested on.
    pub(super) fn folds(&self) -> impl Iterator<Item = (&Skin, Vec<usize>)> {
        let answered = |number: usize| {
            let own = self.answers.iter().filter(move |(_, skin)| *skin == number);
            own.map(|&(k, _)| k).collect()
        };
        (self.skins.iter().enumerate()).map(move |(number, skin)| (skin, answered(number)))
    }

    /// True when an example was held out.
    pub fn contains(&self, example: usize) -> bool {
        self.answers.iter().any(|(k, _)| *k == example)
    }
}

/// Bones and weights that the training poses do not determine.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RigDiagnosis {
    /// Pairs of bone and parent that move as one in every training pose: how weight is shared
    /// between the two is arbitrary.
    pub indistinct: Vec<[String; 2]>,
    /// Bones that no vertex follows.
    pub unused: Vec<String>,
    /// Bones whose vertices the training poses do not determine.
    pub under_determined: Vec<WeakBone>,
    /// Examples in the same pose as an earlier one.
    pub repeated: Vec<RepeatedPose>,
}

/// Two examples in the same pose.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepeatedPose {
    /// Names of the first example in the pose and of the later one.
    pub examples: [String; 2],
    /// Their numbers in the set.
    pub indices: [usize; 2],
    /// Largest distance between their meshes over the rest box's diagonal. Where it is not 0, no skin can
    /// match both, because a skin depends on the pose alone.
    pub max_distance: f64,
}

/// A bone whose weights or vectors the training poses do not determine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WeakBone {
    /// Name of the bone.
    pub bone: String,
    /// Vertices that may use it.
    pub vertices: usize,
    /// Those of them for which the bone adds unknowns that the training poses do not determine.
    pub open_vertices: usize,
}

/// Fits to all examples, then to the training part of each fold of a split, and measures the results.
///
/// `fit` gets the numbers of the examples to fit: first all of them, which makes the skin to keep, then the
/// training examples of each fold. So the skin to keep uses every example, and errors on held-out poses come
/// from skins fitted without them.
///
/// # Errors
/// Errors of `fit`, and [`FitError::Examples`] for a split that leaves nothing to fit.
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
        smoothing: fitted.smoothing,
        base: fitted.base,
        fit_seconds,
        tests: Vec::new(),
    })
}

/// Fits to the training part of each fold and measures the rest.
pub(super) fn hold_out(
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
    let extent = set.size();
    // A skin may have more bones than the examples, added by its method.
    let mut used = vec![false; skin.skeleton.bone_count().max(skeleton.bone_count())];
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
                // A millionth of the model is the rounding between copies of a pose in single precision.
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
        // Scalar weights are few; those that poses do not determine show in `indistinct`.
        under_determined: match skin.program {
            VertexProgram::Linear(_) | VertexProgram::MultiWeight(_) => {
                under_determined(set, training, skin)
            }
            VertexProgram::Ssd(_) | VertexProgram::DualQuaternion(_) => Vec::new(),
        },
        repeated: repeated(set, training, &poses),
    }
}

/// Examples with the same pose as an earlier one, each with the first such example.
///
/// Poses are compared with their neighbours in the order of one number that equal poses share,
/// which takes O(n log n) comparisons unless many poses are nearly equal.
fn repeated(set: &ExampleSet, which: &[usize], poses: &[Vec<DAffine3>]) -> Vec<RepeatedPose> {
    // As between a bone and its parent: rounding of single precision.
    const NEAR: f64 = 1e-6;
    let diagonal = set.size();
    let entries = |pose: &[DAffine3]| -> Vec<f64> {
        pose.iter()
            .flat_map(|m| {
                let turned = m.matrix3.to_cols_array();
                let moved = (m.translation / diagonal).to_array();
                turned.into_iter().chain(moved)
            })
            .collect()
    };
    let rows: Vec<Vec<f64>> = poses.iter().map(|pose| entries(pose)).collect();
    let sums: Vec<f64> = rows.iter().map(|row| row.iter().sum()).collect();
    let window = NEAR * rows.first().map_or(0, Vec::len) as f64;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| sums[a].total_cmp(&sums[b]).then(a.cmp(&b)));
    let mut first_like: Vec<usize> = (0..rows.len()).collect();
    for (place, &k) in order.iter().enumerate() {
        let near = order[place + 1..]
            .iter()
            .take_while(|&&other| sums[other] - sums[k] <= window);
        for &other in near {
            let alike = |(a, b): (&f64, &f64)| (a - b).abs() <= NEAR;
            if rows[k].iter().zip(&rows[other]).all(alike) {
                let first = first_like[k].min(first_like[other]);
                first_like[k] = first;
                first_like[other] = first;
            }
        }
    }
    let later = |&k: &usize| first_like[k] != k;
    (0..rows.len())
        .filter(later)
        .map(|k| {
            let indices = [first_like[k], k].map(|k| which[k]);
            let pair = indices.map(|k| &set.examples()[k]);
            let distances = pair[0].positions.iter().zip(&pair[1].positions);
            RepeatedPose {
                examples: pair.map(|example| example.name.clone()),
                indices,
                max_distance: distances.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / diagonal,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;
    use crate::fit::{SsdOptions, fit_ssd};
    use crate::progress::Silent;
    use crate::synth::{TubeOptions, tube};

    fn tube_examples() -> ExampleSet {
        let options = TubeOptions {
            ring_count: 8,
            segment_count: 6,
            bone_count: 3,
            example_count: 5,
        };
        tube(&options).examples
    }

    fn diagnosis(set: &ExampleSet) -> RigDiagnosis {
        let report = evaluate_fit(set, &Split::TrainOnAll, |training| {
            fit_ssd(set, training, &SsdOptions::default(), &Silent)
        });
        report.expect("a tube can be fitted").rig
    }

    #[test]
    fn a_skin_is_measured_on_a_set_that_no_fit_has_seen() {
        let set = tube_examples();
        let report = evaluate_fit(&set, &Split::TrainOnAll, |training| {
            fit_ssd(&set, training, &SsdOptions::default(), &Silent)
        });
        let mut report = report.expect("a tube can be fitted");
        let mut examples = set.examples()[..2].to_vec();
        examples[1].positions[0].x += 0.1;
        let test = ExampleSet::new(set.rest().clone(), set.skeleton().clone(), examples);
        let test = test.expect("valid").in_unit_of(&set);
        report.measure_on("other", &test).expect("the same bones");
        let [found] = &report.tests[..] else {
            panic!("one test: {:?}", report.tests);
        };
        assert_eq!(found.name, "other", "as it is called");
        let [first, second] = &found.measured.examples[..] else {
            panic!("two examples: {found:?}");
        };
        assert_eq!(
            first.e_rms, report.overall.examples[0].e_rms,
            "the same unit"
        );
        assert!(second.e_rms > first.e_rms + 1.0, "a vertex is elsewhere");
    }

    #[test]
    fn a_pose_given_twice_is_named_with_the_distance_of_its_meshes() {
        let set = tube_examples();
        assert!(diagnosis(&set).repeated.is_empty(), "all poses differ");
        let mut examples = set.examples().to_vec();
        let copy = |of: usize, name: &str| Example {
            name: name.to_owned(),
            ..examples[of].clone()
        };
        let (same, mut other, third) = (copy(1, "copy"), copy(3, "other"), copy(1, "again"));
        let diagonal = set.rest().bounds().diagonal();
        other.positions[7].z += 0.02 * diagonal;
        // A pose rounded to single precision counts as the same pose.
        for local in &mut other.pose.parent_from_bone {
            local.translation = local.translation.as_vec3().as_dvec3();
        }
        examples.extend([same, other, third]);
        let set = ExampleSet::new(set.rest().clone(), set.skeleton().clone(), examples)
            .expect("still valid");
        let found = diagnosis(&set).repeated;
        let name = |k: usize| set.examples()[k].name.clone();
        let pairs: Vec<[String; 2]> = found.iter().map(|r| r.examples.clone()).collect();
        let expected = [
            [name(1), "copy".to_owned()],
            [name(3), "other".to_owned()],
            [name(1), "again".to_owned()],
        ];
        assert_eq!(pairs, expected, "each with the first in its pose");
        assert_eq!(found[2].indices, [1, 7], "by number");
        assert_eq!(found[0].max_distance, 0.0, "the same mesh");
        let apart = found[1].max_distance;
        assert!((apart - 0.02).abs() < 1e-9, "found {apart}");
    }
}
