//! Fewer keys: those that interpolation of their neighbours reproduces within a tolerance are dropped.

use glam::{DQuat, DVec3};

use super::key_spans::Spans;
use super::levers::{Lever, levers, longest_chain};
use super::{BoneId, Channel, Clip, Interpolation, Keys, Pose, RigError, Skeleton};
use crate::par;

/// How much more than an equal part of the tolerance channels are tried with, at most: errors seldom
/// add up as badly as they could.
const MOST_GENEROUS: f64 = 16.0;

/// Values nearer to each other than this, relative to their size, are the same.
const ROUNDING: f64 = 1e-12;

/// A channel that would keep more than this share of its keys keeps them all: in a file a list of times
/// of its own costs a quarter to a third of what its values take, while whole channels share one.
const WORTHWHILE: f64 = 0.75;

/// What keys may be dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyReduction {
    /// How far a vertex may move at the time of any key, in model units, 0 or more. With 0 channels
    /// that never move lose their keys, and all others keep them.
    pub tolerance: f64,
    /// For each bone, how far the vertices bound to it are from its origin, in the bone's own frame
    /// and units; `None` for a bone that holds no vertices.
    pub reach: Vec<Option<f64>>,
    /// Bones whose channels stay as they are.
    pub untouched: Vec<BoneId>,
}

impl Clip {
    /// The same motion with fewer keys.
    ///
    /// Linear channels of bones lose the keys that they can do without, if those are a quarter of all;
    /// the first and the last stay. A channel that never moves keeps one key, or none when it stands at the skeleton's default; one
    /// channel keeps two when the clip would end sooner. Stepped and cubic channels, coefficients, and
    /// channels of bones that move no vertex stay as they are.
    ///
    /// **Bound.** At the time of every key of the clip, no vertex whose weights sum to 1, none
    /// negative, moves by more than the tolerance. A vertex at `x` in the frame of a bone is moved by at
    /// most `|off δL| + |lin δL| |x|` in the frame of the parent when the bone's transform is off by
    /// `δL`, and by at most that much times the stretch of the bones above in model space; what the bones
    /// along the way to a root add is summed. Channels begin with equal parts of the tolerance, which
    /// are raised together as long as that sum stays within it. Players that blend quaternions
    /// component by component instead of along the arc may be off by as much again.
    ///
    /// Time is O(n log n) in the keys of a channel.
    ///
    /// # Errors
    /// [`RigError::CountMismatch`] when `reach` has another number of bones, [`RigError::BadKeys`] for
    /// a clip of another skeleton or a tolerance that is no number.
    pub fn reduce_keys(
        &self,
        skeleton: &Skeleton,
        reduction: &KeyReduction,
    ) -> Result<Self, RigError> {
        let bone_count = skeleton.bone_count();
        if reduction.reach.len() != bone_count {
            return Err(RigError::CountMismatch {
                what: "reaches",
                expected: bone_count,
                found: reduction.reach.len(),
            });
        }
        if !reduction.tolerance.is_finite() || reduction.tolerance < 0.0 {
            return Err(RigError::BadKeys {
                clip: self.name.clone(),
                problem: format!("the tolerance is {}", reduction.tolerance),
            });
        }
        self.check(skeleton, usize::MAX)?;
        let mut counts = vec![0; bone_count];
        for channel in &self.channels {
            if let Some(bone) = reduction.eligible(channel) {
                counts[bone.index()] += 1;
            }
        }
        let chains = longest_chain(skeleton, &reduction.reach, &counts);
        let motion = Motion::new(self, skeleton, &reduction.reach);
        let equal: Vec<f64> = (chains.iter())
            .map(|&chain| reduction.tolerance / chain.max(1) as f64)
            .collect();
        let attempt = |generosity: f64| {
            let reduced = par::map(self.channels.len(), |number| {
                let channel = &self.channels[number];
                let Some(bone) = reduction.eligible(channel) else {
                    return Some(channel.clone());
                };
                let equal = equal[bone.index()];
                motion.reduced(skeleton, channel, bone, generosity * equal, equal)
            });
            let mut clip = Self {
                name: self.name.clone(),
                channels: reduced.into_iter().flatten().collect(),
            };
            self.keep_duration(&mut clip);
            clip
        };
        if reduction.tolerance == 0.0 {
            return Ok(attempt(1.0));
        }
        let keeps = |clip: &Self| motion.most_moved(clip, skeleton) <= reduction.tolerance;
        let mut generosity = 1.0;
        let mut best = attempt(generosity);
        // Equal parts fail only by products of small errors.
        while !keeps(&best) {
            generosity *= 0.5;
            best = attempt(generosity);
        }
        let mut factor = 2.0;
        while factor > 1.1 && generosity < MOST_GENEROUS {
            let more = attempt(generosity * factor);
            if keeps(&more) {
                generosity *= factor;
                best = more;
            } else {
                factor = factor.sqrt();
            }
        }
        Ok(best)
    }

    /// Gives a reduced clip back a first and a last key when all that held its length was dropped.
    fn keep_duration(&self, reduced: &mut Self) {
        let (start, end) = (self.start(), self.end());
        if start == end || (reduced.start() == start && reduced.end() == end) {
            return;
        }
        let holds = |c: &&Channel| {
            is_linear(c) && c.times().first() == Some(&start) && c.times().last() == Some(&end)
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
}

impl KeyReduction {
    /// The bone of a channel that may lose keys.
    fn eligible(&self, channel: &Channel) -> Option<BoneId> {
        let bone = channel.bone().filter(|_| is_linear(channel))?;
        (!self.untouched.contains(&bone)).then_some(bone)
    }
}

fn is_linear(channel: &Channel) -> bool {
    let interpolation = match channel {
        Channel::Translation(_, keys) | Channel::Scale(_, keys) => keys.interpolation,
        Channel::Rotation(_, keys) => keys.interpolation,
        Channel::Coefficients(_, keys) => keys.interpolation,
    };
    interpolation == Interpolation::Linear && !channel.times().is_empty()
}

/// A clip without its coefficients, which a pose of bones has no room for.
fn bones_only(clip: &Clip) -> Clip {
    let moves_bone = |channel: &&Channel| channel.bone().is_some();
    Clip {
        name: String::new(),
        channels: clip.channels.iter().filter(moves_bone).cloned().collect(),
    }
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

/// What a clip does to the bones at the times of all keys.
struct Motion {
    times: Vec<f64>,
    /// One per time.
    poses: Vec<Pose>,
    /// One list of bones per time.
    levers: Vec<Vec<Lever>>,
    own_reach: Vec<Option<f64>>,
}

impl Motion {
    fn new(clip: &Clip, skeleton: &Skeleton, own_reach: &[Option<f64>]) -> Self {
        let bones_only = bones_only(clip);
        let channels = bones_only.channels.iter();
        let mut times: Vec<f64> = channels.flat_map(Channel::times).copied().collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let at_times = par::map(times.len(), |k| {
            let pose = bones_only.sample(skeleton, &[], times[k]);
            let levers = levers(skeleton, &pose, own_reach);
            (pose, levers)
        });
        let (poses, levers) = at_times.into_iter().unzip();
        Self {
            times,
            poses,
            levers,
            own_reach: own_reach.to_vec(),
        }
    }

    /// A distance that no vertex moves further than, at any of the times, when another clip plays.
    ///
    /// For a chain of transforms, `L₁′L₂′… − L₁L₂… = δL₁L₂′… + L₁δL₂L₃′… + …`: above the bone in question
    /// the transforms are those of this motion, below it those of the other clip.
    fn most_moved(&self, other: &Clip, skeleton: &Skeleton) -> f64 {
        let other = bones_only(other);
        let moved = par::map(self.times.len(), |k| {
            let pose = other.sample(skeleton, &[], self.times[k]);
            let below = levers(skeleton, &pose, &self.own_reach);
            let mut sums: Vec<f64> = Vec::with_capacity(below.len());
            let mut most = 0.0f64;
            for (j, bone) in skeleton.bones().iter().enumerate() {
                let (a, b) = (
                    &self.poses[k].parent_from_bone[j],
                    &pose.parent_from_bone[j],
                );
                let linear = a.matrix3 - b.matrix3;
                let norm = (linear.x_axis.length_squared()
                    + linear.y_axis.length_squared()
                    + linear.z_axis.length_squared())
                .sqrt();
                let offset = a.translation.distance(b.translation);
                let own = offset + norm * below[j].reach.unwrap_or(0.0);
                let above = bone.parent.map_or(0.0, |parent| sums[parent.index()]);
                sums.push(above + self.levers[k][j].scale * own);
                if self.own_reach[j].is_some() {
                    most = most.max(sums[j]);
                }
            }
            most
        });
        moved.into_iter().fold(0.0, f64::max)
    }

    /// A channel with the keys that it needs; `None` when it needs none.
    ///
    /// `blend_tolerance` is for players that blend quaternions component by component.
    fn reduced(
        &self,
        skeleton: &Skeleton,
        channel: &Channel,
        bone: BoneId,
        tolerance: f64,
        blend_tolerance: f64,
    ) -> Option<Channel> {
        let j = bone.index();
        if (self.levers.first()).is_none_or(|levers| levers[j].reach.is_none()) {
            return Some(channel.clone());
        }
        let times = channel.times();
        let at = |k: usize| self.times.partition_point(|&t| t < times[k]);
        let lever = |k: usize| {
            let Lever { scale, reach } = self.levers[at(k)][j];
            (scale, reach.unwrap_or(0.0))
        };
        let default = skeleton.bones()[j].default_parent_from_bone;
        let straight = |a: &DVec3, b: &DVec3, s: f64, _: usize| Some(a.lerp(*b, s));
        let alike = |a: &DVec3, b: &DVec3| a.abs_diff_eq(*b, ROUNDING * (1.0 + b.length()));
        let kept = match channel {
            Channel::Translation(_, keys) => Spans {
                keys,
                off: |k: usize, value: &DVec3| lever(k).0 * value.distance(keys.values[k]),
                between: straight,
                alike,
            }
            .needed(&default.translation, tolerance),
            Channel::Scale(_, keys) => Spans {
                keys,
                off: |k: usize, value: &DVec3| {
                    let (scale, reach) = lever(k);
                    scale * reach * (*value - keys.values[k]).abs().max_element()
                },
                between: straight,
                alike,
            }
            .needed(&default.scale, tolerance),
            Channel::Rotation(_, keys) => {
                let turned = |k: usize, a: DQuat, b: DQuat| {
                    let (scale, reach) = lever(k);
                    // Columns of R S are as long as the scales.
                    let matrix = &self.poses[at(k)].parent_from_bone[j].matrix3;
                    let length = |axis: usize| matrix.col(axis).length();
                    let stretch = length(0).max(length(1)).max(length(2));
                    scale * reach * stretch * turn_distance(a, b)
                };
                Spans {
                    keys,
                    off: |k: usize, value: &DQuat| turned(k, *value, keys.values[k]),
                    between: |a: &DQuat, b: &DQuat, s: f64, k: usize| {
                        let near_b = if a.dot(*b) < 0.0 { -*b } else { *b };
                        let on_arc = a.slerp(near_b, s);
                        let blended = (*a * (1.0 - s) + near_b * s).normalize();
                        (turned(k, on_arc, blended) <= blend_tolerance).then_some(on_arc)
                    },
                    alike: |a: &DQuat, b: &DQuat| turn_distance(*a, *b) <= ROUNDING,
                }
                .needed(&default.rotation, tolerance)
            }
            Channel::Coefficients(..) => return Some(channel.clone()),
        };
        match kept.len() {
            0 => None,
            few if few as f64 <= WORTHWHILE * times.len() as f64 => Some(with_keys(channel, &kept)),
            _ => Some(channel.clone()),
        }
    }
}

/// At most how far two rotations take a point at distance 1 apart: twice the sine of half the angle
/// between them, or a little more.
fn turn_distance(a: DQuat, b: DQuat) -> f64 {
    // |a − b| is twice the sine of a quarter of the angle; it keeps its digits near 0.
    2.0 * (a - b).length().min((a + b).length())
}

#[cfg(test)]
mod tests {
    use glam::DAffine3;
    use proptest::prelude::*;

    use super::*;
    use crate::rig::Trs;

    /// A root that holds nothing, an arm and a hand that hold vertices within 0.5 and 0.3.
    fn arm() -> (Skeleton, Vec<Option<f64>>) {
        let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
        let skeleton = Skeleton::from_rest_frames([
            ("root".to_owned(), None, at(0.0)),
            ("arm".to_owned(), Some(BoneId(0)), at(1.0)),
            ("hand".to_owned(), Some(BoneId(1)), at(2.0)),
        ])
        .expect("parents come first");
        (skeleton, vec![None, Some(0.5), Some(0.3)])
    }

    /// Points on the spheres that the reaches stand for, each with its bone.
    fn points() -> Vec<(usize, DVec3)> {
        let directions = [DVec3::X, DVec3::NEG_Y, DVec3::Z, DVec3::ONE.normalize()];
        let on = |bone: usize, radius: f64| directions.map(|d| (bone, radius * d));
        [on(1, 0.5), on(2, 0.3)].concat()
    }

    fn shown(skeleton: &Skeleton, clip: &Clip, time: f64) -> Vec<DVec3> {
        let palette = skeleton
            .palette(&clip.sample(skeleton, &[], time))
            .expect("the clip fits");
        let place = |(bone, x): (usize, DVec3)| palette.model_from_bone[bone].transform_point3(x);
        points().into_iter().map(place).collect()
    }

    fn wobble(skeleton: &Skeleton, count: usize, seeds: [f64; 3]) -> Clip {
        let pose = |k: usize| {
            let t = k as f64 * 0.03;
            let locals = (0..3).map(|j| {
                let phase = seeds[j] + t * (1.0 + 0.3 * j as f64);
                let local = Trs {
                    translation: DVec3::new(1.0 + 0.3 * phase.sin(), 0.2 * phase.cos(), 0.1 * t),
                    rotation: DQuat::from_scaled_axis(
                        DVec3::new(phase.sin(), 0.5, phase.cos()) * phase,
                    ),
                    scale: DVec3::new(1.2, 1.0 + 0.4 * phase.sin(), 1.0),
                };
                local.to_affine()
            });
            Pose::new(locals.collect())
        };
        let poses: Vec<Pose> = (0..count).map(pose).collect();
        Clip::from_poses("wobble", skeleton, &poses, 24.0).expect("no shear")
    }

    fn key_count(clip: &Clip) -> usize {
        clip.channels.iter().map(|c| c.times().len()).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_vertex_moves_more_than_the_tolerance_at_a_key(
            seeds in prop::array::uniform3(-3.0..3.0f64),
            exponent in -5.0..-0.5f64,
            count in 2usize..60,
        ) {
            let (skeleton, reach) = arm();
            let tolerance = 10f64.powf(exponent);
            let clip = wobble(&skeleton, count, seeds);
            let reduction = KeyReduction { tolerance, reach, untouched: Vec::new() };
            let reduced = clip.reduce_keys(&skeleton, &reduction).expect("they belong together");
            prop_assert!(key_count(&reduced) <= key_count(&clip), "no key is added");
            prop_assert_eq!((reduced.start(), reduced.end()), (clip.start(), clip.end()));
            for time in clip.frame_times(24.0).expect("few frames") {
                let pairs = (shown(&skeleton, &clip, time).into_iter())
                    .zip(shown(&skeleton, &reduced, time));
                for (a, b) in pairs {
                    prop_assert!(a.distance(b) <= tolerance, "{} at {time}", a.distance(b));
                }
            }
        }
    }

    #[test]
    fn smooth_motion_needs_few_keys() {
        let (skeleton, reach) = arm();
        let clip = wobble(&skeleton, 400, [0.1, 0.2, 0.3]);
        let reduction = KeyReduction {
            tolerance: 1e-2,
            reach,
            untouched: vec![BoneId(1)],
        };
        let reduced = clip.reduce_keys(&skeleton, &reduction).expect("fits");
        let (before, after) = (key_count(&clip), key_count(&reduced));
        eprintln!("{before} keys, {after} after");
        // A third of the keys is not touched.
        assert!(after < 1200 + 2400 / 2, "{before} keys, {after} after");
        for channel in &clip.channels {
            if channel.bone() == Some(BoneId(1)) {
                assert!(reduced.channels.contains(channel), "left as it was");
            }
        }
    }

    fn keys<T>(values: Vec<T>) -> Keys<T> {
        Keys {
            interpolation: Interpolation::Linear,
            times: (0..values.len()).map(|k| k as f64).collect(),
            values,
        }
    }

    #[test]
    fn straight_lines_keep_their_ends_and_still_channels_one_key_or_none() {
        let (skeleton, reach) = arm();
        let line = (0..9).map(|k| DVec3::X * (1.0 + k as f64)).collect();
        let clip = Clip {
            name: "mix".to_owned(),
            channels: vec![
                Channel::Translation(BoneId(1), keys(line)),
                Channel::Scale(BoneId(1), keys(vec![DVec3::ONE; 9])),
                Channel::Scale(BoneId(2), keys(vec![DVec3::splat(1.5); 9])),
                Channel::Coefficients(0, keys(vec![vec![0.5]; 3])),
            ],
        };
        for (tolerance, line_keys) in [(1e-9, 2), (0.0, 9)] {
            let reduction = KeyReduction {
                tolerance,
                reach: reach.clone(),
                untouched: Vec::new(),
            };
            let reduced = clip.reduce_keys(&skeleton, &reduction).expect("fits");
            let lengths: Vec<usize> = reduced.channels.iter().map(|c| c.times().len()).collect();
            assert_eq!(lengths, [line_keys, 1, 3], "tolerance {tolerance}");
        }
    }

    #[test]
    fn a_clip_in_which_nothing_moves_lasts_as_long() {
        let (skeleton, reach) = arm();
        let clip = Clip {
            name: "still".to_owned(),
            channels: vec![
                Channel::Scale(BoneId(1), keys(vec![DVec3::ONE; 9])),
                Channel::Scale(BoneId(2), keys(vec![DVec3::splat(1.5); 9])),
            ],
        };
        let reduction = KeyReduction {
            tolerance: 1e-3,
            reach,
            untouched: Vec::new(),
        };
        let reduced = clip.reduce_keys(&skeleton, &reduction).expect("fits");
        assert_eq!((reduced.start(), reduced.end()), (0.0, 8.0), "{reduced:?}");
        assert!(key_count(&reduced) <= 3, "{reduced:?}");
    }

    #[test]
    fn a_whole_turn_keeps_its_way() {
        let (skeleton, reach) = arm();
        let turn = |k: usize| DQuat::from_rotation_z(k as f64 / 40.0 * std::f64::consts::TAU);
        let clip = Clip {
            name: "turn".to_owned(),
            channels: vec![Channel::Rotation(
                BoneId(1),
                keys((0..=40).map(turn).collect()),
            )],
        };
        let reduction = KeyReduction {
            tolerance: 0.05,
            reach: reach.clone(),
            untouched: Vec::new(),
        };
        let reduced = clip.reduce_keys(&skeleton, &reduction).expect("fits");
        let left = reduced.channels[0].times().len();
        assert!((4..12).contains(&left), "{left} keys");
        for k in 0..=40 {
            let pairs = (shown(&skeleton, &clip, k.into()).into_iter()).zip(shown(
                &skeleton,
                &reduced,
                k.into(),
            ));
            for (a, b) in pairs {
                assert!(a.distance(b) <= 0.05, "{} at {k}", a.distance(b));
            }
        }
        let short = KeyReduction {
            reach: reach[..1].to_vec(),
            ..reduction.clone()
        };
        let error = clip.reduce_keys(&skeleton, &short).expect_err("one reach");
        assert!(error.to_string().contains("3 reaches"), "{error}");
        let negative = KeyReduction {
            tolerance: -1.0,
            ..reduction
        };
        assert!(clip.reduce_keys(&skeleton, &negative).is_err(), "below 0");
    }
}
