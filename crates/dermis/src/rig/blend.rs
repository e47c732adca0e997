//! A pose between two poses, in plain `f64`.
//!
//! Translations, scales and coefficients are interpolated linearly. Rotations are interpolated linearly as quaternions,
//! on the shorter side, and normalised: the path is exactly that of a slerp, only the speed along it varies. Engines do
//! the same, because it is cheap. For rotations φ apart the angle is at most 0.3° from the slerp's at φ = 60°, 1.0° at
//! 90° and 8.3° at 180°, and equal to it at weights 0, ½ and 1. Exactly 180° apart, both sides are equally short, and
//! rounding decides.

use glam::{DQuat, DVec3};

use super::{Pose, RigError, Trs};

/// The rotation at `weight` of the way from `a` to `b`.
fn blend_rotation(a: DQuat, b: DQuat, weight: f64) -> DQuat {
    let near_b = if a.dot(b) < 0.0 { -b } else { b };
    (a * (1.0 - weight) + near_b * weight).normalize()
}

impl Trs {
    /// The transform at `weight` of the way to another: 0 is `self`, 1 is `other`.
    ///
    /// Both rotations must be of unit length.
    #[must_use]
    pub fn blend(&self, other: &Self, weight: f64) -> Self {
        let line = |a: DVec3, b: DVec3| a + weight * (b - a);
        Self {
            translation: line(self.translation, other.translation),
            rotation: blend_rotation(self.rotation, other.rotation, weight),
            scale: line(self.scale, other.scale),
        }
    }
}

impl Pose {
    /// The pose at `weight` of the way to another: 0 is `self`, 1 is `other`.
    ///
    /// A pose holds matrices, so each bone is split into translation, rotation and scale first. A matrix does not tell
    /// which of its axes were scaled negatively; blend such bones with [`Trs::blend`] before they become matrices.
    ///
    /// ```
    /// use dermis::Pose;
    /// use glam::{DAffine3, DVec3};
    ///
    /// let at = |x| Pose::new(vec![DAffine3::from_translation(DVec3::new(x, 0.0, 0.0))]);
    /// let quarter = at(0.0).blend(&at(4.0), 0.25)?;
    /// assert_eq!(quarter, at(1.0));
    /// # Ok::<(), dermis::rig::RigError>(())
    /// ```
    ///
    /// # Errors
    /// [`RigError::CountMismatch`] when the poses have different numbers of bones or coefficients, and
    /// [`RigError::Sheared`] when a matrix is not a product of translation, rotation and scale.
    pub fn blend(&self, other: &Self, weight: f64) -> Result<Self, RigError> {
        /// Largest cosine between two axes that rounding to single precision can cause.
        const ROUNDING_SHEAR: f64 = 1e-4;
        let same = |what, expected: usize, found: usize| match expected == found {
            true => Ok(()),
            false => Err(RigError::CountMismatch {
                what,
                expected,
                found,
            }),
        };
        same(
            "bones in the other pose",
            self.parent_from_bone.len(),
            other.parent_from_bone.len(),
        )?;
        same(
            "coefficients in the other pose",
            self.coefficients.len(),
            other.coefficients.len(),
        )?;
        let split = |pose: &Self, j: usize| {
            let (local, shear) = Trs::from_affine(&pose.parent_from_bone[j]);
            if shear > ROUNDING_SHEAR {
                let what = format!("bone {j} of a blended pose");
                return Err(RigError::Sheared { what, shear });
            }
            Ok(local)
        };
        let parent_from_bone = (0..self.parent_from_bone.len())
            .map(|j| {
                let blended = split(self, j)?.blend(&split(other, j)?, weight);
                Ok(blended.to_affine())
            })
            .collect::<Result<_, RigError>>()?;
        let coefficients = self.coefficients.iter().zip(&other.coefficients);
        Ok(Self {
            parent_from_bone,
            coefficients: coefficients.map(|(a, b)| a + weight * (b - a)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::DAffine3;

    use super::*;

    fn turned(angle_rad: f64) -> Trs {
        Trs::rigid(DQuat::from_rotation_y(angle_rad), DVec3::ZERO)
    }

    #[test]
    fn the_ends_are_the_two_transforms() {
        let a = Trs {
            translation: DVec3::new(1.0, 2.0, 3.0),
            rotation: DQuat::from_scaled_axis(DVec3::new(0.3, -0.4, 1.0)),
            scale: DVec3::new(1.0, -2.0, 0.5),
        };
        let b = Trs {
            translation: DVec3::new(-1.0, 0.0, 7.0),
            rotation: DQuat::from_scaled_axis(DVec3::new(1.3, 0.4, 0.0)),
            scale: DVec3::new(2.0, 2.0, 2.0),
        };
        for (weight, expected) in [(0.0, &a), (1.0, &b)] {
            let found = a.blend(&b, weight).to_affine();
            assert!(
                found.abs_diff_eq(expected.to_affine(), 1e-12),
                "weight {weight}: found {found:?}"
            );
        }
    }

    #[test]
    fn the_shorter_way_round_is_taken_for_either_sign_of_the_quaternion() {
        let b = turned(1.0);
        let flipped = Trs {
            rotation: -b.rotation,
            ..b
        };
        for end in [b, flipped] {
            let half = Trs::IDENTITY.blend(&end, 0.5).to_affine();
            assert!(
                half.abs_diff_eq(turned(0.5).to_affine(), 1e-12),
                "half way to {end:?} is {half:?}"
            );
        }
    }

    #[test]
    fn the_angle_differs_from_the_slerp_by_no_more_than_documented() {
        for (apart_deg, bound_deg) in [(60.0, 0.3), (90.0, 1.0), (180.0, 8.3)] {
            let end = turned(f64::to_radians(apart_deg));
            let worst_deg = (0..=1000)
                .map(|k| {
                    let weight = f64::from(k) / 1000.0;
                    let rotation = Trs::IDENTITY.blend(&end, weight).rotation;
                    let angle_deg = (2.0 * rotation.y.atan2(rotation.w)).to_degrees();
                    (angle_deg - weight * apart_deg).abs()
                })
                .fold(0.0, f64::max);
            assert!(
                worst_deg < bound_deg && worst_deg > 0.85 * bound_deg,
                "{apart_deg}° apart strays by {worst_deg}°"
            );
        }
    }

    #[test]
    fn poses_of_different_sizes_or_with_shear_are_refused() {
        let one = Pose::new(vec![DAffine3::IDENTITY]);
        let two = Pose::new(vec![DAffine3::IDENTITY; 2]);
        let error = one.blend(&two, 0.5).expect_err("other bone count");
        assert!(error.to_string().contains("expected 1 bones"), "{error}");

        let with_slider = Pose {
            coefficients: vec![1.0],
            ..one.clone()
        };
        let error = one.blend(&with_slider, 0.5).expect_err("other sliders");
        assert!(error.to_string().contains("coefficients"), "{error}");

        let mut sheared = DAffine3::IDENTITY;
        sheared.matrix3.y_axis.x = 0.5;
        let error = one
            .blend(&Pose::new(vec![sheared]), 0.5)
            .expect_err("a shear is no TRS");
        assert!(error.to_string().contains("sheared"), "{error}");
    }
}
