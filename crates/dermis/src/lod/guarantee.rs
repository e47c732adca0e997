//! Levels that are held to a guarantee: as many steps as it allows.

use super::certify::{GivenSurface, certify};
use super::feet::LevelSurface;
use super::levels::LegalPoseLimits;
use super::model::Model;
use super::simplify::Simplifier;
use super::snapshot::Snapshot;
use super::{LevelTarget, LodError};
use crate::bounds::SkinBounds;
use crate::progress::Progress;
use crate::skin::{Influence, Skin};

/// What is known of a level in all legal poses, and what must hold there.
pub(super) struct Guarantee<'a> {
    /// `None` where nobody asks, and for skins with corrections.
    judge: Option<Judge<'a>>,
}

struct Judge<'a> {
    bounds: SkinBounds<'a>,
    tolerance: Option<f64>,
    /// What moves the points of the given surface.
    given: Vec<Vec<Influence>>,
}

/// A level after some of the steps.
pub(super) struct Made {
    pub(super) snapshot: Snapshot,
    /// How many steps there are.
    pub(super) steps: usize,
    /// The largest error in any legal pose, where that is asked for.
    pub(super) certified: Option<f64>,
}

/// The coarsest level that is allowed.
pub(super) struct Allowed {
    pub(super) made: Made,
    /// Whether the guarantee ended it before all steps were done.
    pub(super) is_held_back: bool,
}

impl Made {
    pub(super) fn meets(&self, target: &LevelTarget) -> bool {
        match target {
            LevelTarget::Triangles(most) => self.snapshot.faces.len() <= *most,
            LevelTarget::Influences(most) => self.snapshot.model.influence_count <= *most,
            LevelTarget::Error(_) => true,
        }
    }
}

impl<'a> Guarantee<'a> {
    pub(super) fn new(
        skin: &'a Skin,
        model: &Model,
        legal: Option<LegalPoseLimits<'_>>,
    ) -> Result<Self, LodError> {
        let judge = match legal.filter(|_| skin.coefficients.is_empty()) {
            Some(legal) => Some(Judge {
                bounds: SkinBounds::new(skin, legal.limits)?,
                tolerance: legal.tolerance,
                given: rows(model, 0..model.vertices.len() as u32),
            }),
            None => None,
        };
        Ok(Self { judge })
    }

    /// The level after all steps that were taken, or after as many beyond `least` as the tolerance allows; `None` when it
    /// allows none.
    pub(super) fn farthest_allowed(
        &self,
        simplifier: &Simplifier,
        least: usize,
        progress: &dyn Progress,
    ) -> Result<Option<Allowed>, LodError> {
        let made = self.made(simplifier, simplifier.operations.len());
        let tolerance = self.judge.as_ref().and_then(|judge| judge.tolerance);
        let is_held_back =
            matches!((made.certified, tolerance), (Some(error), Some(most)) if error > most);
        let made = match tolerance.filter(|_| is_held_back) {
            Some(most) => self.halved(simplifier, least, most, progress)?,
            None => Some(made),
        };
        Ok(made.map(|made| Allowed { made, is_held_back }))
    }

    /// Halving finds a number of steps that is allowed while a few more are not; all of them are not.
    fn halved(
        &self,
        simplifier: &Simplifier,
        least: usize,
        tolerance: f64,
        progress: &dyn Progress,
    ) -> Result<Option<Made>, LodError> {
        let all = simplifier.operations.len() - least;
        let enough = all / 256 + 1;
        let (mut allowed, mut too_many) = (least, least + all);
        let mut found = None;
        while too_many - allowed > enough {
            if !progress.report("holding the guarantee", allowed - least, all) {
                return Err(LodError::Stopped);
            }
            let middle = allowed + (too_many - allowed) / 2;
            let tried = self.made(simplifier, middle);
            match tried.certified.is_some_and(|error| error <= tolerance) {
                true => (allowed, found) = (middle, Some(tried)),
                false => too_many = middle,
            }
        }
        Ok(found)
    }

    /// The level after some of the steps, its points at their best places.
    fn made(&self, simplifier: &Simplifier, steps: usize) -> Made {
        let mut snapshot = Snapshot::after(simplifier, steps);
        if simplifier.options.collapse {
            let (given, samples) = (&simplifier.given, &simplifier.samples);
            snapshot.polish(given, samples, &simplifier.blending);
            snapshot.anchor_textures(given, &samples.weights);
        }
        let judge = self.judge.as_ref();
        let certified = judge.map(|judge| judge.certified(&snapshot, simplifier));
        Made {
            snapshot,
            steps,
            certified,
        }
    }
}

impl Judge<'_> {
    fn certified(&self, snapshot: &Snapshot, simplifier: &Simplifier) -> f64 {
        let weights = &simplifier.samples.weights;
        let level = LevelSurface::new(&snapshot.faces, &snapshot.positions, weights);
        let start = |p: &u32| snapshot.number[*p as usize];
        let went_to: Vec<u32> = snapshot.went_to.iter().map(start).collect();
        let given = GivenSurface {
            faces: &simplifier.given.faces,
            positions: &simplifier.given.positions,
            rows: &self.given,
            went_to: &went_to,
        };
        let level_rows = rows(&snapshot.model, snapshot.points.iter().copied());
        certify(&given, &level, &level_rows, &self.bounds)
    }
}

fn rows(model: &Model, points: impl Iterator<Item = u32>) -> Vec<Vec<Influence>> {
    let own = points.map(|p| &model.vertices[p as usize]);
    own.map(|vertex| vertex.influences.clone()).collect()
}
