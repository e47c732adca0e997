//! How the arm should move: formulas for what a muscle rig would show.
//!
//! Every joint turns a vertex by a *share* of its own turn, about its own centre, fingers first and the clavicle last. A
//! share is a number from 0 to 1 for each joint and vertex. Turning by a part keeps a vertex at its distance from the
//! joint, where blending matrices pulls it inwards. On top of that:
//!
//! - twist of the hand is spread along the forearm, and twist of the upper arm along the upper arm;
//! - behind the elbow shares change quickly, and a bone comes out there; in front they change slowly, and where forearm
//!   and upper arm meet they press each other flat and give way sideways;
//! - biceps, triceps, forearm and deltoid swell along their normals with the angles of the joints that they move.

use glam::{DAffine3, DQuat, DVec3};

use super::asset::Asset;
use super::poses::HumanArmPose;
use crate::mesh::{Topology, TriMesh, vertex_normals};
use crate::rig::{BoneId, Pose, Skeleton};
use crate::synth::lathe::smoothstep;

/// Rounds in which shares that come from painted weights are averaged with their neighbours: painting is never even.
const SMOOTHING_ROUNDS: usize = 12;
/// Part of the arm's lift and swing that the clavicle takes.
const CLAVICLE_PART: f64 = 0.22;
/// How far each joint of a finger closes in a fist, in radians, from the knuckle out.
const FIST_RAD: [f64; 3] = [1.25, 1.45, 0.95];
/// The same for the thumb.
const THUMB_FIST_RAD: [f64; 3] = [0.35, 0.55, 0.8];

/// The turn of a joint in the rest pose's space, about the joint's centre.
#[derive(Debug, Clone, Copy)]
struct Turn {
    center: DVec3,
    rotation: DQuat,
}

impl Turn {
    fn new(center: DVec3, axis: DVec3, angle_rad: f64) -> Self {
        Self {
            center,
            rotation: DQuat::from_axis_angle(axis, angle_rad),
        }
    }

    fn by_share(&self, point: DVec3, share: f64) -> DVec3 {
        let rotation = DQuat::IDENTITY.slerp(self.rotation, share);
        self.center + rotation * (point - self.center)
    }

    fn matrix(&self) -> DAffine3 {
        DAffine3::from_translation(self.center)
            * DAffine3::from_quat(self.rotation)
            * DAffine3::from_translation(-self.center)
    }
}

/// What the formulas know about one vertex.
#[derive(Debug, Clone)]
struct VertexFacts {
    position: DVec3,
    normal: DVec3,
    clavicle: f64,
    shoulder: f64,
    upper_arm_twist: f64,
    elbow: f64,
    forearm_twist: f64,
    /// Joints of fingers that turn it, outermost first.
    fingers: Vec<(usize, f64)>,
    /// How much of each muscle it has.
    biceps: f64,
    triceps: f64,
    forearm_muscle: f64,
    deltoid: f64,
    trapezius: f64,
    elbow_point: f64,
}

/// The arm's joints, and the facts about its vertices.
#[derive(Debug, Clone)]
pub(super) struct Truth {
    clavicle: DVec3,
    shoulder: DVec3,
    elbow: DVec3,
    wrist: DVec3,
    hinge: DVec3,
    /// Centres, axes, and largest angles of the joints of fingers; the bone of each.
    fingers: Vec<(BoneId, DVec3, DVec3, f64)>,
    /// Bones of clavicle, upper arm, forearm and hand.
    bones: [BoneId; 4],
    vertices: Vec<VertexFacts>,
}

impl Truth {
    pub(super) fn new(asset: &Asset) -> Self {
        let bones = ["clavicle", "upper_arm", "forearm", "hand"].map(|name| asset.bone(name).0);
        let [clavicle, shoulder, elbow, wrist] = bones.map(|j| asset.bones[j.index()].head);
        let fingers = (asset.bones.iter().enumerate())
            .filter_map(|(j, bone)| {
                let (finger, joint) = bone.name.split_once('_')?;
                let joint: usize = joint.parse().ok()?;
                let closed = match finger {
                    "thumb" => THUMB_FIST_RAD,
                    _ => FIST_RAD,
                };
                Some((BoneId(j as u16), bone.head, bone.hinge, closed[joint - 1]))
            })
            .collect();
        let mut truth = Self {
            clavicle,
            shoulder,
            elbow,
            wrist,
            hinge: asset.bones[bones[2].index()].hinge,
            fingers,
            bones,
            vertices: Vec::new(),
        };
        truth.vertices = truth.vertex_facts(asset);
        truth
    }

    /// The turns of clavicle, shoulder, elbow and wrist. The shoulder's is split into its lift and its twist.
    fn turns(&self, angles: &HumanArmPose) -> [Turn; 5] {
        let lift = |part: f64| {
            DQuat::from_rotation_y(-part * angles.swing_rad)
                * DQuat::from_rotation_z(part * angles.raise_rad)
        };
        let of_clavicle = lift(CLAVICLE_PART);
        let upper_arm = (self.elbow - self.shoulder).normalize();
        let forearm = (self.wrist - self.elbow).normalize();
        [
            Turn {
                center: self.clavicle,
                rotation: of_clavicle,
            },
            Turn {
                center: self.shoulder,
                rotation: of_clavicle.inverse() * lift(1.0),
            },
            // Outwards for a left arm.
            Turn::new(self.shoulder, -upper_arm, angles.roll_rad),
            Turn::new(self.elbow, self.hinge, angles.bend_rad),
            Turn::new(self.wrist, forearm, angles.turn_rad),
        ]
    }

    fn finger_turns(&self, angles: &HumanArmPose) -> Vec<Turn> {
        let turn = |&(_, center, axis, closed_rad): &(BoneId, DVec3, DVec3, f64)| {
            Turn::new(center, axis, angles.grip * closed_rad)
        };
        self.fingers.iter().map(turn).collect()
    }

    /// The pose of the skeleton in which its bones are where the formulas take them.
    pub(super) fn pose(&self, skeleton: &Skeleton, angles: &HumanArmPose) -> Pose {
        let [clavicle, lift, twist, elbow, wrist] = self.turns(angles).map(|turn| turn.matrix());
        let main = [clavicle, lift * twist, elbow, wrist];
        let fingers = self.finger_turns(angles);
        let of_fingers = self.fingers.iter().zip(&fingers);
        let turns = (self.bones.iter().copied().zip(main))
            .chain(of_fingers.map(|((bone, ..), turn)| (*bone, turn.matrix())));
        let mut pose = skeleton.rest_pose();
        for (bone, turn) in turns {
            // A turn in the rest pose's space becomes one between the bone and its parent.
            let rest_model_from_bone = skeleton.bones()[bone.index()].bone_from_rest.inverse();
            let in_bone = rest_model_from_bone.inverse() * turn * rest_model_from_bone;
            pose.parent_from_bone[bone.index()] *= in_bone;
        }
        pose
    }

    /// Where every vertex is.
    pub(super) fn positions(&self, angles: &HumanArmPose) -> Vec<DVec3> {
        let turns = self.turns(angles);
        let fingers = self.finger_turns(angles);
        (self.vertices.iter())
            .map(|vertex| self.position(vertex, angles, &turns, &fingers))
            .collect()
    }

    fn position(
        &self,
        vertex: &VertexFacts,
        angles: &HumanArmPose,
        [clavicle, lift, twist, elbow, wrist]: &[Turn; 5],
        fingers: &[Turn],
    ) -> DVec3 {
        let mut p = vertex.position + swelling(vertex, angles) * vertex.normal;
        for &(joint, share) in &vertex.fingers {
            p = fingers[joint].by_share(p, share);
        }
        p = wrist.by_share(p, vertex.forearm_twist);
        p = elbow.by_share(p, vertex.elbow);
        p = self.pressed(p, vertex, angles.bend_rad);
        p = twist.by_share(p, vertex.upper_arm_twist);
        p = lift.by_share(p, vertex.shoulder);
        clavicle.by_share(p, vertex.clavicle)
    }

    /// Keeps forearm and upper arm on their own sides of the plane that halves the elbow's angle, and lets the bone of
    /// the elbow come out behind.
    fn pressed(&self, p: DVec3, vertex: &VertexFacts, bend_rad: f64) -> DVec3 {
        /// How deep flesh gives way before it presses back fully, in metres.
        const SOFT: f64 = 0.006;
        /// How far the elbow's bone comes out, in metres.
        const POINT: f64 = 0.012;
        let up = (self.shoulder - self.elbow).normalize();
        let bent = DQuat::from_axis_angle(self.hinge, bend_rad);
        let down = bent * (self.wrist - self.elbow).normalize();
        let Some(inwards) = (up + down).try_normalize() else {
            return p;
        };
        let across = (down - up).normalize();
        let from_elbow = p - self.elbow;
        let side = if vertex.elbow > 0.5 { 1.0 } else { -1.0 };
        let mut result = p;
        let depth = -side * from_elbow.dot(across);
        // Only what is in the fold, and on the arm.
        let inside = smoothstep(0.0, 0.02, from_elbow.dot(inwards))
            * smoothstep(0.16, 0.10, from_elbow.length());
        if depth > 0.0 && inside > 0.0 {
            let pressed = inside * depth * depth / (depth + SOFT);
            let sideways = from_elbow.dot(self.hinge) / 0.04;
            result += pressed * (side * across + 0.35 * sideways * self.hinge);
        }
        let effort = (0.5 * bend_rad.max(0.0)).sin().powi(2);
        result - POINT * effort * vertex.elbow_point * inwards
    }

    fn vertex_facts(&self, asset: &Asset) -> Vec<VertexFacts> {
        let mesh = &asset.mesh;
        let normals = vertex_normals(mesh.positions(), mesh.triangles());
        let below = |bone: BoneId| below_joint(asset, bone);
        let smooth = |shares: Vec<f64>| smoothed(mesh, shares);
        let [clavicle, shoulder, ..] = self.bones;
        let of_clavicle = smooth(below(clavicle));
        let of_shoulder = smooth(below(shoulder));
        let of_fingers: Vec<Vec<f64>> = (self.fingers.iter())
            .map(|&(bone, ..)| below(bone))
            .collect();

        let upper_arm = Segment::new(self.shoulder, self.elbow);
        let forearm = Segment::new(self.elbow, self.wrist);
        let along_elbow = (upper_arm.direction + forearm.direction).normalize();
        let front = self.hinge.cross(along_elbow).normalize();
        let bell = |x: f64, center: f64, width: f64| (-((x - center) / width).powi(2)).exp();
        (mesh.positions().iter().zip(normals).enumerate())
            .map(|(i, (&position, normal))| {
                let shoulder = of_shoulder[i];
                let (t_upper, t_fore) = (upper_arm.place(position), forearm.place(position));
                let from_elbow = position - self.elbow;
                let radial = from_elbow.reject_from_normalized(along_elbow);
                // 1 in front of the elbow, -1 behind it.
                let facing = radial.dot(front) / radial.length().max(0.01);
                let (behind, before) = match facing {
                    f if f > 0.0 => (0.026 + 0.022 * f, 0.024 + 0.022 * f),
                    f => (0.026 + 0.004 * f, 0.024 + 0.010 * f),
                };
                let s = from_elbow.dot(along_elbow);
                let on_arm =
                    smoothstep(0.85, 1.0, shoulder) * smoothstep(0.13, 0.10, radial.length());
                let elbow = match s {
                    s if s > 0.1 => 1.0,
                    s => on_arm * smoothstep(-behind, before, s),
                };
                let front_of = |power: f64| normal.dot(front).max(0.0).powf(power);
                let back_of = |power: f64| (-normal.dot(front)).max(0.0).powf(power);
                let outward = (-self.hinge).reject_from_normalized(upper_arm.direction);
                let outside = normal.dot(outward.normalize()).max(0.0);
                let on_forearm = smoothstep(0.3, 0.8, elbow);
                VertexFacts {
                    position,
                    normal,
                    clavicle: of_clavicle[i],
                    shoulder,
                    upper_arm_twist: shoulder * smoothstep(0.02, 0.95, t_upper),
                    elbow,
                    forearm_twist: elbow * smoothstep(0.06, 1.02, t_fore),
                    fingers: (of_fingers.iter().enumerate().rev())
                        .filter(|(_, shares)| shares[i] > 0.0)
                        .map(|(joint, shares)| (joint, shares[i]))
                        .collect(),
                    biceps: shoulder
                        * (1.0 - on_forearm)
                        * bell(t_upper, 0.60, 0.20)
                        * front_of(1.3),
                    triceps: shoulder
                        * (1.0 - on_forearm)
                        * bell(t_upper, 0.50, 0.24)
                        * back_of(1.3),
                    forearm_muscle: on_forearm * bell(t_fore, 0.24, 0.18),
                    deltoid: bell(t_upper, 0.16, 0.20) * outside * smoothstep(0.1, 0.7, shoulder),
                    trapezius: bell(position.x, 0.085, 0.035)
                        * normal.y.max(0.0)
                        * (1.0 - shoulder),
                    elbow_point: on_arm * bell(s, 0.005, 0.013) * back_of(2.0),
                }
            })
            .collect()
    }
}

/// How far a vertex is pushed out along its normal, in metres.
fn swelling(vertex: &VertexFacts, angles: &HumanArmPose) -> f64 {
    let bent = (0.5 * angles.bend_rad.max(0.0)).sin().powi(2);
    // Muscles that stretch the arm: more than at rest, or less. At rest nothing swells.
    let straight = smoothstep(-0.15, 0.9, 0.0) - smoothstep(-0.15, 0.9, angles.bend_rad);
    let raised = (0.5 * angles.raise_rad.clamp(0.0, 3.0)).sin().powi(2);
    let turned = (0.5 * angles.turn_rad).sin().powi(2);
    let grip = angles.grip;
    vertex.biceps * (0.030 * bent * (1.0 + 0.25 * grip) - 0.006 * straight)
        + vertex.triceps * (0.006 * straight - 0.003 * bent)
        + vertex.forearm_muscle * (0.006 * bent + 0.003 * grip + 0.002 * turned)
        + vertex.deltoid * 0.016 * raised
        + vertex.trapezius * 0.012 * raised
}

/// A bone as a line with a beginning and an end.
struct Segment {
    start: DVec3,
    direction: DVec3,
    length: f64,
}

impl Segment {
    fn new(start: DVec3, end: DVec3) -> Self {
        Self {
            start,
            direction: (end - start).normalize(),
            length: start.distance(end),
        }
    }

    /// Where a point is along the bone: 0 at its beginning, 1 at its end.
    fn place(&self, point: DVec3) -> f64 {
        (point - self.start).dot(self.direction) / self.length
    }
}

/// For each vertex, how much of its painted weights belongs to a bone and those below it.
fn below_joint(asset: &Asset, joint: BoneId) -> Vec<f64> {
    let mut is_below = vec![false; asset.bones.len()];
    for (j, bone) in asset.bones.iter().enumerate() {
        let parent_is = bone.parent.is_some_and(|parent| is_below[parent.index()]);
        is_below[j] = j == joint.index() || parent_is;
    }
    let share = |row: &Vec<crate::skin::Weight>| {
        let below = row.iter().filter(|w| is_below[w.bone.index()]);
        below.map(|w| w.weight).sum::<f64>().min(1.0)
    };
    asset.weights.iter().map(share).collect()
}

/// Averages each number with those of neighbouring vertices, several times.
fn smoothed(mesh: &TriMesh, mut values: Vec<f64>) -> Vec<f64> {
    let topology = Topology::new(mesh.vertex_count(), mesh.triangles());
    for _ in 0..SMOOTHING_ROUNDS {
        values = (0..values.len())
            .map(|i| {
                let neighbors = topology.neighbors(i);
                let sum: f64 = neighbors.iter().map(|&n| values[n as usize]).sum();
                0.5 * values[i] + 0.5 * sum / neighbors.len().max(1) as f64
            })
            .collect();
    }
    values
}
