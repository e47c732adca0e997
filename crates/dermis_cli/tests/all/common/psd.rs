//! What the stories about sculpting share: a small arm, and an artist with simple ideas.

use dermis::fit::{SsdOptions, fit_ssd};
use dermis::progress::Silent;
use dermis::synth::{ArmOptions, arm, arm_motion};
use dermis::{Clip, Pose};
use dermis_io::{Document, Frame};
use glam::DVec3;

use super::Scratch;

/// An arm of a few hundred vertices with a linear blend skin and a clip, as `arm.glb`.
pub(crate) fn put_arm(scratch: &Scratch) {
    let character = arm(&ArmOptions {
        ring_count: 24,
        segment_count: 12,
        poses: arm_motion(12),
    });
    let set = character.examples;
    let all: Vec<usize> = (0..set.examples().len()).collect();
    let fitted = fit_ssd(&set, &all, &SsdOptions::default(), &Silent).expect("it can be fitted");
    let poses: Vec<Pose> = set.examples().iter().map(|e| e.pose.clone()).collect();
    let clip = Clip::from_poses("curl", set.skeleton(), &poses, 24.0).expect("rigid bones");
    let document = Document {
        mesh: set.rest().clone(),
        draw: character.draw,
        skin: Some(fitted.skin),
        clips: vec![clip],
        ..Document::default()
    };
    scratch.write("arm.glb", &document);
}

/// Moves the vertices near a place of a mesh file, as an artist's brush does, and writes another.
pub(crate) fn sculpt(scratch: &Scratch, from: &str, to: &str, brush: impl Fn(usize) -> DVec3) {
    let mut document = scratch.read(from);
    let moved = document.mesh.positions().iter().enumerate();
    let positions = moved.map(|(i, p)| *p + brush(i)).collect();
    document.frames = vec![Frame {
        name: "sculpted".to_owned(),
        positions,
    }];
    scratch.write(to, &document);
}

/// Largest distance between the vertices of two meshes, as a share of the first one's diagonal.
#[track_caller]
pub(crate) fn far_apart(scratch: &Scratch, a: &str, b: &str) -> f64 {
    let (a, b) = (scratch.read(a), scratch.read(b));
    let pairs = a.mesh.positions().iter().zip(b.mesh.positions());
    assert_eq!(a.mesh.vertex_count(), b.mesh.vertex_count(), "one mesh");
    let farthest = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    farthest / a.mesh.bounds().diagonal()
}

/// Fails unless a project shows a mesh in a pose, to a millionth of the diagonal.
#[track_caller]
pub(crate) fn assert_shows(scratch: &Scratch, project: &str, pose: &str, mesh: &str) {
    let command = format!("psd pose {project} --pose {pose} -o shown.obj");
    scratch.dermis(&command).done();
    let off = far_apart(scratch, mesh, "shown.obj");
    assert!(off < 1e-6, "{project} at {pose} is {off} from {mesh}");
    std::fs::remove_file(scratch.at("shown.obj")).expect("it was written");
}
