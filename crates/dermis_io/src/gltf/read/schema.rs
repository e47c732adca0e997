//! The parts of glTF's JSON that dermis reads.
//!
//! Own structs rather than gltf-json's, because that crate cuts indices to 32 bits (index 2³² would
//! silently mean 0), requires a node for every animation target, and refuses a file for one odd
//! material. Every element is parsed on its own, so that a fault names it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Fault;
use crate::gltf::extension::SkinBlock;
use crate::gltf::names::LEVELS;

/// A glTF file's JSON.
#[derive(Debug, Default)]
pub(in crate::gltf) struct Schema {
    pub(in crate::gltf) scene: Option<usize>,
    pub(in crate::gltf) scenes: Vec<Scene>,
    pub(in crate::gltf) nodes: Vec<Node>,
    pub(in crate::gltf) meshes: Vec<Mesh>,
    pub(in crate::gltf) skins: Vec<Skin>,
    pub(in crate::gltf) animations: Vec<Animation>,
    pub(in crate::gltf) accessors: Vec<Accessor>,
    pub(in crate::gltf) buffer_views: Vec<BufferView>,
    pub(in crate::gltf) buffers: Vec<Buffer>,
    pub(in crate::gltf) images: Vec<Image>,
    /// These three pass through untouched.
    pub(in crate::gltf) materials: Vec<Value>,
    pub(in crate::gltf) textures: Vec<Value>,
    pub(in crate::gltf) samplers: Vec<Value>,
    pub(in crate::gltf) extensions_used: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(in crate::gltf) struct Scene {
    #[serde(default)]
    pub(in crate::gltf) nodes: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(in crate::gltf) struct Node {
    pub(in crate::gltf) name: Option<String>,
    #[serde(default)]
    pub(in crate::gltf) children: Vec<usize>,
    pub(in crate::gltf) mesh: Option<usize>,
    pub(in crate::gltf) skin: Option<usize>,
    pub(in crate::gltf) matrix: Option<[f64; 16]>,
    pub(in crate::gltf) translation: Option<[f64; 3]>,
    pub(in crate::gltf) rotation: Option<[f64; 4]>,
    pub(in crate::gltf) scale: Option<[f64; 3]>,
    pub(in crate::gltf) weights: Option<Vec<f64>>,
    #[serde(default)]
    pub(in crate::gltf) extensions: Value,
    #[serde(default)]
    pub(in crate::gltf) extras: Value,
}

#[derive(Debug, Deserialize)]
pub(in crate::gltf) struct Mesh {
    pub(in crate::gltf) name: Option<String>,
    pub(in crate::gltf) primitives: Vec<Primitive>,
    #[serde(default)]
    pub(in crate::gltf) weights: Vec<f64>,
    #[serde(default)]
    pub(in crate::gltf) extras: Value,
}

#[derive(Debug, Deserialize)]
pub(in crate::gltf) struct Primitive {
    pub(in crate::gltf) attributes: BTreeMap<String, usize>,
    pub(in crate::gltf) indices: Option<usize>,
    pub(in crate::gltf) material: Option<usize>,
    pub(in crate::gltf) mode: Option<u64>,
    #[serde(default)]
    pub(in crate::gltf) targets: Vec<BTreeMap<String, usize>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct Skin {
    pub(in crate::gltf) joints: Vec<usize>,
    pub(in crate::gltf) inverse_bind_matrices: Option<usize>,
    #[serde(default)]
    pub(in crate::gltf) extensions: Value,
}

#[derive(Debug, Deserialize)]
pub(in crate::gltf) struct Animation {
    pub(in crate::gltf) name: Option<String>,
    pub(in crate::gltf) channels: Vec<AnimationChannel>,
    pub(in crate::gltf) samplers: Vec<AnimationSampler>,
}

#[derive(Debug, Deserialize)]
pub(in crate::gltf) struct AnimationChannel {
    pub(in crate::gltf) sampler: usize,
    pub(in crate::gltf) target: AnimationTarget,
}

#[derive(Debug, Deserialize)]
pub(in crate::gltf) struct AnimationTarget {
    pub(in crate::gltf) node: Option<usize>,
    pub(in crate::gltf) path: String,
}

#[derive(Debug, Deserialize)]
pub(in crate::gltf) struct AnimationSampler {
    pub(in crate::gltf) input: usize,
    pub(in crate::gltf) output: usize,
    pub(in crate::gltf) interpolation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct Accessor {
    pub(in crate::gltf) buffer_view: Option<usize>,
    #[serde(default)]
    pub(in crate::gltf) byte_offset: usize,
    pub(in crate::gltf) component_type: u64,
    #[serde(default)]
    pub(in crate::gltf) normalized: bool,
    pub(in crate::gltf) count: usize,
    #[serde(rename = "type")]
    pub(in crate::gltf) shape: String,
    pub(in crate::gltf) sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(in crate::gltf) struct Sparse {
    pub(in crate::gltf) count: usize,
    pub(in crate::gltf) indices: SparseIndices,
    pub(in crate::gltf) values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct SparseIndices {
    pub(in crate::gltf) buffer_view: usize,
    #[serde(default)]
    pub(in crate::gltf) byte_offset: usize,
    pub(in crate::gltf) component_type: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct SparseValues {
    pub(in crate::gltf) buffer_view: usize,
    #[serde(default)]
    pub(in crate::gltf) byte_offset: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct BufferView {
    pub(in crate::gltf) buffer: usize,
    #[serde(default)]
    pub(in crate::gltf) byte_offset: usize,
    pub(in crate::gltf) byte_length: usize,
    pub(in crate::gltf) byte_stride: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct Buffer {
    pub(in crate::gltf) byte_length: usize,
    pub(in crate::gltf) uri: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gltf) struct Image {
    pub(in crate::gltf) name: Option<String>,
    pub(in crate::gltf) uri: Option<String>,
    pub(in crate::gltf) mime_type: Option<String>,
    pub(in crate::gltf) buffer_view: Option<usize>,
}

impl Schema {
    /// Parses the JSON, and refuses versions and required extensions that dermis cannot read.
    pub(in crate::gltf) fn parse(json: &[u8]) -> Result<Self, Fault> {
        // Some editors put a byte order mark before the JSON, which glTF forbids and all accept.
        let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
        let root: Value = serde_json::from_slice(json)
            .map_err(|e| Fault::malformed("glTF JSON", "legal JSON", e.to_string()))?;
        let Value::Object(mut root) = root else {
            return Err(Fault::malformed("glTF JSON", "an object", kind_of(&root)));
        };
        check_version(&root)?;
        let required: Vec<String> = list(&mut root, "extensionsRequired", "required extension")?;
        required.iter().try_for_each(|name| check_required(name))?;
        let scene = match root.remove("scene") {
            None | Some(Value::Null) => None,
            Some(value) => Some(parse(value, "scene")?),
        };
        Ok(Self {
            scene,
            scenes: list(&mut root, "scenes", "scene")?,
            nodes: list(&mut root, "nodes", "node")?,
            meshes: list(&mut root, "meshes", "mesh")?,
            skins: list(&mut root, "skins", "skin")?,
            animations: list(&mut root, "animations", "animation")?,
            accessors: list(&mut root, "accessors", "accessor")?,
            buffer_views: list(&mut root, "bufferViews", "buffer view")?,
            buffers: list(&mut root, "buffers", "buffer")?,
            images: list(&mut root, "images", "image")?,
            materials: list(&mut root, "materials", "material")?,
            textures: list(&mut root, "textures", "texture")?,
            samplers: list(&mut root, "samplers", "sampler")?,
            extensions_used: list(&mut root, "extensionsUsed", "used extension")?,
        })
    }

    /// A mesh's name, or its number.
    pub(in crate::gltf) fn mesh_name(&self, mesh: usize) -> String {
        let name = self.meshes.get(mesh).and_then(|m| m.name.as_deref());
        name_or(name, "mesh", mesh)
    }

    /// A node's name, or its number.
    pub(in crate::gltf) fn node_name(&self, node: usize) -> String {
        let name = self.nodes.get(node).and_then(|n| n.name.as_deref());
        name_or(name, "node", node)
    }
}

impl Mesh {
    /// Number of morph targets; glTF requires the same number in every primitive, here the largest counts.
    pub(in crate::gltf) fn target_count(&self) -> usize {
        let counts = self.primitives.iter().map(|p| p.targets.len());
        counts.max().unwrap_or(0)
    }
}

impl Primitive {
    /// True when the vertices name joints.
    pub(in crate::gltf) fn is_skinned(&self) -> bool {
        self.attributes
            .keys()
            .any(|name| name.starts_with("JOINTS_"))
    }
}

/// A name, or a made-up one for an unnamed element.
pub(in crate::gltf) fn name_or(name: Option<&str>, what: &str, index: usize) -> String {
    match name {
        Some(name) if !name.is_empty() => shorten_name(name),
        _ => format!("{what}_{index}"),
    }
}

/// A name of at most 1000 letters.
///
/// A mesh's name is copied to each of its parts, and a hostile file has a long name and many nodes.
pub(in crate::gltf) fn shorten_name(name: &str) -> String {
    name.chars().take(1000).collect()
}

/// A list for people: the first few, and how many more.
pub(in crate::gltf) fn listed(items: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = items[..items.len().min(SHOWN)].join(", ");
    match items.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The element of a list, or a fault that says which index was too large.
pub(in crate::gltf) fn get<'a, T>(
    list: &'a [T],
    index: usize,
    what: &str,
    named_by: &str,
) -> Result<&'a T, Fault> {
    list.get(index)
        .ok_or_else(|| Fault::malformed(named_by, index_below(what, list.len()), index.to_string()))
}

/// The text for "expected" where an index is too large.
pub(in crate::gltf) fn index_below(what: &str, count: usize) -> String {
    let article = if what.starts_with(['a', 'i']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {what} index below {count}")
}

fn list<T: DeserializeOwned>(
    root: &mut Map<String, Value>,
    key: &str,
    element: &str,
) -> Result<Vec<T>, Fault> {
    match root.remove(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .into_iter()
            .enumerate()
            .map(|(i, item)| parse(item, &format!("{element} {i}")))
            .collect(),
        Some(other) => Err(Fault::malformed(key, "a list", kind_of(&other))),
    }
}

fn parse<T: DeserializeOwned>(value: Value, element: &str) -> Result<T, Fault> {
    serde_json::from_value(value)
        .map_err(|e| Fault::malformed(element, "a value that glTF 2.0 allows", e.to_string()))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn check_version(root: &Map<String, Value>) -> Result<(), Fault> {
    let version = root.get("asset").and_then(|asset| asset.get("version"));
    match version.and_then(Value::as_str) {
        Some(version) if version.starts_with("2.") => Ok(()),
        Some(version) => Err(Fault::unsupported(
            format!("glTF version {version}"),
            "convert the file to glTF 2.0 first",
        )),
        None => Err(Fault::malformed(
            "asset",
            "a version such as \"2.0\"",
            version.map_or("none", kind_of),
        )),
    }
}

/// True for extensions about materials, textures and pictures, which pass through unchanged.
pub(in crate::gltf) fn is_about_the_look(extension: &str) -> bool {
    ["KHR_materials_", "KHR_texture_", "EXT_texture_"]
        .iter()
        .any(|prefix| extension.starts_with(prefix))
}

fn check_required(extension: &str) -> Result<(), Fault> {
    /// Extensions whose data the decoder reads, or that do not concern meshes.
    const TAKEN: [&str; 5] = [
        LEVELS,
        "KHR_mesh_quantization",
        "KHR_lights_punctual",
        "KHR_xmp_json_ld",
        SkinBlock::EXTENSION,
    ];
    if TAKEN.contains(&extension) || is_about_the_look(extension) {
        return Ok(());
    }
    let hint = match extension {
        "KHR_draco_mesh_compression" | "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
            "decode the file first, for example with `gltf-transform copy`"
        }
        "EXT_mesh_gpu_instancing" => {
            "turn the instances into nodes first, for example with `gltf-transform uninstance`"
        }
        _ => "export the file again without it",
    };
    Err(Fault::unsupported(
        format!("the required extension {extension}"),
        hint,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: &str) -> String {
        Schema::parse(json.as_bytes())
            .expect_err("the JSON is refused")
            .to_string()
    }

    #[test]
    fn a_fault_names_the_element() {
        assert_eq!(
            fault(r#"{"asset":{"version":"2.0"},"nodes":[{},{"mesh":-1}]}"#),
            "node 1: expected a value that glTF 2.0 allows, found invalid value: integer `-1`, expected usize",
            "the second node is the bad one"
        );
        assert_eq!(
            fault(r#"{"asset":{"version":"2.0"},"nodes":{}}"#),
            "nodes: expected a list, found an object",
            "a list is a list"
        );
    }

    #[test]
    fn versions_and_required_extensions_are_checked() {
        assert!(
            fault(r#"{"asset":{"version":"1.0"}}"#)
                .starts_with("glTF version 1.0 is not supported"),
            "version 1 is another format"
        );
        assert!(
            fault("{}").starts_with("asset: expected a version"),
            "glTF always has a version"
        );
        let draco =
            r#"{"asset":{"version":"2.0"},"extensionsRequired":["KHR_draco_mesh_compression"]}"#;
        assert_eq!(
            fault(draco),
            "the required extension KHR_draco_mesh_compression is not supported: decode the file \
             first, for example with `gltf-transform copy`",
            "the hint says what to do"
        );
        let taken = r#"{"asset":{"version":"2.0"},
            "extensionsRequired":["KHR_mesh_quantization","KHR_texture_transform"]}"#;
        assert!(Schema::parse(taken.as_bytes()).is_ok(), "both are read");
    }

    #[test]
    fn an_index_of_two_to_the_32_is_not_index_0() {
        let json = r#"{"asset":{"version":"2.0"},"nodes":[{"mesh":4294967296}]}"#;
        let schema = Schema::parse(json.as_bytes()).expect("the JSON itself is fine");
        assert_eq!(schema.nodes[0].mesh, Some(1 << 32), "nothing is cut off");
    }
}
