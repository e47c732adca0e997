//! What tests of this folder begin with.

#![cfg(test)]

use super::LodOptions;
use super::model::Model;
use super::samples::SamplePoses;
use super::simplify::Simplifier;
use super::vertices::{Blending, vertices_of};
use super::wedges::WedgeMesh;
use crate::mesh::DrawMesh;
use crate::rig::Pose;
use crate::synth::Tube;

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
