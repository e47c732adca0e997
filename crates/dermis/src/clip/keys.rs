//! Values at key times, and interpolation between them.

use glam::{DQuat, DVec3};

use crate::rig::RigError;

/// How a channel moves between two keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds the earlier key.
    Step,
    /// Straight line; the shorter arc for rotations.
    Linear,
    /// Cubic Hermite spline. Each key has three values: in-tangent, value, out-tangent.
    Cubic,
}

/// Values at rising times, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys<T> {
    /// How to move between keys.
    pub interpolation: Interpolation,
    /// Strictly rising, in seconds.
    pub times: Vec<f64>,
    /// One value per time, or three when [`Interpolation::Cubic`].
    pub values: Vec<T>,
}

/// The arithmetic that interpolation needs, for each kind of value.
pub(super) trait Blend: Clone {
    /// `Σ factorᵢ·valueᵢ`.
    fn combine(terms: &[(f64, &Self)]) -> Self;
    /// The point at `s` of the way from `a` to `b`.
    fn lerp(a: &Self, b: &Self, s: f64) -> Self {
        Self::combine(&[(1.0 - s, a), (s, b)])
    }
    /// Makes an interpolated value valid again, such as a quaternion of unit length.
    fn finish(self) -> Self {
        self
    }
}

impl Blend for DVec3 {
    fn combine(terms: &[(f64, &Self)]) -> Self {
        terms.iter().map(|&(f, &v)| f * v).sum()
    }
}

impl Blend for DQuat {
    fn combine(terms: &[(f64, &Self)]) -> Self {
        terms
            .iter()
            .fold(Self::from_xyzw(0.0, 0.0, 0.0, 0.0), |sum, &(f, &q)| {
                sum + q * f
            })
    }
    fn lerp(a: &Self, b: &Self, s: f64) -> Self {
        a.slerp(*b, s)
    }
    fn finish(self) -> Self {
        if self.length_squared() > 0.0 {
            self.normalize()
        } else {
            Self::IDENTITY
        }
    }
}

impl Blend for Vec<f64> {
    fn combine(terms: &[(f64, &Self)]) -> Self {
        let len = terms.iter().map(|(_, v)| v.len()).min().unwrap_or(0);
        (0..len)
            .map(|m| terms.iter().map(|(f, v)| f * v[m]).sum())
            .collect()
    }
}

/// The value at a time; before the first and after the last key it is held.
pub(super) fn sample_keys<T: Blend>(keys: &Keys<T>, time: f64) -> Option<T> {
    let values_per_key = keys.values_per_key();
    // The middle one of a cubic key's three values is the value itself.
    let value = |key: usize| keys.values[key * values_per_key + values_per_key / 2].clone();
    let next = keys.times.partition_point(|&t| t <= time);
    if next == 0 {
        return (!keys.times.is_empty()).then(|| value(0));
    }
    let key = next - 1;
    if next == keys.times.len() {
        return Some(value(key));
    }
    let span = keys.times[next] - keys.times[key];
    let s = (time - keys.times[key]) / span;
    Some(match keys.interpolation {
        Interpolation::Step => value(key),
        Interpolation::Linear => T::lerp(&value(key), &value(next), s),
        Interpolation::Cubic => {
            let (s2, s3) = (s * s, s * s * s);
            T::combine(&[
                (2.0 * s3 - 3.0 * s2 + 1.0, &value(key)),
                (span * (s3 - 2.0 * s2 + s), &keys.values[key * 3 + 2]),
                (3.0 * s2 - 2.0 * s3, &value(next)),
                (span * (s3 - s2), &keys.values[next * 3]),
            ])
            .finish()
        }
    })
}

impl<T> Keys<T> {
    /// How many values each key has: three for a cubic spline, else one.
    pub fn values_per_key(&self) -> usize {
        match self.interpolation {
            Interpolation::Cubic => 3,
            Interpolation::Step | Interpolation::Linear => 1,
        }
    }

    pub(super) fn check(&self, clip: &str) -> Result<(), RigError> {
        let problem = |problem: String| {
            Err(RigError::BadKeys {
                clip: clip.to_owned(),
                problem,
            })
        };
        let expected = self.values_per_key() * self.times.len();
        if self.values.len() != expected {
            return problem(format!(
                "a channel with {} key times has {} values, expected {expected}",
                self.times.len(),
                self.values.len()
            ));
        }
        if !self.times.iter().all(|t| t.is_finite()) || !self.times.is_sorted_by(|a, b| a < b) {
            return problem("key times must be finite and strictly rising".to_owned());
        }
        Ok(())
    }
}
