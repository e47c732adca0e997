//! A whole document scaled, turned and put elsewhere.

use dermis::mesh::MeshError;
use dermis::rig::Similarity;
use dermis::skin::SkinError;
use dermis::{Pose, Skeleton, TriMesh};
use glam::{DQuat, DVec3, Vec3};

use crate::{Document, Fault, Format, Frame, IoError};

/// Why a document cannot be moved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The skin does not turn with its character.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// The mesh does not stay a mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// In which unit and axes a file was written, where those are others than the model's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Factor of all lengths; above 0.
    pub scale: f64,
    /// The file is z up. glTF files are y up by their standard and never turned.
    pub z_up: bool,
}

impl Default for Placement {
    fn default() -> Self {
        Self {
            scale: 1.0,
            z_up: false,
        }
    }
}

impl Placement {
    /// The move that takes a file of some format into the model's unit and axes; `None` when it is there.
    ///
    /// # Errors
    /// [`Fault::Malformed`] for a scale that is not above 0.
    pub fn of_format(&self, format: Format) -> Result<Option<Similarity>, Fault> {
        let turns = self.z_up && !matches!(format, Format::Glb | Format::Gltf);
        if !turns && self.scale == 1.0 {
            return Ok(None);
        }
        let turn = match turns {
            true => DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2),
            false => DQuat::IDENTITY,
        };
        let by = Similarity::new(self.scale, turn, DVec3::ZERO);
        by.map(Some).map_err(|_| {
            let found = self.scale.to_string();
            Fault::malformed("scale of the input", "a number above 0", found)
        })
    }
}

impl Document {
    /// The document with its frames in one placement and all else in another.
    ///
    /// # Errors
    /// [`IoError::Content`] when it cannot be moved, with its path.
    pub fn placed(self, rest: &Placement, frames: &Placement) -> Result<Self, IoError> {
        if [rest, frames].iter().all(|p| **p == Placement::default()) {
            return Ok(self);
        }
        let format = Format::of(&self.path)?;
        let fault = |fault: Fault| fault.in_file(&self.path);
        let by = rest.of_format(format).map_err(fault)?;
        let frames_by = frames.of_format(format).map_err(fault)?;
        if by.is_none() && frames_by.is_none() {
            return Ok(self);
        }
        let mut placed = match &by {
            Some(by) => (self.moved(by))
                .map_err(|error| fault(Fault::unsupported("the move", error.to_string())))?,
            None => self.clone(),
        };
        if by != frames_by {
            placed.frames.clone_from(&self.frames);
            if let Some(by) = &frames_by {
                for frame in &mut placed.frames {
                    move_points(&mut frame.positions, by);
                }
            }
        }
        Ok(placed)
    }

    /// The document in a moved model space: mesh, normals, bones, bind matrices, clips, morph targets,
    /// frames, joint statistics, limits and bounds.
    ///
    /// Drivers and derived bones hold angles and shares, and stay. What only the file's maker
    /// understands (`_NAME` attributes) stays, too.
    ///
    /// # Errors
    /// [`MoveError::Skin`] for skins that cannot be turned or translated.
    pub fn moved(&self, by: &Similarity) -> Result<Self, MoveError> {
        let points = |positions: &[DVec3]| positions.iter().map(|v| by.point(*v)).collect();
        let mut moved = self.clone();
        moved.mesh = TriMesh::new(
            points(self.mesh.positions()),
            self.mesh.triangles().to_vec(),
        )?;
        let turn = |v: Vec3| (by.rotation() * v.as_dvec3()).as_vec3();
        for part in &mut moved.draw.parts {
            for normal in &mut part.normals {
                *normal = turn(Vec3::from_array(*normal)).to_array();
            }
            for tangent in &mut part.tangents {
                let [x, y, z, handed] = *tangent;
                *tangent = turn(Vec3::new(x, y, z)).extend(handed).to_array();
            }
        }
        for Frame { positions, .. } in &mut moved.frames {
            *positions = points(positions);
        }
        let skeleton: Option<&Skeleton> =
            (self.skin.as_ref().map(|skin| &skin.skeleton)).or(self.skeleton.as_ref());
        if let Some(skeleton) = skeleton {
            let pose = |pose: &Pose| by.pose(skeleton, pose);
            moved.frame_poses = self.frame_poses.iter().map(pose).collect();
            moved.clips = (self.clips.iter())
                .map(|clip| by.clip(skeleton, clip))
                .collect();
            if let Some(record) = &mut moved.record {
                for seen in &mut record.joints {
                    *seen = by.statistics(skeleton, seen);
                }
                for limits in &mut record.limits {
                    *limits = by.limits(skeleton, limits);
                }
                record.bounds = record.bounds.as_ref().map(|bounds| bounds.moved(by));
            }
        }
        moved.skin = (self.skin.as_ref())
            .map(|skin| skin.moved(by))
            .transpose()?;
        moved.skeleton = (self.skeleton.as_ref())
            .map(|skeleton| by.skeleton(skeleton))
            .transpose()
            .map_err(SkinError::from)?;
        moved.fallback = self.fallback.as_ref().map(|plain| plain.moved(by));
        Ok(moved)
    }
}

/// Moves points where they are.
pub(crate) fn move_points(points: &mut [DVec3], by: &Similarity) {
    for point in points {
        *point = by.point(*point);
    }
}
