//! Blend shapes: every shape of every channel is a correction, and in-betweens are shapes of their own.
//!
//! A channel has one weight and a list of shapes, each with the weight at which it is full. Between two of them FBX blends
//! linearly, so each shape has a coefficient that follows from the channel's weight; takes are sampled with all of them.

use std::collections::BTreeMap;

use dermis::document::free_name;
use dermis::skin::{Coefficient, Correction, Delta};
use glam::DVec3;
use ufbx::{Anim, BlendChannel, BlendShape};

use crate::counted;
use crate::instances::Instance;
use crate::nodes::vec3;

/// The blend shapes of all meshes.
pub(crate) struct Shapes<'a> {
    channels: Vec<Channel<'a>>,
    /// One per shape of every channel.
    pub(crate) coefficients: Vec<Coefficient>,
    /// One per coefficient.
    pub(crate) corrections: Vec<Correction<DVec3>>,
}

struct Channel<'a> {
    channel: &'a BlendChannel,
    /// Number of its first coefficient.
    first: usize,
}

impl<'a> Shapes<'a> {
    pub(crate) fn read(instances: &'a [Instance<'_>], notes: &mut Vec<String>) -> Self {
        let mut all = Self {
            channels: Vec::new(),
            coefficients: Vec::new(),
            corrections: Vec::new(),
        };
        let mut first_of: BTreeMap<u32, usize> = BTreeMap::new();
        let mut between = 0;
        for instance in instances {
            for channel in instance.channels() {
                let id = channel.element.typed_id;
                let first = *first_of
                    .entry(id)
                    .or_insert_with(|| all.add_channel(channel, &mut between));
                for (k, key) in channel.keyframes.iter().enumerate() {
                    let deltas = deltas(instance, &key.shape);
                    all.corrections[first + k].deltas.extend(deltas);
                }
            }
        }
        if between > 0 {
            let what = counted(between, "in-between shape", "in-between shapes");
            notes.push(format!(
                "{what} of blend shapes: read as sliders of their own, which the takes move"
            ));
        }
        all
    }

    /// Adds the coefficients of a channel, and returns the number of the first.
    fn add_channel(&mut self, channel: &'a BlendChannel, between: &mut usize) -> usize {
        let first = self.coefficients.len();
        let name = match (channel.element.name.as_ref(), &channel.target_shape) {
            ("", Some(shape)) => shape.element.name.to_string(),
            (name, _) => name.to_owned(),
        };
        let defaults = shares(channel, channel.weight);
        for (key, default) in channel.keyframes.iter().zip(defaults) {
            // The last shape is the channel's own; the ones before it say where they are full.
            let is_last = self.coefficients.len() + 1 == first + channel.keyframes.count;
            let wanted = match is_last {
                true => name.clone(),
                false => format!("{name}.{:.0}", 100.0 * key.target_weight),
            };
            *between += usize::from(!is_last);
            let is_taken = |name: &str| self.coefficients.iter().any(|c| c.name == name);
            let name = free_name(&wanted, is_taken);
            self.coefficients.push(Coefficient { name, default });
            self.corrections.push(Correction { deltas: Vec::new() });
        }
        self.channels.push(Channel { channel, first });
        first
    }

    /// The coefficients of a take at a time.
    pub(crate) fn at(&self, anim: &Anim, time: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.coefficients.len()];
        for Channel { channel, first } in &self.channels {
            let weight = ufbx::evaluate_blend_weight(anim, channel, time);
            let shares = shares(channel, weight);
            values[*first..*first + shares.len()].copy_from_slice(&shares);
        }
        values
    }

    /// The number of shapes of a mesh.
    pub(crate) fn count_of(instance: &Instance<'_>) -> usize {
        instance
            .channels()
            .map(|channel| channel.keyframes.count)
            .sum()
    }
}

/// How much of each of its shapes a channel shows: the two next to its weight, in proportion; beyond the last shape the
/// line through the last two goes on.
fn shares(channel: &BlendChannel, weight: f64) -> Vec<f64> {
    let full_at: Vec<f64> = channel
        .keyframes
        .iter()
        .map(|key| key.target_weight)
        .collect();
    shares_of(&full_at, weight)
}

fn shares_of(full_at: &[f64], weight: f64) -> Vec<f64> {
    let mut shares = vec![0.0; full_at.len()];
    // Shapes on the same side of zero, from the nearest on; the neutral shape comes before them.
    let first_positive = full_at.partition_point(|&at| at < 0.0);
    let side: Vec<usize> = match weight > 0.0 || first_positive == 0 {
        true => (first_positive..full_at.len()).collect(),
        false => (0..first_positive).rev().collect(),
    };
    let beyond = |&&k: &&usize| full_at[k].abs() > weight.abs() && full_at[k] * weight >= 0.0;
    let Some(next) = (side.iter().position(|k| beyond(&k))).or(side.len().checked_sub(1)) else {
        return shares;
    };
    let next = match weight > 0.0 || full_at[side[0]] < 0.0 {
        true => next,
        // A negative weight without a negative shape shows the first shape the other way round.
        false => 0,
    };
    let after = full_at[side[next]];
    let before = next.checked_sub(1).map_or(0.0, |k| full_at[side[k]]);
    if after != before {
        let share = (weight - before) / (after - before);
        shares[side[next]] = share;
        if next > 0 {
            shares[side[next - 1]] = 1.0 - share;
        }
    }
    shares
}

/// The displacements of a shape in rest space, by rising point.
fn deltas(instance: &Instance<'_>, shape: &BlendShape) -> Vec<Delta<DVec3>> {
    let mut sums: BTreeMap<u32, DVec3> = BTreeMap::new();
    let offsets = shape.offset_vertices.iter().zip(&shape.position_offsets);
    for (k, (&vertex, &offset)) in offsets.enumerate() {
        if (vertex as usize) < instance.mesh.num_vertices {
            // Blender writes a weight for every displacement.
            let weight = shape.offset_weights.get(k).copied().unwrap_or(1.0);
            *sums.entry(vertex).or_default() += weight * vec3(offset);
        }
    }
    let to_rest = instance.rest_from_geometry.matrix3;
    let moved = sums
        .into_iter()
        .filter(|(_, offset)| *offset != DVec3::ZERO);
    let delta = |(vertex, offset): (u32, DVec3)| Delta {
        index: instance.first_point as u32 + vertex,
        value: to_rest * offset,
    };
    moved.map(delta).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_betweens_share_the_weight_with_their_neighbours() {
        for (weight, expected) in [
            (0.0, [0.0, 0.0]),
            (0.25, [0.5, 0.0]),
            (0.5, [1.0, 0.0]),
            (0.75, [0.5, 0.5]),
            (1.0, [0.0, 1.0]),
            (1.5, [-1.0, 2.0]),
            (-0.25, [-0.5, 0.0]),
        ] {
            assert_eq!(
                shares_of(&[0.5, 1.0], weight),
                expected,
                "at weight {weight}"
            );
        }
    }

    #[test]
    fn shapes_of_negative_weights_are_on_the_other_side() {
        for (weight, expected) in [(0.5, [0.0, 0.5]), (-0.5, [0.5, 0.0]), (0.0, [0.0, 0.0])] {
            assert_eq!(
                shares_of(&[-1.0, 1.0], weight),
                expected,
                "at weight {weight}"
            );
        }
        assert!(shares_of(&[], 1.0).is_empty(), "no shapes, no shares");
    }
}
