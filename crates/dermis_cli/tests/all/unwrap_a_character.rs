//! A character gets texture coordinates that fit it in every pose.

use dermis::synth::TubeOptions;
use dermis_io::Document;
use serde_json::Value;

use crate::common::{SMALL_TUBE, Scratch, number, quoted, tube_document};
use crate::support;
use crate::support::clients::assert_valid;

/// A tube that is long enough to bend well.
const TUBE: TubeOptions = TubeOptions {
    ring_count: 24,
    segment_count: 12,
    ..SMALL_TUBE
};

/// A folder with a tube that has bones and a clip, and no UVs.
fn with_tube() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tube.npz", &tube_document(&TUBE));
    scratch.dermis("convert tube.npz tube.glb --quiet").done();
    scratch
}

/// What an atlas must be in any case.
#[track_caller]
fn assert_sound(said: &Value) {
    let value = |key: &str| number(said, key);
    assert!(value("/charts") >= 1.0, "{said}");
    let packing = value("/packing");
    assert!((0.0..=1.0).contains(&packing), "a share: {said}");
    for key in ["/stretchAtRest", "/stretchOverPoses", "/worstPoseStretch"] {
        assert!(value(key) >= 1.0 - 1e-9, "{key} is at least 1: {said}");
    }
    assert!(
        value("/worstPoseStretch") >= value("/stretchOverPoses") - 1e-12,
        "{said}"
    );
    let even = packing / value("/stretchOverPoses").powi(2);
    let found = value("/textureEfficiency");
    assert!((found - even).abs() < 1e-9, "{found} and {even}: {said}");
    assert!(value("/texelsPerUnit") > 0.0, "{said}");
    assert!(value("/seconds") >= 0.0, "{said}");
}

/// The UVs of every corner of every triangle of a set.
fn corners(document: &Document, set: usize) -> Vec<[[f32; 2]; 3]> {
    let parts = document.draw.parts.iter();
    parts
        .flat_map(|part| {
            let uv = |v: u32| part.uvs[set][v as usize];
            part.triangles.iter().map(move |t| t.map(uv))
        })
        .collect()
}

#[test]
fn a_tube_without_uvs_gets_some_in_one_command() {
    let scratch = with_tube();
    let run = scratch.dermis("unwrap tube.glb -o uv.glb --json");
    let said = run.done().json();
    assert_sound(&said);
    assert_eq!(number(&said, "/set"), 0.0, "the first set");
    assert_eq!(said["poses"], "clips", "it shows a clip");
    let verdict = said["verdict"].as_str().expect("a verdict");
    for part in [
        "chart",
        " poses of the clips",
        "of a 2048 x 2048 atlas covered",
    ] {
        assert!(verdict.contains(part), "{part} in {verdict}");
    }
    let info = scratch.dermis("info uv.glb").done();
    assert!(info.says("1 UV set"), "{info:#?}");
    let inside = |uv: &[f32; 2]| uv.iter().all(|x| (0.0..=1.0).contains(x));
    let uvs = corners(&scratch.read("uv.glb"), 0);
    assert!(uvs.iter().flatten().all(inside), "all within the atlas");
}

/// Fact P9: an atlas changes nothing but UVs.
#[test]
fn p9_what_is_shown_is_the_same_to_the_last_bit() {
    let scratch = with_tube();
    scratch.dermis("unwrap tube.glb -o uv.glb --quiet").done();
    for name in ["tube", "uv"] {
        scratch
            .dermis(&format!("eval {name}.glb -o {name}_shown.npz --quiet"))
            .done();
    }
    let shown = |name: &str| {
        let frames = scratch.read(name).frames;
        let positions = frames.into_iter().map(|frame| frame.positions);
        positions.collect::<Vec<_>>()
    };
    let before = shown("tube_shown.npz");
    assert!(before.len() > 1, "a clip");
    assert!(
        before == shown("uv_shown.npz"),
        "the same bits in every frame"
    );
    if let Some(clients) = support::node_clients() {
        assert_valid(&clients, &[scratch.at("uv.glb")]);
    }
}

#[test]
fn textures_keep_the_uvs_that_they_have() {
    let Some(path) = support::data("gltf/Fox.glb") else {
        return;
    };
    let scratch = Scratch::new();
    let command = format!("unwrap {} -o uv.glb --json", quoted(&path));
    let said = scratch.dermis(&command).done().json();
    assert_sound(&said);
    assert_eq!(number(&said, "/set"), 1.0, "one more than there was");
    let notes = said["notes"].to_string();
    assert!(
        notes.contains("still use the UVs that were there"),
        "{notes}"
    );
    let [before, after] = [
        dermis_io::read(&path).expect("sound"),
        scratch.read("uv.glb"),
    ];
    assert!(
        corners(&before, 0) == corners(&after, 0),
        "TEXCOORD_0 is as it was"
    );
    assert_eq!(before.materials, after.materials, "and so are materials");
    if let Some(clients) = support::node_clients() {
        assert_valid(&clients, &[scratch.at("uv.glb")]);
    }
    // Its own UVs, better: no seam moves, so there are as many vertices as before.
    let command = format!("unwrap {} --keep --set 0 -o kept.glb --json", quoted(&path));
    let said = scratch.dermis(&command).done().json();
    assert_sound(&said);
    assert!(
        said["notes"].to_string().contains("do not fit any more"),
        "{said}"
    );
}

/// A tube whose UVs a person drew: a seam along its back, and its points in the same order.
#[test]
fn seams_of_a_person_are_the_charts() {
    let scratch = with_tube();
    scratch
        .dermis("unwrap tube.glb --charts 3 -o drawn.obj --quiet")
        .done();
    let drawn = scratch.read("drawn.obj");
    let points = |document: &Document| document.mesh.vertex_count();
    assert_eq!(
        points(&drawn),
        points(&scratch.read("tube.glb")),
        "one point per v line"
    );
    let charts = |arguments: &str| {
        let run = scratch.dermis(&format!("unwrap {arguments} -o uv.glb --json --force"));
        let said = run.done().json();
        assert_sound(&said);
        number(&said, "/charts")
    };
    let own = charts("drawn.obj --from seams");
    assert_eq!(charts("tube.glb --from drawn.obj"), own, "the same seams");
    assert_eq!(charts("drawn.obj --keep"), own, "which --keep keeps");

    // Without UVs, the borders of groups are seams: here the two halves of the tube.
    let mesh = &drawn.mesh;
    let mut text = String::new();
    for p in mesh.positions() {
        text += &format!("v {} {} {}\n", p.x, p.y, p.z);
    }
    let half = mesh.triangles().len() / 2;
    for (number, [a, b, c]) in mesh.triangles().iter().enumerate() {
        if number % half == 0 {
            text += &format!("g half_{number}\n");
        }
        text += &format!("f {} {} {}\n", a + 1, b + 1, c + 1);
    }
    scratch.put("groups.obj", text);
    assert!(
        charts("tube.glb --from groups.obj") >= 2.0,
        "a chart for each, or more"
    );
}

#[test]
fn any_model_is_unwrapped() {
    let scratch = with_tube();
    let tube = tube_document(&TUBE);
    let sequence = Document {
        skin: None,
        frame_poses: Vec::new(),
        ..tube
    };
    scratch.write("frames.npz", &sequence);
    let still = Document {
        frames: Vec::new(),
        ..sequence
    };
    scratch.write("still.obj", &still);
    for (input, options, words) in [
        ("frames.npz", "", "over 6 frames"),
        ("frames.npz", "--poses rest", "stretch 1.0"),
        (
            "still.obj",
            "--size 256 --padding 2",
            "of a 256 x 256 atlas",
        ),
        ("tube.glb", "--poses any", "poses of the clips"),
        ("tube.glb", "--poses limits", "poses that were made up"),
        (
            "tube.glb",
            "--straight-borders --texel-density by-area",
            "chart",
        ),
        ("tube.glb", "--from creases --min-width 2", "chart"),
        ("tube.glb", "--from materials", "chart"),
    ] {
        let command = format!("unwrap {input} {options} -o out.glb --json");
        let said = scratch.dermis(&command).done().json();
        assert_sound(&said);
        let verdict = said["verdict"].as_str().unwrap_or_default();
        assert!(verdict.contains(words), "{command}: {verdict}");
    }
    let said = scratch.dermis("unwrap tube.glb --charts 5 -o out.glb --json");
    assert_eq!(
        number(&said.done().json(), "/charts"),
        5.0,
        "as many as asked for"
    );
    // A decomposition has no UVs either.
    let decompose = "decompose frames.npz --bones 3 --rounds 2 --starts 1 -o skin.glb --quiet";
    scratch.dermis(decompose).done();
    let said = scratch
        .dermis("unwrap skin.glb -o out.gltf --json")
        .done()
        .json();
    assert_sound(&said);
    if let Some(clients) = support::node_clients() {
        assert_valid(&clients, &[scratch.at("out.glb"), scratch.at("out.gltf")]);
    }
}

/// A face of an OBJ file has one UV per corner.
#[test]
fn squares_that_no_seam_cuts_stay_squares() {
    let scratch = Scratch::new();
    let cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    scratch.put("cube.obj", cube);
    let said = scratch
        .dermis("unwrap cube.obj -o uv.obj --json")
        .done()
        .json();
    assert_sound(&said);
    let text = std::fs::read_to_string(scratch.at("uv.obj")).expect("text");
    let faces: Vec<&str> = text.lines().filter(|line| line.starts_with("f ")).collect();
    let bare = faces.iter().filter(|face| !face.contains('/')).count();
    assert_eq!(bare, 0, "every corner has UVs: {faces:?}");
    let count = scratch.read("uv.obj").mesh.triangles().len();
    assert_eq!(count, 12, "nothing is lost: {faces:?}");
}

#[test]
fn a_picture_and_a_page_show_it() {
    let scratch = with_tube();
    let run = scratch.dermis("unwrap tube.glb -o uv.glb --picture uv.png --report uv.html");
    let run = run.done();
    assert!(run.says("efficiency"), "{run:#?}");
    assert!(run.says("the UVs are TEXCOORD_0"), "{run:#?}");
    let png = std::fs::read(scratch.at("uv.png")).expect("a picture");
    assert!(png.starts_with(b"\x89PNG"), "a PNG");
    let page = std::fs::read_to_string(scratch.at("uv.html")).expect("a page");
    for part in [
        "<h1>A texture atlas for tube.glb</h1>",
        "<p class=\"verdict\">",
        "<b>at rest</b>",
        "<b>in the pose that stretches it most</b>",
        "<b>in the middle of the poses</b>",
        "<b>the atlas</b>",
        "% of the area",
        "Texture efficiency",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let csv = scratch
        .dermis("unwrap tube.glb -o again.glb --csv")
        .done()
        .stdout;
    let lines: Vec<&str> = csv.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 2, "names and numbers: {csv}");
    assert!(lines[0].contains("stretchOverPoses"), "{csv}");
    let same = |name: &str| std::fs::read(scratch.at(name)).expect("a file");
    assert!(
        same("uv.glb") == same("again.glb"),
        "the same bytes each time"
    );
}

#[test]
fn what_cannot_be_unwrapped_gets_one_sentence_and_no_file() {
    let scratch = with_tube();
    scratch.write("other.glb", &tube_document(&SMALL_TUBE));
    scratch.put("points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    let plain = Document {
        skin: None,
        frames: Vec::new(),
        frame_poses: Vec::new(),
        ..tube_document(&TUBE)
    };
    scratch.write("plain.obj", &plain);
    let before = scratch.files();
    for (command, parts) in [
        (
            "tube.glb --size 10",
            &["--size", "16 to 16384", "found 10"][..],
        ),
        (
            "tube.glb --padding 900",
            &["--padding", "at most 256", "found 900"],
        ),
        ("tube.glb --charts 0", &["--charts", "at least 1"]),
        ("tube.glb --charts -3", &["--charts", "at least 1"]),
        (
            "tube.glb --max-stretch 0.5",
            &["--max-stretch", "1 or more", "0.5"],
        ),
        (
            "tube.glb --min-width nan",
            &["--min-width", "0 texels or more"],
        ),
        (
            "tube.glb --texels-per-unit 0",
            &["--texels-per-unit", "above 0"],
        ),
        (
            "tube.glb --texels-per-unit 1e9",
            &["tube.glb", "--texels-per-unit", "fits"],
        ),
        (
            "tube.glb --set 5",
            &["tube.glb", "--set", "from 0 to 0", "found 5"],
        ),
        (
            "tube.glb --from other.glb",
            &["other.glb", "points as in tube.glb", "found"],
        ),
        (
            "tube.glb --from plain.obj",
            &["plain.obj", "neither UVs nor groups"],
        ),
        (
            "tube.glb --from missing.obj",
            &["missing.obj", "cannot be read"],
        ),
        (
            "tube.glb --from seam",
            &["auto, seams, materials, creases or a file"],
        ),
        (
            "tube.glb --from seams",
            &["tube.glb", "no UVs", "--from auto"],
        ),
        (
            "tube.glb --from seams --charts 4",
            &["--charts", "--from seams"],
        ),
        ("tube.glb --keep", &["tube.glb", "no UVs", "without --keep"]),
        ("tube.glb --keep --charts 4", &["cannot be used with"]),
        ("tube.glb --keep --from auto", &["cannot be used with"]),
        ("points.obj", &["points.obj", "faces"]),
        ("tube.glb --picture uv.jpg", &["uv.jpg", ".png"]),
        ("missing.glb", &["missing.glb", "cannot be read"]),
    ] {
        let run = scratch.dermis(&format!("unwrap {command} -o out.glb"));
        assert_eq!(run.code, 2, "{command}: {run:#?}");
        assert_eq!(run.stdout, "", "no results: {run:#?}");
        assert!(run.stderr.starts_with("error: "), "{run:#?}");
        for part in parts {
            assert!(run.stderr.contains(part), "{part:?} in {run:#?}");
        }
    }
    for (command, part) in [
        ("tube.glb -o out.ply", ".glb, .gltf or .obj"),
        ("tube.glb -o out.obj --set 1", "one set of UVs"),
        ("tube.glb -o tube.glb", "would be replaced"),
        ("tube.glb -o -", "name a file"),
    ] {
        let run = scratch.dermis(&format!("unwrap {command}"));
        assert_eq!(run.code, 2, "{command}: {run:#?}");
        assert!(run.stderr.contains(part), "{part:?} in {run:#?}");
    }
    assert_eq!(scratch.files(), before, "nothing is written");
}
