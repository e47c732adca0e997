//! Somebody has examples that no fit may see, and wants to know how well a skin does on them.

use dermis::Pose;
use dermis::synth::TubeOptions;
use dermis_io::Document;

use crate::common::{SMALL_TUBE, Scratch, number, tube_document};

/// A tube in six poses, and in four others.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    let all = tube_document(&TubeOptions {
        example_count: 10,
        ..SMALL_TUBE
    });
    let part = |from: usize, to: usize| Document {
        frames: all.frames[from..to].to_vec(),
        frame_poses: all.frame_poses[from..to].to_vec(),
        ..all.clone()
    };
    scratch.write("train.npz", &part(0, 6));
    scratch.write("test.npz", &part(6, 10));
    scratch.write("far.npz", &part(8, 10));
    scratch
}

#[test]
fn a_fit_is_scored_on_a_set_that_it_never_sees() {
    let scratch = folder();
    let fit = "fit train.npz --method dual-quaternion --hold-out none -o skin.glb";
    scratch.dermis(&format!("{fit} -q")).done();
    let alone = std::fs::read(scratch.at("skin.glb")).expect("written");
    let run = scratch
        .dermis(&format!("{fit} --test test.npz --test far.npz --json"))
        .done();
    let with = std::fs::read(scratch.at("skin.glb")).expect("written");
    assert!(alone == with, "the skin has not seen the test");
    let json = run.json();
    assert_eq!(json["tests"][0]["name"], "test", "{json:#}");
    assert_eq!(json["tests"][1]["name"], "far", "{json:#}");
    assert_eq!(
        number(&json, "/tests/0/total/exampleCount"),
        4.0,
        "{json:#}"
    );
    assert_eq!(
        json["tests"][1]["examples"].as_array().map_or(0, Vec::len),
        2,
        "each"
    );
    // The same numbers as those of the meshes, but for the unit of E_RMS and single precision.
    let measured = scratch
        .dermis("measure test.npz skin.glb --json -q")
        .done()
        .json();
    let (said, found) = (
        number(&json, "/tests/0/total/meanDistance"),
        number(&measured, "/total/meanDistance"),
    );
    assert!((said / found - 1.0).abs() < 1e-3, "{said} and {found}");
    let table = scratch.dermis(&format!("{fit} --test test.npz")).done();
    assert!(table.says("test: test"), "a row: {table:#?}");
}

#[test]
fn a_comparison_has_a_column_for_the_test() {
    let scratch = folder();
    let compare = "compare train.npz --methods ssd,dual-quaternion --hold-out none --test test.npz";
    let run = scratch.dermis(compare).done();
    assert!(
        !run.stderr.contains("nothing is held out"),
        "the test is: {run:#?}"
    );
    let heading = run.stdout.lines().nth(1).unwrap_or_default();
    assert!(heading.contains("test"), "{run:#?}");
    let json = scratch.dermis(&format!("{compare} --json")).done().json();
    let error = |row: usize| number(&json, &format!("/methods/{row}/tests/0/total/eRms"));
    // Linear blending made the tube.
    assert!(
        error(0) < 0.01 && error(1) > 0.1,
        "{} and {}",
        error(0),
        error(1)
    );
    scratch
        .dermis(&format!("{compare} --report page.html"))
        .done();
    let page = std::fs::read_to_string(scratch.at("page.html")).expect("a page");
    assert!(
        page.contains("<small>test</small></th>"),
        "on the page, too"
    );
}

#[test]
fn the_error_that_is_allowed_is_that_on_the_test() {
    let scratch = folder();
    let fit = "fit train.npz --method dual-quaternion -o skin.glb --test test.npz";
    let run = scratch.dermis(&format!("{fit} --max-error 0.0001"));
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(run.stderr.contains("on test examples (test)"), "{run:#?}");
}

#[test]
fn a_test_of_something_else_is_one_sentence() {
    let scratch = folder();
    let mut other = tube_document(&SMALL_TUBE);
    let mut bones: Vec<_> = other
        .skin
        .as_ref()
        .expect("a skin")
        .skeleton
        .bones()
        .to_vec();
    for bone in &mut bones {
        bone.name.insert_str(0, "other_");
    }
    other.skeleton = Some(dermis::Skeleton::new(bones).expect("parents first"));
    other.skin = None;
    scratch.write("other.npz", &other);
    let meshes = Document {
        skin: None,
        skeleton: None,
        frame_poses: Vec::<Pose>::new(),
        ..other.clone()
    };
    scratch.write("meshes.npz", &meshes);
    scratch.write(
        "small.npz",
        &tube_document(&TubeOptions {
            ring_count: 5,
            ..SMALL_TUBE
        }),
    );
    for (test, part) in [
        ("other.npz", "none of its bones (other_bone_0"),
        (
            "meshes.npz",
            "meshes.npz: --test takes examples with the pose",
        ),
        ("small.npz", "vertices, but train.npz has 98"),
        ("missing.npz", "missing.npz"),
    ] {
        let run = scratch.dermis(&format!("fit train.npz -o skin.glb --test {test} -q"));
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.stderr.contains(part), "{part} in {run:#?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:#?}");
        assert!(!scratch.at("skin.glb").exists(), "nothing is written");
    }
}

#[test]
fn examples_are_held_out_by_several_patterns() {
    let scratch = folder();
    let names: Vec<String> = (scratch.read("train.npz").frames.iter())
        .map(|frame| frame.name.clone())
        .collect();
    let held_out = |flags: &str| {
        let fit = format!("fit train.npz -o skin.glb --json -q {flags}");
        let json = scratch.dermis(&fit).done().json();
        let examples = json["heldOutExamples"].as_array().cloned();
        let index = |example: &serde_json::Value| example["index"].as_u64();
        let examples = examples.unwrap_or_default();
        examples.iter().filter_map(index).collect::<Vec<_>>()
    };
    let two = format!("--hold-out '{}' --hold-out 3,5", names[1]);
    assert_eq!(held_out(&two), [1, 3, 5], "names and numbers");
    let listed = format!("--hold-out '{},{}'", names[0], names[4]);
    assert_eq!(held_out(&listed), [0, 4], "names in a list");
    let run = scratch.dermis("fit train.npz -o no.glb --hold-out 3 --hold-out 'walk_*'");
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(
        run.stderr
            .contains("--hold-out walk_*: no example has such a name"),
        "{run:#?}"
    );
}

#[test]
fn poses_of_a_file_are_found_by_the_names_of_bones() {
    let scratch = folder();
    scratch
        .dermis("fit train.npz --hold-out none -o skin.glb -q")
        .done();
    scratch
        .dermis("eval skin.glb --poses test.npz -o shown.npz")
        .done();
    let (truth, shown) = (scratch.read("test.npz"), scratch.read("shown.npz"));
    assert_eq!(shown.frames.len(), 4, "a frame for each pose");
    for (a, b) in truth.frames.iter().zip(&shown.frames) {
        assert_eq!(a.name, b.name, "named as the poses are");
        let pairs = a.positions.iter().zip(&b.positions);
        let far = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(far < 1e-3, "{}: {far}", a.name);
    }
    let run = scratch.dermis("eval skin.glb --poses skin.glb -o no.npz");
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(run.stderr.contains("expected poses of bones"), "{run:#?}");
}
