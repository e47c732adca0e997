//! Dropping keys moves the vertices of every bone by no more than the tolerance.

use dermis::clip::Clip;
use dermis::rig::{BoneId, Pose, Skeleton, Trs};
use dermis::skin::{
    Playable, PlayableOptions, PoseClip, SsdProgram, VertexProgram, Weight, to_playable,
};
use dermis::{Skin, clip};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use proptest::prelude::*;

const RATE: f64 = 30.8;

/// A root without vertices, an arm and a hand, which share vertices, and a small bone with its own vertices.
fn skin(scale: f64) -> Skin {
    let at = |x: f64| DAffine3::from_translation(scale * DVec3::X * x);
    let skeleton = Skeleton::from_rest_frames([
        ("root".to_owned(), None, at(0.0)),
        ("arm".to_owned(), Some(BoneId(0)), at(1.0)),
        ("hand".to_owned(), Some(BoneId(1)), at(2.0)),
        ("ear".to_owned(), Some(BoneId(0)), at(-0.2)),
    ])
    .expect("parents come first");
    let weight = |bone, weight| Weight {
        bone: BoneId(bone),
        weight,
    };
    let place = |i: usize| {
        let along = i as f64 / 60.0;
        let around = 2.4 * i as f64;
        let side = DVec3::new(0.0, around.sin(), around.cos());
        match i < 60 {
            true => DVec3::X * (1.0 + 2.0 * along) + 0.3 * side,
            false => DVec3::X * -0.2 + 0.05 * side,
        }
    };
    let row = |i: usize| {
        let hand = ((i as f64 / 60.0 - 0.3) / 0.4).clamp(0.0, 1.0);
        match i < 60 {
            true => vec![weight(1, 1.0 - hand), weight(2, hand)],
            false => vec![weight(3, 1.0)],
        }
    };
    let program = SsdProgram {
        rest_positions: (0..63).map(|i| scale * place(i)).collect(),
        weights: (0..63).map(row).collect(),
        corrections: Vec::new(),
    };
    Skin::new(skeleton, VertexProgram::Ssd(program), Vec::new()).expect("a skin")
}

fn wobble(skin: &Skin, scale: f64, count: usize, seeds: [f64; 4], shear: f64) -> Vec<Pose> {
    wobble_at(0.03, skin, scale, count, seeds, shear)
}

/// A larger time step from frame to frame gives a less smooth motion.
fn wobble_at(
    step: f64,
    skin: &Skin,
    scale: f64,
    count: usize,
    seeds: [f64; 4],
    shear: f64,
) -> Vec<Pose> {
    let rest = skin.skeleton.rest_pose();
    let pose = |k: usize| {
        let t = k as f64 * step;
        let locals = seeds.iter().enumerate().map(|(j, seed)| {
            let phase = seed + t * (1.0 + 0.3 * j as f64);
            let moved = Trs {
                translation: 0.1 * scale * DVec3::new(phase.sin(), phase.cos(), t),
                rotation: DQuat::from_scaled_axis(
                    DVec3::new(phase.sin(), 0.5, phase.cos()) * phase,
                ),
                scale: DVec3::new(1.2, 1.0 + 0.4 * phase.sin(), 1.0),
            };
            let mut local = rest.parent_from_bone[j] * moved.to_affine();
            local.matrix3.y_axis += shear * (2.0 * phase).sin() * local.matrix3.x_axis;
            local
        });
        Pose::new(locals.collect())
    };
    (0..count).map(pose).collect()
}

fn playable(skin: &Skin, poses: &[Pose], key_tolerance: f64) -> Playable {
    let clip = PoseClip {
        name: "wobble".to_owned(),
        poses,
        frames_per_second: RATE,
    };
    to_playable(skin, &[clip], &PlayableOptions { key_tolerance }).expect("sound")
}

/// The largest root mean square over the vertices of a bone, and the largest distance, at any frame.
fn off(skin: &Skin, poses: &[Pose], found: &Playable) -> (f64, f64) {
    let VertexProgram::Ssd(program) = &skin.program else {
        panic!("it is linear blend skinning");
    };
    let (mut rms, mut most) = (0.0f64, 0.0f64);
    for (k, pose) in poses.iter().enumerate() {
        let wanted = skin.evaluate(pose).expect("its pose");
        let sampled = found.skin.sample(&found.clips[0], k as f64 / RATE);
        let shown = found.skin.evaluate(&sampled).expect("its pose");
        let mut sums = vec![(0.0, 0.0); skin.skeleton.bone_count()];
        for ((a, b), row) in wanted.iter().zip(&shown).zip(program.weights.iter()) {
            most = most.max(a.distance(*b));
            for w in row {
                sums[w.bone.index()].0 += w.weight * a.distance_squared(*b);
                sums[w.bone.index()].1 += w.weight;
            }
        }
        for (sum, mass) in sums.into_iter().filter(|(_, mass)| *mass > 0.0) {
            rms = rms.max(f64::sqrt(sum / mass));
        }
    }
    (rms, most)
}

fn keys(found: &Playable) -> usize {
    found.clips.iter().map(Clip::key_count).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_vertices_of_every_bone_stay_within_the_tolerance_at_every_frame(
        seeds in prop::array::uniform4(-3.0..3.0f64),
        exponent in -6.0..-0.5f64,
        count in 2usize..60,
        shear in prop::sample::select(vec![0.0, 1e-3, 0.3]),
    ) {
        let skin = skin(1.0);
        let poses = wobble(&skin, 1.0, count, seeds, shear);
        let tolerance = 10f64.powf(exponent);
        let found = playable(&skin, &poses, tolerance);
        let (rms, most) = off(&skin, &poses, &found);
        prop_assert!(rms <= tolerance, "{rms} of {tolerance}");
        prop_assert!(most <= 4.0 * tolerance, "{most} of {tolerance}");
        let all = keys(&playable(&skin, &poses, 0.0));
        prop_assert!(keys(&found) <= all, "{} of {all} keys", keys(&found));
        let last = (count - 1) as f64 / RATE;
        let clip = &found.clips[0];
        prop_assert!(clip.start() == 0.0 && (clip.end() - last).abs() < 1e-9, "as long");
    }
}

#[test]
fn smooth_motion_needs_few_keys_and_a_larger_tolerance_fewer() {
    let skin = skin(1.0);
    let poses = wobble_at(0.003, &skin, 1.0, 400, [0.1, 0.2, 0.3, 0.4], 0.2);
    let all = keys(&playable(&skin, &poses, 0.0));
    let mut last = all;
    for (tolerance, share) in [(1e-4, 0.5), (1e-3, 0.2), (1e-2, 0.1)] {
        let found = playable(&skin, &poses, tolerance);
        eprintln!("within {tolerance}: {} of {all} keys", keys(&found));
        assert!((keys(&found) as f64) < share * all as f64, "{tolerance}");
        assert!(
            keys(&found) < last,
            "fewer than for a smaller tolerance: {}",
            keys(&found)
        );
        last = keys(&found);
    }
}

#[test]
fn a_tolerance_below_rounding_terminates_and_keeps_the_motion() {
    for scale in [1.0, 1e-12, 1e-40, 1e-150, 1e-300, 1e12, 1e150, 1e300] {
        let skin = skin(scale);
        let poses = wobble(&skin, scale, 20, [0.1, 0.2, 0.3, 0.4], 0.2);
        for tolerance in [1e-15, 1e-18, 1e-300, 0.0] {
            let found = playable(&skin, &poses, tolerance * scale);
            for (k, pose) in poses.iter().enumerate() {
                let wanted = skin.evaluate(pose).expect("its pose");
                let sampled = found.skin.sample(&found.clips[0], k as f64 / RATE);
                let shown = found.skin.evaluate(&sampled).expect("its pose");
                for (a, b) in wanted.iter().zip(&shown) {
                    let distance = ((*a - *b) / scale).length();
                    assert!(distance < 1e-10, "{scale:e}, {tolerance:e}: {distance:e}");
                }
            }
        }
    }
}

#[test]
fn the_unit_of_length_changes_no_key() {
    let (one, small) = (skin(1.0), skin(1e-12));
    let seeds = [0.1, 0.2, 0.3, 0.4];
    let count = |skin: &Skin, scale: f64| {
        let poses = wobble(skin, scale, 60, seeds, 0.2);
        keys(&playable(skin, &poses, 1e-3 * scale))
    };
    assert_eq!(count(&one, 1.0), count(&small, 1e-12), "the same keys");
}

#[test]
fn straight_lines_keep_their_ends_and_still_bones_need_no_keys() {
    let skin = skin(1.0);
    let rest = skin.skeleton.rest_pose();
    let pose = |k: usize| {
        let mut pose = rest.clone();
        pose.parent_from_bone[0].translation.x += k as f64 * 0.1;
        pose.parent_from_bone[2].matrix3 = DMat3::from_rotation_z(0.7);
        pose
    };
    let poses: Vec<Pose> = (0..60).map(pose).collect();
    let found = playable(&skin, &poses, 1e-9);
    let lengths: Vec<(Option<BoneId>, usize)> = (found.clips[0].channels.iter())
        .map(|channel| (channel.bone(), channel.times().len()))
        .collect();
    let expected = [(Some(BoneId(0)), 2), (Some(BoneId(2)), 1)];
    assert_eq!(
        lengths, expected,
        "translation of the root, rotation of the hand"
    );
    let exact = playable(&skin, &poses, 0.0);
    let lengths: Vec<usize> = (exact.clips[0].channels.iter())
        .map(|channel| channel.times().len())
        .collect();
    assert_eq!(
        lengths,
        [60, 1],
        "without a tolerance, moving bones keep all keys"
    );
}

#[test]
fn a_whole_turn_keeps_enough_keys_to_turn_the_right_way() {
    let skin = skin(1.0);
    let rest = skin.skeleton.rest_pose();
    let pose = |k: usize| {
        let mut pose = rest.clone();
        let turn = k as f64 / 80.0 * std::f64::consts::TAU;
        pose.parent_from_bone[1].matrix3 = DMat3::from_rotation_z(turn);
        pose
    };
    let poses: Vec<Pose> = (0..=80).map(pose).collect();
    let found = playable(&skin, &poses, 0.05);
    let turns = |channel: &&clip::Channel| matches!(channel, clip::Channel::Rotation(..));
    let turn = found.clips[0]
        .channels
        .iter()
        .find(turns)
        .expect("it turns");
    assert!((4..16).contains(&turn.times().len()), "{:?}", turn.times());
    let (rms, _) = off(&skin, &poses, &found);
    assert!(rms <= 0.05, "{rms}");
}
