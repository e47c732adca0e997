//! From weights to matrices: the places of proxy bones, as a linear function of predictions and bones.
//!
//! The places of proxies minimise `Σ |v̂ − v|²` over the edges of all triangles (\[Wang07\] Eq. 5), `v` being the
//! difference of two corners, each a blend of proxies, or of the skeleton's bones where the vertex is held,
//! and `v̂` its prediction. Written as `A t − B d − E q` the optimum is `t = C1 d + C2 q` with
//! `C1 = (AᵀA)⁻¹AᵀB` and `C2 = (AᵀA)⁻¹AᵀE`.
//!
//! Differences from the paper:
//!
//! - In the paper, a triangle's gradient is a blend of key gradients. But the gradient of a blend of motions
//!   also has the motions' differences times the slope of the weights, and key gradients that make up for it
//!   are not the gradients of any patch, so joints predict them badly. Here the keys are the predicted
//!   *motions* of the patches, and an edge is the difference of their blends at its ends. Where the gradient
//!   of a triangle's own patch alone fits the training examples better (it is exact when the patch is that
//!   triangle), that gradient is used.
//! - Motions include positions, so vertices are also pulled to their blended positions, by default with a
//!   hundredth of the weight of an edge: nothing drifts, and a part of the mesh without a held vertex has a
//!   position.
//! - All three edges of a triangle count, not the two at its first corner, so the order of corners does not matter.
//! - The rows of all matrices (x, y, z) are apart in `A`, `B` and `E`, so the system is that of one row, a third of
//!   the size each way.
//! - A millionth of the weight holds each proxy at its own patch, which decides what edges do not determine:
//!   the direction across a flat patch, and how two proxies of one patch differ.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use glam::DVec3;

use super::blend::{Weights, part_count};
use crate::fit::FitError;
use crate::par;
use crate::rig::{BoneId, Skeleton};
use crate::skin::{Rows, Weight};

/// Weight of each proxy's own patch, as a share of that of its edges.
const OWN_PATCH: f64 = 1e-6;

/// The inputs from which the places of proxies are computed.
pub(super) struct Assembly<'a> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) rest: &'a [DVec3],
    /// The triangles with a free corner; and the patch whose gradient is a triangle's own, where that is better
    /// than the blend of motions.
    pub(super) triangles: &'a [([u32; 3], Option<u16>)],
    /// The middle of every patch in the rest pose.
    pub(super) middles: &'a [DVec3],
    /// How the motions of patches blend at each vertex of those triangles.
    pub(super) patch_weights: &'a Weights,
    /// `α`, by vertex, over proxies; empty for those that are held.
    pub(super) proxy_weights: &'a Weights,
    /// The patch of each proxy; both have the same middle.
    pub(super) patch_of_proxy: &'a [u16],
    /// Weights over the skeleton's bones, by vertex.
    pub(super) held_weights: &'a Rows<Weight>,
    /// Weight of a vertex's predicted place beside that of an edge.
    pub(super) place_weight: f64,
}

/// `C1` and `C2`, as in [`ProxyBones`](crate::rig::ProxyBones).
pub(super) struct Compiled {
    pub(super) sources: Vec<BoneId>,
    pub(super) from_patches: Vec<f64>,
    pub(super) from_sources: Vec<f64>,
}

/// One row of `A`, `B` and `E`, without its zeros.
#[derive(Default)]
struct Row {
    a: Vec<(usize, f64)>,
    b: Vec<(usize, f64)>,
    e: Vec<(usize, f64)>,
}

impl Assembly<'_> {
    pub(super) fn compile(&self) -> Result<Compiled, FitError> {
        let sources = self.sources();
        let mut source_of = vec![usize::MAX; self.skeleton.bone_count()];
        for (s, bone) in sources.iter().enumerate() {
            source_of[bone.index()] = s;
        }
        let size = 4 * self.patch_of_proxy.len();
        let (width1, width2) = (4 * self.middles.len(), 4 * sources.len());
        let parts = part_count(self.patch_of_proxy.len().max(self.middles.len()));
        let parts = parts.min(self.triangles.len().max(1));
        let mut summed = par::map(parts, |part| {
            let mut normal = Mat::<f64>::zeros(size, size);
            let mut right = Mat::<f64>::zeros(size, width1 + width2);
            let mut row = Row::default();
            let count = self.triangles.len();
            for k in part * count / parts..(part + 1) * count / parts {
                let ([a, b, c], own) = self.triangles[k];
                for edge in [[a, b], [b, c], [c, a]] {
                    if self.fill_edge(edge, own, &source_of, &mut row) {
                        row.add_to(&mut normal, &mut right, width1);
                    }
                }
            }
            let count = self.rest.len();
            for vertex in part * count / parts..(part + 1) * count / parts {
                if !self.is_held(vertex as u32) {
                    let factor = self.place_weight.sqrt();
                    row.clear();
                    self.put_vertex(vertex as u32, factor, &source_of, &mut row);
                    self.put_prediction(vertex as u32, factor, &mut row);
                    row.add_to(&mut normal, &mut right, width1);
                }
            }
            (normal, right)
        })
        .into_iter();
        let (mut normal, mut right) = summed.next().expect("at least one part");
        for (n, r) in summed {
            normal += n;
            right += r;
        }
        self.add_own_patches(&mut normal, &mut right);
        let factor = normal.llt(Side::Lower).map_err(|_| FitError::BadOption {
            option: "proxies",
            problem: "the examples do not determine the places of so many proxy bones: try fewer"
                .to_owned(),
        })?;
        // Each is as large as the result.
        drop(normal);
        factor.solve_in_place(&mut right);
        drop(factor);
        let rows = |columns: std::ops::Range<usize>| {
            let entries = (0..size).flat_map(|r| columns.clone().map(move |c| (r, c)));
            entries.map(|(r, c)| right[(r, c)]).collect::<Vec<_>>()
        };
        Ok(Compiled {
            sources,
            from_patches: rows(0..width1),
            from_sources: rows(width1..width1 + width2),
        })
    }

    /// Adds a millionth of weight, for directions that edges do not determine.
    fn add_own_patches(&self, normal: &mut Mat<f64>, right: &mut Mat<f64>) {
        let count = self.patch_of_proxy.len();
        let own: Vec<f64> = (0..count)
            .map(|m| (0..3).map(|c| normal[(4 * m + c, 4 * m + c)]).sum::<f64>() / 3.0)
            .collect();
        let mean = own.iter().sum::<f64>() / count.max(1) as f64;
        for (m, &patch) in self.patch_of_proxy.iter().enumerate() {
            // A proxy of a single vertex has no extent of its own.
            let linear = own[m].max(1e-3 * mean);
            let place = normal[(4 * m + 3, 4 * m + 3)];
            for (c, weight) in [linear, linear, linear, place].into_iter().enumerate() {
                normal[(4 * m + c, 4 * m + c)] += OWN_PATCH * weight;
                right[(4 * m + c, 4 * usize::from(patch) + c)] += OWN_PATCH * weight;
            }
        }
    }

    fn is_held(&self, vertex: u32) -> bool {
        self.proxy_weights.row(vertex as usize).is_empty()
    }

    /// The bones of held vertices that a free one is joined to.
    fn sources(&self) -> Vec<BoneId> {
        let mut used = vec![false; self.skeleton.bone_count()];
        for &vertex in self.triangles.iter().flat_map(|(corners, _)| corners) {
            if self.is_held(vertex) {
                for weight in self.held_weights.row(vertex as usize) {
                    used[weight.bone.index()] = true;
                }
            }
        }
        (self.skeleton.ids())
            .filter(|bone| used[bone.index()])
            .collect()
    }

    /// The row of an edge; false when both its ends are held.
    fn fill_edge(
        &self,
        edge: [u32; 2],
        own: Option<u16>,
        source_of: &[usize],
        row: &mut Row,
    ) -> bool {
        if edge[0] == edge[1] || edge.into_iter().all(|vertex| self.is_held(vertex)) {
            return false;
        }
        row.clear();
        for (vertex, sign) in [(edge[1], 1.0), (edge[0], -1.0)] {
            self.put_vertex(vertex, sign, source_of, row);
            if own.is_none() {
                self.put_prediction(vertex, sign, row);
            }
        }
        if let Some(patch) = own {
            let along = self.rest[edge[1] as usize] - self.rest[edge[0] as usize];
            let first = 4 * usize::from(patch);
            row.b.extend((0..3).map(|c| (first + c, along[c])));
        }
        true
    }

    /// `factor` times where a vertex is.
    fn put_vertex(&self, vertex: u32, factor: f64, source_of: &[usize], row: &mut Row) {
        let point = self.rest[vertex as usize];
        for &(proxy, weight) in self.proxy_weights.row(vertex as usize) {
            let middle = self.middles[usize::from(self.patch_of_proxy[usize::from(proxy)])];
            let x = (point - middle).extend(1.0);
            let first = 4 * usize::from(proxy);
            row.a
                .extend((0..4).map(|c| (first + c, factor * weight * x[c])));
        }
        if self.is_held(vertex) {
            for weight in self.held_weights.row(vertex as usize) {
                let bone = &self.skeleton.bones()[weight.bone.index()];
                let x = bone.bone_from_rest.transform_point3(point).extend(1.0);
                let first = 4 * source_of[weight.bone.index()];
                row.e
                    .extend((0..4).map(|c| (first + c, -factor * weight.weight * x[c])));
            }
        }
    }

    /// `factor` times where a vertex is predicted to be.
    fn put_prediction(&self, vertex: u32, factor: f64, row: &mut Row) {
        for &(patch, weight) in self.patch_weights.row(vertex as usize) {
            let x = (self.rest[vertex as usize] - self.middles[usize::from(patch)]).extend(1.0);
            let first = 4 * usize::from(patch);
            row.b
                .extend((0..4).map(|c| (first + c, factor * weight * x[c])));
        }
    }
}

impl Row {
    fn clear(&mut self) {
        self.a.clear();
        self.b.clear();
        self.e.clear();
    }

    fn add_to(&self, normal: &mut Mat<f64>, right: &mut Mat<f64>, width1: usize) {
        for &(r, x) in &self.a {
            for &(c, y) in &self.a {
                normal[(r, c)] += x * y;
            }
        }
        let others = self.b.iter().copied();
        let others = others.chain(self.e.iter().map(|&(c, y)| (width1 + c, y)));
        for (c, y) in others {
            for &(r, x) in &self.a {
                right[(r, c)] += x * y;
            }
        }
    }
}
