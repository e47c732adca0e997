//! Fewer keys: drops keys that interpolation of their neighbours reproduces within a tolerance.
//!
//! The cost of dropping a key is how far the vertices move without it ([`moments`](super::moments)). Here channels are
//! judged one by one; the skin (`skin/fewer_keys.rs`) checks the effect of all of them together on the vertices.

use glam::{DMat3, DQuat, DVec3};

use super::key_spans::Spans;
use super::moments::{Carried, Moments, carried};
use super::{Channel, Clip, Interpolation, Keys};
use crate::par;
use crate::rig::{BoneId, Pose, Skeleton, Trs};

/// Values that differ by less than this share of the channel's largest are equal.
const ROUNDING: f64 = 1e-12;

/// The bytes that a separate list of times costs a channel in a file, besides the times: its accessor entry. Complete
/// channels share one list.
const LIST_OF_TIMES: usize = 120;

impl Clip {
    /// The same motion, in which channels that never move keep one key, or none when they have the skeleton's default;
    /// one channel keeps two keys where that is needed to keep the clip's length.
    ///
    /// Stepped and cubic channels, coefficients, and the channels of `untouched` are not changed.
    pub(crate) fn without_still_keys(&self, skeleton: &Skeleton, untouched: &[BoneId]) -> Self {
        let moving = |channel: &Channel| {
            let Some(bone) = reducible(channel).filter(|bone| !untouched.contains(bone)) else {
                return Some(channel.clone());
            };
            let default = skeleton.bones()[bone.index()].default_parent_from_bone;
            let motion = match channel {
                Channel::Translation(_, keys) => {
                    motion_of_vectors(&keys.values, default.translation)
                }
                Channel::Scale(_, keys) => motion_of_vectors(&keys.values, default.scale),
                Channel::Rotation(_, keys) => motion_of(&keys.values, &default.rotation, |a, b| {
                    turn_distance(*a, *b) <= ROUNDING
                }),
                Channel::Coefficients(..) => ChannelMotion::Moves,
            };
            match motion {
                ChannelMotion::StillAtDefault => None,
                ChannelMotion::StillElsewhere => Some(with_keys(channel, &[0])),
                ChannelMotion::Moves => Some(channel.clone()),
            }
        };
        let mut clip = Self {
            name: self.name.clone(),
            channels: self.channels.iter().filter_map(moving).collect(),
        };
        self.keep_duration(&mut clip);
        clip
    }

    /// Restores a first and a last key when all keys that gave the clip its length were dropped.
    fn keep_duration(&self, reduced: &mut Self) {
        let (start, end) = (self.start(), self.end());
        if start == end || (reduced.start() == start && reduced.end() == end) {
            return;
        }
        let holds = |c: &&Channel| {
            reducible(c).is_some()
                && c.times().first() == Some(&start)
                && c.times().last() == Some(&end)
        };
        let Some(holder) = self.channels.iter().find(holds) else {
            return;
        };
        let last = holder.times().len() - 1;
        let ends = with_keys(holder, &[0, last]);
        let same = |c: &&mut Channel| {
            c.bone() == ends.bone() && std::mem::discriminant(*c) == std::mem::discriminant(&ends)
        };
        match reduced.channels.iter_mut().find(same) {
            Some(channel) => *channel = ends,
            None => reduced.channels.push(ends),
        }
    }

    /// How many keys all channels have together.
    pub fn key_count(&self) -> usize {
        let counts = self.channels.iter().map(|channel| channel.times().len());
        counts.sum()
    }
}

/// Whether and how a channel moves.
enum ChannelMotion {
    StillAtDefault,
    StillElsewhere,
    Moves,
}

fn motion_of<T>(values: &[T], default: &T, alike: impl Fn(&T, &T) -> bool) -> ChannelMotion {
    let all = |place: &T| values.iter().all(|value| alike(place, value));
    match values {
        values if all(default) && !values.is_empty() => ChannelMotion::StillAtDefault,
        [first, ..] if all(first) => ChannelMotion::StillElsewhere,
        _ => ChannelMotion::Moves,
    }
}

fn motion_of_vectors(values: &[DVec3], default: DVec3) -> ChannelMotion {
    let size = |v: &DVec3| v.abs().max_element();
    let largest = values.iter().map(size).fold(size(&default), f64::max);
    motion_of(values, &default, |a, b| {
        a.abs_diff_eq(*b, ROUNDING * largest)
    })
}

/// The bone of a channel that may lose keys.
fn reducible(channel: &Channel) -> Option<BoneId> {
    let interpolation = match channel {
        Channel::Translation(_, keys) | Channel::Scale(_, keys) => keys.interpolation,
        Channel::Rotation(_, keys) => keys.interpolation,
        Channel::Coefficients(..) => return None,
    };
    let is_linear = interpolation == Interpolation::Linear && !channel.times().is_empty();
    channel.bone().filter(|_| is_linear)
}

/// A linear channel with only some of its keys.
fn with_keys(channel: &Channel, kept: &[usize]) -> Channel {
    match channel {
        Channel::Translation(bone, keys) => Channel::Translation(*bone, some_keys(keys, kept)),
        Channel::Rotation(bone, keys) => Channel::Rotation(*bone, some_keys(keys, kept)),
        Channel::Scale(bone, keys) => Channel::Scale(*bone, some_keys(keys, kept)),
        Channel::Coefficients(first, keys) => Channel::Coefficients(*first, some_keys(keys, kept)),
    }
}

fn some_keys<T: Clone>(keys: &Keys<T>, kept: &[usize]) -> Keys<T> {
    Keys {
        interpolation: keys.interpolation,
        times: kept.iter().map(|&k| keys.times[k]).collect(),
        values: kept.iter().map(|&k| keys.values[k].clone()).collect(),
    }
}

/// A clip, and the moments of its bones at the times of all keys.
pub(crate) struct KeyReducer<'a> {
    clip: &'a Clip,
    skeleton: &'a Skeleton,
    untouched: &'a [BoneId],
    times: Vec<f64>,
    /// One list of bones per time.
    locals: Vec<Vec<Trs>>,
    /// One list of bones per time.
    carried: Vec<Vec<Carried>>,
}

impl<'a> KeyReducer<'a> {
    /// `own` holds the moments of each bone's own vertices, in its own frame.
    pub(crate) fn new(
        clip: &'a Clip,
        skeleton: &'a Skeleton,
        own: &[Moments],
        untouched: &'a [BoneId],
    ) -> Self {
        // Coefficients do not move bones, and the pose holds none.
        let moves_bone = |channel: &&Channel| channel.bone().is_some();
        let bones_only = Clip {
            name: String::new(),
            channels: clip.channels.iter().filter(moves_bone).cloned().collect(),
        };
        let channels = bones_only.channels.iter();
        let mut times: Vec<f64> = channels.flat_map(Channel::times).copied().collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let at_times = par::map(times.len(), |k| {
            let (locals, _) = bones_only.sample_parts(skeleton, &[], times[k]);
            let pose = Pose::new(locals.iter().map(Trs::to_affine).collect());
            (locals, carried(skeleton, &pose, own))
        });
        let (locals, carried) = at_times.into_iter().unzip();
        Self {
            clip,
            skeleton,
            untouched,
            times,
            locals,
            carried,
        }
    }

    /// The clip with the keys that it needs.
    ///
    /// Each channel of bone `j`, alone, moves the vertices that the bone carries by at most `tolerances[j]`, as a root
    /// mean square in model units, at the times of its original keys. Channels do not change for a bone with tolerance
    /// 0, for a bone without vertices, and for the bones of `untouched`. The first and the last key of a moving channel
    /// are kept. Players that blend quaternions component by component instead of along the arc may be off by as much
    /// again.
    ///
    /// Time is O(n log n) in the keys of a channel.
    pub(crate) fn reduced(&self, tolerances: &[f64]) -> Clip {
        let channels = &self.clip.channels;
        let reduced = par::map(channels.len(), |number| {
            let channel = &channels[number];
            let reducible = reducible(channel).filter(|bone| !self.untouched.contains(bone));
            let tolerance = reducible.map_or(0.0, |bone| tolerances[bone.index()]);
            match reducible {
                Some(bone) if tolerance > 0.0 => self.needed(channel, bone, tolerance),
                _ => Some(channel.clone()),
            }
        });
        let mut clip = Clip {
            name: self.clip.name.clone(),
            channels: reduced.into_iter().flatten().collect(),
        };
        self.clip.keep_duration(&mut clip);
        clip
    }

    /// A channel with only the keys that it needs; `None` when it needs none.
    fn needed(&self, channel: &Channel, bone: BoneId, tolerance: f64) -> Option<Channel> {
        let j = bone.index();
        let times = channel.times();
        let at: Vec<usize> = (times.iter())
            .map(|time| self.times.partition_point(|t| t < time))
            .collect();
        if (at.iter()).any(|&at| self.carried[at][j].moments.mass() <= 0.0) {
            return Some(channel.clone());
        }
        let carried = |k: usize| &self.carried[at[k]][j];
        let local = |k: usize| &self.locals[at[k]][j];
        let default = self.skeleton.bones()[j].default_parent_from_bone;
        let straight = |a: &DVec3, b: &DVec3, s: f64, _: usize| Some(a.lerp(*b, s));
        let kept = match channel {
            Channel::Translation(_, keys) => Spans {
                keys,
                off: |k: usize, value: &DVec3| {
                    carried(k).moved_by(&DMat3::ZERO, *value - keys.values[k])
                },
                between: straight,
            }
            .needed(&default.translation, tolerance),
            Channel::Scale(_, keys) => Spans {
                keys,
                off: |k: usize, value: &DVec3| {
                    let change = DMat3::from_diagonal(*value - keys.values[k]);
                    let turned = DMat3::from_quat(local(k).rotation) * change;
                    carried(k).moved_by(&turned, DVec3::ZERO)
                },
                between: straight,
            }
            .needed(&default.scale, tolerance),
            Channel::Rotation(_, keys) => {
                let turned = |k: usize, a: DQuat, b: DQuat| {
                    let change = DMat3::from_quat(a) - DMat3::from_quat(b);
                    let scaled = change * DMat3::from_diagonal(local(k).scale);
                    carried(k).moved_by(&scaled, DVec3::ZERO)
                };
                Spans {
                    keys,
                    off: |k: usize, value: &DQuat| turned(k, *value, keys.values[k]),
                    between: |a: &DQuat, b: &DQuat, s: f64, k: usize| {
                        let near_b = if a.dot(*b) < 0.0 { -*b } else { *b };
                        let on_arc = a.slerp(near_b, s);
                        let blended = (*a * (1.0 - s) + near_b * s).normalize();
                        (turned(k, on_arc, blended) <= tolerance).then_some(on_arc)
                    },
                }
                .needed(&default.rotation, tolerance)
            }
            Channel::Coefficients(..) => return Some(channel.clone()),
        };
        let value_bytes = match channel {
            Channel::Rotation(..) => 16,
            _ => 12,
        };
        let bytes = kept.len() * (value_bytes + 4) + LIST_OF_TIMES;
        match kept.len() {
            0 => None,
            1 => Some(with_keys(channel, &kept)),
            _ if bytes < times.len() * value_bytes => Some(with_keys(channel, &kept)),
            _ => Some(channel.clone()),
        }
    }
}

/// The largest distance between where two rotations take a point at distance 1: twice the sine of half the angle
/// between them, or a little more.
fn turn_distance(a: DQuat, b: DQuat) -> f64 {
    // |a − b| is twice the sine of a quarter of the angle, and stays exact near 0.
    2.0 * (a - b).length().min((a + b).length())
}
