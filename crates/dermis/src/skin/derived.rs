//! The part of a skin's pose program that places bones nobody poses.

use super::{Coefficient, Skin, SkinError, VertexProgram};
use crate::rig::{DerivedBone, Pose, ProxyBones, Skeleton, check_derived, complete};

impl Skin {
    /// A skin some of whose bones are derived: the last of its skeleton, in the order of the list.
    ///
    /// Each follows the joint of a bone that is posed. One that turns part of the way hangs from the
    /// same parent as the bone that it follows, or like it in model space; one that swells hangs
    /// from any bone that is posed, or in model space.
    ///
    /// # Errors
    /// As [`Skin::new`], and [`RigError::BadDerivedBone`](crate::rig::RigError::BadDerivedBone).
    pub fn with_derived(
        skeleton: Skeleton,
        program: VertexProgram,
        coefficients: Vec<Coefficient>,
        derived: Vec<DerivedBone>,
    ) -> Result<Self, SkinError> {
        check_derived(&skeleton, &derived)?;
        Ok(Self {
            derived,
            ..Self::new(skeleton, program, coefficients)?
        })
    }

    /// How many bones a pose has to give: those that are neither derived nor proxies.
    pub fn posed_bone_count(&self) -> usize {
        let proxies = self.proxies.as_ref();
        let unposed = self.derived.len() + proxies.map_or(0, ProxyBones::unposed_bone_count);
        self.skeleton.bone_count() - unposed
    }

    /// A pose with every derived and proxy bone in its place, as an engine that knows nothing of them
    /// needs it.
    ///
    /// # Errors
    /// [`SkinError::Rig`] when the pose has neither all bones nor all that a pose has to give.
    pub fn complete_pose(&self, pose: &Pose) -> Result<Pose, SkinError> {
        let given = &pose.parent_from_bone;
        Ok(Pose {
            parent_from_bone: match &self.proxies {
                Some(proxies) => self.complete_with_proxies(proxies, given)?,
                None => complete(&self.skeleton, &self.derived, given)?,
            },
            coefficients: pose.coefficients.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DQuat, DVec3};

    use super::*;
    use crate::rig::{BoneId, Channel, Clip, DerivedMotion, Interpolation, Keys};
    use crate::skin::{SsdProgram, Weight};

    /// Two bones in a row, a half-turn and a swell, and one vertex on each of the four.
    fn skin() -> Skin {
        let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
        let skeleton = Skeleton::from_rest_frames([
            ("upper".to_owned(), None, at(0.0)),
            ("lower".to_owned(), Some(BoneId(0)), at(1.0)),
            ("lower.half".to_owned(), Some(BoneId(0)), at(1.0)),
            ("lower.swell".to_owned(), Some(BoneId(1)), at(1.0)),
        ])
        .expect("parents come first");
        let program = SsdProgram {
            rest_positions: (0..4)
                .map(|j| DVec3::new(1.5, 0.2, 0.1 * j as f64))
                .collect(),
            weights: (0..4)
                .map(|j| {
                    [Weight {
                        bone: BoneId(j),
                        weight: 1.0,
                    }]
                })
                .collect(),
            corrections: Vec::new(),
        };
        let follow = |bone, motion| DerivedBone {
            bone: BoneId(bone),
            of: BoneId(1),
            motion,
        };
        Skin::with_derived(
            skeleton,
            VertexProgram::Ssd(program),
            Vec::new(),
            vec![
                follow(2, DerivedMotion::PartTurn { share: 0.5 }),
                follow(3, DerivedMotion::Swell { gain: 1.0 }),
            ],
        )
        .expect("two derived bones at the end")
    }

    fn bent(skin: &Skin, angle: f64) -> Pose {
        let mut pose = skin.skeleton.rest_pose();
        pose.parent_from_bone[1] *= DAffine3::from_rotation_z(angle);
        pose
    }

    #[test]
    fn a_pose_may_leave_derived_bones_out_or_say_nonsense_about_them() {
        let skin = skin();
        assert_eq!(skin.posed_bone_count(), 2, "two of four");
        let stale = bent(&skin, 1.0);
        let mut short = stale.clone();
        short.parent_from_bone.truncate(2);
        let expected = skin.evaluate(&short).expect("posed bones suffice");
        assert_eq!(skin.evaluate(&stale), Ok(expected.clone()), "recomputed");
        let half = DQuat::from_rotation_z(0.5) * DVec3::new(0.5, 0.2, 0.2) + DVec3::X;
        assert!(
            expected[2].abs_diff_eq(half, 1e-12),
            "found {}",
            expected[2]
        );

        short.parent_from_bone.truncate(1);
        let error = skin.evaluate(&short).expect_err("a posed bone is missing");
        assert_eq!(
            error.to_string(),
            "expected 2 bones in the pose, found 1",
            "what a pose has to give"
        );
    }

    #[test]
    fn a_baked_clip_plays_without_the_pose_program() {
        let skin = skin();
        let keys = Keys {
            interpolation: Interpolation::Linear,
            times: vec![0.5, 1.5],
            values: vec![
                DQuat::from_rotation_z(-0.4),
                DQuat::from_scaled_axis(DVec3::new(0.5, 0.2, 1.4)),
            ],
        };
        let clip = Clip {
            name: "bend".to_owned(),
            channels: vec![Channel::Rotation(BoneId(1), keys)],
        };
        let baked = skin.bake(&clip).expect("the clip fits");
        assert_eq!(baked.channels[0], clip.channels[0], "left as it was");
        assert_eq!(
            baked.channels.len(),
            3,
            "one turns, one scales, nothing else"
        );
        assert_eq!(baked.channels[1].times().len(), 31, "thirty keys a second");

        // A skin that does not know that its bones are derived.
        let plain = Skin {
            derived: Vec::new(),
            ..skin.clone()
        };
        for (time, tolerance) in [(0.5, 1e-12), (0.8, 1e-12), (1.5, 1e-12), (0.817, 1e-4)] {
            let played = plain.evaluate(&plain.sample(&baked, time)).expect("fits");
            let expected = skin.evaluate(&skin.sample(&clip, time)).expect("fits");
            for (a, b) in played.iter().zip(&expected) {
                assert!(a.distance(*b) < tolerance, "at {time}: {a} against {b}");
            }
        }
        assert_eq!(
            skin.bake(&baked).expect("again").channels.len(),
            3,
            "baking twice replaces"
        );
        let empty = Clip {
            name: "still".to_owned(),
            channels: Vec::new(),
        };
        assert_eq!(skin.bake(&empty), Ok(empty.clone()), "nothing to add");
    }

    #[test]
    fn a_bad_list_is_refused_by_name() {
        let mut parts = skin();
        parts.derived.swap(0, 1);
        let error = Skin::with_derived(
            parts.skeleton,
            parts.program,
            parts.coefficients,
            parts.derived,
        )
        .expect_err("out of order");
        assert!(error.to_string().contains("derived bone 3"), "{error}");
    }
}
