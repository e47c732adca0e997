//! How much a flat chart differs from its surface.
//!
//! Sander's texture stretch, from metrics alone: with UV edges `d1`, `d2`, `D = det(d1, d2)` and
//! `N = ee |d2|² − 2 ef d1·d2 + ff |d1|²`, the mean square of the singular values of the map from UV to surface is
//! `N / 2D²`. It is linear in the metric, so with mean metrics it is the mean over poses.

use glam::DVec2;

use super::piece::EdgeProducts;

/// `N` and `D` of one triangle, as in the module's text.
fn parts(metric: EdgeProducts, corners: [DVec2; 3]) -> (f64, f64) {
    let d1 = corners[1] - corners[0];
    let d2 = corners[2] - corners[0];
    let n = metric.ee * d2.length_squared() - 2.0 * metric.ef * d1.dot(d2)
        + metric.ff * d1.length_squared();
    (n.max(0.0), d1.perp_dot(d2))
}

/// The mean square of a triangle's two singular values from UV to surface, `N / 2D²`; infinite if it is not
/// anticlockwise in UV.
pub(crate) fn squared_stretch(metric: EdgeProducts, corners: [DVec2; 3]) -> f64 {
    let (n, d) = parts(metric, corners);
    if d > 0.0 {
        0.5 * n / (d * d)
    } else {
        f64::INFINITY
    }
}

/// Sums over a set of triangles from which its stretch follows; add them up for a larger set.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct StretchSums {
    /// `Σ A N / 2D²`; infinite if a triangle with area is flipped or flat in UV.
    pub(crate) stretch: f64,
    /// Area in UV.
    pub(crate) uv_area: f64,
    /// Area on the surface.
    pub(crate) area: f64,
}

impl StretchSums {
    /// The sums of some triangles.
    pub(crate) fn new(triangles: &[[u32; 3]], metrics: &[EdgeProducts], uvs: &[DVec2]) -> Self {
        let mut sums = Self::default();
        for (corners, &metric) in triangles.iter().zip(metrics) {
            let corners = corners.map(|vertex| uvs[vertex as usize]);
            let area = metric.area();
            if area > 0.0 {
                sums.stretch += area * squared_stretch(metric, corners);
            }
            sums.uv_area += 0.5 * parts(metric, corners).1.abs();
            sums.area += area;
        }
        sums
    }

    /// The L2 stretch: at least 1, and 1 only for an isometry up to one scale; 1 for a set without area.
    pub(crate) fn l2(&self) -> f64 {
        if self.area > 0.0 {
            (self.stretch * self.uv_area).sqrt() / self.area
        } else {
            1.0
        }
    }

    /// The factor for the UVs with which the stretch is spread best, `(stretch / uv_area)^¼`.
    pub(crate) fn best_scale(&self) -> f64 {
        (self.stretch / self.uv_area).powf(0.25)
    }
}

/// The largest stretch (root of the mean square) of a triangle after the best scale of the whole, and its number;
/// triangles for which `skip` holds do not count. 1 if none does.
pub(crate) fn worst_stretch(
    triangles: &[[u32; 3]],
    metrics: &[EdgeProducts],
    uvs: &[DVec2],
    skip: impl Fn(usize) -> bool,
) -> (f64, Option<usize>) {
    let scale = StretchSums::new(triangles, metrics, uvs).best_scale();
    let mut worst = (1.0, None);
    for (index, (corners, &metric)) in triangles.iter().zip(metrics).enumerate() {
        if skip(index) {
            continue;
        }
        let corners = corners.map(|vertex| uvs[vertex as usize]);
        let stretch = squared_stretch(metric, corners).sqrt() / scale;
        if worst.1.is_none() || stretch > worst.0 {
            worst = (stretch, Some(index));
        }
    }
    worst
}

/// The symmetric Dirichlet energy `Σ A N (1/4A² + 1/D²)`, 4 times the area for an isometry; triangles without area do
/// not count. The descent works on Jacobians instead, and is tested against this.
#[cfg(test)]
pub(crate) fn symmetric_dirichlet(
    triangles: &[[u32; 3]],
    metrics: &[EdgeProducts],
    uvs: &[DVec2],
) -> f64 {
    let mut sum = 0.0;
    for (corners, &metric) in triangles.iter().zip(metrics) {
        let area = metric.area();
        if area > 0.0 {
            let (n, d) = parts(metric, corners.map(|vertex| uvs[vertex as usize]));
            sum += if d > 0.0 {
                area * n * (0.25 / (area * area) + 1.0 / (d * d))
            } else {
                f64::INFINITY
            };
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DVec3};

    use super::*;
    use crate::param::shapes::Chance;

    fn products(p: [DVec3; 3]) -> EdgeProducts {
        let (e, f) = (p[1] - p[0], p[2] - p[0]);
        EdgeProducts {
            ee: e.dot(e),
            ef: e.dot(f),
            ff: f.dot(f),
        }
    }

    /// Half the squared Frobenius norm of the 3 by 2 Jacobian from UV to space, as written in textbooks.
    fn naive(p: [DVec3; 3], u: [DVec2; 3]) -> f64 {
        let double = (u[1] - u[0]).perp_dot(u[2] - u[0]);
        let by_s = (p[0] * (u[1].y - u[2].y) + p[1] * (u[2].y - u[0].y) + p[2] * (u[0].y - u[1].y))
            / double;
        let by_t = (p[0] * (u[2].x - u[1].x) + p[1] * (u[0].x - u[2].x) + p[2] * (u[1].x - u[0].x))
            / double;
        0.5 * (by_s.length_squared() + by_t.length_squared())
    }

    fn anticlockwise(chance: &mut Chance) -> [DVec2; 3] {
        loop {
            let u = [(); 3].map(|()| DVec2::new(chance.signed(), chance.signed()));
            if (u[1] - u[0]).perp_dot(u[2] - u[0]) > 0.05 {
                return u;
            }
        }
    }

    fn corner(chance: &mut Chance) -> DVec3 {
        DVec3::new(chance.signed(), chance.signed(), chance.signed())
    }

    #[test]
    fn p1_stretch_is_that_of_the_jacobian_in_space() {
        let mut chance = Chance::new(1);
        for _ in 0..1000 {
            let p = [(); 3].map(|()| corner(&mut chance));
            let u = anticlockwise(&mut chance);
            let (found, wanted) = (squared_stretch(products(p), u), naive(p, u));
            assert!((found - wanted).abs() <= 1e-12 * wanted, "{found} {wanted}");
        }
    }

    #[test]
    fn p3_stretch_of_mean_metrics_is_mean_stretch() {
        let mut chance = Chance::new(2);
        for _ in 0..200 {
            let u = anticlockwise(&mut chance);
            let rest = [(); 3].map(|()| corner(&mut chance));
            let mut mean = EdgeProducts {
                ee: 0.0,
                ef: 0.0,
                ff: 0.0,
            };
            let mut wanted = 0.0;
            for _ in 0..5 {
                let bend = DMat3::from_cols(
                    corner(&mut chance),
                    corner(&mut chance),
                    corner(&mut chance),
                );
                let posed = rest.map(|p| bend * p);
                let one = products(posed);
                mean.ee += one.ee / 5.0;
                mean.ef += one.ef / 5.0;
                mean.ff += one.ff / 5.0;
                wanted += naive(posed, u) / 5.0;
            }
            let found = squared_stretch(mean, u);
            assert!((found - wanted).abs() <= 1e-11 * wanted, "{found} {wanted}");
        }
    }

    #[test]
    fn p4_stretch_is_at_least_1_and_1_for_a_scaled_copy() {
        let mut chance = Chance::new(3);
        for _ in 0..500 {
            let metrics: Vec<EdgeProducts> = (0..2)
                .map(|_| products([(); 3].map(|()| corner(&mut chance))))
                .collect();
            let uvs: Vec<DVec2> = (0..2).flat_map(|_| anticlockwise(&mut chance)).collect();
            let sums = StretchSums::new(&[[0, 1, 2], [3, 4, 5]], &metrics, &uvs);
            assert!(sums.l2() >= 1.0 - 1e-12, "{}", sums.l2());
            let copies: Vec<EdgeProducts> = [0, 3]
                .map(|k| products([0, 1, 2].map(|c| (7.0 * uvs[k + c]).extend(2.0))))
                .to_vec();
            let sums = StretchSums::new(&[[0, 1, 2], [3, 4, 5]], &copies, &uvs);
            assert!((sums.l2() - 1.0).abs() < 1e-12, "{}", sums.l2());
            assert!(
                (sums.best_scale() - 7.0).abs() < 1e-10,
                "the scale is found"
            );
            let (worst, _) = worst_stretch(&[[0, 1, 2], [3, 4, 5]], &copies, &uvs, |_| false);
            assert!((worst - 1.0).abs() < 1e-10, "{worst}");
        }
    }

    #[test]
    fn symmetric_dirichlet_is_4_times_the_area_of_an_isometry() {
        let uvs = [DVec2::ZERO, DVec2::new(2.0, 0.0), DVec2::new(0.5, 1.0)];
        let metric = products(uvs.map(|u| u.extend(0.0)));
        let energy = symmetric_dirichlet(&[[0, 1, 2]], &[metric], &uvs);
        assert!((energy - 4.0).abs() < 1e-12, "area 1: {energy}");
        let flipped = symmetric_dirichlet(&[[0, 2, 1]], &[metric], &uvs);
        assert_eq!(flipped, f64::INFINITY, "a flip costs everything");
    }
}
