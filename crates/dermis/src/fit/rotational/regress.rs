//! From the motion of a patch in the examples to a predictor of it: which joint, how much of its turn, about
//! which axis, and the remaining stretch.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::readings::Readings;
use super::ridge::{Outputs, Ridge};
use crate::math::nearest_rotation;
use crate::measure::positive_or_one;
use crate::rig::{BoneId, PatchPredictor, PredictedTurn, blend};

/// A turn is exact when it is off by no more than this in the mean, in radians (0.05°).
const EXACT_RAD: f64 = 1e-3;
/// Pull of the axis offset towards zero, as a share of the data's: it decides what the data do not determine,
/// as for a joint that turned about one axis only.
const OFFSET_PRIOR: f64 = 1e-3;
/// Most that a patch turns with a joint, as a share of its angle. Skin turns as much as its bones or less. A
/// larger share fits the examples only by chance, and a joint that hardly turned in the examples would throw
/// skin about in other poses.
const MOST_SHARE: f64 = 1.5;
/// Steps by which shares of a turn are changed to see whether the error falls.
const SHARE_STEPS: [f64; 6] = [0.08, 0.04, 0.02, 0.01, 0.005, 0.0025];
/// A patch of one vertex, or of none, has no extent: it counts as so large, as a share of how far from the origin it
/// gets.
const LEAST_RADIUS: f64 = 1e-6;
/// How many joints, the best by their turns alone, are tried with a regression of the remainder.
const FIRST_JOINTS: usize = 3;

/// A patch of skin in all examples, the rest pose first.
pub(super) struct PatchMotion {
    /// The gradient, and where the middle of the patch is.
    pub(super) motions: Vec<DAffine3>,
    /// How far its points are from the middle in the rest pose, root mean square.
    pub(super) radius: f64,
    /// The bones that move it in linear blend skinning, with weights that sum to 1.
    pub(super) bones: Vec<(BoneId, f64)>,
}

/// Fits a predictor to the motion of one patch.
///
/// Every joint is tried, with the patch's turns seen from the bone that the joint turns in. The remainder of
/// the best ones is fitted to a second joint if that explains more than chance would (\[Wang07\] §3.2.2
/// always takes two). The frame of linear blend skinning is tried too, which is hard to beat where skin
/// nearly follows it. The remainder of each candidate is regressed on turns of joints, and the candidate that
/// best predicts left-out examples is kept.
pub(super) fn fit_patch(readings: &Readings, patch: &PatchMotion) -> PatchPredictor {
    let rotations: Vec<DQuat> = (patch.motions.iter())
        .map(|d| DQuat::from_mat3(&nearest_rotation(d.matrix3)).normalize())
        .collect();
    let mut tried: Vec<(usize, TurnFit, Vec<DVec3>)> = (0..readings.joints.len())
        .map(|j| {
            let frame = &readings.rotation[readings.joints[j].parent.index()];
            let locals = frame.iter().zip(&rotations);
            let targets = vectors(locals.map(|(a, r)| a.conjugate() * *r));
            let targets = readings.tree.follow(&targets);
            (
                j,
                fit_turn(&readings.turns[j], &targets, MOST_SHARE),
                targets,
            )
        })
        .collect();
    // Ties go to the first, as everywhere.
    tried.sort_by(|a, b| a.1.squared_error.total_cmp(&b.1.squared_error));
    tried.truncate(FIRST_JOINTS);
    let about_axes: Vec<(PatchPredictor, Vec<Vec<usize>>)> = (tried.iter())
        .map(|(joint, _, targets)| {
            let predictor = turning_about_axis(readings, patch, *joint, targets);
            (predictor, sets_around(readings, *joint, None))
        })
        .collect();
    let turning = tried.into_iter().map(|(first, fit, targets)| {
        let mut turns = vec![fit.turn(first)];
        turns.extend(second_turn(readings, &turns[0], &fit, &targets));
        let second = turns.get(1).map(|turn| usize::from(turn.joint));
        let sets = sets_around(readings, first, second);
        (turning_with(readings, first, turns), sets)
    });
    let blended = PatchPredictor {
        frame: patch.bones.clone(),
        ..PatchPredictor::rigid(BoneId(0), DVec3::ZERO)
    };
    let nearby = readings.joints_of(&patch.bones);
    let mut pairs: Vec<Vec<usize>> = vec![Vec::new()];
    for (n, &a) in nearby.iter().enumerate() {
        pairs.push(vec![a]);
        pairs.extend(nearby[n + 1..].iter().map(|&b| vec![a, b]));
    }
    let starts = turning.chain(about_axes).chain([(blended, pairs)]);
    let fitted = starts.map(|(mut predictor, joints)| {
        let error = fit_rest(readings, patch, &joints, &mut predictor);
        (predictor, error)
    });
    let best = fitted.min_by(|a, b| a.1.total_cmp(&b.1));
    best.expect("the last is always there").0
}

/// A patch that turns in the frame of a joint's parent, about the joint.
fn turning_with(readings: &Readings, joint: usize, turns: Vec<PredictedTurn>) -> PatchPredictor {
    PatchPredictor {
        pivot: readings.pivots[joint],
        turns,
        ..PatchPredictor::rigid(readings.joints[joint].parent, DVec3::ZERO)
    }
}

/// Joints that the stretch of a patch may depend on when it turns with one: none, that one, and it with another.
fn sets_around(readings: &Readings, first: usize, second: Option<usize>) -> Vec<Vec<usize>> {
    let others = second.into_iter().chain(readings.joints_around(first));
    let pairs = others.map(|other| vec![first, other]);
    [Vec::new(), vec![first]].into_iter().chain(pairs).collect()
}

/// A patch that takes a share of a joint's turn about the joint's own axis, with the share that gives the
/// smallest error.
///
/// Skin that twists is a turn by `s θ` about the axis times a shear that is linear in `θ`: exactly this form.
/// The rotation nearest to such a motion is neither about the axis nor linear in `θ`, so a turn fitted to it
/// is neither.
fn turning_about_axis(
    readings: &Readings,
    patch: &PatchMotion,
    joint: usize,
    targets: &[DVec3],
) -> PatchPredictor {
    let pairs = || readings.turns[joint].iter().zip(targets);
    let along: f64 = pairs().map(|(turn, target)| turn.dot(*target)).sum();
    let squared: f64 = pairs().map(|(turn, _)| turn.length_squared()).sum();
    let start = (along / positive_or_one(squared)).clamp(-MOST_SHARE, MOST_SHARE);
    let sets = [Vec::new(), vec![joint]];
    let with_share = |scale: f64| {
        let turn = PredictedTurn {
            joint: joint as u16,
            scale,
            offset: DQuat::IDENTITY,
        };
        let mut predictor = turning_with(readings, joint, vec![turn]);
        let error = fit_rest(readings, patch, &sets, &mut predictor);
        (error, scale, predictor)
    };
    let mut best = with_share(start);
    for step in SHARE_STEPS {
        for scale in [best.1 - step, best.1 + step] {
            let trial = with_share(scale.clamp(-MOST_SHARE, MOST_SHARE));
            if trial.0 < best.0 {
                best = trial;
                break;
            }
        }
    }
    best.2
}

/// The turn of a second joint, if it explains more of the first one's remainder than chance would.
fn second_turn(
    readings: &Readings,
    first: &PredictedTurn,
    fit: &TurnFit,
    targets: &[DVec3],
) -> Option<PredictedTurn> {
    let count = targets.len();
    if fit.squared_error <= EXACT_RAD * EXACT_RAD * count as f64 {
        return None;
    }
    let joint = usize::from(first.joint);
    let residual = |k: usize| {
        let predicted = DQuat::from_scaled_axis(first.vector(readings.turns[joint][k]));
        predicted.conjugate() * DQuat::from_scaled_axis(targets[k])
    };
    let residual = readings.tree.follow(&vectors((0..count).map(residual)));
    let (second, better) = (0..readings.joints.len())
        .filter(|&j| j != joint)
        .map(|j| (j, fit_turn(&readings.turns[j], &residual, MOST_SHARE)))
        .min_by(|a, b| a.1.squared_error.total_cmp(&b.1.squared_error))?;
    let before: f64 = residual.iter().map(|r| r.length_squared()).sum();
    is_worth_it(before, better.squared_error, count, readings.joints.len())
        .then(|| better.turn(second))
}

fn vectors(rotations: impl Iterator<Item = DQuat>) -> Vec<DVec3> {
    rotations
        .map(|q| (if q.w < 0.0 { -q } else { q }).to_scaled_axis())
        .collect()
}

/// The best `u` and `W` for a joint.
struct TurnFit {
    scale: f64,
    offset: DQuat,
    squared_error: f64,
}

impl TurnFit {
    fn turn(&self, joint: usize) -> PredictedTurn {
        PredictedTurn {
            joint: joint as u16,
            scale: self.scale,
            offset: self.offset,
        }
    }
}

/// Minimises `Σ |u W θ − ρ|²` over the scalar `u` and the rotation `W`.
///
/// \[Wang07\] starts from `u = Σ|θ||ρ| / Σ|θ|²` and alternates. But `W` depends on the sign of `u` only
/// (it makes `trace(Wᵀ u Σ ρθᵀ)` largest), and for a given `W` the best `u` is `Σ ρ·Wθ / Σ|θ|²`, so
/// one step for each sign is the optimum, and the better of the two is the optimum over all. From the
/// paper's start, which is positive, the alternation ends at the positive one after a single step; a test
/// compares. Where `Σ ρθᵀ` turns handedness the negative one is better.
///
/// `u` is no larger than `most`, either way.
fn fit_turn(turns: &[DVec3], targets: &[DVec3], most: f64) -> TurnFit {
    let (mut outer, mut input, mut output, mut lengths) = (DMat3::ZERO, 0.0, 0.0, 0.0);
    for (turn, target) in turns.iter().zip(targets) {
        outer += DMat3::from_cols(*target * turn.x, *target * turn.y, *target * turn.z);
        input += turn.length_squared();
        output += target.length_squared();
        lengths += turn.length() * target.length();
    }
    let mut best = TurnFit {
        scale: 0.0,
        offset: DQuat::IDENTITY,
        squared_error: output,
    };
    for sign in [1.0, -1.0] {
        let prior = DMat3::from_diagonal(DVec3::splat(OFFSET_PRIOR * lengths));
        let offset = nearest_rotation(outer * sign + prior);
        // trace(Wᵀ Σ ρθᵀ) = Σ ρ·Wθ.
        let along = (offset.x_axis.dot(outer.x_axis))
            + offset.y_axis.dot(outer.y_axis)
            + offset.z_axis.dot(outer.z_axis);
        let scale = if input > 0.0 { along / input } else { 0.0 };
        let scale = scale.clamp(-most, most);
        let squared_error = (output - 2.0 * scale * along + scale * scale * input).max(0.0);
        // Ties go to the first: a positive share of the turn.
        if squared_error < best.squared_error * (1.0 - 1e-9) {
            best = TurnFit {
                scale,
                offset: DQuat::from_mat3(&offset).normalize(),
                squared_error,
            };
        }
    }
    best
}

/// Whether four more numbers, the best for any of `choices` joints, explain more than chance would: the
/// Bayesian information criterion, with the choice counted as bits of its own.
fn is_worth_it(before: f64, after: f64, examples: usize, choices: usize) -> bool {
    let rows = 3.0 * examples as f64;
    let gain = rows * (before / after.max(1e-300)).ln();
    gain > 4.0 * rows.ln() + 2.0 * (choices as f64).ln()
}

/// Regresses what remains after removing the predictor's frame and turns, `[X | x] = H [inputs; 1]`, and
/// returns the error of left-out examples, with the price of inputs.
///
/// \[Wang07\] §3.3 takes off the patch's own rotation, and regresses the symmetric rest on the turns of the joint
/// and its parent. Taking off the *predicted* rotation lets the same nine numbers correct errors of the
/// turns, and the squares of a turn let skin bulge equally for turns to both sides. Three more numbers place
/// the middle. That is more than a few examples determine, so the regression has a ridge. Several ridges,
/// turns with and without their squares, and the given sets of joints are compared by their error on examples
/// left out one at a time, with a price on inputs.
fn fit_rest(
    readings: &Readings,
    patch: &PatchMotion,
    sets: &[Vec<usize>],
    predictor: &mut PatchPredictor,
) -> f64 {
    let frame = |k: usize| {
        let bones = predictor.frame.iter();
        blend(bones.map(|&(bone, weight)| (readings.motion[bone.index()][k], weight)))
    };
    // At rest: no stretch, and the middle where it is.
    let still = DAffine3::from_translation(patch.motions[0].translation - predictor.pivot);
    let still = still.to_cols_array();
    // For each number, how far an error of 1 moves a point of the patch.
    let reach = patch
        .motions
        .iter()
        .map(|m| m.translation.abs().max_element());
    let least = LEAST_RADIUS * positive_or_one(reach.fold(0.0, f64::max));
    let radius = patch.radius.max(least);
    let levers: [f64; 12] = std::array::from_fn(|c| if c < 9 { 1.0 } else { 1.0 / radius });
    let left: Vec<Outputs> = (0..patch.motions.len())
        .map(|k| {
            let turns: Vec<DVec3> = readings.turns.iter().map(|joint| joint[k]).collect();
            let turned =
                DAffine3::from_rotation_translation(predictor.rotation(&turns), predictor.pivot);
            let left = ((frame(k) * turned).inverse() * patch.motions[k]).to_cols_array();
            std::array::from_fn(|c| (left[c] - still[c]) * levers[c])
        })
        .collect();
    if left.iter().flatten().any(|x| !x.is_finite()) {
        return f64::INFINITY;
    }
    let mut best: Option<(Ridge, &[usize])> = None;
    for joints in sets {
        for per_joint in [3, 9] {
            let design = readings.designs.get(joints, per_joint);
            let tried = design.fit(&left);
            if best
                .as_ref()
                .is_none_or(|(best, _)| tried.left_out < best.left_out)
            {
                best = Some((tried, joints));
            }
        }
    }
    let (best, joints) = best.expect("some joints, or none, are tried");
    predictor.stretch_joints = joints.iter().map(|&j| j as u16).collect();
    predictor.stretch = best.shares;
    for row in &mut predictor.stretch {
        row.iter_mut()
            .zip(&levers)
            .for_each(|(x, lever)| *x /= lever);
    }
    let constant = predictor.stretch.last_mut().expect("one row for 1");
    constant
        .iter_mut()
        .zip(still)
        .for_each(|(x, still)| *x += still);
    best.left_out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Alternation from the paper's start.
    fn alternate(turns: &[DVec3], targets: &[DVec3]) -> f64 {
        let input: f64 = turns.iter().map(|t| t.length_squared()).sum();
        let lengths = turns
            .iter()
            .zip(targets)
            .map(|(a, b)| a.length() * b.length());
        let mut scale = lengths.sum::<f64>() / input;
        let mut error = f64::INFINITY;
        for _ in 0..50 {
            let mut outer = DMat3::ZERO;
            for (turn, target) in turns.iter().zip(targets) {
                outer += DMat3::from_cols(*target * turn.x, *target * turn.y, *target * turn.z);
            }
            let offset = nearest_rotation(outer * scale);
            let pairs = || turns.iter().zip(targets);
            scale = pairs().map(|(a, b)| b.dot(offset * *a)).sum::<f64>() / input;
            error = pairs()
                .map(|(a, b)| (offset * *a * scale - *b).length_squared())
                .sum();
        }
        error
    }

    fn vector() -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-2.0..2.0f64).prop_map(DVec3::from_array)
    }

    proptest! {
        /// One step finds at least what the alternation finds; the prior costs a thousandth at most.
        #[test]
        fn no_alternation_does_better(pairs in prop::collection::vec((vector(), vector()), 3..12)) {
            let (turns, targets): (Vec<DVec3>, Vec<DVec3>) = pairs.into_iter().unzip();
            let found = fit_turn(&turns, &targets, f64::INFINITY).squared_error;
            let alternated = alternate(&turns, &targets);
            let output: f64 = targets.iter().map(|t| t.length_squared()).sum();
            prop_assert!(found <= alternated + 2e-3 * output, "{found} against {alternated}");
        }

        /// A motion made from a share and an offset gives both back.
        #[test]
        fn a_share_and_an_offset_are_found(
            turns in prop::collection::vec(vector(), 4..10),
            axis in vector(),
            scale in 0.1..1.5f64,
        ) {
            let offset = DQuat::from_scaled_axis(axis);
            let targets: Vec<DVec3> = turns.iter().map(|t| offset * *t * scale).collect();
            let found = fit_turn(&turns, &targets, f64::INFINITY);
            let output: f64 = targets.iter().map(|t| t.length_squared()).sum();
            prop_assert!(found.squared_error <= 1e-3 * output, "left {}", found.squared_error);
        }
    }

    #[test]
    fn a_mirrored_relation_takes_a_negative_share() {
        let turns = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE];
        let targets = turns.map(|t| -0.5 * t);
        let found = fit_turn(&turns, &targets, 1.5);
        assert!((found.scale + 0.5).abs() < 1e-9, "found {}", found.scale);
        assert!(found.squared_error < 1e-9, "left {}", found.squared_error);
        assert!(
            alternate(&turns, &targets) > 0.1,
            "the paper's start does not get there"
        );
    }

    #[test]
    fn a_joint_that_hardly_turned_does_not_turn_skin_far() {
        let turns = [0.01, 0.02, -0.01].map(|x| DVec3::X * x);
        let targets = turns.map(|t| 30.0 * t);
        let found = fit_turn(&turns, &targets, 1.5);
        assert_eq!(
            found.scale, 1.5,
            "in another pose the joint may turn by a radian"
        );
        let left: f64 = turns.iter().map(|t| (28.5 * *t).length_squared()).sum();
        assert!(
            (found.squared_error - left).abs() < 1e-6,
            "{}",
            found.squared_error
        );
    }

    #[test]
    fn a_second_joint_must_explain_more_than_chance() {
        assert!(!is_worth_it(1.0, 0.8, 10, 20), "chance does as much");
        assert!(is_worth_it(1.0, 0.01, 10, 20), "chance does not");
        assert!(is_worth_it(1.0, 0.0, 10, 20), "an exact fit");
    }
}
