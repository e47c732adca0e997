//! Lays the keys of a clip out for [`ClipSampler`](super::ClipSampler).

use std::collections::{BTreeMap, HashMap};

use glam::{DQuat, DVec3, Vec4};

use super::PoseBuffer;
use super::pose_buffer::{LANES, unit};
use super::timeline::Timeline;
use crate::clip::{Channel, Clip, Interpolation, Keys};
use crate::rig::{BoneId, RigError, Skeleton};

/// Timeline of the tracks that never change: always at its only key.
const CONSTANT_TIMELINE: u32 = 0;
/// Numbers after the last key, so that a whole rotation key can be read wherever a value begins.
const PADDING: usize = ROTATION_WIDTH;
/// A rotation key: x, y, z, w, and the squared angle to the next key in the space of quaternions.
const ROTATION_WIDTH: usize = 5;

/// What a track moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Translation(usize),
    Rotation(usize),
    Scale(usize),
    Coefficient(usize),
}

impl Target {
    /// How many numbers its value has.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Translation(_) | Self::Scale(_) => 3,
            Self::Rotation(_) => 4,
            Self::Coefficient(_) => 1,
        }
    }

    /// Orders the kinds; tracks of one kind and timeline are packed side by side.
    fn kind(self) -> usize {
        match self {
            Self::Translation(_) => 0,
            Self::Rotation(_) => 1,
            Self::Scale(_) => 2,
            Self::Coefficient(_) => 3,
        }
    }
}

/// Where to find the keys of one track: key `k` begins at `first + k·stride` of the values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Track {
    pub(super) first: u32,
    pub(super) stride: u32,
    pub(super) timeline: u32,
}

/// The tracks of four neighbouring bones.
#[derive(Debug)]
pub(super) struct Quad {
    /// Which block of the pose they move.
    pub(super) block: usize,
    pub(super) tracks: [Track; LANES],
}

/// A track of cubic keys: in-tangent, value and out-tangent.
#[derive(Debug)]
pub(super) struct CubicTrack {
    pub(super) target: Target,
    pub(super) track: Track,
}

/// The keys of a clip in `f32`, in the order in which sampling reads them.
#[derive(Debug)]
pub(super) struct PackedClip {
    /// The values that never change.
    pub(super) default: PoseBuffer,
    pub(super) timelines: Vec<Timeline>,
    pub(super) translations: Vec<Quad>,
    pub(super) rotations: Vec<Quad>,
    pub(super) scales: Vec<Quad>,
    pub(super) coefficients: Vec<(usize, Track)>,
    pub(super) cubics: Vec<CubicTrack>,
    pub(super) values: Vec<f32>,
    pub(super) start: f64,
    pub(super) end: f64,
}

/// One track before packing.
struct LooseTrack<'a> {
    target: Target,
    times: &'a [f64],
    interpolation: Interpolation,
    /// Numbers per key.
    width: usize,
    /// Key after key.
    values: Vec<f32>,
}

impl PackedClip {
    pub(super) fn new(
        skeleton: &Skeleton,
        clip: &Clip,
        default_coefficients: &[f64],
    ) -> Result<Self, RigError> {
        clip.check(skeleton, default_coefficients.len())?;
        let mut packed = Self {
            default: PoseBuffer::new(skeleton, default_coefficients),
            timelines: vec![Timeline {
                times: vec![0.0],
                step: true,
            }],
            translations: Vec::new(),
            rotations: Vec::new(),
            scales: Vec::new(),
            coefficients: Vec::new(),
            cubics: Vec::new(),
            values: Vec::new(),
            start: clip.start(),
            end: clip.end(),
        };
        let mut loose = loosen(clip)?;
        for track in &loose {
            if !track.values.iter().all(|v| v.is_finite()) {
                return Err(RigError::NotFinite {
                    what: describe(track.target, skeleton, clip),
                });
            }
        }
        loose.retain(|track| !packed.keep_constant(track));
        packed.pack(&loose);
        Ok(packed)
    }

    /// Writes a track that never changes into the default pose; false when it does change.
    fn keep_constant(&mut self, track: &LooseTrack) -> bool {
        let width = track.target.width();
        let mut keys = track.values.chunks(track.width);
        let Some(first) = keys.next() else {
            return true;
        };
        let first = match track.interpolation {
            Interpolation::Cubic if keys.len() > 0 => return false,
            // The value stands between the two tangents.
            Interpolation::Cubic => &first[width..2 * width],
            Interpolation::Step | Interpolation::Linear => &first[..width],
        };
        if keys.any(|key| key[..width] != *first) {
            return false;
        }
        let wide = |c: usize| f64::from(first[c]);
        let bone = |j: usize| BoneId(j as u16);
        match track.target {
            Target::Coefficient(m) => self.default.coefficients_mut()[m] = first[0],
            Target::Translation(j) => {
                let mut local = self.default.local(bone(j));
                local.translation = DVec3::from_array(std::array::from_fn(wide));
                self.default.set_local(bone(j), &local);
            }
            Target::Rotation(j) => {
                let mut local = self.default.local(bone(j));
                local.rotation = DQuat::from_array(std::array::from_fn(wide));
                self.default.set_local(bone(j), &local);
            }
            Target::Scale(j) => {
                let mut local = self.default.local(bone(j));
                local.scale = DVec3::from_array(std::array::from_fn(wide));
                self.default.set_local(bone(j), &local);
            }
        }
        true
    }

    /// Interleaves the tracks of each kind and timeline, and sorts them into fours.
    fn pack(&mut self, loose: &[LooseTrack<'_>]) {
        let mut groups: BTreeMap<(usize, bool, u32), Vec<&LooseTrack<'_>>> = BTreeMap::new();
        let mut timeline_of = HashMap::new();
        for track in loose {
            let step = track.interpolation == Interpolation::Step;
            let bits: Vec<u64> = track.times.iter().map(|t| t.to_bits()).collect();
            let timeline = *timeline_of.entry((bits, step)).or_insert_with(|| {
                self.timelines.push(Timeline {
                    times: track.times.to_vec(),
                    step,
                });
                index(self.timelines.len() - 1)
            });
            let cubic = track.interpolation == Interpolation::Cubic;
            let group = groups.entry((track.target.kind(), cubic, timeline));
            group.or_default().push(track);
        }
        let mut tracks: Vec<(Target, Track)> = Vec::new();
        for ((_, cubic, timeline), mut group) in groups {
            group.sort_by_key(|track| track.target);
            let width = group[0].width;
            let first = self.values.len();
            for (at, loose) in group.iter().enumerate() {
                let track = Track {
                    first: index(first + at * width),
                    stride: index(group.len() * width),
                    timeline,
                };
                match cubic {
                    true => self.cubics.push(CubicTrack {
                        target: loose.target,
                        track,
                    }),
                    false => tracks.push((loose.target, track)),
                }
            }
            for key in 0..group[0].times.len() {
                for track in &group {
                    let key = &track.values[key * width..(key + 1) * width];
                    self.values.extend_from_slice(key);
                }
            }
        }
        tracks.sort_by_key(|&(target, _)| target);
        for (target, track) in tracks {
            self.place(target, track);
        }
        self.values.extend([0.0; PADDING]);
        // Sampling computes `first + key·stride` in 32 bits.
        index(self.values.len());
    }

    /// Puts a track into its lane; the other lanes stand still until they get theirs.
    fn place(&mut self, target: Target, track: Track) {
        let blocks = self.default.blocks();
        let (j, quads, default): (_, _, &[Vec4]) = match target {
            Target::Translation(j) => (j, &mut self.translations, &blocks[j / LANES].translation),
            Target::Rotation(j) => (j, &mut self.rotations, &blocks[j / LANES].rotation),
            Target::Scale(j) => (j, &mut self.scales, &blocks[j / LANES].scale),
            Target::Coefficient(m) => return self.coefficients.push((m, track)),
        };
        let block = j / LANES;
        if quads.last().is_none_or(|quad| quad.block != block) {
            let tracks = std::array::from_fn(|lane| {
                let first = index(self.values.len());
                (self.values).extend(default.iter().map(|component| component[lane]));
                self.values.push(0.0); // the angle to the next rotation key, of which there is none
                Track {
                    first,
                    stride: 0,
                    timeline: CONSTANT_TIMELINE,
                }
            });
            quads.push(Quad { block, tracks });
        }
        if let Some(quad) = quads.last_mut() {
            quad.tracks[j % LANES] = track;
        }
    }
}

/// Tracks in `f32`, one per target: of several channels that move the same thing, the last one counts,
/// as in [`Clip::sample`].
fn loosen(clip: &Clip) -> Result<Vec<LooseTrack<'_>>, RigError> {
    let mut tracks: BTreeMap<Target, LooseTrack<'_>> = BTreeMap::new();
    for channel in &clip.channels {
        let times = channel.times();
        if times.is_empty() {
            continue;
        }
        let (interpolation, parts) = loosen_channel(channel, &clip.name)?;
        for (target, values) in parts {
            let track = LooseTrack {
                target,
                times,
                interpolation,
                width: values.len() / times.len(),
                values,
            };
            tracks.insert(target, track);
        }
    }
    Ok(tracks.into_values().collect())
}

/// The targets of a channel, each with its numbers key after key.
type Parts = Vec<(Target, Vec<f32>)>;

fn loosen_channel(channel: &Channel, clip: &str) -> Result<(Interpolation, Parts), RigError> {
    Ok(match channel {
        Channel::Translation(bone, keys) => {
            let target = Target::Translation(bone.index());
            (keys.interpolation, vec![(target, flat_vectors(keys))])
        }
        Channel::Scale(bone, keys) => {
            let target = Target::Scale(bone.index());
            (keys.interpolation, vec![(target, flat_vectors(keys))])
        }
        Channel::Rotation(bone, keys) => {
            let target = Target::Rotation(bone.index());
            let values = match keys.interpolation {
                Interpolation::Cubic => (keys.values.iter())
                    .flat_map(|q| q.to_array().map(|v| v as f32))
                    .collect(),
                Interpolation::Step | Interpolation::Linear => flat_rotations(&keys.values),
            };
            (keys.interpolation, vec![(target, values)])
        }
        Channel::Coefficients(first, keys) => {
            let count = keys.values[0].len();
            if let Some(other) = keys.values.iter().find(|value| value.len() != count) {
                return Err(RigError::BadKeys {
                    clip: clip.to_owned(),
                    problem: format!(
                        "one channel has keys of {count} and of {} coefficients",
                        other.len()
                    ),
                });
            }
            let part = |m: usize| {
                let values = keys.values.iter().map(|value| value[m] as f32).collect();
                (Target::Coefficient(first + m), values)
            };
            (keys.interpolation, (0..count).map(part).collect())
        }
    })
}

fn flat_vectors(keys: &Keys<DVec3>) -> Vec<f32> {
    let values = keys.values.iter();
    values
        .flat_map(|v| v.to_array().map(|c| c as f32))
        .collect()
}

/// Unit quaternions, each on the same side as the one before, with the squared angle to the next.
fn flat_rotations(keys: &[DQuat]) -> Vec<f32> {
    let mut units: Vec<DQuat> = Vec::with_capacity(keys.len());
    for (k, &key) in keys.iter().enumerate() {
        let unit = unit(key);
        // Two keys 180° apart have a dot product of 0, and rounding decides which way round: use the keys as
        // they were given, as the reference does.
        let turned_before = k > 0 && units[k - 1].dot(keys[k - 1]) < 0.0;
        let turns_here = k > 0 && keys[k - 1].dot(key) < 0.0;
        units.push(if turned_before != turns_here {
            -unit
        } else {
            unit
        });
    }
    let mut values = Vec::with_capacity(units.len() * ROTATION_WIDTH);
    for (k, &unit) in units.iter().enumerate() {
        let angle = units.get(k + 1).map_or(0.0, |&next| {
            2.0 * (next - unit).length().atan2((next + unit).length())
        });
        values.extend(unit.to_array().map(|v| v as f32));
        values.push((angle * angle) as f32);
    }
    values
}

fn describe(target: Target, skeleton: &Skeleton, clip: &Clip) -> String {
    let bone = |j: usize| &skeleton.bones()[j].name;
    let which = match target {
        Target::Translation(j) => format!("translation key of bone {}", bone(j)),
        Target::Rotation(j) => format!("rotation key of bone {}", bone(j)),
        Target::Scale(j) => format!("scale key of bone {}", bone(j)),
        Target::Coefficient(m) => format!("key of coefficient {m}"),
    };
    format!("a {which} in clip {}", clip.name)
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("a packed clip holds at most 2^32 numbers")
}
