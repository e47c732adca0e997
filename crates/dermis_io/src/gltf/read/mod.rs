//! glTF to [`Document`](crate::Document).
//!
//! Bones are glTF nodes, and everything that moves moves by bones: skinned meshes by the joints of
//! their skin, other meshes by their node. In a file without any motion there is no skin, and the
//! nodes are baked into the positions.
//!
//! The steps, in order: split the file and load its buffers (`container`, `schema`), check the
//! node tree (`scene`), make bones (`bones`), read every primitive of every mesh node
//! (`primitives`, `influences`, all through the bounded decoder in `accessor`), join vertices to
//! points (`points`), then `animations` and `materials`.
//!
//! Not read: morph target normals and tangents, points and lines, cameras and lights.

use std::path::Path;

use dermis::mesh::{DrawMesh, DrawPart};
use dermis::skin::{Coefficient, Weight};
use dermis::{Skin, TriMesh, VertexProgram};
use glam::DAffine3;
use serde_json::Value;

use accessor::Accessors;
use animations::{Coefficients, Targets};
use bones::{Bones, Rigid};
use container::Container;
use influences::Repairs;
use points::Vertices;
use primitives::{Influences, LeftOut, Mode, Placement, Reader};
use scene::{Instance, Scene};
use schema::Schema;

use crate::{Document, Fault, FileFacts, IoError, SkinRecord};

mod accessor;
mod animations;
mod bones;
mod container;
mod influences;
mod materials;
mod points;
mod primitives;
mod scene;
mod schema;
#[cfg(test)]
mod tests;

/// Reads a glTF file from its bytes; buffers beside it are found from `path`.
///
/// GLB is recognised by its first bytes; anything else is taken for JSON.
///
/// ```
/// let file = br#"{"asset": {"version": "2.0"}}"#;
/// let document = dermis_io::gltf::read("empty.gltf".as_ref(), file)?;
/// assert_eq!(document.mesh.vertex_count(), 0);
/// # Ok::<(), dermis_io::IoError>(())
/// ```
///
/// # Errors
/// [`IoError::Content`] and [`IoError::Read`].
pub fn read(path: &Path, bytes: &[u8]) -> Result<Document, IoError> {
    let container = Container::open(path, bytes)?;
    document(path, &container).map_err(|fault| fault.in_file(path))
}

fn document(path: &Path, container: &Container<'_>) -> Result<Document, Fault> {
    let schema = &container.schema;
    let accessors = Accessors::new(container);
    let mut notes = Vec::new();
    let scene = Scene::new(schema, &mut notes)?;
    let bones = if bones::has_motion(schema, &scene) {
        Some(Bones::new(schema, &scene, &accessors, &mut notes)?)
    } else {
        None
    };
    check_size(schema, &scene.instances)?;
    let (coefficients, coefficients_of_node) = coefficients(schema, &scene.instances);
    let mut meshes = Meshes {
        schema,
        scene: &scene,
        bones: bones.as_ref(),
        reader: Reader {
            schema,
            accessors: &accessors,
            left_out: LeftOut::default(),
        },
        repairs: Repairs::default(),
        vertices: Vertices::default(),
        parts: Vec::new(),
        unskinned: Vec::new(),
    };
    for instance in &scene.instances {
        let first = coefficients_of_node[instance.node].map_or(0, |c| c.first);
        meshes.instance(instance, first)?;
    }
    let Meshes {
        reader,
        repairs,
        vertices,
        mut parts,
        unskinned,
        ..
    } = meshes;
    notes.extend(reader.left_out.notes());
    notes.extend(repairs.notes());
    if !unskinned.is_empty() {
        notes.push(format!(
            "primitives without joints on a node with a skin move with their node: {}",
            unskinned.join(", ")
        ));
    }

    let points = vertices.weld(coefficients.len(), &mut notes);
    let mut of_vertex = points.point_of_vertex.into_iter();
    for part in &mut parts {
        let count = part.points.len();
        part.points = of_vertex.by_ref().take(count).collect();
    }
    let draw = DrawMesh { parts };
    let mesh = TriMesh::new(
        points.program.rest_positions.clone(),
        draw.point_triangles(),
    )?;
    let bone_of_node = match &bones {
        Some(bones) => bones.of_node.clone(),
        None => vec![None; schema.nodes.len()],
    };
    let targets = Targets {
        bones: &bone_of_node,
        coefficients: &coefficients_of_node,
    };
    let clips = animations::read(schema, &accessors, &targets, &mut notes)?;
    let skin = match bones {
        None => None,
        Some(bones) => {
            let program = VertexProgram::Ssd(points.program);
            Some(Skin::new(bones.skeleton, program, coefficients)?)
        }
    };
    for clip in &clips {
        if let Some(skin) = &skin {
            clip.check(&skin.skeleton, skin.coefficients.len())?;
        }
    }
    Ok(Document {
        path: path.to_owned(),
        mesh,
        draw,
        materials: materials::read(path, container, &accessors, &mut notes)?,
        skin,
        clips,
        record: record(schema, &mut notes),
        facts: facts(container),
        notes,
        ..Document::default()
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
                name: name.map_or_else(|| format!("{mesh_name}.{k}"), str::to_owned),
                default: defaults.get(k).copied().unwrap_or(0.0),
            });
        }
    }
    (coefficients, of_node)
}

/// Collects the primitives of all mesh nodes.
struct Meshes<'a> {
    schema: &'a Schema,
    scene: &'a Scene,
    bones: Option<&'a Bones>,
    reader: Reader<'a>,
    repairs: Repairs,
    vertices: Vertices,
    parts: Vec<DrawPart>,
    unskinned: Vec<String>,
}

impl Meshes<'_> {
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
            let (rest_from_mesh, influences) = match (self.bones, instance.skin) {
                (None, _) => {
                    let model_from_node = self.scene.model_from_node[instance.node];
                    (model_from_node, Influences::Same(Vec::new()))
                }
                (Some(bones), Some(skin)) if primitive.is_skinned() => {
                    let rows = influences::read(
                        self.reader.accessors,
                        &label,
                        &primitive.attributes,
                        positions.len(),
                        bones.of_skin.get(&skin).map_or(&[], Vec::as_slice),
                        &mut self.repairs,
                    )?;
                    (DAffine3::IDENTITY, Influences::PerVertex(rows))
                }
                (Some(bones), skin) => {
                    if skin.is_some() {
                        self.unskinned.push(label.clone());
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

/// What the `DERMIS_skin` extension of the first skin says, when this version understands it.
fn record(schema: &Schema, notes: &mut Vec<String>) -> Option<SkinRecord> {
    let name = SkinRecord::EXTENSION;
    let block = schema.skins.first()?.extensions.get(name)?;
    let version = block.get("version").and_then(Value::as_u64);
    if let Some(version) = version.filter(|&v| v > u64::from(SkinRecord::VERSION)) {
        notes.push(format!(
            "the {name} block has version {version}, newer than {}, and was ignored",
            SkinRecord::VERSION
        ));
        return None;
    }
    match serde_json::from_value(block.clone()) {
        Ok(record) => Some(record),
        Err(error) => {
            notes.push(format!("the {name} block was ignored: {error}"));
            None
        }
    }
}

fn facts(container: &Container<'_>) -> FileFacts {
    let schema = &container.schema;
    let targets = schema.meshes.iter().map(schema::Mesh::target_count);
    FileFacts {
        bytes: container.byte_count,
        mesh_count: schema.meshes.len(),
        joints_of_skin: schema.skins.iter().map(|skin| skin.joints.len()).collect(),
        morph_targets_of_mesh: targets.filter(|&count| count > 0).collect(),
    }
}
