//! Any level of a document that has every step of its simplification.

use super::{Document, EditError};
use crate::TriMesh;
use crate::fit::{made_up_poses, plain_fallback};
use crate::lod::{Progressive, ProgressivePart};
use crate::mesh::{DrawMesh, DrawPart};
use crate::progress::Silent;
use crate::rig::Similarity;
use crate::skin::{ShownPoses, Skin, VertexProgram};

/// Influences of what stock players show.
const PLAIN_INFLUENCES: usize = 4;

impl Document {
    /// The document after so many steps of its simplification, or after all where there are fewer, and without levels: 0 is
    /// the full character. `None` when the document has no steps.
    ///
    /// What belongs to the full character alone is left out, as by [`Document::at_level`]. An animation-space level gets a
    /// stand-in for stock players, fitted in the poses that the document shows.
    ///
    /// # Errors
    /// [`EditError::Lod`] for steps that do not fit together, and [`EditError::Fit`] for stand-ins.
    pub fn at_steps(&self, steps: usize) -> Result<Option<Self>, EditError> {
        let (Some(sequence), Some(skin)) = (&self.progressive, &self.skin) else {
            return Ok(None);
        };
        if steps == 0 {
            return Ok(Some(self.alone()));
        }
        sequence.check()?;
        let level = sequence.at(steps)?;
        let mut fallback = None;
        if let VertexProgram::Linear(_) = level.program {
            let shown = ShownPoses::all(&self.shown_poses()?);
            let poses = match shown.is_empty() {
                true => made_up_poses(&skin.skeleton),
                false => shown,
            };
            let own = Skin {
                program: level.program.clone(),
                ..skin.clone()
            };
            let plain = plain_fallback(&own, &poses, PLAIN_INFLUENCES, &Silent)?;
            fallback = Some(plain.program);
        }
        Ok(Some(self.with_form(
            level.mesh,
            level.draw,
            level.program,
            fallback,
        )))
    }

    /// The steps after a move of the whole model.
    pub(super) fn moved_progressive(
        &self,
        by: &Similarity,
    ) -> Result<Option<Progressive>, EditError> {
        let Some(sequence) = &self.progressive else {
            return Ok(None);
        };
        // All nodes as if they were the points of one mesh.
        let nodes = TriMesh::new(sequence.rest_positions.clone(), Vec::new())?;
        let drawn = |part: &ProgressivePart| part.drawn.clone();
        let draw = DrawMesh {
            parts: sequence.parts.iter().map(drawn).collect(),
        };
        let whole = self.with_form(nodes, draw, sequence.program.clone(), None);
        let moved = whole.moved(by)?;
        let part = |(part, drawn): (&ProgressivePart, DrawPart)| ProgressivePart {
            drawn,
            ..part.clone()
        };
        Ok(Some(Progressive {
            rest_positions: moved.mesh.positions().to_vec(),
            program: match moved.skin {
                Some(skin) => skin.program,
                None => sequence.program.clone(),
            },
            errors: sequence.errors.iter().map(|e| by.scale() * e).collect(),
            parts: sequence
                .parts
                .iter()
                .zip(moved.draw.parts)
                .map(part)
                .collect(),
            ..sequence.clone()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::LevelOptions;
    use crate::document::testing::tube_with_clips;
    use crate::lod::{LevelTarget, LodOptions};
    use glam::{DQuat, DVec3};

    fn with_steps() -> Document {
        let document = tube_with_clips(&["bend"]);
        let target = LevelTarget::Triangles(document.mesh.triangles().len() / 4);
        let options = LevelOptions {
            targets: vec![target],
            lod: LodOptions {
                progressive: true,
                ..LodOptions::default()
            },
            ..LevelOptions::default()
        };
        let leveled = document.with_levels(&options, &Silent).expect("a tube");
        leveled.document
    }

    #[test]
    fn any_number_of_steps_is_a_document_of_its_own() {
        let document = with_steps();
        let steps = document.progressive.as_ref().expect("asked").step_count();
        let full = document.at_steps(0).expect("sound").expect("has steps");
        assert_eq!(full.mesh, document.mesh, "none: the character itself");
        assert!(full.progressive.is_none(), "a level has no steps");
        let half = document.at_steps(steps / 2).expect("sound");
        let half = half.expect("has steps");
        assert!(
            half.mesh.triangles().len() < full.mesh.triangles().len(),
            "fewer"
        );
        assert_eq!(half.clips, document.clips, "the clips of the character");
        assert!(half.levels.is_empty(), "a level has no levels");
        let none = full.at_steps(1).expect("nothing to check");
        assert!(none.is_none(), "it has no steps");
    }

    #[test]
    fn steps_move_with_the_model() {
        let document = with_steps();
        let by = Similarity::new(2.0, DQuat::from_rotation_z(1.0), DVec3::X).expect("a move");
        let moved = document.moved(&by).expect("a linear blend skin moves");
        let steps = moved.progressive.as_ref().expect("kept").step_count() / 2;
        let [before, after] = [&document, &moved].map(|document| {
            let level = document.at_steps(steps).expect("sound");
            level.expect("has steps")
        });
        let pairs = before.mesh.positions().iter().zip(after.mesh.positions());
        for (before, after) in pairs {
            let off = by.point(*before).distance(*after);
            assert!(off < 1e-12, "off by {off}");
        }
        let [before, after] = [&document, &moved]
            .map(|document| document.progressive.as_ref().expect("kept").errors[steps]);
        assert_eq!(2.0 * before, after, "twice the size");
    }
}
