//! Drivers: functions over a pose space, one for each coefficient that they compute.

use glam::DAffine3;
use serde::{Deserialize, Serialize};

use super::{Control, PoseSpaceError};
use crate::rig::Skeleton;

/// Smooth functions of a pose: the solved radial basis functions of pose space deformation.
///
/// With the controls' coordinates `x` the outputs are
/// `c_m(x) = Σ_k weights[m][k] φ_k(x) + linear[m]·(1, x)`, where `φ_k` is the bump around center `k`
/// (see [`Kernel`]). Solved by [`interpolate`](super::interpolate), output `m` is 1 at its own pose
/// and 0 at every other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Driver {
    /// Name shown to people.
    pub name: String,
    /// The controls whose coordinates span the space.
    pub controls: Vec<Control>,
    /// The shape of the bumps.
    pub kernel: Kernel,
    /// The poses around which the bumps are centred.
    pub centers: Vec<Center>,
    /// One row per output, one number per center.
    pub weights: Vec<Vec<f64>>,
    /// One row per output: a constant and one number per coordinate. Empty when there are no linear terms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linear: Vec<Vec<f64>>,
}

/// A pose at the centre of a bump.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Center {
    /// Name shown to people.
    pub name: String,
    /// Coordinates of all controls, one after the other.
    pub point: Vec<f64>,
    /// One per control, in its unit: radians for joints. The distance at which a Gaussian has fallen
    /// to 0.61.
    pub falloffs: Vec<f64>,
}

/// The shape of a bump. `d²` is the sum over controls of squared distance over squared falloff.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Kernel {
    /// `φ = exp(−d²/2)`: smooth, and 0 far away. Used by \[Lewis00\].
    #[default]
    Gaussian,
    /// `φ_k = d_k^−power / Σ d^−power`: weighted averages, flat at every pose; far away, the mean of all poses.
    Shepard {
        /// Above 1; the larger, the less neighbouring poses mix.
        power: f64,
    },
    /// `φ_k` is the product, over the controls that the pose moves away from 0, of the share of the way that they have
    /// gone: shape interpolation, where shapes are added up and combination shapes are added at the corners. Falloffs
    /// are ignored. A joint's angle counts with its sign, so only one-coordinate controls are useful.
    Superposition,
}

/// The smallest falloff: squares of smaller ones underflow.
const LEAST_FALLOFF: f64 = 1e-9;

impl Driver {
    /// How many coefficients it drives.
    pub fn output_count(&self) -> usize {
        self.weights.len()
    }

    /// How many coordinates its space has.
    pub fn dimension(&self) -> usize {
        self.controls.iter().map(Control::dimension).sum()
    }

    /// The point of a pose, given its bones as in a [`Pose`](crate::Pose) and all coefficients.
    ///
    /// # Panics
    /// When the pose lacks a bone or a coefficient that a control reads.
    pub fn point(
        &self,
        skeleton: &Skeleton,
        parent_from_bone: &[DAffine3],
        coefficients: &[f64],
    ) -> Vec<f64> {
        point(&self.controls, skeleton, parent_from_bone, coefficients)
    }

    /// The outputs at a point.
    ///
    /// # Panics
    /// When the point has another dimension.
    pub fn evaluate(&self, point: &[f64]) -> Vec<f64> {
        let bumps = self.kernel.bumps(&self.controls, &self.centers, point);
        let dot = |row: &[f64]| -> f64 { row.iter().zip(&bumps).map(|(w, b)| w * b).sum() };
        let mut outputs: Vec<f64> = self.weights.iter().map(|row| dot(row)).collect();
        for (output, row) in outputs.iter_mut().zip(&self.linear) {
            *output += row[0];
            *output += row[1..].iter().zip(point).map(|(w, x)| w * x).sum::<f64>();
        }
        outputs
    }

    /// Checks that all lists fit together and every number is finite, for a skin with this many bones and coefficients
    /// given by poses.
    ///
    /// # Errors
    /// [`PoseSpaceError::BadDriver`] with the first problem.
    pub fn check(
        &self,
        bone_count: usize,
        posed_coefficients: usize,
    ) -> Result<(), PoseSpaceError> {
        let bad = |problem: String| {
            Err(PoseSpaceError::BadDriver {
                driver: self.name.clone(),
                problem,
            })
        };
        for control in &self.controls {
            match control {
                Control::Joint { bone, .. } if bone.index() >= bone_count => {
                    return bad(format!(
                        "it reads bone {}, but there are only {bone_count} bones",
                        bone.0
                    ));
                }
                Control::Joint {
                    turn:
                        super::JointTurn::Hinge { axis }
                        | super::JointTurn::Swing { axis }
                        | super::JointTurn::SwingTwist { axis },
                    ..
                } if !axis.is_normalized() => {
                    return bad(format!("its axis {axis} is not of length 1"));
                }
                Control::Slider { coefficient } if *coefficient >= posed_coefficients => {
                    return bad(format!(
                        "it reads coefficient {coefficient}, but a pose gives only \
                         {posed_coefficients}"
                    ));
                }
                _ => {}
            }
        }
        if let Kernel::Shepard { power } = self.kernel
            && !(power > 1.0 && power.is_finite())
        {
            return bad(format!(
                "the power of its Shepard kernel is {power}, expected a number above 1"
            ));
        }
        let dimension = self.dimension();
        for center in &self.centers {
            if center.point.len() != dimension || center.falloffs.len() != self.controls.len() {
                return bad(format!(
                    "center {} has {} coordinates and {} falloffs, expected {dimension} and {}",
                    center.name,
                    center.point.len(),
                    center.falloffs.len(),
                    self.controls.len()
                ));
            }
            if !center.point.iter().all(|x| x.is_finite())
                || !center
                    .falloffs
                    .iter()
                    .all(|x| *x >= LEAST_FALLOFF && x.is_finite())
            {
                return bad(format!(
                    "center {} has a coordinate that is not finite or a falloff that is not above 0",
                    center.name
                ));
            }
        }
        let rows = [
            (&self.weights, self.centers.len(), "weights"),
            (&self.linear, 1 + dimension, "linear terms"),
        ];
        for (rows, width, what) in rows {
            if let Some(row) = rows.iter().find(|row| row.len() != width) {
                return bad(format!("{} {what} in a row, expected {width}", row.len()));
            }
            if !rows.iter().flatten().all(|w| w.is_finite()) {
                return bad(format!("one of its {what} is not finite"));
            }
        }
        if !self.linear.is_empty() && self.linear.len() != self.weights.len() {
            return bad(format!(
                "{} rows of linear terms, expected {} (one per output)",
                self.linear.len(),
                self.weights.len()
            ));
        }
        Ok(())
    }
}

/// The coordinates of all controls, one after the other.
pub(crate) fn point(
    controls: &[Control],
    skeleton: &Skeleton,
    parent_from_bone: &[DAffine3],
    coefficients: &[f64],
) -> Vec<f64> {
    let mut point = Vec::with_capacity(3 * controls.len());
    for control in controls {
        control.push_coordinates(skeleton, parent_from_bone, coefficients, &mut point);
    }
    point
}

/// `d²` of a point from a center.
pub(crate) fn squared_distance(controls: &[Control], center: &Center, point: &[f64]) -> f64 {
    let mut at = 0;
    let mut sum = 0.0;
    for (control, falloff) in controls.iter().zip(&center.falloffs) {
        let part = at..at + control.dimension();
        at = part.end;
        let squared = control.squared_distance(&center.point[part.clone()], &point[part]);
        sum += squared / (falloff * falloff);
    }
    sum
}

impl Kernel {
    /// `φ_k` of every center at a point.
    pub(crate) fn bumps(self, controls: &[Control], centers: &[Center], point: &[f64]) -> Vec<f64> {
        let squared = |center: &Center| squared_distance(controls, center, point);
        match self {
            Self::Gaussian => centers.iter().map(|c| (-0.5 * squared(c)).exp()).collect(),
            Self::Shepard { power } => {
                let squared: Vec<f64> = centers.iter().map(squared).collect();
                let nearest = squared.iter().copied().fold(f64::INFINITY, f64::min);
                // Relative to the nearest center, which avoids 0 / 0 at a pose.
                let pull = |&d: &f64| match nearest > 0.0 {
                    true => (nearest / d).powf(0.5 * power),
                    false => f64::from(u8::from(d == 0.0)),
                };
                let pulls: Vec<f64> = squared.iter().map(pull).collect();
                let sum: f64 = pulls.iter().sum();
                pulls.iter().map(|p| p / sum).collect()
            }
            Self::Superposition => centers
                .iter()
                .map(|center| {
                    let moved = center.point.iter().zip(point).filter(|(at, _)| **at != 0.0);
                    let along: Vec<f64> = moved.map(|(at, x)| x / at).collect();
                    match along.is_empty() {
                        true => 0.0,
                        false => along.iter().product(),
                    }
                })
                .collect(),
        }
    }
}
