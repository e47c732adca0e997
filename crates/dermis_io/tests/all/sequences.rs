//! Sets of files as one document.

use std::path::{Path, PathBuf};

use dermis_io::{Document, SequenceOptions, WriteOptions, read, read_inputs, write};

use crate::support;

fn rest(path: impl Into<PathBuf>) -> SequenceOptions {
    SequenceOptions {
        rest: Some(path.into()),
        ..SequenceOptions::default()
    }
}

fn frame_names(document: &Document) -> Vec<&str> {
    document.frames.iter().map(|f| f.name.as_str()).collect()
}

#[test]
fn horse_poses_are_ten_frames_of_their_reference() {
    let Some(folder) = support::data("horse-poses") else {
        return;
    };
    let options = rest(folder.join("horse-poses-reference.obj"));
    // The folder also holds the reference, which is the rest mesh and no pose.
    for input in [folder.clone(), folder.join("*.obj"), folder.join("#.obj")] {
        let document = read_inputs(&[&input], &options).expect("a sequence");
        assert_eq!(document.mesh.vertex_count(), 8431, "vertices");
        assert_eq!(document.mesh.triangles().len(), 16843, "triangles");
        let names = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
        assert_eq!(frame_names(&document), names, "{}", input.display());
        let tenth = read(&folder.join("10.obj")).expect("a mesh");
        assert_eq!(
            document.frames[9].positions,
            tenth.mesh.positions(),
            "pose 10 is last"
        );
    }
}

#[test]
fn without_a_given_rest_mesh_the_first_mesh_of_the_cat_is_the_rest() {
    let Some(folder) = support::data("cat-poses") else {
        return;
    };
    let document = read_inputs(&[folder.join("000?.obj")], &SequenceOptions::default());
    let document = document.expect("a sequence");
    assert_eq!(document.mesh.vertex_count(), 7207, "vertices");
    assert_eq!(document.frames.len(), 9, "poses");
    assert_eq!(
        document.frames[0].positions,
        document.mesh.positions(),
        "the first is the rest"
    );
}

#[test]
fn gzipped_wolves_are_read_with_a_rest_mesh_that_is_not_gzipped() {
    let Some(folder) = support::data("gt-wolf") else {
        return;
    };
    let options = rest(folder.join("wolf.obj"));
    let document = read_inputs(&[folder.join("poses-1/*.obj.gz")], &options).expect("a sequence");
    assert_eq!(document.mesh.vertex_count(), 5075, "vertices");
    let names = ["wolf-1", "wolf-2", "wolf-3", "wolf-4", "wolf-5", "wolf-6"];
    assert_eq!(frame_names(&document), names, "both extensions go");
}

#[test]
fn a_horse_among_cats_is_refused_with_both_counts() {
    let Some(cats) = support::data("cat-poses") else {
        return;
    };
    let horse = support::data("horse-poses/1.obj").expect("the folder is there");
    let options = rest(cats.join("cat-poses-reference.obj"));
    let error = read_inputs(&[cats.join("0001.obj"), horse], &options).expect_err("no cat");
    let message = error.to_string();
    for part in ["1.obj", "8431", "7207", "cat-poses-reference.obj"] {
        assert!(message.contains(part), "{part} in {message}");
    }
}

const TRIANGLES: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n";

fn scratch(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

#[test]
fn other_faces_are_refused_with_the_first_that_differs() {
    let turned = TRIANGLES.replace("f 2 4 3", "f 4 3 2");
    let fewer = TRIANGLES.replace("f 2 4 3\n", "");
    let quad = TRIANGLES.replace("f 1 2 3\nf 2 4 3", "f 1 2 4 3");
    let folder = scratch(&[
        ("a.obj", TRIANGLES),
        ("b.obj", &turned),
        ("c.obj", &fewer),
        ("d.obj", &quad),
    ]);
    for (other, expected) in [
        ("b.obj", "face 1: expected vertices 1 3 2 as in"),
        ("c.obj", "found no such face"),
        ("d.obj", "face 0: expected vertices 0 1 2 as in"),
    ] {
        let files = [folder.path().join("a.obj"), folder.path().join(other)];
        let error = read_inputs(&files, &SequenceOptions::default()).expect_err("other faces");
        let message = error.to_string();
        assert!(message.contains(expected), "{message}");
        assert!(
            message.contains("a.obj") && message.contains(other),
            "{message}"
        );
    }
}

#[test]
fn a_file_of_triangles_is_a_frame_of_a_quad_mesh_that_is_cut_the_same_way() {
    let quad = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    let cut = "v 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nf 1 2 3\nf 1 3 4\n";
    let folder = scratch(&[("a.obj", quad), ("b.obj", cut)]);
    let document = read_inputs(&[folder.path()], &SequenceOptions::default()).expect("the same");
    assert!(document.polygons.is_some(), "the rest mesh keeps its quad");
    assert_eq!(document.frames.len(), 2, "both are frames");
}

#[test]
fn a_point_cache_needs_its_mesh_and_says_where_it_looked() {
    let five_points = "v 0 0 0\n".repeat(5);
    let folder = scratch(&[("a.obj", TRIANGLES), ("five.obj", &five_points)]);
    let document = read(&folder.path().join("a.obj")).expect("a mesh");
    let cache = folder.path().join("lost.pc2");
    write(&cache, &document, &WriteOptions::default()).expect("written");

    let message = read(&cache).expect_err("no mesh").to_string();
    assert!(
        message.contains("lost.obj, lost.ply, lost.glb, lost.gltf, lost.npz"),
        "{message}"
    );

    let with_mesh = |name: &str| SequenceOptions {
        mesh: Some(folder.path().join(name)),
        ..SequenceOptions::default()
    };
    let whole = read_inputs(&[&cache], &with_mesh("a.obj")).expect("the right mesh");
    assert_eq!(whole.frames.len(), 1, "one sample");
    let message = read_inputs(&[&cache], &with_mesh("five.obj"))
        .expect_err("5 points")
        .to_string();
    assert!(
        message.contains("expected 5 as in") && message.contains("found 4"),
        "{message}"
    );

    let both = [folder.path().join("a.obj"), cache];
    let listed = read_inputs(&both, &SequenceOptions::default()).expect("mesh and cache listed");
    assert_eq!(
        frame_names(&listed),
        ["frame_0001"],
        "the mesh of a cache is no frame"
    );
}

#[test]
fn archives_with_the_same_bones_join_and_keep_their_poses() {
    let Some(tube) = support::data("bpy/tube_lbs/truth.npz") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [a, b] = ["walk.npz", "run.npz"].map(|name| folder.path().join(name));
    for path in [&a, &b] {
        std::fs::copy(&tube, path).expect("copied");
    }
    let both = read_inputs(&[&a, &b], &SequenceOptions::default()).expect("two clips");
    assert_eq!(both.frames.len(), 80, "40 and 40");
    assert_eq!(both.frame_poses.len(), 80, "the bones agree");
    assert_eq!(both.frames[0].name, "run_frame_0001", "run before walk");

    let still = folder.path().join("still.ply");
    let without_frames = Document {
        frames: Vec::new(),
        ..read(&a).expect("a mesh")
    };
    write(&still, &without_frames, &WriteOptions::default()).expect("written");
    let with_rest = read_inputs(&[&still], &rest(&a)).expect("the same points");
    assert_eq!(
        frame_names(&with_rest),
        ["still"],
        "the rest mesh's own frames are left out"
    );
    assert!(
        with_rest.notes.iter().any(|n| n.contains("40 frames")),
        "{:?}",
        with_rest.notes
    );
    let mixed = read_inputs(&[&a, &still], &SequenceOptions::default());
    let mixed = mixed.expect("a clip and a mesh");
    assert!(mixed.frame_poses.is_empty(), "one mesh has no pose");
    assert_eq!(mixed.frames.len(), 41, "40 frames and a mesh");
}

#[test]
fn a_single_file_is_read_as_one_mesh_not_as_a_sequence() {
    let folder = scratch(&[("a.obj", TRIANGLES)]);
    let options = SequenceOptions::default();
    for input in ["a.obj", "*.obj", "?.obj"] {
        let document = read_inputs(&[folder.path().join(input)], &options).expect("a mesh");
        assert!(
            document.frames.is_empty(),
            "{input} is one mesh, not a sequence"
        );
    }
    let empty: [&Path; 0] = [];
    read_inputs(&empty, &options).expect_err("nothing to read");
    let missing = read_inputs(&[folder.path().join("b.obj")], &options).expect_err("missing");
    assert!(missing.to_string().contains("cannot be read"), "{missing}");
}
