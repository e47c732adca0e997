//! Skins without their shapes: morph targets as they are by default, for good.

use dermis::Skin;
use dermis::skin::VertexProgram;

/// Whether a skin has shapes beside what bones do.
pub(super) fn has_shapes(skin: &Skin) -> bool {
    !skin.coefficients.is_empty()
}

/// The skin with every coefficient at its default: what it adds is part of the rest shape, and nothing can change it.
pub(super) fn stripped(skin: &Skin) -> Skin {
    let mut skin = skin.clone();
    let defaults = skin.default_coefficients();
    match &mut skin.program {
        VertexProgram::Ssd(ssd) => {
            for (correction, share) in ssd.corrections.drain(..).zip(&defaults) {
                for delta in &correction.deltas {
                    ssd.rest_positions[delta.index as usize] += *share * delta.value;
                }
            }
        }
        VertexProgram::Linear(linear) => {
            let corrections = std::mem::take(&mut linear.corrections);
            let mut rows: Vec<Vec<_>> = linear.influences.iter().map(<[_]>::to_vec).collect();
            let mut place = Vec::new();
            for (row, items) in rows.iter().enumerate() {
                place.extend((0..items.len()).map(|item| (row, item)));
            }
            for (correction, share) in corrections.iter().zip(&defaults) {
                for delta in &correction.deltas {
                    let (row, item) = place[delta.index as usize];
                    rows[row][item].p += *share * delta.value;
                }
            }
            linear.influences = rows.into_iter().collect();
        }
        // Crowds show no other kind.
        _ => {}
    }
    skin.coefficients.clear();
    skin
}
