//! Linear skins in the space of the rest pose, for normals at little more than the cost of positions.
//!
//! A pair of tangents posed like a position, and crossed, is the normal that follows a skin; two more numbers times three to
//! read for each influence. Tangents that turn with the blended matrix `M = Σ_j w_j N_j` need none of them: their cross product
//! is `cof(M) n` (the inverse transpose, but for its length), and all of `M` is there once positions are posed with
//! `N_j = G_j Ĝ_j⁻¹` in the place of `G_j`. For that `Ĝ_j` moves from the palette into the skin: `q_j = Ĝ_j p_j`.
//!
//! These are the normals of
//! [`tangents_from_rest_normals`](dermis::normal::tangents_from_rest_normals); fitted tangents stay tangents.

use dermis::Skeleton;
use dermis::run::{BLOCK, PackedProgram, PackedSkin, RunError};
use glam::{DAffine3, DVec3};

use super::{GpuSkin, PADDING, SkinKind, check};
use crate::GpuError;

impl GpuSkin {
    /// Lays out a linear skin in the space of the rest pose, with rest normals that turn with the blended matrix.
    ///
    /// The skin is packed in 32 bits, without normals. Positions are those of `run` to rounding.
    ///
    /// # Errors
    /// [`RunError::NotSupported`] for a skin that is not linear, or packed otherwise; [`GpuError::CountMismatch`] when skeleton
    /// or normals are of another skin.
    pub fn linear_in_rest_space(
        packed: &PackedSkin,
        skeleton: &Skeleton,
        rest_normals: &[DVec3],
    ) -> Result<Self, GpuError> {
        let mut skin = Self::new(packed)?;
        let plain = SkinKind {
            program: PackedProgram::Linear,
            rest_space: false,
            sixteen_bits: false,
            correction_bits: skin.kind.correction_bits / 32 * 32,
            normal_planes: 0,
        };
        if skin.kind != plain {
            return Err(GpuError::Run(RunError::NotSupported {
                what: "the space of the rest pose",
                program: "this skin",
                hint: "make it linear, and pack it in 32 bits and without normals",
            }));
        }
        check("bones", packed.bone_count(), skeleton.bone_count())?;
        check("rest normals", packed.vertex_count(), rest_normals.len())?;
        let bones = skeleton.bones().iter();
        skin.bone_from_rest = bones.map(|bone| bone.bone_from_rest).collect();
        let rest: Vec<_> = skin.bone_from_rest.iter().map(DAffine3::inverse).collect();
        skin.kind.rest_space = true;
        skin.kind.normal_planes = 3;
        skin.planes = planes(&skin, rest_normals, &rest);
        if skin.kind.correction_bits > 0 {
            move_corrections(&mut skin, &rest);
        }
        Ok(skin)
    }

    /// The bones of a block.
    fn bones_of(&self, block: usize) -> &[u32] {
        let [begin, end] = [block, block + 1].map(|b| self.blocks[b] as usize);
        &self.blocks[begin..end]
    }
}

/// Three planes of rest normals for each block, and each bone's four numbers moved by its rest frame.
fn planes(skin: &GpuSkin, rest_normals: &[DVec3], rest: &[DAffine3]) -> Vec<u32> {
    let mut moved = Vec::with_capacity(skin.planes.len() + 3 * skin.places.len());
    let mut old = skin.planes.chunks_exact(4 * BLOCK);
    for (block, places) in skin.places.chunks(BLOCK).enumerate() {
        let normals = places.iter().map(|&vertex| match vertex {
            PADDING => DVec3::ZERO,
            vertex => rest_normals[vertex as usize],
        });
        let normals: Vec<_> = normals.map(|n| n.as_vec3()).collect();
        moved.extend(normals.iter().map(|n| n.x.to_bits()));
        moved.extend(normals.iter().map(|n| n.y.to_bits()));
        moved.extend(normals.iter().map(|n| n.z.to_bits()));
        for (&bone, numbers) in skin.bones_of(block).iter().zip(&mut old) {
            let mut numbers = numbers.to_vec();
            move_lanes(&mut numbers, &rest[bone as usize]);
            moved.extend(numbers);
        }
    }
    moved
}

/// `q = Ĝ p` in each lane of the planes of one bone: x, y, z, and the fourth number unless it is zero everywhere.
fn move_lanes(planes: &mut [u32], rest: &DAffine3) {
    for lane in 0..BLOCK {
        let number = |c: usize| {
            planes
                .get(BLOCK * c + lane)
                .map_or(0.0, |&w| f32::from_bits(w))
        };
        let [x, y, z, w] = [0, 1, 2, 3].map(|c| f64::from(number(c)));
        let q = rest.matrix3 * DVec3::new(x, y, z) + w * rest.translation;
        for c in 0..3 {
            planes[BLOCK * c + lane] = (q[c] as f32).to_bits();
        }
    }
}

fn move_corrections(skin: &mut GpuSkin, rest: &[DAffine3]) {
    let width = skin.info.correction_width as usize;
    for block in 0..skin.places.len() / BLOCK {
        let bones = skin.bones_of(block).to_vec();
        let record = skin.corrections[block] as usize;
        if record == 0 {
            continue;
        }
        let numbers = record + skin.info.bit_words as usize;
        let bits = &skin.corrections[record..numbers];
        let touched: u32 = bits.iter().map(|word| word.count_ones()).sum();
        let each = width * BLOCK;
        let own = &mut skin.corrections[numbers..][..touched as usize * bones.len() * each];
        for (bone, planes) in bones.iter().cycle().zip(own.chunks_exact_mut(each)) {
            move_lanes(planes, &rest[*bone as usize]);
        }
    }
}
