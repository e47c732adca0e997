//! Random skeletons, limits, vectors and poses for the tests of metrics and bounds.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod motion;

use std::f64::consts::{PI, TAU};

use dermis::joint::{JointLimits, LegalPoses, TurnLimits};
use dermis::rig::{BoneId, Pose, Skeleton};
use dermis::skin::Influence;
use glam::{DAffine3, DQuat, DVec3, DVec4};

/// Numbers that look random: splitmix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    pub(crate) fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::from_array(std::array::from_fn(|_| self.between(-size, size)))
    }

    pub(crate) fn rotation(&mut self) -> DQuat {
        let v = self.vector(1.0);
        DQuat::from_scaled_axis(3.0 * v)
    }

    /// A rotation, all equally likely (Shoemake's three numbers).
    pub(crate) fn even_rotation(&mut self) -> DQuat {
        let (u, v, w) = (self.unit(), TAU * self.unit(), TAU * self.unit());
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        DQuat::from_xyzw(a * v.sin(), a * v.cos(), b * w.sin(), b * w.cos()).normalize()
    }

    /// A tree of bones with one root, or two when there is room.
    pub(crate) fn skeleton(&mut self, bone_count: usize) -> Skeleton {
        let bones = (0..bone_count).map(|j| {
            let lonely = j == 0 || (j == 3 && self.unit() < 0.3);
            let parent = (!lonely).then(|| BoneId(self.below(j) as u16));
            let frame = DAffine3::from_rotation_translation(self.rotation(), self.vector(2.0));
            (format!("bone {j}"), parent, frame)
        });
        let bones: Vec<_> = bones.collect();
        Skeleton::from_rest_frames(bones).expect("parents come first")
    }

    /// Limits of every kind about the rest pose. `Rigid` ones neither slide nor stretch.
    pub(crate) fn limits(&mut self, skeleton: &Skeleton, freedom: Freedom) -> Vec<JointLimits> {
        let rest = skeleton.rest_pose();
        (skeleton.ids().zip(&rest.parent_from_bone))
            .map(|(bone, local)| {
                let center = DQuat::from_mat3(&local.matrix3).normalize();
                let axis = self.vector(1.0).normalize();
                let (a, b) = (self.between(-1.5, 1.5), self.between(-1.5, 1.5));
                let turn = match self.below(5) {
                    0 => TurnLimits::Free,
                    1 => TurnLimits::Hinge {
                        center,
                        axis,
                        min_rad: a.min(b),
                        max_rad: a.max(b),
                        wobble_rad: match freedom {
                            Freedom::Loose => 0.1 * self.unit(),
                            _ => 0.0,
                        },
                    },
                    2 => TurnLimits::Cone {
                        center,
                        max_angle_rad: self.between(0.0, PI),
                    },
                    3 => TurnLimits::Cone {
                        center,
                        max_angle_rad: 0.0,
                    },
                    _ => TurnLimits::SwingTwist {
                        center,
                        axis,
                        max_swing_rad: self.between(0.0, PI),
                        min_twist_rad: a.min(b),
                        max_twist_rad: a.max(b),
                    },
                };
                let loose = freedom != Freedom::Rigid;
                let scale = match freedom {
                    Freedom::Stretching | Freedom::Loose => {
                        [self.between(0.5, 1.0), self.between(1.0, 1.5)]
                    }
                    Freedom::Rigid | Freedom::Sliding => [1.0, 1.0],
                };
                JointLimits {
                    bone,
                    translation: local.translation,
                    translation_radius: if loose { self.between(0.0, 0.5) } else { 0.0 },
                    turn,
                    scale_range: scale,
                }
            })
            .collect()
    }

    /// A vector over a few bones whose weights sum to `weight`.
    pub(crate) fn animation_vector(&mut self, bone_count: usize, weight: f64) -> Vec<Influence> {
        let first = self.below(bone_count);
        let count = 1 + self.below(bone_count.min(4));
        let mut terms: Vec<Influence> = (0..count)
            .map(|n| Influence {
                bone: BoneId(((first + n) % bone_count) as u16),
                p: self.vector(1.0).extend(self.between(-0.5, 1.0)),
            })
            .collect();
        let sum: f64 = terms.iter().map(|term| term.p.w).sum();
        terms[0].p += DVec4::W * (weight - sum);
        terms
    }
}

/// How joints may move besides turning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freedom {
    /// Nothing.
    Rigid,
    /// Slide.
    Sliding,
    /// Slide and stretch.
    Stretching,
    /// Slide, stretch, and wobble.
    Loose,
}

/// Legal poses.
pub(crate) fn poses(
    skeleton: &Skeleton,
    limits: &[JointLimits],
    extreme_share: f64,
    count: usize,
) -> Vec<Pose> {
    let poses = LegalPoses::new(skeleton, limits, extreme_share, 11).expect("one limit per bone");
    poses.take(count).collect()
}
