//! Sculpting projects: a text file that names a base, controls, and layers of sculpted shapes.
//!
//! `docs/guide/sculpt-poses.md` describes the file field by field. Reading is strict and says the line; edits go
//! through the text, so comments and order stay. An edit is in memory until [`Project::save`] writes the text and
//! the new shapes, all or none; [`undo_edit`] takes the last one back.
//!
//! ```
//! use dermis_io::project::{NewControl, Project, SculptOptions};
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! # let skin = dermis::synth::tube(&Default::default()).truth;
//! # let mesh = dermis::synth::tube(&Default::default()).examples.rest().clone();
//! # let draw = dermis::mesh::DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles());
//! # let tube = dermis_io::Document { mesh, draw, skin: Some(skin), ..Default::default() };
//! # dermis_io::write(&folder.join("tube.glb"), &tube, &Default::default())?;
//! let bend = NewControl::parse("bend=bone_1:hinge:y")?;
//! let mut project = Project::new(&folder.join("tube.psd.toml"), &folder.join("tube.glb"), &[bend])?;
//!
//! // What is shown in a pose, sculpted: here one vertex is pulled out.
//! let plan = project.plan_sculpt("bend=90", &SculptOptions::default())?;
//! let mut sculpted = plan.shown().to_vec();
//! sculpted[17].y += 0.1;
//! let added = project.add_shape(&plan, &sculpted, project.tolerance())?;
//! assert_eq!(added.found.shape.len(), 1);
//! project.save()?;
//!
//! // From now on it appears in its pose.
//! let skin = Project::read(&folder.join("tube.psd.toml"))?.build()?.skin;
//! assert!(skin.evaluate(&project.pose(plan.at()))?[17].distance(sculpted[17]) < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod add;
mod base;
mod check;
mod controls;
mod edit;
mod error;
mod falloff;
mod history;
mod import;
mod new;
mod pose;
mod read;
mod remove;
mod shape_file;
mod solve;
mod sweep;
mod text;

use std::path::{Path, PathBuf};

use dermis::fit::PsdLayer;
use dermis::skin::Delta;
use dermis::{Pose, Skin};
use glam::DVec3;

use crate::{Document, Transaction};

pub use add::{AddedShape, SculptOptions, SculptPlan};
pub use check::ProjectWarning;
pub use controls::NamedControl;
pub use error::{Place, ProjectError, ProjectFault};
pub use history::{UndoneEdit, undo_edit};
pub use import::{ImportedShapes, SkippedShape};
pub use new::{NewAxis, NewControl, NewReading};
pub use pose::Coordinates;
pub use remove::RemovedShapes;
pub use solve::{MovedSculpt, SculptedDocument};
pub use sweep::{Sweep, SweepCurve};

/// A project with its base, checked. Shapes are read when they are needed.
#[derive(Debug, Clone)]
pub struct Project {
    path: PathBuf,
    text: String,
    base: Document,
    skin: Skin,
    controls: Vec<NamedControl>,
    layers: Vec<Layer>,
    /// Shapes that are not in their files yet, which the project names as these paths.
    unsaved: Vec<(PathBuf, Vec<Delta<DVec3>>)>,
    /// The text that is in the file; none when there is no file yet.
    saved: Option<String>,
    /// What was done since, a sentence each.
    edits: Vec<String>,
}

/// A layer of a project.
#[derive(Debug, Clone)]
pub struct Layer {
    /// How it is solved; without sculpts.
    pub settings: PsdLayer,
    /// Numbers of its controls in the project.
    pub controls: Vec<usize>,
    /// In the order of the file.
    pub sculpts: Vec<SculptEntry>,
}

/// A sculpt as a project has it, its shape still in its file.
#[derive(Debug, Clone)]
pub struct SculptEntry {
    /// No other sculpt of the project has it.
    pub name: String,
    /// Where all controls of the project stand.
    pub at: Coordinates,
    /// One per control of the layer: radians for joints.
    pub falloffs: Vec<f64>,
    /// The shape's file as the project names it.
    pub shape: PathBuf,
}

impl Project {
    /// The project file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text of the project, with all edits.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the base file holds.
    pub fn base(&self) -> &Document {
        &self.base
    }

    /// The base's skin, with the project's sliders and without its shapes.
    pub fn skin(&self) -> &Skin {
        &self.skin
    }

    /// In the order of the file.
    pub fn controls(&self) -> &[NamedControl] {
        &self.controls
    }

    /// In the order of sculpting.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The controls of a layer.
    pub fn controls_of<'a>(&'a self, layer: &'a Layer) -> Vec<&'a NamedControl> {
        layer.controls.iter().map(|&c| &self.controls[c]).collect()
    }

    /// Where all controls stand at rest.
    pub fn at_rest(&self) -> Coordinates {
        pose::at_rest(&self.controls)
    }

    /// The pose of some coordinates.
    pub fn pose(&self, at: &Coordinates) -> Pose {
        pose::to_pose(&self.controls, &self.skin, at)
    }

    /// Reads a pose that was typed, such as `elbow=90,load=1`: what differs from rest.
    ///
    /// Joints take degrees (`90`, `90deg`, `1.2rad`, `30/0/45` for several axes), sliders their number; and
    /// `forearm.rz=90` turns a bone, if a control reads that turn.
    ///
    /// # Errors
    /// [`ProjectError::Content`] for what no control reads.
    pub fn parse_pose(&self, text: &str) -> Result<Coordinates, ProjectError> {
        pose::parse(text, &self.controls, &self.skin).map_err(|placed| placed.in_file(&self.path))
    }

    /// A pose as people type it; `rest` when nothing has moved.
    pub fn pose_text(&self, at: &Coordinates) -> String {
        pose::to_text(&self.controls, at)
    }

    /// Falloffs of a layer as people type them: `elbow=40,load=0.5`.
    pub fn falloff_text(&self, layer: &Layer, falloffs: &[f64]) -> String {
        falloff::falloff_text(falloffs, &self.controls_of(layer))
    }

    /// A millionth of the base's size: vertices this near were not moved.
    pub fn tolerance(&self) -> f64 {
        1e-6 * self.skin.size().unwrap_or(1.0)
    }

    /// Fails for meshes with another number of vertices than the base; `path` is theirs.
    ///
    /// # Errors
    /// [`ProjectFault::OtherMesh`].
    pub fn check_vertex_count(&self, found: usize, path: &Path) -> Result<(), ProjectError> {
        let expected = self.skin.vertex_count();
        if found == expected {
            return Ok(());
        }
        let fault = ProjectFault::OtherMesh {
            found,
            expected,
            base: self.base.path.clone(),
        };
        Err(error::Placed::from(fault).in_file(path))
    }

    /// Writes the new shapes, the project, and what [`undo_edit`] needs, all or none.
    ///
    /// # Errors
    /// [`ProjectError::Io`]; nothing is changed then.
    pub fn save(&mut self) -> Result<(), ProjectError> {
        let mut files = Transaction::new();
        let vertex_count = self.skin.vertex_count();
        // The shapes first: a project never names a file that is not there.
        for (path, shape) in &self.unsaved {
            let text = shape_file::to_text(shape, vertex_count);
            files.add(&self.beside(path), text.as_bytes())?;
        }
        if let Some(before) = &self.saved {
            history::add(&mut files, self, before)?;
        }
        files.add(&self.path, self.text.as_bytes())?;
        files.commit()?;
        self.unsaved.clear();
        self.edits.clear();
        self.saved = Some(self.text.clone());
        Ok(())
    }

    /// A file that the project names.
    fn beside(&self, file: &Path) -> PathBuf {
        folder_of(&self.path).join(file)
    }
}

/// The folder that a project's names start from; empty for the current one.
fn folder_of(project: &Path) -> &Path {
    project.parent().unwrap_or(Path::new(""))
}

/// A folder beside a project: `arm.psd.toml` has `arm.psd` for its shapes and `arm.psd.history` for its edits.
fn folder_beside(project: &Path, ending: &str) -> PathBuf {
    let stem = project.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.strip_suffix(".psd").unwrap_or(&stem);
    PathBuf::from(format!("{stem}.psd{ending}"))
}

/// All sculpts, with their layers.
fn all_sculpts(layers: &[Layer]) -> impl Iterator<Item = (&Layer, &SculptEntry)> {
    let of_layer = |layer| move |sculpt| (layer, sculpt);
    (layers.iter()).flat_map(move |layer: &Layer| layer.sculpts.iter().map(of_layer(layer)))
}
