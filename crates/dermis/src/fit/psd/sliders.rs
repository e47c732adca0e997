//! Shapes of sliders as what they are: morph targets of their own.
//!
//! A slider that controls read is a coefficient whose correction is empty, and the shapes that it switches on are
//! driven. Where shapes are added up, most are in proportion to one slider: then slider and shape are two targets for
//! one thing, of which the one with the right name moves nothing. Here the slider gets the shape, and the driver
//! keeps what no slider does alone.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::pose_space::{Control, Driver, Kernel};
use crate::skin::{Correction, Delta, Skin, SkinError};

/// The same skin, where shapes in proportion to one slider are that slider's own.
///
/// With superposition the displacement of a vertex is `Σ_m c_m D_m = Σ_k φ_k E_k` with `E_k = Σ_m W_mk D_m`, where
/// `φ_k` is the product of how far along the sliders of pose k are. For a pose of one slider at `v` that is the slider
/// over `v`, so `E_k / v` belongs to the slider itself, if that has no shape yet. What is left are combinations: each
/// becomes what the sum of its parts lacks.
///
/// Other kernels, and shapes that were compressed, are left as they are; so is a skin whose corrections are no
/// displacements of the rest shape.
///
/// # Errors
/// Those of [`Skin::push_driver`], of which none is expected.
pub fn shapes_on_sliders(skin: &Skin) -> Result<Skin, SkinError> {
    let Ok(shapes) = skin.program.rest_corrections(&skin.skeleton) else {
        return Ok(skin.clone());
    };
    let mut result = skin.without_drivers();
    let mut is_free: Vec<bool> = (shapes[..result.coefficients.len()].iter())
        .map(|shape| shape.deltas.is_empty())
        .collect();
    let mut next = result.coefficients.len();
    for driver in &skin.pose_program.drivers {
        let outputs = next..next + driver.output_count();
        next = outputs.end;
        let names = skin.coefficients[outputs.clone()].iter();
        let names: Vec<String> = names.map(|c| c.name.clone()).collect();
        let own = &shapes[outputs];
        let sliders: Vec<Option<(usize, f64)>> = match is_plain(driver) {
            true => (0..driver.centers.len())
                .map(|k| slider_of(driver, k).filter(|&(slider, _)| is_free[slider]))
                .collect(),
            false => Vec::new(),
        };
        if sliders.iter().all(Option::is_none) {
            let own = own.iter().map(|shape| shape.deltas.clone()).collect();
            result.push_driver(driver.clone(), names, own)?;
            continue;
        }
        let mut left = Driver {
            centers: Vec::new(),
            weights: Vec::new(),
            ..driver.clone()
        };
        let (mut left_names, mut left_shapes) = (Vec::new(), Vec::new());
        for (k, slider) in sliders.into_iter().enumerate() {
            match slider {
                Some((slider, at)) => {
                    is_free[slider] = false;
                    let shape = mixed(driver, k, own, 1.0 / at);
                    let skeleton = &result.skeleton;
                    result.program.replace_correction(skeleton, slider, shape);
                }
                None => {
                    left.centers.push(driver.centers[k].clone());
                    left_names.push(names[k].clone());
                    left_shapes.push(mixed(driver, k, own, 1.0));
                }
            }
        }
        let count = left.centers.len();
        left.weights = (0..count)
            .map(|m| (0..count).map(|k| f64::from(u8::from(k == m))).collect())
            .collect();
        if count > 0 {
            result.push_driver(left, left_names, left_shapes)?;
        }
    }
    Ok(result)
}

/// Whether shapes are added up, one for each pose.
fn is_plain(driver: &Driver) -> bool {
    driver.kernel == Kernel::Superposition
        && driver.linear.is_empty()
        && driver.output_count() == driver.centers.len()
}

/// The one slider that a pose moves, and where it then stands.
fn slider_of(driver: &Driver, k: usize) -> Option<(usize, f64)> {
    // Superposition takes controls with one coordinate.
    let point = &driver.centers[k].point;
    let mut moved = (driver.controls.iter().zip(point)).filter(|(_, at)| **at != 0.0);
    match (moved.next(), moved.next()) {
        (Some((Control::Slider { coefficient }, &at)), None) => Some((*coefficient, at)),
        _ => None,
    }
}

/// `E_k` times a number.
fn mixed(driver: &Driver, k: usize, own: &[Correction<DVec3>], times: f64) -> Vec<Delta<DVec3>> {
    let mut sum: BTreeMap<u32, DVec3> = BTreeMap::new();
    for (weights, shape) in driver.weights.iter().zip(own) {
        if weights[k] != 0.0 {
            for delta in &shape.deltas {
                *sum.entry(delta.index).or_default() += times * weights[k] * delta.value;
            }
        }
    }
    let moved = sum.into_iter().filter(|(_, value)| *value != DVec3::ZERO);
    moved.map(|(index, value)| Delta { index, value }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::{PsdLayer, Sculpt, build_psd};
    use crate::pose_space::InterpolateOptions;
    use crate::skin::Coefficient;
    use crate::synth::{TubeOptions, tube};

    const SLIDERS: [Control; 3] = [
        Control::Slider { coefficient: 0 },
        Control::Slider { coefficient: 1 },
        Control::Slider { coefficient: 2 },
    ];

    fn base() -> Skin {
        let tube = tube(&TubeOptions {
            ring_count: 10,
            segment_count: 6,
            bone_count: 2,
            example_count: 1,
        });
        let slider = |name: &str| Coefficient {
            name: name.to_owned(),
            default: 0.0,
        };
        tube.truth
            .with_sliders(["smile", "wink", "pout"].map(slider))
    }

    /// Smile at 1, wink at a half, both together; the pout has no shape.
    fn face(base: &Skin, kernel: Kernel) -> Skin {
        let sculpt = |(number, (name, at)): (u32, (&str, [f64; 3]))| {
            let mut pose = base.skeleton.rest_pose();
            pose.coefficients = at.to_vec();
            let delta = |index: u32| Delta {
                index,
                value: DVec3::new(0.1, 0.01 * f64::from(index), 0.2 * f64::from(number)),
            };
            Sculpt {
                name: name.to_owned(),
                pose,
                falloffs: vec![0.7; 3],
                shape: (10 * number..10 * number + 15).map(delta).collect(),
            }
        };
        let poses = [
            ("smile1", [1.0, 0.0, 0.0]),
            ("wink0.5", [0.0, 0.5, 0.0]),
            ("smile1_wink0.5", [1.0, 0.5, 0.0]),
        ];
        let layer = PsdLayer {
            interpolation: InterpolateOptions {
                kernel,
                linear: false,
            },
            sculpts: (0..).zip(poses).map(sculpt).collect(),
            ..PsdLayer::new("face", SLIDERS.to_vec())
        };
        build_psd(base, &[layer]).expect("a face").skin
    }

    fn names(skin: &Skin) -> Vec<&str> {
        skin.coefficients.iter().map(|c| c.name.as_str()).collect()
    }

    #[test]
    fn a_slider_has_its_own_shape_and_every_pose_stays_as_it_was() {
        let base = base();
        for base in [base.clone(), base.to_linear().expect("linear blend")] {
            let before = face(&base, Kernel::Superposition);
            let after = shapes_on_sliders(&before).expect("the same skin");
            assert_eq!(
                names(&after),
                ["smile", "wink", "pout", "smile1_wink0.5"],
                "one target each, and the combination"
            );
            for at in [[0.0; 3], [1.0, 0.0, 0.0], [0.3, 0.5, 0.0], [-1.0, 2.0, 0.7]] {
                let mut pose = base.skeleton.rest_pose();
                pose.parent_from_bone[1] *= glam::DAffine3::from_rotation_z(0.8);
                pose.coefficients = at.to_vec();
                let [a, b] = [&before, &after].map(|skin| skin.evaluate(&pose).expect("fits"));
                let apart = a.iter().zip(&b).map(|(a, b)| a.distance(*b));
                let apart = apart.fold(0.0, f64::max);
                assert!(apart < 1e-12, "{at:?}: {apart}");
            }
        }
    }

    #[test]
    fn gaussians_are_no_proportions_and_shapes_that_are_there_stay() {
        let base = base();
        let bumps = face(&base, Kernel::Gaussian);
        assert!(
            shapes_on_sliders(&bumps).expect("the same") == bumps,
            "as it was"
        );
        let once = shapes_on_sliders(&face(&base, Kernel::Superposition)).expect("a face");
        assert!(
            shapes_on_sliders(&once).expect("the same") == once,
            "only once"
        );
    }
}
