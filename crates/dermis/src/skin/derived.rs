//! The part of a skin's pose program that places bones nobody poses.

use super::{Coefficient, Skin, SkinError, VertexProgram};
use crate::rig::{
    Channel, Clip, DerivedBone, Interpolation, Keys, Pose, ProxyBones, Skeleton, Trs,
    check_derived, complete,
};

/// Longest time between two keys of a baked channel, in seconds.
///
/// Half-way rotations of keys far apart are not the half-way rotations of what lies between them.
const LONGEST_GAP: f64 = 1.0 / 30.0;
/// Most keys that baking adds to a clip; one of more than 36 minutes gets longer gaps instead.
const MOST_ADDED_KEYS: f64 = 65_536.0;
/// Key times nearer to each other than this, in seconds, are one.
const SAME_TIME: f64 = 1e-4;

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

    /// A clip with channels for derived bones and driven coefficients, so that stock engines play them.
    ///
    /// Other channels stay as they are; what already moves a derived bone or a driven coefficient is
    /// replaced. The new ones have a linear key at every key time of the clip, and in between so many that no gap
    /// is longer than a thirtieth of a second (in clips beyond half an hour, than a 65536th of the
    /// clip). They are exact at their keys.
    ///
    /// # Errors
    /// [`SkinError::Rig`] when the clip does not belong to the skin's skeleton.
    pub fn bake(&self, clip: &Clip) -> Result<Clip, SkinError> {
        clip.check(&self.skeleton, self.coefficients.len())?;
        let posed_count = self.posed_bone_count();
        let posed_coefficients = self.posed_coefficient_count();
        let posed_part = |channel: &Channel| match channel {
            Channel::Coefficients(first, _) if *first >= posed_coefficients => None,
            Channel::Coefficients(first, keys) => {
                let mut keys = keys.clone();
                let most = posed_coefficients - first;
                keys.values
                    .iter_mut()
                    .for_each(|value| value.truncate(most));
                Some(Channel::Coefficients(*first, keys))
            }
            bone => (bone.bone())
                .is_none_or(|bone| bone.index() < posed_count)
                .then(|| bone.clone()),
        };
        let mut baked = Clip {
            name: clip.name.clone(),
            channels: clip.channels.iter().filter_map(posed_part).collect(),
        };
        let times = baking_times(&baked);
        let poses = times
            .iter()
            .map(|&time| self.complete_pose(&self.sample(&baked, time)))
            .collect::<Result<Vec<_>, _>>()?;
        for d in &self.derived {
            let default = self.skeleton.bones()[d.bone.index()].default_parent_from_bone;
            let mut locals: Vec<Trs> = Vec::with_capacity(poses.len());
            for pose in &poses {
                let (mut trs, _) = Trs::from_affine(&pose.parent_from_bone[d.bone.index()]);
                // q and -q are one rotation, but the way between two keys is short for only one.
                if locals
                    .last()
                    .is_some_and(|l| l.rotation.dot(trs.rotation) < 0.0)
                {
                    trs.rotation = -trs.rotation;
                }
                locals.push(trs);
            }
            let moves = |part: fn(&Trs) -> [f64; 4]| {
                let parts = |trs: &Trs| part(trs).into_iter().zip(part(&default));
                let differs = |trs| parts(trs).any(|(a, b)| (a - b).abs() > 1e-12);
                locals.iter().any(differs)
            };
            if moves(|l| l.translation.extend(0.0).to_array()) {
                let keys = linear_keys(&times, &locals, |l| l.translation);
                baked.channels.push(Channel::Translation(d.bone, keys));
            }
            if moves(|l| l.rotation.to_array()) {
                let keys = linear_keys(&times, &locals, |l| l.rotation);
                baked.channels.push(Channel::Rotation(d.bone, keys));
            }
            if moves(|l| l.scale.extend(0.0).to_array()) {
                let keys = linear_keys(&times, &locals, |l| l.scale);
                baked.channels.push(Channel::Scale(d.bone, keys));
            }
        }
        if !self.drivers.is_empty() && !times.is_empty() {
            let driven = |pose: &Pose| {
                let mut coefficients = pose.coefficients.clone();
                self.drive(&pose.parent_from_bone, &mut coefficients);
                coefficients.split_off(posed_coefficients)
            };
            let keys = Keys {
                interpolation: Interpolation::Linear,
                times: times.clone(),
                values: poses.iter().map(driven).collect(),
            };
            let channel = Channel::Coefficients(posed_coefficients, keys);
            baked.channels.push(channel);
        }
        Ok(baked)
    }
}

/// The key times of a clip, and more between those that are far apart.
fn baking_times(clip: &Clip) -> Vec<f64> {
    let mut keys: Vec<f64> = clip
        .channels
        .iter()
        .flat_map(Channel::times)
        .copied()
        .collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup_by(|later, earlier| *later - *earlier < SAME_TIME);
    let mut times = Vec::with_capacity(keys.len());
    let duration = keys.last().zip(keys.first()).map_or(0.0, |(b, a)| b - a);
    let longest_gap = LONGEST_GAP.max(duration / MOST_ADDED_KEYS);
    for pair in keys.windows(2) {
        // A gap of a thirtieth, rounded to single precision, is not to be halved.
        let parts = ((pair[1] - pair[0]) / longest_gap - 1e-3).ceil().max(1.0);
        let step = (pair[1] - pair[0]) / parts;
        times.extend((0..parts as usize).map(|part| pair[0] + part as f64 * step));
    }
    times.extend(keys.last());
    times
}

fn linear_keys<T>(times: &[f64], locals: &[Trs], value: fn(&Trs) -> T) -> Keys<T> {
    Keys {
        interpolation: Interpolation::Linear,
        times: times.to_vec(),
        values: locals.iter().map(value).collect(),
    }
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DQuat, DVec3};

    use super::*;
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
