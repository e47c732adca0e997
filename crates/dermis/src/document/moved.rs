//! A whole document scaled, turned and moved.

use crate::rig::Similarity;
use crate::skin::SkinError;
use crate::{Pose, Skeleton, TriMesh};
use glam::{DVec3, Vec3};

use super::{Document, EditError, Frame};

impl Document {
    /// The document in a moved model space: mesh, normals, bones, bind matrices, clips, morph targets,
    /// frames, joint statistics, limits and bounds.
    ///
    /// Drivers and derived bones hold angles and shares, which do not change. Custom attributes
    /// (`_NAME`) are not changed either.
    ///
    /// # Errors
    /// [`EditError::Skin`] for skins that cannot be turned or translated.
    pub fn moved(&self, by: &Similarity) -> Result<Self, EditError> {
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
        moved.levels = self.moved_levels(by)?;
        moved.progressive = self.moved_progressive(by)?;
        moved.fallback = self.fallback.as_ref().map(|plain| plain.moved(by));
        Ok(moved)
    }
}
