//! `_AS_n` and `_MW_n` to the rows of exact models.
//!
//! Other programs keep custom attributes without understanding them, and may drop some, or
//! renumber the joints that they name. Attributes that do not fit together are left out with a note,
//! and the plain weights are used. Attributes that break glTF's own rules are errors, as
//! anywhere else.

use std::collections::BTreeMap;

use dermis::BoneId;
use dermis::skin::{Influence, MultiWeight, Rows};
use glam::{DVec3, DVec4};

use super::accessor::{Accessors, Count};
use crate::Fault;
use crate::gltf::names::{Exact, Name};

/// How far from 1 the weights of an animation-space position may sum.
const SUM_TOLERANCE: f64 = 1e-3;

/// Most influences that are looked for: more than a vertex of a legal skin can have.
const MOST_SLOTS: usize = 4096;

/// The exact influences of a primitive's vertices.
#[derive(Debug, PartialEq)]
pub(super) enum ExactRows {
    /// Animation-space vectors, and the vectors that morph targets add to them.
    Linear(Rows<Influence>, Rows<Shift>),
    /// Twelve weights per influence, and where each vertex rests.
    MultiWeight(Vec<DVec3>, Rows<MultiWeight>),
}

/// The vector that a morph target adds to one influence of a vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shift {
    /// The target's number in its primitive, or the coefficient that it belongs to.
    pub(super) of: u32,
    /// Which of the vertex's influences.
    pub(super) place: u32,
    pub(super) value: DVec4,
}

/// One vertex's exact influences.
#[derive(Debug, Clone, Copy)]
pub(super) enum ExactRow<'a> {
    None,
    Linear(&'a [Influence], &'a [Shift]),
    MultiWeight(DVec3, &'a [MultiWeight]),
}

impl ExactRows {
    pub(super) fn row(&self, vertex: usize) -> ExactRow<'_> {
        match self {
            Self::Linear(rows, shifts) => ExactRow::Linear(rows.row(vertex), shifts.row(vertex)),
            Self::MultiWeight(rest, rows) => ExactRow::MultiWeight(rest[vertex], rows.row(vertex)),
        }
    }
}

/// Why exact attributes are not used, or the fault of a file that breaks glTF's rules.
enum Problem {
    Unused(String),
    Fault(Fault),
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// The exact influences of a primitive, `None` when it has none.
///
/// `bones` are the bones of the skin's joints. The inner error says why the attributes are not used.
pub(super) fn read(
    accessors: &Accessors<'_>,
    label: &str,
    attributes: &BTreeMap<String, usize>,
    vertex_count: usize,
    bones: &[BoneId],
) -> Result<Option<Result<ExactRows, String>>, Fault> {
    let named: BTreeMap<Name, usize> = (attributes.iter())
        .filter_map(|(name, &accessor)| Some((Name::of(name)?, accessor)))
        .collect();
    let kind = named.keys().find_map(|name| match name {
        Name::Vector(kind, _) | Name::Joints(kind, _) => Some(*kind),
        Name::Point | Name::Rest(_) | Name::Shift(..) => None,
    });
    let Some(kind) = kind else { return Ok(None) };
    let source = Source {
        accessors,
        label,
        named,
        kind,
        vertex_count,
        bones,
    };
    match source.rows() {
        Ok(rows) => Ok(Some(Ok(rows))),
        Err(Problem::Unused(why)) => Ok(Some(Err(format!("in {label} {why}")))),
        Err(Problem::Fault(fault)) => Err(fault),
    }
}

struct Source<'a> {
    accessors: &'a Accessors<'a>,
    label: &'a str,
    named: BTreeMap<Name, usize>,
    kind: Exact,
    vertex_count: usize,
    bones: &'a [BoneId],
}

/// A morph target, and the vectors that it adds to one influence of every vertex.
type TargetShifts = (u32, Vec<[f32; 4]>);

/// All numbers of a primitive's exact attributes.
struct Slots {
    /// Per set of four influences.
    joints: Vec<Vec<[f32; 4]>>,
    vectors: Vec<Vec<[f32; 4]>>,
}

impl Source<'_> {
    fn rows(&self) -> Result<ExactRows, Problem> {
        let slots = self.slots()?;
        match self.kind {
            Exact::Linear => {
                let shifts = self.shifts(slots.vectors.len())?;
                let mut rows = Rows::with_capacity(self.vertex_count, self.vertex_count);
                let mut shift_rows = Rows::with_capacity(self.vertex_count, 0);
                let (mut row, mut shifted) = (Vec::new(), Vec::new());
                for vertex in 0..self.vertex_count {
                    row.clear();
                    shifted.clear();
                    for (slot, (values, shifts)) in slots.vectors.iter().zip(&shifts).enumerate() {
                        let p = values[vertex];
                        let of_slot = shifts.iter().map(|(of, values)| (*of, values[vertex]));
                        let of_slot = of_slot.filter(|(_, value)| *value != [0.0; 4]);
                        let place = row.len() as u32;
                        let before = shifted.len();
                        shifted.extend(of_slot.map(|(of, value)| Shift {
                            of,
                            place,
                            value: DVec4::from(value.map(f64::from)),
                        }));
                        if p != [0.0; 4] || shifted.len() > before {
                            let bone = self.bone(&slots, vertex, slot)?;
                            let p = DVec4::from(p.map(f64::from));
                            row.push(Influence { bone, p });
                        }
                    }
                    shift_rows.push_row(shifted.iter().copied());
                    let sum: f64 = row.iter().map(|i| i.p.w).sum();
                    if (sum - 1.0).abs() > SUM_TOLERANCE {
                        return unused(format!("the weights of vertex {vertex} sum to {sum}"));
                    }
                    rows.push_row(row.iter().copied());
                }
                Ok(ExactRows::Linear(rows, shift_rows))
            }
            Exact::MultiWeight => {
                let mut rows = Rows::with_capacity(self.vertex_count, self.vertex_count);
                let mut row = Vec::new();
                for vertex in 0..self.vertex_count {
                    row.clear();
                    for (slot, values) in slots.vectors.chunks_exact(3).enumerate() {
                        let weights = [0, 1, 2].map(|r| values[r][vertex].map(f64::from));
                        if weights != [[0.0; 4]; 3] {
                            let bone = self.bone(&slots, vertex, slot)?;
                            row.push(MultiWeight { bone, weights });
                        }
                    }
                    rows.push_row(row.iter().copied());
                }
                let rest = self.vectors(Name::Rest(self.kind))?;
                let rest = rest.iter().map(|&[x, y, z, _]| [x, y, z].map(f64::from));
                let rest = rest.map(DVec3::from_array).collect();
                Ok(ExactRows::MultiWeight(rest, rows))
            }
        }
    }

    /// The additions of morph targets to each influence: the target, and a vector for every vertex.
    fn shifts(&self, slot_count: usize) -> Result<Vec<Vec<TargetShifts>>, Problem> {
        let mut of_slot = vec![Vec::new(); slot_count];
        for &name in self.named.keys() {
            let Name::Shift(target, slot) = name else {
                continue;
            };
            let Some(list) = of_slot.get_mut(slot) else {
                return unused(format!("_{} has no _AS_{slot}", name.text()));
            };
            list.push((target as u32, self.vectors(name)?));
        }
        Ok(of_slot)
    }

    /// Reads every attribute, all of which must be there.
    fn slots(&self) -> Result<Slots, Problem> {
        let count = |wanted: fn(&Name, Exact) -> bool| {
            let names = self.named.keys();
            names.filter(|name| wanted(name, self.kind)).count()
        };
        let others = self.named.keys().any(|name| match name {
            Name::Vector(kind, _) | Name::Joints(kind, _) | Name::Rest(kind) => *kind != self.kind,
            Name::Shift(..) => self.kind != Exact::Linear,
            Name::Point => false,
        });
        if others {
            return unused("two kinds of exact model are named".to_owned());
        }
        let vector_count = count(|name, kind| matches!(name, Name::Vector(k, _) if *k == kind));
        let set_count = count(|name, kind| matches!(name, Name::Joints(k, _) if *k == kind));
        let per_slot = self.kind.vectors_per_slot();
        let slot_count = vector_count / per_slot;
        if vector_count % per_slot != 0
            || slot_count.div_ceil(4) != set_count
            || slot_count == 0
            || slot_count > MOST_SLOTS
        {
            return unused(format!(
                "{vector_count} _{prefix}_n and {set_count} _{prefix}J_n do not belong together",
                prefix = self.kind.prefix()
            ));
        }
        let all = |name: fn(Exact, usize) -> Name, count: usize| {
            (0..count)
                .map(|n| self.vectors(name(self.kind, n)))
                .collect::<Result<Vec<_>, Problem>>()
        };
        Ok(Slots {
            joints: all(Name::Joints, set_count)?,
            vectors: all(Name::Vector, vector_count)?,
        })
    }

    /// One attribute, four finite numbers per vertex.
    fn vectors(&self, name: Name) -> Result<Vec<[f32; 4]>, Problem> {
        let text = format!("_{}", name.text());
        let Some(&accessor) = self.named.get(&name) else {
            return unused(format!("{text} is missing"));
        };
        let shape = self.accessors.shape(accessor).unwrap_or("VEC4");
        if shape != "VEC4" {
            return unused(format!("{text} is {shape} and not VEC4"));
        }
        let role = format!("{} {text}", self.label);
        let count = Count::Exactly(self.vertex_count);
        let floats = self.accessors.floats(accessor, &role, &["VEC4"], count)?;
        let values = floats.values.as_chunks::<4>().0.to_vec();
        let broken = |v: &[f32; 4]| v.iter().any(|x| !x.is_finite());
        match values.iter().position(broken) {
            None => Ok(values),
            Some(vertex) => unused(format!("{text} of vertex {vertex} is {:?}", values[vertex])),
        }
    }

    /// The bone of one influence.
    fn bone(&self, slots: &Slots, vertex: usize, slot: usize) -> Result<BoneId, Problem> {
        let joint = slots.joints[slot / 4][vertex][slot % 4];
        // The conversion saturates, so negative and broken numbers fail the comparison.
        let index = joint as usize;
        match self.bones.get(index).filter(|_| index as f32 == joint) {
            Some(&bone) => Ok(bone),
            None => unused(format!(
                "vertex {vertex} names joint {joint} of {}",
                self.bones.len()
            )),
        }
    }
}

fn unused<T>(why: String) -> Result<T, Problem> {
    Err(Problem::Unused(why))
}
