//! What the joints of a skin do in motions, and what they may do.

use super::{Skin, SkinError};
use crate::clip::Clip;
use crate::joint::{JointLimits, JointStatistics, TurnLimits, free_joints, joint_statistics};
use crate::limits::{TooLarge, check_memory};
use crate::rig::Pose;

/// Longest time between two poses that a clip is seen in, in seconds.
const STEP: f64 = 1.0 / 60.0;
/// Most poses between two keys.
const MOST_BETWEEN_KEYS: f64 = 10_000.0;

/// Poses in the order in which they are shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShownPoses {
    /// With all bones and coefficients.
    pub poses: Vec<Pose>,
    /// Whether the motion may turn a corner at a pose: keys of a clip. Between them it is smooth.
    pub is_key: Vec<bool>,
}

impl ShownPoses {
    /// The poses of several motions.
    pub fn all(shown: &[Self]) -> Vec<Pose> {
        shown.iter().flat_map(|one| &one.poses).cloned().collect()
    }
}

/// Why the poses of a clip cannot be listed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShownError {
    /// The clip does not belong to the skin.
    #[error(transparent)]
    Skin(#[from] SkinError),
    /// There are too many.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

impl Skin {
    /// A clip at every key, and in between at least once, and at least sixty times a second.
    ///
    /// Between keys of lines a joint stays between the two, so limits taken at keys hold in between.
    ///
    /// # Errors
    /// [`ShownError::TooLarge`] for clips that are too long.
    pub fn shown_poses(&self, clip: &Clip) -> Result<ShownPoses, ShownError> {
        let mut keys: Vec<f64> = clip
            .channels
            .iter()
            .flat_map(|c| c.times())
            .copied()
            .collect();
        keys.sort_by(f64::total_cmp);
        keys.dedup();
        let parts = |pair: &[f64]| {
            ((pair[1] - pair[0]) / STEP)
                .ceil()
                .clamp(2.0, MOST_BETWEEN_KEYS) as usize
        };
        let count: usize = keys.windows(2).map(parts).sum();
        // Once for each clip, and once for all of them.
        let pose_bytes = 2 * (96 * self.skeleton.bone_count() + 8 * self.coefficients.len());
        let what = || format!("{count} poses of clip {}", clip.name);
        check_memory(
            &[count as u64, pose_bytes as u64],
            what,
            "cut the clip or leave out keys",
        )?;
        let mut times: Vec<(f64, bool)> = Vec::new();
        for pair in keys.windows(2) {
            let gap = pair[1] - pair[0];
            let parts = parts(pair);
            times.push((pair[0], true));
            times.extend((1..parts).map(|n| (pair[0] + gap * n as f64 / parts as f64, false)));
        }
        times.push((keys.last().copied().unwrap_or(0.0), true));
        let pose = |&(time, _): &(f64, bool)| self.complete_pose(&self.sample(clip, time));
        Ok(ShownPoses {
            poses: times.iter().map(pose).collect::<Result<_, _>>()?,
            is_key: times.iter().map(|(_, is_key)| *is_key).collect(),
        })
    }

    /// Statistics over some poses, of every bone that a joint moves: proxy bones are placed by predictions.
    pub fn joint_statistics(&self, poses: &[Pose]) -> Vec<JointStatistics> {
        let unposed = (self.pose_program.proxies()).map_or(0, |p| p.unposed_bone_count());
        let mut joints = joint_statistics(&self.skeleton, poses);
        joints.retain(|joint| joint.bone.index() + unposed < self.skeleton.bone_count());
        joints
    }

    /// Every rotation of every joint that a pose moves; joints that were seen slide and stretch as far as they did.
    pub fn free_limits(&self, seen: &[JointStatistics]) -> Vec<JointLimits> {
        let mut limits = free_joints(&self.skeleton);
        for joint in seen {
            limits[joint.bone.index()] = JointLimits {
                turn: TurnLimits::Free,
                ..JointLimits::from_statistics(joint)
            };
        }
        limits.truncate(self.posed_bone_count());
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{TubeOptions, tube};

    #[test]
    fn a_clip_is_seen_at_its_keys_and_often_enough_between_them() {
        let made = tube(&TubeOptions::default());
        let examples = made.examples.examples().iter();
        let poses: Vec<Pose> = examples.map(|example| example.pose.clone()).collect();
        let skin = &made.truth;
        let clip = Clip::from_poses("slow", &skin.skeleton, &poses[..3], 2.0).expect("a motion");
        let shown = skin.shown_poses(&clip).expect("a short clip");
        // Two gaps of half a second, thirty steps each, and the last key.
        assert_eq!(shown.poses.len(), 61, "sixty times a second");
        let keys = shown.is_key.iter().filter(|is_key| **is_key).count();
        assert_eq!(keys, 3, "each key once");
        assert!(
            shown.is_key[0] && shown.is_key[30] && shown.is_key[60],
            "at its place"
        );
        let fast = Clip::from_poses("fast", &skin.skeleton, &poses[..3], 120.0).expect("a motion");
        let shown = skin.shown_poses(&fast).expect("a short clip");
        assert_eq!(
            shown.is_key,
            [true, false, true, false, true],
            "at least once in between"
        );
    }

    #[test]
    fn free_limits_keep_how_far_joints_slid() {
        let made = tube(&TubeOptions::default());
        let skin = &made.truth;
        let mut far = skin.skeleton.rest_pose();
        far.parent_from_bone[1].translation.x += 2.0;
        let seen = skin.joint_statistics(&[skin.skeleton.rest_pose(), far]);
        let limits = skin.free_limits(&seen);
        assert_eq!(limits.len(), skin.posed_bone_count(), "one each");
        assert!(
            limits.iter().all(|joint| joint.turn == TurnLimits::Free),
            "every rotation"
        );
        assert!(limits[1].translation_radius >= 1.0, "{:?}", limits[1]);
        assert!(limits[2].translation_radius < 1e-9, "{:?}", limits[2]);
    }
}
