//! Conjugate gradients on an [`EdgeSystem`], preconditioned by its block diagonal and by coarser systems.
//!
//! In the coordinates of the system the block diagonal is a diagonal, so that block-Jacobi preconditioning costs a
//! multiplication. It cannot reduce errors that stretch over many nodes; corrections computed on groups of nodes are
//! added for those ([`CoarseLevels`]). Sums over all nodes are taken chunk by chunk in a fixed order: the same bits on
//! any number of threads.

use super::coarse_levels::{CoarseLevels, Correction};
use super::edge_system::EdgeSystem;
use super::small_matrix::on_widest_vectors;
use crate::par;

/// When the iterations stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CgLimits {
    /// Residual over right-hand side, both in the norm of the inverse block diagonal.
    pub(crate) relative_tolerance: f64,
    pub(crate) max_iterations: usize,
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CgOutcome {
    pub(crate) iterations: usize,
    /// In the norm of [`CgLimits::relative_tolerance`].
    pub(crate) relative_residual: f64,
}

/// The system to solve, for one `delta`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CgSystem<'a> {
    pub(crate) system: &'a EdgeSystem<'a>,
    pub(crate) coarser: &'a CoarseLevels<'a>,
    pub(crate) delta: f64,
    /// As [`EdgeSystem::diagonal`].
    pub(crate) floor: f64,
}

/// Improves `z` until the system with this right-hand side is solved.
///
/// `keep_going` is called before every iteration; when it returns false, `z` keeps its current value.
pub(crate) fn conjugate_gradients(
    of: CgSystem<'_>,
    right: &[f64],
    z: &mut [f64],
    limits: CgLimits,
    keep_going: impl Fn(usize) -> bool + Sync,
) -> CgOutcome {
    // All that follows is many short loops: entering the thread pool for each would cost as much as the loops do.
    par::within_pool(|| {
        let CgSystem { system, delta, .. } = of;
        let size = system.size();
        let diagonal = system.diagonal(delta, of.floor);
        let inverse: Vec<f64> = diagonal.iter().map(|m| 1.0 / m).collect();
        let mut coarse = of.coarser.correction(delta, of.floor);
        let scale = chunk_sum(system, |at| right[at] * right[at] * inverse[at]);
        let mut x = vec![0.0; size];
        let mut product = vec![0.0; size];
        system.expand(z, &mut x);
        system.multiply(delta, &diagonal, z, &x, &mut product);
        let mut residual: Vec<f64> = right.iter().zip(&product).map(|(b, q)| b - q).collect();
        let mut direction = vec![0.0; size];
        let mut left = chunk_sum(system, |at| residual[at] * residual[at] * inverse[at]);
        let mut rho = left + coarse.apply(&residual);
        let mut beta = 0.0;
        let limit = limits.relative_tolerance.powi(2) * scale;
        let mut iterations = 0;
        while left > limit && iterations < limits.max_iterations && keep_going(iterations) {
            let preconditioned = (&inverse[..], &residual[..], &coarse);
            turn(system, preconditioned, beta, &mut direction, &mut x);
            let curvature = system.multiply(delta, &diagonal, &direction, &x, &mut product);
            // Once the residual is down to rounding, the direction may be zero.
            if curvature <= 0.0 {
                break;
            }
            let step = rho / curvature;
            let along = [&direction[..], &product[..]];
            left = advance(system, &inverse, step, along, z, &mut residual);
            let before = rho;
            rho = left + coarse.apply(&residual);
            beta = rho / before;
            iterations += 1;
        }
        CgOutcome {
            iterations,
            relative_residual: if scale > 0.0 {
                (left / scale).sqrt()
            } else {
                0.0
            },
        }
    })
}

/// The next direction, `M⁻¹r + β d`, and the same direction in slots, `x = U d`.
fn turn(
    system: &EdgeSystem<'_>,
    (inverse, residual, coarse): (&[f64], &[f64], &Correction<'_>),
    beta: f64,
    direction: &mut [f64],
    x: &mut [f64],
) {
    let pieces = system.split(direction).into_iter().zip(system.split(x));
    system.map_chunks(pieces, |nodes, (direction, x)| {
        on_widest_vectors(
            #[inline(always)]
            || {
                let offset = system.range(nodes.start).start;
                for node in nodes.clone() {
                    let range = system.range(node);
                    let own = range.start - offset..range.end - offset;
                    let direction = &mut direction[own.clone()];
                    for ((d, r), m) in direction
                        .iter_mut()
                        .zip(&residual[range.clone()])
                        .zip(&inverse[range])
                    {
                        *d = r * m + beta * *d;
                    }
                    coarse.add(node, direction);
                    system.kind(node).expand(direction, &mut x[own]);
                }
            },
        )
    });
}

/// Steps along the direction: `z += α d`, `r −= α K d`; returns `r · M⁻¹ r`.
fn advance(
    system: &EdgeSystem<'_>,
    inverse: &[f64],
    step: f64,
    [direction, product]: [&[f64]; 2],
    z: &mut [f64],
    residual: &mut [f64],
) -> f64 {
    let pieces = system.split(z).into_iter().zip(system.split(residual));
    let sums = system.map_chunks(pieces, |nodes, (z, residual)| {
        on_widest_vectors(
            #[inline(always)]
            || {
                let range = system.range(nodes.start).start..system.range(nodes.end - 1).end;
                let mut sum = 0.0;
                for (z, d) in z.iter_mut().zip(&direction[range.clone()]) {
                    *z += step * d;
                }
                for (r, q) in residual.iter_mut().zip(&product[range.clone()]) {
                    *r -= step * q;
                }
                for (r, m) in residual.iter().zip(&inverse[range]) {
                    sum += r * r * m;
                }
                sum
            },
        )
    });
    sums.iter().sum()
}

/// `Σ term(at)` over all positions in the vector, chunk by chunk.
fn chunk_sum(system: &EdgeSystem<'_>, term: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    let sums = system.map_chunks(std::iter::repeat(()), |nodes, _| {
        let range = system.range(nodes.start).start..system.range(nodes.end - 1).end;
        range.map(&term).sum::<f64>()
    });
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::super::edge_system::NodeKind;
    use super::*;

    /// A slot with a diagonal block; the fourth number may not move.
    fn kind(slots: &[u16], value: f64) -> NodeKind {
        let size = 4 * slots.len();
        let mut columns = vec![0.0; size * size];
        for k in 0..size - 1 {
            columns[k * size + k] = 1.0;
        }
        let values = (0..size).map(|k| value * (1.0 + k as f64)).collect();
        NodeKind::new(slots.to_vec(), columns, values)
    }

    /// ```text
    ///  0 --- 1 --- 2 --- ... --- 299     slots {3}, {3, 5} and {5} in turn
    /// ```
    #[test]
    fn iterations_and_factor_agree_and_pinned_numbers_stay() {
        let kinds = [kind(&[3], 1.0), kind(&[3, 5], 0.0), kind(&[5], 2.0)];
        let count = 300;
        let kind_of: Vec<u32> = (0..count).map(|node| node % 3).collect();
        let edges: Vec<_> = (1..count)
            .map(|b| ([b - 1, b], 1.0 + f64::from(b % 7)))
            .collect();
        let system = EdgeSystem::new(&kinds, &kind_of, &edges);
        assert_eq!(system.size(), 4 * (100 + 200 + 100), "four numbers a slot");
        let (delta, floor) = (0.7, 1e-9);
        let diagonal = system.diagonal(delta, floor);
        let of = CgSystem {
            system: &system,
            coarser: &CoarseLevels::new(&system),
            delta,
            floor,
        };
        let mut right: Vec<f64> = (0..system.size()).map(|at| (at as f64).sin()).collect();
        for node in 0..system.node_count() {
            right[system.range(node).end - 1] = 0.0;
        }
        let mut z = vec![0.0; system.size()];
        let limits = CgLimits {
            relative_tolerance: 1e-12,
            max_iterations: 5_000,
        };
        let outcome = conjugate_gradients(of, &right, &mut z, limits, |_| true);
        assert!(outcome.relative_residual <= 1e-12, "{outcome:?}");
        assert!(outcome.iterations > 0, "{outcome:?}");
        let mut by_factor = right.clone();
        let factor = system.factor(delta, &diagonal).expect("positive definite");
        factor.solve(&mut by_factor);
        for (at, (a, b)) in z.iter().zip(&by_factor).enumerate() {
            assert!((a - b).abs() < 1e-9, "number {at}: {a} {b}");
        }
        for node in 0..system.node_count() {
            assert_eq!(z[system.range(node).end - 1], 0.0, "pinned at node {node}");
        }
        let again = conjugate_gradients(of, &right, &mut z, limits, |_| true);
        assert!(again.iterations < 3, "a solution is left alone: {again:?}");
    }
}
