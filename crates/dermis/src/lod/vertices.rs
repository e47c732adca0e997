//! Vertices that move with bones, in the one form that both plain and exact levels use.

use glam::{DVec3, DVec4};

use crate::rig::{BoneId, Skeleton};
use crate::skin::{Correction, Influence, Skin, SkinError, VertexProgram};

/// What kind of vertices a simplification may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Placement {
    /// Linear blend skinning: a rest position and weights, which stock engines play.
    #[default]
    Plain,
    /// Any animation-space vectors of weight 1, for our own run-time.
    Free,
}

/// A vertex: where it rests, what moves it, and what shapes do to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelVertex {
    /// In rest space.
    pub(super) rest: DVec3,
    /// `p_j`, by rising bone; the fourth numbers are weights. Of a plain vertex, `p_j = w_j Ĝ_j⁻¹ (rest, 1)`.
    pub(super) influences: Vec<Influence>,
    /// Displacements in rest space by number of the coefficient, rising.
    pub(super) shapes: Vec<(u32, DVec3)>,
}

/// How vertices are blended.
#[derive(Debug, Clone)]
pub(super) struct Blending {
    pub(super) placement: Placement,
    /// Most bones of a new vertex.
    pub(super) most: usize,
    bone_from_rest: Vec<glam::DAffine3>,
}

impl Blending {
    pub(super) fn new(skeleton: &Skeleton, placement: Placement, most: usize) -> Self {
        let bones = skeleton.bones().iter();
        Self {
            placement,
            most,
            bone_from_rest: bones.map(|bone| bone.bone_from_rest).collect(),
        }
    }

    /// The weights of a vertex between two, heaviest bones first where there are more than may be.
    pub(super) fn weights(
        &self,
        from: &LevelVertex,
        to: &LevelVertex,
        t: f64,
        into: &mut Vec<(BoneId, f64)>,
    ) {
        into.clear();
        let ends = [(1.0 - t, from), (t, to)];
        for (share, vertex) in ends {
            if share > 0.0 {
                let own = vertex.influences.iter();
                into.extend(own.map(|i| (i.bone, share * i.p.w)));
            }
        }
        into.sort_by_key(|item| item.0);
        into.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
        self.keep_heaviest(into);
    }

    /// Leaves no more bones than may be, and the sum of weights as it was.
    pub(super) fn keep_heaviest(&self, weights: &mut Vec<(BoneId, f64)>) {
        if weights.len() <= self.most {
            return;
        }
        let before: f64 = weights.iter().map(|item| item.1).sum();
        weights.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        weights.truncate(self.most);
        let after: f64 = weights.iter().map(|item| item.1).sum();
        if after != 0.0 {
            weights.iter_mut().for_each(|item| item.1 *= before / after);
        }
        weights.sort_by_key(|item| item.0);
    }

    /// A vertex with these weights at a rest position; `between` are its ends and the place between them, which give
    /// shapes and, where vertices are free, the rest of the influences.
    pub(super) fn vertex(
        &self,
        weights: &[(BoneId, f64)],
        rest: DVec3,
        between: (&LevelVertex, &LevelVertex, f64),
    ) -> LevelVertex {
        let (from, to, t) = between;
        let plain = |&(bone, w): &(BoneId, f64)| Influence {
            bone,
            p: w * self.local(bone, rest).extend(1.0),
        };
        let middle = from.rest.lerp(to.rest, t);
        let moved = rest - middle;
        let influences = match self.placement {
            Placement::Plain => weights.iter().map(plain).collect(),
            Placement::Free => {
                let blended = blended_influences(from, to, t);
                let all_stay = blended.len() == weights.len();
                let free = |&(bone, w): &(BoneId, f64)| {
                    let found = blended.iter().find(|i| i.bone == bone);
                    let own = match found {
                        Some(own) if all_stay => own.p,
                        // What is dropped goes to the others as if the vertex were plain.
                        Some(own) => own.p + (w - own.p.w) * self.local(bone, middle).extend(1.0),
                        None => DVec4::ZERO,
                    };
                    let turned = self.bone_from_rest[bone.index()].matrix3 * moved;
                    Influence {
                        bone,
                        p: own + w * turned.extend(0.0),
                    }
                };
                weights.iter().map(free).collect()
            }
        };
        LevelVertex {
            rest,
            influences,
            shapes: blended_shapes(from, to, t),
        }
    }

    /// `Ĝ p` without the weight: the influence as a vector of rest space.
    pub(super) fn to_rest(&self, influence: &Influence) -> DVec3 {
        let local = &self.bone_from_rest[influence.bone.index()];
        let (p, w) = (influence.p.truncate(), influence.p.w);
        // `lin(Ĝ⁻¹)⁻¹ (p − w t)`, and bind matrices are invertible.
        local.matrix3.inverse() * (p - w * local.translation)
    }

    /// The influence of a bone that moves a place in rest space, which is times its weight already.
    pub(super) fn of_rest(&self, bone: BoneId, place: DVec3, weight: f64) -> Influence {
        let local = &self.bone_from_rest[bone.index()];
        Influence {
            bone,
            p: (local.matrix3 * place + weight * local.translation).extend(weight),
        }
    }

    fn local(&self, bone: BoneId, rest: DVec3) -> DVec3 {
        self.bone_from_rest[bone.index()].transform_point3(rest)
    }
}

/// `(1 − t) p + t q` over the union of bones.
fn blended_influences(from: &LevelVertex, to: &LevelVertex, t: f64) -> Vec<Influence> {
    let rows = [(1.0 - t, &from.influences[..]), (t, &to.influences[..])];
    let used = rows.into_iter().filter(|row| row.0 > 0.0);
    let blended = crate::metric::AnimationVector::combination(used);
    blended.terms().to_vec()
}

/// The displacements between two vertices, by rising number.
pub(super) fn blended_shapes(from: &LevelVertex, to: &LevelVertex, t: f64) -> Vec<(u32, DVec3)> {
    if from.shapes.is_empty() && to.shapes.is_empty() {
        return Vec::new();
    }
    let scaled = |vertex: &LevelVertex, share: f64| {
        let own = vertex.shapes.iter();
        own.map(|&(m, delta)| (m, share * delta))
            .collect::<Vec<_>>()
    };
    let mut all = scaled(from, 1.0 - t);
    all.extend(scaled(to, t));
    all.sort_by_key(|item| item.0);
    all.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
    all.retain(|item| item.1 != DVec3::ZERO);
    all
}

/// The vertices of a skin, and whether they stay plain where they are; `free` ones do not.
pub(super) fn vertices_of(
    skin: &Skin,
    rest: &[DVec3],
    free: bool,
) -> Result<(Vec<LevelVertex>, Placement), SkinError> {
    let (rest, placement) = match &skin.program {
        VertexProgram::Ssd(ssd) if free => (&ssd.rest_positions[..], Placement::Free),
        VertexProgram::Ssd(ssd) => (&ssd.rest_positions[..], Placement::Plain),
        VertexProgram::DualQuaternion(dual) => {
            (&dual.weighted.rest_positions[..], Placement::Plain)
        }
        _ => (rest, Placement::Free),
    };
    let program = match &skin.program {
        VertexProgram::DualQuaternion(dual) => dual.weighted.to_linear(&skin.skeleton),
        other => other.to_linear(&skin.skeleton)?,
    };
    let shapes = skin.program.rest_corrections(&skin.skeleton)?;
    let mut vertices: Vec<LevelVertex> = (program.influences.iter().zip(rest))
        .map(|(row, &rest)| {
            let mut influences = row.to_vec();
            influences.sort_by_key(|i| i.bone);
            LevelVertex {
                rest,
                influences,
                shapes: Vec::new(),
            }
        })
        .collect();
    for (m, Correction { deltas }) in shapes.iter().enumerate() {
        for delta in deltas {
            let shapes = &mut vertices[delta.index as usize].shapes;
            shapes.push((m as u32, delta.value));
        }
    }
    Ok((vertices, placement))
}
