//! How far the sliders of a skin can go.

use super::BoundsError;
use crate::pose_space::{Driver, Kernel};
use crate::rig::{Channel, Clip};
use crate::skin::Skin;

/// A range for every coefficient of a skin: those that a pose gives from 0 to 1 and as far as clips
/// push them, those that are driven as far as their drivers can.
///
/// The bumps of a Gaussian or Shepard driver lie between 0 and 1, so its output lies between the sums
/// of its negative and of its positive weights, whatever the pose.
///
/// # Errors
/// [`BoundsError::UnboundedDriver`] for a driver with a linear part or one of superposition, which grow
/// with the pose.
pub fn coefficient_ranges(skin: &Skin, clips: &[Clip]) -> Result<Vec<[f64; 2]>, BoundsError> {
    let mut ranges: Vec<[f64; 2]> = (skin.coefficients.iter())
        .map(|c| [c.default.min(0.0), c.default.max(1.0)])
        .collect();
    for clip in clips {
        for channel in &clip.channels {
            let Channel::Coefficients(first, keys) = channel else {
                continue;
            };
            // Tangents of splines count as values here: too wide, never too narrow for lines. A spline
            // may pass its keys by a fraction of its tangents.
            for value in &keys.values {
                for (range, c) in ranges.iter_mut().skip(*first).zip(value) {
                    *range = [range[0].min(*c), range[1].max(*c)];
                }
            }
        }
    }
    let mut at = skin.posed_coefficient_count();
    for driver in &skin.drivers {
        for output in 0..driver.output_count() {
            ranges[at] = driven_range(driver, output, &skin.coefficients[at].name)?;
            at += 1;
        }
    }
    Ok(ranges)
}

fn driven_range(driver: &Driver, output: usize, name: &str) -> Result<[f64; 2], BoundsError> {
    let unbounded = |part| BoundsError::UnboundedDriver {
        name: name.to_owned(),
        driver: driver.name.clone(),
        part,
    };
    if let Kernel::Superposition = driver.kernel {
        return Err(unbounded("product of controls"));
    }
    let constant = match driver.linear.get(output).map(Vec::as_slice) {
        None | Some([]) => 0.0,
        Some([constant, slopes @ ..]) if slopes.iter().all(|s| *s == 0.0) => *constant,
        Some(_) => return Err(unbounded("linear part")),
    };
    let weights = driver.weights[output].iter();
    Ok(weights.fold([constant, constant], |[low, high], w| {
        [low + w.min(0.0), high + w.max(0.0)]
    }))
}
