//! A skin as 32-bit numbers in the order in which the kernels read them.
//!
//! This is the only place where 64-bit numbers become 32-bit ones.

use glam::{DAffine3, DVec3, DVec4};

use super::blocks::{BlockPlan, consecutive_blocks, form_blocks};
use super::kernel::{InstructionSet, PADDING, Places};
use super::plane::{BLOCK, PaletteEntry, Plane, QuantizedPlane};
use super::program::{CorrectionEntry, linear_normals};
use super::{Frame, RunError};
use crate::Rows;
use crate::rig::Palette;
use crate::skin::{
    Correction, DualQuaternion, PosedInputs, Skin, VertexProgram, heaviest, rigid_from_affine,
};

/// How a skin is packed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PackOptions {
    /// Which vertices share a block; default sorted.
    pub layout: Layout,
    /// Bits per stored number; default full.
    pub precision: Precision,
    /// Which normals to make; default none.
    pub normals: Normals,
    /// How long normals are; default unit.
    pub normal_length: NormalLength,
    /// How results are written; default by size.
    pub stores: Stores,
    /// Instructions to use; default the fastest that the machine has.
    pub instruction_set: Option<InstructionSet>,
}

/// Which vertices share a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Those with the same bones: least work, whatever the order of the mesh.
    #[default]
    Sorted,
    /// Neighbours in the caller's order, with the bones of all sixteen.
    ///
    /// Results in the caller's order are then written in sequence. It pays when the mesh is in an
    /// order in which neighbours share bones, as after any vertex cache optimisation: compare
    /// [`PackedSkin::bones_per_vertex`]. In random order it is many times slower. Dual quaternions
    /// have to be sorted.
    CallerOrder,
}

/// How many bits a stored number has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// 32-bit floats.
    #[default]
    Full,
    /// 16 bits between the least and greatest value within a block: half the memory.
    ///
    /// Every number is off by at most 1/131070 of its range in the block; see
    /// [`PackedSkin::largest_step`] for what that amounts to in a given skin. Corrections stay full.
    Quantized16,
}

/// What normals are made from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Normals {
    /// None.
    #[default]
    None,
    /// Unit rest normals, one per vertex, moved by the blend of the matrices' linear parts.
    ///
    /// The common approximation: exact for rigid motions, wrong where bones scale unevenly and
    /// where weights change along the surface.
    Rest(Vec<DVec3>),
    /// Two animation-space tangents per influence, aligned with the influences of a linear
    /// program, projected like positions and crossed. The fourth numbers of a vertex sum to 0.
    Tangents(Rows<[DVec4; 2]>),
}

/// How long normals are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NormalLength {
    /// 1, or 0 where the normal vanishes (shorter than 1e-15).
    #[default]
    Unit,
    /// Whatever the blend gives: for callers whose shaders normalise anyway.
    AsBlended,
}

/// How results are written to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stores {
    /// Past the caches when the results are larger than [`STREAMED_BYTES`].
    #[default]
    BySize,
    /// Through the caches: for results that are read at once by the same core.
    Cached,
    /// Past the caches.
    Streamed,
}

/// Results of this size and more are streamed past the caches.
///
/// Measured on a machine with 2 MB of second-level cache: from 2.4 MB on streaming was never slower
/// to write (15% faster there, 20% at 100 MB), and at 0.25 MB it lost by 5%. The limit is higher
/// because whoever reads the results next finds them only in memory.
pub const STREAMED_BYTES: usize = 8 << 20;

/// Which kernel runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KernelKind {
    Ssd,
    Linear { normal_planes: usize },
    MultiWeight,
    DualQuaternion,
}

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
    /// Where each block's corrections begin; empty when the skin has none.
    pub(super) correction_starts: Vec<u32>,
    pub(super) corrections: Vec<CorrectionEntry>,
    pub(super) correction_planes: Vec<Plane>,
    pub(super) places: Places,
    /// `Ĝ_j⁻¹`; empty when the kernel takes `G_j` itself.
    pub(super) bone_from_rest: Vec<DAffine3>,
    largest_step: f64,
}

impl PackedSkin {
    /// Packs a skin.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when normals do not belong to the skin, and
    /// [`RunError::NotSupported`] for tangents on anything but a linear program.
    pub fn new(skin: &Skin, options: &PackOptions) -> Result<Self, RunError> {
        let source = Source::new(skin, &options.normals)?;
        let bone_sets = source.bone_sets();
        let pivots = source.kernel == KernelKind::DualQuaternion;
        let plans = match options.layout {
            Layout::Sorted => form_blocks(skin.vertex_count(), |v| bone_sets.row(v), pivots),
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
            planes.extend(source.planes(plan));
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
        let takes_rest = !matches!(source.kernel, KernelKind::Linear { .. });
        let rest = skin.skeleton.bones().iter().map(|b| b.bone_from_rest);
        let mut packed = Self {
            vertex_count: skin.vertex_count(),
            bone_count: skin.skeleton.bone_count(),
            coefficient_count: skin.coefficients.len(),
            kernel: source.kernel,
            has_normals: !matches!(options.normals, Normals::None),
            normal_length: options.normal_length,
            stores: options.stores,
            instruction_set: options.instruction_set.unwrap_or_else(InstructionSet::best),
            bone_starts,
            bones,
            planes,
            correction_starts: Vec::new(),
            corrections: Vec::new(),
            correction_planes: Vec::new(),
            places: Places::new(
                plans.iter().map(BlockPlan::places).collect(),
                skin.vertex_count(),
            ),
            bone_from_rest: if takes_rest {
                rest.collect()
            } else {
                Vec::new()
            },
            largest_step,
        };
        packed.pack_corrections(&plans, source.corrections());
        Ok(packed)
    }

    /// Sorts displacements by block and correction, and writes their planes.
    fn pack_corrections(&mut self, plans: &[BlockPlan], mut moves: Vec<Move>) {
        if self.coefficient_count == 0 {
            return;
        }
        let mut slot_of = vec![(0u32, 0u32); self.vertex_count];
        for (block, plan) in plans.iter().enumerate() {
            for (lane, &vertex) in plan.vertices.iter().enumerate() {
                slot_of[vertex as usize] = (block as u32, lane as u32);
            }
        }
        let per_bone = matches!(self.kernel, KernelKind::Linear { .. });
        // Stable, so that displacements of one number add up in the caller's order.
        moves.sort_by_key(|m| (slot_of[m.vertex].0, m.correction));
        self.correction_starts.push(0);
        let mut moves = moves.into_iter().peekable();
        for (block, plan) in plans.iter().enumerate() {
            let width = if per_bone { 4 * plan.bones.len() } else { 3 };
            while let Some(first) = moves.peek().filter(|m| slot_of[m.vertex].0 == block as u32) {
                let correction = first.correction;
                let mut sums = vec![[0.0f64; BLOCK]; width];
                while let Some(m) = moves
                    .next_if(|m| slot_of[m.vertex].0 == block as u32 && m.correction == correction)
                {
                    let lane = slot_of[m.vertex].1 as usize;
                    let slot = m.bone.map_or(0, |b| slot_in(&plan.bones, b));
                    let count = if per_bone { 4 } else { 3 };
                    for c in 0..count {
                        sums[4 * slot + c][lane] += m.value[c];
                    }
                }
                self.corrections.push(CorrectionEntry {
                    coefficient: correction,
                    first_plane: self.correction_planes.len() as u32,
                });
                self.correction_planes
                    .extend(sums.iter().map(|s| Plane(s.map(|x| x as f32))));
            }
            self.correction_starts.push(self.corrections.len() as u32);
        }
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

    /// Writes the matrices of a pose as the kernels take them, one per bone.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when either list has another number of bones.
    pub fn fill_palette(
        &self,
        palette: &Palette,
        out: &mut [PaletteEntry],
    ) -> Result<(), RunError> {
        RunError::check_count(
            "matrices in the pose",
            self.bone_count,
            palette.model_from_bone.len(),
        )?;
        RunError::check_count("palette entries", self.bone_count, out.len())?;
        let model_from_bone = palette.model_from_bone.iter();
        match self.kernel {
            KernelKind::Linear { .. } => {
                for (entry, matrix) in out.iter_mut().zip(model_from_bone) {
                    *entry = PaletteEntry::from_affine(matrix);
                }
            }
            KernelKind::Ssd | KernelKind::MultiWeight => {
                let rest = &self.bone_from_rest;
                for ((entry, matrix), rest) in out.iter_mut().zip(model_from_bone).zip(rest) {
                    *entry = PaletteEntry::from_affine(&(*matrix * *rest));
                }
            }
            KernelKind::DualQuaternion => {
                let rest = &self.bone_from_rest;
                for ((entry, matrix), rest) in out.iter_mut().zip(model_from_bone).zip(rest) {
                    let rigid = rigid_from_affine(&(*matrix * *rest), rest);
                    let motion = DualQuaternion::from_rigid(&rigid);
                    *entry = PaletteEntry::default();
                    entry.columns[0] = motion.real.as_vec4().to_array();
                    entry.columns[1] = motion.dual.as_vec4().to_array();
                }
            }
        }
        Ok(())
    }

    /// A frame of its own memory, for callers that do not keep one.
    ///
    /// # Errors
    /// As [`PackedSkin::fill_palette`].
    pub fn frame(&self, inputs: &PosedInputs) -> Result<Frame, RunError> {
        let mut palette = vec![PaletteEntry::default(); self.bone_count];
        self.fill_palette(&inputs.palette, &mut palette)?;
        Ok(Frame {
            palette,
            coefficients: inputs.coefficients.iter().map(|&c| c as f32).collect(),
        })
    }
}

/// A displacement of a rest position, or of one influence.
struct Move {
    vertex: usize,
    bone: Option<u16>,
    correction: u32,
    value: DVec4,
}

/// What is packed: a skin, its normals, and the kernel for them.
struct Source<'a> {
    skin: &'a Skin,
    normals: &'a Normals,
    kernel: KernelKind,
    has_normals: bool,
}

impl<'a> Source<'a> {
    fn new(skin: &'a Skin, normals: &'a Normals) -> Result<Self, RunError> {
        let normal_planes = match normals {
            Normals::None => linear_normals::NONE,
            Normals::Rest(rest) => {
                RunError::check_count("rest normals", skin.vertex_count(), rest.len())?;
                linear_normals::VECTOR
            }
            Normals::Tangents(rows) => {
                check_tangents(skin, rows)?;
                let weighted = rows.items().iter().flatten().any(|t| t.w != 0.0);
                match weighted {
                    true => linear_normals::WEIGHTED_TANGENTS,
                    false => linear_normals::TANGENTS,
                }
            }
        };
        let kernel = match &skin.program {
            VertexProgram::Ssd(_) => KernelKind::Ssd,
            VertexProgram::Linear(_) => KernelKind::Linear { normal_planes },
            VertexProgram::MultiWeight(_) => KernelKind::MultiWeight,
            VertexProgram::DualQuaternion(_) => KernelKind::DualQuaternion,
        };
        Ok(Self {
            skin,
            normals,
            kernel,
            has_normals: normal_planes > 0,
        })
    }

    /// The distinct bones of every vertex, rising; with the pivot first for dual quaternions.
    fn bone_sets(&self) -> Rows<u16> {
        let mut sets = Rows::default();
        let mut set: Vec<u16> = Vec::new();
        for vertex in 0..self.skin.vertex_count() {
            set.clear();
            let mut pivot = None;
            match &self.skin.program {
                // A weight of 0 says nothing.
                VertexProgram::Ssd(ssd) => {
                    let used = ssd.weights.row(vertex).iter().filter(|w| w.weight != 0.0);
                    set.extend(used.map(|w| w.bone.0));
                }
                VertexProgram::Linear(linear) => {
                    set.extend(linear.influences.row(vertex).iter().map(|i| i.bone.0));
                }
                VertexProgram::MultiWeight(multi) => {
                    set.extend(multi.influences.row(vertex).iter().map(|i| i.bone.0));
                }
                VertexProgram::DualQuaternion(dual) => {
                    let row = dual.weighted.weights.row(vertex);
                    set.extend(row.iter().map(|w| w.bone.0));
                    pivot = heaviest(row).map(|w| w.bone.0);
                }
            }
            set.sort_unstable_by_key(|&bone| (Some(bone) != pivot, bone));
            set.dedup();
            sets.push_row(set.iter().copied());
        }
        sets
    }

    /// The planes of one block, in the order that [`super::program`] draws.
    fn planes(&self, plan: &BlockPlan) -> Vec<Plane> {
        let fixed = if self.has_normals { 6 } else { 3 };
        let (fixed, per_bone) = match self.kernel {
            KernelKind::Ssd | KernelKind::DualQuaternion => (fixed, 1),
            KernelKind::MultiWeight => (fixed, 12),
            KernelKind::Linear { normal_planes } => (0, 4 + normal_planes),
        };
        let mut sums = vec![[0.0f64; BLOCK]; fixed + per_bone * plan.bones.len()];
        for (lane, vertex) in plan.lanes().enumerate() {
            if fixed > 0 {
                let rest = self.rest_position(vertex);
                (0..3).for_each(|c| sums[c][lane] = rest[c]);
                if let Normals::Rest(normals) = self.normals {
                    (0..3).for_each(|c| sums[3 + c][lane] = normals[vertex][c]);
                }
            }
            self.each_number(vertex, |bone, k, number| {
                let slot = slot_in(&plan.bones, bone);
                sums[fixed + per_bone * slot + k][lane] += number;
            });
        }
        sums.iter().map(|s| Plane(s.map(|x| x as f32))).collect()
    }

    fn rest_position(&self, vertex: usize) -> DVec3 {
        match &self.skin.program {
            VertexProgram::Ssd(ssd) => ssd.rest_positions[vertex],
            VertexProgram::DualQuaternion(dual) => dual.weighted.rest_positions[vertex],
            VertexProgram::MultiWeight(multi) => multi.rest_positions[vertex],
            VertexProgram::Linear(_) => DVec3::ZERO,
        }
    }

    /// Calls with every number that a vertex has for a bone: the bone, which plane, the number.
    fn each_number(&self, vertex: usize, mut put: impl FnMut(u16, usize, f64)) {
        match &self.skin.program {
            VertexProgram::Ssd(ssd) => {
                for w in ssd.weights.row(vertex).iter().filter(|w| w.weight != 0.0) {
                    put(w.bone.0, 0, w.weight);
                }
            }
            VertexProgram::DualQuaternion(dual) => {
                for w in dual.weighted.weights.row(vertex) {
                    put(w.bone.0, 0, w.weight);
                }
            }
            VertexProgram::MultiWeight(multi) => {
                for i in multi.influences.row(vertex) {
                    for (row, weights) in i.weights.iter().enumerate() {
                        for (column, &w) in weights.iter().enumerate() {
                            put(i.bone.0, 3 * column + row, w);
                        }
                    }
                }
            }
            VertexProgram::Linear(linear) => {
                let bones = self.skin.skeleton.bones();
                for (k, i) in linear.influences.row(vertex).iter().enumerate() {
                    let mut put_all = |first: usize, numbers: &[f64]| {
                        for (c, &x) in numbers.iter().enumerate() {
                            put(i.bone.0, first + c, x);
                        }
                    };
                    put_all(0, &i.p.to_array());
                    match self.normals {
                        Normals::None => {}
                        Normals::Rest(normals) => {
                            let frame = &bones[i.bone.index()].bone_from_rest;
                            let n = i.p.w * frame.transform_vector3(normals[vertex]);
                            put_all(4, &n.to_array());
                        }
                        Normals::Tangents(rows) => {
                            let width = match self.kernel {
                                KernelKind::Linear { normal_planes } => normal_planes / 2,
                                _ => 0,
                            };
                            let [a, b] = rows.row(vertex)[k];
                            put_all(4, &a.to_array()[..width]);
                            put_all(4 + width, &b.to_array()[..width]);
                        }
                    }
                }
            }
        }
    }

    fn corrections(&self) -> Vec<Move> {
        match &self.skin.program {
            VertexProgram::Ssd(ssd) => rest_moves(&ssd.corrections),
            VertexProgram::DualQuaternion(dual) => rest_moves(&dual.weighted.corrections),
            VertexProgram::MultiWeight(multi) => rest_moves(&multi.corrections),
            VertexProgram::Linear(linear) => {
                let rows = &linear.influences;
                let vertex_of: Vec<u32> = (0..rows.len())
                    .flat_map(|v| std::iter::repeat_n(v as u32, rows.row(v).len()))
                    .collect();
                each_delta(&linear.corrections, |correction, index, value: DVec4| {
                    Move {
                        vertex: vertex_of[index] as usize,
                        bone: Some(rows.items()[index].bone.0),
                        correction,
                        value,
                    }
                })
            }
        }
    }
}

fn rest_moves(corrections: &[Correction<DVec3>]) -> Vec<Move> {
    each_delta(corrections, |correction, vertex, value: DVec3| Move {
        vertex,
        bone: None,
        correction,
        value: value.extend(0.0),
    })
}

fn each_delta<V: Copy>(
    corrections: &[Correction<V>],
    make: impl Fn(u32, usize, V) -> Move,
) -> Vec<Move> {
    let numbered = corrections.iter().enumerate();
    numbered
        .flat_map(|(m, c)| c.deltas.iter().map(move |d| (m as u32, d)))
        .map(|(m, d)| make(m, d.index as usize, d.value))
        .collect()
}

fn slot_in(bones: &[u16], bone: u16) -> usize {
    let slot = bones.iter().position(|&b| b == bone);
    slot.expect("a block has the bones of its vertices")
}

fn check_tangents(skin: &Skin, rows: &Rows<[DVec4; 2]>) -> Result<(), RunError> {
    let VertexProgram::Linear(linear) = &skin.program else {
        return Err(RunError::NotSupported {
            what: "tangents",
            program: skin.program.name(),
            hint: "make the skin linear first, or use rest normals",
        });
    };
    RunError::check_count("rows of tangents", linear.influences.len(), rows.len())?;
    for (vertex, (tangents, row)) in rows.iter().zip(linear.influences.iter()).enumerate() {
        if tangents.len() != row.len() {
            return Err(RunError::TangentCount {
                vertex,
                expected: row.len(),
                found: tangents.len(),
            });
        }
    }
    Ok(())
}
