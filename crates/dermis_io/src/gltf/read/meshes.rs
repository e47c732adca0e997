//! The meshes of the scene, one copy for every node that draws one.

use dermis::mesh::DrawPart;
use dermis::skin::{Coefficient, Weight};
use glam::DAffine3;
use serde_json::Value;

use super::accessor::Accessors;
use super::animations::Coefficients;
use super::bones::{Bones, Rigid};
use super::exact;
use super::influences::{self, Repairs};
use super::points::Vertices;
use super::primitives::{Influences, LeftOut, Mode, Placement, Reader};
use super::scene::{Instance, Scene};
use super::schema::{self, Schema};
use crate::Fault;

/// Everything that the scene draws.
pub(super) struct Meshes {
    /// By node and primitive; `points` has the right length, but is not numbered yet.
    pub(super) parts: Vec<DrawPart>,
    /// The vertices of all parts.
    pub(super) vertices: Vertices,
    /// One for every morph target of every mesh node.
    pub(super) coefficients: Vec<Coefficient>,
    /// Which of them belong to a node.
    pub(super) coefficients_of_node: Vec<Option<Coefficients>>,
}

/// Reads every primitive of every mesh node; without bones, placed where its node stands.
pub(super) fn read(
    schema: &Schema,
    scene: &Scene,
    bones: Option<&Bones>,
    accessors: &Accessors<'_>,
    notes: &mut Vec<String>,
) -> Result<Meshes, Fault> {
    check_size(schema, &scene.instances)?;
    let (coefficients, coefficients_of_node) = coefficients(schema, &scene.instances);
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
        let first = coefficients_of_node[instance.node].map_or(0, |c| c.first);
        collector.instance(instance, first)?;
    }
    notes.extend(collector.reader.left_out.notes());
    notes.extend(collector.repairs.notes());
    Ok(Meshes {
        parts: collector.parts,
        vertices: collector.vertices,
        coefficients,
        coefficients_of_node,
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

/// One coefficient for every morph target of every mesh node.
fn coefficients(
    schema: &Schema,
    instances: &[Instance],
) -> (Vec<Coefficient>, Vec<Option<Coefficients>>) {
    let mut coefficients = Vec::new();
    let mut of_node = vec![None; schema.nodes.len()];
    for &Instance { node, mesh, .. } in instances {
        let mesh_name = schema.mesh_name(mesh);
        let mesh = &schema.meshes[mesh];
        let count = mesh.target_count();
        if count == 0 {
            continue;
        }
        of_node[node] = Some(Coefficients {
            first: coefficients.len(),
            count,
        });
        let defaults = schema.nodes[node].weights.as_ref();
        let defaults = defaults.unwrap_or(&mesh.weights);
        let names = mesh.extras.get("targetNames").and_then(Value::as_array);
        for k in 0..count {
            let name = names.and_then(|names| names.get(k)?.as_str());
            coefficients.push(Coefficient {
                name: match name {
                    Some(name) => schema::shorten_name(name),
                    None => format!("{mesh_name}.{k}"),
                },
                default: defaults.get(k).copied().unwrap_or(0.0),
            });
        }
    }
    (coefficients, of_node)
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
    fn instance(&mut self, instance: &Instance, first_coefficient: usize) -> Result<(), Fault> {
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
                first_coefficient,
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
