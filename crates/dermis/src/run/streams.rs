//! The packed numbers of a skin, block by block: for kernels of one's own, on a GPU or elsewhere.

use super::NormalLength;
#[cfg(doc)]
use super::PaletteEntry;
use super::corrections::{CorrectionPlanes, FrameCoefficients};
use super::pack::{PackedSkin, Planes};
use super::plane::{BLOCK, Plane, QuantizedPlane};
use super::source::KernelKind;

/// Which vertex program a packed skin runs: what a kernel of one's own does with its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PackedProgram {
    /// One weight per bone, for rest positions.
    LinearBlend,
    /// Four numbers per bone.
    Linear,
    /// Twelve weights per bone, for rest positions.
    MultiWeight,
    /// One weight per bone, for rest positions; a [`PaletteEntry`] holds a dual quaternion.
    DualQuaternion,
}

/// Sixteen vertices that are evaluated together, and the numbers that a kernel reads for them.
///
/// `planes` begin with what does not depend on a bone, and go on with the planes of each of `bones` in turn:
///
/// ```text
/// linear blend, dual quaternion   x y z [nx ny nz] | w | w | ...
/// multi-weight                    x y z [nx ny nz] | w00 w10 w20 w01 .. w23 | ...   (by columns)
/// linear                          | x y z w [normal or two tangents] | x y z w ... | ...
/// ```
///
/// What is in brackets is there when the skin was packed with normals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackedBlock<'a, P = Plane> {
    /// The bones that its vertices share: indices into the palette.
    pub bones: &'a [u16],
    /// The numbers of its vertices, in the order above.
    pub planes: &'a [P],
    /// Those that a skin has before the planes of bones, and those of each bone.
    pub plane_counts: [usize; 2],
}

impl<'a, P> PackedBlock<'a, P> {
    /// The planes that belong to no bone: rest positions, and rest normals if there are any.
    pub fn fixed_planes(&self) -> &'a [P] {
        &self.planes[..self.plane_counts[0]]
    }

    /// Every bone with its planes.
    pub fn bone_planes(&self) -> impl Iterator<Item = (usize, &'a [P])> + use<'a, P> {
        let [fixed, per_bone] = self.plane_counts;
        let planes = self.planes[fixed..].chunks_exact(per_bone);
        self.bones.iter().map(|&bone| usize::from(bone)).zip(planes)
    }
}

/// What one correction (a morph target) adds to the vertices of one block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockCorrection<'a> {
    /// Its number, which is that of its coefficient.
    pub correction: usize,
    /// What is added to each number of the block, once multiplied by the coefficient.
    ///
    /// To rest positions: three planes (x, y, z). Of a linear program, [`PackedSkin::correction_width`] planes for each
    /// bone of the block, in the block's order.
    pub numbers: CorrectionNumbers<'a>,
}

/// The numbers of a correction: a plane each, of floats or of whole numbers of steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CorrectionNumbers<'a> {
    /// 32-bit floats.
    Full(&'a [Plane]),
    /// Steps of the given size, in 16 bits.
    Bits16(f32, &'a [[i16; BLOCK]]),
    /// Steps of the given size, in 8 bits.
    Bits8(f32, &'a [[i8; BLOCK]]),
}

impl PackedSkin {
    /// The vertex program that its numbers are for.
    pub fn program(&self) -> PackedProgram {
        match self.kernel {
            KernelKind::Ssd => PackedProgram::LinearBlend,
            KernelKind::Linear { .. } => PackedProgram::Linear,
            KernelKind::MultiWeight => PackedProgram::MultiWeight,
            KernelKind::DualQuaternion => PackedProgram::DualQuaternion,
        }
    }

    /// How many planes a block has before those of its bones, and how many each bone has: see [`PackedBlock`].
    pub fn plane_counts(&self) -> [usize; 2] {
        self.kernel.plane_counts(self.has_normals)
    }

    /// How long its normals are made.
    pub fn normal_length(&self) -> NormalLength {
        self.normal_length
    }

    /// How many coefficients a frame has.
    pub fn coefficient_count(&self) -> usize {
        self.coefficient_count
    }

    /// What the kernels read, block by block; `None` when it was packed in 16 bits.
    ///
    /// Block `b` has the vertices of slots `16 b` to `16 b + 15`: see [`PackedSkin::vertex_order`]. Lanes of padding
    /// repeat a vertex, so a kernel need not skip them. [`PackedSkin::load_palette`] makes the matrices. Corrections
    /// (morph targets) are not among these numbers: see [`PackedSkin::block_corrections`].
    pub fn blocks(&self) -> Option<impl ExactSizeIterator<Item = PackedBlock<'_>>> {
        match &self.planes {
            Planes::Full(planes) => Some(self.blocks_of(planes)),
            Planes::Quantized(_) => None,
        }
    }

    /// As [`PackedSkin::blocks`], of a skin that was packed in 16 bits; `None` of any other.
    pub fn quantized_blocks(
        &self,
    ) -> Option<impl ExactSizeIterator<Item = PackedBlock<'_, QuantizedPlane>>> {
        match &self.planes {
            Planes::Full(_) => None,
            Planes::Quantized(planes) => Some(self.blocks_of(planes)),
        }
    }

    fn blocks_of<'a, P>(
        &'a self,
        planes: &'a [P],
    ) -> impl ExactSizeIterator<Item = PackedBlock<'a, P>> {
        let plane_counts = self.plane_counts();
        let [fixed, per_bone] = plane_counts;
        let starts = self.bone_starts.windows(2).enumerate();
        starts.map(move |(block, ends)| {
            let (start, end) = (ends[0] as usize, ends[1] as usize);
            let first = fixed * block + per_bone * start;
            PackedBlock {
                bones: &self.bones[start..end],
                planes: &planes[first..first + fixed + per_bone * (end - start)],
                plane_counts,
            }
        })
    }

    /// Planes of a correction in a block: 3 where rest positions are corrected; for each bone of a linear program 3, or
    /// 4 when a correction changes a fourth number.
    pub fn correction_width(&self) -> usize {
        3 + usize::from(self.corrections.weighted)
    }

    /// The corrections that move vertices of a block, by rising number.
    ///
    /// # Panics
    /// When there is no such block.
    pub fn block_corrections(&self, block: usize) -> Vec<BlockCorrection<'_>> {
        assert!(block < self.block_count(), "there is no block {block}");
        let off = FrameCoefficients::new(&[]);
        let own = self.corrections.of_block(block, &off);
        let bones = self.bone_starts[block]..self.bone_starts[block + 1];
        let count = self.correction_width()
            * match self.kernel {
                KernelKind::Linear { .. } => bones.len(),
                _ => 1,
            };
        let numbers = own.touched.iter().enumerate().flat_map(|(word, &bits)| {
            let set = (0..64).filter(move |bit| bits >> bit & 1 == 1);
            set.map(move |bit| 64 * word + bit)
        });
        let planes = &self.corrections.planes;
        let numbered = numbers.enumerate().map(|(rank, correction)| {
            let first = own.first_plane + rank * count;
            let range = first..first + count;
            BlockCorrection {
                correction,
                numbers: match planes {
                    CorrectionPlanes::Full(planes) => CorrectionNumbers::Full(&planes[range]),
                    CorrectionPlanes::Bits16(planes) => {
                        CorrectionNumbers::Bits16(own.steps[rank], &planes[range])
                    }
                    CorrectionPlanes::Bits8(planes) => {
                        CorrectionNumbers::Bits8(own.steps[rank], &planes[range])
                    }
                },
            }
        });
        numbered.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        CorrectionPrecision, Normals, Output, PackOptions, PaletteEntry, Precision,
    };
    use super::*;
    use crate::mesh::vertex_normals;
    use crate::skin::{Coefficient, Correction, Delta, VertexProgram};
    use crate::synth::{Body, BodyOptions, body};
    use glam::DVec3;

    fn small_body() -> Body {
        body(&BodyOptions {
            vertex_count: 700,
            influences: 3,
            bone_count: 12,
        })
    }

    /// Positions by the plainest loop over the blocks, for linear blend and linear programs.
    fn by_hand(packed: &PackedSkin, palette: &[PaletteEntry]) -> Vec<[f32; 3]> {
        let mut lanes = Vec::new();
        for block in packed.blocks().expect("32 bits") {
            for lane in 0..16 {
                let mut sum = [0.0; 3];
                for (bone, planes) in block.bone_planes() {
                    let p: Vec<f32> = match block.fixed_planes() {
                        [] => (0..4).map(|c| planes[c].0[lane]).collect(),
                        fixed => {
                            let w = planes[0].0[lane];
                            let rest = (0..3).map(|c| w * fixed[c].0[lane]);
                            rest.chain([w]).collect()
                        }
                    };
                    for (c, p) in p.iter().enumerate() {
                        (0..3).for_each(|row| sum[row] += palette[bone].columns[c][row] * p);
                    }
                }
                lanes.push(sum);
            }
        }
        packed
            .slots()
            .iter()
            .map(|&slot| lanes[slot as usize])
            .collect()
    }

    #[test]
    fn blocks_have_everything_that_the_kernels_compute_with() {
        let body = small_body();
        let normals = vertex_normals(body.mesh.positions(), body.mesh.triangles());
        let linear = body
            .skin
            .to_linear()
            .expect("a linear blend skin is linear");
        for (skin, normals) in [
            (&body.skin, Normals::None),
            (&body.skin, Normals::Rest(normals.clone())),
            (&linear, Normals::None),
            (&linear, Normals::Rest(normals)),
        ] {
            let options = PackOptions {
                normals,
                ..PackOptions::default()
            };
            let packed = PackedSkin::new(skin, &options).expect("it packs");
            let inputs = skin.run_pose_program(&body.pose).expect("its own pose");
            let frame = packed.frame(&inputs).expect("as many bones");
            let mut expected = vec![[0.0; 3]; packed.vertex_count()];
            let out = Output::Vertices {
                positions: &mut expected,
                normals: None,
            };
            packed.evaluate(&frame.inputs(), out).expect("it fits");
            for (a, b) in by_hand(&packed, &frame.palette).iter().zip(&expected) {
                for (a, b) in a.iter().zip(b) {
                    assert!((a - b).abs() < 1e-5, "{a} against {b}");
                }
            }
        }
    }

    #[test]
    fn blocks_are_the_whole_skin_and_16_bits_have_none() {
        let skin = small_body().skin;
        let packed = PackedSkin::new(&skin, &PackOptions::default()).expect("it packs");
        let blocks = packed.blocks().expect("32 bits");
        assert_eq!(blocks.len(), packed.block_count(), "one after the other");
        let bones: usize = blocks.map(|block| block.bone_planes().count()).sum();
        let per_vertex = (bones * 16) as f64 / packed.vertex_count() as f64;
        assert_eq!(
            per_vertex,
            packed.bones_per_vertex(),
            "every bone of every block"
        );
        let options = PackOptions {
            precision: Precision::Quantized16,
            ..PackOptions::default()
        };
        let packed = PackedSkin::new(&skin, &options).expect("it packs");
        assert!(
            packed.blocks().is_none(),
            "its numbers are no 32-bit planes"
        );
    }

    #[test]
    fn corrections_are_listed_in_the_blocks_that_they_move_at_any_precision() {
        let mut skin = small_body().skin;
        let VertexProgram::Ssd(ssd) = &mut skin.program else {
            panic!("the body is a linear blend skin");
        };
        let delta = |index, x| Delta {
            index,
            value: DVec3::new(x, 0.0, -x),
        };
        let correction = |deltas: &[Delta<DVec3>]| Correction {
            deltas: deltas.to_vec(),
        };
        ssd.corrections = vec![correction(&[]); 70];
        ssd.corrections[3] = correction(&[delta(5, 1.0), delta(300, 0.5)]);
        ssd.corrections[67] = correction(&[delta(5, -2.0)]);
        let slider = |m| Coefficient {
            name: format!("slider {m}"),
            default: 0.0,
        };
        skin.coefficients = (0..70).map(slider).collect();
        for correction_precision in [
            CorrectionPrecision::Full,
            CorrectionPrecision::Bits16,
            CorrectionPrecision::Bits8,
        ] {
            let options = PackOptions {
                correction_precision,
                ..PackOptions::default()
            };
            let packed = PackedSkin::new(&skin, &options).expect("it packs");
            assert_eq!(packed.correction_width(), 3, "rest positions");
            let mut found = Vec::new();
            for (block, vertices) in packed
                .vertex_order()
                .collect::<Vec<_>>()
                .chunks(BLOCK)
                .enumerate()
            {
                for own in packed.block_corrections(block) {
                    for (lane, vertex) in vertices.iter().enumerate() {
                        let [x, y, z] = [0, 1, 2].map(|c| match own.numbers {
                            CorrectionNumbers::Full(planes) => planes[c].0[lane],
                            CorrectionNumbers::Bits16(step, p) => step * f32::from(p[c][lane]),
                            CorrectionNumbers::Bits8(step, p) => step * f32::from(p[c][lane]),
                        });
                        if x != 0.0 {
                            assert_eq!([y, z], [0.0, -x], "as they were put in");
                            found.push((vertex.expect("no padding"), own.correction, x));
                        }
                    }
                }
            }
            found.sort_by_key(|&(vertex, correction, _)| (vertex, correction));
            let expected = [(5, 3, 1.0f32), (5, 67, -2.0), (300, 3, 0.5)];
            assert_eq!(found.len(), 3, "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert_eq!((found.0, found.1), (expected.0, expected.1), "where it was");
                let off = (found.2 - expected.2).abs();
                assert!(off < 0.01, "{found:?} is not {expected:?}");
            }
        }
    }
}
