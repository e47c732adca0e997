//! The steps of reading, in order.

use std::path::Path;

use dermis::Skin;
use dermis::document::{Document, FileFacts};
use dermis::skin::{DualQuaternionProgram, Rows, SsdProgram, VertexProgram};
use ufbx::Scene;

use crate::FbxError;
use crate::bones::Bones;
use crate::caches;
use crate::instances::{Instance, instances};
use crate::load::{Beside, ReadBeside, load, notes};
use crate::nodes::{moved, number, place, with_ancestors, with_descendants};
use crate::shapes::Shapes;
use crate::takes::{Rig, frame_rate};
use crate::weights::{self, Blend, Repairs, blend, follows_node};
use crate::{counted, materials, mesh};

/// Reads an FBX file from its bytes; geometry caches and pictures that it names are asked for beside `path`.
///
/// The document is in metres, y up, whatever the file is in; a note says what was changed. Clips begin at 0 seconds, where
/// the take begins, with a key at every frame.
///
/// # Errors
/// [`FbxError`], one sentence without the name of the file.
pub fn read(path: &Path, bytes: &[u8], read_beside: ReadBeside<'_>) -> Result<Document, FbxError> {
    let beside = Beside::new(path, read_beside);
    let root = load(bytes, &beside)?;
    let scene: &Scene = &root;
    let mut document = document(scene, &beside)?;
    let mut all = notes(scene, &beside);
    all.append(&mut document.notes);
    document.notes = all;
    document.path = path.to_owned();
    document.facts.bytes = bytes.len() as u64 + beside.byte_count();
    Ok(document)
}

fn document(scene: &Scene, beside: &Beside<'_>) -> Result<Document, FbxError> {
    let mut notes = Vec::new();
    let default = place(scene, None, &vec![true; scene.nodes.count]);
    let instances = instances(scene, &default, &mut notes)?;
    let drawn = mesh::read(&instances)?;
    let rate = frame_rate(scene, &mut notes);
    let mut document = Document {
        materials: materials::read(scene, &drawn.materials, beside, &mut notes),
        facts: facts(scene, &instances),
        polygons: (!drawn.polygons.counts.is_empty()).then_some(drawn.polygons),
        mesh: drawn.mesh,
        draw: drawn.draw,
        ..Document::default()
    };
    if let Some(cached) = caches::read(scene, &instances, beside, rate, &mut notes)? {
        document.frames = cached.frames;
        document.frames_per_second = Some(cached.frames_per_second);
        document.is_motion = true;
        document.notes = notes;
        return Ok(document);
    }
    let moved = moved(scene);
    let carried = with_descendants(scene, moved.clone());
    let moves = |instance: &Instance<'_>| {
        instance.skin.is_some()
            || instance.channels().next().is_some()
            || carried[number(instance.node)]
    };
    let has_skin = instances.iter().any(moves);
    let needed = needed_nodes(scene, &instances, &moved, has_skin);
    if !needed.contains(&true) {
        document.notes = notes;
        return Ok(document);
    }
    let mut bones = Bones::new(scene, &needed, &default)?;
    let shapes = Shapes::read(if has_skin { &instances } else { &[] }, &mut notes);
    let mut ssd = SsdProgram {
        corrections: shapes.corrections.clone(),
        ..SsdProgram::default()
    };
    let mut blending = Blend::Linear;
    if has_skin {
        let mut rows = Rows::with_capacity(document.mesh.vertex_count(), 0);
        let mut repairs = Repairs::default();
        for instance in &instances {
            weights::add_rows(&mut rows, instance, &mut bones, &mut repairs)?;
        }
        notes.extend(repairs.notes());
        blending = blend(&instances, &mut notes);
        ssd.rest_positions = document.mesh.positions().to_vec();
        ssd.weights = rows;
    }
    let program = match blending {
        Blend::Linear => VertexProgram::Ssd(ssd),
        Blend::DualQuaternion => {
            VertexProgram::DualQuaternion(DualQuaternionProgram { weighted: ssd })
        }
    };
    let skin = Skin::new(bones.skeleton()?, program, shapes.coefficients.clone())?;
    let rig = Rig {
        scene,
        needed: &needed,
        default: &default,
        bones: &bones,
        shapes: &shapes,
    };
    let (skin, clips) = rig.with_clips(&skin, rate, &mut notes)?;
    document.clips = clips;
    match has_skin {
        true => document.skin = Some(skin),
        false => {
            if !instances.is_empty() {
                let bones = counted(skin.skeleton.bone_count(), "bone", "bones");
                notes.push(format!(
                    "no mesh is bound to the {bones}: they are a skeleton for fits, and glTF is written without them"
                ));
            }
            document.skeleton = Some(skin.skeleton);
        }
    }
    document.notes = notes;
    Ok(document)
}

/// The nodes that become bones: bones of the file, bones of skins, nodes of meshes that move, and all nodes above them.
fn needed_nodes(
    scene: &Scene,
    instances: &[Instance<'_>],
    moved: &[bool],
    has_skin: bool,
) -> Vec<bool> {
    let mut needed: Vec<bool> = scene
        .nodes
        .into_iter()
        .map(|node| node.bone.is_some())
        .collect();
    for instance in instances {
        if has_skin && follows_node(instance) {
            needed[number(instance.node)] = true;
        }
        let clusters = instance.skin.into_iter().flat_map(|skin| &skin.clusters);
        for node in clusters.filter_map(|cluster| cluster.bone_node.as_deref()) {
            needed[number(node)] = true;
        }
    }
    if instances.is_empty() {
        // Without meshes, what moves is the skeleton.
        let both = needed.iter_mut().zip(moved);
        both.for_each(|(needed, moved)| *needed |= moved);
    }
    with_ancestors(scene, needed)
}

fn facts(scene: &Scene, instances: &[Instance<'_>]) -> FileFacts {
    let of_mesh = |number: usize| {
        let number = number as u32;
        instances
            .iter()
            .find(move |i| i.mesh.element.typed_id == number)
    };
    let drawn = || (0..scene.meshes.count).filter_map(of_mesh);
    let skins = drawn().filter_map(|instance| instance.skin);
    FileFacts {
        mesh_count: drawn().count(),
        joints_of_skin: skins.map(|skin| skin.clusters.count).collect(),
        morph_targets_of_mesh: drawn()
            .map(Shapes::count_of)
            .filter(|&count| count > 0)
            .collect(),
        ..FileFacts::default()
    }
}
