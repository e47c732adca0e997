//! What a rig that someone drew says about the bones of meshes.

use std::path::Path;

use glam::DVec3;

use super::matching::check_joints;
use super::{Document, DocumentError, MatchOptions, MatchPair, Note, check_shapes};
use crate::fit::BoneGuess;
use crate::rig::{BoneId, Skeleton};
use crate::skin::VertexProgram;

/// A vertex with at least this share of one bone belongs to its core.
const CORE_WEIGHT: f64 = 0.95;
/// Without weights, a vertex belongs to the core of a bone that is this much nearer than the next.
const CORE_NEARER: f64 = 0.6;

/// The skeleton of a rig, and the vertices of meshes at the core of each of its bones.
///
/// Where the rig has no weights for these vertices, each bone gets those that are nearest to it, and the note says so.
///
/// # Errors
/// [`DocumentError::NoSkeleton`], [`DocumentError::NoCores`], and [`DocumentError::Match`] for a rig of another space.
pub fn guess_bones(
    rig: &Document,
    meshes: &Document,
    options: &MatchOptions,
) -> Result<(BoneGuess, Option<Note>), DocumentError> {
    let path: &Path = &rig.path;
    let skeleton = rig.expect_skeleton()?.clone();
    let vertex_count = meshes.mesh.vertex_count();
    let weights = rig.skin.as_ref().and_then(|skin| match &skin.program {
        VertexProgram::Ssd(ssd) if ssd.weights.len() == vertex_count => Some(&ssd.weights),
        _ => None,
    });
    let mut note = None;
    let cores: Vec<Option<BoneId>> = match weights {
        Some(weights) => {
            // Weights go by the number of a vertex.
            let pair = MatchPair {
                meshes: &meshes.path,
                rest: path,
                is_own_rest: false,
            };
            let shape = [meshes.mesh.positions()];
            check_shapes(&rig.rest_meshes(), &shape, pair, options)?;
            weights
                .iter()
                .map(|row| row.iter().find(|w| w.weight >= CORE_WEIGHT).map(|w| w.bone))
                .collect()
        }
        None => {
            check_joints(&skeleton, meshes, path, options)?;
            note = Some(Note::NearestVertices {
                rig: path.to_owned(),
                vertex_count,
            });
            nearest_bones(&skeleton, meshes.mesh.positions())
        }
    };
    if cores.iter().all(Option::is_none) {
        let path = path.to_owned();
        return Err(DocumentError::NoCores { path });
    }
    Ok((BoneGuess::Skeleton { skeleton, cores }, note))
}

/// The bone that each vertex is clearly nearest to; bones run from their joint to their children's.
fn nearest_bones(skeleton: &Skeleton, positions: &[DVec3]) -> Vec<Option<BoneId>> {
    let joints: Vec<DVec3> = skeleton
        .bones()
        .iter()
        .map(|bone| bone.bone_from_rest.inverse().translation)
        .collect();
    let mut segments: Vec<(BoneId, DVec3, DVec3)> = Vec::new();
    for (id, bone) in skeleton.ids().zip(skeleton.bones()) {
        segments.push((id, joints[id.index()], joints[id.index()]));
        if let Some(parent) = bone.parent {
            segments.push((parent, joints[parent.index()], joints[id.index()]));
        }
    }
    let distance = |p: DVec3, a: DVec3, b: DVec3| {
        let along = b - a;
        let t = (p - a).dot(along) / along.length_squared();
        // A bone without length is a point.
        let t = if t.is_finite() {
            t.clamp(0.0, 1.0)
        } else {
            0.0
        };
        p.distance(a + along * t)
    };
    let nearest = |p: &DVec3| {
        let mut best = vec![f64::INFINITY; joints.len()];
        for &(id, a, b) in &segments {
            best[id.index()] = best[id.index()].min(distance(*p, a, b));
        }
        let mut order: Vec<usize> = (0..best.len()).collect();
        order.sort_by(|&a, &b| best[a].total_cmp(&best[b]).then(a.cmp(&b)));
        let clear = order
            .get(1)
            .is_none_or(|&second| best[order[0]] < CORE_NEARER * best[second]);
        clear.then(|| BoneId(order[0] as u16))
    };
    positions.iter().map(nearest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::MatchError;
    use crate::document::testing::{meshes_alone, tube_with_frames};
    use crate::rig::Similarity;

    fn cores(guess: BoneGuess) -> Vec<Option<BoneId>> {
        match guess {
            BoneGuess::Skeleton { cores, .. } => cores,
            BoneGuess::Count(_) => panic!("a skeleton was given"),
        }
    }

    fn bones_alone(rig: &Document) -> Document {
        Document {
            mesh: crate::TriMesh::default(),
            skeleton: rig.skin.as_ref().map(|skin| skin.skeleton.clone()),
            ..meshes_alone(rig)
        }
    }

    #[test]
    fn cores_come_from_weights_or_from_the_nearest_bone() {
        let rig = tube_with_frames();
        let meshes = meshes_alone(&rig);
        let (weighted, note) =
            guess_bones(&rig, &meshes, &MatchOptions::default()).expect("weights");
        assert_eq!(note, None, "nothing is assumed");
        let (nearest, note) = guess_bones(&bones_alone(&rig), &meshes, &MatchOptions::default())
            .expect("bones in the mesh");
        assert!(
            matches!(note, Some(Note::NearestVertices { .. })),
            "{note:?}"
        );
        let (a, b) = (cores(weighted), cores(nearest));
        let same = a.iter().zip(&b).filter(|(a, b)| a.is_some() && a == b);
        assert!(2 * same.count() > a.len() / 2, "{a:?} and {b:?} are alike");
    }

    #[test]
    fn a_skeleton_a_hundred_times_smaller_than_its_mesh_is_refused() {
        let rig = tube_with_frames();
        let by = Similarity::scaling(0.01);
        let small = bones_alone(&rig.moved(&by).expect("a plain skin"));
        let error = guess_bones(&small, &meshes_alone(&rig), &MatchOptions::default());
        let error = error.expect_err("too small");
        match error {
            DocumentError::Match(MatchError::SkeletonSize { scale, .. }) => {
                assert_eq!(scale, 100.0, "the mesh is larger");
            }
            other => panic!("{other:?}"),
        }
    }
}
