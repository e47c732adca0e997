//! Skins between two levels: a change of level that is stretched over time, and that nobody sees.

use glam::DVec4;

use super::LodError;
use crate::metric::AnimationVector;
use crate::rig::Skeleton;
use crate::skin::{Correction, Delta, Influence, LinearProgram, VertexProgram};

/// The program between a fine skin, at `t` = 0, and a coarse one, at 1: `(1 − t) p + t q` over the bones of both
/// (\[Merry07\] §7.3).
///
/// It moves the points of the fine skin. `becomes` has the point of the coarse one that each of them goes to, as in
/// [`LevelShape::becomes`](super::LevelShape::becomes) and [`Progressive::becomes`](super::Progressive::becomes); at 1
/// all points that become one are in its place, and triangles that the coarse level does not have are without area.
/// Posing is linear, so in every pose a point is on the straight line between its two places, at `t` of the way.
///
/// Run-times need no such program: they pose both skins and blend positions ([`run::Geomorph`](crate::run::Geomorph)).
///
/// # Errors
/// [`LodError::BadMorph`], and [`LodError::Skin`] for programs that are not linear: their positions can be blended,
/// but no program of their kind is in between.
pub fn geomorph(
    skeleton: &Skeleton,
    fine: &VertexProgram,
    coarse: &VertexProgram,
    becomes: &[u32],
    t: f64,
) -> Result<LinearProgram, LodError> {
    let (from, to) = (fine.to_linear(skeleton)?, coarse.to_linear(skeleton)?);
    let [fine, coarse] = [&from, &to].map(|program| program.influences.len());
    let bad = |found: String| LodError::BadMorph {
        fine,
        coarse,
        found,
    };
    if becomes.len() != fine {
        return Err(bad(becomes.len().to_string()));
    }
    if let Some(point) = becomes.iter().find(|&&point| point as usize >= coarse) {
        return Err(bad(format!("point {point}")));
    }
    let mut between = LinearProgram {
        influences: (becomes.iter().enumerate())
            .map(|(point, &goal)| {
                let rows = [
                    (1.0 - t, from.influences.row(point)),
                    (t, to.influences.row(goal as usize)),
                ];
                AnimationVector::combination(rows).terms().to_vec()
            })
            .collect(),
        corrections: Vec::new(),
    };
    let shapes = from.corrections.len().max(to.corrections.len());
    between.corrections = (0..shapes)
        .map(|m| {
            let [from, to] = [&from, &to].map(|program| ShapeOf::new(program, m));
            let mut deltas = Vec::new();
            for (point, &goal) in becomes.iter().enumerate() {
                for item in between.influences.range(point) {
                    let bone = between.influences.items()[item].bone;
                    let at = |shape: &ShapeOf<'_>, point: usize| shape.at(point, bone);
                    let value = (1.0 - t) * at(&from, point) + t * at(&to, goal as usize);
                    if value != DVec4::ZERO {
                        let index = item as u32;
                        deltas.push(Delta { index, value });
                    }
                }
            }
            Correction { deltas }
        })
        .collect();
    Ok(between)
}

/// One correction of a program.
struct ShapeOf<'a> {
    program: &'a LinearProgram,
    deltas: &'a [Delta<DVec4>],
}

impl<'a> ShapeOf<'a> {
    fn new(program: &'a LinearProgram, number: usize) -> Self {
        let own = program.corrections.get(number);
        Self {
            program,
            deltas: own.map_or(&[], |correction| &correction.deltas),
        }
    }

    /// What it adds to a bone's influence on a point.
    fn at(&self, point: usize, bone: crate::rig::BoneId) -> DVec4 {
        let items = self.program.influences.range(point);
        let is_own = |item: &usize| {
            let influence: &Influence = &self.program.influences.items()[*item];
            influence.bone == bone
        };
        let delta = |item: usize| {
            let found = (self.deltas).binary_search_by_key(&(item as u32), |delta| delta.index);
            found.map_or(DVec4::ZERO, |at| self.deltas[at].value)
        };
        items.filter(is_own).map(delta).sum()
    }
}
