//! Parts of a mesh with a basis of their own each (\[Sattler05\]).
//!
//! Lloyd's iteration with subspaces for centres: every vertex joins the cluster whose basis predicts
//! its trajectory best, every basis is refitted to its vertices. A cluster has four components in
//! all. They are not taken about the cluster's mean: \[Kavan10\] gives the method the per-frame data of
//! skinning, four trajectories per bone, and a mean would be one of the four; the best four through
//! the origin are never worse than a mean and three.

use faer::{Mat, MatRef};

use super::blend::BlendProblem;
use super::options::report_progress;
use super::seeds::spread_seeds;
use super::{ComparatorOptions, Prediction};
use crate::example::MeshAnimation;
use crate::fit::FitError;
use crate::fit::decompose::reduce::leading;
use crate::mesh::Topology;
use crate::par;
use crate::progress::Progress;
use crate::solve::product;

/// Components of a cluster: as many as a bone's matrix has columns.
const COMPONENTS: usize = 4;
/// Rounds of joining and refitting, at most.
const ROUNDS: usize = 60;
/// Steps of the power method that refit a basis in each round, from what it was before.
const POWER_STEPS: usize = 2;

/// Finds clusters of vertices and four components for each.
///
/// Begins with patches of equal size; empty clusters begin anew at the vertex that is predicted
/// worst. Clusters do not overlap, so neighbours in different clusters come apart.
///
/// # Errors
/// [`FitError::BadOption`] and [`FitError::Stopped`].
pub fn clustered_pca(
    animation: &MeshAnimation,
    options: &ComparatorOptions,
    progress: &dyn Progress,
) -> Result<Prediction, FitError> {
    const STAGE: &str = "clustering trajectories";
    options.check_for(animation)?;
    report_progress(progress, STAGE, 0, ROUNDS)?;
    let problem = BlendProblem::new(animation);
    let coordinates = problem.coordinates();
    let topology = Topology::new(animation.vertex_count(), animation.rest().triangles());
    let mut labels = spread_seeds(animation.rest(), options.bone_count).nearest();
    let mut bases = exact_bases(coordinates, &labels, options.bone_count);
    for round in 0..ROUNDS {
        report_progress(progress, STAGE, round, ROUNDS)?;
        let joined = join(coordinates, &bases);
        let settled = joined
            .iter()
            .zip(&labels)
            .all(|((label, _), old)| label == old);
        labels = joined.iter().map(|&(label, _)| label).collect();
        let refilled = refill(&mut labels, &joined, options.bone_count, &topology);
        if settled && !refilled {
            break;
        }
        refit(coordinates, &labels, &mut bases);
    }
    let bases = exact_bases(coordinates, &labels, options.bone_count);
    report_progress(progress, STAGE, ROUNDS, ROUNDS)?;
    let columns = par::map(labels.len(), |i| {
        let basis = &bases[labels[i]];
        basis * (basis.transpose() * coordinates.subcols(i, 1))
    });
    let predicted = Mat::from_fn(coordinates.nrows(), labels.len(), |r, i| columns[i][(r, 0)]);
    let predicted = product(problem.basis(), predicted.as_ref());
    Ok(Prediction::new(
        animation,
        predicted.as_ref(),
        [COMPONENTS, 1],
        3 * COMPONENTS * options.bone_count,
    ))
}

/// The vertices of each cluster.
fn members(labels: &[usize], count: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); count];
    for (i, &label) in labels.iter().enumerate() {
        members[label].push(i);
    }
    members
}

fn gather(coordinates: MatRef<'_, f64>, members: &[usize]) -> Mat<f64> {
    Mat::from_fn(coordinates.nrows(), members.len(), |r, at| {
        coordinates[(r, members[at])]
    })
}

/// The best basis of every cluster; a cluster of few vertices may need fewer columns.
fn exact_bases(coordinates: MatRef<'_, f64>, labels: &[usize], count: usize) -> Vec<Mat<f64>> {
    let members = members(labels, count);
    par::map(count, |p| {
        leading(gather(coordinates, &members[p]).as_ref(), COMPONENTS).basis
    })
}

/// The best cluster of every vertex, and the squared length of the error.
fn join(coordinates: MatRef<'_, f64>, bases: &[Mat<f64>]) -> Vec<(usize, f64)> {
    let starts: Vec<usize> = bases
        .iter()
        .scan(0, |at, basis| {
            let start = *at;
            *at += basis.ncols();
            Some(start)
        })
        .collect();
    let total = bases.iter().map(Mat::ncols).sum();
    let mut all = Mat::<f64>::zeros(coordinates.nrows(), total);
    for (basis, &start) in bases.iter().zip(&starts) {
        all.subcols_mut(start, basis.ncols()).copy_from(basis);
    }
    let components = product(all.transpose(), coordinates);
    par::map(coordinates.ncols(), |i| {
        let column = components.col_as_slice(i);
        let mut best = (0, f64::NEG_INFINITY);
        for (p, (basis, &start)) in bases.iter().zip(&starts).enumerate() {
            let own = &column[start..start + basis.ncols()];
            let predicted: f64 = own.iter().map(|c| c * c).sum();
            if predicted > best.1 {
                best = (p, predicted);
            }
        }
        let whole = coordinates.col(i).squared_norm_l2();
        (best.0, (whole - best.1).max(0.0))
    })
}

/// Gives empty clusters the worst vertex and its neighbours; true if there was one.
fn refill(
    labels: &mut [usize],
    joined: &[(usize, f64)],
    count: usize,
    topology: &Topology,
) -> bool {
    let empty: Vec<usize> = {
        let members = members(labels, count);
        (0..count).filter(|&p| members[p].is_empty()).collect()
    };
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| joined[b].1.total_cmp(&joined[a].1).then(a.cmp(&b)));
    let mut taken = vec![false; labels.len()];
    let mut refilled = false;
    for p in empty {
        let free = |i: &usize| !taken[*i] && joined[*i].1 > 0.0;
        let Some(worst) = order.iter().copied().find(free) else {
            break;
        };
        let neighbors = topology.neighbors(worst).iter().map(|&i| i as usize);
        for i in std::iter::once(worst).chain(neighbors) {
            labels[i] = p;
            taken[i] = true;
        }
        refilled = true;
    }
    refilled
}

/// Turns every basis towards the best of its cluster, by a power method that never loses.
fn refit(coordinates: MatRef<'_, f64>, labels: &[usize], bases: &mut [Mat<f64>]) {
    let members = members(labels, bases.len());
    par::map_mut(bases, |p, basis| {
        let own = gather(coordinates, &members[p]);
        if basis.ncols() < COMPONENTS.min(own.nrows()) {
            *basis = leading(own.as_ref(), COMPONENTS).basis;
            return;
        }
        for _ in 0..POWER_STEPS {
            let powered = &own * (own.transpose() * &*basis);
            if powered.norm_max() > 0.0 {
                *basis = powered.qr().compute_thin_Q();
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::comparators::truncated_svd;
    use crate::progress::Silent;
    use crate::synth::{FlagOptions, flag};

    fn options(bone_count: usize) -> ComparatorOptions {
        ComparatorOptions {
            bone_count,
            ..ComparatorOptions::default()
        }
    }

    #[test]
    fn one_cluster_is_the_sum_of_four_terms() {
        let flag = flag(&FlagOptions {
            width: 20,
            height: 12,
            frame_count: 30,
        });
        let one = clustered_pca(&flag, &options(1), &Silent).expect("one cluster");
        let four = truncated_svd(&flag, &options(1), &Silent).expect("four terms");
        assert!(
            (one.e_rms - four.e_rms).abs() < 0.01,
            "{} {}",
            one.e_rms,
            four.e_rms
        );
    }

    #[test]
    fn more_clusters_beat_fewer_but_not_the_truncated_svd() {
        let flag = flag(&FlagOptions {
            width: 24,
            height: 16,
            frame_count: 40,
        });
        let few = clustered_pca(&flag, &options(4), &Silent)
            .expect("four")
            .e_rms;
        let many = clustered_pca(&flag, &options(12), &Silent)
            .expect("twelve")
            .e_rms;
        let bound = truncated_svd(&flag, &options(12), &Silent)
            .expect("48 terms")
            .e_rms;
        assert!(many < 0.8 * few, "{many} {few}");
        assert!(bound <= many, "{bound} {many}");
    }

    #[test]
    fn an_empty_cluster_takes_the_worst_vertex() {
        let topology = Topology::new(5, &[[0, 1, 2], [2, 3, 4]]);
        let mut labels = vec![0; 5];
        let joined = [(0, 0.0), (0, 1.0), (0, 2.0), (0, 0.5), (0, 9.0)];
        assert!(refill(&mut labels, &joined, 3, &topology), "two were empty");
        assert_eq!(labels[4], 1, "the worst goes to the first: {labels:?}");
        assert_eq!(
            labels[1], 2,
            "the next that is free to the second: {labels:?}"
        );
    }
}
