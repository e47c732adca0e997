//! Squared distances from the planes of triangles, in every sample pose: what a vertex may do without being seen.
//!
//! A quadric is `xᵀAx + 2bᵀx + c` for each pose (\[Garland97\]), the mean over poses being the cost of a place: each pose
//! measures from its own plane, so that sliding along the surface is free, as it is for the eye. (One foot point for
//! all poses, the L2,2 quadric, costs more or the same.)

use glam::DVec3;

use super::lanes::{LANES, Lanes, Lanes3, Lanes9, ZERO, cross3, dot3, lane, sub3, sum, transform};

/// `A` as xx xy xz yy yz zz, then `b`, then `c`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quadric(pub(super) [Lanes; 10]);

impl Quadric {
    pub(super) const NONE: Self = Self([ZERO; 10]);

    /// Adds the squared distance from the plane through `point` across unit vectors `normal`, times `weight`.
    #[inline(always)]
    pub(super) fn add_plane(&mut self, normal: &Lanes3, point: &Lanes3, weight: &Lanes) {
        let offset = dot3(normal, point);
        let [x, y, z] = normal;
        for k in 0..LANES {
            let w = weight[k];
            let d = -offset[k];
            let q = &mut self.0;
            q[0][k] += w * x[k] * x[k];
            q[1][k] += w * x[k] * y[k];
            q[2][k] += w * x[k] * z[k];
            q[3][k] += w * y[k] * y[k];
            q[4][k] += w * y[k] * z[k];
            q[5][k] += w * z[k] * z[k];
            q[6][k] += w * d * x[k];
            q[7][k] += w * d * y[k];
            q[8][k] += w * d * z[k];
            q[9][k] += w * d * d;
        }
    }

    /// Adds the squared distance from a point, times `weight`.
    #[inline(always)]
    pub(super) fn add_point(&mut self, point: &Lanes3, weight: &Lanes) {
        let square = dot3(point, point);
        let q = &mut self.0;
        for k in 0..LANES {
            let w = weight[k];
            q[0][k] += w;
            q[3][k] += w;
            q[5][k] += w;
            q[6][k] -= w * point[0][k];
            q[7][k] -= w * point[1][k];
            q[8][k] -= w * point[2][k];
            q[9][k] += w * square[k];
        }
    }

    #[inline(always)]
    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut result = Self::NONE;
        for n in 0..10 {
            for k in 0..LANES {
                result.0[n][k] = self.0[n][k] + other.0[n][k];
            }
        }
        result
    }

    /// The area that was added up in each pose, times the weight of the pose: normals have unit length, so it is the
    /// trace of `A`, but for what pulls to the old place.
    pub(super) fn areas(&self) -> Lanes {
        let mut areas = ZERO;
        for k in 0..LANES {
            areas[k] = self.0[0][k] + self.0[3][k] + self.0[5][k];
        }
        areas
    }

    /// `A x + b` in each pose: half of the gradient.
    #[inline(always)]
    pub(super) fn half_gradient(&self, x: &Lanes3) -> Lanes3 {
        let q = &self.0;
        let mut result = [ZERO; 3];
        for k in 0..LANES {
            let (a, b, c) = (x[0][k], x[1][k], x[2][k]);
            result[0][k] = q[0][k] * a + q[1][k] * b + q[2][k] * c + q[6][k];
            result[1][k] = q[1][k] * a + q[3][k] * b + q[4][k] * c + q[7][k];
            result[2][k] = q[2][k] * a + q[4][k] * b + q[5][k] * c + q[8][k];
        }
        result
    }

    /// `A x` in each pose.
    #[inline(always)]
    pub(super) fn linear(&self, x: &Lanes3) -> Lanes3 {
        let q = &self.0;
        let mut result = [ZERO; 3];
        for k in 0..LANES {
            let (a, b, c) = (x[0][k], x[1][k], x[2][k]);
            result[0][k] = q[0][k] * a + q[1][k] * b + q[2][k] * c;
            result[1][k] = q[1][k] * a + q[3][k] * b + q[4][k] * c;
            result[2][k] = q[2][k] * a + q[4][k] * b + q[5][k] * c;
        }
        result
    }

    /// The value, summed over poses; rounding never makes it negative.
    #[inline(always)]
    pub(super) fn value(&self, x: &Lanes3) -> f64 {
        let q = &self.0;
        let gradient = self.half_gradient(x);
        let mut each = ZERO;
        for k in 0..LANES {
            each[k] = (gradient[0][k] + q[6][k]) * x[0][k]
                + (gradient[1][k] + q[7][k]) * x[1][k]
                + (gradient[2][k] + q[8][k]) * x[2][k]
                + q[9][k];
        }
        sum(&each).max(0.0)
    }

    /// Where on the line from `a` (0) to `b` (1) the value is least, within the two.
    #[inline(always)]
    pub(super) fn best_between(&self, a: &Lanes3, b: &Lanes3) -> f64 {
        let along = sub3(b, a);
        let slope = sum(&dot3(&along, &self.half_gradient(a)));
        let curve = sum(&dot3(&along, &self.linear(&along)));
        match curve > 0.0 {
            true => (-slope / curve).clamp(0.0, 1.0),
            false => 0.5,
        }
    }

    /// The normal equations of `base + M δ` for one δ in all poses: `(Σ MᵀAM, −Σ Mᵀ(A base + b))`.
    #[inline(always)]
    pub(super) fn normal_equations(&self, matrix: &Lanes9, base: &Lanes3) -> ([f64; 6], DVec3) {
        let q = &self.0;
        let m = matrix;
        let mut products = [ZERO; 6];
        for k in 0..LANES {
            let a = [
                [q[0][k], q[1][k], q[2][k]],
                [q[1][k], q[3][k], q[4][k]],
                [q[2][k], q[4][k], q[5][k]],
            ];
            let mut am = [[0.0; 3]; 3];
            for r in 0..3 {
                for c in 0..3 {
                    am[r][c] = a[r][0] * m[c][k] + a[r][1] * m[3 + c][k] + a[r][2] * m[6 + c][k];
                }
            }
            let entry = |i: usize, j: usize| {
                m[i][k] * am[0][j] + m[3 + i][k] * am[1][j] + m[6 + i][k] * am[2][j]
            };
            products[0][k] = entry(0, 0);
            products[1][k] = entry(0, 1);
            products[2][k] = entry(0, 2);
            products[3][k] = entry(1, 1);
            products[4][k] = entry(1, 2);
            products[5][k] = entry(2, 2);
        }
        let gradient = self.half_gradient(base);
        let mut right = [ZERO; 3];
        for (c, right) in right.iter_mut().enumerate() {
            for k in 0..LANES {
                right[k] = -(m[c][k] * gradient[0][k]
                    + m[3 + c][k] * gradient[1][k]
                    + m[6 + c][k] * gradient[2][k]);
            }
        }
        let right = DVec3::new(sum(&right[0]), sum(&right[1]), sum(&right[2]));
        ([0, 1, 2, 3, 4, 5].map(|n| sum(&products[n])), right)
    }
}

/// Normals, unit where the triangle has area, and areas of a triangle in every pose.
#[inline(always)]
pub(super) fn unit_normals(corners: [&Lanes3; 3]) -> (Lanes3, Lanes) {
    let [a, b, c] = corners;
    let mut normal = cross3(&sub3(b, a), &sub3(c, a));
    let mut areas = ZERO;
    for k in 0..LANES {
        let length = lane(&normal, k).length();
        areas[k] = 0.5 * length;
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        for coordinate in &mut normal {
            coordinate[k] *= scale;
        }
    }
    (normal, areas)
}

/// What a wedge's attributes cost when its point moves in rest space, and what they are best there.
///
/// Over the triangles around it, attribute `n` is `g·x + d` (\[Hoppe99\]). With the best value at `x`, the mean of
/// those, the cost is the variance of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttributeQuadric {
    /// `Σ λ (g·x + d)²` as xx xy xz yy yz zz, b, c, all attributes together.
    square: [f64; 10],
    /// `Σ (g, d)` for every attribute.
    pub(super) sums: Vec<[f64; 4]>,
    /// The area that was added up.
    pub(super) weight: f64,
}

impl AttributeQuadric {
    pub(super) fn none(width: usize) -> Self {
        Self {
            square: [0.0; 10],
            sums: vec![[0.0; 4]; width],
            weight: 0.0,
        }
    }

    /// Adds attribute `n` of a triangle with this much area; `importance` is what a squared difference costs.
    pub(super) fn add(&mut self, n: usize, g: DVec3, d: f64, area: f64, importance: f64) {
        let w = area * importance;
        if w > 0.0 {
            let terms = [
                g.x * g.x,
                g.x * g.y,
                g.x * g.z,
                g.y * g.y,
                g.y * g.z,
                g.z * g.z,
                g.x * d,
                g.y * d,
                g.z * d,
                d * d,
            ];
            for (sum, term) in self.square.iter_mut().zip(terms) {
                *sum += w * term;
            }
        }
        let sums = &mut self.sums[n];
        for (sum, term) in sums.iter_mut().zip([g.x, g.y, g.z, d]) {
            *sum += area * term;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (sum, more) in self.square.iter_mut().zip(&other.square) {
            *sum += more;
        }
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            for c in 0..4 {
                sum[c] += more[c];
            }
        }
        self.weight += other.weight;
    }

    /// The best value of attribute `n` at `x` over two quadrics; `None` where they know nothing.
    pub(super) fn best(pair: [&Self; 2], n: usize, x: DVec3) -> Option<f64> {
        let weight = pair[0].weight + pair[1].weight;
        let [a, b] = pair.map(|q| q.sums[n]);
        let value = (a[0] + b[0]) * x.x + (a[1] + b[1]) * x.y + (a[2] + b[2]) * x.z + a[3] + b[3];
        (weight > 0.0).then(|| value / weight)
    }

    /// The cost at `x` when two quadrics become one and every attribute takes its best value.
    pub(super) fn cost(pair: [&Self; 2], importances: &[f64], x: DVec3) -> f64 {
        let square = |n: usize| pair[0].square[n] + pair[1].square[n];
        let ax = DVec3::new(
            square(0) * x.x + square(1) * x.y + square(2) * x.z,
            square(1) * x.x + square(3) * x.y + square(4) * x.z,
            square(2) * x.x + square(4) * x.y + square(5) * x.z,
        );
        let b = DVec3::new(square(6), square(7), square(8));
        let mut cost = x.dot(ax + 2.0 * b) + square(9);
        let weight = pair[0].weight + pair[1].weight;
        for (n, &importance) in importances.iter().enumerate() {
            if importance > 0.0
                && let Some(best) = Self::best(pair, n, x)
            {
                cost -= importance * weight * best * best;
            }
        }
        cost.max(0.0)
    }
}

/// The bone matrices of all sample poses, ready for blending.
#[derive(Debug, Clone)]
pub(super) struct BoneLanes {
    /// `N = G Ĝ⁻¹`: the linear part, row by row, and the translation.
    pub(super) linear: Lanes9,
    pub(super) translation: Lanes3,
}

/// `Σ w N` of some bones: the linear part and the translation.
#[inline(always)]
pub(super) fn blend_bones<'a>(
    terms: impl Iterator<Item = (f64, &'a BoneLanes)>,
) -> (Lanes9, Lanes3) {
    let mut linear = [ZERO; 9];
    let mut translation = [ZERO; 3];
    for (w, bone) in terms {
        for n in 0..9 {
            for k in 0..LANES {
                linear[n][k] += w * bone.linear[n][k];
            }
        }
        for n in 0..3 {
            for k in 0..LANES {
                translation[n][k] += w * bone.translation[n][k];
            }
        }
    }
    (linear, translation)
}

/// `M x + t`.
#[inline(always)]
pub(super) fn place(matrix: &(Lanes9, Lanes3), x: DVec3) -> Lanes3 {
    let mut result = transform(&matrix.0, x);
    super::lanes::add3(&mut result, &matrix.1);
    result
}

#[cfg(test)]
mod tests {
    use super::super::lanes::ZERO3;
    use super::*;
    use glam::{DAffine3, DQuat};

    /// Numbers between -1 and 1 that look random.
    fn unit(n: usize) -> f64 {
        ((n as f64 * 12.9898).sin() * 43_758.545).fract()
    }

    fn points(from: usize) -> Lanes3 {
        let mut lanes = ZERO3;
        for (axis, coordinate) in lanes.iter_mut().enumerate() {
            for (k, value) in coordinate.iter_mut().enumerate() {
                *value = unit(from + 3 * k + axis);
            }
        }
        lanes
    }

    /// The squared distance from a triangle's plane with one foot for all poses: lengths and angles are means over poses.
    fn with_one_foot(corners: [&Lanes3; 3], x: &Lanes3, weights: &Lanes) -> f64 {
        let mean = |u: &Lanes3, v: &Lanes3| {
            let products = dot3(u, v);
            let weighted = products.iter().zip(weights).map(|(p, w)| p * w);
            weighted.sum::<f64>()
        };
        let [a, b, c] = corners;
        let (e, f, d) = (sub3(b, a), sub3(c, a), sub3(x, a));
        let (ee, ef, ff) = (mean(&e, &e), mean(&e, &f), mean(&f, &f));
        let (de, df) = (mean(&d, &e), mean(&d, &f));
        let (s, t) = (
            (de * ff - df * ef) / (ee * ff - ef * ef),
            (df * ee - de * ef) / (ee * ff - ef * ef),
        );
        mean(&d, &d) - s * de - t * df
    }

    fn with_own_feet(corners: [&Lanes3; 3], x: &Lanes3, weights: &Lanes) -> f64 {
        let mut quadric = Quadric::NONE;
        quadric.add_plane(&unit_normals(corners).0, corners[0], weights);
        quadric.value(x)
    }

    /// L4: each pose may choose its own foot, so it costs no more than one foot for all, and as much on one bone.
    #[test]
    fn fact_l4_a_foot_in_every_pose_costs_no_more_than_one_for_all() {
        let weights = std::array::from_fn(|k| (1.0 + k as f64) / 136.0);
        for n in 0..200 {
            let at = |m: usize| points(1000 * n + 100 * m);
            let (a, b, c, x) = (at(0), at(1), at(2), at(3));
            let corners = [&a, &b, &c];
            let own = with_own_feet(corners, &x, &weights);
            let one = with_one_foot(corners, &x, &weights);
            assert!(own <= one * (1.0 + 1e-9), "{n}: {own} and {one}");
        }
        for n in 0..50 {
            let at = |m: usize| {
                let place = DVec3::from_array(std::array::from_fn(|i| unit(1000 * n + 7 * m + i)));
                let mut lanes = ZERO3;
                for k in 0..LANES {
                    let axis = DVec3::new(unit(k), unit(k + 50), unit(k + 99));
                    let turn = DQuat::from_scaled_axis(axis);
                    let moved = DAffine3::from_rotation_translation(turn, 3.0 * axis);
                    let moved = moved.transform_point3(place);
                    (0..3).for_each(|c| lanes[c][k] = moved[c]);
                }
                lanes
            };
            let (a, b, c, x) = (at(0), at(1), at(2), at(3));
            let corners = [&a, &b, &c];
            let own = with_own_feet(corners, &x, &weights);
            let one = with_one_foot(corners, &x, &weights);
            assert!((own - one).abs() < 1e-9, "{n}: {own} and {one} on one bone");
        }
    }
}
