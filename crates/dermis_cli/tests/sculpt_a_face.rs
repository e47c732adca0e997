//! An animator sculpts a face that has no bones: sliders, and shapes at their combinations.

mod common;

use common::psd::{assert_shows, far_apart, sculpt};
use common::{Scratch, quoted};
use dermis::TriMesh;
use dermis_io::Document;
use glam::DVec3;

/// A folder with a face that is a sheet of 9 × 9 points, and a project with two sliders.
fn begun(kernel: &str) -> Scratch {
    let scratch = Scratch::new();
    let n = 9;
    let positions = (0..n * n)
        .map(|i| DVec3::new(f64::from(i % n) / 4.0, f64::from(i / n) / 4.0, 0.0))
        .collect();
    let triangles = (0..(n - 1) * (n - 1))
        .map(|i| (i / (n - 1) * n + i % (n - 1)) as u32)
        .flat_map(|i| [[i, i + 1, i + 9], [i + 1, i + 10, i + 9]])
        .collect();
    let face = Document {
        mesh: TriMesh::new(positions, triangles).expect("a sheet"),
        ..Document::default()
    };
    scratch.write("face.obj", &face);
    scratch
        .dermis(
            "psd new face.psd.toml --base face.obj --control smile=slider --control wink=slider",
        )
        .done();
    let project = std::fs::read_to_string(scratch.at("face.psd.toml")).expect("a text");
    let layer = format!(
        "\n[[layer]]\nname = \"face\"\ncontrols = [\"smile\", \"wink\"]\nkernel = \"{kernel}\"\n"
    );
    scratch.put("face.psd.toml", project + &layer);
    scratch
}

/// Three shapes that touch the same vertices.
fn shapes(scratch: &Scratch, falloff: &str) {
    for (pose, mesh, first, push) in [
        ("smile=1", "smile.obj", 0, DVec3::Z),
        ("wink=1", "wink.obj", 30, DVec3::Y),
        ("smile=1,wink=1", "both.obj", 20, DVec3::new(0.5, 0.0, 0.5)),
    ] {
        let posed = format!("psd pose face.psd.toml --pose {pose} -o posed.obj");
        scratch.dermis(&posed).done();
        sculpt(scratch, "posed.obj", mesh, |i| {
            match i >= first && i < first + 20 {
                true => 0.1 * push,
                false => DVec3::ZERO,
            }
        });
        let add =
            format!("psd add face.psd.toml --layer face --pose {pose} --mesh {mesh} {falloff}");
        scratch.dermis(&add).done();
    }
}

#[test]
fn shapes_and_their_combination_are_met_by_every_kernel() {
    for (kernel, falloff) in [
        ("superposition", ""),
        ("gaussian", "--falloff 0.5"),
        ("shepard", "--falloff 0.5"),
    ] {
        let scratch = begun(kernel);
        shapes(&scratch, falloff);
        for (pose, mesh) in [
            ("rest", "face.obj"),
            ("smile=1", "smile.obj"),
            ("wink=1", "wink.obj"),
            ("smile=1,wink=1", "both.obj"),
        ] {
            assert_shows(&scratch, "face.psd.toml", pose, mesh);
        }
        let text = std::fs::read_to_string(scratch.at("face.psd.toml")).expect("a text");
        assert_eq!(
            text.contains("falloff"),
            kernel != "superposition",
            "where shapes are added up, falloffs do not count: {text}"
        );
    }
}

#[test]
fn superposition_goes_on_where_a_gaussian_fades() {
    let far = |kernel: &str, falloff: &str| {
        let scratch = begun(kernel);
        shapes(&scratch, falloff);
        let posed = "psd pose face.psd.toml --pose smile=2 -o twice.obj";
        scratch.dermis(posed).done();
        far_apart(&scratch, "face.obj", "twice.obj")
    };
    let once = 0.1 / 8f64.sqrt();
    let added = far("superposition", "");
    assert!((added - 2.0 * once).abs() < 1e-6, "twice a smile: {added}");
    let faded = far("gaussian", "--falloff 0.3");
    assert!(faded < 0.1 * once, "far from every pose: {faded}");
}

#[test]
fn a_face_becomes_a_glb_with_sliders() {
    let scratch = begun("superposition");
    shapes(&scratch, "");
    scratch.dermis("psd fit face.psd.toml -o face.glb").done();
    let skin = scratch.read("face.glb").skin.expect("a skin of one bone");
    let names: Vec<&str> = skin.coefficients.iter().map(|c| c.name.as_str()).collect();
    for name in ["smile1", "wink1", "smile1_wink1"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let check = scratch.dermis("psd check face.psd.toml --strict").done();
    assert!(check.stdout.contains("nothing to warn about"), "{check:#?}");
}

#[test]
fn captured_faces_are_met() {
    let data = std::env::var_os("DERMIS_DATA").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        std::path::PathBuf::from,
    );
    let faces = data.join("face-poses/face-poses.npz");
    if !faces.is_file() {
        println!("skipped: {} is not there", faces.display());
        return;
    }
    let scratch = Scratch::new();
    let convert = format!("convert {} frames/face_####.obj", quoted(&faces));
    scratch.dermis(&convert).done();
    let frames = scratch.files();
    assert!(frames.len() >= 3, "several faces: {frames:?}");
    let rest = "frames/".to_owned() + "face_0000.obj";
    let rest = match scratch.at(&rest).is_file() {
        true => rest,
        false => frames[0].clone(),
    };
    let new = format!("psd new face.psd.toml --base {rest} --control a=slider --control b=slider");
    scratch.dermis(&new).done();
    let project = std::fs::read_to_string(scratch.at("face.psd.toml")).expect("a text");
    let layer = "\n[[layer]]\nname = \"face\"\ncontrols = [\"a\", \"b\"]\n";
    scratch.put("face.psd.toml", project + layer);
    let others: Vec<&String> = frames.iter().filter(|f| **f != rest).collect();
    let poses = ["a=1", "b=1", "a=1,b=1"];
    for (pose, mesh) in poses.iter().zip(&others) {
        let add =
            format!("psd add face.psd.toml --layer face --pose {pose} --mesh {mesh} --falloff 0.6");
        scratch.dermis(&add).done();
    }
    for (pose, mesh) in poses.iter().zip(&others) {
        assert_shows(&scratch, "face.psd.toml", pose, mesh);
    }
}
