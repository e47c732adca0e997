//! Controls: a joint's turn or a slider as one to three coordinates.

use std::f64::consts::{PI, TAU};

use glam::{DAffine3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use crate::math::nearest_rotation;
use crate::rig::{BoneId, Pose, Skeleton, rest_parent_from_bone};

/// A joint or slider on which a deformation may depend.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Control {
    /// How far a bone has turned from its rest, relative to its parent. A turn of the parent has no effect.
    Joint {
        /// The bone below the joint.
        bone: BoneId,
        /// Which part of its turn is used.
        turn: JointTurn,
    },
    /// The value of a coefficient that the pose gives.
    Slider {
        /// Number of the coefficient.
        coefficient: usize,
    },
}

/// Which part of a joint's turn is used, as coordinates in radians that are 0 at rest.
///
/// The turn is `R̂⁻¹ R`, in the bone's own rest frame: `R` and `R̂` are the rotations nearest to the linear parts of
/// `L` and `L̂`. Axes are directions of that frame, too. Coordinates are never Euler angles, so there is no gimbal
/// lock, and each is compared the short way round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "turn")]
pub enum JointTurn {
    /// One coordinate: the twist about an axis, regardless of the rest of the turn.
    Hinge {
        /// Unit vector.
        axis: DVec3,
    },
    /// Two coordinates: the direction of an axis, without the twist about it.
    Swing {
        /// Unit vector.
        axis: DVec3,
    },
    /// Three coordinates: swing and twist; the turn is the twist followed by the swing.
    SwingTwist {
        /// Unit vector.
        axis: DVec3,
    },
    /// Three coordinates: axis times angle, the logarithm of the rotation.
    Free,
}

impl Control {
    /// How many coordinates the control has.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Slider { .. } => 1,
            Self::Joint { turn, .. } => match turn {
                JointTurn::Hinge { .. } => 1,
                JointTurn::Swing { .. } => 2,
                JointTurn::SwingTwist { .. } | JointTurn::Free => 3,
            },
        }
    }

    /// Appends the coordinates of a pose, given its bones as in [`Pose`] and all coefficients.
    ///
    /// # Panics
    /// When the pose has no such bone or coefficient.
    pub fn push_coordinates(
        &self,
        skeleton: &Skeleton,
        parent_from_bone: &[DAffine3],
        coefficients: &[f64],
        to: &mut Vec<f64>,
    ) {
        match *self {
            Self::Slider { coefficient } => to.push(coefficients[coefficient]),
            Self::Joint { bone, turn } => {
                let rest = rotation_of(&rest_parent_from_bone(skeleton, bone));
                let posed = rotation_of(&parent_from_bone[bone.index()]);
                turn.push_coordinates(rest.inverse() * posed, to);
            }
        }
    }

    /// Moves the control to given coordinates in a pose, and changes nothing else. A joint gets its translation at
    /// rest.
    ///
    /// # Panics
    /// When there are fewer coordinates than [`Control::dimension`], or no such bone or coefficient.
    pub fn place(&self, skeleton: &Skeleton, coordinates: &[f64], pose: &mut Pose) {
        match *self {
            Self::Slider { coefficient } => pose.coefficients[coefficient] = coordinates[0],
            Self::Joint { bone, turn } => {
                let rest = rest_parent_from_bone(skeleton, bone);
                pose.parent_from_bone[bone.index()] =
                    rest * DAffine3::from_quat(turn.rotation(coordinates));
            }
        }
    }

    /// The difference between two coordinates of a control that has only one: the short way round for a joint.
    pub(crate) fn shortest_step(&self, from: f64, to: f64) -> f64 {
        match self {
            Self::Slider { .. } => to - from,
            Self::Joint { .. } => wrapped(to - from),
        }
    }

    /// Squared distance between two points of the control, the short way round for a joint.
    pub(crate) fn squared_distance(&self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Self::Slider { .. } => (a[0] - b[0]).powi(2),
            Self::Joint { turn, .. } => match turn {
                JointTurn::Hinge { .. } => wrapped(a[0] - b[0]).powi(2),
                JointTurn::Swing { .. } => rotation_distance_squared(
                    DVec3::new(a[0], a[1], 0.0),
                    DVec3::new(b[0], b[1], 0.0),
                ),
                JointTurn::SwingTwist { .. } => {
                    let swing = rotation_distance_squared(
                        DVec3::new(a[0], a[1], 0.0),
                        DVec3::new(b[0], b[1], 0.0),
                    );
                    swing + wrapped(a[2] - b[2]).powi(2)
                }
                JointTurn::Free => {
                    rotation_distance_squared(DVec3::from_slice(a), DVec3::from_slice(b))
                }
            },
        }
    }
}

impl JointTurn {
    /// Coordinates of a rotation in the bone's rest frame.
    pub(crate) fn push_coordinates(self, rotation: DQuat, to: &mut Vec<f64>) {
        match self {
            Self::Free => to.extend(log(rotation).to_array()),
            Self::Hinge { axis } => to.push(twist_angle(rotation, axis)),
            Self::Swing { axis } => to.extend(swing(rotation, axis)),
            Self::SwingTwist { axis } => {
                to.extend(swing(rotation, axis));
                to.push(twist_angle(rotation, axis));
            }
        }
    }

    /// The rotation with given coordinates; parts of the turn that the coordinates do not describe are 0.
    fn rotation(self, coordinates: &[f64]) -> DQuat {
        let swing = |axis: DVec3| {
            let (u, v) = across(axis);
            DQuat::from_scaled_axis(coordinates[0] * u + coordinates[1] * v)
        };
        match self {
            Self::Free => DQuat::from_scaled_axis(DVec3::from_slice(coordinates)),
            Self::Hinge { axis } => DQuat::from_axis_angle(axis, coordinates[0]),
            Self::Swing { axis } => swing(axis),
            Self::SwingTwist { axis } => swing(axis) * DQuat::from_axis_angle(axis, coordinates[2]),
        }
    }
}

/// The rotation nearest to a matrix.
fn rotation_of(matrix: &DAffine3) -> DQuat {
    DQuat::from_mat3(&nearest_rotation(matrix.matrix3)).normalize()
}

/// Axis times angle, at most half a turn.
fn log(rotation: DQuat) -> DVec3 {
    let short = if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    };
    short.to_scaled_axis()
}

/// Angle of the part of a rotation that turns about an axis, within half a turn.
fn twist_angle(rotation: DQuat, axis: DVec3) -> f64 {
    wrapped(2.0 * f64::atan2(rotation.xyz().dot(axis), rotation.w))
}

/// The swing of a rotation, that is the rotation after its twist is removed: axis times angle, across the axis.
fn swing(rotation: DQuat, axis: DVec3) -> [f64; 2] {
    let twist = DQuat::from_axis_angle(axis, twist_angle(rotation, axis));
    let swing = log(rotation * twist.inverse());
    let (u, v) = across(axis);
    [swing.dot(u), swing.dot(v)]
}

/// Two directions that make a right-handed frame with an axis.
///
/// Where the axis is a coordinate axis, these are the other two, so that people recognise them.
pub(crate) fn across(axis: DVec3) -> (DVec3, DVec3) {
    let u = match axis.abs().max_position() {
        0 => DVec3::Y,
        1 => DVec3::Z,
        _ => DVec3::X,
    };
    let u = u.reject_from_normalized(axis).normalize();
    (u, axis.cross(u))
}

/// An angle within half a turn of 0.
fn wrapped(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}

/// Squared distance of two logarithms, each of which may be written in two ways: by an angle θ, or by θ − 2π the other
/// way round. With only one of them, a joint would jump when it passes half a turn.
fn rotation_distance_squared(a: DVec3, b: DVec3) -> f64 {
    let direct = a.distance_squared(b);
    let other_way = |v: DVec3| match v.length() {
        angle if angle > 0.0 => v * (1.0 - TAU / angle),
        _ => v,
    };
    // Far from half a turn, the other way of writing it is never nearer.
    if a.length_squared().max(b.length_squared()) < (PI / 2.0).powi(2) {
        return direct;
    }
    let around_a = other_way(a).distance_squared(b);
    let around_b = a.distance_squared(other_way(b));
    direct.min(around_a).min(around_b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TURNS: [JointTurn; 4] = [
        JointTurn::Hinge { axis: DVec3::Z },
        JointTurn::Swing { axis: DVec3::X },
        JointTurn::SwingTwist { axis: DVec3::Y },
        JointTurn::Free,
    ];

    fn skeleton() -> Skeleton {
        let root = DAffine3::from_rotation_y(0.3);
        let elbow =
            root * DAffine3::from_rotation_translation(DQuat::from_rotation_x(-0.7), DVec3::X);
        Skeleton::from_rest_frames([
            ("upper".to_owned(), None, root),
            ("lower".to_owned(), Some(BoneId(0)), elbow),
        ])
        .expect("parents come first")
    }

    fn control(turn: JointTurn) -> Control {
        Control::Joint {
            bone: BoneId(1),
            turn,
        }
    }

    fn coordinates(control: &Control, pose: &Pose) -> Vec<f64> {
        let mut found = Vec::new();
        control.push_coordinates(
            &skeleton(),
            &pose.parent_from_bone,
            &pose.coefficients,
            &mut found,
        );
        found
    }

    #[test]
    fn rest_is_the_origin_and_a_turn_of_the_parent_has_no_effect() {
        let mut pose = skeleton().rest_pose();
        pose.parent_from_bone[0] *= DAffine3::from_rotation_z(1.0);
        for turn in TURNS {
            let found = coordinates(&control(turn), &pose);
            assert_eq!(found.len(), control(turn).dimension(), "{turn:?}");
            assert!(found.iter().all(|x| x.abs() < 1e-12), "{turn:?}: {found:?}");
        }
    }

    proptest! {
        #[test]
        fn a_control_reads_the_coordinates_it_was_placed_at(
            a in -1.2..1.2f64, b in -1.2..1.2f64, c in -1.2..1.2f64,
        ) {
            for turn in TURNS {
                let control = control(turn);
                let wanted = &[a, b, c][..control.dimension()];
                let mut pose = skeleton().rest_pose();
                control.place(&skeleton(), wanted, &mut pose);
                let found = coordinates(&control, &pose);
                for (x, y) in wanted.iter().zip(&found) {
                    prop_assert!((x - y).abs() < 1e-9, "{:?}: {:?} {:?}", turn, wanted, found);
                }
            }
        }
    }

    #[test]
    fn scaling_a_bone_does_not_change_its_turn() {
        let mut pose = skeleton().rest_pose();
        let hinge = control(TURNS[0]);
        hinge.place(&skeleton(), &[0.8], &mut pose);
        pose.parent_from_bone[1] *= DAffine3::from_scale(DVec3::new(2.0, 0.5, 1.0));
        let found = coordinates(&hinge, &pose);
        assert!((found[0] - 0.8).abs() < 1e-9, "found {found:?}");
    }

    #[test]
    fn distances_do_not_jump_at_half_a_turn() {
        // Poses just before and just past half a turn are near each other, though their coordinates have opposite
        // signs, and equally far from any third pose.
        let near = |turn: JointTurn, axis: DVec3, angle: f64| {
            let mut found = Vec::new();
            turn.push_coordinates(DQuat::from_axis_angle(axis, angle), &mut found);
            found
        };
        for turn in [TURNS[0], TURNS[3]] {
            let control = control(turn);
            let before = near(turn, DVec3::Z, PI - 1e-4);
            let past = near(turn, DVec3::Z, PI + 1e-4);
            let between = control.squared_distance(&before, &past).sqrt();
            assert!((between - 2e-4).abs() < 1e-9, "{turn:?}: {between}");
            let third = near(turn, DVec3::Z, 2.0);
            let distances = [&before, &past].map(|p| control.squared_distance(p, &third).sqrt());
            assert!((distances[0] - distances[1]).abs() < 3e-4, "{distances:?}");
        }
    }

    #[test]
    fn the_coordinate_of_a_slider_is_its_value() {
        let slider = Control::Slider { coefficient: 1 };
        let mut pose = skeleton().rest_pose();
        pose.coefficients = vec![0.0; 2];
        slider.place(&skeleton(), &[0.4], &mut pose);
        assert_eq!(pose.coefficients, [0.0, 0.4], "the second");
        assert_eq!(coordinates(&slider, &pose), [0.4], "as given");
        assert_eq!(
            slider.squared_distance(&[9.0], &[0.0]),
            81.0,
            "sliders do not wrap around"
        );
    }
}
