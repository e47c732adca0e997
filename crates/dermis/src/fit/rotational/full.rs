//! Rotational regression without reduction: a predictor for every triangle, a Poisson solve for every pose.

use glam::{DAffine3, DMat3, DVec3};

use super::poisson::PoissonSolver;
use super::readings::Readings;
use super::regress::{PatchMotion, fit_patch};
use super::{Base, GIVE_BACK_ROUNDS, RotationalOptions, vertex_errors};
use crate::example::ExampleSet;
use crate::fit::FitError;
use crate::fit::method::MethodOptions;
use crate::mesh::{inverse_frame, triangle_frame};
use crate::par;
use crate::progress::{Progress, Stage};
use crate::rig::{BoneId, PatchPredictor, Pose, ProxyBones};
use crate::skin::{Skin, VertexProgram};

/// The full form of rotational regression (\[Wang07\] §4.2), which the reduced form approximates.
pub struct FullRegression {
    /// Linear blend skinning, for the vertices that are held.
    ssd: Skin,
    is_held: Vec<bool>,
    /// A predictor for every triangle with a free corner, without any proxies to place.
    predictors: ProxyBones,
    /// The gradient of every triangle; `None` for those whose corners are all held.
    predictor_of: Vec<Option<usize>>,
    poisson: PoissonSolver,
}

impl FullRegression {
    /// Which vertices are held at their linear blend prediction.
    pub fn is_held(&self) -> &[bool] {
        &self.is_held
    }

    /// One predictor for each triangle with a free corner, in order: to show `u` over a mesh.
    pub fn predictors(&self) -> &[PatchPredictor] {
        &self.predictors.patches
    }

    /// Vertex positions in a pose.
    ///
    /// # Errors
    /// [`FitError::Skin`] for a pose of another skeleton.
    pub fn evaluate(&self, pose: &Pose) -> Result<Vec<DVec3>, FitError> {
        let inputs = self.ssd.run_pose_program(pose)?;
        let mut positions = self.ssd.evaluate(pose)?;
        let predicted = self
            .predictors
            .motions(&self.ssd.skeleton, &inputs.palette.model_from_bone);
        let gradients: Vec<DMat3> = (self.predictor_of.iter())
            .map(|p| p.map_or(DMat3::IDENTITY, |p| predicted[p].matrix3))
            .collect();
        self.poisson.solve(&gradients, &mut positions);
        Ok(positions)
    }
}

/// Fits the full form to the examples numbered in `training`; options about proxies are ignored.
/// The best-predicted vertex of each part of the mesh is held, too, even if its error is large.
///
/// Cost: O(T J K) for T triangles, J joints and K examples, and a sparse Cholesky factor of the mesh.
///
/// # Errors
/// As [`fit_rotational_regression`](super::fit_rotational_regression).
pub fn fit_full_regression(
    set: &ExampleSet,
    training: &[usize],
    options: &RotationalOptions,
    progress: &dyn Progress,
) -> Result<FullRegression, FitError> {
    options.check()?;
    let mut base = Base::fit(set, training, options, progress)?;
    base.hold_one_of_each_part();
    let readings = Readings::new(set, training);
    let free = base.free_triangles();
    let shapes = base.shapes();
    let stage = Stage::new(progress, "fitting turns", free.len());
    let patches = par::map(free.len(), |n| match stage.step() {
        true => fit_patch(
            &readings,
            &base.triangle_patch(&readings, &shapes, free[n] as usize),
        ),
        false => PatchPredictor::rigid(BoneId(0), DVec3::ZERO),
    });
    if stage.is_stopped() {
        return Err(FitError::Stopped);
    }
    let mut predictor_of = vec![None; set.rest().triangles().len()];
    for (n, &k) in free.iter().enumerate() {
        predictor_of[k as usize] = Some(n);
    }
    let ssd = VertexProgram::Ssd(base.ssd.clone());
    let mut full = FullRegression {
        ssd: Skin::new(set.skeleton().clone(), ssd, Vec::new())?,
        poisson: PoissonSolver::new(set.rest(), &base.is_held)?,
        is_held: base.is_held.clone(),
        predictors: ProxyBones {
            bones: Vec::new(),
            joints: readings.joints,
            patches,
            sources: Vec::new(),
            from_patches: Vec::new(),
            from_sources: Vec::new(),
        },
        predictor_of,
    };
    for _ in 0..GIVE_BACK_ROUNDS {
        let errors = vertex_errors(|pose| full.evaluate(pose), set, training)?;
        let is_worse = |i: usize| !full.is_held[i] && base.errors[i] <= errors[i];
        let worse: Vec<usize> = (0..errors.len()).filter(|&i| is_worse(i)).collect();
        if worse.is_empty() {
            break;
        }
        worse.into_iter().for_each(|i| full.is_held[i] = true);
        full.poisson = PoissonSolver::new(set.rest(), &full.is_held)?;
    }
    Ok(full)
}

impl Base<'_> {
    /// How one triangle moves.
    pub(super) fn triangle_patch(
        &self,
        readings: &Readings,
        shapes: &[&[DVec3]],
        triangle: usize,
    ) -> PatchMotion {
        let corners = self.set.rest().triangles()[triangle];
        let points = |shape: &[DVec3]| corners.map(|i| shape[i as usize]);
        let middle = |shape: &[DVec3]| points(shape).iter().sum::<DVec3>() / 3.0;
        let inverse = inverse_frame(&triangle_frame(points(shapes[0])));
        // A flat triangle turns as the bone that moves its first corner most.
        let heaviest = &readings.motion[self.heaviest_bone(corners[0])];
        let motion = |k: usize| DAffine3 {
            matrix3: match inverse {
                Some(inverse) => triangle_frame(points(shapes[k])) * inverse,
                None => heaviest[k].matrix3,
            },
            translation: middle(shapes[k]),
        };
        let rest_middle = middle(shapes[0]);
        let squared = points(shapes[0]).map(|p| p.distance_squared(rest_middle));
        PatchMotion {
            motions: (0..shapes.len()).map(motion).collect(),
            radius: (squared.iter().sum::<f64>() / 3.0).sqrt(),
            bones: self.mean_bones(corners.iter().map(|&i| (i as usize, 1.0))),
        }
    }

    fn heaviest_bone(&self, vertex: u32) -> usize {
        let row = self.ssd.weights.row(vertex as usize).iter();
        let heaviest = row.max_by(|a, b| a.weight.total_cmp(&b.weight));
        heaviest.map_or(0, |w| w.bone.index())
    }
}
