//! A triangle over all poses: mean products of its edges.

use glam::{DMat3, DVec3, DVec4};

use super::{AnimationVector, PoseMetric};
use crate::skin::Influence;

/// Mean dot products of a triangle's corners, as seen from their middle.
///
/// Entry `a, b` is `⟨c_a − m, c_b − m⟩` with the corners `c` and their centroid `m`: a symmetric matrix
/// whose rows sum to 0. Everything that is linear in the corners with factors that sum to 0 (edges,
/// gradients, the stretch of a parametrisation: \[Merry07\] §5.3.1) gets its dot products from this matrix,
/// without using bones again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriangleGram {
    /// The matrix, in squared model units.
    pub of_corners: DMat3,
}

impl TriangleGram {
    /// From the products of the edges `e = c₁ − c₀` and `f = c₂ − c₀`.
    pub(super) fn from_edges(ee: f64, ef: f64, ff: f64) -> Self {
        // c₀ − m = −(e + f)/3, c₁ − m = (2e − f)/3, c₂ − m = (2f − e)/3.
        let factors = [(-1.0, -1.0), (2.0, -1.0), (-1.0, 2.0)];
        let entry = |a: usize, b: usize| {
            let ((ae, af), (be, bf)) = (factors[a], factors[b]);
            (ae * be * ee + (ae * bf + af * be) * ef + af * bf * ff) / 9.0
        };
        let column = |b: usize| DVec3::new(entry(0, b), entry(1, b), entry(2, b));
        Self {
            of_corners: DMat3::from_cols(column(0), column(1), column(2)),
        }
    }

    /// The mean dot product of `Σ a_c c` and `Σ b_c c`, for factors that sum to 0.
    pub fn dot(&self, a: [f64; 3], b: [f64; 3]) -> f64 {
        DVec3::from_array(a).dot(self.of_corners * DVec3::from_array(b))
    }

    /// Root-mean-square lengths of the edges opposite to the corners.
    pub fn edge_lengths(&self) -> [f64; 3] {
        [[0.0, 1.0, -1.0], [1.0, 0.0, -1.0], [1.0, -1.0, 0.0]]
            .map(|edge| self.dot(edge, edge).max(0.0).sqrt())
    }

    /// Mean dot products of the edges, edge `a` running from corner `a + 1` to corner `a + 2`.
    pub fn of_edges(&self) -> DMat3 {
        let edges = [[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]];
        let column = |b: usize| DVec3::from_array(edges.map(|edge| self.dot(edge, edges[b])));
        DMat3::from_cols(column(0), column(1), column(2))
    }

    /// The area of the flat triangle with these edge products: `½ √(|e|²|f|² − ⟨e, f⟩²)`.
    ///
    /// This is the area in normalised animation space, not the mean of the areas; for a single pose the two
    /// are equal.
    pub fn area(&self) -> f64 {
        let (e, f) = ([-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]);
        let (ee, ef, ff) = (self.dot(e, e), self.dot(e, f), self.dot(f, f));
        0.5 * (ee * ff - ef * ef).max(0.0).sqrt()
    }
}

/// Most bones of a triangle that are kept on the stack: three corners of eight influences each, none shared.
const MOST_ON_STACK: usize = 24;

/// The edges of a triangle over the union of its corners' bones.
struct Edges {
    count: usize,
    bones: [u16; MOST_ON_STACK],
    e: [DVec4; MOST_ON_STACK],
    f: [DVec4; MOST_ON_STACK],
}

impl Edges {
    /// `None` when there are too many bones.
    fn new(corners: [&[Influence]; 3]) -> Option<Self> {
        let mut edges = Self {
            count: 0,
            bones: [0; MOST_ON_STACK],
            e: [DVec4::ZERO; MOST_ON_STACK],
            f: [DVec4::ZERO; MOST_ON_STACK],
        };
        for (corner, row) in corners.into_iter().enumerate() {
            for term in row {
                let known = edges.bones[..edges.count]
                    .iter()
                    .position(|&bone| bone == term.bone.0);
                let at = match known {
                    Some(at) => at,
                    None if edges.count == MOST_ON_STACK => return None,
                    None => {
                        edges.bones[edges.count] = term.bone.0;
                        edges.count += 1;
                        edges.count - 1
                    }
                };
                match corner {
                    0 => {
                        edges.e[at] -= term.p;
                        edges.f[at] -= term.p;
                    }
                    1 => edges.e[at] += term.p,
                    _ => edges.f[at] += term.p,
                }
            }
        }
        Some(edges)
    }
}

impl PoseMetric {
    /// The mean products of a triangle's corners.
    ///
    /// Well under a microsecond for corners of four influences when all blocks are at hand; see
    /// [`PoseMetric::with_all_blocks`].
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn triangle(&self, corners: [&[Influence]; 3]) -> TriangleGram {
        if let (Some(table), Some(edges)) = (self.table(), Edges::new(corners)) {
            let (mut ee, mut ef, mut ff) = (0.0, 0.0, 0.0);
            for a in 0..edges.count {
                let j = usize::from(edges.bones[a]);
                let diagonal = table.block(j, j);
                let (pe, pf) = (*diagonal * edges.e[a], *diagonal * edges.f[a]);
                ee += edges.e[a].dot(pe);
                ef += edges.e[a].dot(pf);
                ff += edges.f[a].dot(pf);
                for b in a + 1..edges.count {
                    let k = usize::from(edges.bones[b]);
                    // P_kj = P_jkᵀ: each pair of bones is visited once, the lower one on the left.
                    let (low, high) = if j < k { (a, b) } else { (b, a) };
                    let block = table.block(j.min(k), j.max(k));
                    let (pe, pf) = (*block * edges.e[high], *block * edges.f[high]);
                    ee += 2.0 * edges.e[low].dot(pe);
                    ef += edges.e[low].dot(pf) + edges.f[low].dot(pe);
                    ff += 2.0 * edges.f[low].dot(pf);
                }
            }
            return TriangleGram::from_edges(ee, ef, ff);
        }
        let [origin, first, second] = corners;
        let e = AnimationVector::difference(first, origin);
        let f = AnimationVector::difference(second, origin);
        TriangleGram::from_edges(
            self.dot(e.terms(), e.terms()),
            self.dot(e.terms(), f.terms()),
            self.dot(f.terms(), f.terms()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pose_gives_the_euclidean_triangle() {
        let (a, b, c) = (
            DVec3::new(1.0, 2.0, 3.0),
            DVec3::new(4.0, 2.0, 3.0),
            DVec3::new(1.0, 6.0, 3.0),
        );
        let (e, f) = (b - a, c - a);
        let gram = TriangleGram::from_edges(e.dot(e), e.dot(f), f.dot(f));
        assert!((gram.area() - 6.0).abs() < 1e-12, "3 times 4 over 2");
        let lengths = gram.edge_lengths();
        for (found, expected) in lengths.iter().zip([5.0, 4.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{lengths:?}");
        }
        let middle = (a + b + c) / 3.0;
        let corners = [a - middle, b - middle, c - middle];
        for (r, p) in corners.iter().enumerate() {
            for (s, q) in corners.iter().enumerate() {
                let found = gram.of_corners.col(s)[r];
                assert!((found - p.dot(*q)).abs() < 1e-12, "entry {r}, {s}: {found}");
            }
        }
        let edges = [c - b, a - c, b - a];
        for (r, p) in edges.iter().enumerate() {
            for (s, q) in edges.iter().enumerate() {
                let found = gram.of_edges().col(s)[r];
                assert!((found - p.dot(*q)).abs() < 1e-12, "edges {r}, {s}: {found}");
            }
        }
    }
}
