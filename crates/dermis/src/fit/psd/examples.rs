//! Pose space deformation from examples: nobody sculpts, every example is a pose with its shape.
//!
//! One space over all joints would have hundreds of dimensions and a handful of points. But skin
//! depends on the joints nearby, and on each in its own way. So what the base misses is a **sum** of
//! functions of one joint each, `δ_i(x) = Σ_j f_ij(x_j)` over the joints next to the bones that a
//! vertex follows: kernel regression with the mean of the joints' Gaussians as its kernel. Each joint
//! is then a driver of its own with its own few shapes, shared by all its vertices; 30 random poses of
//! a body tell apart what elbow and knee do, though no pose moves one alone.
//!
//! Falloff and smoothing are those with the least error on examples left out one at a time, which has
//! a closed form. Sums of one-joint functions miss what two joints do only together.

use std::collections::BTreeMap;

use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, MatRef, Side};
use glam::DVec3;

use super::compress::combinations;
use super::joints::{Joints, next_to_joints};
use super::sculpt::bounded_inverse;
use crate::example::{Example, ExampleSet};
use crate::fit::{FitError, Fitted, Method, SsdOptions, bad_option, check_training};
use crate::par;
use crate::pose_space::{Center, Driver, Kernel};
use crate::progress::{Progress, Stage};
use crate::rig::Pose;
use crate::skin::{Delta, Skin, SkinError};
use crate::solve::product;

/// How to fit pose space deformation to examples.
#[derive(Debug, Clone, PartialEq)]
pub struct PsdOptions {
    /// The base skin: any other method; default linear blend skinning.
    pub base: Box<Method>,
    /// How often the base is fitted again, to the examples without what shapes explain of them; default 1. A base
    /// that was fitted alone has bent its weights to follow muscles. It is kept as long as examples left out are met
    /// better.
    pub base_rounds: usize,
    /// Falloff of every example at every joint, in radians; default (`None`) by the error on examples
    /// left out.
    pub falloff: Option<f64>,
    /// What is added to the kernel's diagonal, which is 1: 0 meets every example exactly, more follows
    /// noise less; default (`None`) as for the falloff.
    pub smoothing: Option<f64>,
    /// Shapes of a joint are combined to as few as miss none of its effects by more than this share of
    /// the rest box's diagonal; smaller effects are dropped. Default 5e-4.
    pub tolerance: f64,
    /// Most shapes of one joint, those that matter most, whatever they miss; at least 1, default (`None`) as many as
    /// the tolerance asks for. With a limit this is EigenSkin (\[Kry02\]).
    pub shapes_per_joint: Option<usize>,
}

impl Default for PsdOptions {
    fn default() -> Self {
        Self {
            base: Box::new(Method::Ssd(SsdOptions::default())),
            base_rounds: 1,
            falloff: None,
            smoothing: None,
            tolerance: 5e-4,
            shapes_per_joint: None,
        }
    }
}

/// Shapes per joint of EigenSkin unless others are asked for.
const EIGEN_SHAPES: usize = 5;

/// Directions that the base shrinks to less than this share are left alone: between examples it shrinks
/// them less, and what was stretched to make up for it sticks out. Twice that of sculpts, which are met
/// exactly: on the arm with its collapsing forearm the farthest held-out vertex is 5% of the diagonal
/// away instead of 11%, and EE 31% instead of 29%; from 0.35 on, EE is 41% and more.
const LEAST_STRETCH: f64 = 0.2;
/// The same without smoothing and tolerance, which asks for every example to be met, whatever comes between.
const LEAST_STRETCH_EXACT: f64 = 1e-5;
/// Falloffs that are tried, in radians (14° to 230°): wider ones differ only in their scale.
const FALLOFFS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// A pose whose Gaussian the others have but for this share, squared, is one of them.
const LEAST_PIVOT: f64 = 1e-12;
/// Smoothings that are tried.
const SMOOTHINGS: [f64; 4] = [1e-5, 1e-4, 1e-3, 1e-2];

impl PsdOptions {
    /// EigenSkin (\[Kry02\]): the same with at most five shapes per joint.
    pub fn eigen_skin() -> Self {
        Self {
            shapes_per_joint: Some(EIGEN_SHAPES),
            ..Self::default()
        }
    }

    pub(in crate::fit) fn check(&self) -> Result<(), FitError> {
        if matches!(*self.base, Method::Psd(_)) {
            return bad_option("base", "pose space deformation cannot be its own base");
        }
        self.base.check()?;
        if self.shapes_per_joint == Some(0) {
            return bad_option("shapes-per-joint", "at least 1 is needed");
        }
        match (self.falloff, self.smoothing, self.tolerance) {
            (Some(falloff), ..) if !(falloff > 0.0 && falloff.is_finite()) => {
                bad_option("falloff", format!("{falloff} is not above 0"))
            }
            (_, Some(smoothing), _) if !(smoothing >= 0.0 && smoothing.is_finite()) => {
                bad_option("smoothing", format!("{smoothing} is not 0 or more"))
            }
            (.., tolerance) if !(tolerance >= 0.0 && tolerance.is_finite()) => {
                bad_option("tolerance", format!("{tolerance} is not 0 or more"))
            }
            _ => Ok(()),
        }
    }
}

/// Fits a base skin, and on it shapes that the turns of joints drive.
///
/// | symbol | meaning |
/// | --- | --- |
/// | `δ_ik` | what the base misses at vertex i in example k, in rest space; the rest pose is one more example, and 0 but for proxy bones |
/// | `φ_jk(x)` | Gaussian of joint j around its turn in example k |
/// | `C_i` | joints next to the bones that vertex i follows |
/// | `K_i` | `1/\|C_i\| Σ_{j∈C_i} φ_jk(x_l)`, one matrix for all vertices with the same joints |
/// | `α_i` | `(K_i + λI)⁻¹ δ_i` |
///
/// Then `δ_i(x) = Σ_j 1/|C_i| Σ_k φ_jk(x) α_ik`: for each joint a driver, whose shapes `α` are
/// combined to few (see [`PsdOptions::tolerance`]). Left out one at a time the examples are missed by
/// `α_ik / (K_i + λI)⁻¹_kk`; the sum of squares over the vertices of a matrix needs only the products
/// `δ_k·δ_l`, so trying falloffs costs nothing per vertex.
///
/// Cost: the base's, O(n² V) for n examples and V vertices, and O(n³) per set of joints and trial.
///
/// # Errors
/// Those of the base's fit, and [`FitError::BadOption`].
pub fn fit_psd(
    set: &ExampleSet,
    training: &[usize],
    options: &PsdOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    options.check()?;
    check_training(set, training)?;
    let tolerance = options.tolerance * set.size();
    let mut fitted = options.base.fit(set, training, progress)?;
    let mut corrections = Corrections::solve(set, training, &fitted.skin, options, progress)?;
    for _ in 0..options.base_rounds {
        let explained = corrections.left_out_predictions();
        let rest = undriven(set, training, &fitted.skin, &explained)?;
        let everything: Vec<usize> = (0..training.len()).collect();
        let again = options.base.fit(&rest, &everything, progress)?;
        let corrected = Corrections::solve(set, training, &again.skin, options, progress)?;
        fitted.round_errors.extend(again.round_errors);
        // Not every base is helped: one that bends by itself may leave shapes less to find in common.
        if corrected.left_out_error() >= corrections.left_out_error() {
            break;
        }
        (fitted.skin, corrections) = (again.skin, corrected);
    }
    let Corrections {
        joints,
        groups,
        kernels,
        solved,
        falloff,
        smoothing,
        ..
    } = corrections;
    let base = fitted.skin;
    let mut skin = base;
    let stage = Stage::new(progress, "combining shapes", joints.len());
    let drivers = par::map(joints.len(), |j| {
        stage.step();
        let most = options.shapes_per_joint.unwrap_or(usize::MAX);
        driver_of(j, &kernels[j], &groups, &solved, tolerance, most)
    });
    if stage.is_stopped() {
        return Err(FitError::Stopped);
    }
    for (j, (weights, shapes)) in drivers.into_iter().enumerate() {
        if shapes.is_empty() {
            continue;
        }
        let bone = &skin.skeleton.bones()[joints.bone(j).index()].name;
        let names = (0..shapes.len()).map(|r| format!("{bone}.{r}")).collect();
        let driver = Driver {
            name: bone.clone(),
            controls: vec![joints.control(j)],
            kernel: Kernel::Gaussian,
            centers: centers(set, training, &joints, j, falloff),
            weights,
            linear: Vec::new(),
        };
        skin.push_driver(driver, names, shapes)?;
    }
    let mut round_errors = fitted.round_errors;
    round_errors.push(rms_distance(&skin, set, training)?);
    Ok(Fitted {
        skin,
        round_errors,
        smoothing: Some(smoothing),
    })
}

/// What a base misses, as functions of its joints.
struct Corrections {
    joints: Joints,
    /// Vertices with the same joints.
    groups: Vec<(Vec<u16>, Vec<u32>)>,
    /// `φ` of each joint.
    kernels: Vec<Mat<f64>>,
    /// `δ`.
    missed: Mat<f64>,
    /// `α / |C|` of each group.
    solved: Vec<Mat<f64>>,
    /// `diag (K + λI)⁻¹` of each group.
    diagonals: Vec<Vec<f64>>,
    falloff: f64,
    smoothing: f64,
}

impl Corrections {
    fn solve(
        set: &ExampleSet,
        training: &[usize],
        base: &Skin,
        options: &PsdOptions,
        progress: &dyn Progress,
    ) -> Result<Self, FitError> {
        let joints = Joints::that_turn(base, &poses(set, training, base)?);
        let is_exact = options.smoothing == Some(0.0) && options.tolerance == 0.0;
        let least_stretch = match is_exact {
            true => LEAST_STRETCH_EXACT,
            false => LEAST_STRETCH,
        };
        let missed = missed(set, training, base, least_stretch)?;
        let groups = groups(next_to_joints(base, &joints));
        let (falloff, smoothing) = choose(&joints, &groups, missed.as_ref(), options, progress)?;
        let kernels = joints.kernels(falloff);
        let stage = Stage::new(progress, "solving shapes", groups.len());
        let parts = par::map(groups.len(), |g| {
            stage.step();
            let (near, vertices) = &groups[g];
            let inverse = inverse(&kernels, near, smoothing);
            let diagonal: Vec<f64> = (0..inverse.nrows()).map(|k| inverse[(k, k)]).collect();
            let mut alpha = inverse * columns(missed.as_ref(), vertices);
            alpha *= faer::Scale(1.0 / near.len() as f64);
            (alpha, diagonal)
        });
        if stage.is_stopped() {
            return Err(FitError::Stopped);
        }
        let (solved, diagonals) = parts.into_iter().unzip();
        Ok(Self {
            joints,
            groups,
            kernels,
            missed,
            solved,
            diagonals,
            falloff,
            smoothing,
        })
    }

    /// What the functions say of each example when it is left out: `δ_k − α_k / (K + λI)⁻¹_kk`.
    fn left_out_predictions(&self) -> Vec<Vec<DVec3>> {
        let examples = self.missed.nrows() - 1;
        let vertex_count = self.missed.ncols() / 3;
        let mut predictions = vec![vec![DVec3::ZERO; vertex_count]; examples];
        for (g, (near, vertices)) in self.groups.iter().enumerate() {
            for (at, &i) in vertices.iter().enumerate() {
                for (k, prediction) in predictions.iter_mut().enumerate() {
                    let own = 1.0 / self.diagonals[g][k] * near.len() as f64;
                    let xyz = [0, 1, 2].map(|c| {
                        self.missed[(k, 3 * i as usize + c)] - own * self.solved[g][(k, 3 * at + c)]
                    });
                    prediction[i as usize] = DVec3::from_array(xyz);
                }
            }
        }
        predictions
    }

    /// Sum of squares of what is missed of each example when it is left out.
    fn left_out_error(&self) -> f64 {
        let predictions = self.left_out_predictions();
        let of_example = |(k, prediction): (usize, &Vec<DVec3>)| {
            let missed =
                |i: usize| DVec3::from_array([0, 1, 2].map(|c| self.missed[(k, 3 * i + c)]));
            let apart = |(i, shape): (usize, &DVec3)| missed(i).distance_squared(*shape);
            prediction.iter().enumerate().map(apart).sum::<f64>()
        };
        predictions.iter().enumerate().map(of_example).sum()
    }
}

/// The examples without what is explained by shapes: what a base alone should look like.
fn undriven(
    set: &ExampleSet,
    training: &[usize],
    base: &Skin,
    explained: &[Vec<DVec3>],
) -> Result<ExampleSet, FitError> {
    let examples = par::map(training.len(), |n| {
        let example = &set.examples()[training[n]];
        let frames = base.vertex_frames(&base.run_pose_program(&example.pose)?);
        let parts = frames.iter().zip(&explained[n]);
        let positions = (parts.zip(&example.positions))
            .map(|((frame, shape), v)| *v - *frame * *shape)
            .collect();
        Ok(Example {
            positions,
            ..example.clone()
        })
    });
    let examples = examples.into_iter().collect::<Result<_, SkinError>>()?;
    let without = ExampleSet::new(set.rest().clone(), set.skeleton().clone(), examples)?;
    Ok(without.with_size(set.size()))
}

/// Root-mean-square distance to the training examples, in model units.
fn rms_distance(skin: &Skin, set: &ExampleSet, training: &[usize]) -> Result<f64, SkinError> {
    let squared = par::map(training.len(), |n| {
        let example = &set.examples()[training[n]];
        let pairs = skin
            .evaluate(&example.pose)?
            .into_iter()
            .zip(&example.positions);
        Ok(pairs.map(|(a, b)| a.distance_squared(*b)).sum::<f64>())
    });
    let squared: Vec<f64> = squared.into_iter().collect::<Result<_, SkinError>>()?;
    let count = (training.len() * skin.vertex_count()).max(1) as f64;
    Ok((squared.iter().sum::<f64>() / count).sqrt())
}

/// The poses of the examples and the rest pose, with every bone of the base.
fn poses(set: &ExampleSet, training: &[usize], base: &Skin) -> Result<Vec<Pose>, SkinError> {
    let given = training
        .iter()
        .map(|&k| base.complete_pose(&set.examples()[k].pose));
    given.chain([Ok(base.skeleton.rest_pose())]).collect()
}

/// `δ`: one row per example and one for the rest pose, three columns per vertex.
///
/// The rest pose is right by itself, but for proxy bones: those are predicted there as anywhere, and an example in
/// the rest pose would contradict a row of zeros.
fn missed(
    set: &ExampleSet,
    training: &[usize],
    base: &Skin,
    least_stretch: f64,
) -> Result<Mat<f64>, SkinError> {
    let vertex_count = base.vertex_count();
    let row_count = training.len() + usize::from(base.proxies.is_some());
    let at_rest = (base.skeleton.rest_pose(), set.rest().positions());
    let rows = par::map(row_count, |n| {
        let (pose, positions) = match training.get(n) {
            Some(&k) => (&set.examples()[k].pose, &set.examples()[k].positions[..]),
            None => (&at_rest.0, at_rest.1),
        };
        let inputs = base.run_pose_program(pose)?;
        let shown = base.evaluate(pose)?;
        let frames = base.vertex_frames(&inputs);
        let back =
            |i: usize| bounded_inverse(frames[i], least_stretch).0 * (positions[i] - shown[i]);
        Ok((0..vertex_count).map(back).collect())
    });
    let rows: Vec<Vec<DVec3>> = rows.into_iter().collect::<Result<_, SkinError>>()?;
    Ok(Mat::from_fn(
        training.len() + 1,
        3 * vertex_count,
        |k, c| rows.get(k).map_or(0.0, |row| row[c / 3][c % 3]),
    ))
}

/// Vertices that see the same joints, by joints; those that see none are left out.
fn groups(near: Vec<Vec<u16>>) -> Vec<(Vec<u16>, Vec<u32>)> {
    let mut groups: BTreeMap<Vec<u16>, Vec<u32>> = BTreeMap::new();
    for (i, near) in near.into_iter().enumerate() {
        if !near.is_empty() {
            groups.entry(near).or_default().push(i as u32);
        }
    }
    groups.into_iter().collect()
}

/// The columns of some vertices.
fn columns(missed: MatRef<'_, f64>, vertices: &[u32]) -> Mat<f64> {
    Mat::from_fn(missed.nrows(), 3 * vertices.len(), |k, c| {
        missed[(k, 3 * vertices[c / 3] as usize + c % 3)]
    })
}

/// `(K + λI)⁻¹`.
fn inverse(kernels: &[Mat<f64>], near: &[u16], smoothing: f64) -> Mat<f64> {
    let size = kernels[usize::from(near[0])].nrows();
    let scale = 1.0 / near.len() as f64;
    let matrix = Mat::from_fn(size, size, |k, l| {
        let sum: f64 = near.iter().map(|&j| kernels[usize::from(j)][(k, l)]).sum();
        scale * sum + if k == l { smoothing } else { 0.0 }
    });
    // Of the pivots of poses alike only rounding is left.
    let is_sound = |factors: &Llt<f64>| {
        let pivot = |k: usize| factors.L()[(k, k)].powi(2);
        (0..size).all(|k| pivot(k) > LEAST_PIVOT)
    };
    match matrix.llt(Side::Lower) {
        Ok(factors) if is_sound(&factors) => factors.inverse(),
        // Without smoothing, and with poses alike: the least-norm answer.
        _ => crate::pose_space::pseudo_inverse(&matrix),
    }
}

/// The falloff and smoothing with the least error on examples left out one at a time.
fn choose(
    joints: &Joints,
    groups: &[(Vec<u16>, Vec<u32>)],
    missed: MatRef<'_, f64>,
    options: &PsdOptions,
    progress: &dyn Progress,
) -> Result<(f64, f64), FitError> {
    let falloffs = options.falloff.map_or(FALLOFFS.to_vec(), |one| vec![one]);
    let smoothings = options
        .smoothing
        .map_or(SMOOTHINGS.to_vec(), |one| vec![one]);
    if falloffs.len() * smoothings.len() == 1 {
        return Ok((falloffs[0], smoothings[0]));
    }
    let grams = par::map(groups.len(), |g| {
        let own = columns(missed, &groups[g].1);
        product(own.as_ref(), own.transpose())
    });
    let stage = Stage::new(progress, "choosing falloffs", falloffs.len() * groups.len());
    let mut best = (f64::INFINITY, falloffs[0], smoothings[0]);
    for &falloff in &falloffs {
        let kernels = joints.kernels(falloff);
        let errors = par::map(groups.len(), |g| {
            stage.step();
            let error = |&smoothing: &f64| {
                let inverse = inverse(&kernels, &groups[g].0, smoothing);
                left_out_error(&inverse, &grams[g])
            };
            smoothings.iter().map(error).collect::<Vec<f64>>()
        });
        if stage.is_stopped() {
            return Err(FitError::Stopped);
        }
        for (s, &smoothing) in smoothings.iter().enumerate() {
            let total: f64 = errors.iter().map(|group| group[s]).sum();
            if total < best.0 {
                best = (total, falloff, smoothing);
            }
        }
    }
    Ok((best.1, best.2))
}

/// `Σ_k |X δ|_k² / X_kk²` from `X` and `δ δᵀ`.
fn left_out_error(inverse: &Mat<f64>, gram: &Mat<f64>) -> f64 {
    let half = inverse * gram;
    let size = inverse.nrows();
    let one = |k: usize| {
        let squared: f64 = (0..size).map(|l| half[(k, l)] * inverse[(l, k)]).sum();
        squared / inverse[(k, k)].powi(2)
    };
    // Not the rest pose, the last: there the base is right by itself.
    (0..size - 1).map(one).sum()
}

/// The rows of weights of a joint's driver, and the shapes that they mix.
fn driver_of(
    j: usize,
    kernel: &Mat<f64>,
    groups: &[(Vec<u16>, Vec<u32>)],
    solved: &[Mat<f64>],
    tolerance: f64,
    most: usize,
) -> (Vec<Vec<f64>>, Vec<Vec<Delta<DVec3>>>) {
    let mut own: Vec<(u32, usize, usize)> = Vec::new();
    for (g, (near, vertices)) in groups.iter().enumerate() {
        if near.contains(&(j as u16)) {
            own.extend(vertices.iter().enumerate().map(|(at, &i)| (i, g, at)));
        }
    }
    own.sort_unstable();
    let count = kernel.nrows();
    let alpha = Mat::from_fn(count, 3 * own.len(), |k, c| {
        let (_, g, at) = own[c / 3];
        solved[g][(k, 3 * at + c % 3)]
    });
    let effects = product(kernel.as_ref(), alpha.as_ref());
    // What the joint never moves by more than half of what may be missed is not worth a number.
    let moves = |at: &usize| {
        let length = |k: usize| {
            let [x, y, z] = [0, 1, 2].map(|c| effects[(k, 3 * at + c)]);
            DVec3::new(x, y, z).length()
        };
        (0..count).any(|k| length(k) > 0.5 * tolerance)
    };
    let kept: Vec<usize> = (0..own.len()).filter(moves).collect();
    let pick = |from: &Mat<f64>| {
        Mat::from_fn(count, 3 * kept.len(), |k, c| {
            from[(k, 3 * kept[c / 3] + c % 3)]
        })
    };
    let (alpha, effects) = (pick(&alpha), pick(&effects));
    let mut sums = combinations(&effects, 0.5 * tolerance);
    sums.truncate(most);
    let mut weights = Vec::new();
    let mut shapes = Vec::new();
    for (_, sum) in &sums {
        let squared: f64 = sum.iter().map(|x| x * x).sum();
        let row: Vec<f64> = (0..count)
            .map(|k| (0..sum.len()).map(|c| alpha[(k, c)] * sum[c]).sum::<f64>() / squared)
            .collect();
        // Coefficients of up to 1 in the examples, as morph targets are used to.
        let at = |k: usize| {
            (0..count)
                .map(|l| kernel[(k, l)] * row[l])
                .sum::<f64>()
                .abs()
        };
        let largest = (0..count).map(at).fold(0.0, f64::max);
        let scale = if largest > 0.0 { largest } else { 1.0 };
        weights.push(row.iter().map(|w| w / scale).collect());
        let delta = |(at, xyz): (&usize, &[f64; 3])| Delta {
            index: own[*at].0,
            value: scale * DVec3::from_array(*xyz),
        };
        shapes.push(kept.iter().zip(sum.as_chunks().0).map(delta).collect());
    }
    (weights, shapes)
}

/// The turns of a joint in the examples and at rest.
fn centers(
    set: &ExampleSet,
    training: &[usize],
    joints: &Joints,
    j: usize,
    falloff: f64,
) -> Vec<Center> {
    let names = training.iter().map(|&k| set.examples()[k].name.as_str());
    names
        .chain(["rest"])
        .zip(joints.points(j))
        .map(|(name, point)| Center {
            name: name.to_owned(),
            point: point.clone(),
            falloffs: vec![falloff],
        })
        .collect()
}
