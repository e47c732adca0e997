//! Poses of one skeleton on another: bones are the same when their names are.

use super::{Document, DocumentError};
use crate::rig::{BoneId, Pose, Skeleton};

/// Poses for a skeleton, and what did not match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatchedPoses {
    /// A pose each, in the order of the source.
    pub poses: Vec<Pose>,
    /// Bones of the source that the skeleton has not.
    pub unmatched: Vec<String>,
    /// Bones of the skeleton that the source has not: they stay as they are by default.
    pub still: Vec<String>,
}

/// Poses that were made for one skeleton, given to another.
///
/// ```
/// use dermis::document::poses_by_name;
///
/// let tube = dermis::synth::tube(&Default::default());
/// let skeleton = tube.examples.skeleton();
/// let poses: Vec<_> = tube.examples.examples().iter().map(|e| e.pose.clone()).collect();
/// let found = poses_by_name(skeleton, &poses, skeleton)?;
/// assert_eq!(found.poses, poses);
/// # Ok::<(), dermis::document::PosesError>(())
/// ```
///
/// # Errors
/// [`PosesError`].
pub fn poses_by_name(
    source: &Skeleton,
    poses: &[Pose],
    skeleton: &Skeleton,
) -> Result<MatchedPoses, PosesError> {
    let name = |skeleton: &Skeleton, bone: BoneId| skeleton.bones()[bone.index()].name.clone();
    let of_name = |name: &str| {
        source
            .ids()
            .find(|id| source.bones()[id.index()].name == name)
    };
    let matches: Vec<Option<BoneId>> = (skeleton.bones().iter())
        .map(|bone| of_name(&bone.name))
        .collect();
    if matches.iter().all(Option::is_none) {
        let names = |skeleton: &Skeleton| skeleton.ids().map(|id| name(skeleton, id)).collect();
        return Err(PosesError::NothingMatches {
            given: names(source),
            own: names(skeleton),
        });
    }
    for (bone, found) in skeleton.bones().iter().zip(&matches) {
        let Some(found) = found else {
            continue;
        };
        let parent = bone.parent.map(|parent| name(skeleton, parent));
        let given = source.bones()[found.index()].parent;
        let given = given.map(|parent| name(source, parent));
        // A pose says where a bone is in its parent: in another parent it would be elsewhere.
        if parent != given {
            return Err(PosesError::OtherParent {
                bone: bone.name.clone(),
                given,
                parent,
            });
        }
    }
    let default = skeleton.default_pose();
    let posed = |pose: &Pose| {
        let local = |(found, default): (&Option<BoneId>, &glam::DAffine3)| {
            let given = found.and_then(|id| pose.parent_from_bone.get(id.index()));
            given.copied().unwrap_or(*default)
        };
        Pose::new(
            matches
                .iter()
                .zip(&default.parent_from_bone)
                .map(local)
                .collect(),
        )
    };
    let is_matched = |id: &BoneId| matches.contains(&Some(*id));
    Ok(MatchedPoses {
        poses: poses.iter().map(posed).collect(),
        unmatched: (source.ids().filter(|id| !is_matched(id)))
            .map(|id| name(source, id))
            .collect(),
        still: (skeleton.bones().iter().zip(&matches))
            .filter(|(_, found)| found.is_none())
            .map(|(bone, _)| bone.name.clone())
            .collect(),
    })
}

/// Why poses cannot be given to a skeleton.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PosesError {
    /// No name is that of a bone of the skeleton.
    #[error(
        "none of its bones ({}) has the name of one of {}",
        few(given),
        few(own)
    )]
    NothingMatches {
        /// Bones that poses are given for.
        given: Vec<String>,
        /// Bones of the skeleton.
        own: Vec<String>,
    },
    /// A bone hangs on another one.
    #[error(
        "bone '{bone}' {}, but it {} where the poses should go: the hierarchies must be the same",
        hangs(given),
        hangs(parent)
    )]
    OtherParent {
        /// The bone.
        bone: String,
        /// Its parent where the poses come from.
        given: Option<String>,
        /// Its parent where they should go.
        parent: Option<String>,
    },
}

fn few(names: &[String]) -> String {
    match names.len() {
        0..=6 => names.join(", "),
        more => format!("{} and {} more", names[..6].join(", "), more - 6),
    }
}

fn hangs(parent: &Option<String>) -> String {
    match parent {
        Some(parent) => format!("hangs on '{parent}'"),
        None => "has no parent".to_owned(),
    }
}

impl Document {
    /// The poses of another document's frames, for this one's skeleton; without those of bones that its skin computes.
    ///
    /// # Errors
    /// [`DocumentError::NoSkeleton`], [`DocumentError::NoFramePoses`] and [`DocumentError::OtherBones`].
    pub fn poses_from(&self, source: &Self) -> Result<MatchedPoses, DocumentError> {
        let skeleton = self.expect_skeleton()?;
        if source.frame_poses.is_empty() {
            return Err(DocumentError::NoFramePoses {
                path: source.path.clone(),
            });
        }
        let mut found = poses_by_name(source.expect_skeleton()?, &source.frame_poses, skeleton)
            .map_err(|problem| DocumentError::OtherBones {
                path: source.path.clone(),
                other: self.path.clone(),
                problem,
            })?;
        if let Some(skin) = &self.skin {
            let posed = skin.posed_bone_count();
            let computed: Vec<&str> = (skeleton.bones().iter().skip(posed))
                .map(|bone| bone.name.as_str())
                .collect();
            for pose in &mut found.poses {
                pose.parent_from_bone.truncate(posed);
            }
            found
                .still
                .retain(|name| !computed.contains(&name.as_str()));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::testing::tube_with_frames;
    use crate::rig::Bone;

    fn skeleton_of(bones: &[Bone]) -> Skeleton {
        Skeleton::new(bones.to_vec()).expect("parents first")
    }

    #[test]
    fn bones_are_found_by_name_and_others_stay() {
        let tube = tube_with_frames();
        let source = tube.expect_skeleton().expect("bones");
        let mut bones = source.bones().to_vec();
        bones[2].name = "tail".to_owned();
        let skeleton = skeleton_of(&bones);
        let found = poses_by_name(source, &tube.frame_poses, &skeleton).expect("two of three");
        assert_eq!(found.unmatched, ["bone_2"], "of the source");
        assert_eq!(found.still, ["tail"], "of the skeleton");
        let pose = &found.poses[3].parent_from_bone;
        let given = &tube.frame_poses[3].parent_from_bone;
        assert_eq!(pose[..2], given[..2], "as given");
        assert_eq!(
            pose[2],
            skeleton.default_pose().parent_from_bone[2],
            "as it was"
        );
    }

    #[test]
    fn other_names_and_other_parents_are_refused_in_words() {
        let tube = tube_with_frames();
        let source = tube.expect_skeleton().expect("bones");
        let mut bones = source.bones().to_vec();
        bones[2].parent = bones[1].parent;
        let error = poses_by_name(source, &tube.frame_poses, &skeleton_of(&bones));
        assert_eq!(
            error.expect_err("another parent").to_string(),
            "bone 'bone_2' hangs on 'bone_1', but it hangs on 'bone_0' where the poses should go: the hierarchies must be \
             the same",
            "both are named"
        );
        for bone in &mut bones {
            bone.name.insert(0, 'x');
        }
        let error = poses_by_name(source, &tube.frame_poses, &skeleton_of(&bones));
        assert_eq!(
            error.expect_err("other names").to_string(),
            "none of its bones (bone_0, bone_1, bone_2) has the name of one of xbone_0, xbone_1, xbone_2",
            "both are named"
        );
    }

    #[test]
    fn a_document_poses_its_skin_by_the_poses_of_another() {
        let tube = tube_with_frames();
        let skinned = Document {
            frames: Vec::new(),
            frame_poses: Vec::new(),
            ..tube.clone()
        };
        let found = skinned.poses_from(&tube).expect("the same bones");
        assert_eq!(found.poses, tube.frame_poses, "as they are");
        let error = tube.poses_from(&skinned).expect_err("no poses");
        assert!(
            matches!(error, DocumentError::NoFramePoses { .. }),
            "{error}"
        );
    }
}
