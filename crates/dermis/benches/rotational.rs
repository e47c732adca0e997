//! Rotational regression of an arm made by formula: how the time of a fit grows.
//!
//! `cargo bench -p dermis --bench rotational` prints the time of a fit with 30 proxies, and of linear blend
//! skinning with the same weights to find, over triangles and over poses. Each the best of a few runs;
//! `RAYON_NUM_THREADS` says how many threads.

use std::time::Instant;

use dermis::fit::{ProxyCount, RotationalOptions, SsdOptions, fit_rotational_regression, fit_ssd};
use dermis::progress::Silent;
use dermis::synth::{ArmOptions, arm, arm_motion};

const RUNS: usize = 3;
/// The same for all sizes, so that nothing else grows.
const PROXIES: usize = 30;

fn main() {
    println!("threads: {}", rayon::current_num_threads());
    println!("\n| triangles | poses | fit s | per triangle and pose | linear blend s |");
    println!("| ---: | ---: | ---: | ---: | ---: |");
    for side in [1, 2, 4, 8] {
        row(60 * side, 24 * side, 30);
    }
    for poses in [15, 30, 60, 120] {
        row(120, 48, poses);
    }
}

fn row(ring_count: usize, segment_count: usize, pose_count: usize) {
    let set = arm(&ArmOptions {
        ring_count,
        segment_count,
        poses: arm_motion(pose_count),
    })
    .examples;
    let training: Vec<usize> = (0..pose_count).collect();
    let best = |work: &dyn Fn()| {
        let times = (0..RUNS).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        });
        times.fold(f64::INFINITY, f64::min)
    };
    let fit = best(&|| {
        let options = RotationalOptions {
            proxies: ProxyCount::Exactly(PROXIES),
            ..RotationalOptions::default()
        };
        fit_rotational_regression(&set, &training, &options, &Silent)
            .expect("an arm can be fitted");
    });
    let linear = best(&|| {
        fit_ssd(&set, &training, &SsdOptions::default(), &Silent).expect("an arm can be fitted");
    });
    let triangles = set.rest().triangles().len();
    let each = 1e9 * fit / (triangles * pose_count) as f64;
    println!("| {triangles} | {pose_count} | {fit:.2} | {each:.0} ns | {linear:.2} |");
}
