//! One frame of a packed skin, or a crowd of them.

use std::ops::Range;

use super::corrections::FrameCoefficients;
use super::kernel::{InstructionSet, Kernel, Scatter, Simd, dispatch};
use super::pack::{PackedSkin, Planes};
use super::plane::{BLOCK, BlockXyz, PaletteEntry, Plane, Stored};
use super::program::{
    BlockView, DualQuaternions, Linear, MultiWeight, Program, Ssd, dot3, linear_normals,
};
use super::source::KernelKind;
use super::{NormalLength, RunError, STREAMED_BYTES, Stores};

/// The inputs that change from frame to frame.
#[derive(Debug, Clone, Copy)]
pub struct FrameInputs<'a> {
    /// One entry per bone: see [`PackedSkin::fill_palette`].
    pub palette: &'a [PaletteEntry],
    /// One number per correction.
    pub coefficients: &'a [f32],
}

/// As [`FrameInputs`], in memory of its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    /// One entry per bone.
    pub palette: Vec<PaletteEntry>,
    /// One number per correction.
    pub coefficients: Vec<f32>,
}

impl Frame {
    /// Borrowed, as the evaluation takes it.
    pub fn inputs(&self) -> FrameInputs<'_> {
        FrameInputs {
            palette: &self.palette,
            coefficients: &self.coefficients,
        }
    }
}

/// Where results go.
#[derive(Debug)]
pub enum Output<'a> {
    /// In blocks of sixteen, in the order of [`PackedSkin::vertex_order`]: the fastest.
    /// [`PackedSkin::block_count`] blocks each; slots of padding are written too.
    Blocks {
        /// Positions.
        positions: &'a mut [BlockXyz],
        /// Normals, when the skin has them and they are wanted.
        normals: Option<&'a mut [BlockXyz]>,
    },
    /// In the caller's order, x, y and z next to each other.
    Vertices {
        /// Positions.
        positions: &'a mut [[f32; 3]],
        /// Normals, when the skin has them and they are wanted.
        normals: Option<&'a mut [[f32; 3]]>,
    },
}

/// Blocks that one thread evaluates in one go: 2,048 vertices, some microseconds.
#[cfg(feature = "threads")]
const GRAIN: usize = 128;

/// How many planes ahead of their use memory is prefetched: more than a page, because the machine's
/// own prefetching stops at the end of one and a block keeps it too busy to run ahead. At 4 million
/// vertices AVX2 gained 18% and 16-bit planes 40%; within the caches it cost, so it is for large
/// meshes only.
const AHEAD: usize = 96;

impl PackedSkin {
    /// Evaluates a frame on the calling thread. Allocates nothing.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when a buffer has the wrong length, and
    /// [`RunError::NoNormals`] when normals are requested from a skin that was packed without them.
    pub fn evaluate(&self, inputs: &FrameInputs<'_>, out: Output<'_>) -> Result<(), RunError> {
        let job = self.job(inputs, out)?;
        job.run(self);
        Ok(())
    }

    /// Evaluates a frame on the threads of the current rayon pool, with the same bits as
    /// [`PackedSkin::evaluate`]. Without the feature `threads` it is the same function.
    ///
    /// # Errors
    /// As [`PackedSkin::evaluate`].
    pub fn evaluate_threaded(
        &self,
        inputs: &FrameInputs<'_>,
        out: Output<'_>,
    ) -> Result<(), RunError> {
        let job = self.job(inputs, out)?;
        job.run_threaded(self);
        Ok(())
    }

    /// Evaluates many frames of one skin, threads over frames and over blocks.
    ///
    /// # Errors
    /// As [`PackedSkin::evaluate`]; nothing is evaluated unless all frames are valid.
    pub fn evaluate_crowd<'a>(
        &self,
        frames: impl IntoIterator<Item = (FrameInputs<'a>, Output<'a>)>,
    ) -> Result<(), RunError> {
        let jobs = frames
            .into_iter()
            .map(|(inputs, out)| self.job(&inputs, out))
            .collect::<Result<Vec<_>, _>>()?;
        #[cfg(feature = "threads")]
        {
            use rayon::prelude::*;
            jobs.into_par_iter().for_each(|job| job.run_threaded(self));
        }
        #[cfg(not(feature = "threads"))]
        jobs.into_iter().for_each(|job| job.run(self));
        Ok(())
    }

    /// Checks the lengths of everything that is indexed later.
    fn job<'a>(&'a self, inputs: &FrameInputs<'a>, out: Output<'a>) -> Result<Job<'a>, RunError> {
        RunError::check_count("palette entries", self.bone_count, inputs.palette.len())?;
        RunError::check_count(
            "coefficients",
            self.coefficient_count,
            inputs.coefficients.len(),
        )?;
        let wants_normals = match &out {
            Output::Blocks { positions, normals } => {
                RunError::check_count("blocks of positions", self.block_count(), positions.len())?;
                let found = normals.as_ref().map_or(self.block_count(), |n| n.len());
                RunError::check_count("blocks of normals", self.block_count(), found)?;
                normals.is_some()
            }
            Output::Vertices { positions, normals } => {
                RunError::check_count("positions", self.vertex_count, positions.len())?;
                let found = normals.as_ref().map_or(self.vertex_count, |n| n.len());
                RunError::check_count("normals", self.vertex_count, found)?;
                normals.is_some()
            }
        };
        if wants_normals && !self.has_normals {
            return Err(RunError::NoNormals);
        }
        let written = self.block_count() * size_of::<BlockXyz>() * (1 + usize::from(wants_normals));
        let stream = match self.stores {
            Stores::BySize => written >= STREAMED_BYTES,
            Stores::Cached => false,
            Stores::Streamed => true,
        };
        let target = match out {
            Output::Blocks { positions, normals } => Target::Blocks {
                positions,
                normals,
                stream,
            },
            Output::Vertices { positions, normals } => Target::Vertices {
                positions: Scatter::new(positions, &self.places),
                normals: normals.map(|n| Scatter::new(n, &self.places)),
            },
        };
        Ok(Job {
            first: 0,
            count: self.block_count(),
            inputs: *inputs,
            target,
        })
    }
}

/// A range of blocks of one frame, and where its results go.
struct Job<'a> {
    first: usize,
    count: usize,
    inputs: FrameInputs<'a>,
    target: Target<'a>,
}

enum Target<'a> {
    Blocks {
        positions: &'a mut [BlockXyz],
        normals: Option<&'a mut [BlockXyz]>,
        stream: bool,
    },
    Vertices {
        positions: Scatter<'a>,
        normals: Option<Scatter<'a>>,
    },
}

impl<'a> Job<'a> {
    #[cfg(feature = "threads")]
    fn run_threaded(self, skin: &PackedSkin) {
        if self.count <= GRAIN {
            return self.run(skin);
        }
        let (left, right) = self.split();
        rayon::join(|| left.run_threaded(skin), || right.run_threaded(skin));
    }

    #[cfg(not(feature = "threads"))]
    fn run_threaded(self, skin: &PackedSkin) {
        self.run(skin);
    }

    #[cfg(feature = "threads")]
    fn split(self) -> (Self, Self) {
        let half = (self.count / 2).next_multiple_of(GRAIN).min(self.count - 1);
        let (left, right) = match self.target {
            Target::Blocks {
                positions,
                normals,
                stream,
            } => {
                let (left, right) = positions.split_at_mut(half);
                let (left_n, right_n) = normals.map(|n| n.split_at_mut(half)).unzip();
                let part = |positions, normals| Target::Blocks {
                    positions,
                    normals,
                    stream,
                };
                (part(left, left_n), part(right, right_n))
            }
            Target::Vertices { positions, normals } => {
                let (left, right) = positions.split_at(half);
                let (left_n, right_n) = normals.map(|n| n.split_at(half)).unzip();
                let part = |positions, normals| Target::Vertices { positions, normals };
                (part(left, left_n), part(right, right_n))
            }
        };
        let part = |first, count, target| Job {
            first,
            count,
            inputs: self.inputs,
            target,
        };
        (
            part(self.first, half, left),
            part(self.first + half, self.count - half, right),
        )
    }

    fn run(self, skin: &PackedSkin) {
        match &skin.planes {
            Planes::Full(planes) => self.run_stored(skin, planes),
            Planes::Quantized(planes) => self.run_stored(skin, planes),
        }
    }

    /// Picks the program that was compiled for the skin's normals.
    fn run_stored<T: Stored>(self, skin: &PackedSkin, planes: &[T]) {
        use linear_normals::{NONE, TANGENTS, VECTOR, WEIGHTED_TANGENTS};
        match (skin.kernel, skin.has_normals) {
            (KernelKind::Ssd, false) => self.run_program::<T, Ssd<false>>(skin, planes),
            (KernelKind::Ssd, true) => self.run_program::<T, Ssd<true>>(skin, planes),
            (KernelKind::MultiWeight, false) => {
                self.run_program::<T, MultiWeight<false>>(skin, planes);
            }
            (KernelKind::MultiWeight, true) => {
                self.run_program::<T, MultiWeight<true>>(skin, planes);
            }
            (KernelKind::DualQuaternion, false) => {
                self.run_program::<T, DualQuaternions<false>>(skin, planes);
            }
            (KernelKind::DualQuaternion, true) => {
                self.run_program::<T, DualQuaternions<true>>(skin, planes);
            }
            (KernelKind::Linear { normal_planes }, _) => match normal_planes {
                NONE => self.run_program::<T, Linear<NONE>>(skin, planes),
                VECTOR => self.run_program::<T, Linear<VECTOR>>(skin, planes),
                TANGENTS => self.run_program::<T, Linear<TANGENTS>>(skin, planes),
                _ => self.run_program::<T, Linear<WEIGHTED_TANGENTS>>(skin, planes),
            },
        }
    }

    fn run_program<T: Stored, P: Program>(self, skin: &PackedSkin, planes: &[T]) {
        let set: InstructionSet = skin.instruction_set;
        dispatch(
            set,
            Blocks::<T, P> {
                job: self,
                skin,
                planes,
                program: std::marker::PhantomData,
            },
        );
    }
}

/// The loop over the blocks of a job.
struct Blocks<'a, T, P> {
    job: Job<'a>,
    skin: &'a PackedSkin,
    planes: &'a [T],
    program: std::marker::PhantomData<P>,
}

impl<T: Stored, P: Program> Kernel for Blocks<'_, T, P> {
    /// Conditions that are the same for all blocks are tested once. Testing them in every block took an
    /// eighth of the time of linear blend skinning, and a quarter where the results go to the caller's order.
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match self.skin.corrections.are_none() {
            true => self.run_moved::<S, false>(simd),
            false => self.run_moved::<S, true>(simd),
        }
    }
}

impl<T: Stored, P: Program> Blocks<'_, T, P> {
    #[inline(always)]
    fn run_moved<S: Simd, const MOVED: bool>(self, simd: S) {
        let Job {
            first,
            count,
            inputs,
            target,
        } = self.job;
        let coefficients = FrameCoefficients::new(inputs.coefficients);
        let evaluation = Evaluation::<S, T, P> {
            simd,
            skin: self.skin,
            planes: self.planes,
            palette: inputs.palette,
            coefficients: &coefficients,
            unit: self.skin.normal_length == NormalLength::Unit,
            program: self.program,
        };
        match target {
            Target::Blocks {
                positions,
                normals,
                stream,
            } => {
                let mut normals = normals.filter(|_| P::NORMALS);
                for k in 0..count {
                    let block = first + k;
                    if stream {
                        evaluation.ask_ahead(block);
                    }
                    let posed_to = normals.as_mut().map(|n| &mut n[k]);
                    evaluation.block_to::<MOVED>(block, stream, &mut positions[k], posed_to);
                }
                if stream {
                    simd.fence();
                }
            }
            Target::Vertices {
                mut positions,
                normals,
            } => {
                let mut normals = normals.filter(|_| P::NORMALS);
                let mut scratch = [[Plane::ZERO; 3]; 2];
                for k in 0..count {
                    let [to_positions, to_normals] = &mut scratch;
                    let to_normals = normals.is_some().then_some(to_normals);
                    evaluation.block_to::<MOVED>(first + k, false, to_positions, to_normals);
                    positions.write(k, &scratch[0]);
                    if let Some(normals) = &mut normals {
                        normals.write(k, &scratch[1]);
                    }
                }
            }
        }
    }
}

/// The state that all blocks of a job share.
struct Evaluation<'a, S, T, P> {
    simd: S,
    skin: &'a PackedSkin,
    planes: &'a [T],
    palette: &'a [PaletteEntry],
    coefficients: &'a FrameCoefficients<'a>,
    unit: bool,
    program: std::marker::PhantomData<P>,
}

impl<S: Simd, T: Stored, P: Program> Evaluation<'_, S, T, P> {
    /// The bones and the planes of a block.
    #[inline(always)]
    fn ranges(&self, block: usize) -> (Range<usize>, Range<usize>) {
        let starts = &self.skin.bone_starts[block..block + 2];
        let bones = starts[0] as usize..starts[1] as usize;
        let first = P::FIXED * block + P::PER_BONE * bones.start;
        let last = P::FIXED * (block + 1) + P::PER_BONE * bones.end;
        (bones, first..last)
    }

    /// Asks for memory that will be read soon.
    #[inline(always)]
    fn ask_ahead(&self, block: usize) {
        let (_, planes) = self.ranges(block);
        if let Some(soon) = self.planes.get(planes.start + AHEAD..planes.end + AHEAD) {
            for plane in soon {
                self.simd.prefetch(plane);
            }
        }
    }

    /// Evaluates one block and stores it. `MOVED` is false where no block of the skin has corrections.
    #[inline(always)]
    fn block_to<const MOVED: bool>(
        &self,
        block: usize,
        stream: bool,
        positions: &mut BlockXyz,
        mut normals: Option<&mut BlockXyz>,
    ) {
        let simd = self.simd;
        let (bones, planes) = self.ranges(block);
        let corrections = match MOVED {
            true => self.skin.corrections.of_block(block, self.coefficients),
            false => self.skin.corrections.of_no_block(self.coefficients),
        };
        let view = BlockView {
            planes: &self.planes[planes],
            bones: &self.skin.bones[bones],
            corrections,
            palette: self.palette,
        };
        for part in 0..BLOCK / S::WIDTH {
            let mut posed = P::block(simd, view, part);
            store(simd, posed.position, positions, part, stream);
            if let Some(normals) = &mut normals {
                if self.unit {
                    let squared = dot3(simd, posed.normal, posed.normal);
                    let scale = simd.inverse_sqrt(simd.max(squared, simd.splat(1e-30)));
                    for c in 0..3 {
                        posed.normal[c] = simd.mul(posed.normal[c], scale);
                    }
                }
                store(simd, posed.normal, normals, part, stream);
            }
        }
    }
}

#[inline(always)]
fn store<S: Simd>(simd: S, xyz: [S::F; 3], to: &mut BlockXyz, part: usize, stream: bool) {
    match stream {
        true => (0..3).for_each(|c| simd.stream(xyz[c], &mut to[c], part)),
        false => (0..3).for_each(|c| simd.store(xyz[c], &mut to[c], part)),
    }
}
