//! Random proxy bones on a skin, for timing and tests: they use everything that a fit may use, and need not
//! look good.

use glam::{DQuat, DVec3};

use crate::rig::{BoneId, JointReading, PatchPredictor, PredictedTurn, ProxyBones, Skeleton};
use crate::skin::{Skin, SsdProgram, VertexProgram, Weight};

/// Sizes of the proxies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyOptions {
    /// Proxy bones; at least 1, default 20.
    pub proxy_count: usize,
    /// Patches, every fourth of them fixed in the frame of a bone; default 20.
    pub patch_count: usize,
    /// Bones whose matrices enter directly; at most all of the skeleton, default 10.
    pub source_count: usize,
    /// Seed of the random numbers; default 1.
    pub seed: u64,
}

impl Default for ProxyOptions {
    fn default() -> Self {
        Self {
            proxy_count: 20,
            patch_count: 20,
            source_count: 10,
            seed: 1,
        }
    }
}

/// The same mesh on a skeleton with proxy bones, to which each vertex gives all influences but its first.
///
/// At rest it is the rest mesh, unless there is neither a patch nor a source, and moving the whole character
/// moves the skin and nothing else: the numbers for the last columns of all patches and sources sum to 0, 0, 0
/// and 1 in the four rows of a proxy. Any bone may act on any proxy, and no number
/// is 0.
///
/// # Panics
/// When the skin is not a linear blend skin, or has derived or proxy bones already.
pub fn proxied(skin: &Skin, options: &ProxyOptions) -> Skin {
    let VertexProgram::Ssd(program) = &skin.program else {
        panic!("proxies can be made up for linear blend skins only");
    };
    let mut chance = RandomNumbers(options.seed);
    let count = options.proxy_count.max(1);
    let rest = &program.rest_positions;
    let centers: Vec<DVec3> = (0..count)
        .map(|m| {
            let vertex = (2 * m + 1) * rest.len() / (2 * count);
            rest.get(vertex).copied().unwrap_or_default()
        })
        .collect();
    let posed = &skin.skeleton;
    let (skeleton, bones) =
        ProxyBones::extend_skeleton(posed, &centers).expect("few enough to be bones");
    let program = SsdProgram {
        weights: (rest.iter().zip(program.weights.iter()))
            .map(|(position, row)| shared_weights(*position, row, &centers, &bones))
            .collect(),
        ..program.clone()
    };
    let joints: Vec<JointReading> = (posed.ids())
        .filter_map(|bone| {
            let parent = posed.bones()[bone.index()].parent?;
            let middle = 0.3 * chance.vector();
            Some(JointReading {
                bone,
                parent,
                middle,
            })
        })
        .collect();
    let patches: Vec<_> = (0..options.patch_count)
        .map(|l| match l % 4 == 3 || joints.is_empty() {
            true => chance.rigid_patch(posed),
            false => chance.patch(posed, joints.len()),
        })
        .collect();
    let source_count = options.source_count.min(posed.bone_count());
    let sources: Vec<BoneId> = (0..source_count)
        .map(|s| BoneId((s * posed.bone_count() / source_count) as u16))
        .collect();
    let (mut from_patches, mut from_sources) = (Vec::new(), Vec::new());
    for center in &centers {
        for column in 0..4 {
            chance.push_row(
                posed,
                (column, *center),
                (&patches, joints.len()),
                &sources,
                &mut from_patches,
                &mut from_sources,
            );
        }
    }
    let proxies = ProxyBones {
        bones,
        joints,
        patches,
        sources,
        from_patches,
        from_sources,
    };
    let mut made = skin.clone();
    made.skeleton = skeleton;
    made.program = VertexProgram::Ssd(program);
    made.with_proxies(proxies).expect("made to fit")
}

/// The weights of a vertex, all but the first given to the nearest proxies.
fn shared_weights(
    position: DVec3,
    row: &[Weight],
    centers: &[DVec3],
    bones: &[BoneId],
) -> Vec<Weight> {
    let mut near: Vec<(f64, BoneId)> = (centers.iter().zip(bones))
        .map(|(center, bone)| (center.distance_squared(position), *bone))
        .collect();
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut given = row.to_vec();
    for (weight, (_, bone)) in given.iter_mut().skip(1).zip(near) {
        weight.bone = bone;
    }
    given
}

/// Numbers that look random and depend on the seed alone (splitmix64).
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() >> 33) as usize % count.max(1)
    }

    /// From −1 to 1.
    fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    fn bone(&mut self, skeleton: &Skeleton) -> BoneId {
        BoneId(self.below(skeleton.bone_count()) as u16)
    }

    /// Numbers whose sum is given, none far from their mean.
    fn shares(&mut self, count: usize, sum: f64) -> Vec<f64> {
        let mean = 1.0 / count.max(1) as f64;
        let mut shares: Vec<f64> = (0..count).map(|_| mean * self.number()).collect();
        let missing = (sum - shares.iter().sum::<f64>()) * mean;
        shares.iter_mut().for_each(|share| *share += missing);
        shares
    }

    /// A patch that moves with a blend of one to three bones.
    fn rigid_patch(&mut self, skeleton: &Skeleton) -> PatchPredictor {
        let middle = self.vector();
        let mut patch = PatchPredictor::rigid(self.bone(skeleton), middle);
        for _ in 0..self.below(3) {
            patch.frame.push((self.bone(skeleton), 0.2));
            patch.frame[0].1 -= 0.2;
        }
        patch
    }

    /// A patch of one or two turns whose stretch depends on up to two joints.
    fn patch(&mut self, skeleton: &Skeleton, joint_count: usize) -> PatchPredictor {
        let mut patch = self.rigid_patch(skeleton);
        patch.pivot = self.vector();
        // The middle stays where it is.
        for (x, pivot) in patch.stretch[0][9..].iter_mut().zip(patch.pivot.to_array()) {
            *x -= pivot;
        }
        for _ in 0..1 + self.below(2) {
            patch.turns.push(PredictedTurn {
                joint: self.below(joint_count) as u16,
                scale: 0.5 + 0.4 * self.number(),
                offset: DQuat::from_scaled_axis(0.4 * self.vector()),
            });
        }
        for k in 0..self.below(3) {
            patch.stretch_joints.push(self.below(joint_count) as u16);
            for row in 0..9 {
                let shares = [(); 12].map(|()| 0.03 * self.number());
                patch.stretch.insert(9 * k + row, shares);
            }
        }
        patch
    }

    /// One row of `C1` and of `C2`, for one column of a proxy's matrix.
    fn push_row(
        &mut self,
        skeleton: &Skeleton,
        (column, center): (usize, DVec3),
        (patches, joint_count): (&[PatchPredictor], usize),
        sources: &[BoneId],
        from_patches: &mut Vec<f64>,
        from_sources: &mut Vec<f64>,
    ) {
        // The row at rest: a direction from patches and from turned bones, or a place from points of both.
        // Everything else sums to 0.
        let axis = DVec3::AXES.get(column).copied();
        let of_patches = match (sources.is_empty(), patches.len()) {
            (_, 0) => 0.0,
            (true, _) => 1.0,
            (false, _) => 0.7,
        };
        let place = f64::from(u8::from(axis.is_none()));
        let whole = axis.unwrap_or(DVec3::ZERO) * of_patches;
        let parts = whole.to_array().map(|sum| self.shares(patches.len(), sum));
        let places = self.shares(patches.len(), place * of_patches);
        for (l, patch) in patches.iter().enumerate() {
            let at_rest = patch.local(&vec![DVec3::ZERO; joint_count]).translation;
            let part = DVec3::from_array([0, 1, 2].map(|c| parts[c][l]));
            from_patches.extend((part + places[l] * (center - at_rest)).to_array());
            from_patches.push(places[l]);
        }
        let turned = self.shares(sources.len(), 1.0 - of_patches);
        let points = self.shares(sources.len(), place * (1.0 - of_patches));
        for (bone, (turned, point)) in sources.iter().zip(turned.iter().zip(&points)) {
            let bone_from_rest = &skeleton.bones()[bone.index()].bone_from_rest;
            let mut at = *point * bone_from_rest.transform_point3(center);
            if let Some(axis) = axis {
                at += *turned * bone_from_rest.transform_vector3(axis);
            }
            from_sources.extend(at.to_array());
            from_sources.push(*point);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DAffine3;

    use super::*;
    use crate::synth::{BodyOptions, body};

    #[test]
    fn the_skin_rests_at_rest_and_moves_with_the_whole_character() {
        let body = body(&BodyOptions {
            vertex_count: 500,
            influences: 3,
            bone_count: 12,
        });
        for (patch_count, source_count) in [(9, 5), (7, 0), (0, 12)] {
            let options = ProxyOptions {
                proxy_count: 8,
                patch_count,
                source_count,
                ..ProxyOptions::default()
            };
            let skin = proxied(&body.skin, &options);
            assert_eq!(skin.program.max_influences(), 3, "as before");
            let shown = skin.evaluate(&skin.skeleton.rest_pose()).expect("fits");
            for (found, rest) in shown.iter().zip(body.mesh.positions()) {
                assert!(found.abs_diff_eq(*rest, 1e-12), "{found}, not {rest}");
            }
            let plain = body.skin.evaluate(&body.pose).expect("fits");
            let bent = skin.evaluate(&body.pose).expect("fits");
            let off = bent.iter().zip(&plain).map(|(a, b)| a.distance(*b));
            assert!(off.fold(0.0, f64::max) > 0.01, "it is not the old skin");
            let mut moved = body.pose.clone();
            let motion = DAffine3::from_rotation_translation(
                DQuat::from_rotation_y(1.0),
                DVec3::new(2.0, -1.0, 0.5),
            );
            moved.parent_from_bone[0] = motion * moved.parent_from_bone[0];
            let found = skin.evaluate(&moved).expect("fits");
            for (found, before) in found.iter().zip(&bent) {
                let expected = motion.transform_point3(*before);
                assert!(
                    found.abs_diff_eq(expected, 1e-12),
                    "{found}, not {expected}"
                );
            }
        }
    }
}
