//! Displacements in the order in which the kernels read them: block by block, and in each block
//! correction by correction, so that a correction costs nothing in blocks that it does not move.
//!
//! The corrections that touch a block are a set of bits, and so are the coefficients of a frame that are not
//! zero: the intersection of the two is added. Testing each correction of a block in turn took four times as
//! long as the whole rest of the skin on a face of a hundred shapes, nearly all of which are off.

use super::blocks::BlockPlan;
use super::kernel::{Part, Simd};
use super::plane::{BLOCK, Plane};
use super::source::{Move, slot_in};
use super::{CorrectionPrecision, RunError};

/// The displacements of all blocks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PackedCorrections {
    /// Which blocks move, 64 at a time; empty when none does.
    moved: Vec<MovedBlocks>,
    /// Where each block that moves begins, and where the last one ends.
    starts: Vec<Start>,
    /// The corrections that touch a block: `words` numbers per block that moves.
    touched: Vec<u64>,
    words: usize,
    /// Sizes of the steps of whole numbers, one per correction and block; empty at full precision.
    steps: Vec<f32>,
    pub(super) planes: CorrectionPlanes,
    /// True when influences have four numbers: the weight component of some displacement is not 0.
    pub(super) weighted: bool,
    largest_step: f64,
}

/// Sixty-four blocks, a bit each: an entry per block would cost more to read than all else where few of them
/// move.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct MovedBlocks {
    bits: u64,
    /// How many blocks before these move.
    before: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Start {
    word: u32,
    step: u32,
    plane: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CorrectionPlanes {
    Full(Vec<Plane>),
    /// Signed, so that a vertex that does not move stays where it is, to the bit.
    Bits16(Vec<[i16; BLOCK]>),
    Bits8(Vec<[i8; BLOCK]>),
}

/// Sixteen numbers of a correction.
trait Displacements {
    fn get<S: Simd>(&self, simd: S, part: usize) -> S::F;
}

impl Displacements for Plane {
    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, part: usize) -> S::F {
        simd.load(self, part)
    }
}

impl Displacements for [i16; BLOCK] {
    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, part: usize) -> S::F {
        simd.load_i16(self, part)
    }
}

impl Displacements for [i8; BLOCK] {
    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, part: usize) -> S::F {
        simd.load_i8(self, part)
    }
}

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
        precision: CorrectionPrecision,
    ) -> Result<Self, RunError> {
        let weighted = per_bone && moves.iter().any(|m| m.value.w != 0.0);
        let mut packed = Self {
            moved: Vec::new(),
            starts: Vec::new(),
            touched: Vec::new(),
            words: 0,
            steps: Vec::new(),
            planes: match precision {
                CorrectionPrecision::Full => CorrectionPlanes::Full(Vec::new()),
                CorrectionPrecision::Bits16 => CorrectionPlanes::Bits16(Vec::new()),
                CorrectionPrecision::Bits8 => CorrectionPlanes::Bits8(Vec::new()),
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
        packed.moved = vec![MovedBlocks::default(); plans.len().div_ceil(64)];
        let mut ordered = order.iter().map(|&m| &moves[m as usize]).peekable();
        let mut sums = Vec::new();
        for (block, plan) in plans.iter().enumerate() {
            let slots = if per_bone { plan.bones.len() } else { 1 };
            let first_word = packed.touched.len();
            if block % 64 == 0 {
                packed.moved[block / 64].before = packed.starts.len() as u32;
            }
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
                    packed.moved[block / 64].bits |= 1 << (block % 64);
                    packed.push_start()?;
                    packed.touched.resize(first_word + packed.words, 0);
                }
                let word = first_word + correction as usize / 64;
                packed.touched[word] |= 1 << (correction % 64);
                packed.push_planes(&sums);
            }
        }
        packed.push_start()?;
        Ok(packed)
    }

    fn push_start(&mut self) -> Result<(), RunError> {
        let planes = match &self.planes {
            CorrectionPlanes::Full(planes) => planes.len(),
            CorrectionPlanes::Bits16(planes) => planes.len(),
            CorrectionPlanes::Bits8(planes) => planes.len(),
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
        let most_steps = match &mut self.planes {
            CorrectionPlanes::Full(planes) => {
                planes.extend(sums.iter().map(|s| Plane(s.map(|x| x as f32))));
                return;
            }
            CorrectionPlanes::Bits16(_) => f64::from(i16::MAX),
            CorrectionPlanes::Bits8(_) => f64::from(i8::MAX),
        };
        let numbers = sums.iter().flatten();
        let largest = numbers.fold(0.0, |a: f64, b| a.max(b.abs()));
        let step = (largest / most_steps) as f32;
        let inverse = match step > 0.0 {
            true => 1.0 / f64::from(step),
            false => 0.0,
        };
        // `as` saturates at the ends of the range.
        let steps = |x: f64| (x * inverse).round();
        match &mut self.planes {
            CorrectionPlanes::Full(_) => {}
            CorrectionPlanes::Bits16(planes) => {
                planes.extend(sums.iter().map(|s| s.map(|x| steps(x) as i16)));
            }
            CorrectionPlanes::Bits8(planes) => {
                planes.extend(sums.iter().map(|s| s.map(|x| steps(x) as i8)));
            }
        }
        self.largest_step = self.largest_step.max(f64::from(step));
        self.steps.push(step);
    }

    /// The greatest distance between neighbouring whole numbers; 0 at full precision.
    pub(super) fn largest_step(&self) -> f64 {
        self.largest_step
    }

    /// Bytes that are read when all corrections are on.
    pub(super) fn bytes(&self) -> usize {
        let planes = match &self.planes {
            CorrectionPlanes::Full(planes) => size_of_val(&planes[..]),
            CorrectionPlanes::Bits16(planes) => size_of_val(&planes[..]),
            CorrectionPlanes::Bits8(planes) => size_of_val(&planes[..]),
        };
        let blocks = size_of_val(&self.moved[..]) + size_of_val(&self.starts[..]);
        planes + blocks + size_of_val(&self.touched[..]) + size_of_val(&self.steps[..])
    }

    /// True when no block is moved.
    pub(super) fn are_none(&self) -> bool {
        self.moved.is_empty()
    }

    /// No corrections, for a block that none moves.
    #[inline(always)]
    pub(super) fn of_no_block<'a>(
        &'a self,
        frame: &'a FrameCoefficients<'a>,
    ) -> BlockCorrections<'a> {
        BlockCorrections {
            touched: &[],
            steps: &[],
            planes: &self.planes,
            first_plane: 0,
            weighted: self.weighted,
            frame,
        }
    }

    /// The corrections of a block.
    #[inline(always)]
    pub(super) fn of_block<'a>(
        &'a self,
        block: usize,
        frame: &'a FrameCoefficients<'a>,
    ) -> BlockCorrections<'a> {
        let none = self.of_no_block(frame);
        let bit = 1 << (block % 64);
        let group = match self.moved.get(block / 64) {
            Some(group) if group.bits & bit != 0 => group,
            _ => return none,
        };
        let rank = group.before as usize + (group.bits & (bit - 1)).count_ones() as usize;
        let [from, to] = [self.starts[rank], self.starts[rank + 1]];
        BlockCorrections {
            touched: &self.touched[from.word as usize..to.word as usize],
            steps: &self.steps[from.step as usize..to.step as usize],
            first_plane: from.plane as usize,
            ..none
        }
    }
}

/// The displacements sorted by block, and within a block in their given order: by correction,
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

/// Words of 64 bits. Coefficients beyond that many bits are always evaluated, zero or not.
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

/// The corrections that move one block.
#[derive(Clone, Copy)]
pub(super) struct BlockCorrections<'a> {
    pub(super) touched: &'a [u64],
    pub(super) steps: &'a [f32],
    planes: &'a CorrectionPlanes,
    pub(super) first_plane: usize,
    weighted: bool,
    frame: &'a FrameCoefficients<'a>,
}

impl BlockCorrections<'_> {
    /// Adds the corrections to rest positions.
    #[inline(always)]
    pub(super) fn add_to_rest<S: Simd>(&self, simd: S, part: usize, v: &mut [S::F; 3]) {
        self.add(simd, 0, 3, part, v);
    }

    /// Adds the corrections to the animation-space vector of one of `slots` bones.
    #[inline(always)]
    pub(super) fn add_to_influence<S: Simd>(
        &self,
        simd: S,
        (slot, slots): (usize, usize),
        part: usize,
        p: &mut [S::F; 4],
    ) {
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
        if self.touched.is_empty() {
            return;
        }
        // A copy, so that the numbers of blocks without corrections stay in registers.
        let mut moved = *v;
        simd.call(Adding {
            corrections: self,
            first,
            stride,
            part,
            v: &mut moved,
        });
        *v = moved;
    }
}

/// The work of [`BlockCorrections::add`].
struct Adding<'a, F, const N: usize> {
    corrections: &'a BlockCorrections<'a>,
    first: usize,
    stride: usize,
    part: usize,
    v: &'a mut [F; N],
}

impl<S: Simd, const N: usize> Part<S> for Adding<'_, S::F, N> {
    #[inline(always)]
    fn run(self, simd: S) {
        match self.corrections.planes {
            CorrectionPlanes::Full(planes) => self.add_planes(simd, planes),
            CorrectionPlanes::Bits16(planes) => self.add_planes(simd, planes),
            CorrectionPlanes::Bits8(planes) => self.add_planes(simd, planes),
        }
    }
}

impl<F: Copy, const N: usize> Adding<'_, F, N> {
    #[inline(always)]
    fn add_planes<S: Simd<F = F>, T: Displacements>(self, simd: S, planes: &[T]) {
        let Self {
            corrections,
            first,
            stride,
            part,
            v: sums,
        } = self;
        let mut v = *sums;
        let mut from = corrections.first_plane;
        let mut steps = corrections.steps;
        for (word, &touched) in corrections.touched.iter().enumerate() {
            let mut on = touched & corrections.frame.on.get(word).unwrap_or(&u64::MAX);
            let values = &corrections.frame.values[64 * word..];
            let count = touched.count_ones() as usize;
            let until = from + stride * count;
            let own = &planes[from..until];
            // The block after the next has the same here if the same corrections touch all three, as they mostly do.
            let soon =
                (planes.get(until + stride * count..until + 2 * stride * count)).unwrap_or(own);
            if on == touched {
                // One after the other: half the instructions, and the skin is a tenth faster.
                let parts = own.chunks_exact(stride).zip(soon.chunks_exact(stride));
                for (rank, (own, soon)) in parts.enumerate() {
                    let coefficient = values[on.trailing_zeros() as usize];
                    on &= on.wrapping_sub(1);
                    let scale = coefficient * steps.get(rank).unwrap_or(&1.0);
                    add_scaled(simd, scale, &own[first..], &soon[first..], part, &mut v);
                }
            }
            while on != 0 {
                let bit = on.trailing_zeros();
                on &= on - 1;
                let rank = (touched & ((1 << bit) - 1)).count_ones() as usize;
                let scale = values[bit as usize] * steps.get(rank).unwrap_or(&1.0);
                let at = stride * rank + first;
                add_scaled(simd, scale, &own[at..], &soon[at..], part, &mut v);
            }
            from = until;
            steps = steps.get(count..).unwrap_or(&[]);
        }
        *sums = v;
    }
}

/// Adds `N` planes, scaled, and prefetches as many that will be read soon.
///
/// No closure: those are not compiled for the instruction set of the caller.
#[inline(always)]
fn add_scaled<S: Simd, T: Displacements, const N: usize>(
    simd: S,
    scale: f32,
    planes: &[T],
    soon: &[T],
    part: usize,
    v: &mut [S::F; N],
) {
    let scale = simd.splat(scale);
    simd.prefetch(&soon[0]);
    simd.prefetch(&soon[N - 1]);
    let planes = &planes[..N];
    for c in 0..N {
        v[c] = simd.fma(planes[c].get(simd, part), scale, v[c]);
    }
}
