//! Skinning decomposition of a flag made by formula: what it costs, and how the cost grows.
//!
//! `cargo bench -p dermis --bench decompose` prints Table 1 of \[Kavan10\]: how large the basis of a
//! reduction is, and how long it takes to find, by strategy. With `DERMIS_TABLES=vertices`, `frames`
//! or `bones` it prints how a decomposition of quality `Fast` grows with one of them, the others
//! fixed; with `DERMIS_TABLES=all`, all tables. Times are the best of several runs;
//! `RAYON_NUM_THREADS` says how many threads.

use std::sync::Mutex;
use std::time::Instant;

use dermis::MeshAnimation;
use dermis::compare::{Reduction, Trajectories};
use dermis::fit::{BoneCount, DecomposeOptions, Decomposition, Quality, decompose};
use dermis::progress::Progress;
use dermis::synth::{FlagOptions, flag};

/// Runs of everything, at least; the best counts.
const RUNS: usize = 3;
/// Short runs are repeated for so many seconds, because machines are noisy.
const AT_LEAST: f64 = 2.0;

fn main() {
    let wanted = std::env::var("DERMIS_TABLES").unwrap_or_else(|_| "reduction".to_owned());
    let is_wanted = |name: &str| wanted == "all" || wanted.split(',').any(|table| table == name);
    println!("threads: {}", rayon::current_num_threads());
    if is_wanted("reduction") {
        reduction();
    }
    let fixed = Size {
        vertices: 4_000,
        frames: 100,
        bones: 25,
    };
    if is_wanted("vertices") {
        let sizes = [1_000, 4_000, 16_000, 64_000].map(|vertices| Size { vertices, ..fixed });
        growth("vertices", &sizes, |size| size.vertices);
    }
    if is_wanted("frames") {
        let sizes = [25, 50, 100, 200, 400].map(|frames| Size { frames, ..fixed });
        growth("frames", &sizes, |size| size.frames);
    }
    if is_wanted("bones") {
        let sizes = [10, 25, 50, 100, 200].map(|bones| Size { bones, ..fixed });
        growth("bones", &sizes, |size| size.bones);
    }
}

/// Table 1 of the paper.
fn reduction() {
    let animation = flag(&FlagOptions::default());
    let matrix = Trajectories::new(&animation);
    let epsilon = 0.0005 * ((matrix.row_count() * matrix.column_count()) as f64).sqrt();
    println!(
        "\nflag: {} vertices, {} rows, epsilon {epsilon:.3}\n",
        matrix.column_count(),
        matrix.row_count(),
    );
    println!("| strategy | d | s | paper's d | paper's s |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for (name, strategy, paper) in [
        ("Gram", Reduction::Gram, "– | –"),
        ("MAX", Reduction::MaxNorm, "101 | 2.78"),
        ("GS", Reduction::GramSchmidt, "278 | 5.8"),
        ("PM1", Reduction::PowerMethod(1), "80 | 6.3"),
        ("PM2", Reduction::PowerMethod(2), "72 | 9.9"),
        ("SVD", Reduction::Svd, "69 | 27.9"),
    ] {
        let (seconds, columns) = best_of(|| matrix.basis_size(epsilon, strategy));
        println!("| {name} | {columns} | {seconds:.3} | {paper} |");
    }
}

/// How large a decomposition is.
#[derive(Debug, Clone, Copy)]
struct Size {
    vertices: usize,
    frames: usize,
    bones: usize,
}

impl Size {
    /// A flag with about as many vertices, in the default's shape.
    fn flag(&self) -> MeshAnimation {
        let height = (self.vertices as f64 * 78.0 / 89.0).sqrt().round();
        flag(&FlagOptions {
            width: (self.vertices as f64 / height).round() as usize,
            height: height as usize,
            frame_count: self.frames,
        })
    }
}

/// Seconds of a decomposition.
struct Seconds {
    /// Welding, neighbours, reduction.
    reduced: f64,
    /// First bones and rounds of one bone per point.
    start: f64,
    /// One round, in the mean.
    round: f64,
    all: f64,
}

/// Notes when each round is over.
struct Clock {
    begun: Instant,
    reports: Mutex<Vec<f64>>,
}

impl Progress for Clock {
    fn report(&self, _stage: &str, _done: usize, _total: usize) -> bool {
        let now = self.begun.elapsed().as_secs_f64();
        self.reports.lock().expect("nobody panics").push(now);
        true
    }
}

/// One row per size, with ratios to the row before: linear growth has the ratio of the sizes.
fn growth(what: &str, sizes: &[Size], varied: impl Fn(&Size) -> usize) {
    println!("\nby {what}\n");
    println!(
        "| vertices | frames | bones | {what}, ratio | reduction, ms | ratio | start, ms | ratio | \
         one round, ms | ratio | whole, ms | ratio | E_RMS |"
    );
    println!("|{}", " ---: |".repeat(13));
    let mut last: Option<(usize, Seconds)> = None;
    for size in sizes {
        let animation = size.flag();
        let (seconds, found) = timed(&animation, size.bones);
        let ratio = |now: f64, then: fn(&Seconds) -> f64| match &last {
            Some((_, before)) => format!("{:.2}", now / then(before)),
            None => String::new(),
        };
        let grown = last.as_ref().map_or(String::new(), |(before, _)| {
            format!("{:.2}", varied(size) as f64 / *before as f64)
        });
        println!(
            "| {} | {} | {} | {grown} | {:.1} | {} | {:.1} | {} | {:.2} | {} | {:.1} | {} | {:.3} |",
            animation.vertex_count(),
            size.frames,
            size.bones,
            1e3 * seconds.reduced,
            ratio(seconds.reduced, |s| s.reduced),
            1e3 * seconds.start,
            ratio(seconds.start, |s| s.start),
            1e3 * seconds.round,
            ratio(seconds.round, |s| s.round),
            1e3 * seconds.all,
            ratio(seconds.all, |s| s.all),
            found.e_rms
        );
        last = Some((varied(size), seconds));
    }
}

/// Times a decomposition step by step, each step by the best of all runs.
fn timed(animation: &MeshAnimation, bones: usize) -> (Seconds, Decomposition) {
    let options = DecomposeOptions {
        bones: BoneCount::Exactly(bones),
        ..DecomposeOptions::of_quality(Quality::Fast)
    };
    let mut steps: Vec<f64> = Vec::new();
    let mut best_steps = |reports: Vec<f64>| {
        let from = [0.0].into_iter().chain(reports.iter().copied());
        let taken = from.zip(&reports).map(|(before, after)| after - before);
        if steps.is_empty() {
            steps = taken.collect();
        } else {
            steps
                .iter_mut()
                .zip(taken)
                .for_each(|(step, now)| *step = step.min(now));
        }
    };
    let (all, found) = best_of(|| {
        let clock = Clock {
            begun: Instant::now(),
            reports: Mutex::new(Vec::new()),
        };
        let found = decompose(animation, &options, &clock).expect("a flag has enough points");
        best_steps(clock.reports.into_inner().expect("nobody panics"));
        found
    });
    // The first report is before any round, the second after the start and one round.
    let round = steps[2..].iter().sum::<f64>() / (steps.len() - 2) as f64;
    let seconds = Seconds {
        reduced: steps[0],
        start: steps[1] - round,
        round,
        all,
    };
    (seconds, found)
}

/// The best time of a few runs, and the last result.
fn best_of<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut last = None;
    let mut total = 0.0;
    let mut runs = 0;
    while runs < RUNS || total < AT_LEAST {
        let start = Instant::now();
        last = Some(run());
        let seconds = start.elapsed().as_secs_f64();
        best = best.min(seconds);
        total += seconds;
        runs += 1;
    }
    (best, last.expect("at least one run"))
}
