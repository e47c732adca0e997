//! One level of Catmull and Clark's scheme \[Catmull78\].

use super::Cage;
use super::rules::{Stars, one_level_on, push, push_edge};
use super::stencil::{Stencil, Term};
use crate::Rows;

/// The finer cage, and its points as sums of the old ones: first old points, then edges, then faces.
///
/// The quads of a face are consecutive, one for each corner in order, each starting at that corner.
pub(super) fn refine(cage: &Cage, stars: &Stars) -> (Cage, Stencil) {
    let (point_count, edge_count) = (cage.point_count(), cage.edges().len());
    let count = point_count + edge_count + cage.faces().len();
    // The middle of a face, times a weight.
    let push_face = |row: &mut Vec<Term>, face: usize, share: f64| {
        let corners = cage.faces().row(face);
        let each = share / corners.len() as f64;
        corners.iter().for_each(|&point| push(row, point, each));
    };
    let stencil = Stencil::build(point_count, count, |i, row| {
        if i < point_count {
            // (n−2)/n of the point, and 1/n of the mean of its neighbours and of the mean of its faces' middles.
            return stars.push_point(cage, i, row, |row, share| {
                let (edges, corners) = (stars.edges.row(i), stars.corners.row(i));
                let n = edges.len() as f64;
                push(row, i as u32, share * (n - 2.0) / n);
                for &edge in edges {
                    let end = cage.edges()[edge as usize].other_end(i as u32);
                    push(row, end, share / (n * n));
                }
                for &corner in corners {
                    let each = share / (n * corners.len() as f64);
                    push_face(row, cage.face_of_corner(corner), each);
                }
            });
        }
        let Some(face) = i.checked_sub(point_count + edge_count) else {
            let edge = &cage.edges()[i - point_count];
            return push_edge(edge, row, |row, sides, share| {
                for end in edge.points {
                    push(row, end, 0.25 * share);
                }
                for side in sides {
                    push_face(row, cage.face_of_corner(side), 0.25 * share);
                }
            });
        };
        push_face(row, face, 1.0);
    });

    let corner_count = cage.faces().items().len() as u32;
    let middle = |corner: u32| (point_count + cage.edge_of_corner(corner)) as u32;
    let mut quads = Rows::with_capacity(corner_count as usize, 4 * corner_count as usize);
    for corner in 0..corner_count {
        let face = point_count + edge_count + cage.face_of_corner(corner);
        let before = middle(cage.previous(corner));
        quads.push_row([cage.point(corner), middle(corner), face as u32, before]);
    }
    let mut finer = Cage::of_sound_faces(count, quads);
    for corner in 0..corner_count {
        let before = cage.previous(corner);
        for (of, half) in [(corner, 4 * corner), (before, 4 * corner + 3)] {
            let sharpness = cage.edges()[cage.edge_of_corner(of)].sharpness;
            finer.set_edge_sharpness(finer.edge_of_corner(half), one_level_on(sharpness));
        }
    }
    (finer, stencil)
}
