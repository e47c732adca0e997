//! Broken copies of files that use every feature: each is read or refused, and none panics.

use std::path::Path;

use serde_json::{Value, json};

use super::super::read;
use super::File;
use super::proxies::proxied;
use crate::gltf::to_glb;

/// A skinned and morphed triangle, a rigid one, a clip of all paths, a material with a picture.
fn everything() -> File {
    let mut file = File::triangle(json!({"material": 0}));
    let joints = file.packed("VEC4", 5121, 3, &[0, 1, 0, 0].repeat(3));
    let weights = file.floats("VEC4", &[0.5, 0.5, 0., 0.].repeat(3));
    let uv = file.floats("VEC2", &[0.5; 6]);
    let original = file.floats("SCALAR", &[0., 1., 2.]);
    let indices = file.packed("SCALAR", 5121, 3, &[0, 1, 2]);
    let (sparse_indices, sparse_values) = (file.view(&[2]), file.view(&[0, 0, 128, 63].repeat(3)));
    let target = file.push(
        "accessors",
        json!({"componentType": 5126, "count": 3, "type": "VEC3", "sparse": {
            "count": 1,
            "indices": {"bufferView": sparse_indices, "componentType": 5121},
            "values": {"bufferView": sparse_values},
        }}),
    );
    let all = json!({
        "attributes": {"JOINTS_0": joints, "WEIGHTS_0": weights, "TEXCOORD_0": uv, "_ORIG": original},
        "indices": indices, "mode": 4, "targets": [{"POSITION": target}],
    });
    super::merge(file.primitive(), all);
    file.json["meshes"][0]["weights"] = json!([0.5]);
    let more = file.floats("SCALAR", &[3., 4., 5.]);
    let rigid = json!({"primitives": [{"attributes": {"POSITION": 0, "_ORIG": more}, "mode": 5}]});
    file.push("meshes", rigid);
    file.json["nodes"] = json!([
        {"mesh": 0, "skin": 0, "weights": [0.25]},
        {"children": [2], "translation": [0, 1, 0]},
        {"mesh": 1, "rotation": [0, 0, 0, 1], "scale": [1, 1, 1], "children": [3]},
        {"matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1]},
    ]);
    file.json["scenes"] = json!([{"nodes": [0, 1]}]);
    file.json["scene"] = 0.into();
    let identity: Vec<f32> = (0..16).map(|i| f32::from(u8::from(i % 5 == 0))).collect();
    let binds = file.floats("MAT4", &identity.repeat(2));
    file.push(
        "skins",
        json!({"joints": [1, 3], "inverseBindMatrices": binds}),
    );
    let times = file.floats("SCALAR", &[0., 1.]);
    let vectors = file.floats("VEC3", &[1.; 6]);
    let rotations = file.floats("VEC4", &[0., 0., 0., 1.].repeat(6));
    let sliders = file.floats("SCALAR", &[0., 1.]);
    let channel = |sampler: u32, node: u32, path: &str| json!({"sampler": sampler, "target": {"node": node, "path": path}});
    let animation = json!({
        "channels": [
            channel(0, 1, "translation"), channel(0, 2, "scale"),
            channel(1, 3, "rotation"), channel(2, 0, "weights"),
        ],
        "samplers": [
            {"input": times, "output": vectors},
            {"input": times, "output": rotations, "interpolation": "CUBICSPLINE"},
            {"input": times, "output": sliders, "interpolation": "STEP"},
        ],
    });
    file.push("animations", animation);
    let picture = file.view(b"\x89PNG");
    file.push("images", json!({"bufferView": picture}));
    file.push("textures", json!({"source": 0, "sampler": 0}));
    file.push("samplers", json!({}));
    let material = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}});
    file.push("materials", material);
    file
}

/// An exact skin, with every field of a block.
fn exact() -> File {
    let mut file = super::exact::animation_space();
    let statistics = json!({
        "bone": 1, "poseCount": 3, "meanParentFromBone": [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
        "translationDeviation": 0, "meanRotation": [0, 0, 0, 1], "rotationMinRad": [0, 0, 0],
        "rotationMaxRad": [1, 0, 0], "maxAngleRad": 1, "scaleRange": [1, 1],
        "hinge": {"axis": [1, 0, 0], "minRad": 0, "maxRad": 1},
    });
    let block = json!({
        "version": 2, "generator": "dermis", "method": "animation-space", "program": "linear",
        "maxInfluences": 2, "fallback": {"rms": 0.01, "max": 0.02}, "joints": [statistics],
        "derived": [{"bone": 1, "of": 0, "motion": {"kind": "partTurn", "share": 0.5}}],
    });
    file.json["skins"][0]["extensions"] = json!({"DERMIS_skin": block});
    file
}

/// The exact skin with morph targets, drivers of every kind for two of them, and a clip.
fn driven() -> File {
    let mut file = super::exact::animation_space();
    let targets: Vec<Value> = (0..3)
        .map(|k| {
            let mut deltas = [0.0; 9];
            deltas[k] = 0.5;
            json!({"POSITION": file.floats("VEC3", &deltas)})
        })
        .collect();
    super::merge(file.primitive(), json!({ "targets": targets }));
    let mesh = json!({"extras": {"targetNames": ["bent", "load", "far"]}, "weights": [0, 0.5, 0]});
    super::merge(&mut file.json["meshes"][0], mesh);
    let times = file.floats("SCALAR", &[0., 1.]);
    let weights = file.floats("SCALAR", &[0., 0., 1., 1., 0.5, 0.]);
    let turns = file.floats("VEC4", &[0., 0., 0., 1., 0., 0., 0.6, 0.8]);
    let animation = json!({
        "channels": [
            {"sampler": 0, "target": {"node": 0, "path": "weights"}},
            {"sampler": 1, "target": {"node": 2, "path": "rotation"}},
        ],
        "samplers": [{"input": times, "output": weights}, {"input": times, "output": turns}],
    });
    file.push("animations", animation);
    let drivers = json!([
        {
            "name": "elbow", "outputs": ["bent"], "kernel": {"kind": "gaussian"},
            "controls": [
                {"kind": "joint", "bone": 1, "turn": "hinge", "axis": [0, 0, 1]},
                {"kind": "slider", "name": "load"},
            ],
            "centers": [{"name": "bent", "point": [1, 1], "falloffs": [0.5, 0.5]}],
            "weights": [[1]],
        },
        {
            "name": "far", "outputs": ["far"], "kernel": {"kind": "shepard", "power": 2},
            "controls": [{"kind": "joint", "bone": 1, "turn": "swingTwist", "axis": [1, 0, 0]}],
            "centers": [
                {"name": "a", "point": [0, 0, 0], "falloffs": [1]},
                {"name": "b", "point": [0.5, 0, 0], "falloffs": [1]},
            ],
            "weights": [[0, 1]], "linear": [[0, 0.1, 0, 0]],
        },
    ]);
    let block = json!({
        "version": 3, "generator": "dermis", "method": "animation-space", "program": "linear",
        "maxInfluences": 2, "drivers": drivers,
    });
    file.json["skins"][0]["extensions"] = json!({"DERMIS_skin": block});
    file
}

/// Reads a file and uses the document: one that breaks later is as bad as a panic.
fn survives(bytes: &[u8]) -> bool {
    let Ok(document) = read(Path::new("t.gltf"), bytes) else {
        return false;
    };
    if let Some(skin) = &document.skin {
        let posed = skin.evaluate(&skin.skeleton.default_pose());
        assert!(posed.is_ok(), "evaluates");
        for clip in &document.clips {
            let posed = skin.evaluate(&skin.sample(clip, clip.end()));
            assert_eq!(
                posed.map(|p| p.len()),
                Ok(document.mesh.vertex_count()),
                "evaluates"
            );
        }
    }
    // A document that glTF cannot hold may be refused.
    drop(to_glb(&document));
    true
}

#[test]
fn the_whole_file_is_read_without_notes() {
    let document = everything().read();
    assert!(document.notes.is_empty(), "{:?}", document.notes);
    assert_eq!(document.draw.parts.len(), 2, "skinned and rigid");
    assert_eq!(document.clips[0].channels.len(), 4, "all paths");
    assert!(survives(&everything().to_glb()), "as GLB too");
    let document = exact().read();
    assert!(document.notes.is_empty(), "{:?}", document.notes);
    let record = document.record.expect("it has a block");
    assert_eq!(record.joints.len(), 1, "statistics of one joint");
    let skin = document.skin.expect("it has a skin");
    assert_eq!(skin.pose_program.derived().len(), 1, "one derived bone");
    let document = driven().read();
    assert!(document.notes.is_empty(), "{:?}", document.notes);
    let skin = document.skin.expect("it has a skin");
    assert_eq!(skin.pose_program.drivers.len(), 2, "both drivers");
    let names: Vec<&str> = skin.coefficients.iter().map(|c| &*c.name).collect();
    assert_eq!(names, ["load", "bent", "far"], "driven ones last");
    assert!(survives(&proxied().to_glb()), "proxies, as GLB too");
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let glb = everything().to_glb();
    for length in 0..glb.len() {
        assert!(!survives(&glb[..length]), "cut off at {length}");
    }
    let gltf = everything().to_gltf();
    for length in 0..gltf.len() {
        assert!(!survives(&gltf.as_bytes()[..length]), "cut off at {length}");
    }
}

#[test]
fn flipped_bytes_cause_no_panic() {
    let files = [everything(), exact(), driven(), proxied()].map(|file| file.to_glb());
    // Xorshift: the same bytes flip on every machine.
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for round in 0..20_000 {
        let mut broken = files[round % 4].clone();
        for _ in 0..1 + random() % 4 {
            let at = random() % broken.len();
            broken[at] = random() as u8;
        }
        survives(&broken);
    }
}

#[test]
fn a_wrong_value_in_any_place_causes_no_panic() {
    let nonsense = [
        json!(-1),
        json!(0),
        json!(1),
        json!(7),
        json!(65_536),
        json!(u32::MAX),
        json!(1u64 << 32),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(0.5),
        json!(1e300),
        json!(-1e38),
        json!(null),
        json!(""),
        json!([]),
        json!({}),
    ];
    let mut read_count = 0;
    for file in [everything(), exact(), driven(), proxied()] {
        let whole: Value = serde_json::from_str(&file.to_gltf()).expect("legal JSON");
        let mut places = Vec::new();
        pointers(&whole, String::new(), &mut places);
        for place in &places {
            for value in &nonsense {
                let mut broken = whole.clone();
                *broken.pointer_mut(place).expect("the place exists") = value.clone();
                read_count += u32::from(survives(broken.to_string().as_bytes()));
            }
        }
    }
    assert!(
        read_count > 100,
        "some replacements are harmless, found {read_count}"
    );
}

/// The JSON pointers of all values.
fn pointers(value: &Value, here: String, places: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                pointers(item, format!("{here}/{i}"), places);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                pointers(member, format!("{here}/{name}"), places);
            }
        }
        _ => {}
    }
    places.push(here);
}
