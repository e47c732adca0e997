//! Which bones are near a vertex, along the surface.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use crate::fit::{FitError, InfluenceSets};
use crate::mesh::Topology;
use crate::par;
use crate::rig::BoneId;

/// The bones whose core is within `reach` of each vertex along the mesh's edges, nearest first, at
/// most `max` of them. `cores` is the bone of every vertex; a vertex always reaches its own.
pub(super) fn near_cores(
    rest: &[DVec3],
    topology: &Topology,
    cores: &[BoneId],
    bone_count: usize,
    reach: f64,
    max: usize,
) -> Result<InfluenceSets, FitError> {
    let by_bone: Vec<Vec<(u32, f64)>> = par::map(bone_count, |j| {
        let seeds = (0..rest.len()).filter(|&i| cores[i].index() == j);
        distances(rest, topology, seeds, reach)
    });
    let mut near: Vec<Vec<(f64, BoneId)>> = vec![Vec::new(); rest.len()];
    for (j, reached) in by_bone.iter().enumerate() {
        for &(i, distance) in reached {
            near[i as usize].push((distance, BoneId(j as u16)));
        }
    }
    let rows = near.into_iter().map(|mut bones| {
        bones.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        bones.into_iter().take(max).map(|(_, bone)| bone).collect()
    });
    InfluenceSets::new(rows, bone_count)
}

/// Every vertex within `reach` of the seeds and its distance, by Dijkstra's algorithm.
fn distances(
    rest: &[DVec3],
    topology: &Topology,
    seeds: impl Iterator<Item = usize>,
    reach: f64,
) -> Vec<(u32, f64)> {
    let mut distance = vec![f64::INFINITY; rest.len()];
    // Distances are not negative, so their bits order as they do.
    let mut queue: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    for i in seeds {
        distance[i] = 0.0;
        queue.push(Reverse((0.0_f64.to_bits(), i as u32)));
    }
    let mut reached = Vec::new();
    while let Some(Reverse((bits, i))) = queue.pop() {
        let here = f64::from_bits(bits);
        if here > distance[i as usize] {
            continue;
        }
        reached.push((i, here));
        for &n in topology.neighbors(i as usize) {
            let there = here + rest[i as usize].distance(rest[n as usize]);
            if there <= reach && there < distance[n as usize] {
                distance[n as usize] = there;
                queue.push(Reverse((there.to_bits(), n)));
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bones_reach_along_the_surface_and_no_further() {
        // A strip of five vertices, 1 apart; bone 0 has the first two, bone 1 the rest.
        let rest: Vec<DVec3> = (0..5).map(|i| DVec3::X * f64::from(i)).collect();
        let topology = Topology::new(5, &[[0, 1, 2], [2, 3, 4]]);
        let cores = [0, 0, 1, 1, 1].map(BoneId);
        let sets = near_cores(&rest, &topology, &cores, 2, 1.5, 4).expect("all have a bone");
        let bones = |i: usize| sets.bones(i).iter().map(|b| b.0).collect::<Vec<_>>();
        assert_eq!(bones(1), [0, 1], "one edge away from bone 1");
        assert_eq!(bones(2), [0, 1], "one edge away from bone 0");
        assert_eq!(bones(4), [1], "three edges away from bone 0");
        let lean = near_cores(&rest, &topology, &cores, 2, 1.5, 1).expect("all have a bone");
        assert_eq!(lean.bones(1), [BoneId(0)], "the nearest is kept");
    }
}
