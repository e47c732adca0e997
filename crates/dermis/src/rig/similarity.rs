//! Moving a whole character: one scale, a rotation and a translation of model space.
//!
//! Bones do not take over the scale (\[Merry07\] §3.4.1): their frames keep their size, while their places and the
//! positions in the frames are scaled. Rotations stay rotations, so players that support no scale can hold the result.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::{Bone, Pose, RigError, Skeleton, Trs};

/// `v' = scale · rotation v + translation`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    scale: f64,
    rotation: DQuat,
    translation: DVec3,
}

impl Similarity {
    /// Scales about the origin, then rotates about it, then translates.
    ///
    /// # Errors
    /// [`RigError::NotFinite`] for a scale that is not above 0, and for numbers that are not finite.
    pub fn new(scale: f64, rotation: DQuat, translation: DVec3) -> Result<Self, RigError> {
        let rotation = rotation.normalize();
        let finite = scale.is_finite() && rotation.is_finite() && translation.is_finite();
        if !finite || scale <= 0.0 {
            return Err(RigError::NotFinite {
                what: format!("a move by scale {scale}, {rotation}, {translation}"),
            });
        }
        Ok(Self {
            scale,
            rotation,
            translation,
        })
    }

    /// A change of the unit of length by a factor above 0, such as that of [`unit_factor`](crate::math::unit_factor).
    pub(crate) fn scaling(factor: f64) -> Self {
        Self {
            scale: factor,
            rotation: DQuat::IDENTITY,
            translation: DVec3::ZERO,
        }
    }

    /// The factor of all lengths.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The rotation.
    pub fn rotation(&self) -> DQuat {
        self.rotation
    }

    /// The translation, after scale and rotation.
    pub fn translation(&self) -> DVec3 {
        self.translation
    }

    /// The new position of a point of model space.
    pub fn point(&self, v: DVec3) -> DVec3 {
        self.vector(v) + self.translation
    }

    /// The new value of a difference between two points.
    pub fn vector(&self, v: DVec3) -> DVec3 {
        self.scale * (self.rotation * v)
    }

    /// `G' = M G S⁻¹`: a bone's frame in the moved model.
    pub fn frame(&self, model_from_bone: &DAffine3) -> DAffine3 {
        DAffine3 {
            matrix3: DMat3::from_quat(self.rotation) * model_from_bone.matrix3,
            translation: self.point(model_from_bone.translation),
        }
    }

    /// `L'`: a joint's matrix in the moved model. Below another bone only its translation is scaled; a
    /// root takes the whole move.
    pub fn local(&self, parent_from_bone: &DAffine3, is_root: bool) -> DAffine3 {
        match is_root {
            true => self.frame(parent_from_bone),
            false => DAffine3 {
                matrix3: parent_from_bone.matrix3,
                translation: self.scale * parent_from_bone.translation,
            },
        }
    }

    /// `L' = left · L · right`.
    pub(crate) fn local_factors(&self, is_root: bool) -> (DAffine3, DAffine3) {
        let scale = |s: f64| DAffine3::from_scale(DVec3::splat(s));
        let right = scale(1.0 / self.scale);
        let left = match is_root {
            false => scale(self.scale),
            true => DAffine3::from_scale_rotation_translation(
                DVec3::splat(self.scale),
                self.rotation,
                self.translation,
            ),
        };
        (left, right)
    }

    /// `Ĝ'⁻¹ = S Ĝ⁻¹ M⁻¹`.
    pub fn bone_from_rest(&self, bone_from_rest: &DAffine3) -> DAffine3 {
        let turned = bone_from_rest.matrix3 * DMat3::from_quat(self.rotation.inverse());
        DAffine3 {
            matrix3: turned,
            translation: self.scale * bone_from_rest.translation - turned * self.translation,
        }
    }

    /// The moved skeleton.
    pub fn skeleton(&self, skeleton: &Skeleton) -> Result<Skeleton, RigError> {
        let moved = skeleton.bones().iter().map(|bone| {
            let default = bone.default_parent_from_bone;
            Bone {
                name: bone.name.clone(),
                parent: bone.parent,
                default_parent_from_bone: match bone.parent {
                    Some(_) => Trs {
                        translation: self.scale * default.translation,
                        ..default
                    },
                    None => Trs {
                        translation: self.point(default.translation),
                        rotation: self.rotation * default.rotation,
                        scale: default.scale,
                    },
                },
                bone_from_rest: self.bone_from_rest(&bone.bone_from_rest),
            }
        });
        let carriers = skeleton.ids().filter(|&bone| skeleton.is_carrier(bone));
        Ok(Skeleton::new(moved.collect())?.with_carriers(carriers))
    }

    /// The moved pose of a skeleton.
    pub fn pose(&self, skeleton: &Skeleton, pose: &Pose) -> Pose {
        let locals = pose.parent_from_bone.iter().zip(skeleton.bones());
        Pose {
            parent_from_bone: locals
                .map(|(local, bone)| self.local(local, bone.parent.is_none()))
                .collect(),
            coefficients: pose.coefficients.clone(),
        }
    }
}
