//! An animation as a sum of shapes: the lower bound of every decomposition.

use super::options::report_progress;
use super::{ComparatorOptions, Prediction};
use crate::example::MeshAnimation;
use crate::fit::FitError;
use crate::fit::decompose::reduce::leading;
use crate::fit::decompose::trajectories;
use crate::progress::Progress;
use crate::solve::product;

/// The best sum of `4 P` trajectories for all vertices (\[Alexa00\], uncentred as in \[Kavan10\] §5).
///
/// The matrices of P bones have 4 P columns, so no skin of P bones can have a smaller error. The price
/// is in the vertices: each has 4 P numbers, where a skin's has a position and a few weights.
///
/// An `E_RMS` below about 1e-4 is rounding: of frames in 32-bit numbers, and of the squares in which
/// the sum is found.
///
/// # Errors
/// [`FitError::BadOption`] and [`FitError::Stopped`].
pub fn truncated_svd(
    animation: &MeshAnimation,
    options: &ComparatorOptions,
    progress: &dyn Progress,
) -> Result<Prediction, FitError> {
    options.check_for(animation)?;
    report_progress(progress, "decomposing", 0, 1)?;
    let terms = 4 * options.bone_count;
    let reduced = leading(trajectories(animation).as_ref(), terms);
    let predicted = product(reduced.basis.as_ref(), reduced.coordinates.as_ref());
    report_progress(progress, "decomposing", 1, 1)?;
    Ok(Prediction::new(
        animation,
        predicted.as_ref(),
        [terms, 0],
        3 * terms,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;
    use crate::synth::{FlagOptions, flag};

    #[test]
    fn the_error_is_that_of_the_terms_left_out() {
        let flag = flag(&FlagOptions {
            width: 20,
            height: 12,
            frame_count: 30,
        });
        let options = ComparatorOptions {
            bone_count: 3,
            ..ComparatorOptions::default()
        };
        let found = truncated_svd(&flag, &options, &Silent).expect("three bones");
        let values = trajectories(&flag).singular_values().expect("finite");
        let left: f64 = values[12..].iter().map(|value| value * value).sum();
        let expected = 1000.0 * (left / (3.0 * 240.0 * 30.0)).sqrt();
        assert!(
            (found.e_rms - expected).abs() < 1e-6 * expected,
            "{} {expected}",
            found.e_rms
        );
        assert_eq!(
            [found.numbers_per_vertex, found.numbers_per_frame],
            [12, 36],
            "12 terms"
        );
    }

    #[test]
    fn as_many_terms_as_rows_repeat_the_animation() {
        let flag = flag(&FlagOptions {
            width: 9,
            height: 8,
            frame_count: 6,
        });
        let options = ComparatorOptions {
            bone_count: 5,
            ..ComparatorOptions::default()
        };
        let found = truncated_svd(&flag, &options, &Silent).expect("five bones");
        assert!(found.e_rms < 1e-9, "{}", found.e_rms);
    }
}
