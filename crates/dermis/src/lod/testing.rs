//! What tests of this folder begin with.

#![cfg(test)]

use super::LodOptions;
use super::model::Model;
use super::samples::SamplePoses;
use super::simplify::Simplifier;
use super::vertices::{Blending, vertices_of};
use super::wedges::WedgeMesh;
use crate::mesh::{DrawMesh, DrawPart};
use crate::rig::Pose;
use crate::synth::{Tube, TubeOptions, tube};

/// The poses of a tube's examples.
pub(super) fn poses_of(made: &Tube) -> Vec<Pose> {
    let examples = made.examples.examples().iter();
    examples.map(|example| example.pose.clone()).collect()
}

/// A tube as it is drawn, before the first step.
pub(super) fn simplifier_of(
    made: &Tube,
    draw: &DrawMesh,
    poses: &[Pose],
    options: &LodOptions,
) -> Simplifier {
    let mesh = made.examples.rest();
    let size = made.truth.size().expect("it has vertices");
    let samples = SamplePoses::choose(&made.truth, poses, &[], size).expect("its own poses");
    let (vertices, placement) = vertices_of(&made.truth, mesh.positions(), false).expect("linear");
    let model = Model::new(WedgeMesh::new(mesh, draw), vertices);
    let blending = Blending::new(&made.truth.skeleton, placement, 4);
    Simplifier::new(model, samples, Vec::new(), blending, options)
}

/// A tube with a texture that is laid on it from the side.
pub(super) fn textured_tube() -> (Tube, DrawMesh) {
    let made = tube(&TubeOptions {
        ring_count: 30,
        segment_count: 16,
        bone_count: 2,
        example_count: 12,
    });
    let mesh = made.examples.rest();
    // From the side, so that both halves show the same places, the farther one mirrored.
    let uvs = mesh.positions().iter();
    let part = DrawPart {
        points: (0..mesh.vertex_count() as u32).collect(),
        uvs: vec![uvs.map(|p| [p.x as f32, p.y as f32]).collect()],
        triangles: mesh.triangles().to_vec(),
        ..DrawPart::default()
    };
    let draw = DrawMesh { parts: vec![part] };
    (made, draw)
}
