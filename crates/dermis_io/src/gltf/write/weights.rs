//! Weight rows to `JOINTS_n` and `WEIGHTS_n`.
//!
//! glTF requires weights that are never negative, sum to 1, and name each bone once; most importers
//! read set 0 only, so the largest weights are put there.

use dermis::skin::{SsdProgram, Weight};

use super::rig::Joints;
use crate::Fault;

/// Negative weights no lower than this are rounding errors and become 0.
const ROUNDING: f64 = 1e-6;

/// How far from 1 a row may sum: four weights stored in bytes are off by up to 0.008. Scaling a
/// row that is further off would silently change what the skin does.
const SUM_TOLERANCE: f64 = 0.01;

/// The influences of one vertex, largest first, in single precision.
type Row = Vec<(u16, f32)>;

/// Sets of four influences per drawn vertex.
#[derive(Debug)]
pub(super) struct InfluenceSets {
    /// Joint numbers, one list per set.
    pub(super) joints: Vec<Vec<[u16; 4]>>,
    /// Weights, one list per set.
    pub(super) weights: Vec<Vec<[f32; 4]>>,
}

/// Every point's influences as the file will have them, by joint.
pub(super) fn file_rows(ssd: &SsdProgram, joints: &Joints) -> Result<Vec<Row>, Fault> {
    let by_joint = |(bone, weight)| (joints.of_bone(bone), weight);
    (ssd.weights.iter().enumerate())
        .map(|(vertex, row)| Ok(file_row(vertex, row)?.into_iter().map(by_joint).collect()))
        .collect()
}

fn file_row(vertex: usize, row: &[Weight]) -> Result<Row, Fault> {
    let fault = |expected: &str, found: String| {
        Err(Fault::malformed(
            format!("weights of vertex {vertex}"),
            expected,
            found,
        ))
    };
    let mut merged: Vec<(u16, f64)> = row.iter().map(|w| (w.bone.0, w.weight)).collect();
    merged.sort_by_key(|&(bone, _)| bone);
    merged.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    if let Some((bone, weight)) = merged.iter().find(|w| w.1.is_nan() || w.1 < -ROUNDING) {
        return fault(
            "weights of 0 or more, as glTF demands",
            format!("{weight} for bone {bone}"),
        );
    }
    merged.retain(|&(_, weight)| weight > 0.0);
    let sum = merged.iter().fold(0.0, |sum, &(_, weight)| sum + weight);
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return fault("weights that sum to 1", sum.to_string());
    }
    merged.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut rounded: Row = (merged.iter())
        .map(|&(bone, weight)| (bone, (weight / sum) as f32))
        .filter(|&(_, weight)| weight > 0.0)
        .collect();
    // The rounding error of single precision is added to the largest weight, where it matters least.
    let lost = 1.0 - rounded.iter().map(|&(_, w)| f64::from(w)).sum::<f64>();
    rounded[0].1 = (f64::from(rounded[0].1) + lost) as f32;
    Ok(rounded)
}

/// How many sets of four the longest row among some points needs; at least one.
pub(super) fn set_count(rows: &[Row], points: impl IntoIterator<Item = u32>) -> usize {
    let lengths = points.into_iter().map(|point| rows[point as usize].len());
    lengths.max().unwrap_or(0).div_ceil(4).max(1)
}

/// Spreads the rows of a part's points over sets of four; unused places are joint 0, weight 0.
pub(super) fn influence_sets(rows: &[Row], points: &[u32], set_count: usize) -> InfluenceSets {
    let mut sets = InfluenceSets {
        joints: vec![vec![[0; 4]; points.len()]; set_count],
        weights: vec![vec![[0.0; 4]; points.len()]; set_count],
    };
    for (vertex, &point) in points.iter().enumerate() {
        for (place, &(bone, weight)) in rows[point as usize].iter().enumerate() {
            sets.joints[place / 4][vertex][place % 4] = bone;
            sets.weights[place / 4][vertex][place % 4] = weight;
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use dermis::BoneId;

    use super::*;

    fn row(weights: &[(u16, f64)]) -> Vec<Weight> {
        let weight = |&(bone, weight): &(u16, f64)| Weight {
            bone: BoneId(bone),
            weight,
        };
        weights.iter().map(weight).collect()
    }

    #[test]
    fn weights_sum_to_one_in_single_precision() {
        for count in 1..=12u16 {
            let raw: Vec<(u16, f64)> = (0..count)
                .map(|j| (j, 1.0 / f64::from(3 * j + 1)))
                .collect();
            let sum: f64 = raw.iter().map(|w| w.1).sum();
            let raw: Vec<_> = raw.iter().map(|&(j, w)| (j, w / sum)).collect();
            let rounded = file_row(0, &row(&raw)).expect("a legal row");
            let sum: f64 = rounded.iter().map(|w| f64::from(w.1)).sum();
            // The validator allows 2e-7 for every weight that is not zero.
            assert!((sum - 1.0).abs() < 1e-7, "{count} weights sum to {sum}");
        }
    }

    #[test]
    fn the_largest_weights_come_first_and_each_bone_once() {
        let weights = row(&[
            (3, 0.1),
            (1, 0.25),
            (3, 0.3),
            (2, 0.35),
            (0, -1e-9),
            (7, 0.0),
        ]);
        let rounded = file_row(0, &weights).expect("a legal row");
        let bones: Vec<u16> = rounded.iter().map(|w| w.0).collect();
        assert_eq!(
            bones,
            [3, 2, 1],
            "0.4, 0.35, 0.25; rounding and zero are gone"
        );
        let sets = influence_sets(&[rounded], &[0, 0], 1);
        assert_eq!(
            sets.joints,
            [vec![[3, 2, 1, 0]; 2]],
            "the unused place is bone 0"
        );
        assert_eq!(sets.weights[0][1][3], 0.0, "with weight 0");
    }

    #[test]
    fn illegal_weights_are_refused_with_their_vertex() {
        for (weights, message) in [
            (row(&[(0, 1.2), (1, -0.2)]), "-0.2 for bone 1"),
            (row(&[(0, f64::NAN)]), "NaN for bone 0"),
            (row(&[(0, 0.5)]), "sum to 1, found 0.5"),
            (row(&[]), "sum to 1, found 0"),
        ] {
            let fault = file_row(17, &weights).expect_err(message).to_string();
            assert!(
                fault.contains("vertex 17") && fault.contains(message),
                "expected {message}, found {fault}"
            );
        }
    }
}
