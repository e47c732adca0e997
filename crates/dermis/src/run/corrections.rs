//! Displacements in the order in which the kernels read them: block by block, and in each block
//! correction by correction, so that one that leaves a block alone costs nothing there.
//!
//! Which corrections touch a block is a set of bits, and so is which coefficients of a frame are not
//! zero: what is to be added is the set that they have in common. Asking each correction of a block in
//! turn took four times as long as the whole rest of the skin on a face of a hundred shapes, nearly
//! all of which are off.

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
    /// The corrections that touch a block: `words` numbers per block that any does.
    touched: Vec<u64>,
    words: usize,
    /// What 16-bit numbers are counted in, one per correction and block; empty at full precision.
    steps: Vec<f32>,
    planes: CorrectionPlanes,
    /// True when influences have four numbers: the weight component of some displacement is not 0.
    weighted: bool,
    largest_step: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Start {
    word: u32,
    step: u32,
    plane: u32,
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
    /// Sorts displacements, which come correction by correction, by block, and writes their planes:
    /// three per correction, or three to four per bone (`per_bone`).
    ///
    /// # Errors
    /// [`RunError::NotFinite`] for numbers too large for 32 bits, and [`RunError::TooLarge`].
    pub(super) fn new(
        plans: &[BlockPlan],
        moves: &[Move],
        per_bone: bool,
        precision: Precision,
    ) -> Result<Self, RunError> {
        let weighted = per_bone && moves.iter().any(|m| m.value.w != 0.0);
        let mut packed = Self {
            starts: Vec::new(),
            touched: Vec::new(),
            words: 0,
            steps: Vec::new(),
            planes: match precision {
                Precision::Full => CorrectionPlanes::Full(Vec::new()),
                Precision::Quantized16 => CorrectionPlanes::Quantized(Vec::new()),
            },
            weighted,
            largest_step: 0.0,
        };
        let Some(last) = moves.iter().map(|m| m.correction).max() else {
            return Ok(packed);
        };
        packed.words = last as usize / 64 + 1;
        u32::try_from(moves.len()).map_err(|_| RunError::TooLarge)?;
        if let Some(bad) = moves.iter().find(|m| !m.value.as_vec4().is_finite()) {
            return Err(RunError::NotFinite { vertex: bad.vertex });
        }
        let vertex_count: usize = plans.iter().map(|plan| plan.vertices.len()).sum();
        let mut slot_of = vec![(0u32, 0u32); vertex_count];
        for (block, plan) in plans.iter().enumerate() {
            for (lane, &vertex) in plan.vertices.iter().enumerate() {
                slot_of[vertex as usize] = (block as u32, lane as u32);
            }
        }
        let block_of = |m: &Move| slot_of[m.vertex].0 as usize;
        let order = by_block(plans.len(), moves, block_of);
        let components = if weighted { 4 } else { 3 };
        packed.push_start()?;
        let mut ordered = order.iter().map(|&m| &moves[m as usize]).peekable();
        let mut sums = Vec::new();
        for (block, plan) in plans.iter().enumerate() {
            let slots = if per_bone { plan.bones.len() } else { 1 };
            let first_word = packed.touched.len();
            while let Some(correction) =
                (ordered.peek().filter(|m| block_of(m) == block)).map(|m| m.correction)
            {
                sums.clear();
                sums.resize(components * slots, [0.0f64; BLOCK]);
                while let Some(m) =
                    ordered.next_if(|m| block_of(m) == block && m.correction == correction)
                {
                    let lane = slot_of[m.vertex].1 as usize;
                    let slot = m.bone.map_or(0, |b| slot_in(&plan.bones, b));
                    for c in 0..components {
                        sums[components * slot + c][lane] += m.value[c];
                    }
                }
                if packed.touched.len() == first_word {
                    packed.touched.resize(first_word + packed.words, 0);
                }
                let word = first_word + correction as usize / 64;
                packed.touched[word] |= 1 << (correction % 64);
                packed.push_planes(&sums);
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
            word: fitting(self.touched.len())?,
            step: fitting(self.steps.len())?,
            plane: fitting(planes)?,
        });
        Ok(())
    }

    fn push_planes(&mut self, sums: &[[f64; BLOCK]]) {
        match &mut self.planes {
            CorrectionPlanes::Full(planes) => {
                planes.extend(sums.iter().map(|s| Plane(s.map(|x| x as f32))));
            }
            CorrectionPlanes::Quantized(planes) => {
                let numbers = sums.iter().flatten();
                let largest = numbers.fold(0.0, |a: f64, b| a.max(b.abs()));
                let step = (largest / MOST_STEPS) as f32;
                let inverse = if step > 0.0 {
                    1.0 / f64::from(step)
                } else {
                    0.0
                };
                // `as` holds on to the ends of the range.
                let steps = |x: f64| (x * inverse).round() as i16;
                planes.extend(sums.iter().map(|s| s.map(steps)));
                self.largest_step = self.largest_step.max(f64::from(step));
                self.steps.push(step);
            }
        }
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
        let tables = size_of_val(&self.touched[..]) + size_of_val(&self.starts[..]);
        planes + tables + size_of_val(&self.steps[..])
    }

    /// What moves a block.
    #[inline(always)]
    pub(super) fn of_block<'a>(
        &'a self,
        block: usize,
        frame: &'a FrameCoefficients<'a>,
    ) -> BlockCorrections<'a> {
        let (touched, steps, first_plane) = match self.starts.get(block..block + 2) {
            Some(&[from, to]) => (
                &self.touched[from.word as usize..to.word as usize],
                &self.steps[from.step as usize..to.step as usize],
                from.plane as usize,
            ),
            _ => (&[][..], &[][..], 0),
        };
        BlockCorrections {
            touched,
            steps,
            planes: &self.planes,
            first_plane,
            weighted: self.weighted,
            frame,
        }
    }
}

/// The displacements of each block after the other, otherwise in the order they have: by correction,
/// and within one as the caller lists them. Counted, not compared: half a million take milliseconds.
fn by_block(block_count: usize, moves: &[Move], block_of: impl Fn(&Move) -> usize) -> Vec<u32> {
    let mut next = vec![0u32; block_count + 1];
    for m in moves {
        next[block_of(m) + 1] += 1;
    }
    for block in 0..block_count {
        next[block + 1] += next[block];
    }
    let mut order = vec![0; moves.len()];
    for (index, m) in moves.iter().enumerate() {
        let place = &mut next[block_of(m)];
        order[*place as usize] = index as u32;
        *place += 1;
    }
    order
}

/// The coefficients of a frame, and which of them are not zero.
pub(super) struct FrameCoefficients<'a> {
    values: &'a [f32],
    on: [u64; ON_WORDS],
}

/// Coefficients beyond 64 times as many are all evaluated, zero or not.
const ON_WORDS: usize = 64;

impl<'a> FrameCoefficients<'a> {
    pub(super) fn new(values: &'a [f32]) -> Self {
        let mut on = [0; ON_WORDS];
        for (word, values) in on.iter_mut().zip(values.chunks(64)) {
            for (bit, value) in values.iter().enumerate() {
                *word |= u64::from(*value != 0.0) << bit;
            }
        }
        Self { values, on }
    }
}

/// What moves one block.
#[derive(Clone, Copy)]
pub(super) struct BlockCorrections<'a> {
    touched: &'a [u64],
    steps: &'a [f32],
    planes: &'a CorrectionPlanes,
    first_plane: usize,
    weighted: bool,
    frame: &'a FrameCoefficients<'a>,
}

impl BlockCorrections<'_> {
    /// Adds what the corrections add to rest positions.
    #[inline(always)]
    pub(super) fn add_to_rest<S: Simd>(&self, simd: S, part: usize, v: &mut [S::F; 3]) {
        self.add(simd, 0, 3, part, v);
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
        if self.touched.is_empty() {
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
        // Where the next block has the same, if the same corrections touch it, as they mostly do.
        let mut ahead = 0;
        for touched in self.touched {
            ahead += stride * touched.count_ones() as usize;
        }
        // How many corrections of the block stand before those of this word.
        let mut before = 0;
        for (word, &touched) in self.touched.iter().enumerate() {
            let mut on = touched & self.frame.on.get(word).unwrap_or(&u64::MAX);
            while on != 0 {
                let bit = on.trailing_zeros();
                on &= on - 1;
                let lower = touched & ((1 << bit) - 1);
                let rank = before + lower.count_ones() as usize;
                let scale = self.frame.values[64 * word + bit as usize];
                let at = self.first_plane + first + stride * rank;
                match self.planes {
                    CorrectionPlanes::Full(planes) => {
                        let scale = simd.splat(scale);
                        prefetch(simd, planes.get(at + ahead..at + ahead + N));
                        let planes = &planes[at..at + N];
                        for c in 0..N {
                            v[c] = simd.fma(simd.load(&planes[c], part), scale, v[c]);
                        }
                    }
                    CorrectionPlanes::Quantized(planes) => {
                        let scale = simd.splat(scale * self.steps[rank]);
                        prefetch(simd, planes.get(at + ahead..at + ahead + N));
                        let planes = &planes[at..at + N];
                        for c in 0..N {
                            v[c] = simd.fma(simd.load_i16(&planes[c], part), scale, v[c]);
                        }
                    }
                }
            }
            before += touched.count_ones() as usize;
        }
    }
}

#[inline(always)]
fn prefetch<S: Simd, T>(simd: S, planes: Option<&[T]>) {
    if let Some(planes) = planes {
        for plane in planes {
            simd.prefetch(plane);
        }
    }
}
