//! Transforms: a list of operations, and their numbers over time.

use std::fmt::Display;

use glam::{DAffine3, DMat3, DVec3};

use super::archive::{Archive, Property, named};
use super::samples::Values;
use super::times::around;
use crate::Fault;

/// One step of a transform. The first of a list is applied last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Scale,
    Translate,
    /// Axis, and angle in degrees.
    Rotate,
    /// Rows of a matrix that row vectors stand before.
    Matrix,
    /// Angle in degrees about the axis of this number.
    RotateAbout(usize),
}

impl Operation {
    /// What a byte stands for: its upper half is the operation, its lower half a hint for programs that show it.
    fn of(byte: f64) -> Option<Self> {
        match byte as u8 >> 4 {
            0 => Some(Self::Scale),
            1 => Some(Self::Translate),
            2 => Some(Self::Rotate),
            3 => Some(Self::Matrix),
            axis @ 4..=6 => Some(Self::RotateAbout(usize::from(axis) - 4)),
            _ => None,
        }
    }

    /// How many numbers it has.
    fn width(self) -> usize {
        match self {
            Self::Scale | Self::Translate => 3,
            Self::Rotate => 4,
            Self::Matrix => 16,
            Self::RotateAbout(_) => 1,
        }
    }

    /// The transform of these numbers; `None` for a matrix that is not affine.
    fn transform(self, n: &[f64]) -> Option<DAffine3> {
        let vector = || DVec3::new(n[0], n[1], n[2]);
        Some(match self {
            Self::Scale => DAffine3::from_scale(vector()),
            Self::Translate => DAffine3::from_translation(vector()),
            Self::Rotate => turn(vector().normalize_or_zero(), n[3]),
            Self::RotateAbout(axis) => turn(DVec3::AXES[axis], n[0]),
            Self::Matrix => {
                if [n[3], n[7], n[11], n[15]] != [0.0, 0.0, 0.0, 1.0] {
                    return None;
                }
                let column = |k: usize| DVec3::new(n[k], n[k + 1], n[k + 2]);
                DAffine3 {
                    matrix3: DMat3::from_cols(column(0), column(4), column(8)),
                    translation: column(12),
                }
            }
        })
    }
}

fn turn(axis: DVec3, degrees: f64) -> DAffine3 {
    DAffine3::from_mat3(match axis == DVec3::ZERO {
        true => DMat3::IDENTITY,
        false => DMat3::from_axis_angle(axis, degrees.to_radians()),
    })
}

/// The transform of an object over time.
#[derive(Debug)]
pub(super) struct Transform<'a> {
    operations: Vec<Operation>,
    /// The numbers of all operations, one after the other.
    numbers: Option<Animated<'a>>,
    /// Whether what is above the object moves it, too.
    inherits: Option<Animated<'a>>,
}

/// Values, and when they were sampled.
#[derive(Debug)]
pub(super) struct Animated<'a> {
    pub(super) values: Values<'a>,
    pub(super) times: Vec<f64>,
}

impl<'a> Animated<'a> {
    /// The values of a property that has samples.
    pub(super) fn new(values: Values<'a>, archive: &Archive<'a>) -> Result<Option<Self>, Fault> {
        match values.sample_count() {
            0 => Ok(None),
            _ => Ok(Some(Self {
                times: values.times(archive)?,
                values,
            })),
        }
    }
}

impl<'a> Transform<'a> {
    /// Reads the transform of an object from its properties.
    pub(super) fn read(
        archive: &Archive<'a>,
        properties: &[Property<'a>],
        object: &impl Display,
    ) -> Result<Self, Fault> {
        let mut transform = Self {
            operations: Vec::new(),
            numbers: None,
            inherits: None,
        };
        let Some(schema) = named(properties, ".xform") else {
            return Ok(transform);
        };
        let parts = archive.parts(schema, &object.to_string())?;
        let animated = |name: &str| match named(&parts, name) {
            Some(property) => Animated::new(Values::new(property, 0, object)?, archive),
            None => Ok(None),
        };
        transform.inherits = animated(".inherits")?;
        let Some(operations) = animated(".ops")? else {
            return Ok(transform);
        };
        for byte in operations.values.numbers(archive, 0)? {
            let operation = Operation::of(byte).ok_or_else(|| {
                let what = operations.values.what();
                Fault::malformed(what, "operations 0 to 6", (byte as u8 >> 4).to_string())
            })?;
            transform.operations.push(operation);
        }
        transform.numbers = animated(".vals")?;
        Ok(transform)
    }

    /// What of it changes over time.
    pub(super) fn animated(&self) -> impl Iterator<Item = &Animated<'a>> {
        let all = self.numbers.iter().chain(&self.inherits);
        all.filter(|animated| !animated.values.is_constant())
    }

    /// The transform at a time, and whether what is above the object moves it, too.
    pub(super) fn at(&self, archive: &Archive<'a>, time: f64) -> Result<(DAffine3, bool), Fault> {
        let inherits = match &self.inherits {
            None => true,
            Some(inherits) => {
                let sample = around(&inherits.times, time).before;
                let mut numbers = inherits.values.numbers(archive, sample)?;
                numbers.next().is_none_or(|value| value != 0.0)
            }
        };
        let Some(animated) = &self.numbers else {
            return Ok((DAffine3::IDENTITY, inherits));
        };
        let samples = around(&animated.times, time);
        let mut numbers: Vec<f64> = animated.values.numbers(archive, samples.before)?.collect();
        if let Some((after, share)) = samples.after {
            let after = animated.values.numbers(archive, after)?;
            for (number, next) in numbers.iter_mut().zip(after) {
                *number += share * (next - *number);
            }
        }
        let expected: usize = self.operations.iter().map(|o| o.width()).sum();
        if numbers.len() != expected {
            let expected = format!(
                "{expected} numbers for {} operations",
                self.operations.len()
            );
            let found = format!("{} at {time} s", numbers.len());
            return Err(Fault::malformed(animated.values.what(), expected, found));
        }
        let mut whole = DAffine3::IDENTITY;
        let mut rest = numbers.as_slice();
        for operation in &self.operations {
            let (own, others) = rest.split_at(operation.width());
            rest = others;
            let step = operation.transform(own).filter(|step| step.is_finite());
            whole *= step.ok_or_else(|| {
                let expected = "finite numbers, and matrices that end with 0, 0, 0, 1";
                let found = format!("{own:?} at {time} s");
                Fault::malformed(animated.values.what(), expected, found)
            })?;
        }
        Ok((whole, inherits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(byte: u8, numbers: &[f64], point: [f64; 3]) -> [f64; 3] {
        let operation = Operation::of(f64::from(byte)).expect("an operation");
        assert_eq!(operation.width(), numbers.len(), "numbers of {operation:?}");
        let transform = operation.transform(numbers).expect("affine");
        let moved = transform.transform_point3(point.into()).to_array();
        moved.map(|x| (x * 1e12).round() / 1e12)
    }

    #[test]
    fn every_operation_moves_points_as_its_name_says() {
        let point = [1.0, 2.0, 3.0];
        for (byte, numbers, moved) in [
            (0x00, &[2.0, 3.0, 4.0][..], [2.0, 6.0, 12.0]),
            (0x11, &[1.0, 0.0, 0.0], [2.0, 2.0, 3.0]),
            (0x20, &[0.0, 0.0, 5.0, 90.0], [-2.0, 1.0, 3.0]),
            (0x20, &[0.0, 0.0, 0.0, 90.0], point),
            (0x40, &[90.0], [1.0, -3.0, 2.0]),
            (0x50, &[90.0], [3.0, 2.0, -1.0]),
            (0x60, &[90.0], [-2.0, 1.0, 3.0]),
        ] {
            assert_eq!(shown(byte, numbers, point), moved, "{byte:#x} {numbers:?}");
        }
        let mut matrix = [0.0; 16];
        for k in [0, 5, 10, 15] {
            matrix[k] = 1.0;
        }
        matrix[1] = 10.0;
        matrix[12] = 5.0;
        assert_eq!(
            shown(0x30, &matrix, point),
            [6.0, 12.0, 3.0],
            "y grows with x"
        );
        matrix[3] = 0.5;
        assert!(
            Operation::Matrix.transform(&matrix).is_none(),
            "perspective"
        );
        assert!(Operation::of(112.0).is_none(), "operation 7");
    }
}
