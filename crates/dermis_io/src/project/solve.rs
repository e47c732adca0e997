//! From a project to a skin: shapes are read, layers solved, and the result put into the base's file.

use dermis::fit::{PsdLayer, PsdSkin, Sculpt, build_psd, shapes_on_sliders};
use dermis::{Skin, TriMesh};
use glam::DVec3;

use super::error::{Placed, ProjectError, ProjectFault};
use super::{Coordinates, Layer, Project, SculptEntry, shape_file};
use crate::{Document, Frame, FrameStorage, SkinRecord};

/// A sculpt that is not shown as it was sculpted.
#[derive(Debug, Clone, PartialEq)]
pub struct MovedSculpt {
    /// Its layer.
    pub layer: String,
    /// Its name.
    pub sculpt: String,
    /// How far it is missed, in rest space.
    pub distance: f64,
    /// The layer that moves it, when one does.
    pub moved_by: Option<String>,
}

/// A project as a file with a skin.
#[derive(Debug, Clone)]
pub struct SculptedDocument {
    /// The base file with the new skin.
    pub document: Document,
    /// How each layer was solved.
    pub built: PsdSkin,
    /// Sculpts that are not met.
    pub moved: Vec<MovedSculpt>,
}

impl Project {
    /// One sculpt with its shape.
    ///
    /// # Errors
    /// When its file cannot be read, or belongs to another mesh.
    pub fn sculpt(&self, layer: &Layer, entry: &SculptEntry) -> Result<Sculpt, ProjectError> {
        let unsaved = self.unsaved.iter().find(|(path, _)| *path == entry.shape);
        let shape = match unsaved {
            Some((_, shape)) => Ok(shape.clone()),
            None => shape_file::read(&self.beside(&entry.shape), self.skin.vertex_count()),
        };
        let placed = |fault: ProjectFault| {
            let placed = Placed::from(fault).in_layer(&layer.settings.name);
            placed.in_sculpt(&entry.name).in_file(&self.path)
        };
        Ok(Sculpt {
            name: entry.name.clone(),
            pose: self.pose(&entry.at),
            falloffs: entry.falloffs.clone(),
            shape: shape.map_err(placed)?,
        })
    }

    /// All layers with their shapes.
    ///
    /// # Errors
    /// As [`sculpt`](Self::sculpt).
    pub fn psd_layers(&self) -> Result<Vec<PsdLayer>, ProjectError> {
        self.first_layers(self.layers.len())
    }

    /// The skin with all shapes, and how each layer was solved.
    ///
    /// # Errors
    /// When a shape cannot be read, or a layer cannot be solved.
    pub fn build(&self) -> Result<PsdSkin, ProjectError> {
        self.build_first(self.layers.len())
    }

    /// The result in a pose: what to sculpt on.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn shown(&self, at: &Coordinates) -> Result<Vec<DVec3>, ProjectError> {
        let shown = self.build()?.skin.evaluate(&self.pose(at));
        shown.map_err(|error| Placed::from(error).in_file(&self.path))
    }

    /// The base file with the skin of all shapes.
    ///
    /// # Errors
    /// As [`build`](Self::build); [`ProjectFault::NoSculpts`] without any.
    pub fn document(&self) -> Result<SculptedDocument, ProjectError> {
        if self.layers.iter().all(|layer| layer.sculpts.is_empty()) {
            return Err(Placed::from(ProjectFault::NoSculpts).in_file(&self.path));
        }
        let built = self.build()?;
        let skin = shapes_on_sliders(&built.skin)
            .map_err(|error| Placed::from(error).in_file(&self.path))?;
        Ok(SculptedDocument {
            document: self.with_skin(skin),
            moved: self.moved_sculpts(&built),
            built,
        })
    }

    /// The base's mesh in a pose, with all that a file of it can say; `frames` is how that file holds frames.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn posed_mesh(
        &self,
        at: &Coordinates,
        frames: FrameStorage,
    ) -> Result<Document, ProjectError> {
        let positions = self.shown(at)?;
        let base = &self.base;
        let mut result = Document {
            path: base.path.clone(),
            mesh: base.mesh.clone(),
            polygons: base.polygons.clone(),
            draw: base.draw.clone(),
            materials: base.materials.clone(),
            ..Document::default()
        };
        match frames {
            // There a frame would be a morph target on the rest mesh: the posed mesh itself is wanted.
            FrameStorage::MorphTargets => {
                result.mesh = TriMesh::new(positions, base.mesh.triangles().to_vec())
                    .map_err(|error| crate::Fault::Mesh(error).in_file(&base.path))?;
                for part in &mut result.draw.parts {
                    part.normals.clear();
                    part.tangents.clear();
                }
            }
            _ => result.frames.push(Frame {
                name: self.pose_text(at),
                positions,
            }),
        }
        Ok(result)
    }

    /// The skin with the first layers.
    pub(super) fn build_first(&self, count: usize) -> Result<PsdSkin, ProjectError> {
        build_psd(&self.skin, &self.first_layers(count)?)
            .map_err(|error| Placed::from(error).in_file(&self.path))
    }

    /// Sculpts that are not met, beyond what compression may miss: that was asked for.
    pub(super) fn moved_sculpts(&self, built: &PsdSkin) -> Vec<MovedSculpt> {
        let mut moved = Vec::new();
        for (report, layer) in built.layers.iter().zip(&self.layers) {
            let accepted = self.tolerance() + layer.settings.compress.unwrap_or(0.0);
            let missed = report.sculpts.iter().filter(|s| s.missed > accepted);
            moved.extend(missed.map(|sculpt| MovedSculpt {
                layer: report.name.clone(),
                sculpt: sculpt.name.clone(),
                distance: sculpt.missed,
                moved_by: sculpt.moved_by.clone(),
            }));
        }
        moved
    }

    fn first_layers(&self, count: usize) -> Result<Vec<PsdLayer>, ProjectError> {
        let with_shapes = |layer: &Layer| {
            let sculpts = layer.sculpts.iter().map(|entry| self.sculpt(layer, entry));
            Ok(PsdLayer {
                sculpts: sculpts.collect::<Result<_, _>>()?,
                ..layer.settings.clone()
            })
        };
        self.layers[..count].iter().map(with_shapes).collect()
    }

    /// The base file with another skin. What was measured of the base is not true of it.
    fn with_skin(&self, skin: Skin) -> Document {
        let record = self.base.record.clone().map(|record| SkinRecord {
            method: "psd".to_owned(),
            training: None,
            held_out: None,
            bounds: None,
            ..record
        });
        Document {
            record,
            skin: Some(skin),
            skeleton: None,
            frames: Vec::new(),
            frame_poses: Vec::new(),
            // They have none of the shapes.
            levels: Vec::new(),
            progressive: None,
            ..self.base.clone()
        }
    }
}

impl std::fmt::Display for MovedSculpt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            layer,
            sculpt,
            distance,
            moved_by,
        } = self;
        match moved_by {
            Some(other) => write!(
                f,
                "sculpt {sculpt} of layer {layer} is moved by {distance:.3e} by layer {other}, whose controls cannot \
                 tell its pose from their own"
            ),
            None => write!(
                f,
                "sculpt {sculpt} of layer {layer} is missed by {distance:.3e}"
            ),
        }
    }
}
