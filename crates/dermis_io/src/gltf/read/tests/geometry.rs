//! Triangles, attributes and the places of nodes.

use glam::DVec3;
use serde_json::json;

use super::File;

fn triangles(mode: u32, indices: &[u8], vertices: usize) -> Vec<[u32; 3]> {
    let mut file = File::triangle(json!({"mode": mode}));
    let positions: Vec<f32> = (0..vertices * 3).map(|x| (x * x) as f32).collect();
    let position = file.floats("VEC3", &positions);
    file.primitive()["attributes"]["POSITION"] = position.into();
    if !indices.is_empty() {
        let accessor = file.packed("SCALAR", 5121, indices.len(), indices);
        file.primitive()["indices"] = accessor.into();
    }
    file.read().mesh.triangles().to_vec()
}

/// ```text
///  1 --- 3 --- 5
///  |  \  |  \  |      strip: 0 1 2 3 ..., every second triangle turned
///  0 --- 2 --- 4
/// ```
#[test]
fn triangles_strips_and_fans_keep_their_orientation() {
    assert_eq!(triangles(4, &[], 6), [[0, 1, 2], [3, 4, 5]], "unindexed");
    assert_eq!(
        triangles(4, &[2, 1, 0], 3),
        [[0, 1, 2]].map(|[a, b, c]| [c, b, a]),
        "indexed"
    );
    let strip = [[0, 1, 2], [1, 3, 2], [2, 3, 4]];
    assert_eq!(triangles(5, &[], 5), strip, "strip");
    assert_eq!(
        triangles(5, &[0, 1, 2, 2, 3, 4], 5),
        [[0, 1, 2], [2, 4, 3]],
        "triangles without area only join a strip"
    );
    assert_eq!(
        triangles(6, &[], 5),
        [[1, 2, 0], [2, 3, 0], [3, 4, 0]],
        "fan"
    );
}

#[test]
fn points_and_lines_are_left_out_with_a_note() {
    let document = File::triangle(json!({"mode": 1})).read();
    assert!(document.draw.parts.is_empty(), "lines are not drawn");
    assert_eq!(
        document.notes,
        ["left out, because they are not triangles: mesh 0 primitive 0"],
        "and a note says so"
    );
    File::triangle(json!({"mode": 9})).refused("mesh 0 primitive 0: expected a mode of 0 to 6");
}

#[test]
fn an_index_past_the_last_vertex_is_refused() {
    let mut file = File::triangle(json!({}));
    let indices = file.packed("SCALAR", 5123, 3, &[0, 0, 1, 0, 3, 0]);
    file.primitive()["indices"] = indices.into();
    file.refused("indices of mesh 0 primitive 0: expected vertices below 3, found 3");
}

#[test]
fn a_still_file_has_no_skin_and_its_nodes_are_baked() {
    let mut file = File::triangle(json!({}));
    let normal = file.floats("VEC3", &[0., 0., 1., 0., 0., 1., 0., 0., 1.]);
    let tangent = file.floats("VEC4", &[1., 0., 0., 1., 1., 0., 0., 1., 1., 0., 0., 1.]);
    file.primitive()["attributes"]["NORMAL"] = normal.into();
    file.primitive()["attributes"]["TANGENT"] = tangent.into();
    // A quarter turn about y takes z to x and x to -z; the parent then mirrors x.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    file.json["nodes"] = json!([
        {"mesh": 0, "rotation": [0, half, 0, half], "translation": [0, 0, 5]},
        {"children": [0], "scale": [-2, 2, 2]},
    ]);
    let document = file.read();
    assert!(document.skin.is_none(), "nothing moves");
    let expected = [[0., 0., 10.], [0., 0., 8.], [0., 2., 10.]].map(DVec3::from);
    for (found, expected) in document.mesh.positions().iter().zip(expected) {
        assert!(found.abs_diff_eq(expected, 1e-12), "{found} is {expected}");
    }
    let part = &document.draw.parts[0];
    let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(
        close(&part.normals[0], &[-1., 0., 0.]),
        "{:?}",
        part.normals[0]
    );
    assert!(
        close(&part.tangents[0], &[0., 0., -1., -1.]),
        "{:?}",
        part.tangents[0]
    );
    assert_eq!(
        part.triangles,
        [[0, 2, 1]],
        "the winding of a mirrored mesh is flipped"
    );
    let [a, b, c] = part.triangles[0].map(|v| document.mesh.positions()[v as usize]);
    let face = (b - a).cross(c - a).normalize();
    assert!(
        face.abs_diff_eq(-DVec3::X, 1e-6),
        "face and normal agree: {face}"
    );
}

#[test]
fn a_mesh_on_two_nodes_is_two_parts() {
    let mut file = File::triangle(json!({}));
    file.json["nodes"] = json!([{"mesh": 0}, {"mesh": 0, "translation": [1, 0, 0]}]);
    let document = file.read();
    assert_eq!(document.draw.parts.len(), 2, "one part per node");
    assert_eq!(document.draw.vertex_count(), 6, "with their own vertices");
    assert_eq!(document.mesh.vertex_count(), 5, "but they share a point");
}

#[test]
fn quantised_attributes_decode() {
    let mut file = File::triangle(json!({}));
    file.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    // Three i16 padded to 8 bytes each, as the extension asks.
    let bytes: Vec<u8> = [0i16, 0, 0, 0, 100, -7, 3, 0, 0, 50, 0, 0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let position = file.packed("VEC3", 5122, 3, &bytes);
    let view = file.json["accessors"][position]["bufferView"]
        .as_u64()
        .expect("an index");
    file.json["bufferViews"][view as usize]["byteStride"] = 8.into();
    let normal = file.packed("VEC3", 5120, 3, &[0, 0, 127, 0, 0, 127, 0, 0, 129]);
    let uv = file.packed("VEC2", 5121, 3, &[0, 255, 51, 0, 0, 0]);
    for accessor in [normal, uv] {
        file.json["accessors"][accessor]["normalized"] = true.into();
    }
    let attributes = json!({"POSITION": position, "NORMAL": normal, "TEXCOORD_0": uv});
    file.primitive()["attributes"] = attributes;
    let document = file.read();
    assert_eq!(
        document.mesh.positions()[1],
        DVec3::new(100., -7., 3.),
        "i16"
    );
    let part = &document.draw.parts[0];
    assert_eq!(part.normals[0], [0., 0., 1.], "127 is 1");
    assert_eq!(part.normals[2], [0., 0., -1.], "-127 is -1");
    assert_eq!(part.uvs[0][..2], [[0., 1.], [0.2, 0.]], "255 is 1");
}

#[test]
fn colours_and_custom_attributes_are_kept_and_other_attributes_noted() {
    let mut file = File::triangle(json!({}));
    let rgb = file.floats("VEC3", &[0.5; 9]);
    let uv = file.floats("VEC2", &[f32::NAN, 0., 0., 0., 0., 0.]);
    let id = file.packed("SCALAR", 5125, 3, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    let matrix = file.floats("MAT4", &[0.0; 48]);
    let animation_space = file.floats("VEC4", &[0.25; 12]);
    let attributes = json!({
        "POSITION": 0, "COLOR_0": rgb, "TEXCOORD_0": uv, "TEXCOORD_2": uv,
        "_ID": id, "_M": matrix, "_FLOW": animation_space,
    });
    file.primitive()["attributes"] = attributes;
    let document = file.read();
    let part = &document.draw.parts[0];
    assert_eq!(part.colors, [vec![[0.5, 0.5, 0.5, 1.0]; 3]], "opaque");
    assert_eq!(part.uvs, [vec![[0.0, 0.0]; 3]], "cleaned");
    let custom: Vec<_> = part
        .custom
        .iter()
        .map(|c| (&*c.name, c.data.width))
        .collect();
    assert_eq!(custom, [("_FLOW", 4), ("_ID", 1)], "kept");
    assert_eq!(part.custom[1].data.values, [1., 2., 3.], "as numbers");
    assert_eq!(
        document.notes,
        [
            "attributes left out: mesh 0 primitive 0 _M (MAT4), mesh 0 primitive 0 TEXCOORD_2",
            "1 numbers in normals, tangents, UVs and colours were not finite and were set to zero",
        ],
        "notes say what was left out"
    );
}

#[test]
fn point_numbers_of_dermis_are_used_and_not_kept_as_an_attribute() {
    let mut file = File::triangle(json!({}));
    let original = file.floats("SCALAR", &[2., 1., 0.]);
    file.primitive()["attributes"]["_ORIG"] = original.into();
    let document = file.read();
    assert_eq!(document.draw.parts[0].points, [2, 1, 0], "as numbered");
    assert_eq!(document.mesh.triangles(), [[2, 1, 0]], "corners are points");
    assert!(document.draw.parts[0].custom.is_empty(), "not kept");
    assert!(document.notes.is_empty(), "{:?}", document.notes);
}
