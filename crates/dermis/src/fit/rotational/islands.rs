//! Parts of a skin that no edge joins, such as hair cards, buttons and triangles without common vertices, and
//! the parts near them.

use std::collections::BTreeSet;

use glam::DVec3;

use super::cluster::Shapes;
use super::near::PlaceTree;
use crate::par;

/// Links from a triangle of an island to the nearest triangles of other islands: about as many as a group has
/// neighbours.
const LINKS: usize = 6;
/// Triangles of an island that are linked to others, at most: more would make a large island cost its square.
const LINKED_TRIANGLES: usize = 8;

/// Sets of triangles that are connected by edges.
pub(super) struct Islands {
    /// By triangle, as its place in the list.
    of_triangle: Vec<u32>,
    /// By island.
    members: Vec<Vec<u32>>,
}

impl Islands {
    pub(super) fn new(neighbors: &[BTreeSet<u32>]) -> Self {
        let mut of_triangle = vec![u32::MAX; neighbors.len()];
        let mut members = Vec::new();
        for first in 0..neighbors.len() {
            if of_triangle[first] != u32::MAX {
                continue;
            }
            let island = members.len() as u32;
            of_triangle[first] = island;
            let mut reached = vec![first as u32];
            let mut at = 0;
            while at < reached.len() {
                for &next in &neighbors[reached[at] as usize] {
                    if of_triangle[next as usize] == u32::MAX {
                        of_triangle[next as usize] = island;
                        reached.push(next);
                    }
                }
                at += 1;
            }
            members.push(reached);
        }
        Self {
            of_triangle,
            members,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    /// Pairs of triangles of different islands that are near each other in the rest pose: a few for every island
    /// but the largest, which the others are linked to anyway.
    pub(super) fn links(&self, shapes: &Shapes<'_>, triangles: &[u32]) -> Vec<(u32, u32)> {
        let middle = |&triangle: &u32| {
            let corners = shapes.triangles[triangle as usize];
            corners
                .map(|i| shapes.shapes[0][i as usize])
                .iter()
                .sum::<DVec3>()
                / 3.0
        };
        let middles: Vec<DVec3> = triangles.iter().map(middle).collect();
        let tree = PlaceTree::new(&middles);
        let largest = (0..self.members.len()).max_by_key(|&n| self.members[n].len());
        let links = par::map(self.members.len(), |island| {
            let members = &self.members[island];
            let step = members.len().div_ceil(LINKED_TRIANGLES).max(1);
            let samples = members.iter().step_by(step);
            let is_elsewhere = |other: u32| self.of_triangle[other as usize] != island as u32;
            let links = samples.filter(|_| Some(island) != largest).flat_map(|&a| {
                let near = tree.nearest(middles[a as usize], LINKS, is_elsewhere);
                near.into_iter().map(move |b| (a.min(b), a.max(b)))
            });
            links.collect::<Vec<_>>()
        });
        without_duplicates(links.concat())
    }
}

/// Pairs of numbered places that are near each other, at least one for each of two or more.
pub(super) fn nearest_pairs(places: impl Iterator<Item = (u32, DVec3)>) -> Vec<(u32, u32)> {
    let (numbers, places): (Vec<u32>, Vec<DVec3>) = places.unzip();
    let tree = PlaceTree::new(&places);
    let pairs = par::map(numbers.len(), |n| {
        let near = tree.nearest(places[n], LINKS, |other| other as usize != n);
        let pair = |other: u32| {
            let [a, b] = [numbers[n], numbers[other as usize]];
            (a.min(b), a.max(b))
        };
        near.into_iter().map(pair).collect::<Vec<_>>()
    });
    without_duplicates(pairs.concat())
}

fn without_duplicates(mut pairs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
