//! Bones spread evenly over the mesh, as \[Kavan07\] does for cloth.
//!
//! Bones stand at vertices that cover the rest mesh evenly; smooth weights fall off with the distance
//! along the surface; the matrices of all bones come from one least-squares problem. Then the weights of
//! the same bones are solved once and the matrices once more. The method does not look for rigid parts: that
//! is its strength on cloth and its weakness on characters.

use super::ComparatorOptions;
use super::blend::BlendProblem;
use super::options::report_progress;
use super::seeds::{Seeds, spread_seeds};
use crate::example::MeshAnimation;
use crate::fit::FitError;
use crate::fit::decompose::Decomposition;
use crate::progress::Progress;
use crate::rig::BoneId;
use crate::rows::Rows;
use crate::skin::Weight;

/// Finds bones and weights by the method of \[Kavan07\] ("skinning arbitrary deformations").
///
/// # Errors
/// [`FitError::BadOption`] and [`FitError::Stopped`].
pub fn fit_sad(
    animation: &MeshAnimation,
    options: &ComparatorOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    const STAGE: &str = "spreading bones";
    options.check_for(animation)?;
    report_progress(progress, STAGE, 0, 4)?;
    let problem = BlendProblem::new(animation);
    let seeds = spread_seeds(animation.rest(), options.bone_count);
    report_progress(progress, STAGE, 1, 4)?;
    let smooth = smooth_weights(&seeds, options.max_influences);
    let bones = problem.bones_for(&smooth, options.bone_count);
    report_progress(progress, STAGE, 2, 4)?;
    // Bones that are solved together predict a vertex badly one by one, so the best single bones are not
    // chosen: with them the error on a galloping horse is twice as large.
    let near: Vec<Vec<usize>> = smooth
        .iter()
        .map(|row| row.iter().map(|w| w.bone.index()).collect())
        .collect();
    let weights = problem.weights_among(&bones, options.max_influences, |i| &near[i]);
    report_progress(progress, STAGE, 3, 4)?;
    let bones = problem.bones_for(&weights, options.bone_count);
    report_progress(progress, STAGE, 4, 4)?;
    problem.decomposition(&bones, weights)
}

/// Weights of the nearest seeds that fall to zero where the next one would come in.
fn smooth_weights(seeds: &Seeds, max_influences: usize) -> Rows<Weight> {
    let vertex_count = seeds.distances.first().map_or(0, Vec::len);
    (0..vertex_count)
        .map(|i| {
            let mut near: Vec<(f64, usize)> = seeds
                .distances
                .iter()
                .enumerate()
                .map(|(seed, distances)| (distances[i], seed))
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            // Without a next seed, the last one keeps some weight.
            let end = match near.get(max_influences) {
                Some(next) => next.0,
                None => 2.0 * near.last().map_or(1.0, |last| last.0),
            };
            near.truncate(max_influences);
            let falloff = |distance: f64| {
                let share = if end > 0.0 { distance / end } else { 0.0 };
                (1.0 - share * share).powi(2)
            };
            let sum: f64 = near.iter().map(|&(distance, _)| falloff(distance)).sum();
            if sum <= 0.0 {
                // All are as far as the next seed.
                near.truncate(1);
            }
            let weight = move |(distance, seed): (f64, usize)| Weight {
                bone: BoneId(seed as u16),
                weight: if sum > 0.0 {
                    falloff(distance) / sum
                } else {
                    1.0
                },
            };
            near.into_iter()
                .map(weight)
                .filter(|w| w.weight > 0.0)
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;
    use crate::synth::{FlagOptions, flag};

    #[test]
    fn smooth_weights_sum_to_one_over_the_nearest() {
        let flag = flag(&FlagOptions {
            width: 16,
            height: 10,
            frame_count: 1,
        });
        let seeds = spread_seeds(flag.rest(), 9);
        for influences in [1, 4, 20] {
            let weights = smooth_weights(&seeds, influences);
            for (i, row) in weights.iter().enumerate() {
                let sum: f64 = row.iter().map(|w| w.weight).sum();
                assert!((sum - 1.0).abs() < 1e-12, "vertex {i}: {row:?}");
                assert!(row.len() <= influences, "vertex {i}: {row:?}");
                assert!(row.iter().all(|w| w.weight > 0.0), "vertex {i}: {row:?}");
            }
        }
    }

    #[test]
    fn more_bones_follow_a_flag_better() {
        let flag = flag(&FlagOptions {
            width: 24,
            height: 16,
            frame_count: 40,
        });
        let error = |bone_count: usize| {
            let options = ComparatorOptions {
                bone_count,
                ..ComparatorOptions::default()
            };
            fit_sad(&flag, &options, &Silent).expect("a flag").e_rms
        };
        let (few, many) = (error(4), error(24));
        assert!(many < 0.5 * few, "{many} with 24 bones, {few} with 4");
    }
}
