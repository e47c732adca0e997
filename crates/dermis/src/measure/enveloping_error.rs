//! The yardstick of the enveloping error: every vertex carried rigidly by one bone.

use glam::DAffine3;

use crate::example::ExampleSet;
use crate::par;

/// Squared error of the best articulated rigid prediction of some examples (\[Wang07\] §7.1).
///
/// Each vertex follows the one bone that predicts these very examples best, so the yardstick does not depend
/// on what was fitted, or to which poses.
///
/// Cost: O(vertices · bones · examples).
pub fn rigid_squared_error(set: &ExampleSet, which: &[usize]) -> f64 {
    rigid_squared_errors(set, which).iter().sum()
}

/// As [`rigid_squared_error`], vertex by vertex.
pub(super) fn rigid_squared_errors(set: &ExampleSet, which: &[usize]) -> Vec<f64> {
    let posed_from_rest = posed_from_rest(set, which);
    let bone_count = set.skeleton().bone_count();
    par::map(set.rest().vertex_count(), |i| {
        let rest = set.rest().positions()[i];
        (0..bone_count)
            .map(|j| {
                let matrices = posed_from_rest.iter().map(|matrices| &matrices[j]);
                let targets = which.iter().map(|&k| set.examples()[k].positions[i]);
                matrices
                    .zip(targets)
                    .map(|(matrix, target)| matrix.transform_point3(rest).distance_squared(target))
                    .sum::<f64>()
            })
            .fold(f64::INFINITY, f64::min)
    })
}

/// The enveloping error, and how much it differs from vertex to vertex, in per cent.
///
/// | here | meaning |
/// | --- | --- |
/// | `s_i` | squared error of vertex i over the examples |
/// | `r_i` | that of its best rigid prediction; `r̄` is the mean over vertices |
/// | `e_i` | `√(s_i / r̄)`: the error of a vertex in units of the mean rigid one |
///
/// `EE = 100 √(Σ s_i / Σ r_i)` is then the root mean square of `e_i`, and the deviation is their standard deviation
/// about their own mean, `100 √(mean e² − (mean e)²)`. Dividing by the vertex's own `r_i` would be infinite where
/// a vertex follows one bone, which most vertices of a character nearly do.
///
/// Both are `None` when the rigid prediction is exact everywhere, and when there is no bone to follow.
pub(super) fn enveloping_error(squared: &[f64], rigid: &[f64]) -> Option<(f64, f64)> {
    let total: f64 = rigid.iter().sum();
    if total <= 0.0 || total == f64::INFINITY {
        return None;
    }
    let count = rigid.len() as f64;
    let mean_square = squared.iter().sum::<f64>() / total;
    let errors = squared.iter().map(|s| (s * count / total).sqrt());
    let mean = errors.sum::<f64>() / count;
    let deviation = (mean_square - mean * mean).max(0.0).sqrt();
    Some((100.0 * mean_square.sqrt(), 100.0 * deviation))
}

/// The E_RMS (see [`Measures::e_rms`](super::Measures::e_rms)) over all examples that corresponds to an
/// enveloping error of `percent`; `None` when the rigid prediction is exact.
pub fn e_rms_at_enveloping_error(set: &ExampleSet, percent: f64) -> Option<f64> {
    let everything: Vec<usize> = (0..set.examples().len()).collect();
    let rigid = rigid_squared_error(set, &everything);
    let count = 3.0 * (set.rest().vertex_count() * everything.len()).max(1) as f64;
    let e_rms = 1000.0 * (rigid / count).sqrt() / set.unit_ball_radius();
    (rigid > 0.0).then_some(percent / 100.0 * e_rms)
}

/// `N_j` of every bone in the poses of some examples.
pub(crate) fn posed_from_rest(set: &ExampleSet, which: &[usize]) -> Vec<Vec<DAffine3>> {
    which
        .iter()
        .map(|&k| {
            let palette = set
                .skeleton()
                .palette(&set.examples()[k].pose)
                .expect("an example set's poses fit its skeleton");
            set.skeleton().posed_from_rest(&palette)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_over_vertices_and_finite_when_one_vertex_is_rigid() {
        // The first vertex follows its bone; the mean rigid error is 4, squared.
        let rigid = [0.0, 4.0, 8.0];
        let (error, deviation) = enveloping_error(&[0.0, 1.0, 4.0], &rigid).expect("not rigid");
        // e = 0, 1/2, 1: mean 1/2, mean square 5/12.
        assert!(
            (error - 100.0 * (5.0f64 / 12.0).sqrt()).abs() < 1e-9,
            "{error}"
        );
        let expected = 100.0 * (5.0f64 / 12.0 - 0.25).sqrt();
        assert!((deviation - expected).abs() < 1e-9, "{deviation}");
    }

    #[test]
    fn equal_errors_have_no_deviation_and_rigid_examples_no_enveloping_error() {
        let (error, deviation) = enveloping_error(&[2.0; 5], &[8.0; 5]).expect("not rigid");
        assert!(
            (error - 50.0).abs() < 1e-9,
            "half of the rigid error: {error}"
        );
        assert!(deviation < 1e-5, "{deviation}");
        assert_eq!(
            enveloping_error(&[1.0], &[0.0]),
            None,
            "nothing to divide by"
        );
    }

    #[test]
    fn a_share_of_the_rigid_error_becomes_an_e_rms() {
        let arm = crate::synth::arm(&crate::synth::ArmOptions {
            ring_count: 12,
            segment_count: 6,
            ..Default::default()
        })
        .examples;
        let everything: Vec<usize> = (0..arm.examples().len()).collect();
        let skin = crate::fit::fit_ssd(
            &arm,
            &everything,
            &crate::fit::SsdOptions::default(),
            &crate::progress::Silent,
        );
        let skin = skin.expect("fits").skin;
        let measured = crate::measure::measure(&skin, &arm, &everything)
            .expect("fits")
            .total;
        let percent = measured.enveloping_error_percent.expect("not rigid");
        let e_rms = e_rms_at_enveloping_error(&arm, percent).expect("not rigid");
        assert!(
            (e_rms - measured.e_rms).abs() < 1e-9 * e_rms,
            "{e_rms}, not {}",
            measured.e_rms
        );
    }
}
