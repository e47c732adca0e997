//! A moving mesh without a skeleton.

use glam::DVec3;

use super::{ExampleError, size_of};
use crate::math::unit_factor;
use crate::mesh::{MeshError, TriMesh, enclosing_ball};

/// One motion of a mesh: a position per vertex in every frame.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshClip {
    /// Name shown to people and written to files.
    pub name: String,
    /// `frames[f][i]`: the position of vertex `i` in frame `f`, in model units.
    pub frames: Vec<Vec<DVec3>>,
    /// The frame rate; above 0.
    pub frames_per_second: f64,
}

/// A mesh and one or several motions of it, in vertex correspondence.
///
/// Frames are numbered consecutively through all clips.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshAnimation {
    rest: TriMesh,
    clips: Vec<MeshClip>,
    unit_ball_radius: f64,
    size: f64,
}

impl MeshAnimation {
    /// Checks that there is a frame, and that every frame has the rest mesh's vertices.
    ///
    /// # Errors
    /// [`ExampleError::Mesh`] by clip and frame, and [`ExampleError::Split`] when there is no frame.
    pub fn new(rest: TriMesh, clips: Vec<MeshClip>) -> Result<Self, ExampleError> {
        for clip in &clips {
            for (number, frame) in clip.frames.iter().enumerate() {
                let error = |source| ExampleError::Mesh {
                    name: format!("frame {number} of {}", clip.name),
                    source,
                };
                if frame.len() != rest.vertex_count() {
                    return Err(error(MeshError::CountMismatch {
                        what: "vertices",
                        expected: rest.vertex_count(),
                        found: frame.len(),
                    }));
                }
                if let Some(vertex) = frame.iter().position(|p| !p.is_finite()) {
                    return Err(error(MeshError::NotFinite { vertex }));
                }
            }
        }
        let Some(first) = clips.iter().flat_map(|clip| &clip.frames).next() else {
            return Err(ExampleError::Split {
                problem: "a mesh animation needs at least one frame".to_owned(),
            });
        };
        let radius = enclosing_ball(first).radius;
        Ok(Self {
            unit_ball_radius: if radius > 0.0 { radius } else { 1.0 },
            size: size_of(&rest),
            rest,
            clips,
        })
    }

    /// The same motions at [unit size](unit_factor), and the factor that takes them there; `None` when they already
    /// have that size.
    pub(crate) fn at_unit_size(&self) -> Option<(Self, f64)> {
        let factor = unit_factor(self.frames().chain([self.rest.positions()]));
        let scaled = |frame: &Vec<DVec3>| frame.iter().map(|p| *p * factor).collect();
        let clips = self.clips.iter().map(|clip| MeshClip {
            name: clip.name.clone(),
            frames: clip.frames.iter().map(scaled).collect(),
            frames_per_second: clip.frames_per_second,
        });
        (factor != 1.0).then(|| {
            let animation = Self {
                rest: self.rest.scaled(factor),
                clips: clips.collect(),
                unit_ball_radius: self.unit_ball_radius * factor,
                size: self.size * factor,
            };
            (animation, factor)
        })
    }

    /// The same animation with another size, like [`super::ExampleSet::with_size`].
    ///
    /// # Panics
    /// When the size is not above 0.
    #[must_use]
    pub fn with_size(self, size: f64) -> Self {
        assert!(size > 0.0, "a size to divide by, found {size}");
        Self { size, ..self }
    }

    /// The size of the model, in model units, on which relative lengths are based: the diagonal of the rest mesh's box,
    /// or the value of [`Self::with_size`]; 1 for a mesh without extent.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The mesh in its rest pose.
    pub fn rest(&self) -> &TriMesh {
        &self.rest
    }

    /// The motions.
    pub fn clips(&self) -> &[MeshClip] {
        &self.clips
    }

    /// The frames of all clips, one after the other.
    pub fn frames(&self) -> impl Iterator<Item = &[DVec3]> + Clone {
        let frames = self.clips.iter().flat_map(|clip| &clip.frames);
        frames.map(Vec::as_slice)
    }

    /// How many frames there are in all clips together.
    pub fn frame_count(&self) -> usize {
        self.clips.iter().map(|clip| clip.frames.len()).sum()
    }

    /// How many vertices the mesh has.
    pub fn vertex_count(&self) -> usize {
        self.rest.vertex_count()
    }

    /// Radius of the smallest ball around the first frame: the unit of length of `E_RMS`.
    pub fn unit_ball_radius(&self) -> f64 {
        self.unit_ball_radius
    }

    /// `E_RMS` of predicted frames: the root mean square error of a coordinate, times 1000, with the model scaled so
    /// that the first frame fits a ball of radius 1.
    ///
    /// # Panics
    /// When there are fewer predictions than frames, or one has fewer vertices.
    pub fn e_rms<'a>(&self, predicted: impl IntoIterator<Item = &'a [DVec3]>) -> f64 {
        let mut predicted = predicted.into_iter();
        let mut sum = 0.0;
        for frame in self.frames() {
            let guess = predicted.next().expect("a prediction for every frame");
            assert_eq!(guess.len(), frame.len(), "a prediction for every vertex");
            // In units of the ball, so that squares do not overflow.
            let off = frame
                .iter()
                .zip(guess)
                .map(|(a, b)| (*a - *b) / self.unit_ball_radius);
            sum += off.map(DVec3::length_squared).sum::<f64>();
        }
        let count = 3 * self.vertex_count() * self.frame_count();
        1000.0 * (sum / count as f64).sqrt()
    }

    /// `E_RMS` of predicted frames at every vertex; that of all is their root mean square.
    ///
    /// # Panics
    /// When there are fewer predictions than frames, or one has fewer vertices.
    pub fn vertex_e_rms<'a>(&self, predicted: impl IntoIterator<Item = &'a [DVec3]>) -> Vec<f64> {
        let mut predicted = predicted.into_iter();
        let mut sums = vec![0.0; self.vertex_count()];
        for frame in self.frames() {
            let guess = predicted.next().expect("a prediction for every frame");
            assert_eq!(guess.len(), frame.len(), "a prediction for every vertex");
            for ((sum, a), b) in sums.iter_mut().zip(frame).zip(guess) {
                *sum += ((*a - *b) / self.unit_ball_radius).length_squared();
            }
        }
        let count = (3 * self.frame_count()) as f64;
        let e_rms = |sum: f64| 1000.0 * (sum / count).sqrt();
        sums.into_iter().map(e_rms).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> TriMesh {
        TriMesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2]]).expect("a triangle")
    }

    fn clip(frames: Vec<Vec<DVec3>>) -> MeshClip {
        MeshClip {
            name: "walk".to_owned(),
            frames,
            frames_per_second: 24.0,
        }
    }

    #[test]
    fn frames_are_numbered_consecutively_through_all_clips() {
        let at = |x: f64| vec![DVec3::splat(x); 3];
        let clips = vec![clip(vec![at(0.0), at(1.0)]), clip(vec![at(2.0)])];
        let animation = MeshAnimation::new(triangle(), clips).expect("three frames");
        let firsts: Vec<f64> = animation.frames().map(|frame| frame[0].x).collect();
        assert_eq!(firsts, [0.0, 1.0, 2.0], "in order");
        assert_eq!(animation.frame_count(), 3, "all clips together");
    }

    #[test]
    fn e_rms_is_in_thousandths_of_the_first_frame() {
        let doubled: Vec<DVec3> = triangle().positions().iter().map(|p| *p * 2.0).collect();
        let moved: Vec<DVec3> = doubled.iter().map(|p| *p + DVec3::X).collect();
        let animation =
            MeshAnimation::new(triangle(), vec![clip(vec![doubled])]).expect("one frame");
        // The ball around the triangle has half its longest side as radius.
        let expected = 1000.0 * (1.0f64 / 3.0).sqrt() / 2.0f64.sqrt();
        let found = animation.e_rms([moved.as_slice()]);
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn errors_of_vertices_make_up_that_of_all() {
        let rest = triangle().positions().to_vec();
        let mut moved = rest.clone();
        moved[1] += DVec3::Z;
        moved[2] -= 0.5 * DVec3::X;
        let clips = vec![clip(vec![rest.clone(), rest.clone()])];
        let animation = MeshAnimation::new(triangle(), clips).expect("two frames");
        let predicted = || [rest.as_slice(), moved.as_slice()];
        let errors = animation.vertex_e_rms(predicted());
        assert_eq!(errors[0], 0.0, "it did not move");
        assert!(errors[1] > errors[2], "{errors:?}");
        let squares: f64 = errors.iter().map(|e| e * e).sum();
        let (all, expected) = (animation.e_rms(predicted()), (squares / 3.0).sqrt());
        assert!((all - expected).abs() < 1e-9, "{all} {expected}");
    }

    #[test]
    fn a_frame_with_other_vertices_is_named_in_the_error() {
        let clips = vec![clip(vec![vec![DVec3::ZERO; 3], vec![DVec3::ZERO; 2]])];
        let error = MeshAnimation::new(triangle(), clips).expect_err("two vertices");
        assert!(error.to_string().contains("frame 1 of walk"), "{error}");
        let error = MeshAnimation::new(triangle(), vec![clip(vec![])]).expect_err("no frame");
        assert!(error.to_string().contains("at least one frame"), "{error}");
    }
}
