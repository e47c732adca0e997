//! One level of Loop's scheme \[Loop87\].

use std::f64::consts::TAU;

use super::Cage;
use super::rules::{Stars, one_level_on, push, push_edge};
use super::stencil::Stencil;

/// The finer cage, and its points as sums of the old ones: first old points, then edges.
///
/// The four triangles made from one are consecutive: one for each corner, in order, then the middle one.
pub(super) fn refine(cage: &Cage, stars: &Stars) -> (Cage, Stencil) {
    let point_count = cage.point_count();
    let count = point_count + cage.edges().len();
    let stencil = Stencil::build(point_count, count, |i, row| {
        if i < point_count {
            return stars.push_point(cage, i, row, |row, share| {
                let edges = stars.edges.row(i);
                let n = edges.len();
                let beta = beta(n);
                push(row, i as u32, share * (1.0 - n as f64 * beta));
                for &edge in edges {
                    let end = cage.edges()[edge as usize].other_end(i as u32);
                    push(row, end, share * beta);
                }
            });
        }
        let edge = &cage.edges()[i - point_count];
        push_edge(edge, row, |row, sides, share| {
            for end in edge.points {
                push(row, end, 0.375 * share);
            }
            for side in sides {
                let opposite = cage.point(cage.previous(side));
                push(row, opposite, 0.125 * share);
            }
        });
    });

    let middle = |corner: u32| (point_count + cage.edge_of_corner(corner)) as u32;
    let mut triangles: Vec<[u32; 3]> = Vec::with_capacity(4 * cage.faces().len());
    for face in 0..cage.faces().len() {
        let start = cage.faces().range(face).start as u32;
        let [a, b, c] = [start, start + 1, start + 2];
        for (corner, before) in [(a, c), (b, a), (c, b)] {
            triangles.push([cage.point(corner), middle(corner), middle(before)]);
        }
        triangles.push([a, b, c].map(middle));
    }
    let mut finer = Cage::of_sound_faces(count, triangles.into_iter().collect());
    for corner in 0..cage.faces().items().len() as u32 {
        let child = 12 * (corner / 3) + 3 * (corner % 3);
        let before = cage.previous(corner);
        for (of, half) in [(corner, child), (before, child + 2)] {
            let sharpness = cage.edges()[cage.edge_of_corner(of)].sharpness;
            finer.set_edge_sharpness(finer.edge_of_corner(half), one_level_on(sharpness));
        }
    }
    (finer, stencil)
}

/// The weight of each of n neighbours in the new position of a point.
pub(super) fn beta(n: usize) -> f64 {
    let n = n as f64;
    let inner = 0.375 + 0.25 * (TAU / n).cos();
    (0.625 - inner * inner) / n
}
