//! Parts of a mesh that move rigidly, found from its motion alone.
//!
//! Lloyd's iteration with rigid motions for centres: every vertex joins the motion that predicts it
//! best over all meshes, every motion is refitted to its vertices. The number of motions grows from
//! one by splitting the motion with the largest error, at the vertex with the largest error, so the result
//! does not depend on random numbers (\[James05\] clusters rotations of triangles instead; with few poses
//! those are too alike).

use glam::{DAffine3, DVec3};

use super::motion::Motion;
use crate::fit::FitError;
use crate::mesh::Topology;
use crate::par;
use crate::progress::{Progress, Stage};

/// Rounds of joining and refitting after each split; more change few labels.
const ROUNDS_PER_SPLIT: usize = 4;
/// Rounds after the last split.
const LAST_ROUNDS: usize = 12;
/// A piece of a cluster that is smaller than this share of its largest piece is a stray.
const STRAY_SHARE: f64 = 0.2;

/// The cluster of every vertex; clusters are numbered without gaps, at most `count` of them.
///
/// # Errors
/// [`FitError::Stopped`].
pub(super) fn rigid_clusters(
    motion: &Motion,
    topology: &Topology,
    count: usize,
    progress: &dyn Progress,
) -> Result<Vec<u16>, FitError> {
    let vertex_count = motion.rest.len();
    let everything: Vec<(usize, f64)> = (0..vertex_count).map(|i| (i, 1.0)).collect();
    let mut motions = vec![motion.rigid_motions(&everything)];
    let stage = Stage::new(progress, "finding rigid parts", count);
    let mut labels = vec![0_u16; vertex_count];
    loop {
        let last = motions.len() >= count;
        let rounds = if last { LAST_ROUNDS } else { ROUNDS_PER_SPLIT };
        let mut errors = Vec::new();
        for _ in 0..rounds {
            let joined = join(motion, &motions, &labels);
            let settled = joined
                .iter()
                .zip(&labels)
                .all(|((label, _), old)| label == old);
            labels = joined.iter().map(|&(label, _)| label).collect();
            errors = joined.iter().map(|&(_, error)| error).collect();
            if settled && motions.len() > 1 {
                break;
            }
            refit(motion, &labels, &mut motions);
        }
        if !stage.step() {
            return Err(FitError::Stopped);
        }
        let largest = errors.iter().copied().fold(0.0, f64::max);
        if last || largest <= 0.0 {
            break;
        }
        // Few at a time: too many splits in one round would explain the same vertices twice.
        let splits = (motions.len() / 8).clamp(1, count - motions.len());
        for seed in worst_served(motion, &labels, &errors, motions.len(), splits) {
            motions.push(motion.rigid_motions(&patch(topology, seed)));
        }
    }
    absorb_strays(motion, topology, &motions, &mut labels);
    Ok(without_gaps(&labels))
}

/// The best motion of every vertex and its squared error.
fn join(motion: &Motion, motions: &[Vec<DAffine3>], labels: &[u16]) -> Vec<(u16, f64)> {
    par::map(labels.len(), |i| {
        // The old label first: its error cuts the others short.
        let old = labels[i];
        let mut best = (
            old,
            motion.squared_error(i, &motions[usize::from(old)], f64::INFINITY),
        );
        for (j, candidate) in motions.iter().enumerate() {
            let error = motion.squared_error(i, candidate, best.1);
            if error < best.1 {
                best = (j as u16, error);
            }
        }
        best
    })
}

fn refit(motion: &Motion, labels: &[u16], motions: &mut [Vec<DAffine3>]) {
    let mut members: Vec<Vec<(usize, f64)>> = vec![Vec::new(); motions.len()];
    for (i, &label) in labels.iter().enumerate() {
        members[usize::from(label)].push((i, 1.0));
    }
    for (own, members) in motions.iter_mut().zip(&members) {
        // Three points are just enough to determine a motion.
        if members.len() >= 4 {
            *own = motion.rigid_motions(members);
        }
    }
}

/// The vertex to split at in each of the worst clusters: one with a large error, far from the middle.
fn worst_served(
    motion: &Motion,
    labels: &[u16],
    errors: &[f64],
    cluster_count: usize,
    splits: usize,
) -> Vec<usize> {
    let mut total = vec![0.0; cluster_count];
    let mut size = vec![0.0; cluster_count];
    let mut center = vec![DVec3::ZERO; cluster_count];
    for (i, &label) in labels.iter().enumerate() {
        total[usize::from(label)] += errors[i];
        size[usize::from(label)] += 1.0;
        center[usize::from(label)] += motion.rest[i];
    }
    let mut order: Vec<usize> = (0..cluster_count).collect();
    order.sort_by(|&a, &b| total[b].total_cmp(&total[a]).then(a.cmp(&b)));
    let seed_of = |cluster: usize| {
        let middle = center[cluster] / f64::max(size[cluster], 1.0);
        let score = |i: usize| errors[i] * motion.rest[i].distance(middle);
        (0..labels.len())
            .filter(|&i| usize::from(labels[i]) == cluster)
            .max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a)))
    };
    order.into_iter().take(splits).filter_map(seed_of).collect()
}

/// A vertex and its neighbours, three rings of them.
fn patch(topology: &Topology, seed: usize) -> Vec<(usize, f64)> {
    let mut members = vec![seed];
    let mut ring = vec![seed];
    for _ in 0..3 {
        let mut next: Vec<usize> = ring
            .iter()
            .flat_map(|&i| topology.neighbors(i))
            .map(|&n| n as usize)
            .filter(|n| !members.contains(n))
            .collect();
        next.sort_unstable();
        next.dedup();
        members.extend(&next);
        ring = next;
    }
    members.into_iter().map(|i| (i, 1.0)).collect()
}

/// Gives small separate pieces of a cluster to the best cluster that they touch.
///
/// A piece that touches no other cluster is a shell of its own, and stays.
fn absorb_strays(
    motion: &Motion,
    topology: &Topology,
    motions: &[Vec<DAffine3>],
    labels: &mut [u16],
) {
    let pieces = pieces(topology, labels);
    let mut largest = vec![0; motions.len()];
    for piece in &pieces {
        let label = usize::from(labels[piece[0]]);
        largest[label] = piece.len().max(largest[label]);
    }
    let is_stray = |piece: &[usize], labels: &[u16]| {
        let whole = largest[usize::from(labels[piece[0]])];
        (piece.len() as f64) < STRAY_SHARE * whole as f64
    };
    let mut stray = vec![false; labels.len()];
    for piece in pieces.iter().filter(|piece| is_stray(piece, labels)) {
        piece.iter().for_each(|&i| stray[i] = true);
    }
    // From the rim inwards: each pass settles the strays beside settled vertices.
    loop {
        let changes: Vec<(usize, u16)> = (0..labels.len())
            .filter(|&i| stray[i])
            .filter_map(|i| {
                let near = topology.neighbors(i).iter().map(|&n| n as usize);
                near.filter(|&n| !stray[n])
                    .map(|n| labels[n])
                    .map(|label| {
                        let own = &motions[usize::from(label)];
                        (motion.squared_error(i, own, f64::INFINITY), label)
                    })
                    .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
                    .map(|(_, label)| (i, label))
            })
            .collect();
        if changes.is_empty() {
            return;
        }
        for (i, label) in changes {
            labels[i] = label;
            stray[i] = false;
        }
    }
}

/// Connected sets of equally labelled vertices, by their first vertex.
fn pieces(topology: &Topology, labels: &[u16]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; labels.len()];
    let mut pieces = Vec::new();
    for first in 0..labels.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let mut piece = vec![first];
        let mut at = 0;
        while at < piece.len() {
            for &n in topology.neighbors(piece[at]) {
                let n = n as usize;
                if labels[n] == labels[first] && !std::mem::replace(&mut seen[n], true) {
                    piece.push(n);
                }
            }
            at += 1;
        }
        pieces.push(piece);
    }
    pieces
}

fn without_gaps(labels: &[u16]) -> Vec<u16> {
    let mut used: Vec<u16> = labels.to_vec();
    used.sort_unstable();
    used.dedup();
    labels
        .iter()
        .map(|label| used.binary_search(label).expect("every label is used") as u16)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    /// Two rods end to end, ten vertices each, and a lone triangle that moves with the second:
    ///
    /// ```text
    ///   0-1-2 ... 9-10-11 ... 19     20-21-22
    ///   first rod    second rod      second rod's motion
    /// ```
    fn rods() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut rest: Vec<DVec3> = (0..20)
            .map(|i| {
                DVec3::new(
                    f64::from(i) * 0.1,
                    f64::from(i % 2) * 0.05,
                    0.03 * f64::from(i % 3),
                )
            })
            .collect();
        let mut triangles: Vec<[u32; 3]> = (0..18).map(|i| [i, i + 1, i + 2]).collect();
        rest.extend([
            DVec3::new(1.5, 1.0, 0.0),
            DVec3::new(1.6, 1.0, 0.0),
            DVec3::new(1.5, 1.1, 0.0),
        ]);
        triangles.push([20, 21, 22]);
        (rest, triangles)
    }

    #[test]
    fn two_rods_on_a_hinge_are_two_parts() {
        let (rest, triangles) = rods();
        let topology = Topology::new(rest.len(), &triangles);
        let hinge = DVec3::new(0.95, 0.0, 0.0);
        let meshes: Vec<Vec<DVec3>> = [0.0, 0.5, 1.0, -0.7]
            .iter()
            .map(|&angle| {
                let turn = DAffine3::from_translation(hinge)
                    * DAffine3::from_rotation_z(angle)
                    * DAffine3::from_translation(-hinge);
                let bent = |(i, p): (usize, &DVec3)| {
                    if i < 10 {
                        *p
                    } else {
                        turn.transform_point3(*p)
                    }
                };
                rest.iter().enumerate().map(bent).collect()
            })
            .collect();
        let meshes: Vec<&[DVec3]> = meshes.iter().map(Vec::as_slice).collect();
        let motion = Motion::new(&rest, &meshes);
        let labels = rigid_clusters(&motion, &topology, 2, &Silent).expect("nobody stops it");
        assert!(labels[..9].iter().all(|&l| l == labels[0]), "{labels:?}");
        assert!(labels[11..].iter().all(|&l| l == labels[19]), "{labels:?}");
        assert_ne!(labels[0], labels[19], "the two rods move apart");
        // Nothing is left to split, so there are fewer parts than requested.
        let more = rigid_clusters(&motion, &topology, 6, &Silent).expect("nobody stops it");
        assert!(more.iter().max() <= Some(&5), "{more:?}");
    }

    #[test]
    fn a_still_mesh_is_one_part() {
        let (rest, triangles) = rods();
        let topology = Topology::new(rest.len(), &triangles);
        let motion = Motion::new(&rest, &[&rest, &rest]);
        let labels = rigid_clusters(&motion, &topology, 4, &Silent).expect("nobody stops it");
        assert!(
            labels.iter().all(|&l| l == 0) || labels.iter().max() <= Some(&3),
            "{labels:?}"
        );
    }
}
