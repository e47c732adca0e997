//! Example meshes in known poses, and which of them are held out (kept from the fit and used only to test it); and mesh
//! animations without a skeleton.

mod mesh_animation;
mod rig_agreement;

pub use mesh_animation::{MeshAnimation, MeshClip};
pub use rig_agreement::{RigMismatch, find_rig_mismatch};

use glam::DVec3;

use crate::math::unit_factor;
use crate::mesh::{MeshError, TriMesh, enclosing_ball};
use crate::rig::{Pose, RigError, Similarity, Skeleton};

/// A pose and the mesh that it should produce.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// Name shown in reports, such as a frame or a file.
    pub name: String,
    /// The skeleton's configuration.
    pub pose: Pose,
    /// The target position of every vertex, in model units.
    pub positions: Vec<DVec3>,
}

/// A rest mesh, a skeleton, and examples of how the mesh should move with it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleSet {
    rest: TriMesh,
    skeleton: Skeleton,
    examples: Vec<Example>,
    unit_ball_radius: f64,
    size: f64,
}

/// Why a set of examples is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExampleError {
    /// An example's mesh is not in correspondence with the rest mesh.
    #[error("example {name}: {source}")]
    Mesh {
        /// Name of the example.
        name: String,
        /// What is wrong with its mesh.
        source: MeshError,
    },
    /// An example's pose does not fit the skeleton.
    #[error("example {name}: {source}")]
    Pose {
        /// Name of the example.
        name: String,
        /// What is wrong with its pose.
        source: RigError,
    },
    /// A split names an example that does not exist, or leaves no example to fit.
    #[error("{problem}")]
    Split {
        /// What is wrong with the split.
        problem: String,
    },
}

/// Which examples are held out (kept from the fit and used only to test it), to measure how well the fit generalises.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Split {
    /// Fit all examples; none is left for a test.
    #[default]
    TrainOnAll,
    /// Hold out every n-th example: numbers n-1, 2n-1, ... counting from 0.
    EveryNth(usize),
    /// As many fits as examples, each with one example held out.
    LeaveOneOut,
    /// Hold out exactly these examples, counting from 0.
    HoldOut(Vec<usize>),
}

/// The examples of one fit and of its test, by index, both in rising order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// The examples that are fitted.
    pub training: Vec<usize>,
    /// The examples that the fit is tested on.
    pub held_out: Vec<usize>,
}

/// The diagonal of a mesh's box; 1 for a mesh without extent.
fn size_of(rest: &TriMesh) -> f64 {
    let diagonal = rest.bounds().diagonal();
    if diagonal > 0.0 { diagonal } else { 1.0 }
}

impl ExampleSet {
    /// Checks that every example has the rest mesh's vertices and the skeleton's bones.
    ///
    /// # Errors
    /// The first [`ExampleError`] found; it names the example.
    pub fn new(
        rest: TriMesh,
        skeleton: Skeleton,
        examples: Vec<Example>,
    ) -> Result<Self, ExampleError> {
        for example in &examples {
            let mesh_error = |source| ExampleError::Mesh {
                name: example.name.clone(),
                source,
            };
            if example.positions.len() != rest.vertex_count() {
                return Err(mesh_error(MeshError::CountMismatch {
                    what: "vertices",
                    expected: rest.vertex_count(),
                    found: example.positions.len(),
                }));
            }
            if let Some(vertex) = example.positions.iter().position(|p| !p.is_finite()) {
                return Err(mesh_error(MeshError::NotFinite { vertex }));
            }
            let pose_error = |source| ExampleError::Pose {
                name: example.name.clone(),
                source,
            };
            let palette = skeleton.palette(&example.pose).map_err(pose_error)?;
            if palette.model_from_bone.iter().any(|m| !m.is_finite()) {
                return Err(pose_error(RigError::NotFinite {
                    what: "a bone's matrix".to_owned(),
                }));
            }
        }
        let first = examples.first().map_or(rest.positions(), |e| &e.positions);
        let radius = enclosing_ball(first).radius;
        Ok(Self {
            unit_ball_radius: if radius > 0.0 { radius } else { 1.0 },
            size: size_of(&rest),
            rest,
            skeleton,
            examples,
        })
    }

    /// The same examples with another size: that of the drawn shape ([`crate::Skin::size`]), where rest positions have
    /// a different one.
    ///
    /// # Panics
    /// When the size is not above 0.
    #[must_use]
    pub fn with_size(self, size: f64) -> Self {
        assert!(size > 0.0, "a size to divide by, found {size}");
        Self { size, ..self }
    }

    /// The same examples, measured in the unit and size of others: numbers of both can be compared.
    #[must_use]
    pub fn in_unit_of(self, other: &Self) -> Self {
        Self {
            unit_ball_radius: other.unit_ball_radius,
            size: other.size,
            ..self
        }
    }

    /// The size of the model, in model units, on which relative lengths are based: the diagonal of the rest mesh's box,
    /// or the value of [`Self::with_size`]; 1 for a mesh without extent.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The same meshes in other poses, one per example.
    ///
    /// # Errors
    /// [`ExampleError::Pose`] when a pose does not fit the skeleton.
    ///
    /// # Panics
    /// When there are more or fewer poses than examples.
    pub fn with_poses(mut self, poses: Vec<Pose>) -> Result<Self, ExampleError> {
        assert_eq!(poses.len(), self.examples.len(), "one pose per example");
        for (example, pose) in self.examples.iter_mut().zip(poses) {
            example.pose = pose;
        }
        let size = self.size;
        Ok(Self::new(self.rest, self.skeleton, self.examples)?.with_size(size))
    }

    /// The factor that scales the examples to [unit size](unit_factor).
    pub(crate) fn unit_factor(&self) -> f64 {
        let meshes = self.examples.iter().map(|e| e.positions.as_slice());
        unit_factor(meshes.chain([self.rest.positions()]))
    }

    /// The same examples in another unit of length.
    pub(crate) fn scaled(&self, factor: f64) -> Result<Self, ExampleError> {
        let by = Similarity::scaling(factor);
        let scaled = |example: &Example| Example {
            name: example.name.clone(),
            pose: by.pose(&self.skeleton, &example.pose),
            positions: example.positions.iter().map(|p| *p * factor).collect(),
        };
        let rest_error = |source| ExampleError::Pose {
            name: "rest".to_owned(),
            source,
        };
        Ok(Self {
            rest: self.rest.scaled(factor),
            skeleton: by.skeleton(&self.skeleton).map_err(rest_error)?,
            examples: self.examples.iter().map(scaled).collect(),
            unit_ball_radius: self.unit_ball_radius * factor,
            size: self.size * factor,
        })
    }

    /// Radius of the smallest ball around the first example's mesh: the unit of length of `E_RMS` (root mean square
    /// error of a coordinate, times 1000, with the model scaled to a radius of 1).
    pub fn unit_ball_radius(&self) -> f64 {
        self.unit_ball_radius
    }

    /// The mesh in its rest pose.
    pub fn rest(&self) -> &TriMesh {
        &self.rest
    }

    /// The bones.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// All examples in order.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// The folds of a split: one, or one per example for [`Split::LeaveOneOut`].
    ///
    /// # Errors
    /// [`ExampleError::Split`] when a fold would have no training example or names a missing one.
    pub fn folds(&self, split: &Split) -> Result<Vec<Fold>, ExampleError> {
        let count = self.examples.len();
        let fold = |held_out: Vec<usize>| Fold {
            training: (0..count).filter(|k| !held_out.contains(k)).collect(),
            held_out,
        };
        let folds = match split {
            Split::TrainOnAll => vec![fold(Vec::new())],
            Split::EveryNth(n) => {
                let n = (*n).max(1);
                vec![fold((0..count).filter(|k| k % n == n - 1).collect())]
            }
            Split::LeaveOneOut => (0..count).map(|k| fold(vec![k])).collect(),
            Split::HoldOut(chosen) => {
                if let Some(&k) = chosen.iter().find(|&&k| k >= count) {
                    return Err(ExampleError::Split {
                        problem: format!(
                            "example {k} cannot be held out: the examples are numbered 0 to {}",
                            count.saturating_sub(1)
                        ),
                    });
                }
                let mut held_out = chosen.clone();
                held_out.sort_unstable();
                held_out.dedup();
                vec![fold(held_out)]
            }
        };
        if folds.is_empty() || folds.iter().any(|fold| fold.training.is_empty()) {
            return Err(ExampleError::Split {
                problem: format!(
                    "of {count} examples, none would be left to fit: hold out fewer, or give more examples"
                ),
            });
        }
        Ok(folds)
    }
}
