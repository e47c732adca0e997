//! Pose space deformation \[Lewis00\]: a shape is sculpted in a pose, and it is there in that pose.
//!
//! A base skin of any kind moves the mesh; on top of it come **layers**. Each has a pose space of its
//! own (an elbow; a shoulder and a load) and sculpts at points of it, and interpolates between them.
//! A sculpt is kept as a displacement in rest space, undone by the base's own motion of each vertex,
//! so it turns with the limb. A layer sees the result of those below: its sculpts say what is missing
//! there.
//!
//! The result is a [`Skin`] with [drivers](crate::skin::PoseProgram::drivers): nothing after the fit knows that it was
//! sculpted.

mod base;
mod build;
mod check;
mod compress;
mod corrections;
mod examples;
mod flattened;
mod joints;
mod sculpt;
mod sliders;
mod weighted;

pub use build::{LayerReport, PsdSkin, SculptReport, build_psd};
pub use check::{PsdFinding, check_psd};
pub use compress::Compression;
pub use examples::{PsdOptions, fit_psd};
pub use sculpt::{Flattened, SculptedShape, sculpted_shape};
pub use sliders::shapes_on_sliders;

use glam::DVec3;

use crate::pose_space::{Control, InterpolateOptions};
use crate::rig::Pose;
use crate::skin::Delta;

/// Sculpts over one pose space.
#[derive(Debug, Clone, PartialEq)]
pub struct PsdLayer {
    /// Name shown to people.
    pub name: String,
    /// What spans the pose space.
    pub controls: Vec<Control>,
    /// How shapes are interpolated; default by Gaussians alone.
    pub interpolation: InterpolateOptions,
    /// Keep the layer from showing in the rest pose, however wide its falloffs; default yes.
    /// Superposition does so by itself.
    pub hold_rest: bool,
    /// Weigh the controls for each vertex by how much it follows them (\[Kurihara04\]), with so many
    /// different weightings; default none: every vertex sees the whole space alike.
    pub weightings: Option<usize>,
    /// Keep the shapes as sums of fewer ones (EigenSkin, \[Kry02\]) that miss no sculpt by more than
    /// this anywhere, in model units, where that makes them smaller; default all shapes as they are.
    pub compress: Option<f64>,
    /// What was sculpted, in that order.
    pub sculpts: Vec<Sculpt>,
}

/// A shape and the pose that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Sculpt {
    /// Name shown to people, and of the morph target.
    pub name: String,
    /// All bones, and all coefficients that a pose gives.
    pub pose: Pose,
    /// How far the shape reaches: one falloff per control of the layer, in radians for joints.
    pub falloffs: Vec<f64>,
    /// How far from the base each vertex should be, in rest space and in all: what lower layers do
    /// there is taken off when the layer is solved. Vertices that are not named stay with the layers
    /// below. By rising index.
    pub shape: Vec<Delta<DVec3>>,
}

impl PsdLayer {
    /// A layer without sculpts and with defaults.
    pub fn new(name: impl Into<String>, controls: Vec<Control>) -> Self {
        Self {
            name: name.into(),
            controls,
            interpolation: InterpolateOptions::default(),
            hold_rest: true,
            weightings: None,
            compress: None,
            sculpts: Vec::new(),
        }
    }
}
