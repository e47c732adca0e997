//! Every step of a simplification as stored in the `DERMIS_skin` extension: what steps make, beside the full character.

use dermis::lod::{Progressive, ProgressivePart};
use dermis::mesh::AttributeData;
use dermis::skin::{LinearProgram, SsdProgram, VertexProgram};
use serde::{Deserialize, Serialize};

use crate::Fault;
use crate::gltf::write::builder::{Builder, Use};
use crate::gltf::write::rig::Joints;

/// The steps; all numbers are accessors.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct ProgressiveBlock {
    /// The node that each node becomes: first those of the points, then one for each step; their number for one that stays.
    pub(in crate::gltf) parents: usize,
    /// The error after each step.
    pub(in crate::gltf) errors: usize,
    /// Where the node of each step rests.
    pub(in crate::gltf) positions: usize,
    /// How many joints move the node of each step.
    pub(in crate::gltf) joint_counts: usize,
    /// The joints of all of these, one after the other; missing where there is none, as the next two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::gltf) joints: Option<usize>,
    /// Their weights, for linear blends and dual quaternions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::gltf) weights: Option<usize>,
    /// Their animation-space vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::gltf) vectors: Option<usize>,
    /// One for each primitive of the full character.
    #[serde(default)]
    pub(in crate::gltf) parts: Vec<ProgressivePartBlock>,
}

/// The steps of a primitive.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct ProgressivePartBlock {
    /// The vertex that each becomes: first those of the primitive, then those that steps make; their number for one that
    /// stays.
    pub(in crate::gltf) parents: usize,
    /// The step that makes each vertex behind those of the primitive; missing where no step makes any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::gltf) made_by: Option<usize>,
    /// The step that each triangle vanishes with; the number of steps for one that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::gltf) vanishes_with: Option<usize>,
    /// Where normals are made of triangles: the cosine of the angle from which on these are shaded apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::gltf) crease_cosine: Option<f64>,
    /// Attributes of the vertices that steps make, in the order of the primitive's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::gltf) normals: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::gltf) uvs: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::gltf) colors: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::gltf) custom: Vec<usize>,
}

/// Adds the steps of a checked sequence; `None` when it has none, because glTF has no empty accessors.
pub(in crate::gltf) fn add_progressive(
    builder: &mut Builder,
    sequence: &Progressive,
    joints: &Joints,
) -> Result<Option<ProgressiveBlock>, Fault> {
    if sequence.step_count() == 0 {
        return Ok(None);
    }
    let made = sequence.point_count..sequence.parents.len();
    let positions: Vec<[f32; 3]> = (sequence.rest_positions[made.clone()].iter())
        .map(|p| p.as_vec3().to_array())
        .collect();
    let errors: Vec<[f32; 1]> = sequence.errors[1..].iter().map(|e| [*e as f32]).collect();
    let mut block = ProgressiveBlock {
        parents: builder.numbers(&sequence.parents).value(),
        errors: add(builder, "errors", &errors)?,
        positions: add(builder, "positions", &positions)?,
        ..ProgressiveBlock::default()
    };
    let (mut counts, mut numbers) = (Vec::new(), Vec::new());
    match &sequence.program {
        VertexProgram::Linear(LinearProgram { influences, .. }) => {
            let mut vectors = Vec::new();
            for row in made.map(|node| influences.row(node)) {
                counts.push(row.len() as u32);
                numbers.extend(row.iter().map(|i| u32::from(joints.of_bone(i.bone.0))));
                vectors.extend(row.iter().map(|i| i.p.as_vec4().to_array()));
            }
            block.vectors = add_some(builder, "vectors", &vectors)?;
        }
        VertexProgram::Ssd(ssd) => {
            block.weights = add_weights(builder, ssd, made, joints, &mut counts, &mut numbers)?
        }
        VertexProgram::DualQuaternion(dual) => {
            let ssd = &dual.weighted;
            block.weights = add_weights(builder, ssd, made, joints, &mut counts, &mut numbers)?;
        }
        other => {
            return Err(Fault::unsupported(
                format!("steps of {}", other.name()),
                "leave the document's steps out",
            ));
        }
    }
    block.joint_counts = builder.numbers(&counts).value();
    block.joints = (!numbers.is_empty()).then(|| builder.numbers(&numbers).value());
    let drawn = (sequence.parts.iter()).filter(|part| !part.drawn.points.is_empty());
    block.parts = drawn
        .map(|part| add_part(builder, part))
        .collect::<Result<_, Fault>>()?;
    Ok(Some(block))
}

fn add_weights(
    builder: &mut Builder,
    ssd: &SsdProgram,
    made: std::ops::Range<usize>,
    joints: &Joints,
    counts: &mut Vec<u32>,
    numbers: &mut Vec<u32>,
) -> Result<Option<usize>, Fault> {
    let mut weights = Vec::new();
    for row in made.map(|node| ssd.weights.row(node)) {
        counts.push(row.len() as u32);
        numbers.extend(row.iter().map(|w| u32::from(joints.of_bone(w.bone.0))));
        weights.extend(row.iter().map(|w| [w.weight as f32]));
    }
    add_some(builder, "weights", &weights)
}

fn add_part(builder: &mut Builder, part: &ProgressivePart) -> Result<ProgressivePartBlock, Fault> {
    let given = &part.drawn;
    let first = given.points.len();
    let mut block = ProgressivePartBlock {
        parents: builder.numbers(&part.parents).value(),
        crease_cosine: part.crease_cosine,
        ..ProgressivePartBlock::default()
    };
    if !part.vanishes_with.is_empty() {
        block.vanishes_with = Some(builder.numbers(&part.vanishes_with).value());
    }
    if part.made_by.is_empty() {
        return Ok(block);
    }
    block.made_by = Some(builder.numbers(&part.made_by).value());
    if part.crease_cosine.is_none() && !given.normals.is_empty() {
        block.normals = Some(add(builder, "normals", &given.normals[first..])?);
    }
    for set in &given.uvs {
        block.uvs.push(add(builder, "UVs", &set[first..])?);
    }
    for set in &given.colors {
        block.colors.push(add(builder, "colours", &set[first..])?);
    }
    for set in &given.custom {
        let AttributeData { width, values } = &set.data;
        let made = &values[first * width..];
        block.custom.push(match width {
            1 => add(builder, &set.name, made.as_chunks::<1>().0)?,
            2 => add(builder, &set.name, made.as_chunks::<2>().0)?,
            3 => add(builder, &set.name, made.as_chunks::<3>().0)?,
            _ => add(builder, &set.name, made.as_chunks::<4>().0)?,
        });
    }
    Ok(block)
}

fn add<const N: usize>(
    builder: &mut Builder,
    what: &str,
    values: &[[f32; N]],
) -> Result<usize, Fault> {
    let what = format!("{what} of the steps");
    let accessor = builder.floats(&what, values, Use::Other)?;
    Ok(accessor.value())
}

fn add_some<const N: usize>(
    builder: &mut Builder,
    what: &str,
    values: &[[f32; N]],
) -> Result<Option<usize>, Fault> {
    match values.is_empty() {
        true => Ok(None),
        false => add(builder, what, values).map(Some),
    }
}
