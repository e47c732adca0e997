//! Rotational regression: skin that turns and stretches as joints turn, on bones of its own.
//!
//! Linear blend skinning moves a vertex with bones. But skin between two bones turns with neither: half-way
//! along a twisting forearm, less and about another axis over a muscle. \[Wang07\] learns from examples how
//! patches of skin turn with a joint (a share `u` of its angle, its axis offset by `W`) and how they stretch,
//! puts the patches together by a Poisson equation, and reduces that to **proxy bones**: the work per vertex
//! is then linear blend skinning.
//!
//! ```text
//! examples ─▶ linear blend fit ─▶ near-rigid vertices stay with it      (mod)
//!    │                                   │
//!    └─▶ patches: groups of triangles (cluster, islands), their weights and motions (blend)
//!                                        │
//!                        predictors of those motions: u, W, H           (readings, regress, ridge)
//!                                        │
//!                 C1, C2 (compile, prune) ─▶ Skin with ProxyBones       (reduce)
//! ```
//!
//! [`fit_full_regression`] is the same without the reduction: a predictor for every triangle and a solve per
//! pose. It is the slow form that the reduced one is tested against.

mod blend;
mod cluster;
mod compile;
mod full;
mod islands;
mod near;
mod options;
mod poisson;
mod prune;
mod readings;
mod reduce;
mod regress;
mod ridge;
mod summary;

pub use full::{FullRegression, fit_full_regression};
pub use options::{ProxyCount, RotationalOptions};
pub use poisson::PoissonSolver;
pub use summary::{ProxySummary, proxy_summary};

pub(super) use options::INFO;

use glam::DVec3;

use super::method::MethodOptions;
use super::{FitError, Fitted, SsdOptions, at_unit_size, fit_ssd};
use crate::example::ExampleSet;
use crate::mesh::Topology;
use crate::par;
use crate::progress::Progress;
use crate::rig::{BoneId, Pose};
use crate::skin::{SsdProgram, VertexProgram};

/// How often vertices that linear blend skinning fits better are given back to it.
const GIVE_BACK_ROUNDS: usize = 2;
/// Most bones that the frame of a patch blends.
const MOST_FRAME_BONES: usize = 4;
/// Fits rotational regression to the examples numbered in `training`.
///
/// The skin has [proxy bones](crate::skin::PoseProgram::proxies) after the skeleton's bones, and is linear blend skinning over both:
/// near-rigid vertices follow the skeleton, the others proxies. Where linear blend skinning still fits the
/// training examples better at a vertex, the vertex stays with it. If no vertex needs proxies, the skin has
/// none. [`Fitted::round_errors`] are those of linear blend skinning, of the proxies when they move in the
/// best possible way, and of the skin.
///
/// Cost: that of [`fit_ssd`]; O(T K log T) to join T triangles over K examples; O(T K) per round of weights
/// and, for P proxies, O(P³ + P² K) of motions; O(P J K) for the predictors of J joints. All linear in the
/// mesh and the examples but for a logarithm; and O(K² J) for the order in which poses follow each other,
/// which matters for thousands of examples.
///
/// ```
/// use dermis::fit::{ProxyCount, RotationalOptions, fit_rotational_regression};
/// use dermis::progress::Silent;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let training: Vec<usize> = (0..arm.examples().len()).collect();
/// let options = RotationalOptions { proxies: ProxyCount::Exactly(12), ..Default::default() };
/// let fitted = fit_rotational_regression(&arm, &training, &options, &Silent)?;
/// let proxies = fitted.skin.pose_program.proxies().expect("a forearm that twists");
/// assert!(proxies.bones.len() <= 12);
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// [`FitError::NothingToFit`], [`FitError::BadOption`], and [`FitError::Stopped`] when `progress` stops the
/// job.
pub fn fit_rotational_regression(
    set: &ExampleSet,
    training: &[usize],
    options: &RotationalOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    options.check()?;
    at_unit_size(set, |set| {
        let mut base = Base::fit(set, training, options, progress)?;
        if options.place_weight == 0.0 {
            base.hold_one_of_each_part();
        }
        reduce::fit(&base, options, progress)
    })
}

/// Linear blend skinning, and which vertices stay with it.
struct Base<'a> {
    set: &'a ExampleSet,
    training: &'a [usize],
    ssd: SsdProgram,
    /// Root-mean-square error of every vertex over the training examples, in model units.
    errors: Vec<f64>,
    is_held: Vec<bool>,
}

impl<'a> Base<'a> {
    fn fit(
        set: &'a ExampleSet,
        training: &'a [usize],
        options: &RotationalOptions,
        progress: &dyn Progress,
    ) -> Result<Self, FitError> {
        let ssd = SsdOptions {
            max_influences: options.max_influences,
            ..SsdOptions::default()
        };
        let fitted = fit_ssd(set, training, &ssd, progress)?;
        let errors = vertex_errors(|pose| Ok(fitted.skin.evaluate(pose)?), set, training)?;
        let VertexProgram::Ssd(ssd) = fitted.skin.program else {
            unreachable!("linear blend skinning was fitted");
        };
        let diagonal = set.size();
        let tolerance = options.rigid_tolerance * diagonal;
        let mut is_held: Vec<bool> = errors.iter().map(|&e| e <= tolerance).collect();
        let topology = Topology::new(set.rest().vertex_count(), set.rest().triangles());
        for &vertex in topology.unreferenced_vertices() {
            is_held[vertex as usize] = true;
        }
        Ok(Self {
            set,
            training,
            ssd,
            errors,
            is_held,
        })
    }

    /// Also holds the best-predicted vertex of each part of the mesh, because gradients do not determine
    /// where a part is.
    fn hold_one_of_each_part(&mut self) {
        let mesh = self.set.rest();
        let topology = Topology::new(mesh.vertex_count(), mesh.triangles());
        let mut best: Vec<Option<usize>> = vec![None; topology.component_count()];
        for (vertex, &part) in topology.component_of_vertex().iter().enumerate() {
            if let Some(best) = best.get_mut(part as usize)
                && best.is_none_or(|other| self.errors[vertex] < self.errors[other])
            {
                *best = Some(vertex);
            }
        }
        for vertex in best.into_iter().flatten() {
            self.is_held[vertex] = true;
        }
    }

    /// The bones that move some vertices, with their weights in the mean: at most four.
    fn mean_bones(&self, vertices: impl Iterator<Item = (usize, f64)>) -> Vec<(BoneId, f64)> {
        let mut sums = vec![0.0; self.set.skeleton().bone_count()];
        for (vertex, share) in vertices {
            for w in self.ssd.weights.row(vertex) {
                sums[w.bone.index()] += share * w.weight;
            }
        }
        let mut bones: Vec<(BoneId, f64)> = (self.set.skeleton().ids())
            .map(|bone| (bone, sums[bone.index()]))
            .filter(|(_, sum)| *sum > 0.0)
            .collect();
        bones.sort_by(|a, b| b.1.total_cmp(&a.1));
        bones.truncate(MOST_FRAME_BONES);
        let total: f64 = bones.iter().map(|(_, sum)| sum).sum();
        bones.iter_mut().for_each(|(_, sum)| *sum /= total);
        bones
    }

    /// The numbers of the triangles with a corner that is not held.
    fn free_triangles(&self) -> Vec<u32> {
        let triangles = self.set.rest().triangles().iter();
        let is_free = |corners: &[u32; 3]| corners.iter().any(|&i| !self.is_held[i as usize]);
        (0u32..)
            .zip(triangles)
            .filter(|(_, corners)| is_free(corners))
            .map(|(k, _)| k)
            .collect()
    }

    /// The rest shape and the training examples' shapes.
    fn shapes(&self) -> Vec<&'a [DVec3]> {
        let examples = self.training.iter();
        let posed = examples.map(|&k| self.set.examples()[k].positions.as_slice());
        std::iter::once(self.set.rest().positions())
            .chain(posed)
            .collect()
    }

    /// Root-mean-square error over all vertices.
    fn rms(&self) -> f64 {
        rms(&self.errors)
    }
}

/// Root-mean-square error of every vertex over some examples, in model units.
fn vertex_errors(
    evaluate: impl Fn(&Pose) -> Result<Vec<DVec3>, FitError> + Sync + Send,
    set: &ExampleSet,
    which: &[usize],
) -> Result<Vec<f64>, FitError> {
    let found = par::map(which.len(), |k| evaluate(&set.examples()[which[k]].pose));
    let mut squared = vec![0.0; set.rest().vertex_count()];
    for (&k, found) in which.iter().zip(found) {
        let pairs = found?.into_iter().zip(&set.examples()[k].positions);
        for (squared, (a, b)) in squared.iter_mut().zip(pairs) {
            *squared += a.distance_squared(*b);
        }
    }
    let mean = |squared: f64| (squared / which.len().max(1) as f64).sqrt();
    Ok(squared.into_iter().map(mean).collect())
}

/// The root mean square of some numbers.
fn rms(numbers: &[f64]) -> f64 {
    let squared: f64 = numbers.iter().map(|x| x * x).sum();
    (squared / numbers.len().max(1) as f64).sqrt()
}
