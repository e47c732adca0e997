//! Coarser and coarser [`EdgeSystem`]s, which reduce errors over many nodes at once.
//!
//! Each iteration carries a change from a node to its neighbours, one edge further. Some directions are not determined
//! by the poses of a kind and are held by springs alone, over all the nodes of that kind and beyond, so that plain
//! iterations grow in number as meshes are refined. Therefore neighbours of one kind are joined into groups, those into
//! larger groups, and so on. A group moves as one, and the system of groups has the same form as the system of nodes
//! ([`EdgeSystem::of_groups`]). All nodes of a group have one basis `U`, so their numbers can simply be added.
//!
//! Groups never cross a border between kinds, because the unknowns differ there: the coarsest system has at least a
//! node for each connected part of a kind. It is not factored: a few damped Jacobi steps there need only a few per cent
//! more iterations than an exact solve. Where kinds are many and their parts small (a body with 152 bones), groups are
//! small, too, and springs to other kinds hold the directions that a kind does not determine: a coarser system would
//! help little, and none is made.

use super::edge_system::EdgeSystem;
use crate::rows::Rows;

/// Damping of the Jacobi steps. The inverse diagonal times an [`EdgeSystem`] has eigenvalues of up to 2, so steps
/// converge with a damping below 1; 0.85 needed fewer iterations than 0.7.
const DAMPING: f64 = 0.85;

/// The largest number of Jacobi steps on the coarsest system. With 4, a tenth more iterations were needed; with an
/// exact solve, a twentieth fewer (a horse and a hinged tube, in a prototype).
const MOST_COARSEST_STEPS: usize = 8;

/// Jacobi steps on the coarsest system may take this share of the time of a product with the whole system, but at least
/// one is made.
const COARSEST_SHARE: f64 = 0.5;

/// A first coarser system is used when it has at most this share of the nodes: one with a share of 0.62 took a third
/// longer in total than none, although it needed only a third of the iterations.
const FIRST_SHARE: f64 = 0.3;

/// A further coarser system costs little; it is added while it has at most this share of the nodes of the one before.
const FURTHER_SHARE: f64 = 0.75;

/// A system of groups of nodes of the system before it.
#[derive(Debug)]
struct Coarser<'a> {
    /// For each group, where the numbers of its nodes begin in the system before.
    member_starts: Rows<usize>,
    group_of: Vec<u32>,
    system: EdgeSystem<'a>,
}

/// Systems of larger and larger groups; empty when no nodes can be joined.
#[derive(Debug)]
pub(crate) struct CoarseLevels<'a> {
    levels: Vec<Coarser<'a>>,
    /// Jacobi steps on the last system.
    coarsest_steps: usize,
}

impl<'a> CoarseLevels<'a> {
    /// Joins the nodes of a system. Cost: O(nodes and edges).
    pub(crate) fn new(system: &EdgeSystem<'a>) -> Self {
        let mut levels: Vec<Coarser<'a>> = Vec::new();
        loop {
            let finer = levels.last().map_or(system, |level| &level.system);
            let group_of = join_neighbors(finer);
            let group_count = group_of.iter().max().map_or(0, |&last| last as usize + 1);
            let most = match levels.is_empty() {
                true => FIRST_SHARE,
                false => FURTHER_SHARE,
            };
            if group_count as f64 > most * finer.node_count() as f64 || group_count == 0 {
                let products = system.node_count() as f64 / finer.node_count().max(1) as f64;
                let further = (COARSEST_SHARE * products) as usize;
                return Self {
                    levels,
                    coarsest_steps: (1 + further).min(MOST_COARSEST_STEPS),
                };
            }
            let groups = members(&group_of, group_count);
            let mut member_starts = Rows::with_capacity(groups.len(), group_of.len());
            for group in groups.iter() {
                let nodes = group.iter().map(|&node| node as usize);
                member_starts.push_row(nodes.map(|node| finer.range(node).start));
            }
            let system = finer.of_groups(&groups, &group_of);
            levels.push(Coarser {
                member_starts,
                group_of,
                system,
            });
        }
    }

    /// The correction that is added to a block-Jacobi step, for one `delta`.
    pub(super) fn correction(&self, delta: f64, floor: f64) -> Correction<'_> {
        let works = self.levels.iter().map(|level| {
            let diagonal = level.system.diagonal(delta, floor);
            let zeros = vec![0.0; level.system.size()];
            Work {
                damped_inverse: diagonal.iter().map(|m| DAMPING / m).collect(),
                diagonal,
                right: zeros.clone(),
                z: zeros.clone(),
                x: zeros.clone(),
                product: zeros,
            }
        });
        Correction {
            levels: &self.levels,
            coarsest_steps: self.coarsest_steps,
            delta,
            works: works.collect(),
        }
    }
}

/// The group number of each node. First groups are a node and its neighbours of the same kind, where none of them has a
/// group yet; each remaining node joins a group beside it, or else its remaining neighbours.
fn join_neighbors(system: &EdgeSystem<'_>) -> Vec<u32> {
    const FREE: u32 = u32::MAX;
    let mut group_of = vec![FREE; system.node_count()];
    let mut count = 0;
    for node in 0..system.node_count() {
        let mut around = system.neighbors_alike(node);
        if group_of[node] == FREE && around.all(|other| group_of[other] == FREE) {
            group_of[node] = count;
            for other in system.neighbors_alike(node) {
                group_of[other] = count;
            }
            count += 1;
        }
    }
    // Nodes join groups of the first pass only, so that groups do not grow into long strings.
    let first = group_of.clone();
    for (node, group) in group_of.iter_mut().enumerate() {
        if *group == FREE {
            let mut around = system.neighbors_alike(node).map(|other| first[other]);
            *group = around.find(|&group| group != FREE).unwrap_or(FREE);
        }
    }
    for node in 0..system.node_count() {
        if group_of[node] == FREE {
            group_of[node] = count;
            for other in system.neighbors_alike(node) {
                if group_of[other] == FREE {
                    group_of[other] = count;
                }
            }
            count += 1;
        }
    }
    group_of
}

/// The nodes of each group, in rising order.
fn members(group_of: &[u32], group_count: usize) -> Rows<u32> {
    let mut nodes: Vec<u32> = (0..group_of.len() as u32).collect();
    nodes.sort_by_key(|&node| group_of[node as usize]);
    let mut groups = Rows::with_capacity(group_count, nodes.len());
    for group in nodes.chunk_by(|&a, &b| group_of[a as usize] == group_of[b as usize]) {
        groups.push_row(group.iter().copied());
    }
    groups
}

/// Buffers of one level.
#[derive(Debug)]
struct Work {
    diagonal: Vec<f64>,
    damped_inverse: Vec<f64>,
    right: Vec<f64>,
    z: Vec<f64>,
    x: Vec<f64>,
    product: Vec<f64>,
}

/// A symmetric positive definite approximation of the inverse of the first coarser system, applied to numbers of nodes.
#[derive(Debug)]
pub(super) struct Correction<'a> {
    levels: &'a [Coarser<'a>],
    coarsest_steps: usize,
    delta: f64,
    works: Vec<Work>,
}

impl Correction<'_> {
    /// Solves approximately for a residual of the nodes; returns the residual times the solution.
    pub(super) fn apply(&mut self, residual: &[f64]) -> f64 {
        let (Some(level), Some(work)) = (self.levels.first(), self.works.first_mut()) else {
            return 0.0;
        };
        level.restrict(residual, &mut work.right);
        cycle(
            self.levels,
            &mut self.works,
            self.delta,
            self.coarsest_steps,
        );
        let work = &self.works[0];
        work.right.iter().zip(&work.z).map(|(r, z)| r * z).sum()
    }

    /// Adds the numbers of a node's group to those of the node.
    #[inline(always)]
    pub(super) fn add(&self, node: usize, numbers: &mut [f64]) {
        if let (Some(level), Some(work)) = (self.levels.first(), self.works.first()) {
            level.add(node, &work.z, numbers);
        }
    }
}

impl Coarser<'_> {
    /// Sums the numbers of each group's nodes.
    fn restrict(&self, finer: &[f64], sums: &mut [f64]) {
        self.system.for_each_node(sums, |group, sum| {
            sum.fill(0.0);
            for &start in self.member_starts.row(group) {
                for (sum, number) in sum.iter_mut().zip(&finer[start..]) {
                    *sum += number;
                }
            }
        });
    }

    /// Adds the numbers of a node's group to those of the node.
    #[inline(always)]
    fn add(&self, node: usize, of_groups: &[f64], numbers: &mut [f64]) {
        let group = &of_groups[self.system.range(self.group_of[node] as usize)];
        for (number, of_group) in numbers.iter_mut().zip(group) {
            *number += of_group;
        }
    }
}

/// Solves the first system for its `right`, approximately: a Jacobi step, a cycle on the coarser systems for the
/// remaining residual, and another Jacobi step, so that the whole is symmetric.
fn cycle(levels: &[Coarser<'_>], works: &mut [Work], delta: f64, coarsest_steps: usize) {
    let (Some((level, coarser)), Some((work, coarser_works))) =
        (levels.split_first(), works.split_first_mut())
    else {
        return;
    };
    let start = work.right.iter().zip(&work.damped_inverse);
    for (z, (r, m)) in work.z.iter_mut().zip(start) {
        *z = r * m;
    }
    match (coarser.first(), coarser_works.first_mut()) {
        (Some(next), Some(next_work)) => {
            work.multiply(&level.system, delta);
            // The product becomes the remaining residual, which the next system takes.
            for (q, r) in work.product.iter_mut().zip(&work.right) {
                *q = r - *q;
            }
            next.restrict(&work.product, &mut next_work.right);
            cycle(coarser, coarser_works, delta, coarsest_steps);
            let mended = &coarser_works[0].z;
            level
                .system
                .for_each_node(&mut work.z, |node, z| next.add(node, mended, z));
            work.step(&level.system, delta);
        }
        _ => (1..coarsest_steps).for_each(|_| work.step(&level.system, delta)),
    }
}

impl Work {
    /// `product = K z`.
    fn multiply(&mut self, system: &EdgeSystem<'_>, delta: f64) {
        system.expand(&self.z, &mut self.x);
        system.multiply(delta, &self.diagonal, &self.z, &self.x, &mut self.product);
    }

    /// One damped Jacobi step.
    fn step(&mut self, system: &EdgeSystem<'_>, delta: f64) {
        self.multiply(system, delta);
        let left = self.right.iter().zip(&self.product).map(|(r, q)| r - q);
        for ((z, left), m) in self.z.iter_mut().zip(left).zip(&self.damped_inverse) {
            *z += left * m;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_cg::{CgLimits, CgSystem, conjugate_gradients};
    use super::super::edge_system::NodeKind;
    use super::*;

    /// A slot with a diagonal block; the fourth number may not move.
    fn kind(slot: u16, value: f64) -> NodeKind {
        let mut columns = vec![0.0; 16];
        (0..3).for_each(|k| columns[5 * k] = 1.0);
        let values = (0..4).map(|k| value * f64::from(k)).collect();
        NodeKind::new(vec![slot], columns, values)
    }

    /// A strip of two kinds, `count` nodes of each: the kind of each node, and edges of different strengths.
    fn strip(count: u32) -> (Vec<u32>, Vec<([u32; 2], f64)>) {
        let kind_of = (0..2 * count).map(|node| node / count).collect();
        let rungs = (1..2 * count).map(|b| ([b - 1, b], 1.0 + 0.1 * f64::from(b % 5)));
        let skips = (2..2 * count).map(|b| ([b - 2, b], 0.5));
        (kind_of, rungs.chain(skips).collect())
    }

    fn numbers(count: usize, seed: f64) -> Vec<f64> {
        let mut numbers: Vec<f64> = (0..count).map(|at| (seed * at as f64).sin()).collect();
        // Pinned numbers stay 0.
        numbers.iter_mut().skip(3).step_by(4).for_each(|x| *x = 0.0);
        numbers
    }

    fn product(system: &EdgeSystem<'_>, delta: f64, floor: f64, z: &[f64]) -> Vec<f64> {
        let (mut x, mut product) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        system.expand(z, &mut x);
        let diagonal = system.diagonal(delta, floor);
        system.multiply(delta, &diagonal, z, &x, &mut product);
        product
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn groups_hold_one_kind_and_at_least_halve_the_nodes() {
        let kinds = [kind(0, 1.0), kind(0, 2.0)];
        let (kind_of, edges) = strip(200);
        let system = EdgeSystem::new(&kinds, &kind_of, &edges);
        let coarser = CoarseLevels::new(&system);
        assert!(coarser.levels.len() > 1, "{}", coarser.levels.len());
        let first = &coarser.levels[0];
        assert!(first.system.node_count() <= 200, "groups of two or more");
        for (node, &group) in first.group_of.iter().enumerate() {
            let row = first.member_starts.row(group as usize);
            assert!(row.contains(&(4 * node)), "{node} is in its group");
            let kinds = row.iter().map(|start| kind_of[start / 4]);
            assert!(
                kinds.into_iter().all(|k| k == kind_of[node]),
                "group {group}"
            );
        }
        let last = &coarser.levels[coarser.levels.len() - 1];
        assert_eq!(last.system.node_count(), 2, "one for each kind in the end");
    }

    #[test]
    fn a_coarser_system_equals_the_finer_one_when_groups_move_as_one() {
        let kinds = [kind(0, 1.0), kind(0, 2.0)];
        let (kind_of, edges) = strip(40);
        let system = EdgeSystem::new(&kinds, &kind_of, &edges);
        let coarser = CoarseLevels::new(&system);
        let (delta, floor) = (0.3, 1e-3);
        let mut finer = &system;
        for level in &coarser.levels {
            let z = numbers(level.system.size(), 0.7);
            let mut spread = vec![0.0; finer.size()];
            finer.for_each_node(&mut spread, |node, out| level.add(node, &z, out));
            let mut wanted = vec![0.0; z.len()];
            level.restrict(&product(finer, delta, floor, &spread), &mut wanted);
            let found = product(&level.system, delta, floor, &z);
            for (at, (a, b)) in found.iter().zip(&wanted).enumerate() {
                assert!((a - b).abs() < 1e-12, "number {at}: {a} {b}");
            }
            finer = &level.system;
        }
    }

    #[test]
    fn the_correction_is_symmetric_and_positive() {
        let kinds = [kind(0, 1.0), kind(0, 0.0)];
        let (kind_of, edges) = strip(60);
        let system = EdgeSystem::new(&kinds, &kind_of, &edges);
        let coarser = CoarseLevels::new(&system);
        let mut correction = coarser.correction(0.3, 1e-6);
        let mut apply = |r: &[f64]| {
            let product = correction.apply(r);
            let mut z = vec![0.0; r.len()];
            system.for_each_node(&mut z, |node, out| correction.add(node, out));
            assert!((product - dot(r, &z)).abs() < 1e-12 * product, "r · z");
            z
        };
        let [a, b] = [0.37, 1.21].map(|seed| numbers(system.size(), seed));
        let (on_a, on_b) = (apply(&a), apply(&b));
        let (left, right) = (dot(&b, &on_a), dot(&a, &on_b));
        assert!(
            (left - right).abs() < 1e-12 * dot(&a, &on_a),
            "{left} {right}"
        );
        assert!(dot(&a, &on_a) > 0.0 && dot(&b, &on_b) > 0.0, "positive");
    }

    /// One direction of the second kind is held by springs alone, over all its nodes.
    #[test]
    fn coarse_levels_give_the_same_solution_in_fewer_iterations() {
        let kinds = [kind(0, 1.0), kind(0, 0.0)];
        let (kind_of, edges) = strip(400);
        let system = EdgeSystem::new(&kinds, &kind_of, &edges);
        let none = CoarseLevels {
            levels: Vec::new(),
            coarsest_steps: 1,
        };
        let right = numbers(system.size(), 0.37);
        let [with, without] = [&CoarseLevels::new(&system), &none].map(|coarser| {
            let of = CgSystem {
                system: &system,
                coarser,
                delta: 0.3,
                floor: 1e-6,
            };
            let limits = CgLimits {
                relative_tolerance: 1e-12,
                max_iterations: 10_000,
            };
            let mut z = vec![0.0; system.size()];
            let outcome = conjugate_gradients(of, &right, &mut z, limits, |_| true);
            assert!(outcome.relative_residual <= 1e-12, "{outcome:?}");
            (outcome.iterations, z)
        });
        let (fewer, more) = (with.0, without.0);
        assert!(2 * fewer < more, "{fewer} iterations instead of {more}");
        let size = without.1.iter().fold(0.0, |size: f64, z| size.max(z.abs()));
        for (at, (a, b)) in with.1.iter().zip(&without.1).enumerate() {
            assert!((a - b).abs() < 1e-8 * size, "number {at}: {a} {b}");
        }
    }

    #[test]
    fn no_groups_are_made_when_all_neighbors_are_of_other_kinds() {
        let kinds = [kind(0, 1.0), kind(0, 2.0)];
        let kind_of = [0, 1, 0, 1];
        let edges = [([0, 1], 1.0), ([1, 2], 1.0), ([2, 3], 1.0)];
        let system = EdgeSystem::new(&kinds, &kind_of, &edges);
        let coarser = CoarseLevels::new(&system);
        assert!(coarser.levels.is_empty(), "{}", coarser.levels.len());
        assert_eq!(coarser.correction(1.0, 0.0).apply(&[1.0; 16]), 0.0);
        let none = EdgeSystem::new(&kinds, &[], &[]);
        assert!(CoarseLevels::new(&none).levels.is_empty(), "no nodes");
    }
}
