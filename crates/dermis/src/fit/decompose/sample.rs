//! Fewer points for the early rounds: one for each small patch of the surface.
//!
//! Which start is best, and roughly where bones go, does not need every vertex. A sample of the points
//! stands for the patches around them; its solution is then copied to all points.

use std::collections::VecDeque;

use super::model::{Points, Supports, Targets};

/// Some of the points, each with the points that are nearest to it along the surface.
pub(super) struct Sample {
    pub(super) targets: Targets,
    pub(super) rest: Vec<[f64; 3]>,
    pub(super) neighbors: Vec<Vec<u32>>,
    /// The sample point that represents each point.
    cell_of_point: Vec<u32>,
}

impl Sample {
    /// About `size` points, evenly spaced by index, because neighbours in a mesh have similar indices.
    pub(super) fn new(
        targets: &Targets,
        rest: &[[f64; 3]],
        neighbors: &[Vec<u32>],
        size: usize,
    ) -> Self {
        let count = targets.count();
        let chosen: Vec<usize> = (0..size).map(|at| at * count / size).collect();
        let cell_of_point = cells(neighbors, &chosen);
        let mut multiplicity = vec![0.0; size];
        for (point, &cell) in cell_of_point.iter().enumerate() {
            multiplicity[cell as usize] += targets.multiplicity[point];
        }
        let mut coordinates = Vec::with_capacity(size * targets.dimension);
        for &point in &chosen {
            coordinates.extend_from_slice(targets.column(point));
        }
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); size];
        for (point, list) in neighbors.iter().enumerate() {
            for &other in list {
                let (a, b) = (cell_of_point[point], cell_of_point[other as usize]);
                if a != b {
                    lists[a as usize].push(b);
                }
            }
        }
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        Self {
            targets: Targets::new(targets.dimension, coordinates, multiplicity),
            rest: chosen.iter().map(|&point| rest[point]).collect(),
            neighbors: lists,
            cell_of_point,
        }
    }

    /// Copies the solution of the sample to all points: the same weights, and rest positions moved by the
    /// same amount.
    pub(super) fn spread(&self, found: &Points, rest: &[[f64; 3]]) -> Points {
        let count = rest.len();
        let mut supports = Supports::with_capacity(count, found.supports.stride);
        let mut moved = Vec::with_capacity(count);
        for (place, &cell) in rest.iter().zip(&self.cell_of_point) {
            let cell = cell as usize;
            supports.push(found.supports.bones(cell), found.supports.weights(cell));
            let (from, to) = (self.rest[cell], found.rest[cell]);
            moved.push([0, 1, 2].map(|axis| place[axis] + to[axis] - from[axis]));
        }
        Points {
            rest: moved,
            supports,
            errors: vec![0.0; count],
        }
    }
}

/// The chosen point that is nearest to every point, by steps along the graph, which is connected.
fn cells(neighbors: &[Vec<u32>], chosen: &[usize]) -> Vec<u32> {
    let mut cell_of_point = vec![u32::MAX; neighbors.len()];
    let mut front = VecDeque::with_capacity(neighbors.len());
    for (cell, &point) in chosen.iter().enumerate() {
        cell_of_point[point] = cell as u32;
        front.push_back(point);
    }
    while let Some(point) = front.pop_front() {
        for &next in &neighbors[point] {
            let next = next as usize;
            if cell_of_point[next] == u32::MAX {
                cell_of_point[next] = cell_of_point[point];
                front.push_back(next);
            }
        }
    }
    cell_of_point
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of points that move with one coordinate each.
    fn chain(count: usize) -> (Targets, Vec<[f64; 3]>, Vec<Vec<u32>>) {
        let coordinates = (0..count).map(|i| i as f64).collect();
        let near = |i: usize| {
            let before = i.checked_sub(1).map(|i| i as u32);
            let after = (i + 1 < count).then_some(i as u32 + 1);
            before.into_iter().chain(after).collect()
        };
        (
            Targets::new(1, coordinates, vec![1.0; count]),
            (0..count).map(|i| [i as f64, 0.0, 0.0]).collect(),
            (0..count).map(near).collect(),
        )
    }

    #[test]
    fn every_point_is_represented_by_a_nearby_sample_point() {
        let (targets, rest, neighbors) = chain(100);
        let sample = Sample::new(&targets, &rest, &neighbors, 10);
        let total: f64 = sample.targets.multiplicity.iter().sum();
        assert!((total - 100.0).abs() < 1e-12, "all points count: {total}");
        for (point, &cell) in sample.cell_of_point.iter().enumerate() {
            let distance = (sample.rest[cell as usize][0] - rest[point][0]).abs();
            assert!(distance <= 10.0, "point {point} by one at {distance}");
        }
        assert!(
            sample.neighbors[4].contains(&5),
            "cells that touch are near"
        );
        assert!(!sample.neighbors[4].contains(&8), "others are not");
    }

    #[test]
    fn the_solution_of_the_sample_is_copied_to_all_points() {
        let (targets, rest, neighbors) = chain(20);
        let sample = Sample::new(&targets, &rest, &neighbors, 4);
        let owners: Vec<usize> = (0..4).collect();
        let moved = sample.rest.iter().map(|p| [p[0], 2.0, 0.0]).collect();
        let found = Points {
            rest: moved,
            supports: Supports::single(&owners, 4),
            errors: vec![0.0; 4],
        };
        let all = sample.spread(&found, &rest);
        for (point, place) in rest.iter().enumerate() {
            let expected = [place[0], 2.0, 0.0];
            assert_eq!(all.rest[point], expected, "moved alike");
            let bone = all.supports.bones(point)[0];
            assert_eq!(u32::from(bone), sample.cell_of_point[point], "its bone");
        }
    }
}
