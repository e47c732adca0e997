//! An animator sculpts a face that has no bones: sliders, and shapes at their combinations.

use dermis::TriMesh;
use dermis_io::Document;
use glam::DVec3;

use crate::common;
use crate::common::psd::{assert_shows, far_apart, sculpt};
use crate::common::{Scratch, quoted};

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
    let targets = targets(&skin);
    assert_eq!(targets[..2], ["smile 20", "wink 20"], "shapes of their own");
    assert_eq!(targets.len(), 3, "and the combination: {targets:?}");
    assert!(targets[2].starts_with("smile1_wink1 "), "{targets:?}");
    assert_eq!(skin.posed_coefficient_count(), 2, "only it is driven");
    let check = scratch.dermis("psd check face.psd.toml --strict").done();
    assert!(check.stdout.contains("nothing to warn about"), "{check:#?}");
}

/// Names of all morph targets, with how many vertices each moves.
fn targets(skin: &dermis::Skin) -> Vec<String> {
    let corrections = skin
        .program
        .rest_corrections(&skin.skeleton)
        .expect("one bone");
    let pairs = skin.coefficients.iter().zip(&corrections);
    pairs
        .map(|(c, shape)| format!("{} {}", c.name, shape.deltas.len()))
        .collect()
}

/// The sheet with morph targets, each a name with its first vertex, how many it moves and how far.
fn put_targets(scratch: &Scratch, file: &str, shapes: &[(&str, usize, usize, f64)]) {
    let sheet = scratch.read("face.obj");
    let bone = ("root".to_owned(), None, glam::DAffine3::IDENTITY);
    let whole = [dermis::skin::Weight {
        bone: dermis::BoneId(0),
        weight: 1.0,
    }];
    let positions = sheet.mesh.positions();
    let delta = |index: usize, far: f64| dermis::skin::Delta {
        index: index as u32,
        value: far * DVec3::new(0.2, 0.1, 1.0),
    };
    let corrections = shapes
        .iter()
        .map(|&(_, first, count, far)| dermis::skin::Correction {
            deltas: (first..first + count).map(|i| delta(i, far)).collect(),
        });
    let program = dermis::skin::SsdProgram {
        rest_positions: positions.to_vec(),
        weights: dermis::Rows::from_iter(positions.iter().map(|_| whole)),
        corrections: corrections.collect(),
    };
    let coefficients = shapes.iter().map(|(name, ..)| dermis::skin::Coefficient {
        name: (*name).to_owned(),
        default: 0.0,
    });
    let skin = dermis::Skin::new(
        dermis::Skeleton::from_rest_frames([bone]).expect("one bone"),
        dermis::VertexProgram::Ssd(program),
        coefficients.collect(),
    );
    let face = Document {
        mesh: sheet.mesh.clone(),
        skin: Some(skin.expect("a skin")),
        ..Document::default()
    };
    scratch.write(file, &face);
}

#[test]
fn all_targets_of_a_face_are_taken_at_once_and_come_out_under_their_names() {
    let scratch = begun("gaussian");
    put_targets(
        &scratch,
        "shapes.glb",
        &[
            ("jawOpen", 0, 20, 0.1),
            ("brow.up", 30, 12, 0.2),
            ("smile", 50, 9, 0.1),
        ],
    );
    scratch
        .dermis("psd new all.psd.toml --base face.obj")
        .done();
    let import = scratch.dermis("psd import all.psd.toml shapes.glb").done();
    assert!(import.stdout.contains("3 shapes"), "{import:#?}");
    let again = scratch.dermis("psd import all.psd.toml shapes.glb");
    let said = format!("{}{}", again.stdout, again.stderr);
    assert!(said.contains("smile"), "what is there is named: {again:#?}");
    scratch.dermis("psd fit all.psd.toml -o all.glb").done();
    let skin = scratch.read("all.glb").skin.expect("a skin");
    assert_eq!(
        targets(&skin),
        ["jawOpen 20", "brow.up 12", "smile 9"],
        "as many as there are"
    );
    assert!(
        skin.pose_program.drivers.is_empty(),
        "nothing is left to drive"
    );

    // Into a project that has a slider of that name, and once more.
    let import = scratch
        .dermis("psd import face.psd.toml shapes.glb --layer all")
        .done();
    assert!(import.stdout.contains("layer all: 3 shapes"), "{import:#?}");
    let before = std::fs::read(scratch.at("face.psd.toml")).expect("a project");
    let again = scratch.dermis("psd import face.psd.toml shapes.glb");
    assert_eq!(again.code, 2, "{again:#?}");
    assert!(
        again.stderr.contains("jawOpen: is sculpted already"),
        "{again:#?}"
    );
    let after = std::fs::read(scratch.at("face.psd.toml")).expect("a project");
    assert!(before == after, "left alone");
    scratch
        .dermis("psd pose face.psd.toml --pose jawOpen=1,smile=0.5 -o open.obj")
        .done();
}

#[test]
fn shapes_of_another_mesh_are_refused_and_nothing_is_written() {
    let scratch = begun("superposition");
    common::psd::put_arm(&scratch);
    let before = scratch.files();
    let import = scratch.dermis("psd import face.psd.toml arm.glb");
    assert_eq!(import.code, 2, "{import:#?}");
    for part in ["arm.glb", "vertices", "face.obj", "81"] {
        assert!(import.stderr.contains(part), "{part} in {import:#?}");
    }
    assert_eq!(
        import.stderr.trim().lines().count(),
        1,
        "one sentence: {import:#?}"
    );
    assert_eq!(scratch.files(), before, "nothing was written");
}

#[test]
fn compression_that_would_make_a_file_larger_is_left_out_and_said() {
    let scratch = begun("superposition");
    // Shapes of a few vertices each: every sum of them moves all.
    let local: Vec<(String, usize)> = (0..9).map(|n| (format!("s{n}"), 9 * n)).collect();
    let local: Vec<_> = local
        .iter()
        .map(|(name, first)| (name.as_str(), *first, 9, 0.1))
        .collect();
    put_targets(&scratch, "local.glb", &local);
    // One shape, more or less of it.
    let alike: Vec<String> = (0..9).map(|n| format!("s{n}")).collect();
    let alike: Vec<_> = (1..)
        .zip(&alike)
        .map(|(n, name)| (name.as_str(), 0, 81, 0.01 * f64::from(n)))
        .collect();
    put_targets(&scratch, "alike.glb", &alike);
    for (file, says) in [
        ("local.glb", "not compressed: 9 shapes"),
        ("alike.glb", "9 shapes as 1 sum"),
    ] {
        scratch.put("p.psd.toml", "version = 1\nbase = \"face.obj\"\n");
        scratch
            .dermis(&format!("psd import p.psd.toml {file}"))
            .done();
        scratch.dermis("psd fit p.psd.toml -o plain.glb").done();
        let text = std::fs::read_to_string(scratch.at("p.psd.toml")).expect("a text");
        let layer = "kernel = \"superposition\"\n";
        assert!(text.contains(layer), "{text}");
        scratch.put(
            "p.psd.toml",
            text.replace(layer, &format!("{layer}compress = 0.0001\n")),
        );
        let fit = scratch
            .dermis("psd fit p.psd.toml -o compressed.glb")
            .done();
        assert!(fit.stderr.contains(says), "{says} in {fit:#?}");
        assert!(fit.stderr.contains("bytes"), "{fit:#?}");
        let bytes = |name: &str| std::fs::metadata(scratch.at(name)).expect("a file").len();
        let [plain, compressed] = ["plain.glb", "compressed.glb"].map(bytes);
        println!("{file}: {plain} bytes, compressed {compressed}");
        assert!(
            compressed <= plain,
            "{file}: {compressed} bytes instead of {plain}"
        );
    }
}

#[test]
fn real_faces_are_imported_and_keep_their_targets() {
    let data = std::env::var_os("DERMIS_DATA").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        std::path::PathBuf::from,
    );
    for name in ["gltf/MorphStressTest.glb", "face-poses/face-poses.npz"] {
        let file = data.join(name);
        if !file.is_file() {
            println!("skipped: {} is not there", file.display());
            continue;
        }
        let scratch = Scratch::new();
        let original = dermis_io::read(&file).expect("readable");
        let neutral = Document {
            mesh: original.mesh.clone(),
            ..Document::default()
        };
        scratch.write("neutral.npz", &neutral);
        scratch
            .dermis("psd new face.psd.toml --base neutral.npz")
            .done();
        let import = scratch
            .dermis(&format!("psd import face.psd.toml {}", quoted(&file)))
            .done();
        println!("{name}: {}", import.stdout);
        scratch.dermis("psd fit face.psd.toml -o face.glb").done();
        let skin = scratch.read("face.glb").skin.expect("a skin");
        let taken = import.stdout.split(' ').nth(2).and_then(|n| n.parse().ok());
        assert_eq!(
            Some(skin.coefficients.len()),
            taken,
            "one target for each shape: {import:#?}"
        );
        assert!(skin.pose_program.drivers.is_empty(), "sliders are targets");
    }
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
