//! Deformation gradients: how each triangle of a mesh was turned, stretched and sheared.

use glam::{DMat3, DVec3};

/// Two edges of a triangle from its first corner, and its normal with the length `√(2·area)`, which scales as the edges
/// do.
///
/// The third column makes the matrix of a proper triangle invertible, so that `D = B A⁻¹` takes one
/// triangle's matrix `A` to another's `B` (\[Wang07\] §3; \[Sumner04\] uses the same third direction).
pub fn triangle_frame(corners: [DVec3; 3]) -> DMat3 {
    let [e1, e2] = [corners[1] - corners[0], corners[2] - corners[0]];
    let normal = e1.cross(e2);
    // |e1 × e2| is twice the area.
    let length = normal.length().sqrt();
    DMat3::from_cols(e1, e2, normal.normalize_or_zero() * length)
}

/// The deformation gradient of every triangle between two shapes of a mesh, given by their positions.
///
/// `None` where the first shape's triangle has no area, or almost none compared with its edges: then its turn is
/// undefined.
///
/// ```
/// use dermis::mesh::deformation_gradients;
/// use glam::{DMat3, DVec3};
///
/// let rest = [DVec3::ZERO, DVec3::X, DVec3::Y];
/// let turned = rest.map(|p| DMat3::from_rotation_x(1.0) * p);
/// let found = deformation_gradients(&[[0, 1, 2]], &rest, &turned)[0].expect("it has an area");
/// assert!(found.abs_diff_eq(DMat3::from_rotation_x(1.0), 1e-12));
/// ```
///
/// # Panics
/// When a triangle names a position that does not exist.
pub fn deformation_gradients(
    triangles: &[[u32; 3]],
    rest: &[DVec3],
    posed: &[DVec3],
) -> Vec<Option<DMat3>> {
    let frame = |of: &[DVec3], triangle: [u32; 3]| triangle_frame(triangle.map(|i| of[i as usize]));
    triangles
        .iter()
        .map(|&triangle| {
            let inverse = inverse_frame(&frame(rest, triangle))?;
            Some(frame(posed, triangle) * inverse)
        })
        .collect()
}

/// The inverse of a triangle's frame, unless the triangle is flat.
pub(crate) fn inverse_frame(frame: &DMat3) -> Option<DMat3> {
    let [e1, e2, n] = [frame.x_axis, frame.y_axis, frame.z_axis];
    let longest = e1.length_squared().max(e2.length_squared());
    // |n|² is twice the area: a triangle a million times as long as high counts as flat.
    let is_proper = longest > 0.0 && n.length_squared() > 1e-6 * longest;
    is_proper.then(|| frame.inverse()).filter(|m| m.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gradient_takes_edges_to_edges_and_scales_with_the_shape() {
        let rest = [
            DVec3::new(0.3, -1.0, 2.0),
            DVec3::new(1.3, 0.0, 2.5),
            DVec3::new(-0.7, 1.0, 0.0),
        ];
        let triangles = [[0, 1, 2], [2, 0, 1]];
        let sheared = DMat3::from_cols(
            DVec3::new(1.0, 0.2, 0.0),
            DVec3::new(-0.3, 1.5, 0.1),
            DVec3::new(0.0, 0.4, 0.8),
        );
        let posed = rest.map(|p| sheared * p + DVec3::Y);
        for d in deformation_gradients(&triangles, &rest, &posed) {
            let d = d.expect("a proper triangle");
            for (a, b) in [(0, 1), (1, 2)] {
                let [before, after] = [rest[b] - rest[a], posed[b] - posed[a]];
                assert!((d * before).abs_diff_eq(after, 1e-12), "edge {a} {b}");
            }
        }
        let doubled = rest.map(|p| 2.0 * p);
        let d = deformation_gradients(&triangles, &rest, &doubled)[0].expect("proper");
        let expected = DMat3::from_diagonal(DVec3::splat(2.0));
        assert!(d.abs_diff_eq(expected, 1e-12), "also along the normal: {d}");
    }

    #[test]
    fn a_flat_triangle_has_no_gradient() {
        let line = [DVec3::ZERO, DVec3::X, DVec3::X * 2.0];
        assert_eq!(
            deformation_gradients(&[[0, 1, 2], [0, 0, 1]], &line, &line),
            [None, None],
            "no area"
        );
    }
}
