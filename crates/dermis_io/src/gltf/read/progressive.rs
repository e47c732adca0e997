//! Every step of the simplification of the character, beside the full character that was read.

use dermis::lod::{Progressive, ProgressivePart};
use dermis::mesh::{CustomAttribute, DrawMesh, DrawPart};
use dermis::skin::{Influence, Skin, VertexProgram, Weight};
use dermis::{BoneId, TriMesh};
use glam::{DVec3, DVec4};

use super::accessor::{Accessors, Component, Count};
use crate::Fault;
use crate::gltf::extension::{ProgressiveBlock, ProgressivePartBlock, SkinBlock};

const WHOLE: [Component; 3] = [Component::U8, Component::U16, Component::U32];

/// Reads the steps; broken ones are left out with a note.
pub(super) fn read(
    block: &ProgressiveBlock,
    full: &FullCharacter<'_>,
    notes: &mut Vec<String>,
) -> Option<Progressive> {
    match full.sequence(block) {
        Ok(sequence) => Some(sequence),
        Err(why) => {
            notes.push(format!(
                "the steps of the {} block were not used, because {why}",
                SkinBlock::EXTENSION
            ));
            None
        }
    }
}

/// What has been read of the full character.
pub(super) struct FullCharacter<'a> {
    pub(super) mesh: &'a TriMesh,
    pub(super) draw: &'a DrawMesh,
    pub(super) skin: &'a Skin,
    /// The bone of each joint of the first skin.
    pub(super) joints: &'a [BoneId],
    pub(super) accessors: &'a Accessors<'a>,
}

impl FullCharacter<'_> {
    fn sequence(&self, block: &ProgressiveBlock) -> Result<Progressive, String> {
        if !self.skin.coefficients.is_empty() {
            return Err("the skin has morph targets".to_owned());
        }
        let point_count = self.mesh.vertex_count();
        let parents = self.whole(block.parents, "nodes of steps", Count::Backed)?;
        let steps = parents.len().checked_sub(point_count);
        let Some(steps) = steps.filter(|&steps| steps > 0) else {
            return Err(format!(
                "expected more nodes than the {point_count} points, found {}",
                parents.len()
            ));
        };
        let exactly = Count::ExactlyBacked(steps);
        let positions = self.floats(block.positions, "VEC3", exactly)?;
        let (positions, _) = positions.as_chunks::<3>();
        let made = positions
            .iter()
            .map(|p| DVec3::from_array(p.map(f64::from)));
        let errors = self.floats(block.errors, "SCALAR", exactly)?;
        let errors = errors.into_iter().map(f64::from);
        if self.draw.parts.len() != block.parts.len() {
            return Err(format!(
                "expected steps of {} primitives, found {}",
                self.draw.parts.len(),
                block.parts.len()
            ));
        }
        let mut parts = Vec::with_capacity(block.parts.len());
        for (given, own) in self.draw.parts.iter().zip(&block.parts) {
            parts.push(self.part(given, own)?);
        }
        let rest = self.mesh.positions().iter().copied();
        let rest_positions: Vec<DVec3> = rest.chain(made).collect();
        let sequence = Progressive {
            point_count,
            program: self.program(block, &rest_positions[point_count..])?,
            rest_positions,
            parents,
            errors: std::iter::once(0.0).chain(errors).collect(),
            parts,
        };
        sequence.check().map_err(|error| error.to_string())?;
        Ok(sequence)
    }

    /// The program of the full character, with the rows of the steps behind its own.
    fn program(&self, block: &ProgressiveBlock, made: &[DVec3]) -> Result<VertexProgram, String> {
        let count = Count::ExactlyBacked(made.len());
        let counts = self.whole(block.joint_counts, "joint counts of steps", count)?;
        let total: usize =
            (counts.iter()).fold(0, |sum, &count| sum.saturating_add(count as usize));
        let all = Count::ExactlyBacked(total);
        let numbers = match block.joints {
            None => Vec::new(),
            Some(joints) => self.whole(joints, "joints of steps", all)?,
        };
        let bone = |joint: u32| {
            let found = self.joints.get(joint as usize).copied();
            found.ok_or_else(|| format!("there is no joint {joint}"))
        };
        let bones: Vec<BoneId> = numbers.into_iter().map(bone).collect::<Result<_, _>>()?;
        let some = |accessor: Option<usize>, shape: &str| match accessor {
            None => Ok(Vec::new()),
            Some(accessor) => self.floats(accessor, shape, all),
        };
        let (weights, vectors) = (some(block.weights, "SCALAR")?, some(block.vectors, "VEC4")?);
        let (vectors, _) = vectors.as_chunks::<4>();
        let mut program = self.skin.program.clone();
        let found = match &mut program {
            VertexProgram::Linear(linear) => {
                let rows = bones.iter().zip(vectors).map(|(&bone, p)| Influence {
                    bone,
                    p: DVec4::from_array(p.map(f64::from)),
                });
                let mut rows = rows.collect::<Vec<_>>().into_iter();
                for &count in &counts {
                    linear
                        .influences
                        .push_row(rows.by_ref().take(count as usize));
                }
                vectors.len()
            }
            VertexProgram::Ssd(weighted) => {
                push_rows(weighted, made, &counts, &bones, &weights);
                weights.len()
            }
            VertexProgram::DualQuaternion(dual) => {
                push_rows(&mut dual.weighted, made, &counts, &bones, &weights);
                weights.len()
            }
            other => return Err(format!("{} has none", other.name())),
        };
        match bones.len() == total && found == total {
            true => Ok(program),
            false => Err(format!(
                "expected {total} joints with their numbers, found {} and {found}",
                bones.len()
            )),
        }
    }

    fn part(
        &self,
        given: &DrawPart,
        block: &ProgressivePartBlock,
    ) -> Result<ProgressivePart, String> {
        let parents = self.whole(block.parents, "vertices of steps", Count::Backed)?;
        let triangles = Count::ExactlyBacked(given.triangles.len());
        let vanishes_with = match block.vanishes_with {
            None => Vec::new(),
            Some(accessor) => self.whole(accessor, "triangles of steps", triangles)?,
        };
        let mut part = ProgressivePart {
            drawn: given.clone(),
            crease_cosine: block.crease_cosine,
            parents,
            made_by: Vec::new(),
            vanishes_with,
        };
        let drawn = &mut part.drawn;
        // Files have normals even where nobody gave any: levels get new ones then, too.
        if block.normals.is_none() && block.crease_cosine.is_none() {
            drawn.normals.clear();
        }
        let Some(made_by) = block.made_by else {
            return Ok(part);
        };
        let made = part.parents.len().saturating_sub(given.points.len());
        let count = Count::ExactlyBacked(made);
        part.made_by = self.whole(made_by, "vertices that steps make", count)?;
        if let Some(normals) = block.normals {
            let made = self.floats(normals, "VEC3", count)?;
            drawn.normals.extend_from_slice(made.as_chunks().0);
        }
        for (set, &accessor) in drawn.uvs.iter_mut().zip(&block.uvs) {
            let made = self.floats(accessor, "VEC2", count)?;
            set.extend_from_slice(made.as_chunks().0);
        }
        for (set, &accessor) in drawn.colors.iter_mut().zip(&block.colors) {
            let made = self.floats(accessor, "VEC4", count)?;
            set.extend_from_slice(made.as_chunks().0);
        }
        for (CustomAttribute { data, .. }, &accessor) in drawn.custom.iter_mut().zip(&block.custom)
        {
            let shape = ["SCALAR", "VEC2", "VEC3", "VEC4"][data.width.clamp(1, 4) - 1];
            data.values.extend(self.floats(accessor, shape, count)?);
        }
        Ok(part)
    }

    fn whole(&self, accessor: usize, role: &str, count: Count) -> Result<Vec<u32>, String> {
        let read = (self.accessors).integers(accessor, role, "SCALAR", &WHOLE, count);
        read.map_err(|fault: Fault| fault.to_string())
    }

    fn floats(&self, accessor: usize, shape: &str, count: Count) -> Result<Vec<f32>, String> {
        let read = self.accessors.finite(accessor, "steps", &[shape], count);
        let floats = read.map_err(|fault: Fault| fault.to_string())?;
        Ok(floats.values)
    }
}

fn push_rows(
    ssd: &mut dermis::skin::SsdProgram,
    rest: &[DVec3],
    counts: &[u32],
    bones: &[BoneId],
    weights: &[f32],
) {
    ssd.rest_positions.extend_from_slice(rest);
    let rows = bones.iter().zip(weights).map(|(&bone, &weight)| Weight {
        bone,
        weight: f64::from(weight),
    });
    let mut rows = rows.collect::<Vec<_>>().into_iter();
    for &count in counts {
        ssd.weights.push_row(rows.by_ref().take(count as usize));
    }
}
