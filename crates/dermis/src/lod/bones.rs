//! Removal of whole bones: a crowd pays for each of them, whatever follows it.
//!
//! A bone goes when the vertices that follow it lose the least by following its parent and their other bones instead.
//! Bones at the ends of limbs go first, so that what is left is a skeleton.

use std::collections::BTreeMap;

use super::lanes::sum;
use super::removal::{Wanted, Without};
use super::simplify::Simplifier;
use crate::par;
use crate::progress::Progress;
use crate::rig::{BoneId, Skeleton};

impl Simplifier {
    /// Takes bones away until at most so many move vertices, or all that are left are locked.
    ///
    /// Returns false when the caller stopped it.
    pub(super) fn drop_bones(
        &mut self,
        skeleton: &Skeleton,
        most: usize,
        progress: &dyn Progress,
    ) -> bool {
        let mut points_of = self.points_of_bones();
        let first = points_of.len();
        // The cost of a bone stays known until a vertex that follows it changes.
        let mut costs: BTreeMap<BoneId, f64> = BTreeMap::new();
        while points_of.len() > most.max(1) {
            if !progress.report("removing bones", first - points_of.len(), first - most) {
                return false;
            }
            let candidates = self.removable(skeleton, &points_of);
            for &bone in &candidates {
                let heir = heir(skeleton, bone, &points_of);
                let cost = || self.cost_of_bone(&points_of[&bone], bone, heir);
                costs.entry(bone).or_insert_with(cost);
            }
            let cheapest = (candidates.iter().copied())
                .min_by(|a, b| costs[a].total_cmp(&costs[b]).then(a.cmp(b)));
            let Some(bone) = cheapest else { break };
            let heir = heir(skeleton, bone, &points_of);
            let points = points_of.remove(&bone).unwrap_or_default();
            for &point in &points {
                let Some(without) = self.without_bone(point, bone, heir) else {
                    continue;
                };
                self.replace(point, without.vertex);
                for influence in &self.model.vertices[point as usize].influences {
                    costs.remove(&influence.bone);
                }
            }
            let of_heir = points_of.entry(heir).or_default();
            of_heir.extend(points);
            of_heir.sort_unstable();
            of_heir.dedup();
            // Vertices keep so many bones at most, so some may have left others.
            let vertices = &self.model.vertices;
            let follows = |point: u32, bone: BoneId| {
                let own = &vertices[point as usize].influences;
                own.iter().any(|i| i.bone == bone)
            };
            for (bone, points) in &mut points_of {
                points.retain(|&point| follows(point, *bone));
            }
            points_of.retain(|_, points| !points.is_empty());
            costs.remove(&bone);
        }
        true
    }

    /// The drawn points that follow each bone.
    fn points_of_bones(&self) -> BTreeMap<BoneId, Vec<u32>> {
        let mut points_of: BTreeMap<BoneId, Vec<u32>> = BTreeMap::new();
        for (point, vertex) in self.model.vertices.iter().enumerate() {
            if self.model.mesh.faces_of_point[point].is_empty() {
                continue;
            }
            for influence in &vertex.influences {
                let points = points_of.entry(influence.bone).or_default();
                points.push(point as u32);
            }
        }
        points_of
    }

    /// The bones that may go next: those that nothing in use hangs on, or any when there are none of these.
    fn removable(&self, skeleton: &Skeleton, used: &BTreeMap<BoneId, Vec<u32>>) -> Vec<BoneId> {
        let mut carries = vec![false; skeleton.bone_count()];
        for &bone in used.keys() {
            let mut above = skeleton.bones()[bone.index()].parent;
            while let Some(parent) = above {
                carries[parent.index()] = true;
                above = skeleton.bones()[parent.index()].parent;
            }
        }
        let locked = &self.options.locked_bones;
        let unlocked = || used.keys().copied().filter(|bone| !locked.contains(bone));
        let ends: Vec<BoneId> = unlocked().filter(|bone| !carries[bone.index()]).collect();
        match ends.is_empty() {
            true => unlocked().collect(),
            false => ends,
        }
    }

    fn cost_of_bone(&self, points: &[u32], bone: BoneId, heir: BoneId) -> f64 {
        let costs = par::map(points.len(), |n| {
            let area = sum(&self.quadrics[points[n] as usize].areas());
            let without = self.without_bone(points[n], bone, heir);
            without.map_or(0.0, |without| area * without.square)
        });
        costs.into_iter().sum()
    }

    fn without_bone(&self, point: u32, bone: BoneId, heir: BoneId) -> Option<Without> {
        let vertex = &self.model.vertices[point as usize];
        let wanted = Wanted::new(vertex, &self.more_samples, &self.blending);
        (self.blending).without(vertex, bone, Some(heir), &wanted)
    }
}

/// The bone that takes the place of another: the nearest above it that moves vertices, else the one that moves the most.
fn heir(skeleton: &Skeleton, bone: BoneId, used: &BTreeMap<BoneId, Vec<u32>>) -> BoneId {
    let mut above = skeleton.bones()[bone.index()].parent;
    while let Some(parent) = above {
        if used.contains_key(&parent) {
            return parent;
        }
        above = skeleton.bones()[parent.index()].parent;
    }
    let others = used.iter().filter(|(other, _)| **other != bone);
    let most = others.max_by_key(|(other, points)| (points.len(), std::cmp::Reverse(**other)));
    most.map_or(bone, |(other, _)| *other)
}
