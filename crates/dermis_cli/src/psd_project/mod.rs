//! Sculpting projects: a text file that names a base, controls, and layers of sculpted shapes.
//!
//! `docs/guide/sculpt-poses.md` describes the file field by field.

mod base;
pub(crate) mod controls;
pub(crate) mod edit;
mod falloff;
mod file;
pub(crate) mod pose;
mod read;
pub(crate) mod shape_file;

use std::path::{Path, PathBuf};

use anyhow::Context;
use dermis::fit::{PsdLayer, Sculpt};
use dermis::{Pose, Skin};
use dermis_io::Document;

pub(crate) use controls::NamedControl;
pub(crate) use falloff::{default_falloffs, falloff_text, parse_falloff};
pub(crate) use file::{SUPERPOSITION, VERSION};
pub(crate) use pose::Coordinates;

/// A project with its base, checked; the shapes are read when they are needed.
#[derive(Debug)]
pub(crate) struct Project {
    /// The project file.
    pub(crate) path: PathBuf,
    /// Its text, for edits.
    pub(crate) text: String,
    /// What the base file holds.
    pub(crate) base: Document,
    /// The base's skin, with the project's sliders.
    pub(crate) skin: Skin,
    /// In the order of the file.
    pub(crate) controls: Vec<NamedControl>,
    /// In the order of sculpting.
    pub(crate) layers: Vec<Layer>,
}

/// A layer of a project.
#[derive(Debug)]
pub(crate) struct Layer {
    /// How it is solved; without sculpts.
    pub(crate) settings: PsdLayer,
    /// Numbers of its controls in the project.
    pub(crate) controls: Vec<usize>,
    /// In the order of the file.
    pub(crate) sculpts: Vec<SculptEntry>,
}

/// A sculpt as the project has it, its shape still in its file.
#[derive(Debug)]
pub(crate) struct SculptEntry {
    /// Of the whole project no other has.
    pub(crate) name: String,
    /// Where all controls of the project stand.
    pub(crate) at: Coordinates,
    /// One per control of the layer, in the library's units.
    pub(crate) falloffs: Vec<f64>,
    /// The shape's file as the project names it.
    pub(crate) shape: PathBuf,
}

impl Project {
    /// A file that the project names.
    pub(crate) fn beside(&self, file: &Path) -> PathBuf {
        folder_of(&self.path).join(file)
    }

    /// The pose of some coordinates.
    pub(crate) fn pose(&self, at: &Coordinates) -> Pose {
        pose::to_pose(&self.controls, &self.skin, at)
    }

    /// A pose as it was typed.
    pub(crate) fn parse_pose(&self, text: &str) -> anyhow::Result<Coordinates> {
        pose::parse(text, &self.controls, &self.skin)
            .with_context(|| self.path.display().to_string())
    }

    /// The controls of a layer.
    pub(crate) fn controls_of<'a>(
        &'a self,
        layer: &'a Layer,
    ) -> impl Iterator<Item = &'a NamedControl> {
        layer.controls.iter().map(|&c| &self.controls[c])
    }

    /// One sculpt with its shape.
    pub(crate) fn sculpt(&self, layer: &Layer, entry: &SculptEntry) -> anyhow::Result<Sculpt> {
        let shape = shape_file::read(&self.beside(&entry.shape), self.skin.vertex_count());
        let shape = shape.with_context(|| {
            format!(
                "{}: sculpt {} of layer {}",
                self.path.display(),
                entry.name,
                layer.settings.name
            )
        })?;
        Ok(Sculpt {
            name: entry.name.clone(),
            pose: self.pose(&entry.at),
            falloffs: entry.falloffs.clone(),
            shape,
        })
    }

    /// The first layers with their shapes, for the library.
    pub(crate) fn psd_layers(&self, count: usize) -> anyhow::Result<Vec<PsdLayer>> {
        let with_shapes = |layer: &Layer| {
            let sculpts = layer.sculpts.iter().map(|entry| self.sculpt(layer, entry));
            Ok(PsdLayer {
                sculpts: sculpts.collect::<anyhow::Result<_>>()?,
                ..layer.settings.clone()
            })
        };
        self.layers[..count].iter().map(with_shapes).collect()
    }

    /// The skin with the first layers.
    pub(crate) fn skin_of_layers(&self, count: usize) -> anyhow::Result<Skin> {
        let built = dermis::fit::build_psd(&self.skin, &self.psd_layers(count)?)
            .with_context(|| self.path.display().to_string())?;
        Ok(built.skin)
    }

    /// A millionth of the base's size: vertices this near were not moved.
    pub(crate) fn tolerance(&self) -> f64 {
        1e-6 * self.skin.size().unwrap_or(1.0)
    }
}

/// The folder that a project's names start from; empty for the current one.
pub(crate) fn folder_of(project: &Path) -> &Path {
    project.parent().unwrap_or(Path::new(""))
}
