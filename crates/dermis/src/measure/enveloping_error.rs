//! The yardstick of the enveloping error: every vertex carried rigidly by one bone.

use glam::DAffine3;

use crate::example::ExampleSet;
use crate::par;

/// Squared error of the best articulated rigid prediction of some examples (\[Wang07\] §7.1).
///
/// Each vertex follows the one bone that predicts these very examples best, so the yardstick is the
/// same whatever was fitted, and to whichever poses.
///
/// Cost: O(vertices · bones · examples).
pub fn rigid_squared_error(set: &ExampleSet, which: &[usize]) -> f64 {
    let posed_from_rest = posed_from_rest(set, which);
    let bone_count = set.skeleton().bone_count();
    let per_vertex = par::map(set.rest().vertex_count(), |i| {
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
    });
    per_vertex.iter().sum()
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
