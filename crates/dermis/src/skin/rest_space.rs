//! Corrections as displacements of the rest shape, for every kind of vertex program.
//!
//! Morph targets in files and sculpted shapes are displacements before the matrices act. Animation space stores such a
//! displacement `δ_i` spread over the influences of its vertex, `d_ij = w_ij Ĝ_j⁻¹ (δ_i, 0)`; this module recovers
//! `δ_i`.

use glam::{DMat3, DVec3, DVec4};

use super::{Correction, Delta, LinearProgram, SkinError, VertexProgram};
use crate::rig::Skeleton;

/// How far the influences of a vertex may disagree about its displacement, as a share of its length.
///
/// Vectors rounded to single precision disagree by 1e-7; vectors that were fitted independently disagree completely.
const AGREEMENT: f64 = 1e-6;

impl VertexProgram {
    /// All corrections as displacements of the rest shape, in model units.
    ///
    /// Vertices and bones must be in range, as [`Skin::new`](super::Skin::new) checks.
    ///
    /// # Errors
    /// [`SkinError::NotInRestSpace`] for animation-space vectors that were not made from a displacement; its `name` is
    /// the correction's number.
    pub fn rest_corrections(
        &self,
        skeleton: &Skeleton,
    ) -> Result<Vec<Correction<DVec3>>, SkinError> {
        match self {
            Self::Ssd(ssd) => Ok(ssd.corrections.clone()),
            Self::DualQuaternion(dual) => Ok(dual.weighted.corrections.clone()),
            Self::MultiWeight(multi) => Ok(multi.corrections.clone()),
            Self::Linear(linear) => linear.gather_from_bones(skeleton),
        }
    }
}

impl LinearProgram {
    /// The displacements from which [`LinearProgram::spread_over_bones`] made the corrections.
    fn gather_from_bones(&self, skeleton: &Skeleton) -> Result<Vec<Correction<DVec3>>, SkinError> {
        let rest_from_bone: Vec<DMat3> = (skeleton.bones().iter())
            .map(|bone| bone.bone_from_rest.matrix3.inverse())
            .collect();
        let mut moved = vec![DVec4::ZERO; self.influences.items().len()];
        let gather = |(m, correction): (usize, &Correction<DVec4>)| {
            // Indices may repeat; repeated entries are summed, as in the evaluation.
            moved.fill(DVec4::ZERO);
            for delta in &correction.deltas {
                moved[delta.index as usize] += delta.value;
            }
            let mut deltas = Vec::new();
            for vertex in 0..self.influences.len() {
                let items = self.influences.range(vertex);
                if moved[items.clone()].iter().all(|d| *d == DVec4::ZERO) {
                    continue;
                }
                let value = self.gathered(&rest_from_bone, &moved, items);
                let value = value.ok_or_else(|| SkinError::NotInRestSpace {
                    name: m.to_string(),
                    vertex,
                })?;
                deltas.push(Delta {
                    index: vertex as u32,
                    value,
                });
            }
            Ok(Correction { deltas })
        };
        self.corrections.iter().enumerate().map(gather).collect()
    }

    /// `δ_i = lin(Ĝ_j) d_ij / w_ij` of the heaviest influence, when all others agree.
    fn gathered(
        &self,
        rest_from_bone: &[DMat3],
        moved: &[DVec4],
        items: std::ops::Range<usize>,
    ) -> Option<DVec3> {
        let influence = |item: usize| self.influences.items()[item];
        let in_rest =
            |item: usize| rest_from_bone[influence(item).bone.index()] * moved[item].truncate();
        let weight = |item: usize| influence(item).p.w;
        let heaviest =
            (items.clone()).max_by(|&a, &b| weight(a).abs().total_cmp(&weight(b).abs()))?;
        let value = in_rest(heaviest) / weight(heaviest);
        let most = AGREEMENT * weight(heaviest).abs() * value.length();
        // Written so that NaN, as from a weight or a scale of zero, counts as disagreement.
        let agrees = |item: usize| {
            moved[item].w == 0.0 && in_rest(item).distance(weight(item) * value) <= most
        };
        (value.is_finite() && items.clone().all(agrees)).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skin::Skin;
    use crate::synth::{TubeOptions, tube};

    fn base() -> Skin {
        let options = TubeOptions {
            ring_count: 12,
            segment_count: 6,
            bone_count: 3,
            example_count: 1,
        };
        tube(&options).truth.to_linear().expect("linear blend")
    }

    fn shapes() -> Vec<Vec<Delta<DVec3>>> {
        let delta = |index: u32| Delta {
            index,
            value: DVec3::new(0.1, -0.2, 0.03 * f64::from(index)),
        };
        vec![(5..60).map(delta).collect(), Vec::new(), vec![delta(3)]]
    }

    #[test]
    fn displacements_are_recovered_from_influences() {
        let Skin {
            mut program,
            skeleton,
            ..
        } = base();
        program.push_corrections(&skeleton, shapes());
        let found = program.rest_corrections(&skeleton).expect("made from them");
        assert_eq!(found.len(), 3, "one each");
        for (found, given) in found.iter().zip(shapes()) {
            assert_eq!(found.deltas.len(), given.len(), "as many vertices");
            for (a, b) in found.deltas.iter().zip(&given) {
                assert_eq!(a.index, b.index, "the same vertices");
                assert!(a.value.distance(b.value) < 1e-14, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn corrections_that_are_no_displacements_are_refused_with_their_vertex() {
        let Skin {
            mut program,
            skeleton,
            ..
        } = base();
        program.push_corrections(&skeleton, shapes());
        let VertexProgram::Linear(sound) = program else {
            panic!("it is animation space");
        };
        // A vertex with several bones: a single bone always agrees with itself.
        let vertex = (5..60)
            .find(|&i| sound.influences.row(i).len() > 1)
            .expect("the tube blends");
        let item = sound.influences.range(vertex).start as u32;
        type Damage = fn(&mut Delta<DVec4>);
        let damages: [Damage; 3] = [
            |d| d.value.x += 1e-3,
            |d| d.value.w = 0.1,
            |d| d.value.y = f64::NAN,
        ];
        for damage in damages {
            let mut linear = sound.clone();
            let deltas = linear.corrections[0].deltas.iter_mut();
            deltas.filter(|d| d.index == item).for_each(damage);
            let error = VertexProgram::Linear(linear)
                .rest_corrections(&skeleton)
                .expect_err("it was damaged");
            let expected = SkinError::NotInRestSpace {
                name: "0".to_owned(),
                vertex,
            };
            assert_eq!(error, expected, "by number and vertex");
        }
    }
}
