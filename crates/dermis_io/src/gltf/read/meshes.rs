//! The meshes of the scene, one copy for every node that draws one.

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
/// `drivers` are those of the first skin, as the file has them.
pub(super) fn read(
    schema: &Schema,
    scene: &Scene,
    bones: Option<&Bones>,
    drivers: &[DriverRecord],
    accessors: &Accessors<'_>,
    notes: &mut Vec<String>,
) -> Result<Meshes, Fault> {
    check_size(schema, &scene.instances)?;
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

/// Refuses files in which a few kilobytes of nodes and meshes unfold without end.
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
                        // `Bones` gave one to every node that comes here.
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
                // Numbered after welding, when the points are known.
                points: vec![0; positions.len()],
                ..part
            });
        }
        Ok(())
    }
}
