//! What moves the points that were read: the exact model where it can be trusted, else the plain weights.

use dermis::skin::{DualQuaternionProgram, SsdProgram};
use dermis::{Skeleton, VertexProgram};

use crate::gltf::extension::{ProgramKind, read as block};

/// The vertex program of joined points, and its stand-in where it is an exact model; `wanted` is the kind that the file
/// was written with.
pub(super) fn programs_of(
    plain: SsdProgram,
    exact: Option<VertexProgram>,
    skeleton: &Skeleton,
    wanted: Option<ProgramKind>,
    notes: &mut Vec<String>,
) -> (VertexProgram, Option<SsdProgram>) {
    let exact = exact.filter(|exact| block::agrees_at_rest(exact, &plain, skeleton, notes));
    match exact {
        Some(mut exact) => {
            // Morph targets also displace the rest shape of the exact model, unless that has its own deltas.
            if exact.correction_count() == 0 {
                let shapes = plain.corrections.iter();
                let shapes = shapes.map(|shape| shape.deltas.clone()).collect();
                exact.push_corrections(skeleton, shapes);
            }
            (exact, Some(plain))
        }
        None if wanted == Some(ProgramKind::DualQuaternion) => {
            let dual = DualQuaternionProgram { weighted: plain };
            (VertexProgram::DualQuaternion(dual), None)
        }
        None => (VertexProgram::Ssd(plain), None),
    }
}
