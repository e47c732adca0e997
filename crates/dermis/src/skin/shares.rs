//! Which bones hold the vertices of a skin, and where the vertices are relative to these bones.

use super::{Skin, VertexProgram};
use crate::clip::Moments;
use crate::rig::BoneId;
use crate::rows::Rows;

/// Vertices and the bones that move them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shares {
    /// The bones of each vertex with their shares, which sum to 1 when weights are not negative and sum to 1.
    pub(super) of_vertex: Rows<(BoneId, f64)>,
    /// The moments of the vertices that each bone holds, in its own frame.
    pub(super) of_bone: Vec<Moments>,
}

impl Skin {
    /// The shares of the skin's bones, without corrections; `None` for programs that are not linear in
    /// the matrices' columns.
    pub(super) fn shares(&self) -> Option<Shares> {
        let bones = self.skeleton.bones();
        let mut of_bone = vec![Moments::NONE; bones.len()];
        let mut of_vertex = Rows::with_capacity(self.vertex_count(), 0);
        match &self.program {
            VertexProgram::Ssd(ssd) => {
                for (row, rest) in ssd.weights.iter().zip(&ssd.rest_positions) {
                    for w in row.iter().filter(|w| w.weight != 0.0) {
                        let j = w.bone.index();
                        let place = bones[j].bone_from_rest.transform_point3(*rest);
                        of_bone[j].add(place, w.weight.abs());
                    }
                    of_vertex.push_row(row.iter().map(|w| (w.bone, w.weight.abs())));
                }
            }
            VertexProgram::Linear(linear) => {
                for row in linear.influences.iter() {
                    // An influence may have a vector but hardly any weight; so it gets at least an equal share.
                    let even = 1.0 / row.len().max(1) as f64;
                    let share = |weight: f64| weight.abs().max(even);
                    for influence in row {
                        let share = share(influence.p.w);
                        of_bone[influence.bone.index()].add(influence.p.truncate() / share, share);
                    }
                    of_vertex.push_row(row.iter().map(|i| (i.bone, share(i.p.w))));
                }
            }
            VertexProgram::MultiWeight(_) | VertexProgram::DualQuaternion(_) => return None,
        }
        Some(Shares { of_vertex, of_bone })
    }
}
