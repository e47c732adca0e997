//! Takes (animation stacks) to clips: every bone and every shape at the file's frame rate.

use dermis::clip::{Clip, MOST_FRAMES};
use dermis::document::{FRAMES_PER_SECOND, free_name};
use dermis::limits::check_memory;
use dermis::rig::{Bone, Pose, RigError, Skeleton, Trs};
use dermis::skin::{PlayableOptions, PoseClip, VertexProgram, to_playable};
use dermis::{BoneId, Skin};
use ufbx::{AnimStack, Scene};

use crate::FbxError;
use crate::bones::Bones;
use crate::nodes::{Placed, place};
use crate::shapes::Shapes;

/// Bytes of one bone in one frame while a take becomes a clip: its matrix in several places, then keys.
const BYTES_PER_BONE: u64 = 800;
/// Share of a frame by which a take may end after its last whole frame, because times are rounded.
const ROUNDING: f64 = 1e-3;

/// How much a bone may scale and still count as rigid.
const LEAST_SCALE: f64 = 1e-4;

/// What takes move.
pub(crate) struct Rig<'a> {
    pub(crate) scene: &'a Scene,
    /// The nodes that are needed to place its bones.
    pub(crate) needed: &'a [bool],
    pub(crate) default: &'a [Placed],
    pub(crate) bones: &'a Bones,
    pub(crate) shapes: &'a Shapes<'a>,
}

/// The frames per second that the file states, or the usual ones where it states none.
pub(crate) fn frame_rate(scene: &Scene, notes: &mut Vec<String>) -> f64 {
    let stated = scene.settings.frames_per_second;
    if (1.0..=10_000.0).contains(&stated) {
        return stated;
    }
    notes.push(format!(
        "{stated} frames per second: {FRAMES_PER_SECOND} taken instead"
    ));
    FRAMES_PER_SECOND
}

impl Rig<'_> {
    /// The skin with its clips; bones that shear become pairs.
    pub(crate) fn with_clips(
        &self,
        skin: &Skin,
        rate: f64,
        notes: &mut Vec<String>,
    ) -> Result<(Skin, Vec<Clip>), FbxError> {
        let mut sampled: Vec<(String, Vec<Pose>)> = Vec::new();
        let mut still = Vec::new();
        for stack in &self.scene.anim_stacks {
            let name = match stack.element.name.as_ref() {
                "" => "take",
                name => name,
            };
            let name = free_name(name, |name| sampled.iter().any(|(other, _)| other == name));
            let poses = self.poses(stack, &name, rate)?;
            match self.moves(skin, &poses) {
                true => sampled.push((name, poses)),
                false => still.push(name),
            }
        }
        if !still.is_empty() {
            let (takes, moves) = match still.len() {
                1 => ("take", "moves"),
                _ => ("takes", "move"),
            };
            let names = still.join(", ");
            notes.push(format!("{takes} {names} {moves} nothing: left out"));
        }
        // The default pose of a bone that shears needs two nodes, too, so it is made playable like a take.
        let default = [Pose {
            coefficients: skin.default_coefficients(),
            ..self.bones.pose(self.default)
        }];
        if matches!(skin.program, VertexProgram::DualQuaternion(_)) {
            let poses = default
                .iter()
                .chain(sampled.iter().flat_map(|(_, poses)| poses));
            notes.extend(note_of_scale(skin, poses)?);
        }
        let default_clip = self.bones.shears_by_default().then(|| PoseClip {
            name: "default".to_owned(),
            poses: &default,
            frames_per_second: rate,
        });
        let takes = sampled.iter().map(|(name, poses)| PoseClip {
            name: name.clone(),
            poses,
            frames_per_second: rate,
        });
        let all: Vec<PoseClip<'_>> = takes.chain(default_clip).collect();
        if all.is_empty() {
            return Ok((skin.clone(), Vec::new()));
        }
        let mut playable = to_playable(skin, &all, &PlayableOptions::default())?;
        if playable.split_count > 0 {
            notes.push(format!(
                "bones that shear, because scales are inherited through turned bones: {}; each is two nodes now",
                playable.split_count
            ));
        }
        if self.bones.shears_by_default()
            && let Some(clip) = playable.clips.pop()
        {
            let pose = playable.skin.sample(&clip, 0.0);
            playable.skin.skeleton = standing(&playable.skin.skeleton, &pose)?;
        }
        Ok((playable.skin, playable.clips))
    }

    /// Whether some frame differs from the default pose by more than rounding.
    fn moves(&self, skin: &Skin, poses: &[Pose]) -> bool {
        let default = self.bones.pose(self.default);
        let coefficients = skin.default_coefficients();
        poses.iter().any(|pose| {
            let bones = pose.parent_from_bone.iter().zip(&default.parent_from_bone);
            let tolerance = |size: f64| 1e-9 * (1.0 + size);
            { bones }.any(|(a, b)| !a.abs_diff_eq(*b, tolerance(b.translation.length())))
                || (pose.coefficients.iter().zip(&coefficients)).any(|(a, b)| (a - b).abs() > 1e-9)
        })
    }

    /// The pose in every frame of a take; the first is its beginning.
    fn poses(&self, stack: &AnimStack, name: &str, rate: f64) -> Result<Vec<Pose>, FbxError> {
        let (begin, end) = span(stack, self.scene.metadata.ktime_second as f64);
        let frames = ((end - begin) * rate - ROUNDING).ceil().max(0.0) + 1.0;
        if frames.is_nan() || frames > MOST_FRAMES as f64 {
            return Err(FbxError::Rig(RigError::TooManyFrames {
                clip: name.to_owned(),
                frames_per_second: rate,
                frames,
                most: MOST_FRAMES,
            }));
        }
        let nodes = self.needed.iter().filter(|needed| **needed).count() as u64;
        let shapes = self.shapes.coefficients.len() as u64;
        check_memory(
            &[frames as u64, nodes + shapes / 8 + 1, BYTES_PER_BONE],
            || format!("take {name} of {frames} frames"),
            "export a shorter take",
        )?;
        let time = |k: usize| (begin + k as f64 / rate).min(end);
        let pose = |k: usize| {
            let at = place(self.scene, Some((&stack.anim, time(k))), self.needed);
            Pose {
                coefficients: self.shapes.at(&stack.anim, time(k)),
                ..self.bones.pose(&at)
            }
        };
        Ok((0..frames as usize).map(pose).collect())
    }
}

/// Says when bones scale that are blended as dual quaternions, which leave the scale out.
fn note_of_scale<'a>(
    skin: &Skin,
    poses: impl Iterator<Item = &'a Pose>,
) -> Result<Option<String>, RigError> {
    let mut most = 0.0f64;
    for pose in poses {
        let palette = skin.skeleton.palette(pose)?;
        for (bone, matrix) in skin.skeleton.bones().iter().zip(&palette.model_from_bone) {
            let axes = (*matrix * bone.bone_from_rest).matrix3;
            for axis in [axes.x_axis, axes.y_axis, axes.z_axis] {
                most = most.max((axis.length() - 1.0).abs());
            }
        }
    }
    Ok((most > LEAST_SCALE).then(|| {
        format!(
            "bones under dual quaternion skinning scale by up to {:.1}%: their scale is left out, so vertices are not where \
             the program that wrote the file shows them",
            100.0 * most
        )
    }))
}

/// When a take begins and ends, in seconds of so many ticks: as the file says, or, where it does not, from the first to the last key.
fn span(stack: &AnimStack, ticks: f64) -> (f64, f64) {
    if stack.time_end > stack.time_begin {
        return (stack.time_begin, stack.time_end);
    }
    // Programs leave out a start at 0, and ufbx then takes no end either.
    let stop = stack.element.props.find_prop("LocalStop");
    let stop = stop.map_or(0.0, |stop| stop.value_int as f64 / ticks);
    if stop > 0.0 {
        return (0.0, stop);
    }
    let values = stack
        .layers
        .into_iter()
        .flat_map(|layer| &layer.anim_values);
    let curves = values.flat_map(|value| value.curves.iter().flatten());
    let spans = curves.filter_map(|curve| {
        let times = curve.keyframes.iter().map(|key| key.time);
        Some((times.clone().reduce(f64::min)?, times.reduce(f64::max)?))
    });
    let whole = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    whole.unwrap_or((stack.time_begin, stack.time_begin))
}

/// The skeleton with another default pose, whose transforms do not shear.
fn standing(skeleton: &Skeleton, pose: &Pose) -> Result<Skeleton, RigError> {
    let bones = skeleton.bones().iter().zip(&pose.parent_from_bone);
    let bones = bones.map(|(bone, local)| Bone {
        default_parent_from_bone: Trs::from_affine(local).0,
        ..bone.clone()
    });
    let carriers: Vec<BoneId> = skeleton.ids().filter(|&j| skeleton.is_carrier(j)).collect();
    Ok(Skeleton::new(bones.collect())?.with_carriers(carriers))
}
