//! The levels of the character: what their nodes draw, part by part beside the full character.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use dermis::document::Level;
use dermis::mesh::{DrawMesh, DrawPart};
use dermis::{Skin, TriMesh, VertexProgram};

use super::accessor::{Accessors, Component, Count};
use super::bones::Bones;
use super::level_nodes::LevelPlan;
use super::meshes::{Collector, Full};
use super::primitives::{LeftOut, Mode};
use super::programs::programs_of;
use super::scene::{Instance, Scene};
use super::schema::{self, Primitive, Schema};
use super::sliders::{Sliders, targets_in_full};
use crate::Fault;
use crate::gltf::extension::{LevelBlock, SkinBlock};

/// A file whose full character has been read.
pub(super) struct Source<'a> {
    pub(super) schema: &'a Schema,
    pub(super) scene: &'a Scene,
    pub(super) bones: Option<&'a Bones>,
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) sliders: &'a Sliders,
    pub(super) plan: &'a LevelPlan,
    /// What is drawn of the full character, and which parts each mesh node has.
    pub(super) parts: &'a [DrawPart],
    pub(super) parts_of_instance: &'a [Range<usize>],
    pub(super) point_count: usize,
}

/// Reads all levels; `blocks` is what the `DERMIS_skin` block says about them.
pub(super) fn read(
    source: &Source<'_>,
    mut blocks: &[LevelBlock],
    notes: &mut Vec<String>,
) -> Result<Vec<Level>, Fault> {
    let count = source.plan.count();
    if !blocks.is_empty() && blocks.len() != count {
        notes.push(format!(
            "the {} block describes {} levels, and the nodes have {count}: their errors are not known",
            SkinBlock::EXTENSION,
            blocks.len()
        ));
        blocks = &[];
    }
    let mut levels: Vec<Level> = Vec::with_capacity(count);
    for number in 0..count {
        let mut own_notes = Vec::new();
        let before = levels.last();
        let points_before = before.map_or(source.point_count, |level| level.mesh.vertex_count());
        let block = blocks.get(number);
        let level = source.level(number, block, points_before, &mut own_notes);
        levels.extend(level.map_err(|fault| fault.in_level(number + 1))?);
        // What was said of the full character's meshes is not said again where a level has them, too.
        own_notes.retain(|note| !notes.contains(note));
        notes.extend((own_notes.iter()).map(|note| format!("level {}: {note}", number + 1)));
    }
    Ok(levels)
}

/// A primitive of a level, and the part of the full character that it is a coarser form of.
struct Matched {
    instance: Instance,
    full: Instance,
    primitive: usize,
    part: usize,
}

impl Source<'_> {
    /// One level; `None` when nothing is left of the character.
    fn level(
        &self,
        number: usize,
        block: Option<&LevelBlock>,
        points_before: usize,
        notes: &mut Vec<String>,
    ) -> Result<Option<Level>, Fault> {
        let mut collector = Collector::new(self.schema, self.scene, self.bones, self.accessors);
        let mut parts: Vec<DrawPart> = (self.parts.iter())
            .map(|full| DrawPart {
                mesh_name: full.mesh_name.clone(),
                material: full.material,
                ..DrawPart::default()
            })
            .collect();
        let matched = self.matched(number, block, &mut collector.reader.left_out, notes)?;
        for of_node in matched.chunk_by(|a, b| a.full.node == b.full.node) {
            let Matched { full, instance, .. } = &of_node[0];
            let of_full = &self.sliders.of_node[full.node];
            let targets = targets_in_full(self.schema, full, instance).unwrap_or_default();
            let coefficients: Vec<usize> = targets.iter().map(|&t| of_full[t]).collect();
            let full = Full {
                node: full.node,
                coefficients: &coefficients,
            };
            for matched in of_node {
                collector.primitive(instance, &full, matched.primitive)?;
            }
        }
        if matched.is_empty() {
            notes.push("nothing is left of the character, so it was left out".to_owned());
            return Ok(None);
        }
        let read = collector.finish(notes);
        let points = (read.vertices).weld(self.sliders.coefficients.len(), notes);
        let drawn = points.numbered(read.parts);
        for (matched, drawn) in matched.iter().zip(drawn) {
            parts[matched.part] = DrawPart {
                mesh_name: std::mem::take(&mut parts[matched.part].mesh_name),
                ..drawn
            };
        }
        let draw = DrawMesh { parts };
        let rest = points.program.rest_positions.clone();
        let mesh = TriMesh::new(rest, draw.point_triangles())?;
        let wanted = block.map(|block| block.program);
        let (program, fallback) = match self.bones {
            None => (VertexProgram::Ssd(points.program), None),
            Some(Bones { skeleton, .. }) => {
                let plain = points.program;
                let (program, fallback) = programs_of(plain, points.exact, skeleton, wanted, notes);
                notes.extend(wanted.and_then(|wanted| wanted.note_of_other(&program)));
                let coefficients = self.sliders.coefficients.clone();
                let checked = Skin::new(skeleton.clone(), program, coefficients)?;
                (checked.program, fallback)
            }
        };
        let mut record = block.map_or_else(Default::default, |block| block.record);
        let shown = self.plan.screen_coverage(number);
        record.screen_coverage = record.screen_coverage.or(shown);
        let becomes = block.and_then(|block| block.becomes);
        Ok(Some(Level {
            becomes: self.becomes(becomes, points_before, mesh.vertex_count(), notes),
            mesh,
            draw,
            program,
            fallback,
            record,
        }))
    }

    /// The primitives of a level that have a part in the full character, in the order of the file.
    fn matched(
        &self,
        number: usize,
        block: Option<&LevelBlock>,
        left_out: &mut LeftOut,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Matched>, Fault> {
        let instances = self.plan.level(self.scene, number);
        let full = self.scene.instances.iter().zip(self.parts_of_instance);
        let (mut drawn, mut numbers) = (Vec::new(), Vec::new());
        for ((full, parts), instance) in full.zip(instances) {
            let Some(instance) = instance else { continue };
            let primitives = &self.schema.meshes[instance.mesh].primitives;
            let mut own = Vec::new();
            for (p, primitive) in primitives.iter().enumerate() {
                let label = format!("mesh {} primitive {p}", instance.mesh);
                match Mode::of_drawn(primitive, &label)? {
                    Some(_) => own.push(p),
                    None => left_out.undrawable.push(label),
                }
            }
            let materials: Vec<Option<usize>> = (self.parts[parts.clone()].iter())
                .map(|part| part.material)
                .collect();
            let by_material = by_material(primitives, &own, &materials);
            numbers.extend(by_material.iter().map(|at| at.map(|at| parts.start + at)));
            drawn.extend(own.iter().map(|&p| (*full, instance, p, parts.clone())));
        }
        if let Some(block) = block {
            let in_place = (block.primitives.iter().zip(&drawn))
                .all(|(number, (.., parts))| parts.contains(number));
            // Rising, so that no part has two.
            let is_rising = block.primitives.windows(2).all(|pair| pair[0] < pair[1]);
            if block.primitives.len() == drawn.len() && in_place && is_rising {
                numbers = block.primitives.iter().copied().map(Some).collect();
            }
        }
        let (mut matched, mut extra) = (Vec::new(), Vec::new());
        for ((full, instance, primitive, _), part) in drawn.into_iter().zip(numbers) {
            match part {
                Some(part) => matched.push(Matched {
                    instance,
                    full,
                    primitive,
                    part,
                }),
                None => extra.push(format!("mesh {} primitive {primitive}", instance.mesh)),
            }
        }
        if !extra.is_empty() {
            notes.push(format!(
                "left out, because the full mesh has fewer primitives: {}",
                schema::listed(&extra)
            ));
        }
        Ok(matched)
    }

    /// What the points of the level before become; nothing when that does not fit the levels that were read.
    fn becomes(
        &self,
        accessor: Option<usize>,
        points_before: usize,
        point_count: usize,
        notes: &mut Vec<String>,
    ) -> Vec<u32> {
        let Some(accessor) = accessor else {
            return Vec::new();
        };
        let types = [Component::U8, Component::U16, Component::U32];
        let count = Count::ExactlyBacked(points_before);
        let role = "what points become";
        let read = (self.accessors).integers(accessor, role, "SCALAR", &types, count);
        let why = match read {
            Ok(becomes) => match becomes.iter().find(|&&point| point as usize >= point_count) {
                None => return becomes,
                Some(point) => format!("there is no point {point}"),
            },
            Err(fault) => fault.to_string(),
        };
        notes.push(format!(
            "which points the points of the level before become was not used, because {why}"
        ));
        Vec::new()
    }
}

/// The part for each of some primitives: one of the same material where there is one, else any; each part at most once.
fn by_material(
    primitives: &[Primitive],
    wanted: &[usize],
    materials: &[Option<usize>],
) -> Vec<Option<usize>> {
    let mut of_material: BTreeMap<Option<usize>, VecDeque<usize>> = BTreeMap::new();
    for (part, &material) in materials.iter().enumerate() {
        of_material.entry(material).or_default().push_back(part);
    }
    let same = |&p: &usize| of_material.get_mut(&primitives[p].material)?.pop_front();
    let mut found: Vec<Option<usize>> = wanted.iter().map(same).collect();
    let mut left: Vec<usize> = of_material.into_values().flatten().collect();
    left.sort_unstable();
    let others = found.iter_mut().filter(|part| part.is_none());
    for (part, other) in others.zip(left) {
        *part = Some(other);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primitives_find_the_part_of_their_material_and_then_any() {
        let primitive = |material: Option<usize>| Primitive {
            attributes: Default::default(),
            indices: None,
            material,
            mode: None,
            targets: Vec::new(),
        };
        let primitives = [Some(2), Some(7), Some(1), None].map(primitive);
        let materials = [Some(1), Some(2), Some(3)];
        let found = by_material(&primitives, &[0, 1, 2, 3], &materials);
        assert_eq!(
            found,
            [Some(1), Some(2), Some(0), None],
            "2 and 1 by material, 7 takes what is left, and the last one finds nothing"
        );
    }
}
