//! Clips with fewer keys, judged by what becomes of the vertices.
//!
//! **What is kept.** Let `d_i` be how far vertex `i` is at the time of a key from where it should be, and
//! `s_ij` the share that bone `j` has in it. For every bone and at every such time
//!
//! ```text
//! Σ_i s_ij |d_i|² ≤ t² Σ_i s_ij      and      |d_i| ≤ 4 t
//! ```
//!
//! for a tolerance `t`: the vertices of every bone are off by at most `t` as a root mean square, and none
//! by more than four times that. Summed over the bones of a skin whose weights sum to 1 the first says
//! `Σ_i |d_i|² ≤ t² N`: the same holds for all vertices at every time, and so for all times together.
//! Small bones keep their vertices as well as large ones, which a mean over all vertices alone would
//! not have it.
//!
//! **How.** A channel by itself may be off by what its bone is allowed ([`KeyReducer`]), at first all of
//! `t`; errors of several channels, of parents and of neighbours add up as they happen to, which is
//! seen by evaluating the vertices. Bones that move vertices which are off too far are allowed less, in
//! proportion, and it begins again. After [`ROUNDS`] they are allowed nothing and keep all their keys,
//! so it ends, and never later than when all keys are there again.

use std::collections::BTreeSet;

use glam::DVec3;

use super::shares::Shares;
use super::{Skin, SkinError};
use crate::clip::{Clip, KeyReducer};
use crate::par;
use crate::rig::BoneId;

/// How much more than the tolerance one vertex may be off.
const MOST_OF_A_VERTEX: f64 = 4.0;
/// How often bones are allowed less before they are allowed nothing.
const ROUNDS: usize = 12;
/// Bones are allowed as much less as they were off too far, and a little less than that; but no
/// less than this at once, since errors of several channels may have met by chance.
const LEAST_FACTOR: f64 = 0.25;
/// See [`LEAST_FACTOR`].
const MARGIN: f64 = 0.95;

/// Where a vertex should be at a time.
pub(super) type Wanted<'a> = dyn Fn(f64) -> Result<Vec<DVec3>, SkinError> + Sync + 'a;

/// A skin whose vertices say which keys are needed.
pub(super) struct FewerKeys<'a> {
    pub(super) skin: &'a Skin,
    pub(super) shares: &'a Shares,
    /// Bones whose channels stay as they are.
    pub(super) untouched: &'a [BoneId],
    /// `t`, in model units, above 0.
    pub(super) tolerance: f64,
}

impl FewerKeys<'_> {
    /// The clip with as few keys as it needs to show what is wanted at the times of all its keys.
    pub(super) fn reduce(&self, clip: &Clip, wanted: &Wanted<'_>) -> Result<Clip, SkinError> {
        let skeleton = &self.skin.skeleton;
        let reducer = KeyReducer::new(clip, skeleton, &self.shares.of_bone, self.untouched);
        let movers = self.movers();
        let times = clip.key_times();
        let mut allowed = vec![self.tolerance; skeleton.bone_count()];
        for round in 0.. {
            let reduced = reducer.reduced(&allowed);
            let off = self.off(&reduced, &times, wanted)?;
            let mut factors = vec![1.0f64; allowed.len()];
            for (off, movers) in off.iter().zip(&movers).filter(|(off, _)| **off > 1.0) {
                let factor = match round < ROUNDS {
                    true => (MARGIN / off).max(LEAST_FACTOR),
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
        unreachable!("every round takes from what is allowed, and the last ones take all of it")
    }

    /// For each bone, how far its vertices are off at most, in units of what they may be.
    pub(super) fn off(
        &self,
        clip: &Clip,
        times: &[f64],
        wanted: &Wanted<'_>,
    ) -> Result<Vec<f64>, SkinError> {
        let bone_count = self.skin.skeleton.bone_count();
        let at_times = par::map(times.len(), |k| {
            let shown = self.skin.evaluate(&self.skin.sample(clip, times[k]))?;
            let mut sums = vec![(0.0, 0.0); bone_count];
            let mut most = vec![0.0f64; bone_count];
            let pairs = shown.iter().zip(wanted(times[k])?);
            for ((shown, wanted), row) in pairs.zip(self.shares.of_vertex.iter()) {
                let squared = shown.distance_squared(wanted);
                for &(bone, share) in row.iter().filter(|(_, share)| *share > 0.0) {
                    let (sum, mass) = &mut sums[bone.index()];
                    *sum += share * squared;
                    *mass += share;
                    most[bone.index()] = most[bone.index()].max(squared);
                }
            }
            let off = (sums.into_iter().zip(most)).map(|((sum, mass), most)| {
                let mean: f64 = if mass > 0.0 { sum / mass } else { 0.0 };
                mean.sqrt().max(most.sqrt() / MOST_OF_A_VERTEX) / self.tolerance
            });
            Ok(off.collect::<Vec<f64>>())
        });
        let mut largest = vec![0.0f64; bone_count];
        for off in at_times {
            let off: Result<_, SkinError> = off;
            for (largest, off) in largest.iter_mut().zip(off?) {
                *largest = largest.max(off);
            }
        }
        Ok(largest)
    }

    /// For each bone, those that move its vertices: itself, the others of these vertices, and what is
    /// above any of them.
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
