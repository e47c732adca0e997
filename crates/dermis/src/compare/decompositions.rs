//! Methods that make a mesh animation smaller, compared on one animation and at the same data per frame.
//!
//! All models get twelve numbers per bone and frame; they differ in how much each vertex stores, in which
//! players can play the result, and in the error. Nothing is held out: an animation is compressed, not learnt
//! from.

use std::time::Instant;

use super::{NamedProgress, Playback};
use crate::compare::{
    ComparatorOptions, Prediction, clustered_pca, fit_sad, fit_sma, truncated_svd, with_eigen_skin,
};
use crate::example::MeshAnimation;
use crate::fit::{BoneCount, BoneMotion, DecomposeOptions, Decomposition, FitError, decompose};
use crate::measure::Cost;
use crate::progress::Progress;

/// How animations are decomposed for a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecompositionOptions {
    /// Bones and influences; default 30 and 4.
    pub size: ComparatorOptions,
    /// Corrections that EigenSkin adds to every skin for its second number; default 10, as in
    /// \[Kavan10\] Table 2. 0 leaves that column out.
    pub eigen_rank: usize,
}

impl Default for DecompositionOptions {
    fn default() -> Self {
        Self {
            size: ComparatorOptions::default(),
            eigen_rank: 10,
        }
    }
}

/// The result of one method for an animation.
#[derive(Debug, Clone)]
pub enum Decomposed {
    /// A skin, and its pose in every frame.
    Skin(Box<Decomposition>),
    /// A sum of shapes, which no skinning plays.
    Shapes(Prediction),
}

type Solve<'a> =
    dyn Fn(&MeshAnimation, &ComparatorOptions, &dyn Progress) -> Result<Decomposed, FitError> + 'a;

/// One method to decompose an animation.
pub struct Decomposer<'a> {
    key: &'static str,
    title: &'static str,
    solve: Box<Solve<'a>>,
}

impl<'a> Decomposer<'a> {
    /// A method that finds bones and weights.
    pub fn skin(
        key: &'static str,
        title: &'static str,
        solve: impl Fn(
            &MeshAnimation,
            &ComparatorOptions,
            &dyn Progress,
        ) -> Result<Decomposition, FitError>
        + 'a,
    ) -> Self {
        let solve = move |animation: &MeshAnimation,
                          options: &ComparatorOptions,
                          progress: &dyn Progress| {
            solve(animation, options, progress).map(|made| Decomposed::Skin(Box::new(made)))
        };
        Self {
            key,
            title,
            solve: Box::new(solve),
        }
    }

    /// A method that finds sums of shapes.
    pub fn shapes(
        key: &'static str,
        title: &'static str,
        solve: impl Fn(
            &MeshAnimation,
            &ComparatorOptions,
            &dyn Progress,
        ) -> Result<Prediction, FitError>
        + 'a,
    ) -> Self {
        let solve = move |animation: &MeshAnimation,
                          options: &ComparatorOptions,
                          progress: &dyn Progress| {
            solve(animation, options, progress).map(Decomposed::Shapes)
        };
        Self {
            key,
            title,
            solve: Box::new(solve),
        }
    }

    /// Every method, skins first.
    pub fn all() -> Vec<Decomposer<'static>> {
        vec![
            Decomposer::skin("decomposition", "skinning decomposition", decompose_affine),
            Decomposer::skin(
                "rigid",
                "skinning decomposition of rigid bones",
                decompose_rigid,
            ),
            Decomposer::skin("sma", "bones from triangles that turn alike", fit_sma),
            Decomposer::skin("sad", "bones spread over the mesh", fit_sad),
            Decomposer::shapes(
                "clustered-pca",
                "clusters of four components",
                clustered_pca,
            ),
            Decomposer::shapes(TRUNCATED_SVD, "truncated SVD", truncated_svd),
        ]
    }

    /// Its name in tables and files.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Its name in sentences.
    pub fn title(&self) -> &'static str {
        self.title
    }
}

fn decompose_affine(
    animation: &MeshAnimation,
    size: &ComparatorOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    decompose_with(BoneMotion::Affine, animation, size, progress)
}

fn decompose_rigid(
    animation: &MeshAnimation,
    size: &ComparatorOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    decompose_with(BoneMotion::Rigid, animation, size, progress)
}

fn decompose_with(
    motion: BoneMotion,
    animation: &MeshAnimation,
    size: &ComparatorOptions,
    progress: &dyn Progress,
) -> Result<Decomposition, FitError> {
    let options = DecomposeOptions {
        bones: BoneCount::Exactly(size.bone_count),
        motion,
        max_influences: size.max_influences,
        ..DecomposeOptions::default()
    };
    decompose(animation, &options, progress)
}

/// Key of the method that has the smallest possible error for its data per frame.
const TRUNCATED_SVD: &str = "svd";

/// Sizes and errors of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelNumbers {
    /// `E_RMS` over all frames.
    pub e_rms: f64,
    /// Mean bytes of one vertex, in 32-bit numbers.
    pub bytes_per_vertex: f64,
    /// Bytes that change from frame to frame.
    pub bytes_per_frame: usize,
    /// Seconds that it took to find.
    pub seconds: f64,
}

/// The results of one method.
#[derive(Debug, Clone)]
pub struct DecomposedNumbers {
    /// The model itself.
    pub model: Decomposed,
    /// Its error and its size.
    pub numbers: ModelNumbers,
    /// The same with EigenSkin corrections, when it is a skin and they were asked for; the seconds are
    /// those of the corrections alone.
    pub with_eigen_skin: Option<ModelNumbers>,
    /// How stock players show it; `None` when they cannot.
    pub playback: Option<Playback>,
    /// `E_RMS` of every frame alone.
    pub frame_errors: Vec<f64>,
}

/// The row of one method.
#[derive(Debug, Clone)]
pub struct DecompositionRow {
    /// Its name in tables and files.
    pub key: &'static str,
    /// Its name in sentences.
    pub title: &'static str,
    /// Its numbers, or why it has none.
    pub outcome: Result<DecomposedNumbers, FitError>,
}

/// All rows, in the order of the methods.
#[derive(Debug, Clone)]
pub struct DecompositionComparison {
    /// Bones of every model.
    pub bone_count: usize,
    /// One per method.
    pub rows: Vec<DecompositionRow>,
    /// `E_RMS` of the truncated SVD with four terms per bone, which no model of so many bones can be
    /// below; `None` when it was not among the methods.
    pub bound: Option<f64>,
}

/// Decomposes an animation by every method and measures the results.
///
/// ```
/// use dermis::compare::{Decomposer, DecompositionOptions, compare_decompositions};
/// use dermis::compare::ComparatorOptions;
/// use dermis::progress::Silent;
/// use dermis::synth::{FlagOptions, flag};
///
/// let flag = flag(&FlagOptions { width: 12, height: 10, frame_count: 20 });
/// let options = DecompositionOptions {
///     size: ComparatorOptions { bone_count: 4, ..Default::default() },
///     eigen_rank: 2,
/// };
/// let found = compare_decompositions(&flag, &options, &Decomposer::all(), &Silent)?;
/// assert!(found.decomposed().all(|(row, _)| found.keeps_the_bound(row)));
/// # Ok::<(), dermis::fit::FitError>(())
/// ```
///
/// # Errors
/// [`FitError::BadOption`] and [`FitError::Stopped`]. A method that fails is no error: see
/// [`DecompositionRow::outcome`].
pub fn compare_decompositions(
    animation: &MeshAnimation,
    options: &DecompositionOptions,
    decomposers: &[Decomposer<'_>],
    progress: &dyn Progress,
) -> Result<DecompositionComparison, FitError> {
    options.size.check_for(animation)?;
    let mut rows = Vec::with_capacity(decomposers.len());
    for decomposer in decomposers {
        let number = rows.len() + 1;
        let progress = NamedProgress {
            progress,
            name: format!("way {number} of {}: {}", decomposers.len(), decomposer.key),
        };
        let outcome = decomposed(animation, options, decomposer, &progress);
        if let Err(FitError::Stopped) = outcome {
            return Err(FitError::Stopped);
        }
        rows.push(DecompositionRow {
            key: decomposer.key,
            title: decomposer.title,
            outcome,
        });
    }
    let svd = rows.iter().find(|row| row.key == TRUNCATED_SVD);
    let bound = svd.and_then(|row| Some(row.outcome.as_ref().ok()?.numbers.e_rms));
    Ok(DecompositionComparison {
        bone_count: options.size.bone_count,
        rows,
        bound,
    })
}

fn decomposed(
    animation: &MeshAnimation,
    options: &DecompositionOptions,
    decomposer: &Decomposer<'_>,
    progress: &dyn Progress,
) -> Result<DecomposedNumbers, FitError> {
    let start = Instant::now();
    let model = (decomposer.solve)(animation, &options.size, progress)?;
    let seconds = start.elapsed().as_secs_f64();
    match &model {
        Decomposed::Skin(made) => {
            let with_eigen_skin = match options.eigen_rank {
                0 => None,
                rank => {
                    if !progress.report("correcting", 0, 1) {
                        return Err(FitError::Stopped);
                    }
                    let start = Instant::now();
                    let corrected = with_eigen_skin(made, animation, rank)?;
                    Some(skin_numbers(&corrected, start.elapsed().as_secs_f64()))
                }
            };
            let frames = made.poses.iter().map(|pose| made.skin.evaluate(pose));
            let frames: Vec<_> = frames.collect::<Result<_, _>>()?;
            Ok(DecomposedNumbers {
                numbers: skin_numbers(made, seconds),
                with_eigen_skin,
                playback: Some(Playback::of(&made.skin)),
                frame_errors: frame_errors(animation, &frames),
                model,
            })
        }
        Decomposed::Shapes(shapes) => {
            let index = if options.size.bone_count <= 256 { 1 } else { 2 };
            let bytes = 4 * shapes.numbers_per_vertex + index * shapes.indices_per_vertex;
            Ok(DecomposedNumbers {
                numbers: ModelNumbers {
                    e_rms: shapes.e_rms,
                    bytes_per_vertex: bytes as f64,
                    bytes_per_frame: 4 * shapes.numbers_per_frame,
                    seconds,
                },
                with_eigen_skin: None,
                playback: None,
                frame_errors: frame_errors(animation, &shapes.frames),
                model,
            })
        }
    }
}

fn skin_numbers(made: &Decomposition, seconds: f64) -> ModelNumbers {
    let cost = Cost::of(&made.skin);
    ModelNumbers {
        e_rms: made.e_rms,
        bytes_per_vertex: cost.bytes_per_vertex,
        bytes_per_frame: cost.bytes_per_frame,
        seconds,
    }
}

fn frame_errors(animation: &MeshAnimation, predicted: &[Vec<glam::DVec3>]) -> Vec<f64> {
    let unit = animation.unit_ball_radius();
    let count = (3 * animation.vertex_count()).max(1) as f64;
    animation
        .frames()
        .zip(predicted)
        .map(|(frame, guess)| {
            let squared = frame.iter().zip(guess).map(|(a, b)| a.distance_squared(*b));
            1000.0 * (squared.sum::<f64>() / count).sqrt() / unit
        })
        .collect()
}

impl DecomposedNumbers {
    /// Where the model puts every vertex in one frame, without corrections.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn frame(&self, number: usize) -> Vec<glam::DVec3> {
        match &self.model {
            Decomposed::Skin(made) => {
                let shown = made.skin.evaluate(&made.poses[number]);
                shown.expect("the pose was evaluated before")
            }
            Decomposed::Shapes(shapes) => shapes.frames[number].clone(),
        }
    }
}

/// Errors below this are rounding, and their ratios mean nothing.
const ROUNDING: f64 = 1e-3;
/// A skin whose error is within this of the best counts as equally good.
const AS_GOOD: f64 = 1.05;

impl DecompositionComparison {
    /// Methods that have numbers.
    pub fn decomposed(&self) -> impl Iterator<Item = (&DecompositionRow, &DecomposedNumbers)> {
        self.rows
            .iter()
            .filter_map(|row| Some((row, row.outcome.as_ref().ok()?)))
    }

    /// False when a model's error is below what its rank allows, which means that something is
    /// measured wrongly. Corrections add rank, so only the error without them is looked at.
    pub fn keeps_the_bound(&self, row: &DecompositionRow) -> bool {
        match (&row.outcome, self.bound) {
            (Ok(found), Some(bound)) => found.numbers.e_rms * (1.0 + 1e-6) + 1e-3 >= bound,
            _ => true,
        }
    }

    /// Conclusions from the numbers, in sentences.
    pub fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        let skins = || {
            self.decomposed()
                .filter(|(_, found)| found.playback.is_some())
        };
        let by_error = |a: &(&DecompositionRow, &DecomposedNumbers),
                        b: &(&DecompositionRow, &DecomposedNumbers)| {
            a.1.numbers.e_rms.total_cmp(&b.1.numbers.e_rms)
        };
        if let Some((best, found)) = skins().min_by(by_error) {
            let error = found.numbers.e_rms;
            let mut text = format!(
                "Of the skins, {} ({}) has the lowest error, E_RMS {error:.3}",
                best.key, best.title
            );
            let other = |row: &DecompositionRow| row.key != best.key;
            if let Some((row, next)) = skins().filter(|(row, _)| other(row)).min_by(by_error) {
                let next = next.numbers.e_rms;
                text += &match next > AS_GOOD * error && error > ROUNDING {
                    true => format!("; {} has {:.1} times as much", row.key, next / error),
                    false => format!("; {} is as good", row.key),
                };
            }
            advice.push(text + ".");
            if let Some(bound) = self.bound {
                advice.push(format!(
                    "No skin of {} can have an error below {}, that of the truncated SVD with four \
                     terms per bone.",
                    bones(self.bone_count),
                    if bound < ROUNDING {
                        "rounding".to_owned()
                    } else {
                        format!("{bound:.3}")
                    },
                ));
            }
        }
        if let Some((row, numbers, corrected)) = skins()
            .filter_map(|(row, found)| Some((row, &found.numbers, found.with_eigen_skin.as_ref()?)))
            .min_by(|a, b| a.2.e_rms.total_cmp(&b.2.e_rms))
        {
            advice.push(format!(
                "With corrections, {} has the lowest error, E_RMS {:.3}, for {:.0} bytes per vertex \
                 instead of {:.0}.",
                row.key, corrected.e_rms, corrected.bytes_per_vertex, numbers.bytes_per_vertex
            ));
        }
        for row in &self.rows {
            if let Err(reason) = &row.outcome {
                advice.push(format!("{} has no numbers: {reason}.", row.key));
            }
            if !self.keeps_the_bound(row) {
                advice.push(format!(
                    "{} reports an error below the least possible for its number of bones: do not trust its numbers.",
                    row.key
                ));
            }
        }
        advice
    }
}

fn bones(count: usize) -> String {
    format!("{count} bone{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;
    use crate::synth::{FlagOptions, flag};

    fn small_flag() -> MeshAnimation {
        flag(&FlagOptions {
            width: 20,
            height: 14,
            frame_count: 30,
        })
    }

    fn options(bone_count: usize) -> DecompositionOptions {
        DecompositionOptions {
            size: ComparatorOptions {
                bone_count,
                ..ComparatorOptions::default()
            },
            eigen_rank: 4,
        }
    }

    #[test]
    fn fact_2_no_decomposition_is_below_the_svd_of_its_rank() {
        let flag = small_flag();
        for bone_count in [1, 3, 6] {
            let found =
                compare_decompositions(&flag, &options(bone_count), &Decomposer::all(), &Silent)
                    .expect("a flag");
            let bound = found.bound.expect("the SVD is among them");
            assert!(
                bound > 0.1,
                "{bone_count} bones do not repeat a flag: {bound}"
            );
            for row in &found.rows {
                let numbers = &row.outcome.as_ref().expect("numbers").numbers;
                assert!(
                    found.keeps_the_bound(row),
                    "{}: {numbers:?} {bound}",
                    row.key
                );
                // The tolerance is for rounding alone.
                assert!(numbers.e_rms >= 0.999 * bound, "{}: {numbers:?}", row.key);
            }
        }
    }

    #[test]
    fn skins_are_small_and_play_and_shapes_do_not() {
        let flag = small_flag();
        let found = compare_decompositions(&flag, &options(5), &Decomposer::all(), &Silent);
        let found = found.expect("a flag");
        assert_eq!(
            found.decomposed().count(),
            Decomposer::all().len(),
            "all have numbers"
        );
        for (row, numbers) in found.decomposed() {
            assert_eq!(numbers.frame_errors.len(), 30, "{}", row.key);
            let mean = numbers.frame_errors.iter().map(|e| e * e).sum::<f64>() / 30.0;
            let e_rms = numbers.numbers.e_rms;
            assert!(
                (mean.sqrt() - e_rms).abs() < 1e-9,
                "{}: frames make up {e_rms}",
                row.key
            );
            assert_eq!(
                numbers.numbers.bytes_per_frame,
                5 * 48,
                "{}: the same data",
                row.key
            );
            let is_skin = matches!(numbers.model, Decomposed::Skin(_));
            assert_eq!(
                is_skin,
                numbers.playback == Some(Playback::Exact),
                "{}",
                row.key
            );
            assert_eq!(is_skin, numbers.with_eigen_skin.is_some(), "{}", row.key);
            if let Some(corrected) = &numbers.with_eigen_skin {
                assert!(corrected.e_rms < e_rms, "{}: {corrected:?}", row.key);
                assert!(
                    corrected.bytes_per_vertex > numbers.numbers.bytes_per_vertex,
                    "{}: corrections are stored: {corrected:?}",
                    row.key
                );
            }
        }
        let advice = found.advice().join(" ");
        assert!(advice.contains("No skin of 5 bones"), "{advice}");
    }

    #[test]
    fn a_method_that_fails_keeps_its_row_and_bad_options_are_an_error() {
        let flag = small_flag();
        let broken = Decomposer::skin("broken", "a way that fails", |_, _, _| {
            Err(FitError::NothingToFit {
                examples: 0,
                bones: 0,
            })
        });
        let svd = Decomposer::shapes("svd", "truncated SVD", truncated_svd);
        let found = compare_decompositions(&flag, &options(2), &[broken, svd], &Silent);
        let found = found.expect("one works");
        assert!(found.rows[0].outcome.is_err(), "it failed");
        assert!(found.rows[1].outcome.is_ok(), "the other went on");
        assert!(
            found
                .advice()
                .iter()
                .any(|s| s.contains("broken has no numbers")),
            "said"
        );
        for bone_count in [0, 281] {
            let error =
                compare_decompositions(&flag, &options(bone_count), &Decomposer::all(), &Silent)
                    .expect_err("no such number of bones");
            assert!(error.to_string().contains("bone_count"), "{error}");
        }
    }
}
