//! What `dermis psd` refuses.

use glam::DVec3;

use super::{Scratch, assert_refused, folder};
use crate::common::psd::sculpt;

/// The folder of bad files, with a project of the tube and one sculpt.
fn sculpted() -> Scratch {
    let scratch = folder();
    let new = "psd new t.psd.toml --base tube.glb --control bend=bone_1:hinge:y \
               --control load=slider";
    scratch.dermis(new).done();
    let pose = "psd pose t.psd.toml --pose bend=60 -o posed.obj";
    scratch.dermis(pose).done();
    sculpt(&scratch, "posed.obj", "sculpted.obj", |i| {
        match i > 40 && i < 50 {
            true => DVec3::splat(0.05),
            false => DVec3::ZERO,
        }
    });
    let add = "psd add t.psd.toml --pose bend=60 --mesh sculpted.obj --falloff 30 --name flex";
    scratch.dermis(add).done();
    let text = std::fs::read_to_string(scratch.at("t.psd.toml")).expect("a text");
    for (name, from, to) in [
        ("v2.toml", "version = 1", "version = 2"),
        ("baseless.toml", "tube.glb", "none.glb"),
        ("field.toml", "falloff =", "fallof ="),
        ("boneless.toml", "bone_1", "bone_9"),
        ("lost.toml", "flex.txt", "gone.txt"),
        (
            "unknown.toml",
            "controls = [\"bend\"]",
            "controls = [\"knee\"]",
        ),
        ("half.toml", "[[layer]]", "[[layer"),
        ("flat.toml", "falloff = { bend = 30 }", "falloff = 0"),
        ("still.toml", "at = { bend = 60 }", "at = { bend = 0 }"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from:?} in {text}");
        scratch.put(name, changed);
    }
    scratch
}

#[test]
fn sculpting_says_what_it_cannot_do() {
    let scratch = sculpted();
    let before = scratch.files();
    for (command, parts) in [
        // new
        (
            "psd new t.psd.toml --base tube.glb --control a=slider",
            &["t.psd.toml", "is there already"][..],
        ),
        (
            "psd new x.psd.toml --base tube.glb --control a=elbow:hinge:z",
            &[
                "x.psd.toml",
                "control a",
                "no bone 'elbow'",
                "bone_0, bone_1, bone_2",
            ],
        ),
        (
            "psd new x.psd.toml --base missing.glb --control a=slider",
            &["missing.glb", "cannot be read"],
        ),
        (
            "psd new x.psd --base tube.glb --control a=slider",
            &["x.psd", "ends in .toml"],
        ),
        (
            "psd new x.toml --base tube.glb --control a=bone_1:free --control b=bone_1:hinge:x",
            &["controls a and b", "bone_1", "one control"],
        ),
        (
            "psd new x.toml --base tube.glb --control a=bone_1:bend:x",
            &[
                "--control a=bone_1:bend:x",
                "hinge, swing, swing-twist or free",
            ],
        ),
        // Projects that are not what they should be.
        (
            "psd pose none.toml --pose rest -o out.obj",
            &["none.toml", "cannot be read", "dermis psd new"],
        ),
        (
            "psd check v2.toml",
            &["v2.toml", "version is 2, expected 1"],
        ),
        ("psd check baseless.toml", &["none.glb", "cannot be read"]),
        (
            "psd check field.toml",
            &["field.toml: line", "unknown field 'fallof'", "falloff"],
        ),
        (
            "psd check boneless.toml",
            &["boneless.toml", "control bend", "no bone 'bone_9'"],
        ),
        (
            "psd fit lost.toml -o out.glb",
            &[
                "lost.toml",
                "sculpt flex of layer bend",
                "gone.txt",
                "cannot be read",
            ],
        ),
        (
            "psd check unknown.toml",
            &["layer bend", "no control 'knee'", "bend, load"],
        ),
        ("psd check half.toml", &["half.toml: line"]),
        (
            "psd check flat.toml",
            &["sculpt flex", "falloff", "more than 0 for bend"],
        ),
        ("psd check still.toml", &["sculpt flex", "moves a control"]),
        // pose
        (
            "psd pose t.psd.toml --pose knee=1 -o out.obj",
            &["knee=1", "no control of the project (bend, load)"],
        ),
        (
            "psd pose t.psd.toml --pose bend=1/2 -o out.obj",
            &["bend=1/2", "expected one number for bend, found 2"],
        ),
        (
            "psd pose t.psd.toml --pose bone_2.rz=5 -o out.obj",
            &["moves bone bone_2, which no control reads"],
        ),
        (
            "psd pose t.psd.toml --pose rest -o out.fbx",
            &["out.fbx", "not supported"],
        ),
        // add
        (
            "psd add t.psd.toml --pose bend=0 --mesh sculpted.obj",
            &["pose 'bend=0' is the pose rest", "move a control"],
        ),
        (
            "psd add t.psd.toml --pose bend=60 --mesh posed.obj",
            &[
                "pose bend=60 is taken",
                "sculpt flex stands at bend=60",
                "--replace",
            ],
        ),
        (
            "psd add t.psd.toml --pose bend=60 --mesh sculpted.obj --replace",
            &["sculpted.obj", "nothing was sculpted", "bend=60"],
        ),
        (
            "psd add t.psd.toml --pose bend=30 --mesh quad.obj",
            &["quad.obj", "has 4 vertices", "tube.glb has", "none added"],
        ),
        (
            "psd add t.psd.toml --pose bend=30 --mesh tube.npz",
            &["tube.npz", "expected one sculpted mesh, found 6 frames"],
        ),
        (
            "psd add t.psd.toml --pose bend=30,load=1 --mesh sculpted.obj --falloff 4",
            &["falloff '4'", "joints and sliders", "bend=40,load=0.5"],
        ),
        (
            "psd add t.psd.toml --pose bend=30 --mesh sculpted.obj --falloff 0",
            &["falloff '0'", "more than 0"],
        ),
        (
            "psd add t.psd.toml --pose load=1 --layer bend --mesh sculpted.obj",
            &["pose load=1 and the pose rest are the same to layer bend"],
        ),
        (
            "psd add t.psd.toml --pose load=1 --name flex --mesh sculpted.obj",
            &["--name flex", "layer bend has a sculpt of that name"],
        ),
        (
            "psd add t.psd.toml --pose load=1 --name load --mesh sculpted.obj",
            &["--name load", "a slider or morph target"],
        ),
        (
            "psd add t.psd.toml --pose bend=30 --replace --mesh sculpted.obj",
            &["--replace", "no sculpt stands at bend=30"],
        ),
        // fit and show
        (
            "psd fit t.psd.toml -o out.obj",
            &["out.obj", ".glb or .gltf"],
        ),
        (
            "psd show t.psd.toml --sweep bend -o out.jpg",
            &["out.jpg", ".png"],
        ),
        (
            "psd show t.psd.toml --sweep bend --from 9 --to 3 -o out.png",
            &["--from 9 --to 3", "a range that rises"],
        ),
        (
            "psd show t.psd.toml --sweep bend.2 -o out.png",
            &["--sweep bend.2", "1 to 1"],
        ),
    ] {
        let run = scratch.dermis(command);
        assert_refused(&run, parts);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "{run:#?}");
        assert_eq!(scratch.files(), before, "nothing is left behind: {command}");
    }
}
