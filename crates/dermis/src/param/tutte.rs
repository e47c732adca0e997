//! Convex combination maps: flat charts on a disc or a convex polygon that never flip a triangle \[Tutte63\].
//!
//! Every interior vertex is the weighted mean of its neighbours, weights positive and symmetric. Weights from the metric
//! (cotangents, kept within bounds) come near the conformal map; equal weights depend on nothing.

use glam::DVec2;

use super::elements::Tie;
use super::piece::EdgeProducts;
use crate::solve::{CholeskyError, LowerColumns, SparseCholesky};

/// The weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TutteWeights {
    /// Sums of the two opposite cotangents, kept between [`LEAST_WEIGHT`] and its inverse.
    Cotangents,
    /// All 1.
    Equal,
}

/// Bounds of the cotangent weights: with a wider range interior vertices crowd together at long edges.
const LEAST_WEIGHT: f64 = 0.05;
/// The least length of a border edge over the mean, so that vertices that coincide are parted.
const LEAST_SPACING: f64 = 0.05;

/// Maps the border to the unit circle by arc length, tied vertices to the chords between their ends, and all others to
/// means of their neighbours.
///
/// Flips nothing in exact arithmetic if no triangle and no inner edge has all its corners tied to one line.
///
/// # Errors
/// As [`SparseCholesky::new`].
pub(crate) fn tutte_map(
    triangles: &[[u32; 3]],
    metrics: &[EdgeProducts],
    border: &[u32],
    ties: &[Tie],
    vertex_count: usize,
    weights: TutteWeights,
) -> Result<Vec<DVec2>, CholeskyError> {
    let mut uvs = vec![DVec2::ZERO; vertex_count];
    let mut unknown_of: Vec<Option<usize>> = vec![Some(0); vertex_count];
    for (&vertex, place) in border.iter().zip(circle(triangles, metrics, border)) {
        uvs[vertex as usize] = place;
        unknown_of[vertex as usize] = None;
    }
    for tie in ties {
        let (from, to) = (uvs[tie.from as usize], uvs[tie.to as usize]);
        uvs[tie.vertex as usize] = from.lerp(to, tie.share);
    }
    let mut inner = Vec::new();
    for (vertex, slot) in unknown_of.iter_mut().enumerate() {
        if slot.is_some() {
            *slot = Some(inner.len());
            inner.push(vertex);
        }
    }
    if inner.is_empty() {
        return Ok(uvs);
    }
    let edges = edge_weights(triangles, metrics, weights);
    let (matrix, right) = laplacian(&edges, &unknown_of, inner.len(), &uvs);
    let factor = SparseCholesky::new(matrix)?;
    let [mut u, mut v] = right;
    factor.solve(&mut u);
    factor.solve(&mut v);
    for (k, vertex) in inner.into_iter().enumerate() {
        uvs[vertex] = DVec2::new(u[k], v[k]);
    }
    Ok(uvs)
}

/// Places of the border's vertices on the unit circle.
fn circle(triangles: &[[u32; 3]], metrics: &[EdgeProducts], border: &[u32]) -> Vec<DVec2> {
    let count = triangles
        .iter()
        .flatten()
        .max()
        .map_or(0, |&v| v as usize + 1);
    let mut position = vec![usize::MAX; count];
    for (k, &vertex) in border.iter().enumerate() {
        position[vertex as usize] = k;
    }
    let mut lengths = vec![0.0; border.len()];
    for (corners, metric) in triangles.iter().zip(metrics) {
        let squared = metric.squared_lengths();
        for k in 0..3 {
            let at = position[corners[k] as usize];
            let to = corners[(k + 1) % 3];
            if at != usize::MAX && border[(at + 1) % border.len()] == to {
                lengths[at] = squared[k].sqrt();
            }
        }
    }
    let mean = lengths.iter().sum::<f64>() / border.len() as f64;
    let floor = if mean > 0.0 {
        LEAST_SPACING * mean
    } else {
        1.0
    };
    for length in &mut lengths {
        *length = length.max(floor);
    }
    let total: f64 = lengths.iter().sum();
    let mut passed = 0.0;
    lengths
        .iter()
        .map(|length| {
            let place = DVec2::from_angle(std::f64::consts::TAU * passed / total);
            passed += length;
            place
        })
        .collect()
}

/// Edges `(lesser vertex, greater vertex, weight)`, sorted.
fn edge_weights(
    triangles: &[[u32; 3]],
    metrics: &[EdgeProducts],
    weights: TutteWeights,
) -> Vec<(u32, u32, f64)> {
    let mut edges = Vec::with_capacity(3 * triangles.len());
    for (corners, metric) in triangles.iter().zip(metrics) {
        let double_area = 2.0 * metric.area();
        // Products of the two edges that leave the corner opposite the side.
        let opposite = [metric.ff - metric.ef, metric.ef, metric.ee - metric.ef];
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            edges.push((a.min(b), a.max(b), 0.5 * opposite[k] / double_area));
        }
    }
    edges.sort_by_key(|edge| (edge.0, edge.1));
    edges.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    for edge in &mut edges {
        edge.2 = match weights {
            TutteWeights::Cotangents => edge.2.clamp(LEAST_WEIGHT, 1.0 / LEAST_WEIGHT),
            TutteWeights::Equal => 1.0,
        };
    }
    edges
}

/// The matrix of the inner vertices and the right-hand sides of both coordinates.
fn laplacian(
    edges: &[(u32, u32, f64)],
    unknown_of: &[Option<usize>],
    count: usize,
    uvs: &[DVec2],
) -> (LowerColumns, [Vec<f64>; 2]) {
    let mut diagonal = vec![0.0; count];
    let mut right = [vec![0.0; count], vec![0.0; count]];
    let mut below: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    for &(a, b, weight) in edges {
        let ends = [(a, b), (b, a)].map(|(at, other)| (unknown_of[at as usize], other));
        for (unknown, other) in ends {
            let Some(row) = unknown else { continue };
            diagonal[row] += weight;
            if unknown_of[other as usize].is_none() {
                right[0][row] += weight * uvs[other as usize].x;
                right[1][row] += weight * uvs[other as usize].y;
            }
        }
        if let (Some(i), Some(j)) = (ends[0].0, ends[1].0) {
            below[i.min(j)].push((i.max(j), -weight));
        }
    }
    let mut matrix = LowerColumns {
        starts: vec![0],
        rows: Vec::new(),
        values: Vec::new(),
    };
    for (column, mut entries) in below.into_iter().enumerate() {
        entries.sort_by_key(|entry| entry.0);
        matrix.rows.push(column);
        matrix.values.push(diagonal[column]);
        matrix.rows.extend(entries.iter().map(|entry| entry.0));
        matrix.values.extend(entries.iter().map(|entry| entry.1));
        matrix.starts.push(matrix.rows.len());
    }
    (matrix, right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::overlap::{border_crossing, first_flip};
    use crate::param::piece::Piece;
    use crate::param::shapes;

    fn check(piece: &Piece, ties: &[Tie]) -> Vec<DVec2> {
        let unit = piece.unit_metrics();
        let border = piece.border_loop().expect("a disc");
        let mut last = Vec::new();
        for weights in [TutteWeights::Equal, TutteWeights::Cotangents] {
            let uvs = tutte_map(
                &piece.triangles,
                &unit.metrics,
                &border,
                ties,
                piece.vertex_count,
                weights,
            )
            .expect("definite");
            assert_eq!(first_flip(&piece.triangles, &uvs), None, "{weights:?}");
            last = uvs;
        }
        assert_eq!(border_crossing(&border, &last), None, "convex");
        last
    }

    #[test]
    fn nothing_flips_on_a_circle() {
        check(&shapes::hemisphere(12), &[]);
        check(&shapes::strip(60, 2, 30.0, 1.0), &[]);
        check(&shapes::with_waste(), &[]);
        for seed in 0..20 {
            check(&shapes::bumpy(seed, 12, 1.5), &[]);
        }
    }

    #[test]
    fn sides_that_are_tied_are_straight() {
        let (piece, ties) = shapes::tied_square(6);
        let uvs = check(&piece, &ties);
        for tie in &ties {
            let wanted = uvs[tie.from as usize].lerp(uvs[tie.to as usize], tie.share);
            let off = uvs[tie.vertex as usize].distance(wanted);
            assert!(off < 1e-12, "{tie:?}: {off}");
        }
    }
}
