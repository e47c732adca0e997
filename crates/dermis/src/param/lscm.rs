//! Least squares conformal maps: flat charts that keep angles as well as they can.
//!
//! Minimises `E_D(u) − area(u)`, the Dirichlet energy less the area in UV, which is 0 only for a conformal map
//! \[Levy02\]. Per triangle this is `A/2 [(J₁₁ − J₂₂)² + (J₁₂ + J₂₁)²]`, so the metric is all it needs. Two border
//! vertices far apart are held; the result may have flipped triangles.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DMat2, DVec2};

use super::elements::{ElementSolver, Elements, Nodes, Term};
use super::piece::EdgeProducts;
use crate::solve::CholeskyError;

/// Positions of the nodes, with `pins` at distance 1 from each other; flips are possible.
///
/// # Errors
/// As [`ElementSolver::solve`].
pub(crate) fn least_squares_conformal(
    elements: &Elements,
    pins: [u32; 2],
    solver: &mut ElementSolver,
) -> Result<Vec<DVec2>, CholeskyError> {
    let mut entries = vec![0.0; elements.entry_count()];
    let alike = DMat2::from_cols_array(&[1.0, 0.0, 0.0, -1.0]);
    let across = DMat2::from_cols_array(&[0.0, 1.0, 1.0, 0.0]);
    for (element, &weight) in elements.areas().iter().enumerate() {
        let terms = [alike, across].map(|mode| Term { weight, mode });
        elements.add_terms(element, &terms, &mut entries);
    }
    let mut held = vec![None; 2 * elements.node_count()];
    for (pin, place) in pins.into_iter().zip([0.0, 1.0]) {
        held[2 * pin as usize] = Some(place);
        held[2 * pin as usize + 1] = Some(0.0);
    }
    let mut right = hold(elements, &mut entries, &held);
    solver.solve(elements, &entries, &mut right)?;
    Ok(right.chunks_exact(2).map(DVec2::from_slice).collect())
}

/// Turns the rows of held unknowns into `x = value`, keeping the pattern, and returns the right-hand side.
fn hold(elements: &Elements, entries: &mut [f64], held: &[Option<f64>]) -> Vec<f64> {
    let mut right: Vec<f64> = held.iter().map(|value| value.unwrap_or(0.0)).collect();
    for (column, range) in elements.column_starts().windows(2).enumerate() {
        let range = range[0]..range[1];
        let rows = &elements.rows()[range.clone()];
        for (entry, &row) in entries[range].iter_mut().zip(rows) {
            match (held[row], held[column]) {
                (None, None) => continue,
                (Some(_), Some(_)) if row == column => {
                    *entry = 1.0;
                    continue;
                }
                (Some(_), Some(_)) => {}
                (Some(value), None) => right[column] -= *entry * value,
                (None, Some(value)) => right[row] -= *entry * value,
            }
            *entry = 0.0;
        }
    }
    right
}

/// Two nodes on the border far apart along the edges: the farthest from the first, and the farthest from that.
pub(crate) fn far_pins(
    triangles: &[[u32; 3]],
    metrics: &[EdgeProducts],
    border: &[u32],
    nodes: &Nodes,
) -> Option<[u32; 2]> {
    let graph = EdgeGraph::new(triangles, metrics, border);
    let free: Vec<u32> = border
        .iter()
        .copied()
        .filter(|&vertex| nodes.node_of(vertex).is_some())
        .collect();
    let farthest = |from: u32| -> Option<u32> {
        let distances = graph.distances(from);
        free.iter()
            .copied()
            .filter(|&vertex| vertex != from)
            .max_by(|&a, &b| distances[a as usize].total_cmp(&distances[b as usize]))
    };
    let first = farthest(*free.first()?)?;
    let second = farthest(first)?;
    nodes
        .node_of(first)
        .zip(nodes.node_of(second))
        .map(|(a, b)| [a, b])
}

/// The edges of a mesh with their lengths.
struct EdgeGraph {
    starts: Vec<usize>,
    ends: Vec<(u32, f64)>,
}

impl EdgeGraph {
    fn new(triangles: &[[u32; 3]], metrics: &[EdgeProducts], border: &[u32]) -> Self {
        let count = triangles
            .iter()
            .flatten()
            .max()
            .map_or(0, |&v| v as usize + 1);
        // Each triangle gives its sides in its own direction; an edge of the border has no triangle for the other.
        let mut sides = Vec::with_capacity(3 * triangles.len() + border.len());
        for (corners, metric) in triangles.iter().zip(metrics) {
            let lengths = metric.squared_lengths();
            for k in 0..3 {
                sides.push((corners[k], corners[(k + 1) % 3], lengths[k].sqrt()));
            }
        }
        let mut next = vec![u32::MAX; count];
        for (k, &from) in border.iter().enumerate() {
            next[from as usize] = border[(k + 1) % border.len()];
        }
        for k in 0..3 * triangles.len() {
            let (from, to, length) = sides[k];
            if next[from as usize] == to {
                sides.push((to, from, length));
            }
        }
        let mut starts = vec![0; count + 1];
        for side in &sides {
            starts[side.0 as usize + 1] += 1;
        }
        for k in 0..count {
            starts[k + 1] += starts[k];
        }
        let mut at = starts.clone();
        let mut ends = vec![(0, 0.0); sides.len()];
        for (from, to, length) in sides {
            let slot = &mut at[from as usize];
            ends[*slot] = (to, length);
            *slot += 1;
        }
        Self { starts, ends }
    }

    /// Lengths of shortest paths (Dijkstra); infinite where there is none.
    fn distances(&self, from: u32) -> Vec<f64> {
        let mut distances = vec![f64::INFINITY; self.starts.len() - 1];
        distances[from as usize] = 0.0;
        // Lengths are not negative, so their bits order as they do.
        let mut queue = BinaryHeap::from([Reverse((0_u64, from))]);
        while let Some(Reverse((bits, at))) = queue.pop() {
            let distance = f64::from_bits(bits);
            if distance > distances[at as usize] {
                continue;
            }
            let range = self.starts[at as usize]..self.starts[at as usize + 1];
            for &(to, length) in &self.ends[range] {
                let through = distance + length;
                if through < distances[to as usize] {
                    distances[to as usize] = through;
                    queue.push(Reverse((through.to_bits(), to)));
                }
            }
        }
        distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::overlap::first_flip;
    use crate::param::piece::Piece;
    use crate::param::shapes;
    use crate::param::stretch::StretchSums;

    fn map(piece: &Piece) -> Vec<DVec2> {
        let unit = piece.unit_metrics();
        let nodes = Nodes::new(piece.vertex_count, &[]).expect("no ties");
        let elements = Elements::new(&piece.triangles, &unit.metrics, &nodes);
        let border = piece.border_loop().expect("a disc");
        let pins = far_pins(&piece.triangles, &unit.metrics, &border, &nodes).expect("a border");
        let x = least_squares_conformal(&elements, pins, &mut ElementSolver::default());
        nodes.spread(&x.expect("definite"))
    }

    #[test]
    fn a_bent_strip_becomes_flat_exactly() {
        let piece = shapes::cut_cylinder(24, 10);
        let uvs = map(&piece);
        assert_eq!(first_flip(&piece.triangles, &uvs), None, "no flips");
        let l2 = StretchSums::new(&piece.triangles, &piece.metrics, &uvs).l2();
        assert!((l2 - 1.0).abs() < 1e-9, "{l2}");
    }

    #[test]
    fn a_hemisphere_keeps_its_angles() {
        let piece = shapes::hemisphere(24);
        let uvs = map(&piece);
        assert_eq!(first_flip(&piece.triangles, &uvs), None, "no flips");
        let mut mean = 0.0;
        for (corners, metric) in piece.triangles.iter().zip(&piece.metrics) {
            let [a, b, c] = corners.map(|v| uvs[v as usize]);
            let cosine = (b - a).angle_to(c - a).cos();
            mean += (cosine - metric.ef / (metric.ee * metric.ff).sqrt()).abs();
        }
        mean /= piece.triangles.len() as f64;
        assert!(mean < 0.02, "mean difference of cosines {mean}");
    }

    #[test]
    fn pins_of_a_long_strip_are_at_its_ends() {
        let piece = shapes::strip(60, 2, 30.0, 1.0);
        let border = piece.border_loop().expect("a disc");
        let nodes = Nodes::new(piece.vertex_count, &[]).expect("no ties");
        let pins = far_pins(&piece.triangles, &piece.metrics, &border, &nodes).expect("some");
        let column = |vertex: u32| vertex % 61;
        let columns = [
            column(pins[0]).min(column(pins[1])),
            column(pins[0]).max(column(pins[1])),
        ];
        assert_eq!(columns, [0, 60], "opposite ends");
    }
}
