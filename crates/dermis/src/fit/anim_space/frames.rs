//! The scale and the frames that a fit works in.
//!
//! A penalty on `|p|²` or `|p_a − p_b|²` compares lengths with weights, and bones with each other,
//! so it depends on the unit of length and on the frame of every bone. A fit therefore works on
//! the model scaled to a box whose longest side is 1 (\[Merry06\] §6.2), and with frames that do
//! not depend on how the bones' axes were drawn: frame `j` has the axes of the rest mesh and its
//! origin at bone `j`'s joint.
//!
//! With `S` from model to unit space, `N_j = G_j Ĝ_j⁻¹`, and `T_j` the translation to the joint,
//!
//! ```text
//! S G_j p = (S N_j S⁻¹ T_j) q  =  H_j q,      p = (Ĝ_j⁻¹ S⁻¹ T_j) q,
//! ```
//!
//! so palettes become `H_j`, and vectors come back by one matrix per bone. Both are affine: the
//! fourth component, the weight, is the same in `p` and `q`.
//!
//! Because weights sum to 1, any translation of a pose can be taken out of its palette and its
//! targets together; the mean of the palette is, so that a character far from the origin loses no
//! digits.

use glam::{DAffine3, DVec3, DVec4};

use crate::example::ExampleSet;
use crate::measure::posed_from_rest;

/// Palettes and targets of some examples in the space of the fit.
pub(crate) struct FitFrames<'a> {
    set: &'a ExampleSet,
    which: &'a [usize],
    /// `H_j` by example, then by bone.
    pub(super) unit_from_frame: Vec<Vec<DAffine3>>,
    /// Takes a position of example `k` to unit space, less the translation taken out of the pose.
    shifts: Vec<DVec3>,
    /// Length of the longest side of the rest box, in model units.
    pub(super) unit: f64,
    center: DVec3,
    /// `T_j`'s translation: the joints in unit space.
    joints: Vec<DVec3>,
    /// `Ĝ_j⁻¹ S⁻¹ T_j`.
    bone_from_frame: Vec<DAffine3>,
}

impl<'a> FitFrames<'a> {
    pub(crate) fn new(set: &'a ExampleSet, which: &'a [usize]) -> Self {
        let bounds = set.rest().bounds();
        let longest = (bounds.max - bounds.min).max_element();
        let unit = if longest > 0.0 && longest.is_finite() {
            longest
        } else {
            1.0
        };
        let center = 0.5 * (bounds.min + bounds.max);
        let center = if center.is_finite() {
            center
        } else {
            DVec3::ZERO
        };
        let model_from_unit = DAffine3 {
            matrix3: glam::DMat3::from_diagonal(DVec3::splat(unit)),
            translation: center,
        };
        let unit_from_model = model_from_unit.inverse();
        let bones = set.skeleton().bones();
        let joints: Vec<DVec3> = bones
            .iter()
            .map(|bone| {
                let joint = bone.bone_from_rest.inverse().translation;
                // A bone with a singular bind matrix has no defined position.
                match joint.is_finite() {
                    true => unit_from_model.transform_point3(joint),
                    false => DVec3::ZERO,
                }
            })
            .collect();
        let bone_from_frame = bones
            .iter()
            .zip(&joints)
            .map(|(bone, &joint)| {
                bone.bone_from_rest * model_from_unit * DAffine3::from_translation(joint)
            })
            .collect();
        let mut shifts = Vec::with_capacity(which.len());
        let mut unit_from_frame = posed_from_rest(set, which);
        for palette in &mut unit_from_frame {
            for (matrix, &joint) in palette.iter_mut().zip(&joints) {
                *matrix =
                    unit_from_model * *matrix * model_from_unit * DAffine3::from_translation(joint);
            }
            let mean =
                palette.iter().map(|m| m.translation).sum::<DVec3>() / palette.len().max(1) as f64;
            palette.iter_mut().for_each(|m| m.translation -= mean);
            shifts.push(mean);
        }
        Self {
            set,
            which,
            unit_from_frame,
            shifts,
            unit,
            center,
            joints,
            bone_from_frame,
        }
    }

    pub(super) fn example_count(&self) -> usize {
        self.which.len()
    }

    /// Where vertex `i` should be in the `k`-th of the examples.
    pub(super) fn target(&self, k: usize, i: usize) -> DVec3 {
        let position = self.set.examples()[self.which[k]].positions[i];
        (position - self.center) / self.unit - self.shifts[k]
    }

    /// Length of the longest side of the rest box, in model units.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// The rest position of vertex `i` in frame `j`.
    pub(super) fn rest_in_frame(&self, i: usize, j: usize) -> DVec3 {
        (self.set.rest().positions()[i] - self.center) / self.unit - self.joints[j]
    }

    /// `p` from `q`.
    pub(super) fn to_bone(&self, j: usize, q: DVec4) -> DVec4 {
        let matrix = &self.bone_from_frame[j];
        (matrix.matrix3 * q.truncate() + matrix.translation * q.w).extend(q.w)
    }

    /// `1 / length` of every edge of the mesh, smaller vertex first.
    ///
    /// Lengths are means over the examples, in unit space. An edge that is much shorter than most,
    /// or has no length at all, counts as a hundredth of the mean edge: its ends are then held
    /// together tightly, but not so tightly that the system loses its digits.
    pub(super) fn edge_strengths(&self) -> Vec<([u32; 2], f64)> {
        let rest = self.set.rest();
        let mut edges: Vec<[u32; 2]> = rest
            .triangles()
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .filter(|[a, b]| a != b)
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let lengths = crate::par::map(edges.len(), |e| {
            let [a, b] = edges[e].map(|v| v as usize);
            let length = |&k: &usize| {
                let positions = &self.set.examples()[k].positions;
                positions[a].distance(positions[b])
            };
            self.which.iter().map(length).sum::<f64>() / (self.which.len() as f64 * self.unit)
        });
        let shortest = 0.01 * lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        edges
            .into_iter()
            .zip(lengths)
            .map(|(edge, length)| (edge, length.max(shortest)))
            // A mesh without any extent has nothing to smooth over.
            .filter(|&(_, length)| length > 0.0)
            .map(|(edge, length)| (edge, 1.0 / length))
            .collect()
    }
}
