//! The units of run-time data: sixteen numbers side by side, and one matrix of a frame.

use glam::DAffine3;

use super::kernel::Simd;

/// Vertices in a block. Sixteen 32-bit numbers are one cache line and one AVX-512 register.
pub const BLOCK: usize = 16;

/// The same number of sixteen vertices, on a cache line of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Plane(pub [f32; BLOCK]);

impl Plane {
    /// Sixteen zeros.
    pub const ZERO: Self = Self([0.0; BLOCK]);
}

/// The x, y and z of sixteen vertices: one block of [`Output::Blocks`](super::Output).
pub type BlockXyz = [Plane; 3];

/// Sixteen numbers in 16 bits each: `base + step · values[lane]`.
///
/// A stored number is off by at most half a `step`, which is 1/131070 of the range that the
/// number has within its block.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct QuantizedPlane {
    /// Whole numbers of steps.
    pub values: [u16; BLOCK],
    /// The least of the sixteen.
    pub base: f32,
    /// The distance between neighbouring values.
    pub step: f32,
}

impl QuantizedPlane {
    pub(super) fn from_plane(plane: &Plane) -> Self {
        let low = plane.0.iter().copied().fold(f32::INFINITY, f32::min);
        let high = plane.0.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let step = ((f64::from(high) - f64::from(low)) / 65535.0) as f32;
        let inverse = if step > 0.0 {
            1.0 / f64::from(step)
        } else {
            0.0
        };
        Self {
            values: plane
                .0
                .map(|x| ((f64::from(x) - f64::from(low)) * inverse).round() as u16),
            base: low,
            step,
        }
    }
}

/// How sixteen numbers are kept in memory.
pub(super) trait Stored: Copy + Send + Sync {
    /// Some of the sixteen, as numbers: those of `part`, `S::WIDTH` at a time.
    fn get<S: Simd>(&self, simd: S, part: usize) -> S::F;
}

impl Stored for Plane {
    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, part: usize) -> S::F {
        simd.load(self, part)
    }
}

impl Stored for QuantizedPlane {
    #[inline(always)]
    fn get<S: Simd>(&self, simd: S, part: usize) -> S::F {
        let whole = simd.load_u16(&self.values, part);
        simd.fma(whole, simd.splat(self.step), simd.splat(self.base))
    }
}

/// The numbers of one bone in a frame, as the kernels read them.
///
/// For every program but one: a 3x4 matrix by columns, `columns[c][row]`, each column filled up
/// with a zero. For dual quaternions: the real part in column 0 and the dual part in column 1,
/// each as (x, y, z, w). [`PackedSkin::fill_palette`](super::PackedSkin::fill_palette) writes
/// whichever the skin needs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(64))]
pub struct PaletteEntry {
    /// Four columns of four.
    pub columns: [[f32; 4]; 4],
}

impl PaletteEntry {
    /// A matrix, rounded to 32 bits.
    pub fn from_affine(matrix: &DAffine3) -> Self {
        let columns = [
            matrix.x_axis,
            matrix.y_axis,
            matrix.z_axis,
            matrix.translation,
        ];
        Self {
            columns: columns.map(|c| c.as_vec3().extend(0.0).to_array()),
        }
    }
}
