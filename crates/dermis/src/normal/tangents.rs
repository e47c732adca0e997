//! Pairs of tangents, and the normals they give.

use glam::{DVec3, DVec4};

use super::statistics::influences;
use super::{NormalError, check_count};
use crate::par;
use crate::rig::Pose;
use crate::skin::{Rows, Skin};

/// Two animation-space tangents `s` and `t` per vertex.
///
/// One pair per influence of the skin, in the same order: per weight of an SSD (linear blend skinning)
/// program, or per influence of the linear program that it compiles to. Scaling the pair or turning it within
/// its plane changes no normal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TangentPairs {
    /// `[s_j, t_j]` in the frame of influence `j`'s bone; zeros where a vertex has no normal.
    pub rows: Rows<[DVec3; 2]>,
    /// The fourth numbers of `s_j` and `t_j`, on which the bones' translations act: 0 in sum over
    /// each vertex. `None` when all are 0.
    pub bone_weights: Option<Rows<[f64; 2]>>,
}

/// A tangent as position and weight for every influence.
pub(super) type Tangent = Vec<(DVec3, f64)>;

impl TangentPairs {
    /// Each tangent as an animation-space 4-vector, as a packed skin takes them.
    pub fn four_vectors(&self) -> Rows<[DVec4; 2]> {
        let weight = |item: usize| match &self.bone_weights {
            Some(weights) => weights.items()[item],
            None => [0.0; 2],
        };
        (0..self.rows.len())
            .map(|i| {
                self.rows.range(i).map(move |item| {
                    let [s, t] = self.rows.items()[item];
                    let [s_weight, t_weight] = weight(item);
                    [s.extend(s_weight), t.extend(t_weight)]
                })
            })
            .collect()
    }

    /// Joins the pairs of all vertices; `None` becomes zeros.
    pub(super) fn from_pairs(
        skin: &Skin,
        pairs: &[Option<[Tangent; 2]>],
        keep_bone_weights: bool,
    ) -> Self {
        let mut rows = Rows::with_capacity(pairs.len(), 0);
        let mut weights = Rows::with_capacity(pairs.len(), 0);
        for (i, pair) in pairs.iter().enumerate() {
            match pair {
                Some([s, t]) => {
                    rows.push_row(s.iter().zip(t).map(|(s, t)| [s.0, t.0]));
                    weights.push_row(s.iter().zip(t).map(|(s, t)| [s.1, t.1]));
                }
                None => {
                    let (bones, _) = influences(skin, i);
                    rows.push_row(bones.iter().map(|_| [DVec3::ZERO; 2]));
                    weights.push_row(bones.iter().map(|_| [0.0; 2]));
                }
            }
        }
        Self {
            rows,
            bone_weights: keep_bone_weights.then_some(weights),
        }
    }
}

/// Unit normals of a posed skin from its tangents: `normalize(G s × G t)`, where
/// `G s = Σ_j lin(G_j) s_j`, plus `Σ_j off(G_j) w_j` when there are bone weights `w_j`.
///
/// Zero where a vertex has no tangents or the pose collapses them to a line. Mirroring the model
/// turns these normals as it turns the faces'.
///
/// Cost: two 3×3 products per influence, six multiplications more with bone weights.
///
/// # Errors
/// [`NormalError::Skin`] when the pose does not fit, [`NormalError::CountMismatch`] when the
/// tangents belong to another skin.
pub fn project_normals(
    skin: &Skin,
    tangents: &TangentPairs,
    pose: &Pose,
) -> Result<Vec<DVec3>, NormalError> {
    check_count("rows of tangents", skin.vertex_count(), tangents.rows.len())?;
    if let Some(weights) = &tangents.bone_weights {
        check_count("rows of bone weights", skin.vertex_count(), weights.len())?;
    }
    let palette = skin.run_pose_program(pose)?.palette;
    par::map(skin.vertex_count(), |i| {
        let (bones, _) = influences(skin, i);
        let row = tangents.rows.row(i);
        check_count("tangents of a vertex", bones.len(), row.len())?;
        let mut projected = [DVec3::ZERO; 2];
        for (bone, pair) in bones.iter().zip(row) {
            let linear = palette.model_from_bone[bone.index()].matrix3;
            for (sum, tangent) in projected.iter_mut().zip(pair) {
                *sum += linear * *tangent;
            }
        }
        if let Some(weights) = &tangents.bone_weights {
            let row = weights.row(i);
            check_count("bone weights of a vertex", bones.len(), row.len())?;
            for (bone, pair) in bones.iter().zip(row) {
                let offset = palette.model_from_bone[bone.index()].translation;
                for (sum, weight) in projected.iter_mut().zip(pair) {
                    *sum += *weight * offset;
                }
            }
        }
        Ok(projected[0].cross(projected[1]).normalize_or_zero())
    })
    .into_iter()
    .collect()
}
