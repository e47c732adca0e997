//! Checks of the steps of a simplification before a byte of them is written.

use dermis::lod::{Progressive, ProgressivePart};
use dermis::mesh::DrawPart;

use crate::{Document, Fault};

/// The steps of a document with a skin, if they are those of its full character, whose parts are given.
pub(super) fn checked_progressive<'a>(
    document: &'a Document,
    parts: &[DrawPart],
) -> Result<Option<&'a Progressive>, Fault> {
    let (Some(sequence), Some(_)) = (&document.progressive, &document.skin) else {
        return Ok(None);
    };
    let fault = |expected: &str, found: String| {
        Err(Fault::malformed(
            "steps of the simplification",
            expected,
            found,
        ))
    };
    if let Err(error) = sequence.check() {
        return fault("numbers that fit together", error.to_string());
    }
    let is_same = |(own, part): (&ProgressivePart, &DrawPart)| {
        own.drawn.points == part.points && own.drawn.triangles == part.triangles
    };
    let are_same = sequence.point_count == document.mesh.vertex_count()
        && sequence.parts.len() == parts.len()
        && sequence.parts.iter().zip(parts).all(is_same);
    match are_same {
        true => Ok(Some(sequence)),
        false => fault(
            "those of the mesh that is written",
            "another number of points, vertices or triangles".to_owned(),
        ),
    }
}
