//! glTF to [`Document`](crate::Document).
//!
//! Bones are glTF nodes, and bones move all meshes: skinned meshes by the joints of their skin, other
//! meshes by their node. A file without any motion gives no skin, and its nodes are baked into the
//! positions. A file without meshes, such as captured motion, gives a skeleton of the nodes that move.
//!
//! The steps, in order: split the file and load its buffers (`container`, `schema`), check the
//! node tree (`scene`), make bones (`bones`), number the morph targets (`sliders`, and `extension` for
//! their drivers), read every primitive of every mesh node (`meshes`, `primitives`, `influences`, all
//! through the bounded decoder in `accessor`), join vertices to points (`points`), then `animations`
//! and `materials`.
//!
//! Not read: morph target normals and tangents, points and lines, cameras and lights.

use std::path::Path;

use dermis::mesh::DrawMesh;
use dermis::skin::DualQuaternionProgram;
use dermis::{Skin, TriMesh, VertexProgram};

use accessor::Accessors;
use animations::Targets;
use bones::Bones;
use container::Container;
pub(in crate::gltf) use container::Resource;
use meshes::Meshes;
use scene::Scene;

use super::extension::{ProgramKind, read as block};
use crate::{Document, Fault, FileFacts, IoError};

pub(super) mod accessor;
mod animations;
mod bones;
mod container;
mod exact;
mod influences;
mod materials;
mod meshes;
mod points;
mod primitives;
mod scene;
pub(super) mod schema;
mod sliders;
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
    let joints = bones.as_ref().and_then(|bones| bones.of_skin.get(&0));
    let found = block::read(schema, joints.map_or(&[], Vec::as_slice), &mut notes);
    let Meshes {
        mut parts,
        vertices,
        sliders,
    } = meshes::read(
        schema,
        &scene,
        bones.as_ref(),
        found.as_ref().map_or(&[], |block| &block.drivers),
        &accessors,
        &mut notes,
    )?;
    let points = vertices.weld(sliders.coefficients.len(), &mut notes);
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
        coefficients: &sliders.of_node,
    };
    let clips = animations::read(schema, &accessors, &targets, &mut notes)?;
    let mut fallback = None;
    let skin = match bones {
        None => None,
        Some(bones) => {
            let wanted = found.as_ref().map(|block| block.program);
            let exact = points.exact.filter(|exact| {
                block::agrees_at_rest(exact, &points.program, &bones.skeleton, &mut notes)
            });
            let program = match exact {
                Some(mut exact) => {
                    // Morph targets also displace the rest shape of the exact model, unless that has its own deltas.
                    if exact.correction_count() == 0 {
                        let shapes = points.program.corrections.iter();
                        let shapes = shapes.map(|shape| shape.deltas.clone()).collect();
                        exact.push_corrections(&bones.skeleton, shapes);
                    }
                    fallback = Some(points.program);
                    exact
                }
                None if wanted == Some(ProgramKind::DualQuaternion) => {
                    let weighted = points.program;
                    VertexProgram::DualQuaternion(DualQuaternionProgram { weighted })
                }
                None => VertexProgram::Ssd(points.program),
            };
            let mut skin = Skin::new(bones.skeleton, program, sliders.coefficients)?
                .with_drivers(sliders.drivers)?;
            if let Some(found) = &found {
                skin = block::apply(found, skin, &accessors, &mut notes)?;
            }
            Some(skin)
        }
    };
    for clip in &clips {
        if let Some(skin) = &skin {
            clip.check(&skin.skeleton, skin.coefficients.len())?;
        }
    }
    let (skin, skeleton) = match skin {
        Some(skin) if scene.instances.is_empty() => (None, Some(skin.skeleton)),
        skin => (skin, None),
    };
    Ok(Document {
        path: path.to_owned(),
        mesh,
        draw,
        materials: materials::read(path, container, &accessors, &mut notes)?,
        skin,
        skeleton,
        fallback,
        clips,
        record: found.map(|block| block.record),
        facts: facts(container),
        notes,
        ..Document::default()
    })
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
