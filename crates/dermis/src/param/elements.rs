//! A chart as linear elements: the shape gradients of its triangles, and the sparse matrices over its free vertices.
//!
//! Every quadratic form here is a sum over triangles of rank-one terms in the Jacobian `J` of the map from the flat
//! triangle of the metric to the plane. Vertices that are tied to a straight line between two others are not unknown:
//! `u = C x`, and a triangle's shape gradients pass through `Cᵀ`, so nobody downstream knows of ties.

use glam::{DMat2, DVec2};

use super::piece::EdgeProducts;
use crate::solve::{CholeskyError, LowerColumns, SparseCholesky};

/// A vertex that stays on the straight line between two others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tie {
    /// The vertex that follows.
    pub(crate) vertex: u32,
    /// Where the line begins; not tied itself.
    pub(crate) from: u32,
    /// Where the line ends; not tied itself.
    pub(crate) to: u32,
    /// How far along it the vertex lies, between 0 and 1 exclusive.
    pub(crate) share: f64,
}

/// Which unknown points ("nodes") every vertex is a combination of.
#[derive(Debug, Clone)]
pub(crate) struct Nodes {
    parts: Vec<[(u32, f64); 2]>,
    vertices: Vec<u32>,
}

impl Nodes {
    /// Numbers the vertices that are not tied.
    ///
    /// # Errors
    /// The vertex of the first tie that is out of range, tied twice, or tied to a tied vertex.
    pub(crate) fn new(vertex_count: usize, ties: &[Tie]) -> Result<Self, u32> {
        let mut tied = vec![false; vertex_count];
        for tie in ties {
            let slot = tied.get_mut(tie.vertex as usize).ok_or(tie.vertex)?;
            if std::mem::replace(slot, true) || !(tie.share > 0.0 && tie.share < 1.0) {
                return Err(tie.vertex);
            }
        }
        let vertices: Vec<u32> = (0..vertex_count as u32)
            .filter(|&vertex| !tied[vertex as usize])
            .collect();
        let mut node_of = vec![u32::MAX; vertex_count];
        for (node, &vertex) in vertices.iter().enumerate() {
            node_of[vertex as usize] = node as u32;
        }
        let mut parts: Vec<_> = node_of.iter().map(|&n| [(n, 1.0), (n, 0.0)]).collect();
        for tie in ties {
            let end = |vertex: u32| node_of.get(vertex as usize).filter(|&&n| n != u32::MAX);
            let (from, to) = end(tie.from).zip(end(tie.to)).ok_or(tie.vertex)?;
            parts[tie.vertex as usize] = [(*from, 1.0 - tie.share), (*to, tie.share)];
        }
        Ok(Self { parts, vertices })
    }

    /// How many unknown points there are.
    pub(crate) fn count(&self) -> usize {
        self.vertices.len()
    }

    /// The node of a vertex; none if it is tied.
    pub(crate) fn node_of(&self, vertex: u32) -> Option<u32> {
        let [(node, share), _] = self.parts[vertex as usize];
        (share == 1.0).then_some(node)
    }

    /// Positions of the nodes among those of all vertices.
    pub(crate) fn gather(&self, uvs: &[DVec2]) -> Vec<DVec2> {
        self.vertices.iter().map(|&v| uvs[v as usize]).collect()
    }

    /// Positions of all vertices.
    pub(crate) fn spread(&self, x: &[DVec2]) -> Vec<DVec2> {
        let place = |&[(a, share_a), (b, share_b)]: &[(u32, f64); 2]| {
            if share_b == 0.0 {
                return x[a as usize];
            }
            share_a * x[a as usize] + share_b * x[b as usize]
        };
        self.parts.iter().map(place).collect()
    }
}

/// Where the 2 by 2 block of two nodes is in the matrix: its left and right columns.
#[derive(Debug, Clone, Copy)]
struct Block {
    left: u32,
    right: u32,
}

/// At most three corners, each a combination of two nodes.
const MOST_NODES: usize = 6;

/// One rank-one term of a quadratic form in the Jacobian: `weight (mode : J)²`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    /// Not negative.
    pub(crate) weight: f64,
    /// The direction in the space of Jacobians.
    pub(crate) mode: DMat2,
}

/// The triangles as linear elements over the nodes, with the pattern of their matrix.
#[derive(Debug, Clone)]
pub(crate) struct Elements {
    areas: Vec<f64>,
    starts: Vec<u32>,
    /// Nodes of all elements, rising within each.
    nodes: Vec<u32>,
    gradients: Vec<DVec2>,
    block_starts: Vec<u32>,
    /// Blocks on and below the diagonal of each element's matrix, row by row.
    blocks: Vec<Block>,
    node_count: usize,
    column_starts: Vec<usize>,
    rows: Vec<usize>,
}

impl Elements {
    /// Elements of triangles with metrics of positive area.
    pub(crate) fn new(triangles: &[[u32; 3]], metrics: &[EdgeProducts], nodes: &Nodes) -> Self {
        let mut elements = Self {
            areas: metrics.iter().map(|metric| metric.area()).collect(),
            starts: vec![0],
            nodes: Vec::with_capacity(3 * triangles.len()),
            gradients: Vec::with_capacity(3 * triangles.len()),
            block_starts: Vec::new(),
            blocks: Vec::new(),
            node_count: nodes.count(),
            column_starts: Vec::new(),
            rows: Vec::new(),
        };
        for (corners, &metric) in triangles.iter().zip(metrics) {
            let mut parts = Vec::with_capacity(MOST_NODES);
            for (&corner, gradient) in corners.iter().zip(shape_gradients(metric)) {
                let shares = nodes.parts[corner as usize];
                let used = shares.iter().filter(|(_, share)| *share != 0.0);
                parts.extend(used.map(|&(node, share)| (node, share * gradient)));
            }
            parts.sort_by_key(|&(node, _)| node);
            parts.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
            elements.nodes.extend(parts.iter().map(|part| part.0));
            elements.gradients.extend(parts.iter().map(|part| part.1));
            elements.starts.push(elements.nodes.len() as u32);
        }
        elements.lay_out_matrix();
        elements
    }

    /// Takes the shape gradients of `base`, the flat triangle of each element changed by the inverse of a symmetric
    /// matrix; its weight stays its old area.
    pub(crate) fn rereference(&mut self, base: &Self, mut inverse: impl FnMut(usize) -> DMat2) {
        for (element, range) in self.starts.windows(2).enumerate() {
            let inverse = inverse(element);
            let range = range[0] as usize..range[1] as usize;
            let old = &base.gradients[range.clone()];
            for (new, old) in self.gradients[range].iter_mut().zip(old) {
                *new = inverse * *old;
            }
        }
    }

    /// Areas of the flat triangles.
    pub(crate) fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// How many nodes there are.
    pub(crate) fn node_count(&self) -> usize {
        self.node_count
    }

    /// The Jacobian of the map of one element.
    pub(crate) fn jacobian(&self, element: usize, x: &[DVec2]) -> DMat2 {
        let (nodes, gradients) = self.element(element);
        // The gradients sum to 0: differences from one node keep the digits of small triangles far from the origin.
        let first = x[nodes[0] as usize];
        let mut jacobian = DMat2::ZERO;
        for (&node, gradient) in nodes.iter().zip(gradients).skip(1) {
            let offset = x[node as usize] - first;
            jacobian.x_axis += gradient.x * offset;
            jacobian.y_axis += gradient.y * offset;
        }
        jacobian
    }

    /// Adds the derivative by the nodes of a function whose derivative by the Jacobian is `stress`.
    pub(crate) fn add_gradient(&self, element: usize, stress: DMat2, gradient: &mut [f64]) {
        let (nodes, shapes) = self.element(element);
        for (&node, &shape) in nodes.iter().zip(shapes) {
            let force = stress * shape;
            gradient[2 * node as usize] += force.x;
            gradient[2 * node as usize + 1] += force.y;
        }
    }

    /// Adds the matrix of `Σ weight (mode : J)²` of one element (twice the quadratic form is `xᵀ H x`).
    pub(crate) fn add_terms(&self, element: usize, terms: &[Term], entries: &mut [f64]) {
        let (nodes, shapes) = self.element(element);
        let mut rows = [[DVec2::ZERO; 4]; MOST_NODES];
        for (row, &shape) in rows.iter_mut().zip(shapes) {
            for (value, term) in row.iter_mut().zip(terms) {
                *value = term.mode * shape * term.weight.sqrt();
            }
        }
        let mut blocks = self.blocks[self.block_starts[element] as usize..].iter();
        for (p, row) in rows.iter().enumerate().take(nodes.len()) {
            for column in &rows[..p] {
                let Some(block) = blocks.next() else { return };
                let (mut left, mut right) = (DVec2::ZERO, DVec2::ZERO);
                for (a, b) in row.iter().zip(column) {
                    left += *a * b.x;
                    right += *a * b.y;
                }
                entries[block.left as usize] += left.x;
                entries[block.left as usize + 1] += left.y;
                entries[block.right as usize] += right.x;
                entries[block.right as usize + 1] += right.y;
            }
            let Some(block) = blocks.next() else { return };
            for a in row {
                entries[block.left as usize] += a.x * a.x;
                entries[block.left as usize + 1] += a.x * a.y;
                entries[block.right as usize] += a.y * a.y;
            }
        }
    }

    /// How many entries the lower half of the matrix has.
    pub(crate) fn entry_count(&self) -> usize {
        self.rows.len()
    }

    /// Where each column of the matrix begins; the first entry of each is on the diagonal. Unknowns are the
    /// coordinates of node 0, then of node 1, and so on.
    pub(crate) fn column_starts(&self) -> &[usize] {
        &self.column_starts
    }

    /// The row of every entry of the matrix.
    pub(crate) fn rows(&self) -> &[usize] {
        &self.rows
    }

    fn element(&self, element: usize) -> (&[u32], &[DVec2]) {
        let range = self.starts[element] as usize..self.starts[element + 1] as usize;
        (&self.nodes[range.clone()], &self.gradients[range])
    }

    fn lay_out_matrix(&mut self) {
        let below = self.nodes_below();
        let mut offsets = Vec::with_capacity(self.node_count + 1);
        self.column_starts.push(0);
        for (node, rows) in below.iter().enumerate() {
            offsets.push(self.rows.len() as u32);
            for first in [0, 1] {
                self.rows.extend(2 * node + first..2 * node + 2);
                let pairs = rows.iter().map(|&row| 2 * row as usize);
                self.rows.extend(pairs.flat_map(|row| [row, row + 1]));
                self.column_starts.push(self.rows.len());
            }
        }
        self.block_starts.push(0);
        for element in 0..self.areas.len() {
            let range = self.starts[element] as usize..self.starts[element + 1] as usize;
            for p in range.clone() {
                for q in range.start..=p {
                    let (row, column) = (self.nodes[p], self.nodes[q] as usize);
                    let rank = if q == p {
                        0
                    } else {
                        below[column].partition_point(|&other| other < row) as u32 + 1
                    };
                    let left = offsets[column] + 2 * rank;
                    let height = 2 * below[column].len() as u32 + 2;
                    // The right column lacks the entry above its diagonal.
                    let right = left + height - u32::from(q != p);
                    self.blocks.push(Block { left, right });
                }
            }
            self.block_starts.push(self.blocks.len() as u32);
        }
    }

    /// For every node those of greater number that share an element, rising.
    fn nodes_below(&self) -> Vec<Vec<u32>> {
        let mut below: Vec<Vec<u32>> = vec![Vec::with_capacity(8); self.node_count];
        for element in 0..self.areas.len() {
            let (nodes, _) = self.element(element);
            for (q, &column) in nodes.iter().enumerate() {
                let rows = &mut below[column as usize];
                for row in &nodes[q + 1..] {
                    if !rows.contains(row) {
                        rows.push(*row);
                    }
                }
            }
        }
        for rows in &mut below {
            rows.sort_unstable();
        }
        below
    }
}

/// The gradients of the three corners' shape functions on the flat triangle of a metric, `e` along the first axis.
fn shape_gradients(metric: EdgeProducts) -> [DVec2; 3] {
    let length = metric.ee.sqrt();
    let double_area = 2.0 * metric.area();
    let second = DVec2::new(1.0 / length, -metric.ef / (length * double_area));
    let third = DVec2::new(0.0, length / double_area);
    [-second - third, second, third]
}

/// Solves systems with the matrix of some elements; the order of elimination is found once.
#[derive(Default)]
pub(crate) struct ElementSolver {
    factor: Option<SparseCholesky>,
}

impl ElementSolver {
    /// Replaces the right-hand side by the solution for a matrix with these entries.
    ///
    /// # Errors
    /// As [`SparseCholesky::new`].
    pub(crate) fn solve(
        &mut self,
        elements: &Elements,
        entries: &[f64],
        right: &mut [f64],
    ) -> Result<(), CholeskyError> {
        match &mut self.factor {
            Some(factor) => factor.refactor(entries)?,
            empty => {
                *empty = Some(SparseCholesky::new(LowerColumns {
                    starts: elements.column_starts.clone(),
                    rows: elements.rows.clone(),
                    values: entries.to_vec(),
                })?);
            }
        }
        if let Some(factor) = &self.factor {
            factor.solve(right);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles over the unit square, of the metrics of the unit square.
    fn square() -> (Vec<[u32; 3]>, Vec<EdgeProducts>) {
        let first = EdgeProducts {
            ee: 1.0,
            ef: 1.0,
            ff: 2.0,
        };
        let second = EdgeProducts {
            ee: 2.0,
            ef: 1.0,
            ff: 1.0,
        };
        (vec![[0, 1, 2], [0, 2, 3]], vec![first, second])
    }

    fn dense(elements: &Elements, entries: &[f64]) -> Vec<Vec<f64>> {
        let size = 2 * elements.node_count();
        let mut matrix = vec![vec![0.0; size]; size];
        for (column, range) in elements.column_starts().windows(2).enumerate() {
            let range = range[0]..range[1];
            for (&row, &entry) in elements.rows()[range.clone()].iter().zip(&entries[range]) {
                matrix[row][column] = entry;
                matrix[column][row] = entry;
            }
        }
        matrix
    }

    fn terms() -> [Term; 2] {
        [
            Term {
                weight: 2.0,
                mode: DMat2::from_cols_array(&[1.0, 2.0, -1.0, 0.5]),
            },
            Term {
                weight: 0.3,
                mode: DMat2::from_cols_array(&[0.0, 1.0, 3.0, -0.5]),
            },
        ]
    }

    /// `Σ weight (mode : J)²` over the elements.
    fn form(elements: &Elements, x: &[DVec2]) -> f64 {
        let mut sum = 0.0;
        for element in 0..elements.areas().len() {
            let jacobian = elements.jacobian(element, x).to_cols_array();
            for term in terms() {
                let modes = term.mode.to_cols_array();
                let dot: f64 = jacobian.iter().zip(&modes).map(|(a, b)| a * b).sum();
                sum += term.weight * dot * dot;
            }
        }
        sum
    }

    #[test]
    fn an_affine_map_has_its_own_jacobian_everywhere() {
        let (triangles, metrics) = square();
        let nodes = Nodes::new(4, &[]).expect("no ties");
        let elements = Elements::new(&triangles, &metrics, &nodes);
        let wanted = DMat2::from_cols_array(&[2.0, 0.3, -0.4, 1.5]);
        let turned = DMat2::from_angle(-std::f64::consts::FRAC_PI_4);
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let x: Vec<DVec2> = corners.map(|(u, v)| wanted * DVec2::new(u, v)).to_vec();
        let first = elements.jacobian(0, &x);
        assert!(first.abs_diff_eq(wanted, 1e-14), "{first}");
        // The second triangle lies with its first edge, the diagonal, along the axis.
        let second = elements.jacobian(1, &x) * turned;
        assert!(second.abs_diff_eq(wanted, 1e-14), "{second}");
    }

    #[test]
    fn the_matrix_is_that_of_the_form_with_and_without_ties() {
        let (triangles, metrics) = square();
        let tie = Tie {
            vertex: 1,
            from: 3,
            to: 2,
            share: 0.3,
        };
        for ties in [vec![], vec![tie]] {
            let nodes = Nodes::new(4, &ties).expect("good ties");
            let elements = Elements::new(&triangles, &metrics, &nodes);
            let mut entries = vec![0.0; elements.entry_count()];
            for element in 0..2 {
                elements.add_terms(element, &terms(), &mut entries);
            }
            let matrix = dense(&elements, &entries);
            let x: Vec<DVec2> = (0..nodes.count())
                .map(|k| DVec2::new((k as f64).sin(), (2.0 * k as f64).cos()))
                .collect();
            let flat: Vec<f64> = x.iter().flat_map(|p| [p.x, p.y]).collect();
            let mut product = 0.0;
            for (row, a) in matrix.iter().zip(&flat) {
                product += row.iter().zip(&flat).map(|(h, b)| a * h * b).sum::<f64>();
            }
            let wanted = form(&elements, &x);
            assert!((product / wanted - 1.0).abs() < 1e-12, "{product} {wanted}");
        }
    }

    #[test]
    fn bad_ties_are_refused() {
        let tie = |vertex, from, to, share| Tie {
            vertex,
            from,
            to,
            share,
        };
        for ties in [
            vec![tie(9, 0, 1, 0.5)],
            vec![tie(0, 1, 9, 0.5)],
            vec![tie(0, 1, 2, 1.5)],
            vec![tie(0, 1, 2, f64::NAN)],
            vec![tie(0, 1, 2, 0.5), tie(0, 1, 2, 0.5)],
            vec![tie(0, 1, 2, 0.5), tie(1, 2, 3, 0.5)],
        ] {
            assert!(Nodes::new(4, &ties).is_err(), "{ties:?}");
        }
    }
}
