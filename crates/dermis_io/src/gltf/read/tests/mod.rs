//! The rules of reading, each on a file small enough to write out.

mod exact;
mod fuzz;
mod geometry;
mod hostile;
mod motion;
mod proxies;
mod skins;

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dermis::Skin;
use dermis::skin::SsdProgram;
use serde_json::{Value, json};

use super::read;
use crate::Document;

/// A glTF file under construction: JSON, and one buffer that accessors are added to.
#[derive(Clone)]
pub(super) struct File {
    pub(super) json: Value,
    pub(super) bytes: Vec<u8>,
}

impl File {
    /// A file with these nodes and nothing else.
    pub(super) fn with_nodes(nodes: Value) -> Self {
        let json = json!({
            "asset": {"version": "2.0"}, "nodes": nodes, "meshes": [],
            "accessors": [], "bufferViews": [],
        });
        Self {
            json,
            bytes: Vec::new(),
        }
    }

    /// One node with a mesh of one triangle in the xy plane; the argument is added to the primitive.
    pub(super) fn triangle(extra: Value) -> Self {
        let mut file = Self::with_nodes(json!([{"mesh": 0}]));
        let position = file.floats("VEC3", &[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
        let mut primitive = json!({"attributes": {"POSITION": position}});
        merge(&mut primitive, extra);
        file.push("meshes", json!({"primitives": [primitive]}));
        file
    }

    /// Adds an element to a list at the root.
    pub(super) fn push(&mut self, list: &str, element: Value) -> usize {
        if self.json[list].is_null() {
            self.json[list] = json!([]);
        }
        let list = self.json[list].as_array_mut().expect("a list");
        list.push(element);
        list.len() - 1
    }

    /// Adds bytes as a buffer view.
    pub(super) fn view(&mut self, bytes: &[u8]) -> usize {
        let offset = self.bytes.len();
        self.bytes.extend(bytes);
        let view = json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()});
        self.push("bufferViews", view)
    }

    /// Adds packed elements of a component type.
    pub(super) fn packed(&mut self, shape: &str, code: u32, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        let accessor =
            json!({"bufferView": view, "componentType": code, "count": count, "type": shape});
        self.push("accessors", accessor)
    }

    /// Adds single-precision numbers.
    pub(super) fn floats(&mut self, shape: &str, values: &[f32]) -> usize {
        let width = match shape {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.packed(shape, 5126, values.len() / width, &bytes)
    }

    /// The first primitive of the first mesh.
    pub(super) fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    /// The file as text, the buffer as a data URI.
    pub(super) fn to_gltf(&self) -> String {
        let mut json = self.json.clone();
        let data = BASE64_STANDARD.encode(&self.bytes);
        let uri = format!("data:application/octet-stream;base64,{data}");
        json["buffers"] = json!([{"byteLength": self.bytes.len(), "uri": uri}]);
        json.to_string()
    }

    /// The file as GLB.
    pub(super) fn to_glb(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        let mut json = json.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut bin = self.bytes.clone();
        bin.resize(bin.len().next_multiple_of(4), 0);
        let length = 12 + 8 + json.len() + 8 + bin.len();
        let mut glb = b"glTF".to_vec();
        glb.extend(2u32.to_le_bytes());
        glb.extend((length as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &bin)] {
            glb.extend((chunk.len() as u32).to_le_bytes());
            glb.extend(kind);
            glb.extend(chunk);
        }
        glb
    }

    /// Reads the file back.
    pub(super) fn read(&self) -> Document {
        self.try_read().expect("a legal file")
    }

    /// The document, or the message without the file's name.
    pub(super) fn try_read(&self) -> Result<Document, String> {
        let read = read(Path::new("t.gltf"), self.to_gltf().as_bytes());
        read.map_err(|e| e.to_string().trim_start_matches("t.gltf: ").to_owned())
    }

    /// Asserts that the file is refused with a message that begins so.
    pub(super) fn refused(&self, beginning: &str) {
        match self.try_read() {
            Ok(_) => panic!("must be refused: {beginning}"),
            Err(message) => assert!(message.starts_with(beginning), "{message}"),
        }
    }
}

/// Adds the members of one object to another, objects within them likewise.
pub(super) fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// The skin of a document, and its program.
pub(super) fn skin_of(document: &Document) -> (&Skin, &SsdProgram) {
    let skin = document.skin.as_ref().expect("the file has motion");
    match &skin.program {
        dermis::VertexProgram::Ssd(ssd) => (skin, ssd),
        other => panic!("glTF is linear blend skinning, found {other:?}"),
    }
}

#[test]
fn a_glb_and_a_gltf_with_the_same_content_give_the_same_document() {
    let file = File::triangle(json!({}));
    let glb = read(Path::new("t.glb"), &file.to_glb()).expect("legal");
    let gltf = file.read();
    assert_eq!(glb.mesh, gltf.mesh, "same points");
    assert_eq!(glb.draw, gltf.draw, "same parts");
    assert_eq!(glb.facts.bytes, file.to_glb().len() as u64, "its size");
}

#[test]
fn a_file_without_meshes_is_an_empty_document() {
    let document = File::with_nodes(json!([{}])).read();
    assert_eq!(document.mesh.vertex_count(), 0, "nothing to draw");
    assert!(document.skin.is_none(), "nothing to move");
}

#[test]
fn the_dermis_block_is_read_and_newer_or_broken_ones_are_noted() {
    let with = |block: Value| {
        let mut file = File::with_nodes(json!([{}]));
        file.push(
            "skins",
            json!({"joints": [0], "extensions": {"DERMIS_skin": block}}),
        );
        let document = file.read();
        (document.record, document.notes)
    };
    let block = |version: u32| json!({"version": version, "generator": "dermis 0.1.0", "method": "ssd", "maxInfluences": 4});
    let (record, notes) = with(block(1));
    assert_eq!(
        record.map(|r| r.method),
        Some("ssd".to_owned()),
        "{notes:?}"
    );
    let (record, notes) = with(block(5));
    assert!(record.is_none(), "from the future");
    assert_eq!(
        notes,
        ["the DERMIS_skin block has version 5, newer than 4, and was ignored"],
        "and a note says so"
    );
    let mut derived = block(2);
    derived["derived"] =
        json!([{"bone": 9, "of": 0, "motion": {"kind": "partTurn", "share": 0.5}}]);
    let (record, notes) = with(derived);
    assert!(record.is_some(), "all but the derived bone of joint 9");
    assert!(
        notes[0].contains("joints that the skin does not have"),
        "{notes:?}"
    );
    let (record, notes) = with(json!({"version": 1}));
    assert!(record.is_none() && notes.len() == 1, "broken: {notes:?}");
}
