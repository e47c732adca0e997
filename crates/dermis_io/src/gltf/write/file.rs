//! The whole file: the pieces of a document, and the container around them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use ::gltf::binary::{Glb, Header};
use dermis::document::Level;
use dermis::mesh::DrawMesh;
use dermis::skin::SkinError;
use dermis::{Clip, Skin};
use gltf_json::{Asset, Buffer, Index, Node, Scene, extensions};
use serde_json::{Value, json};

use super::buffer_name::buffer_beside;
use super::builder::Builder;
use super::check::check;
use super::check_progressive::checked_progressive;
use super::clips::{MorphedMesh, add_clips, add_frames};
use super::form::{DefaultCoefficient, Form, add_meshes, raw_json};
use super::looks::{Looks, add_looks};
use super::meshes::mesh_ranges;
use super::morphs::shapes_of_meshes;
use super::rig::{Joints, add_bones, add_skin};
use crate::gltf::extension::SkinBlock;
use crate::gltf::extension::write::{add_block, add_levels, add_progressive, with_placed_proxies};
use crate::gltf::names::{LEVELS, SCREEN_COVERAGE};
use crate::gltf::uri::uri_of_name;
use crate::{Document, Fault, IoError, Transaction};

/// Adds a document to the files to write as `.gltf` with a `.bin` beside it, and returns their names.
///
/// # Errors
/// [`IoError::Write`], and [`IoError::Content`] for a document that glTF cannot hold or that
/// is inconsistent.
pub(crate) fn add_with_buffer(
    files: &mut Transaction,
    path: &Path,
    document: &Document,
) -> Result<Vec<PathBuf>, IoError> {
    let beside = buffer_beside(path);
    let uri = uri_of_name(beside.file_name().unwrap_or_default());
    let (json, bytes) = build(document, Some(uri)).map_err(|fault| fault.in_file(path))?;
    let mut text = serde_json::to_vec_pretty(&json).expect("JSON values have a text");
    text.push(b'\n');
    // The buffer is first: if the process is killed between the two, an old file is better than one without its buffer.
    files.add(&beside, &bytes)?;
    files.add(path, &text)?;
    Ok(vec![path.to_owned(), beside])
}

/// A document as the bytes of a `.glb` file.
///
/// ```
/// use dermis::mesh::DrawMesh;
/// use dermis_io::{Document, gltf};
///
/// let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// let mesh = dermis::TriMesh::new(corners.map(Into::into).to_vec(), vec![[0, 1, 2]])?;
/// let draw = DrawMesh::plain("triangle", 3, mesh.triangles());
/// let document = Document { mesh, draw, ..Document::default() };
/// let bytes = gltf::to_glb(&document)?;
/// assert_eq!(&bytes[..4], b"glTF");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A [`Fault`] for a document that glTF cannot hold or that is inconsistent.
pub fn to_glb(document: &Document) -> Result<Vec<u8>, Fault> {
    /// Both headers and the padding of both chunks.
    const OVERHEAD: usize = 12 + 2 * 8 + 2 * 3;
    let (json, bytes) = build(document, None)?;
    let json = serde_json::to_vec(&json).expect("JSON values have a text");
    let too_large = || {
        Fault::unsupported(
            "a .glb of more than 4 GiB",
            "write .gltf, whose buffer has no such limit",
        )
    };
    let length = json.len() + bytes.len() + OVERHEAD;
    let length = u32::try_from(length).map_err(|_| too_large())?;
    let glb = Glb {
        header: Header {
            magic: *b"glTF",
            version: 2,
            length,
        },
        json: Cow::Owned(json),
        bin: Some(Cow::Owned(bytes)),
    };
    Ok(glb.to_vec().expect("writing to memory cannot fail"))
}

/// Builds the JSON and the buffer; `buffer_uri` names the file that the buffer will be in.
fn build(document: &Document, buffer_uri: Option<String>) -> Result<(Value, Vec<u8>), Fault> {
    let plain;
    let parts = if document.draw.parts.is_empty() && document.mesh.vertex_count() > 0 {
        // Documents from formats without split vertices may have no drawn form; it is made here.
        let mesh = &document.mesh;
        plain = DrawMesh::plain("mesh", mesh.vertex_count(), mesh.triangles());
        &plain.parts
    } else {
        &document.draw.parts
    };
    let forms = check(document, parts)?;
    let sequence = checked_progressive(document, parts)?;

    let mut builder = Builder::default();
    let mut scene_nodes = Vec::new();
    let given = document.record.as_ref();
    let placed = (document.skin.as_ref())
        .map(with_placed_proxies)
        .transpose()?;
    let model = placed.as_deref();
    let of_steps = || sequence.into_iter().flat_map(|steps| steps.program.bones());
    let bones = || forms.iter().flat_map(Form::bones).chain(of_steps());
    let joints = model.map(|skin| Joints::of(skin, bones(), given));
    let skinned = model.zip(joints.as_ref());
    let mut block = None;
    let skin = match skinned {
        None => None,
        Some((skin, joints)) => {
            scene_nodes.push(add_bones(&mut builder, &skin.skeleton)?);
            let levels = add_levels(&mut builder, parts, &document.levels);
            let progressive = sequence.map(|steps| add_progressive(&mut builder, steps, joints));
            let progressive = progressive.transpose()?.flatten();
            block = add_block(&mut builder, skin, joints, given, levels, progressive)?;
            Some(add_skin(
                &mut builder,
                &skin.skeleton,
                joints,
                block.as_ref(),
            )?)
        }
    };

    let coefficients = model.map(DefaultCoefficient::all_of).transpose()?;
    let coefficients = coefficients.unwrap_or_default();
    let surfaces = (forms.iter().enumerate())
        .map(|(level, form)| {
            let surface = form.surface(skinned, &coefficients);
            surface.map_err(|fault| fault.in_level(level))
        })
        .collect::<Result<Vec<_>, Fault>>()?;
    let meshes = mesh_ranges(parts);
    let shapes_of_mesh = shapes_of_meshes(&surfaces, &meshes);
    let bounds = (block.as_ref()).and_then(|block| block.record.bounds.as_ref());
    let bounds = bounds.filter(|bounds| bounds.parts.len() == parts.len());
    let mut nodes_of_mesh = vec![Vec::new(); meshes.len()];
    for (level, surface) in surfaces.iter().enumerate() {
        // Spheres are those of the full character.
        let bounds = bounds.filter(|_| level == 0);
        let added = add_meshes(&mut builder, surface, &meshes, &shapes_of_mesh, bounds);
        let added = added.map_err(|fault| fault.in_level(level))?;
        for ((mesh, range), nodes) in added.into_iter().zip(&meshes).zip(&mut nodes_of_mesh) {
            let name = &parts[range.start].mesh_name;
            nodes.push(builder.root.push(Node {
                mesh,
                skin: skin.filter(|_| mesh.is_some()),
                name: (!name.is_empty()).then(|| node_name(name, level)),
                ..Node::default()
            }));
        }
    }
    scene_nodes.extend(nodes_of_mesh.iter().map(|nodes| nodes[0]));
    name_levels(&mut builder, &nodes_of_mesh, &document.levels);
    let morphed: Vec<MorphedMesh> = (nodes_of_mesh.into_iter().zip(shapes_of_mesh))
        .map(|(mut nodes, shapes)| {
            let root = &builder.root;
            nodes.retain(|node| {
                let mesh = root.nodes[node.value()].mesh;
                mesh.is_some_and(|mesh| root.meshes[mesh.value()].weights.is_some())
            });
            MorphedMesh { nodes, shapes }
        })
        .collect();
    match model {
        Some(skin) => {
            let clips = file_clips(skin, &document.clips)?;
            add_clips(&mut builder, skin, &clips, &morphed)?;
        }
        None => {
            let rate = document.frames_per_second;
            add_frames(&mut builder, document.frames.len(), rate, &morphed)?;
        }
    }
    let has_material = |form: &Form<'_>| form.parts.iter().any(|part| part.material.is_some());
    let looks = if forms.iter().any(has_material) {
        add_looks(&mut builder, &document.materials)?
    } else {
        Looks::default()
    };
    let mut extensions = Vec::new();
    if block.is_some() {
        extensions.push(SkinBlock::EXTENSION);
    }
    if !document.levels.is_empty() {
        extensions.push(LEVELS);
    }
    Ok(assemble(
        builder,
        scene_nodes,
        looks,
        &extensions,
        buffer_uri,
    ))
}

/// The name of a mesh's node; engines that know levels by names expect them so.
fn node_name(mesh_name: &str, level: usize) -> String {
    match level {
        0 => mesh_name.to_owned(),
        _ => format!("{mesh_name}_LOD{level}"),
    }
}

/// Tells the node of each mesh, the first of its list, which nodes are its levels, and when they take its place.
fn name_levels(builder: &mut Builder, nodes_of_mesh: &[Vec<Index<Node>>], levels: &[Level]) {
    if levels.is_empty() {
        return;
    }
    // One number for each form, down to which it is drawn; nothing is too small for the last.
    let coverage: Option<Vec<f64>> = (levels.iter())
        .map(|level| level.record.screen_coverage)
        .chain([Some(0.0)])
        .collect();
    for nodes in nodes_of_mesh {
        let ids: Vec<usize> = nodes[1..].iter().map(Index::value).collect();
        let full = &mut builder.root.nodes[nodes[0].value()];
        let named = [(LEVELS.to_owned(), json!({ "ids": ids }))];
        full.extensions = Some(extensions::scene::Node {
            others: named.into_iter().collect(),
        });
        let coverage = coverage.as_ref();
        full.extras = coverage.and_then(|list| raw_json(&json!({ SCREEN_COVERAGE: list })));
    }
}

/// The clips of a skin, with keys for all that the skin computes from a pose, for players that cannot compute
/// it.
fn file_clips<'a>(skin: &Skin, clips: &'a [Clip]) -> Result<Cow<'a, [Clip]>, Fault> {
    if skin.pose_program.is_empty() {
        return Ok(Cow::Borrowed(clips));
    }
    let baked: Result<Vec<Clip>, SkinError> = clips.iter().map(|clip| skin.bake(clip)).collect();
    Ok(Cow::Owned(baked?))
}

/// Joins the typed JSON with the looks, which pass through untyped.
fn assemble(
    builder: Builder,
    scene_nodes: Vec<Index<Node>>,
    looks: Looks,
    extensions: &[&str],
    buffer_uri: Option<String>,
) -> (Value, Vec<u8>) {
    let Builder {
        mut root, bytes, ..
    } = builder;
    root.asset = Asset {
        generator: Some(concat!("dermis ", env!("CARGO_PKG_VERSION")).to_owned()),
        ..Asset::default()
    };
    let scene = root.push(Scene {
        extensions: None,
        extras: None,
        name: None,
        nodes: scene_nodes,
    });
    root.scene = Some(scene);
    root.push(Buffer {
        byte_length: bytes.len().into(),
        name: None,
        uri: buffer_uri,
        extensions: None,
        extras: None,
    });
    root.extensions_used = looks.extensions_used;
    root.extensions_required = looks.extensions_required;
    let own = extensions.iter().map(|&name| name.to_owned());
    root.extensions_used.extend(own);
    let mut json = serde_json::to_value(&root).expect("glTF's structs are plain JSON");
    for (name, objects) in looks.arrays {
        json[name] = Value::from(objects);
    }
    (json, bytes)
}

#[cfg(test)]
mod tests {
    use dermis::TriMesh;
    use glam::DVec3;

    use super::*;
    use crate::Frame;

    fn triangle() -> Document {
        let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
        Document {
            mesh: TriMesh::new(corners, vec![[0, 1, 2]]).expect("a triangle"),
            ..Document::default()
        }
    }

    #[test]
    fn a_plain_triangle_is_this_json() {
        let uri = Some(uri_of_name("a b.bin".as_ref()));
        let (json, bytes) = build(&triangle(), uri).expect("the document is sound");
        assert_eq!(
            bytes.len(),
            36 + 36 + 8,
            "positions, normals, padded corners"
        );
        let generator = concat!("dermis ", env!("CARGO_PKG_VERSION"));
        let expected = json!({
            "accessors": [
                { "bufferView": 0, "count": 3, "componentType": 5126, "type": "VEC3",
                  "min": [0.0, 0.0, 0.0], "max": [1.0, 1.0, 0.0] },
                { "bufferView": 1, "count": 3, "componentType": 5126, "type": "VEC3" },
                { "bufferView": 2, "count": 3, "componentType": 5123, "type": "SCALAR" },
            ],
            "asset": { "generator": generator, "version": "2.0" },
            "buffers": [{ "byteLength": 80, "uri": "a%20b.bin" }],
            "bufferViews": [
                { "buffer": 0, "byteLength": 36, "byteOffset": 0, "target": 34962 },
                { "buffer": 0, "byteLength": 36, "byteOffset": 36, "target": 34962 },
                { "buffer": 0, "byteLength": 6, "byteOffset": 72, "target": 34963 },
            ],
            "scene": 0,
            "meshes": [{ "name": "mesh", "primitives": [
                { "attributes": { "POSITION": 0, "NORMAL": 1 }, "indices": 2 },
            ]}],
            "nodes": [{ "mesh": 0, "name": "mesh" }],
            "scenes": [{ "nodes": [0] }],
        });
        assert_eq!(json, expected, "nothing else is in the file");
    }

    #[test]
    fn a_sequence_is_one_target_and_one_key_per_frame() {
        let mut document = triangle();
        document.frames_per_second = Some(24.0);
        document.frames = (0..3)
            .map(|k| Frame {
                name: format!("f{k}"),
                positions: (document.mesh.positions().iter())
                    .map(|p| *p + DVec3::Z * f64::from(k))
                    .collect(),
            })
            .collect();
        let (json, _) = build(&document, None).expect("it is sound");
        let mesh = &json["meshes"][0];
        assert_eq!(
            mesh["extras"]["targetNames"],
            json!(["f0", "f1", "f2"]),
            "named by frame"
        );
        assert_eq!(
            mesh["weights"],
            json!([0.0, 0.0, 0.0]),
            "at rest by default"
        );
        let animation = &json["animations"][0];
        assert_eq!(animation["name"], "frames", "its name");
        let accessor = |end: &str| {
            let index = animation["samplers"][0][end].as_u64().expect("an index");
            &json["accessors"][index as usize]
        };
        let last = f64::from((2.0f64 / 24.0) as f32);
        assert_eq!(
            accessor("input")["max"],
            json!([last]),
            "24 frames per second"
        );
        assert_eq!(accessor("output")["count"], 9, "three weights per key");
    }
}
