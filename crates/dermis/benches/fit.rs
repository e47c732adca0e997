//! How long fits take, and how that grows with vertices, bones and examples.
//!
//! Each group varies one size and keeps the others; throughput is in vertices per second for the
//! first, and in vertex-bone and vertex-example pairs for the others, so that a flat throughput
//! means linear growth.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dermis::fit::{SsdOptions, fit_ssd};
use dermis::progress::Silent;
use dermis::synth::{TubeOptions, tube};

/// A tube of about 4,000 vertices, 32 bones and 40 examples, before one size is changed.
const MEDIUM: TubeOptions = TubeOptions {
    ring_count: 250,
    segment_count: 16,
    bone_count: 32,
    example_count: 40,
};

fn bench_sizes(
    criterion: &mut Criterion,
    name: &str,
    sizes: [usize; 3],
    options_of: impl Fn(usize) -> TubeOptions,
) {
    let mut group = criterion.benchmark_group(format!("fit_ssd/{name}"));
    group.sample_size(10);
    for size in sizes {
        let set = tube(&options_of(size)).examples;
        let training: Vec<usize> = (0..set.examples().len()).collect();
        let share = if name == "vertices" { 1 } else { size };
        group.throughput(Throughput::Elements(
            (set.rest().vertex_count() * share) as u64,
        ));
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            let options = SsdOptions::default();
            bencher.iter(|| fit_ssd(black_box(&set), &training, &options, &Silent));
        });
    }
    group.finish();
}

fn growth(criterion: &mut Criterion) {
    bench_sizes(criterion, "vertices", [1_000, 4_000, 16_000], |n| {
        TubeOptions {
            ring_count: n / MEDIUM.segment_count,
            ..MEDIUM
        }
    });
    bench_sizes(criterion, "bones", [8, 32, 128], |n| TubeOptions {
        bone_count: n,
        ..MEDIUM
    });
    bench_sizes(criterion, "examples", [10, 40, 160], |n| TubeOptions {
        example_count: n,
        ..MEDIUM
    });
}

criterion_group!(benches, growth);
criterion_main!(benches);
