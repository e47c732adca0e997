//! Small 3D algebra on many poses at once: lane `k` of every number is of pose `k`.
//!
//! Loops over lanes are what compilers turn into SIMD; nothing is summed across lanes but by [`sum`], in a fixed order.

use glam::{DMat3, DVec3};

/// How many poses are worked on side by side.
pub(super) const LANES: usize = 16;

/// One number in every pose.
pub(super) type Lanes = [f64; LANES];
/// A vector in every pose, coordinate by coordinate.
pub(super) type Lanes3 = [Lanes; 3];
/// A 3×3 matrix in every pose: row by row.
pub(super) type Lanes9 = [Lanes; 9];

/// Runs loops over lanes on the widest vectors of this processor; only what is inlined into `work` gains. Lanes are
/// independent and [`sum`] has a fixed order, so results are the same on all of them.
#[inline(always)]
pub(super) fn wide<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

pub(super) const ZERO: Lanes = [0.0; LANES];
pub(super) const ZERO3: Lanes3 = [ZERO; 3];

/// `Σ_k a_k`, in pairs, so that it has the same bits with any width of SIMD.
#[inline(always)]
pub(super) fn sum(a: &Lanes) -> f64 {
    let mut half = [0.0; LANES / 2];
    for k in 0..LANES / 2 {
        half[k] = a[k] + a[k + LANES / 2];
    }
    let mut quarter = [0.0; LANES / 4];
    for k in 0..LANES / 4 {
        quarter[k] = half[k] + half[k + LANES / 4];
    }
    (quarter[0] + quarter[2]) + (quarter[1] + quarter[3])
}

/// The vector of one pose.
#[inline(always)]
pub(super) fn lane(a: &Lanes3, k: usize) -> DVec3 {
    DVec3::new(a[0][k], a[1][k], a[2][k])
}

/// `a + t (b − a)`.
#[inline(always)]
pub(super) fn lerp3(a: &Lanes3, b: &Lanes3, t: f64) -> Lanes3 {
    let mut result = ZERO3;
    for c in 0..3 {
        for k in 0..LANES {
            result[c][k] = a[c][k] + t * (b[c][k] - a[c][k]);
        }
    }
    result
}

#[inline(always)]
pub(super) fn sub3(a: &Lanes3, b: &Lanes3) -> Lanes3 {
    let mut result = ZERO3;
    for c in 0..3 {
        for k in 0..LANES {
            result[c][k] = a[c][k] - b[c][k];
        }
    }
    result
}

#[inline(always)]
pub(super) fn cross3(a: &Lanes3, b: &Lanes3) -> Lanes3 {
    let mut result = ZERO3;
    for k in 0..LANES {
        result[0][k] = a[1][k] * b[2][k] - a[2][k] * b[1][k];
        result[1][k] = a[2][k] * b[0][k] - a[0][k] * b[2][k];
        result[2][k] = a[0][k] * b[1][k] - a[1][k] * b[0][k];
    }
    result
}

#[inline(always)]
pub(super) fn dot3(a: &Lanes3, b: &Lanes3) -> Lanes {
    let mut result = ZERO;
    for k in 0..LANES {
        result[k] = a[0][k] * b[0][k] + a[1][k] * b[1][k] + a[2][k] * b[2][k];
    }
    result
}

/// `M x` with one vector for all poses.
#[inline(always)]
pub(super) fn transform(matrix: &Lanes9, x: DVec3) -> Lanes3 {
    let mut result = ZERO3;
    for row in 0..3 {
        for k in 0..LANES {
            result[row][k] = matrix[3 * row][k] * x.x
                + matrix[3 * row + 1][k] * x.y
                + matrix[3 * row + 2][k] * x.z;
        }
    }
    result
}

/// `a += b`.
#[inline(always)]
pub(super) fn add3(a: &mut Lanes3, b: &Lanes3) {
    for c in 0..3 {
        for k in 0..LANES {
            a[c][k] += b[c][k];
        }
    }
}

/// Solves a symmetric 3×3 system with a ridge; `None` when it is not positive definite.
#[inline(always)]
pub(super) fn solve_symmetric(matrix: [f64; 6], right: DVec3, ridge: f64) -> Option<DVec3> {
    let [xx, xy, xz, yy, yz, zz] = matrix;
    let r = ridge * (xx + yy + zz);
    let full = DMat3::from_cols(
        DVec3::new(xx + r, xy, xz),
        DVec3::new(xy, yy + r, yz),
        DVec3::new(xz, yz, zz + r),
    );
    let determinant = full.determinant();
    let trace = xx + yy + zz;
    if determinant.is_nan() || determinant <= 1e-30 * trace * trace * trace {
        return None;
    }
    let solved = full.inverse() * right;
    solved.is_finite().then_some(solved)
}
