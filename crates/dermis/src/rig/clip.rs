//! Motion over time: keyed channels as glTF has them, sampled to poses.

use glam::{DQuat, DVec3};

use super::{BoneId, Pose, RigError, Skeleton, Trs};

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
        Pose {
            parent_from_bone: locals.iter().map(Trs::to_affine).collect(),
            coefficients,
        }
    }

    /// Times of whole frames from the first key to the last, both included; of a clip of held poses, as
    /// [`Clip::from_held_poses`] makes it, without the end of the last pose, which shows nothing new.
    pub fn frame_times(&self, frames_per_second: f64) -> Vec<f64> {
        let (start, end) = (self.start(), self.end());
        let count = ((end - start) * frames_per_second).round() as usize + 1;
        let shown = match self.ends_held() {
            true => (count - 1).max(1),
            false => count,
        };
        (0..shown)
            .map(|k| (start + k as f64 / frames_per_second).min(end))
            .collect()
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

    /// Frames per second on which all keys lie, when they lie on whole frames at all.
    pub fn key_rate(&self) -> Option<f64> {
        let start = self.start();
        let mut times: Vec<f64> = self
            .channels
            .iter()
            .flat_map(Channel::times)
            .copied()
            .collect();
        times.sort_by(f64::total_cmp);
        let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
        // Single-precision times of one key differ by far less than a millisecond.
        let step = gaps.filter(|&gap| gap > 1e-3).reduce(f64::min)?;
        let rate = 1.0 / step;
        let rate = if (rate - rate.round()).abs() < 0.01 * rate {
            rate.round()
        } else {
            rate
        };
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
        for (pose, time) in poses.iter().zip(clip.frame_times(24.0)) {
            let found = clip.sample(&skeleton, &[], time);
            assert!(
                found.parent_from_bone[0].abs_diff_eq(pose.parent_from_bone[0], 1e-12),
                "at {time} s"
            );
        }
        assert_eq!(clip.frame_times(24.0).len(), 5, "as many frames as poses");
        assert_eq!(clip.key_rate(), Some(24.0), "one key on every frame");
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
        assert_eq!(clip.frame_times(1.0), [0.0, 1.0, 2.0], "each pose once");
        let motion = Clip::from_poses("motion", &skeleton, &poses, 1.0).expect("rigid poses");
        assert!(!motion.is_held(), "a motion has something between its keys");
        assert_eq!(
            motion.frame_times(1.0),
            [0.0, 1.0, 2.0],
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
