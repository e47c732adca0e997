//! From a pose to matrices in model space: `G_j = G_parent(j) L_j`, parents first.
//!
//! Four bones at a time become matrices `L_j`, then each is multiplied by its parent's, which
//! stands earlier in the output. A row of a 3×4 matrix is one register.

use glam::{DAffine3, Mat4, Vec4, Vec4Swizzles};

use super::PoseBuffer;
use super::pose_buffer::{BoneBlock, LANES};
use crate::rig::{BoneId, ProxyBones, RigError, Skeleton};
use crate::skin::Skin;

/// A 3×4 matrix, row after row: `[m00 m01 m02 t0, m10 m11 m12 t1, m20 m21 m22 t2]`.
pub type Mat3x4 = [f32; 12];

type Rows3 = [Vec4; 3];

/// A skeleton packed for chaining poses to matrices, in `f32`.
#[derive(Debug, Clone)]
pub struct PackedSkeleton {
    parents: Vec<Option<BoneId>>,
    /// `Ĝ_j⁻¹`.
    bone_from_rest: Vec<Mat3x4>,
    /// How many bones are chained; the matrices of later bones are not touched.
    chained_count: usize,
}

impl PackedSkeleton {
    /// Packs a skeleton.
    pub fn new(skeleton: &Skeleton) -> Self {
        let bones = skeleton.bones();
        Self {
            parents: bones.iter().map(|bone| bone.parent).collect(),
            bone_from_rest: bones.iter().map(|b| pack(&b.bone_from_rest)).collect(),
            chained_count: bones.len(),
        }
    }

    /// Packs the skeleton of a skin whose proxy bones, if it has any, are left to
    /// [`PackedProxies::place`](super::PackedProxies::place): [`Self::palette`] does not touch their matrices.
    pub fn for_skin(skin: &Skin) -> Self {
        let proxies = skin.pose_program.proxies();
        let placed = proxies.map_or(0, ProxyBones::unposed_bone_count);
        Self {
            chained_count: skin.skeleton.bone_count() - placed,
            ..Self::new(&skin.skeleton)
        }
    }

    /// How many bones there are.
    pub fn bone_count(&self) -> usize {
        self.parents.len()
    }

    /// Writes `G_j` for every bone (but proxies, see [`Self::for_skin`]): takes bone frames to model space.
    ///
    /// The entries are within 5e-6 of [`Skeleton::palette`]'s, relative to the largest entry of
    /// the palette (or 1, if that is larger), for chains of up to 150 bones: 5 µm for a character
    /// whose bones are within a metre of the origin. Tests see a third of that.
    ///
    /// # Errors
    /// [`RigError::CountMismatch`] when the pose or the output has another number of bones.
    pub fn palette(
        &self,
        pose: &PoseBuffer,
        model_from_bone: &mut [Mat3x4],
    ) -> Result<(), RigError> {
        self.check_count("bones in the pose", pose.bone_count())?;
        self.check_count("matrices in the palette", model_from_bone.len())?;
        for (chunk, (block, parents)) in (pose.blocks().iter())
            .zip(self.parents[..self.chained_count].chunks(LANES))
            .enumerate()
        {
            let first = chunk * LANES;
            let locals = parent_from_bone(block);
            for (lane, parent) in parents.iter().enumerate() {
                let local = locals[lane];
                let global = match parent {
                    None => local,
                    Some(parent) => multiply(&load(&model_from_bone[parent.index()]), &local),
                };
                store(&global, &mut model_from_bone[first + lane]);
            }
        }
        Ok(())
    }

    /// Writes `N_j = G_j Ĝ_j⁻¹` for every bone, which takes rest positions to posed ones: the
    /// palette that stock SSD (linear blend skinning) takes.
    ///
    /// `G_j` and `Ĝ_j⁻¹` are both as large as the bone is far from the origin, and their product
    /// may be small: the error is relative to that distance, as it is for [`Self::palette`].
    ///
    /// # Errors
    /// [`RigError::CountMismatch`] when either list has another number of bones.
    pub fn posed_from_rest(
        &self,
        model_from_bone: &[Mat3x4],
        posed_from_rest: &mut [Mat3x4],
    ) -> Result<(), RigError> {
        self.check_count("matrices in the palette", model_from_bone.len())?;
        self.check_count("matrices in the output", posed_from_rest.len())?;
        let pairs = model_from_bone.iter().zip(&self.bone_from_rest);
        for (out, (model_from_bone, bone_from_rest)) in posed_from_rest.iter_mut().zip(pairs) {
            store(
                &multiply(&load(model_from_bone), &load(bone_from_rest)),
                out,
            );
        }
        Ok(())
    }

    fn check_count(&self, what: &'static str, found: usize) -> Result<(), RigError> {
        match found == self.bone_count() {
            true => Ok(()),
            false => Err(RigError::CountMismatch {
                what,
                expected: self.bone_count(),
                found,
            }),
        }
    }
}

/// The matrices of four bones: scale, then rotate, then translate.
fn parent_from_bone(block: &BoneBlock) -> [Rows3; LANES] {
    let [x, y, z, w] = block.rotation;
    let [sx, sy, sz] = block.scale;
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, xy, xz) = (x * x2, x * y2, x * z2);
    let (yy, yz, zz) = (y * y2, y * z2, z * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let one = Vec4::ONE;
    // Columns of a Mat4 are registers: transposing turns "component of four bones" into "row of
    // one bone".
    let row = |a, b, c, t| {
        let of_bone = Mat4::from_cols(a, b, c, t).transpose();
        [
            of_bone.x_axis,
            of_bone.y_axis,
            of_bone.z_axis,
            of_bone.w_axis,
        ]
    };
    let [tx, ty, tz] = block.translation;
    let r0 = row((one - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, tx);
    let r1 = row((xy + wz) * sx, (one - (xx + zz)) * sy, (yz - wx) * sz, ty);
    let r2 = row((xz - wy) * sx, (yz + wx) * sy, (one - (xx + yy)) * sz, tz);
    std::array::from_fn(|lane| [r0[lane], r1[lane], r2[lane]])
}

/// `a b`, both with an implied last row of 0 0 0 1.
fn multiply(a: &Rows3, b: &Rows3) -> Rows3 {
    a.map(|row| (b[0] * row.xxxx() + b[1] * row.yyyy()) + (b[2] * row.zzzz() + row * Vec4::W))
}

fn load(m: &Mat3x4) -> Rows3 {
    [
        Vec4::from_slice(&m[0..4]),
        Vec4::from_slice(&m[4..8]),
        Vec4::from_slice(&m[8..12]),
    ]
}

fn store(rows: &Rows3, m: &mut Mat3x4) {
    rows[0].write_to_slice(&mut m[0..4]);
    rows[1].write_to_slice(&mut m[4..8]);
    rows[2].write_to_slice(&mut m[8..12]);
}

fn pack(affine: &DAffine3) -> Mat3x4 {
    let columns = affine.to_cols_array_2d();
    std::array::from_fn(|i| columns[i % 4][i / 4] as f32)
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::rig::Trs;

    /// Two trees in one skeleton, with a mirrored bone and a bone of no size.
    fn two_trees() -> (Skeleton, PoseBuffer) {
        let frame = |x: f64| DAffine3::from_translation(DVec3::new(x, 0.0, 0.0));
        let parents = [None, Some(0), Some(0), None, Some(3), Some(1)];
        let skeleton = Skeleton::from_rest_frames(
            (parents.iter().enumerate())
                .map(|(j, parent)| (format!("{j}"), parent.map(BoneId), frame(j as f64))),
        )
        .expect("parents come first");
        let mut pose = PoseBuffer::new(&skeleton, &[]);
        for id in skeleton.ids() {
            let j = f64::from(id.0);
            let local = Trs {
                translation: DVec3::new(1.0 + j, -j, 0.5),
                rotation: DQuat::from_scaled_axis(DVec3::new(j, 0.7, -0.2 * j)),
                scale: [DVec3::ONE, DVec3::new(-1.0, 2.0, 0.5), DVec3::ZERO][usize::from(id.0 % 3)],
            };
            pose.set_local(id, &local);
        }
        (skeleton, pose)
    }

    #[test]
    fn several_roots_mirrors_and_zero_scales_chain_as_in_double_precision() {
        let (skeleton, pose) = two_trees();
        let packed = PackedSkeleton::new(&skeleton);
        let mut palette = vec![[0.0; 12]; skeleton.bone_count()];
        packed.palette(&pose, &mut palette).expect("sizes agree");
        let mut moved = palette.clone();
        packed
            .posed_from_rest(&palette, &mut moved)
            .expect("sizes agree");

        let expected = skeleton.palette(&pose.to_pose()).expect("sizes agree");
        let expected_moved = skeleton.posed_from_rest(&expected);
        for j in 0..skeleton.bone_count() {
            for (found, expected) in [
                (&palette[j], &expected.model_from_bone[j]),
                (&moved[j], &expected_moved[j]),
            ] {
                for (f, e) in found.iter().zip(pack(expected)) {
                    assert!((f - e).abs() < 2e-5, "bone {j}: {found:?}, not {expected}");
                }
            }
        }
    }

    #[test]
    fn a_palette_of_another_size_is_refused() {
        let (skeleton, pose) = two_trees();
        let packed = PackedSkeleton::new(&skeleton);
        let error = packed
            .palette(&pose, &mut [[0.0; 12]; 5])
            .expect_err("5 matrices for 6 bones");
        assert_eq!(
            error.to_string(),
            "expected 6 matrices in the palette, found 5",
            "the message says which"
        );
    }
}
