//! A tree of bones, and the transform of each when the mesh was bound to it.

use glam::DAffine3;
use serde::{Deserialize, Serialize};

use super::{Palette, Pose, RigError, Trs};

/// Index of a bone in its [`Skeleton`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BoneId(pub u16);

impl BoneId {
    /// The index as a `usize`, for use with slices.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A coordinate frame that moves vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct Bone {
    /// Name shown to people and written to files; need not be unique.
    pub name: String,
    /// The bone to which this one is attached; `None` for a root, whose parent is model space.
    pub parent: Option<BoneId>,
    /// The bone's transform in its parent when no clip moves it.
    ///
    /// Often, but not always, the pose in which the mesh was bound: glTF keeps the two apart.
    pub default_parent_from_bone: Trs,
    /// `Ĝ⁻¹`: takes a rest position to the bone's frame (glTF's inverse bind matrix).
    pub bone_from_rest: DAffine3,
}

/// Bones numbered so that a parent comes before its children.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    bones: Vec<Bone>,
    /// One per bone: see [`Skeleton::is_carrier`].
    carriers: Vec<bool>,
}

impl Skeleton {
    /// Checks and keeps a list of bones.
    ///
    /// # Errors
    /// [`RigError::TooManyBones`], [`RigError::ParentOrder`] and [`RigError::NotFinite`].
    pub fn new(bones: Vec<Bone>) -> Result<Self, RigError> {
        if bones.len() > usize::from(u16::MAX) {
            return Err(RigError::TooManyBones { found: bones.len() });
        }
        for (j, bone) in bones.iter().enumerate() {
            if let Some(parent) = bone.parent
                && parent.index() >= j
            {
                return Err(RigError::ParentOrder {
                    bone: j,
                    name: bone.name.clone(),
                    parent: parent.index(),
                });
            }
            if !bone.default_parent_from_bone.is_finite() || !bone.bone_from_rest.is_finite() {
                return Err(RigError::NotFinite {
                    what: format!("the transform of bone {j} ({})", bone.name),
                });
            }
        }
        let carriers = vec![false; bones.len()];
        Ok(Self { bones, carriers })
    }

    /// Marks bones as carriers: see [`Skeleton::is_carrier`].
    ///
    /// # Panics
    /// When there is no such bone.
    #[must_use]
    pub fn with_carriers(mut self, carriers: impl IntoIterator<Item = BoneId>) -> Self {
        for bone in carriers {
            self.carriers[bone.index()] = true;
        }
        self
    }

    /// Whether a bone only carries other bones and holds no vertices: a node of a file that is no joint, or the outer
    /// one of two nodes that show one affine bone.
    ///
    /// A carrier's `bone_from_rest` has no meaning, and a file need not list it among its joints. A fit may still bind
    /// vertices to it; then it is a joint like any other.
    ///
    /// # Panics
    /// When there is no such bone.
    pub fn is_carrier(&self, bone: BoneId) -> bool {
        self.carriers[bone.index()]
    }

    /// Builds a skeleton whose default pose is its rest pose, from `Ĝ_j` in model space.
    ///
    /// # Errors
    /// As [`Skeleton::new`], and [`RigError::SingularRest`].
    pub fn from_rest_frames(
        bones: impl IntoIterator<Item = (String, Option<BoneId>, DAffine3)>,
    ) -> Result<Self, RigError> {
        let mut frames: Vec<DAffine3> = Vec::new();
        let mut checked = Vec::new();
        for (j, (name, parent, rest_model_from_bone)) in bones.into_iter().enumerate() {
            let bone_from_rest = rest_model_from_bone.inverse();
            if !bone_from_rest.is_finite() && rest_model_from_bone.is_finite() {
                return Err(RigError::SingularRest { bone: j, name });
            }
            let parent_from_model = match parent {
                None => DAffine3::IDENTITY,
                Some(a) if a.index() < j => frames[a.index()].inverse(),
                Some(a) => {
                    return Err(RigError::ParentOrder {
                        bone: j,
                        name,
                        parent: a.index(),
                    });
                }
            };
            frames.push(rest_model_from_bone);
            checked.push(Bone {
                name,
                parent,
                default_parent_from_bone: Trs::from_affine(
                    &(parent_from_model * rest_model_from_bone),
                )
                .0,
                bone_from_rest,
            });
        }
        Self::new(checked)
    }

    /// The bones, parents first.
    pub fn bones(&self) -> &[Bone] {
        &self.bones
    }

    /// How many bones there are.
    pub fn bone_count(&self) -> usize {
        self.bones.len()
    }

    /// Every bone's index, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = BoneId> + use<> {
        (0..self.bones.len() as u16).map(BoneId)
    }

    /// The first bone of that name.
    pub fn find(&self, name: &str) -> Option<BoneId> {
        let j = self.bones.iter().position(|bone| bone.name == name)?;
        Some(BoneId(j as u16))
    }

    /// The pose of the bones when no clip moves them.
    pub fn default_pose(&self) -> Pose {
        Pose::new(
            self.bones
                .iter()
                .map(|bone| bone.default_parent_from_bone.to_affine())
                .collect(),
        )
    }

    /// The pose in which the mesh was bound, `G_j = Ĝ_j`.
    ///
    /// Bones with a singular bind matrix keep their default transform.
    pub fn rest_pose(&self) -> Pose {
        let rest: Vec<DAffine3> = self
            .bones
            .iter()
            .map(|bone| bone.bone_from_rest.inverse())
            .collect();
        let local = |(j, bone): (usize, &Bone)| {
            let parent_from_model =
                (bone.parent).map_or(DAffine3::IDENTITY, |a| rest[a.index()].inverse());
            let local = parent_from_model * rest[j];
            if local.is_finite() {
                local
            } else {
                bone.default_parent_from_bone.to_affine()
            }
        };
        Pose::new(self.bones.iter().enumerate().map(local).collect())
    }

    /// Multiplies a pose down the tree to the matrices `G_j`, which take bone frames to model space.
    ///
    /// # Errors
    /// [`RigError::CountMismatch`] when the pose has another number of bones.
    pub fn palette(&self, pose: &Pose) -> Result<Palette, RigError> {
        if pose.parent_from_bone.len() != self.bones.len() {
            return Err(RigError::CountMismatch {
                what: "bones in the pose",
                expected: self.bones.len(),
                found: pose.parent_from_bone.len(),
            });
        }
        let mut model_from_bone: Vec<DAffine3> = Vec::with_capacity(self.bones.len());
        for (bone, &parent_from_bone) in self.bones.iter().zip(&pose.parent_from_bone) {
            let matrix = match bone.parent {
                None => parent_from_bone,
                Some(parent) => model_from_bone[parent.index()] * parent_from_bone,
            };
            model_from_bone.push(matrix);
        }
        Ok(Palette { model_from_bone })
    }

    /// The pose whose palette is the given one: the inverse of [`Skeleton::palette`].
    ///
    /// # Errors
    /// [`RigError::CountMismatch`], and [`RigError::NotFinite`] when a parent's matrix is singular.
    pub fn pose_from_palette(&self, palette: &Palette) -> Result<Pose, RigError> {
        if palette.model_from_bone.len() != self.bones.len() {
            return Err(RigError::CountMismatch {
                what: "bones in the palette",
                expected: self.bones.len(),
                found: palette.model_from_bone.len(),
            });
        }
        let mut parent_from_bone = Vec::with_capacity(self.bones.len());
        for (bone, &model_from_bone) in self.bones.iter().zip(&palette.model_from_bone) {
            let local = match bone.parent {
                None => model_from_bone,
                Some(parent) => palette.model_from_bone[parent.index()].inverse() * model_from_bone,
            };
            if !local.is_finite() {
                return Err(RigError::NotFinite {
                    what: format!("the pose of bone {}", bone.name),
                });
            }
            parent_from_bone.push(local);
        }
        Ok(Pose::new(parent_from_bone))
    }

    /// `N_j = G_j Ĝ_j⁻¹` for every bone: takes rest positions to posed ones.
    pub fn posed_from_rest(&self, palette: &Palette) -> Vec<DAffine3> {
        self.bones
            .iter()
            .zip(&palette.model_from_bone)
            .map(|(bone, &model_from_bone)| model_from_bone * bone.bone_from_rest)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    fn arm() -> Skeleton {
        let frame = |x: f64| DAffine3::from_translation(DVec3::new(x, 0.0, 0.0));
        Skeleton::from_rest_frames([
            ("upper".to_owned(), None, frame(1.0)),
            ("lower".to_owned(), Some(BoneId(0)), frame(3.0)),
        ])
        .expect("two bones in order are a skeleton")
    }

    #[test]
    fn the_rest_pose_does_not_move_vertices() {
        let skeleton = arm();
        for pose in [skeleton.rest_pose(), skeleton.default_pose()] {
            let palette = skeleton.palette(&pose).expect("the pose fits");
            for matrix in skeleton.posed_from_rest(&palette) {
                assert!(
                    matrix.abs_diff_eq(DAffine3::IDENTITY, 1e-12),
                    "found {matrix:?}"
                );
            }
        }
    }

    #[test]
    fn a_bone_turns_with_its_parent() {
        let skeleton = arm();
        let mut pose = skeleton.rest_pose();
        let quarter = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        pose.parent_from_bone[0] *= DAffine3::from_quat(quarter);
        let palette = skeleton.palette(&pose).expect("the pose fits");
        let elbow = palette.model_from_bone[1].translation;
        assert!(
            elbow.abs_diff_eq(DVec3::new(1.0, 2.0, 0.0), 1e-12),
            "found {elbow}"
        );
        let back = skeleton
            .pose_from_palette(&palette)
            .expect("rigid bones invert");
        assert!(
            back.parent_from_bone[1].abs_diff_eq(pose.parent_from_bone[1], 1e-12),
            "palette -> pose undoes pose -> palette"
        );
    }

    #[test]
    fn a_child_before_its_parent_is_refused() {
        let frame = DAffine3::IDENTITY;
        let error = Skeleton::from_rest_frames([
            ("a".to_owned(), Some(BoneId(1)), frame),
            ("b".to_owned(), None, frame),
        ])
        .expect_err("bone 0 names a later bone as its parent");
        assert!(
            matches!(
                error,
                RigError::ParentOrder {
                    bone: 0,
                    parent: 1,
                    ..
                }
            ),
            "{error}"
        );
    }
}
