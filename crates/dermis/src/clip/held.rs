//! Clips of unrelated poses: each is shown for a while, with no motion between them.

use super::keys::{Blend, sample_keys};
use super::{Channel, Clip, Interpolation, Keys};
use crate::rig::{Pose, RigError, Skeleton};

impl Clip {
    /// Whether the clip jumps from key to key without motion between them.
    pub fn is_held(&self) -> bool {
        let is_step = |channel: &Channel| channel.interpolation() == Interpolation::Step;
        !self.channels.is_empty() && self.channels.iter().all(is_step)
    }

    /// Whether the poses are held and the last key only repeats the one before, to tell how long that one is shown.
    pub(super) fn ends_held(&self) -> bool {
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

    /// The clip's poses at some rising times, each held until the next.
    pub fn held_at(&self, times: &[f64]) -> Self {
        fn held<T: Blend>(keys: &Keys<T>, times: &[f64]) -> Keys<T> {
            let values: Vec<T> = times.iter().filter_map(|&t| sample_keys(keys, t)).collect();
            Keys {
                interpolation: Interpolation::Step,
                // A channel without keys stays empty.
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

    /// A clip of unrelated poses: each is held for a second, with no motion between them. A key one second after the
    /// last pose repeats it, so that it is held as long as the others.
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
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DVec3};

    use super::*;

    fn one_bone() -> Skeleton {
        Skeleton::from_rest_frames([("bone".to_owned(), None, DAffine3::IDENTITY)])
            .expect("one bone is a skeleton")
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
}
