//! Each vertex program, applied to a block of sixteen vertices at once.
//!
//! The order of the planes in a block, bone after bone:
//!
//! ```text
//! ssd, dual quaternion   x y z [nx ny nz] | w | w | ...
//! multi-weight           x y z [nx ny nz] | w00 w10 w20 w01 .. w23 | ...      (by columns)
//! linear                 | x y z w [normal or two tangents] | x y z w ... | ...
//! ```

use super::corrections::BlockCorrections;
use super::kernel::Simd;
use super::plane::{PaletteEntry, Stored};

/// One block, and the frame it is evaluated in.
#[derive(Clone, Copy)]
pub(super) struct BlockView<'a, T> {
    /// Numbers of the block in the order above.
    pub(super) planes: &'a [T],
    /// The bones that its vertices share.
    pub(super) bones: &'a [u16],
    /// Displacements with their coefficients: of rest positions, or of every influence (linear).
    pub(super) corrections: BlockCorrections<'a>,
    pub(super) palette: &'a [PaletteEntry],
}

/// Positions and normals of one part of a block.
pub(super) struct Posed<F> {
    pub(super) position: [F; 3],
    pub(super) normal: [F; 3],
}

/// A vertex program over blocks.
pub(super) trait Program: Copy + Send + Sync {
    /// True when it makes normals; otherwise they are zero and not to be stored.
    const NORMALS: bool;
    /// Planes before those of the bones.
    const FIXED: usize;
    /// Planes of each bone.
    const PER_BONE: usize;

    fn block<S: Simd, T: Stored>(simd: S, at: BlockView<'_, T>, part: usize) -> Posed<S::F>;
}

/// `v = (Σ_j w_j N_j) v̂`, and the same matrix on the rest normal.
#[derive(Clone, Copy)]
pub(super) struct Ssd<const NORMALS: bool>;

impl<const NORMALS: bool> Program for Ssd<NORMALS> {
    const NORMALS: bool = NORMALS;
    const FIXED: usize = if NORMALS { 6 } else { 3 };
    const PER_BONE: usize = 1;

    #[inline(always)]
    fn block<S: Simd, T: Stored>(simd: S, at: BlockView<'_, T>, part: usize) -> Posed<S::F> {
        let (fixed, weights) = at.planes.split_at(Self::FIXED);
        let v = corrected_rest(simd, fixed, &at, part);
        let zero = simd.splat(0.0);
        let mut posed = Posed {
            position: [zero; 3],
            normal: [zero; 3],
        };
        let mut blended = [[zero; 4]; 3];
        // Twelve sums at once do not wait for each other, and the loop ends once: with AVX-512 that takes a fifth less.
        if S::TWELVE_SUMS {
            for (&bone, weight) in at.bones.iter().zip(weights) {
                let columns = &at.palette[usize::from(bone)].columns;
                let weight = weight.get(simd, part);
                for c in 0..4 {
                    for row in 0..3 {
                        let entry = simd.splat(columns[c][row]);
                        blended[row][c] = simd.fma(weight, entry, blended[row][c]);
                    }
                }
            }
        }
        for row in 0..3 {
            let mut m = blended[row];
            if !S::TWELVE_SUMS {
                // Four sums and their operands fit into sixteen registers.
                for (&bone, weight) in at.bones.iter().zip(weights) {
                    let columns = &at.palette[usize::from(bone)].columns;
                    let weight = weight.get(simd, part);
                    for c in 0..4 {
                        m[c] = simd.fma(weight, simd.splat(columns[c][row]), m[c]);
                    }
                }
            }
            posed.position[row] = dot3_add(simd, [m[0], m[1], m[2]], v, m[3]);
            if NORMALS {
                let n = xyz(simd, fixed, 3, part);
                posed.normal[row] = dot3(simd, [m[0], m[1], m[2]], n);
            }
        }
        posed
    }
}

/// `v = Σ_j (W_j ∘ N_j) v̂`, and the same matrix on the rest normal.
#[derive(Clone, Copy)]
pub(super) struct MultiWeight<const NORMALS: bool>;

impl<const NORMALS: bool> Program for MultiWeight<NORMALS> {
    const NORMALS: bool = NORMALS;
    const FIXED: usize = if NORMALS { 6 } else { 3 };
    const PER_BONE: usize = 12;

    #[inline(always)]
    fn block<S: Simd, T: Stored>(simd: S, at: BlockView<'_, T>, part: usize) -> Posed<S::F> {
        let (fixed, weights) = at.planes.split_at(Self::FIXED);
        let weights = weights.as_chunks::<12>().0;
        let v = corrected_rest(simd, fixed, &at, part);
        let zero = simd.splat(0.0);
        let mut posed = Posed {
            position: [zero; 3],
            normal: [zero; 3],
        };
        for row in 0..3 {
            let mut m = [zero; 4];
            for (&bone, weights) in at.bones.iter().zip(weights) {
                let columns = &at.palette[usize::from(bone)].columns;
                for c in 0..4 {
                    let weight = weights[3 * c + row].get(simd, part);
                    m[c] = simd.fma(weight, simd.splat(columns[c][row]), m[c]);
                }
            }
            posed.position[row] = dot3_add(simd, [m[0], m[1], m[2]], v, m[3]);
            if NORMALS {
                let n = xyz(simd, fixed, 3, part);
                posed.normal[row] = dot3(simd, [m[0], m[1], m[2]], n);
            }
        }
        posed
    }
}

/// How the linear program makes normals, by the planes that each bone has for it.
pub(super) mod linear_normals {
    /// None.
    pub(crate) const NONE: usize = 0;
    /// A vector of weight 0, projected.
    pub(crate) const VECTOR: usize = 3;
    /// Two tangents whose weight components are all 0, projected and crossed.
    pub(crate) const TANGENTS: usize = 6;
    /// Two tangents with weight components, projected and crossed.
    pub(crate) const WEIGHTED_TANGENTS: usize = 8;
}

/// `v = Σ_j G_j (p_j + Σ_m c_m d_mj)`.
#[derive(Clone, Copy)]
pub(super) struct Linear<const NORMAL_PLANES: usize>;

impl<const NORMAL_PLANES: usize> Program for Linear<NORMAL_PLANES> {
    const NORMALS: bool = NORMAL_PLANES > 0;
    const FIXED: usize = 0;
    const PER_BONE: usize = 4 + NORMAL_PLANES;

    #[inline(always)]
    fn block<S: Simd, T: Stored>(simd: S, at: BlockView<'_, T>, part: usize) -> Posed<S::F> {
        let zero = simd.splat(0.0);
        let mut position = [zero; 3];
        let mut normal = [zero; 3];
        let bones = || at.bones.iter().zip(at.planes.chunks_exact(Self::PER_BONE));
        for (slot, (&bone, planes)) in bones().enumerate() {
            let columns = &at.palette[usize::from(bone)].columns;
            let mut p = [zero; 4];
            for c in 0..4 {
                p[c] = planes[c].get(simd, part);
            }
            let slot = (slot, at.bones.len());
            at.corrections.add_to_influence(simd, slot, part, &mut p);
            for c in 0..4 {
                for row in 0..3 {
                    position[row] = simd.fma(p[c], simd.splat(columns[c][row]), position[row]);
                }
                if NORMAL_PLANES == linear_normals::VECTOR && c < 3 {
                    let n = planes[4 + c].get(simd, part);
                    for row in 0..3 {
                        normal[row] = simd.fma(n, simd.splat(columns[c][row]), normal[row]);
                    }
                }
            }
        }
        if NORMAL_PLANES >= linear_normals::TANGENTS {
            // A second pass, or nine sums would not fit into sixteen registers.
            let rows = NORMAL_PLANES / 2;
            let mut tangents = [[zero; 3]; 2];
            for (&bone, planes) in bones() {
                let columns = &at.palette[usize::from(bone)].columns;
                for (c, column) in columns.iter().enumerate().take(rows) {
                    let a = planes[4 + c].get(simd, part);
                    let b = planes[4 + rows + c].get(simd, part);
                    for row in 0..3 {
                        let entry = simd.splat(column[row]);
                        tangents[0][row] = simd.fma(a, entry, tangents[0][row]);
                        tangents[1][row] = simd.fma(b, entry, tangents[1][row]);
                    }
                }
            }
            normal = cross(simd, tangents[0], tangents[1]);
        }
        Posed { position, normal }
    }
}

/// Blends unit dual quaternions with signs against the block's first bone, which is the heaviest
/// of every vertex in the block.
#[derive(Clone, Copy)]
pub(super) struct DualQuaternions<const NORMALS: bool>;

impl<const NORMALS: bool> Program for DualQuaternions<NORMALS> {
    const NORMALS: bool = NORMALS;
    const FIXED: usize = if NORMALS { 6 } else { 3 };
    const PER_BONE: usize = 1;

    #[inline(always)]
    fn block<S: Simd, T: Stored>(simd: S, at: BlockView<'_, T>, part: usize) -> Posed<S::F> {
        let (fixed, weights) = at.planes.split_at(Self::FIXED);
        let zero = simd.splat(0.0);
        let Some(&pivot) = at.bones.first() else {
            // No bones: to the origin, as the plain evaluation does.
            return Posed {
                position: [zero; 3],
                normal: [zero; 3],
            };
        };
        let pivot = at.palette[usize::from(pivot)].columns[0];
        let mut real = [zero; 4];
        let mut dual = [zero; 4];
        for (&bone, weight) in at.bones.iter().zip(weights) {
            let [q, d, ..] = &at.palette[usize::from(bone)].columns;
            let dot: f32 = (0..4).map(|c| pivot[c] * q[c]).sum();
            let sign = if dot < 0.0 { -1.0 } else { 1.0 };
            let weight = simd.mul(weight.get(simd, part), simd.splat(sign));
            for c in 0..4 {
                real[c] = simd.fma(weight, simd.splat(q[c]), real[c]);
                dual[c] = simd.fma(weight, simd.splat(d[c]), dual[c]);
            }
        }
        let r = [real[0], real[1], real[2]];
        let t = [dual[0], dual[1], dual[2]];
        // The length of the real part divides out: no square root.
        let squared = simd.fma(real[3], real[3], dot3(simd, r, r));
        let scale = simd.div(simd.splat(2.0), squared);
        // v + scale (r × (r × v + w v) + w t − t_w r + r × t)
        let v = corrected_rest(simd, fixed, &at, part);
        let w = real[3];
        let mut moved = [zero; 3];
        for c in 0..3 {
            moved[c] = simd.fnma(dual[3], r[c], simd.mul(w, t[c]));
        }
        let start = cross_add(simd, r, t, moved);
        let position = turned(simd, r, w, v, start, scale);
        let mut normal = [zero; 3];
        if NORMALS {
            normal = turned(simd, r, w, xyz(simd, fixed, 3, part), [zero; 3], scale);
        }
        Posed { position, normal }
    }
}

/// Rest positions of a block plus its corrections.
#[inline(always)]
fn corrected_rest<S: Simd, T: Stored>(
    simd: S,
    fixed: &[T],
    at: &BlockView<'_, T>,
    part: usize,
) -> [S::F; 3] {
    let mut v = xyz(simd, fixed, 0, part);
    at.corrections.add_to_rest(simd, part, &mut v);
    v
}

#[inline(always)]
pub(super) fn dot3<S: Simd>(simd: S, a: [S::F; 3], b: [S::F; 3]) -> S::F {
    simd.fma(a[0], b[0], simd.fma(a[1], b[1], simd.mul(a[2], b[2])))
}

/// `a · b + start`.
#[inline(always)]
fn dot3_add<S: Simd>(simd: S, a: [S::F; 3], b: [S::F; 3], start: S::F) -> S::F {
    let sum = simd.fma(a[2], b[2], start);
    simd.fma(a[0], b[0], simd.fma(a[1], b[1], sum))
}

#[inline(always)]
fn cross<S: Simd>(simd: S, a: [S::F; 3], b: [S::F; 3]) -> [S::F; 3] {
    [
        simd.fnma(a[2], b[1], simd.mul(a[1], b[2])),
        simd.fnma(a[0], b[2], simd.mul(a[2], b[0])),
        simd.fnma(a[1], b[0], simd.mul(a[0], b[1])),
    ]
}

/// `a × b + start`.
#[inline(always)]
fn cross_add<S: Simd>(simd: S, a: [S::F; 3], b: [S::F; 3], start: [S::F; 3]) -> [S::F; 3] {
    [
        simd.fnma(a[2], b[1], simd.fma(a[1], b[2], start[0])),
        simd.fnma(a[0], b[2], simd.fma(a[2], b[0], start[1])),
        simd.fnma(a[1], b[0], simd.fma(a[0], b[1], start[2])),
    ]
}

/// `v + scale (r × (r × v + w v) + start)`: a quaternion's turn, not normalised.
#[inline(always)]
fn turned<S: Simd>(
    simd: S,
    r: [S::F; 3],
    w: S::F,
    v: [S::F; 3],
    start: [S::F; 3],
    scale: S::F,
) -> [S::F; 3] {
    let scaled = [simd.mul(w, v[0]), simd.mul(w, v[1]), simd.mul(w, v[2])];
    let inner = cross_add(simd, r, v, scaled);
    let sum = cross_add(simd, r, inner, start);
    [
        simd.fma(scale, sum[0], v[0]),
        simd.fma(scale, sum[1], v[1]),
        simd.fma(scale, sum[2], v[2]),
    ]
}

/// Three planes in a row. (No closures over arrays in this file: `map` and `from_fn` are not always
/// inlined, and then run without the instruction set; that cost up to a factor of three.)
#[inline(always)]
fn xyz<S: Simd, T: Stored>(simd: S, planes: &[T], first: usize, part: usize) -> [S::F; 3] {
    [
        planes[first].get(simd, part),
        planes[first + 1].get(simd, part),
        planes[first + 2].get(simd, part),
    ]
}
