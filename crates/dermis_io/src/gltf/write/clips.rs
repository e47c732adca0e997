//! Clips to animations, one each, with all channels of the clip in it.

use dermis::clip::{Channel, Clip, Interpolation, Keys};
use dermis::skin::Skin;
use glam::{DQuat, DVec3};
use gltf_json::animation::{
    Animation, Channel as JsonChannel, Interpolation as JsonInterpolation, Property, Sampler,
    Target,
};
use gltf_json::validation::Checked::Valid;
use gltf_json::{Index, Node};

use super::builder::{Builder, Use};
use crate::Fault;

/// The nodes that show a mesh and its levels, and the shapes that their morph targets stand for.
pub(super) struct MorphedMesh {
    /// The nodes; all have the same morph targets.
    pub(super) nodes: Vec<Index<Node>>,
    /// Which corrections, or frames, are their targets.
    pub(super) shapes: Vec<usize>,
}

/// Adds the clips of a skin, whose bones must be the first nodes.
pub(super) fn add_clips(
    builder: &mut Builder,
    skin: &Skin,
    clips: &[Clip],
    meshes: &[MorphedMesh],
) -> Result<(), Fault> {
    for clip in clips {
        let mut animation = Draft::new(&clip.name);
        for (number, channel) in clip.channels.iter().enumerate() {
            if !channel.times().is_empty() && !is_overruled(clip, number) {
                animation.add_bone_channel(builder, channel)?;
            }
        }
        for mesh in meshes {
            if let Some(keys) = weight_keys(skin, clip, &mesh.shapes) {
                animation.add_weights(builder, &mesh.nodes, &keys)?;
            }
        }
        animation.finish(builder);
    }
    Ok(())
}

/// Adds the animation that shows a mesh sequence: at frame `k`, shape `k` alone is on.
///
/// Without a rate the meshes are unrelated poses: each is held for a second.
pub(super) fn add_frames(
    builder: &mut Builder,
    frame_count: usize,
    frames_per_second: Option<f64>,
    meshes: &[MorphedMesh],
) -> Result<(), Fault> {
    let one_hot = |k: usize| (0..frame_count).map(move |m| f64::from(u8::from(m == k)));
    let motion = |rate: f64| Keys {
        interpolation: Interpolation::Linear,
        times: (0..frame_count).map(|k| k as f64 / rate).collect(),
        values: (0..frame_count).map(|k| one_hot(k).collect()).collect(),
    };
    let (name, keys) = match frames_per_second {
        Some(rate) => ("frames", motion(rate)),
        None => {
            let mut keys = motion(1.0);
            keys.interpolation = Interpolation::Step;
            // The last one is shown for a second, too.
            keys.times.push(frame_count as f64);
            keys.values.extend(keys.values.last().cloned());
            ("poses", keys)
        }
    };
    let mut animation = Draft::new(name);
    for mesh in meshes {
        animation.add_weights(builder, &mesh.nodes, &keys)?;
    }
    animation.finish(builder);
    Ok(())
}

/// Whether a later channel moves the same part of the same bone: glTF allows one, and the last one counts.
fn is_overruled(clip: &Clip, number: usize) -> bool {
    let this = &clip.channels[number];
    let same = |other: &Channel| {
        std::mem::discriminant(other) == std::mem::discriminant(this)
            && other.bone() == this.bone()
            && !other.times().is_empty()
    };
    this.bone().is_some() && clip.channels[number + 1..].iter().any(same)
}

/// The keys of some shapes' coefficients in a clip, or `None` when it moves none of them.
///
/// Channels that share their times and interpolation are joined exactly, and so are linear or
/// stepped channels of different times. Where other kinds of channel with different times meet in
/// one mesh, the result is linear between the keys of all of them.
fn weight_keys(skin: &Skin, clip: &Clip, shapes: &[usize]) -> Option<Keys<Vec<f64>>> {
    let channels: Vec<(usize, &Keys<Vec<f64>>)> = (clip.channels.iter())
        .filter_map(|channel| match channel {
            Channel::Coefficients(first, keys) => Some((*first, keys)),
            _ => None,
        })
        .filter(|(first, keys)| {
            let width = keys.values.first().map_or(0, Vec::len);
            shapes.iter().any(|m| (*first..first + width).contains(m))
        })
        .collect();
    let (_, leader) = *channels.first()?;
    let defaults = skin.default_coefficients();
    let alike = |(_, keys): &(usize, &Keys<Vec<f64>>)| {
        keys.times == leader.times && keys.interpolation == leader.interpolation
    };
    if channels.iter().all(alike) {
        let per_key = leader.values_per_key();
        let value = |at: usize| {
            let is_tangent = per_key == 3 && at % 3 != 1;
            let one = |&m: &usize| {
                let covering = channels
                    .iter()
                    .rev()
                    .find_map(|(first, keys)| keys.values[at].get(m.checked_sub(*first)?).copied());
                covering.unwrap_or(if is_tangent { 0.0 } else { defaults[m] })
            };
            shapes.iter().map(one).collect()
        };
        return Some(Keys {
            interpolation: leader.interpolation,
            times: leader.times.clone(),
            values: (0..leader.values.len()).map(value).collect(),
        });
    }
    let mut times: Vec<f64> = (channels.iter())
        .flat_map(|(_, keys)| keys.times.iter().copied())
        .collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let stepped = |(_, keys): &(usize, &Keys<Vec<f64>>)| keys.interpolation == Interpolation::Step;
    let sampled = |&time: &f64| {
        let pose = clip.sample(&skin.skeleton, &defaults, time);
        shapes.iter().map(|&m| pose.coefficients[m]).collect()
    };
    Some(Keys {
        interpolation: if channels.iter().all(stepped) {
            Interpolation::Step
        } else {
            Interpolation::Linear
        },
        values: times.iter().map(sampled).collect(),
        times,
    })
}

/// An animation under construction.
struct Draft {
    name: String,
    channels: Vec<JsonChannel>,
    samplers: Vec<Sampler>,
}

impl Draft {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            channels: Vec::new(),
            samplers: Vec::new(),
        }
    }

    /// Adds a channel of a bone; does nothing for coefficients, which go mesh by mesh.
    fn add_bone_channel(&mut self, builder: &mut Builder, channel: &Channel) -> Result<(), Fault> {
        let vector = |v: &DVec3, _: bool| vec![v.as_vec3().to_array()];
        let quaternion = |q: &DQuat, is_tangent: bool| {
            let q = if is_tangent { *q } else { q.normalize() };
            vec![q.as_quat().to_array()]
        };
        let node = |bone: usize| [Index::new(bone as u32)];
        match channel {
            Channel::Translation(bone, keys) => {
                let node = node(bone.index());
                self.add(builder, &node, Property::Translation, keys, vector)
            }
            Channel::Scale(bone, keys) => {
                let node = node(bone.index());
                self.add(builder, &node, Property::Scale, keys, vector)
            }
            Channel::Rotation(bone, keys) => {
                let node = node(bone.index());
                self.add(builder, &node, Property::Rotation, keys, quaternion)
            }
            Channel::Coefficients(..) => Ok(()),
        }
    }

    fn add_weights(
        &mut self,
        builder: &mut Builder,
        nodes: &[Index<Node>],
        keys: &Keys<Vec<f64>>,
    ) -> Result<(), Fault> {
        let numbers = |v: &Vec<f64>, _: bool| v.iter().map(|&c| [c as f32]).collect();
        self.add(builder, nodes, Property::MorphTargetWeights, keys, numbers)
    }

    /// Adds the same channel for some nodes; `convert` gets a value and whether it is a tangent.
    fn add<T, const N: usize>(
        &mut self,
        builder: &mut Builder,
        nodes: &[Index<Node>],
        property: Property,
        keys: &Keys<T>,
        convert: impl Fn(&T, bool) -> Vec<[f32; N]>,
    ) -> Result<(), Fault> {
        let Some(first) = nodes.first() else {
            return Ok(());
        };
        let what = format!(
            "{property:?} keys of node {} in clip {}",
            first.value(),
            self.name
        );
        let (kept, times) = single_precision_times(&keys.times);
        let per_key = keys.values_per_key();
        // A spline of one key is an error in glTF, and the same as a line of one key.
        let is_spline = keys.interpolation == Interpolation::Cubic && kept.len() > 1;
        let mut values: Vec<[f32; N]> = Vec::new();
        for key in kept {
            for part in 0..per_key {
                let is_tangent = part != per_key / 2;
                if is_spline || !is_tangent {
                    values.extend(convert(&keys.values[key * per_key + part], is_tangent));
                }
            }
        }
        let sampler = Sampler {
            extensions: None,
            extras: None,
            input: builder.times(&what, &times)?,
            interpolation: Valid(match keys.interpolation {
                Interpolation::Cubic if is_spline => JsonInterpolation::CubicSpline,
                Interpolation::Step => JsonInterpolation::Step,
                Interpolation::Linear | Interpolation::Cubic => JsonInterpolation::Linear,
            }),
            output: builder.floats(&what, &values, Use::Other)?,
        };
        let sampler_index = Index::new(self.samplers.len() as u32);
        self.channels.extend(nodes.iter().map(|&node| JsonChannel {
            sampler: sampler_index,
            target: Target {
                extensions: None,
                extras: None,
                node,
                path: Valid(property),
            },
            extensions: None,
            extras: None,
        }));
        self.samplers.push(sampler);
        Ok(())
    }

    fn finish(self, builder: &mut Builder) {
        if !self.channels.is_empty() {
            builder.root.push(Animation {
                extensions: None,
                extras: None,
                channels: self.channels,
                name: (!self.name.is_empty()).then_some(self.name),
                samplers: self.samplers,
            });
        }
    }
}

/// Times in single precision, and which keys they belong to.
///
/// Times must rise strictly: of keys whose rounded times are equal, the last one is kept.
fn single_precision_times(times: &[f64]) -> (Vec<usize>, Vec<f32>) {
    let single = |k: usize| times[k] as f32 + 0.0;
    (0..times.len())
        .filter(|&k| k + 1 == times.len() || single(k) != single(k + 1))
        .map(|k| (k, single(k)))
        .unzip()
}

#[cfg(test)]
mod tests {
    use dermis::Skeleton;
    use dermis::skin::{Coefficient, Correction, SsdProgram, VertexProgram};
    use glam::DAffine3;

    use super::*;

    /// One bone, no vertices and as many corrections as asked for, defaults 10, 11, ...
    fn sliders(count: usize) -> Skin {
        let bone = ("bone".to_owned(), None, DAffine3::IDENTITY);
        Skin {
            skeleton: Skeleton::from_rest_frames([bone]).expect("one bone"),
            program: VertexProgram::Ssd(SsdProgram {
                corrections: vec![Correction { deltas: Vec::new() }; count],
                ..SsdProgram::default()
            }),
            coefficients: (0..count)
                .map(|m| Coefficient {
                    name: m.to_string(),
                    default: 10.0 + m as f64,
                })
                .collect(),
            pose_program: dermis::skin::PoseProgram::default(),
        }
    }

    fn keys(interpolation: Interpolation, times: &[f64], values: &[&[f64]]) -> Keys<Vec<f64>> {
        Keys {
            interpolation,
            times: times.to_vec(),
            values: values.iter().map(|v| v.to_vec()).collect(),
        }
    }

    fn clip(channels: Vec<Channel>) -> Clip {
        Clip {
            name: "clip".to_owned(),
            channels,
        }
    }

    #[test]
    fn of_keys_with_equal_rounded_times_the_last_is_kept() {
        let (kept, times) = single_precision_times(&[-0.0, 1.0, 1.0 + 1e-12, 2.0]);
        assert_eq!(kept, [0, 2, 3], "the first of the two is dropped");
        assert!(times[0].is_sign_positive(), "-0 becomes 0");
        assert!(
            times.is_sorted_by(|a, b| a < b),
            "strictly rising: {times:?}"
        );
    }

    #[test]
    fn a_mesh_gets_its_own_coefficients_of_a_channel_and_defaults_for_the_rest() {
        let spline = keys(
            Interpolation::Cubic,
            &[0.0, 1.0],
            &[
                &[1., 2.],
                &[3., 4.],
                &[5., 6.],
                &[7., 8.],
                &[9., 0.],
                &[1., 2.],
            ],
        );
        let clip = clip(vec![Channel::Coefficients(1, spline)]);
        let found = weight_keys(&sliders(4), &clip, &[0, 2]).expect("2 is moved");
        assert_eq!(found.interpolation, Interpolation::Cubic, "kept");
        let expected = [[0., 2.], [10., 4.], [0., 6.], [0., 8.], [10., 0.], [0., 2.]];
        assert_eq!(found.values, expected, "default value, zero tangents");
        assert!(
            weight_keys(&sliders(4), &clip, &[0, 3]).is_none(),
            "the clip moves none of them"
        );
    }

    #[test]
    fn channels_of_different_times_are_joined_at_all_of_them() {
        use Interpolation::{Linear, Step};
        let skin = sliders(2);
        for (interpolation, middle) in [(Linear, 0.5), (Step, 0.0)] {
            let clip = clip(vec![
                Channel::Coefficients(0, keys(interpolation, &[0.0, 2.0], &[&[0.0], &[1.0]])),
                Channel::Coefficients(1, keys(interpolation, &[1.0], &[&[7.0]])),
            ]);
            let found = weight_keys(&skin, &clip, &[0, 1]).expect("both are moved");
            assert_eq!(found.interpolation, interpolation, "kept");
            assert_eq!(found.times, [0.0, 1.0, 2.0], "the union");
            assert_eq!(
                found.values,
                [[0.0, 7.0], [middle, 7.0], [1.0, 7.0]],
                "sampled"
            );
        }
    }

    #[test]
    fn empty_clips_and_overruled_channels_are_left_out() {
        let skin = sliders(0);
        let bone = skin.skeleton.find("bone").expect("the only bone");
        let at = |x: f64| Keys {
            interpolation: Interpolation::Linear,
            times: vec![0.0],
            values: vec![DVec3::splat(x)],
        };
        let none = Keys {
            interpolation: Interpolation::Linear,
            times: Vec::new(),
            values: Vec::new(),
        };
        let clips = [
            clip(Vec::new()),
            clip(vec![Channel::Translation(bone, none.clone())]),
            clip(vec![
                Channel::Translation(bone, at(1.0)),
                Channel::Scale(bone, at(2.0)),
                Channel::Translation(bone, at(3.0)),
                Channel::Translation(bone, none),
            ]),
        ];
        let mut builder = Builder::default();
        add_clips(&mut builder, &skin, &clips, &[]).expect("finite");
        assert_eq!(builder.root.animations.len(), 1, "two clips move nothing");
        let animation = &builder.root.animations[0];
        assert_eq!(animation.channels.len(), 2, "one per property");
    }
}
