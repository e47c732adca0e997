//! Decompositions of published animations compared with the errors in \[Kavan10\] Table 2.
//!
//! Prints the table: `cargo test -p dermis_io --test all decompositions_of_animations -- --nocapture`

use dermis::compare::{ComparatorOptions, Reduction, Trajectories};
use dermis::compare::{Decomposer, DecompositionOptions, compare_decompositions};
use dermis::progress::Silent;
use dermis::{MeshAnimation, MeshClip};

use crate::support;

fn read(name: &str) -> Option<MeshAnimation> {
    let path = support::data(&format!("{name}/{name}.npz"))?;
    let document = dermis_io::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let clip = MeshClip {
        name: name.to_owned(),
        frames: document.frames.into_iter().map(|f| f.positions).collect(),
        frames_per_second: 24.0,
    };
    Some(MeshAnimation::new(document.mesh, vec![clip]).expect("meshes in correspondence"))
}

/// Key, error in the paper, and its error with ten corrections.
type Published = (&'static str, f64, Option<f64>);

/// Checks that each error is at most `factor` times the paper's and not below the bound.
fn check(name: &str, bone_count: usize, factor: f64, published: &[Published]) {
    let Some(animation) = read(name) else {
        return;
    };
    let options = DecompositionOptions {
        size: ComparatorOptions {
            bone_count,
            ..ComparatorOptions::default()
        },
        ..DecompositionOptions::default()
    };
    let found = compare_decompositions(&animation, &options, &Decomposer::all(), &Silent);
    let found = found.expect("an animation");
    println!("{name}, {bone_count} bones");
    for (row, numbers) in found.decomposed() {
        assert!(found.keeps_the_bound(row), "{name}, {}: fact 2", row.key);
        let ours = numbers.numbers.e_rms;
        let corrected = numbers.with_eigen_skin.as_ref().map(|n| n.e_rms);
        let known = published.iter().find(|(key, ..)| *key == row.key);
        println!(
            "  {:<14}{ours:.5} {corrected:?}, published {known:?}",
            row.key
        );
        let Some(&(_, paper, paper_corrected)) = known else {
            continue;
        };
        // Where both are exact, the errors are only rounding.
        assert!(
            ours <= factor * paper + 1e-4,
            "{name}, {}: {ours}, {paper}",
            row.key
        );
        if let (Some(ours), Some(paper)) = (corrected, paper_corrected) {
            // Our corrections work in model space, and on other bones than the paper's.
            assert!(ours <= 3.0 * paper, "{name}, {}: {ours}, {paper}", row.key);
        }
    }
}

#[test]
fn a_galloping_horse() {
    let published = [
        ("sma", 2.3, Some(0.3)),
        ("sad", 4.9, Some(2.9)),
        ("clustered-pca", 2.4, None),
        ("svd", 2e-5, None),
    ];
    check("horse-gallop", 30, 1.3, &published);
}

#[test]
fn a_collapsing_horse() {
    let published = [
        ("sma", 48.0, Some(1.3)),
        ("sad", 26.0, Some(0.8)),
        ("clustered-pca", 12.4, None),
        ("svd", 1.0, None),
    ];
    check("horse-collapse", 6, 1.3, &published);
}

#[test]
fn a_man_in_loose_clothes() {
    // The bound itself is 0.33 where the paper has 0.2: the frames are not exactly the paper's.
    let published = [
        ("sma", 6.0, Some(2.8)),
        ("sad", 5.9, Some(4.5)),
        ("clustered-pca", 3.6, None),
    ];
    check("crane", 40, 1.3, &published);
}

#[test]
fn the_gram_matrix_finds_as_small_a_basis_as_the_svd() {
    for name in ["horse-gallop", "horse-collapse"] {
        let Some(animation) = read(name) else {
            return;
        };
        let matrix = Trajectories::new(&animation);
        let epsilon = 0.0005 * ((matrix.row_count() * matrix.column_count()) as f64).sqrt();
        let size = |strategy| matrix.basis_size(epsilon, strategy);
        let sizes = [
            size(Reduction::Gram),
            size(Reduction::Svd),
            size(Reduction::MaxNorm),
        ];
        println!("{name}: {sizes:?} columns by Gram, SVD and longest column");
        assert_eq!(sizes[0], sizes[1], "{name}");
        assert!(sizes[1] <= sizes[2], "{name}: {sizes:?}");
    }
}
