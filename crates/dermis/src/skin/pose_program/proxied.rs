//! Proxy bones in a pose program.

use glam::{DAffine3, DVec3};

use super::{PlacedBones, Skin, SkinError};
use crate::clip::{Nodes, split_track};
use crate::rig::{Bone, BoneId, ProxyBones, RigError, Skeleton, Trs};

impl Skin {
    /// A skin with proxy bones: the last bones of its skeleton are proxies with their carriers.
    ///
    /// Their default transforms become those of the skeleton's default pose, which players show when no clip moves the
    /// skin.
    ///
    /// # Errors
    /// [`RigError::BadProxyBones`] when the proxies do not fit the skeleton, or when the skin has derived bones.
    pub fn with_proxies(self, proxies: ProxyBones) -> Result<Self, SkinError> {
        proxies.check(&self.skeleton)?;
        if self.pose_program.placed_bone_count() > 0 {
            let problem = "a skin can have proxy bones or derived bones, not both".to_owned();
            return Err(RigError::BadProxyBones { problem }.into());
        }
        let mut skin = self;
        skin.pose_program.placed = PlacedBones::Proxies(proxies);
        let default = skin.complete_pose(&skin.skeleton.default_pose())?;
        let mut bones = skin.skeleton.bones().to_vec();
        for carrier in (skin.posed_bone_count()..bones.len()).step_by(2) {
            if let Some((outer, inner)) = nested_pair(&default.parent_from_bone[carrier]) {
                bones[carrier].default_parent_from_bone = outer;
                bones[carrier + 1].default_parent_from_bone = inner;
            }
        }
        let is_carrier = |bone: &BoneId| skin.skeleton.is_carrier(*bone);
        let carriers: Vec<BoneId> = skin.skeleton.ids().filter(is_carrier).collect();
        skin.skeleton = Skeleton::new(bones)?.with_carriers(carriers);
        Ok(skin)
    }
}

/// Splits a matrix into that of a node and that of its child, a rotation; `None` where a number of it is NaN or
/// infinite.
fn nested_pair(place: &DAffine3) -> Option<(Trs, Trs)> {
    let keys = split_track(&[place.matrix3], Nodes::Two, 0.0);
    let form = keys.first()?.form;
    let outer = Trs {
        translation: place.translation,
        rotation: form.outer,
        scale: form.scale,
    };
    let inner = Trs::rigid(form.inner, DVec3::ZERO);
    (outer.is_finite() && inner.is_finite()).then_some((outer, inner))
}

impl ProxyBones {
    /// `L_j` of every bone, computed from those of the posed bones; values given for proxies are ignored.
    ///
    /// The carrier gets the whole matrix of a proxy: a pose may shear, and only files need to split it.
    pub(super) fn complete(
        &self,
        skeleton: &Skeleton,
        parent_from_bone: &[DAffine3],
    ) -> Result<Vec<DAffine3>, RigError> {
        let posed_count = skeleton.bone_count() - self.unposed_bone_count();
        let found = parent_from_bone.len();
        if found != posed_count && found != skeleton.bone_count() {
            return Err(RigError::CountMismatch {
                what: "bones in the pose",
                expected: posed_count,
                found,
            });
        }
        let mut all = parent_from_bone[..posed_count].to_vec();
        let mut model_from_bone: Vec<DAffine3> = Vec::with_capacity(posed_count);
        for (local, bone) in all.iter().zip(skeleton.bones()) {
            model_from_bone.push(match bone.parent {
                Some(parent) => model_from_bone[parent.index()] * *local,
                None => *local,
            });
        }
        for placed in self.place(skeleton, &model_from_bone) {
            all.extend([placed, DAffine3::IDENTITY]);
        }
        Ok(all)
    }

    /// The posed bones that one proxy follows: those that its strongest patches read. Some may be listed twice.
    pub(super) fn followed_bones(&self, proxy: usize) -> Vec<BoneId> {
        let width = 4 * self.patches.len();
        let share = |l: usize| -> f64 {
            let rows = (0..3).map(|c| &self.from_patches[(4 * proxy + c) * width + 4 * l..][..3]);
            rows.flatten().map(|x| x * x).sum()
        };
        let most = (0..self.patches.len()).map(share).fold(0.0, f64::max);
        let mut bones = Vec::new();
        for (l, patch) in self.patches.iter().enumerate() {
            if share(l) >= 0.25 * most {
                bones.extend(patch.frame.iter().map(|(bone, _)| *bone));
                let turning = patch.turns.iter().map(|turn| turn.joint);
                for joint in turning.chain(patch.stretch_joints.iter().copied()) {
                    let joint = &self.joints[usize::from(joint)];
                    bones.extend([joint.bone, joint.parent]);
                }
            }
        }
        bones
    }

    /// Adds to a skeleton a proxy bone and its carrier at each of some points of the rest shape, after all other bones;
    /// returns it with the numbers of the proxies.
    ///
    /// # Errors
    /// [`RigError::TooManyBones`].
    pub fn extend_skeleton(
        skeleton: &Skeleton,
        centers: &[DVec3],
    ) -> Result<(Skeleton, Vec<BoneId>), RigError> {
        let first = skeleton.bone_count();
        let found = first + 2 * centers.len();
        if found > usize::from(u16::MAX) {
            return Err(RigError::TooManyBones { found });
        }
        let mut bones = skeleton.bones().to_vec();
        let mut proxies = Vec::with_capacity(centers.len());
        let mut carriers: Vec<BoneId> = (skeleton.ids())
            .filter(|&bone| skeleton.is_carrier(bone))
            .collect();
        for (m, center) in centers.iter().enumerate() {
            let carrier = BoneId((first + 2 * m) as u16);
            let bone_from_rest = DAffine3::from_translation(-*center);
            bones.push(Bone {
                name: format!("proxy {m}"),
                parent: None,
                default_parent_from_bone: Trs::from_affine(&bone_from_rest.inverse()).0,
                bone_from_rest,
            });
            bones.push(Bone {
                name: format!("proxy {m}.turn"),
                parent: Some(carrier),
                default_parent_from_bone: Trs::IDENTITY,
                bone_from_rest,
            });
            carriers.push(carrier);
            proxies.push(BoneId(carrier.0 + 1));
        }
        Ok((Skeleton::new(bones)?.with_carriers(carriers), proxies))
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DQuat};

    use super::*;
    use crate::rig::{JointReading, PatchPredictor, Pose, PredictedTurn};
    use crate::skin::{SsdProgram, VertexProgram, Weight};

    /// A root and a bone at x = 1, and a proxy at x = 1 that turns half as far as the bone, on the root.
    fn skin() -> Skin {
        let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
        let skeleton = Skeleton::from_rest_frames([
            ("root".to_owned(), None, at(0.0)),
            ("bone".to_owned(), Some(BoneId(0)), at(1.0)),
        ])
        .expect("a chain");
        let (skeleton, bones) = ProxyBones::extend_skeleton(&skeleton, &[DVec3::X]).expect("few");
        assert_eq!(bones, [BoneId(3)], "after its carrier");
        let proxies = ProxyBones {
            bones,
            joints: vec![JointReading {
                bone: BoneId(1),
                parent: BoneId(0),
                middle: DVec3::ZERO,
            }],
            patches: vec![PatchPredictor {
                turns: vec![PredictedTurn {
                    joint: 0,
                    scale: 0.5,
                    offset: DQuat::IDENTITY,
                }],
                ..PatchPredictor::rigid(BoneId(0), DVec3::X)
            }],
            sources: vec![BoneId(1)],
            // Turned as the patch, at the bone's origin.
            from_patches: (0..4)
                .flat_map(|row| (0..4).map(move |c| f64::from(row == c && c < 3)))
                .collect(),
            from_sources: (0..4)
                .flat_map(|row| (0..4).map(move |c| f64::from(row == 3 && c == 3)))
                .collect(),
        };
        let program = SsdProgram {
            rest_positions: vec![DVec3::new(1.0, 1.0, 0.0)],
            weights: std::iter::once([Weight {
                bone: BoneId(3),
                weight: 1.0,
            }])
            .collect(),
            corrections: Vec::new(),
        };
        Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new())
            .and_then(|skin| skin.with_proxies(proxies))
            .expect("a skin")
    }

    #[test]
    fn a_proxy_is_computed_whether_a_pose_has_it_or_not() {
        let skin = skin();
        assert_eq!(skin.posed_bone_count(), 2, "the root and the bone");
        let rest = skin.evaluate(&skin.skeleton.rest_pose()).expect("fits");
        assert!(
            rest[0].abs_diff_eq(DVec3::new(1.0, 1.0, 0.0), 1e-12),
            "at rest"
        );
        let mut pose = skin.skeleton.rest_pose();
        let whole = DAffine3::from_rotation_translation(
            DQuat::from_rotation_y(0.7),
            DVec3::new(0.0, 3.0, 0.0),
        );
        pose.parent_from_bone[0] = whole * pose.parent_from_bone[0];
        pose.parent_from_bone[1] *= DAffine3::from_quat(DQuat::from_rotation_x(3.0));
        let expected = whole.transform_point3(DVec3::X + DQuat::from_rotation_x(1.5) * DVec3::Y);
        let short = Pose::new(pose.parent_from_bone[..2].to_vec());
        for pose in [&pose, &short] {
            let found = skin.evaluate(pose).expect("fits")[0];
            assert!(
                found.abs_diff_eq(expected, 1e-12),
                "{found}, not {expected}"
            );
        }
        let error = skin.evaluate(&Pose::new(vec![DAffine3::IDENTITY]));
        assert_eq!(
            error.expect_err("a bone is missing").to_string(),
            "expected 2 bones in the pose, found 1",
            "the number of posed bones"
        );
    }

    #[test]
    fn in_the_default_pose_a_proxy_stands_where_it_is_computed() {
        let Skin {
            skeleton,
            program,
            pose_program,
            ..
        } = skin();
        let mut proxies = pose_program.proxies().expect("it has one").clone();
        let mut bones = skeleton.bones().to_vec();
        bones[1].default_parent_from_bone.rotation = DQuat::from_rotation_x(1.0);
        let carrier = skeleton.is_carrier(BoneId(2)).then_some(BoneId(2));
        let skeleton = Skeleton::new(bones).expect("as before");
        // The proxy shears, too.
        let patch = &mut proxies.patches[0];
        patch.stretch[0][3] = 0.4;
        let skin = Skin::new(skeleton.with_carriers(carrier), program, Vec::new())
            .and_then(|skin| skin.with_proxies(proxies))
            .expect("a skin");
        let plain = skin.without_pose_program();
        let default = skin.skeleton.default_pose();
        let (live, still) = (skin.evaluate(&default), plain.evaluate(&default));
        let (live, still) = (live.expect("fits")[0], still.expect("fits")[0]);
        assert!(live.abs_diff_eq(still, 1e-12), "{still}, not {live}");
        let sheared = DVec3::X + DQuat::from_rotation_x(0.5) * DVec3::new(0.4, 1.0, 0.0);
        assert!(live.abs_diff_eq(sheared, 1e-12), "{live}, not {sheared}");
        assert!(
            skin.skeleton.is_carrier(BoneId(2)),
            "the carrier is still marked as one"
        );
    }

    #[test]
    fn turns_beyond_half_a_turn_are_read_near_the_middle_of_the_examples() {
        let mut skin = skin();
        let turn = DQuat::from_rotation_x(4.0);
        let mut pose = skin.skeleton.rest_pose();
        pose.parent_from_bone[1] *= DAffine3::from_quat(turn);
        let half = |angle: f64| DVec3::X + DQuat::from_rotation_x(angle) * DVec3::Y;
        let short_way = skin.evaluate(&pose).expect("fits")[0];
        let expected = half(2.0 - std::f64::consts::PI);
        assert!(short_way.abs_diff_eq(expected, 1e-9), "found {short_way}");
        skin.pose_program.proxies_mut().expect("it has one").joints[0].middle = DVec3::X * 2.5;
        let long_way = skin.evaluate(&pose).expect("fits")[0];
        assert!(long_way.abs_diff_eq(half(2.0), 1e-9), "found {long_way}");
    }

    #[test]
    fn the_stretch_of_a_proxy_follows_the_turn() {
        let mut skin = skin();
        let patch = &mut skin.pose_program.proxies_mut().expect("it has one").patches[0];
        patch.stretch_joints = vec![0];
        // Shear with the angle about x, and growth along y with its square.
        let mut rows = vec![[0.0; 12]; 9];
        (rows[0][5], rows[3][4]) = (0.1, 0.5);
        patch.stretch.splice(0..0, rows);
        let mut pose = skin.skeleton.rest_pose();
        pose.parent_from_bone[1] *= DAffine3::from_quat(DQuat::from_rotation_x(1.2));
        let s = DMat3::from_cols(DVec3::X, DVec3::new(0.0, 1.0 + 0.5 * 1.44, 0.12), DVec3::Z);
        let expected = DVec3::X + DQuat::from_rotation_x(0.6) * (s * DVec3::Y);
        let found = skin.evaluate(&pose).expect("fits")[0];
        assert!(
            found.abs_diff_eq(expected, 1e-12),
            "{found}, not {expected}"
        );
    }

    #[test]
    fn invalid_proxies_are_refused_with_a_reason() {
        let good = skin();
        let with = |change: fn(&mut ProxyBones)| {
            let mut proxies = good.pose_program.proxies().expect("it has one").clone();
            change(&mut proxies);
            let plain = good.without_pose_program();
            plain
                .with_proxies(proxies)
                .map(|_| ())
                .map_err(|e| e.to_string())
        };
        assert_eq!(with(|_| ()), Ok(()), "unchanged proxies are valid");
        for (what, change) in [
            (
                "bone 2",
                (|p| p.bones[0] = BoneId(2)) as fn(&mut ProxyBones),
            ),
            ("bone 3 is read", |p| p.sources[0] = BoneId(3)),
            ("reads joint 1", |p| p.patches[0].turns[0].joint = 1),
            ("rows of stretch", |p| p.patches[0].stretch.clear()),
            ("C1 has", |p| p.from_patches.truncate(11)),
            ("C2 has", |p| p.from_sources.push(0.0)),
            ("NaN", |p| p.from_sources[0] = f64::NAN),
        ] {
            let error = with(change).expect_err(what);
            assert!(error.contains(what), "{what}: {error}");
        }
    }
}
