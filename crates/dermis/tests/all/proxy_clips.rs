//! Clips of skins with proxy bones, baked for players that do not support them.

use dermis::clip::{Channel, Interpolation, Keys};
use dermis::skin::{PlayableOptions, PoseClip, to_playable};
use dermis::{BoneId, Clip, Pose, Skin};
use glam::{DQuat, DVec3};

use crate::support::dice::Dice;
use crate::support::proxy_skins::{ProxyTube, bones_at, clip, proxy_tube};

/// The skin as seen by a player that does not support proxies.
fn plain(skin: &Skin) -> Skin {
    skin.without_pose_program()
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// How far a baked clip is from the skin at a time.
fn off(skin: &Skin, given: &Clip, baked: &Clip, time: f64) -> f64 {
    let plain = plain(skin);
    let shown = plain.evaluate(&plain.sample(baked, time)).expect("fits");
    let wanted = skin.evaluate(&skin.sample(given, time)).expect("fits");
    farthest(&shown, &wanted)
}

#[test]
fn a_baked_clip_is_exact_at_its_keys_and_near_between_them() {
    for (bones, proxies) in [(3, 5), (12, 60)] {
        let (mesh, skin) = proxy_tube(&ProxyTube {
            rings: 30,
            bones,
            proxies,
            seed: 7,
        });
        let diagonal = mesh.bounds().diagonal();
        let given = clip(&skin, 40, 30.0);
        let baked = skin.bake(&given).expect("the clip fits");
        assert_eq!(
            &baked.channels[..bones],
            given.channels,
            "posed channels stay as they were"
        );
        let (mut at_keys, mut between, mut step) = (0.0f64, 0.0f64, 0.0f64);
        for n in 0..4 * 39 {
            let time = f64::from(n) / 120.0;
            let off = off(&skin, &given, &baked, time) / diagonal;
            if n % 4 == 0 {
                at_keys = at_keys.max(off);
                let at = |time: f64| skin.evaluate(&skin.sample(&given, time)).expect("fits");
                step = step.max(farthest(&at(time), &at(time + 1.0 / 30.0)) / diagonal);
            } else {
                between = between.max(off);
            }
        }
        eprintln!(
            "{bones} bones, {proxies} proxies: of the diagonal, {at_keys:.1e} at keys and \
             {between:.1e} between them, where a step is up to {step:.1e}"
        );
        assert!(at_keys < 1e-12, "{at_keys:.1e} at keys");
        assert!(
            between < 0.05 * step,
            "{between:.1e} of a step of {step:.1e}"
        );
        let again = skin.bake(&baked).expect("the clip fits");
        assert_eq!(again, baked, "baking twice replaces");
    }
}

#[test]
fn held_poses_stay_held_when_they_are_baked() {
    let (mesh, skin) = proxy_tube(&ProxyTube {
        rings: 12,
        bones: 3,
        proxies: 5,
        seed: 3,
    });
    let motion = clip(&skin, 6, 1.0);
    let given = motion.held_at(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let baked = skin.bake(&given).expect("the clip fits");
    assert!(baked.is_held(), "nothing moves between the poses");
    for n in 0..20 {
        let time = f64::from(n) * 0.26;
        let off = off(&skin, &given, &baked, time) / mesh.bounds().diagonal();
        assert!(off < 1e-9, "{off:.1e} of the diagonal at {time} s");
    }
    let again = skin.bake(&baked).expect("the clip fits");
    assert_eq!(again, baked, "baking twice replaces");
}

#[test]
fn keys_between_uneven_frames_are_at_their_own_times() {
    let (_, skin) = proxy_tube(&ProxyTube {
        rings: 8,
        bones: 5,
        proxies: 20,
        seed: 3,
    });
    // So fast that players could turn the wrong way between frames.
    let times = vec![0.25, 0.26, 0.28, 0.281, 0.3];
    let mut dice = Dice::new(1);
    let mut spin = |bone: BoneId| {
        let keys = Keys {
            interpolation: Interpolation::Linear,
            values: (times.iter())
                .map(|_| DQuat::from_scaled_axis(3.0 * dice.vector()))
                .collect(),
            times: times.clone(),
        };
        Channel::Rotation(bone, keys)
    };
    let given = Clip {
        name: "spin".to_owned(),
        channels: skin.skeleton.ids().take(5).map(&mut spin).collect(),
    };
    let baked = skin.bake(&given).expect("the clip fits");
    for &time in &times {
        let off = off(&skin, &given, &baked, time);
        assert!(off < 1e-12, "{off:.1e} at {time}");
    }
    let added = |channel: &&Channel| channel.times().len() > times.len();
    let added: Vec<&Channel> = baked.channels.iter().filter(added).collect();
    assert!(!added.is_empty(), "some keys were added");
    for channel in added {
        let found = channel.times();
        assert!(
            found.windows(2).all(|pair| pair[0] < pair[1]),
            "in order: {found:?}"
        );
        let is_part = |pair: &[f64]| {
            let eighths = |t: &f64| 8.0 * (t - pair[0]) / (pair[1] - pair[0]);
            let inside = found.iter().filter(|&t| pair[0] < *t && *t < pair[1]);
            (inside.map(eighths)).all(|part| (part - part.round()).abs() < 1e-9)
        };
        assert!(times.windows(2).all(is_part), "at eighths: {found:?}");
        assert!(
            times.iter().all(|time| found.contains(time)),
            "every frame: {found:?}"
        );
    }
}

#[test]
fn bones_that_never_move_have_no_channel() {
    let (_, skin) = proxy_tube(&ProxyTube {
        rings: 8,
        bones: 3,
        proxies: 4,
        seed: 5,
    });
    let mut still = clip(&skin, 20, 24.0);
    still.channels.truncate(1);
    if let Channel::Rotation(_, keys) = &mut still.channels[0] {
        keys.values.fill(DQuat::IDENTITY);
    }
    let baked = skin.bake(&still).expect("the clip fits");
    assert_eq!(baked, still, "every proxy stands as by default");
    let none = Clip {
        name: "nothing".to_owned(),
        channels: Vec::new(),
    };
    assert_eq!(skin.bake(&none), Ok(none.clone()), "nothing to add");

    // A bone away from the model's origin that only moves: proxies do, and nothing turns.
    let keys = Keys {
        interpolation: Interpolation::Linear,
        times: vec![0.0, 0.5],
        values: vec![DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)],
    };
    let slide = Clip {
        name: "slide".to_owned(),
        channels: vec![Channel::Translation(BoneId(0), keys)],
    };
    let baked = skin.bake(&slide).expect("the clip fits");
    let is_slide = |channel: &Channel| matches!(channel, Channel::Translation(..));
    assert!(
        baked.channels.iter().all(is_slide) && baked.channels.len() == 5,
        "one for the root and one for each proxy: {:?}",
        baked.channels
    );
}

/// Poses of which some bones shear, one that proxies read among them.
fn sheared_poses(skin: &Skin, count: usize) -> Vec<Pose> {
    (0..count)
        .map(|k| {
            let t = k as f64 / 24.0;
            let mut bones = bones_at(skin, t);
            for j in [1, 3] {
                let shear = 0.4 * (3.0 * t + j as f64).sin();
                let axis = bones[j].matrix3.x_axis;
                bones[j].matrix3.y_axis += shear * axis;
            }
            Pose::new(bones)
        })
        .collect()
}

#[test]
fn bones_that_shear_are_split_and_proxies_read_them_as_before() {
    let (mesh, skin) = proxy_tube(&ProxyTube {
        rings: 20,
        bones: 5,
        proxies: 9,
        seed: 9,
    });
    let diagonal = mesh.bounds().diagonal();
    let poses = sheared_poses(&skin, 30);
    for share in [0.0, 1e-3] {
        let clip = PoseClip {
            name: "shear".to_owned(),
            poses: &poses,
            frames_per_second: 30.0,
        };
        let options = PlayableOptions {
            key_tolerance: share * diagonal,
        };
        let playable = to_playable(&skin, &[clip], &options).expect("the poses fit");
        let new = &playable.skin;
        assert_eq!(playable.split_count, 2, "the two that shear, and no proxy");
        assert_eq!(new.posed_bone_count(), 7, "five, two of them twice");
        let (old, proxies) = (skin.pose_program.proxies(), new.pose_program.proxies());
        let (old, proxies) = (old.expect("it has"), proxies.expect("it still has"));
        assert_eq!(proxies.patches.len(), old.patches.len(), "all of them");
        assert_eq!(
            playable.bones[1],
            BoneId(2),
            "the child of the first pair has its vertices"
        );
        assert_eq!(
            (proxies.joints[0].bone, proxies.joints[0].parent),
            (BoneId(2), BoneId(0)),
            "and is what is read"
        );
        let clip = &playable.clips[0];
        let (mut live, mut played) = (0.0f64, 0.0f64);
        for (k, pose) in poses.iter().enumerate() {
            let wanted = skin.evaluate(pose).expect("the pose fits");
            let sampled = new.sample(clip, k as f64 / 30.0);
            let plain = plain(new);
            live = live.max(farthest(&new.evaluate(&sampled).expect("fits"), &wanted));
            played = played.max(farthest(&plain.evaluate(&sampled).expect("fits"), &wanted));
        }
        eprintln!("within {share:e}: {live:.1e} live, {played:.1e} played");
        // The limit for one vertex: the root mean square is at most a quarter of it.
        let allowed = 4.0 * share * diagonal + 1e-11;
        assert!(live < allowed && played < allowed, "{live:e}, {played:e}");
    }
}

#[test]
fn no_clips_and_a_clip_of_one_frame_are_made_playable() {
    let (_, skin) = proxy_tube(&ProxyTube {
        rings: 8,
        bones: 3,
        proxies: 4,
        seed: 9,
    });
    let none = to_playable(&skin, &[], &PlayableOptions::default()).expect("nothing to do");
    assert_eq!(none.skin, skin, "as it was");
    let mut bones = bones_at(&skin, 0.8);
    bones[2].matrix3.z_axis.x += 0.3;
    let poses = [Pose::new(bones)];
    let clip = PoseClip {
        name: "one".to_owned(),
        poses: &poses,
        frames_per_second: 30.0,
    };
    let one = to_playable(&skin, &[clip], &PlayableOptions::default()).expect("it fits");
    let plain = plain(&one.skin);
    let shown = plain.evaluate(&plain.sample(&one.clips[0], 0.0));
    let wanted = skin.evaluate(&poses[0]);
    let off = farthest(&shown.expect("fits"), &wanted.expect("fits"));
    assert!(off < 1e-12, "{off:e}");
}
