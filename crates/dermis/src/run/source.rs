//! The inputs of packing: the numbers of a skin, vertex by vertex, and its normals.

use glam::{DVec3, DVec4};

use super::blocks::BlockPlan;
use super::plane::{BLOCK, Plane};
use super::program::linear_normals;
use super::{Normals, RunError};
use crate::Rows;
use crate::skin::{Correction, Skin, VertexProgram, heaviest};

/// Which kernel runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KernelKind {
    Ssd,
    Linear { normal_planes: usize },
    MultiWeight,
    DualQuaternion,
}

impl KernelKind {
    /// Planes of a block that belong to no bone, and those of each bone.
    pub(super) fn plane_counts(self, has_normals: bool) -> [usize; 2] {
        let fixed = if has_normals { 6 } else { 3 };
        match self {
            Self::Ssd | Self::DualQuaternion => [fixed, 1],
            Self::MultiWeight => [fixed, 12],
            Self::Linear { normal_planes } => [0, 4 + normal_planes],
        }
    }
}

/// A displacement of a rest position, or of one influence.
pub(super) struct Move {
    pub(super) vertex: usize,
    pub(super) bone: Option<u16>,
    pub(super) correction: u32,
    pub(super) value: DVec4,
}

/// The inputs of packing: a skin, its normals, and the kernel for them.
pub(super) struct Source<'a> {
    skin: &'a Skin,
    normals: &'a Normals,
    pub(super) kernel: KernelKind,
    has_normals: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(skin: &'a Skin, normals: &'a Normals) -> Result<Self, RunError> {
        let normal_planes = match normals {
            Normals::None => linear_normals::NONE,
            Normals::Rest(rest) => {
                RunError::check_count("rest normals", skin.vertex_count(), rest.len())?;
                linear_normals::VECTOR
            }
            Normals::Tangents(rows) => {
                check_tangents(skin, rows)?;
                let weighted = rows.items().iter().flatten().any(|t| t.w != 0.0);
                match weighted {
                    true => linear_normals::WEIGHTED_TANGENTS,
                    false => linear_normals::TANGENTS,
                }
            }
        };
        let kernel = match &skin.program {
            VertexProgram::Ssd(_) => KernelKind::Ssd,
            VertexProgram::Linear(_) => KernelKind::Linear { normal_planes },
            VertexProgram::MultiWeight(_) => KernelKind::MultiWeight,
            VertexProgram::DualQuaternion(_) => KernelKind::DualQuaternion,
        };
        Ok(Self {
            skin,
            normals,
            kernel,
            has_normals: normal_planes > 0,
        })
    }

    /// The distinct bones of every vertex, rising; with the pivot first for dual quaternions.
    pub(super) fn bone_sets(&self) -> Rows<u16> {
        let mut sets = Rows::default();
        let mut set: Vec<u16> = Vec::new();
        for vertex in 0..self.skin.vertex_count() {
            set.clear();
            let mut pivot = None;
            match &self.skin.program {
                // A weight of 0 needs no bone.
                VertexProgram::Ssd(ssd) => {
                    let used = ssd.weights.row(vertex).iter().filter(|w| w.weight != 0.0);
                    set.extend(used.map(|w| w.bone.0));
                }
                VertexProgram::Linear(linear) => {
                    set.extend(linear.influences.row(vertex).iter().map(|i| i.bone.0));
                }
                VertexProgram::MultiWeight(multi) => {
                    set.extend(multi.influences.row(vertex).iter().map(|i| i.bone.0));
                }
                VertexProgram::DualQuaternion(dual) => {
                    let row = dual.weighted.weights.row(vertex);
                    set.extend(row.iter().map(|w| w.bone.0));
                    pivot = heaviest(row).map(|w| w.bone.0);
                }
            }
            set.sort_unstable_by_key(|&bone| (Some(bone) != pivot, bone));
            set.dedup();
            sets.push_row(set.iter().copied());
        }
        sets
    }

    /// The planes of one block, in the order that [`super::program`] draws.
    ///
    /// # Errors
    /// [`RunError::NotFinite`] when a number is NaN or too large for 32 bits.
    pub(super) fn planes(&self, plan: &BlockPlan) -> Result<Vec<Plane>, RunError> {
        let [fixed, per_bone] = self.kernel.plane_counts(self.has_normals);
        let mut sums = vec![[0.0f64; BLOCK]; fixed + per_bone * plan.bones.len()];
        for (lane, vertex) in plan.lanes().enumerate() {
            if fixed > 0 {
                let rest = self.rest_position(vertex);
                (0..3).for_each(|c| sums[c][lane] = rest[c]);
                if let Normals::Rest(normals) = self.normals {
                    (0..3).for_each(|c| sums[3 + c][lane] = normals[vertex][c]);
                }
            }
            self.each_number(vertex, |bone, k, number| {
                let slot = slot_in(&plan.bones, bone);
                sums[fixed + per_bone * slot + k][lane] += number;
            });
        }
        let planes: Vec<_> = sums.iter().map(|s| Plane(s.map(|x| x as f32))).collect();
        let bad = |lane: usize| planes.iter().any(|plane| !plane.0[lane].is_finite());
        match (0..plan.vertices.len()).find(|&lane| bad(lane)) {
            Some(lane) => Err(RunError::NotFinite {
                vertex: plan.vertices[lane] as usize,
            }),
            None => Ok(planes),
        }
    }

    fn rest_position(&self, vertex: usize) -> DVec3 {
        match &self.skin.program {
            VertexProgram::Ssd(ssd) => ssd.rest_positions[vertex],
            VertexProgram::DualQuaternion(dual) => dual.weighted.rest_positions[vertex],
            VertexProgram::MultiWeight(multi) => multi.rest_positions[vertex],
            VertexProgram::Linear(_) => DVec3::ZERO,
        }
    }

    /// Calls `put` with every number that a vertex has for a bone: the bone, which plane, the number.
    fn each_number(&self, vertex: usize, mut put: impl FnMut(u16, usize, f64)) {
        match &self.skin.program {
            VertexProgram::Ssd(ssd) => {
                for w in ssd.weights.row(vertex).iter().filter(|w| w.weight != 0.0) {
                    put(w.bone.0, 0, w.weight);
                }
            }
            VertexProgram::DualQuaternion(dual) => {
                for w in dual.weighted.weights.row(vertex) {
                    put(w.bone.0, 0, w.weight);
                }
            }
            VertexProgram::MultiWeight(multi) => {
                for i in multi.influences.row(vertex) {
                    for (row, weights) in i.weights.iter().enumerate() {
                        for (column, &w) in weights.iter().enumerate() {
                            put(i.bone.0, 3 * column + row, w);
                        }
                    }
                }
            }
            VertexProgram::Linear(linear) => {
                let bones = self.skin.skeleton.bones();
                for (k, i) in linear.influences.row(vertex).iter().enumerate() {
                    let mut put_all = |first: usize, numbers: &[f64]| {
                        for (c, &x) in numbers.iter().enumerate() {
                            put(i.bone.0, first + c, x);
                        }
                    };
                    put_all(0, &i.p.to_array());
                    match self.normals {
                        Normals::None => {}
                        Normals::Rest(normals) => {
                            let frame = &bones[i.bone.index()].bone_from_rest;
                            let n = i.p.w * frame.transform_vector3(normals[vertex]);
                            put_all(4, &n.to_array());
                        }
                        Normals::Tangents(rows) => {
                            let width = match self.kernel {
                                KernelKind::Linear { normal_planes } => normal_planes / 2,
                                _ => 0,
                            };
                            let [a, b] = rows.row(vertex)[k];
                            put_all(4, &a.to_array()[..width]);
                            put_all(4 + width, &b.to_array()[..width]);
                        }
                    }
                }
            }
        }
    }

    /// All displacements that are not 0.
    pub(super) fn corrections(&self) -> Vec<Move> {
        match &self.skin.program {
            VertexProgram::Ssd(ssd) => rest_moves(&ssd.corrections),
            VertexProgram::DualQuaternion(dual) => rest_moves(&dual.weighted.corrections),
            VertexProgram::MultiWeight(multi) => rest_moves(&multi.corrections),
            VertexProgram::Linear(linear) => {
                let rows = &linear.influences;
                let vertex_of: Vec<u32> = (0..rows.len())
                    .flat_map(|v| std::iter::repeat_n(v as u32, rows.row(v).len()))
                    .collect();
                each_delta(&linear.corrections, |correction, index, value: DVec4| {
                    Move {
                        vertex: vertex_of[index] as usize,
                        bone: Some(rows.items()[index].bone.0),
                        correction,
                        value,
                    }
                })
            }
        }
    }
}

fn rest_moves(corrections: &[Correction<DVec3>]) -> Vec<Move> {
    each_delta(corrections, |correction, vertex, value: DVec3| Move {
        vertex,
        bone: None,
        correction,
        value: value.extend(0.0),
    })
}

fn each_delta<V: Copy>(
    corrections: &[Correction<V>],
    make: impl Fn(u32, usize, V) -> Move,
) -> Vec<Move> {
    let numbered = corrections.iter().enumerate();
    numbered
        .flat_map(|(m, c)| c.deltas.iter().map(move |d| (m as u32, d)))
        .map(|(m, d)| make(m, d.index as usize, d.value))
        .filter(|m| m.value != DVec4::ZERO)
        .collect()
}

pub(super) fn slot_in(bones: &[u16], bone: u16) -> usize {
    let slot = bones.iter().position(|&b| b == bone);
    slot.expect("a block has the bones of its vertices")
}

fn check_tangents(skin: &Skin, rows: &Rows<[DVec4; 2]>) -> Result<(), RunError> {
    let VertexProgram::Linear(linear) = &skin.program else {
        return Err(RunError::NotSupported {
            what: "tangents",
            program: skin.program.name(),
            hint: "make the skin linear first, or use rest normals",
        });
    };
    RunError::check_count("rows of tangents", linear.influences.len(), rows.len())?;
    for (vertex, (tangents, row)) in rows.iter().zip(linear.influences.iter()).enumerate() {
        if tangents.len() != row.len() {
            return Err(RunError::TangentCount {
                vertex,
                expected: row.len(),
                found: tangents.len(),
            });
        }
    }
    Ok(())
}
