//! Rigid bones joined to a hierarchy: joints that turn in place, bones of constant length.
//!
//! The motion of the bones shows which are joined, and where: a joint is a point that two bones move in the
//! same way. Then poses in which only joints turn, and weights and rest positions for them, are solved in
//! turn. The error rises, because free bones can move apart where skin stretches;
//! [`Decomposition::unjoined_e_rms`] is the error before.

use glam::{DAffine3, DVec3};

use super::model::{Bones, Points, Supports};
use super::options::DecomposeOptions;
use super::problem::Problem;
use super::{Decomposition, RoundLog};
use crate::example::MeshAnimation;
use crate::fit::bones::joints::{find_joint, span, walk};
use crate::fit::{FitError, JointFreedom, PoseOptions, PoseSolver, bad_option};
use crate::par;
use crate::progress::Progress;
use crate::rig::{BoneId, Palette, Pose, Similarity, Skeleton};
use crate::rows::Rows;
use crate::skin::{Skin, SkinError, SsdProgram, VertexProgram, Weight};

/// Rounds of poses, weights and rest positions in turn.
const ROUNDS: usize = 8;
/// Steps of the pose solver in each; they continue in the next.
const POSE_STEPS: usize = 6;
/// Cost of a joint between bones that share no vertex, in units of the ball: more than any other.
const APART: f64 = 10.0;

/// Joins the bones of a rigid decomposition to a hierarchy in which joints turn and only the root
/// moves.
///
/// # Errors
/// [`FitError::BadOption`] for a decomposition of another animation, and the errors of solving poses.
pub fn join_bones(
    found: Decomposition,
    animation: &MeshAnimation,
    options: &DecomposeOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    let VertexProgram::Ssd(program) = &found.skin.program else {
        return bad_option("decomposition", "expected linear blend skinning");
    };
    if found.poses.len() != animation.frame_count()
        || program.rest_positions.len() != animation.vertex_count()
    {
        return bad_option("decomposition", "it belongs to another animation");
    }
    let Some((scaled, factor)) = animation.at_unit_size() else {
        return join_at_unit_size(found, animation, options, progress);
    };
    let there = found.moved(&Similarity::scaling(factor))?;
    let joined = join_at_unit_size(there, &scaled, options, progress)?;
    joined.moved(&Similarity::scaling(1.0 / factor))
}

/// As [`join_bones`], in units in which a float can hold squares of lengths.
fn join_at_unit_size(
    found: Decomposition,
    animation: &MeshAnimation,
    options: &DecomposeOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    let VertexProgram::Ssd(program) = &found.skin.program else {
        return bad_option("decomposition", "expected linear blend skinning");
    };
    let motions = motions(&found)?;
    let tree = Tree::new(program, &motions, animation.unit_ball_radius());
    let (skin, mut poses) = tree.rebuild(program, &motions)?;
    let mut skin = skin;
    let problem = Problem::of_vertices(animation)?;
    let step = problem.point_step(options);
    let mut log = RoundLog::new(&problem, progress, ROUNDS, skin.skeleton.bone_count());
    log.errors = found.round_errors.clone();
    let mut best: Option<(f64, Skin, Vec<Pose>)> = None;
    for round in 0..ROUNDS {
        poses = turn_joints(&skin, animation, &poses)?;
        let measured = Decomposition::measured(animation, skin.clone(), poses.clone(), Vec::new())?;
        if best
            .as_ref()
            .is_none_or(|(least, ..)| measured.e_rms < *least)
        {
            best = Some((measured.e_rms, skin.clone(), poses.clone()));
        }
        let error = measured.e_rms / 1000.0;
        if !log.goes_on(error * error * problem.number_count()) || round + 1 == ROUNDS {
            break;
        }
        skin = fit_vertices(&problem, &step, &skin, &poses)?;
    }
    let (_, skin, poses) = best.expect("at least one round was made");
    let mut joined = Decomposition::measured(animation, skin, poses, log.errors)?;
    joined.unjoined_e_rms = Some(found.e_rms);
    Ok(joined)
}

/// `posed_from_rest` of every bone in every frame, by bone.
fn motions(found: &Decomposition) -> Result<Vec<Vec<DAffine3>>, FitError> {
    let skeleton = &found.skin.skeleton;
    let mut motions = vec![Vec::with_capacity(found.poses.len()); skeleton.bone_count()];
    for pose in &found.poses {
        let palette = skeleton.palette(pose).map_err(SkinError::from)?;
        let matrices = skeleton.posed_from_rest(&palette);
        motions
            .iter_mut()
            .zip(matrices)
            .for_each(|(list, m)| list.push(m));
    }
    Ok(motions)
}

/// Bones in an order in which parents come first.
struct Tree {
    /// The bone that comes at each place, the place of its parent, and where its joint rests.
    steps: Vec<(usize, Option<usize>, DVec3)>,
}

impl Tree {
    /// The cheapest joints: those that turn in place, between bones that share vertices.
    fn new(program: &SsdProgram, motions: &[Vec<DAffine3>], radius: f64) -> Self {
        let count = motions.len();
        let centers = super::bone_centres(&program.rest_positions, &program.weights, count);
        let mut shared = vec![(0.0, DVec3::ZERO); count * count];
        let mut sizes = vec![0usize; count];
        for (row, rest) in program.weights.iter().zip(&program.rest_positions) {
            for a in row {
                sizes[a.bone.index()] += 1;
                for b in row.iter().filter(|b| b.bone != a.bone) {
                    let both = a.weight * b.weight;
                    let (total, sum) = &mut shared[a.bone.index() * count + b.bone.index()];
                    *total += both;
                    *sum += both * *rest;
                }
            }
        }
        let middle = |a: usize, b: usize| match shared[a * count + b] {
            (total, sum) if total > 0.0 => (sum / total, 0.0),
            _ => {
                let gap = centers[a].distance(centers[b]) / radius;
                (0.5 * (centers[a] + centers[b]), APART + gap)
            }
        };
        let cost = |a: usize, b: usize| {
            let (middle, apart) = middle(a, b);
            let joint = find_joint(&motions[a], &motions[b], middle);
            // A fixed point far from where the parts meet is a coincidence, not a joint.
            (joint.deviation + 0.1 * joint.place.distance(middle)) / radius + apart
        };
        let parents = span(&cost, &sizes);
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (bone, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                near[*parent].push(bone);
                near[bone].push(*parent);
            }
        }
        let root = parents.iter().position(Option::is_none).unwrap_or(0);
        let order = walk(&near, root);
        let place_of = |bone: usize| order.iter().position(|step| step.0 == bone);
        let steps = order
            .iter()
            .map(|&(bone, parent, _)| {
                let joint = match parent {
                    None => centers[bone],
                    Some(above) => {
                        find_joint(&motions[above], &motions[bone], middle(above, bone).0).place
                    }
                };
                (bone, parent.and_then(place_of), joint)
            })
            .collect();
        Self { steps }
    }

    /// The skin with its bones in this order, and poses with joints in place: each bone turned as before, and
    /// carried by its parent.
    fn rebuild(
        &self,
        program: &SsdProgram,
        motions: &[Vec<DAffine3>],
    ) -> Result<(Skin, Vec<Pose>), FitError> {
        let digits = self.steps.len().saturating_sub(1).to_string().len();
        let bones = self.steps.iter().enumerate().map(|(place, step)| {
            let parent = step.1.map(|parent| BoneId(parent as u16));
            let frame = DAffine3::from_translation(step.2);
            (format!("bone_{place:0digits$}"), parent, frame)
        });
        let skeleton = Skeleton::from_rest_frames(bones).map_err(SkinError::from)?;
        let mut place_of = vec![0u16; self.steps.len()];
        for (place, step) in self.steps.iter().enumerate() {
            place_of[step.0] = place as u16;
        }
        let mut weights = Rows::with_capacity(program.weights.len(), 0);
        for row in program.weights.iter() {
            weights.push_row(row.iter().map(|w| Weight {
                bone: BoneId(place_of[w.bone.index()]),
                weight: w.weight,
            }));
        }
        let frame_count = motions.first().map_or(0, Vec::len);
        let pose_of = |frame: usize| {
            let mut model_from_bone: Vec<DAffine3> = Vec::with_capacity(self.steps.len());
            for &(bone, parent, joint) in &self.steps {
                let motion = motions[bone][frame];
                let origin = match parent {
                    None => motion.transform_point3(joint),
                    Some(parent) => {
                        let offset = joint - self.steps[parent].2;
                        model_from_bone[parent].transform_point3(offset)
                    }
                };
                model_from_bone.push(DAffine3 {
                    matrix3: motion.matrix3,
                    translation: origin,
                });
            }
            skeleton.pose_from_palette(&Palette { model_from_bone })
        };
        let poses = (0..frame_count)
            .map(pose_of)
            .collect::<Result<Vec<Pose>, _>>()
            .map_err(SkinError::from)?;
        let program = VertexProgram::Ssd(SsdProgram {
            rest_positions: program.rest_positions.clone(),
            weights,
            corrections: Vec::new(),
        });
        Ok((Skin::new(skeleton, program, Vec::new())?, poses))
    }
}

/// The poses with joints that turn in place that match the frames best; the search begins at the given poses.
fn turn_joints(
    skin: &Skin,
    animation: &MeshAnimation,
    poses: &[Pose],
) -> Result<Vec<Pose>, FitError> {
    let options = PoseOptions {
        joints: JointFreedom::Turn,
        max_rounds: POSE_STEPS,
    };
    let solver = PoseSolver::new(skin, &options)?;
    let frames: Vec<&[DVec3]> = animation.frames().collect();
    let solved = par::map(frames.len(), |frame| {
        solver
            .solve(frames[frame], &poses[frame])
            .map(|fit| fit.pose)
    });
    solved.into_iter().collect()
}

/// Weights and rest positions that fit the frames best in some poses.
fn fit_vertices(
    problem: &Problem<'_>,
    step: &super::point_step::PointStep<'_>,
    skin: &Skin,
    poses: &[Pose],
) -> Result<Skin, FitError> {
    let VertexProgram::Ssd(program) = &skin.program else {
        return bad_option("skin", "expected linear blend skinning");
    };
    let skeleton = &skin.skeleton;
    let mut bones = Bones::zeros(skeleton.bone_count(), problem.whole.dimension);
    for (frame, pose) in poses.iter().enumerate() {
        let palette = skeleton.palette(pose).map_err(SkinError::from)?;
        for (bone, matrix) in skeleton.posed_from_rest(&palette).iter().enumerate() {
            problem.units.set_matrix(&mut bones, bone, frame, matrix);
        }
    }
    let mut supports = Supports::with_capacity(program.weights.len(), step.max_influences);
    for row in program.weights.iter() {
        let bones: Vec<u16> = row.iter().map(|w| w.bone.0).collect();
        let weights: Vec<f64> = row.iter().map(|w| w.weight).collect();
        supports.push(&bones, &weights);
    }
    let points = Points {
        rest: (program.rest_positions.iter())
            .map(|&position| problem.units.scale_rest(position))
            .collect(),
        errors: vec![0.0; supports.count()],
        supports,
    };
    let solved = step.run(&problem.whole, &bones, &points);
    let (rest_positions, weights) = problem.vertices(&solved);
    let program = VertexProgram::Ssd(SsdProgram {
        rest_positions,
        weights,
        corrections: Vec::new(),
    });
    Ok(Skin::new(skeleton.clone(), program, Vec::new())?)
}
