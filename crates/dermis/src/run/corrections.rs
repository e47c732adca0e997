//! Displacements in the order in which the kernels read them: block by block, and in each block
//! correction by correction, so that one that leaves a block alone costs nothing there.

use super::blocks::BlockPlan;
use super::kernel::Simd;
use super::plane::{BLOCK, Plane};
use super::source::{Move, slot_in};
use super::{Precision, RunError};

/// The displacements of all blocks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PackedCorrections {
    /// Where each block begins; one more than there are blocks, or empty when nothing moves.
    starts: Vec<Start>,
    entries: Vec<CorrectionEntry>,
    planes: CorrectionPlanes,
    /// True when influences have four numbers: the weight component of some displacement is not 0.
    weighted: bool,
    largest_step: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Start {
    entry: u32,
    plane: u32,
}

/// A correction that touches a block.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CorrectionEntry {
    /// Which coefficient scales it.
    coefficient: u32,
    /// What the numbers are counted in; 1 at full precision.
    step: f32,
}

#[derive(Debug, Clone, PartialEq)]
enum CorrectionPlanes {
    Full(Vec<Plane>),
    /// Signed, so that a vertex that does not move stays where it is, to the bit.
    Quantized(Vec<[i16; BLOCK]>),
}

/// The largest 16-bit number of steps.
const MOST_STEPS: f64 = 32767.0;

impl PackedCorrections {
    /// Sorts displacements by block and correction, and writes their planes: three per correction, or
    /// three to four per bone (`per_bone`).
    ///
    /// # Errors
    /// [`RunError::NotFinite`] for numbers too large for 32 bits, and [`RunError::TooLarge`].
    pub(super) fn new(
        vertex_count: usize,
        plans: &[BlockPlan],
        mut moves: Vec<Move>,
        per_bone: bool,
        precision: Precision,
    ) -> Result<Self, RunError> {
        let weighted = per_bone && moves.iter().any(|m| m.value.w != 0.0);
        let mut packed = Self {
            starts: Vec::new(),
            entries: Vec::new(),
            planes: match precision {
                Precision::Full => CorrectionPlanes::Full(Vec::new()),
                Precision::Quantized16 => CorrectionPlanes::Quantized(Vec::new()),
            },
            weighted,
            largest_step: 0.0,
        };
        if moves.is_empty() {
            return Ok(packed);
        }
        if let Some(bad) = moves.iter().find(|m| !m.value.as_vec4().is_finite()) {
            return Err(RunError::NotFinite { vertex: bad.vertex });
        }
        let mut slot_of = vec![(0u32, 0u32); vertex_count];
        for (block, plan) in plans.iter().enumerate() {
            for (lane, &vertex) in plan.vertices.iter().enumerate() {
                slot_of[vertex as usize] = (block as u32, lane as u32);
            }
        }
        // Stable, so that displacements of one number add up in the caller's order.
        moves.sort_by_key(|m| (slot_of[m.vertex].0, m.correction));
        let components = if weighted { 4 } else { 3 };
        packed.push_start()?;
        let mut moves = moves.into_iter().peekable();
        let mut sums = Vec::new();
        for (block, plan) in plans.iter().enumerate() {
            let slots = if per_bone { plan.bones.len() } else { 1 };
            while let Some(first) = moves.peek().filter(|m| slot_of[m.vertex].0 == block as u32) {
                let correction = first.correction;
                sums.clear();
                sums.resize(components * slots, [0.0f64; BLOCK]);
                while let Some(m) = moves
                    .next_if(|m| slot_of[m.vertex].0 == block as u32 && m.correction == correction)
                {
                    let lane = slot_of[m.vertex].1 as usize;
                    let slot = m.bone.map_or(0, |b| slot_in(&plan.bones, b));
                    for c in 0..components {
                        sums[components * slot + c][lane] += m.value[c];
                    }
                }
                packed.push_entry(correction, &sums);
            }
            packed.push_start()?;
        }
        Ok(packed)
    }

    fn push_start(&mut self) -> Result<(), RunError> {
        let planes = match &self.planes {
            CorrectionPlanes::Full(planes) => planes.len(),
            CorrectionPlanes::Quantized(planes) => planes.len(),
        };
        let fitting = |count: usize| u32::try_from(count).map_err(|_| RunError::TooLarge);
        self.starts.push(Start {
            entry: fitting(self.entries.len())?,
            plane: fitting(planes)?,
        });
        Ok(())
    }

    fn push_entry(&mut self, coefficient: u32, sums: &[[f64; BLOCK]]) {
        let mut step = 1.0;
        match &mut self.planes {
            CorrectionPlanes::Full(planes) => {
                planes.extend(sums.iter().map(|s| Plane(s.map(|x| x as f32))));
            }
            CorrectionPlanes::Quantized(planes) => {
                let numbers = sums.iter().flatten();
                let largest = numbers.fold(0.0, |a: f64, b| a.max(b.abs()));
                step = (largest / MOST_STEPS) as f32;
                let inverse = if step > 0.0 {
                    1.0 / f64::from(step)
                } else {
                    0.0
                };
                // `as` holds on to the ends of the range.
                let steps = |x: f64| (x * inverse).round() as i16;
                planes.extend(sums.iter().map(|s| s.map(steps)));
                self.largest_step = self.largest_step.max(f64::from(step));
            }
        }
        self.entries.push(CorrectionEntry { coefficient, step });
    }

    /// The greatest distance between neighbouring 16-bit values; 0 at full precision.
    pub(super) fn largest_step(&self) -> f64 {
        self.largest_step
    }

    /// Bytes that are read when all corrections are on.
    pub(super) fn bytes(&self) -> usize {
        let planes = match &self.planes {
            CorrectionPlanes::Full(planes) => size_of_val(&planes[..]),
            CorrectionPlanes::Quantized(planes) => size_of_val(&planes[..]),
        };
        planes + size_of_val(&self.entries[..]) + size_of_val(&self.starts[..])
    }

    /// What moves a block, with the coefficients of a frame.
    #[inline(always)]
    pub(super) fn of_block<'a>(
        &'a self,
        block: usize,
        coefficients: &'a [f32],
    ) -> BlockCorrections<'a> {
        let (entries, first_plane) = match self.starts.get(block..block + 2) {
            Some(&[from, to]) => {
                let entries = &self.entries[from.entry as usize..to.entry as usize];
                (entries, from.plane as usize)
            }
            _ => (&[][..], 0),
        };
        BlockCorrections {
            entries,
            planes: &self.planes,
            first_plane,
            weighted: self.weighted,
            coefficients,
        }
    }
}

/// What moves one block.
#[derive(Clone, Copy)]
pub(super) struct BlockCorrections<'a> {
    entries: &'a [CorrectionEntry],
    planes: &'a CorrectionPlanes,
    first_plane: usize,
    weighted: bool,
    coefficients: &'a [f32],
}

impl BlockCorrections<'_> {
    /// Adds what the corrections add to rest positions.
    #[inline(always)]
    pub(super) fn add_to_rest<S: Simd>(&self, simd: S, part: usize, v: &mut [S::F; 3]) {
        if !self.entries.is_empty() {
            self.add(simd, 0, 3, part, v);
        }
    }

    /// Adds what the corrections add to the animation-space vector of one of `slots` bones.
    #[inline(always)]
    pub(super) fn add_to_influence<S: Simd>(
        &self,
        simd: S,
        (slot, slots): (usize, usize),
        part: usize,
        p: &mut [S::F; 4],
    ) {
        if self.entries.is_empty() {
            return;
        }
        if self.weighted {
            self.add(simd, 4 * slot, 4 * slots, part, p);
        } else {
            let mut xyz = [p[0], p[1], p[2]];
            self.add(simd, 3 * slot, 3 * slots, part, &mut xyz);
            [p[0], p[1], p[2]] = xyz;
        }
    }

    /// Adds `N` planes of every correction that is on, which begin at `first` and come again every
    /// `stride`.
    #[inline(always)]
    fn add<S: Simd, const N: usize>(
        &self,
        simd: S,
        first: usize,
        stride: usize,
        part: usize,
        v: &mut [S::F; N],
    ) {
        let mut at = self.first_plane + first;
        match self.planes {
            CorrectionPlanes::Full(planes) => {
                for entry in self.entries {
                    let scale = self.coefficients[entry.coefficient as usize];
                    if scale != 0.0 {
                        let scale = simd.splat(scale);
                        let planes = &planes[at..at + N];
                        for c in 0..N {
                            v[c] = simd.fma(simd.load(&planes[c], part), scale, v[c]);
                        }
                    }
                    at += stride;
                }
            }
            CorrectionPlanes::Quantized(planes) => {
                for entry in self.entries {
                    let scale = self.coefficients[entry.coefficient as usize];
                    if scale != 0.0 {
                        let scale = simd.splat(scale * entry.step);
                        let planes = &planes[at..at + N];
                        for c in 0..N {
                            v[c] = simd.fma(simd.load_i16(&planes[c], part), scale, v[c]);
                        }
                    }
                    at += stride;
                }
            }
        }
    }
}
