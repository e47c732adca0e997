//! How to fit animation space.

use crate::fit::{FitError, InfluenceChoice, bad_option};

/// How to fit animation space.
#[derive(Debug, Clone, PartialEq)]
pub struct AnimSpaceOptions {
    /// Most bones that an automatic influence set may hold; at least 1, default 4. Sets that are
    /// given are used as they are.
    pub max_influences: usize,
    /// Which bones a vertex may use; default automatic.
    pub influences: InfluenceChoice,
    /// What keeps a fit from following its examples too closely; default edges, with `delta` chosen
    /// by held-out error.
    pub smoothing: Smoothing,
    /// What the smoothing pulls towards; default linear blend skinning.
    ///
    /// The papers pull towards zero and name this as the better way. Held-out EE with delta 0.002:
    /// 5.1% against 6.3% on a hand, 6.2% against 6.3% on a tube, and 11.5% against 466% on a body,
    /// where pulling towards zero moves vertices by more than there is to mend.
    pub prior: Prior,
    /// How the global system is solved; default by size.
    pub solver: GlobalSolver,
}

/// What keeps a fit from following its examples too closely.
#[derive(Debug, Clone, PartialEq)]
pub enum Smoothing {
    /// `lambda |p_i|²` for each vertex alone (\[Merry06\] Eq. 17), or `lambda |p_i − prior|²`.
    Ridge {
        /// At least 0, in the model scaled to a unit box; larger stays closer to the prior.
        lambda: f64,
    },
    /// `delta Σ_edges |p_a − p_b|² / length` (\[Merry06\] Eq. 18), of whole vectors or of their
    /// differences from the prior. A bone that one end may not use counts as zero there, so that
    /// influences fade towards the edge of their sets.
    Edges {
        /// At least 0, in the model scaled to a unit box; larger is smoother. The paper used 0.005
        /// and 0.02 towards zero.
        delta: f64,
    },
    /// As [`Smoothing::Edges`], with the best of several deltas on examples held out of the training.
    EdgesByHeldOutError {
        /// What to choose from; default 0.0002, 0.002 and 0.02. With fewer than three training
        /// examples, the middle one is taken.
        deltas: Vec<f64>,
    },
}

/// What smoothing pulls a fit towards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prior {
    /// Zero.
    Zero,
    /// The linear blend skin fitted to the same examples.
    Ssd,
}

/// How the global system is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobalSolver {
    /// A factor for small systems, iterations for others.
    Auto,
    /// Sparse Cholesky: insensitive to conditioning, but the factor outgrows the mesh.
    Cholesky,
    /// Conjugate gradients, preconditioned by one block per vertex: memory linear in influences.
    ConjugateGradients,
}

impl Default for AnimSpaceOptions {
    fn default() -> Self {
        Self {
            max_influences: 4,
            influences: InfluenceChoice::Automatic,
            smoothing: Smoothing::EdgesByHeldOutError {
                deltas: vec![0.0002, 0.002, 0.02],
            },
            prior: Prior::Ssd,
            solver: GlobalSolver::Auto,
        }
    }
}

impl AnimSpaceOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check(&self) -> Result<(), FitError> {
        if self.max_influences == 0 {
            return bad_option("max_influences", "at least 1 bone must be allowed");
        }
        let is_strength = |value: f64| value >= 0.0 && value.is_finite();
        let expected = "expected a number of at least 0";
        match &self.smoothing {
            Smoothing::Ridge { lambda } if !is_strength(*lambda) => bad_option("lambda", expected),
            Smoothing::Edges { delta } if !is_strength(*delta) => bad_option("delta", expected),
            Smoothing::EdgesByHeldOutError { deltas } => match deltas.as_slice() {
                [] => bad_option("deltas", "expected at least one to choose from"),
                deltas if !deltas.iter().all(|&delta| is_strength(delta)) => {
                    bad_option("deltas", "expected numbers of at least 0")
                }
                _ => Ok(()),
            },
            Smoothing::Ridge { .. } | Smoothing::Edges { .. } => Ok(()),
        }
    }
}
