//! Normals from faces.

use glam::DVec3;

/// Normal of each triangle with twice its area as length; zero for a degenerate one.
pub fn triangle_normals(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    triangles
        .iter()
        .map(|&[a, b, c]| {
            let [a, b, c] = [a, b, c].map(|v| positions[v as usize]);
            (b - a).cross(c - a)
        })
        .collect()
}

/// Unit normal of each vertex: the area-weighted mean of its triangles' normals.
///
/// A vertex without triangles, or whose triangles cancel, gets a zero normal.
pub fn vertex_normals(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for (normal, triangle) in triangle_normals(positions, triangles).iter().zip(triangles) {
        for &v in triangle {
            sums[v as usize] += normal;
        }
    }
    sums.iter().map(|n| n.normalize_or_zero()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    ///  3 --- 2      two triangles in the xy plane, seen from +z
    ///  |  /  |
    ///  0 --- 1      4: a point on its own
    /// ```
    #[test]
    fn normals_of_a_flat_square_point_up_and_a_lone_point_has_none() {
        let square = [
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(1.0, 1.0, 0.0),
            DVec3::Y,
            DVec3::splat(9.0),
        ];
        let normals = vertex_normals(&square, &[[0, 1, 2], [0, 2, 3]]);
        assert_eq!(&normals[..4], [DVec3::Z; 4], "the square faces +z");
        assert_eq!(normals[4], DVec3::ZERO, "no triangle, no normal");
    }
}
