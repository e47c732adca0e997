//! A file with every step of a character's simplification, and any level out of it.

use dermis::document::LevelOptions;
use dermis::lod::{LevelTarget, LodOptions, Progressive};
use dermis::progress::Silent;
use dermis_io::Document;
use serde_json::json;

use crate::common::{SMALL_TUBE, Scratch, number, quoted, tube_document};
use crate::support;
use crate::support::clients::assert_valid;
use crate::support::glb_json::{json_of, with_json};
use crate::support::prefixes::check_prefixes;

/// A tube whose poses are a clip, as a glTF file has them.
fn tube_with_clip() -> Document {
    let mut tube = tube_document(&SMALL_TUBE);
    tube.frames_to_clip(Some(24.0)).expect("rigid bones");
    tube.frames.clear();
    tube
}

/// A folder with a tube, `tube.glb`, and the same with two levels and all steps, `all.glb`.
fn stepped() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_with_clip());
    let command = "lod tube.glb --ratios 0.5,0.25 --progressive -o all.glb --quiet";
    scratch.dermis(command).done();
    scratch
}

fn steps_of(document: &Document) -> &Progressive {
    document.progressive.as_ref().expect("it has steps")
}

#[test]
fn any_level_is_taken_out_of_a_file() {
    let scratch = stepped();
    let all = scratch.read("all.glb");
    assert_eq!(all.levels.len(), 2, "levels as ever");
    let count = steps_of(&all).step_count();
    let run = scratch.dermis("info all.glb").done();
    assert!(run.says(&format!("{count} steps")), "{run:#?}");
    let said = scratch.dermis("info all.glb --json").done().json();
    assert_eq!(number(&said, "/0/steps"), count as f64, "{said}");
    let full = scratch.read("tube.glb");
    for steps in [0, 1, count / 2, count] {
        let command = format!("convert all.glb --steps {steps} out.glb --force");
        scratch.dermis(&command).done();
        let taken = scratch.read("out.glb");
        let expected = all.at_steps(steps).expect("sound").expect("has steps");
        assert_eq!(taken.mesh, expected.mesh, "{steps} steps: the mesh");
        let [own, same] = [&taken, &expected].map(|document| {
            let skin = document.skin.as_ref().expect("a skin");
            let pose = skin.sample(&full.clips[0], 0.1);
            skin.evaluate(&pose).expect("its own clip")
        });
        for (a, b) in own.iter().zip(&same) {
            assert!(a.distance(*b) < 1e-6, "{steps} steps: {a} and {b}");
        }
        assert!(taken.progressive.is_none(), "{steps} steps: a level alone");
    }
    let command = "convert all.glb --level-error 1% out.glb --force";
    scratch.dermis(command).done();
    let size = all.skin.as_ref().expect("a skin").size().expect("points");
    let steps = steps_of(&all).steps_within(0.01 * size);
    let expected = all.at_steps(steps).expect("sound").expect("has steps");
    let taken = scratch.read("out.glb").mesh;
    assert_eq!(taken, expected.mesh, "as coarse as the error allows");
    assert!(steps > 0, "some steps are within a hundredth of the size");
}

#[test]
fn what_is_not_there_gets_one_sentence() {
    let scratch = stepped();
    let count = steps_of(&scratch.read("all.glb")).step_count();
    let too_many = format!("convert all.glb --steps {} out.glb", count + 1);
    let most = format!("expected 0 to {count}");
    for (command, said) in [
        (too_many.as_str(), most.as_str()),
        ("info tube.glb --steps 1", "`dermis lod --progressive`"),
        (
            "eval tube.glb --level-error 1mm -o out.npz",
            "--level-error",
        ),
        ("info all.glb --steps 1 --level 1", "cannot be used with"),
        (
            "lod tube.glb --progressive --separate -o out.glb",
            "cannot be used with",
        ),
    ] {
        let run = scratch.dermis(command);
        assert_eq!(run.code, 2, "{command}: {run:#?}");
        assert!(run.stderr.contains(said), "{command}: {}", run.stderr);
    }
}

/// What is read is what was made, to single precision, and a file of a file is the same file.
#[test]
fn steps_survive_a_file() {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &tube_with_clip());
    let made = with_steps(&scratch.read("tube.glb"));
    scratch.write("a.glb", &made);
    let read = scratch.read("a.glb");
    assert!(read.notes.is_empty(), "{:?}", read.notes);
    let (own, found) = (steps_of(&made), steps_of(&read));
    assert_eq!(own.parents, found.parents, "what nodes become");
    for (own, found) in own.parts.iter().zip(&found.parts) {
        assert_eq!(own.parents, found.parents, "what vertices become");
        assert_eq!(own.made_by, found.made_by, "steps of vertices");
        assert_eq!(own.vanishes_with, found.vanishes_with, "steps of triangles");
    }
    let rest = own.rest_positions.iter().zip(&found.rest_positions);
    for (a, b) in rest {
        assert!(a.distance(*b) < 1e-6, "{a} and {b}");
    }
    for (a, b) in own.errors.iter().zip(&found.errors) {
        assert!((a - b).abs() <= 1e-6 * a, "{a} and {b}");
    }
    scratch.write("b.glb", &read);
    let again = scratch.read("b.glb");
    assert_eq!(steps_of(&again), found, "nothing changes any more");
}

fn with_steps(document: &Document) -> Document {
    let target = LevelTarget::Triangles(document.mesh.triangles().len() / 5);
    let options = LevelOptions {
        targets: vec![target],
        lod: LodOptions {
            progressive: true,
            ..LodOptions::default()
        },
        ..LevelOptions::default()
    };
    let leveled = document.with_levels(&options, &Silent);
    leveled.expect("it can be simplified").document
}

/// Every number of the block is a claim.
#[test]
fn broken_steps_are_left_out_with_a_note() {
    let scratch = stepped();
    let good = std::fs::read(scratch.at("all.glb")).expect("the file");
    let block = |json: &serde_json::Value| -> serde_json::Value {
        json["skins"][0]["extensions"]["DERMIS_skin"]["progressive"].clone()
    };
    let given = block(&json_of(&good));
    let broken = [
        ("/parents", json!(100_000)),
        ("/parents", given["jointCounts"].clone()),
        ("/errors", given["positions"].clone()),
        ("/positions", given["errors"].clone()),
        ("/jointCounts", given["parents"].clone()),
        ("/joints", given["parents"].clone()),
        ("/joints", json!(null)),
        ("/weights", json!(null)),
        ("/parts", json!([])),
        ("/parts/0/parents", given["errors"].clone()),
        ("/parts/0/madeBy", json!(null)),
        ("/parts/0/vanishesWith", given["parents"].clone()),
        ("/parts/0/vanishesWith", json!(null)),
    ];
    for (field, value) in broken {
        let mut json = json_of(&good);
        let place = format!("/skins/0/extensions/DERMIS_skin/progressive{field}");
        *json.pointer_mut(&place).expect("the field is there") = value.clone();
        scratch.put("broken.glb", with_json(&good, &json));
        let document = scratch.read("broken.glb");
        let case = format!("{field} = {value}");
        assert!(document.progressive.is_none(), "{case}: not used");
        let said = |note: &String| note.contains("the steps of the DERMIS_skin block");
        assert!(
            document.notes.iter().any(said),
            "{case}: {:?}",
            document.notes
        );
        assert_eq!(document.levels.len(), 2, "{case}: all else is there");
    }
}

/// L8 on two characters: one flat-shaded with a texture, one with seams.
#[test]
fn real_characters_are_whole_after_any_number_of_steps() {
    for name in ["Fox", "CesiumMan"] {
        let Some(path) = support::data(&format!("gltf/{name}.glb")) else {
            return;
        };
        let given = dermis_io::read(&path).expect("a character");
        let made = with_steps(&given);
        let sequence = steps_of(&made);
        check_prefixes(name, sequence, &given.draw, 20);
        let full = sequence.at(0).expect("finite");
        assert_eq!(full.mesh, given.mesh, "{name}: the mesh, bit for bit");
        assert_eq!(full.draw, given.draw, "{name}: all that is drawn");
        let program = given.skin.as_ref().map(|skin| &skin.program);
        assert_eq!(Some(&full.program), program, "{name}: what moves it");
        let scratch = Scratch::new();
        let command = format!(
            "lod {} --ratios 0.5,0.3 --progressive -o all.glb --quiet",
            quoted(&path)
        );
        assert!(scratch.dermis(&command).code <= 1, "{name}: it is made");
        let read = scratch.read("all.glb");
        check_prefixes(name, steps_of(&read), &read.draw, 20);
        let half = steps_of(&read).step_count() / 2;
        let command = format!("convert all.glb --steps {half} half.glb");
        scratch.dermis(&command).done();
        if let Some(clients) = support::node_clients() {
            assert_valid(
                &clients,
                &["all.glb", "half.glb"].map(|name| scratch.at(name)),
            );
        }
    }
}

#[test]
fn a_character_with_morph_targets_is_refused_in_a_sentence() {
    let Some(path) = support::data("gltf/RobotExpressive.glb") else {
        return;
    };
    let scratch = Scratch::new();
    let run = scratch.dermis(&format!("lod {} --progressive -o out.glb", quoted(&path)));
    assert_eq!(run.code, 2, "{run:#?}");
    let said = "morph targets or corrections";
    assert!(run.stderr.contains(said), "{run:#?}");
}
