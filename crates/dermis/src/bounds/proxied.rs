//! Bounds for vertices on proxy bones.
//!
//! `G_proxy p` is a sum of predicted motions and source bones, `Σ_ℓ D_ℓ a_ℓ + Σ_s G_s b_s`, with vectors `a_ℓ` and
//! `b_s` that follow from `C1`, `C2` and `p`. A prediction is a motion in the frames of posed bones:
//!
//! ```text
//! D (a, w) = Σ_f w_f N_f (o w + R y, w),   y = X a + x w,   R = exp(ρ_1) exp(ρ_2) …
//! ```
//!
//! So the vertex is a sum over posed bones of vectors known to lie in balls, which are carried to the root
//! like any others. **Why the ball of `R y` holds.** `y` is a constant `y₀` plus, for every joint that is
//! read, a linear and a quadratic function of its turn θ. With `|θ| ≤ α` the linear one is at most its
//! matrix's largest stretch times α; of the quadratic one, the squares of a unit vector's components sum to 1
//! and the products of two are at most ½, so it is at most
//! `α² (max |q_xx|, |q_yy|, |q_zz| + ½ (|q_yz| + |q_xz| + |q_xy|))`. Rotations keep those lengths, and `R y₀`
//! lies in the ball of a cone ([`turned_ball`]), for angles of rotations that follow each other at most add up:
//! `R` turns by no more than `Σ |u| α`.
//!
//! **The largest turn α.** A joint turns by at most `β` in every legal pose. It is read as the vector nearest to the
//! middle `m` of the turns seen, among the vectors that differ by whole turns. When `β + |m| ≤ π` that is the
//! shortest one: any other is longer than `2π − β`, so farther from `m` than `2π − β − |m| ≥ β + |m|`.
//! Otherwise it is no farther from `m` than the shortest is, `β + |m|`, so `|θ| ≤ β + 2 |m|`.

use std::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3, DVec4};

use super::derived::largest_turn;
use super::joint_bound::turned_ball;
use super::propagate::BallTerm;
use crate::joint::{JointLimits, TurnLimits, rotation_and_scales};
use crate::math::largest_stretch;
use crate::mesh::Ball;
use crate::rig::{
    BoneId, JointReading, PatchPredictor, ProxyBones, Skeleton, rest_parent_from_bone,
};
use crate::skin::{Influence, Skin};

/// The proxies of a skin and the largest turns that they may read.
#[derive(Debug)]
pub(super) struct Predicted<'a> {
    skeleton: &'a Skeleton,
    /// The proxies of the skin; without any, terms stay as they are.
    proxies: Option<&'a ProxyBones>,
    /// Bones before this one are posed or derived.
    first_carrier: usize,
    /// Largest turn of each joint that is read.
    turns: Vec<f64>,
}

impl<'a> Predicted<'a> {
    pub(super) fn new(skin: &'a Skin, limits: &[JointLimits]) -> Self {
        let (skeleton, proxies) = (&skin.skeleton, skin.pose_program.proxies());
        let turn = |joint: &JointReading| read_turn(joint, skeleton, limits);
        let joints = proxies.map_or(&[][..], |proxies| &proxies.joints);
        Self {
            skeleton,
            proxies,
            first_carrier: skeleton.bone_count()
                - proxies.map_or(0, ProxyBones::unposed_bone_count),
            turns: joints.iter().map(turn).collect(),
        }
    }

    /// `G s` as a sum over bones that are no proxies.
    pub(super) fn terms(&self, s: &[Influence]) -> Vec<BallTerm> {
        let Some(proxies) = self.proxies else {
            return s.iter().map(BallTerm::point).collect();
        };
        let mut terms: Vec<BallTerm> = Vec::new();
        let (patch_count, source_count) = (proxies.patches.len(), proxies.sources.len());
        let mut of_patches = vec![DVec4::ZERO; patch_count];
        let mut of_sources = vec![DVec4::ZERO; source_count];
        for influence in s {
            let Some(carrier) = influence.bone.index().checked_sub(self.first_carrier) else {
                terms.push(BallTerm::point(influence));
                continue;
            };
            for (column, &share) in influence.p.to_array().iter().enumerate() {
                let row = 4 * (carrier / 2) + column;
                for (sums, matrix) in [
                    (&mut of_patches, &proxies.from_patches),
                    (&mut of_sources, &proxies.from_sources),
                ] {
                    let width = 4 * sums.len();
                    let numbers = matrix[row * width..(row + 1) * width].chunks_exact(4);
                    for (sum, four) in sums.iter_mut().zip(numbers) {
                        *sum += share * DVec4::from_slice(four);
                    }
                }
            }
        }
        let sources = proxies.sources.iter().zip(of_sources);
        terms.extend(sources.map(|(&bone, p)| BallTerm::point(&Influence { bone, p })));
        for (patch, a) in proxies.patches.iter().zip(of_patches) {
            if a != DVec4::ZERO {
                self.add_patch(patch, a, &mut terms);
            }
        }
        terms
    }

    /// Adds `D a`.
    fn add_patch(&self, patch: &PatchPredictor, a: DVec4, terms: &mut Vec<BallTerm>) {
        // The contribution of a row of H to `y`, by its input.
        let stretched = |row: &[f64; 12]| {
            let column = |c: usize| DVec3::from_slice(&row[3 * c..3 * c + 3]);
            (0..4).map(|c| column(c) * a[c]).sum::<DVec3>()
        };
        let rows: Vec<DVec3> = patch.stretch.iter().map(stretched).collect();
        let (constant, by_joint) = rows.split_last().expect("a row for the constant");
        let spread: f64 = (patch.stretch_joints.iter().zip(by_joint.chunks_exact(9)))
            .map(|(&joint, q)| {
                let most = self.turns[usize::from(joint)];
                let linear = largest_stretch(&DMat3::from_cols(q[0], q[1], q[2]));
                let [xx, yy, zz, yz, xz, xy] = std::array::from_fn(|n| q[3 + n].length());
                let squares = xx.max(yy).max(zz) + 0.5 * (yz + xz + xy);
                most * (linear + most * squares)
            })
            .sum();
        let angles = patch
            .turns
            .iter()
            .map(|turn| turn.scale.abs() * self.turns[usize::from(turn.joint)]);
        let cone = TurnLimits::Cone {
            center: DQuat::IDENTITY,
            max_angle_rad: angles.sum::<f64>().min(PI),
        };
        let turned = turned_ball(&cone, *constant);
        for &(bone, weight) in &patch.frame {
            let bone_from_rest = self.skeleton.bones()[bone.index()].bone_from_rest;
            let center = a.w * patch.pivot + turned.center;
            let center = bone_from_rest.matrix3 * center + a.w * bone_from_rest.translation;
            let radius = largest_stretch(&bone_from_rest.matrix3) * (turned.radius + spread);
            terms.push(BallTerm {
                bone: bone.index(),
                ball: Ball {
                    center: weight * center,
                    radius: weight.abs() * radius,
                },
                weight: weight * a.w,
            });
        }
    }
}

/// The largest turn that is read from a joint in any legal pose.
fn read_turn(joint: &JointReading, skeleton: &Skeleton, limits: &[JointLimits]) -> f64 {
    let middle = joint.middle.length();
    let most = legal_turn(joint, skeleton, limits);
    match most + middle <= PI {
        true => most,
        false => most + 2.0 * middle,
    }
}

/// The largest angle of the rotation nearest to `lin(N_a⁻¹ N_b)` in any legal pose: those of the joints between the
/// two, as far as they add up.
fn legal_turn(joint: &JointReading, skeleton: &Skeleton, limits: &[JointLimits]) -> f64 {
    let mut sum = 0.0;
    let mut bone: BoneId = joint.bone;
    while bone != joint.parent {
        let Some(above) = skeleton.bones()[bone.index()].parent else {
            return PI;
        };
        let rest = rest_parent_from_bone(skeleton, bone);
        sum += largest_turn(&limits[bone.index()], &rest);
        // `lin(N_a⁻¹ N_b)` is the turn from rest, seen from model space: as large only if rest shears nothing.
        let rest_above = skeleton.bones()[above.index()].bone_from_rest.matrix3;
        let (_, [least, most]) = rotation_and_scales(&rest_above);
        if (most - least).abs() > 1e-6 * most.abs() || least <= 0.0 {
            return PI;
        }
        bone = above;
    }
    sum.min(PI)
}
