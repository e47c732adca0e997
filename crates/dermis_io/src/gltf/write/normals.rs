//! Normals that a validator accepts: present, and of unit length.

use dermis::mesh::DrawPart;
use glam::{DQuat, DVec3, Vec3};

/// The unit normals of a part's drawn vertices; empty for a cloud of points without any.
///
/// The part's own normals where they are usable, else the smooth normals of the points, else +Z.
pub(super) fn drawn_normals(part: &DrawPart, smooth: &[DVec3]) -> Vec<[f32; 3]> {
    if part.normals.is_empty() && part.triangles.is_empty() {
        return Vec::new();
    }
    let computed = |point: u32| (smooth[point as usize].try_normalize()).unwrap_or(DVec3::Z);
    let own = part.normals.iter().map(|&n| Some(n));
    let own = own.chain(std::iter::repeat(None));
    (part.points.iter().zip(own))
        .map(|(&point, own)| {
            // In double precision, so that very short normals keep their direction.
            let own = own.and_then(|n| Vec3::from(n).as_dvec3().try_normalize());
            own.unwrap_or_else(|| computed(point)).as_vec3().to_array()
        })
        .collect()
}

/// The unit tangents of a part; empty when one of them has no direction or handedness.
///
/// Players derive tangents from UVs where a file has none, which is better than an invented one.
pub(super) fn drawn_tangents(part: &DrawPart) -> Option<Vec<[f32; 4]>> {
    if part.tangents.is_empty() || part.normals.is_empty() {
        return None;
    }
    let repaired = |&[x, y, z, w]: &[f32; 4]| {
        let axis = Vec3::new(x, y, z).as_dvec3().try_normalize()?.as_vec3();
        (w != 0.0 && !w.is_nan()).then(|| axis.extend(w.signum()).to_array())
    };
    part.tangents.iter().map(repaired).collect()
}

/// Turns the normals of a part from one rest shape to another, as [`normal_deltas`] does.
///
/// Parts without normals of their own already use the smooth normals of the new shape.
pub(super) fn turned_normals(
    part: &DrawPart,
    normals: &mut [[f32; 3]],
    rest_smooth: &[DVec3],
    moved_smooth: &[DVec3],
) {
    if part.normals.is_empty() {
        return;
    }
    let deltas = normal_deltas(part, normals, rest_smooth, moved_smooth);
    for (normal, delta) in normals.iter_mut().zip(deltas) {
        let turned = Vec3::from(*normal).as_dvec3() + Vec3::from(delta).as_dvec3();
        *normal = (turned.try_normalize()).map_or(*normal, |turned| turned.as_vec3().to_array());
    }
}

/// How each drawn normal changes when the points' smooth normals do.
///
/// The file's normals may have hard edges. Each is turned as the smooth normal of its point turns,
/// which keeps the edges and gives a delta of zero where nothing moves.
pub(super) fn normal_deltas(
    part: &DrawPart,
    normals: &[[f32; 3]],
    rest_smooth: &[DVec3],
    moved_smooth: &[DVec3],
) -> Vec<[f32; 3]> {
    (part.points.iter().zip(normals))
        .map(|(&point, &normal)| {
            let (rest, moved) = (rest_smooth[point as usize], moved_smooth[point as usize]);
            if rest == moved || rest == DVec3::ZERO || moved == DVec3::ZERO {
                return [0.0; 3];
            }
            let normal = Vec3::from(normal).as_dvec3();
            let turned = DQuat::from_rotation_arc(rest, moved) * normal;
            (turned - normal).as_vec3().to_array()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> DrawPart {
        DrawPart {
            points: vec![0, 1, 2],
            triangles: vec![[0, 1, 2]],
            ..DrawPart::default()
        }
    }

    #[test]
    fn unusable_normals_are_replaced_by_smooth_ones_and_those_by_z() {
        let mut part = triangle();
        part.normals = vec![[0.0, 2.0, 0.0], [0.0; 3], [f32::NAN, 0.0, 0.0]];
        let normals = drawn_normals(&part, &[DVec3::X, DVec3::X, DVec3::ZERO]);
        assert_eq!(
            normals,
            [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
            "scaled, replaced by the smooth one, +Z"
        );
    }

    #[test]
    fn a_tangent_without_direction_drops_them_all() {
        let mut part = triangle();
        part.normals = vec![[0.0, 0.0, 1.0]; 3];
        part.tangents = vec![[2.0, 0.0, 0.0, -0.5]; 3];
        assert_eq!(
            drawn_tangents(&part),
            Some(vec![[1.0, 0.0, 0.0, -1.0]; 3]),
            "length and sign are repaired"
        );
        part.tangents[1] = [0.0, 0.0, 0.0, 1.0];
        assert_eq!(drawn_tangents(&part), None, "no direction");
    }

    #[test]
    fn hard_edges_turn_with_the_surface() {
        let part = triangle();
        let normals = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]];
        let moved = [DVec3::X, DVec3::X, DVec3::Z];
        let deltas = normal_deltas(&part, &normals, &[DVec3::Z; 3], &moved);
        // A quarter turn from z to x takes x to -z.
        let expected = [[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [0.0; 3]];
        for (found, expected) in deltas.iter().zip(expected) {
            assert!(
                Vec3::from(*found).abs_diff_eq(Vec3::from(expected), 1e-6),
                "expected {expected:?}, found {found:?}"
            );
        }
        assert_eq!(deltas[2], [0.0; 3], "exactly zero where nothing turns");
    }
}
