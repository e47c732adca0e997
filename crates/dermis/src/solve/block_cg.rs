//! Conjugate gradients on an [`EdgeSystem`], preconditioned by its block diagonal.
//!
//! In the coordinates of the system the block diagonal is a diagonal, so that the preconditioner
//! is the very block-Jacobi one at the price of a division. Sums over all nodes are taken chunk by
//! chunk in a fixed order: the same bits on any number of threads.

use super::edge_system::EdgeSystem;
use super::small_matrix::on_widest_vectors;
use crate::par;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CgLimits {
    /// Residual over right-hand side, both in the norm of the preconditioner.
    pub(crate) relative_tolerance: f64,
    pub(crate) max_iterations: usize,
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CgOutcome {
    pub(crate) iterations: usize,
    /// As [`CgLimits::relative_tolerance`].
    pub(crate) relative_residual: f64,
}

/// Improves `z` until the system with this `delta` and diagonal is solved.
///
/// `keep_going` is asked before every iteration; when it says no, `z` is left as it is.
pub(crate) fn conjugate_gradients(
    system: &EdgeSystem<'_>,
    delta: f64,
    diagonal: &[f64],
    right: &[f64],
    z: &mut [f64],
    limits: CgLimits,
    keep_going: impl Fn(usize) -> bool,
) -> CgOutcome {
    let size = system.size();
    let inverse: Vec<f64> = diagonal.iter().map(|m| 1.0 / m).collect();
    let scale: f64 = chunk_sum(system, |at| right[at] * right[at] * inverse[at]);
    let mut x = vec![0.0; size];
    let mut product = vec![0.0; size];
    system.for_each_node(&mut x, |node, x| {
        system.kind(node).expand(&z[system.range(node)], x);
    });
    multiply(system, delta, diagonal, z, &x, &mut product);
    let mut residual: Vec<f64> = right.iter().zip(&product).map(|(b, q)| b - q).collect();
    let mut direction = vec![0.0; size];
    let mut rho = chunk_sum(system, |at| residual[at] * residual[at] * inverse[at]);
    let mut beta = 0.0;
    let limit = limits.relative_tolerance.powi(2) * scale;
    let mut iterations = 0;
    while rho > limit && iterations < limits.max_iterations && keep_going(iterations) {
        turn(system, &inverse, &residual, beta, &mut direction, &mut x);
        let curvature = multiply(system, delta, diagonal, &direction, &x, &mut product);
        // Rounding can leave nothing to go along once the residual is down to it.
        if curvature <= 0.0 {
            break;
        }
        let step = rho / curvature;
        let before = rho;
        rho = advance(
            system,
            &inverse,
            step,
            [&direction, &product],
            z,
            &mut residual,
        );
        beta = rho / before;
        iterations += 1;
    }
    CgOutcome {
        iterations,
        relative_residual: if scale > 0.0 {
            (rho / scale).sqrt()
        } else {
            0.0
        },
    }
}

/// The next direction, `M⁻¹r + β d`, and what it is in slots, `x = U d`.
fn turn(
    system: &EdgeSystem<'_>,
    inverse: &[f64],
    residual: &[f64],
    beta: f64,
    direction: &mut [f64],
    x: &mut [f64],
) {
    let pieces = system.split(direction).into_iter().zip(system.split(x));
    let mut chunks: Vec<_> = system.chunks().zip(pieces).collect();
    par::map_mut(&mut chunks, |_, (nodes, (direction, x))| {
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
                    system.kind(node).expand(direction, &mut x[own]);
                }
            },
        )
    });
}

/// `product = K z`, with `x = U z` known; returns `z · K z`.
fn multiply(
    system: &EdgeSystem<'_>,
    delta: f64,
    diagonal: &[f64],
    z: &[f64],
    x: &[f64],
    product: &mut [f64],
) -> f64 {
    let mut chunks: Vec<_> = system.chunks().zip(system.split(product)).collect();
    let sums = par::map_mut(&mut chunks, |_, (nodes, product)| {
        on_widest_vectors(
            #[inline(always)]
            || {
                let offset = system.range(nodes.start).start;
                let mut gathered = Vec::new();
                let mut sum = 0.0;
                for node in nodes.clone() {
                    let range = system.range(node);
                    let product = &mut product[range.start - offset..range.end - offset];
                    gathered.resize(range.len(), 0.0);
                    system.gather(node, x, &mut gathered);
                    system.kind(node).reduce(&gathered, product);
                    for ((q, z), m) in product
                        .iter_mut()
                        .zip(&z[range.clone()])
                        .zip(&diagonal[range])
                    {
                        *q = m * z - delta * *q;
                        sum += z * *q;
                    }
                }
                sum
            },
        )
    });
    sums.iter().sum()
}

/// Goes along the direction: `z += α d`, `r −= α K d`; returns `r · M⁻¹ r`.
fn advance(
    system: &EdgeSystem<'_>,
    inverse: &[f64],
    step: f64,
    [direction, product]: [&[f64]; 2],
    z: &mut [f64],
    residual: &mut [f64],
) -> f64 {
    let pieces = system.split(z).into_iter().zip(system.split(residual));
    let mut chunks: Vec<_> = system.chunks().zip(pieces).collect();
    let sums = par::map_mut(&mut chunks, |_, (nodes, (z, residual))| {
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

/// `Σ term(at)` over all numbers, chunk by chunk.
fn chunk_sum(system: &EdgeSystem<'_>, term: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    let mut chunks: Vec<_> = system.chunks().collect();
    let sums = par::map_mut(&mut chunks, |_, nodes| {
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
        let delta = 0.7;
        let diagonal = system.diagonal(delta, 1e-9);
        let mut right: Vec<f64> = (0..system.size()).map(|at| (at as f64).sin()).collect();
        for node in 0..system.node_count() {
            right[system.range(node).end - 1] = 0.0;
        }
        let mut z = vec![0.0; system.size()];
        let limits = CgLimits {
            relative_tolerance: 1e-12,
            max_iterations: 5_000,
        };
        let outcome =
            conjugate_gradients(&system, delta, &diagonal, &right, &mut z, limits, |_| true);
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
        let again =
            conjugate_gradients(&system, delta, &diagonal, &right, &mut z, limits, |_| true);
        assert!(again.iterations < 3, "a solution is left alone: {again:?}");
    }
}
