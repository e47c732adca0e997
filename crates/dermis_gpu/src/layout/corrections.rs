//! Corrections (morph targets, pose space deformation) in words, block by block.
//!
//! A block's record: a bit for each correction that touches it, then for each of those, by rising number, its step (not for
//! floats) and its planes. Shaders go through the bits that are on in the block and in the frame.

use dermis::run::{BLOCK, BlockCorrection, CorrectionNumbers, PackedSkin};

use super::{SkinInfo, word};
use crate::GpuError;

/// Bits of a number, or 0 when nothing is corrected.
pub(super) fn bits(packed: &PackedSkin) -> u32 {
    let blocks = 0..packed.block_count();
    let some = blocks
        .flat_map(|block| packed.block_corrections(block))
        .next();
    some.map_or(0, |own| match own.numbers {
        CorrectionNumbers::Full(_) => 32,
        CorrectionNumbers::Bits16(..) => 16,
        CorrectionNumbers::Bits8(..) => 8,
    })
}

/// Where the record of each block begins, 0 for those that nothing moves, and the records.
pub(super) fn words(skins: &[&PackedSkin], info: &SkinInfo) -> Result<Vec<u32>, GpuError> {
    let blocks = info.first_bone as usize - 1;
    let mut words = vec![0; blocks];
    let numbered = skins
        .iter()
        .flat_map(|skin| (0..skin.block_count()).map(move |block| (skin, block)));
    for (at, (skin, block)) in numbered.enumerate() {
        let own = skin.block_corrections(block);
        if own.is_empty() {
            continue;
        }
        words[at] = word(words.len())?;
        let first_bit = words.len();
        words.resize(first_bit + info.bit_words as usize, 0);
        for correction in own {
            words[first_bit + correction.correction / 32] |= 1 << (correction.correction % 32);
            let wanted = info.correction_width as usize;
            push(&mut words, &correction, skin.correction_width(), wanted);
        }
    }
    word(words.len())?;
    Ok(words)
}

/// Planes of `width` for each bone become planes of `wanted`: skins that share buffers have one width.
fn push(words: &mut Vec<u32>, own: &BlockCorrection<'_>, width: usize, wanted: usize) {
    // Only the fourth number of a linear skin's bone can be missing; rest positions have three.
    let zeros = |bits: usize| vec![0; (wanted - width) * BLOCK * bits / 32];
    match own.numbers {
        CorrectionNumbers::Full(planes) => {
            for bone in planes.chunks(width) {
                words.extend(bone.iter().flat_map(|p| p.0).map(f32::to_bits));
                words.extend(zeros(32));
            }
        }
        CorrectionNumbers::Bits16(step, planes) => {
            words.push(step.to_bits());
            for bone in planes.chunks(width) {
                let pairs = bone.iter().flat_map(|p| p.as_chunks::<2>().0);
                words.extend(pairs.map(|[a, b]| u32::from(*a as u16) | u32::from(*b as u16) << 16));
                words.extend(zeros(16));
            }
        }
        CorrectionNumbers::Bits8(step, planes) => {
            words.push(step.to_bits());
            for bone in planes.chunks(width) {
                let fours = bone.iter().flat_map(|p| p.as_chunks::<4>().0);
                words.extend(fours.map(|four| u32::from_le_bytes(four.map(|x| x as u8))));
                words.extend(zeros(8));
            }
        }
    }
}
