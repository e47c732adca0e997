//! Multi-weight enveloping from examples: twelve weights per influence.
//!
//! \[Wang02\] give every entry of a bone's matrix `N_j = G_j Ĝ_j⁻¹` a weight of its own,
//! `v_i = Σ_j (W_ij ∘ N_j) v̂_i`. Row `r` of the result depends on row `r` of the matrices alone, so a
//! vertex is three least-squares problems, each linear in `4n` numbers for `n` bones. Entries of
//! rotations depend on each other, and no joint has twelve freedoms: the problems are badly
//! conditioned. As in the paper, a principal component analysis of the training palette removes directions
//! that do not vary over the poses, and ridge regression damps those that hardly vary.
//!
//! With `y_jc = w_j,rc v̂_c` (and `v̂_4 = 1`) the unknowns of a row are the coefficients of the
//! palette's entries themselves. Vertices with the same bones then share their regressors, and with
//! them one analysis and one inverse. It also shows that the model is animation space with a separate vector
//! for each coordinate, which is why turning the whole character does not turn the result.
//!
//! Our own choices:
//!
//! - Lengths are divided by the longest side of the rest box. The box is *not* centred: weights cannot make
//!   up for a moved origin, because the only constant term is the matrices' last column. Scale is undone
//!   exactly.
//! - An entry whose rest coordinate is 0 moves nothing with any weight; it keeps the prior's weight.
//! - The mean of the entries is always kept beside the principal components of what varies.

use std::collections::BTreeMap;

use faer::{Mat, Side};
use glam::{DAffine3, DVec3};

use super::method::{
    MethodInfo, MethodOption, MethodOptions, OptionKind, OptionOf, Promises, StockPlayers, Weights,
    describe, number, set,
};
use super::{
    FitError, Fitted, InfluenceChoice, InfluenceSets, Prior, at_unit_size, bad_option,
    check_max_influences, check_training,
};
use crate::example::ExampleSet;
use crate::measure::{posed_from_rest, positive_or_one};
use crate::par;
use crate::progress::{Progress, Stage};
use crate::rig::BoneId;
use crate::skin::{MultiWeight, MultiWeightProgram, Skin, VertexProgram};
use crate::solve::SimplexLs;

/// How to fit multi-weight enveloping.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiWeightOptions {
    /// Most bones that may move one vertex when the choice is automatic; at least 1, default 4.
    pub max_influences: usize,
    /// Which bones a vertex may use; default automatic.
    pub influences: InfluenceChoice,
    /// Share of the variance of the palette's entries that the kept principal components explain;
    /// above 0, at most 1, default 0.999. Smaller follows fewer motions of the bones.
    ///
    /// Between 0.99 and 1 it hardly matters with the default ridge: held-out EE moves by less than a
    /// fiftieth on a tube, a hand and a body.
    pub kept_variance: f64,
    /// Ridge added to the normal equations, with the longest side of the rest box as unit of length;
    /// at least 0, default 0.1. Larger stays closer to the prior.
    ///
    /// Chosen by held-out EE on a tube, a hand and a body, as flat as can be from 0.01 to 1.
    pub lambda: f64,
    /// What the ridge pulls towards; default the linear blend skin with the same bones.
    ///
    /// [`Prior::Zero`], as in the paper, shrinks the whole motion: it wants a `lambda` of 0.001 or
    /// less and a `kept_variance` of 0.999 or more, and gains nothing.
    pub prior: Prior,
}

impl Default for MultiWeightOptions {
    fn default() -> Self {
        Self {
            max_influences: 4,
            influences: InfluenceChoice::Automatic,
            kept_variance: 0.999,
            lambda: 0.1,
            prior: Prior::Ssd,
        }
    }
}

pub(super) static INFO: MethodInfo = MethodInfo {
    key: "mwe",
    aliases: &[],
    title: "multi-weight enveloping",
    summary: "twelve numbers per influence; distorts a character that faces another way than in the examples",
    use_when: "it is to be compared with",
    promises: Promises {
        turns_with_the_character: false,
        is_linear: false,
        weights: Weights::Free,
        in_stock_players: StockPlayers::StandIn,
        meets_examples_with: &[],
    },
};

const TABLE: &[OptionOf<MultiWeightOptions>] = &[OptionOf {
    name: "lambda",
    kind: OptionKind::Number { word: None },
    help: "Smoothing of each vertex alone, by a pull towards linear blend skinning or another prior; larger pulls more",
    instead_of: None,
    get: |options| options.lambda.to_string(),
    set: |options, text| {
        options.lambda = number(text)?;
        Some(())
    },
}];

impl MethodOptions for MultiWeightOptions {
    fn check(&self) -> Result<(), FitError> {
        check_max_influences(self.max_influences)?;
        if !(self.kept_variance > 0.0 && self.kept_variance <= 1.0) {
            return bad_option("kept-variance", "expected a share above 0 and at most 1");
        }
        if !(self.lambda >= 0.0 && self.lambda.is_finite()) {
            return bad_option("lambda", "expected a number of at least 0");
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

    fn influences_mut(&mut self) -> Option<&mut InfluenceChoice> {
        Some(&mut self.influences)
    }
}

/// A rest coordinate below this share of the longest side counts as 0: its weight moves nothing.
const NO_LEVER: f64 = 1e-4;

/// Fits twelve weights per influence to the examples numbered in `training`.
///
/// Fewer examples than unknowns are no error: numbers that they do not determine stay at the prior.
///
/// Cost: O(S·(K·m² + m³) + V·K·m) for S distinct influence sets, K examples, V vertices and m = 4
/// times the bones of a vertex. The result is the same on any number of threads.
///
/// ```
/// use dermis::fit::{MultiWeightOptions, fit_multi_weight};
/// use dermis::progress::Silent;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let training: Vec<usize> = (0..arm.examples().len()).collect();
/// let fitted = fit_multi_weight(&arm, &training, &MultiWeightOptions::default(), &Silent)?;
/// assert_eq!(fitted.skin.program.name(), "multi-weight enveloping");
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// [`FitError::NothingToFit`], [`FitError::BadOption`], and [`FitError::Stopped`].
pub fn fit_multi_weight(
    set: &ExampleSet,
    training: &[usize],
    options: &MultiWeightOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    options.check()?;
    check_training(set, training)?;
    at_unit_size(set, |set| {
        let sets = influence_sets(set, training, options, progress)?;
        sets.check_memory(training.len())?;
        let problem = Problem::new(set, training);
        let (sets_by_number, set_of_vertex) = problem.distinct_sets(&sets);
        let solvers = par::map(sets_by_number.len(), |number| {
            RowSolvers::new(&problem, &sets_by_number[number], options)
        });
        let stage = Stage::new(progress, "fitting matrix weights", set_of_vertex.len());
        let fitted = par::map_with(set_of_vertex.len(), SimplexLs::new, |simplex, i| {
            let solver = &solvers[set_of_vertex[i]];
            stage
                .step()
                .then(|| problem.fit_vertex(i, solver, options.prior, simplex))
        });
        if stage.is_stopped() {
            return Err(FitError::Stopped);
        }
        let (influences, errors): (Vec<_>, Vec<f64>) = fitted.into_iter().flatten().unzip();
        let mean = errors.iter().sum::<f64>() / (errors.len() * training.len()).max(1) as f64;
        let program = MultiWeightProgram {
            rest_positions: set.rest().positions().to_vec(),
            influences: influences.into_iter().collect(),
            corrections: Vec::new(),
        };
        Ok(Fitted {
            skin: Skin::new(
                set.skeleton().clone(),
                VertexProgram::MultiWeight(program),
                Vec::new(),
            )?,
            round_errors: vec![problem.unit * mean.sqrt()],
            smoothing: Some(options.lambda),
            base: None,
        })
    })
}

/// The bones of every vertex.
fn influence_sets(
    set: &ExampleSet,
    training: &[usize],
    options: &MultiWeightOptions,
    progress: &dyn Progress,
) -> Result<InfluenceSets, FitError> {
    match &options.influences {
        InfluenceChoice::Automatic => {
            InfluenceSets::automatic(set, training, options.max_influences, progress)
        }
        InfluenceChoice::Given(sets) => {
            sets.check(set.rest().vertex_count(), set.skeleton().bone_count())?;
            Ok(sets.clone())
        }
    }
}

/// Bones and rest coordinates that several vertices have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SharedSet {
    bones: Vec<BoneId>,
    /// Which of the coordinates x, y, z are far enough from 0 for their weights to matter.
    levers: [bool; 3],
}

struct Problem<'a> {
    set: &'a ExampleSet,
    training: &'a [usize],
    /// Model units in one unit of the scaled problem.
    unit: f64,
    /// `N_j` by training example, then by bone, its translation in scaled units.
    palettes: Vec<Vec<DAffine3>>,
}

impl<'a> Problem<'a> {
    fn new(set: &'a ExampleSet, training: &'a [usize]) -> Self {
        let bounds = set.rest().bounds();
        let unit = positive_or_one((bounds.max - bounds.min).max_element());
        let mut palettes = posed_from_rest(set, training);
        for n in palettes.iter_mut().flatten() {
            n.translation /= unit;
        }
        Self {
            set,
            training,
            unit,
            palettes,
        }
    }

    fn rest(&self, i: usize) -> DVec3 {
        self.set.rest().positions()[i] / self.unit
    }

    /// The distinct sets, and the index of each vertex's set.
    fn distinct_sets(&self, sets: &InfluenceSets) -> (Vec<SharedSet>, Vec<usize>) {
        let mut numbers = BTreeMap::new();
        let mut distinct = Vec::new();
        let of_vertex = (0..sets.vertex_count())
            .map(|i| {
                let shared = SharedSet {
                    bones: sets.bones(i).to_vec(),
                    levers: self.rest(i).to_array().map(|x| x.abs() >= NO_LEVER),
                };
                *numbers.entry(shared.clone()).or_insert_with(|| {
                    distinct.push(shared);
                    distinct.len() - 1
                })
            })
            .collect();
        (distinct, of_vertex)
    }

    fn fit_vertex(
        &self,
        i: usize,
        solvers: &RowSolvers,
        prior: Prior,
        simplex: &mut SimplexLs,
    ) -> (Vec<MultiWeight>, f64) {
        let rest = self.rest(i);
        let prior = self.prior_weights(i, &solvers.shared.bones, prior, simplex);
        let mut influences: Vec<MultiWeight> = solvers
            .shared
            .bones
            .iter()
            .zip(&prior)
            .map(|(&bone, &weight)| MultiWeight {
                bone,
                weights: [[weight; 4]; 3],
            })
            .collect();
        let misses: Vec<DVec3> = self
            .palettes
            .iter()
            .zip(self.training)
            .map(|(palette, &k)| {
                let bones = solvers.shared.bones.iter().zip(&prior);
                let blended: DVec3 = bones
                    .map(|(bone, w)| *w * palette[bone.index()].transform_point3(rest))
                    .sum();
                self.set.examples()[k].positions[i] / self.unit - blended
            })
            .collect();
        let mut squared_error = 0.0;
        for (row, solver) in solvers.rows.iter().enumerate() {
            let (change, squared) = solver.solve(misses.iter().map(|miss| miss[row]));
            squared_error += squared;
            for (&(j, column), y) in solvers.columns.iter().zip(&change) {
                influences[j].weights[row][column] += y / rest.extend(1.0)[column];
            }
        }
        (influences, squared_error)
    }

    /// One weight per bone of the set, in its order.
    fn prior_weights(
        &self,
        i: usize,
        bones: &[BoneId],
        prior: Prior,
        simplex: &mut SimplexLs,
    ) -> Vec<f64> {
        let mut weights = vec![0.0; bones.len()];
        if prior == Prior::Ssd {
            let rest = self.rest(i);
            let mut misses = Vec::with_capacity(3 * bones.len() * self.training.len());
            for bone in bones {
                for (palette, &k) in self.palettes.iter().zip(self.training) {
                    let target = self.set.examples()[k].positions[i] / self.unit;
                    let miss = palette[bone.index()].transform_point3(rest) - target;
                    misses.extend(miss.to_array());
                }
            }
            let rows = 3 * self.training.len();
            for (j, weight) in simplex.solve(&misses, rows, bones.len()).weights {
                weights[j] = weight;
            }
        }
        weights
    }
}

/// The three regressions of all vertices that share a set.
struct RowSolvers {
    shared: SharedSet,
    /// Bone of the set and column of its matrix for every regressor.
    columns: Vec<(usize, usize)>,
    rows: [RowSolver; 3],
}

impl RowSolvers {
    fn new(problem: &Problem<'_>, shared: &SharedSet, options: &MultiWeightOptions) -> Self {
        let columns: Vec<(usize, usize)> = (0..shared.bones.len())
            .flat_map(|j| (0..4).map(move |column| (j, column)))
            .filter(|&(_, column)| column == 3 || shared.levers[column])
            .collect();
        let rows = [0, 1, 2].map(|row| {
            let mut regressors = Vec::with_capacity(problem.palettes.len() * columns.len());
            for palette in &problem.palettes {
                regressors.extend(columns.iter().map(|&(j, column)| {
                    let n = &palette[shared.bones[j].index()];
                    [n.x_axis, n.y_axis, n.z_axis, n.translation][column][row]
                }));
            }
            RowSolver::new(regressors, columns.len(), options)
        });
        Self {
            shared: shared.clone(),
            columns,
            rows,
        }
    }
}

/// A ridge regression on principal components, ready for any number of right-hand sides.
struct RowSolver {
    /// `X`: one row of entries per example.
    regressors: Vec<f64>,
    /// `Q (QᵀXᵀXQ + λ)⁻¹ Qᵀ`, square, where the columns of `Q` span the kept components.
    inverse: Vec<f64>,
    count: usize,
}

impl RowSolver {
    fn new(regressors: Vec<f64>, count: usize, options: &MultiWeightOptions) -> Self {
        let basis = kept_basis(&regressors, count, options.kept_variance);
        let projected: Vec<Vec<f64>> = regressors
            .chunks_exact(count)
            .map(|row| basis.iter().map(|q| dot(q, row)).collect())
            .collect();
        let gram = |a: usize, b: usize| projected.iter().map(|row| row[a] * row[b]).sum::<f64>();
        let pairs = symmetric_eigen(basis.len(), gram);
        let largest = pairs.iter().map(|(value, _)| *value).fold(0.0, f64::max);
        let mut inverse = vec![0.0; count * count];
        for (value, vector) in pairs {
            // Below rounding of the sums there is nothing to fit, only noise to divide by.
            if value <= 1e-12 * largest {
                continue;
            }
            let share = 1.0 / (value + options.lambda);
            let mut direction = vec![0.0; count];
            for (q, part) in basis.iter().zip(&vector) {
                direction
                    .iter_mut()
                    .zip(q)
                    .for_each(|(d, q)| *d += part * q);
            }
            for (a, left) in direction.iter().enumerate() {
                for (b, right) in direction.iter().enumerate() {
                    inverse[a * count + b] += share * left * right;
                }
            }
        }
        Self {
            regressors,
            inverse,
            count,
        }
    }

    /// The coefficients for a list of targets, one per example, and the squared error left.
    fn solve(&self, targets: impl Iterator<Item = f64> + Clone) -> (Vec<f64>, f64) {
        let rows = || self.regressors.chunks_exact(self.count);
        let mut right = vec![0.0; self.count];
        for (row, target) in rows().zip(targets.clone()) {
            right
                .iter_mut()
                .zip(row)
                .for_each(|(r, x)| *r += target * x);
        }
        let y: Vec<f64> = self
            .inverse
            .chunks_exact(self.count)
            .map(|row| dot(row, &right))
            .collect();
        let squared = rows()
            .zip(targets)
            .map(|(row, t)| (t - dot(row, &y)).powi(2));
        let squared = squared.sum();
        (y, squared)
    }
}

/// An orthonormal basis of the mean row and of the principal components about it.
fn kept_basis(rows: &[f64], count: usize, kept_variance: f64) -> Vec<Vec<f64>> {
    let example_count = (rows.len() / count.max(1)).max(1) as f64;
    let mut mean = vec![0.0; count];
    for row in rows.chunks_exact(count) {
        mean.iter_mut()
            .zip(row)
            .for_each(|(m, x)| *m += x / example_count);
    }
    let covariance = |a: usize, b: usize| {
        let rows = rows.chunks_exact(count);
        rows.map(|row| (row[a] - mean[a]) * (row[b] - mean[b]))
            .sum::<f64>()
    };
    let pairs = symmetric_eigen(count, covariance);
    let total: f64 = pairs.iter().map(|(value, _)| value.max(0.0)).sum();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut left_out = total;
    for (value, vector) in pairs.into_iter().rev() {
        // A share of exactly 1 keeps everything that is not rounding.
        if left_out <= (1.0 - kept_variance).max(1e-14) * total {
            break;
        }
        left_out -= value;
        basis.push(vector);
    }
    for _ in 0..2 {
        for q in &basis {
            let part = dot(q, &mean);
            mean.iter_mut().zip(q).for_each(|(m, q)| *m -= part * q);
        }
    }
    let length = dot(&mean, &mean).sqrt();
    if length > 1e-9 {
        basis.push(mean.iter().map(|m| m / length).collect());
    }
    basis
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Eigenvalues of a symmetric matrix in rising order, each with its unit eigenvector.
///
/// faer is built without its own threads, so the result does not depend on how many there are.
fn symmetric_eigen(size: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<(f64, Vec<f64>)> {
    if size == 0 {
        return Vec::new();
    }
    let matrix = Mat::from_fn(size, size, |a, b| if a >= b { entry(a, b) } else { 0.0 });
    let eigen = matrix
        .self_adjoint_eigen(Side::Lower)
        .expect("sums of products of finite entries have eigenvalues");
    (0..size)
        .map(|k| {
            let vector = (0..size).map(|a| eigen.U()[(a, k)]).collect();
            (eigen.S()[k], vector)
        })
        .collect()
}
