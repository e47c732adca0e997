//! Examples and animations from files, in one call each.

use std::path::PathBuf;

use dermis::document::{DocumentError, MatchError, Note};
use dermis::progress::Silent;
use dermis::synth::{TubeOptions, tube};
use dermis::{Clip, Example, TriMesh};
use dermis_io::{
    Document, ExampleOptions, Fault, Frame, InputError, InputOptions, IoError, MotionOptions,
    Placement, WriteOptions, read_animation, read_examples, read_meshes, write,
};
use glam::DVec3;

use crate::support;

/// A tube with bones, weights, and six frames with their poses.
fn tube_document() -> Document {
    let made = tube(&TubeOptions {
        ring_count: 12,
        segment_count: 8,
        bone_count: 3,
        example_count: 6,
    });
    let examples = made.examples.examples();
    let frame = |example: &Example| Frame {
        name: example.name.clone(),
        positions: example.positions.clone(),
    };
    Document {
        mesh: made.examples.rest().clone(),
        skin: Some(made.truth),
        frames: examples.iter().map(frame).collect(),
        frame_poses: examples.iter().map(|e| e.pose.clone()).collect(),
        frames_per_second: Some(24.0),
        ..Document::default()
    }
}

/// A folder with `meshes.npz`, which has no bones, and `rig.glb`, which has the bones and a clip of their poses.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let tube = tube_document();
    let meshes = Document {
        skin: None,
        frame_poses: Vec::new(),
        ..tube.clone()
    };
    put(&folder, "meshes.npz", &meshes);
    let skin = tube.skin.as_ref().expect("a skin");
    let clip = Clip::from_poses("wave", &skin.skeleton, &tube.frame_poses, 24.0);
    let rig = Document {
        clips: vec![clip.expect("rigid bones")],
        frames: Vec::new(),
        frame_poses: Vec::new(),
        ..tube
    };
    put(&folder, "rig.glb", &rig);
    folder
}

fn put(folder: &tempfile::TempDir, name: &str, document: &Document) {
    let written = write(
        &folder.path().join(name),
        document,
        &WriteOptions::default(),
    );
    written.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn examples_take_their_poses_from_a_rig_from_themselves_or_from_bones_that_are_found() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let error = read_examples(&[at("meshes.npz")], &ExampleOptions::default(), &Silent);
    let error = error.expect_err("nothing says the poses");
    assert!(
        matches!(
            error,
            InputError::Document(DocumentError::NoPoses { mesh_count: 6, .. })
        ),
        "{error:?}"
    );
    assert!(!error.to_string().contains("--"), "no flags: {error}");
    let with_rig = ExampleOptions {
        skeleton: Some(at("rig.glb")),
        ..ExampleOptions::default()
    };
    let posed = read_examples(&[at("meshes.npz")], &with_rig, &Silent).expect("a rig");
    assert_eq!(posed.set.examples().len(), 6, "one for each mesh");
    assert_eq!(posed.clips[0].name, "wave", "the clip of the rig");
    let own = read_examples(&[at("rig.glb")], &ExampleOptions::default(), &Silent);
    let own = own.expect("a skin with a clip");
    for (a, b) in posed.set.examples().iter().zip(own.set.examples()) {
        let pairs = a.positions.iter().zip(&b.positions);
        let off = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 1e-5, "{} is {off} away", a.name);
    }
    let with_bones = ExampleOptions {
        bones: Some(2),
        ..ExampleOptions::default()
    };
    let found = read_examples(&[at("meshes.npz")], &with_bones, &Silent).expect("bones");
    assert_eq!(found.set.skeleton().bone_count(), 2, "as many as asked for");
}

#[test]
fn a_rig_keeps_its_own_unit_when_meshes_are_scaled() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let centimetres = Placement {
        scale: 100.0,
        ..Placement::default()
    };
    let options = ExampleOptions {
        skeleton: Some(at("rig.glb")),
        inputs: InputOptions {
            placement: centimetres,
            frame_placement: centimetres,
            ..InputOptions::default()
        },
        ..ExampleOptions::default()
    };
    let error = read_examples(&[at("meshes.npz")], &options, &Silent).expect_err("two units");
    assert!(
        matches!(
            error,
            InputError::Document(DocumentError::Match(MatchError::SkeletonSpace { .. }))
        ),
        "{error:?}"
    );
}

#[test]
fn motions_are_called_after_their_files_and_caches_are_motions() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    // In an order in which no mesh is like the next, and without a rate.
    let mut mixed = tube_document();
    let given = mixed.frames.clone();
    for (k, by) in [3, 0, 5, 1, 4, 2].into_iter().enumerate() {
        mixed.frames[k] = given[by].clone();
    }
    mixed.frames_per_second = None;
    mixed.skin = None;
    mixed.frame_poses.clear();
    put(&folder, "scan.npz", &mixed);
    put(&folder, "cache.pc2", &mixed);
    let rest = Document {
        frames: Vec::new(),
        ..mixed.clone()
    };
    put(&folder, "cache.obj", &rest);
    let names = |inputs: &[PathBuf]| {
        let read = read_animation(inputs, &MotionOptions::default());
        let read = read.unwrap_or_else(|error| panic!("{error}"));
        let clips = read.animation.clips().iter();
        let names: Vec<String> = clips.map(|clip| clip.name.clone()).collect();
        (names, read.held, read.notes)
    };
    let (clips, held, notes) = names(&[at("scan.npz"), at("rig.glb")]);
    assert_eq!(clips, ["scan_poses", "wave"], "poses, and a clip");
    assert_eq!(held, [true, false], "poses are held");
    assert_eq!(notes, [Note::TakenForPoses { mesh_count: 6 }], "it is said");
    let (clips, held, notes) = names(&[at("cache.pc2")]);
    assert_eq!(
        (&clips[..], &held[..]),
        (&["cache".to_owned()][..], &[false][..]),
        "a motion"
    );
    assert_eq!(notes, [], "which nobody doubts");
    assert!(
        read_animation(&[], &MotionOptions::default()).is_err(),
        "nothing is no animation"
    );
}

#[test]
fn other_faces_are_refused_with_whether_an_order_may_help() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = |name: &str| folder.path().join(name);
    let tube = tube_document().mesh;
    let count = tube.vertex_count();
    let new_of_old = |v: u32| (v as usize * 37 + 5) % count;
    let mut points = vec![DVec3::ZERO; count];
    for (v, point) in tube.positions().iter().enumerate() {
        points[new_of_old(v as u32)] = *point;
    }
    let faces = tube.triangles().iter();
    let faces = faces.map(|face| face.map(|v| new_of_old(v) as u32));
    let mixed = TriMesh::new(points, faces.collect()).expect("the same tube");
    let fewer = TriMesh::new(tube.positions().to_vec(), tube.triangles()[..40].to_vec());
    for (name, mesh) in [
        ("a.obj", tube.clone()),
        ("b.obj", mixed),
        ("c.obj", fewer.expect("a part of the tube")),
    ] {
        let mesh = Document {
            mesh,
            ..Document::default()
        };
        put(&folder, name, &mesh);
    }
    let mut options = InputOptions::default();
    let error = read_meshes(&[at("a.obj"), at("b.obj")], &options).expect_err("other faces");
    assert!(
        matches!(
            &error,
            InputError::Io(IoError::Content {
                fault: Fault::OtherFaces {
                    can_reorder: true,
                    ..
                },
                ..
            })
        ),
        "{error:?}"
    );
    options.matching.reorder = true;
    let read = read_meshes(&[at("a.obj"), at("b.obj")], &options).expect("in order");
    assert_eq!(
        read.document.frames[0].positions, read.document.frames[1].positions,
        "both are the tube"
    );
    let said = (read.notes.iter()).any(|n| matches!(n, Note::Reordered { mesh_count: 1, .. }));
    assert!(said, "{:?}", read.notes);
}

#[test]
fn morph_targets_alone_have_no_bones() {
    let Some(folder) = support::data("gltf-morph-sequences") else {
        return;
    };
    let error = read_examples(
        &[folder.join("Horse.glb")],
        &ExampleOptions::default(),
        &Silent,
    );
    let error = error.expect_err("a horse without bones");
    assert!(
        matches!(
            error,
            InputError::Document(DocumentError::NoMovingBones { .. })
        ),
        "{error:?}"
    );
}
