//! Tears and folds: where a posed skin is broken, not merely a little off.
//!
//! Mean errors hide what an artist sees first: a spike where one vertex flew away, or triangles that turned inside out.
//! A *tear* is an edge many times as long as in the example; a *fold* is a triangle that faces the other way than in
//! the example and than its neighbour, where the example is smooth.
//!
//! The thresholds are those at which fits that look whole have nothing to say; see the constants for how they were
//! chosen.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::mesh::{Topology, TriMesh};

/// An edge is torn when it is so many times as long as in the example.
const TORN_TIMES: f64 = 4.0;
/// And when it has grown by this share of the size: tiny edges may grow without anyone seeing it.
const TORN_GROWTH: f64 = 0.01;
/// Edges of the example shorter than this share of its mean edge count as so long: the edges of a crease may have
/// next to no length at all.
const SHORTEST_EDGE: f64 = 0.25;
/// An example is smooth at a triangle whose neighbours are turned against it by at most this, in degrees.
const SMOOTH_DEG: f64 = 45.0;
/// A triangle is folded when it is turned by more than this against the example, and against a neighbour.
const FOLDED_DEG: f64 = 90.0;
/// Triangles smaller than this share of the mean triangle, in the example or in the skin, are not looked at: which way a
/// sliver faces is not seen.
const SMALLEST_TRIANGLE: f64 = 0.1;

/// An example is folded when it has so many folded triangles, and this share of all: single triangles turn over in most
/// fits where the example creases, and nobody sees them.
const FEWEST_FOLDED: usize = 4;
const FOLDED_SHARE: f64 = 0.002;

/// An edge that is much longer than in the example.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tear {
    /// Number of the example in its set.
    pub example: usize,
    /// The ends of the edge.
    pub vertices: [u32; 2],
    /// How many times as long as in the example it is.
    pub times: f64,
}

/// A triangle that faces the other way than in the example.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fold {
    /// Number of the example in its set.
    pub example: usize,
    /// A corner of the triangle that is turned furthest.
    pub vertex: u32,
    /// By how much it is turned against the example, in degrees.
    pub angle_deg: f64,
    /// How many triangles of this example are folded.
    pub triangles: usize,
}

/// Tears and folds of a skin over some examples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Damage {
    /// Torn edges, over all examples.
    pub torn_edges: usize,
    /// Examples with a torn edge.
    pub torn_examples: usize,
    /// The edge that is most times as long as it should be.
    pub worst_tear: Option<Tear>,
    /// Folded triangles, over all examples.
    pub folded_triangles: usize,
    /// Examples with a folded triangle.
    pub folded_examples: usize,
    /// The example with the most folded triangles.
    pub worst_fold: Option<Fold>,
}

impl Damage {
    /// Adds the damage of one more example.
    fn add(&mut self, example: usize, shape: &ShapeDamage) {
        self.torn_edges += shape.torn_edges;
        self.folded_triangles += shape.folded_triangles;
        if let Some((vertices, times)) = shape.worst_tear {
            self.torn_examples += 1;
            if self.worst_tear.is_none_or(|worst| times > worst.times) {
                self.worst_tear = Some(Tear {
                    example,
                    vertices,
                    times,
                });
            }
        }
        if let Some((vertex, angle_deg)) = shape.worst_fold {
            let triangles = shape.folded_triangles;
            self.folded_examples += 1;
            if (self.worst_fold).is_none_or(|worst| triangles > worst.triangles) {
                self.worst_fold = Some(Fold {
                    example,
                    vertex,
                    angle_deg,
                    triangles,
                });
            }
        }
    }

    /// The damage of several examples, each with its number.
    pub(super) fn of<'a>(shapes: impl Iterator<Item = (usize, &'a ShapeDamage)>) -> Self {
        let mut damage = Self::default();
        for (example, shape) in shapes {
            damage.add(example, shape);
        }
        damage
    }
}

/// Tears and folds of one shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShapeDamage {
    /// Edges that are many times as long as they should be.
    pub torn_edges: usize,
    /// The ends of the worst of them, and how many times as long it is.
    pub worst_tear: Option<([u32; 2], f64)>,
    /// Triangles that face the other way than they should; 0 when they are too few to be seen.
    pub folded_triangles: usize,
    /// A corner of the triangle that is turned furthest, and by how much, in degrees.
    pub worst_fold: Option<(u32, f64)>,
}

/// Finds tears and folds in shapes of one mesh.
#[derive(Debug)]
pub struct DamageFinder<'a> {
    triangles: &'a [[u32; 3]],
    /// Each edge once.
    edges: Vec<[u32; 2]>,
    /// The triangles across the three edges of each triangle.
    neighbors: Vec<[Option<u32>; 3]>,
    size: f64,
}

impl<'a> DamageFinder<'a> {
    /// Gets ready for shapes of a mesh; `size` is the length that growth is measured by, usually the diagonal of the
    /// box around the mesh at rest.
    pub fn new(mesh: &'a TriMesh, size: f64) -> Self {
        let triangles = mesh.triangles();
        let topology = Topology::new(mesh.vertex_count(), triangles);
        let edges = (0..mesh.vertex_count() as u32).flat_map(|a| {
            let neighbors = topology.neighbors(a as usize).iter();
            neighbors.filter(move |&&b| b > a).map(move |&b| [a, b])
        });
        let across = |t: usize| {
            [0, 1, 2].map(|k| {
                let twin = topology.twin(crate::mesh::HalfEdgeId((3 * t + k) as u32))?;
                Some(twin.triangle() as u32)
            })
        };
        Self {
            edges: edges.collect(),
            neighbors: (0..triangles.len()).map(across).collect(),
            triangles,
            size,
        }
    }

    /// Looks for tears and folds of a shape that should look like `truth`.
    ///
    /// Cost: O(edges + triangles).
    ///
    /// # Panics
    /// When a shape has fewer vertices than the mesh.
    pub fn find(&self, truth: &[DVec3], found: &[DVec3]) -> ShapeDamage {
        let mut damage = ShapeDamage::default();
        self.find_tears(truth, found, &mut damage);
        self.find_folds(truth, found, &mut damage);
        damage
    }

    fn find_tears(&self, truth: &[DVec3], found: &[DVec3], damage: &mut ShapeDamage) {
        let length =
            |shape: &[DVec3], [a, b]: [u32; 2]| shape[a as usize].distance(shape[b as usize]);
        let sum: f64 = self.edges.iter().map(|edge| length(truth, *edge)).sum();
        let shortest = SHORTEST_EDGE * sum / self.edges.len().max(1) as f64;
        for &edge in &self.edges {
            let (should, is) = (length(truth, edge).max(shortest), length(found, edge));
            if is > TORN_TIMES * should && is - should > TORN_GROWTH * self.size {
                let times = is / should;
                damage.torn_edges += 1;
                if damage.worst_tear.is_none_or(|(_, worst)| times > worst) {
                    damage.worst_tear = Some((edge, times));
                }
            }
        }
    }

    fn find_folds(&self, truth: &[DVec3], found: &[DVec3], damage: &mut ShapeDamage) {
        // Normals as long as twice the area; none for slivers.
        let normals = |shape: &[DVec3]| -> Vec<Option<DVec3>> {
            let normal = |corners: &[u32; 3]| {
                let [a, b, c] = corners.map(|v| shape[v as usize]);
                (b - a).cross(c - a)
            };
            let all: Vec<DVec3> = self.triangles.iter().map(normal).collect();
            let mean = all.iter().map(|n| n.length()).sum::<f64>() / all.len().max(1) as f64;
            let is_large = |n: &DVec3| n.length() > SMALLEST_TRIANGLE * mean;
            all.into_iter()
                .map(|n| is_large(&n).then(|| n.normalize()))
                .collect()
        };
        let (should, is) = (normals(truth), normals(found));
        let (smooth, folded) = (SMOOTH_DEG.to_radians().cos(), FOLDED_DEG.to_radians().cos());
        for (t, across) in self.neighbors.iter().enumerate() {
            let (Some(wanted), Some(normal)) = (should[t], is[t]) else {
                continue;
            };
            let cos = wanted.dot(normal);
            if cos >= folded {
                continue;
            }
            let neighbors = || across.iter().flatten().map(|&n| n as usize);
            let was_smooth = neighbors()
                .filter_map(|n| should[n])
                .all(|other| other.dot(wanted) > smooth);
            let is_creased = neighbors()
                .filter_map(|n| is[n])
                .any(|other| other.dot(normal) < folded);
            if was_smooth && is_creased {
                let angle_deg = cos.clamp(-1.0, 1.0).acos().to_degrees();
                damage.folded_triangles += 1;
                if (damage.worst_fold).is_none_or(|(_, worst)| angle_deg > worst) {
                    damage.worst_fold = Some((self.triangles[t][0], angle_deg));
                }
            }
        }
        let fewest = (FOLDED_SHARE * self.triangles.len() as f64).max(FEWEST_FOLDED as f64);
        if (damage.folded_triangles as f64) < fewest {
            damage.folded_triangles = 0;
            damage.worst_fold = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet of 12 by 12 squares, slightly curved, of side 1.
    fn sheet() -> TriMesh {
        let side = 13_u32;
        let at = |n: u32| {
            let (x, y) = (f64::from(n % side) / 12.0, f64::from(n / side) / 12.0);
            DVec3::new(x, y, 0.2 * (x * x + y * y))
        };
        let triangles = (0..side - 1)
            .flat_map(|y| (0..side - 1).map(move |x| y * side + x))
            .flat_map(|n| [[n, n + 1, n + side], [n + 1, n + side + 1, n + side]])
            .collect();
        TriMesh::new((0..side * side).map(at).collect(), triangles).expect("a sheet")
    }

    #[test]
    fn a_shape_that_is_a_little_off_or_elsewhere_has_no_damage() {
        let mesh = sheet();
        let finder = DamageFinder::new(&mesh, mesh.bounds().diagonal());
        let truth = mesh.positions();
        assert_eq!(finder.find(truth, truth), ShapeDamage::default(), "itself");
        let bent: Vec<DVec3> = (truth.iter())
            .map(|p| *p + DVec3::Z * 0.15 * (4.0 * p.x).sin())
            .collect();
        assert_eq!(finder.find(truth, &bent), ShapeDamage::default(), "bent");
        let turned = glam::DQuat::from_rotation_x(2.5);
        let turned: Vec<DVec3> = truth.iter().map(|p| turned * *p + DVec3::X * 9.0).collect();
        assert_eq!(
            finder.find(truth, &turned),
            ShapeDamage::default(),
            "turned as a whole"
        );
    }

    #[test]
    fn a_vertex_that_flew_away_tears_the_edges_around_it() {
        let mesh = sheet();
        let finder = DamageFinder::new(&mesh, mesh.bounds().diagonal());
        let mut spike = mesh.positions().to_vec();
        spike[84].z += 0.9;
        let found = finder.find(mesh.positions(), &spike);
        assert_eq!(found.torn_edges, 6, "all edges of the vertex: {found:?}");
        let (ends, times) = found.worst_tear.expect("torn");
        assert!(ends.contains(&84), "{ends:?}");
        assert!((7.0..13.0).contains(&times), "about 0.9 over 1/12: {times}");
    }

    #[test]
    fn a_tear_too_small_to_be_seen_is_none() {
        let mesh = sheet();
        let finder = DamageFinder::new(&mesh, 1000.0 * mesh.bounds().diagonal());
        let mut spike = mesh.positions().to_vec();
        spike[84].z += 0.9;
        assert_eq!(
            finder.find(mesh.positions(), &spike).torn_edges,
            0,
            "of a mesh this size"
        );
    }

    #[test]
    fn triangles_that_turn_over_are_folds_unless_the_example_has_them_too() {
        let mesh = sheet();
        let finder = DamageFinder::new(&mesh, mesh.bounds().diagonal());
        // A row of the sheet is pulled over the next two.
        let mut folded = mesh.positions().to_vec();
        for vertex in &mut folded[6 * 13..7 * 13] {
            vertex.y += 0.25;
        }
        let found = finder.find(mesh.positions(), &folded);
        assert!(
            found.folded_triangles >= 24,
            "both sides of the row: {found:?}"
        );
        let (vertex, angle) = found.worst_fold.expect("folded");
        assert!((6 * 13..8 * 13).contains(&vertex), "in the row: {vertex}");
        assert!(angle > 150.0, "turned over: {angle}");
        let same = finder.find(&folded, &folded);
        assert_eq!(same, ShapeDamage::default(), "the example is folded too");
    }

    #[test]
    fn the_worst_of_several_examples_is_named() {
        let torn = |edges: usize, times: f64| ShapeDamage {
            torn_edges: edges,
            worst_tear: Some(([1, 2], times)),
            ..ShapeDamage::default()
        };
        let shapes = [torn(3, 5.0), ShapeDamage::default(), torn(1, 9.0)];
        let damage = Damage::of([4, 8, 13].into_iter().zip(&shapes));
        assert_eq!(
            (damage.torn_edges, damage.torn_examples),
            (4, 2),
            "{damage:?}"
        );
        let worst = damage.worst_tear.expect("torn");
        assert_eq!((worst.example, worst.times), (13, 9.0), "{worst:?}");
        assert_eq!(damage.worst_fold, None, "nothing is folded");
    }
}
