//! How far the vertices of a skin are from the bones that move them.

use super::{LinearProgram, Skin, SsdProgram, VertexProgram};
use crate::math::largest_stretch;

/// What an error of the bones does to the vertices of a skin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reach {
    /// For each bone, how far its vertices are from its origin, in its frame; `None` without any.
    pub(super) of_bone: Vec<Option<f64>>,
    /// An error of at most 1 of every bone at its reach moves no vertex by more than this: 1 when
    /// weights are not negative and sum to 1.
    pub(super) spread: f64,
}

impl Skin {
    /// The reach of the skin's bones when coefficients are at most `coefficients` in size; `None` for
    /// programs that are not linear in the matrices' columns.
    pub(super) fn reach(&self, coefficients: &[f64]) -> Option<Reach> {
        match &self.program {
            VertexProgram::Ssd(ssd) => Some(self.ssd_reach(ssd, coefficients)),
            VertexProgram::Linear(linear) => Some(self.linear_reach(linear, coefficients)),
            VertexProgram::MultiWeight(_) | VertexProgram::DualQuaternion(_) => None,
        }
    }

    fn ssd_reach(&self, ssd: &SsdProgram, coefficients: &[f64]) -> Reach {
        let bones = self.skeleton.bones();
        let stretch: Vec<f64> = (bones.iter())
            .map(|bone| largest_stretch(&bone.bone_from_rest.matrix3))
            .collect();
        let mut moved = vec![0.0; ssd.rest_positions.len()];
        for (correction, c) in ssd.corrections.iter().zip(coefficients) {
            for delta in &correction.deltas {
                moved[delta.index as usize] += c * delta.value.length();
            }
        }
        let mut reach = Reach::none(bones.len());
        for (i, row) in ssd.weights.iter().enumerate() {
            for w in row.iter().filter(|w| w.weight != 0.0) {
                let j = w.bone.index();
                let local = bones[j]
                    .bone_from_rest
                    .transform_point3(ssd.rest_positions[i]);
                reach.take(j, local.length() + stretch[j] * moved[i]);
            }
            let sum = row.iter().map(|w| w.weight.abs()).sum::<f64>();
            reach.spread = reach.spread.max(sum);
        }
        reach
    }

    fn linear_reach(&self, linear: &LinearProgram, coefficients: &[f64]) -> Reach {
        // Sizes of the vectors and of their weights, corrections included.
        let items = linear.influences.items();
        let mut sizes: Vec<(f64, f64)> = (items.iter())
            .map(|i| (i.p.truncate().length(), i.p.w.abs()))
            .collect();
        for (correction, c) in linear.corrections.iter().zip(coefficients) {
            for delta in &correction.deltas {
                let (length, weight) = &mut sizes[delta.index as usize];
                *length += c * delta.value.truncate().length();
                *weight += c * delta.value.w.abs();
            }
        }
        let mut reach = Reach::none(self.skeleton.bone_count());
        for i in 0..linear.influences.len() {
            let range = linear.influences.range(i);
            // An influence may have a vector and hardly any weight: it gets an even share then.
            let even = 1.0 / range.len().max(1) as f64;
            let mut sum = 0.0;
            for (item, (length, weight)) in items[range.clone()].iter().zip(&sizes[range]) {
                let share = weight.max(even);
                reach.take(item.bone.index(), length / share);
                sum += share;
            }
            reach.spread = reach.spread.max(sum);
        }
        reach
    }
}

impl Reach {
    fn none(bone_count: usize) -> Self {
        Self {
            of_bone: vec![None; bone_count],
            spread: 1.0,
        }
    }

    fn take(&mut self, bone: usize, distance: f64) {
        let known = &mut self.of_bone[bone];
        *known = Some(known.map_or(distance, |other| other.max(distance)));
    }
}
