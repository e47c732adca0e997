//! The usual approximation: the rest normal, turned by the vertex's blended matrix.

use glam::{DMat3, DVec3};

use super::statistics::influences;
use super::{NormalError, check_count};
use crate::par;
use crate::rig::Pose;
use crate::skin::{Skin, SkinError};

/// What to do with the blended matrix `M = Σ_j w_j N_j` of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlendedNormal {
    /// `lin(M) n̂`: what most players do. Wrong under uneven scale and shear, which blending itself
    /// makes.
    Matrix,
    /// `lin(M)⁻ᵀ n̂` (\[Merry07\] Eq. 3.35), by way of the cofactors, which are the inverse transpose
    /// times the determinant: they exist for singular `M`, and mirror as faces do.
    InverseTranspose,
}

/// Unit normals by the usual approximation, which treats weights as constant around each vertex.
///
/// `rest_normals` has one unit normal per vertex; zero stays zero.
///
/// # Errors
/// [`NormalError::Skin`] when the pose does not fit, [`NormalError::CountMismatch`].
pub fn blended_normals(
    skin: &Skin,
    rest_normals: &[DVec3],
    pose: &Pose,
    kind: BlendedNormal,
) -> Result<Vec<DVec3>, NormalError> {
    check_count("rest normals", skin.vertex_count(), rest_normals.len())?;
    let blended = blended_matrices(skin, pose)?;
    Ok(par::map(skin.vertex_count(), |i| {
        let matrix = match kind {
            BlendedNormal::Matrix => blended[i],
            BlendedNormal::InverseTranspose => cofactors(&blended[i]),
        };
        (matrix * rest_normals[i]).normalize_or_zero()
    }))
}

/// The linear part of each vertex's blended matrix, from rest to the pose.
pub(crate) fn blended_matrices(skin: &Skin, pose: &Pose) -> Result<Vec<DMat3>, SkinError> {
    let palette = skin.run_pose_program(pose)?.palette;
    let posed_from_rest = skin.skeleton.posed_from_rest(&palette);
    Ok(par::map(skin.vertex_count(), |i| {
        let (bones, weights) = influences(skin, i);
        let terms = bones.iter().zip(&weights);
        terms.fold(DMat3::ZERO, |sum, (bone, &w)| {
            sum + w * posed_from_rest[bone.index()].matrix3
        })
    }))
}

/// `det(M) M⁻ᵀ`, which takes `a × b` to `M a × M b`.
pub(crate) fn cofactors(m: &DMat3) -> DMat3 {
    DMat3::from_cols(
        m.y_axis.cross(m.z_axis),
        m.z_axis.cross(m.x_axis),
        m.x_axis.cross(m.y_axis),
    )
}
