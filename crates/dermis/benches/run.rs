//! The fast evaluation against plain code, by program, layout, size and instruction set.
//!
//! The rig is a lumpy body of 100 bones whose vertices use the four nearest bones with smooth
//! weights: neighbours share their bones, as on real characters.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dermis::run::timing::{TimedOutput, TimingOptions, copy_bandwidth};
use dermis::run::{
    InstructionSet, Layout, NormalLength, Normals, PackOptions, PackedSkin, Precision, Stores,
};
use dermis::skin::{DualQuaternionProgram, MultiWeight, MultiWeightProgram, SsdProgram, Weight};
use dermis::{BoneId, Pose, Skeleton, Skin, VertexProgram};
use glam::{DAffine3, DQuat, DVec3};

fn noise(k: usize, step: f64) -> f64 {
    ((k * 37 + 1) as f64 * step).sin()
}

/// A closed lumpy surface, vertices row by row, and bones spread inside it.
fn body(vertex_count: usize, bone_count: usize, influences: usize) -> (Skin, Vec<DVec3>, Pose) {
    let columns = (vertex_count as f64 / 2.0).sqrt().ceil() as usize;
    let surface = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let height = 2.0 * row as f64 / (vertex_count as f64 / columns as f64) - 1.0;
        let angle = std::f64::consts::TAU * column as f64 / columns as f64;
        let radius = 0.3 + 0.1 * (5.0 * height).sin() + 0.05 * (3.0 * angle).cos();
        DVec3::new(radius * angle.cos(), height, radius * angle.sin())
    };
    let rest_positions: Vec<DVec3> = (0..vertex_count).map(surface).collect();
    let normals = rest_positions
        .iter()
        .map(|p| DVec3::new(p.x, 0.0, p.z).normalize())
        .collect();
    // Bones near random points of the surface.
    let centers: Vec<DVec3> = (0..bone_count)
        .map(|j| {
            0.8 * surface((0.5 * (1.0 + noise(j, 0.754877)) * (vertex_count - 1) as f64) as usize)
                + 0.05 * DVec3::new(noise(j, 0.3), noise(j, 0.7), noise(j, 1.1))
        })
        .collect();
    let skeleton = Skeleton::from_rest_frames(centers.iter().enumerate().map(|(j, c)| {
        let parent = (j > 0).then(|| BoneId((j / 3) as u16));
        (format!("bone {j}"), parent, DAffine3::from_translation(*c))
    }))
    .expect("parents come first");
    let weights = rest_positions
        .iter()
        .map(|p| {
            let mut near: Vec<(f64, usize)> = centers
                .iter()
                .enumerate()
                .map(|(j, c)| (p.distance_squared(*c), j))
                .collect();
            near.select_nth_unstable_by(influences, |a, b| a.0.total_cmp(&b.0));
            let share = |d: f64| 1.0 / (d + 1e-3);
            let sum: f64 = near[..influences].iter().map(|n| share(n.0)).sum();
            near[..influences]
                .iter()
                .map(|&(d, j)| Weight {
                    bone: BoneId(j as u16),
                    weight: share(d) / sum,
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let program = VertexProgram::Ssd(SsdProgram {
        rest_positions,
        weights,
        corrections: Vec::new(),
    });
    let mut pose = skeleton.rest_pose();
    for (j, local) in pose.parent_from_bone.iter_mut().enumerate() {
        let turn = 0.3 * DVec3::new(noise(j, 0.5), noise(j, 0.9), noise(j, 1.3));
        *local *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
    }
    let skin = Skin::new(skeleton, program, Vec::new()).expect("valid");
    (skin, normals, pose)
}

fn as_dual_quaternions(skin: &Skin) -> Skin {
    let VertexProgram::Ssd(ssd) = skin.program.clone() else {
        panic!("made as SSD")
    };
    let program = VertexProgram::DualQuaternion(DualQuaternionProgram { weighted: ssd });
    Skin::new(skin.skeleton.clone(), program, Vec::new()).expect("valid")
}

fn as_multi_weights(skin: &Skin) -> Skin {
    let VertexProgram::Ssd(ssd) = skin.program.clone() else {
        panic!("made as SSD")
    };
    let twelve = |w: &Weight| MultiWeight {
        bone: w.bone,
        weights: [[w.weight; 4]; 3],
    };
    let program = VertexProgram::MultiWeight(MultiWeightProgram {
        influences: ssd
            .weights
            .iter()
            .map(|row| row.iter().map(twelve).collect::<Vec<_>>())
            .collect(),
        rest_positions: ssd.rest_positions,
        corrections: Vec::new(),
    });
    Skin::new(skin.skeleton.clone(), program, Vec::new()).expect("valid")
}

/// What most programs do: one vertex after the other, four weights and four bones each.
fn plain_scalar(
    palette: &[[[f32; 4]; 3]],
    rest: &[[f32; 3]],
    rest_normals: &[[f32; 3]],
    influences: &[[(u16, f32); 4]],
    positions: &mut [[f32; 3]],
    normals: &mut [[f32; 3]],
) {
    for i in 0..rest.len() {
        let mut m = [[0.0f32; 4]; 3];
        for &(bone, weight) in &influences[i] {
            let n = &palette[bone as usize];
            for r in 0..3 {
                for c in 0..4 {
                    m[r][c] += weight * n[r][c];
                }
            }
        }
        let (v, n) = (rest[i], rest_normals[i]);
        positions[i] = m.map(|r| r[0] * v[0] + r[1] * v[1] + r[2] * v[2] + r[3]);
        normals[i] = m.map(|r| r[0] * n[0] + r[1] * n[1] + r[2] * n[2]);
    }
}

/// Times one skin in one way and prints a line: the tables of the documentation.
fn line(
    name: &str,
    skin: &Skin,
    pose: &Pose,
    options: &PackOptions,
    timing: &TimingOptions,
) -> f64 {
    let packed = PackedSkin::new(skin, options).expect("packs");
    let inputs = skin.run_pose_program(pose).expect("fits");
    let frame = packed.frame(&inputs).expect("fits");
    let timed = packed.time(&frame.inputs(), timing).expect("sizes agree");
    println!(
        "{name:52} {:6.3} ns/vertex  {:6.1} GB/s  {:5.1} Gflop/s  {:5.1} B in {:4.1} B out  padding {:.3}  bones {:.2}",
        timed.ns_per_vertex,
        timed.gigabytes_per_second,
        packed.flops_per_vertex() / timed.ns_per_vertex,
        timed.traffic.read as f64 / packed.vertex_count() as f64,
        timed.traffic.written as f64 / packed.vertex_count() as f64,
        packed.padding_ratio(),
        packed.bones_per_vertex(),
    );
    timed.ns_per_vertex
}

fn tables() {
    let (skin, normals, pose) = body(100_000, 100, 4);
    let rest = Normals::Rest(normals.clone());
    let linear = skin.to_linear().expect("linear");
    let timing = TimingOptions::default();
    println!("\n100,000 vertices, 100 bones, 4 influences, one thread");
    for set in InstructionSet::available() {
        let blended = PackOptions {
            normals: rest.clone(),
            normal_length: NormalLength::AsBlended,
            instruction_set: Some(set),
            ..PackOptions::default()
        };
        let unit = PackOptions {
            normal_length: NormalLength::Unit,
            ..blended.clone()
        };
        let bare = PackOptions {
            normals: Normals::None,
            ..blended.clone()
        };
        let half = PackOptions {
            precision: Precision::Quantized16,
            ..blended.clone()
        };
        let in_order = PackOptions {
            layout: Layout::CallerOrder,
            ..blended.clone()
        };
        let scattered = TimingOptions {
            output: TimedOutput::Vertices,
            ..timing
        };
        let dual = as_dual_quaternions(&skin);
        let multi = as_multi_weights(&skin);
        for (name, skin) in [
            ("ssd", &skin),
            ("linear", &linear),
            ("multi-weight", &multi),
            ("dual quaternion", &dual),
        ] {
            line(
                &format!("{set:?} {name}: positions"),
                skin,
                &pose,
                &bare,
                &timing,
            );
            line(
                &format!("{set:?} {name}: + normals"),
                skin,
                &pose,
                &blended,
                &timing,
            );
            line(
                &format!("{set:?} {name}: + unit normals"),
                skin,
                &pose,
                &unit,
                &timing,
            );
            line(
                &format!("{set:?} {name}: + normals, 16 bits"),
                skin,
                &pose,
                &half,
                &timing,
            );
            line(
                &format!("{set:?} {name}: + normals, to caller's order"),
                skin,
                &pose,
                &blended,
                &scattered,
            );
            if name != "dual quaternion" {
                line(
                    &format!("{set:?} {name}: + normals, in caller's order"),
                    skin,
                    &pose,
                    &in_order,
                    &scattered,
                );
            }
        }
    }
}

/// From inside the second-level cache to beyond the last.
fn sizes() {
    println!("\nby size: ssd + normals, one thread");
    let timing = TimingOptions::default();
    for count in [10_000, 100_000, 1_000_000, 4_000_000] {
        let (skin, normals, pose) = body(count, 100, 4);
        for set in InstructionSet::available() {
            for stores in [Stores::Cached, Stores::Streamed] {
                let options = PackOptions {
                    normals: Normals::Rest(normals.clone()),
                    normal_length: NormalLength::AsBlended,
                    instruction_set: Some(set),
                    stores,
                    ..PackOptions::default()
                };
                line(
                    &format!("{count} {set:?} {stores:?}"),
                    &skin,
                    &pose,
                    &options,
                    &timing,
                );
            }
        }
        // As many bytes as the skin moves.
        let copied = copy_bandwidth(65 * count / 2, &timing);
        println!(
            "{count} copy: cached {:.1} GB/s, streamed {:.1} GB/s",
            copied.cached, copied.streamed
        );
    }
}

fn plain(criterion: &mut Criterion) {
    let (skin, normals, pose) = body(100_000, 100, 4);
    let VertexProgram::Ssd(ssd) = &skin.program else {
        panic!("made as SSD")
    };
    let inputs = skin.run_pose_program(&pose).expect("fits");
    let palette: Vec<[[f32; 4]; 3]> = skin
        .skeleton
        .posed_from_rest(&inputs.palette)
        .iter()
        .map(|m| {
            let c = [m.x_axis, m.y_axis, m.z_axis, m.translation];
            [0, 1, 2].map(|r| [0, 1, 2, 3].map(|k| c[k][r] as f32))
        })
        .collect();
    let to_f32 = |v: &DVec3| v.as_vec3().to_array();
    let rest: Vec<_> = ssd.rest_positions.iter().map(to_f32).collect();
    let rest_normals: Vec<_> = normals.iter().map(to_f32).collect();
    let influences: Vec<[(u16, f32); 4]> = ssd
        .weights
        .iter()
        .map(|row| std::array::from_fn(|k| (row[k].bone.0, row[k].weight as f32)))
        .collect();
    let mut positions = vec![[0.0; 3]; rest.len()];
    let mut posed_normals = positions.clone();
    let mut group = criterion.benchmark_group("run/plain");
    group.throughput(Throughput::Elements(rest.len() as u64));
    group.bench_function("scalar", |bencher| {
        bencher.iter(|| {
            plain_scalar(
                black_box(&palette),
                &rest,
                &rest_normals,
                &influences,
                &mut positions,
                &mut posed_normals,
            );
        });
    });
    group.finish();
}

fn all(criterion: &mut Criterion) {
    let only = std::env::var("RUN_ONLY").unwrap_or_default();
    if only.is_empty() || only == "tables" {
        tables();
    }
    if only.is_empty() || only == "sizes" {
        sizes();
    }
    if only.is_empty() {
        plain(criterion);
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
