//! The packed numbers of a skin, block by block: for kernels of one's own, on a GPU or elsewhere.

use super::pack::{PackedSkin, Planes};
use super::plane::Plane;

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
pub struct PackedBlock<'a> {
    /// The bones that its vertices share: indices into the palette.
    pub bones: &'a [u16],
    /// The numbers of its vertices, in the order above.
    pub planes: &'a [Plane],
    /// Those that a skin has before the planes of bones, and those of each bone.
    pub plane_counts: [usize; 2],
}

impl<'a> PackedBlock<'a> {
    /// The planes that belong to no bone: rest positions, and rest normals if there are any.
    pub fn fixed_planes(&self) -> &'a [Plane] {
        &self.planes[..self.plane_counts[0]]
    }

    /// Every bone with its planes.
    pub fn bone_planes(&self) -> impl Iterator<Item = (usize, &'a [Plane])> + use<'a> {
        let [fixed, per_bone] = self.plane_counts;
        let planes = self.planes[fixed..].chunks_exact(per_bone);
        self.bones.iter().map(|&bone| usize::from(bone)).zip(planes)
    }
}

impl PackedSkin {
    /// What the kernels read, block by block; `None` when it was packed in 16 bits.
    ///
    /// Block `b` has the vertices of slots `16 b` to `16 b + 15`: see [`PackedSkin::vertex_order`]. Lanes of padding
    /// repeat a vertex, so a kernel need not skip them. [`PackedSkin::load_palette`] makes the matrices. Corrections
    /// (morph targets) are not among these numbers.
    pub fn blocks(&self) -> Option<impl ExactSizeIterator<Item = PackedBlock<'_>>> {
        let Planes::Full(planes) = &self.planes else {
            return None;
        };
        let plane_counts = self.kernel.plane_counts(self.has_normals);
        let [fixed, per_bone] = plane_counts;
        let starts = self.bone_starts.windows(2).enumerate();
        Some(starts.map(move |(block, ends)| {
            let (start, end) = (ends[0] as usize, ends[1] as usize);
            let first = fixed * block + per_bone * start;
            PackedBlock {
                bones: &self.bones[start..end],
                planes: &planes[first..first + fixed + per_bone * (end - start)],
                plane_counts,
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Normals, Output, PackOptions, PaletteEntry, Precision};
    use super::*;
    use crate::mesh::vertex_normals;
    use crate::synth::{Body, BodyOptions, body};

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
}
