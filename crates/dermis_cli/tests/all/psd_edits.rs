//! A rigger lets axes be found, removes shapes, and thinks better of it.

use glam::DVec3;

use crate::common::psd::{put_arm, sculpt};
use crate::common::{SMALL_TUBE, Scratch, tube_document};

/// A folder with an arm and a project whose axis was found.
fn begun() -> Scratch {
    let scratch = Scratch::new();
    put_arm(&scratch);
    let new = "psd new arm.psd.toml --base arm.glb --control elbow=forearm:hinge:auto --control load=slider";
    let run = scratch.dermis(new).done();
    assert!(
        run.stderr
            .contains("control elbow: axis z, because forearm is a hinge z, 0° to "),
        "{run:#?}"
    );
    scratch
}

fn project(scratch: &Scratch) -> String {
    std::fs::read_to_string(scratch.at("arm.psd.toml")).expect("a text")
}

/// Records a sculpt that pushes some of the arm.
#[track_caller]
fn add(scratch: &Scratch, pose: &str, push: f64, more: &str) {
    let rest = scratch.read("arm.glb").mesh.positions().to_vec();
    let posed = format!("psd pose arm.psd.toml --pose {pose} -o posed.obj");
    scratch.dermis(&posed).done();
    let brush = |i: usize| match (0.7..1.3).contains(&rest[i].x) {
        true => DVec3::new(0.0, 0.0, push),
        false => DVec3::ZERO,
    };
    sculpt(scratch, "posed.obj", "sculpted.obj", brush);
    let add = format!("psd add arm.psd.toml --pose {pose} --mesh sculpted.obj {more}");
    scratch.dermis(&add).done();
}

#[track_caller]
fn assert_refused(scratch: &Scratch, command: &str, parts: &[&str]) {
    let run = scratch.dermis(command);
    assert_eq!(run.code, 2, "{run:#?}");
    assert_eq!(run.stderr.lines().count(), 1, "one sentence: {run:#?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part} in {run:#?}");
    }
}

#[test]
fn an_axis_that_is_found_is_written_like_one_that_was_typed() {
    let scratch = begun();
    let text = project(&scratch);
    assert!(
        text.contains("joint = \"forearm\"\nturn = \"hinge\"\naxis = \"z\"\n"),
        "{text}"
    );
}

#[test]
fn an_axis_is_not_guessed_where_nothing_shows_it() {
    let scratch = Scratch::new();
    put_arm(&scratch);
    let new = |bone: &str, base: &str| {
        format!("psd new new.psd.toml --base {base} --control it={bone}:hinge:auto")
    };
    assert_refused(
        &scratch,
        &new("upper_arm", "arm.glb"),
        &["control it", "upper_arm never turns", "give x, y or z"],
    );
    assert_refused(
        &scratch,
        &new("leg", "arm.glb"),
        &["no bone 'leg'", "forearm"],
    );
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    let mut still = scratch.read("arm.glb");
    still.clips.clear();
    scratch.write("still.glb", &still);
    assert_refused(
        &scratch,
        &new("forearm", "still.glb"),
        &["the base has no motion"],
    );
    assert!(!scratch.at("new.psd.toml").exists(), "nothing was written");
}

#[test]
fn edits_are_undone_one_by_one() {
    let scratch = begun();
    let begun = project(&scratch);
    add(&scratch, "elbow=90", 0.08, "--falloff 40 --name flex");
    let first = (project(&scratch), shape(&scratch));
    add(&scratch, "elbow=90", 0.02, "--replace");
    assert_eq!(project(&scratch), first.0, "only the shape is another");
    assert_ne!(shape(&scratch), first.1, "the shape is another");
    add(&scratch, "elbow=45", 0.05, "--name half");
    scratch.dermis("psd remove arm.psd.toml flex half").done();
    assert!(
        !project(&scratch).contains("[[layer.sculpt]]"),
        "both are gone"
    );

    let undo = "psd undo arm.psd.toml";
    let run = scratch.dermis(undo).done();
    assert_eq!(
        run.stdout,
        "took back: removed flex of layer elbow; removed half of layer elbow; 3 edits before it can be undone\n",
        "it says what"
    );
    assert!(
        project(&scratch).contains("name = \"half\""),
        "both are back"
    );
    let run = scratch.dermis(undo).done();
    assert!(run.stdout.contains("added half to layer elbow"), "{run:#?}");
    assert_eq!(project(&scratch), first.0, "as before it");
    let run = scratch.dermis(undo).done();
    assert!(
        run.stdout.contains("replaced flex of layer elbow"),
        "{run:#?}"
    );
    assert_eq!(shape(&scratch), first.1, "the first shape is back");
    scratch.dermis(undo).done();
    assert_eq!(project(&scratch), begun, "as it was begun");
    assert_refused(&scratch, undo, &["there is no edit to undo"]);
    assert!(
        !scratch.at("arm.psd.history").exists(),
        "nothing is left over"
    );
}

fn shape(scratch: &Scratch) -> String {
    std::fs::read_to_string(scratch.at("arm.psd/flex.txt")).expect("a shape")
}

#[test]
fn undo_does_not_take_back_what_was_written_by_hand() {
    let scratch = begun();
    add(&scratch, "elbow=90", 0.08, "--falloff 40 --name flex");
    let by_hand = project(&scratch).replace("falloff = { elbow = 40 }", "falloff = { elbow = 35 }");
    scratch.put("arm.psd.toml", &by_hand);
    let undo = "psd undo arm.psd.toml";
    assert_refused(
        &scratch,
        undo,
        &[
            "changed after the last edit (added flex to layer elbow)",
            "--force",
        ],
    );
    assert_eq!(project(&scratch), by_hand, "untouched");
    scratch.dermis("psd undo arm.psd.toml --force").done();
    assert!(!project(&scratch).contains("flex"), "taken back with it");
}

#[test]
fn an_undo_that_was_cut_off_is_not_undone_twice() {
    let scratch = begun();
    add(&scratch, "elbow=90", 0.08, "--falloff 40 --name flex");
    let first = project(&scratch);
    add(&scratch, "elbow=45", 0.08, "--falloff 20 --name half");
    let second = std::fs::read(scratch.at("arm.psd.history/0002.toml")).expect("an edit");
    scratch.dermis("psd undo arm.psd.toml").done();
    // As if the program had been ended before it forgot the edit.
    scratch.put("arm.psd.history/0002.toml", second);
    assert_eq!(project(&scratch), first, "undone");
    let run = scratch.dermis("psd undo arm.psd.toml").done();
    assert!(
        run.stdout.contains("added flex"),
        "the one before it: {run:#?}"
    );
}

#[test]
fn a_layer_goes_with_its_shapes_and_files_stay() {
    let scratch = begun();
    add(&scratch, "elbow=90", 0.08, "--falloff 40 --name flex");
    add(
        &scratch,
        "elbow=90,load=1",
        0.05,
        "--falloff elbow=40,load=0.5 --name lift",
    );
    let before = project(&scratch);
    let run = scratch
        .dermis("psd remove arm.psd.toml --layer elbow+load")
        .done();
    assert_eq!(
        run.stdout, "removed layer elbow+load with 1 shape\n",
        "{run:#?}"
    );
    assert!(
        run.stderr.contains("arm.psd/lift.txt is left where it is"),
        "{run:#?}"
    );
    assert!(scratch.at("arm.psd/lift.txt").exists(), "its file stays");
    let check = scratch.dermis("psd check arm.psd.toml").done().stdout;
    assert!(!check.contains("lift") && check.contains("flex"), "{check}");
    scratch.dermis("psd undo arm.psd.toml").done();
    assert_eq!(project(&scratch), before, "as before");
}

#[test]
fn what_is_not_there_is_not_removed() {
    let scratch = begun();
    add(&scratch, "elbow=90", 0.08, "--falloff 40 --name flex");
    let before = project(&scratch);
    assert_refused(
        &scratch,
        "psd remove arm.psd.toml smile",
        &["there is no sculpt 'smile'; there are flex"],
    );
    // The first of two is there, and stays.
    assert_refused(
        &scratch,
        "psd remove arm.psd.toml flex smile",
        &["no sculpt 'smile'"],
    );
    assert_refused(
        &scratch,
        "psd remove arm.psd.toml --layer face",
        &["there is no layer 'face'; there are elbow"],
    );
    assert_eq!(project(&scratch), before, "untouched");
    let run = scratch.dermis("psd remove arm.psd.toml");
    assert_eq!(run.code, 2, "nothing named: {run:#?}");
}
