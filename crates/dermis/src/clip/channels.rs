//! A clip: keyed channels as glTF has them, sampled to poses.

use glam::{DQuat, DVec3};

use super::keys::sample_keys;
use super::{Interpolation, Keys};
use crate::rig::{BoneId, Pose, RigError, Skeleton, Trs};

/// One animated quantity.
#[derive(Debug, Clone, PartialEq)]
pub enum Channel {
    /// A bone's translation in its parent.
    Translation(BoneId, Keys<DVec3>),
    /// A bone's rotation in its parent.
    Rotation(BoneId, Keys<DQuat>),
    /// A bone's scale in its parent.
    Scale(BoneId, Keys<DVec3>),
    /// The coefficients of consecutive corrections, beginning with this one.
    Coefficients(usize, Keys<Vec<f64>>),
}

/// A named motion of a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// Name shown to people and written to files.
    pub name: String,
    /// The moving quantities; all others keep their default.
    pub channels: Vec<Channel>,
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
                                "a channel of coefficients that begins with number {first} goes past the {correction_count} \
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
    /// `default_coefficients` are used where no channel moves a coefficient.
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
    fn step_linear_and_cubic_are_exact_at_keys_and_differ_between_them() {
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
}
