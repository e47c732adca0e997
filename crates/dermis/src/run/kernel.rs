//! Sixteen vertices at a time: the instruction sets, and everything unsafe.
//!
//! A kernel is written once, over [`Simd`], and compiled three times. A value of type [`Avx2`] or
//! [`Avx512`] is the proof that the machine has those instructions: only detection makes one, so
//! the arithmetic on it is safe to call. `std::arch` was chosen over a SIMD crate because the
//! kernels need twenty operations in all, and because AVX2 needs pairs of registers, so that each
//! matrix entry is broadcast once for sixteen vertices (single registers were 1.5 times slower).
//!
//! The portable set is plain arrays that the compiler vectorises for whatever it targets. It does
//! not fuse multiply and add, so its results differ from the others' in the last bits.
#![allow(
    unsafe_code,
    reason = "CPU intrinsics, non-temporal stores, and writes to disjoint parts of one buffer"
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::plane::{BLOCK, BlockXyz, Plane};

/// A set of CPU instructions that a skin can be evaluated with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum InstructionSet {
    /// Instructions that every machine has.
    Portable,
    /// 256-bit registers and fused multiply-add.
    Avx2,
    /// 512-bit registers.
    Avx512,
}

impl InstructionSet {
    /// All that this machine has, slowest first.
    pub fn available() -> Vec<Self> {
        let mut sets = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            sets.extend(Avx2::detect().map(|_| Self::Avx2));
            sets.extend(Avx512::detect().map(|_| Self::Avx512));
        }
        sets
    }

    /// The fastest that this machine has.
    pub fn best() -> Self {
        *Self::available().last().expect("portable is always there")
    }
}

/// Work that is compiled once for every instruction set.
///
/// `run` must be `#[inline(always)]`, and so must everything it calls: a function that is not
/// inlined is compiled for the plain machine.
pub(super) trait Kernel {
    fn run<S: Simd>(self, simd: S);
}

/// Runs a kernel with a set of instructions, or with the portable ones when this machine lacks it.
pub(super) fn dispatch<K: Kernel>(set: InstructionSet, kernel: K) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma,popcnt")]
        fn with_avx2<K: Kernel>(kernel: K, simd: Avx2) {
            kernel.run(simd);
        }
        #[target_feature(enable = "avx512f,avx2,fma,popcnt")]
        fn with_avx512<K: Kernel>(kernel: K, simd: Avx512) {
            kernel.run(simd);
        }
        match set {
            InstructionSet::Avx512 => {
                if let Some(simd) = Avx512::detect() {
                    // SAFETY: `simd` exists, so the machine has AVX-512F, AVX2, FMA and POPCNT.
                    return unsafe { with_avx512(kernel, simd) };
                }
            }
            InstructionSet::Avx2 => {
                if let Some(simd) = Avx2::detect() {
                    // SAFETY: `simd` exists, so the machine has AVX2, FMA and POPCNT.
                    return unsafe { with_avx2(kernel, simd) };
                }
            }
            InstructionSet::Portable => {}
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = set;
    kernel.run(Portable);
}

/// A part of a kernel that is compiled for the instruction set by itself, and called.
pub(super) trait Part<S: Simd> {
    /// Must be `#[inline(always)]`, as [`Kernel::run`].
    fn run(self, simd: S);
}

/// Arithmetic on `WIDTH` numbers at once. A plane has `BLOCK / WIDTH` parts.
pub(super) trait Simd: Copy {
    /// `WIDTH` numbers.
    type F: Copy;
    /// How many numbers `F` holds: a divisor of [`BLOCK`].
    const WIDTH: usize;
    /// True when a 3x4 matrix of sums fits into the registers beside its operands.
    const TWELVE_SUMS: bool = false;

    fn splat(self, x: f32) -> Self::F;
    fn load(self, from: &Plane, part: usize) -> Self::F;
    fn load_u16(self, from: &[u16; BLOCK], part: usize) -> Self::F;
    fn load_i16(self, from: &[i16; BLOCK], part: usize) -> Self::F;
    fn load_i8(self, from: &[i8; BLOCK], part: usize) -> Self::F;
    fn store(self, value: Self::F, to: &mut Plane, part: usize);
    /// A store that bypasses the caches. Others see it after [`Simd::fence`].
    fn stream(self, value: Self::F, to: &mut Plane, part: usize);
    /// Orders streaming stores before whatever follows.
    fn fence(self);
    /// Asks for a cache line that will be read soon.
    fn prefetch<T>(self, soon: &T);
    /// Runs a seldom needed part as a function of its own, so that the calling loop keeps its registers.
    fn call<P: Part<Self>>(self, part: P);
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// Rounded as IEEE 754 asks.
    fn sqrt(self, a: Self::F) -> Self::F;
    /// `yes` where `a < b`, else `no`.
    fn select_less(self, a: Self::F, b: Self::F, yes: Self::F, no: Self::F) -> Self::F;
    /// `a b + c`.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `c − a b`.
    fn fnma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `1 / √a` to within three units in the last place, for `a` of at least 1e-30.
    fn inverse_sqrt(self, a: Self::F) -> Self::F;
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
}

/// Arrays of eight, which compilers turn into whatever registers there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable;

/// Numbers at once: with SSE2, 8 was 10 to 25% faster than 4, because each matrix entry serves more numbers.
const PORTABLE_WIDTH: usize = 8;
type Array = [f32; PORTABLE_WIDTH];

#[inline(always)]
fn lanes(f: impl Fn(usize) -> f32) -> Array {
    let mut all = [0.0; PORTABLE_WIDTH];
    for (i, x) in all.iter_mut().enumerate() {
        *x = f(i);
    }
    all
}

impl Simd for Portable {
    type F = Array;
    const WIDTH: usize = PORTABLE_WIDTH;

    #[inline(always)]
    fn splat(self, x: f32) -> Array {
        [x; PORTABLE_WIDTH]
    }
    #[inline(always)]
    fn load(self, from: &Plane, part: usize) -> Array {
        from.0.as_chunks().0[part]
    }
    #[inline(always)]
    fn load_u16(self, from: &[u16; BLOCK], part: usize) -> Array {
        let part: [u16; PORTABLE_WIDTH] = from.as_chunks().0[part];
        lanes(|i| f32::from(part[i]))
    }
    #[inline(always)]
    fn load_i16(self, from: &[i16; BLOCK], part: usize) -> Array {
        let part: [i16; PORTABLE_WIDTH] = from.as_chunks().0[part];
        lanes(|i| f32::from(part[i]))
    }
    #[inline(always)]
    fn load_i8(self, from: &[i8; BLOCK], part: usize) -> Array {
        let part: [i8; PORTABLE_WIDTH] = from.as_chunks().0[part];
        lanes(|i| f32::from(part[i]))
    }
    #[inline(always)]
    fn store(self, value: Array, to: &mut Plane, part: usize) {
        to.0.as_chunks_mut().0[part] = value;
    }
    #[inline(always)]
    fn stream(self, value: Array, to: &mut Plane, part: usize) {
        self.store(value, to, part);
    }
    #[inline(always)]
    fn fence(self) {}
    #[inline(always)]
    fn prefetch<T>(self, _: &T) {}
    #[inline(always)]
    fn call<P: Part<Self>>(self, part: P) {
        part.run(self);
    }
    #[inline(always)]
    fn add(self, a: Array, b: Array) -> Array {
        lanes(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub(self, a: Array, b: Array) -> Array {
        lanes(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul(self, a: Array, b: Array) -> Array {
        lanes(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn div(self, a: Array, b: Array) -> Array {
        lanes(|i| a[i] / b[i])
    }
    #[inline(always)]
    fn sqrt(self, a: Array) -> Array {
        lanes(|i| a[i].sqrt())
    }
    #[inline(always)]
    fn select_less(self, a: Array, b: Array, yes: Array, no: Array) -> Array {
        lanes(|i| if a[i] < b[i] { yes[i] } else { no[i] })
    }
    #[inline(always)]
    fn fma(self, a: Array, b: Array, c: Array) -> Array {
        lanes(|i| a[i] * b[i] + c[i])
    }
    #[inline(always)]
    fn fnma(self, a: Array, b: Array, c: Array) -> Array {
        lanes(|i| c[i] - a[i] * b[i])
    }
    #[inline(always)]
    fn inverse_sqrt(self, a: Array) -> Array {
        lanes(|i| 1.0 / a[i].sqrt())
    }
    #[inline(always)]
    fn max(self, a: Array, b: Array) -> Array {
        lanes(|i| a[i].max(b[i]))
    }
}

/// Proof that the machine has AVX2, FMA and POPCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

/// Proof that the machine has AVX-512F, AVX2, FMA and POPCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    fn detect() -> Option<Self> {
        let all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt");
        all.then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f") && Avx2::detect().is_some()).then_some(Self(()))
    }
}

/// Applies a 256-bit instruction to both halves.
#[cfg(target_arch = "x86_64")]
macro_rules! pairwise {
    ($name:ident, $intrinsic:ident, $($argument:ident),+) => {
        #[inline(always)]
        fn $name(self, $($argument: Self::F),+) -> Self::F {
            // SAFETY: a value of this type proves that the machine has the instruction.
            unsafe { [$intrinsic($($argument[0]),+), $intrinsic($($argument[1]),+)] }
        }
    };
}

#[cfg(target_arch = "x86_64")]
impl Simd for Avx2 {
    type F = [__m256; 2];
    const WIDTH: usize = 16;

    pairwise!(add, _mm256_add_ps, a, b);
    pairwise!(sub, _mm256_sub_ps, a, b);
    pairwise!(mul, _mm256_mul_ps, a, b);
    pairwise!(div, _mm256_div_ps, a, b);
    pairwise!(max, _mm256_max_ps, a, b);
    pairwise!(sqrt, _mm256_sqrt_ps, a);
    pairwise!(fma, _mm256_fmadd_ps, a, b, c);
    pairwise!(fnma, _mm256_fnmadd_ps, a, b, c);

    #[inline(always)]
    fn splat(self, x: f32) -> Self::F {
        // SAFETY: a value of this type proves that the machine has the instruction.
        [unsafe { _mm256_set1_ps(x) }; 2]
    }
    #[inline(always)]
    fn load(self, from: &Plane, _: usize) -> Self::F {
        let at = from.0.as_ptr();
        // SAFETY: as above; a plane is 16 numbers at a multiple of 64 bytes.
        unsafe { [_mm256_load_ps(at), _mm256_load_ps(at.add(8))] }
    }
    #[inline(always)]
    fn load_u16(self, from: &[u16; BLOCK], _: usize) -> Self::F {
        let at = from.as_ptr().cast::<__m128i>();
        // SAFETY: as above; the array is two times 128 bits, read without alignment.
        unsafe {
            [at, at.add(1)].map(|at| _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(at))))
        }
    }
    #[inline(always)]
    fn load_i16(self, from: &[i16; BLOCK], _: usize) -> Self::F {
        let at = from.as_ptr().cast::<__m128i>();
        // SAFETY: as above; the array is two times 128 bits, read without alignment.
        unsafe {
            let whole = [_mm_loadu_si128(at), _mm_loadu_si128(at.add(1))];
            [
                _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(whole[0])),
                _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(whole[1])),
            ]
        }
    }
    #[inline(always)]
    fn load_i8(self, from: &[i8; BLOCK], _: usize) -> Self::F {
        // SAFETY: as above; the array is 128 bits, read without alignment.
        unsafe {
            let whole = _mm_loadu_si128(from.as_ptr().cast());
            [
                _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(whole)),
                _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128::<8>(whole))),
            ]
        }
    }
    #[inline(always)]
    fn store(self, value: Self::F, to: &mut Plane, _: usize) {
        let at = to.0.as_mut_ptr();
        // SAFETY: as above; a plane is 16 numbers at a multiple of 64 bytes.
        unsafe {
            _mm256_store_ps(at, value[0]);
            _mm256_store_ps(at.add(8), value[1]);
        }
    }
    #[inline(always)]
    fn stream(self, value: Self::F, to: &mut Plane, _: usize) {
        let at = to.0.as_mut_ptr();
        // SAFETY: as above; `fence` is called before anything else may read the plane.
        unsafe {
            _mm256_stream_ps(at, value[0]);
            _mm256_stream_ps(at.add(8), value[1]);
        }
    }
    #[inline(always)]
    fn fence(self) {
        // SAFETY: every x86-64 machine has it.
        unsafe { _mm_sfence() }
    }
    #[inline(always)]
    fn prefetch<T>(self, soon: &T) {
        // SAFETY: every x86-64 machine has it, and it changes nothing but the caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(soon).cast()) }
    }
    #[inline(always)]
    fn call<P: Part<Self>>(self, part: P) {
        #[inline(never)]
        #[target_feature(enable = "avx2,fma,popcnt")]
        fn apart<P: Part<Avx2>>(part: P, simd: Avx2) {
            part.run(simd);
        }
        // SAFETY: `self` exists, so the machine has AVX2, FMA and POPCNT.
        unsafe { apart(part, self) }
    }
    #[inline(always)]
    fn select_less(self, a: Self::F, b: Self::F, yes: Self::F, no: Self::F) -> Self::F {
        // SAFETY: a value of this type proves that the machine has the instructions.
        unsafe {
            let low = _mm256_cmp_ps::<_CMP_LT_OQ>(a[0], b[0]);
            let high = _mm256_cmp_ps::<_CMP_LT_OQ>(a[1], b[1]);
            [
                _mm256_blendv_ps(no[0], yes[0], low),
                _mm256_blendv_ps(no[1], yes[1], high),
            ]
        }
    }
    #[inline(always)]
    fn inverse_sqrt(self, a: Self::F) -> Self::F {
        // SAFETY: a value of this type proves that the machine has the instruction.
        let estimate = unsafe { [_mm256_rsqrt_ps(a[0]), _mm256_rsqrt_ps(a[1])] };
        newton_inverse_sqrt(self, a, estimate)
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! direct {
    ($name:ident, $intrinsic:ident, $($argument:ident),+) => {
        #[inline(always)]
        fn $name(self, $($argument: Self::F),+) -> Self::F {
            // SAFETY: a value of this type proves that the machine has the instruction.
            unsafe { $intrinsic($($argument),+) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
impl Simd for Avx512 {
    type F = __m512;
    const WIDTH: usize = 16;
    const TWELVE_SUMS: bool = true;

    direct!(add, _mm512_add_ps, a, b);
    direct!(sub, _mm512_sub_ps, a, b);
    direct!(mul, _mm512_mul_ps, a, b);
    direct!(div, _mm512_div_ps, a, b);
    direct!(max, _mm512_max_ps, a, b);
    direct!(sqrt, _mm512_sqrt_ps, a);
    direct!(fma, _mm512_fmadd_ps, a, b, c);
    direct!(fnma, _mm512_fnmadd_ps, a, b, c);

    #[inline(always)]
    fn splat(self, x: f32) -> Self::F {
        // SAFETY: a value of this type proves that the machine has the instruction.
        unsafe { _mm512_set1_ps(x) }
    }
    #[inline(always)]
    fn load(self, from: &Plane, _: usize) -> Self::F {
        // SAFETY: as above; a plane is 16 numbers at a multiple of 64 bytes.
        unsafe { _mm512_load_ps(from.0.as_ptr()) }
    }
    #[inline(always)]
    fn load_u16(self, from: &[u16; BLOCK], _: usize) -> Self::F {
        // SAFETY: as above; the array is 256 bits, read without alignment.
        unsafe {
            let whole = _mm256_loadu_si256(from.as_ptr().cast());
            _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(whole))
        }
    }
    #[inline(always)]
    fn load_i16(self, from: &[i16; BLOCK], _: usize) -> Self::F {
        // SAFETY: as above; the array is 256 bits, read without alignment.
        unsafe {
            let whole = _mm256_loadu_si256(from.as_ptr().cast());
            _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(whole))
        }
    }
    #[inline(always)]
    fn load_i8(self, from: &[i8; BLOCK], _: usize) -> Self::F {
        // SAFETY: as above; the array is 128 bits, read without alignment.
        unsafe {
            let whole = _mm_loadu_si128(from.as_ptr().cast());
            _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(whole))
        }
    }
    #[inline(always)]
    fn store(self, value: Self::F, to: &mut Plane, _: usize) {
        // SAFETY: as above; a plane is 16 numbers at a multiple of 64 bytes.
        unsafe { _mm512_store_ps(to.0.as_mut_ptr(), value) }
    }
    #[inline(always)]
    fn stream(self, value: Self::F, to: &mut Plane, _: usize) {
        // SAFETY: as above; `fence` is called before anything else may read the plane.
        unsafe { _mm512_stream_ps(to.0.as_mut_ptr(), value) }
    }
    #[inline(always)]
    fn fence(self) {
        // SAFETY: every x86-64 machine has it.
        unsafe { _mm_sfence() }
    }
    #[inline(always)]
    fn prefetch<T>(self, soon: &T) {
        // SAFETY: every x86-64 machine has it, and it changes nothing but the caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(soon).cast()) }
    }
    #[inline(always)]
    fn call<P: Part<Self>>(self, part: P) {
        #[inline(never)]
        #[target_feature(enable = "avx512f,avx2,fma,popcnt")]
        fn apart<P: Part<Avx512>>(part: P, simd: Avx512) {
            part.run(simd);
        }
        // SAFETY: `self` exists, so the machine has AVX-512F, AVX2, FMA and POPCNT.
        unsafe { apart(part, self) }
    }
    #[inline(always)]
    fn select_less(self, a: Self::F, b: Self::F, yes: Self::F, no: Self::F) -> Self::F {
        // SAFETY: a value of this type proves that the machine has the instructions.
        unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), no, yes) }
    }
    #[inline(always)]
    fn inverse_sqrt(self, a: Self::F) -> Self::F {
        // SAFETY: a value of this type proves that the machine has the instruction.
        let estimate = unsafe { _mm512_rsqrt14_ps(a) };
        newton_inverse_sqrt(self, a, estimate)
    }
}

/// One Newton step doubles the 12 or 14 good bits of an estimate of `1 / √a`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn newton_inverse_sqrt<S: Simd>(simd: S, a: S::F, estimate: S::F) -> S::F {
    let half = simd.mul(simd.mul(a, simd.splat(0.5)), estimate);
    let factor = simd.fnma(half, estimate, simd.splat(1.5));
    simd.mul(estimate, factor)
}

/// Copies planes, through the caches or past them: the yardstick for memory.
pub(super) fn copy_planes(set: InstructionSet, from: &[Plane], to: &mut [Plane], stream: bool) {
    struct Copy<'a>(&'a [Plane], &'a mut [Plane], bool);
    impl Kernel for Copy<'_> {
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            let Self(from, to, stream) = self;
            for (from, to) in from.iter().zip(to) {
                for part in 0..BLOCK / S::WIDTH {
                    let value = simd.load(from, part);
                    match stream {
                        true => simd.stream(value, to, part),
                        false => simd.store(value, to, part),
                    }
                }
            }
            simd.fence();
        }
    }
    dispatch(set, Copy(from, to, stream));
}

/// The vertex in each slot of the blocks, every vertex exactly once.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Places {
    vertices: Vec<[u32; BLOCK]>,
    vertex_count: usize,
}

/// In a slot that holds no vertex. Such slots end a block.
pub(super) const PADDING: u32 = u32::MAX;

impl Places {
    /// # Panics
    /// When a vertex is missing or comes twice, or a block does not rise to its padding.
    pub(super) fn new(vertices: Vec<[u32; BLOCK]>, vertex_count: usize) -> Self {
        let mut seen = vec![false; vertex_count];
        for block in &vertices {
            let filled = block.iter().filter(|&&v| v != PADDING).count();
            let rising = block[..filled].is_sorted();
            assert!(rising, "the vertices of a block rise");
            for &vertex in &block[..filled] {
                let first = !std::mem::replace(&mut seen[vertex as usize], true);
                assert!(first, "vertex {vertex} has two slots");
            }
        }
        assert!(seen.iter().all(|&s| s), "every vertex has a slot");
        Self {
            vertices,
            vertex_count,
        }
    }

    pub(super) fn vertices(&self) -> &[[u32; BLOCK]] {
        &self.vertices
    }
}

/// A buffer in the caller's order, as the blocks of a range may write to it.
///
/// It is to a permuted buffer what `&mut [T]` is to a plain one: splitting it by blocks gives parts
/// that never touch the same vertex, because [`Places`] names each vertex once.
#[derive(Debug)]
pub(super) struct Scatter<'a> {
    data: *mut [f32; 3],
    places: &'a [[u32; BLOCK]],
    buffer: std::marker::PhantomData<&'a mut [[f32; 3]]>,
}

// SAFETY: it stands for a unique borrow of the vertices named in `places`.
unsafe impl Send for Scatter<'_> {}

impl<'a> Scatter<'a> {
    /// # Panics
    /// When the buffer does not have a place for each vertex.
    pub(super) fn new(buffer: &'a mut [[f32; 3]], places: &'a Places) -> Self {
        assert_eq!(buffer.len(), places.vertex_count, "one place per vertex");
        Self {
            data: buffer.as_mut_ptr(),
            places: &places.vertices,
            buffer: std::marker::PhantomData,
        }
    }

    #[cfg(feature = "threads")]
    pub(super) fn split_at(self, block: usize) -> (Self, Self) {
        let (left, right) = self.places.split_at(block);
        let part = |places| Self { places, ..self };
        (part(left), part(right))
    }

    #[inline(always)]
    pub(super) fn write(&mut self, block: usize, xyz: &BlockXyz) {
        let places = &self.places[block];
        let filled = match places[BLOCK - 1] {
            PADDING => places.iter().filter(|&&v| v != PADDING).count(),
            last if last - places[0] == BLOCK as u32 - 1 => {
                // Places rise, so these are sixteen in a row: a form that compilers vectorise.
                let start = self.data.wrapping_add(places[0] as usize);
                // SAFETY: as below, for sixteen neighbours.
                let row = unsafe { &mut *start.cast::<[[f32; 3]; BLOCK]>() };
                for (lane, to) in row.iter_mut().enumerate() {
                    *to = [xyz[0].0[lane], xyz[1].0[lane], xyz[2].0[lane]];
                }
                return;
            }
            _ => BLOCK,
        };
        for (lane, &vertex) in places[..filled].iter().enumerate() {
            let value = [xyz[0].0[lane], xyz[1].0[lane], xyz[2].0[lane]];
            // SAFETY: `Places::new` checked that each vertex is in the buffer and named once, so
            // that no other part of the split writes there.
            unsafe { self.data.add(vertex as usize).write(value) };
        }
    }
}
