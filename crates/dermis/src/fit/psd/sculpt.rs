//! From a sculpted mesh to displacements in rest space.

use glam::{DMat3, DVec3};

use crate::math::orthogonal_columns;
use crate::par;
use crate::rig::Pose;
use crate::skin::{Delta, Skin, SkinError};

/// What a sculpted mesh says about its vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct SculptedShape {
    /// For [`Sculpt::shape`](super::Sculpt::shape): how far the vertices that differ from the layers
    /// below should be from the base, in rest space.
    pub shape: Vec<Delta<DVec3>>,
    /// Longest distance from the result of the layers below, in model units.
    pub farthest: f64,
    /// Vertices that the base flattens in this pose, so that no displacement of bounded size brings
    /// them to where they were sculpted; and how far the worst of them stays from there, in model
    /// units.
    pub flattened: Option<Flattened>,
}

/// Where a base skin leaves no room for a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flattened {
    /// How many vertices.
    pub vertices: usize,
    /// The one that stays farthest from its place.
    pub worst_vertex: usize,
    /// How far, in model units.
    pub worst_distance: f64,
}

/// Directions that a base shrinks to less than this share are not stretched back: a displacement is
/// then at most ten times as long as what it does.
pub(super) const LEAST_STRETCH: f64 = 0.1;

/// Finds what a sculpted mesh asks of a new layer.
///
/// `base` is the skin below all layers and `below` the skin with the layers below the new one;
/// `positions` is the mesh as sculpted in `pose`. Vertices within `tolerance` (model units) of where
/// `below` has them were not sculpted.
///
/// The displacement of a vertex is `M⁻¹ (v − v_base)`, with `M` its local frame
/// ([`Skin::vertex_frames`]). Where blending has flattened the skin (a forearm twisted by 180° has no
/// thickness left to displace) `M` has no inverse; then the directions that are left are used, and
/// [`SculptedShape::flattened`] tells. Another base helps: one that does not collapse.
///
/// # Errors
/// [`SkinError::CountMismatch`] when the mesh has other vertices, [`SkinError::NotFinite`], and those
/// of [`Skin::evaluate`].
pub fn sculpted_shape(
    base: &Skin,
    below: &Skin,
    pose: &Pose,
    positions: &[DVec3],
    tolerance: f64,
) -> Result<SculptedShape, SkinError> {
    if positions.len() != base.vertex_count() {
        return Err(SkinError::CountMismatch {
            what: "vertices in the sculpted mesh",
            expected: base.vertex_count(),
            found: positions.len(),
        });
    }
    if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
        return Err(SkinError::NotFinite { vertex });
    }
    let inputs = base.run_pose_program(pose)?;
    let frames = base.vertex_frames(&inputs);
    let from_base = base.evaluate(pose)?;
    let from_below = below.evaluate(pose)?;
    let found = par::map(positions.len(), |i| {
        let distance = positions[i].distance(from_below[i]);
        if distance <= tolerance {
            return None;
        }
        let wanted = positions[i] - from_base[i];
        let (inverse, is_safe) = bounded_inverse(frames[i], LEAST_STRETCH);
        let value = inverse * wanted;
        let missed = (!is_safe).then(|| (frames[i] * value).distance(wanted));
        Some((value, distance, missed))
    });
    let mut result = SculptedShape {
        shape: Vec::new(),
        farthest: 0.0,
        flattened: None,
    };
    for (i, vertex) in found.into_iter().enumerate() {
        let Some((value, distance, missed)) = vertex else {
            continue;
        };
        result.farthest = result.farthest.max(distance);
        result.shape.push(Delta {
            index: i as u32,
            value,
        });
        if let Some(missed) = missed {
            let worst = result.flattened.get_or_insert(Flattened {
                vertices: 0,
                worst_vertex: i,
                worst_distance: missed,
            });
            worst.vertices += 1;
            if missed > worst.worst_distance {
                (worst.worst_vertex, worst.worst_distance) = (i, missed);
            }
        }
    }
    Ok(result)
}

/// The inverse, without the directions that the matrix shrinks below `least`; true when there are none.
pub(super) fn bounded_inverse(frame: DMat3, least: f64) -> (DMat3, bool) {
    let split = orthogonal_columns(frame, 0.0);
    let stretches = [0, 1, 2].map(|k| split.columns.col(k).length());
    if stretches.iter().all(|&s| s >= least) {
        return (frame.inverse(), true);
    }
    // frame = columns turnᵀ, so the inverse sums turn_k columns_kᵀ / stretch_k².
    let mut inverse = DMat3::ZERO;
    for (k, stretch) in stretches.into_iter().enumerate() {
        if stretch >= least {
            let row = split.columns.col(k) / (stretch * stretch);
            let column = split.turn.col(k);
            inverse += DMat3::from_cols(column * row.x, column * row.y, column * row.z);
        }
    }
    (inverse, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{TubeOptions, tube};

    fn base() -> Skin {
        tube(&TubeOptions {
            ring_count: 20,
            segment_count: 8,
            bone_count: 3,
            example_count: 1,
        })
        .truth
    }

    /// The tube with its second joint turned.
    fn turned(skin: &Skin, by: glam::DQuat) -> Pose {
        let mut pose = skin.skeleton.rest_pose();
        pose.parent_from_bone[1] *= glam::DAffine3::from_quat(by);
        pose
    }

    #[test]
    fn a_sculpt_comes_back_in_rest_space_and_only_where_something_moved() {
        let base = base();
        let pose = turned(&base, glam::DQuat::from_rotation_y(1.1));
        let mut mesh = base.evaluate(&pose).expect("fits");
        let bulge = DVec3::new(0.02, -0.01, 0.03);
        for i in [3, 77, 78, 120] {
            mesh[i] += bulge;
        }
        let found = sculpted_shape(&base, &base, &pose, &mesh, 1e-9).expect("same vertices");
        let moved: Vec<u32> = found.shape.iter().map(|d| d.index).collect();
        assert_eq!(moved, [3, 77, 78, 120], "nothing else is stored");
        assert!((found.farthest - bulge.length()).abs() < 1e-12, "as far");
        assert_eq!(found.flattened, None, "a bend of 63° flattens nothing");
        let inputs = base.run_pose_program(&pose).expect("fits");
        for delta in &found.shape {
            let frame = base.vertex_frames(&inputs)[delta.index as usize];
            assert!((frame * delta.value).distance(bulge) < 1e-12, "and forth");
        }
    }

    #[test]
    fn rigid_motion_is_no_displacement() {
        let base = base();
        let pose = turned(&base, glam::DQuat::from_rotation_y(0.7));
        let mesh = base.evaluate(&pose).expect("fits");
        let found = sculpted_shape(&base, &base, &pose, &mesh, 0.0).expect("same vertices");
        assert!(found.shape.is_empty(), "the base alone is no sculpt");
    }

    #[test]
    fn where_the_base_has_collapsed_nothing_explodes_and_it_is_said() {
        let base = base();
        // Half a turn about the tube's own axis: where two bones share a vertex equally, nothing is
        // left of its distance from the axis.
        let rest = base.evaluate(&base.skeleton.rest_pose()).expect("fits");
        let spread = |axis: usize| {
            let along = rest.iter().map(|p| p[axis]);
            along.clone().fold(f64::MIN, f64::max) - along.fold(f64::MAX, f64::min)
        };
        let along = (0..3)
            .max_by(|&a, &b| spread(a).total_cmp(&spread(b)))
            .expect("three");
        let axis = [DVec3::X, DVec3::Y, DVec3::Z][along];
        let half = glam::DQuat::from_axis_angle(axis, std::f64::consts::PI - 1e-4);
        let pose = turned(&base, half);
        let mesh: Vec<DVec3> = (base.evaluate(&pose).expect("fits").iter())
            .map(|p| *p + DVec3::splat(0.01))
            .collect();
        let found = sculpted_shape(&base, &base, &pose, &mesh, 1e-9).expect("same vertices");
        let longest = found.shape.iter().map(|d| d.value.length());
        let longest = longest.fold(0.0, f64::max);
        let sculpted = DVec3::splat(0.01).length();
        assert!(longest <= sculpted / LEAST_STRETCH, "bounded: {longest}");
        let flattened = found.flattened.expect("the candy wrapper");
        assert!(flattened.vertices > 0, "{flattened:?}");
        assert!(
            flattened.worst_distance > 0.0 && flattened.worst_distance <= sculpted,
            "never worse than no displacement: {flattened:?}"
        );
    }

    #[test]
    fn a_mesh_of_another_character_is_refused() {
        let base = base();
        let pose = base.skeleton.rest_pose();
        let error = sculpted_shape(&base, &base, &pose, &[DVec3::ZERO; 3], 0.0);
        assert_eq!(
            error.expect_err("three vertices").to_string(),
            format!(
                "expected {} vertices in the sculpted mesh, found 3",
                base.vertex_count()
            )
        );
    }
}
