//! Clips made of poses, one key for each.

use glam::DVec3;

use super::{Channel, Clip, Interpolation, Keys};
use crate::rig::{BoneId, Pose, RigError, Skeleton, Trs};

impl Clip {
    /// A clip with one linear key per pose, the first at time 0.
    ///
    /// Channels that never leave the skeleton's default are left out. Coefficients are keyed when
    /// the poses have any.
    ///
    /// # Errors
    /// [`RigError::Sheared`] when a bone's matrix is not a product of translation, rotation and scale, and
    /// [`RigError::CountMismatch`] when a pose belongs to another skeleton.
    pub fn from_poses(
        name: impl Into<String>,
        skeleton: &Skeleton,
        poses: &[Pose],
        frames_per_second: f64,
    ) -> Result<Self, RigError> {
        /// Largest cosine between two axes that rounding to single precision can cause.
        const ROUNDING_SHEAR: f64 = 1e-4;
        let times: Vec<f64> = (0..poses.len())
            .map(|k| k as f64 / frames_per_second)
            .collect();
        let mut channels = Vec::new();
        for (j, bone) in skeleton.bones().iter().enumerate() {
            let mut locals: Vec<Trs> = Vec::with_capacity(poses.len());
            for (k, pose) in poses.iter().enumerate() {
                let Some(local) = pose.parent_from_bone.get(j) else {
                    return Err(RigError::CountMismatch {
                        what: "bones in the pose",
                        expected: skeleton.bone_count(),
                        found: pose.parent_from_bone.len(),
                    });
                };
                let (mut trs, shear) = Trs::from_affine(local);
                if shear > ROUNDING_SHEAR {
                    return Err(RigError::Sheared {
                        what: format!("bone {} in pose {k}", bone.name),
                        shear,
                    });
                }
                // q and -q are the same rotation, but only one of them gives the short way between two keys.
                if let Some(last) = locals.last()
                    && last.rotation.dot(trs.rotation) < 0.0
                {
                    trs.rotation = -trs.rotation;
                }
                locals.push(trs);
            }
            let rest = bone.default_parent_from_bone;
            let id = BoneId(j as u16);
            let keys = |value: fn(&Trs) -> DVec3| Keys {
                interpolation: Interpolation::Linear,
                times: times.clone(),
                values: locals.iter().map(value).collect(),
            };
            if locals.iter().any(|l| l.translation != rest.translation) {
                channels.push(Channel::Translation(id, keys(|l| l.translation)));
            }
            if locals.iter().any(|l| l.rotation != rest.rotation) {
                let values = locals.iter().map(|l| l.rotation).collect();
                channels.push(Channel::Rotation(
                    id,
                    Keys {
                        interpolation: Interpolation::Linear,
                        times: times.clone(),
                        values,
                    },
                ));
            }
            if locals
                .iter()
                .any(|l| !l.scale.abs_diff_eq(rest.scale, 1e-6))
            {
                channels.push(Channel::Scale(id, keys(|l| l.scale)));
            }
        }
        if poses.iter().any(|pose| !pose.coefficients.is_empty()) {
            channels.push(Channel::Coefficients(
                0,
                Keys {
                    interpolation: Interpolation::Linear,
                    times,
                    values: poses.iter().map(|p| p.coefficients.clone()).collect(),
                },
            ));
        }
        Ok(Self {
            name: name.into(),
            channels,
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DQuat};

    use super::*;

    fn one_bone() -> Skeleton {
        Skeleton::from_rest_frames([("bone".to_owned(), None, DAffine3::IDENTITY)])
            .expect("one bone is a skeleton")
    }

    #[test]
    fn a_clip_made_of_poses_gives_them_back_at_their_frames() {
        let skeleton = one_bone();
        let poses: Vec<Pose> = (0..5)
            .map(|k| {
                let turn = DQuat::from_rotation_z(1.3 * k as f64);
                Pose::new(vec![DAffine3::from_rotation_translation(
                    turn,
                    DVec3::new(0.0, k as f64, 0.0),
                )])
            })
            .collect();
        let clip = Clip::from_poses("spin", &skeleton, &poses, 24.0).expect("rigid poses bake");
        let times = clip.frame_times(24.0).expect("five frames");
        for (pose, &time) in poses.iter().zip(&times) {
            let found = clip.sample(&skeleton, &[], time);
            assert!(
                found.parent_from_bone[0].abs_diff_eq(pose.parent_from_bone[0], 1e-12),
                "at {time} s"
            );
        }
        assert_eq!(times.len(), 5, "as many frames as poses");
        assert_eq!(clip.key_rate(), Some(24.0), "one key on every frame");
    }

    #[test]
    fn a_sheared_pose_is_refused_by_name() {
        let mut sheared = DAffine3::IDENTITY;
        sheared.matrix3.y_axis.x = 0.5;
        let error = Clip::from_poses("bad", &one_bone(), &[Pose::new(vec![sheared])], 24.0)
            .expect_err("a shear is no TRS");
        assert!(error.to_string().contains("bone in pose 0"), "{error}");
    }
}
