//! Turns a skin whose bones shear into one that every player supports.
//!
//! Skinning decomposition and affine fits give bones any matrix, but a node of a file is a translation, a rotation and
//! a scale. Every bone that shears becomes two: a carrier `NAME` with T, R1 and S, which holds no vertices, and its
//! child `NAME.turn` with R2, which has the vertices, the inverse bind matrix and the children of the old bone.
//! `clip/nested.rs` chooses R1 and R2.

use glam::{DAffine3, DMat3};

use super::fewer_keys::FewerKeys;
use super::shares::Shares;
use super::{Skin, SkinError};
use crate::clip::{
    Channel, Clip, Interpolation, Keys, NestedKey, Nodes, carried, needs_two_nodes, split_track,
};
use crate::math::{largest_stretch, unit_factor};
use crate::par;
use crate::rig::{Bone, BoneId, Pose, RigError, Similarity, Skeleton, Trs};

/// The share of the key tolerance within which a bone's shear counts as none, or R2 as unmoved.
const SHEAR_SHARE: f64 = 0.25;

/// A motion as one pose per frame; bones may shear.
#[derive(Debug, Clone)]
pub struct PoseClip<'a> {
    /// Name shown to people and written to files.
    pub name: String,
    /// One per frame, the first at time 0.
    pub poses: &'a [Pose],
    /// The frame rate; above 0.
    pub frames_per_second: f64,
}

/// How to make a skin playable.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PlayableOptions {
    /// How far the vertices of each bone may be off at any frame, as a root mean square in model units, 0 or more; no
    /// vertex is off by more than four times that. With 0, the default, all keys of moving bones are kept. With more,
    /// shear and keys are dropped where no vertex moves by more than that. Multi-weight and dual quaternion skins
    /// always keep all keys.
    pub key_tolerance: f64,
}

/// A skin whose bones have only translations, rotations and scales.
#[derive(Debug, Clone, PartialEq)]
pub struct Playable {
    /// The skin; its rest mesh and weights are those of the input.
    pub skin: Skin,
    /// One clip for each input clip, including derived and proxy bones.
    pub clips: Vec<Clip>,
    /// For each bone of the input, the bone that now has its vertices and its children.
    pub bones: Vec<BoneId>,
    /// For each bone of the given skin, the bone that now stands where it stood: that of `bones`, or its carrier.
    pub outer_bones: Vec<BoneId>,
    /// How many bones became two.
    pub split_count: usize,
}

impl Playable {
    /// A clip of the given skin's bones, or of the first of them, on those that now stand in their places. Channels
    /// of coefficients and of other bones are left out.
    pub fn adopted(&self, clip: &Clip) -> Clip {
        let new = |bone: &BoneId| self.outer_bones.get(bone.index()).copied();
        let channel = |channel: &Channel| match channel {
            Channel::Translation(bone, keys) => {
                new(bone).map(|bone| Channel::Translation(bone, keys.clone()))
            }
            Channel::Rotation(bone, keys) => {
                new(bone).map(|bone| Channel::Rotation(bone, keys.clone()))
            }
            Channel::Scale(bone, keys) => new(bone).map(|bone| Channel::Scale(bone, keys.clone())),
            Channel::Coefficients(..) => None,
        };
        Clip {
            name: clip.name.clone(),
            channels: clip.channels.iter().filter_map(channel).collect(),
        }
    }
}

impl PlayableOptions {
    /// Checks the ranges that the fields state.
    ///
    /// # Errors
    /// [`SkinError::BadOption`].
    pub fn check(&self) -> Result<(), SkinError> {
        if self.key_tolerance.is_finite() && self.key_tolerance >= 0.0 {
            return Ok(());
        }
        Err(SkinError::BadOption {
            option: "key-tolerance",
            problem: format!(
                "expected a number of at least 0, found {}",
                self.key_tolerance
            ),
        })
    }
}

/// Turns poses of any affine matrices into clips, and bones that shear into pairs of bones.
///
/// At every frame the skin shows the same shape as the input in the pose of that frame, up to rounding or the key
/// tolerance. Between frames bones stay near the straight line between their matrices; where R1 and R2 would stray from
/// it, keys are added at halves, quarters or eighths of a frame. The default pose stays the same. Derived bones stay
/// derived unless the joint that they follow is split: then they get keys instead. Proxy bones always stay proxies, and
/// the bones that they follow keep all their keys and all their shear.
///
/// Time is linear in bones times frames.
///
/// ```
/// use dermis::skin::{PlayableOptions, PoseClip, to_playable};
///
/// let tube = dermis::synth::tube(&dermis::synth::TubeOptions {
///     ring_count: 10, segment_count: 8, bone_count: 2, example_count: 4,
/// });
/// let mut sheared = tube.truth.skeleton.rest_pose();
/// sheared.parent_from_bone[1].matrix3.y_axis.x += 0.3;
/// let poses = [tube.truth.skeleton.rest_pose(), sheared];
/// let clip = PoseClip { name: "shear".to_owned(), poses: &poses, frames_per_second: 24.0 };
/// let playable = to_playable(&tube.truth, &[clip], &PlayableOptions::default())?;
/// assert_eq!(playable.split_count, 1);
/// let end = playable.skin.sample(&playable.clips[0], 1.0 / 24.0);
/// let (shown, wanted) = (playable.skin.evaluate(&end)?, tube.truth.evaluate(&poses[1])?);
/// assert!(shown.iter().zip(&wanted).all(|(a, b)| a.distance(*b) < 1e-9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SkinError::BadOption`] for options and frame rates out of range, [`SkinError::Rig`] for poses of
/// another skeleton or that are not finite, and for too many bones.
pub fn to_playable(
    skin: &Skin,
    clips: &[PoseClip<'_>],
    options: &PlayableOptions,
) -> Result<Playable, SkinError> {
    options.check()?;
    let poses = clips
        .iter()
        .map(|clip| complete_poses(skin, clip))
        .collect::<Result<Vec<Vec<Pose>>, SkinError>>()?;
    let first = poses.iter().flatten().next();
    let shown = first.map(|pose| skin.evaluate(pose)).transpose()?;
    let factor = unit_factor(shown.as_deref());
    if factor == 1.0 {
        return Job::new(skin, clips, poses).playable(options.key_tolerance);
    }
    let by = Similarity::scaling(factor);
    let moved = |poses: Vec<Pose>| {
        let moved = poses.iter().map(|pose| by.pose(&skin.skeleton, pose));
        moved.collect()
    };
    let at_unit_size = skin.moved(&by)?;
    let job = Job::new(&at_unit_size, clips, poses.into_iter().map(moved).collect());
    let playable = job.playable(factor * options.key_tolerance)?;
    let back = Similarity::scaling(1.0 / factor);
    let clips = playable.clips.iter();
    Ok(Playable {
        clips: (clips.map(|clip| back.clip(&playable.skin.skeleton, clip))).collect(),
        skin: playable.skin.moved(&back)?,
        ..playable
    })
}

/// A skin and its complete poses, at about unit size.
struct Job<'a> {
    skin: &'a Skin,
    clips: &'a [PoseClip<'a>],
    /// One list per clip.
    poses: Vec<Vec<Pose>>,
    /// The linear parts of every bone in every frame, by clip and bone.
    tracks: Vec<Vec<Vec<DMat3>>>,
    /// Bones that proxies depend on.
    followed: Vec<BoneId>,
}

/// Bones that do not shear, and clips with a key at every frame for bones that move.
struct Split {
    plan: Plan,
    skin: Skin,
    clips: Vec<Clip>,
    is_split: Vec<bool>,
    /// The largest error of the vertices, divided by the tolerance.
    error: f64,
}

impl<'a> Job<'a> {
    fn new(skin: &'a Skin, clips: &'a [PoseClip<'a>], poses: Vec<Vec<Pose>>) -> Self {
        let tracks = |poses: &Vec<Pose>| {
            let track = |j: usize| poses.iter().map(move |p| p.parent_from_bone[j].matrix3);
            let bones = 0..skin.pose_program.keyed_bone_count(&skin.skeleton);
            bones.map(|j| track(j).collect()).collect()
        };
        Self {
            skin,
            clips,
            tracks: poses.iter().map(tracks).collect(),
            followed: skin.pose_program.read_by_proxies(&skin.skeleton),
            poses,
        }
    }

    fn playable(&self, tolerance: f64) -> Result<Playable, SkinError> {
        let exact = self.split(&vec![0.0; self.skin.skeleton.bone_count()])?;
        let Some(shares) = self.skin.shares().filter(|_| tolerance > 0.0) else {
            return self.finish(exact);
        };
        let key_count = |clips: &[Clip]| clips.iter().map(Clip::key_count).sum::<usize>();
        let keys_of_all = key_count(&exact.clips);
        // Dropping invisible shear saves nodes, and sometimes costs keys between frames.
        let shear = self.shear_tolerances(&shares, SHEAR_SHARE * tolerance);
        let lenient = self.reduce(self.split(&shear)?, tolerance)?;
        // Dropped shear may be visible after all, where errors of several bones add up.
        if lenient.error <= 1.0 && key_count(&lenient.clips) <= keys_of_all {
            return self.finish(lenient);
        }
        self.finish(self.reduce(exact, tolerance)?)
    }

    /// Splits the bones that shear by more than their tolerance.
    fn split(&self, shear: &[f64]) -> Result<Split, SkinError> {
        let is_split: Vec<bool> = (shear.iter().enumerate())
            .map(|(j, &tolerance)| {
                // Proxies have two nodes already.
                let mut matrices = (self.tracks.iter())
                    .filter_map(|bones| bones.get(j))
                    .flatten();
                matrices.any(|m| needs_two_nodes(m, tolerance))
            })
            .collect();
        let plan = Plan::new(self.skin, &is_split)?;
        let skin = plan.skin(self.skin)?;
        let untouched = self.untouched(&plan, &skin);
        let parts = self.clips.iter().zip(&self.poses).zip(&self.tracks);
        let clips = parts.map(|((clip, poses), tracks)| {
            let channels = par::map(tracks.len(), |j| {
                let nodes = if is_split[j] { Nodes::Two } else { Nodes::One };
                let keys = split_track(&tracks[j], nodes, shear[j]);
                plan.channels(j, poses, &keys, clip.frames_per_second)
            });
            let coefficients = coefficient_channel(self.skin, poses, clip);
            let full = Clip {
                name: clip.name.clone(),
                channels: (channels.into_iter().flatten().chain(coefficients)).collect(),
            };
            full.without_still_keys(&skin.skeleton, &untouched)
        });
        Ok(Split {
            clips: clips.collect(),
            plan,
            skin,
            is_split,
            error: 0.0,
        })
    }

    /// New bones that keep all their keys: bones followed by derived ones, which must not be simplified twice, and
    /// bones followed by proxies, whose response to a small error is unknown.
    fn untouched(&self, plan: &Plan, new_skin: &Skin) -> Vec<BoneId> {
        let derived_from = new_skin.pose_program.derived().iter().map(|d| d.of);
        let followed = self.followed.iter().flat_map(|&bone| plan.nodes(bone));
        derived_from.chain(followed).collect()
    }

    /// The clips with fewer keys.
    fn reduce(&self, split: Split, tolerance: f64) -> Result<Split, SkinError> {
        let Some(shares) = split.skin.shares() else {
            return Ok(split);
        };
        let untouched = self.untouched(&split.plan, &split.skin);
        let fewer = FewerKeys {
            skin: &split.skin,
            shares: &shares,
            untouched: &untouched,
            tolerance,
        };
        let mut clips = Vec::with_capacity(split.clips.len());
        let mut error = split.error;
        for ((full, given), poses) in split.clips.iter().zip(self.clips).zip(&self.poses) {
            // Between frames, the clip itself is the reference.
            let target = |time: f64| match given.frame_at(time).and_then(|k| poses.get(k)) {
                Some(pose) => self.skin.evaluate(pose),
                None => split.skin.evaluate(&split.skin.sample(full, time)),
            };
            let reduced = fewer.reduce(full, &target)?;
            let errors = fewer.relative_errors(&reduced, &full.key_times(), &target)?;
            error = errors.into_iter().fold(error, f64::max);
            clips.push(reduced);
        }
        Ok(Split {
            clips,
            error,
            ..split
        })
    }

    fn finish(&self, split: Split) -> Result<Playable, SkinError> {
        let Split {
            plan,
            skin,
            clips,
            is_split,
            ..
        } = split;
        let baked = clips.iter().map(|clip| skin.bake(clip));
        let clips = baked.collect::<Result<_, _>>()?;
        Ok(Playable {
            skin,
            clips,
            split_count: is_split.iter().filter(|split| **split).count(),
            bones: plan.inner,
            outer_bones: plan.outer,
        })
    }

    /// For each bone, the error of its matrix, as a norm, that moves its vertices by no more than the tolerance when
    /// all its ancestors have their allowed errors, too.
    fn shear_tolerances(&self, shares: &Shares, tolerance: f64) -> Vec<f64> {
        let skeleton = &self.skin.skeleton;
        let mut depths: Vec<usize> = Vec::with_capacity(skeleton.bone_count());
        for bone in skeleton.bones() {
            depths.push(1 + bone.parent.map_or(0, |parent| depths[parent.index()]));
        }
        let deepest = depths.iter().copied().max().unwrap_or(1);
        let all: Vec<&Pose> = self.poses.iter().flatten().collect();
        let in_poses = par::map(all.len(), |k| {
            let carried = carried(skeleton, all[k], &shares.of_bone);
            let lever = carried
                .iter()
                .map(|c| largest_stretch(&c.model_from_parent) * c.moments.reach());
            lever.collect::<Vec<f64>>()
        });
        let mut largest = vec![0.0f64; skeleton.bone_count()];
        for levers in &in_poses {
            for (largest, lever) in largest.iter_mut().zip(levers) {
                *largest = largest.max(*lever);
            }
        }
        let mut tolerances: Vec<f64> = (largest.iter())
            .map(|&largest| match largest > 0.0 {
                true => tolerance / deepest as f64 / largest,
                // A bone without vertices has no measure of its error.
                false => 0.0,
            })
            .collect();
        for bone in &self.followed {
            tolerances[bone.index()] = 0.0;
        }
        tolerances
    }
}

impl PoseClip<'_> {
    /// The frame at a time, if there is one.
    fn frame_at(&self, time: f64) -> Option<usize> {
        let frame = time * self.frames_per_second;
        ((frame - frame.round()).abs() < 1e-6).then_some(frame.round() as usize)
    }
}

/// The poses of a clip with all bones and all coefficients, checked.
fn complete_poses(skin: &Skin, clip: &PoseClip<'_>) -> Result<Vec<Pose>, SkinError> {
    if !clip.frames_per_second.is_finite() || clip.frames_per_second <= 0.0 {
        return Err(SkinError::BadOption {
            option: "frames-per-second",
            problem: format!(
                "expected a number above 0, found {}",
                clip.frames_per_second
            ),
        });
    }
    let complete = |(k, pose): (usize, &Pose)| {
        let inputs = skin.run_pose_program(pose)?;
        let full = Pose {
            coefficients: inputs.coefficients,
            ..skin.complete_pose(pose)?
        };
        let finite = full.parent_from_bone.iter().all(|m| m.is_finite())
            && full.coefficients.iter().all(|c| c.is_finite());
        match finite {
            true => Ok(full),
            false => Err(SkinError::Rig(RigError::NotFinite {
                what: format!("pose {k} of clip {}", clip.name),
            })),
        }
    };
    clip.poses.iter().enumerate().map(complete).collect()
}

/// The coefficients of all frames; `None` when they keep their defaults.
fn coefficient_channel(skin: &Skin, poses: &[Pose], clip: &PoseClip<'_>) -> Option<Channel> {
    let defaults = skin.default_coefficients();
    let moves = poses.iter().any(|pose| pose.coefficients != defaults);
    moves.then(|| {
        let keys = Keys {
            interpolation: Interpolation::Linear,
            times: (0..poses.len())
                .map(|k| k as f64 / clip.frames_per_second)
                .collect(),
            values: poses.iter().map(|p| p.coefficients.clone()).collect(),
        };
        Channel::Coefficients(0, keys)
    })
}

/// The bones of the new skin.
struct Plan {
    /// Old bones in the order of the new ones.
    order: Vec<usize>,
    /// The new bone that has T, R1 and S of each old one.
    outer: Vec<BoneId>,
    /// The new bone that has the vertices and children of each old one.
    inner: Vec<BoneId>,
    /// The entries of the skin's derived bones that stay derived.
    derived: Vec<usize>,
}

impl Plan {
    fn new(skin: &Skin, is_split: &[bool]) -> Result<Self, SkinError> {
        let bone_count = skin.skeleton.bone_count();
        let all = skin.pose_program.derived();
        let stays = |m: &usize| {
            let derived = &all[*m];
            !is_split[derived.of.index()] && !is_split[derived.bone.index()]
        };
        let (derived, keyed): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(stays);
        let bone_of = |m: &usize| all[*m].bone.index();
        // Derived bones and proxies are the last of a skeleton and have no children.
        let order: Vec<usize> = (0..skin.posed_bone_count())
            .chain(keyed.iter().map(bone_of))
            .chain(derived.iter().map(bone_of))
            .chain(skin.pose_program.keyed_bone_count(&skin.skeleton)..bone_count)
            .collect();
        let found = bone_count + is_split.iter().filter(|split| **split).count();
        if found > usize::from(u16::MAX) {
            return Err(SkinError::Rig(RigError::TooManyBones { found }));
        }
        let (mut outer, mut inner) = (vec![BoneId(0); bone_count], vec![BoneId(0); bone_count]);
        let mut next = 0;
        for &j in &order {
            outer[j] = BoneId(next);
            next += u16::from(is_split[j]);
            inner[j] = BoneId(next);
            next += 1;
        }
        Ok(Self {
            order,
            outer,
            inner,
            derived,
        })
    }

    fn is_split(&self, j: usize) -> bool {
        self.outer[j] != self.inner[j]
    }

    /// The input skin with the new bones.
    fn skin(&self, skin: &Skin) -> Result<Skin, SkinError> {
        let given = skin.skeleton.bones();
        let mut bones: Vec<Bone> = Vec::with_capacity(given.len());
        let mut carriers = Vec::new();
        for &j in &self.order {
            let bone = &given[j];
            bones.push(Bone {
                parent: bone.parent.map(|parent| self.inner[parent.index()]),
                ..bone.clone()
            });
            if self.is_split(j) {
                bones.push(Bone {
                    name: free_name(&format!("{}.turn", bone.name), given),
                    parent: Some(self.outer[j]),
                    default_parent_from_bone: Trs::IDENTITY,
                    bone_from_rest: bone.bone_from_rest,
                });
                carriers.push(self.outer[j]);
            } else if skin.skeleton.is_carrier(BoneId(j as u16)) {
                carriers.push(self.inner[j]);
            }
        }
        let derived = self.derived.iter().map(|&m| {
            let mut derived = skin.pose_program.derived()[m];
            derived.bone = self.inner[derived.bone.index()];
            derived.of = self.inner[derived.of.index()];
            derived
        });
        let renumber = |bone: BoneId| self.inner[bone.index()];
        let new = Skin::with_derived(
            Skeleton::new(bones)?.with_carriers(carriers),
            skin.program.with_bones(renumber),
            skin.coefficients.clone(),
            derived.collect(),
        )?;
        match skin.pose_program.proxies() {
            // The inner node of a pair has the matrix and the rest matrix of the old bone.
            Some(proxies) => new.with_proxies(proxies.with_bones(renumber)),
            None => Ok(new),
        }
    }

    /// The new bones of an old one.
    fn nodes(&self, bone: BoneId) -> [BoneId; 2] {
        [self.outer[bone.index()], self.inner[bone.index()]]
    }

    /// The channels of an old bone.
    fn channels(&self, j: usize, poses: &[Pose], keys: &[NestedKey], rate: f64) -> Vec<Channel> {
        if poses.is_empty() {
            return Vec::new();
        }
        let frames: Vec<f64> = (0..poses.len()).map(|k| k as f64 / rate).collect();
        let local = |pose: &Pose| -> DAffine3 { pose.parent_from_bone[j] };
        let translations = poses.iter().map(|pose| local(pose).translation).collect();
        let times: Vec<f64> = keys.iter().map(|key| key.frame / rate).collect();
        let mut channels = vec![
            Channel::Translation(self.outer[j], linear(&frames, translations)),
            Channel::Rotation(
                self.outer[j],
                linear(&times, keys.iter().map(|key| key.form.outer).collect()),
            ),
            Channel::Scale(
                self.outer[j],
                linear(&times, keys.iter().map(|key| key.form.scale).collect()),
            ),
        ];
        if self.is_split(j) {
            let turns = keys.iter().map(|key| key.form.inner).collect();
            channels.push(Channel::Rotation(self.inner[j], linear(&times, turns)));
        }
        channels
    }
}

fn linear<T>(times: &[f64], values: Vec<T>) -> Keys<T> {
    Keys {
        interpolation: Interpolation::Linear,
        times: times.to_vec(),
        values,
    }
}

/// A name that no bone has yet.
fn free_name(wanted: &str, bones: &[Bone]) -> String {
    let mut name = wanted.to_owned();
    let mut number = 1;
    while bones.iter().any(|bone| bone.name == name) {
        number += 1;
        name = format!("{wanted}{number}");
    }
    name
}
