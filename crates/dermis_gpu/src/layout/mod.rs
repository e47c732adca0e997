//! The bytes of a packed skin as shaders read them.
//!
//! There is one layout, that of [`dermis::run::PackedSkin`]: blocks of sixteen vertices that share bones, and every number of
//! a block as a plane of sixteen neighbours. Here it becomes five buffers of 32-bit words and a small uniform; a frame adds a
//! palette and coefficients. The crate's README describes them buffer by buffer.
//!
//! Skins of one character, such as its levels of detail, can be put into the same buffers ([`GpuSkin::joined`]): a shader
//! then takes any vertex of any of them by one number, and needs to know nothing about levels.
//!
//! ```
//! use dermis::run::{PackOptions, PackedSkin};
//! use dermis_gpu::layout::GpuSkin;
//! # let options = dermis::synth::TubeOptions { ring_count: 9, segment_count: 8, bone_count: 3, example_count: 1 };
//! # let skin = dermis::synth::tube(&options).truth;
//!
//! let packed = PackedSkin::new(&skin, &PackOptions::default())?;
//! let layout = GpuSkin::new(&packed)?;
//! assert_eq!(layout.info.vertices as usize, packed.vertex_count());
//! // Three rows of four floats for each bone, every frame.
//! let frame = packed.frame(&skin.run_pose_program(&skin.skeleton.default_pose())?)?;
//! assert_eq!(layout.palette(&frame.palette).len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod corrections;
mod faces;
mod frame;
mod rest;
mod texels;
mod twin;

use dermis::run::{BLOCK, NormalLength, PackedProgram, PackedSkin, RunError};
use glam::DAffine3;

use crate::GpuError;
pub use faces::{FaceTable, face_table};
pub use texels::{TexelTable, texel_table};
pub use twin::PosedVertex;

/// In a slot of [`GpuSkin::places`] that holds no vertex.
pub const PADDING: u32 = u32::MAX;

/// What shaders know about a skin: a uniform of 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct SkinInfo {
    /// Slots: sixteen for each block.
    pub slots: u32,
    /// Vertices, which is what there are of positions and normals for each instance.
    pub vertices: u32,
    /// Bones in the palette of one instance.
    pub bones: u32,
    /// Where the bones begin in `blocks`.
    pub first_bone: u32,
    /// Words of bits before the coefficients of an instance, and before the numbers of a block's corrections.
    pub bit_words: u32,
    /// Words of the coefficients of one instance, with those bits.
    pub coefficient_words: u32,
    /// Numbers of a correction: 3, or 4 for each bone of a linear skin where the fourth changes.
    pub correction_width: u32,
    /// 1 when normals are to have length 1.
    pub unit_normals: u32,
}

/// What a pipeline is made for: shaders take these as constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SkinKind {
    /// The vertex program, and so the shader.
    pub program: PackedProgram,
    /// True for linear skins in the space of the rest pose: see [`GpuSkin::linear_in_rest_space`].
    pub rest_space: bool,
    /// True when planes hold 16-bit numbers.
    pub sixteen_bits: bool,
    /// Bits of a number of a correction: 32, 16 or 8; 0 when nothing is corrected.
    pub correction_bits: u32,
    /// Planes for normals: 0 none; 3 rest normals; for linear skins also 6 or 8, two tangents without and with fourth numbers.
    pub normal_planes: u32,
}

impl SkinKind {
    /// Planes of a block before those of its bones, and of each bone.
    pub fn plane_counts(&self) -> [u32; 2] {
        let normal = self.normal_planes;
        match self.program {
            PackedProgram::Linear if self.rest_space => [normal, 4],
            PackedProgram::Linear => [0, 4 + normal],
            PackedProgram::MultiWeight => [3 + normal, 12],
            PackedProgram::LinearBlend | PackedProgram::DualQuaternion => [3 + normal, 1],
        }
    }

    /// Words of a plane: sixteen floats, or sixteen numbers of 16 bits with their least and their step.
    pub fn plane_words(&self) -> usize {
        match self.sixteen_bits {
            true => BLOCK / 2 + 2,
            false => BLOCK,
        }
    }

    fn of(packed: &PackedSkin) -> Self {
        let normal_planes = match (packed.program(), packed.plane_counts()) {
            (PackedProgram::Linear, [_, per_bone]) => per_bone - 4,
            (_, [fixed, _]) => fixed - 3,
        };
        Self {
            program: packed.program(),
            rest_space: false,
            sixteen_bits: packed.quantized_blocks().is_some(),
            correction_bits: corrections::bits(packed),
            normal_planes: normal_planes as u32,
        }
    }

    /// The kind that both are, if there is one: nothing corrected goes with anything.
    fn with(self, other: Self) -> Option<Self> {
        let correction_bits = self.correction_bits.max(other.correction_bits);
        let common = |kind: Self| Self {
            correction_bits: match kind.correction_bits {
                0 => correction_bits,
                bits => bits,
            },
            ..kind
        };
        (common(self) == common(other)).then_some(common(self))
    }

    /// In words, for errors: "linear, 8 planes for normals, 16 bits".
    fn name(&self) -> String {
        let program = match self.program {
            PackedProgram::LinearBlend => "linear blend",
            PackedProgram::Linear => "linear",
            PackedProgram::MultiWeight => "multi-weight",
            PackedProgram::DualQuaternion => "dual quaternion",
        };
        let bits = if self.sixteen_bits { 16 } else { 32 };
        format!(
            "{program} with {} planes for normals in {bits} bits, corrections in {} bits",
            self.normal_planes, self.correction_bits
        )
    }
}

/// Where one of several skins is in common buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its first vertex, in `slots`, positions and normals.
    pub first_vertex: u32,
    /// How many vertices it has.
    pub vertices: u32,
    /// Its first slot, in `places`; a multiple of sixteen.
    pub first_slot: u32,
    /// How many slots it has.
    pub slots: u32,
}

/// One skin, or several with the same bones, as the buffers that shaders read.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuSkin {
    /// The uniform.
    pub info: SkinInfo,
    /// What pipelines are made for.
    pub kind: SkinKind,
    /// For each block the index in this list of its first bone, one more for the end of the last block, and then the bones.
    pub blocks: Vec<u32>,
    /// The numbers of all blocks: planes that belong to no bone, then those of each bone, as in
    /// [`PackedBlock`](dermis::run::PackedBlock).
    pub planes: Vec<u32>,
    /// Corrections (morph targets) by block; empty when nothing is corrected.
    pub corrections: Vec<u32>,
    /// The vertex in each slot, or [`PADDING`].
    pub places: Vec<u32>,
    /// The slot of each vertex.
    pub slots: Vec<u32>,
    /// The skins that are in it; one, unless it was joined.
    pub parts: Vec<Part>,
    coefficient_count: usize,
    /// `Ĝ_j⁻¹`, where the palette is to have them; empty otherwise.
    bone_from_rest: Vec<DAffine3>,
}

impl GpuSkin {
    /// Lays out one skin.
    ///
    /// # Errors
    /// [`RunError::TooLarge`] for more words than 32 bits can count.
    pub fn new(packed: &PackedSkin) -> Result<Self, GpuError> {
        Self::joined(&[packed])
    }

    /// Lays out several skins with the same bones and coefficients one after the other.
    ///
    /// # Errors
    /// [`GpuError::MixedPrograms`] when they are of different kinds, [`GpuError::CountMismatch`] when there is none or they
    /// differ in bones or coefficients, and those of [`GpuSkin::new`].
    pub fn joined(skins: &[&PackedSkin]) -> Result<Self, GpuError> {
        let Some(first) = skins.first() else {
            return Err(GpuError::CountMismatch {
                what: "skins, or more",
                expected: 1,
                found: 0,
            });
        };
        let kind = common_kind(skins)?;
        for skin in skins {
            check("bones", first.bone_count(), skin.bone_count())?;
            let expected = first.coefficient_count();
            check("coefficients", expected, skin.coefficient_count())?;
        }
        let block_count: usize = skins.iter().map(|s| s.block_count()).sum();
        let coefficient_count = first.coefficient_count();
        let bit_words = match kind.correction_bits {
            0 => 0,
            _ => coefficient_count.div_ceil(32),
        };
        let widths = skins.iter().map(|s| s.correction_width());
        let correction_width = widths.fold(3, usize::max);
        let mut all = Self {
            info: SkinInfo {
                slots: word(BLOCK * block_count)?,
                vertices: word(skins.iter().map(|s| s.vertex_count()).sum())?,
                bones: word(first.bone_count())?,
                first_bone: word(block_count + 1)?,
                bit_words: word(bit_words)?,
                coefficient_words: word(bit_words + coefficient_count)?,
                correction_width: word(correction_width)?,
                unit_normals: u32::from(first.normal_length() == NormalLength::Unit),
            },
            kind,
            blocks: vec![0; block_count + 1],
            planes: Vec::new(),
            corrections: Vec::new(),
            places: Vec::new(),
            slots: Vec::new(),
            parts: Vec::new(),
            coefficient_count,
            bone_from_rest: Vec::new(),
        };
        for skin in skins {
            all.push(skin)?;
        }
        all.blocks[block_count] = word(all.blocks.len())?;
        word(all.planes.len())?;
        if kind.correction_bits > 0 {
            all.corrections = corrections::words(skins, &all.info)?;
        }
        Ok(all)
    }

    /// How many coefficients an instance has.
    pub fn coefficient_count(&self) -> usize {
        self.coefficient_count
    }

    fn push(&mut self, packed: &PackedSkin) -> Result<(), GpuError> {
        let first_block = self.places.len() / BLOCK;
        let part = Part {
            first_vertex: word(self.slots.len())?,
            vertices: word(packed.vertex_count())?,
            first_slot: word(self.places.len())?,
            slots: word(BLOCK * packed.block_count())?,
        };
        if let Some(blocks) = packed.blocks() {
            for (b, block) in blocks.enumerate() {
                self.blocks[first_block + b] = word(self.blocks.len())?;
                self.blocks
                    .extend(block.bones.iter().map(|&b| u32::from(b)));
                let numbers = block.planes.iter().flat_map(|plane| plane.0);
                self.planes.extend(numbers.map(f32::to_bits));
            }
        }
        if let Some(blocks) = packed.quantized_blocks() {
            for (b, block) in blocks.enumerate() {
                self.blocks[first_block + b] = word(self.blocks.len())?;
                self.blocks
                    .extend(block.bones.iter().map(|&b| u32::from(b)));
                for plane in block.planes {
                    let pairs = plane.values.as_chunks::<2>().0.iter();
                    self.planes
                        .extend(pairs.map(|[a, b]| u32::from(*a) | u32::from(*b) << 16));
                    self.planes
                        .extend([plane.base.to_bits(), plane.step.to_bits()]);
                }
            }
        }
        let moved = |vertex: u32| part.first_vertex + vertex;
        let order = packed.vertex_order();
        self.places
            .extend(order.map(|vertex| vertex.map_or(PADDING, moved)));
        let slots = packed.slots().into_iter();
        self.slots.extend(slots.map(|slot| part.first_slot + slot));
        self.parts.push(part);
        Ok(())
    }
}

fn common_kind(skins: &[&PackedSkin]) -> Result<SkinKind, GpuError> {
    let mut kind = SkinKind::of(skins[0]);
    for (level, skin) in skins.iter().enumerate() {
        let own = SkinKind::of(skin);
        kind = kind.with(own).ok_or_else(|| GpuError::MixedPrograms {
            first: kind.name(),
            level,
            found: own.name(),
        })?;
    }
    Ok(kind)
}

fn check(what: &'static str, expected: usize, found: usize) -> Result<(), GpuError> {
    match expected == found {
        true => Ok(()),
        false => Err(GpuError::CountMismatch {
            what,
            expected,
            found,
        }),
    }
}

fn word(count: usize) -> Result<u32, GpuError> {
    u32::try_from(count).map_err(|_| GpuError::Run(RunError::TooLarge))
}
