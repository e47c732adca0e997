//! Coarser forms of a character, which share its bones, clips and materials.

use serde::{Deserialize, Serialize};

use super::{Document, EditError};
use crate::TriMesh;
use crate::mesh::DrawMesh;
use crate::rig::Similarity;
use crate::skin::{Skin, SsdProgram, VertexProgram};

/// A coarser form of a character: fewer triangles, fewer influences, the same bones, coefficients and clips.
///
/// [`Document::levels`] has them from fine to coarse; the document itself is the finest. [`Document::at_level`] makes a
/// whole document of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Each point once, in rest pose.
    pub mesh: TriMesh,
    /// As it is drawn: a part for every part of the document, in the same order, empty where nothing of it is left.
    pub draw: DrawMesh,
    /// What moves the points: one row per point of `mesh`, the bones and coefficients of the document's skin.
    pub program: VertexProgram,
    /// The linear blend stand-in of a program that is not a linear blend.
    pub fallback: Option<SsdProgram>,
    /// How far it is from the full character.
    pub record: LevelRecord,
    /// For each point of the level before (of the document for the first), the point of this level that it becomes; empty
    /// where nobody knows. Run-times move the one to the other, so that no change of level is seen.
    pub becomes: Vec<u32>,
}

/// How far a level is from the full character, in model units; stored with it in files.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LevelRecord {
    /// Root mean square distance of the full surface from the level, over all poses that were thought of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rms_error: Option<f64>,
    /// The same, measured in the poses of the clips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clips_rms_error: Option<f64>,
    /// No point of the full surface is farther from the level than this in any legal pose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guaranteed_error: Option<f64>,
    /// The share of the picture's area, 0 to 1, that the character covers at least where the level before is still
    /// drawn; below it this level is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen_coverage: Option<f64>,
}

impl Document {
    /// How many levels there are, the document itself included.
    pub fn level_count(&self) -> usize {
        1 + self.levels.len()
    }

    /// The document with one of its levels in the place of the full character, and without the others: 0 is the full
    /// character. `None` when there is no such level.
    ///
    /// Frames, spheres and measures of the fit belong to the full character, and are left out of the others.
    pub fn at_level(&self, level: usize) -> Option<Self> {
        if level == 0 {
            return Some(self.alone());
        }
        let found = self.levels.get(level - 1)?;
        let (mesh, draw) = (found.mesh.clone(), found.draw.clone());
        Some(self.with_form(mesh, draw, found.program.clone(), found.fallback.clone()))
    }

    /// The document without its levels.
    pub(super) fn alone(&self) -> Self {
        Self {
            levels: Vec::new(),
            progressive: None,
            ..self.clone()
        }
    }

    /// The document with another form in the place of the full character.
    pub(super) fn with_form(
        &self,
        mesh: TriMesh,
        draw: DrawMesh,
        program: VertexProgram,
        fallback: Option<SsdProgram>,
    ) -> Self {
        let mut document = self.alone();
        document.mesh = mesh;
        document.polygons = None;
        document.draw = draw;
        document.fallback = fallback;
        document.skin = self.skin.as_ref().map(|skin| Skin {
            program,
            ..skin.clone()
        });
        document.frames.clear();
        document.frame_poses.clear();
        if let Some(record) = &mut document.record {
            record.training = None;
            record.held_out = None;
            record.plain_training = None;
            record.plain_held_out = None;
            record.fallback = None;
            record.bounds = None;
        }
        document
    }

    /// The levels after a move of the whole model.
    pub(super) fn moved_levels(&self, by: &Similarity) -> Result<Vec<Level>, EditError> {
        let moved = |(number, level): (usize, &Level)| {
            let whole = self.at_level(number + 1).unwrap_or_default().moved(by)?;
            let length = |error: Option<f64>| error.map(|error| by.scale() * error);
            Ok(Level {
                mesh: whole.mesh,
                draw: whole.draw,
                program: whole
                    .skin
                    .map_or(level.program.clone(), |skin| skin.program),
                fallback: whole.fallback,
                record: LevelRecord {
                    rms_error: length(level.record.rms_error),
                    clips_rms_error: length(level.record.clips_rms_error),
                    guaranteed_error: length(level.record.guaranteed_error),
                    ..level.record
                },
                becomes: level.becomes.clone(),
            })
        };
        self.levels.iter().enumerate().map(moved).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::testing::tube_with_clips;
    use glam::{DQuat, DVec3};

    /// A tube whose only level is half of its triangles, with the points that it had.
    fn with_a_level() -> Document {
        let mut document = tube_with_clips(&["bend"]);
        let triangles = document.mesh.triangles();
        let half = triangles[..triangles.len() / 2].to_vec();
        let mesh = TriMesh::new(document.mesh.positions().to_vec(), half).expect("half a tube");
        document.levels = vec![Level {
            draw: DrawMesh::plain("tube", mesh.vertex_count(), mesh.triangles()),
            becomes: (0..mesh.vertex_count() as u32).collect(),
            mesh,
            program: document.skin.clone().expect("a skin").program,
            fallback: None,
            record: LevelRecord {
                guaranteed_error: Some(0.5),
                ..LevelRecord::default()
            },
        }];
        document
    }

    #[test]
    fn a_level_is_a_document_of_its_own() {
        let document = with_a_level();
        assert_eq!(document.level_count(), 2, "itself and one more");
        let full = document.at_level(0).expect("the full one");
        assert_eq!(full.mesh, document.mesh, "0 is the character itself");
        let level = document.at_level(1).expect("there is one");
        assert_eq!(level.mesh, document.levels[0].mesh, "the level's triangles");
        assert_eq!(level.clips, document.clips, "the clips of the character");
        assert!(level.levels.is_empty(), "a level has no levels");
        assert!(document.at_level(2).is_none(), "there is no third");
    }

    #[test]
    fn levels_move_with_the_model() {
        let document = with_a_level();
        let by = Similarity::new(2.0, DQuat::from_rotation_z(1.0), DVec3::X).expect("a move");
        let moved = document.moved(&by).expect("a linear blend skin moves");
        let level = moved.at_level(1).expect("still there");
        let expected: Vec<DVec3> = (document.levels[0].mesh.positions().iter())
            .map(|v| by.point(*v))
            .collect();
        assert_eq!(level.mesh.positions(), expected, "as the model does");
        assert_eq!(
            moved.levels[0].record.guaranteed_error,
            Some(1.0),
            "twice the size"
        );
    }
}
