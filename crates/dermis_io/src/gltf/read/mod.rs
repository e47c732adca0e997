//! glTF to [`Document`](crate::Document).
//!
//! Bones are glTF nodes, and bones move all meshes: skinned meshes by the joints of their skin, other
//! meshes by their node. A file without any motion gives no skin, and its nodes are baked into the
//! positions. A file without meshes, such as captured motion, gives a skeleton of the nodes that move.
//!
//! The steps, in order: split the file and load its buffers (`container`, `schema`), check the
//! node tree (`scene`) and find the nodes that are levels of others (`level_nodes`), make bones (`bones`), number the
//! morph targets (`sliders`, and `extension` for their drivers), read every primitive of every mesh node (`meshes`,
//! `primitives`, `influences`, all through the bounded decoder in `accessor`), join vertices to points (`points`), the
//! same again for each level (`levels`), then `animations` and `materials`.
//!
//! Not read: morph target normals and tangents, points and lines, cameras and lights.

use std::path::Path;

use dermis::mesh::DrawMesh;
use dermis::{Skin, TriMesh};

use accessor::Accessors;
use animations::Targets;
use bones::Bones;
use container::Container;
pub(in crate::gltf) use container::Resource;
use level_nodes::LevelPlan;
use meshes::Collector;
use programs::programs_of;
use scene::Scene;

use super::extension::read as block;
use crate::{Document, Fault, FileFacts, IoError};

pub(super) mod accessor;
mod animations;
mod bones;
mod container;
mod exact;
mod influences;
mod level_nodes;
mod levels;
mod materials;
mod meshes;
mod points;
mod primitives;
mod programs;
mod progressive;
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
    let joints = joints.cloned().unwrap_or_default();
    let found = block::read(schema, &joints, &mut notes);
    let plan = LevelPlan::new(schema, &scene, bones.as_ref(), &mut notes);
    let sliders = meshes::check_and_number(
        schema,
        &scene,
        bones.as_ref(),
        &plan,
        found.as_ref().map_or(&[], |block| &block.drivers),
        accessors.byte_count(),
        &mut notes,
    )?;
    let collector = Collector::new(schema, &scene, bones.as_ref(), &accessors);
    let (read, parts_of_instance) = meshes::read(collector, &sliders, &mut notes)?;
    let points = (read.vertices).weld(sliders.coefficients.len(), &mut notes);
    let draw = DrawMesh {
        parts: points.numbered(read.parts),
    };
    let mesh = TriMesh::new(
        points.program.rest_positions.clone(),
        draw.point_triangles(),
    )?;
    let source = levels::Source {
        schema,
        scene: &scene,
        bones: bones.as_ref(),
        accessors: &accessors,
        sliders: &sliders,
        plan: &plan,
        parts: &draw.parts,
        parts_of_instance: &parts_of_instance,
        point_count: mesh.vertex_count(),
    };
    let blocks = found.as_ref().map_or(&[][..], |block| &block.levels);
    let levels = levels::read(&source, blocks, &mut notes)?;
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
            let (program, stand_in) = programs_of(
                points.program,
                points.exact,
                &bones.skeleton,
                wanted,
                &mut notes,
            );
            fallback = stand_in;
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
    let steps = found.as_ref().and_then(|block| block.progressive.as_ref());
    let progressive = steps.zip(skin.as_ref()).and_then(|(steps, skin)| {
        let full = progressive::FullCharacter {
            mesh: &mesh,
            draw: &draw,
            skin,
            joints: &joints,
            accessors: &accessors,
        };
        progressive::read(steps, &full, &mut notes)
    });
    Ok(Document {
        path: path.to_owned(),
        mesh,
        draw,
        materials: materials::read(path, container, &accessors, &mut notes)?,
        skin,
        skeleton,
        fallback,
        clips,
        levels,
        progressive,
        record: found.map(|block| block.record),
        facts: facts(container, &scene),
        notes,
        ..Document::default()
    })
}

fn facts(container: &Container<'_>, scene: &Scene) -> FileFacts {
    let schema = &container.schema;
    // Meshes of levels are forms of other meshes.
    let mut is_counted = vec![true; schema.meshes.len()];
    for is_level in [true, false] {
        let nodes = schema.nodes.iter().enumerate();
        let own = nodes.filter(|(node, _)| scene.levels.contains(*node) == is_level);
        (own.filter_map(|(_, node)| node.mesh)).for_each(|mesh| is_counted[mesh] = !is_level);
    }
    let counted = schema.meshes.iter().zip(is_counted);
    let counted = counted.filter(|(_, is_counted)| *is_counted);
    let targets = counted.clone().map(|(mesh, _)| mesh.target_count());
    FileFacts {
        bytes: container.byte_count,
        mesh_count: counted.count(),
        joints_of_skin: schema.skins.iter().map(|skin| skin.joints.len()).collect(),
        morph_targets_of_mesh: targets.filter(|&count| count > 0).collect(),
    }
}
