//! The plain evaluation, in double precision, that every faster one is tested against.

use glam::{DAffine3, DVec3, DVec4};

use super::{LinearProgram, PosedInputs, Skin, SkinError, SsdProgram, VertexProgram};
use crate::rig::Pose;

impl Skin {
    /// Where every vertex goes in a pose, in model units.
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
        })
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
