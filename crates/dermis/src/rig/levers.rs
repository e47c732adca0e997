//! How far an error in a bone's transform can move a vertex.

use glam::DAffine3;

use super::{Pose, Skeleton};
use crate::math::largest_stretch;

/// What turns an error of one bone in one pose into a distance in model space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lever {
    /// How much the bones above stretch: from the bone's parent to model space, at most.
    pub(crate) scale: f64,
    /// A vertex that the bone moves, itself or by its descendants, is at most this far from its
    /// origin, in its own frame. `None` when it moves no vertex.
    pub(crate) reach: Option<f64>,
}

/// The levers of every bone in a pose.
///
/// `own_reach` says for each bone how far the vertices bound to it are from its origin, in its own
/// frame. A vertex of a child at `L` is at most `|off L| + |lin L| reach` away: an upper bound, from
/// the leaves to the root.
pub(crate) fn levers(skeleton: &Skeleton, pose: &Pose, own_reach: &[Option<f64>]) -> Vec<Lever> {
    let bones = skeleton.bones();
    let mut reach = own_reach.to_vec();
    for (j, bone) in bones.iter().enumerate().rev() {
        if let (Some(parent), Some(below)) = (bone.parent, reach[j]) {
            let local = &pose.parent_from_bone[j];
            let away = local.translation.length() + largest_stretch(&local.matrix3) * below;
            let above = &mut reach[parent.index()];
            *above = Some(above.map_or(away, |other| other.max(away)));
        }
    }
    let mut model_from_bone: Vec<DAffine3> = Vec::with_capacity(bones.len());
    let mut result = Vec::with_capacity(bones.len());
    for (j, bone) in bones.iter().enumerate() {
        let parent =
            (bone.parent).map_or(DAffine3::IDENTITY, |parent| model_from_bone[parent.index()]);
        model_from_bone.push(parent * pose.parent_from_bone[j]);
        result.push(Lever {
            scale: largest_stretch(&parent.matrix3),
            reach: reach[j],
        });
    }
    result
}

/// For each bone, the largest sum of `counts` along a way from a root to a bone that holds vertices,
/// of all ways that pass through it: so many errors can add up at one of its vertices.
///
/// Bones without vertices below them get what is above them.
pub(crate) fn longest_chain(
    skeleton: &Skeleton,
    own_reach: &[Option<f64>],
    counts: &[usize],
) -> Vec<usize> {
    let bones = skeleton.bones();
    // Largest sum below each bone, and whether vertices are there at all.
    let mut below: Vec<Option<usize>> = own_reach.iter().map(|r| r.map(|_| 0)).collect();
    for (j, bone) in bones.iter().enumerate().rev() {
        if let (Some(parent), Some(sum)) = (bone.parent, below[j]) {
            let total = sum + counts[j];
            let other = &mut below[parent.index()];
            *other = Some(other.map_or(total, |other| other.max(total)));
        }
    }
    let mut down = Vec::with_capacity(bones.len());
    for (j, bone) in bones.iter().enumerate() {
        let above = bone.parent.map_or(0, |parent| down[parent.index()]);
        down.push(above + counts[j]);
    }
    (down.iter().zip(below))
        .map(|(down, below)| down + below.unwrap_or(0))
        .collect()
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;
    use crate::rig::BoneId;

    /// A root, an arm on it, a hand on the arm, a tool without vertices on the hand.
    fn arm() -> (Skeleton, [Option<f64>; 4]) {
        let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
        let skeleton = Skeleton::from_rest_frames([
            ("root".to_owned(), None, at(0.0)),
            ("arm".to_owned(), Some(BoneId(0)), at(1.0)),
            ("hand".to_owned(), Some(BoneId(1)), at(3.0)),
            ("tool".to_owned(), Some(BoneId(2)), at(4.0)),
        ])
        .expect("parents come first");
        (skeleton, [Some(0.5), None, Some(0.25), None])
    }

    #[test]
    fn reach_grows_up_the_chain_and_scale_down() {
        let (skeleton, own_reach) = arm();
        let mut pose = skeleton.rest_pose();
        pose.parent_from_bone[1] *= DAffine3::from_quat(DQuat::from_rotation_z(1.0))
            * DAffine3::from_scale(DVec3::splat(2.0));
        let found = levers(&skeleton, &pose, &own_reach);
        let reach: Vec<_> = found.iter().map(|lever| lever.reach).collect();
        // Hand 0.25; arm 2 + 0.25; root 1 + 2 × 2.25.
        assert_eq!(reach, [Some(5.5), Some(2.25), Some(0.25), None], "reach");
        let scales: Vec<f64> = found.iter().map(|lever| lever.scale).collect();
        for (found, expected) in scales.iter().zip([1.0, 1.0, 2.0, 2.0]) {
            assert!((found - expected).abs() < 1e-12, "{scales:?}");
        }
    }

    #[test]
    fn chains_count_what_adds_up_at_one_vertex() {
        let (skeleton, own_reach) = arm();
        let chains = longest_chain(&skeleton, &own_reach, &[3, 1, 2, 5]);
        assert_eq!(
            chains,
            [6, 6, 6, 11],
            "root, arm and hand; the tool by itself"
        );
        let alone = longest_chain(&skeleton, &[Some(1.0), None, None, None], &[3, 1, 2, 5]);
        assert_eq!(alone, [3, 4, 6, 11], "only the root holds vertices");
    }
}
