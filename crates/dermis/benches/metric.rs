//! Distances and bounds over all poses: making the metric, asking it, holding vertices, culling a crowd.
//!
//! One thread but for `hold vertices`. A body of 152 bones and four influences per vertex.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dermis::VertexProgram;
use dermis::bounds::{Camera, Frustum, PoseBounds, enclose, hold_vertices};
use dermis::joint::{JointLimits, LegalPoses, TurnLimits, free_joints};
use dermis::mesh::Ball;
use dermis::metric::{
    AnimationVector, JointModel, ModelKind, PoseMetric, model_from_limits, models_from_poses,
};
use dermis::skin::LinearProgram;
use dermis::synth::{Body, BodyOptions, body};
use glam::{DQuat, DVec3};

const BONES: usize = 152;

struct Case {
    body: Body,
    program: LinearProgram,
    limits: Vec<JointLimits>,
    models: Vec<JointModel>,
}

fn case() -> Case {
    let body = body(&BodyOptions {
        vertex_count: 10_000,
        influences: 4,
        bone_count: BONES,
    });
    let VertexProgram::Linear(program) = body.skin.to_linear().expect("linear").program else {
        unreachable!("it was made linear");
    };
    let limits: Vec<JointLimits> = free_joints(&body.skin.skeleton)
        .into_iter()
        .map(|joint| JointLimits {
            turn: TurnLimits::Cone {
                center: DQuat::IDENTITY,
                max_angle_rad: 0.7,
            },
            ..joint
        })
        .collect();
    let models = limits.iter().map(model_from_limits).collect();
    Case {
        body,
        program,
        limits,
        models,
    }
}

fn metric(c: &mut Criterion) {
    let case = case();
    let skeleton = &case.body.skin.skeleton;
    let mut group = c.benchmark_group("metric");
    group.bench_function("diagonal of P, 152 bones", |b| {
        b.iter(|| PoseMetric::new(skeleton, black_box(&case.models)).expect("even scales"));
    });
    group.bench_function("all of P, 152 bones", |b| {
        b.iter(|| {
            PoseMetric::new(skeleton, black_box(&case.models))
                .expect("even scales")
                .with_all_blocks()
        });
    });
    let legal = LegalPoses::new(skeleton, &case.limits, 0.0, 1).expect("limits");
    let poses: Vec<_> = legal.take(100).collect();
    group.bench_function("moments from 100 poses, 152 bones", |b| {
        b.iter(|| models_from_poses(skeleton, black_box(&poses), ModelKind::Moments));
    });
    let sparse = PoseMetric::new(skeleton, &case.models).expect("even scales");
    let dense = sparse.clone().with_all_blocks();
    let triangles = case.body.mesh.triangles();
    let rows =
        |n: usize| triangles[n % triangles.len()].map(|v| case.program.influences.row(v as usize));
    group.throughput(Throughput::Elements(1));
    for (name, metric) in [("blocks at hand", &dense), ("blocks on demand", &sparse)] {
        let mut n = 0;
        group.bench_function(format!("triangle, {name}"), |b| {
            b.iter(|| {
                n += 7;
                metric.triangle(black_box(rows(n)))
            });
        });
        let mut n = 0;
        group.bench_function(format!("distance, {name}"), |b| {
            b.iter(|| {
                n += 7;
                let [a, b, _] = rows(n);
                metric.distance(black_box(a), black_box(b))
            });
        });
    }
    group.finish();
}

fn bounds(c: &mut Criterion) {
    let case = case();
    let skin = &case.body.skin;
    let mut group = c.benchmark_group("bounds");
    let bounds = PoseBounds::new(&skin.skeleton, &case.limits).expect("limits");
    let mut n = 0;
    group.throughput(Throughput::Elements(1));
    group.bench_function("worst distance", |b| {
        b.iter(|| {
            n = (n + 7) % (case.program.influences.len() - 1);
            let s = AnimationVector::difference(
                case.program.influences.row(n),
                case.program.influences.row(n + 1),
            );
            bounds.norm(black_box(s.terms()))
        });
    });
    group.sample_size(10);
    group.throughput(Throughput::Elements(case.program.influences.len() as u64));
    group.bench_function("hold vertices", |b| {
        b.iter(|| enclose(&hold_vertices(skin, black_box(&case.limits), &[]).expect("linear")));
    });
    let crowd: Vec<Ball> = (0..10_000)
        .map(|n| Ball {
            center: DVec3::new((n % 100) as f64 - 50.0, 0.0, (n / 100) as f64 - 50.0),
            radius: 1.2,
        })
        .collect();
    let frustum = Frustum::of_camera(&Camera {
        eye: DVec3::new(0.0, 5.0, 30.0),
        target: DVec3::ZERO,
        up: DVec3::Y,
        fov_y_rad: 0.8,
        aspect: 1.78,
        near: 0.1,
        far: 1000.0,
    });
    group.throughput(Throughput::Elements(crowd.len() as u64));
    group.bench_function("cull a crowd", |b| {
        b.iter(|| frustum.visible(black_box(&crowd)));
    });
    group.finish();
}

criterion_group!(benches, metric, bounds);
criterion_main!(benches);
