//! Tubes on proxy bones, made by formula: everything that a pose program can have, and no fit.

#![allow(dead_code, reason = "each test file uses its own part")]

use dermis::rig::{
    Channel, GradientPredictor, Interpolation, JointReading, Keys, PredictedTurn, ProxyBones,
};
use dermis::skin::{SsdProgram, Weight};
use dermis::synth::{TubeOptions, tube};
use dermis::{BoneId, Clip, Skin, TriMesh, VertexProgram};
use glam::{DAffine3, DQuat, DVec3, DVec4};

/// Sizes of such a tube.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProxyTube {
    pub(crate) rings: usize,
    pub(crate) bones: usize,
    pub(crate) proxies: usize,
    pub(crate) seed: u64,
}

/// Numbers that look random and depend on nothing but the seed.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }

    /// Between -1 and 1.
    pub(crate) fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }
}

/// The tube and its skin: each vertex follows three proxies and a bone.
pub(crate) fn proxy_tube(size: &ProxyTube) -> (TriMesh, Skin) {
    let tube = tube(&TubeOptions {
        ring_count: size.rings,
        segment_count: 8,
        bone_count: size.bones,
        example_count: 1,
    });
    let mesh = tube.examples.rest().clone();
    let skin = with_proxies(&tube.truth, size.proxies, size.seed);
    (mesh, skin)
}

/// A linear blend skin on so many proxies, one per vertex at regular distances.
///
/// At rest it stands as before, and turning the whole skeleton turns the whole skin. Gradients
/// have no, one or two turns and as many stretches; every fourth joint is read about a middle far
/// from its rest.
pub(crate) fn with_proxies(skin: &Skin, count: usize, seed: u64) -> Skin {
    let mut noise = Noise::new(seed);
    let VertexProgram::Ssd(ssd) = &skin.program else {
        panic!("expected linear blend");
    };
    let rest = &ssd.rest_positions;
    let centers: Vec<DVec3> = (0..count).map(|m| rest[m * rest.len() / count]).collect();
    let bones = skin.skeleton.bones();
    let (skeleton, proxy_bones) =
        ProxyBones::extend_skeleton(&skin.skeleton, &centers).expect("few bones");
    let joints: Vec<JointReading> = (bones.iter().zip(skin.skeleton.ids()))
        .filter_map(|(bone, id)| bone.parent.map(|parent| (id, parent)))
        .enumerate()
        .map(|(n, (bone, parent))| JointReading {
            bone,
            parent,
            middle: if n % 4 == 3 {
                noise.vector()
            } else {
                DVec3::ZERO
            },
        })
        .collect();
    let heaviest = |m: usize| {
        let row = ssd.weights.row(m * rest.len() / count);
        let heavier = |a: &&Weight, b: &&Weight| a.weight.total_cmp(&b.weight);
        row.iter().max_by(heavier).expect("each has bones").bone
    };
    let gradients: Vec<GradientPredictor> = (0..count)
        .map(|m| {
            let some = |most: usize| if joints.is_empty() { 0 } else { m % (most + 1) };
            let turns = (0..some(2)).map(|_| PredictedTurn {
                joint: noise.below(joints.len()) as u16,
                scale: 0.3 * noise.number(),
                offset: DQuat::from_scaled_axis(noise.vector()),
            });
            let turns = turns.collect();
            let stretch_joints: Vec<u16> = (0..some(2))
                .map(|_| noise.below(joints.len()) as u16)
                .collect();
            let share = |_| [(); 6].map(|()| 0.06 * noise.number());
            let mut stretch: Vec<[f64; 6]> = (0..3 * stretch_joints.len()).map(share).collect();
            stretch.push([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
            GradientPredictor {
                frame: heaviest(m),
                turns,
                stretch_joints,
                stretch,
            }
        })
        .collect();
    let mut sources: Vec<BoneId> = skin.skeleton.ids().collect();
    sources.truncate(60);
    let (mut from_gradients, mut from_sources) = (Vec::new(), Vec::new());
    for (m, center) in centers.iter().enumerate() {
        for row in 0..4 {
            // What the matrix of the proxy is at rest, column by column, less what noise adds.
            let mut wanted = match row {
                3 => *center,
                axis => DVec3::AXES[axis],
            };
            let mut c1: Vec<DVec3> = (0..count).map(|_| 0.01 * noise.vector()).collect();
            let mut c2: Vec<DVec4> = (sources.iter())
                .map(|_| (0.01 * noise.vector()).extend(0.01 * noise.number()))
                .collect();
            // Weights of places sum to 1 in the last row, and to 0 in the others.
            let own = sources.iter().position(|&bone| bone == heaviest(m));
            let own = own.expect("a source");
            let sum: f64 = c2.iter().map(|c| c.w).sum();
            c2[own].w += f64::from(row == 3) - sum;
            for (source, c) in sources.iter().zip(&c2) {
                let g = bones[source.index()].bone_from_rest.inverse();
                wanted -= g.matrix3 * c.truncate() + g.translation * c.w;
            }
            wanted -= c1.iter().sum::<DVec3>();
            c1[m] += wanted;
            from_gradients.extend(c1.iter().flat_map(DVec3::to_array));
            from_sources.extend(c2.iter().flat_map(|c| c.to_array()));
        }
    }
    let row = |(i, p): (usize, &DVec3)| {
        let near = |m: usize| 1.0 / (0.01 + p.distance_squared(centers[m]));
        let mut nearest: Vec<usize> = (0..count).collect();
        nearest.sort_by(|&a, &b| near(b).total_cmp(&near(a)).then(a.cmp(&b)));
        nearest.truncate(3);
        let heavier = |a: &&Weight, b: &&Weight| a.weight.total_cmp(&b.weight);
        let bone = ssd.weights.row(i).iter().max_by(heavier).expect("bones");
        let mut row = vec![Weight {
            bone: bone.bone,
            weight: 5.0,
        }];
        row.extend(nearest.iter().map(|&m| Weight {
            bone: proxy_bones[m],
            weight: near(m),
        }));
        row.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let sum: f64 = row.iter().map(|w| w.weight).sum();
        row.iter_mut().for_each(|w| w.weight /= sum);
        row
    };
    let program = SsdProgram {
        rest_positions: rest.clone(),
        weights: rest.iter().enumerate().map(row).collect(),
        corrections: Vec::new(),
    };
    let proxies = ProxyBones {
        bones: proxy_bones,
        joints,
        gradients,
        sources,
        from_gradients,
        from_sources,
    };
    Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new())
        .and_then(|skin| skin.with_proxies(proxies))
        .expect("a skin")
}

/// The bones that a pose has to give at some moment of a motion that every joint takes part in.
pub(crate) fn bones_at(skin: &Skin, t: f64) -> Vec<DAffine3> {
    let rest = skin.skeleton.rest_pose().parent_from_bone;
    let posed = rest.iter().take(skin.posed_bone_count()).enumerate();
    posed
        .map(|(j, rest)| *rest * DAffine3::from_quat(turn(j, t)))
        .collect()
}

fn turn(j: usize, t: f64) -> DQuat {
    let j = j as f64;
    let (a, b, c) = (t + j, 1.5 * t - j, 2.0 * t + 2.0 * j);
    let turn = DVec3::new(
        a.sin() - j.sin(),
        b.sin() + j.sin(),
        c.cos() - (2.0 * j).cos(),
    );
    DQuat::from_scaled_axis(0.5 * turn)
}

/// The same motion as a clip of the bones that are posed, from its rest at 0.
pub(crate) fn clip(skin: &Skin, frame_count: usize, frames_per_second: f64) -> Clip {
    let times: Vec<f64> = (0..frame_count)
        .map(|k| k as f64 / frames_per_second)
        .collect();
    let rest = skin.skeleton.rest_pose().parent_from_bone;
    let channel = |j: usize| {
        let (_, rest, _) = rest[j].to_scale_rotation_translation();
        let keys = Keys {
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values: times.iter().map(|&t| rest * turn(j, t)).collect(),
        };
        Channel::Rotation(BoneId(j as u16), keys)
    };
    Clip {
        name: "wave".to_owned(),
        channels: (0..skin.posed_bone_count()).map(channel).collect(),
    }
}
