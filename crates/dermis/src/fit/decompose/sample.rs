//! Fewer points for the early rounds: one for each small patch of the surface.
//!
//! Which start is best, and roughly where bones go, does not need every vertex. A sample of the points
//! stands for the patches around them; its solution is then handed on to all points.

use std::collections::VecDeque;

use super::model::{Points, Supports, Targets};

/// Some of the points, each with the points that are nearest to it along the surface.
pub(super) struct Sample {
    pub(super) targets: Targets,
    pub(super) rest: Vec<[f64; 3]>,
    pub(super) neighbors: Vec<Vec<u32>>,
    /// Which of the sample stands for each point.
    cell_of_point: Vec<u32>,
}

impl Sample {
    /// About `size` points, evenly by number: meshes number neighbours alike.
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

    /// What was found for the sample, for all points: weights as they are, rest positions moved alike.
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
