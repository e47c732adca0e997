//! Patches of skin that move as one: greedy joining of triangles.
//!
//! Every triangle begins as a group of its own; of all joins of neighbouring groups the one that adds least
//! error is made, again and again (\[Wang07\] §5.1). There a group is joined to another *as that one moves*;
//! here the error is that of the joined group under its own best affine motion in every example, which
//! sums over points give without going through the points. A join costs O(examples) whatever the size.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use glam::{DMat3, DVec3};

use crate::mesh::triangle_frame;
use crate::par;

/// Groups without neighbours are joined to any others, as long as there are no more than this.
const MOST_ISLANDS: usize = 256;

/// The shapes that are clustered: the rest shape first.
pub(super) struct Shapes<'a> {
    pub(super) triangles: &'a [[u32; 3]],
    pub(super) shapes: Vec<&'a [DVec3]>,
}

/// All joins, in the order in which they were made.
pub(super) struct Joins {
    /// Numbers of the triangles that were clustered.
    triangles: Vec<u32>,
    /// Pairs of groups, each named by one of its triangles' places in `triangles`.
    joins: Vec<(u32, u32)>,
}

/// Sums over the corners of a group's triangles and the tips of their normals, which give a flat patch
/// a third direction; all about the group's own means, so that nothing cancels.
struct Moments {
    count: f64,
    rest_mean: DVec3,
    /// `Σ x xᵀ` of rest points.
    rest: DMat3,
    /// For every example but the rest pose, the mean and `Σ y xᵀ`.
    posed: Vec<(DVec3, DMat3)>,
    /// `Σ |y|²` over all examples but the rest pose.
    squared: f64,
    /// Error under the best motions.
    error: f64,
}

/// A join that could be made; the first to come out of a heap is the cheapest.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    cost: f64,
    pair: (u32, u32),
    /// How often each of the two had changed when the cost was computed.
    versions: (u32, u32),
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of equals the lowest numbers, so that the order never depends on the heap.
        (other.cost.total_cmp(&self.cost)).then(other.pair.cmp(&self.pair))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Joins {
    /// Joins the given triangles until `least` groups are left, or as few as there are parts.
    ///
    /// Cost: O(T log T) joins of O(examples) each, and 96 bytes per triangle and example.
    pub(super) fn new(shapes: &Shapes<'_>, triangles: Vec<u32>, least: usize) -> Self {
        let count = triangles.len();
        let mut moments: Vec<Option<Moments>> = par::map(count, |g| {
            Some(Moments::of_triangle(shapes, triangles[g] as usize))
        });
        let mut state = State {
            neighbors: neighbors(shapes.triangles, &triangles),
            versions: vec![0; count],
            heap: BinaryHeap::new(),
        };
        let pairs: Vec<(u32, u32)> = (0..count as u32)
            .flat_map(|a| {
                let later = state.neighbors[a as usize].range(a + 1..);
                later.map(move |&b| (a, b)).collect::<Vec<_>>()
            })
            .collect();
        state.push_all(&moments, pairs);
        let mut joins = Vec::new();
        let mut left = count;
        let mut islands_joined = false;
        while left > least {
            let Some(best) = state.heap.pop() else {
                if islands_joined || left > MOST_ISLANDS {
                    break;
                }
                islands_joined = true;
                state.connect_islands(&moments);
                continue;
            };
            let (a, b) = best.pair;
            let [into, from] = [a as usize, b as usize];
            let current = (state.versions[into], state.versions[from]);
            if best.versions != current {
                continue;
            }
            let joined = moments[from].take().expect("its version is current");
            let kept = moments[into].as_mut().expect("its version is current");
            kept.add(&joined);
            state.versions[from] += 1;
            state.versions[into] += 1;
            joins.push((a, b));
            left -= 1;
            let of_joined = std::mem::take(&mut state.neighbors[from]);
            for &other in &of_joined {
                state.neighbors[other as usize].remove(&b);
                if other != a {
                    state.neighbors[other as usize].insert(a);
                    state.neighbors[into].insert(other);
                }
            }
            let pairs = (state.neighbors[into].iter())
                .map(|&other| (a.min(other), a.max(other)))
                .collect();
            state.push_all(&moments, pairs);
        }
        Self { triangles, joins }
    }

    /// The fewest groups that there can be.
    pub(super) fn least_count(&self) -> usize {
        self.triangles.len() - self.joins.len()
    }

    /// The group of every clustered triangle, in `triangles`' order, when there are `count` groups: the
    /// joins up to there, replayed. Groups are numbered by their first triangles.
    pub(super) fn groups(&self, count: usize) -> Vec<(u32, u32)> {
        let made = (self.triangles.len() - count.min(self.triangles.len())).min(self.joins.len());
        let mut root: Vec<u32> = (0..self.triangles.len() as u32).collect();
        for &(a, b) in &self.joins[..made] {
            root[b as usize] = a;
        }
        let mut number = vec![u32::MAX; root.len()];
        let mut next = 0;
        (0..root.len())
            .map(|g| {
                let mut top = g;
                while root[top] as usize != top {
                    // Halve the path, so that the next one is short.
                    root[top] = root[root[top] as usize];
                    top = root[top] as usize;
                }
                if number[top] == u32::MAX {
                    number[top] = next;
                    next += 1;
                }
                (self.triangles[g], number[top])
            })
            .collect()
    }
}

struct State {
    neighbors: Vec<BTreeSet<u32>>,
    versions: Vec<u32>,
    heap: BinaryHeap<Candidate>,
}

impl State {
    fn push_all(&mut self, moments: &[Option<Moments>], pairs: Vec<(u32, u32)>) {
        let cost = |&(a, b): &(u32, u32)| {
            let [a, b] = [a as usize, b as usize];
            let (Some(of_a), Some(of_b)) = (&moments[a], &moments[b]) else {
                return f64::INFINITY;
            };
            (of_a.error_with(of_b) - of_a.error - of_b.error).max(0.0)
        };
        let costs: Vec<f64> = match pairs.len() < 64 {
            true => pairs.iter().map(cost).collect(),
            false => par::map(pairs.len(), |p| cost(&pairs[p])),
        };
        for (pair, cost) in pairs.into_iter().zip(costs) {
            let versions = (
                self.versions[pair.0 as usize],
                self.versions[pair.1 as usize],
            );
            self.heap.push(Candidate {
                cost,
                pair,
                versions,
            });
        }
    }

    /// Makes neighbours of all groups that are left.
    fn connect_islands(&mut self, moments: &[Option<Moments>]) {
        let left: Vec<u32> = (0..moments.len() as u32)
            .filter(|&g| moments[g as usize].is_some())
            .collect();
        let mut pairs = Vec::new();
        for (n, &a) in left.iter().enumerate() {
            for &b in &left[n + 1..] {
                self.neighbors[a as usize].insert(b);
                self.neighbors[b as usize].insert(a);
                pairs.push((a, b));
            }
        }
        self.push_all(moments, pairs);
    }
}

impl Moments {
    fn of_triangle(shapes: &Shapes<'_>, triangle: usize) -> Self {
        let corners = shapes.triangles[triangle];
        let points = |shape: &[DVec3]| {
            let [a, b, c] = corners.map(|i| shape[i as usize]);
            [a, b, c, a + triangle_frame([a, b, c]).z_axis]
        };
        let mean = |points: &[DVec3; 4]| points.iter().sum::<DVec3>() / 4.0;
        let rest = points(shapes.shapes[0]);
        let rest_mean = mean(&rest);
        let rest = rest.map(|x| x - rest_mean);
        let mut squared = 0.0;
        let posed = (shapes.shapes[1..].iter())
            .map(|shape| {
                let points = points(shape);
                let posed_mean = mean(&points);
                let mut sum = DMat3::ZERO;
                for (x, y) in rest.iter().zip(points) {
                    let y = y - posed_mean;
                    sum += outer(y, *x);
                    squared += y.length_squared();
                }
                (posed_mean, sum)
            })
            .collect();
        Self {
            count: 4.0,
            rest_mean,
            rest: rest.iter().fold(DMat3::ZERO, |sum, x| sum + outer(*x, *x)),
            posed,
            squared,
            // Four points have an affine motion that meets them.
            error: 0.0,
        }
    }

    /// The error of both groups as one.
    fn error_with(&self, other: &Self) -> f64 {
        let share = self.count * other.count / (self.count + other.count);
        let x = other.rest_mean - self.rest_mean;
        let inverse = bounded_inverse(self.rest + other.rest + outer(x, x) * share);
        let (mut squared, mut explained) = (self.squared + other.squared, 0.0);
        for ((mean, sum), (other_mean, other_sum)) in self.posed.iter().zip(&other.posed) {
            let y = *other_mean - *mean;
            let joined = *sum + *other_sum + outer(y, x * share);
            squared += share * y.length_squared();
            // trace(C S⁻¹ Cᵀ), as the sum of products of entries.
            let motion = joined * inverse;
            explained += motion.x_axis.dot(joined.x_axis)
                + motion.y_axis.dot(joined.y_axis)
                + motion.z_axis.dot(joined.z_axis);
        }
        (squared - explained).max(0.0)
    }

    fn add(&mut self, other: &Self) {
        self.error = self.error_with(other);
        let total = self.count + other.count;
        let (share, part) = (self.count * other.count / total, other.count / total);
        let x = other.rest_mean - self.rest_mean;
        self.rest += other.rest + outer(x, x) * share;
        self.rest_mean += part * x;
        self.squared += other.squared;
        for ((mean, sum), (other_mean, other_sum)) in self.posed.iter_mut().zip(&other.posed) {
            let y = *other_mean - *mean;
            *sum += *other_sum + outer(y, x * share);
            *mean += part * y;
            self.squared += share * y.length_squared();
        }
        self.count = total;
    }
}

/// `a bᵀ`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The inverse of a matrix of moments; a direction without extent gets a tiny one.
pub(super) fn bounded_inverse(moments: DMat3) -> DMat3 {
    let size = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
    let tiny = (1e-9 * size).max(f64::MIN_POSITIVE);
    (moments + DMat3::from_diagonal(DVec3::splat(tiny))).inverse()
}

/// For every chosen triangle, by its place in the list, the others with which it shares an edge.
fn neighbors(triangles: &[[u32; 3]], chosen: &[u32]) -> Vec<BTreeSet<u32>> {
    let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * chosen.len());
    for (place, &triangle) in (0u32..).zip(chosen) {
        let [a, b, c] = triangles[triangle as usize];
        for [p, q] in [[a, b], [b, c], [c, a]] {
            edges.push(([p.min(q), p.max(q)], place));
        }
    }
    edges.sort_unstable();
    let mut neighbors = vec![BTreeSet::new(); chosen.len()];
    for shared in edges.chunk_by(|a, b| a.0 == b.0) {
        for (n, &(_, a)) in shared.iter().enumerate() {
            for &(_, b) in &shared[n + 1..] {
                if a != b {
                    neighbors[a as usize].insert(b);
                    neighbors[b as usize].insert(a);
                }
            }
        }
    }
    neighbors
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strip of squares along x, and what it becomes when each third moves by itself.
    fn strip() -> (Vec<[u32; 3]>, Vec<DVec3>, Vec<DVec3>) {
        let rest: Vec<DVec3> = (0..20)
            .map(|i| DVec3::new((i / 2) as f64, (i % 2) as f64, 0.0))
            .collect();
        let triangles = (0..9u32)
            .flat_map(|k| {
                [
                    [2 * k, 2 * k + 2, 2 * k + 1],
                    [2 * k + 1, 2 * k + 2, 2 * k + 3],
                ]
            })
            .collect();
        let posed = (rest.iter())
            .map(|p| match p.x {
                x if x <= 3.0 => *p,
                x if x <= 6.0 => DVec3::new(3.0, p.y, x - 3.0),
                x => DVec3::new(x - 3.0, p.y, 3.0),
            })
            .collect();
        (triangles, rest, posed)
    }

    #[test]
    fn what_moves_as_one_is_joined_first() {
        let (triangles, rest, posed) = strip();
        let shapes = Shapes {
            triangles: &triangles,
            shapes: vec![&rest, &posed],
        };
        let joins = Joins::new(&shapes, (0..18).collect(), 1);
        assert_eq!(joins.least_count(), 1, "it is connected");
        let groups = joins.groups(3);
        let expected: Vec<(u32, u32)> = (0..18).map(|t| (t, t / 6)).collect();
        assert_eq!(groups, expected, "three stiff pieces");
        assert_eq!(
            joins.groups(18).len(),
            18,
            "each alone before the first join"
        );
        assert!(
            joins.groups(40).iter().zip(0..).all(|(g, n)| g.1 == n),
            "no more than that"
        );
    }

    #[test]
    fn islands_are_joined_at_last_and_a_part_of_the_triangles_may_be_left_out() {
        let (triangles, rest, posed) = strip();
        let shapes = Shapes {
            triangles: &triangles,
            shapes: vec![&rest, &posed],
        };
        // Without the middle of the strip.
        let chosen: Vec<u32> = (0..4).chain(14..18).collect();
        let joins = Joins::new(&shapes, chosen, 1);
        assert_eq!(joins.least_count(), 1, "islands, too");
        let groups: Vec<u32> = joins.groups(2).iter().map(|(_, g)| *g).collect();
        assert_eq!(groups, [0, 0, 0, 0, 1, 1, 1, 1], "each island before both");
    }
}
