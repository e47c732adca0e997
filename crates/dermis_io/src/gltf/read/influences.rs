//! `JOINTS_n` and `WEIGHTS_n` to rows of weights, with the repairs that real files need.

use std::collections::BTreeMap;

use dermis::BoneId;
use dermis::skin::{Rows, Weight};

use super::accessor::{Accessors, Component, Count};
use crate::Fault;

/// Weights whose sum is further from 1 get a note; smaller deviations are rounding.
const SUM_TOLERANCE: f64 = 1e-3;

/// Negative weights no lower than this count as rounding errors.
const MOST_NEGATIVE: f64 = -1e-3;

/// Counts of the repairs to the weights of a whole file.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    scaled: usize,
    /// The sum furthest from 1.
    worst_sum: f64,
    clamped: usize,
    unweighted: usize,
    /// Vertices with a slot of weight 0 that names a joint which their skin does not have.
    strangers: usize,
    /// The first such slot, in words.
    first_stranger: String,
}

impl Repairs {
    /// Counts a vertex with a joint number out of range.
    fn add_stranger(&mut self, in_words: impl FnOnce() -> String) {
        if self.strangers == 0 {
            self.first_stranger = in_words();
        }
        self.strangers += 1;
    }

    /// One sentence for each kind of repair.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let scaled = (self.scaled > 0).then(|| {
            format!(
                "the weights of {} did not sum to 1 (the worst sum is {:.4}) and were scaled",
                vertices(self.scaled),
                self.worst_sum
            )
        });
        let clamped = (self.clamped > 0)
            .then(|| format!("slightly negative weights, set to zero: {}", self.clamped));
        let unweighted = (self.unweighted > 0).then(|| {
            format!(
                "vertices without any weight, bound to the first joint of their skin: {}",
                self.unweighted
            )
        });
        let strangers = (self.strangers > 0).then(|| {
            format!(
                "at {}, influences of weight 0 name joints that the skin does not have (such as {}): left out",
                vertices(self.strangers),
                self.first_stranger
            )
        });
        let notes = scaled.into_iter().chain(clamped);
        notes.chain(unweighted).chain(strangers)
    }
}

fn vertices(count: usize) -> String {
    match count {
        1 => "1 vertex".to_owned(),
        _ => format!("{count} vertices"),
    }
}

/// The influences of a primitive's vertices, each row by falling weight and summing to 1.
///
/// `bones` are the bones of the skin's joints; there is at least one.
pub(super) fn read(
    accessors: &Accessors<'_>,
    label: &str,
    attributes: &BTreeMap<String, usize>,
    vertex_count: usize,
    bones: &[BoneId],
    repairs: &mut Repairs,
) -> Result<Rows<Weight>, Fault> {
    let mut sets = Vec::new();
    for (set, joints, weights) in paired_sets(attributes, label)? {
        let count = Count::Exactly(vertex_count);
        let types = [Component::U8, Component::U16];
        let role = format!("{label} JOINTS_{set}");
        let joints = accessors.integers(joints, &role, "VEC4", &types, count)?;
        let role = format!("{label} WEIGHTS_{set}");
        let weights = accessors.finite(weights, &role, &["VEC4"], count)?.values;
        sets.push((joints, weights));
    }
    let out_of_range = |joint: u32| joint as usize >= bones.len();
    let mut rows = Rows::with_capacity(vertex_count, vertex_count * sets.len());
    let mut row: Vec<Weight> = Vec::new();
    for vertex in 0..vertex_count {
        row.clear();
        let mut joints = (sets.iter()).flat_map(|(joints, _)| &joints[vertex * 4..vertex * 4 + 4]);
        if let Some(&joint) = joints.find(|&&joint| out_of_range(joint)) {
            repairs.add_stranger(|| {
                format!(
                    "joint {joint} of {} joints at {label} vertex {vertex}",
                    bones.len()
                )
            });
        }
        for (joints, weights) in &sets {
            let slots = vertex * 4..vertex * 4 + 4;
            for (&joint, &weight) in joints[slots.clone()].iter().zip(&weights[slots]) {
                add(&mut row, joint, weight.into(), bones, repairs).map_err(|expected| {
                    let mut found = format!("joint {joint} with weight {weight}");
                    if out_of_range(joint) {
                        let count = weighted_strangers(&sets, vertex_count, bones.len());
                        let name = if count == 1 { "names" } else { "name" };
                        found += &format!(" ({} {name} joints out of range)", vertices(count));
                    }
                    Fault::malformed(format!("{label} vertex {vertex}"), expected, found)
                })?;
            }
        }
        finish(&mut row, bones, repairs);
        rows.push_row(row.iter().copied());
    }
    Ok(rows)
}

/// How many vertices give weight to a joint that their skin does not have.
fn weighted_strangers(
    sets: &[(Vec<u32>, Vec<f32>)],
    vertex_count: usize,
    joint_count: usize,
) -> usize {
    let is_one = |vertex: &usize| {
        let mut slots = (4 * vertex..4 * vertex + 4).flat_map(|slot| {
            let sets = sets.iter();
            sets.map(move |(joints, weights)| (joints[slot], weights[slot]))
        });
        slots.any(|(joint, weight)| weight > 0.0 && joint as usize >= joint_count)
    };
    (0..vertex_count).filter(is_one).count()
}

/// The accessors of each `JOINTS_n` with its `WEIGHTS_n`, by rising n.
fn paired_sets(
    attributes: &BTreeMap<String, usize>,
    label: &str,
) -> Result<Vec<(u32, usize, usize)>, Fault> {
    let numbered = |prefix: &str| -> BTreeMap<u32, usize> {
        let numbers = attributes.iter().filter_map(|(name, &accessor)| {
            let n = name.strip_prefix(prefix)?.parse().ok()?;
            Some((n, accessor))
        });
        numbers.collect()
    };
    let (joints, weights) = (numbered("JOINTS_"), numbered("WEIGHTS_"));
    let alone = (joints
        .keys()
        .find(|n| !weights.contains_key(n))
        .map(|n| ("JOINTS", n)))
    .or_else(|| {
        weights
            .keys()
            .find(|n| !joints.contains_key(n))
            .map(|n| ("WEIGHTS", n))
    });
    if let Some((kind, n)) = alone {
        return Err(Fault::malformed(
            label,
            "JOINTS and WEIGHTS in pairs",
            format!("{kind}_{n} alone"),
        ));
    }
    let pairs = joints.iter().zip(weights.values());
    Ok(pairs.map(|((&n, &j), &w)| (n, j, w)).collect())
}

/// Adds one slot to a row. The error is what was expected.
fn add(
    row: &mut Vec<Weight>,
    joint: u32,
    weight: f64,
    bones: &[BoneId],
    repairs: &mut Repairs,
) -> Result<(), String> {
    if weight < MOST_NEGATIVE {
        return Err("weights of 0 or more".to_owned());
    }
    if weight < 0.0 {
        repairs.clamped += 1;
    }
    // Unused slots often name joints that do not exist.
    if weight <= 0.0 {
        return Ok(());
    }
    let Some(&bone) = bones.get(joint as usize) else {
        return Err(format!("one of the {} joints of its skin", bones.len()));
    };
    row.push(Weight { bone, weight });
    Ok(())
}

/// Sums the slots of each bone, sorts the row and scales it to sum to 1.
fn finish(row: &mut Vec<Weight>, bones: &[BoneId], repairs: &mut Repairs) {
    row.sort_by_key(|w| w.bone);
    row.dedup_by(|later, kept| {
        let same = later.bone == kept.bone;
        if same {
            kept.weight += later.weight;
        }
        same
    });
    // Sorted before summing, so that one set of weights in any order gives the same bits.
    row.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bone.cmp(&b.bone)));
    let sum: f64 = row.iter().map(|w| w.weight).sum();
    if row.is_empty() {
        repairs.unweighted += 1;
        row.extend(bones.first().map(|&bone| Weight { bone, weight: 1.0 }));
    } else if sum != 1.0 {
        row.iter_mut().for_each(|w| w.weight /= sum);
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            repairs.scaled += 1;
            if (sum - 1.0).abs() > (repairs.worst_sum - 1.0).abs() || repairs.scaled == 1 {
                repairs.worst_sum = sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BONES: [BoneId; 3] = [BoneId(5), BoneId(6), BoneId(6)];

    fn row(slots: &[(u32, f64)], repairs: &mut Repairs) -> Result<Vec<(u16, f64)>, String> {
        let mut row = Vec::new();
        for &(joint, weight) in slots {
            add(&mut row, joint, weight, &BONES, repairs)?;
        }
        finish(&mut row, &BONES, repairs);
        Ok(row.iter().map(|w| (w.bone.0, w.weight)).collect())
    }

    #[test]
    fn slots_of_one_bone_are_summed_and_rows_fall() {
        let mut repairs = Repairs::default();
        assert_eq!(
            row(&[(0, 0.25), (1, 0.5), (2, 0.25), (9, 0.0)], &mut repairs),
            Ok(vec![(6, 0.75), (5, 0.25)]),
            "joints 1 and 2 are one bone, and the empty slot's joint 9 does not matter"
        );
        assert_eq!(repairs.notes().count(), 0, "nothing to repair");
    }

    #[test]
    fn each_kind_of_repair_is_one_note() {
        let mut repairs = Repairs::default();
        assert_eq!(
            row(&[(0, 1.0), (1, 1.0)], &mut repairs),
            Ok(vec![(5, 0.5), (6, 0.5)]),
            "scaled to sum to 1"
        );
        let sum_of_1_002 = row(&[(0, 1.002), (1, -1e-4)], &mut repairs);
        assert_eq!(sum_of_1_002, Ok(vec![(5, 1.0)]), "scaled and clamped");
        assert_eq!(row(&[(1, 0.0)], &mut repairs), Ok(vec![(5, 1.0)]), "first");
        let notes: Vec<String> = repairs.notes().collect();
        assert_eq!(
            notes,
            [
                "the weights of 2 vertices did not sum to 1 (the worst sum is 2.0000) and were scaled",
                "slightly negative weights, set to zero: 1",
                "vertices without any weight, bound to the first joint of their skin: 1",
            ],
            "one sentence each"
        );
    }

    #[test]
    fn joints_out_of_range_and_negative_weights_are_refused() {
        let mut repairs = Repairs::default();
        let expected = |slot| row(&[slot], &mut Repairs::default());
        assert_eq!(
            expected((3, 0.5)),
            Err("one of the 3 joints of its skin".to_owned()),
            "there is no joint 3"
        );
        assert!(row(&[(0, -0.5)], &mut repairs).is_err(), "far below zero");
    }
}
