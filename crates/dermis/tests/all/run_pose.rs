//! Fast sampling, blending and chaining of poses equal the plain ones, on clips of every kind.

use std::f64::consts::{PI, TAU};

use dermis::clip::{Channel, Clip, Interpolation, Keys};
use dermis::rig::{Bone, BoneId, Pose, Skeleton, Trs};
use dermis::run::{ClipSampler, PackedSkeleton, PoseBuffer};
use glam::{DAffine3, DQuat, DVec3};
use proptest::prelude::*;

/// Largest difference of two local matrices, relative to the larger of 1 and their largest entry.
const LOCAL_TOLERANCE: f64 = 2e-6;
/// Largest difference of two palettes, relative to the larger of 1 and the largest entry of the
/// palette, as `PackedSkeleton::palette` documents.
const PALETTE_TOLERANCE: f64 = 5e-6;
const COEFFICIENT_COUNT: usize = 3;

/// A small repeatable source of numbers from -1 to 1, seeded by proptest.
struct Chance(u64);

impl Chance {
    fn number(&mut self) -> f64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.number() * 0.5 + 0.5) * count as f64).min(count as f64 - 1.0) as usize
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    fn rotation(&mut self, angle_rad: f64) -> DQuat {
        DQuat::from_axis_angle(
            self.vector().normalize_or(DVec3::X),
            angle_rad * self.number(),
        )
    }

    fn interpolation(&mut self) -> Interpolation {
        use Interpolation::{Cubic, Linear, Step};
        [Step, Linear, Cubic][self.below(3)]
    }
}

fn random_skeleton(chance: &mut Chance, bone_count: usize) -> Skeleton {
    let bones = (0..bone_count).map(|j| Bone {
        name: format!("bone {j}"),
        // Sometimes another root.
        parent: (j > 0 && chance.below(12) > 0).then(|| BoneId(chance.below(j) as u16)),
        default_parent_from_bone: Trs {
            translation: chance.vector(),
            rotation: chance.rotation(3.0),
            scale: DVec3::ONE + 0.2 * chance.vector(),
        },
        bone_from_rest: DAffine3::from_rotation_translation(
            chance.rotation(3.0),
            3.0 * chance.vector(),
        ),
    });
    Skeleton::new(bones.collect()).expect("parents come first")
}

/// Keys at random times, or at `shared` ones; `walk` makes the next value from the last.
fn random_keys<T: Clone>(
    chance: &mut Chance,
    shared: &[f64],
    mut walk: impl FnMut(&mut Chance, Option<&T>) -> T,
    mut tangent: impl FnMut(&mut Chance) -> T,
) -> Keys<T> {
    let interpolation = chance.interpolation();
    let times = match chance.below(3) {
        0 => shared.to_vec(),
        _ => random_times(chance),
    };
    let mut values: Vec<T> = Vec::new();
    let mut last = None;
    for _ in &times {
        let value = walk(chance, last.as_ref());
        last = Some(value.clone());
        match interpolation {
            Interpolation::Cubic => values.extend([tangent(chance), value, tangent(chance)]),
            Interpolation::Step | Interpolation::Linear => values.push(value),
        }
    }
    Keys {
        interpolation,
        times,
        values,
    }
}

/// An empty list, or one or several rising times, the first perhaps negative.
fn random_times(chance: &mut Chance) -> Vec<f64> {
    let mut time = chance.number();
    (0..chance.below(12))
        .map(|_| {
            time += 0.05 + 0.2 * (chance.number() + 1.0);
            time
        })
        .collect()
}

fn random_clip(chance: &mut Chance, bone_count: usize) -> Clip {
    let shared = random_times(chance);
    let mut channels = Vec::new();
    // More channels than targets: some bones get two channels of the same kind, and some none.
    for _ in 0..3 * bone_count + 2 {
        let bone = BoneId(chance.below(bone_count) as u16);
        channels.push(match chance.below(7) {
            0 | 1 => Channel::Translation(
                bone,
                random_keys(chance, &shared, |c, _| c.vector(), Chance::vector),
            ),
            2..=4 => {
                // Cubic keys of opposite rotations would pass through zero, where no result is right: each
                // key turns by less than 90° from the last, with either sign.
                let walk = |c: &mut Chance, last: Option<&DQuat>| {
                    let from = last.copied().unwrap_or_else(|| c.rotation(3.0));
                    (from * c.rotation(1.5)).normalize()
                };
                let small = |c: &mut Chance| c.rotation(3.0) * 0.2;
                let mut keys = random_keys(chance, &shared, walk, small);
                if keys.interpolation != Interpolation::Cubic {
                    for value in &mut keys.values {
                        if chance.below(2) == 0 {
                            *value = -*value;
                        }
                    }
                }
                Channel::Rotation(bone, keys)
            }
            5 => {
                let size = |c: &mut Chance, _: Option<&DVec3>| DVec3::ONE + 0.2 * c.vector();
                let small = |c: &mut Chance| 0.2 * c.vector();
                Channel::Scale(bone, random_keys(chance, &shared, size, small))
            }
            _ => {
                let first = chance.below(COEFFICIENT_COUNT);
                let count = 1 + chance.below(COEFFICIENT_COUNT - first);
                let list = |c: &mut Chance| (0..count).map(|_| c.number()).collect::<Vec<f64>>();
                Channel::Coefficients(
                    first,
                    random_keys(chance, &shared, |c, _| list(c), |c| list(c)),
                )
            }
        });
    }
    Clip {
        name: "random".to_owned(),
        channels,
    }
}

/// Every key time, times around and between them, and some beyond both ends.
fn telling_times(clip: &Clip) -> Vec<f64> {
    let mut times: Vec<f64> = clip
        .channels
        .iter()
        .flat_map(|c| c.times())
        .copied()
        .collect();
    times.sort_by(f64::total_cmp);
    let between: Vec<f64> = times
        .windows(2)
        .map(|w| 0.37 * w[0] + 0.63 * w[1])
        .collect();
    times.extend(between);
    times.extend([clip.start() - 1.0, clip.end() + 1.0, 0.0]);
    times
}

fn largest_entry(matrices: &[DAffine3]) -> f64 {
    let entries = matrices.iter().flat_map(DAffine3::to_cols_array);
    entries.fold(0.0, |largest, v| largest.max(v.abs()))
}

/// Largest difference between row-major `f32` matrices and plain ones.
fn largest_difference(found: &[[f32; 12]], expected: &[DAffine3]) -> f64 {
    let mut largest: f64 = 0.0;
    for (found, expected) in found.iter().zip(expected) {
        let columns = expected.to_cols_array_2d();
        for (i, &value) in found.iter().enumerate() {
            largest = largest.max((f64::from(value) - columns[i % 4][i / 4]).abs());
        }
    }
    largest
}

fn assert_same_pose(found: &PoseBuffer, expected: &Pose, context: &str) {
    let pose = found.to_pose();
    let pairs = pose.parent_from_bone.iter().zip(&expected.parent_from_bone);
    for (j, (found, expected)) in pairs.enumerate() {
        let size = largest_entry(&[*expected]).max(1.0);
        assert!(
            found.abs_diff_eq(*expected, LOCAL_TOLERANCE * size),
            "{context}, bone {j}: expected {expected}, found {found}"
        );
    }
    let pairs = found.coefficients().iter().zip(&expected.coefficients);
    for (m, (&found, &expected)) in pairs.enumerate() {
        assert!(
            (f64::from(found) - expected).abs() <= LOCAL_TOLERANCE,
            "{context}, coefficient {m}: expected {expected}, found {found}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn sampling_blending_and_palettes_equal_the_reference(
        seed in any::<u64>(),
        bone_count in 1..40usize,
        weight in 0.0..=1.0f32,
    ) {
        let mut chance = Chance(seed);
        let skeleton = random_skeleton(&mut chance, bone_count);
        let clips = [(); 2].map(|()| random_clip(&mut chance, bone_count));
        let defaults: Vec<f64> = (0..COEFFICIENT_COUNT).map(|_| chance.number()).collect();
        let mut samplers = clips
            .each_ref()
            .map(|clip| ClipSampler::new(&skeleton, clip, &defaults).expect("the clip packs"));
        let packed = PackedSkeleton::new(&skeleton);
        let mut buffers = [(); 3].map(|()| PoseBuffer::new(&skeleton, &defaults));
        let mut palette = vec![[0.0; 12]; bone_count];
        let mut moved = palette.clone();

        for time in telling_times(&clips[0]) {
            let [a, b, blended] = &mut buffers;
            samplers[0].sample(time, a).expect("sizes agree");
            samplers[1].sample(time, b).expect("sizes agree");
            let plain = clips.each_ref().map(|clip| clip.sample(&skeleton, &defaults, time));
            assert_same_pose(a, &plain[0], &format!("sampled at {time}"));
            assert_same_pose(b, &plain[1], &format!("sampled at {time}"));

            PoseBuffer::blend(a, b, weight, blended).expect("sizes agree");
            let expected = plain[0].blend(&plain[1], f64::from(weight));
            let mut expected = expected.expect("no shear");
            // Bones almost 180° apart may turn either way.
            for id in skeleton.ids() {
                if a.local(id).rotation.dot(b.local(id).rotation).abs() < 1e-3 {
                    expected.parent_from_bone[id.index()] = blended.local(id).to_affine();
                }
            }
            assert_same_pose(blended, &expected, &format!("blended at {time}"));

            packed.palette(a, &mut palette).expect("sizes agree");
            packed.posed_from_rest(&palette, &mut moved).expect("sizes agree");
            let expected = skeleton.palette(&plain[0]).expect("sizes agree");
            let size = largest_entry(&expected.model_from_bone).max(1.0);
            let error = largest_difference(&palette, &expected.model_from_bone);
            prop_assert!(
                error <= PALETTE_TOLERANCE * size,
                "palette off by {} at {}", error / size, time
            );
            // Rest matrices here are up to 5 units from the origin.
            let error = largest_difference(&moved, &skeleton.posed_from_rest(&expected));
            prop_assert!(
                error <= 10.0 * PALETTE_TOLERANCE * size,
                "posed from rest off by {} at {}", error / size, time
            );
        }
    }

    #[test]
    fn the_order_of_sampling_does_not_change_a_bit(
        seed in any::<u64>(),
        bone_count in 1..20usize,
        jumps in prop::collection::vec(-3.0..6.0f64, 20),
    ) {
        let mut chance = Chance(seed);
        let skeleton = random_skeleton(&mut chance, bone_count);
        let clip = random_clip(&mut chance, bone_count);
        let defaults = [0.5; COEFFICIENT_COUNT];
        let fresh = ClipSampler::new(&skeleton, &clip, &defaults).expect("the clip packs");
        let mut used = fresh.clone();
        let mut found = PoseBuffer::new(&skeleton, &defaults);
        for time in jumps.into_iter().chain(telling_times(&clip)).chain([f64::NAN]) {
            let mut expected = PoseBuffer::new(&skeleton, &defaults);
            fresh.clone().sample(time, &mut expected).expect("sizes agree");
            used.sample(time, &mut found).expect("sizes agree");
            // Equal floats have equal bits here, except for the sign of zero.
            prop_assert_eq!(format!("{:?}", &found), format!("{:?}", &expected), "at {}", time);
        }
    }
}

#[test]
fn a_chain_of_150_bones_keeps_its_end_in_place() {
    let mut chance = Chance(7);
    let skeleton = Skeleton::from_rest_frames((0..150).map(|j: u16| {
        let at = DAffine3::from_translation(DVec3::new(0.1 * f64::from(j), 0.0, 0.0));
        (format!("{j}"), j.checked_sub(1).map(BoneId), at)
    }))
    .expect("a chain is a skeleton");
    let packed = PackedSkeleton::new(&skeleton);
    let mut pose = PoseBuffer::new(&skeleton, &[]);
    let mut palette = vec![[0.0; 12]; 150];
    let mut worst: f64 = 0.0;
    for angle_rad in [0.0, 0.01, 0.1, 1.0, 3.0] {
        for _ in 0..20 {
            // The reference uses the unrounded pose, so the rounding of the input counts, too.
            let mut plain = skeleton.default_pose();
            for id in skeleton.ids() {
                let local = Trs::rigid(chance.rotation(angle_rad), 0.1 * DVec3::X);
                pose.set_local(id, &local);
                plain.parent_from_bone[id.index()] = local.to_affine();
            }
            packed.palette(&pose, &mut palette).expect("sizes agree");
            let expected = skeleton.palette(&plain).expect("sizes agree");
            let size = largest_entry(&expected.model_from_bone);
            let error = largest_difference(&palette, &expected.model_from_bone);
            worst = worst.max(error / size);
        }
    }
    assert!(worst < PALETTE_TOLERANCE, "off by {worst:.1e}");
}

#[test]
fn a_slerp_is_exact_at_every_angle() {
    let skeleton = Skeleton::from_rest_frames([("bone".to_owned(), None, DAffine3::IDENTITY)])
        .expect("one bone is a skeleton");
    let mut pose = PoseBuffer::new(&skeleton, &[]);
    for angle_rad in [0.0, 1e-9, 1e-4, 0.5, 1.5, 3.0, PI - 1e-6, 4.0, TAU - 1e-3] {
        let axis = DVec3::new(0.6, 0.0, 0.8);
        let clip = Clip {
            name: "turn".to_owned(),
            channels: vec![Channel::Rotation(
                BoneId(0),
                Keys {
                    interpolation: Interpolation::Linear,
                    times: vec![0.0, 1.0],
                    values: vec![DQuat::IDENTITY, DQuat::from_axis_angle(axis, angle_rad)],
                },
            )],
        };
        let mut sampler = ClipSampler::new(&skeleton, &clip, &[]).expect("the clip packs");
        for step in 0..=100 {
            let time = f64::from(step) / 100.0;
            sampler.sample(time, &mut pose).expect("sizes agree");
            let expected = clip.sample(&skeleton, &[], time).parent_from_bone[0];
            let found = pose.local(BoneId(0)).to_affine();
            assert!(
                found.abs_diff_eq(expected, 5e-7),
                "{angle_rad} rad at {time}: expected {expected}, found {found}"
            );
        }
    }
}

#[test]
fn rotations_are_made_unit_length() {
    let mut skeleton = Skeleton::from_rest_frames(["a", "b", "c"].map(|name| {
        let parent = None;
        (name.to_owned(), parent, DAffine3::IDENTITY)
    }))
    .expect("three roots are a skeleton");
    let mut bones = skeleton.bones().to_vec();
    bones[2].default_parent_from_bone.rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    skeleton = Skeleton::new(bones).expect("zero is finite");

    let turn = DQuat::from_rotation_z(1.0);
    let zero = turn * 0.0;
    let channel = |bone, interpolation, values: Vec<DQuat>| {
        let keys = Keys {
            interpolation,
            times: vec![0.0, 1.0, 2.0],
            values,
        };
        Channel::Rotation(BoneId(bone), keys)
    };
    let clip = Clip {
        name: "sloppy".to_owned(),
        channels: vec![
            channel(0, Interpolation::Linear, vec![zero, turn * 3.0, turn]),
            channel(1, Interpolation::Cubic, vec![zero; 9]),
        ],
    };
    let mut sampler = ClipSampler::new(&skeleton, &clip, &[]).expect("the clip packs");
    let mut pose = PoseBuffer::new(&skeleton, &[]);
    for (time, angle_rad) in [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.5, 1.0)] {
        sampler.sample(time, &mut pose).expect("sizes agree");
        for (bone, angle_rad) in [(0, angle_rad), (1, 0.0), (2, 0.0)] {
            let found = pose.local(BoneId(bone)).rotation;
            let expected = DQuat::from_rotation_z(angle_rad);
            assert!(
                found.abs_diff_eq(expected, 1e-6),
                "bone {bone} at {time}: expected {expected}, found {found}"
            );
        }
    }
}

#[test]
fn clips_that_cannot_be_packed_are_refused_and_the_cause_named() {
    let skeleton = Skeleton::from_rest_frames([("hip".to_owned(), None, DAffine3::IDENTITY)])
        .expect("one bone is a skeleton");
    let refused = |channel: Channel| {
        let clip = Clip {
            name: "bad".to_owned(),
            channels: vec![channel],
        };
        ClipSampler::new(&skeleton, &clip, &[0.0; 3])
            .expect_err("the clip is bad")
            .to_string()
    };
    let keys = |value: DVec3| Keys {
        interpolation: Interpolation::Linear,
        times: vec![0.0, 1.0],
        values: vec![DVec3::ONE, value],
    };
    for (channel, expected) in [
        (
            Channel::Scale(BoneId(0), keys(DVec3::splat(f64::NAN))),
            "a scale key of bone hip in clip bad is not finite",
        ),
        (
            // Finite, but not in single precision.
            Channel::Translation(BoneId(0), keys(DVec3::splat(1e40))),
            "a translation key of bone hip in clip bad is not finite",
        ),
        (
            Channel::Translation(BoneId(1), keys(DVec3::ZERO)),
            "clip bad: a channel moves bone 1, which does not exist",
        ),
        (
            Channel::Coefficients(
                1,
                Keys {
                    interpolation: Interpolation::Step,
                    times: vec![0.0, 1.0],
                    values: vec![vec![1.0, 2.0], vec![1.0]],
                },
            ),
            "clip bad: one channel has keys of 2 and of 1 coefficients",
        ),
    ] {
        assert_eq!(refused(channel), expected, "the message names the cause");
    }
}

#[test]
fn an_empty_clip_gives_the_default_pose() {
    let mut chance = Chance(3);
    let skeleton = random_skeleton(&mut chance, 6);
    let clip = Clip {
        name: "still".to_owned(),
        channels: vec![],
    };
    let mut sampler = ClipSampler::new(&skeleton, &clip, &[0.25]).expect("the clip packs");
    let expected = PoseBuffer::new(&skeleton, &[0.25]);
    let mut found = expected.clone();
    found.coefficients_mut()[0] = 9.0;
    found.set_local(BoneId(2), &Trs::IDENTITY);
    sampler
        .sample(sampler.loop_time(7.0), &mut found)
        .expect("sizes agree");
    assert_eq!(found, expected, "independent of the buffer's contents");
}
