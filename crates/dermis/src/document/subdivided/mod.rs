//! A whole document subdivided: mesh, skin, frames, UVs, colours, normals.

mod drawn;
mod faces;

use crate::measure::Cost;
use crate::mesh::Polygons;
use crate::skin::{Correction, Delta};
use crate::subdiv::{
    AttributeRule, QuadOptions, Scheme, Subdivision, SubdivisionOptions, subdivide,
};
use crate::{Skin, TriMesh};
use glam::DVec3;
use serde::Serialize;

use super::{BoundsRecord, Document, EditError, Frame, SkinRecord};
use drawn::draw;
use faces::Faces;

/// How to subdivide a document.
#[derive(Debug, Clone, PartialEq)]
pub struct SubdivideOptions {
    /// Scheme, levels, corners, limit.
    pub subdivision: SubdivisionOptions,
    /// Edges of the rest mesh whose faces meet at more than this angle, in radians, are creases; no creases by default.
    pub crease_angle_rad: Option<f64>,
    /// Whether edges along which the file splits normals are creases. Default false.
    pub crease_normals: bool,
    /// For how many levels creases stay sharp; by default for ever.
    pub crease_sharpness: f64,
    /// How UVs and colours follow the points.
    pub uv: AttributeRule,
    /// Whether Catmull-Clark joins pairs of triangles to quads, in files without quads.
    pub join_triangles: Option<QuadOptions>,
}

impl Default for SubdivideOptions {
    fn default() -> Self {
        Self {
            subdivision: SubdivisionOptions::default(),
            crease_angle_rad: None,
            crease_normals: false,
            crease_sharpness: f64::INFINITY,
            uv: AttributeRule::default(),
            join_triangles: Some(QuadOptions::default()),
        }
    }
}

/// A document after subdivision.
#[derive(Debug, Clone)]
pub struct Subdivided {
    /// The document, still without the linear blend stand-in that glTF files of its skin need.
    pub document: Document,
    /// The stand-in's morph targets, where the skin's own are not displacements of the rest shape: the subdivided
    /// displacements of the given skin. The two agree in the rest pose.
    pub plain_shapes: Vec<Correction<DVec3>>,
    /// Sizes of the given document and of each level.
    pub levels: Vec<LevelFacts>,
    /// How many edges are creases.
    pub crease_count: usize,
    /// How many faces of the first cage had three, four and more corners.
    pub faces: [usize; 3],
}

/// The size of one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LevelFacts {
    /// 0 for the given document.
    pub level: usize,
    /// Points, each once.
    pub points: usize,
    /// Triangles that are drawn.
    pub triangles: usize,
    /// The cost of the skin, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Document {
    /// The document with every face cut into smaller ones, and its points on a smoother surface.
    ///
    /// In every pose the skin looks like the subdivided posed mesh; clips, bones, drivers,
    /// materials, statistics and limits stay. Spheres stay, too: no weight of a scheme is negative, so that
    /// new points lie between old ones in every pose. Parts that share points with others get the sphere of
    /// the whole, because their points follow those of their neighbours.
    ///
    /// Normals are computed again if the document had some. Tangents and custom attributes are left out, with a
    /// note; so are measures of the fit, and levels of detail.
    ///
    /// # Errors
    /// A [`EditError`].
    pub fn subdivided(&self, options: &SubdivideOptions) -> Result<Subdivided, EditError> {
        let faces = Faces::of(self, options)?;
        let subdivision = subdivide(&faces.cage, &options.subdivision)?;
        let point_count = self.mesh.vertex_count();
        let points_match = |frame: &&Frame| frame.positions.len() != point_count;
        if let Some(frame) = self.frames.iter().find(points_match) {
            return Err(EditError::FrameMismatch {
                name: frame.name.clone(),
                expected: point_count,
                found: frame.positions.len(),
            });
        }
        let positions = subdivision.apply(self.mesh.positions());
        let finest = subdivision.finest();
        let (skin, levels) = self.subdivided_skin(&subdivision)?;
        let (draw, mut notes) = draw(self, &faces, &subdivision, &positions, options.uv)?;
        notes.extend(faces.notes.iter().cloned());
        if !self.levels.is_empty() {
            let count = counted(self.levels.len(), "level of detail", "levels of detail");
            notes.push(format!("{count} left out: make new ones of the result"));
        }
        let plain_shapes = (self.skin.as_ref()).map_or(Vec::new(), |given| {
            let shapes = given.program.rest_corrections(&given.skeleton);
            let plain = shapes.unwrap_or_default();
            plain
                .iter()
                .map(|shape| finer_shape(shape, &subdivision))
                .collect()
        });
        let record = self.record.as_ref().map(|record| SkinRecord {
            training: None,
            held_out: None,
            fallback: None,
            bounds: (record.bounds.as_ref()).map(|bounds| faces.bounds(bounds, &self.draw)),
            ..record.clone()
        });
        let document = Document {
            path: self.path.clone(),
            polygons: (options.subdivision.scheme == Scheme::CatmullClark).then(|| Polygons {
                counts: finest
                    .faces()
                    .iter()
                    .map(|face| face.len() as u32)
                    .collect(),
                corners: finest.faces().items().to_vec(),
            }),
            draw,
            materials: self.materials.clone(),
            skin,
            fallback: None,
            skeleton: self.skeleton.clone(),
            clips: self.clips.clone(),
            // Of another surface.
            levels: Vec::new(),
            progressive: None,
            frames: (self.frames.iter())
                .map(|frame| Frame {
                    name: frame.name.clone(),
                    positions: subdivision.apply(&frame.positions),
                })
                .collect(),
            frame_poses: self.frame_poses.clone(),
            frames_per_second: self.frames_per_second,
            is_motion: self.is_motion,
            record,
            facts: self.facts.clone(),
            notes,
            mesh: TriMesh::new(positions, finest.triangles())?,
        };
        Ok(Subdivided {
            document,
            plain_shapes,
            levels,
            crease_count: faces.crease_count,
            faces: faces.kinds(),
        })
    }

    /// Subdivides the skin level by level and records the cost of each.
    fn subdivided_skin(
        &self,
        subdivision: &Subdivision,
    ) -> Result<(Option<Skin>, Vec<LevelFacts>), EditError> {
        let mut skin = self.skin.clone();
        let mut levels = Vec::new();
        let mut stencils = subdivision.stencils().iter();
        let cages = subdivision.cages();
        for (level, cage) in cages.iter().enumerate() {
            // Points are moved to the limit surface in the last level only.
            let count = match level {
                0 => 0,
                _ if level + 1 == cages.len() => stencils.len(),
                _ => 1,
            };
            for stencil in stencils.by_ref().take(count) {
                skin = skin.map(|skin| stencil.apply_to_skin(&skin)).transpose()?;
            }
            levels.push(LevelFacts {
                level,
                points: cage.point_count(),
                triangles: cage.triangle_count(),
                cost: skin.as_ref().map(Cost::of),
            });
        }
        Ok((skin, levels))
    }
}

/// A displacement of the rest shape, subdivided to one of the finer shape.
fn finer_shape(shape: &Correction<DVec3>, subdivision: &Subdivision) -> Correction<DVec3> {
    let mut moved = vec![DVec3::ZERO; subdivision.cages()[0].point_count()];
    for delta in &shape.deltas {
        moved[delta.index as usize] += delta.value;
    }
    let finer = subdivision.apply(&moved).into_iter().zip(0..);
    let finer = finer.filter(|(value, _)| *value != DVec3::ZERO);
    Correction {
        deltas: finer.map(|(value, index)| Delta { index, value }).collect(),
    }
}

impl Faces {
    /// Bounding spheres of the finer parts.
    fn bounds(&self, bounds: &BoundsRecord, draw: &crate::mesh::DrawMesh) -> BoundsRecord {
        let shared = self.parts_that_share_points(draw);
        let mut bounds = bounds.clone();
        for (part, shared) in bounds.parts.iter_mut().zip(shared) {
            if shared {
                part.legal = bounds.legal;
                part.clips = bounds.clips;
                part.culling = bounds.culling;
            }
        }
        bounds
    }
}

/// A note about a number of things: `1 face is`, `3 faces are`.
fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one} is"),
        _ => format!("{count} {many} are"),
    }
}
