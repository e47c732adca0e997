//! Motion over time: keyed channels as glTF has them, sampled to poses.

use glam::{DQuat, DVec3};

use super::{BoneId, Pose, RigError, Skeleton, Trs};

/// Most frames that a clip is sampled at: nearly two days at 100 frames per second. Beyond it single-precision times,
/// which glTF has, do not tell frames apart.
pub const MOST_FRAMES: usize = 1 << 24;

/// How a channel moves between two keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds the earlier key.
    Step,
    /// Straight line; the shorter arc for rotations.
    Linear,
    /// Cubic Hermite spline. Each key has three values: in-tangent, value, out-tangent.
    Cubic,
}

/// Values at rising times, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys<T> {
    /// How to move between keys.
    pub interpolation: Interpolation,
    /// Strictly rising, in seconds.
    pub times: Vec<f64>,
    /// One value per time, or three when [`Interpolation::Cubic`].
    pub values: Vec<T>,
}

/// One animated quantity.
#[derive(Debug, Clone, PartialEq)]
pub enum Channel {
    /// A bone's translation in its parent.
    Translation(BoneId, Keys<DVec3>),
    /// A bone's rotation in its parent.
    Rotation(BoneId, Keys<DQuat>),
    /// A bone's scale in its parent.
    Scale(BoneId, Keys<DVec3>),
    /// The coefficients of some consecutive corrections, beginning with the one numbered.
    Coefficients(usize, Keys<Vec<f64>>),
}

/// A named motion of a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// Name shown to people and written to files.
    pub name: String,
    /// What moves; everything else keeps its default.
    pub channels: Vec<Channel>,
}

/// Times that differ by no more than this share of the largest are one: they were rounded to single
/// precision, which keeps 24 bits.
const SAME_TIME: f64 = 4.0 / 16_777_216.0;

/// The arithmetic that interpolation needs, for each kind of value.
trait Blend: Clone {
    /// `Σ factorᵢ·valueᵢ`.
    fn combine(terms: &[(f64, &Self)]) -> Self;
    /// The point at `s` of the way from `a` to `b`.
    fn lerp(a: &Self, b: &Self, s: f64) -> Self {
        Self::combine(&[(1.0 - s, a), (s, b)])
    }
    /// What makes a spline's value legal again.
    fn finish(self) -> Self {
        self
    }
}

impl Blend for DVec3 {
    fn combine(terms: &[(f64, &Self)]) -> Self {
        terms.iter().map(|&(f, &v)| f * v).sum()
    }
}

impl Blend for DQuat {
    fn combine(terms: &[(f64, &Self)]) -> Self {
        terms
            .iter()
            .fold(Self::from_xyzw(0.0, 0.0, 0.0, 0.0), |sum, &(f, &q)| {
                sum + q * f
            })
    }
    fn lerp(a: &Self, b: &Self, s: f64) -> Self {
        a.slerp(*b, s)
    }
    fn finish(self) -> Self {
        if self.length_squared() > 0.0 {
            self.normalize()
        } else {
            Self::IDENTITY
        }
    }
}

impl Blend for Vec<f64> {
    fn combine(terms: &[(f64, &Self)]) -> Self {
        let len = terms.iter().map(|(_, v)| v.len()).min().unwrap_or(0);
        (0..len)
            .map(|m| terms.iter().map(|(f, v)| f * v[m]).sum())
            .collect()
    }
}

/// The value at a time; before the first and after the last key it is held.
fn sample_keys<T: Blend>(keys: &Keys<T>, time: f64) -> Option<T> {
    let values_per_key = keys.values_per_key();
    // The value itself stands in the middle of a cubic key's three.
    let value = |key: usize| keys.values[key * values_per_key + values_per_key / 2].clone();
    let next = keys.times.partition_point(|&t| t <= time);
    if next == 0 {
        return (!keys.times.is_empty()).then(|| value(0));
    }
    let key = next - 1;
    if next == keys.times.len() {
        return Some(value(key));
    }
    let span = keys.times[next] - keys.times[key];
    let s = (time - keys.times[key]) / span;
    Some(match keys.interpolation {
        Interpolation::Step => value(key),
        Interpolation::Linear => T::lerp(&value(key), &value(next), s),
        Interpolation::Cubic => {
            let (s2, s3) = (s * s, s * s * s);
            T::combine(&[
                (2.0 * s3 - 3.0 * s2 + 1.0, &value(key)),
                (span * (s3 - 2.0 * s2 + s), &keys.values[key * 3 + 2]),
                (3.0 * s2 - 2.0 * s3, &value(next)),
                (span * (s3 - s2), &keys.values[next * 3]),
            ])
            .finish()
        }
    })
}

impl<T> Keys<T> {
    /// How many values stand for each time: three for a cubic spline, else one.
    pub fn values_per_key(&self) -> usize {
        match self.interpolation {
            Interpolation::Cubic => 3,
            Interpolation::Step | Interpolation::Linear => 1,
        }
    }

    fn check(&self, clip: &str) -> Result<(), RigError> {
        let problem = |problem: String| {
            Err(RigError::BadKeys {
                clip: clip.to_owned(),
                problem,
            })
        };
        let expected = self.values_per_key() * self.times.len();
        if self.values.len() != expected {
            return problem(format!(
                "a channel with {} key times has {} values, expected {expected}",
                self.times.len(),
                self.values.len()
            ));
        }
        if !self.times.iter().all(|t| t.is_finite()) || !self.times.is_sorted_by(|a, b| a < b) {
            return problem("key times must be finite and strictly rising".to_owned());
        }
        Ok(())
    }
}

impl Channel {
    /// The key times, in seconds.
    pub fn times(&self) -> &[f64] {
        match self {
            Self::Translation(_, keys) | Self::Scale(_, keys) => &keys.times,
            Self::Rotation(_, keys) => &keys.times,
            Self::Coefficients(_, keys) => &keys.times,
        }
    }

    /// How it moves between two keys.
    pub fn interpolation(&self) -> Interpolation {
        match self {
            Self::Translation(_, keys) | Self::Scale(_, keys) => keys.interpolation,
            Self::Rotation(_, keys) => keys.interpolation,
            Self::Coefficients(_, keys) => keys.interpolation,
        }
    }

    /// The bone that moves, or `None` for coefficients.
    pub fn bone(&self) -> Option<BoneId> {
        match self {
            Self::Translation(bone, _) | Self::Rotation(bone, _) | Self::Scale(bone, _) => {
                Some(*bone)
            }
            Self::Coefficients(..) => None,
        }
    }
}

impl Clip {
    /// Checks a clip against the skeleton and the number of corrections that it drives.
    ///
    /// # Errors
    /// [`RigError::BadKeys`] for key counts, times and indices out of range.
    pub fn check(&self, skeleton: &Skeleton, correction_count: usize) -> Result<(), RigError> {
        for channel in &self.channels {
            match channel {
                Channel::Translation(_, keys) | Channel::Scale(_, keys) => {
                    keys.check(&self.name)?
                }
                Channel::Rotation(_, keys) => keys.check(&self.name)?,
                Channel::Coefficients(first, keys) => {
                    keys.check(&self.name)?;
                    if keys
                        .values
                        .iter()
                        .any(|v| first + v.len() > correction_count)
                    {
                        return Err(RigError::BadKeys {
                            clip: self.name.clone(),
                            problem: format!(
                                "coefficients from {first} on reach past the {correction_count} \
                                 corrections of the skin"
                            ),
                        });
                    }
                }
            }
            if let Some(bone) = channel.bone()
                && bone.index() >= skeleton.bone_count()
            {
                return Err(RigError::BadKeys {
                    clip: self.name.clone(),
                    problem: format!("a channel moves bone {}, which does not exist", bone.0),
                });
            }
        }
        Ok(())
    }

    /// Time of the first key, in seconds; 0 for an empty clip.
    pub fn start(&self) -> f64 {
        let first = self.channels.iter().filter_map(|c| c.times().first());
        first.copied().reduce(f64::min).unwrap_or(0.0)
    }

    /// Time of the last key, in seconds; 0 for an empty clip.
    pub fn end(&self) -> f64 {
        let last = self.channels.iter().filter_map(|c| c.times().last());
        last.copied().reduce(f64::max).unwrap_or(0.0)
    }

    /// The pose at a time in seconds.
    ///
    /// `default_coefficients` are those that no channel moves.
    pub fn sample(&self, skeleton: &Skeleton, default_coefficients: &[f64], time: f64) -> Pose {
        let (locals, coefficients) = self.sample_parts(skeleton, default_coefficients, time);
        Pose {
            parent_from_bone: locals.iter().map(Trs::to_affine).collect(),
            coefficients,
        }
    }

    /// The parts of the pose at a time: every bone's transform, and the coefficients.
    pub(crate) fn sample_parts(
        &self,
        skeleton: &Skeleton,
        default_coefficients: &[f64],
        time: f64,
    ) -> (Vec<Trs>, Vec<f64>) {
        let mut locals: Vec<Trs> = skeleton
            .bones()
            .iter()
            .map(|bone| bone.default_parent_from_bone)
            .collect();
        let mut coefficients = default_coefficients.to_vec();
        for channel in &self.channels {
            match channel {
                Channel::Translation(bone, keys) => {
                    if let Some(value) = sample_keys(keys, time) {
                        locals[bone.index()].translation = value;
                    }
                }
                Channel::Rotation(bone, keys) => {
                    if let Some(value) = sample_keys(keys, time) {
                        locals[bone.index()].rotation = value;
                    }
                }
                Channel::Scale(bone, keys) => {
                    if let Some(value) = sample_keys(keys, time) {
                        locals[bone.index()].scale = value;
                    }
                }
                Channel::Coefficients(first, keys) => {
                    if let Some(values) = sample_keys(keys, time) {
                        coefficients[*first..*first + values.len()].copy_from_slice(&values);
                    }
                }
            }
        }
        (locals, coefficients)
    }

    /// How many whole frames there are from the first key to the last, both included; of a clip of held poses, as
    /// [`Clip::from_held_poses`] makes it, without the end of the last pose, which shows nothing new.
    ///
    /// # Errors
    /// [`RigError::BadRate`] and [`RigError::TooManyFrames`].
    pub fn frame_count(&self, frames_per_second: f64) -> Result<usize, RigError> {
        if !(frames_per_second > 0.0 && frames_per_second.is_finite()) {
            return Err(RigError::BadRate {
                found: frames_per_second,
            });
        }
        // Counted as a real number: what two keys and a rate ask for may be more than an integer holds.
        let frames = ((self.end() - self.start()) * frames_per_second).round() + 1.0;
        match frames <= MOST_FRAMES as f64 {
            true if self.ends_held() => Ok((frames as usize - 1).max(1)),
            true => Ok(frames as usize),
            false => Err(RigError::TooManyFrames {
                clip: self.name.clone(),
                frames_per_second,
                frames,
                most: MOST_FRAMES,
            }),
        }
    }

    /// Times of whole frames from the first key to the last; as many as [`Clip::frame_count`] says.
    ///
    /// # Errors
    /// As [`Clip::frame_count`].
    pub fn frame_times(&self, frames_per_second: f64) -> Result<Vec<f64>, RigError> {
        let (start, end) = (self.start(), self.end());
        let time = |k: usize| (start + k as f64 / frames_per_second).min(end);
        Ok((0..self.frame_count(frames_per_second)?)
            .map(time)
            .collect())
    }

    /// Whether nothing moves between keys: poses that are shown one after another, no motion.
    pub fn is_held(&self) -> bool {
        let is_step = |channel: &Channel| channel.interpolation() == Interpolation::Step;
        !self.channels.is_empty() && self.channels.iter().all(is_step)
    }

    /// Whether the poses are held and the last key only repeats the one before, to say how long that is shown.
    fn ends_held(&self) -> bool {
        fn repeats<T: PartialEq>(keys: &Keys<T>, end: f64) -> bool {
            match &keys.values[..] {
                [.., before, last] => keys.times.last() == Some(&end) && before == last,
                _ => false,
            }
        }
        let end = self.end();
        self.is_held()
            && self.channels.iter().all(|channel| match channel {
                Channel::Translation(_, keys) | Channel::Scale(_, keys) => repeats(keys, end),
                Channel::Rotation(_, keys) => repeats(keys, end),
                Channel::Coefficients(_, keys) => repeats(keys, end),
            })
    }

    /// What the clip shows at some rising times, each held until the next.
    pub fn held_at(&self, times: &[f64]) -> Self {
        fn held<T: Blend>(keys: &Keys<T>, times: &[f64]) -> Keys<T> {
            let values: Vec<T> = times.iter().filter_map(|&t| sample_keys(keys, t)).collect();
            Keys {
                interpolation: Interpolation::Step,
                // A channel without keys stays without.
                times: times[..values.len()].to_vec(),
                values,
            }
        }
        let channel = |channel: &Channel| match channel {
            Channel::Translation(bone, keys) => Channel::Translation(*bone, held(keys, times)),
            Channel::Scale(bone, keys) => Channel::Scale(*bone, held(keys, times)),
            Channel::Rotation(bone, keys) => Channel::Rotation(*bone, held(keys, times)),
            Channel::Coefficients(first, keys) => Channel::Coefficients(*first, held(keys, times)),
        };
        Self {
            name: self.name.clone(),
            channels: self.channels.iter().map(channel).collect(),
        }
    }

    /// A clip of poses that have nothing to do with each other: each is held for a second, and nothing is
    /// shown between them. A last key a second after the last pose says so for that one, too.
    ///
    /// # Errors
    /// As [`Clip::from_poses`].
    pub fn from_held_poses(
        name: impl Into<String>,
        skeleton: &Skeleton,
        poses: &[Pose],
    ) -> Result<Self, RigError> {
        let clip = Self::from_poses(name, skeleton, poses, 1.0)?;
        let seconds: Vec<f64> = (0..=poses.len()).map(|k| k as f64).collect();
        Ok(clip.held_at(&seconds))
    }

    /// The times of all keys in rising order, in seconds: each once, where those of several channels
    /// differ by rounding to single precision only.
    pub fn key_times(&self) -> Vec<f64> {
        let channels = self.channels.iter();
        let mut times: Vec<f64> = channels.flat_map(Channel::times).copied().collect();
        times.sort_by(f64::total_cmp);
        let same = SAME_TIME * self.largest_time();
        times.dedup_by(|later, earlier| *later - *earlier <= same);
        times
    }

    fn largest_time(&self) -> f64 {
        self.start().abs().max(self.end().abs())
    }

    /// Frames per second on which all keys lie, when they lie on whole frames at all: 30.8 as well as
    /// 24.
    pub fn key_rate(&self) -> Option<f64> {
        let times = self.key_times();
        let gaps = || times.windows(2).map(|pair| pair[1] - pair[0]);
        let (shortest, longest) = (gaps().reduce(f64::min)?, gaps().reduce(f64::max)?);
        let (start, duration) = (times[0], times[times.len() - 1] - times[0]);
        // A gap of single-precision times far from 0 has few digits; many of them together have more.
        let step_count = match longest < 1.5 * shortest {
            true => (times.len() - 1) as f64,
            false => (duration / shortest).round(),
        };
        let rate = step_count / duration;
        // As far as the first and the last time can tell, it may be a round number.
        let unsure = rate * SAME_TIME * self.largest_time() / duration;
        let is_near = |round: &f64| *round > 0.0 && (rate - round).abs() <= unsure;
        let round = [rate.round(), (rate * 1e3).round() / 1e3];
        let rate = round.into_iter().find(is_near).unwrap_or(rate);
        let on_frame = |&time: &f64| {
            let frame = (time - start) * rate;
            (frame - frame.round()).abs() < 0.02
        };
        times.iter().all(on_frame).then_some(rate)
    }

    /// A clip with one linear key per pose, the first at time 0.
    ///
    /// Channels that never leave the skeleton's default are left out. Coefficients are keyed when
    /// the poses have any.
    ///
    /// # Errors
    /// [`RigError::Sheared`] when a bone's matrix is no translation, rotation and scale, and
    /// [`RigError::CountMismatch`] when a pose belongs to another skeleton.
    pub fn from_poses(
        name: impl Into<String>,
        skeleton: &Skeleton,
        poses: &[Pose],
        frames_per_second: f64,
    ) -> Result<Self, RigError> {
        /// Largest cosine between two axes that single-precision matrices leave by rounding.
        const ROUNDING_SHEAR: f64 = 1e-4;
        let times: Vec<f64> = (0..poses.len())
            .map(|k| k as f64 / frames_per_second)
            .collect();
        let mut channels = Vec::new();
        for (j, bone) in skeleton.bones().iter().enumerate() {
            let mut locals: Vec<Trs> = Vec::with_capacity(poses.len());
            for (k, pose) in poses.iter().enumerate() {
                let Some(local) = pose.parent_from_bone.get(j) else {
                    return Err(RigError::CountMismatch {
                        what: "bones in the pose",
                        expected: skeleton.bone_count(),
                        found: pose.parent_from_bone.len(),
                    });
                };
                let (mut trs, shear) = Trs::from_affine(local);
                if shear > ROUNDING_SHEAR {
                    return Err(RigError::Sheared {
                        what: format!("bone {} in pose {k}", bone.name),
                        shear,
                    });
                }
                // q and -q are one rotation, but the way between two keys is short for only one.
                if let Some(last) = locals.last()
                    && last.rotation.dot(trs.rotation) < 0.0
                {
                    trs.rotation = -trs.rotation;
                }
                locals.push(trs);
            }
            let rest = bone.default_parent_from_bone;
            let id = BoneId(j as u16);
            let keys = |value: fn(&Trs) -> DVec3| Keys {
                interpolation: Interpolation::Linear,
                times: times.clone(),
                values: locals.iter().map(value).collect(),
            };
            if locals.iter().any(|l| l.translation != rest.translation) {
                channels.push(Channel::Translation(id, keys(|l| l.translation)));
            }
            if locals.iter().any(|l| l.rotation != rest.rotation) {
                let values = locals.iter().map(|l| l.rotation).collect();
                channels.push(Channel::Rotation(
                    id,
                    Keys {
                        interpolation: Interpolation::Linear,
                        times: times.clone(),
                        values,
                    },
                ));
            }
            if locals
                .iter()
                .any(|l| !l.scale.abs_diff_eq(rest.scale, 1e-6))
            {
                channels.push(Channel::Scale(id, keys(|l| l.scale)));
            }
        }
        if poses.iter().any(|pose| !pose.coefficients.is_empty()) {
            channels.push(Channel::Coefficients(
                0,
                Keys {
                    interpolation: Interpolation::Linear,
                    times,
                    values: poses.iter().map(|p| p.coefficients.clone()).collect(),
                },
            ));
        }
        Ok(Self {
            name: name.into(),
            channels,
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::DAffine3;

    use super::*;

    fn one_bone() -> Skeleton {
        Skeleton::from_rest_frames([("bone".to_owned(), None, DAffine3::IDENTITY)])
            .expect("one bone is a skeleton")
    }

    fn translation_at(keys: Keys<DVec3>, time: f64) -> DVec3 {
        let clip = Clip {
            name: "move".to_owned(),
            channels: vec![Channel::Translation(BoneId(0), keys)],
        };
        clip.sample(&one_bone(), &[], time).parent_from_bone[0].translation
    }

    #[test]
    fn step_linear_and_cubic_meet_their_keys_and_differ_between() {
        let x = DVec3::X;
        let step = Keys {
            interpolation: Interpolation::Step,
            times: vec![1.0, 3.0],
            values: vec![x, 5.0 * x],
        };
        let linear = Keys {
            interpolation: Interpolation::Linear,
            ..step.clone()
        };
        let cubic = Keys {
            interpolation: Interpolation::Cubic,
            times: vec![1.0, 3.0],
            values: vec![
                DVec3::ZERO,
                x,
                DVec3::ZERO,
                DVec3::ZERO,
                5.0 * x,
                DVec3::ZERO,
            ],
        };
        for keys in [&step, &linear, &cubic] {
            assert_eq!(
                translation_at(keys.clone(), 0.0),
                x,
                "held before the first key"
            );
            assert_eq!(
                translation_at(keys.clone(), 3.0),
                5.0 * x,
                "exact at the last key"
            );
            assert_eq!(
                translation_at(keys.clone(), 9.0),
                5.0 * x,
                "held after the last key"
            );
        }
        assert_eq!(translation_at(step, 2.9), x, "step holds");
        assert_eq!(
            translation_at(linear, 1.5),
            2.0 * x,
            "linear is proportional"
        );
        // Flat tangents: the smoothstep of 1/4 is 5/32.
        let quarter = translation_at(cubic, 1.5);
        assert!(
            quarter.abs_diff_eq((1.0 + 4.0 * 5.0 / 32.0) * x, 1e-12),
            "found {quarter}"
        );
    }

    #[test]
    fn baked_poses_come_back_at_their_frames() {
        let skeleton = one_bone();
        let poses: Vec<Pose> = (0..5)
            .map(|k| {
                let turn = DQuat::from_rotation_z(1.3 * k as f64);
                Pose::new(vec![DAffine3::from_rotation_translation(
                    turn,
                    DVec3::new(0.0, k as f64, 0.0),
                )])
            })
            .collect();
        let clip = Clip::from_poses("spin", &skeleton, &poses, 24.0).expect("rigid poses bake");
        let times = clip.frame_times(24.0).expect("five frames");
        for (pose, &time) in poses.iter().zip(&times) {
            let found = clip.sample(&skeleton, &[], time);
            assert!(
                found.parent_from_bone[0].abs_diff_eq(pose.parent_from_bone[0], 1e-12),
                "at {time} s"
            );
        }
        assert_eq!(times.len(), 5, "as many frames as poses");
        assert_eq!(clip.key_rate(), Some(24.0), "one key on every frame");
    }

    /// A clip of two bones' keys at some frames, times rounded as files do.
    fn at_frames(rate: f64, frames: [&[f64]; 2]) -> Clip {
        let channel = |bone: u16, frames: &[f64]| {
            let times = frames.iter().map(|f| f64::from((f / rate) as f32));
            let keys = Keys {
                interpolation: Interpolation::Linear,
                times: times.collect(),
                values: vec![DVec3::ZERO; frames.len()],
            };
            Channel::Translation(BoneId(bone), keys)
        };
        Clip {
            name: "keys".to_owned(),
            channels: vec![channel(0, frames[0]), channel(1, frames[1])],
        }
    }

    #[test]
    fn keys_on_frames_of_any_rate_are_found_there() {
        for rate in [
            1.0, 12.5, 23.976, 24.0, 29.97, 30.0, 30.8, 31.4, 59.94, 120.0, 1000.0,
        ] {
            for count in [2, 48, 3000] {
                let frames: Vec<f64> = (0..count).map(f64::from).collect();
                let clip = at_frames(rate, [&frames, &frames[..1]]);
                let found = clip.key_rate().expect("whole frames");
                assert!((found - rate).abs() < 1e-4 * rate, "{rate}: {found}");
                let times = clip.frame_times(found).expect("few frames");
                assert_eq!(times.len(), frames.len(), "{rate}: one for each key");
                for (time, key) in times.iter().zip(clip.channels[0].times()) {
                    let rounding = 1e-6 * key.max(1.0 / rate);
                    assert!((time - key).abs() <= rounding, "{rate}: {time} {key}");
                }
                assert_eq!(clip.key_times(), clip.channels[0].times(), "{rate}");
            }
        }
        let sparse = at_frames(30.8, [&[0.0, 1.0, 5.0], &[0.0, 8.0]]);
        assert_eq!(sparse.key_rate(), Some(30.8), "some frames without a key");
        assert_eq!(sparse.frame_count(30.8), Ok(9), "all frames");
        assert_eq!(sparse.key_times().len(), 4, "frames 0, 1, 5 and 8");
    }

    #[test]
    fn irregular_keys_have_times_and_no_rate() {
        let clip = at_frames(1.0, [&[0.0, 0.31, 1.0], &[0.5, 0.31000001, 2.7]]);
        assert_eq!(clip.key_rate(), None, "no frames");
        assert_eq!(clip.key_times().len(), 5, "two keys are one moment");
        assert_eq!(at_frames(1.0, [&[], &[]]).key_rate(), None, "no keys");
        assert_eq!(at_frames(1.0, [&[2.0], &[]]).key_rate(), None, "one key");
    }

    #[test]
    fn clips_with_more_frames_than_can_be_made_are_refused_before_they_are() {
        let clip = |end: f64| Clip {
            name: "run".to_owned(),
            channels: vec![Channel::Translation(
                BoneId(0),
                Keys {
                    interpolation: Interpolation::Linear,
                    times: vec![0.0, end],
                    values: vec![DVec3::ZERO, DVec3::X],
                },
            )],
        };
        let refused = |end: f64, rate: f64| {
            let error = clip(end).frame_times(rate).expect_err("refused");
            error.to_string()
        };
        let message = refused(1.0, 1e9);
        assert!(message.contains("would be 1000000001 frames"), "{message}");
        let message = refused(1e9, 30.0);
        assert!(message.contains("would be 30000000001 frames"), "{message}");
        assert!(
            refused(1.0, 1e300).contains("16777216 are the most"),
            "{}",
            refused(1.0, 1e300)
        );
        assert!(
            refused(1e300, 1e300).contains("inf frames"),
            "no number holds it"
        );
        for rate in [0.0, -24.0, f64::NAN, f64::INFINITY] {
            assert!(
                refused(1.0, rate).contains("above 0"),
                "{rate} frames per second"
            );
        }
        assert_eq!(clip(1e9).frame_count(1e-6), Ok(1001), "slowly enough");
        assert_eq!(clip(0.0).frame_count(1e300), Ok(1), "one key is one frame");
    }

    #[test]
    fn unrelated_poses_are_held_for_a_second_each() {
        let skeleton = one_bone();
        let at = |x: f64| Pose::new(vec![DAffine3::from_translation(DVec3::X * x)]);
        let poses = [at(1.0), at(5.0), at(2.0)];
        let clip = Clip::from_held_poses("poses", &skeleton, &poses).expect("rigid poses");
        assert!(clip.is_held(), "nothing moves between them");
        assert_eq!(clip.end(), 3.0, "the last one is shown for a second, too");
        for (k, pose) in poses.iter().enumerate() {
            for part in [0.0, 0.5, 0.999] {
                let found = clip.sample(&skeleton, &[], k as f64 + part);
                assert_eq!(&found, pose, "{part} s after pose {k} began");
            }
        }
        assert_eq!(clip.key_rate(), Some(1.0), "one a second");
        assert_eq!(
            clip.frame_times(1.0),
            Ok(vec![0.0, 1.0, 2.0]),
            "each pose once"
        );
        let motion = Clip::from_poses("motion", &skeleton, &poses, 1.0).expect("rigid poses");
        assert!(!motion.is_held(), "a motion has something between its keys");
        assert_eq!(
            motion.frame_times(1.0),
            Ok(vec![0.0, 1.0, 2.0]),
            "its last key is a frame"
        );
    }

    #[test]
    fn a_sheared_pose_is_refused_by_name() {
        let mut sheared = DAffine3::IDENTITY;
        sheared.matrix3.y_axis.x = 0.5;
        let error = Clip::from_poses("bad", &one_bone(), &[Pose::new(vec![sheared])], 24.0)
            .expect_err("a shear is no TRS");
        assert!(error.to_string().contains("bone in pose 0"), "{error}");
    }
}
