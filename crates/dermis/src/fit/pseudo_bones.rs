//! Linear blend skinning with pseudo-bones: more bones instead of another model.
//!
//! Blending a bone with its parent cannot turn without shrinking, and nothing in a skeleton swells.
//! \[Mohr03\] §5 adds bones that do: one per joint that turns half as far, and some that scale with
//! its bend. Weights are then fitted as ever, and every player of linear blend skinning plays the
//! result, once its clips have been baked with [`Skin::bake`].
//!
//! A joint's turn is measured from its rest and is at most half a turn: past that its pseudo-bones
//! jump to the other side. What turns the whole character, a bone without a parent, is no joint.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::method::{MethodInfo, Promises, StockPlayers};
use super::{FitError, Fitted, SsdOptions, at_unit_size, fit_ssd, ssd};
use crate::example::{Example, ExampleSet};
use crate::progress::Progress;
use crate::rig::{
    Bone, BoneId, DerivedBone, DerivedMotion, Pose, RigError, Skeleton, Trs, complete, joint_turn,
    rest_parent_from_bone,
};
use crate::skin::{Skin, SkinError, VertexProgram, Weight};

pub(super) static INFO: MethodInfo = MethodInfo {
    key: "pseudo-bones",
    aliases: &[],
    title: "linear blend skinning with pseudo-bones",
    summary: "linear blend skinning with bones between the bones, which turn half-way and swell",
    use_when: "joints twist and muscles swell, and plain skins of a few more bones are welcome",
    promises: Promises {
        in_stock_players: StockPlayers::Baked,
        ..ssd::INFO.promises
    },
};

/// A joint that turns less than this in every training pose gets no pseudo-bones, in radians (5°).
const LEAST_TURN_RAD: f64 = 5.0 * std::f64::consts::PI / 180.0;
/// What swelling and shrinking bones scale by at a half turn, less 1.
const GAINS: [(&str, f64); 2] = [("swell", 1.0), ("shrink", -0.5)];

/// Fits weights to the skeleton's bones and to pseudo-bones between them.
///
/// Every joint that turns by 5° or more in a training pose is given pseudo-bones; those that no
/// vertex follows in the end are taken out again. The others are the skin's
/// [derived](crate::skin::PoseProgram::derived) bones, named after the joint's bone: `forearm.half`; `forearm.swell`
/// and `forearm.shrink` on the bone; `forearm.parent_swell` and `forearm.parent_shrink` on its
/// parent.
///
/// Cost: as [`fit_ssd`] with up to six times the bones.
///
/// ```
/// use dermis::fit::{SsdOptions, fit_pseudo_bones};
/// use dermis::progress::Silent;
///
/// let arm = dermis::synth::arm(&Default::default()).examples;
/// let training: Vec<usize> = (0..arm.examples().len()).collect();
/// let fitted = fit_pseudo_bones(&arm, &training, &SsdOptions::default(), &Silent)?;
/// assert!(fitted.skin.skeleton.find("hand.half").is_some());
/// // Poses of the arm itself still pose it.
/// let shown = fitted.skin.evaluate(&arm.skeleton().rest_pose())?;
/// assert_eq!(shown.len(), arm.rest().vertex_count());
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// As [`fit_ssd`], and [`RigError::TooManyBones`] within [`FitError::Skin`].
pub fn fit_pseudo_bones(
    set: &ExampleSet,
    training: &[usize],
    options: &SsdOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    at_unit_size(set, |set| {
        let (skeleton, derived) = with_pseudo_bones(set, training)?;
        if derived.is_empty() {
            return fit_ssd(set, training, options, progress);
        }
        let mut examples = Vec::with_capacity(training.len());
        for &k in training {
            let example = &set.examples()[k];
            let locals = complete(&skeleton, &derived, &example.pose.parent_from_bone);
            examples.push(Example {
                name: example.name.clone(),
                pose: Pose::new(locals.map_err(SkinError::from)?),
                positions: example.positions.clone(),
            });
        }
        let extended =
            ExampleSet::new(set.rest().clone(), skeleton, examples)?.with_size(set.size());
        let everything: Vec<usize> = (0..training.len()).collect();
        let fitted = fit_ssd(&extended, &everything, options, progress)?;
        Ok(Fitted {
            skin: without_unused(fitted.skin, &derived)?,
            round_errors: fitted.round_errors,
            smoothing: None,
            base: None,
        })
    })
}

/// A pseudo-bone before it is a bone of a skeleton.
struct Plan {
    name: String,
    parent: Option<BoneId>,
    /// Rigid, so that both motions are translation, rotation and scale.
    rest_parent_from_bone: DAffine3,
    of: BoneId,
    motion: DerivedMotion,
}

/// The skeleton with pseudo-bones at its end, and how they move.
fn with_pseudo_bones(
    set: &ExampleSet,
    training: &[usize],
) -> Result<(Skeleton, Vec<DerivedBone>), FitError> {
    let skeleton = set.skeleton();
    let mut plans = Vec::new();
    for of in skeleton.ids() {
        let Some(parent) = skeleton.bones()[of.index()].parent else {
            continue;
        };
        let rest = rest_parent_from_bone(skeleton, of);
        let turns = training.iter().map(|&k| {
            let local = &set.examples()[k].pose.parent_from_bone[of.index()];
            joint_turn(&rest, local).to_scaled_axis().length()
        });
        // A singular rest matrix gives a turn that is no number, and no pseudo-bone.
        if !turns.fold(0.0, f64::max).ge(&LEAST_TURN_RAD) || !rest.inverse().is_finite() {
            continue;
        }
        plan_joint(skeleton, of, parent, &mut plans);
    }
    extend(skeleton, plans).map_err(|error| SkinError::from(error).into())
}

/// Adds the pseudo-bones of one joint.
fn plan_joint(skeleton: &Skeleton, of: BoneId, parent: BoneId, plans: &mut Vec<Plan>) {
    let name = &skeleton.bones()[of.index()].name;
    let rest = rest_parent_from_bone(skeleton, of);
    plans.push(Plan {
        name: format!("{name}.half"),
        parent: Some(parent),
        rest_parent_from_bone: Trs::rigid(Trs::from_affine(&rest).0.rotation, rest.translation)
            .to_affine(),
        of,
        motion: DerivedMotion::PartTurn { share: 0.5 },
    });
    let carriers = [
        (of, "", direction_of(skeleton, of)),
        (parent, "parent_", rest.translation),
    ];
    for (carrier, prefix, along) in carriers {
        for (kind, gain) in GAINS {
            plans.push(Plan {
                name: format!("{name}.{prefix}{kind}"),
                parent: Some(carrier),
                rest_parent_from_bone: frame_along(along),
                of,
                motion: DerivedMotion::Swell { gain },
            });
        }
    }
}

/// Where a bone points in its own frame: to the joints of its children, or on from its parent.
fn direction_of(skeleton: &Skeleton, bone: BoneId) -> DVec3 {
    let children = skeleton
        .ids()
        .filter(|j| skeleton.bones()[j.index()].parent == Some(bone));
    let ahead: DVec3 = children
        .map(|child| rest_parent_from_bone(skeleton, child).translation)
        .sum();
    let rest = rest_parent_from_bone(skeleton, bone);
    match ahead.try_normalize() {
        Some(ahead) => ahead,
        None => rest.matrix3.inverse() * rest.translation,
    }
}

/// A frame at the origin with its x axis in a direction.
fn frame_along(direction: DVec3) -> DAffine3 {
    let x = direction.try_normalize().unwrap_or(DVec3::X);
    let y = x.any_orthonormal_vector();
    let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize();
    DAffine3::from_quat(rotation)
}

fn extend(skeleton: &Skeleton, plans: Vec<Plan>) -> Result<(Skeleton, Vec<DerivedBone>), RigError> {
    let first = skeleton.bone_count();
    if first + plans.len() > usize::from(u16::MAX) {
        return Err(RigError::TooManyBones {
            found: first + plans.len(),
        });
    }
    let derived: Vec<DerivedBone> = plans
        .iter()
        .enumerate()
        .map(|(m, plan)| DerivedBone {
            bone: BoneId((first + m) as u16),
            of: plan.of,
            motion: plan.motion,
        })
        .collect();
    let mut bones = skeleton.bones().to_vec();
    bones.extend(plans.into_iter().map(|plan| {
        let rest_from_parent = plan.parent.map_or(DAffine3::IDENTITY, |parent| {
            skeleton.bones()[parent.index()].bone_from_rest.inverse()
        });
        Bone {
            name: plan.name,
            parent: plan.parent,
            default_parent_from_bone: Trs::from_affine(&plan.rest_parent_from_bone).0,
            bone_from_rest: (rest_from_parent * plan.rest_parent_from_bone).inverse(),
        }
    }));
    // In the default pose, which need not be the rest pose, derived bones stand where they follow.
    let extended = Skeleton::new(bones.clone())?;
    let default = skeleton.default_pose().parent_from_bone;
    for d in &derived {
        let local = d.parent_from_bone(&extended, &default[d.of.index()]);
        bones[d.bone.index()].default_parent_from_bone = Trs::from_affine(&local).0;
    }
    Ok((Skeleton::new(bones)?, derived))
}

/// The skin without the derived bones that no vertex follows.
fn without_unused(skin: Skin, derived: &[DerivedBone]) -> Result<Skin, FitError> {
    let mut used = vec![false; skin.skeleton.bone_count()];
    for bone in skin.program.bones() {
        used[bone.index()] = true;
    }
    let posed_count = skin.skeleton.bone_count() - derived.len();
    used[..posed_count].fill(true);
    // Posed bones keep their numbers, because derived ones come last.
    let mut renumbered = vec![BoneId(0); used.len()];
    let mut bones = Vec::new();
    for (j, bone) in skin.skeleton.bones().iter().enumerate() {
        if used[j] {
            renumbered[j] = BoneId(bones.len() as u16);
            bones.push(bone.clone());
        }
    }
    let kept = derived
        .iter()
        .filter(|d| used[d.bone.index()])
        .map(|d| DerivedBone {
            bone: renumbered[d.bone.index()],
            ..*d
        })
        .collect();
    let VertexProgram::Ssd(mut program) = skin.program else {
        unreachable!("fit_ssd makes linear blend skins");
    };
    program.weights = program
        .weights
        .iter()
        .map(|row| {
            let weight = |w: &Weight| Weight {
                bone: renumbered[w.bone.index()],
                ..*w
            };
            row.iter().map(weight).collect::<Vec<_>>()
        })
        .collect();
    let skeleton = Skeleton::new(bones).map_err(SkinError::from)?;
    let program = VertexProgram::Ssd(program);
    Ok(Skin::with_derived(skeleton, program, Vec::new(), kept)?)
}
