//! How a mesh animation is decomposed.

use crate::fit::{FitError, bad_option};

/// Largest allowed value of [`DecomposeOptions::max_influences`].
const MOST_INFLUENCES: usize = 32;

/// How many bones to find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BoneCount {
    /// This number.
    Exactly(usize),
    /// The fewest that reach an error.
    ForError {
        /// `E_RMS` to reach.
        e_rms: f64,
        /// Most bones to try.
        at_most: usize,
    },
}

/// How the bones of a decomposition may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoneMotion {
    /// Take any affine matrix: the closest fit. Plain glTF holds each bone as two nested nodes.
    #[default]
    Affine,
    /// Only turn and move, as animators and every engine expect.
    Rigid,
}

/// How much time a decomposition may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quality {
    /// A few rounds from one start: a preview.
    Fast,
    /// Four starts, and as many rounds as lower the error quickly.
    #[default]
    Default,
    /// Many starts and many rounds, for the last tenth of the error.
    Best,
}

/// How to decompose.
#[derive(Debug, Clone, PartialEq)]
pub struct DecomposeOptions {
    /// How many bones; default 30.
    pub bones: BoneCount,
    /// How they may move; default any affine matrix.
    pub motion: BoneMotion,
    /// Most bones that move one vertex, 1 to 32; default 4.
    pub max_influences: usize,
    /// Rounds of bones, weights and rest positions in turn; at least 1, default 50. The paper takes
    /// 15.
    pub rounds: usize,
    /// How many starts are tried for a few rounds before the best one goes on; at least 1, default 4. With
    /// more than one start and fewer than 16 bones, the number is multiplied by 16 over the number of bones,
    /// by 3 at most: starts cost less then, and matter more.
    pub starts: usize,
    /// Whether rest positions are fitted too; default yes.
    pub update_rest: bool,
    /// Largest error of reducing the trajectories, as an `E_RMS`; 0 reduces nothing, default 0.5 as in the
    /// paper. Bones are fitted to the full trajectories at the end, which removes most of this error. Rigid
    /// bones are fitted without reduction.
    pub reduction_error: f64,
    /// Ties the weights of neighbours together: at 1, a step from weight 0 to 1 along an edge costs
    /// as much as an error of one `E_RMS` at the vertex. At least 0, default 0.
    pub smoothness: f64,
}

impl Default for DecomposeOptions {
    fn default() -> Self {
        Self {
            bones: BoneCount::Exactly(30),
            motion: BoneMotion::Affine,
            max_influences: 4,
            rounds: 50,
            starts: 4,
            update_rest: true,
            reduction_error: 0.5,
            smoothness: 0.0,
        }
    }
}

/// Most rounds, far beyond where the error still falls.
const MOST_ROUNDS: usize = 1_000_000;
/// Most starts, which are all kept at once.
const MOST_STARTS: usize = 1024;

impl DecomposeOptions {
    /// The options of a quality, everything else as by default.
    pub fn of_quality(quality: Quality) -> Self {
        let default = Self::default();
        match quality {
            Quality::Fast => Self {
                rounds: 5,
                starts: 1,
                ..default
            },
            Quality::Default => default,
            Quality::Best => Self {
                rounds: 240,
                starts: 8,
                reduction_error: 0.2,
                ..default
            },
        }
    }

    /// How many starts are tried with a number of bones.
    pub(super) fn starts_with(&self, bone_count: usize) -> usize {
        match self.starts {
            1 => 1,
            starts => (16 * starts / bone_count.max(1)).clamp(starts, 3 * starts),
        }
    }

    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check(&self) -> Result<(), FitError> {
        match self.bones {
            BoneCount::Exactly(0) | BoneCount::ForError { at_most: 0, .. } => {
                return bad_option("bones", "at least 1 bone must be allowed");
            }
            BoneCount::Exactly(count) | BoneCount::ForError { at_most: count, .. }
                if count > usize::from(u16::MAX) =>
            {
                return bad_option("bones", "a skeleton has at most 65535 bones");
            }
            BoneCount::ForError { e_rms, .. } if !(e_rms > 0.0 && e_rms.is_finite()) => {
                return bad_option("bones", "expected an error above 0 to reach");
            }
            _ => {}
        }
        if !(1..=MOST_INFLUENCES).contains(&self.max_influences) {
            return bad_option("max_influences", "expected 1 to 32 bones per vertex");
        }
        if !(1..=MOST_ROUNDS).contains(&self.rounds) {
            return bad_option("rounds", format!("expected 1 to {MOST_ROUNDS} rounds"));
        }
        if !(1..=MOST_STARTS).contains(&self.starts) {
            return bad_option("starts", format!("expected 1 to {MOST_STARTS} starts"));
        }
        if !(self.reduction_error >= 0.0 && self.reduction_error.is_finite()) {
            return bad_option("reduction_error", "expected a number of at least 0");
        }
        if !(self.smoothness >= 0.0 && self.smoothness.is_finite()) {
            return bad_option("smoothness", "expected a number of at least 0");
        }
        Ok(())
    }
}
