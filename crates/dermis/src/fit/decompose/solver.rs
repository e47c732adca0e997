//! Rounds of bones, weights and rest positions in turn, from several starts.

use super::bone_step::Sums;
use super::model::{Bones, Points, Targets};
use super::options::BoneMotion;
use super::point_step::{PointStep, Smooth};
use super::start::{Start, StartInputs, hard_step, largest};

/// Rounds in which every point follows one bone, before they blend.
const HARD_ROUNDS: usize = 3;
/// Rounds between comparisons of the starts; the better half goes on.
const TRIAL_ROUNDS: usize = 6;
/// Over-relaxation rises from the first of these to the second while the error falls.
const RELAXATION: [f64; 2] = [1.5, 2.3];
/// Turns in which rigid bones are fitted in each round; they continue in the next.
const RIGID_SWEEPS: usize = 2;
/// Points fitted around the place where a bone without points begins anew.
const NEW_BONE_PATCH: usize = 40;

/// Share of the rounds in which neighbours' weights are tied together. It keeps bones in one piece
/// while they find their places, and lowers the error in the end.
const EARLY_PERCENT: usize = 70;

/// Called with the squared error after each round; returns false to stop.
pub(super) type OnRound<'a> = &'a mut dyn FnMut(f64) -> bool;

/// The inputs that do not change from round to round.
pub(super) struct Solver<'a> {
    pub(super) targets: &'a Targets,
    pub(super) start_inputs: &'a StartInputs<'a>,
    pub(super) motion: BoneMotion,
    /// Bones that may move; the others are given.
    pub(super) free: Vec<usize>,
    pub(super) step: PointStep<'a>,
    /// How strongly neighbours' weights are tied in the early rounds; 0 for no more than in later rounds.
    pub(super) early_smoothing: f64,
}

/// Everything that is fitted.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) bones: Bones,
    pub(super) points: Points,
    /// Squared error of the points when they were last solved.
    pub(super) error: f64,
    relaxation: f64,
}

impl State {
    pub(super) fn new(bones: Bones, points: Points) -> Self {
        Self {
            bones,
            points,
            error: f64::INFINITY,
            relaxation: RELAXATION[0],
        }
    }
}

impl Solver<'_> {
    /// How many rounds [`Solver::solve`] makes in all, dropped starts included.
    pub(super) fn round_count(starts: usize, rounds: usize) -> usize {
        let mut states = starts;
        let mut done = TRIAL_ROUNDS.min(rounds);
        let mut total = states * done;
        while states > 1 {
            states = states.div_ceil(2);
            let further = if states > 1 { TRIAL_ROUNDS } else { 0 }.min(rounds - done);
            total += states * further;
            done += further;
        }
        total + rounds - done
    }

    /// Tries some starts, and goes on with the best until it has had `rounds`.
    ///
    /// Half of the starts are dropped after every few rounds: the order between starts settles early
    /// (on horses and cloth it never changed after six; on a hand and a tube of few bones it did, see
    /// `docs/results/decomposition.md`).
    pub(super) fn solve(
        &self,
        bone_count: usize,
        starts: usize,
        rounds: usize,
        on_round: OnRound<'_>,
    ) -> State {
        let early_rounds = EARLY_PERCENT * rounds / 100;
        let trial = TRIAL_ROUNDS.min(rounds);
        let early = self.early();
        let mut states: Vec<State> = Vec::with_capacity(starts);
        for number in 0..starts {
            let mut state = self.begin(start_of(number, self.targets.count()), bone_count);
            let goes_on = early.rounds(&mut state, trial, on_round);
            states.push(state);
            if !goes_on {
                return best_of(states);
            }
        }
        let mut done = trial;
        while states.len() > 1 {
            states.sort_by(|a, b| a.error.total_cmp(&b.error));
            states.truncate(states.len().div_ceil(2));
            let further = if states.len() > 1 { TRIAL_ROUNDS } else { 0 }.min(rounds - done);
            for at in 0..states.len() {
                if !early.rounds(&mut states[at], further, on_round) {
                    return best_of(states);
                }
            }
            done += further;
        }
        let mut state = best_of(states);
        let further = early_rounds.saturating_sub(done);
        if early.rounds(&mut state, further, on_round) {
            // From here on only the error counts, without smoothness; it may rise at first.
            state.error = f64::INFINITY;
            self.rounds(&mut state, rounds - done - further, on_round);
        }
        state
    }

    /// The same solver with the weights of neighbours tied together.
    fn early(&self) -> Solver<'_> {
        let mut step = self.step.clone();
        let given = step.smooth.map_or(0.0, |smooth| smooth.strength);
        if self.early_smoothing > given {
            step.smooth = Some(Smooth {
                strength: self.early_smoothing,
                neighbors: self.start_inputs.neighbors,
            });
        }
        Solver {
            targets: self.targets,
            start_inputs: self.start_inputs,
            motion: self.motion,
            free: self.free.clone(),
            early_smoothing: 0.0,
            step,
        }
    }

    fn begin(&self, start: Start, bone_count: usize) -> State {
        let (bones, mut points) = self.start_inputs.begin(start, bone_count);
        points.supports = points.supports.with_stride(self.step.max_influences);
        let mut state = State::new(bones, points);
        for _ in 0..HARD_ROUNDS {
            self.move_bones(&mut state);
            state.points = hard_step().run(self.targets, &state.bones, &state.points);
        }
        self.move_bones(&mut state);
        state
    }

    /// Fits points to bones, then bones to points, `count` times; false when it was stopped.
    ///
    /// Affine bones go beyond their optimum for the current points (over-relaxation), because bones and
    /// points otherwise follow each other in many small steps; a round that does not lower the error is
    /// undone.
    pub(super) fn rounds(&self, state: &mut State, count: usize, on_round: OnRound<'_>) -> bool {
        let mut unrelaxed: Option<Bones> = None;
        let mut goes_on = true;
        for _ in 0..count {
            let points = self.step.run(self.targets, &state.bones, &state.points);
            let error = points.squared_error(self.targets);
            match unrelaxed.take() {
                Some(bones) if error > state.error => {
                    state.bones = bones;
                    state.relaxation = 1.0 + 0.5 * (state.relaxation - 1.0);
                }
                _ => {
                    state.points = points;
                    state.error = error;
                    let before = state.bones.clone();
                    let whole = self.move_bones(state);
                    if self.motion == BoneMotion::Affine && whole {
                        unrelaxed = Some(state.bones.clone());
                        let further = state.relaxation - 1.0;
                        let pairs = state.bones.columns.iter_mut().zip(&before.columns);
                        pairs.for_each(|(now, old)| *now += further * (*now - old));
                        state.relaxation = (state.relaxation + 0.1).min(RELAXATION[1]);
                    }
                }
            }
            goes_on = on_round(state.error);
            if !goes_on {
                break;
            }
        }
        if let Some(bones) = unrelaxed {
            state.bones = bones;
        }
        goes_on
    }

    /// The best matrices for the current points.
    pub(super) fn move_bones_only(&self, state: &mut State) {
        let sums = Sums::new(self.targets, &state.points, state.bones.count);
        match self.motion {
            BoneMotion::Affine => sums.solve_affine(&mut state.bones, &self.free),
            BoneMotion::Rigid => sums.solve_rigid(&mut state.bones, &self.free, RIGID_SWEEPS),
        }
    }

    /// As [`Solver::move_bones_only`]; bones that move no point begin anew where the error is largest, and
    /// the result is false if there were any.
    pub(super) fn move_bones(&self, state: &mut State) -> bool {
        self.move_bones_only(state);
        if self
            .step
            .locked
            .is_some_and(|locked| locked.iter().all(|&l| l))
        {
            return true;
        }
        let mut is_used = vec![false; state.bones.count];
        for point in 0..state.points.supports.count() {
            for (bone, _) in state.points.supports.pairs(point) {
                is_used[bone] = true;
            }
        }
        let dead: Vec<usize> = (self.free.iter().copied())
            .filter(|&bone| !is_used[bone])
            .collect();
        self.place_bones(state, &dead);
        dead.is_empty()
    }

    /// Places bones where the error is largest, away from each other.
    pub(super) fn place_bones(&self, state: &mut State, bones: &[usize]) {
        if bones.is_empty() {
            return;
        }
        let is_locked = |point: usize| self.step.locked.is_some_and(|locked| locked[point]);
        let errors = self.start_inputs.smoothed(&state.points.errors, 2);
        let mut taken = vec![false; errors.len()];
        for &bone in bones {
            let seed = largest(&errors, |point| !taken[point] && !is_locked(point));
            let patch = self.start_inputs.patch(seed, NEW_BONE_PATCH);
            state.bones.set(bone, &self.start_inputs.fit_patch(&patch));
            if self.motion == BoneMotion::Rigid {
                state.bones.make_rigid(bone, self.start_inputs.rest[seed]);
            }
            patch.into_iter().for_each(|point| taken[point] = true);
        }
    }
}

fn best_of(states: Vec<State>) -> State {
    let best = states
        .into_iter()
        .min_by(|a, b| a.error.total_cmp(&b.error));
    best.expect("at least one start was made")
}

/// The starts, in the order in which they are tried.
fn start_of(number: usize, point_count: usize) -> Start {
    const PATCHES: [usize; 8] = [20, 60, 12, 90, 30, 8, 150, 40];
    match number {
        1 => Start::Spread { first: 0 },
        _ if number.is_multiple_of(2) => Start::ByError {
            patch: PATCHES[(number / 2) % 8] + 11 * (number / 16),
        },
        // Multiples of the golden section spread well over any count.
        _ => Start::Spread {
            first: ((number as f64 * 0.618_033_988_749_895).fract() * point_count as f64) as usize,
        },
    }
}
