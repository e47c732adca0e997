//! Matrices and rotations for proxy bones, sixteen at a time, from `+ − × ÷ √` alone.
//!
//! Nothing here is fused and no sum changes its order with the width of registers, so that every
//! instruction set gives the same bits. Angles come from short series: see
//! [`elementary`](super::elementary) for the same in double precision.

use super::kernel::Simd;

/// A vector per lane.
pub(super) type Vector<S> = [<S as Simd>::F; 3];
/// A 3×3 matrix per lane, row by row.
pub(super) type Matrix<S> = [Vector<S>; 3];
/// A quaternion per lane: x, y, z, w.
pub(super) type Quaternion<S> = [<S as Simd>::F; 4];

const PI: f32 = std::f32::consts::PI;
/// `π − PI`, so that half a turn and a little keeps the little.
const PI_REST: f32 = -8.742_278e-8;

#[inline(always)]
pub(super) fn dot<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>) -> S::F {
    let sum = simd.add(simd.mul(a[0], b[0]), simd.mul(a[1], b[1]));
    simd.add(sum, simd.mul(a[2], b[2]))
}

#[inline(always)]
pub(super) fn scaled<S: Simd>(simd: S, a: Vector<S>, by: S::F) -> Vector<S> {
    [simd.mul(a[0], by), simd.mul(a[1], by), simd.mul(a[2], by)]
}

/// `m v`.
#[inline(always)]
pub(super) fn transform<S: Simd>(simd: S, m: &Matrix<S>, v: Vector<S>) -> Vector<S> {
    [dot(simd, m[0], v), dot(simd, m[1], v), dot(simd, m[2], v)]
}

/// `a b`.
#[inline(always)]
pub(super) fn multiply<S: Simd>(simd: S, a: &Matrix<S>, b: &Matrix<S>) -> Matrix<S> {
    let mut product = *a;
    for r in 0..3 {
        for c in 0..3 {
            product[r][c] = dot(simd, a[r], [b[0][c], b[1][c], b[2][c]]);
        }
    }
    product
}

#[inline(always)]
pub(super) fn transpose<F: Copy>(m: &[[F; 3]; 3]) -> [[F; 3]; 3] {
    let [a, b, c] = *m;
    [[a[0], b[0], c[0]], [a[1], b[1], c[1]], [a[2], b[2], c[2]]]
}

#[inline(always)]
fn cross<S: Simd>(simd: S, a: Vector<S>, b: Vector<S>) -> Vector<S> {
    let minor = |i: usize, j: usize| simd.sub(simd.mul(a[i], b[j]), simd.mul(a[j], b[i]));
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

/// `det(m) m⁻ᵀ`, whose row `r` is the cross product of the other two rows, and the determinant.
#[inline(always)]
pub(super) fn cofactors<S: Simd>(simd: S, m: &Matrix<S>) -> (Matrix<S>, S::F) {
    let of = [
        cross(simd, m[1], m[2]),
        cross(simd, m[2], m[0]),
        cross(simd, m[0], m[1]),
    ];
    (of, dot(simd, m[0], of[0]))
}

/// The nearest whole number, for numbers below two million: adding 1.5·2²³ leaves no bits for more.
#[inline(always)]
fn rounded<S: Simd>(simd: S, x: S::F) -> S::F {
    let large = simd.splat(12_582_912.0);
    simd.sub(simd.add(x, large), large)
}

/// `Σ c_n x^n`.
#[inline(always)]
fn series<S: Simd>(simd: S, x: S::F, coefficients: &[f32]) -> S::F {
    let mut sum = simd.splat(0.0);
    for &c in coefficients.iter().rev() {
        sum = simd.add(simd.mul(sum, x), simd.splat(c));
    }
    sum
}

/// `a b`.
#[inline(always)]
pub(super) fn quaternion_product<S: Simd>(
    simd: S,
    a: &Quaternion<S>,
    b: &Quaternion<S>,
) -> Quaternion<S> {
    let (p, q) = ([a[0], a[1], a[2]], [b[0], b[1], b[2]]);
    let across = cross(simd, p, q);
    let part = |c: usize| {
        let along = simd.add(simd.mul(a[3], q[c]), simd.mul(p[c], b[3]));
        simd.add(along, across[c])
    };
    let w = simd.sub(simd.mul(a[3], b[3]), dot(simd, p, q));
    [part(0), part(1), part(2), w]
}

/// The matrix of a unit quaternion.
#[inline(always)]
pub(super) fn rotation_matrix<S: Simd>(simd: S, q: &Quaternion<S>) -> Matrix<S> {
    let [x, y, z, w] = *q;
    let (x2, y2, z2) = (simd.add(x, x), simd.add(y, y), simd.add(z, z));
    let (xx, yy, zz) = (simd.mul(x, x2), simd.mul(y, y2), simd.mul(z, z2));
    let (xy, xz, yz) = (simd.mul(x, y2), simd.mul(x, z2), simd.mul(y, z2));
    let (wx, wy, wz) = (simd.mul(w, x2), simd.mul(w, y2), simd.mul(w, z2));
    let one = simd.splat(1.0);
    let diagonal = |a, b| simd.sub(one, simd.add(a, b));
    [
        [diagonal(yy, zz), simd.sub(xy, wz), simd.add(xz, wy)],
        [simd.add(xy, wz), diagonal(xx, zz), simd.sub(yz, wx)],
        [simd.sub(xz, wy), simd.add(yz, wx), diagonal(xx, yy)],
    ]
}

/// A unit quaternion of the rotation about `axis · angle`; either of the two that there are.
///
/// Half turns are taken off half the angle first, and a quaternion that loses one changes only its
/// sign: the series get at most `π/2`, where the first term that they leave out is below
/// 1e-8. Off by less than 3e-7 for a few turns.
#[inline(always)]
pub(super) fn exponential<S: Simd>(simd: S, vector: Vector<S>) -> Quaternion<S> {
    const SINE: [f32; 7] = [
        1.0,
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
    ];
    const COSINE: [f32; 7] = [
        1.0,
        -1.0 / 2.0,
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
    ];
    let angle = simd.sqrt(dot(simd, vector, vector));
    let half = simd.mul(angle, simd.splat(0.5));
    let taken = rounded(simd, simd.mul(half, simd.splat(1.0 / PI)));
    let left = simd.sub(half, simd.mul(taken, simd.splat(PI)));
    let left = simd.sub(left, simd.mul(taken, simd.splat(PI_REST)));
    let squared = simd.mul(left, left);
    // `left / angle` is exactly 1/2 where nothing was taken off; a turn of 0 has no axis to multiply.
    let tiny = simd.splat(1e-30);
    let divisor = simd.select_less(angle, tiny, tiny, angle);
    let along = simd.mul(series(simd, squared, &SINE), simd.div(left, divisor));
    let [x, y, z] = scaled(simd, vector, along);
    [x, y, z, series(simd, squared, &COSINE)]
}

/// A unit quaternion of a rotation matrix, `w` at least 0.
///
/// The products of all pairs of its four numbers stand in the matrix; those with the largest number
/// are divided by their length, so that nothing small is ever divided by.
#[inline(always)]
pub(super) fn quaternion_of<S: Simd>(simd: S, m: &Matrix<S>) -> Quaternion<S> {
    let one = simd.splat(1.0);
    let [[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]] = *m;
    let (p, n) = (simd.add(yy, zz), simd.sub(yy, zz));
    let squares = [
        simd.sub(simd.add(one, xx), p),
        simd.add(simd.sub(one, xx), n),
        simd.sub(simd.sub(one, xx), n),
        simd.add(simd.add(one, xx), p),
    ];
    let (wx, wy, wz) = (simd.sub(zy, yz), simd.sub(xz, zx), simd.sub(yx, xy));
    let (xy, xz, yz) = (simd.add(xy, yx), simd.add(xz, zx), simd.add(yz, zy));
    let candidates = [
        [squares[0], xy, xz, wx],
        [xy, squares[1], yz, wy],
        [xz, yz, squares[2], wz],
        [wx, wy, wz, squares[3]],
    ];
    let (mut largest, mut q) = (squares[0], candidates[0]);
    for k in 1..4 {
        for c in 0..4 {
            q[c] = simd.select_less(largest, squares[k], candidates[k][c], q[c]);
        }
        largest = simd.select_less(largest, squares[k], squares[k], largest);
    }
    let sum = simd.add(simd.mul(q[0], q[0]), simd.mul(q[1], q[1]));
    let sum = simd.add(simd.add(sum, simd.mul(q[2], q[2])), simd.mul(q[3], q[3]));
    let zero = simd.splat(0.0);
    let sign = simd.select_less(q[3], zero, simd.splat(-1.0), one);
    let scale = simd.div(sign, simd.sqrt(sum));
    for part in &mut q {
        *part = simd.mul(*part, scale);
    }
    q
}

/// Axis times angle of a unit quaternion whose `w` is at least 0: at most half a turn.
///
/// As [`elementary::rotation_vector`](super::elementary::rotation_vector): halving an angle is
/// algebra, and `tan(θ/8)` is at most 0.41. What the series leaves out is below 1e-8.
#[inline(always)]
pub(super) fn logarithm<S: Simd>(simd: S, q: &Quaternion<S>) -> Vector<S> {
    const ARCTANGENT: [f32; 9] = [
        1.0,
        -1.0 / 3.0,
        1.0 / 5.0,
        -1.0 / 7.0,
        1.0 / 9.0,
        -1.0 / 11.0,
        1.0 / 13.0,
        -1.0 / 15.0,
        1.0 / 17.0,
    ];
    let one = simd.splat(1.0);
    let quarter = scaled(simd, [q[0], q[1], q[2]], simd.div(one, simd.add(one, q[3])));
    let root = simd.sqrt(simd.add(one, dot(simd, quarter, quarter)));
    let eighth = scaled(simd, quarter, simd.div(one, simd.add(one, root)));
    let stretch = series(simd, dot(simd, eighth, eighth), &ARCTANGENT);
    scaled(simd, eighth, simd.mul(simd.splat(8.0), stretch))
}

/// Of all vectors that are the same rotation, the one nearest to `middle`: the twin of
/// [`nearest_branch`](crate::math::nearest_branch).
///
/// `middle_axis` has unit length or none. A turn below 1e-5 has no axis of its own here, because 32-bit
/// matrices cannot hold one.
#[inline(always)]
pub(super) fn nearest_branch<S: Simd>(
    simd: S,
    vector: Vector<S>,
    middle: Vector<S>,
    middle_axis: Vector<S>,
) -> Vector<S> {
    let angle = simd.sqrt(dot(simd, vector, vector));
    let small = simd.splat(1e-5);
    let inverse = simd.div(
        simd.splat(1.0),
        simd.select_less(angle, small, small, angle),
    );
    let mut axis = scaled(simd, vector, inverse);
    for c in 0..3 {
        axis[c] = simd.select_less(angle, small, middle_axis[c], axis[c]);
    }
    let missing = simd.sub(dot(simd, middle, axis), angle);
    let turns = rounded(simd, simd.mul(missing, simd.splat(0.5 / PI)));
    let more = simd.mul(turns, simd.splat(2.0 * PI));
    let mut nearest = vector;
    for c in 0..3 {
        nearest[c] = simd.add(vector[c], simd.mul(axis[c], more));
    }
    nearest
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DQuat, DVec3};
    use proptest::prelude::*;

    use super::super::kernel::Portable;
    use super::*;

    type Lanes = <Portable as Simd>::F;

    fn lanes(v: DVec3) -> [Lanes; 3] {
        v.to_array().map(|x| Portable.splat(x as f32))
    }

    fn vector(v: [Lanes; 3]) -> DVec3 {
        DVec3::from_array(v.map(|x| f64::from(x[0])))
    }

    fn matrix_lanes(m: DMat3) -> Matrix<Portable> {
        [0, 1, 2].map(|r| lanes(m.row(r)))
    }

    fn matrix(m: Matrix<Portable>) -> DMat3 {
        let rows = m.map(vector);
        DMat3::from_cols(rows[0], rows[1], rows[2]).transpose()
    }

    fn any_vector(size: f64) -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-size..size).prop_map(DVec3::from_array)
    }

    proptest! {
        #[test]
        fn exponentials_are_rotations(v in any_vector(9.0), small in 0..8i32) {
            let v = v * 0.1f64.powi(small);
            let q = exponential(Portable, lanes(v));
            let found = matrix(rotation_matrix(Portable, &q));
            let exact = DMat3::from_quat(DQuat::from_scaled_axis(v));
            prop_assert!(found.abs_diff_eq(exact, 2e-6), "{}: {} for {}", v, found, exact);
        }

        #[test]
        fn logarithms_come_out_near_the_middle(
            axis in any_vector(1.0),
            angle in -6.0..6.0f64,
            off in -2.9..2.9f64,
        ) {
            let axis = axis.normalize_or(DVec3::X);
            let angle = angle + 0.2f64.copysign(angle);
            let turned = DMat3::from_axis_angle(axis, angle);
            let q = quaternion_of(Portable, &matrix_lanes(turned));
            prop_assert!(q[3][0] >= 0.0, "the half with a positive w");
            let short = logarithm(Portable, &q);
            let middle = axis * (angle + off);
            let middle_axis = middle.normalize_or_zero();
            let found = vector(nearest_branch(Portable, short, lanes(middle), lanes(middle_axis)));
            prop_assert!(
                found.abs_diff_eq(axis * angle, 2e-5),
                "{} about {}: found {}", angle, axis, found
            );
        }

        #[test]
        fn quaternion_products_equal_matrix_products(a in any_vector(3.0), b in any_vector(3.0)) {
            let (p, q) = (exponential(Portable, lanes(a)), exponential(Portable, lanes(b)));
            let both = rotation_matrix(Portable, &quaternion_product(Portable, &p, &q));
            let (p, q) = (rotation_matrix(Portable, &p), rotation_matrix(Portable, &q));
            let found = matrix(multiply(Portable, &p, &q));
            // Nearly all are within 1e-6; of a million none was beyond this.
            prop_assert!(found.abs_diff_eq(matrix(both), 2e-6), "{} {}", a, b);
            let moved = vector(transform(Portable, &p, lanes(b)));
            let exact = DQuat::from_scaled_axis(a) * b;
            prop_assert!(moved.abs_diff_eq(exact, 5e-6), "{} for {}", moved, exact);
        }

        #[test]
        fn cofactors_invert(a in any_vector(1.0), b in any_vector(1.0), c in any_vector(1.0)) {
            let m = DMat3::from_cols(a, b, c);
            let (found, det) = cofactors(Portable, &matrix_lanes(m));
            prop_assert!((f64::from(det[0]) - m.determinant()).abs() < 1e-6, "determinant of {}", m);
            let identity = matrix(transpose(&found)) * m;
            let exact = DMat3::IDENTITY * m.determinant();
            prop_assert!(identity.abs_diff_eq(exact, 2e-6), "{} for {}", identity, exact);
        }
    }

    #[test]
    fn a_zero_turn_takes_the_axis_of_the_middle() {
        let none = exponential(Portable, lanes(DVec3::ZERO));
        assert_eq!(none.map(|x| x[0]), [0.0, 0.0, 0.0, 1.0], "no turn at all");
        let zero = logarithm(Portable, &none);
        assert_eq!(vector(zero), DVec3::ZERO, "and back");
        let middle = DVec3::new(0.0, 5.0, 0.0);
        let found = nearest_branch(Portable, zero, lanes(middle), lanes(DVec3::Y));
        let whole = DVec3::Y * std::f64::consts::TAU;
        assert!(vector(found).abs_diff_eq(whole, 1e-6), "a whole turn");
        let found = nearest_branch(Portable, zero, lanes(DVec3::ZERO), lanes(DVec3::ZERO));
        assert_eq!(vector(found), DVec3::ZERO, "nothing to be near to");
    }
}
