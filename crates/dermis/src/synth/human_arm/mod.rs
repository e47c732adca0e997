//! A human arm on a game rig with painted weights, and the motion that a slow muscle rig would give it.
//!
//! The mesh, its bones and its weights are MakeHuman's (CC0; `data/README.md` says how they were cut out). How it *should*
//! move is computed here by formulas: nobody sculpted or simulated it. They have what plain skinning loses:
//! twist that is spread along the bones, joints that keep their girth, an elbow with a point behind and a crease in
//! front, and muscles that swell. No skinning method of this crate is made of these formulas, so none fits them exactly.

mod asset;
mod poses;
mod truth;

use std::sync::LazyLock;

pub use poses::HumanArmPose;

use self::asset::Asset;
use self::truth::Truth;
use crate::clip::Clip;
use crate::example::{Example, ExampleSet};
use crate::mesh::TriMesh;
use crate::rig::{Pose, Skeleton};
use crate::skin::Skin;

/// An arm, shoulder and part of a chest: y up, metres, 20 bones.
///
/// ```
/// use dermis::synth::{HumanArm, HumanArmPose};
///
/// let arm = HumanArm::shared();
/// let curled = HumanArmPose { bend_rad: 2.0, turn_rad: 1.5, ..HumanArmPose::default() };
/// let should_be = arm.truth(&curled);
/// let plain = arm.painted().evaluate(&arm.pose(&curled))?;
/// let worst = should_be.iter().zip(&plain).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
/// assert!(worst > 0.01, "plain skinning is off by more than a centimetre");
/// # Ok::<(), dermis::skin::SkinError>(())
/// ```
#[derive(Debug, Clone)]
pub struct HumanArm {
    mesh: TriMesh,
    painted: Skin,
    truth: Truth,
}

static SHARED: LazyLock<HumanArm> = LazyLock::new(|| HumanArm::from_asset(&Asset::embedded()));

impl HumanArm {
    /// The one arm there is, made when first asked for.
    pub fn shared() -> &'static Self {
        &SHARED
    }

    fn from_asset(asset: &Asset) -> Self {
        Self {
            mesh: asset.mesh.clone(),
            painted: asset.painted_skin(),
            truth: Truth::new(asset),
        }
    }

    /// The mesh in rest pose.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// The bones: chest, clavicle, upper arm, forearm, hand and three for each finger.
    ///
    /// Each lies along its y axis, and its z axis is the hinge: positive angles lift, bend or close.
    pub fn skeleton(&self) -> &Skeleton {
        &self.painted.skeleton
    }

    /// Linear blend skinning with weights as an artist painted them, at most four for each vertex.
    pub fn painted(&self) -> &Skin {
        &self.painted
    }

    /// The skeleton's pose for some angles.
    pub fn pose(&self, angles: &HumanArmPose) -> Pose {
        self.truth.pose(self.skeleton(), angles)
    }

    /// Where every vertex should be.
    pub fn truth(&self, angles: &HumanArmPose) -> Vec<glam::DVec3> {
        self.truth.positions(angles)
    }

    /// 52 examples over the whole range of all joints, each joint in another phase.
    pub fn examples(&self) -> ExampleSet {
        let examples = (poses::examples().into_iter())
            .map(|(name, angles)| Example {
                name,
                pose: self.pose(&angles),
                positions: self.truth(&angles),
            })
            .collect();
        ExampleSet::new(self.mesh.clone(), self.skeleton().clone(), examples)
            .expect("made in correspondence")
    }

    /// A motion of four seconds that ends where it began, and none of whose poses is an example: the arm lifts while its
    /// hand turns over, curls, reaches up and comes down turning its hand once more.
    pub fn motion(&self, frames_per_second: f64) -> Vec<HumanArmPose> {
        poses::motion(frames_per_second)
    }

    /// [`HumanArm::motion`] as a clip of the skeleton, its first pose once more at the end.
    pub fn clip(&self, frames_per_second: f64) -> Clip {
        let motion = self.motion(frames_per_second);
        let poses: Vec<Pose> = (motion.iter().chain(motion.first()))
            .map(|angles| self.pose(angles))
            .collect();
        Clip::from_poses(
            "lift, curl and reach",
            self.skeleton(),
            &poses,
            frames_per_second,
        )
        .expect("joints only turn")
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::example::Split;
    use crate::fit::{Method, evaluate_fit};
    use crate::progress::Silent;

    fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
        let apart = a.iter().zip(b).map(|(a, b)| a.distance(*b));
        apart.fold(0.0, f64::max)
    }

    #[test]
    fn truth_and_painted_skin_rest_at_rest() {
        let arm = HumanArm::shared();
        let rest = HumanArmPose::default();
        let painted = arm.painted().evaluate(&arm.pose(&rest)).expect("it fits");
        assert!(
            farthest(&painted, arm.mesh().positions()) < 1e-9,
            "the skin"
        );
        assert!(
            farthest(&arm.truth(&rest), arm.mesh().positions()) < 3e-4,
            "nothing swells; the fold of the elbow touches a little"
        );
    }

    #[test]
    fn truth_flows_from_pose_to_pose() {
        let arm = HumanArm::shared();
        let frames: Vec<Vec<DVec3>> = arm.motion(240.0).iter().map(|p| arm.truth(p)).collect();
        let step = |k: usize| farthest(&frames[k], &frames[(k + 1) % frames.len()]);
        for k in 0..frames.len() {
            // A hand is fast, but nothing jumps: at most 1.5 cm in a 240th of a second.
            assert!(step(k) < 0.015, "frame {k}: {} m", step(k));
        }
        // Twice as fine steps are half as long: there is no jump that a finer step would not halve.
        let finer: Vec<Vec<DVec3>> = arm.motion(480.0).iter().map(|p| arm.truth(p)).collect();
        let longest = |frames: &[Vec<DVec3>]| {
            let steps = frames.windows(2).map(|pair| farthest(&pair[0], &pair[1]));
            steps.fold(0.0, f64::max)
        };
        let ratio = longest(&frames) / longest(&finer);
        assert!((1.8..2.2).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_bone_and_the_flesh_about_it_go_to_the_same_place() {
        let arm = HumanArm::shared();
        for (name, angles) in poses::examples() {
            let palette = arm.skeleton().palette(&arm.pose(&angles)).expect("it fits");
            let hand = arm.skeleton().find("pinky_3").expect("a bone");
            let moved = arm.skeleton().posed_from_rest(&palette)[hand.index()];
            let truth = arm.truth(&angles);
            let crate::skin::VertexProgram::Ssd(ssd) = &arm.painted().program else {
                panic!("a linear blend skin");
            };
            for (i, row) in ssd.weights.iter().enumerate() {
                if row.len() == 1 && row[0].bone == hand {
                    let expected = moved.transform_point3(arm.mesh().positions()[i]);
                    let off = truth[i].distance(expected);
                    assert!(off < 1e-9, "{name}: vertex {i} is {off} m away");
                }
            }
        }
    }

    #[test]
    fn forearm_and_elbow_keep_their_girth_where_painted_weights_lose_it() {
        let arm = HumanArm::shared();
        let bone = |name: &str| {
            let id = arm.skeleton().find(name).expect("a bone");
            let rest = arm.skeleton().bones()[id.index()].bone_from_rest.inverse();
            (id, rest.translation)
        };
        let (hand, wrist) = bone("hand");
        let turned = HumanArmPose {
            turn_rad: 2.6,
            ..HumanArmPose::default()
        };
        let pose = arm.pose(&turned);
        let palette = arm.skeleton().palette(&pose).expect("it fits");
        let wrist_moved = arm.skeleton().posed_from_rest(&palette)[hand.index()];
        let near: Vec<usize> = (0..arm.mesh().vertex_count())
            .filter(|&i| arm.mesh().positions()[i].distance(wrist) < 0.035)
            .collect();
        let girth = |positions: &[DVec3], center: DVec3| -> f64 {
            let distances = near.iter().map(|&i| positions[i].distance(center));
            distances.sum::<f64>() / near.len() as f64
        };
        let center = wrist_moved.transform_point3(wrist);
        let at_rest = girth(arm.mesh().positions(), wrist);
        let truth = girth(&arm.truth(&turned), center) / at_rest;
        let painted = arm.painted().evaluate(&pose).expect("it fits");
        let painted = girth(&painted, center) / at_rest;
        assert!((0.97..1.03).contains(&truth), "{truth}");
        assert!(painted < 0.9, "a candy wrapper: {painted}");
    }

    /// Honest examples: no method is right by construction, not even on the examples that it was fitted to.
    #[test]
    fn no_method_fits_the_truth_exactly() {
        let arm = HumanArm::shared();
        // A part of the arm is enough, and quick: every 11th vertex, without triangles.
        let set = arm.examples();
        let some: Vec<usize> = (0..arm.mesh().vertex_count()).step_by(11).collect();
        let pick = |all: &[DVec3]| some.iter().map(|&i| all[i]).collect::<Vec<_>>();
        let examples = (set.examples().iter())
            .map(|example| Example {
                positions: pick(&example.positions),
                ..example.clone()
            })
            .collect();
        let rest = TriMesh::new(pick(arm.mesh().positions()), Vec::new()).expect("finite");
        let set = ExampleSet::new(rest, arm.skeleton().clone(), examples).expect("alike");
        for key in [
            "ssd",
            "pseudo-bones",
            "dual-quaternion",
            "animation-space",
            "mwe",
        ] {
            let method = Method::from_key(key).expect("a method");
            let report = evaluate_fit(&set, &Split::EveryNth(4), |training| {
                method.fit(&set, training, &Silent)
            })
            .expect("it can be fitted");
            let e_rms = report.held_out.expect("some").measured.total.e_rms;
            assert!(e_rms > 0.3, "{key}: {e_rms}");
        }
    }
}
