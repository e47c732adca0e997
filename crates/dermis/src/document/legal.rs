//! Which poses of a file are legal, and which it shows.

use super::{AssumedPoses, Document, EditError};
use crate::bounds::complete_limits;
use crate::clip::Clip;
use crate::joint::{JointLimits, JointStatistics, LegalPoses, TurnLimits};
use crate::lod::LodError;
use crate::rig::{Pose, RigError};
use crate::skin::{ShownError, ShownPoses, Skin, SkinError};

impl Document {
    /// Every pose that the document shows, clip by clip; poses of frames count as one. Nothing without a skin.
    ///
    /// # Errors
    /// As [`Skin::shown_poses`](crate::Skin::shown_poses).
    pub fn shown_poses(&self) -> Result<Vec<ShownPoses>, ShownError> {
        let Some(skin) = &self.skin else {
            return Ok(Vec::new());
        };
        let clips = self.clips.iter().map(|clip| skin.shown_poses(clip));
        let mut shown = clips.collect::<Result<Vec<_>, _>>()?;
        if !self.frame_poses.is_empty() {
            let poses = self.frame_poses.iter().map(|pose| skin.complete_pose(pose));
            shown.push(ShownPoses {
                poses: poses.collect::<Result<_, _>>()?,
                is_key: vec![true; self.frame_poses.len()],
            });
        }
        Ok(shown)
    }

    /// What the joints of the document's skin may do, and where that comes from: the limits in its record, the
    /// statistics in it, or nothing, which allows every rotation. `seen` is what joints do in the poses that it shows.
    pub fn legal_limits(&self, seen: &[JointStatistics]) -> (Vec<JointLimits>, AssumedPoses) {
        let free = (self.skin.as_ref()).map(|skin| skin.free_limits(seen));
        let mut limits = free.unwrap_or_default();
        let Some(record) = &self.record else {
            return (limits, AssumedPoses::AnyRotation);
        };
        let known: Vec<JointLimits> = match record.limits.is_empty() {
            false => record.limits.clone(),
            true => record
                .joints
                .iter()
                .map(JointLimits::from_statistics)
                .collect(),
        };
        for joint in &known {
            if let Some(limits) = limits.get_mut(joint.bone.index()) {
                limits.clone_from(joint);
            }
        }
        // Statistics over all rotations are written with limits that restrict nothing.
        let free = |joint: &JointLimits| matches!(joint.turn, TurnLimits::Free);
        let kind = match (record.limits.is_empty(), record.joints.is_empty()) {
            (false, _) if record.limits.iter().all(free) => AssumedPoses::AnyRotation,
            (false, _) => AssumedPoses::Limits,
            (true, false) => AssumedPoses::Seen,
            (true, true) => AssumedPoses::AnyRotation,
        };
        (limits, kind)
    }

    /// Turns the poses of frames into a clip, for files that have a skin and no frames beside it.
    ///
    /// With a rate they are a motion of so many frames a second, without one poses that are held for a second each.
    /// Frames without poses are dropped; a document without a skin stays as it is.
    ///
    /// # Errors
    /// As [`Clip::from_poses`]; the document is as it was then.
    pub fn frames_to_clip(&mut self, frames_per_second: Option<f64>) -> Result<(), RigError> {
        let Some(skin) = &self.skin else {
            return Ok(());
        };
        if !self.frame_poses.is_empty() {
            let (skeleton, poses) = (&skin.skeleton, &self.frame_poses);
            self.clips.push(match frames_per_second {
                Some(fps) => Clip::from_poses("frames", skeleton, poses, fps)?,
                None => Clip::from_held_poses("poses", skeleton, poses)?,
            });
        }
        self.frames.clear();
        self.frame_poses.clear();
        Ok(())
    }
}

/// Legal poses that are drawn where a document shows none.
const DRAWN_POSES: usize = 64;

/// Poses within limits, spread over them.
pub(super) fn poses_within(skin: &Skin, limits: &[JointLimits]) -> Result<Vec<Pose>, EditError> {
    let all = complete_limits(skin, limits).map_err(LodError::from)?;
    let drawn = LegalPoses::new(&skin.skeleton, &all, 0.5, 1).map_err(SkinError::from)?;
    Ok(drawn.take(DRAWN_POSES).collect())
}

/// At most so many of `count` numbers from 0, evenly spaced, the first and the last among them.
pub(super) fn evenly(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let taken = count.min(most);
    (0..taken).map(move |k| match taken {
        1 => 0,
        _ => k * (count - 1) / (taken - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Frame, SkinRecord};
    use crate::joint::free_joints;
    use crate::synth::{TubeOptions, tube};

    /// A tube with the frames that it was made from.
    fn document() -> Document {
        let made = tube(&TubeOptions::default());
        let examples = made.examples.examples();
        let frame = |example: &crate::Example| Frame {
            name: example.name.clone(),
            positions: example.positions.clone(),
        };
        Document {
            mesh: made.examples.rest().clone(),
            frames: examples.iter().map(frame).collect(),
            frame_poses: examples.iter().map(|e| e.pose.clone()).collect(),
            skin: Some(made.truth),
            ..Document::default()
        }
    }

    #[test]
    fn poses_of_frames_become_a_clip() {
        let mut moving = document();
        let count = moving.frames.len();
        moving.frames_to_clip(Some(10.0)).expect("rigid poses");
        assert!(
            moving.frames.is_empty() && moving.frame_poses.is_empty(),
            "none left"
        );
        let [clip] = &moving.clips[..] else {
            panic!("one clip: {:?}", moving.clips);
        };
        assert_eq!(clip.name, "frames", "a motion");
        let length = clip.end() - clip.start();
        assert!(
            (length - (count - 1) as f64 / 10.0).abs() < 1e-9,
            "{length} s"
        );
        let mut held = document();
        held.frames_to_clip(None).expect("rigid poses");
        assert!(held.clips[0].is_held(), "a second each");
        let mut still = Document {
            skin: None,
            ..document()
        };
        still.frames_to_clip(None).expect("nothing to do");
        assert_eq!(still.frames.len(), count, "frames without a skin stay");
    }

    #[test]
    fn legal_poses_come_from_limits_then_statistics_then_nothing() {
        let mut document = document();
        let shown = document.shown_poses().expect("a few poses");
        assert_eq!(shown.len(), 1, "the frames are one motion");
        let skin = document.skin.clone().expect("a tube has a skin");
        let seen = skin.joint_statistics(&shown[0].poses);
        let kind = |document: &Document| document.legal_limits(&seen).1;
        assert_eq!(kind(&document), AssumedPoses::AnyRotation, "no record");
        let mut record = SkinRecord {
            joints: seen.clone(),
            ..SkinRecord::default()
        };
        document.record = Some(record.clone());
        assert_eq!(kind(&document), AssumedPoses::Seen, "statistics");
        record.limits = free_joints(&skin.skeleton);
        document.record = Some(record.clone());
        assert_eq!(kind(&document), AssumedPoses::AnyRotation, "free limits");
        let rest = skin.skeleton.rest_pose().parent_from_bone;
        record.limits[1] = JointLimits::fixed(record.limits[1].bone, &rest[1]);
        document.record = Some(record);
        let (limits, kind) = document.legal_limits(&seen);
        assert_eq!(kind, AssumedPoses::Limits, "limits");
        assert_eq!(limits[1].turn.largest_angle_rad(), 0.0, "as recorded");
    }
}
