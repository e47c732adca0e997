//! From the matrices of a pose to the palette of a kernel.

use glam::{DAffine3, DMat3, Vec3};

use super::kernel::{Kernel, Simd, dispatch};
use super::source::KernelKind;
use super::{Frame, Mat3x4, PackedSkin, PaletteEntry, RunError};
use crate::rig::Palette;
use crate::skin::{DualQuaternion, PosedInputs, rigid_from_affine};

impl PackedSkin {
    /// Writes the matrices of a pose as the kernels take them, one per bone.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when either list has another number of bones.
    pub fn fill_palette(
        &self,
        palette: &Palette,
        out: &mut [PaletteEntry],
    ) -> Result<(), RunError> {
        RunError::check_count(
            "matrices in the pose",
            self.bone_count,
            palette.model_from_bone.len(),
        )?;
        RunError::check_count("palette entries", self.bone_count, out.len())?;
        for (j, (entry, matrix)) in out.iter_mut().zip(&palette.model_from_bone).enumerate() {
            *entry = self.entry(j, matrix);
        }
        Ok(())
    }

    /// A newly allocated frame, for callers that keep no buffers.
    ///
    /// # Errors
    /// As [`PackedSkin::fill_palette`].
    pub fn frame(&self, inputs: &PosedInputs) -> Result<Frame, RunError> {
        let mut palette = vec![PaletteEntry::default(); self.bone_count];
        self.fill_palette(&inputs.palette, &mut palette)?;
        Ok(Frame {
            palette,
            coefficients: inputs.coefficients.iter().map(|&c| c as f32).collect(),
        })
    }

    /// Converts `G_j`, as made by [`PackedSkeleton::palette`](super::PackedSkeleton::palette), to the form
    /// that this skin's kernel takes.
    ///
    /// Like [`PackedSkin::fill_palette`], but from the run-time's own matrices, and entries of bones that move
    /// no vertex, which no kernel reads, stay as they are. Allocates nothing.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when either list has another number of bones.
    pub fn load_palette(
        &self,
        model_from_bone: &[Mat3x4],
        out: &mut [PaletteEntry],
    ) -> Result<(), RunError> {
        RunError::check_count("matrices", self.bone_count, model_from_bone.len())?;
        RunError::check_count("palette entries", self.bone_count, out.len())?;
        match self.kernel {
            KernelKind::Ssd | KernelKind::MultiWeight => dispatch(
                self.instruction_set,
                PosedFromRest {
                    bones: &self.moving_bones,
                    model_from_bone,
                    bone_from_rest: &self.bone_from_rest,
                    out,
                },
            ),
            KernelKind::Linear { .. } | KernelKind::DualQuaternion => {
                for bone in self.moving_bones.iter().map(|&bone| usize::from(bone)) {
                    out[bone] = self.entry(bone, &to_affine(&model_from_bone[bone]));
                }
            }
        }
        Ok(())
    }

    /// The kernel's entry for one bone.
    fn entry(&self, bone: usize, model_from_bone: &DAffine3) -> PaletteEntry {
        match self.kernel {
            KernelKind::Linear { .. } => PaletteEntry::from_affine(model_from_bone),
            KernelKind::Ssd | KernelKind::MultiWeight => {
                PaletteEntry::from_affine(&(*model_from_bone * self.bone_from_rest[bone]))
            }
            KernelKind::DualQuaternion => {
                let rest = &self.bone_from_rest[bone];
                let rigid = rigid_from_affine(&(*model_from_bone * *rest), rest);
                let motion = DualQuaternion::from_rigid(&rigid);
                let mut entry = PaletteEntry::default();
                entry.columns[0] = motion.real.as_vec4().to_array();
                entry.columns[1] = motion.dual.as_vec4().to_array();
                entry
            }
        }
    }
}

/// `G_j Ĝ_j⁻¹` of some bones, in double precision and column by column, as the kernels take them.
///
/// This runs for every bone in every frame, so it is compiled for wider registers. [`Simd`] has no 64-bit
/// numbers, so these are plain loops that the compiler vectorises.
struct PosedFromRest<'a> {
    bones: &'a [u16],
    model_from_bone: &'a [Mat3x4],
    bone_from_rest: &'a [DAffine3],
    out: &'a mut [PaletteEntry],
}

impl Kernel for PosedFromRest<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for bone in self.bones.iter().map(|&bone| usize::from(bone)) {
            let (m, rest) = (&self.model_from_bone[bone], &self.bone_from_rest[bone]);
            let entry = &mut self.out[bone];
            let rest = [
                rest.matrix3.x_axis,
                rest.matrix3.y_axis,
                rest.matrix3.z_axis,
                rest.translation,
            ];
            let mut columns = [[0.0; 4]; 4];
            for c in 0..4 {
                columns[c] = [m[c].into(), m[c + 4].into(), m[c + 8].into(), 0.0];
            }
            let [x, y, z, t]: [[f64; 4]; 4] = columns;
            for (c, rest) in rest.into_iter().enumerate() {
                for r in 0..4 {
                    let turned = x[r] * rest.x + y[r] * rest.y + z[r] * rest.z;
                    let posed = if c == 3 { turned + t[r] } else { turned };
                    entry.columns[c][r] = posed as f32;
                }
            }
        }
    }
}

pub(super) fn to_affine(matrix: &Mat3x4) -> DAffine3 {
    let column = |k: usize| Vec3::new(matrix[k], matrix[k + 4], matrix[k + 8]).as_dvec3();
    DAffine3 {
        matrix3: DMat3::from_cols(column(0), column(1), column(2)),
        translation: column(3),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PackOptions, PackedSkeleton, PoseBuffer};
    use super::*;
    use crate::skin::{DualQuaternionProgram, Skin, VertexProgram};
    use crate::synth::{BodyOptions, body};

    #[test]
    fn the_palette_equals_that_of_the_double_precision_pose_to_rounding() {
        let body = body(&BodyOptions {
            vertex_count: 500,
            influences: 3,
            bone_count: 40,
        });
        let VertexProgram::Ssd(ssd) = &body.skin.program else {
            panic!("the body is a linear blend skin");
        };
        let dual = VertexProgram::DualQuaternion(DualQuaternionProgram {
            weighted: ssd.clone(),
        });
        let linear = body.skin.to_linear().expect("linear").program;
        for program in [body.skin.program.clone(), linear, dual] {
            let skin = Skin {
                program,
                ..body.skin.clone()
            };
            let packed = PackedSkin::new(&skin, &PackOptions::default()).expect("it packs");
            let exact = packed.frame(&skin.run_pose_program(&body.pose).expect("its own pose"));
            let mut pose = PoseBuffer::new(&skin.skeleton, &[]);
            for (id, local) in skin.skeleton.ids().zip(&body.pose.parent_from_bone) {
                pose.set_local(id, &crate::rig::Trs::from_affine(local).0);
            }
            let mut matrices = vec![[0.0; 12]; packed.bone_count()];
            PackedSkeleton::new(&skin.skeleton)
                .palette(&pose, &mut matrices)
                .expect("as many bones");
            let mut found = vec![PaletteEntry::default(); packed.bone_count()];
            packed
                .load_palette(&matrices, &mut found)
                .expect("as many bones");
            for (a, b) in exact.expect("it fits").palette.iter().zip(&found) {
                for (a, b) in a.columns.iter().flatten().zip(b.columns.iter().flatten()) {
                    assert!((a - b).abs() < 1e-5, "{a} against {b}");
                }
            }
        }
    }

    #[test]
    fn bones_that_move_no_vertex_are_not_loaded() {
        let mut skin = body(&BodyOptions {
            vertex_count: 100,
            influences: 2,
            bone_count: 5,
        })
        .skin;
        let mut bones = skin.skeleton.bones().to_vec();
        bones.push(bones[4].clone());
        bones[5].name = "leaf".to_owned();
        skin.skeleton = crate::Skeleton::new(bones).expect("another leaf");
        let packed = PackedSkin::new(&skin, &PackOptions::default()).expect("it packs");
        let matrices = vec![[0.5; 12]; 6];
        let mut untouched = PaletteEntry::default();
        untouched.columns[2][1] = 7.0;
        let mut found = vec![untouched; 6];
        packed
            .load_palette(&matrices, &mut found)
            .expect("sizes agree");
        assert_eq!(found[5], untouched, "no vertex reads the leaf");
        for (bone, entry) in found[..5].iter().enumerate() {
            assert_ne!(*entry, untouched, "bone {bone} moves vertices");
        }
    }
}
