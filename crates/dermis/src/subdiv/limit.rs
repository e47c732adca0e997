//! Limit points: where endless subdivision takes a point, as one more sum of points.
//!
//! The weights are the left eigenvector, for the eigenvalue 1, of the scheme's matrix around a point. For smooth
//! points, creases and corners it is known; at the end of a crease it is found by iteration.

use super::loop_scheme::beta;
use super::rules::{Rule, Stars, push};
use super::stencil::{Stencil, Term};
use super::{Cage, Scheme};

/// Points of a cage moved to the limit surface. For Catmull-Clark, every face must be a quad.
pub(super) fn stencil(cage: &Cage, stars: &Stars, scheme: Scheme) -> Stencil {
    Stencil::build(cage.point_count(), cage.point_count(), |i, row| {
        let edges = stars.edges.row(i);
        match stars.rule(cage, i, |edge| edge.sharpness) {
            Rule::Smooth if edges.len() >= 2 => {
                let dart = edges
                    .iter()
                    .position(|&edge| cage.edges()[edge as usize].sharpness > 0.0);
                match (scheme, dart) {
                    (_, Some(_)) => push_dart(cage, stars, i, scheme, row),
                    (Scheme::Loop, None) => push_loop(cage, edges, i, row),
                    (Scheme::CatmullClark, None) => push_catmull_clark(cage, stars, i, row),
                }
            }
            Rule::Smooth | Rule::Corner => push(row, i as u32, 1.0),
            Rule::Crease(ends) => {
                push(row, i as u32, 2.0 / 3.0);
                for end in ends {
                    push(row, end, 1.0 / 6.0);
                }
            }
        }
    })
}

/// `(ω v + Σ neighbours) / (ω + n)` with `ω = 3 / (8β)`.
fn push_loop(cage: &Cage, edges: &[u32], point: usize, row: &mut Vec<Term>) {
    let n = edges.len() as f64;
    let omega = 0.375 / beta(edges.len());
    push(row, point as u32, omega / (omega + n));
    for &edge in edges {
        let end = cage.edges()[edge as usize].other_end(point as u32);
        push(row, end, 1.0 / (omega + n));
    }
}

/// `(n² v + 4 Σ neighbours + Σ opposite corners) / (n (n + 5))`.
fn push_catmull_clark(cage: &Cage, stars: &Stars, point: usize, row: &mut Vec<Term>) {
    let (edges, corners) = (stars.edges.row(point), stars.corners.row(point));
    let n = edges.len() as f64;
    let scale = 1.0 / (n * (n + 5.0));
    push(row, point as u32, n * n * scale);
    for &edge in edges {
        let end = cage.edges()[edge as usize].other_end(point as u32);
        push(row, end, 4.0 * scale);
    }
    // A valid mesh has as many corners as edges here; elsewhere the weights still sum to 1.
    let each = n * scale / corners.len() as f64;
    for &corner in corners {
        let opposite = cage.next(cage.next(corner));
        push(row, cage.point(opposite), each);
    }
}

/// The end of a crease: the transposed matrix of the scheme over the point and its ring, applied until the weights do
/// not change.
fn push_dart(cage: &Cage, stars: &Stars, point: usize, scheme: Scheme, row: &mut Vec<Term>) {
    let Some(&first) = stars.corners.row(point).first() else {
        return push(row, point as u32, 1.0);
    };
    let fan = stars.fan(cage, first);
    let n = fan.len();
    if n != stars.edges.row(point).len() {
        // The ring is not closed: more than two faces share an edge here.
        return push(row, point as u32, 1.0);
    }
    let sharp = |k: usize| cage.edges()[cage.edge_of_corner(fan[k])].sharpness > 0.0;
    // Index 0 is the point, 1 + k the neighbour along the edge of corner k, 1 + n + k the corner opposite in its face.
    let (edge, face) = (|k: usize| 1 + k % n, |k: usize| 1 + n + k % n);
    let mut matrix: Vec<Vec<(usize, f64)>> = Vec::new();
    let nf = n as f64;
    match scheme {
        Scheme::Loop => {
            let beta = beta(n);
            let ring = (0..n).map(|k| (edge(k), beta));
            matrix.push(ring.chain([(0, 1.0 - nf * beta)]).collect());
            for k in 0..n {
                matrix.push(match sharp(k) {
                    true => vec![(0, 0.5), (edge(k), 0.5)],
                    false => vec![
                        (0, 0.375),
                        (edge(k), 0.375),
                        (edge(k + 1), 0.125),
                        (edge(k + n - 1), 0.125),
                    ],
                });
            }
        }
        Scheme::CatmullClark => {
            let quad = |k: usize| [0, edge(k), face(k), edge(k + 1)];
            let mut own = vec![(0, (nf - 2.0) / nf)];
            for k in 0..n {
                own.push((edge(k), 1.0 / (nf * nf)));
                own.extend(quad(k).map(|at| (at, 0.25 / (nf * nf))));
            }
            matrix.push(own);
            for k in 0..n {
                matrix.push(match sharp(k) {
                    true => vec![(0, 0.5), (edge(k), 0.5)],
                    false => {
                        let faces = [k, k + n - 1].map(quad).concat();
                        let faces = faces.into_iter().map(|at| (at, 0.0625));
                        faces.chain([(0, 0.25), (edge(k), 0.25)]).collect()
                    }
                });
            }
            matrix.extend((0..n).map(|k| quad(k).map(|at| (at, 0.25)).to_vec()));
        }
    }
    let weights = left_eigenvector(&matrix);
    push(row, point as u32, weights[0]);
    for (k, &corner) in fan.iter().enumerate() {
        let end = cage.point(cage.next(corner));
        push(row, end, weights[edge(k)]);
        if scheme == Scheme::CatmullClark {
            let opposite = cage.point(cage.next(cage.next(corner)));
            push(row, opposite, weights[face(k)]);
        }
    }
}

/// The weights that multiplication by a matrix, whose rows sum to 1, does not change.
///
/// The other eigenvalues come nearer to 1 as more edges meet, so the rounds go on until the weights do not change.
fn left_eigenvector(matrix: &[Vec<(usize, f64)>]) -> Vec<f64> {
    const MOST_ROUNDS: usize = 2000;
    let mut weights = vec![1.0 / matrix.len() as f64; matrix.len()];
    for _ in 0..MOST_ROUNDS {
        let mut next = vec![0.0; weights.len()];
        for (terms, weight) in matrix.iter().zip(&weights) {
            for &(at, share) in terms {
                next[at] += weight * share;
            }
        }
        let change = next.iter().zip(&weights).map(|(a, b)| (a - b).abs());
        let change = change.fold(0.0, f64::max);
        weights = next;
        if change < 1e-17 {
            break;
        }
    }
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}
