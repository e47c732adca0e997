//! Skinning decomposition of a flag made by formula: what it costs, and how the cost grows.
//!
//! `cargo bench -p dermis --bench decompose` prints Table 1 of \[Kavan10\]: how large the basis of a
//! reduction is, and how long it takes to find, by strategy. With `DERMIS_TABLES=vertices`, `frames`
//! or `bones` it prints how a decomposition of quality `Fast` grows with one of them, the others
//! fixed; with `DERMIS_TABLES=all`, all tables. Times are the best of several runs;
//! `RAYON_NUM_THREADS` says how many threads.

use std::time::Instant;

use dermis::MeshAnimation;
use dermis::fit::{
    BoneCount, DecomposeOptions, Decomposition, Quality, Reduction, decompose, reduce, trajectories,
};
use dermis::progress::Silent;
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
    let matrix = trajectories(&animation);
    let epsilon = 0.0005 * ((matrix.nrows() * matrix.ncols()) as f64).sqrt();
    println!(
        "\nflag: {} vertices, {} rows, epsilon {epsilon:.3}\n",
        matrix.ncols(),
        matrix.nrows(),
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
        let (seconds, reduced) = best_of(|| reduce(matrix.as_ref(), epsilon, strategy));
        let columns = reduced.basis.ncols();
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

/// Seconds of a decomposition, of what comes before its rounds, and of one round.
struct Seconds {
    all: f64,
    before: f64,
    round: f64,
}

/// One row per size, with ratios to the row before: linear growth has the ratio of the sizes.
fn growth(what: &str, sizes: &[Size], varied: impl Fn(&Size) -> usize) {
    println!("\nby {what}\n");
    println!(
        "| vertices | frames | bones | {what}, ratio | one round, ms | ratio | before, ms | ratio | \
         whole, ms | ratio | E_RMS |"
    );
    println!("|{}", " ---: |".repeat(11));
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
            "| {} | {} | {} | {grown} | {:.2} | {} | {:.1} | {} | {:.1} | {} | {:.3} |",
            animation.vertex_count(),
            size.frames,
            size.bones,
            1e3 * seconds.round,
            ratio(seconds.round, |s| s.round),
            1e3 * seconds.before,
            ratio(seconds.before, |s| s.before),
            1e3 * seconds.all,
            ratio(seconds.all, |s| s.all),
            found.e_rms
        );
        last = Some((varied(size), seconds));
    }
}

/// Times the rounds by what more of them cost: everything else is the same.
fn timed(animation: &MeshAnimation, bones: usize) -> (Seconds, Decomposition) {
    let options = DecomposeOptions {
        bones: BoneCount::Exactly(bones),
        ..DecomposeOptions::of_quality(Quality::Fast)
    };
    let one = DecomposeOptions {
        rounds: 1,
        ..options.clone()
    };
    let run = |options: &DecomposeOptions| {
        best_of(|| decompose(animation, options, &Silent).expect("a flag has enough points"))
    };
    let (first, _) = run(&one);
    let (all, found) = run(&options);
    let round = (all - first) / (options.rounds - 1) as f64;
    let seconds = Seconds {
        all,
        before: first - round,
        round,
    };
    (seconds, found)
}

/// The best time of a few runs, and the last result.
fn best_of<T>(run: impl Fn() -> T) -> (f64, T) {
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
