//! The choices a caller has when a skin is packed.

use glam::{DVec3, DVec4};

use super::kernel::InstructionSet;
use crate::Rows;

/// How a skin is packed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PackOptions {
    /// Which vertices share a block; default sorted.
    pub layout: Layout,
    /// Bits per stored number; default full.
    pub precision: Precision,
    /// Bits per number of a correction; default full.
    pub correction_precision: CorrectionPrecision,
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
    /// Vertices with the same bones: least work for any order of the mesh.
    #[default]
    Sorted,
    /// Neighbours in the caller's order, with the bones of all sixteen.
    ///
    /// Results in the caller's order are then written in sequence. It pays when the mesh is in an
    /// order in which neighbours share bones, as after any vertex cache optimisation: compare
    /// [`PackedSkin::bones_per_vertex`](super::PackedSkin::bones_per_vertex). In random order nearly
    /// all bones meet in every block. Dual quaternions have to be sorted.
    CallerOrder,
}

/// How many bits a stored number has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// 32-bit floats.
    #[default]
    Full,
    /// 16 bits between the least and greatest value within a block: sixteen numbers take 40 bytes
    /// instead of 64.
    ///
    /// Every number is off by at most 1/131070 of its range in the block; see
    /// [`PackedSkin::largest_step`](super::PackedSkin::largest_step) for what that amounts to in a
    /// given skin. Corrections have their own option, [`CorrectionPrecision`].
    Quantized16,
}

/// How many bits a number of a correction has.
///
/// Numbers are stored as whole numbers of steps; in each block, a correction's step is such that its largest
/// number has the most steps. So 0 stays 0, and each number is off by at most half a step: see
/// [`PackedSkin::largest_correction_step`](super::PackedSkin::largest_correction_step).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CorrectionPrecision {
    /// 32-bit floats.
    #[default]
    Full,
    /// 32,767 steps to either side.
    Bits16,
    /// 127 steps to either side: a shape that moves skin by a centimetre is off by at most 0.04 mm.
    Bits8,
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
    /// The length that the blend gives: for callers whose shaders normalise anyway.
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
/// to write (15% faster there, 40% at 100 MB), and at 0.25 MB it lost. The limit is higher
/// because the next reader finds the results only in memory.
pub const STREAMED_BYTES: usize = 8 << 20;
