//! Where bones are joined, and which bone is the parent of which.
//!
//! A joint that turns in place has a point that both bones carry along alike. With `M_j` the motion
//! of bone j from rest, that point `h` makes `M_a⁻¹ M_j h` the same in all poses (\[Merry07\] §4.1.4,
//! Eq. 4.6): its variance is least squares in `h`. A hinge leaves `h` free along its axis, so it is
//! also pulled, a thousandth as hard, to a guess.

use glam::{DAffine3, DMat3, DVec3};

/// How hard a joint is pulled to the guess, in the unit-box scale; the thesis's own choice.
pub(super) const JOINT_PULL: f64 = 1e-3;

/// The point about which one bone turns in another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::fit) struct Joint {
    /// In rest space.
    pub(in crate::fit) place: DVec3,
    /// Root-mean-square distance of the point from its mean in the other bone's frame.
    pub(in crate::fit) deviation: f64,
}

/// The joint of a bone in its parent, from the motions of both in all poses.
pub(in crate::fit) fn find_joint(parent: &[DAffine3], bone: &[DAffine3], guess: DVec3) -> Joint {
    let relative: Vec<DAffine3> = parent
        .iter()
        .zip(bone)
        .map(|(a, b)| a.inverse() * *b)
        .collect();
    let count = relative.len().max(1) as f64;
    let mean_linear = relative.iter().fold(DMat3::ZERO, |sum, m| sum + m.matrix3) * (1.0 / count);
    let mean_offset = relative.iter().map(|m| m.translation).sum::<DVec3>() / count;
    let mut normal = DMat3::from_diagonal(DVec3::splat(JOINT_PULL * JOINT_PULL));
    let mut right = JOINT_PULL * JOINT_PULL * guess;
    for m in &relative {
        let (linear, offset) = (m.matrix3 - mean_linear, m.translation - mean_offset);
        normal += linear.transpose() * linear;
        right -= linear.transpose() * offset;
    }
    let solved = normal.inverse() * right;
    let place = if solved.is_finite() { solved } else { guess };
    let squared: f64 = relative
        .iter()
        .map(|m| {
            let off = (m.matrix3 - mean_linear) * place + (m.translation - mean_offset);
            off.length_squared()
        })
        .sum();
    Joint {
        place,
        deviation: (squared / count).sqrt(),
    }
}

/// The tree that joins bones most cheaply, and its middle as the root: the parent of every bone.
///
/// Prim's algorithm on the full graph, then the root that makes the longest chain shortest (of two
/// equal ones the one with more vertices, then the lower number).
pub(in crate::fit) fn span(
    cost: &dyn Fn(usize, usize) -> f64,
    sizes: &[usize],
) -> Vec<Option<usize>> {
    let count = sizes.len();
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut reached = vec![false; count];
    let mut best: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); count];
    let mut next = 0;
    for _ in 1..count {
        reached[next] = true;
        for (j, best) in best.iter_mut().enumerate() {
            let c = if reached[j] {
                f64::INFINITY
            } else {
                cost(next, j)
            };
            if c < best.0 {
                *best = (c, next);
            }
        }
        let Some(closest) = (0..count)
            .filter(|&j| !reached[j])
            .min_by(|&a, &b| best[a].0.total_cmp(&best[b].0).then(a.cmp(&b)))
        else {
            break;
        };
        near[closest].push(best[closest].1);
        near[best[closest].1].push(closest);
        next = closest;
    }
    let depth = |root: usize| {
        walk(&near, root)
            .iter()
            .map(|step| step.2)
            .max()
            .unwrap_or(0)
    };
    let root = (0..count).min_by_key(|&j| (depth(j), std::cmp::Reverse(sizes[j]), j));
    let mut parents = vec![None; count];
    if let Some(root) = root {
        for (bone, parent, _) in walk(&near, root) {
            parents[bone] = parent;
        }
    }
    parents
}

/// The nodes of a tree from a root outwards: node, parent, depth.
pub(in crate::fit) fn walk(near: &[Vec<usize>], root: usize) -> Vec<(usize, Option<usize>, usize)> {
    let mut order = vec![(root, None, 0)];
    let mut at = 0;
    while at < order.len() {
        let (node, parent, depth) = order[at];
        let mut children: Vec<usize> = near[node].clone();
        children.sort_unstable();
        order.extend(
            children
                .into_iter()
                .filter(|&c| Some(c) != parent)
                .map(|c| (c, Some(node), depth + 1)),
        );
        at += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(point: DVec3, axis: DVec3, angle: f64) -> DAffine3 {
        DAffine3::from_translation(point)
            * DAffine3::from_axis_angle(axis, angle)
            * DAffine3::from_translation(-point)
    }

    #[test]
    fn a_ball_joint_is_found_wherever_the_guess_is() {
        let place = DVec3::new(0.1, -0.3, 0.2);
        let turns = [
            (DVec3::X, 0.5),
            (DVec3::Y, -0.8),
            (DVec3::Z, 1.1),
            (DVec3::X, -0.4),
        ];
        let parent: Vec<DAffine3> = (0..4)
            .map(|k| about(DVec3::ONE, DVec3::Z, 0.3 * f64::from(k)))
            .collect();
        let bone: Vec<DAffine3> = parent
            .iter()
            .zip(turns)
            .map(|(p, (axis, angle))| *p * about(place, axis, angle))
            .collect();
        let joint = find_joint(&parent, &bone, DVec3::new(3.0, 2.0, 1.0));
        assert!(joint.place.distance(place) < 1e-4, "found {}", joint.place);
        assert!(
            joint.deviation < 1e-5,
            "a fixed point stays: {}",
            joint.deviation
        );
    }

    #[test]
    fn a_hinge_takes_the_point_of_its_axis_that_is_nearest_to_the_guess() {
        let axis_point = DVec3::new(0.2, 0.1, 0.0);
        let parent = vec![DAffine3::IDENTITY; 3];
        let bone: Vec<DAffine3> = [0.0, 0.6, 1.2]
            .iter()
            .map(|&a| about(axis_point, DVec3::Z, a))
            .collect();
        let joint = find_joint(&parent, &bone, DVec3::new(0.5, 0.5, 0.7));
        let expected = DVec3::new(0.2, 0.1, 0.7);
        assert!(
            joint.place.distance(expected) < 1e-4,
            "found {}",
            joint.place
        );
    }

    #[test]
    fn bones_that_never_move_apart_keep_the_guess() {
        let still = vec![DAffine3::IDENTITY; 3];
        let guess = DVec3::new(0.5, 0.5, 0.7);
        assert!(
            find_joint(&still, &still, guess).place.distance(guess) < 1e-12,
            "nothing says otherwise"
        );
    }

    #[test]
    fn a_chain_is_rooted_in_its_middle() {
        // 0 - 1 - 2 - 3 - 4, every other pair dear
        let cost = |a: usize, b: usize| if a.abs_diff(b) == 1 { 1.0 } else { 10.0 };
        let parents = span(&cost, &[1, 1, 1, 1, 1]);
        assert_eq!(
            parents,
            [Some(1), Some(2), None, Some(2), Some(3)],
            "the middle carries both halves"
        );
    }
}
