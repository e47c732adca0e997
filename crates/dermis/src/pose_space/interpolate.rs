//! Finds the weights with which bumps around poses take given values at these poses.

use faer::Mat;
use faer::linalg::solvers::DenseSolveCore;

use super::driver::squared_distance;
use super::{Center, Control, Driver, Kernel, PoseSpaceError};

/// How to interpolate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InterpolateOptions {
    /// The shape of the bumps; default Gaussian.
    pub kernel: Kernel,
    /// Fit a linear function to the values by least squares first, then bumps to the remainder (\[Sloan01\]); default
    /// no. A linear function continues outside the poses instead of fading.
    pub linear: bool,
}

/// A solved driver, and how well conditioned its system was.
#[derive(Debug, Clone, PartialEq)]
pub struct Interpolated {
    /// Output `m` is 1 at center `m` and 0 at all others.
    pub driver: Driver,
    /// 1-norm condition number of the matrix `φ_k(x_j)`: 1 when every bump is 0 at all other poses.
    pub condition: f64,
}

/// Poses nearer than this, in falloffs, count as the same.
const SAME: f64 = 1e-6;
/// With a larger condition number, the values at the poses would have fewer than nine correct digits.
const WORST_CONDITION: f64 = 1e12;

/// Finds functions that are 1 at one pose each and 0 at all others.
///
/// The first `output_count` centers get an output each; at the remaining centers all outputs are 0. Equation 1 of
/// \[Lewis00\] solves for one vector per pose and vertex, `Φ W = D`. Here `D` is the unit matrix: the sculpted shapes
/// themselves stay the corrections, with all their zeros, and `δ(x) = φ(x) Φ⁻¹ D` is `Σ_m c_m(x) D_m`. So one
/// factorisation serves all vertices. A vertex that a sculpt did not move stays unmoved in that pose. In \[Lewis00\]
/// §4.1 such a vertex is no data point there and moves with the falloffs of other poses, so that the sculpt would not
/// be reproduced.
///
/// Cost: O(n³) for n poses.
///
/// # Errors
/// [`PoseSpaceError::SamePose`] and [`PoseSpaceError::Dependent`], with both poses named.
pub fn interpolate(
    name: &str,
    controls: &[Control],
    centers: &[Center],
    output_count: usize,
    options: &InterpolateOptions,
) -> Result<Interpolated, PoseSpaceError> {
    let mut driver = Driver {
        name: name.to_owned(),
        controls: controls.to_vec(),
        kernel: options.kernel,
        centers: centers.to_vec(),
        weights: Vec::new(),
        linear: Vec::new(),
    };
    driver.check(usize::MAX, usize::MAX)?;
    check_distinct(name, controls, centers)?;
    let count = centers.len();
    let rows: Vec<Vec<f64>> = centers
        .iter()
        .map(|center| options.kernel.bumps(controls, centers, &center.point))
        .collect();
    let bumps = Mat::from_fn(count, count, |j, k| rows[j][k]);
    // Averages need no system: they are 1 and 0 at the poses by construction.
    let inverse = match options.kernel {
        Kernel::Shepard { .. } => Mat::identity(count, count),
        _ => refined_inverse(&bumps),
    };
    let condition = match count {
        0 => 1.0,
        _ => one_norm(&bumps) * one_norm(&inverse),
    };
    if !condition.is_finite() || condition > WORST_CONDITION {
        let (first, second) = most_overlapping(&bumps);
        return Err(PoseSpaceError::Dependent {
            first: centers[first].name.clone(),
            second: centers[second].name.clone(),
        });
    }
    let mut values = Mat::<f64>::identity(count, count);
    if options.linear {
        let dimension = driver.dimension();
        let powers = Mat::from_fn(count, 1 + dimension, |j, c| match c {
            0 => 1.0,
            _ => centers[j].point[c - 1],
        });
        let plane = pseudo_inverse(&powers);
        values -= &powers * &plane;
        driver.linear = (0..output_count)
            .map(|m| (0..=dimension).map(|c| plane[(c, m)]).collect())
            .collect();
    }
    let weights = &inverse * &values;
    driver.weights = (0..output_count)
        .map(|m| (0..count).map(|k| weights[(k, m)]).collect())
        .collect();
    Ok(Interpolated { driver, condition })
}

fn check_distinct(
    space: &str,
    controls: &[Control],
    centers: &[Center],
) -> Result<(), PoseSpaceError> {
    for (k, later) in centers.iter().enumerate() {
        for earlier in &centers[..k] {
            if squared_distance(controls, earlier, &later.point) < SAME * SAME {
                return Err(PoseSpaceError::SamePose {
                    first: earlier.name.clone(),
                    second: later.name.clone(),
                    space: space.to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// The inverse, improved by one Newton step: wide falloffs cost digits, and the values at poses should stay exact.
fn refined_inverse(matrix: &Mat<f64>) -> Mat<f64> {
    let count = matrix.nrows();
    if count == 0 {
        return Mat::new();
    }
    let inverse = matrix.partial_piv_lu().inverse();
    let residual = Mat::<f64>::identity(count, count) - matrix * &inverse;
    &inverse + &inverse * residual
}

/// Least-squares inverse of least norm, for matrices with dependent columns.
pub(crate) fn pseudo_inverse(matrix: &Mat<f64>) -> Mat<f64> {
    let Ok(svd) = matrix.thin_svd() else {
        // Fails only for matrices that are not finite, which were refused before.
        return Mat::zeros(matrix.ncols(), matrix.nrows());
    };
    let s = svd.S().column_vector();
    let largest = (0..s.nrows()).map(|i| s[i]).fold(0.0, f64::max);
    let scaled = Mat::from_fn(matrix.ncols(), s.nrows(), |r, i| {
        let inverse = if s[i] > 1e-10 * largest {
            1.0 / s[i]
        } else {
            0.0
        };
        svd.V()[(r, i)] * inverse
    });
    scaled * svd.U().transpose()
}

fn one_norm(matrix: &Mat<f64>) -> f64 {
    let column = |k: usize| {
        (0..matrix.nrows())
            .map(|j| matrix[(j, k)].abs())
            .sum::<f64>()
    };
    // Not f64::max, which ignores NaN: a singular matrix must be noticed.
    let larger = |a: f64, b: f64| if b <= a { a } else { b };
    (0..matrix.ncols()).map(column).fold(0.0, larger)
}

/// The two poses whose rows are most similar: those that a nearly singular matrix cannot tell apart.
fn most_overlapping(bumps: &Mat<f64>) -> (usize, usize) {
    let count = bumps.nrows();
    let cosine = |a: usize, b: usize| {
        let dot =
            |a: usize, b: usize| -> f64 { (0..count).map(|k| bumps[(a, k)] * bumps[(b, k)]).sum() };
        dot(a, b).abs() / (dot(a, a) * dot(b, b)).sqrt().max(f64::MIN_POSITIVE)
    };
    let pairs = (0..count).flat_map(|b| (0..b).map(move |a| (a, b)));
    pairs
        .max_by(|&(a, b), &(c, d)| cosine(a, b).total_cmp(&cosine(c, d)))
        .unwrap_or((0, 0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SLIDERS: [Control; 2] = [
        Control::Slider { coefficient: 0 },
        Control::Slider { coefficient: 1 },
    ];

    fn centers(points: &[[f64; 2]], falloff: f64) -> Vec<Center> {
        let center = |(k, point): (usize, &[f64; 2])| Center {
            name: format!("pose {k}"),
            point: point.to_vec(),
            falloffs: vec![falloff; 2],
        };
        points.iter().enumerate().map(center).collect()
    }

    fn every_kind() -> [InterpolateOptions; 3] {
        let with = |kernel, linear| InterpolateOptions { kernel, linear };
        [
            with(Kernel::Gaussian, false),
            with(Kernel::Gaussian, true),
            with(Kernel::Shepard { power: 2.0 }, false),
        ]
    }

    proptest! {
        #[test]
        fn fact_8_every_output_is_one_at_its_pose_and_zero_at_the_others(
            offsets in proptest::collection::vec((-0.3..0.3f64, -0.3..0.3f64), 7),
            falloff in 0.3..1.2f64,
        ) {
            let points: Vec<[f64; 2]> = offsets
                .iter()
                .enumerate()
                .map(|(k, (a, b))| [f64::from(k as u8 % 3) + a, f64::from(k as u8 / 3) + b])
                .collect();
            let centers = centers(&points, falloff);
            for options in every_kind() {
                let solved = interpolate("space", &SLIDERS, &centers, 5, &options);
                let driver = solved.expect("distinct poses").driver;
                for (k, center) in centers.iter().enumerate() {
                    for (m, c) in driver.evaluate(&center.point).into_iter().enumerate() {
                        let expected = f64::from(u8::from(m == k));
                        prop_assert!(
                            (c - expected).abs() < 1e-9,
                            "{:?}: output {} at pose {} is {}", options, m, k, c
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn fact_8_gaussians_fade_far_away_and_the_other_kinds_do_not() {
        let centers = centers(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 0.6);
        let far = |options: &InterpolateOptions| {
            let solved = interpolate("space", &SLIDERS, &centers, 3, options).expect("distinct");
            solved.driver.evaluate(&[40.0, 0.0])
        };
        let [gaussian, linear, shepard] = every_kind();
        assert!(
            far(&gaussian).iter().all(|c| c.abs() < 1e-12),
            "only the base shape is left"
        );
        let on_and_on = far(&linear);
        assert!((on_and_on[1] - 40.0).abs() < 1e-9, "a line: {on_and_on:?}");
        let average = far(&shepard);
        assert!(
            average.iter().all(|c| (c - 1.0 / 3.0).abs() < 0.02),
            "the mean of all: {average:?}"
        );
    }

    #[test]
    fn shapes_that_are_added_up_are_exact_at_combinations() {
        // smile, wink, and both at once: the combination shape corrects the sum of the two.
        let centers = centers(&[[1.0, 0.0], [0.0, 0.5], [1.0, 0.5]], 1.0);
        let options = InterpolateOptions {
            kernel: Kernel::Superposition,
            linear: false,
        };
        let solved = interpolate("face", &SLIDERS, &centers, 3, &options).expect("independent");
        let at = |point| solved.driver.evaluate(point);
        assert_eq!(at(&[0.5, 0.0]), [0.5, 0.0, 0.0], "half a smile");
        let corner = at(&[1.0, 0.5]);
        assert!(
            (corner[2] - 1.0).abs() < 1e-12,
            "the combination: {corner:?}"
        );
        assert!(
            corner[0].abs() + corner[1].abs() < 1e-12,
            "and it alone: {corner:?}"
        );

        let twice = self::centers(&[[1.0, 0.0], [0.5, 0.0]], 1.0);
        let error = interpolate("face", &SLIDERS, &twice, 2, &options).expect_err("one axis");
        assert!(
            error
                .to_string()
                .contains("pose 0 and pose 1 cannot be told apart"),
            "superposition cannot tell half a smile from a smile: {error}"
        );
    }

    #[test]
    fn two_equal_poses_are_named_in_the_error() {
        let centers = centers(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1e-8]], 0.6);
        let error = interpolate(
            "space",
            &SLIDERS,
            &centers,
            3,
            &InterpolateOptions::default(),
        );
        let text = error.expect_err("two are one").to_string();
        assert!(
            text.contains("poses pose 1 and pose 2 are the same"),
            "{text}"
        );
    }

    #[test]
    fn falloffs_that_make_poses_indistinguishable_are_refused() {
        let line: Vec<[f64; 2]> = (0..12).map(|k| [f64::from(k) * 0.1, 0.0]).collect();
        let options = InterpolateOptions::default();
        let error = interpolate("space", &SLIDERS, &centers(&line, 20.0), 12, &options);
        let text = error.expect_err("all bumps are alike").to_string();
        assert!(text.contains("falloffs this wide"), "{text}");
    }

    #[test]
    fn a_space_without_poses_is_valid() {
        let solved = interpolate("space", &SLIDERS, &[], 0, &InterpolateOptions::default());
        assert!(
            solved
                .expect("no poses")
                .driver
                .evaluate(&[0.0, 0.0])
                .is_empty(),
            "none"
        );
    }
}
