//! Vertex programs: how each vertex is computed from the matrices of a pose.

use glam::{DVec3, DVec4};

use super::{Correction, Delta, Rows, SkinError};
use crate::rig::{BoneId, Skeleton};

/// One bone acting on one vertex with a scalar weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight {
    /// The bone.
    pub bone: BoneId,
    /// Its share, usually 0 to 1; the shares of a vertex sum to 1.
    pub weight: f64,
}

/// One bone acting on one vertex with an animation-space 4-vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Influence {
    /// The bone.
    pub bone: BoneId,
    /// Position in the bone's frame times weight, and the weight as the fourth number.
    pub p: DVec4,
}

/// Linear blend skinning, also called SSD (skeletal subspace deformation): scalar weights on rest positions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SsdProgram {
    /// `v̂_i`, in model units.
    pub rest_positions: Vec<DVec3>,
    /// `w_ij`, one row per vertex.
    pub weights: Rows<Weight>,
    /// Rest-space displacements, added before the matrices act ("morph before skin").
    pub corrections: Vec<Correction<DVec3>>,
}

/// Animation space, the general form of all linear models: `v_i = Σ_j G_j (p_ij + Σ_m c_m d_imj)`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinearProgram {
    /// `p_ij`, one row per vertex.
    pub influences: Rows<Influence>,
    /// `d_imj`: displacements of single items of `influences`.
    pub corrections: Vec<Correction<DVec4>>,
}

/// One bone acting on one vertex with a weight for every entry of its matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultiWeight {
    /// The bone.
    pub bone: BoneId,
    /// `W_ij`, three rows of four: `weights[row][column]`.
    pub weights: [[f64; 4]; 3],
}

/// Multi-weight enveloping \[Wang02\]: `v_i = Σ_j (W_ij ∘ N_j) v̂_i`.
///
/// Each of the twelve entries of `N_j = G_j Ĝ_j⁻¹` has a weight of its own. Turning the whole character distorts the
/// result, because a turn mixes the entries of a matrix.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MultiWeightProgram {
    /// `v̂_i`, in model units.
    pub rest_positions: Vec<DVec3>,
    /// `W_ij`, one row per vertex.
    pub influences: Rows<MultiWeight>,
    /// Rest-space displacements, added before the matrices act.
    pub corrections: Vec<Correction<DVec3>>,
}

/// Dual quaternion skinning \[Kavan08\]: the rigid motions of the bones are blended, not their matrices, so that a
/// twisted limb keeps its width.
///
/// Every `N_j` is replaced by a rigid motion. For a bone that scales or shears, the origin moves as before, the
/// rotation is that of Gram-Schmidt on its matrix, and the scale is dropped. Signs of quaternions are matched to the
/// heaviest influence of a vertex (the bone with the lower number, if two are equal). A vertex without influences goes
/// to the origin, as in every program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DualQuaternionProgram {
    /// Rest positions, weights and corrections: the numbers of linear blend skinning.
    pub weighted: SsdProgram,
}

/// The kinds of vertex program.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum VertexProgram {
    /// Linear blend skinning, the most compact form.
    Ssd(SsdProgram),
    /// Animation-space vectors, the general linear form.
    Linear(LinearProgram),
    /// Twelve weights per influence.
    MultiWeight(MultiWeightProgram),
    /// Blended rigid motions.
    DualQuaternion(DualQuaternionProgram),
}

impl SsdProgram {
    /// The same deformation as animation-space vectors, `p_ij = w_ij Ĝ_j⁻¹ v̂_i`.
    pub fn to_linear(&self, skeleton: &Skeleton) -> LinearProgram {
        let bones = skeleton.bones();
        let influences = self
            .weights
            .iter()
            .zip(&self.rest_positions)
            .map(|(row, rest)| {
                row.iter().map(move |&Weight { bone, weight }| {
                    let local = bones[bone.index()].bone_from_rest.transform_point3(*rest);
                    Influence {
                        bone,
                        p: weight * local.extend(1.0),
                    }
                })
            })
            .collect();
        let mut linear = LinearProgram {
            influences,
            corrections: Vec::new(),
        };
        let corrections = self.corrections.iter();
        linear.corrections = corrections
            .map(|correction| linear.spread_over_bones(skeleton, correction))
            .collect();
        linear
    }

    /// The rest shape with corrections, scaled by their coefficients, added.
    pub fn corrected_rest(&self, coefficients: &[f64]) -> Vec<DVec3> {
        corrected(&self.rest_positions, &self.corrections, coefficients)
    }

    /// The same skin with only the `count` largest weights of each vertex, as many players read it.
    ///
    /// Smaller weights are dropped, and the remaining ones are scaled to sum to 1.
    pub fn largest_weights(&self, count: usize) -> Self {
        let weights = self
            .weights
            .iter()
            .map(|row| {
                let mut kept = row.to_vec();
                kept.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.bone.cmp(&b.bone)));
                kept.truncate(count);
                let sum: f64 = kept.iter().map(|w| w.weight).sum();
                if sum != 0.0 {
                    kept.iter_mut().for_each(|w| w.weight /= sum);
                }
                kept
            })
            .collect();
        Self {
            weights,
            ..self.clone()
        }
    }
}

impl LinearProgram {
    /// A displacement in rest space, spread over the influences: `d_ij = w_ij Ĝ_j⁻¹ (δ_i, 0)`.
    pub(super) fn spread_over_bones(
        &self,
        skeleton: &Skeleton,
        correction: &Correction<DVec3>,
    ) -> Correction<DVec4> {
        let bones = skeleton.bones();
        let spread = |delta: &Delta<DVec3>| {
            let value = delta.value;
            self.influences
                .range(delta.index as usize)
                .map(move |item| {
                    let Influence { bone, p } = self.influences.items()[item];
                    let local = bones[bone.index()].bone_from_rest.transform_vector3(value);
                    Delta {
                        index: item as u32,
                        value: p.w * local.extend(0.0),
                    }
                })
        };
        Correction {
            deltas: correction.deltas.iter().flat_map(spread).collect(),
        }
    }
}

impl MultiWeightProgram {
    /// The rest shape with corrections, scaled by their coefficients, added.
    pub fn corrected_rest(&self, coefficients: &[f64]) -> Vec<DVec3> {
        corrected(&self.rest_positions, &self.corrections, coefficients)
    }
}

/// Rest positions plus corrections in proportion to their coefficients.
fn corrected(
    rest_positions: &[DVec3],
    corrections: &[Correction<DVec3>],
    coefficients: &[f64],
) -> Vec<DVec3> {
    let mut rest = rest_positions.to_vec();
    for (correction, &c) in corrections.iter().zip(coefficients) {
        for delta in &correction.deltas {
            rest[delta.index as usize] += c * delta.value;
        }
    }
    rest
}

impl VertexProgram {
    /// The name of the program for people to read.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ssd(_) => "linear blend skinning",
            Self::Linear(_) => "animation space",
            Self::MultiWeight(_) => "multi-weight enveloping",
            Self::DualQuaternion(_) => "dual quaternion skinning",
        }
    }

    /// How many vertices the program moves.
    pub fn vertex_count(&self) -> usize {
        match self {
            Self::Ssd(ssd) => ssd.weights.len(),
            Self::Linear(linear) => linear.influences.len(),
            Self::MultiWeight(multi) => multi.influences.len(),
            Self::DualQuaternion(dual) => dual.weighted.weights.len(),
        }
    }

    /// The largest number of bones that act on one vertex.
    pub fn max_influences(&self) -> usize {
        match self {
            Self::Ssd(ssd) => ssd.weights.longest(),
            Self::Linear(linear) => linear.influences.longest(),
            Self::MultiWeight(multi) => multi.influences.longest(),
            Self::DualQuaternion(dual) => dual.weighted.weights.longest(),
        }
    }

    /// The bone of every influence, vertex by vertex.
    pub fn bones(&self) -> Box<dyn Iterator<Item = BoneId> + '_> {
        match self {
            Self::Ssd(ssd) => Box::new(ssd.weights.items().iter().map(|w| w.bone)),
            Self::Linear(linear) => Box::new(linear.influences.items().iter().map(|i| i.bone)),
            Self::MultiWeight(multi) => Box::new(multi.influences.items().iter().map(|i| i.bone)),
            Self::DualQuaternion(dual) => {
                Box::new(dual.weighted.weights.items().iter().map(|w| w.bone))
            }
        }
    }

    /// The bones that move one vertex.
    pub fn bones_of(&self, vertex: usize) -> Box<dyn Iterator<Item = BoneId> + '_> {
        match self {
            Self::Ssd(ssd) => Box::new(ssd.weights.row(vertex).iter().map(|w| w.bone)),
            Self::Linear(linear) => Box::new(linear.influences.row(vertex).iter().map(|i| i.bone)),
            Self::MultiWeight(multi) => {
                Box::new(multi.influences.row(vertex).iter().map(|i| i.bone))
            }
            Self::DualQuaternion(dual) => {
                Box::new(dual.weighted.weights.row(vertex).iter().map(|w| w.bone))
            }
        }
    }

    /// The same program with its bones renumbered.
    pub(super) fn with_bones(&self, renumbered: impl Fn(BoneId) -> BoneId) -> Self {
        let ssd = |ssd: &SsdProgram| SsdProgram {
            weights: rows_with(&ssd.weights, |w| w.bone = renumbered(w.bone)),
            ..ssd.clone()
        };
        match self {
            Self::Ssd(program) => Self::Ssd(ssd(program)),
            Self::Linear(linear) => Self::Linear(LinearProgram {
                influences: rows_with(&linear.influences, |i| i.bone = renumbered(i.bone)),
                ..linear.clone()
            }),
            Self::MultiWeight(multi) => Self::MultiWeight(MultiWeightProgram {
                influences: rows_with(&multi.influences, |i| i.bone = renumbered(i.bone)),
                ..multi.clone()
            }),
            Self::DualQuaternion(dual) => Self::DualQuaternion(DualQuaternionProgram {
                weighted: ssd(&dual.weighted),
            }),
        }
    }

    /// How many coefficients the program takes.
    pub fn correction_count(&self) -> usize {
        match self {
            Self::Ssd(ssd) => ssd.corrections.len(),
            Self::Linear(linear) => linear.corrections.len(),
            Self::MultiWeight(multi) => multi.corrections.len(),
            Self::DualQuaternion(dual) => dual.weighted.corrections.len(),
        }
    }

    /// The program as animation-space vectors.
    ///
    /// # Errors
    /// [`SkinError::NotLinear`] for multi-weight enveloping, which uses a different vector for each coordinate, and for
    /// dual quaternions.
    pub fn to_linear(&self, skeleton: &Skeleton) -> Result<LinearProgram, SkinError> {
        match self {
            Self::Ssd(ssd) => Ok(ssd.to_linear(skeleton)),
            Self::Linear(linear) => Ok(linear.clone()),
            Self::MultiWeight(_) | Self::DualQuaternion(_) => Err(SkinError::NotLinear {
                program: self.name(),
            }),
        }
    }

    pub(super) fn check(&self, bone_count: usize) -> Result<(), SkinError> {
        match self {
            Self::Ssd(ssd) | Self::DualQuaternion(DualQuaternionProgram { weighted: ssd }) => {
                check_rows(&ssd.rest_positions, ssd.weights.len())?;
                for (vertex, row) in ssd.weights.iter().enumerate() {
                    let finite = ssd.rest_positions[vertex].is_finite()
                        && row.iter().all(|w| w.weight.is_finite());
                    check_vertex(vertex, row.iter().map(|w| w.bone), bone_count, finite)?;
                }
                check_corrections(&ssd.corrections, ssd.weights.len())
            }
            Self::Linear(linear) => {
                for (vertex, row) in linear.influences.iter().enumerate() {
                    let finite = row.iter().all(|i| i.p.is_finite());
                    check_vertex(vertex, row.iter().map(|i| i.bone), bone_count, finite)?;
                }
                check_corrections(&linear.corrections, linear.influences.items().len())
            }
            Self::MultiWeight(multi) => {
                check_rows(&multi.rest_positions, multi.influences.len())?;
                for (vertex, row) in multi.influences.iter().enumerate() {
                    let mut weights = row.iter().flat_map(|i| i.weights.as_flattened());
                    let finite =
                        multi.rest_positions[vertex].is_finite() && weights.all(|w| w.is_finite());
                    check_vertex(vertex, row.iter().map(|i| i.bone), bone_count, finite)?;
                }
                check_corrections(&multi.corrections, multi.influences.len())
            }
        }
    }
}

/// A copy of rows with every item changed.
fn rows_with<T: Copy>(rows: &Rows<T>, change: impl Fn(&mut T)) -> Rows<T> {
    let changed = |item: &T| {
        let mut item = *item;
        change(&mut item);
        item
    };
    (rows.iter())
        .map(|row| row.iter().map(changed).collect::<Vec<T>>())
        .collect()
}

fn check_rows(rest_positions: &[DVec3], rows: usize) -> Result<(), SkinError> {
    if rest_positions.len() == rows {
        return Ok(());
    }
    Err(SkinError::CountMismatch {
        what: "rows of weights",
        expected: rest_positions.len(),
        found: rows,
    })
}

fn check_vertex(
    vertex: usize,
    bones: impl IntoIterator<Item = BoneId>,
    bone_count: usize,
    finite: bool,
) -> Result<(), SkinError> {
    if !finite {
        return Err(SkinError::NotFinite { vertex });
    }
    match bones.into_iter().find(|bone| bone.index() >= bone_count) {
        None => Ok(()),
        Some(bone) => Err(SkinError::BoneOutOfRange {
            vertex,
            bone: bone.index(),
            bone_count,
        }),
    }
}

fn check_corrections<V>(corrections: &[Correction<V>], count: usize) -> Result<(), SkinError> {
    for (m, correction) in corrections.iter().enumerate() {
        for delta in &correction.deltas {
            if delta.index as usize >= count {
                return Err(SkinError::CorrectionOutOfRange {
                    name: m.to_string(),
                    vertex: delta.index as usize,
                    vertex_count: count,
                });
            }
        }
    }
    Ok(())
}
