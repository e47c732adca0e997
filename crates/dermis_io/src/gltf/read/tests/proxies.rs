//! Proxy bones of a file small enough to write out, and blocks with false facts about them.

use dermis::BoneId;
use glam::DVec3;
use serde_json::{Value, json};

use super::File;

/// A triangle on a root, a bone and a proxy that turns half as far as the bone, with a clip.
pub(super) fn proxied() -> File {
    let mut file = File::triangle(json!({}));
    let joints = file.packed("VEC4", 5121, 3, &[0, 1, 2, 0].repeat(3));
    let weights = file.floats("VEC4", &[0.25, 0.25, 0.5, 0.].repeat(3));
    let all = json!({"attributes": {"JOINTS_0": joints, "WEIGHTS_0": weights}});
    super::merge(file.primitive(), all);
    file.json["nodes"] = json!([
        {"mesh": 0, "skin": 0},
        {"children": [2]},
        {},
        {"children": [4]},
        {},
    ]);
    let identity: Vec<f32> = (0..16).map(|i| f32::from(u8::from(i % 5 == 0))).collect();
    let binds = file.floats("MAT4", &identity.repeat(3));
    let unit = |row: usize, width: usize| (0..width).map(move |c| f32::from(u8::from(c == row)));
    // Turned as the patch, and none of its place.
    let mut c1: Vec<f32> = (0..4).flat_map(|row| unit(row, 4)).collect();
    c1[15] = 0.0;
    let c1 = file.floats("VEC4", &c1);
    let mut c2 = [0.0; 32];
    // At the bone's origin.
    c2[31] = 1.0;
    let c2 = file.floats("VEC4", &c2);
    let turned = |angle: f32| [(0.5 * angle).sin(), 0., 0., (0.5 * angle).cos()];
    let times = file.floats("SCALAR", &[0., 1.]);
    let turns = file.floats("VEC4", [turned(0.0), turned(1.0)].as_flattened());
    let animation = json!({
        "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}],
        "samplers": [{"input": times, "output": turns}],
    });
    file.push("animations", animation);
    let mut stretch = vec![[0.0; 12]; 10];
    stretch[0][0] = 0.1;
    [0, 4, 8].into_iter().for_each(|d| stretch[9][d] = 1.0);
    let proxies = json!({
        "bones": [2],
        "joints": [{"bone": 1, "parent": 0, "middle": [0.5, 0, 0]}],
        "patches": [{
            "frame": [[0, 1.0]],
            "pivot": [0, 0, 0],
            "turns": [{"joint": 0, "scale": 0.5, "offset": [0, 0, 0, 1]}],
            "stretchJoints": [0],
            "stretch": stretch,
        }],
        "sources": [0, 1],
        "fromPatches": c1,
        "fromSources": c2,
    });
    let block = json!({
        "version": 4, "generator": "dermis", "method": "rotational-regression",
        "maxInfluences": 3, "proxies": proxies,
    });
    let skin = json!({
        "joints": [1, 2, 4], "inverseBindMatrices": binds, "extensions": {"DERMIS_skin": block},
    });
    file.push("skins", skin);
    file
}

fn proxies_json(file: &mut File) -> &mut Value {
    &mut file.json["skins"][0]["extensions"]["DERMIS_skin"]["proxies"]
}

#[test]
fn proxies_use_the_joints_and_matrices_of_the_file() {
    let document = proxied().read();
    assert!(document.notes.is_empty(), "{:?}", document.notes);
    let skin = document.skin.as_ref().expect("the file has motion");
    let proxies = skin.pose_program.proxies().expect("it has one");
    assert_eq!(proxies.bones, [BoneId(3)], "after its carrier");
    assert_eq!(skin.posed_bone_count(), 2, "the root and the bone");
    // Corner 2 is at y = 1: a quarter each of no, a whole and twice half a turn.
    let posed = skin.evaluate(&skin.sample(&document.clips[0], 1.0));
    let at = |angle: f64| DVec3::new(0.0, angle.cos(), angle.sin());
    let expected = 0.25 * at(0.0) + 0.25 * at(1.0) + 0.5 * at(0.5);
    let found = posed.expect("it fits")[2];
    assert!(found.abs_diff_eq(expected, 1e-6), "{found}, not {expected}");
}

#[test]
fn proxies_whose_matrices_have_no_bytes_are_left_out() {
    let long = |count: usize| -> Value { vec![json!(0); count].into() };
    let mut huge = proxied();
    let zeros = json!({"componentType": 5126, "count": 4 * 20_000 * 20_000u64, "type": "VEC4"});
    let zeros = huge.push("accessors", zeros);
    let proxies = proxies_json(&mut huge);
    proxies["bones"] = long(20_000);
    proxies["sources"] = long(20_000);
    proxies["fromSources"] = zeros.into();
    proxies["patches"] = json!([]);
    proxies["fromPatches"] = Value::Null;
    let mut unbacked = proxied();
    let zeros = json!({"componentType": 5126, "count": 8, "type": "VEC4"});
    let zeros = unbacked.push("accessors", zeros);
    proxies_json(&mut unbacked)["fromSources"] = zeros.into();
    let mut short = proxied();
    let c2 = proxies_json(&mut short)["fromSources"].as_u64();
    let c2 = c2.expect("a number") as usize;
    short.json["accessors"][c2]["count"] = 9.into();
    for (why, file) in [
        ("expected a buffer view, found none", huge),
        ("expected a buffer view, found none", unbacked),
        ("expected 8 elements, found 9", short),
    ] {
        let document = file.read();
        let note = document.notes.first().expect("a note");
        assert!(note.contains(why), "{why}: {note}");
        let skin = document.skin.expect("the file has motion");
        assert_eq!(skin.pose_program.proxies(), None, "{why}: left");
        assert_eq!(document.clips.len(), 1, "{why}: the clip plays");
    }
}
