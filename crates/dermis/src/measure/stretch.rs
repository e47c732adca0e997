//! How unevenly a texture covers a surface.

use glam::{DVec2, DVec3};

/// L² texture stretch of a parametrised mesh (\[Sander01\] §3), 1 for an isometric map up to scale.
///
/// `Γ` and `γ` are the singular values of the map from UV to surface, per triangle; the result is
/// the area-weighted root mean square of `√((Γ² + γ²)/2)`, scaled so that the total areas in UV and
/// space agree. Infinite when a triangle with area in space has none in UV.
///
/// # Panics
/// When a triangle names a vertex that has no position or UV.
pub fn texture_stretch(positions: &[DVec3], uvs: &[DVec2], triangles: &[[u32; 3]]) -> f64 {
    let (mut stretch, mut space_area, mut uv_area) = (0.0, 0.0, 0.0);
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        let [s, t, u] = triangle.map(|v| uvs[v as usize]);
        let area = 0.5 * (b - a).cross(c - a).length();
        if area == 0.0 {
            continue;
        }
        let doubled_uv = (t - s).perp_dot(u - s);
        // Derivatives of the surface point along the two UV axes.
        let ds = (a * (t.y - u.y) + b * (u.y - s.y) + c * (s.y - t.y)) / doubled_uv;
        let dt = (a * (u.x - t.x) + b * (s.x - u.x) + c * (t.x - s.x)) / doubled_uv;
        stretch += area * 0.5 * (ds.length_squared() + dt.length_squared());
        space_area += area;
        uv_area += 0.5 * doubled_uv.abs();
    }
    if space_area == 0.0 {
        return 1.0;
    }
    let value = (stretch / space_area).sqrt() * (uv_area / space_area).sqrt();
    if value.is_finite() {
        value
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

    fn square(width: f64) -> [DVec3; 4] {
        [[0.0, 0.0], [width, 0.0], [width, 1.0], [0.0, 1.0]].map(|[x, y]| DVec3::new(x, y, 0.0))
    }

    #[test]
    fn a_scaled_copy_has_stretch_one_and_a_squeezed_one_more() {
        let uvs = square(1.0).map(|p| 0.1 * p.truncate());
        let even = texture_stretch(&square(1.0), &uvs, &SQUARE);
        assert!((even - 1.0).abs() < 1e-12, "found {even}");
        // Twice as wide as its texture: Γ² = 4/2, γ² = 1/2 after equalising areas.
        let wide = texture_stretch(&square(2.0), &uvs, &SQUARE);
        assert!((wide - 1.25f64.sqrt()).abs() < 1e-12, "found {wide}");
    }

    #[test]
    fn a_triangle_without_uv_area_stretches_infinitely() {
        let flat = [DVec2::ZERO; 4];
        assert_eq!(
            texture_stretch(&square(1.0), &flat, &SQUARE),
            f64::INFINITY,
            "collapsed"
        );
    }
}
