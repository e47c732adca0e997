//! Files with false counts and offsets: each is refused, and none panics or fills the memory.

use std::path::Path;

use serde_json::{Value, json};

use super::super::read;
use super::File;

fn with_accessor(accessor: Value) -> File {
    let mut file = File::triangle(json!({}));
    super::merge(&mut file.json["accessors"][0], accessor);
    file
}

#[test]
fn accessors_that_reach_past_their_bytes_are_refused() {
    let position = "accessor 0 (mesh 0 primitive 0 POSITION): expected ";
    for (accessor, expected) in [
        (
            json!({"count": 4}),
            "4 elements of 12 bytes, 12 apart, from byte 0, found a buffer view of 36 bytes",
        ),
        (
            json!({"count": u64::MAX}),
            "18446744073709551615 elements of 12 bytes",
        ),
        (json!({"byteOffset": 4}), "3 elements of 12 bytes"),
        (json!({"byteOffset": u64::MAX}), "3 elements of 12 bytes"),
        (json!({"type": "VEC4"}), "VEC3, found VEC4 of f32"),
        (json!({"type": "MAT9"}), "VEC3, found MAT9 of f32"),
        (
            json!({"componentType": 5124}),
            "a component type of 5120 to 5126, found 5124",
        ),
        (json!({"bufferView": null}), "a buffer view, found none"),
        (json!({"bufferView": 9}), ""),
    ] {
        let file = with_accessor(accessor.clone());
        match accessor["bufferView"].as_u64() {
            Some(_) => file.refused(
                "accessor 0 (mesh 0 primitive 0 POSITION): expected a buffer view index below 1",
            ),
            None => file.refused(&format!("{position}{expected}")),
        }
    }
}

#[test]
fn buffer_views_and_buffers_with_false_sizes_are_refused() {
    for (view, expected) in [
        (
            json!({"byteLength": 37}),
            "buffer view 0: expected a range inside the 36 bytes",
        ),
        (
            json!({"byteOffset": u64::MAX}),
            "buffer view 0: expected a range inside",
        ),
        (
            json!({"buffer": 1}),
            "buffer view 0: expected a buffer index below 1, found 1",
        ),
        (
            json!({"byteStride": 8}),
            "accessor 0 (mesh 0 primitive 0 POSITION): expected a byte stride",
        ),
        (
            json!({"byteStride": u64::MAX}),
            "accessor 0 (mesh 0 primitive 0 POSITION): expected 3 elements",
        ),
    ] {
        let mut file = File::triangle(json!({}));
        super::merge(&mut file.json["bufferViews"][0], view);
        file.refused(expected);
    }
    let mut json: Value = serde_json::from_str(&File::triangle(json!({})).to_gltf()).expect("JSON");
    json["buffers"][0]["byteLength"] = 40.into();
    let error = read(Path::new("t.gltf"), json.to_string().as_bytes()).expect_err("too short");
    assert_eq!(
        error.to_string(),
        "t.gltf: buffer 0: expected 40 bytes, found 36 bytes",
        "both sizes"
    );
}

#[test]
fn a_missing_buffer_file_is_named() {
    let json = r#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":4,"uri":"no%20such.bin"}]}"#;
    let error = read(Path::new("folder/t.gltf"), json.as_bytes()).expect_err("missing");
    assert!(
        error
            .to_string()
            .starts_with("folder/no such.bin: cannot be read"),
        "{error}"
    );
}

#[test]
fn zero_filled_accessors_are_only_as_long_as_the_positions() {
    let mut file = File::triangle(json!({}));
    let huge = json!({"componentType": 5126, "count": 4_000_000_000u64, "type": "VEC3"});
    let huge = file.push("accessors", huge);
    file.primitive()["attributes"]["NORMAL"] = huge.into();
    file.refused("accessor 1 (mesh 0 primitive 0 NORMAL): expected 3 elements, found 4000000000");
    file.primitive()["attributes"] = json!({"POSITION": 0});
    file.primitive()["targets"] = json!([{"POSITION": huge}]);
    file.refused("accessor 1 (mesh 0 primitive 0 target 0 POSITION): expected 3 elements");
    file.primitive()["targets"] = json!([]);
    file.primitive()["indices"] = huge.into();
    file.refused("accessor 1 (mesh 0 primitive 0 indices): expected SCALAR of u8 or u16 or u32");
}

#[test]
fn sparse_accessors_with_false_counts_are_refused() {
    let sparse = |sparse: Value| {
        let mut whole = json!({
            "count": 1,
            "indices": {"bufferView": 0, "componentType": 5121},
            "values": {"bufferView": 0},
        });
        super::merge(&mut whole, sparse);
        with_accessor(json!({"sparse": whole}))
    };
    assert!(
        sparse(json!({})).try_read().is_ok(),
        "legal: element 0 is replaced"
    );
    let beginning = "accessor 0 (mesh 0 primitive 0 POSITION): expected ";
    for (lie, expected) in [
        (
            json!({"count": 4}),
            "4 sparse values of 12 bytes from byte 0, found a buffer view of 36",
        ),
        (
            json!({"count": u64::MAX}),
            "18446744073709551615 sparse indices of 1 bytes",
        ),
        (
            json!({"indices": {"byteOffset": 15}}),
            "sparse indices below 3, found 63",
        ),
        (
            json!({"indices": {"componentType": 5126}}),
            "sparse indices of type 5121, 5123 or 5125",
        ),
        (
            json!({"values": {"bufferView": 7}}),
            "a buffer view index below 1, found 7",
        ),
    ] {
        sparse(lie).refused(&format!("{beginning}{expected}"));
    }
}

#[test]
fn small_files_that_decode_to_huge_meshes_are_refused() {
    let mut file = File::triangle(json!({}));
    let primitive = file.primitive().clone();
    file.json["meshes"][0]["primitives"] = json!(vec![primitive; 1000]);
    file.json["nodes"] = json!(vec![json!({"mesh": 0}); 1000]);
    file.refused("a file with 1000000 drawn primitives, more than 262144, is not supported");
    file.json["meshes"][0]["primitives"] =
        json!([{"attributes": {"POSITION": 0}, "targets": vec![json!({}); 1000]}]);
    file.refused("a file with 1000000 morph targets, more than 65536, is not supported");

    let mut file = File::triangle(json!({}));
    let position = file.packed("VEC3", 5121, 1 << 14, &vec![0; 3 << 14]);
    file.json["nodes"] = json!(vec![json!({"mesh": 0}); 100]);
    let attributes: serde_json::Map<String, Value> = (0..50)
        .map(|i| (format!("_A{i}"), Value::from(position)))
        .chain([("POSITION".to_owned(), Value::from(position))])
        .collect();
    file.primitive()["attributes"] = attributes.into();
    file.refused("reading 1638400 vertices, those of each mesh once for every one of 100 nodes");
    file.json["nodes"] = json!(vec![json!({"mesh": 0}); 20]);
    file.refused("a file whose accessors unfold to more than 21");
}

#[test]
fn references_out_of_range_are_refused() {
    let mut file = File::triangle(json!({"material": 0}));
    file.refused("mesh 0 primitive 0: expected a material index below 0, found 0");
    file = File::triangle(json!({"attributes": {"NORMAL": 6}}));
    file.refused("mesh 0 primitive 0 NORMAL: expected an accessor index below 1, found 6");
    file = File::triangle(json!({}));
    file.json["scene"] = 3.into();
    file.refused("default scene: expected a scene index below 0, found 3");
    file = File::triangle(json!({}));
    let channel = json!({"sampler": 2, "target": {"node": 0, "path": "scale"}});
    file.push("animations", json!({"channels": [channel], "samplers": []}));
    file.refused("animation 0 channel 0: expected a sampler index below 0, found 2");
}

#[test]
fn more_bones_than_an_index_can_name_are_refused() {
    let mut file = File::triangle(json!({"targets": [{}]}));
    let chain = (1..70_000).map(|i| json!({"children": [i]}));
    file.json["nodes"] = chain.chain([json!({"mesh": 0})]).collect();
    file.refused("a skeleton has at most 65535 bones, found 65536");
}
