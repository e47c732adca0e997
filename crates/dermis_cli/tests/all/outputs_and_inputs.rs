//! Outputs: through a pipe where that is possible, and never onto an input unasked.

use std::path::Path;

use crate::common::psd::put_arm;
use crate::common::{Run, SMALL_TUBE, Scratch, tube_document};

/// A folder with a small skin and its examples.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&SMALL_TUBE));
    scratch.dermis("convert tube.npz tube.glb --quiet").done();
    scratch
}

#[track_caller]
fn assert_refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, 2, "{run:#?}");
    assert_eq!(run.stderr.lines().count(), 1, "one sentence: {run:#?}");
    for part in parts {
        assert!(run.stderr.contains(part), "{part} in {run:#?}");
    }
}

/// What a command sends to standard output.
#[track_caller]
fn sent(scratch: &Scratch, arguments: &str) -> Vec<u8> {
    let output = scratch
        .command(arguments)
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{arguments}: {output:?}");
    output.stdout
}

#[test]
fn what_goes_through_a_pipe_is_what_a_file_would_hold() {
    let scratch = folder();
    put_arm(&scratch);
    scratch
        .dermis("psd new arm.psd.toml --base arm.glb --control elbow=forearm:hinge:z")
        .done();
    for (command, format) in [
        ("convert tube.npz", "glb"),
        ("convert tube.glb --clip frames", "npz"),
        ("convert tube.glb --clip frames", "pc2"),
        ("eval tube.glb --pose rest", "obj"),
        ("eval tube.glb --pose rest", "ply"),
        ("transform tube.glb --scale 2", "glb"),
        ("bake-clips tube.glb --clips tube.glb", "glb"),
        ("psd pose arm.psd.toml --pose elbow=40", "obj"),
    ] {
        let to_file = format!("{command} -o file.{format} --force");
        scratch.dermis(&to_file).done();
        let bytes = std::fs::read(scratch.at(&format!("file.{format}"))).expect("a file");
        let through = sent(&scratch, &format!("{command} -o - --format {format}"));
        assert!(
            bytes == through,
            "{command} as {format}: {} bytes",
            through.len()
        );
    }
    scratch
        .dermis("psd show arm.psd.toml --sweep elbow --from 0 --to 90 --steps 1 -o one.png")
        .done();
    let shown = "psd show arm.psd.toml --sweep elbow --from 0 --to 90 --steps 1 -o -";
    let picture = std::fs::read(scratch.at("one.png")).expect("a picture");
    assert!(picture == sent(&scratch, shown), "pictures, too");
}

#[test]
fn what_cannot_go_through_a_pipe_is_refused_in_a_sentence() {
    let scratch = folder();
    for (command, parts) in [
        ("convert tube.npz -o -", &["add --format"][..]),
        (
            "convert tube.npz out.glb --format glb",
            &["out.glb", "-o -"],
        ),
        (
            "eval tube.glb -o - --format obj",
            &["standard output", "frames in one .obj file", ".npz"],
        ),
        (
            "bake-clips tube.glb --clips tube.glb -o - --format npz",
            &["written as"],
        ),
        ("fit tube.npz -o -", &["-o -", "name a file"]),
        ("bounds tube.glb -o -", &["-o -", "name a file"]),
        ("subdivide tube.glb -o -", &["-o -", "name a file"]),
    ] {
        let run = scratch.dermis(command);
        assert_refused(&run, parts);
        assert_eq!(run.stdout, "", "nothing was sent: {command}");
    }
    let json = scratch.dermis("convert tube.npz -o - --format gltf");
    assert_eq!(json.code, 2, "glTF as JSON is two files: {json:#?}");
}

#[test]
fn convert_takes_its_output_like_every_command() {
    let scratch = folder();
    scratch.dermis("convert tube.npz -o other.glb").done();
    scratch.dermis("convert -o frames/f_##.obj tube.npz").done();
    let files = scratch.files();
    assert!(files.contains(&"other.glb".to_owned()), "{files:?}");
    assert!(files.contains(&"frames/f_06.obj".to_owned()), "{files:?}");
}

#[test]
fn no_command_replaces_what_it_reads_unless_told_to() {
    let scratch = folder();
    put_arm(&scratch);
    scratch
        .dermis("psd new arm.psd.toml --base arm.glb --control elbow=forearm:hinge:z")
        .done();
    scratch.put("limits.toml", "others = \"free\"\n");
    std::fs::create_dir(scratch.at("skins")).expect("a folder");
    std::fs::copy(scratch.at("tube.npz"), scratch.at("report.html.npz")).expect("a copy");
    std::fs::copy(scratch.at("tube.glb"), scratch.at("skins/ssd.glb")).expect("a copy");
    for (command, file) in [
        ("convert tube.glb tube.glb", "tube.glb"),
        ("fit tube.glb -o tube.glb", "tube.glb"),
        ("fit tube.npz -o out.glb --report ./tube.npz", "tube.npz"),
        ("fit tube.npz --skeleton tube.glb -o tube.glb", "tube.glb"),
        (
            "compare skins/ssd.glb --methods ssd --save skins",
            "skins/ssd.glb",
        ),
        ("decompose tube.glb --bones 2 -o tube.glb", "tube.glb"),
        ("rig tube.npz --bones 2 -o tube.npz", "tube.npz"),
        ("pose tube.glb --to tube.npz -o tube.npz", "tube.npz"),
        ("bake-clips tube.glb --clips arm.glb -o arm.glb", "arm.glb"),
        ("eval tube.glb -o tube.glb", "tube.glb"),
        ("stats tube.glb -o tube.glb", "tube.glb"),
        (
            "bounds tube.glb --limits limits.toml -o tube.glb",
            "tube.glb",
        ),
        ("transform tube.glb --scale 2 -o tube.glb", "tube.glb"),
        ("subdivide tube.glb -o tube.glb", "tube.glb"),
        (
            "psd pose arm.psd.toml --pose elbow=40 -o arm.glb",
            "arm.glb",
        ),
        ("psd fit arm.psd.toml -o arm.glb", "arm.glb"),
    ] {
        let before = std::fs::read(scratch.at(file)).expect("a file");
        let run = scratch.dermis(command);
        assert_refused(&run, &[file, "is read, and would be replaced", "--force"]);
        let after = std::fs::read(scratch.at(file)).expect("a file");
        assert!(before == after, "untouched: {command}");
    }
    let length = |name: &str| scratch.read(name).mesh.bounds().diagonal();
    let before = length("tube.glb");
    scratch
        .dermis("transform tube.glb --scale 2 -o tube.glb --force")
        .done();
    let ratio = length("tube.glb") / before;
    assert!((ratio - 2.0).abs() < 1e-6, "twice as large: {ratio}");
}

#[test]
fn frames_do_not_take_the_place_of_the_frames_they_come_from() {
    let scratch = folder();
    scratch.dermis("convert tube.npz frames/f_####.obj").done();
    for output in ["frames/f_####.obj", "frames/f_%04d.obj", "frames/f.obj"] {
        let run = scratch.dermis(&format!("convert 'frames/*.obj' {output}"));
        assert_refused(&run, &["frames/f_0001.obj", "would be replaced"]);
    }
    // Other names in the same folder are other files.
    scratch
        .dermis("convert 'frames/f_*.obj' frames/g_####.obj")
        .done();
    scratch
        .dermis("convert frames/f_0001.obj frames/f.obj")
        .done();
}

#[cfg(unix)]
#[test]
fn a_link_to_an_input_is_the_input() {
    let scratch = folder();
    std::os::unix::fs::symlink("tube.glb", scratch.at("link.glb")).expect("a link");
    std::fs::hard_link(scratch.at("tube.glb"), scratch.at("hard.glb")).expect("a link");
    for name in ["link.glb", "hard.glb"] {
        let run = scratch.dermis(&format!("transform tube.glb --scale 2 -o {name}"));
        assert_refused(&run, &[name, "would be replaced"]);
    }
    assert!(
        Path::new(&scratch.at("link.glb")).is_symlink(),
        "still a link"
    );
}
