//! How long a character's pose takes: sampling a clip, blending two, and the chain to matrices.
//!
//! One character of 150 bones on one thread; the time of an iteration is the time per character
//! and frame, and a throughput of 100 Melem/s is 10 ns per bone. Each fast step stands beside the
//! plain `f64` one that it is tested against. Clips play forwards at 60 frames a second, looped.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dermis::clip::{Channel, Clip, Interpolation, Keys};
use dermis::rig::{BoneId, Skeleton};
use dermis::run::{ClipSampler, PackedSkeleton, PoseBuffer};
use glam::{DAffine3, DQuat, DVec3};

const BONE_COUNT: usize = 150;
const KEY_COUNT: usize = 60;
const KEYS_PER_SECOND: f64 = 30.0;
const FRAME_SECONDS: f64 = 1.0 / 60.0;

/// Limbs of ten bones that hang on bones spread over the ones before: about 30 levels deep.
fn character() -> Skeleton {
    skeleton(|j| match j {
        0 => None,
        j if j % 10 == 0 => Some(j / 2),
        j => Some(j - 1),
    })
}

/// Every bone on the one before: the worst case for the chain, in time and in rounding.
fn rope() -> Skeleton {
    skeleton(|j| j.checked_sub(1))
}

fn skeleton(parent_of: impl Fn(usize) -> Option<usize>) -> Skeleton {
    Skeleton::from_rest_frames((0..BONE_COUNT).map(|j| {
        let parent = parent_of(j).map(|a| BoneId(a as u16));
        let at = DVec3::new(0.1 * j as f64, 0.01 * (j % 7) as f64, 0.0);
        (format!("bone {j}"), parent, DAffine3::from_translation(at))
    }))
    .expect("parents come first")
}

/// What a clip moves and how.
#[derive(Clone, Copy)]
struct Motion {
    interpolation: Interpolation,
    /// Whether every track has key times of its own, as after removing needless keys.
    own_times: bool,
    /// Whether all bones move and stretch too, or only turn.
    all_parts: bool,
    /// Makes two clips differ.
    phase: f64,
}

const BAKED: Motion = Motion {
    interpolation: Interpolation::Linear,
    own_times: false,
    all_parts: true,
    phase: 0.0,
};

fn clip(motion: Motion) -> Clip {
    let mut channels = Vec::new();
    for j in 0..BONE_COUNT {
        let bone = BoneId(j as u16);
        let wave = |k: usize, part: f64| {
            (0.3 * k as f64 + 0.7 * j as f64 + 2.0 * part + motion.phase).sin()
        };
        let times = |part: f64| -> Vec<f64> {
            let shift = |k| match motion.own_times {
                true => 0.3 * wave(k, part + 5.0),
                false => 0.0,
            };
            (0..KEY_COUNT)
                .map(|k| (k as f64 + shift(k)) / KEYS_PER_SECOND)
                .collect()
        };
        let vectors = |part: f64, middle: f64| Keys {
            interpolation: motion.interpolation,
            times: times(part),
            values: with_tangents(motion, |k| {
                DVec3::splat(middle) + 0.1 * DVec3::new(wave(k, part), wave(k, part + 0.3), 0.2)
            }),
        };
        channels.push(Channel::Rotation(
            bone,
            Keys {
                interpolation: motion.interpolation,
                times: times(0.0),
                values: with_tangents(motion, |k| {
                    DQuat::from_scaled_axis(DVec3::new(wave(k, 0.0), wave(k, 0.5), 0.4))
                }),
            },
        ));
        if motion.all_parts || j == 0 {
            channels.push(Channel::Translation(bone, vectors(1.0, 0.1)));
        }
        if motion.all_parts {
            channels.push(Channel::Scale(bone, vectors(2.0, 1.0)));
        }
    }
    Clip {
        name: "wave".to_owned(),
        channels,
    }
}

/// The values of all keys; cubic ones with the key itself as a tangent, which costs the same as
/// any other.
fn with_tangents<T: Copy>(motion: Motion, value: impl Fn(usize) -> T) -> Vec<T> {
    let repeat = match motion.interpolation {
        Interpolation::Cubic => 3,
        Interpolation::Step | Interpolation::Linear => 1,
    };
    let keys = (0..KEY_COUNT).map(value);
    keys.flat_map(|v| std::iter::repeat_n(v, repeat)).collect()
}

/// Times of frames, looped over the clip, one after the other for ever.
fn frames(sampler: &ClipSampler) -> impl FnMut() -> f64 + use<> {
    let (mut frame, sampler) = (0u64, sampler.clone());
    move || {
        frame += 1;
        sampler.loop_time(frame as f64 * FRAME_SECONDS)
    }
}

fn sample(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pose/sample");
    group.throughput(Throughput::Elements(BONE_COUNT as u64));
    let skeleton = character();
    let mut out = PoseBuffer::new(&skeleton, &[]);
    let own_times = Motion {
        own_times: true,
        ..BAKED
    };
    let rotations = Motion {
        all_parts: false,
        ..BAKED
    };
    let cubic = Motion {
        interpolation: Interpolation::Cubic,
        ..BAKED
    };
    let step = Motion {
        interpolation: Interpolation::Step,
        ..BAKED
    };
    for (name, motion) in [
        ("linear", BAKED),
        ("linear_rotations_only", rotations),
        ("linear_own_times", own_times),
        ("cubic", cubic),
        ("step", step),
    ] {
        let clip = clip(motion);
        let mut sampler = ClipSampler::new(&skeleton, &clip, &[]).expect("the clip packs");
        let mut next = frames(&sampler);
        group.bench_function(name, |bencher| {
            bencher.iter(|| sampler.sample(black_box(next()), &mut out));
        });
        let mut next = frames(&sampler);
        group.bench_function(format!("{name}_f64"), |bencher| {
            bencher.iter(|| clip.sample(&skeleton, &[], black_box(next())));
        });
    }
    let mut sampler = ClipSampler::new(&skeleton, &clip(own_times), &[]).expect("the clip packs");
    let mut time = 0.0;
    group.bench_function("linear_own_times_jumping", |bencher| {
        bencher.iter(|| {
            time = sampler.loop_time(time + 0.7);
            sampler.sample(black_box(time), &mut out)
        });
    });
    group.finish();
}

/// Samplers of a whole crowd, so that every character finds its keys outside the first cache.
fn crowd(criterion: &mut Criterion) {
    const CHARACTER_COUNT: usize = 100;
    let mut group = criterion.benchmark_group("pose/crowd_of_100");
    group.throughput(Throughput::Elements((CHARACTER_COUNT * BONE_COUNT) as u64));
    let skeleton = character();
    let packed = PackedSkeleton::new(&skeleton);
    let sampler = ClipSampler::new(&skeleton, &clip(BAKED), &[]).expect("the clip packs");
    let mut samplers = vec![sampler.clone(); CHARACTER_COUNT];
    let mut pose = PoseBuffer::new(&skeleton, &[]);
    let mut palettes = vec![[0.0; 12]; CHARACTER_COUNT * BONE_COUNT];
    let mut next = frames(&sampler);
    group.bench_function("sample_and_palette", |bencher| {
        bencher.iter(|| {
            let now = next();
            for (i, sampler) in samplers.iter_mut().enumerate() {
                let time = sampler.loop_time(now + 0.37 * i as f64);
                let palette = &mut palettes[i * BONE_COUNT..(i + 1) * BONE_COUNT];
                sampler.sample(time, &mut pose).expect("sizes agree");
                packed.palette(&pose, palette).expect("sizes agree");
            }
        });
    });
    group.finish();
}

fn blend(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pose/blend");
    group.throughput(Throughput::Elements(BONE_COUNT as u64));
    let skeleton = character();
    let sampled = |phase| {
        let clip = clip(Motion { phase, ..BAKED });
        let mut pose = PoseBuffer::new(&skeleton, &[]);
        let mut sampler = ClipSampler::new(&skeleton, &clip, &[]).expect("the clip packs");
        sampler.sample(0.51, &mut pose).expect("sizes agree");
        pose
    };
    let (a, b) = (sampled(0.0), sampled(1.0));
    let mut out = a.clone();
    group.bench_function("blend", |bencher| {
        bencher.iter(|| PoseBuffer::blend(black_box(&a), &b, black_box(0.3), &mut out));
    });
    let (a, b) = (a.to_pose(), b.to_pose());
    group.bench_function("blend_f64", |bencher| {
        bencher.iter(|| black_box(&a).blend(&b, black_box(0.3)));
    });
    group.finish();
}

fn palette(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pose/palette");
    group.throughput(Throughput::Elements(BONE_COUNT as u64));
    for (name, skeleton) in [("character", character()), ("rope", rope())] {
        let packed = PackedSkeleton::new(&skeleton);
        let mut sampler = ClipSampler::new(&skeleton, &clip(BAKED), &[]).expect("the clip packs");
        let mut pose = PoseBuffer::new(&skeleton, &[]);
        sampler.sample(0.51, &mut pose).expect("sizes agree");
        let mut out = vec![[0.0; 12]; BONE_COUNT];
        group.bench_function(name, |bencher| {
            bencher.iter(|| packed.palette(black_box(&pose), &mut out));
        });
        let mut moved = out.clone();
        group.bench_function(format!("{name}_posed_from_rest"), |bencher| {
            bencher.iter(|| packed.posed_from_rest(black_box(&out), &mut moved));
        });
        let plain = pose.to_pose();
        group.bench_function(format!("{name}_f64"), |bencher| {
            bencher.iter(|| skeleton.palette(black_box(&plain)));
        });
    }
    group.finish();
}

/// What a frame costs: one clip, or two blended, to matrices.
fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pose/whole");
    group.throughput(Throughput::Elements(BONE_COUNT as u64));
    let skeleton = character();
    let packed = PackedSkeleton::new(&skeleton);
    let second_motion = Motion {
        phase: 1.0,
        ..BAKED
    };
    let clips = [clip(BAKED), clip(second_motion)];
    let mut samplers = clips
        .each_ref()
        .map(|clip| ClipSampler::new(&skeleton, clip, &[]).expect("the clip packs"));
    let mut poses = [(); 3].map(|()| PoseBuffer::new(&skeleton, &[]));
    let mut out = vec![[0.0; 12]; BONE_COUNT];

    let mut next = frames(&samplers[0]);
    group.bench_function("one_clip", |bencher| {
        bencher.iter(|| {
            (samplers[0].sample(black_box(next()), &mut poses[0])).expect("sizes agree");
            packed.palette(&poses[0], &mut out).expect("sizes agree");
        });
    });
    group.bench_function("one_clip_f64", |bencher| {
        bencher.iter(|| skeleton.palette(&clips[0].sample(&skeleton, &[], black_box(next()))));
    });
    group.bench_function("two_clips_blended", |bencher| {
        bencher.iter(|| {
            let time = black_box(next());
            let [a, b, blended] = &mut poses;
            samplers[0].sample(time, a).expect("sizes agree");
            samplers[1].sample(time, b).expect("sizes agree");
            PoseBuffer::blend(a, b, black_box(0.3), blended).expect("sizes agree");
            packed.palette(blended, &mut out).expect("sizes agree");
        });
    });
    group.bench_function("two_clips_blended_f64", |bencher| {
        bencher.iter(|| {
            let time = black_box(next());
            let [a, b] = clips.each_ref().map(|c| c.sample(&skeleton, &[], time));
            let blended = a.blend(&b, black_box(0.3)).expect("sizes agree");
            skeleton.palette(&blended)
        });
    });
    group.finish();
}

criterion_group!(benches, sample, blend, palette, whole, crowd);
criterion_main!(benches);
