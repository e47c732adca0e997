//! Table 1 of \[Kavan10\] on a flag made by formula: how large the basis of a reduction is, and how
//! long it takes to find, by strategy.
//!
//! `cargo bench -p dermis --bench decompose`; times are the best of three.

use std::time::Instant;

use dermis::fit::{Reduction, reduce, trajectories};
use dermis::synth::{FlagOptions, flag};

fn main() {
    let animation = flag(&FlagOptions::default());
    let matrix = trajectories(&animation);
    let epsilon = 0.0005 * ((matrix.nrows() * matrix.ncols()) as f64).sqrt();
    println!(
        "flag: {} vertices, {} rows, epsilon {epsilon:.3}, {} threads\n",
        matrix.ncols(),
        matrix.nrows(),
        rayon::current_num_threads()
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
        let mut best = f64::INFINITY;
        let mut columns = 0;
        for _ in 0..3 {
            let start = Instant::now();
            let reduced = reduce(matrix.as_ref(), epsilon, strategy);
            best = best.min(start.elapsed().as_secs_f64());
            columns = reduced.basis.ncols();
        }
        println!("| {name} | {columns} | {best:.3} | {paper} |");
    }
}
