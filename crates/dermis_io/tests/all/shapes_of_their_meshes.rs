//! The check that frames are shapes of their mesh accepts all real sets, and refuses the same sets with errors put in.

use std::path::PathBuf;

use dermis::example::find_rig_mismatch;
use dermis::mesh::{Mismatch, find_mismatch};
use dermis::rig::Similarity;
use dermis::{Example, ExampleSet};
use dermis_io::{Document, SequenceOptions, read_inputs};
use glam::{DQuat, DVec3};

use crate::support;

/// Sequences, each with its rest mesh where that is a separate file.
const SETS: [(&str, Option<&str>); 16] = [
    ("bpy/hand_csmooth/truth.npz", None),
    ("bpy/makehuman_bulge/truth.npz", None),
    ("bpy/makehuman_cloth/truth.npz", None),
    ("bpy/makehuman_csmooth/truth.npz", None),
    ("bpy/tube_cloth/truth.npz", None),
    ("bpy/tube_csmooth/truth.npz", None),
    ("bpy/tube_dqs/truth.npz", None),
    ("bpy/tube_lbs/truth.npz", None),
    ("bpy/tube_surfdef/truth.npz", None),
    ("horse-gallop/horse-gallop.npz", None),
    ("horse-collapse/horse-collapse.npz", None),
    ("crane/crane.npz", None),
    ("face-poses/face-poses.npz", None),
    ("horse-poses", Some("horse-poses/horse-poses-reference.obj")),
    ("cat-poses", Some("cat-poses/cat-poses-reference.obj")),
    ("gt-wolf/poses-1", Some("gt-wolf/wolf.obj")),
];

fn read(name: &str, rest: Option<&str>) -> Option<Document> {
    let path = support::data(name)?;
    let rest: Option<PathBuf> = rest.and_then(support::data);
    let options = SequenceOptions {
        rest,
        ..SequenceOptions::default()
    };
    Some(read_inputs(&[path], &options).unwrap_or_else(|error| panic!("{error}")))
}

fn mismatch(document: &Document, change: impl Fn(&[DVec3]) -> Vec<DVec3>) -> Option<Mismatch> {
    // Every set is tested with a dozen shapes; more only repeat the arithmetic.
    let step = document.frames.len().div_ceil(12).max(1);
    let frames = document.frames.iter().step_by(step);
    let changed: Vec<Vec<DVec3>> = frames.map(|frame| change(&frame.positions)).collect();
    let shapes: Vec<&[DVec3]> = changed.iter().map(Vec::as_slice).collect();
    find_mismatch(&document.mesh, &shapes)
}

fn shuffled(points: &[DVec3]) -> Vec<DVec3> {
    let count = points.len();
    // Prime, and larger than any of the meshes.
    (0..count)
        .map(|i| points[(i * 104_729 + 17) % count])
        .collect()
}

#[test]
fn real_sets_are_accepted_and_reordered_or_scaled_ones_refused() {
    for (name, rest) in SETS {
        let Some(document) = read(name, rest) else {
            continue;
        };
        assert!(!document.frames.is_empty(), "{name} moves");
        assert_eq!(mismatch(&document, <[_]>::to_vec), None, "{name} is right");
        let scaled = |by: f64| move |points: &[DVec3]| points.iter().map(|v| *v * by).collect();
        for factor in [100.0, 0.01, 39.370_08] {
            let found = mismatch(&document, scaled(factor));
            let Some(Mismatch::Space { scale, .. }) = found else {
                panic!("{name} times {factor}: {found:?}");
            };
            assert!((scale / factor - 1.0).abs() < 0.01, "{name}: {found:?}");
        }
        let found = mismatch(&document, shuffled);
        println!("{name} shuffled: {found:?}");
        assert!(
            matches!(found, Some(Mismatch::Order { torn }) if torn > 0.2),
            "{name} in another order: {found:?}"
        );
    }
}

/// Clips of skinned files, against the rest mesh.
#[test]
fn no_clip_of_a_skinned_file_is_refused() {
    for name in [
        "gltf/Fox.glb",
        "gltf/CesiumMan.glb",
        "gltf/RiggedFigure.glb",
        "gltf/RiggedSimple.glb",
        "gltf/RobotExpressive.glb",
        "gltf/Cow.gltf",
        "gltf/Pug.gltf",
        "gltf/Alien/Alien.gltf",
        "gltf/RecursiveSkeletons.glb",
    ] {
        let Some(path) = support::data(name) else {
            continue;
        };
        let document = dermis_io::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let skin = document.skin.as_ref().expect("a skin");
        let drawn = skin.drawn_at_rest().expect("a skin");
        let rest = document.mesh.with_positions(drawn).expect("finite");
        for clip in &document.clips {
            let times = clip.frame_times(6.0).expect("few frames");
            let times = times.into_iter().take(40);
            let shapes = times.map(|time| skin.evaluate(&skin.sample(clip, time)));
            let shapes: Vec<Vec<DVec3>> = shapes.collect::<Result<_, _>>().expect("its own clip");
            let shapes: Vec<&[DVec3]> = shapes.iter().map(Vec::as_slice).collect();
            let found = find_mismatch(&rest, &shapes);
            assert_eq!(found, None, "{name}, clip {}", clip.name);
        }
    }
}

#[test]
fn real_rigs_fit_their_meshes_and_scaled_or_turned_ones_do_not() {
    for (name, rest) in SETS.into_iter().filter(|(name, _)| name.starts_with("bpy")) {
        let Some(document) = read(name, rest) else {
            continue;
        };
        let skeleton = document.skin.as_ref().map(|skin| &skin.skeleton);
        let skeleton = skeleton.or(document.skeleton.as_ref()).expect("bones");
        let quarter = std::f64::consts::FRAC_PI_2;
        for (scale, turn) in [(1.0, 0.0), (0.01, 0.0), (100.0, 0.0), (1.0, -quarter)] {
            let by = Similarity::new(scale, DQuat::from_rotation_x(turn), DVec3::ZERO);
            let by = by.expect("a move");
            let examples = document.frames.iter().zip(&document.frame_poses);
            let examples = examples.map(|(frame, pose)| Example {
                name: frame.name.clone(),
                pose: by.pose(skeleton, pose),
                positions: frame.positions.clone(),
            });
            let rig = by.skeleton(skeleton).expect("a move");
            let set = ExampleSet::new(document.mesh.clone(), rig, examples.collect());
            let found = find_rig_mismatch(&set.expect("as read"));
            println!("{name} with its rig times {scale}, turned by {turn}: {found:?}");
            match scale == 1.0 && turn == 0.0 {
                true => assert_eq!(found, None, "{name} with its own rig"),
                false => assert!(
                    found.is_some_and(|m| (m.scale * scale - 1.0).abs() < 0.01),
                    "{name} with a rig times {scale}, turned by {turn}: {found:?}"
                ),
            }
        }
    }
}
