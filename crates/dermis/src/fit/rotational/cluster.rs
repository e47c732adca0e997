//! Patches of skin that move as one: greedy joining of triangles.
//!
//! Every triangle begins as a group of its own; of all joins of neighbouring groups the one that adds least
//! error is made, again and again (\[Wang07\] §5.1). In the paper, the error of a join is that of one group
//! under the other's motion; here it is that of the joined group under its own best affine motion in every
//! example, which follows from sums over points. A join costs O(examples) for groups of any size.
//!
//! Neighbours share an edge. Hair cards, buttons and meshes whose triangles share no vertices have more islands than
//! there may be groups; then a group that is a whole island may also be joined to groups near it in the rest
//! pose, as soon as that costs least. So a thousand hairs are joined to each other before the body below them
//! is reduced to one group, and any count can be reached.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use glam::{DMat3, DVec3};

use super::islands::{Islands, nearest_pairs};
use crate::mesh::triangle_frame;
use crate::par;

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
    /// Places in `triangles` that are near each other though on different islands; empty where edges alone
    /// lead to as few groups as requested.
    links: Vec<(u32, u32)>,
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
        // Ties go to the lowest numbers, so that the order never depends on the heap.
        (other.cost.total_cmp(&self.cost)).then(other.pair.cmp(&self.pair))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Joins {
    /// Joins the given triangles until `least` groups are left.
    ///
    /// Cost: O(T log T) joins of O(examples) each, and 96 bytes per triangle and example.
    pub(super) fn new(shapes: &Shapes<'_>, triangles: Vec<u32>, least: usize) -> Self {
        let count = triangles.len();
        let mut moments: Vec<Option<Moments>> = par::map(count, |g| {
            Some(Moments::of_triangle(shapes, triangles[g] as usize))
        });
        let neighbors = neighbors(shapes.triangles, &triangles);
        let islands = Islands::new(&neighbors);
        let mut links = match islands.count() > least {
            true => islands.links(shapes, &triangles),
            false => Vec::new(),
        };
        let mut state = State {
            neighbors,
            linked: vec![BTreeSet::new(); count],
            versions: vec![0; count],
            heap: BinaryHeap::new(),
        };
        state.link(&links);
        let pairs: Vec<(u32, u32)> = (0..count as u32)
            .flat_map(|a| {
                state
                    .partners(a)
                    .filter(move |&b| b > a)
                    .map(move |b| (a, b))
            })
            .collect();
        state.push_all(&moments, pairs);
        let mut joins = Vec::new();
        while count - joins.len() > least.max(1) {
            let Some(best) = state.heap.pop() else {
                // All linked groups are joined, and the remaining ones are far apart. Each gets a partner, so
                // that at least half of the groups are joined before this happens again.
                let middle = |m: &Option<Moments>| Some(m.as_ref()?.rest_mean);
                let pairs = nearest_pairs(
                    (0..)
                        .zip(&moments)
                        .filter_map(|(g, m)| Some((g, middle(m)?))),
                );
                state.link(&pairs);
                state.push_all(&moments, pairs.clone());
                links.extend(pairs);
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
            joins.push((a, b));
            state.join(a, b);
            let pairs = state.partners(a).map(|other| (a.min(other), a.max(other)));
            let pairs = pairs.collect();
            state.push_all(&moments, pairs);
        }
        Self {
            triangles,
            joins,
            links,
        }
    }

    /// Pairs of indices into the result of [`groups`](Self::groups) that are neighbours without a common
    /// vertex.
    pub(super) fn links(&self) -> &[(u32, u32)] {
        &self.links
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
    /// The groups with which each shares an edge.
    neighbors: Vec<BTreeSet<u32>>,
    /// The groups near each, on other islands.
    linked: Vec<BTreeSet<u32>>,
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

    fn link(&mut self, pairs: &[(u32, u32)]) {
        for &(a, b) in pairs {
            self.linked[a as usize].insert(b);
            self.linked[b as usize].insert(a);
        }
    }

    /// The groups that one may be joined to: its neighbours, and, where one of the two is a whole island, the
    /// groups near it.
    fn partners(&self, group: u32) -> impl Iterator<Item = u32> {
        let neighbors = &self.neighbors[group as usize];
        let linked = self.linked[group as usize].iter().copied();
        let may_join = move |&other: &u32| {
            let others = &self.neighbors[other as usize];
            (neighbors.is_empty() || others.is_empty()) && !neighbors.contains(&other)
        };
        neighbors.iter().copied().chain(linked.filter(may_join))
    }

    /// Moves everything of the second group to the first.
    fn join(&mut self, into: u32, from: u32) {
        for lists in [&mut self.neighbors, &mut self.linked] {
            for other in std::mem::take(&mut lists[from as usize]) {
                lists[other as usize].remove(&from);
                if other != into {
                    lists[other as usize].insert(into);
                    lists[into as usize].insert(other);
                }
            }
        }
        self.versions[from as usize] += 1;
        self.versions[into as usize] += 1;
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
            // Four points have an affine motion that fits them exactly.
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

    /// A strip of squares along x, and the same strip with each third moved by itself.
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
    fn triangles_that_move_as_one_are_joined_first() {
        let (triangles, rest, posed) = strip();
        let shapes = Shapes {
            triangles: &triangles,
            shapes: vec![&rest, &posed],
        };
        let joins = Joins::new(&shapes, (0..18).collect(), 1);
        assert!(joins.links().is_empty(), "edges lead everywhere");
        assert!(joins.groups(1).iter().all(|g| g.1 == 0), "it is connected");
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
    fn islands_are_joined_last_and_some_triangles_may_be_left_out() {
        let (triangles, rest, posed) = strip();
        let shapes = Shapes {
            triangles: &triangles,
            shapes: vec![&rest, &posed],
        };
        // Without the middle of the strip.
        let chosen: Vec<u32> = (0..4).chain(14..18).collect();
        let joins = Joins::new(&shapes, chosen, 1);
        assert!(joins.groups(1).iter().all(|g| g.1 == 0), "islands, too");
        let groups: Vec<u32> = joins.groups(2).iter().map(|(_, g)| *g).collect();
        assert_eq!(groups, [0, 0, 0, 0, 1, 1, 1, 1], "each island before both");
    }

    /// The strip without common vertices, and `copies` of it far apart.
    fn loose_strips(copies: usize) -> (Vec<[u32; 3]>, Vec<DVec3>, Vec<DVec3>) {
        let (triangles, rest, posed) = strip();
        let corners: Vec<u32> = triangles.into_iter().flatten().collect();
        let shape = |shape: &[DVec3]| -> Vec<DVec3> {
            let away = |copy: usize| DVec3::Y * (1e6 * copy as f64);
            let copies = (0..copies).map(away);
            copies
                .flat_map(|away| corners.iter().map(move |&i| shape[i as usize] + away))
                .collect()
        };
        let (rest, posed) = (shape(&rest), shape(&posed));
        let loose = (0..rest.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
        (loose.collect(), rest, posed)
    }

    #[test]
    fn loose_triangles_that_move_as_one_are_joined_first() {
        let (triangles, rest, posed) = loose_strips(1);
        let shapes = Shapes {
            triangles: &triangles,
            shapes: vec![&rest, &posed],
        };
        let joins = Joins::new(&shapes, (0..18).collect(), 3);
        let expected: Vec<(u32, u32)> = (0..18).map(|t| (t, t / 6)).collect();
        assert_eq!(joins.groups(3), expected, "as with common vertices");
        let is_near = |&(a, b): &(u32, u32)| a < b && b - a <= 6;
        assert!(joins.links().iter().all(is_near), "{:?}", joins.links());
    }

    #[test]
    fn any_count_is_reached_though_islands_are_far_apart() {
        let (triangles, rest, posed) = loose_strips(50);
        let shapes = Shapes {
            triangles: &triangles,
            shapes: vec![&rest, &posed],
        };
        for count in [1, 2, 7, 50, 149, 600, 900, 1000] {
            let joins = Joins::new(&shapes, (0..900).collect(), count);
            let groups = joins.groups(count);
            let found = groups.iter().map(|g| g.1 + 1).max();
            assert_eq!(found, Some(count.min(900) as u32), "groups");
        }
    }

    #[test]
    fn small_islands_are_joined_before_a_large_part_becomes_one_group() {
        // Three stiff pieces in one strip, and a loose triangle beside each of its squares, moving with it.
        let (mut triangles, mut rest, mut posed) = strip();
        for k in 0..9 {
            let first = rest.len() as u32;
            for shape in [&mut rest, &mut posed] {
                let [a, b, c] = [2 * k, 2 * k + 1, 2 * k + 2].map(|i| shape[i]);
                let up = (c - a).cross(b - a).normalize() * 1.5;
                shape.extend([a + up, b + up, c + up]);
            }
            triangles.push([first, first + 1, first + 2]);
        }
        let shapes = Shapes {
            triangles: &triangles,
            shapes: vec![&rest, &posed],
        };
        let joins = Joins::new(&shapes, (0..27).collect(), 3);
        let piece = |t: u32| if t < 18 { t / 6 } else { (t - 18) / 3 };
        let expected: Vec<(u32, u32)> = (0..27).map(|t| (t, piece(t))).collect();
        assert_eq!(joins.groups(3), expected, "each piece with what is on it");
    }
}
