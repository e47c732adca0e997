//! The size of a skin as it is drawn.

use glam::DVec3;

use super::{Skin, SkinError};
use crate::mesh::Aabb;
use crate::rig::Pose;

impl Skin {
    /// The pose without any clip: default transforms of bones, default coefficients.
    pub fn default_pose(&self) -> Pose {
        Pose {
            coefficients: self.default_coefficients(),
            ..self.skeleton.default_pose()
        }
    }

    /// The positions at which players draw the vertices when no clip moves them.
    ///
    /// Rest positions may differ in place and size: bind matrices may scale and turn.
    ///
    /// # Errors
    /// [`SkinError`] for a skin that cannot be evaluated.
    pub fn drawn_at_rest(&self) -> Result<Vec<DVec3>, SkinError> {
        self.evaluate(&self.default_pose())
    }

    /// The size of the skin, on which relative lengths are based: the diagonal of the box around the skin as drawn at
    /// rest; 1 for a skin without extent.
    ///
    /// # Errors
    /// [`SkinError`] for a skin that cannot be evaluated.
    pub fn size(&self) -> Result<f64, SkinError> {
        let drawn = Aabb::of(&self.drawn_at_rest()?);
        let diagonal = drawn.map_or(0.0, |bounds| bounds.diagonal());
        Ok(match diagonal > 0.0 && diagonal.is_finite() {
            true => diagonal,
            false => 1.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DQuat};

    use super::*;
    use crate::skin::VertexProgram;
    use crate::synth::{TubeOptions, tube};

    #[test]
    fn the_size_is_that_of_the_drawn_shape_even_if_bind_matrices_scale() {
        let skin = tube(&TubeOptions::default()).truth;
        let size = skin.size().expect("a skin");
        // The same drawing from rest positions in centimetres that are turned by a quarter.
        let turn = DQuat::from_rotation_x(1.2);
        let scaled = DAffine3::from_scale_rotation_translation(DVec3::splat(100.0), turn, DVec3::X);
        let mut bones = skin.skeleton.bones().to_vec();
        for bone in &mut bones {
            bone.bone_from_rest *= scaled.inverse();
        }
        let mut other = skin.clone();
        other.skeleton = crate::Skeleton::new(bones).expect("the same tree");
        if let VertexProgram::Ssd(ssd) = &mut other.program {
            for v in &mut ssd.rest_positions {
                *v = scaled.transform_point3(*v);
            }
        }
        let found = other.size().expect("a skin");
        assert!(
            (found / size - 1.0).abs() < 1e-9,
            "{found} instead of {size}"
        );
    }
}
