//! Points spread evenly over a mesh, and distances from them along its edges.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::mesh::{Topology, TriMesh};

/// Evenly spread vertices of a mesh.
pub(super) struct Seeds {
    /// The vertices, in the order in which they were found.
    pub(super) vertices: Vec<usize>,
    /// `distances[s][i]`: length of the shortest way along edges from seed `s` to vertex `i`; the
    /// straight line to parts of the mesh that no edge leads to, plus a detour as long as the mesh.
    pub(super) distances: Vec<Vec<f64>>,
}

/// Solves the p-centre problem greedily: each next seed is the vertex farthest from all before it.
///
/// No vertex is then farther from its seed than twice what the best choice could reach
/// (\[Gonzalez85\]). Takes all vertices when there are fewer than `count`.
pub(super) fn spread_seeds(mesh: &TriMesh, count: usize) -> Seeds {
    let topology = Topology::new(mesh.vertex_count(), mesh.triangles());
    let positions = mesh.positions();
    let middle = mesh.bounds().center();
    let near_middle = |i: &usize| positions[*i].distance_squared(middle);
    let mut seeds = Seeds {
        vertices: Vec::new(),
        distances: Vec::new(),
    };
    let Some(central) =
        (0..positions.len()).min_by(|a, b| near_middle(a).total_cmp(&near_middle(b)))
    else {
        return seeds;
    };
    // The first is at an end of the mesh, where a later one would end up anyway.
    let mut next = farthest(&distances_from(mesh, &topology, central));
    let mut nearest = vec![f64::INFINITY; positions.len()];
    while seeds.vertices.len() < count.min(positions.len()) {
        let distances = distances_from(mesh, &topology, next);
        for (nearest, distance) in nearest.iter_mut().zip(&distances) {
            *nearest = nearest.min(*distance);
        }
        seeds.vertices.push(next);
        seeds.distances.push(distances);
        // Coincident points become seeds only after all other points.
        seeds.vertices.iter().for_each(|&seed| nearest[seed] = -1.0);
        next = farthest(&nearest);
    }
    seeds
}

impl Seeds {
    /// The nearest seed of every vertex, the first of several.
    pub(super) fn nearest(&self) -> Vec<usize> {
        let count = self.distances.first().map_or(0, Vec::len);
        (0..count)
            .map(|i| {
                let order =
                    |a: &usize, b: &usize| self.distances[*a][i].total_cmp(&self.distances[*b][i]);
                (0..self.vertices.len()).min_by(order).unwrap_or(0)
            })
            .collect()
    }
}

fn farthest(distances: &[f64]) -> usize {
    let mut best = 0;
    for (i, distance) in distances.iter().enumerate() {
        if *distance > distances[best] {
            best = i;
        }
    }
    best
}

/// A vertex that the search may reach next.
struct Reached {
    distance: f64,
    vertex: usize,
}

impl Ord for Reached {
    /// The heap gives its largest first, which must be the nearest.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_distance = other.distance.total_cmp(&self.distance);
        by_distance.then(other.vertex.cmp(&self.vertex))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Reached {}

/// Dijkstra's algorithm over the edges.
fn distances_from(mesh: &TriMesh, topology: &Topology, start: usize) -> Vec<f64> {
    let positions = mesh.positions();
    let mut distances = vec![f64::INFINITY; positions.len()];
    distances[start] = 0.0;
    let mut heap = BinaryHeap::from([Reached {
        distance: 0.0,
        vertex: start,
    }]);
    while let Some(Reached { distance, vertex }) = heap.pop() {
        if distance > distances[vertex] {
            continue;
        }
        for &neighbor in topology.neighbors(vertex) {
            let neighbor = neighbor as usize;
            let through = distance + positions[vertex].distance(positions[neighbor]);
            if through < distances[neighbor] {
                distances[neighbor] = through;
                heap.push(Reached {
                    distance: through,
                    vertex: neighbor,
                });
            }
        }
    }
    let detour = mesh.bounds().diagonal();
    for (distance, position) in distances.iter_mut().zip(positions) {
        if distance.is_infinite() {
            *distance = detour + position.distance(positions[start]);
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    /// Two strips of triangles, apart from each other:
    ///
    /// ```text
    /// 0--1--2--3      8--9
    /// | /| /| /|      | /
    /// 4--5--6--7     10
    /// ```
    fn strips() -> TriMesh {
        let at = |x: i32, y: i32| DVec3::new(f64::from(x), f64::from(y), 0.0);
        let mut positions: Vec<DVec3> = (0..8).map(|i| at(i % 4, 1 - i / 4)).collect();
        positions.extend([at(6, 1), at(7, 1), at(6, 0)]);
        let mut triangles: Vec<[u32; 3]> = (0..3)
            .flat_map(|i| [[i, i + 4, i + 1], [i + 1, i + 4, i + 5]])
            .collect();
        triangles.push([8, 10, 9]);
        TriMesh::new(positions, triangles).expect("strips")
    }

    #[test]
    fn seeds_reach_every_part_and_then_the_ends() {
        let seeds = spread_seeds(&strips(), 3);
        let mut found = seeds.vertices.clone();
        found.sort_unstable();
        assert!(found.iter().any(|&i| i >= 8), "the small part: {found:?}");
        assert_eq!(
            found.iter().filter(|&&i| i < 8).count(),
            2,
            "both ends: {found:?}"
        );
        let nearest = seeds.nearest();
        assert!(
            (8..11).all(|i| seeds.vertices[nearest[i]] >= 8),
            "parts keep to themselves: {nearest:?}"
        );
        assert_eq!(
            spread_seeds(&strips(), 99).vertices.len(),
            11,
            "no more than vertices"
        );
    }

    #[test]
    fn distances_run_along_edges() {
        let mesh = strips();
        let topology = Topology::new(mesh.vertex_count(), mesh.triangles());
        let distances = distances_from(&mesh, &topology, 0);
        let along = 3.0_f64;
        assert!((distances[3] - along).abs() < 1e-12, "{distances:?}");
        // No edge from 0 to 5: down and along.
        assert!((distances[5] - 2.0).abs() < 1e-12, "{distances:?}");
        assert!(
            distances[8] > mesh.bounds().diagonal(),
            "no edge leads there"
        );
    }
}
