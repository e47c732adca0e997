//! The joints that a shape may depend on, and the vertices next to them.

use faer::Mat;

use super::weighted::bone_weights;
use crate::par;
use crate::pose_space::{Center, Control, JointTurn, squared_distance};
use crate::rig::{BoneId, Pose};
use crate::skin::Skin;

/// Joints that turn, with their turn in each pose.
pub(super) struct Joints {
    /// The bone below each joint.
    bones: Vec<BoneId>,
    /// Coordinates in each pose.
    points: Vec<Vec<Vec<f64>>>,
    /// For each bone of the skeleton the bones that move as one with it, by a number.
    piece_of_bone: Vec<usize>,
}

/// A joint that turns less than this from its rest in every pose is none, in radians (5°).
const LEAST_TURN_RAD: f64 = 5.0 * std::f64::consts::PI / 180.0;
/// Turns of a joint that are nearer to each other than this are the same, in radians (0.1°): the same
/// but for rounding. With 1° the held-out error of `makehuman_bulge` rises from 5.89% to 5.94%.
const SAME_TURN_RAD: f64 = 0.1 * std::f64::consts::PI / 180.0;
/// A bone with less weight than this does not tell that a vertex follows it.
const LEAST_WEIGHT: f64 = 0.02;

impl Joints {
    /// The joints of a skin that turn in some of the poses.
    pub(super) fn that_turn(skin: &Skin, poses: &[Pose]) -> Self {
        let posed = skin.posed_bone_count();
        let mut joints = Self {
            bones: Vec::new(),
            points: Vec::new(),
            piece_of_bone: Vec::with_capacity(posed),
        };
        for (j, bone) in skin.skeleton.bones()[..posed].iter().enumerate() {
            let id = BoneId(j as u16);
            let points: Vec<Vec<f64>> = (poses.iter())
                .map(|pose| {
                    let mut point = Vec::with_capacity(3);
                    let bones = &pose.parent_from_bone;
                    control(id).push_coordinates(&skin.skeleton, bones, &[], &mut point);
                    point
                })
                .collect();
            let angle = |point: &Vec<f64>| point.iter().map(|x| x * x).sum::<f64>().sqrt();
            let turns = points.iter().map(angle).fold(0.0, f64::max) >= LEAST_TURN_RAD;
            // What turns the whole character is no joint.
            match bone.parent {
                Some(parent) if !turns => {
                    joints
                        .piece_of_bone
                        .push(joints.piece_of_bone[parent.index()]);
                }
                parent => {
                    joints.piece_of_bone.push(j);
                    if parent.is_some() {
                        joints.bones.push(id);
                        joints.points.push(points);
                    }
                }
            }
        }
        joints
    }

    pub(super) fn len(&self) -> usize {
        self.bones.len()
    }

    pub(super) fn bone(&self, j: usize) -> BoneId {
        self.bones[j]
    }

    pub(super) fn control(&self, j: usize) -> Control {
        control(self.bones[j])
    }

    /// Coordinates of a joint in each pose.
    pub(super) fn points(&self, j: usize) -> &[Vec<f64>] {
        &self.points[j]
    }

    /// For each pose those in which one of some joints is turned as it is there, itself among them, by rising number.
    ///
    /// What a joint does to the skin in a pose is also seen in these. Who wants to know how well it can be guessed must
    /// leave them all out: a motion in which the wrist turns, first alone and then while the elbow bends, shows each turn
    /// twice, and says nothing of turns between them. A joint at rest does nothing, and one that is turned alike in more
    /// than half of the poses does not move: those are not looked at.
    pub(super) fn alike(&self, near: &[u16]) -> Vec<Vec<usize>> {
        let count = self.points.first().map_or(0, Vec::len);
        let mut alike: Vec<Vec<usize>> = (0..count).map(|k| vec![k]).collect();
        for &j in near {
            let controls = [self.control(usize::from(j))];
            let points = &self.points[usize::from(j)];
            for (k, own) in points.iter().enumerate() {
                let own = Center {
                    name: String::new(),
                    point: own.clone(),
                    falloffs: vec![SAME_TURN_RAD],
                };
                let is_same = |turn: &[f64]| squared_distance(&controls, &own, turn) <= 1.0;
                let same = || (0..count).filter(|&l| is_same(&points[l]));
                if !is_same(&[0.0; 3]) && 2 * same().count() <= count {
                    alike[k].extend(same());
                }
            }
        }
        for poses in &mut alike {
            poses.sort_unstable();
            poses.dedup();
        }
        alike
    }

    /// Gaussians of each joint between all poses.
    pub(super) fn kernels(&self, falloff: f64) -> Vec<Mat<f64>> {
        par::map(self.len(), |j| {
            let points = &self.points[j];
            let controls = [self.control(j)];
            let center = |point: &Vec<f64>| Center {
                name: String::new(),
                point: point.clone(),
                falloffs: vec![falloff],
            };
            let centers: Vec<Center> = points.iter().map(center).collect();
            Mat::from_fn(points.len(), points.len(), |k, l| {
                (-0.5 * squared_distance(&controls, &centers[l], &points[k])).exp()
            })
        })
    }
}

fn control(bone: BoneId) -> Control {
    Control::Joint {
        bone,
        turn: JointTurn::Free,
    }
}

/// For each vertex the joints, by number, at either end of the bones that it follows.
///
/// Bones that move as one count as one: a muscle bound to the upper half of an upper arm is next to
/// the elbow, too.
pub(super) fn next_to_joints(skin: &Skin, joints: &Joints) -> Vec<Vec<u16>> {
    let bones = skin.skeleton.bones();
    let ends: Vec<[usize; 2]> = (joints.bones.iter())
        .map(|bone| {
            let parent = bones[bone.index()].parent.expect("a joint has two sides");
            [bone.index(), parent.index()].map(|j| joints.piece_of_bone[j])
        })
        .collect();
    let piece = |bone: BoneId| joints.piece_of_bone[bone.index()];
    let mut pieces_of_bone: Vec<Vec<usize>> = (joints.piece_of_bone.iter())
        .map(|&piece| vec![piece])
        .collect();
    let placed = skin.pose_program.followed_bones();
    pieces_of_bone.extend((placed.into_iter()).map(|bones| bones.into_iter().map(piece).collect()));
    par::map(skin.vertex_count(), |i| {
        let mut weights = Vec::new();
        bone_weights(skin, i, &mut weights);
        let follows = |piece: usize| {
            let own = weights
                .iter()
                .filter(|(j, _)| pieces_of_bone[*j].contains(&piece));
            own.map(|(_, w)| w.abs()).sum::<f64>() >= LEAST_WEIGHT
        };
        (0..ends.len() as u16)
            .filter(|&j| ends[usize::from(j)].into_iter().any(follows))
            .collect()
    })
}
