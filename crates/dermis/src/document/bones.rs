//! The bones of a document, with what is known of each.

use super::Document;
use crate::joint::{JointMotion, JointStatistics, TurnLimits, joint_statistics};
use crate::rig::{BoneId, Skeleton};
use crate::skin::{ShownError, ShownPoses};

/// What a document says about one bone.
#[derive(Debug, Clone, PartialEq)]
pub struct BoneSummary {
    /// Its name; need not be unique.
    pub name: String,
    /// The bone that it hangs from; `None` for a root.
    pub parent: Option<BoneId>,
    /// How many bones are above it.
    pub depth: usize,
    /// How many points of the mesh it moves, alone or with others.
    pub vertex_count: usize,
    /// How its joint turns in what the document shows; `None` where that is not known.
    pub motion: Option<JointMotion>,
    /// How its joint may turn, where the document says so.
    pub limits: Option<TurnLimits>,
}

impl Document {
    /// The bones of the skin, or of the skeleton when there is no skin, in their order; none without either.
    ///
    /// # Errors
    /// As [`Document::shown_poses`].
    pub fn bone_summaries(&self) -> Result<Vec<BoneSummary>, ShownError> {
        let Some(skeleton) = self.any_skeleton() else {
            return Ok(Vec::new());
        };
        let mut bones: Vec<BoneSummary> = Vec::with_capacity(skeleton.bone_count());
        for bone in skeleton.bones() {
            bones.push(BoneSummary {
                name: bone.name.clone(),
                parent: bone.parent,
                depth: (bone.parent).map_or(0, |parent| 1 + bones[parent.index()].depth),
                vertex_count: 0,
                motion: None,
                limits: None,
            });
        }
        for bone in self.skin.iter().flat_map(|skin| skin.program.bones()) {
            bones[bone.index()].vertex_count += 1;
        }
        for (bone, motion) in self.joint_motions()? {
            bones[bone.index()].motion = Some(motion);
        }
        for limits in self.record.iter().flat_map(|record| &record.limits) {
            if let Some(bone) = bones.get_mut(limits.bone.index()) {
                bone.limits = Some(limits.turn);
            }
        }
        Ok(bones)
    }

    /// How joints turn: in all clips and frames that the document shows; without any, as its record has it.
    ///
    /// # Errors
    /// As [`Document::shown_poses`].
    pub fn joint_motions(&self) -> Result<Vec<(BoneId, JointMotion)>, ShownError> {
        let Some(skeleton) = self.any_skeleton() else {
            return Ok(Vec::new());
        };
        let shown = match &self.skin {
            Some(skin) => skin.joint_statistics(&ShownPoses::all(&self.shown_poses()?)),
            None => joint_statistics(skeleton, &self.frame_poses),
        };
        let recorded = (self.record.iter())
            .flat_map(|record| &record.joints)
            .filter(|joint| joint.bone.index() < skeleton.bone_count());
        let motion = |joint: &JointStatistics| (joint.bone, joint.motion(skeleton));
        Ok(match shown.is_empty() {
            true => recorded.map(motion).collect(),
            false => shown.iter().map(motion).collect(),
        })
    }

    fn any_skeleton(&self) -> Option<&Skeleton> {
        let of_skin = self.skin.as_ref().map(|skin| &skin.skeleton);
        of_skin.or(self.skeleton.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::SkinRecord;
    use crate::joint::free_joints;
    use crate::synth::{TubeOptions, tube};

    fn document() -> Document {
        let made = tube(&TubeOptions::default());
        let examples = made.examples.examples();
        Document {
            mesh: made.examples.rest().clone(),
            skin: Some(made.truth),
            frame_poses: examples.iter().map(|e| e.pose.clone()).collect(),
            ..Document::default()
        }
    }

    #[test]
    fn bones_know_their_depth_and_how_much_they_move() {
        let document = document();
        let bones = document.bone_summaries().expect("a few poses");
        let depths: Vec<usize> = bones.iter().map(|bone| bone.depth).collect();
        assert_eq!(depths, (0..bones.len()).collect::<Vec<_>>(), "a chain");
        let program = &document.skin.as_ref().expect("a skin").program;
        for (j, bone) in bones.iter().enumerate() {
            let moved = (0..document.mesh.vertex_count())
                .filter(|&i| program.bones_of(i).any(|b| b.index() == j))
                .count();
            assert_eq!(bone.vertex_count, moved, "{}", bone.name);
            assert!(bone.limits.is_none(), "the file has none");
        }
    }

    #[test]
    fn without_clips_the_record_says_how_joints_turn_and_limits_are_its_own() {
        let mut document = document();
        let shown = document.joint_motions().expect("a few poses");
        assert!(!shown.is_empty(), "frames are poses");
        let skin = document.skin.clone().expect("a skin");
        document.record = Some(SkinRecord {
            joints: skin.joint_statistics(&document.frame_poses),
            limits: free_joints(&skin.skeleton),
            ..SkinRecord::default()
        });
        document.frame_poses.clear();
        let bones = document.bone_summaries().expect("no poses");
        for (bone, motion) in &shown {
            assert_eq!(bones[bone.index()].motion, Some(*motion), "as recorded");
        }
        assert!(
            bones.iter().all(|b| b.limits == Some(TurnLimits::Free)),
            "as the record says"
        );
        document.skin = None;
        assert!(
            document.bone_summaries().expect("nothing").is_empty(),
            "no bones"
        );
    }
}
