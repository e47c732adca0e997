//! What a skin costs to store and to feed to a GPU.

use serde::{Deserialize, Serialize};

use crate::skin::{DualQuaternionProgram, Skin, VertexProgram};

/// Sizes of a skin as a run-time would hold it: 32-bit numbers, smallest index that fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Mean bytes of one vertex: rest position, influences and corrections.
    pub bytes_per_vertex: f64,
    /// Bytes that change from frame to frame: the palette and the coefficients.
    pub bytes_per_frame: usize,
    /// Matrices in the palette.
    pub palette_size: usize,
    /// Mean bones acting on a vertex.
    pub mean_influences: f64,
    /// Most bones acting on a vertex.
    pub max_influences: usize,
}

impl Cost {
    /// Counts the bytes of a skin.
    pub fn of(skin: &Skin) -> Self {
        const FLOAT: usize = 4;
        let bones = skin.skeleton.bone_count();
        let index = if bones <= 256 { 1 } else { 2 };
        let matrix = match skin.program {
            VertexProgram::DualQuaternion(_) => 8,
            _ => 12,
        };
        let vertex_count = skin.vertex_count().max(1) as f64;
        let (items, bytes) = match &skin.program {
            VertexProgram::Ssd(ssd)
            | VertexProgram::DualQuaternion(DualQuaternionProgram { weighted: ssd }) => {
                let deltas: usize = ssd.corrections.iter().map(|c| c.deltas.len()).sum();
                let items = ssd.weights.items().len();
                let rest = ssd.rest_positions.len() * 3 * FLOAT;
                let moved = deltas * (FLOAT + 3 * FLOAT);
                (items, rest + items * (FLOAT + index) + moved)
            }
            VertexProgram::Linear(linear) => {
                let deltas: usize = linear.corrections.iter().map(|c| c.deltas.len()).sum();
                let items = linear.influences.items().len();
                let moved = deltas * (FLOAT + 4 * FLOAT);
                (items, items * (4 * FLOAT + index) + moved)
            }
            VertexProgram::MultiWeight(multi) => {
                let deltas: usize = multi.corrections.iter().map(|c| c.deltas.len()).sum();
                let items = multi.influences.items().len();
                let rest = multi.rest_positions.len() * 3 * FLOAT;
                let moved = deltas * (FLOAT + 3 * FLOAT);
                (items, rest + items * (12 * FLOAT + index) + moved)
            }
        };
        Self {
            bytes_per_vertex: bytes as f64 / vertex_count,
            bytes_per_frame: bones * matrix * FLOAT + skin.coefficients.len() * FLOAT,
            palette_size: bones,
            mean_influences: items as f64 / vertex_count,
            max_influences: skin.program.max_influences(),
        }
    }
}
