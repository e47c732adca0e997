//! The whole file: the pieces of a document, and the container around them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use ::gltf::binary::{Glb, Header};
use dermis::mesh::{Ball, DrawMesh, enclosing_ball_of_balls, vertex_normals};
use dermis::skin::{SkinError, SsdProgram};
use dermis::{Clip, Skin};
use gltf_json::extras::RawValue;
use gltf_json::mesh::Primitive;
use gltf_json::validation::Checked::Valid;
use gltf_json::{Asset, Buffer, Index, Mesh, Node, Scene};
use serde_json::{Value, json};

use super::buffer_name::buffer_beside;
use super::builder::Builder;
use super::check::check;
use super::clips::{MorphedNode, add_clips, add_frames};
use super::exact::ExactRows;
use super::looks::{Looks, add_looks};
use super::meshes::{Surface, mesh_ranges};
use super::morphs::{MeshTargets, Shape, add_targets};
use super::normals::{drawn_normals, turned_normals};
use super::rig::{Joints, add_bones, add_skin};
use super::weights::file_rows;
use crate::gltf::extension::SkinBlock;
use crate::gltf::extension::write::{add_block, with_placed_proxies};
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
    let plain = check(document, parts)?;
    let plain = plain.as_deref();

    let mut builder = Builder::default();
    let mut scene_nodes = Vec::new();
    let triangles = document.mesh.triangles();
    let rest = plain.map_or(document.mesh.positions(), |plain| &plain.rest_positions);
    let given = document.record.as_ref();
    let placed = (document.skin.as_ref())
        .map(with_placed_proxies)
        .transpose()?;
    let model = placed.as_deref();
    let joints = (model.zip(plain)).map(|(skin, plain)| Joints::of(skin, plain, given));
    let skinned = model.zip(joints.as_ref());
    let mut block = None;
    let skin = match skinned {
        None => None,
        Some((skin, joints)) => {
            scene_nodes.push(add_bones(&mut builder, &skin.skeleton)?);
            block = add_block(&mut builder, skin, joints, given)?;
            Some(add_skin(
                &mut builder,
                &skin.skeleton,
                joints,
                block.as_ref(),
            )?)
        }
    };

    let smooth = vertex_normals(rest, triangles);
    let exact = match skinned {
        Some((skin, joints)) => ExactRows::new(skin, joints)?,
        None => None,
    };
    let mut normals: Vec<Vec<[f32; 3]>> = (parts.iter())
        .map(|part| drawn_normals(part, &smooth))
        .collect();
    if rest != document.mesh.positions() {
        // The file's normals belong to the mesh, and a fitted skin may have another rest shape.
        let given = vertex_normals(document.mesh.positions(), triangles);
        for (part, normals) in parts.iter().zip(&mut normals) {
            turned_normals(part, normals, &given, &smooth);
        }
    }
    let surface = Surface {
        parts,
        rest,
        normals,
        rows: (plain.zip(joints.as_ref()))
            .map(|(plain, joints)| file_rows(plain, joints))
            .transpose()?,
        exact,
        joint_count: joints.as_ref().map_or(0, Joints::count),
    };
    let meshes = mesh_ranges(parts);
    let point_attribute = surface.needs_point_attribute();
    let mut primitives = (meshes.iter())
        .map(|mesh| surface.add_primitives(&mut builder, mesh.clone(), point_attribute))
        .collect::<Result<Vec<_>, Fault>>()?;
    let shapes = morph_shapes(document, plain)?;
    let targets = add_targets(&mut builder, &surface, &meshes, triangles, &smooth, &shapes)?;
    if let Some(exact) = &surface.exact {
        for ((mesh, primitives), targets) in meshes.iter().zip(&mut primitives).zip(&targets) {
            for ((number, part), primitive) in surface.drawn(mesh.clone()).zip(primitives) {
                let label = format!("part {number} (mesh {})", part.mesh_name);
                for (target, &shape) in targets.shapes.iter().enumerate() {
                    let added =
                        exact.add_shifts(&mut builder, &part.points, shape, target, &label)?;
                    let added = added.into_iter().map(|(name, at)| (Valid(name), at));
                    primitive.attributes.extend(added);
                }
            }
        }
    }
    let bounds = (block.as_ref()).and_then(|block| block.record.bounds.as_ref());
    let bounds = bounds.filter(|bounds| bounds.parts.len() == parts.len());

    let mut morphed = Vec::new();
    for ((range, primitives), targets) in meshes.iter().zip(primitives).zip(targets) {
        let name = &parts[range.start].mesh_name;
        let drawn = surface.drawn(range.clone()).map(|(number, _)| number);
        let spheres: Vec<&Ball> = bounds.map_or(Vec::new(), |bounds| {
            drawn
                .filter_map(|number| bounds.parts[number].best())
                .collect()
        });
        let shape_numbers = targets.shapes.clone();
        let mesh = builder
            .root
            .push(mesh_json(name, primitives, targets, &shapes, &spheres)?);
        let node = builder.root.push(Node {
            mesh: Some(mesh),
            skin,
            name: (!name.is_empty()).then(|| name.clone()),
            ..Node::default()
        });
        scene_nodes.push(node);
        if !shape_numbers.is_empty() {
            morphed.push(MorphedNode {
                node,
                shapes: shape_numbers,
            });
        }
    }
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
    let looks = if parts.iter().any(|part| part.material.is_some()) {
        add_looks(&mut builder, &document.materials)?
    } else {
        Looks::default()
    };
    Ok(assemble(
        builder,
        scene_nodes,
        looks,
        block.is_some(),
        buffer_uri,
    ))
}

/// The shapes that the rest shape can move towards: the corrections of a skin, or the frames of a sequence.
fn morph_shapes<'a>(
    document: &'a Document,
    plain: Option<&'a SsdProgram>,
) -> Result<Vec<Shape<'a>>, Fault> {
    let (Some(skin), Some(plain)) = (&document.skin, plain) else {
        return Ok(document.frames.iter().map(Shape::Frame).collect());
    };
    // A still file shows the default pose with the corrections that drivers set for it.
    let default = skin.run_pose_program(&skin.skeleton.default_pose())?;
    let named = skin.coefficients.iter().zip(default.coefficients);
    Ok((plain.corrections.iter().zip(named))
        .map(|(correction, (coefficient, default))| Shape::Correction {
            correction,
            name: &coefficient.name,
            default,
            // Drivers find it by its name.
            must_stay: !skin.pose_program.drivers.is_empty(),
        })
        .collect())
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

fn mesh_json(
    name: &str,
    mut primitives: Vec<Primitive>,
    targets: MeshTargets,
    shapes: &[Shape<'_>],
    spheres: &[&Ball],
) -> Result<Mesh, Fault> {
    let (mut weights, mut extras) = (None, serde_json::Map::new());
    // Loaders hand extras on to their users: three.js as userData of mesh and geometry.
    if spheres.len() == primitives.len() && !spheres.is_empty() {
        for (primitive, sphere) in primitives.iter_mut().zip(spheres) {
            primitive.extras = raw_json(&json!({ BOUNDING_SPHERE: sphere }));
        }
        let balls: Vec<Ball> = spheres.iter().map(|ball| **ball).collect();
        let sphere = enclosing_ball_of_balls(&balls);
        extras.insert(BOUNDING_SPHERE.to_owned(), json!(sphere));
    }
    if !targets.shapes.is_empty() {
        let own = || targets.shapes.iter().map(|&m| &shapes[m]);
        let defaults: Vec<f32> = own().map(|shape| shape.default_weight() as f32).collect();
        if let Some(at) = defaults.iter().position(|w| !w.is_finite()) {
            return Err(Fault::malformed(
                format!("correction {}", shapes[targets.shapes[at]].name()),
                "a finite default",
                defaults[at].to_string(),
            ));
        }
        let names: Vec<&str> = own().map(Shape::name).collect();
        extras.insert("targetNames".to_owned(), json!(names));
        weights = Some(defaults);
        for (primitive, list) in primitives.iter_mut().zip(targets.targets_of_part) {
            primitive.targets = Some(list);
        }
    }
    Ok(Mesh {
        extensions: None,
        extras: match extras.is_empty() {
            true => None,
            false => raw_json(&Value::Object(extras)),
        },
        name: (!name.is_empty()).then(|| name.to_owned()),
        primitives,
        weights,
    })
}

/// The name of spheres in `extras` of meshes and primitives.
const BOUNDING_SPHERE: &str = "boundingSphere";

fn raw_json(value: &Value) -> Option<Box<RawValue>> {
    let text = value.to_string();
    Some(RawValue::from_string(text).expect("a JSON value's text is JSON"))
}

/// Joins the typed JSON with the looks, which pass through untyped.
fn assemble(
    builder: Builder,
    scene_nodes: Vec<Index<Node>>,
    looks: Looks,
    has_block: bool,
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
    if has_block {
        root.extensions_used.push(SkinBlock::EXTENSION.to_owned());
    }
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
