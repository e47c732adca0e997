//! Sparse animation-space vectors: points of a skinned surface and the differences between them.

use glam::DVec3;

use super::MetricError;
use crate::rig::Palette;
use crate::skin::{Influence, LinearProgram};

/// A vector of animation space: four numbers for each of a few bones, nothing for the others.
///
/// Bones are in rising order, each at most once. The fourth numbers sum to 1 for a point and to 0 for the
/// difference of two points, which is what [`PoseMetric`](super::PoseMetric) measures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnimationVector {
    terms: Vec<Influence>,
}

impl AnimationVector {
    /// The sum of rows of influences, each times a factor, over the union of their bones.
    ///
    /// Rows may name bones in any order and more than once.
    pub fn combination<'a>(rows: impl IntoIterator<Item = (f64, &'a [Influence])>) -> Self {
        let mut terms: Vec<Influence> = Vec::new();
        for (factor, row) in rows {
            terms.extend(row.iter().map(|term| Influence {
                bone: term.bone,
                p: factor * term.p,
            }));
        }
        // Stable, so that terms of one bone are added in the order of the rows.
        terms.sort_by_key(|term| term.bone);
        terms.dedup_by(|later, kept| {
            let same = later.bone == kept.bone;
            if same {
                kept.p += later.p;
            }
            same
        });
        Self { terms }
    }

    /// `a − b`; a bone that only one of them uses counts as zero in the other.
    pub fn difference(a: &[Influence], b: &[Influence]) -> Self {
        Self::combination([(1.0, a), (-1.0, b)])
    }

    /// The bones that it uses, rising, with their four numbers.
    pub fn terms(&self) -> &[Influence] {
        &self.terms
    }

    /// The sum of the fourth numbers: 1 for a point, 0 for a difference of points.
    pub fn weight(&self) -> f64 {
        self.terms.iter().map(|term| term.p.w).sum()
    }

    /// `G s`: the position of a point, or the vector between two points, in one pose.
    ///
    /// # Panics
    /// When the palette lacks a bone.
    pub fn project(&self, palette: &Palette) -> DVec3 {
        project(&self.terms, palette)
    }
}

/// `Σ_j G_j s_j` of a row of influences.
pub(crate) fn project(terms: &[Influence], palette: &Palette) -> DVec3 {
    let sum = terms.iter().map(|term| {
        let matrix = &palette.model_from_bone[term.bone.index()];
        matrix.matrix3 * term.p.truncate() + matrix.translation * term.p.w
    });
    sum.sum()
}

/// A point of a skinned surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SurfacePoint {
    /// A vertex.
    Vertex(u32),
    /// A point of a triangle, by barycentric weights that sum to 1.
    InTriangle {
        /// The vertices of the triangle.
        corners: [u32; 3],
        /// A weight for each corner.
        weights: [f64; 3],
    },
}

impl SurfacePoint {
    /// The point's animation-space vector, of weight 1.
    ///
    /// # Errors
    /// [`MetricError::NoSuchVertex`], and [`MetricError::BadOption`] when the weights do not sum to 1.
    pub fn vector(&self, program: &LinearProgram) -> Result<AnimationVector, MetricError> {
        let row = |vertex: u32| {
            let count = program.influences.len();
            match (vertex as usize) < count {
                true => Ok(program.influences.row(vertex as usize)),
                false => Err(MetricError::NoSuchVertex {
                    vertex: vertex as usize,
                    vertex_count: count,
                }),
            }
        };
        match *self {
            Self::Vertex(vertex) => Ok(AnimationVector::combination([(1.0, row(vertex)?)])),
            Self::InTriangle { corners, weights } => {
                let sum: f64 = weights.iter().sum();
                if sum.is_nan() || (sum - 1.0).abs() > 1e-6 {
                    return Err(MetricError::BadOption {
                        option: "weights",
                        problem: format!("barycentric weights must sum to 1, found {sum}"),
                    });
                }
                let [a, b, c] = corners;
                let rows = [row(a)?, row(b)?, row(c)?];
                Ok(AnimationVector::combination(weights.into_iter().zip(rows)))
            }
        }
    }
}

/// The difference of two points, from one to the other.
///
/// # Errors
/// As [`SurfacePoint::vector`].
pub fn between(
    program: &LinearProgram,
    from: SurfacePoint,
    to: SurfacePoint,
) -> Result<AnimationVector, MetricError> {
    let (from, to) = (from.vector(program)?, to.vector(program)?);
    Ok(AnimationVector::difference(to.terms(), from.terms()))
}

/// An animation-space vector with one bone.
#[cfg(test)]
pub(crate) fn term(bone: u16, p: [f64; 4]) -> Influence {
    Influence {
        bone: crate::rig::BoneId(bone),
        p: glam::DVec4::from_array(p),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rows;

    #[test]
    fn a_difference_runs_over_the_union_of_bones() {
        let a = [term(4, [1.0, 0.0, 0.0, 0.5]), term(1, [0.0, 2.0, 0.0, 0.5])];
        let b = [
            term(2, [0.0, 0.0, 3.0, 0.25]),
            term(4, [0.5, 0.0, 0.0, 0.75]),
        ];
        let s = AnimationVector::difference(&a, &b);
        assert_eq!(
            s.terms(),
            [
                term(1, [0.0, 2.0, 0.0, 0.5]),
                term(2, [0.0, 0.0, -3.0, -0.25]),
                term(4, [0.5, 0.0, 0.0, -0.25]),
            ],
            "rising bones, absent ones as zero"
        );
        assert_eq!(s.weight(), 0.0, "points have weight 1 each");
    }

    #[test]
    fn points_in_triangles_blend_their_corners() {
        let influences: Rows<Influence> = [
            vec![term(0, [1.0, 0.0, 0.0, 1.0])],
            vec![term(0, [0.0, 1.0, 0.0, 1.0])],
            vec![term(1, [0.0, 0.0, 1.0, 1.0])],
        ]
        .into_iter()
        .collect();
        let program = LinearProgram {
            influences,
            corrections: Vec::new(),
        };
        let middle = SurfacePoint::InTriangle {
            corners: [0, 1, 2],
            weights: [0.25, 0.25, 0.5],
        };
        let vector = middle.vector(&program).expect("three corners");
        assert_eq!(
            vector.terms(),
            [
                term(0, [0.25, 0.25, 0.0, 0.5]),
                term(1, [0.0, 0.0, 0.5, 0.5])
            ],
            "corners times weights"
        );
        let apart = between(&program, SurfacePoint::Vertex(0), middle).expect("both exist");
        assert!(apart.weight().abs() < 1e-15, "a difference");
        let error = SurfacePoint::Vertex(7)
            .vector(&program)
            .expect_err("three vertices");
        assert!(error.to_string().contains("vertex 7"), "{error}");
        let uneven = SurfacePoint::InTriangle {
            corners: [0, 1, 2],
            weights: [1.0, 1.0, 0.0],
        };
        assert!(uneven.vector(&program).is_err(), "weights sum to 2");
    }
}
