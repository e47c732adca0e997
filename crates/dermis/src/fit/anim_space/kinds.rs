//! The small normal matrices of a fit: one for every influence set that occurs.
//!
//! The normal matrix of a vertex's unknowns, `D = Σ_k (Gᵏ)ᵀ Gᵏ`, depends only on the vertex's bones. A mesh
//! of ten thousand vertices has a few hundred different sets, so each `D` is made and decomposed once and
//! shared.
//!
//! The sum of the weights is held at 1 by working in an orthonormal basis of the directions that
//! keep it. Eliminating one weight, as in \[Merry06\] §6.3, spans the same directions with the same
//! solution, but favours no bone here.

use std::collections::HashMap;

use glam::DAffine3;

use super::FitFrames;
use crate::fit::InfluenceSets;
use crate::par;
use crate::rig::BoneId;
use crate::solve::{NodeKind, SLOT, SymmetricEigen};

/// A direction with an eigenvalue below this share of the largest counts as zero in every pose.
///
/// Poses in single precision leave about 1e-14; a motion of a millionth of the model, 1e-12.
const UNSEEN: f64 = 1e-12;

/// The kinds of all vertices.
pub(super) struct Kinds {
    pub(super) kinds: Vec<NodeKind>,
    /// Number of each vertex's kind.
    pub(super) kind_of: Vec<u32>,
    /// The largest eigenvalue of all.
    pub(super) largest: f64,
}

impl Kinds {
    pub(super) fn new(frames: &FitFrames<'_>, sets: &InfluenceSets) -> Self {
        let (distinct, kind_of) = distinct_sets(sets);
        let kinds: Vec<NodeKind> =
            par::map(distinct.len(), |kind| decompose(frames, distinct[kind]));
        let largest = kinds
            .iter()
            .flat_map(NodeKind::values)
            .copied()
            .fold(0.0, f64::max);
        Self {
            kinds,
            kind_of,
            largest,
        }
    }

    pub(super) fn of(&self, vertex: usize) -> &NodeKind {
        &self.kinds[self.kind_of[vertex] as usize]
    }
}

/// The different sets in the order of their first vertex, and which is each vertex's.
fn distinct_sets(sets: &InfluenceSets) -> (Vec<&[BoneId]>, Vec<u32>) {
    let mut number_of: HashMap<&[BoneId], u32> = HashMap::new();
    let mut distinct = Vec::new();
    let kind_of = (0..sets.vertex_count())
        .map(|i| {
            let bones = sets.bones(i);
            *number_of.entry(bones).or_insert_with(|| {
                distinct.push(bones);
                distinct.len() as u32 - 1
            })
        })
        .collect();
    (distinct, kind_of)
}

/// Eigenvalues of the normal matrix of a set of bones with the sum of weights held at 1, rising.
pub(crate) fn normal_eigenvalues(frames: &FitFrames<'_>, bones: &[BoneId]) -> Vec<f64> {
    SymmetricEigen::new(&reduced_normal(frames, bones), SLOT * bones.len() - 1).values
}

fn decompose(frames: &FitFrames<'_>, bones: &[BoneId]) -> NodeKind {
    let size = SLOT * bones.len();
    let free = size - 1;
    let eigen = SymmetricEigen::new(&reduced_normal(frames, bones), free);
    let largest = eigen.values.last().copied().unwrap_or(0.0);
    let mut values: Vec<f64> = eigen
        .values
        .iter()
        .map(|&value| if value > UNSEEN * largest { value } else { 0.0 })
        .collect();
    values.push(0.0);
    // U = Z V: positions as they are, weights out of the basis that keeps their sum.
    let mut columns = vec![0.0; size * size];
    for (vector, column) in eigen
        .vectors
        .chunks_exact(free)
        .zip(columns.chunks_exact_mut(size))
    {
        let (positions, weights) = vector.split_at(3 * bones.len());
        for (slot, position) in column.chunks_exact_mut(SLOT).zip(positions.chunks_exact(3)) {
            slot[..3].copy_from_slice(position);
        }
        for (m, &weight) in weights.iter().enumerate() {
            for (s, entry) in sum_keeping(m).enumerate() {
                column[SLOT * s + 3] += weight * entry;
            }
        }
    }
    let slots = bones.iter().map(|bone| bone.0).collect();
    NodeKind::new(slots, columns, values)
}

/// The `m`-th of the orthonormal directions that keep the sum of weights (Helmert's): the first
/// `m + 1` weights rise alike, and the next falls by as much.
fn sum_keeping(m: usize) -> impl Iterator<Item = f64> {
    let count = (m + 1) as f64;
    let length = (count * (count + 1.0)).sqrt();
    std::iter::repeat_n(1.0 / length, m + 1).chain([-count / length])
}

/// `Zᵀ (Σ_k Hᵏᵀ Hᵏ) Z`, positions of all bones first, then the directions that keep the sum.
fn reduced_normal(frames: &FitFrames<'_>, bones: &[BoneId]) -> Vec<f64> {
    let positions = 3 * bones.len();
    let free = positions + bones.len() - 1;
    let mut normal = vec![0.0; free * free];
    // The three rows of one pose: each has a number for every unknown.
    let mut rows = vec![0.0; 3 * free];
    for palette in &frames.unit_from_frame {
        for (axis, row) in rows.chunks_exact_mut(free).enumerate() {
            let matrix = |bone: &BoneId| -> &DAffine3 { &palette[bone.index()] };
            for (slot, bone) in row[..positions].chunks_exact_mut(3).zip(bones) {
                slot.copy_from_slice(&matrix(bone).matrix3.row(axis).to_array());
            }
            for (m, entry) in row[positions..].iter_mut().enumerate() {
                *entry = sum_keeping(m)
                    .zip(bones)
                    .map(|(z, bone)| z * matrix(bone).translation[axis])
                    .sum();
            }
            for (r, &a) in row.iter().enumerate() {
                // Only one half is read.
                for (entry, &b) in normal[r * free..=r * free + r].iter_mut().zip(&*row) {
                    *entry += a * b;
                }
            }
        }
    }
    for r in 0..free {
        for c in 0..r {
            normal[c * free + r] = normal[r * free + c];
        }
    }
    normal
}
