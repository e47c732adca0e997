//! Linear blend skinning (SSD) from examples: which bones move each vertex, and by how much.
//!
//! Every vertex is a small problem of its own: find weights, none negative, summing to 1, at most a
//! few of them, with which the bones' rigid predictions blend to what the examples show
//! (\[James05\] §4, with the sum held exactly instead of by a soft row). Every bone competes;
//! [`SimplexLs`] does the rest.
//!
//! Optionally the rest positions are fitted too, in turn with the weights (\[Mohr03\] §4): with the
//! weights fixed, a vertex's best rest position is a 3×3 linear system.
//!
//! Linear blend skinning cannot turn without shrinking: a limb twisted by θ keeps `cos(θ/2)` of its
//! radius where two bones share it equally, and no choice of weights mends that.

use glam::{DAffine3, DMat3, DVec3};

use super::method::{
    MethodInfo, MethodOption, MethodOptions, OptionKind, OptionOf, Promises, StockPlayers, Weights,
    count, describe, number, set,
};
use super::{
    FitError, Fitted, InfluenceSets, at_unit_size, bad_option, check_max_influences, check_training,
};
use crate::example::ExampleSet;
use crate::measure::posed_from_rest;
use crate::par;
use crate::progress::{Progress, Stage};
use crate::rig::BoneId;
use crate::skin::{Rows, Skin, SsdProgram, VertexProgram, Weight};
use crate::solve::SimplexLs;

/// How to fit linear blend skinning.
#[derive(Debug, Clone, PartialEq)]
pub struct SsdOptions {
    /// Most bones that may move one vertex; at least 1, default 4 (what engines read first).
    pub max_influences: usize,
    /// Rounds of fitting rest positions and weights in turn; default 0: the rest mesh is kept.
    pub rest_rounds: usize,
    /// How strongly a fitted rest position is held at the given one, as a share of one example's
    /// pull; at least 0, default 0.01. Larger stays closer.
    pub rest_stiffness: f64,
}

impl Default for SsdOptions {
    fn default() -> Self {
        Self {
            max_influences: 4,
            rest_rounds: 0,
            rest_stiffness: 0.01,
        }
    }
}

pub(super) static INFO: MethodInfo = MethodInfo {
    key: "ssd",
    aliases: &["lbs"],
    title: "linear blend skinning",
    summary: "linear blend skinning (skeletal subspace deformation): one weight per influence",
    use_when: "every engine must play it, with nothing added",
    promises: Promises {
        turns_with_the_character: true,
        is_linear: true,
        weights: Weights::Shares,
        in_stock_players: StockPlayers::Exact,
        meets_examples_with: &[],
    },
};

const TABLE: &[OptionOf<SsdOptions>] = &[
    OptionOf {
        name: "rest-rounds",
        kind: OptionKind::Count {
            least: 0,
            word: None,
        },
        help: "How many times the rest positions are fitted too, and then the weights again",
        instead_of: None,
        get: |options| options.rest_rounds.to_string(),
        set: |options, text| {
            options.rest_rounds = count(text)?;
            Some(())
        },
    },
    OptionOf {
        name: "rest-stiffness",
        kind: OptionKind::Number { word: None },
        help: "How strongly fitted rest positions are pulled back to the given ones",
        instead_of: None,
        get: |options| options.rest_stiffness.to_string(),
        set: |options, text| {
            options.rest_stiffness = number(text)?;
            Some(())
        },
    },
];

impl MethodOptions for SsdOptions {
    fn check(&self) -> Result<(), FitError> {
        check_max_influences(self.max_influences)?;
        if !(self.rest_stiffness >= 0.0 && self.rest_stiffness.is_finite()) {
            return bad_option("rest-stiffness", "expected a number of at least 0");
        }
        Ok(())
    }

    fn max_influences(&self) -> usize {
        self.max_influences
    }

    fn set_max_influences(&mut self, max_influences: usize) {
        self.max_influences = max_influences;
    }

    fn options(&self) -> Vec<MethodOption> {
        describe(self, TABLE)
    }

    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), FitError>> {
        set(self, TABLE, name, text)
    }
}

/// Fits weights, and rest positions if asked, to the examples numbered in `training`.
///
/// Cost: O(V·b·K) per solver step, for V vertices, b bones and K examples. The result is the same on
/// any number of threads.
///
/// ```
/// use dermis::fit::{SsdOptions, fit_ssd};
/// use dermis::progress::Silent;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let training: Vec<usize> = (0..arm.examples().len()).collect();
/// let fitted = fit_ssd(&arm, &training, &SsdOptions::default(), &Silent)?;
/// assert_eq!(fitted.skin.vertex_count(), arm.rest().vertex_count());
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// [`FitError::NothingToFit`], [`FitError::BadOption`], and [`FitError::Stopped`] when `progress`
/// says so.
pub fn fit_ssd(
    set: &ExampleSet,
    training: &[usize],
    options: &SsdOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    check(set, training, options)?;
    at_unit_size(set, |set| {
        Problem::new(set, training).fit(None, options, progress)
    })
}

/// As [`fit_ssd`], where each vertex may use the bones of its row in `allowed`, none empty.
pub(super) fn fit_ssd_among(
    set: &ExampleSet,
    training: &[usize],
    allowed: &[Vec<u16>],
    options: &SsdOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    check(set, training, options)?;
    at_unit_size(set, |set| {
        Problem::new(set, training).fit(Some(allowed), options, progress)
    })
}

fn check(set: &ExampleSet, training: &[usize], options: &SsdOptions) -> Result<(), FitError> {
    options.check()?;
    check_training(set, training)
}

/// The best weights when each vertex may use the bones of its set and no others.
pub(super) fn fit_weights_within(
    set: &ExampleSet,
    training: &[usize],
    sets: &InfluenceSets,
    progress: &dyn Progress,
) -> Result<Rows<Weight>, FitError> {
    let bones = |i: usize| sets.bones(i).iter().map(|bone| bone.0).collect();
    let allowed: Vec<Vec<u16>> = (0..sets.vertex_count()).map(bones).collect();
    let options = SsdOptions {
        max_influences: allowed.iter().map(Vec::len).max().unwrap_or(1),
        ..SsdOptions::default()
    };
    match fit_ssd_among(set, training, &allowed, &options, progress)?
        .skin
        .program
    {
        VertexProgram::Ssd(ssd) => Ok(ssd.weights),
        _ => unreachable!("linear blend skinning was fitted"),
    }
}

/// The weights of one vertex.
struct VertexWeights {
    weights: Vec<Weight>,
    squared_error: f64,
}

struct Problem<'a> {
    set: &'a ExampleSet,
    training: &'a [usize],
    /// `N_j` by bone, then by training example, so that a column is filled in one sweep.
    posed_from_rest: Vec<Vec<DAffine3>>,
}

impl<'a> Problem<'a> {
    fn new(set: &'a ExampleSet, training: &'a [usize]) -> Self {
        let by_example = posed_from_rest(set, training);
        let posed_from_rest = (0..set.skeleton().bone_count())
            .map(|j| by_example.iter().map(|matrices| matrices[j]).collect())
            .collect();
        Self {
            set,
            training,
            posed_from_rest,
        }
    }

    /// Weights, and rest positions if asked, from the bones that each vertex may use.
    fn fit(
        &self,
        allowed: Option<&[Vec<u16>]>,
        options: &SsdOptions,
        progress: &dyn Progress,
    ) -> Result<Fitted, FitError> {
        let mut rest = self.set.rest().positions().to_vec();
        let mut solved = self.solve_weights(&rest, allowed, options, progress)?;
        let mut round_errors = vec![self.rms(&solved)];
        for _ in 0..options.rest_rounds {
            rest = self.solve_rest(&solved, options.rest_stiffness);
            solved = self.solve_weights(&rest, allowed, options, progress)?;
            round_errors.push(self.rms(&solved));
        }
        let program = SsdProgram {
            rest_positions: rest,
            weights: solved
                .into_iter()
                .map(|vertex| vertex.weights)
                .collect::<Rows<_>>(),
            corrections: Vec::new(),
        };
        Ok(Fitted {
            skin: Skin::new(
                self.set.skeleton().clone(),
                VertexProgram::Ssd(program),
                Vec::new(),
            )?,
            round_errors,
            smoothing: None,
            base: None,
        })
    }

    fn targets(&self, i: usize, into: &mut Vec<DVec3>) {
        into.clear();
        into.extend(
            self.training
                .iter()
                .map(|&k| self.set.examples()[k].positions[i]),
        );
    }

    fn solve_weights(
        &self,
        rest: &[DVec3],
        allowed: Option<&[Vec<u16>]>,
        options: &SsdOptions,
        progress: &dyn Progress,
    ) -> Result<Vec<VertexWeights>, FitError> {
        struct Scratch {
            solver: SimplexLs,
            targets: Vec<DVec3>,
            columns: Vec<f64>,
        }
        let every_bone: Vec<u16> = (0..self.posed_from_rest.len() as u16).collect();
        let stage = Stage::new(progress, "fitting weights", rest.len());
        let scratch = || Scratch {
            solver: SimplexLs::new(),
            targets: Vec::new(),
            columns: Vec::new(),
        };
        let solved = par::map_with(rest.len(), scratch, |scratch, i| {
            if !stage.step() {
                return None;
            }
            let bones = allowed.map_or(&every_bone, |allowed| &allowed[i]);
            self.targets(i, &mut scratch.targets);
            scratch.columns.clear();
            for &j in bones {
                let matrices = &self.posed_from_rest[usize::from(j)];
                for (matrix, target) in matrices.iter().zip(&scratch.targets) {
                    let miss = matrix.transform_point3(rest[i]) - *target;
                    scratch.columns.extend_from_slice(&miss.to_array());
                }
            }
            let rows = 3 * self.training.len();
            let solution = scratch
                .solver
                .solve(&scratch.columns, rows, options.max_influences);
            let weight = |&(column, weight): &(usize, f64)| Weight {
                bone: BoneId(bones[column]),
                weight,
            };
            Some(VertexWeights {
                weights: solution.weights.iter().map(weight).collect(),
                squared_error: solution.squared_error,
            })
        });
        if stage.is_stopped() {
            return Err(FitError::Stopped);
        }
        Ok(solved.into_iter().flatten().collect())
    }

    /// The rest position of every vertex that suits its weights best.
    ///
    /// Minimises `Σ_k |M_k v̂ + t_k − v_k|² + s |v̂ − v̂₀|²` with the blended matrices `(M_k, t_k)`.
    fn solve_rest(&self, solved: &[VertexWeights], stiffness: f64) -> Vec<DVec3> {
        par::map_with(solved.len(), Vec::new, |targets, i| {
            self.targets(i, targets);
            let given = self.set.rest().positions()[i];
            let mut normal_matrix = DMat3::from_diagonal(DVec3::splat(stiffness));
            let mut right = stiffness * given;
            for (k, target) in targets.iter().enumerate() {
                let mut blended = DAffine3::ZERO;
                for w in &solved[i].weights {
                    let matrix = self.posed_from_rest[w.bone.index()][k];
                    blended.matrix3 += matrix.matrix3 * w.weight;
                    blended.translation += matrix.translation * w.weight;
                }
                let transposed = blended.matrix3.transpose();
                normal_matrix += transposed * blended.matrix3;
                right += transposed * (*target - blended.translation);
            }
            let fitted = normal_matrix.inverse() * right;
            if fitted.is_finite() { fitted } else { given }
        })
    }

    fn rms(&self, solved: &[VertexWeights]) -> f64 {
        let squared: f64 = solved.iter().map(|vertex| vertex.squared_error).sum();
        (squared / (solved.len() * self.training.len()).max(1) as f64).sqrt()
    }
}
