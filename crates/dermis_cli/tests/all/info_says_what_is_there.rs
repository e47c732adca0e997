//! `dermis info` on files from elsewhere.

use dermis_io::Document;
use serde_json::Value;

use crate::common::{SMALL_TUBE, Scratch, number, quoted, tube_document};
use crate::support;

#[test]
fn the_fox_is_counted() {
    let Some(fox) = support::data("gltf/Fox.glb") else {
        return;
    };
    let scratch = Scratch::new();
    let run = scratch
        .dermis(&format!("info {} --json", quoted(&fox)))
        .done();
    let info = run.json();
    assert_eq!(number(&info, "/0/drawnVertices"), 1728.0, "drawn");
    assert_eq!(number(&info, "/0/points"), 290.0, "points");
    assert_eq!(number(&info, "/0/triangles"), 576.0, "triangles");
    assert_eq!(info[0]["skins"], serde_json::json!([24]), "joints");
    let clips: Vec<&str> = (info[0]["clips"].as_array().expect("clips").iter())
        .filter_map(|clip| clip["name"].as_str())
        .collect();
    assert_eq!(clips, ["Survey", "Walk", "Run"], "clips in file order");
    assert!(run.stderr.is_empty(), "nothing else to say: {run:#?}");
}

#[test]
fn weights_that_do_not_sum_to_1_are_a_problem() {
    let Some(robot) = support::data("gltf/RobotExpressive.glb") else {
        return;
    };
    let info = Scratch::new().dermis(&format!("info {} --wide", quoted(&robot)));
    let text = info.done().stdout;
    let problem = (text.lines()).find(|line| line.contains("problem") && line.contains("weights"));
    let problem = problem.unwrap_or_else(|| panic!("no problem with weights in\n{text}"));
    assert!(
        problem.contains("752 vertices") && problem.contains("1.755"),
        "how many, and the worst: {problem}"
    );
}

#[test]
fn the_table_names_files_and_clips() {
    let (Some(fox), Some(tube)) = (
        support::data("gltf/Fox.glb"),
        support::data("bpy/tube_csmooth/truth.pc2"),
    ) else {
        return;
    };
    let info = format!("info {} {}", quoted(&fox), quoted(&tube));
    let text = Scratch::new().dermis(&info).done().stdout;
    for part in [
        "Fox.glb",
        "'Survey'",
        "'Walk'",
        "'Run'",
        "290 points",
        "truth.pc2",
        "2080",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let frames = text.lines().find(|line| line.trim().starts_with("frames"));
    assert!(
        frames.is_some_and(|line| line.contains("40")),
        "40 frames in\n{text}"
    );
}

/// A tube's GLB in which every unused slot of `JOINTS_0` names joint 99.
fn with_joint_99(scratch: &Scratch, weighted: bool) {
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    scratch.dermis("convert tube.npz tube.gltf --quiet").done();
    let text = std::fs::read_to_string(scratch.at("tube.gltf")).expect("it was written");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
    let start = |name: &str| {
        let accessor = &json["accessors"][attributes[name].as_u64().expect("an accessor") as usize];
        let view = accessor["bufferView"].as_u64().expect("a view") as usize;
        let offset = |value: &Value| value["byteOffset"].as_u64().unwrap_or(0) as usize;
        let code = accessor["componentType"]
            .as_u64()
            .expect("a component type");
        (offset(&json["bufferViews"][view]) + offset(accessor), code)
    };
    let ((joints, code), (weights, float)) = (start("JOINTS_0"), start("WEIGHTS_0"));
    assert_eq!((code, float), (5121, 5126), "bytes and floats");
    let buffer = scratch.at("tube.bin");
    let mut bytes = std::fs::read(&buffer).expect("the buffer beside it");
    let vertex_count = scratch.read("tube.gltf").draw.vertex_count();
    for slot in 0..4 * vertex_count {
        let weight = &bytes[weights + 4 * slot..weights + 4 * slot + 4];
        let is_used = weight != [0; 4];
        if weighted == is_used {
            bytes[joints + slot] = 99;
        }
    }
    std::fs::write(buffer, bytes).expect("it can be written");
}

#[test]
fn joints_out_of_range_are_a_problem_with_a_count_and_an_example() {
    let scratch = Scratch::new();
    with_joint_99(&scratch, false);
    let text = scratch.dermis("info tube.gltf --wide").done().stdout;
    let problem = (text.lines()).find(|line| line.contains("problem") && line.contains("joint 99"));
    let problem = problem.unwrap_or_else(|| panic!("no problem with joints in\n{text}"));
    assert!(
        problem.contains("vertices") && problem.contains("joint 99 of 3 joints"),
        "how many, and one of them: {problem}"
    );
}

#[test]
fn joints_out_of_range_that_have_weight_are_refused_with_a_count_and_an_example() {
    let scratch = Scratch::new();
    with_joint_99(&scratch, true);
    let run = scratch.dermis("info tube.gltf");
    assert_eq!(run.code, 2, "{run:#?}");
    for part in [
        "tube.gltf",
        "vertex 0",
        "joint 99",
        "3 joints",
        "98 vertices",
    ] {
        assert!(run.stderr.contains(part), "{part} in {run:#?}");
    }
}

#[test]
fn a_decomposition_says_its_own_error() {
    let scratch = Scratch::new();
    let tube = tube_document(&SMALL_TUBE);
    let moving = Document {
        skin: None,
        frame_poses: Vec::new(),
        ..tube
    };
    scratch.write("moving.npz", &moving);
    let run = scratch
        .dermis("decompose moving.npz --bones 2 --quality fast -o skin.glb --json")
        .done();
    let e_rms = number(&run.json(), "/eRms");
    let info = scratch.dermis("info skin.glb --wide").done().stdout;
    let line = info.lines().find(|line| line.contains("DERMIS_skin"));
    let line = line.unwrap_or_else(|| panic!("no record in\n{info}"));
    assert!(
        line.contains(&format!("E_RMS {e_rms:.3} on the 6 examples"))
            && line.contains("none held out"),
        "its error, {e_rms}, and on what: {line}"
    );
    let json = scratch.dermis("info skin.glb --json").done().json();
    let recorded = number(&json, "/0/dermisSkin/training/eRms");
    assert!(
        (recorded - e_rms).abs() < 1e-9 * e_rms,
        "{recorded} is recorded, {e_rms} was printed"
    );
}
