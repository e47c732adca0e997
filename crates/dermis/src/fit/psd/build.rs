//! Layers of sculpts to one skin.

use glam::DVec3;

use super::compress::{Compression, compress};
use super::{PsdLayer, Sculpt, weighted};
use crate::fit::{FitError, bad_option};
use crate::pose_space::{Center, Control, Driver, Kernel, PoseSpaceError, interpolate};
use crate::rig::Pose;
use crate::skin::{Delta, Skin, SkinError};

/// A base with its layers, and what became of each sculpt.
#[derive(Debug, Clone, PartialEq)]
pub struct PsdSkin {
    /// The skin that shows them.
    pub skin: Skin,
    /// One per layer.
    pub layers: Vec<LayerReport>,
}

/// How well a layer could be solved.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerReport {
    /// Name of the layer.
    pub name: String,
    /// Largest condition number of its systems: see
    /// [`Interpolated::condition`](crate::pose_space::Interpolated::condition).
    pub condition: f64,
    /// Poses at which the layer is held at nothing, by name: the rest pose, and sculpts of lower
    /// layers.
    pub held: Vec<String>,
    /// Numbers of the skin's coefficients that the layer drives.
    pub coefficients: std::ops::Range<usize>,
    /// What combining its shapes saves, when that was asked for ([`PsdLayer::compress`]). With weightings the numbers
    /// are those of all of them together.
    pub compression: Option<Compression>,
    /// One per sculpt.
    pub sculpts: Vec<SculptReport>,
}

/// What became of a sculpt once all layers are there.
#[derive(Debug, Clone, PartialEq)]
pub struct SculptReport {
    /// Name of the sculpt.
    pub name: String,
    /// Vertices that it moves.
    pub vertices: usize,
    /// How far the worst of them is from where it was sculpted, in rest space: rounding, unless
    /// shapes were compressed or a later layer cannot be kept away.
    pub missed: f64,
    /// The layer that moves it most of those above, when `missed` is more than rounding.
    pub moved_by: Option<String>,
}

/// A pose nearer than this to a sculpt, in falloffs, cannot be held at nothing.
const TOO_NEAR_TO_HOLD: f64 = 0.02;
/// Poses nearer than this, in radians or units of a slider, are the same.
const SAME_POSE: f64 = 1e-6;
/// A sculpt missed by less than this share of its longest displacement is met.
const MET: f64 = 1e-9;
/// Name of the pose that every layer leaves alone.
const REST: &str = "rest";

/// Puts layers on a base skin, in order.
///
/// Sliders that controls read are coefficients of the base: see [`Skin::with_sliders`]. Each layer is
/// held at nothing in the rest pose and, where its controls can tell them apart, in the poses of all
/// sculpts below it, so that those stay as they were. Where they cannot, the report says which sculpt
/// is missed by how much.
///
/// Cost: O(n³) per layer of n sculpts, and the sizes of the shapes.
///
/// # Errors
/// [`SkinError::PoseSpace`] within [`FitError::Skin`] when two poses of a layer are one (the rest pose
/// is one of them, if held) or a falloff list has the wrong length; [`FitError::BadOption`].
pub fn build_psd(base: &Skin, layers: &[PsdLayer]) -> Result<PsdSkin, FitError> {
    let mut skin = base.clone();
    let first_driven = skin.coefficients.len();
    let mut shapes: Vec<Vec<Delta<DVec3>>> = Vec::new();
    let mut reports = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        layer.check(&skin)?;
        let held = held_poses(&skin, &layers[..=number])?;
        let centers: Vec<Center> = (layer.sculpts.iter())
            .map(|sculpt| center(&skin, layer, sculpt))
            .collect::<Result<_, FitError>>()?;
        let own: Vec<Vec<Delta<DVec3>>> = (layer.sculpts.iter())
            .map(|sculpt| {
                let below = displacements(&skin, &shapes, first_driven, &sculpt.pose)?;
                let missing = |d: &Delta<DVec3>| Delta {
                    value: d.value - below[d.index as usize],
                    ..*d
                };
                Ok(sculpt.shape.iter().map(missing).collect())
            })
            .collect::<Result<_, SkinError>>()?;
        let all: Vec<Center> = centers.iter().chain(&held).cloned().collect();
        let solve = |controls: &[Control], centers: &[Center]| {
            let outputs = layer.sculpts.len();
            interpolate(
                &layer.name,
                controls,
                centers,
                outputs,
                &layer.interpolation,
            )
        };
        let names: Vec<String> = layer.sculpts.iter().map(|s| s.name.clone()).collect();
        let parts = match layer.weightings {
            None => {
                let solved = solve(&layer.controls, &all).map_err(SkinError::from)?;
                vec![weighted::Part {
                    solved,
                    names,
                    shapes: own,
                }]
            }
            Some(count) => weighted::parts(&skin, layer, &all, own, count, solve)?,
        };
        let start = skin.coefficients.len();
        let mut condition: f64 = 1.0;
        let mut compression: Option<Compression> = None;
        for part in parts {
            condition = condition.max(part.solved.condition);
            let part = match layer.compress {
                None => part,
                Some(tolerance) => {
                    let (part, found) = compress(part, tolerance, &layer.name, skin.vertex_count());
                    compression = Some(compression.unwrap_or_default().and(found));
                    part
                }
            };
            shapes.extend(part.shapes.iter().cloned());
            skin.push_driver(part.solved.driver, part.names, part.shapes)?;
        }
        reports.push(LayerReport {
            name: layer.name.clone(),
            condition,
            held: held.iter().map(|center| center.name.clone()).collect(),
            coefficients: start..skin.coefficients.len(),
            compression,
            sculpts: Vec::new(),
        });
    }
    for (number, layer) in layers.iter().enumerate() {
        reports[number].sculpts = (layer.sculpts.iter())
            .map(|sculpt| report(&skin, &shapes, first_driven, &reports, number, sculpt))
            .collect::<Result<_, SkinError>>()?;
    }
    Ok(PsdSkin {
        skin,
        layers: reports,
    })
}

impl PsdLayer {
    fn check(&self, skin: &Skin) -> Result<(), FitError> {
        let space = Driver {
            name: self.name.clone(),
            controls: self.controls.clone(),
            kernel: self.interpolation.kernel,
            centers: Vec::new(),
            weights: Vec::new(),
            linear: Vec::new(),
        };
        space
            .check(skin.skeleton.bone_count(), skin.posed_coefficient_count())
            .map_err(SkinError::from)?;
        if let Some(sculpt) =
            (self.sculpts.iter()).find(|s| s.falloffs.len() != self.controls.len())
        {
            return bad_option(
                "falloffs",
                format!(
                    "sculpt {} of layer {} has {} for {} controls",
                    sculpt.name,
                    self.name,
                    sculpt.falloffs.len(),
                    self.controls.len()
                ),
            );
        }
        if self.weightings == Some(0) {
            return bad_option("weightings", "expected at least 1");
        }
        match self.compress {
            Some(tolerance) if !(tolerance >= 0.0 && tolerance.is_finite()) => {
                bad_option("compress", format!("{tolerance} is not 0 or more"))
            }
            _ => Ok(()),
        }
    }
}

/// The point of a sculpt in its layer's space.
fn center(skin: &Skin, layer: &PsdLayer, sculpt: &Sculpt) -> Result<Center, FitError> {
    Ok(Center {
        name: sculpt.name.clone(),
        point: point(skin, &layer.controls, &sculpt.pose)?,
        falloffs: sculpt.falloffs.clone(),
    })
}

/// The point of a pose, derived bones included.
fn point(skin: &Skin, controls: &[Control], pose: &Pose) -> Result<Vec<f64>, SkinError> {
    let complete = skin.complete_pose(pose)?;
    let mut coefficients = skin.default_coefficients();
    let given = complete
        .coefficients
        .len()
        .min(skin.posed_coefficient_count());
    coefficients[..given].copy_from_slice(&complete.coefficients[..given]);
    let mut point = Vec::new();
    for control in controls {
        control.push_coordinates(
            &skin.skeleton,
            &complete.parent_from_bone,
            &coefficients,
            &mut point,
        );
    }
    Ok(point)
}

/// Where the last layer is held at nothing: the rest pose, and the sculpts of the layers below it.
fn held_poses(skin: &Skin, layers: &[PsdLayer]) -> Result<Vec<Center>, FitError> {
    let Some((layer, below)) = layers.split_last() else {
        return Ok(Vec::new());
    };
    let sculpted: Vec<Center> = (layer.sculpts.iter())
        .map(|sculpt| center(skin, layer, sculpt))
        .collect::<Result<_, FitError>>()?;
    // What is added up is nothing at rest anyway, and has no bumps to hold it with elsewhere.
    if sculpted.is_empty() || layer.interpolation.kernel == Kernel::Superposition {
        return Ok(Vec::new());
    }
    let rest = skin.skeleton.rest_pose();
    let mut poses = Vec::new();
    if layer.hold_rest {
        poses.push((REST, &rest));
    }
    let lower = below.iter().flat_map(|layer| &layer.sculpts);
    poses.extend(lower.map(|sculpt| (sculpt.name.as_str(), &sculpt.pose)));
    let mut held: Vec<Center> = Vec::new();
    for (name, pose) in poses {
        let point = point(skin, &layer.controls, pose)?;
        let distance = |center: &Center| {
            crate::pose_space::squared_distance(&layer.controls, center, &point).sqrt()
        };
        let nearest = sculpted
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .expect("there are sculpts");
        if distance(nearest) < TOO_NEAR_TO_HOLD {
            if std::ptr::eq(pose, &rest) {
                return Err(SkinError::from(rest_is_taken(layer, nearest, &point)).into());
            }
            continue;
        }
        if held
            .iter()
            .all(|center| distance(center) >= TOO_NEAR_TO_HOLD)
        {
            held.push(Center {
                name: name.to_owned(),
                falloffs: nearest.falloffs.clone(),
                point,
            });
        }
    }
    Ok(held)
}

/// Why a layer cannot be held at nothing at rest: a sculpt is in that pose, or its falloff makes
/// nothing of the difference.
fn rest_is_taken(layer: &PsdLayer, sculpt: &Center, rest: &[f64]) -> PoseSpaceError {
    let unscaled = Center {
        falloffs: vec![1.0; layer.controls.len()],
        ..sculpt.clone()
    };
    let apart = crate::pose_space::squared_distance(&layer.controls, &unscaled, rest).sqrt();
    match apart < SAME_POSE {
        true => PoseSpaceError::SamePose {
            first: REST.to_owned(),
            second: sculpt.name.clone(),
            space: layer.name.clone(),
        },
        false => PoseSpaceError::Dependent {
            first: REST.to_owned(),
            second: sculpt.name.clone(),
        },
    }
}

/// What the layers so far do to every vertex in a pose, in rest space.
fn displacements(
    skin: &Skin,
    shapes: &[Vec<Delta<DVec3>>],
    first_driven: usize,
    pose: &Pose,
) -> Result<Vec<DVec3>, SkinError> {
    let coefficients = skin.run_pose_program(pose)?.coefficients;
    let mut sum = vec![DVec3::ZERO; skin.vertex_count()];
    for (shape, &c) in shapes.iter().zip(&coefficients[first_driven..]) {
        for delta in shape {
            sum[delta.index as usize] += c * delta.value;
        }
    }
    Ok(sum)
}

/// Compares a sculpt with what all layers show in its pose.
fn report(
    skin: &Skin,
    shapes: &[Vec<Delta<DVec3>>],
    first_driven: usize,
    layers: &[LayerReport],
    own: usize,
    sculpt: &Sculpt,
) -> Result<SculptReport, SkinError> {
    let shown = displacements(skin, shapes, first_driven, &sculpt.pose)?;
    let missed = |d: &Delta<DVec3>| shown[d.index as usize].distance(d.value);
    let missed = sculpt.shape.iter().map(missed).fold(0.0, f64::max);
    let longest = sculpt.shape.iter().map(|d| d.value.length());
    let longest = longest.fold(0.0, f64::max);
    let mut moved_by = None;
    if missed > MET * longest {
        let coefficients = skin.run_pose_program(&sculpt.pose)?.coefficients;
        let moves = |layer: &LayerReport| {
            let range = layer.coefficients.clone();
            let shapes = &shapes[range.start - first_driven..range.end - first_driven];
            let mut sum = vec![DVec3::ZERO; skin.vertex_count()];
            for (shape, &c) in shapes.iter().zip(&coefficients[range]) {
                shape
                    .iter()
                    .for_each(|d| sum[d.index as usize] += c * d.value);
            }
            let named = sculpt.shape.iter().map(|d| sum[d.index as usize].length());
            named.fold(0.0, f64::max)
        };
        let above = layers[own + 1..].iter();
        let most = above
            .map(|layer| (moves(layer), layer))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        moved_by = most
            .filter(|(distance, _)| *distance > MET * longest)
            .map(|(_, layer)| layer.name.clone());
    }
    Ok(SculptReport {
        name: sculpt.name.clone(),
        vertices: sculpt.shape.len(),
        missed,
        moved_by,
    })
}
