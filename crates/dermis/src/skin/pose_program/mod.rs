//! The pose program of a skin: everything computed from a pose before vertices are moved.
//!
//! A pose gives the first bones and the first coefficients of a skin. The last bones may be **placed**, that is
//! computed from the others (derived bones, proxy bones), and the last coefficients **driven**, that is computed from
//! the pose. Values that a pose gives for those are always ignored. For players that cannot compute them,
//! [`Skin::bake`] writes keys into clips.

mod bake;
mod driven;
mod proxied;

use glam::DAffine3;

use super::{Coefficient, Skin, SkinError, VertexProgram};
use crate::pose_space::{Control, Driver};
use crate::rig::{
    BoneId, DerivedBone, Pose, ProxyBones, RigError, Similarity, Skeleton, check_derived, complete,
};

/// The computed parts of a skin's pose: its last bones and its last coefficients.
///
/// The default is empty: every bone and every coefficient comes from the pose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoseProgram {
    /// The bones at the end of the skeleton that are computed, and how.
    pub placed: PlacedBones,
    /// The drivers that compute the last coefficients, in order.
    pub drivers: Vec<Driver>,
}

/// Bones at the end of a skeleton that are computed from the others.
#[derive(Debug, Clone, PartialEq)]
pub enum PlacedBones {
    /// Derived bones, each following one joint: see [`Skin::with_derived`]. An empty list places no bones.
    Derived(Vec<DerivedBone>),
    /// Proxy bones, which move patches of skin: see [`Skin::with_proxies`].
    Proxies(ProxyBones),
}

impl Default for PlacedBones {
    fn default() -> Self {
        Self::Derived(Vec::new())
    }
}

impl PoseProgram {
    /// Whether every bone and every coefficient comes from the pose.
    pub fn is_empty(&self) -> bool {
        self.placed_bone_count() == 0 && self.drivers.is_empty()
    }

    /// The derived bones, each of which follows one joint.
    pub fn derived(&self) -> &[DerivedBone] {
        match &self.placed {
            PlacedBones::Derived(derived) => derived,
            PlacedBones::Proxies(_) => &[],
        }
    }

    /// The proxy bones, which move patches of skin.
    pub fn proxies(&self) -> Option<&ProxyBones> {
        match &self.placed {
            PlacedBones::Derived(_) => None,
            PlacedBones::Proxies(proxies) => Some(proxies),
        }
    }

    /// The proxy bones, mutable.
    pub fn proxies_mut(&mut self) -> Option<&mut ProxyBones> {
        match &mut self.placed {
            PlacedBones::Derived(_) => None,
            PlacedBones::Proxies(proxies) => Some(proxies),
        }
    }

    /// How many bones, at the end of the skeleton, are placed. Carriers of proxy bones are included.
    pub fn placed_bone_count(&self) -> usize {
        match &self.placed {
            PlacedBones::Derived(derived) => derived.len(),
            PlacedBones::Proxies(proxies) => proxies.unposed_bone_count(),
        }
    }

    /// How many coefficients, at the end of the list, are driven.
    pub fn driven_count(&self) -> usize {
        self.drivers.iter().map(Driver::output_count).sum()
    }

    /// The computed parts in words for messages, such as "10 pseudo-bones"; `None` when there are none.
    ///
    /// For a skin with both bones and coefficients, only the bones.
    pub fn summary(&self) -> Option<String> {
        let count = |n: usize, one: &str, many: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {many}"),
        };
        match &self.placed {
            PlacedBones::Proxies(proxies) => {
                Some(count(proxies.bones.len(), "proxy bone", "proxy bones"))
            }
            PlacedBones::Derived(derived) if !derived.is_empty() => {
                Some(count(derived.len(), "pseudo-bone", "pseudo-bones"))
            }
            PlacedBones::Derived(_) => (!self.drivers.is_empty()).then(|| {
                let driven = self.driven_count();
                count(
                    driven,
                    "shape that follows the pose",
                    "shapes that follow the pose",
                )
            }),
        }
    }

    /// Whether the skin shows exactly the rest shape in the rest pose. Proxy bones are predicted there, too, and the
    /// prediction may be a little off.
    pub fn keeps_rest_shape(&self) -> bool {
        self.proxies().is_none()
    }

    /// Checks the program against the skeleton and the number of coefficients of its skin.
    ///
    /// # Errors
    /// [`SkinError::Rig`] for bones and [`SkinError::PoseSpace`] for drivers that do not fit, and
    /// [`SkinError::CountMismatch`] when there are fewer coefficients than outputs of drivers.
    pub fn check(&self, skeleton: &Skeleton, coefficient_count: usize) -> Result<(), SkinError> {
        match &self.placed {
            PlacedBones::Derived(derived) => check_derived(skeleton, derived)?,
            PlacedBones::Proxies(proxies) => proxies.check(skeleton)?,
        }
        let outputs = self.driven_count();
        let Some(posed) = coefficient_count.checked_sub(outputs) else {
            return Err(SkinError::CountMismatch {
                what: "coefficients to drive",
                expected: outputs,
                found: coefficient_count,
            });
        };
        for driver in &self.drivers {
            driver.check(skeleton.bone_count(), posed)?;
        }
        Ok(())
    }

    /// A pose with all bones, whether the input had the placed ones or left them out.
    ///
    /// # Errors
    /// [`RigError::CountMismatch`] when the pose has neither all bones nor exactly the posed ones.
    pub fn complete(&self, skeleton: &Skeleton, pose: &Pose) -> Result<Pose, RigError> {
        let given = &pose.parent_from_bone;
        Ok(Pose {
            parent_from_bone: match &self.placed {
                PlacedBones::Derived(derived) => complete(skeleton, derived, given)?,
                PlacedBones::Proxies(proxies) => proxies.complete(skeleton, given)?,
            },
            coefficients: pose.coefficients.clone(),
        })
    }

    /// Overwrites the driven coefficients in a list of all. The pose must have all bones.
    pub fn drive(
        &self,
        skeleton: &Skeleton,
        parent_from_bone: &[DAffine3],
        coefficients: &mut [f64],
    ) {
        let mut next = coefficients.len() - self.driven_count();
        for driver in &self.drivers {
            let point = driver.point(skeleton, parent_from_bone, coefficients);
            for output in driver.evaluate(&point) {
                coefficients[next] = output;
                next += 1;
            }
        }
    }

    /// The same program in a moved model space.
    ///
    /// Derived bones and drivers depend on angles only and do not change. Turns that proxies read are in the axes of
    /// model space, and turn with it.
    #[must_use]
    pub fn moved(&self, by: &Similarity) -> Self {
        Self {
            placed: match &self.placed {
                PlacedBones::Derived(derived) => PlacedBones::Derived(derived.clone()),
                PlacedBones::Proxies(proxies) => PlacedBones::Proxies(by.proxies(proxies)),
            },
            drivers: self.drivers.clone(),
        }
    }

    /// Every bone that the program reads or places; some are listed more than once.
    pub fn named_bones(&self, skeleton: &Skeleton) -> Vec<BoneId> {
        let mut named: Vec<BoneId> = match &self.placed {
            PlacedBones::Derived(derived) => derived.iter().flat_map(|d| [d.bone, d.of]).collect(),
            PlacedBones::Proxies(proxies) => {
                let placed = proxies.bones.iter().copied();
                placed.chain(proxies.read_bones()).collect()
            }
        };
        for control in self.drivers.iter().flat_map(|driver| &driver.controls) {
            if let Control::Joint { bone, .. } = *control {
                // The turn is measured from the rest transforms of the bone and its parent.
                named.push(bone);
                named.extend(skeleton.bones()[bone.index()].parent);
            }
        }
        named
    }

    /// How many bones get keys of their own when poses become a clip: all but proxies and their carriers, which
    /// are baked.
    pub(super) fn keyed_bone_count(&self, skeleton: &Skeleton) -> usize {
        match &self.placed {
            PlacedBones::Derived(_) => skeleton.bone_count(),
            PlacedBones::Proxies(proxies) => skeleton.bone_count() - proxies.unposed_bone_count(),
        }
    }

    /// The bones on which the places of proxies depend, with all their ancestors.
    pub(super) fn read_by_proxies(&self, skeleton: &Skeleton) -> Vec<BoneId> {
        let bones = skeleton.bones();
        let mut is_read = vec![false; bones.len()];
        for named in self.proxies().into_iter().flat_map(ProxyBones::read_bones) {
            let mut next = Some(named);
            while let Some(bone) = next.filter(|bone| !is_read[bone.index()]) {
                is_read[bone.index()] = true;
                next = bones[bone.index()].parent;
            }
        }
        (skeleton.ids())
            .filter(|bone| is_read[bone.index()])
            .collect()
    }

    /// For each placed bone, the posed bones whose motion it mostly follows; some may be listed twice.
    pub fn followed_bones(&self) -> Vec<Vec<BoneId>> {
        match &self.placed {
            PlacedBones::Derived(derived) => derived.iter().map(|d| vec![d.of]).collect(),
            PlacedBones::Proxies(proxies) => {
                // A proxy and its carrier follow the same bones.
                let followed = (0..proxies.bones.len()).map(|m| proxies.followed_bones(m));
                followed.flat_map(|bones| [bones.clone(), bones]).collect()
            }
        }
    }
}

impl Skin {
    /// A skin with derived bones: the last bones of its skeleton, in the order of the list.
    ///
    /// Each follows the joint of a posed bone. One that turns part of the way must have the same parent as the bone
    /// that it follows (or, like it, none); one that swells may have any posed bone as its parent, or none.
    ///
    /// # Errors
    /// As [`Skin::new`], and [`RigError::BadDerivedBone`].
    pub fn with_derived(
        skeleton: Skeleton,
        program: VertexProgram,
        coefficients: Vec<Coefficient>,
        derived: Vec<DerivedBone>,
    ) -> Result<Self, SkinError> {
        check_derived(&skeleton, &derived)?;
        let mut skin = Self::new(skeleton, program, coefficients)?;
        skin.pose_program.placed = PlacedBones::Derived(derived);
        Ok(skin)
    }

    /// The skin without its pose program: every bone and coefficient comes from the pose, as in a player that cannot
    /// compute them.
    #[must_use]
    pub fn without_pose_program(&self) -> Self {
        Self {
            pose_program: PoseProgram::default(),
            ..self.clone()
        }
    }

    /// How many bones a pose must give: those that are not placed.
    pub fn posed_bone_count(&self) -> usize {
        self.skeleton.bone_count() - self.pose_program.placed_bone_count()
    }

    /// How many coefficients a pose gives: those that are not driven.
    pub fn posed_coefficient_count(&self) -> usize {
        self.coefficients.len() - self.pose_program.driven_count()
    }

    /// A pose with every placed bone computed, for engines that cannot place them.
    ///
    /// # Errors
    /// [`SkinError::Rig`] when the pose has neither all bones nor exactly the posed ones.
    pub fn complete_pose(&self, pose: &Pose) -> Result<Pose, SkinError> {
        Ok(self.pose_program.complete(&self.skeleton, pose)?)
    }
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DQuat, DVec3};

    use super::*;
    use crate::clip::{Channel, Clip, Interpolation, Keys};
    use crate::rig::{BoneId, DerivedMotion};
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
    fn values_given_for_derived_bones_are_ignored() {
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
            "the number of posed bones"
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
        assert_eq!(
            baked.channels[0], clip.channels[0],
            "channels of posed bones are unchanged"
        );
        assert_eq!(
            baked.channels.len(),
            3,
            "one rotation, one scale, no other channels"
        );
        assert_eq!(baked.channels[1].times().len(), 31, "thirty keys a second");

        // A skin without the knowledge that its bones are derived.
        let plain = skin.without_pose_program();
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
            "baking twice replaces channels"
        );
        let empty = Clip {
            name: "still".to_owned(),
            channels: Vec::new(),
        };
        assert_eq!(skin.bake(&empty), Ok(empty.clone()), "nothing to add");
    }

    #[test]
    fn an_invalid_list_of_derived_bones_is_refused_with_the_bone() {
        let parts = skin();
        let mut derived = parts.pose_program.derived().to_vec();
        derived.swap(0, 1);
        let error = Skin::with_derived(parts.skeleton, parts.program, parts.coefficients, derived)
            .expect_err("out of order");
        assert!(error.to_string().contains("derived bone 3"), "{error}");
    }
}
