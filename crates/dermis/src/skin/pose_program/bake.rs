//! Baking: clips with keys for everything that a pose program computes, for players without pose programs.

use glam::DMat3;

use super::{PlacedBones, Skin, SkinError};
use crate::clip::{Channel, Clip, Interpolation, Keys, Nodes, split_track};
use crate::par;
use crate::rig::{BoneId, DerivedBone, Pose, ProxyBones, RigError, Trs};

/// Longest time between two keys of a baked channel, in seconds.
///
/// Interpolating between keys far apart differs from computing the poses between them.
const LONGEST_GAP: f64 = 1.0 / 30.0;
/// The largest number of keys that baking adds to a clip; a clip of more than 36 minutes gets longer gaps instead.
const MOST_ADDED_KEYS: f64 = 65_536.0;
/// Key times nearer to each other than this, in seconds, count as one.
const SAME_TIME: f64 = 1e-4;

impl Skin {
    /// A clip with channels for derived bones, proxy bones and driven coefficients, so that stock
    /// engines play them.
    ///
    /// Channels that already move a derived bone, a proxy, its carrier or a driven coefficient are replaced; all others
    /// are unchanged. The new channels have a linear key at every key time of the clip, and enough in between that no
    /// gap is longer than a thirtieth of a second (in clips longer than half an hour, a 65536th of the clip). They are
    /// exact at their keys. A clip of held poses stays held: it gets keys only at its own key times.
    ///
    /// The matrix of a proxy may shear. So its carrier gets a translation, a rotation R1 and a scale, and the proxy
    /// itself a rotation R2, whose product is the matrix, as in [`to_playable`](crate::skin::to_playable). Keys are
    /// added where the interpolated product would stray between two keys.
    ///
    /// # Errors
    /// [`SkinError::Rig`] when the clip does not belong to the skin's skeleton, or when the place of a
    /// proxy is NaN or infinite.
    pub fn bake(&self, clip: &Clip) -> Result<Clip, SkinError> {
        clip.check(&self.skeleton, self.coefficients.len())?;
        if self.pose_program.is_empty() {
            return Ok(clip.clone());
        }
        let mut baked = self.unbaked(clip);
        let computes_bones = self.posed_bone_count() < self.skeleton.bone_count();
        let computes_shapes = self.posed_coefficient_count() < self.coefficients.len();
        if !computes_bones && !computes_shapes {
            return Ok(baked);
        }
        let held = baked.is_held().then(|| key_times(&baked));
        let times = baking_times(&baked);
        if times.is_empty() {
            return Ok(baked);
        }
        let poses = par::map(times.len(), |k| {
            self.complete_pose(&self.sample(&baked, times[k]))
        });
        let poses: Vec<Pose> = poses.into_iter().collect::<Result<_, _>>()?;
        match &self.pose_program.placed {
            PlacedBones::Derived(derived) => {
                let channels = |d| self.derived_channels(d, &times, &poses);
                baked.channels.extend(derived.iter().flat_map(channels));
            }
            PlacedBones::Proxies(proxies) => {
                baked = self.with_proxy_channels(baked, proxies, &times, &poses)?;
            }
        }
        if !self.pose_program.drivers.is_empty() {
            let posed_coefficients = self.posed_coefficient_count();
            let driven = |pose: &Pose| {
                let mut coefficients = pose.coefficients.clone();
                self.pose_program
                    .drive(&self.skeleton, &pose.parent_from_bone, &mut coefficients);
                coefficients.split_off(posed_coefficients)
            };
            let keys = linear(&times, poses.iter().map(driven).collect());
            let channel = Channel::Coefficients(posed_coefficients, keys);
            baked.channels.push(channel);
        }
        Ok(match held {
            Some(times) => baked.held_at(&times),
            None => baked,
        })
    }

    /// The clip without the channels that [`Skin::bake`] adds: only bones and coefficients that a pose must give.
    pub fn unbaked(&self, clip: &Clip) -> Clip {
        let posed_count = self.posed_bone_count();
        let posed_coefficients = self.posed_coefficient_count();
        let posed_part = |channel: &Channel| match channel {
            Channel::Coefficients(first, _) if *first >= posed_coefficients => None,
            Channel::Coefficients(first, keys) => {
                let mut keys = keys.clone();
                let most = posed_coefficients - first;
                keys.values
                    .iter_mut()
                    .for_each(|value| value.truncate(most));
                Some(Channel::Coefficients(*first, keys))
            }
            bone => (bone.bone())
                .is_none_or(|bone| bone.index() < posed_count)
                .then(|| bone.clone()),
        };
        Clip {
            name: clip.name.clone(),
            channels: clip.channels.iter().filter_map(posed_part).collect(),
        }
    }

    /// Channels of a derived bone, for those of its parts (translation, rotation, scale) that ever leave their default.
    fn derived_channels(&self, d: &DerivedBone, times: &[f64], poses: &[Pose]) -> Vec<Channel> {
        let default = self.skeleton.bones()[d.bone.index()].default_parent_from_bone;
        let mut locals: Vec<Trs> = Vec::with_capacity(poses.len());
        for pose in poses {
            let (mut trs, _) = Trs::from_affine(&pose.parent_from_bone[d.bone.index()]);
            // q and -q are the same rotation, but only one of them gives the short way between two keys.
            if locals
                .last()
                .is_some_and(|l| l.rotation.dot(trs.rotation) < 0.0)
            {
                trs.rotation = -trs.rotation;
            }
            locals.push(trs);
        }
        let moves = |part: fn(&Trs) -> [f64; 4]| {
            let parts = |trs: &Trs| part(trs).into_iter().zip(part(&default));
            let differs = |trs| parts(trs).any(|(a, b)| (a - b).abs() > 1e-12);
            locals.iter().any(differs)
        };
        let mut channels = Vec::new();
        if moves(|l| l.translation.extend(0.0).to_array()) {
            let keys = linear(times, locals.iter().map(|l| l.translation).collect());
            channels.push(Channel::Translation(d.bone, keys));
        }
        if moves(|l| l.rotation.to_array()) {
            let keys = linear(times, locals.iter().map(|l| l.rotation).collect());
            channels.push(Channel::Rotation(d.bone, keys));
        }
        if moves(|l| l.scale.extend(0.0).to_array()) {
            let keys = linear(times, locals.iter().map(|l| l.scale).collect());
            channels.push(Channel::Scale(d.bone, keys));
        }
        channels
    }

    /// A clip with keys of all proxies; complete poses hold the matrix of a proxy in its carrier.
    fn with_proxy_channels(
        &self,
        mut clip: Clip,
        proxies: &ProxyBones,
        times: &[f64],
        poses: &[Pose],
    ) -> Result<Clip, SkinError> {
        let is_finite = |pose: &Pose| pose.parent_from_bone.iter().all(|m| m.is_finite());
        if let Some(k) = poses.iter().position(|pose| !is_finite(pose)) {
            let what = format!("the pose at {} s of clip {}", times[k], clip.name);
            return Err(SkinError::Rig(RigError::NotFinite { what }));
        }
        let channels = par::map(proxies.bones.len(), |m| {
            proxy_channels(proxies.bones[m], times, poses)
        });
        clip.channels.extend(channels.into_iter().flatten());
        // Only keys of still channels are dropped: with a tolerance of a ten-thousandth of the diagonal, a clip of 100
        // frames and 60 proxies would still keep nine tenths of its keys.
        let posed: Vec<BoneId> = (self.skeleton.ids())
            .take(self.posed_bone_count())
            .collect();
        Ok(clip.without_still_keys(&self.skeleton, &posed))
    }
}

/// An error of a matrix, as a norm, that counts as rounding.
const ROUNDING: f64 = 1e-13;

/// Keys of a proxy and of its carrier, right before it.
fn proxy_channels(proxy: BoneId, times: &[f64], poses: &[Pose]) -> Vec<Channel> {
    let carrier = BoneId(proxy.0 - 1);
    let places = poses.iter().map(|p| p.parent_from_bone[carrier.index()]);
    let matrices: Vec<DMat3> = places.clone().map(|place| place.matrix3).collect();
    // Shear within rounding must not turn R1 and R2.
    let keys = split_track(&matrices, Nodes::Two, ROUNDING);
    let time = |frame: f64| {
        let (k, part) = (frame.floor() as usize, frame.fract());
        match times.get(k + 1) {
            Some(next) if part > 0.0 => times[k] + part * (next - times[k]),
            _ => times[k],
        }
    };
    let split_times: Vec<f64> = keys.iter().map(|key| time(key.frame)).collect();
    let outer = keys.iter().map(|key| key.form.outer).collect();
    let scales = keys.iter().map(|key| key.form.scale).collect();
    let inner = keys.iter().map(|key| key.form.inner).collect();
    vec![
        Channel::Translation(
            carrier,
            linear(times, places.map(|p| p.translation).collect()),
        ),
        Channel::Rotation(carrier, linear(&split_times, outer)),
        Channel::Scale(carrier, linear(&split_times, scales)),
        Channel::Rotation(proxy, linear(&split_times, inner)),
    ]
}

/// The times at which a clip has keys.
fn key_times(clip: &Clip) -> Vec<f64> {
    let mut keys: Vec<f64> = clip
        .channels
        .iter()
        .flat_map(Channel::times)
        .copied()
        .collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup_by(|later, earlier| *later - *earlier < SAME_TIME);
    keys
}

/// The key times of a clip, and further times between those that are far apart.
fn baking_times(clip: &Clip) -> Vec<f64> {
    let keys = key_times(clip);
    let mut times = Vec::with_capacity(keys.len());
    let duration = keys.last().zip(keys.first()).map_or(0.0, |(b, a)| b - a);
    let longest_gap = LONGEST_GAP.max(duration / MOST_ADDED_KEYS);
    for pair in keys.windows(2) {
        // A gap of a thirtieth that was rounded to single precision must not be halved.
        let parts = ((pair[1] - pair[0]) / longest_gap - 1e-3).ceil().max(1.0);
        let step = (pair[1] - pair[0]) / parts;
        times.extend((0..parts as usize).map(|part| pair[0] + part as f64 * step));
    }
    times.extend(keys.last());
    times
}

fn linear<T>(times: &[f64], values: Vec<T>) -> Keys<T> {
    Keys {
        interpolation: Interpolation::Linear,
        times: times.to_vec(),
        values,
    }
}
