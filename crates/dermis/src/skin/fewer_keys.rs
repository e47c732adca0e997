//! Clips with fewer keys, judged by how far the vertices move.
//!
//! **The guarantee.** Let `d_i` be the distance of vertex `i`, at the time of a key, from its correct position, and
//! `s_ij` the share of bone `j` in it. For every bone and at every such time
//!
//! ```text
//! Σ_i s_ij |d_i|² ≤ t² Σ_i s_ij      and      |d_i| ≤ 4 t
//! ```
//!
//! for a tolerance `t`: the vertices of every bone are off by at most `t` as a root mean square, and no vertex by more
//! than four times that. Summed over the bones of a skin whose weights sum to 1, the first inequality gives
//! `Σ_i |d_i|² ≤ t² N`: the same bound holds for all vertices at every time, and so for all times together. Small bones
//! are as exact as large ones, which a mean over all vertices would not guarantee.
//!
//! **The method.** Each channel alone may be off by the tolerance of its bone ([`KeyReducer`]), which is `t` at first.
//! The combined errors of several channels, of parents and of neighbours are measured by evaluating the vertices. Bones
//! that move vertices too far get a proportionally smaller tolerance, and the reduction is repeated. After [`ROUNDS`]
//! their tolerance is 0 and they keep all their keys, so the loop ends, at the latest when all keys are kept.

use std::collections::BTreeSet;

use glam::DVec3;

use super::shares::Shares;
use super::{Skin, SkinError};
use crate::clip::{Clip, KeyReducer};
use crate::par;
use crate::rig::BoneId;

/// How many times the tolerance one vertex may be off.
const MOST_OF_A_VERTEX: f64 = 4.0;
/// How often tolerances of bones are lowered before they become 0.
const ROUNDS: usize = 12;
/// Tolerances are lowered in proportion to the error, by a little more ([`MARGIN`]), but by no more than this factor at
/// once, since errors of several channels may have added up by chance.
const LEAST_FACTOR: f64 = 0.25;
/// See [`LEAST_FACTOR`].
const MARGIN: f64 = 0.95;

/// The correct positions of all vertices at a time.
pub(super) type TargetPositions<'a> = dyn Fn(f64) -> Result<Vec<DVec3>, SkinError> + Sync + 'a;

/// A skin by whose vertices keys are judged.
pub(super) struct FewerKeys<'a> {
    pub(super) skin: &'a Skin,
    pub(super) shares: &'a Shares,
    /// Bones whose channels are not changed.
    pub(super) untouched: &'a [BoneId],
    /// `t`, in model units, above 0.
    pub(super) tolerance: f64,
}

impl FewerKeys<'_> {
    /// The clip with only the keys needed to show the correct positions at the times of all its keys.
    pub(super) fn reduce(
        &self,
        clip: &Clip,
        target: &TargetPositions<'_>,
    ) -> Result<Clip, SkinError> {
        let skeleton = &self.skin.skeleton;
        let reducer = KeyReducer::new(clip, skeleton, &self.shares.of_bone, self.untouched);
        let movers = self.movers();
        let times = clip.key_times();
        let mut allowed = vec![self.tolerance; skeleton.bone_count()];
        for round in 0.. {
            let reduced = reducer.reduced(&allowed);
            let errors = self.relative_errors(&reduced, &times, target)?;
            let mut factors = vec![1.0f64; allowed.len()];
            for (error, movers) in errors
                .iter()
                .zip(&movers)
                .filter(|(error, _)| **error > 1.0)
            {
                let factor = match round < ROUNDS {
                    true => (MARGIN / error).max(LEAST_FACTOR),
                    false => 0.0,
                };
                for bone in movers {
                    factors[bone.index()] = factors[bone.index()].min(factor);
                }
            }
            let mut changed = false;
            for (allowed, factor) in allowed.iter_mut().zip(factors) {
                changed |= *allowed > 0.0 && factor < 1.0;
                *allowed *= factor;
            }
            if !changed {
                return Ok(reduced);
            }
        }
        unreachable!("every round lowers a tolerance, and the last rounds set it to 0")
    }

    /// For each bone, the largest error of its vertices, divided by the allowed one.
    pub(super) fn relative_errors(
        &self,
        clip: &Clip,
        times: &[f64],
        target: &TargetPositions<'_>,
    ) -> Result<Vec<f64>, SkinError> {
        let bone_count = self.skin.skeleton.bone_count();
        let at_times = par::map(times.len(), |k| {
            let shown = self.skin.evaluate(&self.skin.sample(clip, times[k]))?;
            let mut sums = vec![(0.0, 0.0); bone_count];
            let mut most = vec![0.0f64; bone_count];
            let pairs = shown.iter().zip(target(times[k])?);
            for ((shown, target), row) in pairs.zip(self.shares.of_vertex.iter()) {
                let squared = shown.distance_squared(target);
                for &(bone, share) in row.iter().filter(|(_, share)| *share > 0.0) {
                    let (sum, mass) = &mut sums[bone.index()];
                    *sum += share * squared;
                    *mass += share;
                    most[bone.index()] = most[bone.index()].max(squared);
                }
            }
            let errors = (sums.into_iter().zip(most)).map(|((sum, mass), most)| {
                let mean: f64 = if mass > 0.0 { sum / mass } else { 0.0 };
                mean.sqrt().max(most.sqrt() / MOST_OF_A_VERTEX) / self.tolerance
            });
            Ok(errors.collect::<Vec<f64>>())
        });
        let mut largest = vec![0.0f64; bone_count];
        for errors in at_times {
            let errors: Result<_, SkinError> = errors;
            for (largest, error) in largest.iter_mut().zip(errors?) {
                *largest = largest.max(error);
            }
        }
        Ok(largest)
    }

    /// For each bone, the bones that move its vertices: itself, other bones of these vertices, and the ancestors of all
    /// of them.
    fn movers(&self) -> Vec<Vec<BoneId>> {
        let bones = self.skin.skeleton.bones();
        let mut movers = vec![BTreeSet::new(); bones.len()];
        for row in self.shares.of_vertex.iter() {
            for (bone, _) in row {
                movers[bone.index()].extend(row.iter().map(|(other, _)| *other));
            }
        }
        let with_ancestors = |direct: BTreeSet<BoneId>| {
            let mut all = direct.clone();
            for bone in direct {
                let mut next = bones[bone.index()].parent;
                while let Some(parent) = next.filter(|parent| all.insert(*parent)) {
                    next = bones[parent.index()].parent;
                }
            }
            all.into_iter().collect()
        };
        movers.into_iter().map(with_ancestors).collect()
    }
}
