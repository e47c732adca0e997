use super::*;
use crate::clip::{Channel, Interpolation, Keys};
use crate::document::testing::{meshes_alone, tube_with_clips, tube_with_frames};
use crate::document::{MatchError, MatchOptions};
use crate::progress::Silent;
use crate::rig::Similarity;
use crate::skin::{Coefficient, Correction, Delta, SsdProgram, VertexProgram};
use glam::DQuat;

fn assemble(meshes: Document, poses: PoseSource<'_>) -> Result<AssembledExamples, DocumentError> {
    assemble_examples(meshes, poses, &AssembleOptions::default(), &Silent)
}

const OWN: PoseSource<'static> = PoseSource::Own { clip: None };

fn names(clips: &[Clip]) -> Vec<&str> {
    clips.iter().map(|clip| clip.name.as_str()).collect()
}

/// Largest distance of the tube's own skin from the examples, in their poses.
fn off(examples: &AssembledExamples) -> f64 {
    let skin = tube_with_frames().skin.expect("a skin");
    let mut off = 0.0f64;
    for example in examples.set.examples() {
        let shown = skin.evaluate(&example.pose).expect("a pose of the tube");
        let pairs = shown.iter().zip(&example.positions);
        off = pairs.fold(off, |off, (a, b)| off.max(a.distance(*b)));
    }
    off
}

#[test]
fn frames_come_with_their_own_poses() {
    let examples = assemble(tube_with_frames(), OWN).expect("poses of its own");
    assert_eq!(examples.set.examples().len(), 6, "one for each frame");
    assert!(off(&examples) < 1e-9, "in their poses");
    assert_eq!(names(&examples.clips), ["examples"], "they are a clip");
    assert!(examples.rig_skin.is_some(), "its own weights");
    assert_eq!(examples.notes, [], "nothing was assumed");
}

#[test]
fn frames_without_poses_are_refused() {
    let mut meshes = meshes_alone(&tube_with_frames());
    meshes.path = "tube.npz".into();
    let error = assemble(meshes, OWN).expect_err("no poses");
    assert_eq!(
        error.to_string(),
        "tube.npz: has 6 meshes but not the skeleton's pose in each",
        "without a flag"
    );
}

#[test]
fn a_skinned_document_gives_what_its_clips_show() {
    let examples = assemble(tube_with_clips(&["walk", "run"]), OWN).expect("two clips");
    assert_eq!(examples.set.examples().len(), 12, "all keys of both");
    assert!(off(&examples) < 1e-9, "in their poses");
    assert_eq!(names(&examples.clips), ["walk", "run"], "both are kept");
    let run = PoseSource::Own { clip: Some("run") };
    let one = assemble(tube_with_clips(&["walk", "run"]), run).expect("one clip");
    assert_eq!(one.set.examples().len(), 6, "those of one");
    assert_eq!(one.set.examples()[0].name, "run 0", "named after it");
    assert_eq!(names(&one.clips), ["walk", "run"], "both are kept");
}

#[test]
fn what_does_not_move_is_refused() {
    let still = || Document {
        clips: Vec::new(),
        ..tube_with_clips(&[])
    };
    let error = assemble(still(), OWN).expect_err("no clip");
    assert!(
        matches!(error, DocumentError::NoMotion { has_skin: true, .. }),
        "{error:?}"
    );
    let mesh = meshes_alone(&still());
    for poses in [OWN, PoseSource::Bones(BoneGuess::Count(2))] {
        let error = assemble(mesh.clone(), poses).expect_err("a single mesh");
        assert!(
            matches!(
                error,
                DocumentError::NoMotion {
                    has_skin: false,
                    ..
                }
            ),
            "{error:?}"
        );
    }
}

/// A tube on one still bone whose clip plays its frames as morph targets.
fn morphs() -> Document {
    let tube = tube_with_frames();
    let rest = tube.mesh.positions();
    let correction = |frame: &Frame| {
        let pairs = frame.positions.iter().zip(rest).enumerate();
        let delta = |(i, (a, b)): (usize, (&DVec3, &DVec3))| Delta {
            index: i as u32,
            value: *a - *b,
        };
        Correction {
            deltas: pairs.map(delta).collect(),
        }
    };
    let skeleton =
        Skeleton::from_rest_frames([("node".to_owned(), None, glam::DAffine3::IDENTITY)]);
    let bone = crate::skin::Weight {
        bone: crate::BoneId(0),
        weight: 1.0,
    };
    let program = VertexProgram::Ssd(SsdProgram {
        rest_positions: rest.to_vec(),
        weights: rest.iter().map(|_| [bone]).collect(),
        corrections: tube.frames.iter().map(correction).collect(),
    });
    let coefficient = |frame: &Frame| Coefficient {
        name: frame.name.clone(),
        default: 0.0,
    };
    let coefficients: Vec<Coefficient> = tube.frames.iter().map(coefficient).collect();
    let count = coefficients.len();
    let value = |k: usize| (0..count).map(|m| f64::from(u8::from(m == k))).collect();
    let keys = Keys {
        interpolation: Interpolation::Linear,
        times: (0..count).map(|k| k as f64 / 24.0).collect(),
        values: (0..count).map(value).collect(),
    };
    let skin = Skin::new(skeleton.expect("one bone"), program, coefficients);
    Document {
        path: "horse.glb".into(),
        skin: Some(skin.expect("a morphed mesh")),
        clips: vec![Clip {
            name: "gallop".to_owned(),
            channels: vec![Channel::Coefficients(0, keys)],
        }],
        ..meshes_alone(&Document {
            frames: Vec::new(),
            ..tube
        })
    }
}

#[test]
fn morph_targets_alone_are_no_poses_and_bones_can_be_found_for_them() {
    let error = assemble(morphs(), OWN).expect_err("no bone moves");
    assert_eq!(
        error,
        DocumentError::NoMovingBones {
            path: "horse.glb".into()
        },
        "it is said"
    );
    let found = assemble(morphs(), PoseSource::Bones(BoneGuess::Count(3))).expect("bones");
    assert_eq!(found.set.skeleton().bone_count(), 3, "as many as asked for");
    assert_eq!(found.set.examples().len(), 7, "the rest mesh, too");
    assert!(found.rig_skin.is_none(), "weights belong to other bones");
}

#[test]
fn a_rig_gives_the_poses_of_its_clip() {
    let meshes = meshes_alone(&tube_with_frames());
    let mut rig = tube_with_clips(&["walk", "run"]);
    rig.path = "rig.glb".into();
    let named = |clip| PoseSource::Rig { rig: &rig, clip };
    let error = assemble(meshes.clone(), named(None)).expect_err("two clips");
    assert!(
        matches!(error, DocumentError::AmbiguousClip { .. }),
        "{error:?}"
    );
    let examples = assemble(meshes.clone(), named(Some("run"))).expect("one clip");
    assert!(off(&examples) < 1e-9, "in their poses");
    assert_eq!(names(&examples.clips), ["walk", "run"], "of the rig");
    assert!(examples.rig_skin.is_some(), "the weights of the rig");
    assert_eq!(examples.notes, [], "the meshes say how fast they are");
    // Without a rate they are spread over the clip, which is the same here.
    let unsaid = Document {
        frames_per_second: None,
        ..meshes
    };
    let examples = assemble(unsaid, named(Some("run"))).expect("one clip");
    assert!(off(&examples) < 1e-9, "in their poses");
    assert!(
        matches!(
            &examples.notes[..],
            [Note::SpreadOverClip { mesh_count: 6, .. }]
        ),
        "{:?}",
        examples.notes
    );
}

#[test]
fn a_rig_with_a_pose_for_each_mesh_needs_no_clip() {
    let (rig, mut meshes) = (tube_with_frames(), meshes_alone(&tube_with_frames()));
    let poses = || PoseSource::Rig {
        rig: &rig,
        clip: None,
    };
    let examples = assemble(meshes.clone(), poses()).expect("six poses");
    assert!(off(&examples) < 1e-9, "in their poses");
    assert_eq!(names(&examples.clips), ["examples"], "no clip has them");
    meshes.frames.pop();
    let error = assemble(meshes, poses()).expect_err("six poses for five meshes");
    assert!(
        matches!(
            error,
            DocumentError::PoseCount {
                pose_count: 6,
                mesh_count: 5,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_rig_in_another_unit_is_refused() {
    let meshes = meshes_alone(&tube_with_frames());
    let by = Similarity::new(0.01, DQuat::IDENTITY, DVec3::ZERO).expect("a scaling");
    let rig = tube_with_frames().moved(&by).expect("a plain skin");
    let poses = || PoseSource::Rig {
        rig: &rig,
        clip: None,
    };
    let error = assemble(meshes.clone(), poses()).expect_err("another unit");
    assert!(
        matches!(
            error,
            DocumentError::Match(MatchError::SkeletonSpace { .. })
        ),
        "{error:?}"
    );
    let force = AssembleOptions {
        matching: MatchOptions {
            force: true,
            ..MatchOptions::default()
        },
        ..AssembleOptions::default()
    };
    let forced = assemble_examples(meshes, poses(), &force, &Silent).expect("as they are");
    let is_told = (forced.notes.iter()).any(|note| matches!(note, Note::OtherPlace { .. }));
    assert!(is_told, "{:?}", forced.notes);
}
