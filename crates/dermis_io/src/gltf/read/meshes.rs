//! The meshes of the scene, one copy for every node that draws one.

use dermis::limits::check_memory;
use dermis::mesh::DrawPart;
use dermis::skin::Weight;
use glam::DAffine3;

use super::accessor::Accessors;
use super::bones::{Bones, Rigid};
use super::exact;
use super::influences::{self, Repairs};
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
    /// The coefficients that their morph targets became.
    pub(super) sliders: Sliders,
}

/// Reads every primitive of every mesh node; without bones, placed where its node stands.
///
/// `drivers` are those of the first skin, as stored in the file.
pub(super) fn read(
    schema: &Schema,
    scene: &Scene,
    bones: Option<&Bones>,
    drivers: &[DriverRecord],
    accessors: &Accessors<'_>,
    notes: &mut Vec<String>,
) -> Result<Meshes, Fault> {
    check_size(schema, &scene.instances)?;
    check_memory_of(schema, &scene.instances, accessors.byte_count())?;
    let bone_count = bones.map_or(0, |bones| bones.skeleton.bone_count());
    let joints = bones.and_then(|bones| bones.of_skin.get(&0));
    let joints = joints.map_or(&[][..], Vec::as_slice);
    let sliders = Sliders::read(schema, &scene.instances, drivers, joints, bone_count, notes);
    let mut collector = Collector {
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
    };
    for instance in &scene.instances {
        collector.instance(instance, &sliders.of_node[instance.node])?;
    }
    notes.extend(collector.reader.left_out.notes());
    notes.extend(collector.repairs.notes());
    Ok(Meshes {
        parts: collector.parts,
        vertices: collector.vertices,
        sliders,
    })
}

/// Refuses files in which a few kilobytes of nodes and meshes decode to very many primitives.
fn check_size(schema: &Schema, instances: &[Instance]) -> Result<(), Fault> {
    /// Primitives of all mesh nodes together.
    const MOST_PARTS: usize = 1 << 18;
    /// Morph targets of all mesh nodes together.
    const MOST_COEFFICIENTS: usize = 1 << 16;
    let total = |count: fn(&schema::Mesh) -> usize| {
        let counts = instances.iter().map(|i| count(&schema.meshes[i.mesh]));
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
fn check_memory_of(schema: &Schema, instances: &[Instance], file_bytes: u64) -> Result<(), Fault> {
    let mut sizes: Vec<Option<(u64, u64)>> = vec![None; schema.meshes.len()];
    let (mut vertices, mut bytes) = (0u64, 0u64);
    for instance in instances {
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
            "reading {vertices} vertices, those of each mesh once for every one of {} nodes that draw it,",
            instances.len()
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

/// Collects the primitives of all mesh nodes.
struct Collector<'a> {
    schema: &'a Schema,
    scene: &'a Scene,
    bones: Option<&'a Bones>,
    reader: Reader<'a>,
    repairs: Repairs,
    vertices: Vertices,
    parts: Vec<DrawPart>,
}

impl Collector<'_> {
    /// Reads the primitives of one mesh node.
    fn instance(&mut self, instance: &Instance, coefficients: &[usize]) -> Result<(), Fault> {
        let mesh_name = self.schema.mesh_name(instance.mesh);
        let primitives = &self.schema.meshes[instance.mesh].primitives;
        for (p, primitive) in primitives.iter().enumerate() {
            let label = format!("mesh {} primitive {p}", instance.mesh);
            let mode = Mode::of(primitive, &label)?;
            let Some(mode) = mode.filter(|_| primitive.attributes.contains_key("POSITION")) else {
                self.reader.left_out.undrawable.push(label);
                continue;
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
                    let rigid = bones.of_rigid_node.get(&instance.node);
                    let Some(&Rigid {
                        bone,
                        rest_from_mesh,
                    }) = rigid
                    else {
                        // `Bones` gave a bone to every node that gets here.
                        return Err(Fault::malformed(label, "a bone", "none"));
                    };
                    let weight = Weight { bone, weight: 1.0 };
                    (rest_from_mesh, Influences::Same(vec![weight]))
                }
            };
            let placement = Placement {
                rest_from_mesh,
                influences,
                exact,
                coefficients,
            };
            let vertices = &mut self.vertices;
            let part = self
                .reader
                .part(primitive, mode, &label, &positions, &placement, vertices)?;
            self.parts.push(DrawPart {
                mesh_name: mesh_name.clone(),
                // Point numbers are set after welding, when the points are known.
                points: vec![0; positions.len()],
                ..part
            });
        }
        Ok(())
    }
}
