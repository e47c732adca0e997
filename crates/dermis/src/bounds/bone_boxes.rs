//! A box per bone: how engines bound skinned meshes anew in every frame.

use glam::DVec3;

use super::BoundsError;
use crate::mesh::Aabb;
use crate::rig::Palette;
use crate::skin::{Skin, SkinError, VertexProgram, Weight};

/// For each bone the box, in the bone's frame, around the rest positions of the vertices that follow it.
///
/// With weights that are not negative and sum to 1, a vertex lies between the places that its bones
/// would carry it to, so the posed boxes together hold the mesh. That needs a pass over the bones in
/// every frame, which is the price of being tighter than one sphere for all poses.
#[derive(Debug, Clone, PartialEq)]
pub struct BoneBoxes {
    /// Lowest and highest corner in the bone's frame; `None` for a bone without vertices.
    pub of_bone: Vec<Option<[DVec3; 2]>>,
}

/// How far from 0 and 1 the smallest weight and the sum of weights may be: rounding of single precision.
///
/// A vertex whose weights sum to `1 + ε` may leave the boxes by `ε` times its distance from the origin.
const ROUNDING: f64 = 1e-5;

impl BoneBoxes {
    /// The boxes of a linear blend skin at the defaults of its coefficients.
    ///
    /// Morph targets that are moved away from their defaults may leave them:
    /// [`BoneBoxes::over_coefficients`] holds those too.
    ///
    /// # Errors
    /// [`BoundsError::Skin`] for other skins, whose vertices may leave the boxes, and for weights
    /// that are negative or do not sum to 1.
    pub fn new(skin: &Skin) -> Result<Self, BoundsError> {
        let still: Vec<[f64; 2]> = (skin.default_coefficients().iter())
            .map(|&c| [c, c])
            .collect();
        Self::over_coefficients(skin, &still)
    }

    /// The boxes of a linear blend skin over ranges of its coefficients, one range per coefficient
    /// ([`coefficient_ranges`](super::coefficient_ranges) makes them).
    ///
    /// The box of a vertex in a bone's frame is exact: each coefficient adds its range times the
    /// displacement, axis by axis.
    ///
    /// # Errors
    /// As [`BoneBoxes::new`], [`BoundsError::CountMismatch`] and [`BoundsError::BadRange`].
    pub fn over_coefficients(skin: &Skin, ranges: &[[f64; 2]]) -> Result<Self, BoundsError> {
        let VertexProgram::Ssd(ssd) = &skin.program else {
            return Err(BoundsError::Skin(SkinError::NotLinear {
                program: skin.program.name(),
            }));
        };
        if ranges.len() != ssd.corrections.len() {
            return Err(BoundsError::CountMismatch {
                what: "ranges of coefficients",
                expected: ssd.corrections.len(),
                found: ranges.len(),
            });
        }
        let in_order = |[low, high]: &[f64; 2]| low.is_finite() && high.is_finite() && low <= high;
        if let Some(index) = ranges.iter().position(|range| !in_order(range)) {
            return Err(BoundsError::BadRange {
                index,
                found: ranges[index],
            });
        }
        ssd.weights.iter().enumerate().try_for_each(check_weights)?;

        let middle: Vec<f64> = ranges
            .iter()
            .map(|[low, high]| 0.5 * (low + high))
            .collect();
        let centers = ssd.corrected_rest(&middle);
        // How far each correction may move a vertex from its middle: half a range times a displacement,
        // either way.
        let mut moves: Vec<Vec<DVec3>> = vec![Vec::new(); centers.len()];
        for (correction, [low, high]) in ssd.corrections.iter().zip(ranges) {
            let half = 0.5 * (high - low);
            if half > 0.0 {
                for delta in &correction.deltas {
                    moves[delta.index as usize].push(half * delta.value);
                }
            }
        }
        let bones = skin.skeleton.bones();
        let mut of_bone: Vec<Option<[DVec3; 2]>> = vec![None; bones.len()];
        for ((row, center), moves) in ssd.weights.iter().zip(&centers).zip(&moves) {
            for weight in row.iter().filter(|w| w.weight != 0.0) {
                let j = weight.bone.index();
                let bone_from_rest = &bones[j].bone_from_rest;
                let at = bone_from_rest.transform_point3(*center);
                let reach: DVec3 = (moves.iter())
                    .map(|by| bone_from_rest.transform_vector3(*by).abs())
                    .sum();
                let [low, high] = of_bone[j].unwrap_or([at, at]);
                of_bone[j] = Some([low.min(at - reach), high.max(at + reach)]);
            }
        }
        Ok(Self { of_bone })
    }

    /// The corners of all boxes in a pose.
    ///
    /// # Panics
    /// When the palette lacks a bone.
    pub fn corners(&self, palette: &Palette) -> Vec<DVec3> {
        let boxes = self.of_bone.iter().zip(&palette.model_from_bone);
        let boxes = boxes.filter_map(|(bone, matrix)| bone.map(|corners| (corners, matrix)));
        boxes
            .flat_map(|([low, high], matrix)| {
                (0..8).map(move |n| {
                    let pick = |axis: usize| [low, high][n >> axis & 1][axis];
                    matrix.transform_point3(DVec3::new(pick(0), pick(1), pick(2)))
                })
            })
            .collect()
    }

    /// The box around all boxes in a pose, along the axes of model space; `None` without vertices.
    ///
    /// # Panics
    /// When the palette lacks a bone.
    pub fn posed(&self, palette: &Palette) -> Option<Aabb> {
        Aabb::of(&self.corners(palette))
    }
}

/// Returns an error unless the weights of a vertex are at least 0 and sum to 1.
fn check_weights((vertex, row): (usize, &[Weight])) -> Result<(), SkinError> {
    let least = row.iter().map(|w| w.weight).fold(f64::INFINITY, f64::min);
    let sum: f64 = row.iter().map(|w| w.weight).sum();
    match least >= -ROUNDING && (sum - 1.0).abs() <= ROUNDING {
        true => Ok(()),
        // A vertex without weights goes to the origin, which no bone carries.
        false => Err(SkinError::NoShares {
            vertex,
            least: least.min(sum),
            sum,
        }),
    }
}

#[cfg(test)]
mod tests {
    use glam::{DAffine3, DQuat};

    use super::*;
    use crate::Rows;
    use crate::rig::{BoneId, Skeleton};
    use crate::skin::{Coefficient, Correction, Delta, SsdProgram};

    /// Two bones, a vertex on each and one between them, and a morph target for the one between.
    fn bent(weights: [Vec<f64>; 3]) -> Skin {
        let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
        let skeleton = Skeleton::from_rest_frames([
            ("upper".to_owned(), None, at(0.0)),
            ("lower".to_owned(), Some(BoneId(0)), at(1.0)),
        ])
        .expect("parents come first");
        let weights: Rows<Weight> = (weights.into_iter())
            .map(|row| {
                let row = row.into_iter().enumerate();
                row.map(|(j, weight)| Weight {
                    bone: BoneId(j as u16),
                    weight,
                })
            })
            .collect();
        let program = SsdProgram {
            rest_positions: vec![DVec3::ZERO, DVec3::new(2.0, 0.1, 0.0), DVec3::X],
            weights,
            corrections: vec![Correction {
                deltas: vec![Delta {
                    index: 2,
                    value: DVec3::new(0.2, 1.0, -0.5),
                }],
            }],
        };
        let swell = Coefficient {
            name: "swell".to_owned(),
            default: 0.0,
        };
        Skin::new(skeleton, VertexProgram::Ssd(program), vec![swell]).expect("a skin")
    }

    fn shares() -> [Vec<f64>; 3] {
        [vec![1.0], vec![0.0, 1.0], vec![0.5, 0.5]]
    }

    #[test]
    fn boxes_over_a_range_hold_morph_targets_and_boxes_at_defaults_do_not() {
        let skin = bent(shares());
        let still = BoneBoxes::new(&skin).expect("shares");
        let moving = BoneBoxes::over_coefficients(&skin, &[[-0.5, 1.0]]).expect("shares");
        let mut left = false;
        for n in 0..64 {
            let mut pose = skin.skeleton.rest_pose();
            let turn = DVec3::new(0.3, 0.7, -0.4) * (0.1 * f64::from(n));
            pose.parent_from_bone[1] *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
            pose.coefficients = vec![-0.5 + 1.5 * f64::from(n % 8) / 7.0];
            let palette = skin.run_pose_program(&pose).expect("it fits").palette;
            let at = skin.evaluate(&pose).expect("it fits")[2];
            let holds = |boxes: &BoneBoxes| {
                let posed = boxes.posed(&palette).expect("vertices");
                (at.cmpge(posed.min - 1e-12) & at.cmple(posed.max + 1e-12)).all()
            };
            assert!(holds(&moving), "{at} outside in pose {n}");
            left |= !holds(&still);
        }
        assert!(left, "the defaults are no range");
    }

    #[test]
    fn negative_weights_and_sums_other_than_one_are_refused_and_the_vertex_named() {
        let broken = [vec![1.5, -0.5], vec![0.4, 0.4], vec![0.7, 0.7], Vec::new()];
        for row in broken {
            let [first, second, _] = shares();
            let skin = bent([first, second, row.clone()]);
            let error = BoneBoxes::new(&skin).expect_err("no shares");
            assert!(
                matches!(
                    error,
                    BoundsError::Skin(SkinError::NoShares { vertex: 2, .. })
                ),
                "{row:?}: {error}"
            );
            assert!(error.to_string().contains("vertex 2"), "{error}");
        }
        // Sums of thirds in single precision.
        let third = f64::from(1.0f32 / 3.0);
        let [first, second, _] = shares();
        BoneBoxes::new(&bent([first, second, vec![third, 2.0 * third]])).expect("rounding");
    }

    #[test]
    fn ranges_that_do_not_fit_are_refused() {
        let skin = bent(shares());
        let error = BoneBoxes::over_coefficients(&skin, &[]).expect_err("no range");
        assert!(
            matches!(error, BoundsError::CountMismatch { .. }),
            "{error}"
        );
        let error = BoneBoxes::over_coefficients(&skin, &[[1.0, 0.0]]).expect_err("no order");
        assert!(matches!(error, BoundsError::BadRange { .. }), "{error}");
    }
}
