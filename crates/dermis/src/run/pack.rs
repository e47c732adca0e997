//! A skin as 32-bit numbers in the order in which the kernels read them.
//!
//! 64-bit numbers become 32-bit ones here, and in `palette` for the matrices of a pose.

use glam::DAffine3;

use super::blocks::{BlockPlan, consecutive_blocks, form_blocks};
use super::corrections::PackedCorrections;
use super::kernel::{InstructionSet, PADDING, Places};
use super::plane::{BLOCK, Plane, QuantizedPlane};
use super::source::{KernelKind, Source};
use super::{Layout, NormalLength, Normals, PackOptions, Precision, RunError, Stores};
use crate::skin::Skin;

/// Numbers of all blocks, one block after the other.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Planes {
    Full(Vec<Plane>),
    Quantized(Vec<QuantizedPlane>),
}

/// A skin ready to be evaluated many times.
///
/// See the [module](super) for an example.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedSkin {
    pub(super) vertex_count: usize,
    pub(super) bone_count: usize,
    pub(super) coefficient_count: usize,
    pub(super) kernel: KernelKind,
    pub(super) has_normals: bool,
    pub(super) normal_length: NormalLength,
    pub(super) stores: Stores,
    pub(super) instruction_set: InstructionSet,
    /// Where each block's bones begin in `bones`; one more than there are blocks.
    pub(super) bone_starts: Vec<u32>,
    pub(super) bones: Vec<u16>,
    pub(super) planes: Planes,
    pub(super) corrections: PackedCorrections,
    pub(super) places: Places,
    /// `Ĝ_j⁻¹`; empty when the kernel takes `G_j` itself.
    pub(super) bone_from_rest: Vec<DAffine3>,
    /// Bones that move a vertex, by rising number.
    pub(super) moving_bones: Vec<u16>,
    largest_step: f64,
}

impl PackedSkin {
    /// Packs a skin.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] and [`RunError::TangentCount`] when normals do not belong to the
    /// skin; [`RunError::NotSupported`] for tangents on anything but a linear program, and for dual
    /// quaternions in the caller's order; [`RunError::NotFinite`] for numbers too large for 32 bits;
    /// [`RunError::MissingInstructions`].
    pub fn new(skin: &Skin, options: &PackOptions) -> Result<Self, RunError> {
        let instruction_set = options.instruction_set.unwrap_or_else(InstructionSet::best);
        if !InstructionSet::available().contains(&instruction_set) {
            return Err(RunError::MissingInstructions {
                set: instruction_set,
            });
        }
        let source = Source::new(skin, &options.normals)?;
        let bone_sets = source.bone_sets();
        let moves = source.corrections();
        let mut moved = vec![false; skin.vertex_count()];
        moves.iter().for_each(|m| moved[m.vertex] = true);
        let pivots = source.kernel == KernelKind::DualQuaternion;
        let plans = match options.layout {
            Layout::Sorted => form_blocks(&moved, |v| bone_sets.row(v), pivots),
            Layout::CallerOrder if pivots => {
                return Err(RunError::NotSupported {
                    what: "the caller's order",
                    program: skin.program.name(),
                    hint: "pack it sorted; Output::Vertices still has the caller's order",
                });
            }
            Layout::CallerOrder => consecutive_blocks(skin.vertex_count(), |v| bone_sets.row(v)),
        };

        let mut bone_starts = vec![0];
        let mut bones = Vec::new();
        let mut planes = Vec::new();
        for plan in &plans {
            bones.extend_from_slice(&plan.bones);
            bone_starts.push(u32::try_from(bones.len()).map_err(|_| RunError::TooLarge)?);
            planes.extend(source.planes(plan)?);
        }
        let mut largest_step = 0.0;
        let planes = match options.precision {
            Precision::Full => Planes::Full(planes),
            Precision::Quantized16 => {
                let planes: Vec<_> = planes.iter().map(QuantizedPlane::from_plane).collect();
                let steps = planes.iter().map(|p| f64::from(p.step));
                largest_step = steps.fold(0.0, f64::max);
                Planes::Quantized(planes)
            }
        };
        let corrections = PackedCorrections::new(
            &plans,
            &moves,
            matches!(source.kernel, KernelKind::Linear { .. }),
            options.correction_precision,
        )?;
        let mut moving_bones = bones.clone();
        moving_bones.sort_unstable();
        moving_bones.dedup();
        let takes_rest = !matches!(source.kernel, KernelKind::Linear { .. });
        let rest = skin.skeleton.bones().iter().map(|b| b.bone_from_rest);
        Ok(Self {
            vertex_count: skin.vertex_count(),
            bone_count: skin.skeleton.bone_count(),
            coefficient_count: skin.coefficients.len(),
            kernel: source.kernel,
            has_normals: !matches!(options.normals, Normals::None),
            normal_length: options.normal_length,
            stores: options.stores,
            instruction_set,
            bone_starts,
            bones,
            planes,
            corrections,
            places: Places::new(
                plans.iter().map(BlockPlan::places).collect(),
                skin.vertex_count(),
            ),
            bone_from_rest: if takes_rest {
                rest.collect()
            } else {
                Vec::new()
            },
            moving_bones,
            largest_step,
        })
    }

    /// How many vertices the skin moves.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// How many matrices a frame has.
    pub fn bone_count(&self) -> usize {
        self.bone_count
    }

    /// How many blocks of sixteen vertices there are, padding included.
    pub fn block_count(&self) -> usize {
        self.bone_starts.len() - 1
    }

    /// True when the skin was packed with normals.
    pub fn has_normals(&self) -> bool {
        self.has_normals
    }

    /// The instructions it is evaluated with.
    pub fn instruction_set(&self) -> InstructionSet {
        self.instruction_set
    }

    /// Slots per vertex: 1 when every block is full.
    pub fn padding_ratio(&self) -> f64 {
        (self.block_count() * BLOCK) as f64 / self.vertex_count.max(1) as f64
    }

    /// Bones evaluated per vertex, padding and merged blocks included.
    pub fn bones_per_vertex(&self) -> f64 {
        (self.bones.len() * BLOCK) as f64 / self.vertex_count.max(1) as f64
    }

    /// The greatest distance between neighbouring 16-bit values; 0 at full precision.
    pub fn largest_step(&self) -> f64 {
        self.largest_step
    }

    /// The greatest distance between neighbouring 16-bit values of a correction; 0 at full
    /// precision.
    ///
    /// A displacement is off by at most half of this in each coordinate, times its coefficient (for
    /// linear programs: each number of each influence is). A vertex that does not move stays exactly in
    /// place.
    pub fn largest_correction_step(&self) -> f64 {
        self.corrections.largest_step()
    }

    /// The vertex in each slot of the blocks, sixteen to a block; `None` is padding.
    ///
    /// A caller that keeps its vertices in this order (and renumbers its triangles once) can read
    /// [`Output::Blocks`](super::Output) directly.
    pub fn vertex_order(&self) -> impl Iterator<Item = Option<u32>> + '_ {
        let slots = self.places.vertices().as_flattened();
        slots.iter().map(|&v| (v != PADDING).then_some(v))
    }

    /// The slot of every vertex: the inverse of [`PackedSkin::vertex_order`].
    pub fn slots(&self) -> Vec<u32> {
        let mut slots = vec![0; self.vertex_count];
        for (slot, vertex) in self.vertex_order().enumerate() {
            if let Some(vertex) = vertex {
                slots[vertex as usize] = slot as u32;
            }
        }
        slots
    }
}
