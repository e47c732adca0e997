//! Animations to clips.

use dermis::clip::{Channel, Clip, Interpolation, Keys};
use dermis::limits::check_memory;
use dermis::rig::BoneId;
use glam::{DQuat, DVec3};

use super::accessor::{Accessors, Count};
use super::scene::{not_a_rotation, unit_quaternion};
use super::schema::{self, Animation, AnimationSampler, Schema};
use crate::Fault;

/// The bones and coefficients that animations can move.
pub(super) struct Targets<'a> {
    /// The bone of each node.
    pub(super) bones: &'a [Option<BoneId>],
    /// The coefficient of each morph target of each node.
    pub(super) coefficients: &'a [Vec<usize>],
}

/// Reads every animation that moves a bone or a coefficient; its other channels are ignored.
pub(super) fn read(
    schema: &Schema,
    accessors: &Accessors<'_>,
    targets: &Targets<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Clip>, Fault> {
    let mut reader = Reader {
        accessors,
        repeated_keys: 0,
        key_count: 0,
        key_bytes: 0,
    };
    let mut clips = Vec::new();
    let mut empty = Vec::new();
    for (i, animation) in schema.animations.iter().enumerate() {
        let name = schema::name_or(animation.name.as_deref(), "clip", i);
        let channels = reader.channels(schema, i, animation, targets)?;
        if channels.is_empty() {
            empty.push(name);
        } else {
            clips.push(Clip { name, channels });
        }
    }
    if !empty.is_empty() {
        notes.push(format!(
            "animations that move no bone or morph target were left out: {}",
            schema::listed(&empty)
        ));
    }
    if reader.repeated_keys > 0 {
        notes.push(format!(
            "animation keys left out, because the next key has the same time: {}",
            reader.repeated_keys
        ));
    }
    Ok(clips)
}

struct Reader<'a> {
    accessors: &'a Accessors<'a>,
    repeated_keys: usize,
    /// Keys of all channels so far, and the bytes that they take.
    key_count: u64,
    key_bytes: u64,
}

impl Reader<'_> {
    fn channels(
        &mut self,
        schema: &Schema,
        index: usize,
        animation: &Animation,
        targets: &Targets<'_>,
    ) -> Result<Vec<Channel>, Fault> {
        let mut channels = Vec::new();
        for (c, channel) in animation.channels.iter().enumerate() {
            let label = format!("animation {index} channel {c}");
            let sampler = schema::get(&animation.samplers, channel.sampler, "sampler", &label)?;
            // Without a node the channel belongs to an extension.
            let Some(node) = channel.target.node else {
                continue;
            };
            schema::get(&schema.nodes, node, "node", &label)?;
            let (bone, coefficients) = (targets.bones[node], &targets.coefficients[node]);
            let channel = match (&*channel.target.path, bone) {
                ("translation", Some(bone)) => {
                    let keys = self.keys(sampler, &label, &["VEC3"], 1, vector)?;
                    Channel::Translation(bone, keys)
                }
                ("scale", Some(bone)) => {
                    let keys = self.keys(sampler, &label, &["VEC3"], 1, vector)?;
                    Channel::Scale(bone, keys)
                }
                ("rotation", Some(bone)) => {
                    let mut keys = self.keys(sampler, &label, &["VEC4"], 1, quaternion)?;
                    normalize(&mut keys, &label)?;
                    Channel::Rotation(bone, keys)
                }
                ("weights", _) if !coefficients.is_empty() => {
                    let weights = |w: &[f32]| w.iter().copied().map(f64::from).collect();
                    let count = coefficients.len();
                    let keys = self.keys(sampler, &label, &["SCALAR"], count, weights)?;
                    if !keys.times.is_empty() {
                        channels.extend(weight_channels(coefficients, keys));
                    }
                    continue;
                }
                _ => continue,
            };
            if !channel.times().is_empty() {
                channels.push(channel);
            }
        }
        Ok(channels)
    }

    /// Times and values of a sampler, each value made of `elements` elements of the output.
    fn keys<T>(
        &mut self,
        sampler: &AnimationSampler,
        label: &str,
        shapes: &[&str],
        elements: usize,
        value: impl Fn(&[f32]) -> T,
    ) -> Result<Keys<T>, Fault> {
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::Cubic,
            Some(other) => {
                return Err(Fault::malformed(
                    label,
                    "LINEAR, STEP or CUBICSPLINE",
                    other,
                ));
            }
        };
        let role = format!("{label} input");
        let times = self
            .accessors
            .finite(sampler.input, &role, &["SCALAR"], Count::Backed)?;
        let times: Vec<f64> = times.values.into_iter().map(f64::from).collect();
        if let Some(k) = (1..times.len()).find(|&k| times[k] < times[k - 1]) {
            return Err(Fault::malformed(
                format!("{label} key {k}"),
                format!("a time after {} s", times[k - 1]),
                format!("{} s", times[k]),
            ));
        }
        let mut keys = Keys {
            interpolation,
            times,
            values: Vec::new(),
        };
        let values_per_key = keys.values_per_key();
        // Key counts are backed by bytes and small factors, but hostile weights are not small.
        let count = (keys.times.len() * values_per_key).saturating_mul(elements);
        self.plan::<T>(keys.times.len(), count)?;
        let role = format!("{label} output");
        let output = self
            .accessors
            .finite(sampler.output, &role, shapes, Count::Exactly(count))?;
        let numbers_per_key = output.width * elements * values_per_key;
        let numbers = output.values.chunks_exact(numbers_per_key);
        let split = |key: &[f32]| -> Vec<T> {
            key.chunks_exact(output.width * elements)
                .map(&value)
                .collect()
        };
        // Where several keys share a time, the last one counts.
        let counts = |k: usize| keys.times.get(k + 1) != Some(&keys.times[k]);
        keys.values = (numbers.enumerate())
            .filter(|(k, _)| counts(*k))
            .flat_map(|(_, key)| split(key))
            .collect();
        let kept: Vec<f64> = (0..keys.times.len())
            .filter(|&k| counts(k))
            .map(|k| keys.times[k])
            .collect();
        self.repeated_keys += keys.times.len() - kept.len();
        keys.times = kept;
        Ok(keys)
    }
}

impl Reader<'_> {
    /// Counts the keys of one more channel; refused when all of them would not fit into memory.
    fn plan<T>(&mut self, keys: usize, elements: usize) -> Result<(), Fault> {
        // A value, or a list of its own with a number for each element.
        let element = (size_of::<T>() + 24) as u64;
        self.key_count += keys as u64;
        let bytes = (elements as u64)
            .saturating_mul(element)
            .saturating_add(16 * keys as u64);
        self.key_bytes = self.key_bytes.saturating_add(bytes);
        let what = || format!("reading {} animation keys", self.key_count);
        Ok(check_memory(
            &[self.key_bytes],
            what,
            "leave out animations",
        )?)
    }
}

/// Keys of a mesh's morph targets as channels, one for each run of coefficients in a row.
fn weight_channels(coefficients: &[usize], keys: Keys<Vec<f64>>) -> Vec<Channel> {
    let runs: Vec<&[usize]> = coefficients.chunk_by(|a, b| a + 1 == *b).collect();
    if let [only] = runs[..] {
        return vec![Channel::Coefficients(only[0], keys)];
    }
    let mut start = 0;
    let channel = |run: &[usize]| {
        let part = start..start + run.len();
        start = part.end;
        let values = keys.values.iter();
        let keys = Keys {
            interpolation: keys.interpolation,
            times: keys.times.clone(),
            values: values.map(|value| value[part.clone()].to_vec()).collect(),
        };
        Channel::Coefficients(run[0], keys)
    };
    runs.into_iter().map(channel).collect()
}

fn vector(v: &[f32]) -> DVec3 {
    match *v {
        [x, y, z] => DVec3::new(x.into(), y.into(), z.into()),
        _ => DVec3::ZERO,
    }
}

fn quaternion(q: &[f32]) -> DQuat {
    match *q {
        [x, y, z, w] => DQuat::from_xyzw(x.into(), y.into(), z.into(), w.into()),
        _ => DQuat::IDENTITY,
    }
}

/// Makes rotations unit length; the tangents of a cubic spline have any length.
fn normalize(keys: &mut Keys<DQuat>, label: &str) -> Result<(), Fault> {
    let per_key = keys.values_per_key();
    for (k, key) in keys.values.chunks_exact_mut(per_key).enumerate() {
        let value = &mut key[per_key / 2];
        *value = unit_quaternion(value.to_array())
            .ok_or_else(|| not_a_rotation(&format!("{label} key {k}"), value.to_array()))?;
    }
    Ok(())
}
