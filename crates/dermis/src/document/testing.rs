//! Documents for the tests of this module.

#![cfg(test)]

use super::{Document, Frame};
use crate::clip::Clip;
use crate::example::Example;
use crate::rig::Pose;
use crate::synth::{TubeOptions, tube};

/// A tube of three bones with weights, and six frames with their poses.
pub(super) fn tube_with_frames() -> Document {
    let made = tube(&TubeOptions {
        ring_count: 12,
        segment_count: 8,
        bone_count: 3,
        example_count: 6,
    });
    let frame = |example: &Example| Frame {
        name: example.name.clone(),
        positions: example.positions.clone(),
    };
    let examples = made.examples.examples();
    Document {
        mesh: made.examples.rest().clone(),
        draw: crate::mesh::DrawMesh::plain(
            "tube",
            made.examples.rest().vertex_count(),
            made.examples.rest().triangles(),
        ),
        skin: Some(made.truth),
        frames: examples.iter().map(frame).collect(),
        frame_poses: examples.iter().map(|e| e.pose.clone()).collect(),
        frames_per_second: Some(24.0),
        ..Document::default()
    }
}

/// The same tube with its poses as clips of these names, six frames each at 24 per second, and without frames.
pub(super) fn tube_with_clips(names: &[&str]) -> Document {
    let document = tube_with_frames();
    let skin = document.skin.as_ref().expect("a skin");
    let poses: &[Pose] = &document.frame_poses;
    let clip = |name: &&str| Clip::from_poses(*name, &skin.skeleton, poses, 24.0);
    let clips = names.iter().map(clip).collect::<Result<_, _>>();
    Document {
        clips: clips.expect("rigid bones"),
        frames: Vec::new(),
        frame_poses: Vec::new(),
        frames_per_second: None,
        ..document
    }
}

/// The meshes of a document without bones or poses.
pub(super) fn meshes_alone(document: &Document) -> Document {
    Document {
        skin: None,
        frame_poses: Vec::new(),
        clips: Vec::new(),
        ..document.clone()
    }
}
