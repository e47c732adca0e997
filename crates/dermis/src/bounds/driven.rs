//! How far the sliders of a skin can go.

use super::BoundsError;
use crate::clip::{Channel, Clip, Interpolation, Keys};
use crate::pose_space::{Driver, Kernel};
use crate::skin::Skin;

/// A range for every coefficient of a skin. A coefficient given by poses ranges from 0 to 1, and farther
/// where clips push it; a driven coefficient as far as its driver can take it.
///
/// The bumps of a Gaussian or Shepard driver lie between 0 and 1, so its output lies between the sums
/// of its negative and of its positive weights in every pose.
///
/// # Errors
/// [`BoundsError::UnboundedDriver`] for a driver with a linear part, or a superposition driver: their outputs
/// grow with the pose.
pub fn coefficient_ranges(skin: &Skin, clips: &[Clip]) -> Result<Vec<[f64; 2]>, BoundsError> {
    let mut ranges: Vec<[f64; 2]> = (skin.coefficients.iter())
        .map(|c| [c.default.min(0.0), c.default.max(1.0)])
        .collect();
    for clip in clips {
        for channel in &clip.channels {
            let Channel::Coefficients(first, keys) = channel else {
                continue;
            };
            let per_key = keys.values_per_key();
            for (key, value) in keys.values.chunks_exact(per_key).enumerate() {
                for (m, range) in ranges.iter_mut().skip(*first).enumerate() {
                    let Some(&c) = value[per_key / 2].get(m) else {
                        break;
                    };
                    let over = overshoot(keys, key, m);
                    *range = [range[0].min(c - over), range[1].max(c + over)];
                }
            }
        }
    }
    let mut at = skin.posed_coefficient_count();
    for driver in &skin.pose_program.drivers {
        for output in 0..driver.output_count() {
            ranges[at] = driven_range(driver, output, &skin.coefficients[at].name)?;
            at += 1;
        }
    }
    Ok(ranges)
}

/// How far coefficient `m` may pass its key on the way to the neighbours.
///
/// A cubic Hermite piece of length `h` between values `a` and `b` with tangents `u` and `v` is a mean of
/// `a` and `b` plus `h (u H₁₀ + v H₁₁)`, and `H₁₀` and `H₁₁` are at most 4/27 in size.
fn overshoot(keys: &Keys<Vec<f64>>, key: usize, m: usize) -> f64 {
    if keys.interpolation != Interpolation::Cubic {
        return 0.0;
    }
    let tangent = |key: usize, part: usize| {
        let value = keys.values.get(3 * key + part).and_then(|v| v.get(m));
        value.map_or(0.0, |t| t.abs())
    };
    // From the out-tangent of one key to the in-tangent of the next.
    let piece = |from: usize| {
        let length = keys.times[from + 1] - keys.times[from];
        4.0 / 27.0 * length * (tangent(from, 2) + tangent(from + 1, 0))
    };
    let before = (key > 0).then(|| piece(key - 1));
    let after = (key + 1 < keys.times.len()).then(|| piece(key));
    before.unwrap_or(0.0).max(after.unwrap_or(0.0))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Skeleton;
    use crate::skin::{Coefficient, Correction, SsdProgram, VertexProgram};

    #[test]
    fn splines_stay_in_their_ranges_and_lines_between_their_keys() {
        let skeleton = Skeleton::new(Vec::new()).expect("no bones");
        let ssd = SsdProgram {
            corrections: vec![Correction { deltas: Vec::new() }; 2],
            ..SsdProgram::default()
        };
        let names = ["a", "b"].map(|name| Coefficient {
            name: name.to_owned(),
            default: 0.0,
        });
        let skin = Skin::new(skeleton, VertexProgram::Ssd(ssd), names.to_vec()).expect("a skin");
        let channel = |interpolation, values: &[f64]| {
            let keys = Keys {
                interpolation,
                times: vec![0.0, 0.5, 2.0],
                values: values.iter().map(|&v| vec![v]).collect(),
            };
            Channel::Coefficients(usize::from(interpolation == Interpolation::Linear), keys)
        };
        let clip = Clip {
            name: "sliders".to_owned(),
            channels: vec![
                channel(
                    Interpolation::Cubic,
                    &[0.0, 0.5, 9.0, -7.0, 1.0, 6.0, 5.0, 0.2, 0.0],
                ),
                channel(Interpolation::Linear, &[0.0, -0.5, 1.5]),
            ],
        };
        clip.check(&skin.skeleton, 2).expect("three keys each");
        let ranges = coefficient_ranges(&skin, std::slice::from_ref(&clip)).expect("no drivers");
        assert_eq!(ranges[1], [-0.5, 1.5], "between the keys");
        let mut seen = [f64::INFINITY, f64::NEG_INFINITY];
        for n in 0..=2000 {
            let c = skin.sample(&clip, n as f64 / 1000.0).coefficients[0];
            seen = [seen[0].min(c), seen[1].max(c)];
        }
        assert!(seen[1] > 1.3, "the spline overshoots: {seen:?}");
        assert!(
            ranges[0][0] <= seen[0] && seen[1] <= ranges[0][1],
            "{seen:?} within {:?}",
            ranges[0]
        );
    }
}
