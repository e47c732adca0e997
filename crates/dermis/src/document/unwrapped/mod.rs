//! A document with a new set of UVs, laid out for all poses that it shows.

mod drawn;
mod poses;
mod seams;

use glam::{DVec2, DVec3};
use serde::Serialize;

use super::{Document, EditError};
use crate::measure::texture_stretch;
use crate::par;
use crate::param::{Atlas, Surface, UnwrapOptions, unwrap};
use crate::progress::Progress;

pub use poses::{AtlasPoses, PosesFor};
pub use seams::{SeamSource, seams_of};

use drawn::with_atlas;
use poses::AtlasShapes;
use seams::{drawn_uvs, marked};

/// Which UVs a document gets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AtlasOptions {
    /// How to cut, flatten and pack.
    pub unwrap: UnwrapOptions,
    /// Edges that no chart may cross.
    pub seams: SeamSource,
    /// The poses in which stretch should be low.
    pub poses: PosesFor,
    /// Whether to lower the stretch of the UVs that are there, without moving their seams, instead of making new ones.
    pub keep: bool,
    /// The number of the set (`TEXCOORD_n`). By default the first, or one more than there are where textures use those.
    pub set: Option<usize>,
}

/// A document with new UVs.
#[derive(Debug, Clone)]
pub struct Unwrapped {
    /// The document; in every pose its points are where they were.
    pub document: Document,
    /// The atlas, for the triangles of the document's parts one after the other.
    pub atlas: Atlas,
    /// The set that holds it.
    pub set: usize,
    /// Which poses it is made for.
    pub poses: AtlasPoses,
    /// Shapes that it was measured in, the drawn rest shape first.
    pub shapes: Vec<Vec<DVec3>>,
    /// How good it is.
    pub measures: AtlasMeasures,
    /// What users should know, one sentence each.
    pub notes: Vec<String>,
}

/// How good an atlas is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AtlasMeasures {
    /// Charts.
    pub charts: usize,
    /// Length of all seams over the square root of the area.
    pub seam_length: f64,
    /// L2 stretch at rest; 1 is perfect.
    pub stretch_at_rest: f64,
    /// The mean over all poses of the L2 stretch in each.
    pub stretch_over_poses: f64,
    /// The largest of these.
    pub worst_pose_stretch: f64,
    /// The largest stretch of a triangle, over all poses together.
    pub worst_triangle: f64,
    /// The share of the atlas that charts cover.
    pub packing: f64,
    /// The share of the texels that an even covering would need: packing over the square of the stretch over poses.
    pub texture_efficiency: f64,
    /// Texels per model unit.
    pub texels_per_unit: f64,
}

/// Poses in which an atlas is measured.
const MEASURED_POSES: usize = 64;

impl Document {
    /// The document with UVs whose stretch is low in all poses that it shows.
    ///
    /// Vertices are split where charts meet; the points, and so every pose, stay the same bit for bit. Levels of detail
    /// are left out, with a note: those of the result keep its UVs.
    ///
    /// # Errors
    /// [`EditError::Unwrap`], and [`EditError`]s of skins that cannot be evaluated.
    pub fn unwrapped(
        &self,
        options: &AtlasOptions,
        progress: &dyn Progress,
    ) -> Result<Unwrapped, EditError> {
        let triangles = self.draw.point_triangles();
        if triangles.is_empty() {
            return Err(EditError::NothingToUnwrap {
                points: self.mesh.vertex_count(),
            });
        }
        let mut notes = Vec::new();
        let shapes = AtlasShapes::new(self, options.poses, &triangles)?;
        notes.extend(shapes.note.clone());
        let seams = marked(self, &options.seams)?;
        let uvs = match options.keep {
            true => drawn_uvs(&self.draw)?,
            false => Vec::new(),
        };
        let surface = Surface {
            triangles: &triangles,
            rest: &shapes.rest,
            metrics: &shapes.metrics,
            seams: &seams,
            uvs: &uvs,
        };
        let unwrap_options = UnwrapOptions {
            keep_seams: options.unwrap.keep_seams || options.keep,
            ..options.unwrap.clone()
        };
        let atlas = unwrap(&surface, &unwrap_options, progress)?;
        let set = options.set.unwrap_or_else(|| self.free_set());
        let mut document = self.alone();
        document.draw = with_atlas(&self.draw, &atlas, set, &mut notes)?;
        if !self.levels.is_empty() {
            notes.push("levels of detail are left out: make new ones of the result".to_owned());
        }
        if options.unwrap.straight_borders {
            let curved = atlas.charts.iter().filter(|chart| !chart.is_straight);
            let curved = curved.count();
            if curved > 0 {
                let all = atlas.charts.len();
                notes.push(format!(
                    "{curved} of {all} charts have curved borders: straight ones would stretch them too much"
                ));
            }
        }
        let measured = shapes.measured(self, MEASURED_POSES)?;
        let measures = measures(&atlas, &measured, &shapes);
        Ok(Unwrapped {
            document,
            atlas,
            set,
            poses: shapes.source,
            shapes: measured,
            measures,
            notes,
        })
    }

    /// The set that new UVs go to: the first, unless textures use the UVs that are there.
    fn free_set(&self) -> usize {
        let sets = self.draw.parts.iter().map(|part| part.uvs.len());
        match self.materials.textures.is_empty() {
            true => 0,
            false => sets.max().unwrap_or(0),
        }
    }
}

fn measures(atlas: &Atlas, measured: &[Vec<DVec3>], shapes: &AtlasShapes) -> AtlasMeasures {
    let stretches = par::map(measured.len(), |k| stretch_in(atlas, &measured[k]));
    // The rest shape is first; it counts among the poses only where there are no others.
    let over = if stretches.len() > 1 {
        &stretches[1..]
    } else {
        &stretches[..]
    };
    let mean = over.iter().sum::<f64>() / over.len() as f64;
    let area: f64 = shapes.metrics.iter().map(|metric| metric.area()).sum();
    AtlasMeasures {
        charts: atlas.charts.len(),
        seam_length: atlas.seam_length / area.sqrt().max(f64::MIN_POSITIVE),
        stretch_at_rest: stretches[0],
        stretch_over_poses: mean,
        worst_pose_stretch: over.iter().copied().fold(1.0, f64::max),
        worst_triangle: (atlas.charts.iter()).fold(1.0, |worst, chart| chart.worst.max(worst)),
        packing: atlas.packing,
        texture_efficiency: atlas.packing / (mean * mean),
        texels_per_unit: atlas.texels_per_unit,
    }
}

/// The L2 stretch of an atlas on a surface whose points are at these positions.
pub fn stretch_in(atlas: &Atlas, points: &[DVec3]) -> f64 {
    let positions: Vec<DVec3> = atlas.points.iter().map(|&p| points[p as usize]).collect();
    let uvs: &[DVec2] = &atlas.uvs;
    texture_stretch(&positions, uvs, &atlas.triangles)
}
