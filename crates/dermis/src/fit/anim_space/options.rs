//! How to fit animation space.

use crate::fit::method::{
    MethodInfo, MethodOption, MethodOptions, OptionKind, OptionOf, Promises, StockPlayers, Weights,
    describe, number, set, word_or,
};
use crate::fit::{FitError, InfluenceChoice, bad_option, check_max_influences};

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

pub(in crate::fit) static INFO: MethodInfo = MethodInfo {
    key: "animation-space",
    aliases: &[],
    title: "animation space",
    summary: "four numbers per influence instead of one",
    use_when: "the run-time is yours and should stay as fast as linear blend skinning",
    promises: Promises {
        turns_with_the_character: true,
        is_linear: true,
        weights: Weights::SumToOne,
        in_stock_players: StockPlayers::StandInOrExact,
        meets_examples_with: &[],
    },
};

/// The word for what held-out error decides.
const AUTO: &str = "auto";
/// The word for smoothing that is not a ridge's.
const NONE: &str = "none";

const TABLE: &[OptionOf<AnimSpaceOptions>] = &[
    OptionOf {
        name: "delta",
        kind: OptionKind::Number { word: Some(AUTO) },
        help: "Smoothing along edges; larger is smoother, auto is the best on examples kept from the fit",
        instead_of: None,
        get: |options| match &options.smoothing {
            Smoothing::Edges { delta } => delta.to_string(),
            Smoothing::EdgesByHeldOutError { .. } => AUTO.to_owned(),
            Smoothing::Ridge { .. } => NONE.to_owned(),
        },
        set: |options, text| {
            options.smoothing = match word_or(AUTO, text, number)? {
                Some(delta) => Smoothing::Edges { delta },
                None => AnimSpaceOptions::default().smoothing,
            };
            Some(())
        },
    },
    OptionOf {
        name: "lambda",
        kind: OptionKind::Number { word: Some(NONE) },
        help: "Smoothing of each vertex alone, by a pull towards linear blend skinning or another prior; larger pulls more",
        instead_of: Some("delta"),
        get: |options| match options.smoothing {
            Smoothing::Ridge { lambda } => lambda.to_string(),
            _ => NONE.to_owned(),
        },
        set: |options, text| {
            options.smoothing = match word_or(NONE, text, number)? {
                Some(lambda) => Smoothing::Ridge { lambda },
                None => AnimSpaceOptions::default().smoothing,
            };
            Some(())
        },
    },
    OptionOf {
        name: "prior",
        kind: OptionKind::Words(&["lbs", "zero"]),
        help: "What smoothing pulls towards: the linear blend skin of the same examples, or zero as in the papers",
        instead_of: None,
        get: |options| match options.prior {
            Prior::Ssd => "lbs".to_owned(),
            Prior::Zero => "zero".to_owned(),
        },
        set: |options, text| {
            options.prior = match text {
                "lbs" | "ssd" => Prior::Ssd,
                "zero" => Prior::Zero,
                _ => return None,
            };
            Some(())
        },
    },
];

impl MethodOptions for AnimSpaceOptions {
    fn check(&self) -> Result<(), FitError> {
        check_max_influences(self.max_influences)?;
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

    fn max_influences(&self) -> usize {
        self.max_influences
    }

    fn set_max_influences(&mut self, max_influences: usize) {
        self.max_influences = max_influences;
    }

    fn options(&self) -> Vec<MethodOption> {
        describe(self, TABLE)
    }

    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), FitError>> {
        set(self, TABLE, name, text)
    }

    fn influences_mut(&mut self) -> Option<&mut InfluenceChoice> {
        Some(&mut self.influences)
    }
}
