//! What cannot be done is said in one sentence, and leaves nothing behind.

mod decompositions;
mod psd;

use dermis::TriMesh;
use dermis_io::Document;
use glam::DVec3;

use crate::common::{Run, SMALL_TUBE, Scratch, sequence, tube_document};

const QUAD: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";

/// A folder with good files, and with every bad one that the tests name.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    let tube = tube_document(&SMALL_TUBE);
    scratch.write("tube.npz", &tube);
    scratch.dermis("convert tube.npz tube.glb --quiet").done();
    let two_clips = {
        let mut document = scratch.read("tube.glb");
        let mut again = document.clips[0].clone();
        again.name = "wave".to_owned();
        document.clips.push(again);
        document
    };
    scratch.write("two.glb", &two_clips);

    let no_bones = Document {
        skin: None,
        frame_poses: Vec::new(),
        ..tube.clone()
    };
    scratch.write("no_bones.npz", &no_bones);
    scratch.write("morphs.glb", &no_bones);
    let mut five = no_bones.clone();
    five.frames.truncate(5);
    scratch.write("five.npz", &five);
    let square = TriMesh::new(
        vec![DVec3::ZERO, DVec3::X, DVec3::ONE, DVec3::Y],
        vec![[0, 1, 2], [0, 2, 3]],
    );
    let square = square.expect("a square");
    let moving = sequence(&square, &[square.positions().to_vec(), vec![DVec3::Z; 4]]);
    scratch.write("four.npz", &moving);
    let mut turned = five.clone();
    let others = tube.mesh.triangles().iter().map(|[a, b, c]| [*a, *c, *b]);
    let others = TriMesh::new(tube.mesh.positions().to_vec(), others.collect());
    turned.mesh = others.expect("a tube inside out");
    scratch.write("turned.npz", &turned);
    let still = Document {
        frames: Vec::new(),
        frame_poses: Vec::new(),
        ..tube.clone()
    };
    scratch.write("still.glb", &still);
    scratch.put("lonely.pc2", "");
    scratch.put("too_far.txt", "0 1 2\n98\n");
    let mut not_a_number = tube.clone();
    not_a_number.frames[3].positions[7] = DVec3::new(0.0, f64::NAN, 0.0);
    scratch.write("nan.npz", &not_a_number);

    let glb = std::fs::read(scratch.at("tube.glb")).expect("it was written");
    scratch.put("truncated.glb", &glb[..glb.len() / 2]);
    for name in ["empty.glb", "empty.npz", "empty.obj", "empty.pc2"] {
        scratch.put(name, "");
    }
    scratch.put("quad.obj", QUAD);
    scratch.put(
        "three.obj",
        QUAD.replace("v 0 1 0\n", "").replace("3 4", "3"),
    );
    scratch.put("turned.obj", QUAD.replace("2 3 4", "3 2 4"));
    scratch.put("listed.json", r#"{"bone_0": [0, 1], "bone_1": [1]}"#);
    scratch.put("misnamed.json", r#"{"elbow": [0]}"#);
    scratch.put("painted.json", r##"{"colors": {"bone_0": "#ff0000"}}"##);
    scratch.put("out_of_range.obj", QUAD.replace("3 4", "3 5"));
    scratch.put("scene.fbx", "Kaydara FBX Binary");
    scratch.put("scene.max", "a scene of 3ds Max");
    scratch.put("in_the_way", "a file where a folder should be");
    scratch
}

/// Fails unless the program refused with one sentence that has all the parts.
#[track_caller]
fn assert_refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, 2, "{run:#?}");
    assert_eq!(run.stdout, "", "no results: {run:#?}");
    assert!(run.stderr.starts_with("error: "), "{run:#?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part:?} in {run:#?}");
    }
}

#[test]
fn bad_input_gets_one_sentence() {
    let scratch = folder();
    let before = scratch.files();
    for (command, parts) in [
        // Files that are not there, or not what their names say.
        ("info missing.glb", &["missing.glb", "cannot be read"][..]),
        (
            "fit missing.npz -o out.glb",
            &["missing.npz", "cannot be read"],
        ),
        (
            "convert 'none_*.obj' out.npz",
            &["none_*.obj", "at least one file"],
        ),
        ("info scene.fbx", &["scene.fbx", "FBX"]),
        ("info scene.max", &["scene.max", "not supported", ".glb"]),
        (
            "convert quad.obj out.fbx",
            &["out.fbx", "not supported", ".glb"],
        ),
        ("fit tube.npz -o out.obj", &["out.obj", ".glb or .gltf"]),
        ("eval tube.glb -o out.fbx", &["out.fbx", "not supported"]),
        (
            "info truncated.glb",
            &["truncated.glb", "expected", "found"],
        ),
        (
            "fit truncated.glb -o out.glb",
            &["truncated.glb", "expected", "found"],
        ),
        ("info empty.glb", &["empty.glb", "expected", "found"]),
        ("info empty.npz", &["empty.npz", "expected", "found"]),
        ("info empty.obj", &["empty.obj", "expected", "found"]),
        ("info empty.pc2", &["empty.pc2", "expected", "found"]),
        ("fit nan.npz -o out.glb", &["nan.npz", "vertex 7", "finite"]),
        // Meshes that are not in correspondence, with both files and both numbers.
        (
            "fit quad.obj three.obj --skeleton tube.glb -o out.glb",
            &[
                "three.obj",
                "vertices",
                "expected 4 as in quad.obj",
                "found 3",
            ],
        ),
        (
            "compare quad.obj turned.obj --skeleton tube.glb",
            &[
                "turned.obj",
                "face 0",
                "vertices 0 1 2 3 as in quad.obj",
                "0 2 1 3",
                "--reorder",
            ],
        ),
        (
            "compare nan.npz",
            &["nan.npz", "frame", "vertex 7", "finite"],
        ),
        (
            "convert nan.npz out.obj",
            &["nan.npz", "vertex 7", "finite"],
        ),
        (
            "info out_of_range.obj",
            &["out_of_range.obj", "line 5", "5", "4"],
        ),
        (
            "convert empty.pc2 --mesh quad.obj out.npz",
            &["empty.pc2", "expected", "found"],
        ),
        ("convert quad.obj", &["expected", "found only one"]),
        (
            "convert quad.obj --frames out.glb",
            &["quad.obj", "--frames needs frames"],
        ),
        // Files that lack what is asked of them.
        (
            "fit no_bones.npz -o out.glb",
            &["no_bones.npz", "6 meshes", "--skeleton"],
        ),
        (
            "fit quad.obj -o out.glb",
            &["quad.obj", "a mesh that moves, found a single mesh"],
        ),
        (
            "fit morphs.glb -o out.glb",
            &["morphs.glb", "no bones", "--bones N", "dermis decompose"],
        ),
        (
            "fit still.glb -o out.glb",
            &[
                "still.glb",
                "a mesh that moves, found a skin without a clip",
            ],
        ),
        (
            "fit two.glb --skeleton tube.glb -o out.glb",
            &["two.glb", "2 clips", "--skeleton", "convert --clip"],
        ),
        (
            "fit no_bones.npz --skeleton quad.obj -o out.glb",
            &["quad.obj", "expected a skeleton, found none"],
        ),
        (
            "fit five.npz --skeleton tube.npz -o out.glb",
            &["tube.npz", "6 poses", "five.npz", "5 meshes"],
        ),
        (
            "eval quad.obj --pose rest -o out.obj",
            &["quad.obj", "a skin", "4 vertices"],
        ),
        (
            "eval two.glb --clip run -o out.npz",
            &["two.glb", "no clip 'run'", "'frames', 'wave'"],
        ),
        (
            "eval two.glb -o out.npz",
            &["two.glb", "several clips", "'frames', 'wave'"],
        ),
        (
            "convert two.glb --clip run out.npz",
            &["two.glb", "no clip 'run'", "'frames', 'wave'"],
        ),
        (
            "fit two.glb --clip run -o out.glb",
            &["two.glb", "no clip 'run'", "'frames', 'wave'"],
        ),
        (
            "fit no_bones.npz --skeleton two.glb --clip run -o out.glb",
            &["two.glb", "no clip 'run'", "'frames', 'wave'"],
        ),
        // Options that cannot be meant.
        (
            "eval tube.glb --pose 'tail.rx=3' -o out.obj",
            &[
                "tail.rx=3",
                "no such bone",
                "bone_0.rx, bone_1.rx, bone_2.rx",
            ],
        ),
        (
            "eval tube.glb --pose 'bone_1.rx' -o out.obj",
            &["'bone_1.rx'", "NAME=VALUE"],
        ),
        (
            "eval tube.glb --pose 'bone_1.rx=up' -o out.obj",
            &["expected a number", "'up'"],
        ),
        (
            "eval tube.glb --pose 'bone_1.bend=1' -o out.obj",
            &["expected .rx .ry", "'.bend'"],
        ),
        (
            "fit tube.npz -o out.glb --hold-out sometimes",
            &["--hold-out sometimes", "every:N"],
        ),
        (
            "fit tube.npz -o out.glb --hold-out every:1",
            &["--hold-out every:1", "at least 2"],
        ),
        (
            "fit tube.npz -o out.glb --hold-out 2,6",
            &["example 6", "0 to 5"],
        ),
        (
            "fit tube.npz -o out.glb --hold-out 0,1,2,3,4,5",
            &["6 examples", "none would be left"],
        ),
        (
            "fit tube.npz -o out.glb --rest-stiffness=-1 --rest-rounds 1",
            &["rest-stiffness"],
        ),
        // Flags of another method, and influences that do not fit the mesh.
        (
            "fit tube.npz -o out.glb --delta 0.01",
            &["--delta belongs to --method animation-space, not to ssd"],
        ),
        (
            "fit tube.npz -o out.glb --method mwe --rest-rounds 3",
            &["--rest-rounds belongs to", "not to mwe"],
        ),
        (
            "fit tube.npz -o out.glb --method auto --influences skin",
            &["--influences belongs to", "not to auto"],
        ),
        (
            "fit tube.npz -o out.glb --method auto --target-error=-1",
            &["--target-error", "above 0"],
        ),
        (
            "fit tube.npz -o out.glb --method mwe --influences paint",
            &["--influences paint", "auto, skin", ".json"],
        ),
        (
            "fit tube.npz -o out.glb --method mwe --influences listed.json",
            &["listed.json", "vertex 2", "no bone"],
        ),
        (
            "fit tube.npz -o out.glb --method mwe --influences misnamed.json",
            &["misnamed.json", "no bone 'elbow'", "bone_0"],
        ),
        (
            "fit tube.npz -o out.glb --method mwe --influences painted.json",
            &["painted.json", "tube.npz", "no vertex colours"],
        ),
        (
            "fit no_bones.npz --skeleton no_bones.npz -o out.glb --method mwe --influences skin",
            &["no_bones.npz", "expected a skeleton, found none"],
        ),
        ("compare tube.npz --hold-out 9", &["example 9", "0 to 5"]),
        // Places that cannot be written to.
        (
            "convert quad.obj in_the_way/out.ply",
            &["in_the_way/out.ply", "cannot be written", "is a file"],
        ),
        (
            "fit tube.npz -o in_the_way/out.glb",
            &["in_the_way/out.glb", "cannot be written", "is a file"],
        ),
        (
            "eval tube.glb -o in_the_way/out.pc2",
            &["in_the_way/out.pc2", "cannot be written", "is a file"],
        ),
        ("demo in_the_way --quiet", &["in_the_way", "is a file"]),
    ] {
        let run = scratch.dermis(command);
        assert_refused(&run, parts);
        assert_eq!(run.stderr.lines().count(), 1, "one line: {run:#?}");
        assert_eq!(scratch.files(), before, "nothing is left by {command}");
    }
}

#[test]
fn bad_decompositions_get_one_sentence() {
    let scratch = folder();
    let before = scratch.files();
    for (command, parts) in decompositions::REFUSED {
        let run = scratch.dermis(command);
        assert_refused(&run, parts);
        let sentences = (run.stderr.lines())
            .filter(|line| !line.starts_with("note: "))
            .count();
        assert_eq!(sentences, 1, "one line: {run:#?}");
        assert_eq!(scratch.files(), before, "nothing is left by {command}");
    }
}

/// Mistakes that are plain from the words alone come with the usage, in more than one line.
#[test]
fn mistyped_arguments_are_refused_with_a_hint() {
    let scratch = folder();
    let before = scratch.files();
    for (command, parts) in [
        (
            "fit tube.npz -o out.glb --max-influences 0",
            &["'0'", "--max-influences", "at least 1"][..],
        ),
        (
            "fit tube.npz -o out.glb --max-influences four",
            &["'four'", "at least 1"],
        ),
        (
            "fit tube.npz -o out.glb --fps 0",
            &["'0'", "--fps", "above 0"],
        ),
        ("fit tube.npz -o out.glb --threads 0", &["'0'", "--threads"]),
        ("fit tube.npz", &["--output <FILE>"]),
        (
            "fit tube.npz -o out.glb --method best",
            &["'best'", "--method", "animation-space", "auto"],
        ),
        (
            "compare tube.npz --methods ssd,best",
            &["'best'", "--methods", "dual-quaternion"],
        ),
        (
            "fit tube.npz -o out.glb --method animation-space --delta some",
            &["'some'", "--delta", "auto or a number"],
        ),
        (
            "fit tube.npz -o out.glb --max-inflences 2",
            &["--max-inflences", "--max-influences"],
        ),
        (
            "eval tube.glb --clip frames --pose rest -o out.obj",
            &["--clip", "--pose"],
        ),
        (
            "decompose five.npz -o out.glb --bones 0",
            &["'0'", "--bones", "at least 1"],
        ),
        (
            "decompose five.npz -o out.glb --bones 3 --target-error 1",
            &["--bones", "--target-error"],
        ),
        (
            "decompose five.npz -o out.glb --bones 3 --affine --rigid",
            &["--affine", "--rigid"],
        ),
        (
            "decompose five.npz -o out.glb --keep tube.glb --weights-only --transforms-only",
            &["--weights-only", "--transforms-only"],
        ),
        ("decompose five.npz --bones 3", &["--output <FILE>"]),
        ("dance", &["dance"]),
    ] {
        assert_refused(&scratch.dermis(command), parts);
        assert_eq!(scratch.files(), before, "nothing is left by {command}");
    }
}

#[test]
fn a_missed_tolerance_is_said_and_the_skin_is_kept() {
    let scratch = folder();
    let run = scratch.dermis("fit tube.npz -o out.glb --max-influences 1 --max-error 0.001");
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(run.stdout.contains("E_RMS"), "the table: {run:#?}");
    let line = run
        .stderr
        .lines()
        .find(|line| line.contains("tolerance missed"));
    let line = line.unwrap_or_else(|| panic!("no such line: {run:#?}"));
    assert!(
        line.contains("E_RMS") && line.contains("at most 0.001"),
        "{line}"
    );
    assert!(
        scratch.read("out.glb").skin.is_some(),
        "the skin is written"
    );

    let run = scratch.dermis("fit tube.npz -o out.glb --max-influences 2 --max-error 0.001");
    assert_eq!(run.code, 0, "two influences are exact: {run:#?}");
}

#[test]
fn every_command_explains_itself_with_an_example() {
    let scratch = Scratch::new();
    for command in [
        "info",
        "convert",
        "fit",
        "compare",
        "decompose",
        "eval",
        "demo",
    ] {
        let run = scratch.dermis(&format!("{command} --help")).done();
        assert!(run.stdout.contains("Example"), "{run:#?}");
        let example = format!("  dermis {command} ");
        assert!(run.stdout.contains(&example), "one can be copied: {run:#?}");
        assert_eq!(run.stderr, "", "help is a result: {run:#?}");
    }
    let run = scratch.dermis("--help").done();
    assert!(
        run.stdout.contains("dermis demo"),
        "where to start: {run:#?}"
    );
    assert!(run.stdout.contains("Exit codes"), "{run:#?}");
}

#[test]
fn quiet_means_results_only() {
    let scratch = folder();
    for (command, with_results) in [
        ("fit tube.npz -o out.glb --report out.html", true),
        (
            "fit no_bones.npz --skeleton two.glb --clip wave -o out.glb",
            true,
        ),
        ("convert tube.npz out.gltf", false),
        ("eval tube.glb --pose rest -o out.obj", false),
        ("info tube.glb", true),
        ("demo out", true),
    ] {
        let loud = scratch.dermis(command).done();
        let quiet = scratch.dermis(&format!("{command} --quiet")).done();
        assert_eq!(quiet.stderr, "", "{quiet:#?}");
        assert_eq!(quiet.stdout.is_empty(), !with_results, "{quiet:#?}");
        assert_eq!(loud.stdout.is_empty(), !with_results, "{loud:#?}");
    }
    let run = scratch.dermis("convert tube.npz out.glb");
    assert!(
        !run.stderr.is_empty(),
        "without it there are remarks: {run:#?}"
    );
    let run = scratch.dermis("--quiet info missing.glb");
    assert_refused(&run, &["missing.glb"]);
}
