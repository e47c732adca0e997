//! All vertices at once: data terms joined by the mesh's edges.

use std::sync::atomic::{AtomicBool, Ordering};

use super::GlobalSolver;
use super::problem::Problem;
use crate::fit::FitError;
use crate::progress::Progress;
use crate::solve::{CgLimits, CgSystem, CoarseLevels, EdgeSystem, conjugate_gradients};

/// Share of the largest eigenvalue that is added everywhere.
///
/// Where all vertices may use the same bones, a direction that is zero in every pose is not determined: all
/// vertices could move along it together without stretching an edge. This term determines it.
const FLOOR: f64 = 1e-10;

/// Unknowns up to which `Auto` takes a factor.
///
/// Not tuned: a factor this small costs milliseconds and is exact for any conditioning. At
/// 80,000 unknowns iterations are ten times as fast and more.
const CHOLESKY_SIZE: usize = 2_000;

/// Residual of a solution that is kept, over the right-hand side.
pub(super) const FINAL_TOLERANCE: f64 = 1e-9;

/// The system of `Smoothing::Edges` for any number of deltas.
pub(super) struct Global<'a> {
    problem: &'a Problem<'a>,
    system: EdgeSystem<'a>,
    coarser: CoarseLevels<'a>,
    /// The pull of the springs at `δ = 1`, in the kinds' coordinates.
    spring_pull: Vec<f64>,
}

impl<'a> Global<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, edges: &[([u32; 2], f64)]) -> Self {
        let system = EdgeSystem::new(&problem.kinds.kinds, &problem.kinds.kind_of, edges);
        let mut spring_pull = vec![0.0; system.size()];
        if !problem.pulls_to_offset {
            // The springs are between whole vectors, so the offsets stretch them too.
            let forces = system.spring_forces(&problem.offset);
            system.for_each_node(&mut spring_pull, |i, pull| {
                system.kind(i).reduce(&forces[system.range(i)], pull);
                pull.iter_mut().for_each(|pull| *pull = -*pull);
            });
        }
        Self {
            problem,
            coarser: CoarseLevels::new(&system),
            system,
            spring_pull,
        }
    }

    /// Minimises the data term plus `δ Σ_edges |q_a − q_b|² / length` (\[Merry06\] Eq. 18).
    ///
    /// `start` is a solution for another delta; it speeds up the iterations, which end when the
    /// residual is below `relative_tolerance` of the right-hand side.
    pub(super) fn solve(
        &self,
        delta: f64,
        solver: GlobalSolver,
        start: Option<Vec<f64>>,
        relative_tolerance: f64,
        progress: &dyn Progress,
    ) -> Result<Vec<f64>, FitError> {
        let system = &self.system;
        let floor = FLOOR * self.problem.kinds.largest;
        let mut right: Vec<f64> = self
            .problem
            .pull
            .iter()
            .zip(&self.spring_pull)
            .map(|(data, spring)| data + delta * spring)
            .collect();
        let direct = match solver {
            GlobalSolver::Auto => system.size() <= CHOLESKY_SIZE,
            GlobalSolver::Cholesky => true,
            GlobalSolver::ConjugateGradients => false,
        };
        const STAGE: &str = "solving";
        if !progress.report(STAGE, 0, 1) {
            return Err(FitError::Stopped);
        }
        if direct && let Ok(factor) = system.factor(delta, &system.diagonal(delta, floor)) {
            factor.solve(&mut right);
            return Ok(right);
        }
        let limits = CgLimits {
            relative_tolerance,
            max_iterations: 20_000,
        };
        let stopped = AtomicBool::new(false);
        let keep_going = |iteration: usize| {
            if iteration.is_multiple_of(10) && !progress.report(STAGE, 0, 1) {
                stopped.store(true, Ordering::Relaxed);
            }
            !stopped.load(Ordering::Relaxed)
        };
        let mut z = start.unwrap_or_else(|| vec![0.0; system.size()]);
        let of = CgSystem {
            system,
            coarser: &self.coarser,
            delta,
            floor,
        };
        conjugate_gradients(of, &right, &mut z, limits, keep_going);
        match stopped.into_inner() {
            true => Err(FitError::Stopped),
            false => Ok(z),
        }
    }
}
