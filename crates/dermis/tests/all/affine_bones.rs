//! Skins whose bones shear become skins of translations, rotations and scales that show the same shapes.

use dermis::clip::Channel;
use dermis::rig::{DerivedBone, DerivedMotion};
use dermis::skin::{
    Coefficient, Correction, Delta, DualQuaternionProgram, MultiWeight, MultiWeightProgram,
    Playable, PlayableOptions, PoseClip, SsdProgram, Weight, to_playable,
};
use dermis::{BoneId, Pose, Skeleton, Skin, VertexProgram};
use glam::{DAffine3, DMat3, DQuat, DVec3};

const RATE: f64 = 24.0;
const FRAMES: usize = 30;

/// A wave of numbers that belong to a bone and a place in its matrix.
fn wave(bone: usize, place: usize, frame: usize) -> f64 {
    let phase = 1.7 * bone as f64 + 0.9 * place as f64;
    (phase + 0.11 * frame as f64 * (1.0 + 0.2 * place as f64)).sin()
}

fn rest_positions() -> Vec<DVec3> {
    let place = |i: usize| {
        let t = i as f64;
        DVec3::new(0.1 * t, 0.4 * (1.3 * t).sin(), 0.4 * (0.7 * t).cos())
    };
    (0..40).map(place).collect()
}

/// A chain of four bones, with a fifth that hangs free, over points along x.
fn skeleton() -> Skeleton {
    let at = |x: f64| DAffine3::from_translation(DVec3::X * x) * DAffine3::from_rotation_x(0.2 * x);
    let bone =
        |name: &str, parent: Option<u16>, x: f64| (name.to_owned(), parent.map(BoneId), at(x));
    Skeleton::from_rest_frames([
        bone("root", None, 0.0),
        bone("hip", Some(0), 1.0),
        bone("knee", Some(1), 2.0),
        bone("foot", Some(2), 3.0),
        bone("free", None, 4.0),
    ])
    .expect("parents come first")
}

fn ssd() -> SsdProgram {
    let row = |p: &DVec3| {
        let near = (p.x.floor() as u16).min(3);
        let share = 0.5 + 0.5 * (p.x - f64::from(near)).clamp(0.0, 1.0);
        let weight = |bone: u16, weight: f64| Weight {
            bone: BoneId(bone),
            weight,
        };
        [weight(near, 1.0 - share), weight(near + 1, share)]
    };
    let rest_positions = rest_positions();
    let delta = |i: usize| Delta {
        index: i as u32,
        value: DVec3::new(0.0, 0.1, 0.02 * i as f64),
    };
    SsdProgram {
        weights: rest_positions.iter().map(row).collect(),
        corrections: vec![Correction {
            deltas: (0..10).map(delta).collect(),
        }],
        rest_positions,
    }
}

fn slider() -> Vec<Coefficient> {
    vec![Coefficient {
        name: "swell".to_owned(),
        default: 0.25,
    }]
}

/// Bones 1 and 4 shear, bone 3 is mirrored, the others turn and scale.
fn poses(skeleton: &Skeleton) -> Vec<Pose> {
    let rest = skeleton.rest_pose();
    let local = |j: usize, frame: usize| {
        let turn = DVec3::new(wave(j, 0, frame), wave(j, 1, frame), wave(j, 2, frame));
        let mut m = DMat3::from_quat(DQuat::from_scaled_axis(turn));
        if j == 1 || j == 4 {
            m.y_axis += 0.3 * wave(j, 3, frame) * m.x_axis;
            m.z_axis *= 1.0 + 0.2 * wave(j, 4, frame);
        } else if j == 3 {
            m.z_axis *= -1.0 - 0.2 * wave(j, 4, frame);
        }
        let slide = 0.1 * DVec3::new(wave(j, 5, frame), 0.0, wave(j, 6, frame));
        rest.parent_from_bone[j] * DAffine3::from_mat3_translation(m, slide)
    };
    let pose = |frame: usize| Pose {
        parent_from_bone: (0..5).map(|j| local(j, frame)).collect(),
        coefficients: vec![wave(9, 0, frame)],
    };
    (0..FRAMES).map(pose).collect()
}

fn played(skin: &Skin, poses: &[Pose], tolerance: f64) -> Playable {
    let clip = PoseClip {
        name: "wave".to_owned(),
        poses,
        frames_per_second: RATE,
    };
    let options = PlayableOptions {
        key_tolerance: tolerance,
    };
    to_playable(skin, &[clip], &options).expect("sound")
}

/// Largest distance between what a skin shows in its poses and what the playable one shows.
fn largest_difference(skin: &Skin, poses: &[Pose], playable: &Playable) -> f64 {
    let mut largest = 0.0f64;
    for (k, pose) in poses.iter().enumerate() {
        let wanted = skin.evaluate(pose).expect("the pose fits");
        let sampled = playable.skin.sample(&playable.clips[0], k as f64 / RATE);
        let shown = playable.skin.evaluate(&sampled).expect("the clip fits");
        for (a, b) in wanted.iter().zip(&shown) {
            largest = largest.max(a.distance(*b));
        }
    }
    largest
}

/// Root mean square over the vertices, in the worst frame.
fn rms_difference(skin: &Skin, poses: &[Pose], playable: &Playable) -> f64 {
    let at_frame = |(k, pose): (usize, &Pose)| {
        let wanted = skin.evaluate(pose).expect("the pose fits");
        let sampled = playable.skin.sample(&playable.clips[0], k as f64 / RATE);
        let shown = playable.skin.evaluate(&sampled).expect("the clip fits");
        let squares = wanted
            .iter()
            .zip(&shown)
            .map(|(a, b)| a.distance_squared(*b));
        (squares.sum::<f64>() / wanted.len() as f64).sqrt()
    };
    poses.iter().enumerate().map(at_frame).fold(0.0, f64::max)
}

#[test]
fn a_playable_skin_shows_the_same_shape_at_every_frame_in_every_program() {
    let weighted = ssd();
    let multi = MultiWeightProgram {
        rest_positions: weighted.rest_positions.clone(),
        influences: (weighted.weights.iter())
            .map(|row| {
                row.iter().map(|w| MultiWeight {
                    bone: w.bone,
                    weights: [0, 1, 2]
                        .map(|r| [0, 1, 2, 3].map(|c| w.weight + 0.01 * f64::from(r * c))),
                })
            })
            .collect(),
        corrections: weighted.corrections.clone(),
    };
    let linear = weighted.to_linear(&skeleton());
    for program in [
        VertexProgram::Ssd(weighted.clone()),
        VertexProgram::Linear(linear),
        VertexProgram::MultiWeight(multi),
        VertexProgram::DualQuaternion(DualQuaternionProgram { weighted }),
    ] {
        let name = program.name();
        let skin = Skin::new(skeleton(), program, slider()).expect("a skin");
        let poses = poses(&skin.skeleton);
        let playable = played(&skin, &poses, 0.0);
        assert_eq!(playable.split_count, 2, "{name}: hip and free");
        let off = largest_difference(&skin, &poses, &playable);
        assert!(off < 1e-9, "{name}: {off}");

        let bones = playable.skin.skeleton.bones();
        let names: Vec<&str> = bones.iter().map(|bone| bone.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "root",
                "hip",
                "hip.turn",
                "knee",
                "foot",
                "free",
                "free.turn"
            ],
            "{name}"
        );
        assert_eq!(
            bones[3].parent,
            Some(BoneId(2)),
            "the knee is a child of the turn"
        );
        let carriers: Vec<bool> = (playable.skin.skeleton.ids())
            .map(|bone| playable.skin.skeleton.is_carrier(bone))
            .collect();
        let expected = [false, true, false, false, false, true, false];
        assert_eq!(carriers, expected, "{name}: the outer nodes are carriers");
        assert_eq!(playable.bones, [0, 2, 3, 4, 6].map(BoneId), "{name}");
        let default = playable.skin.skeleton.default_pose();
        let shown = playable.skin.evaluate(&default).expect("it fits");
        let wanted = skin.evaluate(&skeleton().default_pose()).expect("it fits");
        for (a, b) in shown.iter().zip(&wanted) {
            assert!(
                a.distance(*b) < 1e-12,
                "{name}: the default pose is unchanged"
            );
        }
    }
}

#[test]
fn between_frames_vertices_stay_near_the_straight_line() {
    let skin = Skin::new(skeleton(), VertexProgram::Ssd(ssd()), slider()).expect("a skin");
    let poses = poses(&skin.skeleton);
    let playable = played(&skin, &poses, 0.0);
    let shown = |frame: f64| {
        let pose = playable.skin.sample(&playable.clips[0], frame / RATE);
        playable.skin.evaluate(&pose).expect("the clip fits")
    };
    let (mut stray, mut step) = (0.0f64, 0.0f64);
    for k in 0..FRAMES - 1 {
        let (a, b) = (shown(k as f64), shown((k + 1) as f64));
        for part in [0.25, 0.5, 0.75] {
            for ((x, a), b) in shown(k as f64 + part).iter().zip(&a).zip(&b) {
                stray = stray.max(x.distance(a.lerp(*b, part)));
                step = step.max(a.distance(*b));
            }
        }
    }
    eprintln!("vertices step by up to {step:.4} and stray by up to {stray:.4}");
    assert!(stray < 0.1 * step, "{stray} of {step}");
}

#[test]
fn a_key_tolerance_saves_keys_and_is_not_exceeded() {
    let linear = ssd().to_linear(&skeleton());
    for program in [VertexProgram::Ssd(ssd()), VertexProgram::Linear(linear)] {
        let skin = Skin::new(skeleton(), program, slider()).expect("a skin");
        let poses = poses(&skin.skeleton);
        let key_count = |playable: &Playable| -> usize {
            let channels = playable.clips[0].channels.iter();
            channels.map(|channel| channel.times().len()).sum()
        };
        let all = key_count(&played(&skin, &poses, 0.0));
        let mut last = all;
        for tolerance in [1e-6, 1e-4, 1e-2, 1e-1] {
            let playable = played(&skin, &poses, tolerance);
            let off = largest_difference(&skin, &poses, &playable);
            let keys = key_count(&playable);
            let mean = rms_difference(&skin, &poses, &playable);
            eprintln!(
                "within {tolerance}: off by {off:.2e}, {mean:.2e} in the mean, {keys} of {all} keys"
            );
            assert!(mean <= tolerance, "{mean} of {tolerance}");
            assert!(off <= 4.0 * tolerance, "{off} of {tolerance}");
            assert!(keys <= last, "{keys} keys, {last} for less");
            last = keys;
        }
        assert!(last < all * 2 / 3, "{last} of {all} keys");
    }
}

#[test]
fn a_bone_with_invisible_shear_is_not_split() {
    let skin = Skin::new(skeleton(), VertexProgram::Ssd(ssd()), slider()).expect("a skin");
    let mut poses = vec![skin.skeleton.rest_pose(); 3];
    poses[1].parent_from_bone[2].matrix3.y_axis.x += 1e-3;
    assert_eq!(
        played(&skin, &poses, 0.0).split_count,
        1,
        "without a tolerance it is split"
    );
    let playable = played(&skin, &poses, 0.05);
    assert_eq!(playable.split_count, 0, "within the tolerance it is not");
    assert!(
        rms_difference(&skin, &poses, &playable) < 0.05,
        "within the tolerance"
    );
    // Rounding of a rotation to single precision is no shear.
    let single = |m: DMat3| DMat3::from_cols_array(&m.to_cols_array().map(|x| f64::from(x as f32)));
    for pose in &mut poses {
        let turned = DMat3::from_quat(DQuat::from_scaled_axis(DVec3::new(0.3, 0.2, 0.9)));
        pose.parent_from_bone[2].matrix3 = single(turned);
    }
    assert_eq!(
        played(&skin, &poses, 0.0).split_count,
        0,
        "rounding is not split"
    );
}

#[test]
fn derived_bones_stay_derived_unless_their_joint_is_split() {
    let root = skeleton();
    let mut bones = root.bones().to_vec();
    // One that follows the knee, which does not shear, one that follows the hip, which does.
    for (name, like) in [("knee.half", 2), ("hip.half", 1), ("knee.swell", 2)] {
        bones.push(dermis::rig::Bone {
            name: name.to_owned(),
            ..root.bones()[like].clone()
        });
    }
    let follow = |bone: u16, of: u16, motion| DerivedBone {
        bone: BoneId(bone),
        of: BoneId(of),
        motion,
    };
    let half = DerivedMotion::PartTurn { share: 0.5 };
    let swell = DerivedMotion::Swell { gain: 0.4 };
    let mut program = ssd();
    let rows = program.weights.iter().enumerate().map(|(i, row)| {
        let mut row = row.to_vec();
        row[0].bone = BoneId(5 + (i % 3) as u16);
        row
    });
    program.weights = rows.collect();
    let skin = Skin::with_derived(
        Skeleton::new(bones).expect("parents come first"),
        VertexProgram::Ssd(program),
        slider(),
        vec![follow(5, 2, half), follow(6, 1, half), follow(7, 2, swell)],
    )
    .expect("three derived bones");
    let poses = poses(&root);
    for tolerance in [0.0, 1e-3] {
        let playable = played(&skin, &poses, tolerance);
        let off = largest_difference(&skin, &poses, &playable);
        assert!(off <= (4.0 * tolerance).max(1e-9), "{off} of {tolerance}");
        let derived: Vec<(u16, u16)> = (playable.skin.pose_program.derived().iter())
            .map(|d| (d.bone.0, d.of.0))
            .collect();
        assert_eq!(derived, [(8, 3), (9, 3)], "those of the knee, now the last");
        let names = playable.skin.skeleton.bones();
        assert_eq!(names[7].name, "hip.half", "posed like any other bone");
        // A player without derived bones shows the same shape.
        let plain = Playable {
            skin: playable.skin.without_pose_program(),
            ..playable
        };
        let off = largest_difference(&skin, &poses, &plain);
        assert!(
            off <= (4.0 * tolerance).max(1e-9),
            "{off} of {tolerance}, baked"
        );
    }
}

#[test]
fn flat_mirrored_and_zero_matrices_can_be_played() {
    let skin = Skin::new(skeleton(), VertexProgram::Ssd(ssd()), slider()).expect("a skin");
    let mut poses = poses(&skin.skeleton);
    for (k, pose) in poses.iter_mut().enumerate() {
        let t = k as f64 / (FRAMES - 1) as f64;
        let free = &mut pose.parent_from_bone[4];
        free.matrix3 *= DMat3::from_diagonal(DVec3::new(1.0, 1.0 - 2.0 * t, 1.0 - t));
        if k < 3 {
            pose.parent_from_bone[1].matrix3 = DMat3::ZERO;
        }
    }
    let playable = played(&skin, &poses, 0.0);
    let off = largest_difference(&skin, &poses, &playable);
    assert!(off < 1e-9, "{off}");
}

#[test]
fn several_clips_share_the_bones_and_still_clips_have_few_keys() {
    let skin = Skin::new(skeleton(), VertexProgram::Ssd(ssd()), slider()).expect("a skin");
    let moving = poses(&skin.skeleton);
    let mut still = vec![skin.skeleton.default_pose(); 5];
    still[0].coefficients = vec![0.25];
    let clip = |name: &str, poses| PoseClip {
        name: name.to_owned(),
        poses,
        frames_per_second: RATE,
    };
    let clips = [
        clip("still", &still[..]),
        clip("wave", &moving),
        clip("none", &[]),
    ];
    let playable = to_playable(&skin, &clips, &PlayableOptions::default()).expect("sound");
    assert_eq!(playable.skin.skeleton.bone_count(), 7, "two were split");
    let lengths: Vec<usize> = playable.clips.iter().map(|c| c.channels.len()).collect();
    assert_eq!(lengths[2], 0, "no poses");
    assert!(
        lengths[0] <= 1,
        "only the channel that keeps its length: {lengths:?}"
    );
    assert!(
        (playable.clips[0].end() - 4.0 / RATE).abs() < 1e-12,
        "the length is kept"
    );
    let turns = |channel: &&Channel| matches!(channel, Channel::Rotation(..));
    let turned = playable.clips[1].channels.iter().filter(turns).count();
    assert_eq!(turned, 7, "a rotation for each node");
}

#[test]
fn bad_input_is_refused_by_name() {
    let skin = Skin::new(skeleton(), VertexProgram::Ssd(ssd()), slider()).expect("a skin");
    let poses = poses(&skin.skeleton);
    let mut broken = poses.clone();
    broken[2].parent_from_bone[0].translation.x = f64::NAN;
    let mut short = poses.clone();
    short[0].parent_from_bone.pop();
    for (poses, rate, tolerance, message) in [
        (&poses, 0.0, 0.0, "frames-per-second"),
        (&poses, RATE, f64::NAN, "key-tolerance"),
        (&broken, RATE, 0.0, "pose 2 of clip bad is not finite"),
        (&short, RATE, 0.0, "expected 5 bones in the pose, found 4"),
    ] {
        let clip = PoseClip {
            name: "bad".to_owned(),
            poses,
            frames_per_second: rate,
        };
        let options = PlayableOptions {
            key_tolerance: tolerance,
        };
        let error = to_playable(&skin, &[clip], &options).expect_err(message);
        assert!(error.to_string().contains(message), "{error}");
    }
}
