//! Pose space deformation from examples: nobody sculpts, every example is a pose with its shape.
//!
//! One space over all joints would have hundreds of dimensions and a handful of points. But skin
//! depends on the joints nearby, and on each in its own way. So what the base misses is a **sum** of
//! functions of one joint each, `δ_i(x) = Σ_j f_ij(x_j)` over the joints next to the bones that a
//! vertex follows: kernel regression with the mean of the joints' Gaussians as its kernel. Each joint
//! is then a driver of its own with its own few shapes, shared by all its vertices; 30 random poses of
//! a body tell apart what elbow and knee do, though no pose moves one alone.
//!
//! Falloff and smoothing are those with the least error on examples left out, each with those in which one of the
//! joints is turned alike; that has a closed form. Sums of one-joint functions miss what two joints do only together.

use faer::Mat;
use glam::DVec3;

use super::base::choose_base;
use super::compress::combinations;
use super::corrections::{Corrections, Group};
use super::joints::Joints;
use crate::example::ExampleSet;
use crate::fit::{
    AnimSpaceOptions, FitError, Fitted, Method, RotationalOptions, SsdOptions, at_unit_size,
    bad_option, check_training,
};
use crate::par;
use crate::pose_space::{Center, Driver, Kernel};
use crate::progress::{Progress, Stage};
use crate::skin::{Delta, Skin, SkinError};
use crate::solve::product;

/// How to fit pose space deformation to examples.
#[derive(Debug, Clone, PartialEq)]
pub struct PsdOptions {
    /// Methods for the base skin, simplest first; at least one, and any but this. Of several the one is taken whose skin,
    /// with shapes on it, is the smallest within 5% of the lowest error on examples left out of the training ones; one
    /// alone is taken as it is. Default linear blend skinning, pseudo-bones, rotational regression and animation space.
    pub bases: Vec<Method>,
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
            bases: vec![
                Method::Ssd(SsdOptions::default()),
                Method::PseudoBones(SsdOptions::default()),
                Method::RotationalRegression(RotationalOptions::default()),
                Method::AnimSpace(AnimSpaceOptions::default()),
            ],
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

impl PsdOptions {
    /// EigenSkin (\[Kry02\]): the same with at most five shapes per joint.
    pub fn eigen_skin() -> Self {
        Self {
            shapes_per_joint: Some(EIGEN_SHAPES),
            ..Self::default()
        }
    }

    pub(in crate::fit) fn check(&self) -> Result<(), FitError> {
        if self.bases.is_empty() {
            return bad_option("base", "at least one is needed");
        }
        for base in &self.bases {
            if matches!(base, Method::Psd(_)) {
                return bad_option("base", "pose space deformation cannot be its own base");
            }
            base.check()?;
        }
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
                bad_option("shape-tolerance", format!("{tolerance} is not 0 or more"))
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
/// combined to few (see [`PsdOptions::tolerance`]). An example that is left out alone is missed by
/// `α_ik / (K_i + λI)⁻¹_kk`, and left out with others, a set B, by its row of `((K_i + λI)⁻¹_BB)⁻¹ α_iB`. Those others are
/// the examples in which one of the joints `C_i` is turned alike. The sum of squares over the vertices of a matrix needs
/// only the products `δ_k·δ_l`, so trying falloffs costs nothing per vertex.
///
/// **Near a singular frame** nothing is pulled back to rest space. Vertices that the base shrinks to less than half in
/// some example are fitted to what corrections *do* in the examples instead, with a ridge; over the examples of such a
/// vertex together corrections do no more than there is to mend, and leave no more of it than the base does. Other
/// corrections are at most twice as long as what they do. And no correction moves a vertex farther in any example than
/// the longest distance by which the base misses that vertex in one of them: longer ones are scaled down. What
/// combining shapes misses comes on top, for each joint half the tolerance; EigenSkin's limit may miss more.
///
/// Cost: the base's, O(n² V) for n examples and V vertices, and O(n³) per set of joints and trial; for every flattened
/// vertex O(m³ + n m²) with m ≤ 40 functions. Of several bases each is first fitted to three quarters of the examples,
/// with shapes for at most a thousand vertices; linear blend skinning, without and with pseudo-bones, is fitted for those
/// alone, too.
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
    at_unit_size(set, |set| {
        let base = choose_base(set, training, options, progress)?;
        let mut fitted = fit_on(base, set, training, options, progress)?;
        fitted.base = Some(base.clone());
        Ok(fitted)
    })
}

/// Fits one base and shapes on it.
pub(super) fn fit_on(
    base: &Method,
    set: &ExampleSet,
    training: &[usize],
    options: &PsdOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    let mut fitted = base.fit(set, training, progress)?;
    let mut corrections = Corrections::solve(set, training, &fitted.skin, options, progress)?;
    for _ in 0..options.base_rounds {
        let rest = corrections.undriven(set, training)?;
        let everything: Vec<usize> = (0..training.len()).collect();
        let again = base.fit(&rest, &everything, progress)?;
        let corrected = Corrections::solve(set, training, &again.skin, options, progress)?;
        fitted.round_errors.extend(again.round_errors);
        // Not every base is helped: one that bends by itself may leave shapes less to find in common.
        if corrected.left_out_error >= corrections.left_out_error {
            break;
        }
        (fitted.skin, corrections) = (again.skin, corrected);
    }
    add_shapes(fitted, corrections, set, training, options, progress)
}

/// Puts shapes on a base that is fitted, and leaves the base as it is.
pub(super) fn fit_shapes(
    base: Fitted,
    set: &ExampleSet,
    training: &[usize],
    options: &PsdOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    let corrections = Corrections::solve(set, training, &base.skin, options, progress)?;
    add_shapes(base, corrections, set, training, options, progress)
}

/// Combines corrections to shapes, and drives them.
fn add_shapes(
    fitted: Fitted,
    corrections: Corrections,
    set: &ExampleSet,
    training: &[usize],
    options: &PsdOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    let tolerance = options.tolerance * set.size();
    let Corrections {
        joints,
        groups,
        kernels,
        solved,
        falloff,
        smoothing,
        ..
    } = corrections;
    let mut skin = fitted.skin;
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
        base: None,
    })
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

/// The rows of weights of a joint's driver, and the shapes that they mix.
fn driver_of(
    j: usize,
    kernel: &Mat<f64>,
    groups: &[Group],
    solved: &[Mat<f64>],
    tolerance: f64,
    most: usize,
) -> (Vec<Vec<f64>>, Vec<Vec<Delta<DVec3>>>) {
    let mut own: Vec<(u32, usize, usize)> = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        if group.near.contains(&(j as u16)) {
            let vertices = group.vertices.iter().enumerate();
            own.extend(vertices.map(|(at, &i)| (i, g, at)));
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
