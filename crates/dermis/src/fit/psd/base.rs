//! Which base skin shapes stand on best, by examples left out of the training ones.

use super::PsdOptions;
use super::examples::{fit_on, fit_shapes};
use crate::example::{Example, ExampleSet, Fold};
use crate::fit::report::hold_out;
use crate::fit::smallest::{Rating, as_good_as, smallest_within, whole_bytes_per_vertex};
use crate::fit::{FitError, Fitted, Method};
use crate::mesh::TriMesh;
use crate::progress::Progress;

/// From so many training examples on, every fourth is left out; of fewer, each in turn.
const MANY: usize = 8;
/// Most vertices that a base is judged by, evenly spaced among all.
const MOST_JUDGED: usize = 1000;

/// The base whose skin with shapes is the smallest within 5% of the lowest error on examples that none has seen.
///
/// Only training examples are looked at: those that the result is judged on have no part in the choice. A base that
/// cannot be fitted is passed over, unless none can.
///
/// Cost: one fit for each base to three quarters of the examples; n fits each for n < 8 examples. Shapes are fitted for
/// at most [`MOST_JUDGED`] vertices, and so are bases whose vertices are fitted each by itself.
pub(super) fn choose_base<'a>(
    set: &ExampleSet,
    training: &[usize],
    options: &'a PsdOptions,
    progress: &dyn Progress,
) -> Result<&'a Method, FitError> {
    let first = &options.bases[0];
    if options.bases.len() == 1 || training.len() < 2 {
        return Ok(first);
    }
    let folds = folds(training);
    let judged = Judged::of(set)?;
    let mut failed = None;
    let mut bases: Vec<&Method> = Vec::new();
    let mut ratings: Vec<Rating> = Vec::new();
    for base in &options.bases {
        let trial = Trial {
            progress,
            name: base.key(),
        };
        let fit = |part: &[usize]| judged.fit(base, set, part, options, &trial);
        match hold_out(&judged.examples, &folds, fit) {
            Ok(found) => {
                bases.push(base);
                ratings.push(Rating {
                    e_rms: found.measured.total.e_rms,
                    bytes: whole_bytes_per_vertex(&found.skins[0], set.rest().vertex_count()),
                });
            }
            Err(FitError::Stopped) => return Err(FitError::Stopped),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let lowest = ratings
        .iter()
        .map(|r| r.e_rms)
        .fold(f64::INFINITY, f64::min);
    match (smallest_within(as_good_as(lowest), &ratings), failed) {
        (Some(number), _) => Ok(bases[number]),
        (None, Some(error)) => Err(error),
        // Errors that are no numbers: the fit itself will tell.
        (None, None) => Ok(first),
    }
}

/// The vertices that bases are judged by.
struct Judged {
    vertices: Vec<u32>,
    /// Those vertices alone, as points without triangles.
    examples: ExampleSet,
}

impl Judged {
    fn of(set: &ExampleSet) -> Result<Self, FitError> {
        let count = set.rest().vertex_count();
        let step = count.div_ceil(MOST_JUDGED).max(1);
        let vertices: Vec<u32> = (0..count as u32).step_by(step).collect();
        let pick = |from: &[glam::DVec3]| vertices.iter().map(|&i| from[i as usize]).collect();
        let rest = TriMesh::new(pick(set.rest().positions()), Vec::new())
            .expect("positions of a mesh are numbers");
        let example = |example: &Example| Example {
            positions: pick(&example.positions),
            ..example.clone()
        };
        let examples = set.examples().iter().map(example).collect();
        let examples = ExampleSet::new(rest, set.skeleton().clone(), examples)?.in_unit_of(set);
        Ok(Self { vertices, examples })
    }

    /// A base and shapes on it, for these vertices.
    ///
    /// Bases that fit each vertex by itself see no others. Those that smooth over the mesh or divide it into patches need
    /// all of it; they are fitted once, and not again to what shapes leave, for which there would have to be shapes
    /// everywhere.
    fn fit(
        &self,
        base: &Method,
        set: &ExampleSet,
        training: &[usize],
        options: &PsdOptions,
        progress: &dyn Progress,
    ) -> Result<Fitted, FitError> {
        let vertices_are_apart = matches!(
            base,
            Method::Ssd(_) | Method::PseudoBones(_) | Method::DualQuaternion(_)
        );
        if vertices_are_apart || self.vertices.len() == set.rest().vertex_count() {
            let set = if vertices_are_apart {
                &self.examples
            } else {
                set
            };
            return fit_on(base, set, training, options, progress);
        }
        let mut fitted = base.fit(set, training, progress)?;
        fitted.skin.program = fitted.skin.program.copied(&self.vertices);
        fit_shapes(fitted, &self.examples, training, options, progress)
    }
}

/// Every fourth training example left out, or each in turn.
fn folds(training: &[usize]) -> Vec<Fold> {
    let fold = |is_left_out: &dyn Fn(usize) -> bool| {
        let part = |left_out: bool| {
            let numbers = training.iter().enumerate();
            let part = numbers.filter(|(n, _)| is_left_out(*n) == left_out);
            part.map(|(_, &k)| k).collect()
        };
        Fold {
            training: part(false),
            held_out: part(true),
        }
    };
    match training.len() >= MANY {
        true => vec![fold(&|n| n % 4 == 3)],
        false => (0..training.len()).map(|one| fold(&|n| n == one)).collect(),
    }
}

/// Passes progress on under the name of the base that is tried.
struct Trial<'a> {
    progress: &'a dyn Progress,
    name: &'a str,
}

impl Progress for Trial<'_> {
    fn report(&self, stage: &str, done: usize, total: usize) -> bool {
        let stage = format!("trying base {}: {stage}", self.name);
        self.progress.report(&stage, done, total)
    }

    fn detail(&self, text: &str) {
        self.progress.detail(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fourth_training_example_is_left_out_and_of_few_each_in_turn() {
        let training: Vec<usize> = (10..20).collect();
        let expected = Fold {
            training: vec![10, 11, 12, 14, 15, 16, 18, 19],
            held_out: vec![13, 17],
        };
        assert_eq!(folds(&training), [expected], "numbers of the set");
        let left_out: Vec<Vec<usize>> = (folds(&[4, 7, 9]).into_iter())
            .map(|fold| fold.held_out)
            .collect();
        assert_eq!(left_out, [[4], [7], [9]], "three fits");
    }

    #[test]
    fn of_bases_that_do_as_well_the_smallest_is_taken() {
        // Made by linear blending: every base is exact, so nothing but size can decide.
        let tube = crate::synth::tube(&crate::synth::TubeOptions {
            ring_count: 9,
            segment_count: 6,
            bone_count: 2,
            example_count: 8,
        })
        .examples;
        let training: Vec<usize> = (0..8).collect();
        let mut options = PsdOptions::default();
        options.bases.reverse();
        assert_eq!(
            options.bases[0].key(),
            "animation-space",
            "the largest first"
        );
        let chosen = choose_base(&tube, &training, &options, &crate::progress::Silent);
        let key = chosen.expect("a tube can be fitted").key();
        assert!(["ssd", "rotational-regression"].contains(&key), "{key}");
    }
}
