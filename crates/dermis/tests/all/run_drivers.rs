//! Driven coefficients of the fast run-time equal those of the plain evaluation.

use std::f64::consts::PI;

use dermis::pose_space::{Center, Control, Driver, JointTurn, Kernel};
use dermis::rig::Trs;
use dermis::run::{PackedDrivers, PoseBuffer, RunError};
use dermis::skin::{PoseProgram, PosedInputs};
use dermis::{BoneId, Pose, Skin};
use glam::{DQuat, DVec3};
use proptest::prelude::*;

use crate::run_support::{Dice, KINDS, Size, random_skin};

const SLIDERS: usize = 3;
const OUTPUTS: usize = 4;
const BONES: usize = 6;

fn unit(dice: &mut Dice) -> DVec3 {
    match dice.below(4) {
        3 => dice.vector().normalize_or(DVec3::Y),
        axis => DVec3::AXES[axis],
    }
}

/// Any control, or one with one coordinate.
fn random_control(dice: &mut Dice, single: bool) -> Control {
    let axis = unit(dice);
    let turn = match dice.below(if single { 2 } else { 5 }) {
        0 => {
            return Control::Slider {
                coefficient: dice.below(SLIDERS),
            };
        }
        1 => JointTurn::Hinge { axis },
        2 => JointTurn::Swing { axis },
        3 => JointTurn::SwingTwist { axis },
        _ => JointTurn::Free,
    };
    let bone = BoneId(dice.below(BONES) as u16);
    Control::Joint { bone, turn }
}

fn random_driver(dice: &mut Dice) -> Driver {
    let kernel = match dice.below(4) {
        0 | 1 => Kernel::Gaussian,
        2 => Kernel::Shepard {
            power: [2.0, 3.0, 1.4, 6.0][dice.below(4)],
        },
        _ => Kernel::Superposition,
    };
    let single = kernel == Kernel::Superposition;
    let controls: Vec<_> = (0..1 + dice.below(3))
        .map(|_| random_control(dice, single))
        .collect();
    let dimension: usize = controls.iter().map(Control::dimension).sum();
    let coordinate = |dice: &mut Dice| match dice.below(4) {
        0 => 0.0,
        _ => {
            let x = 1.6 * dice.number();
            x + 0.3f64.copysign(x)
        }
    };
    let mut centers: Vec<Center> = Vec::new();
    for k in 0..dice.below(7) {
        let point: Vec<f64> = (0..dimension).map(|_| coordinate(dice)).collect();
        // `interpolate` refuses two centers in one place: rounding would decide how Shepard's weights are
        // divided there.
        if centers.iter().all(|c| c.point != point) {
            centers.push(Center {
                name: format!("pose {k}"),
                point,
                falloffs: controls.iter().map(|_| 1.1 + 0.8 * dice.number()).collect(),
            });
        }
    }
    let mut row = |count| (0..count).map(|_| 3.0 * dice.number()).collect::<Vec<_>>();
    Driver {
        name: "random".to_owned(),
        weights: (0..OUTPUTS).map(|_| row(centers.len())).collect(),
        linear: match dimension % 2 {
            0 => Vec::new(),
            _ => (0..OUTPUTS).map(|_| row(1 + dimension)).collect(),
        },
        controls,
        kernel,
        centers,
    }
}

fn driven_skin(dice: &mut Dice, driver_count: usize) -> Skin {
    let size = Size {
        vertices: 5,
        bones: BONES,
        most_influences: 2,
        corrections: SLIDERS + driver_count * OUTPUTS,
        proxies: 0,
    };
    let kind = KINDS[dice.below(KINDS.len())];
    let (skin, _) = random_skin(dice, size, kind);
    let drivers = (0..driver_count).map(|_| random_driver(dice)).collect();
    skin.with_drivers(drivers).expect("drivers fit")
}

/// Every bone turned from its rest by up to `angle_rad`, perhaps scaled or mirrored.
fn random_pose(dice: &mut Dice, skin: &Skin, angle_rad: f64) -> PoseBuffer {
    let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
    let rest = skin.skeleton.rest_pose();
    for (id, rest) in skin.skeleton.ids().zip(&rest.parent_from_bone) {
        let rest = Trs::from_affine(rest).0;
        let turn = DQuat::from_axis_angle(unit(dice), angle_rad * dice.number());
        let mirror = match dice.below(6) {
            0 => DVec3::new(-1.0, -1.0, 1.0),
            1 => DVec3::new(1.0, 1.0, -0.3),
            2 => DVec3::new(-1.0, 1.0, 1.0),
            _ => DVec3::ONE,
        };
        // Half a turn more where two axes are mirrored, so that the whole is a small one again.
        let turn = match mirror.x * mirror.y > 0.0 && mirror.x < 0.0 {
            true => turn * DQuat::from_rotation_z(PI),
            false => turn,
        };
        let sizes = DVec3::new(0.5, 0.8, 1.1) + 0.05 * dice.vector();
        let local = Trs {
            translation: dice.vector(),
            rotation: rest.rotation * turn,
            scale: mirror * sizes,
        };
        pose.set_local(id, &local);
    }
    for slider in &mut pose.coefficients_mut()[..SLIDERS] {
        *slider = 2.0 * dice.number() as f32;
    }
    pose
}

/// The result of the plain evaluation for the buffer's numbers, made unit length in double precision.
fn plain(skin: &Skin, pose: &PoseBuffer) -> PosedInputs {
    let local = |bone: BoneId| {
        let local = pose.local(bone);
        let rotation = local.rotation.normalize();
        Trs { rotation, ..local }.to_affine()
    };
    let plain = Pose {
        parent_from_bone: skin.skeleton.ids().map(local).collect(),
        coefficients: pose.to_pose().coefficients,
    };
    skin.run_pose_program(&plain).expect("fits")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_control_and_kernel_gives_the_plain_coefficients(seed: u64, drivers in 0..4usize) {
        let mut dice = Dice::new(seed);
        let skin = driven_skin(&mut dice, drivers);
        let mut packed = PackedDrivers::new(&skin).expect("drivers fit");
        prop_assert_eq!(packed.posed_coefficient_count(), SLIDERS, "the others are driven");
        for _ in 0..10 {
            // Not as far as half a turn, where an angle may be written with either sign.
            let mut pose = random_pose(&mut dice, &skin, 2.6);
            pose.coefficients_mut()[SLIDERS..].fill(f32::NAN);
            let given = pose.coefficients()[..SLIDERS].to_vec();
            let expected = plain(&skin, &pose).coefficients;
            packed.drive(&mut pose).expect("sizes agree");
            prop_assert_eq!(&pose.coefficients()[..SLIDERS], &given[..], "left alone");
            for (m, (found, exact)) in pose.coefficients().iter().zip(&expected).enumerate() {
                let off = (f64::from(*found) - exact).abs();
                prop_assert!(
                    off <= 1e-7 * exact.abs() + 2e-7,
                    "coefficient {} of {:?}: {} for {}", m, skin.pose_program.drivers, found, exact
                );
            }
        }
    }
}

#[test]
fn coefficients_do_not_jump_at_half_a_turn() {
    // Logarithms change their sign there, but bumps must not jump.
    let mut dice = Dice::new(3);
    let skin = driven_skin(&mut dice, 0);
    let bone = BoneId(2);
    for turn in [JointTurn::Hinge { axis: DVec3::Z }, JointTurn::Free] {
        let control = Control::Joint { bone, turn };
        let mut point = vec![0.0; control.dimension()];
        *point.last_mut().expect("a joint") = 2.8;
        let driver = Driver {
            name: "far".to_owned(),
            controls: vec![control],
            kernel: Kernel::Gaussian,
            centers: vec![Center {
                name: "far".to_owned(),
                point,
                falloffs: vec![0.5],
            }],
            weights: vec![vec![1.0]],
            linear: Vec::new(),
        };
        let skin = Skin {
            pose_program: PoseProgram {
                drivers: vec![driver],
                ..PoseProgram::default()
            },
            ..skin.clone()
        };
        let mut packed = PackedDrivers::new(&skin).expect("fits");
        let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
        let rest = Trs::from_affine(&skin.skeleton.rest_pose().parent_from_bone[2]).0;
        for k in 0..200 {
            let angle = PI + 1e-3 * f64::from(k - 100);
            let local = Trs {
                rotation: rest.rotation * DQuat::from_rotation_z(angle),
                ..rest
            };
            pose.set_local(bone, &local);
            packed.drive(&mut pose).expect("fits");
            let exact = (-0.5 * ((angle - 2.8) / 0.5).powi(2)).exp();
            let found = f64::from(*pose.coefficients().last().expect("driven"));
            assert!(
                (found - exact).abs() < 2e-6,
                "{turn:?} at {angle}: {found} for {exact}"
            );
        }
    }
}

#[test]
fn wide_bumps_whose_weights_cancel_still_match_their_poses() {
    use dermis::pose_space::{InterpolateOptions, interpolate};
    let mut dice = Dice::new(4);
    let skin = driven_skin(&mut dice, 0);
    let controls = [Control::Slider { coefficient: 0 }];
    let center = |k: u8| Center {
        name: format!("pose {k}"),
        point: vec![f64::from(k) * 0.25],
        falloffs: vec![1.0],
    };
    let centers: Vec<_> = (0..7).map(center).collect();
    let solved = interpolate(
        "wide",
        &controls,
        &centers,
        2,
        &InterpolateOptions::default(),
    );
    let solved = solved.expect("distinct");
    assert!(solved.condition > 1e8, "{}", solved.condition);
    let skin = Skin {
        pose_program: PoseProgram {
            drivers: vec![solved.driver],
            ..PoseProgram::default()
        },
        ..skin
    };
    let mut packed = PackedDrivers::new(&skin).expect("fits");
    let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
    for k in 0..7u8 {
        pose.coefficients_mut()[0] = f32::from(k) * 0.25;
        packed.drive(&mut pose).expect("fits");
        let found = &pose.coefficients()[1..];
        let expected = [f32::from(u8::from(k == 0)), f32::from(u8::from(k == 1))];
        let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f32::max) < 1e-4, "pose {k}: {found:?}");
    }
}

#[test]
fn wrong_sizes_are_refused() {
    let mut dice = Dice::new(9);
    let skin = driven_skin(&mut dice, 2);
    let mut packed = PackedDrivers::new(&skin).expect("fits");
    let mut other = PoseBuffer::new(&skin.skeleton, &[0.0; SLIDERS]);
    let error = packed
        .drive(&mut other)
        .expect_err("no room for what is driven");
    assert_eq!(
        error.to_string(),
        "expected 11 coefficients in the pose, found 3",
        "both numbers are named"
    );
    let mut bad = skin;
    bad.pose_program.drivers[0].controls[0] = Control::Slider { coefficient: 99 };
    let error = PackedDrivers::new(&bad).expect_err("no such slider");
    assert!(matches!(error, RunError::Skin(_)), "{error}");
}
