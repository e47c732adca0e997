//! Translation, rotation and scale: the transforms that a glTF node can hold and a clip can key.

use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A transform that scales, then rotates, then translates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trs {
    /// The new position of the origin, in the parent's units.
    pub translation: DVec3,
    /// A unit quaternion.
    pub rotation: DQuat,
    /// Factor along each axis before the rotation; negative mirrors.
    pub scale: DVec3,
}

impl Trs {
    /// The identity.
    pub const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    /// A rotation about the origin followed by a translation.
    pub fn rigid(rotation: DQuat, translation: DVec3) -> Self {
        Self {
            translation,
            rotation,
            scale: DVec3::ONE,
        }
    }

    /// The same transform as a matrix.
    pub fn to_affine(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// The scale and rotation closest to a matrix, and how much shear was dropped.
    ///
    /// The axes are made perpendicular in the order x, y, z (Gram–Schmidt); a mirrored matrix
    /// gets a negative x scale. The second value is the largest cosine between two axes of the
    /// matrix, 0 for an exact translation, rotation and scale.
    pub fn from_affine(affine: &DAffine3) -> (Self, f64) {
        let axes = affine.matrix3;
        let lengths = DVec3::new(
            axes.x_axis.length(),
            axes.y_axis.length(),
            axes.z_axis.length(),
        );
        // A zero axis (a bone scaled to nothing) has no direction; any perpendicular one will do.
        let x = axes.x_axis.try_normalize();
        let y = axes.y_axis.try_normalize();
        let z = axes.z_axis.try_normalize();
        let cosine = |a: Option<DVec3>, b: Option<DVec3>| match (a, b) {
            (Some(a), Some(b)) => a.dot(b).abs(),
            _ => 0.0,
        };
        let shear = cosine(x, y).max(cosine(y, z)).max(cosine(z, x));

        let x = x
            .or_else(|| y.zip(z).and_then(|(y, z)| y.cross(z).try_normalize()))
            .or_else(|| y.or(z).map(|v| v.any_orthonormal_vector()))
            .unwrap_or(DVec3::X);
        let y = y
            .map(|y| y - x * x.dot(y))
            .and_then(|y| y.try_normalize())
            .or_else(|| z.and_then(|z| z.cross(x).try_normalize()))
            .unwrap_or_else(|| x.any_orthonormal_vector());
        let right_handed_z = x.cross(y);
        let mirrored = axes.z_axis.dot(right_handed_z) < 0.0;
        let (x, scale) = if mirrored {
            (-x, lengths * DVec3::new(-1.0, 1.0, 1.0))
        } else {
            (x, lengths)
        };
        let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize();
        let trs = Self {
            translation: affine.translation,
            rotation,
            scale,
        };
        (trs, shear)
    }

    /// True when every component is a finite number.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_same(a: &DAffine3, b: &DAffine3) {
        assert!(a.abs_diff_eq(*b, 1e-12), "expected {a:?}, found {b:?}");
    }

    #[test]
    fn split_and_join_gives_the_matrix_back_even_when_mirrored() {
        for scale in [
            DVec3::ONE,
            DVec3::new(2.0, 0.5, 3.0),
            DVec3::new(-1.0, 2.0, 1.0),
            DVec3::new(1.0, 2.0, -3.0),
            DVec3::new(-1.0, -1.0, 1.0),
        ] {
            let rotation = DQuat::from_scaled_axis(DVec3::new(0.3, -2.0, 1.1));
            let matrix = DAffine3::from_scale_rotation_translation(scale, rotation, DVec3::X);
            let (trs, shear) = Trs::from_affine(&matrix);
            assert!(shear < 1e-12, "no shear expected, found {shear}");
            assert_same(&trs.to_affine(), &matrix);
        }
    }

    #[test]
    fn a_scale_of_zero_keeps_a_valid_rotation() {
        for scale in [
            DVec3::ZERO,
            DVec3::new(1.0, 0.0, 0.0),
            DVec3::new(0.0, 2.0, 1.0),
        ] {
            let matrix = DAffine3::from_scale_rotation_translation(
                scale,
                DQuat::from_rotation_y(0.7),
                DVec3::Y,
            );
            let (trs, _) = Trs::from_affine(&matrix);
            assert!(trs.is_finite(), "finite parts expected for scale {scale}");
            assert_same(&trs.to_affine(), &matrix);
        }
    }

    #[test]
    fn shear_is_reported() {
        let mut matrix = DAffine3::IDENTITY;
        matrix.matrix3.y_axis = DVec3::new(0.5, 1.0, 0.0);
        let (_, shear) = Trs::from_affine(&matrix);
        assert!(
            (shear - 0.5 / 1.25f64.sqrt()).abs() < 1e-12,
            "found {shear}"
        );
    }
}
