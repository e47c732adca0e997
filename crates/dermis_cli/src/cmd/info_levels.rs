//! What `dermis info` says about levels of detail.

use dermis::document::LevelRecord;
use dermis_io::Document;
use serde::Serialize;

use crate::talk::plural;

/// A coarser form of the character.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LevelInfo {
    drawn_vertices: usize,
    points: usize,
    triangles: usize,
    mean_influences: f64,
    max_influences: usize,
    /// Root mean square and guaranteed errors, in model units, where the file has them.
    #[serde(flatten)]
    record: LevelRecord,
    /// The length that errors are shares of in text.
    #[serde(skip)]
    size: Option<f64>,
}

impl LevelInfo {
    /// All levels of a file but the full character, from fine to coarse.
    pub(super) fn all_of(document: &Document) -> Vec<Self> {
        let size = (document.skin.as_ref()).and_then(|skin| skin.size().ok());
        (document.levels.iter())
            .map(|level| {
                let points = level.mesh.vertex_count();
                let influences = level.program.bones().count();
                Self {
                    drawn_vertices: level.draw.vertex_count(),
                    points,
                    triangles: level.mesh.triangles().len(),
                    mean_influences: influences as f64 / points.max(1) as f64,
                    max_influences: level.program.max_influences(),
                    record: level.record,
                    size: size.filter(|size| *size > 0.0),
                }
            })
            .collect()
    }

    /// In a line.
    pub(super) fn text(&self) -> String {
        let length = |error: f64| match self.size {
            Some(size) => format!("{:.3}%", 100.0 * error / size),
            None => format!("{error:.5}"),
        };
        let LevelRecord {
            rms_error,
            clips_rms_error,
            guaranteed_error,
            ..
        } = self.record;
        let errors = [
            rms_error.map(|error| format!("{} in all poses", length(error))),
            clips_rms_error.map(|error| format!("{} in the clips", length(error))),
            guaranteed_error.map(|error| format!("at most {} in any legal pose", length(error))),
        ];
        let errors: Vec<String> = errors.into_iter().flatten().collect();
        let errors = match (errors.is_empty(), self.size) {
            (true, _) => "error not recorded".to_owned(),
            (false, Some(_)) => format!("off by {} (of the size)", errors.join(", ")),
            (false, None) => format!("off by {} (model units)", errors.join(", ")),
        };
        format!(
            "{}, {}, {:.2} influences per vertex, at most {}; {errors}",
            plural(self.triangles, "triangle"),
            plural(self.drawn_vertices, "vertex"),
            self.mean_influences,
            self.max_influences
        )
    }
}
