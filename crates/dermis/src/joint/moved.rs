//! Joint statistics and limits of a character that is moved, turned or scaled as a whole.

use glam::DQuat;

use super::{JointLimits, JointStatistics, TurnLimits};
use crate::rig::{Similarity, Skeleton};

impl Similarity {
    /// The moved statistics of a joint.
    pub fn statistics(&self, skeleton: &Skeleton, seen: &JointStatistics) -> JointStatistics {
        let is_root = skeleton.bones()[seen.bone.index()].parent.is_none();
        let turn = if is_root {
            self.rotation()
        } else {
            DQuat::IDENTITY
        };
        JointStatistics {
            mean_parent_from_bone: self.local(&seen.mean_parent_from_bone, is_root),
            translation_deviation: self.scale() * seen.translation_deviation,
            translation_radius: seen.translation_radius.map(|r| self.scale() * r),
            mean_rotation: (turn * seen.mean_rotation).normalize(),
            ..seen.clone()
        }
    }

    /// The moved limits of a joint.
    pub fn limits(&self, skeleton: &Skeleton, limits: &JointLimits) -> JointLimits {
        let is_root = skeleton.bones()[limits.bone.index()].parent.is_none();
        let translation = match is_root {
            true => self.point(limits.translation),
            false => self.scale() * limits.translation,
        };
        let mut turn = limits.turn;
        if is_root
            && let TurnLimits::Hinge { center, .. }
            | TurnLimits::Cone { center, .. }
            | TurnLimits::SwingTwist { center, .. } = &mut turn
        {
            *center = (self.rotation() * *center).normalize();
        }
        JointLimits {
            translation,
            translation_radius: self.scale() * limits.translation_radius,
            turn,
            ..limits.clone()
        }
    }
}
