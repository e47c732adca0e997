//! Least squares on a graph: a small problem at every node, and springs along the edges.
//!
//! Every node has some *slots* of four numbers each, and minimises
//!
//! ```text
//! Σ_a (x_aᵀ D_a x_a / 2 − x_a · b_a) + δ/2 Σ_edges c_ab |x_a − x_b|²
//! ```
//!
//! where slots of the same name are compared and a slot that one side lacks counts as zero there. So every edge adds
//! `δ c` to the whole diagonal of both its ends, whatever the other end has: the diagonal block of a node is
//! `D_a + δ d_a I` with `d_a = Σ c`. Nodes of the same *kind* share their `D`; with `D = U Λ Uᵀ` taken once per kind,
//! the block's inverse `U (Λ + δ d_a)⁻¹ Uᵀ` is known for every node and every δ. The system is therefore written in the
//! coordinates `z = Uᵀx`: its block diagonal is a plain diagonal there, block-Jacobi preconditioning is one
//! multiplication per number, no matrix is factored, and only vectors are stored per node. Edges act through `x = U z`.
//!
//! A direction that a node must not move in (its weights must keep their sum) is a column of zeros
//! in `U`: the *last* one, for every kind. Its coordinate stays 0.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::small_matrix::{combine, on_widest_vectors};
use super::sparse_cholesky::{CholeskyError, LowerColumns, SparseCholesky};
use crate::par;
use crate::rows::Rows;

/// Numbers in a slot.
pub(crate) const SLOT: usize = 4;

/// Nodes that one thread takes at a time. Sums are taken chunk by chunk, so this number must not depend on the number
/// of threads.
const CHUNK_NODES: usize = 128;

/// Up to this many chunks are worked on by one thread.
const FEW_CHUNKS: usize = 3;

/// The small problem that all nodes of one kind share.
#[derive(Debug, Clone)]
pub(crate) struct NodeKind {
    /// Names of the slots, in rising order.
    slots: Vec<u16>,
    /// `U` column by column.
    columns: Vec<f64>,
    /// `U` row by row.
    rows: Vec<f64>,
    /// `Λ`; the last is not used.
    values: Vec<f64>,
}

impl NodeKind {
    /// Takes `U` column by column, square, with zeros for a last column.
    pub(crate) fn new(slots: Vec<u16>, columns: Vec<f64>, values: Vec<f64>) -> Self {
        let size = SLOT * slots.len();
        assert!(slots.is_sorted_by(|a, b| a < b), "slots in rising order");
        assert_eq!(values.len(), size, "an eigenvalue per number");
        assert_eq!(columns.len(), size * size, "a square basis");
        let rows = (0..size * size)
            .map(|at| columns[at % size * size + at / size])
            .collect();
        Self {
            slots,
            columns,
            rows,
            values,
        }
    }

    pub(crate) fn slots(&self) -> &[u16] {
        &self.slots
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many numbers a node of this kind has.
    pub(crate) fn size(&self) -> usize {
        self.values.len()
    }

    /// `x = U z`.
    #[inline(always)]
    pub(crate) fn expand(&self, z: &[f64], x: &mut [f64]) {
        combine(&self.columns, z, x);
    }

    /// `z = Uᵀ x`.
    #[inline(always)]
    pub(crate) fn reduce(&self, x: &[f64], z: &mut [f64]) {
        combine(&self.rows, x, z);
    }
}

/// An edge, stored at one of its ends.
#[derive(Debug, Clone, Copy)]
struct Link {
    node: u32,
    /// Index of the list of shared slots; [`SAME_KIND`] when all slots are shared.
    shared: u32,
    /// `c`.
    strength: f64,
}

const SAME_KIND: u32 = u32::MAX;

/// A graph with a kind for every node and a strength for every edge.
#[derive(Debug)]
pub(crate) struct EdgeSystem<'a> {
    kinds: &'a [NodeKind],
    kind_of: Cow<'a, [u32]>,
    /// How many times each node's own problem counts.
    counts: Vec<f64>,
    /// The edges at each node, those to nodes of the same kind first.
    links: Rows<Link>,
    /// Slots that two kinds share: the position in the first kind and in the second.
    shared: Vec<Vec<(u16, u16)>>,
    /// `d`: the sum of the strengths of all edges at a node.
    degrees: Vec<f64>,
    /// Where each node's numbers begin; one more entry than there are nodes.
    starts: Vec<usize>,
}

impl<'a> EdgeSystem<'a> {
    /// Takes every edge once, in any order.
    pub(crate) fn new(
        kinds: &'a [NodeKind],
        kind_of: &'a [u32],
        edges: &[([u32; 2], f64)],
    ) -> Self {
        let counts = vec![1.0; kind_of.len()];
        Self::with_counts(kinds, kind_of.into(), counts, edges)
    }

    /// The system of groups of nodes that move as one; all nodes of a group have the same kind.
    ///
    /// A group's problem is that of its kind times its number of nodes, and the springs within it are never stretched:
    /// with `P`, which gives each node the numbers of its group, this is `Pᵀ K P`.
    pub(super) fn of_groups(&self, groups: &Rows<u32>, group_of: &[u32]) -> Self {
        let nodes_of = |g: usize| groups.row(g).iter().map(|&node| node as usize);
        let kinds = (0..groups.len()).map(|g| self.kind_of[groups.row(g)[0] as usize]);
        let counts = (0..groups.len()).map(|g| nodes_of(g).map(|node| self.counts[node]).sum());
        let between = (0..self.node_count()).flat_map(|node| {
            let own = group_of[node];
            let links = self.links.row(node).iter();
            links.filter_map(move |link| {
                let other = group_of[link.node as usize];
                (own < other).then_some(([own, other], link.strength))
            })
        });
        let mut between: Vec<([u32; 2], f64)> = between.collect();
        // A stable sort, so that strengths are always summed in the same order.
        between.sort_by_key(|edge| edge.0);
        let edges = between.chunk_by(|a, b| a.0 == b.0);
        let edges: Vec<_> = edges
            .map(|same| (same[0].0, same.iter().map(|edge| edge.1).sum()))
            .collect();
        Self::with_counts(self.kinds, kinds.collect(), counts.collect(), &edges)
    }

    fn with_counts(
        kinds: &'a [NodeKind],
        kind_of: Cow<'a, [u32]>,
        counts: Vec<f64>,
        edges: &[([u32; 2], f64)],
    ) -> Self {
        let mut directed: Vec<(u32, bool, u32, f64)> = edges
            .iter()
            .flat_map(|&([a, b], strength)| [(a, b, strength), (b, a, strength)])
            .map(|(a, b, strength)| (a, kind_of[a as usize] != kind_of[b as usize], b, strength))
            .collect();
        directed.sort_unstable_by_key(|&(a, differs, b, _)| (a, differs, b));
        let mut shared = Vec::new();
        let mut number_of_pair = HashMap::new();
        let mut links = Rows::with_capacity(kind_of.len(), directed.len());
        let mut degrees = Vec::with_capacity(kind_of.len());
        let mut rest = directed.as_slice();
        for a in 0..kind_of.len() as u32 {
            let (own, tail) = rest.split_at(rest.partition_point(|link| link.0 == a));
            rest = tail;
            degrees.push(own.iter().map(|link| link.3).sum());
            links.push_row(own.iter().map(|&(_, _, node, strength)| {
                let pair = (kind_of[a as usize], kind_of[node as usize]);
                let shared = match pair.0 == pair.1 {
                    true => SAME_KIND,
                    false => *number_of_pair.entry(pair).or_insert_with(|| {
                        let [a, b] = [pair.0, pair.1].map(|kind| kinds[kind as usize].slots());
                        shared.push(shared_slots(a, b));
                        shared.len() as u32 - 1
                    }),
                };
                Link {
                    node,
                    shared,
                    strength,
                }
            }));
        }
        let mut starts = vec![0];
        let mut end = 0;
        for &kind in &*kind_of {
            end += kinds[kind as usize].size();
            starts.push(end);
        }
        Self {
            kinds,
            kind_of,
            counts,
            links,
            shared,
            degrees,
            starts,
        }
    }

    pub(crate) fn node_count(&self) -> usize {
        self.kind_of.len()
    }

    /// How many numbers all nodes have together.
    pub(crate) fn size(&self) -> usize {
        *self.starts.last().expect("a start more than nodes")
    }

    #[inline(always)]
    pub(crate) fn kind(&self, node: usize) -> &NodeKind {
        &self.kinds[self.kind_of[node] as usize]
    }

    #[inline(always)]
    pub(crate) fn range(&self, node: usize) -> Range<usize> {
        self.starts[node]..self.starts[node + 1]
    }

    pub(super) fn chunks(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        let count = self.node_count();
        (0..count.div_ceil(CHUNK_NODES))
            .map(move |c| c * CHUNK_NODES..((c + 1) * CHUNK_NODES).min(count))
    }

    /// Cuts a vector over all nodes into one piece per chunk.
    pub(super) fn split<'v>(&self, mut vector: &'v mut [f64]) -> Vec<&'v mut [f64]> {
        self.chunks()
            .map(|nodes| {
                let length = self.starts[nodes.end] - self.starts[nodes.start];
                let (piece, rest) = std::mem::take(&mut vector).split_at_mut(length);
                vector = rest;
                piece
            })
            .collect()
    }

    /// Calls `work` on the piece of each chunk, in order.
    ///
    /// Coarse systems have so few nodes that handing them to threads would take longer than the work.
    pub(super) fn map_chunks<S: Send, T: Send>(
        &self,
        pieces: impl IntoIterator<Item = S>,
        work: impl Fn(Range<usize>, &mut S) -> T + Sync + Send,
    ) -> Vec<T> {
        let mut chunks: Vec<_> = self.chunks().zip(pieces).collect();
        if chunks.len() <= FEW_CHUNKS {
            let chunks = chunks.iter_mut();
            return chunks
                .map(|(nodes, piece)| work(nodes.clone(), piece))
                .collect();
        }
        par::map_mut(&mut chunks, |_, (nodes, piece)| work(nodes.clone(), piece))
    }

    /// Calls `work` on every node's piece of a vector.
    pub(crate) fn for_each_node(
        &self,
        vector: &mut [f64],
        work: impl Fn(usize, &mut [f64]) + Sync + Send,
    ) {
        self.map_chunks(self.split(vector), |nodes, piece| {
            let offset = self.starts[nodes.start];
            for node in nodes {
                let range = self.range(node);
                work(node, &mut piece[range.start - offset..range.end - offset]);
            }
        });
    }

    /// Neighbours of the same kind, in rising order.
    pub(super) fn neighbors_alike(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let links = self.links.row(node).iter();
        let alike = links.take_while(|link| link.shared == SAME_KIND);
        alike.map(|link| link.node as usize)
    }

    /// `Σ_b c_ab x_b`, over the slots that node `a` has.
    #[inline(always)]
    pub(super) fn gather(&self, node: usize, x: &[f64], sum: &mut [f64]) {
        let (sum, _) = sum.as_chunks_mut::<SLOT>();
        let links = self.links.row(node);
        let alike = match sum.len() {
            1 => self.gather_alike::<1>(links, x, sum),
            2 => self.gather_alike::<2>(links, x, sum),
            3 => self.gather_alike::<3>(links, x, sum),
            4 => self.gather_alike::<4>(links, x, sum),
            _ => {
                sum.fill([0.0; SLOT]);
                0
            }
        };
        for link in &links[alike..] {
            let (other, _) = x[self.range(link.node as usize)].as_chunks::<SLOT>();
            if link.shared == SAME_KIND {
                for (into, from) in sum.iter_mut().zip(other) {
                    add(into, link.strength, from);
                }
                continue;
            }
            for &(own, others) in &self.shared[link.shared as usize] {
                let from = &other[usize::from(others)];
                add(&mut sum[usize::from(own)], link.strength, from);
            }
        }
    }

    /// The part of the sum from neighbours of the same kind, for `N` slots, kept in registers; returns how many
    /// neighbours there are.
    #[inline(always)]
    fn gather_alike<const N: usize>(
        &self,
        links: &[Link],
        x: &[f64],
        sum: &mut [[f64; SLOT]],
    ) -> usize {
        let mut sums = [[0.0; SLOT]; N];
        let mut count = 0;
        for link in links.iter().take_while(|link| link.shared == SAME_KIND) {
            let start = self.starts[link.node as usize];
            let (other, _) = x[start..start + SLOT * N].as_chunks::<SLOT>();
            for n in 0..N {
                add(&mut sums[n], link.strength, &other[n]);
            }
            count += 1;
        }
        sum.copy_from_slice(&sums);
        count
    }

    /// `x = U z` at every node.
    pub(super) fn expand(&self, z: &[f64], x: &mut [f64]) {
        self.map_chunks(self.split(x), |nodes, x| {
            on_widest_vectors(
                #[inline(always)]
                || {
                    let offset = self.starts[nodes.start];
                    for node in nodes.clone() {
                        let range = self.range(node);
                        let own = range.start - offset..range.end - offset;
                        self.kind(node).expand(&z[range], &mut x[own]);
                    }
                },
            )
        });
    }

    /// `product = K z`, with `x = U z` known; returns `z · K z`.
    pub(super) fn multiply(
        &self,
        delta: f64,
        diagonal: &[f64],
        z: &[f64],
        x: &[f64],
        product: &mut [f64],
    ) -> f64 {
        let sums = self.map_chunks(self.split(product), |nodes, product| {
            on_widest_vectors(
                #[inline(always)]
                || {
                    let offset = self.range(nodes.start).start;
                    let mut gathered = Vec::new();
                    let mut sum = 0.0;
                    for node in nodes.clone() {
                        let range = self.range(node);
                        let product = &mut product[range.start - offset..range.end - offset];
                        gathered.resize(range.len(), 0.0);
                        self.gather(node, x, &mut gathered);
                        self.kind(node).reduce(&gathered, product);
                        for ((q, z), m) in product
                            .iter_mut()
                            .zip(&z[range.clone()])
                            .zip(&diagonal[range])
                        {
                            *q = m * z - delta * *q;
                            sum += z * *q;
                        }
                    }
                    sum
                },
            )
        });
        sums.iter().sum()
    }

    /// The forces of the springs with `δ = 1`: `d_a x_a − Σ_b c_ab x_b` for every node.
    pub(crate) fn spring_forces(&self, x: &[f64]) -> Vec<f64> {
        let mut forces = vec![0.0; self.size()];
        self.for_each_node(&mut forces, |node, force| {
            self.gather(node, x, force);
            let degree = self.degrees[node];
            for (force, x) in force.iter_mut().zip(&x[self.range(node)]) {
                *force = degree * x - *force;
            }
        });
        forces
    }

    /// The diagonal `Λ + δ d + floor` of the system in the coordinates `z`; `Λ` and `floor` count as many times as the
    /// node does.
    ///
    /// `floor` keeps directions above zero that neither data nor edges determine.
    pub(crate) fn diagonal(&self, delta: f64, floor: f64) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.size()];
        self.for_each_node(&mut diagonal, |node, diagonal| {
            let (count, held) = (self.counts[node], delta * self.degrees[node]);
            for (diagonal, value) in diagonal.iter_mut().zip(self.kind(node).values()) {
                *diagonal = count * (value + floor) + held;
            }
            if let Some(last) = diagonal.last_mut() {
                *last = 1.0;
            }
        });
        diagonal
    }

    /// Factors the system with this diagonal as one sparse matrix.
    ///
    /// # Errors
    /// As [`SparseCholesky::new`].
    pub(crate) fn factor(
        &self,
        delta: f64,
        diagonal: &[f64],
    ) -> Result<SparseCholesky, CholeskyError> {
        let columns_of_node = par::map(self.node_count(), |a| self.columns(a, delta, diagonal));
        let entries = columns_of_node.iter().map(|c| c.values.len()).sum();
        let mut all = LowerColumns {
            starts: Vec::with_capacity(self.size() + 1),
            rows: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        };
        all.starts.push(0);
        for columns in columns_of_node {
            let before = all.rows.len();
            all.starts
                .extend(columns.starts.iter().map(|start| before + start));
            all.rows.extend(columns.rows);
            all.values.extend(columns.values);
        }
        SparseCholesky::new(all)
    }

    /// The columns of one node, on and below the diagonal; `starts` holds where they end.
    fn columns(&self, a: usize, delta: f64, diagonal: &[f64]) -> LowerColumns {
        let mut lower = LowerColumns {
            starts: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
        };
        let kind = self.kind(a);
        let links = self.links.row(a).iter();
        let mut later: Vec<&Link> = links.filter(|link| link.node as usize > a).collect();
        later.sort_by_key(|link| link.node);
        let (mut seen, mut block) = (Vec::new(), Vec::new());
        for (m, column) in kind.columns.chunks_exact(kind.size()).enumerate() {
            let own = self.starts[a] + m;
            lower.rows.push(own);
            lower.values.push(diagonal[own]);
            let pinned = m + 1 == kind.size();
            for link in later.iter().filter(|_| !pinned) {
                let b = link.node as usize;
                // Column m of −δ c U_bᵀ U_a, over the slots that both have.
                let other = self.kind(b);
                seen.clear();
                seen.resize(other.size(), 0.0);
                for (own, others) in shared_slots(kind.slots(), other.slots()) {
                    let [own, others] = [own, others].map(|slot| SLOT * usize::from(slot));
                    seen[others..others + SLOT].copy_from_slice(&column[own..own + SLOT]);
                }
                block.resize(other.size(), 0.0);
                other.reduce(&seen, &mut block);
                for (row, value) in block[..other.size() - 1].iter().enumerate() {
                    lower.rows.push(self.starts[b] + row);
                    lower.values.push(-delta * link.strength * value);
                }
            }
            lower.starts.push(lower.rows.len());
        }
        lower
    }
}

#[inline(always)]
fn add(into: &mut [f64; SLOT], strength: f64, from: &[f64; SLOT]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into += strength * from;
    }
}

/// The positions at which two rising lists have the same name.
fn shared_slots(a: &[u16], b: &[u16]) -> Vec<(u16, u16)> {
    a.iter()
        .enumerate()
        .filter_map(|(own, name)| {
            let others = b.binary_search(name).ok()?;
            Some((own as u16, others as u16))
        })
        .collect()
}
