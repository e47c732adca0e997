//! How long animation-space fits take, by solver and by size.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dermis::fit::{
    AnimSpaceOptions, GlobalSolver, InfluenceChoice, InfluenceSets, Smoothing, fit_anim_space,
};
use dermis::progress::Silent;
use dermis::synth::{TubeOptions, tube};

fn solvers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fit_anim_space/edges");
    group.sample_size(10);
    for vertices in [500, 2_000, 8_000] {
        let set = tube(&TubeOptions {
            ring_count: vertices / 16,
            segment_count: 16,
            bone_count: 16,
            example_count: 12,
        })
        .examples;
        let training: Vec<usize> = (0..set.examples().len()).collect();
        let sets = InfluenceSets::automatic(&set, &training, 3, &Silent).expect("can be fitted");
        group.throughput(Throughput::Elements(set.rest().vertex_count() as u64));
        for (name, solver) in [
            ("iterations", GlobalSolver::ConjugateGradients),
            ("cholesky", GlobalSolver::Cholesky),
        ] {
            let options = AnimSpaceOptions {
                influences: InfluenceChoice::Given(sets.clone()),
                smoothing: Smoothing::Edges { delta: 0.005 },
                solver,
                ..AnimSpaceOptions::default()
            };
            group.bench_function(BenchmarkId::new(name, vertices), |bencher| {
                bencher.iter(|| fit_anim_space(black_box(&set), &training, &options, &Silent));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, solvers);
criterion_main!(benches);
