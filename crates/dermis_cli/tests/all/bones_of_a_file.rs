//! A rigger asks what the bones of a file are and do: `dermis info --bones`.

use serde_json::json;

use crate::common::psd::put_arm;
use crate::common::{Scratch, number, quoted};
use crate::support;

#[test]
fn an_elbow_is_a_hinge_about_an_axis_of_its_own() {
    let scratch = Scratch::new();
    put_arm(&scratch);
    let text = scratch.dermis("info arm.glb --bones").done().stdout;
    let line = |name: &str| {
        let found = text.lines().find(|line| line.trim().starts_with(name));
        found.unwrap_or_else(|| panic!("no line of {name} in\n{text}"))
    };
    assert!(line("forearm").contains("hinge z, 0° to "), "{text}");
    assert!(line("upper_arm").contains("still"), "{text}");
    let indent = |line: &str| line.len() - line.trim_start().len();
    assert_eq!(
        [line("upper_arm"), line("forearm"), line("hand")].map(indent),
        [2, 4, 6],
        "children stand below their parents:\n{text}"
    );
    assert!(
        !text.contains("may turn"),
        "the file has no limits:\n{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "it fits a terminal:\n{text}"
    );
    let plain = scratch.dermis("info arm.glb").done().stdout;
    assert!(!plain.contains("hinge"), "only when asked:\n{plain}");
}

#[test]
fn json_has_parents_depths_motions_and_limits() {
    let scratch = Scratch::new();
    put_arm(&scratch);
    scratch.put(
        "limits.toml",
        "others = \"fixed\"\n[[joint]]\nbone = \"forearm\"\nturn = \"hinge\"\naxis = [0, 0, 1]\nangle_deg = [0, 150]\n",
    );
    scratch
        .dermis("stats arm.glb --limits limits.toml -o limited.glb")
        .done();
    let info = scratch
        .dermis("info limited.glb --bones --json")
        .done()
        .json();
    let bones = info[0]["boneList"].as_array().expect("a list");
    let forearm = (bones.iter().find(|bone| bone["name"] == "forearm")).expect("a forearm");
    assert_eq!(forearm["parent"], json!("upper_arm"), "{forearm}");
    assert_eq!(number(forearm, "/depth"), 1.0, "{forearm}");
    assert!(number(forearm, "/points") > 10.0, "{forearm}");
    assert_eq!(forearm["motion"]["kind"], "hinge", "{forearm}");
    assert_eq!(forearm["nearestAxis"], "z", "{forearm}");
    assert!(number(forearm, "/motion/maxRad") > 1.0, "{forearm}");
    assert_eq!(forearm["limits"]["kind"], "hinge", "{forearm}");
    let text = scratch.dermis("info limited.glb --bones").done().stdout;
    assert!(
        text.contains("may turn") && text.contains("hinge z, 0° to 150°"),
        "limits have a column:\n{text}"
    );
    assert!(text.contains("fixed"), "the others may not turn:\n{text}");
}

#[test]
fn a_file_without_bones_says_so() {
    let scratch = Scratch::new();
    scratch.put("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let text = scratch.dermis("info flat.obj --bones").done().stdout;
    assert!(text.ends_with("  no bones\n"), "{text}");
    let info = scratch.dermis("info flat.obj --bones --json").done().json();
    assert_eq!(info[0]["boneList"], json!([]), "an empty list");
}

#[test]
fn the_fox_has_a_tree_of_bones_that_turn() {
    let Some(fox) = support::data("gltf/Fox.glb") else {
        return;
    };
    let scratch = Scratch::new();
    let command = format!("info {} --bones", quoted(&fox));
    let text = scratch.dermis(&command).done().stdout;
    assert!(text.contains("b_Tail03_014"), "{text}");
    assert!(text.contains("ball, x "), "its joints turn:\n{text}");
    assert!(
        text.lines().skip(1).all(|line| line.chars().count() <= 100),
        "it fits a terminal:\n{text}"
    );
}
