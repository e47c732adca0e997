//! Levels of detail: what making them costs, and what choosing one costs an instance in a frame.
//!
//! Tubes of eight bones, to a tenth of their triangles; throughput counts the given triangles. A crowd of 1000 instances
//! walks to and fro between five levels; throughput counts instances.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dermis::lod::{LevelChooser, LevelTarget, LodOptions, Picture, simplify};
use dermis::mesh::DrawMesh;
use dermis::progress::Silent;
use dermis::rig::Pose;
use dermis::synth::{TubeOptions, tube};

fn simplifying(c: &mut Criterion) {
    let mut group = c.benchmark_group("simplify to a tenth");
    group.sample_size(10);
    for (name, ring_count, segment_count) in [("small", 50, 20), ("medium", 250, 40)] {
        let made = tube(&TubeOptions {
            ring_count,
            segment_count,
            bone_count: 8,
            example_count: 24,
        });
        let mesh = made.examples.rest();
        let count = mesh.triangles().len();
        let draw = DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles());
        let examples = made.examples.examples().iter();
        let poses: Vec<Pose> = examples.map(|example| example.pose.clone()).collect();
        let target = [LevelTarget::Triangles(count / 10)];
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                let options = LodOptions::default();
                simplify(
                    &made.truth,
                    mesh,
                    &draw,
                    black_box(&poses),
                    &target,
                    &options,
                    None,
                    &Silent,
                )
                .expect("a tube")
            });
        });
    }
    group.finish();
}

fn choosing(c: &mut Criterion) {
    const INSTANCES: usize = 1000;
    let chooser = LevelChooser::new([0.0, 0.001, 0.003, 0.01, 0.03]);
    let picture = Picture {
        width: 1920.0,
        height: 1080.0,
        field_of_view_x_rad: 1.2,
    };
    let mut current = vec![0; INSTANCES];
    let mut frame = 0_u32;
    let mut group = c.benchmark_group("choose");
    group.throughput(Throughput::Elements(INSTANCES as u64));
    group.bench_function("a level for each of 1000 instances", |b| {
        b.iter(|| {
            frame = frame.wrapping_add(1);
            let moved = f64::from(frame % 100);
            for (n, level) in current.iter_mut().enumerate() {
                let depth = 1.0 + (n % 97) as f64 + moved;
                *level = chooser.choose(*level, picture.displacement(1.0, black_box(depth)));
            }
            black_box(&current);
        });
    });
    group.finish();
}

criterion_group!(benches, simplifying, choosing);
criterion_main!(benches);
