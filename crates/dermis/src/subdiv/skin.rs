//! Subdivided skins: the matrix of a level applied to animation-space vectors.

use glam::{DVec3, DVec4};

use super::stencil::rows_in_parallel;
use super::{Stencil, Subdivision, SubdivisionError};
use crate::par;
use crate::skin::{
    Correction, Delta, Influence, LinearProgram, Rows, Skin, SsdProgram, VertexProgram, Weight,
};

/// The skin of the last level: in every pose it shows the subdivided posed mesh, up to rounding.
///
/// Bones, coefficients, drivers, derived and proxy bones stay. Linear blend skins become animation space, except where
/// all points of every connected piece have the same weights, as in machines: those stay linear blend skins.
///
/// # Errors
/// [`SubdivisionError::NotLinear`] for dual quaternions and multi-weight enveloping, and
/// [`SubdivisionError::CountMismatch`] for a skin with another number of vertices.
pub fn subdivide_skin(skin: &Skin, subdivision: &Subdivision) -> Result<Skin, SubdivisionError> {
    let mut stencils = subdivision.stencils.iter();
    stencils.try_fold(skin.clone(), |skin, stencil| stencil.apply_to_skin(&skin))
}

impl Stencil {
    /// One level of [`subdivide_skin`].
    ///
    /// # Errors
    /// As [`subdivide_skin`].
    pub fn apply_to_skin(&self, skin: &Skin) -> Result<Skin, SubdivisionError> {
        if skin.vertex_count() != self.source_count() {
            return Err(SubdivisionError::CountMismatch {
                what: "vertices of the skin",
                expected: self.source_count(),
                found: skin.vertex_count(),
            });
        }
        let program = match &skin.program {
            VertexProgram::Ssd(ssd) => match self.apply_to_uniform_weights(ssd) {
                Some(ssd) => VertexProgram::Ssd(ssd),
                None => VertexProgram::Linear(self.apply_to_linear(&ssd.to_linear(&skin.skeleton))),
            },
            VertexProgram::Linear(linear) => VertexProgram::Linear(self.apply_to_linear(linear)),
            VertexProgram::MultiWeight(_) | VertexProgram::DualQuaternion(_) => {
                return Err(SubdivisionError::NotLinear {
                    program: skin.program.name(),
                });
            }
        };
        let mut finer = skin.clone();
        finer.program = program;
        Ok(finer)
    }

    /// Linear blend skinning, where no sum mixes different weights; `None` where one does.
    fn apply_to_uniform_weights(&self, ssd: &SsdProgram) -> Option<SsdProgram> {
        let first = |row: usize| self.rows().row(row).first().map(|term| term.point as usize);
        let uniform = |row: usize| {
            let first = first(row).map(|point| ssd.weights.row(point));
            let terms = self.rows().row(row).iter();
            terms
                .map(|term| ssd.weights.row(term.point as usize))
                .all(|weights| Some(weights) == first)
        };
        if !par::map(self.rows().len(), uniform)
            .into_iter()
            .all(|same| same)
        {
            return None;
        }
        let weights = |row: usize, items: &mut Vec<Weight>| {
            items.extend(
                first(row)
                    .into_iter()
                    .flat_map(|point| ssd.weights.row(point)),
            );
        };
        Some(SsdProgram {
            rest_positions: self.apply(&ssd.rest_positions),
            weights: rows_in_parallel(self.rows().len(), weights),
            corrections: par::map(ssd.corrections.len(), |m| {
                self.apply_to_displacements(&ssd.corrections[m])
            }),
        })
    }

    /// Displacements of the new points, from those of the old rest shape.
    fn apply_to_displacements(&self, correction: &Correction<DVec3>) -> Correction<DVec3> {
        let mut moved = vec![DVec3::ZERO; self.source_count()];
        for delta in &correction.deltas {
            moved[delta.index as usize] += delta.value;
        }
        let deltas = self.apply(&moved).into_iter().zip(0..);
        let deltas = deltas.filter(|(value, _)| *value != DVec3::ZERO);
        Correction {
            deltas: deltas
                .map(|(value, index)| Delta { index, value })
                .collect(),
        }
    }

    fn apply_to_linear(&self, linear: &LinearProgram) -> LinearProgram {
        let influences = rows_in_parallel(self.rows().len(), |row, items: &mut Vec<Influence>| {
            let start = items.len();
            for term in self.rows().row(row) {
                for influence in linear.influences.row(term.point as usize) {
                    let p = influence.p * term.weight;
                    match items[start..].iter_mut().find(|i| i.bone == influence.bone) {
                        Some(same) => same.p += p,
                        None => items.push(Influence {
                            bone: influence.bone,
                            p,
                        }),
                    }
                }
            }
            items[start..].sort_by_key(|influence| influence.bone);
        });
        let corrections = par::map(linear.corrections.len(), |m| {
            self.apply_to_correction(&linear.influences, &linear.corrections[m], &influences)
        });
        LinearProgram {
            influences,
            corrections,
        }
    }

    /// Displacements of the influences of new points, from those of old influences.
    fn apply_to_correction(
        &self,
        before: &Rows<Influence>,
        correction: &Correction<DVec4>,
        after: &Rows<Influence>,
    ) -> Correction<DVec4> {
        let mut moved = vec![DVec4::ZERO; before.items().len()];
        for delta in &correction.deltas {
            moved[delta.index as usize] += delta.value;
        }
        let is_moved = |point: usize| moved[before.range(point)].iter().any(|d| *d != DVec4::ZERO);
        let point_is_moved: Vec<bool> = (0..before.len()).map(is_moved).collect();
        let mut deltas = Vec::new();
        let mut sums: Vec<DVec4> = Vec::new();
        for row in 0..self.rows().len() {
            let terms = self.rows().row(row).iter();
            let mut terms = terms
                .filter(|term| point_is_moved[term.point as usize])
                .peekable();
            if terms.peek().is_none() {
                continue;
            }
            let items = after.range(row);
            sums.clear();
            sums.resize(items.len(), DVec4::ZERO);
            for term in terms {
                for item in before.range(term.point as usize) {
                    let bone = before.items()[item].bone;
                    let place = after.row(row).iter().position(|i| i.bone == bone);
                    if let Some(place) = place {
                        sums[place] += moved[item] * term.weight;
                    }
                }
            }
            let changed = items.zip(&sums).filter(|(_, value)| **value != DVec4::ZERO);
            deltas.extend(changed.map(|(item, &value)| Delta {
                index: item as u32,
                value,
            }));
        }
        Correction { deltas }
    }
}
