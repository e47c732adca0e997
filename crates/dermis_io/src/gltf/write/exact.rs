//! Skins that plain glTF cannot hold, as custom attributes beside their plain stand-in.
//!
//! An animation-space influence is one `_AS_s`, a multi-weight influence the three rows `_MW_3s`,
//! `_MW_3s+1` and `_MW_3s+2`; its joint is a number in `_ASJ_n` or `_MWJ_n`, four to a set as in
//! `JOINTS_n`. The joints are not in `JOINTS_n` because the validator warns about joints without weight
//! there, and because tools sort `JOINTS_n` by weight.
//!
//! All are VEC4 of f32: Blender 5.0's importer fails on custom attributes of different widths.

use dermis::Skin;
use dermis::skin::{Influence, LinearProgram, MultiWeight, MultiWeightProgram, VertexProgram};
use gltf_json::mesh::Semantic;
use gltf_json::{Accessor, Index};

use super::builder::{Builder, Use};
use super::rig::Joints;
use crate::Fault;
use crate::gltf::names::{Exact, Name};

/// How far from 1 the weights of an animation-space position may sum: beyond it, moving the whole
/// character would not move the vertex along.
const SUM_TOLERANCE: f64 = 1e-3;

/// The joint and the vectors of each influence of a point.
type Row = Vec<(u16, Vec<[f32; 4]>)>;

/// The vectors that a correction adds to the influences of a point, with their slots.
type PointShifts = Vec<(usize, [f32; 4])>;

/// An exact model's influences as the file will have them.
#[derive(Debug)]
pub(super) struct ExactRows {
    kind: Exact,
    /// Influences of the longest row.
    slots: usize,
    /// One per point.
    rows: Vec<Row>,
    /// Where each point rests in the exact model, for the kinds that need it.
    rest: Option<Vec<[f32; 4]>>,
    /// The vectors that each correction adds to the influences of each point, by slot; empty when morph targets are
    /// enough.
    shifts: Vec<Vec<PointShifts>>,
}

impl ExactRows {
    /// The rows of a program that needs them; `None` for one that is complete with the plain attributes.
    ///
    /// The program has the bones and coefficients of the skin, and was checked before.
    pub(super) fn new(
        program: &VertexProgram,
        skin: &Skin,
        joints: &Joints,
    ) -> Result<Option<Self>, Fault> {
        let mut exact = match program {
            VertexProgram::Linear(linear) => Self {
                shifts: match program.rest_corrections(&skin.skeleton) {
                    Ok(_) => Vec::new(),
                    Err(_) => shifts(skin, linear)?,
                },
                ..Self::linear(linear)?
            },
            VertexProgram::MultiWeight(multi) => Self::multi_weight(multi),
            _ => return Ok(None),
        };
        for (bone, _) in exact.rows.iter_mut().flatten() {
            *bone = joints.of_bone(*bone);
        }
        Ok(Some(exact))
    }

    fn linear(linear: &LinearProgram) -> Result<Self, Fault> {
        let rows = (linear.influences.iter().enumerate())
            .map(|(vertex, row)| linear_row(vertex, row))
            .collect::<Result<Vec<_>, Fault>>()?;
        Ok(Self {
            kind: Exact::Linear,
            slots: longest(&rows),
            rows,
            rest: None,
            shifts: Vec::new(),
        })
    }

    fn multi_weight(multi: &MultiWeightProgram) -> Self {
        let rows: Vec<_> = multi.influences.iter().map(multi_weight_row).collect();
        let rest = multi.rest_positions.iter();
        Self {
            kind: Exact::MultiWeight,
            slots: longest(&rows),
            rows,
            rest: Some(rest.map(|p| p.as_vec3().extend(1.0).to_array()).collect()),
            shifts: Vec::new(),
        }
    }

    /// Adds the attributes of a part with these points; `label` names it in faults.
    pub(super) fn add(
        &self,
        builder: &mut Builder,
        points: &[u32],
        label: &str,
    ) -> Result<Vec<(Semantic, Index<Accessor>)>, Fault> {
        let mut attributes = Vec::new();
        let mut add = |name: Name, values: Vec<[f32; 4]>| {
            let name = name.text();
            let accessor = builder.floats(&format!("_{name} of {label}"), &values, Use::Vertex)?;
            attributes.push((Semantic::Extras(name), accessor));
            Ok::<(), Fault>(())
        };
        let row = |&point: &u32| &self.rows[point as usize];
        for set in 0..self.slots.div_ceil(4) {
            let joints = |point: &u32| {
                [0, 1, 2, 3].map(|place| {
                    let slot = row(point).get(4 * set + place);
                    slot.map_or(0.0, |(joint, _)| f32::from(*joint))
                })
            };
            let values = points.iter().map(joints).collect();
            add(Name::Joints(self.kind, set), values)?;
        }
        let per_slot = self.kind.vectors_per_slot();
        for number in 0..self.slots * per_slot {
            let (slot, vector) = (number / per_slot, number % per_slot);
            let values = points.iter().map(|point| {
                let slot = row(point).get(slot);
                slot.map_or([0.0; 4], |(_, vectors)| vectors[vector])
            });
            add(Name::Vector(self.kind, number), values.collect())?;
        }
        if let Some(rest) = &self.rest {
            let values = points.iter().map(|&point| rest[point as usize]);
            add(Name::Rest(self.kind), values.collect())?;
        }
        Ok(attributes)
    }
}

impl ExactRows {
    /// Adds the attributes by which a correction, number `target` of its mesh, changes the influences of a part.
    ///
    /// Slots that the correction does not change have no attribute.
    pub(super) fn add_shifts(
        &self,
        builder: &mut Builder,
        points: &[u32],
        correction: usize,
        target: usize,
        label: &str,
    ) -> Result<Vec<(Semantic, Index<Accessor>)>, Fault> {
        let Some(of_point) = self.shifts.get(correction) else {
            return Ok(Vec::new());
        };
        let mut attributes = Vec::new();
        for slot in 0..self.slots {
            let shift = |&point: &u32| {
                let own = of_point[point as usize].iter();
                own.filter(|(at, _)| *at == slot)
                    .fold([0.0; 4], |sum, (_, value)| {
                        [0, 1, 2, 3].map(|k| sum[k] + value[k])
                    })
            };
            let values: Vec<[f32; 4]> = points.iter().map(shift).collect();
            if values.iter().all(|value| *value == [0.0; 4]) {
                continue;
            }
            let name = Name::Shift(target, slot).text();
            let accessor = builder.floats(&format!("_{name} of {label}"), &values, Use::Vertex)?;
            attributes.push((Semantic::Extras(name), accessor));
        }
        Ok(attributes)
    }
}

/// The deltas of each correction by point and slot; slots are numbered as [`linear_row`] does.
///
/// With any shape the weights of a vertex still sum to 1, so those of a shape sum to 0.
fn shifts(skin: &Skin, linear: &LinearProgram) -> Result<Vec<Vec<PointShifts>>, Fault> {
    let mut place_of_item = Vec::with_capacity(linear.influences.items().len());
    for (point, row) in linear.influences.iter().enumerate() {
        let mut bones = Vec::new();
        for influence in row {
            let known = bones.iter().position(|bone| *bone == influence.bone);
            let slot = known.unwrap_or_else(|| {
                bones.push(influence.bone);
                bones.len() - 1
            });
            place_of_item.push((point, slot));
        }
    }
    (linear.corrections.iter().zip(&skin.coefficients))
        .map(|(correction, coefficient)| {
            let mut of_point = vec![Vec::new(); linear.influences.len()];
            let mut weight_sums = vec![0.0; of_point.len()];
            for delta in &correction.deltas {
                let (point, slot) = place_of_item[delta.index as usize];
                of_point[point].push((slot, delta.value.as_vec4().to_array()));
                weight_sums[point] += delta.value.w;
            }
            let off = |sum: &f64| sum.is_nan() || sum.abs() > SUM_TOLERANCE;
            match weight_sums.iter().position(off) {
                Some(vertex) => Err(Fault::malformed(
                    format!("correction {} of vertex {vertex}", coefficient.name),
                    "weights that sum to 0",
                    weight_sums[vertex].to_string(),
                )),
                None => Ok(of_point),
            }
        })
        .collect()
}

fn longest<T>(rows: &[Vec<T>]) -> usize {
    rows.iter().map(Vec::len).max().unwrap_or(0)
}

/// One row with each bone once, whose weights sum to 1 as well as single precision can.
fn linear_row(vertex: usize, row: &[Influence]) -> Result<Row, Fault> {
    let mut merged: Vec<Influence> = Vec::with_capacity(row.len());
    for influence in row {
        match merged.iter_mut().find(|m| m.bone == influence.bone) {
            Some(same) => same.p += influence.p,
            None => merged.push(*influence),
        }
    }
    let sum: f64 = merged.iter().map(|i| i.p.w).sum();
    if sum.is_nan() || (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(Fault::malformed(
            format!("animation-space position of vertex {vertex}"),
            "weights that sum to 1",
            sum.to_string(),
        ));
    }
    let mut rounded: Vec<(u16, [f32; 4])> = (merged.iter())
        .map(|i| (i.bone.0, i.p.as_vec4().to_array()))
        .collect();
    // The rounding error of single precision is added to the largest weight, where it matters least.
    let lost = sum - rounded.iter().map(|(_, p)| f64::from(p[3])).sum::<f64>();
    let largest = rounded.iter_mut().reduce(|best, next| {
        if next.1[3].abs() > best.1[3].abs() {
            next
        } else {
            best
        }
    });
    if let Some((_, p)) = largest {
        p[3] = (f64::from(p[3]) + lost) as f32;
    }
    Ok(rounded.into_iter().map(|(j, p)| (j, vec![p])).collect())
}

/// One row with each bone once.
fn multi_weight_row(row: &[MultiWeight]) -> Row {
    let mut merged: Vec<MultiWeight> = Vec::with_capacity(row.len());
    for influence in row {
        match merged.iter_mut().find(|m| m.bone == influence.bone) {
            Some(same) => {
                let (into, from) = (
                    same.weights.as_flattened_mut(),
                    influence.weights.as_flattened(),
                );
                into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
            }
            None => merged.push(*influence),
        }
    }
    let rounded = |m: &MultiWeight| (m.bone.0, m.weights.map(|r| r.map(|x| x as f32)).to_vec());
    merged.iter().map(rounded).collect()
}

#[cfg(test)]
mod tests {
    use dermis::BoneId;
    use glam::DVec4;

    use super::*;

    fn influence(bone: u16, x: f64, w: f64) -> Influence {
        Influence {
            bone: BoneId(bone),
            p: DVec4::new(x, 0.0, 0.0, w),
        }
    }

    #[test]
    fn bones_are_merged_in_order_and_weights_sum_to_one() {
        let row = [
            influence(5, 1.0, 0.1),
            influence(2, 2.0, -0.3),
            influence(5, 3.0, 1.2),
        ];
        let rounded = linear_row(0, &row).expect("weights sum to 1");
        assert_eq!(rounded[0].0, 5, "in the order of the row");
        assert_eq!(rounded[0].1[0][0], 4.0, "positions of one bone add up");
        assert_eq!(rounded.len(), 2, "each bone once");
        let sum: f64 = rounded.iter().map(|(_, p)| f64::from(p[0][3])).sum();
        assert!((sum - 1.0).abs() < 1e-7, "the weights sum to {sum}");
    }

    #[test]
    fn a_vector_that_is_no_position_is_refused_by_vertex() {
        for w in [0.5, f64::NAN] {
            let fault = linear_row(7, &[influence(0, 0.0, w)]).expect_err("no position");
            assert!(fault.to_string().contains("vertex 7"), "{fault}");
        }
    }
}
