//! What other commands do with a file that has levels of detail, and with a level that is a file of its own.

use dermis_io::Document;
use serde_json::{Value, json};

use crate::common::{Run, SMALL_TUBE, Scratch, number, tube_document};
use crate::support::glb_json::{json_of, with_json};

/// A folder with a tube as one file with two levels, `all.glb`, and as three files: `own.glb`, `own_lod1.glb` and
/// `own_lod2.glb`.
fn leveled() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_with_clip());
    for options in ["-o all.glb", "--separate -o own.glb"] {
        let command = format!("lod tube.glb --ratios 0.5,0.25 {options} --quiet");
        scratch.dermis(&command).done();
    }
    scratch
}

/// A tube whose poses are a clip, as a glTF file has them.
fn tube_with_clip() -> Document {
    let mut tube = tube_document(&SMALL_TUBE);
    tube.frames_to_clip(Some(24.0)).expect("rigid bones");
    tube.frames.clear();
    tube
}

#[test]
fn a_level_is_taken_out_of_a_file() {
    let scratch = leveled();
    for (number, own) in [(0, "own.glb"), (1, "own_lod1.glb"), (2, "own_lod2.glb")] {
        let command = format!("convert all.glb --level {number} out.glb --force");
        scratch.dermis(&command).done();
        let (taken, own) = (scratch.read("out.glb"), scratch.read(own));
        assert_eq!(taken.mesh, own.mesh, "level {number}: the same mesh");
        assert_eq!(taken.draw, own.draw, "level {number}: drawn alike");
        assert_eq!(taken.skin, own.skin, "level {number}: moved alike");
        assert_eq!(taken.clips, own.clips, "level {number}: the same clips");
        assert!(taken.levels.is_empty(), "level {number} alone");
        scratch
            .dermis(&format!("eval all.glb --level {number} -o a.npz --force"))
            .done();
        scratch.dermis("eval out.glb -o b.npz --force").done();
        let [a, b] = ["a.npz", "b.npz"].map(|name| scratch.read(name));
        assert_eq!(a.frames, b.frames, "level {number}: the same frames");
        assert!(!a.frames.is_empty(), "and there are some");
    }
}

#[test]
fn a_level_that_is_not_there_gets_one_sentence() {
    let scratch = leveled();
    for (command, said) in [
        ("convert all.glb --level 3 out.glb", "expected 0 to 2"),
        ("info tube.glb --level 1", "`dermis lod` makes them"),
        ("eval tube.glb --level 1 -o out.npz", "has no levels"),
        ("bench all.glb --level 9", "all.glb: --level 9"),
        ("info all.glb --level -1", "--level"),
    ] {
        let run = scratch.dermis(command);
        assert_eq!(run.code, 2, "{command}: {run:#?}");
        assert!(run.stderr.contains(said), "{command}: {}", run.stderr);
    }
}

#[test]
fn info_lists_the_levels_of_a_file() {
    let scratch = leveled();
    let run = scratch.dermis("info all.glb").done();
    assert!(run.stdout.contains("\n  level 2 "), "a line each: {run:#?}");
    assert!(run.says("in the clips"), "with its errors: {run:#?}");
    let said = scratch.dermis("info all.glb --json").done().json();
    let levels = scratch.read("all.glb").levels;
    for (number_of, level) in levels.iter().enumerate() {
        let row = &said[0]["levels"][number_of];
        assert_eq!(
            number(row, "/triangles"),
            level.mesh.triangles().len() as f64,
            "of level {number_of} in {said}"
        );
        let most = level.record.guaranteed_error.expect("it is stated");
        assert_eq!(number(row, "/guaranteedError"), most, "as the file has it");
        assert!(number(row, "/meanInfluences") >= 1.0, "somebody moves it");
    }
    let run = scratch.dermis("info all.glb --level 2").done();
    let count = levels[1].mesh.triangles().len();
    assert!(
        run.says(&format!("triangles {count}")),
        "of the level alone: {run:#?}"
    );
    assert!(!run.stdout.contains("level 1"), "it has no levels itself");
}

#[test]
fn every_command_takes_a_file_with_levels_and_a_level_alone() {
    let scratch = leveled();
    scratch.dermis("eval own_lod2.glb -o own_lod2.npz").done();
    scratch.dermis("eval all.glb -o all.npz").done();
    for name in ["all", "own_lod2"] {
        for command in [
            "info FILE.glb --bones",
            "bounds FILE.glb -o out.glb",
            "stats FILE.glb -o out.glb",
            "subdivide FILE.glb -o out.glb",
            "transform FILE.glb --scale 2 -o out.glb",
            "bake-clips FILE.glb --clips tube.glb -o out.glb",
            "convert FILE.glb out.gltf",
            "measure FILE.npz FILE.glb",
            "pose FILE.glb --to FILE.npz -o out.glb",
            "fit FILE.glb --hold-out none -o out.glb",
            "rig FILE.npz --skeleton FILE.glb -o out.glb",
            "lod FILE.glb --ratios 0.8 -o out.glb",
            "bench FILE.glb --threads 1",
        ] {
            let command = format!("{} --force", command.replace("FILE", name));
            let run = scratch.dermis(&command);
            assert_eq!(run.code, 0, "{run:#?}");
        }
    }
}

#[test]
fn levels_stay_with_a_character_that_moves_or_gets_clips() {
    let scratch = leveled();
    let before = scratch.read("all.glb").levels;
    for (command, scale) in [
        ("convert all.glb out.glb", Some(1.0)),
        ("convert all.glb out.gltf", Some(1.0)),
        ("bounds all.glb -o out.glb", Some(1.0)),
        ("transform all.glb --scale 2 -o out.glb", Some(2.0)),
        // Other poses are legal or shown then, for which nothing was guaranteed.
        ("stats all.glb -o out.glb", None),
        ("bake-clips all.glb --clips tube.glb -o out.glb", None),
    ] {
        let run = scratch.dermis(&format!("{command} --force")).done();
        let said = crate::common::unbroken(&run.stderr);
        assert_eq!(
            said.contains("guaranteed errors of the levels"),
            scale.is_none(),
            "{command}: {said}"
        );
        let name = command.rsplit(' ').next().expect("a name");
        let after = scratch.read(name).levels;
        assert_eq!(after.len(), before.len(), "{command}: as many levels");
        for (after, before) in after.iter().zip(&before) {
            assert_eq!(
                after.mesh.triangles(),
                before.mesh.triangles(),
                "{command}: their triangles"
            );
            assert_eq!(
                after.becomes, before.becomes,
                "{command}: what becomes what"
            );
            let errors = [after, before].map(|level| level.record.guaranteed_error);
            let [after, before] = errors;
            let expected = scale.zip(before).map(|(scale, before)| scale * before);
            assert_eq!(after, expected, "{command}: what is guaranteed");
        }
    }
}

#[test]
fn levels_that_cannot_stay_are_left_out_with_a_note() {
    let scratch = leveled();
    for command in [
        "convert all.glb out.npz",
        "convert all.glb out.obj",
        "convert all.glb --clip frames out.glb",
        "subdivide all.glb -o out.glb",
    ] {
        let run = scratch.dermis(&format!("{command} --force"));
        assert_eq!(run.code, 0, "{run:#?}");
        let said = crate::common::unbroken(&run.stderr);
        assert!(said.contains("2 levels"), "{command}: {said}");
        if command.ends_with("out.glb") {
            let levels = scratch.read("out.glb").levels;
            assert!(levels.is_empty(), "{command}: {} levels", levels.len());
        }
    }
}

/// Other bones, or shapes that the levels have not: what they were is no longer true.
#[test]
fn a_new_skin_or_new_shapes_have_no_levels_of_the_old_file() {
    let scratch = leveled();
    scratch
        .dermis("rig all.glb --bones 3 --blend-rounds 1 --space-rounds 0 -o rigged.glb")
        .done();
    let skin = scratch.read("all.glb").skin.expect("a skin");
    let bone = &skin.skeleton.bones().last().expect("a bone").name;
    scratch
        .dermis(&format!(
            "psd new arm.psd.toml --base all.glb --control 'bend={bone}:hinge:z'"
        ))
        .done();
    scratch
        .dermis("psd pose arm.psd.toml --pose bend=40 -o posed.obj")
        .done();
    let mut sculpt = scratch.read("posed.obj");
    let mut positions = sculpt.mesh.positions().to_vec();
    positions[5] += glam::DVec3::splat(0.01);
    sculpt.mesh = sculpt.mesh.with_positions(positions).expect("as many");
    scratch.write("sculpt.obj", &sculpt);
    scratch
        .dermis("psd add arm.psd.toml --pose bend=40 --mesh sculpt.obj")
        .done();
    scratch
        .dermis("psd fit arm.psd.toml -o sculpted.glb")
        .done();
    for name in ["rigged.glb", "sculpted.glb"] {
        assert_eq!(scratch.read(name).level_count(), 1, "{name}: itself alone");
    }
}

/// A file with levels whose JSON was changed by hand.
fn changed(scratch: &Scratch, change: impl FnOnce(&mut Value)) {
    let glb = std::fs::read(scratch.at("all.glb")).expect("the file");
    let mut json = json_of(&glb);
    change(&mut json);
    scratch.put("changed.glb", with_json(&glb, &json));
}

/// The node of the full character, and those of its levels.
fn nodes_of(json: &Value) -> (usize, Vec<usize>) {
    let nodes = json["nodes"].as_array().expect("nodes");
    let ids = |node: &Value| -> Option<Vec<usize>> {
        let ids = node.pointer("/extensions/MSFT_lod/ids")?.as_array()?;
        ids.iter().map(|id| Some(id.as_u64()? as usize)).collect()
    };
    let full = nodes.iter().position(|node| ids(node).is_some());
    let full = full.expect("a node with levels");
    (full, ids(&nodes[full]).expect("they are numbers"))
}

fn assert_no_panic(run: &Run, what: &str) {
    assert!(
        matches!(run.code, 0..=2) && !run.stderr.contains("panicked"),
        "{what}: {run:#?}"
    );
}

#[test]
fn levels_that_make_no_sense_are_left_out_or_refused_and_nothing_panics() {
    let scratch = leveled();
    type Change = fn(&mut Value, usize, &[usize]);
    let cases: [(&str, usize, Change); 9] = [
        ("a node that does not exist", 2, |json, full, levels| {
            json["nodes"][full]["extensions"]["MSFT_lod"]["ids"] = json!([levels[0], 99999]);
        }),
        ("no numbers", 1, |json, full, _| {
            json["nodes"][full]["extensions"]["MSFT_lod"]["ids"] = json!([-1, "x", {}, 1.5]);
        }),
        ("a level of itself", 1, |json, full, _| {
            json["nodes"][full]["extensions"]["MSFT_lod"]["ids"] = json!([full]);
        }),
        (
            "a level that has the full character as its level",
            3,
            |json, full, levels| {
                json["nodes"][levels[0]]["extensions"] = json!({"MSFT_lod": {"ids": [full]}});
            },
        ),
        ("a level without its skin", 2, |json, _, levels| {
            let node = json["nodes"][levels[0]].as_object_mut().expect("a node");
            node.remove("skin");
        }),
        ("a level that is a bone", 2, |json, full, levels| {
            json["nodes"][full]["extensions"]["MSFT_lod"]["ids"] = json!([levels[0], 0]);
        }),
        (
            "a level of a mesh that does not exist",
            0,
            |json, _, levels| {
                json["nodes"][levels[0]]["mesh"] = json!(77);
            },
        ),
        ("coverages that are none", 3, |json, full, _| {
            json["nodes"][full]["extras"]["MSFT_screencoverage"] = json!([7, "x"]);
        }),
        (
            "a block that describes another number of levels",
            3,
            |json, _, _| {
                json["skins"][0]["extensions"]["DERMIS_skin"]["levels"] =
                    json!([{"becomes": 99999}]);
            },
        ),
    ];
    for (what, count, change) in cases {
        changed(&scratch, |json| {
            let (full, levels) = nodes_of(json);
            change(json, full, &levels);
        });
        for command in [
            "info changed.glb",
            "convert changed.glb out.glb --force",
            "eval changed.glb --level 1 -o out.npz --force",
            "lod changed.glb --ratios 0.5 -o out.glb --force",
        ] {
            assert_no_panic(&scratch.dermis(command), what);
        }
        // 0 where the file is refused, else the full character and its levels.
        let found = dermis_io::read(&scratch.at("changed.glb"));
        let found = found.map_or(0, |document| document.level_count());
        assert_eq!(found, count, "{what}: levels that are read");
    }
}
