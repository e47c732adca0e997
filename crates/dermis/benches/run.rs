//! The fast evaluation against plain code, by program, layout, size and instruction set.
//!
//! `cargo bench -p dermis --bench run` for criterion, with `DERMIS_TABLES=all` for tables.
//! ozz-animation-rs, the peer to compare with, needs a nightly compiler.
//!
//! The rig is [`dermis::synth::body`]: neighbours share their bones, as on real characters.

#[path = "run/cost_model.rs"]
mod cost_model;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dermis::mesh::vertex_normals;
use dermis::run::timing::{TimedOutput, TimingOptions, best_time, copy_bandwidth};
use dermis::run::{
    InstructionSet, Layout, NormalLength, Normals, Output, PackOptions, PackedSkin, Plane,
    Precision, Stores,
};
use dermis::skin::{DualQuaternionProgram, MultiWeight, MultiWeightProgram, SsdProgram, Weight};
use dermis::synth::{BodyOptions, body};
use dermis::{Pose, Skin, VertexProgram};
use glam::{DAffine3, DVec3};

/// A skin with its rest normals and a pose.
struct Body {
    skin: Skin,
    normals: Vec<DVec3>,
    pose: Pose,
}

impl Body {
    fn new(vertex_count: usize, bone_count: usize, influences: usize) -> Self {
        let body = body(&BodyOptions {
            vertex_count,
            influences,
            bone_count,
        });
        Self {
            normals: vertex_normals(body.mesh.positions(), body.mesh.triangles()),
            skin: body.skin,
            pose: body.pose,
        }
    }

    fn ssd(&self) -> &SsdProgram {
        match &self.skin.program {
            VertexProgram::Ssd(ssd) => ssd,
            _ => panic!("made as SSD"),
        }
    }

    fn with_program(&self, program: VertexProgram) -> Skin {
        Skin::new(self.skin.skeleton.clone(), program, Vec::new()).expect("valid")
    }

    /// The same deformation by every program, or nearly.
    fn programs(&self) -> Vec<(&'static str, Skin)> {
        let ssd = self.ssd();
        let twelve = |w: &Weight| MultiWeight {
            bone: w.bone,
            weights: [[w.weight; 4]; 3],
        };
        let multi = MultiWeightProgram {
            influences: ssd
                .weights
                .iter()
                .map(|row| row.iter().map(twelve).collect::<Vec<_>>())
                .collect(),
            rest_positions: ssd.rest_positions.clone(),
            corrections: Vec::new(),
        };
        let dual = DualQuaternionProgram {
            weighted: ssd.clone(),
        };
        vec![
            ("ssd", self.skin.clone()),
            ("linear", self.skin.to_linear().expect("linear")),
            (
                "multi-weight",
                self.with_program(VertexProgram::MultiWeight(multi)),
            ),
            (
                "dual quaternion",
                self.with_program(VertexProgram::DualQuaternion(dual)),
            ),
        ]
    }

    /// The same mesh with its vertices in no order.
    fn shuffled(&self) -> Self {
        let ssd = self.ssd();
        let count = ssd.rest_positions.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&i| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let program = VertexProgram::Ssd(SsdProgram {
            rest_positions: order.iter().map(|&i| ssd.rest_positions[i]).collect(),
            weights: order.iter().map(|&i| ssd.weights.row(i).to_vec()).collect(),
            corrections: Vec::new(),
        });
        Self {
            skin: self.with_program(program),
            normals: order.iter().map(|&i| self.normals[i]).collect(),
            pose: self.pose.clone(),
        }
    }
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

/// The arrays that `plain_scalar` works on.
struct Plain {
    palette: Vec<[[f32; 4]; 3]>,
    rest: Vec<[f32; 3]>,
    rest_normals: Vec<[f32; 3]>,
    influences: Vec<[(u16, f32); 4]>,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
}

impl Plain {
    fn new(body: &Body) -> Self {
        let ssd = body.ssd();
        let inputs = body.skin.run_pose_program(&body.pose).expect("fits");
        let posed_from_rest = body.skin.skeleton.posed_from_rest(&inputs.palette);
        let rows = |m: &DAffine3| {
            let c = [m.x_axis, m.y_axis, m.z_axis, m.translation];
            [0, 1, 2].map(|r| [0, 1, 2, 3].map(|k| c[k][r] as f32))
        };
        let to_f32 = |v: &DVec3| v.as_vec3().to_array();
        let four = |row: &[Weight]| std::array::from_fn(|k| (row[k].bone.0, row[k].weight as f32));
        let count = ssd.rest_positions.len();
        Self {
            palette: posed_from_rest.iter().map(rows).collect(),
            rest: ssd.rest_positions.iter().map(to_f32).collect(),
            rest_normals: body.normals.iter().map(to_f32).collect(),
            influences: ssd.weights.iter().map(four).collect(),
            positions: vec![[0.0; 3]; count],
            normals: vec![[0.0; 3]; count],
        }
    }

    fn run(&mut self) {
        plain_scalar(
            black_box(&self.palette),
            &self.rest,
            &self.rest_normals,
            &self.influences,
            &mut self.positions,
            &mut self.normals,
        );
    }

    fn ns_per_vertex(&mut self) -> f64 {
        best_time(&TimingOptions::default(), || self.run()) * 1e9 / self.rest.len() as f64
    }
}

/// Times one skin in one way and prints a row.
fn row(name: &str, skin: &Skin, pose: &Pose, options: &PackOptions, timing: &TimingOptions) -> f64 {
    let packed = PackedSkin::new(skin, options).expect("packs");
    let inputs = skin.run_pose_program(pose).expect("fits");
    let frame = packed.frame(&inputs).expect("fits");
    let timed = packed.time(&frame.inputs(), timing).expect("sizes agree");
    println!(
        "| {name:44} | {:6.2} | {:5.1} | {:5.1} | {:5.1} | {:4.1} | {:.3} | {:.2} |",
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

fn heading(title: &str) {
    println!(
        "\n{title}\n| what | ns/vertex | GB/s | Gflop/s | B in | B out | padding | bones/vertex |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
}

/// What the documentation states: `DERMIS_TABLES=all cargo bench --bench run`, or one of the names
/// below instead of `all`.
fn tables(wanted: &str) {
    let wants = |name: &str| wanted == "all" || wanted == name;
    if wants("cost-model") {
        cost_model::table();
    }
    let timing = TimingOptions::default();
    let options = |body: &Body, set| PackOptions {
        normals: Normals::Rest(body.normals.clone()),
        normal_length: NormalLength::AsBlended,
        instruction_set: Some(set),
        ..PackOptions::default()
    };
    for count in [10_000, 100_000] {
        if !wants("programs") {
            break;
        }
        let body = Body::new(count, 100, 4);
        heading(&format!(
            "{count} vertices, 100 bones, 4 influences, one thread"
        ));
        println!(
            "| plain scalar code | {:.2} |",
            Plain::new(&body).ns_per_vertex()
        );
        for set in InstructionSet::available() {
            let blended = options(&body, set);
            let bare = PackOptions {
                normals: Normals::None,
                ..blended.clone()
            };
            let unit = PackOptions {
                normal_length: NormalLength::Unit,
                ..blended.clone()
            };
            for (name, skin) in body.programs() {
                row(
                    &format!("{set:?} {name}"),
                    &skin,
                    &body.pose,
                    &bare,
                    &timing,
                );
                row(
                    &format!("{set:?} {name}, normals"),
                    &skin,
                    &body.pose,
                    &blended,
                    &timing,
                );
                if name == "ssd" {
                    row(
                        &format!("{set:?} {name}, unit normals"),
                        &skin,
                        &body.pose,
                        &unit,
                        &timing,
                    );
                }
            }
        }
        println!(
            "| plain scalar code | {:.2} |",
            Plain::new(&body).ns_per_vertex()
        );
    }

    let body = Body::new(100_000, 100, 4);
    let shuffled = body.shuffled();
    let linear = body.skin.to_linear().expect("linear");
    heading("layouts: 100000 vertices, normals, one thread");
    let to_vertices = TimingOptions {
        output: TimedOutput::Vertices,
        ..timing
    };
    for set in InstructionSet::available() {
        if !wants("layouts") {
            break;
        }
        let sorted = options(&body, set);
        let half = PackOptions {
            precision: Precision::Quantized16,
            ..sorted.clone()
        };
        let in_order = PackOptions {
            layout: Layout::CallerOrder,
            ..sorted.clone()
        };
        let streamed = PackOptions {
            stores: Stores::Streamed,
            ..sorted.clone()
        };
        let of_shuffled = PackOptions {
            normals: Normals::Rest(shuffled.normals.clone()),
            ..sorted.clone()
        };
        for (name, skin) in [("ssd", &body.skin), ("linear", &linear)] {
            let row = |what: &str, options, timing| {
                row(
                    &format!("{set:?} {name}, {what}"),
                    skin,
                    &body.pose,
                    options,
                    timing,
                )
            };
            row("blocks", &sorted, &timing);
            row("blocks, streamed", &streamed, &timing);
            row("blocks, 16 bits", &half, &timing);
            row("sorted to vertices", &sorted, &to_vertices);
            row("caller's order to vertices", &in_order, &to_vertices);
        }
        row(
            &format!("{set:?} ssd, sorted to vertices, shuffled mesh"),
            &shuffled.skin,
            &shuffled.pose,
            &of_shuffled,
            &to_vertices,
        );
    }

    heading("influences: 10000 vertices, positions, one thread");
    for influences in [2, 4, 8] {
        if !wants("influences") {
            break;
        }
        let body = Body::new(10_000, 100, influences);
        for set in InstructionSet::available() {
            let bare = PackOptions {
                normals: Normals::None,
                ..options(&body, set)
            };
            for (name, skin) in body.programs().into_iter().take(2) {
                row(
                    &format!("{set:?} {name}, {influences} influences"),
                    &skin,
                    &body.pose,
                    &bare,
                    &timing,
                );
            }
        }
    }

    heading("threads: ssd, normals");
    for count in [10_000, 100_000] {
        if !wants("threads") {
            break;
        }
        let body = Body::new(count, 100, 4);
        let best = options(&body, InstructionSet::best());
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            let threaded = TimingOptions {
                threaded: true,
                ..timing
            };
            pool.install(|| {
                row(
                    &format!("{count} vertices, {threads} threads"),
                    &body.skin,
                    &body.pose,
                    &best,
                    &threaded,
                );
            });
        }
    }

    for count in [10_000, 1_000_000, 4_000_000] {
        if !wants("sizes") {
            break;
        }
        heading(&format!("{count} vertices: ssd, normals, one thread"));
        let body = Body::new(count, 100, 4);
        for set in InstructionSet::available() {
            for stores in [Stores::Cached, Stores::Streamed] {
                let options = PackOptions {
                    stores,
                    ..options(&body, set)
                };
                row(
                    &format!("{set:?} {stores:?}"),
                    &body.skin,
                    &body.pose,
                    &options,
                    &timing,
                );
            }
        }
        let half = PackOptions {
            precision: Precision::Quantized16,
            ..options(&body, InstructionSet::best())
        };
        row("best set, 16 bits", &body.skin, &body.pose, &half, &timing);
        // Half of what the skin moves is read, half written.
        let copied = copy_bandwidth(65 * count / 2, &timing);
        println!(
            "copy: cached {:.1} GB/s, streamed {:.1} GB/s",
            copied.cached, copied.streamed
        );
    }
}

/// 100,000 vertices with normals: every program with the best instructions, and plain code.
fn programs(criterion: &mut Criterion) {
    if let Ok(wanted) = std::env::var("DERMIS_TABLES") {
        return tables(&wanted);
    }
    let body = Body::new(100_000, 100, 4);
    let mut group = criterion.benchmark_group("run/normals");
    group.throughput(Throughput::Elements(100_000));
    let mut plain = Plain::new(&body);
    group.bench_function("plain scalar", |bencher| bencher.iter(|| plain.run()));
    let options = PackOptions {
        normals: Normals::Rest(body.normals.clone()),
        ..PackOptions::default()
    };
    for (name, skin) in body.programs() {
        let packed = PackedSkin::new(&skin, &options).expect("packs");
        let inputs = skin.run_pose_program(&body.pose).expect("fits");
        let frame = packed.frame(&inputs).expect("fits");
        let mut positions = vec![[Plane::ZERO; 3]; packed.block_count()];
        let mut normals = positions.clone();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let out = Output::Blocks {
                    positions: &mut positions,
                    normals: Some(&mut normals),
                };
                packed.evaluate(&frame.inputs(), out).expect("sizes agree");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, programs);
criterion_main!(benches);
