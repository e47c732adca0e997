//! A pose in single precision, kept apart as translation, rotation and scale.
//!
//! Bones stand in blocks of four, each component in a register of its own: sampling, blending and
//! the change to matrices then do the same arithmetic on four bones at once. `glam::Vec4` is the
//! register, which is SSE2, NEON or WebAssembly SIMD without unsafe code here.

use glam::{DQuat, DVec3, Vec4};

use crate::rig::{BoneId, Pose, RigError, Skeleton, Trs};
use crate::skin::Skin;

/// Bones per block.
pub(super) const LANES: usize = 4;

/// Four bones, each component in a register.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BoneBlock {
    /// x, y, z.
    pub(super) translation: [Vec4; 3],
    /// x, y, z, w.
    pub(super) rotation: [Vec4; 4],
    /// x, y, z.
    pub(super) scale: [Vec4; 3],
}

impl BoneBlock {
    const IDENTITY: Self = Self {
        translation: [Vec4::ZERO; 3],
        rotation: [Vec4::ZERO, Vec4::ZERO, Vec4::ZERO, Vec4::ONE],
        scale: [Vec4::ONE; 3],
    };
}

/// The place of every bone in its parent, and the value of every slider, in `f32`.
///
/// Made once for a character and written again every frame: nothing here allocates after
/// [`PoseBuffer::new`].
#[derive(Debug, Clone, PartialEq)]
pub struct PoseBuffer {
    bone_count: usize,
    /// The last block is filled up with bones that do not move.
    blocks: Vec<BoneBlock>,
    coefficients: Vec<f32>,
}

impl PoseBuffer {
    /// The default pose: bones and sliders as they are when nothing moves them.
    pub fn new(skeleton: &Skeleton, default_coefficients: &[f64]) -> Self {
        let bone_count = skeleton.bone_count();
        let mut buffer = Self {
            bone_count,
            blocks: vec![BoneBlock::IDENTITY; bone_count.div_ceil(LANES)],
            coefficients: default_coefficients.iter().map(|&c| c as f32).collect(),
        };
        for (id, bone) in skeleton.ids().zip(skeleton.bones()) {
            buffer.set_local(id, &bone.default_parent_from_bone);
        }
        buffer
    }

    /// The default pose of a skin.
    pub fn for_skin(skin: &Skin) -> Self {
        Self::new(&skin.skeleton, &skin.default_coefficients())
    }

    /// How many bones there are.
    pub fn bone_count(&self) -> usize {
        self.bone_count
    }

    /// One number per correction of the skin.
    pub fn coefficients(&self) -> &[f32] {
        &self.coefficients
    }

    /// The coefficients, to be changed.
    pub fn coefficients_mut(&mut self) -> &mut [f32] {
        &mut self.coefficients
    }

    /// Where a bone stands in its parent.
    ///
    /// # Panics
    /// When there is no such bone.
    pub fn local(&self, bone: BoneId) -> Trs {
        self.assert_has(bone);
        let (block, lane) = (&self.blocks[bone.index() / LANES], bone.index() % LANES);
        let vector =
            |of: &[Vec4; 3]| DVec3::from_array(std::array::from_fn(|c| f64::from(of[c][lane])));
        Trs {
            translation: vector(&block.translation),
            rotation: DQuat::from_array(std::array::from_fn(|c| {
                f64::from(block.rotation[c][lane])
            })),
            scale: vector(&block.scale),
        }
    }

    /// Moves a bone in its parent, for code that poses bones directly.
    ///
    /// The rotation is made unit length; a rotation of length 0 becomes the identity.
    ///
    /// # Panics
    /// When there is no such bone.
    pub fn set_local(&mut self, bone: BoneId, parent_from_bone: &Trs) {
        self.assert_has(bone);
        let (block, lane) = (&mut self.blocks[bone.index() / LANES], bone.index() % LANES);
        for c in 0..3 {
            block.translation[c][lane] = parent_from_bone.translation[c] as f32;
            block.scale[c][lane] = parent_from_bone.scale[c] as f32;
        }
        for (c, value) in unit(parent_from_bone.rotation)
            .to_array()
            .into_iter()
            .enumerate()
        {
            block.rotation[c][lane] = value as f32;
        }
    }

    /// The same pose for the plain evaluation.
    pub fn to_pose(&self) -> Pose {
        let ids = (0..self.bone_count).map(|j| BoneId(j as u16));
        Pose {
            parent_from_bone: ids.map(|id| self.local(id).to_affine()).collect(),
            coefficients: self.coefficients.iter().map(|&c| f64::from(c)).collect(),
        }
    }

    /// Writes the pose at `weight` of the way from `a` to `b`: 0 is `a`, 1 is `b`.
    ///
    /// Translations, scales and coefficients go in a straight line; rotations by normalised
    /// interpolation on the shorter side, as [`Pose::blend`] does and measures against a slerp.
    ///
    /// # Errors
    /// [`RigError::CountMismatch`] when the three differ in their numbers of bones or coefficients.
    pub fn blend(a: &Self, b: &Self, weight: f32, out: &mut Self) -> Result<(), RigError> {
        a.check_same_size(b)?;
        a.check_same_size(out)?;
        let (to_b, to_a) = (Vec4::splat(weight), Vec4::splat(1.0 - weight));
        for (out, (a, b)) in out.blocks.iter_mut().zip(a.blocks.iter().zip(&b.blocks)) {
            for c in 0..3 {
                out.translation[c] =
                    a.translation[c] + to_b * (b.translation[c] - a.translation[c]);
                out.scale[c] = a.scale[c] + to_b * (b.scale[c] - a.scale[c]);
            }
            let cosine = dot(&a.rotation, &b.rotation);
            let to_near_b = Vec4::select(cosine.cmplt(Vec4::ZERO), -to_b, to_b);
            out.rotation = normalize(std::array::from_fn(|c| {
                a.rotation[c] * to_a + b.rotation[c] * to_near_b
            }));
        }
        let pairs = a.coefficients.iter().zip(&b.coefficients);
        for (out, (a, b)) in out.coefficients.iter_mut().zip(pairs) {
            *out = a + weight * (b - a);
        }
        Ok(())
    }

    pub(super) fn blocks(&self) -> &[BoneBlock] {
        &self.blocks
    }

    pub(super) fn blocks_mut(&mut self) -> &mut [BoneBlock] {
        &mut self.blocks
    }

    /// Copies another buffer's values into this buffer's memory.
    pub(super) fn copy_from(&mut self, other: &Self) -> Result<(), RigError> {
        other.check_same_size(self)?;
        self.blocks.copy_from_slice(&other.blocks);
        self.coefficients.copy_from_slice(&other.coefficients);
        Ok(())
    }

    fn check_same_size(&self, other: &Self) -> Result<(), RigError> {
        for (what, expected, found) in [
            ("bones in the pose", self.bone_count, other.bone_count),
            (
                "coefficients in the pose",
                self.coefficients.len(),
                other.coefficients.len(),
            ),
        ] {
            if expected != found {
                return Err(RigError::CountMismatch {
                    what,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    fn assert_has(&self, bone: BoneId) {
        assert!(
            bone.index() < self.bone_count,
            "bone {} of a pose of {} bones",
            bone.0,
            self.bone_count
        );
    }
}

/// A quaternion made unit length; zero becomes the identity.
pub(super) fn unit(q: DQuat) -> DQuat {
    match q.length_squared() {
        0.0 => DQuat::IDENTITY,
        _ => q.normalize(),
    }
}

/// Four quaternions made unit length; none may be zero.
pub(super) fn normalize(q: [Vec4; 4]) -> [Vec4; 4] {
    let inverse_length = Vec4::ONE / dot(&q, &q).sqrt();
    q.map(|component| component * inverse_length)
}

/// The dot products of four pairs of quaternions.
fn dot(a: &[Vec4; 4], b: &[Vec4; 4]) -> Vec4 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])
}

#[cfg(test)]
mod tests {
    use glam::DAffine3;

    use super::*;

    fn row_of(bone_count: usize) -> Skeleton {
        let frame = |j: usize| DAffine3::from_translation(DVec3::new(j as f64, 0.0, 0.0));
        Skeleton::from_rest_frames((0..bone_count).map(|j| {
            let parent = j.checked_sub(1).map(|a| BoneId(a as u16));
            (format!("bone {j}"), parent, frame(j))
        }))
        .expect("a row of bones is a skeleton")
    }

    #[test]
    fn a_bone_set_in_any_lane_is_read_back() {
        let skeleton = row_of(7);
        let mut pose = PoseBuffer::new(&skeleton, &[]);
        assert_eq!(pose.to_pose(), skeleton.default_pose(), "begins at rest");
        for id in skeleton.ids() {
            let j = f64::from(id.0);
            let local = Trs {
                translation: DVec3::new(j, 2.0 * j, 0.5),
                rotation: DQuat::from_xyzw(0.5, -0.5, 0.5, 0.5),
                scale: DVec3::new(-1.0, 1.0 + j, 0.25),
            };
            pose.set_local(id, &local);
            assert_eq!(pose.local(id), local, "bone {j}");
        }
    }

    #[test]
    fn negative_scales_and_opposite_signs_blend_as_in_double_precision() {
        let skeleton = row_of(5);
        let (mut a, mut b) = (
            PoseBuffer::new(&skeleton, &[0.0, 1.0]),
            PoseBuffer::new(&skeleton, &[1.0, -1.0]),
        );
        for id in skeleton.ids() {
            let j = f64::from(id.0);
            let turn = DQuat::from_scaled_axis(DVec3::new(0.3 * j, 0.2, -0.4));
            a.set_local(
                id,
                &Trs {
                    translation: DVec3::splat(j),
                    rotation: turn,
                    scale: DVec3::new(-1.0, -2.0, 1.0),
                },
            );
            let turn = DQuat::from_scaled_axis(DVec3::new(0.1, -0.2 * j, 0.6));
            let sign = if id.0 % 2 == 0 { -1.0 } else { 1.0 };
            b.set_local(id, &Trs::rigid(turn * sign, DVec3::X));
        }
        let mut out = a.clone();
        for weight in [0.0, 0.3, 1.0] {
            PoseBuffer::blend(&a, &b, weight, &mut out).expect("sizes agree");
            for id in skeleton.ids() {
                let expected = a.local(id).blend(&b.local(id), f64::from(weight));
                let found = out.local(id);
                assert!(
                    found.to_affine().abs_diff_eq(expected.to_affine(), 1e-6),
                    "bone {} at {weight}: expected {expected:?}, found {found:?}",
                    id.0
                );
            }
            assert_eq!(
                out.coefficients(),
                [weight, 1.0 - 2.0 * weight],
                "sliders go straight"
            );
        }
    }

    #[test]
    fn buffers_of_another_skeleton_are_refused() {
        let a = PoseBuffer::new(&row_of(3), &[]);
        let mut other = PoseBuffer::new(&row_of(4), &[]);
        let error = PoseBuffer::blend(&a, &a, 0.5, &mut other).expect_err("4 bones for 3");
        assert_eq!(
            error.to_string(),
            "expected 3 bones in the pose, found 4",
            "the message says which"
        );
    }
}
