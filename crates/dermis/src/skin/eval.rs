//! The plain evaluation in double precision, against which all faster ones are tested.

use glam::{DAffine3, DMat3, DQuat, DVec3, DVec4};

use super::{
    DualQuaternionProgram, LinearProgram, MultiWeight, MultiWeightProgram, PosedInputs, Skin,
    SkinError, SsdProgram, VertexProgram, Weight,
};
use crate::rig::{Palette, Pose};

impl Skin {
    /// The position of every vertex in a pose, in model units.
    ///
    /// # Errors
    /// As [`Skin::run_pose_program`].
    pub fn evaluate(&self, pose: &Pose) -> Result<Vec<DVec3>, SkinError> {
        let inputs = self.run_pose_program(pose)?;
        Ok(match &self.program {
            VertexProgram::Ssd(ssd) => ssd.evaluate(
                &self.skeleton.posed_from_rest(&inputs.palette),
                &inputs.coefficients,
            ),
            VertexProgram::Linear(linear) => linear.evaluate(&inputs),
            VertexProgram::MultiWeight(multi) => multi.evaluate(
                &self.skeleton.posed_from_rest(&inputs.palette),
                &inputs.coefficients,
            ),
            VertexProgram::DualQuaternion(dual) => {
                dual.evaluate(&self.rigid_motions(&inputs.palette), &inputs.coefficients)
            }
        })
    }
}

impl Skin {
    /// The rigid motion nearest to `N_j` for every bone, as unit dual quaternions.
    pub(super) fn rigid_motions(&self, palette: &Palette) -> Vec<DualQuaternion> {
        let posed_from_rest = self.skeleton.posed_from_rest(palette);
        posed_from_rest
            .iter()
            .zip(self.skeleton.bones())
            .map(|(n, bone)| {
                DualQuaternion::from_rigid(&rigid_from_affine(n, &bone.bone_from_rest))
            })
            .collect()
    }
}

impl SsdProgram {
    /// `v_i = Σ_j w_ij N_j (v̂_i + Σ_m c_m δ_im)`.
    fn evaluate(&self, posed_from_rest: &[DAffine3], coefficients: &[f64]) -> Vec<DVec3> {
        let rest = self.corrected_rest(coefficients);
        self.weights
            .iter()
            .zip(&rest)
            .map(|(row, v)| {
                row.iter()
                    .map(|w| w.weight * posed_from_rest[w.bone.index()].transform_point3(*v))
                    .sum()
            })
            .collect()
    }
}

impl LinearProgram {
    /// `v_i = Σ_j G_j (p_ij + Σ_m c_m d_imj)`.
    fn evaluate(&self, inputs: &PosedInputs) -> Vec<DVec3> {
        let mut p: Vec<DVec4> = self.influences.items().iter().map(|i| i.p).collect();
        for (correction, &c) in self.corrections.iter().zip(&inputs.coefficients) {
            for delta in &correction.deltas {
                p[delta.index as usize] += c * delta.value;
            }
        }
        (0..self.influences.len())
            .map(|i| {
                self.influences
                    .range(i)
                    .map(|item| {
                        let bone = self.influences.items()[item].bone;
                        let matrix = &inputs.palette.model_from_bone[bone.index()];
                        matrix.matrix3 * p[item].truncate() + matrix.translation * p[item].w
                    })
                    .sum()
            })
            .collect()
    }
}

impl MultiWeightProgram {
    /// `v_i = Σ_j (W_ij ∘ N_j) (v̂_i + Σ_m c_m δ_im)`, entry by entry.
    fn evaluate(&self, posed_from_rest: &[DAffine3], coefficients: &[f64]) -> Vec<DVec3> {
        let rest = self.corrected_rest(coefficients);
        self.influences
            .iter()
            .zip(&rest)
            .map(|(row, v)| row.iter().map(|i| i.posed(posed_from_rest, *v)).sum())
            .collect()
    }
}

impl MultiWeight {
    fn posed(&self, posed_from_rest: &[DAffine3], v: DVec3) -> DVec3 {
        let n = &posed_from_rest[self.bone.index()];
        let columns = [n.x_axis, n.y_axis, n.z_axis, n.translation];
        let v = v.extend(1.0);
        DVec3::from_array([0, 1, 2].map(|row| {
            (0..4)
                .map(|column| self.weights[row][column] * columns[column][row] * v[column])
                .sum()
        }))
    }
}

impl DualQuaternionProgram {
    /// \[Kavan08\] §4: blend, divide by the length of the real part, apply.
    fn evaluate(&self, motions: &[DualQuaternion], coefficients: &[f64]) -> Vec<DVec3> {
        let rest = self.weighted.corrected_rest(coefficients);
        self.weighted
            .weights
            .iter()
            .zip(&rest)
            .map(|(row, v)| blended(row, motions).map_or(DVec3::ZERO, |motion| motion.apply(*v)))
            .collect()
    }
}

/// The blend of a vertex's motions, not normalised; `None` without influences.
fn blended(row: &[Weight], motions: &[DualQuaternion]) -> Option<DualQuaternion> {
    let pivot = motions[heaviest(row)?.bone.index()].real;
    let mut sum = DualQuaternion::ZERO;
    for w in row {
        let motion = &motions[w.bone.index()];
        let sign = if pivot.dot(motion.real) < 0.0 {
            -1.0
        } else {
            1.0
        };
        sum.real += sign * w.weight * motion.real;
        sum.dual += sign * w.weight * motion.dual;
    }
    Some(sum)
}

/// The linear part of a vertex's blended motion, which turns directions.
pub(super) fn frame_of_dual_quaternion(row: &[Weight], motions: &[DualQuaternion]) -> DMat3 {
    blended(row, motions).map_or(DMat3::ZERO, |motion| {
        let origin = motion.apply(DVec3::ZERO);
        let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| motion.apply(axis) - origin);
        DMat3::from_cols(x, y, z)
    })
}

/// The influence to which the signs of a vertex's quaternions are matched.
pub(crate) fn heaviest(row: &[Weight]) -> Option<&Weight> {
    row.iter()
        .max_by(|a, b| a.weight.total_cmp(&b.weight).then(b.bone.cmp(&a.bone)))
}

/// A dual quaternion, each part as (x, y, z, w).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DualQuaternion {
    pub(crate) real: DVec4,
    pub(crate) dual: DVec4,
}

impl DualQuaternion {
    const ZERO: Self = Self {
        real: DVec4::ZERO,
        dual: DVec4::ZERO,
    };

    /// `q + ε ½ t q` of a rotation `q` followed by a translation `t`.
    pub(crate) fn from_rigid(motion: &DAffine3) -> Self {
        let turn = DQuat::from_mat3(&motion.matrix3).normalize();
        let half = DQuat::from_vec4((0.5 * motion.translation).extend(0.0));
        Self {
            real: turn.into(),
            dual: (half * turn).into(),
        }
    }

    /// Moves a point; dividing by the length of the real part normalises.
    fn apply(&self, v: DVec3) -> DVec3 {
        let (r, w) = (self.real.truncate(), self.real.w);
        let (t, tw) = (self.dual.truncate(), self.dual.w);
        let turned = r.cross(r.cross(v) + w * v);
        let moved = w * t - tw * r + r.cross(t);
        v + 2.0 / self.real.length_squared() * (turned + moved)
    }
}

/// The rigid motion used in place of `N_j`: its rotation by Gram-Schmidt, and the translation that takes the bone's
/// rest origin where `N_j` takes it. A rigid `N_j` is unchanged.
pub(crate) fn rigid_from_affine(posed_from_rest: &DAffine3, bone_from_rest: &DAffine3) -> DAffine3 {
    let m = posed_from_rest.matrix3;
    let x = m.x_axis.try_normalize().unwrap_or(DVec3::X);
    let y = m.y_axis.reject_from_normalized(x);
    let y = y
        .try_normalize()
        .unwrap_or_else(|| x.any_orthonormal_vector());
    let turn = DMat3::from_cols(x, y, x.cross(y));
    // A singular bind matrix has no rest origin; the model's origin is used instead.
    let origin = bone_from_rest.inverse().translation;
    let origin = if origin.is_finite() {
        origin
    } else {
        DVec3::ZERO
    };
    DAffine3 {
        matrix3: turn,
        translation: posed_from_rest.transform_point3(origin) - turn * origin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dual_quaternion_moves_points_as_its_matrix_does() {
        let motion = DAffine3::from_rotation_translation(
            DQuat::from_scaled_axis(DVec3::new(0.4, -2.0, 1.1)),
            DVec3::new(3.0, -1.0, 0.5),
        );
        let v = DVec3::new(0.2, 0.7, -1.3);
        let moved = DualQuaternion::from_rigid(&motion).apply(v);
        assert!(
            moved.distance(motion.transform_point3(v)) < 1e-14,
            "one motion, two ways to write it: {moved}"
        );
    }

    #[test]
    fn scale_is_dropped_and_the_bone_stays_where_it_is() {
        let rest = DAffine3::from_translation(DVec3::X);
        let scaled = rest * DAffine3::from_scale(DVec3::splat(3.0)) * rest.inverse();
        let rigid = rigid_from_affine(&scaled, &rest.inverse());
        assert_eq!(rigid, DAffine3::IDENTITY, "scaling in place is no motion");
    }

    /// Two bones in one place, the second turned by 180° about x; a vertex half-way between them.
    fn twisted(program: impl Fn(SsdProgram) -> VertexProgram) -> DVec3 {
        let frames = ["a", "b"].map(|name| (name.to_owned(), None, DAffine3::IDENTITY));
        let skeleton = crate::rig::Skeleton::from_rest_frames(frames).expect("two roots");
        let ssd = SsdProgram {
            rest_positions: vec![DVec3::Y],
            weights: [[0, 1].map(|j| Weight {
                bone: crate::rig::BoneId(j),
                weight: 0.5,
            })]
            .into_iter()
            .collect(),
            corrections: Vec::new(),
        };
        let skin = Skin::new(skeleton, program(ssd), Vec::new()).expect("valid");
        // Slightly less than 180°, so that the direction of the turn is defined.
        let turn = DAffine3::from_rotation_x(std::f64::consts::PI - 1e-9);
        let pose = Pose::new(vec![DAffine3::IDENTITY, turn]);
        skin.evaluate(&pose).expect("fits")[0]
    }

    #[test]
    fn a_twist_keeps_its_width_with_dual_quaternions_and_not_with_linear_blending() {
        let blended = twisted(VertexProgram::Ssd);
        assert!(blended.length() < 1e-8, "the tube collapses: {blended}");
        let turned =
            twisted(|weighted| VertexProgram::DualQuaternion(DualQuaternionProgram { weighted }));
        assert!(turned.distance(DVec3::Z) < 1e-8, "a quarter turn: {turned}");
    }

    #[test]
    fn twelve_equal_weights_are_linear_blend_skinning() {
        let shown = twisted(|ssd| {
            let twelve = |w: &Weight| MultiWeight {
                bone: w.bone,
                weights: [[w.weight; 4]; 3],
            };
            let rows = ssd.weights.iter();
            VertexProgram::MultiWeight(MultiWeightProgram {
                influences: rows
                    .map(|row| row.iter().map(twelve).collect::<Vec<_>>())
                    .collect(),
                rest_positions: ssd.rest_positions,
                corrections: ssd.corrections,
            })
        });
        assert!(
            shown.distance(twisted(VertexProgram::Ssd)) < 1e-15,
            "linear blending is the special case: {shown}"
        );
    }
}
