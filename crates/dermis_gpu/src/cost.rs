//! What a frame costs: time as a sum over vertices, influences, objects and bones.
//!
//! \[Merry07\] §8.6.1 fits `T = aV + bI + cO + d` to measured frames: `V` vertices, `I` influences, `O` objects, all summed over
//! what a frame draws. Its data show a fifth term: each object costs more, the more bones it has, since a matrix for each is
//! computed and uploaded. So here `T = aV + bI + cO + eB + d`, by least squares.
//!
//! The model is a line through measurements, not a law: a coefficient can come out below zero where its part is small, and
//! [`CostModel::r_squared`] says how much of what was measured it explains.

use crate::GpuError;

/// A frame whose time was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostSample {
    /// Vertices of all objects.
    pub vertices: f64,
    /// Influences of all vertices.
    pub influences: f64,
    /// Objects.
    pub objects: f64,
    /// Bones of all objects.
    pub bones: f64,
    /// How long the frame took, in seconds.
    pub seconds: f64,
}

/// Time of a frame as a sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostModel {
    /// a: nanoseconds for each vertex.
    pub ns_per_vertex: f64,
    /// b: nanoseconds for each influence.
    pub ns_per_influence: f64,
    /// c: nanoseconds for each object.
    pub ns_per_object: f64,
    /// e: nanoseconds for each bone of each object.
    pub ns_per_bone: f64,
    /// d: nanoseconds for a frame that draws nothing.
    pub ns_per_frame: f64,
    /// Share of the variance that the model explains: 1 when it fits exactly.
    pub r_squared: f64,
}

/// Terms of the model.
const TERMS: usize = 5;

/// What is left of a column, once those before it are taken off, when it is nothing but rounding.
const NOTHING: f64 = 1e-9;

impl CostModel {
    /// The model with the least sum of squared errors.
    ///
    /// ```
    /// use dermis_gpu::cost::{CostModel, CostSample};
    ///
    /// let frame = |vertices: f64, influences: f64, objects: f64, bones: f64| CostSample {
    ///     vertices,
    ///     influences,
    ///     objects,
    ///     bones,
    ///     seconds: 1e-9 * (2.0 * vertices + 3.0 * influences + 500.0 * objects + 40.0 * bones + 7000.0),
    /// };
    /// let model = CostModel::fit(&[
    ///     frame(100.0, 200.0, 1.0, 10.0),
    ///     frame(300.0, 900.0, 2.0, 20.0),
    ///     frame(500.0, 500.0, 2.0, 80.0),
    ///     frame(900.0, 3000.0, 5.0, 60.0),
    ///     frame(100.0, 400.0, 9.0, 90.0),
    /// ])?;
    /// assert!((model.ns_per_bone - 40.0).abs() < 1e-3);
    /// # Ok::<(), dermis_gpu::GpuError>(())
    /// ```
    ///
    /// # Errors
    /// [`GpuError::CostSamples`] when the samples do not tell the terms apart: fewer than five, or some terms that always
    /// grow together.
    pub fn fit(samples: &[CostSample]) -> Result<Self, GpuError> {
        let columns: [Vec<f64>; TERMS] = [
            samples.iter().map(|s| s.vertices).collect(),
            samples.iter().map(|s| s.influences).collect(),
            samples.iter().map(|s| s.objects).collect(),
            samples.iter().map(|s| s.bones).collect(),
            vec![1.0; samples.len()],
        ];
        let times: Vec<f64> = samples.iter().map(|s| s.seconds).collect();
        let [a, b, c, e, d] = least_squares(columns, &times).ok_or(GpuError::CostSamples)?;
        let mut model = Self {
            ns_per_vertex: 1e9 * a,
            ns_per_influence: 1e9 * b,
            ns_per_object: 1e9 * c,
            ns_per_bone: 1e9 * e,
            ns_per_frame: 1e9 * d,
            r_squared: 1.0,
        };
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let total: f64 = times.iter().map(|t| (t - mean).powi(2)).sum();
        let missed = samples
            .iter()
            .map(|s| (model.seconds(s) - s.seconds).powi(2));
        let missed: f64 = missed.sum();
        if total > 0.0 {
            model.r_squared = 1.0 - missed / total;
        }
        Ok(model)
    }

    /// How long a frame takes by the model, in seconds; the sample's own time is not used.
    pub fn seconds(&self, frame: &CostSample) -> f64 {
        1e-9 * (self.ns_per_vertex * frame.vertices
            + self.ns_per_influence * frame.influences
            + self.ns_per_object * frame.objects
            + self.ns_per_bone * frame.bones
            + self.ns_per_frame)
    }
}

/// The combination of columns nearest to `goal`, by Gram-Schmidt: columns made perpendicular, one after the other.
fn least_squares(mut columns: [Vec<f64>; TERMS], goal: &[f64]) -> Option<[f64; TERMS]> {
    let mut goal = goal.to_vec();
    // columns = q · r, with unit columns in q.
    let mut r = [[0.0; TERMS]; TERMS];
    let mut goal_in_q = [0.0; TERMS];
    for k in 0..TERMS {
        let before = norm(&columns[k]);
        let (done, rest) = columns.split_at_mut(k);
        // Twice: what rounding left of the first time is taken off by the second.
        for _ in 0..2 {
            for (j, q) in done.iter().enumerate() {
                let along = dot(q, &rest[0]);
                r[j][k] += along;
                subtract(&mut rest[0], along, q);
            }
        }
        r[k][k] = norm(&rest[0]);
        if r[k][k] <= NOTHING * before {
            return None;
        }
        rest[0].iter_mut().for_each(|x| *x /= r[k][k]);
        goal_in_q[k] = dot(&rest[0], &goal);
        subtract(&mut goal, goal_in_q[k], &rest[0]);
    }
    let mut solution = [0.0; TERMS];
    for k in (0..TERMS).rev() {
        let later: f64 = (k + 1..TERMS).map(|j| r[k][j] * solution[j]).sum();
        solution[k] = (goal_in_q[k] - later) / r[k][k];
    }
    Some(solution)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn subtract(from: &mut [f64], times: f64, what: &[f64]) {
    for (x, y) in from.iter_mut().zip(what) {
        *x -= times * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of all sizes, with the time that a made-up machine takes.
    fn frames(seconds: impl Fn(&CostSample) -> f64) -> Vec<CostSample> {
        let mut frames = Vec::new();
        for objects in [1.0, 4.0, 16.0] {
            for vertices in [500.0, 2000.0] {
                for influences in [2.0, 4.0, 8.0] {
                    for bones in [10.0, 60.0] {
                        let mut frame = CostSample {
                            vertices: objects * vertices,
                            influences: objects * vertices * influences,
                            objects,
                            bones: objects * bones,
                            seconds: 0.0,
                        };
                        frame.seconds = seconds(&frame);
                        frames.push(frame);
                    }
                }
            }
        }
        frames
    }

    #[test]
    fn a_sum_is_found_again() {
        let truth = CostModel {
            ns_per_vertex: 1.8,
            ns_per_influence: 3.4,
            ns_per_object: 15_000.0,
            ns_per_bone: 1_000.0,
            ns_per_frame: 63_000.0,
            r_squared: 1.0,
        };
        let model = CostModel::fit(&frames(|f| truth.seconds(f))).expect("all terms vary");
        let pairs = [
            (model.ns_per_vertex, 1.8),
            (model.ns_per_influence, 3.4),
            (model.ns_per_object, 15_000.0),
            (model.ns_per_bone, 1_000.0),
            (model.ns_per_frame, 63_000.0),
            (model.r_squared, 1.0),
        ];
        for (found, expected) in pairs {
            assert!(
                (found / expected - 1.0).abs() < 1e-6,
                "{found} is not {expected}"
            );
        }
    }

    #[test]
    fn what_a_sum_cannot_explain_lowers_r_squared() {
        // Every other frame takes twice as long.
        let mut samples = frames(|f| 1e-9 * f.influences);
        samples.iter_mut().step_by(2).for_each(|s| s.seconds *= 2.0);
        let model = CostModel::fit(&samples).expect("all terms vary");
        assert!((0.5..0.97).contains(&model.r_squared), "{model:?}");
        // No other line is better: each term moved by a little misses by more.
        let missed = |model: &CostModel| {
            let off = samples
                .iter()
                .map(|s| (model.seconds(s) - s.seconds).powi(2));
            off.sum::<f64>()
        };
        for sign in [-1.0, 1.0] {
            let moved = CostModel {
                ns_per_influence: model.ns_per_influence * (1.0 + 0.01 * sign),
                ..model
            };
            assert!(
                missed(&moved) > missed(&model),
                "{sign}: it was not the best"
            );
        }
    }

    #[test]
    fn terms_that_grow_together_are_refused() {
        let alike: Vec<_> = frames(|f| f.vertices)
            .into_iter()
            .map(|f| CostSample {
                bones: 20.0 * f.objects,
                ..f
            })
            .collect();
        assert_eq!(
            CostModel::fit(&alike),
            Err(GpuError::CostSamples),
            "20 bones each"
        );
        assert_eq!(
            CostModel::fit(&alike[..3]),
            Err(GpuError::CostSamples),
            "three frames"
        );
        assert_eq!(CostModel::fit(&[]), Err(GpuError::CostSamples), "none");
    }
}
