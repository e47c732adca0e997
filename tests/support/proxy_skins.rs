//! Tubes on proxy bones, made by formula rather than by a fit, that use all features of a pose program.

use dermis::clip::{Channel, Interpolation, Keys};
use dermis::synth::{ProxyOptions, TubeOptions, proxied, tube};
use dermis::{BoneId, Clip, Skin, TriMesh};
use glam::{DAffine3, DQuat, DVec3};

/// Sizes of such a tube.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProxyTube {
    pub(crate) rings: usize,
    pub(crate) bones: usize,
    pub(crate) proxies: usize,
    pub(crate) seed: u64,
}

/// The tube and its skin.
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

/// A linear blend skin on the given number of proxies, with as many patches.
pub(crate) fn with_proxies(skin: &Skin, count: usize, seed: u64) -> Skin {
    let options = ProxyOptions {
        proxy_count: count,
        patch_count: count,
        source_count: 60,
        seed,
    };
    proxied(skin, &options)
}

/// The posed bones at some time in a motion that moves every joint.
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

/// The same motion as a clip of the posed bones, which starts at rest.
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
