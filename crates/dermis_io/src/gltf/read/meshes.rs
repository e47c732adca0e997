//! The meshes of the scene, one copy for every node that draws one.

use std::ops::Range;

use dermis::limits::check_memory;
use dermis::mesh::DrawPart;
use dermis::skin::Weight;
use glam::DAffine3;

use super::accessor::Accessors;
use super::bones::{Bones, Rigid};
use super::exact;
use super::influences::{self, Repairs};
use super::level_nodes::LevelPlan;
use super::points::Vertices;
use super::primitives::{Influences, LeftOut, Mode, Placement, Reader};
use super::scene::{Instance, Scene};
use super::schema::{self, Schema};
use super::sliders::Sliders;
use crate::Fault;
use crate::gltf::extension::DriverRecord;

/// Everything that the scene draws.
pub(super) struct Meshes {
    /// By node and primitive; `points` has the right length, but is not numbered yet.
    pub(super) parts: Vec<DrawPart>,
    /// The vertices of all parts.
    pub(super) vertices: Vertices,
}

/// What belongs to the full mesh of a primitive that is read, be that its own or one of a level.
#[derive(Clone, Copy)]
pub(super) struct Full<'a> {
    /// The node that draws it.
    pub(super) node: usize,
    /// The coefficient of each morph target of the primitive.
    pub(super) coefficients: &'a [usize],
}

/// Refuses files of which too much would be read, and numbers the morph targets of the scene.
///
/// `drivers` are those of the first skin, as stored in the file.
pub(super) fn check_and_number(
    schema: &Schema,
    scene: &Scene,
    bones: Option<&Bones>,
    plan: &LevelPlan,
    drivers: &[DriverRecord],
    file_bytes: u64,
    notes: &mut Vec<String>,
) -> Result<Sliders, Fault> {
    check_size(schema, plan.all(scene))?;
    check_memory_of(schema, plan.all(scene), file_bytes)?;
    let bone_count = bones.map_or(0, |bones| bones.skeleton.bone_count());
    let joints = bones.and_then(|bones| bones.of_skin.get(&0));
    let joints = joints.map_or(&[][..], Vec::as_slice);
    Ok(Sliders::read(
        schema,
        &scene.instances,
        drivers,
        joints,
        bone_count,
        notes,
    ))
}

/// Reads every primitive of every mesh node, and which parts each node has; without bones, placed where its node stands.
pub(super) fn read(
    mut collector: Collector<'_>,
    sliders: &Sliders,
    notes: &mut Vec<String>,
) -> Result<(Meshes, Vec<Range<usize>>), Fault> {
    let mut parts_of_instance = Vec::with_capacity(collector.scene.instances.len());
    for instance in &collector.scene.instances {
        let first = collector.parts.len();
        let full = Full {
            node: instance.node,
            coefficients: &sliders.of_node[instance.node],
        };
        for primitive in 0..collector.schema.meshes[instance.mesh].primitives.len() {
            collector.primitive(instance, &full, primitive)?;
        }
        parts_of_instance.push(first..collector.parts.len());
    }
    Ok((collector.finish(notes), parts_of_instance))
}

/// Refuses files in which a few kilobytes of nodes and meshes decode to very many primitives.
fn check_size(
    schema: &Schema,
    instances: impl Iterator<Item = Instance> + Clone,
) -> Result<(), Fault> {
    /// Primitives of all mesh nodes together.
    const MOST_PARTS: usize = 1 << 18;
    /// Morph targets of all mesh nodes together.
    const MOST_COEFFICIENTS: usize = 1 << 16;
    let total = |count: fn(&schema::Mesh) -> usize| {
        let counts = instances.clone().map(|i| count(&schema.meshes[i.mesh]));
        counts.fold(0, usize::saturating_add)
    };
    for (what, found, most) in [
        (
            "drawn primitives",
            total(|m| m.primitives.len()),
            MOST_PARTS,
        ),
        (
            "morph targets",
            total(schema::Mesh::target_count),
            MOST_COEFFICIENTS,
        ),
    ] {
        if found > most {
            return Err(Fault::unsupported(
                format!("a file with {found} {what}, more than {most},"),
                "split it into several files",
            ));
        }
    }
    Ok(())
}

/// Refuses files whose meshes, copied for every node that draws them, would not fit into memory.
fn check_memory_of(
    schema: &Schema,
    instances: impl Iterator<Item = Instance>,
    file_bytes: u64,
) -> Result<(), Fault> {
    let mut sizes: Vec<Option<(u64, u64)>> = vec![None; schema.meshes.len()];
    let (mut vertices, mut bytes, mut nodes) = (0u64, 0u64, 0);
    for instance in instances {
        nodes += 1;
        let size = sizes[instance.mesh].get_or_insert_with(|| {
            let parts = schema.meshes[instance.mesh].primitives.iter();
            parts.fold((0, 0), |(vertices, bytes), primitive| {
                let [more_vertices, more_bytes] = size_of(schema, primitive, file_bytes);
                (vertices + more_vertices, bytes.saturating_add(more_bytes))
            })
        });
        vertices = vertices.saturating_add(size.0);
        bytes = bytes.saturating_add(size.1);
    }
    let what = || {
        format!(
            "reading {vertices} vertices, those of each mesh once for every one of {nodes} nodes that draw it,"
        )
    };
    Ok(check_memory(&[bytes], what, "split the file")?)
}

/// Vertices of a primitive, and the bytes that they take at most while they are read and joined to points.
fn size_of(schema: &Schema, primitive: &schema::Primitive, file_bytes: u64) -> [u64; 2] {
    /// Position, rows, place in the table of points, and the point's own copies.
    const VERTEX: u64 = 220;
    /// Four influences of a vertex, and of its point.
    const INFLUENCES: u64 = 2 * 4 * 16;
    /// Four numbers of any other attribute.
    const ATTRIBUTE: u64 = 16;
    /// A displacement as it is read, of a vertex, and of its point.
    const DELTA: u64 = 12 + 2 * 32;
    /// A corner as it is read, drawn, and of the points' mesh.
    const CORNER: u64 = 12;
    // A count that the file has no bytes for is refused, with its name, when it is read.
    let count = |accessor: usize| {
        let accessor = schema.accessors.get(accessor)?;
        let stored = match (&accessor.buffer_view, &accessor.sparse) {
            (None, Some(sparse)) => sparse.count,
            _ => accessor.count,
        };
        Some((stored as u64).min(file_bytes))
    };
    let vertices = (primitive.attributes.get("POSITION")).and_then(|&accessor| count(accessor));
    let vertices = vertices.unwrap_or(0);
    let attributes = primitive.attributes.keys();
    let each: u64 = attributes
        .map(
            |name| match name.starts_with("JOINTS_") || name.starts_with('_') {
                true => INFLUENCES,
                false => ATTRIBUTE,
            },
        )
        .sum();
    let targets = primitive.targets.iter();
    let moved = targets.filter_map(|target| count(*target.get("POSITION")?));
    let deltas = moved
        .map(|moved| moved.min(vertices))
        .fold(0, u64::saturating_add);
    let corners = primitive
        .indices
        .map_or(vertices, |accessor| count(accessor).unwrap_or(0));
    let parts = [
        vertices.saturating_mul(VERTEX + each),
        deltas.saturating_mul(DELTA),
        corners.saturating_mul(CORNER),
    ];
    [vertices, parts.into_iter().fold(0, u64::saturating_add)]
}

/// Collects primitives: those of all mesh nodes, or those of a level.
pub(super) struct Collector<'a> {
    schema: &'a Schema,
    scene: &'a Scene,
    bones: Option<&'a Bones>,
    pub(super) reader: Reader<'a>,
    repairs: Repairs,
    vertices: Vertices,
    parts: Vec<DrawPart>,
}

impl<'a> Collector<'a> {
    /// One that has nothing yet.
    pub(super) fn new(
        schema: &'a Schema,
        scene: &'a Scene,
        bones: Option<&'a Bones>,
        accessors: &'a Accessors<'a>,
    ) -> Self {
        Self {
            schema,
            scene,
            bones,
            reader: Reader {
                schema,
                accessors,
                left_out: LeftOut::default(),
            },
            repairs: Repairs::default(),
            vertices: Vertices::default(),
            parts: Vec::new(),
        }
    }

    /// What was collected, with notes of what was left out or repaired.
    pub(super) fn finish(self, notes: &mut Vec<String>) -> Meshes {
        notes.extend(self.reader.left_out.notes());
        notes.extend(self.repairs.notes());
        Meshes {
            parts: self.parts,
            vertices: self.vertices,
        }
    }

    /// Reads one primitive of a mesh node.
    pub(super) fn primitive(
        &mut self,
        instance: &Instance,
        full: &Full<'_>,
        number: usize,
    ) -> Result<(), Fault> {
        let primitive = &self.schema.meshes[instance.mesh].primitives[number];
        let label = format!("mesh {} primitive {number}", instance.mesh);
        let Some(mode) = Mode::of_drawn(primitive, &label)? else {
            self.reader.left_out.undrawable.push(label);
            return Ok(());
        };
        let positions = self.reader.positions(primitive, &label)?;
        let mut exact = None;
        let (rest_from_mesh, influences) = match (self.bones, instance.skin) {
            (None, _) => {
                let model_from_node = self.scene.model_from_node[instance.node];
                (model_from_node, Influences::Same(Vec::new()))
            }
            (Some(bones), Some(skin)) if primitive.is_skinned() => {
                let bones = bones.of_skin.get(&skin).map_or(&[][..], Vec::as_slice);
                let rows = influences::read(
                    self.reader.accessors,
                    &label,
                    &primitive.attributes,
                    positions.len(),
                    bones,
                    &mut self.repairs,
                )?;
                let found = exact::read(
                    self.reader.accessors,
                    &label,
                    &primitive.attributes,
                    positions.len(),
                    bones,
                )?;
                match found.transpose() {
                    Ok(rows) => exact = rows,
                    Err(why) => self.reader.left_out.inexact.push(why),
                }
                (DAffine3::IDENTITY, Influences::PerVertex(rows))
            }
            (Some(bones), skin) => {
                if skin.is_some() {
                    self.reader.left_out.unskinned.push(label.clone());
                }
                let rigid = bones.of_rigid_node.get(&full.node);
                let Some(&Rigid {
                    bone,
                    mut rest_from_mesh,
                }) = rigid
                else {
                    // `Bones` gave a bone to every node that gets here.
                    return Err(Fault::malformed(label, "a bone", "none"));
                };
                // A level moves with the full mesh, from where its own node stands.
                let places = &self.scene.model_from_node;
                if places[instance.node] != places[full.node] {
                    rest_from_mesh = places[instance.node];
                }
                let weight = Weight { bone, weight: 1.0 };
                (rest_from_mesh, Influences::Same(vec![weight]))
            }
        };
        let placement = Placement {
            rest_from_mesh,
            influences,
            exact,
            coefficients: full.coefficients,
        };
        let vertices = &mut self.vertices;
        let part = self
            .reader
            .part(primitive, mode, &label, &positions, &placement, vertices)?;
        self.parts.push(DrawPart {
            mesh_name: self.schema.mesh_name(instance.mesh),
            // Point numbers are set after welding, when the points are known.
            points: vec![0; positions.len()],
            ..part
        });
        Ok(())
    }
}
