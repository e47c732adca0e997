//! Connectivity: half-edges, boundary loops, components, and defects.
//!
//! Real meshes have defects, and a fit must accept them: an edge with three triangles, or two triangles that run along
//! it in the same direction, is listed in [`Topology::non_manifold_edges`] and treated as open; a triangle with a
//! repeated corner is listed and otherwise ignored.

use crate::Rows;

/// Index of a half-edge: number `3t + k` runs from corner `k` of triangle `t` to the next corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HalfEdgeId(pub u32);

impl HalfEdgeId {
    /// The triangle to which the half-edge belongs.
    pub fn triangle(self) -> usize {
        self.0 as usize / 3
    }

    /// The half-edge that follows in the same triangle.
    pub fn next(self) -> Self {
        Self(if self.0 % 3 == 2 {
            self.0 - 2
        } else {
            self.0 + 1
        })
    }
}

/// Connectivity of a triangle mesh.
///
/// Cost: O(T log T) time and O(T + V) memory for T triangles and V vertices.
#[derive(Debug, Clone)]
pub struct Topology {
    triangles: Vec<[u32; 3]>,
    twins: Vec<Option<HalfEdgeId>>,
    neighbors: Rows<u32>,
    component_of_vertex: Vec<u32>,
    component_count: usize,
    boundary_loops: Vec<Vec<u32>>,
    non_manifold_edges: Vec<[u32; 2]>,
    degenerate_triangles: Vec<u32>,
    unreferenced_vertices: Vec<u32>,
}

impl Topology {
    /// Builds the connectivity of some triangles over `vertex_count` vertices.
    ///
    /// # Panics
    /// When a triangle names a vertex that does not exist; a [`TriMesh`](super::TriMesh) has no such triangle.
    pub fn new(vertex_count: usize, triangles: &[[u32; 3]]) -> Self {
        let triangles = triangles.to_vec();
        let is_degenerate = |[a, b, c]: [u32; 3]| a == b || b == c || c == a;
        let degenerate_triangles: Vec<u32> = (0..triangles.len() as u32)
            .filter(|&t| is_degenerate(triangles[t as usize]))
            .collect();
        let (twins, non_manifold_edges) = pair_half_edges(&triangles, is_degenerate);
        let (neighbors, unreferenced_vertices) = vertex_neighbors(vertex_count, &triangles);
        let (component_of_vertex, component_count) = components(&neighbors);
        let mut topology = Self {
            triangles,
            twins,
            neighbors,
            component_of_vertex,
            component_count,
            boundary_loops: Vec::new(),
            non_manifold_edges,
            degenerate_triangles,
            unreferenced_vertices,
        };
        topology.boundary_loops = topology.walk_boundaries(is_degenerate);
        topology
    }

    /// The vertex at which a half-edge starts.
    pub fn start(&self, edge: HalfEdgeId) -> u32 {
        self.triangles[edge.triangle()][edge.0 as usize % 3]
    }

    /// The half-edge that runs back along the same edge; `None` at a boundary.
    pub fn twin(&self, edge: HalfEdgeId) -> Option<HalfEdgeId> {
        self.twins[edge.0 as usize]
    }

    /// The vertices that share an edge with a vertex, in rising order.
    pub fn neighbors(&self, vertex: usize) -> &[u32] {
        self.neighbors.row(vertex)
    }

    /// Which piece of the mesh each vertex belongs to; pieces are numbered by their first vertex.
    pub fn component_of_vertex(&self) -> &[u32] {
        &self.component_of_vertex
    }

    /// How many pieces the mesh has; a vertex on its own is a piece.
    pub fn component_count(&self) -> usize {
        self.component_count
    }

    /// The rims of holes, as vertices in the direction of their triangles.
    pub fn boundary_loops(&self) -> &[Vec<u32>] {
        &self.boundary_loops
    }

    /// Edges with more than two triangles, or two that run the same way; smaller vertex first.
    pub fn non_manifold_edges(&self) -> &[[u32; 2]] {
        &self.non_manifold_edges
    }

    /// Triangles that name the same vertex twice.
    pub fn degenerate_triangles(&self) -> &[u32] {
        &self.degenerate_triangles
    }

    /// Vertices that no triangle names.
    pub fn unreferenced_vertices(&self) -> &[u32] {
        &self.unreferenced_vertices
    }

    fn walk_boundaries(&self, is_degenerate: impl Fn([u32; 3]) -> bool) -> Vec<Vec<u32>> {
        let mut visited = vec![false; self.twins.len()];
        let mut loops = Vec::new();
        for start in (0..self.twins.len() as u32).map(HalfEdgeId) {
            let open =
                self.twin(start).is_none() && !is_degenerate(self.triangles[start.triangle()]);
            if !open || visited[start.0 as usize] {
                continue;
            }
            let mut rim = Vec::new();
            let mut edge = start;
            while !visited[edge.0 as usize] {
                visited[edge.0 as usize] = true;
                rim.push(self.start(edge));
                // Turn about the end vertex, triangle by triangle, until the next open edge.
                edge = edge.next();
                while let Some(twin) = self.twin(edge) {
                    edge = twin.next();
                }
            }
            loops.push(rim);
        }
        loops
    }
}

/// The twin of each half-edge, and the edges whose half-edges cannot be paired.
fn pair_half_edges(
    triangles: &[[u32; 3]],
    is_degenerate: impl Fn([u32; 3]) -> bool,
) -> (Vec<Option<HalfEdgeId>>, Vec<[u32; 2]>) {
    struct Side {
        edge: [u32; 2],
        half_edge: u32,
        rising: bool,
    }
    let mut sides: Vec<Side> = Vec::with_capacity(3 * triangles.len());
    for (t, &triangle) in triangles.iter().enumerate() {
        if is_degenerate(triangle) {
            continue;
        }
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            sides.push(Side {
                edge: [a.min(b), a.max(b)],
                half_edge: (3 * t + k) as u32,
                rising: a < b,
            });
        }
    }
    sides.sort_unstable_by_key(|side| (side.edge, side.half_edge));

    let mut twins = vec![None; 3 * triangles.len()];
    let mut non_manifold = Vec::new();
    for sharing in sides.chunk_by(|a, b| a.edge == b.edge) {
        match sharing {
            [_] => {}
            [a, b] if a.rising != b.rising => {
                twins[a.half_edge as usize] = Some(HalfEdgeId(b.half_edge));
                twins[b.half_edge as usize] = Some(HalfEdgeId(a.half_edge));
            }
            _ => non_manifold.push(sharing[0].edge),
        }
    }
    (twins, non_manifold)
}

/// Sorted neighbours of each vertex, and the vertices that no triangle names.
fn vertex_neighbors(vertex_count: usize, triangles: &[[u32; 3]]) -> (Rows<u32>, Vec<u32>) {
    let mut referenced = vec![false; vertex_count];
    let mut links: Vec<[u32; 2]> = Vec::with_capacity(6 * triangles.len());
    for &[a, b, c] in triangles {
        for v in [a, b, c] {
            referenced[v as usize] = true;
        }
        for [a, b] in [[a, b], [b, c], [c, a]] {
            if a != b {
                links.push([a, b]);
                links.push([b, a]);
            }
        }
    }
    links.sort_unstable();
    links.dedup();
    let mut rows = Rows::with_capacity(vertex_count, links.len());
    let mut rest = links.as_slice();
    for v in 0..vertex_count as u32 {
        let (own, tail) = rest.split_at(rest.partition_point(|link| link[0] == v));
        rows.push_row(own.iter().map(|link| link[1]));
        rest = tail;
    }
    let unreferenced = (0..vertex_count as u32)
        .filter(|&v| !referenced[v as usize])
        .collect();
    (rows, unreferenced)
}

/// Component of each vertex by flood fill, and how many there are.
fn components(neighbors: &Rows<u32>) -> (Vec<u32>, usize) {
    const UNSEEN: u32 = u32::MAX;
    let mut component = vec![UNSEEN; neighbors.len()];
    let mut count = 0;
    let mut stack = Vec::new();
    for seed in 0..neighbors.len() {
        if component[seed] != UNSEEN {
            continue;
        }
        component[seed] = count;
        stack.push(seed);
        while let Some(v) = stack.pop() {
            for &n in neighbors.row(v) {
                if component[n as usize] == UNSEEN {
                    component[n as usize] = count;
                    stack.push(n as usize);
                }
            }
        }
        count += 1;
    }
    (component, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    ///  3 --- 2
    ///  |  /  |      4: a point on its own
    ///  0 --- 1
    /// ```
    #[test]
    fn a_square_has_one_rim_and_a_lone_point_is_a_piece() {
        let topology = Topology::new(5, &[[0, 1, 2], [0, 2, 3]]);
        assert_eq!(
            topology.boundary_loops(),
            [[0, 1, 2, 3]],
            "one rim, in face direction"
        );
        assert_eq!(topology.component_count(), 2, "the square and the point");
        assert_eq!(topology.neighbors(0), [1, 2, 3], "along edges, sorted");
        assert_eq!(
            topology.unreferenced_vertices(),
            [4],
            "no triangle names it"
        );
        let diagonal = HalfEdgeId(2);
        assert_eq!(topology.start(diagonal), 2, "half-edge 2 runs from 2 to 0");
        assert_eq!(
            topology.twin(diagonal),
            Some(HalfEdgeId(3)),
            "0 to 2 runs back"
        );
        assert_eq!(topology.twin(HalfEdgeId(0)), None, "0 to 1 is open");
    }

    #[test]
    fn a_tetrahedron_is_closed() {
        let topology = Topology::new(4, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]);
        assert!(topology.boundary_loops().is_empty(), "no rim");
        assert!(
            topology.non_manifold_edges().is_empty(),
            "every edge has two triangles"
        );
        for edge in (0..12).map(HalfEdgeId) {
            let twin = topology.twin(edge).expect("closed");
            assert_eq!(topology.twin(twin), Some(edge), "twins are mutual");
            assert_eq!(
                topology.start(twin),
                topology.start(edge.next()),
                "and run back"
            );
        }
    }

    #[test]
    fn an_edge_with_three_triangles_is_reported_and_accepted() {
        let topology = Topology::new(5, &[[0, 1, 2], [1, 0, 3], [0, 1, 4], [2, 2, 1]]);
        assert_eq!(
            topology.non_manifold_edges(),
            [[0, 1]],
            "three triangles share it"
        );
        assert_eq!(topology.degenerate_triangles(), [3], "2 is named twice");
        assert_eq!(
            topology.boundary_loops().len(),
            3,
            "each fin is walked on its own"
        );
    }

    /// Two triangles that touch in one point only (a bow tie): two rims, not one crossing itself.
    #[test]
    fn a_bow_tie_has_two_rims() {
        let topology = Topology::new(5, &[[0, 1, 2], [2, 3, 4]]);
        assert_eq!(
            topology.boundary_loops(),
            [[0, 1, 2], [2, 3, 4]],
            "one per wing"
        );
        assert_eq!(topology.component_count(), 1, "joined at a point");
    }
}
