//! Coefficients computed from the pose, for [`PoseBuffer`]s: the same as [`Skin::run_pose_program`] computes
//! with a skin's [drivers](crate::skin::PoseProgram::drivers), without allocating.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::elementary::{angle, dot, gaussian, half_twist, power, product, rotation_vector};
use super::{PoseBuffer, RunError};
use crate::math::nearest_rotation;
use crate::pose_space::{Control, Driver, JointTurn, Kernel, across};
use crate::rig::{BoneId, rest_parent_from_bone};
use crate::skin::Skin;

/// Computes the driven coefficients of one character.
///
/// Call it each frame, after sampling and blending, and before the vertices:
///
/// ```
/// use dermis::pose_space::{Center, Control, InterpolateOptions, JointTurn, interpolate};
/// use dermis::run::{PackedDrivers, PoseBuffer};
/// use dermis::skin::Delta;
/// use dermis::synth::{TubeOptions, tube};
/// use dermis::rig::{BoneId, Trs};
/// use glam::{DQuat, DVec3};
///
/// // A tube of two bones with a bulge at its elbow once that bends by 1 radian.
/// let options = TubeOptions { ring_count: 8, segment_count: 6, bone_count: 2, example_count: 1 };
/// let mut skin = tube(&options).truth;
/// let elbow = Control::Joint { bone: BoneId(1), turn: JointTurn::Hinge { axis: DVec3::Z } };
/// let center = |name: &str, angle_rad: f64| {
///     Center { name: name.to_owned(), point: vec![angle_rad], falloffs: vec![0.5] }
/// };
/// let centers = [center("bent", 1.0), center("rest", 0.0)];
/// let solved = interpolate("elbow", &[elbow], &centers, 1, &InterpolateOptions::default())?;
/// let bulge = vec![Delta { index: 20, value: DVec3::X }];
/// skin.push_driver(solved.driver, vec!["bulge".to_owned()], vec![bulge])?;
///
/// // Once.
/// let mut drivers = PackedDrivers::new(&skin)?;
/// let mut pose = PoseBuffer::new(&skin.skeleton, &skin.default_coefficients());
///
/// // Every frame.
/// let rest = pose.local(BoneId(1));
/// let bent = Trs { rotation: rest.rotation * DQuat::from_rotation_z(1.0), ..rest };
/// pose.set_local(BoneId(1), &bent);
/// drivers.drive(&mut pose)?;
/// assert!((pose.coefficients()[0] - 1.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A clone shares the packed numbers: pack a skin's drivers once and clone them for every character
/// or thread.
///
/// **Accuracy.** Coordinates of joints are within 1e-9 radians of those of the pose buffer's own
/// 32-bit rotations, bumps within 1e-11 of their values there, and sums have 64 bits; then each
/// coefficient is rounded to 32. The weights are not kept in 32 bits: those of wide bumps are
/// large and cancel, and the skin would miss the sculpted poses.
///
/// **Cost.** Grows with the centers, and with centers times controls: 0.3 µs for one joint and ten poses, 0.5
/// µs for five joints.
///
/// A bone's rotation is read from its rotation and the signs of its scale, which is the rotation
/// nearest to its matrix; of a mirrored bone whose scales are equally large, one of the nearest.
/// Derived bones have to be in the pose buffer, as for the palette: see [`Skin::bake`].
#[derive(Debug, Clone)]
pub struct PackedDrivers {
    packed: Arc<Packed>,
    /// Of one driver at a time: the pose in its space, control by control.
    places: Vec<Place>,
    /// The same as a list of coordinates.
    point: Vec<f64>,
    bumps: Vec<f64>,
    outputs: Vec<f64>,
}

#[derive(Debug)]
struct Packed {
    bone_count: usize,
    coefficient_count: usize,
    posed_coefficient_count: usize,
    drivers: Vec<PackedDriver>,
}

#[derive(Debug)]
struct PackedDriver {
    inputs: Vec<Input>,
    kernel: Kernel,
    center_count: usize,
    /// Center by center, one per control.
    centers: Vec<CenterPlace>,
    /// Center by center, one per coordinate.
    points: Vec<f64>,
    /// Center by center, one per output: sums that do not wait for each other.
    weights: Vec<f64>,
    /// Output by output, a constant and one per coordinate; or empty.
    linear: Vec<f64>,
    output_count: usize,
}

/// A control with its precomputed values.
#[derive(Debug)]
enum Input {
    Slider {
        coefficient: usize,
    },
    Joint {
        bone: BoneId,
        /// `R̂⁻¹`.
        rest_inverse: DQuat,
        turn: JointTurn,
        /// Two directions across the axis of the turn, if it has one.
        across: [DVec3; 2],
    },
}

/// Where a pose is on one control.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The swing or the free turn, axis times angle.
    turn: DVec3,
    /// The same rotation written the other way round.
    around: DVec3,
    turn_squared: f64,
    /// The twist or the slider.
    single: f64,
}

#[derive(Debug)]
struct CenterPlace {
    place: Place,
    inverse_squared_falloff: f64,
}

impl PackedDrivers {
    /// Packs the drivers of a skin; it may have none.
    ///
    /// # Errors
    /// [`RunError::Skin`] when a driver does not fit the skin.
    pub fn new(skin: &Skin) -> Result<Self, RunError> {
        let bone_count = skin.skeleton.bone_count();
        skin.pose_program
            .check(&skin.skeleton, skin.coefficients.len())?;
        let posed_coefficient_count = skin.posed_coefficient_count();
        let given = &skin.pose_program.drivers;
        let drivers: Vec<_> = (given.iter())
            .map(|driver| PackedDriver::new(skin, driver))
            .collect();
        let most = |count: fn(&Driver) -> usize| given.iter().map(count).max().unwrap_or(0);
        Ok(Self {
            places: Vec::with_capacity(most(|d| d.controls.len())),
            point: Vec::with_capacity(most(Driver::dimension)),
            bumps: Vec::with_capacity(most(|d| d.centers.len())),
            outputs: Vec::with_capacity(most(Driver::output_count)),
            packed: Arc::new(Packed {
                bone_count,
                coefficient_count: skin.coefficients.len(),
                posed_coefficient_count,
                drivers,
            }),
        })
    }

    /// How many coefficients a pose gives; the driven ones come after them.
    pub fn posed_coefficient_count(&self) -> usize {
        self.packed.posed_coefficient_count
    }

    /// Overwrites the driven coefficients of a pose, which has all coefficients of the skin.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when the pose has another number of bones or coefficients.
    pub fn drive(&mut self, pose: &mut PoseBuffer) -> Result<(), RunError> {
        let packed = &*self.packed;
        RunError::check_count("bones in the pose", packed.bone_count, pose.bone_count())?;
        RunError::check_count(
            "coefficients in the pose",
            packed.coefficient_count,
            pose.coefficients().len(),
        )?;
        let mut next = packed.posed_coefficient_count;
        for driver in &packed.drivers {
            self.places.clear();
            self.point.clear();
            self.bumps.clear();
            self.outputs.clear();
            for input in &driver.inputs {
                let place = input.place(pose);
                input.push_coordinates(&place, &mut self.point);
                self.places.push(place);
            }
            driver.push_bumps(&self.places, &self.point, &mut self.bumps);
            driver.push_outputs(&self.point, &self.bumps, &mut self.outputs);
            let driven = &mut pose.coefficients_mut()[next..next + driver.output_count];
            for (coefficient, output) in driven.iter_mut().zip(&self.outputs) {
                *coefficient = *output as f32;
            }
            next += driver.output_count;
        }
        Ok(())
    }
}

impl PackedDriver {
    fn new(skin: &Skin, driver: &Driver) -> Self {
        let inputs: Vec<_> = (driver.controls.iter())
            .map(|control| Input::new(skin, control))
            .collect();
        let mut centers = Vec::new();
        for center in &driver.centers {
            let mut rest = &center.point[..];
            for (control, (input, falloff)) in driver
                .controls
                .iter()
                .zip(inputs.iter().zip(&center.falloffs))
            {
                let (own, others) = rest.split_at(control.dimension());
                rest = others;
                centers.push(CenterPlace {
                    place: input.place_of(own),
                    inverse_squared_falloff: 1.0 / (falloff * falloff),
                });
            }
        }
        let center_count = driver.centers.len();
        let by_center =
            (0..center_count).flat_map(|k| driver.weights.iter().map(move |row| row[k]));
        Self {
            inputs,
            kernel: driver.kernel,
            center_count,
            centers,
            points: (driver.centers.iter().flat_map(|c| &c.point).copied()).collect(),
            weights: by_center.collect(),
            linear: driver.linear.iter().flatten().copied().collect(),
            output_count: driver.output_count(),
        }
    }

    /// `φ_k` of every center: see [`Kernel`].
    fn push_bumps(&self, places: &[Place], point: &[f64], bumps: &mut Vec<f64>) {
        match self.kernel {
            Kernel::Gaussian => {
                bumps.extend((0..self.center_count).map(|k| gaussian(self.squared(k, places))));
            }
            Kernel::Shepard { power: wanted } => {
                bumps.extend((0..self.center_count).map(|k| self.squared(k, places)));
                let nearest = bumps.iter().copied().fold(f64::INFINITY, f64::min);
                let mut sum = 0.0;
                for bump in bumps.iter_mut() {
                    *bump = match nearest > 0.0 {
                        true => power(nearest / *bump, 0.5 * wanted),
                        false => f64::from(u8::from(*bump == 0.0)),
                    };
                    sum += *bump;
                }
                bumps.iter_mut().for_each(|bump| *bump /= sum);
            }
            Kernel::Superposition => {
                bumps.extend((0..self.center_count).map(|k| {
                    let center = &self.points[k * point.len()..][..point.len()];
                    let moved = center.iter().zip(point).filter(|(at, _)| **at != 0.0);
                    let along = moved.map(|(at, x)| x / at);
                    along
                        .reduce(|product, share| product * share)
                        .unwrap_or(0.0)
                }));
            }
        }
    }

    /// `d²` of a pose from a center.
    fn squared(&self, center: usize, places: &[Place]) -> f64 {
        let count = self.inputs.len();
        let center = &self.centers[center * count..][..count];
        let mut sum = 0.0;
        for (input, (at, place)) in self.inputs.iter().zip(center.iter().zip(places)) {
            sum += input.squared_distance(&at.place, place) * at.inverse_squared_falloff;
        }
        sum
    }

    fn push_outputs(&self, point: &[f64], bumps: &[f64], outputs: &mut Vec<f64>) {
        outputs.resize(self.output_count, 0.0);
        let rows = self.weights.chunks_exact(self.output_count.max(1));
        for (row, bump) in rows.zip(bumps) {
            for (output, weight) in outputs.iter_mut().zip(row) {
                *output += weight * bump;
            }
        }
        let rows = self.linear.chunks_exact(1 + point.len());
        for (output, row) in outputs.iter_mut().zip(rows) {
            *output += row[0];
            for (weight, x) in row[1..].iter().zip(point) {
                *output += weight * x;
            }
        }
    }
}

impl Input {
    fn new(skin: &Skin, control: &Control) -> Self {
        match *control {
            Control::Slider { coefficient } => Self::Slider { coefficient },
            Control::Joint { bone, turn } => {
                let rest = rest_parent_from_bone(&skin.skeleton, bone).matrix3;
                let rest = DQuat::from_mat3(&nearest_rotation(rest)).normalize();
                let (u, v) = match turn {
                    JointTurn::Swing { axis } | JointTurn::SwingTwist { axis } => across(axis),
                    JointTurn::Hinge { .. } | JointTurn::Free => Default::default(),
                };
                Self::Joint {
                    bone,
                    rest_inverse: rest.conjugate(),
                    turn,
                    across: [u, v],
                }
            }
        }
    }

    /// Where a pose is: the packed form of [`Control::push_coordinates`].
    fn place(&self, pose: &PoseBuffer) -> Place {
        match self {
            Self::Slider { coefficient } => Place {
                single: f64::from(pose.coefficients()[*coefficient]),
                ..Place::default()
            },
            Self::Joint {
                bone,
                rest_inverse,
                turn,
                across,
            } => {
                let q = product(*rest_inverse, posed_rotation(pose, *bone));
                let swing = |axis: DVec3| {
                    let (sine, cosine) = half_twist(q, axis);
                    let untwist = axis * -sine;
                    let untwist = DQuat::from_xyzw(untwist.x, untwist.y, untwist.z, cosine);
                    let swing = rotation_vector(product(q, untwist));
                    DVec3::new(dot(swing, across[0]), dot(swing, across[1]), 0.0)
                };
                match *turn {
                    JointTurn::Free => Place::of_turn(rotation_vector(q), 0.0),
                    JointTurn::Hinge { axis } => Place {
                        single: angle(half_twist(q, axis)),
                        ..Place::default()
                    },
                    JointTurn::Swing { axis } => Place::of_turn(swing(axis), 0.0),
                    JointTurn::SwingTwist { axis } => {
                        Place::of_turn(swing(axis), angle(half_twist(q, axis)))
                    }
                }
            }
        }
    }

    /// The place that has given coordinates.
    fn place_of(&self, coordinates: &[f64]) -> Place {
        let single = |single| Place {
            single,
            ..Place::default()
        };
        match *self {
            Self::Slider { .. } => single(coordinates[0]),
            Self::Joint { turn, .. } => match turn {
                JointTurn::Hinge { .. } => single(coordinates[0]),
                JointTurn::Swing { .. } => {
                    Place::of_turn(DVec3::new(coordinates[0], coordinates[1], 0.0), 0.0)
                }
                JointTurn::SwingTwist { .. } => {
                    let swing = DVec3::new(coordinates[0], coordinates[1], 0.0);
                    Place::of_turn(swing, coordinates[2])
                }
                JointTurn::Free => Place::of_turn(DVec3::from_slice(coordinates), 0.0),
            },
        }
    }

    fn push_coordinates(&self, place: &Place, to: &mut Vec<f64>) {
        let Place {
            turn: t, single, ..
        } = *place;
        match *self {
            Self::Slider { .. } => to.push(single),
            Self::Joint { turn, .. } => match turn {
                JointTurn::Hinge { .. } => to.push(single),
                JointTurn::Swing { .. } => to.extend([t.x, t.y]),
                JointTurn::SwingTwist { .. } => to.extend([t.x, t.y, single]),
                JointTurn::Free => to.extend([t.x, t.y, t.z]),
            },
        }
    }

    /// The short way round for a joint.
    fn squared_distance(&self, a: &Place, b: &Place) -> f64 {
        let single = a.single - b.single;
        let wrapped = || {
            let angle = single - TAU * (single / TAU).round();
            angle * angle
        };
        match *self {
            Self::Slider { .. } => single * single,
            Self::Joint { turn, .. } => match turn {
                JointTurn::Hinge { .. } => wrapped(),
                JointTurn::Swing { .. } | JointTurn::Free => a.squared_turn_to(b),
                JointTurn::SwingTwist { .. } => a.squared_turn_to(b) + wrapped(),
            },
        }
    }
}

impl Place {
    fn of_turn(turn: DVec3, single: f64) -> Self {
        let turn_squared = dot(turn, turn);
        let around = match turn_squared > 0.0 {
            true => turn * (1.0 - TAU / turn_squared.sqrt()),
            false => turn,
        };
        Self {
            turn,
            around,
            turn_squared,
            single,
        }
    }

    /// Squared distance of two rotations, each of which may be written two ways.
    fn squared_turn_to(&self, other: &Self) -> f64 {
        let squared = |a: DVec3, b: DVec3| dot(a - b, a - b);
        let direct = squared(self.turn, other.turn);
        // Far from half a turn the other way of writing it is never nearer.
        if self.turn_squared.max(other.turn_squared) < FRAC_PI_2 * FRAC_PI_2 {
            return direct;
        }
        let around_self = squared(self.around, other.turn);
        let around_other = squared(self.turn, other.around);
        direct.min(around_self).min(around_other)
    }
}

/// The rotation nearest to a bone's matrix, of unit length.
fn posed_rotation(pose: &PoseBuffer, bone: BoneId) -> DQuat {
    let local = pose.local(bone);
    let q = local.rotation;
    let length = (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w).sqrt();
    let q = DQuat::from_xyzw(q.x / length, q.y / length, q.z / length, q.w / length);
    let mut negative = local.scale.to_array().map(|s| s < 0.0);
    if negative[0] ^ negative[1] ^ negative[2] {
        // A mirror is no rotation: the nearest one leaves the least scale unmirrored.
        let least = local.scale.abs().min_position();
        negative[least] = !negative[least];
    }
    // Two mirrors are half a turn about the third axis.
    match negative {
        [false, true, true] => product(q, DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0)),
        [true, false, true] => product(q, DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0)),
        [true, true, false] => product(q, DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0)),
        _ => q,
    }
}
