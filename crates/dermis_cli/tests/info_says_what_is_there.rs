//! `dermis info` on files from elsewhere.

mod common;
#[path = "../../../tests/support/mod.rs"]
mod support;

use common::{Scratch, number, quoted};

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
    let info = Scratch::new().dermis(&format!("info {}", quoted(&robot)));
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
