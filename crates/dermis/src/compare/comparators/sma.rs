//! Bones from triangles that turn alike, as \[James05\] finds them ("skinning mesh animations").
//!
//! Each triangle's turn against the rest mesh, frame after frame, is a point in a space of many
//! dimensions; triangles of one rigid part lie close together there. \[James05\] finds the clusters by
//! mean shift, which takes minutes and does not let the caller choose their number. Here they come from
//! k-means on the leading components of those points, begun by choosing centres that lower the error most, so
//! that the number is the requested one and the result is deterministic.

use faer::Mat;
use glam::{DMat3, DVec3};

use super::ComparatorOptions;
use super::blend::BlendProblem;
use super::options::report_progress;
use crate::example::MeshAnimation;
use crate::fit::FitError;
use crate::fit::decompose::Decomposition;
use crate::fit::decompose::reduce::leading;
use crate::math::nearest_rotation;
use crate::mesh::{HalfEdgeId, Topology, TriMesh};
use crate::par;
use crate::progress::Progress;

/// Frames of which rotations are compared, evenly spread: nine numbers of each make the Gram matrix of
/// all rotations as small as that of the trajectories.
const FRAMES: usize = 48;
/// Components that are kept of the rotations.
const COMPONENTS: usize = 40;
/// Candidates for each next centre.
const TRIED: usize = 12;
/// Share of the area that connected parts must have, to stand for the whole mesh.
const COVERED: f64 = 0.5;
/// Rounds of k-means, at most.
const ROUNDS: usize = 40;

/// Finds bones and weights by the method of \[James05\], with affine bones and weights that are never
/// negative.
///
/// Bones are fitted to the vertices of their triangles alone, weights once to the bones that predict
/// a vertex best one by one; nothing is alternated.
///
/// # Errors
/// [`FitError::BadOption`] and [`FitError::Stopped`].
pub fn fit_sma(
    animation: &MeshAnimation,
    options: &ComparatorOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    const STAGE: &str = "clustering rotations";
    options.check_for(animation)?;
    report_progress(progress, STAGE, 0, 4)?;
    let rotations = rotation_sequences(animation);
    let points = leading(rotations.as_ref(), COMPONENTS).coordinates;
    report_progress(progress, STAGE, 1, 4)?;
    let areas = triangle_areas(animation.rest());
    let labels = k_means(&points, &areas, options.bone_count);
    let topology = Topology::new(animation.vertex_count(), animation.rest().triangles());
    let parts = rigid_parts(&labels, &topology, &areas, options.bone_count);
    report_progress(progress, STAGE, 2, 4)?;
    let problem = BlendProblem::new(animation);
    let mut vertices: Vec<Vec<(usize, f64)>> = vec![Vec::new(); options.bone_count];
    for ((triangle, part), area) in animation.rest().triangles().iter().zip(&parts).zip(&areas) {
        if let Some(j) = part {
            vertices[*j].extend(triangle.map(|i| (i as usize, *area)));
        }
    }
    let parts = par::map(options.bone_count, |j| problem.bone_of(&vertices[j]));
    let d = problem.basis().ncols();
    let bones = Mat::from_fn(d, 4 * options.bone_count, |r, c| parts[c / 4][(r, c % 4)]);
    report_progress(progress, STAGE, 3, 4)?;
    let weights = problem.weights_for(&bones, options.max_influences);
    report_progress(progress, STAGE, 4, 4)?;
    problem.decomposition(&bones, weights)
}

/// How each triangle has turned against the rest mesh: nine numbers for each of some frames.
fn rotation_sequences(animation: &MeshAnimation) -> Mat<f64> {
    let frames: Vec<&[DVec3]> = animation.frames().collect();
    let count = frames.len().min(FRAMES);
    let chosen: Vec<&[DVec3]> = (0..count)
        .map(|n| frames[(2 * n + 1) * frames.len() / (2 * count)])
        .collect();
    let triangles = animation.rest().triangles();
    let rest = animation.rest().positions();
    let columns = par::map(triangles.len(), |t| {
        let corners = triangles[t].map(|i| i as usize);
        let before = local_frame(corners.map(|i| rest[i])).inverse();
        let turned = chosen.iter().flat_map(|frame| {
            let after = local_frame(corners.map(|i| frame[i]));
            let gradient = after * before;
            // A triangle without area has no inverse.
            let rotation = match gradient.is_finite() {
                true => nearest_rotation(gradient),
                false => DMat3::IDENTITY,
            };
            rotation.to_cols_array()
        });
        turned.collect::<Vec<f64>>()
    });
    Mat::from_fn(9 * count, triangles.len(), |r, t| columns[t][r])
}

/// Two edges, and the normal as long as the square root of twice the area.
fn local_frame([a, b, c]: [DVec3; 3]) -> DMat3 {
    let (first, second) = (b - a, c - a);
    let normal = first.cross(second);
    DMat3::from_cols(first, second, normal / normal.length().sqrt())
}

/// Areas, as shares of all.
fn triangle_areas(mesh: &TriMesh) -> Vec<f64> {
    let positions = mesh.positions();
    let area = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|i| positions[i as usize]);
        (b - a).cross(c - a).length()
    };
    let areas: Vec<f64> = mesh.triangles().iter().map(area).collect();
    let sum: f64 = areas.iter().sum();
    match sum > 0.0 {
        true => areas.iter().map(|area| area / sum).collect(),
        false => vec![1.0; areas.len()],
    }
}

/// The cluster of every weighted point (a column each).
fn k_means(points: &Mat<f64>, weights: &[f64], count: usize) -> Vec<usize> {
    if points.ncols() == 0 {
        return Vec::new();
    }
    let mut centers = first_centers(points, weights, count);
    let mut labels = vec![usize::MAX; points.ncols()];
    for _ in 0..ROUNDS {
        let joined = par::map(points.ncols(), |i| {
            nearest(points.col_as_slice(i), &centers)
        });
        let settled = joined
            .iter()
            .zip(&labels)
            .all(|((label, _), old)| label == old);
        labels = joined.iter().map(|&(label, _)| label).collect();
        if settled {
            break;
        }
        let mut sums = vec![(vec![0.0; points.nrows()], 0.0); centers.len()];
        for (i, &label) in labels.iter().enumerate() {
            let (sum, total) = &mut sums[label];
            add(sum, points.col_as_slice(i), weights[i]);
            *total += weights[i];
        }
        // A centre that has lost its points moves to the point with the largest error.
        let mut worst: Vec<usize> = (0..points.ncols()).collect();
        let served = |i: usize| weights[i] * joined[i].1;
        worst.sort_by(|&a, &b| served(b).total_cmp(&served(a)).then(a.cmp(&b)));
        let mut worst = worst.into_iter();
        for (center, (sum, total)) in centers.iter_mut().zip(sums) {
            if total > 0.0 {
                *center = sum.iter().map(|value| value / total).collect();
            } else if let Some(i) = worst.next() {
                *center = points.col_as_slice(i).to_vec();
            }
        }
    }
    labels
}

/// The triangles of each bone: the `count` largest connected parts of the clusters, by area.
///
/// Legs that swing in step turn alike and yet go different ways: one bone could not follow both, and
/// with whole clusters the error on a galloping horse is four times as large. On cloth, clusters fall into
/// many small pieces; when the parts would leave most of the cloth without a bone, whole clusters are used.
fn rigid_parts(
    labels: &[usize],
    topology: &Topology,
    areas: &[f64],
    count: usize,
) -> Vec<Option<usize>> {
    let mut part_of = vec![usize::MAX; labels.len()];
    let mut sizes: Vec<(f64, usize)> = Vec::new();
    for start in 0..labels.len() {
        if part_of[start] != usize::MAX {
            continue;
        }
        let part = sizes.len();
        let mut area = 0.0;
        let mut open = vec![start];
        part_of[start] = part;
        while let Some(triangle) = open.pop() {
            area += areas[triangle];
            for edge in 0..3 {
                let edge = HalfEdgeId((3 * triangle + edge) as u32);
                if let Some(next) = topology.twin(edge).map(HalfEdgeId::triangle)
                    && part_of[next] == usize::MAX
                    && labels[next] == labels[start]
                {
                    part_of[next] = part;
                    open.push(next);
                }
            }
        }
        sizes.push((area, part));
    }
    sizes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let covered: f64 = sizes.iter().take(count).map(|&(area, _)| area).sum();
    if covered < COVERED {
        return labels.iter().map(|&label| Some(label)).collect();
    }
    let mut bone_of = vec![None; sizes.len()];
    for (bone, &(_, part)) in sizes.iter().take(count).enumerate() {
        bone_of[part] = Some(bone);
    }
    part_of.iter().map(|&part| bone_of[part]).collect()
}

fn add(sum: &mut [f64], point: &[f64], weight: f64) {
    for (sum, value) in sum.iter_mut().zip(point) {
        *sum += weight * value;
    }
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn nearest(point: &[f64], centers: &[Vec<f64>]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (label, center) in centers.iter().enumerate() {
        let distance = squared_distance(point, center);
        if distance < best.1 {
            best = (label, distance);
        }
    }
    best
}

/// Centres to begin with: the mean, then one after the other the point, out of some that stand for
/// equal shares of the error, that lowers it most.
///
/// That is the greedy form of k-means++ (\[Arthur07\]) with random choice replaced by quantiles. The point
/// farthest from all centres would be a crumpled triangle.
fn first_centers(points: &Mat<f64>, weights: &[f64], count: usize) -> Vec<Vec<f64>> {
    let mut mean = vec![0.0; points.nrows()];
    for (i, &weight) in weights.iter().enumerate() {
        add(&mut mean, points.col_as_slice(i), weight);
    }
    let total: f64 = weights.iter().sum();
    mean.iter_mut().for_each(|value| *value /= total);
    let distance = |i: usize, center: &[f64]| squared_distance(points.col_as_slice(i), center);
    let mut errors = par::map(points.ncols(), |i| distance(i, &mean));
    let mut centers = vec![mean];
    while centers.len() < count {
        let candidates = quantiles(&errors, weights);
        let tried = par::map(candidates.len(), |at| {
            let center = points.col_as_slice(candidates[at]);
            let left = (0..points.ncols()).map(|i| weights[i] * errors[i].min(distance(i, center)));
            left.sum::<f64>()
        });
        let best = (0..tried.len()).min_by(|&a, &b| tried[a].total_cmp(&tried[b]));
        let center = points.col_as_slice(candidates[best.unwrap_or(0)]).to_vec();
        let apart = par::map(points.ncols(), |i| distance(i, &center));
        for (error, apart) in errors.iter_mut().zip(apart) {
            *error = error.min(apart);
        }
        centers.push(center);
    }
    centers
}

/// Points in the middle of equal shares of the error.
fn quantiles(errors: &[f64], weights: &[f64]) -> Vec<usize> {
    let total: f64 = errors.iter().zip(weights).map(|(error, w)| error * w).sum();
    let mut found = Vec::with_capacity(TRIED);
    let mut sum = 0.0;
    for (i, (error, weight)) in errors.iter().zip(weights).enumerate() {
        sum += error * weight;
        while found.len() < TRIED
            && sum >= (found.len() as f64 + 0.5) / TRIED as f64 * total
            && total > 0.0
        {
            found.push(i);
        }
    }
    if found.is_empty() {
        found.push(0);
    }
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::MeshClip;
    use crate::progress::Silent;
    use crate::synth::{TubeOptions, tube};

    #[test]
    fn a_tube_that_is_linear_blending_is_found_again() {
        let tube = tube(&TubeOptions {
            ring_count: 40,
            segment_count: 8,
            bone_count: 3,
            example_count: 16,
        });
        let frames = tube.examples.examples().iter().map(|e| e.positions.clone());
        let clip = MeshClip {
            name: "poses".to_owned(),
            frames: frames.collect(),
            frames_per_second: 24.0,
        };
        let animation = MeshAnimation::new(tube.examples.rest().clone(), vec![clip]);
        let animation = animation.expect("frames");
        let error = |bone_count: usize| {
            let options = ComparatorOptions {
                bone_count,
                ..ComparatorOptions::default()
            };
            fit_sma(&animation, &options, &Silent)
                .expect("a tube")
                .e_rms
        };
        let (one, six) = (error(1), error(6));
        assert!(six < 0.15 * one, "{six} with six bones, {one} with one");
    }

    #[test]
    fn points_in_clear_groups_fall_into_them() {
        let points = Mat::from_fn(2, 30, |r, c| {
            (c % 3 * 10) as f64 + ((c * (r + 7)) as f64).sin()
        });
        let labels = k_means(&points, &[1.0; 30], 3);
        for c in 3..30 {
            assert_eq!(labels[c], labels[c % 3], "point {c}: {labels:?}");
        }
        assert!(
            labels[0] != labels[1] && labels[1] != labels[2],
            "{labels:?}"
        );
    }

    #[test]
    fn more_centres_than_different_points_do_no_harm() {
        let labels = k_means(&Mat::from_fn(2, 6, |_, c| (c % 2) as f64), &[1.0; 6], 5);
        assert!(labels.iter().all(|&label| label < 5), "{labels:?}");
        assert!(labels[0] != labels[1], "{labels:?}");
    }
}
