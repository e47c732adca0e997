//! Clips of a character that is moved, turned or scaled as a whole.

use super::{Channel, Clip, Keys};
use crate::rig::{BoneId, Similarity, Skeleton};

impl Similarity {
    /// The moved clip: translations are scaled, and roots take the whole move.
    pub fn clip(&self, skeleton: &Skeleton, clip: &Clip) -> Clip {
        let is_root = |bone: BoneId| skeleton.bones()[bone.index()].parent.is_none();
        let channels = clip.channels.iter().map(|channel| match channel {
            Channel::Translation(bone, keys) if is_root(*bone) => {
                let middle = keys.values_per_key() / 2;
                let per_key = keys.values_per_key();
                let values = keys.values.iter().enumerate();
                let values = values.map(|(n, v)| match n % per_key == middle {
                    true => self.point(*v),
                    // Tangents of a spline are differences, so they take no translation.
                    false => self.vector(*v),
                });
                Channel::Translation(*bone, with_values(keys, values.collect()))
            }
            Channel::Translation(bone, keys) => {
                let values = keys.values.iter().map(|v| self.scale() * *v);
                Channel::Translation(*bone, with_values(keys, values.collect()))
            }
            Channel::Rotation(bone, keys) if is_root(*bone) => {
                // A product of quaternions is linear in each, so tangents transform alike.
                let values = keys.values.iter().map(|q| self.rotation() * *q);
                Channel::Rotation(*bone, with_values(keys, values.collect()))
            }
            other => other.clone(),
        });
        Clip {
            name: clip.name.clone(),
            channels: channels.collect(),
        }
    }
}

fn with_values<T: Clone>(keys: &Keys<T>, values: Vec<T>) -> Keys<T> {
    Keys {
        interpolation: keys.interpolation,
        times: keys.times.clone(),
        values,
    }
}
