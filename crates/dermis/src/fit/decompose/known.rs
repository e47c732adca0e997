//! Decomposition onto an existing rig: helper bones, new weights for given bones, or new motion for given
//! weights.

use glam::DAffine3;

use super::model::{Bones, Points, Supports};
use super::options::DecomposeOptions;
use super::problem::Problem;
use super::solver::{Solver, State};
use super::start::StartInputs;
use super::{BoneMotion, Decomposition, RoundLog, bone_centres, check_bones};
use crate::example::MeshAnimation;
use crate::fit::{FitError, bad_option};
use crate::progress::Progress;
use crate::rig::{Bone, BoneId, Palette, Pose, Skeleton, Trs};
use crate::skin::{Skin, SkinError, SsdProgram, VertexProgram, Weight};

/// Vertices that keep the weights of the rig.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LockedWeights {
    /// None: all weights are fitted.
    #[default]
    None,
    /// All: only bones move.
    All,
    /// The vertices marked `true`.
    Vertices(Vec<bool>),
}

impl LockedWeights {
    /// The vertices where the error of a rig is at most `e_rms`; `errors` are those at every vertex.
    pub fn where_fitting(errors: &[f64], e_rms: f64) -> Self {
        Self::Vertices(errors.iter().map(|&error| error <= e_rms).collect())
    }
}

/// An existing rig, and the parts of it that stay.
#[derive(Debug, Clone)]
pub struct KnownRig<'a> {
    /// Linear blend skinning over the vertices of the animation.
    pub skin: &'a Skin,
    /// The pose of its bones in every frame, when they are known: its bones stay in them. Without
    /// poses the bones are fitted.
    pub poses: Option<&'a [Pose]>,
    /// Vertices that keep their weights.
    pub locked_weights: LockedWeights,
}

/// Decomposes onto a rig: finds `helper_count` further bones, and fits everything that is not locked.
///
/// Rest positions are the rig's, and change only with `options.update_rest`; the bone count and the starts of
/// the options are ignored. Helper bones hang on the bone of the rig that they share most weight with.
///
/// # Errors
/// [`FitError::BadOption`] when the rig does not belong to the animation or nothing is left to fit.
pub fn decompose_onto(
    animation: &MeshAnimation,
    rig: &KnownRig<'_>,
    helper_count: usize,
    options: &DecomposeOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    options.check()?;
    let program = check(animation, rig, helper_count)?;
    let vertex_count = animation.vertex_count();
    let locked = match &rig.locked_weights {
        LockedWeights::None => vec![false; vertex_count],
        LockedWeights::All => vec![true; vertex_count],
        LockedWeights::Vertices(which) => which.clone(),
    };
    let mut problem = Problem::of_vertices(animation)?;
    let units = &problem.units;
    problem.rest = (program.rest_positions.iter())
        .map(|&position| units.scale_rest(position))
        .collect();
    let start_inputs = StartInputs::new(&problem.whole, &problem.rest, &problem.neighbors);
    let known_count = rig.skin.skeleton.bone_count();
    let bone_count = known_count + helper_count;
    check_bones(bone_count, 1, problem.whole.dimension)?;
    let free = match rig.poses {
        Some(_) => (known_count..bone_count).collect(),
        None => (0..bone_count).collect(),
    };
    let mut step = problem.point_step(options);
    step.locked = Some(&locked);
    let solver = Solver {
        targets: &problem.whole,
        start_inputs: &start_inputs,
        motion: options.motion,
        free,
        step,
        early_smoothing: 0.0,
    };
    let supports = first_supports(program, &locked, options.max_influences);
    let points = Points {
        errors: vec![0.0; vertex_count],
        rest: problem.rest.clone(),
        supports,
    };
    let mut state = State::new(known_bones(&problem, rig, bone_count)?, points);
    if rig.poses.is_none() {
        fit_known_motion(&solver, &mut state, known_count);
    }
    place_helpers(&solver, &mut state, known_count, helper_count);
    let only_weights = solver.free.is_empty();
    // Without bones to fit, only weights change, and a few rounds of exchanges are enough.
    let rounds = if only_weights {
        options.rounds.min(6)
    } else {
        options.rounds
    };
    let mut log = RoundLog::new(&problem, progress, rounds, bone_count);
    solver.rounds(&mut state, rounds, &mut |error| log.goes_on(error));
    let bones = problem.finish(&mut state, &solver);
    to_decomposition(&problem, rig, &bones, &state.points, log.errors)
}

/// The rig's program; an error when rig, animation and options do not fit together.
fn check<'a>(
    animation: &MeshAnimation,
    rig: &KnownRig<'a>,
    helper_count: usize,
) -> Result<&'a SsdProgram, FitError> {
    let VertexProgram::Ssd(program) = &rig.skin.program else {
        let kind = rig.skin.program.name();
        return bad_option(
            "rig",
            format!("expected linear blend skinning, found {kind}"),
        );
    };
    let expected = animation.vertex_count();
    let found = program.rest_positions.len();
    if found != expected {
        return bad_option(
            "rig",
            format!("it has {found} vertices, but the animation has {expected}"),
        );
    }
    if let Some(poses) = rig.poses
        && poses.len() != animation.frame_count()
    {
        let (poses, frames) = (poses.len(), animation.frame_count());
        return bad_option(
            "rig",
            format!("it has {poses} poses, but the animation has {frames} frames"),
        );
    }
    if let LockedWeights::Vertices(which) = &rig.locked_weights
        && which.len() != expected
    {
        let found = which.len();
        return bad_option(
            "locked_weights",
            format!("expected a true or false for each of {expected} vertices, found {found}"),
        );
    }
    let all_locked = match &rig.locked_weights {
        LockedWeights::None => false,
        LockedWeights::All => true,
        LockedWeights::Vertices(which) => which.iter().all(|&locked| locked),
    };
    if all_locked && helper_count > 0 {
        return bad_option(
            "locked_weights",
            "helper bones move nothing when all weights are locked",
        );
    }
    if all_locked && rig.poses.is_some() {
        return bad_option(
            "rig",
            "nothing is left to fit: all weights and bones are locked",
        );
    }
    let bones = rig.skin.skeleton.bone_count() + helper_count;
    if bones == 0 || bones > usize::from(u16::MAX) {
        return bad_option("bones", format!("expected 1 to 65535 bones, found {bones}"));
    }
    Ok(program)
}

/// The rig's weights; where they are not locked at most `most` of them, the largest.
fn first_supports(program: &SsdProgram, locked: &[bool], most: usize) -> Supports {
    let stride = (program.weights.iter().zip(locked))
        .filter(|(_, locked)| **locked)
        .map(|(row, _)| row.len())
        .fold(most, usize::max);
    let mut supports = Supports::with_capacity(locked.len(), stride);
    for (row, &locked) in program.weights.iter().zip(locked) {
        let mut row: Vec<Weight> = row.iter().copied().filter(|w| w.weight != 0.0).collect();
        if !locked {
            row.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bone.cmp(&b.bone)));
            row.truncate(most);
            row.retain(|w| w.weight > 0.0);
            let total: f64 = row.iter().map(|w| w.weight).sum();
            row.iter_mut().for_each(|w| w.weight /= total);
            if row.is_empty() {
                let (bone, weight) = (BoneId(0), 1.0);
                row.push(Weight { bone, weight });
            }
        }
        let bones: Vec<u16> = row.iter().map(|w| w.bone.0).collect();
        let weights: Vec<f64> = row.iter().map(|w| w.weight).collect();
        supports.push(&bones, &weights);
    }
    supports
}

/// The rig's bones in their poses, or at rest when the poses are not known.
fn known_bones(
    problem: &Problem<'_>,
    rig: &KnownRig<'_>,
    bone_count: usize,
) -> Result<Bones, FitError> {
    let mut bones = Bones::zeros(bone_count, problem.whole.dimension);
    for frame in 0..problem.animation.frame_count() {
        let still = vec![DAffine3::IDENTITY; rig.skin.skeleton.bone_count()];
        let matrices = match rig.poses {
            Some(poses) => {
                let palette = rig.skin.run_pose_program(&poses[frame])?.palette;
                rig.skin.skeleton.posed_from_rest(&palette)
            }
            None => still,
        };
        for (bone, matrix) in matrices.iter().enumerate() {
            problem.units.set_matrix(&mut bones, bone, frame, matrix);
        }
    }
    Ok(bones)
}

/// The motion of the rig's bones, from its weights alone.
fn fit_known_motion(solver: &Solver<'_>, state: &mut State, known_count: usize) {
    let affine = Solver {
        motion: BoneMotion::Affine,
        free: (0..known_count).collect(),
        step: solver.step.clone(),
        ..*solver
    };
    affine.move_bones_only(state);
    if solver.motion == BoneMotion::Rigid {
        let centers = bone_middles(state, known_count);
        for (bone, center) in centers.into_iter().enumerate() {
            state.bones.make_rigid(bone, center);
        }
        for _ in 0..10 {
            solver.move_bones_only(state);
        }
    }
}

/// The weighted middle of each bone's points, in the solver's units.
fn bone_middles(state: &State, bone_count: usize) -> Vec<[f64; 3]> {
    let supports = &state.points.supports;
    let middle = |list: &Vec<(u32, f64)>| {
        let total: f64 = list.iter().map(|(_, weight)| weight).sum();
        let sum = |axis: usize| -> f64 {
            let share =
                |&(point, weight): &(u32, f64)| weight * state.points.rest[point as usize][axis];
            list.iter().map(share).sum()
        };
        if total > 0.0 {
            [0, 1, 2].map(|axis| sum(axis) / total)
        } else {
            [0.0; 3]
        }
    };
    supports.by_bone(bone_count).iter().map(middle).collect()
}

/// Places helper bones one after the other, each where the error with the ones before it is largest.
fn place_helpers(solver: &Solver<'_>, state: &mut State, known_count: usize, helpers: usize) {
    for helper in known_count..known_count + helpers {
        state.points = solver.step.run(solver.targets, &state.bones, &state.points);
        solver.place_bones(state, &[helper]);
    }
}

fn to_decomposition(
    problem: &Problem<'_>,
    rig: &KnownRig<'_>,
    bones: &Bones,
    points: &Points,
    round_errors: Vec<f64>,
) -> Result<Decomposition, FitError> {
    let (rest_positions, weights) = problem.vertices(points);
    let known = &rig.skin.skeleton;
    let known_count = known.bone_count();
    let centres = bone_centres(&rest_positions, &weights, bones.count);
    let parents = helper_parents(points, known_count, bones.count);
    let mut all: Vec<Bone> = known.bones().to_vec();
    let rest_palette = known.palette(&known.rest_pose()).map_err(SkinError::from)?;
    for (helper, parent) in (known_count..bones.count).zip(parents) {
        let rest_frame = DAffine3::from_translation(centres[helper]);
        let local = parent.map_or(rest_frame, |parent| {
            rest_palette.model_from_bone[parent.index()].inverse() * rest_frame
        });
        all.push(Bone {
            name: unused_name(&all, helper - known_count),
            parent,
            default_parent_from_bone: Trs::from_affine(&local).0,
            bone_from_rest: rest_frame.inverse(),
        });
    }
    let carriers = known.ids().filter(|&bone| known.is_carrier(bone));
    let skeleton = (Skeleton::new(all).map_err(SkinError::from)?).with_carriers(carriers);
    let matrices = problem.matrices(bones);
    let mut poses = Vec::with_capacity(matrices.len());
    for (frame, matrices) in matrices.iter().enumerate() {
        let mut model_from_bone: Vec<DAffine3> = (skeleton.bones().iter().zip(matrices))
            .map(|(bone, matrix)| *matrix * bone.bone_from_rest.inverse())
            .collect();
        if let Some(given) = rig.poses {
            // Exactly the given poses.
            let palette = rig.skin.run_pose_program(&given[frame])?.palette;
            model_from_bone[..known_count].copy_from_slice(&palette.model_from_bone);
        }
        let palette = Palette { model_from_bone };
        let pose = skeleton.pose_from_palette(&palette);
        poses.push(pose.map_err(SkinError::from)?);
    }
    let program = VertexProgram::Ssd(SsdProgram {
        rest_positions,
        weights,
        corrections: Vec::new(),
    });
    let skin = Skin::new(skeleton, program, Vec::new())?;
    Decomposition::measured(problem.animation, skin, poses, round_errors)
}

/// The bone of the rig that each helper shares most weight with.
fn helper_parents(points: &Points, known_count: usize, bone_count: usize) -> Vec<Option<BoneId>> {
    let mut shared = vec![vec![0.0; known_count]; bone_count - known_count];
    for point in 0..points.supports.count() {
        for (helper, weight) in points.supports.pairs(point) {
            let Some(row) = helper.checked_sub(known_count) else {
                continue;
            };
            for (bone, other) in points.supports.pairs(point) {
                if bone < known_count {
                    shared[row][bone] += weight * other;
                }
            }
        }
    }
    let most = |row: &Vec<f64>| {
        let bone = super::start::largest(row, |_| true);
        (row.get(bone).copied().unwrap_or(0.0) > 0.0).then_some(BoneId(bone as u16))
    };
    shared.iter().map(most).collect()
}

/// `helper_0`, or with another number when that is taken.
fn unused_name(bones: &[Bone], number: usize) -> String {
    (number..)
        .map(|n| format!("helper_{n}"))
        .find(|name| bones.iter().all(|bone| bone.name != *name))
        .unwrap_or_default()
}
