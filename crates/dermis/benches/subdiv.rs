//! Subdivision: the matrices of a level, and what it costs to apply them to points and to skins.
//!
//! A body of 100 bones and four influences per vertex. Throughput counts triangles of the last level.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dermis::subdiv::{
    Cage, Scheme, SubdivisionOptions, subdivide, subdivide_skin, triangles_after,
};
use dermis::synth::{BodyOptions, body};

fn subdivision(c: &mut Criterion) {
    let body = body(&BodyOptions {
        vertex_count: 5_000,
        influences: 4,
        bone_count: 100,
    });
    let cage = Cage::from_mesh(&body.mesh);
    for (name, scheme) in [
        ("loop", Scheme::Loop),
        ("catmull-clark", Scheme::CatmullClark),
    ] {
        let mut group = c.benchmark_group(name);
        group.sample_size(10);
        for levels in 1..=3 {
            let options = SubdivisionOptions {
                scheme,
                levels,
                ..SubdivisionOptions::default()
            };
            group.throughput(Throughput::Elements(triangles_after(&cage, scheme, levels)));
            group.bench_function(format!("matrices, {levels} levels"), |b| {
                b.iter(|| subdivide(black_box(&cage), &options).expect("small"));
            });
            let fine = subdivide(&cage, &options).expect("small");
            group.bench_function(format!("points, {levels} levels"), |b| {
                b.iter(|| fine.apply(black_box(body.mesh.positions())));
            });
            group.bench_function(format!("skin, {levels} levels"), |b| {
                b.iter(|| subdivide_skin(black_box(&body.skin), &fine).expect("linear"));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, subdivision);
criterion_main!(benches);
