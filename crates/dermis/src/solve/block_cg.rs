//! Conjugate gradients on an [`EdgeSystem`], preconditioned by its block diagonal.
//!
//! In the coordinates of the system the block diagonal is a diagonal, so that the preconditioner
//! is the very block-Jacobi one at the price of a division. Sums over all nodes are taken chunk by
//! chunk in a fixed order: the same bits on any number of threads.

use super::edge_system::EdgeSystem;
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
    let scale: f64 = chunk_sum(system, |at| right[at] * right[at] / diagonal[at]);
    let mut x = vec![0.0; size];
    let mut product = vec![0.0; size];
    system.for_each_node(&mut x, |node, x| {
        system.kind(node).expand(&z[system.range(node)], x);
    });
    multiply(system, delta, diagonal, z, &x, &mut product);
    let mut residual: Vec<f64> = right.iter().zip(&product).map(|(b, q)| b - q).collect();
    let mut direction = vec![0.0; size];
    let mut rho = chunk_sum(system, |at| residual[at] * residual[at] / diagonal[at]);
    let mut beta = 0.0;
    let limit = limits.relative_tolerance.powi(2) * scale;
    let mut iterations = 0;
    while rho > limit && iterations < limits.max_iterations && keep_going(iterations) {
        turn(system, diagonal, &residual, beta, &mut direction, &mut x);
        let curvature = multiply(system, delta, diagonal, &direction, &x, &mut product);
        // Rounding can leave nothing to go along once the residual is down to it.
        if curvature <= 0.0 {
            break;
        }
        let step = rho / curvature;
        let before = rho;
        rho = advance(
            system,
            diagonal,
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
    diagonal: &[f64],
    residual: &[f64],
    beta: f64,
    direction: &mut [f64],
    x: &mut [f64],
) {
    let pieces = system.split(direction).into_iter().zip(system.split(x));
    let mut chunks: Vec<_> = system.chunks().zip(pieces).collect();
    par::map_mut(&mut chunks, |_, (nodes, (direction, x))| {
        let offset = system.range(nodes.start).start;
        for node in nodes.clone() {
            let range = system.range(node);
            let own = range.start - offset..range.end - offset;
            let direction = &mut direction[own.clone()];
            for ((d, r), m) in direction
                .iter_mut()
                .zip(&residual[range.clone()])
                .zip(&diagonal[range])
            {
                *d = r / m + beta * *d;
            }
            system.kind(node).expand(direction, &mut x[own]);
        }
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
    });
    sums.iter().sum()
}

/// Goes along the direction: `z += α d`, `r −= α K d`; returns `r · M⁻¹ r`.
fn advance(
    system: &EdgeSystem<'_>,
    diagonal: &[f64],
    step: f64,
    [direction, product]: [&[f64]; 2],
    z: &mut [f64],
    residual: &mut [f64],
) -> f64 {
    let pieces = system.split(z).into_iter().zip(system.split(residual));
    let mut chunks: Vec<_> = system.chunks().zip(pieces).collect();
    let sums = par::map_mut(&mut chunks, |_, (nodes, (z, residual))| {
        let range = system.range(nodes.start).start..system.range(nodes.end - 1).end;
        let mut sum = 0.0;
        for (at, (z, r)) in range.zip(z.iter_mut().zip(residual.iter_mut())) {
            *z += step * direction[at];
            *r -= step * product[at];
            sum += *r * *r / diagonal[at];
        }
        sum
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
