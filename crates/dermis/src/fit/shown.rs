//! How stock engines show a fitted skin, and how far that is from the examples.
//!
//! A player that supports only plain glTF blends matrices with at most four weights per vertex, plays the
//! bones and morph weights that were baked into clips, and ignores everything else in a file. So it shows
//! linear blend skins of up to four influences exactly, however their bones and shapes are computed, and a
//! stand-in for every other skin. The stand-in has an error of its own, which does not follow from the error
//! of the model.

use glam::DVec3;

use super::report::{FitReport, HeldOut};
use super::{ExactSsd, FitError, PlainFallback, exact_ssd, plain_fallback};
use crate::example::ExampleSet;
use crate::measure::{Measures, measure_predictions};
use crate::progress::Progress;
use crate::rig::Pose;
use crate::skin::{Skin, SkinError, SsdProgram, VertexProgram};

/// Influences that every player reads.
pub const ENGINE_INFLUENCES: usize = 4;

/// What a player of plain glTF shows for a skin.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// The skin itself.
    Itself,
    /// Its four largest weights of each vertex, scaled to sum to 1.
    FourWeights(Skin),
    /// A linear blend skin that was fitted to it.
    StandIn {
        /// That skin, posed as the model is.
        skin: Skin,
        /// How it was found, and how far it is from the model.
        fallback: PlainFallback,
    },
    /// The linear blend skin that equals it, in players that read every weight.
    Exact(ExactSsd),
}

/// What engines show for a fit, measured like the fit itself.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineReport {
    /// What they show for the skin that was fitted to all examples.
    pub shown: Shown,
    /// Its error on all examples.
    pub overall: Measures,
    /// Error on held-out examples (kept from the fit and used only to test it) of what they show for the
    /// skins fitted without them; `None` when none were held out.
    pub held_out: Option<Measures>,
}

impl EngineReport {
    /// Measures on the held-out examples; on all examples when none were held out.
    pub fn tested(&self) -> &Measures {
        self.held_out.as_ref().unwrap_or(&self.overall)
    }
}

impl Shown {
    /// What players show for a skin; a stand-in is fitted in the given poses.
    ///
    /// With `plain_exact`, animation space becomes the equal linear blend skin over more joints.
    ///
    /// # Errors
    /// As [`plain_fallback`] and [`exact_ssd`].
    pub fn of(
        skin: &Skin,
        poses: &[Pose],
        plain_exact: bool,
        progress: &dyn Progress,
    ) -> Result<Self, FitError> {
        Ok(match &skin.program {
            VertexProgram::Ssd(ssd) if ssd.weights.longest() <= ENGINE_INFLUENCES => Self::Itself,
            VertexProgram::Ssd(ssd) => {
                Self::FourWeights(with_program(skin, ssd.largest_weights(ENGINE_INFLUENCES)))
            }
            VertexProgram::Linear(_) if plain_exact => Self::Exact(exact_ssd(skin, poses)?),
            _ => {
                // Shapes are added to the stand-in as they are to the skin itself.
                let below = skin.without_drivers();
                let fallback = plain_fallback(&below, poses, ENGINE_INFLUENCES, progress)?;
                let program = SsdProgram {
                    corrections: skin.program.rest_corrections(&skin.skeleton)?,
                    ..fallback.program.clone()
                };
                Self::StandIn {
                    skin: with_program(skin, program),
                    fallback,
                }
            }
        })
    }

    /// The skin that players move.
    pub fn skin<'a>(&'a self, model: &'a Skin) -> &'a Skin {
        match self {
            Self::Itself => model,
            Self::FourWeights(skin) | Self::StandIn { skin, .. } => skin,
            Self::Exact(exact) => &exact.skin,
        }
    }

    fn evaluate(&self, model: &Skin, pose: &Pose) -> Result<Vec<DVec3>, SkinError> {
        match self {
            Self::Exact(exact) => exact.skin.evaluate(&exact.pose(pose)),
            _ => self.skin(model).evaluate(pose),
        }
    }
}

/// Measures what stock engines show for a fit, on all examples and on held-out ones.
///
/// Stand-ins see the same examples as their skins: the stand-in of the final skin is fitted in the poses of
/// all examples, the others in the poses that their skins were fitted to.
///
/// # Errors
/// As [`Shown::of`], and [`FitError::Skin`] when the examples' poses do not fit a skin.
pub fn engine_report(
    set: &ExampleSet,
    fitted: &FitReport,
    plain_exact: bool,
    progress: &dyn Progress,
) -> Result<EngineReport, FitError> {
    let everything: Vec<usize> = (0..set.examples().len()).collect();
    let shown = Shown::of(
        &fitted.skin,
        &poses(set, &everything),
        plain_exact,
        progress,
    )?;
    let overall = match &shown {
        Shown::Itself => fitted.overall.total.clone(),
        shown => {
            let pose = |k: usize| &set.examples()[k].pose;
            measure_predictions(set, &everything, |k| shown.evaluate(&fitted.skin, pose(k)))?.total
        }
    };
    let held_out = match &fitted.held_out {
        Some(held_out) => Some(shown_held_out(set, held_out, plain_exact, progress)?),
        None => None,
    };
    Ok(EngineReport {
        shown,
        overall,
        held_out,
    })
}

/// Error on held-out examples of what engines show for the skins fitted without them.
pub(super) fn shown_held_out(
    set: &ExampleSet,
    held_out: &HeldOut,
    plain_exact: bool,
    progress: &dyn Progress,
) -> Result<Measures, FitError> {
    let mut shown = Vec::new();
    for (skin, answered) in held_out.folds() {
        let is_training = |k: &usize| !answered.contains(k);
        let training: Vec<usize> = (0..set.examples().len()).filter(is_training).collect();
        let of_skin = match (&skin.program, plain_exact) {
            // The exact form moves exactly like the model.
            (VertexProgram::Linear(_), true) => Shown::Itself,
            _ => Shown::of(skin, &poses(set, &training), false, progress)?,
        };
        shown.push((skin, of_skin, answered));
    }
    if shown
        .iter()
        .all(|(_, of_skin, _)| *of_skin == Shown::Itself)
    {
        return Ok(held_out.measured.total.clone());
    }
    let answered = |fold: &(&Skin, Shown, Vec<usize>)| fold.2.clone();
    let unseen: Vec<usize> = shown.iter().flat_map(answered).collect();
    let measured = measure_predictions(set, &unseen, |k| {
        let fold = shown.iter().find(|(.., answered)| answered.contains(&k));
        let (skin, of_skin, _) = fold.expect("every unseen example is answered");
        of_skin.evaluate(skin, &set.examples()[k].pose)
    })?;
    Ok(measured.total)
}

fn poses(set: &ExampleSet, which: &[usize]) -> Vec<Pose> {
    let pose = |&k: &usize| set.examples()[k].pose.clone();
    which.iter().map(pose).collect()
}

fn with_program(skin: &Skin, program: SsdProgram) -> Skin {
    Skin {
        program: VertexProgram::Ssd(program),
        ..skin.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Split;
    use crate::fit::{Method, evaluate_fit};
    use crate::progress::Silent;
    use crate::rig::BoneId;
    use crate::skin::Weight;
    use crate::synth::{ArmOptions, TubeOptions, arm, arm_motion, tube};

    fn small_arm() -> ExampleSet {
        let options = ArmOptions {
            ring_count: 16,
            segment_count: 8,
            poses: arm_motion(10),
        };
        arm(&options).examples
    }

    fn fitted(set: &ExampleSet, method: &Method, split: &Split) -> FitReport {
        let report = evaluate_fit(set, split, |training| method.fit(set, training, &Silent));
        report.expect("an arm can be fitted")
    }

    #[test]
    fn a_plain_skin_is_shown_exactly_with_its_own_errors() {
        let set = small_arm();
        for key in ["ssd", "pseudo-bones", "psd", "rotational-regression"] {
            let method = Method::from_key(key).expect("a method");
            let report = fitted(&set, &method, &Split::EveryNth(4));
            let shown = engine_report(&set, &report, false, &Silent).expect("measured");
            assert_eq!(shown.shown, Shown::Itself, "{key}");
            assert_eq!(shown.overall, report.overall.total, "{key}");
            let held_out = report.held_out.expect("some were").measured.total;
            assert_eq!(shown.held_out, Some(held_out), "{key}");
        }
    }

    #[test]
    fn a_stand_in_has_an_error_of_its_own_on_held_out_poses() {
        let set = small_arm();
        for key in ["animation-space", "mwe", "dual-quaternion"] {
            let method = Method::from_key(key).expect("a method");
            for split in [Split::EveryNth(4), Split::LeaveOneOut] {
                let report = fitted(&set, &method, &split);
                let shown = engine_report(&set, &report, false, &Silent).expect("measured");
                let model = report
                    .held_out
                    .as_ref()
                    .expect("some were")
                    .measured
                    .total
                    .e_rms;
                let error = shown.tested().e_rms;
                // Blending rigid motions or matrices differs little on a mild bend, and either may be nearer.
                let apart = (error - model).abs();
                assert!(apart > 0.01 * model, "{key}: {error} against {model}");
                assert!(
                    matches!(shown.shown, Shown::StandIn { .. }),
                    "{key} is no linear blend skin"
                );
            }
        }
    }

    #[test]
    fn held_out_poses_are_not_used_to_fit_the_stand_in_that_is_tested_on_them() {
        let set = small_arm();
        let method = Method::from_key("animation-space").expect("a method");
        let report = fitted(&set, &method, &Split::EveryNth(5));
        let found = engine_report(&set, &report, false, &Silent).expect("measured");
        // Computed directly: a stand-in of the skin fitted to the training examples, in their poses alone.
        let training = [0, 1, 2, 3, 5, 6, 7, 8];
        let skin = method.fit(&set, &training, &Silent).expect("fitted").skin;
        let plain = plain_fallback(&skin, &poses(&set, &training), 4, &Silent).expect("fitted");
        let plain = with_program(&skin, plain.program);
        let expected = crate::measure::measure(&plain, &set, &[4, 9]).expect("measured");
        assert_eq!(found.held_out, Some(expected.total), "the same numbers");
    }

    #[test]
    fn weights_beyond_the_fourth_are_lost_and_the_rest_sum_to_one() {
        let tube = tube(&TubeOptions {
            ring_count: 6,
            segment_count: 4,
            bone_count: 6,
            example_count: 2,
        });
        let mut skin = tube.truth;
        let VertexProgram::Ssd(ssd) = &mut skin.program else {
            panic!("the tube is linear blend");
        };
        let weight = |bone: u16| Weight {
            bone: BoneId(bone),
            weight: f64::from(bone + 1) / 21.0,
        };
        let row: Vec<Weight> = (0..6).map(weight).collect();
        ssd.weights = ssd.rest_positions.iter().map(|_| row.clone()).collect();
        let shown = Shown::of(&skin, &[], false, &Silent).expect("shown");
        let VertexProgram::Ssd(ssd) = &shown.skin(&skin).program else {
            panic!("a linear blend skin");
        };
        for row in ssd.weights.iter() {
            let found: Vec<(u16, f64)> = row.iter().map(|w| (w.bone.0, 18.0 * w.weight)).collect();
            let expected = [(5, 6.0), (4, 5.0), (3, 4.0), (2, 3.0)];
            for ((bone, weight), expected) in found.iter().zip(expected) {
                assert_eq!(*bone, expected.0, "the largest first");
                assert!((weight - expected.1).abs() < 1e-12, "{found:?}");
            }
            assert_eq!(row.len(), 4, "four of six");
        }
    }
}
