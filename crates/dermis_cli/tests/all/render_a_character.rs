//! Pictures of a character: in any pose, from any side, as one file or many.

use dermis::bake::Picture;
use dermis_io::{Document, Format, decode_image};

use crate::bake_detail::bumpy_tube;
use crate::common::{SMALL_TUBE, Scratch, number, quoted, sequence, tube_document};
use crate::support::data;

/// A striped tube that bends to its clip 'bend', which lasts four frames.
fn folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.glb", &bumpy_tube());
    scratch
}

fn picture(scratch: &Scratch, name: &str) -> Picture {
    let bytes = std::fs::read(scratch.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    decode_image(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn bone_name(document: &Document, bone: usize) -> String {
    let skin = document.skin.as_ref().expect("a skin");
    skin.skeleton.bones()[bone].name.clone()
}

/// How many pixels of a picture are of a kind.
fn count(picture: &Picture, is_so: impl Fn([u8; 4]) -> bool) -> usize {
    picture.pixels.iter().filter(|pixel| is_so(**pixel)).count()
}

fn is_red([r, g, b, _]: [u8; 4]) -> bool {
    r > 90 && r / 2 > g && r / 2 > b
}

fn is_blue([r, g, b, _]: [u8; 4]) -> bool {
    b > 90 && b / 2 > r && b / 2 > g
}

#[test]
fn a_picture_shows_the_character_with_its_texture() {
    let scratch = folder();
    let run = scratch.dermis("render tube.glb -o tube.png --size 160x120 --json");
    let said = run.done().json();
    let drawn = picture(&scratch, "tube.png");
    assert_eq!((drawn.width, drawn.height), (160, 120), "as asked");
    // The red stripe is on the far side.
    let blue = count(&drawn, is_blue);
    assert!(blue > 400, "{blue} pixels of the blue stripe");
    let corner = drawn.pixels[0];
    assert!(
        corner.iter().all(|&c| c > 180),
        "light behind it: {corner:?}"
    );
    assert_eq!(said["files"][0], "tube.png", "{said}");
    assert_eq!(number(&said, "/triangles"), 19_040.0, "all of them");
    assert_eq!(number(&said, "/pictures"), 1.0, "{said}");

    scratch
        .dermis("render tube.glb -o clay.png --size 160x120 --no-textures --background transparent --no-ground")
        .done();
    let clay = picture(&scratch, "clay.png");
    assert_eq!(count(&clay, is_red) + count(&clay, is_blue), 0, "clay");
    assert_eq!(clay.pixels[0], [0; 4], "nothing behind it");
}

#[test]
fn another_time_another_pose_and_another_side_give_other_pictures() {
    let scratch = folder();
    let flags = [
        "",
        "--time 0.1",
        "--clip bend --time 0.166",
        "--pose 'bone1.rz=70'",
        "--view top",
        "--direction 1,-0.2,0.3",
        "--orthographic",
        "--field-of-view 80",
        "--wireframe",
        "--background '#204060'",
    ];
    let tube = bumpy_tube();
    let mut seen: Vec<(Vec<u8>, &str)> = Vec::new();
    for flags in flags {
        let typed = flags.replace("bone1", &bone_name(&tube, 1));
        scratch
            .dermis(&format!("render tube.glb -o out.png --size 64 {typed}"))
            .done();
        let bytes = std::fs::read(scratch.at("out.png")).expect("the picture");
        if let Some((_, other)) = seen.iter().find(|(known, _)| *known == bytes) {
            panic!("'{flags}' gives the picture of '{other}'");
        }
        seen.push((bytes, flags));
    }
}

#[test]
fn sheets_turns_and_frames_are_taken_by_one_camera() {
    let scratch = folder();
    let sheet = "render tube.glb --sheet --count 4 --columns 2 --size 60x40 -o sheet.png --json";
    let said = scratch.dermis(sheet).done().json();
    let times: Vec<f64> = (said["times"].as_array().expect("times").iter())
        .filter_map(serde_json::Value::as_f64)
        .collect();
    assert_eq!(times.len(), 4, "{said}");
    assert!(
        times[0] == 0.0 && (times[3] - 4.0 / 24.0).abs() < 1e-6,
        "{times:?}"
    );
    let drawn = picture(&scratch, "sheet.png");
    assert_eq!(drawn.width, 2 * 60 + 16 + 2 * 20, "two in a row");
    assert!(
        drawn.height > 2 * 40 + 16 + 2 * 20,
        "two rows with captions"
    );

    let turn = "render tube.glb --turntable --count 6 --size 40 -o turn.png --json";
    let said = scratch.dermis(turn).done().json();
    assert_eq!(number(&said, "/pictures"), 6.0, "{said}");
    scratch
        .dermis("render tube.glb --turntable --count 3 --size 40 --frames 'turn_#.png'")
        .done();
    let frames = "render tube.glb --clip bend --fps 48 --size 48 --frames 'run/out_###.png' --json";
    let said = scratch.dermis(frames).done().json();
    assert_eq!(said["files"].as_array().map(Vec::len), Some(9), "{said}");
    let files = scratch.files();
    for name in [
        "run/out_000.png",
        "run/out_008.png",
        "turn_0.png",
        "turn_2.png",
    ] {
        assert!(files.iter().any(|file| file == name), "{name} of {files:?}");
    }
    assert_eq!(files.len(), 1 + 2 + 3 + 9, "and no others: {files:?}");
    // The end that does not move is at the same place in all of them.
    let [first, last] = ["run/out_000.png", "run/out_008.png"].map(|name| picture(&scratch, name));
    assert!(first.pixels != last.pixels, "the tube bends");
    let apart = (first.pixels.iter().zip(&last.pixels))
        .filter(|(a, b)| a.iter().zip(b.iter()).any(|(a, b)| a.abs_diff(*b) > 40))
        .count();
    assert!(
        apart < 48 * 48 / 2,
        "most of the picture stays: {apart} pixels do not"
    );

    scratch
        .dermis("render tube.glb --clip bend --size 48 -o run.apng")
        .done();
    let bytes = std::fs::read(scratch.at("run.apng")).expect("a picture that moves");
    let moves = bytes.windows(4).any(|four| four == b"acTL");
    assert!(moves, "it has the chunk of pictures that move");
}

#[test]
fn poses_given_by_hand_and_recorded_meshes_are_shown() {
    let scratch = Scratch::new();
    let tube = tube_document(&SMALL_TUBE);
    scratch.write("tube.npz", &tube);
    let (first, second) = (bone_name(&tube, 1), bone_name(&tube, 2));
    let sheet = format!(
        "render tube.npz --sheet --pose rest --pose '{first}.rz=40' --pose '{second}.rz=-40' --size 50 -o poses.png --json"
    );
    let said = scratch.dermis(&sheet).done().json();
    assert_eq!(number(&said, "/pictures"), 3.0, "a picture for each");

    let frames: Vec<Vec<glam::DVec3>> = tube.frames.iter().map(|f| f.positions.clone()).collect();
    scratch.write("motion.npz", &sequence(&tube.mesh, &frames));
    let all = "render motion.npz --size 40 --frames 'm_##.png' --json";
    let said = scratch.dermis(all).done().json();
    assert_eq!(
        said["files"].as_array().map(Vec::len),
        Some(6),
        "one for each mesh"
    );
    scratch
        .dermis("render motion.npz --time 0.1 --size 40 -o still.png")
        .done();
    scratch
        .dermis("render motion.npz --size 40 -o rest.png")
        .done();
    let [still, rest] = ["still.png", "rest.png"].map(|name| picture(&scratch, name));
    assert!(
        still.pixels != rest.pixels,
        "a mesh of the motion, and the one at rest"
    );
}

#[test]
fn a_level_is_shown_in_its_own_triangles() {
    let scratch = folder();
    scratch
        .dermis("lod tube.glb --ratios 0.1 -o lod.glb --quiet")
        .done();
    let said = scratch
        .dermis("render lod.glb --level 1 --size 80 -o level.png --json")
        .done()
        .json();
    let triangles = number(&said, "/triangles");
    assert!(triangles < 2000.0, "{triangles} of 19040");
    let drawn = picture(&scratch, "level.png");
    let blue = count(&drawn, is_blue);
    assert!(blue > 100, "{blue} pixels of the blue stripe");
}

#[test]
fn pictures_are_the_same_on_any_number_of_threads() {
    let scratch = folder();
    for threads in [1, 2] {
        let command = format!(
            "render tube.glb --clip bend --time 0.1 --size 96 --threads {threads} -o {threads}.png"
        );
        scratch.dermis(&command).done();
    }
    let [one, two] = ["1.png", "2.png"].map(|name| std::fs::read(scratch.at(name)).expect(name));
    assert!(one == two, "the same bytes");
}

#[test]
fn a_picture_goes_through_a_pipe() {
    let scratch = folder();
    let output = scratch
        .command("render tube.glb --size 32 -o -")
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    let drawn = decode_image(&output.stdout).expect("a PNG and nothing else");
    assert_eq!(drawn.width, 32, "as asked");
}

#[test]
fn what_cannot_be_drawn_gets_one_sentence_and_no_file() {
    let scratch = folder();
    scratch.put("points.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n");
    scratch.put("still.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    scratch.put("empty.gltf", r#"{"asset": {"version": "2.0"}}"#);
    scratch.put("file", "");
    let before = scratch.files();
    for (command, sentence) in [
        (
            "render tube.glb --clip Run --time 0.1 -o out.png",
            "tube.glb: has no clip 'Run'; it has 'bend'",
        ),
        (
            "render tube.glb --clip bend --time 7 -o out.png",
            "tube.glb: --time 7: expected 0.000 to 0.167, when the motion is",
        ),
        (
            "render points.ply -o out.png",
            "points.ply: has 1 point and no faces: there is nothing to draw; give the mesh with its faces",
        ),
        (
            "render empty.gltf -o out.png",
            "empty.gltf: has no mesh: there is nothing to draw",
        ),
        (
            "render still.obj --sheet -o out.png",
            "still.obj: is one mesh that does not move: leave out --time, --sheet and --frames, or show it from all around \
             with --turntable",
        ),
        (
            "render tube.glb -o out.jpg",
            "out.jpg: a picture is written as .png, and one that moves as .apng",
        ),
        (
            "render tube.glb --frames out.png",
            "--frames out.png: expected a name with # for the digits of the frame's number, such as out_####.png",
        ),
        (
            "render tube.glb --sheet -o out.apng",
            "--sheet: a sheet does not move: write it as .png",
        ),
        (
            "render tube.glb --sheet --time 0.1 -o out.png",
            "--time is about one picture: leave it out of --sheet, --frames and .apng",
        ),
        (
            "render tube.glb --pose rest --pose default -o out.png",
            "tube.glb: 2 poses were given for one picture: --sheet shows them side by side",
        ),
        (
            "render tube.glb --count 3 -o out.png",
            "--count is about --sheet and --turntable; --fps says how many frames a second there are",
        ),
        (
            "render tube.glb --level 2 -o out.png",
            "tube.glb: --level 2: expected 0, because the file has no levels of detail: `dermis lod` makes them",
        ),
        (
            "render tube.glb --size 32 --device cpu -o file/out.png",
            "file/out.png: cannot be written: file is a file, not a folder",
        ),
        (
            "render nothing.glb -o out.png",
            "nothing.glb: cannot be read: No such file or directory (os error 2)",
        ),
    ] {
        let run = scratch.dermis(command);
        assert_eq!(run.code, 2, "{run:#?}");
        assert_eq!(
            run.stderr.trim_end(),
            format!("error: {sentence}"),
            "{command}"
        );
        assert_eq!(run.stdout, "", "{command}: no result");
        assert_eq!(scratch.files(), before, "{command}: no file");
    }
    for (command, part) in [
        (
            "render tube.glb --size 0 -o out.png",
            "expected 1 to 8192 pixels",
        ),
        (
            "render tube.glb --count 0 --sheet -o out.png",
            "expected a whole number of at least 1",
        ),
        (
            "render tube.glb --direction 0,0,0 -o out.png",
            "expected three numbers that are not all 0",
        ),
        (
            "render tube.glb --background mauve -o out.png",
            "expected studio, white, black",
        ),
        (
            "render tube.glb --field-of-view 180 -o out.png",
            "expected an angle from 1 to 150",
        ),
    ] {
        let run = scratch.dermis(command);
        assert_eq!(run.code, 2, "{run:#?}");
        assert!(run.stderr.contains(part), "{command}: {}", run.stderr);
        assert_eq!(scratch.files(), before, "{command}: no file");
    }
}

#[test]
#[cfg(not(feature = "gpu"))]
fn without_graphics_cards_the_sentence_names_the_way_that_there_is() {
    let scratch = folder();
    let run = scratch.dermis("render tube.glb --device gpu -o out.png");
    assert_eq!(run.code, 2, "{run:#?}");
    assert!(run.stderr.contains("--features gpu"), "{}", run.stderr);
    assert!(run.stderr.contains("on the processor"), "{}", run.stderr);
    assert_eq!(scratch.files(), ["tube.glb"], "no file");
}

/// The share of pixels that differ by more than 8 levels in some channel.
#[cfg(feature = "gpu")]
fn share_apart(a: &Picture, b: &Picture) -> f64 {
    let is_apart =
        |(a, b): &(&[u8; 4], &[u8; 4])| a.iter().zip(b.iter()).any(|(a, b)| a.abs_diff(*b) > 8);
    let pairs = a.pixels.iter().zip(&b.pixels);
    pairs.filter(is_apart).count() as f64 / a.pixels.len() as f64
}

#[test]
#[cfg(feature = "gpu")]
fn a_graphics_card_draws_the_same_picture() {
    let scratch = folder();
    let real = ["Fox.glb", "CesiumMan.glb"].map(|name| data(&format!("gltf/{name}")));
    let mut commands = vec!["render tube.glb --time 0.1".to_owned()];
    for (file, flags) in real.iter().zip(["--clip Run --time 0.4", "--time 0.6"]) {
        match file {
            Some(file) => commands.push(format!("render {} {flags}", quoted(file))),
            None => eprintln!("skipped: no data"),
        }
    }
    for command in commands {
        let run = scratch.dermis(&format!(
            "{command} --size 300 --device gpu -o gpu.png --json"
        ));
        if run.code == 2 && run.stderr.contains("no graphics card was found") {
            let must = std::env::var_os("DERMIS_REQUIRE_GPU").is_some_and(|v| v == "1");
            assert!(!must, "DERMIS_REQUIRE_GPU is 1: {run:#?}");
            assert!(
                run.stderr.contains("--device cpu draws the same picture"),
                "{run:#?}"
            );
            eprintln!("skipped: {}", run.stderr);
            return;
        }
        let said = run.done().json();
        assert!(said["device"] != "processor", "{said}");
        scratch
            .dermis(&format!("{command} --size 300 --device cpu -o cpu.png"))
            .done();
        let share = share_apart(&picture(&scratch, "cpu.png"), &picture(&scratch, "gpu.png"));
        eprintln!(
            "{command}: {:.3} % of pixels differ by more than 8",
            100.0 * share
        );
        assert!(share < 0.01, "{command}: {:.2} % of pixels", 100.0 * share);
    }
}

#[test]
fn real_characters_show_their_textures() {
    let Some(fox) = data("gltf/Fox.glb") else {
        eprintln!("skipped: no Fox.glb");
        return;
    };
    assert!(Format::of(&fox).is_ok(), "a GLB");
    let scratch = Scratch::new();
    let command = format!(
        "render {} --clip Run --time 0.4 --size 128 -o fox.png",
        quoted(&fox)
    );
    scratch.dermis(&command).done();
    let drawn = picture(&scratch, "fox.png");
    let orange = |[r, g, b, _]: [u8; 4]| r > 120 && r - 30 > g && g > b.saturating_add(10);
    let seen = count(&drawn, orange);
    assert!(seen > 500, "{seen} pixels of fur");
}
