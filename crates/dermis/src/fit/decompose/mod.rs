//! Skinning decomposition: bones and weights for a mesh of which only the motion is known.
//!
//! \[Kavan10\] writes the animation as a matrix `A` with a column of 3F numbers per vertex and looks
//! for `A ≈ T X`, where `T` holds the matrices of all bones in all frames and the columns of `X`
//! are sparse: `w_ij v̂_i`.
//!
//! Everything happens in a reduced space, `C ≈ T_r X` with `A ≈ B C`, in rounds: solve bones for the current
//! points, then weights and rest positions of each point for the current bones. Beyond the paper: a point
//! exchanges bones by how much a new one improves on its others, where the paper chooses bones one by one
//! (`point_step`), two kinds of start compete (`start`), bones over-relax (`solver`), bones that lose all
//! points are placed anew, and rigid bones are fitted without reduction (`bone_step`).

mod bone_count;
mod bone_step;
pub(crate) mod flat;
mod joined;
mod known;
mod model;
mod options;
mod point_step;
mod points;
mod problem;
mod products;
pub(crate) mod reduce;
mod sample;
mod solver;
mod start;
mod subspace;

pub use joined::join_bones;
pub use known::{KnownRig, LockedWeights, decompose_onto};
pub use options::{BoneCount, BoneMotion, DecomposeOptions, Quality};

use faer::Mat;
use glam::{DAffine3, DVec3};

use super::{FitError, bad_option};
use crate::example::{Example, ExampleSet, MeshAnimation};
use crate::limits::check_memory;
use crate::measure::{Measures, measure};
use crate::par;
use crate::progress::Progress;
use crate::rig::{Palette, Pose, Similarity, Skeleton};
use crate::rows::Rows;
use crate::skin::{Skin, SkinError, SsdProgram, VertexProgram, Weight};
use problem::Problem;
use sample::Sample;
use solver::{Solver, State};
use start::StartInputs;

/// Size of the sample of points on which starts are tried, used when there are more than twice as many
/// points: at least `SAMPLE`, and `SAMPLE_PER_BONE` for each bone. With fewer, the wrong start is chosen
/// (horse, 20 bones: 1.24 to 1.32 with 100 to 130 per bone, 1.18 with all).
const SAMPLE: usize = 1000;
const SAMPLE_PER_BONE: usize = 250;
/// Rounds with all points, as a share of the rounds with a sample, which come first.
const FINE_ROUNDS_PERCENT: usize = 60;

/// Smoothness of the early rounds, in the unit of [`DecomposeOptions::smoothness`].
const EARLY_SMOOTHNESS: f64 = 20.0;

/// A skin, and the pose in which it shows each frame of an animation.
#[derive(Debug, Clone)]
pub struct Decomposition {
    /// Linear blend skinning over the bones that were found.
    pub skin: Skin,
    /// One pose per frame of the animation, through all clips. Bones may shear.
    pub poses: Vec<Pose>,
    /// `E_RMS` (root mean square error of a coordinate, times 1000, with the model scaled to a radius of
    /// 1) of the skin in these poses.
    pub e_rms: f64,
    /// `E_RMS` after each round, including the rounds of dropped starts.
    pub round_errors: Vec<f64>,
    /// `E_RMS` before bones were joined; `None` when they were not. See [`join_bones`].
    pub unjoined_e_rms: Option<f64>,
}

/// Decomposes a mesh animation: bones, their matrices in every frame, and weights.
///
/// The same animation gives the same skin, bit for bit, on any number of threads. A job that `progress` stops
/// returns its best result so far, after at least one round.
///
/// ```
/// use dermis::fit::{BoneCount, DecomposeOptions, decompose};
/// use dermis::progress::Silent;
/// use dermis::{MeshAnimation, MeshClip};
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let clip = MeshClip {
///     name: "bend".to_owned(),
///     frames: arm.examples().iter().map(|e| e.positions.clone()).collect(),
///     frames_per_second: 24.0,
/// };
/// let animation = MeshAnimation::new(arm.rest().clone(), vec![clip])?;
/// let options = DecomposeOptions { bones: BoneCount::Exactly(6), ..Default::default() };
/// let found = decompose(&animation, &options, &Silent)?;
/// assert_eq!(found.skin.skeleton.bone_count(), 6);
/// assert!(found.e_rms < 5.0, "thousandths of the arm's ball: {}", found.e_rms);
/// let middle = found.skin.evaluate(&found.poses[4])?;
/// assert_eq!(middle.len(), animation.vertex_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FitError::BadOption`] for options out of range or more bones than points.
pub fn decompose(
    animation: &MeshAnimation,
    options: &DecomposeOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    options.check()?;
    let problem = Problem::new(animation, options)?;
    match options.bones {
        BoneCount::Exactly(count) => {
            let found = find_bones(&problem, count, options, None, progress)?;
            Ok(found.decomposition)
        }
        BoneCount::ForError { e_rms, at_most } => {
            bone_count::search(&problem, e_rms, at_most, options, progress)
        }
    }
}

/// A decomposition, and whether it was stopped early.
struct Found {
    decomposition: Decomposition,
    was_stopped: bool,
}

/// Decomposes with a given number of bones, until the rounds are over or a target error is reached.
fn find_bones(
    problem: &Problem<'_>,
    bone_count: usize,
    options: &DecomposeOptions,
    enough: Option<f64>,
    progress: &dyn Progress,
) -> Result<Found, FitError> {
    let targets = problem.targets();
    if bone_count > targets.count() {
        let points = targets.count();
        return bad_option(
            "bones",
            format!("{bone_count} bones are more than the {points} points of the mesh"),
        );
    }
    check_bones(
        bone_count,
        options.starts_with(bone_count),
        targets.dimension,
    )?;
    let start_inputs = StartInputs::new(targets, &problem.rest, &problem.neighbors);
    let solver = Solver {
        targets,
        start_inputs: &start_inputs,
        motion: options.motion,
        free: (0..bone_count).collect(),
        step: problem.point_step(options),
        early_smoothing: problem.smoothing(EARLY_SMOOTHNESS),
    };
    let starts = options.starts_with(bone_count);
    let sample_size = SAMPLE.max(SAMPLE_PER_BONE * bone_count);
    let sampled = targets.count() > 2 * sample_size;
    let fine_rounds = (options.rounds * FINE_ROUNDS_PERCENT).div_ceil(100);
    let total = Solver::round_count(starts, options.rounds) + if sampled { fine_rounds } else { 0 };
    let mut rounds = RoundLog::new(problem, progress, total, bone_count);
    let is_enough = |error: f64| enough.is_some_and(|enough| problem.e_rms(error) <= enough);
    let mut state = if sampled {
        let sample = Sample::new(targets, &problem.rest, &problem.neighbors, sample_size);
        let start_inputs = StartInputs::new(&sample.targets, &sample.rest, &sample.neighbors);
        let mut step = problem.point_step(options);
        if let Some(smooth) = &mut step.smooth {
            smooth.neighbors = &sample.neighbors;
        }
        let coarse = Solver {
            targets: &sample.targets,
            start_inputs: &start_inputs,
            motion: options.motion,
            free: (0..bone_count).collect(),
            step,
            early_smoothing: solver.early_smoothing,
        };
        // A sample may reach the target when all points do not.
        let mut on_sample = |error: f64| rounds.goes_on(error);
        let found = coarse.solve(bone_count, starts, options.rounds, &mut on_sample);
        let points = sample.spread(&found.points, &problem.rest);
        let mut state = State::new(found.bones, points);
        let mut on_round = |error: f64| rounds.goes_on(error) && !is_enough(error);
        // At least one round even when the sample was stopped: all points must be solved once.
        solver.rounds(&mut state, fine_rounds, &mut on_round);
        state
    } else {
        let mut on_round = |error: f64| rounds.goes_on(error) && !is_enough(error);
        solver.solve(bone_count, starts, options.rounds, &mut on_round)
    };
    let bones = problem.finish(&mut state, &solver);
    let (rest_positions, weights) = problem.vertices(&state.points);
    Ok(Found {
        was_stopped: rounds.was_stopped,
        decomposition: Decomposition::from_matrices(
            problem.animation,
            rest_positions,
            weights,
            &problem.matrices(&bones),
            rounds.errors,
        )?,
    })
}

/// Returns an error when the trajectories of all vertices, and their products with each other, would not fit
/// into memory.
pub(crate) fn check_trajectories(animation: &MeshAnimation) -> Result<(), FitError> {
    let (frames, vertices) = (animation.frame_count(), animation.vertex_count());
    let short_side = (3 * frames).min(vertices) as u64;
    let numbers = (3 * frames as u64).saturating_mul(vertices as u64);
    // Trajectories and their reduced form; a Gram matrix, its copy, its eigenvectors and the memory to find
    // them.
    let needed = numbers.saturating_add(short_side.saturating_mul(short_side));
    let what = || format!("decomposing {frames} frames of {vertices} vertices");
    Ok(check_memory(
        &[needed, 4, size_of::<f64>() as u64],
        what,
        "take fewer frames or a coarser mesh",
    )?)
}

/// Returns an error when the products of all bones with each other, and every start, would not fit into
/// memory.
fn check_bones(bones: usize, starts: usize, dimension: usize) -> Result<(), FitError> {
    /// Numbers for each pair of bones: four times four products thrice, ten coefficients twice.
    const PAIR: u64 = 3 * 16 + 2 * 10;
    let [bones, starts, dimension] = [bones, starts, dimension].map(|n| n as u64);
    let pairs = bones.saturating_mul(bones).saturating_mul(PAIR);
    let matrices = (4 * bones).saturating_mul(dimension).saturating_mul(starts);
    let what = || format!("finding {bones} bones from {starts} starts");
    Ok(check_memory(
        &[pairs.saturating_add(matrices), size_of::<f64>() as u64],
        what,
        "ask for fewer bones or starts",
    )?)
}

/// Reports the error after each round, and asks whether to stop.
struct RoundLog<'a> {
    problem: &'a Problem<'a>,
    progress: &'a dyn Progress,
    total: usize,
    bone_count: usize,
    errors: Vec<f64>,
    was_stopped: bool,
}

impl<'a> RoundLog<'a> {
    fn new(
        problem: &'a Problem<'a>,
        progress: &'a dyn Progress,
        total: usize,
        bone_count: usize,
    ) -> Self {
        progress.report("decompose", 0, total);
        Self {
            problem,
            progress,
            total,
            bone_count,
            errors: Vec::new(),
            was_stopped: false,
        }
    }

    /// Records a round's squared error; returns false to stop.
    fn goes_on(&mut self, error: f64) -> bool {
        let e_rms = self.problem.e_rms(error);
        self.errors.push(e_rms);
        self.progress
            .detail(&format!("{} bones, E_RMS {e_rms:.3}", self.bone_count));
        let done = self.errors.len().min(self.total);
        self.was_stopped = !self.progress.report("decompose", done, self.total);
        !self.was_stopped
    }
}

impl Decomposition {
    /// A skin of bones without a hierarchy, from the matrices that take rest positions to each frame.
    ///
    /// `posed_from_rest[f][j]` belongs to frame `f` and bone `j`. Each bone's frame stands at the
    /// weighted middle of its vertices, unturned, so that keys are interpolated about the part that
    /// the bone moves.
    ///
    /// # Errors
    /// [`FitError::Skin`] when the numbers do not make a valid skin.
    pub fn from_matrices(
        animation: &MeshAnimation,
        rest_positions: Vec<DVec3>,
        weights: Rows<Weight>,
        posed_from_rest: &[Vec<DAffine3>],
        round_errors: Vec<f64>,
    ) -> Result<Self, FitError> {
        let bone_count = posed_from_rest.first().map_or(0, Vec::len);
        let centres = bone_centres(&rest_positions, &weights, bone_count);
        let digits = bone_count.saturating_sub(1).to_string().len();
        let bones = centres.iter().enumerate().map(|(j, centre)| {
            let frame = DAffine3::from_translation(*centre);
            (format!("bone_{j:0digits$}"), None, frame)
        });
        let skeleton = Skeleton::from_rest_frames(bones).map_err(SkinError::from)?;
        let program = VertexProgram::Ssd(SsdProgram {
            rest_positions,
            weights,
            corrections: Vec::new(),
        });
        let poses = posed_from_rest
            .iter()
            .map(|matrices| {
                let model_from_bone = matrices
                    .iter()
                    .zip(&centres)
                    .map(|(matrix, centre)| *matrix * DAffine3::from_translation(*centre))
                    .collect();
                skeleton.pose_from_palette(&Palette { model_from_bone })
            })
            .collect::<Result<Vec<Pose>, _>>()
            .map_err(SkinError::from)?;
        let skin = Skin::new(skeleton, program, Vec::new())?;
        Self::measured(animation, skin, poses, round_errors)
    }

    /// The same in a moved model space.
    fn moved(self, by: &Similarity) -> Result<Self, FitError> {
        let poses = self.poses.iter();
        let poses = poses
            .map(|pose| by.pose(&self.skin.skeleton, pose))
            .collect();
        Ok(Self {
            skin: self.skin.moved(by)?,
            poses,
            ..self
        })
    }

    /// How well the skin reproduces the animation, in the same measures as a fit to examples.
    ///
    /// The rest mesh is the skin's own, which may have been fitted.
    ///
    /// # Errors
    /// [`FitError::Examples`] and [`FitError::Skin`] for another animation than the decomposed one.
    pub fn measures(&self, animation: &MeshAnimation) -> Result<Measures, FitError> {
        let clips = animation.clips().iter();
        let names = clips.flat_map(|clip| {
            (0..clip.frames.len()).map(|number| format!("frame {number} of {}", clip.name))
        });
        let frames = names.zip(animation.frames()).zip(&self.poses);
        let examples = frames.map(|((name, positions), pose)| Example {
            name,
            pose: pose.clone(),
            positions: positions.to_vec(),
        });
        let rest = match &self.skin.program {
            VertexProgram::Ssd(ssd) => (animation.rest())
                .with_positions(ssd.rest_positions.clone())
                .ok(),
            _ => None,
        };
        let set = ExampleSet::new(
            rest.unwrap_or_else(|| animation.rest().clone()),
            self.skin.skeleton.clone(),
            examples.collect(),
        )?
        .with_size(animation.size());
        let all: Vec<usize> = (0..set.examples().len()).collect();
        Ok(measure(&self.skin, &set, &all)?.total)
    }

    /// A skin in its poses, with the error that it has.
    fn measured(
        animation: &MeshAnimation,
        skin: Skin,
        poses: Vec<Pose>,
        round_errors: Vec<f64>,
    ) -> Result<Self, FitError> {
        let frames: Vec<Vec<DVec3>> = par::map(poses.len(), |frame| skin.evaluate(&poses[frame]))
            .into_iter()
            .collect::<Result<_, _>>()?;
        Ok(Self {
            e_rms: animation.e_rms(frames.iter().map(Vec::as_slice)),
            skin,
            poses,
            round_errors,
            unjoined_e_rms: None,
        })
    }
}

/// The animation as a matrix: a column of 3F numbers per vertex, in units of the first frame's ball.
pub(crate) fn trajectories(animation: &MeshAnimation) -> Mat<f64> {
    let scale = 1.0 / animation.unit_ball_radius();
    let frames: Vec<&[DVec3]> = animation.frames().collect();
    Mat::from_fn(3 * frames.len(), animation.vertex_count(), |row, vertex| {
        scale * frames[row / 3][vertex][row % 3]
    })
}

/// The weighted middle of every bone's vertices; of all vertices for a bone that moves none.
fn bone_centres(rest: &[DVec3], weights: &Rows<Weight>, bone_count: usize) -> Vec<DVec3> {
    let mut sums = vec![(DVec3::ZERO, 0.0); bone_count];
    for (row, position) in weights.iter().zip(rest) {
        for &Weight { bone, weight } in row {
            let (sum, total) = &mut sums[bone.index()];
            *sum += weight * *position;
            *total += weight;
        }
    }
    let middle = rest.iter().copied().sum::<DVec3>() / rest.len().max(1) as f64;
    let centre = |(sum, total): (DVec3, f64)| if total > 0.0 { sum / total } else { middle };
    sums.into_iter().map(centre).collect()
}
