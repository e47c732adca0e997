//! How to fit animation space.

use crate::fit::{FitError, InfluenceChoice};

/// How to fit animation space.
#[derive(Debug, Clone, PartialEq)]
pub struct AnimSpaceOptions {
    /// Most bones that may move one vertex; at least 1, default 4.
    pub max_influences: usize,
    /// Which bones a vertex may use; default automatic.
    pub influences: InfluenceChoice,
    /// What keeps a fit from following its examples too closely; default edges, with `delta` chosen
    /// by held-out error.
    pub smoothing: Smoothing,
    /// What the smoothing pulls towards; default zero, as the papers do.
    pub prior: Prior,
    /// How the global system is solved; default by size.
    pub solver: GlobalSolver,
}

/// What keeps a fit from following its examples too closely.
#[derive(Debug, Clone, PartialEq)]
pub enum Smoothing {
    /// `lambda |p_i|²` for each vertex alone.
    Ridge {
        /// At least 0; larger stays smaller.
        lambda: f64,
    },
    /// `delta Σ_edges |p_a − p_b|² / length`.
    Edges {
        /// At least 0; larger is smoother.
        delta: f64,
    },
    /// As [`Smoothing::Edges`], with the best of several deltas on examples held out of the training.
    EdgesByHeldOutError {
        /// What to choose from.
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
    /// By size.
    Auto,
    /// Sparse Cholesky.
    Cholesky,
    /// Block-preconditioned conjugate gradients.
    ConjugateGradients,
}

impl Default for AnimSpaceOptions {
    fn default() -> Self {
        Self {
            max_influences: 4,
            influences: InfluenceChoice::Automatic,
            smoothing: Smoothing::EdgesByHeldOutError {
                deltas: vec![0.0005, 0.005, 0.05],
            },
            prior: Prior::Zero,
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
        let bad = |option, problem: &str| {
            Err(FitError::BadOption {
                option,
                problem: problem.to_owned(),
            })
        };
        if self.max_influences == 0 {
            return bad("max_influences", "at least 1 bone must be allowed");
        }
        let is_strength = |value: f64| value >= 0.0 && value.is_finite();
        let expected = "expected a number of at least 0";
        match &self.smoothing {
            Smoothing::Ridge { lambda } if !is_strength(*lambda) => bad("lambda", expected),
            Smoothing::Edges { delta } if !is_strength(*delta) => bad("delta", expected),
            Smoothing::EdgesByHeldOutError { deltas } => match deltas.as_slice() {
                [] => bad("deltas", "expected at least one to choose from"),
                deltas if !deltas.iter().all(|&delta| is_strength(delta)) => {
                    bad("deltas", "expected numbers of at least 0")
                }
                _ => Ok(()),
            },
            Smoothing::Ridge { .. } | Smoothing::Edges { .. } => Ok(()),
        }
    }
}
