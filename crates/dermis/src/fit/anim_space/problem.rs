//! The least-squares problem of one fit: unknowns, their starting values, and the pull of the examples.

use glam::{DVec3, DVec4};

use super::FitFrames;
use super::kinds::Kinds;
use crate::fit::InfluenceSets;
use crate::par;
use crate::rows::Rows;
use crate::skin::{Influence, Weight};
use crate::solve::SLOT;

/// The least-squares problem of all vertices, before smoothing.
pub(super) struct Problem<'a> {
    pub(super) sets: &'a InfluenceSets,
    pub(super) kinds: Kinds,
    /// Vectors with weight 1 that the unknowns are measured from, vertex by vertex.
    pub(super) offset: Vec<f64>,
    /// True when smoothing pulls towards `offset`, false when towards zero.
    pub(super) pulls_to_offset: bool,
    /// `Uᵀ Σ_k Hᵏᵀ (vᵏ − Hᵏ offset)`: the pull of the examples, in the kinds' coordinates.
    pub(super) pull: Vec<f64>,
}

impl<'a> Problem<'a> {
    /// `prior` has weights within the sets; without it, smoothing pulls towards zero.
    pub(super) fn new(
        frames: &FitFrames<'_>,
        sets: &'a InfluenceSets,
        prior: Option<&Rows<Weight>>,
    ) -> Self {
        let kinds = Kinds::new(frames, sets);
        let parts = par::map(sets.vertex_count(), |i| {
            let offset = offset_of(frames, sets, prior, i);
            let demand = demand_of(frames, sets, &offset, i);
            let kind = kinds.of(i);
            let mut pull = vec![0.0; kind.size()];
            kind.reduce(&demand, &mut pull);
            for (pull, &value) in pull.iter_mut().zip(kind.values()) {
                // Along a direction that is zero in every pose, the pull is only rounding.
                if value == 0.0 {
                    *pull = 0.0;
                }
            }
            (offset, pull)
        });
        let size = parts.iter().map(|(offset, _)| offset.len()).sum();
        let (mut offset, mut pull) = (Vec::with_capacity(size), Vec::with_capacity(size));
        for (own_offset, own_pull) in parts {
            offset.extend(own_offset);
            pull.extend(own_pull);
        }
        Self {
            sets,
            kinds,
            offset,
            pulls_to_offset: prior.is_some(),
            pull,
        }
    }

    /// Minimises `Σ_k |Hᵏq − vᵏ|² + λ |q − prior|²` for every vertex alone (\[Merry06\] Eq. 17).
    ///
    /// Directions that the examples do not determine stay at the prior.
    pub(super) fn solve_ridge(&self, lambda: f64) -> Vec<f64> {
        let mut z = self.pull.clone();
        let mut rest = z.as_mut_slice();
        for i in 0..self.sets.vertex_count() {
            let kind = self.kinds.of(i);
            let (own, tail) = std::mem::take(&mut rest).split_at_mut(kind.size());
            rest = tail;
            for (z, value) in own.iter_mut().zip(kind.values()) {
                let held = value + lambda;
                *z = if held > 0.0 { *z / held } else { 0.0 };
            }
        }
        z
    }

    /// The vectors `q` of a solution, one row per vertex, in the frames of the fit.
    pub(super) fn vectors(&self, z: &[f64]) -> Rows<Influence> {
        let mut starts = vec![0];
        for i in 0..self.sets.vertex_count() {
            starts.push(starts[i] + self.kinds.of(i).size());
        }
        par::map(self.sets.vertex_count(), |i| {
            let range = starts[i]..starts[i + 1];
            let mut q = vec![0.0; range.len()];
            self.kinds.of(i).expand(&z[range.clone()], &mut q);
            for (q, offset) in q.iter_mut().zip(&self.offset[range]) {
                *q += offset;
            }
            let mut row: Vec<Influence> = self
                .sets
                .bones(i)
                .iter()
                .zip(q.chunks_exact(SLOT))
                .map(|(&bone, q)| Influence {
                    bone,
                    p: DVec4::from_slice(q),
                })
                .collect();
            settle_sum(&mut row);
            row
        })
        .into_iter()
        .collect()
    }

    /// Sum of squared distances to some examples, in unit space.
    pub(super) fn squared_error(&self, vectors: &Rows<Influence>, frames: &FitFrames<'_>) -> f64 {
        let errors = par::map(vectors.len(), |i| {
            (0..frames.example_count())
                .map(|k| {
                    let palette = &frames.unit_from_frame[k];
                    let posed: DVec3 = vectors
                        .row(i)
                        .iter()
                        .map(|influence| {
                            let matrix = &palette[influence.bone.index()];
                            matrix.matrix3 * influence.p.truncate()
                                + matrix.translation * influence.p.w
                        })
                        .sum();
                    posed.distance_squared(frames.target(k, i))
                })
                .sum::<f64>()
        });
        errors.iter().sum()
    }
}

/// Corrects the rounding of a sum of weights in the largest weight.
fn settle_sum(row: &mut [Influence]) {
    let largest = (0..row.len()).max_by(|&a, &b| row[a].p.w.abs().total_cmp(&row[b].p.w.abs()));
    if let Some(largest) = largest {
        row[largest].p.w = 0.0;
        row[largest].p.w = 1.0 - row.iter().map(|influence| influence.p.w).sum::<f64>();
    }
}

/// The vector from which a vertex's unknowns are measured: equal weights and no position, which is the
/// smallest vector with weight 1, or the prior.
fn offset_of(
    frames: &FitFrames<'_>,
    sets: &InfluenceSets,
    prior: Option<&Rows<Weight>>,
    i: usize,
) -> Vec<f64> {
    let bones = sets.bones(i);
    let mut offset = vec![0.0; SLOT * bones.len()];
    let slots = offset.chunks_exact_mut(SLOT).zip(bones);
    match prior {
        None => slots.for_each(|(slot, _)| slot[3] = 1.0 / bones.len() as f64),
        Some(weights) => {
            for (slot, &bone) in slots {
                let share = weights.row(i).iter().find(|w| w.bone == bone);
                if let Some(share) = share {
                    let rest = frames.rest_in_frame(i, bone.index()).extend(1.0);
                    slot.copy_from_slice(&(share.weight * rest).to_array());
                }
            }
        }
    }
    offset
}

/// `Σ_k Hᵏᵀ (vᵏ − Hᵏ offset)`.
fn demand_of(frames: &FitFrames<'_>, sets: &InfluenceSets, offset: &[f64], i: usize) -> Vec<f64> {
    let bones = sets.bones(i);
    let mut demand = vec![0.0; offset.len()];
    for (k, palette) in frames.unit_from_frame.iter().enumerate() {
        let mut miss = frames.target(k, i);
        for (bone, q) in bones.iter().zip(offset.chunks_exact(SLOT)) {
            let matrix = &palette[bone.index()];
            miss -= matrix.matrix3 * DVec3::from_slice(q) + matrix.translation * q[3];
        }
        for (bone, slot) in bones.iter().zip(demand.chunks_exact_mut(SLOT)) {
            let matrix = &palette[bone.index()];
            let position = matrix.matrix3.transpose() * miss;
            slot[0] += position.x;
            slot[1] += position.y;
            slot[2] += position.z;
            slot[3] += matrix.translation.dot(miss);
        }
    }
    demand
}
