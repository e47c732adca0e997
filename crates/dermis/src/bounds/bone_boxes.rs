//! A box per bone: how engines bound skinned meshes anew in every frame.

use glam::DVec3;

use super::BoundsError;
use crate::mesh::Aabb;
use crate::rig::Palette;
use crate::skin::{Skin, VertexProgram};

/// For each bone the box, in the bone's frame, around the rest positions of the vertices that follow it.
///
/// With weights that are not negative and sum to 1, a vertex lies between the places that its bones
/// would carry it to, so the posed boxes together hold the mesh. That needs a pass over the bones in
/// every frame, which is the price of being tighter than one sphere for all poses.
#[derive(Debug, Clone, PartialEq)]
pub struct BoneBoxes {
    /// Lowest and highest corner in the bone's frame; `None` for a bone without vertices.
    pub of_bone: Vec<Option<[DVec3; 2]>>,
}

impl BoneBoxes {
    /// The boxes of a linear blend skin, its corrections at their defaults.
    ///
    /// # Errors
    /// [`BoundsError::Skin`] for other skins: their vertices may leave what bones carry.
    pub fn new(skin: &Skin) -> Result<Self, BoundsError> {
        let VertexProgram::Ssd(ssd) = &skin.program else {
            return Err(BoundsError::Skin(crate::skin::SkinError::NotLinear {
                program: skin.program.name(),
            }));
        };
        let bones = skin.skeleton.bones();
        let rest = ssd.corrected_rest(&skin.default_coefficients());
        let mut of_bone: Vec<Option<[DVec3; 2]>> = vec![None; bones.len()];
        for (row, position) in ssd.weights.iter().zip(&rest) {
            for weight in row.iter().filter(|w| w.weight != 0.0) {
                let j = weight.bone.index();
                let local = bones[j].bone_from_rest.transform_point3(*position);
                let [low, high] = of_bone[j].unwrap_or([local, local]);
                of_bone[j] = Some([low.min(local), high.max(local)]);
            }
        }
        Ok(Self { of_bone })
    }

    /// The corners of all boxes in a pose.
    ///
    /// # Panics
    /// When the palette lacks a bone.
    pub fn corners(&self, palette: &Palette) -> Vec<DVec3> {
        let boxes = self.of_bone.iter().zip(&palette.model_from_bone);
        let boxes = boxes.filter_map(|(bone, matrix)| bone.map(|corners| (corners, matrix)));
        boxes
            .flat_map(|([low, high], matrix)| {
                (0..8).map(move |n| {
                    let pick = |axis: usize| [low, high][n >> axis & 1][axis];
                    matrix.transform_point3(DVec3::new(pick(0), pick(1), pick(2)))
                })
            })
            .collect()
    }

    /// The box around all boxes in a pose, along the axes of model space; `None` without vertices.
    ///
    /// # Panics
    /// When the palette lacks a bone.
    pub fn posed(&self, palette: &Palette) -> Option<Aabb> {
        Aabb::of(&self.corners(palette))
    }
}
